//! The one-step problem of small and chained systems, solved again and again with the same W: each kind goes to its own solver.
//!
//! ```text
//! u = W r + q        −(u + g(u)) ∈ N_K(r) on active blocks,  r = 0 on the others
//!
//! bounds only        basis: r_N on its bounds, W_BB r_B = −q_B − W_BN r_N     up to 40 rows: the inverses of the last bases are kept
//!                                                                             beyond: primal–dual active sets, W_BB by envelope LU
//! friction, rolling  Gauss–Seidel over blocks, each solved exactly; plane friction that stalls as an LCP
//! whatever is left   complementarity::Auto for bounds, local::auto::Auto for cones
//! ```
//!
//! Whatever the route, the errors of the [`Report`] are recomputed from r with W itself. Where several r solve the problem the guess
//! stays if it is one of them, and the basis of the last answer decides otherwise. A [`Router`] asks for no memory once it has seen a
//! problem of each size, except where the fallbacks of the last line are needed.
//! (Active sets: Hintermüller, Ito, Kunisch 2002; Murty 1974; plane friction as LCP: Stewart & Trinkle 1996.)

mod bounds;
mod chain;
mod columns;
mod cones;
mod front;
mod plan;
mod small;

use super::local::{LocalProblem, auto::Auto};
use super::{ProblemError, Report, Status, Watch};
use plan::Plan;

/// A local problem of which some blocks may be off: `u = W r + q`, `−(u + g(u)) ∈ N_K(r)` on the active blocks, `r = 0` on the others; W of
/// any kind: nonsymmetric, semidefinite, with zeros on its diagonal.
///
/// ```
/// use drystone::{algebra::blocks::BlockRows, numerics::{admissible::AdmissibleSet, local::LocalProblem, route::RoutedProblem}};
/// let w = BlockRows::from_dense(&[0, 1, 2], &[2.0, -1.0, -1.0, 2.0]);
/// let mut p = RoutedProblem::from(LocalProblem { w, q: vec![-1.0, 0.0], sets: vec![AdmissibleSet::NonNegative; 2] });
/// assert!(p.validate().is_ok());
/// p.active.pop();
/// assert!(p.validate().unwrap_err().to_string().contains("active holds 1 values, but 2"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoutedProblem {
    /// W, q and the sets.
    pub problem: LocalProblem,
    /// Per block: false holds its reaction at 0 and leaves its u free.
    pub active: Vec<bool>,
    /// To be raised whenever W or the sets change: a [`Router`] throws away what it has factorised then, and only then.
    pub revision: u64,
}

impl From<LocalProblem> for RoutedProblem {
    /// All blocks active.
    fn from(problem: LocalProblem) -> Self {
        Self { active: vec![true; problem.sets.len()], problem, revision: 1 }
    }
}

impl RoutedProblem {
    /// Number of rows.
    pub fn order(&self) -> usize {
        self.problem.w.order()
    }

    /// Checks sizes, coefficients and that every number is finite.
    pub fn validate(&self) -> Result<(), ProblemError> {
        self.problem.validate()?;
        super::local::size("active", self.active.len(), self.problem.sets.len(), "one per block")
    }

    /// The active blocks as a problem of their own, and their rows in this one.
    pub(super) fn active_part(&self) -> (LocalProblem, Vec<usize>) {
        self.problem.part(|i| self.active[i])
    }
}

/// Which way a [`Router`] took, named after the active blocks.
///
/// ```
/// use drystone::numerics::route::{Route, Router};
/// assert_eq!(Router::default().route(), Route::Nothing);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Route {
    /// No active row: `u = q`.
    #[default]
    Nothing,
    /// One row with bounds.
    OneRow,
    /// Equations only.
    Equality,
    /// `0 ≤ r ⟂ u ≥ 0`
    Lcp,
    /// Equations and complementarities.
    Mlcp,
    /// Bounds of any kind.
    Relay,
    /// Plane friction, two rows a contact.
    Friction2,
    /// Friction in space, three rows a contact.
    Friction3,
    /// Friction with resistance to rolling.
    Rolling,
    /// Second-order cones.
    SecondOrder,
    /// Cones of several kinds, or cones and bounds.
    Mixed,
}

