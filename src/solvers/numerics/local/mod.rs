//! The reduced problem on a given matrix: what FCLIB calls `local`, and every other product of small admissible sets.
//!
//! ```text
//! u = W r + q        −(u + g(u)) ∈ N_K(r),   K = K₁ × K₂ × …        one block of rows per set
//! F = r − P_K(r − û)                                                  û = u + g(u) e_n
//! rel  = |F| / max(|q|, |r|, |u|)           rel_q = |F| / |q|
//! e_s  = |D^½ (r − P_K(r − D⁻¹ û))| / max(|D^½ r|, |D^{-½} q|)        D = mean of the diagonal of W_aa
//! ```
//!
//! Friction in two and three dimensions, with or without rolling, complementarity, relays, equalities and second-order
//! cones differ in [`AdmissibleSet`] alone. W may be nonsymmetric and rank deficient.

pub(crate) mod admm;
#[cfg(test)]
mod agreement_tests;
pub(in crate::numerics) mod alart_curnier;
pub(crate) mod alternation;
#[cfg(test)]
mod assemblies;
mod attempts;
pub(crate) mod auto;
pub(super) mod cones;
pub(crate) mod equations;
pub(crate) mod fixed_point;
mod infeasibility;
pub(crate) mod interior_point;
mod jacobian;
pub(super) mod kernel;
pub(crate) mod newton;
pub(crate) mod nsgs;
mod path;
pub(super) mod plane;
pub(crate) mod proximal;
mod starts;
mod trial;

use super::acceptance::{Scales, scales_of};
use super::admissible::{AdmissibleSet, MU_MAX, project_coulomb};
use super::{ProblemError, Report, Watch, residual::Residual};
use crate::algebra::blocks::BlockRows;
use crate::algebra::dense::vanishes;
use glam::DVec3;

/// `u = W r + q` and `−(u + g(u)) ∈ N_K(r)` (Siconos: `FrictionContactProblem`, `RollingFrictionContactProblem`,
/// `GenericMechanicalProblem`).
///
/// ```
/// use drystone::algebra::blocks::BlockRows;
/// use drystone::numerics::local::LocalProblem;
/// // one contact, pressed and dragged
/// let w = BlockRows::from_dense(&[0, 3], &[1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0]);
/// let p = LocalProblem::friction(w, vec![-1.0, 3.0, 4.0], &[0.5])?;
/// let mut u = [0.0; 3];
/// // it slips against the pull with |r_t| = μ r_n
/// let found = p.residual(&[1.0, -0.3, -0.4], &mut u);
/// assert!(found.rel < 1e-15 && u[0] == 0.0);
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LocalProblem {
    /// W, one block row per set.
    pub w: BlockRows,
    /// q, one value per row.
    pub q: Vec<f64>,
    /// Where the reaction of each block lives.
    pub sets: Vec<AdmissibleSet>,
}

/// Anything that solves [`LocalProblem`]s.
pub(crate) trait LocalSolver {
    /// Improves `r`, the first guess, and sets `u = W r + q`; `watch` sees every iteration and may end the solve.
    fn solve_watched(&self, p: &LocalProblem, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Report;

    /// Improves `r`, the first guess, and sets `u = W r + q`.
    fn solve(&self, p: &LocalProblem, r: &mut [f64], u: &mut [f64]) -> Report {
        self.solve_watched(p, r, u, &mut |_| true)
    }
}

impl LocalProblem {
    /// Coulomb friction, one block of two or three rows `(n, t1[, t2])` per contact.
    pub fn friction(w: BlockRows, q: Vec<f64>, mu: &[f64]) -> Result<Self, ProblemError> {
        let p = Self { w, q, sets: mu.iter().map(|&mu| AdmissibleSet::Coulomb { mu }).collect() };
        p.validate().map(|()| p)
    }

    /// Friction with rolling resistance, one block of three or five rows per contact.
    pub fn rolling(w: BlockRows, q: Vec<f64>, mu: &[f64], mu_r: &[f64]) -> Result<Self, ProblemError> {
        size("mu_r", mu_r.len(), mu.len(), "one per contact")?;
        let p = Self { w, q, sets: mu.iter().zip(mu_r).map(|(&mu, &mu_r)| AdmissibleSet::Rolling { mu, mu_r }).collect() };
        p.validate().map(|()| p)
    }

