//! Square matrices in block rows: one block row per interaction, blocks of any small size.

use sprs::CsMat;

/// A square matrix cut into blocks; block `(i, j)` is row-major, `rows(i) × rows(j)`. Columns are sorted within a row.
///
/// ```
/// use drystone::algebra::blocks::BlockRows;
/// // two contacts of two rows each, not coupled
/// let w = BlockRows::from_triplets(&[0, 2, 4], [(0, 0, 2.0), (1, 1, 3.0), (2, 2, 2.0), (3, 3, 3.0), (0, 1, 0.5)]);
/// let mut y = [0.0; 4];
/// w.multiply(&[1.0, 1.0, 0.0, 1.0], &mut y);
/// assert_eq!(y, [2.5, 3.0, 0.0, 3.0]);
/// assert_eq!(w.block(0, 0), Some(&[2.0, 0.5, 0.0, 3.0][..]));
/// assert_eq!(w.block(0, 1), None);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BlockRows {
    offsets: Vec<usize>,
    starts: Vec<usize>,
    columns: Vec<u32>,
    positions: Vec<usize>,
    values: Vec<f64>,
    uniform: Option<usize>,
    /// place of the diagonal block of each row, `u32::MAX` where there is none
    diagonal: Vec<u32>,
}

/// What cannot be cut into blocks.
///
/// ```
/// use drystone::algebra::blocks::{BlockFault, BlockRows};
/// assert_eq!(BlockRows::try_from_triplets(&[], []), Err(BlockFault::NoOffsets));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlockFault {
    /// Not even the order is there.
    NoOffsets,
    /// The first block begins elsewhere than at row 0.
    Start(usize),
    /// An offset below the one before.
    Offset {
        /// Its place.
        place: usize,
        /// Its value.
        found: usize,
        /// The one before.
        before: usize,
    },
    /// An entry outside the matrix.
    Entry {
        /// Its place among the entries.
        entry: usize,
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
        /// Rows of the matrix.
        order: usize,
    },
    /// More rows than block columns can count.
    Large(usize),
}

impl std::fmt::Display for BlockFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoOffsets => write!(f, "there are no offsets; the first row of each block and then the order are needed, [0] for none"),
            Self::Start(found) => write!(f, "offset 0 is {found}; blocks begin at row 0"),
            Self::Offset { place, found, before } => {
                write!(f, "offset {place} is {found}, but that before it is {before}; offsets may not fall")
            }
            Self::Entry { entry, row, column, order } => {
                write!(f, "entry {entry} is at row {row}, column {column}, but the offsets end at order {order}; both have to be below it")
            }
            Self::Large(order) => write!(f, "the order is {order}; at most {} can be counted", u32::MAX - 1),
        }
    }
}

impl std::error::Error for BlockFault {}

/// The number of blocks.
fn check_offsets(offsets: &[usize]) -> Result<usize, BlockFault> {
    let (Some(&first), Some(&order)) = (offsets.first(), offsets.last()) else { return Err(BlockFault::NoOffsets) };
    if first != 0 {
        return Err(BlockFault::Start(first));
    }
    if let Some(k) = offsets.windows(2).position(|o| o[1] < o[0]) {
        return Err(BlockFault::Offset { place: k + 1, found: offsets[k + 1], before: offsets[k] });
    }
    if order >= u32::MAX as usize { Err(BlockFault::Large(order)) } else { Ok(offsets.len() - 1) }
}

impl Default for BlockRows {
    fn default() -> Self {
        Self {
            offsets: vec![0],
            starts: vec![0],
            columns: Vec::new(),
            positions: vec![0],
            values: Vec::new(),
            uniform: None,
            diagonal: Vec::new(),
        }
    }
}

