//! A body of a scene, its shape and its motion, as plain data.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::loads::interpolate;
use super::servo::Servo;
use crate::algebra::spatial::Pose;

/// One rigid body.
///
/// ```
/// use drystone::io::scene::model::{BodySpec, ShapeSpec};
/// let crate_ = BodySpec::new("crate", ShapeSpec::Cuboid { half_extents: glam::DVec3::splat(0.5) });
/// assert_eq!(crate_.birth, 0.0);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodySpec {
    /// Unique in the scene.
    pub name: String,
    /// Geometry in the shape frame.
    pub shape: ShapeSpec,
    /// Index into [`Scene::materials`](super::model::Scene::materials).
    pub material: usize,
    /// Shape frame in the world. The centre of mass may lie elsewhere (hulls, meshes, `centre_of_mass`).
    pub pose: Pose,
    /// Velocity of the centre of mass (m/s, world) at birth.
    pub linear_velocity: DVec3,
    /// Angular velocity (rad/s) in the shape frame, which turns with the body, at birth.
    pub angular_velocity: DVec3,
    /// Who decides how it moves.
    pub motion: Motion,
    /// Mass (kg); `None`: density of the material × volume of the shape.
    pub mass: Option<f64>,
    /// Moments of inertia (kg m²) about the centre of mass and along the axes of the shape frame, which are then
    /// the principal axes; `None`: from shape and mass.
    pub inertia: Option<DVec3>,
    /// Centre of mass (m) in the shape frame; `None`: from the shape.
    pub centre_of_mass: Option<DVec3>,
    /// World axes along which the centre of mass may not move.
    pub locked_translation: [bool; 3],
    /// World axes about which the body may not turn.
    pub locked_rotation: [bool; 3],
    /// What presses it along an axis until the reactions hold it.
    pub servo: Option<Servo>,
    /// Constant force (N, world) at the centre of mass.
    pub force: DVec3,
    /// Constant torque (N m, world).
    pub torque: DVec3,
    /// Blows, in order of time.
    pub impulses: Vec<Impulse>,
    /// When the body appears (s).
    pub birth: f64,
    /// When it disappears (s).
    pub death: Option<f64>,
}

/// What the crate calls it where it is about scenes alone.
pub(crate) type Body = BodySpec;

impl BodySpec {
    /// A dynamic body at rest at the origin, of material 0.
    pub fn new(name: impl Into<String>, shape: ShapeSpec) -> Self {
        Self {
            name: name.into(),
            shape,
            material: 0,
            pose: Pose::IDENTITY,
            linear_velocity: DVec3::ZERO,
            angular_velocity: DVec3::ZERO,
            motion: Motion::Dynamic,
            mass: None,
            inertia: None,
            centre_of_mass: None,
            locked_translation: [false; 3],
            locked_rotation: [false; 3],
            servo: None,
            force: DVec3::ZERO,
            torque: DVec3::ZERO,
            impulses: Vec::new(),
            birth: 0.0,
            death: None,
        }
    }

    /// The same body with its shape frame at `position` (m).
    #[must_use]
    pub fn at(mut self, position: DVec3) -> Self {
        self.pose.position = position;
        self
    }

    /// The same body, static.
    #[must_use]
    pub fn fixed(mut self) -> Self {
        self.motion = Motion::Static;
        self
    }
}

/// A sudden impulse on one body.
///
/// ```
/// let kick = drystone::io::scene::model::Impulse { time: 0.3, linear: glam::DVec3::X, angular: glam::DVec3::ZERO };
/// assert_eq!(kick.linear.x, 1.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Impulse {
    /// Given during the step that contains this time (s); 0 means the first step.
    pub time: f64,
    /// At the centre of mass (N s, world).
    pub linear: DVec3,
    /// Angular impulse (N m s, world).
    pub angular: DVec3,
}

