//! Proximal point around a semismooth Newton method on Coulomb's law itself, with the bodies as unknowns.
//!
//! ```text
//! outer   r_c ← r,   solve  u = H v + b + α D (r − r_c)  with the law of every row,  α ← less as it gets easier
//! inner   F(r, u) = 0 (Alart–Curnier),   dF = A dr + B du,   C = A + α D B   block by block
//!         (M + Hᵀ C⁻¹ B H) Δv = −Hᵀ C⁻¹ F,   Δr = −C⁻¹ (F + B H Δv)
//! ```
//!
//! The derivative holds that of the De Saxcé shift, which [`super`] only follows from iterate to iterate; the price is a matrix that is not
//! symmetric, and no function whose descent would lead to a solution. The proximal term makes the matrix regular however redundant the
//! contacts are; as α → 0 the outer steps become Newton's on the problem itself. (Proximal point: Rockafellar 1976; Newton: Alart & Curnier
//! 1991; schedule of α: Acary, Brémond, Huber, RR-9118, 2018, PROX.)

use super::super::local::alart_curnier::{self, Steps};
use super::super::mixed::{Answer, MAX_ROWS, MixedProblem, Reactions, Twist};
use super::super::{Report, Status, residual};
use super::{Workspace, gather, space::BodySpace};
use crate::algebra::{dense, lanes::Lanes, multifrontal::BlockGeneral};
use crate::numerics::sweep::{self, GaussSeidel};
use glam::{DMat3, DVec3};

/// Settings of the method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::numerics) struct ProximalPoint {
    /// Stop when the error, [`residual::Residual::error`], is at most this.
    pub tolerance: f64,
    /// Budget of factorisations, sweeps included.
    pub max_iterations: usize,
    /// What a factorisation costs in sweeps.
    pub price: f64,
    /// Sweeps after a failure for each outer step without progress, up to twenty times that many: what leads out of circles.
    pub shake: f64,
}

/// Buffers.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    matrix: BlockGeneral,
    steps: Vec<Steps>,
    /// C⁻¹ and B of the contacts, and of the blocks row-major
    inverse: Vec<DMat3>,
    slope: Vec<DMat3>,
    block_inverse: Vec<f64>,
    block_slope: Vec<f64>,
    pub(super) centre: Reactions,
    pub(super) best: Reactions,
    pub(super) kept: Reactions,
    u: Reactions,
    f: Reactions,
    direction: Reactions,
    step: Vec<f64>,
    rows: Vec<f64>,
}

/// First α over the error of the guess, and the range of the first, and of all: a guess that is far off needs a strong proximal term.
const FIRST: f64 = 10.0;
const FIRST_RANGE: (f64, f64) = (1e-3, 1.0);
const RANGE: (f64, f64) = (1e-8, 10.0);
/// Change of α after an inner problem that took at most 4 iterations, at most 8, more; after one that failed.
const EASE: [f64; 3] = [0.5, 0.7, 0.9];
const TIGHTEN: f64 = 4.0;
/// Part of the last α that failed which is remembered at every success: between it and the present α lies the next.
const FORGET: f64 = 0.7;
/// Share of the starting |F| at which an inner solve ends, and counts as a success: a small gain will do. Next comes a smaller α, and what is
/// left of this one is solved there; to a tenth costs a quarter more.
const INNER: f64 = 0.85;
/// Newton iterations of an inner problem, at full length: contacts change their state at once, |F| grows a hundredfold and then falls. A
/// line search on |F| would crawl; where they do not converge, a larger α does more. Once, the first time that they get nowhere, from the middle of the
/// last two points: there other contacts are at the edges of their cones.
const MAX_INNER: usize = 20;
/// Iterations after which the least |F| since the first has to be less by this factor.
const STALE: (usize, f64) = (6, 0.9);
/// A cycle: |F| is within this part of what it was two iterations before, or twice of what it was three before. The few contacts at the edges of their cones
/// change there and back, as the path of the problem folds: at this α there is nothing to come.
const CYCLE: f64 = 0.1;
/// Sweeps after a failure: at least, and in prices of a factorisation; outer steps without progress that count for more of them. Contacts go
/// to and fro between stick and slip, the outer steps go round in circles, and hundreds of sweeps, not ten, lead out of them (pours of 216
/// balls: half of the cost).
const SHAKE: (usize, f64, usize) = (10, 3.0, 20);
/// Gain of an outer step that counts as progress, and steps without it that end the solve.
const PROGRESS: f64 = 0.7;
const IDLE: usize = 40;
/// Part of |F| at no reactions that solves the law of rows that give way; times that a step of Newton is halved there, and the part of what
/// it promises that is enough.
const SOFT: f64 = 1e-10;
const HALVINGS: usize = 8;
const DESCENT: f64 = 0.1;

