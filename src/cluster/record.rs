//! Numbers of every n-th step, kept while a batch runs.

use super::Cluster;
use super::node::System;
use bevy_ecs::prelude::Entity;

/// A number of a system or interaction.
///
/// ```
/// use drystone::cluster::Signal;
/// assert_eq!(Signal::Time, Signal::Time);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    scratch: Vec<f64>,
    stopped: bool,
}

#[derive(Clone, Copy, Debug)]
enum Place {
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

    /// One column.
    pub fn column(&self, k: usize) -> Vec<f64> {
        self.rows().map(|row| row[k]).collect()
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
    pub(super) fn begins(&self) -> bool {
        self.values.is_empty() && !self.stopped
    }

    /// True where a row is due at the end of this step.
    pub(super) fn due(&self, step: u64) -> bool {
        step.is_multiple_of(self.every) && !self.stopped
    }

    /// Finds the signals in the clusters.
    pub(super) fn resolve(&mut self, clusters: &[Cluster]) -> Result<(), String> {
        self.places.clear();
        if self.stopped {
            return Ok(());
        }
        for signal in &self.signals {
            let place = find(clusters, *signal).ok_or_else(|| {
                format!("{signal:?} is recorded, but there is no such system, interaction or component (they count from 0)")
            })?;
            self.places.push(place);
        }
        Ok(())
    }

    /// Appends a row.
    pub(super) fn record(&mut self, t: f64, clusters: &mut [Cluster]) {
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
            };
            self.values.push(x);
        }
    }
}

fn find(clusters: &[Cluster], signal: Signal) -> Option<Place> {
    let node = |entity: Entity| {
        clusters.iter().enumerate().find_map(|(c, cluster)| cluster.nodes.iter().position(|n| n.entity == entity).map(|n| (c, n)))
    };
    let link = |entity: Entity, i: usize| {
        let found = clusters.iter().enumerate().find_map(|(c, cluster)| cluster.links.iter().find(|l| l.entity == entity).map(|l| (c, l)));
        found.filter(|(_, l)| i < l.len()).map(|(c, l)| (c, l.rows.start + i))
    };
    Some(match signal {
        Signal::Time => Place::Time,
        Signal::State(e, i) => {
            let (c, n) = node(e)?;
            let node = &clusters[c].nodes[n];
            (i < node.nq).then_some(Place::Q(c, node.q0 + i))?
        }
        Signal::Velocity(e, i) | Signal::Input(e, i) => {
            let (c, n) = node(e)?;
            let node = &clusters[c].nodes[n];
            let velocity = matches!(signal, Signal::Velocity(..));
            if i >= node.nv || (velocity && clusters[c].state.v.is_empty()) {
                return None;
            }
            if velocity { Place::V(c, node.v0 + i) } else { Place::Input(c, node.v0 + i) }
        }
        Signal::Parameter(e, i) => {
            let (c, n) = node(e)?;
            (i < clusters[c].nodes[n].parameters().len()).then_some(Place::Parameter(c, n, i))?
        }
        Signal::Reaction(e, i) => {
            let (c, n) = node(e)?;
            match &clusters[c].nodes[n].system {
                System::Lagrangian(s) if i < s.prescribed.len() => Place::Reaction(c, n, i),
                _ => return None,
            }
        }
        Signal::Output(e, i) => link(e, i).map(|(c, i)| Place::Y(c, i))?,
        Signal::Rate(e, i) => link(e, i).map(|(c, i)| Place::Rate(c, i))?,
        Signal::Multiplier(e, i) => link(e, i).map(|(c, i)| Place::Lambda(c, i))?,
        Signal::Correction(e, i) => link(e, i).map(|(c, i)| Place::Correction(c, i))?,
        Signal::Force(e, i) => link(e, i).map(|(c, i)| Place::Force(c, i))?,
    })
}
