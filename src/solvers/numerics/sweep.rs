//! Coloured projected Gauss–Seidel in body space, with nonsmooth nonlinear conjugate gradients on top, or [Anderson's acceleration](super::acceleration).
//!
//! ```text
//! sweep   for every contact:  q_a = u_a − W_aa r_a,   r_a ← solve(W_aa, q_a, μ_a),   v += Ŵ⁻¹ H_aᵀ Δr_a
//! ```
//!
//! When to look at the true error, which point to keep and when to give up, `numerics::passes` knows. Velocities are linear in the
//! reactions, so the conjugate step moves both by the same formula.

use super::auto::{ENOUGH, is_pile};
use super::cells::Cells;
use super::central::{Balls, stand_in};
use super::colours::{All, Halves, Leaves, Shared, Twists, Unit, lend, take_back, velocities, visit_cells, visit_serial};
use super::following::{EVERY, Following};
use super::local::kernel::solve_once;
use super::mixed::{Answer, Contact, IMMOBILE, MAX_ROWS, MixedProblem, Reactions, RigidMass, Spin, Twist, Velocities};
use super::mixing::Mixing;
use super::passes::{Conjugate, Driver, Forecast, Look, Momentum, Passes, Steps, conjugate_step};
use super::{Report, Status, residual, residual::Residual};
use crate::algebra::lanes::Row;
use glam::DVec3;
use std::ops::Range;

/// Settings of the coloured Gauss–Seidel solver (what Siconos calls NSGS).
///
/// ```
/// use drystone::numerics::{mixed::*, sweep::*};
/// let (problem, mut answer) = (MixedProblem::default(), Answer::default());
/// let report = GaussSeidel::default().solve(&problem, &mut answer, &mut Workspace::default());
/// assert!(report.converged() && report.e_s == 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussSeidel {
    /// Stop when the error, [`residual::Residual::error`], is at most this.
    pub tolerance: f64,
    /// Budget of sweeps.
    pub max_sweeps: usize,
    /// Conjugate acceleration (NNCG); that of Anderson where friction is high and nothing flows.
    pub accelerate: bool,
    /// Both settings of the latter in turn: where a few contacts go round in circles.
    pub turns: bool,
    /// Where grains flow and friction is high, shifts that follow the slip instead of Coulomb's law as it is.
    pub follow: bool,
    /// Give up early (with [`Status::Stalled`]) when the rate of the last half of the sweeps promises more than this many
    /// further ones; 0: never.
    pub foresight: usize,
    /// Some sweeps more where bodies lie on each other and the first are within the tolerance: with what that asks alone, errors pass from step to step
    /// and keep a pile creeping.
    pub piles: bool,
}

impl Default for GaussSeidel {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_sweeps: 1000, accelerate: true, turns: false, follow: false, foresight: 0, piles: false }
    }
}

/// Buffers that a solve needs; keep one and no solve allocates after the first.
///
/// ```
/// let workspace = drystone::numerics::sweep::Workspace::default();
/// # let _ = workspace;
/// ```
#[derive(Debug, Default)]
pub struct Workspace {
    /// change of the reactions in the last sweep
    change: Reactions,
    before: Velocities,
    direction: State,
    best: Answer,
    /// velocities from scratch
    fresh: Velocities,
    shared: Vec<Shared>,
    /// the twists of the answer are in `shared`
    away: bool,
    balls: Balls,
    /// shifts of the visits; none where they solve the law of the problem
    following: Following,
    mixing: Mixing,
    /// the last problem was one of balls
    lanes: bool,
    parallel_sweeps: u64,
    /// which bodies have rows
    rows: Vec<bool>,
}

/// A point in the space of reactions and the velocities that belong to it.
#[derive(Clone, Debug, Default)]
struct State {
    r: Reactions,
    v: Velocities,
}

impl GaussSeidel {
    /// Improves `answer` until its error is at most the tolerance; its reactions are the first guess.
    pub fn solve(&self, p: &MixedProblem, answer: &mut Answer, work: &mut Workspace) -> Report {
        if is_shared(p) {
            // handed over to the pool once, not for every colour
            return rayon::scope(|_| self.run(p, answer, work));
        }
        self.run(p, answer, work)
    }