impl ProximalPoint {
    /// Improves `answer` until its error is at most the tolerance, from its reactions.
    pub(in crate::numerics) fn solve(
        &self,
        p: &MixedProblem,
        answer: &mut Answer,
        work: &mut Workspace,
        sweeps: &mut sweep::Workspace,
    ) -> Report {
        if p.spins.is_empty() {
            return self.shaken(p, answer, work, |shake, answer| shake.solve(p, answer, sweeps).iterations);
        }
        // sweeps go on where moments stand beside their contacts and operators are at hand: those of blocks are made anew at each visit
        let mut beside = answer.clone();
        super::with_blocks(p, answer, |blocks, own| {
            self.shaken(blocks, own, work, |shake, own| {
                p.take_spin_blocks(&own.reactions, &mut beside);
                let iterations = shake.solve(p, &mut beside, sweeps).iterations;
                p.give_spin_blocks(&beside.reactions, &mut own.reactions);
                iterations
            })
        })
    }

    /// The same of contacts that resist no rolling; `shake` does so many sweeps.
    fn shaken(
        &self,
        p: &MixedProblem,
        answer: &mut Answer,
        work: &mut Workspace,
        mut shake: impl FnMut(GaussSeidel, &mut Answer) -> usize,
    ) -> Report {
        let mut found = residual::certify(p, answer);
        let mut report = Report { status: Status::BudgetSpent, ..Report::default() };
        let mut best = found.error();
        if !work.prepare(p, answer) {
            return found.report(Report { status: Status::Stalled, ..report });
        }
        let mut buffers = std::mem::take(&mut work.point);
        buffers.prepare(p);
        buffers.kept.clone_from(&answer.reactions);
        let mut alpha = (FIRST * best).clamp(FIRST_RANGE.0, FIRST_RANGE.1);
        let (mut failed, mut idle) = (0.0f64, 0);
        loop {
            let spent = report.factorisations + (report.iterations as f64 / self.price) as usize;
            if best <= self.tolerance || idle >= IDLE || spent >= self.max_iterations || p.stop.asked() {
                break;
            }
            buffers.centre.clone_from(&answer.reactions);
            let budget = MAX_INNER.min(self.max_iterations - spent);
            let (iterations, success) = buffers.inner(p, &mut work.space, alpha, budget, answer);
            report.factorisations += iterations.max(1);
            let mut error = residual::certify(p, answer).error();
            idle = if error < PROGRESS * best { 0 } else { idle + 1 };
            if success {
                let less = EASE[if iterations <= 4 { 0 } else { 1 + usize::from(iterations > 8) }] * alpha;
                alpha = if less < 1.5 * failed { (failed * alpha).sqrt().min(alpha) } else { less }.max(RANGE.0);
                failed *= FORGET;
            } else {
                failed = alpha;
                alpha = (TIGHTEN * alpha).min(RANGE.1);
                if error < best {
                    best = error;
                    buffers.kept.clone_from(&answer.reactions);
                } else if error.is_nan() || error > 2.0 * best {
                    answer.reactions.clone_from(&buffers.kept);
                }
                let most = SHAKE.0.max((SHAKE.1 * self.price).max(idle.min(SHAKE.2) as f64 * self.shake) as usize);
                report.iterations += shake(GaussSeidel { tolerance: self.tolerance, max_sweeps: most, ..GaussSeidel::default() }, answer);
                error = residual::certify(p, answer).error();
            }
            if error < best {
                best = error;
                buffers.kept.clone_from(&answer.reactions);
            }
        }
        answer.reactions.clone_from(&buffers.kept);
        work.point = buffers;
        found = residual::certify(p, answer);
        report.status = if found.error() <= self.tolerance {
            Status::Converged
        } else if idle >= IDLE {
            Status::Stalled
        } else {
            Status::BudgetSpent
        };
        found.report(report)
    }
}

