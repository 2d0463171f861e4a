//! Interior point in body space: the convex problem of known shifts, in about twenty factorisations from any start.
//!
//! ```text
//! M (v − v_free) = Hᵀ r,   y = H v + b + s n ∈ K*,   r ∈ K,   y ∘ r = τ e,   τ → 0
//! (M + Hᵀ N⁻² H) Δv = …                                  N: scaling of Nesterov and Todd, N r = N⁻¹ y
//! ```
//!
//! Predictor and corrector after Mehrotra 1992, scaling after Nesterov & Todd 1997, in the symmetric form of the cone: with
//! `z = (μ r_n, r_t)` and `ŷ = (y_n/μ, y_t)` both lie in Lorentz's cone. Contacts that are redundant cost nothing, as in all of body space;
//! what the cone's boundary leaves of the digits (1e-7 or so) is enough for the method of multipliers to go on from.

use super::nodes::Nodes;
use super::{Workspace, space};
use crate::algebra::sparse::BlockSymmetric;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::mixed::{Answer, MAX_ROWS, MixedProblem, Reactions, Velocities};
use crate::numerics::{Report, Status, residual};
use glam::{DMat3, DVec3};

/// Factorisations after which the method is given up; where it works it needs 12 to 25.
const MAX_ITERATIONS: usize = 40;
/// Iterations without progress that end it.
const IDLE: usize = 4;
/// Share of the way to the boundary of the cones.
const SHARE: f64 = 0.99;
/// Compliance of the rows of a joint, per D: what it lets through goes into the multiplier of the next iteration.
const COMPLIANCE: f64 = 1e-9;

/// A contact in the symmetric form.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    y: DVec3,
    z: DVec3,
    dy: DVec3,
    dz: DVec3,
    /// `ŷ − (H v + b + s n)`
    miss: DVec3,
    /// `N⁻¹ (λ \ d)`
    push: DVec3,
    scaling: Scaling,
}

/// A row of a block.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    free: bool,
    y: f64,
    z: f64,
    dy: f64,
    dz: f64,
    miss: f64,
    push: f64,
    stiffness: f64,
}

/// Buffers of the method.
#[derive(Debug, Default)]
pub(super) struct Interior {
    contacts: Vec<Pair>,
    rows: Vec<Row>,
    impulses: Reactions,
    /// change of the velocities of the nodes, and what came before it
    step: Vec<f64>,
    away: Vec<f64>,
    velocities: Velocities,
    change: Velocities,
    best: Reactions,
}

/// Solves the problem of the known shifts in `p.lagged` to `tolerance` where it can; its guess plays no part. `None` where the problem
/// holds sets that it does not know, or a matrix breaks down at once.
pub(super) fn solve(p: &MixedProblem, answer: &mut Answer, work: &mut Workspace, tolerance: f64) -> Option<Report> {
    let known = |set| matches!(set, AdmissibleSet::Free | AdmissibleSet::NonNegative);
    if !p.blocks.iter().all(|b| known(b.set)) || !work.prepare(p) {
        return None;
    }
    let mut own = std::mem::take(&mut work.interior);
    let report = own.run(p, answer, &mut work.matrix, &work.nodes, tolerance);
    work.interior = own;
    report
}

impl Interior {
    fn run(&mut self, p: &MixedProblem, answer: &mut Answer, matrix: &mut BlockSymmetric, nodes: &Nodes, tolerance: f64) -> Option<Report> {
        self.start(p);
        let mut report = Report { status: Status::BudgetSpent, ..Report::default() };
        let (mut best, mut idle) = (f64::INFINITY, 0);
        loop {
            let contacts = p.contacts.iter().zip(&self.contacts).zip(&mut answer.reactions.contacts);
            contacts.for_each(|((c, pair), r)| *r = symmetric(c.mu) * pair.z);
            answer.reactions.blocks.iter_mut().zip(&self.rows).for_each(|(r, row)| *r = row.z);
            let error = residual::certify(p, answer).error();
            idle = if error < 0.7 * best { 0 } else { idle + 1 };
            if error < best {
                best = error;
                self.best.clone_from(&answer.reactions);
            }
            if best <= tolerance || idle >= IDLE || report.factorisations >= MAX_ITERATIONS || !self.advance(p, matrix, nodes) {
                break;
            }
            report.factorisations += 1;
        }
        if !best.is_finite() {
            return None;
        }
        answer.reactions.clone_from(&self.best);
        if best <= tolerance {
            report.status = Status::Converged;
        } else if idle >= IDLE {
            report.status = Status::Stalled;
        }
        Some(residual::certify(p, answer).report(report))
    }