    fn run(&self, p: &MixedProblem, answer: &mut Answer, work: &mut Workspace) -> Report {
        work.away = false;
        velocities(p, &answer.reactions, &mut answer.velocities, &mut work.shared);
        let mut report = Report { status: Status::BudgetSpent, ..Report::default() };
        if p.contacts.is_empty() && p.blocks.is_empty() {
            report.status = Status::Converged;
            return report;
        }
        let balls = work.prepare(p, answer);
        work.lanes = balls && !work.balls.has_others();
        let driver = Driver {
            tolerance: self.tolerance,
            max_passes: self.max_sweeps,
            best: f64::INFINITY,
            first: FIRST_FORECAST,
            pause: (0, PAUSE),
            factor: (0.5, 0.1, f64::INFINITY),
            forecast: Forecast::new(self.foresight, FIRST_FORECAST.max(self.foresight / EARLY), 1),
        };
        let way = self.way(p, answer, &mut work.rows);
        if way == Way::Follow {
            work.following.begin(p, &answer.velocities);
            work.balls.take_shifts(if balls { &work.following.shifts } else { &[] });
        } else {
            work.following.shifts.clear();
        }
        work.mixing.begin(self.turns);
        let conjugate = match way {
            Way::Plain | Way::Mixed => None,
            Way::Steps(steps) => Some(Conjugate::new(steps)),
            Way::Follow => Some(Conjugate::new(Steps::Ramp)),
        };
        let mut passes = Coloured {
            p,
            answer,
            work,
            balls,
            way,
            tolerance: self.tolerance,
            least: if self.piles { LEAST.min(self.max_sweeps) } else { 0 },
            early: None,
            conjugate,
            norms: Norms::default(),
            momentum: None,
            found: None,
            kept: false,
        };
        let (status, iterations) = driver.run(&mut passes);
        report = Report { status, iterations, ..report };
        let Coloured { answer, work, found, early, kept, .. } = passes;
        work.fetch(&mut answer.velocities);
        if let Some(found) = found {
            return found.report(report);
        }
        if let Some(early) = early {
            std::mem::swap(answer, &mut work.best);
            return early.report(Report { status: Status::Converged, ..report });
        }
        if kept {
            std::mem::swap(answer, &mut work.best);
        } else if balls {
            work.balls.store(p, &mut answer.reactions);
        }
        residual::certify(p, answer).report(report)
    }
}

/// Friction from which shifts that follow the slip are better than Coulomb's law as it is.
const ROUGH: f64 = 1.0;

/// Whether grains flow from this guess, whose velocities the answer holds: contacts alone, most bodies moved before, and more velocity is
/// left than taken away.
pub(super) fn flows(p: &MixedProblem, answer: &Answer, rows: &mut Vec<bool>) -> bool {
    let resting = p.resting.iter().filter(|&&rests| rests).count();
    p.blocks.is_empty() && 2 * resting <= p.rigid.len() && !is_pile(p, answer, rows)
}

/// Whether some friction is that high.
pub(super) fn is_rough(p: &MixedProblem) -> bool {
    p.contacts.iter().any(|c| c.mu > ROUGH)
}

/// What is made of the sequence of sweeps.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// Nothing.
    Plain,
    /// Conjugate steps.
    Steps(Steps),
    /// Known shifts that follow the slip.
    Follow,
    /// Anderson's acceleration.
    Mixed,
}

impl GaussSeidel {
    /// What suits this problem from this guess.
    fn way(&self, p: &MixedProblem, answer: &Answer, rows: &mut Vec<bool>) -> Way {
        if !self.accelerate {
            return Way::Plain;
        }
        let flows = flows(p, answer, rows);
        if flows && (!p.lagged.is_empty() || p.contacts.iter().all(|c| c.mu == 0.0)) {
            return Way::Steps(Steps::Ramp);
        }
        if !is_rough(p) {
            return Way::Steps(if flows { Steps::Turns } else { Steps::Conjugate });
        }
        if !p.spins.is_empty() || !p.lagged.is_empty() {
            return Way::Steps(Steps::Conjugate);
        }
        if flows && self.follow { Way::Follow } else { Way::Mixed }
    }
}

/// Coloured sweeps of a problem.
struct Coloured<'a> {
    p: &'a MixedProblem,
    answer: &'a mut Answer,
    work: &'a mut Workspace,
    balls: bool,
    way: Way,
    tolerance: f64,
    /// sweeps of a pile, and the certificate of the first point within the tolerance before that, which `best` holds
    least: usize,
    early: Option<Residual>,
    conjugate: Option<Conjugate>,
    /// of the last sweep, and the conjugate step that they ask for
    norms: Norms,
    momentum: Option<Momentum>,
    /// the certificate of a point within the tolerance
    found: Option<Residual>,
    kept: bool,
}

