//! Coloured projected Gauss–Seidel in body space, with nonsmooth nonlinear conjugate gradients on top.
//!
//! ```text
//! sweep   for every contact:  q_a = u_a − W_aa r_a,   r_a ← solve(W_aa, q_a, μ_a),   v += Ŵ⁻¹ H_aᵀ Δr_a
//! NNCG    d_k = sweep(r) − r,   β = |D^½ d_k|² / |D^½ d_{k−1}|²
//!         β > 1: p = d_k (restart),   else  r += β p,  p = β p + d_k        (Silcowitz, Niebe, Erleben 2010)
//! ```
//!
//! Velocities are linear in the reactions, so the conjugate step moves both by the same formula. `|d_k|` costs nothing
//! but is no residual: it only says when the true one is worth computing.

use super::mixed::{Answer, Contact, IMMOBILE, MAX_ROWS, MixedProblem, Reactions, RigidMass, Twist, Velocities};
use super::{Report, Status, admissible::AdmissibleSet, residual};
use glam::DVec3;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

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
    /// Stop when e_s is at most this.
    pub tolerance: f64,
    /// Budget of sweeps.
    pub max_sweeps: usize,
    /// Conjugate acceleration (NNCG).
    pub accelerate: bool,
    /// Give up early (with [`Status::Stalled`]) when the rate of the last half of the sweeps promises more than this many
    /// further ones; 0: never.
    pub foresight: usize,
}

impl Default for GaussSeidel {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_sweeps: 1000, accelerate: true, foresight: 0 }
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
    before: State,
    direction: State,
    best: Answer,
    shared: Vec<[AtomicU64; 6]>,
}

/// A point in the space of reactions and the velocities that belong to it.
#[derive(Clone, Debug, Default)]
struct State {
    r: Reactions,
    v: Velocities,
}

impl GaussSeidel {
    /// Improves `answer` until e_s ≤ tolerance; its reactions are the first guess.
    pub fn solve(&self, p: &MixedProblem, answer: &mut Answer, work: &mut Workspace) -> Report {
        p.velocities(&answer.reactions, &mut answer.velocities);
        let mut report = Report { status: Status::BudgetSpent, ..Report::default() };
        if p.contacts.is_empty() && p.blocks.is_empty() {
            report.status = Status::Converged;
            return report;
        }
        let mut best = f64::INFINITY;
        let mut anchor = (0, f64::INFINITY);
        let mut last_norm = f64::INFINITY;
        let mut next_check = 2;
        let threads = rayon::current_num_threads();
        for k in 1..=self.max_sweeps {
            work.before.r.clone_from(&answer.reactions);
            if self.accelerate {
                work.before.v.clone_from(&answer.velocities);
            }
            sweep(p, answer, &mut work.shared, threads);
            report.sweeps = k;
            let (change, size) = change(p, &answer.reactions, &work.before.r);
            let due = k >= next_check || change.sqrt() <= 2.0 * self.tolerance * size.sqrt().max(p.q_scaled) || k == self.max_sweeps;
            if due {
                next_check = k + (k / 4).clamp(2, 25);
                let e_s = residual::residual(p, answer, &answer.velocities).e_s;
                if e_s <= self.tolerance {
                    // sweeps update v by differences; the answer counts only with v from scratch
                    if residual::certify(p, answer).e_s <= self.tolerance {
                        report.status = Status::Converged;
                        break;
                    }
                }
                if !e_s.is_finite() {
                    report.status = Status::Stalled;
                    break;
                }
                if e_s < best {
                    best = e_s;
                    work.best.clone_from(answer);
                }
                if self.foresight > 0 && k >= FIRST_FORECAST && k >= 2 * anchor.0 {
                    let gain = (anchor.1 / best).ln();
                    let needed = (best / self.tolerance).ln() / gain * (k - anchor.0) as f64;
                    if anchor.1.is_finite() && !(needed <= self.foresight as f64) {
                        report.status = Status::Stalled;
                        break;
                    }
                    anchor = (k, best);
                }
            }
            if self.accelerate {
                conjugate(answer, &work.before, &mut work.direction, change, &mut last_norm, k == 1);
            }
        }
        if report.status != Status::Converged && best.is_finite() {
            std::mem::swap(answer, &mut work.best);
        }
        let found = residual::certify(p, answer);
        Report { rel: found.rel, rel_q: found.rel_q, e_s: found.e_s, ..report }
    }
}