/// Geometry as a file states it; lengths in metres.
///
/// ```
/// use drystone::io::scene::model::ShapeSpec;
/// assert_eq!(ShapeSpec::Ball { radius: 1.0 }.kind(), "ball");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ShapeSpec {
    /// Sphere about the origin.
    Ball {
        /// Radius (m).
        radius: f64,
    },
    /// Box about the origin, edges along the axes.
    Cuboid {
        /// Half edge lengths (m).
        half_extents: DVec3,
    },
    /// All points with `normal · x ≤ 0`; static bodies only.
    HalfSpace {
        /// Outward unit normal.
        normal: DVec3,
    },
    /// Points within `radius` of the segment from −half_height to half_height on the z axis.
    Capsule {
        /// Half length of the segment (m).
        half_height: f64,
        /// Radius (m).
        radius: f64,
    },
    /// Right circular cylinder about the z axis.
    Cylinder {
        /// Half height (m).
        half_height: f64,
        /// Radius (m).
        radius: f64,
    },
    /// Convex hull of points.
    Hull {
        /// At least four points that do not lie in a plane (m).
        points: Vec<DVec3>,
    },
    /// Triangles, counter-clockwise from outside.
    Mesh {
        /// Vertices (m).
        vertices: Vec<DVec3>,
        /// Indices into `vertices`.
        triangles: Vec<[u32; 3]>,
    },
    /// Heights over a rectangle that is centred on the origin of the shape frame; static bodies only.
    HeightField {
        /// Extents along x and y (m).
        size: [f64; 2],
        /// Number of samples along x and along y, at least 2 each.
        samples: [usize; 2],
        /// Height (m) of sample (i, j) at `heights[j * samples[0] + i]`, i along x and j along y.
        heights: Vec<f64>,
    },
    /// A round vessel about the z axis, see [`crate::geometry::vessel`]; static or driven bodies only.
    Vessel {
        /// Inner profile (radius, height; m), from the bottom to the top.
        profile: Vec<[f64; 2]>,
        /// Of the wall (m).
        thickness: f64,
    },
    /// Several shapes that move as one.
    Compound {
        /// Each part and its pose in the shape frame.
        parts: Vec<(Pose, ShapeSpec)>,
    },
}

impl ShapeSpec {
    /// The word that scene files use for this shape.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Ball { .. } => "ball",
            Self::Cuboid { .. } => "cuboid",
            Self::HalfSpace { .. } => "half_space",
            Self::Capsule { .. } => "capsule",
            Self::Cylinder { .. } => "cylinder",
            Self::Hull { .. } => "hull",
            Self::Mesh { .. } => "mesh",
            Self::HeightField { .. } => "height_field",
            Self::Vessel { .. } => "vessel",
            Self::Compound { .. } => "compound",
        }
    }
}

/// Who decides how a body moves.
///
/// ```
/// use drystone::io::scene::model::Motion;
/// assert_ne!(Motion::Dynamic, Motion::Static);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Motion {
    /// Forces do.
    Dynamic,
    /// Nobody: it stays.
    Static,
    /// A given velocity does.
    Kinematic(Drive),
}

/// Prescribed velocity of a kinematic body: linear of its centre (m/s, world), angular (rad/s, shape frame).
///
/// ```
/// use drystone::io::scene::model::Drive;
/// use glam::DVec3;
/// let shaker = Drive::Sinusoid { linear: DVec3::X, angular: DVec3::ZERO, frequency: 0.25, phase: 0.0 };
/// assert!((shaker.velocity(1.0).0 - DVec3::X).length() < 1e-15);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Drive {
    /// The same velocity all the time.
    Constant {
        /// Linear velocity (m/s).
        linear: DVec3,
        /// Angular velocity (rad/s).
        angular: DVec3,
    },
    /// `amplitude × sin(2π frequency t + phase)`.
    Sinusoid {
        /// Amplitude of the linear velocity (m/s).
        linear: DVec3,
        /// Amplitude of the angular velocity (rad/s).
        angular: DVec3,
        /// Frequency (Hz).
        frequency: f64,
        /// Phase (rad).
        phase: f64,
    },
    /// Straight lines between samples, constant before the first and after the last.
    Table {
        /// Times (s) that do not fall; two that are the same are a jump. Never empty.
        times: Vec<f64>,
        /// Linear velocity at each time (m/s).
        linear: Vec<DVec3>,
        /// Angular velocity at each time (rad/s).
        angular: Vec<DVec3>,
    },
}

impl Drive {
    /// The same motion with all velocities times `factor`.
    pub fn scale(&mut self, factor: f64) {
        let velocities: [&mut [DVec3]; 2] = match self {
            Self::Constant { linear, angular } | Self::Sinusoid { linear, angular, .. } => {
                [std::slice::from_mut(linear), std::slice::from_mut(angular)]
            }
            Self::Table { linear, angular, .. } => [linear, angular],
        };
        velocities.into_iter().flatten().for_each(|v| *v *= factor);
    }

    /// Linear and angular velocity at time `t` (s).
    pub fn velocity(&self, t: f64) -> (DVec3, DVec3) {
        match self {
            Self::Constant { linear, angular } => (*linear, *angular),
            Self::Sinusoid { linear, angular, frequency, phase } => {
                let s = libm::sin(std::f64::consts::TAU * frequency * t + phase);
                (*linear * s, *angular * s)
            }
            Self::Table { times, linear, angular } => (interpolate(times, linear, t), interpolate(times, angular, t)),
        }
    }
}
