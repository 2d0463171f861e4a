//! The generators of masonry.

use glam::{DVec2, DVec3};

use super::error::SceneError;
use super::fields::{Field, Fields};
use super::flow::corners;
use super::generate::{MAX_BODIES, Made, count, ground, length, limited};
use super::model::ShapeSpec;
use super::resources::Resources;
use super::units::Quantity;
use crate::algebra::spatial::Pose;
use crate::masonry::arch::{Arch, Form};
use crate::masonry::bond::{Bond, BondedWall, Opening, Plan};
use crate::masonry::bridge::Bridge;
use crate::masonry::column::{Column, rectangle, regular};
use crate::masonry::cross_vault::CrossVault;
use crate::masonry::cut::cut;
use crate::masonry::vault::Barrel;
use crate::masonry::{Block, Stone, dam::Dam, dome::Dome, top_middle, wall::Wall};

/// Most chords of a curved face, or corners of a drum.
const MAX_FACES: usize = 200;

fn cuboids(blocks: Vec<Block>) -> Vec<(ShapeSpec, Pose)> {
    blocks.into_iter().map(|b| (ShapeSpec::Cuboid { half_extents: b.half_extents }, Pose::at(b.centre))).collect()
}

/// One part is a hull, several are a compound.
fn shape(stone: Stone) -> ShapeSpec {
    let mut parts: Vec<ShapeSpec> = stone.parts.into_iter().map(|points| ShapeSpec::Hull { points }).collect();
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        last => ShapeSpec::Compound { parts: parts.into_iter().chain(last).map(|part| (Pose::IDENTITY, part)).collect() },
    }
}

/// Stones as shapes, with `openings`: `{ box = [[x, y, z], [x, y, z]] }` in the axes of the generator.
fn stones(f: &mut Fields<'_>, mut stones: Vec<Stone>) -> Result<Vec<(ShapeSpec, Pose)>, SceneError> {
    if let Some(list) = f.optional("openings") {
        for opening in list.items()? {
            let mut f = opening.fields()?;
            let (low, high) = corners(&f.required("box")?)?;
            f.finish()?;
            let left = cut(stones.clone(), low, high);
            if left == stones {
                let cure = "its corners are in the axes of the generator, before `position`";
                return Err(opening.error(format!("found an opening from {low} to {high} m beside all stones"), cure));
            }
            if left.is_empty() {
                return Err(opening.error("found an opening that leaves nothing", "make its box smaller"));
            }
            stones = left;
        }
    }
    Ok(stones.into_iter().map(|stone| (shape(stone), Pose::IDENTITY)).collect())
}

pub(super) fn wall(f: &mut Fields<'_>, _: &Resources) -> Result<Made, SceneError> {
    let (columns, rows) = (count(f, "columns")?, count(f, "rows")?);
    let (bond, leaves) = bond(f, 1)?;
    let (block, gap) = block(f)?;
    let returns = f.maybe("returns", |c| c.whole(1, MAX_BODIES))?;
    let widest = columns.checked_add(returns.unwrap_or(0)).and_then(|c| c.checked_add(2)).and_then(|c| c.checked_mul(2 * leaves));
    limited(f, widest.and_then(|c| c.checked_mul(rows)))?;
    let kick = f.or("kick", 0.0, |k| k.number(Quantity::Impulse))?;
    let (length, field) = (|n| bond.length(n, block.x + gap), f.optional("openings"));
    let blocks = if bond == Bond::Running && leaves == 1 && returns.is_none() && field.is_none() {
        Wall { columns, rows, block, gap }.blocks()
    } else {
        let (a, b, thickness) = (length(columns), returns.map(length), leaves as f64 * block.y);
        if b.is_some_and(|b| a.min(b) <= thickness) {
            let found = format!("found a corner of walls of {} and {} m that are {thickness} m thick", a, b.unwrap_or(0.0));
            return Err(f.error(found, "let `columns` and `returns` reach beyond the corner"));
        }
        let plan = returns.map_or(Plan::Straight(length(columns)), |n| Plan::Corner(length(columns), length(n)));
        let openings = field.as_ref().map_or(Ok(Vec::new()), |o| openings(o, block.x))?;
        bonded(f, &BondedWall { plan, bond, block, leaves, courses: rows, gap, openings }, field.as_ref())?
    };
    let kick = (kick != 0.0).then(|| (top_middle(&blocks), DVec3::Y * kick));
    Ok(Made { fixed: ground(f)?, moving: cuboids(blocks), kick, ..Made::default() })
}

