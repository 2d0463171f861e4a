//! How far an answer is from the law, recomputed from the reactions alone.
//!
//! ```text
//! F_a  = r_a − P_K(r_a − û_a)               û = u + g(u),   u = H (v_free + Ŵ⁻¹ Hᵀ r) + b
//! rel  = |F| / max(|q|, |r|, |u|)           rel_q = |F| / |q|
//! e_s  = |D^½ (r − P_K(r − D⁻¹ û))| / max(|D^½ r|, |D^{-½} q|)      D = mean of the diagonal of W_aa
//! ```
//!
//! `rel` and `rel_q` mix impulses with velocities and change with the unit of mass; e_s does not. But all three divide by a norm over the
//! whole problem, which hides a small body among large ones, and a reaction that grows without bound. Therefore each contact is judged for
//! itself too:
//!
//! ```text
//! ε_a   = D_a |r_a − P_K(r_a − û_a/D_a)|                            the velocity by which a contact misses its law (m/s)
//! error = max(e_s, max_a ε_a / s_a)                                 what the solvers of a step stop on
//! ```
//!
//! Where reactions carry far more than the velocities at hand ask for, e_s and ε may both be small and a heavy body on light ones fall
//! half freely: what is a thousandth of its reactions is the whole weight of those that carry it. So the natural map may not exceed a
//! hundred tolerances of the norm of q either; a hundredth of that ratio counts as a misfit, up to a hundred times that of the worst contact.
//!
//! A joint that carries much does work by what it misses, `r_a · ε_a`, and nothing takes that away: links of a chain would shake themselves,
//! as reactions that hardly move them are what errors leave. Such a joint is judged up to a hundred times as strictly: `ε_a` counts
//! `D_a|r_a| / (s_a/100)` times where that is more than one, less at tolerances below 1e-3, where such work is small (at 1e-6 three times at most).
//!
//! ε is |u_n| where bodies approach, |u_t| where they should stick, and where they slip the velocity that the error of its own impulse gives
//! its bodies. It holds no |r|. s_a is a speed of the contact's own, [`super::mixed::Contact::scale`].

use super::abreast::{Abreast, Ends, each, each3, in_lanes, split_off};
use super::admissible::{AdmissibleSet, NEARLY};
use super::mixed::{Answer, Contact, MAX_ROWS, MixedProblem, Spin, Twist, Velocities};
use crate::algebra::lanes::{Lanes, Plain, Simd, Wide, Wide3, WithSimd};
use crate::algebra::pieces::{Part, share};
use glam::DVec3;
use rayon::prelude::*;

/// The errors of an answer.
///
/// ```
/// use drystone::numerics::residual::Residual;
/// assert_eq!(Residual::default().e_s, 0.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Residual {
    /// Natural map over `max(|q|, |r|, |u|)`.
    pub rel: f64,
    /// Natural map over `|q|`.
    pub rel_q: f64,
    /// Unit-free.
    pub e_s: f64,
    /// Largest ε_a of a contact or block (m/s).
    pub violation: f64,
    /// Largest `ε_a / s_a` of those that have a scale.
    pub misfit: f64,
    /// Largest velocity that a reaction takes away, in scales of its contact; infinite where one has no scale.
    pub carried: f64,
    /// Largest `ε_a / ℓ_a` of those that have a size (1/s): times the time step, what is moved by mistake in parts of a body.
    pub parts: f64,
    /// Blocks of rows, for the share of the worst ([`acceptance`](super::acceptance)); 0 where that is not judged so.
    pub blocks: usize,
}

impl Residual {
    /// Of reactions that are no numbers, or beyond them. Largest values do not tell: `max` passes over NaN.
    pub(super) const NOTHING: Self = {
        let x = f64::INFINITY;
        Self { rel: x, rel_q: x, e_s: x, violation: x, misfit: x, carried: x, parts: x, blocks: 0 }
    };

    /// What the solvers of a step stop on: the global figure, or the worst contact on its own scale.
    pub fn error(&self) -> f64 {
        error(self.e_s, self.misfit, self.carried)
    }

