//! The one-step problem of the running step, and which entity owns which rows.

use super::bonds::BondRows;
use super::joints::JointRows;
use super::locked::{Held, LeftOut};
use super::touched::Touched;
use crate::cluster::adopted::SystemsWork;
use crate::model::birth::Rank;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::auto::{Auto, Workspace};
use crate::numerics::impacts::{Ledger, mobile_body, share};
use crate::numerics::inner::{DisjointSets, Sharing};
use crate::numerics::mixed::{Answer, IMMOBILE, MAX_ROWS, MixedProblem, Planes, SYSTEMS, System, Twist, Velocities};
use crate::numerics::residual::{contact_misfit, residual};
use crate::numerics::{Report, Status};
use crate::topology::graph::{Colouring, Group};
use bevy_ecs::prelude::*;
use glam::DVec3;

/// A row whose constant part holds velocities from before the impact: restitution.
///
/// ```
/// assert_eq!(drystone::assembly::problem::Rebound::default().part, glam::DVec3::ZERO);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rebound {
    /// Number of the contact.
    pub contact: u32,
    /// Number of its pair in the order of the query.
    pub source: u32,
    /// Constant part by restitution (n, t1, t2), m/s: minus the speed of parting that is asked for, and the tangential velocity that
    /// would come back.
    pub part: DVec3,
    /// Constant part of the normal row without restitution (m/s), and the share of it that feeds overlap back.
    pub closing: [f64; 2],
    /// Constant part that matches velocities at the end of the step where arms are those of its middle (m/s).
    pub turned: DVec3,
    /// Whether it ends an impact that began in the step before.
    pub ends: bool,
    /// Whether it is held to the energy that was taken.
    pub limited: bool,
}

/// Misfit of a contact in a missed step that no rounding explains, however small the tolerance.
const GROSS: f64 = 1e-4;

/// Where a body is, and its index among the mobile ones or [`IMMOBILE`].
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its centre of mass (m).
    pub position: DVec3,
    /// Its index.
    pub row: u32,
}

