//! The method of multipliers around Newton's method in body space.
//!
//! ```text
//! outer   r_c ← r,  κ ← 10 κ                                            proximal centre
//! inner   s ← μ‖u_t‖ at every iterate, or known                         De Saxcé's shift
//!         r(v) = P_K(r_c − (κ/D)(H v + w + s))
//!         0 = G(v) = M (v − v_free) − Hᵀ r(v)                           gradient of a convex φ for a given shift
//!         (M + Hᵀ (κ/D) P'_K H) Δv = −G,   line search on φ = ½ |v − v_free|²_M + Σ (D/2κ) (|r|² + 2 r·(x − r))
//!                                                                       x: what P_K is taken of; the last term is 0 on cones, and is left out for intervals
//! ```

use super::space::{BodyMatrix, BodySpace};
use crate::algebra::dense::dot;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::{Progress, Report, Status, Watch};

/// What stands behind the numbers of a [`Point`].
pub(in crate::numerics) trait Posed {
    /// Takes over the reactions; returns their error, recomputed from them alone, and the one that says how well an inner problem is to be
    /// solved.
    fn judge(&mut self, r: &[f64]) -> [f64; 2];

    /// True where |G| is at most this share of the impulses.
    fn is_balanced<T>(&self, space: &BodySpace, at: &Point<T>, share: f64) -> bool;

    /// True where what was judged last is a pile at rest, which is worth more digits than the tolerance.
    fn is_at_rest(&mut self, _: &BodySpace) -> bool {
        false
    }

    /// True where r(v) goes along with the last step of an inner problem that is not solved.
    fn takes_along(&self) -> bool {
        false
    }

    /// True where a shift that moves as fast as the minimum is to end the solve.
    fn is_hasty(&self) -> bool {
        false
    }
}

/// The laws of the rows of a body space, and a point in it.
#[derive(Debug, Default)]
pub(in crate::numerics) struct Point<T> {
    /// The set and D of each block, and u of each row that does not move.
    pub(in crate::numerics) sets: Vec<AdmissibleSet>,
    pub(in crate::numerics) weights: Vec<f64>,
    pub(in crate::numerics) w: Vec<f64>,
    /// Shifts of the first blocks that do not follow u.
    pub(in crate::numerics) known: Vec<f64>,
    pub(in crate::numerics) free: Vec<f64>,
    pub(in crate::numerics) v: Vec<f64>,
    /// r(v), at first the guess
    pub(in crate::numerics) r: Vec<f64>,
    /// the best reactions that were judged
    pub(in crate::numerics) best: Vec<f64>,
    /// `v − v_free`, M times it, and −G
    pub(in crate::numerics) away: Vec<f64>,
    pub(in crate::numerics) inertia: Vec<f64>,
    pub(in crate::numerics) pull: Vec<f64>,
    pub(in crate::numerics) matrix: T,
    centre: Vec<f64>,
    shift: Vec<f64>,
    /// velocities of the rows, and their change by a whole step
    u: Vec<f64>,
    along: Vec<f64>,
    step: Vec<f64>,
    image: Vec<f64>,
}

impl<T: BodyMatrix> Point<T> {
    pub(in crate::numerics) fn new(sets: &[AdmissibleSet], [weights, w, r]: [&[f64]; 3], [free, v]: [Vec<f64>; 2]) -> Self {
        let (sets, [weights, w, r]) = (sets.to_vec(), [weights, w, r].map(<[f64]>::to_vec));
        Self { sets, weights, w, r, free, v, ..Self::default() }
    }

    /// Sets the velocities of all rows and the shifts.
    fn look(&mut self, space: &BodySpace) {
        self.u.clone_from(&self.w);
        space.add_rates(&self.v, &mut self.u);
        self.shift.clone_from(&self.known);
        let follow = self.sets.iter().zip(space.blocks()).skip(self.known.len());
        self.shift.extend(follow.map(|(set, rows)| if rows.is_empty() { 0.0 } else { set.shift(&self.u[rows]) }));
    }

    /// `r_c − (κ/D)(u + s e_n)` of the rows of block a after t steps.
    fn argument(&self, a: usize, rows: std::ops::Range<usize>, kappa: f64, t: f64, x: &mut [f64]) {
        let weight = kappa / self.weights[a];
        for (x, k) in x.iter_mut().zip(rows) {
            *x = self.centre[k] - weight * (self.u[k] + t * self.along[k]);
        }
        x[0] -= weight * self.shift[a];
    }

