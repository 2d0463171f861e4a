//! Relations: how the output y of an interaction follows from its systems, and what its multipliers put into them.
//!
//! ```text
//! first order    y = h(X, t, λ, Z)        R = g(X, t, λ, Z)         linear: y = C X + F Z + D λ + e,  R = B λ
//! second order   y = h(Q, t, λ, Z)        P = Gᵀ λ,  ẏ = G V + ∂h/∂t (+ D λ̇)
//! ```
//!
//! X, Q, V hold the states of the one or two systems of the interaction one after the other.

use super::joint::{Coordinate, Joint, MAX_JOINT_ROWS, Transmission, TwistRow};
use super::operator::Operator;
use crate::algebra::spatial::Pose;
use glam::{DQuat, DVec3};

/// A relation of either order.
///
/// ```
/// use drystone::model::relation::{LagrangianLinear, Relation};
/// let floor = Relation::from(LagrangianLinear::new([1.0, 0.0], [0.0]));
/// assert_eq!(floor.rows(), 1);
/// assert!(floor.is_second_order());
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Relation {
    /// `y = C X + F Z + D λ + e`, `R = B λ`.
    FirstOrderLinear(FirstOrderLinear),
    /// `y = h(X, t, λ, Z)`, `R = g(X, t, λ, Z)`.
    FirstOrderNonlinear(FirstOrderNonlinear),
    /// `y = H Q + F Z + D λ + e`, `P = Hᵀ λ`.
    LagrangianLinear(LagrangianLinear),
    /// `y = h(Q, Z)`, `h(Q, t, Z)` or `h(Q, λ, Z)`, `P = Gᵀ λ`.
    LagrangianNonlinear(LagrangianNonlinear),
    /// `y`: the gaps of a joint between two bodies, or a body and the world.
    Joint(Joint),
    /// `y`: a coordinate of a joint, for stops, friction and motors.
    Coordinate(Coordinate),
    /// `y`: two coordinates of bodies that go together: gears, racks, screws.
    Transmission(Transmission),
}

/// `y = C X + F Z + D λ + e`, `R = B λ`, each constant or a function of t and Z
/// (Siconos: `FirstOrderLinearTIR`, `FirstOrderLinearR`).
///
/// ```
/// use drystone::model::relation::FirstOrderLinear;
/// // a diode and a resistor beside an LC loop: y is the reverse voltage, λ the current
/// let diode = FirstOrderLinear::new(1, [-1.0, 0.0], [-1e6, 0.0]).with_d([1e3]);
/// assert_eq!(diode.rows, 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FirstOrderLinear {
    /// Number m of rows.
    pub rows: usize,
    /// C, m × n.
    pub c: Operator,
    /// B, n × m.
    pub b: Operator,
    /// D, m × m.
    pub d: Operator,
    /// e, m values.
    pub e: Operator,
    /// F, m × number of Z.
    pub f: Operator,
}

impl FirstOrderLinear {
    /// `y = C X`, `R = B λ`.
    pub fn new(rows: usize, c: impl Into<Operator>, b: impl Into<Operator>) -> Self {
        Self { rows, c: c.into(), b: b.into(), ..Self::default() }
    }

    /// With D.
    #[must_use]
    pub fn with_d(self, d: impl Into<Operator>) -> Self {
        Self { d: d.into(), ..self }
    }

    /// With e.
    #[must_use]
    pub fn with_e(self, e: impl Into<Operator>) -> Self {
        Self { e: e.into(), ..self }
    }

    /// With F.
    #[must_use]
    pub fn with_f(self, f: impl Into<Operator>) -> Self {
        Self { f: f.into(), ..self }
    }
}

