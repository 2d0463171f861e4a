//! What a step says of itself, and the balance of energy of a run.

use super::energy::{Energy, StepEnergy, Work};
use crate::cluster::SystemsReport;
use crate::numerics::Report;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Sums over the run so far from which the balance of energy follows.
///
/// ```
/// assert_eq!(drystone::simulation::Balance::default().error(), 0.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Balance {
    /// Energy now.
    pub energy: Energy,
    /// Sum of the changes of kinetic energy within steps.
    pub kinetic_change: f64,
    /// Sum of the changes of potential energy within steps.
    pub potential_change: f64,
    /// Largest kinetic energy so far.
    pub kinetic_max: f64,
    /// Largest kinetic energy of the centres of mass so far, bodies without their spin.
    #[serde(default)]
    pub travel_max: f64,
    /// Largest kinetic energy so far that the loads of a step would give to bodies at rest and alone.
    #[serde(default)]
    pub pushed_max: f64,
    /// Work so far, by cause.
    pub work: Work,
    /// What changes of gravity have given to bodies where they stood (J): −m (g⁺ − g)·x. It is part of the work of loads.
    #[serde(default)]
    pub gravity_switched: f64,
    /// Energy that impacts have made from nothing (J), by islands of bodies that press on each other: see [`crate::numerics::impacts`].
    /// It is part of the work of normal reactions and friction.
    pub impact_gain: f64,
    /// Energy that friction gave and normal reactions took (J), in steps in which less than it moved: reactions press against each other that
    /// no load has asked for. It is part of the work of both.
    #[serde(default)]
    pub friction_gain: f64,
    /// Energy that bodies which roll on an edge or a rim have lost to the length of the step (J), see [`edge_loss`](super::energy::edge_loss).
    /// It is part of the work of normal reactions.
    #[serde(default)]
    pub edge_loss: f64,
    /// Energy that springs and servos have lost to the length of the step, and what their dampers have taken (J), see
    /// [`spring_loss`](super::energy::spring_loss). Both are part of the work of motors.
    #[serde(default)]
    pub springs: [f64; 2],
    /// Energy that ropes and stops have lost to the length of the step while they held (J), see [`rope_loss`](super::energy::rope_loss). It is
    /// part of the work of motors.
    #[serde(default)]
    pub ropes: f64,
    /// Energy that changes of the length of steps have taken (J), see [`change_loss`](super::energy::change_loss). It is part of the work of the
    /// scheme and of motors.
    #[serde(default)]
    pub changes: f64,
    /// Energy (J) that impacts of two steps take in the first, each for itself, and what of it their restitution gives back in the second.
    #[serde(default)]
    pub impacts: [f64; 2],
    /// Energy of the bodies that outlets have removed, when they left: E now is E at the start, plus the works, less this, plus `inlets`.
    /// Bodies that events make or end are not in it.
    pub outlets: Energy,
    /// Energy of the bodies that inlets have brought.
    pub inlets: Energy,
}

impl Balance {
    /// `|ΔE − Σ work| / max(|ΔE_pot|, max E_kin)`, the scale not below 1e-9 of the potential energy itself and of what the loads of a step
    /// would give to bodies alone: where nothing moves, both sides are the rounding of these.
    pub fn error(&self) -> f64 {
        let rounded = self.energy.potential.abs().max(self.pushed_max);
        let scale = self.potential_change.abs().max(self.kinetic_max).max(1e-9 * rounded);
        let defect = (self.kinetic_change + self.potential_change + self.gravity_switched - self.work.total()).abs();
        if defect == 0.0 { 0.0 } else { defect / scale.max(f64::MIN_POSITIVE) }
    }

    /// Takes in the energy and the works of a step.
    pub(super) fn add(&mut self, step: &StepEnergy) {
        let StepEnergy { ends: [before, after], work, travel, pushed } = step;
        self.energy = *after;
        self.kinetic_change += after.kinetic - before.kinetic;
        self.potential_change += after.potential - before.potential;
        let kinetic = before.kinetic.max(after.kinetic);
        self.kinetic_max = self.kinetic_max.max(kinetic);
        self.travel_max = self.travel_max.max(*travel);
        self.pushed_max = self.pushed_max.max(*pushed);
        self.work.add(work);
        let given = [work.drives, work.motors, work.bonds, work.loads, work.adhesion];
        if work.friction > given.iter().fold(kinetic.max(*pushed), |most, w| most.max(w.abs())) {
            self.friction_gain += work.friction;
        }
    }
}

/// The certificate of one step.
///
/// ```
/// use drystone::simulation::Simulation;
/// let report = Simulation::default().step()?;
/// assert!(report.converged && report.contacts == 0);
/// # Ok::<(), drystone::simulation::SimulationError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    /// Number of the step, from 1.
    pub step: u64,
    /// Time at its end (s).
    pub time: f64,
    /// Its length (s).
    pub step_size: f64,
    /// Contact rows / 3.
    pub contacts: usize,
    /// Whether the tolerance on e_s is met and the inner loop settled.
    pub converged: bool,
    /// Where the De Saxcé shift was taken as known: by how much (e_s) the step misses Coulomb's law itself. By choice in a scene with
    /// lagged friction, else, with [`converged`](Self::converged) false, where Coulomb's law was not reached.
    pub lagged: Option<f64>,
    /// Whether the constraints of the step contradict each other; the answer is then the one of least violation.
    pub infeasible: bool,
    /// Whether rebounds were dropped, as with them the step has no solution: friction holds bodies that restitution would part.
    pub rebounds_dropped: bool,
    /// Whether overlaps of some contacts were not fed back, as friction holds what would have to part for it.
    pub overlaps_kept: bool,
    /// Largest velocity by which a contact misses its law (m/s).
    pub violation: f64,
    /// What that moves in the step at most, in parts of the smaller body's smallest length.
    pub violation_size: f64,
    /// Residuals and effort of the solver.
    pub report: Report,
    /// Passes of the inner loop.
    pub passes: usize,
    /// In how many parts the step was solved: more than one where bodies in joints turn far.
    pub parts: u32,
    /// Largest overlap at the start of the step (m).
    pub penetration: f64,
    /// Largest overlap at the start of the step in parts of the smaller body's smallest length.
    pub penetration_size: f64,
    /// Largest way of a body in the step at its speed at the start, in parts of its smallest length.
    pub stride: f64,
    /// Energy balance of the run so far.
    pub balance: Balance,
    /// Resultant on immobile bodies (N, world).
    pub support_force: DVec3,
    /// Systems that are not bodies with shapes: circuits, mechanisms, controllers.
    pub systems: SystemsReport,
}
