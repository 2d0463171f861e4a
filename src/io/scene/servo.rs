//! `servo`: a wall that moves until the reactions on it are the force that is asked for.
//!
//! ```text
//! m v̇ = F − c v + R        along one axis; at rest R = −F to the tolerance of the solver
//! ```
//!
//! It is a body as any other with its mass m, without weight, which moves along its axis alone. There is no controller and nothing to tune:
//! the contact problem of each step holds the balance itself, and F, −c v and R are in the energy balance.

use serde::{Deserialize, Serialize};

use super::error::SceneError;
use super::fields::Field;
use super::model::{Body, Motion};
use super::units::Quantity;

/// A force along an axis of the world, with damping.
///
/// ```
/// let lid = drystone::io::scene::model::Servo { axis: 2, force: -100.0, damping: 50.0 };
/// assert!(lid.force / lid.damping == -2.0, "m/s where nothing resists");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Servo {
    /// 0, 1, 2 for x, y, z.
    pub axis: usize,
    /// With its sign along the axis (N).
    pub force: f64,
    /// N s/m
    pub damping: f64,
}

/// Reads the servo of a dynamic body, and locks its other axes.
pub(super) fn read(field: &Field<'_>, body: &mut Body) -> Result<(), SceneError> {
    if body.motion != Motion::Dynamic {
        return Err(field.error("found a servo on a body that stands still or moves as told", "remove `motion`, or the servo"));
    }
    let mut f = field.fields()?;
    let axis = f.required("axis")?.choice(&[("x", 0), ("y", 1), ("z", 2)])?;
    let force = match (f.optional("force"), f.optional("pressure")) {
        (Some(force), None) => force.number(Quantity::Force)?,
        (None, Some(pressure)) => pressure.number(Quantity::Pressure)? * f.required("area")?.positive(Quantity::Area)?,
        _ => return Err(f.error("a servo needs exactly one of `force` and `pressure`", "write force = \"-100 N\", or pressure and `area`")),
    };
    let damping = f.or("damping", 0.0, |c| c.non_negative(Quantity::Damping))?;
    f.finish()?;
    body.servo = Some(Servo { axis, force, damping });
    (0..3).filter(|a| *a != axis).for_each(|a| body.locked_translation[a] = true);
    body.locked_rotation = [true; 3];
    Ok(())
}

impl Servo {
    /// As a table of a scene file.
    pub(super) fn text(&self) -> String {
        format!("{{ axis = \"{}\", force = {:?}, damping = {:?} }}", ["x", "y", "z"][self.axis], self.force, self.damping)
    }
}
