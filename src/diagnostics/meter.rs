//! A meter that looks at every step of a run, and gives its summary at the end.

use super::check::repeated;
use super::figures::{bonds, crushing, energies, flows, late_inlets, penetrations, restitution_loss, surfaces};
use super::grains::Packing;
use super::measured::{of_measures, of_piles};
use super::shaken::LastPart;
use super::studies::{Forces, Momentum, momentum};
use super::summary::Summary;
use super::verdict::{Course, Watch};
use super::warnings::{Choices, warnings};
use crate::assembly::joints::JointRows;
use crate::assembly::problem::StepProblem;
use crate::io::scene::model::{Measure, PileTable, Scene, Study, Treatment};
use crate::model::flow::{Inlet, Outlet};
use crate::model::interaction::Interaction;
use crate::model::newton_euler::{BodyName, BodyPose, Inertia, Velocity};
use crate::numerics::{Method, Status};
use crate::simulation::{Simulation, StepReport};
use crate::topology::bodies::{Bodies, BodyRow};
use bevy_ecs::name::Name;
use bevy_ecs::prelude::Entity;
use glam::DVec3;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Steps over which forces are averaged at the end of a run.
const LAST_STEPS: usize = 10;

/// Restitution of all laws from which on it is told what impacts take beyond it: below, bodies soon rest on each other, where one impact is many.
const LIVELY: f64 = 0.8;

/// Looks at every step and gives the summary at the end.
///
/// ```
/// use drystone::{diagnostics::summary::Meter, io::scene::{Scene, SceneSource}, scenes};
/// let scene = Scene::load(&SceneSource::new("bouncing_ball"), &[])?;
/// let mut built = scenes::build(&scene)?;
/// let mut meter = Meter::new(&scene, &built.entities, &built.simulation);
/// for _ in 0..10 {
///     let report = built.simulation.step()?;
///     meter.observe(&report, &built.simulation);
/// }
/// let summary = meter.summary(&mut built.simulation);
/// assert_eq!((summary.steps, summary.unconverged_steps), (10, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Meter {
    scene: String,
    study: Study,
    tolerance: f64,
    auto: bool,
    /// Whether mortar binds, and whether joints crush.
    binds: [bool; 2],
    /// What the cures of warnings depend on.
    choices: Choices,
    /// Whether it can be told what impacts take beyond their restitution.
    bounces: bool,
    entities: Vec<Entity>,
    measures: Vec<Measure>,
    piles: Vec<PileTable>,
    watch: Option<Watch>,
    record: Record,
}

/// Where mortar finds nothing to hold, and where no joint crushes.
const NOTHING_CRUSHES: &str =
    "no joint crushes: no faces of materials with `crushing` touch at the start (balls and edges have no area); move them together";
const NOTHING_BOUND: &str =
    "no joint is bound: no faces of materials with a `bond` touch at the start (balls and edges have no area); move them together";

/// Tells of bodies that mortar would bind if they were a little nearer.
fn nearly_bound(scene: &Scene, entities: &[Entity], simulation: &Simulation) -> Option<String> {
    let (count, bodies, gap) = simulation.nearly_bound()?;
    let name = |body: Entity| entities.iter().position(|&e| e == body).map_or("a body", |i| scene.bodies[i].name.as_str());
    let [one, two] = bodies.map(name);
    Some(format!(
        "{count} of the pairs whose materials bind are too far apart for it, first {one} and {two} with {gap:.1e} m between them: move them together, \
         to a ten thousandth of their smallest length"
    ))
}

/// A step without a solution: when, who, and the largest speed by which a contact gives way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Squeeze {
    pub(super) time: f64,
    pub(super) bodies: Vec<String>,
    pub(super) speed: f64,
    /// Whether a body that is driven is among them.
    #[serde(default)]
    pub(super) driven: bool,
}

