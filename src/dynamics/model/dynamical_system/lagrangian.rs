//! Lagrangian systems.

use crate::model::operator::Operator;
use bevy_ecs::prelude::Component;
use std::sync::Arc;

/// `M(q) q̈ + F_gyr(q, q̇) + F_int(t, q, q̇) + C q̇ + K q = F_ext(t, z) + w(q) g + p`
/// (Siconos: `LagrangianDS`, `LagrangianLinearTIDS`, `LagrangianLinearDiagonalDS`).
///
/// Every term but M may be missing; with constant M and w and neither F_gyr nor F_int the system is linear.
///
/// ```
/// use drystone::model::{dynamical_system::{Lagrangian, Prescribed}, operator::Operator};
/// let ball = Lagrangian::new([1.0]).at([1.0]).with_force([-9.81]);
/// assert!(ball.validate().is_ok() && ball.is_linear_invariant());
/// let oscillator = Lagrangian::new([1.0]).at([0.1]).with_stiffness([100.0]).with_damping([0.1]);
/// assert!(oscillator.validate().is_ok());
/// let pendulum = Lagrangian::new([1.0]).at([0.3])
///     .with_internal(Operator::function(|at, f| f[0] = 9.81 * at.q[0].sin()));
/// assert!(!pendulum.is_linear_invariant());
/// let plane = Lagrangian::new([1.0]).at([0.0]).with_prescribed(0, Prescribed::Harmonic { a: 2.0, b: 1.0, omega: 1.5, phi: 0.0 });
/// assert_eq!(plane.prescribed.len(), 1);
/// let singular = Lagrangian::new([1.0, 1.0, 1.0, 1.0]).at([0.0, 0.0]);
/// assert!(singular.validate().unwrap_err().contains("singular"));
/// ```
#[derive(Component, Clone, Debug, Default, PartialEq)]
pub struct Lagrangian {
    /// Generalized coordinates: the initial ones at first.
    pub q: Vec<f64>,
    /// Velocities q̇.
    pub v: Vec<f64>,
    /// M(q), n × n, symmetric and positive definite.
    pub mass: Operator,
    /// C, n × n, constant.
    pub damping: Operator,
    /// K, n × n, constant.
    pub stiffness: Operator,
    /// F_gyr(q, q̇), n values: on the left of the equation.
    pub gyroscopic: Operator,
    /// ∂F_gyr/∂q, n × n; finite differences where it is missing.
    pub gyroscopic_q: Operator,
    /// ∂F_gyr/∂q̇, n × n; finite differences where it is missing.
    pub gyroscopic_v: Operator,
    /// F_int(t, q, q̇), n values: on the left of the equation.
    pub internal: Operator,
    /// ∂F_int/∂q, n × n; finite differences where it is missing.
    pub internal_q: Operator,
    /// ∂F_int/∂q̇, n × n; finite differences where it is missing.
    pub internal_v: Operator,
    /// F_ext(t, z), n values; what depends on the state belongs to F_int, whose Jacobians count.
    pub external: Operator,
    /// w(q) = Σ m ∂x/∂q over its masses at x(q), n × 3: gravity g of the scene is the force w g. Missing: gravity does not act.
    pub weight: Operator,
    /// Components of the velocity that are given.
    pub prescribed: Vec<PrescribedVelocity>,
    /// Parameters and inputs z.
    pub z: Vec<f64>,
    /// p of the last step, n values: the impulses of all interactions.
    pub p: Vec<f64>,
    /// What a two-step scheme remembers: q of the step before (Schatzman–Paoli) or v of the scheme (modal); empty at the start.
    pub before: Vec<f64>,
}