/// The one-step problem as flat arrays, its solution, and the maps back to entities.
///
/// ```
/// assert!(drystone::assembly::problem::StepProblem::default().problem.contacts.is_empty());
/// ```
#[derive(Resource, Debug, Default)]
pub struct StepProblem {
    /// Rows, masses, free velocities.
    pub problem: MixedProblem,
    /// Reactions and velocities; before the solve, the first guess.
    pub answer: Answer,
    /// Velocities at the start of the step, in the rows of the problem.
    pub before: Velocities,
    /// The same, turned as the gyroscopic torque of the step turns them: where the work of its impulses begins.
    pub(crate) spun: Velocities,
    /// Those before, with what the rebounds of the step give to bodies; empty without any.
    thrown: Vec<Twist>,
    /// Part of `b` that feeds overlap back, per contact (m/s, ≤ 0).
    pub feedback: Vec<f64>,
    /// Part of `b` that is due to a place which goes on round a rim, per contact (m/s; that of the normal ≤ 0).
    pub(super) moved: Vec<DVec3>,
    /// Rows with restitution, in the order of the pairs.
    pub rebounds: Vec<Rebound>,
    /// Energy that each contact took in the step before (J).
    pub taken: Vec<f64>,
    /// Energy that impacts of the step made from nothing (J).
    pub gained: f64,
    ledger: Ledger,
    work: Vec<f64>,
    /// The bodies of each joint, and its work (J).
    joint_work: Vec<([u32; 2], f64)>,
    /// Energy of adopted systems and the work done on them.
    pub(crate) systems: SystemsWork,
    /// What gravity adds to a velocity in a step, `h g` (m/s).
    pub weight: DVec3,
    /// Whether a pair of the step has restitution, or friction that knows the velocity before.
    pub lively: bool,
    /// Whether impacts take two steps, as in gap-aware scenes.
    pub two_steps: bool,
    /// Velocity of immobile bodies, as part of `u`, per contact.
    pub driven: Vec<DVec3>,
    /// The same per row of the joints, as part of `b`.
    pub(crate) carried: Vec<f64>,
    /// Part of `b` that asks gaps to close, per row (m/s).
    pub(super) fed: Vec<f64>,
    /// Joints with ways around.
    pub(super) sharing: Sharing,
    /// Blocks of bonds, and what each belongs to.
    #[doc(hidden)]
    pub bonded: std::ops::Range<usize>,
    pub(super) bonds: Vec<BondRows>,
    /// First block of the forces of the user; those after it are too.
    #[doc(hidden)]
    pub forced: usize,
    /// After the step: `H v⁺` of each contact (m/s).
    pub after: Vec<DVec3>,
    /// Centre and row of the body in each slot: all that most rows ask of it.
    #[doc(hidden)]
    pub places: Vec<Place>,
    /// Without gravity: what the largest reaction of the step before gives the body in each slot (m/s²).
    pub(super) pressed: Vec<f64>,
    /// The speed by which contacts are judged, `h g`, or what stands for it without gravity (m/s).
    pub(super) judged: f64,
    /// Whether a body has locked axes.
    pub(crate) locked: bool,
    /// Where these keep bodies in planes.
    pub(super) planes: Planes,
    /// Contact pairs with rows, in the order of the query.
    pub groups: Vec<Group>,
    /// Those that each of several threads has found.
    pub(crate) pieces: Vec<Vec<Group>>,
    /// First contact of each group of `groups`.
    pub first_contact: Vec<u32>,
    /// Source, first contact and number of points of the groups of the pass before, and its reactions.
    pub last: (Vec<[u32; 3]>, Vec<DVec3>),
    /// Its moments.
    pub(super) last_spins: Vec<DVec3>,
    /// Interactions, then bonds, as they were made.
    pub(super) order: Vec<(Rank, Entity)>,
    /// Interaction of each block, and which of its rows the block has.
    pub joints: Vec<JointRows>,
    /// Those of the pass before.
    pub(crate) last_joints: Vec<JointRows>,
    /// Bodies that joints link to one which something else meets.
    pub(super) touched: Touched,
    /// Places where locked axes hold what would have to move.
    pub held: Vec<Held>,
    /// Rows of joints that locked axes leave empty.
    pub(crate) left_out: Vec<LeftOut>,
    /// What the solver said.
    pub report: Report,
    /// Whether rebounds were dropped that left the step without a solution.
    pub dropped: bool,
    /// Whether overlaps were kept whose feedback did.
    pub kept: bool,
    /// By how much Coulomb's law is missed (e_s) where its shift was taken as known.
    pub lagged: Option<f64>,
    /// Colours of the contact graph.
    pub colouring: Colouring,
    /// Why the problem could not be stated, if so.
    pub error: Option<String>,
}

impl StepProblem {
    /// Slots of the pairs that cannot keep out of each other in a step without a solution, and the largest speed (m/s) by which one of
    /// them gives way; empty in a step that has one.
    pub fn squeezed(&self) -> (Vec<[u32; 2]>, f64) {
        let slack = &self.answer.slack;
        let worst = slack.iter().copied().fold(0.0, f64::max);
        let mut pairs: Vec<[u32; 2]> = Vec::new();
        for (group, &first) in self.groups.iter().zip(&self.first_contact) {
            let own = slack.get(first as usize..(first + group.points) as usize).unwrap_or_default();
            // the rest of an island gives way by rounding
            if own.iter().any(|&s| s > 1e-3 * worst) {
                pairs.push(group.slots);
            }
        }
        pairs.sort_unstable();
        (pairs, worst)
    }

    /// How far the stop or rope of a block of one row is from holding (m, or m of its arm): what its row asks to close within the step of `h` (s).
    pub fn room(&self, block: usize, h: f64) -> Option<f64> {
        let block = &self.problem.blocks[block];
        let single = block.rows == 1 && block.set == AdmissibleSet::NonNegative;
        single.then(|| h * (self.problem.block_b[block.first] - self.carried[block.first]))
    }

    /// Velocity of contact k at the start of the step (n, t1, t2), driven bodies included (m/s).
    pub fn velocity_before(&self, k: usize) -> DVec3 {
        self.velocity_from(&self.before.rigid, k)
    }

