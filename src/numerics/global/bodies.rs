//! Body space: `M + H K Hᵀ` with the velocities as unknowns, K one small block per contact.
//!
//! ```text
//! (W + D)⁻¹ = D⁻¹ − D⁻¹ Hᵀ (M + H D⁻¹ Hᵀ)⁻¹ H D⁻¹            Sherman, Morrison, Woodbury: W is never formed
//! ```
//!
//! Six unknowns a body instead of three a contact, and indifferent to the rank of W: redundant contacts cost a product each.
//! Velocities that the same contacts touch are one node of the sparse factorisation.

use super::mass::SMALL;
use super::reduction::{Prepared, column};
use crate::algebra::multifrontal::BlockGeneral;

/// The velocities that contacts reach, reordered by nodes, with M and H on them and a factorisation of `M + H K Hᵀ`.
#[derive(Debug, Default)]
pub(super) struct BodySpace {
    /// velocity of each unknown
    pub(super) dofs: Vec<u32>,
    sizes: Vec<u32>,
    first: Vec<usize>,
    pairs: Vec<(u32, u32)>,
    /// M within a node, row-major one after the other, and between the nodes of a large component
    mass_at: Vec<usize>,
    mass: Vec<f64>,
    couplings: Vec<(u32, u32, f64)>,
    /// for each block the range of its pieces; a piece is a node and its rows of H, `size × rows`, row-major in `values`
    piece_starts: Vec<usize>,
    pieces: Vec<(u32, usize)>,
    values: Vec<f64>,
    offsets: Vec<usize>,
    matrix: BlockGeneral,
    left: Vec<f64>,
    product: Vec<f64>,
}

const NONE: u32 = u32::MAX;

impl BodySpace {
    pub(super) fn new(p: &Prepared) -> Self {
        let dofs = p.problem.f.len();
        let blocks = p.problem.sets.len();
        let offsets = &p.problem.offsets;
        // the blocks that touch each velocity
        let mut touching: Vec<Vec<u32>> = vec![Vec::new(); dofs];
        for a in 0..blocks {
            for row in offsets[a]..offsets[a + 1] {
                for (k, h) in column(&p.columns, row) {
                    if h != 0.0 && touching[k].last() != Some(&(a as u32)) {
                        touching[k].push(a as u32);
                    }
                }
            }
        }
        let mut node_of = vec![NONE; dofs];
        let mut nodes: Vec<Vec<u32>> = Vec::new();
        let mut alone: Vec<u32> = Vec::new();
        for members in p.factors.components() {
            if members.iter().all(|&k| touching[k as usize].is_empty()) {
                continue;
            }
            match members.len() {
                1 => alone.push(members[0]),
                2..=SMALL => nodes.push(members.to_vec()),
                _ => nodes.extend(members.iter().map(|&k| vec![k])),
            }
        }
        alone.sort_by(|&a, &b| touching[a as usize].cmp(&touching[b as usize]).then(a.cmp(&b)));
        for k in alone {
            match nodes.last_mut() {
                Some(node) if node.len() < SMALL && touching[node[0] as usize] == touching[k as usize] => node.push(k),
                _ => nodes.push(vec![k]),
            }
        }
        // by the first velocity: neighbours in the file stay neighbours
        nodes.sort_by_key(|node| node[0]);
        let mut space = Self { offsets: offsets.clone(), first: vec![0], piece_starts: vec![0], ..Self::default() };
        let mut place = vec![0; dofs];
        for (i, node) in nodes.iter().enumerate() {
            for &k in node {
                node_of[k as usize] = i as u32;
                place[k as usize] = space.dofs.len() - space.first[i];
                space.dofs.push(k);
            }
            space.sizes.push(node.len() as u32);
            space.first.push(space.dofs.len());
            space.mass_at.push(space.mass.len());
            space.mass.resize(space.mass.len() + node.len() * node.len(), 0.0);
        }
        for (&m, (i, j)) in p.problem.mass.iter().filter(|(m, _)| **m != 0.0) {
            let (a, b) = (node_of[i], node_of[j]);
            if a == NONE || b == NONE {
                continue;
            }
            if a == b {
                space.mass[space.mass_at[a as usize] + place[i] * space.sizes[a as usize] as usize + place[j]] += m;
            } else {
                // only single velocities of a large component are coupled through M
                space.couplings.push((a, b, m));
                space.pairs.push((a.max(b), a.min(b)));
            }
        }
        space.collect_pieces(p, &node_of, &place);
        space.pairs.sort_unstable();
        space.pairs.dedup();
        let widest = space.widest();
        let largest = space.sizes.iter().max().copied().unwrap_or(0) as usize;
        space.left = vec![0.0; largest * widest];
        space.product = vec![0.0; largest * largest];
        space
    }