impl Passes for Coloured<'_> {
    fn gap(&self, k: usize) -> usize {
        (k / 2).clamp(8, 25)
    }

    fn pass(&mut self, k: usize) -> f64 {
        if self.way == Way::Follow && k.is_multiple_of(EVERY) {
            self.work.follow(self.p, self.answer, self.balls);
        }
        self.work.share(self.p, &self.answer.velocities);
        let accelerated = self.conjugate.is_some();
        if accelerated {
            self.work.extrapolate_velocities(self.p, self.answer, self.momentum);
        }
        self.norms = self.work.sweep(self.p, self.answer, self.balls, accelerated, self.momentum);
        self.norms.change.sqrt() / self.norms.size.sqrt().max(self.p.q_scaled)
    }

    fn look(&mut self, k: usize) -> Look {
        let (error, found) = self.work.judge(self.p, self.answer, self.balls, self.tolerance, k >= KEEP_BEST);
        let early = k < self.least && error > ENOUGH && found.is_some() && is_pile(self.p, self.answer, &mut self.work.rows);
        if early {
            if self.early.is_none() {
                self.work.best.clone_from(self.answer);
                self.early = found;
            }
            if self.balls {
                self.work.reload(self.p, self.answer);
            }
            self.found = None;
            // no best point of what follows: forecasts begin there
            return Look { error: f64::MAX, distance: error, end: None };
        }
        self.found = found;
        Look { error, distance: error, end: found.map(|_| Status::Converged) }
    }

    fn keep(&mut self, k: usize) {
        if k >= KEEP_BEST && self.found.is_none() && self.early.is_none() {
            self.work.best.clone_from(self.answer);
            if self.balls {
                self.work.balls.store(self.p, &mut self.work.best.reactions);
            }
            self.kept = true;
        }
    }

    fn tell(&mut self, _k: usize, _error: f64) -> bool {
        !self.p.stop.asked()
    }

    fn accelerate(&mut self) {
        if self.way == Way::Mixed {
            self.work.fetch(&mut self.answer.velocities);
            let Workspace { mixing, change, balls, .. } = &mut *self.work;
            mixing.mix(self.p, self.answer, change, self.balls.then_some(balls), self.norms.change);
        }
        if let Some(conjugate) = &mut self.conjugate {
            // before the first step the direction is none
            let along = if self.momentum.is_some() { self.norms.along } else { 0.0 };
            self.momentum = Some(conjugate.momentum(self.norms.change, along));
        }
    }
}

/// Sweeps that a step of a pile takes at least, unless its error is below [`ENOUGH`]: 8000 balls (`bead_pour`, 1e-3) settle to 1.9 mm/s (median)
/// with what the tolerance asks, to 1.4 mm/s with three sweeps and to 17 µm/s with four.
const LEAST: usize = 4;

/// Sweeps between two residuals at least, once the first has been a disappointment.
const PAUSE: usize = 3;

/// Sweeps after which the best answer so far is kept, and velocities are computed anew at each check; earlier ones are not worth it.
const KEEP_BEST: usize = 30;

/// Part of the sweeps that it may promise before which no forecast is made: errors of the worst contact jump.
const EARLY: usize = 16;
/// Sweeps before the first forecast: transients of a cold start are over.
const FIRST_FORECAST: usize = 8;

impl Workspace {
    /// Sweeps so far that several threads shared: what a test of "the same bits on any number of threads" has to see grow.
    pub fn parallel_sweeps(&self) -> u64 {
        self.parallel_sweeps
    }

    /// True where the last problem was one of balls, whose sweeps cost a quarter.
    pub(super) fn is_of_balls(&self) -> bool {
        self.lanes
    }

