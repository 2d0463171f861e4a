//! Alternating minimisation of the gap between motion and reactions.
//!
//! ```text
//! G(v, r) = ½ |v − v_free|²_M + ½ rᵀ W r + qᵀ r + Σ μ r_n |u_t|  ≥ 0        u = H v + b with u_n ≥ 0,   r ∈ K
//! G = 0     where and only where v and r obey Coulomb's law
//!           + Σ P max(0, −u_n), r_n ≤ P in both sets, where contacts give way under P
//! r known:  min over v, a problem of Tresca:      r'_n ≥ 0,  |r'_t| ≤ μ r_n,   −(W r' + q) ∈ N(r'),   u = W r' + q
//! v known:  min over r, a problem of cones:       r ∈ K,  −(W r + q + μ|u_t| n) ∈ N_K(r)
//! ```
//!
//! The gap is convex in v and in r, not in both: where friction is large Newton's method wanders among the active sets, but each half has a
//! solution, found for sure, and the gap falls with every half. From bounds of a fair size the first half already knows most of the
//! contacts that open, stick and slip, as a sum of norms leaves as many of them at 0 as it can. Where friction is so large that the gap
//! has valleys of its own, other bounds lead into others. What is left of it falls slowly, so a method of second order ends each descent.
//!
//! Both halves are solved by splitting with one matrix, `(W + ρ D)⁻¹`, held densely. (Bipotential: de Saxcé, Feng 1998.)

use super::LocalProblem;
use super::equations::Function;
use super::newton::SemismoothNewton;
use super::starts::Draw;
use super::{LocalSolver, trial::Trial};
use crate::algebra::factor::Lu;
use crate::algebra::lanes::Lanes;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::{Measure, Progress, Report, Status, Watch};

/// Rows up to which it is done.
pub(super) const LARGEST: usize = 900;
/// Rows of a block, at most.
const ROWS: usize = 8;
/// ρ and the overrelaxation of the splitting, its iterations for a half, and the change of the reactions, relative to their size, that ends it.
const RHO: f64 = 0.1;
const OVER: f64 = 1.6;
const ITERATIONS: usize = 200;
/// Operations of an iteration for each block, beside those of its rows.
const OF_BLOCK: usize = 150;
/// What an iteration of sixty contacts costs: where there are fewer, a budget counts for as many iterations, not for as long a time, as what they do
/// is gone through by then.
const OF_MANY: f64 = (180 * 180 + 60 * OF_BLOCK) as f64;
const EXACT: f64 = 1e-10;
/// Bounds of the first descents, in what the velocity of its own contact asks for; those of later ones lie between `LEVELS`.
const FIRST: [f64; 4] = [0.3, 1.0, 0.1, 0.5];
const LEVELS: (f64, f64) = (0.05, 2.0);
/// Of so many descents one starts afresh, the others from the best point with changed bounds.
const AFRESH: usize = 8;
/// Rounds between two looks; at first, and at most.
const LOOK: usize = 8;
const ROUNDS: (usize, usize) = (16, 64);
/// Share of its gap that a descent must lose from look to look, and how far above the best it may be, to go on beyond the first rounds.
const FALL: f64 = 0.8;
const BEHIND: f64 = 3.0;
/// Gap over `|D^½ r|²` from which on Newton is tried.
const NEAR: f64 = 1e-3;
/// Columns of the inverse from one look of the watch to the next.
const COLUMNS: usize = 64;
/// Newton steps of an attempt; functions and first regularisations.
const STEPS: usize = 30;
const ATTEMPTS: [(Function, f64); 3] = [(Function::AlartCurnier, 0.01), (Function::FischerBurmeister, 1.0), (Function::NaturalMap, 1.0)];

/// Descent after descent, each from the best one with other bounds where its gap is.
pub(super) struct Search<'a> {
    halves: Alternation<'a>,
    sizes: Vec<f64>,
    random: Draw,
    descents: usize,
    /// of the best descent: its gap, the bounds of its last round, the share of each block in the gap
    best: (f64, Vec<[f64; 3]>, Vec<f64>),
    iterations: usize,
    factorisations: usize,
}

