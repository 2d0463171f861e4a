//! `[[outlet]]`, `[[inlet]]` and `[[surface]]`: where bodies leave, come in and are counted.

use glam::{BVec3, DVec3};

use super::bodies::{self, Names};
use super::error::SceneError;
use super::fields::{Field, Fields};
use super::grains;
use super::model::{Body, Inlet, Motion, Outlet, Scene, ShapeSpec, Surface};
use super::resources::Resources;
use super::sizes::sizes;
use super::units::{Quantity, short};
use crate::algebra::spatial::Pose;
use crate::geometry::{Scratch, Shape, contact_points};
use crate::granular::grain::Grain;
use crate::model::flow::{self, Region};
use crate::model::periodic::Cell;
use crate::model::surface::{self, Extent};

/// Reads them into the scene, which has its bodies, joints and interactions.
pub(super) fn read(f: &mut Fields<'_>, scene: &mut Scene, names: &Names, resources: &Resources) -> Result<(), SceneError> {
    for (k, field) in f.list("outlet")?.iter().enumerate() {
        let mut g = field.fields()?;
        let name = name(&mut g, if k == 0 { "outlet".to_owned() } else { format!("outlet{k}") }, field, scene, names)?;
        let (place, region) = match (g.optional("plane"), g.optional("box")) {
            (Some(plane), None) => {
                let (point, normal) = point_and_normal(&plane)?;
                (plane, Region::Beyond { point, normal })
            }
            (None, Some(sides)) => {
                let (low, high) = corners(&sides)?;
                (sides, Region::Box { low, high })
            }
            _ => {
                let cure = "write `plane = { point = [x, y, z], normal = [x, y, z] }`, the normal to the side where bodies leave";
                return Err(g.error("an outlet needs exactly one of `plane` and `box`", cure));
            }
        };
        g.finish()?;
        let cure = "put the outlet where bodies in the cell come";
        region.validate(&scene.periodic).map_err(|found| place.error(format!("found {found}"), cure))?;
        scene.outlets.push(Outlet { name, region });
    }
    for (k, field) in f.list("inlet")?.iter().enumerate() {
        let inlet = inlet(field, k, scene, names, resources)?;
        scene.inlets.push(inlet);
    }
    for (k, field) in f.list("surface")?.iter().enumerate() {
        let surface = surface(field, k, scene, names)?;
        scene.surfaces.push(surface);
    }
    Ok(())
}

fn surface(field: &Field<'_>, number: usize, scene: &Scene, names: &Names) -> Result<Surface, SceneError> {
    let mut f = field.fields()?;
    let name = name(&mut f, if number == 0 { "surface".to_owned() } else { format!("surface{number}") }, field, scene, names)?;
    let (plane, disc, rectangle, sides) = (f.optional("plane"), f.optional("disc"), f.optional("rectangle"), f.optional("box"));
    let surface = match (&plane, &disc, &rectangle) {
        (Some(plane), None, None) => {
            let (point, normal) = point_and_normal(plane)?;
            let bounds = sides.as_ref().map_or(Ok((DVec3::NEG_INFINITY, DVec3::INFINITY)), corners)?;
            surface::Surface { point, normal, extent: Extent::Box { low: bounds.0, high: bounds.1 } }
        }
        (None, Some(disc), None) => {
            let mut d = disc.fields()?;
            let point = d.required("centre")?.vector(Quantity::Length)?;
            let normal = d.or("normal", DVec3::NEG_Z, |n| n.direction())?;
            let radius = d.required("radius")?.positive(Quantity::Length)?;
            d.finish()?;
            surface::Surface { point, normal, extent: Extent::Disc { radius } }
        }
        (None, None, Some(rectangle)) => {
            let mut r = rectangle.fields()?;
            let point = r.required("centre")?.vector(Quantity::Length)?;
            let edges = r.required("edges")?;
            let halves = match edges.items()?.as_slice() {
                [a, b] => [0.5 * a.vector(Quantity::Length)?, 0.5 * b.vector(Quantity::Length)?],
                other => {
                    let message = format!("found {} edges, expected 2", other.len());
                    return Err(edges.error(message, "write `edges = [[x, y, z], [x, y, z]]`, at right angles"));
                }
            };
            let Some(normal) = halves[0].cross(halves[1]).try_normalize() else {
                return Err(edges.error("found edges that span no rectangle", "write `edges = [[x, y, z], [x, y, z]]`, at right angles"));
            };
            r.finish()?;
            surface::Surface { point, normal, extent: Extent::Rectangle { halves } }
        }
        _ => {
            let cure = "write `plane = { point, normal }`, `disc = { centre, normal, radius }` or `rectangle = { centre, edges }`";
            return Err(f.error("a surface needs exactly one of `plane`, `disc` and `rectangle`", cure));
        }
    };
    if let Some(sides) = sides.as_ref().filter(|_| plane.is_none()) {
        return Err(sides.error("found `box` beside a surface that has an end", "bounds are those of a `plane`"));
    }
    surface.validate(&scene.periodic).map_err(|e| field.error(format!("found {} as {}", e.found, e.name), e.needed))?;
    f.finish()?;
    Ok(Surface { name, surface })
}

