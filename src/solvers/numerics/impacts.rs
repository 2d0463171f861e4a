//! What impacts take and give back: energy that passes through contacts, summed over the bodies that press on each other.
//!
//! ```text
//! work of contact k    w_k = r_kᵀ (u_k⁺ + u_k)/2               u: free velocity, or that before the step where an impact takes two
//! excess of an island  Σ (w_k − t_k) + Σ w_j + Σ ½ m s·(v⁻ − v⁺)      t_k: what contact k took in the step before and has not given back
//! ```
//!
//! w_j is the work of joint j. Its arm is that of the middle of the step: velocities that matched it in the step before do not match it
//! now, and an impact that meets such a body does work through its joints.
//!
//! s is the velocity by which the position rule leaves the mean velocity behind: `h g` where a step moves by `h v⁺`, 0 where it moves
//! by the mean. Impulses that pass through a body do work of opposite signs at its contacts, so only the sum over an island has a
//! meaning. With no restitution at all the excess is never positive: then `rᵀu⁺ ≤ 0`, and `Σ w_k = rᵀu⁺ − ½ rᵀW r`. So an island that
//! gets more than it took is mended by asking less of its rebounds.

use super::disjoint::DisjointSets;
use super::mixed::{Contact, IMMOBILE, RigidMass, Twist};
use glam::DVec3;

/// Relative excess of energy that is rounding.
const ROUNDING: f64 = 1e-9;
/// A cut goes this much farther, so that rounding asks for no other.
const BELOW: f64 = 1.0 - 1e-7;
/// Least share of a rebound that one round of cuts leaves.
const LEAST_SHARE: f64 = 0.5;

/// The energy of each island, in a step.
///
/// ```
/// use drystone::numerics::{impacts::Ledger, mixed::{Contact, IMMOBILE}};
/// use glam::DVec3;
/// // a body on the floor that gets 3 J where the impact took 2 J
/// let contacts = [Contact { body1: 0, body2: IMMOBILE, ..Contact::default() }];
/// let mut ledger = Ledger::default();
/// ledger.gather(1, &contacts, &[DVec3::X], &[3.0], &[2.0], &[]);
/// assert!(ledger.exceeds(0));
/// assert_eq!(ledger.gained([0], 0.0), 1.0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Mobile bodies that press on each other.
    sets: DisjointSets,
    /// Of the body that stands for an island: its excess, and the sum of the sizes of its entries (J).
    excess: Vec<[f64; 2]>,
    /// Whether the island has been looked at.
    seen: Vec<bool>,
}

/// The mobile body of a contact, the first where both are.
pub fn mobile_body(c: &Contact) -> Option<u32> {
    [c.body1, c.body2].into_iter().find(|&b| b != IMMOBILE)
}

impl Ledger {
    /// Enters the work of all contacts and what they took before, and the work of joints between two bodies or one and [`IMMOBILE`] (J);
    /// contacts without reaction join no bodies.
    pub fn gather(
        &mut self,
        bodies: usize,
        contacts: &[Contact],
        reactions: &[DVec3],
        work: &[f64],
        taken: &[f64],
        joints: &[([u32; 2], f64)],
    ) {
        self.sets.reset(bodies);
        self.excess.clear();
        self.excess.resize(bodies, [0.0; 2]);
        for &([a, b], _) in joints.iter().filter(|(ends, _)| !ends.contains(&IMMOBILE)) {
            self.sets.join(a, b);
        }
        for (c, _) in contacts.iter().zip(reactions).filter(|(_, r)| **r != DVec3::ZERO) {
            if c.body1 != IMMOBILE && c.body2 != IMMOBILE {
                self.sets.join(c.body1, c.body2);
            }
        }
        for (c, (work, taken)) in contacts.iter().zip(work.iter().zip(taken)) {
            let Some(body) = mobile_body(c) else { continue };
            let entry = self.entry(body);
            entry[0] += work - taken;
            entry[1] += work.abs() + taken.abs();
        }
        for &(ends, work) in joints {
            let Some(body) = ends.into_iter().find(|&b| b != IMMOBILE) else { continue };
            let entry = self.entry(body);
            entry[0] += work;
            entry[1] += work.abs();
        }
    }

