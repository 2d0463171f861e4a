//! Block Gauss–Seidel: the unknowns in blocks, each block's own small problem solved exactly.
//!
//! ```text
//! −(M_aa z_a + q_a + Σ_{b≠a} M_ab z_b) ∈ N_[l_a,u_a](z_a)        a = 1, 2, …, again and again
//! ```
//!
//! - Cost: n² operations a sweep, and a pivoting solve of `size³` a block (its last basis is tried first).
//! - Wins: strong coupling inside blocks (one machine, one contact, one circuit cell), weak coupling between.
//! - Fails: as [`Pgs`](super::Pgs) does, when the blocks pull against each other.
//! - Measured: blocks of 4 solve 14 of 16 LCPs, 6 of 14 MLCPs; `relay1` is at 1e-3 after 5000 sweeps.
//! - Source: Cottle, Pang, Stone (2009), §5.4.

use super::form::Form;
use super::sweep::sweeps;
use super::{ComplementaritySolver, Lemke, Murty, Outcome, Scratch, Watch};
use crate::algebra::dense::dot;

/// Block Gauss–Seidel (Siconos: `SICONOS_LCP_NSGS_SBM`).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BlockGaussSeidel {
    /// Bound on `rel`.
    pub tolerance: f64,
    /// Sweeps over all blocks.
    pub max_sweeps: usize,
    /// Unknowns in a block; the last block holds the rest.
    pub block: usize,
}

impl Default for BlockGaussSeidel {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_sweeps: 5000, block: 4 }
    }
}

impl ComplementaritySolver for BlockGaussSeidel {
    fn tolerance(&self) -> f64 {
        self.tolerance
    }

    fn run(&self, form: &Form, z: &mut [f64], w: &mut [f64], scratch: &mut Scratch, watch: &mut Watch) -> Outcome {
        let (n, size) = (form.order(), self.block.max(1));
        let (mut inner, mut small) = (Scratch::default(), Form::default());
        let (pivoting, lemke) =
            (Murty { tolerance: 1e-13, max_iterations: 20, ..Murty::default() }, Lemke { tolerance: 1e-13, ..Lemke::default() });
        sweeps((self.tolerance, self.max_sweeps), form, z, w, scratch, watch, |z, w| {
            let mut factorisations = 0;
            for start in (0..n).step_by(size) {
                let block = start..(start + size).min(n);
                small.m.clear();
                small.q.clear();
                for i in block.clone() {
                    let own = &form.row(i)[block.clone()];
                    small.m.extend_from_slice(own);
                    small.q.push(form.q[i] + dot(form.row(i), z) - dot(own, &z[block.clone()]));
                }
                small.lower.clear();
                small.lower.extend_from_slice(&form.lower[block.clone()]);
                small.upper.clear();
                small.upper.extend_from_slice(&form.upper[block.clone()]);
                let (z, w) = (&mut z[block.clone()], &mut w[block]);
                let mut found = pivoting.run(&small, z, w, &mut inner, &mut |_| true);
                if small.rel(z, w) > 1e-10 {
                    found = lemke.run(&small, z, w, &mut inner, &mut |_| true);
                }
                factorisations += found.factorisations;
            }
            form.output(z, w);
            (form.rel(z, w), factorisations)
        })
    }
}