/// `y = h(X, t, λ, Z)`, `R = g(X, t, λ, Z)` with four Jacobians, each by finite differences where it is `Zero`
/// (Siconos: `FirstOrderNonLinearR`, `FirstOrderType1R`, `FirstOrderType2R`).
///
/// ```
/// use drystone::model::{operator::Operator, relation::FirstOrderNonlinear};
/// let gene = FirstOrderNonlinear::new(1, Operator::function(|at, y| y[0] = 4.0 - at.x[0]), Operator::function(|at, r| r[0] = 40.0 * at.lambda[0]));
/// assert_eq!(gene.rows, 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FirstOrderNonlinear {
    /// Number m of rows.
    pub rows: usize,
    /// h, m values.
    pub h: Operator,
    /// g, n values.
    pub g: Operator,
    /// C = ∂h/∂X, m × n.
    pub c: Operator,
    /// D = ∂h/∂λ, m × m.
    pub d: Operator,
    /// K = ∂g/∂X, n × n.
    pub k: Operator,
    /// B = ∂g/∂λ, n × m.
    pub b: Operator,
}

impl FirstOrderNonlinear {
    /// With Jacobians by finite differences.
    pub fn new(rows: usize, h: impl Into<Operator>, g: impl Into<Operator>) -> Self {
        Self { rows, h: h.into(), g: g.into(), ..Self::default() }
    }
}

/// `y = H Q + F Z + D λ + e`, `P = Hᵀ λ` (Siconos: `LagrangianLinearTIR`, `LagrangianCompliantLinearTIR`).
///
/// For a Newton–Euler system H multiplies its seven coordinates in y; its rows on the twist follow by the chain rule.
///
/// ```
/// use drystone::model::relation::LagrangianLinear;
/// let pair = LagrangianLinear::new([-1.0, 1.0], [-0.2]);
/// assert!(pair.d.is_zero());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LagrangianLinear {
    /// H, m × number of coordinates of both systems, row by row.
    pub h: Vec<f64>,
    /// e, m values; its length is the number of rows.
    pub e: Vec<f64>,
    /// D, m × m: y per force (m/N); under a law on the rate, rate per impulse.
    pub d: Operator,
    /// F, m × number of Z.
    pub f: Operator,
}

impl LagrangianLinear {
    /// `y = H Q + e`.
    pub fn new(h: impl Into<Vec<f64>>, e: impl Into<Vec<f64>>) -> Self {
        Self { h: h.into(), e: e.into(), ..Self::default() }
    }

    /// With compliance D.
    #[must_use]
    pub fn with_d(self, d: impl Into<Operator>) -> Self {
        Self { d: d.into(), ..self }
    }
}

/// `y = h(Q, t, λ, Z)`, `ẏ = G V + ∂h/∂t`, `P = Gᵀ λ`
/// (Siconos: `LagrangianScleronomousR`, `LagrangianRheonomousR`, `LagrangianCompliantR`, `NewtonEulerR`).
///
/// G is the Jacobian of y with respect to the velocities V: ∂h/∂Q for Lagrangian systems, rows on the twist for
/// Newton–Euler systems. Where it is `Zero` it is taken by finite differences.
///
/// ```
/// use drystone::model::{operator::Operator, relation::LagrangianNonlinear};
/// let slope = LagrangianNonlinear::new(1, Operator::function(|at, y| y[0] = at.q[0] + 0.1 * at.q[1]));
/// let rising = slope.with_rate(Operator::function(|_, rate| rate[0] = -0.5));
/// assert_eq!(rising.rows, 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LagrangianNonlinear {
    /// Number m of rows.
    pub rows: usize,
    /// h, m values.
    pub h: Operator,
    /// G, m × number of velocities.
    pub g: Operator,
    /// ∂h/∂t, m values; `Zero` for scleronomous relations.
    pub h_t: Operator,
    /// ∂h/∂λ, m × m, of compliant relations.
    pub d: Operator,
}

impl LagrangianNonlinear {
    /// `y = h(Q)` (scleronomous) with G by finite differences.
    pub fn new(rows: usize, h: impl Into<Operator>) -> Self {
        Self { rows, h: h.into(), ..Self::default() }
    }

