//! Nonsmooth Gauss–Seidel on W: block after block, each solved exactly.
//!
//! ```text
//! q_a = q + Σ_{b≠a} W_ab r_b        r_a ← the exact solution of  u_a = W_aa r_a + q_a,  −(u_a + g(u_a)) ∈ N_K(r_a)
//! Anderson  the sweep as a fixed-point map, window m
//! ```
//!
//! A sweep costs one product with W. Wins on grains and small problems at any tolerance and at scale at a loose one; a stuck,
//! redundant stack needs 10⁴ to 10⁶ sweeps at 1e-8, as the rate then tends to one. Looks, best point, forecast and NNCG are those of all
//! `numerics::passes`. (Jean 1999.)

use super::{LocalProblem, LocalSolver, kernel::Kernel};
use crate::algebra::{blocks::BlockRows, lanes::Lanes};
use crate::numerics::acceptance::Scales;
use crate::numerics::passes::{Conjugate, Driver, Forecast, Look, Passes, Steps, conjugate_step};
use crate::numerics::{Measure, Progress, Report, Status, Watch, acceleration::Anderson, residual::Residual};

/// What is made of the sequence of sweeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acceleration {
    /// Plain sweeps; with a strong coupling of normal and tangent they can cycle for ever.
    None,
    /// Nonsmooth nonlinear conjugate gradients (NNCG).
    Conjugate,
    /// Anderson acceleration with this window.
    Anderson(usize),
}

impl Default for Acceleration {
    fn default() -> Self {
        Self::Anderson(5)
    }
}

/// In which order a sweep visits the blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Order {
    /// As they are numbered.
    #[default]
    Natural,
    /// Colour by colour; no two blocks of a colour are coupled.
    Coloured,
    /// A new order for every sweep, from this seed.
    Shuffled(u64),
}

/// Settings of the Gauss–Seidel solver (Siconos: `SICONOS_FRICTION_3D_NSGS`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Nsgs {
    /// Stop when the error is at most this.
    pub tolerance: f64,
    /// Which error.
    pub measure: Measure,
    /// Budget of sweeps.
    pub max_sweeps: usize,
    /// What is made of the sequence of sweeps.
    pub acceleration: Acceleration,
    /// In which order blocks are visited.
    pub order: Order,
    /// Share of each exact step that is taken, in (0, 2).
    pub relaxation: f64,
    /// A block that stood still for this many sweeps rests until the next full one, every ten sweeps; 0: never.
    pub freezing: usize,
    /// Stop as [`Status::Stalled`] when the rate promises more than this many further sweeps; 0: never.
    pub foresight: usize,
}

impl Default for Nsgs {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            measure: Measure::default(),
            max_sweeps: 10_000,
            acceleration: Acceleration::default(),
            order: Order::default(),
            relaxation: 1.0,
            freezing: 0,
            foresight: 0,
        }
    }
}

