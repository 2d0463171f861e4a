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
//! The same solution as [`super::contact`], without tangents and secular equation; [`moments`] has what resists rolling and twisting. Contacts of a colour share no body, so they are visited
//! [`LANES`] at a time, each in its own lane of the vector registers: what a contact computes, and in which order, does not change by that. Contacts
//! among them that are none of balls, as those of a wall that moves along one axis, are visited after those of their colour.

use super::colours::{Halves, Twists, Unit};
use super::mixed::{Answer, Contact, IMMOBILE, MixedProblem, Reactions, RigidMass, Spin, Twist};
use super::passes::Momentum;
use super::visits::{Colour, Groups, Norms, Pieces, Rows};
use crate::algebra::lanes::{LANES, Lanes, Row};
use crate::algebra::pieces::{self, Part, share};
use glam::DVec3;
use judge::{Judge, Squares};
use moments::{Moments, Rare};
use rayon::prelude::*;
use std::ops::Range;

mod judge;
mod moments;
#[cfg(test)]
mod tests;
mod visit;

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
    fn set(&mut self, l: usize, p: &MixedProblem, k: usize) -> bool {
        let c = &p.contacts[k];
        let (mut wn, mut wt) = (0.0, 0.0);
        for (k, (body, arm)) in [(c.body1, c.arm1), (c.body2, c.arm2)].into_iter().enumerate() {
            if body == IMMOBILE {
                continue;
            }
            let RigidMass { inverse_mass: m, inverse_inertia: i } = p.rigid[body as usize];
            let Some(length) = is_of_ball(&p.rigid[body as usize], arm, c.normal) else { return false };
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
        self.weight[l] = p.spins.get(k).map_or_else(|| c.local.mean_diagonal(), |spin| spin.mean_diagonal(c));
        self.limit[l] = if c.scale > 0.0 { 1.0 / (c.scale * c.scale) } else { 0.0 };
        true
    }
}

/// Relative misalignment of an arm that counts as rounding.
const ALIGNED: f64 = 1e-13;

/// Rounding of a point of contact far from the origin, in parts of its place: some sums of that size.
const PLACED: f64 = 16.0 * f64::EPSILON;

/// The arm of a contact (m): along the normal where it is so but for the rounding of its place (m). So balls are balls however far from the
/// origin they are.
#[inline]
pub fn straightened(arm: DVec3, normal: DVec3, place: f64) -> DVec3 {
    let length = arm.dot(normal);
    let along = length * normal;
    let (off, rounding) = ((arm - along).length_squared(), PLACED * place);
    if off > (ALIGNED * length).powi(2) && off <= rounding * rounding { along } else { arm }
}

/// The length of the arm along the normal, where the body is a ball as far as this contact can tell.
#[inline(always)]
fn is_of_ball(body: &RigidMass, arm: DVec3, normal: DVec3) -> Option<f64> {
    let (m, length) = (body.inverse_mass, arm.dot(normal));
    let scalar = m.x == m.y && m.y == m.z && body.turns_as_ball();
    (scalar && (arm - length * normal).length_squared() <= (ALIGNED * length).powi(2)).then_some(length)
}

/// Whether a contact is one of balls, which can turn where it resists that.
fn is_of_balls(p: &MixedProblem, k: usize) -> bool {
    let c = &p.contacts[k];
    let of_ball = |body, arm| body == IMMOBILE || is_of_ball(&p.rigid[body as usize], arm, c.normal).is_some();
    let turns = |body| body != IMMOBILE && p.rigid[body as usize].inverse_inertia[0] > 0.0;
    let resists = p.spins.get(k).is_some_and(Spin::resists);
    of_ball(c.body1, c.arm1) && of_ball(c.body2, c.arm2) && (!resists || turns(c.body1) || turns(c.body2))
}

