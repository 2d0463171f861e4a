//! Proximal semismooth Newton in body space: the escalation for stuck, hyperstatic piles.
//!
//! The inner problem is the augmented Lagrangian of the convexified contact law, minimised by Newton with a line search on
//! φ; the outer loop moves the proximal centre and the shift, whose fixed point is Coulomb's law itself (method of
//! multipliers: Rockafellar 1976; shift: De Saxcé & Feng 1998; Acary, Cadoux, Lemaréchal, Malick 2011). The matrix has
//! the bodies as unknowns, so redundant contacts (rank of W far below its order) cost nothing.

use super::mixed::{Answer, Contact, MAX_DOFS, MixedProblem, Reactions, Velocities};
use super::{Report, Status, residual};
use crate::algebra::{dense::dot, sparse::BlockSymmetric};
use bodies::Bodies;
use glam::DVec3;
use multipliers::{MAX_PENALTY, Multipliers, Point, Posed};
pub(super) use point::{ProximalPoint, giving_way};
use space::BodySpace;
pub(super) use wandering::Wandering;

mod bodies;
mod interior;
pub(super) mod multipliers;
mod point;
pub(super) mod space;
mod wandering;

/// Settings of the proximal Newton solver.
///
/// ```
/// use drystone::numerics::{mixed::*, newton::*};
/// let (problem, mut answer) = (MixedProblem::default(), Answer::default());
/// let report = ProximalNewton::default().solve(&problem, &mut answer, &mut Workspace::default());
/// assert!(report.converged());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProximalNewton {
    /// Stop when the error, [`residual::Residual::error`], is at most this.
    pub tolerance: f64,
    /// Budget of factorisations.
    pub max_iterations: usize,
    /// Where the systems come to rest, go on to this share of the tolerance. A pile that is solved well stays solved: the next
    /// steps of a simulation then start within the tolerance.
    pub overshoot: f64,
    /// First penalty κ (per D⁻¹); grows tenfold an outer step.
    pub penalty: f64,
    /// Largest penalty: 10⁶ where bodies may move, as rounding of velocities costs reactions so many times their digits. At rest more
    /// is safe, and slow modes of slender structures need it.
    pub largest: f64,
}

impl Default for ProximalNewton {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_iterations: 100, overshoot: 1.0, penalty: 10.0, largest: MAX_PENALTY }
    }
}

/// Buffers and the symbolic factorisation, reused while the contact graph stands.
///
/// ```
/// let workspace = drystone::numerics::newton::Workspace::default();
/// # let _ = workspace;
/// ```
#[derive(Debug, Default)]
pub struct Workspace {
    space: BodySpace,
    bodies: Bodies,
    iterate: Point<BlockSymmetric>,
    interior: interior::Interior,
    point: point::Buffers,
}

impl ProximalNewton {
    /// Improves `answer` until its error is at most the tolerance; its reactions are the first proximal centre.
    pub fn solve(&self, p: &MixedProblem, answer: &mut Answer, work: &mut Workspace) -> Report {
        if !p.spins.is_empty() {
            return with_blocks(p, answer, |p, answer| self.solve(p, answer, work));
        }
        let found = residual::certify(p, answer);
        let mut report = Report::default();
        if found.error() > self.overshoot * self.tolerance {
            report.status = Status::Stalled;
            if work.prepare(p, answer) {
                let Self { tolerance, max_iterations, overshoot, penalty, largest } = *self;
                let outer = Multipliers { tolerance, max_factorisations: max_iterations, overshoot, penalty, largest };
                let Workspace { space, bodies, iterate, .. } = work;
                report = outer.run(space, iterate, &mut Step { p, answer, bodies }, [found.error(), found.e_s], &mut |_| !p.stop.asked());
                spread(&work.iterate.best, &mut answer.reactions);
            }
        }
        residual::certify(p, answer).report(report)
    }
}