/// A component of the velocity as a function of time (Siconos: `FixedBC`, `HarmonicBC`, `BoundaryCondition`).
///
/// ```
/// use drystone::model::dynamical_system::Prescribed;
/// let v = Prescribed::Harmonic { a: 2.0, b: 1.0, omega: std::f64::consts::FRAC_PI_2, phi: 0.0 };
/// assert_eq!(v.at(0.0), 3.0);
/// assert_eq!(Prescribed::Fixed.at(7.0), 0.0);
/// ```
#[derive(Clone)]
pub enum Prescribed {
    /// 0: the degree of freedom is fixed.
    Fixed,
    /// `a + b cos(ωt + φ)`.
    Harmonic {
        /// Mean velocity.
        a: f64,
        /// Amplitude.
        b: f64,
        /// rad/s
        omega: f64,
        /// rad
        phi: f64,
    },
    /// A function of time (s).
    Function(Arc<dyn Fn(f64) -> f64 + Send + Sync>),
}

impl Prescribed {
    /// The velocity at time t.
    pub fn at(&self, t: f64) -> f64 {
        match self {
            Self::Fixed => 0.0,
            Self::Harmonic { a, b, omega, phi } => a + b * libm::cos(omega * t + phi),
            Self::Function(f) => f(t),
        }
    }
}

/// Functions are equal where they are the same closure.
impl PartialEq for Prescribed {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Fixed, Self::Fixed) => true,
            (Self::Harmonic { a, b, omega, phi }, Self::Harmonic { a: a2, b: b2, omega: omega2, phi: phi2 }) => {
                [a, b, omega, phi] == [a2, b2, omega2, phi2]
            }
            (Self::Function(a), Self::Function(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl std::fmt::Debug for Prescribed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fixed => write!(f, "Fixed"),
            Self::Harmonic { a, b, omega, phi } => write!(f, "{a} + {b} cos({omega} t + {phi})"),
            Self::Function(_) => write!(f, "Function"),
        }
    }
}

/// Which component of the velocity is prescribed, and the impulse that it took.
///
/// ```
/// use drystone::model::dynamical_system::{Prescribed, PrescribedVelocity};
/// let fixed = PrescribedVelocity { index: 2, velocity: Prescribed::Fixed, reaction: 0.0 };
/// assert_eq!(fixed.index, 2);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PrescribedVelocity {
    /// Degree of freedom.
    pub index: usize,
    /// Its velocity.
    pub velocity: Prescribed,
    /// Impulse of the last step that imposes it on the system.
    pub reaction: f64,
}

impl Lagrangian {
    /// A free system, `M q̈ = p`; its coordinates are to follow ([`at`](Self::at)).
    pub fn new(mass: impl Into<Operator>) -> Self {
        Self { mass: mass.into(), ..Self::default() }
    }

    /// At these coordinates q; at rest, unless it [moves](Self::moving).
    #[must_use]
    pub fn at(mut self, q: impl Into<Vec<f64>>) -> Self {
        self.q = q.into();
        if self.v.is_empty() {
            self.v = vec![0.0; self.q.len()];
        }
        self
    }

    /// With velocities q̇.
    #[must_use]
    pub fn moving(self, v: impl Into<Vec<f64>>) -> Self {
        Self { v: v.into(), ..self }
    }

    /// With F_ext.
    #[must_use]
    pub fn with_force(self, external: impl Into<Operator>) -> Self {
        Self { external: external.into(), ..self }
    }

    /// With gravity: w(q) = Σ m ∂x/∂q, n × 3, row by row, so that the generalised force is w g.
    ///
    /// ```
    /// use drystone::prelude::*;
    /// let mut sim = Simulation::default();
    /// // a point mass of 2 kg in the plane x–z
    /// let stone = Lagrangian::new([2.0, 0.0, 0.0, 2.0]).at([0.0, 0.0]).with_gravity([2.0, 0.0, 0.0, 0.0, 0.0, 2.0]);
    /// let stone = sim.spawn_system(stone, Integrator::MOREAU_JEAN)?;
    /// sim.run_until(1.0)?;
    /// assert!(sim.world().get::<Lagrangian>(stone).is_some_and(|s| (s.v[1] + 9.81).abs() < 1e-9));
    /// # Ok::<(), SimulationError>(())
    /// ```
    #[must_use]
    pub fn with_gravity(self, weight: impl Into<Operator>) -> Self {
        Self { weight: weight.into(), ..self }
    }

