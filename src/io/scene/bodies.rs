//! `[[bodies]]`, and names that refer to bodies and materials.

use std::collections::BTreeMap;
use std::ops::Range;

use glam::DVec3;

use super::error::{SceneError, did_you_mean};
use super::fields::{Field, Fields};
use super::model::{Body, Impulse, Material, Motion, ShapeSpec};
use super::resources::Resources;
use super::units::{Quantity, short};
use super::{motion, servo, shapes};

/// What names mean.
#[derive(Default)]
pub(super) struct Names {
    bodies: BTreeMap<String, usize>,
    /// The dynamic bodies of each generator.
    groups: BTreeMap<String, Range<usize>>,
}

impl Names {
    /// Notes the body at `index`; `field` is where it was written.
    pub(super) fn add(&mut self, name: &str, index: usize, field: &Field<'_>) -> Result<(), SceneError> {
        if self.groups.contains_key(name) || self.bodies.insert(name.to_owned(), index).is_some() {
            let message = format!("found the name \"{}\" a second time", short(name));
            return Err(field.error(message, "give every body and generator a name of its own"));
        }
        Ok(())
    }

    /// Notes the dynamic bodies of a generator.
    pub(super) fn add_group(&mut self, name: &str, bodies: Range<usize>, field: &Field<'_>) -> Result<(), SceneError> {
        if self.bodies.contains_key(name) || self.groups.insert(name.to_owned(), bodies).is_some() {
            let message = format!("found the name \"{}\" a second time", short(name));
            return Err(field.error(message, "give every body and generator a name of its own"));
        }
        Ok(())
    }

    /// The body that `field` names.
    pub(super) fn body(&self, field: &Field<'_>) -> Result<usize, SceneError> {
        let name = field.text()?;
        let known = || self.bodies.keys().map(String::as_str).take(2000).collect::<Vec<_>>();
        let message = || format!("found no body named \"{}\"", short(name));
        self.bodies.get(name).copied().ok_or_else(|| field.error(message(), did_you_mean(name, known())))
    }

    /// The bodies that a name of a body or generator means.
    pub(super) fn meant(&self, name: &str) -> Option<Range<usize>> {
        self.groups.get(name).cloned().or_else(|| self.bodies.get(name).map(|&i| i..i + 1))
    }

    /// All names of bodies and generators.
    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        self.groups.keys().chain(self.bodies.keys()).map(String::as_str)
    }

    /// The bodies that a list of body and generator names means, each once and in the order of the scene.
    pub(super) fn bodies(&self, field: &Field<'_>) -> Result<Vec<usize>, SceneError> {
        let mut found = Vec::new();
        for item in field.items()? {
            match self.groups.get(item.text()?) {
                Some(group) => found.extend(group.clone()),
                None => found.push(self.body(&item)?),
            }
        }
        found.sort_unstable();
        found.dedup();
        if found.is_empty() { Err(field.error("found no bodies", "name at least one body or generator")) } else { Ok(found) }
    }
}

/// The material that the optional field `material` names, or the first one.
pub(super) fn material(f: &mut Fields<'_>, materials: &[Material]) -> Result<usize, SceneError> {
    f.or("material", 0, |field| material_index(&field, materials))
}

/// The material that `field` names.
pub(super) fn material_index(field: &Field<'_>, materials: &[Material]) -> Result<usize, SceneError> {
    let name = field.text()?;
    let found = materials.iter().position(|m| m.name == name);
    let known: Vec<&str> = materials.iter().map(|m| m.name.as_str()).collect();
    found.ok_or_else(|| field.error(format!("found no material named \"{}\"", short(name)), did_you_mean(name, known)))
}

