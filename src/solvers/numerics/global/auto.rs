//! The default strategy for global problems: reduce and solve on W, or work in body space.
//!
//! ```text
//! rows of H < twice the velocities they meet     local::auto on W, then ADMM and Newton in body space
//! more rows: redundant contacts                  sweeps on W while they promise to end soon,
//!                                                ADMM and Newton in body space, then local::auto on W
//! more rows, no shift: convex                    Newton in body space, then local::auto on W, then ADMM
//! ```
//!
//! The best iterate of all stages is the start of the next and what is returned. The choice rests on sizes and on whether any set has a shift. Measured, with
//! the assembly of W, to 1e-8: 82 contacts of stacked boxes 0.4 ms, 356 of spheres with 12 000 velocities 2.9 ms, 256 of spheres in
//! a box 21 ms (Siconos' best solver of each on the same machine: 23, 727 and 5709 ms).

use super::admm::{BodySplitting, IN_BODY_SPACE};
use super::bodies::Bodies;
use super::proximal::BodyNewton;
use super::{GlobalProblem, GlobalSolver, Motion, Prepared, Reduced};
use crate::numerics::admissible::AdmissibleSet::{Free, NonNegative, SecondOrder};
use crate::numerics::local::alternation::Descents;
use crate::numerics::local::auto::{Auto, DESCENTS};
use crate::numerics::local::{admm::Admm, nsgs::Nsgs};
use crate::numerics::{Measure, ProblemError, Report, Status, Watch};
use std::cell::Cell;

/// Settings of the default solver of global problems.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GlobalAuto {
    /// Stop when the error is at most this.
    pub tolerance: f64,
    /// Which error.
    pub measure: Measure,
    /// Budget of rounds of the solver on W.
    pub max_rounds: usize,
    /// Rows per velocity that they meet from which body space is preferred.
    pub redundancy: f64,
    /// Numbers that W may hold; beyond it body space alone is left.
    pub max_w: usize,
    /// Operations of the descents of the gap on W; what is beyond those of the solver on W comes last.
    pub max_descents: f64,
}

impl Default for GlobalAuto {
    fn default() -> Self {
        Self { tolerance: 1e-8, measure: Measure::default(), max_rounds: 8, redundancy: 2.0, max_w: 500_000_000, max_descents: DESCENTS.1 }
    }
}

/// What a run may try, in order.
#[derive(Clone, Copy)]
enum Stage {
    Sweeps,
    OnW,
    BodyNewton,
    BodyAdmm,
    Descents,
}

/// Sweeps that a redundant problem gets before it goes to body space, where they promise to end within them.
const FORESIGHT: usize = 100;
/// Factorisations of Newton in body space, and looks at splitting without progress: what these solve, they solve in fewer.
const FEW: usize = 30;
const PATIENCE: usize = 20;
/// Factorisations of Newton in body space where no set has a shift.
const CONVEX: usize = 200;

impl GlobalSolver for GlobalAuto {
    fn solve_watched(&self, p: &GlobalProblem, [r, v, u]: Motion, watch: &mut Watch) -> Result<Report, ProblemError> {
        let Self { tolerance, measure, .. } = *self;
        let mut prepared = Prepared::new(p)?;
        let mut found = prepared.residual(r, v, u);
        let mut report = Report { status: Status::Stalled, ..Report::default() };
        let (mut best, mut best_r, stopped) = (measure.of(&found), r.to_vec(), Cell::new(false));
        if best > tolerance {
            let affordable = p.least_numbers_of_w() <= self.max_w as u64;
            let local = if affordable { Some(prepared.reduce()?) } else { None };
            let mut bodies: Option<Bodies> = None;
            let watch: &mut Watch = &mut |progress| {
                stopped.set(!watch(progress));
                !stopped.get()
            };
            // the solver on W has had the first of them
            let beyond = self.max_descents - DESCENTS.1;
            let last = (beyond > 0.0).then_some(Stage::Descents);
            for stage in self.stages(&prepared).iter().copied().chain(last) {
                let part = match (stage, &local) {
                    // W is too large to be formed
                    (Stage::Sweeps | Stage::OnW | Stage::Descents, None) => continue,
                    (Stage::Sweeps, Some(local)) => {
                        let (max_sweeps, foresight) = (2 * FORESIGHT, FORESIGHT);
                        let solver = |tolerance| Nsgs { tolerance, measure, max_sweeps, foresight, ..Nsgs::default() };
                        Reduced { tolerance, measure, solver }.run(&mut prepared, local, [r, v, u], watch)
                    }
                    (Stage::OnW, Some(local)) => {
                        let tried = bodies.is_some();
                        let (max_rounds, max_descents) = (self.max_rounds, self.max_descents.min(DESCENTS.1));
                        let solver = |tolerance| Auto { tolerance, measure, max_rounds, max_descents, tried, ..Auto::default() };
                        Reduced { tolerance, measure, solver }.run(&mut prepared, local, [r, v, u], watch)
                    }
                    (Stage::Descents, Some(local)) => {
                        let solver = |tolerance| Descents { tolerance, measure, operations: beyond };
                        Reduced { tolerance, measure, solver }.run(&mut prepared, local, [r, v, u], watch)
                    }
                    (Stage::BodyNewton, _) => {
                        let max_iterations = if is_convex(&prepared) { CONVEX } else { FEW };
                        let solver = BodyNewton { tolerance, measure, max_iterations, ..BodyNewton::default() };
                        let bodies = bodies.get_or_insert_with(|| Bodies::new(&prepared));
                        solver.run(&mut prepared, bodies, [r, v, u], watch)
                    }
                    (Stage::BodyAdmm, _) => {
                        let solver = Admm { tolerance, measure, patience: PATIENCE, ..IN_BODY_SPACE };
                        let bodies = bodies.get_or_insert_with(|| Bodies::new(&prepared));
                        solver.run(&mut BodySplitting::new(&mut prepared, bodies, v), r, u, watch)
                    }
                };
                report = report.with_effort(&part.after(&report));
                found = prepared.residual(r, v, u);
                let error = measure.of(&found);
                if error < best {
                    best = error;
                    best_r.copy_from_slice(r);
                } else {
                    r.copy_from_slice(&best_r);
                }
                if best <= tolerance || stopped.get() {
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
        if measure.of(&found) <= tolerance {
            report.status = Status::Converged;
        } else if stopped.get() {
            report.status = Status::BudgetSpent;
        }
        Ok(report.with(&found))
    }
}

impl GlobalAuto {
    /// The stages in their order.
    fn stages(&self, p: &Prepared) -> &'static [Stage] {
        let mut met = vec![false; p.problem.f.len()];
        p.columns.indices().iter().for_each(|&k| met[k] = true);
        let met = met.into_iter().filter(|met| *met).count();
        let redundant = p.q().len() as f64 >= self.redundancy * met as f64;
        match (redundant, is_convex(p)) {
            (true, false) => &[Stage::Sweeps, Stage::BodyAdmm, Stage::BodyNewton, Stage::OnW],
            // nothing to go round in, and the solver on W knows a way that redundant contacts do not stop
            (true, true) => &[Stage::BodyNewton, Stage::OnW, Stage::BodyAdmm],
            (false, _) => &[Stage::OnW, Stage::BodyAdmm, Stage::BodyNewton],
        }
    }
}

/// Whether no set has a shift.
fn is_convex(p: &Prepared) -> bool {
    p.problem.sets.iter().all(|set| matches!(set, Free | NonNegative | SecondOrder { .. }))
}