impl BlockRows {
    /// Sums entries `(row, column, value)` into blocks; `offsets` holds the first row of each block, then the order.
    ///
    /// # Panics
    ///
    /// Where `offsets` do not begin at 0 or fall, or an entry lies outside the order; [`try_from_triplets`](Self::try_from_triplets) says so in an
    /// error.
    pub fn from_triplets(offsets: &[usize], entries: impl IntoIterator<Item = (usize, usize, f64)>) -> Self {
        let n = check_offsets(offsets).unwrap_or_else(|fault| panic!("{fault}"));
        let mut owner = vec![0u32; offsets[n]];
        for i in 0..n {
            owner[offsets[i]..offsets[i + 1]].fill(i as u32);
        }
        let mut sorted: Vec<(u32, u32, u32, u32, f64)> = entries
            .into_iter()
            .map(|(r, c, x)| {
                let (i, j) = (owner[r], owner[c]);
                (i, j, (r - offsets[i as usize]) as u32, (c - offsets[j as usize]) as u32, x)
            })
            .collect();
        // stable within an entry: sums are taken in the order of the input
        sorted.sort_by_key(|&(i, j, ..)| (i, j));
        let mut a = Self { offsets: offsets.to_vec(), starts: vec![0; n + 1], ..Self::default() };
        for (i, j, r, c, x) in sorted {
            let width = a.rows(j as usize);
            if a.starts[i as usize + 1] == 0 || a.columns.last() != Some(&j) {
                a.columns.push(j);
                a.values.resize(a.values.len() + a.rows(i as usize) * width, 0.0);
                a.positions.push(a.values.len());
                a.starts[i as usize + 1] = a.columns.len();
            }
            let at = a.positions[a.columns.len() - 1];
            a.values[at + r as usize * width + c as usize] += x;
        }
        for i in 0..n {
            a.starts[i + 1] = a.starts[i + 1].max(a.starts[i]);
        }
        let sizes = offsets.windows(2).map(|o| o[1] - o[0]);
        let first = sizes.clone().next();
        a.uniform = first.filter(|&d| sizes.clone().all(|s| s == d));
        a.find_diagonal();
        a
    }

    /// As [`from_triplets`](Self::from_triplets), of numbers that nobody has checked.
    ///
    /// ```
    /// use drystone::algebra::blocks::BlockRows;
    /// assert!(BlockRows::try_from_triplets(&[0, 2], [(0, 1, 2.0)]).is_ok());
    /// let error = BlockRows::try_from_triplets(&[0, 2], [(0, 2, 2.0)]).unwrap_err();
    /// assert_eq!(error.to_string(), "entry 0 is at row 0, column 2, but the offsets end at order 2; both have to be below it");
    /// let error = BlockRows::try_from_triplets(&[0, 3, 2], []).unwrap_err();
    /// assert_eq!(error.to_string(), "offset 2 is 2, but that before it is 3; offsets may not fall");
    /// ```
    pub fn try_from_triplets(offsets: &[usize], entries: impl IntoIterator<Item = (usize, usize, f64)>) -> Result<Self, BlockFault> {
        let n = check_offsets(offsets)?;
        let order = offsets[n];
        let entries: Vec<_> = entries.into_iter().collect();
        match entries.iter().position(|(r, c, _)| *r >= order || *c >= order) {
            Some(entry) => Err(BlockFault::Entry { entry, row: entries[entry].0, column: entries[entry].1, order }),
            None => Ok(Self::from_triplets(offsets, entries)),
        }
    }

    /// Blocks that are already in order: `starts` is the first block of each row, then their number; `columns` holds the block
    /// column of each, sorted within a row; `values` all blocks one after the other, row-major.
    ///
    /// # Panics
    ///
    /// Where `offsets` do not begin at 0 or fall, or `values` are not as many as the blocks hold.
    pub fn from_packed(offsets: Vec<usize>, starts: Vec<usize>, columns: Vec<u32>, values: Vec<f64>) -> Self {
        let n = check_offsets(&offsets).unwrap_or_else(|fault| panic!("{fault}"));
        let mut a = Self { offsets, starts, columns, values, ..Self::default() };
        a.positions.reserve(a.columns.len());
        let mut at = 0;
        for i in 0..n {
            for k in a.starts[i]..a.starts[i + 1] {
                at += a.rows(i) * a.rows(a.columns[k] as usize);
                a.positions.push(at);
            }
        }
        assert!(a.values.len() == at, "the blocks hold {at} numbers, not {}", a.values.len());
        let sizes = a.offsets.windows(2).map(|o| o[1] - o[0]);
        a.uniform = sizes.clone().next().filter(|&d| sizes.clone().all(|s| s == d));
        a.find_diagonal();
        a
    }

    /// All blocks, zero or not: `values` holds them one after the other, row-major, block row by block row.
    ///
    /// # Panics
    ///
    /// As [`from_packed`](Self::from_packed).
    pub fn full(offsets: Vec<usize>, values: Vec<f64>) -> Self {
        let n = offsets.len().saturating_sub(1);
        Self::from_packed(offsets, (0..=n).map(|i| i * n).collect(), (0..n).flat_map(|_| 0..n as u32).collect(), values)
    }

    /// Takes over the numbers of a dense row-major matrix where blocks are stored; true where one has changed.
    pub fn assign_dense(&mut self, a: &[f64]) -> bool {
        let (n, mut changed) = (self.order(), false);
        for i in 0..self.block_count() {
            for k in self.starts[i]..self.starts[i + 1] {
                let (rows, columns) = (self.range(i), self.range(self.columns[k] as usize));
                let block = &mut self.values[self.positions[k]..self.positions[k + 1]];
                for (row, out) in rows.zip(block.chunks_exact_mut(columns.len().max(1))) {
                    let new = &a[row * n..][columns.clone()];
                    changed |= out != new;
                    out.copy_from_slice(new);
                }
            }
        }
        changed
    }

