//! Bounds where no basis of the fast routes would do: the active rows as a dense statement for [`complementarity::Auto`](super::super::complementarity::Auto).

use super::Ask;
use crate::algebra::matrix::Matrix;
use crate::numerics::Status;
use crate::numerics::complementarity::{Auto, ComplementaritySolver as _, Workspace};
use crate::numerics::relay::Relay;

/// Bases that enumeration, the last resort, may visit.
const MAX_BASES: usize = 1 << 12;

/// The statement and the memory of its solver.
#[derive(Debug, Default)]
pub(super) struct Fallback {
    statement: Relay,
    z: Vec<f64>,
    w: Vec<f64>,
    workspace: Workspace,
}

impl Fallback {
    /// Solves the active rows, all with bounds, from the guess `r`, which is improved; `Inconsistent` comes with a proof.
    #[cold]
    pub(super) fn solve(&mut self, ask: Ask, r: &mut [f64]) -> Status {
        let Ask { plan, p, tolerance } = ask;
        let (part, rows) = p.active_part();
        let (k, pick) = (rows.len(), |from: &[f64]| rows.iter().map(|&i| from[i]).collect());
        self.statement = Relay { m: Matrix::dense(k, k, part.w.to_dense()), q: part.q, lower: pick(&plan.lower), upper: pick(&plan.upper) };
        self.z = pick(r);
        let status = self.run(tolerance);
        rows.iter().zip(&self.z).for_each(|(&i, z)| r[i] = *z);
        status
    }

    /// Solves a statement of the caller's own from the guess `z`, which is improved.
    #[cold]
    pub(super) fn solve_statement(&mut self, statement: Relay, tolerance: f64, z: &mut Vec<f64>) -> Status {
        self.statement = statement;
        std::mem::swap(&mut self.z, z);
        let status = self.run(tolerance);
        std::mem::swap(&mut self.z, z);
        status
    }

    fn run(&mut self, tolerance: f64) -> Status {
        self.w.resize(self.z.len(), 0.0);
        let solver = Auto { tolerance, max_bases: MAX_BASES };
        solver.solve_with(&self.statement, &mut self.z, &mut self.w, &mut self.workspace, &mut |_| true).status
    }
}
