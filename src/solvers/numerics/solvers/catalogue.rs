//! The register of solvers: names, what each is good for, what it takes, and how it is started.
//!
//! A new solver is one entry of [`all`]; it inherits the command line, the profiles and every test that runs over solvers.

use super::engines::{complementarity, friction, global};
use super::parameters::{Parameter, Tuned};
use super::statement::Stated;
use super::{Answer, Family, Problem, Settings};
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::complementarity::{Auto as Pivoting, InteriorPoint as CentralPath};
use crate::numerics::complementarity::{BlockGaussSeidel, Enumeration, Lemke, Murty, Newton, NewtonFunction, Pgs};
use crate::numerics::global::{admm::IN_BODY_SPACE, auto::GlobalAuto, proximal::BodyNewton};
use crate::numerics::local::admm::Admm;
use crate::numerics::local::auto::Auto;
use crate::numerics::local::equations::Function;
use crate::numerics::local::fixed_point::{DE_SAXCE, FixedPoint, Frozen};
use crate::numerics::local::interior_point::InteriorPoint;
use crate::numerics::local::newton::SemismoothNewton;
use crate::numerics::local::nsgs::Nsgs;
use crate::numerics::local::proximal::ProximalPoint;
use crate::numerics::projection::{Projection, Scheme};
use crate::numerics::qp::{Admm as QpAdmm, ProjectedGradient};
use crate::numerics::{ProblemError, Watch};

/// A registered solver.
///
/// ```
/// use drystone::algebra::blocks::BlockRows;
/// use drystone::numerics::local::LocalProblem;
/// use drystone::numerics::solvers::{Problem, Settings, all};
/// let w = BlockRows::from_dense(&[0, 3], &[1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0]);
/// let p = Problem::from(LocalProblem::friction(w, vec![-1.0, 3.0, 4.0], &[0.5])?);
/// for entry in all().iter().filter(|entry| entry.claims(&p)) {
///     let answer = p.solve(&Settings { solver: Some(entry.into()), ..Settings::default() })?;
///     assert!(answer.converged() && (answer.solution.r[0] - 1.0).abs() < 1e-6, "{}", entry.name);
/// }
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name on the command line.
    pub name: &'static str,
    /// What it is good for, in one line.
    pub about: &'static str,
    /// Types of problems that it takes.
    pub families: &'static [Family],
    /// Sets that it can treat, of a problem made of blocks.
    pub sets: fn(&AdmissibleSet) -> bool,
    /// Its parameters for a family.
    pub(super) tunes: fn(Family) -> Vec<Parameter>,
    /// Whether a parameter of that name may have that value, see [`Tuned::set`].
    pub(super) try_set: fn(Family, &str, &str) -> Result<(), Option<String>>,
    /// Solves from the guess of the settings, or from zero; the watch sees every iteration and may stop it.
    pub(super) run: fn(Stated, &Settings, &mut Watch) -> Result<Answer, ProblemError>,
}

impl Entry {
    /// Whether it takes problems of this type with sets like these.
    pub fn claims(&self, problem: &Problem) -> bool {
        self.takes(problem.stated())
    }

    /// What [`Solver::with`](super::Solver::with) can change where it solves problems of this family.
    pub fn parameters(&self, family: Family) -> Vec<Parameter> {
        (self.tunes)(family)
    }

    /// Whether no other solver calls it: it stands for a method of the literature.
    pub fn is_for_comparison(&self) -> bool {
        FOR_COMPARISON.contains(&self.name)
    }

    pub(super) fn takes(&self, problem: Stated) -> bool {
        self.families.contains(&problem.family()) && problem.blocks().0.iter().all(self.sets)
    }
}

/// What a solver is before the settings are known: its defaults, and what an entry fixes.
#[rustfmt::skip]
macro_rules! base {
    ($solver:ident { $budget:ident $(, $field:ident: $value:expr)* }) => {
        $solver { $($field: $value,)* ..$solver::default() }
    };
}

