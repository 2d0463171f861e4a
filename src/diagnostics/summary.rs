//! What a run comes to: the figures of its certificate.

use super::forecast::Forecast;
use super::measured::Figures;
pub use super::meter::Meter;
pub(crate) use super::meter::Record;
pub use super::studies::{DamFigures, InclineFigures};
use super::verdict::Verdict;
use crate::numerics::Method;
use serde::Serialize;
use std::collections::BTreeMap;

/// Energies and works of a run (J).
///
/// ```
/// let energy = drystone::diagnostics::summary::EnergySummary::default();
/// assert_eq!(serde_json::to_value(energy)?["balance_error"], 0.0);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[expect(non_snake_case, reason = "the names are those of the JSON output, which carry units")]
pub struct EnergySummary {
    /// Kinetic energy at the end.
    pub kinetic_J: f64,
    /// Potential energy at the end, −m g·x.
    pub potential_J: f64,
    /// Work of normal reactions.
    pub normal_work_J: f64,
    /// Work of friction.
    pub friction_work_J: f64,
    /// Work of the correction of overlaps.
    pub overlap_work_J: f64,
    /// Work of moments that resist rolling and twisting.
    pub rolling_work_J: f64,
    /// Work of joints.
    pub joint_work_J: f64,
    /// Work of motors, stops and friction of joints.
    pub motor_work_J: f64,
    /// Work of joints that crush: what crushing takes, negative.
    pub crushing_work_J: f64,
    /// Work of bonds between faces: what they have released and store, negative.
    pub bond_work_J: f64,
    /// Work of driven bodies on the others.
    pub drive_work_J: f64,
    /// Work of loads other than gravity.
    pub load_work_J: f64,
    /// Work of the attraction between bodies that touch.
    pub adhesion_work_J: f64,
    /// What the scheme itself adds or takes.
    pub scheme_work_J: f64,
    /// What impacts made from nothing, part of the work of normal reactions and friction: Newton's law of impact with friction may.
    pub impact_gain_J: f64,
    /// What friction gave and normal reactions took, in steps in which less than it moved: reactions press against each other that no load has
    /// asked for, and these two works and the forces of such steps say nothing.
    pub friction_gain_J: f64,
    /// What bodies that roll on an edge or a rim lost to the length of the step, part of the work of normal reactions.
    pub edge_loss_J: f64,
    /// What ropes and stops lost to the length of the step while they held, part of the work of motors.
    pub rope_loss_J: f64,
    /// What springs and servos lost to the length of the step (gap-aware scenes), part of the work of motors.
    pub spring_loss_J: f64,
    /// What bodies lost as steps changed their length (gap-aware scenes), part of the work of the scheme and of motors.
    pub step_change_loss_J: f64,
    /// What the dampers of springs and servos took in gap-aware scenes, part of the work of motors.
    pub damper_loss_J: f64,
    /// What impacts of two steps (gap-aware scenes) take by their restitution: `(1 − e_n²) w²/2W` of each that meets with the speed w.
    pub impact_loss_J: f64,
    /// Where all laws have `e_n` of 0.8 or more (in gap-aware scenes; in others 1): what impacts took beyond their restitution,
    /// but for those that are not over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restitution_loss_J: Option<f64>,
    /// Energy of the bodies that outlets have removed.
    pub outlet_J: f64,
    /// Energy of the bodies that inlets have brought.
    pub inlet_J: f64,
    /// `|ΔE − Σ work| / max(|ΔE_pot|, max E_kin)`.
    pub balance_error: f64,
}

/// What has gone through an outlet or inlet.
///
/// ```
/// assert_eq!(drystone::diagnostics::summary::FlowFigures::default().count, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct FlowFigures {
    /// Bodies.
    pub count: u64,
    /// Their mass.
    pub mass_kg: f64,
}

/// What has passed a surface.
///
/// ```
/// assert_eq!(drystone::diagnostics::summary::SurfaceFigures::default().back.count, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SurfaceFigures {
    /// To the side of its normal.
    pub forward: FlowFigures,
    /// The other way.
    pub back: FlowFigures,
}

/// How joints that crush have fared, see [`CrushingState`](crate::simulation::CrushingState).
///
/// ```
/// assert_eq!(drystone::diagnostics::summary::CrushingFigures::default().crushed, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CrushingFigures {
    /// Joints that may crush.
    pub joints: usize,
    /// Those that have given way somewhere.
    pub crushed: usize,
    /// Area of all.
    pub area_m2: f64,
    /// Area that has given way.
    pub lost_m2: f64,
    /// By how much at most.
    pub deepest_m: f64,
    /// The same in parts of the size of its joint, the root of the area.
    pub deepest_size: f64,
}

/// How the bonds between faces have fared, see [`BondState`](crate::simulation::BondState).
///
/// ```
/// assert_eq!(drystone::diagnostics::summary::BondFigures::default().broken, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[expect(non_snake_case, reason = "the names are those of the JSON output, which carry units")]
pub struct BondFigures {
    /// Joints that were bound at the start.
    pub joints: usize,
    /// Those that are damaged somewhere.
    pub damaged: usize,
    /// Those that hold nothing any more.
    pub broken: usize,
    /// Area that was bound.
    pub area_m2: f64,
    /// Area that is lost: that of each point times its damage.
    pub lost_m2: f64,
    /// Energy released by damage.
    pub released_J: f64,
    /// Energy stored at the end.
    pub stored_J: f64,
    /// What bonds took beyond what they store and what damage released: bodies that turn far in a step lose it, and where they rub or are
    /// struck, the scheme damps what the bonds do not bear.
    pub loss_J: f64,
    /// Largest turn in a step of a body that a bond held.
    pub turn_max_rad: f64,
}

