//! Equilibria of a structure at rest, kept because loads come back.
//!
//! ```text
//! r₁ holds the loads f₁ at rest, r₂ holds f₂      ⇒      (1 − λ) r₁ + λ r₂ holds (1 − λ) f₁ + λ f₂ at rest
//! ```
//!
//! Admissible sets of contacts are convex, and where nothing moves no contact has a velocity, so this is exact: loads between those of two
//! equilibria need no solver at all. Loads beyond them are met by one equilibrium further out, and the next of them lie between again. A wall
//! of 5000 blocks under an accelerogram took 16 to 20 factorisations a step before. f is what loads add to the velocities in a step (m/s).

use super::memory::Setback;
use super::rest::weights;
use crate::numerics::mixed::{Contact, MixedProblem, Reactions, RigidMass};
use glam::DVec3;
use std::sync::Arc;

/// Equilibria kept at most: three times as many as three directions and gravity need.
const MOST: usize = 12;
/// Part of the loads that they may miss, and the part from which on loads are other ones.
const FIT: f64 = 1e-7;
const OTHER: f64 = 1e-5;
/// Looks for the combination that misses least, and the part of the square of the loads that these need not find.
const LOOKS: usize = 2000;
const FOUND: f64 = 1e-21;
/// Part of its size by which an arm may have moved since.
const SAME_PLACE: f64 = 1e-6;
/// How far beyond the loads at hand the next equilibrium lies: in ways from the farthest that is kept, and in parts of the loads at least; a
/// quarter of that after each that was solved in vain.
const FURTHER: f64 = 0.5;
const LEAST: f64 = 0.05;
const NEARER: f64 = 0.25;
/// Part of loads beyond what is known that need not be one acceleration of all bodies.
const UNIFORM: f64 = 1e-3;
/// Equilibria in vain before the first pause, and those from which pauses stay as long as they are.
const PATIENT: u8 = 1;
const LONGEST: u8 = 7;

/// The equilibria of one graph of contacts.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Equilibria {
    /// Shares of the known ones in the loads of the step before: first, as they tell two states apart soonest.
    shares: Vec<f64>,
    /// Bodies and first arm of each contact.
    contacts: Kept<Vec<([u32; 2], DVec3)>>,
    known: Vec<Kept<Equilibrium>>,
    /// Loads of the last step that was solved at rest while nothing was known.
    seen: Vec<[DVec3; 2]>,
    /// What was solved for it and did not help.
    vain: Setback,
}

/// What copies of a state share: it is replaced, never changed, and the same place holds the same.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Kept<T>(Arc<T>);

impl<T: PartialEq> PartialEq for Kept<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl<T> std::ops::Deref for Kept<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// What holds which loads.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Equilibrium {
    /// Linear and angular velocity that loads give each body in a step.
    loads: Vec<[DVec3; 2]>,
    /// In world axes: the frame of a contact may turn over by rounding.
    reactions: Vec<DVec3>,
}

/// How the loads of a step lie to those that are known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Found {
    /// Nothing is known of this graph.
    Nothing,
    /// They are those of the step before, whose reactions are the guess already.
    Same,
    /// Between those that are known.
    Between,
    /// Beyond them.
    Beyond,
    /// Not held by them, but too near for others further out: by rounding, which would grow.
    Beside,
}

/// The loads of a step; false where they are not known, where a body moves, or where more than contacts between rigid bodies takes part.
pub(super) fn loads(p: &MixedProblem, loads: &mut Vec<[DVec3; 2]>) -> bool {
    loads.clear();
    let simple = p.blocks.is_empty() && p.spins.is_empty() && p.lagged.is_empty() && p.general.is_empty();
    let rests = p.resting.len() == p.rigid.len() && p.resting.iter().all(|&rests| rests);
    if !simple || !rests || p.before.len() != p.free.rigid.len() {
        return false;
    }
    loads.extend(p.free.rigid.iter().zip(&p.before).map(|(f, v)| [f.linear - v.linear, f.angular - v.angular]));
    true
}

