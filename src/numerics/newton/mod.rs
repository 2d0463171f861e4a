//! Proximal semismooth Newton in body space: the escalation for stuck, hyperstatic piles.
//!
//! The inner problem is the augmented Lagrangian of the convexified contact law, minimised by Newton with a line search on
//! φ; the outer loop moves the proximal centre and the shift, whose fixed point is Coulomb's law itself (method of
//! multipliers: Rockafellar 1976; shift: De Saxcé & Feng 1998; Acary, Cadoux, Lemaréchal, Malick 2011). The matrix has
//! the bodies as unknowns, so redundant contacts (rank of W far below its order) cost nothing.

use super::mixed::{Answer, Block, Contact, MAX_DOFS, MAX_ROWS, MixedProblem, Reactions, Velocities};
use super::{Report, Status, admissible, admissible::AdmissibleSet, residual};
use crate::algebra::sparse::BlockSymmetric;
use glam::{DMat3, DVec3};
use multipliers::{AugmentedLagrangian, Multipliers, minimise};
use nodes::Nodes;
pub(super) use point::ProximalPoint;

mod interior;
pub(super) mod multipliers;
mod nodes;
mod point;
mod space;

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
    /// First penalty κ (per D⁻¹); grows tenfold an outer step up to 10⁶.
    pub penalty: f64,
}

impl Default for ProximalNewton {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_iterations: 100, overshoot: 1.0, penalty: 10.0 }
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
    matrix: BlockSymmetric,
    nodes: Nodes,
    /// `v − v_free`, M times it, G and a buffer
    away: Vec<f64>,
    inertia: Vec<f64>,
    gradient: Vec<f64>,
    image: Vec<f64>,
    step: Vec<f64>,
    trial: Velocities,
    reactions: Reactions,
    centre: Reactions,
    shift: Vec<f64>,
    /// `H v + b` at the iterate, and its change by a whole step
    here: Rows,
    along: Rows,
    best: Reactions,
    interior: interior::Interior,
    point: point::Buffers,
}

/// A velocity per contact, and one per row of the blocks.
#[derive(Debug, Default)]
struct Rows {
    contacts: Vec<DVec3>,
    blocks: Vec<f64>,
}

impl ProximalNewton {
    /// Improves `answer` until its error is at most the tolerance; its reactions are the first proximal centre.
    pub fn solve(&self, p: &MixedProblem, answer: &mut Answer, work: &mut Workspace) -> Report {
        let found = residual::certify(p, answer);
        let mut report = Report::default();
        if found.error() > self.overshoot * self.tolerance {
            work.best.clone_from(&answer.reactions);
            work.trial.clone_from(&answer.velocities);
            report.status = Status::Stalled;
            if work.prepare(p) {
                let Self { tolerance, max_iterations, overshoot, penalty } = *self;
                let outer = Multipliers { tolerance, max_factorisations: max_iterations, overshoot, penalty };
                report = outer.run(&mut Point { p, answer, work }, [found.error(), found.e_s], &mut |_| true);
            }
            answer.reactions.clone_from(&work.best);
        }
        residual::certify(p, answer).report(report)
    }
}

/// An answer whose velocities are the point.
struct Point<'a> {
    p: &'a MixedProblem,
    answer: &'a mut Answer,
    work: &'a mut Workspace,
}