impl Squeeze {
    fn of(time: f64, simulation: &Simulation) -> Self {
        let world = simulation.world();
        let (pairs, speed) = world.resource::<StepProblem>().squeezed();
        let mut slots: Vec<u32> = pairs.into_iter().flatten().collect();
        slots.sort_unstable();
        slots.dedup();
        let rows = &world.resource::<Bodies>().rows;
        // what drives them together is what one can change
        let moves = |row: &BodyRow| row.inertia.is_none() && [row.velocity, row.new_velocity].iter().any(|v| *v != Velocity::default());
        let driven = |slot: &u32| rows.get(*slot as usize).is_some_and(moves);
        slots.sort_by_key(|slot| !driven(slot));
        let any = slots.first().is_some_and(driven);
        let name = |slot: u32| {
            let entity = rows.get(slot as usize).and_then(|row| row.entity);
            let name = entity.and_then(|e| world.get::<BodyName>(e)).map(|n| n.0.clone());
            name.filter(|n| !n.is_empty()).unwrap_or_else(|| format!("body {slot}"))
        };
        Self { time, bodies: slots.into_iter().map(name).collect(), speed, driven: any }
    }
}

/// Steps with lagged friction that nobody asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Unreached {
    pub(super) steps: u64,
    /// Largest velocity by which a contact missed its law in them (m/s).
    pub(super) violation: f64,
    /// What these have moved by mistake at most, summed over the steps, in parts of a body.
    pub(super) way: f64,
}

/// The joint that was the most open, and by how much any of them was tilted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct WorstJoint {
    gap: f64,
    name: String,
    tilt: f64,
}

impl WorstJoint {
    /// Takes in the joints of the last step; none where there are none.
    fn look(worst: &mut Option<Self>, simulation: &Simulation) {
        let world = simulation.world();
        for &JointRows { entity, .. } in &world.resource::<StepProblem>().joints {
            let Some(part) = world.get::<Interaction>(entity) else { continue };
            let Some([gap, tilt]) = part.open() else { continue };
            let worst = worst.get_or_insert_default();
            worst.tilt = worst.tilt.max(tilt);
            if gap > worst.gap || worst.name.is_empty() {
                worst.gap = gap;
                worst.name.clear();
                match world.get::<Name>(entity) {
                    Some(name) => worst.name.push_str(name),
                    None => worst.name.push_str("a joint without a name"),
                }
            }
        }
    }
}

/// Turn in a step (rad) of bodies that as good as stand.
const STILL: f64 = 1e-6;

/// What the meter remembers; a checkpoint keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// e_s of each step
    residuals: Vec<f64>,
    rel_max: f64,
    unconverged: u64,
    infeasible: u64,
    lagged: u64,
    lagged_defect: f64,
    #[serde(default)]
    rebounds_dropped: u64,
    overlaps_kept: u64,
    #[serde(default)]
    pub(super) last_part: LastPart,
    #[serde(default)]
    pub(super) unreached: Unreached,
    violation: f64,
    violation_size: f64,
    penetration_size: f64,
    stride: f64,
    /// largest turn of a bound body in a step (rad)
    #[serde(default)]
    turn: f64,
    moved: f64,
    /// the same without the spin of bodies
    travelled: f64,
    /// what the loads of a step would give to bodies alone
    pushed: f64,
    pub(super) first_missed: Option<f64>,
    /// steps that were solved, but whose bodies went elsewhere than their rows looked, and the first of them
    #[serde(default)]
    pub(super) unsettled: u64,
    #[serde(default)]
    pub(super) first_unsettled: Option<f64>,
    pub(super) first_infeasible: Option<Squeeze>,
    /// shortest and longest step
    step_sizes: Option<[f64; 2]>,
    sweeps: u64,
    factorisations: u64,
    ended_by: BTreeMap<Method, u64>,
    penetration: f64,
    #[serde(default)]
    joints: Option<WorstJoint>,
    contacts: usize,
    /// where each body began
    pub(super) origins: Vec<Option<DVec3>>,
    pub(super) last: Vec<Forces>,
    /// velocity down the slope at both ends of the window
    pub(super) slide: [Option<f64>; 2],
    /// position at the tilt and at the end of the window
    pub(super) creep: [Option<DVec3>; 2],
    /// of the courses of a dam after the last step
    pub(super) momentum: Momentum,
    /// of what should stand
    course: Option<Course>,
    /// whether the dam has left its place
    pub(super) gone: bool,
    /// what was wrong before the run, and what locked axes held in it
    warnings: Vec<String>,
    held: bool,
    /// measures in whose box the centre of a body has been
    #[serde(default)]
    met: BTreeSet<String>,
}

