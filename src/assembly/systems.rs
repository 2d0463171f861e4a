//! Activate, assemble, solve, and hand the reactions back.

use super::locked::{Held, any_locks, judge, normal_is_held};
use super::problem::{Place, Rebound, Solver, StepProblem};
use crate::algebra::spatial::{rotate_exp, tangents};
use crate::integrator::moreau_jean::rigid_mass;
use crate::integrator::systems::{Pass, free_momentum, new_state, spin};
use crate::model::contact::{ContactPair, Foreseen, Foresight, Manifold, Touch, Turned, TurnedArms};
use crate::model::law::{Impact, beyond_touch, least_impact};
use crate::model::scheme::{Friction, Scheme, Treatment};
use crate::numerics::Status;
use crate::numerics::mixed::{Contact, IMMOBILE, MixedProblem, Twist};
use crate::numerics::residual::contact_scale;
use crate::topology::bodies::{Bodies, Body};
use crate::topology::graph::Group;
use bevy_ecs::prelude::*;
use glam::{DQuat, DVec3};

/// Velocity of a body at the start of the step, in world axes; after its free turn, where that is worked out in substeps.
fn world_twist(body: &Body) -> Twist {
    let angular = body.turn.map_or(body.velocity.angular, |turn| turn.angular);
    Twist { linear: body.velocity.linear, angular: body.frame.rotation * angular }
}

/// Marks the contact points that become rows and lists the pairs that have some.
pub fn activate(
    scheme: Res<Scheme>,
    pass: Res<Pass>,
    bodies: Res<Bodies>,
    mut foresight: ResMut<Foresight>,
    mut step: ResMut<StepProblem>,
    mut pairs: Query<(&ContactPair, &mut Manifold)>,
) {
    let h = scheme.time_step;
    let StepProblem { groups, first_contact, last: (places, reactions), answer, held, .. } = &mut *step;
    if pass.number > 0 {
        places.clear();
        places.extend(groups.iter().zip(first_contact.iter()).map(|(g, &first)| [g.source, first, g.points]));
        reactions.clone_from(&answer.reactions.contacts);
    }
    groups.clear();
    held.clear();
    let forecast = matches!(scheme.treatment, Treatment::Forecast { .. });
    let mut sources = 0;
    for (source, (pair, mut manifold)) in pairs.iter_mut().enumerate() {
        sources = source as u32 + 1;
        if manifold.points.is_empty() {
            continue;
        }
        let rows = pair.slots.map(|s| &bodies.rows[s as usize]);
        let mut points = 0;
        for touch in &mut manifold.points {
            touch.active = !forecast || {
                let middle = 0.5 * (touch.point1 + touch.point2);
                let velocity = |body: &Body| world_twist(body).at(middle - body.pose.position);
                let u = DVec3::X * touch.normal.dot(velocity(rows[0]) - velocity(rows[1]));
                pair.law.constant_part(scheme.treatment, touch.gap, 0.0, u, h, 0.0).is_some()
            };
            if touch.active && step.locked && held_normal(&scheme, pair, rows, touch, &mut step.held) {
                touch.active = false;
            }
            points += u32::from(touch.active);
        }
        if points > 0 {
            let rows = pair.slots.map(|s| step.places[s as usize].row);
            step.groups.push(Group { slots: pair.slots, rows, points, source: source as u32 });
        }
    }
    if step.locked {
        let Foresight { rows, held, .. } = &mut *foresight;
        let is_held = |f: &Foreseen, places: &mut Vec<Held>| {
            held_normal(&scheme, &f.pair, f.pair.slots.map(|s| &bodies.rows[s as usize]), &f.touch, places)
        };
        let mut dropped = Vec::new();
        rows.retain(|f| {
            !is_held(f, &mut dropped) || {
                held.push(*f);
                false
            }
        });
        for f in held.iter() {
            is_held(f, &mut step.held);
        }
    }
    for (k, points) in foresight.rows.chunk_by(|a, b| a.pair.slots == b.pair.slots).enumerate() {
        let slots = points[0].pair.slots;
        let rows = slots.map(|s| bodies.rows[s as usize].row);
        step.groups.push(Group { slots, rows, points: points.len() as u32, source: sources + k as u32 });
    }
    let StepProblem { groups, colouring, first_contact, problem, .. } = &mut *step;
    colouring.arrange(groups, bodies.rows.len(), bodies.mobile.len());
    problem.groups.clear();
    first_contact.resize(groups.len(), 0);
    let mut total = 0;
    for &g in &colouring.order {
        problem.groups.push(total);
        first_contact[g as usize] = total;
        total += groups[g as usize].points;
    }
    problem.groups.push(total);
    problem.colours.clone_from(&colouring.colours);
}