/// How many contacts are none of balls; nothing where these are more than `most`.
pub(super) fn others(p: &MixedProblem, most: usize) -> Option<usize> {
    let all = p.contacts.len();
    let none = if share(Part::Prepare, all, LANES * SHARED) {
        (0..all).into_par_iter().all(|k| is_of_balls(p, k))
    } else {
        (0..all).all(|k| is_of_balls(p, k))
    };
    if none {
        return Some(0);
    }
    let mut others = (0..all).filter(|&k| !is_of_balls(p, k));
    let count = others.by_ref().take(most).count();
    others.next().is_none().then_some(count)
}

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
    /// what resists rolling and twisting, and its impulses; none where nothing does
    moments: Vec<Moments>,
    turns: Vec<State>,
    /// whether force and moment of the contacts of a block are solved at once
    leans: Vec<bool>,
    rare: Rare,
    /// shift of each lane while it is visited; none where that solves Coulomb's law
    shifts: Vec<Row>,
    /// whether the shifts are known ones, which the law has too
    known: bool,
    /// contact of each lane
    places: Vec<[u32; LANES]>,
    /// lane of each contact
    lanes: Vec<u32>,
    /// first block of each colour or cell, and the end; where a pair has several contacts, one colour for the first of each, and so on
    colours: Vec<u32>,
    /// whether a group has a contact that is none of balls; empty where none has
    strange: Vec<bool>,
    /// contacts of the groups that have: from, to; visited one by one, in a colour of their own after those of their colour, or of the cells of a level
    others: Vec<[u32; 2]>,
    /// first of them for each colour or cell, and the end
    ends: Vec<u32>,
    /// with cells, how many of these there are up to the end of each round
    rounds: Vec<u32>,
}

impl Balls {
    /// States the contacts anew; false if most of them are not of balls, or they resist rolling under a known shift.
    ///
    /// The twist after those of all bodies stands for immobile ones: [`stand_in`].
    pub(super) fn prepare(&mut self, p: &MixedProblem) -> bool {
        if !(p.spins.is_empty() || p.lagged.is_empty()) {
            return false;
        }
        // nearly all problems are of balls alone, or of none
        self.strange.clear();
        if p.contacts.is_empty() || is_of_balls(p, 0) {
            self.arrange(p);
            if self.state(p) {
                return true;
            }
        }
        if !self.set_apart(p) {
            return false;
        }
        self.arrange(p);
        self.state(p)
    }

    /// Whether contacts of other bodies than balls are visited one by one.
    pub(super) fn has_others(&self) -> bool {
        !self.others.is_empty()
    }

    /// Looks for the groups with contacts that are none of balls; false where these are more than half of all contacts.
    fn set_apart(&mut self, p: &MixedProblem) -> bool {
        let mut left = p.contacts.len() / 2;
        for group in p.groups.windows(2) {
            let strange = (group[0]..group[1]).any(|k| !is_of_balls(p, k as usize));
            self.strange.push(strange);
            if strange {
                let Some(rest) = left.checked_sub((group[1] - group[0]) as usize) else { return false };
                left = rest;
            }
        }
        true
    }

