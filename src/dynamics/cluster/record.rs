//! Numbers of every n-th step, kept while a batch runs.

use super::node::System;
use super::{Cluster, Machine, Probe};
use crate::model::signal::{BodyQuantity, FlowQuantity, JointQuantity, SurfaceQuantity, TotalQuantity};
use bevy_ecs::prelude::Entity;

/// A number of a system, an interaction, a body, a joint or the whole.
///
/// Those of systems and interactions are the same whether these stand alone or have to do with bodies. A body has the state
/// (x, quaternion with the scalar first) and the velocity (v in the world, ω in the body).
///
/// ```
/// use drystone::cluster::Signal;
/// assert_eq!(Signal::Time, Signal::Time);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Signal {
    /// Time (s).
    Time,
    /// A state x or coordinate q of a system.
    State(Entity, usize),
    /// A velocity of a system.
    Velocity(Entity, usize),
    /// What interactions put into a system: r, or the impulses p.
    Input(Entity, usize),
    /// A parameter z of a system.
    Parameter(Entity, usize),
    /// The impulse of a prescribed velocity, by its number.
    Reaction(Entity, usize),
    /// An output y of an interaction.
    Output(Entity, usize),
    /// Its rate.
    Rate(Entity, usize),
    /// A multiplier λ.
    Multiplier(Entity, usize),
    /// A multiplier of the projection of positions.
    Correction(Entity, usize),
    /// A contact force at the end of a step of D1-minus.
    Force(Entity, usize),
    /// A value of a [`Probe`].
    Probe(Entity, usize),
    /// Of a body.
    Body(Entity, BodyQuantity),
    /// Of a joint, by the first of its interactions.
    Joint(Entity, JointQuantity),
    /// Of an outlet or inlet.
    Flow(Entity, FlowQuantity),
    /// Of a surface.
    Surface(Entity, SurfaceQuantity),
    /// Of all together.
    Total(TotalQuantity),
}

impl Signal {
    /// What it is of; none for time and sums.
    pub fn entity(self) -> Option<Entity> {
        match self {
            Self::Time | Self::Total(_) => None,
            Self::State(e, _) | Self::Velocity(e, _) | Self::Input(e, _) | Self::Parameter(e, _) | Self::Reaction(e, _) => Some(e),
            Self::Output(e, _) | Self::Rate(e, _) | Self::Multiplier(e, _) | Self::Correction(e, _) | Self::Force(e, _) => Some(e),
            Self::Probe(e, _) | Self::Body(e, _) | Self::Joint(e, _) | Self::Flow(e, _) | Self::Surface(e, _) => Some(e),
        }
    }

    /// Whether clusters never have it.
    pub(crate) fn is_of_bodies(self) -> bool {
        matches!(self, Self::Body(..) | Self::Joint(..) | Self::Flow(..) | Self::Surface(..) | Self::Total(_))
    }
}

/// A table of signals: one row at the start, then one every so many steps.
///
/// ```
/// use drystone::cluster::{Signal, Trace};
/// let trace = Trace::new(10, vec![Signal::Time]);
/// assert_eq!(trace.rows().count(), 0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Steps between two rows.
    pub every: u64,
    /// The columns.
    pub signals: Vec<Signal>,
    values: Vec<f64>,
    /// where each column stands: cluster, kind and place
    places: Vec<Place>,
    probes: Vec<Probed>,
    scratch: Vec<f64>,
    stopped: bool,
    /// the row of the start is there, here or in the table of the run that this one goes on with
    begun: bool,
    /// Not all signals are of clusters: the simulation fills it, step by step.
    elsewhere: bool,
}

/// A probe, with the places of its system (cluster and node) and of its multipliers (cluster and first row, number).
#[derive(Clone, Debug)]
pub(super) struct Probed {
    probe: Probe,
    system: (usize, usize),
    rows: (usize, usize, usize),
}

impl Probed {
    /// A probe where its system and interaction are found.
    pub(super) fn find(clusters: &[Cluster], probe: &Probe) -> Option<Self> {
        let node = |(c, cluster): (usize, &Cluster)| cluster.nodes.iter().position(|n| n.entity == probe.system).map(|n| (c, n));
        let system = clusters.iter().enumerate().find_map(node)?;
        let rows = match probe.interaction {
            None => (0, 0, 0),
            Some(entity) => {
                let link =
                    |(c, cluster): (usize, &Cluster)| cluster.links.iter().find(|l| l.entity == entity).map(|l| (c, l.rows.start, l.len()));
                clusters.iter().enumerate().find_map(link)?
            }
        };
        Some(Self { probe: probe.clone(), system, rows })
    }

