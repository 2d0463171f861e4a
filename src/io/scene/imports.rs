//! `[[import]]`: block models in files, one body for each block.

use std::path::Path;

use glam::DVec3;

use super::bent::{bent, warped};
use super::bodies::{self, Names};
use super::error::SceneError;
use super::fields::Field;
use super::model::{Body, Scene, ShapeSpec};
use super::resources::Resources;
use super::units::{self, Quantity};
use crate::algebra::spatial::Pose;
use crate::geometry::Shape;
use crate::io::blocks::{self, BlockMesh};

/// Adds the blocks of a model to the scene: static ones first, then the others, which the name of the import means.
pub(super) fn import(
    field: &Field<'_>,
    number: usize,
    scene: &mut Scene,
    names: &mut Names,
    resources: &Resources,
) -> Result<(), SceneError> {
    let mut f = field.fields()?;
    let file = f.required("file")?;
    let default = Path::new(file.text()?).file_stem().map_or_else(String::new, |s| s.to_string_lossy().replace([',', '"', '\''], "_"));
    let name = f.or("name", if number == 0 || !default.is_empty() { default } else { format!("import{number}") }, |n| bodies::name(&n))?;
    let material = bodies::material(&mut f, &scene.materials)?;
    let origin = f.or("position", DVec3::ZERO, |p| p.vector(Quantity::Length))?;
    let unit = f.or("unit", 1.0, |u| {
        let text = u.text()?;
        units::parse(&format!("1 {text}"), Quantity::Length).map_err(|e| u.error(e.message, e.cure))
    })?;
    let up = f.or("up", false, |u| u.choice(&[("z", false), ("y", true)]))?;
    let fixed = f.optional("fixed");
    f.finish()?;
    let mut model = blocks::load(&resources.path(&file)?).map_err(|e| file.error(format!("{}: {}", e.file, e.message), e.cure))?;
    if let Some(list) = &fixed {
        for item in list.items()? {
            let wanted = item.word().unwrap_or_default();
            match model.iter_mut().find(|b| b.name == wanted) {
                Some(block) => block.support = true,
                None => {
                    let known = model.iter().map(|b| b.name.as_str()).take(2000);
                    return Err(item.error(
                        format!("found no block `{}` in the file", units::short(&wanted)),
                        super::error::did_you_mean(&wanted, known),
                    ));
                }
            }
        }
    }
    let turned: Vec<&str> = model.iter().filter(|block| block.turned).map(|block| block.name.as_str()).collect();
    if let Some(first) = turned.first() {
        let message =
            format!("the faces of {} of {} blocks look inwards, the first is `{first}`; they were turned over", turned.len(), model.len());
        resources.note(name.clone(), message, "unify the normals of the model, lest something else of it is inside out");
    }
    model.sort_by_key(|block| !block.support);
    let supports = model.iter().filter(|block| block.support).count();
    let start = scene.bodies.len();
    for block in &model {
        let place = |p: DVec3| origin + unit * if up { DVec3::new(p.x, -p.z, p.y) } else { p };
        let (shape, at, bent) = shape(block, place).map_err(|found| {
            file.error(format!("the block `{}`: {found}", block.name), "mend it in the model: blocks are solids of some volume")
        })?;
        let mut body = Body::new(format!("{name}.{}", block.name.replace([',', '"', '\''], "_")), shape).at(at);
        if let Some((off, place)) = bent {
            let message = format!("a face is not plane: a corner lies {off:.2e} m beside it, at {:.4} m", at + place);
            resources.note(
                body.name.clone(),
                message,
                "draw its corners in one plane, or cut the face into two: neighbours touch it in points alone",
            );
        }
        body.material = material;
        names.add(&body.name, scene.bodies.len(), field)?;
        scene.bodies.push(if block.support { body.fixed() } else { body });
    }
    names.add_group(&name, start + supports..scene.bodies.len(), field)
}

/// Sorted, each once.
fn in_order(points: &mut Vec<DVec3>) {
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)).then(a.z.total_cmp(&b.z)));
    points.dedup();
}

/// A block of several convex parts, about its middle; `None` where it has none.
fn compound(block: &BlockMesh, place: &impl Fn(DVec3) -> DVec3, middle: DVec3) -> Option<ShapeSpec> {
    let part = |mesh: &crate::io::mesh::MeshData| {
        let mut points: Vec<DVec3> = mesh.vertices.iter().map(|&p| place(p) - middle).collect();
        in_order(&mut points);
        (Pose::IDENTITY, ShapeSpec::Hull { points })
    };
    (!block.parts.is_empty()).then(|| ShapeSpec::Compound { parts: block.parts.iter().map(part).collect() })
}

/// The shape of a block about the middle of its bounding box, where that is, and a corner beside its face. Corners are sorted, so that every format that has the same
/// corners gives the same bits.
fn shape(block: &BlockMesh, place: impl Fn(DVec3) -> DVec3) -> Result<(ShapeSpec, DVec3, Option<(f64, DVec3)>), String> {
    let vertices: Vec<DVec3> = block.mesh.vertices.iter().map(|&p| place(p)).collect();
    let low = vertices.iter().fold(DVec3::INFINITY, |a, &b| a.min(b));
    let high = vertices.iter().fold(DVec3::NEG_INFINITY, |a, &b| a.max(b));
    let middle = Pose { position: 0.5 * (low + high), ..Pose::IDENTITY };
    let own: Vec<DVec3> = vertices.iter().map(|&p| p - middle.position).collect();
    let mut points = own.clone();
    in_order(&mut points);
    if let Some(parts) = compound(block, &place, middle.position) {
        return Ok((parts, middle.position, None));
    }
    let mesh = crate::io::mesh::MeshData { vertices: own, triangles: block.mesh.triangles.clone() };
    let hull = Shape::hull(&points).map_err(|e| e.to_string())?;
    let volume = hull.mass_properties(1.0).map_err(|e| e.to_string())?.mass;
    let convex = mesh.triangles.is_empty() || blocks::is_hull(blocks::volume(&mesh), volume);
    let bent = if convex { bent(&hull) } else { None }.or_else(|| warped(&mesh));
    let shape = if convex { ShapeSpec::Hull { points } } else { ShapeSpec::Mesh { vertices: mesh.vertices, triangles: mesh.triangles } };
    Ok((shape, middle.position, bent))
}
