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
use crate::assembly::joints::JointRows;
use crate::assembly::problem::StepProblem;
use crate::model::contact::Foresight;
use crate::model::newton_euler::AppliedForce;
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

/// What a step does to the energy.
///
/// ```
/// assert_eq!(drystone::simulation::energy::StepEnergy::default().work.total(), 0.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepEnergy {
    /// Energy at its start and at its end.
    pub ends: [Energy; 2],
    /// Work in it.
    pub work: Work,
    /// Kinetic energy of the centres of mass at its end, Σ ½ m v², bodies without their spin, and of other systems.
    pub travel: f64,
    /// Kinetic energy that loads and blows would give to bodies at rest and alone, Σ ½ J²/m + ½ Mᵀ I⁻¹ M with their impulses J and M.
    pub pushed: f64,
}

impl StepEnergy {
    fn add(&mut self, o: &Self) {
        (0..2).for_each(|k| self.ends[k] = self.ends[k].with(&o.ends[k]));
        self.work.add(&o.work);
        self.travel += o.travel;
        self.pushed += o.pushed;
    }
}

/// The energy of the step that the rows hold.
pub fn step_energy(bodies: &Bodies, scheme: &Scheme, step: &StepProblem) -> StepEnergy {
    let mut w = Work::default();
    contact_work(step, &mut w);
    block_work(step, &mut w);
    let systems = &step.systems;
    let ends = systems.kinetic.map(|kinetic| Energy { kinetic, potential: 0.0 });
    w.loads += systems.loads;
    w.scheme += systems.scheme;
    w.drives += systems.drives;
    let shared = share(Part::Certificate, bodies.rows.len(), 2 * PIECE);
    let piece = |from: usize, to: usize| body_energy(&bodies.rows[from..to], scheme);
    let own = sum(bodies.rows.len(), PIECE, shared, piece, |mut a, b| {
        a.add(&b);
        a
    });
    let mut e = StepEnergy { ends, work: w, travel: systems.kinetic[1], pushed: 0.0 };
    e.add(&own.unwrap_or_default());
    let images = scheme.time_step * bodies.image_pull;
    e.work.adhesion += images;
    e.work.drives -= images;
    e
}

/// Bodies or contacts per piece of a sum: fixed, so that any number of threads adds in the same order.
const PIECE: usize = 1024;

/// The share of some bodies.
fn body_energy(bodies: &[Body], scheme: &Scheme) -> StepEnergy {
    let (mut of_all, h) = (StepEnergy::default(), scheme.time_step);
    let StepEnergy { ends: e, work: w, travel, pushed } = &mut of_all;
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
        *travel += 0.5 * inertia.mass * body.new_velocity.linear.length_squared();
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
        let (blow, twist) = (h * body.load.force + body.blow.force, h * body.load.torque + body.blow.torque);
        w.loads += blow.dot(linear) + twist.dot(spin) - pulled;
        if blow != DVec3::ZERO || twist != DVec3::ZERO {
            let twist = body.frame.rotation.conjugate() * twist;
            *pushed += 0.5 * (blow.length_squared() / inertia.mass + (twist * twist / inertia.principal).element_sum());
        }
        w.scheme += h * body.gyroscopic.dot(angular);
        // along a locked axis gravity is carried by the lock and nothing moves
        let moved = body.new_pose.position - body.pose.position;
        w.scheme += inertia.mass * (body.gravity.0 * scheme.gravity).dot(h * linear - moved);
    }
    of_all
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
    p.contact_velocities(
        from..to,
        &step.before.rigid,
        #[inline(always)]
        |k, before| {
            let (c, r) = (&p.contacts[k], step.answer.reactions.contacts[k]);
            if r == DVec3::ZERO {
                return;
            }
            let mean = 0.5 * (step.after[k] + (before - c.b));
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
        },
    );
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
    for row in foresight.rows.iter().filter(|row| row.rolls && row.stood.is_none() && row.touch.reaction != DVec3::ZERO) {
        let k = row.contact as usize;
        let c = &p.contacts[k];
        let r = step.answer.reactions.contacts[k].x;
        let mean = 0.5 * (step.after[k].x + p.contact_velocity(c, &step.before.rigid).x - c.b.x) + step.driven[k].x;
        loss -= r * mean;
    }
    loss
}

