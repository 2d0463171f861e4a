//! What one sweep does: groups of contacts in their order, shared between threads where that is worth it, and what it adds up.

use super::abreast::{Abreast, Masses, NOBODY, each, each3, gather};
use super::cells::Cells;
use super::colours::{All, Halves, Leaves, Shared, Twists, Unit, visit_cells, visit_serial};
use super::contact::LocalOperators;
use super::local::kernel::solve_once;
use super::mixed::{Contact, IMMOBILE, MAX_ROWS, MixedProblem, RigidMass, Spin, Twist, Velocities};
use super::passes::{Momentum, conjugate_step};
use crate::algebra::lanes::{LANES, Lanes, Plain, Row, Simd, Wide, Wide3, WithSimd};
use glam::DVec3;
use std::ops::Range;

/// Visits all units: cells or colours that several threads share, who also `follow` each twist, what it was before and its direction; or all by one thread.
pub(super) fn visit_all<P: Halves>(
    units: impl Iterator<Item = Unit<P>>,
    v: &mut [Twist],
    known: Option<&Cells>,
    shared: Option<&Vec<Shared>>,
    moved: Option<[&mut Vec<Twist>; 2]>,
    follow: impl Fn(&mut Twist, &mut Twist, &mut Twist) + Sync,
) -> Norms {
    if let Some(cells) = known {
        let (mut moved, mut bodies) = (moved.map(|both| both.map(Vec::as_mut_slice)), cells.bodies.windows(2));
        let waiting = std::iter::from_fn(|| {
            let bodies = bodies.next()?;
            let [[one, rest1], [two, rest2]] = moved.take()?.map(|all| all.split_at_mut((bodies[1] - bodies[0]) as usize).into());
            moved = Some([rest1, rest2]);
            Some((one, two))
        });
        return visit_cells(cells, units, v, waiting, |twists, (before, direction)| {
            twists.iter_mut().zip(before.iter_mut()).zip(direction.iter_mut()).for_each(|((x, before), p)| follow(x, before, p));
        });
    }
    let Some(shared) = shared else { return visit_serial(units, &All::new(v)) };
    let mut leaves = Leaves::new();
    if let Some([before, direction]) = moved {
        leaves.push_twists(shared, before, direction);
    }
    units.for_each(|unit| leaves.push(unit.piece));
    leaves.visit(shared, follow)
}

/// The conjugate step of a twist, which has changed from x₀.
pub(super) fn extrapolate(x: &mut Twist, x0: &Twist, p: &mut Twist, momentum: Momentum) {
    let (d, w) = (x.linear - x0.linear, x.angular - x0.angular);
    conjugate_step(&mut x.linear, d, &mut p.linear, momentum);
    conjugate_step(&mut x.angular, w, &mut p.angular, momentum);
}

/// `|D^½ d|²` of the change, `⟨d, D p⟩` with the conjugate step p before it and `|D^½ r|²`, over a piece of the rows.
#[derive(Clone, Copy, Default)]
pub(super) struct Norms {
    pub(super) change: f64,
    pub(super) along: f64,
    pub(super) size: f64,
}

impl Norms {
    pub(super) fn add(self, o: Self) -> Self {
        Self { change: self.change + o.change, along: self.along + o.along, size: self.size + o.size }
    }

    /// Sums of change, size and along, each lane of contacts apart.
    pub(super) fn of_lanes([change, size, along]: [Row; 3]) -> Self {
        let sum = |lanes: Row| lanes.into_iter().fold(0.0, |sum, x| sum + x);
        Self { change: sum(change), along: sum(along), size: sum(size) }
    }

    #[inline]
    fn count(&mut self, weight: f64, [change, step, r]: [DVec3; 3]) {
        self.change += weight * change.length_squared();
        self.along += weight * change.dot(step);
        self.size += weight * r.length_squared();
    }
}

/// What a sweep writes, over a piece of the contacts.
pub(super) struct Pieces<'a> {
    pub(super) r: &'a mut [DVec3],
    pub(super) change: &'a mut [DVec3],
    pub(super) direction: &'a mut [DVec3],
    /// The same of the moments; empty where there are none.
    pub(super) spins: [&'a mut [DVec3]; 3],
}

