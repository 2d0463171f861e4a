//! `[[record]]`, `[[measure]]`, `[[pile]]`, `[[field]]`: tables of signals by name, of measures of grains, of heaps, of fields.

use super::bodies::Names;
use super::error::{SceneError, did_you_mean};
use super::fields::{Field, Fields};
use super::model::{
    FieldFile, ForceBins, GridField, LinkQuantity, Measure, PairDistances, PileTable, Record, Recordable, Rose, Scene, Segregation,
};
use super::output::some;
use super::units::{Quantity, short};
use crate::model::grid::{Grid, Kernel};
use crate::model::pile::Rules;
use crate::model::signal::{BodyQuantity, FlowQuantity, JointQuantity, SurfaceQuantity, TotalQuantity};
use glam::DVec3;

/// Files of a run that a table may not overwrite, without `.csv` and `.pvd`.
const TAKEN: [&str; 12] = [
    "steps",
    "joints",
    "joint_forces",
    "block_stress",
    "flow",
    "breakages",
    "bodies_start",
    "bodies_end",
    "contacts_end",
    "bodies",
    "contacts",
    "branches",
];
/// Columns of a table at most.
const COLUMNS: usize = 10_000;

/// Reads one table; the scene has its bodies, joints, transmissions and ties.
pub(super) fn record(field: &Field<'_>, number: usize, scene: &Scene, names: &Names) -> Result<Record, SceneError> {
    let mut f = field.fields()?;
    let name = file_name(&mut f, format!("record{number}"), field, scene)?;
    let every = f.or("every", 0.0, |t| t.non_negative(Quantity::Time))?;
    let list = f.required("signals")?;
    let mut signals = Vec::new();
    for item in list.items()? {
        signal(&item, scene, names, &mut signals)?;
    }
    if signals.is_empty() || signals.len() > COLUMNS {
        let message = format!("found {} signals", signals.len());
        return Err(list.error(message, format!("name 1 to {COLUMNS}, such as \"name of a body.z\" or \"kinetic\"")));
    }
    let double = signals.iter().enumerate().find(|(k, s)| signals[..*k].contains(s));
    if let Some((_, twice)) = double {
        return Err(list.error(format!("found the signal {:?} twice", scene.signal_name(twice).0), "name each signal once"));
    }
    f.finish()?;
    Ok(Record { name, every, signals })
}

/// The name of a table that no other has.
fn file_name(f: &mut Fields<'_>, default: String, field: &Field<'_>, scene: &Scene) -> Result<String, SceneError> {
    let name = match f.optional("name") {
        None => default,
        Some(name) => {
            let text = name.text()?;
            let plain = !text.is_empty() && text.len() <= 100 && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
            if !plain || TAKEN.contains(&text) {
                let message = format!("found the name \"{}\", which cannot be that of its file", short(text));
                return Err(name.error(message, format!("use letters, digits, - and _, and none of {}", TAKEN.join(", "))));
            }
            text.to_owned()
        }
    };
    alone(&name, field, scene)?;
    Ok(name)
}

fn alone(name: &str, field: &Field<'_>, scene: &Scene) -> Result<(), SceneError> {
    let others = scene.records.iter().map(|r| &r.name).chain(scene.measures.iter().map(|m| &m.name));
    let others = others.chain(scene.piles.iter().map(|p| &p.name));
    let mut parts = scene.measures.iter().flat_map(Measure::part_names);
    if others.chain(scene.fields.iter().map(|f| &f.name)).any(|other| other == name) || parts.any(|other| other == name) {
        return Err(field.error(format!("found a second table named {name:?}"), "give each table a name of its own"));
    }
    Ok(())
}

/// Reads a table of measures; the scene has its records.
pub(super) fn measure(field: &Field<'_>, number: usize, scene: &Scene) -> Result<Measure, SceneError> {
    let mut f = field.fields()?;
    let name = file_name(&mut f, if number == 0 { "measure".to_owned() } else { format!("measure{number}") }, field, scene)?;
    let every = f.or("every", 0.0, |t| t.non_negative(Quantity::Time))?;
    let bounds = f.maybe("box", |b| {
        let (low, high) = super::flow::corners_in_cell(&b, &scene.periodic)?;
        let finite = low.is_finite() && high.is_finite();
        if finite {
            Ok([low, high])
        } else {
            Err(b.error("found a box that is open", "a solid fraction needs a volume; write finite corners"))
        }
    })?;
    let segregation = f.maybe("segregation", |s| segregation(&s))?;
    let pairs = f.maybe("pairs", |p| pairs(&p, bounds, scene))?;
    let forces = f.maybe("forces", |forces| {
        let mut g = forces.fields()?;
        let largest = g.or("largest", 8.0, |x| x.positive(Quantity::Number))?;
        let bins = g.or("bins", 32, |b| b.whole(1, COLUMNS))?;
        g.finish()?;
        Ok(ForceBins { largest, bins })
    })?;
    let rose = f.maybe("rose", |rose| {
        let mut g = rose.fields()?;
        let plane = g.or("plane", [0, 2], |p| p.choice(&Rose::PLANES))?;
        let bins = g.or("bins", 18, |b| b.whole(2, COLUMNS))?;
        g.finish()?;
        Ok(Rose { plane, bins })
    })?;
    f.finish()?;
    let measure = Measure { name, every, bounds, segregation, pairs, forces, rose, discs: scene.discs() };
    measure.part_names().try_for_each(|name| alone(&name, field, scene))?;
    Ok(measure)
}

