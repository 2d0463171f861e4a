//! Systems linked by interactions, as flat arrays that advance by themselves.
//!
//! Dynamical systems ([`model::dynamical_system`](crate::model::dynamical_system)) that interact, directly or through others,
//! form a cluster. A cluster needs nothing from outside between two events, so one call moves it any number of steps: a system
//! of a few states costs well below a microsecond a step, and a single step gives the same bits as a batch.
//!
//! ```text
//! linear            all matrices constant: multiplied out once (products, large)   Euler–Moreau, zero-order hold, Moreau–Jean, modal
//! first_order       Newton loop                                                    Euler–Moreau
//! second_order      Newton loop, projection of positions                           Moreau–Jean, midpoint
//! schatzman_paoli   two steps at position level      d1_minus    time-discontinuous Galerkin
//! ```
//!
//! | law | first order | second order: acts on | λ |
//! |-|-|-|-|
//! | impact, friction, rolling, Frémond | – | rate, where `y + γhẏ ≤ 0` | impulse |
//! | equality, relay, rows, normal cone | y | rate; y of a compliant relation | impulse (bounds and P are of forces); force |
//! | spring | – | rate | impulse |
//! | complementarity, mixed | y | y at the end of the step | force |

pub(crate) mod adopted;
pub(crate) mod body;
mod contradiction;
mod d1_minus;
mod differences;
pub(crate) mod examine;
mod first_order;
mod integrated;
mod jacobians;
mod large;
mod linear;
mod link;
mod node;
mod probe;
mod problem;
mod products;
mod projection;
mod record;
mod rhs;
mod schatzman_paoli;
mod second_order;
pub mod systems;

pub use jacobians::JacobianCheck;
pub use probe::{Probe, Reading, TimedParts};
pub use record::{Signal, Trace};
pub use rhs::right_hand_side;

use crate::model::integrator::Integrator;
use crate::numerics::{Report, Status};
use link::{Level, Link};
use node::{Node, System};
use problem::Problem;
use serde::{Deserialize, Serialize};

/// Why a cluster cannot be built or go on.
///
/// ```
/// use drystone::cluster::ClusterError;
/// let error = ClusterError::NotFinite { system: "pendulum".into(), operator: "F_int", time: 0.5 };
/// assert_eq!(error.to_string(), "F_int of pendulum is not finite at t = 0.5 s; the state before the step is kept");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// Systems, relations, laws or integrators that do not fit each other.
    #[error("{0}")]
    Setup(String),
    /// A user function, or a state, that is not finite.
    #[error("{operator} of {system} is not finite at t = {time} s; the state before the step is kept")]
    NotFinite {
        /// Name of the system or interaction.
        system: String,
        /// Operator.
        operator: &'static str,
        /// s
        time: f64,
    },
    /// A function of the user that reads what it does not depend on, does not write what it should, or cannot be called.
    #[error("{operator} of {system} at t = {time} s: {reason}")]
    Function {
        /// Name of the system or interaction.
        system: String,
        /// Operator.
        operator: &'static str,
        /// s
        time: f64,
        /// What is wrong with it, and what would do.
        reason: String,
    },
    /// A part of a system, see [`TimedParts`], that panics or gives no finite number.
    #[error("{0}")]
    Part(String),
    /// Equations that no motion fulfils.
    #[error("{} cannot hold together at t = {time} s: their equations contradict each other; take one of them away, or give it compliance", .interactions.join(" and "))]
    Contradiction {
        /// Names of the interactions.
        interactions: Vec<String>,
        /// s
        time: f64,
    },
    /// A matrix that cannot be inverted.
    #[error("the matrix {matrix} of {system} is singular at t = {time} s; a regular one is needed")]
    Singular {
        /// Name of the system.
        system: String,
        /// Matrix.
        matrix: &'static str,
        /// s
        time: f64,
    },
}

