//! `[[outlet]]`: where bodies leave.

use glam::DVec3;

use super::bodies::{self, Names};
use super::error::SceneError;
use super::fields::{Field, Fields};
use super::model::{Outlet, Scene};
use super::units::{Quantity, short};
use crate::model::flow::Region;

/// Reads them into the scene, which has its bodies, joints and interactions.
pub(super) fn read(f: &mut Fields<'_>, scene: &mut Scene, names: &Names) -> Result<(), SceneError> {
    for (k, field) in f.list("outlet")?.iter().enumerate() {
        let mut g = field.fields()?;
        let name = name(&mut g, if k == 0 { "outlet".to_owned() } else { format!("outlet{k}") }, field, scene, names)?;
        let region = match (g.optional("plane"), g.optional("box")) {
            (Some(plane), None) => beyond(&plane)?,
            (None, Some(corners)) => within(&corners)?,
            _ => {
                let cure = "write `plane = { point = [x, y, z], normal = [x, y, z] }`, the normal to the side where bodies leave";
                return Err(g.error("an outlet needs exactly one of `plane` and `box`", cure));
            }
        };
        g.finish()?;
        scene.outlets.push(Outlet { name, region });
    }
    Ok(())
}

/// A name that nothing else has which can be recorded.
fn name(f: &mut Fields<'_>, default: String, field: &Field<'_>, scene: &Scene, names: &Names) -> Result<String, SceneError> {
    let name = f.or("name", default, |n| bodies::name(&n))?;
    let links = scene.joints.iter().map(|j| &j.name).chain(scene.ties.iter().map(|t| &t.name));
    let gates = scene.outlets.iter().map(|o| &o.name);
    let mut others = links.chain(scene.transmissions.iter().map(|t| &t.name)).chain(gates);
    if names.meant(&name).is_some() || others.any(|other| *other == name) {
        let message = format!("found the name \"{}\" a second time", short(&name));
        return Err(field.error(message, "give every body, generator, joint, interaction and outlet a name of its own"));
    }
    Ok(name)
}

fn beyond(field: &Field<'_>) -> Result<Region, SceneError> {
    let mut f = field.fields()?;
    let point = f.or("point", DVec3::ZERO, |p| p.vector(Quantity::Length))?;
    let normal = f.or("normal", DVec3::NEG_Z, |n| n.direction())?;
    f.finish()?;
    Ok(Region::Beyond { point, normal })
}

/// Two corners; a side that is `"inf"` or `"-inf"` is open.
fn within(field: &Field<'_>) -> Result<Region, SceneError> {
    let cure = "write `box = [[x, y, z], [x, y, z]]`, the lower and the upper corner; \"-inf\" and \"inf\" leave a side open";
    let corner = |field: &Field<'_>| match field.items()?.as_slice() {
        [x, y, z] => Ok(DVec3::new(bound(x)?, bound(y)?, bound(z)?)),
        other => Err(field.error(format!("found {} numbers, expected 3", other.len()), cure)),
    };
    let (low, high) = match field.items()?.as_slice() {
        [low, high] => (corner(low)?, corner(high)?),
        other => return Err(field.error(format!("found {} corners, expected 2", other.len()), cure)),
    };
    if !low.cmplt(high).all() {
        return Err(field.error(format!("found a box from {low} to {high}, which holds nothing"), cure));
    }
    Ok(Region::Box { low, high })
}

fn bound(field: &Field<'_>) -> Result<f64, SceneError> {
    match field.word().as_deref() {
        Some("inf") => Ok(f64::INFINITY),
        Some("-inf") => Ok(f64::NEG_INFINITY),
        _ => field.number(Quantity::Length),
    }
}
