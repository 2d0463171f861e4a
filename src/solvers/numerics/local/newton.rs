//! Semismooth Newton on the law of all blocks at once.
//!
//! ```text
//! F(r, W r + q) = 0,   (A + B (W + α D)) Δr = −F,   r ← r + t Δr          A = ∂F/∂r,  B = ∂F/∂u,  block diagonal
//! Armijo           ½|F(r + tΔr)|² ≤ (max over a window of ½|F|²) − σ t |F|²        the norm is |D^½ ·|
//! Goldstein–Price  and also ≥ ½|F|² − (1 − σ) t |F|², so that a step is not too short
//! ```
//!
//! [`Function`] chooses the equations. α is a share of the present error, so that the convergence stays superlinear; it keeps
//! the matrix regular where redundant contacts stick, whatever the rank of W, and falls where it slows the progress. The
//! pattern of W stands, so the elimination tree is built once; an iteration costs a sparse LU of what has to be found together
//! ([`Jacobian`]: nothing of a contact that is open, two rows of one that slides) and three products with W.
//!
//! With Fischer–Burmeister from `r = 0` the first attempt solves every reduced problem of the public collection but one at
//! 1e-8: 8 iterations for a tower of 570 contacts with a W of rank 504 of 1710, 12 to 16 for heaps of 225 to 296 capsules, 11
//! for a stack of 52 boxes, where the other functions take up to 100. There is no global convergence, but the method is erratic
//! enough that a new attempt with another function and a large α is worth its price: a pile of 463 rocks with μ = 1 and a
//! nonsymmetric W of rank 743 of 1389, and eleven variants of it with other loads and μ, are all solved, in 150 to 1400
//! iterations of 1 ms.
//!
//! [Wandering](SemismoothNewton::wandering) attempts go further: they begin with a large α, which falls geometrically and rises again and
//! again, and may leave a point for a worse one for twenty iterations. Errors jump between 1e-6 and 1 for hundreds of iterations until all
//! contacts happen to stand right at once; to go back to the best point, to damp the contacts that change by themselves, or to give up soon
//! all lose. Of 44 dense steps (pours of 125 to 343 balls, a struck lintel of 273 contacts; from zero, e_s 1e-6, 1500 iterations) an
//! attempt of Alart & Curnier's function solves 12 with α from the error and a window of 4, 29 with 100 times as much and 10, 36 with 1000
//! times and 20, 43 with the same and patience; the other functions 40 or 41. For a pour of 2600 contacts, 15 ms an iteration, it is a lottery: 3 of 11 runs, which differ in
//! rounding or in the first α, end within 800 to 1500 iterations, the others come to 1.2e-6 to 3.6e-6 and stay there.
//!
//! Where factors fill (7002 contacts in the plane: 14 ms an iteration) sweeps reach a loose tolerance
//! earlier. (Globalisation: Grippo, Lampariello, Lucidi 1986; Fischer–Burmeister on cones: Fukushima, Luo, Tseng 2002; survey:
//! Acary, Brémond, Huber, RR-9118, 2018.)

use super::alart_curnier::Steps;
use super::equations::Function;
use super::jacobian::Jacobian;
use super::{LocalProblem, LocalSolver, trial::Trial};
use crate::numerics::regularisation::{RISING, Regularisation, WINDOW};
use crate::numerics::{Measure, Report, Status, Watch};

/// How long a step may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineSearch {
    /// Always the full step.
    None,
    /// Halved until ½|F|² falls against the largest of the last `window` values.
    Armijo {
        /// 1 for a monotone search.
        window: usize,
    },
    /// Bracketed between Goldstein and Price's two bounds.
    GoldsteinPrice,
}

impl Default for LineSearch {
    fn default() -> Self {
        Self::Armijo { window: 4 }
    }
}

