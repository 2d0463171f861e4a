//! The default strategy: sweeps over the whole problem, and island by island what they cannot do.
//!
//! ```text
//! equilibria               kept from before: loads between theirs need no solver, see [`recall`]
//! sweeps                   cheapest while they converge
//! patches                  in turn with sweeps, where friction is high and a few contacts go round in circles, see [`patches`]
//! rest                     an island that was at rest before the step: the solution at rest, if there is one
//! polish                   once in a while, a pile at rest: the same convex problem, solved far beyond the tolerance
//! tries                    what sweeps cannot do, see [`tries`]
//! ```

use super::central;
use super::feasibility::{Give, overasks, trades};
use super::islands::{Sizes, islands};
use super::mixed::{Answer, Block, MixedProblem, Reactions, System};
use super::residual::{Residual, certify, residual};
use super::{Method, Report, Status, newton, newton::ProximalNewton, sweep, sweep::GaussSeidel};
use glam::DVec3;
pub use memory::Memory;
use recall::Recalled;
pub(super) use rest::is_pile;
use rest::{AT_REST, REST, at_rest, begins_to_move, left_and_taken, rests};
use std::f64::consts::FRAC_1_SQRT_2;
use tries::{PLAIN_SWEEPS, Tries, ask_for_less, grown};

mod equilibria;
mod memory;
mod patches;
mod recall;
mod rest;
mod tries;
mod yielding;

/// Settings of the default solver.
///
/// Sweeps are cheapest while they converge; on a stuck, hyperstatic pile their rate tends to one, and then the whole
/// problem is solved at once in body space, from the best point of the sweeps.
///
/// ```
/// use drystone::numerics::{auto::Auto, mixed::*};
/// let report = Auto::default().solve(&MixedProblem::default(), &mut Answer::default());
/// assert!(report.converged());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Auto {
    /// Stop when the error, [`Residual::error`](super::residual::Residual::error), is at most this.
    pub tolerance: f64,
    /// Budget of sweeps, also of the last resort after Newton.
    pub max_sweeps: usize,
    /// Budget of factorisations of Newton; the proximal point after it has at most ten times as many (and at least 24).
    pub max_newton: usize,
    /// Problems with more contacts and block rows than this never go to Newton (its fill grows faster than linearly), but for sheets of
    /// stones at rest up to ten times as large.
    pub max_newton_rows: usize,
    /// Newton takes over when sweeps promise to need more than twice this many times the cost of a factorisation, and polishes
    /// an answer that took them more than this.
    pub patience: f64,
    /// Conjugate acceleration of the sweeps.
    pub accelerate: bool,
}

impl Default for Auto {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_sweeps: 100_000, max_newton: 100, max_newton_rows: 60_000, patience: 2.5, accelerate: true }
    }
}