    /// Enters what the position rule lifts: `shift` (m/s) is the difference between the velocity by which a step moves and the mean one,
    /// as gravity makes it.
    pub fn lift(&mut self, masses: &[RigidMass], before: &[Twist], after: &[Twist], shift: DVec3) {
        for (body, mass) in masses.iter().enumerate() {
            let inverse = mass.inverse_mass;
            let change = before[body].linear - after[body].linear;
            let each = |i: usize| if inverse[i] > 0.0 { shift[i] * change[i] / inverse[i] } else { 0.0 };
            self.entry(body as u32)[0] += each(0) + each(1) + each(2);
        }
    }

    /// Whether the island of a body has energy from nowhere.
    pub fn exceeds(&mut self, body: u32) -> bool {
        let [excess, size] = *self.entry(body);
        excess > ROUNDING * size
    }

    /// Energy that the island of a body has from nowhere (J); negative: what is left of what it took.
    pub fn excess(&mut self, body: u32) -> f64 {
        self.entry(body)[0]
    }

    /// Starts a round of looking at islands.
    pub fn start_round(&mut self) {
        self.seen.clear();
        self.seen.resize(self.excess.len(), false);
    }

    /// Marks the island of a body as looked at; whether it was so before.
    pub fn mark(&mut self, body: u32) -> bool {
        let root = self.sets.root(body) as usize;
        std::mem::replace(&mut self.seen[root], true)
    }

    /// Whether the island of a body was looked at in this round.
    pub fn is_marked(&mut self, body: u32) -> bool {
        self.seen[self.sets.root(body) as usize]
    }

    /// Energy from nowhere in the islands of these bodies (J); excesses within `tolerance`, relative to what passes through an island, are
    /// errors of the solver.
    pub fn gained(&mut self, bodies: impl IntoIterator<Item = u32>, tolerance: f64) -> f64 {
        self.start_round();
        let mut sum = 0.0;
        for body in bodies {
            let [excess, size] = *self.entry(body);
            if !self.mark(body) && excess > tolerance.max(ROUNDING) * size {
                sum += excess;
            }
        }
        sum
    }

    /// Scales what contacts took down to what is left in their islands.
    pub fn limit(&mut self, contacts: &[Contact], taken: &mut [f64]) {
        self.excess.iter_mut().for_each(|e| e[1] = 0.0);
        for (c, taken) in contacts.iter().zip(taken.iter()) {
            if let Some(body) = mobile_body(c) {
                self.entry(body)[1] += taken;
            }
        }
        for (c, taken) in contacts.iter().zip(taken) {
            if let Some(body) = mobile_body(c) {
                let [excess, sum] = *self.entry(body);
                let left = (-excess).max(0.0);
                if sum > left {
                    *taken *= left / sum;
                }
            }
        }
    }

    fn entry(&mut self, body: u32) -> &mut [f64; 2] {
        &mut self.excess[self.sets.root(body) as usize]
    }
}

