//! Bodies in joints that fly at walls: what meets something on its way and waits there must not be torn off what it is joined to.

use super::Fallible;
use super::shots::Dice;
use bevy_ecs::prelude::{Entity, With};
use drystone::algebra::spatial::Pose;
use drystone::geometry::Shape;
use drystone::model::interaction::{Interaction, OfBodies};
use drystone::model::law::{ContactLaws, CoulombImpact};
use drystone::model::newton_euler::{BodyPose, Inertia, Velocity};
use drystone::model::scheme::Scheme;
use drystone::simulation::{Body, Simulation, SimulationError};
use glam::{DQuat, DVec3};

/// Two bodies in a joint that are thrown at a wall, one that swings into it from a joint with the world, or a hinged door that is shot at.
struct Joined {
    sim: Simulation,
    /// Those that have a joint.
    bodies: Vec<Entity>,
    wall: Pose,
    half: DVec3,
    steps: usize,
    h: f64,
    /// Of a joint from the centre of a body (m).
    arm: f64,
    words: String,
}

fn part(dice: &mut Dice, r: f64) -> Fallible<Shape> {
    let length = r * dice.between(1.0, 3.0);
    Ok(match dice.below(4) {
        0 => Shape::ball(r)?,
        1 => Shape::cuboid(DVec3::new(r, r * dice.between(1.0, 1.5), length))?,
        2 => Shape::capsule(length, r)?,
        _ => Shape::cylinder(length, r)?,
    })
}

fn joined(dice: &mut Dice) -> Fallible<Joined> {
    let h = [1e-3, 5e-3][dice.below(2)];
    let gravity = if dice.below(3) == 0 { dice.direction() * 9.81 } else { DVec3::ZERO };
    let mut sim = Simulation::new(Scheme { time_step: h, gravity, ..Scheme::default() })?;
    sim.solver_mut().tolerance = 1e-8;
    let e_n = [0.0, 0.5, 0.9][dice.below(3)];
    sim.set_laws(ContactLaws::uniform(CoulombImpact { mu: [0.0, 0.4][dice.below(2)], e_n, ..CoulombImpact::default() }))?;
    let half = DVec3::new(0.3, 0.3, 0.5 * dice.magnitude(5e-4, 0.02));
    let wall = Pose { position: 0.1 * dice.direction(), rotation: DQuat::from_axis_angle(dice.direction(), dice.between(0.0, 3.0)) };
    let r = dice.magnitude(0.004, 0.02);
    let shapes = [part(dice, r)?, part(dice, r)?];
    let radii = [0, 1].map(|k| shapes[k].bounding_radius());
    // what a step turns the joined bodies by at most, and the strides of the rest
    let (turn, stride) = (dice.magnitude(0.05, 1.0), dice.magnitude(0.5, 20.0) * 2.0 * r);
    let place = |x: DVec3| wall.point(x);
    sim.spawn_body(Body::new(Shape::cuboid(half)?).at(wall.position).turned(wall.rotation).fixed())?;
    let target = DVec3::new(dice.between(-0.15, 0.15), dice.between(-0.15, 0.15), half.z);
    let way = (dice.direction() - 2.0 * DVec3::Z).normalize();
    let kind = dice.below(3);
    let (arm, steps, bodies);
    match kind {
        0 => {
            let apart = 0.5 * (radii[0] + radii[1]) * dice.between(1.0, 1.5);
            let aside = dice.direction();
            let back = 2.0 * (radii[0] + radii[1] + apart) + dice.between(0.0, 1.0) * stride;
            let middle = target - back / way.z.abs() * way;
            let v = wall.vector(way) * stride / h;
            // they may turn about their joint together
            let spin = wall.vector(dice.direction()) * if dice.below(2) == 0 { 0.0 } else { turn.min(0.3 * stride / radii[0]) / h };
            let mut spawn = |k: usize| -> Fallible<Entity> {
                let x = wall.vector(if k == 0 { apart } else { -apart } * aside);
                let turned = DQuat::from_axis_angle(dice.direction(), dice.between(0.0, 3.0));
                let body = Body::new(shapes[k].clone()).mass(dice.magnitude(0.2, 5.0)).at(place(middle) + x).turned(turned);
                Ok(sim.spawn_body(body.moving(v + spin.cross(x)).spinning(turned.conjugate() * spin))?)
            };
            let pair = [spawn(0)?, spawn(1)?];
            sim.spawn_joint(pair[0], Some(pair[1]), place(middle))?;
            (arm, bodies, steps) = (apart, pair.to_vec(), (back / way.z.abs() / stride) as usize + 6);
        }
        1 => {
            // comes down on the wall from an angle above it
            let length = radii[0] * dice.between(1.0, 3.0);
            let (pivot, angle) = (DVec3::new(target.x, target.y, half.z + length * dice.between(0.0, 0.9)), dice.between(0.4, 1.4));
            let x = length * DVec3::new(angle.cos(), 0.0, angle.sin());
            let spin = wall.vector(DVec3::Y) * turn / h;
            let turned = DQuat::from_axis_angle(dice.direction(), dice.between(0.0, 3.0));
            let body = Body::new(shapes[0].clone()).mass(1.0).at(place(pivot + x)).turned(turned);
            let body = sim.spawn_body(body.moving(spin.cross(wall.vector(x))).spinning(turned.conjugate() * spin))?;
            sim.spawn_joint(body, None, place(pivot))?;
            (arm, bodies, steps) = (length, vec![body], (1.5 * angle / turn) as usize + 6);
        }
        _ => {
            let door = DVec3::new(0.1, 0.1, r);
            let above = half.z + r + dice.magnitude(0.01, 0.2);
            let hinge = DVec3::new(-0.1, 0.0, above);
            let body = Body::new(Shape::cuboid(door)?).mass(dice.magnitude(0.1, 10.0)).at(place(DVec3::Z * above)).turned(wall.rotation);
            let body = sim.spawn_body(body)?;
            for side in [-0.1, 0.1] {
                sim.spawn_joint(body, None, place(hinge + side * DVec3::Y))?;
            }
            let aim = DVec3::new(dice.between(0.0, 0.08), dice.between(-0.08, 0.08), above + r);
            let back = 2.5 * radii[1] / way.z.abs() + dice.between(0.0, 1.0) * stride;
            let bullet = Body::new(shapes[1].clone()).mass(dice.magnitude(0.05, 1.0)).at(place(aim - back * way));
            sim.spawn_body(bullet.moving(wall.vector(way) * stride / h))?;
            (arm, bodies, steps) = (0.2, vec![body], (back / stride) as usize + 8);
        }
    }
    let words = format!(
        "{} of {r:.4} m, {:.2} strides, {turn:.2} rad a step, wall of {:.1e} m, h {h}, e {e_n}, g {}",
        ["a pair", "a pendulum", "a door"][kind],
        stride / (2.0 * r),
        2.0 * half.z,
        gravity.length()
    );
    Ok(Joined { sim, bodies, wall, half, steps, h, arm, words })
}

