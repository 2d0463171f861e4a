//! Bounds on at most 40 rows: principal pivoting whose bases are looked up before they are inverted.
//!
//! ```text
//! basis      r_i = l_i, u_i or 0 (i ∉ B)        r_B = −W_BB⁻¹ (q_B + W_BN r_N)      as one map  r = A q + c
//! wrong      r_i outside its bounds (i ∈ B), u_i of the wrong sign (i ∉ B): all are exchanged, in the end one at a time
//! ```
//!
//! A basis that still stands costs two products of order n. What counts as wrong is measured row by row, in units of that row, so
//! that a small row is not solved by the largeness of another.

use super::bounds::Fallback;
use super::columns::{add_product, invert};
use super::plan::{Plan, Sums};
use super::{Ask, RoutedProblem};
use crate::algebra::dense::cholesky;
use crate::numerics::{Report, Status};

/// Most rows: one bit each in a word, and inverses small enough to be kept.
pub(super) const LARGEST: usize = 40;
/// Numbers that the kept inverses hold in all, about.
const MEMORY: usize = 32_768;
/// Exchanges of all wrong rows, then of the last wrong row alone, before pivoting is given up.
const ALL: usize = 12;
const SINGLE: usize = 60;
/// Share of its terms up to which the u of a basic row is rounding: it is 0 then.
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// Other bases of the same active rows that are tried when the way of pivoting is blocked.
const OTHERS: usize = 8;

/// Rows as bits: a basis with bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Key {
    active: u64,
    basic: u64,
    upper: u64,
}

/// What the answer of a basis is worth.
struct Verdict {
    wrong: u64,
    /// every row fits its law without any misfit
    clean: bool,
    /// a basic row is further from `u = 0` than rounding allows
    rough: bool,
    /// some r had left its bounds by rounding
    moved: bool,
    next: Key,
}

/// The bases of one revision, with their inverses.
#[derive(Debug, Default)]
pub(super) struct Bases {
    n: usize,
    /// W by columns
    w: Vec<f64>,
    /// 1 / W_ii, 0 where that is not finite
    inverse: Vec<f64>,
    /// rows of each block
    rows: Vec<u64>,
    /// the symmetric part of W is positive definite: r is unique
    definite: bool,
    keys: Vec<Key>,
    used: Vec<u64>,
    regular: Vec<bool>,
    /// A by columns, c, and the largest |A_ij| of each row, basis after basis
    a: Vec<f64>,
    c: Vec<f64>,
    a_max: Vec<f64>,
    clock: u64,
    last: Option<usize>,
    last_key: Key,
    one_row: bool,
    work: Vec<f64>,
    order: Vec<usize>,
    members: Vec<usize>,
    guess: Vec<f64>,
}

impl Bases {
    /// True when the last solve had one active row.
    pub(super) fn one_row(&self) -> bool {
        self.one_row
    }

    /// Drops every basis.
    pub(super) fn forget(&mut self, plan: &Plan) {
        self.n = usize::MAX;
        self.keys.clear();
        self.last = None;
        self.rows.clear();
        if plan.order() <= LARGEST {
            let mask = |from: usize, to: usize| (from..to).fold(0, |m, i| m | 1 << i);
            self.rows.extend(plan.offsets.windows(2).map(|o| mask(o[0], o[1])));
        }
    }

    /// Takes W; room for all bases is asked for here.
    #[cold]
    fn take(&mut self, p: &RoutedProblem) {
        let n = p.order();
        self.n = n;
        self.w.clear();
        self.w.resize(n * n, 0.0);
        for i in 0..p.problem.w.block_count() {
            for (j, block) in p.problem.w.row(i) {
                let (rows, columns) = (p.problem.w.range(i), p.problem.w.range(j));
                for (row, x) in rows.zip(block.chunks_exact(columns.len())) {
                    columns.clone().zip(x).for_each(|(column, x)| self.w[column * n + row] = *x);
                }
            }
        }
        self.inverse.clear();
        self.inverse.extend((0..n).map(|i| 1.0 / self.w[i * n + i]).map(|x| if x.is_finite() { x } else { 0.0 }));
        self.work.clear();
        self.work.resize(n * n + n, 0.0);
        for i in 0..n {
            (0..n).for_each(|j| self.work[i * n + j] = 0.5 * (self.w[i * n + j] + self.w[j * n + i]));
        }
        self.definite = cholesky(&mut self.work[..n * n], n);
        let room = (MEMORY / (n * n)).clamp(4, 64);
        self.a.resize(room * n * n, 0.0);
        self.c.resize(room * n, 0.0);
        self.a_max.resize(room * n, 0.0);
        self.keys.reserve(room);
        self.used.clear();
        self.used.resize(room, 0);
        self.regular.clear();
        self.regular.resize(room, false);
        self.order.reserve(n);
        self.members.reserve(n);
        self.guess.resize(n, 0.0);
    }