/// Where Moreau–Jean and the midpoint rule take the rows G of relations that are not linear.
///
/// ```text
/// Middle    M (v⁺ − v) = h F + G(q_m)ᵀ P,   u = G(q⁺) v⁺ + ∂h/∂t        q_m = q ⊕ ½ h (θ v⁺ + (1−θ) v)
/// End       M (v⁺ − v) = h F + G(q̃)ᵀ P,     u = G(q̃) v⁺ + ∂h/∂t         q̃: q⁺ as the iterate before had it
/// ```
///
/// On a circle `q⁺ + q` is normal to `q⁺ − q`, so impulses along G(q_m) do no work, and a velocity along the tangent at q⁺ starts the next
/// step without a jump: with θ = ½ a point mass on a circle keeps `|q|² + ¼ h² |v|²`, and its energy up to that. With the rows of the end
/// each step takes `½ m v² (hω)²`, but one iteration is enough, where `Middle` takes three or four.
///
/// ```
/// use drystone::cluster::{NewtonLoop, RowsAt};
/// assert_eq!(NewtonLoop::default().rows, RowsAt::Middle);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RowsAt {
    /// Impulses act through G of the middle of the step, velocities are matched with G of its end; iterated until both hold.
    #[default]
    Middle,
    /// One G for both, of the end of the step as the last iterate foresees it, and not iterated on its account (Siconos: `MoreauJeanOSI`).
    End,
}

/// When the Newton loop of a step ends, and which rows it is about.
///
/// ```
/// assert_eq!(drystone::cluster::NewtonLoop::default().max_iterations, 50);
/// ```
#[derive(bevy_ecs::prelude::Resource, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewtonLoop {
    /// Bound on what is left of the equations: an impulse (N s) for second-order systems, relative to 1 and the state for
    /// first-order ones; where the terms of an equation are small, at most a hundred times that part of these. Never below rounding.
    pub tolerance: f64,
    /// Iterations before the step counts as not converged.
    pub max_iterations: usize,
    /// Which rows relations of second order have in Moreau–Jean and the midpoint rule, where they turn with the coordinates.
    #[serde(default)]
    pub rows: RowsAt,
}

impl NewtonLoop {
    /// The tolerance is a number that is not negative.
    pub fn validate(&self) -> Result<(), String> {
        if self.tolerance >= 0.0 {
            return Ok(());
        }
        Err(format!("the tolerance of the Newton loop is {}; 0 or a positive number is needed", self.tolerance))
    }
}

/// Errors below this part of their terms are rounding.
const ROUNDING: f64 = 1e-14;
/// Tolerances of what is left in parts of its terms.
const OF_TERMS: f64 = 100.0;

/// What is left of the equations of a step at an iterate.
#[derive(Clone, Copy, Debug, Default)]
struct Leftover {
    /// in the units of [`NewtonLoop::tolerance`]
    plain: f64,
    /// in parts of the terms of its equation where these are below 1
    of_terms: f64,
}

impl Leftover {
    /// Before the first iterate.
    const NONE_YET: Self = Self { plain: f64::INFINITY, of_terms: f64::INFINITY };

    /// Takes in an error, which counts over 1 and `value`, beside terms of this size.
    fn add(&mut self, error: f64, value: f64, size: f64) {
        let worse = |old: f64, new: f64| if new > old || new.is_nan() { new } else { old };
        self.plain = worse(self.plain, error / (1.0 + value));
        self.of_terms = worse(self.of_terms, error / (size.min(1.0) + value));
    }

    /// Whether the loop may end here, `before` being what the iterate before has left: the tolerance holds, and a hundred times it in parts
    /// of the terms, lest a microgram be left where it is; or rounding lets it come no closer.
    fn within(&self, tolerance: f64, before: &Self) -> bool {
        self.plain <= tolerance && (self.of_terms <= OF_TERMS * tolerance || self.of_terms >= 0.5 * before.of_terms)
    }
}

impl Default for NewtonLoop {
    fn default() -> Self {
        Self { tolerance: 1e-10, max_iterations: 50, rows: RowsAt::Middle }
    }
}