/// `bond` and `leaves`.
fn bond(f: &mut Fields<'_>, least: usize) -> Result<(Bond, usize), SceneError> {
    let words = [("running", Bond::Running), ("stretcher", Bond::Stretcher), ("english", Bond::English), ("flemish", Bond::Flemish)];
    let bond = f.or("bond", Bond::Running, |b| b.choice(&words))?;
    let field = f.optional("leaves");
    let leaves = field.as_ref().map_or(Ok(if matches!(bond, Bond::English | Bond::Flemish) { 2 } else { least }), |n| n.whole(1, 100))?;
    match (bond, leaves) {
        (Bond::English, 1) => Err(f.error("found English bond with one leaf, but a header lies through two", "write leaves = 2 or more")),
        (Bond::Flemish, n) if n != 2 => {
            Err(f.error(format!("found Flemish bond with {n} leaves"), "write leaves = 2, or use English bond"))
        }
        _ => Ok((bond, leaves)),
    }
}

/// Edges of a block, and the opening of head joints.
fn block(f: &mut Fields<'_>) -> Result<(DVec3, f64), SceneError> {
    let block = DVec3::new(length(f, "length", 0.4)?, length(f, "width", 0.2)?, length(f, "height", 0.2)?);
    let gap = f.or("gap", 0.001, |g| g.non_negative(Quantity::Length))?;
    // the smallest blocks are a fifth as long
    if gap >= 0.2 * block.x {
        return Err(f.error(format!("found head joints of {gap} m between blocks of {} m", block.x), "make `gap` a small part of `length`"));
    }
    Ok((block, gap))
}

/// Lists of `{ at, sill, width, height, wing, lintel, bearing }`.
fn openings(list: &Field<'_>, block: f64) -> Result<Vec<Opening>, SceneError> {
    let one = |field: &Field<'_>| {
        let mut f = field.fields()?;
        let opening = Opening {
            wing: f.or("wing", 0, |w| w.whole(0, 3))?,
            at: f.required("at")?.number(Quantity::Length)?,
            sill: f.or("sill", 0.0, |s| s.number(Quantity::Length))?,
            width: f.required("width")?.positive(Quantity::Length)?,
            height: f.required("height")?.positive(Quantity::Length)?,
            lintel: f.or("lintel", true, |l| l.boolean())?,
            bearing: length(&mut f, "bearing", 0.5 * block)?,
        };
        f.finish()?;
        Ok(opening)
    };
    list.items()?.iter().map(one).collect()
}

fn bonded(f: &Fields<'_>, wall: &BondedWall, field: Option<&Field<'_>>) -> Result<Vec<Block>, SceneError> {
    wall.blocks().map_err(|e| match field.and_then(|list| list.items().ok()).and_then(|list| list.get(e.opening).cloned()) {
        Some(opening) => opening.error(e.found, e.cure),
        None => f.error(e.found, e.cure),
    })
}

pub(super) fn tower(f: &mut Fields<'_>, _: &Resources) -> Result<Made, SceneError> {
    let edges = f.required("size")?;
    let size = edges.numbers::<2>(Quantity::Length)?;
    let rows = count(f, "rows")?;
    let (bond, leaves) = bond(f, 1)?;
    let (block, gap) = block(f)?;
    let thickness = leaves as f64 * block.y;
    if size.iter().any(|s| *s <= 2.0 * thickness) {
        return Err(edges.error(format!("found the edges {size:?} m around walls of {thickness} m"), "leave room between the walls"));
    }
    let around = 2.0 * (size[0] + size[1]) / (0.2 * block.x) * leaves as f64;
    limited(f, (around < MAX_BODIES as f64).then_some(around as usize).and_then(|n| n.checked_mul(rows)))?;
    let field = f.optional("openings");
    let openings = field.as_ref().map_or(Ok(Vec::new()), |o| openings(o, block.x))?;
    let wall = BondedWall { plan: Plan::Ring(size), bond, block, leaves, courses: rows, gap, openings };
    let blocks = bonded(f, &wall, field.as_ref())?;
    Ok(Made { fixed: ground(f)?, moving: cuboids(blocks), ..Made::default() })
}