/// The search alone, from other starts than those of [`Search::new`] with the seed 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Descents {
    pub(crate) tolerance: f64,
    pub(crate) measure: Measure,
    pub(crate) operations: f64,
}

impl LocalSolver for Descents {
    fn solve_watched(&self, p: &LocalProblem, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Report {
        let found = p.residual(r, u);
        let progress = Progress { iteration: 0, error: self.measure.of(&found) };
        match Search::new(p, 1, &mut || watch(progress)) {
            Some(mut search) => search.run(self.tolerance, self.measure, self.operations, r, u, watch),
            None => Report { status: Status::Stalled, ..Report::default() }.with(&found),
        }
    }
}

impl<'a> Search<'a> {
    /// None where the problem is too large, has no friction, or `W + ρ D` is singular, and where the watch says stop.
    pub(super) fn new(p: &'a LocalProblem, seed: u64, go_on: &mut dyn FnMut() -> bool) -> Option<Self> {
        if !p.sets.iter().any(|set| set.shifted()) {
            return None;
        }
        let weights = p.weights();
        let largest = |x: &[f64]| x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let typical = largest(&p.q) / (weights.iter().sum::<f64>() / weights.len() as f64);
        let sizes = (0..p.sets.len()).map(|i| (largest(&p.q[p.w.range(i)]) / weights[i]).max(0.1 * typical)).collect();
        let best = (f64::INFINITY, vec![[0.0; 3]; p.sets.len()], vec![0.0; p.sets.len()]);
        Alternation::new(p, weights, go_on).map(|halves| Self {
            halves,
            sizes,
            random: Draw(seed),
            descents: 0,
            best,
            iterations: 0,
            factorisations: 0,
        })
    }

    /// Goes on until a point of this error is found or so many operations are spent, fewer for few contacts; leaves the best point in `r`.
    pub(super) fn run(
        &mut self,
        tolerance: f64,
        measure: Measure,
        operations: f64,
        r: &mut [f64],
        u: &mut [f64],
        watch: &mut Watch,
    ) -> Report {
        let mut trial = Trial::new(self.halves.p, tolerance, measure, usize::MAX / 2, r, u);
        (self.iterations, self.factorisations) = (0, 0);
        let cost = (r.len() * r.len() + OF_BLOCK * self.halves.p.sets.len()) as f64;
        let operations = operations * (cost / OF_MANY).min(1.0);
        let mut spent = 0.0;
        let mut status = Status::Stalled;
        while !trial.done() && spent < operations {
            self.draw();
            match self.descend(&mut trial, (tolerance, measure), u, watch) {
                Some(iterations) => spent += iterations as f64 * cost,
                None => {
                    status = Status::BudgetSpent;
                    break;
                }
            }
        }
        trial.finish(status, self.iterations, self.factorisations, r, u)
    }

    /// Sets the bounds of the next descent.
    fn draw(&mut self) {
        let t = self.descents;
        self.descents += 1;
        let afresh = t < FIRST.len() || t % AFRESH == AFRESH - 1 || !self.best.0.is_finite();
        let level = match FIRST.get(t) {
            Some(level) => *level,
            None => LEVELS.0 * libm::pow(LEVELS.1 / LEVELS.0, self.random.next()),
        };
        let (_, best, shares) = &self.best;
        let random = &mut self.random;
        self.halves.start(|i| {
            let mut spread = |width: f64| libm::exp(width * (2.0 * random.next() - 1.0));
            if afresh {
                return [if t < FIRST.len() { level } else { level * spread(0.7) } * self.sizes[i]; 3];
            }
            if random.next() >= 0.05 + shares[i] {
                return best[i];
            }
            let factor = libm::exp(1.5 * (2.0 * random.next() - 1.0));
            if best[i][0] > 0.0 && random.next() < 0.7 {
                return best[i].map(|b| b * factor);
            }
            [0.3 * self.sizes[i] * random.next(); 3]
        });
    }

