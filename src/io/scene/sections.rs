//! The sections of a scene, in the order in which they need each other.

use glam::DVec3;

use super::bodies::{self, Names};
use super::document::Document;
use super::error::SceneError;
use super::fields::{Field, Fields};
use super::generate::{self, MadeDam};
use super::loads::{Uplift, WaterPressure};
use super::model::{
    ContactLaw, DamStudy, Drift, Friction, GravityFrom, Gyroscopic, InclineStudy, Material, Motion, PairLaw, Recorded, Recorder, Scene,
    SolverSettings, Study, TimeStepping, Treatment,
};
use super::motion::samples;
use super::resources::Resources;
use super::units::{Quantity, short};
use super::{applied, camera, flow, ground_records, imports, links, output, records, stop, supports};
use crate::geometry::shapes::UNBOUNDED;
use crate::io::table::format_number;
use crate::model::bond::{Cohesion, Softening};
use crate::model::crushing::{Crushing, DIVISIONS, MOST_DIVISIONS};
use crate::model::law::{Arm, Impact};
use crate::model::periodic::{Cell, Shear};
use crate::numerics::admissible::MU_MAX;
use crate::simulation::AutoStep;

/// Reads everything; `name` is what the scene is called if it does not say.
pub(super) fn read(document: &Document, name: &str, resources: &Resources) -> Result<Scene, SceneError> {
    let mut f = Fields::root(&document.root, &document.source)?;
    let mut scene = Scene::new(name);
    scene.name = f.or("name", name.to_owned(), |n| bodies::name(&n))?;
    scene.title = f.or("title", String::new(), |t| t.text().map(str::to_owned))?;
    scene.time = time(&f.required("time")?)?;
    scene.solver = f.or("solver", SolverSettings::default(), |s| solver(&s))?;
    (scene.periodic, scene.flows) = f.or("periodic", (scene.periodic, scene.flows), |p| periodic(&p))?;
    scene.gravity = f.or("gravity", scene.gravity, |g| gravity(&g))?;
    scene.materials = materials(&f.list("materials")?)?;
    if let Some(contact) = f.optional("contact") {
        (scene.default_law, scene.pair_laws) = laws(&contact, &scene.materials)?;
        let any = |has: fn(&ContactLaw) -> bool| scene.pair_laws.iter().map(|p| &p.law).chain([&scene.default_law]).any(has);
        let resists = any(|l| l.mu_r.number() + l.mu_t.number() + l.patch.number() > 0.0);
        if any(|l| l.bond.is_some()) && scene.periodic.shear.is_some() {
            let message = "found `bond` in a periodic cell whose images move; bonds do not follow them";
            return Err(contact.error(message, "remove `bond`, or `shear` of [periodic]"));
        }
        if resists && scene.solver.friction == Friction::Lagged {
            let cure = "remove mu_r, mu_t and patch, or solver.friction";
            return Err(
                contact.error("found resistance to rolling, twisting or drilling with friction = \"lagged\", which does not know it", cure)
            );
        }
    }
    let mut names = Names::default();
    for (i, field) in f.list("bodies")?.iter().enumerate() {
        let body = bodies::body(field, i, &scene.materials, resources)?;
        names.add(&body.name, i, field)?;
        scene.bodies.push(body);
    }
    let dams = f.or("generate", Vec::new(), |g| generate::all(&g, &mut scene, &mut names, resources))?;
    for (i, field) in f.list("import")?.iter().enumerate() {
        imports::import(field, i, &mut scene, &mut names, resources)?;
    }
    for field in f.list("support")? {
        supports::support(&field, &mut scene, &names)?;
    }
    if scene.bodies.is_empty() && f.list("inlet")?.is_empty() {
        return Err(f.error("the scene has no bodies", "add [[bodies]], a [[generate.…]] table, an [[import]] or an [[inlet]]"));
    }
    for field in f.list("impulses")? {
        impulse(&field, &mut scene, &names)?;
    }
    links::read(&mut f, &mut scene, &names)?;
    for field in f.list("load")? {
        let loads = applied::load(&field, &scene, &names)?;
        scene.loads.extend(loads);
    }
    scene.water = f.list("water")?.iter().map(|w| water(w, &scene, &names)).collect::<Result<_, _>>()?;
    scene.base = f.maybe("base", |b| ground_records::base(&b, resources))?;
    flow::read(&mut f, &mut scene, &names, resources)?;
    scene.camera = f.or("camera", scene.camera, |c| camera::read(&c))?;
    scene.output = f.or("output", scene.output, |o| output::read(&o))?;
    scene.recorders = f.list("recorders")?.iter().map(recorder).collect::<Result<_, _>>()?;
    for (k, field) in f.list("record")?.iter().enumerate() {
        let table = records::record(field, k, &scene, &names)?;
        scene.records.push(table);
    }
    for (k, field) in f.list("measure")?.iter().enumerate() {
        let table = records::measure(field, k, &scene)?;
        scene.measures.push(table);
    }
    for (k, field) in f.list("pile")?.iter().enumerate() {
        let table = records::pile(field, k, &scene)?;
        scene.piles.push(table);
    }
    for (k, field) in f.list("field")?.iter().enumerate() {
        let table = records::grid_field(field, k, &scene)?;
        scene.fields.push(table);
    }
    scene.stop = f.maybe("stop", |s| stop::read(&s))?;
    if let Some(field) = f.optional("study") {
        study(&field, &mut scene, &names, &dams)?;
    }
    f.finish()?;
    scene.notes = resources.notes();
    Ok(scene)
}