/// `thickness`, or `thickness_ratio` times `radius`, below twice the radius.
fn thickness(f: &mut Fields<'_>, radius: Option<f64>) -> Result<f64, SceneError> {
    let (thickness, ratio) = (f.optional("thickness"), f.optional("thickness_ratio"));
    let (field, found) = match (thickness, ratio, radius) {
        (Some(t), None, _) => (t.clone(), t.positive(Quantity::Length)?),
        (None, Some(t), Some(radius)) => (t.clone(), t.positive(Quantity::Number)? * radius),
        (None, Some(t), None) => return Err(t.error("found a ratio, but a flat arch has no radius", "write `thickness` in m")),
        (Some(t), Some(_), _) => return Err(t.error("found both `thickness` and `thickness_ratio`", "keep one of them")),
        (None, None, None) => return Err(f.error("the field `thickness` is missing", "add `thickness = …`")),
        (None, None, Some(_)) => {
            return Err(f.error("the field `thickness_ratio` is missing", "add `thickness_ratio = …`, or `thickness = …` in m"));
        }
    };
    match radius {
        Some(radius) if found >= 2.0 * radius => {
            let ratio = found / radius;
            Err(field.error(format!("found {ratio} radii, but the inner radius would not be positive"), "use a ratio below 2"))
        }
        _ => Ok(found),
    }
}

/// Form, thickness, voussoirs and faces of an arch.
fn section(f: &mut Fields<'_>, depth: f64) -> Result<Arch, SceneError> {
    // two blocks would be half rings, whose chords pass through the axis
    let voussoirs = f.or("voussoirs", 17, |v| v.whole(3, 100_000))?;
    let faces = f.or("faces", 1, |n| n.whole(1, MAX_FACES))?;
    limited(f, voussoirs.checked_mul(faces))?;
    let kind = f.or("form", 0, |k| k.choice(&[("semicircular", 0), ("segmental", 1), ("pointed", 2), ("flat", 3)]))?;
    let (form, thickness) = match kind {
        3 => {
            let span = f.required("span")?.positive(Quantity::Length)?;
            let skew = f.or("skew", 20f64.to_radians(), |a| a.in_rad(std::f64::consts::FRAC_PI_2)?.positive(Quantity::Angle))?;
            if skew >= 80f64.to_radians() {
                return Err(f.error(format!("found joints at {:.1}° to the upright", skew.to_degrees()), "make `skew` less than 80 deg"));
            }
            (Form::Flat { span, skew }, thickness(f, None)?)
        }
        kind => {
            let radius = length(f, "radius", 1.0)?;
            let thickness = thickness(f, Some(radius))?;
            let form = match kind {
                0 => Form::SEMICIRCLE.of_radius(radius),
                1 => Form::Circular { radius, angle: segment(f)? },
                _ => pointed(f, radius, thickness)?,
            };
            (form, thickness)
        }
    };
    Ok(Arch { form, voussoirs, thickness, faces, depth })
}

fn segment(f: &mut Fields<'_>) -> Result<f64, SceneError> {
    let field = f.required("angle")?;
    let angle = field.in_rad(std::f64::consts::PI)?.positive(Quantity::Angle)?;
    if angle > std::f64::consts::PI {
        return Err(field.error(format!("found an angle of embrace of {:.1}°", angle.to_degrees()), "write 180 deg or less"));
    }
    Ok(angle)
}

fn pointed(f: &mut Fields<'_>, radius: f64, thickness: f64) -> Result<Form, SceneError> {
    let span = f.or("span", radius, |s| s.positive(Quantity::Length))?;
    let c = radius - 0.5 * span;
    if c < 0.0 || c >= radius - 0.5 * thickness {
        let cure = "let `span` be at most twice `radius` and more than `thickness`";
        return Err(f.error(format!("found the span {span} m of arcs of radius {radius} m"), cure));
    }
    Ok(Form::Pointed { radius, span })
}

pub(super) fn arch(f: &mut Fields<'_>, _: &Resources) -> Result<Made, SceneError> {
    let depth = length(f, "depth", 0.4)?;
    let arch = section(f, depth)?;
    let rings = f.or("rings", 1, |n| n.whole(1, 1000))?;
    limited(f, arch.voussoirs.checked_mul(rings * arch.faces))?;
    let moving = stones(f, arch.rings(rings))?;
    supported(f, &arch, moving)
}

/// On the ground, or between abutments where the springings are not level.
fn supported(f: &mut Fields<'_>, arch: &Arch, moving: Vec<(ShapeSpec, Pose)>) -> Result<Made, SceneError> {
    let first = arch.joints()[0];
    let level = first.inner.y == first.outer.y;
    let mut fixed = Vec::new();
    if f.or("abutments", !level, |a| a.boolean())? {
        let [right, left] = arch.abutments();
        fixed = vec![("right", shape(right), DVec3::ZERO), ("left", shape(left), DVec3::ZERO)];
    }
    let low = if fixed.is_empty() { 0.0 } else { -arch.thickness };
    fixed.extend(ground(f)?.into_iter().map(|(name, plane, at)| (name, plane, at + low * DVec3::Z)));
    Ok(Made { fixed, moving, ..Made::default() })
}

