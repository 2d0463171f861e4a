//! A step that went wrong, as a scene of its own: the bodies around the worst contact at the start of the step, with the loads and
//! settings that they had in it.
//!
//! ```text
//! ε_c = w |r − P_K(r − û/w)|        w: mean of the diagonal of W_cc        the contact that misses its law by most is the worst
//! ```
//!
//! What touches, from body to body, is one island; immobile bodies end it. The islands of all contacts that miss by a tenth of the worst
//! are taken, since the error of a step is a sum. Reactions of the step before are not part of a scene, so the
//! step alone starts without a first guess.

use bevy_ecs::prelude::{Entity, World};
use glam::DVec3;

use crate::algebra::spatial::Pose;
use crate::assembly::problem::StepProblem;
use crate::io::scene::model::{self, Drive, GravityFrom, Motion, Scene, Study};
use crate::model::interaction::Interaction;
use crate::model::joint::{Bearing, Coordinate, Freedom, JointKind, JointSpec, Motor, Spring};
use crate::model::law::Law;
use crate::model::newton_euler::BodyPose;
use crate::model::relation::Relation;
use crate::numerics::admissible::project_coulomb;
use crate::numerics::mixed::{IMMOBILE, MAX_ROWS};
use crate::simulation::Simulation;
use crate::topology::bodies::Bodies;

/// Most bodies of such a scene; of larger islands those nearest to the worst contacts are taken.
const MOST: usize = 400;
/// Part of the worst miss from which on a contact counts among the worst.
const BAD: f64 = 0.1;

/// Two slots that touch or are joined, and by how much they miss their law (m/s); the second may be the world.
struct Link {
    slots: [Option<u32>; 2],
    miss: f64,
}

