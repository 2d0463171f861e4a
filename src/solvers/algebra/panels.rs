//! Kernels of dense factorisations on column-major panels.
//!
//! ```text
//! c_ij ← c_ij − a_i0 b_j0 − a_i1 b_j1 − …        one chain per element, k ascending, product and difference rounded in turn
//! ```
//!
//! Tiles keep the elements of a few rows and columns in registers; since no element's chain depends on the tile it falls into, every
//! shape of tile and every width of registers gives the same bits ([`super::lanes`]).

use super::lanes::{Lanes, Simd, WithSimd};
use std::ops::Range;

/// Coefficients `b_jk` at `values[j · column + k · depth]`.
#[derive(Clone, Copy)]
pub(super) struct Factors<'a> {
    pub(super) values: &'a [f64],
    pub(super) column: usize,
    pub(super) depth: usize,
}

/// A column-major view: leading dimension and number of rows.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub(super) stride: usize,
    pub(super) rows: usize,
}

/// Columns of A that are subtracted before the elements of C go back to memory.
const DEPTH: usize = 64;
/// Columns of C that are visited together.
const COLUMNS: usize = 8;
/// Room for their coefficients, which the caller keeps: small fronts would spend their time on its zeros.
pub(super) type Aside = [f64; DEPTH * COLUMNS];
/// The same, empty.
pub(super) const ASIDE: Aside = [0.0; DEPTH * COLUMNS];
/// Multiplications of a part of a factorisation from which threads share its columns.
pub(super) const SHARED: usize = 1_000_000;

/// Works on columns of `rows` numbers, with the number of the first of them, by as many threads as `depth` multiplications for each number are worth.
pub(super) fn share(columns: &mut [f64], first: usize, rows: usize, depth: usize, work: &(impl Fn(&mut [f64], usize) + Sync)) {
    let count = columns.len() / rows.max(1);
    if count < 16 || columns.len() * depth < SHARED {
        return work(columns, first);
    }
    let half = count / 16 * 8;
    let (left, right) = columns.split_at_mut(half * rows);
    rayon::join(|| share(left, first, rows, depth, work), || share(right, first + half, rows, depth, work));
}

/// `C −= A Bᵀ` over `depth` columns of A.
pub(super) struct Subtract<'a> {
    pub(super) c: &'a mut [f64],
    pub(super) on: Extent,
    /// the rows of C that change: from `first`, or in column j from j on, what is above is then left undefined
    pub(super) first: usize,
    pub(super) lower: bool,
    pub(super) columns: usize,
    pub(super) a: &'a [f64],
    /// leading dimension of A
    pub(super) stride: usize,
    pub(super) b: Coefficients<'a>,
    pub(super) depth: usize,
}

/// Where the coefficients `b_jk` are.
#[derive(Clone, Copy)]
pub(super) enum Coefficients<'a> {
    /// somewhere else
    Apart(Factors<'a>),
    /// in the rows of C from this one on
    Rows(usize),
}

impl Subtract<'_> {
    #[inline(never)]
    pub(super) fn run(self, lanes: Lanes, aside: &mut Aside) {
        if self.depth > 0 {
            lanes.run_wide(Tiled(self, aside));
        }
    }

    /// Coefficients of C columns from j on, those of one column of A side by side.
    #[inline(always)]
    fn pack<'a, const C: usize>(&self, aside: &'a mut Aside, j: usize, k: Range<usize>) -> &'a [[f64; C]] {
        let (to, _) = aside[..k.len() * C].as_chunks_mut::<C>();
        for c in 0..C {
            let (from, step) = match self.b {
                Coefficients::Apart(b) => (b.values.get((j + c) * b.column + k.start * b.depth..).unwrap_or(&[]), b.depth),
                Coefficients::Rows(row) => (&self.c[(j + c) * self.on.stride + row + k.start..], 1),
            };
            if step == 1 {
                to.iter_mut().zip(from).for_each(|(to, x)| to[c] = *x);
            } else {
                to.iter_mut().zip(from.iter().step_by(step)).for_each(|(to, x)| to[c] = *x);
            }
        }
        to
    }

    #[inline(always)]
    fn strip<S: Simd, const C: usize>(&mut self, simd: S, aside: &mut Aside, j: usize, k: Range<usize>) -> usize {
        let a = &self.a[k.start * self.stride..];
        let b = self.pack::<C>(aside, j, k);
        strip(simd, b, &mut self.c[j * self.on.stride..], self.on, if self.lower { j } else { self.first }, a, self.stride)
    }
}

