//! `[[support]]`: static bodies that settle, spread or turn.
//!
//! ```text
//! velocity   0 → 2 d/T → 0   along straight lines from start to start + T
//! path       the same from each part of the way to the next one
//! ```

use glam::{DQuat, DVec3};

use super::bodies::Names;
use super::error::SceneError;
use super::fields::{Field, Fields};
use super::model::{Drive, Motion, Scene};
use super::motion::samples;
use super::units::Quantity;

/// Lets static bodies move by a way and an angle within a time.
pub(super) fn support(field: &Field<'_>, scene: &mut Scene, names: &Names) -> Result<(), SceneError> {
    let mut f = field.fields()?;
    let list = f.required("bodies")?;
    let way = f.maybe("displacement", |d| d.vector(Quantity::Length))?;
    let turn = f.maybe("rotation", |r| {
        let mut turn = r.fields()?;
        let axis = turn.required("axis")?.direction()?;
        let angle = turn.required("angle")?.in_rad(std::f64::consts::FRAC_PI_2)?.number(Quantity::Angle)?;
        turn.finish()?;
        Ok(axis * angle)
    })?;
    let (times, parts) = path(&mut f)?;
    f.finish()?;
    if list.items()?.is_empty() {
        return Err(list.error("found no body", "name the static bodies that move"));
    }
    let goes = way.is_some() || turn.is_some();
    let way = way.unwrap_or_default();
    for item in list.items()? {
        let body = &mut scene.bodies[names.body(&item)?];
        if body.motion != Motion::Static {
            let message = format!("found {}, which is not static", body.name);
            return Err(item.error(message, "name a static body that no other [[support]] moves"));
        }
        // angular velocities are in the frame of the shape, whose part along the axis of its own turning stays
        let turn = DQuat::conjugate(body.pose.rotation) * turn.unwrap_or(DVec3::ZERO);
        let (mut instants, mut linear, mut angular) = (vec![times[0]], vec![DVec3::ZERO], vec![DVec3::ZERO]);
        for (t, part) in times.windows(2).zip(parts.windows(2)) {
            let rate = 2.0 * (part[1] - part[0]) / (t[1] - t[0]);
            instants.extend([t[0] + 0.5 * (t[1] - t[0]), t[1]]);
            linear.extend([rate * way, DVec3::ZERO]);
            angular.extend([rate * turn, DVec3::ZERO]);
        }
        body.motion = Motion::Kinematic(Drive::Table { times: instants, linear, angular });
    }
    if goes {
        Ok(())
    } else {
        Err(field.error("found a support that goes nowhere", "add displacement = [0, 0, \"-1 cm\"], or rotation = { axis, angle }"))
    }
}

/// Times and parts of the way: from 0 to 1 within `duration`, or those of a `path`, which begins at 0.
fn path(f: &mut Fields<'_>) -> Result<(Vec<f64>, Vec<f64>), SceneError> {
    let (path, start, duration) = (f.optional("path"), f.optional("start"), f.optional("duration"));
    let Some(path) = path else {
        let start = start.map_or(Ok(0.0), |t| t.non_negative(Quantity::Time))?;
        let duration = duration.map_or(Ok(1.0), |t| t.positive(Quantity::Time))?;
        return Ok((vec![start, start + duration], vec![0.0, 1.0]));
    };
    if let Some(other) = start.or(duration) {
        return Err(other.error("found it beside `path`, which has its own times", "remove one of the two"));
    }
    let (times, rows) = samples::<1>(&path, Quantity::Number, false)?;
    if times.len() < 2 || times[0] < 0.0 || rows[0] != [0.0] {
        return Err(path.error(
            "found a path that does not begin at part 0, or goes nowhere",
            "write [[0, 0], [1, 1], [3, -1]]: times from 0 s on, and parts of the displacement",
        ));
    }
    Ok((times, rows.into_iter().map(|[x]| x).collect()))
}
