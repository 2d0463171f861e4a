//! A scene as plain data: SI units, z up, every generator expanded into a list of bodies.
//!
//! Nothing here is simulated. The reader ([`super`]) writes these types, the simulation builder reads them.
//! Bodies and materials are named in files and numbered here: an index is a position in [`Scene::bodies`]
//! or [`Scene::materials`], and the reader guarantees that it exists.
//!
//! ```
//! use drystone::io::scene::model::{BodySpec, Motion, Scene, ShapeSpec};
//! use glam::DVec3;
//! let mut scene = Scene::new("one ball");
//! scene.bodies.push(BodySpec::new("floor", ShapeSpec::HalfSpace { normal: DVec3::Z }).fixed());
//! scene.bodies.push(BodySpec::new("ball", ShapeSpec::Ball { radius: 0.1 }).at(DVec3::Z));
//! assert_eq!(scene.dynamic_bodies().count(), 1);
//! assert_eq!(scene.bodies[0].motion, Motion::Static);
//! assert_eq!(scene.gravity_at(0.0), DVec3::new(0.0, 0.0, -9.81));
//! ```

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::applied::AppliedLoad;
use super::camera::Camera;
pub use super::gates::{FieldFile, ForceBins, GridField, Inlet, Measure, Outlet, PairDistances, PileTable, Rose, Segregation, Surface};
use super::loads::{BaseMotion, WaterPressure, interpolate};
pub use super::output::OutputSettings;
pub use super::servo::Servo;
use super::stop::StopRules;
pub use super::study::{DamStudy, InclineStudy, Study};
use crate::algebra::spatial::Pose;
use crate::model::bond::Cohesion;
use crate::model::crushing::Crushing;
use crate::model::joint::{Freedom, JointKind, JointSpec, TieSpec, TransmissionSpec};
use crate::model::law::{Arm, Impact};
use crate::model::periodic::Cell;
pub use crate::model::scheme::{Drift, Friction, Gyroscopic, Treatment};
use crate::model::signal::{BodyQuantity, FlowQuantity, JointQuantity, SurfaceQuantity, TotalQuantity};
use crate::simulation::AutoStep;

/// Everything that a run needs to know; see the [module](self) for an example.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scene {
    /// Short name, used for files and reports.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// Time step, duration and scheme.
    pub time: TimeStepping,
    /// When the contact solver may stop.
    pub solver: SolverSettings,
    /// Periodic cell; open along all axes by default.
    pub periodic: Cell,
    /// Whether bodies of a sheared cell begin with the velocity of the uniform shear at their place beside their own.
    #[serde(default)]
    pub flows: bool,
    /// Gravity from each instant on, in order of time; the first instant is 0.
    pub gravity: Vec<GravityFrom>,
    /// Never empty: material 0 is the one of bodies that name none.
    pub materials: Vec<Material>,
    /// Law of every pair of materials without an entry in `pair_laws`.
    pub default_law: ContactLaw,
    /// Laws of single pairs of materials; a pair appears once, in either order.
    pub pair_laws: Vec<PairLaw>,
    /// Bodies in slot order; names are unique.
    pub bodies: Vec<Body>,
    /// Joints.
    pub joints: Vec<Joint>,
    /// Gears, racks and screws.
    pub transmissions: Vec<Transmission>,
    /// Forces on bodies.
    pub loads: Vec<AppliedLoad>,
    /// Still water against bodies.
    pub water: Vec<WaterPressure>,
    /// Acceleration of the ground.
    pub base: Option<BaseMotion>,
    /// Relations of other kinds between bodies.
    pub ties: Vec<Tie>,
    /// Where bodies leave.
    pub outlets: Vec<Outlet>,
    /// Where grains come in.
    pub inlets: Vec<Inlet>,
    /// Where what passes is counted.
    pub surfaces: Vec<Surface>,
    /// How pictures look at it.
    pub camera: Camera,
    /// What files hold.
    pub output: OutputSettings,
    /// What to write, and how often.
    pub recorders: Vec<Recorder>,
    /// Tables of signals.
    pub records: Vec<Record>,
    /// Tables of measures of grains.
    pub measures: Vec<Measure>,
    /// Tables of the shapes of heaps.
    pub piles: Vec<PileTable>,
    /// Coarse-grained fields of grains.
    pub fields: Vec<GridField>,
    /// What ends a run before its time.
    pub stop: Option<StopRules>,
    /// Extra figures that this kind of scene reports.
    pub study: Study,
    /// What the reader noticed in files of the scene; `check` tells it.
    pub notes: Vec<Note>,
}