/// How a batch of steps of all clusters went.
///
/// ```
/// assert_eq!(drystone::cluster::SystemsReport::default().unconverged, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SystemsReport {
    /// Active rows in the last step.
    pub active_rows: usize,
    /// Steps in which the one-step problem, the Newton loop or the projection of a cluster did not converge.
    pub unconverged: u64,
    /// Those among them whose one-step problem is proved to have no solution: an ideal source that drives an ideal diode, stops on both
    /// sides of what has to move. What they leave is no state of the system.
    #[serde(default)]
    pub infeasible: u64,
    /// When the first of those without a solution ended (s).
    #[serde(default)]
    pub first_infeasible: Option<f64>,
    /// Largest error `rel` of a one-step problem.
    pub rel: f64,
    /// Largest number of Newton iterations of a step; 0 where all is linear.
    pub newton_iterations: usize,
    /// Largest overlap at the end of a step, −y of impacts.
    pub penetration: f64,
    /// Largest gap of an equality at the end of a step, |y| in the units of its relation: its law is about the rate, so that y keeps
    /// what it had at the start, and drifts.
    #[serde(default)]
    pub gap: f64,
    /// Work that the multipliers of Moreau–Jean, midpoint and modal systems have done on these, `Σ ½ (Gᵀ P)ᵀ (v⁺ + v⁻)` (J), with the G
    /// that acted: what impacts and friction took is negative, what relations that move with time gave is positive.
    pub contact_work: f64,
}

/// How one step of one cluster went.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    report: Report,
    iterations: usize,
    newton_failed: bool,
    projection_failed: bool,
    active: usize,
    penetration: f64,
    gap: f64,
    contact_work: f64,
}

impl Outcome {
    /// Takes note of what a link of second order leaves open at the end of the step.
    #[inline]
    fn look(&mut self, link: &Link, y: &[f64]) {
        if link.law.is_impact() {
            self.penetration = self.penetration.max(-y[0]);
        } else if link.law == crate::model::law::Law::Equality && !matches!(link.relation, crate::model::relation::Relation::Coordinate(_))
        {
            self.gap = y.iter().fold(self.gap, |gap, y| gap.max(y.abs()));
        }
    }
}

impl SystemsReport {
    /// This report, after an earlier one of the same run.
    pub fn merge(&mut self, earlier: &Self) {
        self.unconverged += earlier.unconverged;
        self.infeasible += earlier.infeasible;
        self.first_infeasible = earlier.first_infeasible.or(self.first_infeasible);
        self.rel = self.rel.max(earlier.rel);
        self.newton_iterations = self.newton_iterations.max(earlier.newton_iterations);
        self.penetration = self.penetration.max(earlier.penetration);
        self.gap = self.gap.max(earlier.gap);
        self.contact_work += earlier.contact_work;
    }

    fn add(&mut self, outcome: &Outcome, t1: f64) {
        self.active_rows += outcome.active;
        self.unconverged += u64::from(!outcome.report.converged() || outcome.newton_failed || outcome.projection_failed);
        if outcome.report.status == Status::Inconsistent {
            self.infeasible += 1;
            self.first_infeasible.get_or_insert(t1);
        }
        self.rel = self.rel.max(outcome.report.rel);
        self.newton_iterations = self.newton_iterations.max(outcome.iterations);
        self.penetration = self.penetration.max(outcome.penetration);
        if outcome.gap > self.gap {
            self.gap = outcome.gap;
        }
        self.contact_work += outcome.contact_work;
    }
}

/// Coordinates (or states) and velocities of all systems.
#[derive(Clone, Debug, Default)]
struct State {
    q: Vec<f64>,
    v: Vec<f64>,
}

/// What moves a cluster.
#[derive(Debug)]
enum Machine {
    Linear(Box<linear::Linear>),
    FirstOrder(Box<first_order::Implicit>),
    SecondOrder(Box<second_order::Implicit>),
    SchatzmanPaoli(Box<schatzman_paoli::TwoStep>),
    D1Minus(Box<d1_minus::D1Minus>),
}

/// Systems that interact, and what moves them.
#[derive(Debug)]
struct Cluster {
    nodes: Vec<Node>,
    links: Vec<Link>,
    problem: Problem,
    state: State,
    machine: Machine,
    h: f64,
    newton: NewtonLoop,
    good: Good,
}

