//! Jacobians by central differences, in any units.
//!
//! ```text
//! J(d) = (f(x + d) − f(x − d))/2d        d = ε max(|x|, 1), and ε max(|x|, 1)/10³, /10⁶, … where x is much smaller than 1
//! ```
//!
//! The first d stands well above the rounding of f, but a charge of a nanocoulomb may live on a curve that ε = 6·10⁻⁶ leaves far behind.
//! Each entry is the J(d) that the next finer d changes least: errors of curvature fall with d, those of rounding rise (Ridders, Adv. Eng.
//! Software 4, 1982).

use super::ClusterError;
use super::node::buffer;
use smallvec::SmallVec;

/// Part of x, or of 1 where that is larger, by which it is moved.
const STEP: f64 = 6e-6;
/// From one difference to the next finer one.
const FINER: f64 = 1e-3;
/// Below this |x| finer differences are tried, which take as many values again: above it a curve of the size of x costs `(d/x)²`, 0.4 % at most.
const SMALL: f64 = 1e-4;
/// Part of an entry that a finer difference may change where the entry has settled.
const SETTLED: f64 = 1e-6;
/// Part of the values of f that rounding may change.
const ROUNDING: f64 = 1e-15;

/// The Jacobian of `f` (m values) at `x`, row by row; `x` comes back as it was. An error is that of the first difference, where finer ones
/// fail as well.
pub(super) fn jacobian(
    m: usize,
    x: &mut [f64],
    out: &mut [f64],
    mut f: impl FnMut(&[f64], &mut [f64]) -> Result<(), ClusterError>,
) -> Result<(), ClusterError> {
    let n = x.len();
    // what is the rounding of others is 0
    let least = f64::EPSILON * x.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    let (mut up, mut down) = (buffer(m), buffer(m));
    for j in 0..n {
        let step = STEP * x[j].abs().max(1.0);
        let first = at_ends(x, j, step, [&mut up, &mut down], &mut f);
        if first.is_ok() {
            (0..m).for_each(|i| out[i * n + j] = (up[i] - down[i]) / (2.0 * step));
        }
        if first.is_err() || (x[j].abs() > least && x[j].abs() < SMALL) {
            refine((x, j), step, [&mut up, &mut down], out, first, &mut f)?;
        }
    }
    Ok(())
}

/// f at `x + d` and at `x − d`, d along the coordinate j.
#[inline]
fn at_ends(
    x: &mut [f64],
    j: usize,
    d: f64,
    [up, down]: [&mut [f64]; 2],
    f: &mut impl FnMut(&[f64], &mut [f64]) -> Result<(), ClusterError>,
) -> Result<(), ClusterError> {
    let middle = x[j];
    x[j] = middle + d;
    let found = f(x, up).and_then(|()| {
        x[j] = middle - d;
        f(x, down)
    });
    x[j] = middle;
    found
}

/// Looks at finer differences of the coordinate j down to the first one that x itself would ask for, and one beyond it; `out` holds those of
/// `coarse`, where `first` is no error.
#[cold]
#[inline(never)]
fn refine(
    (x, j): (&mut [f64], usize),
    coarse: f64,
    [up, down]: [&mut [f64]; 2],
    out: &mut [f64],
    first: Result<(), ClusterError>,
    f: &mut impl FnMut(&[f64], &mut [f64]) -> Result<(), ClusterError>,
) -> Result<(), ClusterError> {
    let (n, m) = (x.len(), up.len());
    let finest = FINER * STEP * x[j].abs().max(f64::EPSILON);
    let mut known = first.is_ok();
    let mut last: SmallVec<[f64; 64]> = (0..m).map(|i| out[i * n + j]).collect();
    let mut least = buffer(m);
    least.fill(f64::INFINITY);
    let mut step = coarse;
    loop {
        step *= FINER;
        if step < finest {
            return if known { Ok(()) } else { first };
        }
        if at_ends(x, j, step, [&mut *up, &mut *down], f).is_err() {
            continue;
        }
        let mut settled = known;
        for i in 0..m {
            let (up, down, entry) = (up[i], down[i], &mut out[i * n + j]);
            let slope = (up - down) / (2.0 * step);
            if known {
                let change = (slope - last[i]).abs();
                if change < least[i] {
                    (least[i], *entry) = (change, last[i]);
                }
                settled &= least[i] <= (SETTLED * entry.abs()).max(ROUNDING / step * (up.abs() + down.abs()));
            } else {
                *entry = slope;
            }
            last[i] = slope;
        }
        if settled {
            return Ok(());
        }
        known = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The derivative of one function of one variable.
    fn slope(at: f64, f: impl Fn(f64) -> f64) -> Result<f64, ClusterError> {
        let (mut x, mut out) = ([at], [0.0]);
        jacobian(1, &mut x, &mut out, |x, y| {
            y[0] = f(x[0]);
            let fault = || ClusterError::NotFinite { system: "s".into(), operator: "f", time: 0.0 };
            if y[0].is_finite() { Ok(()) } else { Err(fault()) }
        })?;
        assert_eq!(x, [at]);
        Ok(out[0])
    }

    #[test]
    fn curves_of_any_size_have_their_slopes() -> Result<(), ClusterError> {
        for size in [1e6, 1.0, 1e-2, 1e-4, 1e-6, 1e-9, 1e-12] {
            let error = if size < SMALL { 1e-5 } else { (STEP / size).powi(2).max(1e-5) };
            let close = |found: f64, wanted: f64| assert!((found / wanted - 1.0).abs() < error, "{size:e}: {found} for {wanted}");
            close(slope(3.0 * size, |x| size * (x / size).powi(3))?, 27.0);
            close(slope(-size, |x| size * (x / size).exp())?, (-1.0f64).exp());
            // not a number on the other side of zero
            close(slope(size, |x| size * (x / size).sqrt())?, 0.5);
        }
        Ok(())
    }

    #[test]
    fn rounding_of_large_terms_does_not_pass_for_a_slope() -> Result<(), ClusterError> {
        // a spring under its weight, close to its place of rest, and a function that hardly changes
        for x in [0.0, 1e-18, -1e-15, 1e-12, 1e-9, 1e-5] {
            assert!((slope(x, |x| 40.0 * (x + 0.245_25) - 9.81)? - 40.0).abs() < 1e-4, "{x:e}");
            assert!(slope(x, |x| (1.0 + x / 3.0) - x / 3.0)?.abs() < 1e-7, "{x:e}");
        }
        Ok(())
    }

    #[test]
    fn a_function_that_is_never_finite_is_an_error() {
        assert!(slope(-1e-9, f64::sqrt).is_err() && slope(-1.0, f64::sqrt).is_err());
    }
}
