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

use super::mixed::{Answer, Block, Contact, IMMOBILE, MAX_DOFS, MAX_ROWS, MixedProblem, Reactions, System, Velocities};
use super::{Report, Status, admissible::AdmissibleSet, residual};
use crate::algebra::{sparse::BlockSymmetric, spatial::skew};
use glam::{DMat3, DVec3};
use nodes::Nodes;

mod nodes;

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
    /// Keep the shift at 0: the convex problem whose solution, where it is at rest, is one of Coulomb's law too.
    pub convex: bool,
}

impl Default for ProximalNewton {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_iterations: 100, overshoot: 1.0, penalty: 10.0, convex: false }
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
    trial_gradient: Vec<f64>,
    step: Vec<f64>,
    trial: Velocities,
    reactions: Reactions,
    centre: Reactions,
    shift: Vec<f64>,
    best: Reactions,
}

const MAX_PENALTY: f64 = 1e6;
/// Outer steps without progress that end the solve.
const IDLE: usize = 6;
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
                let Some(iterations) = minimise(p, answer, work, kappa, accuracy, budget.min(25), self.convex) else { break };
                report.factorisations += iterations.max(1);
                answer.reactions.clone_from(&work.reactions);
                work.trial.clone_from(&answer.velocities);
                found = residual::certify(p, answer);
                let gain = found.error() / best;
                idle = if gain < 0.9 { 0 } else { idle + 1 };
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
fn minimise(
    p: &MixedProblem,
    answer: &mut Answer,
    w: &mut Workspace,
    kappa: f64,
    accuracy: f64,
    budget: usize,
    convex: bool,
) -> Option<usize> {
    w.centre.clone_from(&answer.reactions);
    for iteration in 0..budget {
        // the shift follows every iterate: its fixed point is as much work as the minimum
        w.set_shift(p, &answer.velocities);
        if convex {
            w.shift.fill(0.0);
        }
        let value = w.evaluate(p, &answer.velocities, kappa);
        std::mem::swap(&mut w.gradient, &mut w.trial_gradient);
        if w.norm(p, &w.gradient) <= accuracy * w.scale(p) {
            return Some(iteration);
        }
        w.assemble(p, &answer.velocities, kappa);
        w.step.clear();
        w.step.extend(w.gradient.iter().map(|g| -g));
        if !w.matrix.solve(&mut w.step) {
            return None;
        }
        let slope: f64 = w.step.iter().zip(&w.gradient).map(|(s, g)| s * g).sum();
        let mut t = 1.0;
        for halving in 0.. {
            w.nodes.shifted(p, &answer.velocities, &w.step, t, &mut w.trial);
            let trial = std::mem::take(&mut w.trial);
            let new = w.evaluate(p, &trial, kappa);
            w.trial = trial;
            // rounding of φ hides the last digits: a small enough slope is accepted as it is
            if new <= value + 1e-4 * t * slope + 1e-14 * value.abs() || halving == 12 {
                break;
            }
            t *= 0.5;
        }
        std::mem::swap(&mut answer.velocities, &mut w.trial);
    }
    Some(budget)
}

/// One step of the method of multipliers on the convex problem, with the penalty κ: moves `answer` to it; false where a factorisation
/// breaks down.
pub(super) fn least(p: &MixedProblem, answer: &mut Answer, work: &mut Workspace, kappa: f64) -> bool {
    let good = work.prepare(p) && minimise(p, answer, work, kappa, 1e-10, 40, true).is_some();
    if good {
        answer.reactions.clone_from(&work.reactions);
    }
    good
}

