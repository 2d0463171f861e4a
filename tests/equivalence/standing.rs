//! Bodies that stand keep their contact points, and nothing else shows it.

use super::scene::Fallible;
use bevy_ecs::prelude::Entity;
use drystone::geometry::Shape;
use drystone::geometry::systems::{Collider, Proximity};
use drystone::model::contact::Manifold;
use drystone::model::law::{ContactLaws, CoulombImpact};
use drystone::model::newton_euler::{BodyPose, Velocity};
use drystone::simulation::{Body, Simulation};
use glam::{DQuat, DVec3};

/// Ten blocks on each other on a floor that leans by a degree, each turned by a little.
fn tower() -> Fallible<(Simulation, Vec<Entity>)> {
    let mut sim = Simulation::with_time_step(2e-3)?;
    sim.set_laws(ContactLaws::uniform(CoulombImpact { mu: 0.6, ..CoulombImpact::default() }))?;
    let lean = DQuat::from_rotation_y(1.0f64.to_radians());
    sim.spawn_body(Body::new(Shape::cuboid(DVec3::new(0.5, 0.5, 0.05))?).at(lean * DVec3::Z * -0.05).turned(lean).fixed())?;
    let mut blocks = Vec::new();
    for k in 0..10 {
        let turned = lean * DQuat::from_rotation_z(0.02 * f64::from(k));
        let block = Body::new(Shape::cuboid(DVec3::new(0.1, 0.1, 0.05))?).at(lean * DVec3::Z * (0.05 + 0.1 * f64::from(k)));
        blocks.push(sim.spawn_body(block.turned(turned))?);
    }
    Ok((sim, blocks))
}

fn looked(sim: &Simulation) -> usize {
    sim.world().resource::<Proximity>().looked
}

fn manifold(sim: &Simulation, pair: usize) -> (Entity, Manifold) {
    let entity = sim.world().resource::<Proximity>().pairs()[pair].2;
    (entity, sim.world().get::<Manifold>(entity).expect("a pair").clone())
}

#[test]
fn a_tower_at_rest_is_looked_at_no_more_until_something_moves() -> Fallible {
    let (mut sim, blocks) = tower()?;
    sim.step()?;
    assert_eq!(looked(&sim), sim.world().resource::<Proximity>().pair_count());
    sim.run_until(0.2)?;
    assert_eq!(looked(&sim), 0, "a pair of two blocks at rest was sought again");
    // a block that is put elsewhere shows its new gap, to which its neighbours are seen as they are
    let (_, before) = manifold(&sim, 9);
    let mut pose = *sim.world().get::<BodyPose>(blocks[9]).ok_or("alive")?;
    pose.0.position.z += 1e-7;
    sim.world_mut().entity_mut(blocks[9]).insert(pose);
    sim.detect();
    let (_, after) = manifold(&sim, 9);
    let opened = after.points[0].gap - before.points[0].gap;
    assert!(looked(&sim) == 1 && (opened - 1e-7 * 1.0f64.to_radians().cos()).abs() < 1e-12, "{} {opened}", looked(&sim));
    // one that is pushed, and the pairs that its neighbours have with it, but no others
    sim.run_until(0.4)?;
    sim.world_mut().entity_mut(blocks[9]).insert(Velocity { linear: DVec3::X * 0.1, angular: DVec3::ZERO });
    sim.step()?;
    assert_eq!(looked(&sim), 1);
    // another shape
    sim.run_until(1.0)?;
    assert_eq!(looked(&sim), 0);
    sim.world_mut().entity_mut(blocks[9]).insert(Collider::new(Shape::cuboid(DVec3::new(0.05, 0.05, 0.05))?));
    sim.detect();
    assert_eq!(looked(&sim), 1);
    Ok(())
}

#[test]
fn what_somebody_writes_into_the_points_of_a_pair_does_not_stay() -> Fallible {
    let (mut sim, _) = tower()?;
    sim.run_until(0.2)?;
    let (entity, before) = manifold(&sim, 4);
    sim.world_mut().get_mut::<Manifold>(entity).ok_or("a pair")?.points[0].normal = DVec3::X;
    sim.detect();
    let (_, after) = manifold(&sim, 4);
    assert_eq!(looked(&sim), 1);
    assert_eq!(after.points[0].normal, before.points[0].normal);
    Ok(())
}

#[test]
fn a_block_that_creeps_is_seen_where_it_is() -> Fallible {
    // the top block rises by ten times what it may go unseen, by a tenth of that at a time
    let (mut sim, blocks) = tower()?;
    sim.run_until(0.2)?;
    let start = sim.world().get::<BodyPose>(blocks[9]).ok_or("alive")?.0.position;
    let before = manifold(&sim, 9).1.points[0].gap;
    let mut looks = 0;
    for k in 1..=100 {
        let mut pose = *sim.world().get::<BodyPose>(blocks[9]).ok_or("alive")?;
        pose.0.position = start + DVec3::Z * 1e-11 * f64::from(k);
        sim.world_mut().entity_mut(blocks[9]).insert((pose, Velocity::default()));
        sim.detect();
        looks += looked(&sim);
        let missed = manifold(&sim, 9).1.points[0].gap - before - 1e-11 * f64::from(k);
        assert!(missed.abs() < 1.2e-10, "{missed}");
    }
    assert!((9..=12).contains(&looks), "{looks}");
    Ok(())
}

#[test]
fn a_tower_at_rest_goes_on_with_the_same_bits_after_a_pause() -> Fallible {
    for pause in [0.002, 0.05, 0.2] {
        let (mut first, blocks) = tower()?;
        first.run_until(pause)?;
        let saved = first.save(&blocks);
        first.run_until(pause + 0.3)?;
        let (mut second, blocks) = tower()?;
        second.restore(&saved, &blocks)?;
        second.run_until(pause + 0.3)?;
        assert_eq!(second.state_hash(), first.state_hash(), "{pause}");
    }
    Ok(())
}