/// How a shot at joined bodies ends.
#[derive(Clone, Debug, PartialEq)]
enum End {
    Good,
    /// Steps are reported as missed, or refused with the step that would do: turned by more than the passes of a nonlinear step can follow.
    Said,
    Wrong(String),
}

fn judge(seed: u64) -> Fallible<End> {
    let Joined { mut sim, bodies, wall, half, steps, h, arm, words } = joined(&mut Dice(seed))?;
    let pose = |sim: &Simulation, e: Entity| sim.world().get::<BodyPose>(e).expect("alive").0;
    let all: Vec<Entity> = sim.world_mut().query::<(Entity, &Inertia)>().iter(sim.world()).map(|(e, _)| e).collect();
    let joints: Vec<Entity> = sim.world_mut().query_filtered::<Entity, With<OfBodies>>().iter(sim.world()).collect();
    let gravity = sim.scheme().gravity;
    let energy = |sim: &Simulation| -> f64 {
        let of = |&e: &Entity| {
            let (v, i) = (sim.world().get::<Velocity>(e).expect("alive"), sim.world().get::<Inertia>(e).expect("mobile"));
            let potential = -i.mass * gravity.dot(pose(sim, e).position);
            0.5 * (i.mass * v.linear.length_squared() + v.angular.dot(i.principal * v.angular)) + potential
        };
        all.iter().map(of).sum()
    };
    let wrong = |step: usize, what: String| Ok(End::Wrong(format!("{words}: step {step}: {what}")));
    let (first, mut fastest, mut missed) = (energy(&sim), 0f64, false);
    for step in 0..steps {
        let from: Vec<Pose> = all.iter().map(|&e| pose(&sim, e)).collect();
        let report = match sim.step() {
            Ok(report) => report,
            Err(SimulationError::TooFast { .. }) => return Ok(End::Said),
            Err(e) => return wrong(step, e.to_string()),
        };
        missed |= report.infeasible || !report.converged;
        for (&e, from) in all.iter().zip(&from) {
            let [a, b] = [from.position, pose(&sim, e).position].map(|x| wall.local_point(x));
            let crossing = a.lerp(b, a.z / (a.z - b.z));
            if a.z * b.z < 0.0 && crossing.x.abs() < half.x && crossing.y.abs() < half.y {
                return wrong(step, "through the wall".into());
            }
        }
        // what gravity gives within a step is counted apart
        let gain = (energy(&sim) - report.balance.work.scheme.max(0.0) - first) / first.abs().max(report.balance.kinetic_max);
        if gain > 1e-3 {
            return wrong(step, format!("gains {gain:.2e} of its energy"));
        }
        let turned = |e: &Entity| h * sim.world().get::<Velocity>(*e).expect("alive").angular.length();
        fastest = bodies.iter().map(turned).fold(fastest, f64::max);
        for &joint in &joints {
            let gap = &sim.world().get::<Interaction>(joint).expect("alive").y;
            let open = gap.iter().map(|g| g * g).sum::<f64>().sqrt();
            // the joint holds in the middle of the step, to third order at its end
            let held = open <= 3.0 * arm * (0.01 + fastest.powi(3) / 24.0);
            if !held && !missed {
                return wrong(step, format!("a joint opens by {:.2} of its arm", open / arm));
            }
        }
    }
    Ok(if missed { End::Said } else { End::Good })
}

