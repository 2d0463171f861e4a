//! `[camera]`: how pictures and films look at a scene.

use super::error::SceneError;
use super::fields::Field;
use super::units::Quantity;
use glam::DVec3;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// How pictures look at a scene that do not say it themselves.
///
/// ```
/// use drystone::io::scene::Scene;
/// let text = "time = { step = 0.1, end = 1 }\n[camera]\nfrom = [0, -1, 0.2]\n[[bodies]]\nshape = { kind = \"ball\", radius = 1 }";
/// assert_eq!(Scene::from_toml(text, "t")?.camera.from, Some(glam::DVec3::new(0.0, -1.0, 0.2)));
/// # Ok::<(), drystone::io::scene::SceneError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Camera {
    /// From the bodies to the eye; any length, z is up.
    pub from: Option<DVec3>,
    /// Lower and upper corner of the box that fills the picture (m); without it what moves fills it.
    pub frame: Option<[DVec3; 2]>,
}

pub(super) fn read(field: &Field<'_>) -> Result<Camera, SceneError> {
    let mut f = field.fields()?;
    let from = f.maybe("from", |from| {
        let v = from.vector(Quantity::Number)?;
        match v.length() > 1e-9 {
            true => Ok(v),
            false => Err(from.error("found a camera within what it looks at", "write a way from the bodies to the eye, as [1, -2, 0.8]")),
        }
    })?;
    let frame = f.maybe("box", |sides| {
        let (low, high) = super::flow::corners(&sides)?;
        match low.is_finite() && high.is_finite() {
            true => Ok([low, high]),
            false => Err(sides.error("found a box that is open", "a picture has an end on every side; write finite corners")),
        }
    })?;
    f.finish()?;
    Ok(Camera { from, frame })
}

impl Camera {
    /// As a section of a scene file; nothing where all is as by default.
    pub(super) fn write(&self, t: &mut String) -> std::fmt::Result {
        if *self == Self::default() {
            return Ok(());
        }
        let vector = |v: DVec3| format!("[{:?}, {:?}, {:?}]", v.x, v.y, v.z);
        writeln!(t, "\n[camera]")?;
        if let Some(from) = self.from {
            writeln!(t, "from = {}", vector(from))?;
        }
        if let Some([low, high]) = self.frame {
            writeln!(t, "box = [{}, {}]", vector(low), vector(high))?;
        }
        Ok(())
    }
}