impl LocalSolver for Nsgs {
    fn solve_watched(&self, p: &LocalProblem, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Report {
        self.run(&Sweeper::new(p), r, u, watch)
    }
}

/// Sweeps before the first forecast of the rate; half as many again from there.
const FIRST_FORECAST: usize = 14;
/// Sweeps between two residuals, at least.
const PAUSE: usize = 2;
/// Sweeps from one full sweep to the next, where blocks may rest.
const FULL_EVERY: usize = 10;
/// |r| over |q| / D from which on a residual that stays means that nothing solves the problem.
const BEYOND_MEASURE: f64 = 1e8;

impl Nsgs {
    /// Sweeps with what was prepared for the problem.
    pub(super) fn run(&self, sweeper: &Sweeper, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Report {
        if r.iter().any(|x| !x.is_finite()) {
            r.fill(0.0);
        }
        let latest = sweeper.residual(r, u);
        let best = self.measure.of(&latest);
        if best <= self.tolerance {
            return Report { status: Status::Converged, ..Report::default() }.with(&latest);
        }
        let driver = Driver {
            tolerance: self.tolerance,
            max_passes: self.max_sweeps,
            best,
            first: PAUSE,
            pause: (PAUSE, PAUSE),
            factor: (0.5, 0.01, 1e6),
            forecast: Forecast::new(self.foresight, FIRST_FORECAST, 2),
        };
        let zeros = || vec![0.0; r.len()];
        let mut passes = Sweeps {
            solver: self,
            sweeper,
            best_r: r.to_vec(),
            still: vec![0; if self.freezing > 0 { sweeper.p.sets.len() } else { 0 }],
            order: sweeper.order(self.order),
            seed: if let Order::Shuffled(seed) = self.order { seed } else { 0 },
            state: match self.acceleration {
                Acceleration::None => State::Plain,
                Acceleration::Conjugate => State::Conjugate(Conjugate::new(Steps::Turns), [zeros(), zeros()]),
                Acceleration::Anderson(window) => State::Anderson(Anderson::new(r.len(), window), zeros()),
            },
            moved: f64::INFINITY,
            last_moved: f64::INFINITY,
            best,
            latest,
            fresh: true,
            r,
            u,
            watch,
        };
        let (status, iterations) = driver.run(&mut passes);
        passes.finish(Report { status, iterations, ..Report::default() })
    }
}

/// Sweeps of a problem.
struct Sweeps<'a, 'b> {
    solver: &'a Nsgs,
    sweeper: &'a Sweeper<'a>,
    r: &'a mut [f64],
    u: &'a mut [f64],
    watch: &'a mut Watch<'b>,
    best_r: Vec<f64>,
    /// sweeps that each block stood still, where that counts
    still: Vec<u32>,
    /// of the blocks, where it is not that of their numbers
    order: Vec<u32>,
    seed: u64,
    state: State,
    /// |D^½ Δr|² of the last two sweeps
    moved: f64,
    last_moved: f64,
    /// error of the best point
    best: f64,
    /// of the last look, and whether r is still that point
    latest: Residual,
    fresh: bool,
}

/// What an acceleration remembers.
enum State {
    Plain,
    /// and r before the sweep, and the direction
    Conjugate(Conjugate, [Vec<f64>; 2]),
    /// and r before the sweep
    Anderson(Anderson, Vec<f64>),
}

impl Passes for Sweeps<'_, '_> {
    fn gap(&self, k: usize) -> usize {
        ((k - 1) / 2).clamp(4, 20)
    }

    fn pass(&mut self, k: usize) -> f64 {
        if matches!(self.solver.order, Order::Shuffled(_)) {
            shuffle(&mut self.order, &mut self.seed);
        }
        if let State::Anderson(_, before) | State::Conjugate(_, [before, _]) = &mut self.state {
            before.copy_from_slice(self.r);
        }
        let freezing = u32::try_from(self.solver.freezing).unwrap_or(u32::MAX);
        let rest = if freezing > 0 && !k.is_multiple_of(FULL_EVERY) { freezing } else { u32::MAX };
        self.fresh = false;
        self.last_moved = self.moved;
        let size;
        (self.moved, size) = self.sweeper.sweep(&self.order, self.solver.relaxation, self.r, &mut self.still, rest);
        (self.moved / size.max(f64::MIN_POSITIVE)).sqrt()
    }

    fn look(&mut self, _: usize) -> Look {
        let Nsgs { measure, tolerance, .. } = *self.solver;
        self.latest = self.sweeper.residual(self.r, self.u);
        let error = measure.of(&self.latest);
        let end = if error <= tolerance {
            Some(Status::Converged)
        } else {
            let worse = error.is_finite() && error >= self.best;
            (worse && beyond_measure(self.sweeper.p, self.r, self.sweeper.weights())).then(|| runaway(self.sweeper.p))
        };
        Look { error, distance: measure.distance(&self.latest, tolerance), end }
    }