    fn find_diagonal(&mut self) {
        let place = |i: usize| self.columns(i).binary_search(&(i as u32)).map_or(u32::MAX, |k| (self.starts[i] + k) as u32);
        self.diagonal = (0..self.block_count()).map(place).collect();
    }

    /// A dense row-major matrix, cut at `offsets`; blocks of zeros are dropped.
    ///
    /// # Panics
    ///
    /// Where `a` does not hold n × n numbers, n being the last of the `offsets`.
    pub fn from_dense(offsets: &[usize], a: &[f64]) -> Self {
        let n = offsets.last().copied().unwrap_or(0);
        assert!(a.len() == n * n, "a dense matrix of order {n} holds {} numbers, not {}", n * n, a.len());
        Self::from_triplets(offsets, (0..n * n).filter(|&k| a[k] != 0.0).map(|k| (k / n, k % n, a[k])))
    }

    /// A sparse matrix, cut at `offsets`.
    pub fn from_sparse(offsets: &[usize], a: &CsMat<f64>) -> Self {
        Self::from_triplets(offsets, a.iter().map(|(x, (i, j))| (i, j, *x)))
    }

    /// Number of scalar rows.
    pub fn order(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// Number of block rows.
    pub fn block_count(&self) -> usize {
        self.offsets.len() - 1
    }

    /// First row of each block, then the order.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Rows of block i.
    pub fn rows(&self, i: usize) -> usize {
        self.offsets[i + 1] - self.offsets[i]
    }

    /// The common size of all blocks, where there is one.
    pub fn uniform(&self) -> Option<usize> {
        self.uniform
    }

    /// Pairs of different blocks that are coupled one way or the other: `row > column`, sorted, each once.
    pub fn couplings(&self) -> Vec<(u32, u32)> {
        let (mut pairs, mut alone) = (Vec::with_capacity(self.columns.len() / 2), Vec::new());
        for i in 0..self.block_count() as u32 {
            let columns = self.columns(i as usize);
            let below = columns.partition_point(|&j| j < i);
            pairs.extend(columns[..below].iter().map(|&j| (i, j)));
            let upper = columns[below..].iter().filter(|&&j| j > i && self.columns(j as usize).binary_search(&i).is_err());
            alone.extend(upper.map(|&j| (j, i)));
        }
        if !alone.is_empty() {
            pairs.append(&mut alone);
            pairs.sort_unstable();
        }
        pairs
    }

    /// Scalar range of block i.
    pub fn range(&self, i: usize) -> std::ops::Range<usize> {
        self.offsets[i]..self.offsets[i + 1]
    }

    /// Block columns and blocks of block row i.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, &[f64])> {
        (self.starts[i]..self.starts[i + 1]).map(|k| (self.columns[k] as usize, &self.values[self.positions[k]..self.positions[k + 1]]))
    }

    /// Block columns of block row i.
    pub fn columns(&self, i: usize) -> &[u32] {
        &self.columns[self.starts[i]..self.starts[i + 1]]
    }

    /// Block columns of row i and its blocks, one after the other (all of one size where [`uniform`](Self::uniform)).
    pub fn packed_row(&self, i: usize) -> (&[u32], &[f64]) {
        let (from, to) = (self.starts[i], self.starts[i + 1]);
        (&self.columns[from..to], &self.values[self.positions[from]..self.positions[to]])
    }

    /// Block `(i, j)`, `None` where nothing is stored.
    pub fn block(&self, i: usize, j: usize) -> Option<&[f64]> {
        let k = match i == j {
            true => self.diagonal.get(i).filter(|k| **k != u32::MAX).map(|k| *k as usize)?,
            false => self.starts[i] + self.columns(i).binary_search(&(j as u32)).ok()?,
        };
        Some(&self.values[self.positions[k]..self.positions[k + 1]])
    }

    /// All numbers, to scale or to check them; the pattern stands.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All numbers, to change them; the pattern stands.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// `y = A x`
    pub fn multiply(&self, x: &[f64], y: &mut [f64]) {
        match self.uniform {
            Some(1) => self.multiply_uniform::<1>(x, y),
            Some(2) => self.multiply_uniform::<2>(x, y),
            Some(3) => self.multiply_uniform::<3>(x, y),
            Some(5) => self.multiply_uniform::<5>(x, y),
            _ => {
                for i in 0..self.block_count() {
                    let range = self.range(i);
                    y[range.clone()].fill(0.0);
                    self.add_row_product(i, x, &mut y[range]);
                }
            }
        }
    }

