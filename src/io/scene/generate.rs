//! `[[generate.…]]`: tables that stand for many bodies.
//!
//! Each generator has a name: its static bodies are `name.ground` and the like, its dynamic ones `name.0`, `name.1`, …;
//! the name alone means all dynamic ones.

use glam::DVec3;

use super::bodies::{self, Names};
use super::error::SceneError;
use super::fields::{Field, Fields};
use super::grains;
use super::masonry;
use super::model::{Body, Impulse, Motion, Scene, ShapeSpec};
use super::motion;
use super::resources::Resources;
use super::sizes;
use super::units::Quantity;
use crate::algebra::spatial::Pose;
use crate::granular::{agitation::agitated, grain::Grain, growth::Growth, lattice::Lattice, pour::Pour, pyramid, voronoi::Voronoi};
use crate::masonry::dam::Dam;
use crate::model::periodic::Cell;

/// Most bodies that one generator may make.
pub(super) const MAX_BODIES: usize = 10_000_000;

/// A dam that a study may refer to.
pub(super) struct MadeDam {
    pub(super) name: String,
    pub(super) dam: Dam,
    pub(super) ground: usize,
    pub(super) courses: Vec<usize>,
}

/// What one table makes.
#[derive(Default)]
pub(super) struct Made {
    /// Static bodies and the endings of their names.
    pub(super) fixed: Vec<(&'static str, ShapeSpec, DVec3)>,
    /// Shapes of the dynamic bodies, and where they stand.
    pub(super) moving: Vec<(ShapeSpec, Pose)>,
    /// Their velocities (m/s); empty where they start at rest.
    pub(super) velocities: Vec<DVec3>,
    /// Blow at t = 0 on one of the dynamic bodies.
    pub(super) kick: Option<(usize, DVec3)>,
    pub(super) dam: Option<Dam>,
    /// Two of the dynamic ones, or one and a static one, overlap where they are put.
    pub(super) clash: Option<SceneError>,
}

type Generator = fn(&mut Fields<'_>, &Resources) -> Result<Made, SceneError>;

/// Every generator, in the order in which their bodies are numbered; [`pack`], which knows the periodic cell, comes last.
const GENERATORS: [(&str, Generator); 15] = [
    ("lattice", lattice),
    ("pour", pour),
    ("pyramid", pyramid),
    ("voronoi", voronoi),
    ("wall", masonry::wall),
    ("arch", masonry::arch),
    ("dam", masonry::dam),
    ("dome", masonry::dome),
    ("tower", masonry::tower),
    ("barrel", masonry::barrel),
    ("cross_vault", masonry::cross_vault),
    ("bridge", masonry::bridge),
    ("column", masonry::column),
    ("pier", masonry::pier),
    ("buttress", masonry::buttress),
];

/// Of all generators.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    GENERATORS.iter().map(|(kind, _)| *kind).chain(["pack"])
}

/// What the `number`th of a kind is called that has no name.
pub(super) fn default_name(kind: &str, number: usize) -> String {
    if number == 0 { kind.to_owned() } else { format!("{kind}{number}") }
}

/// Adds the bodies of all generators to the scene.
pub(super) fn all(field: &Field<'_>, scene: &mut Scene, names: &mut Names, resources: &Resources) -> Result<Vec<MadeDam>, SceneError> {
    let mut f = field.fields()?;
    let mut dams = Vec::new();
    for (kind, generator) in GENERATORS {
        let tables = f.list(kind)?;
        for (i, table) in tables.iter().enumerate() {
            dams.extend(one(table, &default_name(kind, i), generator, (scene, names), resources)?);
        }
    }
    let cell = scene.periodic;
    for (i, table) in f.list("pack")?.iter().enumerate() {
        dams.extend(one(table, &default_name("pack", i), |f, resources| pack(f, &cell, resources), (scene, names), resources)?);
    }
    f.finish()?;
    Ok(dams)
}

fn one(
    table: &Field<'_>,
    default: &str,
    generator: impl Fn(&mut Fields<'_>, &Resources) -> Result<Made, SceneError>,
    (scene, names): (&mut Scene, &mut Names),
    resources: &Resources,
) -> Result<Option<MadeDam>, SceneError> {
    let mut f = table.fields()?;
    let name = f.or("name", default.to_owned(), |n| bodies::name(&n))?;
    let material = bodies::material(&mut f, &scene.materials)?;
    let origin = f.or("position", DVec3::ZERO, |p| p.vector(Quantity::Length))?;
    let given = f.optional("motion");
    let driven = given.as_ref().map_or(Ok(Motion::Dynamic), |m| motion::motion(m, resources))?;
    let locked_translation = f.or("locked_translation", [false; 3], |l| bodies::axes(&l))?;
    let locked_rotation = f.or("locked_rotation", [false; 3], |l| bodies::axes(&l))?;
    let made = generator(&mut f, resources)?;
    if let Some(given) = given.filter(|_| driven != Motion::Dynamic && !(made.velocities.is_empty() && made.kick.is_none())) {
        let cure = "leave out `motion`, or `agitation` and `kick`";
        return Err(given.error("found a given motion beside velocities at the start", cure));
    }
    f.finish()?;
    // what stands still, as a rough base, may overlap
    if let Some(clash) = made.clash.filter(|_| driven == Motion::Dynamic) {
        return Err(clash);
    }
    let (start, fixed) = (scene.bodies.len(), made.fixed.len());
    let mut add = |name: String, shape, pose: Pose, fixed| {
        let mut body = Body::new(name, shape).at(pose.position + origin);
        body.pose.rotation = pose.rotation;
        body.material = material;
        names.add(&body.name, scene.bodies.len(), table)?;
        scene.bodies.push(if fixed { body.fixed() } else { body });
        Ok(())
    };
    for (ending, shape, at) in made.fixed {
        add(format!("{name}.{ending}"), shape, Pose::at(at), true)?;
    }
    for (i, (shape, at)) in made.moving.into_iter().enumerate() {
        add(format!("{name}.{i}"), shape, at, false)?;
    }
    let moving = start + fixed..scene.bodies.len();
    for body in &mut scene.bodies[moving.clone()] {
        body.motion = driven.clone();
        (body.locked_translation, body.locked_rotation) = (locked_translation, locked_rotation);
    }
    let free = DVec3::from_array(locked_translation.map(|locked| f64::from(u8::from(!locked))));
    for (body, velocity) in scene.bodies[moving.clone()].iter_mut().zip(made.velocities) {
        body.linear_velocity = free * velocity;
    }
    names.add_group(&name, moving.clone(), table)?;
    if let Some((i, linear)) = made.kick {
        scene.bodies[moving.start + i].impulses.push(Impulse { time: 0.0, linear, angular: DVec3::ZERO });
    }
    Ok(made.dam.map(|dam| MadeDam { name, dam, ground: start, courses: moving.collect() }))
}

pub(super) fn length(f: &mut Fields<'_>, key: &'static str, default: f64) -> Result<f64, SceneError> {
    f.or(key, default, |x| x.positive(Quantity::Length))
}

pub(super) fn count(f: &mut Fields<'_>, key: &'static str) -> Result<usize, SceneError> {
    f.required(key)?.whole(1, MAX_BODIES)
}

pub(super) fn limited(f: &Fields<'_>, number: Option<usize>) -> Result<(), SceneError> {
    match number {
        Some(n) if n <= MAX_BODIES => Ok(()),
        _ => Err(f.error(format!("found more than {MAX_BODIES} bodies in one generator"), "use smaller counts")),
    }
}

/// The half-space z ≤ 0, unless `ground = false`.
pub(super) fn ground(f: &mut Fields<'_>) -> Result<Vec<(&'static str, ShapeSpec, DVec3)>, SceneError> {
    let wanted = f.or("ground", true, |g| g.boolean())?;
    Ok(if wanted { vec![("ground", ShapeSpec::HalfSpace { normal: DVec3::Z }, DVec3::ZERO)] } else { Vec::new() })
}

/// Ground and four upright planes around a rectangle about the z axis, unless `walls = false`.
fn tank(f: &mut Fields<'_>, [wx, wy]: [f64; 2]) -> Result<Vec<(&'static str, ShapeSpec, DVec3)>, SceneError> {
    let mut fixed = ground(f)?;
    if f.or("walls", true, |w| w.boolean())? {
        let plane = |name, normal: DVec3, reach: f64| (name, ShapeSpec::HalfSpace { normal }, -normal * reach);
        fixed.push(plane("wall_x0", DVec3::X, wx / 2.0));
        fixed.push(plane("wall_x1", DVec3::NEG_X, wx / 2.0));
        fixed.push(plane("wall_y0", DVec3::Y, wy / 2.0));
        fixed.push(plane("wall_y1", DVec3::NEG_Y, wy / 2.0));
    }
    Ok(fixed)
}

fn lattice(f: &mut Fields<'_>, resources: &Resources) -> Result<Made, SceneError> {
    let counts = f.required("count")?;
    let count = match counts.items()?.as_slice() {
        [x, y, z] => [x.whole(1, MAX_BODIES)?, y.whole(1, MAX_BODIES)?, z.whole(1, MAX_BODIES)?],
        other => return Err(counts.error(format!("found {} numbers, expected 3", other.len()), "write `count = [nx, ny, nz]`")),
    };
    limited(f, count.iter().try_fold(1usize, |product, n| product.checked_mul(*n)))?;
    let sizes = sizes::sizes(&f.required("radius")?, resources)?;
    let radius = sizes.largest();
    let pitch = f.or("pitch", 2.2, |p| p.between(2.0, 1e3))?;
    let layer = f.or("layer", 3.0, |p| p.between(2.0, 1e3))?;
    let jitter = f.or("jitter", 0.08, |j| j.between(0.0, 1e3))?;
    let seed = f.or("seed", 0, |s| s.seed())?;
    let lattice = Lattice { count, radius, pitch, layer, jitter, seed, corner: DVec3::ZERO }.centred();
    let fixed = tank(f, lattice.width())?;
    let centres = lattice.centres();
    let radii = sizes.radii(centres.len(), seed);
    let grain = f.or("grain", Grain::Ball, |g| grains::grain(&g, resources))?;
    let clash = (grain == Grain::Ball).then(|| overlap(f, &lattice, &centres, &radii, &fixed)).flatten();
    let moving = grown(&grain, centres.into_iter().zip(radii), seed);
    let velocities = agitation(f, &moving, seed)?;
    Ok(Made { fixed, moving, velocities, clash, ..Made::default() })
}

/// That balls of a lattice begin within each other, or within its walls.
fn overlap(
    f: &Fields<'_>,
    lattice: &Lattice,
    centres: &[DVec3],
    radii: &[f64],
    fixed: &[(&'static str, ShapeSpec, DVec3)],
) -> Option<SceneError> {
    let pair = lattice.overlap(centres, radii).map(|(i, j, by)| (format!("the balls {i} and {j}"), by));
    let found = pair.or_else(|| {
        centres.iter().zip(radii).enumerate().find_map(|(i, (at, radius))| {
            fixed.iter().find_map(|(name, shape, place)| {
                let ShapeSpec::HalfSpace { normal } = shape else { return None };
                let by = radius - (*at - *place).dot(*normal);
                (by > 1e-9 * lattice.radius).then(|| (format!("the ball {i} and the {name}"), by))
            })
        })
    });
    let (what, by) = found?;
    let Lattice { pitch, layer, jitter, .. } = *lattice;
    let most = ((0.5 * pitch.min(layer) - 1.0).max(0.0) * 1e9).round() / 1e9;
    Some(f.error(
        format!("found {what} overlapping by {by:.1e} m at the start, with pitch {pitch}, layer {layer} and jitter {jitter}"),
        format!("let `jitter` be at most {most}, half of what pitch and layer leave between balls, or give these more"),
    ))
}

/// Random velocities of grains of one material, where `agitation` asks for them.
fn agitation(f: &mut Fields<'_>, grains: &[(ShapeSpec, Pose)], seed: u64) -> Result<Vec<DVec3>, SceneError> {
    let Some(field) = f.optional("agitation") else { return Ok(Vec::new()) };
    let speed = field.non_negative(Quantity::Velocity)?;
    if grains.len() < 2 {
        return Err(field.error("found `agitation` of a single grain", "a mean velocity of zero needs two grains or more"));
    }
    // masses in those of the ball of radius 1
    let mass = |(shape, _): &(ShapeSpec, Pose)| match shape {
        ShapeSpec::Ball { radius } => Ok(radius * radius * radius),
        _ => shape.build().and_then(|shape| shape.volume()).map(|volume| 0.75 / std::f64::consts::PI * volume),
    };
    let masses: Result<Vec<f64>, _> = grains.iter().map(mass).collect();
    let masses = masses.map_err(|e| field.error(e.to_string(), "give grains that have a mass"))?;
    Ok(agitated(&masses, speed, seed))
}

/// Grains of these radii in these places.
fn grown(grain: &Grain, places: impl Iterator<Item = (DVec3, f64)>, seed: u64) -> Vec<(ShapeSpec, Pose)> {
    let one = |(number, (at, radius)): (usize, (DVec3, f64))| {
        let (shape, turn) = grains::shape(grain, radius, seed, number);
        (shape, Pose::new(at, turn))
    };
    places.enumerate().map(one).collect()
}

/// A box that stands on the ground, in pieces without gaps.
fn voronoi(f: &mut Fields<'_>, _: &Resources) -> Result<Made, SceneError> {
    let edges = f.required("size")?;
    let size = edges.vector(Quantity::Length)?;
    if size.min_element() <= 0.0 {
        return Err(edges.error(format!("found the edges {size}"), "write three positive lengths in m"));
    }
    let cells = f.required("cells")?.whole(1, 1_000_000)?;
    let seed = f.or("seed", 0, |s| s.seed())?;
    let relax = f.or("relax", 0, |n| n.whole(0, 1000))?;
    let fixed = ground(f)?;
    let cells = Voronoi { size, cells, relax, seed }.cells();
    let moving = cells.into_iter().map(|cell| (ShapeSpec::Hull { points: cell.corners }, Pose::at(cell.centre))).collect();
    Ok(Made { fixed, moving, ..Made::default() })
}

fn pour(f: &mut Fields<'_>, resources: &Resources) -> Result<Made, SceneError> {
    let count = count(f, "count")?;
    let sizes = sizes::sizes(&f.required("radius")?, resources)?;
    let largest = sizes.largest();
    let widths = f.required("width")?;
    let width = widths.numbers::<2>(Quantity::Length)?;
    if width.iter().any(|w| *w < 2.2 * largest) {
        return Err(widths
            .error(format!("found the width {width:?}, too narrow for balls of radius {largest}"), "make it 2.2 largest radii or more"));
    }
    let bottom = f.or("bottom", 0.0, |b| b.number(Quantity::Length))?;
    let seed = f.or("seed", 0, |s| s.seed())?;
    let fixed = tank(f, width)?;
    let grain = f.or("grain", Grain::Ball, |g| grains::grain(&g, resources))?;
    let pour = Pour { count, sizes, width, bottom, seed };
    if let Some(field) = f.optional("corners") {
        if grain != Grain::Ball {
            return Err(field.error("found `corners` beside `grain`", "give the corners of rocks in `grain`"));
        }
        // few corners may all lie in one half of the ball
        let hulls = pour.polyhedra(field.whole(8, 200)?);
        let moving: Vec<_> = hulls.into_iter().map(|(at, points)| (ShapeSpec::Hull { points }, Pose::at(at))).collect();
        let velocities = agitation(f, &moving, seed)?;
        return Ok(Made { fixed, moving, velocities, ..Made::default() });
    }
    let moving = grown(&grain, pour.balls().into_iter(), seed);
    let velocities = agitation(f, &moving, seed)?;
    Ok(Made { fixed, moving, velocities, ..Made::default() })
}

/// Balls that grow to a solid fraction; along axes that the box goes through from face to face of the cell it meets itself.
fn pack(f: &mut Fields<'_>, cell: &Cell, resources: &Resources) -> Result<Made, SceneError> {
    let sizes = sizes::sizes(&f.required("radius")?, resources)?;
    let fraction = f.required("solid_fraction")?;
    let solid_fraction = fraction.between(1e-6, 0.74)?;
    let seed = f.or("seed", 0, |s| s.seed())?;
    let given = f.optional("box");
    let (mut low, mut high) = (cell.low, cell.high);
    match given.as_ref().map(|b| b.items()).transpose()?.as_deref() {
        Some([from, to]) => (low, high) = (from.vector(Quantity::Length)?, to.vector(Quantity::Length)?),
        Some(_) => return Err(given.unwrap_or(fraction).error("found a box without two corners", "write `box = [[x, y, z], [x, y, z]]`")),
        None if (0..3).all(|a| cell.periodic(a)) => {}
        None => {
            return Err(f.error("found no `box`, and no cell that is periodic along x, y and z", "write `box = [[x, y, z], [x, y, z]]`"));
        }
    }
    if !low.cmplt(high).all() {
        let found = format!("found the box {low} to {high}");
        return Err(given.unwrap_or(fraction).error(found, "let the second corner be larger along each axis"));
    }
    let periodic = std::array::from_fn(|a| cell.periodic(a) && low[a] <= cell.low[a] && high[a] >= cell.high[a]);
    for a in (0..3).filter(|&a| periodic[a]) {
        (low[a], high[a]) = (cell.low[a], cell.high[a]);
    }
    let growth = Growth { low, high, periodic, sizes, solid_fraction, seed };
    let balls = growth.balls().map_err(|found| {
        let cure =
            "take a smaller fraction (random packings of equal balls end at 0.64, between walls below), a larger box or smaller balls";
        fraction.error(format!("found the solid fraction {solid_fraction}: {found}"), cure)
    })?;
    let moving = grown(&Grain::Ball, balls.into_iter(), seed);
    let velocities = agitation(f, &moving, seed)?;
    Ok(Made { moving, velocities, ..Made::default() })
}

fn pyramid(f: &mut Fields<'_>, _: &Resources) -> Result<Made, SceneError> {
    let base = f.required("base")?.whole(1, 200)?;
    let radius = f.required("radius")?.positive(Quantity::Length)?;
    let fixed = ground(f)?;
    let moving = pyramid::centres(base, radius).into_iter().map(|c| (ShapeSpec::Ball { radius }, Pose::at(c))).collect();
    Ok(Made { fixed, moving, ..Made::default() })
}
