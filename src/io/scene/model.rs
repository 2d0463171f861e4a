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
pub(crate) use super::body_spec::Body;
pub use super::body_spec::{BodySpec, Drive, Impulse, Motion, ShapeSpec};
use super::camera::Camera;
pub use super::gates::{FieldFile, ForceBins, GridField, Inlet, Measure, Outlet, PairDistances, PileTable, Rose, Segregation, Surface};
use super::loads::{BaseMotion, WaterPressure};
pub use super::output::OutputSettings;
pub use super::recordables::{LinkQuantity, Record, Recordable, Recorded, Recorder};
pub use super::servo::Servo;
use super::stop::StopRules;
pub use super::study::{DamStudy, InclineStudy, Study};
use crate::granular::grain::Grain;
use crate::model::bond::Cohesion;
use crate::model::crushing::Crushing;
use crate::model::joint::{JointKind, JointSpec, TieSpec, TransmissionSpec};
use crate::model::law::{Arm, Impact};
use crate::model::periodic::Cell;
pub use crate::model::scheme::{Drift, Friction, Gyroscopic, Treatment};
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

    /// The axis (0, 1, 2) across the plane in which all grains are discs, those of inlets among them: balls that this axis alone is locked of, with
    /// their centres in one plane.
    ///
    /// ```
    /// use drystone::io::scene::Scene;
    /// let text = "time = { step = 1e-3, end = 1 }\n[[bodies]]\nshape = { kind = \"ball\", radius = 1 }\nlocked_translation = [\"y\"]";
    /// assert_eq!(Scene::from_toml(text, "disc")?.discs(), Some(1));
    /// # Ok::<(), drystone::io::scene::SceneError>(())
    /// ```
    pub fn discs(&self) -> Option<usize> {
        let grains = || self.dynamic_bodies().map(|(_, body)| body).filter(|body| body.servo.is_none());
        let ball = |shape: &ShapeSpec| if let ShapeSpec::Ball { radius } = shape { Some(*radius) } else { None };
        // of each its place, what of it is locked, and its radius where it is a ball
        let there = || grains().map(|body| (body.pose.position, body.locked_translation, ball(&body.shape)));
        let to_come = || {
            let radius = |tap: &Inlet| (tap.grain == Grain::Ball).then(|| tap.sizes.smallest());
            self.inlets.iter().map(move |tap| (0.5 * (tap.gate.low + tap.gate.high), tap.locked_translation, radius(tap)))
        };
        let all = || there().chain(to_come());
        let (first, locked, _) = all().next()?;
        let across = (0..3).find(|&a| locked[a])?;
        let only: [bool; 3] = std::array::from_fn(|a| a == across);
        let disc = |(place, locked, radius): (DVec3, [bool; 3], Option<f64>)| {
            locked == only && radius.is_some_and(|radius| (place[across] - first[across]).abs() <= 1e-9 * radius)
        };
        all().all(disc).then_some(across)
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
