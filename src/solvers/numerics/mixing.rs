//! Anderson's acceleration of sweeps over contacts of high friction.
//!
//! ```text
//! f = D^½ (sweep(r) − r)        min_γ |f_k − Σ γ_i Δf_i|        r_{k+1} = sweep(r_k) − Σ γ_i Δr_i,   v with the same γ, as it is linear in r
//! ```
//!
//! Where friction is high and bodies are pressed together, contacts that grip hard drive each other's normals: sweeps with and without the momentum of
//! [`super::passes`] go round in circles of a few contacts. These have few dimensions, and so a few differences tell their centre. Two settings serve: a long window that is
//! given up at every sweep that moves more than the one before, for what crawls, and a short one that outlasts that, for circles.
//!
//! Measured on steps of packings of μ = 10 (ARCHITECTURE.md, section 6).

use super::acceleration::Anderson;
use super::central::Balls;
use super::mixed::{Answer, MixedProblem, Reactions};
use glam::DVec3;

/// Windows of the two settings, and how many times the |D^½ d|² of the sweep before one may have before they are given up.
const WINDOWS: [usize; 2] = [10, 5];
const GROWTH: [f64; 2] = [1.0, 4.0];
/// Sweeps of the first stretch where the settings take turns, and the next one over it.
const STRETCH: f64 = 60.0;
const LONGER: f64 = 1.25;

/// The acceleration, and its buffers.
#[derive(Debug, Default)]
pub(super) struct Mixing {
    memory: Anderson,
    f: Vec<f64>,
    /// reactions and velocities
    g: Vec<f64>,
    /// |D^½ d|² of the last sweep
    last: f64,
    setting: usize,
    /// of the stretch at hand, and sweeps that are left of it; ∞ without turns
    stretch: f64,
    left: f64,
}

impl Mixing {
    /// Before the first sweep; `turns` where both settings take turns.
    pub(super) fn begin(&mut self, turns: bool) {
        self.last = f64::INFINITY;
        self.setting = 0;
        self.stretch = if turns { STRETCH } else { f64::INFINITY };
        self.left = self.stretch;
        self.memory.begin(WINDOWS[0]);
    }

    /// Moves on from what a sweep has made of an answer, whose contacts are in the lanes of `balls` where there are some; `moved` is its |D^½ d|².
    pub(super) fn mix(&mut self, p: &MixedProblem, answer: &mut Answer, changes: &Reactions, mut balls: Option<&mut Balls>, moved: f64) {
        self.left -= 1.0;
        if self.left <= 0.0 {
            self.setting = 1 - self.setting;
            self.stretch *= LONGER;
            self.left = self.stretch;
            self.memory.begin(WINDOWS[self.setting]);
        } else if moved > GROWTH[self.setting] * self.last {
            self.memory.restart();
        }
        self.last = moved;
        self.f.clear();
        self.g.clear();
        if let Some(balls) = &balls {
            balls.gather(&mut self.f, &mut self.g);
        }
        let Answer { reactions, velocities, .. } = answer;
        let apart = |balls: Option<&Balls>, k: usize| balls.is_none_or(|balls| balls.is_apart(k));
        for (k, (r, d)) in reactions.contacts.iter().zip(&changes.contacts).enumerate().filter(|(k, _)| apart(balls.as_deref(), *k)) {
            self.f.extend((p.contacts[k].local.mean_diagonal().sqrt() * *d).to_array());
            self.g.extend(r.to_array());
        }
        for block in &p.blocks {
            let root = p.block_weight(block).sqrt();
            self.f.extend(changes.blocks[block.first..][..block.rows].iter().map(|d| root * d));
        }
        self.g.extend(&reactions.blocks);
        for twist in &velocities.rigid {
            self.g.extend(twist.linear.to_array());
            self.g.extend(twist.angular.to_array());
        }
        self.g.extend(&velocities.general);
        if !self.memory.mix(&self.f, &mut self.g) {
            return;
        }
        let mut rest = self.g.as_slice();
        if let Some(balls) = &mut balls {
            rest = balls.scatter(rest);
        }
        for (_, r) in reactions.contacts.iter_mut().enumerate().filter(|(k, _)| apart(balls.as_deref(), *k)) {
            *r = vector(&mut rest);
        }
        let (blocks, mut rest) = rest.split_at(reactions.blocks.len());
        reactions.blocks.copy_from_slice(blocks);
        for twist in &mut velocities.rigid {
            (twist.linear, twist.angular) = (vector(&mut rest), vector(&mut rest));
        }
        velocities.general.copy_from_slice(rest);
    }
}

/// Takes the next three numbers.
fn vector(rest: &mut &[f64]) -> DVec3 {
    rest.split_off(..3).map_or(DVec3::ZERO, DVec3::from_slice)
}

