//! More contacts than equations: what is unique must come out the same from any first guess.

use super::common::{Fallible, G, GAP_AWARE, friction, position, resultant, scene, space, velocity};
use bevy_ecs::prelude::Entity;
use drystone::assembly::problem::StepProblem;
use drystone::geometry::Shape;
use drystone::model::law::ContactLaws;
use drystone::numerics::mixed::{Answer, Contact, MixedProblem};
use drystone::numerics::{auto::Auto, residual};
use drystone::simulation::{Body, Simulation};
use glam::DVec3;

const HALF: DVec3 = DVec3::new(0.5, 0.4, 0.25);
const DENSITY: f64 = 2000.0;

/// The floor and `n` boxes on each other.
fn stack(n: usize, tolerance: f64) -> Fallible<(Simulation, Vec<Entity>)> {
    let mut sim = scene(2e-3, GAP_AWARE, friction(0.5), tolerance)?;
    let floor = sim.world_mut().query::<(Entity, &drystone::model::newton_euler::Motion)>().iter(sim.world()).map(|(e, _)| e).next();
    let mut bodies = vec![floor.ok_or("no floor")?];
    for i in 0..n {
        let stone = Body::new(Shape::cuboid(HALF)?).density(DENSITY).at(DVec3::Z * (2.0 * i as f64 + 1.0) * HALF.z);
        bodies.push(sim.spawn_body(stone)?);
    }
    Ok((sim, bodies))
}

#[test]
fn every_joint_of_a_stack_carries_what_stands_above_it() -> Fallible {
    for n in [1, 10] {
        let (mut sim, bodies) = stack(n, 1e-11)?;
        for _ in 0..50 {
            let report = sim.step()?;
            assert!(report.converged, "{:?}", report.report);
        }
        let weight = DENSITY * 8.0 * HALF.x * HALF.y * HALF.z * G;
        for joint in 0..n {
            let (below, above) = (bodies[joint], bodies[joint + 1]);
            let centre = position(&sim, above);
            let [force, moment] = resultant(&sim, above, below, centre).map(|x| x / sim.time_step());
            let exact = weight * (n - joint) as f64;
            assert!((force - exact * DVec3::Z).length() < 1e-8 * exact, "joint {joint} carries {force}, not {exact}");
            assert!(moment.length() < 1e-8 * exact * HALF.x, "joint {joint}: moment {moment}");
            assert!(velocity(&sim, above).linear.length() < 1e-10, "{:?}", velocity(&sim, above));
        }
    }
    Ok(())
}

/// Numbers in (−1, 1), the same in every run.
fn noise(k: usize) -> f64 {
    2.0 * ((k as f64 + 1.0) * 0.618_033_988_749_894_9).fract() - 1.0
}

/// Solutions of the last step of `sim` from its own, zero and arbitrary reactions.
fn from_three_starts(sim: &Simulation, tolerance: f64) -> (MixedProblem, Vec<Answer>) {
    let step = sim.world().resource::<StepProblem>();
    let p = step.problem.clone();
    let zero = Answer::for_problem(&p);
    let size = step.answer.reactions.contacts.iter().map(|r| r.length()).fold(0.0, f64::max);
    let mut random = zero.clone();
    for (k, r) in random.reactions.contacts.iter_mut().enumerate() {
        *r = size * DVec3::new(noise(3 * k).abs(), 0.3 * noise(3 * k + 1), 0.3 * noise(3 * k + 2));
    }
    let mut answers = vec![step.answer.clone(), zero, random];
    for answer in &mut answers {
        let report = Auto { tolerance, ..Auto::default() }.solve(&p, answer);
        assert!(report.converged(), "{report:?}");
        assert!(residual::certify(&p, answer).e_s <= tolerance);
    }
    (p, answers)
}

