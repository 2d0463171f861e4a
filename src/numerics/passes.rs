//! One driver for passes over blocks: when to look at the true error, the best point, what the rate promises, when to end.
//!
//! ```text
//! pass      a sweep over all blocks, each solved with the others as they stand; it hints at its error, which costs nothing
//! look      the true error, which costs a product: when the hint, times what it was last off by, is within the tolerance,
//!           and now and then
//! NNCG      d_k = pass(r) − r,   β = |d_k|² / |d_{k−1}|²;   β > 1: p = d_k,   else  r += β p,  p = β p + d_k
//! ```
//!
//! Gauss–Seidel in body space, on W, over the active blocks of a routed problem and over complementarities are passes of this kind.
//! (NNCG: Silcowitz, Niebe, Erleben 2010.)

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

/// The conjugate directions of passes (NNCG).
#[derive(Clone, Copy, Debug)]
pub(super) struct Conjugate {
    last: f64,
}

impl Default for Conjugate {
    fn default() -> Self {
        Self { last: f64::INFINITY }
    }
}

impl Conjugate {
    /// β, given |d|² of a pass; 0 is a restart.
    pub(super) fn beta(&mut self, change: f64) -> f64 {
        let ratio = change / std::mem::replace(&mut self.last, change);
        if ratio <= 1.0 { ratio } else { 0.0 }
    }
}

/// `x ← x + β p, p ← β p + d`; with β = 0 a restart.
#[inline]
pub(super) fn conjugate_step<T>(x: &mut T, d: T, p: &mut T, beta: f64)
where
    T: Copy + std::ops::Mul<f64, Output = T> + std::ops::Add<Output = T>,
{
    let step = *p * beta;
    *x = *x + step;
    *p = step + d;
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