/// Sweeps before the first forecast: transients of a cold start are over.
const FIRST_FORECAST: usize = 8;

/// `|D^½ (r − r₀)|²` and `|D^½ r|²`.
fn change(p: &MixedProblem, r: &Reactions, r0: &Reactions) -> (f64, f64) {
    let (mut change, mut size) = (0.0, 0.0);
    for ((c, r), r0) in p.contacts.iter().zip(&r.contacts).zip(&r0.contacts) {
        let d = c.local.mean_diagonal();
        change += d * (*r - *r0).length_squared();
        size += d * r.length_squared();
    }
    for block in &p.blocks {
        let d = p.block_weight(block);
        for i in block.first..block.first + block.rows {
            change += d * (r.blocks[i] - r0.blocks[i]).powi(2);
            size += d * r.blocks[i].powi(2);
        }
    }
    (change, size)
}

/// One NNCG update: turns the change `answer − before` into a conjugate step.
fn conjugate(answer: &mut Answer, before: &State, direction: &mut State, norm: f64, last: &mut f64, first: bool) {
    let beta = if first || *last == 0.0 { f64::INFINITY } else { norm / *last };
    *last = norm;
    let restart = !(beta <= 1.0);
    let beta = if restart { 0.0 } else { beta };
    let step = |x: &mut f64, x0: f64, p: &mut f64| {
        let d = *x - x0;
        if restart {
            *p = d;
        } else {
            *x += beta * *p;
            *p = beta * *p + d;
        }
    };
    let vector = |x: &mut DVec3, x0: DVec3, p: &mut DVec3| {
        let d = *x - x0;
        if restart {
            *p = d;
        } else {
            *x += beta * *p;
            *p = beta * *p + d;
        }
    };
    direction.r.contacts.resize(answer.reactions.contacts.len(), DVec3::ZERO);
    direction.r.blocks.resize(answer.reactions.blocks.len(), 0.0);
    direction.v.rigid.resize(answer.velocities.rigid.len(), Twist::default());
    direction.v.general.resize(answer.velocities.general.len(), 0.0);
    for ((x, x0), p) in answer.reactions.contacts.iter_mut().zip(&before.r.contacts).zip(&mut direction.r.contacts) {
        vector(x, *x0, p);
    }
    for ((x, x0), p) in answer.velocities.rigid.iter_mut().zip(&before.v.rigid).zip(&mut direction.v.rigid) {
        vector(&mut x.linear, x0.linear, &mut p.linear);
        vector(&mut x.angular, x0.angular, &mut p.angular);
    }
    let blocks = answer.reactions.blocks.iter_mut().zip(&before.r.blocks).zip(&mut direction.r.blocks);
    let general = answer.velocities.general.iter_mut().zip(&before.v.general).zip(&mut direction.v.general);
    for ((x, x0), p) in blocks.chain(general) {
        step(x, *x0, p);
    }
}

/// One pass over all contacts, colour by colour, then over all blocks.
fn sweep(p: &MixedProblem, answer: &mut Answer, shared: &mut Vec<[AtomicU64; 6]>, threads: usize) {
    let Answer { reactions, velocities } = answer;
    if threads > 1 && p.contacts.len() >= 2 * PARALLEL {
        shared.resize_with(velocities.rigid.len(), Default::default);
        let numbers = |t: &Twist| [t.linear.x, t.linear.y, t.linear.z, t.angular.x, t.angular.y, t.angular.z];
        for (cell, twist) in shared.iter_mut().zip(&velocities.rigid) {
            cell.iter_mut().zip(numbers(twist)).for_each(|(c, x)| *c.get_mut() = x.to_bits());
        }
        sweep_colours(p, &mut reactions.contacts, |groups, r| visit_parallel(p, groups, r, shared.as_slice()));
        for (cell, twist) in shared.iter().zip(&mut velocities.rigid) {
            *twist = cell.load();
        }
    } else {
        let cells = Cell::from_mut(velocities.rigid.as_mut_slice()).as_slice_of_cells();
        sweep_colours(p, &mut reactions.contacts, |groups, r| visit_groups(p, groups, r, cells));
    }
    for block in &p.blocks {
        visit_block(p, block, &mut reactions.blocks[block.first..][..block.rows], velocities);
    }
}

