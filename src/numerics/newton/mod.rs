//! Proximal semismooth Newton in body space: the escalation for stuck, hyperstatic piles.
//!
//! ```text
//! outer   r_c ← r,  s ← μ‖u_t‖                                          proximal centre, De Saxcé shift
//! inner   r(v) = P_K(r_c − (κ/D)(H v + b + s))
//!         0 = G(v) = M (v − v_free) − Hᵀ r(v)                           gradient of a convex function φ
//!         (M + Hᵀ (κ/D) P'_K H) Δv = −G                                 symmetric, positive definite, six unknowns a body
//! ```
//!
//! The inner problem is the augmented Lagrangian of the convexified contact law, minimised by Newton with a line search on
//! φ; the outer loop moves the proximal centre and the shift, whose fixed point is Coulomb's law itself (method of
//! multipliers: Rockafellar 1976; shift: De Saxcé & Feng 1998; Acary, Cadoux, Lemaréchal, Malick 2011). The matrix has
//! the bodies as unknowns, so redundant contacts (rank of W far below its order) cost nothing.

use super::mixed::{Answer, Block, Contact, MAX_DOFS, MAX_ROWS, MixedProblem, Reactions, System, Velocities};
use super::{Report, Status, admissible, admissible::AdmissibleSet, residual};
use crate::algebra::sparse::BlockSymmetric;
use glam::{DMat3, DVec3};
use nodes::Nodes;
pub(super) use point::ProximalPoint;

mod interior;
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
    gradient: Vec<f64>,
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

const MAX_PENALTY: f64 = 1e6;
/// Outer steps without progress that end the solve.
const IDLE: usize = 6;
/// Times a step of Newton is halved.
const HALVINGS: usize = 12;
/// Factorisations of an inner problem.
const INNER: usize = 25;
/// Gain of an outer step whose inner problem was not solved, from which on another is worth its price.
const PAYS: f64 = 0.3;
/// Iterations beyond the tolerance.
const EXTRA: usize = 40;

impl ProximalNewton {
    /// Improves `answer` until its error is at most the tolerance; its reactions are the first proximal centre.
    pub fn solve(&self, p: &MixedProblem, answer: &mut Answer, work: &mut Workspace) -> Report {
        let mut found = residual::certify(p, answer);
        let mut report = Report { status: Status::BudgetSpent, ..Report::default() };
        let mut best = found.error();
        work.best.clone_from(&answer.reactions);
        if found.error() <= self.overshoot * self.tolerance {
            report.status = Status::Converged;
        } else if work.prepare(p) {
            let mut kappa = (self.penalty * 0.01 / found.error()).clamp(self.penalty, MAX_PENALTY);
            let mut idle = 0;
            let mut reached = (found.error() <= self.tolerance).then_some(0);
            if reached.is_some() {
                report.status = Status::Converged;
                if !work.at_rest(p, &answer.velocities) {
                    idle = IDLE;
                }
            }
            while report.factorisations < self.max_iterations && idle < IDLE {
                let budget = self.max_iterations - report.factorisations;
                // the inner problem need not be solved much better than the proximal step it belongs to; a light body among
                // heavy ones needs it better than the norm of all shows
                let share = 1e-2 / [1.0, 1e1, 1e2, 1e3, 1e4, 1e5][idle.min(IDLE - 1)];
                let accuracy = (share * found.e_s).clamp(0.02 * self.overshoot * self.tolerance, 1e-2);
                let Some(iterations) = minimise(p, answer, work, kappa, accuracy, budget.min(INNER)) else { break };
                report.factorisations += iterations.max(1);
                answer.reactions.clone_from(&work.reactions);
                work.trial.clone_from(&answer.velocities);
                found = residual::certify(p, answer);
                let gain = found.error() / best;
                if p.lagged.is_empty() && iterations >= INNER && gain > PAYS {
                    idle = IDLE; // the shift moves as fast as the minimum
                }
                idle = if gain < 0.9 && idle < IDLE { 0 } else { idle + 1 };
                if gain < 1.0 {
                    best = found.error();
                    work.best.clone_from(&answer.reactions);
                }
                if best <= self.tolerance {
                    report.status = Status::Converged;
                    let spent = report.factorisations - *reached.get_or_insert(report.factorisations);
                    if best <= self.overshoot * self.tolerance || spent >= EXTRA || !work.at_rest(p, &answer.velocities) {
                        break;
                    }
                }
                // the next inner solve starts from its own minimiser, not from the certified velocities
                std::mem::swap(&mut answer.velocities, &mut work.trial);
                kappa = (10.0 * kappa).min(MAX_PENALTY);
            }
            if idle >= IDLE && report.status != Status::Converged {
                report.status = Status::Stalled;
            }
        } else {
            report.status = Status::Stalled;
        }
        if found.error() > best {
            answer.reactions.clone_from(&work.best);
        }
        residual::certify(p, answer).report(report)
    }
}