    /// With C.
    #[must_use]
    pub fn with_damping(self, damping: impl Into<Operator>) -> Self {
        Self { damping: damping.into(), ..self }
    }

    /// With K.
    #[must_use]
    pub fn with_stiffness(self, stiffness: impl Into<Operator>) -> Self {
        Self { stiffness: stiffness.into(), ..self }
    }

    /// With F_int; its Jacobians by finite differences.
    #[must_use]
    pub fn with_internal(self, internal: impl Into<Operator>) -> Self {
        Self { internal: internal.into(), ..self }
    }

    /// With ∂F_int/∂q and ∂F_int/∂q̇.
    #[must_use]
    pub fn with_internal_jacobians(self, q: impl Into<Operator>, v: impl Into<Operator>) -> Self {
        Self { internal_q: q.into(), internal_v: v.into(), ..self }
    }

    /// With F_gyr; its Jacobians by finite differences.
    #[must_use]
    pub fn with_gyroscopic(self, gyroscopic: impl Into<Operator>) -> Self {
        Self { gyroscopic: gyroscopic.into(), ..self }
    }

    /// With ∂F_gyr/∂q and ∂F_gyr/∂q̇.
    #[must_use]
    pub fn with_gyroscopic_jacobians(self, q: impl Into<Operator>, v: impl Into<Operator>) -> Self {
        Self { gyroscopic_q: q.into(), gyroscopic_v: v.into(), ..self }
    }

    /// With a given velocity of one degree of freedom.
    #[must_use]
    pub fn with_prescribed(mut self, index: usize, velocity: Prescribed) -> Self {
        self.prescribed.push(PrescribedVelocity { index, velocity, reaction: 0.0 });
        self
    }

    /// With parameters z.
    #[must_use]
    pub fn with_parameters(self, z: impl Into<Vec<f64>>) -> Self {
        Self { z: z.into(), ..self }
    }

    /// True where M is constant and there is neither F_gyr nor F_int: one linear problem a step.
    pub fn is_linear_invariant(&self) -> bool {
        self.mass.is_constant() && self.gyroscopic.is_zero() && self.internal.is_zero() && self.weight.is_constant()
    }

    /// Checks sizes, that the constants are finite and a constant M is symmetric and positive definite; the message names the operator.
    pub fn validate(&self) -> Result<(), String> {
        let n = self.q.len();
        if n == 0 {
            return Err("q is empty; a system needs at least one degree of freedom".into());
        }
        Operator::from(self.q.as_slice()).validate("q", n, 1)?;
        Operator::from(self.v.as_slice()).validate("v", n, 1)?;
        let square = [
            ("M", &self.mass),
            ("C", &self.damping),
            ("K", &self.stiffness),
            ("∂F_gyr/∂q", &self.gyroscopic_q),
            ("∂F_gyr/∂v", &self.gyroscopic_v),
            ("∂F_int/∂q", &self.internal_q),
            ("∂F_int/∂v", &self.internal_v),
        ];
        for (name, operator) in square {
            operator.validate(name, n, n)?;
        }
        for (name, operator) in [("F_gyr", &self.gyroscopic), ("F_int", &self.internal), ("F_ext", &self.external)] {
            operator.validate(name, n, 1)?;
        }
        self.weight.validate("w", n, 3)?;
        for (name, operator) in [("C", &self.damping), ("K", &self.stiffness)] {
            if !operator.is_constant() {
                return Err(format!("{name} is a function; it has to be constant (F_int takes what depends on the state)"));
            }
        }
        Operator::from(self.z.as_slice()).validate("z", self.z.len(), 1)?;
        if let Some(p) = self.prescribed.iter().find(|p| p.index >= n) {
            return Err(format!("a velocity is prescribed for degree of freedom {}, but there are {n}, from 0", p.index));
        }
        for (k, p) in self.prescribed.iter().enumerate() {
            if self.prescribed[..k].iter().any(|other| other.index == p.index) {
                return Err(format!("the velocity of degree of freedom {} is prescribed twice; once is enough", p.index));
            }
        }
        if self.mass.is_zero() {
            return Err("the mass matrix M is missing".into());
        }
        match &self.mass {
            Operator::Diagonal(d) => match d.iter().position(|x| *x <= 0.0) {
                Some(column) if d[column] == 0.0 => Err(format!("the mass matrix M is singular (column {column})")),
                Some(column) => Err(format!("M holds {} on its diagonal (row {column}); {POSITIVE}", d[column])),
                None => Ok(()),
            },
            Operator::Constant(m) => check_mass(m, n),
            Operator::Sparse(_) if n <= DENSE => {
                let mut m = vec![0.0; n * n];
                self.mass.matrix(&crate::model::operator::At::default(), n, &mut m);
                check_mass(&m, n)
            }
            // whether a large one is positive definite costs as much as a step
            Operator::Sparse(entries) => check_sparse(entries),
            Operator::Zero | Operator::Function(_) => Ok(()),
        }
    }
}

