//! Problems in which rows give way so that bodies which nothing keeps out of each other have an answer.
//!
//! ```text
//! b_n ← b_n + m s       s: least speeds by which contacts have to give way, of a contradiction or a jam;  m: a margin
//! ```
//!
//! What passes of joints state again and again is nearly the same problem: once a pass is proved to have no solution, those after it give way by
//! as much, where that solves them and what gives way most bears. From time to time the proof is done anew.

use super::{Auto, PLAIN_SWEEPS, Workspace};
use crate::numerics::feasibility::{Give, gives};
use crate::numerics::mixed::{Answer, MixedProblem, Reactions};
use crate::numerics::residual::certify;
use crate::numerics::{Method, Report, Status};

/// What a relaxed constraint gives way beyond the least that it must, so that reactions stay bounded; more where that is not enough.
pub(super) const MARGIN: [f64; 3] = [1.01, 1.1, 1.5];
/// Part of the largest speed from which on a row that gives way has to bear for the others to be believed.
const MOST: f64 = 0.5;

impl Auto {
    /// Solves the problem in which rows give way, from `start` or from nothing; `None` where it cannot be stated.
    pub(super) fn giving_way(
        &self,
        p: &MixedProblem,
        (give, margin): (&Give, f64),
        start: Option<&Reactions>,
        work: &mut Workspace,
    ) -> Option<(Reactions, Report)> {
        let mut q = p.clone();
        q.contacts.iter_mut().zip(&give.contacts).for_each(|(c, s)| c.b.x += margin * s);
        for block in p.blocks.iter().filter(|b| gives(b)) {
            let rows = block.first..block.first + block.rows;
            q.block_b[rows.clone()].iter_mut().zip(give.blocks.get(rows).unwrap_or_default()).for_each(|(b, s)| *b += s);
        }
        q.prepare().ok()?;
        let mut own = Answer::for_problem(&q);
        if let Some(start) = start {
            own.reactions.clone_from(start);
        }
        let sweeps = self.sweeps(&q, self.max_sweeps.min(PLAIN_SWEEPS), work);
        let mut report = sweeps.solve(&q, &mut own, &mut work.sweep);
        if !report.converged() {
            let second = self.newton().solve(&q, &mut own, &mut work.newton);
            report = second.after(&report);
        }
        Some((own.reactions, report))
    }

    /// The answer in which the same rows give way as in the pass before.
    pub(super) fn gives_again(&self, p: &MixedProblem, answer: &mut Answer, give: &Give, work: &mut Workspace) -> Option<Report> {
        if give.contacts.len() != p.contacts.len() || give.blocks.len() != p.block_b.len() {
            return None;
        }
        let worst = give.contacts.iter().copied().fold(0.0, f64::max);
        let mut effort = Report::default();
        for margin in MARGIN {
            let (reactions, report) = self.giving_way(p, (give, margin), Some(&answer.reactions), work)?;
            effort = report.after(&effort);
            if !report.converged() {
                continue;
            }
            let idle = give.contacts.iter().zip(&reactions.contacts).any(|(&s, r)| s > MOST * worst && r.x <= 0.0);
            if worst == 0.0 || idle {
                return None;
            }
            answer.reactions = reactions;
            (answer.slack, answer.yields) = (give.contacts.clone(), give.blocks.clone());
            let report = Report { status: Status::Inconsistent, ended_by: Method::Jam, ..effort };
            return Some(certify(p, answer).report(report));
        }
        None
    }
}
