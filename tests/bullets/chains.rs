//! A bullet hits a light ball at rest, which is thrown at what stands behind it, all within a step.

use super::Fallible;
use super::shots::Dice;
use bevy_ecs::prelude::Entity;
use drystone::geometry::Shape;
use drystone::model::law::{ContactLaws, CoulombImpact};
use drystone::model::newton_euler::{BodyPose, Inertia, Velocity};
use drystone::model::scheme::Scheme;
use drystone::simulation::{Body, Simulation};
use glam::DVec3;

/// What stands behind the light ball.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Last {
    Wall,
    Ball,
    FixedBall,
}

struct Chain {
    sim: Simulation,
    bodies: [Entity; 3],
    radii: [f64; 2],
    /// Half the length of the last body along the line (m).
    last: f64,
    /// Smallest length of all (m).
    size: f64,
    words: String,
}

fn chain(dice: &mut Dice) -> Fallible<Chain> {
    let h = [1e-3, 2e-4][dice.below(2)];
    let radii = [0, 1].map(|_| dice.magnitude(0.002, 0.02));
    let stride = dice.magnitude(0.6, 40.0);
    let v = stride * 2.0 * radii[0] / h;
    let kind = [Last::Wall, Last::Ball, Last::FixedBall][dice.below(3)];
    let last = if kind == Last::Wall { dice.magnitude(2e-4, 0.02) } else { dice.magnitude(0.002, 0.02) };
    let masses = [1.0, dice.magnitude(0.01, 1.0), dice.magnitude(0.01, 100.0)];
    let e = [0.0, 0.5, 0.9][dice.below(3)];
    let line = dice.direction();
    let aside = if kind == Last::Wall { 0.3 * radii[1] * line.any_orthonormal_vector() * dice.between(0.0, 1.0) } else { DVec3::ZERO };
    let middle = dice.direction() * 0.1;
    let mut sim = Simulation::new(Scheme { time_step: h, gravity: DVec3::ZERO, ..Scheme::default() })?;
    sim.solver_mut().tolerance = 1e-8;
    sim.set_laws(ContactLaws::uniform(CoulombImpact { e_n: e, ..CoulombImpact::default() }))?;
    let before = radii[0] + radii[1] + dice.between(0.01, 1.2) * v * h;
    let behind = radii[1] + last + dice.magnitude(1e-4, 1.0) * 10.0 * radii[1];
    let bullet = Body::new(Shape::ball(radii[0])?).mass(masses[0]).at(middle - before * line + aside).moving(v * line);
    let shape = if kind == Last::Wall { Shape::cuboid(DVec3::new(0.5, 0.5, last))? } else { Shape::ball(last)? };
    let end = Body::new(shape).at(middle + behind * line).turned(glam::DQuat::from_rotation_arc(DVec3::Z, line));
    let end = if kind == Last::Ball { end.mass(masses[2]) } else { end.fixed() };
    // in any order of slots
    let middle = Body::new(Shape::ball(radii[1])?).mass(masses[1]).at(middle);
    let mut bodies = [None; 3];
    let (first, order) = (dice.below(3), [(0, bullet), (1, middle), (2, end)]);
    for k in 0..3 {
        let (name, body) = order[(k + first) % 3].clone();
        bodies[name] = Some(sim.spawn_body(body)?);
    }
    let words =
        format!("{kind:?} of {last:.4} m {behind:.3} m behind, radii {radii:.4?}, {stride:.2} a step, masses {masses:.2?}, e {e}, h {h}");
    let bodies = bodies.map(|b| b.expect("spawned"));
    Ok(Chain { sim, bodies, radii, last, size: 2.0 * radii[0].min(radii[1]).min(last), words })
}

/// Fires a chain and says what is wrong with it.
fn judge(seed: u64) -> Fallible<Option<String>> {
    let mut chain = chain(&mut Dice(seed))?;
    let place = |sim: &Simulation, k: usize| sim.world().get::<BodyPose>(chain.bodies[k]).expect("alive").0.position;
    let line = (place(&chain.sim, 2) - place(&chain.sim, 1)).normalize();
    let totals = |sim: &Simulation| {
        let each = chain.bodies.iter().filter_map(|&b| Some((sim.world().get::<Velocity>(b)?, sim.world().get::<Inertia>(b)?)));
        let kinetic = |v: &Velocity, i: &Inertia| 0.5 * (i.mass * v.linear.length_squared() + v.angular.dot(i.principal * v.angular));
        each.fold((0.0, DVec3::ZERO), |(e, p), (v, i)| (e + kinetic(v, i), p + i.mass * v.linear))
    };
    let start = totals(&chain.sim);
    for step in 0..12 {
        let report = chain.sim.step()?;
        let x = [0, 1, 2].map(|k| place(&chain.sim, k));
        let last = chain.last;
        let gaps = [(x[1] - x[0]).length() - chain.radii[0] - chain.radii[1], (x[2] - x[1]).dot(line) - chain.radii[1] - last];
        // aside of the line the bullet may pass the light ball, but nothing passes the wall
        let wall = chain.words.starts_with("Wall");
        let ahead = [if wall { 1.0 } else { (x[1] - x[0]).dot(line) }, (x[2] - x[1]).dot(line), (x[2] - x[0]).dot(line)];
        let (energy, momentum) = totals(&chain.sim);
        let fault = if ahead.iter().any(|a| *a <= 0.0) {
            format!("one is through: {ahead:?}")
        } else if gaps.iter().any(|g| *g < -0.01 * chain.size) {
            format!("overlap {:?} of {}", gaps, chain.size)
        } else if !report.converged {
            format!("{:?}", report.report)
        } else if energy > start.0 * (1.0 + 1e-6) {
            format!("energy {energy} from {}", start.0)
        } else if chain.words.starts_with("Ball") && (momentum - start.1).length() > 1e-7 * start.1.length() {
            format!("momentum {momentum} from {}", start.1)
        } else {
            continue;
        };
        return Ok(Some(format!("{seed} step {step}: {fault}: {}", chain.words)));
    }
    Ok(None)
}

#[test]
fn what_a_bullet_throws_does_not_pass_through_what_stands_behind() -> Fallible {
    let mut wrong = 0;
    for seed in 0..600 {
        if let Some(words) = judge(seed)? {
            println!("{words}");
            wrong += 1;
        }
    }
    assert_eq!(wrong, 0);
    Ok(())
}