/// Sparse masses of more rows are not factorised to be checked.
const DENSE: usize = 300;
const POSITIVE: &str = "a symmetric positive definite matrix is needed, so that ½ vᵀ M v is an energy";
/// Part of the largest entries up to which a difference of M from its transpose is rounding.
const SYMMETRIC: f64 = 1e-9;

/// Whether a full mass matrix is symmetric and positive definite; the message says where it is not.
pub(crate) fn check_mass(m: &[f64], n: usize) -> Result<(), String> {
    for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
        let (a, b) = (m[i * n + j], m[j * n + i]);
        if (a - b).abs() > SYMMETRIC * m[i * (n + 1)].abs().max(m[j * (n + 1)].abs()) {
            return Err(format!("M is not symmetric: it holds {a} at row {i}, column {j}, but {b} at row {j}, column {i}; {POSITIVE}"));
        }
    }
    if let Some(i) = (0..n).find(|i| m[i * (n + 1)] < 0.0) {
        return Err(format!("M holds {} on its diagonal (row {i}); {POSITIVE}", m[i * (n + 1)]));
    }
    let (mut lu, mut rows) = (m.to_vec(), vec![0u32; n]);
    if let Some(column) = crate::algebra::dense::lu(&mut lu, &mut rows) {
        return Err(format!("the mass matrix M is singular (column {column})"));
    }
    lu.copy_from_slice(m);
    if crate::algebra::dense::cholesky(&mut lu, n) { Ok(()) } else { Err(format!("M is indefinite; {POSITIVE}")) }
}

/// As far as entries tell without a factorisation.
fn check_sparse(entries: &[(usize, usize, f64)]) -> Result<(), String> {
    let mut at: std::collections::BTreeMap<(usize, usize), f64> = std::collections::BTreeMap::new();
    entries.iter().for_each(|&(i, j, x)| *at.entry((i, j)).or_default() += x);
    for (&(i, j), &x) in &at {
        let mirrored = at.get(&(j, i)).copied().unwrap_or(0.0);
        let size = |k: usize| at.get(&(k, k)).map_or(0.0, |x| x.abs());
        if (x - mirrored).abs() > SYMMETRIC * size(i).max(size(j)) {
            return Err(format!(
                "M is not symmetric: it holds {x} at row {i}, column {j}, but {mirrored} at row {j}, column {i}; {POSITIVE}"
            ));
        }
        if i == j && x < 0.0 {
            return Err(format!("M holds {x} on its diagonal (row {i}); {POSITIVE}"));
        }
    }
    Ok(())
}