    /// Number of rows.
    pub fn order(&self) -> usize {
        self.q.len()
    }

    /// Checks sizes, coefficients and that every number is finite.
    pub fn validate(&self) -> Result<(), ProblemError> {
        size("q", self.q.len(), self.w.order(), "the order of W")?;
        size("the list of sets (mu)", self.sets.len(), self.w.block_count(), "one per block row of W")?;
        finite("W", self.w.values())?;
        finite("q", &self.q)?;
        validate_sets(&self.sets, self.w.offsets())
    }

    /// Scale D of each block: the mean of the diagonal of its own W, or where that is not positive the mean over all blocks.
    pub fn weights(&self) -> Vec<f64> {
        let mut weights = Vec::new();
        self.weigh(&mut weights);
        weights
    }

    /// The same into a buffer.
    pub(super) fn weigh(&self, weights: &mut Vec<f64>) {
        let mean = |i: usize| {
            let n = self.w.rows(i);
            self.w.block(i, i).map_or(0.0, |b| b.iter().step_by(n + 1).sum::<f64>() / n as f64)
        };
        weights.clear();
        weights.extend((0..self.w.block_count()).map(mean));
        mend_weights(weights);
    }

    /// `u = W r + q`
    pub(in crate::numerics) fn velocity(&self, r: &[f64], u: &mut [f64]) {
        self.w.multiply(r, u);
        u.iter_mut().zip(&self.q).for_each(|(u, q)| *u += q);
    }

    /// Some blocks as a problem of their own, and their rows in this one.
    pub(in crate::numerics) fn part(&self, member: impl Fn(usize) -> bool) -> (Self, Vec<usize>) {
        let members: Vec<usize> = (0..self.sets.len()).filter(|&i| member(i)).collect();
        let (mut offsets, mut place) = (vec![0], vec![0; self.sets.len()]);
        for &i in &members {
            place[i] = offsets[offsets.len() - 1];
            offsets.push(place[i] + self.w.rows(i));
        }
        let mut entries = Vec::new();
        for &i in &members {
            for (j, block) in self.w.row(i).filter(|(j, _)| member(*j)) {
                let width = self.w.rows(j);
                entries.extend(block.iter().enumerate().map(|(k, x)| (place[i] + k / width, place[j] + k % width, *x)));
            }
        }
        let rows: Vec<usize> = members.iter().flat_map(|&i| self.w.range(i)).collect();
        let (q, sets) = (rows.iter().map(|&k| self.q[k]).collect(), members.iter().map(|&i| self.sets[i]).collect());
        (Self { w: BlockRows::from_triplets(&offsets, entries), q, sets }, rows)
    }

    /// The errors of `r`; `u = W r + q` is recomputed and left in `u`.
    pub fn residual(&self, r: &[f64], u: &mut [f64]) -> Residual {
        self.velocity(r, u);
        self.residual_at(r, u, &self.scales())
    }

    /// The same problem with W and q near one where they are far from it, by powers of two, so that no square leaves the range of
    /// numbers and no norm mixes reactions and velocities of far different size; and β/α: `W' = α W`, `q' = β q`, `r' = r β/α`. Where W is
    /// large, reactions are small beside velocities and rel is strict as it is; where W is small, it would be next to nothing.
    fn normalised(&self) -> Option<(Self, f64)> {
        const NEAR: std::ops::Range<f64> = 1e-4..1e4;
        const NEAR_W: std::ops::Range<f64> = 1e-4..1e7;
        // most problems, at the cost of one look at their numbers
        let largest = self.q.iter().fold(0.0f64, |m, q| m.max(q.abs()));
        let near = |i: usize| self.w.block(i, i).is_some_and(|b| b.iter().step_by(self.w.rows(i) + 1).all(|d| NEAR_W.contains(d)));
        if NEAR.contains(&largest) && (0..self.w.block_count()).all(near) {
            return None;
        }
        let weights = self.weights();
        let mean = weights.iter().map(|d| d / weights.len() as f64).sum::<f64>();
        let power = |x: f64, near: std::ops::Range<f64>| {
            if x > 0.0 && !near.contains(&x) { libm::exp2((-libm::log2(x)).round().clamp(-1000.0, 1000.0)) } else { 1.0 }
        };
        let (alpha, beta) = (power(mean, NEAR_W), power(largest, NEAR));
        let unit = beta / alpha;
        if (alpha, beta) == (1.0, 1.0) || !unit.is_normal() {
            return None;
        }
        let mut p = self.clone();
        p.w.values_mut().iter_mut().for_each(|w| *w *= alpha);
        p.q.iter_mut().for_each(|q| *q *= beta);
        p.sets.iter_mut().for_each(|set| *set = set.scaled(unit));
        Some((p, unit))
    }

