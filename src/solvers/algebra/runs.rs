//! What a front hands on to its parent, by runs of rows that lie next to each other in both.

/// Rows `from..from + rows` of an update matrix are rows `to..to + rows` of the parent's front.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Run {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) rows: usize,
}

impl Run {
    /// Columns of the update matrix, and those of the front they belong to.
    pub(super) fn columns(self) -> impl Iterator<Item = (usize, usize)> {
        (self.from..self.from + self.rows).zip(self.to..)
    }

    /// What is left of it behind so many of its rows.
    pub(super) fn after(self, rows: usize) -> Self {
        Self { from: self.from + rows, to: self.to + rows, rows: self.rows - rows }
    }
}

/// Puts the next rows of an update matrix behind the others: they go `to` these places, of which those below and from `pivots` on are kept apart.
pub(super) fn push(runs: &mut Vec<Run>, to: std::ops::Range<usize>, pivots: usize) {
    let from = runs.last().map_or(0, |last| last.from + last.rows);
    match runs.last_mut() {
        Some(last) if last.to + last.rows == to.start && to.start != pivots => last.rows += to.len(),
        _ => runs.push(Run { from, to: to.start, rows: to.len() }),
    }
}

/// Runs into pivot rows of the parent, and those into its update rows.
pub(super) fn divided(runs: &[Run], pivots: usize) -> (&[Run], &[Run]) {
    runs.split_at(runs.partition_point(|run| run.to < pivots))
}

/// Adds a column of the update matrix to one that holds the rows of the front from `first` on.
pub(super) fn add(column: &[f64], runs: impl IntoIterator<Item = Run>, front: &mut [f64], first: usize) {
    for Run { from, to, rows } in runs {
        let front = &mut front[to - first..][..rows];
        front.iter_mut().zip(&column[from..from + rows]).for_each(|(sum, x)| *sum += x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_side_by_side_are_one_run_but_not_across_the_pivots() {
        let mut runs = Vec::new();
        [1..3, 3..4, 4..6, 6..9, 11..12, 12..14].into_iter().for_each(|to| push(&mut runs, to, 4));
        let run = |from, to, rows| Run { from, to, rows };
        assert_eq!(runs, [run(0, 1, 3), run(3, 4, 5), run(8, 11, 3)]);
        assert_eq!(divided(&runs, 4), (&runs[..1], &runs[1..]));
        assert_eq!(runs[1].after(2), run(5, 6, 3));
        assert_eq!(runs[2].columns().collect::<Vec<_>>(), [(8, 11), (9, 12), (10, 13)]);
        let (column, mut front) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [0.5; 10]);
        add(&column, runs[1..].iter().copied(), &mut front, 4);
        assert_eq!(front, [4.5, 5.5, 6.5, 7.5, 8.5, 0.5, 0.5, 9.5, 10.5, 11.5]);
    }
}