    /// Velocity of contact k (n, t1, t2) at these velocities, driven bodies included (m/s).
    fn velocity_from(&self, start: &[Twist], k: usize) -> DVec3 {
        let c = &self.problem.contacts[k];
        self.problem.contact_velocity(c, start) - c.b + self.driven[k]
    }

    /// Velocity at which bodies come to touch in the step at contact k, whose gap it closes: that at its start, or what a rebound of the
    /// same step gives them.
    pub fn velocity_of_arrival(&self, k: usize) -> DVec3 {
        let before = self.velocity_before(k);
        if self.thrown.is_empty() {
            return before;
        }
        let c = &self.problem.contacts[k];
        let thrown = self.problem.contact_velocity(c, &self.thrown) - c.b + self.driven[k];
        if thrown.x < before.x { thrown } else { before }
    }

    /// Works out what every rebound that ends an impact in this step gives to its two bodies, each by itself: a body that is thrown at
    /// another within the step arrives there with what it was thrown with, not with the share that the rows of both leave it.
    pub fn throw(&mut self) {
        self.thrown.clear();
        if !self.rebounds.iter().any(|r| r.ends) {
            return;
        }
        let mut thrown = std::mem::take(&mut self.thrown);
        thrown.extend_from_slice(&self.before.rigid);
        // sums in the order of the colours: that of the pairs is another one after a resumption
        let mut rebounds = self.rebounds.clone();
        rebounds.sort_unstable_by_key(|r| r.contact);
        for pair in rebounds.chunk_by(|a, b| a.source == b.source) {
            let ending = || pair.iter().filter(|r| r.ends && self.answer.reactions.contacts[r.contact as usize].x > 0.0);
            let share = 1.0 / ending().count().max(1) as f64;
            for rebound in ending() {
                let (k, masses) = (rebound.contact as usize, &self.problem.rigid);
                let c = &self.problem.contacts[k];
                let ends = [(c.body1, c.arm1, c.normal), (c.body2, c.arm2, -c.normal)];
                let mobile = || ends.iter().filter_map(|&(b, arm, n)| Some((b as usize, masses.get(b as usize)?, arm.cross(n), n)));
                let mobility: f64 = mobile().map(|(_, m, turn, n)| n.dot(m.inverse_mass * n) + turn.dot(m.inertia_times(turn))).sum();
                let impulse = share * (-rebound.part.x - self.velocity_before(k).x).max(0.0) / mobility;
                for (body, mass, turn, n) in mobile().filter(|_| mobility > 0.0) {
                    thrown[body].linear += impulse * mass.inverse_mass * n;
                    thrown[body].angular += impulse * mass.inertia_times(turn);
                }
            }
        }
        self.thrown = thrown;
    }

    /// Work that contact k does on its bodies in the step, driven ones included: `rᵀ (u⁺ + u)/2` (J), from the velocities u at which
    /// its impulse begins.
    ///
    /// The gyroscopic torque does none in free motion, but it turns the velocities that an impulse meets: in the mean of those at the
    /// start and at the end of the step it would give an impact what nobody accounts for.
    fn work_from(&self, start: &[Twist], k: usize) -> f64 {
        let c = &self.problem.contacts[k];
        let mean = 0.5 * (self.problem.contact_velocity(c, &self.answer.velocities.rigid) + self.problem.contact_velocity(c, start));
        let work = self.answer.reactions.contacts[k].dot(mean - c.b + self.driven[k]);
        work + self.turning_work(start, k).map_or(0.0, |[work, _]| work)
    }

    /// Moment on body 1 at contact k (N m s, world).
    pub fn moment(&self, k: usize) -> DVec3 {
        match (self.problem.spins.get(k), self.answer.reactions.spins.get(k)) {
            (Some(spin), Some(&p)) if p != DVec3::ZERO => self.problem.contacts[k].to_world(spin.levers() * p),
            _ => DVec3::ZERO,
        }
    }

