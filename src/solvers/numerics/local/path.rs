//! The path of proximal problems from a unique solution to one of the problem itself.
//!
//! ```text
//! W = B C (rank k),  v = C r,  u = B v + q        u + ε D (r − r₀)  instead of  u,   ε from large to 0
//! r(v, ε) = Π(x),   x = r₀ − (B v + q)/(ε D)      Π: r_n = max(0, x_n),  r_t = x_t cut to the disc of radius μ r_n
//! G(v, ε) = v − C r(v, ε) = 0                     k equations, whatever the number of contacts
//! ```
//!
//! With D a scalar for each contact the law of a contact is solved in closed form, so that only the velocities of bodies are left. For
//! large ε the solution is unique. From there the curve G = 0 is followed by its arc length, so that it may turn back in ε: where large
//! friction makes the law anything but monotone, Newton's method dies at such folds. At the kinks, where contacts change between open,
//! stick and slip, the sign of det ∂G/∂v says which way the curve goes on. For W positive semidefinite the curve ends in a solution, or
//! runs away with the reactions along stresses that need no load; then another centre r₀ gives another curve.
//!
//! - Cost: a dense factorisation of order k (six for a body) a step, 100 to 1000 steps. Source: Allgower and Georg, *Introduction to
//!   Numerical Continuation Methods* (2003), ch. 2 and 15; proximal point: Rockafellar 1976.

use super::LocalProblem;
use crate::algebra::dense::{dot, norm};
use crate::algebra::factor::Lu;
use crate::numerics::admissible::AdmissibleSet;

/// Rows up to which it is done: W is held densely while it is factorised.
const LARGEST: usize = 900;
/// Rows of a block, at most.
const ROWS: usize = 8;
/// Share of the largest pivot of W below which the others count as zero.
const RANK: f64 = 1e-11;
/// log ε at the start, those at which a point is tried, and where the curve is left.
const START: f64 = 4.0;
const LOOKS: [f64; 7] = [-5.0, -8.0, -11.0, -14.0, -17.0, -19.0, -21.0];
/// First, largest and least length of a step, in log ε or in the unit of v.
const STEP: (f64, f64, f64) = (0.5, 2.0, 1e-5);
/// Cosine of the angle between two directions that a step may turn by.
const TURN: f64 = 0.2;
/// Corrections of one step, and the share of the size of v to which they go.
const CORRECTIONS: usize = 7;
const EXACT: f64 = 1e-9;
/// Steps between two calls of the watch.
const PAUSE: usize = 16;
/// Size of the reactions, over what q and the centre ask for, beyond which the curve has run away.
const ASTRAY: f64 = 1e3;

/// What is prepared for a problem.
pub(super) struct Paths<'a> {
    p: &'a LocalProblem,
    weights: Vec<f64>,
    rank: usize,
    /// B, row by row, and Cᵀ, row by row
    left: Vec<f64>,
    right: Vec<f64>,
    /// unit of v
    unit: f64,
    /// size of the reactions that q or the centre asks for
    natural: f64,
    lu: Lu,
    jacobian: Vec<f64>,
    x: Vec<f64>,
    r: Vec<f64>,
    blocks: Vec<f64>,
    scaled: Vec<f64>,
    g: Vec<f64>,
    slope: Vec<f64>,
    /// of each block how far it is from a change of state, and so at the last point of the curve
    events: Vec<f64>,
    events_before: Vec<f64>,
    /// −J⁻¹ ∂G/∂σ, the slope of v in σ along the curve
    along: Vec<f64>,
}