/// Settings of the semismooth Newton method (Siconos: `SICONOS_FRICTION_3D_NSN_AC`, `NSN_FB`, `NSN_NM`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SemismoothNewton {
    /// Stop when the error is at most this.
    pub tolerance: f64,
    /// Which error.
    pub measure: Measure,
    /// Budget of iterations, over all attempts.
    pub max_iterations: usize,
    /// The equations.
    pub function: Function,
    /// How long a step may be.
    pub line_search: LineSearch,
    /// First α over the present error; less after every iteration that does not halve the error.
    pub regularisation: f64,
    /// Iterations, and half of all of an attempt, without a tenth less error after which it stalls.
    pub patience: usize,
    /// Further attempts from the first guess where one stalls: wandering ones of the four functions in turn.
    pub restarts: usize,
}

impl Default for SemismoothNewton {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            measure: Measure::default(),
            max_iterations: 3000,
            function: Function::default(),
            line_search: LineSearch::default(),
            regularisation: 1.0,
            patience: PATIENCE,
            restarts: 4,
        }
    }
}

/// σ of both line searches.
const SLOPE: f64 = 1e-3;
/// Most trial steps of a line search.
const TRIALS: usize = 10;
/// Iterations without a tenth less error after which a first attempt stalls.
const PATIENCE: usize = 30;
/// Least and largest α; factor by which it grows where the matrix is singular all the same.
const ALPHA: (f64, f64, f64) = (1e-12, 1e4, 100.0);

/// Largest window of the nonmonotone search.
const LARGEST_WINDOW: usize = 32;
/// Functions of the new attempts, in turn.
const ROTATION: [Function; 4] = [Function::AlartCurnier, Function::NaturalMap, Function::JeanMoreau, Function::FischerBurmeister];
/// Patience of an attempt that wanders.
const WANDERING_PATIENCE: usize = 200;

impl LocalSolver for SemismoothNewton {
    fn solve_watched(&self, p: &LocalProblem, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Report {
        let mut trial = Trial::new(p, self.tolerance, self.measure, self.patience, r, u);
        if trial.done() {
            return trial.finish(Status::Converged, 0, 0, r, u);
        }
        let mut system = System::new(p, &trial.weights, self.function);
        let (guess, mut attempt) = (r.to_vec(), *self);
        let mut end = Round { status: Status::BudgetSpent, iterations: 0, factorisations: 0 };
        for k in 0..=self.restarts {
            if k > 0 {
                r.copy_from_slice(&guess);
                trial.velocity(r, u);
                trial.restart(end.iterations, WANDERING_PATIENCE);
                let own = ROTATION.iter().position(|f| *f == self.function).unwrap_or(0);
                attempt = attempt.wandering(ROTATION[(own + k) % ROTATION.len()]);
                system.function = attempt.function;
            }
            attempt.attempt(&mut system, &mut trial, &mut end, r, u, watch);
            if end.status != Status::Stalled {
                break;
            }
        }
        trial.finish(end.status, end.iterations, end.factorisations, r, u)
    }
}

/// How far all attempts together have come.
struct Round {
    status: Status,
    iterations: usize,
    factorisations: usize,
}

impl SemismoothNewton {
    /// An attempt that is strongly regularised again and again, may go uphill for long and is not given up soon.
    pub(super) fn wandering(self, function: Function) -> Self {
        Self { function, line_search: LineSearch::Armijo { window: WINDOW }, regularisation: RISING, patience: WANDERING_PATIENCE, ..self }
    }

    /// Newton from `r` until it converges, stalls or the budget is spent.
    fn attempt(&self, system: &mut System, trial: &mut Trial, end: &mut Round, r: &mut [f64], u: &mut [f64], watch: &mut Watch) {
        let p = trial.p;
        let mut regularisation = Regularisation::new(self.regularisation);
        let mut merit = system.evaluate(p, &trial.weights, r, u);
        let mut window = [merit; LARGEST_WINDOW];
        let window = match self.line_search {
            LineSearch::Armijo { window: size } => &mut window[..size.clamp(1, LARGEST_WINDOW)],
            _ => &mut window[..1],
        };
        end.status = Status::BudgetSpent;
        while end.iterations < self.max_iterations {
            end.iterations += 1;
            let mut alpha = regularisation.alpha().max(ALPHA.0);
            loop {
                end.factorisations += 1;
                if system.step(p, &trial.weights, alpha, r, u) {
                    break;
                }
                alpha *= ALPHA.2;
                if alpha > ALPHA.1 {
                    end.status = Status::Stalled;
                    return;
                }
            }
            merit = self.search(system, trial, merit, window, r, u);
            window[end.iterations % window.len()] = merit;
            let over = trial.over(end.iterations, r, u, watch);
            regularisation.tell(trial.norm, trial.latest);
            if let Some(status) = over {
                end.status = status;
                return;
            }
        }
    }

