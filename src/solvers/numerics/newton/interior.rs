//! Interior point in body space: the convex problem of known shifts, in about twenty factorisations from any start.
//!
//! ```text
//! M (v − v_free) = Hᵀ r,   y = H v + b + s n ∈ K*,   r ∈ K,   y ∘ r = τ e,   τ → 0
//! (M + Hᵀ N⁻² H) Δv = …                                  N: scaling of Nesterov and Todd, N r = N⁻¹ y
//! y = H v + b + (s + g) n,   P − r_n ≥ 0,   g ≥ 0,   g (P − r_n) = τ                    a contact that gives way by g under P
//! ```
//!
//! Predictor and corrector after Mehrotra 1992, scaling after Nesterov & Todd 1997, in the symmetric form of the cone: with
//! `z = (μ r_n, r_t)` and `ŷ = (y_n/μ, y_t)` both lie in Lorentz's cone. Contacts that are redundant cost nothing, as in all of body space;
//! what the cone's boundary leaves of the digits (1e-7 or so) is enough for the method of multipliers to go on from.

use super::multipliers::Point;
use super::space::BodySpace;
use super::{Workspace, spread};
use crate::algebra::{dense::dot, sparse::BlockSymmetric};
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::local::cones::{self, Cone};
use crate::numerics::mixed::{Answer, MixedProblem};
use crate::numerics::{Report, Status, residual};

/// Factorisations after which the method is given up; where it works it needs 12 to 25.
const MAX_ITERATIONS: usize = 40;
/// Iterations without progress that end it.
const IDLE: usize = 4;
/// Share of the error that counts as progress, in as many iterations as it takes.
const GAIN: f64 = 0.7;
/// Error above which the same share of the gap counts too: where the largest speed is far above that of most contacts, as in a wall that is
/// struck, the first ten iterations bring down the gap alone.
const BEGUN: f64 = 1e-2;
/// Share of the way to the boundary of the cones.
const SHARE: f64 = 0.99;
/// Compliance of the rows of a joint, per D: what it lets through goes into the multiplier of the next iteration.
const COMPLIANCE: f64 = 1e-9;
/// Friction below which a contact counts as smooth.
const SMOOTH: f64 = 1e-9;

/// Buffers of the method: vectors of all rows, in the symmetric form.
#[derive(Debug, Default)]
pub(super) struct Interior {
    /// the cone of each block and β of its scaling
    cones: Vec<(Cone, f64)>,
    /// 1/μ for the normal of a contact, 1 for other rows; 0 for those that are held at 0
    unit: Vec<f64>,
    /// of each block
    bounds: Vec<Bound>,
    /// u and known shift of each row that does not move
    given: Vec<f64>,
    y: Vec<f64>,
    z: Vec<f64>,
    dy: Vec<f64>,
    dz: Vec<f64>,
    /// point of the scaling N, `λ = N z = N⁻¹ y`
    w: Vec<f64>,
    lambda: Vec<f64>,
    /// `y − (H v + b + s n)` and `N⁻¹ (λ \ d)`
    miss: Vec<f64>,
    push: Vec<f64>,
    scratch: [Vec<f64>; 2],
    /// velocities, their change since there were no reactions, and by a step
    v: Vec<f64>,
    away: Vec<f64>,
    step: Vec<f64>,
    best: Vec<f64>,
}

/// The bound P of a normal reaction: one unknown and its complement more, which are eliminated within the block, as they touch its first row alone.
#[derive(Clone, Copy, Debug, Default)]
struct Bound {
    /// P; infinite where there is none
    most: f64,
    /// what is left of it, and the velocity by which the contact gives way
    left: f64,
    gives: f64,
    /// their changes by a step
    changes: [f64; 2],
    /// first column of K, its block without the bound, and `1 + K_nn g/(P − r_n)`
    column: [f64; 3],
    divisor: f64,
    /// change of the velocity that nothing else has caused, times the divisor
    push: f64,
}

impl Bound {
    fn holds(&self) -> bool {
        self.most < f64::INFINITY
    }

    fn ratio(&self) -> f64 {
        self.gives / self.left
    }

