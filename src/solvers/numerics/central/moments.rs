//! Contacts of balls that resist rolling, twisting and drilling.
//!
//! With `ρ = p_t × n` for the rolling moment and ℓ, ℓ_n for the levers of `(p_t, p_n)`, every block of the own operator is a multiple of the
//! identity, and the normal row stands alone:
//!
//! ```text
//! u_t   = w_t r_t + c ρ + q        w_t = Σ m⁻¹ + i a²     c = ℓ Σ i a     A = ℓ² Σ i     A_n = ℓ_n² Σ i        over the two bodies
//! s × n = c r_t + A ρ + t          a: signed length of the arm along n,   i: inverse inertia
//! s_n   = A_n p_n + s              r_n ← max(0, r_n − u_n/w_n)  as without moments, and with it the radii of all discs
//! ```
//!
//! p_n is cut to its interval. Force and rolling moment have one multiplier each, `u_t = −λ r_t` and `s × n = −κ ρ`; that of the moment follows
//! from the other in closed form, so that one equation is left:
//!
//! ```text
//! z = 1/(w_t + λ)     y = 1/(A + κ) = min(1/A, μ_r r_n/(μ_r r_n c² z + ‖t − c z q‖))
//! r_t = −(q − c y t)/(w_t + λ − c² y)     ρ = −y (t + c r_t)     0 ≤ λ ⟂ μ r_n − ‖r_t‖ ≥ 0
//! ```
//!
//! Newton's method on `1/‖r_t‖`, a linear function of λ where the moment holds, begins with the λ of the last reaction. A contact that drills has
//! `p_n = −s/(A_n + λ)` in the disc of its friction. 40 000 random contacts with c² up to 0.999 w_t A took 2 to 4 turns from nothing and 2
//! from a guess that was off by some per cent; those that drill up to 15.
//!
//! Balls of like size move each other's force and moment little: where c² is below a part of `w_t A` ([`LEANS`]), and nothing drills, a visit
//! takes the force under the moment that is, then the moment under the new force. What that leaves falls by `c²/(w_t A)` from visit to visit, faster
//! than what neighbours leave.

use super::visit::{Ends, load_ends, stepped, store_ends, vanishes};
use super::{Block, State};
use crate::algebra::lanes::{LANES, Mask, Row, Simd, Wide, Wide3, WithSimd};
use crate::numerics::colours::Twists;
use crate::numerics::mixed::{Contact, IMMOBILE, MixedProblem, RigidMass, Spin};
use crate::numerics::passes::Momentum;
use crate::numerics::visits::Norms;
use glam::DVec3;

/// What resists at the contacts of a [`Block`].
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Moments {
    /// constant part of the turning, in the world
    pub(super) b: [Row; 3],
    /// ℓ_n and ℓ
    pub(super) levers: [Row; 2],
    /// inverse inertias
    inertia: [Row; 2],
    /// c, 0 where it is next to nothing
    cross: Row,
    /// 1/A and 1/A_n
    inverse: [Row; 2],
    pub(super) roll: Row,
    pub(super) twist: Row,
    /// 1 where p_n is bounded with the force, else 0
    pub(super) drills: Row,
}

/// Part of `√(w_t A)` below which force and moment count as independent: arms of equal balls differ by rounding.
const COUPLED: f64 = 1e-12;

impl Moments {
    /// Makes the moments of a contact, which [`Block::set`] has taken, those of lane l; false where it resists, but its bodies cannot turn.
    pub(super) fn set(&mut self, l: usize, p: &MixedProblem, (c, spin): (&Contact, &Spin), block: &Block) -> bool {
        let levers = spin.levers();
        let (mut inertia, mut slide, mut cross) = (0.0, 0.0, 0.0);
        for (k, body) in [c.body1, c.body2].into_iter().enumerate().filter(|(_, body)| *body != IMMOBILE) {
            let i = p.rigid[body as usize].inverse_inertia[0];
            self.inertia[k][l] = i;
            inertia += i;
            slide += block.masses[k][l] + block.spins[k][l] * block.arms[k][l];
            cross += block.spins[k][l];
        }
        cross *= levers.y;
        let own = [levers.x * levers.x * inertia, levers.y * levers.y * inertia];
        for (inverse, own) in self.inverse.iter_mut().zip([own[1], own[0]]) {
            inverse[l] = if own > 0.0 { 1.0 / own } else { 0.0 };
        }
        self.cross[l] = if cross * cross > COUPLED * COUPLED * slide * own[1] { cross } else { 0.0 };
        let b = c.to_world(spin.b);
        (0..3).for_each(|i| self.b[i][l] = b[i]);
        (self.levers[0][l], self.levers[1][l]) = (levers.x, levers.y);
        (self.roll[l], self.twist[l]) = (spin.roll, if spin.drill > 0.0 { 0.0 } else { spin.twist });
        self.drills[l] = if spin.drill > 0.0 { 1.0 } else { 0.0 };
        !spin.resists() || own.iter().all(|own| *own > 0.0)
    }
}

