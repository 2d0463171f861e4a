//! Joints that hold together more than they have to: the least of their reactions, and the gaps that their bodies can close.
//!
//! ```text
//! K = D^-½ H S,  S Sᵀ = M⁻¹                                      rows of equalities; D: weight of each block, as of e_s
//! r' = argmin |D^½ r'|,  Hᵀ r' = Hᵀ r                             D^½ r' is the part of D^½ r in the range of K
//! c' = argmin |D^-½ (c' − c)|,  H v + c' = 0 for some v           likewise, of what asks gaps to close
//! range:  s ← s − K (KᵀK + ε²)⁻¹ Kᵀ s  until Kᵀ s = 0             proximal steps: what a singular value σ holds falls by ε²/(σ² + ε²)
//! ```
//!
//! A solution holds any part of `ker Hᵀ` that its method or its first guess had: two hinges of a door pull against each other for ever, as a blow
//! has left them. Rows that follow from others but for a misfit σ (a loop that has drifted by rounding) ask for reactions of 1/σ, and gaps that
//! the others keep open ask for the same. Both are self-stress, which no motion shows and the next first guess hands on. Joints without a way
//! around, as those of an arm, have none. Proximal steps: Rockafellar 1976 (SIAM J. Control Optim. 14).

use super::admissible::AdmissibleSet;
use super::disjoint::DisjointSets;
use super::mixed::{Block, MixedProblem, Reactions, RigidMass, System};
use crate::algebra::{dense::dot, sparse::BlockSymmetric};

/// Part of the gradient at which it is found.
const FOUND: f64 = 1e-13;
/// Singular value of K below which it is a misfit, and ε.
const MISFIT: f64 = 1e-6;
/// Proximal steps that are taken at most.
const STEPS: usize = 20;
/// Part of the gradient that a step may leave; where more is left, only misfits are.
const CRAWL: f64 = 0.5;
/// Part of a diagonal below which it is rounding.
const ROUNDING: f64 = 1e-12;
/// Part of the tolerance by which the bodies may move otherwise.
const ALIKE: f64 = 0.1;
/// Part of the length of the reactions that counts as less.
const LESS: f64 = 1e-12;
/// In the place of a body: the world, or one that nothing moves.
const NONE: u32 = u32::MAX;

/// Joints with ways around; kept from step to step, as the memory in it is.
#[derive(Debug, Default)]
pub struct Sharing {
    /// all equalities between bodies: their blocks, and the bodies or [`NONE`]
    known: Vec<(u32, [u32; 2])>,
    found: Vec<(u32, [u32; 2])>,
    sets: DisjointSets,
    loops: Vec<Loop>,
}

/// Rows of equalities that hang together by their bodies, with a way around.
#[derive(Debug, Default)]
struct Loop {
    members: Vec<Member>,
    /// in order
    bodies: Vec<u32>,
    sizes: Vec<u32>,
    pairs: Vec<(u32, u32)>,
    /// factor of `KᵀK + ε²`; rounding can leave none
    normal: BlockSymmetric,
    definite: bool,
    /// six numbers of each row of K for each body of a member
    k: Vec<f64>,
    rest: Vec<f64>,
    /// `Kᵀ rest`
    gradient: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    block: u32,
    /// places in [`Loop::bodies`], or [`NONE`]
    ends: [u32; 2],
    rows: usize,
    /// of its weight, the mean of the diagonal of its own W
    root: f64,
}

impl Member {
    /// Its two bodies, the later one first.
    fn pair(&self) -> Option<(u32, u32)> {
        let [i, j] = self.ends;
        (i != NONE && j != NONE).then_some((i.max(j), i.min(j)))
    }

    /// Its bodies, with where their numbers begin among its own.
    fn parts(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let known = self.ends.into_iter().filter(|i| *i != NONE);
        let numbers = 6 * self.rows;
        known.enumerate().map(move |(part, i)| (i as usize, part * numbers))
    }

    /// How many of K it has.
    fn numbers(&self) -> usize {
        6 * self.rows * self.parts().count()
    }
}

impl Sharing {
    /// Takes the equalities of a step.
    pub fn set(&mut self, p: &MixedProblem) {
        let rigid = |block: &Block| block.set == AdmissibleSet::Free && block.systems.iter().all(|s| !matches!(s, System::General(_)));
        let body = |s: System| if let System::Rigid(i) = s { i } else { NONE };
        self.found.clear();
        let equalities = p.blocks.iter().enumerate().filter(|(_, b)| rigid(b));
        self.found.extend(equalities.map(|(k, b)| (k as u32, [body(b.systems[0]), body(b.systems[1])])));
        if self.found != self.known {
            std::mem::swap(&mut self.found, &mut self.known);
            self.find_loops(p.rigid.len());
        }
        self.loops.iter_mut().for_each(|one| one.set(p));
    }