    /// The scales on which blocks are judged.
    pub fn scales(&self) -> Scales {
        Scales { weights: self.weights(), velocities: scales_of(&self.w, &self.sets, &self.q) }
    }

    /// The errors of `r` when `u = W r + q` and the [`scales`](Self::scales) are known.
    pub fn residual_at(&self, r: &[f64], u: &[f64], scales: &Scales) -> Residual {
        natural_map(&self.sets, self.w.offsets(), scales, r, u, &self.q)
    }
}

/// Puts the mean of the positive weights, or 1, in place of the others.
pub(super) fn mend_weights(weights: &mut [f64]) {
    if weights.iter().all(|d| *d > 0.0) {
        return;
    }
    let positive = weights.iter().filter(|d| **d > 0.0);
    let typical = positive.clone().sum::<f64>() / positive.count().max(1) as f64;
    let fallback = if typical > 0.0 { typical } else { 1.0 };
    weights.iter_mut().filter(|d| d.is_nan() || **d <= 0.0).for_each(|d| *d = fallback);
}

/// The natural map of all blocks, in the three scalings of the module's head, and the worst block.
pub(super) fn natural_map(sets: &[AdmissibleSet], offsets: &[usize], scales: &Scales, r: &[f64], u: &[f64], q: &[f64]) -> Residual {
    let found = squares(sets, offsets, scales, r, u, q);
    let [.., r2, u2, q2] = found.sums;
    let vanished = vanishes(r2, r) || vanishes(u2, u) || vanishes(q2, q);
    if !vanished && found.sums.iter().all(|x| *x == 0.0 || (1e-290..1e290).contains(x)) {
        return found.residual(1.0);
    }
    // squares leave the range of numbers: in the unit of the largest number once more
    let largest = [r, u, q].into_iter().flatten().fold(0.0f64, |m, x| m.max(x.abs()));
    if !largest.is_finite() || largest == 0.0 {
        return found.residual(1.0);
    }
    // in two factors: one alone may be beyond the range itself
    let half = libm::exp2((-libm::log2(largest) / 2.0).floor());
    let [r, u, q] = [r, u, q].map(|x| x.iter().map(|x| x * half * half).collect::<Vec<f64>>());
    let velocities = scales.velocities.iter().map(|x| x * half * half).collect();
    // bounds have the unit of r
    let sets: Vec<AdmissibleSet> = sets.iter().map(|set| set.scaled(half).scaled(half)).collect();
    squares(&sets, offsets, &Scales { weights: scales.weights.clone(), velocities }, &r, &u, &q).residual(half)
}

/// Sums over the blocks: `|F|²`, `|D^½ F|²`, `|D^½ r|²`, `|D^-½ q|²`, `|r|²`, `|u|²`, `|q|²`, and the worst block.
struct Squares {
    sums: [f64; 7],
    violation: f64,
    misfit: f64,
    blocks: usize,
}

impl Squares {
    /// The errors, of velocities that were multiplied by `half` twice.
    fn residual(&self, half: f64) -> Residual {
        let ratio = |a: f64, b: f64| if a == 0.0 { 0.0 } else { a / b.max(f64::MIN_POSITIVE) };
        let [plain, scaled, r_scaled, q_scaled, r, u, q] = self.sums.map(f64::sqrt);
        Residual {
            rel: ratio(plain, q.max(r).max(u)),
            rel_q: ratio(plain, q),
            e_s: ratio(scaled, r_scaled.max(q_scaled)),
            violation: self.violation / half / half,
            misfit: self.misfit,
            blocks: self.blocks,
            ..Residual::default()
        }
    }
}

fn squares(sets: &[AdmissibleSet], offsets: &[usize], scales: &Scales, r: &[f64], u: &[f64], q: &[f64]) -> Squares {
    let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
    let (mut plain, mut scaled, mut r_scaled, mut q_scaled) = (0.0, 0.0, 0.0, 0.0);
    let (mut violation, mut misfit) = (0.0f64, 0.0f64);
    let sums = [length(r), length(u), length(q)];
    let mut x = [0.0; 8];
    let mut long = Vec::new();
    for (i, set) in sets.iter().enumerate() {
        let range = offsets[i]..offsets[i + 1];
        let (r, u, d) = (&r[range.clone()], &u[range.clone()], scales.weights[i]);
        if r.len() > x.len() {
            long.resize(r.len(), 0.0);
        }
        let x = if r.len() > x.len() { &mut long[..r.len()] } else { &mut x[..r.len()] };
        if r.is_empty() {
            continue;
        }
        let own;
        let vector = |x: &[f64]| match *x {
            [n, t1, t2] => Some(DVec3::new(n, t1, t2)),
            [n, t] => Some(DVec3::new(n, t, 0.0)),
            _ => None,
        };
        if let (AdmissibleSet::Coulomb { mu }, Some(r), Some(u)) = (set, vector(r), vector(u)) {
            // the common case without slices
            if r == DVec3::ZERO && u.x >= 0.0 {
                // open: nothing is missed
                q_scaled += length(&q[range]) / d;
                continue;
            }
            let u = DVec3::new(u.x + mu * (u.y * u.y + u.z * u.z).sqrt(), u.y, u.z);
            let error = |step: f64| {
                let mut x = r - step * u;
                project_coulomb(*mu, &mut x);
                (r - x).length_squared()
            };
            plain += error(1.0);
            own = error(1.0 / d);
            r_scaled += d * r.length_squared();
        } else {
            let shift = set.shift(u);
            let mut error = |step: f64| {
                (0..r.len()).for_each(|k| x[k] = r[k] - step * u[k]);
                x[0] -= step * shift;
                set.project(x);
                (0..r.len()).map(|k| (r[k] - x[k]).powi(2)).sum::<f64>()
            };
            plain += error(1.0);
            own = error(1.0 / d);
            r_scaled += d * length(r);
        }
        scaled += d * own;
        q_scaled += length(&q[range]) / d;
        // the digits of u are no better than those of W r
        let rounding = f64::EPSILON * f64::EPSILON * length(r);
        let missed = d * (if rounding > own { rounding } else { own }).sqrt();
        // not `max`: an error that is no number is no small one
        violation = if missed <= violation { violation } else { missed };
        let missed = scales.misfit(i, missed);
        misfit = if missed <= misfit { misfit } else { missed };
    }
    let [r, u, q] = sums;
    Squares { sums: [plain, scaled, r_scaled, q_scaled, r, u, q], violation, misfit, blocks: sets.len() }
}

pub(super) fn size(what: &str, found: usize, needed: usize, why: &str) -> Result<(), ProblemError> {
    if found == needed {
        return Ok(());
    }
    Err(ProblemError::Size { what: what.into(), found, needed, why: why.into() })
}

pub(super) fn finite(what: &str, values: &[f64]) -> Result<(), ProblemError> {
    // in one go: no branch a number
    if values.iter().fold(true, |all, x| all & x.is_finite()) {
        return Ok(());
    }
    match values.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(k) => Err(ProblemError::NotFinite { what: format!("value {k} of {what}") }),
    }
}