fn inlet(field: &Field<'_>, number: usize, scene: &Scene, names: &Names, resources: &Resources) -> Result<Inlet, SceneError> {
    let mut f = field.fields()?;
    let name = name(&mut f, if number == 0 { "inlet".to_owned() } else { format!("inlet{number}") }, field, scene, names)?;
    let sides = f.required("box")?;
    let (low, high) = corners(&sides)?;
    let radius = f.required("radius")?;
    let sizes = sizes(&radius, resources)?;
    let width = high - low;
    if !width.is_finite() || width.min_element() < 2.0 * sizes.largest() {
        let [x, y, z] = width.to_array().map(|w| (w * 1e9).round() / 1e9);
        let message = format!("found a box of {x} x {y} x {z} m for grains of up to {} m radius", sizes.largest());
        return Err(sides.error(message, "an inlet holds each grain as a whole; make its box wider than they are, and finite"));
    }
    if let Some(pipe) = pierced(scene, low, high) {
        let message = format!("found a box that reaches through the wall of {pipe:?}, where grains would come in outside");
        return Err(sides.error(message, "make the box narrower than the vessel"));
    }
    if let Some(vessel) = within(scene, low, high, sizes.smallest()) {
        let message = format!("found a box that reaches through the walls of {vessel:?} around it, where grains would come in outside");
        return Err(sides.error(message, "make the box narrower than what stands around it"));
    }
    let grain = f.or("grain", Grain::Ball, |g| grains::grain(&g, resources))?;
    let seed = f.or("seed", 0, |s| s.seed())?;
    let gate = flow::Inlet {
        low,
        high,
        rate: f.required("rate")?.positive(Quantity::MassRate)?,
        start: f.or("start", 0.0, |t| t.non_negative(Quantity::Time))?,
        seed,
        flows: scene.flows,
    };
    let count = f.required("count")?.whole(1, 10_000_000)?;
    let material = bodies::material(&mut f, &scene.materials)?;
    let locked_translation = f.or("locked_translation", [false; 3], |l| bodies::axes(&l))?;
    let locked_rotation = f.or("locked_rotation", [false; 3], |l| bodies::axes(&l))?;
    let velocity = f.or("velocity", DVec3::ZERO, |v| match v.vector(Quantity::Velocity)? {
        free if (0..3).all(|a| !locked_translation[a] || free[a] == 0.0) => Ok(free),
        held => Err(v.error(format!("found the velocity {held}, part of which is along a locked axis"), "let it be 0 there")),
    })?;
    f.finish()?;
    Ok(Inlet { name, gate, count, grain, sizes, seed, material, velocity, locked_translation, locked_rotation })
}

/// Name of a vessel which some corners of a box are in, and some beside.
fn pierced(scene: &Scene, low: DVec3, high: DVec3) -> Option<&str> {
    let corner = |k: u32| DVec3::select(BVec3::new(k & 1 > 0, k & 2 > 0, k & 4 > 0), high, low);
    let pierces = |body: &&Body| {
        let Ok(Shape::Vessel(vessel)) = body.shape.build() else { return false };
        let beside = |k| vessel.surrounds(body.pose.local_point(corner(k)));
        // a narrow vessel in a wide box has no corner in it
        let through = vessel.surrounds(body.pose.local_point(0.5 * (low + high))) == Some(true);
        (0..8).any(|k| beside(k) == Some(false)) && (through || (0..8).any(|k| beside(k) == Some(true)))
    };
    let vessels = scene.bodies.iter().filter(|b| matches!(b.shape, ShapeSpec::Vessel { .. }));
    vessels.into_iter().find(pierces).map(|body| body.name.as_str())
}

