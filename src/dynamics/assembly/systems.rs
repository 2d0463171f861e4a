//! Activate, assemble, solve, and hand the reactions back.

use super::locked::{Held, any_locks, judge, normal_is_held};
use super::problem::{Place, Solver, StepProblem};
use super::rows::{Job, Out, Pairs, Row, Rows, cut, fall, find_pair, press, sum_rounding};
use crate::algebra::fetch::{ahead, fetch};
use crate::algebra::pieces::{Part, each_piece, length, share};
use crate::algebra::spatial::tangents;
use crate::integrator::mixing::Mixing;
use crate::integrator::moreau_jean::rigid_mass;
use crate::integrator::systems::{Pass, free_momentum, new_state, spin};
use crate::model::contact::{ContactPair, Foreseen, Foresight, Manifold, Touch, TurnedArms};
use crate::model::law::{ContactLaws, beyond_touch, is_active, least_impact};
use crate::model::scheme::{Friction, Scheme, Treatment};
use crate::numerics::Status;
use crate::numerics::mixed::{Contact, IMMOBILE, MixedProblem, RigidMass, Twist};
use crate::topology::bodies::{Bodies, Body};
use crate::topology::graph::Group;
use bevy_ecs::prelude::*;
use glam::DVec3;
use rayon::prelude::*;
use smallvec::SmallVec;

/// Velocity of a body at the start of the step, in world axes; after its free turn, where that is worked out in substeps.
pub(super) fn world_twist(body: &Body) -> Twist {
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
    let StepProblem { groups, pieces, held, places, locked, .. } = &mut *step;
    let moves = |pair: &ContactPair, touch: &Touch| {
        let rows = pair.slots.map(|s| &bodies.rows[s as usize]);
        let middle = 0.5 * (touch.point1 + touch.point2);
        let velocity = |body: &Body, place: DVec3| world_twist(body).at(place - body.pose.position);
        let u = velocity(rows[0], middle) - velocity(rows[1], middle - pair.shift) - scheme.cell.drift(pair.shift);
        is_active(scheme.treatment, touch.gap, touch.normal.dot(u), h)
    };
    let of = |source: usize, pair: &ContactPair, manifold: &mut Manifold, held: Option<&mut Vec<Held>>, groups: &mut Vec<Group>| {
        let mut points = 0;
        for touch in &mut manifold.points {
            touch.active = !forecast || moves(pair, touch);
            points += u32::from(touch.active);
        }
        if let Some(held) = held {
            for touch in manifold.points.iter_mut().filter(|t| t.active) {
                touch.active = !held_normal(&scheme, pair, pair.slots.map(|s| &bodies.rows[s as usize]), touch, held);
                points -= u32::from(!touch.active);
            }
        }
        if points > 0 {
            let rows = pair.slots.map(|s| places[s as usize].row);
            groups.push(Group { slots: pair.slots, rows, points, source: source as u32 });
        }
    };
    let mut sources = 0;
    // both components live in tables, so there are slices of them; what detection wrote is marked as changed
    for (pairs, mut manifolds) in pairs.contiguous_iter_mut().into_iter().flatten() {
        let manifolds = manifolds.bypass_change_detection();
        if !*locked && share(Part::Activate, pairs.len(), SHARED) {
            let length = length(pairs.len());
            each_piece(manifolds, length, pieces, |first, manifolds, groups: &mut Vec<Group>| {
                groups.clear();
                for (k, (pair, manifold)) in (first..).zip(pairs[first..].iter().zip(manifolds)) {
                    of(sources + k, pair, manifold, None, groups);
                }
            });
            pieces.iter().take(pairs.len().div_ceil(length)).for_each(|piece| groups.extend_from_slice(piece));
        } else {
            for (k, (pair, manifold)) in pairs.iter().zip(manifolds).enumerate() {
                of(sources + k, pair, manifold, locked.then_some(&mut *held), groups);
            }
        }
        sources += pairs.len();
    }
    let sources = sources as u32;
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
    problem.cells.clone_from(&colouring.cells);
}