/// Resultant on body 1 of the contacts that `select` takes.
fn sum(p: &MixedProblem, answer: &Answer, select: impl Fn(&Contact) -> bool) -> DVec3 {
    p.contacts.iter().zip(&answer.reactions.contacts).filter(|(c, _)| select(c)).map(|(c, r)| c.to_world(*r)).sum()
}

fn same_velocities(answers: &[Answer], scale: f64) {
    for pair in answers.windows(2) {
        for (a, b) in pair[0].velocities.rigid.iter().zip(&pair[1].velocities.rigid) {
            let apart = (a.linear - b.linear).length().max((a.angular - b.angular).length());
            assert!(apart < 1e-7 * scale, "{apart:e}");
        }
    }
}

#[test]
fn the_resultants_of_a_stack_do_not_depend_on_the_first_guess() -> Fallible {
    for n in [1, 10] {
        let (mut sim, _) = stack(n, 1e-11)?;
        for _ in 0..3 {
            sim.step()?;
        }
        let (p, answers) = from_three_starts(&sim, 1e-11);
        same_velocities(&answers, G * sim.time_step());
        for group in p.groups.windows(2) {
            let joint = &p.contacts[group[0] as usize];
            let own = |c: &Contact| (c.body1, c.body2) == (joint.body1, joint.body2);
            let forces: Vec<DVec3> = answers.iter().map(|a| sum(&p, a, own)).collect();
            for pair in forces.windows(2) {
                assert!((pair[0] - pair[1]).length() < 1e-7 * forces[0].length(), "{forces:?}");
            }
        }
    }
    Ok(())
}

/// Four walls of half-spaces about a box that stands on a floor; walls have material 1.
fn wedged(mu_wall: f64) -> Fallible<Simulation> {
    let mut sim = space(2e-3, GAP_AWARE, G, 1e-11)?;
    let mut laws = ContactLaws::uniform(friction(0.5));
    laws.set(0, 1, friction(mu_wall));
    sim.set_laws(laws)?;
    sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
    for side in [DVec3::X, -DVec3::X] {
        sim.spawn_body(Body::new(Shape::half_space(side)?).fixed().at(-side * HALF.x).material(1))?;
    }
    sim.spawn_body(Body::new(Shape::cuboid(HALF)?).density(DENSITY).at(DVec3::Z * HALF.z))?;
    Ok(sim)
}

#[test]
fn a_wedged_box_rests_and_only_the_sum_of_its_reactions_is_unique() -> Fallible {
    let impulse = DENSITY * 8.0 * HALF.x * HALF.y * HALF.z * G * 2e-3;
    for mu_wall in [0.5, 0.0] {
        let mut sim = wedged(mu_wall)?;
        for _ in 0..3 {
            let report = sim.step()?;
            assert!(report.converged && report.contacts == 12, "{report:?}");
        }
        let (p, answers) = from_three_starts(&sim, 1e-11);
        same_velocities(&answers, G * sim.time_step());
        for answer in &answers {
            // the box has the highest slot: it is body 2 of every contact
            let all = sum(&p, answer, |_| true) + impulse * DVec3::Z;
            assert!(all.length() < 1e-8 * impulse, "{all}");
            let moment: DVec3 = p.contacts.iter().zip(&answer.reactions.contacts).map(|(c, r)| c.arm2.cross(c.to_world(*r))).sum();
            assert!(moment.length() < 1e-8 * impulse, "{moment}");
            let power: f64 = p
                .contacts
                .iter()
                .zip(&answer.reactions.contacts)
                .map(|(c, r)| r.dot(p.contact_velocity(c, &answer.velocities.rigid)))
                .sum();
            assert!(power.abs() < 1e-8 * impulse * G * 2e-3, "{power}");
            let floor = sum(&p, answer, |c| c.normal.z.abs() > 0.5);
            if mu_wall == 0.0 {
                assert!((floor.z + impulse).abs() < 1e-8 * impulse, "{floor}");
            }
        }
    }
    Ok(())
}