    fn collect_pieces(&mut self, p: &Prepared, node_of: &[u32], place: &[usize]) {
        let mut here: Vec<u32> = Vec::new();
        for a in 0..self.offsets.len() - 1 {
            let rows = self.offsets[a]..self.offsets[a + 1];
            let width = rows.len();
            here.clear();
            here.extend(rows.clone().flat_map(|row| column(&p.columns, row)).filter(|(_, h)| *h != 0.0).map(|(k, _)| node_of[k]));
            here.sort_unstable();
            here.dedup();
            let first = self.pieces.len();
            for &node in &here {
                self.pieces.push((node, self.values.len()));
                self.values.resize(self.values.len() + self.sizes[node as usize] as usize * width, 0.0);
            }
            for row in rows.clone() {
                for (k, h) in column(&p.columns, row).filter(|(_, h)| *h != 0.0) {
                    let Ok(at) = here.binary_search(&node_of[k]) else { continue };
                    self.values[self.pieces[first + at].1 + place[k] * width + row - rows.start] += h;
                }
            }
            for (i, &b) in here.iter().enumerate() {
                self.pairs.extend(here[..i].iter().map(|&c| (b, c)));
            }
            self.piece_starts.push(self.pieces.len());
        }
    }

    /// Number of unknowns.
    pub(super) fn order(&self) -> usize {
        self.dofs.len()
    }

    /// Most rows of a block.
    pub(super) fn widest(&self) -> usize {
        self.offsets.windows(2).map(|o| o[1] - o[0]).max().unwrap_or(0)
    }

    /// Diagonal of M.
    pub(super) fn diagonal(&self) -> Vec<f64> {
        let nodes = self.mass_at.iter().zip(&self.sizes);
        nodes.flat_map(|(&at, &n)| (0..n as usize).map(move |k| at + k * (n as usize + 1))).map(|at| self.mass[at]).collect()
    }

    /// Pieces `(first unknown, rows of H)` of a block.
    fn pieces(&self, a: usize) -> impl Iterator<Item = (usize, &[f64])> {
        let width = self.offsets[a + 1] - self.offsets[a];
        self.pieces[self.piece_starts[a]..self.piece_starts[a + 1]].iter().map(move |&(node, at)| {
            let node = node as usize;
            (self.first[node], &self.values[at..at + self.sizes[node] as usize * width])
        })
    }

    /// `y += H r`
    pub(super) fn add_times(&self, r: &[f64], y: &mut [f64]) {
        for a in 0..self.offsets.len() - 1 {
            let r = &r[self.offsets[a]..self.offsets[a + 1]];
            if r.iter().all(|r| *r == 0.0) || r.is_empty() {
                continue;
            }
            for (first, h) in self.pieces(a) {
                for (h, y) in h.chunks_exact(r.len()).zip(&mut y[first..]) {
                    *y += h.iter().zip(r).map(|(h, r)| h * r).sum::<f64>();
                }
            }
        }
    }

    /// `u += Hᵀ v`
    pub(super) fn add_transposed_times(&self, v: &[f64], u: &mut [f64]) {
        for a in 0..self.offsets.len() - 1 {
            let u = &mut u[self.offsets[a]..self.offsets[a + 1]];
            if u.is_empty() {
                continue;
            }
            for (first, h) in self.pieces(a) {
                for (h, v) in h.chunks_exact(u.len()).zip(&v[first..]) {
                    u.iter_mut().zip(h).for_each(|(u, h)| *u += h * v);
                }
            }
        }
    }

    /// `y += M v`
    pub(super) fn add_mass_times(&self, v: &[f64], y: &mut [f64]) {
        for (node, &at) in self.mass_at.iter().enumerate() {
            let range = self.first[node]..self.first[node + 1];
            let n = range.len();
            let v = &v[range.clone()];
            for (m, y) in self.mass[at..at + n * n].chunks_exact(n).zip(&mut y[range]) {
                *y += m.iter().zip(v).map(|(m, v)| m * v).sum::<f64>();
            }
        }
        for &(a, b, m) in &self.couplings {
            y[self.first[a as usize]] += m * v[self.first[b as usize]];
        }
    }

