//! The files of a run under `--out`.

use super::breakages::Breakages;
use super::fields::FieldFiles;
use super::joints::Joints;
use super::measures::MeasureTables;
use super::report::{CERTIFICATE, SCENE_OF_RUN};
use crate::diagnostics::forecast::{DiskForecast, Forecast};
use crate::diagnostics::{grains::Packing, piles, piles::Pile, summary::Summary};
use crate::io::error::{OutputError, replace_file};
use crate::io::left::remove_tables;
use crate::io::plot::{Curve, History, write_history};
use crate::io::run_plots::{ENERGIES, shown};
use crate::io::scene::model::{Joint, PileTable, Recordable, Recorded, Scene, ShapeSpec};
use crate::io::scene::output::EndTable;
use crate::io::table::{BODY_COLUMNS, CONTACT_COLUMNS, StepTable, read_table, write_bodies, write_contacts};
use crate::io::view::{Window, extent};
use crate::io::vtk::{Format, VtkSeries, remove_grids};
use crate::model::signal::{FlowQuantity, JointQuantity, Quantity, SurfaceQuantity};
use crate::scenes::Built;
use crate::simulation::{Signal, Simulation, StepReport};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Interval of films where the scene sets none (s).
const FILM: f64 = 0.04;

/// Bytes of a number in a table, and of a contact in a frame where none was written yet: measured on pours and walls.
const NUMBER: f64 = 16.0;
const CONTACT: f64 = 18.0;
/// Bodies that move take up so many times what bodies in a pattern take, as frames are compressed.
const SCATTERED: f64 = 2.3;

/// Columns of steps.csv.
const COLUMNS: [&str; 35] = [
    "time [s]",
    "step",
    "contacts",
    "sweeps",
    "newton_iterations",
    "passes",
    "converged",
    "e_s",
    "rel",
    "rel_q",
    "penetration [m]",
    "kinetic [J]",
    "potential [J]",
    "normal_work [J]",
    "friction_work [J]",
    "rolling_work [J]",
    "overlap_work [J]",
    "joint_work [J]",
    "motor_work [J]",
    "crushing_work [J]",
    "bond_work [J]",
    "drive_work [J]",
    "load_work [J]",
    "adhesion_work [J]",
    "scheme_work [J]",
    "outlet_energy [J]",
    "inlet_energy [J]",
    "balance_error",
    "support_x [N]",
    "support_y [N]",
    "support_z [N]",
    "step_size [s]",
    "infeasible",
    "violation [m/s]",
    "violation_size",
];

/// A table of signals.
#[derive(Debug)]
struct Signals {
    every: f64,
    signals: Vec<Signal>,
    row: Vec<f64>,
    table: StepTable,
    /// whether it has a row of the state before the first step
    starts: bool,
}

impl Signals {
    fn open(
        path: &Path,
        names: &[String],
        signals: Vec<Signal>,
        every: f64,
        resumed: Option<(u64, f64)>,
        starts: bool,
    ) -> Result<Self, OutputError> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let table = match resumed {
            None => StepTable::create(path, &names)?,
            Some((_, time)) => StepTable::resume(path, &names, time)?,
        };
        Ok(Self { every, row: Vec::with_capacity(signals.len()), signals, table, starts })
    }

    fn write(&mut self, simulation: &Simulation) -> Result<(), OutputError> {
        self.row.clear();
        simulation.values(&self.signals, &mut self.row);
        self.table.row(&self.row)
    }
}

/// Names of the files of a folder, in order.
fn names_in(directory: &Path) -> Result<BTreeSet<String>, OutputError> {
    let names = std::fs::read_dir(directory).and_then(|files| files.map(|f| Ok(f?.file_name().to_string_lossy().into_owned())).collect());
    names.map_err(OutputError::file(directory, "listed"))
}

