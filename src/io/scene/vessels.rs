//! Containers: `vessel`, `tube`, `cone`, `hopper` are round and one primitive each, `wedge_hopper` is made of plates.

use glam::{DQuat, DVec2, DVec3};

use super::error::SceneError;
use super::fields::Fields;
use super::model::ShapeSpec;
use super::units::Quantity;
use crate::algebra::spatial::{Pose, axis_angle};
use crate::geometry::Shape;

/// Thickness of a wall where none is given, in parts of the largest radius or width.
const WALL: f64 = 0.1;

fn length(f: &mut Fields<'_>, key: &'static str) -> Result<f64, SceneError> {
    f.required(key)?.positive(Quantity::Length)
}

/// Adds the thickness of the wall to a profile and looks whether it bounds a vessel.
fn turned(f: &mut Fields<'_>, profile: Vec<[f64; 2]>) -> Result<ShapeSpec, SceneError> {
    let widest = profile.iter().map(|p| p[0]).fold(0.0, f64::max);
    let thickness = f.or("thickness", WALL * widest, |t| t.positive(Quantity::Length))?;
    let points: Vec<DVec2> = profile.iter().map(|&p| DVec2::from(p)).collect();
    match Shape::vessel(&points, thickness) {
        Ok(_) => Ok(ShapeSpec::Vessel { profile, thickness }),
        Err(e) => Err(f.error(format!("found no vessel: {e}"), "list (radius, height) of the inner wall from the bottom to the top")),
    }
}

/// Any inner profile.
pub(super) fn vessel(f: &mut Fields<'_>) -> Result<ShapeSpec, SceneError> {
    let list = f.required("profile")?;
    let profile = list.items()?.iter().map(|p| p.numbers::<2>(Quantity::Length)).collect::<Result<Vec<_>, _>>()?;
    turned(f, profile)
}

/// A cylinder without ends from z = 0 up; `bottom = true` gives it a floor.
pub(super) fn tube(f: &mut Fields<'_>) -> Result<ShapeSpec, SceneError> {
    let (radius, height) = (length(f, "radius")?, length(f, "height")?);
    let mut profile = vec![[radius, 0.0], [radius, height]];
    if f.or("bottom", false, |b| b.boolean())? {
        profile.insert(0, [0.0; 2]);
    }
    turned(f, profile)
}

/// A cone or frustum without ends; `radius = [below, above]`, of which the lower one may be 0.
pub(super) fn cone(f: &mut Fields<'_>) -> Result<ShapeSpec, SceneError> {
    let radii = f.required("radius")?;
    let [low, high] = radii.numbers::<2>(Quantity::Length)?;
    if !(low >= 0.0 && high > 0.0 && low != high) {
        let cure = "write `radius = [below, above]`, two different lengths of which only the first may be 0";
        return Err(radii.error(format!("found the radii {low} and {high}"), cure));
    }
    let height = length(f, "height")?;
    turned(f, vec![[low, 0.0], [high, height]])
}

/// The half angle of a hopper against the upright: 90° is a flat bottom.
fn half_angle(f: &mut Fields<'_>) -> Result<f64, SceneError> {
    let right = std::f64::consts::FRAC_PI_2;
    let Some(field) = f.optional("angle") else { return Ok(right) };
    let angle = field.in_rad(right)?.positive(Quantity::Angle)?;
    if angle > right + 1e-3 {
        return Err(field.error(format!("found {:.1} deg", angle.to_degrees()), "the half angle lies between 0 and 90 deg (a flat bottom)"));
    }
    Ok(angle.min(right))
}

/// Height of a slope with this half angle over this way; nothing at 90°.
fn rise(way: f64, angle: f64) -> f64 {
    if angle > std::f64::consts::FRAC_PI_2 - 1e-9 { 0.0 } else { way / libm::tan(angle) }
}

/// A bin over a cone, or over a flat bottom with a round hole; z = 0 at the top of the orifice.
pub(super) fn hopper(f: &mut Fields<'_>) -> Result<ShapeSpec, SceneError> {
    let (radius, height) = (length(f, "radius")?, length(f, "height")?);
    let orifice = f.required("orifice")?;
    let outlet = orifice.positive(Quantity::Length)?;
    if outlet >= radius {
        let message = format!("found an orifice of radius {outlet} m in a bin of radius {radius} m");
        return Err(orifice.error(message, "make `orifice` smaller than `radius`"));
    }
    let angle = half_angle(f)?;
    let slope = rise(radius - outlet, angle);
    let mut profile = vec![[outlet, 0.0], [radius, slope], [radius, slope + height]];
    if slope == 0.0 {
        // the floor has a thickness of its own
        let floor = f.or("floor", WALL * outlet, |t| t.positive(Quantity::Length))?;
        profile.insert(0, [outlet, -floor]);
    }
    turned(f, profile)
}

/// A bin of rectangular section over two inclined plates that leave a slot along y; z = 0 at the slot.
pub(super) fn wedge_hopper(f: &mut Fields<'_>) -> Result<ShapeSpec, SceneError> {
    let ([wx, wy], height) = (f.required("width")?.numbers::<2>(Quantity::Length)?, length(f, "height")?);
    let slot_field = f.required("slot")?;
    let slot = slot_field.positive(Quantity::Length)?;
    if !(wx > slot && wy > 0.0) {
        let cure = "write `width = [x, y]` in m, the first larger than `slot`";
        return Err(slot_field.error(format!("found a slot of {slot} m in a bin of {wx} m by {wy} m"), cure));
    }
    let angle = half_angle(f)?;
    let t = f.or("thickness", WALL * wx.max(wy), |t| t.positive(Quantity::Length))?;
    let slope = rise(0.5 * (wx - slot), angle);
    let run = 0.5 * (wx - slot);
    // inner faces are exact, edges of plates that meet overlap outside
    let plate = |half: DVec3, at: DVec3, turn: DQuat| (Pose::new(at, turn), ShapeSpec::Cuboid { half_extents: half });
    let mut parts = Vec::new();
    for side in [-1.0, 1.0] {
        let upright = DVec3::new(side * 0.5 * (wx + t), 0.0, slope + 0.5 * height);
        parts.push(plate(DVec3::new(0.5 * t, 0.5 * wy + t, 0.5 * height), upright, DQuat::IDENTITY));
        let end = DVec3::new(0.0, side * 0.5 * (wy + t), 0.5 * (slope + height) - 0.5 * if slope == 0.0 { t } else { 0.0 });
        let tall = 0.5 * (slope + height + if slope == 0.0 { t } else { 0.0 });
        parts.push(plate(DVec3::new(0.5 * wx + t, 0.5 * t, tall), end, DQuat::IDENTITY));
        // from the slot up along the slope: its inner face passes through both edges
        let long = libm::hypot(run, slope);
        let along = DVec3::new(side * run, 0.0, slope) / long;
        let out = DVec3::new(side * slope, 0.0, -run) / long;
        let middle = DVec3::X * (side * 0.5 * slot) + along * (0.5 * long) + out * (0.5 * t);
        let turn = axis_angle(DVec3::Y, -libm::atan2(along.z, along.x));
        parts.push(plate(DVec3::new(0.5 * long, 0.5 * wy + t, 0.5 * t), middle, turn));
    }
    Ok(ShapeSpec::Compound { parts })
}