    /// Buffers, and the contacts as those of balls if most are; says whether they are.
    fn prepare(&mut self, p: &MixedProblem, answer: &mut Answer) -> bool {
        let balls = self.balls.prepare(p);
        let bodies = p.free.rigid.len() + usize::from(balls);
        self.change.blocks.resize(p.block_b.len(), 0.0);
        let State { r, v } = &mut self.direction;
        r.blocks.resize(p.block_b.len(), 0.0);
        v.rigid.resize(bodies, Twist::default());
        v.general.resize(p.free.general.len(), 0.0);
        if !balls || self.balls.has_others() {
            self.change.spins.resize(p.spins.len(), DVec3::ZERO);
            r.spins.resize(p.spins.len(), DVec3::ZERO);
            self.change.contacts.resize(p.contacts.len(), DVec3::ZERO);
            r.contacts.resize(p.contacts.len(), DVec3::ZERO);
        }
        if balls {
            self.reload(p, answer);
        }
        balls
    }

    /// The answer into the lanes.
    fn reload(&mut self, p: &MixedProblem, answer: &mut Answer) {
        self.balls.load(p, answer);
        stand_in(p, &mut answer.velocities.rigid);
    }

    /// The shifts follow the slip at hand.
    fn follow(&mut self, p: &MixedProblem, answer: &mut Answer, balls: bool) {
        self.fetch(&mut answer.velocities);
        self.following.follow(p, &answer.velocities);
        if balls {
            self.balls.take_shifts(&self.following.shifts);
        }
    }

    /// Where several threads share colours, their twists are where all can reach them until someone looks.
    fn share(&mut self, p: &MixedProblem, v: &Velocities) {
        if !self.away && p.known_cells().is_none() && is_shared(p) {
            lend(&v.rigid, &mut self.shared);
            self.away = true;
        }
    }

    /// Takes the twists back into the answer.
    fn fetch(&mut self, v: &mut Velocities) {
        if std::mem::take(&mut self.away) {
            take_back(&self.shared, &mut v.rigid);
        }
    }

    /// One pass over all contacts, colour by colour, then over all blocks; the reactions take their conjugate step on the way, and where several
    /// threads share the twists, these do too.
    fn sweep(&mut self, p: &MixedProblem, answer: &mut Answer, balls: bool, accelerated: bool, momentum: Option<Momentum>) -> Norms {
        let Answer { reactions, velocities, .. } = answer;
        let known = p.known_cells().filter(|_| rayon::current_num_threads() > 1);
        self.parallel_sweeps += u64::from(self.away || known.is_some());
        let shifts = if self.following.shifts.is_empty() { &p.lagged } else { &self.following.shifts };
        let rows = Rows { p, shifts, momentum };
        let spins = [&mut reactions.spins, &mut self.change.spins, &mut self.direction.r.spins].map(Vec::as_mut_slice);
        let (change, direction) = (&mut self.change.contacts, &mut self.direction.r.contacts);
        let pieces = Pieces { r: &mut reactions.contacts, change, direction, spins };
        let (cells, before, moved) = (&self.shared, &mut self.before.rigid, &mut self.direction.v.rigid);
        before.resize(velocities.rigid.len(), Twist::default());
        let follow = |x: &mut Twist, before: &mut Twist, direction: &mut Twist| {
            if let Some(momentum) = momentum {
                extrapolate(x, before, direction, momentum);
            }
            *before = *x;
        };
        let mut norms = if balls {
            let units = self.balls.visits(&rows, pieces);
            visit_all(units, &mut velocities.rigid, known, self.away.then_some(cells), accelerated.then_some([before, moved]), follow)
        } else {
            let units = units(&rows, pieces);
            visit_all(units, &mut velocities.rigid, known, self.away.then_some(cells), accelerated.then_some([before, moved]), follow)
        };
        if !p.blocks.is_empty() {
            self.fetch(velocities);
        }
        for block in &p.blocks {
            let range = block.first..block.first + block.rows;
            let (r, change) = (&mut reactions.blocks[range.clone()], &mut self.change.blocks[range.clone()]);
            if let Some(momentum) = momentum {
                for ((r, d), p) in r.iter_mut().zip(change.iter()).zip(&mut self.direction.r.blocks[range.clone()]) {
                    conjugate_step(r, *d, p, momentum);
                }
            }
            visit_block(p, block, r, change, velocities);
            let d = p.block_weight(block);
            norms.change += d * change.iter().map(|x| x * x).sum::<f64>();
            norms.along += d * change.iter().zip(&self.direction.r.blocks[range]).map(|(x, p)| x * p).sum::<f64>();
            norms.size += d * r.iter().map(|x| x * x).sum::<f64>();
        }
        norms
    }