#[cfg(test)]
pub(super) mod tests {
    use crate::algebra::random::Sequence;
    use crate::algebra::spatial::tangents;
    use crate::numerics::mixed::{Answer, Contact, MixedProblem, RigidMass, Twist};
    use crate::numerics::sweep::{GaussSeidel, Workspace};
    use glam::{DMat3, DVec3};

    /// Some balls of diameter 1 in a cube of this size that are driven together, with μ = 10.
    pub(in crate::numerics) fn crowd(seed: u64, count: usize, size: f64) -> MixedProblem {
        let mut random = Sequence::new(seed);
        let mut place = |width: f64| DVec3::from_array(std::array::from_fn(|_| random.next_between(-0.5 * width, 0.5 * width)));
        let (mut p, mut places) = (MixedProblem::default(), vec![DVec3::ZERO]);
        while places.len() < count {
            let new = place(size);
            let nearest = places.iter().map(|x| x.distance(new)).fold(f64::INFINITY, f64::min);
            if (0.93..1.0).contains(&nearest) {
                places.push(new);
            }
        }
        for x in &places {
            p.rigid.push(RigidMass { inverse_mass: DVec3::ONE, inverse_inertia: RigidMass::pack(DMat3::IDENTITY * 10.0) });
            p.free.rigid.push(Twist { linear: place(0.5) - *x, angular: place(0.5) });
        }
        for (k, x) in places.iter().enumerate() {
            for (l, y) in places.iter().enumerate().skip(k + 1).filter(|(_, y)| x.distance(**y) < 1.0) {
                let normal = (*x - *y).normalize();
                let (tangent, arm) = (tangents(normal).0, 0.5 * normal);
                let ends = [k as u32, l as u32];
                p.push_group([Contact {
                    normal,
                    tangent,
                    arm1: -arm,
                    arm2: arm,
                    mu: 10.0,
                    body1: ends[0],
                    body2: ends[1],
                    ..Contact::default()
                }]);
                p.close_colour();
            }
        }
        p.prepare().expect("legal");
        p
    }

    #[test]
    fn circles_of_balls_that_grip_hard_come_to_an_end() {
        let solved = |accelerate: bool| {
            let sweeps = GaussSeidel { tolerance: 1e-8, max_sweeps: 3000, accelerate, turns: true, ..GaussSeidel::default() };
            let ends = |seed: u64| {
                let p = crowd(seed, 40, 4.0);
                sweeps.solve(&p, &mut Answer::for_problem(&p), &mut Workspace::default()).converged()
            };
            (0..60).filter(|&seed| ends(seed)).count()
        };
        let counts = [false, true].map(solved);
        assert!(counts[0] < 60 && counts[1] == 60, "{counts:?} of 60 without and with acceleration");
    }

    /// Balls in a row that are driven together, in two colours and too few for cells: threads share their colours.
    #[test]
    fn colours_that_threads_share_are_mixed_to_the_same_bits() {
        let count = 3000;
        let mut p = MixedProblem::default();
        let mut random = Sequence::new(7);
        for k in 0..=count {
            p.rigid.push(RigidMass { inverse_mass: DVec3::ONE, inverse_inertia: RigidMass::pack(DMat3::IDENTITY * 10.0) });
            let [slip, spin] = std::array::from_fn(|_| random.next_between(-0.5, 0.5));
            let approach = 1.0 - 2.0 * f64::from(k) / f64::from(count);
            p.free.rigid.push(Twist { linear: DVec3::new(approach, slip, spin), angular: DVec3::new(slip, spin, slip) });
        }
        for first in [0, 1] {
            for k in (first..count).step_by(2) {
                let arms = [0.5 * DVec3::X, -0.5 * DVec3::X];
                let (normal, tangent) = (-DVec3::X, DVec3::Y);
                p.push_group([Contact {
                    normal,
                    tangent,
                    arm1: arms[0],
                    arm2: arms[1],
                    mu: 10.0,
                    body1: k,
                    body2: k + 1,
                    ..Contact::default()
                }]);
            }
            p.close_colour();
        }
        p.prepare().expect("legal");
        let solve = |threads: usize| {
            let (mut answer, mut work) = (Answer::for_problem(&p), Workspace::default());
            let sweeps = GaussSeidel { tolerance: 1e-13, max_sweeps: 60, turns: true, ..GaussSeidel::default() };
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let report = pool.install(|| sweeps.solve(&p, &mut answer, &mut work));
            assert_eq!(work.parallel_sweeps(), if threads == 1 { 0 } else { report.iterations as u64 });
            (answer.reactions, answer.velocities, report.e_s.to_bits())
        };
        let one = solve(1);
        assert!(p.known_cells().is_none() && one.0.contacts.iter().filter(|r| r.x > 0.0).count() > 1000);
        assert!(one == solve(2), "two threads differ from one");
    }
}