    /// One descent, with Newton from its points; returns the iterations of its halves, or none where the watch says stop.
    fn descend(&mut self, trial: &mut Trial, ask: (f64, Measure), u: &mut [f64], watch: &mut Watch) -> Option<usize> {
        let (mut spent, mut before, mut gap) = (0, f64::INFINITY, f64::INFINITY);
        for round in 1..=ROUNDS.1 {
            let (iterations, found) = self.halves.step(ITERATIONS);
            spent += iterations;
            self.iterations += iterations;
            gap = found;
            if !watch(Progress { iteration: self.iterations, error: f64::INFINITY }) {
                return None;
            }
            if round % LOOK != 0 {
                continue;
            }
            let near = gap <= NEAR * self.halves.carried();
            let falls = gap <= FALL * before;
            let last = !near && !falls || round >= ROUNDS.0 && !(falls && gap <= BEHIND * self.best.0);
            // the first method is the one that mostly gets there, the others have their try at the end of a good descent
            let attempts = if last && gap <= BEHIND * self.best.0 { ATTEMPTS.len() } else { 1 };
            for (function, regularisation) in ATTEMPTS.into_iter().take(if near { attempts } else { 0 }) {
                if !self.newton(trial, function, regularisation, ask, u, watch) {
                    return None;
                }
                if trial.done() {
                    return Some(spent);
                }
            }
            if last {
                break;
            }
            before = gap;
        }
        if gap < self.best.0 {
            self.best.0 = gap;
            self.best.1.clone_from(&self.halves.known);
            self.halves.shares(gap, &mut self.best.2);
        }
        Some(spent)
    }

    /// Newton from the reactions at hand; false where the watch says stop.
    fn newton(
        &mut self,
        trial: &mut Trial,
        function: Function,
        regularisation: f64,
        (tolerance, measure): (f64, Measure),
        u: &mut [f64],
        watch: &mut Watch,
    ) -> bool {
        let mut r = self.halves.reactions().to_vec();
        let newton = SemismoothNewton {
            tolerance,
            measure,
            max_iterations: STEPS,
            function,
            regularisation,
            restarts: 0,
            ..SemismoothNewton::default()
        };
        let (first, mut stopped) = (self.iterations, false);
        let report = newton.solve_watched(self.halves.p, &mut r, u, &mut |look| {
            stopped |= !watch(Progress { iteration: first + look.iteration, ..look });
            !stopped
        });
        self.iterations += report.iterations;
        self.factorisations += report.factorisations;
        trial.look(&r, u);
        !stopped
    }
}

/// What is prepared for a problem.
struct Alternation<'a> {
    p: &'a LocalProblem,
    weights: Vec<f64>,
    /// columns of `(W + ρ D)⁻¹`
    inverse: Vec<f64>,
    /// right-hand side and solution
    b: Vec<f64>,
    x: Vec<f64>,
    u: Vec<f64>,
    /// bounds on |r_t| (and on moments), or the shift of each block
    known: Vec<[f64; 3]>,
    /// r' and r with their multipliers
    halves: [Half; 2],
}

#[derive(Clone, Default)]
struct Half {
    z: Vec<f64>,
    y: Vec<f64>,
}