fn time(field: &Field<'_>) -> Result<TimeStepping, SceneError> {
    let mut f = field.fields()?;
    let default = TimeStepping::default();
    let step_field = f.required("step")?;
    let auto = step_field.word().as_deref() == Some("auto");
    let step = if auto {
        f.or("step_max", AutoStep::default().largest, |s| s.positive(Quantity::Time))?
    } else {
        step_field.positive(Quantity::Time)?
    };
    let end = f.required("end")?.positive(Quantity::Time)?;
    if end / step > 1e9 {
        let (step, end) = (format_number(step), format_number(end));
        return Err(step_field.error(format!("found a step of {step} s, which takes more than 1e9 steps to {end} s"), "use a larger step"));
    }
    let [beta, theta] = ["beta", "theta"].map(|key| f.optional(key));
    let treatment = f.or("treatment", "gap_aware", |t| t.choice(&[("gap_aware", "gap_aware"), ("forecast", "forecast")]))?;
    let treatment = match (treatment, beta, theta) {
        ("forecast", None, theta) => Treatment::Forecast { theta: theta.map_or(Ok(0.5), |t| t.between(0.5, 1.0))? },
        ("forecast", Some(b), _) => {
            return Err(b.error("found `beta` with treatment = \"forecast\", which feeds no overlap back", "remove it"));
        }
        (_, beta, theta) => {
            // files of older versions say 0.5 in any case
            if let Some(t) = theta
                && t.between(0.5, 1.0)? > 0.5
            {
                let found = "found `theta` with treatment = \"gap_aware\", where bodies go by the velocities at the end of a step";
                return Err(t.error(found, "remove it, or write treatment = \"forecast\""));
            }
            Treatment::GapAware { beta: beta.map_or(Ok(0.1), |b| b.between(0.0, 1.0))? }
        }
    };
    let usual = TimeStepping::usual_accuracy(treatment);
    let accuracy = if auto { Some(f.or("accuracy", usual, |a| a.between(1e-6, 1.0))?) } else { None };
    let schemes = [("midpoint", Gyroscopic::Midpoint), ("theta_rule", Gyroscopic::ThetaRule)];
    let gyroscopic = f.or("gyroscopic", default.gyroscopic, |g| g.choice(&schemes))?;
    let drift = f.or("drift", default.drift, |d| d.choice(&[("velocity", Drift::Velocity), ("projection", Drift::Projection)]))?;
    f.finish()?;
    Ok(TimeStepping { step, accuracy, end, treatment, gyroscopic, drift })
}

