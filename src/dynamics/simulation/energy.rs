//! The energy balance of a step, every term by its own formula.
//!
//! ```text
//! E        = Σ ½ m v² + ½ ωᵀ I ω − m g·x + ½ q̇ᵀ M(q) q̇       bodies; Lagrangian systems that interact with them
//! contacts = Σ rᵀ (u⁺ + u⁻)/2              normal, friction, and overlap = r_n c/2 with c the velocity that β asks for
//! joints   = Σ rᵀ (u⁺ + u⁻)/2              rows that hold
//! motors   = Σ rᵀ (u⁺ + u⁻)/2              motors, stops, friction and springs of joints, other relations
//! crushing = Σ r_n (u_n⁺ + u_n⁻)/2          joints that give way under their strength, in place of normal
//! bonds    = Σ rᵀ (u⁺ + u⁻)/2              what holds faces together: stored, given back, released
//! rolling  = Σ m·(ω⁺ + ω)/2               moments that resist rolling and twisting
//! drives   = Σ r · (velocity of driven bodies, and of images of a sheared cell), with the sign of the work done on the others
//! loads    = Σ (h F + J)·(v⁺ + v)/2 + (h m + J_m)·(ω⁺ + ω)/2 − Σ m (g⁺ − g)·x where gravity changes
//! adhesion = the same of the attraction between bodies that touch, driven ones and images included, which loads leave out and drives give back
//! scheme   = Σ h γ·(ω⁺ + ω)/2 + m g·(h (v⁺ + v)/2 − Δx)       and what waiting bodies give back
//! ```
//!
//! Loads hold the forces of the user on bodies, with what their rows still give where the passes have ended, and gravity on Lagrangian
//! systems. By `½ (v⁺ + v)ᵀ M (v⁺ − v) = ΔT` and `M (v⁺ − v) = h F + Hᵀ r` the sum of these is ΔE exactly; what is left over is rounding,
//! or a defect.

use crate::algebra::pieces::{Part, share, sum};
use crate::assembly::problem::StepProblem;
use crate::model::contact::Foresight;
use crate::model::scheme::Scheme;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::mixed::{IMMOBILE, MAX_ROWS, System};
use crate::topology::bodies::{Bodies, Body};
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Work done on the systems, by cause (J).
///
/// ```
/// let w = drystone::simulation::energy::Work { friction: -1.0, loads: 3.0, ..Default::default() };
/// assert_eq!(w.total(), 2.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// Normal reactions, without the overlap correction.
    pub normal: f64,
    /// Normal reactions of joints that crush: negative, what crushing takes.
    #[serde(default)]
    pub crushing: f64,
    /// Tangential reactions.
    pub friction: f64,
    /// Moments that resist rolling and twisting.
    pub rolling: f64,
    /// Overlap correction (β).
    pub overlap: f64,
    /// Joints and equality rows.
    pub joints: f64,
    /// Motors, stops and friction of joints.
    pub motors: f64,
    /// Bonds between faces.
    #[serde(default)]
    pub bonds: f64,
    /// Driven bodies, through the contacts and joints they touch, and the images of a sheared cell.
    pub drives: f64,
    /// Forces, torques and blows other than gravity, and changes of gravity.
    pub loads: f64,
    /// Attraction between bodies that touch.
    pub adhesion: f64,
    /// What the scheme itself adds or takes: gyroscopic term, position rule.
    pub scheme: f64,
}

impl Work {
    /// Sum of all terms.
    pub fn total(&self) -> f64 {
        self.normal
            + self.crushing
            + self.friction
            + self.rolling
            + self.overlap
            + self.joints
            + self.motors
            + self.bonds
            + self.drives
            + self.loads
            + self.adhesion
            + self.scheme
    }

    /// Adds another step's work.
    pub fn add(&mut self, o: &Self) {
        self.normal += o.normal;
        self.crushing += o.crushing;
        self.friction += o.friction;
        self.rolling += o.rolling;
        self.overlap += o.overlap;
        self.joints += o.joints;
        self.motors += o.motors;
        self.bonds += o.bonds;
        self.drives += o.drives;
        self.loads += o.loads;
        self.adhesion += o.adhesion;
        self.scheme += o.scheme;
    }
}

/// Kinetic and potential energy (J).
///
/// ```
/// assert_eq!(drystone::simulation::energy::Energy { kinetic: 1.0, potential: 2.0 }.total(), 3.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// ½ m v² + ½ ωᵀ I ω
    pub kinetic: f64,
    /// −m g·x
    pub potential: f64,
}