impl AugmentedLagrangian for Point<'_> {
    fn centre(&mut self) {
        self.work.centre.clone_from(&self.answer.reactions);
    }

    fn look(&mut self) {
        self.work.look(self.p, &self.answer.velocities);
    }

    fn evaluate(&mut self, kappa: f64) -> [f64; 2] {
        self.work.evaluate(self.p, &self.answer.velocities, kappa)
    }

    fn is_balanced(&self, share: f64) -> bool {
        self.work.norm(self.p, &self.work.gradient) <= share * self.work.scale(self.p)
    }

    fn step(&mut self, kappa: f64) -> Option<[f64; 3]> {
        let w = &mut *self.work;
        w.assemble(self.p, kappa);
        w.step.clear();
        w.step.extend(w.gradient.iter().map(|g| -g));
        if !w.matrix.solve(&mut w.step) {
            return None;
        }
        let slope: f64 = w.step.iter().zip(&w.gradient).map(|(s, g)| s * g).sum();
        let [linear, quadratic] = w.set_change(self.p);
        Some([slope, linear, quadratic])
    }

    fn row_value(&self, kappa: f64, t: f64) -> f64 {
        self.work.row_value(self.p, kappa, t)
    }

    fn advance(&mut self, _: f64, t: f64) {
        let Workspace { nodes, step, trial, .. } = &mut *self.work;
        nodes.shifted(self.p, &self.answer.velocities, step, t, trial);
        std::mem::swap(&mut self.answer.velocities, trial);
    }

    fn judge(&mut self) -> [f64; 2] {
        self.answer.reactions.clone_from(&self.work.reactions);
        self.work.trial.clone_from(&self.answer.velocities);
        let found = residual::certify(self.p, self.answer);
        // the next inner solve starts from its own minimiser, not from the certified velocities
        std::mem::swap(&mut self.answer.velocities, &mut self.work.trial);
        [found.error(), found.e_s]
    }

    fn keep(&mut self) {
        self.work.best.clone_from(&self.answer.reactions);
    }

    fn is_at_rest(&mut self) -> bool {
        self.work.at_rest(self.p)
    }

    fn is_hasty(&self) -> bool {
        self.p.lagged.is_empty()
    }
}

/// Minimises φ with the penalty κ from the velocities of `answer`, and moves it there; false where a factorisation breaks down.
fn minimum(p: &MixedProblem, answer: &mut Answer, work: &mut Workspace, kappa: f64, budget: usize) -> bool {
    let good = work.prepare(p) && minimise(&mut Point { p, answer, work }, kappa, 1e-10, budget, &mut |_| true).is_some();
    if good {
        answer.reactions.clone_from(&work.reactions);
    }
    good
}

/// One step of the method of multipliers on the convex problem, with the penalty κ: moves `answer` to it; false where a factorisation
/// breaks down.
pub(super) fn least(p: &MixedProblem, answer: &mut Answer, work: &mut Workspace, kappa: f64) -> bool {
    minimum(p, answer, work, kappa, 40)
}

/// The convex problem of the known shifts in `p.lagged`: interior point from nothing, then the method of multipliers from its answer.
pub(super) fn convex(p: &MixedProblem, answer: &mut Answer, work: &mut Workspace, tolerance: f64) -> Option<Report> {
    let first = interior::solve(p, answer, work, tolerance.max(ROUGH))?;
    if first.error() <= tolerance {
        return Some(first);
    }
    let solver = ProximalNewton { tolerance, ..ProximalNewton::default() };
    Some(solver.solve(p, answer, work).after(&first))
}

/// The convex problem of the known shifts in `p.lagged` as far as it takes to see whether it has a solution.
pub(super) fn feasible(p: &MixedProblem, answer: &mut Answer, work: &mut Workspace, tolerance: f64) -> Option<Report> {
    interior::solve(p, answer, work, tolerance.max(FEASIBLE))
}

/// Least error at which a convex problem counts as one that has a solution.
const FEASIBLE: f64 = 1e-6;

/// Error from which the method of multipliers goes on where an interior point loses digits.
const ROUGH: f64 = 1e-7;

/// Coulomb's law on contacts that give way, `−(û + (D/κ) r) ∈ N_K(r)`, from the velocities of `answer`: it has a solution whatever drives
/// the bodies together. False where a factorisation breaks down.
pub(super) fn giving_way(p: &MixedProblem, answer: &mut Answer, work: &mut Workspace, kappa: f64) -> bool {
    answer.reactions.contacts.fill(DVec3::ZERO);
    answer.reactions.blocks.fill(0.0);
    minimum(p, answer, work, kappa, 60)
}

/// `|v|²_M` of all rigid bodies and general systems that can move.
pub(super) fn kinetic(p: &MixedProblem, v: &Velocities) -> f64 {
    let mut nodes = Nodes::default();
    if !nodes.collect(p) {
        return f64::INFINITY;
    }
    let (mut own, mut image) = (Vec::new(), Vec::new());
    nodes.gather(p, v, &mut own);
    nodes.mass_times(&own, &mut image);
    nodes.dot(&own, &image)
}