fn solver(field: &Field<'_>) -> Result<SolverSettings, SceneError> {
    let mut f = field.fields()?;
    let default = SolverSettings::default();
    let settings = SolverSettings {
        tolerance: f.or("tolerance", default.tolerance, |t| t.positive(Quantity::Number))?,
        max_sweeps: f.or("max_sweeps", default.max_sweeps, |n| n.whole(1, 1_000_000_000))?,
        warm_start: f.or("warm_start", default.warm_start, |w| w.boolean())?,
        friction: f.or("friction", default.friction, |x| x.choice(&[("exact", Friction::Exact), ("lagged", Friction::Lagged)]))?,
    };
    let tolerance = f.optional("tolerance").filter(|_| settings.tolerance >= 1.0);
    f.finish()?;
    match tolerance {
        Some(field) => {
            let message = format!("found a tolerance of {}, which asks for nothing", settings.tolerance);
            Err(field.error(message, "write a number below 1, such as 1e-6; 1e-3 is coarse"))
        }
        None => Ok(settings),
    }
}

/// The faces along the axes that are named, `x = [from, to]`, the shear of their images, and whether bodies begin with its flow.
fn periodic(field: &Field<'_>) -> Result<(Cell, bool), SceneError> {
    let mut f = field.fields()?;
    let faces = ["x", "y", "z"].map(|axis| f.maybe(axis, |faces| faces.numbers::<2>(Quantity::Length)));
    let [x, y, z] = faces;
    let cell =
        Cell::new([x?, y?, z?]).map_err(|e| field.error(format!("found {} for {}", e.found, e.name), "write two rising places in m"))?;
    if cell.is_open() {
        return Err(field.error("found no axis", "write x = [from, to], or leave the section out"));
    }
    let shear = f.optional("shear");
    f.finish()?;
    let Some(shear) = shear else { return Ok((cell, false)) };
    let axes = [("x", 0), ("y", 1), ("z", 2)];
    let mut g = shear.fields()?;
    let (across, along) = (g.or("across", 2, |a| a.choice(&axes))?, g.or("along", 0, |a| a.choice(&axes))?);
    let rate = g.required("rate")?.number(Quantity::Frequency)?;
    let flow = g.or("flow", true, |x| x.boolean())?;
    let displacement = g.or("displacement", 0.0, |d| d.number(Quantity::Length))?;
    g.finish()?;
    let sheared = cell.sheared(Shear { across, along, rate });
    let cell = sheared.map_err(|e| shear.error(format!("found {} for {}", e.found, e.name), format!("name {}", e.needed)))?;
    Ok((cell.displaced(displacement), flow))
}

/// One vector, or a list of `{ from, acceleration }`.
fn gravity(field: &Field<'_>) -> Result<Vec<GravityFrom>, SceneError> {
    let items = field.is_list().then(|| field.items()).transpose()?.unwrap_or_default();
    if !items.first().is_some_and(Field::is_table) {
        return Ok(vec![GravityFrom { time: 0.0, acceleration: field.vector(Quantity::Acceleration)? }]);
    }
    let mut schedule: Vec<GravityFrom> = Vec::new();
    for item in &items {
        let mut f = item.fields()?;
        let from = f.or("from", 0.0, |t| t.non_negative(Quantity::Time))?;
        let acceleration = f.required("acceleration")?.vector(Quantity::Acceleration)?;
        f.finish()?;
        let late = schedule.last().map_or(from != 0.0, |last| from <= last.time);
        if late {
            return Err(item.error(format!("found `from = {from}`"), "start the first entry at 0 and let the times rise"));
        }
        schedule.push(GravityFrom { time: from, acceleration });
    }
    Ok(schedule)
}

