//! The schedule of a proximal term: a share of the present error that falls where an iteration gains little, and rises again.

/// How strongly a semismooth Newton method is regularised, and by which error.
///
/// The share of the error falls by [`DECAY`] at each iteration that does not halve it. Where it has all but vanished it starts again, and the other
/// error counts: the norm over all blocks and that of the worst one in turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Regularisation {
    first: f64,
    share: f64,
    error: f64,
    worst: bool,
}

/// Part of the share that is left where an iteration does not halve the error.
const DECAY: f64 = 0.6;
/// Share of the first one below which the schedule starts again.
const SMALLEST: f64 = 1e-4;
/// First share of a method that wanders, and points of its line search of which the worst has to be beaten.
pub(super) const RISING: f64 = 1000.0;
pub(super) const WINDOW: usize = 20;

impl Regularisation {
    /// With this first share.
    pub(super) fn new(first: f64) -> Self {
        Self { first, share: first, error: 1.0, worst: false }
    }

    /// For a method that wanders.
    pub(super) fn rising() -> Self {
        Self::new(RISING)
    }

    /// α of the proximal term `α D (r − r_k)`.
    pub(super) fn alpha(&self) -> f64 {
        self.share * self.error.min(1.0)
    }

    /// After an iteration: the norm of the error over all blocks, and the error as it is judged.
    pub(super) fn tell(&mut self, norm: f64, judged: f64) {
        let before = std::mem::replace(&mut self.error, if self.worst { judged } else { norm });
        if self.error > 0.5 * before {
            self.share *= DECAY;
            if self.share < SMALLEST * self.first {
                (self.share, self.worst) = (self.first, !self.worst);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_falls_where_nothing_is_gained_and_rises_again_with_the_other_error() {
        let mut r = Regularisation::new(100.0);
        assert_eq!(r.alpha(), 100.0);
        r.tell(0.4, 0.9);
        assert!((r.alpha() - 40.0).abs() < 1e-12, "an iteration that halves the error costs nothing");
        let alphas: Vec<f64> = (0..19).map(|_| (r.tell(0.4, 0.9), r.alpha()).1).collect();
        assert!((alphas[0] - 24.0).abs() < 1e-12 && alphas[..18].is_sorted_by(|a, b| a > b) && alphas[17] < 0.01, "{alphas:?}");
        assert_eq!(alphas[18], 40.0, "{alphas:?}");
        r.tell(0.4, 0.9);
        assert!((r.alpha() - 54.0).abs() < 1e-12, "{}", r.alpha());
    }
}
