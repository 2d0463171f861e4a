//! Bounds where no basis of the fast routes would do: the active rows as a dense statement for [`complementarity::Auto`](super::super::complementarity::Auto).

use super::plan::Plan;
use super::{Delassus, RoutedProblem};
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
    members: Vec<usize>,
    workspace: Workspace,
}

impl Fallback {
    /// Solves the active rows, all with bounds, from the guess `r`, which is improved; `Inconsistent` comes with a proof.
    #[cold]
    pub(super) fn solve(&mut self, plan: &Plan, p: &RoutedProblem, tolerance: f64, r: &mut [f64]) -> Status {
        self.members.clear();
        for i in (0..plan.blocks()).filter(|&i| p.active[i]) {
            self.members.extend(plan.offsets[i]..plan.offsets[i + 1]);
        }
        let members = std::mem::take(&mut self.members);
        let k = members.len();
        let mut m = vec![0.0; k * k];
        let n = plan.order();
        match &p.w {
            Delassus::Dense(w) => {
                for (row, &i) in m.chunks_exact_mut(k.max(1)).zip(&members) {
                    row.iter_mut().zip(&members).for_each(|(x, &j)| *x = w[i * n + j]);
                }
            }
            Delassus::Sparse(w) => {
                let mut place = vec![usize::MAX; n];
                members.iter().enumerate().for_each(|(at, &i)| place[i] = at);
                for i in (0..plan.blocks()).filter(|&i| p.active[i]) {
                    for (j, block) in w.row(i).filter(|(j, _)| p.active[*j]) {
                        for (row, values) in w.range(i).zip(block.chunks_exact(w.rows(j).max(1))) {
                            let at = place[row] * k + place[w.range(j).start];
                            m[at..at + values.len()].copy_from_slice(values);
                        }
                    }
                }
            }
        }
        let pick = |from: &[f64]| members.iter().map(|&i| from[i]).collect();
        self.statement = Relay { m: Matrix::dense(k, k, m), q: pick(&p.q), lower: pick(&plan.lower), upper: pick(&plan.upper) };
        self.z = pick(r);
        let status = self.run(tolerance);
        members.iter().zip(&self.z).for_each(|(&i, z)| r[i] = *z);
        self.members = members;
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