    /// Work that the moment of contact k does on its bodies from these velocities on, driven ones included, and the share of the driven ones
    /// (J).
    pub fn turning_work(&self, start: &[Twist], k: usize) -> Option<[f64; 2]> {
        let (spin, &p) = (self.problem.spins.get(k)?, self.answer.reactions.spins.get(k)?);
        let c = &self.problem.contacts[k];
        let mean = 0.5 * (spin.velocity(c, &self.answer.velocities.rigid) + spin.velocity(c, start));
        Some([p.dot(mean), p.dot(spin.b)])
    }

    /// Asks less of the rebounds in islands that would get more energy back than their impacts took: what is too much, times `eager`, or
    /// nothing at all if `last`. True if one was cut.
    ///
    /// Newton's law knows the speed of an impact alone: a light body between two others would push a heavy one aside at any
    /// price. See [`crate::numerics::impacts`].
    pub fn cut_rebounds(&mut self, eager: f64, last: bool) -> bool {
        self.enter_work();
        let mut ledger = std::mem::take(&mut self.ledger);
        ledger.start_round();
        let mut cut = false;
        // the pairs that give more than they took; where an island has none, all of its rebounds
        for all in [false, true] {
            let mut first = 0;
            while first < self.rebounds.len() {
                let source = self.rebounds[first].source;
                let end = first + self.rebounds[first..].iter().take_while(|r| r.source == source).count();
                let pair = &self.rebounds[first..end];
                let sum = |x: &[f64]| pair.iter().map(|r| x[r.contact as usize]).sum::<f64>();
                let (given, taken) = (sum(&self.work), sum(&self.taken));
                let body = mobile_body(&self.problem.contacts[pair[0].contact as usize]);
                let asks = pair.iter().any(|r| r.limited && r.part != DVec3::ZERO) && (last || (given > taken) != all);
                if let Some(body) = body.filter(|_| asks)
                    && ledger.exceeds(body)
                    && !(all && ledger.is_marked(body))
                {
                    cut = true;
                    // what the island has too much is enough to take away, and what was there before the rebound is not its own: of the
                    // velocities that the work is reckoned from, since by others each cut falls short, and the last takes it all
                    let met = |r: &Rebound| self.velocity_from(&self.spun.rigid, r.contact as usize).x;
                    let rests = pair.iter().filter(|r| r.part.x < 0.0).map(|r| (met(r) / r.part.x).powi(2));
                    let rest = if self.two_steps { rests.fold(1.0, f64::min) } else { 0.0 };
                    let floor = if all { f64::NEG_INFINITY } else { taken };
                    let allowed = if self.two_steps { floor.max(given - eager * ledger.excess(body)) } else { taken };
                    self.scale_rebounds(first..end, if last { 0.0 } else { share(given, allowed, rest) }, |r| r.limited);
                    if !all {
                        ledger.mark(body);
                    }
                }
                first = end;
            }
        }
        self.ledger = ledger;
        cut
    }

    /// Asks for no rebound where bodies that hang together by contacts and joints cannot keep out of each other, or miss their law by what
    /// no rounding explains: friction may hold bodies so that they cannot part as fast as restitution asks, although nothing
    /// drives them together. True where one was dropped.
    pub fn drop_rebounds(&mut self, tolerance: f64) -> bool {
        let (p, slack) = (&self.problem, &self.answer.slack);
        let mut islands = DisjointSets::new(p.rigid.len());
        let joints = p.blocks.iter().map(|block| rigid_ends(&block.systems));
        for [a, b] in joints.chain(p.contacts.iter().map(|c| [c.body1, c.body2])).filter(|ends| !ends.contains(&IMMOBILE)) {
            islands.join(a, b);
        }
        let mut squeezed = vec![false; p.rigid.len()];
        for (k, c) in p.contacts.iter().enumerate() {
            let wrong = slack.get(k).is_some_and(|&s| s > 0.0) || contact_misfit(p, &self.answer, k) > GROSS.max(tolerance);
            if let Some(body) = mobile_body(c).filter(|_| wrong) {
                squeezed[islands.root(body) as usize] = true;
            }
        }
        let mut dropped = false;
        for i in 0..self.rebounds.len() {
            let rebound = &self.rebounds[i];
            let body = mobile_body(&self.problem.contacts[rebound.contact as usize]).filter(|_| rebound.part != DVec3::ZERO);
            if body.is_some_and(|body| squeezed[islands.root(body) as usize]) {
                self.scale_rebounds(i..i + 1, 0.0, |_| true);
                dropped = true;
            }
        }
        if dropped {
            // reactions of bodies that give way are no guess
            for (r, c) in self.answer.reactions.contacts.iter_mut().zip(&self.problem.contacts) {
                if mobile_body(c).is_some_and(|body| squeezed[islands.root(body) as usize]) {
                    *r = DVec3::ZERO;
                }
            }
        }
        dropped
    }