/// Coulomb's law on rows that give way by `α D (r − c)`, c the `centre` or 0, from the reactions of `answer`, which moves to its best point: the factorisations,
/// and whether that solves it.
pub(in crate::numerics) fn giving_way(
    p: &MixedProblem,
    answer: &mut Answer,
    work: &mut Workspace,
    centre: Option<&Reactions>,
    alpha: f64,
    most: usize,
) -> (usize, bool) {
    if !work.prepare(p, answer) {
        return (0, false);
    }
    let mut buffers = std::mem::take(&mut work.point);
    buffers.prepare(p);
    let mut nothing = Answer::for_problem(p);
    buffers.centre.clone_from(&nothing.reactions);
    let enough = SOFT * buffers.evaluate(p, alpha, &mut nothing);
    if let Some(centre) = centre {
        buffers.centre.clone_from(centre);
    }
    let mut merit = buffers.evaluate(p, alpha, answer);
    let (mut best, mut iterations) = (merit, 0);
    buffers.kept.clone_from(&answer.reactions);
    while best > enough && iterations < most && !p.stop.asked() && buffers.newton(p, &mut work.space, [alpha; 2], &answer.reactions) {
        buffers.best.clone_from(&answer.reactions);
        let before = merit;
        let mut t = 1.0;
        for _ in 0..HALVINGS {
            answer.reactions.clone_from(&buffers.best);
            buffers.advance(t, &mut answer.reactions);
            merit = buffers.evaluate(p, alpha, answer);
            if merit <= (1.0 - DESCENT * t) * before {
                break;
            }
            t *= 0.5;
        }
        iterations += 1;
        if merit < best {
            best = merit;
            buffers.kept.clone_from(&answer.reactions);
        }
    }
    answer.reactions.clone_from(&buffers.kept);
    buffers.evaluate(p, alpha, answer);
    work.point = buffers;
    (iterations, best <= enough)
}

/// Whether |F| repeats itself after two iterations, or twice after three.
fn is_cycle(last: &[f64; 5]) -> bool {
    let again = |k: usize, period: usize| (last[k] / last[k + period] - 1.0).abs() < CYCLE;
    again(0, 2) || again(0, 3) && again(1, 3)
}

impl Buffers {
    pub(super) fn prepare(&mut self, p: &MixedProblem) {
        self.steps.clear();
        for c in &p.contacts {
            let w = &c.local;
            let own = [w.nn, w.nt[0], w.nt[1], w.nt[0], w.tt[0], w.tt[1], w.nt[1], w.tt[1], w.tt[2]];
            self.steps.push(Steps::of(c.set(), Some(&own), 3, w.mean_diagonal()));
        }
        for b in &p.blocks {
            let own = &p.block_w[b.local..][..b.rows * b.rows];
            self.steps.push(Steps::of(b.set, Some(own), b.rows, p.block_weight(b)));
        }
        for r in [&mut self.u, &mut self.f, &mut self.direction] {
            r.contacts.resize(p.contacts.len(), DVec3::ZERO);
            r.blocks.resize(p.block_b.len(), 0.0);
        }
        self.inverse.resize(p.contacts.len(), DMat3::ZERO);
        self.slope.resize(p.contacts.len(), DMat3::ZERO);
        let entries = p.blocks.iter().map(|b| b.rows * b.rows).sum();
        self.block_inverse.resize(entries, 0.0);
        self.block_slope.resize(entries, 0.0);
    }