/// Something about a file that is no error.
///
/// ```
/// let note = drystone::io::scene::model::Note { about: "wall.obj".into(), message: "it is turned over".into(), cure: "unify normals".into() };
/// assert_eq!(note.about, "wall.obj");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Which file or body.
    pub about: String,
    /// What was found.
    pub message: String,
    /// What would do.
    pub cure: String,
}

impl Scene {
    /// An empty scene with gravity 9.81 m/s² downwards and default settings.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            title: String::new(),
            time: TimeStepping::default(),
            solver: SolverSettings::default(),
            periodic: Cell::default(),
            flows: false,
            gravity: vec![GravityFrom { time: 0.0, acceleration: DVec3::new(0.0, 0.0, -9.81) }],
            materials: vec![Material::default()],
            default_law: ContactLaw::default(),
            pair_laws: Vec::new(),
            bodies: Vec::new(),
            joints: Vec::new(),
            transmissions: Vec::new(),
            ties: Vec::new(),
            loads: Vec::new(),
            water: Vec::new(),
            base: None,
            outlets: Vec::new(),
            inlets: Vec::new(),
            surfaces: Vec::new(),
            camera: Camera::default(),
            output: OutputSettings::default(),
            recorders: Vec::new(),
            records: Vec::new(),
            measures: Vec::new(),
            piles: Vec::new(),
            fields: Vec::new(),
            stop: None,
            study: Study::None,
            notes: Vec::new(),
        }
    }

    /// Gravity (m/s²) at time `t` (s): the last entry that has begun.
    pub fn gravity_at(&self, t: f64) -> DVec3 {
        gravity_at(&self.gravity, t)
    }

    /// The law between materials `a` and `b`.
    pub fn law(&self, a: usize, b: usize) -> ContactLaw {
        let same = |p: &&PairLaw| p.materials == [a, b] || p.materials == [b, a];
        self.pair_laws.iter().find(same).map_or(self.default_law, |p| p.law)
    }

    /// The axis (0, 1, 2) across the plane in which all grains are discs: balls that this axis alone is locked of, with their centres in one plane.
    ///
    /// ```
    /// use drystone::io::scene::Scene;
    /// let text = "time = { step = 1e-3, end = 1 }\n[[bodies]]\nshape = { kind = \"ball\", radius = 1 }\nlocked_translation = [\"y\"]";
    /// assert_eq!(Scene::from_toml(text, "disc")?.discs(), Some(1));
    /// # Ok::<(), drystone::io::scene::SceneError>(())
    /// ```
    pub fn discs(&self) -> Option<usize> {
        let grains = || self.dynamic_bodies().map(|(_, body)| body).filter(|body| body.servo.is_none());
        let first = grains().next().filter(|_| self.inlets.is_empty())?;
        let across = (0..3).find(|&a| first.locked_translation[a])?;
        let only: [bool; 3] = std::array::from_fn(|a| a == across);
        let disc = |body: &Body| match body.shape {
            ShapeSpec::Ball { radius } => {
                body.locked_translation == only && (body.pose.position[across] - first.pose.position[across]).abs() <= 1e-9 * radius
            }
            _ => false,
        };
        grains().all(disc).then_some(across)
    }

    /// Whether anything binds faces that touch at the start.
    pub fn bonds(&self) -> bool {
        self.default_law.bond.is_some() || self.pair_laws.iter().any(|pair| pair.law.bond.is_some())
    }

    /// Whether any joint crushes.
    pub fn crushes(&self) -> bool {
        self.default_law.crushing.is_some() || self.pair_laws.iter().any(|pair| pair.law.crushing.is_some())
    }

    /// The body of this number: those of the scene first, then the grains of each inlet, in their order and without a place.
    pub fn numbered_body(&self, number: usize) -> Option<BodySpec> {
        let mut behind = match self.bodies.get(number) {
            Some(body) => return Some(body.clone()),
            None => number - self.bodies.len(),
        };
        for inlet in &self.inlets {
            if behind < inlet.count {
                let radius = *inlet.sizes.radii(behind + 1, inlet.seed).last()?;
                return Some(inlet.grain(behind, radius));
            }
            behind -= inlet.count;
        }
        None
    }

    /// Index of the body called `name`.
    pub fn body(&self, name: &str) -> Option<usize> {
        self.bodies.iter().position(|b| b.name == name)
    }

    /// Bodies that move under forces, with their indices.
    pub fn dynamic_bodies(&self) -> impl Iterator<Item = (usize, &Body)> {
        self.bodies.iter().enumerate().filter(|(_, b)| b.motion == Motion::Dynamic)
    }
}

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
    /// Index into [`Scene::materials`].
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