/// Solves a problem whose contacts resist rolling as one of blocks.
fn with_blocks(p: &MixedProblem, answer: &mut Answer, solve: impl FnOnce(&MixedProblem, &mut Answer) -> Report) -> Report {
    let mut report = Report { status: Status::Stalled, ..Report::default() };
    if let Some((blocks, mut own)) = p.with_spin_blocks(answer) {
        report = solve(&blocks, &mut own);
        p.take_spin_blocks(&own.reactions, answer);
    }
    residual::certify(p, answer).report(report)
}

/// A step and what it is to be answered.
struct Step<'a> {
    p: &'a MixedProblem,
    answer: &'a mut Answer,
    bodies: &'a Bodies,
}

impl Posed for Step<'_> {
    fn judge(&mut self, r: &[f64]) -> [f64; 2] {
        spread(r, &mut self.answer.reactions);
        let found = residual::certify(self.p, self.answer);
        [found.error(), found.e_s]
    }

    /// `|G|` in the norm of M⁻¹, the unit of `|D^½ r|`.
    fn is_balanced<T>(&self, space: &BodySpace, at: &Point<T>, share: f64) -> bool {
        let (mut sum, mut rest, mut y) = (0.0, &at.pull[..], [0.0; MAX_DOFS]);
        for &system in &self.bodies.systems {
            let (g, after) = rest.split_at(self.p.dofs(system));
            rest = after;
            self.p.inverse_mass_times(system, g, &mut y[..g.len()]);
            sum += dot(g, &y);
        }
        let carried = space.blocks().map(|rows| &at.r[rows]).zip(&at.weights).map(|(r, d)| d * dot(r, r)).sum::<f64>();
        sum.max(0.0).sqrt() <= share * carried.sqrt().max(self.p.q_scaled)
    }

    /// The reactions take away more velocity than is left, in the norm of M: a pile under its loads, not a flow.
    fn is_at_rest(&mut self, space: &BodySpace) -> bool {
        let [mut own, mut away] = [Vec::new(), Vec::new()];
        self.bodies.gather(self.p, &self.answer.velocities, &mut own);
        self.bodies.gather(self.p, &self.p.free, &mut away);
        away.iter_mut().zip(&own).for_each(|(free, v)| *free = v - *free);
        let mut image = vec![0.0; own.len()];
        let mut size = |v: &[f64]| {
            space.mass_times(v, &mut image);
            dot(v, &image)
        };
        size(&own) <= size(&away)
    }

    fn is_hasty(&self) -> bool {
        self.p.lagged.is_empty()
    }
}

/// One step of the method of multipliers on the convex problem, with the penalty κ: moves `answer` to it; false where a factorisation
/// breaks down.
pub(super) fn least(p: &MixedProblem, answer: &mut Answer, work: &mut Workspace, kappa: f64) -> bool {
    if !work.prepare(p, answer) {
        return false;
    }
    let Workspace { space, bodies, iterate, .. } = work;
    let step = Step { p, answer, bodies };
    let good = iterate.minimise(space, &step, [kappa, 1e-10], 40, &mut |_| !p.stop.asked()).is_some();
    if good {
        spread(&iterate.r, &mut answer.reactions);
    }
    bodies.scatter(p, &iterate.v, &mut answer.velocities);
    good
}

/// The convex problem of the known shifts in `p.lagged`: interior point from nothing, then the method of multipliers from its answer.
pub(super) fn convex(p: &MixedProblem, answer: &mut Answer, work: &mut Workspace, tolerance: f64) -> Option<Report> {
    if !p.spins.is_empty() {
        return None;
    }
    let first = interior::solve(p, answer, work, tolerance.max(ROUGH))?;
    if first.error() <= tolerance {
        return Some(first);
    }
    let solver = ProximalNewton { tolerance, ..ProximalNewton::default() };
    Some(solver.solve(p, answer, work).after(&first))
}

