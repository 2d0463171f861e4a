//! Contacts of balls: the arms lie along the normal and the inertia is a scalar, so the own operator is diagonal.
//!
//! ```text
//! W_aa = diag(w_n, w_t, w_t)          u = v₁ − v₂ + b + (c₁ ω₁ − c₂ ω₂) × n
//! r_n ← max(0, r_n − u_n/w_n)         r_t ← min(1, μ r_n/‖x_t‖) x_t,   x_t = r_t − u_t/w_t
//!
//! with a known shift s the nearest point of the cone, in the norm of W_aa, to x = (r_n − (u_n + s)/w_n, x_t): x where that lies inside,
//! r_n = (w_n x_n + μ w_t ‖x_t‖)/(w_n + μ² w_t), r_t along x_t on its surface, 0 where this is not positive
//! ```
//!
//! The same solution as [`super::contact`], without tangents and secular equation. Contacts of a colour share no body, so they are visited
//! [`LANES`] at a time, each in its own lane of the vector registers: what a contact computes, and in which order, does not change by that.

use super::colours::{Halves, TwistCell};
use super::mixed::{Answer, Contact, IMMOBILE, MixedProblem, Reactions, RigidMass, Twist};
use super::passes::Momentum;
use super::sweep::Norms;
use crate::algebra::lanes::{LANES, Row, Simd, Wide, Wide3, WithSimd};
use crate::algebra::pieces::{self, Part, share};
use glam::DVec3;
use rayon::prelude::*;

/// Contacts that are visited together; reactions are world vectors here.
///
/// A lane that is left over has neither normal nor mass, and the body that stands for all immobile ones at both ends.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
struct Block {
    normal: [Row; 3],
    b: [Row; 3],
    wn_inv: Row,
    wt_inv: Row,
    mu: Row,
    /// signed lengths of the arms
    arms: [Row; 2],
    /// inverse masses
    masses: [Row; 2],
    /// inverse inertia × arm
    spins: [Row; 2],
    /// D
    weight: Row,
    /// 1/s², 0 where a contact is not judged for itself
    limit: Row,
    bodies: [[u32; LANES]; 2],
}

impl Block {
    /// A block of lanes that are left over.
    fn empty(nobody: u32) -> Self {
        Self { weight: [1.0; LANES], limit: [1.0; LANES], bodies: [[nobody; LANES]; 2], ..Self::default() }
    }

    /// Makes a contact of balls the lane l; false if it is something else.
    fn set(&mut self, l: usize, p: &MixedProblem, c: &Contact) -> bool {
        let (mut wn, mut wt) = (0.0, 0.0);
        for (k, (body, arm)) in [(c.body1, c.arm1), (c.body2, c.arm2)].into_iter().enumerate() {
            if body == IMMOBILE {
                continue;
            }
            let RigidMass { inverse_mass: m, inverse_inertia: i } = p.rigid[body as usize];
            let length = arm.dot(c.normal);
            let scalar = m.x == m.y && m.y == m.z && i[0] == i[1] && i[1] == i[2] && i[3] == 0.0 && i[4] == 0.0 && i[5] == 0.0;
            if !scalar || (arm - length * c.normal).length_squared() > (ALIGNED * length).powi(2) {
                return false;
            }
            (self.arms[k][l], self.masses[k][l], self.spins[k][l]) = (length, m.x, i[0] * length);
            self.bodies[k][l] = body;
            wn += m.x;
            wt += m.x + i[0] * length * length;
        }
        let b = c.to_world(c.b);
        for i in 0..3 {
            (self.normal[i][l], self.b[i][l]) = (c.normal[i], b[i]);
        }
        (self.wn_inv[l], self.wt_inv[l], self.mu[l]) = (1.0 / wn, 1.0 / wt, c.mu);
        self.weight[l] = c.local.mean_diagonal();
        self.limit[l] = if c.scale > 0.0 { 1.0 / (c.scale * c.scale) } else { 0.0 };
        true
    }
}

/// Relative misalignment of an arm that counts as rounding.
const ALIGNED: f64 = 1e-13;