/// Name of a body that does not move by itself, stands around the middle of a box (both ways along two axes at least) and reaches into it:
/// a hopper of plates, or a shell of triangles. Round vessels are looked at by [`pierced`].
fn within(scene: &Scene, low: DVec3, high: DVec3, smallest: f64) -> Option<&str> {
    let (mut scratch, mut points) = (Scratch::default(), Vec::new());
    // what leans on the box does not stand in it
    let mut meets = |half: DVec3, at: DVec3, shape: &Shape, pose: &Pose| {
        let Ok(room) = Shape::cuboid(half) else { return false };
        points.clear();
        contact_points(&room, &Pose::at(at), shape, pose, 0.0, &mut scratch, &mut points);
        points.iter().any(|p| p.gap < -1e-6 * smallest)
    };
    let (half, middle) = (0.5 * (high - low), 0.5 * (low + high));
    for body in scene.bodies.iter().filter(|body| body.motion != Motion::Dynamic) {
        let hollow = matches!(body.shape, ShapeSpec::Compound { .. } | ShapeSpec::Mesh { .. });
        let Some(shape) = Some(&body.shape).filter(|_| hollow).and_then(|spec| spec.build().ok()) else { continue };
        let (below, above) = shape.aabb(&body.pose);
        if !(below.cmplt(high) & above.cmpgt(low)).all() || !meets(half, middle, &shape, &body.pose) {
            continue;
        }
        if meets(DVec3::splat(smallest), middle, &shape, &body.pose) {
            continue; // it stands in the middle
        }
        // what stands in the way of a grain from the middle on
        let mut stands = |axis: usize, end: f64| {
            let mut rod = DVec3::splat(smallest);
            rod[axis] = 0.5 * (end - middle[axis]).abs();
            let mut at = middle;
            at[axis] = 0.5 * (middle[axis] + end);
            rod[axis] > smallest && meets(rod, at, &shape, &body.pose)
        };
        if (0..3).filter(|&a| stands(a, below[a] - smallest) && stands(a, above[a] + smallest)).count() >= 2 {
            return Some(&body.name);
        }
    }
    None
}

/// A name that nothing else has which can be recorded.
fn name(f: &mut Fields<'_>, default: String, field: &Field<'_>, scene: &Scene, names: &Names) -> Result<String, SceneError> {
    let name = f.or("name", default, |n| bodies::name(&n))?;
    let links = scene.joints.iter().map(|j| &j.name).chain(scene.ties.iter().map(|t| &t.name));
    let gates = scene.outlets.iter().map(|o| &o.name).chain(scene.inlets.iter().map(|i| &i.name));
    let gates = gates.chain(scene.surfaces.iter().map(|s| &s.name));
    let mut others = links.chain(scene.transmissions.iter().map(|t| &t.name)).chain(gates);
    if names.meant(&name).is_some() || others.any(|other| *other == name) {
        let message = format!("found the name \"{}\" a second time", short(&name));
        return Err(field.error(message, "give every body, generator, joint, interaction, outlet, inlet and surface a name of its own"));
    }
    Ok(name)
}

fn point_and_normal(field: &Field<'_>) -> Result<(DVec3, DVec3), SceneError> {
    let mut f = field.fields()?;
    let point = f.or("point", DVec3::ZERO, |p| p.vector(Quantity::Length))?;
    let normal = f.or("normal", DVec3::NEG_Z, |n| n.direction())?;
    f.finish()?;
    Ok((point, normal))
}

/// Two corners; a side that is `"inf"` or `"-inf"` is open.
pub(super) fn corners(field: &Field<'_>) -> Result<(DVec3, DVec3), SceneError> {
    let cure = "write `box = [[x, y, z], [x, y, z]]`, the lower and the upper corner; \"-inf\" and \"inf\" leave a side open";
    let corner = |field: &Field<'_>| match field.items()?.as_slice() {
        [x, y, z] => {
            let bound = |side: &Field<'_>| side.bound(Quantity::Length);
            Ok(DVec3::new(bound(x)?, bound(y)?, bound(z)?))
        }
        other => Err(field.error(format!("found {} numbers, expected 3", other.len()), cure)),
    };
    let (low, high) = match field.items()?.as_slice() {
        [low, high] => (corner(low)?, corner(high)?),
        other => return Err(field.error(format!("found {} corners, expected 2", other.len()), cure)),
    };
    if !low.cmplt(high).all() {
        return Err(field.error(format!("found a box from {low} to {high}, which holds nothing"), cure));
    }
    Ok((low, high))
}

/// Two corners that stand within the periodic cell; a side that is open along one of its axes is that of the cell.
pub(super) fn corners_in_cell(field: &Field<'_>, cell: &Cell) -> Result<(DVec3, DVec3), SceneError> {
    let (mut low, mut high) = corners(field)?;
    for a in (0..3).filter(|&a| cell.periodic(a)) {
        if low[a] == f64::NEG_INFINITY && high[a] == f64::INFINITY {
            (low[a], high[a]) = (cell.low[a], cell.high[a]);
        }
        if low[a] < cell.low[a] || high[a] > cell.high[a] {
            let message = format!("found {} to {} m along {}, beyond the periodic cell", low[a], high[a], ["x", "y", "z"][a]);
            return Err(
                field.error(message, format!("stay between {} and {}; \"-inf\" and \"inf\" mean all of it", cell.low[a], cell.high[a]))
            );
        }
    }
    Ok((low, high))
}