struct Tiled<'a, 'b>(Subtract<'a>, &'b mut Aside);

impl WithSimd for Tiled<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self(mut on, aside) = self;
        let mut from = 0;
        while from < on.depth {
            let k = from..on.depth.min(from + DEPTH);
            let mut j = 0;
            while j < on.columns {
                let k = k.clone();
                j += match on.columns - j {
                    8.. if S::F64_LANES > 4 => on.strip::<S, 8>(simd, aside, j, k),
                    4.. => on.strip::<S, 4>(simd, aside, j, k),
                    2.. => on.strip::<S, 2>(simd, aside, j, k),
                    _ => on.strip::<S, 1>(simd, aside, j, k),
                };
            }
            from = k.end;
        }
    }
}

#[inline(always)]
fn strip<S: Simd, const C: usize>(simd: S, b: &[[f64; C]], c: &mut [f64], on: Extent, first: usize, a: &[f64], stride: usize) -> usize {
    let (mut i, lanes) = (first, S::F64_LANES);
    while i + 2 * lanes <= on.rows {
        tile::<S, 2, C>(simd, c, on.stride, i, a, stride, b);
        i += 2 * lanes;
    }
    if i + lanes <= on.rows {
        tile::<S, 1, C>(simd, c, on.stride, i, a, stride, b);
        i += lanes;
    }
    // what is left of a register: small fronts have little else
    if S::F64_LANES > 4 && i + 4 <= on.rows {
        rest::<4, C>(c, on.stride, i, a, stride, b);
        i += 4;
    }
    if i + 2 <= on.rows {
        rest::<2, C>(c, on.stride, i, a, stride, b);
        i += 2;
    }
    while i < on.rows {
        rest::<1, C>(c, on.stride, i, a, stride, b);
        i += 1;
    }
    C
}

/// The same as [`tile`] for R rows.
#[inline(always)]
fn rest<const R: usize, const C: usize>(c: &mut [f64], to: usize, i: usize, a: &[f64], from: usize, b: &[[f64; C]]) {
    let mut sums = [[0.0; R]; C];
    for (j, sum) in sums.iter_mut().enumerate() {
        sum.copy_from_slice(&c[j * to + i..][..R]);
    }
    for (k, b) in b.iter().enumerate() {
        let a = &a[k * from + i..][..R];
        for (j, sum) in sums.iter_mut().enumerate() {
            for r in 0..R {
                sum[r] -= a[r] * b[j];
            }
        }
    }
    for (j, sum) in sums.iter().enumerate() {
        c[j * to + i..][..R].copy_from_slice(sum);
    }
}

#[inline(always)]
fn tile<S: Simd, const P: usize, const C: usize>(simd: S, c: &mut [f64], to: usize, i: usize, a: &[f64], from: usize, b: &[[f64; C]]) {
    let rows = P * S::F64_LANES;
    let mut sums = [[simd.splat_f64s(0.0); P]; C];
    for j in 0..C {
        sums[j].copy_from_slice(S::as_simd_f64s(&c[j * to + i..][..rows]).0);
    }
    for (k, b) in b.iter().enumerate() {
        let a = S::as_simd_f64s(&a[k * from + i..][..rows]).0;
        for j in 0..C {
            let b = simd.splat_f64s(b[j]);
            for p in 0..P {
                sums[j][p] = simd.sub_f64s(sums[j][p], simd.mul_f64s(a[p], b));
            }
        }
    }
    for j in 0..C {
        S::as_mut_simd_f64s(&mut c[j * to + i..][..rows]).0.copy_from_slice(&sums[j]);
    }
}

/// `X ← X B⁻ᵀ` for a triangular B of `columns`; its diagonal counts as one where `unit`.
pub(super) fn solve_right(lanes: Lanes, aside: &mut Aside, x: &mut [f64], rows: usize, columns: usize, b: Factors<'_>, unit: bool) {
    let on = Extent { stride: rows, rows };
    let mut j = 0;
    while j < columns {
        let width = width(columns - j);
        let (done, rest) = x.split_at_mut(j * rows);
        let here = Factors { values: b.values.get(j * b.column..).unwrap_or(&[]), ..b };
        let b_above = Coefficients::Apart(here);
        Subtract { c: rest, on, first: 0, lower: false, columns: width, a: done, stride: rows, b: b_above, depth: j }.run(lanes, aside);
        let mut triangle = Triangle::default();
        for (c, row) in triangle.iter_mut().enumerate().take(width) {
            for (k, x) in row.iter_mut().enumerate().take(c) {
                *x = b.values[(j + c) * b.column + (j + k) * b.depth];
            }
            row[c] = if unit { 1.0 } else { 1.0 / b.values[(j + c) * (b.column + b.depth)] };
        }
        Triangular { x: rest, on, first: 0, columns: width, b: &triangle }.run(lanes);
        j += width;
    }
}