    /// With G.
    #[must_use]
    pub fn with_jacobian(self, g: impl Into<Operator>) -> Self {
        Self { g: g.into(), ..self }
    }

    /// With ∂h/∂t (rheonomous).
    #[must_use]
    pub fn with_rate(self, h_t: impl Into<Operator>) -> Self {
        Self { h_t: h_t.into(), ..self }
    }

    /// With ∂h/∂λ (compliant).
    #[must_use]
    pub fn with_compliance(self, d: impl Into<Operator>) -> Self {
        Self { d: d.into(), ..self }
    }
}

impl Relation {
    /// Number of rows of y and λ.
    pub fn rows(&self) -> usize {
        match self {
            Self::FirstOrderLinear(r) => r.rows,
            Self::FirstOrderNonlinear(r) => r.rows,
            Self::LagrangianLinear(r) => r.e.len(),
            Self::LagrangianNonlinear(r) => r.rows,
            Self::Joint(r) => r.kind.rows(),
            Self::Coordinate(_) | Self::Transmission(_) => 1,
        }
    }

    /// True where it holds Lagrangian or Newton–Euler systems.
    pub fn is_second_order(&self) -> bool {
        !matches!(self, Self::FirstOrderLinear(_) | Self::FirstOrderNonlinear(_))
    }

    /// Checks sizes; `coordinates` and `velocities` are those of both systems (equal but for Newton–Euler), `z` the number of Z.
    pub fn validate(&self, coordinates: usize, velocities: usize, z: usize) -> Result<(), String> {
        let (m, n) = (self.rows(), velocities);
        if m == 0 {
            return Err("the relation has no rows; at least one is needed".into());
        }
        match self {
            Self::FirstOrderLinear(r) => {
                r.c.validate("C", m, n)?;
                r.b.validate("B", n, m)?;
                r.d.validate("D", m, m)?;
                r.e.validate("e", m, 1)?;
                r.f.validate("F", m, z)
            }
            Self::FirstOrderNonlinear(r) => {
                r.h.validate("h", m, 1)?;
                r.g.validate("g", n, 1)?;
                r.c.validate("∂h/∂X", m, n)?;
                r.d.validate("∂h/∂λ", m, m)?;
                r.k.validate("∂g/∂X", n, n)?;
                r.b.validate("∂g/∂λ", n, m)
            }
            Self::LagrangianLinear(r) => {
                Operator::from(r.h.as_slice()).validate("H", m, coordinates)?;
                Operator::from(r.e.as_slice()).validate("e", m, 1)?;
                r.d.validate("D", m, m)?;
                r.f.validate("F", m, z)
            }
            Self::LagrangianNonlinear(r) => {
                r.h.validate("h", m, 1)?;
                r.g.validate("G", m, n)?;
                r.h_t.validate("∂h/∂t", m, 1)?;
                r.d.validate("∂h/∂λ", m, m)
            }
            Self::Joint(_) | Self::Coordinate(_) | Self::Transmission(_) if 6 * coordinates != 7 * velocities => {
                Err(format!("a joint is between rigid bodies, but its systems have {coordinates} coordinates; each body has seven"))
            }
            Self::Joint(r) => check_frames(&r.frames),
            Self::Coordinate(r) if !(r.offset.is_finite() && r.speed.is_finite() && r.sign.abs() == 1.0) => Err(format!(
                "a coordinate has sign {}, offset {} and speed {}; ±1 and finite numbers are needed",
                r.sign, r.offset, r.speed
            )),
            Self::Coordinate(r) => check_frames(&r.frames),
            Self::Transmission(r) if !(r.ratio.is_finite() && z == 2) => {
                Err(format!("a transmission has ratio {} and {z} parameters; a finite ratio and 2, its coordinates, are needed", r.ratio))
            }
            Self::Transmission(r) => r.parts.iter().try_for_each(|(_, q)| check_frames(&q.frames)),
        }
    }

