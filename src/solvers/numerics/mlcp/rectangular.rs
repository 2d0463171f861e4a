//! Mixed problems with more or fewer equations than free unknowns: every active set, by least squares.
//!
//! ```text
//! for each set α of bounded unknowns that may be positive:  min |A x + C_α v_α + a|² + |D_α x + B_αα v_α + b_α|²
//! ```
//!
//! A set whose least residual is not 0 holds no solution; when that holds for every set, so does it for the problem.

use super::{Mlcp, where_is};
use crate::algebra::dense::norm;
use crate::algebra::factor::least_squares;
use crate::numerics::Status;
use crate::numerics::complementarity::Complementarity;

/// Bounded unknowns up to which every active set is tried.
const LARGEST: usize = 14;

/// Tries every active set; the best point is left in z. `None` where there are too many.
pub(super) fn enumerate(p: &Mlcp, tolerance: f64, z: &mut [f64], w: &mut [f64]) -> Option<Status> {
    let columns = p.unknowns();
    let bounded: Vec<usize> = where_is(&p.free, false).collect();
    let partners: Vec<usize> = where_is(&p.equality, false).collect();
    if bounded.len() > LARGEST {
        return None;
    }
    let m = p.m.to_dense();
    let mut best = p.residual(z, w).rel;
    let mut best_z = z.to_vec();
    let mut proved = true;
    for set in 0..1usize << bounded.len() {
        let active = |k: usize| set >> k & 1 == 1;
        let rows: Vec<usize> = where_is(&p.equality, true).chain((0..partners.len()).filter(|&k| active(k)).map(|k| partners[k])).collect();
        let unknowns: Vec<usize> = where_is(&p.free, true).chain((0..bounded.len()).filter(|&k| active(k)).map(|k| bounded[k])).collect();
        let mut a: Vec<f64> = rows.iter().flat_map(|&i| unknowns.iter().map(move |&j| (i, j))).map(|(i, j)| m[i * columns + j]).collect();
        let mut b: Vec<f64> = rows.iter().map(|&i| -p.q[i]).collect();
        let mut x = vec![0.0; unknowns.len()];
        let scale = norm(&b);
        let rank = least_squares(&mut a, &mut b, &mut x);
        // what is left below the triangle is the residual
        let left = norm(&b[rank..]);
        z.fill(0.0);
        unknowns.iter().zip(&x).for_each(|(&j, x)| z[j] = if p.free[j] { *x } else { x.max(0.0) });
        let rel = p.residual(z, w).rel;
        // consistent, but with a family of solutions of which one was looked at
        proved &= left > 1e-9 * scale || rank == unknowns.len();
        if rel < best {
            best = rel;
            best_z.copy_from_slice(z);
        }
        if best <= tolerance {
            break;
        }
    }
    z.copy_from_slice(&best_z);
    p.residual(z, w);
    Some(match best <= tolerance {
        true => Status::Converged,
        false if proved => Status::Inconsistent,
        false => Status::Stalled,
    })
}
