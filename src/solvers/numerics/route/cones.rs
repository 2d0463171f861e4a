//! Friction, rolling and mixtures: Gauss–Seidel over the active blocks, each solved exactly.
//!
//! ```text
//! q_a = q + Σ_{b≠a} W_ab r_b        r_a ← the solution of  u_a = W_aa r_a + q_a,  −(u_a + g(u_a)) ∈ N_K(r_a)
//! ```
//!
//! One block is solved at once. Where sweeps stall, plane friction and bounds are written as a complementarity, which needs no
//! positive W_aa ([`plane`]), and what is left goes to the general solver.

use super::bounds::Fallback;
use super::plan::{RUNAWAY, Sums};
use super::{Ask, Auto, LocalProblem};
use crate::numerics::local::LocalSolver as _;
use crate::numerics::local::kernel::Kernel;
use crate::numerics::local::plane::{self, Plane};
use crate::numerics::passes::{Driver, Forecast, Look, Passes};
use crate::numerics::{Report, Status};

/// What sweeps aim at, as a share of the tolerance: where they converge fast, some digits more cost little.
const SHARE: f64 = 0.1;
/// Sweeps between two looks at the residual.
const PAUSE: usize = 4;
/// Rounds of the general solver for problems of a step.
const ROUNDS: usize = 3;

/// One revision: the solvers of its blocks.
#[derive(Debug, Default)]
pub(super) struct Sweeps {
    known: bool,
    kernels: Vec<Kernel>,
    q: Vec<f64>,
    new: Vec<f64>,
    best: Vec<f64>,
}

impl Sweeps {
    pub(super) fn forget(&mut self) {
        self.known = false;
    }

    #[cold]
    fn take(&mut self, p: &LocalProblem) {
        self.known = true;
        self.kernels.clear();
        self.kernels.extend((0..p.sets.len()).map(|i| Kernel::of(p, i)));
        let longest = (0..p.sets.len()).map(|i| p.w.rows(i)).max().unwrap_or(0);
        self.q.reserve(longest);
        self.new.resize(longest, 0.0);
        self.best.resize(p.order(), 0.0);
    }

    /// Improves r and sets u.
    #[inline(never)]
    pub(super) fn solve(&mut self, ask: Ask, max_sweeps: usize, bounds: &mut Fallback, r: &mut [f64], u: &mut [f64]) -> Report {
        let Ask { plan, p, tolerance } = ask;
        if !self.known {
            self.take(&p.problem);
        }
        plan.admit(p, r);
        self.best.copy_from_slice(r);
        let pause = if p.active.iter().filter(|a| **a).count() == 1 { 1 } else { PAUSE };
        let driver = Driver {
            tolerance,
            max_passes: if pause == 1 { max_sweeps.min(1) } else { max_sweeps },
            best: f64::INFINITY,
            first: pause,
            pause: (0, 0),
            factor: (1.0, 1.0, 1.0),
            forecast: Forecast::new(0, 0, 1),
        };
        let mut passes = Active { ask, sweeps: self, best: Report { rel: f64::INFINITY, ..super::REFUSED }, latest: super::REFUSED, r, u };
        let (_, sweeps) = driver.run(&mut passes);
        let Active { sweeps: own, r, u, .. } = passes;
        r.copy_from_slice(&own.best);
        let mut best = own.errors(ask, r, u);
        if !best.converged() {
            best = own.give_up(ask, bounds, best, r, u);
        }
        Report { iterations: sweeps, ..best }
    }

    /// The errors of r over the active blocks; sets u.
    fn errors(&mut self, ask: Ask, r: &[f64], u: &mut [f64]) -> Report {
        errors(ask, r, u, &mut self.new)
    }

    /// Sweeps have stalled: complementarity where the blocks allow it, then the general solver; the best point is kept.
    #[cold]
    fn give_up(&mut self, ask: Ask, bounds: &mut Fallback, mut best: Report, r: &mut [f64], u: &mut [f64]) -> Report {
        let Ask { plan, p, .. } = ask;
        let is_plane = plan.active_traits(p).is_plane();
        let rows: usize = (0..plan.blocks()).filter(|&i| p.active[i]).map(|i| p.problem.w.rows(i)).sum();
        self.best.copy_from_slice(r);
        if is_plane && rows <= plane::LARGEST {
            let status = as_complementarity(ask, bounds, r);
            plan.admit(p, r);
            let report = self.errors(ask, r, u);
            if worth(&report) < worth(&best) {
                best = report;
                self.best.copy_from_slice(r);
            }
            if best.converged() || status == Status::Inconsistent {
                r.copy_from_slice(&self.best);
                let report = self.errors(ask, r, u);
                let status = if report.converged() { report.status } else { status };
                return Report { status, ..report };
            }
        }
        r.copy_from_slice(&self.best);
        let report = general(ask, ROUNDS, r, u);
        if worth(&report) < worth(&best) {
            return report;
        }
        r.copy_from_slice(&self.best);
        let again = self.errors(ask, r, u);
        Report { status: report.status, ..again }
    }
}

