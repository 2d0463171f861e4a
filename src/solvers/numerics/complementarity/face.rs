//! The exact point of the face on which a nearly solved problem ends.
//!
//! ```text
//! B = the unknowns off their bounds,   M_BB dz = −w_B,   z ← P(z + dz)       where this lowers |z − P(z − w)|
//! ```
//!
//! `M_BB` is eliminated with complete pivoting in balanced units and cut where the pivots end: on a face of many solutions the
//! unknowns without a pivot stay as they are. So methods that creep towards a singular solution end on it, in any units.

use super::Scratch;
use super::basis::{State, state_of};
use super::form::Form;

/// Unknowns off their bounds up to which it is done: the elimination is dense and searches every pivot.
const LARGEST: usize = 200;
/// Share of the largest pivot below which those of a balanced matrix count as zero.
const PIVOT: f64 = 1e-9;
/// Corrections, the later ones for rounding.
const STEPS: usize = 3;

/// Improves z and `w = M z + q`, or leaves them.
pub(super) fn polish(form: &Form, z: &mut [f64], w: &mut [f64], scratch: &mut Scratch) {
    let n = form.order();
    let (scaling, unit) = (&mut scratch.scaling, &mut scratch.scaled);
    scaling.balance(form, unit);
    let mut x: Vec<f64> = (0..n).map(|i| z[i] / scaling.columns[i]).collect();
    let mut y = vec![0.0; n];
    unit.output(&x, &mut y);
    let members: Vec<usize> = (0..n).filter(|&i| state_of(unit, i, x[i], y[i]) == State::Basic).collect();
    if members.is_empty() || members.len() > LARGEST {
        return;
    }
    // the others on their bounds
    for i in (0..n).filter(|i| !members.contains(i)) {
        x[i] = if (x[i] - unit.lower[i]).abs() <= (unit.upper[i] - x[i]).abs() { unit.lower[i] } else { unit.upper[i] };
    }
    for _ in 0..STEPS {
        unit.output(&x, &mut y);
        let dz = correction(unit, &members, &y);
        members.iter().zip(&dz).for_each(|(&i, d)| x[i] += d);
    }
    (0..n).for_each(|i| x[i] = form.project(i, unit.project(i, x[i]) * scaling.columns[i]));
    form.output(&x, &mut y);
    if form.natural_map(&x, &y) < form.natural_map(z, w) {
        z.copy_from_slice(&x);
        w.copy_from_slice(&y);
    }
}

/// `M_BB dz = −w_B` as far as its pivots reach.
fn correction(form: &Form, members: &[usize], w: &[f64]) -> Vec<f64> {
    let k = members.len();
    let mut a: Vec<Vec<f64>> = members.iter().map(|&i| members.iter().map(|&j| form.row(i)[j]).chain([-w[i]]).collect()).collect();
    let mut columns: Vec<usize> = (0..k).collect();
    let (mut first, mut rank) = (0.0, k);
    for step in 0..k {
        let (mut best, mut at) = (0.0, (step, step));
        for (r, row) in a.iter().enumerate().skip(step) {
            for (c, x) in row[..k].iter().enumerate().skip(step) {
                if x.abs() > best {
                    (best, at) = (x.abs(), (r, c));
                }
            }
        }
        if step == 0 {
            first = best;
        }
        if best <= PIVOT * first {
            rank = step;
            break;
        }
        a.swap(step, at.0);
        columns.swap(step, at.1);
        a.iter_mut().for_each(|row| row.swap(step, at.1));
        let (above, below) = a.split_at_mut(step + 1);
        let pivot = &above[step];
        for row in below {
            let factor = row[step] / pivot[step];
            row[step..].iter_mut().zip(&pivot[step..]).for_each(|(x, p)| *x -= factor * p);
        }
    }
    let mut dz = vec![0.0; k];
    for step in (0..rank).rev() {
        let row = &a[step];
        let known: f64 = (step + 1..rank).map(|c| row[c] * dz[columns[c]]).sum();
        dz[columns[step]] = (row[k] - known) / row[step];
    }
    dz
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_near_a_singular_face_moves_onto_it() {
        // z0 + z1 = 1 in both rows, z2 = 0 with w2 = 2
        let m = vec![1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let form = Form { m, q: vec![-1.0, -1.0, 2.0], lower: vec![0.0; 3], upper: vec![f64::INFINITY; 3] };
        let (mut z, mut w) = ([0.3, 0.7 + 1e-5, 1e-5], [0.0; 3]);
        form.output(&z.clone(), &mut w);
        polish(&form, &mut z, &mut w, &mut Scratch::default());
        assert!(form.natural_map(&z, &w) < 1e-15 && (z[0] - 0.3).abs() < 1e-4 && z[2] == 0.0, "{z:?}");
    }
}
