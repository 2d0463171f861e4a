//! `shape = { kind = "…", … }` and where a frame stands.

use glam::{DQuat, DVec3};

use super::error::{SceneError, did_you_mean};
use super::fields::{Field, Fields};
use super::model::ShapeSpec;
use super::resources::Resources;
use super::units::Quantity;
use super::vessels;
use crate::algebra::spatial::{Pose, axis_angle};

const KINDS: [&str; 14] = [
    "ball",
    "cuboid",
    "half_space",
    "capsule",
    "cylinder",
    "hull",
    "mesh",
    "height_field",
    "compound",
    "vessel",
    "tube",
    "cone",
    "hopper",
    "wedge_hopper",
];

/// Reads a shape.
pub(super) fn shape(field: &Field<'_>, resources: &Resources) -> Result<ShapeSpec, SceneError> {
    let mut f = field.fields()?;
    let kind = f.required("kind")?;
    let length = |f: &mut Fields<'_>, key| f.required(key)?.positive(Quantity::Length);
    let shape = match kind.text()? {
        "ball" => ShapeSpec::Ball { radius: length(&mut f, "radius")? },
        "cuboid" => ShapeSpec::Cuboid { half_extents: half_extents(&mut f)? },
        "half_space" => ShapeSpec::HalfSpace { normal: f.or("normal", DVec3::Z, |n| n.direction())? },
        "capsule" => ShapeSpec::Capsule { half_height: length(&mut f, "half_height")?, radius: length(&mut f, "radius")? },
        "cylinder" => ShapeSpec::Cylinder { half_height: length(&mut f, "half_height")?, radius: length(&mut f, "radius")? },
        "hull" => hull(&mut f, resources)?,
        "mesh" => mesh(&mut f, resources)?,
        "height_field" => height_field(&mut f)?,
        "compound" => compound(&mut f, resources)?,
        "vessel" => vessels::vessel(&mut f)?,
        "tube" => vessels::tube(&mut f)?,
        "cone" => vessels::cone(&mut f)?,
        "hopper" => vessels::hopper(&mut f)?,
        "wedge_hopper" => vessels::wedge_hopper(&mut f)?,
        other => return Err(kind.error(format!("found the unknown shape \"{}\"", super::units::short(other)), did_you_mean(other, KINDS))),
    };
    f.finish()?;
    Ok(shape)
}

/// `size` (edge lengths) or `half_extents`.
fn half_extents(f: &mut Fields<'_>) -> Result<DVec3, SceneError> {
    let (size, half) = (f.optional("size"), f.optional("half_extents"));
    let (field, scale) = match (size, half) {
        (Some(field), None) => (field, 0.5),
        (None, Some(field)) => (field, 1.0),
        _ => {
            return Err(
                f.error("a cuboid needs exactly one of `size` and `half_extents`", "write `size = [x, y, z]`, the edge lengths in m")
            );
        }
    };
    let v = field.vector(Quantity::Length)?;
    if v.min_element() <= 0.0 {
        return Err(field.error(format!("found the edges {v}, expected lengths greater than 0"), "write three positive lengths in m"));
    }
    Ok(v * scale)
}

fn points(field: &Field<'_>) -> Result<Vec<DVec3>, SceneError> {
    field.items()?.iter().map(|p| p.vector(Quantity::Length)).collect()
}

/// `points` or the vertices of a mesh `file`.
fn hull(f: &mut Fields<'_>, resources: &Resources) -> Result<ShapeSpec, SceneError> {
    let scale = f.or("scale", 1.0, |s| s.positive(Quantity::Number))?;
    let (list, file) = (f.optional("points"), f.optional("file"));
    let (field, points) = match (list, file) {
        (Some(list), None) => (list.clone(), points(&list)?),
        (None, Some(file)) => {
            resources.note_blocks(&file)?;
            (file.clone(), resources.hull(&file)?)
        }
        _ => return Err(f.error("a hull needs exactly one of `points` and `file`", "write `points = [[x, y, z], …]` in m")),
    };
    if points.len() < 4 {
        return Err(field.error(format!("found {} points, expected 4 or more that do not lie in a plane", points.len()), "add points"));
    }
    Ok(ShapeSpec::Hull { points: points.into_iter().map(|p| p * scale).collect() })
}

