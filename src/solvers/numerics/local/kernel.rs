//! One block of a [`LocalProblem`] at a time: `u = W_aa r + q`, `−(u + g(u)) ∈ N_K(r)`.
//!
//! Coulomb contacts and scalar rows are solved exactly, joints by their inverse; what is left by projected iterations.

use super::LocalProblem;
use crate::algebra::dense;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::contact::{ContactOperator2, ContactOperator3, CrushingOperator, RollingOperator, SpinOperator};
use crate::numerics::mixed::MAX_ROWS;
use glam::DVec3;

/// How one block is solved.
#[derive(Clone, Debug)]
pub(in crate::numerics) enum Kernel {
    Coulomb2 {
        w: ContactOperator2,
        mu: f64,
    },
    Coulomb3 {
        w: ContactOperator3,
        mu: f64,
    },
    Crushing2 {
        w: ContactOperator2,
        mu: f64,
        most: f64,
    },
    Crushing3 {
        w: Box<CrushingOperator>,
        mu: f64,
        most: f64,
    },
    Rolling {
        w: Box<RollingOperator>,
        mu: f64,
        mu_r: f64,
    },
    /// one row: `r = P_K(−q / w)`
    Scalar {
        inverse: f64,
        set: AdmissibleSet,
    },
    /// equations: `r = −W⁻¹ q`
    Free {
        lu: Vec<f64>,
        rows: Vec<u32>,
    },
    /// `r ← P_K(r − û / λ)` until it stands
    Projected {
        w: Vec<f64>,
        step: f64,
        set: AdmissibleSet,
    },
    /// no own stiffness: the reaction stays
    Fixed,
}

/// Inner iterations of a projected block.
const INNER: usize = 100;

impl Kernel {
    /// The kernel of block i.
    pub(in crate::numerics) fn of(p: &LocalProblem, i: usize) -> Self {
        let rows = p.w.rows(i);
        let Some(w) = p.w.block(i, i) else { return Self::Fixed };
        let set = p.sets[i];
        match (set, rows) {
            (_, 0) => Self::Fixed,
            (AdmissibleSet::Coulomb { mu }, 2) => {
                w.try_into().ok().and_then(ContactOperator2::new).map_or(Self::Fixed, |w| Self::Coulomb2 { w, mu })
            }
            (AdmissibleSet::Coulomb { mu }, 3) => {
                w.try_into().ok().and_then(ContactOperator3::new).map_or(Self::Fixed, |w| Self::Coulomb3 { w, mu })
            }
            (AdmissibleSet::Crushing { mu, most }, 2) => {
                w.try_into().ok().and_then(ContactOperator2::new).map_or(Self::Fixed, |w| Self::Crushing2 { w, mu, most })
            }
            (AdmissibleSet::Crushing { mu, most }, 3) => {
                let w = w.try_into().ok().and_then(CrushingOperator::new);
                w.map_or(Self::Fixed, |w| Self::Crushing3 { w: Box::new(w), mu, most })
            }
            (AdmissibleSet::Rolling { mu, mu_r }, _) => {
                RollingOperator::new(w, rows).map_or(Self::Fixed, |w| Self::Rolling { w: Box::new(w), mu, mu_r })
            }
            (_, 1) if w[0] > 0.0 => Self::Scalar { inverse: 1.0 / w[0], set },
            (_, 1) => Self::Fixed,
            (AdmissibleSet::Free, n) => factors(w, n).map_or(Self::Fixed, |(lu, rows)| Self::Free { lu, rows }),
            _ => match step(w, rows) {
                0.0 => Self::Fixed,
                step => Self::Projected { w: w.to_vec(), step, set },
            },
        }
    }

    /// Replaces the reaction of block i of `p` by the solution for the velocity that the others give it; `q` and `new` are to work with.
    pub(in crate::numerics) fn visit(&self, p: &LocalProblem, i: usize, r: &mut [f64], q: &mut Vec<f64>, new: &mut Vec<f64>) {
        let range = p.w.range(i);
        new.clear();
        new.extend_from_slice(&r[range.clone()]);
        // the own block is left out of the product
        r[range.clone()].fill(0.0);
        q.clear();
        q.extend_from_slice(&p.q[range.clone()]);
        p.w.add_row_product(i, r, q);
        self.solve(q, new);
        r[range].copy_from_slice(new);
    }

