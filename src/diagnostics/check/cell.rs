//! Bodies that fill a periodic cell, and have to do so wherever they go and for whatever reaches over the faces.
//!
//! ```text
//! low + max s ≤ from − r,   high + min s ≥ to + r        along each periodic axis; s: way of the body, r: reach of grains with corners (balls: 0)
//! ```
//!
//! Such a body stands where it is, without images: a grain is met by what lies beside its centre in the cell, and what of it reaches over a
//! face by what lies beyond. A half-space has no ends.

use super::{Bodies, Severity, Short};
use crate::io::scene::model::{Motion, ShapeSpec};
use glam::DVec3;

/// Parts of a run in which the way of a driven body is looked at.
const PARTS: u32 = 4096;
/// Rounding of ends, in parts of the cell.
const ROUNDING: f64 = 1e-9;

impl Bodies<'_> {
    /// Plates that fill the cell at the start, and leave it, or end within the reach of grains with corners.
    pub(super) fn plates_of_the_cell(&mut self) {
        let (cell, end) = (self.scene.periodic, self.scene.time.end);
        if cell.is_open() {
            return;
        }
        let fills = |i: usize| {
            let shape = self.shapes[i].as_ref()?;
            let radius = shape.bounding_radius();
            (radius.is_finite() && cell.too_long(radius)).then_some(shape)
        };
        let cornered = |(i, body): (usize, &crate::io::scene::model::Body)| {
            let shape = self.shapes[i].as_ref().filter(|_| !matches!(body.shape, ShapeSpec::Ball { .. }) && fills(i).is_none())?;
            Some(shape.bounding_radius())
        };
        // grains are balls where nothing else is asked for
        let inlets = self.scene.inlets.iter().filter(|inlet| inlet.grain != Default::default()).map(|inlet| inlet.sizes.largest());
        let reach = self.dynamic().filter_map(cornered).chain(inlets).fold(0.0, f64::max);
        if self.scene.inlets.is_empty() && self.dynamic().all(|(i, _)| fills(i).is_some()) {
            return;
        }
        let mut found = Vec::new();
        for (i, body) in self.scene.bodies.iter().enumerate() {
            let Some(shape) = fills(i) else { continue };
            let ([low, high], [least, most]) = (<[DVec3; 2]>::from(shape.aabb(&body.pose)), way(&body.motion, end));
            for a in (0..3).filter(|&a| cell.periodic(a)) {
                let (size, axis) = (cell.size[a], ["x", "y", "z"][a]);
                // what does not fill it at the start is refused, and need not move
                if (low[a] - cell.low[a]).max(cell.high[a] - high[a]) > ROUNDING * size {
                    break;
                }
                let missing =
                    [low[a] + most[a] - cell.low[a], cell.high[a] - high[a] - least[a]].into_iter().fold(f64::NEG_INFINITY, f64::max);
                if missing > ROUNDING * size {
                    let message = format!(
                        "it moves along {axis}, along which the cell is periodic, and out of it: {} m of the cell are left without it",
                        Short(missing.min(size))
                    );
                    let cure = "let it reach as much farther, or take a half_space, which has no ends";
                    found.push((Severity::Fault, i, message, cure.to_owned()));
                } else if missing + reach > ROUNDING * size {
                    let message = format!(
                        "it ends {} m beyond a face of the periodic cell along {axis}; grains with corners reach up to {} m over it, and past its edge",
                        Short((-missing).max(0.0)),
                        Short(reach)
                    );
                    found.push((
                        Severity::Hint,
                        i,
                        message,
                        "let it reach that far beyond both faces; a half_space has no ends".to_owned(),
                    ));
                } else {
                    continue;
                }
                break;
            }
        }
        for (severity, i, message, cure) in found {
            self.say(severity, Some(i), message, cure);
        }
    }
}

/// How far a body gets along each axis, to either side (m).
fn way(motion: &Motion, end: f64) -> [DVec3; 2] {
    let Motion::Kinematic(drive) = motion else { return [DVec3::ZERO; 2] };
    let part = end / f64::from(PARTS);
    let (mut place, mut ends) = (DVec3::ZERO, [DVec3::ZERO; 2]);
    for k in 0..PARTS {
        place += part * drive.velocity((f64::from(k) + 0.5) * part).0;
        ends = [ends[0].min(place), ends[1].max(place)];
    }
    ends
}
