//! Joints that hold together more than they have to: the least of their reactions, and the gaps that their bodies can close.
//!
//! ```text
//! K = D^-½ H M^-½                                                rows of equalities; D: weight of each block, as of e_s
//! r' = argmin |D^½ r'|,  Hᵀ r' = Hᵀ r                             D^½ r' is the part of D^½ r in the range of K
//! c' = argmin |D^-½ (c' − c)|,  H v + c' = 0 for some v           likewise, of what asks gaps to close
//! range:  K z,  z = argmin |K z − s|                              conjugate gradients from z = 0, as velocities v = M^-½ z
//! ```
//!
//! A solution holds any part of `ker Hᵀ` that its method or its first guess had: two hinges of a door pull against each other for ever, as a blow
//! has left them. Rows that follow from others but for a misfit σ (a loop that has drifted by rounding) ask for reactions of 1/σ, and gaps that
//! the others keep open ask for the same. Both are self-stress, which no motion shows and the next first guess hands on.

use super::admissible::AdmissibleSet;
use super::disjoint::DisjointSets;
use super::mixed::{Block, MixedProblem, Reactions, RigidMass, System};
use crate::algebra::dense::dot;

/// Part of the gradient at which it is found.
const FOUND: f64 = 1e-13;
/// Singular value of K below which it is a misfit.
const MISFIT: f64 = 1e-6;
/// Steps that are taken at most.
const STEPS: usize = 60;
/// Part of the tolerance by which the bodies may move otherwise.
const ALIKE: f64 = 0.1;
/// Part of the length of the reactions that counts as less.
const LESS: f64 = 1e-12;

/// Rows of equalities that hang together by their bodies.
struct Loop<'p> {
    p: &'p MixedProblem,
    /// with the roots of their weights
    blocks: Vec<(&'p Block, f64)>,
    /// in order
    bodies: Vec<u32>,
}

impl Loop<'_> {
    fn rows(&self) -> usize {
        self.blocks.iter().map(|(block, _)| block.rows).sum()
    }

    /// Velocities that are not locked.
    fn freedoms(&self) -> usize {
        let free = |m: &RigidMass| {
            let turning = &m.inverse_inertia[..3];
            m.inverse_mass.to_array().iter().chain(turning).filter(|x| **x > 0.0).count()
        };
        self.bodies.iter().map(|&i| free(&self.p.rigid[i as usize])).sum()
    }

    /// The six rows of a body in a vector of velocities.
    fn place(&self, system: System) -> Option<usize> {
        let System::Rigid(i) = system else { return None };
        self.bodies.binary_search(&i).ok().map(|k| 6 * k)
    }

    /// Jacobians of a block and where the velocities of their bodies are.
    fn ends(&self, block: &Block) -> impl Iterator<Item = (usize, &[f64])> {
        let ends = block.systems.into_iter().zip(block.jacobian);
        ends.filter_map(|(system, at)| Some((self.place(system)?, &self.p.jacobians[at..][..6 * block.rows])))
    }

    /// `D^-½ H v`.
    fn rates(&self, v: &[f64], out: &mut Vec<f64>) {
        out.clear();
        for &(block, root) in &self.blocks {
            let first = out.len();
            out.resize(first + block.rows, 0.0);
            for (at, jacobian) in self.ends(block) {
                let rows = jacobian.chunks_exact(6).zip(&mut out[first..]);
                rows.for_each(|(row, rate)| *rate += dot(row, &v[at..at + 6]) / root);
            }
        }
    }

    /// `Hᵀ D^-½ s`.
    fn momenta(&self, s: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let mut rest = s;
        for &(block, root) in &self.blocks {
            let (own, after) = rest.split_at(block.rows);
            rest = after;
            for (at, jacobian) in self.ends(block) {
                for (row, s) in jacobian.chunks_exact(6).zip(own) {
                    out[at..at + 6].iter_mut().zip(row).for_each(|(p, h)| *p += h * s / root);
                }
            }
        }
    }

    /// `M⁻¹ g`.
    fn velocities(&self, g: &[f64], out: &mut [f64]) {
        for (&i, (g, out)) in self.bodies.iter().zip(g.chunks_exact(6).zip(out.chunks_exact_mut(6))) {
            self.p.inverse_mass_times(System::Rigid(i), g, out);
        }
    }

    /// The part of `s` that moves no body, and by how much it moves them still, in the norm of M; singular values of K below `misfit` may count as none.
    fn idle(&self, s: &[f64], misfit: f64) -> (Vec<f64>, f64) {
        let n = 6 * self.bodies.len();
        let (mut rest, mut rate) = (s.to_vec(), Vec::new());
        let (mut g, mut y) = (vec![0.0; n], vec![0.0; n]);
        self.momenta(&rest, &mut g);
        self.velocities(&g, &mut y);
        let mut along = y.clone();
        let first = dot(&g, &y);
        let mut left = first;
        for _ in 0..STEPS.min(n) {
            self.rates(&along, &mut rate);
            let square = dot(&rate, &rate);
            if left <= (FOUND * FOUND * first).max(misfit * misfit * dot(&rest, &rest)) || square == 0.0 {
                break;
            }
            let share = left / square;
            rest.iter_mut().zip(&rate).for_each(|(r, q)| *r -= share * q);
            self.momenta(&rest, &mut g);
            self.velocities(&g, &mut y);
            let now = dot(&g, &y);
            along.iter_mut().zip(&y).for_each(|(p, y)| *p = y + now / left * *p);
            left = now;
        }
        (rest, left.max(0.0).sqrt())
    }
}