/// Half side (m) at which half-spaces are drawn: as the scene begins, so that a resumed run draws those of a straight one.
fn reach(scene: &Scene) -> f64 {
    let radius = |shape: &ShapeSpec| shape.build().map_or(f64::INFINITY, |s| s.bounding_radius());
    let bodies = scene.bodies.iter().map(|b| (b, radius(&b.shape)));
    extent(bodies.filter(|(_, radius)| radius.is_finite()).map(|(b, radius)| b.pose.position.length() + radius))
}

/// The figures of a joint that `joints.csv` has: without the components of forces, and without a coordinate where it has none.
fn of_joint(joint: &Joint) -> impl Iterator<Item = &'static Quantity<JointQuantity>> {
    let all = JointQuantity::ALL.iter().take(JointQuantity::Spring as usize + 1);
    all.filter(|q| !q.what.is_of_coordinate() || joint.has_coordinate())
}

/// The open files of a run.
#[derive(Debug)]
pub(super) struct Output {
    directory: PathBuf,
    window: Window,
    series: VtkSeries,
    ends: Vec<EndTable>,
    steps: StepTable,
    tables: Vec<Signals>,
    measures: Vec<MeasureTables>,
    piles: Vec<(PileTable, StepTable)>,
    fields: Vec<FieldFiles>,
    /// Grains and their forces now.
    packing: Packing,
    joints: Option<Joints>,
    breakages: Option<Breakages>,
    film_every: f64,
    steps_every: f64,
    title: String,
    tolerance: f64,
    /// Contacts of the last frame.
    frame: usize,
    /// Whether frames are compressed.
    packed: bool,
    /// What a run that goes on did not find, and has begun.
    begun: Vec<String>,
}