fn materials(list: &[Field<'_>]) -> Result<Vec<Material>, SceneError> {
    let mut materials: Vec<Material> = Vec::new();
    for field in list {
        let mut f = field.fields()?;
        let name = bodies::name(&f.required("name")?)?;
        let density = f.required("density")?.positive(Quantity::Density)?;
        f.finish()?;
        if materials.iter().any(|m| m.name == name) {
            return Err(
                field.error(format!("found the material \"{}\" a second time", short(&name)), "give every material a name of its own")
            );
        }
        materials.push(Material { name, density });
    }
    if materials.is_empty() {
        materials.push(Material::default());
    }
    Ok(materials)
}

/// One law; what it does not name is that of `base`, but for keys that what it names excludes or leaves without a meaning.
fn law(f: &mut Fields<'_>, base: &ContactLaw) -> Result<ContactLaw, SceneError> {
    let rules = [("newton", Impact::Newton), ("fremond", Impact::Fremond)];
    let (mu, e_n) = (f.or("mu", base.mu, |x| x.between(0.0, MU_MAX))?, f.or("e_n", base.e_n, |x| x.between(0.0, 1.0))?);
    let threshold = f.optional("e_n_speed");
    if let Some(field) = threshold.as_ref().filter(|_| e_n == 0.0) {
        return Err(field.error("found `e_n_speed` without restitution", "add e_n = 0.8, or remove it"));
    }
    let least = if e_n == 0.0 { 0.0 } else { base.e_n_speed };
    let e_n_speed = threshold.map_or(Ok(least), |v| v.non_negative(Quantity::Velocity))?;
    let tangential = f.optional("e_t");
    let impact = f.or("impact", base.impact, |x| x.choice(&rules))?;
    let without = if impact == Impact::Fremond { 0.0 } else { base.e_t };
    let e_t = tangential.as_ref().map_or(Ok(without), |x| x.between(-1.0, 1.0))?;
    if let Some(field) = tangential.filter(|_| impact == Impact::Fremond && e_t != 0.0) {
        return Err(field.error(format!("found `e_t = {e_t}` with impact = \"fremond\", which has no tangential restitution"), "remove it"));
    }
    let adhesion = f.or("adhesion", base.adhesion, |x| x.non_negative(Quantity::Force))?;
    let range = f.optional("adhesion_range");
    if let Some(field) = range.as_ref().filter(|_| adhesion == 0.0) {
        return Err(field.error("found `adhesion_range` without `adhesion`", "add adhesion = \"1 N\", or remove it"));
    }
    let bridge = f.optional("rupture");
    if let Some(field) = bridge.as_ref().filter(|_| adhesion == 0.0 || range.is_some()) {
        let message = "found `rupture`, which needs `adhesion` and excludes `adhesion_range`";
        return Err(field.error(message, "write adhesion = \"1 mN\" and rupture = \"0.1 mm\" for a liquid bridge from touch to rupture"));
    }
    let (reach, length) = if adhesion == 0.0 { (0.0, 0.0) } else { (base.adhesion_range, base.rupture) };
    let adhesion_range = range.as_ref().map_or(Ok(if bridge.is_some() { 0.0 } else { reach }), |r| r.non_negative(Quantity::Length))?;
    let rupture = bridge.map_or(Ok(if range.is_some() { 0.0 } else { length }), |r| r.positive(Quantity::Length))?;
    let mu_r = f.or("mu_r", base.mu_r, |x| x.arm())?;
    let (twist, drilling) = (f.optional("mu_t"), f.optional("patch"));
    let none = Arm::default();
    let mu_t = twist.as_ref().map_or(Ok(if drilling.is_some() { none } else { base.mu_t }), |x| x.arm())?;
    let patch = drilling.as_ref().map_or(Ok(if twist.is_some() { none } else { base.patch }), |x| x.arm())?;
    if let Some(field) = drilling.filter(|_| patch.number() > 0.0 && mu_t.number() > 0.0) {
        return Err(field.error("found `patch` beside `mu_t`; either of them resists twisting", "remove one of them"));
    }
    let bond = f.optional("bond").map_or(Ok(base.bond), |x| if is_none(&x) { Ok(None) } else { bond(&x).map(Some) })?;
    let crushing = f.optional("crushing").map_or(Ok(base.crushing), |x| if is_none(&x) { Ok(None) } else { crushing(&x).map(Some) })?;
    Ok(ContactLaw { mu, e_n, e_n_speed, e_t, impact, adhesion, adhesion_range, rupture, mu_r, mu_t, patch, bond, crushing })
}

/// Whether a pair writes that it has no such thing, which `[contact]` has.
fn is_none(field: &Field<'_>) -> bool {
    field.word().as_deref() == Some("none")
}

/// A pressure, or a table of it and of the divisions of a joint.
fn crushing(field: &Field<'_>) -> Result<Crushing, SceneError> {
    if !field.is_table() {
        return Ok(Crushing { strength: field.positive(Quantity::Pressure)?, divisions: DIVISIONS });
    }
    let mut f = field.fields()?;
    let strength = f.required("strength")?.positive(Quantity::Pressure)?;
    let divisions = f.or("divisions", DIVISIONS as usize, |x| x.whole(1, MOST_DIVISIONS as usize))? as u32;
    f.finish()?;
    Ok(Crushing { strength, divisions })
}

/// Stiffness of mortar where none is given: a strength is reached at this opening (m).
const AT_STRENGTH: f64 = 1e-5;

fn bond(field: &Field<'_>) -> Result<Cohesion, SceneError> {
    let mut f = field.fields()?;
    let both = |field: &Field<'_>, quantity: Quantity| match field.is_list() {
        true => field.numbers::<2>(quantity),
        false => field.positive(quantity).map(|x| [x; 2]),
    };
    let tension = f.required("tension")?.positive(Quantity::Pressure)?;
    let cohesion = f.or("cohesion", tension, |x| x.positive(Quantity::Pressure))?;
    let stiffness = f.or("stiffness", [tension / AT_STRENGTH, cohesion / AT_STRENGTH], |x| both(&x, Quantity::StiffnessPerArea))?;
    let energy = f.optional("energy");
    let soft = if energy.is_some() { Softening::Linear } else { Softening::Brittle };
    let known = [("brittle", Softening::Brittle), ("linear", Softening::Linear), ("exponential", Softening::Exponential)];
    let softening = f.or("softening", soft, |x| x.choice(&known))?;
    if let Some(field) = energy.as_ref().filter(|_| softening == Softening::Brittle) {
        return Err(field.error("found `energy` with softening = \"brittle\"", "remove it, or take \"linear\" or \"exponential\""));
    }
    if energy.is_none() && softening != Softening::Brittle {
        return Err(
            field.error("found softening without `energy`", "add energy = \"10 J/m2\", or one for tension and one for shear: [10, 50]")
        );
    }
    let energy = energy.map_or(Ok([0.0; 2]), |x| both(&x, Quantity::SurfaceEnergy))?;
    let neck = f.or("neck", 0.0, |x| x.between(0.0, 1.0))?;
    f.finish()?;
    let bond = Cohesion { tension, cohesion, stiffness, energy, softening, neck };
    bond.validate().map_err(|e| field.error(e, "mend that number"))?;
    Ok(bond)
}