    /// Softens the block: `K − k kᵀ w/(1 + w K_nn)`, k its first column and w the ratio of the pair.
    fn soften(&mut self, k: &mut [f64]) {
        self.column = [k[0], k[3], k[6]];
        self.divisor = 1.0 + self.ratio() * k[0];
        let share = self.ratio() / self.divisor;
        for i in 1..3 {
            for j in 1..3 {
                k[3 * i + j] -= share * self.column[i] * self.column[j];
            }
        }
        for i in 0..3 {
            k[i] = self.column[i] / self.divisor;
            k[3 * i] = k[i];
        }
    }

    /// What `r_n` and the room that is left miss of the bound.
    fn miss(&self, r_n: f64) -> f64 {
        self.most - r_n - self.left
    }

    /// Takes what the bound takes from the reactions `r` that a step leads to where no velocity changes; straight to the boundary or towards the centre.
    fn lower(&mut self, r_n: f64, centre: Option<f64>, r: &mut [f64]) {
        let target = centre.map_or(0.0, |centre| centre - self.changes[0] * self.changes[1]) - self.left * self.gives;
        self.push = (target - self.gives * self.miss(r_n)) / self.left + self.ratio() * (r[0] - r_n);
        r.iter_mut().zip(self.column).for_each(|(r, k)| *r -= k * self.push / self.divisor);
    }

    /// Change of the velocity by which it gives way, where those of its rows change by `u`.
    fn give(&mut self, u: &[f64]) -> f64 {
        self.changes[1] = (self.push - self.ratio() * dot(&self.column, u)) / self.divisor;
        self.changes[1]
    }

    /// The length of a step to the boundary.
    fn longest(&self) -> f64 {
        let to_zero = |x: f64, change: f64| if change < 0.0 { -x / change } else { f64::INFINITY };
        to_zero(self.left, self.changes[0]).min(to_zero(self.gives, self.changes[1]))
    }
}

/// Error and gap of the last progress, and iterations since then.
#[derive(Debug)]
struct Progress {
    mark: f64,
    gap: f64,
    idle: usize,
}

impl Default for Progress {
    fn default() -> Self {
        Self { mark: f64::INFINITY, gap: f64::INFINITY, idle: 0 }
    }
}

impl Progress {
    /// Iterations in which neither the error has fallen to 0.7 of what it was nor, where that has not begun to fall, the gap; this one among them.
    fn idle(&mut self, error: f64, gap: f64) -> usize {
        let nearer = gap < GAIN * self.gap;
        if nearer {
            self.gap = gap;
        }
        (self.mark, self.idle) = match () {
            () if error < GAIN * self.mark => (error, 0),
            () if nearer && error > BEGUN => (self.mark, 0),
            () => (self.mark, self.idle + 1),
        };
        self.idle
    }
}

/// Solves the problem of the known shifts in `p.lagged` to `tolerance` where it can; its guess plays no part. `None` where the problem
/// holds sets that it does not know, or a matrix breaks down at once.
pub(super) fn solve(p: &MixedProblem, answer: &mut Answer, work: &mut Workspace, tolerance: f64) -> Option<Report> {
    let known = |set| matches!(set, AdmissibleSet::Free | AdmissibleSet::NonNegative);
    if !p.blocks.iter().all(|b| known(b.set)) || !work.prepare(p, answer) {
        return None;
    }
    let Workspace { space, iterate, interior, .. } = work;
    interior.run(p, answer, iterate, space, tolerance)
}

impl Interior {
    fn run(
        &mut self,
        p: &MixedProblem,
        answer: &mut Answer,
        given: &mut Point<BlockSymmetric>,
        space: &mut BodySpace,
        tolerance: f64,
    ) -> Option<Report> {
        self.start(given, space);
        let mut report = Report { status: Status::BudgetSpent, ..Report::default() };
        let (mut best, mut progress) = (f64::INFINITY, Progress::default());
        loop {
            given.r.iter_mut().zip(&self.unit).zip(&self.z).for_each(|((r, unit), z)| *r = unit * z);
            spread(&given.r, &mut answer.reactions);
            let error = residual::certify(p, answer).error();
            let idle = progress.idle(error, self.gap(space, 0.0));
            if error < best {
                best = error;
                self.best.clone_from(&given.r);
            }
            let over = best <= tolerance || idle >= IDLE || report.factorisations >= MAX_ITERATIONS || p.stop.asked();
            if over || !self.advance(&given.weights, &mut given.matrix, space) {
                break;
            }
            report.factorisations += 1;
        }
        if !best.is_finite() {
            return None;
        }
        spread(&self.best, &mut answer.reactions);
        if best <= tolerance {
            report.status = Status::Converged;
        } else if progress.idle >= IDLE {
            report.status = Status::Stalled;
        }
        Some(residual::certify(p, answer).report(report))
    }