/// Whether locked axes keep both bodies from moving along the normal: no row then, but a word where the gap would have to open.
fn held_normal(scheme: &Scheme, pair: &ContactPair, rows: [&Body; 2], touch: &Touch, held: &mut Vec<Held>) -> bool {
    if !any_locks(rows.map(Some)) {
        return false;
    }
    let [place1, place2] = touch.places();
    let arms = [place1 - rows[0].pose.position, place2 - rows[1].pose.position];
    if !normal_is_held(rows, arms, touch.normal) {
        return false;
    }
    let u = touch.normal.dot(world_twist(rows[0]).at(arms[0]) - world_twist(rows[1]).at(arms[1]));
    let (h, band) = (scheme.time_step, scheme.touch * pair.size);
    let share = match scheme.treatment {
        Treatment::GapAware { beta } if touch.gap < 0.0 => beta,
        _ if touch.gap < 0.0 => 0.0,
        _ => 1.0,
    };
    let speed = -(u + share * beyond_touch(touch.gap, band) / h);
    if speed * h > band {
        held.push(Held { bodies: rows.map(|b| b.entity), direction: touch.normal, speed });
    }
    true
}

/// A body is at rest below this part of the velocity of a fall of one step.
const RESTING: f64 = 1e-3;

/// Masses, free velocities and velocities before the step.
pub fn assemble_systems(scheme: Res<Scheme>, mut pass: ResMut<Pass>, mut bodies: ResMut<Bodies>, mut step: ResMut<StepProblem>) {
    step.weight = scheme.time_step * scheme.gravity;
    step.two_steps = matches!(scheme.treatment, Treatment::GapAware { .. });
    let StepProblem { problem, before, spun, places, locked, .. } = &mut *step;
    places.clear();
    spun.rigid.clear();
    places.extend(bodies.rows.iter().map(|body| Place { position: body.pose.position, row: body.row }));
    *locked = false;
    problem.rigid.clear();
    problem.free.rigid.clear();
    problem.resting.clear();
    before.rigid.clear();
    let still = (RESTING * scheme.time_step * scheme.gravity.length()).powi(2);
    for (slot, body) in bodies.rows.iter_mut().enumerate() {
        let Some(inertia) = body.inertia.filter(|_| body.row != IMMOBILE) else { continue };
        *locked |= any_locks([Some(&*body), None]);
        if let Err(needed) = spin(body, &scheme, &pass) {
            pass.refused = Some((slot as u32, needed));
        }
        let mass = rigid_mass(&inertia, body.frame.rotation, &body.locks);
        let momentum = free_momentum(body, &scheme);
        let start = world_twist(body);
        before.rigid.push(start);
        // a turn that is worked out is in the start already; in passes the torque is that of the mean velocity, on which it does no work
        let mean = pass.nonlinear && pass.number > 0;
        let turns = body.gyroscopic != DVec3::ZERO && body.turn.is_none() && !mean;
        let gained = || mass.inertia_times(scheme.time_step * (body.frame.rotation * body.gyroscopic));
        spun.rigid.push(if turns { Twist { angular: start.angular + gained(), ..start } } else { start });
        let (v, w) = (body.velocity.linear, body.velocity.angular);
        problem.resting.push(v.length_squared() + w.dot(inertia.principal * w) / inertia.mass <= still);
        problem.free.rigid.push(Twist {
            linear: start.linear + mass.inverse_mass * momentum.linear,
            // a turn that is worked out holds torque and blow already
            angular: if body.turn.is_some() { start.angular } else { start.angular + mass.inertia_times(momentum.angular) },
        });
        problem.rigid.push(mass);
    }
}

/// Part of a body within which the overlap of a contact that was a row before is the noise of the solver: per tolerance and, so that tight ones are not
/// blurred, per its square. A tenth of a thousandth of a body at 1e-3, a millionth at 1e-4.
const NOISE: [f64; 2] = [0.1, 100.0];