/// Part of `w_t A` above which c² asks for force and moment at once: a ball on a wall has 5/7, one on another of 1.3 times its radius 0.2.
const LEANS: f64 = 0.3;

/// Whether force and moment of a contact of balls are solved at once.
pub(super) fn leans(p: &MixedProblem, k: usize) -> bool {
    let (c, spin) = (&p.contacts[k], &p.spins[k]);
    let (mut inertia, mut slide, mut cross) = (0.0, 0.0, 0.0);
    for (body, arm) in [(c.body1, c.arm1), (c.body2, c.arm2)].into_iter().filter(|(body, _)| *body != IMMOBILE) {
        let (RigidMass { inverse_mass: m, inverse_inertia: i }, length) = (p.rigid[body as usize], arm.dot(c.normal));
        inertia += i[0];
        slide += m.x + i[0] * length * length;
        cross += i[0] * length;
    }
    spin.drill > 0.0 || cross * cross > LEANS * slide * inertia
}

/// What some contacts of a problem have; where none has it, no visit loads it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rare {
    /// friction that resists drilling
    drilling: bool,
    /// a constant part of the turning
    given: bool,
}

impl Rare {
    /// Of these contacts.
    pub(super) fn of(spins: &[Spin]) -> Self {
        Self { drilling: spins.iter().any(|spin| spin.drill > 0.0), given: spins.iter().any(|spin| spin.b != DVec3::ZERO) }
    }
}

/// Turns of Newton's method; what is left goes into the next sweep.
const TURNS: usize = 24;
/// Misfit of the size of the force from which one turn more is enough; where it drills, a sum of two poles is less close to a line.
const CLOSE: [f64; 2] = [1e-3, 1e-6];
/// Multipliers beyond which a guess is none.
const LARGEST: f64 = 1e100;

/// Force and moments in the plane of contact, under a known normal impulse.
struct Plane<S: Simd> {
    simd: S,
    /// w_t, A, A_n
    own: [Wide<S>; 3],
    /// 1/A
    inverse: Wide<S>,
    cross: Wide<S>,
    q: Wide3<S>,
    t: Wide3<S>,
    /// s where it drills, else 0
    s: Wide<S>,
    /// radii of force and rolling moment
    radii: [Wide<S>; 2],
    /// some contact of the problem drills
    drilling: bool,
    drills: Mask<S>,
}

/// Force and moment of a multiplier λ.
struct Point<S: Simd> {
    z: Wide<S>,
    /// `t − c z q`, its length where the moment does not hold, and whether it does
    rest: Wide3<S>,
    size: Wide<S>,
    holds: Mask<S>,
    y: Wide<S>,
    /// `q − c y t`, and one over `w_t + λ − c² y`
    x: Wide3<S>,
    inverse: Wide<S>,
    /// −p_n where it drills, and `1/(A_n + λ)`
    turn: Wide<S>,
    turn_inverse: Wide<S>,
    /// `‖r_t‖²`, or `‖(r_t, p_n)‖²`
    square: Wide<S>,
}

impl<S: Simd> Plane<S> {
    #[inline(always)]
    fn number(&self, x: f64) -> Wide<S> {
        Wide::splat(self.simd, x)
    }

    #[inline(always)]
    fn at(&self, lambda: Wide<S>) -> Point<S> {
        let (zero, one) = (self.number(0.0), self.number(1.0));
        let ([slide, own, about], [radius, roll]) = (self.own, self.radii);
        let sum = slide + lambda;
        // without friction λ is infinite
        let z = radius.at_most(zero).pick(zero, one.over(sum));
        let pull = self.cross * z;
        let rest = self.t - self.q.times(pull);
        let (square, room) = (rest.dot(rest), roll * (own - self.cross * pull));
        let holds = square.at_most(room * room);
        let (mut y, mut size) = (self.inverse, zero);
        if holds.not().any() {
            size = square.sqrt();
            y = holds.pick(y, roll.over(roll * self.cross * pull + size));
        }
        let x = self.q - self.t.times(self.cross * y);
        let inverse = one.over(sum - self.cross * self.cross * y);
        let mut point = Point { z, rest, size, holds, y, x, inverse, turn: zero, turn_inverse: zero, square: zero };
        point.square = x.dot(x) * inverse * inverse;
        if self.drilling {
            point.turn_inverse = one.over(about + lambda);
            point.turn = self.s * point.turn_inverse;
            point.square = point.square + point.turn * point.turn;
        }
        point
    }