    /// These errors in a report; where e_s is a ratio of roundings, the misfit stands for it.
    pub(super) fn report(&self, report: super::Report) -> super::Report {
        let Self { rel, rel_q, violation, misfit, parts, blocks, .. } = *self;
        let e_s = if is_rounding(misfit, self.carried) { misfit } else { self.e_s };
        super::Report { rel, rel_q, e_s, violation, misfit, parts, blocks, ..report }
    }
}

/// The speed s_a on which the violation of a contact is judged (m/s): at a tolerance of 1e-3, the velocity of a fall of two steps, a
/// twentieth of its own speed of approach, or what moves its smaller body (smallest length ℓ) by a thousandth of ℓ a second, whichever
/// is largest; but never more than moves that body by four thousandths of ℓ in the step itself. In proportion at other tolerances.
/// `gravity` is the acceleration by which loads are measured (m/s²): where nothing falls, that of a part of what presses on the bodies.
///
/// ```
/// use drystone::numerics::residual::contact_scale;
/// // a bead of 2 cm at rest, h = 1 ms: at 1e-3 it may miss by 2 cm/s, 0.1 % of it a step
/// assert!((1e-3 * contact_scale(1e-3, 9.81, 0.0, 0.02) - 2.0 * 9.81e-3).abs() < 1e-12);
/// // pressed at 5 cm/s without gravity
/// assert!((1e-3 * contact_scale(1e-3, 0.0, 0.05, 0.1) - 2.5e-3).abs() < 1e-12);
/// ```
#[inline]
pub fn contact_scale(h: f64, gravity: f64, approach: f64, size: f64) -> f64 {
    let speed = (2.0 * h * gravity).max(0.05 * approach);
    let usual = if size.is_finite() && size > 0.0 { 1e3 * speed.max(1e-3 * size) } else { return 1e3 * speed };
    if usual * h > NEARLY * 4.0 * size { usual.min(4.0 * size / h) } else { usual }
}

/// Tolerances that the natural map may have of what the velocities ask for. In a pile these are its lowest contacts alone, as bodies that fall alike do
/// not approach each other, so one of some thirty layers and more is judged by this: eight times as strictly as by its reactions at 47 layers.
const OVERLOADED: f64 = 100.0;
/// How many times worse it may make the worst contact: what bodies miss by a hundredth of the tolerance is no fall. (Joints with more rows than their bodies
/// need miss what is asked of them by 1e-10 m/s whatever they carry, which in a pass that asks for 1e-8 m/s of them all is a hundredth.)
const MOST_WORSE: f64 = 100.0;

/// Part of `|D^½ r|` up to which the natural map is rounding.
const MAP_ROUNDING: f64 = 1e-14;

/// The misfit of a point whose worst contact has this one: the natural map (`scaled`, |D^½ F|²) may not exceed what q asks for either,
/// beyond its rounding in reactions of |D^½ r|² = `carrying`; nor does it say anything where both are traces.
pub(super) fn with_overload(p: &MixedProblem, misfit: f64, carried: f64, [scaled, carrying]: [f64; 2]) -> f64 {
    if is_rounding(misfit, carried) || p.asked <= 0.0 || scaled.sqrt() <= MAP_ROUNDING * carrying.sqrt() {
        return misfit;
    }
    misfit.max((scaled.sqrt() / (OVERLOADED * p.asked)).min(MOST_WORSE * misfit))
}

/// Rounding of a velocity as a sum of shares, relative to the share of its own reaction.
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// Part of the scale of a contact up to which a violation may pass as rounding: a reaction that is too large even for that runs away.
const ROUNDED: f64 = 1e-6;
/// Velocity that a reaction takes away, per scale of its contact, from which the velocity left is lost in it.
const RUNAWAY: f64 = 1e8;

/// Velocity that the reaction of a joint takes away, per scale of the joint, from which its misfit does work that counts: some ten times what its
/// bodies have from the fall of two steps that the scale stands for.
const WORKS: f64 = 1e-2;
/// How many times as strictly such a joint is judged at most.
const MOST_WORK: f64 = 100.0;
/// Tolerance below which that work is small by itself, and counts by its square.
const LOOSE: f64 = 1e-3;