/// Whether locked axes keep both bodies from moving along the normal: no row then, but a word where the gap would have to open.
fn held_normal(scheme: &Scheme, pair: &ContactPair, rows: [&Body; 2], touch: &Touch, held: &mut Vec<Held>) -> bool {
    if !any_locks(rows.map(Some)) {
        return false;
    }
    let [place1, place2] = pair.places(touch);
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
    let Bodies { rows, mobile, .. } = &mut *bodies;
    let nowhere = Place { position: DVec3::ZERO, row: IMMOBILE };
    places.resize(rows.len(), nowhere);
    let MixedProblem { rigid, free, resting, .. } = problem;
    rigid.resize(mobile.len(), RigidMass::default());
    resting.resize(mobile.len(), false);
    for twists in [&mut free.rigid, &mut before.rigid, &mut spun.rigid] {
        twists.resize(mobile.len(), Twist::default());
    }
    let mut rest =
        Systems { bodies: rows, places, rigid, resting, free: &mut free.rigid, before: &mut before.rigid, spun: &mut spun.rigid };
    let (scheme, now) = (&*scheme, *pass);
    let found: Vec<(bool, Option<(u32, f64)>)> = if share(Part::FreeMotion, rest.bodies.len(), SHARED / 2) {
        let length = length(rest.bodies.len());
        let pieces: Vec<_> = (0..rest.bodies.len())
            .step_by(length)
            .map(|from| {
                let to = (from + length).min(from + rest.bodies.len());
                let [first, end] = [from, to].map(|slot| mobile.partition_point(|&m| (m as usize) < slot));
                (from, first, rest.split_off(to - from, end - first))
            })
            .collect();
        pieces.into_par_iter().map(|(slot, row, systems)| systems.assemble(slot, row, scheme, &now)).collect()
    } else {
        vec![rest.assemble(0, 0, scheme, &now)]
    };
    *locked = found.iter().any(|(locked, _)| *locked);
    if let Some(refused) = found.iter().rev().find_map(|(_, refused)| *refused) {
        pass.refused = Some(refused);
    }
}

/// Some bodies, and the rows of those that move.
struct Systems<'a> {
    bodies: &'a mut [Body],
    places: &'a mut [Place],
    rigid: &'a mut [RigidMass],
    resting: &'a mut [bool],
    free: &'a mut [Twist],
    before: &'a mut [Twist],
    spun: &'a mut [Twist],
}

impl Systems<'_> {
    /// Takes the first bodies away, so many of which move.
    fn split_off(&mut self, bodies: usize, mobile: usize) -> Self {
        Self {
            bodies: cut(&mut self.bodies, bodies),
            places: cut(&mut self.places, bodies),
            rigid: cut(&mut self.rigid, mobile),
            resting: cut(&mut self.resting, mobile),
            free: cut(&mut self.free, mobile),
            before: cut(&mut self.before, mobile),
            spun: cut(&mut self.spun, mobile),
        }
    }

    /// Works out the rows of the bodies from `slot` on, the first of which is number `first`; whether one has locked axes, and the last that
    /// turns too far.
    fn assemble(self, slot: usize, first: usize, scheme: &Scheme, pass: &Pass) -> (bool, Option<(u32, f64)>) {
        let (mut locked, mut refused) = (false, None);
        let still = (RESTING * scheme.time_step * scheme.gravity.length()).powi(2);
        for (slot, (body, place)) in (slot..).zip(self.bodies.iter_mut().zip(self.places)) {
            *place = Place { position: body.pose.position, row: body.row };
            let Some(inertia) = body.inertia.filter(|_| body.row != IMMOBILE) else { continue };
            let k = body.row as usize - first;
            locked |= any_locks([Some(&*body), None]);
            if let Err(needed) = spin(body, scheme, pass) {
                refused = Some((slot as u32, needed));
            }
            let mass = rigid_mass(&inertia, body.frame.rotation, &body.locks);
            let momentum = free_momentum(body, scheme);
            let start = world_twist(body);
            self.before[k] = start;
            // a turn that is worked out is in the start already; in passes the torque is that of the mean velocity, on which it does no work
            let mean = pass.nonlinear && pass.number > 0;
            let turns = body.gyroscopic != DVec3::ZERO && body.turn.is_none() && !mean;
            let gained = || mass.inertia_times(scheme.time_step * (body.frame.rotation * body.gyroscopic));
            self.spun[k] = if turns { Twist { angular: start.angular + gained(), ..start } } else { start };
            let (v, w) = (body.velocity.linear, body.velocity.angular);
            self.resting[k] = v.length_squared() + w.dot(inertia.principal * w) / inertia.mass <= still;
            self.free[k] = Twist {
                linear: start.linear + mass.inverse_mass * momentum.linear,
                // a turn that is worked out holds torque and blow already
                angular: if body.turn.is_some() { start.angular } else { start.angular + mass.inertia_times(momentum.angular) },
            };
            self.rigid[k] = mass;
        }
        (locked, refused)
    }
}