impl Energy {
    /// Kinetic plus potential.
    pub fn total(&self) -> f64 {
        self.kinetic + self.potential
    }

    fn with(&self, o: &Self) -> Self {
        Self { kinetic: self.kinetic + o.kinetic, potential: self.potential + o.potential }
    }
}

/// Energy at the start and at the end of the step that the rows hold, and the work of the step.
pub fn step_energy(bodies: &Bodies, scheme: &Scheme, step: &StepProblem) -> ([Energy; 2], Work) {
    let mut w = Work::default();
    contact_work(step, &mut w);
    block_work(step, &mut w);
    let systems = &step.systems;
    let mut e = systems.kinetic.map(|kinetic| Energy { kinetic, potential: 0.0 });
    w.loads += systems.loads;
    w.scheme += systems.scheme;
    w.drives += systems.drives;
    let shared = share(Part::Certificate, bodies.rows.len(), 2 * PIECE);
    let piece = |from: usize, to: usize| body_energy(&bodies.rows[from..to], scheme);
    let own = sum(bodies.rows.len(), PIECE, shared, piece, |(e, mut w), (e2, w2)| {
        w.add(&w2);
        ([e[0].with(&e2[0]), e[1].with(&e2[1])], w)
    });
    if let Some((own, work)) = own {
        e = [e[0].with(&own[0]), e[1].with(&own[1])];
        w.add(&work);
    }
    let images = scheme.time_step * bodies.image_pull;
    w.adhesion += images;
    w.drives -= images;
    (e, w)
}

/// Bodies or contacts per piece of a sum: fixed, so that any number of threads adds in the same order.
const PIECE: usize = 1024;

/// The share of some bodies.
fn body_energy(bodies: &[Body], scheme: &Scheme) -> ([Energy; 2], Work) {
    let (mut e, mut w, h) = ([Energy::default(); 2], Work::default(), scheme.time_step);
    for body in bodies.iter().filter(|body| body.alive) {
        let Some(inertia) = body.inertia else {
            // the velocity of a driven body is that of the whole step
            let spin = body.pose.rotation * body.velocity.angular;
            let pulled = h * (body.pull.force.dot(body.velocity.linear) + body.pull.torque.dot(spin));
            w.adhesion += pulled;
            w.drives -= pulled;
            continue;
        };
        for (e, (v, x)) in e.iter_mut().zip([(body.velocity, body.pose.position), (body.new_velocity, body.new_pose.position)]) {
            e.kinetic += inertia.kinetic_energy(&v);
            e.potential -= inertia.mass * (body.gravity.0 * scheme.gravity).dot(x);
        }
        // a body that waits gives back what loads have given it, after the rest of its step
        let back = &body.returned;
        let solved = [body.new_velocity.linear + back.linear, body.new_velocity.angular + back.angular];
        w.scheme -= inertia.mass * back.linear.dot(solved[0] - 0.5 * back.linear)
            + (inertia.principal * back.angular).dot(solved[1] - 0.5 * back.angular);
        let linear = 0.5 * (body.velocity.linear + solved[0]);
        // where the free turn is worked out apart, reactions come after it and loads act along it
        let end = body.turn.map_or(solved[1], |turn| turn.angular);
        let angular = 0.5 * (body.velocity.angular + end);
        let spin = body.frame.rotation * angular;
        let pulled = h * (body.pull.force.dot(linear) + body.pull.torque.dot(spin));
        w.adhesion += pulled;
        w.loads += (h * body.load.force + body.blow.force).dot(linear) + (h * body.load.torque + body.blow.torque).dot(spin) - pulled;
        w.scheme += h * body.gyroscopic.dot(angular);
        // along a locked axis gravity is carried by the lock and nothing moves
        let moved = body.new_pose.position - body.pose.position;
        w.scheme += inertia.mass * (body.gravity.0 * scheme.gravity).dot(h * linear - moved);
    }
    (e, w)
}

fn contact_work(step: &StepProblem, w: &mut Work) {
    let contacts = step.problem.contacts.len();
    let shared = share(Part::Certificate, contacts, 4 * PIECE);
    let work = sum(
        contacts,
        PIECE,
        shared,
        |from, to| work_of_contacts(step, from, to),
        |mut a, b| {
            a.add(&b);
            a
        },
    );
    w.add(&work.unwrap_or_default());
}

