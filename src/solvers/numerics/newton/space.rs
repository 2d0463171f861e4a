//! Body space: `M + Hᵀ K H` with the velocities as unknowns, K one small block per block of rows.
//!
//! ```text
//! (W + D)⁻¹ = D⁻¹ − D⁻¹ H (M + Hᵀ D⁻¹ H)⁻¹ Hᵀ D⁻¹            Sherman, Morrison, Woodbury: W = H M⁻¹ Hᵀ is never formed
//! ```
//!
//! Six unknowns a body instead of three a contact, and indifferent to the rank of W: redundant contacts cost a product each.
//! Velocities that the same rows touch are one node of the sparse factorisation.

use crate::algebra::dense::dot;
use crate::algebra::lanes::Lanes;
use crate::algebra::{multifrontal::BlockGeneral, sparse::BlockSymmetric};

/// A matrix of blocks, one block row a node.
pub(in crate::numerics) trait BodyMatrix: Default {
    /// Whether blocks above the diagonal are stored too.
    const BOTH: bool;
    fn set_pattern(&mut self, sizes: &[u32], pairs: &[(u32, u32)]);
    fn add(&mut self, i: usize, j: usize, block: &[f64]);
    /// False where a pivot vanishes.
    fn factorise(&mut self) -> bool;
    fn solve(&mut self, x: &mut [f64]);
}

macro_rules! body_matrix {
    ($type:ty, $both:literal, $solve:ident) => {
        impl BodyMatrix for $type {
            const BOTH: bool = $both;
            fn set_pattern(&mut self, sizes: &[u32], pairs: &[(u32, u32)]) {
                self.set_pattern(sizes, pairs);
            }
            fn add(&mut self, i: usize, j: usize, block: &[f64]) {
                self.add(i, j, block);
            }
            fn factorise(&mut self) -> bool {
                self.factorise()
            }
            fn solve(&mut self, x: &mut [f64]) {
                self.$solve(x);
            }
        }
    };
}

body_matrix!(BlockSymmetric, false, solve_factorised);
body_matrix!(BlockGeneral, true, solve);

/// The velocities that rows reach, by nodes, with M and H on them.
#[derive(Debug, Default)]
pub(in crate::numerics) struct BodySpace {
    sizes: Vec<u32>,
    /// first unknown of each node, then their number
    first: Vec<usize>,
    pairs: Vec<(u32, u32)>,
    /// M within a node, row-major one after the other, and between nodes of one unknown
    mass_at: Vec<usize>,
    mass: Vec<f64>,
    couplings: Vec<(u32, u32, f64)>,
    /// first row of each block, then their number
    offsets: Vec<usize>,
    /// for each block the range of its pieces; a piece is a node and its part of H, `rows × size`, row-major in `values`
    piece_starts: Vec<usize>,
    pieces: Vec<(u32, usize)>,
    values: Vec<f64>,
    /// K of a block, `K H` of a piece, and `Hᵀ K H` of the blocks that touch the same nodes, pair of pieces by pair
    k: Vec<f64>,
    image: Vec<f64>,
    products: Vec<f64>,
}

impl BodySpace {
    /// Empties everything, keeping the memory.
    pub(in crate::numerics) fn clear(&mut self) {
        let Self { sizes, first, pairs, mass_at, mass, couplings, offsets, piece_starts, pieces, values, .. } = self;
        for starts in [first, offsets, piece_starts] {
            starts.clear();
            starts.push(0);
        }
        sizes.clear();
        pairs.clear();
        mass_at.clear();
        couplings.clear();
        pieces.clear();
        mass.clear();
        values.clear();
    }

    /// Appends a node of so many unknowns; its M, row-major, is zero and to be filled.
    pub(in crate::numerics) fn push_node(&mut self, size: usize) -> &mut [f64] {
        self.sizes.push(size as u32);
        self.first.push(self.order() + size);
        let at = self.mass.len();
        self.mass_at.push(at);
        self.mass.resize(at + size * size, 0.0);
        &mut self.mass[at..]
    }

    /// The number at `(i, j)` of the M of a node.
    pub(in crate::numerics) fn mass_mut(&mut self, node: usize, i: usize, j: usize) -> &mut f64 {
        &mut self.mass[self.mass_at[node] + i * self.sizes[node] as usize + j]
    }

    /// Adds to M between two nodes of one unknown each.
    pub(in crate::numerics) fn couple(&mut self, a: u32, b: u32, m: f64) {
        self.couplings.push((a, b, m));
        self.pairs.push((a.max(b), a.min(b)));
    }