impl Record {
    /// Energy that moved in the run: the larger of the largest kinetic energy and the change of the potential one (J).
    pub(super) fn balance_scale(&self) -> f64 {
        self.moved
    }

    /// The same of centres of mass: no joint takes the spin of a wheel about its axle, however much it lets the axle sink (J).
    pub(super) fn travelled(&self) -> f64 {
        self.travelled
    }

    /// Energy that the loads of a step would give to bodies alone, at most (J): what is far below is rounding.
    pub(super) fn pushed(&self) -> f64 {
        self.pushed
    }
}

impl Meter {
    /// A meter at the start of a run; `entities` are those of the bodies of the scene.
    pub fn new(scene: &Scene, entities: &[Entity], simulation: &Simulation) -> Self {
        let mut warnings = repeated(scene);
        if scene.bonds() && simulation.time() == 0.0 {
            warnings.extend(nearly_bound(scene, entities, simulation));
        }
        let mut laws = std::iter::once(&scene.default_law).chain(scene.pair_laws.iter().map(|pair| &pair.law));
        let record = Record { origins: vec![None; entities.len()], warnings, ..Record::default() };
        let mut meter = Self {
            scene: scene.name.clone(),
            study: scene.study.clone(),
            tolerance: scene.solver.tolerance,
            auto: scene.time.accuracy.is_some(),
            binds: [scene.bonds(), scene.crushes()],
            choices: Choices::of(scene),
            bounces: laws.clone().all(|law| law.e_n == 1.0 && law.e_n_speed == 0.0)
                || matches!(scene.time.treatment, Treatment::GapAware { .. }) && laws.all(|law| law.e_n >= LIVELY),
            entities: entities.to_vec(),
            measures: scene.measures.clone(),
            piles: scene.piles.clone(),
            watch: Watch::of(scene),
            record,
        };
        meter.look(simulation);
        if let Study::Dam(dam) = &meter.study {
            meter.record.momentum = momentum(dam, &meter.entities, simulation);
        }
        meter
    }