    /// Gives each contact its lane.
    fn arrange(&mut self, p: &MixedProblem) {
        let Self { places, lanes, leans, colours, strange, others, ends, rounds, .. } = self;
        places.clear();
        leans.clear();
        lanes.clear();
        lanes.resize(p.contacts.len(), NONE);
        colours.clear();
        colours.push(0);
        others.clear();
        ends.clear();
        ends.push(0);
        rounds.clear();
        let is_strange = |g: usize| strange.get(g) == Some(&true);
        let set_apart = |groups: Range<usize>, others: &mut Vec<[u32; 2]>| {
            others.extend(groups.filter(|&g| is_strange(g)).map(|g| [p.groups[g], p.groups[g + 1]]));
        };
        let mut layers = |colour: &[u32], places: &mut Vec<[u32; LANES]>, each: &mut dyn FnMut(u32)| {
            for layer in 0.. {
                let before = places.len();
                // what is solved at once in blocks of its own: one such lane keeps all lanes of its block waiting
                for leaning in [false, true].into_iter().take(if p.spins.is_empty() { 1 } else { 2 }) {
                    let mut lane = LANES;
                    let groups = colour[0] as usize..colour[1] as usize;
                    let with = groups.filter(|&g| p.groups[g] + layer < p.groups[g + 1] && !is_strange(g)).map(|g| p.groups[g] + layer);
                    for k in with.filter(|&k| p.spins.is_empty() || moments::leans(p, k as usize) == leaning) {
                        if lane == LANES {
                            places.push([NONE; LANES]);
                            if !p.spins.is_empty() {
                                leans.push(leaning);
                            }
                            lane = 0;
                        }
                        let last = places.len() - 1;
                        places[last][lane] = k;
                        lanes[k as usize] = (last * LANES + lane) as u32;
                        lane += 1;
                    }
                }
                if places.len() == before {
                    break;
                }
                each(places.len() as u32);
            }
        };
        let Some(cells) = p.known_cells() else {
            for colour in p.colours.windows(2) {
                layers(colour, places, &mut |end| {
                    colours.push(end);
                    ends.push(others.len() as u32);
                });
                set_apart(colour[0] as usize..colour[1] as usize, others);
                if ends.last() != Some(&(others.len() as u32)) {
                    colours.push(places.len() as u32);
                    ends.push(others.len() as u32);
                }
            }
            return;
        };
        for level in cells.levels.windows(2) {
            let of_level = &cells.starts[level[0] as usize..=level[1] as usize];
            for cell in of_level.windows(2) {
                for colour in p.colours[cell[0] as usize..=cell[1] as usize].windows(2) {
                    layers(colour, places, &mut |_| {});
                }
                colours.push(places.len() as u32);
                ends.push(others.len() as u32);
            }
            rounds.push(colours.len() as u32 - 1);
            if strange.is_empty() {
                continue;
            }
            for cell in of_level.windows(2) {
                let [from, to] = [cell[0], cell[1]].map(|colour| p.colours[colour as usize] as usize);
                set_apart(from..to, others);
                colours.push(places.len() as u32);
                ends.push(others.len() as u32);
            }
            rounds.push(colours.len() as u32 - 1);
        }
    }

    /// States the contacts in their lanes; false if one of them is not of balls.
    fn state(&mut self, p: &MixedProblem) -> bool {
        let Self { blocks, states, moments, turns, places, .. } = self;
        let nobody = p.free.rigid.len() as u32;
        blocks.resize(places.len(), Block::default());
        states.resize(places.len(), State::default());
        let state = |(place, (block, state)): (&[u32; LANES], (&mut Block, &mut State))| {
            (*block, *state) = (Block::empty(nobody), State::default());
            place.iter().enumerate().all(|(l, &k)| k == NONE || block.set(l, p, k as usize))
        };
        let shared = share(Part::Prepare, places.len(), SHARED);
        let mut all = if shared {
            places.par_iter().zip(blocks.par_iter_mut().zip(states)).with_min_len(SHARED / 4).all(state)
        } else {
            places.iter().zip(blocks.iter_mut().zip(states)).all(state)
        };
        let count = if p.spins.is_empty() { 0 } else { places.len() };
        moments.resize(count, Moments::default());
        turns.resize(count, State::default());
        if all && count > 0 {
            let resist = |((place, block), (moment, turn)): ((&[u32; LANES], &Block), (&mut Moments, &mut State))| {
                (*moment, *turn) = (Moments::default(), State::default());
                let mut known = place.iter().enumerate().filter(|(_, k)| **k != NONE);
                known.all(|(l, &k)| moment.set(l, p, (&p.contacts[k as usize], &p.spins[k as usize]), block))
            };
            all = if shared {
                places.par_iter().zip(&*blocks).zip(moments.par_iter_mut().zip(turns)).with_min_len(SHARED / 4).all(resist)
            } else {
                places.iter().zip(&*blocks).zip(moments.iter_mut().zip(turns)).all(resist)
            };
        }
        self.rare = Rare::of(&p.spins);
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
        for (states, all) in [(&mut self.states, &answer.reactions.contacts), (&mut self.turns, &answer.reactions.spins)] {
            let load = |(state, places): (&mut State, &[u32; LANES])| {
                for (l, &k) in places.iter().enumerate().filter(|(_, k)| **k != NONE) {
                    let r = p.contacts[k as usize].to_world(all[k as usize]);
                    (0..3).for_each(|i| state.r[i][l] = r[i]);
                }
            };
            if share(Part::Prepare, states.len(), SHARED) {
                states.par_iter_mut().zip(&self.places).with_min_len(SHARED / 4).for_each(load);
            } else {
                states.iter_mut().zip(&self.places).for_each(load);
            }
        }
    }

