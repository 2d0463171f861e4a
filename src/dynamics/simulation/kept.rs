//! Components of the host program that are saved with the rest.

use super::state::sorted;
use super::{Simulation, SimulationError};
use crate::model::birth::Birth;
use bevy_ecs::component::Mutable;
use bevy_ecs::prelude::*;
use serde::{Deserialize, Serialize};
use std::any::TypeId;

/// How a kind of components is saved and restored.
pub(super) struct Kept {
    name: &'static str,
    kind: TypeId,
    save: Box<dyn Fn(&mut World) -> Vec<Vec<f64>> + Send + Sync>,
    restore: Box<dyn Fn(&mut World, &[Vec<f64>]) + Send + Sync>,
}

/// The numbers of the components of one kind, in order of birth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SavedKept {
    name: String,
    numbers: Vec<Vec<f64>>,
}

impl Simulation {
    /// Saves what components of the host program remember with the rest: `numbers` gives what decides how one of them goes on, and `restore`
    /// writes as many back. [`SavedState`](super::SavedState) then holds the numbers of all entities that have a `C`, and
    /// [`restore`](Self::restore) wants as many of them, made in the same order; `name` is what messages call them. Where `C` is kept already
    /// nothing changes. What closures remember is nowhere to be seen: it belongs in a component.
    ///
    /// ```
    /// use drystone::prelude::*;
    /// /// A fuse that melts (A² s).
    /// #[derive(Component)]
    /// struct Fuse(f64);
    ///
    /// fn build() -> Result<Simulation, SimulationError> {
    ///     let mut sim = Simulation::with_time_step(1e-3)?;
    ///     sim.keep("fuses", |fuse: &Fuse| vec![fuse.0], |fuse, numbers| fuse.0 = numbers[0]);
    ///     let coil = FirstOrder::linear([-2.0], [0.0]).with_input(Operator::function(|at, f| f[0] = at.z[0])).with_parameters([8.0]);
    ///     let coil = sim.spawn_system(coil, Integrator::EULER_MOREAU)?;
    ///     let fuse = sim.world_mut().spawn(Fuse(0.0)).id();
    ///     sim.every(1e-3, move |_, world| {
    ///         let current = world.get::<FirstOrder>(coil).map_or(0.0, |coil| coil.x[0]);
    ///         let heat = world.get_mut::<Fuse>(fuse).map_or(0.0, |mut fuse| {
    ///             fuse.0 += 1e-3 * current * current;
    ///             fuse.0
    ///         });
    ///         if let Some(mut coil) = world.get_mut::<FirstOrder>(coil).filter(|_| heat > 3.0) {
    ///             coil.z[0] = 0.0; // it has melted
    ///         }
    ///     })?;
    ///     Ok(sim)
    /// }
    /// let mut sim = build()?;
    /// sim.run_until(0.5)?;
    /// let saved = sim.save(&[]);
    /// sim.run_until(2.0)?;
    /// let mut resumed = build()?;
    /// resumed.restore(&saved, &[])?;
    /// resumed.run_until(2.0)?;
    /// assert_eq!(resumed.state_hash(), sim.state_hash());
    /// # Ok::<(), SimulationError>(())
    /// ```
    pub fn keep<C: Component<Mutability = Mutable>>(
        &mut self,
        name: &'static str,
        numbers: impl Fn(&C) -> Vec<f64> + Send + Sync + 'static,
        restore: impl Fn(&mut C, &[f64]) + Send + Sync + 'static,
    ) {
        let kind = TypeId::of::<C>();
        if self.keeps.iter().any(|kept| kept.kind == kind) {
            return;
        }
        // what is there already has come in the order of its numbers, if one knows no better
        for entity in sorted::<C>(&mut self.world) {
            self.world.entity_mut(entity).insert_if_new(Birth::default());
        }
        let born = self.world.try_register_required_components::<C, Birth>();
        if born.is_err() {
            self.world.add_observer(|added: On<Add<C>>, mut commands: Commands| {
                commands.entity(added.entity).insert_if_new(Birth::default());
            });
        }
        let save = move |world: &mut World| sorted::<C>(world).into_iter().filter_map(|e| world.get::<C>(e)).map(&numbers).collect();
        let restore = move |world: &mut World, saved: &[Vec<f64>]| {
            for (entity, numbers) in sorted::<C>(world).into_iter().zip(saved) {
                world.get_mut::<C>(entity).iter_mut().for_each(|c| restore(c, numbers));
            }
        };
        self.keeps.push(Kept { name, kind, save: Box::new(save), restore: Box::new(restore) });
    }

    pub(super) fn save_kept(&mut self) -> Vec<SavedKept> {
        let world = &mut self.world;
        self.keeps.iter().map(|kept| SavedKept { name: kept.name.to_owned(), numbers: (kept.save)(world) }).collect()
    }

    /// Nothing is changed where anything differs.
    pub(super) fn restore_kept(&mut self, saved: &[SavedKept]) -> Result<(), SimulationError> {
        let refused = |reason: String| Err(SimulationError::Restored(format!("{reason}; build it as it was")));
        let here = self.save_kept();
        let names = |list: &[SavedKept]| {
            let counts: Vec<String> = list.iter().map(|kept| format!("{} {}", kept.numbers.len(), kept.name)).collect();
            if counts.is_empty() { "nothing else".to_owned() } else { counts.join(", ") }
        };
        let alike = |(a, b): (&SavedKept, &SavedKept)| a.name == b.name && a.numbers.len() == b.numbers.len();
        if saved.len() != here.len() || !saved.iter().zip(&here).all(alike) {
            return refused(format!("beside what is always saved it holds {}, and this simulation keeps {}", names(saved), names(&here)));
        }
        for (was, is) in saved.iter().zip(&here) {
            let differs = was.numbers.iter().zip(&is.numbers).position(|(was, is)| was.len() != is.len());
            if let Some(k) = differs {
                let (name, [was, is]) = (&is.name, [was, is].map(|kept| kept.numbers[k].len()));
                return refused(format!("of number {} of the {name} it holds {was} numbers, and {is} are needed", k + 1));
            }
        }
        let world = &mut self.world;
        self.keeps.iter().zip(saved).for_each(|(kept, saved)| (kept.restore)(world, &saved.numbers));
        Ok(())
    }
}