/// [`Auto::patience`] where grains of a dear problem flow, or thousands of balls lie on each other: the tries on these cost as much as so many sweeps,
/// and leave reactions from which the next step starts no better. Where shifts follow the slip, sweeps go on descending: then five times as many.
const FLOW: [f64; 2] = [10.0, 50.0];
/// Cost of a factorisation, in sweeps, up to which a pile at rest is polished whatever sweeps leave.
const CHEAP: f64 = 60.0;
/// Part of the tolerance that sweeps may leave in a pile whose factorisations cost more: below it they keep the pile at rest.
const KEPT: f64 = 0.1;
/// How much more than before reactions may carry in a polished answer: beyond that it is self-stress, which hides what is left of the
/// error and which no load has asked for.
const SELF_STRESS: f64 = 3.0;
/// How much more than what is asked reactions have to carry for self-stress to be looked for; a column of N blocks carries some √N³ times its q.
const LOADED: f64 = 100.0;
/// Factorisations that may then be spent without success before they have to be saved up.
const BANK: f64 = 60.0;
/// Share of the effort of steps at rest that may go into polishing them.
const POLISH_SHARE: f64 = 0.1;
/// Cost of a step beside its sweeps, in sweeps of general contacts.
const STEP_COST: f64 = 20.0;
/// Factorisations that polishing needs at least.
const POLISH_START: f64 = 3.0;
/// Factorisations of the method of multipliers for a pile at rest, before an interior point is tried, fewer where they are dear; its largest penalty, which slow
/// modes of slender structures need; and its error: reactions that are wrong in such a mode push it on at every step, until it sways.
const REST_ITERATIONS: usize = 60;
const DEAR_ITERATIONS: usize = 40;
const REST_PENALTY: f64 = 1e9;
const REST_ERROR: f64 = 1e-11;
/// Part of the error at hand that polishing aims at, where that is small already.
const BETTER: f64 = 1e-2;
/// Part of the velocity that counts as creeping where the step before was polished: what stopped the bodies throws them back.
const THROWN: f64 = 1e-9;
/// The same where all is at rest: reactions do not follow their bodies, so that what creeps by 3e-8 of it creeps by 3e-6 after 1000 steps in a
/// wall of 50 courses, and has overlaps later on that push it to and fro.
const CREEP: f64 = 1e-6;
/// Steps after a polished one that are polished too, at most.
const STOPS: u8 = 3;
/// Error within which a pile at rest is polished enough.
pub(super) const ENOUGH: f64 = 1e-7;
/// Part of the tolerance that polishing aims at.
const POLISHED: f64 = 1e-6;
/// Sweeps for a factorisation from which [`DEAR_ITERATIONS`] of them are more than the sweeps that a step may have.
const HEAVY: f64 = 2500.0;
/// Cost of the assembly for a factorisation, in sweeps, and its multiplications that take as long as a sweep takes for a contact.
const ASSEMBLY: f64 = 5.0;
const PRODUCTS: f64 = 600.0;
/// Change of the number of rows from which the cost of a factorisation is looked up again.
const OTHER: f64 = 1.2;
/// How many times as many rows as any problem those of a sheet may have that go to Newton, and the part of its bodies that is at rest.
const SHEET: usize = 10;
const MOST_REST: f64 = 0.9;
/// What a factorisation may cost there, in sweeps.
const SHEET_COST: f64 = 200.0;
/// Error of a start from rest from which its solution at rest is looked for from nothing rather than from there.
const FAR: f64 = 1e-3;
/// Part of the error of a guess that the solution at rest has to leave, to be the better start where it is not the solution itself.
const NEARER: f64 = 0.5;
/// How many sweeps of balls take as long as one of as many general contacts, and the part of others among them up to which these are still such sweeps.
const BALLS: f64 = 4.0;
const FEW: f64 = 0.1;
/// How many sweeps of joints take as long as one of as many general contacts, and the cost of a factorisation as that of a pile from which on many joints are looked at.
const BLOCK: f64 = 0.25;
const MECHANISM: f64 = 20.0;
/// Part of the work on what is asked from which on a contact is to ask for less.
const MUCH: f64 = 1e-2;

/// Bodies in a plane from which on factorisations cost less than those of a pile: their fill grows as n^1.5, but sweeps end sooner than Newton's methods among fewer.
const PLANAR: f64 = 500.0;

/// Rough cost of a factorisation in sweeps of general contacts: assembly, and the fill of three-dimensional piles of n bodies, 36 n² entries each. Compliances
/// hang on a block alone and fill in nothing.
fn newton_cost(p: &MixedProblem, sizes: &mut Sizes) -> f64 {
    let compliances = p.blocks.iter().filter(|b| b.systems[2] != System::Fixed).count();
    let bodies = (p.rigid.len() + p.general.len().saturating_sub(compliances)) as f64;
    let rows = (p.contacts.len() + p.blocks.len()).max(1) as f64;
    let fill = |n: f64| 0.7 * n * n * if p.planar { (PLANAR / n).sqrt().min(1.0) } else { 1.0 };
    let cost = |fill: f64| 5.0 + fill / rows;
    let one_pile = cost(fill(bodies));
    // bodies that share no contact fill in nothing together: one hard mechanism among thousands of balls that lie apart is cheap
    if one_pile <= CHEAP { one_pile } else { cost(sizes.sum(p, fill)) }
}

/// An island with as many of each as the whole is the whole.
fn counts(p: &MixedProblem) -> [usize; 3] {
    [p.rigid.len(), p.contacts.len(), p.blocks.len()]
}