    /// Tells the solver what rows ask for beyond that bodies do not approach: overlaps that are fed back, and rebounds.
    pub fn state_spare(&mut self) {
        let spare = &mut self.problem.spare;
        spare.clear();
        spare.extend(self.feedback.iter().zip(&self.moved).map(|(fed_back, moved)| fed_back + moved.x));
        for rebound in &self.rebounds {
            let part = &mut spare[rebound.contact as usize];
            *part = part.min(rebound.part.x);
        }
    }

    /// Asks for none of it where that wedges bodies which friction holds; true where there was any.
    pub fn release_wedged(&mut self) -> bool {
        if self.answer.wedged.is_empty() {
            return false;
        }
        let wedged = std::mem::take(&mut self.answer.wedged);
        let is_wedged = |k: usize| wedged.get(k) == Some(&true);
        for i in 0..self.rebounds.len() {
            let k = self.rebounds[i].contact as usize;
            if is_wedged(k) && self.problem.spare[k] < 0.0 {
                self.dropped |= self.rebounds[i].part.x < 0.0;
                self.rebounds[i].turned -= std::mem::take(&mut self.moved[k]);
                self.scale_rebounds(i..i + 1, 0.0, |_| true);
                let [closing, fed_back] = &mut self.rebounds[i].closing;
                *closing -= std::mem::take(fed_back);
            }
        }
        for k in (0..wedged.len()).filter(|&k| is_wedged(k)) {
            self.kept |= self.feedback[k] < 0.0;
            let b = &mut self.problem.contacts[k].b;
            *b -= std::mem::take(&mut self.moved[k]);
            b.x -= std::mem::take(&mut self.feedback[k]);
            self.problem.spare[k] = 0.0;
        }
        true
    }

    fn scale_rebounds(&mut self, range: std::ops::Range<usize>, share: f64, of: impl Fn(&Rebound) -> bool) {
        for rebound in self.rebounds[range].iter_mut().filter(|r| of(r)) {
            let k = rebound.contact as usize;
            rebound.part *= share;
            let [closing, fed_back] = rebound.closing;
            let parts = rebound.part.x < closing.min(0.0);
            self.problem.contacts[k].b =
                self.driven[k] + rebound.turned + rebound.part.with_x(if parts { rebound.part.x } else { closing });
            self.feedback[k] = if parts { 0.0 } else { fed_back };
        }
    }

    /// What was taken in the step before is for the rebounds that end its impacts; without them it is lost.
    pub fn forget_unless_ending(&mut self) {
        if !self.rebounds.iter().any(|r| r.ends) {
            self.taken.fill(0.0);
        }
    }

    /// After the step: the energy that its impacts made from nothing, relative to a `tolerance` of the solver; and where impacts take
    /// two steps, what each contact took, for the rebounds of the next one, in place of what it took in the last.
    ///
    /// A rebound spends what was taken before. What is left of that in an island, with what its other contacts take now, is all
    /// that the next rebounds may spend: an impact that a rebound made does not pay for another.
    pub fn settle(&mut self, tolerance: f64) {
        self.gained = 0.0;
        let keeps = self.two_steps && self.lively;
        if self.rebounds.is_empty() && !keeps {
            return;
        }
        self.enter_work();
        let contacts = &self.problem.contacts;
        let bodies = self.rebounds.iter().filter_map(|r| mobile_body(&contacts[r.contact as usize]));
        self.gained = self.ledger.gained(bodies, tolerance);
        if !keeps {
            return;
        }
        for (taken, work) in self.taken.iter_mut().zip(&self.work) {
            *taken = (-work).max(0.0);
        }
        for rebound in self.rebounds.iter().filter(|r| r.ends) {
            self.taken[rebound.contact as usize] = 0.0;
        }
        self.ledger.limit(contacts, &mut self.taken);
    }