impl Output {
    /// Starts the files, or continues them after the step and time that a checkpoint reached.
    pub(super) fn new(directory: &Path, scene: &Scene, built: &Built, resumed: Option<(u64, f64)>) -> Result<Self, OutputError> {
        std::fs::create_dir_all(directory).map_err(OutputError::file(directory, "created"))?;
        if resumed.is_none() {
            remove_tables(directory, SCENE_OF_RUN)?;
        }
        let every = |kinds: &[Recorded]| {
            let wanted = scene.recorders.iter().filter(|r| kinds.contains(&r.what)).map(|r| r.every);
            wanted.fold(f64::INFINITY, f64::min)
        };
        let before = resumed.map(|_| names_in(directory)).transpose()?;
        let film_every = every(&[Recorded::Bodies, Recorded::Contacts]);
        let steps_every = every(&[Recorded::Steps]);
        let table = directory.join("steps.csv");
        let mut tables = Vec::new();
        if !scene.joints.is_empty() {
            let numbered = scene.joints.iter().enumerate();
            let names = numbered.flat_map(|(i, j)| of_joint(j).map(move |q| scene.column(&Recordable::Joint(i, q.what))));
            let names: Vec<String> = std::iter::once("time [s]".to_owned()).chain(names).collect();
            let parts = scene.joints.iter().zip(&built.joints);
            let signals = parts.flat_map(|(j, parts)| of_joint(j).map(|q| Signal::Joint(parts[0], q.what)));
            let signals = std::iter::once(Signal::Time).chain(signals).collect();
            let every = if steps_every.is_finite() { steps_every } else { 0.0 };
            tables.push(Signals::open(&directory.join("joints.csv"), &names, signals, every, resumed, false)?);
        }
        if scene.outlets.len() + scene.inlets.len() + scene.surfaces.len() > 0 {
            let out = (0..scene.outlets.len()).flat_map(|i| FlowQuantity::ALL.iter().map(move |q| Recordable::Outlet(i, q.what)));
            let into = (0..scene.inlets.len()).flat_map(|i| FlowQuantity::ALL.iter().map(move |q| Recordable::Inlet(i, q.what)));
            let across = (0..scene.surfaces.len()).flat_map(|i| SurfaceQuantity::ALL.iter().map(move |q| Recordable::Surface(i, q.what)));
            let signals: Vec<Recordable> = out.chain(into).chain(across).collect();
            let names: Vec<String> = std::iter::once("time [s]".to_owned()).chain(signals.iter().map(|s| scene.column(s))).collect();
            let signals = std::iter::once(Signal::Time).chain(signals.iter().map(|s| built.signal(s))).collect();
            let every = if steps_every.is_finite() { steps_every } else { 0.0 };
            tables.push(Signals::open(&directory.join("flow.csv"), &names, signals, every, resumed, true)?);
        }
        for record in &scene.records {
            let names: Vec<String> = std::iter::once("time [s]".to_owned()).chain(record.signals.iter().map(|s| scene.column(s))).collect();
            let signals = std::iter::once(Signal::Time).chain(record.signals.iter().map(|s| built.signal(s))).collect();
            let path = directory.join(format!("{}.csv", record.name));
            tables.push(Signals::open(&path, &names, signals, record.every, resumed, true)?);
        }
        let table_of = |name: &str, columns: &[&str]| {
            let path = directory.join(format!("{name}.csv"));
            match resumed {
                None => StepTable::create(&path, columns),
                Some((_, time)) => StepTable::resume(&path, columns, time),
            }
        };
        let measures = scene.measures.iter().map(|m| MeasureTables::open(m, &table_of)).collect::<Result<_, OutputError>>()?;
        let pile = |p: &PileTable| Ok((p.clone(), table_of(&p.name, &piles::COLUMNS)?));
        let piles = scene.piles.iter().map(pile).collect::<Result<_, OutputError>>()?;
        let frames = scene.output.frames.clone();
        remove_grids(directory, resumed.map(|r| r.0))?;
        let open = |field| FieldFiles::open(directory, field, frames.precision, resumed);
        let fields = scene.fields.iter().map(open).collect::<Result<_, _>>()?;
        let joints_every = every(&[Recorded::Joints]);
        let joints =
            joints_every.is_finite().then(|| Joints::open(directory, scene, built, joints_every, resumed.map(|r| r.1))).transpose()?;
        let breakages = scene.bonds().then(|| Breakages::open(directory, scene, built, resumed.map(|r| r.1))).transpose()?;
        if resumed.is_none() {
            // until this run ends there are no figures of its end
            for name in [CERTIFICATE, "summary.json", "bodies_end.csv", "contacts_end.csv", "history.svg"] {
                let path = directory.join(name);
                if path.exists() {
                    std::fs::remove_file(&path).map_err(OutputError::file(&path, "removed"))?;
                }
            }
        }
        let (series, steps) = match resumed {
            None => (VtkSeries::create(directory, frames)?, StepTable::create(&table, &COLUMNS)?),
            Some((step, time)) => (VtkSeries::resume(directory, step, frames)?, StepTable::resume(&table, &COLUMNS, time)?),
        };
        let begun = match before {
            None => Vec::new(),
            Some(before) => {
                // the list of frames is written with the first one
                let list = (scene.output.frames.format == Format::Vtp).then(|| "bodies.pvd".to_owned());
                names_in(directory)?.into_iter().chain(list).filter(|name| !before.contains(name)).collect()
            }
        };
        Ok(Self {
            begun,
            directory: directory.to_owned(),
            window: Window::new(built.entities.clone()).reaching(reach(scene)),
            series,
            ends: scene.output.tables.clone(),
            steps,
            tables,
            measures,
            piles,
            fields,
            packing: Packing::default(),
            joints,
            breakages,
            film_every: if film_every.is_finite() { film_every } else { FILM },
            steps_every: if steps_every.is_finite() { steps_every } else { 0.0 },
            title: if scene.title.is_empty() { scene.name.clone() } else { scene.title.clone() },
            tolerance: scene.solver.tolerance,
            frame: 0,
            packed: scene.output.frames.format == Format::Vtp,
        })
    }