    /// Moves the velocities as the conjugate step will move the reactions, and keeps them for the next change; twists that several threads share
    /// wait for the sweep.
    fn extrapolate_velocities(&mut self, p: &MixedProblem, answer: &mut Answer, momentum: Option<Momentum>) {
        let v = &mut answer.velocities;
        let (before, direction) = (&mut self.before, &mut self.direction.v);
        let waits = is_shared(p);
        if let (Some(momentum), false) = (momentum, waits) {
            for ((x, x0), p) in v.rigid.iter_mut().zip(&mut before.rigid).zip(&mut direction.rigid) {
                extrapolate(x, x0, p, momentum);
                *x0 = *x;
            }
        } else if !waits {
            before.rigid.clone_from(&v.rigid);
        }
        if let Some(momentum) = momentum {
            for ((x, x0), p) in v.general.iter_mut().zip(&before.general).zip(&mut direction.general) {
                let d = *x - x0;
                conjugate_step(x, d, p, momentum);
            }
        }
        before.general.clone_from(&v.general);
    }

    /// The error of the point at hand, and its certificate if that is within the tolerance; the answer is complete then.
    ///
    /// Sweeps update v by differences; a certificate counts only with v from scratch, from which the sweeps go on too if `renew` says so.
    /// Contacts of balls have a shorter way to the error.
    fn judge(&mut self, p: &MixedProblem, answer: &mut Answer, balls: bool, tolerance: f64, renew: bool) -> (f64, Option<Residual>) {
        self.fetch(&mut answer.velocities);
        let mut quick = None;
        if balls && p.blocks.is_empty() && !self.balls.has_others() {
            let s = self.balls.residual(&answer.velocities.rigid);
            let e_s = if s.error == 0.0 { 0.0 } else { s.error.sqrt() / s.size.sqrt().max(p.q_scaled).max(f64::MIN_POSITIVE) };
            let carried = s.carried.sqrt();
            let error = residual::error(e_s, residual::with_overload(p, s.misfit.sqrt(), carried, [s.error, s.size]), carried);
            if error.is_nan() || error > tolerance {
                return (error, None);
            }
            quick = Some(error);
        }
        if balls {
            self.balls.store(p, &mut answer.reactions);
        }
        velocities(p, &answer.reactions, &mut self.fresh, &mut self.shared);
        let found = residual::residual(p, answer, &self.fresh);
        let solved = found.error() <= tolerance;
        let renew = renew || quick.is_some();
        if solved || renew {
            std::mem::swap(&mut answer.velocities, &mut self.fresh);
        }
        if solved {
            return (found.error(), Some(found));
        }
        if balls && renew {
            self.reload(p, answer);
        }
        (quick.unwrap_or(found.error()), None)
    }
}

/// Visits all units: cells or colours that several threads share, who also `follow` each twist, what it was before and its direction; or all by one thread.
fn visit_all<P: Halves>(
    units: impl Iterator<Item = Unit<P>>,
    v: &mut [Twist],
    known: Option<&Cells>,
    shared: Option<&Vec<Shared>>,
    moved: Option<[&mut Vec<Twist>; 2]>,
    follow: impl Fn(&mut Twist, &mut Twist, &mut Twist) + Sync,
) -> Norms {
    if let Some(cells) = known {
        let (mut moved, mut bodies) = (moved.map(|both| both.map(Vec::as_mut_slice)), cells.bodies.windows(2));
        let waiting = std::iter::from_fn(|| {
            let bodies = bodies.next()?;
            let [[one, rest1], [two, rest2]] = moved.take()?.map(|all| all.split_at_mut((bodies[1] - bodies[0]) as usize).into());
            moved = Some([rest1, rest2]);
            Some((one, two))
        });
        return visit_cells(cells, units, v, waiting, |twists, (before, direction)| {
            twists.iter_mut().zip(before.iter_mut()).zip(direction.iter_mut()).for_each(|((x, before), p)| follow(x, before, p));
        });
    }
    let Some(shared) = shared else { return visit_serial(units, &All::new(v)) };
    let mut leaves = Leaves::new();
    if let Some([before, direction]) = moved {
        leaves.push_twists(shared, before, direction);
    }
    units.for_each(|unit| leaves.push(unit.piece));
    leaves.visit(shared, follow)
}