/// The same by an interior point alone, as far as `tolerance` asks: where bodies come to rest it loses no digits, as no reaction that is
/// needed lies on the boundary of its cone.
pub(super) fn interior_point(p: &MixedProblem, answer: &mut Answer, work: &mut Workspace, tolerance: f64) -> Option<Report> {
    interior::solve(p, answer, work, tolerance)
}

/// The convex problem of the known shifts in `p.lagged` as far as it takes to see whether it has a solution; where it has none, the reactions by then,
/// those of a contradiction by far the largest.
pub(super) fn feasible(p: &MixedProblem, answer: &mut Answer, work: &mut Workspace, tolerance: f64) -> Option<Report> {
    let report = interior::solve(p, answer, work, tolerance.max(FEASIBLE))?;
    if !report.converged() {
        spread(&work.iterate.r, &mut answer.reactions);
    }
    Some(report)
}

/// Least error at which a convex problem counts as one that has a solution.
const FEASIBLE: f64 = 1e-6;

/// Error from which the method of multipliers goes on where an interior point loses digits.
const ROUGH: f64 = 1e-7;

/// `|v|²_M` of all rigid bodies and general systems that can move.
pub(super) fn kinetic(p: &MixedProblem, v: &Velocities) -> f64 {
    let (mut bodies, mut space) = (Bodies::default(), BodySpace::default());
    if !bodies.fill(p, &mut space) {
        return f64::INFINITY;
    }
    let mut own = Vec::new();
    bodies.gather(p, v, &mut own);
    let mut image = vec![0.0; own.len()];
    space.mass_times(&own, &mut image);
    dot(&own, &image)
}

impl Workspace {
    /// Multiplications of a factorisation of the method of multipliers.
    pub(super) fn operations(&mut self, p: &MixedProblem, answer: &Answer) -> f64 {
        if !self.prepare(p, answer) {
            return f64::INFINITY;
        }
        self.space.assemble(&mut self.iterate.matrix, |_, _| false);
        self.iterate.matrix.operations()
    }

    /// Lists bodies, masses, rows and laws, and takes over the answer; false when a mass matrix is not invertible.
    fn prepare(&mut self, p: &MixedProblem, answer: &Answer) -> bool {
        let Self { space, bodies, iterate: at, .. } = self;
        if !bodies.fill(p, space) {
            return false;
        }
        at.sets.clear();
        at.sets.extend(p.contacts.iter().map(Contact::set).chain(p.blocks.iter().map(|b| b.set)));
        at.weights.clear();
        at.weights.extend(p.contacts.iter().map(|c| c.local.mean_diagonal()).chain(p.blocks.iter().map(|b| p.block_weight(b))));
        at.known.clone_from(&p.lagged);
        let held = bodies::held(p);
        at.w.clear();
        at.w.extend(p.contacts.iter().flat_map(|c| p.contact_velocity(c, &held.rigid).to_array()));
        let first = at.w.len();
        at.w.resize(first + p.block_b.len(), 0.0);
        p.blocks.iter().for_each(|b| p.block_velocity(b, &held, &mut at.w[first + b.first..][..b.rows]));
        gather(&answer.reactions, &mut at.r);
        bodies.gather(p, &p.free, &mut at.free);
        bodies.gather(p, &answer.velocities, &mut at.v);
        true
    }
}

/// The reactions of all rows, one after the other.
fn gather(r: &Reactions, out: &mut Vec<f64>) {
    out.clear();
    out.extend(r.contacts.iter().flat_map(|r| r.to_array()));
    out.extend_from_slice(&r.blocks);
}

/// The same the other way round.
fn spread(r: &[f64], out: &mut Reactions) {
    let (contacts, blocks) = r.split_at(3 * out.contacts.len());
    out.contacts.iter_mut().zip(contacts.as_chunks().0).for_each(|(out, r)| *out = DVec3::from_array(*r));
    out.blocks.copy_from_slice(blocks);
}