    /// Its values now.
    pub(super) fn read(&self, clusters: &[Cluster], t: f64, out: &mut [f64]) {
        let node = &clusters[self.system.0].nodes[self.system.1];
        let x = &clusters[self.system.0].state.q[node.q0..node.q0 + node.nq];
        let (cluster, first, m) = self.rows;
        let lambda = if m == 0 { &[][..] } else { &clusters[cluster].problem.r[first..first + m] };
        self.probe.read(t, x, lambda, out);
    }
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Probe(usize, usize),
    Time,
    Q(usize, usize),
    V(usize, usize),
    Input(usize, usize),
    Parameter(usize, usize, usize),
    Reaction(usize, usize, usize),
    Y(usize, usize),
    Rate(usize, usize),
    Lambda(usize, usize),
    Correction(usize, usize),
    Force(usize, usize),
}

impl Trace {
    /// An empty table.
    pub fn new(every: u64, signals: Vec<Signal>) -> Self {
        Self { every: every.max(1), signals, ..Self::default() }
    }

    /// The rows so far.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.signals.len().max(1))
    }

    /// One column, from 0; empty where the table has none of this number.
    ///
    /// ```
    /// use drystone::cluster::{Signal, Trace};
    /// assert!(Trace::new(1, vec![Signal::Time]).column(7).is_empty());
    /// ```
    pub fn column(&self, k: usize) -> Vec<f64> {
        self.rows().filter_map(|row| row.get(k).copied()).collect()
    }

    /// Takes no more rows.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// Room for more rows, so that recording does not allocate.
    pub fn reserve(&mut self, rows: usize) {
        self.values.reserve(rows * self.signals.len());
    }

    /// True where the row of the start is still missing.
    pub(crate) fn begins(&self) -> bool {
        !self.begun && !self.stopped
    }

    /// True where a row is due at the end of this step.
    pub(crate) fn due(&self, step: u64) -> bool {
        step.is_multiple_of(self.every) && !self.stopped
    }

    /// The row of the present state is in the table of the run that this one goes on with.
    pub(crate) fn goes_on(&mut self) {
        self.begun = true;
    }

    /// Whether the simulation fills it.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.elsewhere && !self.stopped
    }

    /// Says who fills it; true where that is another one than before.
    pub(crate) fn fill_elsewhere(&mut self, elsewhere: bool) -> bool {
        std::mem::replace(&mut self.elsewhere, elsewhere) != elsewhere
    }

    /// Appends a row that was read elsewhere.
    pub(crate) fn push(&mut self, row: &[f64]) {
        self.begun = true;
        self.values.extend_from_slice(row);
    }

    /// Finds the signals in the clusters, where these fill it.
    pub(super) fn resolve(&mut self, clusters: &[Cluster], probe: &dyn Fn(Entity) -> Option<(Probe, String)>) -> Result<(), String> {
        self.places.clear();
        self.probes.clear();
        if self.stopped || self.elsewhere {
            return Ok(());
        }
        let signals = std::mem::take(&mut self.signals);
        let found = signals.iter().try_for_each(|&signal| {
            let place = match signal {
                Signal::Probe(entity, i) => self.find_probe(clusters, probe(entity), signal, i)?,
                _ => find(clusters, signal).map_err(|found| {
                    let what = named(clusters, signal).unwrap_or_else(|| format!("{signal:?}"));
                    format!("{what} is recorded, but {found}")
                })?,
            };
            self.places.push(place);
            Ok(())
        });
        self.signals = signals;
        found
    }

    fn find_probe(&mut self, clusters: &[Cluster], found: Option<(Probe, String)>, signal: Signal, i: usize) -> Result<Place, String> {
        let (found, name) = found.ok_or_else(|| format!("{signal:?} is recorded, but there is no such probe"))?;
        let known = found.values.len();
        if i >= known {
            return Err(format!("value {i} of {name} is recorded, but it has {known} (they count from 0)"));
        }
        let missing = || format!("value {i} of {name} is recorded, but the system or interaction that it reads is not there");
        let found = Probed::find(clusters, &found).ok_or_else(missing)?;
        self.scratch.resize(self.scratch.len().max(known), 0.0);
        self.probes.push(found);
        Ok(Place::Probe(self.probes.len() - 1, i))
    }

    /// Appends a row.
    pub(super) fn record(&mut self, t: f64, clusters: &mut [Cluster]) {
        if self.elsewhere {
            return;
        }
        self.begun = true;
        for place in &self.places {
            let value = |x: &[f64], i: usize| x.get(i).copied().unwrap_or(0.0);
            let x = match *place {
                Place::Time => t,
                Place::Q(c, i) => clusters[c].state.q[i],
                Place::V(c, i) => clusters[c].state.v[i],
                Place::Input(c, i) => {
                    clusters[c].inputs(&mut self.scratch);
                    self.scratch[i]
                }
                Place::Parameter(c, n, i) => value(clusters[c].nodes[n].parameters(), i),
                Place::Reaction(c, n, i) => match &clusters[c].nodes[n].system {
                    System::Lagrangian(s) => s.prescribed[i].reaction,
                    _ => 0.0,
                },
                Place::Y(c, i) => value(clusters[c].outputs().0, i),
                Place::Rate(c, i) => value(clusters[c].outputs().1, i),
                Place::Lambda(c, i) => clusters[c].problem.r[i],
                Place::Correction(c, i) => value(clusters[c].extras().0, i),
                Place::Force(c, i) => value(clusters[c].extras().1, i),
                Place::Probe(k, i) => {
                    let probed = &self.probes[k];
                    self.scratch.clear();
                    self.scratch.resize(probed.probe.values.len(), 0.0);
                    probed.read(clusters, t, &mut self.scratch);
                    self.scratch[i]
                }
            };
            self.values.push(x);
        }
    }
}

