//! Proof that there is no solution: the linear inequalities alone contradict each other (Farkas).
//!
//! ```text
//! l ≤ z ≤ u,   (M z + q)_i ≥ 0 | ≤ 0 | = 0 where unknown i has a lower bound only | an upper bound only | none
//! impossible  ⇔  some y of these signs has   max over l ≤ z ≤ u of  yᵀ(M z + q)  < 0
//! ```
//!
//! The multipliers y are sought on the skew, hence monotone, problem of the linear programme, by Lemke's method and by an
//! interior point, which comes first where the programme is not small, and the certificate that is found is checked by its own
//! arithmetic: it does not rest on the search.

use super::basis::State;
use super::form::{Form, Scaling};
use super::interior::{Central, SHORTEST};
use super::lemke::{End, path};
use super::tableau::{Tableau, Variable};
use crate::algebra::dense::dot;
use crate::algebra::factor::{Lu, least_squares};
use crate::numerics::{Progress, Watch};

/// A checked proof of infeasibility.
///
/// ```
/// use drystone::{algebra::matrix::Matrix, numerics::{lcp::Lcp, solvers::Problem}};
/// // w = −1 for every z
/// let p = Problem::from(Lcp { m: Matrix::dense(1, 1, vec![0.0]), q: vec![-1.0] });
/// let proof = p.infeasibility().ok_or("there is one")?;
/// assert_eq!((proof.multipliers, proof.value), (vec![1.0], -1.0));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Infeasibility {
    /// y, one per row, of largest entry 1.
    pub multipliers: Vec<f64>,
    /// `max yᵀ(M z + q)` over the box: below 0 beyond rounding.
    pub value: f64,
}

/// Whether `form` has a feasible point, under a watch, which may end the search.
pub(in crate::numerics) fn feasibility(form: &Form, watch: &mut Watch) -> Feasibility {
    let signs: Vec<Sign> = (0..form.order()).map(|i| Sign::of_bounds(form.lower[i], form.upper[i])).collect();
    let system = Inequalities { m: &form.m, q: &form.q, lower: &form.lower, upper: &form.upper, signs: &signs };
    system.decide(watch)
}

/// Share of the largest multiplier, each in the size of its row, below which one counts as zero.
const ROUNDING: f64 = 1e-13;
/// Share of its terms below which a slope counts as zero, of multipliers as they are found, and of those that a proof stands on: at 1e-11 1 kg
/// below 1e11 kg is a contradiction.
const NEAR: f64 = 1e-11;
const SLOPE: f64 = 1e-13;
/// Size of z, in units of the data, up to which a proof excludes solutions in spite of the rounding in its slopes.
const REACH: f64 = 1e7;

/// z and the multipliers of a point of the programme.
type Split<'a> = &'a dyn Fn(&[f64]) -> (Vec<f64>, Vec<f64>);

/// Rows and columns up to which the programme is solved by pivoting first: its points are vertices. Beyond, pivots have a short budget.
const PIVOTED: usize = 60;
/// Steps of the interior point, of which proofs took 4 to 20.
const STEPS: usize = 60;
/// Share of the first μ at which a point that is neither feasible nor a proof to rounding will not become one.
const ENDED: f64 = 1e-20;
/// Share of the largest violation by which `t = 1` leaves every inequality free.
const ROOM: f64 = 0.1;
/// Added to the diagonal of free unknowns, whose equations may be singular.
const RIDGE: f64 = 1e-10;

/// What is asked of a row `a z + b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::numerics) enum Sign {
    Any,
    Positive,
    Negative,
    Zero,
}

impl Sign {
    /// What the law asks of w where z lies between these bounds.
    pub(in crate::numerics) fn of_bounds(lower: f64, upper: f64) -> Self {
        match (lower.is_finite(), upper.is_finite()) {
            (true, true) => Self::Any,
            (true, false) => Self::Positive,
            (false, true) => Self::Negative,
            (false, false) => Self::Zero,
        }
    }
}

/// `l ≤ z ≤ u` and a sign for each row of `M z + q`; M has as many rows as there are signs.
pub(in crate::numerics) struct Inequalities<'a> {
    pub(in crate::numerics) m: &'a [f64],
    pub(in crate::numerics) q: &'a [f64],
    pub(in crate::numerics) lower: &'a [f64],
    pub(in crate::numerics) upper: &'a [f64],
    pub(in crate::numerics) signs: &'a [Sign],
}