    /// On the axes of all cones, at the largest speed without reactions.
    fn start(&mut self, p: &Point<BlockSymmetric>, space: &BodySpace) {
        let Self { cones, unit, bounds, given, y, z, dy, dz, w, lambda, miss, push, scratch: [u, b], v, away, step, .. } = self;
        for x in [&mut *unit, y, z, dy, dz, w, lambda, miss, push, b] {
            x.clear();
            x.resize(p.w.len(), 0.0);
        }
        for x in [away, step] {
            x.clear();
            x.resize(space.order(), 0.0);
        }
        v.clone_from(&p.free);
        given.clone_from(&p.w);
        u.clone_from(&p.w);
        space.add_rates(v, u);
        cones.clear();
        let mut speed = f64::MIN_POSITIVE.sqrt();
        for (set, rows) in p.sets.iter().zip(space.blocks()) {
            let u = &u[rows.clone()];
            unit[rows.clone()].fill(1.0);
            let cone = match *set {
                AdmissibleSet::Free => Cone::Free,
                AdmissibleSet::Coulomb { mu } | AdmissibleSet::Crushing { mu, .. } if mu > SMOOTH => {
                    unit[rows.start] = 1.0 / mu;
                    Cone::Lorentz(false)
                }
                AdmissibleSet::Coulomb { .. } | AdmissibleSet::Crushing { .. } => {
                    unit[rows.start + 1..rows.end].fill(0.0);
                    Cone::Orthant
                }
                _ => Cone::Orthant,
            };
            speed = match set {
                AdmissibleSet::Coulomb { .. } | AdmissibleSet::Crushing { .. } => speed.max(dot(u, u).sqrt()),
                _ => u.iter().fold(speed, |s, u| s.max(u.abs())),
            };
            cones.push((cone, 1.0));
        }
        for (rows, shift) in space.blocks().zip(&p.known) {
            given[rows.start] += shift;
        }
        bounds.clear();
        for (((rows, (cone, _)), d), set) in space.blocks().zip(&*cones).zip(&p.weights).zip(&p.sets) {
            cones::add_unit(*cone, speed, &unit[rows.clone()], &mut y[rows.clone()]);
            cones::add_unit(*cone, speed / d, &unit[rows.clone()], &mut z[rows.clone()]);
            let most = set.most();
            let r_n = if most < f64::INFINITY { unit[rows.start] * z[rows.start] } else { 0.0 };
            let left = (most - r_n).max(speed / d);
            bounds.push(Bound { most, left, gives: speed * speed / d / left, ..Bound::default() });
        }
    }

    /// One predictor and corrector; false where the matrix breaks down or there is no way to go.
    fn advance(&mut self, weights: &[f64], matrix: &mut BlockSymmetric, space: &mut BodySpace) -> bool {
        let Self { cones, unit, bounds, given, y, z, w, lambda, miss, scratch: [u, _], v, .. } = self;
        u.clone_from(given);
        space.add_rates(v, u);
        for (rows, bound) in space.blocks().zip(&*bounds).filter(|(_, bound)| bound.holds()) {
            u[rows.start] += bound.gives;
        }
        (0..u.len()).for_each(|k| miss[k] = y[k] - unit[k] * u[k]);
        for ((cone, beta), rows) in cones.iter_mut().zip(space.blocks()) {
            if !(cones::is_inside(*cone, &y[rows.clone()]) && cones::is_inside(*cone, &z[rows.clone()])) {
                return false;
            }
            *beta = cones::scale(*cone, &z[rows.clone()], &y[rows.clone()], &mut w[rows.clone()]);
            cones::apply(*cone, &w[rows.clone()], *beta, false, &z[rows.clone()], &mut lambda[rows]);
        }
        if lambda.iter().any(|x| !x.is_finite()) {
            return false;
        }
        let rows: Vec<_> = space.blocks().collect();
        space.assemble(matrix, |a, k| {
            let ((cone, beta), unit, n) = (cones[a], &unit[rows[a].clone()], rows[a].len());
            match cone {
                Cone::Free => (0..n).for_each(|i| k[i * (n + 1)] = 1.0 / (COMPLIANCE * weights[a])),
                _ => cones::inverse_square(cone, &w[rows[a].clone()], beta, k),
            }
            (0..n * n).for_each(|e| k[e] *= unit[e / n] * unit[e % n]);
            if bounds[a].holds() {
                bounds[a].soften(k);
            }
            true
        });
        if !matrix.factorise() {
            return false;
        }
        let before = self.gap(space, 0.0);
        let length = self.direction(weights, matrix, space, None).min(1.0);
        let centre = before * (self.gap(space, length) / before).clamp(0.0, 1.0).powi(3);
        let length = (SHARE * self.direction(weights, matrix, space, Some(centre))).min(1.0);
        if !(length > 0.0 && self.step.iter().all(|x| x.is_finite())) {
            return false;
        }
        for (x, d) in [(&mut self.y, &self.dy), (&mut self.z, &self.dz), (&mut self.v, &self.step), (&mut self.away, &self.step)] {
            x.iter_mut().zip(d).for_each(|(x, d)| *x += length * d);
        }
        for bound in self.bounds.iter_mut().filter(|bound| bound.holds()) {
            bound.left += length * bound.changes[0];
            bound.gives += length * bound.changes[1];
        }
        true
    }