fn laws(field: &Field<'_>, materials: &[Material]) -> Result<(ContactLaw, Vec<PairLaw>), SceneError> {
    let mut f = field.fields()?;
    let default = law(&mut f, &ContactLaw::default())?;
    let mut pairs: Vec<PairLaw> = Vec::new();
    for item in f.list("pairs")? {
        let mut p = item.fields()?;
        let names = p.required("materials")?;
        let pair = match names.items()?.as_slice() {
            [a, b] => [bodies::material_index(a, materials)?, bodies::material_index(b, materials)?],
            other => return Err(names.error(format!("found {} names, expected 2", other.len()), "name the two materials")),
        };
        if pairs.iter().any(|p| p.materials == pair || p.materials == [pair[1], pair[0]]) {
            return Err(names.error("found this pair of materials a second time", "give each pair one law"));
        }
        pairs.push(PairLaw { materials: pair, law: law(&mut p, &default)? });
        p.finish()?;
    }
    f.finish()?;
    Ok((default, pairs))
}

/// A blow on a body that a generator made.
fn impulse(field: &Field<'_>, scene: &mut Scene, names: &Names) -> Result<(), SceneError> {
    let mut f = field.fields()?;
    let named = f.required("body")?;
    let body = names.body(&named)?;
    if scene.bodies[body].motion != Motion::Dynamic {
        let message = format!("found {}, which no blow can move", scene.bodies[body].name);
        return Err(named.error(message, "name a body whose motion is \"dynamic\""));
    }
    let blow = bodies::impulse(&mut f)?;
    f.finish()?;
    let impulses = &mut scene.bodies[body].impulses;
    impulses.push(blow);
    impulses.sort_by(|a, b| a.time.total_cmp(&b.time));
    Ok(())
}

