//! Figures of a simulation as it stands at the end of a run.

use super::summary::{BondFigures, CrushingFigures, EnergySummary, FlowFigures, Summary, SurfaceFigures};
use crate::geometry::systems::Proximity;
use crate::model::contact::Manifold;
use crate::model::flow::{Flow, Inlet};
use crate::model::surface::{Crossings, Passage};
use crate::simulation::{BondState, CrushingState, Simulation};
use bevy_ecs::name::Name;
use bevy_ecs::prelude::{Component, Entity, With};
use glam::DVec3;
use std::collections::BTreeMap;

/// Part of what is due that an inlet may lack.
const LATE: f64 = 0.02;

/// Overlaps where bodies stand now; of a run that was interrupted those that its last step has seen.
pub(super) fn penetrations(simulation: &mut Simulation, summary: &mut Summary) {
    // a run that is to end now does not wait for points that nobody has found yet
    if !simulation.stop_asked() {
        simulation.detect();
    }
    let world = simulation.world();
    let (mut overlapping, mut sum) = (0, 0.0);
    for &(.., entity) in world.resource::<Proximity>().pairs() {
        let Some(manifold) = world.get::<Manifold>(entity) else { continue };
        let depth = manifold.points.iter().fold(0.0, |worst: f64, touch| worst.max(-touch.gap));
        if depth > 0.0 {
            (overlapping, sum) = (overlapping + 1, sum + depth);
            summary.penetration_max_m = summary.penetration_max_m.max(depth);
        }
    }
    summary.penetration_mean_m = if overlapping > 0 { sum / f64::from(overlapping) } else { 0.0 };
}

/// What impacts took beyond their restitution (J), but for what those that are not over have still to give back.
pub(super) fn restitution_loss(simulation: &Simulation) -> f64 {
    let world = simulation.world();
    let points = world.resource::<Proximity>().pairs().iter().filter_map(|&(.., pair)| Some(&world.get::<Manifold>(pair)?.points));
    let so_far: f64 = points.flatten().filter(|touch| touch.approach != DVec3::ZERO).map(|touch| touch.taken).sum();
    let ([taken, due], [taken_now, due_now]) = (simulation.balance().impacts, simulation.impacts());
    let owed = so_far - (taken_now - due_now);
    due - taken - owed - simulation.balance().work.normal
}

/// The balance of the run, by cause (J).
pub(super) fn energies(simulation: &Simulation) -> EnergySummary {
    let (balance, work) = (simulation.balance(), simulation.balance().work);
    EnergySummary {
        kinetic_J: balance.energy.kinetic,
        potential_J: balance.energy.potential,
        normal_work_J: work.normal,
        friction_work_J: work.friction,
        rolling_work_J: work.rolling,
        overlap_work_J: work.overlap,
        joint_work_J: work.joints,
        motor_work_J: work.motors,
        crushing_work_J: work.crushing,
        bond_work_J: work.bonds,
        drive_work_J: work.drives,
        load_work_J: work.loads,
        adhesion_work_J: work.adhesion,
        scheme_work_J: work.scheme,
        impact_gain_J: balance.impact_gain,
        friction_gain_J: balance.friction_gain,
        edge_loss_J: balance.edge_loss,
        rope_loss_J: balance.ropes,
        spring_loss_J: balance.springs[0],
        step_change_loss_J: balance.changes,
        damper_loss_J: balance.springs[1],
        impact_loss_J: balance.impacts[0] - balance.impacts[1],
        restitution_loss_J: None,
        outlet_J: balance.outlets.total(),
        inlet_J: balance.inlets.total(),
        balance_error: balance.error(),
    }
}

/// Joints that bonds hold, and what they have lost; none where there are none.
pub(super) fn bonds(simulation: &mut Simulation, turn_max_rad: f64) -> Option<BondFigures> {
    let BondState { joints, damaged, broken, area, lost, released, stored } = simulation.bond_state();
    let taken = -simulation.balance().work.bonds;
    (joints > 0).then_some(BondFigures {
        joints,
        damaged,
        broken,
        area_m2: area,
        lost_m2: lost,
        released_J: released,
        stored_J: stored,
        loss_J: taken - stored - released,
        turn_max_rad,
    })
}

/// Joints that crush; none where there are none.
pub(super) fn crushing(simulation: &Simulation) -> Option<CrushingFigures> {
    let CrushingState { joints, crushed, area, lost, deepest, deepest_size } = simulation.crushing_state();
    (joints > 0).then_some(CrushingFigures { joints, crushed, area_m2: area, lost_m2: lost, deepest_m: deepest, deepest_size })
}

/// Gates of a kind by name; their entities where they have none.
pub(super) fn flows<T: Component>(simulation: &mut Simulation) -> BTreeMap<String, FlowFigures> {
    let world = simulation.world_mut();
    let mut gates = world.query_filtered::<(Entity, &Flow, Option<&Name>), With<T>>();
    let named = |(entity, flow, name): (Entity, &Flow, Option<&Name>)| {
        let name = name.map_or_else(|| entity.to_string(), |name| name.as_str().to_owned());
        (name, FlowFigures { count: flow.count, mass_kg: flow.mass })
    };
    gates.iter(world).map(named).collect()
}

/// Inlets that have given clearly less than their rate asks for, in order of their names.
pub(super) fn late_inlets(simulation: &mut Simulation) -> Vec<String> {
    let world = simulation.world_mut();
    let mut gates = world.query_filtered::<(Entity, &Flow, Option<&Name>), With<Inlet>>();
    let named = |(entity, flow, name): (Entity, &Flow, Option<&Name>)| {
        (name.map_or_else(|| entity.to_string(), |name| name.as_str().to_owned()), entity, *flow)
    };
    let mut gates: Vec<_> = gates.iter(world).map(named).collect();
    gates.sort_by(|a, b| a.0.cmp(&b.0));
    let late = |(name, entity, flow): (String, Entity, Flow)| {
        let (behind, grain) = (simulation.inlet_behind(entity), flow.mass / flow.count.max(1) as f64);
        let due = flow.mass + behind;
        (behind > LATE * due && behind > 3.0 * grain).then(|| {
            format!(
                "the inlet {name} has given {:.3e} kg of the {due:.3e} kg that its rate asks for, as its box was not free: give it a larger box, \
                 or its grains a velocity that takes them out of it",
                flow.mass
            )
        })
    };
    gates.into_iter().filter_map(late).collect()
}

/// Surfaces by name; their entities where they have none.
pub(super) fn surfaces(simulation: &mut Simulation) -> BTreeMap<String, SurfaceFigures> {
    let world = simulation.world_mut();
    let mut surfaces = world.query::<(Entity, &Crossings, Option<&Name>)>();
    let figures = |passage: &Passage| FlowFigures { count: passage.count, mass_kg: passage.mass };
    let named = |(entity, passed, name): (Entity, &Crossings, Option<&Name>)| {
        let name = name.map_or_else(|| entity.to_string(), |name| name.as_str().to_owned());
        (name, SurfaceFigures { forward: figures(&passed.forward), back: figures(&passed.back) })
    };
    surfaces.iter(world).map(named).collect()
}