/// The solver that settings ask for: parameters, budget, tolerance and, where the solver knows several, the measure. Solvers on W are
/// left open to a stricter tolerance.
macro_rules! asked {
    (friction, $name:literal, $ask:ident, $solver:ident { $budget:ident $($fixed:tt)* }) => {{
        let plain = $ask.tune($name, base!($solver { $budget $($fixed)* }))?;
        let $budget = $ask.max_iterations.unwrap_or(plain.$budget);
        move |tolerance| $solver { tolerance, measure: $ask.measure, $budget, ..plain }
    }};
    (global, $name:literal, $ask:ident, $solver:ident { $budget:ident $($fixed:tt)* }) => {{
        let plain = $ask.tune($name, base!($solver { $budget $($fixed)* }))?;
        let $budget = $ask.max_iterations.unwrap_or(plain.$budget);
        $solver { tolerance: $ask.tolerance, measure: $ask.measure, $budget, ..plain }
    }};
    (complementarity, $name:literal, $ask:ident, $solver:ident { $budget:ident $($fixed:tt)* }) => {{
        let plain = $ask.tune($name, base!($solver { $budget $($fixed)* }))?;
        let $budget = $ask.max_iterations.unwrap_or(plain.$budget);
        $solver { tolerance: $ask.tolerance, $budget, ..plain }
    }};
}

/// An entry: name, use, and for some families each the way to start it, the settings and the field of their budget.
macro_rules! entry {
    ($name:literal, $about:literal $(, [$($family:ident),+] => $room:ident $solver:ident $settings:tt)*
        $(; $program:ident => $own:ident $own_settings:tt)*) => {
        Entry {
            name: $name,
            about: $about,
            families: &[$($(Family::$family,)+)* $(Family::$program,)*],
            sets: |_| true,
            tunes: |family| match family {
                $($(Family::$family)|+ => base!($solver $settings).parameters(),)*
                $(Family::$program => base!($own $own_settings).parameters(),)*
                _ => Vec::new(),
            },
            try_set: |family, name, value| match family {
                $($(Family::$family)|+ => base!($solver $settings).set(name, value),)*
                $(Family::$program => base!($own $own_settings).set(name, value),)*
                _ => Err(None),
            },
            run: |p, ask, watch| match p {
                $($(Stated::$family(_))|+ => $room(p, ask, watch, asked!($room, $name, ask, $solver $settings)),)*
                #[allow(unreachable_patterns, reason = "some solvers take every family")]
                _ => Err(super::engines::unclaimed(p)),
            },
        }
    };
}

/// Solvers that no other one calls: the literature's, to compare with.
const FOR_COMPARISON: [&str; 9] =
    ["vi_extragradient", "vi_fixed_point", "hyperplane", "de_saxce", "tresca", "aclm", "pgs", "psor", "block"];