/// By which share a rebound is lowered that gives `given` (J) where `allowed` may be given.
///
/// ```text
/// given = (p² − u²) / 2W        p: speed that is asked for, u: that before the step, rest = u²/p²
/// ```
pub fn share(given: f64, allowed: f64, rest: f64) -> f64 {
    let rest = rest.clamp(0.0, 1.0);
    (rest + (1.0 - rest) * (allowed / given).clamp(0.0, 1.0)).sqrt().max(LEAST_SHARE) * BELOW
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contact(body1: u32, body2: u32) -> Contact {
        Contact { body1, body2, ..Contact::default() }
    }

    /// 0 – 1 – 2 in a chain, of which 1 – 2 carries nothing; 3 on the floor; 4 alone.
    fn gathered(work: [f64; 4], taken: [f64; 4]) -> (Ledger, [Contact; 4]) {
        let contacts = [contact(0, 1), contact(1, 2), contact(IMMOBILE, 3), contact(2, IMMOBILE)];
        let reactions = [DVec3::X, DVec3::ZERO, DVec3::X, DVec3::X];
        let mut ledger = Ledger::default();
        ledger.gather(5, &contacts, &reactions, &work, &taken, &[]);
        (ledger, contacts)
    }

    #[test]
    fn works_of_opposite_signs_cancel_within_an_island_and_not_between_two() {
        let (mut ledger, _) = gathered([5.0, -4.0, 1.0, -9.0], [0.0; 4]);
        assert_eq!([0, 1, 2, 3, 4].map(|b| ledger.exceeds(b)), [true, true, false, true, false]);
        assert_eq!(ledger.gained([1, 0, 0, 3, 2], 0.0), 2.0);
        assert_eq!(ledger.gained([0, 1], 0.2), 0.0, "1 J of 9 J is within 20 %");
        assert_eq!(ledger.gained([], 0.0), 0.0, "islands without restitution are not asked for");
    }

    #[test]
    fn joints_make_islands_and_their_work_counts() {
        let (contacts, reactions) = ([contact(0, IMMOBILE), contact(1, IMMOBILE)], [DVec3::X; 2]);
        let excess = |joints: &[([u32; 2], f64)]| {
            let mut ledger = Ledger::default();
            ledger.gather(3, &contacts, &reactions, &[3.0, -5.0], &[0.0; 2], joints);
            [0, 1].map(|body| ledger.excess(body))
        };
        assert_eq!(excess(&[]), [3.0, -5.0]);
        assert_eq!(excess(&[([1, 0], 4.0)]), [2.0; 2]);
        assert_eq!(excess(&[([IMMOBILE, 1], 6.0), ([2, IMMOBILE], 1.0)]), [3.0, 1.0]);
    }

    #[test]
    fn what_was_taken_before_may_be_given_back() {
        let (mut ledger, _) = gathered([5.0, 0.0, 1.0, 0.0], [5.0, 0.0, 0.5, 0.0]);
        assert_eq!([0, 3].map(|b| ledger.exceeds(b)), [false, true]);
    }

    #[test]
    fn a_body_that_is_thrown_up_by_a_step_at_its_end_velocity_gains_height() {
        let (mut ledger, _) = gathered([0.0; 4], [0.0; 4]);
        let mass = RigidMass { inverse_mass: DVec3::new(0.5, 0.0, 0.25), ..RigidMass::default() };
        let at = |v: DVec3| [Twist { linear: v, ..Twist::default() }; 5];
        ledger.lift(&[mass; 5], &at(DVec3::ZERO), &at(DVec3::new(1.0, 7.0, 2.0)), DVec3::new(0.0, -1.0, -0.1));
        // 4 kg rise by 2 m/s against 0.1 m/s; the axis y is locked
        assert!((ledger.entry(3)[0] - 0.8).abs() < 1e-15);
        assert!((ledger.entry(0)[0] - 1.6).abs() < 1e-15, "two bodies");
    }

    #[test]
    fn a_deposit_is_limited_to_what_the_island_has_left() {
        let (mut ledger, contacts) = gathered([3.0, -4.0, -1.0, 0.0], [0.0; 4]);
        let mut taken = [0.0, 4.0, 1.0, 0.0];
        ledger.limit(&contacts, &mut taken);
        assert_eq!(taken, [0.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn islands_are_marked_once_a_round() {
        let (mut ledger, _) = gathered([0.0; 4], [0.0; 4]);
        for _ in 0..2 {
            ledger.start_round();
            assert_eq!([1, 0, 2, 2].map(|b| ledger.mark(b)), [false, true, false, true]);
            assert!(ledger.is_marked(0) && !ledger.is_marked(3));
        }
    }

    #[test]
    fn a_cut_follows_the_square_root_and_never_goes_below_a_half_at_once() {
        let close = |x: f64, exact: f64| assert!((x / exact - 1.0).abs() < 1e-6, "{x} instead of {exact}");
        close(share(4.0, 4.0, 0.0), 1.0);
        close(share(4.0, 2.25, 0.0), 0.75);
        close(share(4.0, 0.1, 0.0), 0.5);
        close(share(4.0, -1.0, 0.0), 0.5);
        // from -3 m/s to 5 m/s with W = 2: 4 J; to be 1.75 J, up to 4 m/s
        close(share(4.0, 1.75, 9.0 / 25.0), 0.8);
    }
}
