//! The problem before reduction: what FCLIB calls `global`.
//!
//! ```text
//! M v = H r + f        u = Hᵀ v + w        −(u + g(u)) ∈ N_K(r)
//! W = Hᵀ M⁻¹ H         q = w + Hᵀ M⁻¹ f                              the same law as u = W r + q
//! rel = |M v − H r − f| / max(|f|, |M v|, |H r|) + |F| / max(|r|, |u|)
//! ```
//!
//! H is dof × rows here, as in the files. [`Prepared`] factorises M once, component by component, and gives q, the scales of
//! the residual and the reduced problem, which every local solver takes; `body_admm` and `body_newton` work with the velocities as
//! unknowns and never form W, `auto` chooses.

use super::acceptance::asked_again;
use super::local::{LocalProblem, LocalSolver, finite, natural_map, size, validate_sets};
use super::{Measure, ProblemError, Report, Watch, admissible::AdmissibleSet, residual::Residual};
use crate::algebra::dense::norm;
use sprs::CsMat;

pub(crate) mod admm;
pub(crate) mod auto;
mod bodies;
mod mass;
pub(crate) mod proximal;
mod reduction;

pub use mass::MassFactors;
pub use reduction::Prepared;

/// `M v = H r + f`, `u = Hᵀ v + w` and the law of each block of rows (Siconos: `GlobalFrictionContactProblem`).
///
/// ```
/// use drystone::numerics::{admissible::AdmissibleSet, global::GlobalProblem};
/// use sprs::CsMat;
/// // a particle of 2 kg that falls on a floor without friction
/// let p = GlobalProblem {
///     mass: CsMat::eye(3).map(|x: &f64| 2.0 * x),
///     h: CsMat::eye(3),
///     f: vec![-4.0, 0.0, 0.0],
///     w: vec![0.0; 3],
///     offsets: vec![0, 3],
///     sets: vec![AdmissibleSet::Coulomb { mu: 0.0 }],
/// };
/// // the floor takes its momentum
/// let (mut v, mut u) = ([0.0; 3], [0.0; 3]);
/// let found = p.residual(&[4.0, 0.0, 0.0], &mut v, &mut u)?;
/// assert!(found.rel < 1e-15 && v == [0.0; 3]);
/// assert_eq!(p.reduce()?.q, [-2.0, 0.0, 0.0]);
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
#[derive(Clone, Debug)]
pub struct GlobalProblem {
    /// M, dof × dof.
    pub mass: CsMat<f64>,
    /// H, dof × rows.
    pub h: CsMat<f64>,
    /// f, one per velocity.
    pub f: Vec<f64>,
    /// w, one per row.
    pub w: Vec<f64>,
    /// First row of each block, then the number of rows.
    pub offsets: Vec<usize>,
    /// Where the reaction of each block lives.
    pub sets: Vec<AdmissibleSet>,
}

/// r, the first guess; v and u, which are set.
pub(crate) type Motion<'a> = [&'a mut [f64]; 3];

/// Anything that solves [`GlobalProblem`]s.
pub(crate) trait GlobalSolver {
    /// Improves r and sets `v = M⁻¹ (H r + f)` and `u = Hᵀ v + w`; `watch` sees every iteration and may end the solve. An error says why
    /// the problem cannot be stated: sizes, a singular M, a row that nothing can satisfy.
    fn solve_watched(&self, p: &GlobalProblem, at: Motion, watch: &mut Watch) -> Result<Report, ProblemError>;
}

/// A local solver of any tolerance, on the reduced problem. It is asked again, more strictly, where its own error is met and the global
/// one, over smaller terms, is not.
pub(crate) struct Reduced<F> {
    pub tolerance: f64,
    pub measure: Measure,
    pub solver: F,
}

impl<S: LocalSolver, F: Fn(f64) -> S> Reduced<F> {
    /// The report carries the errors of the global problem.
    fn run(&self, prepared: &mut Prepared, local: &LocalProblem, [r, v, u]: Motion, watch: &mut Watch) -> Report {
        asked_again(self.tolerance, self.measure, |tolerance| {
            let found = (self.solver)(tolerance).solve_watched(local, r, u, watch);
            found.with(&prepared.residual(r, v, u))
        })
    }
}

impl<S: LocalSolver, F: Fn(f64) -> S> GlobalSolver for Reduced<F> {
    fn solve_watched(&self, p: &GlobalProblem, at: Motion, watch: &mut Watch) -> Result<Report, ProblemError> {
        let mut prepared = Prepared::new(p)?;
        let local = prepared.reduce()?;
        Ok(self.run(&mut prepared, &local, at, watch))
    }
}

impl GlobalProblem {
    /// Checks sizes, coefficients, that every number is finite and that rows without any velocity can be satisfied.
    pub fn validate(&self) -> Result<(), ProblemError> {
        let (dofs, rows) = (self.f.len(), self.w.len());
        size("a row of M", self.mass.cols(), dofs, "one per value of f")?;
        size("a column of M", self.mass.rows(), dofs, "one per value of f")?;
        size("a column of H", self.h.rows(), dofs, "one per value of f: H is dof × rows")?;
        size("a row of H", self.h.cols(), rows, "one per value of w: H is dof × rows")?;
        size("the list of sets (mu)", self.sets.len(), self.offsets.len().saturating_sub(1), "one per block of rows")?;
        size("the last offset", self.offsets.last().copied().unwrap_or(0), rows, "one per value of w")?;
        if self.offsets.first().is_none_or(|&first| first != 0) || self.offsets.windows(2).any(|o| o[0] > o[1]) {
            let what = "the list of offsets".into();
            return Err(ProblemError::OutOfRange { what, found: f64::NAN, needed: "it must start at 0 and grow" });
        }
        finite("M", self.mass.data())?;
        finite("H", self.h.data())?;
        finite("f", &self.f)?;
        finite("w", &self.w)?;
        validate_sets(&self.sets, &self.offsets)
    }

    /// `v = M⁻¹ (H r + f)`
    pub fn velocity(&self, r: &[f64], v: &mut [f64]) -> Result<(), ProblemError> {
        self.validate()?;
        size("r", r.len(), self.w.len(), "one per row")?;
        v.copy_from_slice(&self.f);
        self.h.iter().for_each(|(h, (k, row))| v[k] += h * r[row]);
        MassFactors::new(&self.mass)?.solve(v);
        Ok(())
    }

    /// The errors of `r`; v and u are recomputed from it.
    pub fn residual(&self, r: &[f64], v: &mut [f64], u: &mut [f64]) -> Result<Residual, ProblemError> {
        Ok(Prepared::new(self)?.residual(r, v, u))
    }

    /// `u = W r + q` with `W = Hᵀ M⁻¹ H` and `q = w + Hᵀ M⁻¹ f`: the same law without the velocities.
    pub fn reduce(&self) -> Result<LocalProblem, ProblemError> {
        Prepared::new(self)?.reduce()
    }
}

#[cfg(test)]
mod tests;