/// Sweeps over the active blocks.
struct Active<'a> {
    ask: Ask<'a>,
    sweeps: &'a mut Sweeps,
    best: Report,
    latest: Report,
    r: &'a mut [f64],
    u: &'a mut [f64],
}

impl Passes for Active<'_> {
    fn gap(&self, _: usize) -> usize {
        PAUSE
    }

    fn pass(&mut self, _: usize) -> f64 {
        let Self { ask: Ask { p, .. }, sweeps: Sweeps { kernels, q, new, .. }, r, .. } = self;
        for (i, kernel) in kernels.iter().enumerate().filter(|(i, _)| p.active[*i]) {
            kernel.visit(&p.problem, i, r, q, new);
        }
        f64::INFINITY
    }

    fn look(&mut self, _: usize) -> Look {
        self.latest = self.sweeps.errors(self.ask, self.r, self.u);
        let Report { rel, .. } = self.latest;
        // a little more than is asked for, as long as that costs little
        let done = rel <= SHARE * self.ask.tolerance || self.best.converged() && rel > 0.5 * self.best.rel;
        Look { error: rel, distance: rel, end: done.then_some(Status::Converged) }
    }

    fn keep(&mut self, _: usize) {
        self.best = self.latest;
        self.sweeps.best.copy_from_slice(self.r);
    }
}

/// Error over the largest of r, u and q from which on a misfit is owed to the largeness of r.
const SMALL: f64 = 1e-6;

/// What points are compared by: rel, but not of one that has run away.
fn worth(report: &Report) -> f64 {
    if report.misfit > RUNAWAY && report.rel <= SMALL { f64::INFINITY } else { report.rel }
}

/// The errors of r over the active blocks; sets u, and `x` grows to the longest block.
fn errors(Ask { plan, p, tolerance }: Ask, r: &[f64], u: &mut [f64], x: &mut Vec<f64>) -> Report {
    let LocalProblem { w, q, .. } = &p.problem;
    p.problem.velocity(r, u);
    let mut sums = Sums::default();
    for (i, range) in (0..plan.blocks()).map(|i| (i, w.range(i))).filter(|(i, range)| p.active[*i] && !range.is_empty()) {
        x.resize(x.len().max(range.len()), 0.0);
        let x = &mut x[..range.len()];
        sums.add_block(plan, i, &q[range.clone()], &r[range.clone()], &u[range], x);
    }
    sums.report(plan, tolerance)
}

/// The general solver of cones and bounds on the active blocks.
#[cold]
pub(super) fn general(ask: Ask, max_rounds: usize, r: &mut [f64], u: &mut [f64]) -> Report {
    ask.plan.admit(ask.p, r);
    let (part, rows) = ask.p.active_part();
    let (mut small_r, mut small_u) = (rows.iter().map(|&k| r[k]).collect::<Vec<f64>>(), vec![0.0; rows.len()]);
    let found = Auto { tolerance: ask.tolerance, max_rounds, ..Auto::default() }.solve(&part, &mut small_r, &mut small_u);
    rows.iter().zip(&small_r).for_each(|(&k, x)| r[k] = *x);
    let report = errors(ask, r, u, &mut Vec::new());
    let status = match found.status {
        _ if report.converged() => Status::Converged,
        // the measure of that solver lets a point pass that has run away
        Status::Converged => report.status,
        other => other,
    };
    Report { status, iterations: found.iterations, factorisations: found.factorisations, ..report }
}

/// Plane friction and bounds as one box problem.
fn as_complementarity(ask: Ask, bounds: &mut Fallback, r: &mut [f64]) -> Status {
    let Ask { p, tolerance, .. } = ask;
    let mut plane = Plane::of(&p.problem, |i| p.active[i], r);
    let status = bounds.solve_statement(std::mem::take(&mut plane.statement), tolerance.min(1e-13), &mut plane.z);
    plane.reactions(r);
    status
}