    /// Takes the De Saxcé shift of each contact from the velocities at the start of the step, as the law has them: against those before an
    /// impact, where it looks at these (Frémond's law, `e_t`).
    pub fn lag_shifts(&mut self) {
        let mut shifts = std::mem::take(&mut self.problem.lagged);
        shifts.clear();
        shifts.extend(self.problem.contacts.iter().map(|c| c.shift(self.problem.contact_velocity(c, &self.before.rigid))));
        self.problem.lagged = shifts;
    }

    /// Takes less of the shift where contacts slip less at the end of the step than at its start, which would let bodies approach by the
    /// difference; true where some do.
    pub fn shrink_shifts(&mut self) -> bool {
        let mut slower = false;
        let mut shifts = std::mem::take(&mut self.problem.lagged);
        for (s, c) in shifts.iter_mut().zip(&self.problem.contacts) {
            let after = c.shift(self.problem.contact_velocity(c, &self.answer.velocities.rigid));
            slower |= after < *s;
            *s = s.min(after);
        }
        self.problem.lagged = shifts;
        slower
    }

    /// Notes by how much the answer misses Coulomb's law.
    pub fn note_lag(&mut self) {
        self.lagged = (self.report.status == Status::Lagged).then_some(self.report.e_s);
        if !self.problem.lagged.is_empty() {
            let shifts = std::mem::take(&mut self.problem.lagged);
            self.lagged = Some(residual(&self.problem, &self.answer, &self.answer.velocities).e_s);
            self.problem.lagged = shifts;
        }
    }

    /// The work of joints, from the velocities at which impulses begin, as that of contacts.
    fn enter_joints(&mut self) {
        let p = &self.problem;
        // motors, stops and friction are loads that no impact pays for
        for block in p.blocks.iter().filter(|b| b.set == AdmissibleSet::Free) {
            let (n, first) = (block.rows, block.first);
            let [mut after, mut before] = [[0.0; MAX_ROWS]; 2];
            p.block_rate(block, &self.answer.velocities, &mut after[..n]);
            p.block_rate(block, &self.spun, &mut before[..n]);
            let row = |i: usize| self.answer.reactions.blocks[first + i] * (0.5 * (after[i] + before[i]) + self.carried[first + i]);
            self.joint_work.push((rigid_ends(&block.systems), (0..n).map(row).sum()));
        }
    }

    fn enter_work(&mut self) {
        let mut work = std::mem::take(&mut self.work);
        work.clear();
        let contacts = 0..self.problem.contacts.len();
        // an impact of one step is an impulse, after the loads; one of two steps gives back what it took while loads do work
        let start = if self.two_steps { &self.spun.rigid } else { &self.problem.free.rigid };
        work.extend(contacts.map(|k| self.work_from(start, k)));
        self.work = work;
        self.joint_work.clear();
        if self.two_steps {
            // an impact of one step ends with velocities that match the arms of its end: what joints do then is of second order
            self.enter_joints();
        }
        let (p, answer) = (&self.problem, &self.answer);
        self.ledger.gather(p.rigid.len(), &p.contacts, &answer.reactions.contacts, &self.work, &self.taken, &self.joint_work);
        if self.two_steps {
            self.ledger.lift(&p.rigid, &self.before.rigid, &answer.velocities.rigid, 0.5 * self.weight);
        }
    }
}

/// The bodies that a block acts on, [`IMMOBILE`] where that is no body.
fn rigid_ends(&[one, two, _]: &[System; SYSTEMS]) -> [u32; 2] {
    [one, two].map(|system| if let System::Rigid(i) = system { i } else { IMMOBILE })
}

/// The solver and its buffers.
///
/// ```
/// let mut solver = drystone::assembly::problem::Solver::default();
/// solver.settings.tolerance = 1e-6;
/// ```
#[derive(Resource, Debug, Default)]
pub struct Solver {
    /// Settings.
    pub settings: Auto,
    /// Buffers that live as long as the simulation.
    pub workspace: Workspace,
}