impl<'a> Paths<'a> {
    /// Factorises W by complete pivoting; none where the problem is too large or has sets without a closed form.
    pub(super) fn new(p: &'a LocalProblem, weights: &[f64]) -> Option<Self> {
        let n = p.order();
        let unfit = |(i, set): (usize, &AdmissibleSet)| p.w.rows(i) > ROWS || matches!(set, AdmissibleSet::Rolling { .. });
        if n > LARGEST || p.sets.iter().enumerate().any(unfit) {
            return None;
        }
        let mut w = p.w.to_dense();
        let (mut left, mut right, mut rank, mut first) = (Vec::new(), Vec::new(), 0, 0.0);
        loop {
            let (mut best, mut at) = (0.0, (0, 0));
            for (i, row) in w.chunks_exact(n.max(1)).enumerate() {
                // the diagonal first, so that a symmetric W keeps equal factors
                let diagonal = row[i].abs();
                if diagonal > best {
                    (best, at) = (diagonal, (i, i));
                }
            }
            for (i, row) in w.chunks_exact(n.max(1)).enumerate() {
                for (j, x) in row.iter().enumerate() {
                    if x.abs() > 2.0 * best {
                        (best, at) = (x.abs(), (i, j));
                    }
                }
            }
            if rank == 0 {
                first = best;
            }
            if best <= RANK * first || rank == n {
                break;
            }
            let pivot = w[at.0 * n + at.1];
            let root = pivot.abs().sqrt();
            let column: Vec<f64> = (0..n).map(|i| w[i * n + at.1] / root).collect();
            let row: Vec<f64> = w[at.0 * n..(at.0 + 1) * n].iter().map(|x| x * root / pivot).collect();
            for (out, x) in w.chunks_exact_mut(n).zip(&column) {
                if *x != 0.0 {
                    out.iter_mut().zip(&row).for_each(|(o, y)| *o -= x * y);
                }
            }
            (0..n).for_each(|i| (w[i * n + at.1], w[at.0 * n + i]) = (0.0, 0.0));
            left.push(column);
            right.push(row);
            rank += 1;
        }
        if rank == 0 {
            return None;
        }
        let transposed = |columns: &[Vec<f64>]| (0..n).flat_map(|i| columns.iter().map(move |c| c[i])).collect::<Vec<f64>>();
        let largest = p.q.iter().fold(0.0f64, |m, q| m.max(q.abs()));
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        Some(Self {
            p,
            weights: weights.to_vec(),
            rank,
            left: transposed(&left),
            right: transposed(&right),
            unit: largest / mean.sqrt(),
            natural: 0.0,
            lu: Lu::default(),
            jacobian: vec![0.0; rank * rank],
            x: vec![0.0; n],
            r: vec![0.0; n],
            blocks: vec![0.0; p.sets.len() * ROWS * ROWS],
            scaled: vec![0.0; ROWS * rank],
            g: vec![0.0; rank],
            slope: vec![0.0; rank],
            along: vec![0.0; rank],
            events: vec![0.0; 2 * p.sets.len()],
            events_before: vec![0.0; 2 * p.sets.len()],
        })
    }

    /// Operations of one factorisation with all that belongs to it.
    pub(super) fn cost(&self) -> f64 {
        let (n, k) = (self.p.order() as f64, self.rank as f64);
        2.0 * n * k * k + k * k * k
    }

