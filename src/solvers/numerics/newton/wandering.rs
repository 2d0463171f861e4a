//! Newton that wanders: semismooth Newton on Coulomb's law with the bodies as unknowns, whose regularisation falls and rises again and again.
//!
//! ```text
//! F(r, u) = 0 (Alart–Curnier),   (A + B (W + α D)) Δr = −F,   r ← r + t Δr      solved in body space as in `point`
//! |F(r + t Δr)|² ≤ max over the last twenty − 2 σ t |F|²
//! ```
//!
//! The same method as the wandering attempts of `local::newton`, with their schedule. It solves islands where the [proximal point](super::point)
//! goes round in circles, as it does in dense pours at 1e-6: of 500 steps of 216 balls (`run bead_pour --set n=6 --tol 1e-6`) 10 did not meet
//! Coulomb's law, now none or 1, begun once more from nothing; of the struck lintel's 750 (`tests/probes/scenes/lintel.toml`) 3, now none.

use super::super::mixed::{Answer, MixedProblem};
use super::super::regularisation::{Regularisation, WINDOW};
use super::super::{Report, Status, residual};
use super::{Workspace, with_blocks};

/// Settings of the method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::numerics) struct Wandering {
    /// Stop when the error, [`residual::Residual::error`], is at most this.
    pub tolerance: f64,
    /// Budget of factorisations.
    pub max_iterations: usize,
}

/// σ of the line search, and most of its trial steps.
const SLOPE: f64 = 1e-3;
const TRIALS: usize = 10;
/// Least and largest α; factor by which it grows where the matrix is singular all the same.
const ALPHA: (f64, f64, f64) = (1e-9, 1e4, 100.0);
/// Iterations, and half of all, without a tenth less error after which it stalls: with 200 four steps of the struck lintel stay
/// unsolved, with this none.
const PATIENCE: usize = 400;

impl Wandering {
    /// Improves `answer` until its error is at most the tolerance, from its reactions; the best point counts.
    pub(in crate::numerics) fn solve(&self, p: &MixedProblem, answer: &mut Answer, work: &mut Workspace) -> Report {
        if !p.spins.is_empty() {
            return with_blocks(p, answer, |p, answer| self.solve(p, answer, work));
        }
        let mut found = residual::certify(p, answer);
        let mut report = Report { status: Status::Stalled, ..Report::default() };
        if found.error() <= self.tolerance || !work.prepare(p, answer) {
            report.status = if found.error() <= self.tolerance { Status::Converged } else { Status::Stalled };
            return found.report(report);
        }
        let mut buffers = std::mem::take(&mut work.point);
        buffers.prepare(p);
        buffers.kept.clone_from(&answer.reactions);
        // of no weight, but of this problem's size
        buffers.centre.clone_from(&answer.reactions);
        let (mut best, mut mark) = (found.error(), (0, f64::INFINITY));
        let mut merit = buffers.evaluate(p, 0.0, answer);
        let (mut window, mut regularisation) = ([merit; WINDOW], Regularisation::rising());
        for k in 1.. {
            if report.factorisations >= self.max_iterations || p.stop.asked() {
                report.status = Status::BudgetSpent;
                break;
            }
            let mut alpha = regularisation.alpha().max(ALPHA.0);
            let regular = loop {
                report.factorisations += 1;
                if buffers.newton(p, &mut work.space, [alpha, 0.0], &answer.reactions) {
                    break true;
                }
                alpha *= ALPHA.2;
                if alpha > ALPHA.1 {
                    break false;
                }
            };
            if !regular {
                break;
            }
            let (reference, before) = (window.iter().fold(merit, |m, x| m.max(*x)), merit);
            buffers.best.clone_from(&answer.reactions);
            let mut t = 1.0;
            for _ in 0..=TRIALS {
                answer.reactions.clone_from(&buffers.best);
                buffers.advance(t, &mut answer.reactions);
                merit = buffers.evaluate(p, 0.0, answer);
                if merit * merit <= reference * reference - 2.0 * SLOPE * t * before * before {
                    break;
                }
                t *= 0.5;
            }
            window[k % WINDOW] = merit;
            found = residual::certify(p, answer);
            regularisation.tell(found.e_s, found.error());
            if found.error() < best {
                best = found.error();
                buffers.kept.clone_from(&answer.reactions);
            }
            if found.error() < 0.9 * mark.1 {
                mark = (k, found.error());
            }
            if best <= self.tolerance || !merit.is_finite() || k > mark.0 + PATIENCE.max(k / 2) {
                break;
            }
        }
        answer.reactions.clone_from(&buffers.kept);
        work.point = buffers;
        found = residual::certify(p, answer);
        if found.error() <= self.tolerance {
            report.status = Status::Converged;
        }
        found.report(report)
    }
}

#[cfg(test)]
mod tests {
    use super::super::interior::tests::tower;
    use super::*;

    #[test]
    fn towers_that_slide_and_rock_meet_coulombs_law() {
        for (n, mu) in [(2, 0.5), (3, 0.0), (8, 0.3), (8, 1.5), (12, 0.1), (20, 0.6), (25, 0.3)] {
            let mut p = tower(n, mu, 0.0);
            p.lagged.clear();
            let (mut work, mut answer) = (Workspace::default(), Answer::for_problem(&p));
            let report = Wandering { tolerance: 1e-10, max_iterations: 500 }.solve(&p, &mut answer, &mut work);
            assert!(report.converged() && report.error() <= 1e-10, "{n} blocks, mu {mu}: {report:?}");
            assert!(residual::certify(&p, &mut answer).error() <= 1e-10);
            let again = Wandering { tolerance: 1e-10, max_iterations: 500 }.solve(&p, &mut answer, &mut work);
            assert!(again.converged() && again.factorisations == 0);
            let mut nothing = Answer::for_problem(&p);
            let short = Wandering { tolerance: 1e-10, max_iterations: 2 }.solve(&p, &mut nothing, &mut work);
            assert!(short.status == Status::BudgetSpent && short.factorisations == 2, "{short:?}");
        }
    }
}
