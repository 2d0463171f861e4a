//! Whether a figure converges as the time step is halved.
//!
//! ```text
//! d_k = v_{k+1} − v_k                 v_k: the figure at h/2^k
//! p   = log₂ |d_{n−2}/d_{n−1}|        observed order, from the last two differences
//! v∞  = v_n + d_{n−1}/(2^p − 1)       Richardson's extrapolation; what it adds is the estimate of the error
//! ```
//!
//! Richardson 1911; Roache, *Verification and Validation in Computational Science and Engineering*, 1998.

use std::fmt;

/// A difference counts as shrinking where it is smaller than the one before by this factor, √2: order one half.
const SHRINKS: f64 = std::f64::consts::SQRT_2;
/// Differences up to this part of the largest value are rounding and what the solver leaves.
const ROUNDING: f64 = 1e-9;
/// A figure has converged where its error is estimated at no more than this part of its largest value.
const ERROR: f64 = 0.1;
/// Differences below this part of the largest value say nothing against a figure.
const SMALL: f64 = 0.01;

/// What halving the step shows.
///
/// ```
/// assert_eq!(drystone::diagnostics::convergence::Verdict::NotYet.to_string(), "not yet");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The last differences shrink and leave a small error.
    Converging,
    /// Neither of the others: smaller steps are needed to tell.
    NotYet,
    /// The differences do not shrink: the figure is decided by something else than h, or jumps with it.
    NotAFunction,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Converging => "converging",
            Self::NotYet => "not yet",
            Self::NotAFunction => "not a function of h",
        })
    }
}

/// What the values of a figure at h, h/2, h/4 … come to.
///
/// ```
/// use drystone::diagnostics::convergence::{Verdict, study};
/// let found = study(&[1.08, 1.04, 1.02, 1.01], 0.0);
/// assert_eq!(found.verdict, Verdict::Converging);
/// assert!((found.order.unwrap_or(0.0) - 1.0).abs() < 1e-9 && (found.extrapolated - 1.0).abs() < 1e-9);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Study {
    /// Observed order; none where the differences are rounding or do not shrink.
    pub order: Option<f64>,
    /// The value at h → 0; the last value where nothing can be extrapolated.
    pub extrapolated: f64,
    /// Estimate of the error of the last value.
    pub error: f64,
    /// What that means.
    pub verdict: Verdict,
}

/// Looks at the values at h, h/2, h/4 …; differences up to `floor` (in the unit of the figure) count as none.
pub fn study(values: &[f64], floor: f64) -> Study {
    let last = values.last().copied().unwrap_or(f64::NAN);
    let scale = values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let nothing = floor.max(ROUNDING * scale);
    let steps: Vec<f64> = values.windows(2).map(|v| v[1] - v[0]).collect();
    let size = |k: usize| steps[k].abs();
    let n = steps.len();
    if n < 2 || values.iter().any(|v| !v.is_finite()) {
        return Study { order: None, extrapolated: last, error: f64::INFINITY, verdict: Verdict::NotYet };
    }
    let largest = (0..n).map(size).fold(0.0, f64::max);
    if largest <= nothing {
        return Study { order: None, extrapolated: last, error: largest, verdict: Verdict::Converging };
    }
    let shrinks = |k: usize| size(k) <= nothing || size(k - 1) >= SHRINKS * size(k);
    let settled = size(n - 1) <= nothing;
    let order = (!settled && size(n - 2) > nothing && shrinks(n - 1)).then(|| libm::log2(size(n - 2) / size(n - 1)));
    let (extrapolated, error) = match order {
        // differences of changing sign shrink, but follow no power of h
        Some(p) if steps[n - 2] * steps[n - 1] > 0.0 => {
            let rest = steps[n - 1] / (libm::exp2(p) - 1.0);
            (last + rest, rest.abs())
        }
        _ => (last, size(n - 1)),
    };
    // of three differences and more the last two have to shrink, unless all are so small that the limit is known anyway
    let regular = shrinks(n - 1) && (n < 3 || shrinks(n - 2) || largest <= SMALL * scale);
    let verdict = if regular && error <= nothing.max(ERROR * scale) {
        Verdict::Converging
    } else if !regular && size(n - 1) >= 0.5 * largest && size(n - 1) > nothing.max(SMALL * scale) {
        Verdict::NotAFunction
    } else {
        Verdict::NotYet
    };
    Study { order, extrapolated, error, verdict }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_h_are_found_with_their_order_and_limit() {
        for p in [1.0f64, 2.0, 0.7] {
            let values: Vec<f64> = (0..4).map(|k| 3.0 - 0.2 * (-p * f64::from(k)).exp2()).collect();
            let found = study(&values, 0.0);
            assert_eq!(found.verdict, Verdict::Converging);
            assert!((found.order.unwrap() - p).abs() < 1e-9 && (found.extrapolated - 3.0).abs() < 1e-9, "{found:?}");
        }
    }

    #[test]
    fn a_constant_is_its_own_limit_even_at_zero() {
        let found = study(&[2.0, 2.0 + 1e-15, 2.0, 2.0], 0.0);
        assert_eq!((found.verdict, found.order, found.extrapolated), (Verdict::Converging, None, 2.0));
        assert_eq!(study(&[0.0; 3], 0.0).verdict, Verdict::Converging);
        // a pile that stands: its ways are what the solver leaves
        assert_eq!(study(&[3e-12, 1e-12, 8e-12, 2e-12], 1e-9).verdict, Verdict::Converging);
    }

    #[test]
    fn what_jumps_or_scatters_does_not_converge() {
        assert_eq!(study(&[172.0, 170.0, 130.0, 2.0], 0.0).verdict, Verdict::NotAFunction);
        assert_eq!(study(&[1.0, 2.0, 1.0, 2.0], 0.0).verdict, Verdict::NotAFunction);
        assert_eq!(study(&[172.0, 20.0, 15.0, 19.0], 0.0).verdict, Verdict::NotYet);
        assert_eq!(study(&[1.0, 1.001, 1.003, 1.0035], 0.0).verdict, Verdict::Converging, "irregular, but by less than 1 %");
        assert_eq!(study(&[1.0, 1.1, 1.3, 1.35], 0.0).verdict, Verdict::NotYet, "as irregular, and large");
        assert_eq!(study(&[1.0, 1.001, 1.0005, 1.002], 0.0).verdict, Verdict::NotYet, "a scatter of 0.1 %");
        assert_eq!(study(&[100.0, 50.0, 25.0, 12.5], 0.0).verdict, Verdict::NotYet, "on its way, with an error of 12 % still");
        assert_eq!(study(&[1.0, 1.1], 0.0).verdict, Verdict::NotYet);
        assert_eq!(study(&[1.0, f64::NAN, 1.0], 0.0).verdict, Verdict::NotYet);
    }
}
