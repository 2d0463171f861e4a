//! Whether z solves the problem row by row, whatever the size of z: the rule of [`acceptance`](crate::numerics::acceptance).
//!
//! ```text
//! ε_i = d_i |z_i − P(z_i − w_i/d_i)|,   d_i = |M_ii|, or the mean of those where it is 0       violation = max ε_i
//! ```
//!
//! Rows may have any units, so the misfit is taken in those in which the entries of M are near one (M' = R M C, powers of two): there
//! z and w have one unit, d_i = max |M'_ij|, and `misfit = max ε'_i / s_i` with s_i as for contacts, but
//!
//! ```text
//! s_i ≤ max(|q'_i| + Σ_j |M'_ij z'_j|,  max_j |M'_ij q'_j| / d_j)
//! ```
//!
//! since the unit of a neighbour may be another for all that: its demand counts as far as it reaches this row. Rows without q that no
//! demand reaches, neither straight away nor through the rows of others, have z = 0 and no unit of their own: their z counts by what
//! it does to others, so s_i is not lowered. What is left by rounding in the row's own product is no misfit while it is small beside q.
//! Where it is not, and z follows from the rows one after the other (triangular rows of positive diagonal), s_i is the size of the terms of w: such a z
//! may grow along its rows as far as it will, it is the only one.

use super::form::{Form, Scaling};
use super::succession::determined;
use crate::numerics::acceptance::{self, demand, velocity_scales};
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::residual::Residual;
use std::cell::LazyCell;

/// Size of the terms of w beside q up to which its digits are trusted at first sight.
const GROWN: f64 = 1e4;
/// Largest share of the scale of q that rounding excuses.
const EXCUSED: f64 = 1e-3;
/// Violation of a row over the largest q of all that no difference of units explains.
const NOTHING: f64 = 1e-100;

/// True where z, whose errors are `found`, solves the problem to the tolerance on `rel`; sets the violation and the misfit.
pub(super) fn accepts(form: &Form, z: &[f64], w: &[f64], tolerance: f64, found: &mut Residual) -> bool {
    judge(form, z, w, tolerance, found);
    acceptance::error(found.rel, found) <= tolerance
}

/// Sets `violation` and `misfit`. Where every row is far within the tolerance beside its own q the misfit is an upper bound.
pub(in crate::numerics) fn judge(form: &Form, z: &[f64], w: &[f64], tolerance: f64, found: &mut Residual) {
    let n = form.order();
    let typical = (0..n).map(|i| form.m[i * n + i].abs()).sum::<f64>() / n.max(1) as f64;
    let fallback = if typical > 0.0 { typical } else { 1.0 };
    (found.violation, found.misfit, found.blocks) = (0.0, 0.0, n);
    // beyond it the digits of w are those of rounding
    let mut certain = !has_grown(form, z);
    for i in 0..n {
        let own = form.m[i * n + i].abs();
        let d = if own > 0.0 { own } else { fallback };
        let missed = missed(form, i, z[i], w[i], d);
        found.violation = if missed <= found.violation { found.violation } else { missed };
        // as w alone misses the law where z stands: no unit of z enters
        let alone = if z[i] <= form.lower[i] && z[i] >= form.upper[i] {
            0.0
        } else if z[i] <= form.lower[i] {
            -w[i]
        } else if z[i] >= form.upper[i] {
            w[i]
        } else {
            w[i].abs()
        };
        let misfit = if alone <= 0.0 {
            0.0
        } else if alone <= tolerance * form.q[i].abs() {
            alone / form.q[i].abs()
        } else {
            // of rows without a q of their own, too, rounding is no misfit where z has not grown
            let size = form.row(i).iter().zip(z).fold(form.q[i].abs(), |m, (x, z)| m + (x * z).abs());
            if alone <= f64::EPSILON * n as f64 * size { 0.0 } else { f64::INFINITY }
        };
        certain &= misfit <= tolerance;
        found.misfit = found.misfit.max(misfit);
    }
    if !certain {
        let (mut scaling, mut unit) = (Scaling::default(), Form::default());
        scaling.balance(form, &mut unit);
        let z: Vec<f64> = z.iter().zip(&scaling.columns).map(|(z, c)| z / c).collect();
        found.misfit = misfit(&unit, &z);
    }
}

/// `d |z − P(z − w/d)|`, to its last digit where w/d is nothing beside z.
fn missed(form: &Form, i: usize, z: f64, w: f64, d: f64) -> f64 {
    let (lower, upper) = (form.lower[i], form.upper[i]);
    if !(lower..=upper).contains(&z) {
        d * (z - form.project(i, z - w / d)).abs()
    } else if w > 0.0 {
        w.min(d * (z - lower))
    } else {
        // NaN stays NaN
        if -w > d * (upper - z) { d * (upper - z) } else { -w }
    }
}