    /// Improves r and sets u; every active block has bounds.
    #[inline(never)]
    pub(super) fn solve(&mut self, ask: Ask, bounds: &mut Fallback, r: &mut [f64], u: &mut [f64]) -> Report {
        let Ask { plan, p, tolerance } = ask;
        if self.n != p.order() {
            self.take(p);
        }
        let active = self.rows.iter().zip(&p.active).fold(0, |all, (rows, active)| if *active { all | rows } else { all });
        self.one_row = active.is_power_of_two();
        if self.one_row {
            let i = active.trailing_zeros() as usize;
            if self.inverse[i] > 0.0 {
                return self.one(plan, &p.problem.q, tolerance, i, r, u);
            }
        }
        if !self.definite {
            if self.guess_stands(ask, active, r, u) {
                let report = self.report(plan, active, &p.problem.q, r, u, tolerance);
                if report.converged() {
                    return report;
                }
            }
            // still wanted where pivoting ends nowhere
            self.guess.copy_from_slice(r);
        }
        let mut factorisations = 0;
        let start = match self.last {
            Some(last) if self.keys[last].active == active => Some(last),
            _ => self.start(plan, active, &p.problem.q, r, &mut factorisations),
        };
        if let Some(last) = start
            && let Some(report) = self.pivot(ask, last, r, u, &mut factorisations)
        {
            return report;
        }
        self.give_up(ask, active, bounds, r, u, factorisations)
    }

    /// One row alone: `r = P(−q / w)`.
    #[inline]
    fn one(&self, plan: &Plan, q: &[f64], tolerance: f64, i: usize, r: &mut [f64], u: &mut [f64]) -> Report {
        let x = plan.project(i, -q[i] * self.inverse[i]);
        r.fill(0.0);
        r[i] = x;
        for ((u, q), w) in u.iter_mut().zip(q).zip(&self.w[i * self.n..]) {
            *u = q + w * x;
        }
        let inside = x > plan.lower[i] && x < plan.upper[i];
        if inside && u[i].abs() <= ROUNDING * q[i].abs() {
            // what rounding leaves of q − w (q / w)
            u[i] = 0.0;
        }
        if x == plan.project(i, x - u[i]) {
            return Report::default();
        }
        let mut sums = Sums::default();
        sums.add_row(plan, i, q[i], x, u[i]);
        sums.report(plan, tolerance)
    }

    /// `u = W r + q`
    #[inline(always)]
    fn velocity(&self, q: &[f64], r: &[f64], u: &mut [f64]) {
        u.copy_from_slice(q);
        add_product(&self.w, r, u);
    }

    #[inline(always)]
    fn report(&self, plan: &Plan, active: u64, q: &[f64], r: &[f64], u: &[f64], tolerance: f64) -> Report {
        let mut sums = Sums::default();
        for i in 0..self.n {
            if active >> i & 1 != 0 {
                sums.add_row(plan, i, q[i], r[i], u[i]);
            }
        }
        sums.report(plan, tolerance)
    }

    /// True when the guess, put inside its bounds, is a solution.
    fn guess_stands(&self, ask: Ask, active: u64, r: &mut [f64], u: &mut [f64]) -> bool {
        let Ask { plan, p, tolerance } = ask;
        let mut largest = 0.0f64;
        for (i, r) in r.iter_mut().enumerate() {
            let here = active >> i & 1 != 0 && r.is_finite();
            *r = if here { plan.project(i, *r) } else { 0.0 };
            largest = largest.max(r.abs());
        }
        self.velocity(&p.problem.q, r, u);
        (0..self.n).filter(|i| active >> i & 1 != 0).all(|i| {
            let slack = tolerance * (p.problem.q[i].abs() + plan.w_max[i] * largest);
            (u[i] <= slack || r[i] <= plan.lower[i]) && (u[i] >= -slack || r[i] >= plan.upper[i])
        })
    }