impl<'a> Pieces<'a> {
    pub(super) fn split(self, at: usize) -> (Self, Self) {
        let (r, r2) = self.r.split_at_mut(at);
        let (change, change2) = self.change.split_at_mut(at);
        let (direction, direction2) = self.direction.split_at_mut(at);
        let (spins, spins2) = if self.spins[0].is_empty() {
            (self.spins, Default::default())
        } else {
            let [[a, a2], [b, b2], [c, c2]] = self.spins.map(|all| all.split_at_mut(at).into());
            ([a, b, c], [a2, b2, c2])
        };
        (Pieces { r, change, direction, spins }, Pieces { r: r2, change: change2, direction: direction2, spins: spins2 })
    }
}

/// The colours or cells of a problem, with what a sweep writes there.
pub(super) fn units<'a>(rows: &'a Rows<'a>, pieces: Pieces<'a>) -> impl Iterator<Item = Unit<Colour<'a>>> {
    let mut rest = Some(pieces);
    let whole = rows.p.known_cells().is_some();
    rows.p.units().filter_map(move |(groups, last)| {
        let groups = Groups::Chain(&rows.p.groups[groups.start..=groups.end]);
        let (pieces, after) = rest.take()?.split(groups.span());
        rest = Some(after);
        Some(Unit { piece: Colour { rows, groups, pieces }, whole, last })
    })
}

/// Groups of contacts, each from one to before another.
#[derive(Clone, Copy)]
pub(super) enum Groups<'a> {
    /// One after the other: where each begins, and the end.
    Chain(&'a [u32]),
    /// With others between them.
    Apart(&'a [[u32; 2]]),
}

impl Groups<'_> {
    fn count(self) -> usize {
        match self {
            Self::Chain(starts) => starts.len().saturating_sub(1),
            Self::Apart(groups) => groups.len(),
        }
    }

    fn get(self, k: usize) -> Range<usize> {
        let [from, to] = match self {
            Self::Chain(starts) => [starts[k], starts[k + 1]],
            Self::Apart(groups) => groups[k],
        };
        from as usize..to as usize
    }

    /// From the first contact to the last.
    fn span(self) -> usize {
        self.count().checked_sub(1).map_or(0, |last| self.get(last).end - self.get(0).start)
    }

    fn split(self, k: usize) -> [Self; 2] {
        match self {
            Self::Chain(starts) => [Self::Chain(&starts[..=k]), Self::Chain(&starts[k..])],
            Self::Apart(groups) => [Self::Apart(&groups[..k]), Self::Apart(&groups[k..])],
        }
    }
}

/// Some groups of a colour, with what a sweep writes from the first of their contacts to the last.
pub(super) struct Colour<'a> {
    pub(super) rows: &'a Rows<'a>,
    pub(super) groups: Groups<'a>,
    pub(super) pieces: Pieces<'a>,
}

impl Halves for Colour<'_> {
    fn halve(self) -> Result<[Self; 2], Self> {
        let Self { rows, groups, .. } = self;
        // a piece that is not small, of two groups at least
        if groups.count() < 2 || groups.span() <= PARALLEL {
            return Err(self);
        }
        let middle = groups.count() / 2;
        let (left, right) = self.pieces.split(groups.get(middle).start - groups.get(0).start);
        let [first, second] = groups.split(middle);
        Ok([Colour { rows, groups: first, pieces: left }, Colour { rows, groups: second, pieces: right }])
    }

    fn visit(self, v: &impl Twists) -> Norms {
        Lanes::best().run_four(Visit { colour: self, v })
    }
}

/// Contacts below which a piece of a colour is not worth another thread.
const PARALLEL: usize = 512;

/// Whether several threads share the sweeps: cells are worth it, and colours, which are not of one size, where the first are in several pieces before
/// the last are in one.
pub(super) fn is_shared(p: &MixedProblem) -> bool {
    let colours = p.colours.len().saturating_sub(1).max(3);
    rayon::current_num_threads() > 1 && (p.known_cells().is_some() || p.contacts.len() >= PARALLEL * (colours + 1))
}

/// The contacts of a problem.
pub(super) struct Rows<'a> {
    pub(super) p: &'a MixedProblem,
    /// Known or followed; none for Coulomb's law.
    pub(super) shifts: &'a [f64],
    /// Conjugate step that each reaction takes before it is visited.
    pub(super) momentum: Option<Momentum>,
}

/// Visits the contacts of some groups in order; pairs that follow each other and share no mobile body each in their own lane.
struct Visit<'a, 'b, T> {
    colour: Colour<'a>,
    v: &'b T,
}