/// How many sweeps of this problem take as long as one of general contacts.
fn light(p: &MixedProblem) -> f64 {
    let all = (p.contacts.len() + p.blocks.len()).max(1) as f64;
    let few = (FEW * all) as usize;
    let others = few.checked_sub(p.blocks.len()).and_then(|few| central::others(p, few)).map(|others| others + p.blocks.len());
    others.map_or(1.0, |others| BALLS / (1.0 + (BALLS - 1.0) * others as f64 / all))
}

/// Whether joints hold many bodies rather than contacts: chains fill in next to nothing, and sweeps get nowhere in their length.
fn is_mechanism(p: &MixedProblem, work: &Workspace) -> bool {
    p.blocks.len() > p.contacts.len() && work.newton_cost(p) > MECHANISM
}

/// Whether factorisations are dear and grains flow from this guess.
fn is_flow(p: &MixedProblem, answer: &mut Answer, work: &mut Workspace) -> bool {
    if work.newton_cost(p) <= CHEAP {
        return false;
    }
    p.velocities(&answer.reactions, &mut answer.velocities);
    sweep::flows(p, answer, &mut work.rows)
}

/// Buffers of all solvers, and what they remember.
///
/// ```
/// let workspace = drystone::numerics::auto::Workspace::default();
/// assert_eq!(workspace.parallel_sweeps(), 0);
/// ```
#[derive(Debug, Default)]
pub struct Workspace {
    /// What is remembered from step to step; part of the state of a simulation.
    pub memory: Memory,
    /// The problem is nearly the one that was solved last: what gave way there may give way as it did.
    pub again: bool,
    sweep: sweep::Workspace,
    newton: newton::Workspace,
    /// an island of this step was polished
    stopped: bool,
    /// which bodies have rows
    rows: Vec<bool>,
    /// sweeps of the problem at hand that take as long as one of general contacts, where factorisations are dear
    light: f64,
    /// how many bodies, contacts and blocks the problem at hand has, and what a factorisation of it costs
    cost: ([usize; 3], f64),
    sizes: Sizes,
    /// what the loads of a step give to the velocities of the bodies
    loads: Vec<[DVec3; 2]>,
    /// the reactions from which a step began
    guess: Reactions,
    /// for parts of a problem
    inner: Option<Box<Workspace>>,
}

impl Workspace {
    /// Takes the price of a solve from the credit.
    fn pay(&mut self, report: &Report, p: &MixedProblem) {
        let cost = self.polish_cost(p);
        if let Some(credit) = &mut self.memory.credit {
            *credit -= report.factorisations as f64 * cost;
        }
    }

    /// Looks up what a factorisation costs, where that is not known; walls and towers fill in less than a pile.
    fn appraise(&mut self, p: &MixedProblem, answer: &mut Answer) {
        let rows = p.contacts.len() + p.blocks.len();
        let (known, now) = (self.memory.price.0 as f64, rows as f64);
        if self.light > 1.0 || self.sweep.is_of_balls() {
            // theirs are piles
            self.memory.price = (0, 0.0);
        } else if known * OTHER < now || now * OTHER < known {
            if answer.velocities.rigid.len() != p.rigid.len() {
                // of a first step, before its sweeps
                p.velocities(&answer.reactions, &mut answer.velocities);
            }
            self.memory.price = (rows, ASSEMBLY + self.newton.operations(p, answer) / (now * PRODUCTS));
        }
    }

    /// Whether what is tried on a pile of balls takes longer than all sweeps that a step may have, at this price of a factorisation.
    fn is_heavy(&self, cost: f64) -> bool {
        self.light > 1.0 && self.light * cost > HEAVY
    }

    /// Whether most bodies are at rest and a factorisation is not too dear.
    fn is_sheet(&mut self, p: &MixedProblem, answer: &mut Answer) -> bool {
        let still = p.resting.iter().filter(|r| **r).count();
        if p.resting.is_empty() || MOST_REST * p.resting.len() as f64 > still as f64 {
            return false;
        }
        self.appraise(p, answer);
        self.memory.price.0 > 0 && self.memory.price.1 <= SHEET_COST
    }

    /// [`newton_cost`], looked up for the problem at hand.
    fn newton_cost(&self, p: &MixedProblem) -> f64 {
        if self.cost.0 == counts(p) { self.cost.1 } else { newton_cost(p, &mut Sizes::default()) }
    }