/// Minimises φ over v from `answer.velocities`; returns the number of factorisations, `None` if one broke down.
fn minimise(p: &MixedProblem, answer: &mut Answer, w: &mut Workspace, kappa: f64, accuracy: f64, budget: usize) -> Option<usize> {
    w.centre.clone_from(&answer.reactions);
    for iteration in 0..budget {
        // the shift follows every iterate: its fixed point is as much work as the minimum
        w.look(p, &answer.velocities);
        let [own, rows] = w.evaluate(p, &answer.velocities, kappa);
        if w.norm(p, &w.gradient) <= accuracy * w.scale(p) {
            return Some(iteration);
        }
        w.assemble(p, kappa);
        w.step.clear();
        w.step.extend(w.gradient.iter().map(|g| -g));
        if !w.matrix.solve(&mut w.step) {
            return None;
        }
        let slope: f64 = w.step.iter().zip(&w.gradient).map(|(s, g)| s * g).sum();
        let kinetic = w.set_change(p, &answer.velocities);
        let mut t = 1.0;
        for _ in 0..HALVINGS {
            let change = t * (kinetic[0] + t * kinetic[1]) + w.row_value(p, kappa, t) - rows;
            // rounding of φ hides the last digits: a small enough slope is accepted as it is
            if change <= 1e-4 * t * slope + 1e-14 * (own + rows) {
                break;
            }
            t *= 0.5;
        }
        w.nodes.shifted(p, &answer.velocities, &w.step, t, &mut w.trial);
        std::mem::swap(&mut answer.velocities, &mut w.trial);
    }
    Some(budget)
}

/// One step of the method of multipliers on the convex problem, with the penalty κ: moves `answer` to it; false where a factorisation
/// breaks down.
pub(super) fn least(p: &MixedProblem, answer: &mut Answer, work: &mut Workspace, kappa: f64) -> bool {
    let good = work.prepare(p) && minimise(p, answer, work, kappa, 1e-10, 40).is_some();
    if good {
        answer.reactions.clone_from(&work.reactions);
    }
    good
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
    let good = work.prepare(p) && minimise(p, answer, work, kappa, 1e-10, 60).is_some();
    if good {
        answer.reactions.clone_from(&work.reactions);
    }
    good
}

/// `|v|²_M` of all rigid bodies and general systems that can move.
pub(super) fn kinetic(p: &MixedProblem, v: &Velocities) -> f64 {
    let mut nodes = Nodes::default();
    if !nodes.collect(p) {
        return f64::INFINITY;
    }
    let mut own = [0.0; MAX_DOFS];
    let norms = nodes.systems.iter().zip(&nodes.sizes).zip(&nodes.mass).map(|((&system, &n), mass)| {
        velocity(p, system, v, &mut own[..n as usize]);
        weighed(mass, &own[..n as usize])
    });
    norms.sum()
}

/// `xᵀ M x`
fn weighed(mass: &[f64], x: &[f64]) -> f64 {
    mass.chunks_exact(x.len()).zip(x).map(|(row, xi)| xi * row.iter().zip(x).map(|(m, x)| m * x).sum::<f64>()).sum()
}