/// What a sweep changes in the lanes of a block.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
struct State {
    r: [Row; 3],
    /// in the last sweep
    change: [Row; 3],
    /// of the conjugate step
    direction: [Row; 3],
}

/// Place of a lane that is left over.
const NONE: u32 = u32::MAX;

/// The contacts of a problem in blocks, colour by colour.
#[derive(Debug, Default)]
pub(super) struct Balls {
    blocks: Vec<Block>,
    states: Vec<State>,
    /// shift of each lane while it is visited; none where that solves Coulomb's law
    shifts: Vec<Row>,
    /// whether the shifts are known ones, which the law has too
    known: bool,
    /// contact of each lane
    places: Vec<[u32; LANES]>,
    /// lane of each contact
    lanes: Vec<u32>,
    /// first block of each colour, and the end; where a pair has several contacts, one colour for the first of each, and so on
    colours: Vec<u32>,
}

impl Balls {
    /// States the contacts anew; false if one of them is not of balls.
    ///
    /// The twist after those of all bodies stands for immobile ones: [`stand_in`].
    pub(super) fn prepare(&mut self, p: &MixedProblem) -> bool {
        let Self { blocks, states, places, lanes, colours, .. } = self;
        let nobody = p.free.rigid.len() as u32;
        // most problems that are none of balls say so at once
        if p.contacts.first().is_some_and(|c| !Block::empty(nobody).set(0, p, c)) {
            return false;
        }
        places.clear();
        lanes.clear();
        lanes.resize(p.contacts.len(), 0);
        colours.clear();
        colours.push(0);
        for colour in p.colours.windows(2) {
            let groups = &p.groups[colour[0] as usize..=colour[1] as usize];
            for layer in 0.. {
                let mut lane = LANES;
                for group in groups.windows(2).filter(|g| g[0] + layer < g[1]) {
                    if lane == LANES {
                        places.push([NONE; LANES]);
                        lane = 0;
                    }
                    let (k, last) = (group[0] + layer, places.len() - 1);
                    places[last][lane] = k;
                    lanes[k as usize] = (last * LANES + lane) as u32;
                    lane += 1;
                }
                if colours.last() == Some(&(places.len() as u32)) {
                    break;
                }
                colours.push(places.len() as u32);
            }
        }
        blocks.resize(places.len(), Block::default());
        states.resize(places.len(), State::default());
        let state = |(place, (block, state)): (&[u32; LANES], (&mut Block, &mut State))| {
            (*block, *state) = (Block::empty(nobody), State::default());
            place.iter().enumerate().all(|(l, &k)| k == NONE || block.set(l, p, &p.contacts[k as usize]))
        };
        let all = if share(Part::Prepare, places.len(), SHARED) {
            places.par_iter().zip(blocks.par_iter_mut().zip(states)).with_min_len(SHARED / 4).all(state)
        } else {
            places.iter().zip(blocks.iter_mut().zip(states)).all(state)
        };
        self.known = !p.lagged.is_empty();
        self.take_shifts(&p.lagged);
        all
    }

    /// The shifts with which contacts are visited from now on; none for Coulomb's law.
    pub(super) fn take_shifts(&mut self, shifts: &[f64]) {
        self.shifts.clear();
        if !shifts.is_empty() {
            self.shifts.extend(self.places.iter().map(|place| place.map(|k| if k == NONE { 0.0 } else { shifts[k as usize] })));
        }
    }

    /// Takes over the reactions of an answer.
    pub(super) fn load(&mut self, p: &MixedProblem, answer: &Answer) {
        let load = |(state, places): (&mut State, &[u32; LANES])| {
            for (l, &k) in places.iter().enumerate().filter(|(_, k)| **k != NONE) {
                let r = p.contacts[k as usize].to_world(answer.reactions.contacts[k as usize]);
                (0..3).for_each(|i| state.r[i][l] = r[i]);
            }
        };
        if share(Part::Prepare, self.places.len(), SHARED) {
            self.states.par_iter_mut().zip(&self.places).with_min_len(SHARED / 4).for_each(load);
        } else {
            self.states.iter_mut().zip(&self.places).for_each(load);
        }
    }