    /// Appends a block of so many rows that touches these nodes, in their order and each once; its H is zero.
    pub(in crate::numerics) fn push_block(&mut self, rows: usize, nodes: &[u32]) {
        for (k, &node) in nodes.iter().enumerate() {
            self.pieces.push((node, self.values.len()));
            self.values.resize(self.values.len() + rows * self.sizes[node as usize] as usize, 0.0);
            self.pairs.extend(nodes[..k].iter().map(|&other| (node, other)));
        }
        self.offsets.push(self.rows() + rows);
        self.piece_starts.push(self.pieces.len());
    }

    /// The H of the k-th node of the last block, row by row.
    pub(in crate::numerics) fn last_piece(&mut self, k: usize) -> &mut [f64] {
        let from = self.piece_starts[self.piece_starts.len() - 2] + k;
        let to = self.pieces.get(from + 1).map_or(self.values.len(), |piece| piece.1);
        &mut self.values[self.pieces[from].1..to]
    }

    /// To be called once all nodes and blocks are there.
    pub(in crate::numerics) fn close(&mut self) {
        self.pairs.sort_unstable();
        self.pairs.dedup();
    }

    /// Whether all masses are.
    pub(in crate::numerics) fn is_finite(&self) -> bool {
        self.mass.iter().all(|x| x.is_finite())
    }

    /// Number of unknowns.
    pub(in crate::numerics) fn order(&self) -> usize {
        self.first.last().copied().unwrap_or(0)
    }