const NOTHING: &str = "there is no such system, interaction or component (they count from 0)";

/// A signal in words, where its system or interaction is known.
fn named(clusters: &[Cluster], signal: Signal) -> Option<String> {
    let (kind, entity, i) = match signal {
        Signal::Time
        | Signal::Probe(..)
        | Signal::Body(..)
        | Signal::Joint(..)
        | Signal::Flow(..)
        | Signal::Surface(..)
        | Signal::Total(_) => {
            return None;
        }
        Signal::State(e, i) => ("state", e, i),
        Signal::Velocity(e, i) => ("velocity", e, i),
        Signal::Input(e, i) => ("input", e, i),
        Signal::Parameter(e, i) => ("parameter", e, i),
        Signal::Reaction(e, i) => ("reaction", e, i),
        Signal::Output(e, i) => ("output", e, i),
        Signal::Rate(e, i) => ("rate", e, i),
        Signal::Multiplier(e, i) => ("multiplier", e, i),
        Signal::Correction(e, i) => ("correction", e, i),
        Signal::Force(e, i) => ("force", e, i),
    };
    let nodes = clusters.iter().flat_map(|c| &c.nodes).map(|n| (n.entity, &n.name));
    let links = clusters.iter().flat_map(|c| &c.links).map(|l| (l.entity, &l.name));
    let (_, name) = nodes.chain(links).find(|(found, _)| *found == entity)?;
    // one that has no name of its own has a number, which is not that of its entity
    name.contains('"').then(|| format!("{kind} {i} of {name}"))
}

fn find(clusters: &[Cluster], signal: Signal) -> Result<Place, &'static str> {
    let node = |entity: Entity| {
        let place = |(c, cluster): (usize, &Cluster)| cluster.nodes.iter().position(|n| n.entity == entity).map(|n| (c, n));
        clusters.iter().enumerate().find_map(place).ok_or(NOTHING)
    };
    let link = |entity: Entity, i: usize| {
        let found = clusters.iter().enumerate().find_map(|(c, cluster)| cluster.links.iter().find(|l| l.entity == entity).map(|l| (c, l)));
        found.filter(|(_, l)| i < l.len()).map(|(c, l)| (c, l.rows.start + i)).ok_or(NOTHING)
    };
    let within = |there: bool, place: Place| if there { Ok(place) } else { Err(NOTHING) };
    match signal {
        Signal::Time => Ok(Place::Time),
        // found apart
        Signal::Probe(..) | Signal::Body(..) | Signal::Joint(..) | Signal::Flow(..) | Signal::Surface(..) | Signal::Total(_) => {
            Err(NOTHING)
        }
        Signal::State(e, i) => {
            let (c, n) = node(e)?;
            let node = &clusters[c].nodes[n];
            within(i < node.nq, Place::Q(c, node.q0 + i))
        }
        Signal::Velocity(e, i) => {
            let (c, n) = node(e)?;
            let node = &clusters[c].nodes[n];
            within(i < node.nv && !clusters[c].state.v.is_empty(), Place::V(c, node.v0 + i))
        }
        Signal::Input(e, i) => {
            let (c, n) = node(e)?;
            let node = &clusters[c].nodes[n];
            within(i < node.nv, Place::Input(c, node.v0 + i))
        }
        Signal::Parameter(e, i) => {
            let (c, n) = node(e)?;
            within(i < clusters[c].nodes[n].parameters().len(), Place::Parameter(c, n, i))
        }
        Signal::Reaction(e, i) => {
            let (c, n) = node(e)?;
            let prescribed = matches!(&clusters[c].nodes[n].system, System::Lagrangian(s) if i < s.prescribed.len());
            within(prescribed, Place::Reaction(c, n, i))
        }
        Signal::Output(e, i) => link(e, i).map(|(c, i)| Place::Y(c, i)),
        Signal::Multiplier(e, i) => link(e, i).map(|(c, i)| Place::Lambda(c, i)),
        Signal::Rate(e, i) => match link(e, i)? {
            (c, _) if clusters[c].state.v.is_empty() => Err("an output of a first-order system has no rate"),
            (c, i) => Ok(Place::Rate(c, i)),
        },
        Signal::Correction(e, i) => match link(e, i)? {
            (c, i) if clusters[c].projects() => Ok(Place::Correction(c, i)),
            _ => Err("nothing is corrected: its integrator has no projection of positions"),
        },
        Signal::Force(e, i) => match link(e, i)? {
            (c, i) if matches!(clusters[c].machine, Machine::D1Minus(_)) => Ok(Place::Force(c, i)),
            _ => Err("only D1-minus has contact forces; multipliers of other integrators are impulses, or forces of laws on y"),
        },
    }
}
