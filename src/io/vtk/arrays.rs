//! What a frame holds: names and units of arrays, and how many bits a number has.

use serde::{Deserialize, Serialize};

/// Bits of coordinates and figures in a frame.
///
/// Single is the default: 24 bits tell 1 µm in a scene of 10 m, gaps and forces are stored as such and keep seven digits, and a frame
/// is half as large. States to go on from are in checkpoints and, to the last bit, in tables.
///
/// ```
/// assert_eq!(drystone::io::vtk::Precision::default().name(), "single");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Precision {
    /// 32 bits.
    #[default]
    Single,
    /// 64 bits.
    Double,
}

impl Precision {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Single, Self::Double];

    /// As scene files name it.
    pub fn name(self) -> &'static str {
        if self == Self::Single { "single" } else { "double" }
    }
}

/// Files that frames become.
///
/// ```
/// assert_eq!(drystone::io::vtk::Format::default().name(), "vtp");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    /// A compressed file for each instant, and a list of them.
    #[default]
    Vtp,
    /// One file for all instants: VTKHDF.
    VtkHdf,
}

impl Format {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Vtp, Self::VtkHdf];

    /// As scene files name it.
    pub fn name(self) -> &'static str {
        if self == Self::Vtp { "vtp" } else { "vtkhdf" }
    }
}

/// What frames show of bodies that are neither balls nor made of balls.
///
/// ```
/// assert_eq!(drystone::io::vtk::Shapes::default().name(), "triangles");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shapes {
    /// Their surfaces where they are, in each frame.
    #[default]
    Triangles,
    /// A point with an orientation; their surfaces stand in `shapes_STEP.vtp` of the first frame that they are in.
    Once,
}

impl Shapes {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Triangles, Self::Once];

    /// As scene files name it.
    pub fn name(self) -> &'static str {
        if self == Self::Triangles { "triangles" } else { "once" }
    }
}

/// A figure of each body.
///
/// ```
/// use drystone::io::vtk::BodyArray;
/// assert_eq!((BodyArray::Velocity.name(), BodyArray::Velocity.unit()), ("velocity", "m/s"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BodyArray {
    /// Number of the body.
    Id,
    /// Number of its material.
    Material,
    /// Radius of a ball (m); 0 at corners of triangles.
    Radius,
    /// Velocity of the point, `v + ω × r` (m/s).
    Velocity,
    /// Speed of the centre of mass (m/s).
    Speed,
    /// Angular velocity (rad/s, world).
    AngularVelocity,
    /// 1 for what forces move, 0 for what stands still or moves as told.
    Dynamic,
    /// In which image of the periodic cell the body is, along x, y and z: its place is where it is drawn and as many edges of the cell.
    Image,
}

impl BodyArray {
    /// Every one.
    pub const ALL: [Self; 8] =
        [Self::Id, Self::Material, Self::Radius, Self::Velocity, Self::Speed, Self::AngularVelocity, Self::Dynamic, Self::Image];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Material => "material",
            Self::Radius => "radius",
            Self::Velocity => "velocity",
            Self::Speed => "speed",
            Self::AngularVelocity => "angular_velocity",
            Self::Dynamic => "dynamic",
            Self::Image => "image",
        }
    }

    /// Its unit, empty where it has none.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Radius => "m",
            Self::Velocity | Self::Speed => "m/s",
            Self::AngularVelocity => "rad/s",
            Self::Id | Self::Material | Self::Dynamic | Self::Image => "",
        }
    }
}

/// A figure of each contact point.
///
/// ```
/// use drystone::io::vtk::ContactArray;
/// assert_eq!((ContactArray::NormalForce.name(), ContactArray::NormalForce.unit()), ("normal_force", "N"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ContactArray {
    /// Mean force along the normal in the step, on body 1 (N).
    NormalForce,
    /// Mean force in the tangent plane in the step, on body 1 (N).
    FrictionForce,
    /// Mean moment against rolling and twisting in the step, on body 1 (N m).
    Moment,
    /// Unit normal from body 2 to body 1.
    Normal,
    /// Signed distance (m), positive when apart.
    Gap,
    /// Relative tangential speed (m/s).
    SlidingSpeed,
    /// 0 open, 1 stick, 2 slip.
    Status,
    /// `id` of the first body.
    Body1,
    /// `id` of the second body.
    Body2,
}

impl ContactArray {
    /// Every one.
    pub const ALL: [Self; 9] = [
        Self::NormalForce,
        Self::FrictionForce,
        Self::Moment,
        Self::Normal,
        Self::Gap,
        Self::SlidingSpeed,
        Self::Status,
        Self::Body1,
        Self::Body2,
    ];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::NormalForce => "normal_force",
            Self::FrictionForce => "friction_force",
            Self::Moment => "moment",
            Self::Normal => "normal",
            Self::Gap => "gap",
            Self::SlidingSpeed => "sliding_speed",
            Self::Status => "status",
            Self::Body1 => "body1",
            Self::Body2 => "body2",
        }
    }

    /// Its unit, empty where it has none.
    pub fn unit(self) -> &'static str {
        match self {
            Self::NormalForce | Self::FrictionForce => "N",
            Self::Moment => "N m",
            Self::Gap => "m",
            Self::SlidingSpeed => "m/s",
            Self::Normal | Self::Status | Self::Body1 | Self::Body2 => "",
        }
    }
}

/// What the frames of a series hold.
///
/// ```
/// use drystone::io::vtk::{BodyArray, Frames};
/// let frames = Frames { bodies: vec![BodyArray::Speed], branches: true, ..Frames::default() };
/// assert_eq!(frames.contacts.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frames {
    /// What files there are.
    pub format: Format,
    /// Bits of a number.
    pub precision: Precision,
    /// What there is of bodies with faces.
    pub shapes: Shapes,
    /// Figures of bodies.
    pub bodies: Vec<BodyArray>,
    /// Figures of contacts; without any there is no file of contacts.
    pub contacts: Vec<ContactArray>,
    /// Whether there is a file of branches.
    pub branches: bool,
}

impl Default for Frames {
    /// What most pictures are made from, small enough for 10⁵ grains.
    fn default() -> Self {
        Self {
            format: Format::Vtp,
            precision: Precision::Single,
            shapes: Shapes::Triangles,
            bodies: vec![BodyArray::Id, BodyArray::Material, BodyArray::Radius, BodyArray::Velocity],
            contacts: vec![ContactArray::NormalForce, ContactArray::Status],
            branches: false,
        }
    }
}

impl Frames {
    /// Every array, in double precision, with branches.
    pub fn everything() -> Self {
        let (bodies, contacts) = (BodyArray::ALL.to_vec(), ContactArray::ALL.to_vec());
        Self { precision: Precision::Double, bodies, contacts, branches: true, ..Self::default() }
    }
}
