//! Which joints may act between the ways of two steps, see [`super::joints`].

use super::relations::rate;
use crate::algebra::spatial::Pose;
use crate::integrator::moreau_jean::advance;
use crate::model::joint::{MAX_JOINT_ROWS, TwistRow};
use crate::model::newton_euler::Velocity;
use crate::numerics::inner::DisjointSets;
use crate::numerics::mixed::IMMOBILE;

/// Bodies that joints link, however far, to one that is met in this step: by a contact, a bond or a blow, or by a joint along which it has not come.
/// Contacts and bonds have their impulses at the middle of the step, and may hold what a joint holds too: of two that press against each other at
/// different arms one would gain what the other loses.
#[derive(Clone, Debug, Default)]
pub(super) struct Touched {
    groups: DisjointSets,
    /// Of each group, at the body that names it.
    met: Vec<bool>,
    /// Largest [`Way::turned`] of each group.
    turned: Vec<f64>,
    /// Group and way of each joint.
    ways: Vec<(usize, Way)>,
}

impl Touched {
    /// Groups `count` mobile bodies by the rows that joints link, and marks the groups of those that are met; [`IMMOBILE`] is nobody.
    pub(super) fn find(&mut self, count: usize, joined: impl Iterator<Item = [u32; 2]>, met: impl Iterator<Item = u32>) {
        self.groups.reset(count);
        self.met.clear();
        self.met.resize(count, false);
        joined.filter(|rows| !rows.contains(&IMMOBILE)).for_each(|[one, two]| self.groups.join(one, two));
        for row in met.filter(|&row| row != IMMOBILE) {
            self.met[self.groups.root(row) as usize] = true;
        }
    }

    /// Marks the groups in which a joint has not been come along, given the rows of each joint and the way of its bodies.
    pub(super) fn leave(&mut self, joints: impl Iterator<Item = ([u32; 2], Way)>) {
        self.turned.clear();
        self.turned.resize(self.met.len(), 0.0);
        self.ways.clear();
        for (rows, way) in joints {
            let Some(root) = self.group(rows) else { continue };
            self.turned[root] = self.turned[root].max(way.turned);
            self.ways.push((root, way));
        }
        for &(root, way) in &self.ways {
            self.met[root] |= !way.is_along(self.turned[root]);
        }
    }

    /// The body that names the group of a joint.
    fn group(&mut self, rows: [u32; 2]) -> Option<usize> {
        rows.into_iter().find(|&row| row != IMMOBILE).map(|row| self.groups.root(row) as usize)
    }

    /// Whether the bodies of a joint are among them.
    pub(super) fn has(&mut self, rows: [u32; 2]) -> bool {
        self.group(rows).is_some_and(|root| self.met[root])
    }
}

/// Rates along a row below this part of the speeds of its bodies are rounding.
const STRAIGHT: f64 = 1e-9;
/// What the solver leaves of rates, in parts of what turning changes in those of a group: where one of its joints stands still for a moment.
const LEFT: f64 = 0.05;

/// How bodies have come to their poses by `h v`, seen from what a joint holds; squares of velocities (m²/s²).
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// Of the mean rates of its rows, going back: none on the way of a step that held.
    missed: f64,
    /// What these may be: of half of the rates at its end, with which bodies leave what they came along, and rounding.
    held: f64,
    /// Of what turning has changed in the rates of each body.
    turned: f64,
}

impl Way {
    /// Whether it lay along the joint, which velocities along its rows as they are now do not: at a start, and after a step in which a body has waited.
    /// `turned` is the largest of the group.
    pub(super) fn is_along(&self, turned: f64) -> bool {
        self.missed <= self.held + LEFT * LEFT * turned
    }

    /// The same of a joint alone.
    pub(super) fn is_along_itself(&self) -> bool {
        self.is_along(self.turned)
    }