    /// Follows the curve of this centre for at most so many factorisations, and calls `arrived` with reactions near its end, or with
    /// none now and then; returns the factorisations and whether `arrived` told it to end.
    pub(super) fn follow(&mut self, centre: &[f64], most: usize, mut arrived: impl FnMut(Option<&[f64]>) -> bool) -> (usize, bool) {
        let k = self.rank;
        let (mut v, mut sigma) = (vec![0.0; k], START);
        self.natural = norm(&self.p.q) / (self.weights.iter().sum::<f64>() / self.weights.len() as f64);
        self.natural = self.natural.max(norm(centre));
        let mut spent = 0;
        // the first point: v alone
        for _ in 0..30 {
            spent += 1;
            self.evaluate(centre, &v, sigma);
            if norm(&self.g) <= EXACT * self.unit {
                break;
            }
            if !self.factorise(sigma) {
                return (spent, false);
            }
            let mut step = self.g.clone();
            self.lu.solve(&mut step);
            v.iter_mut().zip(&step).for_each(|(v, d)| *v -= d);
        }
        self.evaluate(centre, &v, sigma);
        if !(norm(&self.g) <= 1e-6 * self.unit && self.factorise(sigma)) {
            return (spent, false);
        }
        spent += 1;
        // along the curve det ∂G/∂v and dσ change sign together
        let orientation = if self.lu.is_negative() { 1.0 } else { -1.0 };
        self.events_before.copy_from_slice(&self.events);
        let mut tangent = self.tangent(centre, orientation);
        let (mut length, mut looks, mut steps) = (STEP.0, 0, 0);
        let (mut to, mut next_v);
        next_v = v.clone();
        while spent < most {
            // predicted, then corrected across the tangent
            (0..k).for_each(|i| next_v[i] = v[i] + length * tangent[i]);
            to = sigma + length * tangent[k];
            let (predicted_v, predicted) = (next_v.clone(), to);
            let mut before = f64::INFINITY;
            let mut corrections = 0;
            let mut nearest = 1.0;
            let good = loop {
                self.evaluate(centre, &next_v, to);
                if corrections == 0 {
                    nearest = self.nearest_event();
                }
                let error = norm(&self.g) / (self.unit + norm(&next_v));
                if error <= EXACT {
                    break true;
                }
                if corrections >= CORRECTIONS || error.is_nan() || corrections > 1 && error > before {
                    break false;
                }
                before = error;
                corrections += 1;
                spent += 1;
                if !self.factorise(to) {
                    break false;
                }
                self.set_along(centre);
                let mut a = self.g.clone();
                self.lu.solve(&mut a);
                let unit = self.unit * self.unit;
                let across: f64 =
                    (0..k).map(|i| tangent[i] * (next_v[i] - predicted_v[i])).sum::<f64>() / unit + tangent[k] * (to - predicted);
                let (fixed, moved) =
                    (0..k).fold((0.0, 0.0), |(f, m), i| (f - tangent[i] * a[i] / unit, m + tangent[i] * self.along[i] / unit));
                let change = -(across + fixed) / (moved + tangent[k]);
                if !change.is_finite() || change.abs() > 4.0 {
                    break false;
                }
                (0..k).for_each(|i| next_v[i] += self.along[i] * change - a[i]);
                to += change;
            };
            // not beyond the first change of state that is foreseen
            let shorter = length * (0.98 * nearest).clamp(0.02, 0.4);
            if !good && length > STEP.2 {
                length = shorter;
                continue;
            }
            spent += 1;
            if !good {
                // a kink: the direction of what lies beyond it
                next_v.copy_from_slice(&predicted_v);
                to = predicted;
                self.evaluate(centre, &next_v, to);
            }
            if !self.factorise(to) {
                return (spent, false);
            }
            let beyond = self.tangent(centre, orientation);
            let turn = (0..k).map(|i| beyond[i] * tangent[i]).sum::<f64>() / (self.unit * self.unit) + beyond[k] * tangent[k];
            if good && turn < TURN && length > STEP.2 {
                // another part of the curve, or over a kink: in smaller steps
                length = shorter;
                continue;
            }
            let crossed = looks < LOOKS.len() && to <= LOOKS[looks];
            v.copy_from_slice(&next_v);
            self.events_before.copy_from_slice(&self.events);
            sigma = to;
            tangent = beyond;
            length = if !good {
                3.0 * STEP.2
            } else if corrections <= 2 {
                (2.0 * length).min(STEP.1)
            } else if corrections >= 5 {
                0.5 * length
            } else {
                length
            };
            if crossed && good {
                looks += 1;
                if arrived(Some(&self.r)) {
                    return (spent, true);
                }
                if looks == LOOKS.len() {
                    break;
                }
            }
            steps += 1;
            if steps % PAUSE == 0 && arrived(None) {
                return (spent, true);
            }
            if norm(&self.r) > ASTRAY * self.natural || sigma > START + 2.0 {
                break;
            }
        }
        (spent, false)
    }

    /// Sets x, r, the derivatives of Π and G.
    fn evaluate(&mut self, centre: &[f64], v: &[f64], sigma: f64) {
        let (k, epsilon) = (self.rank, libm::exp(sigma));
        self.g.copy_from_slice(v);
        for (i, set) in self.p.sets.iter().enumerate() {
            let range = self.p.w.range(i);
            let n = range.len();
            let step = 1.0 / (epsilon * self.weights[i]);
            for row in range.clone() {
                let u = self.p.q[row] + dot(&self.left[row * k..(row + 1) * k], v);
                self.x[row] = centre[row] - step * u;
            }
            let d = &mut self.blocks[i * ROWS * ROWS..][..n * n];
            let (x, r) = (&self.x[range.clone()], &mut self.r[range.clone()]);
            r.copy_from_slice(x);
            let event = &mut self.events[2 * i..2 * i + 2];
            event.copy_from_slice(&match *set {
                AdmissibleSet::Coulomb { mu } => [x[0], norm(&x[1..]) - mu * x[0]],
                AdmissibleSet::NonNegative if n == 1 => [x[0], 1.0],
                AdmissibleSet::Interval { lower, upper } if n == 1 => [x[0] - lower, upper - x[0]],
                _ => [1.0, 1.0],
            });
            match *set {
                AdmissibleSet::Coulomb { mu } => isotropic(mu, r, d),
                set => {
                    set.derivative(x, d);
                    set.project(r);
                }
            }
            for row in range {
                let r = self.r[row];
                if r != 0.0 {
                    self.g.iter_mut().zip(&self.right[row * k..(row + 1) * k]).for_each(|(g, c)| *g -= r * c);
                }
            }
        }
    }