/// True where the terms of w may be so large beside q that its digits are those of rounding.
pub(super) fn has_grown(form: &Form, z: &[f64]) -> bool {
    largest(&form.m) * largest(z) > GROWN * largest(&form.q)
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0f64, |m, x| m.max(x.abs()))
}

/// Rows whose unknowns answer to some demand: their own, or one that comes along their entries of M.
fn reached(unit: &Form, asked: &[f64]) -> Vec<bool> {
    let n = asked.len();
    let mut reached: Vec<bool> = asked.iter().map(|x| *x > 0.0).collect();
    let mut next: Vec<usize> = (0..n).filter(|&i| reached[i]).collect();
    while let Some(j) = next.pop() {
        for i in (0..n).filter(|&i| unit.m[i * n + j] != 0.0) {
            if !std::mem::replace(&mut reached[i], true) {
                next.push(i);
            }
        }
    }
    reached
}

/// The largest misfit in the units of this form.
fn misfit(unit: &Form, z: &[f64]) -> f64 {
    let n = unit.order();
    let sets: Vec<AdmissibleSet> = (0..n)
        .map(|i| match (unit.lower[i], unit.upper[i]) {
            (0.0, f64::INFINITY) => AdmissibleSet::NonNegative,
            (f64::NEG_INFINITY, f64::INFINITY) => AdmissibleSet::Free,
            (lower, upper) => AdmissibleSet::Interval { lower, upper },
        })
        .collect();
    // bounds away from 0 push like q
    let origin: Vec<f64> = (0..n).map(|i| unit.origin(i)).collect();
    let mut q = vec![0.0; n];
    unit.output(&origin, &mut q);
    q.iter_mut().zip(&unit.q).for_each(|(q, plain)| *q = if q.abs() > plain.abs() { *q } else { *plain });
    let offsets: Vec<usize> = (0..=n).collect();
    let scales = velocity_scales(&sets, &offsets, &q, |i| (0..n).filter(move |&j| unit.m[i * n + j] != 0.0 || unit.m[j * n + i] != 0.0));
    let typical = largest(&unit.m);
    // the diagonal may be small beside its row, or 0: z counts by what it can do
    let weights: Vec<f64> = (0..n)
        .map(|i| match largest(unit.row(i)) {
            0.0 if typical > 0.0 => typical,
            0.0 => 1.0,
            own => own,
        })
        .collect();
    // the z that each row asks for, as far as its bounds let it go
    let asked: Vec<f64> =
        (0..n).map(|i| (demand(sets[i], &q[i..=i]) / weights[i]).min((unit.upper[i] - origin[i]).max(origin[i] - unit.lower[i]))).collect();
    let reached = LazyCell::new(|| reached(unit, &asked));
    let determined = LazyCell::new(|| determined(unit));
    // beside the largest q this is nothing in any unit, and so small that the squares in `rel` no longer see it
    let nothing = NOTHING * largest(&q);
    let mut worst = 0.0f64;
    for i in 0..n {
        let d = weights[i];
        let (mut w, mut size) = (unit.q[i], unit.q[i].abs());
        let mut reach = 0.0f64;
        for ((m, z), asked) in unit.row(i).iter().zip(z).zip(&asked) {
            w += m * z;
            size += (m * z).abs();
            reach = reach.max(m.abs() * asked);
        }
        // nothing moves a row of zeros: its q alone says how far it is off
        let scale = if q[i] == 0.0 && !reached[i] { scales[i] } else { scales[i].min(size.max(reach)) };
        // where the box is narrow beside what w could do, a share of its width counts
        let width = unit.upper[i] - unit.lower[i];
        let d = if width > 0.0 { d.max(scale / width) } else { d };
        let missed = missed(unit, i, z[i], w, d);
        if !missed.is_finite() {
            return f64::INFINITY;
        }
        let rounding = 4.0 * f64::EPSILON * n as f64 * size;
        // the only z there is has not run away
        let scale = if rounding > EXCUSED * scale && determined[i] { size } else { scale };
        // where rounding alone is larger than what it may excuse, w says nothing
        let missed = if rounding > EXCUSED * scale { missed.max(rounding) } else { missed };
        if missed > rounding.min(EXCUSED * scale).max(nothing) && scale > 0.0 {
            worst = worst.max(missed / scale);
        }
    }
    worst
}
