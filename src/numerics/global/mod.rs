//! The problem before reduction: what FCLIB calls `global`.
//!
//! ```text
//! M v = H r + f        u = Hᵀ v + w        −(u + g(u)) ∈ N_K(r)
//! W = Hᵀ M⁻¹ H         q = w + Hᵀ M⁻¹ f                              the same law as u = W r + q
//! rel = |M v − H r − f| / max(|f|, |M v|, |H r|) + |F| / max(|r|, |u|)
//! ```
//!
//! H is dof × rows here, as in the files.

use super::admissible::AdmissibleSet;
use sprs::CsMat;

/// `M v = H r + f`, `u = Hᵀ v + w` and the law of each block of rows (Siconos: `GlobalFrictionContactProblem`).
///
/// ```
/// use drystone::numerics::{admissible::AdmissibleSet, global::GlobalProblem};
/// use sprs::CsMat;
/// // a particle of 2 kg that falls on a floor without friction
/// let p = GlobalProblem {
///     mass: CsMat::eye(3).map(|x: &f64| 2.0 * x),
///     h: CsMat::eye(3),
///     f: vec![-4.0, 0.0, 0.0],
///     w: vec![0.0; 3],
///     offsets: vec![0, 3],
///     sets: vec![AdmissibleSet::Coulomb { mu: 0.0 }],
/// };
/// assert_eq!(p.h.cols(), p.w.len());
/// ```
#[derive(Clone, Debug)]
pub struct GlobalProblem {
    /// M, dof × dof.
    pub mass: CsMat<f64>,
    /// H, dof × rows.
    pub h: CsMat<f64>,
    /// f, one per velocity.
    pub f: Vec<f64>,
    /// w, one per row.
    pub w: Vec<f64>,
    /// First row of each block, then the number of rows.
    pub offsets: Vec<usize>,
    /// Where the reaction of each block lives.
    pub sets: Vec<AdmissibleSet>,
}
