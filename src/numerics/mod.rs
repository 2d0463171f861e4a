//! Statements, residuals and solvers of one-step nonsmooth problems. Knows no body, no file, no clock.
//!
//! The one-step problem is a product of small admissible sets, [`mixed::MixedProblem`]:
//!
//! ```text
//! v = v_free + Ŵ⁻¹ Hᵀ r        u = H v + b        −(u + g(u)) ∈ N_K(r),   K = K₁ × K₂ × …
//! ```
//!
//! [`sweep::GaussSeidel`] solves it contact by contact, [`newton::ProximalNewton`] all at once in body space,
//! and [`auto::Auto`] goes from the first to the second where the first stalls.

pub mod admissible;
pub mod auto;
mod central;
pub mod contact;
pub mod mixed;
pub mod newton;
pub mod residual;
pub mod sweep;

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Status {
    /// The tolerance on e_s is met.
    Converged,
    /// The residual no longer falls.
    Stalled,
    /// The budget of iterations is spent.
    BudgetSpent,
}

/// What a solver says of its answer; the residuals are recomputed from the reactions alone.
///
/// ```
/// use drystone::numerics::{Report, Status};
/// let report = Report { status: Status::Converged, ..Report::default() };
/// assert!(report.converged());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Report {
    /// How the solve ended.
    pub status: Status,
    /// Gauss–Seidel sweeps over all blocks.
    pub sweeps: usize,
    /// Newton iterations (factorisations) of the escalation.
    pub newton_iterations: usize,
    /// Natural map over `max(|q|, |r|, |u|)`; mixes units, comparable with other codes.
    pub rel: f64,
    /// Natural map over `|q|`, as in the literature.
    pub rel_q: f64,
    /// Unit-free residual, see [`residual`].
    pub e_s: f64,
}

impl Default for Report {
    fn default() -> Self {
        Self { status: Status::Converged, sweeps: 0, newton_iterations: 0, rel: 0.0, rel_q: 0.0, e_s: 0.0 }
    }
}

impl Report {
    /// True when the tolerance is met.
    pub fn converged(&self) -> bool {
        self.status == Status::Converged
    }
}

/// A problem that no solver can be asked to solve.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProblemError {
    /// A block whose local Delassus operator has a nonpositive or non-finite diagonal.
    #[error("{block} has the local operator diagonal {found:e}; a positive finite number is needed (are both of its systems immobile?)")]
    SingularBlock {
        /// Which block.
        block: String,
        /// The diagonal entry that was found.
        found: f64,
    },
    /// A number that is not finite.
    #[error("{what} is not finite")]
    NotFinite {
        /// Which datum.
        what: String,
    },
}