    /// Of a joint with `rows` at poses of its bodies; `units` are those of the rows, and `arms` (m) what the turning of each body moves.
    pub(super) fn of(
        ends: [Option<(Pose, Velocity)>; 2],
        (units, arms): (&[f64; MAX_JOINT_ROWS], [f64; 2]),
        h: f64,
        rows: impl Fn(&[Pose; 2]) -> [TwistRow; MAX_JOINT_ROWS],
    ) -> Self {
        let at = |part: f64| ends.map(|end| end.map_or(Pose::default(), |(pose, v)| advance(&pose, &v, -part * h, false)));
        let places = [at(0.0), at(0.5), at(1.0)];
        let found = places.each_ref().map(&rows);
        let (mut missed, mut now, mut turned) = (0.0, 0.0, 0.0);
        for (i, unit) in units.iter().enumerate() {
            let of = |k: usize, body: usize| ends[body].map_or(0.0, |(_, v)| rate(&found[k][i], body, places[k][body].rotation, &v));
            let [end, middle, start] = [0, 1, 2].map(|k| unit * (of(k, 0) + of(k, 1)));
            missed += ((end + 4.0 * middle + start) / 6.0).powi(2);
            now += end * end;
            turned += (unit * ((of(0, 0) - of(2, 0)).abs() + (of(0, 1) - of(2, 1)).abs())).powi(2);
        }
        let speed = |(end, arm): (&Option<(Pose, Velocity)>, f64)| end.map_or(0.0, |(_, v)| v.linear.length() + arm * v.angular.length());
        let fastest: f64 = ends.iter().zip(arms).map(speed).sum();
        Self { missed, held: 0.25 * now + (STRAIGHT * fastest).powi(2), turned }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DQuat, DVec3};

    #[test]
    fn what_is_met_is_met_as_far_as_joints_reach() {
        let mut touched = Touched::default();
        touched.find(7, [[0, 1], [1, 2], [IMMOBILE, 3], [4, IMMOBILE], [5, 6]].into_iter(), [2, IMMOBILE, 4].into_iter());
        let found: Vec<bool> = (0..7).map(|row| touched.has([row, IMMOBILE])).collect();
        assert_eq!(found, [true, true, true, false, true, false, false], "3 and 4 hang from the world, each alone");
        assert!(touched.has([IMMOBILE, 1]) && !touched.has([IMMOBILE; 2]));
        touched.find(7, std::iter::empty(), std::iter::empty());
        assert!(!touched.has([0, 1]));
    }

    #[test]
    fn a_chord_is_told_from_a_tangent() {
        // a point on a circle of 2 m, held along its radius
        let (h, radius, spin) = (0.01, 2.0, 3.0);
        let radial = |poses: &[Pose; 2]| {
            let mut rows = [TwistRow::default(); MAX_JOINT_ROWS];
            rows[0].linear = poses[0].position.normalize_or_zero();
            rows
        };
        let come = |v: DVec3| {
            let end = (Pose { position: DVec3::X * radius, rotation: DQuat::IDENTITY }, Velocity { linear: v, angular: DVec3::ZERO });
            Way::of([Some(end), None], (&[1.0; MAX_JOINT_ROWS], [0.0; 2]), h, radial).is_along_itself()
        };
        let before = DVec3::new((spin * h).cos(), -(spin * h).sin(), 0.0) * radius;
        let chord = (DVec3::X * radius - before) / h;
        assert!(come(chord) && come(0.9 * chord) && come(DVec3::ZERO), "a way along the circle, one that has gained, and none");
        assert!(!come(DVec3::Y * spin * radius) && !come(DVec3::X), "a tangent, and straight away from the middle");
    }

    #[test]
    fn a_joint_that_stands_still_for_a_moment_does_not_hold_up_its_group() {
        let still = Way { missed: 1e-10, held: 1e-12, turned: 0.0 };
        let fast = Way { missed: 0.0, held: 1e-4, turned: 1e-3 };
        assert!(!still.is_along_itself() && fast.is_along_itself());
        let mut touched = Touched::default();
        for (links, met) in [([[0, 1], [1, 2]], false), ([[0, 1], [3, 2]], true)] {
            touched.find(4, links.into_iter(), std::iter::empty());
            touched.leave(links.into_iter().zip([still, fast]));
            assert_eq!((touched.has([0, IMMOBILE]), touched.has([2, IMMOBILE])), (met, false), "{links:?}");
        }
    }
}