    /// Writes the reactions in the frames of their contacts.
    pub(super) fn store(&self, p: &MixedProblem, reactions: &mut Reactions) {
        let reaction = |(r, (c, &lane)): (&mut DVec3, (&Contact, &u32))| {
            let (state, l) = (&self.states[lane as usize / LANES], lane as usize % LANES);
            *r = c.to_local(DVec3::new(state.r[0][l], state.r[1][l], state.r[2][l]));
        };
        if share(Part::Prepare, self.places.len(), SHARED) {
            let all = reactions.contacts.par_iter_mut().zip(p.contacts.par_iter().zip(&self.lanes));
            all.with_min_len(SHARED).for_each(reaction);
        } else {
            reactions.contacts.iter_mut().zip(p.contacts.iter().zip(&self.lanes)).for_each(reaction);
        }
    }

    /// The colours, with the conjugate step that each reaction takes before it is visited.
    pub(super) fn colours(&mut self, momentum: Option<Momentum>) -> impl Iterator<Item = Piece<'_>> {
        let (mut blocks, mut states, mut shifts) = (self.blocks.as_slice(), self.states.as_mut_slice(), self.shifts.as_slice());
        self.colours.windows(2).map(move |colour| {
            let n = (colour[1] - colour[0]) as usize;
            let (here, rest) = std::mem::take(&mut states).split_at_mut(n);
            let (known, unknown) = shifts.split_at(n.min(shifts.len()));
            let piece = Piece { blocks: &blocks[..n], states: here, shifts: known, momentum };
            (blocks, states, shifts) = (&blocks[n..], rest, unknown);
            piece
        })
    }

    /// Squares of the natural map, of the reactions, of the worst misfit and of the largest share that a contact carries of its scale.
    pub(super) fn residual(&self, v: &[Twist]) -> Squares {
        let shared = share(Part::Residual, self.blocks.len(), JUDGED + 1);
        let piece = |from: usize, to: usize| {
            let shifts = self.shifts.get(from..to).filter(|_| self.known).unwrap_or_default();
            crate::algebra::lanes::Lanes::best().run_wide(Judge {
                blocks: &self.blocks[from..to],
                states: &self.states[from..to],
                shifts,
                v,
            })
        };
        pieces::sum(self.blocks.len(), JUDGED, shared, piece, Squares::add).unwrap_or_default()
    }
}

/// Blocks from which on threads share what is done once a solve.
const SHARED: usize = 512;
/// Blocks per piece of a sum: fixed, so that any number of threads adds in the same order.
const JUDGED: usize = 512;

/// Appends the twist that stands for all immobile bodies: zero, and nothing kicks it.
pub(super) fn stand_in(p: &MixedProblem, v: &mut Vec<Twist>) {
    v.truncate(p.free.rigid.len());
    v.push(Twist::default());
}

/// Part of a colour, with the conjugate step that each reaction takes before it is visited.
pub(super) struct Piece<'a> {
    blocks: &'a [Block],
    states: &'a mut [State],
    shifts: &'a [Row],
    momentum: Option<Momentum>,
}

/// Blocks above which a piece is worth another thread.
const WORTH: usize = 64;

impl Halves for Piece<'_> {
    fn halve(self) -> Result<[Self; 2], Self> {
        if self.blocks.len() <= WORTH {
            return Err(self);
        }
        let middle = self.blocks.len() / 2;
        let (blocks, states) = (self.blocks.split_at(middle), self.states.split_at_mut(middle));
        let shifts = self.shifts.split_at(middle.min(self.shifts.len()));
        Ok([
            Piece { blocks: blocks.0, states: states.0, shifts: shifts.0, ..self },
            Piece { blocks: blocks.1, states: states.1, shifts: shifts.1, ..self },
        ])
    }

    /// Visits its contacts; `v` are the twists of all bodies and the one that [`stand_in`] adds.
    fn visit<C: TwistCell>(self, v: &[C]) -> Norms {
        crate::algebra::lanes::Lanes::best().run_wide(Visit { piece: self, v })
    }
}

struct Visit<'a, C> {
    piece: Piece<'a>,
    v: &'a [C],
}