/// The work of contacts `from` to `to`.
fn work_of_contacts(step: &StepProblem, from: usize, to: usize) -> Work {
    let (p, mut w) = (&step.problem, Work::default());
    for (k, c) in (from..to).zip(&p.contacts[from..to]) {
        let r = step.answer.reactions.contacts[k];
        if r == DVec3::ZERO {
            continue;
        }
        let mean = 0.5 * (step.after[k] + (p.contact_velocity(c, &step.before.rigid) - c.b));
        let relative = mean + step.driven[k];
        let overlap = -0.5 * r.x * step.feedback[k];
        w.overlap += overlap;
        let normal = if c.most > 0.0 { &mut w.crushing } else { &mut w.normal };
        *normal += r.x * relative.x - overlap;
        w.friction += r.y * relative.y + r.z * relative.z;
        w.drives -= r.dot(step.driven[k]);
        if let Some([turning, drives]) = step.turning_work(&step.before.rigid, k) {
            w.rolling += turning;
            w.drives -= drives;
        }
    }
    w
}

/// What bodies that roll on an edge or a rim lose to the length of the step (J).
///
/// ```text
/// − Σ r_n (u_n⁺ + u_n)/2 ≈ ½ h² N a        over the points on which they stand at the end of the step
/// ```
///
/// The point that touches next comes down to the other body with the acceleration a. Its reaction stops it at the end of the step, as an
/// impact would, although the motion itself has none: without slip the load N does no work.
pub fn edge_loss(step: &StepProblem, foresight: &Foresight) -> f64 {
    let (p, mut loss) = (&step.problem, 0.0);
    for row in foresight.rows.iter().filter(|row| row.rolls && row.touch.reaction != DVec3::ZERO) {
        let k = row.contact as usize;
        let c = &p.contacts[k];
        let r = step.answer.reactions.contacts[k].x;
        let mean = 0.5 * (step.after[k].x + p.contact_velocity(c, &step.before.rigid).x - c.b.x) + step.driven[k].x;
        loss -= r * mean;
    }
    loss
}

fn block_work(step: &StepProblem, w: &mut Work) {
    let p = &step.problem;
    let (mut after, mut before) = ([0.0; MAX_ROWS], [0.0; MAX_ROWS]);
    for (k, block) in p.blocks.iter().enumerate() {
        let n = block.rows;
        p.block_rate(block, &step.answer.velocities, &mut after[..n]);
        p.block_rate(block, &step.before, &mut before[..n]);
        let holds = block.set == AdmissibleSet::Free && block.systems[2] == System::Fixed;
        let to = if k >= step.forced {
            &mut w.loads
        } else if step.bonded.contains(&k) {
            &mut w.bonds
        } else if holds {
            &mut w.joints
        } else {
            &mut w.motors
        };
        let mut driven = 0.0;
        for i in 0..n {
            let r = step.answer.reactions.blocks[block.first + i];
            *to += r * 0.5 * (after[i] + before[i]);
            if step.bonded.contains(&k) {
                driven += r * step.carried[block.first + i];
            }
        }
        // a bond to a driven body takes what that body puts in
        *to += driven;
        w.drives -= driven;
    }
}

/// Resultant of the reactions of contacts, joints and relations on immobile bodies and the world, with what attracts them (N s, world).
pub fn support_impulse(step: &StepProblem, bodies: &Bodies, h: f64) -> DVec3 {
    let held = bodies.rows.iter().filter(|row| row.alive && row.inertia.is_none());
    let mut sum = held.map(|row| h * row.pull.force).sum::<DVec3>();
    for group in step.problem.groups.windows(2).map(|g| g[0] as usize..g[1] as usize) {
        let contacts = &step.problem.contacts[group.clone()];
        let Some(ends) = contacts.first().map(|c| [c.body1, c.body2]).filter(|ends| ends.contains(&IMMOBILE)) else { continue };
        for (c, &r) in contacts.iter().zip(&step.answer.reactions.contacts[group]) {
            let impulse = c.to_world(r);
            if ends[0] == IMMOBILE {
                sum += impulse;
            }
            if ends[1] == IMMOBILE {
                sum -= impulse;
            }
        }
    }
    for block in step.problem.blocks.iter().take(step.forced) {
        let (systems, p) = (block.systems, &step.problem);
        let Some(part) = (0..2).find(|&k| matches!(systems[k], System::Rigid(_)) && systems[1 - k] == System::Fixed) else { continue };
        let rows = p.jacobians[block.jacobian[part]..].chunks_exact(6).take(block.rows);
        sum -= rows.zip(&step.answer.reactions.blocks[block.first..]).map(|(row, r)| *r * DVec3::from_slice(row)).sum::<DVec3>();
    }
    sum
}