    /// A first basis for these active rows: the latest one that had them, or the one that the guess and q point to.
    #[cold]
    fn start(&mut self, plan: &Plan, active: u64, q: &[f64], r: &[f64], factorisations: &mut usize) -> Option<usize> {
        let known = (0..self.keys.len()).filter(|&k| self.keys[k].active == active && self.regular[k]);
        if let Some(latest) = known.max_by_key(|&k| self.used[k]) {
            return Some(latest);
        }
        let old = self.last_key;
        let mut key = Key { active, ..Key::default() };
        for i in (0..self.n).filter(|i| active >> i & 1 != 0) {
            let bit = 1 << i;
            let (lower, upper) = (plan.lower[i], plan.upper[i]);
            let (basic, high) = if lower == f64::NEG_INFINITY && upper == f64::INFINITY {
                (true, false)
            } else if old.active & bit != 0 {
                (old.basic & bit != 0, old.upper & bit != 0)
            } else if r[i] >= upper {
                (false, true)
            } else {
                (lower == f64::NEG_INFINITY || r[i] > lower || q[i] < 0.0, false)
            };
            key.basic |= if basic { bit } else { 0 };
            // a bound that is infinite in this revision cannot be held
            key.upper |= if high && upper < f64::INFINITY { bit } else { 0 };
            if !basic && !high && lower == f64::NEG_INFINITY || high && upper == f64::INFINITY {
                key.basic |= bit;
            }
        }
        self.find(plan, key, factorisations)
    }

    /// The place of a basis, inverted now where it is not known; `None` where `W_BB` is singular.
    #[inline(never)]
    fn find(&mut self, plan: &Plan, key: Key, factorisations: &mut usize) -> Option<usize> {
        let k = match self.keys.iter().position(|k| *k == key) {
            Some(k) => k,
            None => {
                let k = if self.keys.len() < self.used.len() {
                    self.keys.push(key);
                    self.keys.len() - 1
                } else {
                    let oldest = (0..self.used.len()).min_by_key(|&k| self.used[k]).unwrap_or(0);
                    self.keys[oldest] = key;
                    oldest
                };
                if self.last == Some(k) {
                    self.last = None;
                }
                *factorisations += 1;
                self.regular[k] = self.invert(plan, k);
                k
            }
        };
        self.clock += 1;
        self.used[k] = self.clock;
        self.regular[k].then_some(k)
    }

    /// Fills A and c of basis k; false where `W_BB` is singular to rounding.
    fn invert(&mut self, plan: &Plan, k: usize) -> bool {
        let (n, key) = (self.n, self.keys[k]);
        self.members.clear();
        self.members.extend((0..n).filter(|i| key.basic >> i & 1 != 0));
        let (members, w) = (&self.members, &self.w);
        let m = members.len();
        let (b, load) = self.work.split_at_mut(n * n);
        let b = &mut b[..m * m];
        for (row, &i) in b.chunks_exact_mut(m.max(1)).zip(members) {
            row.iter_mut().zip(members).for_each(|(x, &j)| *x = w[j * n + i]);
        }
        if !invert(b, m, &mut self.order) {
            return false;
        }
        let (a, c) = (&mut self.a[k * n * n..][..n * n], &mut self.c[k * n..][..n]);
        let a_max = &mut self.a_max[k * n..][..n];
        a.fill(0.0);
        a_max.fill(0.0);
        // what the rows on their bounds push with
        load.fill(0.0);
        for i in 0..n {
            c[i] = match (key.active >> i & 1, key.basic >> i & 1, key.upper >> i & 1) {
                (0, ..) | (_, 1, _) => 0.0,
                (_, _, 1) => plan.upper[i],
                _ => plan.lower[i],
            };
            if c[i] != 0.0 {
                load.iter_mut().zip(&w[i * n..]).for_each(|(load, w)| *load += w * c[i]);
            }
        }
        for (row, &i) in b.chunks_exact(m.max(1)).zip(members) {
            for (x, &j) in row.iter().zip(members) {
                a[j * n + i] = -x;
                c[i] -= x * load[j];
                a_max[i] = a_max[i].max(x.abs());
            }
        }
        a_max.iter().chain(c.iter()).all(|x| x.is_finite())
    }

