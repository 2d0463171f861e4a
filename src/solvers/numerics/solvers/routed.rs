//! A problem of the router, alone: its active blocks are a local problem.

use super::{Answer, Settings, Solution};
use crate::numerics::local::size;
use crate::numerics::route::RoutedProblem;
use crate::numerics::{ProblemError, Watch};

impl RoutedProblem {
    /// Solves the problem as the settings say; those that come in sequences with the same W are a [`Router`](crate::numerics::route::Router)'s.
    /// Not converging is a status of the answer; an error says why the problem cannot be stated, or which setting makes no sense.
    ///
    /// ```
    /// use drystone::algebra::blocks::BlockRows;
    /// use drystone::numerics::{admissible::AdmissibleSet, local::LocalProblem, route::RoutedProblem, solvers::Settings};
    /// let w = BlockRows::from_dense(&[0, 1, 2], &[2.0, 1.0, 1.0, 2.0]);
    /// let mut p = RoutedProblem::from(LocalProblem { w, q: vec![-5.0, -6.0], sets: vec![AdmissibleSet::NonNegative; 2] });
    /// p.active[0] = false;
    /// let answer = p.solve(&Settings::default())?;
    /// assert!(answer.solution.r[0] == 0.0 && (answer.solution.r[1] - 3.0).abs() < 1e-7 && (answer.solution.u[0] + 2.0).abs() < 1e-7);
    /// # Ok::<(), drystone::numerics::ProblemError>(())
    /// ```
    pub fn solve(&self, settings: &Settings) -> Result<Answer, ProblemError> {
        self.solve_watched(settings, &mut |_| true)
    }

    /// The same under a watch, which sees every iteration and may say stop.
    pub fn solve_watched(&self, settings: &Settings, watch: &mut Watch) -> Result<Answer, ProblemError> {
        self.validate()?;
        let (part, rows) = self.active_part();
        let guess = match &settings.guess {
            None => None,
            Some(guess) => {
                size("r of the guess", guess.r.len(), self.order(), "one per row")?;
                Some(Solution { r: rows.iter().map(|&k| guess.r[k]).collect(), ..Solution::default() })
            }
        };
        let mut answer = part.solve_watched(&Settings { guess, ..settings.clone() }, watch)?;
        let mut r = vec![0.0; self.order()];
        rows.iter().zip(&answer.solution.r).for_each(|(&row, x)| r[row] = *x);
        let mut u = vec![0.0; r.len()];
        self.problem.velocity(&r, &mut u);
        if !answer.certificate.is_empty() {
            let mut certificate = vec![0.0; r.len()];
            rows.iter().zip(&answer.certificate).for_each(|(&row, y)| certificate[row] = *y);
            answer.certificate = certificate;
        }
        answer.solution = Solution { r, u, v: Vec::new() };
        Ok(answer)
    }
}
