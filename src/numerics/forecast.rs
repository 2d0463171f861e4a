//! What the rate of an iteration promises.

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
    use super::Forecast;

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