    /// Cost of a factorisation in sweeps of general contacts.
    fn polish_cost(&self, p: &MixedProblem) -> f64 {
        let (rows, price) = self.memory.price;
        if rows > 0 { price.min(self.newton_cost(p)) } else { self.newton_cost(p) }
    }

    /// A pile that is solved well makes the next steps cheap: the next one that needs it is polished at once.
    fn refill(&mut self, p: &MixedProblem) {
        let cost = self.polish_cost(p);
        if let Some(credit) = self.memory.credit.as_mut().filter(|_| cost <= CHEAP) {
            *credit = credit.max(BANK * cost);
        }
    }

    /// Sweeps so far that several threads shared ([`sweep::Workspace::parallel_sweeps`]).
    pub fn parallel_sweeps(&self) -> u64 {
        self.sweep.parallel_sweeps()
    }
}

/// Why an island is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Task {
    /// Sweeps missed the tolerance or took long.
    Solve,
    /// The answer is good enough, but leaves a pile at rest creeping.
    Polish,
    /// Bodies that were at rest begin to move.
    Rest,
}

impl Auto {
    /// Solves from the reactions in `answer`, with buffers of its own.
    pub fn solve(&self, p: &MixedProblem, answer: &mut Answer) -> Report {
        self.solve_with(p, answer, &mut Workspace::default())
    }

    /// Solves from the reactions in `answer`.
    pub fn solve_with(&self, p: &MixedProblem, answer: &mut Answer, work: &mut Workspace) -> Report {
        let give = Give { contacts: std::mem::take(&mut answer.slack), blocks: std::mem::take(&mut answer.yields) };
        answer.wedged.clear();
        work.cost = (counts(p), newton_cost(p, &mut work.sizes));
        work.light = if work.cost.1 > CHEAP { light(p) } else { 1.0 };
        let auto = self.of_size(p, answer, work);
        if work.again
            && !give.contacts.is_empty()
            && let Some(report) = auto.gives_again(p, answer, &give, work)
        {
            return report;
        }
        let report = match auto.recall(p, answer, work) {
            Recalled::Solved(report) => report,
            Recalled::Open(effort) => {
                let report = auto.step(p, answer, work);
                let begin = auto.begin(p, &report, work);
                report.after(&begin).after(&effort)
            }
        };
        // what gives way as nothing else can be done is bounded by that
        if answer.wedged.is_empty()
            && answer.slack.is_empty()
            && !p.stop.asked()
            && let Some(work) = overasks(p, answer)
        {
            let mut less = grown(&answer.reactions.contacts);
            let asked = p.spare.iter().zip(&answer.reactions.contacts);
            less.iter_mut().zip(asked).for_each(|(less, (part, r))| *less |= -part * r.x > MUCH * work);
            ask_for_less(answer, less);
        }
        if answer.wedged.is_empty() && answer.slack.is_empty() && !p.stop.asked() {
            return auto.unloaded(p, answer, report, work);
        }
        report
    }

    /// Solves once more from nothing where contacts press against each other with what no load has asked for, and keeps what carries less.
    fn unloaded(&self, p: &MixedProblem, answer: &mut Answer, report: Report, work: &mut Workspace) -> Report {
        let carries = carried(p, &answer.reactions);
        if carries <= LOADED * p.q_scaled || !trades(p, answer) {
            return report;
        }
        let before = answer.clone();
        answer.reactions = Answer::for_problem(p).reactions;
        let again = self.step(p, answer, work);
        if again.converged() && answer.wedged.is_empty() && answer.slack.is_empty() && SELF_STRESS * carried(p, &answer.reactions) < carries
        {
            return again.after(&report);
        }
        answer.clone_from(&before);
        report.with_effort(&again)
    }

    /// Settings for a problem of many rows: walls at rest fill in little whatever their size, and sweeps get nowhere in their height.
    fn of_size(&self, p: &MixedProblem, answer: &mut Answer, work: &mut Workspace) -> Self {
        let rows = 3 * p.contacts.len() + p.block_b.len();
        let most = self.max_newton_rows;
        if rows <= most && self.max_newton > 0 && is_mechanism(p, work) {
            work.appraise(p, answer);
            return Self { patience: self.patience * BLOCK * work.polish_cost(p) / work.newton_cost(p), ..*self };
        }
        if rows <= most || rows > SHEET * most || self.max_newton == 0 || !work.is_sheet(p, answer) {
            return *self;
        }
        Self { max_newton_rows: rows, patience: self.patience * work.polish_cost(p) / work.newton_cost(p), ..*self }
    }