/// What a body is made of.
///
/// ```
/// assert_eq!(drystone::io::scene::model::Material::default().density, 1000.0);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Material {
    /// Unique in the scene.
    pub name: String,
    /// Density (kg/m³).
    pub density: f64,
}

impl Default for Material {
    fn default() -> Self {
        Self { name: "default".to_owned(), density: 1000.0 }
    }
}

/// Coulomb friction with restitution, see [`crate::model::law::CoulombImpact`].
///
/// ```
/// assert_eq!(drystone::io::scene::model::ContactLaw::default().mu, 0.5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContactLaw {
    /// Coefficient of friction, ≥ 0.
    pub mu: f64,
    /// Normal restitution, 0 to 1.
    pub e_n: f64,
    /// Speed of approach (m/s) below which it falls.
    pub e_n_speed: f64,
    /// Tangential restitution, −1 to 1.
    pub e_t: f64,
    /// Whose law of impact.
    pub impact: Impact,
    /// Attraction of two bodies that touch (N).
    pub adhesion: f64,
    /// Gap up to which it acts (m).
    pub adhesion_range: f64,
    /// Gap at which a liquid bridge breaks (m), see `model::law::CoulombImpact::rupture`.
    #[serde(default)]
    pub rupture: f64,
    /// Resistance to rolling.
    pub mu_r: Arm,
    /// Resistance to twisting about the normal.
    pub mu_t: Arm,
    /// Radius of the patch in which bodies touch, see `model::law::CoulombImpact::patch`.
    #[serde(default)]
    pub patch: Arm,
    /// What binds faces that touch at the start.
    #[serde(default)]
    pub bond: Option<Cohesion>,
    /// What joints bear whose faces touch at the start.
    #[serde(default)]
    pub crushing: Option<Crushing>,
}

impl Default for ContactLaw {
    fn default() -> Self {
        Self {
            mu: 0.5,
            e_n: 0.0,
            e_n_speed: 0.0,
            e_t: 0.0,
            impact: Impact::Newton,
            adhesion: 0.0,
            adhesion_range: 0.0,
            rupture: 0.0,
            mu_r: Arm::default(),
            mu_t: Arm::default(),
            patch: Arm::default(),
            bond: None,
            crushing: None,
        }
    }
}

/// The law of one pair of materials.
///
/// ```
/// use drystone::io::scene::model::{ContactLaw, PairLaw};
/// let ice = PairLaw { materials: [0, 1], law: ContactLaw { mu: 0.02, ..ContactLaw::default() } };
/// assert_eq!(ice.law.e_n, 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairLaw {
    /// Indices into [`Scene::materials`].
    pub materials: [usize; 2],
    /// Their law.
    pub law: ContactLaw,
}

/// A joint between two bodies, or a body and the world, in their starting positions.
///
/// ```
/// use drystone::model::joint::{JointKind, JointSpec};
/// let spec = JointSpec::new(JointKind::Spherical);
/// let pivot = drystone::io::scene::model::Joint { name: "pivot".into(), body1: 0, body2: None, spec };
/// assert!(pivot.body2.is_none(), "hung from the world");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Joint {
    /// What people call it.
    pub name: String,
    /// Index into [`Scene::bodies`].
    pub body1: usize,
    /// Index into [`Scene::bodies`]; `None` is the world.
    pub body2: Option<usize>,
    /// What it holds, and what acts on it.
    pub spec: JointSpec,
}

impl Joint {
    /// Whether it has one coordinate: an angle, a way, or the length of a rod, a rope or a spring.
    pub fn has_coordinate(&self) -> bool {
        self.spec.freedom().is_some() || matches!(self.spec.kind, JointKind::Distance(_))
    }
}

/// Bodies that move together.
///
/// ```
/// use drystone::model::joint::TransmissionSpec;
/// let spec = TransmissionSpec::Screw { axis: glam::DVec3::Z, lead: 5e-3 };
/// let screw = drystone::io::scene::model::Transmission { name: "spindle".into(), body1: 0, body2: None, spec };
/// assert!(screw.spec.validate(false).is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transmission {
    /// Unique.
    pub name: String,
    /// Index of a body.
    pub body1: usize,
    /// Index of another body; `None` for the world.
    pub body2: Option<usize>,
    /// What moves with what.
    pub spec: TransmissionSpec,
}