/// ε² of a contact whose |r| has run away: `r − P_K(x)` as `û/D + x − P_K(x)` with `x = r − û/D`, where û is not lost in r.
#[cold]
fn lost_in_reaction(c: &Contact, r: DVec3, shifted: DVec3) -> f64 {
    let d = c.local.mean_diagonal();
    let x = r - shifted / d;
    let mut nearest = x;
    c.project(&mut nearest);
    (shifted + d * (x - nearest)).length_squared()
}

/// Velocities that reactions take away, in scales of their contacts, and the misfits that are rounding beside them: next to nothing; and so
/// little that what velocities lose by rounding is a visible part of it.
const TRACES: [[f64; 2]; 2] = [[1e-11, 1e-13], [1e-6, 1e-14]];

/// The larger of the two; but where no contact carries more than traces and none misses, both norms in e_s are rounding too: bodies that
/// touch and part by themselves. Infinite for what is no number.
pub(super) fn error(e_s: f64, misfit: f64, carried: f64) -> f64 {
    if e_s.is_nan() {
        f64::INFINITY
    } else if is_rounding(misfit, carried) {
        misfit
    } else {
        e_s.max(misfit)
    }
}

fn is_rounding(misfit: f64, carried: f64) -> bool {
    TRACES.iter().any(|[most, missed]| carried <= *most && misfit <= *missed)
}

/// Sums of squares over a piece of the rows.
#[derive(Clone, Copy, Default)]
struct Sums {
    scaled: f64,
    plain: f64,
    r_scaled: f64,
    r: f64,
    u: f64,
    /// largest squares of ε, ε/s and ε/ℓ
    violation: f64,
    misfit: f64,
    parts: f64,
    /// largest square of D|r|/s
    carried: f64,
}

impl Sums {
    /// Takes in contacts with reactions and velocities `u`, and shifts μ‖u_t‖, each in its lane.
    #[inline(always)]
    fn contacts<S: Simd>(&mut self, simd: S, contacts: &[Contact], reactions: &[DVec3], u: Wide3<S>, shift: Wide<S>) {
        let (own, r) = (in_lanes::<S, _>(contacts), each3(simd, &in_lanes::<S, _>(reactions), |r| *r));
        let shifted = Wide3(u.0 + shift, u.1, u.2);
        let nn = each(simd, &own, |c| c.local.nn);
        let (t1, t2) = (each(simd, &own, |c| c.local.tt[0]), each(simd, &own, |c| c.local.tt[2]));
        let d = (nn + t1 + t2).over(Wide::splat(simd, 3.0));
        let x = r - project(simd, contacts, r - Wide3(shifted.0.over(d), shifted.1.over(d), shifted.2.over(d)));
        let y = r - project(simd, contacts, r - shifted);
        let (miss, size) = (d * x.dot(x), r.dot(r));
        let carried = d * size;
        let (epsilon, taken) = ((d * miss).row(), (d * carried).row());
        let lost = shifted.vectors();
        let (miss, carried, plain, size, speed) = (miss.row(), carried.row(), y.dot(y).row(), size.row(), u.dot(u).row());
        for l in 0..S::F64_LANES {
            let (Some(c), Some(r)) = (contacts.get(l), reactions.get(l)) else { break };
            self.scaled += miss[l];
            let runaway = taken[l] > RUNAWAY * RUNAWAY * c.scale * c.scale;
            let epsilon = if runaway { lost_in_reaction(c, *r, lost[l]) } else { epsilon[l] };
            self.miss(epsilon, taken[l], c.scale, c.size);
            self.r_scaled += carried[l];
            self.plain += plain[l];
            self.r += size[l];
            self.u += speed[l];
        }
    }

    /// Takes in contacts side by side.
    #[inline(always)]
    fn side_by_side<S: Simd>(
        &mut self,
        simd: S,
        contacts: &[Contact],
        alike: bool,
        reactions: &[DVec3],
        known: Option<&[f64]>,
        v: &[Twist],
    ) {
        let own = in_lanes::<S, _>(contacts);
        let u = Abreast::load(simd, &own).rate(&Ends::of::<S>(&own, alike), v) + each3(simd, &own, |c| c.b);
        let shift = match known {
            Some(known) => each(simd, &in_lanes::<S, _>(known), |known| *known),
            None => each(simd, &own, |c| c.mu) * (u.1 * u.1 + u.2 * u.2).sqrt(),
        };
        self.contacts(simd, contacts, reactions, u, shift);
    }

