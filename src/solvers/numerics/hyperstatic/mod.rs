//! Hyperstatic lens: which reactions a solution leaves open, and how far each of them can go.
//!
//! Where contacts are redundant (W singular) the velocities are unique but the reactions are not: a table on four legs stands the
//! same whichever legs carry it. Given one solution (r*, u*) the lens looks at *all* reactions with the same velocities:
//!
//! ```text
//! S = { r :  W r = W r*,   −(u* + g(u*)) ∈ N_K(r) }
//!   open contact   u_n > 0            r = 0
//!   sliding        u_n = 0, u_t ≠ 0   r_t = −μ r_n u_t/|u_t|,  r_n ≥ 0      one unknown: its size
//!   stuck          u = 0              r ∈ K                                  all its components are unknown
//! ```
//!
//! With the u* that they share, every r in S solves the problem exactly, and with W = Hᵀ M⁻¹ H every solution with these velocities
//! is in S. With unknowns a = D^½ r, D the scale of each block, and E as many independent rows of D^-½ W D^-½ as it has rank,
//! S = { a in the cones : E a = E a* } is convex, and its extreme values are second-order cone programs. Each is solved with its
//! dual: [`Interval::gap`] bounds how far the exact end can lie outside the quoted one. (Limit analysis as cone programming:
//! Krabbenhøft, Lyamin, Sloan 2007; interior point method: Clarabel, Goulart & Chen 2024.)
//!
//! Not for hot paths: eigenvalues and a dense factor, O(n³) in the rows of the contacts that are not open.

use super::{ProblemError, global::GlobalProblem, local::LocalProblem};
use crate::algebra::spectrum::symmetric_eigenvalues;
use cones::{Coordinates, Program};
use rows::IndependentRows;

mod cones;
mod rows;
#[cfg(test)]
mod tests;

/// All reactions that go with the velocities of a solution.
///
/// A block of 10 kN on four feet, without friction: by symmetry one would say 2.5 kN a foot, but two diagonal feet can carry it
/// alone.
///
/// ```
/// use drystone::numerics::{admissible::AdmissibleSet, global::GlobalProblem, hyperstatic::Lens};
/// use sprs::TriMat;
/// // velocities: sinking, and turning about two axes; a foot at each corner (±1, ±1); unit masses
/// let mut h = TriMat::new((3, 4));
/// for (foot, (x, y)) in [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)].into_iter().enumerate() {
///     h.add_triplet(0, foot, 1.0);
///     h.add_triplet(1, foot, y);
///     h.add_triplet(2, foot, -x);
/// }
/// let p = GlobalProblem {
///     mass: sprs::CsMat::eye(3),
///     h: h.to_csc(),
///     f: vec![-10.0, 0.0, 0.0],
///     w: vec![0.0; 4],
///     offsets: vec![0, 1, 2, 3, 4],
///     sets: vec![AdmissibleSet::NonNegative; 4],
/// };
/// let lens = Lens::of_global(&p, &[4.0, 1.0, 4.0, 1.0], &[0.0; 4], 1e-6)?;
/// assert_eq!((lens.rank, lens.nullity), (3, 1));
/// let foot = lens.interval(0);
/// assert!(foot.min.abs() < 1e-6 && (foot.max - 5.0).abs() < 1e-6 && foot.gap < 1e-6);
/// // the reaction to quote if one must: the smallest
/// assert!(lens.least_norm().iter().all(|r| (r - 2.5).abs() < 1e-6));
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Lens {
    /// Independent reactions: what equilibrium determines.
    pub rank: usize,
    /// Reactions that equilibrium leaves open: the degree of hyperstaticity.
    pub nullity: usize,
    /// Unknown components of reaction, `rank + nullity`; open contacts have none, sliding ones their size alone.
    pub unknowns: usize,
    coordinates: Coordinates,
    program: Program,
    reactions: Vec<f64>,
}

