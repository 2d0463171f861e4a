//! Numbers that may be recorded of bodies, joints and the whole: their names in tables and scene files, and their units.

use serde::{Deserialize, Serialize};

/// One quantity of a kind, as tables and scene files name it.
///
/// ```
/// use drystone::model::signal::{BodyQuantity, Quantity};
/// let Quantity { name, unit, .. } = *BodyQuantity::ALL.iter().find(|q| q.what == BodyQuantity::ContactZ).expect("listed");
/// assert_eq!((name, unit), ("contact_z", "N"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Quantity<T: 'static> {
    /// Which.
    pub what: T,
    /// In tables and files.
    pub name: &'static str,
    /// SI; of a joint that turns, where there are two.
    pub unit: &'static str,
    /// Of a joint that slides or holds a distance.
    pub linear: &'static str,
}

const fn of<T>(what: T, name: &'static str, unit: &'static str) -> Quantity<T> {
    Quantity { what, name, unit, linear: unit }
}

const fn either<T>(what: T, name: &'static str, unit: &'static str, linear: &'static str) -> Quantity<T> {
    Quantity { what, name, unit, linear }
}

/// A number of a body. Components are those of the world but for the angular velocity, which has the axes of the body.
///
/// ```
/// assert_ne!(drystone::model::signal::BodyQuantity::X, drystone::model::signal::BodyQuantity::Vx);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the table below says what they are")]
#[non_exhaustive]
pub enum BodyQuantity {
    X,
    Y,
    Z,
    Qw,
    Qx,
    Qy,
    Qz,
    Vx,
    Vy,
    Vz,
    Wx,
    Wy,
    Wz,
    Speed,
    ContactX,
    ContactY,
    ContactZ,
    Kinetic,
    Potential,
}

impl BodyQuantity {
    /// All of them: centre of mass, quaternion body → world, its velocity, angular velocity (body axes), speed, sum of the contact forces
    /// on the body (mean over the last step), ½ m v² + ½ ωᵀ I ω, −m g·x.
    pub const ALL: &'static [Quantity<Self>] = &[
        of(Self::X, "x", "m"),
        of(Self::Y, "y", "m"),
        of(Self::Z, "z", "m"),
        of(Self::Qw, "qw", ""),
        of(Self::Qx, "qx", ""),
        of(Self::Qy, "qy", ""),
        of(Self::Qz, "qz", ""),
        of(Self::Vx, "vx", "m/s"),
        of(Self::Vy, "vy", "m/s"),
        of(Self::Vz, "vz", "m/s"),
        of(Self::Wx, "wx", "rad/s"),
        of(Self::Wy, "wy", "rad/s"),
        of(Self::Wz, "wz", "rad/s"),
        of(Self::Speed, "speed", "m/s"),
        of(Self::ContactX, "contact_x", "N"),
        of(Self::ContactY, "contact_y", "N"),
        of(Self::ContactZ, "contact_z", "N"),
        of(Self::Kinetic, "kinetic", "J"),
        of(Self::Potential, "potential", "J"),
    ];
}

/// A number of a joint; forces are means over the last step.
///
/// ```
/// use drystone::model::signal::JointQuantity;
/// assert_eq!(JointQuantity::ALL[JointQuantity::Gap as usize].unit, "m");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the table below says what they are")]
#[non_exhaustive]
pub enum JointQuantity {
    Coordinate,
    Speed,
    Gap,
    Tilt,
    Force,
    Moment,
    Stop,
    Friction,
    Motor,
    Spring,
    ForceX,
    ForceY,
    ForceZ,
    MomentX,
    MomentY,
    MomentZ,
}

impl JointQuantity {
    /// All of them: coordinate (an angle counted over whole turns, or a way; of rods, ropes and springs between points their length), its
    /// rate, how far the joint is open and turned against what it holds, force and moment in what it holds, what stops, dry friction,
    /// motors and servos, springs give on the coordinate; then that force and moment on body 1 at the joint, along the axes of the world.
    pub const ALL: &'static [Quantity<Self>] = &[
        either(Self::Coordinate, "coordinate", "rad", "m"),
        either(Self::Speed, "speed", "rad/s", "m/s"),
        of(Self::Gap, "gap", "m"),
        of(Self::Tilt, "tilt", "rad"),
        of(Self::Force, "force", "N"),
        of(Self::Moment, "moment", "N m"),
        either(Self::Stop, "stop", "N m", "N"),
        either(Self::Friction, "friction", "N m", "N"),
        either(Self::Motor, "motor", "N m", "N"),
        either(Self::Spring, "spring", "N m", "N"),
        of(Self::ForceX, "force_x", "N"),
        of(Self::ForceY, "force_y", "N"),
        of(Self::ForceZ, "force_z", "N"),
        of(Self::MomentX, "moment_x", "N m"),
        of(Self::MomentY, "moment_y", "N m"),
        of(Self::MomentZ, "moment_z", "N m"),
    ];

    /// Whether it is about the coordinate, which not every joint has.
    pub fn is_of_coordinate(self) -> bool {
        matches!(self, Self::Coordinate | Self::Speed | Self::Stop | Self::Friction | Self::Motor | Self::Spring)
    }
}

/// A number of an outlet or an inlet, since the start.
///
/// ```
/// use drystone::model::signal::FlowQuantity;
/// assert_eq!(FlowQuantity::ALL[FlowQuantity::Mass as usize].unit, "kg");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the table below says what they are")]
#[non_exhaustive]
pub enum FlowQuantity {
    Count,
    Mass,
    Kinetic,
    Potential,
}