    /// On the axes of all cones, at the largest speed without reactions.
    fn start(&mut self, p: &MixedProblem) {
        self.velocities.clone_from(&p.free);
        let mut speed = p.contacts.iter().map(|c| p.contact_velocity(c, &p.free.rigid).length()).fold(f64::MIN_POSITIVE.sqrt(), f64::max);
        let mut u = [0.0; MAX_ROWS];
        self.rows.clear();
        for block in &p.blocks {
            let u = &mut u[..block.rows];
            p.block_velocity(block, &p.free, u);
            speed = u.iter().fold(speed, |s, u| s.max(u.abs()));
        }
        for block in &p.blocks {
            let row = match block.set {
                AdmissibleSet::Free => Row { free: true, ..Row::default() },
                _ => Row { y: speed, z: speed / p.block_weight(block), ..Row::default() },
            };
            self.rows.extend(std::iter::repeat_n(row, block.rows));
        }
        self.contacts.clear();
        self.contacts.extend(p.contacts.iter().map(|c| Pair {
            y: speed * DVec3::X,
            z: speed / c.local.mean_diagonal() * DVec3::X,
            ..Pair::default()
        }));
        self.impulses.contacts.resize(p.contacts.len(), DVec3::ZERO);
        self.impulses.blocks.resize(p.block_b.len(), 0.0);
    }

    /// One predictor and corrector; false where the matrix breaks down or there is no way to go.
    fn advance(&mut self, p: &MixedProblem, matrix: &mut BlockSymmetric, nodes: &Nodes) -> bool {
        for (k, (c, pair)) in p.contacts.iter().zip(&mut self.contacts).enumerate() {
            let Some(scaling) = Scaling::new(pair.y, pair.z) else { return false };
            pair.scaling = scaling;
            let shift = p.lagged.get(k).copied().unwrap_or(0.0);
            pair.miss = pair.y - symmetric(c.mu) * (p.contact_velocity(c, &self.velocities.rigid) + shift * DVec3::X);
        }
        let mut u = [0.0; MAX_ROWS];
        for block in &p.blocks {
            let u = &mut u[..block.rows];
            p.block_velocity(block, &self.velocities, u);
            for (row, u) in self.rows[block.first..].iter_mut().zip(u.iter()) {
                row.miss = row.y - u;
                row.stiffness = if row.free { 1.0 / (COMPLIANCE * p.block_weight(block)) } else { row.z / row.y };
            }
        }
        let (contacts, rows) = (&self.contacts, &self.rows);
        let contact = |k: usize, c: &crate::numerics::mixed::Contact| {
            let t = DMat3::from_diagonal(symmetric(c.mu));
            Some(t * contacts[k].scaling.stiffness() * t)
        };
        space::assemble(matrix, nodes, p, contact, |_, block, d| {
            d.fill(0.0);
            (0..block.rows).for_each(|i| d[i * (block.rows + 1)] = rows[block.first + i].stiffness);
        });
        if !matrix.factorise() {
            return false;
        }
        let before = self.gap(0.0);
        let length = self.direction(p, matrix, nodes, None).min(1.0);
        let centre = before * (self.gap(length) / before).clamp(0.0, 1.0).powi(3);
        let length = (SHARE * self.direction(p, matrix, nodes, Some(centre))).min(1.0);
        if !(length > 0.0 && self.step.iter().all(|x| x.is_finite())) {
            return false;
        }
        for pair in &mut self.contacts {
            pair.y += length * pair.dy;
            pair.z += length * pair.dz;
        }
        for row in &mut self.rows {
            row.y += length * row.dy;
            row.z += length * row.dz;
        }
        std::mem::swap(&mut self.velocities, &mut self.change);
        nodes.shifted(p, &self.change, &self.step, length, &mut self.velocities);
        true
    }

