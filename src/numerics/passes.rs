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
//! sweeps a step to 1e-3 instead of 26.)

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
/// early   β_k = |d_k|²/|d_{k−1}|², or 0 where that exceeds 1: conjugate directions, best where the set of what sticks is soon known
/// late    β_k = min(|d_k|²/|d_{k−1}|², c): c grows while passes move less than before, and falls where they do not
/// ```
///
/// A pour's steps are neither symmetric nor smooth. A restart at every pass that moves more takes all momentum from them, and a fixed c of
/// 0.9 sends some of them round in circles at an error of 6e-5. Dense steps of `bead_pour` from nothing, passes with restarts and so: 530 and
/// 260 to 1e-4, or 735 and 300; 650 and 410 to 1e-5, or more than 4000 and 2905.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conjugate {
    last: f64,
    passes: usize,
    most: f64,
    /// Σ|d|² of the passes since the bound was looked at, and of those before.
    moved: [f64; 2],
}

/// Passes with restarts, and passes after which the bound on β is looked at.
const EARLY: usize = 30;
const WINDOW: usize = 20;
/// The bound at first, its range, and what becomes of its distance from one where passes move less, and where they do not.
const MOMENTUM: f64 = 0.9;
const RANGE: [f64; 2] = [0.5, 0.95];
const BOLDER: f64 = 0.9;
const CALMER: f64 = 2.0;

impl Default for Conjugate {
    fn default() -> Self {
        Self { last: f64::INFINITY, passes: 0, most: MOMENTUM, moved: [0.0, f64::INFINITY] }
    }
}

impl Conjugate {
    /// β, given |d|² of a pass; 0 is a restart.
    pub(super) fn beta(&mut self, change: f64) -> f64 {
        let ratio = change / std::mem::replace(&mut self.last, change);
        self.passes += 1;
        if self.passes <= EARLY {
            return if ratio <= 1.0 { ratio } else { 0.0 };
        }
        self.moved[0] += change;
        if self.passes.is_multiple_of(WINDOW) {
            let [moved, before] = self.moved;
            self.moved = [0.0, moved];
            let part = if moved > before { CALMER } else { BOLDER };
            self.most = (1.0 - part * (1.0 - self.most)).clamp(RANGE[0], RANGE[1]);
        }
        ratio.min(self.most)
    }
}

/// `p ← β (p + d), x ← x + p`; with β = 0 a restart.
#[inline]
pub(super) fn conjugate_step<T>(x: &mut T, d: T, p: &mut T, beta: f64)
where
    T: Copy + std::ops::Mul<f64, Output = T> + std::ops::Add<Output = T>,
{
    *p = (*p + d) * beta;
    *x = *x + *p;
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
    fn momentum_restarts_at_first_then_grows_while_passes_move_less_and_falls_where_they_do_not() {
        let mut early = Conjugate::default();
        assert_eq!([4.0, 2.0, 3.0, 3.0].map(|change| early.beta(change)), [0.0, 0.5, 0.0, 1.0]);
        let late = |rate: f64| {
            let (mut beta, mut change) = (Conjugate::default(), 1.0);
            (0..300).map(|_| (beta.beta(change), change *= rate).0).collect::<Vec<f64>>()
        };
        let (falling, rising) = (late(0.99), late(1.001));
        assert!((falling[30] - 0.9).abs() < 1e-12 && falling[299] > 0.94 && falling[30..].windows(2).all(|b| b[0] <= b[1]));
        assert!(rising[..30].iter().all(|&b| b == 0.0) && rising[299] < 0.51);
    }

    #[test]
    fn momentum_solves_a_chain_in_a_tenth_of_the_passes() {
        // Gauss–Seidel on 2 x_i − x_{i−1} − x_{i+1} = 1
        let passes = |momentum: bool| {
            let (mut x, mut p) = ([0.0f64; 40], [0.0f64; 40]);
            let mut beta = Conjugate::default();
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
                if momentum {
                    let beta = beta.beta(d.iter().map(|d| d * d).sum());
                    (0..40).for_each(|i| conjugate_step(&mut x[i], d[i], &mut p[i], beta));
                }
                false
            })
        };
        let (plain, fast) = (passes(false), passes(true));
        assert!(plain > Some(2000) && fast < Some(300), "{plain:?} {fast:?}");
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