/// Contact rows, each at its place in the colours.
pub fn assemble_contacts(
    scheme: Res<Scheme>,
    pass: Res<Pass>,
    bodies: Res<Bodies>,
    solver: Res<Solver>,
    (foresight, turned): (Res<Foresight>, Res<TurnedArms>),
    mut step: ResMut<StepProblem>,
    pairs: Query<(&ContactPair, &Manifold)>,
) {
    let gap_aware = matches!(scheme.treatment, Treatment::GapAware { .. });
    // an overlap that the last steps have left would shake bodies which the next ones solve no better
    let tolerance = solver.workspace.memory.accuracy(solver.settings.tolerance);
    let noise = (NOISE[0] * tolerance).min(NOISE[1] * tolerance * tolerance);
    let StepProblem { problem, answer, groups, first_contact, last, feedback, rebounds, taken, lively, driven, before, places, .. } =
        &mut *step;
    let total = problem.groups.last().map_or(0, |&n| n as usize);
    let MixedProblem { contacts, free, .. } = problem;
    let gravity = scheme.gravity.length();
    let least = least_impact(scheme.time_step, scheme.gravity);
    let jointed = &turned.jointed;
    let rows = Rows { scheme: &scheme, bodies: &bodies.rows, jointed, places, before: &before.rigid, noise, gravity, least };
    contacts.resize(total, Contact::default());
    feedback.resize(total, 0.0);
    driven.resize(total, DVec3::ZERO);
    rebounds.clear();
    *lively = false;
    taken.resize(total, 0.0);
    answer.reactions.contacts.resize(total, DVec3::ZERO);
    let mut groups = groups.iter().zip(first_contact.iter()).peekable();
    let mut last_groups = last.0.iter().peekable();
    let mut arms = turned.rows.iter().peekable();
    for (source, (pair, manifold)) in pairs.iter().enumerate() {
        let Some((group, first)) = groups.next_if(|(g, _)| g.source == source as u32) else { continue };
        if pass.number > 0 {
            // places may have moved; a group that has changed starts anew
            let before = last_groups.next_if(|l| l[0] == source as u32).filter(|l| l[2] == group.points);
            for k in 0..group.points as usize {
                answer.reactions.contacts[*first as usize + k] = before.map_or(DVec3::ZERO, |l| last.1[l[1] as usize + k]);
            }
        }
        *lively |= pair.law.bounces();
        let active = manifold.points.iter().enumerate().filter(|(_, t)| t.active);
        for (k, (point, touch)) in (*first as usize..).zip(active) {
            let contact = &mut contacts[k];
            let place = (source as u32, point as u32);
            while arms.next_if(|t| (t.source, t.point) < place).is_some() {}
            let turned = arms.next_if(|t| (t.source, t.point) == place);
            let Row { mut share, wall, closing, restitution, turned } = rows.state(pair, touch, turned, contact);
            let closing = [closing, share];
            let (contact_number, source) = (k as u32, source as u32);
            let mut rebound = Rebound { contact: contact_number, source, part: restitution, closing, turned, ..Rebound::default() };
            rebound.limited = pair.law.impact == Impact::Fremond;
            if touch.approach != DVec3::ZERO && gap_aware {
                let ending = ending_part(&scheme, pair, contact, touch, &before.rigid, &free.rigid);
                if let Some(ending) = ending.filter(|e| e.x < closing[0] || rebound.limited) {
                    let parts = ending.x < closing[0].min(0.0);
                    (rebound.part, rebound.ends, rebound.limited) = (ending, true, true);
                    contact.b = if parts { ending } else { ending.with_x(closing[0]) } + wall + turned;
                    share = if parts { 0.0 } else { share };
                }
            }
            if rebound.part != DVec3::ZERO {
                rebounds.push(rebound);
            }
            if pass.number == 0 {
                let guess = if scheme.warm_start { contact.to_local(touch.reaction) } else { DVec3::ZERO };
                answer.reactions.contacts[k] = guess;
            }
            (feedback[k], driven[k], taken[k]) = (share, wall, touch.taken);
        }
    }
    let mut k = 0;
    for (i, row) in foresight.rows.iter().enumerate() {
        if i == 0 || foresight.rows[i - 1].pair.slots != row.pair.slots {
            k = groups.next().map_or(0, |(_, &first)| first as usize);
        }
        let contact = &mut contacts[k];
        let Row { wall, .. } = rows.state(&row.pair, &row.touch, None, contact);
        let normal = row.touch.gap / scheme.time_step;
        contact.b.x = normal + wall.x;
        answer.reactions.contacts[k] = contact.to_local(row.touch.reaction);
        *lively |= row.pair.law.bounces();
        (feedback[k], driven[k], taken[k]) = (normal.min(0.0), wall, 0.0);
        k += 1;
    }
}

