//! Forces and moments of the user on a body, and how much gravity acts on it.

use crate::model::operator::Operator;
use bevy_ecs::prelude::Component;

/// The axes in which a force or moment is given.
///
/// ```
/// assert_eq!(drystone::model::newton_euler::Frame::default(), drystone::model::newton_euler::Frame::Inertial);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Frame {
    /// Axes at rest.
    #[default]
    Inertial,
    /// Axes of the body: its principal ones.
    Body,
}

/// A force at the centre of mass, or a moment, as a function of time and state, with its tangents.
///
/// ```text
/// f(t, q, v, z)      three values (N or N m) in the axes of `frame`
/// ∂f/∂q, ∂f/∂v       3 × 7 and 3 × 6, row by row, in the same axes; differences where they are missing
/// ```
///
/// q holds seven values: position (inertial axes) and unit quaternion of the principal axes, scalar first, body to world. v holds six:
/// velocity (inertial axes) and angular velocity (body axes). That the frame turns with the body is no part of the tangents.
///
/// ```
/// use drystone::model::{newton_euler::{Frame, Wrench}, operator::Operator};
/// let spring = Wrench::new(Operator::function(|at, f| (0..3).for_each(|i| f[i] = -50.0 * at.q[i])), Frame::Inertial);
/// let mut rows = [0.0; 21];
/// (0..3).for_each(|i| rows[8 * i] = -50.0);
/// let spring = spring.with_tangents(rows, [0.0; 18]);
/// assert!(spring.validate("the force").is_ok() && !spring.is_steady());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wrench {
    /// f(t, q, v, z), three values.
    pub value: Operator,
    /// Axes of the value and of its tangents.
    pub frame: Frame,
    /// ∂f/∂q, 3 × 7.
    pub on_q: Operator,
    /// ∂f/∂v, 3 × 6.
    pub on_v: Operator,
}

impl Wrench {
    /// A force or moment; its tangents by differences.
    pub fn new(value: impl Into<Operator>, frame: Frame) -> Self {
        Self { value: value.into(), frame, ..Self::default() }
    }

    /// With ∂f/∂q and ∂f/∂v; [`Operator::Zero`] for one that is to be worked out by differences.
    #[must_use]
    pub fn with_tangents(self, on_q: impl Into<Operator>, on_v: impl Into<Operator>) -> Self {
        Self { on_q: on_q.into(), on_v: on_v.into(), ..self }
    }

    /// True where nothing is to be worked out anew within a step: it is a constant in axes at rest.
    pub fn is_steady(&self) -> bool {
        self.value.is_zero() || (self.value.is_constant() && self.frame == Frame::Inertial)
    }

    /// Checks the sizes of what is constant; `name` goes into the message.
    pub fn validate(&self, name: &str) -> Result<(), String> {
        self.value.validate(name, 3, 1)?;
        self.on_q.validate(&format!("∂/∂q of {name}"), 3, 7)?;
        self.on_v.validate(&format!("∂/∂v of {name}"), 3, 6)
    }
}

/// What a user lets act on a body, beside gravity and [`AppliedForce`](super::AppliedForce): evaluated within the passes of a step, so that
/// what depends on the state is implicit there, with the θ of the scheme, however stiff it is. With the θ = 1 of gap-aware scenes, what swings
/// by it at ω loses the part ω² h of its energy a second; the springs of joints and the forecast treatment with θ = ½ lose nothing.
///
/// ```
/// use drystone::prelude::*;
/// let mut sim = Simulation::default();
/// let ball = sim.spawn_body(Body::new(Shape::ball(0.1)?).mass(2.0).at(DVec3::X))?;
/// let spring = Operator::function(|at, f| (0..3).for_each(|i| f[i] = -1e7 * at.q[i]));
/// sim.world_mut().entity_mut(ball).insert(BodyForces::default().with_force(spring, Frame::Inertial));
/// sim.run_until(1.0)?;
/// let x = sim.world().get::<BodyPose>(ball).map(|pose| pose.0.position);
/// assert!(x.is_some_and(|x| x.length() < 1e-3), "θ = 1 has taken what so stiff a spring would shake with: {x:?}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Component, Clone, Debug, Default, PartialEq)]
pub struct BodyForces {
    /// Force at the centre of mass (N).
    pub force: Wrench,
    /// Moment (N m).
    pub moment: Wrench,
    /// Parameters and inputs z, for actions and controllers to write.
    pub z: Vec<f64>,
}

impl BodyForces {
    /// With a force in the given axes.
    #[must_use]
    pub fn with_force(self, force: impl Into<Operator>, frame: Frame) -> Self {
        Self { force: Wrench::new(force, frame), ..self }
    }

    /// With a moment in the given axes.
    #[must_use]
    pub fn with_moment(self, moment: impl Into<Operator>, frame: Frame) -> Self {
        Self { moment: Wrench::new(moment, frame), ..self }
    }

    /// With parameters z.
    #[must_use]
    pub fn with_parameters(self, z: impl Into<Vec<f64>>) -> Self {
        Self { z: z.into(), ..self }
    }

    /// True where nothing is to be worked out anew within a step.
    pub fn is_steady(&self) -> bool {
        self.force.is_steady() && self.moment.is_steady()
    }

    /// True where two differ in their parameters alone.
    pub fn same_functions(&self, other: &Self) -> bool {
        self.z.len() == other.z.len() && self.force == other.force && self.moment == other.moment
    }

    /// Checks sizes and that constants are finite.
    pub fn validate(&self) -> Result<(), String> {
        self.force.validate("the force")?;
        self.moment.validate("the moment")?;
        Operator::from(self.z.as_slice()).validate("z", self.z.len(), 1)
    }
}

/// Part of the scene's gravity that acts on a body; where the component is missing, all of it does.
///
/// ```
/// use drystone::prelude::*;
/// let mut sim = Simulation::default();
/// let balloon = sim.spawn_body(Body::point(1.0, DVec3::ONE))?;
/// sim.world_mut().entity_mut(balloon).insert(GravityScale(-0.1));
/// sim.run_until(1.0)?;
/// assert!(sim.world().get::<Velocity>(balloon).is_some_and(|v| (v.linear.z - 0.981).abs() < 1e-9));
/// # Ok::<(), drystone::simulation::SimulationError>(())
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct GravityScale(pub f64);

impl Default for GravityScale {
    fn default() -> Self {
        Self(1.0)
    }
}
