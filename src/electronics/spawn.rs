//! From a netlist to its equations, and to a circuit in a simulation.

use super::circuit::{Circuit, Kind};
use super::equations::{Equations, Output};
use super::error::{CircuitError, list};
use super::waveform::Waveform;
use super::{check, conflict, derive};
use crate::cluster::{Probe, Signal, TimedParts};
use crate::model::dynamical_system::FirstOrder;
use crate::model::integrator::Integrator;
use crate::model::interaction::Interaction;
use crate::simulation::Simulation;
use bevy_ecs::name::Name;
use bevy_ecs::prelude::Entity;

/// A circuit that lives in a simulation.
///
/// ```
/// use drystone::{electronics::Circuit, simulation::Simulation};
/// let mut c = Circuit::new();
/// c.capacitor("C1", "a", "0", 1e-6).voltage(10.0);
/// c.resistor("R1", "a", "0", 1e3);
/// let mut sim = Simulation::with_time_step(1e-6)?;
/// let circuit = c.spawn(&mut sim)?;
/// sim.advance(1000)?;
/// assert!((circuit.voltage(&sim, "a", "0")? - 10.0 / std::f64::consts::E).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct CircuitHandle {
    /// The first-order system.
    pub system: Entity,
    /// Its interaction; none where all elements are linear.
    pub interaction: Option<Entity>,
    /// What was derived.
    pub equations: Equations,
    /// One per element, in the order of the equations.
    elements: Vec<Entity>,
    netlist: Circuit,
}

impl Circuit {
    /// The first-order system of the circuit with its relation and law.
    pub fn equations(&self) -> Result<Equations, CircuitError> {
        check::check(self)?;
        let equations = derive::derive(self)?;
        conflict::constant(self).map_or(Ok(equations), Err)
    }

    /// Adds the circuit to a simulation, with Euler–Moreau of θ = ½.
    pub fn spawn(&self, sim: &mut Simulation) -> Result<CircuitHandle, CircuitError> {
        self.spawn_with(sim, Integrator::EULER_MOREAU)
    }

    /// Adds the circuit to a simulation. θ = 1 damps what is faster than the time step.
    pub fn spawn_with(&self, sim: &mut Simulation, integrator: Integrator) -> Result<CircuitHandle, CircuitError> {
        let equations = self.equations()?;
        let system = sim.spawn_system(equations.system.clone(), integrator)?;
        sim.set_name(system, "circuit");
        sim.world_mut().entity_mut(system).insert(self.timed_parts());
        let interaction = if equations.relation.rows > 0 {
            let entity = sim.spawn_interaction(Interaction::new([system], equations.relation.clone(), equations.law.clone()))?;
            // one relation, as D couples all of them
            sim.set_name(entity, &list(&equations.nonsmooth_names()));
            Some(entity)
        } else {
            None
        };
        let mut elements = Vec::new();
        for name in equations.element_names() {
            let (voltage, current) = (equations.voltage_across(name)?, equations.current(name)?);
            let mut probe = Probe::new(system, interaction, 2, move |t, x, lambda, out| {
                (out[0], out[1]) = (voltage.at(t, x, lambda), current.at(t, x, lambda));
            });
            let lambda = vec![0.0; equations.relation.rows];
            probe.show(sim.time(), &equations.system.x, &lambda);
            elements.push(sim.world_mut().spawn((Name::new(name.clone()), probe)).id());
        }
        Ok(CircuitHandle { system, interaction, equations, elements, netlist: self.clone() })
    }
}

impl Circuit {
    /// Sources and switches that are functions of the time, as errors name them, and which elements contradict each other.
    fn timed_parts(&self) -> TimedParts {
        let netlist = self.clone();
        let parts = TimedParts::default().contradicting(move |t| conflict::at(&netlist, t).map(|error| error.to_string()));
        self.elements.iter().fold(parts, |parts, element| match &element.kind {
            Kind::VoltageSource { voltage: source @ Waveform::Function(_) } => {
                let source = source.clone();
                parts.with(format!("the voltage source {}", element.name), move |t| source.at(t))
            }
            Kind::CurrentSource { current: source @ Waveform::Function(_) } => {
                let source = source.clone();
                parts.with(format!("the current source {}", element.name), move |t| source.at(t))
            }
            Kind::Switch { closed } => {
                let closed = closed.clone();
                parts.with(format!("the switch {}", element.name), move |t| f64::from(u8::from(closed(t))))
            }
            _ => parts,
        })
    }
}