    /// Takes in a step that has just ended.
    pub fn observe(&mut self, report: &StepReport, simulation: &Simulation) {
        let record = &mut self.record;
        record.residuals.push(report.report.e_s);
        record.rel_max = record.rel_max.max(report.report.rel);
        record.infeasible += u64::from(report.infeasible);
        if !record.held
            && let Some(text) = held(report, simulation)
        {
            record.warnings.push(text);
            record.held = true;
        }
        record.rebounds_dropped += u64::from(report.rebounds_dropped);
        record.overlaps_kept += u64::from(report.overlaps_kept);
        if let Some(defect) = report.lagged {
            record.lagged += 1;
            record.lagged_defect = record.lagged_defect.max(defect);
        }
        if report.report.status == Status::Lagged {
            record.unreached.steps += 1;
            record.unreached.violation = record.unreached.violation.max(report.violation);
            record.unreached.way += report.violation_size;
        }
        let missed = !report.converged && !report.infeasible && report.report.status != Status::Lagged;
        record.unconverged += u64::from(missed);
        // no solver would do better there
        let unsettled = missed && report.report.converged() && report.systems.unconverged == 0;
        record.unsettled += u64::from(unsettled);
        if missed {
            if unsettled { &mut record.first_unsettled } else { &mut record.first_missed }.get_or_insert(report.time);
        }
        // what locked axes hold has its own words
        if report.infeasible && record.first_infeasible.is_none() {
            record.first_infeasible = Some(Squeeze::of(report.time, simulation)).filter(|squeeze| !squeeze.bodies.is_empty());
        }
        record.penetration_size = record.penetration_size.max(report.penetration_size);
        record.stride = record.stride.max(report.stride);
        if self.binds[0] {
            record.turn = record.turn.max(report.step_size * simulation.bound_spin());
        }
        let balance = &report.balance;
        record.moved = balance.kinetic_max.max(balance.potential_change.abs());
        record.travelled = balance.travel_max.max(balance.potential_change.abs());
        record.pushed = balance.pushed_max;
        record.last_part.observe(report.time, &report.balance);
        record.violation = record.violation.max(report.violation);
        record.violation_size = record.violation_size.max(report.violation_size);
        let h = report.step_size;
        record.step_sizes = Some(record.step_sizes.map_or([h; 2], |[low, high]| [low.min(h), high.max(h)]));
        record.sweeps += report.report.iterations as u64;
        record.factorisations += report.report.factorisations as u64;
        *record.ended_by.entry(report.report.ended_by).or_default() += 1;
        record.penetration = record.penetration.max(report.penetration);
        WorstJoint::look(&mut record.joints, simulation);
        record.contacts = report.contacts;
        let down = simulation.scheme().gravity.try_normalize().unwrap_or(DVec3::NEG_Z);
        let mut forces = Forces { support: report.support_force.dot(down), ..Forces::default() };
        if let Study::Dam(dam) = &self.study {
            forces = record.weigh(dam, &self.entities, simulation, forces);
        }
        if record.last.len() == LAST_STEPS {
            record.last.remove(0);
        }
        record.last.push(forces);
        self.look(simulation);
    }

    /// Takes in positions: where bodies appear, and what a study needs at this time.
    fn look(&mut self, simulation: &Simulation) {
        let world = simulation.world();
        for (origin, &entity) in self.record.origins.iter_mut().zip(&self.entities) {
            if origin.is_none() {
                *origin = world.get::<BodyPose>(entity).map(|pose| pose.0.position);
            }
        }
        let cell = simulation.scheme().cell;
        for Measure { name, bounds, .. } in &self.measures {
            let Some([low, high]) = bounds.filter(|_| !self.record.met.contains(name)) else { continue };
            let centres = self.entities.iter().filter(|e| world.get::<Inertia>(**e).is_some()).filter_map(|e| world.get::<BodyPose>(*e));
            let mut homes = centres.map(|pose| pose.0.position + cell.home(pose.0.position).0);
            if homes.any(|x| x.cmpge(low).all() && x.cmple(high).all()) {
                self.record.met.insert(name.clone());
            }
        }
        if let Some(watch) = &mut self.watch {
            watch.look(simulation, &self.entities);
        }
        let Study::Incline(study) = &self.study else { return };
        let (time, close) = (simulation.time(), 0.5 * simulation.time_step());
        let Some(&entity) = self.entities.get(study.body) else { return };
        let (Some(pose), Some(velocity)) = (world.get::<BodyPose>(entity), world.get::<Velocity>(entity)) else { return };
        for (k, &instant) in study.window.iter().enumerate() {
            if (time - instant).abs() < close {
                self.record.slide[k] = Some(velocity.linear.dot(study.down));
            }
        }
        for (k, instant) in [study.tilt, study.window[1]].into_iter().enumerate() {
            if (time - instant).abs() < close {
                self.record.creep[k] = Some(pose.0.position);
            }
        }
    }

    /// Which rule of `[stop]` ends the run here, if one does.
    pub fn ended(&self, simulation: &Simulation) -> Option<String> {
        self.watch.as_ref()?.ended(simulation.time())
    }