    /// `−½ d‖(r_t, p_n)‖²/dλ`
    #[inline(always)]
    fn slope(&self, at: &Point<S>) -> Wide<S> {
        let (zero, one, c) = (self.number(0.0), self.number(1.0), self.cross);
        let mut h = at.x.dot(at.x) * at.inverse * at.inverse * at.inverse;
        if at.holds.not().any() {
            let along = self.radii[1] * c - at.rest.dot(self.q).over(at.size);
            let dy = at.y.over(self.radii[1] * c * c * at.z + at.size) * c * at.z * at.z * along;
            let dy = at.holds.pick(zero, dy);
            h = h * (one - c * c * dy) + c * dy * at.x.dot(self.t) * at.inverse * at.inverse;
        }
        if self.drilling { h + at.turn * at.turn * at.turn_inverse } else { h }
    }

    /// The force, within its disc, −p_n of what drills, and y; for lanes that are `asked`, the others give anything.
    #[inline(always)]
    fn solve(&self, asked: Mask<S>, guess: Wide<S>) -> (Wide3<S>, Wide<S>, Wide<S>) {
        let (zero, one) = (self.number(0.0), self.number(1.0));
        let radius = self.radii[0];
        let limit = radius * radius;
        let mut at = self.at(zero);
        // the direction of the force depends on λ where moments are coupled to it, or one is part of it
        let mut open = limit.below(at.square).and(asked).and(zero.below(radius));
        if open.any() {
            let mut lambda = open.and(zero.below(guess)).and(guess.below(self.number(LARGEST))).pick(guess, zero);
            let close = self.drills.pick(self.number(CLOSE[1]), self.number(CLOSE[0]));
            let (mut low, mut high, infinity) = (zero, self.number(f64::INFINITY), self.number(f64::INFINITY));
            let (mut held, inverse) = (zero.below(zero), one.over(radius));
            for _ in 0..TURNS {
                at = self.at(lambda);
                let misfit = at.square.sqrt() * inverse - one;
                let short = zero.below(misfit);
                (low, high) = (short.pick(lambda, low), short.pick(high, lambda));
                let newton = lambda + (at.square * misfit).over(self.slope(&at));
                let other = high.below(infinity).pick((low + high) * self.number(0.5), self.own[0] + lambda * self.number(4.0));
                let next = low.at_most(newton).and(newton.at_most(high)).pick(newton, other);
                let near = misfit.at_most(close).and((zero - misfit).at_most(close));
                // from one multiplier to another under which the moment holds it was no guess
                let done = near.or(held.and(at.holds).and(self.drills.not()));
                (lambda, held) = (open.pick(next, lambda), at.holds);
                open = open.and(done.not());
                if !open.any() {
                    break;
                }
            }
            at = self.at(lambda);
        }
        let scale = at.square.at_most(limit).pick(one, radius.over(at.square.sqrt()));
        (at.x.times((zero - at.inverse) * scale), at.turn * scale, at.y)
    }
}

/// Part k of two rows.
#[inline(always)]
fn pair<S: Simd>(simd: S, k: usize, rows: &[Row; 2]) -> [Wide<S>; 2] {
    [Wide::load(simd, &rows[0], k), Wide::load(simd, &rows[1], k)]
}

/// Visits some blocks of contacts with moments, which all lean or none does; as without, what a contact computes does not depend on its neighbours
/// in the block.
pub(super) struct Visit<'a, T, const LEANS: bool> {
    pub(super) blocks: &'a [Block],
    pub(super) states: &'a mut [State],
    pub(super) moments: &'a [Moments],
    pub(super) turns: &'a mut [State],
    pub(super) rare: Rare,
    pub(super) momentum: Option<Momentum>,
    pub(super) v: &'a T,
}