/// A relation between bodies with a law.
///
/// ```
/// use drystone::io::scene::model::Tie;
/// use drystone::model::joint::{TieLaw, TieRelation, TieSpec};
/// use glam::DVec3;
/// let spec = TieSpec::new(TieRelation::Linear { factors: [DVec3::Z; 2] }, TieLaw::Equality);
/// let pulley = Tie { name: "pulley".into(), body1: 0, body2: Some(1), spec };
/// assert!(pulley.spec.validate().is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tie {
    /// Unique.
    pub name: String,
    /// Index of a body.
    pub body1: usize,
    /// Index of another body; `None` for the world.
    pub body2: Option<usize>,
    /// What holds between them.
    pub spec: TieSpec,
}

/// Gravity (m/s²) at time `t` (s) of entries in order of time: the last that has begun. One counts from 1e-9 s before its time, so that a sum
/// of steps that falls short by rounding still meets it.
pub(crate) fn gravity_at(gravity: &[GravityFrom], t: f64) -> DVec3 {
    gravity.iter().rev().find(|g| g.time <= t + 1e-9).map_or(DVec3::ZERO, |g| g.acceleration)
}

/// Gravity from an instant on.
///
/// ```
/// let moon = drystone::io::scene::model::GravityFrom { time: 0.0, acceleration: glam::DVec3::new(0.0, 0.0, -1.62) };
/// assert_eq!(moon.time, 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GravityFrom {
    /// First instant (s).
    pub time: f64,
    /// Acceleration (m/s², world).
    pub acceleration: DVec3,
}

/// Time step, duration and scheme.
///
/// ```
/// use drystone::io::scene::model::{TimeStepping, Treatment};
/// assert_eq!(TimeStepping::default().treatment, Treatment::GapAware { beta: 0.1 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeStepping {
    /// Step h (s); the largest one where steps are chosen.
    pub step: f64,
    /// How far a body may move in a step that is chosen on the way, in parts of its smallest length; `None`: every step is `step`.
    pub accuracy: Option<f64>,
    /// Duration (s).
    pub end: f64,
    /// How gaps enter the velocity-level contact law.
    pub treatment: Treatment,
    /// How the gyroscopic term is integrated.
    pub gyroscopic: Gyroscopic,
    /// What closes the gaps of joints again.
    pub drift: Drift,
}

impl TimeStepping {
    /// Accuracy of chosen steps where a scene gives none. With the forecast treatment a contact that closes overlaps by up to the way of the
    /// step, which is to stay within what one may see.
    ///
    /// ```
    /// use drystone::io::scene::model::{TimeStepping, Treatment};
    /// assert_eq!(TimeStepping::usual_accuracy(Treatment::Forecast { theta: 0.5 }), 0.01);
    /// ```
    pub fn usual_accuracy(treatment: Treatment) -> f64 {
        match treatment {
            Treatment::GapAware { .. } => AutoStep::default().accuracy,
            Treatment::Forecast { .. } => 0.01,
        }
    }
}

impl Default for TimeStepping {
    fn default() -> Self {
        let treatment = Treatment::GapAware { beta: 0.1 };
        Self { step: 1e-3, accuracy: None, end: 1.0, treatment, gyroscopic: Gyroscopic::Midpoint, drift: Drift::default() }
    }
}

/// When the contact solver may stop.
///
/// ```
/// assert!(drystone::io::scene::model::SolverSettings::default().warm_start);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SolverSettings {
    /// Largest admissible error e_s.
    pub tolerance: f64,
    /// Sweeps a step before it counts as unconverged.
    pub max_sweeps: usize,
    /// Start from the impulses of the step before.
    pub warm_start: bool,
    /// Coulomb's law, or the convex one with a known shift.
    pub friction: Friction,
}

impl Default for SolverSettings {
    fn default() -> Self {
        Self { tolerance: 1e-6, max_sweeps: 100_000, warm_start: true, friction: Friction::Exact }
    }
}

/// One stream of output files.
///
/// ```
/// use drystone::io::scene::model::{Recorded, Recorder};
/// let film = Recorder { what: Recorded::Bodies, every: 0.04 };
/// assert_eq!(film.every, 0.04);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recorder {
    /// What is written.
    pub what: Recorded,
    /// Interval (s); 0 means every step.
    pub every: f64,
}

/// What a recorder writes.
///
/// ```
/// assert_ne!(drystone::io::scene::model::Recorded::Bodies, drystone::io::scene::model::Recorded::Contacts);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Recorded {
    /// Bodies with their geometry.
    Bodies,
    /// Contact points, and the lines between centres that go through them.
    Contacts,
    /// One line of figures (energy, residual, penetration, …).
    Steps,
    /// What the joints between blocks carry, see `diagnostics::joints`.
    Joints,
}

