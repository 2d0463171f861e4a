//! Numbers that follow from a first-order system and its multipliers, as components and as signals.

use crate::model::watched::watched;
use bevy_ecs::prelude::{Component, Entity};
use std::sync::Arc;

/// Writes numbers that follow from time (s), state x and multipliers λ.
///
/// ```
/// use drystone::cluster::Reading;
/// let power: Reading = std::sync::Arc::new(|_, x: &[f64], _, out: &mut [f64]| out[0] = x[0] * x[1]);
/// let mut value = [0.0];
/// power(0.0, &[2.0, 3.0], &[], &mut value);
/// assert_eq!(value, [6.0]);
/// ```
pub type Reading = Arc<dyn Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync>;

/// What a part of a system shows: an element of a circuit its voltage and current. The values are those of the end of the last batch of
/// steps; [`Signal::Probe`](super::Signal::Probe) keeps their course.
///
/// ```
/// use drystone::cluster::{Probe, Signal};
/// use drystone::model::{dynamical_system::FirstOrder, integrator::Integrator};
/// use drystone::simulation::Simulation;
/// let mut sim = Simulation::with_time_step(1e-3)?;
/// let decay = sim.spawn_system(FirstOrder::linear([-1.0], [2.0]), Integrator::EULER_MOREAU)?;
/// let square = sim.world_mut().spawn(Probe::new(decay, None, 1, |_, x, _, out| out[0] = x[0] * x[0])).id();
/// let record = sim.record(500, [Signal::Probe(square, 0)]);
/// sim.advance(1000)?;
/// let value = sim.world().get::<Probe>(square).expect("alive").values[0];
/// assert!((value - 4.0 * (-2f64).exp()).abs() < 1e-6);
/// assert_eq!(sim.trace(record).expect("recorded").column(0)[2], value);
/// # Ok::<(), drystone::simulation::SimulationError>(())
/// ```
#[derive(Component, Clone)]
pub struct Probe {
    /// The system whose state it reads (x, or q of a second-order one).
    pub system: Entity,
    /// The interaction whose multipliers it reads, where there is one.
    pub interaction: Option<Entity>,
    /// How its values follow; one that panics shows NaN.
    pub reading: Reading,
    /// Its values at the end of the last batch.
    pub values: Vec<f64>,
}

impl Probe {
    /// A probe of this many values, which are 0 until the first step.
    pub fn new(
        system: Entity,
        interaction: Option<Entity>,
        values: usize,
        reading: impl Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync + 'static,
    ) -> Self {
        Self { system, interaction, reading: Arc::new(reading), values: vec![0.0; values] }
    }

    /// Shows another state: time (s), x and λ.
    ///
    /// ```
    /// use drystone::cluster::Probe;
    /// use drystone::prelude::*;
    /// let mut sum = Probe::new(Entity::PLACEHOLDER, None, 1, |t, x, lambda, out| out[0] = t + x[0] + lambda[0]);
    /// sum.show(1.0, &[2.0], &[3.0]);
    /// assert_eq!(sum.values, [6.0]);
    /// ```
    pub fn show(&mut self, t: f64, x: &[f64], lambda: &[f64]) {
        let mut values = std::mem::take(&mut self.values);
        self.read(t, x, lambda, &mut values);
        self.values = values;
    }

    /// What the reading gives; no numbers where it panics: the step is done by then, and it is no part of it.
    pub(crate) fn read(&self, t: f64, x: &[f64], lambda: &[f64], out: &mut [f64]) {
        if watched(|| (self.reading)(t, x, lambda, out)).is_err() {
            out.fill(f64::NAN);
        }
    }
}

/// The parts of a system whose values are functions of the time (s), by name. Where the system fails, they are asked one by one, and what
/// panics or gives no finite number is named by the error: a circuit names its sources and switches, not the sum of them.
///
/// ```
/// use drystone::cluster::TimedParts;
/// use drystone::prelude::*;
/// let mut sim = Simulation::with_time_step(0.1)?;
/// let pump = |t: f64| if t < 0.35 { 1.0 } else { f64::NAN };
/// let tank = FirstOrder::linear([-1.0], [0.0]).with_input(Operator::function(move |at, b| b[0] = 2.0 + pump(at.t)));
/// let tank = sim.spawn_system(tank, Integrator::EULER_MOREAU)?;
/// sim.world_mut().entity_mut(tank).insert(TimedParts::default().with("the pump", pump));
/// let error = sim.run_until(1.0).expect_err("the pump is off").to_string();
/// assert!(error.ends_with("the pump gives NaN at t = 0.4 s; a finite number is needed, and the state before the step is kept"));
/// # Ok::<(), SimulationError>(())
/// ```
#[derive(Component, Clone, Default)]
pub struct TimedParts(Vec<(String, Arc<dyn Fn(f64) -> f64 + Send + Sync>)>, Vec<Contradicting>);

/// Says at a time (s) which parts contradict each other, if some do.
type Contradicting = Arc<dyn Fn(f64) -> Option<String> + Send + Sync>;

impl TimedParts {
    /// With one more.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Self {
        self.0.push((name.into(), Arc::new(value)));
        self
    }

    /// With a function that says which parts contradict each other at a time (s): the error is that where equations do
    /// ([`ClusterError::Contradiction`](super::ClusterError::Contradiction)) and it has something to say.
    #[must_use]
    pub fn contradicting(mut self, why: impl Fn(f64) -> Option<String> + Send + Sync + 'static) -> Self {
        self.1.push(Arc::new(why));
        self
    }

    /// Which parts contradict each other at this time.
    #[doc(hidden)]
    pub fn contradiction(&self, t: f64) -> Option<String> {
        self.1.iter().find_map(|why| watched(|| why(t)).ok().flatten())
    }

    /// The first part that fails at this time, and what would do.
    #[doc(hidden)]
    pub fn fault(&self, t: f64) -> Option<String> {
        let needed = "a finite number is needed";
        self.0.iter().find_map(|(name, value)| match watched(|| value(t)) {
            Ok(x) if x.is_finite() => None,
            Ok(x) => Some(format!("{name} gives {x} at t = {t} s; {needed}")),
            Err(said) => Some(format!("{name} panics ({said}) at t = {t} s; {needed}")),
        })
    }
}

impl std::fmt::Debug for TimedParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

impl std::fmt::Debug for Probe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Probe").field("system", &self.system).field("values", &self.values).finish_non_exhaustive()
    }
}