#[derive(Debug)]
pub(in crate::numerics) enum Feasibility {
    Point(Vec<f64>),
    Impossible(Infeasibility),
    Unknown,
}

impl Feasibility {
    pub(in crate::numerics) fn proof(self) -> Option<Infeasibility> {
        if let Self::Impossible(proof) = self { Some(proof) } else { None }
    }
}

impl Inequalities<'_> {
    /// A feasible point, or the proof that there is none.
    pub(in crate::numerics) fn decide(&self, watch: &mut Watch) -> Feasibility {
        // fixed unknowns are constants
        let kept: Vec<usize> = (0..self.lower.len()).filter(|&j| self.lower[j] != self.upper[j]).collect();
        let columns = kept.len();
        let constant = |r: usize| {
            let fixed = (0..self.lower.len()).filter(|&j| self.lower[j] == self.upper[j]);
            self.q[r] + fixed.map(|j| self.row(r)[j] * self.lower[j]).sum::<f64>()
        };
        let rows: Vec<usize> = (0..self.signs.len()).filter(|&r| self.signs[r] != Sign::Any).collect();
        // rows and columns near one, so that the checks below are relative
        let row_scale: Vec<f64> = rows
            .iter()
            .map(|&r| {
                let largest = kept.iter().fold(constant(r).abs() * 1e-3, |m, &j| m.max(self.row(r)[j].abs()));
                if largest > 0.0 { 1.0 / largest } else { 1.0 }
            })
            .collect();
        let n = columns + rows.len();
        let mut lp = Form { m: vec![0.0; n * n], q: vec![0.0; n], lower: Vec::new(), upper: Vec::new() };
        for (j, &own) in kept.iter().enumerate() {
            lp.lower.push(self.lower[own]);
            lp.upper.push(self.upper[own]);
            // a cost that keeps the point in the finite
            let weight = 1e-2 * (1.0 + (j as f64 * 0.618_033_988_749_895).fract());
            lp.q[j] = match (self.lower[own].is_finite(), self.upper[own].is_finite()) {
                (true, _) => weight,
                (false, true) => -weight,
                _ => 0.0,
            };
        }
        for (k, &r) in rows.iter().enumerate() {
            let i = columns + k;
            for (j, x) in kept.iter().map(|&j| self.row(r)[j]).enumerate() {
                lp.m[i * n + j] = row_scale[k] * x;
                lp.m[j * n + i] = -row_scale[k] * x;
            }
            lp.q[i] = row_scale[k] * constant(r);
            let (lower, upper) = match self.signs[r] {
                Sign::Positive => (0.0, f64::INFINITY),
                Sign::Negative => (f64::NEG_INFINITY, 0.0),
                _ => (f64::NEG_INFINITY, f64::INFINITY),
            };
            lp.lower.push(lower);
            lp.upper.push(upper);
        }
        // z and the multipliers of a point of the programme
        let split = |point: &[f64]| {
            let (mut z, mut multipliers) = (self.lower.to_vec(), vec![0.0; self.signs.len()]);
            kept.iter().zip(point).for_each(|(&j, x)| z[j] = *x);
            rows.iter().enumerate().for_each(|(k, &r)| multipliers[r] = point[columns + k] * row_scale[k]);
            (z, multipliers)
        };
        let small = n <= PIVOTED;
        let budget = if small { 50 * n + 1000 } else { 2 * n };
        let mut found = Feasibility::Unknown;
        for interior in [!small, small] {
            let next = if interior {
                self.interior(&lp, columns, &split, watch)
            } else {
                self.pivoting(&lp, &split, (columns, &rows, &row_scale), budget, watch)
            };
            match next {
                Feasibility::Impossible(_) => return next,
                Feasibility::Point(ref z) if self.holds(z) => return next,
                Feasibility::Point(_) => found = next,
                Feasibility::Unknown => {}
            }
        }
        found
    }

    /// The programme by Lemke's paths.
    fn pivoting(
        &self,
        lp: &Form,
        split: Split,
        (columns, rows, row_scale): (usize, &[usize], &[f64]),
        budget: usize,
        watch: &mut Watch,
    ) -> Feasibility {
        let n = lp.order();
        let (mut scaling, mut scaled) = (Scaling::default(), Form::default());
        scaling.balance(lp, &mut scaled);
        let unscale = |mut point: Vec<f64>| {
            point.iter_mut().zip(&scaling.columns).for_each(|(x, c)| *x *= c);
            split(&point)
        };
        let mut tableau = Tableau::default();
        for attempt in 0..3 {
            let (end, _) = path(&mut tableau, &scaled, attempt, budget, 0, watch);
            match end {
                End::Solved => {
                    let mut point = vec![0.0; n];
                    tableau.point(&mut point);
                    return Feasibility::Point(unscale(point).0);
                }
                End::Ray => {
                    let mut y = vec![0.0; n];
                    ray(&tableau, &mut y);
                    if let Some(proof) = self.check(unscale(y).1) {
                        return Feasibility::Impossible(proof);
                    }
                }
                End::Budget => {}
                End::Singular => {
                    // the equations alone may contradict each other: their least-squares residual is the proof
                    let equations: Vec<usize> = (0..rows.len()).filter(|&k| self.signs[rows[k]] == Sign::Zero).collect();
                    let entry = |k: usize, j: usize| lp.m[(columns + k) * n + j];
                    let mut a: Vec<f64> =
                        equations.iter().flat_map(|&k| (0..columns).map(move |j| (k, j))).map(|(k, j)| entry(k, j)).collect();
                    let mut b: Vec<f64> = equations.iter().map(|&k| -lp.q[columns + k]).collect();
                    let mut x = vec![0.0; columns];
                    least_squares(&mut a, &mut b, &mut x);
                    let mut multipliers = vec![0.0; self.signs.len()];
                    for &k in &equations {
                        let left = lp.q[columns + k] + (0..columns).map(|j| entry(k, j) * x[j]).sum::<f64>();
                        multipliers[rows[k]] = -left * row_scale[k];
                    }
                    return self.check(multipliers).map_or(Feasibility::Unknown, Feasibility::Impossible);
                }
                End::Stopped => return Feasibility::Unknown,
            }
        }
        Feasibility::Unknown
    }

    /// The programme `min t` over `A z + b + t d` of the signs asked for, by an interior point; d is chosen so that `t = 1` will do. Its
    /// points decide as soon as one is feasible or its multipliers are a proof.
    fn interior(&self, lp: &Form, columns: usize, split: Split, watch: &mut Watch) -> Feasibility {
        let n = lp.order();
        let origin: Vec<f64> = (0..n).map(|j| if j < columns { lp.origin(j) } else { 0.0 }).collect();
        let mut missed = vec![0.0; n];
        lp.output(&origin, &mut missed);
        let missed = &missed[columns..];
        let largest = missed.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let mut first = Form { m: vec![0.0; (n + 1) * (n + 1)], q: vec![0.0; n + 1], lower: lp.lower.clone(), upper: lp.upper.clone() };
        first.lower.push(0.0);
        first.upper.push(f64::INFINITY);
        for i in 0..n {
            first.m[i * (n + 1)..i * (n + 1) + n].copy_from_slice(lp.row(i));
        }
        for (i, missed) in (columns..n).zip(missed) {
            let d = match (lp.lower[i].is_finite(), lp.upper[i].is_finite()) {
                (true, _) => (-missed).max(0.0) + ROOM * largest,
                (false, true) => (-missed).min(0.0) - ROOM * largest,
                _ => -missed,
            };
            first.m[i * (n + 1) + n] = d;
            first.m[n * (n + 1) + i] = -d;
            first.q[i] = lp.q[i];
        }
        first.q[n] = largest;
        let (mut scaling, mut scaled) = (Scaling::default(), Form::default());
        scaling.balance(&first, &mut scaled);
        let (mut central, mut lu) = (Central::default(), Lu::default());
        central.start(&scaled);
        for iteration in 1..=STEPS {
            let mut go_on = || watch(Progress { iteration, error: f64::INFINITY });
            let Some(length) = central.step(&scaled, RIDGE, &mut lu, &mut go_on) else { break };
            // as it stands, and with what goes to a bound there
            for rounded in [false, true] {
                let at = |i: usize| match central.state(&scaled, i) {
                    State::Lower if rounded => scaled.lower[i],
                    State::Upper if rounded => scaled.upper[i],
                    _ => central.x[i],
                };
                let point: Vec<f64> = (0..n).map(|i| at(i) * scaling.columns[i]).collect();
                let (z, multipliers) = split(&point);
                if let Some(proof) = self.check(multipliers) {
                    return Feasibility::Impossible(proof);
                }
                if self.holds(&z) {
                    return Feasibility::Point(z);
                }
            }
            if length < SHORTEST || central.mu < ENDED * central.size * central.size || !go_on() {
                break;
            }
        }
        Feasibility::Unknown
    }

    /// True where z, which lies in its box, has every sign asked for, to rounding.
    fn holds(&self, z: &[f64]) -> bool {
        let columns = self.lower.len();
        (0..self.signs.len()).all(|r| {
            let (mut w, mut size) = (self.q[r], self.q[r].abs());
            for (m, z) in self.row(r).iter().zip(z) {
                w += m * z;
                size += (m * z).abs();
            }
            let rounding = f64::EPSILON * columns as f64 * size;
            match self.signs[r] {
                Sign::Any => true,
                Sign::Positive => w >= -rounding,
                Sign::Negative => w <= rounding,
                Sign::Zero => w.abs() <= rounding,
            }
        })
    }

    fn row(&self, r: usize) -> &[f64] {
        let columns = self.lower.len();
        &self.m[r * columns..(r + 1) * columns]
    }

    /// The proof that these multipliers make, or those beside them whose slopes vanish to rounding, if they do.
    pub(in crate::numerics) fn check(&self, y: Vec<f64>) -> Option<Infeasibility> {
        let mut multipliers = self.normalised(y)?;
        self.proves(&multipliers, NEAR)?;
        let mut value = self.proves(&multipliers, SLOPE);
        if value.is_none() {
            multipliers = self.normalised(self.refined(multipliers))?;
            value = self.proves(&multipliers, SLOPE);
        }
        value.map(|value| Infeasibility { multipliers, value })
    }

    /// The multipliers in the signs asked for, the largest 1, without what rounding left of zeros.
    fn normalised(&self, mut y: Vec<f64>) -> Option<Vec<f64>> {
        let largest = y.iter().fold(0.0f64, |m, y| m.max(y.abs()));
        if !largest.is_finite() || largest == 0.0 {
            return None;
        }
        for (y, sign) in y.iter_mut().zip(self.signs) {
            *y /= largest;
            *y = match sign {
                Sign::Any => 0.0,
                Sign::Positive => y.max(0.0),
                Sign::Negative => y.min(0.0),
                Sign::Zero => *y,
            };
        }
        // what rounding left of multipliers that are zero would be all there is in some columns
        let reach = |r: usize| self.row(r).iter().fold(self.q[r].abs(), |m, x| m.max(x.abs()));
        let largest = (0..y.len()).fold(0.0f64, |m, r| m.max(y[r].abs() * reach(r)));
        for (r, y) in y.iter_mut().enumerate() {
            if y.abs() * reach(r) < ROUNDING * largest {
                *y = 0.0;
            }
        }
        // what was largest may have had no reach
        let largest = y.iter().fold(0.0f64, |m, y| m.max(y.abs()));
        if largest == 0.0 {
            return None;
        }
        y.iter_mut().for_each(|y| *y /= largest);
        Some(y)
    }

    /// `yᵀ M` in column j, the sum of its terms' sizes, and the bound that z meets along it.
    fn slope(&self, y: &[f64], j: usize) -> (f64, f64, f64) {
        let column = |r: usize| self.m[r * self.lower.len() + j];
        let slope: f64 = (0..y.len()).map(|r| y[r] * column(r)).sum();
        let scale: f64 = (0..y.len()).map(|r| (y[r] * column(r)).abs()).sum();
        (slope, scale, if slope > 0.0 { self.upper[j] } else { self.lower[j] })
    }

    /// `max yᵀ(M z + q)` over the box, where it is below 0 and slopes of such a share of their terms are none.
    fn proves(&self, y: &[f64], none: f64) -> Option<f64> {
        let mut value = dot(y, self.q);
        let mut size: f64 = y.iter().zip(self.q).map(|(y, q)| (y * q).abs()).sum();
        let mut steepest = 0.0f64;
        for j in 0..self.lower.len() {
            let (slope, scale, bound) = self.slope(y, j);
            if bound.is_finite() {
                value += slope * bound;
                size += (slope * bound).abs();
            } else if slope.abs() > none * scale {
                return None;
            } else if slope != 0.0 {
                steepest = steepest.max(slope.abs() / scale);
            }
        }
        // what is left of the slopes must not matter for any z within REACH of the scale of the data
        (value < -1e-9 * size && value < -REACH * steepest * size).then_some(value)
    }

    /// The multipliers corrected for the slopes that are to vanish, each by a share of itself.
    fn refined(&self, mut y: Vec<f64>) -> Vec<f64> {
        let members: Vec<usize> = (0..y.len()).filter(|&r| y[r] != 0.0).collect();
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for j in 0..self.lower.len() {
            let (slope, scale, bound) = self.slope(&y, j);
            if scale > 0.0 && (bound.is_infinite() || slope.abs() <= NEAR * scale) {
                a.extend(members.iter().map(|&r| y[r] * self.row(r)[j] / scale));
                b.push(-slope / scale);
            }
        }
        let mut shares = vec![0.0; members.len()];
        least_squares(&mut a, &mut b, &mut shares);
        members.iter().zip(&shares).for_each(|(&r, share)| y[r] += share * y[r]);
        y
    }
}

