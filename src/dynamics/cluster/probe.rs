//! Numbers that follow from a first-order system and its multipliers, as components and as signals.

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
    /// How its values follow.
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
}

impl std::fmt::Debug for Probe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Probe").field("system", &self.system).field("values", &self.values).finish_non_exhaustive()
    }
}