    /// Share of the way to the point that was evaluated last at which the first block changes its state.
    fn nearest_event(&self) -> f64 {
        let crossing = |(before, now): (&f64, &f64)| (before * now < 0.0).then(|| before / (before - now));
        self.events_before.iter().zip(&self.events).filter_map(crossing).fold(1.0, f64::min)
    }

    /// `J = 1 + C DΠ (ε D)⁻¹ B` of the point that was evaluated last, factorised.
    fn factorise(&mut self, sigma: f64) -> bool {
        let (k, epsilon) = (self.rank, libm::exp(sigma));
        self.jacobian.fill(0.0);
        (0..k).for_each(|i| self.jacobian[i * k + i] = 1.0);
        for i in 0..self.p.sets.len() {
            let range = self.p.w.range(i);
            let n = range.len();
            let d = &self.blocks[i * ROWS * ROWS..][..n * n];
            if d.iter().all(|x| *x == 0.0) {
                continue;
            }
            let step = 1.0 / (epsilon * self.weights[i]);
            for (row, out) in self.scaled.chunks_exact_mut(k).take(n).enumerate() {
                out.fill(0.0);
                for column in 0..n {
                    let share = step * d[row * n + column];
                    if share != 0.0 {
                        let b = &self.left[(range.start + column) * k..][..k];
                        out.iter_mut().zip(b).for_each(|(o, b)| *o += share * b);
                    }
                }
            }
            for (row, scaled) in range.zip(self.scaled.chunks_exact(k)) {
                for (c, out) in self.right[row * k..(row + 1) * k].iter().zip(self.jacobian.chunks_exact_mut(k)) {
                    if *c != 0.0 {
                        out.iter_mut().zip(scaled).for_each(|(o, s)| *o += c * s);
                    }
                }
            }
        }
        let Self { lu, jacobian, .. } = self;
        lu.factor(k, |i, row| row.copy_from_slice(&jacobian[i * k..(i + 1) * k]))
    }

    /// Sets the slope of v in σ at the point that was factorised last: `∂G/∂σ = −C DΠ (r₀ − x)`.
    fn set_along(&mut self, centre: &[f64]) {
        let k = self.rank;
        self.slope.fill(0.0);
        for i in 0..self.p.sets.len() {
            let range = self.p.w.range(i);
            let n = range.len();
            for row in 0..n {
                let d = &self.blocks[i * ROWS * ROWS + row * n..][..n];
                let change: f64 = d.iter().zip(range.clone()).map(|(d, j)| d * (centre[j] - self.x[j])).sum();
                if change != 0.0 {
                    let c = &self.right[(range.start + row) * k..][..k];
                    self.slope.iter_mut().zip(c).for_each(|(s, c)| *s += change * c);
                }
            }
        }
        self.along.copy_from_slice(&self.slope);
        self.lu.solve(&mut self.along);
    }

    /// Unit tangent (v, σ) of the curve at the point that was factorised last, in the unit of v.
    fn tangent(&mut self, centre: &[f64], orientation: f64) -> Vec<f64> {
        self.set_along(centre);
        let size = (1.0 + (norm(&self.along) / self.unit).powi(2)).sqrt();
        let sign = if self.lu.is_negative() { -orientation } else { orientation };
        self.along.iter().chain([&1.0]).map(|x| sign * x / size).collect()
    }
}

/// The contact with `W = 1`: normal first, then the disc of radius μ r_n; its derivative goes to `d`.
fn isotropic(mu: f64, x: &mut [f64], d: &mut [f64]) {
    let n = x.len();
    d.fill(0.0);
    if x[0] <= 0.0 {
        x.fill(0.0);
        return;
    }
    d[0] = 1.0;
    let (radius, t) = (mu * x[0], norm(&x[1..]));
    if t <= radius {
        (1..n).for_each(|i| d[i * n + i] = 1.0);
        return;
    }
    for i in 1..n {
        for j in 1..n {
            let unit = f64::from(u8::from(i == j));
            d[i * n + j] = radius / t * (unit - x[i] * x[j] / (t * t));
        }
        d[i * n] = mu * x[i] / t;
    }
    x[1..].iter_mut().for_each(|x| *x *= radius / t);
}