/// `⟨a, b⟩` of the velocities of a body, in the norm of these.
fn product(weights: [f64; 2], a: [DVec3; 2], b: [DVec3; 2]) -> f64 {
    weights[0] * a[0].dot(b[0]) + weights[1] * a[1].dot(b[1])
}

/// The same of all bodies.
fn dot(p: &MixedProblem, a: &[[DVec3; 2]], b: &[[DVec3; 2]]) -> f64 {
    p.rigid.iter().zip(a.iter().zip(b)).map(|(m, (a, b))| product(weights(m), *a, *b)).sum()
}

/// `a − b`
fn minus(a: [DVec3; 2], b: [DVec3; 2]) -> [DVec3; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

/// `|a − b|²` of all bodies.
fn distance(p: &MixedProblem, a: &[[DVec3; 2]], b: &[[DVec3; 2]]) -> f64 {
    let of_body = |(m, (a, b)): (&RigidMass, (&[DVec3; 2], &[DVec3; 2]))| product(weights(m), minus(*a, *b), minus(*a, *b));
    p.rigid.iter().zip(a.iter().zip(b)).map(of_body).sum()
}

/// The shares, each at least 0 and 1 together, whose combination of the points behind these products is nearest to 0, and the square of its
/// length: pairwise steps of Frank and Wolfe, from the worst that has a share to the best.
fn nearest_combination(products: &[[f64; MOST]; MOST], n: usize, without: Option<usize>, enough: f64) -> ([f64; MOST], f64) {
    let mut shares = [0.0; MOST];
    let takes_part = |i: &usize| Some(*i) != without;
    let nearer = |best: usize, i: usize| if products[i][i] < products[best][best] { i } else { best };
    let Some(first) = (0..n).filter(takes_part).reduce(nearer) else { return (shares, f64::INFINITY) };
    shares[first] = 1.0;
    let mut left = products[first][first];
    for _ in 0..LOOKS {
        let mut slopes = [0.0; MOST];
        for (i, slope) in slopes.iter_mut().enumerate().take(n) {
            *slope = (0..n).map(|j| products[i][j] * shares[j]).sum();
        }
        left = (0..n).map(|i| shares[i] * slopes[i]).sum();
        let (mut to, mut from) = (first, None);
        for i in (0..n).filter(takes_part) {
            if slopes[i] < slopes[to] {
                to = i;
            }
            if shares[i] > 0.0 && from.is_none_or(|from: usize| slopes[i] > slopes[from]) {
                from = Some(i);
            }
        }
        let Some(from) = from.filter(|&from| slopes[from] - slopes[to] > enough) else { break };
        let length = products[to][to] - 2.0 * products[to][from] + products[from][from];
        let t = ((slopes[from] - slopes[to]) / length).min(shares[from]);
        if !(t > 0.0 && length > 0.0) {
            break;
        }
        shares[to] += t;
        shares[from] -= t;
    }
    (shares, left.max(0.0))
}

impl Equilibria {
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// How many are known.
    pub(super) fn count(&self) -> usize {
        self.known.len()
    }

    pub(super) fn forget(&mut self) {
        self.known.clear();
        self.shares.clear();
        self.contacts = Kept::default();
    }

    /// Which of the known contacts this one is: points of a pair may change places by rounding. None where it is another one, or has moved.
    fn place(&self, c: &Contact, k: usize) -> Option<usize> {
        let pair = [c.body1, c.body2];
        let of_pair = |j: &usize| self.contacts.get(*j).is_some_and(|known| known.0 == pair);
        let near = |j: &usize| self.contacts[*j].1.distance_squared(c.arm1) <= (SAME_PLACE * c.size).powi(2);
        let (before, after) = ((0..k).rev().take_while(of_pair), (k..).take_while(of_pair));
        after.chain(before).find(near)
    }

    /// Whether they are those of these contacts.
    fn fit(&self, p: &MixedProblem) -> bool {
        self.have_the_size(p) && p.contacts.iter().enumerate().all(|(k, c)| self.place(c, k).is_some())
    }

    fn have_the_size(&self, p: &MixedProblem) -> bool {
        self.contacts.len() == p.contacts.len() && self.known.iter().all(|e| e.loads.len() == p.rigid.len())
    }

    /// The shares of what is known, but for one that is left out, in the combination nearest to these loads; the square of what that misses,
    /// and of the loads.
    fn combination(&self, p: &MixedProblem, loads: &[[DVec3; 2]], without: Option<usize>) -> ([f64; MOST], f64, f64) {
        let n = self.known.len();
        let (mut products, mut size) = ([[0.0; MOST]; MOST], 0.0);
        for (k, (m, own)) in p.rigid.iter().zip(loads).enumerate() {
            let weights = weights(m);
            size += product(weights, *own, *own);
            let mut away = [[DVec3::ZERO; 2]; MOST];
            for (i, e) in self.known.iter().enumerate() {
                away[i] = minus(e.loads[k], *own);
                for j in 0..=i {
                    let part = product(weights, away[i], away[j]);
                    products[i][j] += part;
                    if j < i {
                        products[j][i] += part;
                    }
                }
            }
        }
        let (shares, left) = nearest_combination(&products, n, without, FOUND * size);
        (shares, left, size)
    }

    /// Whether these loads differ from those that were seen last, which constant ones do not.
    pub(super) fn are_other(&mut self, p: &MixedProblem, loads: &[[DVec3; 2]]) -> bool {
        let other = self.seen.len() == loads.len() && distance(p, &self.seen, loads) > OTHER * OTHER * dot(p, loads, loads);
        self.seen.clear();
        self.seen.extend_from_slice(loads);
        other
    }

    /// Looks for the combination of what is known that holds these loads.
    pub(super) fn find(&mut self, p: &MixedProblem, loads: &[[DVec3; 2]]) -> Found {
        if !self.have_the_size(p) {
            self.forget();
        }
        if self.known.is_empty() {
            return Found::Nothing;
        }
        let n = self.known.len();
        let (shares, left, size) = self.combination(p, loads, None);
        let same = self.shares.len() == n && self.shares.iter().zip(&shares).all(|(a, b)| (a - b).abs() <= FIT);
        self.shares.clear();
        self.shares.extend_from_slice(&shares[..n]);
        match left <= FIT * FIT * size {
            true if same => Found::Same,
            true => Found::Between,
            false if left > OTHER * OTHER * size => Found::Beyond,
            false => Found::Beside,
        }
    }

    /// Whether it is worth while to solve for more.
    pub(super) fn goes_further(&mut self) -> bool {
        !self.vain.goes_without()
    }

    /// Whether what was kept has held a step.
    pub(super) fn judge(&mut self, did: bool) {
        if did {
            self.vain = Setback::default();
        } else {
            self.vain.fail(PATIENT, LONGEST);
        }
    }

    /// The reactions of what was found; false where a contact is another one, or has moved.
    pub(super) fn recall(&self, p: &MixedProblem, reactions: &mut Reactions) -> bool {
        reactions.contacts.len() == self.contacts.len()
            && reactions.contacts.iter_mut().zip(&p.contacts).enumerate().all(|(k, (r, c))| {
                let Some(place) = self.place(c, k) else { return false };
                let held = self.known.iter().zip(&self.shares).filter(|(_, share)| **share > 0.0);
                *r = c.to_local(held.map(|(e, share)| *share * e.reactions[place]).sum());
                true
            })
    }

    /// The loads of one that takes part in what was found.
    pub(super) fn of_use(&self, i: usize) -> Option<&[[DVec3; 2]]> {
        (self.shares[i] > 0.0).then(|| &self.known[i].loads[..])
    }

    /// Its reactions.
    pub(super) fn take(&self, i: usize, p: &MixedProblem, reactions: &mut Reactions) {
        for (k, (r, c)) in reactions.contacts.iter_mut().zip(&p.contacts).enumerate() {
            *r = self.place(c, k).map_or(DVec3::ZERO, |place| c.to_local(self.known[i].reactions[place]));
        }
    }

    /// Others that hold the same loads.
    pub(super) fn put(&mut self, i: usize, p: &MixedProblem, reactions: &[DVec3]) {
        let (loads, reactions) = (self.known[i].loads.clone(), self.world(p, reactions));
        self.known[i] = Kept(Arc::new(Equilibrium { loads, reactions }));
    }

    /// Reactions in world axes, each at the place of its contact.
    fn world(&self, p: &MixedProblem, reactions: &[DVec3]) -> Vec<DVec3> {
        let mut world = vec![DVec3::ZERO; reactions.len()];
        for (k, (r, c)) in reactions.iter().zip(&p.contacts).enumerate() {
            if let Some(place) = self.place(c, k) {
                world[place] = c.to_world(*r);
            }
        }
        world
    }

    /// Loads beyond these, away from what is known: at right angles to it where the way there is one acceleration of all bodies, as that of gravity or of a
    /// base; else from the farthest, as rounding would grow on a way that starts with a small part of it.
    pub(super) fn further(&self, p: &MixedProblem, loads: &mut [[DVec3; 2]]) {
        let ways = self.known.iter().map(|e| (distance(p, &e.loads, loads), e));
        let Some((way, far)) = ways.reduce(|far, other| if other.0 > far.0 { other } else { far }) else { return };
        let part = libm::pow(NEARER, f64::from(self.vain.failures()));
        let length = part * (FURTHER * way.sqrt()).max(LEAST * dot(p, loads, loads).sqrt());
        let uniform = self.uniform_miss(p, loads);
        for (own, far) in loads.iter_mut().zip(&far.loads) {
            let away = uniform.map_or_else(|| minus(*own, *far).map(|x| x / way.sqrt()), |unit| [unit, DVec3::ZERO]);
            *own = [own[0] + length * away[0], own[1] + length * away[1]];
        }
    }

    /// What the combination that was found lacks of these loads, as one velocity of all bodies, of length 1 in their norm.
    fn uniform_miss(&self, p: &MixedProblem, loads: &[[DVec3; 2]]) -> Option<DVec3> {
        let combined = |k: usize, turn: usize| self.known.iter().zip(&self.shares).map(|(e, s)| *s * e.loads[k][turn]).sum::<DVec3>();
        let (mut sum, mut squares, mut mass) = (DVec3::ZERO, 0.0, 0.0);
        for (k, (m, own)) in p.rigid.iter().zip(loads).enumerate() {
            let (weights, miss) = (weights(m), minus(*own, [combined(k, 0), combined(k, 1)]));
            sum += weights[0] * miss[0];
            squares += product(weights, miss, miss);
            mass += weights[0];
        }
        let mean = sum / mass;
        // |x − mean|² = |x|² − |mean|²
        let is_uniform = squares > 0.0 && squares - mass * mean.length_squared() <= UNIFORM * UNIFORM * squares;
        is_uniform.then(|| mean / (mass * mean.length_squared()).sqrt())
    }

    /// Keeps an equilibrium, in the place of the nearest one where that holds the same loads, or where there are many.
    pub(super) fn keep(&mut self, p: &MixedProblem, loads: &[[DVec3; 2]], reactions: &[DVec3]) {
        if !self.fit(p) {
            self.forget();
        }
        if self.known.is_empty() {
            self.contacts = Kept(Arc::new(p.contacts.iter().map(|c| ([c.body1, c.body2], c.arm1)).collect()));
        }
        let ways = self.known.iter().map(|e| distance(p, &e.loads, loads)).enumerate();
        let nearest = ways.fold((0, f64::INFINITY), |best, other| if other.1 < best.1 { other } else { best });
        let world = self.world(p, reactions);
        let new = Kept(Arc::new(Equilibrium { loads: loads.to_vec(), reactions: world }));
        let mut place = nearest.0;
        if nearest.1 <= FIT * FIT * dot(p, loads, loads) || self.known.len() >= MOST {
            self.known[place] = new;
        } else {
            place = self.known.len();
            self.known.push(new);
        }
        // those between others are not needed
        let mut i = 0;
        while i < self.known.len() {
            let (_, left, size) = self.combination(p, &self.known[i].loads, Some(i));
            if i != place && left <= FIT * FIT * size {
                self.known.remove(i);
                place -= usize::from(i < place);
            } else {
                i += 1;
            }
        }
        // the next loads are the same where they have these shares
        self.shares.clear();
        self.shares.resize(self.known.len(), 0.0);
        self.shares[place] = 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Auto;
    use super::*;
    use crate::numerics::mixed::{Answer, IMMOBILE, Twist};
    use crate::numerics::residual::certify;
    use glam::DMat3;

    /// A block on four corners, from rest, under its weight and a push.
    fn block(push: DVec3) -> MixedProblem {
        let mut p = MixedProblem::default();
        p.rigid.push(RigidMass { inverse_mass: DVec3::ONE, inverse_inertia: RigidMass::pack(DMat3::IDENTITY * 2.0) });
        p.free.rigid.push(Twist { linear: push - DVec3::Z, ..Twist::default() });
        p.before.push(Twist::default());
        p.resting.push(true);
        let corner = |x, y| Contact {
            normal: DVec3::Z,
            tangent: DVec3::X,
            arm1: DVec3::new(x, y, -1.0),
            mu: 0.5,
            body2: IMMOBILE,
            size: 2.0,
            ..Contact::default()
        };
        p.push_group([corner(1.0, 1.0), corner(1.0, -1.0), corner(-1.0, 1.0), corner(-1.0, -1.0)]);
        p.close_colour();
        p.prepare().expect("legal");
        p
    }

    fn known(pushes: &[DVec3]) -> Equilibria {
        let (mut equilibria, mut own) = (Equilibria::default(), Vec::new());
        for push in pushes {
            let p = block(*push);
            let mut answer = Answer::for_problem(&p);
            assert!(Auto { tolerance: 1e-14, ..Auto::default() }.solve(&p, &mut answer).converged());
            assert!(loads(&p, &mut own));
            equilibria.keep(&p, &own, &answer.reactions.contacts);
        }
        equilibria
    }

    fn find(equilibria: &mut Equilibria, p: &MixedProblem) -> (Found, Vec<[DVec3; 2]>) {
        let mut own = Vec::new();
        assert!(loads(p, &mut own));
        (equilibria.find(p, &own), own)
    }

    #[test]
    fn loads_between_three_equilibria_are_held_by_their_combination_and_those_beyond_are_not() {
        let mut equilibria = known(&[DVec3::ZERO, DVec3::X * 0.4, DVec3::Y * 0.3]);
        for (push, found) in [
            (DVec3::new(0.1, 0.0, 0.0), Found::Between),
            (DVec3::new(0.15, 0.15, 0.0), Found::Between),
            (DVec3::new(0.15, 0.15, 0.0), Found::Same),
            (DVec3::new(0.3, 0.2, 0.0), Found::Beyond),
            (DVec3::new(-0.01, 0.0, 0.0), Found::Beyond),
        ] {
            let p = block(push);
            assert_eq!(find(&mut equilibria, &p).0, found, "{push}");
            if found != Found::Beyond {
                let mut answer = Answer::for_problem(&p);
                assert!(equilibria.recall(&p, &mut answer.reactions));
                assert!(certify(&p, &mut answer).error() < 1e-13 && answer.velocities.rigid[0].linear.length() < 1e-13, "{push}");
            }
        }
        let mut other = block(DVec3::ZERO);
        other.contacts[2].arm1.x += 1e-3;
        assert!(!equilibria.recall(&other, &mut Answer::for_problem(&other).reactions), "a corner has moved");
        other.resting[0] = false;
        assert!(!loads(&other, &mut Vec::new()), "a body moves");
    }

    #[test]
    fn the_next_equilibrium_lies_beyond_the_loads_by_half_of_the_way_to_the_farthest() {
        let mut equilibria = known(&[DVec3::X * -0.1, DVec3::X * 0.1]);
        let p = block(DVec3::X * 0.2);
        let (found, mut own) = find(&mut equilibria, &p);
        equilibria.further(&p, &mut own);
        assert!(found == Found::Beyond && own[0][0].distance(DVec3::new(0.2 + 0.5 * 0.3, 0.0, -1.0)) < 1e-13, "{own:?}");
        // by a twentieth of the loads at least, and by less after one in vain
        let mut equilibria = known(&[DVec3::ZERO]);
        for least in [0.05, 0.0125] {
            let (_, mut own) = find(&mut equilibria, &block(DVec3::X * 1e-4));
            equilibria.further(&p, &mut own);
            assert!((own[0][0].x - 1e-4 - least).abs() < 1e-8, "{own:?}");
            equilibria.judge(false);
        }
    }

    #[test]
    fn what_is_solved_further_out_in_vain_is_left_out_more_and_more() {
        let mut equilibria = known(&[DVec3::ZERO]);
        let mut tries = Vec::new();
        for step in 0..40 {
            if equilibria.goes_further() {
                tries.push(step);
                equilibria.judge(false);
            }
        }
        assert_eq!(tries, [0, 1, 3, 7, 15, 31]);
        equilibria.judge(true);
        assert!(equilibria.goes_further() && equilibria.goes_further());
    }

    #[test]
    fn of_many_equilibria_the_nearest_to_a_new_one_goes() {
        // on a circle none lies between others
        let pushes: Vec<DVec3> =
            (0..MOST + 2).map(|k| DVec3::new(libm::cos(0.5 * k as f64), libm::sin(0.5 * k as f64), 0.0) * 0.3).collect();
        let mut equilibria = known(&pushes);
        assert_eq!(equilibria.known.len(), MOST);
        for push in [pushes[0] * 0.5, pushes[MOST + 1] * 0.999] {
            assert_eq!(find(&mut equilibria, &block(push)).0, Found::Between, "{push}");
        }
    }

    #[test]
    fn equilibria_between_others_are_dropped() {
        let mut equilibria = known(&[DVec3::ZERO, DVec3::X * 0.1, DVec3::X * 0.2, DVec3::Y * 0.1, DVec3::Y * -0.1]);
        assert_eq!(equilibria.known.len(), 3, "the first two lie between the others");
        assert_eq!(find(&mut equilibria, &block(DVec3::X * 0.1)).0, Found::Between);
    }

    #[test]
    fn points_of_a_pair_may_change_places() {
        let mut equilibria = known(&[DVec3::new(-0.3, 0.1, 0.0), DVec3::new(0.3, 0.1, 0.0)]);
        let mut p = block(DVec3::new(0.1, 0.1, 0.0));
        p.contacts.swap(0, 3);
        p.contacts.swap(1, 2);
        find(&mut equilibria, &p);
        let mut answer = Answer::for_problem(&p);
        assert!(equilibria.recall(&p, &mut answer.reactions));
        assert!(certify(&p, &mut answer).error() < 1e-13);
    }

    #[test]
    fn constant_loads_are_not_other_ones() {
        let (mut equilibria, mut own) = (Equilibria::default(), Vec::new());
        for (push, other) in [(0.0, false), (0.0, false), (0.1, true), (0.1, false), (0.100001, false), (0.2, true)] {
            let p = block(DVec3::X * push);
            assert!(loads(&p, &mut own));
            assert_eq!(equilibria.are_other(&p, &own), other, "{push}");
        }
    }
}
