//! Free motion and the new state, for every system.

use super::free_rotation::{ONE_STEP, free_rotation, sufficient_step, wobble};
use super::mixing::Mixing;
use super::moreau_jean::{advance, free_gyroscopic, gyroscopic_torque, rigid_mass, theta_velocity, uses_cayley};
use crate::algebra::pieces::{Part, length, share};
use crate::algebra::spatial::rotate_exp;
use crate::model::newton_euler::Velocity;
use crate::model::scheme::{Gyroscopic, Scheme};
use crate::numerics::mixed::Twist;
use crate::topology::bodies::{Bodies, Body, Turn, are_sound};
use bevy_ecs::prelude::*;
use glam::DVec3;
use rayon::prelude::*;

/// Passes of a round whose problems are unlike those before, and those from one that is solved afresh to the next.
const UNLIKE: usize = 4;
const AFRESH: usize = 16;

/// Whether joints make the step nonlinear, and which pass of its inner loop runs.
///
/// ```
/// assert_eq!(drystone::integrator::systems::Pass::default().number, 0);
/// ```
#[derive(Resource, Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// 0 in the first pass.
    pub number: usize,
    /// The same since the rows were last looked at.
    pub round: usize,
    /// Rows are evaluated at the middle of the step, which depends on its end.
    pub nonlinear: bool,
    /// Whether its problem is to be solved as if there were none before, as those before have ended, and at one that was not solved or that is
    /// jammed because they were; and whether a jam of this round has been proved so.
    pub afresh: bool,
    /// See [`afresh`](Self::afresh).
    pub proved: bool,
    /// Relative change that the tolerance of the solver alone can make from a pass to the next.
    pub accuracy: f64,
    /// The same for the velocities of this pass, as contacts at rest are judged on their own scale.
    pub left: f64,
    /// Largest change of a velocity against the last pass, relative to the largest velocity, not below that of a free fall
    /// of one step; 0 where only rounding is left.
    pub change: f64,
    /// The least of those of this round, and the passes in a row that have not halved it.
    pub least: (f64, usize),
    /// The same of other systems that take part, each on its own scale.
    pub systems: f64,
    /// Whether all states that it has found are numbers.
    pub sound: bool,
    /// Slot of a body that turns too far within the step to be solved, and the time step (s) that would do.
    pub refused: Option<(u32, f64)>,
}

impl Default for Pass {
    fn default() -> Self {
        Self {
            number: 0,
            round: 0,
            nonlinear: false,
            afresh: false,
            proved: false,
            accuracy: 0.0,
            left: 0.0,
            change: 0.0,
            least: (f64::INFINITY, 0),
            systems: 0.0,
            sound: false,
            refused: None,
        }
    }
}

impl Pass {
    /// Whether its problem is nearly that of the pass before; now and then it is to be solved as if it were not.
    pub fn again(&self) -> bool {
        self.round >= UNLIKE && !self.round.is_multiple_of(AFRESH) && !self.afresh
    }

    /// Says whether the next pass is [`afresh`](Self::afresh), after one that `ends` the round or nearly does, and is jammed or was not solved.
    pub fn judge(&mut self, ends: bool, [jammed, missed]: [bool; 2]) {
        let jammed = jammed && !self.proved;
        self.afresh = ends && self.again() && (jammed || missed);
        self.proved |= self.afresh && jammed;
    }

    /// Counts a pass.
    pub fn count(&mut self) {
        (self.number, self.round) = (self.number + 1, self.round + 1);
    }

    /// Starts anew with other rows.
    pub fn start_round(&mut self) {
        (self.round, self.least, self.proved) = (0, (f64::INFINITY, 0), false);
    }
}