impl<'a> Alternation<'a> {
    /// None where the problem is too large or `W + ρ D` singular, and where the watch says stop.
    fn new(p: &'a LocalProblem, weights: Vec<f64>, go_on: &mut dyn FnMut() -> bool) -> Option<Self> {
        let n = p.order();
        if n > LARGEST || (0..p.sets.len()).any(|i| p.w.rows(i) > ROWS) {
            return None;
        }
        let mut dense = p.w.to_dense();
        for (i, weight) in weights.iter().enumerate() {
            p.w.range(i).for_each(|k| dense[k * n + k] += RHO * weight);
        }
        let mut lu = Lu::default();
        if n == 0 || !lu.factor_while(n, |i, row| row.copy_from_slice(&dense[i * n..(i + 1) * n]), go_on) {
            return None;
        }
        let mut inverse = dense;
        inverse.fill(0.0);
        for (k, column) in inverse.chunks_exact_mut(n).enumerate() {
            if k % COLUMNS == COLUMNS - 1 && !go_on() {
                return None;
            }
            column[k] = 1.0;
            lu.solve(column);
        }
        let vector = || vec![0.0; n];
        let half = || Half { z: vector(), y: vector() };
        let known = vec![[0.0; 3]; p.sets.len()];
        Some(Self { p, weights, inverse, b: vector(), x: vector(), u: vector(), known, halves: [half(), half()] })
    }

    /// Starts a descent with these bounds of each block.
    fn start(&mut self, mut bounds: impl FnMut(usize) -> [f64; 3]) {
        for half in &mut self.halves {
            half.z.fill(0.0);
            half.y.fill(0.0);
        }
        for (i, known) in self.known.iter_mut().enumerate() {
            *known = if self.p.sets[i].shifted() { bounds(i) } else { [0.0; 3] };
        }
    }

    /// Both halves, at most so many iterations each; returns the iterations and the gap, in the unit of rᵀu.
    fn step(&mut self, most: usize) -> (usize, f64) {
        let p = self.p;
        let mut spent = self.half(0, most);
        let [bounded, coned] = &self.halves;
        p.velocity(&bounded.z, &mut self.u);
        let fresh = coned.z.iter().all(|z| *z == 0.0);
        for (i, known) in self.known.iter_mut().enumerate() {
            *known = [p.sets[i].shift(&self.u[p.w.range(i)]), 0.0, 0.0];
        }
        if fresh {
            self.halves[1].z = self.halves[0].z.clone();
        }
        spent += self.half(1, most);
        let r = &self.halves[1].z;
        let mut gap: f64 = r.iter().zip(&self.u).map(|(r, u)| r * u).sum();
        for (i, known) in self.known.iter_mut().enumerate() {
            let (range, set) = (p.w.range(i), p.sets[i]);
            if let Some(&normal) = r[range.clone()].first() {
                gap += known[0] * normal + crushed(set, &self.u[range]);
                *known = if set.shifted() { set.discs(1).map(|(mu, _)| mu * normal) } else { [0.0; 3] };
            }
        }
        (spent, gap)
    }

    /// The reactions of the second half.
    fn reactions(&self) -> &[f64] {
        &self.halves[1].z
    }

    /// `|D^½ r|²` of the second half.
    fn carried(&self) -> f64 {
        let square = |i: usize| self.weights[i] * self.halves[1].z[self.p.w.range(i)].iter().map(|r| r * r).sum::<f64>();
        (0..self.weights.len()).map(square).sum()
    }

    /// Share of each block in the gap of the last step.
    fn shares(&self, gap: f64, out: &mut [f64]) {
        for (i, out) in out.iter_mut().enumerate() {
            let range = self.p.w.range(i);
            let (r, u) = (&self.halves[1].z[range.clone()], &self.u[range]);
            let set = self.p.sets[i];
            let own = r.iter().zip(u).map(|(r, u)| r * u).sum::<f64>() + r.first().map_or(0.0, |n| n * set.shift(u)) + crushed(set, u);
            *out = if gap > 0.0 { own / gap } else { 0.0 };
        }
    }

