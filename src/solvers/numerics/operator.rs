//! W as a program: problems whose matrix nobody forms, by projections that need nothing but W x.
//!
//! ```text
//! u = W r + q      −(u + g(u)) ∈ N_K(r)      K is a product of cones and boxes of single blocks
//! ```
//!
//! D, the mean of the diagonal of W of each block, scales the unknowns and judges the answer.
//!
//! - Cost: one or two products with W an iteration.
//! - Wins: W that is cheap to apply and dear to form, moderate accuracy.
//! - Fails: ill conditioning, as all methods of first order.

use super::acceptance::{Scales, demand};
use super::admissible::AdmissibleSet;
use super::local::{finite, size, validate_sets};
use super::projection::{Blocks, Projection};
use super::solvers::{Answer, Family, Settings, Solution};
use super::{ProblemError, Watch};

/// `u = W r + q`, `−(u + g(u)) ∈ N_K(r)` with W given as a function; `apply(x, y)` writes `y = W x`.
///
/// Solvers: `vi_extragradient` (the default), `vi_fixed_point`, `hyperplane`.
///
/// ```
/// use drystone::numerics::{admissible::AdmissibleSet, operator::OperatorProblem, solvers::Settings};
/// // one contact, pressed and dragged
/// let p = OperatorProblem {
///     apply: |x: &[f64], y: &mut [f64]| (y[0], y[1], y[2]) = (x[0], 2.0 * x[1], 2.0 * x[2]),
///     weights: vec![5.0 / 3.0],
///     q: vec![-1.0, 3.0, 4.0],
///     offsets: vec![0, 3],
///     sets: vec![AdmissibleSet::Coulomb { mu: 0.5 }],
/// };
/// let answer = p.solve(&Settings::default())?;
/// let r = &answer.solution.r;
/// assert!(answer.converged() && (r[0] - 1.0).abs() < 1e-6 && (r[1] + 0.3).abs() < 1e-6 && (r[2] + 0.4).abs() < 1e-6);
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
#[derive(Clone, Debug)]
pub struct OperatorProblem<F: Fn(&[f64], &mut [f64])> {
    /// W
    pub apply: F,
    /// Mean of the diagonal of W of each block, positive.
    pub weights: Vec<f64>,
    /// q, one value per row.
    pub q: Vec<f64>,
    /// First row of each block, then the order.
    pub offsets: Vec<usize>,
    /// Where the reaction of each block lives.
    pub sets: Vec<AdmissibleSet>,
}

/// Share of the largest demand that is the scale of every block: what is coupled with what, a function does not tell.
const COMMON: f64 = 0.1;

impl<F: Fn(&[f64], &mut [f64])> OperatorProblem<F> {
    /// Checks sizes, coefficients and that every number is finite.
    pub fn validate(&self) -> Result<(), ProblemError> {
        let blocks = self.sets.len();
        size("weights", self.weights.len(), blocks, "one per block")?;
        size("offsets", self.offsets.len(), blocks + 1, "one per block, and the order")?;
        if self.offsets[0] != 0 || self.offsets.windows(2).any(|o| o[0] > o[1]) {
            let what = "the list of offsets".into();
            return Err(ProblemError::OutOfRange { what, found: f64::NAN, needed: "it must start at 0 and grow" });
        }
        size("q", self.q.len(), self.offsets[blocks], "the last offset")?;
        finite("q", &self.q)?;
        if let Some((block, found)) = self.weights.iter().enumerate().find(|(_, w)| !(**w > 0.0 && w.is_finite())) {
            return Err(ProblemError::SingularBlock { block: format!("block {block}"), found: *found });
        }
        validate_sets(&self.sets, &self.offsets)
    }

    /// Solves the problem as the settings say. Not converging is a status of the answer; an error says why the problem cannot be stated,
    /// or which setting makes no sense.
    pub fn solve(&self, settings: &Settings) -> Result<Answer, ProblemError> {
        self.solve_watched(settings, &mut |_| true)
    }