    fn multiply_uniform<const D: usize>(&self, x: &[f64], y: &mut [f64]) {
        let (x, _) = x.as_chunks::<D>();
        let (y, _) = y.as_chunks_mut::<D>();
        for (i, y) in y.iter_mut().enumerate() {
            let (columns, values) = self.packed_row(i);
            *y = [0.0; D];
            for (&j, block) in columns.iter().zip(values.chunks_exact(D * D)) {
                let x = &x[j as usize];
                for (row, y) in block.as_chunks::<D>().0.iter().zip(y.iter_mut()) {
                    *y += row.iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
                }
            }
        }
    }

    /// `y += A_i x` for one block row.
    pub fn add_row_product(&self, i: usize, x: &[f64], y: &mut [f64]) {
        for (j, block) in self.row(i) {
            let x = &x[self.range(j)];
            for (row, y) in block.chunks_exact(x.len()).zip(y.iter_mut()) {
                *y += row.iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
            }
        }
    }

    /// The matrix in full, row-major.
    pub fn to_dense(&self) -> Vec<f64> {
        let n = self.order();
        let mut a = vec![0.0; n * n];
        for i in 0..self.block_count() {
            for (j, block) in self.row(i) {
                for (r, row) in block.chunks_exact(self.rows(j)).enumerate() {
                    let at = (self.offsets[i] + r) * n + self.offsets[j];
                    a[at..at + row.len()].copy_from_slice(row);
                }
            }
        }
        a
    }

    /// `max |A − Aᵀ| / max |A|` over the stored entries.
    pub fn asymmetry(&self) -> f64 {
        let largest = self.values.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let mut worst = 0.0f64;
        for i in 0..self.block_count() {
            for (j, block) in self.row(i) {
                let (rows, columns) = (self.rows(i), self.rows(j));
                let mirror = self.block(j, i);
                if j < i && mirror.is_some() {
                    // seen from the other side
                    continue;
                }
                for r in 0..rows {
                    for c in 0..columns {
                        let other = mirror.map_or(0.0, |m| m[c * rows + r]);
                        worst = worst.max((block[r * columns + c] - other).abs());
                    }
                }
            }
        }
        if largest > 0.0 { worst / largest } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_cut_into_blocks_is_named() {
        let fault = |offsets: &[usize], entry| BlockRows::try_from_triplets(offsets, [entry]).map_err(|e| e.to_string());
        assert!(fault(&[0, 2, 2], (0, 1, 1.0)).is_ok());
        for (offsets, row, said) in
            [(&[][..], 0, "no offsets"), (&[1, 2], 0, "offset 0 is 1"), (&[0, 3, 2], 0, "offset 2 is 2"), (&[0, 2], 2, "row 2")]
        {
            assert!(fault(offsets, (row, 0, 1.0)).is_err_and(|e| e.contains(said)), "{offsets:?}");
        }
    }

    #[test]
    #[should_panic(expected = "the blocks hold 9 numbers, not 1")]
    fn blocks_of_too_few_numbers_are_none() {
        BlockRows::full(vec![0, 3], vec![1.0]);
    }

    #[test]
    #[should_panic(expected = "there are no offsets")]
    fn blocks_without_offsets_are_none() {
        BlockRows::full(Vec::new(), Vec::new());
    }

    #[test]
    fn products_agree_with_the_dense_matrix_for_every_size_of_block() {
        for offsets in [vec![0, 3, 6, 9], vec![0, 1, 4, 9], vec![0, 5, 10], vec![0, 1, 2, 3], vec![0, 2, 4], vec![0]] {
            let n = *offsets.last().expect("an order");
            let dense: Vec<f64> = (0..n * n).map(|k| if (k * 7) % 5 < 3 { (k as f64).sin() } else { 0.0 }).collect();
            let a = BlockRows::from_dense(&offsets, &dense);
            assert_eq!(a.to_dense(), dense);
            let packed = BlockRows::from_packed(a.offsets.clone(), a.starts.clone(), a.columns.clone(), a.values.clone());
            assert_eq!(packed, a);
            let x: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
            let mut y = vec![1.0; n];
            a.multiply(&x, &mut y);
            for i in 0..n {
                let sum: f64 = (0..n).map(|j| dense[i * n + j] * x[j]).sum();
                assert!((sum - y[i]).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn entries_of_one_place_add_and_empty_rows_are_legal() {
        let a = BlockRows::from_triplets(&[0, 1, 2, 3], [(2, 0, 1.0), (0, 0, 1.0), (2, 0, 2.0)]);
        assert_eq!(a.to_dense(), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0]);
        assert_eq!(a.asymmetry(), 1.0);
    }
}