pub(super) fn barrel(f: &mut Fields<'_>, _: &Resources) -> Result<Made, SceneError> {
    let long = f.required("length")?.positive(Quantity::Length)?;
    let arch = section(f, long)?;
    let along = f.or("stones", 4, |n| n.whole(1, 100_000))?;
    limited(f, arch.voussoirs.checked_mul(along + 1))?;
    let moving = stones(f, Barrel { arch: arch.clone(), stones: along }.stones())?;
    supported(f, &arch, moving)
}

pub(super) fn cross_vault(f: &mut Fields<'_>, _: &Resources) -> Result<Made, SceneError> {
    let arch = section(f, 1.0)?;
    let joints = arch.joints();
    let (first, crown) = (joints[0], joints[joints.len() / 2]);
    if arch.voussoirs % 2 == 0 {
        return Err(f.error(format!("found {} voussoirs, but the crown needs a keystone", arch.voussoirs), "use an odd number"));
    }
    if first.inner.y != first.outer.y || crown.inner.y <= 0.0 {
        return Err(f.error("found a section whose feet are not level", "use form = \"semicircular\" or \"pointed\""));
    }
    let field = f.optional("size");
    let size = field.as_ref().map_or(Ok(2.0 * first.outer.x), |s| s.positive(Quantity::Length))?;
    if let Some(field) = field.filter(|_| size < 2.0 * first.outer.x) {
        return Err(field.error(format!("found a bay of {size} m"), format!("the feet need {} m or more", 2.0 * first.outer.x)));
    }
    let stone = length(f, "stone", 0.4 * size)?;
    limited(f, (size / stone < 1e5).then_some((size / stone) as usize + 2).and_then(|n| n.checked_mul(4 * arch.voussoirs)))?;
    let vault = CrossVault { arch, reach: 0.5 * size, stone };
    Ok(Made { fixed: ground(f)?, moving: stones(f, vault.stones())?, ..Made::default() })
}

pub(super) fn dome(f: &mut Fields<'_>, _: &Resources) -> Result<Made, SceneError> {
    let (rings, voussoirs) = (count(f, "rings")?, f.required("voussoirs")?.whole(3, 100_000)?);
    limited(f, rings.checked_mul(voussoirs))?;
    let radius = length(f, "radius", 1.0)?;
    let thickness = thickness(f, Some(radius))?;
    let crown = f.or("crown", 75f64.to_radians(), |a| a.in_rad(std::f64::consts::FRAC_PI_2)?.positive(Quantity::Angle))?;
    if crown >= 0.49 * std::f64::consts::PI {
        return Err(f.error(format!("found the latitude {:.1}° of the crown", crown.to_degrees()), "make `crown` smaller than 88 deg"));
    }
    let dome = Dome { rings, voussoirs, radius, thickness, crown };
    let hulls = match f.or("beds", false, |b| b.choice(&[("radial", false), ("horizontal", true)]))? {
        true => dome.corbelled(),
        false => dome.hulls(),
    };
    let hull = |corners: [DVec3; 8]| Stone { parts: vec![corners.to_vec()] };
    Ok(Made { fixed: ground(f)?, moving: stones(f, hulls.into_iter().map(hull).collect())?, ..Made::default() })
}

pub(super) fn dam(f: &mut Fields<'_>, _: &Resources) -> Result<Made, SceneError> {
    let courses = f.required("courses")?.whole(1, 100_000)?;
    let width = f.required("width")?.positive(Quantity::Length)?;
    let height = f.required("height")?.positive(Quantity::Length)?;
    let dam = Dam { width, height, courses, thickness: length(f, "thickness", 1.0)? };
    let fixed = vec![("ground", ShapeSpec::HalfSpace { normal: DVec3::Z }, DVec3::ZERO)];
    Ok(Made { fixed, moving: cuboids(dam.blocks()), dam: Some(dam), ..Made::default() })
}

