//! The method of multipliers around Newton's method, on anything that has a body space.
//!
//! ```text
//! outer   r_c ← r,  κ ← 10 κ                                            proximal centre
//! inner   s ← μ‖u_t‖ at every iterate, or known                         De Saxcé's shift
//!         r(v) = P_K(r_c − (κ/D)(H v + b + s))
//!         0 = G(v) = M (v − v_free) − Hᵀ r(v)                           gradient of a convex φ for a given shift
//!         (M + Hᵀ (κ/D) P'_K H) Δv = −G,   line search on φ = ½ |v − v_free|²_M + Σ (D/2κ) |r(v)|²
//! ```

use crate::numerics::{Progress, Report, Status, Watch};

/// A problem with the velocities as unknowns, and the point at hand: velocities, the rows at them, reactions.
pub(in crate::numerics) trait AugmentedLagrangian {
    /// Makes the reactions at hand the proximal centre.
    fn centre(&mut self);

    /// Sets the velocities of all rows and the shifts at the point.
    fn look(&mut self);

    /// Sets r(v) and G where the rows have been looked at; returns the kinetic part of φ and that of the rows.
    fn evaluate(&mut self, kappa: f64) -> [f64; 2];

    /// True where |G| is at most this share of the impulses.
    fn is_balanced(&self, share: f64) -> bool;

    /// Sets Newton's step; returns the slope of φ along it and, of its kinetic part, slope and curvature. `None` where a factorisation
    /// breaks down.
    fn step(&mut self, kappa: f64) -> Option<[f64; 3]>;

    /// The part of φ that the rows have after so many steps.
    fn row_value(&self, kappa: f64, t: f64) -> f64;

    /// Goes so many steps, and may take r(v) along.
    fn advance(&mut self, kappa: f64, t: f64);

    /// Takes over r(v) as the reactions; returns their error, recomputed from them alone, and the one that says how well an inner problem is
    /// to be solved. The point stays.
    fn judge(&mut self) -> [f64; 2];

    /// Keeps the reactions as the best so far.
    fn keep(&mut self);

    /// True where what was judged last is a pile at rest, which is worth more digits than the tolerance.
    fn is_at_rest(&mut self) -> bool;

    /// True where a shift that moves as fast as the minimum is to end the solve.
    fn is_hasty(&self) -> bool;
}

/// Settings of the outer steps.
#[derive(Clone, Copy, Debug)]
pub(in crate::numerics) struct Multipliers {
    pub(in crate::numerics) tolerance: f64,
    pub(in crate::numerics) max_factorisations: usize,
    pub(in crate::numerics) overshoot: f64,
    pub(in crate::numerics) penalty: f64,
}

const MAX_PENALTY: f64 = 1e6;
/// Outer steps without progress that end the solve.
const IDLE: usize = 6;
/// Times a step of Newton is halved.
const HALVINGS: usize = 12;
/// Factorisations of an inner problem.
const INNER: usize = 25;
/// Gain of an outer step whose inner problem was not solved, from which on another is worth its price.
const PAYS: f64 = 0.3;
/// Iterations beyond the tolerance.
const EXTRA: usize = 40;

impl Multipliers {
    /// From a point whose errors are known, as [`judge`](AugmentedLagrangian::judge) gives them; the best reactions have been kept.
    pub(in crate::numerics) fn run(&self, s: &mut impl AugmentedLagrangian, [mut error, mut inner]: [f64; 2], watch: &mut Watch) -> Report {
        let mut report = Report { status: Status::BudgetSpent, ..Report::default() };
        let mut best = error;
        let mut kappa = (self.penalty * 0.01 / error).clamp(self.penalty, MAX_PENALTY);
        let mut idle = 0;
        let mut reached = (error <= self.tolerance).then_some(0);
        if reached.is_some() {
            report.status = Status::Converged;
            if !s.is_at_rest() {
                idle = IDLE;
            }
        }
        let mut go_on = true;
        while report.factorisations < self.max_factorisations && idle < IDLE && go_on {
            let budget = self.max_factorisations - report.factorisations;
            // the inner problem need not be solved much better than the proximal step it belongs to; a light body among
            // heavy ones needs it better than the norm of all shows
            let share = 1e-2 / [1.0, 1e1, 1e2, 1e3, 1e4, 1e5][idle.min(IDLE - 1)];
            let accuracy = (share * inner).clamp(0.02 * self.overshoot * self.tolerance, 1e-2);
            let before = report.factorisations;
            let found = minimise(s, kappa, accuracy, budget.min(INNER), &mut |k| {
                go_on = watch(Progress { iteration: before + k, error: best });
                go_on
            });
            let Some(iterations) = found else { break };
            report.factorisations += iterations.max(1);
            [error, inner] = s.judge();
            let gain = error / best;
            if s.is_hasty() && iterations >= INNER && gain > PAYS {
                idle = IDLE; // the shift moves as fast as the minimum
            }
            idle = if gain < 0.9 && idle < IDLE { 0 } else { idle + 1 };
            if gain < 1.0 {
                best = error;
                s.keep();
            }
            if best <= self.tolerance {
                report.status = Status::Converged;
                let spent = report.factorisations - *reached.get_or_insert(report.factorisations);
                if best <= self.overshoot * self.tolerance || spent >= EXTRA || !s.is_at_rest() {
                    break;
                }
            }
            if !error.is_finite() {
                idle = IDLE;
            }
            kappa = (10.0 * kappa).min(MAX_PENALTY);
        }
        if idle >= IDLE && report.status != Status::Converged {
            report.status = Status::Stalled;
        }
        report
    }
}

/// Minimises φ from the point at hand; returns the number of factorisations, `None` if one broke down. `go_on` sees each.
pub(super) fn minimise(
    s: &mut impl AugmentedLagrangian,
    kappa: f64,
    accuracy: f64,
    budget: usize,
    go_on: &mut dyn FnMut(usize) -> bool,
) -> Option<usize> {
    s.centre();
    for iteration in 0..budget {
        // the shift follows every iterate: its fixed point is as much work as the minimum
        s.look();
        let [own, rows] = s.evaluate(kappa);
        if s.is_balanced(accuracy) || !go_on(iteration + 1) {
            return Some(iteration);
        }
        let [slope, linear, quadratic] = s.step(kappa)?;
        let mut t = 1.0;
        for _ in 0..HALVINGS {
            let change = t * (linear + t * quadratic) + s.row_value(kappa, t) - rows;
            // rounding of φ hides the last digits: a small enough slope is accepted as it is
            if change <= 1e-4 * t * slope + 1e-14 * (own + rows) {
                break;
            }
            t *= 0.5;
        }
        s.advance(kappa, t);
    }
    Some(budget)
}