/// The conjugate step of a twist, which has changed from x₀.
fn extrapolate(x: &mut Twist, x0: &Twist, p: &mut Twist, momentum: Momentum) {
    let (d, w) = (x.linear - x0.linear, x.angular - x0.angular);
    conjugate_step(&mut x.linear, d, &mut p.linear, momentum);
    conjugate_step(&mut x.angular, w, &mut p.angular, momentum);
}

/// `|D^½ d|²` of the change, `⟨d, D p⟩` with the conjugate step p before it and `|D^½ r|²`, over a piece of the rows.
#[derive(Clone, Copy, Default)]
pub(super) struct Norms {
    pub(super) change: f64,
    pub(super) along: f64,
    pub(super) size: f64,
}

impl Norms {
    pub(super) fn add(self, o: Self) -> Self {
        Self { change: self.change + o.change, along: self.along + o.along, size: self.size + o.size }
    }

    /// Sums of change, size and along, each lane of contacts apart.
    pub(super) fn of_lanes([change, size, along]: [Row; 3]) -> Self {
        let sum = |lanes: Row| lanes.into_iter().fold(0.0, |sum, x| sum + x);
        Self { change: sum(change), along: sum(along), size: sum(size) }
    }

    #[inline]
    fn count(&mut self, weight: f64, [change, step, r]: [DVec3; 3]) {
        self.change += weight * change.length_squared();
        self.along += weight * change.dot(step);
        self.size += weight * r.length_squared();
    }
}

/// What a sweep writes, over a piece of the contacts.
pub(super) struct Pieces<'a> {
    r: &'a mut [DVec3],
    change: &'a mut [DVec3],
    direction: &'a mut [DVec3],
    /// The same of the moments; empty where there are none.
    spins: [&'a mut [DVec3]; 3],
}

impl<'a> Pieces<'a> {
    pub(super) fn split(self, at: usize) -> (Self, Self) {
        let (r, r2) = self.r.split_at_mut(at);
        let (change, change2) = self.change.split_at_mut(at);
        let (direction, direction2) = self.direction.split_at_mut(at);
        let (spins, spins2) = if self.spins[0].is_empty() {
            (self.spins, Default::default())
        } else {
            let [[a, a2], [b, b2], [c, c2]] = self.spins.map(|all| all.split_at_mut(at).into());
            ([a, b, c], [a2, b2, c2])
        };
        (Pieces { r, change, direction, spins }, Pieces { r: r2, change: change2, direction: direction2, spins: spins2 })
    }
}

/// The colours or cells of a problem, with what a sweep writes there.
fn units<'a>(rows: &'a Rows<'a>, pieces: Pieces<'a>) -> impl Iterator<Item = Unit<Colour<'a>>> {
    let mut rest = Some(pieces);
    let whole = rows.p.known_cells().is_some();
    rows.p.units().filter_map(move |(groups, last)| {
        let groups = Groups::Chain(&rows.p.groups[groups.start..=groups.end]);
        let (pieces, after) = rest.take()?.split(groups.span());
        rest = Some(after);
        Some(Unit { piece: Colour { rows, groups, pieces }, whole, last })
    })
}

/// Groups of contacts, each from one to before another.
#[derive(Clone, Copy)]
pub(super) enum Groups<'a> {
    /// One after the other: where each begins, and the end.
    Chain(&'a [u32]),
    /// With others between them.
    Apart(&'a [[u32; 2]]),
}

impl Groups<'_> {
    fn count(self) -> usize {
        match self {
            Self::Chain(starts) => starts.len().saturating_sub(1),
            Self::Apart(groups) => groups.len(),
        }
    }

    fn get(self, k: usize) -> Range<usize> {
        let [from, to] = match self {
            Self::Chain(starts) => [starts[k], starts[k + 1]],
            Self::Apart(groups) => groups[k],
        };
        from as usize..to as usize
    }

    /// From the first contact to the last.
    fn span(self) -> usize {
        self.count().checked_sub(1).map_or(0, |last| self.get(last).end - self.get(0).start)
    }

    fn split(self, k: usize) -> [Self; 2] {
        match self {
            Self::Chain(starts) => [Self::Chain(&starts[..=k]), Self::Chain(&starts[k..])],
            Self::Apart(groups) => [Self::Apart(&groups[..k]), Self::Apart(&groups[k..])],
        }
    }
}

/// Some groups of a colour, with what a sweep writes from the first of their contacts to the last.
pub(super) struct Colour<'a> {
    pub(super) rows: &'a Rows<'a>,
    pub(super) groups: Groups<'a>,
    pub(super) pieces: Pieces<'a>,
}