/// A table of signals, one row every so often.
///
/// ```
/// use drystone::io::scene::model::{Record, Recordable};
/// use drystone::model::signal::TotalQuantity;
/// let table = Record { name: "energy".into(), every: 0.01, signals: vec![Recordable::Total(TotalQuantity::Kinetic)] };
/// assert_eq!(table.signals.len(), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Name of its file, without `.csv`.
    pub name: String,
    /// Interval (s); 0 means every step.
    pub every: f64,
    /// Its columns after the time.
    pub signals: Vec<Recordable>,
}

/// A number that a scene can record.
///
/// ```
/// use drystone::io::scene::model::{BodySpec, Recordable, Scene, ShapeSpec};
/// use drystone::model::signal::BodyQuantity;
/// let mut scene = Scene::new("one ball");
/// scene.bodies.push(BodySpec::new("ball", ShapeSpec::Ball { radius: 0.1 }));
/// assert_eq!(scene.column(&Recordable::Body(0, BodyQuantity::Vz)), "ball.vz [m/s]");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Recordable {
    /// Of a body.
    Body(usize, BodyQuantity),
    /// Of a joint.
    Joint(usize, JointQuantity),
    /// Of a transmission: y, its rate, its multiplier.
    Transmission(usize, LinkQuantity),
    /// Of a tie, by row.
    Tie(usize, LinkQuantity, usize),
    /// Of an outlet.
    Outlet(usize, FlowQuantity),
    /// Of an inlet.
    Inlet(usize, FlowQuantity),
    /// Of a surface.
    Surface(usize, SurfaceQuantity),
    /// Of all together.
    Total(TotalQuantity),
}

/// A number of an interaction.
///
/// ```
/// use drystone::io::scene::model::LinkQuantity;
/// assert_eq!(LinkQuantity::ALL[LinkQuantity::Rate as usize].0, "rate");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LinkQuantity {
    /// y
    Output,
    /// ẏ
    Rate,
    /// λ, an impulse over a step.
    Multiplier,
}

impl LinkQuantity {
    /// Names, with the units of ways and of angles.
    pub const ALL: [(&'static str, [&'static str; 2]); 3] =
        [("output", ["m", "rad"]), ("rate", ["m/s", "rad/s"]), ("multiplier", ["N s", "N m s"])];
}

impl Scene {
    /// Head of the column of a signal: `name.quantity [unit]`.
    pub fn column(&self, signal: &Recordable) -> String {
        let with = |name: &str, unit: &str| if unit.is_empty() { name.to_owned() } else { format!("{name} [{unit}]") };
        let (name, unit) = self.signal_name(signal);
        with(&name, unit)
    }

    /// What a scene file calls a signal, and its unit.
    pub(super) fn signal_name(&self, signal: &Recordable) -> (String, &'static str) {
        match *signal {
            Recordable::Body(i, q) => {
                let q = &BodyQuantity::ALL[q as usize];
                (format!("{}.{}", self.bodies[i].name, q.name), q.unit)
            }
            Recordable::Joint(i, q) => {
                let (joint, q) = (&self.joints[i], &JointQuantity::ALL[q as usize]);
                (format!("{}.{}", joint.name, q.name), if joint.spec.freedom() == Some(Freedom::Angle) { q.unit } else { q.linear })
            }
            Recordable::Transmission(i, q) => {
                let (name, units) = LinkQuantity::ALL[q as usize];
                let turns = matches!(self.transmissions[i].spec, TransmissionSpec::Gear { .. });
                (format!("{}.{name}", self.transmissions[i].name), units[usize::from(turns)])
            }
            Recordable::Tie(i, q, row) => {
                let (name, units) = LinkQuantity::ALL[q as usize];
                let tie = &self.ties[i];
                let number = if tie.spec.rows() > 1 { format!(".{row}") } else { String::new() };
                (format!("{}.{name}{number}", tie.name), units[usize::from(tie.spec.turns())])
            }
            Recordable::Outlet(i, q) => {
                let q = &FlowQuantity::ALL[q as usize];
                (format!("{}.{}", self.outlets[i].name, q.name), q.unit)
            }
            Recordable::Inlet(i, q) => {
                let q = &FlowQuantity::ALL[q as usize];
                (format!("{}.{}", self.inlets[i].name, q.name), q.unit)
            }
            Recordable::Surface(i, q) => {
                let q = &SurfaceQuantity::ALL[q as usize];
                (format!("{}.{}", self.surfaces[i].name, q.name), q.unit)
            }
            Recordable::Total(q) => (TotalQuantity::ALL[q as usize].name.to_owned(), TotalQuantity::ALL[q as usize].unit),
        }
    }
}