/// Gyroscopic torque of the step; in the first pass also the free rotation of a body that turns far within the step.
///
/// The error is the time step (s) that would do, where the body turns too far for its equations to be solved.
pub fn spin(body: &mut Body, scheme: &Scheme, pass: &Pass) -> Result<(), f64> {
    let Some(inertia) = body.inertia else { return Ok(()) };
    let (h, old, i) = (scheme.time_step, body.velocity.angular, inertia.principal);
    let theta = scheme.treatment.theta();
    if pass.number > 0 && pass.nonlinear && body.turn.is_none() {
        // the last pass knows the impulses: the scheme's average sees them
        let new = body.new_velocity.angular;
        body.gyroscopic = match scheme.gyroscopic {
            Gyroscopic::Midpoint => gyroscopic_torque(0.5 * (old + new), i),
            Gyroscopic::ThetaRule => theta * gyroscopic_torque(new, i) + (1.0 - theta) * gyroscopic_torque(old, i),
        };
        return Ok(());
    }
    if pass.number > 0 && body.forced && body.turn.is_some() {
        body.turn = Some(free_turn(body, h)?);
    }
    // a further look does not settle: a mean with the velocity of its last pass would do work
    if pass.number == 0 || !pass.nonlinear && body.turn.is_none() {
        body.turn = None;
        let locked = body.locks.rotation.iter().filter(|&&l| l).count();
        if locked > 1 {
            // ω keeps to the axis that is left, and ω · (ω × I ω) = 0
            body.gyroscopic = DVec3::ZERO;
            return Ok(());
        }
        let midpoint = scheme.gyroscopic == Gyroscopic::Midpoint && locked == 0;
        // what loads turn, reactions may hold: where the free rotation is known after the solution, spin and blow alone say what is fast
        let torque = if follows(scheme) { body.frame.rotation.conjugate() * (body.blow.torque / h) } else { own_torque(body, h) };
        let fast = midpoint && wobble(old, i, h).max(wobble(old + h * torque / i, i, h)) > ONE_STEP;
        if !fast {
            match free_gyroscopic(scheme.gyroscopic, theta, old, torque, i, h) {
                Some(gamma) => {
                    body.gyroscopic = gamma;
                    return Ok(());
                }
                None if !midpoint => return Err(sufficient_step(old, i)),
                None => {}
            }
        }
        let turn = free_turn(body, h)?;
        body.turn = Some(turn);
        if !pass.nonlinear {
            // impulses meet the body as it stands after the turn, so that they add to R I ω what they are
            body.frame.rotation = (body.pose.rotation * turn.rotation).normalize();
        }
    }
    if let Some(turn) = body.turn {
        body.gyroscopic = i * (turn.angular - old) / h - own_torque(body, h);
    }
    Ok(())
}

/// Whether bodies that nothing holds go by their free rotation once the step is solved; beyond θ = ½ the θ-rule would lose the direction of R I ω.
fn follows(scheme: &Scheme) -> bool {
    scheme.treatment.theta() > 0.5 && scheme.gyroscopic == Gyroscopic::Midpoint
}

/// Torque and blow of the step as a mean torque in the axes of its frame.
fn own_torque(body: &Body, h: f64) -> DVec3 {
    body.frame.rotation.conjugate() * (body.load.torque + body.blow.torque / h)
}

/// The free rotation of the step from the pose at its start.
fn free_turn(body: &Body, h: f64) -> Result<Turn, f64> {
    let own = |x: DVec3| body.pose.rotation.conjugate() * x;
    let principal = body.inertia.map_or(DVec3::ONE, |inertia| inertia.principal);
    free_rotation(body.velocity.angular, own(body.load.torque), own(body.blow.torque), principal, h)
}

/// `h (g + f/m)` and `h (m + γ)` plus blows, as momenta in world axes.
pub fn free_momentum(body: &Body, scheme: &Scheme) -> Twist {
    let Some(inertia) = body.inertia else { return Twist::default() };
    let h = scheme.time_step;
    Twist {
        linear: h * (inertia.mass * (body.gravity.0 * scheme.gravity) + body.load.force) + body.blow.force,
        angular: body.frame.rotation * (h * (own_torque(body, h) + body.gyroscopic)),
    }
}

/// Pose in the middle of the step at the velocities of the last pass; the pose at the start where nothing is nonlinear.
pub fn set_frames(scheme: Res<Scheme>, pass: Res<Pass>, mixing: Res<Mixing>, mut bodies: ResMut<Bodies>) {
    if !pass.nonlinear {
        return;
    }
    let cayley = uses_cayley(scheme.treatment, scheme.gyroscopic);
    let mut mixed = mixing.of_bodies();
    for body in bodies.rows.iter_mut().filter(|b| b.alive) {
        if body.inertia.is_some()
            && let Some([x, y, z, a, b, c]) = mixed.next()
        {
            body.new_velocity = Velocity { linear: DVec3::new(*x, *y, *z), angular: DVec3::new(*a, *b, *c) };
        }
        body.guess = body.new_velocity;
        let v = theta_velocity(&body.velocity, &body.new_velocity, scheme.treatment.theta());
        body.frame = advance(&body.pose, &v, 0.5 * scheme.time_step, cayley);
    }
}

/// Where passes no longer halve a change below this, it is rounding: bodies of small inertia on long arms have that much.
const ROUNDING: f64 = 1e-10;
/// Passes in a row that have to come no closer where they are mixed.
const MIXED: usize = 3;
/// Velocity that a contact at rest may miss, in falls of one step, per [`Pass::accuracy`].
const MISSED: f64 = 200.0;
/// The same without gravity, in radii of gyration of the smallest body a second.
const SLOW: f64 = 0.1;

