//! What the recorders and records of a scene take down, as plain data.

use serde::{Deserialize, Serialize};

use super::model::Scene;
use crate::model::joint::{Freedom, TransmissionSpec};
use crate::model::signal::{BodyQuantity, FlowQuantity, JointQuantity, SurfaceQuantity, TotalQuantity};

/// One stream of output files.
///
/// ```
/// use drystone::io::scene::model::{Recorded, Recorder};
/// let film = Recorder { what: Recorded::Bodies, every: 0.04 };
/// assert_eq!(film.every, 0.04);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recorder {
    /// What is written.
    pub what: Recorded,
    /// Interval (s); 0 means every step.
    pub every: f64,
}

/// What a recorder writes.
///
/// ```
/// assert_ne!(drystone::io::scene::model::Recorded::Bodies, drystone::io::scene::model::Recorded::Contacts);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Recorded {
    /// Bodies with their geometry.
    Bodies,
    /// Contact points, and the lines between centres that go through them.
    Contacts,
    /// One line of figures (energy, residual, penetration, …).
    Steps,
    /// What the joints between blocks carry, see `diagnostics::joints`.
    Joints,
}

/// A table of signals, one row every so often.
///
/// ```
/// use drystone::io::scene::model::{Record, Recordable};
/// use drystone::model::signal::TotalQuantity;
/// let table = Record { name: "energy".into(), every: 0.01, signals: vec![Recordable::Total(TotalQuantity::Kinetic)] };
/// assert_eq!(table.signals.len(), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Name of its file, without `.csv`.
    pub name: String,
    /// Interval (s); 0 means every step.
    pub every: f64,
    /// Its columns after the time.
    pub signals: Vec<Recordable>,
}

/// A number that a scene can record.
///
/// ```
/// use drystone::io::scene::model::{BodySpec, Recordable, Scene, ShapeSpec};
/// use drystone::model::signal::BodyQuantity;
/// let mut scene = Scene::new("one ball");
/// scene.bodies.push(BodySpec::new("ball", ShapeSpec::Ball { radius: 0.1 }));
/// assert_eq!(scene.column(&Recordable::Body(0, BodyQuantity::Vz)), "ball.vz [m/s]");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Recordable {
    /// Of a body.
    Body(usize, BodyQuantity),
    /// Of a joint.
    Joint(usize, JointQuantity),
    /// Of a transmission: y, its rate, its multiplier.
    Transmission(usize, LinkQuantity),
    /// Of a tie, by row.
    Tie(usize, LinkQuantity, usize),
    /// Of an outlet.
    Outlet(usize, FlowQuantity),
    /// Of an inlet.
    Inlet(usize, FlowQuantity),
    /// Of a surface.
    Surface(usize, SurfaceQuantity),
    /// Of all together.
    Total(TotalQuantity),
}

/// A number of an interaction.
///
/// ```
/// use drystone::io::scene::model::LinkQuantity;
/// assert_eq!(LinkQuantity::ALL[LinkQuantity::Rate as usize].0, "rate");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LinkQuantity {
    /// y
    Output,
    /// ẏ
    Rate,
    /// λ, an impulse over a step.
    Multiplier,
}

impl LinkQuantity {
    /// Names, with the units of ways and of angles.
    pub const ALL: [(&'static str, [&'static str; 2]); 3] =
        [("output", ["m", "rad"]), ("rate", ["m/s", "rad/s"]), ("multiplier", ["N s", "N m s"])];
}

impl Scene {
    /// Head of the column of a signal: `name.quantity [unit]`.
    pub fn column(&self, signal: &Recordable) -> String {
        let with = |name: &str, unit: &str| if unit.is_empty() { name.to_owned() } else { format!("{name} [{unit}]") };
        let (name, unit) = self.signal_name(signal);
        with(&name, unit)
    }

    /// What a scene file calls a signal, and its unit.
    pub(super) fn signal_name(&self, signal: &Recordable) -> (String, &'static str) {
        match *signal {
            Recordable::Body(i, q) => {
                let q = &BodyQuantity::ALL[q as usize];
                (format!("{}.{}", self.bodies[i].name, q.name), q.unit)
            }
            Recordable::Joint(i, q) => {
                let (joint, q) = (&self.joints[i], &JointQuantity::ALL[q as usize]);
                (format!("{}.{}", joint.name, q.name), if joint.spec.freedom() == Some(Freedom::Angle) { q.unit } else { q.linear })
            }
            Recordable::Transmission(i, q) => {
                let (name, units) = LinkQuantity::ALL[q as usize];
                let turns = matches!(self.transmissions[i].spec, TransmissionSpec::Gear { .. });
                (format!("{}.{name}", self.transmissions[i].name), units[usize::from(turns)])
            }
            Recordable::Tie(i, q, row) => {
                let (name, units) = LinkQuantity::ALL[q as usize];
                let tie = &self.ties[i];
                let number = if tie.spec.rows() > 1 { format!(".{row}") } else { String::new() };
                (format!("{}.{name}{number}", tie.name), units[usize::from(tie.spec.turns())])
            }
            Recordable::Outlet(i, q) => {
                let q = &FlowQuantity::ALL[q as usize];
                (format!("{}.{}", self.outlets[i].name, q.name), q.unit)
            }
            Recordable::Inlet(i, q) => {
                let q = &FlowQuantity::ALL[q as usize];
                (format!("{}.{}", self.inlets[i].name, q.name), q.unit)
            }
            Recordable::Surface(i, q) => {
                let q = &SurfaceQuantity::ALL[q as usize];
                (format!("{}.{}", self.surfaces[i].name, q.name), q.unit)
            }
            Recordable::Total(q) => (TotalQuantity::ALL[q as usize].name.to_owned(), TotalQuantity::ALL[q as usize].unit),
        }
    }

    /// The numbers of bodies, joints and all else that a `[[record]]` would call so.
    pub(crate) fn recordables(&self, name: &str) -> Vec<Recordable> {
        let all = |n: usize| 0..n;
        let bodies = self.bodies.iter().enumerate().filter(|(_, b)| name.strip_prefix(&b.name).is_some_and(|rest| rest.starts_with('.')));
        let links = [LinkQuantity::Output, LinkQuantity::Rate, LinkQuantity::Multiplier];
        let flows = || FlowQuantity::ALL.iter().map(|q| q.what);
        let mut found: Vec<Recordable> = TotalQuantity::ALL.iter().map(|q| Recordable::Total(q.what)).collect();
        found.extend(bodies.flat_map(|(i, _)| BodyQuantity::ALL.iter().map(move |q| Recordable::Body(i, q.what))));
        found.extend(all(self.joints.len()).flat_map(|i| JointQuantity::ALL.iter().map(move |q| Recordable::Joint(i, q.what))));
        found.extend(all(self.transmissions.len()).flat_map(|i| links.map(|q| Recordable::Transmission(i, q))));
        let ties = self.ties.iter().enumerate();
        found.extend(ties.flat_map(|(i, t)| all(t.spec.rows()).flat_map(move |row| links.map(move |q| Recordable::Tie(i, q, row)))));
        found.extend(all(self.outlets.len()).flat_map(|i| flows().map(move |q| Recordable::Outlet(i, q))));
        found.extend(all(self.inlets.len()).flat_map(|i| flows().map(move |q| Recordable::Inlet(i, q))));
        found.extend(all(self.surfaces.len()).flat_map(|i| SurfaceQuantity::ALL.iter().map(move |q| Recordable::Surface(i, q.what))));
        found.retain(|signal| self.signal_name(signal).0 == name);
        found
    }
}