impl Halves for Colour<'_> {
    fn halve(self) -> Result<[Self; 2], Self> {
        let Self { rows, groups, .. } = self;
        // a piece that is not small, of two groups at least
        if groups.count() < 2 || groups.span() <= PARALLEL {
            return Err(self);
        }
        let middle = groups.count() / 2;
        let (left, right) = self.pieces.split(groups.get(middle).start - groups.get(0).start);
        let [first, second] = groups.split(middle);
        Ok([Colour { rows, groups: first, pieces: left }, Colour { rows, groups: second, pieces: right }])
    }

    fn visit(self, v: &impl Twists) -> Norms {
        self.rows.visit(self.groups, self.pieces, v)
    }
}

/// Contacts below which a piece of a colour is not worth another thread.
const PARALLEL: usize = 512;

/// Whether several threads share the sweeps: cells are worth it, and colours, which are not of one size, where the first are in several pieces before
/// the last are in one.
fn is_shared(p: &MixedProblem) -> bool {
    let colours = p.colours.len().saturating_sub(1).max(3);
    rayon::current_num_threads() > 1 && (p.known_cells().is_some() || p.contacts.len() >= PARALLEL * (colours + 1))
}

/// The contacts of a problem.
pub(super) struct Rows<'a> {
    p: &'a MixedProblem,
    /// Known or followed; none for Coulomb's law.
    shifts: &'a [f64],
    /// Conjugate step that each reaction takes before it is visited.
    pub(super) momentum: Option<Momentum>,
}

impl Rows<'_> {
    /// Visits the contacts of some groups in order.
    fn visit(&self, groups: Groups<'_>, pieces: Pieces<'_>, v: &impl Twists) -> Norms {
        if groups.count() == 0 {
            return Norms::default();
        }
        let first = groups.get(0).start;
        let Pieces { r, change, direction, spins: [moments, turned, turns] } = pieces;
        let mut norms = Norms::default();
        for range in (0..groups.count()).map(|k| groups.get(k)) {
            let own = range.start - first..range.end - first;
            let (r, change, direction) = (&mut r[own.clone()], &mut change[own.clone()], &mut direction[own.clone()]);
            self.extrapolate([&mut *r, &mut *change, &mut *direction]);
            let contacts = &self.p.contacts[range.clone()];
            if !moments.is_empty() {
                let (moments, turned, turns) = (&mut moments[own.clone()], &mut turned[own.clone()], &mut turns[own]);
                self.extrapolate([&mut *moments, &mut *turned, &mut *turns]);
                self.visit_spins(range.clone(), [&mut *r, &mut *moments], [&mut *change, &mut *turned], v);
                for (k, (spin, c)) in self.p.spins[range].iter().zip(contacts).enumerate() {
                    let d = spin.mean_diagonal(c);
                    norms.count(d, [change[k], direction[k], r[k]]);
                    norms.count(d, [turned[k], turns[k], moments[k]]);
                }
                continue;
            }
            let shifts = self.shifts.get(range).unwrap_or_default();
            visit_group(&self.p.rigid, contacts, shifts, r, change, v);
            for (k, c) in contacts.iter().enumerate() {
                norms.count(c.local.mean_diagonal(), [change[k], direction[k], r[k]]);
            }
        }
        norms
    }

    /// The conjugate step of reactions, from their changes in the last sweep.
    fn extrapolate(&self, [r, change, direction]: [&mut [DVec3]; 3]) {
        let Some(momentum) = self.momentum else { return };
        for ((r, d), p) in r.iter_mut().zip(change.iter()).zip(direction.iter_mut()) {
            conjugate_step(r, *d, p, momentum);
        }
    }
}