    /// Bodies that joints link, the world among them, with as many joints as bodies at least: one of these closes a way around.
    fn find_loops(&mut self, bodies: usize) {
        let sets = &mut self.sets;
        sets.reset(bodies);
        for &(_, [i, j]) in self.known.iter().filter(|(_, ends)| !ends.contains(&NONE)) {
            sets.join(i, j);
        }
        let first = |ends: [u32; 2]| ends[0].min(ends[1]);
        let linked = self.known.iter().filter(|(_, ends)| first(*ends) != NONE);
        let mut linked: Vec<_> = linked.map(|&(block, ends)| (sets.root(first(ends)), block, ends)).collect();
        linked.sort_unstable();
        let groups = linked.chunk_by(|one, other| one.0 == other.0);
        self.loops = groups.filter_map(Loop::new).collect();
    }

    /// Takes from b of such joints the part of `fed`, what asks their gaps to close (m/s, one a row), that no velocity of the bodies has.
    pub fn closable(&mut self, p: &mut MixedProblem, fed: &[f64]) {
        for one in self.loops.iter_mut().filter(|one| one.definite) {
            one.rest.clear();
            one.rest.extend(rows(&one.members, p).map(|(row, root)| fed[row] / root));
            if one.rest.iter().all(|s| *s == 0.0) {
                continue;
            }
            one.leave_idle(MISFIT);
            let mut idle = one.rest.iter();
            for m in &one.members {
                let block = &p.blocks[m.block as usize];
                p.block_b[block.first..][..block.rows].iter_mut().zip(&mut idle).for_each(|(b, idle)| *b -= m.root * idle);
            }
        }
    }

    /// Gives such joints the least reactions that move their bodies alike, to a tenth of the tolerance.
    pub fn share(&mut self, p: &MixedProblem, reactions: &mut Reactions, tolerance: f64) {
        for one in self.loops.iter_mut().filter(|one| one.definite) {
            one.rest.clear();
            one.rest.extend(rows(&one.members, p).map(|(row, root)| root * reactions.blocks[row]));
            let before = dot(&one.rest, &one.rest);
            let moved = one.leave_idle(0.0);
            let after = before - dot(&one.rest, &one.rest);
            let carried = after.max(0.0).sqrt();
            if after >= (1.0 - LESS) * before || moved > ALIKE * tolerance * carried.max(p.q_scaled) {
                continue;
            }
            let shared = rows(&one.members, p).zip(&one.rest);
            shared.for_each(|((row, root), idle)| reactions.blocks[row] -= idle / root);
        }
    }
}

/// Rows of blocks, and the roots of their weights.
fn rows<'a>(members: &'a [Member], p: &'a MixedProblem) -> impl Iterator<Item = (usize, f64)> + 'a {
    members.iter().flat_map(|m| {
        let block = &p.blocks[m.block as usize];
        (block.first..block.first + block.rows).map(|row| (row, m.root))
    })
}

impl Loop {
    /// From what hangs together: a name, block and bodies each. None where no way leads around.
    fn new(group: &[(u32, u32, [u32; 2])]) -> Option<Self> {
        let mut bodies: Vec<u32> = group.iter().flat_map(|g| g.2).collect();
        bodies.sort_unstable();
        bodies.dedup();
        if group.len() < bodies.len() {
            return None;
        }
        bodies.retain(|&i| i != NONE);
        let place = |i: u32| bodies.binary_search(&i).map_or(NONE, |k| k as u32);
        let members: Vec<Member> =
            group.iter().map(|&(_, block, ends)| Member { block, ends: ends.map(place), rows: 0, root: 1.0 }).collect();
        let mut pairs: Vec<(u32, u32)> = members.iter().filter_map(Member::pair).collect();
        pairs.sort_unstable();
        pairs.dedup();
        Some(Self { sizes: vec![6; bodies.len()], members, bodies, pairs, ..Self::default() })
    }

