//! Water of a scene: on the wet faces of blocks, and in the joints below them.
//!
//! ```text
//! wet    = the face of a block that looks most against the water, less what other blocks cover of it, the nearest first and none of it twice
//! seam   = the bed of a block (of the lowest course, or of all), as the block above and the one below feel it
//! ```

use super::BuildError;
use crate::algebra::spatial::{Pose, tangents};
use crate::geometry::Shape;
use crate::io::scene::loads::{Uplift, WaterPressure};
use crate::io::scene::model::{Motion, Scene, gravity_at};
use crate::masonry::water::{Face, Seam};
use crate::model::newton_euler::BodyPose;
use crate::simulation::Simulation;
use bevy_ecs::prelude::Entity;
use glam::DVec3;
use std::collections::BTreeMap;

/// Joints are closed to water on a face up to this part of the smallest length of a block.
const JOINT: f64 = 0.05;
/// Cosine between triangles of one plane, at least.
const ONE_PLANE: f64 = 1.0 - 1e-9;

/// What the water does to a body, in the frame of the body.
#[derive(Clone, Default)]
struct Wet {
    /// Faces under water, without what is covered of them.
    faces: Vec<Face>,
    seams: Vec<Seam>,
}

/// A body at the start, in the world.
struct Block {
    body: usize,
    corners: [DVec3; 2],
    /// The faces of each of its convex parts.
    parts: Vec<Vec<Face>>,
    gap: f64,
}

/// A face and what stands before it.
struct Looking<'a> {
    face: &'a Face,
    /// What nothing covers of it.
    open: Vec<Face>,
    /// What is covered of it, with the body and its face that do.
    joints: Vec<(usize, Face, &'a Face)>,
}

impl Block {
    fn near(&self, other: &Self, gap: f64) -> bool {
        let ([low, high], [from, to]) = (self.corners, other.corners);
        (low - DVec3::splat(gap)).cmple(to).all() && from.cmple(high + DVec3::splat(gap)).all()
    }

    /// Of each part the face that looks most along `way`.
    fn looking<'a>(&'a self, way: DVec3, others: &'a [Self]) -> impl Iterator<Item = Looking<'a>> {
        self.parts.iter().enumerate().filter_map(move |(part, faces)| {
            let face = faces.iter().max_by(|a, b| a.normal.dot(way).total_cmp(&b.normal.dot(way)))?;
            let mut covers = Vec::new();
            for other in others.iter().filter(|other| self.near(other, self.gap)) {
                let parts = other.parts.iter().enumerate().filter(|(k, _)| other.body != self.body || *k != part);
                // what stands behind another part of its own stone is pushed by nothing, whether the hollow between them is dry or full
                let gap = if other.body == self.body { f64::INFINITY } else { self.gap };
                let looks = |cover: &&Face| face.before(cover) >= -self.gap && face.covered_by(cover, gap).is_some();
                covers.extend(parts.flat_map(|(_, faces)| faces).filter(looks).map(|cover| (other.body, cover, gap)));
            }
            // blocks beside the one that covers may reach before the face by a little where joints lean
            covers.sort_by(|a, b| face.before(a.1).abs().total_cmp(&face.before(b.1).abs()));
            let mut found = Looking { face, open: vec![face.clone()], joints: Vec::new() };
            for (body, cover, gap) in covers {
                for piece in std::mem::take(&mut found.open) {
                    let Some(joint) = piece.covered_by(cover, gap) else {
                        found.open.push(piece);
                        continue;
                    };
                    found.open.extend(piece.without(&joint));
                    found.joints.push((body, joint, cover));
                }
            }
            Some(found)
        })
    }
}

/// The faces of the convex parts of a shape; `None` where there are others than plane ones.
fn faces(shape: &Shape, pose: &Pose) -> Option<Vec<Vec<Face>>> {
    match shape {
        Shape::Cuboid { half_extents } => {
            let ways = [DVec3::X, DVec3::Y, DVec3::Z].into_iter().flat_map(|way| [way, -way]);
            Some(vec![ways.map(|way| Face::of_cuboid(*half_extents, way).moved(pose)).collect()])
        }
        Shape::Hull(_) => Some(vec![of_hull(shape).iter().map(|face| face.moved(pose)).collect()]),
        Shape::Compound(parts) => {
            let each = parts.iter().map(|(place, part)| faces(part, &pose.compose(place)));
            Some(each.collect::<Option<Vec<_>>>()?.concat())
        }
        _ => None,
    }
}

/// The triangles of a hull, put together to its faces.
fn of_hull(shape: &Shape) -> Vec<Face> {
    let surface = shape.surface(3, 0.0);
    let mut found: Vec<Face> = Vec::new();
    for triangle in &surface.triangles {
        let [a, b, c] = triangle.map(|i| surface.vertices[i as usize]);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        let at = found.iter().position(|face| face.normal.dot(normal) >= ONE_PLANE);
        let at = at.unwrap_or_else(|| {
            found.push(Face { corners: Vec::new(), normal });
            found.len() - 1
        });
        for x in [a, b, c] {
            if !found[at].corners.contains(&x) {
                found[at].corners.push(x);
            }
        }
    }
    for face in &mut found {
        let middle = face.corners.iter().sum::<DVec3>() / face.corners.len() as f64;
        let (right, up) = tangents(face.normal);
        let angle = |x: &DVec3| libm::atan2((*x - middle).dot(up), (*x - middle).dot(right));
        face.corners.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
    }
    found
}