    fn keep(&mut self, _: usize) {
        self.fresh = true;
        self.best = self.solver.measure.of(&self.latest);
        self.best_r.copy_from_slice(self.r);
    }

    fn tell(&mut self, k: usize, error: f64) -> bool {
        (self.watch)(Progress { iteration: k, error })
    }

    fn accelerate(&mut self) {
        self.fresh = false;
        match &mut self.state {
            State::Plain => {}
            State::Conjugate(conjugate, [before, direction]) => {
                let momentum = conjugate.momentum(self.moved, 0.0);
                for ((p, before), r) in direction.iter_mut().zip(before).zip(self.r.iter_mut()) {
                    let d = *r - *before;
                    conjugate_step(r, d, p, momentum);
                }
            }
            State::Anderson(memory, before) => {
                if self.moved > 4.0 * self.last_moved {
                    memory.restart();
                }
                // r holds g(x): the memory wants x and g
                memory.step(before, self.r);
                self.r.copy_from_slice(before);
            }
        }
    }
}

impl Sweeps<'_, '_> {
    /// Leaves the best point in r.
    fn finish(mut self, report: Report) -> Report {
        if !self.fresh {
            self.latest = self.sweeper.residual(self.r, self.u);
            let error = self.solver.measure.of(&self.latest);
            if error.is_nan() || error > self.best {
                self.r.copy_from_slice(&self.best_r);
                self.latest = self.sweeper.residual(self.r, self.u);
            }
        }
        report.with(&self.latest)
    }
}

/// True when the reactions have grown beyond what any solution of this size of q could need.
pub(super) fn beyond_measure(p: &LocalProblem, r: &[f64], weights: &[f64]) -> bool {
    let largest = |x: &[f64]| x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let softest = weights.iter().fold(f64::INFINITY, |m, d| m.min(*d));
    let limit = BEYOND_MEASURE * largest(&p.q) / softest;
    limit > 0.0 && largest(r) > limit
}

/// How a run ends whose reactions have grown beyond measure: only a proof makes a problem inconsistent.
pub(super) fn runaway(p: &LocalProblem) -> Status {
    if p.infeasibility().is_some() { Status::Inconsistent } else { Status::Stalled }
}

/// A problem made ready for sweeps: kernels, weights, and W laid out for the products of its rows.
pub(super) struct Sweeper<'a> {
    pub(super) p: &'a LocalProblem,
    pub(super) scales: Scales,
    kernels: Vec<Kernel>,
    rows: Rows,
}

/// W in columns of its blocks where all have one size, or the matrix itself where sizes differ.
enum Rows {
    One(Packed<1, 1>),
    Two(Packed<2, 2>),
    Three(Packed<3, 4>),
    Five(Packed<5, 8>),
    Mixed,
}

/// Blocks of D × D in columns of L ≥ D numbers, for vector instructions; the diagonal block stands last in its row.
struct Packed<const D: usize, const L: usize> {
    starts: Vec<u32>,
    columns: Vec<u32>,
    blocks: Vec<[[f64; L]; D]>,
}

impl<const D: usize, const L: usize> Packed<D, L> {
    fn new(w: &BlockRows) -> Self {
        let n = w.block_count();
        let count = w.values().len() / (D * D) + n;
        let mut packed = Self { starts: Vec::with_capacity(n + 1), columns: Vec::with_capacity(count), blocks: Vec::with_capacity(count) };
        packed.starts.push(0);
        let columns = |block: &[f64]| std::array::from_fn(|c| std::array::from_fn(|r| if r < D { block[D * r + c] } else { 0.0 }));
        for i in 0..n {
            let mut own = [[0.0; L]; D];
            let (others, values) = w.packed_row(i);
            for (&j, block) in others.iter().zip(values.chunks_exact(D * D)) {
                if j as usize == i {
                    own = columns(block);
                } else {
                    packed.columns.push(j);
                    packed.blocks.push(columns(block));
                }
            }
            packed.columns.push(i as u32);
            packed.blocks.push(own);
            packed.starts.push(packed.columns.len() as u32);
        }
        packed
    }

