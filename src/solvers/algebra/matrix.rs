//! A matrix in whichever storage its owner has: dense, block rows or sparse.

use super::blocks::BlockRows;
use sprs::CsMat;

/// A real matrix.
///
/// ```
/// use drystone::algebra::matrix::Matrix;
/// let a = Matrix::dense(2, 2, vec![1.0, 2.0, 3.0, 4.0]);
/// let mut y = [0.0; 2];
/// a.multiply(&[1.0, 1.0], &mut y);
/// assert_eq!(y, [3.0, 7.0]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Matrix {
    /// Row-major.
    Dense {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
        /// `rows × columns` numbers, row by row.
        values: Vec<f64>,
    },
    /// Square, in block rows.
    Blocks(BlockRows),
    /// Compressed rows or columns.
    Sparse(CsMat<f64>),
}

impl Default for Matrix {
    fn default() -> Self {
        Self::dense(0, 0, Vec::new())
    }
}

impl Matrix {
    /// A row-major matrix; `values` holds `rows × columns` numbers. A problem whose matrix holds another number is refused where it is solved.
    pub fn dense(rows: usize, columns: usize, values: Vec<f64>) -> Self {
        Self::Dense { rows, columns, values }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Dense { rows, .. } => *rows,
            Self::Blocks(a) => a.order(),
            Self::Sparse(a) => a.rows(),
        }
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        match self {
            Self::Dense { columns, .. } => *columns,
            Self::Blocks(a) => a.order(),
            Self::Sparse(a) => a.cols(),
        }
    }

    /// The stored numbers.
    pub fn values(&self) -> &[f64] {
        match self {
            Self::Dense { values, .. } => values,
            Self::Blocks(a) => a.values(),
            Self::Sparse(a) => a.data(),
        }
    }

    /// `A x`, in a vector of its own.
    pub fn product(&self, x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.rows()];
        self.multiply(x, &mut y);
        y
    }

    /// `y = A x`
    pub fn multiply(&self, x: &[f64], y: &mut [f64]) {
        match self {
            Self::Dense { columns, values, .. } => {
                y.fill(0.0);
                if *columns > 0 {
                    let rows = values.chunks_exact(*columns);
                    rows.zip(y).for_each(|(row, y)| *y = row.iter().zip(x).map(|(a, b)| a * b).sum());
                }
            }
            Self::Blocks(a) => a.multiply(x, y),
            Self::Sparse(a) => {
                y.fill(0.0);
                a.iter().for_each(|(value, (i, j))| y[i] += value * x[j]);
            }
        }
    }

    /// Entry `(i, i)`, 0 where nothing is stored.
    pub fn diagonal(&self, i: usize) -> f64 {
        match self {
            Self::Dense { columns, values, .. } => values[i * columns + i],
            Self::Blocks(a) => {
                let block = a.offsets().partition_point(|&first| first <= i) - 1;
                let k = i - a.offsets()[block];
                a.block(block, block).map_or(0.0, |b| b[k * a.rows(block) + k])
            }
            Self::Sparse(a) => a.get(i, i).copied().unwrap_or(0.0),
        }
    }

    /// The matrix in full, row-major.
    pub fn to_dense(&self) -> Vec<f64> {
        match self {
            Self::Dense { values, .. } => values.clone(),
            Self::Blocks(a) => a.to_dense(),
            Self::Sparse(a) => {
                let mut full = vec![0.0; a.rows() * a.cols()];
                a.iter().for_each(|(x, (i, j))| full[i * a.cols() + j] += x);
                full
            }
        }
    }
}