    /// `y · z` per cone after a step of this length.
    fn gap(&self, space: &BodySpace, length: f64) -> f64 {
        let (mut sum, mut count) = (0.0, 0);
        for (rows, (cone, _)) in space.blocks().zip(&self.cones).filter(|(_, (cone, _))| *cone != Cone::Free) {
            count += if matches!(cone, Cone::Orthant) { rows.clone().filter(|&k| self.unit[k] > 0.0).count() } else { 1 };
            sum += rows.map(|k| (self.y[k] + length * self.dy[k]) * (self.z[k] + length * self.dz[k])).sum::<f64>();
        }
        for bound in self.bounds.iter().filter(|bound| bound.holds()) {
            count += 1;
            sum += (bound.left + length * bound.changes[0]) * (bound.gives + length * bound.changes[1]);
        }
        sum / f64::from(count.max(1) as u32)
    }

    /// Sets the changes of velocities and pairs, straight to the boundary or towards the centre with the second order of the change before;
    /// returns the length to the boundary of the cones.
    fn direction(&mut self, weights: &[f64], matrix: &mut BlockSymmetric, space: &BodySpace, centre: Option<f64>) -> f64 {
        let Self { cones, unit, bounds, y, z, dy, dz, w, lambda, miss, push, scratch: [a, b], away, step, .. } = self;
        for (((rows, &(cone, beta)), d), bound) in space.blocks().zip(&*cones).zip(weights).zip(&mut *bounds) {
            let (w, lambda, miss) = (&w[rows.clone()], &lambda[rows.clone()], &miss[rows.clone()]);
            let (push, unit) = (&mut push[rows.clone()], &unit[rows.clone()]);
            let (a, b) = (&mut a[rows.clone()], &mut b[rows.clone()]);
            if cone == Cone::Free {
                push.fill(0.0);
                a.iter_mut().zip(miss).for_each(|(a, miss)| *a = miss / (COMPLIANCE * d));
            } else {
                // d = −λ∘λ, and σ e − N⁻¹ Δy ∘ N Δz
                cones::product(cone, lambda, lambda, b);
                b.iter_mut().for_each(|x| *x = -*x);
                if let Some(centre) = centre {
                    cones::apply(cone, w, beta, true, &dy[rows.clone()], a);
                    cones::apply(cone, w, beta, false, &dz[rows.clone()], push);
                    let mut second = [0.0; cones::SMALL];
                    let second = &mut second[..rows.len()];
                    cones::product(cone, a, push, second);
                    b.iter_mut().zip(second).for_each(|(b, second)| *b -= *second);
                    cones::add_unit(cone, centre, unit, b);
                }
                cones::divide(cone, lambda, b);
                cones::apply(cone, w, beta, true, b, push);
                cones::apply(cone, w, beta, true, miss, b);
                cones::apply(cone, w, beta, true, b, a);
            }
            // r + push + N⁻² miss
            (0..a.len()).for_each(|k| a[k] = unit[k] * (z[rows.start + k] + push[k] + a[k]));
            if bound.holds() {
                bound.lower(unit[0] * z[rows.start], centre, a);
            }
        }
        space.mass_times(away, step);
        step.iter_mut().for_each(|x| *x = -*x);
        space.add_impulses(a, step);
        matrix.solve_factorised(step);
        a.fill(0.0);
        space.add_rates(step, a);
        let mut length = f64::INFINITY;
        for (((rows, &(cone, beta)), d), bound) in space.blocks().zip(&*cones).zip(weights).zip(bounds) {
            if bound.holds() {
                a[rows.start] += bound.give(&a[rows.clone()]);
            }
            rows.clone().for_each(|k| dy[k] = unit[k] * a[k] - miss[k]);
            if cone == Cone::Free {
                rows.clone().for_each(|k| dz[k] = -dy[k] / (COMPLIANCE * d));
                dy[rows].fill(0.0);
                continue;
            }
            let w = &w[rows.clone()];
            cones::apply(cone, w, beta, true, &dy[rows.clone()], &mut b[rows.clone()]);
            cones::apply(cone, w, beta, true, &b[rows.clone()], &mut dz[rows.clone()]);
            rows.clone().for_each(|k| dz[k] = push[k] - dz[k]);
            for (x, d) in [(&*y, &*dy), (&*z, &*dz)] {
                length = length.min(cones::longest(cone, &x[rows.clone()], &d[rows.clone()]));
            }
            if bound.holds() {
                let unit = unit[rows.start];
                bound.changes[0] = bound.miss(unit * z[rows.start]) - unit * dz[rows.start];
                length = length.min(bound.longest());
            }
        }
        length
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::numerics::mixed::{Contact, IMMOBILE, RigidMass, System, Twist};
    use crate::numerics::newton::convex;
    use glam::{DMat3, DVec3};

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
    fn slow_and_steady_progress_is_none_of_a_standstill() {
        let idle = |progress: &mut Progress, rate: f64| (0..30).map(|k| progress.idle(libm::pow(rate, f64::from(k)), 1.0)).max();
        assert_eq!(idle(&mut Progress::default(), 0.8), Some(1));
        assert_eq!(idle(&mut Progress::default(), 0.9), Some(3), "a gain of a tenth each time");
        assert!(idle(&mut Progress::default(), 0.99) > Some(IDLE));
        // a gap that falls tells only as long as the error has not begun to
        let nearer = |error: f64| (0..30).scan(Progress::default(), |p, k| Some(p.idle(error, libm::pow(0.2, f64::from(k))))).max();
        assert_eq!((nearer(2.0 * BEGUN), nearer(0.5 * BEGUN)), (Some(0), Some(29)));
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
    fn towers_whose_contacts_give_way_are_solved_by_the_interior_point_and_by_multipliers_from_anywhere() {
        for (n, mu, shift, part) in [(2, 0.5, 0.0, 0.5), (3, 0.0, 0.0, 0.3), (8, 0.3, 0.05, 0.6), (8, 1.5, 0.0, 0.2), (20, 0.6, 0.02, 0.7)]
        {
            let mut p = tower(n, mu, shift);
            let (mut answer, mut work) = (Answer::for_problem(&p), Workspace::default());
            convex(&p, &mut answer, &mut work, 1e-10).expect("known sets");
            let largest = answer.reactions.contacts.iter().map(|r| r.x).fold(0.0, f64::max);
            p.contacts.iter_mut().for_each(|c| c.most = part * largest);
            let case = format!("{n} blocks, mu {mu}, {part} of {largest} N s");
            let first = solve(&p, &mut Answer::for_problem(&p), &mut work, 1e-7).expect("known sets");
            assert!(first.error() <= 1e-6 && first.factorisations <= 40, "{case}: {first:?}");
            let multipliers = super::super::ProximalNewton { tolerance: 1e-10, ..Default::default() };
            for start in [0.0, 0.5, 2.0] {
                let mut own = answer.clone();
                own.reactions.contacts.iter_mut().for_each(|r| *r *= start);
                let report = multipliers.solve(&p, &mut own, &mut work);
                assert!(report.converged(), "{case}, from {start}: {report:?}");
                let given = own.reactions.contacts.iter().filter(|r| r.x > 0.999_999 * part * largest).count();
                assert!(given > 0 && own.reactions.contacts.iter().all(|r| r.x <= (1.0 + 1e-9) * part * largest), "{case}");
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
