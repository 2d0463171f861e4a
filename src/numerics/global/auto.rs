//! The default strategy for global problems: reduce and solve on W, or stay in body space.
//!
//! ```text
//! sweeps on W            while they promise to end soon
//! Newton on W            then ADMM and Newton in body space         rows of H below twice the velocities that they meet
//! ADMM in body space     then Newton there, then Newton on W        above: redundant contacts
//! sweeps on W            all that the budget allows
//! ```
//!
//! The best iterate of all stages is the start of the next and what is returned. The choice rests on sizes alone.

use super::admm::BodyAdmm;
use super::bodies::BodySpace;
use super::proximal::BodyNewton;
use super::{GlobalProblem, GlobalSolver, Prepared};
use crate::numerics::local::{LocalProblem, LocalSolver, nsgs::Nsgs, proximal::ProximalPoint};
use crate::numerics::{Measure, ProblemError, Report, Status, Watch};

/// Settings of the default solver of global problems.
///
/// ```
/// use drystone::numerics::{admissible::AdmissibleSet, global::{GlobalProblem, GlobalSolver, auto::GlobalAuto}};
/// use sprs::CsMat;
/// let p = GlobalProblem {
///     mass: CsMat::eye(3),
///     h: CsMat::eye(3),
///     f: vec![-1.0, 3.0, 0.0],
///     w: vec![0.0; 3],
///     offsets: vec![0, 3],
///     sets: vec![AdmissibleSet::Coulomb { mu: 0.5 }],
/// };
/// let (mut r, mut v, mut u) = ([0.0; 3], [0.0; 3], [0.0; 3]);
/// assert!(GlobalAuto::default().solve(&p, &mut r, &mut v, &mut u)?.converged());
/// assert!((v[1] - 2.5).abs() < 1e-7);
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GlobalAuto {
    /// Stop when the error is at most this.
    pub tolerance: f64,
    /// Which error.
    pub measure: Measure,
    /// Budget of the first sweeps; they end before where they promise to need more.
    pub max_sweeps: usize,
    /// Budget of the last sweeps, where nothing else has helped.
    pub last_sweeps: usize,
    /// Rows per velocity that they meet from which body space is preferred.
    pub redundancy: f64,
}

impl Default for GlobalAuto {
    fn default() -> Self {
        Self { tolerance: 1e-8, measure: Measure::default(), max_sweeps: 200, last_sweeps: 20_000, redundancy: 2.0 }
    }
}

/// What a run may try, in order.
#[derive(Clone, Copy)]
enum Stage {
    Sweeps { budget: usize, foresight: usize },
    NewtonOnW,
    BodyNewton,
    BodyAdmm,
}

/// Sweeps that the first stage may still need when it is given up for Newton.
const FORESIGHT: usize = 100;
/// Times a local solver is asked again, more strictly, where the global error is above its own.
const ASKED_AGAIN: usize = 3;

impl GlobalSolver for GlobalAuto {
    fn solve_watched(
        &self,
        p: &GlobalProblem,
        r: &mut [f64],
        v: &mut [f64],
        u: &mut [f64],
        watch: &mut Watch,
    ) -> Result<Report, ProblemError> {
        let mut prepared = Prepared::new(p)?;
        let mut found = prepared.residual(r, v, u);
        let mut report = Report { status: Status::Stalled, ..Report::default() };
        let (mut best, mut best_r, mut stopped) = (self.measure.of(&found), r.to_vec(), false);
        if best > self.tolerance {
            let local = prepared.reduce()?;
            let mut space = None;
            let watch: &mut Watch = &mut |progress| {
                stopped = !watch(progress);
                !stopped
            };
            let mut done = 0;
            while let Some(stage) = self.stage(done, &prepared, &mut space) {
                done += 1;
                let part = match stage {
                    Stage::Sweeps { budget, foresight } => {
                        let solver =
                            |tolerance| Nsgs { tolerance, measure: self.measure, max_sweeps: budget, foresight, ..Nsgs::default() };
                        self.on_w(solver, &mut prepared, &local, r, v, u, watch)
                    }
                    Stage::NewtonOnW => {
                        let solver = |tolerance| ProximalPoint { tolerance, measure: self.measure, warm_up: 0, ..ProximalPoint::default() };
                        self.on_w(solver, &mut prepared, &local, r, v, u, watch)
                    }
                    Stage::BodyNewton => {
                        let solver = BodyNewton { tolerance: self.tolerance, measure: self.measure, ..BodyNewton::default() };
                        solver.run(&mut prepared, space.get_or_insert_default(), r, v, u, watch)
                    }
                    Stage::BodyAdmm => {
                        let solver = BodyAdmm { tolerance: self.tolerance, measure: self.measure, ..BodyAdmm::default() };
                        solver.run(&mut prepared, space.get_or_insert_default(), r, v, u, watch)
                    }
                };
                report.iterations += part.iterations;
                report.factorisations += part.factorisations;
                found = prepared.residual(r, v, u);
                let error = self.measure.of(&found);
                if error < best {
                    best = error;
                    best_r.copy_from_slice(r);
                } else {
                    r.copy_from_slice(&best_r);
                }
                if best <= self.tolerance {
                    break;
                }
                if part.status == Status::Inconsistent {
                    report.status = Status::Inconsistent;
                    break;
                }
            }
            r.copy_from_slice(&best_r);
            found = prepared.residual(r, v, u);
        }
        if self.measure.of(&found) <= self.tolerance {
            report.status = Status::Converged;
        } else if stopped {
            report.status = Status::BudgetSpent;
        }
        Ok(Report { rel: found.rel, rel_q: found.rel_q, e_s: found.e_s, ..report })
    }
}

impl GlobalAuto {
    /// The stage after `done` of them; body space is set up when the first of them is over.
    fn stage(&self, done: usize, prepared: &Prepared, space: &mut Option<BodySpace>) -> Option<Stage> {
        if done == 0 {
            return Some(Stage::Sweeps { budget: self.max_sweeps, foresight: FORESIGHT });
        }
        let space = space.get_or_insert_with(|| BodySpace::new(prepared));
        let last = Stage::Sweeps { budget: self.last_sweeps, foresight: 0 };
        let redundant = prepared.q().len() as f64 >= self.redundancy * space.order() as f64;
        let stages = if redundant {
            [Stage::BodyAdmm, Stage::BodyNewton, Stage::NewtonOnW, last]
        } else {
            [Stage::NewtonOnW, Stage::BodyAdmm, Stage::BodyNewton, last]
        };
        stages.get(done - 1).copied()
    }

    /// A local solver, asked again where its own error is met and the global one, over smaller terms, is not.
    fn on_w<S: LocalSolver>(
        &self,
        solver: impl Fn(f64) -> S,
        prepared: &mut Prepared,
        local: &LocalProblem,
        r: &mut [f64],
        v: &mut [f64],
        u: &mut [f64],
        watch: &mut Watch,
    ) -> Report {
        let mut tolerance = self.tolerance;
        let mut report = solver(tolerance).solve_watched(local, r, u, watch);
        for _ in 0..ASKED_AGAIN {
            let error = self.measure.of(&prepared.residual(r, v, u));
            if !report.converged() || error <= self.tolerance {
                break;
            }
            tolerance *= 0.5 * self.tolerance / error;
            let again = solver(tolerance).solve_watched(local, r, u, watch);
            report = Report {
                iterations: report.iterations + again.iterations,
                factorisations: report.factorisations + again.factorisations,
                ..again
            };
        }
        report
    }
}