    /// Rows on the twists `(v world, ω body)` of bodies with coordinates `(x, quaternion, scalar first)`: of a joint or its coordinate, for
    /// one body against the world or for two. False for other relations.
    #[doc(hidden)]
    pub fn rows_of_bodies(&self, q: &[f64], g: &mut [f64]) -> bool {
        let bodies = poses(q);
        let mut rows = [TwistRow::default(); MAX_JOINT_ROWS];
        match self {
            Self::Joint(r) => r.rows(&bodies, &mut rows),
            Self::Coordinate(r) => rows[0] = r.row(&bodies),
            Self::Transmission(r) => {
                for (([linear, angular], out), body) in r.row(&bodies).into_iter().zip(g.chunks_exact_mut(6)).zip(&bodies) {
                    out[..3].copy_from_slice(&linear.to_array());
                    out[3..].copy_from_slice(&(body.rotation.conjugate() * angular).to_array());
                }
                return true;
            }
            _ => return false,
        }
        for (row, out) in rows.iter().zip(g.chunks_exact_mut(6 * q.len() / 7)) {
            for ((k, out), body) in out.chunks_exact_mut(6).enumerate().zip(&bodies) {
                let sign = if k == 0 { 1.0 } else { -1.0 };
                out[..3].copy_from_slice(&(sign * row.linear).to_array());
                out[3..].copy_from_slice(&(body.rotation.conjugate() * row.angular[k]).to_array());
            }
        }
        true
    }

    /// Takes note of the coordinates of a transmission, next to those that were.
    pub(crate) fn remember(&self, q: &[f64], z: &mut [f64]) {
        if let Self::Transmission(r) = self {
            z.copy_from_slice(&r.values(&poses(q), z));
        }
    }

    /// The output of a joint or its coordinate, whose whole turns are counted from 0 at the offset, or of a transmission.
    #[doc(hidden)]
    pub fn output_of_bodies(&self, q: &[f64], z: &[f64], y: &mut [f64]) -> bool {
        match self {
            Self::Joint(r) => r.gap(&poses(q), y),
            Self::Coordinate(r) => y[0] = r.output(&poses(q), 0.0),
            Self::Transmission(r) => y[0] = r.output(&poses(q), z),
            _ => return false,
        }
        true
    }
}

/// Poses of one or two bodies; the world where there is no second one.
fn poses(q: &[f64]) -> [Pose; 2] {
    let pose = |q: &[f64]| Pose::new(DVec3::from_slice(q), DQuat::from_xyzw(q[4], q[5], q[6], q[3]));
    [pose(q), q.get(7..14).map_or(Pose::default(), pose)]
}

fn check_frames(frames: &[Pose; 2]) -> Result<(), String> {
    match frames.iter().find(|f| !f.is_finite() || (f.rotation.length() - 1.0).abs() > 1e-9) {
        Some(bad) => Err(format!("a frame of the joint is {bad:?}; finite numbers and a unit quaternion are needed")),
        None => Ok(()),
    }
}

impl From<FirstOrderLinear> for Relation {
    fn from(r: FirstOrderLinear) -> Self {
        Self::FirstOrderLinear(r)
    }
}

impl From<FirstOrderNonlinear> for Relation {
    fn from(r: FirstOrderNonlinear) -> Self {
        Self::FirstOrderNonlinear(r)
    }
}

impl From<LagrangianLinear> for Relation {
    fn from(r: LagrangianLinear) -> Self {
        Self::LagrangianLinear(r)
    }
}

impl From<LagrangianNonlinear> for Relation {
    fn from(r: LagrangianNonlinear) -> Self {
        Self::LagrangianNonlinear(r)
    }
}

impl From<Joint> for Relation {
    fn from(r: Joint) -> Self {
        Self::Joint(r)
    }
}

impl From<Transmission> for Relation {
    fn from(r: Transmission) -> Self {
        Self::Transmission(r)
    }
}

impl From<Coordinate> for Relation {
    fn from(r: Coordinate) -> Self {
        Self::Coordinate(r)
    }
}
