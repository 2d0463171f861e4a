//! Principal pivoting: exchange the unknowns that stand on the wrong side.
//!
//! ```text
//! basis B:  M_BB z_B = −q_B − M_BN z_N        wrong: z_i outside [l_i, u_i] (i ∈ B), or w_i of the wrong sign (i ∉ B)
//! B ← B with all wrong indices exchanged while their number falls, else with the largest wrong index alone
//! ```
//!
//! - Cost: one LU factorisation of `M_BB` an iteration; 3 to 10 iterations in practice at any size.
//! - Wins: P-matrices (finite there by the rule of one index), and any problem near its last solution: the fastest of all.
//! - Fails: matrices with singular or negative principal minors: it stalls at once at a singular `M_BB`, or cycles until the budget.
//! - Measured: `deltasigma` 3 factorisations, 0.6 ms, Murty's example of order 12 in under 40; stalls on `diodeBridge`, whose first basis
//!   is singular (Lemke: 1 pivot). 8 of 16 LCPs, 9 of 14 MLCPs, 5 of 5 relays.
//! - Source: Murty 1974; Kostreva 1978; Júdice and Pires 1994 (blocks, bounds).

use super::basis::{State, state_of};
use super::form::Form;
use super::{ComplementaritySolver, Outcome, Scratch, Status, Watch, proceed, stopping};

/// Principal pivoting (Siconos: `SICONOS_LCP_PIVOT`, `SICONOS_LCP_BARD`, `SICONOS_LCP_MURTY`).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Murty {
    /// Bound on `rel`.
    pub tolerance: f64,
    /// Bases to visit.
    pub max_iterations: usize,
    /// Exchanges of all wrong indices that may fail to lower their number before one index at a time is exchanged;
    /// `None` exchanges one at a time from the start.
    pub patience: Option<usize>,
}

impl Default for Murty {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_iterations: 5000, patience: Some(10) }
    }
}

impl ComplementaritySolver for Murty {
    fn tolerance(&self) -> f64 {
        self.tolerance
    }

    fn run(&self, form: &Form, z: &mut [f64], w: &mut [f64], scratch: &mut Scratch, watch: &mut Watch) -> Outcome {
        let n = form.order();
        let Scratch { basis, states, vectors, .. } = scratch;
        let [best_z] = super::buffers(vectors, n);
        form.output(z, w);
        best_z.copy_from_slice(z);
        let mut best = stopping(form, z, w, self.tolerance, form.rel(z, w));
        states.clear();
        states.extend((0..n).map(|i| state_of(form, i, z[i], w[i])));
        let mut outcome = Outcome { status: Status::BudgetSpent, iterations: 0, factorisations: 0 };
        let (mut fewest, mut patience) = (usize::MAX, self.patience);
        while outcome.iterations < self.max_iterations && best > self.tolerance.min(1e-14) {
            outcome.iterations += 1;
            outcome.factorisations += 1;
            if !basis.factor_while(form, states, &mut || proceed(watch, outcome.iterations, best)) {
                outcome.status = Status::Stalled;
                break;
            }
            let rel = basis.answer(form, z, w);
            let rel = stopping(form, z, w, self.tolerance, rel);
            if rel < best {
                best = rel;
                best_z.copy_from_slice(z);
            }
            if best <= self.tolerance || !proceed(watch, outcome.iterations, rel) {
                break;
            }
            basis.point(form, z, w);
            let wrong = (0..n).filter(|&i| is_wrong(form, states[i], i, z[i], w[i]).is_some()).count();
            if wrong == 0 {
                outcome.status = Status::Stalled;
                break;
            }
            if wrong < fewest {
                fewest = wrong;
                patience = self.patience;
            } else {
                patience = patience.and_then(|p| p.checked_sub(1));
            }
            for i in (0..n).rev() {
                if let Some(next) = is_wrong(form, states[i], i, z[i], w[i]) {
                    states[i] = next;
                    if patience.is_none() {
                        break;
                    }
                }
            }
        }
        z.copy_from_slice(best_z);
        form.output(z, w);
        outcome
    }
}

/// The state to exchange to, where an index stands on the wrong side.
fn is_wrong(form: &Form, state: State, i: usize, z: f64, w: f64) -> Option<State> {
    match state {
        State::Basic if z < form.lower[i] => Some(State::Lower),
        State::Basic if z > form.upper[i] => Some(State::Upper),
        State::Lower if w < 0.0 && form.upper[i] > form.lower[i] => Some(State::Basic),
        State::Upper if w > 0.0 && form.upper[i] > form.lower[i] => Some(State::Basic),
        _ => None,
    }
}
