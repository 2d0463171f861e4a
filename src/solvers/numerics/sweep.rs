//! Coloured projected Gauss–Seidel in body space, with nonsmooth nonlinear conjugate gradients on top, or [Anderson's acceleration](super::acceleration).
//!
//! ```text
//! sweep   for every contact:  q_a = u_a − W_aa r_a,   r_a ← solve(W_aa, q_a, μ_a),   v += Ŵ⁻¹ H_aᵀ Δr_a
//! ```
//!
//! When to look at the true error, which point to keep and when to give up, `numerics::passes` knows. Velocities are linear in the
//! reactions, so the conjugate step moves both by the same formula.

use super::auto::{ENOUGH, is_pile};
use super::central::{Balls, stand_in};
use super::colours::{Shared, lend, take_back, velocities};
use super::following::{EVERY, Following};
use super::mixed::{Answer, MixedProblem, Reactions, Twist, Velocities};
use super::mixing::Mixing;
use super::passes::{Conjugate, Driver, Forecast, Look, Momentum, Passes, Steps, conjugate_step};
use super::visits::{Norms, Pieces, Rows, extrapolate, is_shared, units, visit_all, visit_block};
use super::{Report, Status, residual, residual::Residual};
use glam::DVec3;

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