impl<T: Twists> WithSimd for Visit<'_, '_, T> {
    type Output = Norms;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Norms {
        let Self { colour: Colour { rows, groups, pieces }, v } = self;
        let mut norms = Norms::default();
        if groups.count() == 0 {
            return norms;
        }
        let first = groups.get(0).start;
        let Pieces { r, change, direction, spins: [moments, turned, turns] } = pieces;
        let (mut next, mut k) = ([const { 0..0 }; LANES], 0);
        while k < groups.count() {
            let n = rows.pairs_apart(groups, k, if moments.is_empty() { S::F64_LANES } else { 1 }, &mut next);
            k += n;
            let pairs = &next[..n];
            for pair in pairs {
                let own = pair.start - first..pair.end - first;
                rows.extrapolate([&mut r[own.clone()], &mut change[own.clone()], &mut direction[own.clone()]]);
                if !moments.is_empty() {
                    rows.extrapolate([&mut moments[own.clone()], &mut turned[own.clone()], &mut turns[own]]);
                }
            }
            match pairs {
                [pair] if !moments.is_empty() => {
                    let own = pair.start - first..pair.end - first;
                    let (r, moments) = (&mut r[own.clone()], &mut moments[own.clone()]);
                    rows.visit_spins(pair.clone(), [r, moments], [&mut change[own.clone()], &mut turned[own]], v);
                }
                [_] => rows.visit_pairs(Plain, pairs, first, [&mut *r, &mut *change], v),
                _ => rows.visit_pairs(simd, pairs, first, [&mut *r, &mut *change], v),
            }
            for (at, k) in pairs.iter().flat_map(|pair| pair.clone()).map(|at| (at, at - first)) {
                let c = &rows.p.contacts[at];
                match rows.p.spins.get(at) {
                    Some(spin) if !moments.is_empty() => {
                        let d = spin.mean_diagonal(c);
                        norms.count(d, [change[k], direction[k], r[k]]);
                        norms.count(d, [turned[k], turns[k], moments[k]]);
                    }
                    _ => norms.count(c.local.mean_diagonal(), [change[k], direction[k], r[k]]),
                }
            }
        }
        norms
    }
}

