//! The body space of a global problem, see [`BodySpace`]: its velocities reordered by nodes.

use super::mass::SMALL;
use super::reduction::{Prepared, column};
use crate::algebra::multifrontal::BlockGeneral;
use crate::numerics::newton::space::BodySpace;

/// The velocities that contacts reach, with M and H on them and a factorisation of `M + H K Hᵀ`.
#[derive(Debug, Default)]
pub(super) struct Bodies {
    /// velocity of each unknown
    pub(super) dofs: Vec<u32>,
    pub(super) space: BodySpace,
    pub(super) matrix: BlockGeneral,
}

const NONE: u32 = u32::MAX;

impl Bodies {
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
        let mut bodies = Self::default();
        let space = &mut bodies.space;
        space.clear();
        let mut place = vec![0; dofs];
        for (i, node) in nodes.iter().enumerate() {
            for (at, &k) in node.iter().enumerate() {
                (node_of[k as usize], place[k as usize]) = (i as u32, at);
                bodies.dofs.push(k);
            }
            space.push_node(node.len());
        }
        for (&m, (i, j)) in p.problem.mass.iter().filter(|(m, _)| **m != 0.0) {
            let (a, b) = (node_of[i], node_of[j]);
            if a == b && a != NONE {
                *space.mass_mut(a as usize, place[i], place[j]) += m;
            } else if a != NONE && b != NONE {
                // only single velocities of a large component are coupled through M
                space.couple(a, b, m);
            }
        }
        let mut here: Vec<u32> = Vec::new();
        for o in offsets.windows(2) {
            let entries =
                || (o[0]..o[1]).flat_map(|row| column(&p.columns, row).map(move |(k, h)| (row, k, h))).filter(|(.., h)| *h != 0.0);
            here.clear();
            here.extend(entries().map(|(_, k, _)| node_of[k]));
            here.sort_unstable();
            here.dedup();
            space.push_block(o[1] - o[0], &here);
            for (row, k, h) in entries() {
                let Ok(at) = here.binary_search(&node_of[k]) else { continue };
                let size = nodes[node_of[k] as usize].len();
                space.last_piece(at)[(row - o[0]) * size + place[k]] += h;
            }
        }
        space.close();
        bodies
    }

    /// The values of the unknowns.
    pub(super) fn gather(&self, x: &[f64]) -> Vec<f64> {
        self.dofs.iter().map(|&k| x[k as usize]).collect()
    }

    /// Factorises `M + H K Hᵀ`, see [`BodySpace::assemble`]; false when a pivot vanishes.
    pub(super) fn factorise(&mut self, stiffness: impl FnMut(usize, &mut [f64]) -> bool) -> bool {
        self.space.assemble(&mut self.matrix, stiffness);
        self.matrix.factorise()
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
        let mut bodies = Bodies::new(&prepared);
        let k = [2.0, 0.1, 0.0, -0.3, 1.0, 0.2, 0.0, 0.0, 3.0];
        let stiffness = |a: usize, out: &mut [f64]| {
            out.iter_mut().zip(k).for_each(|(o, k)| *o = k * (1.0 + a as f64));
            a != 4
        };
        assert!(bodies.factorise(stiffness));
        let b: Vec<f64> = (0..bodies.dofs.len()).map(|i| (i as f64).cos()).collect();
        let mut x = b.clone();
        bodies.matrix.solve(&mut x);
        let (mut y, mut u, mut ku) = (vec![0.0; b.len()], vec![0.0; 27], vec![0.0; 27]);
        bodies.space.mass_times(&x, &mut y);
        bodies.space.add_rates(&x, &mut u);
        for a in (0..9).filter(|&a| a != 4) {
            for i in 0..3 {
                ku[3 * a + i] = (0..3).map(|j| k[3 * i + j] * (1.0 + a as f64) * u[3 * a + j]).sum();
            }
        }
        bodies.space.add_impulses(&ku, &mut y);
        assert!(y.iter().zip(&b).all(|(y, b)| (y - b).abs() < 1e-11));
        // the products are those of the problem itself
        let (mut v, mut image) = (vec![0.0; 30], vec![0.0; 27]);
        bodies.dofs.iter().zip(&x).for_each(|(&k, x)| v[k as usize] = *x);
        crate::numerics::global::reduction::transposed_times(&prepared.columns, &v, &mut image);
        assert!(u.iter().zip(&image).all(|(a, b)| (a - b).abs() < 1e-13));
    }
}