/// The velocities of one system.
fn velocity(p: &MixedProblem, system: System, v: &Velocities, out: &mut [f64]) {
    match system {
        System::Fixed => {}
        System::Rigid(i) => {
            let twist = v.rigid[i as usize];
            twist.linear.write_to_slice(out);
            twist.angular.write_to_slice(&mut out[3..]);
        }
        System::General(i) => {
            let m = &p.general[i as usize];
            out.copy_from_slice(&v.general[m.first..m.first + m.dofs]);
        }
    }
}

impl Workspace {
    /// Lists nodes, masses and the pattern; false when a mass matrix is not invertible.
    fn prepare(&mut self, p: &MixedProblem) -> bool {
        if !self.nodes.collect(p) {
            return false;
        }
        let order = self.nodes.sizes.iter().map(|&n| n as usize).sum();
        self.gradient.resize(order, 0.0);
        self.reactions.contacts.resize(p.contacts.len(), DVec3::ZERO);
        self.reactions.blocks.resize(p.block_b.len(), 0.0);
        true
    }

    /// True where the reactions take away more velocity than is left, in the norm of M: a pile under its loads, not a flow.
    fn at_rest(&self, p: &MixedProblem, v: &Velocities) -> bool {
        let (mut left, mut taken) = (0.0, 0.0);
        let mut own = [0.0; MAX_DOFS];
        for ((&system, &n), mass) in self.nodes.systems.iter().zip(&self.nodes.sizes).zip(&self.nodes.mass) {
            let own = &mut own[..n as usize];
            difference(p, system, v, own);
            taken += weighed(mass, own);
            velocity(p, system, v, own);
            left += weighed(mass, own);
        }
        left <= taken
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

    /// Sets the change of the velocities of all rows by `step`; returns the slope and the curvature of the kinetic part of φ along it.
    fn set_change(&mut self, p: &MixedProblem, v: &Velocities) -> [f64; 2] {
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
        let (mut slope, mut curvature) = (0.0, 0.0);
        let mut away = [0.0; MAX_DOFS];
        for (node, &system) in self.nodes.systems.iter().enumerate() {
            let n = self.nodes.sizes[node] as usize;
            let step = &self.step[self.nodes.offset(node)..][..n];
            difference(p, system, v, &mut away[..n]);
            for (row, s) in self.nodes.mass[node].chunks_exact(n).zip(step) {
                slope += s * row.iter().zip(&away).map(|(m, x)| m * x).sum::<f64>();
                curvature += 0.5 * s * row.iter().zip(step).map(|(m, x)| m * x).sum::<f64>();
            }
        }
        [slope, curvature]
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
        let (mut own, mut rows) = (0.0, 0.0);
        self.gradient.fill(0.0);
        for (node, &system) in self.nodes.systems.iter().enumerate() {
            let first = self.nodes.offset(node);
            let n = self.nodes.sizes[node] as usize;
            let mut dv = [0.0; MAX_DOFS];
            difference(p, system, v, &mut dv[..n]);
            let g = &mut self.gradient[first..first + n];
            for (row, g) in self.nodes.mass[node].chunks_exact(n).zip(g.iter_mut()) {
                *g = row.iter().zip(&dv).map(|(m, x)| m * x).sum();
            }
            own += 0.5 * g.iter().zip(&dv).map(|(g, x)| g * x).sum::<f64>();
        }
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

/// `v − v_free` of one system.
fn difference(p: &MixedProblem, system: System, v: &Velocities, out: &mut [f64]) {
    match system {
        System::Fixed => {}
        System::Rigid(i) => {
            let (v, free) = (&v.rigid[i as usize], &p.free.rigid[i as usize]);
            (v.linear - free.linear).write_to_slice(out);
            (v.angular - free.angular).write_to_slice(&mut out[3..]);
        }
        System::General(i) => {
            let m = &p.general[i as usize];
            let range = m.first..m.first + m.dofs;
            let pairs = v.general[range.clone()].iter().zip(&p.free.general[range]);
            out.iter_mut().zip(pairs).for_each(|(o, (v, f))| *o = v - f);
        }
    }
}