    fn step(&self, p: &MixedProblem, answer: &mut Answer, work: &mut Workspace) -> Report {
        let flow = work.memory.flows() && (work.is_heavy(work.newton_cost(p)) || is_flow(p, answer, work));
        let hard = self.hard(p, work);
        let patience = hard.max(if flow { FLOW[usize::from(sweep::is_rough(p))] * work.newton_cost(p) * work.light } else { 0.0 });
        // joints alone are done in a factorisation or two
        let joints = p.contacts.is_empty() && self.goes_to_newton(p) && is_mechanism(p, work);
        let most = if joints { self.max_sweeps.min(patience.ceil() as usize) } else { self.max_sweeps };
        let sweeps = GaussSeidel { piles: self.is_left_to_sweeps(p, work), ..self.patient(p, most, patience, work) };
        let circles = patience >= patches::WORTH && patches::are_sought(p, work);
        let report = if circles { self.in_turns(&sweeps, p, answer, work) } else { sweeps.solve(p, answer, &mut work.sweep) };
        if (flow || !work.memory.flows()) && (!report.converged() || report.iterations as f64 > hard) {
            work.memory.swept(report.converged());
        }
        if p.stop.asked() {
            return report;
        }
        // a factorisation of the whole finds no more than patches have, nor anything better than the solution of a convex problem
        let done = report.converged() && !p.lagged.is_empty();
        let patience = if circles || done { f64::INFINITY } else { patience };
        let task = self.task(p, answer, &report, patience, work);
        let stops = work.memory.stops;
        let Some(task) = task else {
            work.memory.stops = 0;
            return report;
        };
        work.stopped = false;
        let stops_creep = task == Task::Polish && stops == 0 && report.error() <= ENOUGH;
        let mut report = self.by_islands(task, p, answer, work).after(&report);
        if p.stop.asked() {
            return report;
        }
        if report.status == Status::Converged && report.error() > self.tolerance && answer.wedged.is_empty() {
            report = self.closer(p, answer, report, work);
        }
        work.memory.stops = if work.stopped && stops < STOPS { stops + 1 } else { 0 };
        if stops_creep {
            let (left, taken) = left_and_taken(p, answer, &mut work.rows, |_| true);
            work.memory.creeping.judge(left <= CREEP * CREEP * taken);
        }
        report
    }

    /// What misses the tolerance as a whole though no island does: reactions may be the larger part of the scale of one, and loads of another, so that e_s is
    /// within √2 of it.
    fn closer(&self, p: &MixedProblem, answer: &mut Answer, report: Report, work: &mut Workspace) -> Report {
        let before = answer.reactions.clone();
        let closer = Self { tolerance: FRAC_1_SQRT_2 * self.tolerance, ..*self };
        let next = closer.by_islands(Task::Solve, p, answer, work).after(&report);
        if next.error() <= self.tolerance {
            return Report { status: Status::Converged, ..next };
        }
        answer.wedged.clear();
        answer.reactions = before;
        certify(p, answer).report(Report { status: Status::Stalled, ..report.with_effort(&next) })
    }

    /// Each island on its own.
    fn by_islands(&self, task: Task, p: &MixedProblem, answer: &mut Answer, work: &mut Workspace) -> Report {
        let islands = islands(p);
        let (mut iterations, mut factorisations, mut status, mut ended_by) = (0.0, 0, Status::Converged, Method::Sweeps);
        for part in &islands.parts {
            if p.stop.asked() {
                break;
            }
            if task == Task::Rest && !part.rigid.iter().all(|&i| p.resting.get(i as usize) == Some(&true)) {
                continue;
            }
            let Some((mut q, mut own)) = islands.extract(part, p, answer) else {
                status = Status::Stalled;
                continue;
            };
            let r = self.island(task, &mut q, &mut own, work);
            // in sweeps over the whole
            iterations += r.iterations as f64 * (part.contacts.len() + part.blocks.len()) as f64;
            factorisations += r.factorisations;
            status = worse(status, r.status);
            ended_by = ended_by.max(r.ended_by);
            part.insert(p, &own, answer);
        }
        let iterations = (iterations / (p.contacts.len() + p.blocks.len()).max(1) as f64).ceil() as usize;
        certify(p, answer).report(Report { status, ended_by, iterations, factorisations, ..Report::default() })
    }