    /// Moves r along the system's direction; returns the new ½|F|².
    fn search(&self, system: &mut System, trial: &Trial, merit: f64, window: &[f64], r: &mut [f64], u: &mut [f64]) -> f64 {
        let reference = window.iter().fold(merit, |m, x| m.max(*x));
        let (mut t, mut low, mut high) = (1.0, 0.0, f64::INFINITY);
        system.from.copy_from_slice(r);
        system.u_from.copy_from_slice(u);
        // W Δr once: every trial is a sum of two vectors
        trial.p.w.multiply(&system.direction, &mut system.u_direction);
        let mut found = f64::INFINITY;
        for k in 0..=TRIALS {
            for i in 0..r.len() {
                r[i] = system.from[i] + t * system.direction[i];
                u[i] = system.u_from[i] + t * system.u_direction[i];
            }
            found = system.evaluate(trial.p, &trial.weights, r, u);
            let falls = found <= reference - 2.0 * SLOPE * t * merit;
            match self.line_search {
                LineSearch::None => break,
                LineSearch::Armijo { .. } if falls || k == TRIALS => break,
                LineSearch::Armijo { .. } => t *= 0.5,
                LineSearch::GoldsteinPrice => {
                    let short = found < merit - 2.0 * (1.0 - SLOPE) * t * merit && t < 1.0;
                    if falls && !short || k == TRIALS {
                        break;
                    }
                    if falls {
                        low = t
                    } else {
                        high = t
                    }
                    t = if high.is_finite() { 0.5 * (low + high) } else { 1.0 };
                }
            }
        }
        trial.velocity(r, u);
        found
    }
}

/// Newton's matrix and vectors.
struct System<'a> {
    function: Function,
    steps: Vec<Steps>,
    jacobian: Jacobian<'a>,
    f: Vec<f64>,
    direction: Vec<f64>,
    from: Vec<f64>,
    u_from: Vec<f64>,
    u_direction: Vec<f64>,
}

impl<'a> System<'a> {
    fn new(p: &'a LocalProblem, weights: &[f64], function: Function) -> Self {
        let [f, direction, from, u_from, u_direction] = std::array::from_fn(|_| vec![0.0; p.order()]);
        Self { function, steps: Steps::of_all(p, weights), jacobian: Jacobian::new(p), f, direction, from, u_from, u_direction }
    }

    /// Sets F at `(r, u)`; returns `½ |D^½ F|²`.
    fn evaluate(&mut self, p: &LocalProblem, weights: &[f64], r: &[f64], u: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (i, weight) in weights.iter().enumerate() {
            let range = p.w.range(i);
            if range.is_empty() {
                continue;
            }
            let f = &mut self.f[range.clone()];
            self.function.value(p.sets[i], self.steps[i], 1.0 / weight, &r[range.clone()], &u[range], f);
            sum += weight * f.iter().map(|f| f * f).sum::<f64>();
        }
        0.5 * sum
    }

    /// Sets the direction from the point that was evaluated last; false when the matrix is singular.
    fn step(&mut self, p: &LocalProblem, weights: &[f64], alpha: f64, r: &[f64], u: &[f64]) -> bool {
        self.jacobian.declare(|_| true);
        let derivative = |i: usize, a: &mut [f64], b: &mut [f64]| {
            let range = p.w.range(i);
            self.function.derivative(p.sets[i], self.steps[i], 1.0 / weights[i], &r[range.clone()], &u[range], a, b);
        };
        self.jacobian.direction([weights, &self.f, r], alpha, derivative, &mut self.direction)
    }
}