/// Part of a body within which the overlap of a contact that was a row before is the noise of the solver: per tolerance and, so that tight ones are not
/// blurred, per its square. A tenth of a thousandth of a body at 1e-3, a millionth at 1e-4.
const NOISE: [f64; 2] = [0.1, 100.0];

/// Overlap that is shallow where sweeps alone solve the step, in parts of that noise.
const SHALLOW: f64 = 10.0;

/// Contact rows, each at its place in the colours.
pub fn assemble_contacts(
    scheme: Res<Scheme>,
    pass: Res<Pass>,
    bodies: Res<Bodies>,
    solver: Res<Solver>,
    (foresight, turned, laws): (Res<Foresight>, Res<TurnedArms>, Res<ContactLaws>),
    mut step: ResMut<StepProblem>,
    pairs: Query<(&ContactPair, &Manifold)>,
) {
    // an overlap that the last steps have left would shake bodies which the next ones solve no better
    let tolerance = solver.workspace.memory.accuracy(solver.settings.tolerance);
    let noise = (NOISE[0] * tolerance).min(NOISE[1] * tolerance * tolerance);
    let StepProblem {
        problem,
        answer,
        groups,
        colouring,
        first_contact,
        last,
        feedback,
        moved,
        rebounds,
        taken,
        lively,
        driven,
        before,
        places,
        pressed,
        judged,
        ..
    } = &mut *step;
    let total = problem.groups.last().map_or(0, |&n| n as usize);
    let MixedProblem { contacts, free, groups: starts, .. } = problem;
    let shallow = if 3 * total > solver.settings.max_newton_rows { SHALLOW * noise } else { 0.0 };
    let gravity = scheme.gravity.length();
    let least = least_impact(scheme.time_step, scheme.gravity);
    let jointed = &turned.jointed;
    let all: SmallVec<[Pairs<'_>; 2]> = pairs.contiguous_iter().into_iter().flatten().collect();
    let (loaded, most) =
        if gravity == 0.0 { press(pressed, &bodies.rows, scheme.time_step, &all, [&free.rigid, &before.rigid]) } else { (0.0, gravity) };
    *judged = scheme.time_step * most;
    let rounding = sum_rounding(solver.settings.tolerance);
    let (all_bodies, before) = (&bodies.rows, &before.rigid);
    let rows =
        Rows { scheme: &scheme, bodies: all_bodies, jointed, places, before, noise, shallow, gravity, pressed, loaded, least, rounding };
    contacts.resize(total, Contact::default());
    feedback.resize(total, 0.0);
    moved.resize(total, DVec3::ZERO);
    driven.resize(total, DVec3::ZERO);
    rebounds.clear();
    *lively = false;
    taken.resize(total, 0.0);
    answer.reactions.contacts.resize(total, DVec3::ZERO);
    let sources: usize = all.iter().map(|table| table.0.len()).sum();
    let job = Job {
        rows: &rows,
        scheme: &scheme,
        pass: &pass,
        groups,
        last: (&last.0, &last.1),
        turned: &turned.rows,
        free: &free.rigid,
        all: &all,
    };
    let mut rest = Out { contacts, reactions: &mut answer.reactions.contacts, feedback, moved, driven, taken };
    if share(Part::Assemble, total, SHARED) {
        let places = length(colouring.order.len());
        let mut pieces: Vec<_> = (0..colouring.order.len())
            .step_by(places)
            .map(|from| {
                let to = (from + places).min(colouring.order.len());
                let out = rest.split_off((starts[to] - starts[from]) as usize);
                (&colouring.order[from..to], starts[from], out, Vec::new(), false)
            })
            .collect();
        pieces.par_iter_mut().for_each(|(order, first, out, rebounds, lively)| *lively = job.assemble(order, *first, out, rebounds));
        for (.., more, bounces) in pieces {
            rebounds.extend(more);
            *lively |= bounces;
        }
    } else {
        *lively = job.assemble(&colouring.order, 0, &mut rest, rebounds);
    }
    // in the order of the pairs, from that of the colours
    rebounds.sort_unstable_by_key(|r| (r.source, r.contact));
    let mut groups = groups.iter().zip(first_contact.iter()).skip_while(|(g, _)| (g.source as usize) < sources);
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
        (feedback[k], moved[k], driven[k], taken[k]) = (normal.min(0.0), DVec3::ZERO, wall, 0.0);
        k += 1;
    }
    let find = |source: u32| find_pair(&all, source).map(|(pair, manifold)| (pair, &manifold.points[..]));
    step.assemble_spins([laws.resist(), pass.number == 0, scheme.warm_start], &bodies.rows, find, &foresight.rows);
}