    /// K, and the factor of its normal matrix.
    fn set(&mut self, p: &MixedProblem) {
        let Self { members, bodies, normal, k, .. } = self;
        normal.set_pattern(&self.sizes, &self.pairs);
        k.clear();
        let mut square = [0.0; 36];
        for member in members {
            let block = &p.blocks[member.block as usize];
            member.rows = block.rows;
            let start = k.len();
            for (&i, &at) in member.ends.iter().zip(&block.jacobian).filter(|(i, _)| **i != NONE) {
                let root = root_of_inverse(&p.rigid[bodies[i as usize] as usize]);
                let rows = p.jacobians[at..][..6 * block.rows].chunks_exact(6);
                k.extend(rows.flat_map(|row| times_root(row, &root)));
            }
            let own = &mut k[start..];
            let weight = dot(own, own) / block.rows as f64;
            member.root = if weight > 0.0 { weight.sqrt() } else { 1.0 };
            own.iter_mut().for_each(|x| *x /= member.root);
            let part = |at: usize| &own[at..at + 6 * block.rows];
            for (i, at) in member.parts() {
                transposed_product(part(at), part(at), &mut square);
                (0..6).for_each(|d| square[7 * d] += MISFIT * MISFIT);
                normal.add(i, i, &square);
            }
            if let Some((high, low)) = member.pair() {
                let second = 6 * block.rows;
                let (upper, lower) = if member.ends[0] == high { (0, second) } else { (second, 0) };
                transposed_product(part(upper), part(lower), &mut square);
                normal.add(high as usize, low as usize, &square);
            }
        }
        self.definite = normal.factorise();
    }

    /// Leaves of `rest` the part that moves no body; the answer is by how much it moves them still, in the norm of M. Singular values of K below
    /// `misfit` may count as none.
    fn leave_idle(&mut self, misfit: f64) -> f64 {
        let (mut first, mut before) = (None, f64::INFINITY);
        for _ in 0..STEPS {
            let left = self.find_gradient();
            let enough = (FOUND * *first.get_or_insert(left)).max(misfit * dot(&self.rest, &self.rest).sqrt());
            if left <= enough || left > CRAWL * before {
                return left;
            }
            before = left;
            self.normal.solve_factorised(&mut self.gradient);
            let mut rest = &mut self.rest[..];
            let mut k = &self.k[..];
            for member in &self.members {
                let (own, after) = rest.split_at_mut(member.rows);
                for (i, at) in member.parts() {
                    let rows = k[at..].chunks_exact(6).zip(own.iter_mut());
                    rows.for_each(|(row, s)| *s -= dot(row, &self.gradient[6 * i..6 * i + 6]));
                }
                (rest, k) = (after, &k[member.numbers()..]);
            }
        }
        self.find_gradient()
    }

    /// `g = Kᵀ s` of the rest s; its length.
    fn find_gradient(&mut self) -> f64 {
        self.gradient.clear();
        self.gradient.resize(6 * self.bodies.len(), 0.0);
        let (mut rest, mut k) = (&self.rest[..], &self.k[..]);
        for member in &self.members {
            for (i, at) in member.parts() {
                for (row, s) in k[at..].chunks_exact(6).zip(&rest[..member.rows]) {
                    self.gradient[6 * i..6 * i + 6].iter_mut().zip(row).for_each(|(g, k)| *g += k * s);
                }
            }
            (rest, k) = (&rest[member.rows..], &k[member.numbers()..]);
        }
        dot(&self.gradient, &self.gradient).sqrt()
    }
}

/// S with `S Sᵀ = M⁻¹`: roots of the inverse masses, and the Cholesky factor of the inverse inertia, 11, 21, 22, 31, 32, 33; zeros where it turns no way.
fn root_of_inverse(mass: &RigidMass) -> [f64; 9] {
    let [a, b, c, ab, ac, bc] = mass.inverse_inertia;
    let over = |x: f64, pivot: f64| if pivot > 0.0 { x / pivot } else { 0.0 };
    let root = |x: f64, whole: f64| if x > ROUNDING * whole { x.sqrt() } else { 0.0 };
    let l11 = root(a, a);
    let (l21, l31) = (over(ab, l11), over(ac, l11));
    let l22 = root(b - l21 * l21, b);
    let l32 = over(bc - l31 * l21, l22);
    let l33 = root(c - l31 * l31 - l32 * l32, c);
    let [x, y, z] = mass.inverse_mass.to_array();
    [x.sqrt(), y.sqrt(), z.sqrt(), l11, l21, l22, l31, l32, l33]
}

/// A row of H times S.
fn times_root(row: &[f64], [x, y, z, l11, l21, l22, l31, l32, l33]: &[f64; 9]) -> [f64; 6] {
    [row[0] * x, row[1] * y, row[2] * z, row[3] * l11 + row[4] * l21 + row[5] * l31, row[4] * l22 + row[5] * l32, row[5] * l33]
}

/// `Aᵀ B` of rows of six numbers.
fn transposed_product(a: &[f64], b: &[f64], out: &mut [f64; 36]) {
    out.fill(0.0);
    for (a, b) in a.chunks_exact(6).zip(b.chunks_exact(6)) {
        for (out, a) in out.chunks_exact_mut(6).zip(a) {
            out.iter_mut().zip(b).for_each(|(out, b)| *out += a * b);
        }
    }
}