    /// `y · z` per cone after a step of this length.
    fn gap(&self, length: f64) -> f64 {
        let contacts = self.contacts.iter().map(|c| (c.y + length * c.dy).dot(c.z + length * c.dz)).sum::<f64>();
        let unilateral = self.rows.iter().filter(|r| !r.free);
        let rows = unilateral.clone().map(|r| (r.y + length * r.dy) * (r.z + length * r.dz)).sum::<f64>();
        (contacts + rows) / (self.contacts.len() + unilateral.count()).max(1) as f64
    }

    /// Sets the changes of velocities and pairs, straight to the boundary or towards the centre with the second order of the change before;
    /// returns the length to the boundary of the cones.
    fn direction(&mut self, p: &MixedProblem, matrix: &mut BlockSymmetric, nodes: &Nodes, centre: Option<f64>) -> f64 {
        for ((pair, c), r) in self.contacts.iter_mut().zip(&p.contacts).zip(&mut self.impulses.contacts) {
            let scaling = &pair.scaling;
            let mut d = -product(scaling.lambda, scaling.lambda);
            if let Some(centre) = centre {
                d += centre * DVec3::X - product(scaling.inverse(pair.dy), scaling.apply(pair.dz));
            }
            pair.push = scaling.inverse(quotient(scaling.lambda, d));
            *r = symmetric(c.mu) * (pair.z + pair.push + scaling.stiffness() * pair.miss);
        }
        for (row, r) in self.rows.iter_mut().zip(&mut self.impulses.blocks) {
            row.push = match centre {
                _ if row.free => 0.0,
                None => -row.z,
                Some(centre) => (centre - row.dy * row.dz) / row.y - row.z,
            };
            *r = row.z + row.push + row.stiffness * row.miss;
        }
        // − M (v − v_free) + Hᵀ (r + push + N⁻² miss)
        nodes.gather_change(p, &self.velocities, &mut self.step, &mut self.away);
        nodes.mass_times(&self.away, &mut self.step);
        self.step.iter_mut().for_each(|x| *x = -*x);
        let impulses = self.impulses.contacts.iter().copied();
        space::add_impulses(nodes, p, 1.0, impulses, &self.impulses.blocks, &mut self.step);
        matrix.solve_factorised(&mut self.step);
        nodes.change(p, &self.step, &mut self.change);
        let mut length = f64::INFINITY;
        for (pair, c) in self.contacts.iter_mut().zip(&p.contacts) {
            pair.dy = symmetric(c.mu) * c.rate(&self.change.rigid) - pair.miss;
            pair.dz = pair.push - pair.scaling.stiffness() * pair.dy;
            length = length.min(to_boundary(pair.y, pair.dy)).min(to_boundary(pair.z, pair.dz));
        }
        let mut u = [0.0; MAX_ROWS];
        for block in &p.blocks {
            let u = &mut u[..block.rows];
            p.block_velocity(block, &self.change, u);
            for (k, u) in (block.first..).zip(u.iter()) {
                let row = &mut self.rows[k];
                let rate = u - p.block_b[k];
                row.dz = row.push + row.stiffness * (row.miss - rate);
                if !row.free {
                    row.dy = rate - row.miss;
                    let end = |x: f64, d: f64| if d < 0.0 { -x / d } else { f64::INFINITY };
                    length = length.min(end(row.y, row.dy)).min(end(row.z, row.dz));
                }
            }
        }
        length
    }
}