    /// Number of rows.
    pub(in crate::numerics) fn rows(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// The unknowns of a node.
    pub(in crate::numerics) fn unknowns(&self, node: usize) -> std::ops::Range<usize> {
        self.first[node]..self.first[node + 1]
    }

    /// The rows of every block.
    pub(in crate::numerics) fn blocks(&self) -> impl ExactSizeIterator<Item = std::ops::Range<usize>> {
        self.offsets.windows(2).map(|o| o[0]..o[1])
    }

    /// Diagonal of M.
    pub(in crate::numerics) fn diagonal(&self) -> impl Iterator<Item = f64> {
        let nodes = self.mass_at.iter().zip(&self.sizes);
        nodes.flat_map(move |(&at, &n)| (0..n as usize).map(move |k| self.mass[at + k * (n as usize + 1)]))
    }

    /// Pieces `(unknowns, rows of H)` of block a.
    fn pieces(&self, a: usize) -> impl Iterator<Item = (std::ops::Range<usize>, &[f64])> {
        let height = self.offsets[a + 1] - self.offsets[a];
        self.pieces[self.piece_starts[a]..self.piece_starts[a + 1]].iter().map(move |&(node, at)| {
            let unknowns = self.unknowns(node as usize);
            let size = height * unknowns.len();
            (unknowns, &self.values[at..at + size])
        })
    }

    /// `y += Hᵀ r`
    pub(in crate::numerics) fn add_impulses(&self, r: &[f64], y: &mut [f64]) {
        Lanes::best().run(
            #[inline(always)]
            || {
                for (a, rows) in self.blocks().enumerate() {
                    let r = &r[rows];
                    if r.iter().all(|r| *r == 0.0) {
                        continue;
                    }
                    for (unknowns, h) in self.pieces(a) {
                        add_rows(r.iter().copied(), h, &mut y[unknowns]);
                    }
                }
            },
        );
    }

    /// `u += H v`
    pub(in crate::numerics) fn add_rates(&self, v: &[f64], u: &mut [f64]) {
        Lanes::best().run(
            #[inline(always)]
            || {
                for (a, rows) in self.blocks().enumerate() {
                    let u = &mut u[rows];
                    for (unknowns, h) in self.pieces(a) {
                        add_products(h, &v[unknowns], u);
                    }
                }
            },
        );
    }

    /// `y = M v`
    pub(in crate::numerics) fn mass_times(&self, v: &[f64], y: &mut [f64]) {
        for (node, &at) in self.mass_at.iter().enumerate() {
            let unknowns = self.unknowns(node);
            let v = &v[unknowns.clone()];
            for (m, y) in self.mass[at..].chunks_exact(v.len()).zip(&mut y[unknowns]) {
                *y = dot(m, v);
            }
        }
        for &(a, b, m) in &self.couplings {
            y[self.first[a as usize]] += m * v[self.first[b as usize]];
        }
    }

    /// Sets `matrix` to `M + Hᵀ K H`; `stiffness(a, K)` fills the row-major K of block a (zero before) and says whether it is not zero.
    pub(in crate::numerics) fn assemble<T: BodyMatrix>(&mut self, matrix: &mut T, mut stiffness: impl FnMut(usize, &mut [f64]) -> bool) {
        let Self { sizes, mass_at, mass, couplings, offsets, piece_starts, pieces, values, k, image, products, .. } = self;
        matrix.set_pattern(sizes, &self.pairs);
        for (node, (&at, &n)) in mass_at.iter().zip(sizes.iter()).enumerate() {
            matrix.add(node, node, &mass[at..at + (n * n) as usize]);
        }
        for &(a, b, m) in couplings.iter().filter(|(a, b, _)| T::BOTH || a > b) {
            matrix.add(a as usize, b as usize, &[m]);
        }
        let size = |piece: &(u32, usize)| sizes[piece.0 as usize] as usize;
        // blocks that touch the same nodes are added up first
        let mut a = 0;
        while a + 1 < offsets.len() {
            let nodes = &pieces[piece_starts[a]..piece_starts[a + 1]];
            products.clear();
            while let (Some(&[row, next]), Some(&[from, to])) = (offsets[a..].first_chunk(), piece_starts[a..].first_chunk()) {
                let own = &pieces[from..to];
                if !own.iter().map(|piece| piece.0).eq(nodes.iter().map(|piece| piece.0)) {
                    break;
                }
                let height = next - row;
                k.clear();
                k.resize(height * height, 0.0);
                if height > 0 && stiffness(a, k) {
                    if height == 3 && own.iter().all(|piece| size(piece) == 6) {
                        a += 1;
                        Lanes::best().run(
                            #[inline(always)]
                            || add_contact(T::BOTH, k, own, values, products),
                        );
                        continue;
                    }
                    let mut end = 0;
                    for (j, right) in own.iter().enumerate() {
                        let n = size(right);
                        image.clear();
                        image.resize(height * n, 0.0);
                        for (image, k) in image.chunks_exact_mut(n).zip(k.chunks_exact(height)) {
                            add_rows(k.iter().copied(), &values[right.1..], image);
                        }
                        for left in if T::BOTH { own } else { &own[j..] } {
                            let m = size(left);
                            let start = end;
                            end += m * n;
                            products.resize(end.max(products.len()), 0.0);
                            let h = &values[left.1..left.1 + height * m];
                            for (i, out) in products[start..end].chunks_exact_mut(n).enumerate() {
                                add_rows(h[i..].iter().step_by(m).copied(), image, out);
                            }
                        }
                    }
                }
                a += 1;
            }
            let mut rest = &products[..];
            for (j, right) in nodes.iter().enumerate() {
                for left in if T::BOTH { nodes } else { &nodes[j..] } {
                    let Some((product, after)) = rest.split_at_checked(size(left) * size(right)) else { break };
                    matrix.add(left.0 as usize, right.0 as usize, product);
                    rest = after;
                }
            }
        }
    }
}

/// Adds `Hᵀ K H` of three rows on bodies.
#[inline(always)]
fn add_contact(both: bool, k: &[f64], own: &[(u32, usize)], values: &[f64], products: &mut Vec<f64>) {
    let mut end = 0;
    for (j, right) in own.iter().enumerate() {
        let right = &values[right.1..right.1 + 18].as_chunks::<6>().0;
        let mut image = [[0.0; 6]; 3];
        for (image, k) in image.iter_mut().zip(k.as_chunks::<3>().0) {
            for i in 0..6 {
                image[i] = k[0] * right[0][i] + k[1] * right[1][i] + k[2] * right[2][i];
            }
        }
        for left in if both { own } else { &own[j..] } {
            let left = &values[left.1..left.1 + 18].as_chunks::<6>().0;
            let start = end;
            end += 36;
            products.resize(end.max(products.len()), 0.0);
            for (i, out) in products[start..end].as_chunks_mut::<6>().0.iter_mut().enumerate() {
                for c in 0..6 {
                    out[c] = out[c] + left[0][i] * image[0][c] + left[1][i] * image[1][c] + left[2][i] * image[2][c];
                }
            }
        }
    }
}

/// `u += H v`
#[inline(always)]
fn add_products(h: &[f64], v: &[f64], u: &mut [f64]) {
    if let Some(v) = v.as_array::<6>() {
        for (h, u) in h.as_chunks::<6>().0.iter().zip(u) {
            *u += dot(h, v);
        }
        return;
    }
    for (h, u) in h.chunks_exact(v.len()).zip(u) {
        *u += dot(h, v);
    }
}

/// `out += Σ c_k row_k`
#[inline(always)]
fn add_rows(c: impl Iterator<Item = f64>, rows: &[f64], out: &mut [f64]) {
    if let Some(out) = out.as_mut_array::<6>() {
        // bodies, in registers
        let mut sum = *out;
        for (c, row) in c.zip(rows.as_chunks::<6>().0) {
            (0..6).for_each(|i| sum[i] += c * row[i]);
        }
        *out = sum;
        return;
    }
    for (c, row) in c.zip(rows.chunks_exact(out.len())) {
        out.iter_mut().zip(row).for_each(|(x, row)| *x += c * row);
    }
}
