//! How a body comes into being: shape and density to the components of an entity.

use crate::algebra::spatial::Pose;
use crate::geometry::systems::Collider;
use crate::geometry::{Shape, ShapeError};
use crate::model::newton_euler::{AppliedForce, BodyName, BodyPose, Drive, Inertia, Locks, Motion, Velocity};
use glam::{DQuat, DVec3};

/// Why a body cannot be made.
///
/// ```
/// use drystone::simulation::Body;
/// use drystone::geometry::Shape;
/// let error = Body::new(Shape::ball(1.0)?).density(-1.0).validate().unwrap_err();
/// assert!(error.to_string().contains("density"));
/// # Ok::<(), drystone::geometry::ShapeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// The shape has no mass of its own, or cannot move.
    #[error("{}: {source}", called(name))]
    Shape {
        /// Name of the body.
        name: String,
        /// What the shape says.
        source: ShapeError,
    },
    /// A number that will not do.
    #[error("{}: {reason}", called(name))]
    Number {
        /// Name of the body.
        name: String,
        /// What was found and what would do.
        reason: String,
    },
}

/// How errors call a body.
fn called(name: &str) -> String {
    if name.is_empty() { "a body without a name".into() } else { format!("body {name:?}") }
}

/// A rigid body in the making; give it to [`Simulation::spawn_body`](crate::simulation::Simulation::spawn_body).
///
/// The pose is that of the *shape* frame; centre of mass and principal axes follow from the shape.
///
/// ```
/// use drystone::{geometry::Shape, simulation::{Body, Simulation}};
/// use glam::DVec3;
/// let mut sim = Simulation::default();
/// let floor = sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
/// let stone = sim.spawn_body(Body::new(Shape::cuboid(DVec3::splat(0.1))?).density(2400.0).at(DVec3::Z))?;
/// assert_ne!(floor, stone);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Body {
    /// Shape; none for a body that nothing can touch.
    pub shape: Option<Shape>,
    /// Name for reports.
    pub name: String,
    /// kg/m³, used where `mass` is `None`.
    pub density: f64,
    /// Mass (kg) instead of density × volume.
    pub mass: Option<f64>,
    /// Principal moments (kg m²) along the axes of the shape frame, instead of the shape's.
    pub inertia: Option<DVec3>,
    /// Centre of mass in the shape frame (m), instead of the shape's.
    pub centre: Option<DVec3>,
    /// Shape frame in the world.
    pub pose: Pose,
    /// Velocity of the centre of mass (m/s, world).
    pub linear: DVec3,
    /// Angular velocity (rad/s, shape frame).
    pub angular: DVec3,
    /// Who moves it.
    pub motion: Motion,
    /// Locked axes.
    pub locks: Locks,
    /// Constant force and torque.
    pub load: AppliedForce,
    /// Material of the contact table.
    pub material: u32,
}

impl Body {
    /// A dynamic body of 1000 kg/m³ at the origin.
    pub fn new(shape: Shape) -> Self {
        Self { shape: Some(shape), ..Self::point(1.0, DVec3::ONE) }.without_given_mass()
    }

    /// A body without shape: mass (kg) and principal moments (kg m²) alone.
    pub fn point(mass: f64, inertia: DVec3) -> Self {
        Self {
            shape: None,
            name: String::new(),
            density: 1000.0,
            mass: Some(mass),
            inertia: Some(inertia),
            centre: None,
            pose: Pose::IDENTITY,
            linear: DVec3::ZERO,
            angular: DVec3::ZERO,
            motion: Motion::Dynamic,
            locks: Locks::default(),
            load: AppliedForce::default(),
            material: 0,
        }
    }

    fn without_given_mass(self) -> Self {
        Self { mass: None, inertia: None, ..self }
    }

    /// Names the body.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Sets the density (kg/m³).
    #[must_use]
    pub fn density(self, density: f64) -> Self {
        Self { density, ..self }
    }

    /// Sets the mass (kg); moments of inertia scale with it.
    #[must_use]
    pub fn mass(self, mass: f64) -> Self {
        Self { mass: Some(mass), ..self }
    }

    /// Sets the position of the shape frame (m).
    #[must_use]
    pub fn at(self, position: DVec3) -> Self {
        Self { pose: Pose { position, ..self.pose }, ..self }
    }

    /// Turns the shape frame.
    #[must_use]
    pub fn turned(self, rotation: DQuat) -> Self {
        Self { pose: Pose { rotation: rotation.normalize(), ..self.pose }, ..self }
    }

    /// Sets the velocity of the centre of mass (m/s, world).
    #[must_use]
    pub fn moving(self, linear: DVec3) -> Self {
        Self { linear, ..self }
    }

    /// Sets the angular velocity (rad/s, shape frame).
    #[must_use]
    pub fn spinning(self, angular: DVec3) -> Self {
        Self { angular, ..self }
    }

    /// Makes the body static.
    #[must_use]
    pub fn fixed(self) -> Self {
        Self { motion: Motion::Static, ..self }
    }

    /// Makes the body move at a given velocity.
    #[must_use]
    pub fn driven(self, drive: Drive) -> Self {
        Self { motion: Motion::Kinematic(drive), ..self }
    }

    /// Locks world axes.
    #[must_use]
    pub fn locked(self, locks: Locks) -> Self {
        Self { locks, ..self }
    }

    /// Sets the material.
    #[must_use]
    pub fn material(self, material: u32) -> Self {
        Self { material, ..self }
    }

