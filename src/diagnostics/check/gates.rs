//! Inlets whose box a wall goes through, outlets that take what the scene begins with, measures of kinds of grains that there are not.

use super::{Bodies, Severity};
use crate::algebra::spatial::Pose;
use crate::diagnostics::grains::Grain;
use crate::geometry::shapes::UNBOUNDED;
use crate::geometry::{Scratch, Shape, contact_points};
use crate::io::scene::model::{Body, Measure, Motion};
use crate::model::flow::Region;
use glam::DVec3;

/// Distance of a box from everything, in diagonals of the box around that, from which on nothing is thought to come there.
const FAR: f64 = 3.0;

impl Bodies<'_> {
    /// A box that reaches through the wall of a vessel around it is an error already where the scene is read.
    pub(super) fn gates(&mut self) {
        let (mut scratch, mut points) = (Scratch::default(), Vec::new());
        let (mut found, mut behind, mut late) = (Vec::new(), Vec::new(), Vec::new());
        let end = self.scene.time.end;
        for inlet in &self.scene.inlets {
            if inlet.gate.start >= end {
                late.push(format!("the inlet {} opens at {} s, and the run ends at {end} s", inlet.name, inlet.gate.start));
            }
            let (low, high) = (inlet.gate.low, inlet.gate.high);
            let Ok(room) = Shape::cuboid(0.5 * (high - low)) else { continue };
            let place = Pose::at(0.5 * (low + high));
            for (i, body) in self.scene.bodies.iter().enumerate().filter(|(_, body)| body.motion != Motion::Dynamic) {
                let Some(shape) = &self.shapes[i] else { continue };
                if let Shape::HalfSpace { normal } = shape {
                    let normal = body.pose.rotation * *normal;
                    let nearest = DVec3::select(normal.cmpgt(DVec3::ZERO), high, low);
                    let stays = body.motion == Motion::Static && body.birth == 0.0 && body.death.is_none();
                    if stays && (nearest - body.pose.position).dot(normal) <= 0.0 {
                        behind.push((i, inlet.name.clone()));
                    }
                }
                let (below, above) = shape.aabb(&body.pose);
                if matches!(shape, Shape::HalfSpace { .. } | Shape::Vessel(_)) || !(below.cmplt(high) & above.cmpgt(low)).all() {
                    continue;
                }
                points.clear();
                contact_points(&room, &place, shape, &body.pose, 0.0, &mut scratch, &mut points);
                // what leans on the box does not stand in it
                if points.iter().any(|p| p.gap < -1e-6 * inlet.sizes.smallest()) {
                    found.push((i, inlet.name.clone()));
                }
            }
        }
        for (i, inlet) in found {
            let message = format!("stands in the box of the inlet {inlet}, where grains would come in on every side of it");
            self.say(Severity::Hint, Some(i), message, "make the box narrower than the walls around it");
        }
        for (i, inlet) in behind {
            let message = format!("the box of the inlet {inlet} lies wholly behind it, where no grain finds room");
            self.say(Severity::Hint, Some(i), message, "put the box where grains are to come in; lengths are in m");
        }
        for message in late {
            self.say(Severity::Hint, None, message, "let the run last longer, or let it open earlier");
        }
        let cell = self.scene.periodic;
        let taken: Vec<(usize, String, bool)> = self
            .scene
            .outlets
            .iter()
            .filter_map(|outlet| {
                let inside = |body: &crate::io::scene::model::Body| {
                    let x = body.pose.position;
                    body.birth == 0.0 && outlet.region.holds(x + cell.home(x).0)
                };
                let count = self.dynamic().filter(|(_, body)| inside(body)).count();
                (count > 0).then(|| (count, outlet.name.clone(), matches!(outlet.region, Region::Box { .. })))
            })
            .collect();
        for (count, outlet, is_box) in taken {
            let message = format!("the outlet {outlet:?} takes {count} of {} moving bodies at the start", self.dynamic().count());
            let cure = if is_box {
                "what is in its box is removed; make the box smaller, or move it or what begins there"
            } else {
                "its normal points to the side where bodies leave; turn it round, or move the outlet"
            };
            self.say(Severity::Hint, None, message, cure);
        }
        self.segregations();
        let told = self.boxes_behind_planes();
        self.empty_boxes(&told);
    }

    /// Boxes of measures and fields so far from everything that no body will come there, but for those that are told already.
    fn empty_boxes(&mut self, told: &[(&str, String)]) {
        let cell = self.scene.periodic;
        let bodies = self.scene.bodies.iter().zip(&self.shapes).filter_map(|(body, shape)| {
            let (low, high) = shape.as_ref()?.aabb(&body.pose);
            (high - low).max_element().lt(&UNBOUNDED).then_some([low, high])
        });
        let inlets = self.scene.inlets.iter().map(|inlet| [inlet.gate.low, inlet.gate.high]);
        let around = |[a, b]: [DVec3; 2], [low, high]: [DVec3; 2]| [a.min(low), b.max(high)];
        let Some([low, high]) = bodies.chain(inlets).reduce(around) else { return };
        let far = FAR * (high - low).length();
        // where gravity and velocities lead is no matter of distance
        let Some([first, last]) = self.grains().into_iter().reduce(around) else { return };
        let beside = |[from, to]: [DVec3; 2]| {
            let beyond = |a: usize| from[a] > high[a].max(last[a]) + far || to[a] < low[a].min(first[a]) - far;
            (0..3).any(|a| !cell.periodic(a) && beyond(a))
        };
        let measures = self.scene.measures.iter().filter_map(|m| Some(("measure", &m.name, m.bounds?)));
        let fields = self.scene.fields.iter().map(|f| ("field", &f.name, [f.grid.low, f.grid.high]));
        let found: Vec<(&str, String)> =
            measures.chain(fields).filter(|(.., bounds)| beside(*bounds)).map(|(what, name, _)| (what, name.clone())).collect();
        let found: Vec<(&str, String)> = found.into_iter().filter(|one| !told.contains(one)).collect();
        for (what, name) in found {
            let message = format!("the box of the {what} {name} lies far from every body, and holds nothing");
            self.say(Severity::Hint, None, message, "put it where grains are; lengths are in m");
        }
    }

    /// Boxes behind a plane that stands for the whole run, where what begins before it never comes: what they are of, and its name.
    fn boxes_behind_planes(&mut self) -> Vec<(&'static str, String)> {
        let planes: Vec<(usize, DVec3, DVec3)> = self
            .scene
            .bodies
            .iter()
            .enumerate()
            .filter(|(_, body)| body.motion == Motion::Static && body.birth == 0.0 && body.death.is_none())
            .filter_map(|(i, body)| match &self.shapes[i] {
                Some(Shape::HalfSpace { normal }) => Some((i, body.pose.position, body.pose.rotation * *normal)),
                _ => None,
            })
            .filter(|&(_, on, normal)| {
                let before = |x: DVec3| (x - on).dot(normal) >= 0.0;
                let inlets = || self.scene.inlets.iter().map(|inlet| 0.5 * (inlet.gate.low + inlet.gate.high));
                self.dynamic().all(|(_, body)| before(body.pose.position)) && inlets().all(before)
            })
            .collect();
        let measures = self.scene.measures.iter().filter_map(|m| Some(("measure", &m.name, m.bounds?, 0.0)));
        // the kernel of a field looks beyond its box
        let fields = self.scene.fields.iter().map(|f| ("field", &f.name, [f.grid.low, f.grid.high], f.grid.width));
        let mut found = Vec::new();
        for (what, name, [low, high], reach) in measures.chain(fields) {
            let nearest = |on: DVec3, normal: DVec3| (DVec3::select(normal.cmpgt(DVec3::ZERO), high, low) - on).dot(normal);
            if let Some(&(wall, ..)) = planes.iter().find(|&&(_, on, normal)| nearest(on, normal) + reach <= 0.0) {
                found.push((wall, what, name.clone()));
            }
        }
        for (wall, what, name) in &found {
            let message = format!("the box of the {what} {name} lies wholly behind it, where no body comes, and holds nothing");
            self.say(Severity::Hint, Some(*wall), message, "put it where grains are; lengths are in m");
        }
        found.into_iter().map(|(_, what, name)| (what, name)).collect()
    }

    /// Measures that part large balls from small ones along an axis that comes round, or where all that there will be are of one kind.
    fn segregations(&mut self) {
        let everywhere = [DVec3::NEG_INFINITY, DVec3::INFINITY];
        let along = |m: &Measure| {
            let (parted, round) = (m.segregation.as_ref()?, self.scene.periodic.round(m.bounds.unwrap_or(everywhere)));
            Some((m.name.clone(), (0..3).find(|&a| round.test(a) && parted.axis[a] != 0.0)?))
        };
        let round: Vec<(String, usize)> = self.scene.measures.iter().filter_map(along).collect();
        for (name, a) in round {
            let axis = ["x", "y", "z"][a];
            let message = format!(
                "the measure {name} has a `segregation` along {axis}, where the periodic cell has no first and no last place; its column is nan"
            );
            self.say(
                Severity::Hint,
                None,
                message,
                "let them part along an axis that is not periodic, or in a `box` that is shorter than the cell there",
            );
        }
        if !self.scene.inlets.is_empty() {
            return;
        }
        let radius = |(i, _): (usize, &Body)| match self.shapes[i].as_ref()? {
            Shape::Ball { radius } => Some(*radius),
            shape => Some(0.5 * Grain { volume: shape.volume().ok()?, ..Grain::default() }.diameter()),
        };
        let (smallest, largest) =
            self.dynamic().filter_map(radius).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), r| (low.min(r), high.max(r)));
        let parted = self.scene.measures.iter().filter_map(|m| Some((m.name.clone(), m.segregation.as_ref()?.radius)));
        let found: Vec<(String, f64, &str)> = parted
            .filter_map(|(name, radius)| {
                let kind = if smallest >= radius { "large" } else { "small" };
                (smallest >= radius || largest < radius).then_some((name, radius, kind))
            })
            .collect();
        for (name, radius, kind) in found {
            let message = format!(
                "the measure {name} has a `segregation` at the radius {radius} m, by which all grains are {kind}; its column is nan"
            );
            self.say(
                Severity::Hint,
                None,
                message,
                "put the radius between those of the grains that are to part, of other shapes than balls that of the ball of their volume",
            );
        }
    }
}