/// Reads one body; `index` numbers the nameless.
pub(super) fn body(field: &Field<'_>, index: usize, materials: &[Material], resources: &Resources) -> Result<Body, SceneError> {
    let mut f = field.fields()?;
    let name = f.or("name", format!("body{index}"), |n| body_name(&n))?;
    let shape_field = f.required("shape")?;
    let mut body = Body::new(name, shapes::shape(&shape_field, resources)?);
    body.material = material(&mut f, materials)?;
    body.pose = shapes::pose(&mut f)?;
    let moved = OF_DYNAMIC.iter().find_map(|&key| f.optional(key).map(|field| (key, field)));
    body.linear_velocity = f.or("velocity", DVec3::ZERO, |v| v.vector(Quantity::Velocity))?;
    body.angular_velocity = f.or("angular_velocity", DVec3::ZERO, |v| v.vector(Quantity::AngularVelocity))?;
    body.motion = f.or("motion", Motion::Dynamic, |m| motion::motion(&m, resources))?;
    body.mass = f.maybe("mass", |m| m.positive(Quantity::Mass))?;
    body.inertia = f.maybe("inertia", |i| inertia(&i))?;
    body.centre_of_mass = f.maybe("centre_of_mass", |c| c.vector(Quantity::Length))?;
    body.locked_translation = f.or("locked_translation", [false; 3], |l| axes(&l))?;
    body.locked_rotation = f.or("locked_rotation", [false; 3], |l| axes(&l))?;
    body.force = f.or("force", DVec3::ZERO, |v| v.vector(Quantity::Force))?;
    body.torque = f.or("torque", DVec3::ZERO, |v| v.vector(Quantity::Torque))?;
    if let Some(servo) = f.optional("servo") {
        servo::read(&servo, &mut body)?;
    }
    for blow in f.list("impulses")? {
        let mut blow = blow.fields()?;
        body.impulses.push(impulse(&mut blow)?);
        blow.finish()?;
    }
    body.impulses.sort_by(|a, b| a.time.total_cmp(&b.time));
    body.birth = f.or("birth", 0.0, |t| t.non_negative(Quantity::Time))?;
    body.death = f.maybe("death", |t| t.positive(Quantity::Time))?;
    if body.death.is_some_and(|death| death <= body.birth) {
        return Err(
            f.error(format!("found a death that does not follow the birth at {} s", body.birth), "let the body die after its birth")
        );
    }
    if let Some(early) = body.impulses.iter().find(|i| i.time > 0.0 && i.time < body.birth) {
        let message = format!("found a blow at {} s on a body that is born at {} s", early.time, body.birth);
        return Err(f.error(message, "let the blow follow the birth; time = 0 is the first step of the body"));
    }
    if body.servo.is_some() && body.birth > 0.0 {
        return Err(f.error(format!("found a servo on a body that is born at {} s", body.birth), "let it be there from the start"));
    }
    f.finish()?;
    if let (true, Some((key, moved))) = (body.motion != Motion::Dynamic, moved) {
        let message = format!("found `{key}` of a body that stands still or moves as told");
        let cure = match key {
            "velocity" | "angular_velocity" => {
                "remove it, remove `motion`, or write motion = { kind = \"constant\", velocity = [1, 0, 0] }"
            }
            _ => "remove it, or remove `motion`: only a dynamic body feels it",
        };
        return Err(moved.error(message, cure));
    }
    let surface_only = matches!(body.shape, ShapeSpec::HalfSpace { .. } | ShapeSpec::HeightField { .. } | ShapeSpec::Vessel { .. });
    if surface_only && body.motion == Motion::Dynamic {
        let message = format!("found a dynamic body with the shape {}, which has no volume", body.shape.kind());
        return Err(shape_field.error(message, "add motion = \"static\", or choose another shape"));
    }
    Ok(body)
}

/// A name of a body, which is not that of the world.
fn body_name(field: &Field<'_>) -> Result<String, SceneError> {
    let name = name(field)?;
    if name == "world" {
        return Err(field.error("found a body named \"world\"", "in joints this means what holds still; give the body another name"));
    }
    Ok(name)
}

/// What nothing but a dynamic body obeys.
const OF_DYNAMIC: [&str; 7] = ["velocity", "angular_velocity", "force", "torque", "impulses", "locked_translation", "locked_rotation"];

/// A name for people and CSV files: not empty, printable, no comma or quote.
pub(super) fn name(field: &Field<'_>) -> Result<String, SceneError> {
    let text = field.text()?;
    let clean = !text.is_empty() && text.len() <= 200 && !text.contains([',', '"', '\'']) && !text.chars().any(char::is_control);
    if clean {
        return Ok(text.to_owned());
    }
    Err(field.error(format!("found the name \"{}\"", short(text)), "use 1 to 200 printable characters without comma and quotes"))
}

/// Principal moments: positive, and no one larger than the sum of the others.
fn inertia(field: &Field<'_>) -> Result<DVec3, SceneError> {
    let i = field.vector(Quantity::Inertia)?;
    if crate::model::newton_euler::Inertia::exists(i) {
        return Ok(i);
    }
    let cure = "write three positive moments in kg m2, none larger than the sum of the other two";
    Err(field.error(format!("found the moments {i}, which no rigid body has"), cure))
}

/// A list of the words x, y and z.
pub(super) fn axes(field: &Field<'_>) -> Result<[bool; 3], SceneError> {
    let mut locked = [false; 3];
    for item in field.items()? {
        locked[item.choice(&[("x", 0), ("y", 1), ("z", 2)])?] = true;
    }
    Ok(locked)
}

/// `time`, `linear` and `angular` of a blow.
pub(super) fn impulse(f: &mut Fields<'_>) -> Result<Impulse, SceneError> {
    let time = f.or("time", 0.0, |t| t.non_negative(Quantity::Time))?;
    let linear = f.maybe("linear", |v| v.vector(Quantity::Impulse))?;
    let angular = f.maybe("angular", |v| v.vector(Quantity::AngularImpulse))?;
    if linear.is_none() && angular.is_none() {
        return Err(f.error("found a blow without `linear` and `angular`", "add linear = [\"1 N s\", 0, 0]"));
    }
    Ok(Impulse { time, linear: linear.unwrap_or_default(), angular: angular.unwrap_or_default() })
}