/// What a cluster goes back to when a step fails: all that its components do not hold in the middle of a batch.
#[derive(Debug, Default)]
struct Good {
    state: State,
    r: Vec<f64>,
    before: Vec<f64>,
}

/// Least θ for equations on y: what a velocity misses comes back as its `(1−θ)/θ`-fold with the other sign.
const RINGS: f64 = 0.6;

/// Integrators that may meet in an interaction.
fn level(integrator: &Integrator) -> (u8, &'static str) {
    match integrator {
        Integrator::EulerMoreau { .. } | Integrator::ZeroOrderHold => (0, "the state"),
        Integrator::MoreauJean { .. } | Integrator::Midpoint { .. } | Integrator::Modal { .. } => (1, "the velocity"),
        Integrator::SchatzmanPaoli { .. } => (2, "the position"),
        Integrator::D1Minus { .. } => (3, "velocity and acceleration (D1-minus)"),
    }
}

impl Cluster {
    /// Puts systems and interactions into flat arrays; `memory` holds what two-step schemes remember, node by node.
    fn new(
        mut nodes: Vec<Node>,
        mut links: Vec<Link>,
        memory: &[Vec<f64>],
        t: f64,
        h: f64,
        newton: NewtonLoop,
    ) -> Result<Self, ClusterError> {
        let mut state = State::default();
        for node in &mut nodes {
            (node.q0, node.v0) = (state.q.len(), state.v.len());
            let (q, v): (&[f64], &[f64]) = match &node.system {
                System::FirstOrder(s) => (&s.x, &[]),
                System::Lagrangian(s) => (&s.q, &s.v),
                System::Body(s) => (&s.q, &s.v),
            };
            (node.nq, node.nv) = (q.len(), if v.is_empty() { q.len() } else { v.len() });
            state.q.extend_from_slice(q);
            state.v.extend_from_slice(v);
            if state.v.is_empty() {
                node.v0 = node.q0;
            }
        }
        for node in &nodes[1..] {
            let (a, b) = (level(&nodes[0].integrator), level(&node.integrator));
            if a.0 != b.0 {
                let reason = format!(
                    "{} has its laws on {}, but {} on {}; systems that interact need one level",
                    nodes[0].name, a.1, node.name, b.1
                );
                return Err(ClusterError::Setup(reason));
            }
        }
        let mut row = 0;
        for link in &mut links {
            link.rows = row..row + link.relation.rows();
            row = link.rows.end;
            let first = &nodes[link.nodes[0]];
            link.level = Link::level_of(&link.relation, &link.law);
            link.gamma = Link::gamma_of(&first.integrator);
            link.restitution = Link::restitution_of(&link.law, link.relation.rows(), first.theta());
            link.active |= !link.law.is_impact();
            let others = || link.nodes.iter().map(|&n| &nodes[n]);
            let fremond = matches!(link.law, crate::model::law::Law::FremondImpact { .. });
            let shares_theta = fremond || (link.level == Level::Output && link.relation.is_second_order());
            if shares_theta && others().any(|n| n.theta() != first.theta()) {
                return Err(ClusterError::Setup(format!("{}: its law needs one theta in all its systems", link.name)));
            }
            if link.law.is_impact() && others().any(|n| Link::gamma_of(&n.integrator) != link.gamma) {
                return Err(ClusterError::Setup(format!("{}: its law needs one gamma in all its systems", link.name)));
            }
            if link.level == Level::Rate
                && let crate::model::relation::Relation::LagrangianLinear(r) = &link.relation
                && !r.f.is_constant()
            {
                let reason = "F is a function, whose rate its law would need; LagrangianNonlinear::with_rate has both";
                return Err(ClusterError::Setup(format!("{}: {reason}", link.name)));
            }
            let by_theta = matches!(first.integrator, Integrator::MoreauJean { .. });
            if by_theta && link.level == Level::Output && link.relation.is_second_order() && first.theta() <= 0.0 {
                return Err(ClusterError::Setup(format!("{}: a law on y needs theta > 0", link.name)));
            }
            let equations = matches!(link.law, crate::model::law::Law::MixedComplementarity { equalities } if equalities > 0);
            if equations && link.relation.is_second_order() && !Link::compliant(&link.relation) && first.theta() < RINGS {
                let reason = "its equations are about y at the end of the step, so that velocities turn round from step to step with theta";
                let cure =
                    "theta = 1 damps that, and Law::Equality in an interaction of its own, whose rows are about the rate, has none of it";
                return Err(ClusterError::Setup(format!("{}: {reason} = {}; {cure}", link.name, first.theta())));
            }
            let held = matches!(first.integrator, Integrator::ZeroOrderHold);
            if first.integrator.is_first_order()
                && (held || first.theta() < RINGS)
                && let Some(row) = integrated::row(&nodes, link)
            {
                let scheme = if held { "a zero-order hold".to_owned() } else { format!("theta = {}", first.theta()) };
                let reason = format!(
                    "its multiplier reaches y of row {row}, from 0, through two integrations or more (C M⁻¹ B = 0 and D = 0 there), \
                     and with {scheme} the rate of y turns round at its bound"
                );
                let cure = "theta = 1 takes the rate away; a Lagrangian system with Law::NewtonImpact has an impact that is asked for";
                return Err(ClusterError::Setup(format!("{}: {reason}; {cure}", link.name)));
            }
            if matches!(link.law, crate::model::law::Law::FremondImpact { .. }) && first.theta() <= 0.0 {
                return Err(ClusterError::Setup(format!("{}: the law of Frémond needs theta > 0", link.name)));
            }
        }
        examine::all(&nodes, &links, &state, t)?;
        contradiction::at_start(&nodes, &links, &state, t)?;
        let mut problem = Problem::new(&mut links, h);
        let integrator = nodes[0].integrator;
        let machine = match integrator {
            Integrator::SchatzmanPaoli { .. } => Machine::SchatzmanPaoli(Box::new(schatzman_paoli::TwoStep::new(&nodes, &links)?)),
            Integrator::D1Minus { .. } => Machine::D1Minus(Box::new(d1_minus::D1Minus::new(&nodes, &links)?)),
            _ => {
                for (node, memory) in nodes.iter().zip(memory) {
                    if let Integrator::Modal { .. } = node.integrator {
                        if matches!(&node.system, System::Lagrangian(s) if !s.prescribed.is_empty()) {
                            let reason = format!("{}: the modal scheme takes no prescribed velocities; Moreau–Jean does", node.name);
                            return Err(ClusterError::Setup(reason));
                        }
                        if !products::is_diagonal(node) {
                            return Err(ClusterError::Setup(format!("{}: the modal scheme needs diagonal M, C and K", node.name)));
                        }
                        if memory.is_empty() {
                            let (q, v) = (&state.q[node.q0..node.q0 + node.nq], &mut state.v[node.v0..node.v0 + node.nv]);
                            products::modal_start(node, t, h, q, v)?;
                        }
                    }
                }
                if linear::applies(&nodes, &links) {
                    Machine::Linear(Box::new(linear::Linear::new(&nodes, &links, &mut problem, &state, t, h)?))
                } else if integrator.is_first_order() {
                    Machine::FirstOrder(Box::new(first_order::Implicit::new(&nodes, &links)?))
                } else {
                    Machine::SecondOrder(Box::new(second_order::Implicit::new(&nodes, &links, h, newton.rows)?))
                }
            }
        };
        let mut cluster = Self { nodes, links, problem, state, machine, h, newton, good: Good::default() };
        if let Machine::SchatzmanPaoli(m) = &mut cluster.machine {
            if memory.iter().all(|m| !m.is_empty()) {
                m.before = memory.concat();
            }
            m.start(&cluster.state, h);
        }
        Ok(cluster)
    }

