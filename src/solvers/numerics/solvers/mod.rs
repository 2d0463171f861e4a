//! The door: every problem, every solver, one way to call them.
//!
//! ```text
//! problem.solve(&settings) -> answer        LocalProblem, GlobalProblem, Lcp, Mlcp, Relay, Vi, ConvexQp, OperatorProblem, RoutedProblem,
//!                                           and Problem, which is any of the first five
//! Settings   tolerance, measure, time limit, budget, memory, first guess, log, solver with its parameters
//! Answer     r, u, v, report with the status, certificate of an inconsistent problem, log
//! ```
//!
//! [`all`] is the register of solvers by name. What each contact does in an answer, [`Problem::blocks_at`] tells. Solvers of the running
//! step, which keep their buffers from one solve to the next, stand beside this: [`auto`](super::auto) and [`route`](super::route).
//!
//! ```
//! use drystone::algebra::matrix::Matrix;
//! use drystone::numerics::{relay::Relay, solvers::{Problem, Settings, State}};
//! let m = Matrix::dense(2, 2, vec![1.0, 0.0, 0.0, 1.0]);
//! let p = Problem::from(Relay { m, q: vec![0.5, -3.0], lower: vec![-1.0; 2], upper: vec![1.0; 2] });
//! let answer = p.solve(&Settings::default())?;
//! assert_eq!(answer.solution.r, [-0.5, 1.0]);
//! let states: Vec<State> = p.blocks_at(&answer.solution)?.iter().map(|block| block.state).collect();
//! assert_eq!(states, [State::Inside, State::AtUpper]);
//! # Ok::<(), drystone::numerics::ProblemError>(())
//! ```

mod answer;
mod catalogue;
mod clock;
mod door;
mod engines;
pub(in crate::numerics) mod parameters;
mod problem;
mod routed;
mod settings;
pub(in crate::numerics) mod statement;

pub use super::complementarity::Infeasibility;
pub use answer::{Answer, BlockState, Solution, State};
pub use catalogue::{Entry, all, find};
pub use clock::ROUNDING;
pub use parameters::Parameter;
pub use problem::{Family, Kind, Problem};
pub use settings::{LogLine, Settings, Solver};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for (k, entry) in all().iter().enumerate() {
            assert_eq!(all().iter().position(|other| other.name == entry.name), Some(k));
            assert!(find(entry.name).is_some() && !entry.about.is_empty() && !entry.families.is_empty());
        }
        assert!(find("no such solver").is_none());
    }
}