    /// Writes the reactions in the frames of their contacts; those of others stay as they are.
    pub(super) fn store(&self, p: &MixedProblem, reactions: &mut Reactions) {
        for (states, all) in [(&self.states, &mut reactions.contacts), (&self.turns, &mut reactions.spins)] {
            let reaction = |(r, (c, &lane)): (&mut DVec3, (&Contact, &u32))| {
                if lane == NONE {
                    return;
                }
                let (state, l) = (&states[lane as usize / LANES], lane as usize % LANES);
                *r = c.to_local(DVec3::new(state.r[0][l], state.r[1][l], state.r[2][l]));
            };
            if share(Part::Prepare, states.len(), SHARED) {
                all.par_iter_mut().zip(p.contacts.par_iter().zip(&self.lanes)).with_min_len(SHARED).for_each(reaction);
            } else {
                all.iter_mut().zip(p.contacts.iter().zip(&self.lanes)).for_each(reaction);
            }
        }
    }

    /// Whether a contact is visited one by one, and has no lane.
    pub(super) fn is_apart(&self, k: usize) -> bool {
        self.lanes[k] == NONE
    }

    /// Appends `D^½` times the changes in the last sweep, and the reactions.
    pub(super) fn gather(&self, changes: &mut Vec<f64>, reactions: &mut Vec<f64>) {
        for (block, state) in self.blocks.iter().zip(&self.states) {
            let roots = block.weight.map(f64::sqrt);
            for (change, r) in state.change.iter().zip(&state.r) {
                changes.extend(change.iter().zip(&roots).map(|(d, root)| root * d));
                reactions.extend_from_slice(r);
            }
        }
    }

