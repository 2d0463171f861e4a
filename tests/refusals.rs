//! What a program may get wrong with bodies is an error that names it, when it is said or at the next step, and never a panic or a silent miss.

use drystone::model::periodic::{Cell, Shear};
use drystone::prelude::*;
use std::error::Error;
use std::sync::Arc;

type Fallible<T = ()> = Result<T, Box<dyn Error>>;

fn said<T>(result: Result<T, impl std::fmt::Display>) -> String {
    result.err().map_or_else(String::new, |error| error.to_string())
}

/// A floor and a box on it.
fn floor() -> Fallible<(Simulation, Entity)> {
    let mut sim = Simulation::default();
    sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
    let cube = sim.spawn_body(Body::new(Shape::cuboid(DVec3::splat(0.1))?).at(DVec3::Z * 0.1).named("cube"))?;
    Ok((sim, cube))
}

#[test]
fn a_body_appears_on_an_entity_of_its_own_or_not_at_all() -> Fallible {
    let (mut sim, cube) = floor()?;
    let late = || Box::new(Body::point(1.0, DVec3::ONE));
    let nobody = Entity::from_raw_u32(9999).ok_or("an index")?;
    assert!(said(sim.at(0.002, Event::Appear(nobody, late()))).contains("does not exist"));
    assert!(said(sim.at(0.002, Event::Appear(cube, late()))).contains("is a body already"));
    let system = sim.spawn_system(Lagrangian::new([1.0]).at([0.0]), Integrator::MOREAU_JEAN)?;
    assert!(said(sim.at(0.002, Event::Appear(system, late()))).contains("is a system already"));
    // one that dies before its time does not come
    let never = sim.reserve();
    sim.at(0.002, Event::Appear(never, late()))?;
    sim.world_mut().despawn(never);
    sim.run_until(0.005)?;
    // two bodies on one entity are one too many, and leave no slot behind
    let twice = sim.reserve();
    sim.at(0.006, Event::Appear(twice, late()))?;
    sim.at(0.008, Event::Appear(twice, late()))?;
    assert!(said(sim.run_until(0.01)).contains("one for each body"));
    sim.run_until(0.01)?;
    assert_eq!(sim.world_mut().query::<&Slot>().iter(sim.world()).count(), 3);
    assert!(format!("{sim:?}").contains("3 bodies"));
    Ok(())
}

#[test]
fn parts_of_a_compound_that_was_written_down_have_places() -> Fallible {
    let ball = Shape::ball(0.1)?;
    let part = |position, rotation| Shape::Compound(Arc::new(vec![(Pose { position, rotation }, ball.clone())]));
    let wrong = [
        (part(DVec3::NAN, DQuat::IDENTITY), "pose of part"),
        (part(DVec3::ZERO, DQuat::from_xyzw(0.0, 0.0, 0.0, 2.0)), "has length 2"),
        (part(DVec3::ZERO, DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0)), "has length 0"),
        (Shape::Compound(Arc::new(vec![(Pose::IDENTITY, Shape::half_space(DVec3::Z)?)])), "half-space"),
    ];
    for (shape, reason) in wrong {
        let (mut sim, _) = floor()?;
        let made = said(sim.spawn_body(Body::new(shape.clone()).at(DVec3::Z)));
        assert!(made.contains(reason), "{made:?} lacks {reason:?}");
        let inertia = Inertia { mass: 1.0, principal: DVec3::ONE };
        sim.world_mut().spawn((BodyPose(Pose::at(DVec3::Z)), inertia, Collider::new(shape)));
        let stepped = said(sim.step());
        assert!(stepped.contains(reason) || stepped.contains("static or driven"), "{stepped:?} lacks {reason:?}");
    }
    Ok(())
}

/// What is solid behind a surface meets convex bodies alone, and not every way: such a body fell through every floor without a word.
#[test]
fn surfaces_do_not_move_by_forces_and_convex_parts_of_them_do() -> Fallible {
    let corners: Vec<DVec3> = (0..8).map(|k| DVec3::new((k & 1) as f64, (k >> 1 & 1) as f64, (k >> 2) as f64) * 0.4 - 0.2).collect();
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles: Vec<[u32; 3]> = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    let mesh = Shape::mesh(&corners, &triangles)?;
    let field = Shape::height_field(&[0.0; 4], 2, 1.0, 1.0)?;
    for shape in [mesh.clone(), Shape::compound(vec![(Pose::at(DVec3::X), mesh.clone())])?, Shape::compound(vec![(Pose::IDENTITY, field)])?]
    {
        let (mut sim, _) = floor()?;
        let body = Body { inertia: Some(DVec3::ONE), ..Body::new(shape.clone()).mass(1.0).at(DVec3::Z) };
        assert!(said(sim.spawn_body(body)).contains("can only be static or driven"));
        let inertia = Inertia { mass: 1.0, principal: DVec3::ONE };
        sim.world_mut().spawn((BodyPose(Pose::at(DVec3::Z)), inertia, Collider::new(shape)));
        assert!(said(sim.step()).contains("can only be static or driven"));
    }
    let (mut sim, _) = floor()?;
    let error = said(sim.spawn_body(Body::new(mesh.clone()).at(DVec3::Z)));
    assert!(error.contains("Shape::decompose"), "{error}");
    let parts = mesh.decompose(&drystone::geometry::DecompositionSettings::default())?;
    let block = sim.spawn_body(Body::new(parts).at(DVec3::new(1.0, 0.0, 0.25)))?;
    sim.run_until(0.5)?;
    let height = sim.world().get::<BodyPose>(block).map(|pose| pose.0.position.z);
    assert!(height.is_some_and(|z| (z - 0.2).abs() < 1e-6), "it lies on the floor: {height:?}");
    Ok(())
}