/// What a contact point is stated from.
struct Rows<'a> {
    scheme: &'a Scheme,
    bodies: &'a [Body],
    /// Whether the body of each slot has a joint; empty where none has.
    jointed: &'a [bool],
    places: &'a [Place],
    before: &'a [Twist],
    /// Overlap of a contact that was a row before and is noise, in parts of a body.
    noise: f64,
    gravity: f64,
    /// Smallest speed of an impact (m/s).
    least: f64,
}

/// Part of the speeds of its bodies below which the scale of a contact is too close to their rounding: without gravity nothing else bounds it.
pub(super) const SUM: f64 = 0.02;

/// What belongs to a row beside its contact.
struct Row {
    /// Its overlap feedback (m/s).
    share: f64,
    /// Share of immobile bodies in `u`.
    wall: DVec3,
    /// Constant part of the normal row that closes the gap, and what restitution adds to that of all rows.
    closing: f64,
    restitution: DVec3,
    /// What matches velocities at the end of the step where arms are those of its middle (m/s).
    turned: DVec3,
}

impl Rows<'_> {
    /// States a contact point as a row, all but its own operator. Bodies in joints have `turned` arms, as their joints have, see
    /// [`push_joint`].
    fn state(&self, pair: &ContactPair, touch: &Touch, turned: Option<&Turned>, contact: &mut Contact) -> Row {
        let Self { scheme, before, .. } = *self;
        let (law, h) = (pair.law, scheme.time_step);
        let places = pair.slots.map(|s| self.places[s as usize]);
        let [place1, place2] = touch.places();
        let arms = [place1 - places[0].position, place2 - places[1].position];
        let row_arms = turned.map_or(arms, |t| t.middle);
        (contact.normal, contact.tangent) = (touch.normal, tangents(touch.normal).0);
        [contact.arm1, contact.arm2] = row_arms;
        (contact.mu, contact.body1, contact.body2, contact.size) = (law.mu, places[0].row, places[1].row, pair.size);
        let mut ends = [DVec3::ZERO; 2];
        let mut given = [DVec3::ZERO; 2];
        let mut fastest = 0.0;
        for k in 0..2 {
            match before.get(places[k].row as usize) {
                Some(twist) => {
                    ends[k] = twist.at(arms[k]);
                    fastest += twist.linear.abs().max_element();
                }
                None => {
                    let twist = world_twist(&self.bodies[pair.slots[k] as usize]);
                    given[k] = twist.at(row_arms[k]);
                    if twist.angular != DVec3::ZERO && scheme.treatment.theta() == 1.0 {
                        let aside = chord(scheme.time_step, twist.angular, places[1 - k].position - places[k].position);
                        given[k] += aside.reject_from_normalized(touch.normal);
                    }
                }
            }
        }
        let wall = contact.to_local(given[0] - given[1]);
        let u = contact.to_local(ends[0] - ends[1]) + wall;
        // a contact that begins closes its gap to the last digit; one that lasts is not shaken by it
        let lasts = touch.reaction != DVec3::ZERO;
        let band = if lasts { scheme.touch * pair.size } else { 0.0 };
        // forces in a pile wander: beyond the band an overlap is noise whether or not it has carried in the last step
        let known = lasts || self.noise > scheme.touch && touch.velocity != DVec3::ZERO;
        let gap = if known && touch.gap < 0.0 { (touch.gap + self.noise * pair.size).min(0.0) } else { touch.gap };
        // joints close the gap that they have left: rows that call it closed would contradict theirs
        let jointed = pair.slots.iter().any(|&s| self.jointed.get(s as usize) == Some(&true));
        let band = if jointed && gap > 0.0 { 0.0 } else { band };
        // a deep overlap is parted at a bounded speed
        let gap = match scheme.treatment {
            Treatment::GapAware { beta } if beta > 0.0 && gap < -band => gap.max(-band - scheme.push_out(pair.size) * h / beta),
            _ => gap,
        };
        let closing = law.closing(scheme.treatment, gap, band, h);
        let restitution = law.restitution(scheme.treatment, u, self.least);
        let part = law.constant_part(scheme.treatment, gap, band, u, h, self.least);
        let turned = turned.map_or(DVec3::ZERO, |t| self.turned_part(pair, t, contact));
        contact.b = part.unwrap_or_default() + wall + turned;
        contact.scale = contact_scale(h, self.gravity, -u.x, pair.size).max(SUM * fastest);
        let share = match scheme.treatment {
            Treatment::GapAware { beta } => beta * beyond_touch(gap, band).min(0.0) / h,
            Treatment::Forecast { .. } => 0.0,
        };
        Row { share, wall, closing, restitution, turned }
    }

    /// `(H₁ − H_m) v⁽ⁱ⁾` where velocities are matched at the end of the step.
    fn turned_part(&self, pair: &ContactPair, turned: &Turned, contact: &Contact) -> DVec3 {
        if self.scheme.treatment.theta() == 1.0 {
            return DVec3::ZERO;
        }
        let change = |k: usize| {
            let body = &self.bodies[pair.slots[k] as usize];
            let spin = |rotation: DQuat| rotation * body.new_velocity.angular;
            let mobile = if body.row == IMMOBILE { 0.0 } else { 1.0 };
            mobile * (spin(body.new_pose.rotation).cross(turned.end[k]) - spin(body.frame.rotation).cross(turned.middle[k]))
        };
        contact.to_local(change(0) - change(1))
    }
}