/// `(1/μ, 1, 1)`: brings a contact to the symmetric cone; without friction only the normal counts.
fn symmetric(mu: f64) -> DVec3 {
    if mu > SMOOTH { DVec3::new(1.0 / mu, 1.0, 1.0) } else { DVec3::X }
}

/// Friction below which a contact counts as smooth.
const SMOOTH: f64 = 1e-9;

/// Nesterov and Todd's scaling of a pair: `N z = N⁻¹ y = λ`, `N = η (w̄ w̄ᵀ-boost)`, `N⁻² = η⁻² (2 (J w̄)(J w̄)ᵀ − J)`.
#[derive(Clone, Copy, Debug, Default)]
struct Scaling {
    w: DVec3,
    eta: f64,
    lambda: DVec3,
}

impl Scaling {
    /// `None` where one of the two is no longer inside its cone.
    fn new(y: DVec3, z: DVec3) -> Option<Self> {
        let (ys, zs) = (depth(y)?, depth(z)?);
        let (y, z) = (y / ys, z / zs);
        let twice = (2.0 + 2.0 * y.dot(z)).sqrt();
        let w = DVec3::new(y.x + z.x, y.y - z.y, y.z - z.z) / twice;
        let mut new = Self { w, eta: (ys / zs).sqrt(), lambda: DVec3::ZERO };
        new.lambda = new.apply(zs * z);
        new.lambda.is_finite().then_some(new)
    }

    /// `N x`
    fn apply(&self, x: DVec3) -> DVec3 {
        self.eta * boost(self.w, x)
    }

    /// `N⁻¹ x`
    fn inverse(&self, x: DVec3) -> DVec3 {
        boost(DVec3::new(self.w.x, -self.w.y, -self.w.z), x) / self.eta
    }

    /// `N⁻²`
    fn stiffness(&self) -> DMat3 {
        let w = DVec3::new(self.w.x, -self.w.y, -self.w.z);
        let square = DMat3::from_cols(w * w.x, w * w.y, w * w.z);
        (2.0 * square + DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0))) * (1.0 / (self.eta * self.eta))
    }
}

/// The hyperbolic rotation that takes `e` to w.
fn boost(w: DVec3, x: DVec3) -> DVec3 {
    let along = w.y * x.y + w.z * x.z;
    let share = x.x + along / (1.0 + w.x);
    DVec3::new(w.x * x.x + along, x.y + share * w.y, x.z + share * w.z)
}

/// `√(x₀² − |x₁|²)`
fn depth(x: DVec3) -> Option<f64> {
    let t = (x.y * x.y + x.z * x.z).sqrt();
    (x.x > t).then(|| ((x.x - t) * (x.x + t)).sqrt()).filter(|d| d.is_normal())
}

/// Jordan's product.
fn product(a: DVec3, b: DVec3) -> DVec3 {
    DVec3::new(a.dot(b), a.x * b.y + b.x * a.y, a.x * b.z + b.x * a.z)
}

/// The x with `l ∘ x = d`.
fn quotient(l: DVec3, d: DVec3) -> DVec3 {
    let t = (l.y * l.y + l.z * l.z).sqrt();
    let x = (l.x * d.x - l.y * d.y - l.z * d.z) / ((l.x - t) * (l.x + t));
    DVec3::new(x, (d.y - x * l.y) / l.x, (d.z - x * l.z) / l.x)
}

