//! `breakages.csv`: when and where each bond broke, under `--out` of a scene with bonds.

use crate::io::error::OutputError;
use crate::io::scene::model::Scene;
use crate::io::table::NamedTable;
use crate::model::bond::{Bond, BondPoint};
use crate::model::newton_euler::BodyPose;
use crate::scenes::Built;
use crate::simulation::Simulation;
use bevy_ecs::prelude::Entity;
use glam::DVec3;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const COLUMNS: [&str; 13] = [
    "time [s]",
    "body1",
    "body2",
    "x [m]",
    "y [m]",
    "z [m]",
    "normal_x",
    "normal_y",
    "normal_z",
    "area [m2]",
    "opening [m]",
    "slip [m]",
    "released [J]",
];

/// The table, and the bonds that are in it.
#[derive(Debug)]
pub(super) struct Breakages {
    table: NamedTable,
    /// Place in the scene and name.
    bodies: BTreeMap<Entity, (usize, String)>,
    broken: BTreeSet<Entity>,
}

impl Breakages {
    /// A run that goes on has had those that are broken by now.
    pub(super) fn open(directory: &Path, scene: &Scene, built: &Built, resumed: Option<f64>) -> Result<Self, OutputError> {
        let path = directory.join("breakages.csv");
        let table = match resumed {
            None => NamedTable::create(&path, &COLUMNS)?,
            Some(time) => NamedTable::resume(&path, &COLUMNS, time)?,
        };
        let named = scene.bodies.iter().map(|body| body.name.clone()).enumerate();
        let bodies = built.entities.iter().copied().zip(named).collect();
        let broken = built.simulation.bonds().filter(|(_, bond)| bond.is_broken()).map(|(one, _)| one).collect();
        Ok(Self { table, bodies, broken })
    }

    /// Adds the bonds that broke in the last step.
    pub(super) fn write(&mut self, time: f64, simulation: &Simulation) -> Result<(), OutputError> {
        let broken = simulation.bonds().filter(|(one, bond)| bond.is_broken() && !self.broken.contains(one));
        let place = |body: Entity| self.bodies.get(&body).map_or(usize::MAX, |known| known.0);
        let mut new: Vec<(Entity, &Bond)> = broken.collect();
        if new.is_empty() {
            return Ok(());
        }
        // entities of a run that was resumed are other ones
        new.sort_by_key(|(_, bond)| bond.bodies.map(place));
        let name = |body: Entity| self.bodies.get(&body).map_or("", |known| known.1.as_str());
        let rows = new.iter().filter_map(|(_, bond)| {
            let pose = simulation.world().get::<BodyPose>(bond.bodies[0])?.0;
            let area: f64 = bond.points.iter().map(|p| p.area).sum();
            let mean = |of: &dyn Fn(&BondPoint) -> f64| bond.points.iter().map(|p| p.area * of(p)).sum::<f64>() / area;
            let place = bond.points.iter().map(|p| p.area * pose.point(p.places[0])).sum::<DVec3>() / area;
            let released = bond.points.iter().map(|p| p.released).sum::<f64>();
            let delta = [area, mean(&|p| p.outer[0]), mean(&|p| p.outer[1]), released];
            let numbers = [&place.to_array()[..], &pose.vector(bond.normal).to_array(), &delta].concat();
            Some((bond.bodies.map(name).to_vec(), numbers))
        });
        self.table.rows(time, rows)?;
        let new: Vec<Entity> = new.iter().map(|b| b.0).collect();
        self.broken.extend(new);
        Ok(())
    }
}
