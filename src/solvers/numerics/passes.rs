//! One driver for passes over blocks: when to look at the true error, the best point, what the rate promises, when to end.
//!
//! ```text
//! pass      a sweep over all blocks, each solved with the others as they stand; it hints at its error, which costs nothing
//! look      the true error, which costs a product: when the hint, times what it was last off by, is within the tolerance,
//!           and now and then
//! momentum  d_k = pass(r_k) − r_k,   p_k = β_k (p_{k−1} + d_k),   r_{k+1} = pass(r_k) + p_k
//! ```
//!
//! Gauss–Seidel in body space, on W, over the active blocks of a routed problem and over complementarities are passes of this kind.
//! (β as in NNCG: Silcowitz, Niebe, Erleben 2010; there r goes on by β p_{k−1} alone, without the pass at hand: `bead_pour` then takes 40
//! sweeps a step to 1e-3 instead of 22.)

use super::Status;

/// A method that goes over its blocks again and again.
pub(super) trait Passes {
    /// Passes after a look to the next one, where the hints promise nothing.
    fn gap(&self, k: usize) -> usize;

    /// The k-th pass; about its error.
    fn pass(&mut self, k: usize) -> f64;

    /// The error of the point at hand.
    fn look(&mut self, k: usize) -> Look;

    /// The point at hand is the best so far.
    fn keep(&mut self, _k: usize) {}

    /// Tells of a pass and its error, about; false ends.
    fn tell(&mut self, _k: usize, _error: f64) -> bool {
        true
    }

    /// Moves on from the point that the pass has reached.
    fn accelerate(&mut self) {}
}

/// What a look found.
pub(super) struct Look {
    /// What counts.
    pub(super) error: f64,
    /// What the hints are compared with.
    pub(super) distance: f64,
    /// Why there is nothing left to do.
    pub(super) end: Option<Status>,
}

/// When a method is looked at and given up.
pub(super) struct Driver {
    pub(super) tolerance: f64,
    pub(super) max_passes: usize,
    /// Least error before the first pass; ∞ where it is not known.
    pub(super) best: f64,
    /// Pass of the first look that no hint asks for.
    pub(super) first: usize,
    /// Pass from which hints are heard, and passes from one look to the next at least.
    pub(super) pause: (usize, usize),
    /// Error over hint at first, and the bounds on what it is found to be.
    pub(super) factor: (f64, f64, f64),
    pub(super) forecast: Forecast,
}

impl Driver {
    /// Passes until an end; how it ended and after how many.
    #[inline]
    pub(super) fn run(mut self, passes: &mut impl Passes) -> (Status, usize) {
        let (mut factor, least, most) = self.factor;
        let (mut next, mut heard) = (self.first, self.pause.0);
        for k in 1..=self.max_passes {
            let hint = passes.pass(k).max(f64::MIN_POSITIVE);
            let promising = factor * hint <= self.tolerance && k >= heard;
            let look = (promising || k >= next || k == self.max_passes).then(|| passes.look(k));
            if let Some(look) = &look {
                (next, heard) = (k + passes.gap(k), k + self.pause.1);
                factor = (look.distance / hint).max(least).min(most);
            }
            let go_on = passes.tell(k, factor * hint);
            if let Some(Look { error, end, .. }) = look {
                if error < self.best {
                    self.best = error;
                    passes.keep(k);
                }
                if let Some(status) = end {
                    return (status, k);
                }
                if !error.is_finite() || self.forecast.is_hopeless(k, self.best, self.tolerance) {
                    return (Status::Stalled, k);
                }
            }
            if !go_on {
                return (Status::BudgetSpent, k);
            }
            passes.accelerate();
        }
        (Status::BudgetSpent, self.max_passes)
    }
}