/// Takes from b of such joints the part of `fed`, what asks their gaps to close (m/s, one a row), that no velocity of the bodies has.
pub fn closable(p: &mut MixedProblem, fed: &[f64]) {
    if fed.iter().all(|fed| *fed == 0.0) {
        return;
    }
    let mut taken = Vec::new();
    for found in loops(p) {
        let rows = || found.blocks.iter().flat_map(|(block, root)| (block.first..block.first + block.rows).map(move |row| (row, *root)));
        let s: Vec<f64> = rows().map(|(row, root)| fed[row] / root).collect();
        if s.iter().any(|s| *s != 0.0) {
            taken.extend(rows().zip(found.idle(&s, MISFIT).0).map(|((row, root), idle)| (row, root * idle)));
        }
    }
    taken.into_iter().for_each(|(row, idle)| p.block_b[row] -= idle);
}

/// Gives joints that have more rows than their bodies have velocities the least reactions that move these alike, to a tenth of the tolerance.
pub fn share(p: &MixedProblem, reactions: &mut Reactions, tolerance: f64) {
    for found in loops(p) {
        let pieces = || found.blocks.iter().map(|(block, root)| (block.first..block.first + block.rows, root));
        let s: Vec<f64> = pieces().flat_map(|(rows, root)| reactions.blocks[rows].iter().map(move |r| root * r)).collect();
        let (idle, moved) = found.idle(&s, 0.0);
        let (before, after) = (dot(&s, &s), dot(&s, &s) - dot(&idle, &idle));
        let carried = after.max(0.0).sqrt();
        if after >= (1.0 - LESS) * before || moved > ALIKE * tolerance * carried.max(p.q_scaled) {
            continue;
        }
        let mut idle = idle.iter();
        for (rows, root) in pieces() {
            reactions.blocks[rows].iter_mut().zip(&mut idle).for_each(|(r, idle)| *r -= idle / root);
        }
    }
}

/// The mean of the diagonal of its own W.
fn weight(p: &MixedProblem, block: &Block) -> f64 {
    let mut sum = 0.0;
    for (system, at) in block.systems.into_iter().zip(block.jacobian).filter(|(system, _)| matches!(system, System::Rigid(_))) {
        let mut velocity = [0.0; 6];
        for row in p.jacobians[at..][..6 * block.rows].chunks_exact(6) {
            p.inverse_mass_times(system, row, &mut velocity);
            sum += dot(row, &velocity);
        }
    }
    sum / block.rows as f64
}

/// Those that are sure to hold more than they have to, by their numbers.
fn loops(p: &MixedProblem) -> Vec<Loop<'_>> {
    let rigid = |block: &Block| block.systems.iter().all(|s| !matches!(s, System::General(_)));
    let equalities = || p.blocks.iter().filter(|b| b.set == AdmissibleSet::Free && rigid(b));
    let bodies = |block: &Block| block.systems.into_iter().filter_map(|s| if let System::Rigid(i) = s { Some(i) } else { None });
    if equalities().take(2).count() < 2 {
        return Vec::new();
    }
    let mut sets = DisjointSets::new(p.rigid.len());
    for block in equalities() {
        let mut ends = bodies(block);
        if let (Some(i), Some(j)) = (ends.next(), ends.next()) {
            sets.join(i, j);
        }
    }
    let mut found = std::collections::BTreeMap::<u32, Loop<'_>>::new();
    for block in equalities() {
        let Some(i) = bodies(block).next() else { continue };
        let one = found.entry(sets.root(i)).or_insert_with(|| Loop { p, blocks: Vec::new(), bodies: Vec::new() });
        one.blocks.push((block, 0.0));
        one.bodies.extend(bodies(block));
    }
    let mut all: Vec<Loop<'_>> = found.into_values().collect();
    for one in &mut all {
        one.bodies.sort_unstable();
        one.bodies.dedup();
    }
    all.retain(|one| one.rows() > one.freedoms());
    for (block, root) in all.iter_mut().flat_map(|one| &mut one.blocks) {
        *root = weight(p, block).sqrt();
    }
    all.retain(|one| one.blocks.iter().all(|(_, root)| *root > 0.0));
    all
}
