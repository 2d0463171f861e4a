//! Bodies that gravity takes away from everything.

use glam::{DQuat, DVec3};

use super::{Bodies, Severity};
use crate::algebra::spatial::Pose;
use crate::geometry::shapes::UNBOUNDED;
use crate::geometry::{BroadPhase, Shape};
use crate::io::scene::model::{Body, Motion, Servo};
use crate::model::flow::Region;

/// Rounding of places, in parts of them (m), by which a body may begin below level ground.
const LEVEL: f64 = 1e-9;
/// Growth of the way that bodies are followed down.
const FURTHER: f64 = 4.0;

impl Bodies<'_> {
    /// Bodies that nothing is below of, where gravity acts; where all would be well with gravity turned round, that is what is wrong. Along
    /// axes of a periodic cell a body comes back, so that it is not lost that way.
    pub(super) fn support(&mut self) {
        let (gravity, cell) = (self.scene.gravity_at(0.0), self.scene.periodic);
        let open = DVec3::from_array([0, 1, 2].map(|a| if cell.periodic(a) { 0.0 } else { gravity[a] }));
        let Some(down) = open.try_normalize() else { return };
        let laws = std::iter::once(&self.scene.default_law).chain(self.scene.pair_laws.iter().map(|p| &p.law));
        if laws.into_iter().any(|law| law.adhesion > 0.0 || law.bond.is_some()) {
            // they may cling to what is above or beside them
            return;
        }
        let lost = self.lost(down);
        if lost.is_empty() {
            return;
        }
        let something = self.scene.bodies.iter().any(|b| b.motion != Motion::Dynamic);
        if something && self.lost(-down).is_empty() {
            let [x, y, z] = [-gravity.x, -gravity.y, -gravity.z].map(|c| if c == 0.0 { 0.0 } else { c });
            let message =
                format!("gravity [{}, {}, {}] m/s2 takes every body away from what lies below it", gravity.x, gravity.y, gravity.z);
            let cure = format!("turn it round: gravity = [{x}, {y}, {z}]; z points up");
            return self.say(Severity::Fault, None, message, cure);
        }
        let cure = "add a static body below it, such as a half_space, a joint, or set gravity = [0, 0, 0]";
        let found = lost.into_iter().map(|i| (i, "nothing is below it: it would fall for ever".to_owned(), cure.to_owned()));
        let found = found.collect();
        self.say_some(found);
    }

    /// Servo walls without a grain that they could press, in the scene or in their way: they would move for ever.
    pub(super) fn servos(&mut self) {
        let walls: Vec<(usize, Servo)> = self.dynamic().filter_map(|(i, body)| Some((i, body.servo?))).collect();
        if walls.is_empty() {
            return;
        }
        let grains = self.grains();
        if grains.is_empty() {
            let cure = "add grains, such as a [[generate.pour]] or an [[inlet]], or take the servo away";
            let found = walls.iter().map(|w| (w.0, "its servo has nothing to press: no other body moves".to_owned(), cure.to_owned()));
            let found = found.collect();
            return self.say_some(found);
        }
        // what else moves grains may bring them there
        let driven = |b: &Body| matches!(b.motion, Motion::Kinematic(_)) || b.force != DVec3::ZERO || !b.impulses.is_empty();
        if self.scene.base.is_some() || !self.scene.loads.is_empty() || self.scene.bodies.iter().any(driven) {
            return;
        }
        let mut found = Vec::new();
        for (i, Servo { axis, force, .. }) in walls {
            let Some((low, high)) = self.shapes[i].as_ref().map(|shape| shape.aabb(&self.scene.bodies[i].pose)) else { continue };
            let cell = self.scene.periodic;
            let meets = |grain: &[DVec3; 2]| {
                (0..3).all(|a| match a == axis {
                    _ if cell.periodic(a) => true,
                    true if force < 0.0 => grain[0][a] < high[a],
                    true => grain[1][a] > low[a],
                    false => grain[0][a] < high[a] && grain[1][a] > low[a],
                })
            };
            if force != 0.0 && !grains.iter().any(meets) {
                let way = format!("{}{}", if force < 0.0 { "-" } else { "" }, ["x", "y", "z"][axis]);
                let message = format!("its servo has nothing to press: no body that moves lies before it along {way}");
                found.push((i, message, "put it where it meets the grains, make it wider, or turn its force round".to_owned()));
            }
        }
        self.say_some(found);
    }

    /// Boxes around the bodies that move by themselves and around inlets, and around all places to which gravity and their velocities lead.
    pub(super) fn grains(&self) -> Vec<[DVec3; 2]> {
        let ways: Vec<DVec3> = self.scene.gravity.iter().map(|g| g.acceleration).collect();
        let led = |low: DVec3, high: DVec3, velocity: DVec3| {
            ways.iter().chain([&velocity]).fold([low, high], |[low, high], way| {
                let open = |a: usize, side: f64| if way[a] * side > 0.0 { side * f64::INFINITY } else { 0.0 };
                let [below, above] = [-1.0, 1.0].map(|side| DVec3::from_array(std::array::from_fn(|a| open(a, side))));
                [low + below, high + above]
            })
        };
        let bodies = self.dynamic().filter(|(_, body)| body.servo.is_none()).filter_map(|(i, body)| {
            let (low, high) = self.shapes[i].as_ref()?.aabb(&body.pose);
            Some(led(low, high, body.linear_velocity))
        });
        bodies.chain(self.scene.inlets.iter().map(|inlet| led(inlet.gate.low, inlet.gate.high, inlet.velocity))).collect()
    }

    /// A scene in which bodies move as told and none by itself: there is no contact between them and those that stand.
    pub(super) fn moves(&mut self) {
        let driven = self.scene.bodies.iter().any(|b| matches!(b.motion, Motion::Kinematic(_)));
        if driven && self.scene.inlets.is_empty() && self.dynamic().next().is_none() {
            let message = "no body is dynamic, and bodies that stand or move as told exert no forces on each other".to_owned();
            let cure = "leave out the `motion` of what is to feel forces; a `fixed` joint to the world holds a dynamic body and tells them";
            self.say(Severity::Hint, None, message, cure);
        }
    }

    /// Whether one of two bodies is hollow, so that the other may hang in it.
    fn may_hook(&self, a: usize, b: usize) -> bool {
        [a, b].iter().any(|&i| matches!(self.shapes[i], Some(Shape::Compound(_) | Shape::Mesh(_))))
    }

    /// The moving bodies that nothing is below of where `down` is.
    fn lost(&self, down: DVec3) -> Vec<usize> {
        let upright = DQuat::from_rotation_arc(down, DVec3::NEG_Z);
        // gravity meets such a plane sooner or later, whatever is above it
        let catches = |(i, body): (usize, &Body)| match &self.shapes[i] {
            Some(Shape::HalfSpace { normal }) => body.pose.vector(*normal).dot(down) < 0.0 && body.death.is_none(),
            _ => false,
        };
        if self.scene.bodies.iter().enumerate().any(catches) {
            return Vec::new();
        }
        let mut boxes = Vec::new();
        for (i, body) in self.scene.bodies.iter().enumerate() {
            let seen = Pose::new(upright * body.pose.position, upright * body.pose.rotation);
            boxes.push(self.shapes[i].as_ref().map(|s| s.aabb(&seen)).filter(|b| b.1.z < UNBOUNDED));
        }
        let floor = boxes.iter().flatten().map(|b| b.0.z).fold(0.0, f64::min) - 1.0;
        let mut supported = vec![false; boxes.len()];
        let (mut broad, mut pairs) = (BroadPhase::default(), Vec::new());
        let mut falling: Vec<usize> = self.dynamic().map(|(i, _)| i).filter(|&i| boxes[i].is_some()).collect();
        // how far those that nothing was found below of are followed, in parts of their size: of a column of grains each meets the next
        // one, where all the way down each would meet all others
        let mut way = 1.0;
        loop {
            let mut down = vec![0.0; boxes.len()];
            falling.iter().for_each(|&i| down[i] = way);
            let mut ends = true;
            for (i, bounds) in boxes.iter().enumerate() {
                if let Some((low, high)) = bounds {
                    let bottom = (low.z - down[i] * (*high - *low).max_element()).max(floor);
                    ends &= down[i] == 0.0 || bottom <= floor;
                    broad.set_box(i as u32, DVec3::new(low.x, low.y, bottom.min(low.z)), *high);
                }
            }
            // a crowd is told of by itself
            if broad.pairs(&mut pairs).is_err() {
                return Vec::new();
            }
            for (a, b) in pairs.iter().map(|&(a, b)| (a as usize, b as usize)) {
                if let (Some(first), Some(second)) = (&boxes[a], &boxes[b]) {
                    // a link may hang in another one, a lamp on a hook
                    let hangs = self.may_hook(a, b) && first.0.cmple(second.1).all() && second.0.cmple(first.1).all();
                    // level ground has no height of its own: what stands on it begins as low as it does
                    let level = |below: usize, low: f64, top: f64| {
                        self.scene.bodies[below].motion != Motion::Dynamic && low <= top + LEVEL * top.abs().max(1.0)
                    };
                    supported[a] |= hangs || second.0.z < first.0.z || level(b, second.0.z, first.0.z);
                    supported[b] |= hangs || first.0.z < second.0.z || level(a, first.0.z, second.0.z);
                }
            }
            falling.retain(|&i| !supported[i]);
            if falling.is_empty() || ends {
                break;
            }
            way *= FURTHER;
        }
        // where images stand, and where bodies are by the time they come down, in a periodic cell: whatever lies lower and is no grain
        let cell = self.scene.periodic;
        if !cell.is_open() {
            let edges = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| upright * axis);
            let wraps = [0, 1].map(|k| (0..3).any(|a| cell.periodic(a) && edges[a][k].abs() > LEVEL));
            let fixed: Vec<_> =
                (0..boxes.len()).filter(|&k| self.scene.bodies[k].motion != Motion::Dynamic).filter_map(|k| boxes[k]).collect();
            for &i in &falling {
                let Some((low, high)) = boxes[i] else { continue };
                let over = |other: &(DVec3, DVec3)| (0..2).all(|k| wraps[k] || low[k] < other.1[k] && high[k] > other.0[k]);
                supported[i] |= fixed.iter().any(|other| other.0.z < low.z && over(other));
            }
        }
        for joint in &self.scene.joints {
            supported[joint.body1] = true;
            joint.body2.iter().for_each(|&i| supported[i] = true);
        }
        // what transmissions and interactions hold is not lost either
        let ends = self.scene.transmissions.iter().map(|t| [Some(t.body1), t.body2]);
        let ends = ends.chain(self.scene.ties.iter().map(|t| [Some(t.body1), t.body2]));
        ends.flatten().flatten().for_each(|i| supported[i] = true);
        // an outlet that it falls into takes it away
        for (i, body) in self.dynamic() {
            let x = body.pose.position + cell.home(body.pose.position).0;
            // along periodic axes it comes to any place
            let passes = |a: usize| cell.periodic(a) && self.scene.gravity_at(0.0)[a] != 0.0;
            supported[i] |= self.scene.outlets.iter().any(|outlet| falls_into(&outlet.region, x, down, passes));
        }
        // a load may hold it up
        self.scene.loads.iter().for_each(|load| supported[load.body] = true);
        let lost = |(i, b): &(usize, &Body)| !supported[*i] && b.force == DVec3::ZERO && b.locked_translation == [false; 3];
        self.dynamic().filter(lost).map(|(i, _)| i).collect()
    }
}

/// Whether what falls from a point (m) comes into a region, along some axes wherever the region lies.
fn falls_into(region: &Region, x: DVec3, down: DVec3, anywhere: impl Fn(usize) -> bool) -> bool {
    let (low, high) = match *region {
        Region::Beyond { normal, .. } => return region.holds(x) || normal.dot(down) > 0.0,
        Region::Box { low, high } => (low, high),
    };
    let mut way = [0.0f64, f64::INFINITY];
    for a in (0..3).filter(|&a| !anywhere(a)) {
        if down[a] == 0.0 {
            if !(low[a]..=high[a]).contains(&x[a]) {
                return false;
            }
            continue;
        }
        let at = [low[a], high[a]].map(|face| (face - x[a]) / down[a]);
        way = [way[0].max(at[0].min(at[1])), way[1].min(at[0].max(at[1]))];
    }
    way[0] <= way[1]
}
