//! A sparse matrix by rows, for products in a loop.

/// A sparse matrix: row i holds `values[starts[i]..starts[i+1]]` in `columns[..]`.
///
/// ```
/// use drystone::algebra::rows::SparseRows;
/// let a = SparseRows::from_dense(2, &[1.0, 0.0, 2.0, 3.0]);
/// let mut y = [10.0, 10.0];
/// a.add_product(1.0, &[1.0, 1.0], &mut y);
/// assert_eq!(y, [11.0, 15.0]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseRows {
    starts: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl SparseRows {
    /// An empty matrix to which rows are appended.
    pub fn new() -> Self {
        Self { starts: vec![0], columns: Vec::new(), values: Vec::new() }
    }

    /// The entries of a full matrix that are not zero.
    pub fn from_dense(columns: usize, a: &[f64]) -> Self {
        let mut m = Self::new();
        a.chunks_exact(columns.max(1)).for_each(|row| m.push_row(row.iter().copied().enumerate()));
        m
    }

    /// Appends a row; zeros are left out.
    pub fn push_row(&mut self, entries: impl IntoIterator<Item = (usize, f64)>) {
        for (column, value) in entries {
            if value != 0.0 {
                self.columns.push(column as u32);
                self.values.push(value);
            }
        }
        self.starts.push(self.columns.len() as u32);
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// True where no entry differs from zero.
    pub fn is_zero(&self) -> bool {
        self.values.is_empty()
    }

    /// The entries of row i.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[i] as usize..self.starts[i + 1] as usize;
        self.columns[range.clone()].iter().zip(&self.values[range]).map(|(&j, &x)| (j as usize, x))
    }

    /// Row i times x.
    pub fn dot(&self, i: usize, x: &[f64]) -> f64 {
        let range = self.starts[i] as usize..self.starts[i + 1] as usize;
        self.columns[range.clone()].iter().zip(&self.values[range]).map(|(&j, a)| a * x[j as usize]).sum()
    }

    /// `y += factor · A x`
    pub fn add_product(&self, factor: f64, x: &[f64], y: &mut [f64]) {
        for (i, y) in y.iter_mut().enumerate().take(self.rows()) {
            *y += factor * self.dot(i, x);
        }
    }

    /// `y += Aᵀ x`
    pub fn add_transposed_product(&self, x: &[f64], y: &mut [f64]) {
        for (i, &x) in x.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            self.row(i).for_each(|(j, a)| y[j] += a * x);
        }
    }

    /// The transposed matrix; `columns` is the number of columns of this one.
    #[must_use]
    pub fn transposed(&self, columns: usize) -> Self {
        let mut entries: Vec<(usize, usize, f64)> = (0..self.rows()).flat_map(|i| self.row(i).map(move |(j, x)| (j, i, x))).collect();
        entries.sort_by_key(|&(j, i, _)| (j, i));
        let mut m = Self::new();
        let mut rest = entries.into_iter().peekable();
        for j in 0..columns {
            let row: Vec<(usize, f64)> = std::iter::from_fn(|| rest.next_if(|e| e.0 == j)).map(|(_, i, x)| (i, x)).collect();
            m.push_row(row);
        }
        m
    }
}