/// The last step of `simulation`, which was built from `scene`, as a scene of one step; `None` where nothing touches.
///
/// ```
/// use drystone::{diagnostics::postmortem::last_step, scenes};
/// let scene = scenes::load("arch", &[])?;
/// let mut built = scenes::build(&scene)?;
/// built.simulation.step()?;
/// let alone = last_step(&scene, &built.entities, &built.simulation).ok_or("the stones touch")?;
/// assert_eq!((alone.bodies.len(), alone.time.end), (scene.bodies.len(), scene.time.step));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn last_step(scene: &Scene, entities: &[Entity], simulation: &Simulation) -> Option<Scene> {
    let world = simulation.world();
    let bodies = world.resource::<Bodies>();
    let links = links(world);
    let worst = links.iter().reduce(|a, b| if b.miss > a.miss { b } else { a })?;
    let slots = islands(&links, worst.miss, bodies);
    let index = |slot: u32| {
        let entity = bodies.rows[slot as usize].entity?;
        entities.iter().position(|&e| e == entity)
    };
    let involved: Vec<(u32, usize)> = slots.into_iter().filter_map(|slot| Some((slot, index(slot)?))).collect();
    let mut alone = Scene {
        name: format!("{}_step_{}", scene.name, simulation.steps()),
        title: format!("step {} of {}, alone", simulation.steps(), scene.name),
        gravity: vec![GravityFrom { time: 0.0, acceleration: simulation.scheme().gravity }],
        bodies: involved.iter().filter_map(|&(_, i)| Some(at_the_start(&scene.numbered_body(i)?))).collect(),
        outlets: Vec::new(),
        inlets: Vec::new(),
        surfaces: Vec::new(),
        joints: Vec::new(),
        transmissions: Vec::new(),
        ties: Vec::new(),
        loads: Vec::new(),
        water: Vec::new(),
        base: None,
        recorders: Vec::new(),
        records: Vec::new(),
        measures: Vec::new(),
        piles: Vec::new(),
        fields: Vec::new(),
        study: Study::None,
        // images where they were at the start of the step, and velocities that have the flow in them
        periodic: scene.periodic.displaced(scene.periodic.at(simulation.time() - simulation.time_step()).way()),
        flows: false,
        ..scene.clone()
    };
    (alone.time.step, alone.time.end) = (simulation.time_step(), simulation.time_step());
    // this step, whatever has chosen it
    alone.time.accuracy = None;
    // from the frame of the shape, which a scene states, to that of the body, which the step knows
    let built = crate::setup::build(&alone).ok()?;
    for (k, &(slot, _)) in involved.iter().enumerate() {
        let row = &bodies.rows[slot as usize];
        let first = built.simulation.world().get::<BodyPose>(built.entities[k])?.0;
        let body = &mut alone.bodies[k];
        body.pose = row.pose.compose(&first.relative(&body.pose));
        let h = alone.time.step;
        let in_shape = |frame: &Pose, spin: DVec3| body.pose.local_vector(frame.vector(spin));
        match body.motion {
            Motion::Dynamic => {
                body.angular_velocity = in_shape(&row.pose, row.velocity.angular);
                body.linear_velocity = row.velocity.linear;
                body.force = row.load.force + row.blow.force / h;
                body.torque = row.load.torque + row.blow.torque / h;
            }
            Motion::Kinematic(_) => {
                let (linear, angular) = (row.new_velocity.linear, in_shape(&row.pose, row.new_velocity.angular));
                body.motion = Motion::Kinematic(Drive::Constant { linear, angular });
            }
            Motion::Static => {}
        }
    }
    let place = |slot: u32| involved.iter().position(|&(s, _)| s == slot);
    for joint in &world.resource::<StepProblem>().joints {
        let Some(interaction) = world.get::<Interaction>(joint.entity) else { continue };
        let ends = [0, 1].map(|k| interaction.systems.get(k).and_then(|&e| slot_of(bodies, e)));
        let Some(body1) = ends[0].and_then(place) else { continue };
        let body2 = match (interaction.systems.len(), ends[1].and_then(place)) {
            (2, None) => continue,
            (_, place) => place,
        };
        let poses = ends.map(|slot| slot.map_or(Pose::default(), |slot| bodies.rows[slot as usize].pose));
        if let Some(spec) = stated(interaction, &poses) {
            alone.joints.push(model::Joint { name: format!("joint{}", alone.joints.len()), body1, body2, spec });
        } else if let Relation::Coordinate(q) = &interaction.relation {
            let anchor = anchor(&q.frames, &poses);
            let of = |j: &&mut model::Joint| (j.body1, j.body2, j.spec.anchor) == (body1, body2, anchor);
            if let Some(joint) = alone.joints.iter_mut().rev().find(of) {
                act(&mut joint.spec, &interaction.law, q, q.value(&poses, q.from_output(interaction.y[0])));
            }
        }
    }
    Some(alone)
}

/// Where a joint is.
fn anchor(frames: &[Pose; 2], poses: &[Pose; 2]) -> DVec3 {
    let [one, two] = [0, 1].map(|k| poses[k].point(frames[k].position));
    one.midpoint(two)
}

/// Gives a joint what acts on its coordinate, which is now 0.
fn act(spec: &mut JointSpec, law: &Law, q: &Coordinate, now: f64) {
    let at = q.offset - now;
    match *law {
        Law::NewtonImpact { e } => {
            let [lower, upper] = spec.limits.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
            spec.limits = Some(if q.sign > 0.0 { [at.min(0.0), upper] } else { [lower, at.max(0.0)] });
            spec.restitution = e;
        }
        // a motor that holds still is friction too
        Law::Relay { upper, .. } if q.speed == 0.0 => spec.friction += upper,
        Law::Relay { upper, .. } => spec.motor = Some(Motor { speed: q.speed, limit: upper }),
        Law::Bearing { mu, radius } => spec.bearing = Some(Bearing { mu, radius }),
        Law::Spring { stiffness, damping, limit } => {
            let spring = Some(Spring { stiffness, damping, limit, rest: at });
            if limit.is_infinite() && spec.spring.is_none() { spec.spring = spring } else { spec.servo = spring }
        }
        _ => {}
    }
}