fn segregation(field: &Field<'_>) -> Result<Segregation, SceneError> {
    let mut f = field.fields()?;
    let axis = f.or("axis", DVec3::Z, |a| a.direction())?;
    let radius = f.required("radius")?.positive(Quantity::Length)?;
    let between = f.maybe("between", |b| match b.numbers::<2>(Quantity::Length)? {
        [from, to] if from < to => Ok([from, to]),
        [from, to] => Err(b.error(format!("found {from} to {to} m, over which nothing is spread"), "write two places that rise")),
    })?;
    f.finish()?;
    Ok(Segregation { axis, radius, between })
}

/// Distances up to half of a periodic cell, and of a box: others have no pair to be counted.
fn pairs(field: &Field<'_>, bounds: Option<[DVec3; 2]>, scene: &Scene) -> Result<PairDistances, SceneError> {
    let mut f = field.fields()?;
    let distance = f.required("largest")?;
    let largest = distance.positive(Quantity::Length)?;
    let bins = f.or("bins", 50, |b| b.whole(1, COLUMNS))?;
    f.finish()?;
    let cell = &scene.periodic;
    let across = scene.discs();
    for a in (0..3).filter(|&a| across != Some(a)) {
        let (axis, round) = (["x", "y", "z"][a], cell.size[a]);
        if cell.periodic(a) && 2.0 * largest > round {
            let message = format!("found distances up to {largest} m in a periodic cell of {round} m along {axis}");
            return Err(distance.error(message, "a pair is looked at by one image; stay within half of the cell"));
        }
        let edge = bounds.map_or(f64::INFINITY, |[low, high]| high[a] - low[a]);
        if edge < 2.0 * largest && !(cell.periodic(a) && edge == round) {
            let message =
                format!("found distances up to {largest} m in a box of {edge} m along {axis}, in which no grain is so far from all faces");
            return Err(distance.error(message, "stay below half of its edges, or make the box larger"));
        }
    }
    Ok(PairDistances { largest, bins })
}

/// Reads a table of a heap; the scene has its records and measures.
pub(super) fn pile(field: &Field<'_>, number: usize, scene: &Scene) -> Result<PileTable, SceneError> {
    let mut f = field.fields()?;
    let name = file_name(&mut f, if number == 0 { "pile".to_owned() } else { format!("pile{number}") }, field, scene)?;
    let every = f.or("every", 0.0, |t| t.non_negative(Quantity::Time))?;
    let mut rules = Rules::default();
    rules.origin = f.or("origin", rules.origin, |o| o.vector(Quantity::Length))?;
    rules.along = f.maybe("along", |a| match a.direction()? {
        level if level.z == 0.0 => Ok(level),
        steep => Err(a.error(format!("found {steep}, which is not horizontal"), "write the way along the channel, such as [1, 0, 0]")),
    })?;
    rules.quantile = f.or("quantile", rules.quantile, |q| q.between(0.0, 1.0))?;
    let between = f.optional("between");
    rules.between = between.as_ref().map_or(Ok(rules.between), |b| b.numbers(Quantity::Number))?;
    rules.validate().map_err(|e| between.as_ref().unwrap_or(field).error(format!("found {} as {}", e.found, e.name), e.needed))?;
    f.finish()?;
    Ok(PileTable { name, every, rules })
}