impl CircuitHandle {
    /// Which ideal elements exclude each other at a time (s), with sources and switches as they are then: why a step without a solution
    /// ([`SystemsReport::first_infeasible`](crate::cluster::SystemsReport::first_infeasible)) has none. A loop of sources, diodes and closed
    /// switches is found, and a part of the circuit that current sources, diodes and open switches alone connect with the rest; where controlled sources
    /// and transistors take part, there is nothing to say.
    ///
    /// ```
    /// use drystone::{electronics::Circuit, simulation::Simulation};
    /// let mut c = Circuit::new();
    /// c.voltage_source("V", "a", "0", |t: f64| 1000.0 * t);
    /// c.diode("D", "a", "0").forward_voltage(0.7);
    /// c.resistor("R", "a", "b", 1.0);
    /// c.capacitor("C", "b", "0", 1e-6);
    /// let mut sim = Simulation::with_time_step(1e-4)?;
    /// let circuit = c.spawn(&mut sim)?;
    /// let report = sim.advance(10)?.systems;
    /// let time = report.first_infeasible.expect("the diode is overrun");
    /// assert!(report.infeasible == 3 && (time - 8e-4).abs() < 1e-12);
    /// let why = circuit.conflict(time).expect("known").to_string();
    /// assert!(why.starts_with("V and D form a loop without resistance whose voltages exclude each other by 0.1 V"), "{why}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn conflict(&self, t: f64) -> Option<CircuitError> {
        conflict::at(&self.netlist, t)
    }

    /// Voltage of node a against node b (V) at the end of the last step.
    pub fn voltage(&self, sim: &Simulation, a: &str, b: &str) -> Result<f64, CircuitError> {
        self.number(sim, &self.equations.voltage(a, b)?)
    }

    /// Current of an element (A) from its first to its second terminal at the end of the last step.
    pub fn current(&self, sim: &Simulation, element: &str) -> Result<f64, CircuitError> {
        self.number(sim, &self.equations.current(element)?)
    }

    /// Voltage of an element (V) at the end of the last step: its first terminal against the second.
    pub fn voltage_across(&self, sim: &Simulation, element: &str) -> Result<f64, CircuitError> {
        self.number(sim, &self.equations.voltage_across(element)?)
    }

    /// The entity of an element: its name and a [`Probe`] of its voltage (V) and current (A).
    ///
    /// ```
    /// use drystone::{cluster::Probe, electronics::Circuit, simulation::Simulation};
    /// let mut c = Circuit::new();
    /// c.voltage_source("V", "in", "0", 5.7);
    /// c.diode("D1", "in", "out").forward_voltage(0.7);
    /// c.resistor("R", "out", "0", 100.0);
    /// c.capacitor("C", "out", "0", 1e-9);
    /// let mut sim = Simulation::with_time_step(1e-6)?;
    /// let circuit = c.spawn(&mut sim)?;
    /// let course = sim.record(1, circuit.signals("D1")?);
    /// sim.advance(100)?;
    /// let diode = sim.world().get::<Probe>(circuit.element("D1")?).expect("alive");
    /// assert!((diode.values[0] - 0.7).abs() < 1e-9 && (diode.values[1] - 0.05).abs() < 1e-9);
    /// assert_eq!(sim.trace(course).expect("recorded").column(1)[100], diode.values[1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn element(&self, name: &str) -> Result<Entity, CircuitError> {
        let known = self.equations.element_names();
        let unknown = || CircuitError::UnknownElement { name: name.to_owned(), known: known.to_vec() };
        known.iter().position(|n| n == name).map(|at| self.elements[at]).ok_or_else(unknown)
    }

    /// Voltage and current of an element as signals for [`Simulation::record`].
    pub fn signals(&self, element: &str) -> Result<[Signal; 2], CircuitError> {
        self.element(element).map(|e| [Signal::Probe(e, 0), Signal::Probe(e, 1)])
    }

    /// The value of a probe where it is a number; else the source or switch that gives none is named.
    fn number(&self, sim: &Simulation, output: &Output) -> Result<f64, CircuitError> {
        let value = self.value(sim, output);
        let parts = || sim.world().get::<TimedParts>(self.system);
        let fault = if value.is_finite() { None } else { parts().and_then(|parts| parts.fault(sim.time())) };
        fault.map_or(Ok(value), |fault| Err(CircuitError::Part(fault)))
    }

    /// The value of a probe at the end of the last step; not a number where a source gives none.
    pub fn value(&self, sim: &Simulation, output: &Output) -> f64 {
        let world = sim.world();
        let x = world.get::<FirstOrder>(self.system).map_or(&[][..], |s| &s.x);
        let lambda = self.interaction.and_then(|e| world.get::<Interaction>(e)).map_or(&[][..], |i| &i.lambda);
        output.at(sim.time(), x, lambda)
    }

    /// Keeps the state now and after every `every` steps; the number returned is for [`times`](Self::times) and [`curve`](Self::curve).
    pub fn record(&self, sim: &mut Simulation, every: u64) -> usize {
        let states = (0..self.equations.system.x.len()).map(|i| Signal::State(self.system, i));
        let multipliers =
            self.interaction.into_iter().flat_map(|e| (0..self.equations.relation.rows).map(move |i| Signal::Multiplier(e, i)));
        let signals: Vec<Signal> = std::iter::once(Signal::Time).chain(states).chain(multipliers).collect();
        sim.record(every, signals)
    }

    /// The times of a record (s).
    pub fn times(&self, sim: &Simulation, record: usize) -> Vec<f64> {
        sim.trace(record).map_or(Vec::new(), |trace| trace.column(0))
    }

    /// A probe along a record. Multipliers are 0 before the first step, so the first value may lack currents of diodes.
    pub fn curve(&self, sim: &Simulation, record: usize, output: &Output) -> Vec<f64> {
        let n = 1 + self.equations.system.x.len();
        sim.trace(record).map_or(Vec::new(), |trace| trace.rows().map(|row| output.at(row[0], &row[1..n], &row[n..])).collect())
    }
}