/// The largest t with `x + t d` in the cone.
fn to_boundary(x: DVec3, d: DVec3) -> f64 {
    let t = (x.y * x.y + x.z * x.z).sqrt();
    let (a, b, c) = (d.x * d.x - d.y * d.y - d.z * d.z, x.x * d.x - x.y * d.y - x.z * d.z, (x.x - t) * (x.x + t));
    let root = (b * b - a * c).max(0.0).sqrt();
    let apex = if d.x < 0.0 { -x.x / d.x } else { f64::INFINITY };
    let never = a >= 0.0 && b >= 0.0 || b * b < a * c;
    if never || root <= b { apex } else { (c / (root - b)).min(apex) }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::numerics::mixed::{Contact, IMMOBILE, RigidMass, System, Twist};
    use crate::numerics::newton::convex;

    /// A tower of blocks with four corners each, pushed and turned; the last two hang together by a joint, the first has a stop.
    pub(in crate::numerics::newton) fn tower(n: usize, mu: f64, shift: f64) -> MixedProblem {
        let mut p = MixedProblem::default();
        for k in 0..n {
            let mass = 1.0 + 3.0 * (k as f64 * 0.37).fract();
            p.rigid.push(RigidMass {
                inverse_mass: DVec3::splat(1.0 / mass),
                inverse_inertia: RigidMass::pack(DMat3::IDENTITY * (6.0 / mass)),
            });
            let push = (k as f64 * 0.618).fract() - 0.5;
            p.free.rigid.push(Twist { linear: DVec3::new(push, 0.3 * push, -0.1), angular: DVec3::new(0.2 * push, 0.1, push) });
        }
        for parity in [0, 1] {
            for k in (0..n).filter(|k| k % 2 == parity) {
                let body2 = if k == 0 { IMMOBILE } else { k as u32 - 1 };
                p.push_group([(0.5, 0.5), (0.5, -0.5), (-0.5, 0.5), (-0.5, -0.5)].map(|(x, y)| Contact {
                    normal: DVec3::Z,
                    tangent: DVec3::X,
                    arm1: DVec3::new(x, y, -0.5),
                    arm2: DVec3::new(x, y, 0.5),
                    mu,
                    body1: k as u32,
                    body2,
                    ..Contact::default()
                }));
            }
            p.close_colour();
        }
        let row = |sign: f64| [[sign, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, sign, 0.0, 0.0, 0.0, 0.0]].concat();
        let (one, two) = (row(1.0), row(-1.0));
        p.push_block(AdmissibleSet::Free, [System::Rigid(n as u32 - 1), System::Rigid(n as u32 - 2)], [&one, &two], &[0.0, 0.0]);
        p.push_block(AdmissibleSet::NonNegative, [System::Rigid(0), System::Fixed], [&[-1.0, 0.0, 0.0, 0.0, 0.0, 0.0], &[]], &[0.05]);
        p.lagged = vec![shift; p.contacts.len()];
        p.prepare().expect("legal");
        p
    }

    #[test]
    fn towers_are_solved_in_few_factorisations_from_nothing_with_any_friction_and_shift() {
        for (n, mu, shift) in [(2, 0.5, 0.0), (3, 0.0, 0.0), (8, 0.3, 0.05), (8, 1.5, 0.0), (20, 0.6, 0.02), (20, 5.0, 0.3), (40, 0.6, 0.0)]
        {
            let p = tower(n, mu, shift);
            let (mut answer, mut work) = (Answer::for_problem(&p), Workspace::default());
            let first = solve(&p, &mut answer, &mut work, 1e-7).expect("known sets");
            assert!(first.error() <= 1e-6 && first.factorisations <= 30, "{n} blocks, mu {mu}: {first:?}");
            let report = convex(&p, &mut answer, &mut work, 1e-10).expect("known sets");
            assert!(report.converged() && report.factorisations <= 60, "{n} blocks, mu {mu}: {report:?}");
            // the law, contact by contact
            for (c, r) in p.contacts.iter().zip(&answer.reactions.contacts) {
                let u = p.contact_velocity(c, &answer.velocities.rigid) + shift * DVec3::X;
                assert!(u.x >= mu * u.y.hypot(u.z) - 1e-8 && r.y.hypot(r.z) <= mu * r.x + 1e-8 && u.dot(*r).abs() < 1e-8, "{u} {r}");
            }
        }
    }

    #[test]
    fn sets_that_it_does_not_know_are_refused() {
        let mut p = tower(3, 0.5, 0.0);
        p.blocks[0].set = AdmissibleSet::Interval { lower: -1.0, upper: 1.0 };
        assert!(solve(&p, &mut Answer::for_problem(&p), &mut Workspace::default(), 1e-6).is_none());
    }
}
