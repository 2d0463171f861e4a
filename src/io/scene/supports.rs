//! `[[support]]`: static bodies that settle, spread or turn.
//!
//! ```text
//! velocity   0 → 2 d/T → 0   along straight lines from start to start + T
//! ```

use glam::{DQuat, DVec3};

use super::bodies::Names;
use super::error::SceneError;
use super::fields::Field;
use super::model::{Drive, Motion, Scene};
use super::units::Quantity;

/// Lets static bodies move by a way and an angle within a time.
pub(super) fn support(field: &Field<'_>, scene: &mut Scene, names: &Names) -> Result<(), SceneError> {
    let mut f = field.fields()?;
    let list = f.required("bodies")?;
    let way = f.or("displacement", DVec3::ZERO, |d| d.vector(Quantity::Length))?;
    let turn = f.maybe("rotation", |r| {
        let mut turn = r.fields()?;
        let (axis, angle) = (turn.required("axis")?.direction()?, turn.required("angle")?.number(Quantity::Angle)?);
        turn.finish()?;
        Ok(axis * angle)
    })?;
    let start = f.or("start", 0.0, |t| t.non_negative(Quantity::Time))?;
    let duration = f.or("duration", 1.0, |t| t.positive(Quantity::Time))?;
    f.finish()?;
    if list.items()?.is_empty() {
        return Err(list.error("found no body", "name the static bodies that move"));
    }
    for item in list.items()? {
        let body = &mut scene.bodies[names.body(&item)?];
        if body.motion != Motion::Static {
            let message = format!("found {}, which is not static", body.name);
            return Err(item.error(message, "name a static body that no other [[support]] moves"));
        }
        // angular velocities are in the frame of the shape, whose part along the axis of its own turning stays
        let turn = DQuat::conjugate(body.pose.rotation) * turn.unwrap_or(DVec3::ZERO);
        let peak = |x: DVec3| vec![DVec3::ZERO, 2.0 * x / duration, DVec3::ZERO];
        let times = vec![start, start + 0.5 * duration, start + duration];
        body.motion = Motion::Kinematic(Drive::Table { times, linear: peak(way), angular: peak(turn) });
    }
    Ok(())
}