/// The range of one reaction component over all solutions with the same velocities.
///
/// ```
/// let isostatic = drystone::numerics::hyperstatic::Interval { min: 2.5, max: 2.5, gap: 0.0 };
/// assert_eq!(isostatic.width(), 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Interval {
    /// Smallest value, attained; −∞ where there is a proof that no bound exists.
    pub min: f64,
    /// Largest value, attained; +∞ where there is a proof that no bound exists: wedged.
    pub max: f64,
    /// How far beyond `min` and `max` the exact ends can lie, from the values of the dual programs; infinite where the
    /// program could not be solved.
    pub gap: f64,
}

impl Interval {
    /// `max − min`
    pub fn width(&self) -> f64 {
        self.max - self.min
    }
}

/// Eigenvalues of the scaled W below this share of the largest count as zero.
const RANK: f64 = 1e-10;

impl Lens {
    /// Looks at the solution `(r, u)` of a problem on W. A contact moves where |u| exceeds `tolerance` times the largest of |q|
    /// and |u|: well above the error of the solution, well below real motion (1e-6 for a solution to 1e-8).
    ///
    /// A direction counts as open where its eigenvalue of `D^-½ W D^-½` is below 1e-10 times the largest.
    pub fn new(p: &LocalProblem, r: &[f64], u: &[f64], tolerance: f64) -> Result<Self, ProblemError> {
        p.validate()?;
        super::local::size("r", r.len(), p.order(), "one per row")?;
        super::local::size("u", u.len(), p.order(), "one per row")?;
        super::local::finite("r", r)?;
        super::local::finite("u", u)?;
        let coordinates = Coordinates::new(p, r, u, tolerance);
        let n = coordinates.len();
        let mut a = coordinates.gram(p);
        for i in 0..n {
            for j in 0..i {
                let mean = 0.5 * (a[i * n + j] + a[j * n + i]);
                (a[i * n + j], a[j * n + i]) = (mean, mean);
            }
        }
        let broken = || ProblemError::NotFinite { what: "the eigenvalues of W on the contacts that are not open".into() };
        let values = symmetric_eigenvalues(&a, n).ok_or_else(broken)?;
        let largest = values.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let nullity = values.iter().filter(|x| **x <= RANK * largest).count();
        let independent = IndependentRows::new(&a, n, n - nullity);
        let basis = independent.complement();
        let equations: Vec<Vec<f64>> = independent.chosen().iter().map(|&k| a[k * n..(k + 1) * n].to_vec()).collect();
        let program = Program::new(&coordinates, basis, &equations);
        let reactions = coordinates.expand(coordinates.start(), p.order());
        Ok(Self { rank: n - nullity, nullity, unknowns: n, coordinates, program, reactions })
    }

    /// Looks at the solution `(r, u)` of a problem before reduction.
    pub fn of_global(p: &GlobalProblem, r: &[f64], u: &[f64], tolerance: f64) -> Result<Self, ProblemError> {
        Self::new(&p.reduce()?, r, u, tolerance)
    }

    /// The reactions of the solution itself, with what is below the tolerance put right: open contacts at zero, sliding ones on
    /// their law.
    pub fn reactions(&self) -> &[f64] {
        &self.reactions
    }

    /// The smallest of all reactions, `min |D^½ r|` over S: unique, and the same whichever solution the lens was given.
    pub fn least_norm(&self) -> Vec<f64> {
        match self.program.least_norm() {
            Some(a) => self.coordinates.expand(&a, self.reactions.len()),
            None => self.reactions.clone(),
        }
    }

    /// Smallest and largest value of the reaction component `row` over S.
    pub fn interval(&self, row: usize) -> Interval {
        let own = self.reactions.get(row).copied().unwrap_or(0.0);
        let objective = self.coordinates.component(row);
        let (low, high) = (self.program.extreme(&objective, -1.0, own), self.program.extreme(&objective, 1.0, own));
        Interval { min: low.0.min(own), max: high.0.max(own), gap: low.1.max(high.1) }
    }
}
