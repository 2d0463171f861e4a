//! The matrix of body space, `M + Hᵀ K H`, with one stiffness K per contact and block.

use super::nodes::Nodes;
use crate::algebra::{multifrontal::BlockGeneral, sparse::BlockSymmetric, spatial::skew};
use crate::numerics::mixed::{Block, Contact, IMMOBILE, MAX_ROWS, MixedProblem};
use glam::{DMat3, DVec3};

/// A matrix of blocks, one node a system.
pub(super) trait BodyMatrix {
    /// Whether blocks above the diagonal are stored too.
    const BOTH: bool;
    fn set_pattern(&mut self, sizes: &[u32], pairs: &[(u32, u32)]);
    fn add(&mut self, i: usize, j: usize, block: &[f64]);
}

impl BodyMatrix for BlockSymmetric {
    const BOTH: bool = false;
    fn set_pattern(&mut self, sizes: &[u32], pairs: &[(u32, u32)]) {
        self.set_pattern(sizes, pairs);
    }
    fn add(&mut self, i: usize, j: usize, block: &[f64]) {
        self.add(i, j, block);
    }
}

impl BodyMatrix for BlockGeneral {
    const BOTH: bool = true;
    fn set_pattern(&mut self, sizes: &[u32], pairs: &[(u32, u32)]) {
        self.set_pattern(sizes, pairs);
    }
    fn add(&mut self, i: usize, j: usize, block: &[f64]) {
        self.add(i, j, block);
    }
}

/// Sets `matrix` to `M + Hᵀ K H`. `contact` gives the stiffness of a contact in its frame, none where it has no share; `block` that of a
/// block, row by row.
pub(super) fn assemble<T: BodyMatrix>(
    matrix: &mut T,
    nodes: &Nodes,
    p: &MixedProblem,
    mut contact: impl FnMut(usize, &Contact) -> Option<DMat3>,
    mut block: impl FnMut(usize, &Block, &mut [f64]),
) {
    matrix.set_pattern(&nodes.sizes, &nodes.pairs);
    for (node, mass) in nodes.mass.iter().enumerate() {
        matrix.add(node, node, mass);
    }
    for group in p.groups.windows(2) {
        let range = group[0] as usize..group[1] as usize;
        let Some(head) = p.contacts[range.clone()].first() else { continue };
        let mut blocks = [[0.0; 36]; 4];
        for k in range {
            let c = &p.contacts[k];
            let Some(stiffness) = contact(k, c) else { continue };
            let frame = DMat3::from_cols(c.normal, c.tangent, c.normal.cross(c.tangent));
            let stiffness = frame * stiffness * frame.transpose();
            let (a1, a2) = (skew(c.arm1), skew(c.arm2));
            add_coupling(&mut blocks[0], a1, stiffness, a1, 1.0);
            add_coupling(&mut blocks[1], a2, stiffness, a1, -1.0);
            add_coupling(&mut blocks[2], a2, stiffness, a2, 1.0);
            if T::BOTH {
                add_coupling(&mut blocks[3], a1, stiffness, a2, -1.0);
            }
        }
        let node = |body: u32| (body != IMMOBILE).then(|| nodes.rigid[body as usize] as usize);
        let (n1, n2) = (node(head.body1), node(head.body2));
        for (n, block) in [(n1, 0), (n2, 2)] {
            if let Some(n) = n {
                nodes.mask(n, n, &mut blocks[block]);
                matrix.add(n, n, &blocks[block]);
            }
        }
        if let (Some(n1), Some(n2)) = (n1, n2) {
            nodes.mask(n2, n1, &mut blocks[1]);
            if T::BOTH {
                nodes.mask(n1, n2, &mut blocks[3]);
                matrix.add(n2, n1, &blocks[1]);
                matrix.add(n1, n2, &blocks[3]);
            } else if n2 > n1 {
                matrix.add(n2, n1, &blocks[1]);
            } else {
                let transposed: [f64; 36] = std::array::from_fn(|k| blocks[1][6 * (k % 6) + k / 6]);
                matrix.add(n1, n2, &transposed);
            }
        }
    }
    for (k, b) in p.blocks.iter().enumerate() {
        let n = b.rows;
        let mut d = [0.0; MAX_ROWS * MAX_ROWS];
        block(k, b, &mut d[..n * n]);
        for (a, &sa) in b.systems.iter().enumerate() {
            for (o, &so) in b.systems.iter().enumerate() {
                let (Some(na), Some(no)) = (nodes.of(sa), nodes.of(so)) else { continue };
                if !T::BOTH && (na < no || (na == no && a > o)) {
                    continue;
                }
                let (ma, mo) = (nodes.sizes[na] as usize, nodes.sizes[no] as usize);
                let ja = &p.jacobians[b.jacobian[a]..][..n * ma];
                let jo = &p.jacobians[b.jacobian[o]..][..n * mo];
                let mut out = vec![0.0; ma * mo];
                for i in 0..n {
                    for j in 0..n {
                        let s = d[i * n + j];
                        if s == 0.0 {
                            continue;
                        }
                        for r in 0..ma {
                            for c in 0..mo {
                                out[r * mo + c] += ja[i * ma + r] * s * jo[j * mo + c];
                            }
                        }
                    }
                }
                nodes.mask(na, no, &mut out);
                matrix.add(na, no, &out);
            }
        }
    }
}