    /// Factorises `M + H K Hᵀ`; `stiffness(a, K)` fills the row-major block of contact a (zero before) and says whether it is
    /// not zero. False when a pivot vanishes.
    pub(super) fn factorise(&mut self, mut stiffness: impl FnMut(usize, &mut [f64]) -> bool) -> bool {
        self.matrix.set_pattern(&self.sizes, &self.pairs);
        for (node, &at) in self.mass_at.iter().enumerate() {
            let n = self.sizes[node] as usize;
            self.matrix.add(node, node, &self.mass[at..at + n * n]);
        }
        for &(a, b, m) in &self.couplings {
            self.matrix.add(a as usize, b as usize, &[m]);
        }
        let mut k = [0.0; 64];
        let mut wide = Vec::new();
        for a in 0..self.offsets.len() - 1 {
            let width = self.offsets[a + 1] - self.offsets[a];
            let k = if width <= 8 {
                &mut k[..width * width]
            } else {
                wide.resize(width * width, 0.0);
                &mut wide[..]
            };
            k.fill(0.0);
            if !stiffness(a, k) {
                continue;
            }
            let pieces = &self.pieces[self.piece_starts[a]..self.piece_starts[a + 1]];
            for &(i, at) in pieces {
                let m = self.sizes[i as usize] as usize;
                let left = &mut self.left[..m * width];
                for (h, left) in self.values[at..at + m * width].chunks_exact(width).zip(left.chunks_exact_mut(width)) {
                    left.fill(0.0);
                    for (h, k) in h.iter().zip(k.chunks_exact(width)) {
                        left.iter_mut().zip(k).for_each(|(l, k)| *l += h * k);
                    }
                }
                for &(j, at) in pieces {
                    let n = self.sizes[j as usize] as usize;
                    let product = &mut self.product[..m * n];
                    let h = &self.values[at..at + n * width];
                    for (left, out) in left.chunks_exact(width).zip(product.chunks_exact_mut(n)) {
                        for (h, out) in h.chunks_exact(width).zip(out) {
                            *out = left.iter().zip(h).map(|(l, h)| l * h).sum();
                        }
                    }
                    self.matrix.add(i as usize, j as usize, product);
                }
            }
        }
        self.matrix.factorise()
    }

    /// Solves with the factors of [`factorise`](Self::factorise), in place.
    pub(super) fn solve(&mut self, x: &mut [f64]) {
        self.matrix.solve(x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::global::tests::random;

    #[test]
    fn the_sum_of_mass_and_stiffness_is_solved() {
        let p = random(5, 9, 0.5, 0.2, 11);
        let prepared = Prepared::new(&p).expect("legal");
        let mut space = BodySpace::new(&prepared);
        let k = [2.0, 0.1, 0.0, -0.3, 1.0, 0.2, 0.0, 0.0, 3.0];
        let stiffness = |a: usize, out: &mut [f64]| {
            out.iter_mut().zip(k).for_each(|(o, k)| *o = k * (1.0 + a as f64));
            a != 4
        };
        assert!(space.factorise(stiffness));
        let b: Vec<f64> = (0..space.order()).map(|i| (i as f64).cos()).collect();
        let mut x = b.clone();
        space.solve(&mut x);
        let (mut y, mut u, mut ku) = (vec![0.0; b.len()], vec![0.0; 27], vec![0.0; 27]);
        space.add_mass_times(&x, &mut y);
        space.add_transposed_times(&x, &mut u);
        for a in (0..9).filter(|&a| a != 4) {
            for i in 0..3 {
                ku[3 * a + i] = (0..3).map(|j| k[3 * i + j] * (1.0 + a as f64) * u[3 * a + j]).sum();
            }
        }
        space.add_times(&ku, &mut y);
        assert!(y.iter().zip(&b).all(|(y, b)| (y - b).abs() < 1e-11));
        // the products are those of the problem itself
        let (mut v, mut image) = (vec![0.0; 30], vec![0.0; 27]);
        space.dofs.iter().zip(&x).for_each(|(&k, x)| v[k as usize] = *x);
        crate::numerics::global::reduction::transposed_times(&prepared.columns, &v, &mut image);
        assert!(u.iter().zip(&image).all(|(a, b)| (a - b).abs() < 1e-13));
    }
}