/// Reads a grid of fields; the scene has its records and measures.
pub(super) fn grid_field(field: &Field<'_>, number: usize, scene: &Scene) -> Result<GridField, SceneError> {
    let mut f = field.fields()?;
    let name = file_name(&mut f, if number == 0 { "field".to_owned() } else { format!("field{number}") }, field, scene)?;
    let every = f.or("every", 0.0, |t| t.non_negative(Quantity::Time))?;
    let cell = &scene.periodic;
    let mut grid = Grid::default();
    let sides = f.required("box")?;
    (grid.low, grid.high) = super::flow::corners_in_cell(&sides, cell)?;
    grid.wraps = [0, 1, 2].map(|a| cell.periodic(a) && grid.low[a] == cell.low[a] && grid.high[a] == cell.high[a]);
    if !(grid.low.is_finite() && grid.high.is_finite()) {
        return Err(sides.error("found a box that is open", "cells need a size; write finite corners (periodic axes may be open)"));
    }
    let cells = f.required("cells")?;
    let items = cells.items()?;
    if items.len() != 3 {
        return Err(
            cells.error(format!("found {} numbers, expected 3", items.len()), "write the number of cells along x, y and z, as [20, 1, 40]")
        );
    }
    for (count, item) in grid.cells.iter_mut().zip(&items) {
        *count = item.whole(1, Grid::MOST)?;
    }
    if grid.cells.iter().try_fold(1usize, |n, &k| n.checked_mul(k)).is_none_or(|n| n > Grid::MOST) {
        return Err(cells.error("found more cells than memory is likely to hold", format!("take no more than {} in all", Grid::MOST)));
    }
    if let Some(shear) = cell.shear.filter(|shear| grid.cells[shear.along] > 1 || !grid.wraps[shear.along]) {
        let along = ["x", "y", "z"][shear.along];
        let message = format!("found a field that is not the mean over the whole of {along}, along which the images of the cell move");
        return Err(cells.error(message, format!("take a single cell along {along} and leave the box open there: \"-inf\", \"inf\"")));
    }
    let edges = grid.size();
    let longest = (0..3).filter(|&a| grid.cells[a] > 1).map(|a| edges[a]).fold(0.0, f64::max);
    let width = f.optional("width");
    grid.width = width.as_ref().map_or(Ok(if longest > 0.0 { longest } else { 1.0 }), |w| w.positive(Quantity::Length))?;
    grid.kernel = f.or("kernel", grid.kernel, |k| k.choice(&Kernel::ALL.map(|k| (k.name(), k))))?;
    let files = f.or("files", FieldFile::ALL.to_vec(), |list| some(&list, &FieldFile::ALL.map(|k| (k.name(), k))))?;
    grid.validate().map_err(|e| width.as_ref().unwrap_or(&cells).error(format!("found {} as {}", e.found, e.name), e.needed))?;
    f.finish()?;
    Ok(GridField { name, every, grid, files })
}

/// Which of a list is called so.
fn among<T: Copy>(
    all: impl Iterator<Item = (&'static str, T)> + Clone,
    name: &str,
    field: &Field<'_>,
    what: &str,
) -> Result<T, SceneError> {
    let found = all.clone().find(|(known, _)| *known == name).map(|(_, q)| q);
    found.ok_or_else(|| {
        let message = format!("found no quantity \"{}\" of {what}", short(name));
        field.error(message, did_you_mean(name, all.map(|(known, _)| known)))
    })
}

const BODY: &str = "a body";
const JOINT: &str = "a joint";
const TIE: &str = "an interaction";
const TRANSMISSION: &str = "a transmission";
const OUTLET: &str = "an outlet";
const INLET: &str = "an inlet";
const SURFACE: &str = "a surface";

/// What is called so and has such a quantity.
fn owners(scene: &Scene, names: &Names, name: &str, quantity: &str) -> Vec<&'static str> {
    let flows = FlowQuantity::ALL.iter().any(|q| q.name == quantity);
    let links = LinkQuantity::ALL.iter().any(|q| q.0 == quantity);
    let all = [
        (BODY, BodyQuantity::ALL.iter().any(|q| q.name == quantity) && names.meant(name).is_some()),
        (JOINT, JointQuantity::ALL.iter().any(|q| q.name == quantity) && scene.joints.iter().any(|j| j.name == name)),
        (TIE, links && scene.ties.iter().any(|t| t.name == name)),
        (TRANSMISSION, links && scene.transmissions.iter().any(|t| t.name == name)),
        (OUTLET, flows && scene.outlets.iter().any(|o| o.name == name)),
        (INLET, flows && scene.inlets.iter().any(|i| i.name == name)),
        (SURFACE, SurfaceQuantity::ALL.iter().any(|q| q.name == quantity) && scene.surfaces.iter().any(|s| s.name == name)),
    ];
    all.into_iter().filter(|(_, there)| *there).map(|(what, _)| what).collect()
}