/// Where the bed of a block lies.
fn foot(face: &Face) -> f64 {
    face.corners.iter().map(|x| x.z).fold(f64::INFINITY, f64::min)
}

/// The blocks of a scene that can cover others.
fn blocks(scene: &Scene) -> Vec<Block> {
    let block = |(body, it): (usize, &crate::io::scene::model::BodySpec)| {
        let shape = it.shape.build().ok()?;
        let parts = faces(&shape, &it.pose)?;
        let (low, high) = shape.aabb(&it.pose);
        Some(Block { body, corners: [low, high], parts, gap: JOINT * shape.smallest_length() })
    };
    scene.bodies.iter().enumerate().filter(|(_, body)| body.birth == 0.0).filter_map(block).collect()
}

/// Presses on the wet faces of blocks, and in the joints below them, as long as the run lasts.
pub(super) fn add_water(simulation: &mut Simulation, scene: &Scene, water: &WaterPressure, entities: &[Entity]) -> Result<(), BuildError> {
    let wet = wet(simulation, scene, water, entities)?;
    if let (Some(bed), Some(base)) = (water.added_mass, scene.base.clone()) {
        let (water, wet) = (water.clone(), wet.clone());
        simulation.add_mean_load(move |[from, to], rows| {
            let push = -water.density * base.mean(from, to).dot(water.direction);
            let level = water.level(0.5 * (from + to));
            for row in rows.iter_mut() {
                let Some(wet) = row.entity.and_then(|entity| wet.get(&entity)) else { continue };
                for face in &wet.faces {
                    let load = face.westergaard(&row.pose, [bed, level], push);
                    row.load.force += load.force;
                    row.load.torque += load.torque;
                }
            }
        });
    }
    let (water, gravity) = (water.clone(), scene.gravity.clone());
    simulation.add_load(move |time, rows| {
        let (level, weight) = (water.level(time), water.density * gravity_at(&gravity, time).length());
        for row in rows.iter_mut() {
            let Some(wet) = row.entity.and_then(|entity| wet.get(&entity)) else { continue };
            let faces = wet.faces.iter().map(|face| face.hydrostatic(&row.pose, level, weight));
            for load in faces.chain(wet.seams.iter().map(|seam| seam.uplift(&row.pose, level, weight))) {
                row.load.force += load.force;
                row.load.torque += load.torque;
            }
        }
    });
    Ok(())
}

fn wet(simulation: &Simulation, scene: &Scene, water: &WaterPressure, entities: &[Entity]) -> Result<BTreeMap<Entity, Wet>, BuildError> {
    let all = blocks(scene);
    // frames of shape and body differ where a centre of mass is given
    let home = |i: usize| {
        let frame = simulation.world().get::<BodyPose>(entities[i]).map_or(scene.bodies[i].pose, |pose| pose.0);
        frame.relative(&Pose::IDENTITY)
    };
    let mut found: BTreeMap<Entity, Wet> = BTreeMap::new();
    let mut beds = Vec::new();
    for &i in &water.bodies {
        let Some(block) = all.iter().find(|block| block.body == i) else {
            let body = &scene.bodies[i];
            let reason =
                format!("water presses on cuboids, hulls and compounds of them, found a {}; build it from these", body.shape.kind());
            return Err(BuildError::Body { body: body.name.clone(), reason });
        };
        let wet = found.entry(entities[i]).or_default();
        for side in block.looking(-water.direction, &all) {
            wet.faces.extend(side.open.iter().map(|face| face.moved(&home(i))));
        }
        if water.uplift != Uplift::None {
            beds.extend(block.looking(DVec3::NEG_Z, &all).map(|bed| (block, bed.face, bed.joints)));
        }
    }
    beds.sort_by(|a, b| foot(a.1).total_cmp(&foot(b.1)));
    let courses = beds.chunk_by(|a, b| foot(b.1) - foot(a.1) <= a.0.gap);
    for (k, course) in courses.enumerate().take(if water.uplift == Uplift::Joints { usize::MAX } else { 1 }) {
        let corners = || course.iter().flat_map(|(_, face, _)| &face.corners);
        let along = |x: &DVec3| x.dot(water.direction);
        let (heel, toe) = corners().map(along).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), s| (a.min(s), b.max(s)));
        let edge = corners().filter(|&x| along(x) - heel <= 1e-9 * (toe - heel));
        let height = edge.map(|x| x.z).fold(f64::INFINITY, f64::min);
        let mut press = |i: usize, face: Face| {
            let seam = Seam::new(face, water.direction, [heel, toe], height).moved(&home(i));
            found.entry(entities[i]).or_default().seams.push(seam);
        };
        for (block, face, joints) in course {
            let others = joints.iter().filter(|(other, ..)| *other != block.body);
            if k == 0 {
                // whatever the lowest course stands on
                press(block.body, (*face).clone());
            }
            for (other, joint, cover) in others {
                if k > 0 {
                    press(block.body, joint.clone());
                }
                if scene.bodies[*other].motion == Motion::Dynamic {
                    cover.covered_by(joint, block.gap).into_iter().for_each(|below| press(*other, below));
                }
            }
        }
    }
    Ok(found)
}