fn water(field: &Field<'_>, scene: &Scene, names: &Names) -> Result<WaterPressure, SceneError> {
    let mut f = field.fields()?;
    let bodies = names.bodies(&f.required("bodies")?)?;
    let direction = f.or("direction", DVec3::X, |d| d.direction())?;
    let density = f.or("density", 1000.0, |d| d.positive(Quantity::Density))?;
    let level = f.required("level")?;
    let (times, levels) = if level.is_list() {
        let (times, rows) = samples::<1>(&level, Quantity::Length, false)?;
        (times, rows.into_iter().map(|[z]| z).collect())
    } else if level.word().as_deref() == Some("top") {
        (vec![0.0], vec![end(&level, scene, &bodies, true)?])
    } else {
        (vec![0.0], vec![level.number(Quantity::Length)?])
    };
    let uplift = f.or("uplift", Uplift::None, |u| uplift(&u))?;
    let added = f.or("added_mass", false, |a| a.choice(&[("none", false), ("westergaard", true)]))?;
    let bed = f.optional("bed");
    if let Some(bed) = bed.as_ref().filter(|_| !added) {
        return Err(bed.error("found `bed` without added mass", "add added_mass = \"westergaard\", or remove it"));
    }
    let bed = bed.map_or_else(|| end(&level, scene, &bodies, false), |z| z.number(Quantity::Length));
    let added_mass = added.then_some(bed).transpose()?;
    f.finish()?;
    Ok(WaterPressure { bodies, direction, density, times, levels, uplift, added_mass })
}

/// Height (m) of the highest point of the bodies, or of the lowest.
fn end(field: &Field<'_>, scene: &Scene, bodies: &[usize], top: bool) -> Result<f64, SceneError> {
    let mut found = if top { f64::NEG_INFINITY } else { f64::INFINITY };
    for body in bodies.iter().map(|&i| &scene.bodies[i]) {
        let shape = body.shape.build().map_err(|e| field.error(format!("{}: {e}", body.name), "mend the shape of this body"))?;
        let (low, high) = shape.aabb(&body.pose);
        found = if top { found.max(high.z) } else { found.min(low.z) };
    }
    if found.abs() < UNBOUNDED {
        Ok(found)
    } else {
        Err(field.error("found a half-space, which has no top or bottom", "write the level in m"))
    }
}

/// `"none"`, `"linear"` or `"joints"`; also false and true, 0 and 1.
fn uplift(field: &Field<'_>) -> Result<Uplift, SceneError> {
    match field.word().as_deref() {
        Some("none" | "false" | "0" | "off" | "no") => Ok(Uplift::None),
        Some("linear" | "true" | "1" | "on" | "yes") => Ok(Uplift::Linear),
        Some("joints") => Ok(Uplift::Joints),
        other => {
            let found = format!("found `{}`", short(other.unwrap_or("a list or table")));
            Err(field.error(found, "write \"none\", \"linear\" (in the base joint) or \"joints\" (in each bed joint)"))
        }
    }
}