/// Calls `visit(groups of one colour, their reactions)` for each colour in turn.
fn sweep_colours(p: &MixedProblem, r: &mut [DVec3], mut visit: impl FnMut(&[u32], &mut [DVec3])) {
    for colour in p.colours.windows(2) {
        let groups = &p.groups[colour[0] as usize..=colour[1] as usize];
        let (first, last) = (groups[0] as usize, groups[groups.len() - 1] as usize);
        visit(groups, &mut r[first..last]);
    }
}

/// Contacts below which a piece of a colour is not worth another thread.
const PARALLEL: usize = 256;

/// Halves a colour until pieces are small; the pieces share no body, so their order does not matter.
fn visit_parallel(p: &MixedProblem, groups: &[u32], r: &mut [DVec3], v: &[[AtomicU64; 6]]) {
    if r.len() <= PARALLEL || groups.len() <= 2 {
        visit_groups(p, groups, r, v);
        return;
    }
    let middle = (groups.len() - 1) / 2;
    let (left, right) = r.split_at_mut((groups[middle] - groups[0]) as usize);
    rayon::join(|| visit_parallel(p, &groups[..=middle], left, v), || visit_parallel(p, &groups[middle..], right, v));
}

/// A twist that is read and written in place; plain cells in series, relaxed atomics in parallel: the same bits.
trait TwistCell {
    fn load(&self) -> Twist;
    fn store(&self, twist: Twist);
}

impl TwistCell for Cell<Twist> {
    #[inline]
    fn load(&self) -> Twist {
        self.get()
    }
    #[inline]
    fn store(&self, twist: Twist) {
        self.set(twist);
    }
}

impl TwistCell for [AtomicU64; 6] {
    #[inline]
    fn load(&self) -> Twist {
        let x = |i: usize| f64::from_bits(self[i].load(Ordering::Relaxed));
        Twist { linear: DVec3::new(x(0), x(1), x(2)), angular: DVec3::new(x(3), x(4), x(5)) }
    }
    #[inline]
    fn store(&self, t: Twist) {
        let x = [t.linear.x, t.linear.y, t.linear.z, t.angular.x, t.angular.y, t.angular.z];
        self.iter().zip(x).for_each(|(c, x)| c.store(x.to_bits(), Ordering::Relaxed));
    }
}

/// Visits the contacts of some groups in order.
fn visit_groups<C: TwistCell>(p: &MixedProblem, groups: &[u32], r: &mut [DVec3], v: &[C]) {
    let first = groups[0] as usize;
    for group in groups.windows(2) {
        let range = group[0] as usize..group[1] as usize;
        let reactions = &mut r[range.start - first..range.end - first];
        visit_group(&p.rigid, &p.contacts[range], reactions, v);
    }
}

/// Visits the contacts between one pair of bodies, whose velocities stay in registers meanwhile.
#[inline]
fn visit_group<C: TwistCell>(masses: &[RigidMass], contacts: &[Contact], reactions: &mut [DVec3], v: &[C]) {
    let Some(head) = contacts.first() else { return };
    let mass = |body: u32| if body == IMMOBILE { RigidMass::default() } else { masses[body as usize] };
    let load = |body: u32| if body == IMMOBILE { Twist::default() } else { v[body as usize].load() };
    let (m1, m2) = (mass(head.body1), mass(head.body2));
    let (mut v1, mut v2) = (load(head.body1), load(head.body2));
    for (c, r) in contacts.iter().zip(reactions) {
        let u = c.to_local(v1.at(c.arm1) - v2.at(c.arm2)) + c.b;
        let new = c.local.solve(u - c.local.apply(*r), c.mu);
        let dr = new - *r;
        *r = new;
        if dr != DVec3::ZERO {
            let impulse = c.to_world(dr);
            m1.kick(&mut v1, c.arm1, impulse);
            m2.kick(&mut v2, c.arm2, -impulse);
        }
    }
    if head.body1 != IMMOBILE {
        v[head.body1 as usize].store(v1);
    }
    if head.body2 != IMMOBILE {
        v[head.body2 as usize].store(v2);
    }
}