    /// Takes in a contact that resists rolling, with its moments; `known` is the shift of its friction if that is given.
    fn spinning(&mut self, (c, spin): (&Contact, &Spin), [r, p]: [DVec3; 2], v: &Velocities, known: Option<f64>) {
        let (u, s) = (c.rate(&v.rigid) + c.b, spin.velocity(c, &v.rigid));
        let (set, rows, d) = (spin.set(c), spin.rows(), spin.mean_diagonal(c));
        let (r, mut shifted) = (spin.six(r, p), spin.six(u, s));
        shifted[0] += set.shift(&shifted[..rows]) + known.map_or(0.0, |known| known - c.shift(u));
        let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
        let missed = |scale: f64| {
            let mut x: [f64; 6] = std::array::from_fn(|i| r[i] - scale * shifted[i]);
            set.project(&mut x[..rows]);
            (0..rows).map(|i| (r[i] - x[i]).powi(2)).sum::<f64>()
        };
        let (miss, own) = (d * missed(1.0 / d), d * square(&r));
        self.scaled += miss;
        self.miss(d * miss, d * own, c.scale, c.size);
        self.r_scaled += own;
        self.plain += missed(1.0);
        self.r += square(&r);
        self.u += u.length_squared() + square(&spin.six(u, s)[3..rows]);
    }

    fn add(self, o: Self) -> Self {
        Self {
            scaled: self.scaled + o.scaled,
            plain: self.plain + o.plain,
            r_scaled: self.r_scaled + o.r_scaled,
            r: self.r + o.r,
            u: self.u + o.u,
            violation: self.violation.max(o.violation),
            misfit: self.misfit.max(o.misfit),
            parts: self.parts.max(o.parts),
            carried: self.carried.max(o.carried),
        }
    }

    /// Takes in ε² of one contact or block, given the square of the velocity that its reaction takes away, `D² |r|²`.
    #[inline(always)]
    fn miss(&mut self, epsilon2: f64, own2: f64, scale: f64, size: f64) {
        // few may be the largest so far: quotients only of those
        let largest = |so_far: &mut f64, a: f64, b: f64| {
            if a > NEARLY * *so_far * b {
                *so_far = so_far.max(a / b);
            }
        };
        self.violation = self.violation.max(epsilon2);
        let scale2 = scale * scale;
        if scale > 0.0 {
            largest(&mut self.carried, own2, scale2);
        } else {
            self.carried = f64::INFINITY;
        }
        // what is left of a velocity after its reaction took it away is rounding
        if scale > 0.0 && epsilon2 > (ROUNDING * ROUNDING * own2).min(ROUNDED * ROUNDED * scale2) {
            largest(&mut self.misfit, epsilon2, scale2);
        }
        if size > 0.0 {
            largest(&mut self.parts, epsilon2, size * size);
        }
    }
}

/// Contacts per piece of a sum: fixed, so that any number of threads adds in the same order.
const PIECE: usize = 1024;

/// True where several threads share the sums of a residual; they are the same to the bit.
pub fn is_parallel(p: &MixedProblem) -> bool {
    p.contacts.len() > 4 * PIECE && rayon::current_num_threads() > 1
}

/// Recomputes `v` from the reactions and returns the errors.
pub fn certify(p: &MixedProblem, answer: &mut Answer) -> Residual {
    p.velocities(&answer.reactions, &mut answer.velocities);
    residual(p, answer, &answer.velocities)
}

/// Errors of one contact.
pub(super) struct ContactErrors {
    /// |D^½ F|²
    pub(super) map: f64,
    /// |D^½ r|²
    pub(super) carrying: f64,
    /// ε/s
    pub(super) misfit: f64,
}

