//! Proximal point around a semismooth Newton method with the velocities as unknowns.
//!
//! [`multipliers`](crate::numerics::newton) on M and H as they are given.
//!
//! At a fixed point r = r_c and the shift is that of v: Coulomb's law. The matrix has the velocities as unknowns, so redundant
//! contacts cost a product each. An iteration costs one LU on a kept elimination tree and two products with H. Wins on stuck piles
//! whose contacts outnumber their velocities; loses where a few contacts meet many velocities (reduce then) and where many
//! contacts change between stick and slip: there the shift stalls. Measured: 82 contacts of stacked boxes to 1e-8 with 28
//! factorisations, 2.0 ms; 256 contacts of 98 spheres in a box stall at 2e-1. M must be symmetric.

use super::bodies::BodySpace;
use super::{GlobalProblem, GlobalSolver, Motion, Prepared};
use crate::numerics::newton::multipliers::{AugmentedLagrangian, Multipliers};
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
        let mut space = BodySpace::new(&prepared);
        Ok(self.run(&mut prepared, &mut space, at, watch))
    }
}

impl BodyNewton {
    /// Outer steps from `r` with what was prepared for the problem.
    pub(super) fn run(&self, prepared: &mut Prepared, space: &mut BodySpace, [r, v, u]: Motion, watch: &mut Watch) -> Report {
        let Self { tolerance, measure, max_iterations, penalty } = *self;
        let mut found = prepared.residual(r, v, u);
        let mut report = Report::default();
        if measure.of(&found) > tolerance {
            let outer = Multipliers { tolerance, max_factorisations: max_iterations, overshoot: ROUNDING, penalty };
            let mut point = Point::new(prepared, space, measure, [&mut *r, &mut *v, &mut *u]);
            report = outer.run(&mut point, [measure.of(&found); 2], watch);
            let best = point.best;
            r.copy_from_slice(&best);
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

/// A prepared problem, its body space and a point in it.
struct Point<'a, 'p> {
    prepared: &'a mut Prepared<'p>,
    space: &'a mut BodySpace,
    measure: Measure,
    /// r, v and u of the answer
    answer: [&'a mut [f64]; 3],
    best: Vec<f64>,
    centre: Vec<f64>,
    shift: Vec<f64>,
    /// r(v)
    r: Vec<f64>,
    /// velocities of the rows, and their change by a whole step
    u: Vec<f64>,
    along: Vec<f64>,
    free: Vec<f64>,
    /// `M^{-½}` on the diagonal: the unit in which |G| is measured
    unit: Vec<f64>,
    v: Vec<f64>,
    /// `v − v_free` and M times it
    away: Vec<f64>,
    inertia: Vec<f64>,
    impulse: Vec<f64>,
    direction: Vec<f64>,
}

impl<'a, 'p> Point<'a, 'p> {
    fn new(prepared: &'a mut Prepared<'p>, space: &'a mut BodySpace, measure: Measure, answer: [&'a mut [f64]; 3]) -> Self {
        let on_space = |x: &[f64]| space.dofs.iter().map(|&k| x[k as usize]).collect::<Vec<f64>>();
        let (free, v, shift) = (on_space(&prepared.free), on_space(answer[1]), vec![0.0; prepared.weights.len()]);
        let unit = space.diagonal().into_iter().map(|m| 1.0 / m.abs().max(f64::MIN_POSITIVE).sqrt()).collect();
        let [centre, r, u, along] = std::array::from_fn(|_| vec![0.0; prepared.q.len()]);
        let [away, inertia, impulse, direction] = std::array::from_fn(|_| vec![0.0; space.order()]);
        let best = answer[0].to_vec();
        Self { prepared, space, measure, answer, best, centre, shift, r, u, along, free, unit, v, away, inertia, impulse, direction }
    }

    /// `r_c − (κ/D)(u + s e_n)` of block a after t steps; its length is that of x.
    fn argument(&self, a: usize, kappa: f64, t: f64, x: &mut [f64]) {
        let (first, weight) = (self.prepared.problem.offsets[a], kappa / self.prepared.weights[a]);
        for (k, x) in (first..).zip(x.iter_mut()) {
            *x = self.centre[k] - weight * (self.u[k] + t * self.along[k]);
        }
        x[0] -= weight * self.shift[a];
    }

    /// Calls `see(block, r)` with the projected argument of every block; returns the part of φ that the rows have.
    fn project(&self, kappa: f64, t: f64, mut see: impl FnMut(usize, &[f64])) -> f64 {
        let (mut value, mut x) = (0.0, Vec::new());
        for (a, set) in self.prepared.problem.sets.iter().enumerate() {
            let range = &self.prepared.problem.offsets[a..a + 2];
            x.resize(range[1] - range[0], 0.0);
            if x.is_empty() {
                continue;
            }
            self.argument(a, kappa, t, &mut x);
            set.project(&mut x);
            value += 0.5 * self.prepared.weights[a] / kappa * x.iter().map(|x| x * x).sum::<f64>();
            see(range[0], &x);
        }
        value
    }
}

impl AugmentedLagrangian for Point<'_, '_> {
    fn centre(&mut self) {
        self.centre.copy_from_slice(self.answer[0]);
    }

    fn look(&mut self) {
        let p = self.prepared.problem;
        self.u.copy_from_slice(&p.w);
        self.space.add_transposed_times(&self.v, &mut self.u);
        for ((shift, set), o) in self.shift.iter_mut().zip(&p.sets).zip(p.offsets.windows(2)) {
            *shift = if o[0] < o[1] { set.shift(&self.u[o[0]..o[1]]) } else { 0.0 };
        }
    }

    fn evaluate(&mut self, kappa: f64) -> [f64; 2] {
        let mut r = std::mem::take(&mut self.r);
        let rows = self.project(kappa, 0.0, |first, x| r[first..first + x.len()].copy_from_slice(x));
        self.r = r;
        self.away.iter_mut().zip(&self.v).zip(&self.free).for_each(|((d, v), free)| *d = v - free);
        self.inertia.fill(0.0);
        self.space.add_mass_times(&self.away, &mut self.inertia);
        self.impulse.fill(0.0);
        self.space.add_times(&self.r, &mut self.impulse);
        [0.5 * dot(&self.away, &self.inertia), rows]
    }

    /// `|M^{-½} G|` over the larger of the impulses and what they change.
    fn is_balanced(&self, share: f64) -> bool {
        let [mut g, mut impulse, mut change] = [0.0; 3];
        for (k, unit) in self.unit.iter().enumerate() {
            g += ((self.inertia[k] - self.impulse[k]) * unit).powi(2);
            impulse += (self.impulse[k] * unit).powi(2);
            change += (self.away[k] / unit).powi(2);
        }
        g == 0.0 || g.sqrt() <= share * impulse.max(change).sqrt()
    }

    fn step(&mut self, kappa: f64) -> Option<[f64; 3]> {
        let mut x = vec![0.0; self.space.widest()];
        let mut space = std::mem::take(self.space);
        let regular = space.factorise(|a, k| {
            let (set, o) = (self.prepared.problem.sets[a], &self.prepared.problem.offsets[a..a + 2]);
            let x = &mut x[..o[1] - o[0]];
            if x.is_empty() {
                return false;
            }
            self.argument(a, kappa, 0.0, x);
            set.derivative(x, k);
            k.iter_mut().for_each(|k| *k *= kappa / self.prepared.weights[a]);
            k.iter().any(|k| *k != 0.0)
        });
        *self.space = space;
        self.direction.iter_mut().zip(&self.impulse).zip(&self.inertia).for_each(|((d, i), m)| *d = i - m);
        let g: Vec<f64> = self.direction.iter().map(|d| -d).collect();
        if regular {
            self.space.solve(&mut self.direction);
        }
        if !(regular && self.direction.iter().all(|d| d.is_finite())) {
            return None;
        }
        self.along.fill(0.0);
        self.space.add_transposed_times(&self.direction, &mut self.along);
        let mut inertia = vec![0.0; g.len()];
        self.space.add_mass_times(&self.direction, &mut inertia);
        Some([dot(&self.direction, &g), dot(&self.direction, &self.inertia), 0.5 * dot(&self.direction, &inertia)])
    }

    fn row_value(&self, kappa: f64, t: f64) -> f64 {
        self.project(kappa, t, |_, _| {})
    }

    fn advance(&mut self, kappa: f64, t: f64) {
        self.v.iter_mut().zip(&self.direction).for_each(|(v, d)| *v += t * d);
        let mut r = std::mem::take(&mut self.r);
        self.project(kappa, t, |first, x| r[first..first + x.len()].copy_from_slice(x));
        self.r = r;
    }

    fn judge(&mut self) -> [f64; 2] {
        let [r, v, u] = &mut self.answer;
        r.copy_from_slice(&self.r);
        [self.measure.of(&self.prepared.residual(r, v, u)); 2]
    }

    fn keep(&mut self) {
        self.best.copy_from_slice(self.answer[0]);
    }

    fn is_at_rest(&mut self) -> bool {
        false
    }

    fn is_hasty(&self) -> bool {
        false
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
