//! The one-step problem of the running step, and which entity owns which rows.

use super::locked::{Held, LeftOut};
use crate::numerics::auto::{Auto, Workspace};
use crate::numerics::mixed::{Answer, IMMOBILE, MixedProblem, Velocities};
use crate::numerics::residual::residual;
use crate::numerics::{Report, Status};
use crate::topology::graph::{Colouring, Group};
use bevy_ecs::prelude::*;
use glam::DVec3;

/// A row that throws bodies apart after an impact.
///
/// ```
/// assert_eq!(drystone::assembly::problem::Rebound::default().speed, 0.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rebound {
    /// Number of the contact.
    pub contact: u32,
    /// Number of its pair in the order of the query.
    pub source: u32,
    /// Speed of parting that is asked for (m/s).
    pub speed: f64,
    /// Constant part of the normal row without rebound (m/s), and the share of it that feeds overlap back.
    pub closing: [f64; 2],
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
    /// Part of `b` that feeds overlap back, per contact (m/s, ≤ 0).
    pub feedback: Vec<f64>,
    /// Rows that part bodies after an impact, in the order of the pairs.
    pub rebounds: Vec<Rebound>,
    /// Energy that each contact took in the step before (J).
    pub taken: Vec<f64>,
    islands: Islands,
    /// What gravity adds to a velocity in a step, `h g` (m/s).
    pub weight: DVec3,
    /// Whether a pair of the step has restitution.
    pub lively: bool,
    /// Velocity of immobile bodies, as part of `u`, per contact.
    pub driven: Vec<DVec3>,
    /// Contact pairs with rows, in the order of the query.
    pub groups: Vec<Group>,
    /// First contact of each group of `groups`.
    pub first_contact: Vec<u32>,
    /// Source, first contact and number of points of the groups of the pass before, and its reactions.
    pub last: (Vec<[u32; 3]>, Vec<DVec3>),
    /// Joint of each block, and which of its three rows the block has.
    pub joints: Vec<(Entity, [bool; 3])>,
    /// Places where locked axes hold what would have to move.
    pub held: Vec<Held>,
    /// Rows of joints that locked axes leave empty.
    pub(crate) left_out: Vec<LeftOut>,
    /// What the solver said.
    pub report: Report,
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

    /// Velocity of contact k at the start of the step (n, t1, t2), driven bodies included (m/s).
    pub fn velocity_before(&self, k: usize) -> DVec3 {
        let c = &self.problem.contacts[k];
        self.problem.contact_velocity(c, &self.before.rigid) - c.b + self.driven[k]
    }

    /// Work that contact k does on its bodies in the step, driven ones included: `rᵀ (u⁺ + u⁻)/2` (J).
    pub fn contact_work(&self, k: usize) -> f64 {
        let c = &self.problem.contacts[k];
        let after = self.problem.contact_velocity(c, &self.answer.velocities.rigid) - c.b + self.driven[k];
        0.5 * self.answer.reactions.contacts[k].dot(after + self.velocity_before(k))
    }

    /// Asks less of the rebounds in islands that would get more energy back than their impacts took; nothing at all if `last`.
    /// True if one was cut.
    ///
    /// Newton's law knows the speed of an impact alone: a light body between two others would push a heavy one aside at any
    /// price. Impulses that pass through a body do work of opposite signs at its contacts, so that only the sum over all
    /// bodies that touch has a meaning.
    pub fn cut_rebounds(&mut self, last: bool) -> bool {
        let mut islands = std::mem::take(&mut self.islands);
        islands.gather(self);
        let mut cut = false;
        // the pairs that give more than they took; where an island has none, all of its rebounds
        for all in [false, true] {
            let mut first = 0;
            while first < self.rebounds.len() {
                let source = self.rebounds[first].source;
                let end = first + self.rebounds[first..].iter().take_while(|r| r.source == source).count();
                let contacts = || self.rebounds[first..end].iter().map(|r| r.contact as usize);
                let given: f64 = contacts().map(|k| self.contact_work(k)).sum();
                let taken: f64 = contacts().map(|k| self.taken[k]).sum();
                let body = contacts().next().and_then(|k| self.mobile_body(k));
                if (given > taken) != all && islands.exceeds(body, all) {
                    cut = true;
                    let share = if last { 0.0 } else { (taken / given).clamp(0.0, 1.0).sqrt().max(0.5) };
                    self.scale_rebounds(first..end, share);
                }
                first = end;
            }
        }
        self.islands = islands;
        cut
    }

    fn scale_rebounds(&mut self, range: std::ops::Range<usize>, share: f64) {
        for rebound in &mut self.rebounds[range] {
            let k = rebound.contact as usize;
            rebound.speed *= share;
            let [closing, fed_back] = rebound.closing;
            self.problem.contacts[k].b.x = self.driven[k].x + closing.min(-rebound.speed);
            self.feedback[k] = if -rebound.speed < closing { 0.0 } else { fed_back };
        }
    }

    /// After the step: what each contact took, for the rebounds of the next one, in place of what it took in the last.
    ///
    /// A rebound spends what was taken before. What is left of that in an island, with what its other contacts take now, is all
    /// that the next rebounds may spend: an impact that a rebound made does not pay for another.
    pub fn deposit(&mut self) {
        if self.rebounds.is_empty() {
            self.taken.fill(0.0);
        }
        let mut islands = std::mem::take(&mut self.islands);
        islands.gather(self);
        for k in 0..self.taken.len() {
            self.taken[k] = (-self.contact_work(k)).max(0.0);
        }
        for i in 0..self.rebounds.len() {
            let k = self.rebounds[i].contact as usize;
            self.taken[k] = 0.0;
        }
        islands.limit(self);
        self.islands = islands;
    }

    /// Takes the De Saxcé shift of each contact from the velocities at the start of the step.
    pub fn lag_shifts(&mut self) {
        let mut shifts = std::mem::take(&mut self.problem.lagged);
        shifts.clear();
        shifts.extend(self.problem.contacts.iter().enumerate().map(|(k, c)| c.shift(self.velocity_before(k))));
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

    fn mobile_body(&self, k: usize) -> Option<u32> {
        let c = &self.problem.contacts[k];
        [c.body1, c.body2].into_iter().find(|&b| b != IMMOBILE)
    }
}

