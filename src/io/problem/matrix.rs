//! Matrices on their way from a file to the storage that a problem wants.

use super::tokens::{Fault, Tokens};
use crate::algebra::blocks::BlockRows;
use crate::algebra::matrix::Matrix;
use sprs::{CsMat, TriMat};

/// Most numbers of a matrix in blocks (1 GiB): a few entries in huge blocks must not ask for more.
const STORED: usize = 1 << 27;

/// What a file says of a matrix; entries of one place add.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Row, column, value.
    pub(crate) list: Vec<(usize, usize, f64)>,
    /// Stored in full by its file.
    pub(crate) dense: bool,
    /// First row of each block and the order, where the file cuts it into blocks.
    pub(crate) cuts: Option<Vec<usize>>,
}

impl Entries {
    pub(crate) fn sparse(&self) -> CsMat<f64> {
        let mut a = TriMat::with_capacity((self.rows, self.columns), self.list.len());
        self.list.iter().filter(|(.., x)| *x != 0.0).for_each(|&(i, j, x)| a.add_triplet(i, j, x));
        a.to_csc()
    }

    /// Dense as the file has it, else sparse rows.
    pub(crate) fn matrix(&self) -> Matrix {
        if !self.dense {
            return Matrix::Sparse(self.sparse().to_csr());
        }
        let mut values = vec![0.0; self.rows * self.columns];
        self.list.iter().for_each(|&(i, j, x)| values[i * self.columns + j] += x);
        Matrix::dense(self.rows, self.columns, values)
    }

    /// In blocks, cut at `offsets`; what is wrong where that would take too much memory.
    pub(crate) fn blocks(&self, offsets: &[usize]) -> Result<BlockRows, String> {
        let owner = |row: usize| offsets.partition_point(|&first| first <= row) - 1;
        let mut pairs: Vec<(usize, usize)> = self.list.iter().filter(|(.., x)| *x != 0.0).map(|&(i, j, _)| (owner(i), owner(j))).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let height = |i: usize| offsets[i + 1] - offsets[i];
        let stored = pairs.iter().try_fold(0usize, |sum, &(i, j)| sum.checked_add(height(i).checked_mul(height(j))?));
        match stored.filter(|&n| n <= STORED) {
            Some(_) => Ok(BlockRows::from_triplets(offsets, self.list.iter().copied().filter(|(.., x)| *x != 0.0))),
            None => Err(format!("its blocks would hold more than {STORED} numbers; cut it into smaller ones")),
        }
    }
}

/// `storage rows cols` and what follows by storage.
pub(super) fn read(t: &mut Tokens, what: &str) -> Result<Entries, Fault> {
    let storage = t.one_of(&format!("the storage of {what}"), &[0, 1, 2])?;
    let rows = t.size(&format!("the number of rows of {what}"))?;
    let columns = t.size(&format!("the number of columns of {what}"))?;
    let found = Entries { rows, columns, ..Entries::default() };
    match storage {
        0 => dense(t, what, found),
        1 => blocks(t, what, found),
        _ => compressed(t, what, found),
    }
}

fn dense(t: &mut Tokens, what: &str, a: Entries) -> Result<Entries, Fault> {
    t.exactly(&format!("the number of rows of {what} again"), a.rows)?;
    t.exactly(&format!("the number of columns of {what} again"), a.columns)?;
    // both sizes are at most the length of the text: no overflow
    let values = t.columns(what, a.rows, a.columns)?;
    let list = values.into_iter().enumerate().map(|(k, x)| (k % a.rows, k / a.rows, x)).collect();
    Ok(Entries { list, dense: true, ..a })
}

/// Ascending ends of blocks, the last at `total`.
fn cuts(t: &mut Tokens, what: &str, n: usize, total: usize) -> Result<Vec<usize>, Fault> {
    let before = t.ahead();
    let mut ends = t.counts(what, n)?;
    ends.insert(0, 0);
    if ends.windows(2).all(|e| e[0] <= e[1]) && ends[n] == total {
        return Ok(ends);
    }
    Err(before.fault(format!("{what}, ascending to {total}"), format!("{:?}", &ends[1..][..n.min(8)])))
}