impl FlowQuantity {
    /// All of them: bodies that have gone through, their mass, and the energies that they took or brought.
    pub const ALL: &'static [Quantity<Self>] = &[
        of(Self::Count, "count", ""),
        of(Self::Mass, "mass", "kg"),
        of(Self::Kinetic, "kinetic", "J"),
        of(Self::Potential, "potential", "J"),
    ];
}

/// A number of a surface, since the start: of what has passed forward, and of what has passed back.
///
/// ```
/// use drystone::model::signal::SurfaceQuantity;
/// assert_eq!(SurfaceQuantity::ALL[SurfaceQuantity::BackMass as usize].name, "back_mass");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the table below says what they are")]
#[non_exhaustive]
pub enum SurfaceQuantity {
    Count,
    Mass,
    MomentumX,
    MomentumY,
    MomentumZ,
    Kinetic,
    BackCount,
    BackMass,
    BackMomentumX,
    BackMomentumY,
    BackMomentumZ,
    BackKinetic,
}

impl SurfaceQuantity {
    /// All of them: bodies that have passed, their mass, momentum and kinetic energy.
    pub const ALL: &'static [Quantity<Self>] = &[
        of(Self::Count, "count", ""),
        of(Self::Mass, "mass", "kg"),
        of(Self::MomentumX, "momentum_x", "kg m/s"),
        of(Self::MomentumY, "momentum_y", "kg m/s"),
        of(Self::MomentumZ, "momentum_z", "kg m/s"),
        of(Self::Kinetic, "kinetic", "J"),
        of(Self::BackCount, "back_count", ""),
        of(Self::BackMass, "back_mass", "kg"),
        of(Self::BackMomentumX, "back_momentum_x", "kg m/s"),
        of(Self::BackMomentumY, "back_momentum_y", "kg m/s"),
        of(Self::BackMomentumZ, "back_momentum_z", "kg m/s"),
        of(Self::BackKinetic, "back_kinetic", "J"),
    ];
}

/// A number of the whole simulation, since its start.
///
/// ```
/// use drystone::model::signal::TotalQuantity;
/// assert_eq!(TotalQuantity::ALL[TotalQuantity::MotorWork as usize].name, "motor_work");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the table below says what they are")]
#[non_exhaustive]
pub enum TotalQuantity {
    Kinetic,
    Potential,
    NormalWork,
    FrictionWork,
    /// Work of moments that resist rolling and twisting (J).
    RollingWork,
    OverlapWork,
    JointWork,
    MotorWork,
    CrushingWork,
    BondWork,
    /// Joints bound at the start with a point that is damaged.
    BondsDamaged,
    /// Those that hold nothing any more.
    BondsBroken,
    DriveWork,
    LoadWork,
    /// Work of the attraction between bodies that touch.
    AdhesionWork,
    SchemeWork,
    OutletEnergy,
    InletEnergy,
    BalanceError,
    SupportX,
    SupportY,
    SupportZ,
}

impl TotalQuantity {
    /// All of them: energies, works by cause (`simulation::energy`), what bodies took with them
    /// through outlets and brought through inlets, what of the energy is not accounted for, force on supports.
    pub const ALL: &'static [Quantity<Self>] = &[
        of(Self::Kinetic, "kinetic", "J"),
        of(Self::Potential, "potential", "J"),
        of(Self::NormalWork, "normal_work", "J"),
        of(Self::FrictionWork, "friction_work", "J"),
        of(Self::RollingWork, "rolling_work", "J"),
        of(Self::OverlapWork, "overlap_work", "J"),
        of(Self::JointWork, "joint_work", "J"),
        of(Self::MotorWork, "motor_work", "J"),
        of(Self::CrushingWork, "crushing_work", "J"),
        of(Self::BondWork, "bond_work", "J"),
        of(Self::BondsDamaged, "bonds_damaged", ""),
        of(Self::BondsBroken, "bonds_broken", ""),
        of(Self::DriveWork, "drive_work", "J"),
        of(Self::LoadWork, "load_work", "J"),
        of(Self::AdhesionWork, "adhesion_work", "J"),
        of(Self::SchemeWork, "scheme_work", "J"),
        of(Self::OutletEnergy, "outlet_energy", "J"),
        of(Self::InletEnergy, "inlet_energy", "J"),
        of(Self::BalanceError, "balance_error", ""),
        of(Self::SupportX, "support_x", "N"),
        of(Self::SupportY, "support_y", "N"),
        of(Self::SupportZ, "support_z", "N"),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_quantity_stands_at_its_place_in_its_table() {
        assert!(BodyQuantity::ALL.iter().enumerate().all(|(k, q)| q.what as usize == k));
        assert!(JointQuantity::ALL.iter().enumerate().all(|(k, q)| q.what as usize == k));
        assert!(TotalQuantity::ALL.iter().enumerate().all(|(k, q)| q.what as usize == k));
        assert!(FlowQuantity::ALL.iter().enumerate().all(|(k, q)| q.what as usize == k));
        assert!(SurfaceQuantity::ALL.iter().enumerate().all(|(k, q)| q.what as usize == k));
        assert_eq!(JointQuantity::ALL.len(), JointQuantity::MomentZ as usize + 1);
    }
}