    /// `q + Σ_b W_ib r_b` over the row, with or without its own block.
    #[inline(always)]
    fn product(&self, i: usize, own: bool, q: &[f64; D], r: &[[f64; D]]) -> [f64; D] {
        let (from, to) = (self.starts[i] as usize, self.starts[i + 1] as usize - usize::from(!own));
        // two sums, so that one addition need not wait for the last
        let mut sums = [[0.0; L]; 2];
        sums[0][..D].copy_from_slice(q);
        for (columns, blocks) in self.columns[from..to].chunks(2).zip(self.blocks[from..to].chunks(2)) {
            for ((&j, block), sum) in columns.iter().zip(blocks).zip(&mut sums) {
                let r = &r[j as usize];
                for c in 0..D {
                    for k in 0..L {
                        sum[k] += block[c][k] * r[c];
                    }
                }
            }
        }
        std::array::from_fn(|k| sums[0][k] + sums[1][k])
    }

    #[inline(always)]
    fn velocity(&self, q: &[f64], r: &[f64], u: &mut [f64]) {
        let (r, _) = r.as_chunks::<D>();
        let (q, _) = q.as_chunks::<D>();
        for (i, u) in u.as_chunks_mut::<D>().0.iter_mut().enumerate() {
            *u = self.product(i, true, &q[i], r);
        }
    }
}

impl<'a> Sweeper<'a> {
    pub(super) fn new(p: &'a LocalProblem) -> Self {
        let rows = match p.w.uniform() {
            Some(1) => Rows::One(Packed::new(&p.w)),
            Some(2) => Rows::Two(Packed::new(&p.w)),
            Some(3) => Rows::Three(Packed::new(&p.w)),
            Some(5) => Rows::Five(Packed::new(&p.w)),
            _ => Rows::Mixed,
        };
        Self { p, scales: p.scales(), kernels: (0..p.sets.len()).map(|i| Kernel::of(p, i)).collect(), rows }
    }

    /// `u = W r + q`
    pub(super) fn velocity(&self, r: &[f64], u: &mut [f64]) {
        let q = &self.p.q;
        let lanes = Lanes::best();
        match &self.rows {
            Rows::One(w) => w.velocity(q, r, u),
            Rows::Two(w) => w.velocity(q, r, u),
            Rows::Three(w) => lanes.run(
                #[inline(always)]
                || w.velocity(q, r, u),
            ),
            Rows::Five(w) => lanes.run(
                #[inline(always)]
                || w.velocity(q, r, u),
            ),
            Rows::Mixed => self.p.velocity(r, u),
        }
    }

    /// Multiplications of one accelerated sweep, about: the product, a local solve, the share of Anderson(10).
    pub(super) fn cost(&self) -> f64 {
        let rows = |i: usize| self.p.w.rows(i) as f64;
        self.p.w.values().len() as f64 + (0..self.kernels.len()).map(|i| 60.0 + 30.0 * rows(i)).sum::<f64>()
    }

    /// Scale D of each block.
    pub(super) fn weights(&self) -> &[f64] {
        &self.scales.weights
    }

    /// The errors of `r`; sets `u`.
    pub(super) fn residual(&self, r: &[f64], u: &mut [f64]) -> Residual {
        if r.iter().all(|r| *r == 0.0) {
            u.copy_from_slice(&self.p.q);
        } else {
            self.velocity(r, u);
        }
        self.p.residual_at(r, u, &self.scales)
    }

    fn order(&self, order: Order) -> Vec<u32> {
        match order {
            Order::Natural => Vec::new(),
            Order::Shuffled(_) => (0..self.kernels.len() as u32).collect(),
            Order::Coloured => self.colours(),
        }
    }

