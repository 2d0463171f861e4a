//! The strategy that needs no options.
//!
//! ```text
//! last bases → basis of the guess (principal pivoting) → blocks in succession → a short path of Lemke's → proof of infeasibility
//!            → Lemke → Newton → interior point → Lemke again, proximal → enumeration where small
//! ```
//!
//! Each stage starts from the best point so far and ends the search when it meets the tolerance. The status says why it ended:
//! `Inconsistent` only with a proof (a Farkas certificate that was checked, or every basis tried).
//!
//! - Cost: one triangular solve and one product with M when a basis of the last solves fits; a few LU factorisations for
//!   P-matrices; then what the later stages cost.
//! - Measured: an LCP of 9 unknowns whose basis stands 0.4 µs, of 40 unknowns 4.4 µs. 15 of 16 LCPs and a proof for the one left, 13 of 14
//!   MLCPs (the rectangular one contradicts itself), 5 of 5 relays, to 1e-8.
//! - Fails: what every stage fails on: large indefinite problems whose path ends on a ray (`Stalled`).

use super::form::Form;
use super::succession::Succession;
use super::{
    ComplementaritySolver, Enumeration, Feasibility, InteriorPoint, Lemke, Murty, Newton, Outcome, Progress, Scratch, Status, Watch, face,
    feasibility, solved, verdict, vertices,
};
use crate::algebra::dense::norm;

/// Unknowns up to which a proof is sought: a linear programme of twice as many, dense.
const LARGEST_PROGRAMME: usize = 1000;
/// Pivots an unknown of the path that comes before the proof.
const SHORT_PATH: usize = 4;

/// The recommended solver for LCP, MLCP and relay problems (Siconos: `SICONOS_LCP_AVI_CAOFERRIS` and the direct MLCP drivers).
#[derive(Clone, Debug, PartialEq)]
pub struct Auto {
    /// Bound on `rel`.
    pub tolerance: f64,
    /// Bases that the last resort, enumeration, may visit.
    pub max_bases: usize,
}

impl Default for Auto {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_bases: 1 << 18 }
    }
}

impl ComplementaritySolver for Auto {
    fn tolerance(&self) -> f64 {
        self.tolerance
    }

    fn exhaustive(&self) -> bool {
        true
    }

    fn run(&self, form: &Form, z: &mut [f64], w: &mut [f64], scratch: &mut Scratch, watch: &mut Watch) -> Outcome {
        let mut total = Outcome { status: Status::Stalled, iterations: 0, factorisations: 0 };
        // a basis is exact to rounding; it must not pass for one by a large |z| elsewhere
        let tolerance = self.tolerance;
        let exact = tolerance.min(1e-10);
        scratch.decided = None;
        let mut cache = std::mem::take(&mut scratch.cache);
        let guess = &mut scratch.vectors[6];
        guess.clear();
        guess.extend_from_slice(z);
        if cache.solve(form, exact, z, w, &mut total.factorisations) && solved(form, z, w, tolerance) {
            scratch.cache = cache;
            return Outcome { status: Status::Converged, ..total };
        }
        z.copy_from_slice(&scratch.vectors[6]);
        let mut stopped = false;
        // most paths are as short; a proof costs less than a long one
        let short = 2 * (SHORT_PATH * form.order() + 100);
        let stages: [&dyn ComplementaritySolver; 8] = [
            &Murty { tolerance: exact, max_iterations: 30, ..Murty::default() },
            &Succession { tolerance, max_bases: self.max_bases },
            &Lemke { tolerance, coverings: 1, max_pivots: short, proximal_steps: 0 },
            &Lemke { tolerance, coverings: 2, proximal_steps: 0, ..Lemke::default() },
            &Newton { tolerance, ..Newton::default() },
            &InteriorPoint { tolerance, ..InteriorPoint::default() },
            &Lemke { tolerance, ..Lemke::default() },
            &Enumeration { tolerance, max_bases: self.max_bases },
        ];
        for (k, stage) in stages.iter().enumerate() {
            let before = total.iterations;
            let found = stage.run(form, z, w, scratch, &mut |mut progress| {
                progress.iteration += before;
                let go = watch(progress);
                stopped |= !go;
                go
            });
            total.iterations += found.iterations;
            total.factorisations += found.factorisations;
            form.output(z, w);
            let rel = form.rel(z, w);
            if rel <= tolerance {
                if rel > exact {
                    face::polish(form, z, w, scratch);
                }
                if solved(form, z, w, tolerance) {
                    total.status = Status::Converged;
                    break;
                }
                // small beside a z that has run away: the next stage starts afresh
                (0..form.order()).for_each(|i| z[i] = form.origin(i));
            }
            if stopped {
                total.status = Status::BudgetSpent;
                break;
            }
            if k + 1 == stages.len() && found.status == Status::Inconsistent {
                total.status = Status::Inconsistent;
            }
            // the cheap proof before the expensive stages
            let mut go_on = |progress: Progress| {
                stopped |= !watch(Progress { iteration: total.iterations, ..progress });
                !stopped
            };
            if k == 2 && form.order() <= LARGEST_PROGRAMME {
                let decided = scratch.decided.insert(feasibility(form, &mut go_on));
                if matches!(decided, Feasibility::Impossible(_)) {
                    total.status = Status::Inconsistent;
                    break;
                }
            }
        }
        let loose = form.natural_map(z, w) > exact * norm(&form.q) || verdict::has_grown(form, z);
        if total.status == Status::Converged && loose && vertices::apply_to(form) {
            // what is met beside a large z only, or on singular bases, hangs on the units: a small problem has its exact answer
            let (near, error, mut output) = (z.to_vec(), form.natural_map(z, w), w.to_vec());
            (0..form.order()).for_each(|i| z[i] = form.origin(i));
            let found = Enumeration { tolerance: exact, max_bases: self.max_bases }.run(form, z, &mut output, scratch, &mut |_| !stopped);
            total.iterations += found.iterations;
            total.factorisations += found.factorisations;
            form.output(z, w);
            if found.status != Status::Converged || form.natural_map(z, w) > error {
                z.copy_from_slice(&near);
            }
            form.output(z, w);
        }
        if total.status == Status::Converged {
            remember(form, z, w, (tolerance, exact), scratch, &mut cache);
        }
        scratch.cache = cache;
        total
    }
}

/// Keeps the basis of a solution, where it is regular and gives a solution again: where units differ, z and w need not tell the right one.
fn remember(
    form: &Form,
    z: &mut [f64],
    w: &mut [f64],
    (tolerance, exact): (f64, f64),
    scratch: &mut Scratch,
    cache: &mut super::basis::Cache,
) {
    let n = form.order();
    let Scratch { basis, states, vectors, .. } = scratch;
    let [point, output] = super::buffers(vectors, n);
    let ours = basis.states.len() == n && basis.regular && basis.answer(form, point, output) <= exact;
    if !ours {
        states.clear();
        states.extend((0..n).map(|i| super::basis::state_of(form, i, z[i], w[i])));
        if !(basis.factor(form, states) && basis.answer(form, point, output) <= exact) {
            return;
        }
    }
    if !solved(form, point, output, tolerance) {
        return;
    }
    z.copy_from_slice(point);
    w.copy_from_slice(output);
    cache.keep(form, basis);
}
