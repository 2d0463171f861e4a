//! Newton from the convex problem of a known shift.
//!
//! ```text
//! s = μ‖u_t‖ at the point at hand          K_μ ∋ r ⟂ u + s n ∈ K_μ*          interior point, from nothing
//! then Newton on Coulomb's law from that r, by each of four functions, strongly regularised at first
//! ```
//!
//! Its error is larger than that of the point whose slip it takes (1e-3 where sweeps have reached 1e-4 in grains), but it is on the central
//! path of a problem near by: no contact stands at the wrong edge of its cone. From there Newton solves dense grains that it does not solve
//! from zero or from what sweeps leave. Measured, e_s 1e-8: 555 contacts of a pour 0.8 s instead of 3.8 s, 273 around a struck lintel 0.9 s,
//! which stalled above 1e-7 before; a pile of 463 rocks 0.22 s instead of 0.42 s. 2600 contacts of a pour are out of reach at 1e-6.

use super::attempts::Attempts;
use super::equations::Function;
use super::interior_point::InteriorPoint;
use super::newton::{LineSearch, SemismoothNewton};
use super::{LocalProblem, LocalSolver};
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::{Measure, Report, Status, Watch};

/// What is asked of a try.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lagged {
    pub(super) tolerance: f64,
    pub(super) measure: Measure,
    /// Iterations, all in all, after which no further attempt begins.
    pub(super) steps: usize,
}

/// Iterations of the interior point method; where it works it needs 15 to 30.
const INTERIOR: usize = 60;
/// Convex problems, each with the slip of the one before, and Newton steps of one attempt.
const ROUNDS: usize = 3;
const STEPS: usize = 400;
/// Error of the convex problem that is enough.
const ENOUGH: f64 = 1e-6;
/// Functions of Newton's attempts, in turn.
const FUNCTIONS: [Function; 4] = [Function::AlartCurnier, Function::FischerBurmeister, Function::JeanMoreau, Function::NaturalMap];
const REGULARISATION: f64 = 100.0;
const WINDOW: usize = 10;

impl Lagged {
    /// Whether the problem with a known shift is one of symmetric cones.
    pub(super) fn takes(p: &LocalProblem) -> bool {
        use AdmissibleSet::{Coulomb, Free, NonNegative, SecondOrder};
        p.sets.iter().any(|set| matches!(set, Coulomb { mu } if *mu > 0.0))
            && p.sets.iter().all(|set| matches!(set, Coulomb { .. } | Free | NonNegative | SecondOrder { .. }))
    }

    /// Takes the shift of `r`, and leaves the best point of all attempts in it.
    pub(super) fn run(&self, p: &LocalProblem, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Report {
        let (tolerance, measure) = (self.tolerance, self.measure);
        let mut work = Attempts::new(measure, watch);
        work.report = work.report.with(&p.residual(r, u));
        work.error = measure.of(&work.report.errors());
        let (mut convex, mut start, mut aside) = (p.clone(), r.to_vec(), Report::default());
        'rounds: for _ in 0..ROUNDS {
            p.residual(&start, u);
            know_shift(p, u, &mut convex);
            start.fill(0.0);
            let interior =
                InteriorPoint { tolerance: tolerance.max(ENOUGH), measure, max_iterations: INTERIOR, ..InteriorPoint::default() };
            aside = work.aside(|w| interior.solve_watched(&convex, &mut start, u, w)).after(&aside);
            for function in FUNCTIONS {
                if work.stopped || work.report.iterations + aside.iterations > self.steps {
                    break 'rounds;
                }
                let newton = SemismoothNewton {
                    tolerance,
                    measure,
                    max_iterations: STEPS,
                    function,
                    line_search: LineSearch::Armijo { window: WINDOW },
                    regularisation: REGULARISATION,
                    restarts: 0,
                };
                if work.solve(Some(&start), r, u, |r, u, w| newton.solve_watched(p, r, u, w)) {
                    break 'rounds;
                }
            }
        }
        p.velocity(r, u);
        let solved = measure.of(&work.report.errors()) <= tolerance;
        let status = if work.report.converged() && !solved { Status::Stalled } else { work.report.status };
        Report { status, ..work.report.with_effort(&work.report.after(&aside)) }
    }
}

/// Makes `convex` the same blocks with De Saxcé's shift at `u` as a part of q.
fn know_shift(p: &LocalProblem, u: &[f64], convex: &mut LocalProblem) {
    for (i, set) in p.sets.iter().enumerate() {
        let range = p.w.range(i);
        if let (AdmissibleSet::Coulomb { mu }, false) = (*set, range.is_empty()) {
            let shift = set.shift(&u[range.clone()]);
            convex.q[range.start] = p.q[range.start] + shift;
            convex.sets[i] = AdmissibleSet::SecondOrder { mu };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::assemblies::{Law, assembly};
    use super::*;

    #[test]
    fn where_the_shift_is_that_of_the_answer_the_convex_problem_has_the_same_velocities() {
        let p = assembly(Law::Space, 4, 10, 1);
        let (mut r, mut u) = (vec![0.0; p.order()], vec![0.0; p.order()]);
        let auto = super::super::auto::Auto { tolerance: 1e-11, ..Default::default() };
        assert!(auto.solve(&p, &mut r, &mut u).converged());
        let (mut rc, mut uc) = (vec![0.0; p.order()], vec![0.0; p.order()]);
        let interior = InteriorPoint { tolerance: 1e-11, ..InteriorPoint::default() };
        let mut convex = p.clone();
        know_shift(&p, &u, &mut convex);
        assert!(interior.solve(&convex, &mut rc, &mut uc).converged());
        // the velocities of the convex problem hold its shift
        for (i, set) in p.sets.iter().enumerate() {
            let range = p.w.range(i);
            let (first, shift) = (range.start, set.shift(&u[range]));
            uc[first] -= shift;
        }
        let far = u.iter().zip(&uc).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(far < 1e-7, "{far:e}");
    }

    #[test]
    fn newton_goes_on_from_there_to_coulombs_law() {
        for seed in 1..6 {
            let p = assembly(Law::Space, 6, 14, seed);
            let (mut r, mut u) = (vec![0.0; p.order()], vec![0.0; p.order()]);
            let lagged = Lagged { tolerance: 1e-8, measure: Measure::default(), steps: 1000 };
            let report = lagged.run(&p, &mut r, &mut u, &mut |_| true);
            assert!(report.converged() && p.residual(&r, &mut u).rel <= 1e-8, "{seed}: {report:?}");
        }
    }
}