#[test]
fn a_centre_of_mass_is_somewhere() -> Fallible {
    let (mut sim, _) = floor()?;
    let body = Body { centre: Some(DVec3::NAN), ..Body::new(Shape::ball(0.1)?) };
    assert!(said(sim.spawn_body(body)).contains("centre of mass"));
    Ok(())
}

#[test]
fn a_cell_that_was_written_down_is_checked_with_the_scheme() -> Fallible {
    let cell = Cell::new([Some([0.0, 2.0]), Some([0.0, 2.0]), None])?;
    let mut wrong = [cell; 3];
    wrong[0].size.x = -2.0;
    wrong[1].high.y = f64::NAN;
    wrong[2].shear = Some(Shear { across: 7, along: 0, rate: 1.0 });
    for cell in wrong {
        let scheme = Scheme { cell, ..Scheme::default() };
        assert!(!said(Simulation::new(scheme)).is_empty(), "{cell:?}");
        let (mut sim, _) = floor()?;
        sim.world_mut().insert_resource(scheme);
        assert!(!said(sim.step()).is_empty(), "{cell:?}");
    }
    Ok(())
}

#[test]
fn the_impulses_of_a_joint_are_as_many_as_its_rows() -> Fallible {
    let (mut sim, cube) = floor()?;
    let joint = sim.add_joint(cube, None, &JointSpec::new(JointKind::Prismatic))?[0];
    sim.step()?;
    let before = sim.state_hash();
    for wrong in [vec![], vec![0.0; 6]] {
        let mut part = sim.world_mut().get_mut::<Interaction>(joint).ok_or("alive")?;
        let right = std::mem::replace(&mut part.lambda, wrong);
        let error = said(sim.step());
        assert!(error.contains("but 5 are needed") && sim.state_hash() == before, "{error}");
        sim.world_mut().get_mut::<Interaction>(joint).ok_or("alive")?.lambda = right;
    }
    sim.step()?;
    Ok(())
}

/// Time went backwards where the length of the step was written into the world: all steps so far counted as long as the new ones.
#[test]
fn time_goes_on_from_where_it_is_when_the_step_is_written_by_hand() -> Fallible {
    let (mut bodies, _) = floor()?;
    let mut systems = Simulation::default();
    systems.spawn_system(Lagrangian::new([1.0]).at([1.0]), Integrator::MOREAU_JEAN)?;
    for sim in [&mut bodies, &mut systems] {
        sim.run_until(0.1)?;
        for h in [5e-4, 2e-3] {
            sim.world_mut().resource_mut::<Scheme>().time_step = h;
            let start = sim.time();
            sim.advance(10)?;
            assert!((sim.time() - start - 10.0 * h).abs() < 1e-12, "{} s after {start} s in ten steps of {h} s", sim.time());
        }
        sim.every(0.004, |_, _| {})?;
        sim.world_mut().resource_mut::<Scheme>().time_step = 1e-3;
        let error = said(sim.advance(1));
        assert!(error.contains("set_scheme") && error.contains("0.004 s"), "{error}");
    }
    Ok(())
}

#[test]
fn an_event_takes_place_in_the_first_step_that_does_not_begin_before_it() -> Fallible {
    for (time, after) in [(0.0105, 12), (0.011, 12), (0.0, 1)] {
        let mut sim = Simulation::new(Scheme { gravity: DVec3::ZERO, ..Scheme::default() })?;
        let body = sim.spawn_body(Body::point(1.0, DVec3::ONE))?;
        sim.at(time, Event::Blow(body, AppliedForce { force: DVec3::X, torque: DVec3::ZERO }))?;
        while sim.world().get::<Velocity>(body).is_some_and(|v| v.linear.x == 0.0) {
            sim.step()?;
        }
        assert_eq!(sim.steps(), after, "{time} s");
    }
    Ok(())
}

#[test]
fn a_state_of_systems_with_other_parameters_is_refused() -> Fallible {
    let build = |z: &[f64]| -> Fallible<Simulation> {
        let mut sim = Simulation::default();
        let z = z.to_vec();
        let force = Operator::function(|at, out| out[0] = at.z.iter().sum());
        sim.spawn_system(Lagrangian::new([1.0]).at([0.0]).with_parameters(z).with_force(force), Integrator::MOREAU_JEAN)?;
        Ok(sim)
    };
    let saved = build(&[1.0])?.save(&[]);
    build(&[2.0])?.restore(&saved, &[])?;
    assert!(said(build(&[1.0, 2.0])?.restore(&saved, &[])).contains("parameters of a system"));
    // and those of an interaction
    let build = |z: &[f64]| -> Fallible<Simulation> {
        let mut sim = Simulation::default();
        let mass = sim.spawn_system(Lagrangian::new([1.0]).at([1.0]), Integrator::MOREAU_JEAN)?;
        let floor = LagrangianNonlinear::new(1, Operator::function(|at, y| y[0] = at.q[0] - at.z.iter().sum::<f64>()));
        sim.spawn_interaction(Interaction::new([mass], floor, Law::NewtonImpact { e: 0.5 }).with_parameters(z.to_vec()))?;
        Ok(sim)
    };
    let saved = build(&[1.0])?.save(&[]);
    build(&[2.0])?.restore(&saved, &[])?;
    assert!(said(build(&[1.0, 2.0])?.restore(&saved, &[])).contains("parameters of an interaction"));
    Ok(())
}
