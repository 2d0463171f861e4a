//! Dynamical systems: what moves between the impacts.

mod first_order;
mod lagrangian;
mod newton_euler;

pub use crate::model::newton_euler::Frame;
pub use first_order::FirstOrder;
pub(crate) use lagrangian::check_mass;
pub use lagrangian::{Lagrangian, Prescribed, PrescribedVelocity};
pub use newton_euler::{NewtonEuler, NewtonEulerParts};

/// A system of any kind.
///
/// ```
/// use drystone::model::dynamical_system::{DynamicalSystem, FirstOrder};
/// let decay = DynamicalSystem::from(FirstOrder::linear([-1.0], [1.0]));
/// assert!(decay.is_first_order());
/// ```
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "it lives from a constructor to the spawn")]
pub enum DynamicalSystem {
    /// `M ẋ = A x + b + f + r`
    FirstOrder(FirstOrder),
    /// `M q̈ + F_gyr + F_int + C q̇ + K q = F_ext + p`
    Lagrangian(Box<Lagrangian>),
    /// A rigid body without a shape.
    NewtonEuler(Box<NewtonEuler>),
}

impl DynamicalSystem {
    /// True for first-order systems.
    pub fn is_first_order(&self) -> bool {
        matches!(self, Self::FirstOrder(_))
    }

    /// Checks sizes and constants.
    pub fn validate(&self) -> Result<(), String> {
        match self {
            Self::FirstOrder(s) => s.validate(),
            Self::Lagrangian(s) => s.validate(),
            Self::NewtonEuler(s) => s.validate(),
        }
    }
}

impl From<FirstOrder> for DynamicalSystem {
    fn from(system: FirstOrder) -> Self {
        Self::FirstOrder(system)
    }
}

impl From<Lagrangian> for DynamicalSystem {
    fn from(system: Lagrangian) -> Self {
        Self::Lagrangian(Box::new(system))
    }
}

impl From<NewtonEuler> for DynamicalSystem {
    fn from(system: NewtonEuler) -> Self {
        Self::NewtonEuler(Box::new(system))
    }
}