impl Workspace {
    /// Lists nodes, masses and the pattern; false when a mass matrix is not invertible.
    fn prepare(&mut self, p: &MixedProblem) -> bool {
        if !self.nodes.collect(p) {
            return false;
        }
        self.reactions.contacts.resize(p.contacts.len(), DVec3::ZERO);
        self.reactions.blocks.resize(p.block_b.len(), 0.0);
        true
    }

    /// True where the reactions take away more velocity than is left, in the norm of M: a pile under its loads, not a flow. `trial` holds
    /// the velocities.
    fn at_rest(&mut self, p: &MixedProblem) -> bool {
        let Self { nodes, trial, away, inertia, image, .. } = self;
        nodes.gather_change(p, trial, image, away);
        nodes.mass_times(away, inertia);
        let taken = nodes.dot(away, inertia);
        nodes.gather(p, trial, away);
        nodes.mass_times(away, inertia);
        nodes.dot(away, inertia) <= taken
    }

    /// Sets the velocities of all rows and the shifts at `v`.
    fn look(&mut self, p: &MixedProblem, v: &Velocities) {
        let Rows { contacts, blocks } = &mut self.here;
        contacts.clear();
        contacts.extend(p.contacts.iter().map(|c| p.contact_velocity(c, &v.rigid)));
        blocks.resize(p.block_b.len(), 0.0);
        p.blocks.iter().for_each(|b| p.block_velocity(b, v, &mut blocks[b.first..b.first + b.rows]));
        self.shift.clear();
        match p.lagged.is_empty() {
            true => self.shift.extend(p.contacts.iter().zip(contacts.iter()).map(|(c, &u)| c.shift(u))),
            false => self.shift.extend_from_slice(&p.lagged),
        }
        self.shift.extend(p.blocks.iter().map(|b| b.set.shift(&blocks[b.first..b.first + b.rows])));
    }

    /// Sets the change of the velocities of all rows by `step`; returns the slope and the curvature of the kinetic part of φ along it, at the
    /// point that was evaluated last.
    fn set_change(&mut self, p: &MixedProblem) -> [f64; 2] {
        self.nodes.change(p, &self.step, &mut self.trial);
        let Rows { contacts, blocks } = &mut self.along;
        contacts.clear();
        contacts.extend(p.contacts.iter().map(|c| c.rate(&self.trial.rigid)));
        blocks.resize(p.block_b.len(), 0.0);
        for b in &p.blocks {
            let rows = b.first..b.first + b.rows;
            p.block_velocity(b, &self.trial, &mut blocks[rows.clone()]);
            blocks[rows.clone()].iter_mut().zip(&p.block_b[rows]).for_each(|(u, b)| *u -= b);
        }
        self.nodes.mass_times(&self.step, &mut self.image);
        let along = |x: &[f64]| self.step.iter().zip(x).map(|(s, x)| s * x).sum::<f64>();
        [along(&self.inertia), 0.5 * along(&self.image)]
    }

    /// The part of φ that the rows have, `½ |r|²/(κ/D)`, after `t` steps.
    fn row_value(&self, p: &MixedProblem, kappa: f64, t: f64) -> f64 {
        let mut value = 0.0;
        for (k, c) in p.contacts.iter().enumerate() {
            let weight = kappa / c.local.mean_diagonal();
            let mut r = self.contact_argument(k, weight) - (t * weight) * self.along.contacts[k];
            admissible::project_coulomb(c.mu, &mut r);
            value += 0.5 * r.length_squared() / weight;
        }
        let mut x = [0.0; MAX_ROWS];
        for (k, block) in p.blocks.iter().enumerate() {
            let weight = kappa / p.block_weight(block);
            let x = &mut x[..block.rows];
            self.block_argument(p, k, weight, x);
            x.iter_mut().zip(&self.along.blocks[block.first..]).for_each(|(x, u)| *x -= t * weight * u);
            block.set.project(x);
            value += 0.5 * x.iter().map(|x| x * x).sum::<f64>() / weight;
        }
        value
    }