/// A small lower triangle by rows, with the inverses of its diagonal.
type Triangle = [[f64; COLUMNS]; COLUMNS];

/// Columns of a triangle that are solved at once: as many as registers are kept for, where that many are left.
#[inline(always)]
fn width(left: usize) -> usize {
    match left {
        COLUMNS.. => COLUMNS,
        4.. => 4,
        _ => left,
    }
}

/// `X ← X B⁻ᵀ` for the rows of X from `first` on and a triangle B of `columns`.
struct Triangular<'a> {
    x: &'a mut [f64],
    on: Extent,
    first: usize,
    columns: usize,
    b: &'a Triangle,
}

impl Triangular<'_> {
    #[inline(never)]
    fn run(self, lanes: Lanes) {
        lanes.run_wide(self);
    }
}

impl WithSimd for Triangular<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { x, on, first, columns, b } = self;
        let i = match columns {
            COLUMNS => registers::<S, COLUMNS>(simd, x, on, first, b),
            4 => registers::<S, 4>(simd, x, on, first, b),
            _ => first,
        };
        for (c, row) in b.iter().enumerate().take(columns) {
            let (before, column) = x.split_at_mut(c * on.stride);
            let column = &mut column[i..on.rows];
            for (before, factor) in before.chunks_exact(on.stride).zip(row) {
                column.iter_mut().zip(&before[i..]).for_each(|(x, y)| *x -= y * factor);
            }
            column.iter_mut().for_each(|x| *x *= row[c]);
        }
    }
}

/// The same, a register of rows at a time; gives the first row that fills none.
#[inline(always)]
fn registers<S: Simd, const C: usize>(simd: S, x: &mut [f64], on: Extent, first: usize, b: &Triangle) -> usize {
    let mut i = first;
    while i + S::F64_LANES <= on.rows {
        let mut solved = [simd.splat_f64s(0.0); C];
        for c in 0..C {
            let at = &mut S::as_mut_simd_f64s(&mut x[c * on.stride + i..][..S::F64_LANES]).0[0];
            let mut sum = *at;
            for k in 0..c {
                sum = simd.sub_f64s(sum, simd.mul_f64s(solved[k], simd.splat_f64s(b[c][k])));
            }
            solved[c] = simd.mul_f64s(sum, simd.splat_f64s(b[c][c]));
            *at = solved[c];
        }
        i += S::F64_LANES;
    }
    i
}

/// Cholesky factor of the first `pivots` columns of a symmetric matrix of `rows`, of which only these columns are given, below and
/// on the diagonal; false where a pivot is not positive.
pub(super) fn cholesky(lanes: Lanes, aside: &mut Aside, panel: &mut [f64], rows: usize, pivots: usize) -> bool {
    let mut j = 0;
    while j < pivots {
        let end = j + width(pivots - j);
        let (done, rest) = panel.split_at_mut(j * rows);
        if j > 0 {
            let (a, on) = (&done[j..], Extent { stride: rows, rows: rows - j });
            let b = Coefficients::Apart(Factors { values: a, column: 1, depth: rows });
            Subtract { c: &mut rest[j..], on, first: 0, lower: true, columns: end - j, a, stride: rows, b, depth: j }.run(lanes, aside);
        }
        let mut triangle = Triangle::default();
        for c in 0..end - j {
            let (before, column) = rest.split_at_mut(c * rows);
            let column = &mut column[j + c..end];
            for (k, before) in before.chunks_exact(rows).enumerate() {
                let factor = before[j + c];
                triangle[c][k] = factor;
                column.iter_mut().zip(&before[j + c..end]).for_each(|(x, y)| *x -= y * factor);
            }
            let pivot = column[0];
            if pivot.is_nan() || pivot <= 0.0 || pivot.is_infinite() {
                return false;
            }
            let root = pivot.sqrt();
            let inverse = 1.0 / root;
            column[0] = root;
            column[1..].iter_mut().for_each(|x| *x *= inverse);
            triangle[c][c] = inverse;
        }
        Triangular { x: rest, on: Extent { stride: rows, rows }, first: end, columns: end - j, b: &triangle }.run(lanes);
        j = end;
    }
    true
}