    /// Takes the reactions from where [`gather`](Self::gather) has put them; the rest is what follows.
    pub(super) fn scatter<'a>(&mut self, reactions: &'a [f64]) -> &'a [f64] {
        let (rows, rest) = reactions.split_at(3 * LANES * self.states.len());
        let all = self.states.iter_mut().flat_map(|state| &mut state.r);
        all.zip(rows.as_chunks::<LANES>().0).for_each(|(r, row)| *r = *row);
        rest
    }

    /// All that a sweep visits, colour by colour or level by level: contacts of balls in their lanes, others where `pieces` have them.
    pub(super) fn visits<'a>(&'a mut self, rows: &'a Rows<'a>, pieces: Pieces<'a>) -> impl Iterator<Item = Unit<Visits<'a>>> {
        let Self { blocks, states, moments, turns, leans, rare, shifts, colours, others, ends, rounds, .. } = self;
        let (others, ends, whole) = (&*others, &*ends, !rounds.is_empty());
        let mut lanes = Some(Piece { blocks, states, moments, turns, leans, rare: *rare, shifts, momentum: rows.momentum });
        let mut rest = Some((pieces, 0));
        let mut rounds = rounds.iter().peekable();
        colours.windows(2).zip(ends.windows(2)).enumerate().filter_map(move |(k, (colour, end))| {
            let groups = &others[end[0] as usize..end[1] as usize];
            let last = !whole || rounds.next_if(|&&end| end as usize == k + 1).is_some();
            let (Some(first), Some(end)) = (groups.first(), groups.last()) else {
                let [piece, after] = lanes.take()?.split((colour[1] - colour[0]) as usize);
                lanes = Some(after);
                return Some(Unit { piece: Visits::Lanes(piece), whole, last });
            };
            let (pieces, at) = rest.take()?;
            let (pieces, after) = pieces.split((first[0] - at) as usize).1.split((end[1] - first[0]) as usize);
            rest = Some((after, end[1]));
            Some(Unit { piece: Visits::Others(Colour { rows, groups: Groups::Apart(groups), pieces }), whole, last })
        })
    }

    /// Squares of the natural map, of the reactions, of the worst misfit and of the largest share that a contact carries of its scale.
    pub(super) fn residual(&self, v: &[Twist]) -> Squares {
        let shared = share(Part::Residual, self.blocks.len(), JUDGED + 1);
        let piece = |from: usize, to: usize| {
            Lanes::best().run_wide(Judge {
                blocks: &self.blocks[from..to],
                states: &self.states[from..to],
                moments: self.moments.get(from..to).unwrap_or_default(),
                turns: self.turns.get(from..to).unwrap_or_default(),
                shifts: self.shifts.get(from..to).filter(|_| self.known).unwrap_or_default(),
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
    moments: &'a [Moments],
    turns: &'a mut [State],
    leans: &'a [bool],
    rare: Rare,
    shifts: &'a [Row],
    momentum: Option<Momentum>,
}

impl Piece<'_> {
    /// Visits its contacts; `v` are the twists of all bodies and the one that [`stand_in`] adds.
    fn visit_in(self, lanes: Lanes, v: &impl Twists) -> Norms {
        let run = self.leans.iter().take_while(|leans| **leans == self.leans[0]).count();
        if run < self.leans.len() {
            let [first, rest] = self.split(run);
            return first.visit_in(lanes, v).add(rest.visit_in(lanes, v));
        }
        let Self { blocks, states, moments, turns, leans, rare, shifts, momentum } = self;
        match leans.first() {
            None => lanes.run_wide(visit::Visit { blocks, states, shifts, momentum, v }),
            Some(false) => lanes.run_wide(moments::Visit::<_, false> { blocks, states, moments, turns, rare, momentum, v }),
            Some(true) => lanes.run_wide(moments::Visit::<_, true> { blocks, states, moments, turns, rare, momentum, v }),
        }
    }

    /// The first blocks, and the others; what it has none of it stays without.
    fn split(self, at: usize) -> [Self; 2] {
        let (blocks, states) = (self.blocks.split_at(at), self.states.split_at_mut(at));
        let moments = self.moments.split_at(at.min(self.moments.len()));
        let turns = self.turns.split_at_mut(at.min(self.turns.len()));
        let leans = self.leans.split_at(at.min(self.leans.len()));
        let shifts = self.shifts.split_at(at.min(self.shifts.len()));
        let Self { rare, momentum, .. } = self;
        [
            Piece {
                blocks: blocks.0,
                states: states.0,
                moments: moments.0,
                turns: turns.0,
                leans: leans.0,
                rare,
                shifts: shifts.0,
                momentum,
            },
            Piece {
                blocks: blocks.1,
                states: states.1,
                moments: moments.1,
                turns: turns.1,
                leans: leans.1,
                rare,
                shifts: shifts.1,
                momentum,
            },
        ]
    }
}

/// Part of what a sweep visits.
pub(super) enum Visits<'a> {
    /// Contacts of balls.
    Lanes(Piece<'a>),
    /// Others.
    Others(Colour<'a>),
}

impl Halves for Visits<'_> {
    fn halve(self) -> Result<[Self; 2], Self> {
        match self {
            Self::Lanes(piece) => piece.halve().map(|halves| halves.map(Visits::Lanes)).map_err(Visits::Lanes),
            Self::Others(colour) => colour.halve().map(|halves| halves.map(Visits::Others)).map_err(Visits::Others),
        }
    }

    fn visit(self, v: &impl Twists) -> Norms {
        match self {
            Self::Lanes(piece) => piece.visit(v),
            Self::Others(colour) => colour.visit(v),
        }
    }
}

/// Blocks above which a piece is worth another thread.
const WORTH: usize = 64;

impl Halves for Piece<'_> {
    fn halve(self) -> Result<[Self; 2], Self> {
        if self.blocks.len() <= WORTH {
            return Err(self);
        }
        let middle = self.blocks.len() / 2;
        Ok(self.split(middle))
    }

    fn visit(self, v: &impl Twists) -> Norms {
        self.visit_in(Lanes::best(), v)
    }
}
