//! Statements, residuals and solvers of one-step nonsmooth problems. Knows no body, no file, no clock.
//!
//! The one-step problem is a product of small admissible sets, [`mixed::MixedProblem`]:
//!
//! ```text
//! v = v_free + Ŵ⁻¹ Hᵀ r        u = H v + b        −(u + g(u)) ∈ N_K(r),   K = K₁ × K₂ × …
//! ```
//!
//! [`sweep::GaussSeidel`] solves it contact by contact, [`newton::ProximalNewton`] all at once in body space,
//! and [`auto::Auto`] goes from the first to the second where the first stalls: that is the loop of the simulator.
//!
//! The same law on a given matrix is a [`local::LocalProblem`] (`u = W r + q`), before reduction a [`global::GlobalProblem`]
//! (`M v = H r + f`, `u = Hᵀ v + w`); [`lcp`], [`mlcp`] and [`relay`] state the problems that have only bounds, [`vi`] and [`qp`] their
//! neighbours. [`solvers`] is the door to all of them, `problem.solve(&settings)`, and lists the solvers by name; [`acceptance`] says when
//! an answer counts as solved.
//!
//! ```
//! use drystone::algebra::blocks::BlockRows;
//! use drystone::numerics::{local::LocalProblem, solvers::Settings};
//! // two contacts (n, t1, t2) on one block, both pressed, the first dragged
//! let mut w = vec![0.0; 36];
//! (0..6).for_each(|i| (w[7 * i], w[6 * i + (i + 3) % 6]) = (2.0, 1.0));
//! let w = BlockRows::from_dense(&[0, 3, 6], &w);
//! let p = LocalProblem::friction(w, vec![-1.0, 3.0, 0.0, -1.0, 0.0, 0.0], &[0.5, 0.5])?;
//! let answer = p.solve(&Settings { tolerance: 1e-12, ..Settings::default() })?;
//! let r = &answer.solution.r;
//! assert!(answer.converged() && answer.report.rel <= 1e-12 && (r[1] + 0.5 * r[0]).abs() < 1e-12);
//! # Ok::<(), drystone::numerics::ProblemError>(())
//! ```

mod abreast;
pub mod acceleration;
pub mod acceptance;
pub mod admissible;
pub mod auto;
pub mod cells;
pub(crate) mod central;
mod colours;
pub(crate) mod complementarity;
pub mod contact;
pub(crate) mod disjoint;
mod feasibility;
mod following;
pub mod global;
#[cfg(feature = "lens")]
pub mod hyperstatic;
pub mod impacts;
mod islands;
pub mod lcp;
#[cfg(feature = "lens")]
mod limits;
pub mod local;
pub mod matrices;
pub mod mixed;
mod mixing;
pub mod mlcp;
pub mod newton;
pub mod operator;
mod passes;
mod projection;
pub mod qp;
mod regularisation;
pub mod relay;
pub mod residual;
pub mod route;
mod sharing;
pub mod solvers;
#[cfg(feature = "lens")]
pub mod statics;
pub mod sweep;
pub mod vi;
mod visits;

/// What bodies need of the rooms below that no program calls.
#[doc(hidden)]
pub mod inner {
    pub use crate::numerics::central::straightened;
    pub use crate::numerics::complementarity::{Auto, ComplementaritySolver, Workspace};
    pub use crate::numerics::disjoint::DisjointSets;
    pub use crate::numerics::sharing::Sharing;
}

use std::sync::atomic::{AtomicBool, Ordering};

/// What a solve of a step looks at between sweeps and factorisations: a flag by which another thread may end it. A solve that it does not end
/// is the same with it as without.
///
/// ```
/// use drystone::numerics::Stop;
/// use std::sync::atomic::{AtomicBool, Ordering};
/// static FLAG: AtomicBool = AtomicBool::new(false);
/// let stop = Stop::on(&FLAG);
/// assert!(!stop.asked() && !Stop::default().asked());
/// FLAG.store(true, Ordering::Relaxed);
/// assert!(stop.asked());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Stop(Option<&'static AtomicBool>);

impl Stop {
    /// Asks where the flag is set.
    pub fn on(flag: &'static AtomicBool) -> Self {
        Self(Some(flag))
    }