/// Direction of the z of the tableau along the ray on which its path ended.
fn ray(tableau: &Tableau, direction: &mut [f64]) {
    let Some((column, sign)) = tableau.ray else { return };
    if let Variable::Z(i) = tableau.columns[column] {
        direction[i] = sign;
    }
    for (r, row) in tableau.rows.iter().enumerate() {
        if let Variable::Z(i) = *row {
            direction[i] = sign * tableau.at(r, column);
        }
    }
}

/// The signs that a face of the complementarity (one state for each unknown) asks for, and its box.
pub(super) fn face(form: &Form, states: &[State], signs: &mut Vec<Sign>, lower: &mut Vec<f64>, upper: &mut Vec<f64>) {
    signs.clear();
    lower.clone_from(&form.lower);
    upper.clone_from(&form.upper);
    for (i, state) in states.iter().enumerate() {
        signs.push(match state {
            State::Basic => Sign::Zero,
            _ if form.lower[i] == form.upper[i] => Sign::Any,
            State::Lower => Sign::Positive,
            State::Upper => Sign::Negative,
        });
        match state {
            State::Lower => upper[i] = form.lower[i],
            State::Upper => lower[i] = form.upper[i],
            State::Basic => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::matrix::Matrix;
    use crate::numerics::Status;
    use crate::numerics::lcp::Lcp;
    use crate::numerics::solvers::{Problem, Settings};

    #[test]
    fn a_small_body_under_a_huge_one_is_no_contradiction() {
        // 1 kg below 1e12 kg: M is positive definite, and every digit of it is exact or meant
        let p = Lcp { m: Matrix::dense(2, 2, vec![1.0, -1.0, -1.0, 1.0 + 1e-12]), q: vec![-0.01, 0.0] };
        assert_eq!(Problem::from(p.clone()).infeasibility(), None);
        let answer = p.solve(&Settings::default()).expect("legal");
        // rounding leaves more of it than the tolerance
        assert_ne!(answer.report.status, Status::Inconsistent, "{answer:?}");
        // what is singular to rounding has a proof
        let p = Lcp { m: Matrix::dense(2, 2, vec![1.0, -1.0, -1.0, 1.0 + 1e-15]), q: vec![-0.01, 0.0] };
        assert!(Problem::from(p).infeasibility().is_some());
    }

    #[test]
    fn multipliers_that_are_nearly_a_proof_become_one() {
        let m = [1.0, -1.0, 0.0, -1.0, 2.0, -1.0, 0.0, -1.0, 1.0];
        let (lower, upper, signs) = ([f64::NEG_INFINITY; 3], [f64::INFINITY; 3], [Sign::Zero; 3]);
        let system = Inequalities { m: &m, q: &[-1.0, 0.0, 0.0], lower: &lower, upper: &upper, signs: &signs };
        let proof = system.check(vec![1.0, 1.0 + 3e-12, 1.0 - 2e-12]).expect("a proof");
        let error = |a: f64, b: f64| (a - b).abs();
        assert!(error(proof.multipliers[0], proof.multipliers[1]) < 1e-15 && error(proof.multipliers[1], proof.multipliers[2]) < 1e-15);
        assert_eq!(system.check(vec![1.0, 1.0 + 3e-9, 1.0]), None);
    }
}