/// How much of the step that led to a point is taken once more.
///
/// ```text
/// conjugate   β_k = |d_k|²/|d_{k−1}|², or 0 where that exceeds 1: best for what sticks
/// bounded     β_k = min(|d_k|²/|d_{k−1}|², c): c grows while passes move less than before, and falls where they do not
/// ```
///
/// The steps of grains that flow are neither symmetric nor smooth. A restart at every pass that moves more takes all momentum from them, and a
/// fixed c of 0.9 sends some of them round in circles at an error of 6e-5; in a tower that sticks a bound costs fifty times the passes. So
/// the two take turns, in growing stretches, twice as long for the bounded one. Dense steps of `bead_pour` from nothing, to 1e-4: 530, 735,
/// 390 passes with restarts alone, 325, 440, 265 so.
///
/// Where nothing flows, steps are those of NNCG, which leave out the pass at hand: what is taken once more beyond a solution that is all but
/// found goes into slow modes, which the error does not show, and a wall sways (two leaves of bricks at 1e-5, a dome, a settled pile).
///
/// Where the shifts are known, passes descend to the least value of a convex function, and β may follow Nesterov's ramp, back to zero where a
/// pass goes against the step that led to it (O'Donoghue, Candès 2015, the gradient scheme):
///
/// ```text
/// ramp        β_k = (t_k − 1)/t_{k+1},   t_{k+1} = (1 + √(1 + 4 t_k²))/2;   t = 1, β = 0 where ⟨d_k, d_k + p_{k−1}⟩ < 0
/// ```
///
/// The same steps of `bead_pour` with the shift known, from nothing, to 1e-6: 410 to 510 passes, more than 5000 with the β above; with passes
/// that take all contacts from the same velocities (accelerated projected gradients in the norm of the W_aa) 820 to 1120. Under Coulomb's law
/// the ramp circles at 1e-3.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conjugate {
    steps: Steps,
    last: f64,
    /// t of the ramp
    ramp: f64,
    bounded: bool,
    /// Length of the stretch with restarts, and passes of the stretch at hand that are still to come.
    stretch: usize,
    left: usize,
    most: f64,
    /// Σ|d|² of the passes since the bound was looked at, and of those before.
    moved: [f64; 2],
}

/// Passes of the first stretch, and those after which the bound on β is looked at.
const FIRST: usize = 30;
const WINDOW: usize = 20;
/// The bound at first, its range, and what becomes of its distance from one where passes move less, and where they do not.
const MOMENTUM: f64 = 0.8;
const RANGE: [f64; 2] = [0.5, 0.95];
const BOLDER: f64 = 0.9;
const CALMER: f64 = 2.0;

/// Which steps a method takes between its passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Steps {
    /// NNCG: for what sticks.
    Conjugate,
    /// Restarts and bounds in turn: for grains that flow.
    Turns,
    /// Nesterov's ramp: where passes descend.
    Ramp,
}

impl Conjugate {
    /// Before the first pass.
    pub(super) fn new(steps: Steps) -> Self {
        let moved = [0.0, f64::INFINITY];
        Self { steps, last: f64::INFINITY, ramp: 1.0, bounded: false, stretch: FIRST, left: FIRST, most: MOMENTUM, moved }
    }

    /// The step after a pass, given its |d|² and ⟨d, p⟩ with the step p before it.
    pub(super) fn momentum(&mut self, change: f64, along: f64) -> Momentum {
        let beta = match self.steps {
            Steps::Ramp => self.ramped(change + along < 0.0),
            _ => self.beta(change),
        };
        Momentum { beta, whole: self.steps != Steps::Conjugate }
    }

    fn ramped(&mut self, against: bool) -> f64 {
        if against {
            self.ramp = 1.0;
            return 0.0;
        }
        let t = self.ramp;
        self.ramp = 0.5 * (1.0 + (1.0 + 4.0 * t * t).sqrt());
        (t - 1.0) / self.ramp
    }

    /// 0 is a restart.
    fn beta(&mut self, change: f64) -> f64 {
        let ratio = change / std::mem::replace(&mut self.last, change);
        if self.steps == Steps::Conjugate {
            return if ratio <= 1.0 { ratio } else { 0.0 };
        }
        if self.left == 0 {
            self.bounded = !self.bounded;
            self.stretch += if self.bounded { self.stretch / 2 } else { 0 };
            self.left = if self.bounded { 2 * self.stretch } else { self.stretch };
            self.moved = [0.0, f64::INFINITY];
        }
        self.left -= 1;
        if !self.bounded {
            return if ratio <= 1.0 { ratio } else { 0.0 };
        }
        self.moved[0] += change;
        if (2 * self.stretch - self.left).is_multiple_of(WINDOW) {
            let [moved, before] = self.moved;
            self.moved = [0.0, moved];
            let part = if moved > before { CALMER } else { BOLDER };
            self.most = (1.0 - part * (1.0 - self.most)).clamp(RANGE[0], RANGE[1]);
        }
        ratio.min(self.most)
    }
}

