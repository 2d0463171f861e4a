//! What is bad about a run, in plain words and with the cure.

use super::summary::{Record, Summary};
use crate::io::scene::Scene;
use crate::model::law::Impact;
use crate::model::scheme::Treatment;

/// Overlap, in parts of a body, from which one may see it.
const OVERLAP: f64 = 0.01;
/// Part of a body that a step may move by mistake.
const VIOLATION: f64 = 5e-3;
/// Error of lagged friction from which a run is looked at.
const LAGGED: f64 = 1e-2;
/// Part of a body by which steps that do not reach Coulomb's law may move it by mistake in a run: less is no matter.
const CREPT: f64 = 1e-3;
/// Part of the energy that moved which may be unaccounted for, or come from the correction of overlaps.
const ENERGY: [f64; 2] = [1e-6, 0.02];
/// Part of the energy that moved which impacts without loss may take.
const ELASTIC: f64 = 5e-3;
/// What impacts may take beyond their restitution, in parts of what it takes: in a pile one impact is many, and steps leave the last bounces out.
const BEYOND: f64 = 0.5;
/// Turn of a bound body in a step from which what its bonds take is looked at (rad).
const TURN: f64 = 0.03;
/// What a joint may be crushed by, in parts of its size, as what slides by that is no longer the joint of the start.
const CRUSHED: f64 = 0.1;
/// Part of all the energy that moved, spin among it, that joints may take from spin, more than bodies travel with.
const SPUN: f64 = 1e-4;
/// The same of what moves the centres of bodies: the first step of a wheel out of true takes of that, and shafts whose centres as good as stand.
const TRIFLE: f64 = 1e-6;
/// What springs may lose unseen, in energies of bodies that as good as stand: a swing by 1e-5 of a radius of gyration in a step.
const UNSEEN: f64 = 100.0;
/// Names that are listed.
const NAMES: usize = 6;

/// An instant (s) as messages have it: a sum of steps has its rounding.
fn instant(time: f64) -> f64 {
    (time * 1e12).round() / 1e12
}

/// What cures depend on in a scene.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choices {
    /// Contacts overlap before they close.
    forecast: bool,
    /// All contacts have Frémond's law of impact.
    fremond: bool,
    /// No impact is to take energy.
    elastic: bool,
    /// Largest coefficient of friction.
    mu: f64,
}

impl Choices {
    pub(super) fn of(scene: &Scene) -> Self {
        let laws = || std::iter::once(&scene.default_law).chain(scene.pair_laws.iter().map(|pair| &pair.law));
        Self {
            forecast: matches!(scene.time.treatment, Treatment::Forecast { .. }),
            fremond: laws().all(|law| law.impact == Impact::Fremond),
            elastic: laws().all(|law| law.e_n == 1.0 && law.e_n_speed == 0.0),
            mu: laws().map(|law| law.mu).fold(0.0, f64::max),
        }
    }
}