/// New velocities from the solution; new poses by the θ-rule, or by the free rotation where no reaction turns it. Contacts are `judged` by
/// this speed (m/s).
pub fn new_state(
    bodies: &mut Bodies,
    scheme: &Scheme,
    (free, solution): (&[Twist], &[Twist]),
    judged: f64,
    (pass, mixing): (&mut Pass, &mut Mixing),
) {
    // a system at rest still sums velocities of this size, and rounds there
    let fall = scheme.time_step * scheme.gravity.length();
    let nonlinear = pass.nonlinear;
    // sums of passes are in the order of the bodies
    let shared = !nonlinear && share(Part::Apply, bodies.rows.len(), SHARED);
    let length = if shared { length(bodies.rows.len()) } else { bodies.rows.len().max(1) };
    let piece = |(k, bodies): (usize, &mut [Body])| {
        let mut moved = Moved::default();
        for (slot, body) in (k * length..).zip(bodies).filter(|(_, b)| b.alive) {
            moved.advance(slot, body, scheme, (free, solution), nonlinear);
        }
        moved
    };
    let pieces: Vec<Moved> = if shared {
        bodies.rows.par_chunks_mut(length).enumerate().map(piece).collect()
    } else {
        bodies.rows.chunks_mut(length).enumerate().map(piece).collect()
    };
    let Moved { change, size, least, wrong, refused } = pieces.into_iter().reduce(Moved::with).unwrap_or_default();
    let size = size.max(fall);
    (pass.sound, pass.refused) = (!wrong, refused.or(pass.refused));
    pass.change = if size > 0.0 { change / size } else { 0.0 }.max(pass.systems);
    let (closest, stuck) = pass.least;
    let stuck = if pass.change > 0.5 * closest { stuck + 1 } else { 0 };
    pass.least = (closest.min(pass.change), stuck);
    // at rest a contact may miss by more than that, see `residual::contact_scale`
    let still = (MISSED * judged).max(if least.is_finite() { SLOW * least } else { 0.0 });
    pass.left = if size > 0.0 { pass.accuracy.max(pass.accuracy * still / size) } else { pass.accuracy };
    // mixed passes come closer by leaps
    let stays = stuck >= if mixing.is_mixed() { MIXED } else { 1 };
    if stays && pass.change <= ROUNDING.max(pass.left) {
        pass.change = 0.0;
    }
    if nonlinear {
        for body in bodies.rows.iter().filter(|b| b.alive) {
            let Some(inertia) = body.inertia else { continue };
            let weights = (inertia.mass.sqrt(), inertia.principal.map(f64::sqrt));
            let missed = (body.new_velocity.linear - body.guess.linear, body.new_velocity.angular - body.guess.angular);
            mixing.note(&(weights.0 * missed.0).to_array(), &body.new_velocity.linear.to_array());
            mixing.note(&(weights.1 * missed.1).to_array(), &body.new_velocity.angular.to_array());
        }
        mixing.end(pass.round, pass.change);
    }
}

/// Bodies from which on threads share them.
const SHARED: usize = 512;

/// What the new states of some bodies say of the pass.
#[derive(Clone, Copy)]
struct Moved {
    /// Largest change of a velocity, largest velocity, and smallest radius of gyration.
    change: f64,
    size: f64,
    least: f64,
    /// Whether one holds what is no number.
    wrong: bool,
    refused: Option<(u32, f64)>,
}

impl Default for Moved {
    fn default() -> Self {
        Self { change: 0.0, size: 0.0, least: f64::INFINITY, wrong: false, refused: None }
    }
}

impl Moved {
    fn with(self, next: Self) -> Self {
        Self {
            change: self.change.max(next.change),
            size: self.size.max(next.size),
            least: self.least.min(next.least),
            wrong: self.wrong | next.wrong,
            refused: next.refused.or(self.refused),
        }
    }