/// What the chord that a place at `d` from a driven body's centre goes with it in the step differs by from its tangent (m/s):
/// `(exp(h ω) − 1) d/h − ω × d`. Velocities of the end of the step are those of the whole step where θ = 1: a body that sticks to a
/// turntable would else leave its circle by `½ h ω² r` in every second.
#[inline(never)]
fn chord(h: f64, spin: DVec3, d: DVec3) -> DVec3 {
    (rotate_exp(DQuat::IDENTITY, h * spin) * d - d) / h - spin.cross(d)
}

/// The constant part of a row in the step after an impact, if the bodies part.
fn ending_part(scheme: &Scheme, pair: &ContactPair, c: &Contact, touch: &Touch, before: &[Twist], free: &[Twist]) -> Option<DVec3> {
    // what carries the lower body does not show in free velocities: the whole of gravity counts
    let weight = scheme.time_step * c.normal.dot(scheme.gravity).abs();
    pair.law.rebound(c.to_local(touch.approach), weight.max(fall(c, before, free)))
}

/// By how much loads speed the approach of a contact up within the step (m/s).
fn fall(c: &Contact, before: &[Twist], free: &[Twist]) -> f64 {
    let gain = |body: u32, arm| match (free.get(body as usize), before.get(body as usize)) {
        (Some(free), Some(before)) => free.at(arm) - before.at(arm),
        _ => DVec3::ZERO,
    };
    -c.normal.dot(gain(c.body1, c.arm1) - gain(c.body2, c.arm2))
}

/// Hands the problem to the solver.
pub fn solve(scheme: Res<Scheme>, mut step: ResMut<StepProblem>, mut solver: ResMut<Solver>) {
    if scheme.friction == Friction::Lagged {
        step.lag_shifts();
    }
    let StepProblem { problem, answer, report, error, .. } = &mut *step;
    if error.is_some() {
        return;
    }
    let Solver { settings, workspace } = &mut *solver;
    let mut sweeps = report.iterations;
    *report = settings.solve_with(problem, answer, workspace);
    if scheme.friction == Friction::Lagged && step.shrink_shifts() {
        let StepProblem { problem, answer, report, .. } = &mut *step;
        sweeps += report.iterations;
        *report = settings.solve_with(problem, answer, workspace);
    }
    step.forget_unless_ending();
    for round in 1..=MOST_ROUNDS {
        // bodies that are thrown at others give part of a cut back: the first may fall short, the next must not
        let eager = if round == 1 { 1.0 } else { 1.5 };
        if !step.rebounds.iter().any(|r| r.limited) || !step.cut_rebounds(eager, round >= REBOUND_ROUNDS) {
            break;
        }
        let StepProblem { problem, answer, report, .. } = &mut *step;
        sweeps += report.iterations;
        *report = settings.solve_with(problem, answer, workspace);
    }
    step.report.iterations += sweeps;
    step.note_lag();
    judge(&mut step);
    let missed = matches!(step.report.status, Status::Lagged | Status::Stalled | Status::BudgetSpent);
    workspace.memory.take_in(if missed { step.report.e_s } else { 0.0 });
}

/// Rounds in which rebounds are cut to the energy that their impacts took; from this one on, islands that still exceed it have none.
const REBOUND_ROUNDS: usize = 8;
/// Rounds at most: bodies that no longer bounce may press others together.
const MOST_ROUNDS: usize = 20;