    /// Newton on the proximal problem from `answer`, which moves to its best point; the iterations, and whether |F| fell far enough.
    fn inner(&mut self, p: &MixedProblem, space: &mut BodySpace, alpha: f64, budget: usize, answer: &mut Answer) -> (usize, bool) {
        let start = self.evaluate(p, alpha, answer);
        let mut best = start;
        self.best.clone_from(&answer.reactions);
        let (mut least, mut stale, mut iterations, mut halved) = (f64::INFINITY, 0, 0, false);
        // |F| of the last five iterations, the last one first
        let mut last = [f64::INFINITY; 5];
        while iterations < budget && best > INNER * start && !p.stop.asked() && self.newton(p, space, [alpha; 2], &answer.reactions) {
            iterations += 1;
            self.advance(1.0, &mut answer.reactions);
            let mut merit = self.evaluate(p, alpha, answer);
            (least, stale) = if merit < STALE.1 * least { (merit, 0) } else { (least, stale + 1) };
            last.rotate_right(1);
            last[0] = merit;
            if merit.is_finite() && (stale >= STALE.0 || is_cycle(&last)) && !halved {
                (last, least, stale, halved) = ([f64::INFINITY; 5], f64::INFINITY, 0, true);
                self.advance(-0.5, &mut answer.reactions);
                merit = self.evaluate(p, alpha, answer);
            }
            if !merit.is_finite() || stale >= STALE.0 || is_cycle(&last) {
                break;
            }
            if merit < best {
                best = merit;
                self.best.clone_from(&answer.reactions);
            }
        }
        answer.reactions.clone_from(&self.best);
        (iterations, best <= INNER * start)
    }

    /// Goes on by so much of Newton's step.
    pub(super) fn advance(&self, part: f64, r: &mut Reactions) {
        r.contacts.iter_mut().zip(&self.direction.contacts).for_each(|(r, d)| *r += part * *d);
        r.blocks.iter_mut().zip(&self.direction.blocks).for_each(|(r, d)| *r += part * d);
    }

    /// Sets u and F at the reactions of `answer`, and its velocities; returns `|D^½ F|`.
    pub(super) fn evaluate(&mut self, p: &MixedProblem, alpha: f64, answer: &mut Answer) -> f64 {
        p.velocities(&answer.reactions, &mut answer.velocities);
        let (r, v) = (&answer.reactions, &answer.velocities);
        let mut sum = Lanes::best().run(
            #[inline(always)]
            || self.evaluate_contacts(p, alpha, &r.contacts, &v.rigid),
        );
        for (k, b) in p.blocks.iter().enumerate() {
            let d = p.block_weight(b);
            let rows = b.first..b.first + b.rows;
            let u = &mut self.u.blocks[rows.clone()];
            p.block_velocity(b, v, u);
            for (u, (r, c)) in u.iter_mut().zip(r.blocks[rows.clone()].iter().zip(&self.centre.blocks[rows.clone()])) {
                *u += alpha * d * (r - c);
            }
            let f = &mut self.f.blocks[rows.clone()];
            alart_curnier::value(b.set, self.steps[p.contacts.len() + k].with_proximal(alpha), &r.blocks[rows], u, f);
            sum += d * f.iter().map(|f| f * f).sum::<f64>();
        }
        sum.sqrt()
    }

    /// The contacts' part of [`evaluate`](Self::evaluate); its square.
    #[inline(always)]
    fn evaluate_contacts(&mut self, p: &MixedProblem, alpha: f64, r: &[DVec3], v: &[Twist]) -> f64 {
        let mut sum = 0.0;
        for (k, (c, &r)) in p.contacts.iter().zip(r).enumerate() {
            let d = c.local.mean_diagonal();
            let u = p.contact_velocity(c, v) + alpha * d * (r - self.centre.contacts[k]);
            let mut f = [0.0; 3];
            alart_curnier::value(c.set(), self.steps[k].with_proximal(alpha), &r.to_array(), &u.to_array(), &mut f);
            self.u.contacts[k] = u;
            self.f.contacts[k] = DVec3::from_array(f);
            sum += d * self.f.contacts[k].length_squared();
        }
        sum
    }

    /// The contacts' part of [`newton`](Self::newton), all but what the matrix gives.
    #[inline(always)]
    fn derive_contacts(&mut self, p: &MixedProblem, [alpha, own]: [f64; 2], r: &[DVec3]) {
        for (k, (c, r)) in p.contacts.iter().zip(r).enumerate() {
            let (mut a, mut b) = ([0.0; 9], [0.0; 9]);
            let steps = self.steps[k].with_proximal(own);
            alart_curnier::derivative(c.set(), steps, &r.to_array(), &self.u.contacts[k].to_array(), &mut a, &mut b);
            let (a, b) = (DMat3::from_cols_array(&a).transpose(), DMat3::from_cols_array(&b).transpose());
            self.inverse[k] = (a + alpha * c.local.mean_diagonal() * b).inverse();
            self.slope[k] = b;
            self.direction.contacts[k] = -(self.inverse[k] * self.f.contacts[k]);
        }
    }