    /// Blocks sorted by the colour that a greedy pass gives them.
    fn colours(&self) -> Vec<u32> {
        let n = self.kernels.len();
        let (mut colour, mut taken) = (vec![u32::MAX; n], Vec::new());
        for i in 0..n {
            taken.clear();
            taken.extend(self.p.w.columns(i).iter().map(|&j| colour[j as usize]));
            taken.sort_unstable();
            taken.dedup();
            colour[i] =
                (0..).zip(taken.iter()).find(|(k, t)| k != *t).map_or(taken.iter().filter(|t| **t != u32::MAX).count() as u32, |(k, _)| k);
        }
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_by_key(|&i| colour[i as usize]);
        order
    }

    /// Visits the blocks in `order`; returns `(|D^½ Δr|², |D^½ r|²)`. Blocks that stood still `rest` times are passed over.
    fn sweep(&self, order: &[u32], relaxation: f64, r: &mut [f64], still: &mut [u32], rest: u32) -> (f64, f64) {
        let visit = Visit { order, relaxation, rest };
        let lanes = Lanes::best();
        match &self.rows {
            Rows::One(w) => self.sweep_uniform(w, &visit, r, still),
            Rows::Two(w) => self.sweep_uniform(w, &visit, r, still),
            Rows::Three(w) => lanes.run(
                #[inline(always)]
                || self.sweep_uniform(w, &visit, r, still),
            ),
            Rows::Five(w) => lanes.run(
                #[inline(always)]
                || self.sweep_uniform(w, &visit, r, still),
            ),
            Rows::Mixed => self.sweep_mixed(&visit, r, still),
        }
    }

    #[inline(always)]
    fn sweep_uniform<const D: usize, const L: usize>(
        &self,
        w: &Packed<D, L>,
        visit: &Visit,
        r: &mut [f64],
        still: &mut [u32],
    ) -> (f64, f64) {
        let (r, _) = r.as_chunks_mut::<D>();
        let (given, _) = self.p.q.as_chunks::<D>();
        let mut sums = (0.0, 0.0);
        for k in 0..r.len() {
            let i = visit.block(k);
            if visit.rests(i, still) {
                continue;
            }
            let q = w.product(i, false, &given[i], r);
            let before = r[i];
            let mut new = before;
            self.kernels[i].solve(&q, &mut new);
            visit.finish(self, i, &before, &mut new, still, &mut sums);
            r[i] = new;
        }
        sums
    }

    fn sweep_mixed(&self, visit: &Visit, r: &mut [f64], still: &mut [u32]) -> (f64, f64) {
        let (mut q, mut new, mut before) = (Vec::new(), Vec::new(), Vec::new());
        let mut sums = (0.0, 0.0);
        for k in 0..self.kernels.len() {
            let i = visit.block(k);
            if visit.rests(i, still) {
                continue;
            }
            let range = self.p.w.range(i);
            before.clear();
            before.extend_from_slice(&r[range.clone()]);
            self.kernels[i].visit(self.p, i, r, &mut q, &mut new);
            visit.finish(self, i, &before, &mut r[range], still, &mut sums);
        }
        sums
    }
}

/// How a sweep visits.
struct Visit<'a> {
    /// empty: as the blocks are numbered
    order: &'a [u32],
    relaxation: f64,
    rest: u32,
}