/// Contacts or pairs from which on threads share them; half as many bodies.
const SHARED: usize = 1024;

/// Hands the problem to the solver.
pub fn solve(scheme: Res<Scheme>, pass: Res<Pass>, mut step: ResMut<StepProblem>, mut solver: ResMut<Solver>) {
    match scheme.friction {
        Friction::Lagged => step.lag_shifts(),
        Friction::Exact => step.problem.lagged.clear(),
    }
    if step.error.is_some() {
        return;
    }
    step.state_spare();
    let StepProblem { problem, before, kept, dropped, .. } = &mut *step;
    (*kept, *dropped) = (false, false);
    problem.before.clone_from(&before.rigid);
    solver.workspace.again = pass.again();
    solve_rounds(&mut step, &mut solver, scheme.friction);
    let StepProblem { problem, answer, planes, locked, .. } = &mut *step;
    if *locked {
        planes.lock(problem, &mut answer.velocities.rigid);
    }
    if step.problem.stop.asked() {
        return;
    }
    judge(&mut step);
    let missed = matches!(step.report.status, Status::Lagged | Status::Stalled | Status::BudgetSpent);
    solver.workspace.memory.take_in(if missed { step.report.e_s } else { 0.0 });
}

/// Solves the problem, and again with what its rebounds may give.
fn solve_rounds(step: &mut StepProblem, solver: &mut Solver, friction: Friction) {
    solve_released(step, solver);
    solver.workspace.again = false;
    if friction == Friction::Lagged && step.shrink_shifts() {
        solve_released(step, solver);
    }
    if step.problem.stop.asked() {
        return;
    }
    if step.report.status != Status::Converged && !step.rebounds.is_empty() && step.drop_rebounds(solver.settings.tolerance) {
        step.dropped = true;
        solve_released(step, solver);
    }
    step.forget_unless_ending();
    for round in 1..=MOST_ROUNDS {
        // bodies that are thrown at others give part of a cut back: the first may fall short, the next must not
        let eager = if round == 1 { 1.0 } else { 1.5 };
        if step.problem.stop.asked() || !step.rebounds.iter().any(|r| r.limited) || !step.cut_rebounds(eager, round >= REBOUND_ROUNDS) {
            break;
        }
        solve_released(step, solver);
    }
    step.note_lag();
}

/// Solves the problem; bodies that friction wedges are asked for less, and it is solved again.
fn solve_released(step: &mut StepProblem, solver: &mut Solver) {
    let Solver { settings, workspace } = solver;
    for round in 0..=MOST_RELEASES {
        let StepProblem { problem, answer, report, .. } = &mut *step;
        if round == MOST_RELEASES {
            problem.spare.clear();
        }
        *report = settings.solve_with(problem, answer, workspace).after(report);
        if problem.stop.asked() || !step.release_wedged() {
            break;
        }
    }
}

/// Times that bodies which friction wedges are asked for less; from then on what is left to ask is not called into question.
const MOST_RELEASES: usize = 12;
/// Rounds in which rebounds are cut to the energy that their impacts took; from this one on, islands that still exceed it have none.
const REBOUND_ROUNDS: usize = 8;
/// Rounds at most: bodies that no longer bounce may press others together.
const MOST_ROUNDS: usize = 20;