    /// Sets `direction` to Newton's step from the point that was evaluated last, with α in the matrix and the α that F was evaluated with; false when a
    /// matrix is singular.
    pub(super) fn newton(&mut self, p: &MixedProblem, space: &mut BodySpace, [alpha, own]: [f64; 2], r: &Reactions) -> bool {
        Lanes::best().run(
            #[inline(always)]
            || self.derive_contacts(p, [alpha, own], &r.contacts),
        );
        let mut at = 0;
        for (k, block) in p.blocks.iter().enumerate() {
            let n = block.rows;
            let rows = block.first..block.first + n;
            let (mut a, mut lu) = ([0.0; MAX_ROWS * MAX_ROWS], [0.0; MAX_ROWS * MAX_ROWS]);
            let slope = &mut self.block_slope[at..at + n * n];
            let steps = self.steps[p.contacts.len() + k].with_proximal(own);
            alart_curnier::derivative(block.set, steps, &r.blocks[rows.clone()], &self.u.blocks[rows.clone()], &mut a[..n * n], slope);
            let weight = alpha * p.block_weight(block);
            lu.iter_mut().zip(&a).zip(slope.iter()).for_each(|((c, a), b)| *c = a + weight * b);
            let mut order = [0u32; MAX_ROWS];
            if dense::lu(&mut lu[..n * n], &mut order[..n]).is_some() {
                return false;
            }
            let inverse = &mut self.block_inverse[at..at + n * n];
            for j in 0..n {
                let mut column = [0.0; MAX_ROWS];
                column[j] = 1.0;
                dense::lu_solve(&lu[..n * n], &order[..n], &mut column[..n]);
                (0..n).for_each(|i| inverse[i * n + j] = column[i]);
            }
            let f = &self.f.blocks[rows.clone()];
            for (row, d) in inverse.chunks_exact(n).zip(&mut self.direction.blocks[rows]) {
                *d = -row.iter().zip(f).map(|(c, f)| c * f).sum::<f64>();
            }
            at += n * n;
        }
        let (inverse, slope) = (&self.inverse, &self.slope);
        let mut matrix = std::mem::take(&mut self.matrix);
        let mut at = 0;
        space.assemble(&mut matrix, |a, d| {
            let Some(block) = a.checked_sub(p.contacts.len()) else {
                (inverse[a] * slope[a]).transpose().write_cols_to_slice(d);
                return slope[a] != DMat3::ZERO;
            };
            let n = p.blocks[block].rows;
            let (c, b) = (&self.block_inverse[at..at + n * n], &self.block_slope[at..at + n * n]);
            for i in 0..n {
                for j in 0..n {
                    d[i * n + j] = (0..n).map(|k| c[i * n + k] * b[k * n + j]).sum();
                }
            }
            at += n * n;
            true
        });
        let regular = matrix.factorise();
        self.step.clear();
        self.step.resize(space.order(), 0.0);
        gather(&self.direction, &mut self.rows);
        space.add_impulses(&self.rows, &mut self.step);
        if regular {
            matrix.solve(&mut self.step);
        }
        self.matrix = matrix;
        if !regular || self.step.iter().any(|x| !x.is_finite()) {
            return false;
        }
        self.rows.fill(0.0);
        space.add_rates(&self.step, &mut self.rows);
        let (contacts, blocks) = self.rows.split_at(3 * p.contacts.len());
        for (k, u) in contacts.as_chunks().0.iter().enumerate() {
            self.direction.contacts[k] -= self.inverse[k] * (self.slope[k] * DVec3::from_array(*u));
        }
        let mut at = 0;
        for block in &p.blocks {
            let n = block.rows;
            let rows = block.first..block.first + n;
            let u = &blocks[rows.clone()];
            let (c, b) = (&self.block_inverse[at..at + n * n], &self.block_slope[at..at + n * n]);
            let mut bu = [0.0; MAX_ROWS];
            for (row, out) in b.chunks_exact(n).zip(&mut bu) {
                *out = row.iter().zip(u).map(|(b, u)| b * u).sum();
            }
            for (row, d) in c.chunks_exact(n).zip(&mut self.direction.blocks[rows]) {
                *d -= row.iter().zip(&bu).map(|(c, x)| c * x).sum::<f64>();
            }
            at += n * n;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ProximalNewton, interior::tests::tower};
    use super::*;

    #[test]
    fn towers_that_slide_and_rock_meet_coulombs_law_where_a_shift_that_follows_stalls() {
        let mut stalled = 0;
        for (n, mu) in [(2, 0.5), (3, 0.0), (8, 0.3), (8, 1.5), (12, 0.1), (20, 0.6), (25, 0.3)] {
            let mut p = tower(n, mu, 0.0);
            p.lagged.clear();
            let (mut work, mut sweeps) = (Workspace::default(), sweep::Workspace::default());
            let (mut answer, mut other) = (Answer::for_problem(&p), Answer::for_problem(&p));
            let report = ProximalPoint { tolerance: 1e-10, max_iterations: 300, price: 20.0, shake: 0.0 }.solve(
                &p,
                &mut answer,
                &mut work,
                &mut sweeps,
            );
            assert!(report.converged() && report.factorisations <= 300, "{n} blocks, mu {mu}: {report:?}");
            for (c, r) in p.contacts.iter().zip(&answer.reactions.contacts) {
                let u = p.contact_velocity(c, &answer.velocities.rigid);
                let (slip, grip) = (u.y.hypot(u.z), r.y.hypot(r.z));
                assert!(u.x > -1e-8 && grip <= mu * r.x + 1e-8 && (u.x * r.x).abs() < 1e-8, "{u} {r}");
                assert!((u.y * r.y + u.z * r.z + slip * mu * r.x).abs() < 1e-8, "{u} {r}");
            }
            let follows = ProximalNewton { tolerance: 1e-10, max_iterations: 200, ..ProximalNewton::default() };
            stalled += usize::from(!follows.solve(&p, &mut other, &mut work).converged());
        }
        assert!(stalled > 0, "the derivative of the shift is worth its price nowhere");
    }

    #[test]
    fn norms_that_repeat_are_a_cycle_and_norms_that_fall_or_jump_about_are_not() {
        let fed = |norms: &[f64]| {
            let mut last = [f64::INFINITY; 5];
            norms.iter().position(|norm| {
                last.rotate_right(1);
                last[0] = *norm;
                is_cycle(&last)
            })
        };
        assert_eq!(fed(&[6.32, 0.94, 0.88, 0.90, 0.884, 0.9]), Some(3), "0.94 and 0.90 are within a tenth");
        assert_eq!(fed(&[60.0, 1.3, 590.0, 343.0, 1.35, 590.0, 343.0]), Some(5));
        assert_eq!(fed(&[104.0, 49.0, 20.0, 9.0, 3.0, 0.7, 0.1]), None);
        assert_eq!(fed(&[2e3, 14.0, 5e3, 1e3, 3.7e2, 64.0, 52.0]), None);
    }

    #[test]
    fn a_small_part_of_newtons_step_takes_the_same_part_of_the_equations_away() {
        let mut p = tower(8, 0.3, 0.0);
        p.lagged.clear();
        let (mut work, mut answer) = (Workspace::default(), Answer::for_problem(&p));
        GaussSeidel { max_sweeps: 3, ..GaussSeidel::default() }.solve(&p, &mut answer, &mut sweep::Workspace::default());
        assert!(work.prepare(&p, &answer));
        let (mut buffers, alpha, part) = (Buffers::default(), 1e-2, 1e-7);
        buffers.prepare(&p);
        buffers.centre.clone_from(&answer.reactions);
        let start = buffers.evaluate(&p, alpha, &mut answer);
        let before = buffers.f.clone();
        assert!(start > 0.0 && buffers.newton(&p, &mut work.space, [alpha; 2], &answer.reactions));
        buffers.advance(part, &mut answer.reactions);
        buffers.evaluate(&p, alpha, &mut answer);
        let changes = before.contacts.iter().zip(&buffers.f.contacts).map(|(b, a)| (*a - (1.0 - part) * *b).length());
        let changes = changes.chain(before.blocks.iter().zip(&buffers.f.blocks).map(|(b, a)| (a - (1.0 - part) * b).abs()));
        let worst = changes.fold(0.0, f64::max) / part;
        assert!(worst < 1e-4 * start, "{worst:e} of {start:e}");
    }
}