    /// Lets a run go on that a rule of `[stop]` has ended: forces have to be balanced for `hold` from now on, and a collapse or a displacement
    /// that there has been ends it no more.
    ///
    /// ```
    /// use drystone::{diagnostics::summary::Meter, io::scene::Scene, scenes};
    /// let text = "time = { step = 1e-3, end = 1 }\nstop = { displacement = 0.01 }\n[[bodies]]\nshape = { kind = \"ball\", radius = 0.1 }";
    /// let scene = Scene::from_toml(text, "falls")?;
    /// let mut built = scenes::build(&scene)?;
    /// let mut meter = Meter::new(&scene, &built.entities, &built.simulation);
    /// while meter.ended(&built.simulation).is_none() {
    ///     let report = built.simulation.step()?;
    ///     meter.observe(&report, &built.simulation);
    /// }
    /// meter.go_on();
    /// assert_eq!(meter.ended(&built.simulation), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn go_on(&mut self) {
        if let Some(watch) = &mut self.watch {
            watch.go_on();
        }
    }

    pub(crate) fn record(&self) -> Record {
        Record { course: self.watch.as_ref().map(|w| w.course().clone()), ..self.record.clone() }
    }

    pub(crate) fn restore(&mut self, mut record: Record) {
        if let (Some(watch), Some(course)) = (&mut self.watch, record.course.take()) {
            watch.restore(course);
        }
        self.record = record;
    }

    /// The summary of the run so far. Detects contacts once more, at the state reached.
    pub fn summary(&self, simulation: &mut Simulation) -> Summary {
        let record = &self.record;
        let steps = record.residuals.len();
        let mean = |f: fn(&Forces) -> f64| record.last.iter().map(f).sum::<f64>() / record.last.len().max(1) as f64;
        let forces = Forces {
            support: mean(|f| f.support),
            base_normal: mean(|f| f.base_normal),
            base_shear: mean(|f| f.base_shear),
            base_moment: mean(|f| f.base_moment),
        };
        let mut summary = Summary {
            scene: self.scene.clone(),
            time: simulation.time(),
            steps: simulation.steps(),
            step_size: if self.auto { simulation.time() / simulation.steps().max(1) as f64 } else { simulation.time_step() },
            step_size_min: record.step_sizes.filter(|_| self.auto).map(|[low, _]| low),
            step_size_max: record.step_sizes.filter(|_| self.auto).map(|[_, high]| high),
            contacts: record.contacts,
            residual_max: record.residuals.iter().copied().fold(0.0, f64::max),
            residual_median: median(&record.residuals),
            rel_max: record.rel_max,
            tolerance: self.tolerance,
            unconverged_steps: record.unconverged,
            lagged_steps: record.lagged,
            lagged_defect_max: record.lagged_defect,
            infeasible_steps: record.infeasible,
            rebounds_dropped_steps: record.rebounds_dropped,
            overlaps_kept_steps: record.overlaps_kept,
            violation_max: record.violation,
            violation_size_max: record.violation_size,
            penetration_size_max: record.penetration_size,
            stride_max: record.stride,
            joint_gap_max_m: record.joints.as_ref().map(|j| j.gap),
            joint_gap_of: record.joints.as_ref().map(|j| j.name.clone()),
            joint_tilt_max_rad: record.joints.as_ref().map(|j| j.tilt),
            iterations_mean: record.sweeps as f64 / steps.max(1) as f64,
            factorisations_mean: record.factorisations as f64 / steps.max(1) as f64,
            ended_by: record.ended_by.clone(),
            support_force_N: forces.support,
            energy: energies(simulation),
            bonds: bonds(simulation, record.turn),
            crushing: crushing(simulation),
            outlets: flows::<Outlet>(simulation),
            inlets: flows::<Inlet>(simulation),
            surfaces: surfaces(simulation),
            state_hash: format!("{:016x}", simulation.state_hash()),
            ended_early: self.ended(simulation),
            verdict: self.watch.as_ref().and_then(|w| w.verdict(simulation, &self.entities)),
            ..Summary::default()
        };
        summary.energy.restitution_loss_J = self.bounces.then(|| restitution_loss(simulation));
        if self.measures.len() + self.piles.len() > 0 {
            // before contacts are detected anew: forces are those of the last step
            let packing = Packing::of(simulation, None);
            summary.measures = of_measures(&packing, &self.measures);
            summary.piles = of_piles(&packing, &self.piles);
        }
        penetrations(simulation, &mut summary);
        summary.penetration_run_max_m = record.penetration.max(summary.penetration_max_m);
        self.motion(simulation, &mut summary);
        match &self.study {
            Study::None => {}
            Study::Incline(study) => summary.incline = Some(record.incline(study)),
            Study::Dam(study) => summary.dam = Some(record.dam(study, &self.entities, simulation, &forces)),
        }
        // bodies that turn by a millionth in a step
        let world = simulation.world();
        let largest = |e: &Entity| world.get::<Inertia>(*e).map_or(0.0, |inertia| inertia.principal.max_element());
        let trifle = 0.5 * self.entities.iter().map(largest).sum::<f64>() * (STILL / simulation.time_step()).powi(2);
        let missing = [summary.bonds.is_none(), summary.crushing.is_none()];
        let dry = (0..2).filter(|&k| self.binds[k] && missing[k]).map(|k| [NOTHING_BOUND, NOTHING_CRUSHES][k].to_owned());
        let told = record.warnings.iter().cloned().chain(warnings(&summary, record, trifle, self.choices));
        let empty: Vec<String> = self.empty_measures(&summary).collect();
        summary.warnings = dry.chain(told).chain(empty).chain(late_inlets(simulation)).collect();
        summary
    }

    /// Measures in whose box no grain has been.
    fn empty_measures(&self, summary: &Summary) -> impl Iterator<Item = String> {
        let none = |m: &&Measure| {
            let now = summary.measures.get(&m.name).and_then(|figures| figures.get("grains"));
            m.bounds.is_some() && !self.record.met.contains(&m.name) && now.is_none_or(|grains| grains == 0.0)
        };
        let text = |m: &Measure| format!("the box of the measure {} has held no grain: put it where grains are; lengths are in m", m.name);
        self.measures.iter().filter(none).map(text)
    }

    /// Faults and hints that were seen before the run, as lines.
    pub fn found_before(&self) -> impl Iterator<Item = &str> {
        self.record.warnings.iter().map(String::as_str).filter(|line| line.starts_with("fault") || line.starts_with("hint"))
    }

    fn motion(&self, simulation: &Simulation, summary: &mut Summary) {
        let world = simulation.world();
        let (mut dynamic, mut height) = (0, 0.0);
        for (&entity, origin) in self.entities.iter().zip(&self.record.origins) {
            let Some(pose) = world.get::<BodyPose>(entity) else { continue };
            summary.bodies += 1;
            if world.get::<Inertia>(entity).is_none() {
                continue;
            }
            dynamic += 1;
            height += pose.0.position.z;
            let speed = world.get::<Velocity>(entity).map_or(0.0, |v| v.linear.length());
            summary.speed_max = summary.speed_max.max(speed);
            let way = origin.map_or(0.0, |origin| origin.distance(pose.0.position));
            summary.displacement_max_m = summary.displacement_max_m.max(way);
        }
        summary.height_mean_m = height / f64::from(dynamic.max(1));
    }
}

/// The first place of a step where locked axes hold what would have to move, in words.
fn held(report: &StepReport, simulation: &Simulation) -> Option<String> {
    let world = simulation.world();
    let worst = world.resource::<StepProblem>().held.iter().max_by(|a, b| a.speed.total_cmp(&b.speed))?;
    let name = |entity: Option<Entity>| {
        entity.map_or("the world".to_owned(), |e| world.get::<BodyName>(e).map_or_else(|| format!("{e:?}"), |n| n.0.clone()))
    };
    let [one, two] = worst.bodies.map(name);
    let axis = ["x", "y", "z"][worst.direction.abs().max_position()];
    let d = worst.direction;
    Some(format!(
        "step {} (t = {} s): {one} would have to move against {two} at {:.3e} m/s along [{:.3}, {:.3}, {:.3}], but their {axis} axis is \
         locked; unlock it, or let the other body give way",
        report.step, report.time, worst.speed, d.x, d.y, d.z
    ))
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]),
    }
}