/// Solves problems of one shape after the other, with everything factorised kept from solve to solve.
///
/// ```
/// use drystone::algebra::blocks::BlockRows;
/// use drystone::numerics::{admissible::AdmissibleSet, local::LocalProblem, route::{Route, RoutedProblem, Router}};
/// // two beads on the ground, hit from above
/// let w = BlockRows::from_dense(&[0, 1, 2], &[1.0, -1.0, -1.0, 2.0]);
/// let mut p = RoutedProblem::from(LocalProblem { w, q: vec![-1.0, 0.0], sets: vec![AdmissibleSet::NonNegative; 2] });
/// let (mut router, mut r, mut u) = (Router::default(), [0.0; 2], [0.0; 2]);
/// for k in 1..4 {
///     p.problem.q[0] = -f64::from(k);
///     assert!(router.solve(&p, &mut r, &mut u).converged());
///     assert!((r[0] - 2.0 * f64::from(k)).abs() < 1e-14 && (r[1] - f64::from(k)).abs() < 1e-14);
/// }
/// assert_eq!(router.route(), Route::Lcp);
/// ```
#[derive(Debug)]
pub struct Router {
    /// Bound on `rel`, and for bounds on the misfit of every row in its own units.
    pub tolerance: f64,
    /// Sweeps over the blocks before the general solver of cones is asked.
    pub max_sweeps: usize,
    /// Leaves the special routes out: every problem goes to the general solver, to compare.
    pub general: bool,
    route: Route,
    plan: Plan,
    small: small::Bases,
    chain: chain::Chain,
    cones: cones::Sweeps,
    bounds: bounds::Fallback,
}

impl Default for Router {
    fn default() -> Self {
        Self {
            tolerance: 1e-12,
            max_sweeps: 200,
            general: false,
            route: Route::default(),
            plan: Plan::default(),
            small: small::Bases::default(),
            chain: chain::Chain::default(),
            cones: cones::Sweeps::default(),
            bounds: bounds::Fallback::default(),
        }
    }
}

impl Router {
    /// Which way the last solve took.
    pub fn route(&self) -> Route {
        self.route
    }

    /// Improves `r`, the guess, and sets `u = W r + q` on all rows, inactive ones too.
    ///
    /// Numbers that are not finite, and sizes that do not fit ([`RoutedProblem::validate`] names them), end as
    /// [`Status::Stalled`] with an error of ∞.
    pub fn solve(&mut self, p: &RoutedProblem, r: &mut [f64], u: &mut [f64]) -> Report {
        if !self.plan.is_of(p) {
            self.take(p);
        }
        let n = self.plan.order();
        let q = &p.problem.q;
        let fits = q.len() == n && r.len() == n && u.len() == n && p.active.len() == self.plan.blocks();
        if !fits || !self.plan.valid {
            return REFUSED;
        }
        let finite = q.iter().fold(true, |finite, q| finite & (q.abs() < f64::INFINITY));
        let traits = self.plan.active_traits(p);
        if traits.is_empty() || !finite {
            // one loop: two calls to fill and to copy take longer where rows are few
            for ((r, u), q) in r.iter_mut().zip(u.iter_mut()).zip(q) {
                (*r, *u) = (0.0, *q);
            }
            self.route = Route::Nothing;
            return if finite { Report::default() } else { REFUSED };
        }
        self.route = traits.route();
        let ask = Ask { plan: &self.plan, p, tolerance: self.tolerance };
        if self.general {
            return cones::general(ask, 8, r, u);
        }
        if traits.has_cones() {
            self.cones.solve(ask, self.max_sweeps, &mut self.bounds, r, u)
        } else if n <= small::LARGEST {
            let report = self.small.solve(ask, &mut self.bounds, r, u);
            if self.small.one_row() {
                self.route = Route::OneRow;
            }
            report
        } else {
            self.chain.solve(ask, &mut self.bounds, r, u)
        }
    }

    /// Solves a problem of bounds alone whose W is narrow by active sets, under a watch; their number, and that of the factorisations.
    /// `None` where W is not of that kind or no set is found; r is of no use then.
    pub(super) fn search(&mut self, p: &RoutedProblem, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Option<(usize, usize)> {
        self.take(p);
        if !self.plan.valid || self.plan.active_traits(p).has_cones() {
            return None;
        }
        self.route = self.plan.active_traits(p).route();
        self.chain.search(Ask { plan: &self.plan, p, tolerance: self.tolerance }, r, u, watch)
    }

    /// A new revision: nothing that was factorised holds any more.
    #[cold]
    fn take(&mut self, p: &RoutedProblem) {
        self.plan.set(p);
        self.small.forget(&self.plan);
        self.chain.forget();
        self.cones.forget();
    }
}

/// A problem, what its revision fixes, and the bound on its errors.
#[derive(Clone, Copy)]
struct Ask<'a> {
    plan: &'a Plan,
    p: &'a RoutedProblem,
    tolerance: f64,
}

/// What is said of data that cannot be worked with.
const REFUSED: Report = Report {
    ended_by: super::Method::Sweeps,
    status: Status::Stalled,
    iterations: 0,
    factorisations: 0,
    rel: f64::INFINITY,
    rel_q: f64::INFINITY,
    e_s: f64::INFINITY,
    violation: f64::INFINITY,
    misfit: f64::INFINITY,
    parts: f64::INFINITY,
    blocks: 0,
};