/// Every block has rows enough for its set, and every coefficient makes sense.
pub(super) fn validate_sets(sets: &[AdmissibleSet], offsets: &[usize]) -> Result<(), ProblemError> {
    let coefficient = |i: usize, name: &str, x: f64| {
        let good = (0.0..=MU_MAX).contains(&x);
        let error =
            || ProblemError::OutOfRange { what: format!("{name} of block {i}"), found: x, needed: "a number from 0 to 1000000 is needed" };
        if good { Ok(()) } else { Err(error()) }
    };
    for (i, set) in sets.iter().enumerate() {
        let rows = offsets[i + 1] - offsets[i];
        match *set {
            AdmissibleSet::Free | AdmissibleSet::NonNegative | AdmissibleSet::Interval { .. } if rows == 0 => {
                return size(&format!("block {i}"), rows, 1, "a block without a row is to be left out");
            }
            AdmissibleSet::Free | AdmissibleSet::NonNegative => {}
            AdmissibleSet::Interval { lower, upper } => {
                if lower > upper || lower.is_nan() || upper.is_nan() {
                    let what = format!("the lower bound of block {i}");
                    return Err(ProblemError::OutOfRange { what, found: lower, needed: "it must not exceed the upper bound" });
                }
            }
            AdmissibleSet::Coulomb { mu } | AdmissibleSet::SecondOrder { mu } => {
                coefficient(i, "mu", mu)?;
                if rows == 0 {
                    return size(&format!("block {i}"), rows, 3, "a normal and its tangents");
                }
            }
            AdmissibleSet::Crushing { mu, most } => {
                coefficient(i, "mu", mu)?;
                if !most.is_finite() || most <= 0.0 {
                    let what = format!("the largest normal reaction of block {i}");
                    return Err(ProblemError::OutOfRange {
                        what,
                        found: most,
                        needed: "a bound above 0 is needed; coulomb bears anything",
                    });
                }
                if rows == 0 {
                    return size(&format!("block {i}"), rows, 3, "a normal and its tangents");
                }
            }
            AdmissibleSet::Rolling { mu, mu_r } => {
                coefficient(i, "mu", mu)?;
                coefficient(i, "mu_r", mu_r)?;
                if rows.is_multiple_of(2) && rows != 6 {
                    return size(&format!("block {i}"), rows, 5, "a normal, its tangents and as many moments, or 6 with one of drilling");
                }
            }
            AdmissibleSet::Twisting { mu, mu_r, mu_t } => {
                coefficient(i, "mu", mu)?;
                coefficient(i, "mu_r", mu_r)?;
                coefficient(i, "mu_t", mu_t)?;
                if rows != 6 {
                    return size(&format!("block {i}"), rows, 6, "a normal, two tangents, two moments of rolling and one of twisting");
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(n: usize) -> BlockRows {
        BlockRows::from_triplets(&(0..=n / 3).map(|i| 3 * i).collect::<Vec<_>>(), (0..n).map(|i| (i, i, 1.0)))
    }

    #[test]
    fn bad_data_is_named() {
        let text = |p: Result<LocalProblem, ProblemError>| p.expect_err("an error").to_string();
        assert!(text(LocalProblem::friction(identity(6), vec![0.0; 3], &[0.5; 2])).contains("q holds 3 values, but 6"));
        assert!(text(LocalProblem::friction(identity(6), vec![0.0; 6], &[0.5])).contains("1 values, but 2"));
        assert!(text(LocalProblem::friction(identity(3), vec![0.0; 3], &[-0.5])).contains("mu of block 0 is -5e-1"));
        assert!(text(LocalProblem::friction(identity(3), vec![0.0, f64::NAN, 0.0], &[0.5])).contains("value 1 of q"));
        assert!(text(LocalProblem::rolling(identity(3), vec![0.0; 3], &[0.5], &[])).contains("mu_r holds 0"));
        // solvers cut matrices by the rows of their blocks, and a block without one was no size to cut by
        for set in [AdmissibleSet::Free, AdmissibleSet::NonNegative, AdmissibleSet::Interval { lower: 0.0, upper: 1.0 }] {
            let w = BlockRows::from_triplets(&[0, 0, 2], [(0, 0, 1.0), (1, 1, 1.0)]);
            let p = LocalProblem { w, q: vec![-1.0; 2], sets: vec![set, AdmissibleSet::NonNegative] };
            assert!(p.validate().is_err_and(|e| e.to_string().contains("block 0 holds 0 values")));
        }
    }

    #[test]
    fn nothing_to_solve_has_no_error() {
        assert_eq!(LocalProblem::default().residual(&[], &mut []), Residual::default());
        let p = LocalProblem::friction(identity(3), vec![0.0; 3], &[0.5]).expect("legal");
        assert_eq!(p.residual(&[0.0; 3], &mut [0.0; 3]), Residual { blocks: 1, ..Residual::default() });
    }
}