impl Rows<'_> {
    /// Visits contacts between one pair of bodies that resist rolling and twisting.
    #[inline(never)]
    fn visit_spins(&self, range: Range<usize>, [r, moments]: [&mut [DVec3]; 2], changes: [&mut [DVec3]; 2], v: &impl Twists) {
        let contacts = &self.p.contacts[range.clone()];
        let Some(head) = contacts.first() else { return };
        let mass = |body: u32| if body == IMMOBILE { RigidMass::default() } else { self.p.rigid[body as usize] };
        let (m1, m2) = (mass(head.body1), mass(head.body2));
        let load = |body: u32| if body == IMMOBILE { Twist::default() } else { v.load(body) };
        let (mut v1, mut v2) = (load(head.body1), load(head.body2));
        let shifts = self.shifts.get(range.clone()).unwrap_or_default();
        let spins: &[Spin] = &self.p.spins[range];
        for (k, (c, spin)) in contacts.iter().zip(spins).enumerate() {
            let u = c.to_local(v1.at(c.arm1) - v2.at(c.arm2)) + c.b;
            let s = spin.levers() * c.to_local(v1.angular - v2.angular) + spin.b;
            let (force, moment) = spin.local.apply(&c.local, r[k], moments[k]);
            let near = (r[k], moments[k]);
            let q = (u - force, s - moment);
            let (new, turned) = if spin.drill > 0.0 {
                spin.local.solve_drilling(&c.local, q, [c.mu, spin.roll])
            } else {
                spin.local.solve(&c.local, q, spin.bounds(c), near, shifts.get(k).copied())
            };
            let (dr, dp) = (new - r[k], turned - moments[k]);
            (changes[0][k], r[k], changes[1][k], moments[k]) = (dr, new, dp, turned);
            if dr == DVec3::ZERO && dp == DVec3::ZERO {
                continue;
            }
            let (impulse, turn) = (c.to_world(dr), c.to_world(spin.levers() * dp));
            m1.kick(&mut v1, c.arm1, impulse);
            m2.kick(&mut v2, c.arm2, -impulse);
            v1.angular += m1.inertia_times(turn);
            v2.angular -= m2.inertia_times(turn);
        }
        store_ends(head, [v1, v2], v);
    }
}

/// Visits the contacts between one pair of bodies, whose velocities stay in registers meanwhile.
#[inline]
fn visit_group(masses: &[RigidMass], contacts: &[Contact], shifts: &[f64], r: &mut [DVec3], change: &mut [DVec3], v: &impl Twists) {
    let Some(head) = contacts.first() else { return };
    let mass = |body: u32| if body == IMMOBILE { RigidMass::default() } else { masses[body as usize] };
    let (m1, m2) = (mass(head.body1), mass(head.body2));
    let load = |body: u32| if body == IMMOBILE { Twist::default() } else { v.load(body) };
    let (mut v1, mut v2) = (load(head.body1), load(head.body2));
    for (k, ((c, r), change)) in contacts.iter().zip(r).zip(change).enumerate() {
        let u = c.to_local(v1.at(c.arm1) - v2.at(c.arm2)) + c.b;
        let q = u - c.local.apply(*r);
        let new = match shifts.get(k) {
            None => c.local.solve_near(q, c.mu, *r),
            Some(&shift) => c.local.solve_convex(q + shift * DVec3::X, c.mu),
        };
        let new = if c.most > 0.0 && new.x > c.most { c.local.solve_under(q, c.mu, c.most, *r) } else { new };
        let dr = new - *r;
        (*change, *r) = (dr, new);
        if dr != DVec3::ZERO {
            let impulse = c.to_world(dr);
            m1.kick(&mut v1, c.arm1, impulse);
            m2.kick(&mut v2, c.arm2, -impulse);
        }
    }
    store_ends(head, [v1, v2], v);
}

/// Writes the twists of the bodies of a contact.
#[inline]
fn store_ends(c: &Contact, twists: [Twist; 2], v: &impl Twists) {
    for (body, twist) in [c.body1, c.body2].into_iter().zip(twists).filter(|(body, _)| *body != IMMOBILE) {
        v.store(body, twist);
    }
}

/// Solves one block, see [`solve_once`].
fn visit_block(p: &MixedProblem, block: &super::mixed::Block, r: &mut [f64], change: &mut [f64], v: &mut Velocities) {
    let n = block.rows;
    let w = &p.block_w[block.local..][..n * n];
    let (mut q, mut new) = ([0.0; MAX_ROWS], [0.0; MAX_ROWS]);
    p.block_velocity(block, v, &mut q[..n]);
    for i in 0..n {
        q[i] -= (0..n).map(|j| w[i * n + j] * r[j]).sum::<f64>();
    }
    new[..n].copy_from_slice(r);
    solve_once(block.set, w, &q[..n], &mut new[..n]);
    for i in 0..n {
        change[i] = new[i] - r[i];
        r[i] = new[i];
    }
    p.kick_block(block, change, v);
}