/// Solves one block exactly (or by inner passes where rows of a non-polyhedral or bounded set couple).
fn visit_block(p: &MixedProblem, block: &super::mixed::Block, r: &mut [f64], v: &mut Velocities) {
    let n = block.rows;
    let w = &p.block_w[block.local..][..n * n];
    let (mut q, mut new, mut dr) = ([0.0; MAX_ROWS], [0.0; MAX_ROWS], [0.0; MAX_ROWS]);
    p.block_velocity(block, v, &mut q[..n]);
    for i in 0..n {
        q[i] -= (0..n).map(|j| w[i * n + j] * r[j]).sum::<f64>();
    }
    new[..n].copy_from_slice(r);
    solve_block(block.set, w, &q[..n], &mut new[..n]);
    for i in 0..n {
        dr[i] = new[i] - r[i];
        r[i] = new[i];
    }
    p.kick_block(block, &dr[..n], v);
}

/// `u = W r + q` with one admissible set; `r` holds the guess.
fn solve_block(set: AdmissibleSet, w: &[f64], q: &[f64], r: &mut [f64]) {
    let n = q.len();
    match set {
        AdmissibleSet::Free => {
            let mut rhs = [0.0; MAX_ROWS];
            (0..n).for_each(|i| rhs[i] = -q[i]);
            if crate::algebra::dense::solve_spd(w, &mut rhs[..n]) {
                r.copy_from_slice(&rhs[..n]);
                return;
            }
        }
        AdmissibleSet::Coulomb { mu } if n == 3 => {
            if let Some(local) = super::contact::LocalOperator::new(w[0], [w[1], w[2]], [w[4], w[5], w[8]]) {
                local.solve(DVec3::from_slice(q), mu).write_to_slice(r);
                return;
            }
        }
        AdmissibleSet::Coulomb { mu } if n == 2 => return solve_plane_contact(w, q, mu, r),
        _ => {}
    }
    for _ in 0..INNER_PASSES {
        for i in 0..n {
            let u: f64 = q[i] + (0..n).map(|j| w[i * n + j] * r[j]).sum::<f64>();
            let mut x = [r[i] - u / w[i * n + i]];
            set.project(&mut x);
            r[i] = x[0];
        }
    }
}

/// Passes over the rows of a block of bounds; one is exact for a single row, more only help.
const INNER_PASSES: usize = 8;

/// Two rows `(n, t)`: stick, or slip to the side that the stick reaction points to.
fn solve_plane_contact(w: &[f64], q: &[f64], mu: f64, r: &mut [f64]) {
    r.fill(0.0);
    if q[0] >= 0.0 {
        return;
    }
    let det = w[0] * w[3] - w[1] * w[2];
    if det > 0.0 {
        let stick = [-(w[3] * q[0] - w[1] * q[1]) / det, -(w[0] * q[1] - w[2] * q[0]) / det];
        if stick[0] >= 0.0 && stick[1].abs() <= mu * stick[0] {
            r.copy_from_slice(&stick);
            return;
        }
    }
    let c = q[1] - w[2] * q[0] / w[0];
    for side in [-c.signum(), c.signum()] {
        let effective = w[0] + side * mu * w[1];
        let rn = -q[0] / effective;
        // Painlevé: an invalid side has no positive effective mass or would slip against its own friction
        if effective > 0.0 && side * (q[1] + (w[2] + side * mu * w[3]) * rn) <= 0.0 {
            r.copy_from_slice(&[rn, side * mu * rn]);
            return;
        }
    }
    r[0] = -q[0] / w[0];
}