/// The joint that an interaction is, as it stands now.
fn stated(interaction: &Interaction, poses: &[Pose; 2]) -> Option<JointSpec> {
    let (frames, kind) = match &interaction.relation {
        Relation::Joint(joint) => (joint.frames, joint.kind),
        Relation::Coordinate(q) if q.freedom == Freedom::Distance => (q.frames, JointKind::Distance(q.offset)),
        _ => return None,
    };
    let [one, two] = [0, 1].map(|k| poses[k].compose(&frames[k]));
    let spec = JointSpec::new(kind).at(anchor(&frames, poses)).axis(two.rotation * DVec3::Z);
    Some(match kind {
        JointKind::Distance(_) => {
            let spring = match interaction.law {
                Law::Spring { stiffness, damping, .. } => Some(Spring { stiffness, damping, ..Spring::default() }),
                _ => None,
            };
            let slack = spring.is_none() && matches!(interaction.relation, Relation::Coordinate(_));
            JointSpec { anchor: one.position, anchor2: two.position, slack, spring, ..spec }
        }
        JointKind::Universal => {
            let axis = one.rotation * DVec3::X;
            spec.axis(axis).across((two.rotation * DVec3::Y).reject_from(axis))
        }
        _ => spec,
    })
}

/// The body without its history.
fn at_the_start(body: &model::Body) -> model::Body {
    model::Body { impulses: Vec::new(), birth: 0.0, death: None, ..body.clone() }
}

fn slot_of(bodies: &Bodies, entity: Entity) -> Option<u32> {
    bodies.rows.iter().position(|row| row.entity == Some(entity)).map(|slot| slot as u32)
}

/// Everything that touches or is joined in the step, and how well it keeps its law.
fn links(world: &World) -> Vec<Link> {
    let (bodies, step) = (world.resource::<Bodies>(), world.resource::<StepProblem>());
    let (p, answer) = (&step.problem, &step.answer);
    let mut links = Vec::new();
    for (group, &first) in step.groups.iter().zip(&step.first_contact) {
        let mut miss = 0.0;
        for k in first as usize..(first + group.points) as usize {
            let (c, r) = (&p.contacts[k], answer.reactions.contacts[k]);
            let mut u = p.contact_velocity(c, &answer.velocities.rigid);
            u.x += c.mu * (u.y * u.y + u.z * u.z).sqrt();
            let w = c.local.mean_diagonal();
            let mut x = r - u / w;
            project_coulomb(c.mu, &mut x);
            miss = f64::max(miss, w * (r - x).length());
        }
        links.push(Link { slots: group.slots.map(Some), miss });
    }
    let mut blocks = p.blocks.iter();
    for joint in &step.joints {
        let mut miss = 0.0;
        if joint.kept.contains(&true)
            && let Some(block) = blocks.next()
        {
            let mut u = [0.0; MAX_ROWS];
            p.block_velocity(block, &answer.velocities, &mut u[..block.rows]);
            miss = u[..block.rows].iter().map(|u| u * u).sum::<f64>().sqrt();
        }
        let Some(interaction) = world.get::<Interaction>(joint.entity) else { continue };
        let slots = [0, 1].map(|k| interaction.systems.get(k).and_then(|&e| slot_of(bodies, e)));
        links.push(Link { slots, miss });
    }
    for held in &step.held {
        links.push(Link { slots: held.bodies.map(|e| e.and_then(|e| slot_of(bodies, e))), miss: held.speed });
    }
    links
}