    /// `r = A q + c` and `u = W r + q` of basis k.
    #[inline(always)]
    fn answer(&self, k: usize, q: &[f64], r: &mut [f64], u: &mut [f64]) {
        let n = self.n;
        r.copy_from_slice(&self.c[k * n..][..n]);
        add_product(&self.a[k * n * n..][..n * n], q, r);
        self.velocity(q, r, u);
    }

    /// Looks at every active row, and puts r inside its bounds. A function of its own: within `pivot` a diode bridge takes 15 % longer.
    #[inline(never)]
    fn judge(&self, plan: &Plan, k: usize, tolerance: f64, q: &[f64], r: &mut [f64], u: &mut [f64]) -> Verdict {
        let (n, key) = (self.n, self.keys[k]);
        let largest = |x: &[f64]| x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let (q_max, r_max) = (tolerance * largest(q), tolerance * largest(r));
        let (c, a_max) = (&self.c[k * n..][..n], &self.a_max[k * n..][..n]);
        let (lower, upper, w_max) = (&plan.lower[..n], &plan.upper[..n], &plan.w_max[..n]);
        let (q, r, u) = (&q[..n], &mut r[..n], &mut u[..n]);
        let rounding = (ROUNDING / tolerance).min(1.0);
        let mut v = Verdict { wrong: 0, clean: true, rough: false, moved: false, next: key };
        for i in 0..n {
            let bit = 1 << i;
            if key.active & bit == 0 {
                continue;
            }
            let slack = tolerance * q[i].abs() + w_max[i] * r_max;
            if key.basic & bit != 0 {
                if u[i].abs() <= rounding * slack {
                    u[i] = 0.0;
                } else {
                    v.clean = false;
                    v.rough |= u[i].abs() > slack;
                }
                if !(r[i] >= lower[i] && r[i] <= upper[i]) {
                    let inside = r[i].max(lower[i]).min(upper[i]);
                    let slack = tolerance * c[i].abs() + a_max[i] * q_max;
                    if (r[i] - inside).abs() > slack {
                        v.wrong |= bit;
                        v.next.basic &= !bit;
                        v.next.upper |= if r[i] > inside { bit } else { 0 };
                    }
                    v.moved = true;
                    r[i] = inside;
                }
            } else {
                let pull = if key.upper & bit != 0 { u[i] } else { -u[i] };
                if pull > 0.0 && lower[i] < upper[i] {
                    v.clean = false;
                    if pull > slack {
                        v.wrong |= bit;
                        v.next.basic |= bit;
                        v.next.upper &= !bit;
                    }
                }
            }
        }
        v
    }

    /// Goes from basis to basis until no row is wrong.
    #[inline(never)]
    fn pivot(&mut self, ask: Ask, first: usize, r: &mut [f64], u: &mut [f64], factorisations: &mut usize) -> Option<Report> {
        let Ask { plan, p, tolerance } = ask;
        let mut k = first;
        let (mut fewest, mut patience) = (u32::MAX, ALL);
        for iteration in 0..ALL + SINGLE {
            self.answer(k, &p.problem.q, r, u);
            let mut v = self.judge(plan, k, tolerance, &p.problem.q, r, u);
            if v.wrong == 0 {
                if v.rough {
                    self.refine(plan, k, &p.problem.q, r, u);
                } else if v.moved {
                    self.velocity(&p.problem.q, r, u);
                }
                let exact = v.clean && !v.moved;
                let report = if exact { Report::default() } else { self.report(plan, self.keys[k].active, &p.problem.q, r, u, tolerance) };
                if report.converged()
                    && (!(v.rough || v.moved) || self.within_rounding(plan, self.keys[k].active, tolerance, &p.problem.q, r, u))
                {
                    if self.last != Some(k) || iteration > 0 {
                        self.clock += 1;
                        self.used[k] = self.clock;
                        self.last = Some(k);
                        self.last_key = self.keys[k];
                    }
                    return Some(Report { iterations: iteration, factorisations: *factorisations, ..report });
                }
                break;
            }
            let count = v.wrong.count_ones();
            if count < fewest {
                (fewest, patience) = (count, ALL);
            } else {
                patience = patience.saturating_sub(1);
            }
            if patience == 0 {
                let keep = self.keys[k];
                let bit = 1u64 << (63 - v.wrong.leading_zeros());
                v.next = Key {
                    basic: keep.basic & !bit | v.next.basic & bit,
                    upper: keep.upper & !bit | v.next.upper & bit,
                    active: keep.active,
                };
            }
            match self.find(plan, v.next, factorisations) {
                Some(next) => k = next,
                None => break,
            }
        }
        self.try_others(ask, self.keys[first].active, r, u, *factorisations)
    }