impl Rows<'_> {
    /// The next groups from number k on that share no mobile body, at most so many; how many they are.
    #[inline(always)]
    fn pairs_apart(&self, groups: Groups<'_>, k: usize, most: usize, pairs: &mut [Range<usize>; LANES]) -> usize {
        let (mut bodies, mut n) = ([IMMOBILE; 2 * LANES], 0);
        while n < most && k + n < groups.count() {
            pairs[n] = groups.get(k + n);
            if let Some(c) = self.p.contacts[pairs[n].clone()].first() {
                let known = &bodies[..2 * n];
                if [c.body1, c.body2].iter().any(|body| *body != IMMOBILE && known.contains(body)) {
                    break;
                }
                (bodies[2 * n], bodies[2 * n + 1]) = (c.body1, c.body2);
            }
            n += 1;
        }
        n
    }

    /// The conjugate step of reactions, from their changes in the last sweep.
    fn extrapolate(&self, [r, change, direction]: [&mut [DVec3]; 3]) {
        let Some(momentum) = self.momentum else { return };
        for ((r, d), p) in r.iter_mut().zip(change.iter()).zip(direction.iter_mut()) {
            conjugate_step(r, *d, p, momentum);
        }
    }

    /// Visits contacts between one pair of bodies that resist rolling and twisting.
    #[inline(never)]
    fn visit_spins(&self, range: Range<usize>, [r, moments]: [&mut [DVec3]; 2], changes: [&mut [DVec3]; 2], v: &impl Twists) {
        let contacts = &self.p.contacts[range.clone()];
        let Some(head) = contacts.first() else { return };
        let mass = |body: u32| if body == IMMOBILE { RigidMass::default() } else { self.p.rigid[body as usize] };
        let (m1, m2) = (mass(head.body1), mass(head.body2));
        let load = |body: u32| if body == IMMOBILE { Twist::default() } else { v.load(body) };
        let (mut v1, mut v2) = (load(head.body1), load(head.body2));
        let shifts = self.shifts.get(range.clone()).unwrap_or_default();
        let spins: &[Spin] = &self.p.spins[range];
        for (k, (c, spin)) in contacts.iter().zip(spins).enumerate() {
            let u = c.to_local(v1.at(c.arm1) - v2.at(c.arm2)) + c.b;
            let s = spin.levers() * c.to_local(v1.angular - v2.angular) + spin.b;
            let (force, moment) = spin.local.apply(&c.local, r[k], moments[k]);
            let near = (r[k], moments[k]);
            let q = (u - force, s - moment);
            let (new, turned) = if spin.drill > 0.0 {
                spin.local.solve_drilling(&c.local, q, [c.mu, spin.roll])
            } else {
                spin.local.solve(&c.local, q, spin.bounds(c), near, shifts.get(k).copied())
            };
            let (dr, dp) = (new - r[k], turned - moments[k]);
            (changes[0][k], r[k], changes[1][k], moments[k]) = (dr, new, dp, turned);
            if dr == DVec3::ZERO && dp == DVec3::ZERO {
                continue;
            }
            let (impulse, turn) = (c.to_world(dr), c.to_world(spin.levers() * dp));
            m1.kick(&mut v1, c.arm1, impulse);
            m2.kick(&mut v2, c.arm2, -impulse);
            v1.angular += m1.inertia_times(turn);
            v2.angular -= m2.inertia_times(turn);
        }
        store_ends(head, [v1, v2], v);
    }

    /// Visits contacts of pairs that share no mobile body, each pair in its own lane; the velocities stay in registers meanwhile. What a contact computes, and in
    /// which order, is what it computes alone.
    #[inline(always)]
    fn visit_pairs<S: Simd>(&self, simd: S, pairs: &[Range<usize>], first: usize, [r, change]: [&mut [DVec3]; 2], v: &impl Twists) {
        let (mut masses, mut twists) = ([[const { &NOBODY }; LANES]; 2], [[Twist::default(); LANES]; 2]);
        let (mut bodies, mut longest, mut shortest) = ([[IMMOBILE; LANES]; 2], 0, usize::MAX);
        for l in 0..S::F64_LANES {
            let pair = pairs.get(l).cloned().unwrap_or(0..0);
            (longest, shortest) = (longest.max(pair.len()), shortest.min(pair.len()));
            let Some(head) = self.p.contacts[pair].first() else { continue };
            for (end, body) in [head.body1, head.body2].into_iter().enumerate() {
                if body != IMMOBILE {
                    bodies[end][l] = body;
                    (masses[end][l], twists[end][l]) = (&self.p.rigid[body as usize], v.load(body));
                }
            }
        }
        let [m1, m2] = [Masses::gather(simd, &masses[0]), Masses::gather(simd, &masses[1])];
        let [mut v1, mut v2] = [gather(simd, &twists[0]), gather(simd, &twists[1])];
        let (zero, one) = (Wide::splat(simd, 0.0), Wide::splat(simd, 1.0));
        let none = Wide3(zero, zero, zero);
        for k in 0..longest {
            // lanes that are through repeat a contact, and keep what they have
            let (mut contacts, mut reactions, mut through) =
                ([&self.p.contacts[pairs[0].start]; LANES], [DVec3::ZERO; LANES], [0.0; LANES]);
            let mut at = [usize::MAX; LANES];
            for l in 0..S::F64_LANES {
                if let Some(pair) = pairs.get(l).filter(|pair| k < pair.len()) {
                    at[l] = pair.start + k - first;
                    (contacts[l], reactions[l], through[l]) = (&self.p.contacts[pair.start + k], r[at[l]], 1.0);
                }
            }
            let c = Abreast::load(simd, &contacts);
            let b = each3(simd, &contacts, |c| c.b);
            let u = c.to_local(v1[0] + v1[1].cross(c.arms[0]) - (v2[0] + v2[1].cross(c.arms[1]))) + b;
            let reaction = each3(simd, &reactions.each_ref(), |r| *r);
            let w = LocalOperators::gather(simd, &contacts);
            let q = u - w.apply(reaction);
            let mut open = if self.shifts.is_empty() { zero.at_most(q.0) } else { one.below(zero) };
            if k >= shortest {
                open = open.or(Wide::of(simd, &through).equals(zero));
            }
            let mut new = none;
            if open.not().any() {
                let mut known = open;
                if self.shifts.is_empty() {
                    let (mu, most) = (each(simd, &contacts, |c| c.mu), each(simd, &contacts, |c| c.most));
                    let (held, sticks) = w.stick(q, mu, most);
                    new = open.pick3(none, held);
                    known = known.or(sticks);
                    let slips = known.not().and(most.at_most(zero));
                    if slips.any() {
                        new = slips.pick3(w.slip(simd, q, mu, reaction, slips), new);
                        known = known.or(slips);
                    }
                }
                if known.not().any() {
                    let (mut all, known, q) = (new.vectors(), known.pick(one, zero).row(), q.vectors());
                    for (l, new) in all.iter_mut().enumerate().take(S::F64_LANES) {
                        if known[l] == 0.0 {
                            *new = solved(contacts[l], q[l], self.shifts.get(at[l] + first).copied(), reactions[l]);
                        }
                    }
                    new = each3(simd, &all.each_ref(), |new| *new);
                }
            }
            let dr = new - reaction;
            let (new, changes) = (new.vectors(), dr.vectors());
            for l in 0..S::F64_LANES {
                if let (Some(r), Some(change)) = (r.get_mut(at[l]), change.get_mut(at[l])) {
                    (*r, *change) = (new[l], changes[l]);
                }
            }
            let mut still = dr.0.equals(zero).and(dr.1.equals(zero)).and(dr.2.equals(zero));
            if k >= shortest {
                still = still.or(Wide::of(simd, &through).equals(zero));
            }
            if still.not().any() {
                let impulse = c.to_world(dr);
                let [one, two] = [m1.kicked(v1, c.arms[0], impulse), m2.kicked(v2, c.arms[1], -impulse)];
                v1 = [still.pick3(v1[0], one[0]), still.pick3(v1[1], one[1])];
                v2 = [still.pick3(v2[0], two[0]), still.pick3(v2[1], two[1])];
            }
        }
        for (bodies, twists) in [(&bodies[0], &v1), (&bodies[1], &v2)] {
            let (linear, angular) = (twists[0].vectors(), twists[1].vectors());
            for l in 0..S::F64_LANES {
                if bodies[l] != IMMOBILE {
                    v.store(bodies[l], Twist { linear: linear[l], angular: angular[l] });
                }
            }
        }
    }
}