/// How a step goes on: with the share of the pass at hand, or without.
#[derive(Clone, Copy, Debug)]
pub(super) struct Momentum {
    pub(super) beta: f64,
    pub(super) whole: bool,
}

/// `p ← β (p + d), x ← x + p`, or as in NNCG `x ← x + β p, p ← β p + d`; with β = 0 a restart.
#[inline]
pub(super) fn conjugate_step<T>(x: &mut T, d: T, p: &mut T, Momentum { beta, whole }: Momentum)
where
    T: Copy + std::ops::Mul<f64, Output = T> + std::ops::Add<Output = T>,
{
    let step = if whole { (*p + d) * beta } else { *p * beta };
    *x = *x + step;
    *p = if whole { step } else { step + d };
}

/// Gives up iterations that promise to take too long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forecast {
    /// further iterations that may be promised; 0: any number
    foresight: usize,
    /// iteration before which nothing is foretold
    first: usize,
    /// one over the part by which the number of iterations grows from one forecast to the next
    part: usize,
    anchor: (usize, f64),
}

impl Forecast {
    pub(super) fn new(foresight: usize, first: usize, part: usize) -> Self {
        Self { foresight, first, part, anchor: (0, f64::INFINITY) }
    }

    /// Whether at iteration k, with this least error, more iterations are needed than may be: by the rate since the last forecast.
    pub(super) fn is_hopeless(&mut self, k: usize, least: f64, tolerance: f64) -> bool {
        if self.foresight == 0 || k < self.first.max(self.anchor.0 + self.anchor.0 / self.part) {
            return false;
        }
        let (from, before) = std::mem::replace(&mut self.anchor, (k, least));
        let needed = libm::log(least / tolerance) / libm::log(before / least) * (k - from) as f64;
        before.is_finite() && (needed.is_nan() || needed > self.foresight as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x ← rate · x, but for one pass that spoils it.
    struct Shrinking {
        x: f64,
        rate: f64,
        spoiled: usize,
        looks: Vec<usize>,
        kept: f64,
        most: usize,
    }

    impl Passes for Shrinking {
        fn gap(&self, _: usize) -> usize {
            5
        }
        fn pass(&mut self, k: usize) -> f64 {
            self.x = if k == self.spoiled { 10.0 } else { self.rate * self.x };
            // a hint that is off by a factor of ten
            0.1 * self.x
        }
        fn look(&mut self, k: usize) -> Look {
            self.looks.push(k);
            Look { error: self.x, distance: self.x, end: (self.x <= 1e-6).then_some(Status::Converged) }
        }
        fn keep(&mut self, _: usize) {
            self.kept = self.x;
        }
        fn tell(&mut self, k: usize, _: f64) -> bool {
            k < self.most
        }
    }

    #[test]
    fn a_driver_looks_where_hints_promise_and_now_and_then_and_keeps_the_best() {
        let run = |rate, spoiled, most, foresight| {
            let mut passes = Shrinking { x: 1.0, rate, spoiled, looks: Vec::new(), kept: f64::INFINITY, most };
            let forecast = Forecast::new(foresight, 5, 1);
            let driver = Driver { tolerance: 1e-6, max_passes: 60, best: 1.0, first: 3, pause: (2, 2), factor: (1.0, 0.1, 1e3), forecast };
            (driver.run(&mut passes), passes)
        };
        // after the first look the hints are known to be a tenth of the error, so the first that promises is right
        let ((status, k), passes) = run(0.5, 0, 100, 0);
        assert_eq!((status, k, passes.looks), (Status::Converged, 20, vec![3, 8, 13, 18, 20]));
        let ((status, k), passes) = run(0.9, 14, 16, 0);
        assert_eq!((status, k), (Status::BudgetSpent, 16));
        assert!((passes.kept - libm::pow(0.9, 13.0)).abs() < 1e-12, "{}", passes.kept);
        let ((status, k), _) = run(0.99, 0, 100, 50);
        assert!(status == Status::Stalled && k < 20, "{status:?} {k}");
        let ((status, _), passes) = run(f64::NAN, 0, 100, 0);
        assert!(status == Status::Stalled && passes.kept == f64::INFINITY);
    }

    #[test]
    fn momentum_restarts_and_is_bounded_in_turn_and_the_bound_follows_what_passes_move() {
        let mut early = Conjugate::new(Steps::Turns);
        assert_eq!([4.0, 2.0, 3.0, 3.0].map(|change| early.beta(change)), [0.0, 0.5, 0.0, 1.0]);
        let mut resting = Conjugate::new(Steps::Conjugate);
        assert!((0..400).all(|k| resting.momentum(libm::pow(0.5, f64::from(k)), 0.0).beta == if k == 0 { 0.0 } else { 0.5 }));
        let betas = |rate: f64| {
            let (mut beta, mut change) = (Conjugate::new(Steps::Turns), 1.0);
            (0..400).map(|_| (beta.beta(change), change *= rate).0).collect::<Vec<f64>>()
        };
        let (falling, rising) = (betas(0.99), betas(1.001));
        let bounded = |k: usize| (30..120).contains(&k) || (165..299).contains(&k);
        for k in 1..300 {
            let (most, least) = (falling[k], rising[k]);
            let expected = if bounded(k) { (0.8..0.951).contains(&most) && least >= 0.5 } else { most > 0.989 && least < 1e-12 };
            assert!(expected, "{k}: {most} {least}");
        }
        assert!(falling[30..120].is_sorted() && falling[119] > 0.86 && rising[119] < 0.51 && rising[298] < 0.51);
    }

    #[test]
    fn the_ramp_follows_nesterov_and_begins_again_where_a_pass_goes_against_its_step() {
        let mut ramp = Conjugate::new(Steps::Ramp);
        let betas: Vec<f64> = (0..4).map(|_| ramp.momentum(1.0, -0.9).beta).collect();
        assert!(betas[0] == 0.0 && (betas[1] - 0.2817).abs() < 1e-4 && (betas[2] - 0.4340).abs() < 1e-4, "{betas:?}");
        assert_eq!([ramp.momentum(1.0, -1.1).beta, ramp.momentum(1.0, 0.0).beta], [0.0, 0.0]);
        assert!(ramp.momentum(1.0, 0.0).beta > 0.28);
    }

    #[test]
    fn momentum_solves_a_chain_in_a_tenth_of_the_passes() {
        // Gauss–Seidel on 2 x_i − x_{i−1} − x_{i+1} = 1
        let passes = |momentum: Option<Steps>| {
            let (mut x, mut p) = ([0.0f64; 40], [0.0f64; 40]);
            let mut beta = Conjugate::new(momentum.unwrap_or(Steps::Turns));
            (1..10_000).find(|_| {
                let before = x;
                (0..40).for_each(|i| {
                    x[i] = 0.5 * (1.0 + if i > 0 { x[i - 1] } else { 0.0 } + if i < 39 { x[i + 1] } else { 0.0 });
                });
                let d: [f64; 40] = std::array::from_fn(|i| x[i] - before[i]);
                let left = (0..40).map(|i| {
                    (1.0 + before[i.max(1) - 1] * f64::from(i > 0) + before[(i + 1).min(39)] * f64::from(i < 39) - 2.0 * before[i]).abs()
                });
                if left.fold(0.0, f64::max) < 1e-8 {
                    return true;
                }
                if momentum.is_some() {
                    let along = d.iter().zip(&p).map(|(d, p)| d * p).sum();
                    let momentum = beta.momentum(d.iter().map(|d| d * d).sum(), along);
                    (0..40).for_each(|i| conjugate_step(&mut x[i], d[i], &mut p[i], momentum));
                }
                false
            })
        };
        let [plain, turns, ramp] = [None, Some(Steps::Turns), Some(Steps::Ramp)].map(passes);
        assert!(plain > Some(2000) && turns < Some(300) && ramp < Some(300), "{plain:?} {turns:?} {ramp:?}");
    }

    #[test]
    fn a_rate_that_leads_there_in_time_goes_on_and_one_that_does_not_ends() {
        // a tenth in ten iterations: 1e-8 from 1e-4 needs forty more
        for (foresight, hopeless) in [(50, false), (30, true), (0, false)] {
            let mut forecast = Forecast::new(foresight, 8, 1);
            assert!(!forecast.is_hopeless(7, 1e-1, 1e-8) && !forecast.is_hopeless(20, 1e-2, 1e-8) && !forecast.is_hopeless(30, 1e-3, 1e-8));
            assert_eq!(forecast.is_hopeless(40, 1e-4, 1e-8), hopeless);
        }
        let mut forecast = Forecast::new(50, 8, 2);
        assert!(!forecast.is_hopeless(20, 1e-2, 1e-8) && forecast.is_hopeless(30, 1e-2, 1e-8));
    }
}
