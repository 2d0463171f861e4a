//! Alternating directions with the linear algebra in body space.
//!
//! ```text
//! (W + ρD) x = c − q   by way of velocities:   (M + H (ρD)⁻¹ Hᵀ) v = f + H (ρD)⁻¹ (c − w),   x = (ρD)⁻¹ (c − w − Hᵀ v)
//! ```
//!
//! One factorisation with the velocities as unknowns, then per iteration of [`Admm`] two products with H and one pair of triangular solves;
//! each change of ρ costs a factorisation on the same elimination tree. Indifferent to the rank of W: wins on stuck,
//! hyperstatic piles, where contacts outnumber velocities. Its tail is slow where many contacts slip, and a few contacts on
//! finite elements are better reduced. Measured: 82 contacts of stacked boxes to 1e-8 in 70 iterations, 1.1 ms with the set-up
//! (Gauss–Seidel on W: 0.4 ms); 256 contacts of 98 spheres in a box to 1e-4 in 175 iterations, 13 ms, but stuck at 2e-6 from there,
//! where Newton on W reaches 1e-8 in 21 ms.

use super::bodies::Bodies;
use super::{GlobalProblem, GlobalSolver, Motion, Prepared};
use crate::numerics::local::admm::{Admm, Split};
use crate::numerics::{Measure, ProblemError, Report, Watch, admissible::AdmissibleSet, residual::Residual};

/// Settings of the splitting in body space.
pub(crate) const IN_BODY_SPACE: Admm = Admm {
    tolerance: 1e-8,
    measure: Measure::Rel,
    max_iterations: 3000,
    rho: 0.3,
    relaxation: 1.6,
    window: 5,
    max_changes: 12,
    patience: 120,
};

impl GlobalSolver for Admm {
    fn solve_watched(&self, p: &GlobalProblem, [r, v, u]: Motion, watch: &mut Watch) -> Result<Report, ProblemError> {
        let mut prepared = Prepared::new(p)?;
        let mut bodies = Bodies::new(&prepared);
        Ok(self.run(&mut BodySplitting::new(&mut prepared, &mut bodies, v), r, u, watch))
    }
}

/// A prepared problem, its body space and its velocities.
pub(super) struct BodySplitting<'a, 'p> {
    prepared: &'a mut Prepared<'p>,
    bodies: &'a mut Bodies,
    v: &'a mut [f64],
    /// f and the velocities on the unknowns of body space
    f: Vec<f64>,
    own: Vec<f64>,
    image: Vec<f64>,
}

impl<'a, 'p> BodySplitting<'a, 'p> {
    /// `v` takes the velocities of the answer.
    pub(super) fn new(prepared: &'a mut Prepared<'p>, bodies: &'a mut Bodies, v: &'a mut [f64]) -> Self {
        let f = bodies.gather(&prepared.problem.f);
        let (own, image) = (f.clone(), vec![0.0; prepared.q.len()]);
        Self { prepared, bodies, v, f, own, image }
    }
}

impl Split for BodySplitting<'_, '_> {
    fn blocks(&self) -> (&[AdmissibleSet], &[usize], &[f64]) {
        let Prepared { problem, weights, .. } = &*self.prepared;
        (&problem.sets, &problem.offsets, weights)
    }

    fn given(&self) -> &[f64] {
        &self.prepared.problem.w
    }

    fn factorise(&mut self, d: &[f64]) -> bool {
        let offsets = &self.prepared.problem.offsets;
        self.bodies.factorise(|a, k| {
            let width = offsets[a + 1] - offsets[a];
            (0..width).for_each(|i| k[i * (width + 1)] = 1.0 / d[offsets[a]]);
            width > 0
        })
    }

    fn solve(&mut self, d: &[f64], x: &mut [f64]) {
        x.iter_mut().zip(d).for_each(|(x, d)| *x /= d);
        self.own.copy_from_slice(&self.f);
        self.bodies.space.add_impulses(x, &mut self.own);
        self.bodies.matrix.solve(&mut self.own);
        self.image.fill(0.0);
        self.bodies.space.add_rates(&self.own, &mut self.image);
        x.iter_mut().zip(&self.image).zip(d).for_each(|((x, u), d)| *x -= u / d);
    }

    fn residual(&mut self, r: &[f64], u: &mut [f64]) -> Residual {
        self.prepared.residual(r, self.v, u)
    }
}