/// New velocities and poses of all systems.
pub fn apply(
    scheme: Res<Scheme>,
    mut pass: ResMut<Pass>,
    mut mixing: ResMut<Mixing>,
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
            row.touch.moment = step.moment(k);
            row.touch.velocity = c.to_world(step.problem.contact_velocity(c, &step.answer.velocities.rigid) - c.b + step.driven[k]);
        }
    }
    new_state(&mut bodies, &scheme, (&step.problem.free.rigid, &step.answer.velocities.rigid), step.judged, (&mut pass, &mut mixing));
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
    after.resize(problem.contacts.len(), DVec3::ZERO);
    let velocities = |first: usize, after: &mut [DVec3]| {
        problem
            .contact_velocities(first..first + after.len(), &answer.velocities.rigid, |k, u| after[k - first] = u - problem.contacts[k].b);
    };
    if share(Part::Store, problem.contacts.len(), SHARED) {
        after.par_chunks_mut(SHARED / 4).enumerate().for_each(|(k, after)| velocities(k * (SHARED / 4), after));
    } else {
        velocities(0, after);
    }
    let lively = step.lively && step.two_steps;
    let (step, problem) = (&*step, &step.problem);
    let store = |first: usize, pairs: &[ContactPair], manifolds: &mut [Manifold]| {
        let from = step.groups.partition_point(|g| (g.source as usize) < first);
        let rows = &step.first_contact[from..];
        let (mut groups, mut next) = (step.groups[from..].iter().zip(rows).peekable(), rows.iter().skip(ahead(step.groups.len())));
        let from = step.rebounds.partition_point(|r| (r.source as usize) < first);
        let mut rebounds = step.rebounds[from..].iter().filter(|r| r.ends).peekable();
        for (source, (pair, manifold)) in (first as u32..).zip(pairs.iter().zip(manifolds)) {
            let first = groups.next_if(|(g, _)| g.source == source).map(|(_, &first)| first as usize);
            if let (Some(_), Some(&next)) = (first, next.next()) {
                let rows = [&step.answer.reactions.contacts, &step.after, &step.driven];
                rows.iter().filter_map(|rows| rows.get(next as usize)).for_each(fetch);
            }
            store_pair(&scheme, step, (least, lively), pair, &mut manifold.points, first, |k| {
                rebounds.next_if(|r| r.contact == k as u32).is_some()
            });
        }
    };
    let mut first = 0;
    for (pairs, mut manifolds) in pairs.contiguous_iter_mut().into_iter().flatten() {
        let manifolds = manifolds.bypass_change_detection();
        if share(Part::Store, pairs.len(), SHARED) {
            let length = length(pairs.len());
            let all = pairs.par_chunks(length).zip(manifolds.par_chunks_mut(length)).enumerate();
            all.for_each(|(k, (pairs, manifolds))| store(first + k * length, pairs, manifolds));
        } else {
            store(first, pairs, manifolds);
        }
        first += pairs.len();
    }
    if !foresight.rows.is_empty() {
        for (pair, mut manifold) in &mut pairs {
            for f in foresight.of(pair.slots) {
                if let Some(stood) = f.stood.and_then(|at| manifold.points.get_mut(at)) {
                    (stood.reaction, stood.moment) = (stood.reaction + f.touch.reaction, stood.moment + f.touch.moment);
                    (stood.velocity, stood.active) = (f.touch.velocity, true);
                }
            }
            // as points of the next step's start, which they become
            let points = foresight.of(pair.slots).iter().filter(|f| f.stood.is_none()).map(|f| {
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

/// Reactions and velocities of the rows of a pair, which begin at contact `first` where it has some; `ended` says whether the rebound of a
/// contact has ended an impact. `least` is the smallest speed of an impact (m/s); `lively`: a pair of the step has restitution.
fn store_pair(
    scheme: &Scheme,
    step: &StepProblem,
    (least, lively): (f64, bool),
    pair: &ContactPair,
    points: &mut [Touch],
    first: Option<usize>,
    mut ended: impl FnMut(usize) -> bool,
) {
    let (problem, mut next) = (&step.problem, first);
    for touch in points {
        let Some(k) = next.filter(|_| touch.active) else {
            (touch.reaction, touch.moment, touch.approach, touch.taken) = (DVec3::ZERO, DVec3::ZERO, DVec3::ZERO, 0.0);
            continue;
        };
        next = Some(k + 1);
        let begins = touch.reaction == DVec3::ZERO && touch.gap > scheme.touch * pair.size;
        // the frame of the row, without its record
        let frame = Contact { normal: touch.normal, tangent: tangents(touch.normal).0, ..Contact::default() };
        touch.reaction = frame.to_world(step.answer.reactions.contacts[k]);
        touch.moment = step.moment(k);
        touch.velocity = frame.to_world(step.after[k] + step.driven[k]);
        (touch.approach, touch.taken) = (DVec3::ZERO, 0.0);
        let ended = ended(k);
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
    }
}