/// Bodies that press on each other, with the energy that passes through their contacts.
#[derive(Debug, Default)]
struct Islands {
    /// Of each mobile body, one of its island; itself for the one that stands for all.
    parent: Vec<u32>,
    /// Energy given by the contacts of an island in this step, less what they took in the last, and the sum of both sizes (J).
    excess: Vec<[f64; 2]>,
}

/// Relative excess of energy that is rounding.
const ROUNDING: f64 = 1e-9;

impl Islands {
    fn gather(&mut self, step: &StepProblem) {
        let bodies = step.problem.rigid.len();
        self.parent.clear();
        self.parent.extend(0..bodies as u32);
        self.excess.clear();
        self.excess.resize(bodies, [0.0; 2]);
        let pressed = |k: &usize| step.answer.reactions.contacts[*k] != DVec3::ZERO;
        for c in (0..step.problem.contacts.len()).filter(pressed).map(|k| &step.problem.contacts[k]) {
            if c.body1 != IMMOBILE && c.body2 != IMMOBILE {
                let (a, b) = (self.root(c.body1), self.root(c.body2));
                self.parent[a.max(b) as usize] = a.min(b);
            }
        }
        for k in 0..step.problem.contacts.len() {
            let Some(body) = step.mobile_body(k) else { continue };
            let root = self.root(body) as usize;
            let work = step.contact_work(k);
            self.excess[root][0] += work - step.taken[k];
            self.excess[root][1] += work.abs() + step.taken[k].abs();
        }
        // a step moves by h v⁺, not by the mean velocity: what that lifts is energy too
        for (body, mass) in step.problem.rigid.iter().enumerate() {
            let inverse = mass.inverse_mass;
            let change = step.before.rigid[body].linear - step.answer.velocities.rigid[body].linear;
            let each = |i: usize| if inverse[i] > 0.0 { 0.5 * step.weight[i] * change[i] / inverse[i] } else { 0.0 };
            let root = self.root(body as u32) as usize;
            self.excess[root][0] += each(0) + each(1) + each(2);
        }
    }

    /// Scales what contacts take down to what is left in their islands.
    fn limit(&mut self, step: &mut StepProblem) {
        self.excess.iter_mut().for_each(|e| e[1] = 0.0);
        for k in 0..step.taken.len() {
            if let Some(body) = step.mobile_body(k) {
                let root = self.root(body) as usize;
                self.excess[root][1] += step.taken[k];
            }
        }
        for k in 0..step.taken.len() {
            if let Some(body) = step.mobile_body(k) {
                let root = self.root(body) as usize;
                let [excess, sum] = self.excess[root];
                let left = (-excess).max(0.0);
                if sum > left {
                    step.taken[k] *= left / sum;
                }
            }
        }
    }

    fn root(&mut self, body: u32) -> u32 {
        let mut at = body;
        while self.parent[at as usize] != at {
            let above = self.parent[at as usize];
            self.parent[at as usize] = self.parent[above as usize];
            at = above;
        }
        at
    }

    /// Whether the island of a body has energy from nowhere; with `whole`, one in which nothing was cut so far.
    fn exceeds(&mut self, body: Option<u32>, whole: bool) -> bool {
        let Some(body) = body else { return false };
        let root = self.root(body) as usize;
        let [excess, size] = self.excess[root];
        let exceeds = excess > ROUNDING * size;
        if exceeds && !whole {
            self.excess[root][1] = f64::NEG_INFINITY;
        }
        exceeds && !(whole && size == f64::NEG_INFINITY)
    }
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