    fn sweeps(&self, p: &MixedProblem, max_sweeps: usize, work: &Workspace) -> GaussSeidel {
        self.patient(p, max_sweeps, self.hard(p, work), work)
    }

    /// Sweeps that end where they promise to need more than twice their patience.
    fn patient(&self, p: &MixedProblem, max_sweeps: usize, patience: f64, work: &Workspace) -> GaussSeidel {
        let foresight = if self.goes_to_newton(p) { (2.0 * patience) as usize } else { 0 };
        // where factorisations are cheap, they do what sweeps of Coulomb's law as it is leave
        let follow = work.newton_cost(p) > CHEAP;
        GaussSeidel { tolerance: self.tolerance, max_sweeps, accelerate: self.accelerate, turns: false, follow, foresight, piles: false }
    }

    /// Whether a pile that creeps is not polished, or not for now.
    fn is_left_to_sweeps(&self, p: &MixedProblem, work: &Workspace) -> bool {
        let cost = work.polish_cost(p);
        !self.goes_to_newton(p) || cost > CHEAP || work.memory.credit.is_some_and(|credit| credit < POLISH_START * cost)
    }

    /// Sweeps after which a step counts as hard.
    fn hard(&self, p: &MixedProblem, work: &Workspace) -> f64 {
        self.patience * work.newton_cost(p) * work.light
    }

    fn goes_to_newton(&self, p: &MixedProblem) -> bool {
        3 * p.contacts.len() + p.block_b.len() <= self.max_newton_rows && self.max_newton > 0
    }

    /// What is left to do after the sweeps.
    fn task(&self, p: &MixedProblem, answer: &mut Answer, report: &Report, patience: f64, work: &mut Workspace) -> Option<Task> {
        if !self.goes_to_newton(p) || p.contacts.is_empty() && p.blocks.is_empty() {
            return None;
        }
        if !report.converged() || report.iterations as f64 > patience {
            return Some(Task::Solve);
        }
        let (left, taken) = left_and_taken(p, answer, &mut work.rows, |_| true);
        // errors of slow modes hardly show in e_s
        let creep = self.creep(p, left, taken, work);
        let rough = report.error() > ENOUGH;
        let creeps = left > creep * creep * taken && work.polish_cost(p) <= CHEAP;
        let polish = left <= AT_REST * AT_REST * taken && (rough || creeps);
        if !(polish || begins_to_move(p, answer, &mut work.rows)) {
            return None;
        }
        work.appraise(p, answer);
        let cost = work.polish_cost(p);
        let start = cost * if work.is_heavy(cost) { DEAR_ITERATIONS as f64 } else { POLISH_START };
        let credit = work.memory.credit.get_or_insert(if cost <= CHEAP { BANK * cost } else { 0.0 });
        *credit = credit.max((*credit + POLISH_SHARE * (STEP_COST + report.iterations as f64 / work.light)).min(start));
        if polish && work.memory.stops > 0 {
            return Some(Task::Polish);
        }
        let kept = cost > CHEAP && report.error() <= KEPT * self.tolerance;
        (*credit >= start && !(polish && kept)).then_some(if polish { Task::Polish } else { Task::Rest })
    }

    /// Part of the velocity that counts as creeping. Where all is at rest, next to nothing: what creeps goes on by itself, as reactions do not
    /// follow their bodies. But not where polishing has left it creeping, as on a floor that is driven.
    fn creep(&self, p: &MixedProblem, left: f64, taken: f64, work: &mut Workspace) -> f64 {
        if work.memory.stops > 0 {
            return THROWN;
        }
        let all = p.resting.len() == p.rigid.len() && p.resting.iter().all(|&rests| rests);
        let begins = all && left > CREEP * CREEP * taken && left <= REST * REST * taken;
        if begins && !work.memory.creeping.goes_without() { CREEP } else { REST }
    }