/// Those of contact k, with the velocities in `answer`.
pub(super) fn contact_errors(p: &MixedProblem, answer: &Answer, k: usize) -> ContactErrors {
    let (c, r, known, mut s) = (&p.contacts[k], answer.reactions.contacts[k], p.lagged.get(k).copied(), Sums::default());
    if let (Some(spin), Some(&moment)) = (p.spins.get(k), answer.reactions.spins.get(k)) {
        s.spinning((c, spin), [r, moment], &answer.velocities, known);
    } else {
        let u = p.contact_velocity(c, &answer.velocities.rigid);
        let shift = Wide::splat(Plain, known.unwrap_or_else(|| c.shift(u)));
        s.contacts(Plain, std::slice::from_ref(c), &[r], Wide3::splat(Plain, u), shift);
    }
    ContactErrors { map: s.scaled, carrying: s.r_scaled, misfit: s.misfit.sqrt() }
}

/// `ε_a/s_a` of contact k alone.
pub fn contact_misfit(p: &MixedProblem, answer: &Answer, k: usize) -> f64 {
    contact_errors(p, answer, k).misfit
}

/// The errors of `answer.reactions` when the velocities are `v`.
pub fn residual(p: &MixedProblem, answer: &Answer, v: &Velocities) -> Residual {
    let piece = |(at, (contacts, reactions)): (usize, (&[Contact], &[DVec3]))| {
        let mut s = Sums::default();
        let known = p.lagged.get(PIECE * at..).filter(|known| !known.is_empty());
        if !p.spins.is_empty() {
            let moments = p.spins[PIECE * at..].iter().zip(&answer.reactions.spins[PIECE * at..]);
            for (k, ((c, &r), (spin, &m))) in contacts.iter().zip(reactions).zip(moments).enumerate() {
                s.spinning((c, spin), [r, m], v, known.map(|known| known[k]));
            }
            return s;
        }
        Lanes::best().run_four(Judge { contacts, reactions, known, v: &v.rigid })
    };
    let pieces = p.contacts.chunks(PIECE).zip(answer.reactions.contacts.chunks(PIECE)).enumerate();
    let total = if share(Part::Residual, p.contacts.len(), 4 * PIECE + 1) {
        let parts: Vec<Sums> =
            p.contacts.par_chunks(PIECE).zip(answer.reactions.contacts.par_chunks(PIECE)).enumerate().map(piece).collect();
        parts.into_iter().fold(Sums::default(), Sums::add)
    } else {
        pieces.map(piece).fold(Sums::default(), Sums::add)
    };
    let total = p.blocks.iter().map(|block| block_sums(p, block, answer, v)).fold(total, Sums::add);
    let ratio = |a: f64, b: f64| if a == 0.0 { 0.0 } else { a / b.max(f64::MIN_POSITIVE) };
    if !(total.scaled.is_finite() && total.r_scaled.is_finite()) {
        return Residual::NOTHING;
    }
    let plain = total.plain.sqrt();
    Residual {
        rel: ratio(plain, p.q_norm.max(total.r.sqrt()).max(total.u.sqrt())),
        rel_q: ratio(plain, p.q_norm),
        e_s: ratio(total.scaled.sqrt(), total.r_scaled.sqrt().max(p.q_scaled)),
        carried: total.carried.sqrt(),
        violation: total.violation.sqrt(),
        misfit: with_overload(p, total.misfit.sqrt(), total.carried.sqrt(), [total.scaled, total.r_scaled]),
        parts: total.parts.sqrt(),
        blocks: 0,
    }
}

/// Judges contacts that resist no rolling; their shifts are `known` or follow from the velocities.
struct Judge<'a> {
    contacts: &'a [Contact],
    reactions: &'a [DVec3],
    known: Option<&'a [f64]>,
    v: &'a [Twist],
}

impl WithSimd for Judge<'_> {
    type Output = Sums;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Sums {
        let Self { mut contacts, mut reactions, mut known, v } = self;
        let mut sums = Sums::default();
        loop {
            let (own, r, alike) = split_off(&mut contacts, &mut reactions, S::F64_LANES);
            let n = own.len();
            let shifts = known.map(|known| &known[..n]);
            known = known.map(|known| &known[n..]);
            match n {
                0 => return sums,
                1 => sums.side_by_side(Plain, own, true, r, shifts, v),
                _ => sums.side_by_side(simd, own, alike, r, shifts, v),
            }
        }
    }
}