    /// Takes up states, z and multipliers that others may have changed between steps.
    fn resume(&mut self, t: f64) -> Result<(), ClusterError> {
        let Self { nodes, links, problem, state, machine, .. } = self;
        match machine {
            Machine::Linear(m) => m.resume(nodes, links, problem, state, t),
            Machine::FirstOrder(m) => m.resume(nodes, links, problem, state, t),
            Machine::SecondOrder(m) => m.resume(nodes, links, problem, state, t),
            Machine::SchatzmanPaoli(m) => m.resume(nodes, links, state, t),
            Machine::D1Minus(m) => m.resume(nodes, links, problem, state, t),
        }
    }

    /// Remembers the state before a step.
    fn keep(&mut self) {
        self.good.state.q.clone_from(&self.state.q);
        self.good.state.v.clone_from(&self.state.v);
        self.good.r.clone_from(&self.problem.r);
        if let Machine::SchatzmanPaoli(m) = &self.machine {
            self.good.before.clone_from(&m.before);
        }
    }

    /// Goes back to the state that was kept; outputs follow as far as the functions of the user allow.
    fn restore(&mut self, t: f64) {
        self.state.q.clone_from(&self.good.state.q);
        self.state.v.clone_from(&self.good.state.v);
        self.problem.r.clone_from(&self.good.r);
        if let Machine::SchatzmanPaoli(m) = &mut self.machine {
            m.before.clone_from(&self.good.before);
        }
        drop(self.resume(t));
    }

