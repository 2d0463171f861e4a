//! Plane friction and bounds as one complementarity: it needs no positive W_aa, and few contacts have all their states tried.
//!
//! ```text
//! r_t = β₁ − β₂        0 ≤ r_n ⟂ u_n ≥ 0,   0 ≤ β₁ ⟂ λ + u_t ≥ 0,   0 ≤ β₂ ⟂ λ − u_t ≥ 0,   0 ≤ λ ⟂ μ r_n − β₁ − β₂ ≥ 0
//! ```
//!
//! (Stewart & Trinkle 1996.)

use super::LocalProblem;
use crate::algebra::matrix::Matrix;
use crate::numerics::admissible::AdmissibleSet::{Coulomb, Crushing, Free, Interval, NonNegative};
use crate::numerics::complementarity::{Auto, ComplementaritySolver as _, Workspace};
use crate::numerics::relay::Relay;
use crate::numerics::{Measure, Report, Status, Watch};

/// Rows up to which plane friction is tried as a complementarity.
pub(in crate::numerics) const LARGEST: usize = 120;
/// Error at which a complementarity is solved, at most: the slip of a contact is a difference of two of its unknowns.
const EXACT: f64 = 1e-10;

/// The blocks of a problem that are on, as one box problem: rows of bounds as they are, four unknowns `(r_n, β₁, β₂, λ)` a contact.
pub(in crate::numerics) struct Plane {
    /// The box problem.
    pub(in crate::numerics) statement: Relay,
    /// The guess in its unknowns.
    pub(in crate::numerics) z: Vec<f64>,
    /// per row of the problem: its unknowns with their signs, none where its block is off
    images: Vec<Vec<(usize, f64)>>,
}

impl Plane {
    /// The blocks with `on`, all of them bounds or plane friction, from the guess `r`.
    pub(in crate::numerics) fn of(p: &LocalProblem, on: impl Fn(usize) -> bool, r: &[f64]) -> Self {
        let members: Vec<usize> = (0..p.sets.len()).filter(|&i| on(i)).collect();
        let w = &p.w;
        let plane = |i: usize| match p.sets[i] {
            Coulomb { mu } | Crushing { mu, .. } if w.rows(i) == 2 => Some(mu),
            _ => None,
        };
        let mut images: Vec<Vec<(usize, f64)>> = vec![Vec::new(); w.order()];
        let (mut n, mut contacts) = (0, Vec::new());
        for &i in &members {
            let first = w.range(i).start;
            if let Some(mu) = plane(i) {
                images[first] = vec![(n, 1.0)];
                images[first + 1] = vec![(n + 1, 1.0), (n + 2, -1.0)];
                contacts.push((n, mu));
                n += 4;
            } else {
                for k in w.range(i) {
                    images[k] = vec![(n, 1.0)];
                    n += 1;
                }
            }
        }
        let (mut m, mut q, mut z) = (vec![0.0; n * n], vec![0.0; n], vec![0.0; n]);
        let (mut lower, mut upper) = (vec![0.0; n], vec![f64::INFINITY; n]);
        for &i in &members {
            for (k, row) in w.range(i).enumerate() {
                // tangents in two parts that are not negative
                let bounds = if k > 0 && plane(i).is_some() { (0.0, f64::INFINITY) } else { p.sets[i].bounds() };
                for &(at, sign) in &images[row] {
                    q[at] = sign * p.q[row];
                    z[at] = (sign * r[row]).max(if images[row].len() == 2 { 0.0 } else { f64::NEG_INFINITY });
                    (lower[at], upper[at]) = bounds;
                    for (j, block) in w.row(i).filter(|(j, _)| on(*j)) {
                        let columns = w.range(j);
                        for (c, x) in columns.clone().zip(&block[k * columns.len()..(k + 1) * columns.len()]) {
                            images[c].iter().for_each(|&(column, other)| m[at * n + column] += sign * other * x);
                        }
                    }
                }
            }
        }
        for &(at, mu) in &contacts {
            m[(at + 1) * n + at + 3] = 1.0;
            m[(at + 2) * n + at + 3] = 1.0;
            m[(at + 3) * n + at] = mu;
            m[(at + 3) * n + at + 1] = -1.0;
            m[(at + 3) * n + at + 2] = -1.0;
        }
        Self { statement: Relay { m: Matrix::dense(n, n, m), q, lower, upper }, z, images }
    }

    /// Sets the reactions of the blocks that are on from `z`.
    pub(in crate::numerics) fn reactions(&self, r: &mut [f64]) {
        for (r, image) in r.iter_mut().zip(&self.images).filter(|(_, image)| !image.is_empty()) {
            *r = image.iter().map(|&(at, sign)| sign * self.z[at]).sum();
        }
    }
}

/// True for bounds and plane friction of not too many rows.
pub(super) fn applies_to(p: &LocalProblem) -> bool {
    p.order() <= LARGEST
        && p.sets.iter().enumerate().all(|(i, set)| match set {
            Free | NonNegative | Interval { .. } => true,
            Coulomb { .. } | Crushing { .. } => p.w.rows(i) <= 2,
            _ => false,
        })
}

/// Improves r and sets u; `Inconsistent` is a proof.
pub(super) fn solve(p: &LocalProblem, (tolerance, measure): (f64, Measure), r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Report {
    let mut plane = Plane::of(p, |_| true, r);
    let (solver, mut w) = (Auto { tolerance: tolerance.min(EXACT), ..Auto::default() }, vec![0.0; plane.z.len()]);
    let found = solver.solve_with(&plane.statement, &mut plane.z, &mut w, &mut Workspace::default(), watch);
    plane.reactions(r);
    let errors = p.residual(r, u);
    let status = match found.status {
        _ if measure.of(&errors) <= tolerance => Status::Converged,
        Status::Converged => Status::Stalled,
        other => other,
    };
    Report { status, ..found.with(&errors) }
}