/// The summary of a run; serialized, it is the line that `drystone run --json` prints, displayed, a certificate for people.
///
/// ```
/// let summary = drystone::diagnostics::summary::Summary::default();
/// let json = serde_json::to_value(&summary)?;
/// assert_eq!(json["unconverged_steps"], 0);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[expect(non_snake_case, reason = "the names are those of the JSON output, which carry units")]
pub struct Summary {
    /// Name of the scene.
    pub scene: String,
    /// Time reached (s).
    pub time: f64,
    /// Steps done.
    pub steps: u64,
    /// Time step (s); the mean where steps are chosen.
    pub step_size: f64,
    /// Shortest step (s), where steps are chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_size_min: Option<f64>,
    /// Longest step (s), where steps are chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_size_max: Option<f64>,
    /// Bodies at the end, immobile ones included.
    pub bodies: usize,
    /// Contact points in the last step.
    pub contacts: usize,
    /// Wall-clock time of the run (s), of the parts before it was resumed as well; set by the caller.
    pub wall_s: f64,
    /// Processor time of the run (s), likewise; set by the caller.
    pub cpu_s: f64,
    /// Threads used; set by the caller.
    pub threads: usize,
    /// Largest e_s of a step.
    pub residual_max: f64,
    /// Median of e_s over the steps.
    pub residual_median: f64,
    /// Largest natural-map residual over `max(|q|, |r|, |u|)`.
    pub rel_max: f64,
    /// The e_s that every step had to reach.
    pub tolerance: f64,
    /// Steps that missed the tolerance, or met it with bodies that had to be stopped on the way; those without a solution and those with
    /// lagged friction not counted.
    pub unconverged_steps: u64,
    /// Steps that were solved with a known De Saxcé shift (lagged friction): all of a scene that asks for it, else those in which
    /// Coulomb's law was not reached.
    pub lagged_steps: u64,
    /// Largest e_s of Coulomb's law itself in such a step.
    pub lagged_defect_max: f64,
    /// Steps whose constraints contradict each other: bodies squeezed between others that do not give way.
    pub infeasible_steps: u64,
    /// Steps in which rebounds were dropped, as with them there was no solution: friction holds bodies that restitution would part.
    pub rebounds_dropped_steps: u64,
    /// Steps in which overlaps of some contacts were not fed back, as friction holds what would have to part for it.
    pub overlaps_kept_steps: u64,
    /// Largest velocity by which a contact missed its law in any step (m/s), see [`crate::numerics::residual`].
    pub violation_max: f64,
    /// What that moves in a step at most, in parts of the smaller body's smallest length: the largest `h ε/ℓ` of the run.
    pub violation_size_max: f64,
    /// What is bad about the run, each with its cure; empty for a run that can be relied on.
    pub warnings: Vec<String>,
    /// Sweeps per step.
    pub iterations_mean: f64,
    /// Matrix factorisations per step.
    pub factorisations_mean: f64,
    /// How many steps each method ended, see [`Method`].
    pub ended_by: BTreeMap<Method, u64>,
    /// Largest overlap at the end (m).
    pub penetration_max_m: f64,
    /// Mean over the pairs that overlap at the end (m).
    pub penetration_mean_m: f64,
    /// Largest gap of a joint in the run (m), and of which joint; a rope's is by how much it is too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joint_gap_max_m: Option<f64>,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joint_gap_of: Option<String>,
    /// Largest angle by which a joint was turned against what it holds (rad).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joint_tilt_max_rad: Option<f64>,
    /// Largest overlap of the whole run (m).
    pub penetration_run_max_m: f64,
    /// Largest overlap of the whole run in parts of the smaller body's smallest length.
    pub penetration_size_max: f64,
    /// Largest way of a body in a step, in parts of its smallest length.
    pub stride_max: f64,
    /// Largest way of the centre of a dynamic body from its start (m).
    pub displacement_max_m: f64,
    /// Largest speed of a dynamic body at the end (m/s).
    pub speed_max: f64,
    /// Mean height z of the centres of dynamic bodies at the end (m).
    pub height_mean_m: f64,
    /// Force on immobile bodies along gravity, mean over the last ten steps (N).
    pub support_force_N: f64,
    /// Energies and works.
    pub energy: EnergySummary,
    /// What binds faces, if anything does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bonds: Option<BondFigures>,
    /// Joints that crush, if any do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crushing: Option<CrushingFigures>,
    /// What has gone through each outlet.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub outlets: BTreeMap<String, FlowFigures>,
    /// What has come in through each inlet.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub inlets: BTreeMap<String, FlowFigures>,
    /// What has passed each surface.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub surfaces: BTreeMap<String, SurfaceFigures>,
    /// What each `[[measure]]` finds at the end.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub measures: BTreeMap<String, Figures>,
    /// The heap of each `[[pile]]` at the end.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub piles: BTreeMap<String, Figures>,
    /// FNV-1a hash of the state, 16 hexadecimal digits.
    pub state_hash: String,
    /// True when the run was stopped before its end.
    pub interrupted: bool,
    /// Why the run stopped on its own, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// What was foreseen after the first steps of a run that has more; set by the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Forecast>,
    /// Which rule of `[stop]` ended the run, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_early: Option<String>,
    /// Whether what should stand does, see [`super::verdict`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Figures of a slope.
    #[serde(flatten)]
    pub incline: Option<InclineFigures>,
    /// Figures of a dam.
    #[serde(flatten)]
    pub dam: Option<DamFigures>,
}
