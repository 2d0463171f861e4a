//! Nothing depends on the order of spawning or on the number of threads.

use super::scene::{Fallible, noise, noise3};
use drystone::geometry::{Shape, systems::Proximity};
use drystone::model::contact::{ContactPair, Manifold};
use drystone::model::law::{ContactLaws, CoulombImpact};
use drystone::model::newton_euler::{BodyName, BodyPose, Velocity};
use drystone::model::scheme::Scheme;
use drystone::simulation::{Body, Simulation};
use drystone::topology::bodies::Slot;
use glam::{DQuat, DVec3};

/// A heap of every convex shape, overlapping and just apart, on a floor.
fn heap() -> Fallible<Vec<Body>> {
    let tetrahedron = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].map(|x| 0.3 * (x - 0.25));
    let mut bodies = vec![Body::new(Shape::half_space(DVec3::Z)?).fixed().named("floor")];
    for k in 0..60 {
        let shape = match k % 5 {
            0 => Shape::ball(0.14)?,
            1 => Shape::cuboid(DVec3::new(0.15, 0.12, 0.1))?,
            2 => Shape::capsule(0.1, 0.08)?,
            3 => Shape::cylinder(0.12, 0.1)?,
            _ => Shape::hull(&tetrahedron)?,
        };
        let place = 0.5 * noise3(k) + DVec3::Z * 0.55;
        let turn = DQuat::from_scaled_axis(3.0 * noise3(k + 100));
        bodies.push(Body::new(shape).at(place).turned(turn).named(format!("{k:02}")));
    }
    // faces on faces
    for k in 0..4 {
        let stone = Body::new(Shape::cuboid(DVec3::new(0.2, 0.15, 0.1))?);
        bodies.push(
            stone
                .at(DVec3::new(3.0, 0.05 * noise(k), 0.1 + 0.2 * k as f64))
                .turned(DQuat::from_rotation_z(0.4 * noise(k + 3)))
                .named(format!("s{k}")),
        );
    }
    Ok(bodies)
}

/// Names of the pair in order, gap, normal to the first of them, middle.
type Point = (String, String, f64, DVec3, DVec3);

fn contact_set(bodies: Vec<Body>) -> Fallible<Vec<Point>> {
    let mut sim = Simulation::default();
    for body in bodies {
        sim.spawn_body(body)?;
    }
    sim.detect();
    let world = sim.world();
    let mut found = Vec::new();
    for &(_, _, pair) in world.resource::<Proximity>().pairs() {
        let (pair, manifold) = (world.get::<ContactPair>(pair).ok_or("gone")?, world.get::<Manifold>(pair).ok_or("gone")?);
        let [a, b] = pair.bodies.map(|e| world.get::<BodyName>(e).map(|n| n.0.clone()).unwrap_or_default());
        for t in &manifold.points {
            let middle = 0.5 * (t.point1 + t.point2);
            found.push(if a < b {
                (a.clone(), b.clone(), t.gap, t.normal, middle)
            } else {
                (b.clone(), a.clone(), t.gap, -t.normal, middle)
            });
        }
    }
    let key = |x: DVec3| x.dot(DVec3::new(1.0, 0.37, 0.11));
    found.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)).then(key(a.4).total_cmp(&key(b.4))));
    Ok(found)
}

#[test]
fn the_contact_set_does_not_depend_on_the_order_of_spawning() -> Fallible {
    let forwards = contact_set(heap()?)?;
    let mut reversed = heap()?;
    reversed.reverse();
    let mut shuffled = heap()?;
    (0..shuffled.len()).for_each(|i| shuffled.swap(i, (i * 37 + 11) % 65));
    assert!(forwards.len() > 100, "{}", forwards.len());
    for other in [contact_set(reversed)?, contact_set(shuffled)?] {
        let pairs = |set: &[Point]| set.iter().map(|p| (p.0.clone(), p.1.clone())).collect::<Vec<_>>();
        assert_eq!(pairs(&forwards), pairs(&other));
        for (a, b) in forwards.iter().zip(&other) {
            let apart = (a.2 - b.2).abs().max((a.3 - b.3).length()).max((a.4 - b.4).length());
            assert!(apart < 1e-12, "{a:?}\n{b:?}");
        }
    }
    Ok(())
}

/// Bits of all poses and velocities after 60 steps of a thousand balls that fall into a corner.
fn thousand_balls(threads: usize) -> Fallible<Vec<u64>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    pool.install(|| -> Result<Vec<u64>, String> {
        let mut sim = Simulation::new(Scheme { time_step: 2e-3, ..Scheme::default() }).map_err(|e| e.to_string())?;
        sim.set_laws(ContactLaws::uniform(CoulombImpact { mu: 0.3, ..CoulombImpact::default() })).map_err(|e| e.to_string())?;
        sim.solver_mut().tolerance = 1e-4;
        for normal in [DVec3::Z, DVec3::X, DVec3::Y] {
            let wall = Shape::half_space(normal).map_err(|e| e.to_string())?;
            sim.spawn_body(Body::new(wall).fixed()).map_err(|e| e.to_string())?;
        }
        for k in 0..1000 {
            let cell = DVec3::new((k % 10) as f64, (k / 10 % 10) as f64, (k / 100) as f64);
            let ball = Shape::ball(0.05 * (1.0 + 0.05 * noise(k))).map_err(|e| e.to_string())?;
            let place = 0.06 + 0.106 * cell + 0.002 * noise3(k);
            sim.spawn_body(Body::new(ball).at(place).moving(DVec3::new(-0.3, -0.2, -1.0))).map_err(|e| e.to_string())?;
        }
        let mut contacts = 0;
        for _ in 0..60 {
            contacts = sim.step().map_err(|e| e.to_string())?.contacts;
        }
        assert!(contacts > 1500, "{contacts}");
        let mut states: Vec<_> =
            sim.world_mut().query::<(&Slot, &BodyPose, &Velocity)>().iter(sim.world()).map(|(s, p, v)| (*s, *p, *v)).collect();
        states.sort_by_key(|s| s.0);
        let numbers = |(_, p, v): &(Slot, BodyPose, Velocity)| {
            let (x, q) = (p.0.position.to_array(), p.0.rotation.to_array());
            [&x[..], &q, &v.linear.to_array(), &v.angular.to_array()].concat()
        };
        Ok(states.iter().flat_map(numbers).map(f64::to_bits).collect())
    })
    .map_err(Into::into)
}

#[test]
fn one_two_and_eight_threads_give_the_same_bits() -> Fallible {
    let one = thousand_balls(1)?;
    assert_eq!(one.len(), 1003 * 13);
    assert!(one == thousand_balls(2)?, "two threads differ");
    assert!(one == thousand_balls(8)?, "eight threads differ");
    Ok(())
}