    /// Replaces `r` by the solution for the velocity `q` without it.
    #[inline]
    pub(in crate::numerics) fn solve(&self, q: &[f64], r: &mut [f64]) {
        match self {
            Self::Coulomb3 { w, mu } => {
                let [x, y, z] = w.solve_near([q[0], q[1], q[2]], *mu, [r[0], r[1], r[2]]);
                (r[0], r[1], r[2]) = (x, y, z);
            }
            Self::Coulomb2 { w, mu } => {
                let [x, y] = w.solve([q[0], q[1]], *mu);
                (r[0], r[1]) = (x, y);
            }
            Self::Crushing2 { w, mu, most } => r.copy_from_slice(&w.solve_under([q[0], q[1]], *mu, *most)),
            Self::Crushing3 { w, mu, most } => r.copy_from_slice(&w.solve_near([q[0], q[1], q[2]], *mu, *most, [r[0], r[1], r[2]])),
            Self::Rolling { w, mu, mu_r } => w.solve(q, *mu, *mu_r, r),
            Self::Scalar { inverse, set } => {
                r[0] = -q[0] * inverse;
                set.project(&mut r[..1]);
            }
            Self::Free { lu, rows } => {
                r.iter_mut().zip(q).for_each(|(r, q)| *r = -q);
                dense::lu_solve(lu, rows, r);
            }
            Self::Projected { w, step, set } => projected(w, q, *step, *set, r),
            Self::Fixed => {}
        }
    }
}

/// Replaces the guess `r` by the solution for the velocity `q` without it, W being used once.
pub(in crate::numerics) fn solve_once(set: AdmissibleSet, w: &[f64], q: &[f64], r: &mut [f64]) {
    let n = q.len();
    match set {
        AdmissibleSet::Free => {
            let mut right = [0.0; MAX_ROWS];
            right.iter_mut().zip(q).for_each(|(x, q)| *x = -q);
            if dense::solve_spd(w, &mut right[..n]) {
                r.copy_from_slice(&right[..n]);
                return;
            }
        }
        AdmissibleSet::Coulomb { mu } if n == 3 => {
            if let Some(local) = w.try_into().ok().and_then(ContactOperator3::new) {
                r.copy_from_slice(&local.solve_near([q[0], q[1], q[2]], mu, [r[0], r[1], r[2]]));
                return;
            }
        }
        AdmissibleSet::Coulomb { mu } if n == 2 => {
            if let Some(local) = w.try_into().ok().and_then(ContactOperator2::new) {
                r.copy_from_slice(&local.solve([q[0], q[1]], mu));
                return;
            }
        }
        AdmissibleSet::Crushing { mu, most } if n == 3 => {
            if let Some(local) = w.try_into().ok().and_then(CrushingOperator::new) {
                r.copy_from_slice(&local.solve_near([q[0], q[1], q[2]], mu, most, [r[0], r[1], r[2]]));
                return;
            }
        }
        AdmissibleSet::Crushing { mu, most } if n == 2 => {
            if let Some(local) = w.try_into().ok().and_then(ContactOperator2::new) {
                r.copy_from_slice(&local.solve_under([q[0], q[1]], mu, most));
                return;
            }
        }
        AdmissibleSet::Rolling { mu, mu_r } => {
            if let Some(local) = RollingOperator::new(w, n) {
                return local.solve(q, mu, mu_r, r);
            }
        }
        AdmissibleSet::Twisting { mu, mu_r, mu_t } if n == 6 => {
            if let Some((local, spin)) = w.try_into().ok().and_then(SpinOperator::of_rows) {
                let vector = |x: &[f64]| (DVec3::from_slice(x), DVec3::new(x[5], x[3], x[4]));
                let (force, moment) = spin.solve(&local, vector(q), [mu, mu_r, mu_t], vector(r), None);
                r.copy_from_slice(&[force.x, force.y, force.z, moment.y, moment.z, moment.x]);
                return;
            }
        }
        AdmissibleSet::SecondOrder { .. } if n > 1 => return projected(w, q, step(w, n), set, r),
        _ => {}
    }
    for _ in 0..PASSES {
        for i in 0..n {
            let u: f64 = q[i] + (0..n).map(|j| w[i * n + j] * r[j]).sum::<f64>();
            let mut x = [r[i] - u / w[i * n + i]];
            set.project(&mut x);
            r[i] = x[0];
        }
    }
}

/// Passes over the rows of a block of bounds; one is exact for a single row, more only help.
const PASSES: usize = 8;

/// `1 / |W|_∞`, 0 for a W of zeros.
fn step(w: &[f64], rows: usize) -> f64 {
    let norm = w.chunks_exact(rows).map(|row| row.iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max);
    if norm > 0.0 { 1.0 / norm } else { 0.0 }
}

/// Most rows of a block that is solved by projection without the heap.
const SMALL: usize = 8;