/// LU with row exchanges of a square matrix in place; `swaps[k]` took the place of row k. False where a pivot is zero or not finite.
pub(super) fn lu(lanes: Lanes, aside: &mut Aside, a: &mut [f64], swaps: &mut [u32]) -> bool {
    let n = swaps.len();
    let mut j = 0;
    // blocks of blocks: the last ones of a wide block are updated within it, all columns to the right of it at once
    while j < n {
        let end = (j + WIDE).min(n);
        let mut from = j;
        while from < end {
            let to = (from + COLUMNS).min(end);
            if !(Pivot { a, swaps, from, to }).run(lanes) {
                return false;
            }
            exchange(&mut a[j * n..from * n], n, &swaps[from..to], from);
            exchange(&mut a[to * n..end * n], n, &swaps[from..to], from);
            let (done, rest) = a.split_at_mut(to * n);
            eliminate(lanes, aside, done, &mut rest[..(end - to) * n], n, from..to);
            from = to;
        }
        exchange(&mut a[..j * n], n, &swaps[j..end], j);
        exchange(&mut a[end * n..], n, &swaps[j..end], j);
        let (done, rest) = a.split_at_mut(end * n);
        if rest.len() * (end - j) < SHARED {
            eliminate(lanes, aside, done, rest, n, j..end);
        } else {
            share(rest, end, n, end - j, &|rest, _| eliminate(lanes, &mut { ASIDE }, done, rest, n, j..end));
        }
        j = end;
    }
    true
}

/// Columns whose pivots are found before those to the right of them follow.
const WIDE: usize = DEPTH;

/// Pivots of a few columns, found and exchanged in them.
struct Pivot<'a> {
    a: &'a mut [f64],
    swaps: &'a mut [u32],
    from: usize,
    to: usize,
}

impl Pivot<'_> {
    #[inline(never)]
    fn run(self, lanes: Lanes) -> bool {
        lanes.run_wide(self)
    }
}

impl WithSimd for Pivot<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        let Self { a, swaps, from, to } = self;
        let n = swaps.len();
        for c in from..to {
            let column = &a[c * n + c..(c + 1) * n];
            let most = largest(column);
            let pivot = most.map_or(0.0, |k| column[k]);
            if pivot == 0.0 || !pivot.is_finite() {
                return false;
            }
            let other = c + most.unwrap_or(0);
            swaps[c] = other as u32;
            if other != c {
                (from..to).for_each(|k| a.swap(k * n + c, k * n + other));
            }
            let (done, rest) = a.split_at_mut((c + 1) * n);
            let column = &mut done[c * n + c + 1..];
            let inverse = 1.0 / pivot;
            column.iter_mut().for_each(|x| *x *= inverse);
            for other in rest.chunks_exact_mut(n).take(to - c - 1) {
                let factor = other[c];
                other[c + 1..].iter_mut().zip(&*column).for_each(|(x, y)| *x -= y * factor);
            }
        }
        true
    }
}

/// Place of the first number of largest size; none where one is not a number.
#[inline(always)]
fn largest(x: &[f64]) -> Option<usize> {
    let mut most = [0.0f64; 8];
    let (all, rest) = x.as_chunks::<8>();
    for x in all {
        for k in 0..8 {
            most[k] = if x[k].abs() > most[k] { x[k].abs() } else { most[k] };
        }
    }
    let most = most.iter().chain(rest).fold(0.0f64, |most, x| if x.abs() > most { x.abs() } else { most });
    x.iter().position(|x| x.abs() == most || x.is_nan()).filter(|k| !x[*k].is_nan())
}

/// Exchanges rows of whole columns, as the pivots from row `first` on were.
fn exchange(columns: &mut [f64], n: usize, swaps: &[u32], first: usize) {
    let Some(one) = swaps.iter().enumerate().position(|(k, &other)| first + k != other as usize) else { return };
    for column in columns.chunks_exact_mut(n) {
        for (k, other) in swaps.iter().enumerate().skip(one) {
            column.swap(first + k, *other as usize);
        }
    }
}