/// The nearest point of the set of each contact, see [`project_coulomb`](super::admissible::project_coulomb).
#[inline(always)]
fn project<S: Simd>(simd: S, contacts: &[Contact], x: Wide3<S>) -> Wide3<S> {
    let (zero, nearly) = (Wide::splat(simd, 0.0), Wide::splat(simd, NEARLY));
    let mu = each(simd, &in_lanes::<S, _>(contacts), |c| c.mu);
    let (square, reach) = (x.1 * x.1 + x.2 * x.2, mu * x.0);
    let inside = zero.below(x.0).and(square.at_most(nearly * reach * reach));
    let polar = x.0.below(zero).and((mu * mu * square).at_most(nearly * x.0 * x.0));
    if !inside.or(polar).not().any() && contacts.iter().all(|c| c.most == 0.0) {
        return inside.pick3(x, Wide3(zero, zero, zero));
    }
    let mut points = x.vectors();
    for (l, point) in points.iter_mut().enumerate().take(S::F64_LANES) {
        if let Some(c) = contacts.get(l) {
            c.project(point);
        }
    }
    each3(simd, &points.each_ref(), |point| *point)
}

fn block_sums(p: &MixedProblem, block: &super::mixed::Block, answer: &Answer, v: &Velocities) -> Sums {
    let n = block.rows;
    let d = p.block_weight(block);
    let r = &answer.reactions.blocks[block.first..][..n];
    let (mut u, mut x) = ([0.0; MAX_ROWS], [0.0; MAX_ROWS]);
    let (u, x) = (&mut u[..n], &mut x[..n]);
    p.block_velocity(block, v, u);
    let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
    let mut s = Sums { r: square(r), r_scaled: d * square(r), u: square(u), ..Sums::default() };
    u[0] += block.set.shift(u);
    for (scale, sum) in [(1.0 / d, &mut s.scaled), (1.0, &mut s.plain)] {
        (0..n).for_each(|i| x[i] = r[i] - scale * u[i]);
        block.set.project(x);
        *sum = (0..n).map(|i| (r[i] - x[i]).powi(2)).sum();
    }
    s.scaled *= d;
    s.miss(d * s.scaled, d * s.r_scaled, block.scale, 0.0);
    if block.set == AdmissibleSet::Free {
        let working = s.misfit * (s.carried / (WORKS * WORKS)).clamp(1.0, MOST_WORK * MOST_WORK);
        s.misfit = s.misfit.max(working * (working / (LOOSE * LOOSE)).min(1.0));
    }
    s
}

#[cfg(test)]
mod tests {
    use super::super::mixed::{IMMOBILE, RigidMass, Twist};
    use super::*;

    #[test]
    fn reactions_that_are_no_numbers_are_no_answer() {
        let mut p = MixedProblem::default();
        for _ in 0..2 {
            p.rigid.push(RigidMass { inverse_mass: DVec3::ONE, inverse_inertia: RigidMass::pack(glam::DMat3::IDENTITY) });
            p.free.rigid.push(Twist { linear: -DVec3::Z, ..Twist::default() });
        }
        for body1 in 0..2 {
            p.push_group([Contact {
                normal: DVec3::Z,
                tangent: DVec3::X,
                body1,
                body2: IMMOBILE,
                mu: 0.5,
                scale: 1.0,
                ..Contact::default()
            }]);
        }
        p.close_colour();
        p.prepare().expect("legal");
        for bad in [DVec3::NAN, DVec3::new(1.0, f64::NAN, 0.0), DVec3::INFINITY, DVec3::splat(1e200)] {
            for k in 0..2 {
                let mut answer = Answer::for_problem(&p);
                answer.reactions.contacts.fill(DVec3::X);
                assert!(certify(&p, &mut answer).error() < 1e-15);
                answer.reactions.contacts[k] = bad;
                assert_eq!(certify(&p, &mut answer).error(), f64::INFINITY, "contact {k} {bad}");
            }
        }
    }
}