    /// Improves the answer of one island.
    fn island(&self, task: Task, p: &mut MixedProblem, answer: &mut Answer, work: &mut Workspace) -> Report {
        let found = residual(p, answer, &answer.velocities);
        let mut report = found.report(Report { status: self.status(&found), ..Report::default() });
        let starts = p.resting.len() == p.rigid.len() && p.resting.iter().all(|&r| r) && begins_to_move(p, answer, &mut work.rows);
        let rows = 3 * p.contacts.len() + p.block_b.len();
        let moves = task == Task::Solve && !starts && work.memory.keeps_moving(rows);
        if starts || !moves && at_rest(p, answer, &mut work.rows) {
            let rest = self.rest(p, answer, &report, starts, work);
            report = rest.1;
            work.memory.rested(rows, rest.0);
            if rest.0 {
                return report;
            }
        }
        if report.converged() && task != Task::Solve {
            return report;
        }
        Tries::new(self, p, answer, work, report, moves).run()
    }

    /// A pile that may be at rest: the convex problem without shifts, whose solution there is one of Coulomb's law, and Newton from there
    /// where some of it slips. True where the better of the two ends the matter; if not, a point at rest that is not yet good enough is a
    /// better start than one that moves.
    fn rest(&self, p: &mut MixedProblem, answer: &mut Answer, found: &Report, starts: bool, work: &mut Workspace) -> (bool, Report) {
        let before = answer.clone();
        let known = std::mem::replace(&mut p.lagged, vec![0.0; p.contacts.len()]);
        let mut solver = ProximalNewton { max_iterations: DEAR_ITERATIONS, ..self.newton() };
        if starts || work.polish_cost(p) <= CHEAP {
            (solver.tolerance, solver.max_iterations) = (self.tolerance.min(ENOUGH), REST_ITERATIONS);
            let error = REST_ERROR.min(BETTER * found.error());
            (solver.overshoot, solver.largest) = ((error / solver.tolerance).clamp(POLISHED, 1.0), REST_PENALTY);
        }
        // far from it an interior point needs half of the factorisations, and goes to rounding where all of it holds
        let first = if starts && found.error() > FAR { newton::interior_point(p, answer, &mut work.newton, ENOUGH) } else { None };
        let carries = SELF_STRESS * carried(p, &before.reactions).max(p.q_scaled);
        let mut near = true;
        let mut rest = Report::default();
        if let Some(first) = &first {
            rest = solver.solve(p, answer, &mut work.newton).after(first);
            near = carried(p, &answer.reactions) > carries;
        }
        if near {
            answer.clone_from(&before);
            rest = solver.solve(p, answer, &mut work.newton).after(&rest);
        }
        // what moves even so was struck
        let open = first.is_none() && rest.error() > ENOUGH && rest.factorisations >= solver.max_iterations;
        if open && at_rest(p, answer, &mut work.rows) {
            let mut own = answer.clone();
            if let Some(convex) = newton::convex(p, &mut own, &mut work.newton, ENOUGH) {
                let better = convex.error() < rest.error();
                rest = if better { convex.after(&rest) } else { rest.with_effort(&convex.after(&rest)) };
                if better {
                    near = false;
                    answer.clone_from(&own);
                }
            }
        }
        p.lagged = known;
        let left = residual(p, answer, &answer.velocities);
        rest = left.report(Report { status: self.status(&left), ended_by: Method::Rest, ..rest });
        work.pay(&rest, p);
        // the nearest reactions at rest have no stress that the guess had not; a moving guess may carry far less than they
        let bounded = starts && near || carried(p, &answer.reactions) <= carries;
        // where it is dear, what is half polished only moves reactions from contact to contact
        let done = work.polish_cost(p) <= CHEAP || starts || rest.error() <= ENOUGH;
        let better = bounded && done && if starts { rests(p, answer, &mut work.rows) } else { rest.error() < found.error() };
        if !(rest.converged() && better) {
            // what slips beside a pile at rest leaves the tries after it less to do from there
            let share = if starts && better { 1.0 } else { NEARER * f64::from(u8::from(!found.converged())) };
            if bounded && rest.error() <= share * found.error() && at_rest(p, answer, &mut work.rows) {
                return (false, rest);
            }
            answer.clone_from(&before);
            return (false, found.with_effort(&rest));
        }
        if rest.error() > ENOUGH && !starts {
            // some of it slips: from here the shift is small
            let whole = self.newton().solve(p, answer, &mut work.newton);
            work.pay(&whole, p);
            rest = Report { ended_by: Method::Newton, ..whole.after(&rest) };
        }
        work.stopped = work.polish_cost(p) <= CHEAP;
        if rest.error() <= ENOUGH && rests(p, answer, &mut work.rows) {
            work.refill(p);
        }
        (true, rest)
    }