fn recorder(field: &Field<'_>) -> Result<Recorder, SceneError> {
    let mut f = field.fields()?;
    let kinds = [("bodies", Recorded::Bodies), ("contacts", Recorded::Contacts), ("steps", Recorded::Steps), ("joints", Recorded::Joints)];
    let recorder = Recorder { what: f.required("what")?.choice(&kinds)?, every: f.or("every", 0.0, |t| t.non_negative(Quantity::Time))? };
    f.finish()?;
    Ok(recorder)
}

fn study(field: &Field<'_>, scene: &mut Scene, names: &Names, dams: &[MadeDam]) -> Result<(), SceneError> {
    let mut f = field.fields()?;
    let incline = f.required("kind")?.choice(&[("incline", true), ("dam", false)])?;
    scene.study = if incline { Study::Incline(tilt(&mut f, scene, names)?) } else { Study::Dam(dam_study(&mut f, scene, dams)?) };
    f.finish()
}

/// Tilts gravity at `tilt_at` to the angle of friction plus `offset`, towards `heading`, and measures the slide of `body`.
fn tilt(f: &mut Fields<'_>, scene: &mut Scene, names: &Names) -> Result<InclineStudy, SceneError> {
    let body = names.body(&f.required("body")?)?;
    let offset = f.required("offset")?.in_rad(std::f64::consts::FRAC_PI_2)?.number(Quantity::Angle)?;
    let heading = f.or("heading", 0.0, |h| h.in_rad(std::f64::consts::TAU)?.number(Quantity::Angle))?;
    let tilt_field = f.required("tilt_at")?;
    let tilt = tilt_field.non_negative(Quantity::Time)?;
    let window_field = f.required("window")?;
    let window = window_field.numbers::<2>(Quantity::Time)?;
    if !(tilt <= window[0] && window[0] < window[1]) {
        return Err(
            window_field.error(format!("found the window {window:?} for a tilt at {tilt}"), "let it begin after the tilt and end later")
        );
    }
    let first = scene.gravity_at(0.0);
    if first.x != 0.0 || first.y != 0.0 || first.z >= 0.0 {
        return Err(f.error(format!("the incline found the gravity {first} before the tilt"), "let gravity point along -z at the start"));
    }
    let (mu, g) = (scene.default_law.mu, -first.z);
    let angle = libm::atan(mu) + offset;
    let down = DVec3::new(libm::cos(heading), libm::sin(heading), 0.0);
    let acceleration = g * (libm::sin(angle) * down - libm::cos(angle) * DVec3::Z);
    scene.gravity.retain(|entry| entry.time < tilt);
    scene.gravity.push(GravityFrom { time: tilt, acceleration });
    Ok(InclineStudy { body, mu, angle, down, g, tilt, window })
}

fn dam_study(f: &mut Fields<'_>, scene: &Scene, dams: &[MadeDam]) -> Result<DamStudy, SceneError> {
    let named = f.maybe("dam", |d| d.text().map(str::to_owned))?;
    let found = dams.iter().find(|d| named.as_ref().is_none_or(|n| *n == d.name));
    let Some(made) = found else {
        let known: Vec<&str> = dams.iter().map(|d| d.name.as_str()).collect();
        let known = if known.is_empty() { String::new() } else { format!("; known dams: {}", known.join(", ")) };
        return Err(f.error("found no such dam", format!("add a [[generate.dam]] table{known}")));
    };
    let ground = &scene.bodies[made.ground];
    Ok(DamStudy {
        courses: made.courses.clone(),
        ground: made.ground,
        mu: scene.law(ground.material, scene.bodies[made.courses[0]].material).mu,
        downstream: DVec3::X,
        toe: made.dam.toe() + ground.pose.position,
        width: made.dam.width,
    })
}