/// `U = L⁻¹ A` in the rows of the pivots, `A −= L U` in those below, for some columns to the right; at most [`DEPTH`] pivots.
fn eliminate(lanes: Lanes, aside: &mut Aside, done: &[f64], rest: &mut [f64], n: usize, pivots: Range<usize>) {
    let columns = rest.len() / n;
    let mut subtract = |c: &mut [f64], depth: Range<usize>, rows: Range<usize>| {
        let (on, a) = (Extent { stride: n, rows: rows.end }, &done[depth.start * n..]);
        let b = Coefficients::Rows(depth.start);
        Subtract { c, on, first: rows.start, lower: false, columns, a, stride: n, b, depth: depth.len() }.run(lanes, aside);
    };
    let mut j = pivots.start;
    while j < pivots.end {
        let end = (j + COLUMNS).min(pivots.end);
        for other in rest.chunks_exact_mut(n) {
            for k in j..end - 1 {
                let factor = other[k];
                other[k + 1..end].iter_mut().zip(&done[k * n + k + 1..k * n + end]).for_each(|(x, y)| *x -= y * factor);
            }
        }
        // rows of U that follow
        if end < pivots.end {
            subtract(rest, j..end, end..pivots.end);
        }
        j = end;
    }
    if pivots.end < n {
        subtract(rest, pivots.clone(), pivots.end..n);
    }
}

/// `Σ a_i b_i` in eight interleaved sums, halved in a fixed tree.
#[inline(always)]
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    for (a, b) in a.iter().zip(b) {
        for k in 0..8 {
            sums[k] += a[k] * b[k];
        }
    }
    for (k, (a, b)) in a_rest.iter().zip(b_rest).enumerate() {
        sums[k] += a * b;
    }
    ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(k: usize) -> f64 {
        (k as f64 * 0.618_033_988_749).fract() - 0.5
    }

    #[test]
    fn factors_are_those_of_the_textbook_to_the_bit_on_all_instructions() {
        for n in [1, 2, 3, 5, 8, 13, 30, 61, 150] {
            let mut full: Vec<f64> = (0..n * n).map(|k| noise(k / n) * noise(k % n) + noise(k / n + k % n)).collect();
            (0..n).for_each(|i| full[i * (n + 1)] = n as f64 + 2.0);
            // k ascending, one product and one difference at a time
            let mut textbook = full.clone();
            for j in 0..n {
                for i in j..n {
                    for k in 0..j {
                        textbook[j * n + i] -= textbook[k * n + i] * textbook[k * n + j];
                    }
                }
                let root = textbook[j * n + j].sqrt();
                let inverse = 1.0 / root;
                textbook[j * n + j] = root;
                (j + 1..n).for_each(|i| textbook[j * n + i] *= inverse);
            }
            for lanes in Lanes::ALL {
                let mut a = full.clone();
                assert!(cholesky(lanes, &mut { ASIDE }, &mut a, n, n));
                for j in 0..n {
                    for i in j..n {
                        assert_eq!(a[j * n + i].to_bits(), textbook[j * n + i].to_bits(), "{n} {i} {j} {}", lanes.name());
                    }
                }
            }
        }
    }

    #[test]
    fn lu_of_any_order_restores_the_matrix_and_has_the_same_bits_on_all_instructions() {
        for n in [1, 2, 7, 8, 9, 16, 23, 50, 150] {
            let full: Vec<f64> = (0..n * n).map(|k| noise(k * k + 3 * k)).collect();
            let run = |lanes: Lanes| {
                let (mut a, mut swaps) = (full.clone(), vec![0; n]);
                assert!(lu(lanes, &mut { ASIDE }, &mut a, &mut swaps));
                (a, swaps)
            };
            let (a, swaps) = run(Lanes::Widest);
            for narrower in [Lanes::Baseline, Lanes::Four] {
                assert!(a.iter().zip(&run(narrower).0).all(|(x, y)| x.to_bits() == y.to_bits()));
            }
            for j in 0..n {
                let mut column = full[j * n..(j + 1) * n].to_vec();
                swaps.iter().enumerate().for_each(|(k, &other)| column.swap(k, other as usize));
                for i in 0..n {
                    let l = |k: usize| if k == i { 1.0 } else { a[k * n + i] };
                    let product: f64 = (0..=i.min(j)).map(|k| l(k) * a[j * n + k]).sum();
                    assert!((product - column[i]).abs() < 1e-13, "{n} {i} {j}");
                }
            }
        }
    }
}
