//! A problem of the router, alone: its active blocks are a local problem.

use super::{Answer, Settings, Solution};
use crate::algebra::blocks::BlockRows;
use crate::numerics::local::{LocalProblem, size};
use crate::numerics::route::{Delassus, RoutedProblem};
use crate::numerics::{ProblemError, Watch};

impl RoutedProblem {
    /// Solves the problem as the settings say; those that come in sequences with the same W are a [`Router`](crate::numerics::route::Router)'s.
    /// Not converging is a status of the answer; an error says why the problem cannot be stated, or which setting makes no sense.
    ///
    /// ```
    /// use drystone::numerics::{admissible::AdmissibleSet, route::{Delassus, RoutedProblem}, solvers::Settings};
    /// let p = RoutedProblem {
    ///     w: Delassus::Dense(vec![2.0, 1.0, 1.0, 2.0]),
    ///     q: vec![-5.0, -6.0],
    ///     offsets: vec![0, 1, 2],
    ///     sets: vec![AdmissibleSet::NonNegative; 2],
    ///     active: vec![false, true],
    ///     revision: 1,
    /// };
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
        let members: Vec<usize> = (0..self.sets.len()).filter(|&i| self.active[i]).collect();
        let rows: Vec<usize> = members.iter().flat_map(|&i| self.offsets[i]..self.offsets[i + 1]).collect();
        let pick = |from: &[f64]| rows.iter().map(|&k| from[k]).collect::<Vec<f64>>();
        let guess = match &settings.guess {
            None => None,
            Some(guess) => {
                size("r of the guess", guess.r.len(), self.order(), "one per row")?;
                Some(Solution { r: pick(&guess.r), ..Solution::default() })
            }
        };
        let mut place = vec![usize::MAX; self.order()];
        rows.iter().enumerate().for_each(|(k, &row)| place[row] = k);
        let mut offsets = vec![0];
        members.iter().for_each(|&i| offsets.push(offsets[offsets.len() - 1] + self.offsets[i + 1] - self.offsets[i]));
        let local = LocalProblem {
            w: BlockRows::from_triplets(
                &offsets,
                self.entries().filter_map(|(i, j, x)| {
                    let (i, j) = (place[i], place[j]);
                    (i < usize::MAX && j < usize::MAX).then_some((i, j, x))
                }),
            ),
            q: pick(&self.q),
            sets: members.iter().map(|&i| self.sets[i]).collect(),
        };
        let mut answer = local.solve_watched(&Settings { guess, ..settings.clone() }, watch)?;
        let mut r = vec![0.0; self.order()];
        rows.iter().zip(&answer.solution.r).for_each(|(&row, x)| r[row] = *x);
        let mut u = vec![0.0; r.len()];
        self.w.multiply(&r, &mut u);
        u.iter_mut().zip(&self.q).for_each(|(u, q)| *u += q);
        if !answer.certificate.is_empty() {
            let mut certificate = vec![0.0; r.len()];
            rows.iter().zip(&answer.certificate).for_each(|(&row, y)| certificate[row] = *y);
            answer.certificate = certificate;
        }
        answer.solution = Solution { r, u, v: Vec::new() };
        Ok(answer)
    }

    /// Row, column and value of every number of W.
    fn entries(&self) -> Box<dyn Iterator<Item = (usize, usize, f64)> + '_> {
        let n = self.order();
        match &self.w {
            Delassus::Dense(values) => Box::new(values.iter().enumerate().map(move |(k, x)| (k / n, k % n, *x))),
            Delassus::Sparse(w) => Box::new(super::statement::entries(w)),
        }
    }
}