/// Adds `sign · Hᵀ r` of contacts (in their frames) and of the rows of blocks; locked velocities stay as they are.
pub(super) fn add_impulses(
    nodes: &Nodes,
    p: &MixedProblem,
    sign: f64,
    contacts: impl Iterator<Item = DVec3>,
    blocks: &[f64],
    out: &mut [f64],
) {
    for (c, r) in p.contacts.iter().zip(contacts) {
        let impulse = sign * c.to_world(r);
        for (body, arm, side) in [(c.body1, c.arm1, 1.0), (c.body2, c.arm2, -1.0)] {
            if body != IMMOBILE {
                let at = nodes.offset(nodes.rigid[body as usize] as usize);
                add3(&mut out[at..], side * impulse);
                add3(&mut out[at + 3..], side * arm.cross(impulse));
            }
        }
    }
    for block in &p.blocks {
        for (part, system) in block.systems.into_iter().enumerate() {
            let Some(node) = nodes.of(system) else { continue };
            let (first, n) = (nodes.offset(node), nodes.sizes[node] as usize);
            let rows = p.jacobians[block.jacobian[part]..].chunks_exact(n);
            for (row, x) in rows.zip(&blocks[block.first..block.first + block.rows]) {
                row.iter().zip(&mut out[first..first + n]).for_each(|(h, o)| *o += sign * h * x);
            }
        }
    }
    out.iter_mut().zip(&nodes.free).filter(|(_, free)| !**free).for_each(|(o, _)| *o = 0.0);
}

/// `block += sign · A_iᵀ K A_j` with `A = [I, −[a]×]`.
fn add_coupling(block: &mut [f64; 36], ai: DMat3, k: DMat3, aj: DMat3, sign: f64) {
    let (ki, kj) = (ai * k, k * aj);
    let kij = ai * kj;
    for r in 0..3 {
        for c in 0..3 {
            block[6 * r + c] += sign * k.col(c)[r];
            block[6 * r + c + 3] -= sign * kj.col(c)[r];
            block[6 * (r + 3) + c] += sign * ki.col(c)[r];
            block[6 * (r + 3) + c + 3] -= sign * kij.col(c)[r];
        }
    }
}

/// Adds a vector to three numbers.
pub(super) fn add3(g: &mut [f64], x: DVec3) {
    g[0] += x.x;
    g[1] += x.y;
    g[2] += x.z;
}
