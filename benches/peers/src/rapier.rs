//! A scene in rapier.

use crate::scenes::{Scene, Shape};
use cpu_time::ProcessTime;
#[cfg(not(feature = "double"))]
use rapier3d::prelude::*;
#[cfg(feature = "double")]
use rapier3d_f64::prelude::*;
use serde_json::{Value, json};
use std::time::Instant;

fn vector(x: [f64; 3]) -> Vector {
    Vector::new(x[0] as Real, x[1] as Real, x[2] as Real)
}

fn numbers(x: Vector) -> [f64; 3] {
    [x.x, x.y, x.z].map(|x| x as f64)
}

/// Runs the scene to its end; times are those of the steps alone.
pub(crate) fn run(scene: &Scene, threads: usize, damping: f64, recycle: bool) -> Result<Value, String> {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::new(0.0, 0.0, -9.81);
    #[cfg(feature = "parallel")]
    world.configure_thread_pool(threads).map_err(|error| error.to_string())?;
    #[cfg(not(feature = "parallel"))]
    if threads > 1 {
        return Err("build with --features parallel for several threads".into());
    }
    let settings = &scene.settings;
    let softness = SpringCoefficients { natural_frequency: 1000.0, damping_ratio: damping as Real };
    world.integration_parameters = IntegrationParameters {
        dt: settings.step as Real,
        num_solver_iterations: settings.iterations,
        contact_softness: softness,
        static_contact_softness: softness,
        length_unit: settings.unit as Real,
        friction_model: if settings.coulomb { FrictionModel::Coulomb } else { FrictionModel::Simplified },
        contact_recycling: recycle,
        ..IntegrationParameters::default()
    };
    let rough = |collider: ColliderBuilder| collider.friction(scene.mu as Real).restitution(0.0);
    for plane in &scene.planes {
        let collider = rough(ColliderBuilder::new(SharedShape::halfspace(vector(plane.normal)))).translation(vector(plane.point));
        world.insert_collider(collider, None);
    }
    let mut handles = Vec::new();
    for body in &scene.bodies {
        let collider = match &body.shape {
            Shape::Ball(radius) => ColliderBuilder::ball(*radius as Real),
            Shape::Cuboid([x, y, z]) => ColliderBuilder::cuboid(*x as Real, *y as Real, *z as Real),
            Shape::Hull(corners) => {
                let corners: Vec<Vector> = corners.iter().copied().map(vector).collect();
                ColliderBuilder::convex_hull(&corners).ok_or("no hull")?
            }
        };
        // bodies that sleep cost nothing, and show nothing either
        let rigid = RigidBodyBuilder::dynamic().translation(vector(body.position)).can_sleep(false);
        let (handle, _) = world.insert(rigid, rough(collider).density(scene.density as Real));
        handles.push(handle);
    }
    let places = |world: &PhysicsWorld| -> Vec<[f64; 3]> { handles.iter().map(|h| numbers(world.bodies[*h].center_of_mass())).collect() };
    let starts = places(&world);
    let steps = (scene.end / settings.step).round() as u64;
    let (clock, processor) = (Instant::now(), ProcessTime::now());
    for _ in 0..steps {
        world.step();
    }
    let (wall, cpu) = (clock.elapsed().as_secs_f64(), processor.elapsed().as_secs_f64());
    let ends = places(&world);
    let drift = starts.iter().zip(&ends).map(|(a, b)| distance(a, b)).fold(0.0, f64::max);
    let speed = handles.iter().map(|h| world.bodies[*h].linvel().length() as f64).fold(0.0, f64::max);
    let (overlap, mean) = overlaps(scene, &ends);
    let height = ends.iter().map(|p| p[2]).sum::<f64>() / ends.len() as f64;
    Ok(json!({
        "wall_s": wall, "cpu_s": cpu, "penetration_max_m": overlap, "penetration_mean_m": mean, "height_mean_m": height,
        "displacement_max_m": drift, "speed_max": speed,
    }))
}

fn distance(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// Largest and mean overlap of the pairs that overlap, of balls among themselves and with planes (m); zero for other shapes.
fn overlaps(scene: &Scene, places: &[[f64; 3]]) -> (f64, f64) {
    let Some(Shape::Ball(r)) = scene.bodies.first().map(|b| &b.shape) else { return (0.0, 0.0) };
    let mut depths = Vec::new();
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|&i, &j| places[i][2].total_cmp(&places[j][2]));
    for (k, &i) in order.iter().enumerate() {
        for &j in order[k + 1..].iter().take_while(|&&j| places[j][2] - places[i][2] < 2.0 * r) {
            depths.push(2.0 * r - distance(&places[i], &places[j]));
        }
        for plane in &scene.planes {
            let height: f64 = (0..3).map(|a| (places[i][a] - plane.point[a]) * plane.normal[a]).sum();
            depths.push(r - height);
        }
    }
    depths.retain(|depth| *depth > 0.0);
    let mean = depths.iter().sum::<f64>() / depths.len().max(1) as f64;
    (depths.iter().copied().fold(0.0, f64::max), mean)
}
