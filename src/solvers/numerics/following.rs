//! Shifts of Coulomb's law that follow the slip, while sweeps solve the convex problem of the shifts at hand.
//!
//! ```text
//! K_μ ∋ r ⟂ u + s n ∈ K_μ*        a few sweeps with s known, which descend
//! s ← s + a (μ‖u_t‖ − s)          a for each contact: more while μ‖u_t‖ − s keeps its sign, half when it changes
//! ```
//!
//! At the end s = μ‖u_t‖, which is Coulomb's law (De Saxcé, Feng 1998). Where friction is high, sweeps that take the law as it is go round in
//! circles: contacts that grip hard drive each other's normals. The convex problem has no such circles, and most of its shifts are small, as
//! most contacts stick. What is left circles contact by contact, hence a share of its own for each (as in Rprop: Riedmiller, Braun 1993).
//!
//! Measured on two steps of 640 balls with μ = 5 (1297 and 1472 contacts) from nothing, sweeps to e_s = 1e-3 and 1e-4, bounds 0.05 and 1.5:
//!
//! | sweeps between two updates | 2 | 4 | 7 | 10 | 20, a share of 1 for all |
//! |-|-|-|-|-|-|
//! | 1e-3 | – , – | 292, 820 | **315, 378** | 380, 440 | 1000, 1000 |
//! | 1e-4 | – , – | 2076, – | **1064, 833** | 1090, 1290 | 2760, – |
//!
//! (–: not in 2500.) Coulomb's law as it is: – throughout, with any momentum. At μ = 0.5 it is the other way round: the law as it is takes 265
//! sweeps to 1e-4, shifts that follow more than 1200. A least share of 0.005 instead of 0.05 saves a third of the sweeps at 1e-4 and μ = 1.2 to 2.

use super::mixed::{MixedProblem, Velocities};

/// The shifts of all contacts.
#[derive(Debug, Default)]
pub(super) struct Following {
    pub(super) shifts: Vec<f64>,
    /// share of what a shift misses that it takes
    shares: Vec<f64>,
    /// μ‖u_t‖ − s when it was looked at last
    missed: Vec<f64>,
}

/// Sweeps from one update to the next.
pub(super) const EVERY: usize = 7;
/// Bounds of the shares, and what becomes of one.
const LEAST: f64 = 0.005;
const MOST: f64 = 1.5;
const BOLDER: f64 = 1.2;
const CALMER: f64 = 0.5;

impl Following {
    /// Begins with the slip of these velocities.
    pub(super) fn begin(&mut self, p: &MixedProblem, v: &Velocities) {
        let slip = p.contacts.iter().map(|c| c.shift(p.contact_velocity(c, &v.rigid)));
        self.shifts.clear();
        self.shifts.extend(slip);
        self.shares.clear();
        self.shares.resize(p.contacts.len(), 1.0);
        self.missed.clear();
        self.missed.resize(p.contacts.len(), 0.0);
    }

    /// Moves on to the slip of these velocities.
    pub(super) fn follow(&mut self, p: &MixedProblem, v: &Velocities) {
        let all = self.shifts.iter_mut().zip(&mut self.shares).zip(self.missed.iter_mut().zip(&p.contacts));
        for ((shift, share), (missed, c)) in all {
            let miss = c.shift(p.contact_velocity(c, &v.rigid)) - *shift;
            let turn = miss * std::mem::replace(missed, miss);
            if turn < 0.0 {
                *share = (CALMER * *share).max(LEAST);
            } else if turn > 0.0 {
                *share = (BOLDER * *share).min(MOST);
            }
            *shift = (*shift + *share * miss).max(0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::mixed::{Answer, Contact, IMMOBILE, RigidMass, Twist};
    use glam::DVec3;

    #[test]
    fn a_shift_goes_to_the_slip_boldly_until_it_overshoots_and_never_below_zero() {
        let mut p = MixedProblem::default();
        p.rigid.push(RigidMass { inverse_mass: DVec3::ONE, ..RigidMass::default() });
        p.free.rigid.push(Twist { linear: DVec3::new(0.6, 0.8, 0.0), ..Twist::default() });
        p.push_group([Contact { normal: DVec3::Z, tangent: DVec3::X, mu: 2.0, body1: 0, body2: IMMOBILE, ..Contact::default() }]);
        let mut answer = Answer::for_problem(&p);
        let mut at = |slip: f64| {
            answer.velocities.rigid[0].linear = DVec3::new(0.0, slip, 0.5);
            answer.velocities.clone()
        };
        let mut following = Following::default();
        following.begin(&p, &p.free);
        assert!((following.shifts[0] - 2.0).abs() < 1e-15, "mu times the slip");
        let mut follow = |slip: f64| {
            following.follow(&p, &at(slip));
            following.shifts[0]
        };
        // misses by 1, by 1 again with the share of 1.2, by −0.8: half of that share
        assert!((follow(1.5) - 3.0).abs() < 1e-14 && (follow(2.0) - 4.2).abs() < 1e-14 && (follow(1.7) - 3.72).abs() < 1e-14);
        assert!((0..9).all(|_| follow(0.0) >= 0.0) && follow(0.0) == 0.0);
    }
}