impl<T: Twists, const LEANS: bool> WithSimd for Visit<'_, T, LEANS> {
    type Output = Norms;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Norms {
        let Self { blocks, states, moments, turns, rare: Rare { drilling, given }, momentum, v } = self;
        // what drills is solved at once
        let drilling = LEANS && drilling;
        let mut sums = [[0.0; LANES]; 3];
        let (zero, one) = (Wide::splat(simd, 0.0), Wide::splat(simd, 1.0));
        let none = Wide3(zero, zero, zero);
        let momentum = momentum.map(|m| (Wide::splat(simd, m.beta), m.whole));
        for ((c, state), (moment, turn)) in blocks.iter().zip(states).zip(moments.iter().zip(turns)) {
            for k in 0..Wide::<S>::PARTS {
                let ends = load_ends(simd, c, k, |body| v.load(body));
                let (r, p) = (stepped(simd, state, k, momentum), stepped(simd, turn, k, momentum));
                let n = Wide3::load(simd, &c.normal, k);
                let u = ends.velocity(simd, c, k, n);
                let (rn, un) = (n.dot(r), n.dot(u));
                let new_n = rn - un * Wide::load(simd, &c.wn_inv, k);
                let opens = new_n.at_most(zero);
                let (mut new, mut turned) = (none, none);
                let (inertia, lever) = (pair(simd, k, &moment.inertia), Wide::load(simd, &moment.levers[1], k));
                // what only drilling asks for is not loaded where nothing drills
                let of_drilling = |row: &Row, other| if drilling { Wide::load(simd, row, k) } else { other };
                let (lever_n, drills) = (of_drilling(&moment.levers[0], lever), of_drilling(&moment.drills, zero));
                if opens.not().any() {
                    let inertia = inertia[0] + inertia[1];
                    let [own, about] = [lever * lever * inertia, lever_n * lever_n * inertia];
                    let [inverse, about_inverse] = pair(simd, k, &moment.inverse);
                    let cross = Wide::load(simd, &moment.cross, k);
                    let radii = [&c.mu, &moment.roll, &moment.twist].map(|part| Wide::load(simd, part, k) * new_n);
                    let (ut, rt, pn) = (u - n.times(un), r - n.times(rn), n.dot(p));
                    let (turning, rho) = (ends.turning(), p.cross(n));
                    let (mut t, mut about_n) = (turning.cross(n).times(lever), n.dot(turning) * lever_n);
                    if given {
                        let b = Wide3::load(simd, &moment.b, k);
                        (t, about_n) = (t + b.cross(n), about_n + n.dot(b));
                    }
                    t = t - rt.times(cross) - rho.times(own);
                    let s = about_n - pn * about;
                    let (force, drilled, y) = if LEANS {
                        let [masses, spins, arms] = [pair(simd, k, &c.masses), pair(simd, k, &c.spins), pair(simd, k, &c.arms)];
                        let slide = masses[0] + spins[0] * arms[0] + (masses[1] + spins[1] * arms[1]);
                        let (along, square) = (ut.dot(rt) + drills * about_n * pn, rt.dot(rt) + drills * pn * pn);
                        let plane = Plane {
                            simd,
                            own: [slide, own, about],
                            inverse,
                            cross,
                            q: ut - rt.times(slide) - rho.times(cross),
                            t,
                            s: s * drills,
                            radii: [radii[0], radii[1]],
                            drilling,
                            drills: drills.equals(one),
                        };
                        plane.solve(opens.not(), zero - along.over(square))
                    } else {
                        let x = rt - ut.times(Wide::load(simd, &c.wt_inv, k));
                        let size = x.dot(x);
                        let force = x.times(size.at_most(radii[0] * radii[0]).pick(one, radii[0].over(size.sqrt())));
                        let turn = t + force.times(cross);
                        let (size, room) = (turn.dot(turn), radii[1] * own);
                        (force, zero, size.at_most(room * room).pick(inverse, radii[1].over(size.sqrt())))
                    };
                    let rolled = n.cross((t + force.times(cross)).times(zero - y));
                    let (twist, most) = (zero - s * about_inverse, radii[2]);
                    let twist = twist.at_most(most).pick(twist, most);
                    let least = zero - most;
                    let about_n = least.at_most(twist).pick(twist, least) - drilled;
                    new = opens.pick3(none, n.times(new_n) + force);
                    turned = opens.pick3(none, rolled + n.times(about_n));
                }
                let (dr, dp) = (new - r, turned - p);
                for (new, d, state) in [(new, dr, &mut *state), (turned, dp, &mut *turn)] {
                    new.store(&mut state.r, k);
                    d.store(&mut state.change, k);
                }
                let weight = Wide::load(simd, &c.weight, k);
                let steps = [Wide3::load(simd, &state.direction, k), Wide3::load(simd, &turn.direction, k)];
                let squares = [dr.dot(dr) + dp.dot(dp), new.dot(new) + turned.dot(turned), dr.dot(steps[0]) + dp.dot(steps[1])];
                for (sum, square) in sums.iter_mut().zip(squares) {
                    (Wide::load(simd, sum, k) + weight * square).store(sum, k);
                }
                let still = vanishes(dr, zero).and(vanishes(dp, zero));
                if !still.not().any() {
                    continue;
                }
                let (pn, arm) = (n.dot(dp), n.cross(dr));
                let mut twist = dp.times(lever);
                if drilling {
                    twist = twist + n.times(pn * (lever_n - lever));
                }
                let (Ends([v1, v2]), masses, spins) = (ends, pair(simd, k, &c.masses), pair(simd, k, &c.spins));
                let kicked = Ends([
                    [v1[0] + dr.times(masses[0]), v1[1] + arm.times(spins[0]) + twist.times(inertia[0])],
                    [v2[0] - dr.times(masses[1]), v2[1] - arm.times(spins[1]) - twist.times(inertia[1])],
                ]);
                store_ends(c, k, still, [ends, kicked], v);
            }
        }
        Norms::of_lanes(sums)
    }
}