/// The reaction that solves a contact, given its velocity without it, a known shift, and the reaction so far.
#[inline(never)]
fn solved(c: &Contact, q: DVec3, shift: Option<f64>, r: DVec3) -> DVec3 {
    let new = match shift {
        None => c.local.solve_near(q, c.mu, r),
        Some(shift) => c.local.solve_convex(q + shift * DVec3::X, c.mu),
    };
    if c.most > 0.0 && new.x > c.most { c.local.solve_under(q, c.mu, c.most, r) } else { new }
}

/// Writes the twists of the bodies of a contact.
#[inline(always)]
fn store_ends(c: &Contact, twists: [Twist; 2], v: &impl Twists) {
    for (body, twist) in [c.body1, c.body2].into_iter().zip(twists).filter(|(body, _)| *body != IMMOBILE) {
        v.store(body, twist);
    }
}

/// Solves one block, see [`solve_once`].
pub(super) fn visit_block(p: &MixedProblem, block: &super::mixed::Block, r: &mut [f64], change: &mut [f64], v: &mut Velocities) {
    let n = block.rows;
    let w = &p.block_w[block.local..][..n * n];
    let (mut q, mut new) = ([0.0; MAX_ROWS], [0.0; MAX_ROWS]);
    p.block_velocity(block, v, &mut q[..n]);
    for i in 0..n {
        q[i] -= (0..n).map(|j| w[i * n + j] * r[j]).sum::<f64>();
    }
    new[..n].copy_from_slice(r);
    solve_once(block.set, w, &q[..n], &mut new[..n]);
    for i in 0..n {
        change[i] = new[i] - r[i];
        r[i] = new[i];
    }
    p.kick_block(block, change, v);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_stand_side_by_side_until_one_shares_a_body_that_moves() {
        let mut p = MixedProblem::default();
        for [body1, body2] in [[0, 1], [2, 3], [3, 4], [5, IMMOBILE], [6, IMMOBILE], [IMMOBILE, 7], [8, 5]] {
            p.push_group([Contact { body1, body2, ..Contact::default() }]);
        }
        let rows = Rows { p: &p, shifts: &[], momentum: None };
        let mut pairs = [const { 0..0 }; LANES];
        let mut count = |k: usize, most: usize| rows.pairs_apart(Groups::Chain(&p.groups), k, most, &mut pairs);
        assert_eq!([count(0, 4), count(2, 4), count(2, 8), count(5, 4), count(6, 4), count(3, 1)], [2, 4, 4, 2, 1, 1]);
    }
}