    /// Sets `reactions` and `gradient` at `v`, whose rows have been looked at, and returns the kinetic part of φ(v) and that of the rows.
    fn evaluate(&mut self, p: &MixedProblem, v: &Velocities, kappa: f64) -> [f64; 2] {
        self.nodes.gather_change(p, v, &mut self.image, &mut self.away);
        self.nodes.mass_times(&self.away, &mut self.inertia);
        self.gradient.clone_from(&self.inertia);
        let (own, mut rows) = (0.5 * self.nodes.dot(&self.inertia, &self.away), 0.0);
        for (k, c) in p.contacts.iter().enumerate() {
            let weight = kappa / c.local.mean_diagonal();
            let mut r = self.contact_argument(k, weight);
            admissible::project_coulomb(c.mu, &mut r);
            self.reactions.contacts[k] = r;
            rows += 0.5 * r.length_squared() / weight;
        }
        let mut x = [0.0; MAX_ROWS];
        for (k, block) in p.blocks.iter().enumerate() {
            let weight = kappa / p.block_weight(block);
            let x = &mut x[..block.rows];
            self.block_argument(p, k, weight, x);
            block.set.project(x);
            self.reactions.blocks[block.first..block.first + block.rows].copy_from_slice(x);
            rows += 0.5 * x.iter().map(|x| x * x).sum::<f64>() / weight;
        }
        let r = &self.reactions;
        space::add_impulses(&self.nodes, p, -1.0, r.contacts.iter().copied(), &r.blocks, &mut self.gradient);
        [own, rows]
    }

    /// `|G|` in the norm of M⁻¹, the unit of `|D^½ r|`.
    fn norm(&self, p: &MixedProblem, gradient: &[f64]) -> f64 {
        let mut sum = 0.0;
        let mut y = [0.0; MAX_DOFS];
        for (node, &system) in self.nodes.systems.iter().enumerate() {
            let (first, n) = (self.nodes.offset(node), self.nodes.sizes[node] as usize);
            let g = &gradient[first..first + n];
            p.inverse_mass_times(system, g, &mut y[..n]);
            sum += g.iter().zip(&y).map(|(g, y)| g * y).sum::<f64>();
        }
        sum.max(0.0).sqrt()
    }

    fn scale(&self, p: &MixedProblem) -> f64 {
        let contacts = p.contacts.iter().zip(&self.reactions.contacts).map(|(c, r)| c.local.mean_diagonal() * r.length_squared());
        let blocks = p
            .blocks
            .iter()
            .map(|b| p.block_weight(b) * self.reactions.blocks[b.first..b.first + b.rows].iter().map(|x| x * x).sum::<f64>());
        contacts.chain(blocks).sum::<f64>().sqrt().max(p.q_scaled)
    }

    /// `M + Hᵀ (κ/D) P' H` where the rows have been looked at.
    fn assemble(&mut self, p: &MixedProblem, kappa: f64) {
        let mut matrix = std::mem::take(&mut self.matrix);
        let contact = |k: usize, c: &Contact| {
            let weight = kappa / c.local.mean_diagonal();
            let x = self.contact_argument(k, weight);
            let mut d = [0.0; 9];
            AdmissibleSet::Coulomb { mu: c.mu }.derivative(&x.to_array(), &mut d);
            (d[0] != 0.0).then(|| DMat3::from_cols_array(&d) * weight)
        };
        let block = |k: usize, block: &Block, d: &mut [f64]| {
            let weight = kappa / p.block_weight(block);
            let mut x = [0.0; MAX_ROWS];
            let x = &mut x[..block.rows];
            self.block_argument(p, k, weight, x);
            block.set.derivative(x, d);
            d.iter_mut().for_each(|d| *d *= weight);
        };
        space::assemble(&mut matrix, &self.nodes, p, contact, block);
        self.matrix = matrix;
    }

    /// `r_c − (κ/D)(u + s n)` of a contact
    fn contact_argument(&self, k: usize, weight: f64) -> DVec3 {
        let u = self.here.contacts[k];
        self.centre.contacts[k] - weight * DVec3::new(u.x + self.shift[k], u.y, u.z)
    }

    /// The same of a block.
    fn block_argument(&self, p: &MixedProblem, k: usize, weight: f64, x: &mut [f64]) {
        let block = &p.blocks[k];
        let rows = block.first..block.first + block.rows;
        x.copy_from_slice(&self.here.blocks[rows.clone()]);
        x[0] += self.shift[p.contacts.len() + k];
        x.iter_mut().zip(&self.centre.blocks[rows]).for_each(|(x, c)| *x = c - weight * *x);
    }
}