    /// The new state of a body.
    fn advance(&mut self, slot: usize, body: &mut Body, scheme: &Scheme, (free, solution): (&[Twist], &[Twist]), nonlinear: bool) {
        let h = scheme.time_step;
        let cayley = uses_cayley(scheme.treatment, scheme.gyroscopic);
        let follow = follows(scheme);
        let mut turn = None;
        (body.waits, body.returned) = (0.0, Velocity::default());
        if let Some(twist) = solution.get(body.row as usize) {
            let mut new = Velocity { linear: twist.linear, angular: body.frame.rotation.conjugate() * twist.angular };
            body.reacted = free.get(body.row as usize) != Some(twist);
            if body.reacted && nonlinear {
                // joints see the scheme's average: the passes find it
                body.turn = None;
            }
            if !body.reacted {
                turn = body.turn;
                if turn.is_none() && follow && turns_freely(body) {
                    match free_turn(body, h) {
                        Ok(found) => turn = Some(found),
                        Err(needed) => self.refused = Some((slot as u32, needed)),
                    }
                }
            }
            if let (Some(turn), Some(inertia)) = (turn, body.inertia) {
                new.angular = turn.angular;
                body.gyroscopic = inertia.principal * (turn.angular - body.velocity.angular) / h - own_torque(body, h);
            }
            // turning counts by what it moves the mass
            let arm = body.inertia.filter(|_| nonlinear).map_or(1.0, |i| (i.principal.max_element() / i.mass).sqrt());
            let measure = |linear: DVec3, angular: DVec3| linear.abs().max_element().max(arm * angular.abs().max_element());
            let change = measure(new.linear - body.new_velocity.linear, new.angular - body.new_velocity.angular);
            self.change = self.change.max(change);
            self.size = self.size.max(measure(new.linear, new.angular));
            self.least = if nonlinear { self.least.min(arm) } else { 0.0 };
            body.new_velocity = new;
            body.gained = Some(new.linear - body.velocity.linear);
        }
        if body.new_velocity.linear != DVec3::ZERO || body.new_velocity.angular != DVec3::ZERO || body.inertia.is_some() {
            // a driven body moves at the velocity that its contacts saw
            let theta = if body.inertia.is_some() { scheme.treatment.theta() } else { 1.0 };
            body.new_pose = advance(&body.pose, &theta_velocity(&body.velocity, &body.new_velocity, theta), h, cayley && theta == 0.5);
            if let Some(turn) = turn {
                body.new_pose.rotation = (body.pose.rotation * turn.rotation).normalize();
            } else if let Some(turn) = body.turn {
                // the free turn, then what the reactions add to it
                let turned = (body.pose.rotation * turn.rotation).normalize();
                body.new_pose.rotation = rotate_exp(turned, h * theta * (body.new_velocity.angular - turn.angular));
            }
        }
        self.wrong |= are_sound(&body.new_velocity, &body.new_pose) != [true; 2];
    }
}

/// Takes back what loads have given to bodies for the part of the step in which they wait: the fall that they did not make would else be
/// energy from nothing. Where reactions act too, these may have carried the load already: no more is taken than the body has along it.
pub fn wait(scheme: Res<Scheme>, mut bodies: ResMut<Bodies>) {
    for body in bodies.rows.iter_mut().filter(|b| b.alive && b.waits > 0.0) {
        let Some(inertia) = body.inertia else { continue };
        let (mass, time) = (rigid_mass(&inertia, body.frame.rotation, &body.locks), body.waits * scheme.time_step);
        let linear = time * mass.inverse_mass * (inertia.mass * (body.gravity.0 * scheme.gravity) + body.load.force);
        let angular = body.frame.rotation.conjugate() * (time * mass.inertia_times(body.load.torque));
        let taken = |has: DVec3, given: DVec3| {
            let along = if given == DVec3::ZERO { 0.0 } else { has.dot(given) / given.length_squared() };
            if body.reacted { along.clamp(0.0, 1.0) * given } else { given }
        };
        let new = body.new_velocity;
        body.returned = Velocity { linear: taken(new.linear, linear), angular: taken(new.angular, angular) };
        body.new_velocity = Velocity { linear: new.linear - body.returned.linear, angular: new.angular - body.returned.angular };
        body.gained = Some(body.new_velocity.linear - body.velocity.linear);
    }
}

/// Whether the free rotation of a body differs from a turn about a fixed axis.
fn turns_freely(body: &Body) -> bool {
    let Some(inertia) = body.inertia else { return false };
    let i = inertia.principal;
    let still = body.velocity.angular == DVec3::ZERO && body.load.torque == DVec3::ZERO && body.blow.torque == DVec3::ZERO;
    !still && body.locks.rotation == [false; 3] && !(i.x == i.y && i.y == i.z)
}

/// A body under reactions that turns too far for the passes of a nonlinear step to settle, and the time step (s) that would do.
pub fn unsettled(bodies: &Bodies, scheme: &Scheme) -> Option<(u32, f64)> {
    let fast = |body: &Body| {
        let Some(inertia) = body.inertia.filter(|_| body.alive && body.reacted) else { return false };
        wobble(body.velocity.angular, inertia.principal, scheme.time_step) > 2.0 * ONE_STEP
    };
    let slot = bodies.rows.iter().position(fast)?;
    let body = &bodies.rows[slot];
    Some((slot as u32, sufficient_step(body.velocity.angular, body.inertia?.principal)))
}