    /// Whether the solve is to end.
    pub fn asked(self) -> bool {
        self.0.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

/// How a solve ended.
///
/// ```
/// use drystone::{algebra::matrix::Matrix, numerics::{Status, lcp::Lcp, solvers::Settings}};
/// // 0·z − 1 ≥ 0 has no solution, and the status proves it
/// let p = Lcp { m: Matrix::dense(1, 1, vec![0.0]), q: vec![-1.0] };
/// assert_eq!(p.solve(&Settings::default())?.status(), Status::Inconsistent);
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Status {
    /// The tolerance is met, by the error that was asked for and by every block on its own.
    Converged,
    /// The residual no longer falls.
    Stalled,
    /// The budget of iterations is spent, or the caller's watch said stop.
    BudgetSpent,
    /// Coulomb's law was not reached; the same law with the slip at hand as a known De Saxcé shift is solved to the tolerance or 1e-6, a
    /// convex problem. The residuals are those of Coulomb's law: the error of this treatment.
    Lagged,
    /// A proof that was checked says so: there is no solution.
    Inconsistent,
}

/// What ended a solve of the default strategy for steps, from the cheapest on; of several islands, the last of these. See [`auto`].
///
/// ```
/// use drystone::numerics::Method;
/// assert!(Method::Sweeps < Method::Newton);
/// assert_eq!(Method::Library.to_string(), "solvers for problems from files");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Method {
    /// Projected Gauss–Seidel; also what a solver that is called by itself reports.
    #[default]
    Sweeps,
    /// Equilibria that were kept: a structure at rest under loads between theirs.
    Equilibria,
    /// Patches around contacts that go round in circles, where friction is high.
    Patches,
    /// Sweeps from no reactions, where friction is high.
    Anew,
    /// The convex problem without shifts: a pile at rest.
    Rest,
    /// Proximal Newton, where sweeps promised to stall.
    Newton,
    /// Proximal point around Newton with the derivative of the De Saxcé shift, where that stalled too.
    Point,
    /// Newton with that derivative, strongly regularised again and again, where that went round in circles.
    Wandering,
    /// Sweeps without acceleration, where a convex problem with known shifts stalled.
    PlainSweeps,
    /// A convex problem: a scene with lagged friction where sweeps promised to stall, or a known shift whose answer meets Coulomb's law.
    Convex,
    /// The solvers for problems from files, on a small island where all of these stalled.
    Library,
    /// Lagged friction, where Coulomb's law was out of reach.
    Lagged,
    /// The least violation, where constraints contradict each other.
    Contradiction,
    /// The least violation, where friction jams bodies that are driven together.
    Jam,
    /// All sweeps that the budget allows.
    LastResort,
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Sweeps => "sweeps",
            Self::Equilibria => "equilibria",
            Self::Patches => "patches",
            Self::Anew => "sweeps from nothing",
            Self::Rest => "rest",
            Self::Newton => "Newton",
            Self::Point => "proximal point",
            Self::Wandering => "Newton that wanders",
            Self::PlainSweeps => "plain sweeps",
            Self::Convex => "convex problem",
            Self::Library => "solvers for problems from files",
            Self::Lagged => "lagged friction",
            Self::Contradiction => "least violation",
            Self::Jam => "jam",
            Self::LastResort => "all sweeps",
        })
    }
}

/// What a solver says of its answer; the residuals are recomputed from the reactions alone.
///
/// ```
/// use drystone::numerics::{Report, Status};
/// let report = Report { status: Status::Converged, ..Report::default() };
/// assert!(report.converged());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Report {
    /// How the solve ended.
    pub status: Status,
    /// What ended it.
    pub ended_by: Method,
    /// Iterations of the method: sweeps, pivots, projections, …
    pub iterations: usize,
    /// Matrix factorisations.
    pub factorisations: usize,
    /// Natural map over `max(|q|, |r|, |u|)`; mixes units, comparable with other codes.
    pub rel: f64,
    /// Natural map over `|q|`, as in the literature.
    pub rel_q: f64,
    /// Unit-free residual, see [`residual`]; the misfit, where nothing but traces is carried and e_s is a ratio of roundings.
    pub e_s: f64,
    /// Largest velocity by which a block of rows misses its law, ε of [`residual`] and [`acceptance`].
    pub violation: f64,
    /// Largest such velocity over the scale of its own block.
    pub misfit: f64,
    /// Largest such velocity over the smallest length of the smaller body (1/s), where the problem knows it.
    pub parts: f64,
    /// Blocks of rows, where the worst of them is judged by their number, see [`acceptance`].
    #[cfg_attr(feature = "serde", serde(skip))]
    pub blocks: usize,
}

impl Default for Report {
    fn default() -> Self {
        Self {
            status: Status::Converged,
            ended_by: Method::Sweeps,
            iterations: 0,
            factorisations: 0,
            rel: 0.0,
            rel_q: 0.0,
            e_s: 0.0,
            violation: 0.0,
            misfit: 0.0,
            parts: 0.0,
            blocks: 0,
        }
    }
}

impl Report {
    /// True when the tolerance is met.
    pub fn converged(&self) -> bool {
        self.status == Status::Converged
    }

    /// The same report on an answer with these errors.
    #[doc(hidden)]
    #[must_use]
    pub fn with(self, found: &residual::Residual) -> Self {
        found.report(self)
    }

    /// The errors that it holds.
    #[doc(hidden)]
    pub fn errors(&self) -> residual::Residual {
        let Self { rel, rel_q, e_s, violation, misfit, parts, blocks, .. } = *self;
        residual::Residual { rel, rel_q, e_s, violation, misfit, parts, blocks, carried: f64::INFINITY }
    }
}

impl Report {
    /// What the solvers of a step stop on.
    pub(crate) fn error(&self) -> f64 {
        self.e_s.max(self.misfit)
    }

    /// This report with the effort of a try that did not pay.
    pub(crate) fn with_effort(self, of: &Self) -> Self {
        Self { iterations: of.iterations, factorisations: of.factorisations, ..self }
    }