/// Linear and angular part of the twists of the bodies at one end, as many as a register holds, from lane `from` on.
#[inline(always)]
fn gather<S: Simd>(simd: S, bodies: &[u32; LANES], from: usize, load: impl Fn(u32) -> Twist) -> [Wide3<S>; 2] {
    match S::F64_LANES {
        8 => gathered::<S, 8>(simd, &bodies[from..], load),
        4 => gathered::<S, 4>(simd, &bodies[from..], load),
        2 => gathered::<S, 2>(simd, &bodies[from..], load),
        _ => gathered::<S, 1>(simd, &bodies[from..], load),
    }
}

#[inline(always)]
fn gathered<S: Simd, const N: usize>(simd: S, bodies: &[u32], load: impl Fn(u32) -> Twist) -> [Wide3<S>; 2] {
    let mut rows = [[0.0; N]; 6];
    for l in 0..N {
        let Twist { linear, angular } = load(bodies[l]);
        (rows[0][l], rows[1][l], rows[2][l]) = (linear.x, linear.y, linear.z);
        (rows[3][l], rows[4][l], rows[5][l]) = (angular.x, angular.y, angular.z);
    }
    let at = |i: usize| Wide::of(simd, &rows[i]);
    [Wide3(at(0), at(1), at(2)), Wide3(at(3), at(4), at(5))]
}

#[inline(always)]
fn scatter<S: Simd, C: TwistCell>(bodies: &[u32; LANES], from: usize, t: [Wide3<S>; 2], v: &[C]) {
    match S::F64_LANES {
        8 => scattered::<S, C, 8>(&bodies[from..], t, v),
        4 => scattered::<S, C, 4>(&bodies[from..], t, v),
        2 => scattered::<S, C, 2>(&bodies[from..], t, v),
        _ => scattered::<S, C, 1>(&bodies[from..], t, v),
    }
}

#[inline(always)]
fn scattered<S: Simd, C: TwistCell, const N: usize>(bodies: &[u32], [linear, angular]: [Wide3<S>; 2], v: &[C]) {
    let mut t = [[0.0; N]; 6];
    for (row, x) in t.iter_mut().zip([linear.0, linear.1, linear.2, angular.0, angular.1, angular.2]) {
        x.put(row);
    }
    for l in 0..N {
        let twist = Twist { linear: DVec3::new(t[0][l], t[1][l], t[2][l]), angular: DVec3::new(t[3][l], t[4][l], t[5][l]) };
        v[bodies[l] as usize].store(twist);
    }
}

/// `u`, in the world.
#[inline(always)]
fn velocity<S: Simd>(simd: S, c: &Block, k: usize, v1: [Wide3<S>; 2], v2: [Wide3<S>; 2]) -> Wide3<S> {
    let n = Wide3::load(simd, &c.normal, k);
    let arms = [Wide::load(simd, &c.arms[0], k), Wide::load(simd, &c.arms[1], k)];
    v1[0] - v2[0] + Wide3::load(simd, &c.b, k) + (v1[1].times(arms[0]) - v2[1].times(arms[1])).cross(n)
}

/// The point of the cone nearest to (x_n, x_t), t = ‖x_t‖, in the norm of diag(w_n, w_t, w_t): its normal part, and what x_t is multiplied with.
#[inline(always)]
fn nearest<S: Simd>(simd: S, mu: Wide<S>, [xn, t]: [Wide<S>; 2], [wn_inv, wt_inv]: [Wide<S>; 2]) -> [Wide<S>; 2] {
    let (zero, one) = (Wide::splat(simd, 0.0), Wide::splat(simd, 1.0));
    let height = wt_inv * xn + mu * wn_inv * t;
    let (apex, inside) = (height.at_most(zero), t.at_most(mu * xn));
    let on = height.over(wt_inv + mu * mu * wn_inv);
    // without friction and slip, t = μ x_n = 0 on both sides of the apex
    [apex.pick(zero, inside.pick(xn, on)), apex.pick(zero, inside.pick(one, (mu * on).over(t)))]
}

