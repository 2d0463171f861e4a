//! Loads of a scene: forces on bodies, and water.

use super::BuildError;
use crate::algebra::spatial::Pose;
use crate::io::scene::applied::AppliedLoad;
use crate::io::scene::loads::{Uplift, WaterPressure};
use crate::io::scene::model::{Scene, ShapeSpec};
use crate::masonry::water::Face;
use crate::model::newton_euler::BodyPose;
use crate::simulation::Simulation;
use bevy_ecs::prelude::Entity;
use glam::DVec3;

/// A load in the axes of its body.
struct Bound {
    entity: Entity,
    load: AppliedLoad,
    /// From the centre of mass to its point.
    arm: DVec3,
    /// Force and moment, in the world where they are dead.
    wrench: [DVec3; 2],
}

/// Forces on bodies, as their mean over each step.
pub(super) fn add_loads(simulation: &mut Simulation, scene: &Scene, entities: &[Entity]) {
    let bind = |load: &AppliedLoad| {
        let entity = entities[load.body];
        let pose = simulation.world().get::<BodyPose>(entity).map_or(scene.bodies[load.body].pose, |pose| pose.0);
        let wrench = [load.force, load.torque].map(|x| if load.follows { pose.local_vector(x) } else { x });
        Bound { entity, load: load.clone(), arm: load.at.map_or(DVec3::ZERO, |at| pose.local_point(at)), wrench }
    };
    let mut loads: Vec<Bound> = scene.loads.iter().map(bind).collect();
    if loads.is_empty() {
        return;
    }
    loads.sort_by_key(|bound| bound.entity);
    simulation.add_mean_load(move |time, rows| {
        for row in rows.iter_mut() {
            let Some(entity) = row.entity else { continue };
            let first = loads.partition_point(|bound| bound.entity < entity);
            for bound in loads[first..].iter().take_while(|bound| bound.entity == entity) {
                let factor = bound.load.mean(time);
                let [force, torque] = bound.wrench.map(|x| factor * if bound.load.follows { row.pose.vector(x) } else { x });
                row.load.force += force;
                row.load.torque += torque + row.pose.vector(bound.arm).cross(force);
            }
        }
    });
}

/// Presses on the wet faces of blocks, and under the lowest one, as long as the run lasts.
pub(super) fn add_water(simulation: &mut Simulation, scene: &Scene, water: &WaterPressure, entities: &[Entity]) -> Result<(), BuildError> {
    let weight = water.density * scene.gravity_at(0.0).length();
    let mut faces: Vec<(Entity, Face, Option<Face>)> = Vec::new();
    let height = |i: usize| scene.bodies[i].pose.position.z;
    let lowest = water.bodies.iter().copied().min_by(|&a, &b| height(a).total_cmp(&height(b)));
    for &i in &water.bodies {
        let body = &scene.bodies[i];
        let ShapeSpec::Cuboid { half_extents } = body.shape else {
            let reason = format!("water presses on cuboids, found a {}; build it from cuboids", body.shape.kind());
            return Err(BuildError::Body { body: body.name.clone(), reason });
        };
        // from the frame of the shape to that of the body: they differ where a centre of mass is given
        let frame = simulation.world().get::<BodyPose>(entities[i]).map_or(body.pose, |pose| pose.0);
        let own = |outward: DVec3| {
            let face = Face::of_cuboid(half_extents, body.pose.rotation.conjugate() * outward).moved(&body.pose);
            face.moved(&frame.relative(&Pose::IDENTITY))
        };
        let below = (water.uplift == Uplift::Linear && lowest == Some(i)).then(|| own(DVec3::NEG_Z));
        faces.push((entities[i], own(-water.direction), below));
    }
    faces.sort_by_key(|face| face.0);
    if let (Some(bed), Some(base)) = (water.added_mass, scene.base.clone()) {
        let (water, faces) = (water.clone(), faces.clone());
        simulation.add_mean_load(move |[from, to], rows| {
            let push = -water.density * base.mean(from, to).dot(water.direction);
            let level = water.level(0.5 * (from + to));
            for row in rows.iter_mut() {
                let Some(entity) = row.entity else { continue };
                let Ok(at) = faces.binary_search_by_key(&entity, |face| face.0) else { continue };
                let load = faces[at].1.westergaard(&row.pose, [bed, level], push);
                row.load.force += load.force;
                row.load.torque += load.torque;
            }
        });
    }
    let water = water.clone();
    simulation.add_load(move |time, rows| {
        let level = water.level(time);
        for row in rows.iter_mut() {
            let Some(entity) = row.entity else { continue };
            let Ok(at) = faces.binary_search_by_key(&entity, |face| face.0) else { continue };
            let (_, face, below) = &faces[at];
            let mut loads = [Some(face.hydrostatic(&row.pose, level, weight)), None];
            loads[1] = below.map(|face| face.uplift(&row.pose, water.direction, level, weight));
            for load in loads.into_iter().flatten() {
                row.load.force += load.force;
                row.load.torque += load.torque;
            }
        }
    });
    Ok(())
}