    /// Checks that a simulation can take the body.
    pub fn validate(&self) -> Result<(), BodyError> {
        self.components().map(drop)
    }

    /// Where its centre of mass is (m); `pose` says where the origin of its shape is.
    ///
    /// ```
    /// use drystone::{algebra::spatial::Pose, geometry::Shape, simulation::Body};
    /// # use glam::DVec3;
    /// let ball = Shape::ball(0.1)?;
    /// let body = Body::new(Shape::compound(vec![(Pose::at(DVec3::X), ball)])?).at(DVec3::Z);
    /// assert!((body.centre_of_mass()? - DVec3::new(1.0, 0.0, 1.0)).length() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A dynamic body whose shape has no mass.
    pub fn centre_of_mass(&self) -> Result<DVec3, BodyError> {
        let frame = if matches!(self.motion, Motion::Dynamic) { self.inertia()?.1 } else { Pose::IDENTITY };
        Ok(self.pose.compose(&frame).position)
    }

    fn number(&self, reason: impl Into<String>) -> BodyError {
        BodyError::Number { name: self.name.clone(), reason: reason.into() }
    }

    /// Inertia and the body frame (centre of mass, principal axes) in the shape frame.
    fn inertia(&self) -> Result<(Inertia, Pose), BodyError> {
        if let (Some(mass), Some(principal)) = (self.mass, self.inertia) {
            let centre = match (self.centre, &self.shape) {
                (Some(centre), _) => centre,
                (None, Some(shape)) => shape.mass_properties(1.0).map_or(DVec3::ZERO, |p| p.centre),
                (None, None) => DVec3::ZERO,
            };
            return Ok((Inertia { mass, principal }, Pose::at(centre)));
        }
        let Some(shape) = &self.shape else {
            return Err(self.number("a body without shape needs both mass and inertia"));
        };
        if !(self.density > 0.0 && self.density.is_finite()) {
            return Err(self.number(format!("density is {} kg/m³; a positive number is needed", self.density)));
        }
        let p = shape.mass_properties(self.density).map_err(|source| BodyError::Shape { name: self.name.clone(), source })?;
        let scale = self.mass.map_or(1.0, |mass| mass / p.mass);
        let (principal, frame) = match self.inertia {
            Some(given) => (given, DQuat::IDENTITY),
            None => (p.inertia * scale, p.frame),
        };
        Ok((Inertia { mass: p.mass * scale, principal }, Pose::new(self.centre.unwrap_or(p.centre), frame)))
    }

    /// The components of the entity.
    #[expect(clippy::type_complexity, reason = "a bundle is a tuple of components")]
    pub(super) fn components(
        &self,
    ) -> Result<((BodyName, BodyPose, Velocity, Motion, Locks, AppliedForce), Option<Inertia>, Option<Collider>), BodyError> {
        let finite = self.pose.is_finite() && self.linear.is_finite() && self.angular.is_finite();
        if !finite || !self.load.force.is_finite() || !self.load.torque.is_finite() {
            return Err(self.number("pose, velocity and loads must be finite numbers"));
        }
        if (self.pose.rotation.length_squared() - 1.0).abs() > 1e-6 {
            return Err(self.number(format!("the rotation has length {}; a unit quaternion is needed", self.pose.rotation.length())));
        }
        if let Some(centre) = self.centre.filter(|centre| !centre.is_finite()) {
            return Err(self.number(format!("its centre of mass is {centre} m; three finite numbers are needed")));
        }
        if let Some(shape) = &self.shape {
            shape.validate().map_err(|source| BodyError::Shape { name: self.name.clone(), source })?;
        }
        let (inertia, frame) = match self.motion {
            Motion::Dynamic => {
                // an open mesh has no parts either
                let closed = self.shape.as_ref().map_or(Ok(()), Shape::closed);
                closed.map_err(|source| BodyError::Shape { name: self.name.clone(), source })?;
                if let Some(surface) = self.shape.as_ref().and_then(Shape::surface_part) {
                    return Err(self.number(surface.cannot_move()));
                }
                let (inertia, frame) = self.inertia()?;
                inertia.validate().map_err(|reason| self.number(reason))?;
                if let Some(given) = self.inertia.filter(|&given| !Inertia::exists(given)) {
                    let reason = format!(
                        "its principal moments are {given} kg m², which no rigid body has; none may be larger than the sum of the other two"
                    );
                    return Err(self.number(reason));
                }
                (Some(inertia), frame)
            }
            Motion::Static | Motion::Kinematic(_) => (None, Pose::IDENTITY),
        };
        let inverse = Pose { position: frame.rotation.conjugate() * -frame.position, rotation: frame.rotation.conjugate() };
        let collider = self.shape.clone().map(|shape| {
            let shaped = Collider { shape, offset: inverse, material: self.material };
            if frame == Pose::IDENTITY { Collider { offset: Pose::IDENTITY, ..shaped } } else { shaped }
        });
        let pose = if frame == Pose::IDENTITY { self.pose } else { self.pose.compose(&frame) };
        let velocity = match self.motion {
            Motion::Dynamic => Velocity { linear: self.linear, angular: frame.rotation.conjugate() * self.angular },
            _ => Velocity::default(),
        };
        Ok(((BodyName(self.name.clone()), BodyPose(pose), velocity, self.motion.clone(), self.locks, self.load), inertia, collider))
    }
}