/// `vertices` and `triangles`, or a mesh `file`.
fn mesh(f: &mut Fields<'_>, resources: &Resources) -> Result<ShapeSpec, SceneError> {
    let scale = f.or("scale", 1.0, |s| s.positive(Quantity::Number))?;
    if let Some(file) = f.optional("file") {
        let data = resources.mesh(&file)?;
        return Ok(ShapeSpec::Mesh { vertices: data.vertices.into_iter().map(|v| v * scale).collect(), triangles: data.triangles });
    }
    let vertices: Vec<DVec3> = points(&f.required("vertices")?)?.into_iter().map(|v| v * scale).collect();
    let list = f.required("triangles")?;
    let corner = |c: &Field<'_>| c.whole(0, vertices.len().saturating_sub(1)).map(|i| i as u32);
    let mut triangles = Vec::new();
    for item in list.items()? {
        match item.items()?.as_slice() {
            [a, b, c] => triangles.push([corner(a)?, corner(b)?, corner(c)?]),
            other => {
                return Err(item.error(format!("found {} corners, expected 3", other.len()), "write three vertex numbers, counted from 0"));
            }
        }
    }
    if triangles.is_empty() {
        return Err(list.error("found an empty mesh, expected at least one triangle", "list the triangles or name a mesh `file`"));
    }
    Ok(ShapeSpec::Mesh { vertices, triangles })
}

fn height_field(f: &mut Fields<'_>) -> Result<ShapeSpec, SceneError> {
    let size_field = f.required("size")?;
    let size = size_field.numbers::<2>(Quantity::Length)?;
    if size.iter().any(|x| *x <= 0.0) {
        return Err(
            size_field.error(format!("found the size {size:?}, expected lengths greater than 0"), "write two positive lengths in m")
        );
    }
    let counts = f.required("samples")?;
    let samples = match counts.items()?.as_slice() {
        [nx, ny] => [nx.whole(2, 10_000)?, ny.whole(2, 10_000)?],
        other => return Err(counts.error(format!("found {} numbers, expected 2", other.len()), "write `samples = [nx, ny]`")),
    };
    let list = f.required("heights")?;
    let heights = list.items()?.iter().map(|h| h.number(Quantity::Length)).collect::<Result<Vec<_>, _>>()?;
    if heights.len() != samples[0] * samples[1] {
        let message =
            format!("found {} heights, but {} × {} samples need {}", heights.len(), samples[0], samples[1], samples[0] * samples[1]);
        return Err(list.error(message, "give the heights row by row, x running fastest"));
    }
    Ok(ShapeSpec::HeightField { size, samples, heights })
}

fn compound(f: &mut Fields<'_>, resources: &Resources) -> Result<ShapeSpec, SceneError> {
    let list = f.required("parts")?;
    let mut parts = Vec::new();
    for item in list.items()? {
        let mut part = item.fields()?;
        let spec_field = part.required("shape")?;
        let spec = shape(&spec_field, resources)?;
        if matches!(spec, ShapeSpec::HalfSpace { .. }) {
            return Err(spec_field.error("found a half_space as part of a compound", "make it a static body of its own"));
        }
        parts.push((pose(&mut part)?, spec));
        part.finish()?;
    }
    if parts.is_empty() {
        return Err(list.error("found a compound without parts", "add at least one { shape = …, position = … }"));
    }
    Ok(ShapeSpec::Compound { parts })
}

/// `position`, and `orientation = [w, x, y, z]` or `rotation = { axis, angle }`.
pub(super) fn pose(f: &mut Fields<'_>) -> Result<Pose, SceneError> {
    let position = f.or("position", DVec3::ZERO, |p| p.vector(Quantity::Length))?;
    let rotation = match (f.optional("orientation"), f.optional("rotation")) {
        (None, None) => DQuat::IDENTITY,
        (Some(q), None) => {
            let [w, x, y, z] = q.numbers::<4>(Quantity::Number)?;
            let found = DQuat::from_xyzw(x, y, z, w);
            if !(found.length() - 1.0).abs().lt(&1e-3) {
                let message = format!("found a quaternion of length {}, expected 1", found.length());
                return Err(q.error(message, "write [w, x, y, z] with w² + x² + y² + z² = 1, or use rotation = { axis, angle }"));
            }
            found.normalize()
        }
        (None, Some(r)) => {
            let mut turn = r.fields()?;
            let axis = turn.required("axis")?.direction()?;
            let angle = turn.required("angle")?.in_rad(std::f64::consts::TAU)?.number(Quantity::Angle)?;
            turn.finish()?;
            axis_angle(axis, angle)
        }
        (Some(q), Some(_)) => return Err(q.error("found both `orientation` and `rotation`", "keep one of them")),
    };
    Ok(Pose::new(position, rotation))
}