/// What springs and servos lose to the length of a step that moves by h u⁺, and what their dampers take (J), see [`SpringRule::lost`](crate::model::spring::SpringRule::lost).
pub fn spring_loss(step: &StepProblem, scheme: &Scheme) -> [f64; 2] {
    let (p, mut sum) = (&step.problem, [0.0; 2]);
    if scheme.treatment.theta() != 1.0 {
        return sum;
    }
    for (k, [stiffness, damping], rule) in step.joints.iter().filter_map(JointRows::spring) {
        let block = &p.blocks[k];
        let r = step.answer.reactions.blocks[block.first];
        // a servo at its limit is a motor
        if matches!(block.set, AdmissibleSet::Interval { upper, .. } if r.abs() >= (1.0 - 1e-6) * upper) {
            continue;
        }
        let [mut after, mut before] = [[0.0]; 2];
        p.block_rate(block, &step.answer.velocities, &mut after);
        p.block_rate(block, &step.before, &mut before);
        let given = step.carried[block.first];
        let lost = rule.lost(stiffness, damping, [after[0] + given, before[0] + given], scheme.time_step);
        sum = [sum[0] + lost[0], sum[1] + lost[1]];
    }
    sum
}

/// What a step loses as it is not as long as the one before (J), where it moves by h v⁺.
///
/// ```text
/// ½ (h₀ − h)/h Σ m (v⁺ − v)·v + (ω⁺ − ω)·I ω        over bodies that nothing strikes; h₀: the step before
/// ```
///
/// Velocities are those of the middle of steps. In steps of one length what loads and springs do half a step too early is given back where they turn.
/// Steps that become shorter as bodies gain speed, and longer as they lose it, take some of it each time.
pub fn change_loss(bodies: &Bodies, step: &StepProblem, scheme: &Scheme, last: f64) -> f64 {
    let h = scheme.time_step;
    if scheme.treatment.theta() != 1.0 || last == h || last == 0.0 {
        return 0.0;
    }
    let (p, r) = (&step.problem, &step.answer.reactions);
    let mut struck = vec![false; step.answer.velocities.rigid.len()];
    let mut strike = |row: u32| struck.get_mut(row as usize).map_or((), |struck| *struck = true);
    for (c, _) in p.contacts.iter().zip(&r.contacts).filter(|(_, r)| **r != DVec3::ZERO) {
        [c.body1, c.body2].into_iter().for_each(&mut strike);
    }
    for block in p.blocks.iter().filter(|b| b.set == AdmissibleSet::NonNegative && r.blocks[b.first] > 0.0) {
        for system in block.systems {
            if let System::Rigid(row) = system {
                strike(row);
            }
        }
    }
    let gained = bodies.rows.iter().filter(|b| b.alive && b.blow == AppliedForce::default()).filter_map(|body| {
        let inertia = body.inertia.filter(|_| struck.get(body.row as usize) == Some(&false))?;
        let (old, new) = (body.velocity, body.new_velocity);
        Some(inertia.mass * (new.linear - old.linear).dot(old.linear) + (new.angular - old.angular).dot(inertia.principal * old.angular))
    });
    0.5 * (last - h) / h * gained.sum::<f64>()
}

/// What ropes and stops lose to the length of the step while they hold (J).
///
/// ```text
/// − Σ r (u⁺ + u − u₀)/2        over rows that bore something in the step before; u₀: u as that step left it, in the middle of its turn
/// ```
///
/// The velocity of the start, seen from the middle of the turn, goes against what they carry, as in joints. What arrives at them and is
/// stopped, in one step or in two, is an impact.
pub fn rope_loss(step: &StepProblem) -> f64 {
    let (p, mut loss) = (&step.problem, 0.0);
    for (k, last) in step.joints.iter().filter_map(JointRows::holding) {
        let block = &p.blocks[k];
        let [mut after, mut before] = [[0.0]; 2];
        p.block_rate(block, &step.answer.velocities, &mut after);
        p.block_rate(block, &step.before, &mut before);
        let (r, given) = (step.answer.reactions.blocks[block.first], step.carried[block.first]);
        loss -= r * (0.5 * (after[0] + before[0] - last) + given);
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
            driven += r * step.carried[block.first + i];
        }
        // what is linked to a driven body takes what that body puts in
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