pub(super) fn bridge(f: &mut Fields<'_>, _: &Resources) -> Result<Made, SceneError> {
    let spans = f.or("spans", 1, |n| n.whole(1, 1000))?;
    let depth = length(f, "depth", 1.0)?;
    let radius = length(f, "radius", 3.0)?;
    let arch = Arch {
        form: Form::Circular { radius, angle: segment(f)? },
        voussoirs: f.or("voussoirs", 17, |v| v.whole(3, 100_000))?,
        thickness: thickness(f, Some(radius))?,
        faces: f.or("faces", 1, |n| n.whole(1, MAX_FACES))?,
        depth,
    };
    limited(f, arch.voussoirs.checked_mul(2 * spans * arch.faces))?;
    let bridge = Bridge {
        pier: f.required("pier")?.positive(Quantity::Length)?,
        courses: f.or("courses", 4, |n| n.whole(0, 10_000))?,
        height: length(f, "height", 3.0)?,
        cover: length(f, "cover", 0.3)?,
        arch,
        spans,
    };
    if !bridge.is_segmental() {
        return Err(f.error("found semicircular arches, whose backfill would end in edges", "make `angle` less than 180 deg"));
    }
    if bridge.springer_top() <= 0.0 {
        let least = bridge.pier - bridge.springer_top();
        return Err(f.error(
            format!("found piers of {} m, but two springings take {least} m of their tops", bridge.pier),
            format!("make `pier` more than {least} m"),
        ));
    }
    let tiers = f.or("tiers", 1, |n| n.whole(1, 10))?;
    limited(f, bridge.stones().len().checked_mul(tiers))?;
    // one upon the road of the other
    let up = |stone: Stone, tier: usize| stone.mapped(|p| p + tier as f64 * bridge.road() * DVec3::Z);
    let moving: Vec<Stone> =
        (0..tiers).flat_map(|tier| bridge.stones().into_iter().map(move |s| (s, tier))).map(|(s, t)| up(s, t)).collect();
    let [right, left] = bridge.abutments().map(|one| (1..tiers).fold(one.clone(), |all, tier| all.with(up(one.clone(), tier))));
    let mut fixed = vec![("right", shape(right), DVec3::ZERO), ("left", shape(left), DVec3::ZERO)];
    fixed.extend(ground(f)?);
    Ok(Made { fixed, moving: stones(f, moving)?, ..Made::default() })
}

pub(super) fn column(f: &mut Fields<'_>, _: &Resources) -> Result<Made, SceneError> {
    let drums = f.required("drums")?.whole(1, 100_000)?;
    let field = f.required("radius")?;
    let [below, above] = if field.is_list() { field.numbers::<2>(Quantity::Length)? } else { [field.positive(Quantity::Length)?; 2] };
    if below <= 0.0 || above <= 0.0 {
        return Err(field.error(format!("found the radii {below} and {above} m"), "write positive lengths"));
    }
    let height = f.required("height")?.positive(Quantity::Length)?;
    let sides = f.or("sides", 16, |n| n.whole(3, MAX_FACES))?;
    let column = Column { foot: regular(sides, below), top: regular(sides, above), height, courses: drums };
    Ok(Made { fixed: ground(f)?, moving: stones(f, column.stones())?, ..Made::default() })
}

/// `size`, `height`, `courses`, and `top` [as `size`].
fn courses(f: &mut Fields<'_>) -> Result<([f64; 2], [f64; 2], f64, usize), SceneError> {
    let edges = |field: Field<'_>| match field.numbers::<2>(Quantity::Length)? {
        [x, y] if x > 0.0 && y > 0.0 => Ok([x, y]),
        found => Err(field.error(format!("found the edges {found:?} m"), "write two positive lengths")),
    };
    let size = edges(f.required("size")?)?;
    let top = f.or("top", size, edges)?;
    Ok((size, top, f.required("height")?.positive(Quantity::Length)?, f.required("courses")?.whole(1, 100_000)?))
}

pub(super) fn pier(f: &mut Fields<'_>, _: &Resources) -> Result<Made, SceneError> {
    let (size, top, height, courses) = courses(f)?;
    let column = Column { foot: rectangle(size), top: rectangle(top), height, courses };
    Ok(Made { fixed: ground(f)?, moving: stones(f, column.stones())?, ..Made::default() })
}

/// A pier whose face at x = 0 stands upright; the others lean.
pub(super) fn buttress(f: &mut Fields<'_>, _: &Resources) -> Result<Made, SceneError> {
    let (size, top, height, courses) = courses(f)?;
    let outline = |edges: [f64; 2]| rectangle(edges).into_iter().map(|p| p + DVec2::new(0.5 * edges[0], 0.0)).collect();
    let column = Column { foot: outline(size), top: outline(top), height, courses };
    Ok(Made { fixed: ground(f)?, moving: stones(f, column.stones())?, ..Made::default() })
}