    /// The same under a watch, which sees every iteration and may say stop.
    pub fn solve_watched(&self, settings: &Settings, watch: &mut Watch) -> Result<Answer, ProblemError> {
        self.validate()?;
        let name = settings.taken(Family::Operator)?;
        let solver = Projection::asked(name, settings)?;
        let (r, scales) = (settings.first_guess(self.q.len())?, self.scales());
        let blocks = Blocks { apply: &self.apply, q: &self.q, offsets: &self.offsets, sets: &self.sets, scales: &scales };
        settings.timed(watch, |watch| {
            let mut s = Solution { u: vec![0.0; r.len()], r, v: Vec::new() };
            let report = blocks.solve(&solver, &mut s.r, &mut s.u, watch);
            Ok(Answer { solution: s, report, solver: name, ..Answer::default() })
        })
    }

    /// Scales on which blocks are judged.
    fn scales(&self) -> Scales {
        let block = |i: usize| &self.q[self.offsets[i]..self.offsets[i + 1]];
        let common = COMMON * (0..self.sets.len()).map(|i| demand(self.sets[i], block(i))).fold(0.0, f64::max);
        let own = |i: usize| block(i).iter().fold(common, |m: f64, q| m.max(q.abs()));
        Scales { weights: self.weights.clone(), velocities: (0..self.sets.len()).map(own).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::blocks::BlockRows;
    use crate::numerics::local::LocalProblem;

    /// Bricks on each other, each contact of its own scale, beside bounded unknowns.
    fn problem() -> LocalProblem {
        let offsets = [0, 3, 6, 7, 8];
        let mut entries: Vec<_> = (0..8).map(|i| (i, i, [2.0, 2.0, 2.0, 20.0, 20.0, 20.0, 3.0, 1.0][i])).collect();
        entries.extend((0..3).flat_map(|i| [(i, i + 3, 1.0), (i + 3, i, 1.0)]));
        entries.extend([(0, 6, 0.5), (6, 0, 0.5), (6, 7, 0.3), (7, 6, 0.3)]);
        let sets = vec![
            AdmissibleSet::Coulomb { mu: 0.4 },
            AdmissibleSet::Coulomb { mu: 0.7 },
            AdmissibleSet::NonNegative,
            AdmissibleSet::Interval { lower: -0.1, upper: 0.2 },
        ];
        LocalProblem { w: BlockRows::from_triplets(&offsets, entries), q: vec![-1.0, 0.8, 0.1, -2.0, 0.1, 0.0, -0.5, -3.0], sets }
    }

    #[test]
    fn a_function_gives_the_answer_of_its_matrix() {
        let p = problem();
        let exact = p.solve(&Settings { tolerance: 1e-12, ..Settings::default() }).unwrap();
        let operator = OperatorProblem {
            apply: |x: &[f64], y: &mut [f64]| p.w.multiply(x, y),
            weights: p.weights(),
            q: p.q.clone(),
            offsets: p.w.offsets().to_vec(),
            sets: p.sets.clone(),
        };
        for name in ["vi_extragradient", "vi_fixed_point", "hyperplane"] {
            let answer = operator.solve(&Settings { tolerance: 1e-10, ..Settings::with_solver(name).unwrap() }).unwrap();
            assert!(answer.converged(), "{name}: {:?}", answer.report);
            let far = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
            assert!(far(&answer.solution.r, &exact.solution.r) < 1e-8, "{name}: {:?} {:?}", answer.solution.r, exact.solution.r);
            assert!(far(&answer.solution.u, &exact.solution.u) < 1e-8, "{name}");
        }
        let error = operator.solve(&Settings::with_solver("nsgs").unwrap()).unwrap_err().to_string();
        assert!(error.contains("nsgs takes no operator problems; these do: vi_extragradient"), "{error}");
    }
}
