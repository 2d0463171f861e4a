//! The tables and faces of the joints between blocks, under `--out`.

use crate::algebra::spatial::Pose;
use crate::diagnostics::joints::{JointState, block_stresses, joints};
use crate::io::elevation::Elevation;
use crate::io::error::OutputError;
use crate::io::scene::model::Scene;
use crate::io::snapshot::Snapshot;
use crate::io::table::NamedTable;
use crate::io::vtk::Polygons;
use crate::scenes::Built;
use crate::simulation::Simulation;
use bevy_ecs::prelude::Entity;
use std::path::Path;

const COLUMNS: [&str; 20] = [
    "time [s]",
    "body1",
    "body2",
    "force_x [N]",
    "force_y [N]",
    "force_z [N]",
    "normal [N]",
    "shear [N]",
    "x [m]",
    "y [m]",
    "z [m]",
    "area [m2]",
    "eccentricity [m]",
    "in_kernel",
    "stress_min [Pa]",
    "stress_max [Pa]",
    "opening [m]",
    "sliding [m]",
    "turning [rad]",
    "damage",
];

const STRESSES: [&str; 8] =
    ["time [s]", "block", "stress_xx [Pa]", "stress_yy [Pa]", "stress_zz [Pa]", "stress_xy [Pa]", "stress_yz [Pa]", "stress_zx [Pa]"];

/// `joint_forces.csv`, `block_stress.csv` and the faces of `joints.pvd`.
#[derive(Debug)]
pub(super) struct Joints {
    pub(super) every: f64,
    entities: Vec<Entity>,
    names: Vec<String>,
    /// Poses in which the scene puts its bodies.
    starts: Vec<Option<Pose>>,
    forces: NamedTable,
    stresses: NamedTable,
}

impl Joints {
    /// Cells of the rows of an instant, at most: a joint for each of `pairs`, a stress for each of `bodies`.
    pub(super) fn numbers(&self, pairs: f64, bodies: f64) -> f64 {
        COLUMNS.len() as f64 * pairs + STRESSES.len() as f64 * bodies
    }

    pub(super) fn open(directory: &Path, scene: &Scene, built: &Built, every: f64, resumed: Option<f64>) -> Result<Self, OutputError> {
        let open = |name: &str, header: &[&str]| {
            let path = directory.join(name);
            resumed.map_or_else(|| NamedTable::create(&path, header), |time| NamedTable::resume(&path, header, time))
        };
        Ok(Self {
            every,
            entities: built.entities.clone(),
            names: scene.bodies.iter().map(|b| b.name.clone()).collect(),
            starts: built.starts.clone(),
            forces: open("joint_forces.csv", &COLUMNS)?,
            stresses: open("block_stress.csv", &STRESSES)?,
        })
    }

    pub(super) fn write(&mut self, simulation: &Simulation) -> Result<(), OutputError> {
        let name = |k: usize| self.names.get(k).map_or("", String::as_str);
        let found = joints(simulation, &self.entities, &self.starts);
        let row = |j: &JointState| {
            let kernel = j.in_kernel().map_or(f64::NAN, |inside| f64::from(u8::from(inside)));
            let (f, p, [low, high]) = (j.force, j.point, j.edge_stress);
            let values = vec![
                f.x,
                f.y,
                f.z,
                j.normal,
                j.shear,
                p.x,
                p.y,
                p.z,
                j.area,
                j.eccentricity,
                kernel,
                low,
                high,
                j.opening,
                j.sliding,
                j.turning,
                j.damage,
            ];
            (j.bodies.map(name).to_vec(), values)
        };
        self.forces.rows(simulation.time(), found.iter().map(row))?;
        let stresses = block_stresses(simulation, &self.entities);
        let row = |(k, s): &(usize, glam::DMat3)| {
            // in rest the stress is symmetric
            let shear = |i: usize, j: usize| 0.5 * (s.col(i)[j] + s.col(j)[i]);
            (vec![name(*k)], vec![s.x_axis.x, s.y_axis.y, s.z_axis.z, shear(0, 1), shear(1, 2), shear(2, 0)])
        };
        self.stresses.rows(simulation.time(), stresses.iter().map(row))
    }

    /// An elevation of the state with what the joints do, for the report.
    pub(super) fn draw(&self, directory: &Path, simulation: &Simulation, snapshot: &Snapshot<'_>) -> Result<(), OutputError> {
        let states = joints(simulation, &self.entities, &self.starts);
        if states.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let views = super::picture::views(&states, snapshot, &names, &[], None);
        Elevation { forces: true, ..Elevation::default() }.write(&directory.join("elevation.svg"), snapshot, &views)
    }

    /// The joints as faces, those with an area.
    pub(super) fn polygons(&self, simulation: &Simulation) -> Polygons {
        let mut found = joints(simulation, &self.entities, &self.starts);
        found.retain(|j| j.polygon.len() > 2);
        let field = |value: fn(&JointState) -> f64| found.iter().map(value).collect::<Vec<f64>>();
        let fields = vec![
            ("normal_force", field(|j| j.normal)),
            ("shear_force", field(|j| j.shear)),
            ("eccentricity", field(|j| j.eccentricity)),
            ("stress_min", field(|j| j.edge_stress[0])),
            ("stress_max", field(|j| j.edge_stress[1])),
            ("opening", field(|j| j.opening)),
            ("sliding", field(|j| j.sliding)),
            ("turning", field(|j| j.turning)),
            ("damage", field(|j| j.damage)),
        ];
        Polygons { corners: found.into_iter().map(|j| j.polygon).collect(), fields }
    }
}