    /// The tables and lists that a run that goes on did not find, and has begun.
    pub(super) fn begun(&self) -> &[String] {
        &self.begun
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// What is to come onto the disk in the `left` seconds, or steps, of the run, from what the first frames took. Checkpoints and
    /// problem files are not counted.
    pub(super) fn forecast(&self, left: f64, steps: u64, report: &StepReport, foreseen: &Forecast) -> DiskForecast {
        let [bodies, contacts] = self.series.frame_bytes().map(|n| n as f64);
        let times = |every: f64| if every > 0.0 { (left / every + 1e-6).floor().min(steps as f64) } else { steps as f64 };
        let frames = times(self.film_every);
        let frame = bodies + contacts;
        let coming = foreseen.effort_assumed;
        let dense = if foreseen.assumes() {
            frame.max(
                if self.packed { SCATTERED * bodies } else { bodies } + contacts + CONTACT * (coming.contacts - self.frame as f64).max(0.0),
            )
        } else {
            frame
        };
        let rows = |every: f64, columns: usize| times(every) * columns as f64;
        let mut numbers = rows(self.steps_every, COLUMNS.len());
        numbers += self.tables.iter().map(|t| rows(t.every, t.signals.len())).sum::<f64>();
        numbers += self.measures.iter().map(|m| rows(m.measure.every, m.numbers())).sum::<f64>();
        numbers += self.piles.iter().map(|(p, _)| rows(p.every, piles::COLUMNS.len())).sum::<f64>();
        let instants = |f: &FieldFiles| (times(f.field.every), f.size());
        let [cells, grids] = [0, 1].map(|k| self.fields.iter().map(instants).map(|(n, size)| n * size[k]).sum::<f64>());
        if let Some(joints) = &self.joints {
            numbers += times(joints.every) * joints.numbers(coming.pairs, coming.bodies);
        }
        // the tables of the end
        numbers += BODY_COLUMNS.len() as f64 * coming.bodies + CONTACT_COLUMNS.len() as f64 * coming.contacts.max(report.contacts as f64);
        let table_bytes = NUMBER * numbers + cells;
        DiskForecast {
            bytes: frames * dense + grids + table_bytes,
            frames: frames as u64,
            frame_bytes: frame,
            frame_bytes_assumed: dense,
            table_bytes,
            free_bytes: fs4::available_space(&self.directory).ok(),
        }
    }

    /// The state before the first step.
    pub(super) fn start(&mut self, simulation: &Simulation) -> Result<(), OutputError> {
        let snapshot = self.window.look(simulation);
        if self.ends.contains(&EndTable::BodiesStart) {
            write_bodies(&self.directory.join("bodies_start.csv"), snapshot.bodies)?;
        }
        self.series.write(&snapshot)?;
        self.tables.iter_mut().filter(|t| t.starts).try_for_each(|table| table.write(simulation))
    }

    /// After each step: the table, and a frame where one is due.
    pub(super) fn step(&mut self, report: &StepReport, simulation: &Simulation) -> Result<(), OutputError> {
        if due(report.time, report.step_size, self.steps_every) {
            self.steps.row(&row(report))?;
        }
        for table in self.tables.iter_mut().filter(|t| due(report.time, report.step_size, t.every)) {
            table.write(simulation)?;
        }
        let due_now = |every: f64| due(report.time, report.step_size, every);
        let mut measures = self.measures.iter_mut().filter(|m| due_now(m.measure.every)).peekable();
        let mut heaps = self.piles.iter_mut().filter(|(p, _)| due_now(p.every)).peekable();
        let mut fields = self.fields.iter_mut().filter(|f| due_now(f.field.every)).peekable();
        if measures.peek().is_some() || heaps.peek().is_some() || fields.peek().is_some() {
            self.packing.update(simulation);
            let packing = &self.packing;
            measures.try_for_each(|measure| measure.write(report.time, packing))?;
            heaps.try_for_each(|(pile, table)| table.row(&Pile::of(packing, &pile.rules).row(report.time)))?;
            fields.try_for_each(|field| field.write(report.step, report.time, packing))?;
        }
        if let Some(joints) = self.joints.as_mut().filter(|j| due(report.time, report.step_size, j.every)) {
            joints.write(simulation)?;
        }
        if let Some(breakages) = &mut self.breakages {
            breakages.write(report.time, simulation)?;
        }
        if due(report.time, report.step_size, self.film_every) {
            let snapshot = self.window.look(simulation);
            self.frame = snapshot.contacts.len();
            self.series.write(&snapshot)?;
            if let Some(joints) = &self.joints {
                self.series.write_joints(&joints.polygons(simulation))?;
            }
        }
        Ok(())
    }

    /// Brings to the disk what readers do not see yet.
    pub(super) fn flush(&mut self) -> Result<(), OutputError> {
        self.series.flush()
    }

    /// The tables of the end: places, and the contacts of the last step as it solved them, before anything detects them anew.
    pub(super) fn end(&mut self, simulation: &Simulation) -> Result<(), OutputError> {
        self.flush()?;
        let snapshot = self.window.look(simulation);
        if self.ends.contains(&EndTable::BodiesEnd) {
            write_bodies(&self.directory.join("bodies_end.csv"), snapshot.bodies)?;
        }
        if self.ends.contains(&EndTable::ContactsEnd) {
            write_contacts(&self.directory.join("contacts_end.csv"), &snapshot)?;
        }
        if let Some(joints) = &self.joints {
            joints.draw(&self.directory, simulation, &snapshot)?;
        }
        Ok(())
    }

    /// The summary and the plot.
    pub(super) fn finish(&mut self, summary: &Summary) -> Result<(), OutputError> {
        let path = self.directory.join("summary.json");
        let mut text = serde_json::to_string_pretty(summary).map_err(|e| OutputError::data(&path, e.to_string()))?;
        text.push('\n');
        replace_file(&path, text.as_bytes())?;
        self.plot()
    }

    /// Energy, residual and penetration against time, from the table: it also knows what came before a checkpoint.
    fn plot(&self) -> Result<(), OutputError> {
        let table = read_table(&self.directory.join("steps.csv"))?;
        let column = |name: &str| table.column(name).unwrap_or_default();
        let values: Vec<Vec<f64>> = ENERGIES.iter().map(|(name, _)| column(name)).collect();
        let shown = shown(&values.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let all = ENERGIES.iter().zip(values).zip(shown);
        let energies = all.filter(|(_, shown)| *shown).map(|(((_, label), values), _)| Curve::new(label, values)).collect();
        let history = History {
            title: self.title.clone(),
            time: column("time"),
            energies,
            residual: column("e_s"),
            tolerance: self.tolerance,
            penetration: column("penetration"),
        };
        write_history(&self.directory.join("history.svg"), &history)
    }
}

/// Whether a multiple of `every` (0: any instant) lies in the step that ends at `time`; a matter of the clock alone, so that a
/// resumed run writes what a straight one does.
pub(super) fn due(time: f64, step: f64, every: f64) -> bool {
    let count = |t: f64| ((t + 1e-6 * step) / every).floor();
    every <= 0.0 || count(time) > count(time - step)
}

fn row(report: &StepReport) -> [f64; COLUMNS.len()] {
    let (solved, balance, force) = (&report.report, &report.balance, report.support_force);
    let work = &balance.work;
    [
        report.time,
        report.step as f64,
        report.contacts as f64,
        solved.iterations as f64,
        solved.factorisations as f64,
        report.passes as f64,
        f64::from(u8::from(report.converged)),
        solved.e_s,
        solved.rel,
        solved.rel_q,
        report.penetration,
        balance.energy.kinetic,
        balance.energy.potential,
        work.normal,
        work.friction,
        work.rolling,
        work.overlap,
        work.joints,
        work.motors,
        work.crushing,
        work.bonds,
        work.drives,
        work.loads,
        work.adhesion,
        work.scheme,
        balance.outlets.total(),
        balance.inlets.total(),
        balance.error(),
        force.x,
        force.y,
        force.z,
        report.step_size,
        f64::from(u8::from(report.infeasible)),
        report.violation,
        report.violation_size,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_once_per_interval() {
        let frames: Vec<u32> = (1..=20).filter(|k| due(f64::from(*k) * 0.002, 0.002, 0.01)).collect();
        assert_eq!(frames, [5, 10, 15, 20]);
        assert!((1..=20).all(|k| due(f64::from(k) * 0.002, 0.002, 0.0)));
    }
}