/// Every solver; the first that claims a problem is its default.
#[allow(clippy::needless_update, reason = "some solvers have no settings beyond those of the request")]
#[allow(unused_variables, reason = "a solver of programmes alone is started at their own door")]
pub fn all() -> &'static [Entry] {
    &[
        entry!(
            "auto",
            "the default: chooses, escalates as far as each method makes progress, keeps the best answer and says why it ended",
            [Local] => friction Auto { max_rounds },
            [Global] => global GlobalAuto { max_rounds },
            [Lcp, Mlcp, Relay] => complementarity Pivoting { max_bases }
        ),
        entry!(
            "nsgs",
            "accelerated Gauss–Seidel, contact by contact: many contacts, moderate accuracy",
            [Local, Global] => friction Nsgs { max_sweeps }
        ),
        entry!(
            "proximal",
            "proximal point around semismooth Newton: high accuracy, stuck and hyperstatic piles",
            [Local, Global] => friction ProximalPoint { max_outer }
        ),
        entry!(
            "admm",
            "splitting with one factorisation, accelerated: hyperstatic problems that Newton cycles on",
            [Local, Global] => friction Admm { max_iterations }; Qp => QpAdmm { max_iterations }
        ),
        entry!(
            "body_admm",
            "splitting with the velocities as unknowns: redundant contacts cost little",
            [Global] => global Admm {
                max_iterations, max_iterations: IN_BODY_SPACE.max_iterations, rho: IN_BODY_SPACE.rho,
                max_changes: IN_BODY_SPACE.max_changes, patience: IN_BODY_SPACE.patience
            }
        ),
        entry!(
            "body_newton",
            "proximal Newton with the velocities as unknowns: stuck piles with more contacts than velocities",
            [Global] => global BodyNewton { max_iterations }
        ),
        entry!(
            "newton_fb",
            "semismooth Newton on Fischer and Burmeister's function: few contacts, complementarity with regular solutions",
            [Local, Global] => friction SemismoothNewton { max_iterations, function: Function::FischerBurmeister },
            [Lcp, Mlcp, Relay] => complementarity Newton { max_iterations, function: NewtonFunction::FischerBurmeister }
        ),
        entry!(
            "newton_ac",
            "semismooth Newton on Alart and Curnier's function: few contacts, high accuracy",
            [Local, Global] => friction SemismoothNewton { max_iterations, function: Function::AlartCurnier }
        ),
        entry!(
            "newton_min",
            "semismooth Newton on the minimum: finite near a regular solution",
            [Lcp, Mlcp, Relay] => complementarity Newton { max_iterations, function: NewtonFunction::Minimum }
        ),
        Entry {
            sets: |set| {
                use AdmissibleSet::{Crushing, Interval, Rolling, Twisting};
                !matches!(set, Interval { .. } | Crushing { .. } | Rolling { .. } | Twisting { .. })
            },
            ..entry!(
                "interior_point",
                "predictor–corrector on the central path: few iterations of one factorisation each, M or W positive semidefinite",
                [Local, Global] => friction InteriorPoint { max_iterations },
                [Lcp, Mlcp, Relay] => complementarity CentralPath { max_iterations }
            )
        },
        entry!(
            "vi_extragradient",
            "two projections a step: monotone problems where one projection cycles",
            [Local, Global] => friction Projection { max_iterations, scheme: Scheme::Extragradient };
            Vi => Projection { max_iterations }; Operator => Projection { max_iterations }
        ),
        entry!(
            "vi_fixed_point",
            "projection with adaptive steps: no factorisation, no contact solver",
            [Local, Global] => friction Projection { max_iterations, scheme: Scheme::FixedPoint };
            Vi => Projection { max_iterations }; Operator => Projection { max_iterations }
        ),
        entry!(
            "hyperplane",
            "projection on separating hyperplanes: slow, for comparison",
            [Local, Global] => friction Projection { max_iterations, scheme: Scheme::Hyperplane };
            Vi => Projection { max_iterations }; Operator => Projection { max_iterations }
        ),
        entry!("de_saxce", "fixed point on the De Saxcé shift", [Local, Global] => friction FixedPoint {
            max_outer, max_outer: DE_SAXCE.max_outer, max_inner: DE_SAXCE.max_inner, inner_share: DE_SAXCE.inner_share
        }),
        entry!("tresca", "fixed point on the friction bound, a convex problem each", [Local, Global] => friction FixedPoint { max_outer, frozen: Frozen::Bound }),
        entry!("aclm", "fixed point on the shift, a second-order cone problem each", [Local, Global] => friction FixedPoint { max_outer }),
        entry!(
            "lemke",
            "complementary pivoting along a path: P0, copositive-plus and most other matrices",
            [Lcp, Mlcp, Relay] => complementarity Lemke { max_pivots }
        ),
        entry!(
            "murty",
            "principal pivoting: P-matrices, in a few factorisations",
            [Lcp, Mlcp, Relay] => complementarity Murty { max_iterations }
        ),
        entry!(
            "enumeration",
            "every basis: very small problems of any class, and proofs that there is no solution",
            [Lcp, Mlcp, Relay] => complementarity Enumeration { max_bases }
        ),
        entry!(
            "pgs",
            "projected Gauss–Seidel: symmetric positive definite and H-matrices, low accuracy",
            [Lcp, Relay] => complementarity Pgs { max_sweeps }
        ),
        entry!(
            "psor",
            "projected relaxation with ω = 1.3: symmetric positive definite matrices of high condition",
            [Lcp, Relay] => complementarity Pgs { max_sweeps, relaxation: 1.3 }
        ),
        entry!(
            "block",
            "Gauss–Seidel over blocks of four unknowns, each pivoted: diagonally dominant by blocks",
            [Lcp, Relay] => complementarity BlockGaussSeidel { max_sweeps }
        ),
        entry!(
            "projected_gradient",
            "spectral projected gradients: large well conditioned programmes with bounds alone";
            Qp => ProjectedGradient { max_iterations }
        ),
    ]
}

/// The solver that is taken when none is named.
pub(super) fn default_for(problem: Stated) -> Option<&'static Entry> {
    all().iter().find(|entry| entry.takes(problem))
}

/// The solver of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    all().iter().find(|entry| entry.name == name)
}