    /// One step from t to t1.
    fn step(&mut self, t: f64, t1: f64, total: &mut SystemsReport) -> Result<(), ClusterError> {
        let Self { nodes, links, problem, state, machine, h, newton, .. } = self;
        let (h, newton) = (*h, *newton);
        let outcome = match machine {
            Machine::Linear(m) => m.step(nodes, links, problem, state, t1, h),
            Machine::FirstOrder(m) => m.step(nodes, links, problem, state, (t, t1, h), newton),
            Machine::SecondOrder(m) => m.step(nodes, links, problem, state, (t, t1, h), newton),
            Machine::SchatzmanPaoli(m) => m.step(nodes, links, problem, state, (t, t1, h), newton),
            Machine::D1Minus(m) => m.step(nodes, links, problem, state, (t, t1, h)),
        }?;
        total.add(&outcome, t1);
        Ok(())
    }

    /// y and ẏ of all rows.
    fn outputs(&self) -> (&[f64], &[f64]) {
        match &self.machine {
            Machine::Linear(m) => m.last_outputs(),
            Machine::FirstOrder(m) => (m.last_outputs(), &[]),
            Machine::SecondOrder(m) => m.last_outputs(),
            Machine::SchatzmanPaoli(m) => m.last_outputs(),
            Machine::D1Minus(m) => m.last_outputs(),
        }
    }

    /// What the multipliers put into the velocities (or states) in the last step.
    fn inputs(&mut self, out: &mut Vec<f64>) {
        out.clear();
        out.resize(if self.state.v.is_empty() { self.state.q.len() } else { self.state.v.len() }, 0.0);
        match &mut self.machine {
            Machine::Linear(m) => m.inputs(&self.problem, out),
            Machine::FirstOrder(m) => m.inputs(out),
            Machine::SecondOrder(m) => m.inputs(out),
            Machine::SchatzmanPaoli(m) => m.inputs(out),
            Machine::D1Minus(m) => m.inputs(out),
        }
    }

    /// True where positions are projected.
    fn projects(&self) -> bool {
        matches!(&self.machine, Machine::SecondOrder(m) if m.projection != crate::model::integrator::Projection::None)
    }

    /// Multipliers of the projection, and contact forces of D1-minus; empty where there are none.
    fn extras(&self) -> (&[f64], &[f64]) {
        match &self.machine {
            Machine::SecondOrder(m) => (m.corrections(), &[]),
            Machine::D1Minus(m) => (&[], m.forces()),
            _ => (&[], &[]),
        }
    }

    /// What a two-step scheme remembers of a node.
    fn memory(&self, node: usize) -> &[f64] {
        let node = &self.nodes[node];
        match (&self.machine, &node.integrator) {
            (Machine::SchatzmanPaoli(m), _) => &m.before[node.q0..node.q0 + node.nq],
            // its velocity is the one of the scheme from now on
            (_, Integrator::Modal { .. }) => &self.state.v[node.v0..node.v0 + node.nv],
            _ => &[],
        }
    }
}