fn projected(w: &[f64], q: &[f64], step: f64, set: AdmissibleSet, r: &mut [f64]) {
    let n = q.len();
    let (mut small, mut large) = ([0.0; 2 * SMALL], Vec::new());
    let buffer: &mut [f64] = if n <= SMALL {
        &mut small[..2 * n]
    } else {
        large.resize(2 * n, 0.0);
        &mut large
    };
    let (u, x) = buffer.split_at_mut(n);
    for _ in 0..INNER {
        for (k, row) in w.chunks_exact(n).enumerate() {
            u[k] = q[k] + row.iter().zip(r.iter()).map(|(a, r)| a * r).sum::<f64>();
        }
        let shift = set.shift(u);
        (0..n).for_each(|k| x[k] = r[k] - step * u[k]);
        x[0] -= step * shift;
        set.project(x);
        let (mut change, mut size) = (0.0, 0.0);
        for (r, &x) in r.iter_mut().zip(x.iter()) {
            change += (x - *r) * (x - *r);
            size += x * x;
            *r = x;
        }
        if change <= 1e-30 * size {
            break;
        }
    }
}

/// LU factors of a small general matrix; `None` when it is singular.
fn factors(w: &[f64], n: usize) -> Option<(Vec<f64>, Vec<u32>)> {
    let (mut lu, mut rows) = (w.to_vec(), vec![0; n]);
    let scale = w.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let regular = dense::lu(&mut lu, &mut rows).is_none() && lu.iter().step_by(n + 1).all(|pivot| pivot.abs() > 1e-14 * scale);
    regular.then_some((lu, rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::blocks::BlockRows;
    use crate::numerics::local::LocalSolver as _;

    #[test]
    fn each_kind_of_block_is_solved_in_one_visit() {
        let w = [3.0, 0.2, -0.4, 0.1, 2.0, 0.3, -0.3, 0.2, 2.5];
        let interval = AdmissibleSet::Interval { lower: -0.1, upper: 0.2 };
        for set in [
            AdmissibleSet::Free,
            AdmissibleSet::NonNegative,
            interval,
            AdmissibleSet::Coulomb { mu: 0.3 },
            AdmissibleSet::Crushing { mu: 0.3, most: 0.1 },
            AdmissibleSet::Crushing { mu: 0.0, most: 0.1 },
            AdmissibleSet::Crushing { mu: 0.3, most: 9.0 },
            AdmissibleSet::SecondOrder { mu: 0.3 },
        ] {
            for q in [[-1.0, 0.5, 2.0], [-1.0, 0.01, 0.02], [1.0, -1.0, 1.0]] {
                let p = LocalProblem { w: BlockRows::from_dense(&[0, 3], &w), q: q.to_vec(), sets: vec![set] };
                let mut r = [0.0; 3];
                Kernel::of(&p, 0).solve(&q, &mut r);
                assert!(p.residual(&r, &mut [0.0; 3]).rel < 1e-12, "{set:?} {q:?}: {r:?}");
                let report = super::super::nsgs::Nsgs::default().solve(&p, &mut [0.0; 3], &mut [0.0; 3]);
                assert!(report.converged(), "{set:?} {report:?}");
            }
        }
    }

    #[test]
    fn a_step_solves_the_sets_that_a_matrix_does() {
        use crate::numerics::{auto::Auto, mixed::*};
        use glam::{DMat3, DVec3};
        let sets = [
            (AdmissibleSet::Rolling { mu: 0.5, mu_r: 0.1 }, 5),
            (AdmissibleSet::SecondOrder { mu: 0.4 }, 3),
            (AdmissibleSet::Coulomb { mu: 0.4 }, 3),
            (AdmissibleSet::Coulomb { mu: 0.4 }, 2),
        ];
        for (set, rows) in sets {
            for speed in [0.1, 3.0] {
                // a body of 0.5 kg that comes down on a floor, slides and rolls; its centre lies off the normal
                let mut p = MixedProblem::default();
                p.rigid.push(RigidMass { inverse_mass: DVec3::splat(2.0), inverse_inertia: RigidMass::pack(DMat3::IDENTITY * 5.0) });
                p.free.rigid.push(Twist { linear: DVec3::new(speed, 0.3 * speed, -1.0), angular: DVec3::new(2.0, -speed, 0.5) });
                let all = [
                    [0.0, 0.0, 1.0, 0.2, -0.1, 0.0],
                    [1.0, 0.0, 0.0, 0.0, -0.5, -0.2],
                    [0.0, 1.0, 0.0, 0.5, 0.0, 0.1],
                    [0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
                    [0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
                ];
                p.push_block(set, [System::Rigid(0), System::Fixed], [all[..rows].as_flattened(), &[]], &vec![0.0; rows]);
                p.prepare().expect("legal");
                let mut answer = Answer::for_problem(&p);
                let report = Auto { tolerance: 1e-12, ..Auto::default() }.solve(&p, &mut answer);
                assert!(report.converged() && report.iterations < 200, "{set:?} {speed}: {report:?}");
                let global = p.matrices().problem();
                let found = global.residual(&answer.reactions.blocks, &mut [0.0; 6], &mut vec![0.0; rows]).expect("legal");
                assert!(found.rel < 1e-10, "{set:?} {speed}: {found:?}");
            }
        }
    }
}