impl<C: TwistCell> WithSimd for Visit<'_, C> {
    type Output = Norms;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Norms {
        let Self { piece: Piece { blocks, states, shifts, momentum }, v } = self;
        let mut sums = [[0.0; LANES]; 3];
        let (zero, one) = (Wide::splat(simd, 0.0), Wide::splat(simd, 1.0));
        let none = Wide3(zero, zero, zero);
        let momentum = momentum.map(|m| (Wide::splat(simd, m.beta), m.whole));
        for (at, (c, state)) in blocks.iter().zip(states).enumerate() {
            let load = |body: u32| v[body as usize].load();
            for k in 0..Wide::<S>::PARTS {
                let from = k * S::F64_LANES;
                let (v1, v2) = (gather(simd, &c.bodies[0], from, load), gather(simd, &c.bodies[1], from, load));
                let mut r = Wide3::load(simd, &state.r, k);
                if let Some((beta, whole)) = momentum {
                    let (p, d) = (Wide3::load(simd, &state.direction, k), Wide3::load(simd, &state.change, k));
                    let step = if whole { p + d } else { p }.times(beta);
                    r = r + step;
                    if whole { step } else { step + d }.store(&mut state.direction, k);
                }
                let n = Wide3::load(simd, &c.normal, k);
                let u = velocity(simd, c, k, v1, v2);
                let (rn, un) = (n.dot(r), n.dot(u));
                let (wn_inv, wt_inv) = (Wide::load(simd, &c.wn_inv, k), Wide::load(simd, &c.wt_inv, k));
                let (mu, x) = (Wide::load(simd, &c.mu, k), (r - n.times(rn)) - (u - n.times(un)).times(wt_inv));
                let new = if let Some(shift) = shifts.get(at) {
                    let xn = rn - (un + Wide::load(simd, shift, k)) * wn_inv;
                    let [height, scale] = nearest(simd, mu, [xn, x.dot(x).sqrt()], [wn_inv, wt_inv]);
                    n.times(height) + x.times(scale)
                } else {
                    let new_n = rn - un * wn_inv;
                    let (limit, size) = (mu * new_n, x.dot(x));
                    let scale = size.at_most(limit * limit).pick(one, limit.over(size.sqrt()));
                    new_n.at_most(zero).pick3(none, n.times(new_n) + x.times(scale))
                };
                let dr = new - r;
                new.store(&mut state.r, k);
                dr.store(&mut state.change, k);
                let weight = Wide::load(simd, &c.weight, k);
                let direction = Wide3::load(simd, &state.direction, k);
                for (sum, square) in sums.iter_mut().zip([dr.dot(dr), new.dot(new), dr.dot(direction)]) {
                    (Wide::load(simd, sum, k) + weight * square).store(sum, k);
                }
                // mostly neighbours that stay apart
                let still = dr.0.equals(zero).and(dr.1.equals(zero)).and(dr.2.equals(zero));
                let turn = n.cross(dr);
                let [masses, spins] = [&c.masses, &c.spins].map(|x| [Wide::load(simd, &x[0], k), Wide::load(simd, &x[1], k)]);
                let kicked = [
                    [v1[0] + dr.times(masses[0]), v1[1] + turn.times(spins[0])],
                    [v2[0] - dr.times(masses[1]), v2[1] - turn.times(spins[1])],
                ];
                for (bodies, (old, new)) in c.bodies.iter().zip([v1, v2].into_iter().zip(kicked)) {
                    scatter(bodies, from, [still.pick3(old[0], new[0]), still.pick3(old[1], new[1])], v);
                }
            }
        }
        let mut norms = Norms::default();
        let [change, size, along] = sums;
        for l in 0..LANES {
            norms.change += change[l];
            norms.size += size[l];
            norms.along += along[l];
        }
        norms
    }
}

/// What [`Balls::residual`] finds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Squares {
    /// `Σ d |F|²`
    pub(super) error: f64,
    /// `Σ d |r|²`
    pub(super) size: f64,
    /// largest `d² |F|²/s²`
    pub(super) misfit: f64,
    /// largest `d² |r|²/s²`; infinite where a contact has no scale
    pub(super) carried: f64,
}