/// Coulomb's law on contacts that give way, `−(û + (D/κ) r) ∈ N_K(r)`, from the velocities of `answer`: it has a solution whatever drives
/// the bodies together. False where a factorisation breaks down.
pub(super) fn giving_way(p: &MixedProblem, answer: &mut Answer, work: &mut Workspace, kappa: f64) -> bool {
    answer.reactions.contacts.fill(DVec3::ZERO);
    answer.reactions.blocks.fill(0.0);
    let good = work.prepare(p) && minimise(p, answer, work, kappa, 1e-10, 60, false).is_some();
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
        self.trial_gradient.resize(order, 0.0);
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

    fn set_shift(&mut self, p: &MixedProblem, v: &Velocities) {
        self.shift.clear();
        self.shift.extend(p.contacts.iter().map(|c| {
            let u = p.contact_velocity(c, &v.rigid);
            c.mu * (u.y * u.y + u.z * u.z).sqrt()
        }));
        let mut u = [0.0; MAX_ROWS];
        for block in &p.blocks {
            let u = &mut u[..block.rows];
            p.block_velocity(block, v, u);
            self.shift.push(block.set.shift(u));
        }
    }

    /// Sets `reactions` and `trial_gradient` at `v` and returns φ(v).
    fn evaluate(&mut self, p: &MixedProblem, v: &Velocities, kappa: f64) -> f64 {
        let mut value = 0.0;
        let g = &mut self.trial_gradient;
        g.fill(0.0);
        for (node, &system) in self.nodes.systems.iter().enumerate() {
            let first = self.nodes.offset(node);
            let n = self.nodes.sizes[node] as usize;
            let mut dv = [0.0; MAX_DOFS];
            difference(p, system, v, &mut dv[..n]);
            let g = &mut g[first..first + n];
            for (row, g) in self.nodes.mass[node].chunks_exact(n).zip(g.iter_mut()) {
                *g = row.iter().zip(&dv).map(|(m, x)| m * x).sum();
            }
            value += 0.5 * g.iter().zip(&dv).map(|(g, x)| g * x).sum::<f64>();
        }
        for (k, c) in p.contacts.iter().enumerate() {
            let weight = kappa / c.local.mean_diagonal();
            let x = contact_argument(p, c, v, self.centre.contacts[k], weight, self.shift[k]);
            let mut r = x;
            super::admissible::project_coulomb(c.mu, &mut r);
            self.reactions.contacts[k] = r;
            value += 0.5 * r.length_squared() / weight;
            let impulse = c.to_world(r);
            for (body, arm, sign) in [(c.body1, c.arm1, -1.0), (c.body2, c.arm2, 1.0)] {
                if body != IMMOBILE {
                    let at = self.nodes.offset(self.nodes.rigid[body as usize] as usize);
                    add3(&mut g[at..], sign * impulse);
                    add3(&mut g[at + 3..], sign * arm.cross(impulse));
                }
            }
        }
        for (k, block) in p.blocks.iter().enumerate() {
            let weight = kappa / p.block_weight(block);
            let mut x = [0.0; MAX_ROWS];
            let x = &mut x[..block.rows];
            block_argument(p, block, v, &self.centre, weight, self.shift[p.contacts.len() + k], x);
            block.set.project(x);
            self.reactions.blocks[block.first..block.first + block.rows].copy_from_slice(x);
            value += 0.5 * x.iter().map(|x| x * x).sum::<f64>() / weight;
            for (part, system) in block.systems.into_iter().enumerate() {
                let Some(node) = self.nodes.of(system) else { continue };
                let (first, n) = (self.nodes.offset(node), self.nodes.sizes[node] as usize);
                for (row, x) in p.jacobians[block.jacobian[part]..].chunks_exact(n).zip(x.iter()) {
                    row.iter().zip(&mut g[first..first + n]).for_each(|(h, g)| *g -= h * x);
                }
            }
        }
        g.iter_mut().zip(&self.nodes.free).filter(|(_, free)| !**free).for_each(|(g, _)| *g = 0.0);
        value
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

    /// `M + Hᵀ (κ/D) P' H` at `v`.
    fn assemble(&mut self, p: &MixedProblem, v: &Velocities, kappa: f64) {
        let nodes = &self.nodes;
        let matrix = &mut self.matrix;
        matrix.set_pattern(&nodes.sizes, &nodes.pairs);
        for (node, mass) in nodes.mass.iter().enumerate() {
            matrix.add(node, node, mass);
        }
        for group in p.groups.windows(2) {
            let range = group[0] as usize..group[1] as usize;
            let Some(head) = p.contacts[range.clone()].first() else { continue };
            let mut blocks = [[0.0; 36]; 3];
            for k in range {
                let c = &p.contacts[k];
                let weight = kappa / c.local.mean_diagonal();
                let x = contact_argument(p, c, v, self.centre.contacts[k], weight, self.shift[k]);
                let mut d = [0.0; 9];
                AdmissibleSet::Coulomb { mu: c.mu }.derivative(&x.to_array(), &mut d);
                if d[0] == 0.0 {
                    continue;
                }
                let frame = DMat3::from_cols(c.normal, c.tangent, c.normal.cross(c.tangent));
                let stiffness = frame * (DMat3::from_cols_array(&d) * weight) * frame.transpose();
                let (a1, a2) = (skew(c.arm1), skew(c.arm2));
                add_coupling(&mut blocks[0], a1, stiffness, a1, 1.0);
                add_coupling(&mut blocks[1], a2, stiffness, a1, -1.0);
                add_coupling(&mut blocks[2], a2, stiffness, a2, 1.0);
            }
            let node = |body: u32| (body != IMMOBILE).then(|| nodes.rigid[body as usize] as usize);
            let (n1, n2) = (node(head.body1), node(head.body2));
            for (n, block) in [(n1, 0), (n2, 2)] {
                if let Some(n) = n {
                    nodes.mask(n, n, &mut blocks[block]);
                    matrix.add(n, n, &blocks[block]);
                }
            }
            if let (Some(n1), Some(n2)) = (n1, n2) {
                nodes.mask(n2, n1, &mut blocks[1]);
                if n2 > n1 {
                    matrix.add(n2, n1, &blocks[1]);
                } else {
                    let transposed: [f64; 36] = std::array::from_fn(|k| blocks[1][6 * (k % 6) + k / 6]);
                    matrix.add(n1, n2, &transposed);
                }
            }
        }
        for (k, block) in p.blocks.iter().enumerate() {
            let weight = kappa / p.block_weight(block);
            let n = block.rows;
            let (mut x, mut d) = ([0.0; MAX_ROWS], [0.0; MAX_ROWS * MAX_ROWS]);
            block_argument(p, block, v, &self.centre, weight, self.shift[p.contacts.len() + k], &mut x[..n]);
            block.set.derivative(&x[..n], &mut d[..n * n]);
            for (a, &sa) in block.systems.iter().enumerate() {
                for (b, &sb) in block.systems.iter().enumerate() {
                    let (Some(na), Some(nb)) = (nodes.of(sa), nodes.of(sb)) else { continue };
                    if na < nb || (na == nb && a > b) {
                        continue;
                    }
                    let (ma, mb) = (nodes.sizes[na] as usize, nodes.sizes[nb] as usize);
                    let ja = &p.jacobians[block.jacobian[a]..][..n * ma];
                    let jb = &p.jacobians[block.jacobian[b]..][..n * mb];
                    let mut out = vec![0.0; ma * mb];
                    for i in 0..n {
                        for j in 0..n {
                            let s = weight * d[i * n + j];
                            if s == 0.0 {
                                continue;
                            }
                            for r in 0..ma {
                                for c in 0..mb {
                                    out[r * mb + c] += ja[i * ma + r] * s * jb[j * mb + c];
                                }
                            }
                        }
                    }
                    nodes.mask(na, nb, &mut out);
                    matrix.add(na, nb, &out);
                }
            }
        }
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

/// `r_c − (κ/D)(u + s n)`
fn contact_argument(p: &MixedProblem, c: &Contact, v: &Velocities, centre: DVec3, weight: f64, shift: f64) -> DVec3 {
    let u = p.contact_velocity(c, &v.rigid);
    centre - weight * DVec3::new(u.x + shift, u.y, u.z)
}

fn block_argument(p: &MixedProblem, block: &Block, v: &Velocities, centre: &Reactions, weight: f64, shift: f64, x: &mut [f64]) {
    p.block_velocity(block, v, x);
    x[0] += shift;
    let centre = &centre.blocks[block.first..];
    x.iter_mut().zip(centre).for_each(|(x, c)| *x = c - weight * *x);
}

/// `block += sign · A_iᵀ K A_j` with `A = [I, −[a]×]`.
fn add_coupling(block: &mut [f64; 36], ai: DMat3, k: DMat3, aj: DMat3, sign: f64) {
    let (ki, kj) = (ai * k, k * aj);
    let kij = ai * kj;
    for r in 0..3 {
        for c in 0..3 {
            block[6 * r + c] += sign * k.col(c)[r];
            block[6 * r + c + 3] -= sign * kj.col(c)[r];
            block[6 * (r + 3) + c] += sign * ki.col(c)[r];
            block[6 * (r + 3) + c + 3] -= sign * kij.col(c)[r];
        }
    }
}

fn add3(g: &mut [f64], x: DVec3) {
    g[0] += x.x;
    g[1] += x.y;
    g[2] += x.z;
}