/// The bodies that hang together with the worst links, nearest first, in the order of their slots.
fn islands(links: &[Link], worst: f64, bodies: &Bodies) -> Vec<u32> {
    let mut at: Vec<Vec<u32>> = vec![Vec::new(); bodies.rows.len()];
    for link in links {
        if let [Some(a), Some(b)] = link.slots {
            at[a as usize].push(b);
            at[b as usize].push(a);
        }
    }
    let mut bad: Vec<&Link> = links.iter().filter(|link| link.miss.is_nan() || link.miss >= BAD * worst).collect();
    bad.sort_by(|a, b| b.miss.total_cmp(&a.miss));
    let (mut found, mut seen) = (Vec::new(), vec![false; bodies.rows.len()]);
    for slot in bad.iter().flat_map(|link| link.slots).flatten() {
        if !seen[slot as usize] && found.len() < MOST {
            seen[slot as usize] = true;
            found.push(slot);
        }
    }
    let mut next = 0;
    while let Some(&slot) = found.get(next) {
        next += 1;
        if bodies.rows[slot as usize].row == IMMOBILE {
            continue;
        }
        for &other in &at[slot as usize] {
            // what holds the bodies that are in has to be in as well
            let room = found.len() < MOST || bodies.rows[other as usize].row == IMMOBILE;
            if !seen[other as usize] && room {
                seen[other as usize] = true;
                found.push(other);
            }
        }
    }
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::newton_euler::Velocity;

    /// A weightless arm that turns about z at 1 rad/s, with what acts on its hinge.
    fn arm(acts: &str) -> Scene {
        let text = format!(
            "gravity = [0, 0, 0]\ntime = {{ step = 1e-3, end = 1 }}\n[[bodies]]\nname = \"arm\"\n\
             shape = {{ kind = \"cuboid\", size = [1, 0.1, 0.1] }}\n\
             mass = 2\nposition = [0.5, 0, 0]\nangular_velocity = [0, 0, 1]\nvelocity = [0, 0.5, 0]\n\
             [[joints]]\nkind = \"revolute\"\nbody1 = \"arm\"\nanchor = [0, 0, 0]\n{acts}"
        );
        Scene::from_toml(&text, "arm").unwrap()
    }

    #[test]
    fn the_step_alone_has_what_acted_on_its_joints() {
        let spin = |built: &crate::setup::Built| built.simulation.world().get::<Velocity>(built.entities[0]).unwrap().angular.z;
        for acts in [
            "motor = { speed = 5, limit = 3 }",
            "friction = 0.4",
            "friction = 0.4\nmotor = { speed = 0, limit = 3 }",
            "spring = { stiffness = 50, damping = 2, rest = 0.3 }",
            "servo = { position = 0.4, stiffness = 60, damping = 1, limit = 8 }",
        ] {
            let scene = arm(acts);
            let mut built = crate::setup::build(&scene).unwrap();
            for _ in 0..51 {
                built.simulation.step().unwrap();
            }
            let alone = last_step(&scene, &built.entities, &built.simulation).unwrap();
            let again = Scene::from_toml(&alone.to_toml(), "again").unwrap();
            let mut one = crate::setup::build(&again).unwrap();
            let before = spin(&one);
            one.simulation.step().unwrap();
            let (own, other) = (spin(&built), spin(&one));
            // the joint alone has no gap that asks to close, of some 1e-10 m
            assert!((own - other).abs() < 1e-6 * own.abs(), "{acts}: {own} and {other}");
            assert!((own - before).abs() > 1e-4 * own.abs(), "{acts}: nothing acts, {before} and {own}");
        }
        let scene = arm("limits = [-1, 0.5]\nrestitution = 0.5");
        let mut built = crate::setup::build(&scene).unwrap();
        for _ in 0..51 {
            built.simulation.step().unwrap();
        }
        let alone = last_step(&scene, &built.entities, &built.simulation).unwrap();
        let [lower, upper] = alone.joints[0].spec.limits.unwrap();
        // it has turned by 50 steps of 1 mrad, or rather of twice the arc tangent of its half
        assert!((lower + 1.05).abs() < 1e-6 && (upper - 0.45).abs() < 1e-6 && alone.joints[0].spec.restitution == 0.5, "{lower} {upper}");
    }
}