impl Visit<'_> {
    /// The k-th block.
    #[inline(always)]
    fn block(&self, k: usize) -> usize {
        self.order.get(k).map_or(k, |&i| i as usize)
    }

    /// Whether block i is passed over.
    #[inline(always)]
    fn rests(&self, i: usize, still: &[u32]) -> bool {
        still.get(i).is_some_and(|still| *still >= self.rest)
    }

    /// Relaxes, and adds the squares of the change and of the reaction.
    #[inline(always)]
    fn finish(&self, sweeper: &Sweeper, i: usize, before: &[f64], new: &mut [f64], still: &mut [u32], sums: &mut (f64, f64)) {
        if self.relaxation != 1.0 {
            new.iter_mut().zip(before).for_each(|(new, old)| *new = old + self.relaxation * (*new - old));
            sweeper.p.sets[i].project(new);
        }
        let (mut moved, mut size) = (0.0, 0.0);
        for (new, old) in new.iter().zip(before) {
            let change = new - old;
            moved += change * change;
            size += new * new;
        }
        if let Some(still) = still.get_mut(i) {
            *still = if moved <= 1e-20 * size { still.saturating_add(1) } else { 0 };
        }
        let weight = sweeper.scales.weights[i];
        sums.0 += weight * moved;
        sums.1 += weight * size;
    }
}

/// Fisher–Yates with a splitmix64 generator.
fn shuffle(order: &mut [u32], state: &mut u64) {
    for k in (1..order.len()).rev() {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        order.swap(k, ((z ^ (z >> 31)) % (k as u64 + 1)) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::super::assemblies::{Law, assembly};
    use super::*;

    #[test]
    fn every_order_acceleration_and_option_leads_to_the_same_velocities() {
        for law in [Law::Plane, Law::Space, Law::Rolling] {
            let p = assembly(law, 6, 14, 3);
            let (mut r, mut reference) = (vec![0.0; p.order()], vec![0.0; p.order()]);
            let plain = Nsgs { tolerance: 1e-11, acceleration: Acceleration::None, max_sweeps: 200_000, ..Nsgs::default() };
            assert!(plain.solve(&p, &mut r, &mut reference).converged());
            let variants = [
                Nsgs { acceleration: Acceleration::Conjugate, ..plain },
                Nsgs { acceleration: Acceleration::Anderson(5), ..plain },
                Nsgs { order: Order::Coloured, ..plain },
                Nsgs { order: Order::Shuffled(7), ..plain },
                Nsgs { relaxation: 0.8, ..plain },
                Nsgs { freezing: 3, ..plain },
            ];
            for solver in variants {
                let (mut r, mut u) = (vec![0.0; p.order()], vec![0.0; p.order()]);
                let report = solver.solve(&p, &mut r, &mut u);
                assert!(report.converged(), "{solver:?} {report:?}");
                let far = u.iter().zip(&reference).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                let scale = p.q.iter().map(|q| q.abs()).fold(0.0, f64::max);
                assert!(far <= 1e-6 * scale, "{solver:?} is off by {far:e}");
            }
        }
    }

    #[test]
    fn blocks_of_one_colour_are_not_coupled() {
        let p = assembly(Law::Space, 8, 20, 1);
        let sweeper = Sweeper::new(&p);
        let order = sweeper.colours();
        let mut seen = order.clone();
        seen.sort_unstable();
        assert_eq!(seen, (0..order.len() as u32).collect::<Vec<_>>(), "every block once");
    }

    #[test]
    fn a_load_that_nothing_can_carry_is_inconsistent_and_a_watch_stops_a_solve() {
        // the same gap closed from both sides: u and −u cannot both open
        let w = BlockRows::from_dense(&[0, 1, 2], &[1.0, -1.0, -1.0, 1.0]);
        let sets = vec![crate::numerics::admissible::AdmissibleSet::NonNegative; 2];
        let p = LocalProblem { w, q: vec![-1.0, -1.0], sets };
        let report = super::super::auto::Auto::default().solve(&p, &mut [0.0; 2], &mut [0.0; 2]);
        assert_eq!(report.status, Status::Inconsistent, "{report:?}");
        let solver = Nsgs { acceleration: Acceleration::None, ..Nsgs::default() };
        let report = solver.solve_watched(&p, &mut [0.0; 2], &mut [0.0; 2], &mut |look| look.iteration < 5);
        assert_eq!((report.status, report.iterations), (Status::BudgetSpent, 5));
    }
}