impl Squares {
    fn add(self, o: Self) -> Self {
        Self {
            error: self.error + o.error,
            size: self.size + o.size,
            misfit: self.misfit.max(o.misfit),
            carried: self.carried.max(o.carried),
        }
    }
}

struct Judge<'a> {
    blocks: &'a [Block],
    states: &'a [State],
    shifts: &'a [Row],
    v: &'a [Twist],
}

impl WithSimd for Judge<'_> {
    type Output = Squares;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Squares {
        let mut found = Squares::default();
        let one = Wide::splat(simd, 1.0);
        for (at, (c, state)) in self.blocks.iter().zip(self.states).enumerate() {
            let load = |body: u32| self.v[body as usize];
            let (mut errors, mut sizes) = ([0.0; LANES], [0.0; LANES]);
            for k in 0..Wide::<S>::PARTS {
                let n = Wide3::load(simd, &c.normal, k);
                let from = k * S::F64_LANES;
                let u = velocity(simd, c, k, gather(simd, &c.bodies[0], from, load), gather(simd, &c.bodies[1], from, load));
                let (r, d, mu) = (Wide3::load(simd, &state.r, k), Wide::load(simd, &c.weight, k), Wide::load(simd, &c.mu, k));
                let d_inv = one.over(d);
                let (rn, un) = (n.dot(r), n.dot(u));
                let (rt, ut) = (r - n.times(rn), u - n.times(un));
                let shift = self.shifts.get(at).map_or_else(|| mu * ut.dot(ut).sqrt(), |shift| Wide::load(simd, shift, k));
                let (xn, xt) = (rn - (un + shift) * d_inv, rt - ut.times(d_inv));
                // the projection of `admissible::cone_projection`
                let [height, scale] = nearest(simd, mu, [xn, xt.dot(xt).sqrt()], [one, one]);
                let (en, et) = (rn - height, rt - xt.times(scale));
                (d * (en * en + et.dot(et))).store(&mut errors, k);
                (d * r.dot(r)).store(&mut sizes, k);
            }
            for l in 0..LANES {
                let (e, s, d, limit) = (errors[l], sizes[l], c.weight[l], c.limit[l]);
                found.error += e;
                found.size += s;
                found.misfit = found.misfit.max(d * e * limit);
                found.carried = found.carried.max(if limit > 0.0 { d * s * limit } else { f64::INFINITY });
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::residual;
    use glam::DMat3;
    use proptest::prelude::*;
    use std::cell::Cell;

    /// Two pairs of balls, one of them with two contacts, and a ball on a floor, all in one colour.
    fn pairs(v: [f64; 6], mu: f64) -> MixedProblem {
        let mut p = MixedProblem::default();
        for k in 0..5 {
            let (mass, shift) = (2.0 - 0.3 * f64::from(k), 0.1 * f64::from(k));
            p.rigid.push(RigidMass { inverse_mass: DVec3::splat(mass), inverse_inertia: RigidMass::pack(DMat3::IDENTITY * 3.0 * mass) });
            p.free.rigid.push(Twist {
                linear: DVec3::new(v[0], v[1], v[2] - shift),
                angular: DVec3::new(v[3] + shift, v[4], v[5]) * f64::from(1 - 2 * (k % 2)),
            });
        }
        let contact = |normal: DVec3, body1, body2| {
            let tangent = crate::algebra::spatial::tangents(normal).0;
            let b = DVec3::new(0.1, 0.2, -0.3);
            Contact { normal, tangent, arm1: -0.5 * normal, arm2: 0.7 * normal, b, mu, body1, body2, scale: 0.7, ..Contact::default() }
        };
        p.push_group([contact(DVec3::new(0.6, 0.0, 0.8), 0, 1), contact(DVec3::new(0.0, 0.8, 0.6), 0, 1)]);
        p.push_group([contact(DVec3::Z, 2, IMMOBILE)]);
        p.push_group([contact(DVec3::new(0.0, -0.6, 0.8), 4, 3)]);
        p.close_colour();
        p.prepare().expect("legal");
        p
    }

    proptest! {
        #[test]
        fn the_short_form_gives_the_answer_of_the_general_contact(
            v in prop::array::uniform6(-1.0..1.0f64), r in prop::array::uniform3(-1.0..1.0f64), mu in 0.0..1.5f64,
            known in prop::option::of(prop::array::uniform4(0.0..1.0f64)),
        ) {
            let mut p = pairs(v, mu);
            p.lagged.extend(known.iter().flatten());
            let mut answer = Answer::for_problem(&p);
            let guess = DVec3::new(r[0].abs(), 0.3 * mu * r[1], 0.3 * mu * r[2]);
            answer.reactions.contacts.fill(guess);
            p.velocities(&answer.reactions.clone(), &mut answer.velocities);
            let mut balls = Balls::default();
            prop_assert!(balls.prepare(&p));
            balls.load(&p, &answer);
            let mut twists = answer.velocities.rigid.clone();
            stand_in(&p, &mut twists);
            let found = balls.residual(&twists);
            let expected = residual::residual(&p, &answer, &answer.velocities);
            let misfit = residual::with_overload(&p, found.misfit.sqrt(), found.carried.sqrt(), [found.error, found.size]);
            prop_assert!((misfit - expected.misfit).abs() < 1e-13 * misfit.max(1.0), "{misfit} {}", expected.misfit);
            let cells = Cell::from_mut(twists.as_mut_slice()).as_slice_of_cells();
            let norms = balls.colours(None).map(|piece| piece.visit(cells)).fold(Norms::default(), Norms::add);
            prop_assert!(twists[5] == Twist::default());
            let mut changed = 0.0;
            // the same by the general contact, in the order of the array
            for (k, c) in p.contacts.iter().enumerate() {
                let u = p.contact_velocity(c, &answer.velocities.rigid);
                let q = u - c.local.apply(guess);
                let exact = p.lagged.get(k).map_or_else(|| c.local.solve(q, mu), |&s| c.local.solve_convex(q + s * DVec3::X, mu));
                let dr = exact - guess;
                answer.reactions.contacts[k] = exact;
                p.velocities(&answer.reactions.clone(), &mut answer.velocities);
                changed += c.local.mean_diagonal() * dr.length_squared();
            }
            let mut own = Reactions { contacts: vec![DVec3::NAN; p.contacts.len()], ..Reactions::default() };
            balls.store(&p, &mut own);
            for (a, b) in own.contacts.iter().zip(&answer.reactions.contacts) {
                prop_assert!((*a - *b).length() < 1e-13, "{a} {b}");
            }
            for (a, b) in twists.iter().zip(&answer.velocities.rigid) {
                prop_assert!((a.linear - b.linear).length() + (a.angular - b.angular).length() < 1e-12);
            }
            prop_assert!((norms.change - changed).abs() < 1e-12);
        }
    }

    #[test]
    fn smooth_balls_that_part_along_the_line_of_their_centres_need_nothing() {
        let mut p = pairs([0.0; 6], 0.0);
        p.free.rigid.fill(Twist::default());
        p.contacts.iter_mut().for_each(|c| c.b = 0.2 * DVec3::X);
        p.prepare().expect("legal");
        for known in [0.0, 0.1] {
            p.lagged = vec![known; if known > 0.0 { p.contacts.len() } else { 0 }];
            let (mut balls, mut twists) = (Balls::default(), p.free.rigid.clone());
            assert!(balls.prepare(&p));
            stand_in(&p, &mut twists);
            assert_eq!(balls.residual(&twists).error, 0.0);
            let cells = Cell::from_mut(twists.as_mut_slice()).as_slice_of_cells();
            let moved = balls.colours(None).map(|piece| piece.visit(cells)).fold(Norms::default(), Norms::add);
            assert_eq!((moved.change, moved.size), (0.0, 0.0));
        }
    }

    #[test]
    fn a_contact_that_is_none_of_balls_is_refused() {
        let mut p = pairs([0.0; 6], 0.5);
        p.contacts[3].arm1 += 1e-9 * DVec3::X;
        assert!(!Balls::default().prepare(&p));
    }
}