    /// Splits one half: 0 with bounds, 1 with shifts.
    fn half(&mut self, which: usize, most: usize) -> usize {
        let Self { p, weights, inverse, b, x, known, halves, .. } = self;
        let Half { z, y } = &mut halves[which];
        let lanes = Lanes::best();
        for k in 1..=most {
            for (i, weight) in weights.iter().enumerate() {
                let range = p.w.range(i);
                for k in range.clone() {
                    b[k] = RHO * weight * (z[k] - y[k]) - p.q[k];
                }
                if which == 1 && !range.is_empty() {
                    b[range.start] -= known[i][0];
                }
            }
            lanes.run(
                #[inline(always)]
                || product(inverse, b, x),
            );
            let (mut moved, mut size) = (0.0, 0.0);
            for (i, set) in p.sets.iter().enumerate() {
                let range = p.w.range(i);
                let (x, z, y) = (&x[range.clone()], &mut z[range.clone()], &mut y[range.clone()]);
                let mut new = [0.0; ROWS];
                let Some(new) = new.get_mut(..x.len()) else { continue };
                for k in 0..new.len() {
                    new[k] = OVER * x[k] + (1.0 - OVER) * z[k] + y[k];
                    y[k] = new[k];
                }
                if which == 0 {
                    set.project_tresca(known[i], new)
                } else {
                    set.project(new)
                }
                for k in 0..new.len() {
                    moved += weights[i] * ((new[k] - z[k]).powi(2) + (x[k] - new[k]).powi(2));
                    size += weights[i] * new[k] * new[k];
                    y[k] -= new[k];
                    z[k] = new[k];
                }
            }
            if moved <= EXACT * EXACT * size {
                return k;
            }
        }
        most
    }
}

/// What a contact that gives way adds to the gap: `P max(0, −u_n)` under its largest normal reaction P.
fn crushed(set: AdmissibleSet, u: &[f64]) -> f64 {
    if let (AdmissibleSet::Crushing { most, .. }, Some(opening)) = (set, u.first()) { most * (-opening).max(0.0) } else { 0.0 }
}

/// `x = Σ b_k a_k` over the columns of a.
#[inline(always)]
fn product(a: &[f64], b: &[f64], x: &mut [f64]) {
    let n = b.len();
    x.fill(0.0);
    let mut columns = a.chunks_exact(4 * n);
    let mut factors = b.chunks_exact(4);
    for (four, f) in (&mut columns).zip(&mut factors) {
        let (first, second) = four.split_at(2 * n);
        let ((c0, c1), (c2, c3)) = (first.split_at(n), second.split_at(n));
        for i in 0..n {
            x[i] += (c0[i] * f[0] + c1[i] * f[1]) + (c2[i] * f[2] + c3[i] * f[3]);
        }
    }
    for (column, f) in columns.remainder().chunks_exact(n).zip(factors.remainder()) {
        x.iter_mut().zip(column).for_each(|(x, a)| *x += a * f);
    }
}

#[cfg(test)]
mod tests {
    use super::super::assemblies::{Law, assembly};
    use super::*;

    #[test]
    fn the_inverse_is_not_made_where_the_watch_says_stop() {
        let p = assembly(Law::Space, 60, 200, 1);
        let mut asked = 0;
        assert!(
            Alternation::new(&p, p.weights(), &mut || {
                asked += 1;
                asked < 3
            })
            .is_none()
                && asked == 3
        );
    }

    #[test]
    fn the_gap_falls_from_round_to_round_to_nothing_at_a_solution() {
        for law in [Law::Plane, Law::Space, Law::Rolling] {
            let p = assembly(law, 4, 10, 1);
            let mut halves = Alternation::new(&p, p.weights(), &mut || true).expect("a small problem");
            halves.start(|_| [0.5; 3]);
            let gaps: Vec<f64> = (0..60).map(|_| halves.step(20_000).1 / halves.carried()).collect();
            assert!(gaps.iter().all(|gap| *gap > -1e-8), "{law:?} {gaps:?}");
            assert!(gaps.windows(2).all(|pair| pair[1] <= pair[0] + 1e-8), "{law:?} {gaps:?}");
            let mut u = vec![0.0; p.order()];
            let found = p.residual(halves.reactions(), &mut u);
            assert!((gaps[59] < 1e-7) == (found.e_s < 1e-3), "{law:?} {:e} {:e}", gaps[59], found.e_s);
        }
    }
}
