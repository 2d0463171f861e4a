//! Proximal point around a semismooth Newton method with the velocities as unknowns.
//!
//! [`multipliers`](crate::numerics::newton) on M and H as they are given.
//!
//! At a fixed point r = r_c and the shift is that of v: Coulomb's law. The matrix has the velocities as unknowns, so redundant
//! contacts cost a product each. An iteration costs one LU on a kept elimination tree and two products with H. Wins on stuck piles
//! whose contacts outnumber their velocities; loses where a few contacts meet many velocities (reduce then) and where many
//! contacts change between stick and slip: there the shift stalls. Measured: 82 contacts of stacked boxes to 1e-8 with 28
//! factorisations, 2.0 ms; 256 contacts of 98 spheres in a box stall at 2e-1. M must be symmetric.

use super::bodies::Bodies;
use super::{GlobalProblem, GlobalSolver, Motion, Prepared};
use crate::algebra::multifrontal::BlockGeneral;
use crate::numerics::newton::multipliers::{MAX_PENALTY, Multipliers, Point, Posed};
use crate::numerics::newton::space::BodySpace;
use crate::numerics::{Measure, ProblemError, Report, Status, Watch};

/// Settings of the proximal Newton solver in body space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BodyNewton {
    /// Stop when the error is at most this.
    pub tolerance: f64,
    /// Which error.
    pub measure: Measure,
    /// Budget of factorisations.
    pub max_iterations: usize,
    /// First κ, in units of D⁻¹.
    pub penalty: f64,
}

impl Default for BodyNewton {
    fn default() -> Self {
        Self { tolerance: 1e-8, measure: Measure::default(), max_iterations: 200, penalty: 10.0 }
    }
}

/// Share of the tolerance to which inner problems are solved where outer steps bring nothing.
const ROUNDING: f64 = 1e-6;

impl GlobalSolver for BodyNewton {
    fn solve_watched(&self, p: &GlobalProblem, at: Motion, watch: &mut Watch) -> Result<Report, ProblemError> {
        let mut prepared = Prepared::new(p)?;
        let mut bodies = Bodies::new(&prepared);
        Ok(self.run(&mut prepared, &mut bodies, at, watch))
    }
}

impl BodyNewton {
    /// Outer steps from `r` with what was prepared for the problem.
    pub(super) fn run(&self, prepared: &mut Prepared, bodies: &mut Bodies, [r, v, u]: Motion, watch: &mut Watch) -> Report {
        let Self { tolerance, measure, max_iterations, penalty } = *self;
        let mut found = prepared.residual(r, v, u);
        let mut report = Report::default();
        if measure.of(&found) > tolerance {
            let outer = Multipliers { tolerance, max_factorisations: max_iterations, overshoot: ROUNDING, penalty, largest: MAX_PENALTY };
            let velocities = [bodies.gather(&prepared.free), bodies.gather(v)];
            let p = prepared.problem;
            let mut point: Point<BlockGeneral> = Point::new(&p.sets, [&prepared.weights, &p.w, r], velocities);
            std::mem::swap(&mut point.matrix, &mut bodies.matrix);
            let unit = bodies.space.diagonal().map(|m| 1.0 / m.abs().max(f64::MIN_POSITIVE).sqrt()).collect();
            let mut posed = Reactions { prepared, measure, answer: [&mut *r, &mut *v, &mut *u], unit };
            report = outer.run(&mut bodies.space, &mut point, &mut posed, [measure.of(&found); 2], watch);
            bodies.matrix = point.matrix;
            r.copy_from_slice(&point.best);
            found = prepared.residual(r, v, u);
            report.iterations = report.factorisations;
            report.status = match report.status {
                _ if measure.of(&found) <= tolerance => Status::Converged,
                Status::Converged => Status::Stalled,
                other => other,
            };
        }
        report.with(&found)
    }
}

/// A prepared problem and its answer.
struct Reactions<'a, 'p> {
    prepared: &'a mut Prepared<'p>,
    measure: Measure,
    /// r, v and u
    answer: Motion<'a>,
    /// `M^{-½}` on the diagonal: the unit in which |G| is measured
    unit: Vec<f64>,
}

impl Posed for Reactions<'_, '_> {
    fn judge(&mut self, found: &[f64]) -> [f64; 2] {
        let [r, v, u] = &mut self.answer;
        r.copy_from_slice(found);
        [self.measure.of(&self.prepared.residual(r, v, u)); 2]
    }

    fn takes_along(&self) -> bool {
        true
    }

    /// `|M^{-½} G|` over the larger of the impulses and what they change.
    fn is_balanced<T>(&self, _: &BodySpace, at: &Point<T>, share: f64) -> bool {
        let [mut g, mut impulse, mut change] = [0.0; 3];
        for (k, unit) in self.unit.iter().enumerate() {
            g += (at.pull[k] * unit).powi(2);
            impulse += ((at.pull[k] + at.inertia[k]) * unit).powi(2);
            change += (at.away[k] / unit).powi(2);
        }
        g == 0.0 || g.sqrt() <= share * impulse.max(change).sqrt()
    }
}
