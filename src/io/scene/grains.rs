//! `grain` of generators and inlets: what each of many bodies looks like.

use glam::DVec3;

use super::error::{SceneError, did_you_mean};
use super::fields::Field;
use super::model::ShapeSpec;
use super::resources::Resources;
use super::units::{Quantity, short};
use crate::algebra::spatial::Pose;
use crate::granular::grain::{Form, Grain};

const KINDS: [&str; 4] = ["ball", "rock", "hull", "clump"];

/// Reads a kind of grain.
pub(super) fn grain(field: &Field<'_>, resources: &Resources) -> Result<Grain, SceneError> {
    let mut f = field.fields()?;
    let kind = f.required("kind")?;
    let made = match kind.text()? {
        "ball" => Ok(Grain::Ball),
        "rock" => {
            let corners = f.or("corners", 20, |c| c.whole(8, 200))?;
            let aspect = f.or("aspect", [0.6, 1.0], |a| a.numbers::<2>(Quantity::Number))?;
            Grain::rock(corners, aspect, f.or("roundness", 0.5, |r| r.between(0.0, 1.0))?)
        }
        "hull" => {
            let points = match (f.optional("points"), f.optional("file")) {
                (Some(list), None) => list.items()?.iter().map(|p| p.vector(Quantity::Length)).collect::<Result<_, _>>()?,
                (None, Some(file)) => resources.hull(&file)?,
                _ => return Err(f.error("a hull needs exactly one of `points` and `file`", "name a mesh `file`, such as \"rock.stl\"")),
            };
            let hull = Grain::hull(&points);
            // its shape is told here, not for each of many bodies
            ShapeSpec::Hull { points }.build().map_err(|e| field.error(e.to_string(), "give points that span a volume"))?;
            hull
        }
        "clump" => {
            let ball = |b: &Field<'_>| b.numbers::<4>(Quantity::Length).map(|[x, y, z, r]| (DVec3::new(x, y, z), r));
            Grain::clump(&f.required("balls")?.items()?.iter().map(ball).collect::<Result<Vec<_>, _>>()?)
        }
        other => return Err(kind.error(format!("found the unknown grain \"{}\"", short(other)), did_you_mean(other, KINDS))),
    };
    f.finish()?;
    made.map_err(|found| field.error(format!("found {found}"), "see assets/scenes/README.md for the kinds of grains"))
}

/// Shape and rotation of a grain.
pub(super) fn shape(grain: &Grain, radius: f64, seed: u64, number: usize) -> (ShapeSpec, glam::DQuat) {
    let (form, turn) = grain.form(radius, seed, number);
    let shape = match form {
        Form::Ball(radius) => ShapeSpec::Ball { radius },
        Form::Hull(points) => ShapeSpec::Hull { points },
        Form::Clump(balls) => {
            ShapeSpec::Compound { parts: balls.into_iter().map(|(x, radius)| (Pose::at(x), ShapeSpec::Ball { radius })).collect() }
        }
    };
    (shape, turn)
}

/// A grain as a table of a scene file; none for balls.
pub(super) fn text(grain: &Grain) -> Option<String> {
    let list = |items: Vec<String>| format!("[{}]", items.join(", "));
    match grain {
        Grain::Ball => None,
        Grain::Rock { corners, aspect, roundness } => {
            Some(format!("{{ kind = \"rock\", corners = {corners}, aspect = {aspect:?}, roundness = {roundness:?} }}"))
        }
        Grain::Hull { points } => {
            let points = points.iter().map(|p| format!("{:?}", p.to_array())).collect();
            Some(format!("{{ kind = \"hull\", points = {} }}", list(points)))
        }
        Grain::Clump { balls } => {
            let balls = balls.iter().map(|(x, r)| format!("{:?}", [x.x, x.y, x.z, *r])).collect();
            Some(format!("{{ kind = \"clump\", balls = {} }}", list(balls)))
        }
    }
}