    /// The other bases of these active rows, the latest first.
    #[cold]
    fn try_others(&mut self, ask: Ask, active: u64, r: &mut [f64], u: &mut [f64], factorisations: usize) -> Option<Report> {
        let Ask { plan, p, tolerance } = ask;
        let mut before = u64::MAX;
        for tried in 0..OTHERS {
            let candidates = (0..self.keys.len()).filter(|&k| self.keys[k].active == active && self.regular[k] && self.used[k] < before);
            let k = candidates.max_by_key(|&k| self.used[k])?;
            before = self.used[k];
            self.answer(k, &p.problem.q, r, u);
            let v = self.judge(plan, k, tolerance, &p.problem.q, r, u);
            if v.wrong != 0 {
                continue;
            }
            self.refine(plan, k, &p.problem.q, r, u);
            let report = self.report(plan, active, &p.problem.q, r, u, tolerance);
            if report.converged() && self.within_rounding(plan, active, tolerance, &p.problem.q, r, u) {
                self.clock += 1;
                self.used[k] = self.clock;
                self.last = Some(k);
                self.last_key = self.keys[k];
                return Some(Report { iterations: tried + 1, factorisations, ..report });
            }
        }
        None
    }

    /// One step of iterative refinement: the basic rows' own u is taken away by A.
    #[cold]
    fn refine(&mut self, plan: &Plan, k: usize, q: &[f64], r: &mut [f64], u: &mut [f64]) {
        let (n, key) = (self.n, self.keys[k]);
        for _ in 0..2 {
            let work = &mut self.work[..n];
            work.copy_from_slice(u);
            add_product(&self.a[k * n * n..][..n * n], work, r);
            for i in (0..n).filter(|i| key.active >> i & 1 != 0) {
                r[i] = plan.project(i, r[i]);
            }
            self.velocity(q, r, u);
        }
    }

    /// Every active row fits its law, but for a misfit that its own terms excuse.
    fn within_rounding(&self, plan: &Plan, active: u64, tolerance: f64, q: &[f64], r: &[f64], u: &[f64]) -> bool {
        (0..self.n).filter(|i| active >> i & 1 != 0).all(|i| {
            let size = q[i].abs() + (0..self.n).map(|j| (self.w[j * self.n + i] * r[j]).abs()).sum::<f64>();
            let misfit = (r[i] - plan.project(i, r[i] - u[i])).abs();
            misfit <= tolerance.max(1e-13) * size
        })
    }

    /// No basis found: the general solver of bounds, whose basis is kept.
    #[cold]
    fn give_up(&mut self, ask: Ask, active: u64, bounds: &mut Fallback, r: &mut [f64], u: &mut [f64], mut factorisations: usize) -> Report {
        let Ask { plan, p, tolerance } = ask;
        if !self.definite {
            r.copy_from_slice(&self.guess);
        }
        plan.admit(p, r);
        let mut attempt = |r: &mut [f64], u: &mut [f64]| {
            let status = bounds.solve(ask, r);
            plan.admit(p, r);
            self.velocity(&p.problem.q, r, u);
            (status, self.report(plan, active, &p.problem.q, r, u, tolerance))
        };
        let (mut status, mut report) = attempt(r, u);
        if status == Status::Converged && !report.converged() {
            // owed to a guess beyond measure
            r.fill(0.0);
            plan.admit(p, r);
            (status, report) = attempt(r, u);
        }
        if status != Status::Converged {
            report.status = status;
        }
        if report.converged() {
            let mut key = Key { active, ..Key::default() };
            for i in (0..self.n).filter(|i| active >> i & 1 != 0) {
                let bit = 1 << i;
                if r[i] >= plan.upper[i] {
                    key.upper |= bit;
                } else if r[i] > plan.lower[i] {
                    key.basic |= bit;
                }
            }
            if let Some(k) = self.find(plan, key, &mut factorisations) {
                self.last = Some(k);
                self.last_key = key;
            }
        }
        Report { factorisations, ..report }
    }
}