    /// Calls `see(first row, r)` with the projected argument of every block; returns the part of φ that the rows have.
    fn project(&self, space: &BodySpace, kappa: f64, t: f64, mut see: impl FnMut(usize, &[f64])) -> f64 {
        let (mut value, mut x, mut outside) = (0.0, Vec::new(), Vec::new());
        for (a, rows) in space.blocks().enumerate().filter(|(_, rows)| !rows.is_empty()) {
            x.resize(rows.len(), 0.0);
            self.argument(a, rows.clone(), kappa, t, &mut x);
            let bounded = self.sets[a].most() < f64::INFINITY;
            if bounded {
                outside.clone_from(&x);
            }
            self.sets[a].project(&mut x);
            let mut square = x.iter().map(|x| x * x).sum::<f64>();
            if bounded {
                // on cones r is normal to what the projection takes away; for intervals, which are none either, the term is left out: a press
                // that jams takes 1.2 times as long with it
                square += 2.0 * x.iter().zip(&outside).map(|(r, x)| r * (x - r)).sum::<f64>();
            }
            value += 0.5 * self.weights[a] / kappa * square;
            see(rows.start, &x);
        }
        value
    }

    /// Sets r(v) after t steps; returns the part of φ that the rows have.
    fn react(&mut self, space: &BodySpace, kappa: f64, t: f64) -> f64 {
        let mut r = std::mem::take(&mut self.r);
        let value = self.project(space, kappa, t, |first, x| r[first..first + x.len()].copy_from_slice(x));
        self.r = r;
        value
    }

    /// Sets r(v) and G; returns the kinetic part of φ and that of the rows.
    fn evaluate(&mut self, space: &BodySpace, kappa: f64) -> [f64; 2] {
        let rows = self.react(space, kappa, 0.0);
        self.away.clear();
        self.away.extend(self.v.iter().zip(&self.free).map(|(v, free)| v - free));
        self.inertia.resize(self.away.len(), 0.0);
        space.mass_times(&self.away, &mut self.inertia);
        self.pull.clear();
        self.pull.extend(self.inertia.iter().map(|x| -x));
        space.add_impulses(&self.r, &mut self.pull);
        [0.5 * dot(&self.away, &self.inertia), rows]
    }

    /// Sets Newton's step; returns the slope of φ along it and, of its kinetic part, slope and curvature. `None` where a factorisation breaks
    /// down.
    fn step(&mut self, space: &mut BodySpace, kappa: f64) -> Option<[f64; 3]> {
        let (mut matrix, mut x) = (std::mem::take(&mut self.matrix), Vec::new());
        let rows: Vec<_> = space.blocks().collect();
        space.assemble(&mut matrix, |a, k| {
            x.resize(rows[a].len(), 0.0);
            self.argument(a, rows[a].clone(), kappa, 0.0, &mut x);
            self.sets[a].derivative(&x, k);
            k.iter_mut().for_each(|k| *k *= kappa / self.weights[a]);
            k.iter().any(|k| *k != 0.0)
        });
        self.step.clone_from(&self.pull);
        let regular = matrix.factorise();
        if regular {
            matrix.solve(&mut self.step);
        }
        self.matrix = matrix;
        if !(regular && self.step.iter().all(|d| d.is_finite())) {
            return None;
        }
        self.along.fill(0.0);
        space.add_rates(&self.step, &mut self.along);
        self.image.resize(self.step.len(), 0.0);
        space.mass_times(&self.step, &mut self.image);
        Some([-dot(&self.step, &self.pull), dot(&self.step, &self.inertia), 0.5 * dot(&self.step, &self.image)])
    }

    /// Minimises φ from the point at hand; returns the number of factorisations, `None` if one broke down. `go_on` sees each.
    pub(super) fn minimise(
        &mut self,
        space: &mut BodySpace,
        posed: &impl Posed,
        [kappa, accuracy]: [f64; 2],
        budget: usize,
        go_on: &mut dyn FnMut(usize) -> bool,
    ) -> Option<usize> {
        self.centre.clone_from(&self.r);
        self.along.clear();
        self.along.resize(self.r.len(), 0.0);
        for iteration in 0..budget {
            // the shift follows every iterate: its fixed point is as much work as the minimum
            self.look(space);
            let [own, rows] = self.evaluate(space, kappa);
            if posed.is_balanced(space, self, accuracy) || !go_on(iteration + 1) {
                return Some(iteration);
            }
            let [slope, linear, quadratic] = self.step(space, kappa)?;
            let mut t = 1.0;
            for _ in 0..HALVINGS {
                let change = t * (linear + t * quadratic) + self.project(space, kappa, t, |_, _| {}) - rows;
                // rounding of φ hides the last digits: a small enough slope is accepted as it is
                if change <= 1e-4 * t * slope + 1e-14 * (own + rows) {
                    break;
                }
                t *= 0.5;
            }
            self.v.iter_mut().zip(&self.step).for_each(|(v, d)| *v += t * d);
            if iteration + 1 == budget && posed.takes_along() {
                self.react(space, kappa, t);
            }
        }
        Some(budget)
    }
}

