//! Loads of a scene: forces on bodies.

use crate::io::scene::applied::AppliedLoad;
use crate::io::scene::model::Scene;
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