    fn status(&self, found: &Residual) -> Status {
        if found.error() <= self.tolerance { Status::Converged } else { Status::Stalled }
    }

    fn newton(&self) -> ProximalNewton {
        let (tolerance, max_iterations) = (self.tolerance, self.max_newton);
        ProximalNewton { tolerance, max_iterations, overshoot: POLISHED, ..ProximalNewton::default() }
    }
}

/// `|D^½ r|`: what reactions carry.
fn carried(p: &MixedProblem, r: &Reactions) -> f64 {
    let mut contacts = p.contacts.iter().zip(&r.contacts).map(|(c, r)| c.local.mean_diagonal() * r.length_squared()).sum::<f64>();
    let spins = p.contacts.iter().zip(&p.spins).zip(&r.spins);
    contacts += spins.map(|((c, spin), p)| spin.mean_diagonal(c) * p.length_squared()).sum::<f64>();
    let block = |b: &Block| p.block_weight(b) * r.blocks[b.first..][..b.rows].iter().map(|x| x * x).sum::<f64>();
    (contacts + p.blocks.iter().map(block).sum::<f64>()).sqrt()
}

/// The status of a whole from those of its parts.
fn worse(a: Status, b: Status) -> Status {
    let rank = |s: Status| match s {
        Status::Converged => 0,
        Status::Lagged => 1,
        Status::BudgetSpent => 2,
        Status::Stalled => 3,
        Status::Inconsistent => 4,
    };
    if rank(b) > rank(a) { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::mixed::{Contact, IMMOBILE, RigidMass};

    #[test]
    fn a_factorisation_of_bodies_that_lie_apart_is_cheap_and_one_of_a_pile_is_dear() {
        let mut p = MixedProblem::default();
        let contact = |body1, body2| Contact { normal: DVec3::Z, tangent: DVec3::X, body1, body2, ..Contact::default() };
        for i in 0..1000 {
            p.rigid.push(RigidMass { inverse_mass: DVec3::ONE, inverse_inertia: [2.5, 2.5, 2.5, 0.0, 0.0, 0.0] });
            p.contacts.push(contact(i, IMMOBILE));
        }
        let mut sizes = Sizes::default();
        assert!((newton_cost(&p, &mut sizes) - 5.7).abs() < 1e-12);
        (1..1000).for_each(|i| p.contacts.push(contact(i, i - 1)));
        assert!((newton_cost(&p, &mut sizes) - (5.0 + 0.7 * 1e6 / 1999.0)).abs() < 1e-9);
    }

    #[test]
    fn sweeps_of_balls_with_a_few_others_among_them_are_cheap_and_those_of_many_others_are_not() {
        let mut p = MixedProblem::default();
        p.rigid.push(RigidMass { inverse_mass: DVec3::ONE, inverse_inertia: [2.5, 2.5, 2.5, 0.0, 0.0, 0.0] });
        let contact = |arm1| Contact { normal: DVec3::Z, tangent: DVec3::X, arm1, body1: 0, body2: IMMOBILE, ..Contact::default() };
        let mut with = |others: usize| {
            p.contacts.clear();
            p.contacts.extend((0..100).map(|k| contact(if k % 7 == 3 && k / 7 < others { DVec3::new(0.5, 0.0, -1.0) } else { -DVec3::Z })));
            light(&p)
        };
        assert_eq!([0, 11, 14].map(&mut with), [4.0, 1.0, 1.0]);
        assert!((with(10) - 4.0 / 1.3).abs() < 1e-15 && (with(1) - 4.0 / 1.03).abs() < 1e-15);
    }
}