/// Settings of the outer steps.
#[derive(Clone, Copy, Debug)]
pub(in crate::numerics) struct Multipliers {
    pub(in crate::numerics) tolerance: f64,
    pub(in crate::numerics) max_factorisations: usize,
    pub(in crate::numerics) overshoot: f64,
    pub(in crate::numerics) penalty: f64,
    pub(in crate::numerics) largest: f64,
}

/// Largest penalty where bodies may move: by so much the rounding of velocities is magnified in reactions.
pub(in crate::numerics) const MAX_PENALTY: f64 = 1e6;
/// Outer steps without progress that end the solve.
const IDLE: usize = 6;
/// Times a step of Newton is halved.
const HALVINGS: usize = 12;
/// Factorisations of an inner problem.
const INNER: usize = 25;
/// Gain of an outer step whose inner problem was not solved, from which on another is worth its price.
const PAYS: f64 = 0.3;
/// What becomes of a penalty whose inner problem of a convex one took all its iterations and leads away, and its growth from there: tenfold
/// steps meet the same wall again.
const BACK: f64 = 0.1;
const CAREFUL: f64 = 2.0;
/// Iterations of an inner problem up to which a penalty beyond the usual ones grows further.
const EASY: usize = 8;
/// Iterations beyond the tolerance.
const EXTRA: usize = 40;

impl Multipliers {
    /// From a point whose errors are known, as [`judge`](Posed::judge) gives them; leaves the best reactions in it.
    pub(in crate::numerics) fn run<T: BodyMatrix>(
        &self,
        space: &mut BodySpace,
        point: &mut Point<T>,
        posed: &mut impl Posed,
        [mut error, mut inner]: [f64; 2],
        watch: &mut Watch,
    ) -> Report {
        let mut report = Report { status: Status::BudgetSpent, ..Report::default() };
        let mut best = error;
        point.best.clone_from(&point.r);
        let mut kappa = (self.penalty * 0.01 / error).clamp(self.penalty, self.largest);
        let mut idle = 0;
        // a tenth of a penalty whose inner problem was too much for its iterations
        let mut hard = f64::INFINITY;
        let mut reached = (error <= self.tolerance).then_some(0);
        if reached.is_some() {
            report.status = Status::Converged;
            if !posed.is_at_rest(space) {
                idle = IDLE;
            }
        }
        let mut go_on = true;
        while report.factorisations < self.max_factorisations && idle < IDLE && go_on {
            let budget = self.max_factorisations - report.factorisations;
            // the inner problem need not be solved much better than the proximal step it belongs to; a light body among
            // heavy ones needs it better than the norm of all shows
            let share = 1e-2 / [1.0, 1e1, 1e2, 1e3, 1e4, 1e5][idle.min(IDLE - 1)];
            let accuracy = (share * inner).max(0.02 * self.overshoot * self.tolerance).min(1e-2);
            let before = report.factorisations;
            let found = point.minimise(space, posed, [kappa, accuracy], budget.min(INNER), &mut |k| {
                go_on = watch(Progress { iteration: before + k, error: best });
                go_on
            });
            let Some(iterations) = found else { break };
            report.factorisations += iterations.max(1);
            [error, inner] = posed.judge(&point.r);
            let gain = error / best;
            if posed.is_hasty() && iterations >= INNER && gain > PAYS {
                idle = IDLE; // the shift moves as fast as the minimum
            }
            idle = if gain < 0.9 && idle < IDLE { 0 } else { idle + 1 };
            if gain < 1.0 {
                best = error;
                point.best.clone_from(&point.r);
            }
            if best <= self.tolerance {
                report.status = Status::Converged;
                let spent = report.factorisations - *reached.get_or_insert(report.factorisations);
                if best <= self.overshoot * self.tolerance || spent >= EXTRA || !posed.is_at_rest(space) {
                    break;
                }
            }
            if !error.is_finite() {
                idle = IDLE;
            }
            if !posed.is_hasty() && iterations >= INNER && gain > 1.0 {
                point.r.clone_from(&point.best);
                hard = BACK * kappa;
                kappa = hard;
            } else if kappa >= hard {
                kappa = (CAREFUL * kappa).min(self.largest);
            } else if self.largest > MAX_PENALTY && kappa >= MAX_PENALTY && iterations > EASY {
                if gain >= 1.0 {
                    point.r.clone_from(&point.best);
                    kappa = (0.1 * kappa).max(MAX_PENALTY);
                }
            } else {
                kappa = (10.0 * kappa).min(self.largest);
            }
        }
        if idle >= IDLE && report.status != Status::Converged {
            report.status = Status::Stalled;
        }
        report
    }
}
