//! Gaussian elimination on the equations of a circuit, and the choice of multipliers.

/// Linear equations `Σ a_j w_j = 0`, row by row; the last columns belong to what is given.
pub(super) struct Tableau {
    columns: usize,
    a: Vec<f64>,
    /// Per row: the column that it is solved for.
    basic: Vec<Option<usize>>,
}

/// Below this share of its terms a difference is rounding.
const ROUNDING: f64 = 1e-13;

impl Tableau {
    pub(super) fn new(rows: usize, columns: usize) -> Self {
        Self { columns, a: vec![0.0; rows * columns], basic: vec![None; rows] }
    }

    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.a[row * self.columns..(row + 1) * self.columns]
    }

    pub(super) fn add(&mut self, row: usize, column: usize, value: f64) {
        self.a[row * self.columns + column] += value;
    }

    /// Row that is solved for this column.
    pub(super) fn row_of(&self, column: usize) -> Option<usize> {
        self.basic.iter().position(|b| *b == Some(column))
    }

    /// Rows that are not solved for any column yet.
    pub(super) fn free_rows(&self) -> impl Iterator<Item = usize> + Clone {
        (0..self.basic.len()).filter(|&r| self.basic[r].is_none())
    }

    /// Column j in units of `scales[j]`, then every row to a largest entry between ½ and 2 over these columns.
    pub(super) fn scale(&mut self, scales: &[f64]) {
        for row in self.a.chunks_exact_mut(self.columns) {
            row.iter_mut().zip(scales).for_each(|(a, s)| *a *= s);
            let largest = row[..scales.len()].iter().fold(0.0, |m: f64, a| m.max(a.abs()));
            if largest > 0.0 {
                let factor = libm::exp2((-libm::log2(largest)).round());
                row.iter_mut().for_each(|a| *a *= factor);
            }
        }
    }

    /// Solves `row` for `column` and takes the column out of all others; differences that are rounding become 0.
    pub(super) fn pivot(&mut self, row: usize, column: usize) {
        let n = self.columns;
        let inverse = 1.0 / self.a[row * n + column];
        let solved: Vec<f64> = self.row(row).iter().map(|a| a * inverse).collect();
        for (r, other) in self.a.chunks_exact_mut(n).enumerate() {
            let factor = other[column];
            if r == row {
                other.copy_from_slice(&solved);
            } else if factor != 0.0 {
                for (a, s) in other.iter_mut().zip(&solved) {
                    let (old, change) = (*a, factor * s);
                    *a = old - change;
                    if a.abs() <= ROUNDING * old.abs().max(change.abs()) {
                        *a = 0.0;
                    }
                }
                other[column] = 0.0;
            }
            if r == row {
                other[column] = 1.0;
            }
        }
        self.basic[row] = Some(column);
    }

    /// Solves for the first columns, the largest entry first; the column that cannot be solved for where there is one.
    pub(super) fn solve_for(&mut self, columns: usize) -> Result<(), usize> {
        let mut open: Vec<usize> = (0..columns).collect();
        while !open.is_empty() {
            let mut best = (0.0, 0, 0);
            for row in self.free_rows() {
                for (k, &column) in open.iter().enumerate() {
                    let size = self.a[row * self.columns + column].abs();
                    if size > best.0 {
                        best = (size, row, k);
                    }
                }
            }
            let (size, row, k) = best;
            if size == 0.0 {
                return Err(open[0]);
            }
            self.pivot(row, open.remove(k));
        }
        Ok(())
    }

    /// Columns among the first ones that a solution of the homogeneous equations moves along with `column`.
    pub(super) fn null_vector(&self, column: usize, columns: usize) -> Vec<usize> {
        let moved = |c: usize| c == column || self.row_of(c).is_some_and(|r| self.row(r)[column] != 0.0);
        (0..columns).filter(|&c| moved(c)).collect()
    }

    /// Solves the free rows for one column of each pair, the largest entry first; the other one becomes the multiplier. A pair whose
    /// first column is `preferred` gives it where it can. `Err` is a row that has none left.
    ///
    /// Where the greedy choice ends before its time, partners are exchanged along a shortest path (matroid intersection), so that
    /// a choice is found wherever there is one.
    pub(super) fn choose(&mut self, pairs: &[[usize; 2]], preferred: &[bool]) -> Result<(), usize> {
        loop {
            let open: Vec<usize> = (0..pairs.len()).filter(|&k| pairs[k].iter().all(|&c| self.row_of(c).is_none())).collect();
            let mut best = (0.0, 0, 0);
            for row in self.free_rows() {
                for &k in &open {
                    for (side, &column) in pairs[k].iter().enumerate() {
                        let size = self.a[row * self.columns + column].abs();
                        let score = if preferred[k] && side == 0 && size > 1e-6 { 1e6 * size } else { size };
                        if score > best.0 {
                            best = (score, row, column);
                        }
                    }
                }
            }
            if best.0 > 0.0 {
                self.pivot(best.1, best.2);
                continue;
            }
            let Some(row) = self.free_rows().next() else { return Ok(()) };
            let path = self.exchange(pairs, row).ok_or(row)?;
            // from the far end: the rows nearer to the start do not hold the columns further on
            for &(row, column) in path.iter().rev() {
                if self.row(row)[column] == 0.0 {
                    return Err(row);
                }
                self.pivot(row, column);
            }
        }
    }

    /// Shortest path of `(row, column)` from a free row: its column's partner gives up its own row to the next column, and so on
    /// until the column of an open pair.
    fn exchange(&self, pairs: &[[usize; 2]], row: usize) -> Option<Vec<(usize, usize)>> {
        let partner = |k: usize, side: usize| pairs[k][1 - side];
        let mut reached: Vec<Option<usize>> = vec![None; self.columns];
        let mut steps: Vec<(usize, usize, Option<usize>)> = Vec::new();
        let mut rows = vec![(row, None)];
        while !rows.is_empty() {
            let mut next = Vec::new();
            for (row, from) in rows {
                for (k, pair) in pairs.iter().enumerate() {
                    for (side, &column) in pair.iter().enumerate() {
                        if self.row(row)[column] == 0.0 || self.row_of(column).is_some() || reached[column].is_some() {
                            continue;
                        }
                        let here = steps.len();
                        reached[column] = Some(here);
                        steps.push((row, column, from));
                        let Some(given_up) = self.row_of(partner(k, side)) else {
                            let mut path = Vec::new();
                            let mut at = Some(here);
                            while let Some(step) = at {
                                path.push((steps[step].0, steps[step].1));
                                at = steps[step].2;
                            }
                            path.reverse();
                            return Some(path);
                        };
                        next.push((given_up, Some(here)));
                    }
                }
            }
            rows = next;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tableau(rows: &[&[f64]]) -> Tableau {
        let mut t = Tableau::new(rows.len(), rows[0].len());
        rows.iter().enumerate().for_each(|(r, row)| row.iter().enumerate().for_each(|(c, &a)| t.add(r, c, a)));
        t
    }

    #[test]
    fn partners_are_exchanged_where_the_greedy_choice_ends_early() {
        // greedy takes column 0 (the largest) and leaves a row that holds its partner alone; the answer is columns 1 and 2
        let pairs = [[0, 1], [2, 3]];
        let mut t = tableau(&[&[9.0, 0.0, 1.0, 0.0], &[0.0, 1.0, 0.0, 0.0]]);
        assert_eq!(t.choose(&pairs, &[false; 2]), Ok(()));
        assert!(t.row_of(1).is_some() && t.row_of(2).is_some());
        // here no choice exists: both columns of the first pair would be needed
        let mut t = tableau(&[&[9.0, 0.0, 0.0, 0.0], &[0.0, 1.0, 0.0, 0.0]]);
        assert!(t.choose(&pairs, &[false; 2]).is_err());
    }

    #[test]
    fn a_column_without_a_row_names_its_null_vector() {
        let mut t = tableau(&[&[1.0, -1.0, 0.0, 0.5], &[2.0, -2.0, 1.0, 0.0]]);
        let stuck = t.solve_for(3).unwrap_err();
        assert_eq!(t.null_vector(stuck, 3), [0, 1]);
    }
}