/// The signals that one text means: `"body.z"`, `"generator.z"` (of all its bodies), `"joint.coordinate"`, `"tie.output"`, `"kinetic"`.
fn signal(field: &Field<'_>, scene: &Scene, names: &Names, signals: &mut Vec<Recordable>) -> Result<(), SceneError> {
    let text = field.text()?;
    let totals = TotalQuantity::ALL.iter().map(|q| (q.name, q.what));
    let Some((name, quantity)) = text.rsplit_once('.') else {
        signals.push(Recordable::Total(among(totals, text, field, "the whole (those of bodies and joints are written name.quantity)")?));
        return Ok(());
    };
    // rows are numbered: points.output.2
    let numbered = quantity.parse::<usize>().ok().zip(name.rsplit_once('.'));
    if let Some((row, (name, quantity))) = numbered
        && let Some(i) = scene.ties.iter().position(|t| t.name == name)
    {
        return tie(field, scene, (i, Some(row)), quantity, signals);
    }
    let there = owners(scene, names, name, quantity);
    if let [one, two, ..] = there[..] {
        let message = format!("found {quantity:?} of {name:?}, which is the name of {one} and of {two}");
        return Err(field.error(message, "give each a name of its own"));
    }
    // what has no such quantity is not meant
    let may = |what: &str| there.first().is_none_or(|one| *one == what);
    if let Some(i) = scene.joints.iter().position(|j| j.name == name).filter(|_| may(JOINT)) {
        let q = among(JointQuantity::ALL.iter().map(|q| (q.name, q.what)), quantity, field, &format!("the joint {name:?}"))?;
        if q.is_of_coordinate() && !scene.joints[i].has_coordinate() {
            let message = format!("found \"{quantity}\" of the joint {name:?}, which leaves more than one thing free, or nothing");
            return Err(field.error(message, "revolute, prismatic and cylindrical joints, rods and ropes have a coordinate"));
        }
        signals.push(Recordable::Joint(i, q));
    } else if let Some(i) = scene.ties.iter().position(|t| t.name == name).filter(|_| may(TIE)) {
        tie(field, scene, (i, None), quantity, signals)?;
    } else if let Some(i) = scene.transmissions.iter().position(|t| t.name == name).filter(|_| may(TRANSMISSION)) {
        signals.push(Recordable::Transmission(i, link(field, quantity, name)?));
    } else if let Some(i) = scene.outlets.iter().position(|o| o.name == name).filter(|_| may(OUTLET)) {
        let q = among(FlowQuantity::ALL.iter().map(|q| (q.name, q.what)), quantity, field, &format!("the outlet {name:?}"))?;
        signals.push(Recordable::Outlet(i, q));
    } else if let Some(i) = scene.inlets.iter().position(|o| o.name == name).filter(|_| may(INLET)) {
        let q = among(FlowQuantity::ALL.iter().map(|q| (q.name, q.what)), quantity, field, &format!("the inlet {name:?}"))?;
        signals.push(Recordable::Inlet(i, q));
    } else if let Some(i) = scene.surfaces.iter().position(|s| s.name == name).filter(|_| may(SURFACE)) {
        let q = among(SurfaceQuantity::ALL.iter().map(|q| (q.name, q.what)), quantity, field, &format!("the surface {name:?}"))?;
        signals.push(Recordable::Surface(i, q));
    } else {
        let bodies = names.meant(name).ok_or_else(|| {
            let others = scene.joints.iter().map(|j| &j.name).chain(scene.ties.iter().map(|t| &t.name));
            let gates = scene.outlets.iter().map(|o| &o.name).chain(scene.inlets.iter().map(|i| &i.name));
            let gates = gates.chain(scene.surfaces.iter().map(|s| &s.name));
            let others = others.chain(scene.transmissions.iter().map(|t| &t.name)).chain(gates);
            let known = names.all().chain(others.map(String::as_str));
            let message = format!("found no body, joint, interaction, outlet, inlet or surface named \"{}\"", short(name));
            field.error(message, did_you_mean(name, known.take(2000).collect::<Vec<_>>()))
        })?;
        let q = among(BodyQuantity::ALL.iter().map(|q| (q.name, q.what)), quantity, field, &format!("the body {name:?}"))?;
        signals.extend(bodies.map(|i| Recordable::Body(i, q)));
    }
    Ok(())
}

fn link(field: &Field<'_>, quantity: &str, name: &str) -> Result<LinkQuantity, SceneError> {
    let all = [LinkQuantity::Output, LinkQuantity::Rate, LinkQuantity::Multiplier];
    among(all.into_iter().map(|q| (LinkQuantity::ALL[q as usize].0, q)), quantity, field, &format!("the interaction {name:?}"))
}

fn tie(
    field: &Field<'_>,
    scene: &Scene,
    (i, row): (usize, Option<usize>),
    quantity: &str,
    signals: &mut Vec<Recordable>,
) -> Result<(), SceneError> {
    let tie = &scene.ties[i];
    let (q, rows) = (link(field, quantity, &tie.name)?, tie.spec.rows());
    match row {
        Some(row) if row >= rows => {
            let message = format!("found row {row} of the interaction {:?}, which has {rows}", tie.name);
            return Err(field.error(message, "rows count from 0"));
        }
        Some(row) => signals.push(Recordable::Tie(i, q, row)),
        None => signals.extend((0..rows).map(|row| Recordable::Tie(i, q, row))),
    }
    Ok(())
}
