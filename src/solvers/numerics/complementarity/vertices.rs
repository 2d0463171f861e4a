//! The vertices of all faces of a small LCP: what decides where bases are singular.
//!
//! ```text
//! z_C ≥ 0 on the columns C, 0 elsewhere,   M_RC z_C = −q_R,  |R| = |C|,  M_RC regular        for each choice of C and R
//! ```
//!
//! The solutions with one set of positive z and one of positive w are a polyhedron in z ≥ 0, so each holds a vertex, and a vertex has
//! as many independent active rows as positive z. `M_RC` is eliminated with complete pivoting on the balanced matrix, so the answer
//! does not hang on the units or on the last digits; where a pivot or a sign is too near zero to tell, the search says so.

use super::form::Form;

/// Unknowns up to which it is done: 12 870 systems.
pub(super) const LARGEST: usize = 8;
/// Pivots of a balanced matrix that are zero for sure, and those that are not for sure.
const PIVOT: (f64, f64) = (1e-13, 1e-6);
/// Misses of a sign, relative to what it is made of, that may be rounding.
const SIGN: f64 = 1e-7;

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Search {
    /// A solution, left in z.
    Found,
    /// No vertex solves the problem, and none is near to doing so.
    None,
    /// None was found, and rounding leaves it open.
    Unsure,
}

/// Whether this is an LCP of few unknowns.
pub(super) fn apply_to(form: &Form) -> bool {
    form.order() <= LARGEST && form.lower.iter().zip(&form.upper).all(|(l, u)| *l == 0.0 && *u == f64::INFINITY)
}

/// Tries all vertices of `form`, whose entries are near one; `good` judges z in units of `columns`.
pub(super) fn search(form: &Form, columns: &[f64], z: &mut [f64], mut good: impl FnMut(&[f64]) -> bool) -> Search {
    let n = form.order();
    let mut unsure = false;
    for support in 0u32..1 << n {
        for active in (0u32..1 << n).filter(|rows| rows.count_ones() == support.count_ones()) {
            let Some((point, pivot)) = vertex(form, support, active) else { continue };
            if pivot < PIVOT.0 {
                continue;
            }
            if missed(form, support, &point[..n]) > SIGN {
                unsure |= pivot < PIVOT.1;
                continue;
            }
            (0..n).for_each(|i| z[i] = columns[i] * point[i].max(0.0));
            if good(z) {
                return Search::Found;
            }
            unsure = true;
        }
    }
    if unsure { Search::Unsure } else { Search::None }
}

/// The z of these columns that makes w zero on these rows, and the least pivot; none where a pivot vanishes.
fn vertex(form: &Form, support: u32, active: u32) -> Option<([f64; LARGEST], f64)> {
    let n = form.order();
    let mut a = [[0.0; LARGEST + 1]; LARGEST];
    let mut columns = [0; LARGEST];
    let mut k = 0;
    for j in (0..n).filter(|j| support >> j & 1 != 0) {
        columns[k] = j;
        k += 1;
    }
    for (row, i) in a.iter_mut().zip((0..n).filter(|i| active >> i & 1 != 0)) {
        (0..k).for_each(|c| row[c] = form.row(i)[columns[c]]);
        row[k] = -form.q[i];
    }
    let mut least = f64::INFINITY;
    for step in 0..k {
        let (mut best, mut at) = (0.0, (step, step));
        for (r, row) in a.iter().enumerate().take(k).skip(step) {
            for (c, x) in row.iter().enumerate().take(k).skip(step) {
                if x.abs() > best {
                    (best, at) = (x.abs(), (r, c));
                }
            }
        }
        least = least.min(best);
        if best == 0.0 {
            return None;
        }
        a.swap(step, at.0);
        columns.swap(step, at.1);
        a.iter_mut().for_each(|row| row.swap(step, at.1));
        let pivot = a[step];
        for (r, row) in a.iter_mut().enumerate().take(k) {
            if r != step {
                let factor = row[step] / pivot[step];
                (step..=k).for_each(|c| row[c] -= factor * pivot[c]);
            }
        }
    }
    let mut z = [0.0; LARGEST];
    (0..k).for_each(|c| z[columns[c]] = a[c][k] / a[c][c]);
    Some((z, least))
}

/// Largest miss of a sign: of z beside the largest z, of w beside its own terms.
fn missed(form: &Form, support: u32, z: &[f64]) -> f64 {
    let largest = z.iter().fold(0.0f64, |m, z| m.max(z.abs()));
    let mut worst = 0.0f64;
    for (i, own) in z.iter().enumerate() {
        let (mut w, mut size) = (form.q[i], form.q[i].abs());
        for (m, z) in form.row(i).iter().zip(z) {
            w += m * z;
            size += (m * z).abs();
        }
        // z may stand a little off zero by rounding: its w vanishes where it is clearly positive
        let positive = support >> i & 1 != 0 && *own > SIGN * largest;
        let miss = if positive { w.abs() } else { -w };
        for (miss, scale) in [(miss, size), (-own, largest)] {
            if miss > 0.0 {
                worst = worst.max(miss / scale);
            }
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lcp(n: usize, m: &[f64], q: &[f64]) -> Form {
        Form { m: m.to_vec(), q: q.to_vec(), lower: vec![0.0; n], upper: vec![f64::INFINITY; n] }
    }

    #[test]
    fn a_face_of_singular_bases_gives_its_vertex_and_none_a_proof() {
        // z0 + z1 = 1 in both rows
        let p = lcp(2, &[1.0, 1.0, 1.0, 1.0], &[-1.0, -1.0]);
        let mut z = [0.0; 2];
        assert_eq!(search(&p, &[1.0, 2.0], &mut z, |z| z[0] + z[1] / 2.0 == 1.0), Search::Found);
        // w1 = 1 keeps z1 at 0, and then w0 = −1
        let p = lcp(2, &[0.0, 1.0, 0.0, 0.0], &[-1.0, 1.0]);
        assert_eq!(search(&p, &[1.0; 2], &mut z, |_| true), Search::None);
        // the two rows differ in the ninth digit: nothing is said
        let p = lcp(2, &[-1.0, -1.0, -1.0, -1.0 - 1e-9], &[-1.0, 1.0]);
        assert_eq!(search(&p, &[1.0; 2], &mut z, |_| false), Search::Unsure);
    }
}