    /// This report with the effort of what came before it.
    #[must_use]
    pub fn after(self, before: &Self) -> Self {
        let (iterations, factorisations) = (self.iterations + before.iterations, self.factorisations + before.factorisations);
        Self { iterations, factorisations, ..self }
    }
}

/// One look at a running solver.
///
/// ```
/// let look = drystone::numerics::Progress { iteration: 3, error: 1e-2 };
/// assert!(look.error < 1.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Progress {
    /// Iterations so far.
    pub iteration: usize,
    /// The error that the solver stops on, as it knows it at that time.
    pub error: f64,
}

/// Called once an iteration: records a trace, or returns false to stop.
///
/// ```
/// use drystone::{algebra::matrix::Matrix, numerics::{Status, lcp::Lcp, solvers::Settings}};
/// let p = Lcp { m: Matrix::dense(2, 2, vec![2.0, 1.0, 1.0, 2.0]), q: vec![-5.0, -6.0] };
/// let mut errors = Vec::new();
/// let answer = p.solve_watched(&Settings::with_solver("pgs")?, &mut |look| {
///     errors.push(look.error);
///     errors.len() < 3
/// })?;
/// assert!(errors[1] < errors[0] && answer.status() == Status::BudgetSpent);
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
pub type Watch<'a> = dyn FnMut(Progress) -> bool + 'a;

/// Which error a solver stops on, see [`residual`].
///
/// ```
/// use drystone::numerics::{Measure, residual::Residual};
/// let found = Residual { rel: 1e-9, e_s: 1e-3, ..Residual::default() };
/// assert_eq!((Measure::default().of(&found), Measure::Es.of(&found)), (1e-9, 1e-3));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Measure {
    /// Natural map over `max(|q|, |r|, |u|)`, as the literature's tables have it.
    #[default]
    Rel,
    /// Natural map over `|q|`.
    RelQ,
    /// Unit-free.
    Es,
}

impl Measure {
    /// The error of this name, as it is defined.
    pub fn plain(self, found: &residual::Residual) -> f64 {
        match self {
            Self::Rel => found.rel,
            Self::RelQ => found.rel_q,
            Self::Es => found.e_s,
        }
    }

    /// What solvers stop on: the error of this name, or what the worst block makes of it, see [`acceptance`].
    pub fn of(self, found: &residual::Residual) -> f64 {
        acceptance::error(self.plain(found), found)
    }

    /// A number that is at most the tolerance where [`of`](Self::of) is, and tells without jumps how far away the rest is.
    pub(crate) fn distance(self, found: &residual::Residual, tolerance: f64) -> f64 {
        acceptance::distance(self.plain(found), found, tolerance)
    }
}

/// A problem that no solver can be asked to solve.
///
/// ```
/// use drystone::{algebra::matrix::Matrix, numerics::{lcp::Lcp, solvers::Settings}};
/// let p = Lcp { m: Matrix::dense(1, 1, vec![2.0]), q: vec![-1.0, 0.0] };
/// let error = p.solve(&Settings::default()).unwrap_err();
/// assert_eq!(error.to_string(), "q holds 2 values, but 1 are needed (one per row of M)");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum ProblemError {
    /// A block whose local Delassus operator has a nonpositive or non-finite diagonal.
    SingularBlock {
        /// Which block.
        block: String,
        /// The diagonal entry that was found.
        found: f64,
    },
    /// Two data whose sizes do not fit.
    Size {
        /// Which datum.
        what: String,
        /// Its size.
        found: usize,
        /// The size that fits.
        needed: usize,
        /// What asks for that size.
        why: String,
    },
    /// A coefficient outside its range.
    OutOfRange {
        /// Which coefficient.
        what: String,
        /// The value that was found.
        found: f64,
        /// What would do.
        needed: &'static str,
    },
    /// A solver or a setting that does not fit.
    Setting {
        /// Which one.
        what: String,
        /// Why it does not fit, and what would.
        cause: String,
    },
    /// More memory than is allowed.
    Memory {
        /// What is too large.
        what: String,
        /// What it would need, at least.
        gigabytes: f64,
        /// What the settings allow.
        limit: f64,
    },
    /// A number that is not finite.
    NotFinite {
        /// Which datum.
        what: String,
    },
}

// by hand: without bodies and files the crate needs no derive macros
impl std::fmt::Display for ProblemError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::SingularBlock { block, found } => write!(
                f,
                "{block} has the local operator diagonal {found:e}; a positive finite number is needed (are both of its systems immobile?)"
            ),
            Self::Size { what, found, needed, why } => write!(f, "{what} holds {found} values, but {needed} are needed ({why})"),
            Self::OutOfRange { what, found, needed } => write!(f, "{what} is {found:e}; {needed}"),
            Self::Setting { what, cause } => write!(f, "{what} {cause}"),
            Self::Memory { what, gigabytes, limit } => write!(
                f,
                "{what} needs {gigabytes:.3} GB, and {limit:.3} GB are allowed; raise the memory limit, or take a solver that does without"
            ),
            Self::NotFinite { what } => write!(f, "{what} is not finite"),
        }
    }
}

impl std::error::Error for ProblemError {}