/// New velocities and poses of all systems.
pub fn apply(
    scheme: Res<Scheme>,
    mut pass: ResMut<Pass>,
    mut bodies: ResMut<Bodies>,
    mut foresight: ResMut<Foresight>,
    step: Res<StepProblem>,
) {
    if step.error.is_some() {
        return;
    }
    // groups of foreseen points come last
    let start = step.groups.len() - foresight.rows.chunk_by(|a, b| a.pair.slots == b.pair.slots).count();
    for (points, &first) in foresight.rows.chunk_by_mut(|a, b| a.pair.slots == b.pair.slots).zip(&step.first_contact[start..]) {
        for (row, k) in points.iter_mut().zip(first as usize..) {
            let c = &step.problem.contacts[k];
            row.contact = k as u32;
            row.touch.reaction = c.to_world(step.answer.reactions.contacts[k]);
            row.touch.velocity = c.to_world(step.problem.contact_velocity(c, &step.answer.velocities.rigid) - c.b + step.driven[k]);
        }
    }
    new_state(&mut bodies, &scheme, &step.problem.free.rigid, &step.answer.velocities.rigid, &mut pass);
}

/// Reactions and velocities back to the pairs that own the rows.
pub fn store_reactions(
    scheme: Res<Scheme>,
    solver: Res<Solver>,
    mut step: ResMut<StepProblem>,
    foresight: Res<Foresight>,
    mut pairs: Query<(&ContactPair, &mut Manifold)>,
) {
    let least = least_impact(scheme.time_step, scheme.gravity);
    step.settle(solver.settings.tolerance);
    if step.two_steps && step.lively {
        step.throw();
    }
    let StepProblem { problem, answer, after, .. } = &mut *step;
    after.clear();
    after.extend(problem.contacts.iter().map(|c| problem.contact_velocity(c, &answer.velocities.rigid) - c.b));
    let lively = step.lively && step.two_steps;
    let step = &*step;
    let mut rebounds = step.rebounds.iter().filter(|r| r.ends).peekable();
    let (problem, answer) = (&step.problem, &step.answer);
    let mut groups = step.groups.iter().zip(&step.first_contact).peekable();
    for (source, (pair, mut manifold)) in pairs.iter_mut().enumerate() {
        let mut k = match groups.next_if(|(g, _)| g.source == source as u32) {
            Some((_, first)) => *first as usize,
            None if manifold.points.is_empty() => continue,
            None => usize::MAX,
        };
        for touch in &mut manifold.points {
            if touch.active && k != usize::MAX {
                let begins = touch.reaction == DVec3::ZERO && touch.gap > scheme.touch * pair.size;
                // the frame of the row, without its record
                let frame = Contact { normal: touch.normal, tangent: tangents(touch.normal).0, ..Contact::default() };
                touch.reaction = frame.to_world(answer.reactions.contacts[k]);
                touch.velocity = frame.to_world(step.after[k] + step.driven[k]);
                (touch.approach, touch.taken) = (DVec3::ZERO, 0.0);
                let ended = rebounds.next_if(|r| r.contact == k as u32).is_some();
                if lively && touch.reaction != DVec3::ZERO {
                    touch.taken = step.taken[k];
                    let c = &problem.contacts[k];
                    let mut before = if begins { step.velocity_of_arrival(k) } else { step.velocity_before(k) };
                    if before.x < -least && !ended {
                        // at the place of touch the bodies are faster by what they fall through the gap: w² + 2 a gap
                        let gained = 2.0 * fall(c, &step.before.rigid, &problem.free.rigid) / scheme.time_step * touch.gap.max(0.0);
                        before.x = -(before.x * before.x + gained.max(0.0)).sqrt();
                        touch.approach = c.to_world(before);
                    }
                }
                k += 1;
            } else {
                (touch.reaction, touch.approach, touch.taken) = (DVec3::ZERO, DVec3::ZERO, 0.0);
            }
        }
    }
    if !foresight.rows.is_empty() {
        for (pair, mut manifold) in &mut pairs {
            // as points of the next step's start, which they become
            let points = foresight.of(pair.slots).iter().map(|f| {
                let mut touch = Touch { gap: f.touch.gap.max(0.0), ..f.touch };
                if lively && touch.reaction != DVec3::ZERO {
                    let k = f.contact as usize;
                    touch.taken = step.taken[k];
                    let before = step.velocity_of_arrival(k);
                    if before.x < -least {
                        touch.approach = problem.contacts[k].to_world(before);
                    }
                }
                touch
            });
            manifold.points.extend(points);
        }
    }
}