fn blocks(t: &mut Tokens, what: &str, mut a: Entries) -> Result<Entries, Fault> {
    let count = t.size(&format!("the number of blocks of {what}"))?;
    let high = t.size(&format!("the number of block rows of {what}"))?;
    let wide = t.size(&format!("the number of block columns of {what}"))?;
    let row_cuts = cuts(t, &format!("the ends of the block rows of {what}"), high, a.rows)?;
    let column_cuts = cuts(t, &format!("the ends of the block columns of {what}"), wide, a.columns)?;
    let pointers = t.exactly(&format!("the number of row pointers of {what}"), high + 1)?;
    t.exactly(&format!("the number of block columns indices of {what}"), count)?;
    let before = t.ahead();
    let starts = t.counts(&format!("the row pointers of {what}"), pointers)?;
    if starts[0] != 0 || starts[high] != count || starts.windows(2).any(|s| s[0] > s[1]) {
        return Err(
            before.fault(format!("row pointers of {what} that ascend from 0 to {count}"), format!("{:?}", &starts[..pointers.min(8)]))
        );
    }
    let before = t.ahead();
    let columns = t.counts(&format!("the block columns of {what}"), count)?;
    if let Some(j) = columns.iter().find(|j| **j >= wide) {
        return Err(before.fault(format!("block columns of {what} below {wide}"), j.to_string()));
    }
    for i in 0..high {
        for k in starts[i]..starts[i + 1] {
            t.exactly(&format!("the index of block {k} of {what}"), k)?;
            let (row0, column0) = (row_cuts[i], column_cuts[columns[k]]);
            let (m, n) = (row_cuts[i + 1] - row0, column_cuts[columns[k] + 1] - column0);
            let values = t.numbers(&format!("block {k} of {what}"), m * n)?;
            a.list.extend(values.into_iter().enumerate().map(|(p, x)| (row0 + p % m, column0 + p / m, x)));
        }
    }
    a.cuts = (row_cuts == column_cuts).then_some(row_cuts);
    Ok(a)
}

/// The text that CSparse prints: triplets, or column by column.
fn compressed(t: &mut Tokens, what: &str, mut a: Entries) -> Result<Entries, Fault> {
    t.count(&format!("the origin of {what}"))?;
    t.rest_of_line();
    t.rest_of_line();
    let before = t.ahead();
    let mut line = Tokens::new(t.rest_of_line());
    let described = |line: &mut Tokens| -> Option<(bool, usize)> {
        let mut first = line.next()?;
        let triplets = first == b"triplet:";
        if triplets {
            first = line.next()?;
        }
        let by = std::str::from_utf8(first).ok()?.trim_end_matches(',').split_once("-by-")?;
        let sizes: (usize, usize) = (by.0.parse().ok()?, by.1.parse().ok()?);
        line.word("nzmax:").ok()?;
        line.next()?;
        line.word("nnz:").ok()?;
        let nnz = std::str::from_utf8(line.next()?).ok()?.trim_end_matches(',').parse().ok()?;
        (sizes == (a.rows, a.columns)).then_some((triplets, nnz))
    };
    let Some((triplets, nnz)) = described(&mut line) else {
        let expected = format!("`[triplet:] {}-by-{}, nzmax: … nnz: …` of {what}", a.rows, a.columns);
        return Err(before.fault(expected, "another line"));
    };
    let mut put = |t: &Tokens, i: usize, j: usize, x: f64| {
        if i >= a.rows || j >= a.columns {
            return Err(t.fault(format!("an entry of {what} inside {} × {}", a.rows, a.columns), format!("({i}, {j})")));
        }
        a.list.push((i, j, x));
        Ok(())
    };
    if triplets {
        for k in 0..nnz {
            let (i, j) = (t.count(&format!("the row of an entry of {what}"))?, t.count(&format!("the column of an entry of {what}"))?);
            t.word(":")?;
            let x = t.number(what, k)?;
            put(t, i, j, x)?;
        }
        return Ok(a);
    }
    let mut k = 0;
    for j in 0..a.columns {
        t.word("col")?;
        t.exactly(&format!("the column of {what}"), j)?;
        t.word(":")?;
        t.word("locations")?;
        let from = t.exactly(&format!("the first location of column {j} of {what}"), k)?;
        t.word("to")?;
        // an empty column ends one before it starts, which is -1 in the first
        let before = t.ahead();
        let to: i64 = t.number(what, k)? as i64;
        let end = to.checked_add(1).and_then(|end| usize::try_from(end).ok()).filter(|&end| end >= from && end <= nnz);
        let Some(end) = end else {
            return Err(before.fault(format!("the last location of column {j} of {what}"), to.to_string()));
        };
        while k < end {
            let i = t.count(&format!("the row of an entry of {what}"))?;
            t.word(":")?;
            let x = t.number(what, k)?;
            put(t, i, j, x)?;
            k += 1;
        }
    }
    Ok(a)
}