fn fire(seeds: impl Iterator<Item = u64>) -> Fallible<[usize; 2]> {
    let (mut wrong, mut said) = (0, 0);
    for seed in seeds {
        match judge(seed)? {
            End::Good => {}
            End::Said => {
                println!("{seed} is reported");
                said += 1;
            }
            End::Wrong(how) => {
                println!("{seed} {how}");
                wrong += 1;
            }
        }
    }
    Ok([wrong, said])
}

#[test]
fn what_waits_on_its_way_is_not_torn_off_its_joint() -> Fallible {
    // after the first, those that have been torn: their ball did not turn on its way, or waited alone
    let [wrong, said] = fire((0..300).chain([452, 512, 716, 760, 1069, 1120, 1460, 1490]))?;
    assert!(wrong == 0 && said <= 2, "{wrong} of 308 wrong, {said} reported");
    Ok(())
}

/// In turn: passes that ran away, joints that did work in an impact, an impact that was given back twice, bodies that turn far.
#[test]
fn fast_shots_at_joined_bodies_are_solved_and_gain_nothing() -> Fallible {
    let [wrong, said] = fire([1285, 1529, 1346, 1873, 2344, 3347, 5377, 5398, 96, 845, 1891].into_iter())?;
    assert_eq!([wrong, said], [0, 0]);
    Ok(())
}

#[test]
#[ignore = "two minutes: cargo test --release --test bullets -- --ignored thousands_of_shots"]
fn thousands_of_shots_at_joined_bodies() -> Fallible {
    let [wrong, said] = fire(0..12_000)?;
    assert!(wrong == 0 && said <= 60, "{wrong} of 12000 wrong, {said} reported");
    Ok(())
}

#[test]
fn a_step_in_parts_ends_on_the_clock_and_goes_on_from_a_saved_state() -> Fallible {
    let built = || joined(&mut Dice(1873));
    let Joined { mut sim, steps, h, .. } = built()?;
    let entities = |sim: &mut Simulation| -> Vec<Entity> {
        let mut found: Vec<Entity> = sim.world_mut().query_filtered::<Entity, With<BodyPose>>().iter(sim.world()).collect();
        found.sort_by_key(|e| e.index_u32());
        found
    };
    let mut most = 1;
    for step in 1..=steps {
        let bodies = entities(&mut sim);
        let saved = sim.save(&bodies);
        let report = sim.step()?;
        most = most.max(report.parts);
        assert_eq!((sim.steps(), sim.time_step(), report.step), (step as u64, h, step as u64));
        assert_eq!((sim.time(), report.time), (step as f64 * h, step as f64 * h));
        assert!(report.balance.error() < 1e-12);
        let mut resumed = built()?.sim;
        let bodies = entities(&mut resumed);
        resumed.restore(&saved, &bodies)?;
        let again = resumed.step()?;
        assert_eq!((resumed.state_hash(), again.parts), (sim.state_hash(), report.parts), "step {step}");
    }
    assert!(most >= 2, "no step was solved in parts");
    Ok(())
}