/// The warnings of a run that has come to this summary; energies below the `trifle` (J) are rounding.
pub(super) fn warnings(s: &Summary, record: &Record, trifle: f64, choices: Choices) -> Vec<String> {
    let step = if s.step_size_min.is_some() { "a smaller `accuracy` of [time]" } else { "a smaller time step" };
    let mut found = Vec::new();
    if let Some(squeeze) = &record.first_infeasible {
        let names = match &squeeze.bodies[..] {
            bodies if bodies.len() > NAMES => format!("{} and {} more", bodies[..NAMES].join(", "), bodies.len() - NAMES),
            bodies => bodies.join(", "),
        };
        let cure = if squeeze.driven { "slow or stop what drives them together" } else { "use a smaller time step" };
        found.push(format!(
            "{} steps have no solution, the first at t = {} s: {names} cannot keep out of each other (they give way by up to {:.2e} m/s; \
             overlaps come to {:.2e} m, {:.1} % of a body); move them apart at the start, give them room, or {cure}",
            s.infeasible_steps,
            instant(squeeze.time),
            squeeze.speed,
            s.penetration_run_max_m,
            100.0 * s.penetration_size_max
        ));
    }
    if let Some(first) = record.first_missed.map(instant) {
        found.push(format!(
            "{} of {} steps missed the tolerance of {:.0e}, the first at t = {first} s: halve the time step, or look at that step with \
             --export-problems and `drystone solve`",
            s.unconverged_steps - record.unsettled,
            s.steps,
            s.tolerance
        ));
    }
    if let Some(first) = record.first_unsettled.map(instant) {
        found.push(format!(
            "{} of {} steps met the tolerance, but their bodies were stopped on the way, or turned too far to be followed, the first at t = {first} s: \
             use {step}",
            record.unsettled, s.steps
        ));
    }
    if s.lagged_steps > 0 && s.lagged_defect_max > LAGGED.max(10.0 * s.tolerance) {
        found.push(format!(
            "{} of {} steps use lagged friction (the slip of a moment before decides how contacts open) and miss Coulomb's law by e_s {:.1e}: \
             halve the time step and compare",
            s.lagged_steps, s.steps, s.lagged_defect_max
        ));
    } else if record.unreached.way > CREPT {
        let lost = &record.unreached;
        let looser = (100.0 * s.tolerance).min(1e-3);
        let looser = if looser > s.tolerance { format!(" or use a tolerance of {looser:.0e}") } else { String::new() };
        found.push(format!(
            "{} of {} steps do not reach Coulomb's law at the tolerance of {:.0e}: their contacts slip or part by up to {:.1e} m/s too much, \
             over the run by up to {:.1} % of a body, and a pile may creep or not come to rest; halve the time step{looser}, and compare",
            lost.steps,
            s.steps,
            s.tolerance,
            lost.violation,
            100.0 * lost.way
        ));
    } else if record.unreached.steps > 0 {
        found.push(format!(
            "{} of {} steps do not reach Coulomb's law at the tolerance of {:.0e}: they were solved with lagged friction, which misses it by \
             e_s {:.1e} and moves contacts by up to {:.1e} m/s too much; little comes of it in this run; halve the time step and compare",
            record.unreached.steps, s.steps, s.tolerance, s.lagged_defect_max, record.unreached.violation
        ));
    }
    if s.violation_size_max > VIOLATION && s.infeasible_steps == 0 {
        found.push(format!(
            "contacts miss their law by up to {:.2e} m/s, {:.2} % of a body in a step: use a smaller tolerance than {:.0e}, or a smaller step",
            s.violation_max,
            100.0 * s.violation_size_max,
            s.tolerance
        ));
    }
    if s.penetration_size_max > OVERLAP && s.infeasible_steps == 0 {
        let cure = if choices.forecast {
            format!(
                "treatment = \"forecast\" closes contacts after up to a step of overlap and pushes none of it back, so that what rolls on an edge sinks \
                 further and further; use {step}, or \"gap_aware\""
            )
        } else {
            format!("use {step} or tolerance, and see with `drystone check` that they do not overlap at the start")
        };
        found.push(format!(
            "bodies overlap by up to {:.1} % of their smallest length ({:.2e} m): {cure}",
            100.0 * s.penetration_size_max,
            s.penetration_run_max_m
        ));
    }
    if s.stride_max > 1.0 {
        found.push(format!(
            "a body moves {:.1} times its smallest length in a step of {:e} s: what it passes is found, what it does there is coarse; \
             use a time step of at most {:.1e} s",
            s.stride_max,
            s.step_size,
            0.5 * s.step_size / s.stride_max
        ));
    }
    let e = &s.energy;
    // where nothing moves both sides of the balance are rounding
    let rounded = trifle.max(1e-5 * e.potential_J.abs()).max(1e-9 * record.pushed());
    let least = rounded.max(e.bond_work_J.abs()).max(e.crushing_work_J.abs());
    let moved = record.balance_scale().max(least);
    let defect = e.balance_error * record.balance_scale().max(1e-9 * e.potential_J.abs().max(record.pushed()));
    if defect > ENERGY[0] * moved {
        found.push(format!(
            "{:.1e} of the energy that moved is not accounted for: use a smaller time step; if it stays, please report the scene",
            e.balance_error
        ));
    }
    if e.impact_gain_J > ENERGY[0] * moved && moved > 0.0 {
        let cure = if choices.fremond {
            format!("in a gap-aware scene contacts move on between the steps of touching and parting; use {step}, or e_n = 0")
        } else {
            format!("Newton's law of impact may, where bodies bounce and rub; use impact = \"fremond\" in [contact], {step}, or e_n = 0")
        };
        found.push(format!(
            "impacts made {:.2e} J from nothing, {:.1e} of the energy that moved: {cure}",
            e.impact_gain_J,
            e.impact_gain_J / moved
        ));
    }
    if e.friction_gain_J > ENERGY[1] * moved && moved > 0.0 {
        found.push(format!(
            "friction gave {:.2e} J and normal reactions took it, in steps in which less moved: bodies are wedged (friction of up to {}), and what \
             presses them against each other has no bound; how they move holds, these two works and the forces of such steps do not: use a smaller \
             coefficient, {step} or a smaller tolerance",
            e.friction_gain_J, choices.mu
        ));
    }
    let lawful = e.impact_loss_J;
    let much = |lost: &f64| *lost > ELASTIC * moved && *lost > BEYOND * lawful && moved > 0.0;
    if let Some(lost) = e.restitution_loss_J.filter(much) {
        let law = if choices.elastic {
            "although e_n = 1 gives back all of it".to_owned()
        } else {
            format!("beyond the {lawful:.2e} J that e_n says")
        };
        found.push(format!(
            "impacts took {lost:.2e} J, {:.1} % of the energy that moved, {law}: bodies touch in one step and part \
             in the next, and what meets a body in between, or pulls at it, has its share; use {step}, or treatment = \"forecast\" in [time], \
             whose impacts end in the step in which they begin and keep their energy, for overlaps of up to what a body goes in a step",
            100.0 * lost / moved
        ));
    }
    // where nothing moves, both are the rounding of the energy itself, as in the balance
    // in a pile at rest both are large and cancel
    let net = e.overlap_work_J + e.normal_work_J.min(0.0);
    if net > ENERGY[1] * moved && moved > 0.0 {
        let cure = if choices.mu > 1.0 {
            format!(
                "remove overlaps at the start; where friction of more than 1 (here up to {}) wedges bodies between others, their overlaps stay \
                 whatever the step: use a smaller coefficient, or a smaller tolerance",
                choices.mu
            )
        } else {
            "remove overlaps at the start, or use a smaller step".to_owned()
        };
        found.push(format!("the correction of overlaps put in {net:.2e} J, {:.0} % of the energy that moved: {cure}", 100.0 * net / moved));
    }
    if let Some(shaken) = record.last_part.shaken(moved).filter(|_| s.infeasible_steps == 0) {
        found.push(format!(
            "bodies are shaken: in the last {:.2} s the correction of overlaps put in {:.1e} J, more than all that moves ({:.1e} J), so what should \
             rest does not; use a tolerance of {:.0e}",
            shaken.time,
            shaken.put_in,
            shaken.kinetic,
            0.01 * s.tolerance
        ));
    }
    if e.edge_loss_J > ENERGY[1] * moved && moved > 0.0 {
        found.push(format!(
            "bodies that roll on an edge or a rim lost {:.2e} J to the length of the step, {:.0} % of the energy that moved: use {step}; the \
             loss falls with it",
            e.edge_loss_J,
            100.0 * e.edge_loss_J / moved
        ));
    }
    // what friction gives is nobody's work; what impacts and wedged bodies make of it has been told
    let put = e.friction_work_J - e.friction_gain_J - e.impact_gain_J;
    if put > ENERGY[1] * moved && moved > 0.0 {
        found.push(format!(
            "friction put in {put:.2e} J, {:.0} % of the energy that moved, where it can only take: what rolls on an edge or a rim gains by the length \
             of the step; use {step}; the gain falls with it",
            100.0 * put / moved
        ));
    }
    if let Some(b) = s.bonds.filter(|b| b.turn_max_rad > TURN && b.loss_J > ENERGY[1] * moved) {
        found.push(format!(
            "bodies that are bound turn by up to {:.2} rad in a step, and their bonds took {:.2e} J, {:.0} % of the energy that moved, that no \
             damage released: use {step}",
            b.turn_max_rad,
            b.loss_J,
            100.0 * b.loss_J / moved
        ));
    }
    if let Some(c) = s.crushing.filter(|c| c.deepest_size > CRUSHED) {
        found.push(format!(
            "a joint is crushed by {:.1e} m, {:.0} % of its size: its pressure stays what it was however far that goes, also through a body, and what \
             falls so has fallen; use a larger `crushing`, or less load",
            c.deepest_m,
            100.0 * c.deepest_size
        ));
    }
    let forecast = |what: &str| match choices.forecast {
        true => String::new(),
        false => format!(" or, where little touches, treatment = \"forecast\", in which {what} lose nothing to the length of the step"),
    };
    let springs = e.spring_loss_J;
    if springs > ENERGY[1] * moved && springs > BEYOND * e.damper_loss_J && springs > UNSEEN * trifle && moved > 0.0 {
        found.push(format!(
            "springs and servos lost {springs:.2e} J to the length of the step, {:.0} % of the energy that moved: what swings on them dies away \
             too soon; use {step}{}",
            100.0 * springs / moved,
            forecast("springs")
        ));
    }
    let changes = e.step_change_loss_J;
    if changes.abs() > ENERGY[1] * moved && moved > 0.0 {
        found.push(format!(
            "steps that change their length {} {:.2e} J, {:.0} % of the energy that moved: use {step}, steps of one length{}",
            if changes > 0.0 { "took" } else { "put in" },
            changes.abs(),
            100.0 * changes.abs() / moved,
            forecast("bodies"),
        ));
    }
    // what a joint holds does not move against it, and what spins in it keeps its spin; an eccentric wheel hardly travels, and what shakes its
    // axle comes from its spin, while a gyroscope that sinks loses no more than what it has fallen by
    let (joints, travelled) = (e.joint_work_J - e.rope_loss_J, record.travelled().max(least));
    let spun = joints.abs() >= 2.0 * travelled;
    let least = if spun { SPUN } else { TRIFLE } * moved;
    if joints.abs() > (ENERGY[1] * travelled).max(least) && travelled > 0.0 {
        let what = if e.rope_loss_J.abs() > e.joint_work_J.abs() { "ropes and stops" } else { "joints" };
        let (whole, but) = if spun { (moved, "") } else { (travelled, " but for the spin of bodies") };
        let percent = 100.0 * joints.abs() / whole;
        found.push(format!(
            "{what} {} {:.2e} J, {percent:.*} % of the energy that moved{but}: use {step}{}, let contacts and joints not hold the same point, \
             and start bodies at velocities that their joints allow",
            if joints < 0.0 { "took" } else { "put in" },
            joints.abs(),
            if percent < 1.0 { 2 } else { 0 },
            forecast(what),
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Choices, warnings};
    use crate::diagnostics::summary::{Meter, Record, Summary};
    use crate::io::scene::{Scene, SceneSource};
    use crate::numerics::{Report, Status};
    use crate::simulation::StepReport;

    /// The warnings after so many steps that end so, each of which may move contacts by a part of a body.
    fn after(steps: usize, status: Status, part: f64) -> Result<Vec<String>, Box<dyn std::error::Error>> {
        let scene = Scene::load(&SceneSource::new("bouncing_ball"), &[])?;
        let mut built = crate::setup::build(&scene)?;
        let mut meter = Meter::new(&scene, &built.entities, &built.simulation);
        let report = Report { status, e_s: 1e-4, violation: 2e-3, ..Report::default() };
        let lagged = (status == Status::Lagged).then_some(1e-4);
        let step =
            StepReport { converged: lagged.is_none(), lagged, report, violation: 2e-3, violation_size: part, ..StepReport::default() };
        (0..steps).for_each(|_| meter.observe(&step, &built.simulation));
        Ok(meter.summary(&mut built.simulation).warnings)
    }

    #[test]
    fn steps_that_do_not_reach_the_law_are_named_where_they_may_move_a_pile() -> Result<(), Box<dyn std::error::Error>> {
        let warned = after(30, Status::Lagged, 1e-4)?;
        assert!(warned.len() == 1 && warned[0].contains("30 of ") && warned[0].contains("0.3 % of a body"), "{warned:?}");
        assert!(warned[0].contains("2.0e-3 m/s") && warned[0].contains("compare"), "{warned:?}");
        let harmless = after(2, Status::Lagged, 1e-6)?;
        assert!(harmless.len() == 1 && harmless[0].contains("2 of ") && harmless[0].contains("by e_s 1.0e-4"), "{harmless:?}");
        assert_eq!(after(30, Status::Converged, 1e-4)?, [""; 0], "what the tolerance allows");
        Ok(())
    }

    #[test]
    fn cures_are_those_that_the_scene_leaves() {
        let (mut s, record) = (Summary::default(), Record::default());
        s.energy.potential_J = 1e3;
        (s.energy.impact_gain_J, s.energy.overlap_work_J, s.energy.edge_loss_J) = (1.0, 1.0, 1.0);
        let told =
            |fremond: bool, mu: f64| warnings(&s, &record, 1e-9, Choices { forecast: false, fremond, elastic: false, mu }).join("\n");
        assert!(told(false, 0.5).contains("\"fremond\"") && !told(true, 0.5).contains("\"fremond\""));
        assert!(told(false, 2.0).contains("here up to 2") && told(false, 0.5).contains("or use a smaller step"));
        assert!(told(true, 2.0).contains("on an edge or a rim"));
    }

    #[test]
    fn friction_that_puts_in_energy_is_told_once() {
        let (mut s, record) = (Summary::default(), Record::default());
        s.energy.potential_J = 1e3;
        let told = |s: &Summary| {
            let choices = Choices { forecast: false, fremond: false, elastic: false, mu: 0.5 };
            warnings(s, &record, 1e-9, choices).iter().filter(|w| w.contains("friction put in 1.00e0 J")).count()
        };
        assert_eq!(told(&s), 0);
        s.energy.friction_work_J = 1.0;
        assert_eq!(told(&s), 1);
        s.energy.impact_gain_J = 1.0;
        assert_eq!(told(&s), 0, "told as what impacts made");
        (s.energy.impact_gain_J, s.energy.friction_work_J) = (0.0, -1.0);
        assert_eq!(told(&s), 0);
    }
}
