//! The order in which entities came, which their numbers do not tell: those of the dead are given again, the last one first.

use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;

/// When a system, an interaction, a bond, a gate … came to be one, among all of these; a simulation gives it by itself. Rows, sums and saved states
/// keep to this order, so that a run whose pairs and bodies come and go is that of a world in which nothing died.
///
/// ```
/// use drystone::model::birth::Birth;
/// use drystone::prelude::*;
/// let mut sim = Simulation::default();
/// let masses = [1.0, 2.0].map(|mass| sim.spawn_system(Lagrangian::new([mass]).at([0.0]), Integrator::MOREAU_JEAN));
/// let [first, second] = masses.map(|mass| mass.ok().and_then(|mass| sim.world().get::<Birth>(mass)));
/// assert!(first.is_some() && first < second);
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Birth(pub u64);

/// How many have been born.
#[derive(Resource, Default)]
struct Births(u64);

/// What entities are sorted by; those without a [`Birth`] come last, by their numbers.
pub(crate) type Rank = (u64, u32, u32);

/// The rank of an entity. By index, not by the order of the entities themselves, which is the reverse.
pub(crate) fn rank(birth: Option<&Birth>, entity: Entity) -> Rank {
    (birth.map_or(u64::MAX, |birth| birth.0), entity.index_u32(), entity.generation().to_bits())
}

/// Counts births from here on.
pub(crate) fn count(world: &mut World) {
    world.init_resource::<Births>();
    world.register_component_hooks::<Birth>().on_add(number);
}

fn number(mut world: DeferredWorld, context: HookContext) {
    let Some(mut births) = world.get_resource_mut::<Births>() else { return };
    births.0 += 1;
    let number = births.0;
    if let Some(mut birth) = world.get_mut::<Birth>(context.entity) {
        birth.0 = number;
    }
}
