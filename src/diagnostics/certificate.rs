//! The summary of a run for people: what an engineer wants to read first.

use super::summary::{FlowFigures, Summary};
use super::verdict::{Outcome, Verdict};
use crate::numerics::Method;
use std::fmt;

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&table(self))
    }
}

fn table(s: &Summary) -> String {
    let mut lines = vec![format!("Certificate of {}", s.scene)];
    let mut line = |what: &str, value: String| lines.push(format!("  {what:<22}{value}"));
    let stopped = if s.interrupted { ", interrupted" } else { "" };
    let sizes = s.step_size_min.zip(s.step_size_max).map_or(short(s.step_size), |(low, high)| format!("{} to {}", short(low), short(high)));
    line("simulated", format!("{:.6} s in {} steps of {sizes} s{stopped}", s.time, s.steps));
    if s.threads > 0 {
        let plural = if s.threads == 1 { "" } else { "s" };
        line("computed", format!("{:.2} s on {} thread{plural} ({:.2} s of processor time)", s.wall_s, s.threads, s.cpu_s));
    }
    if let Some(rule) = &s.ended_early {
        line("ended early", rule.clone());
    }
    if let Some(verdict) = &s.verdict {
        line("verdict", words(verdict));
    }
    line("bodies, contacts", format!("{}, {}", s.bodies, s.contacts));
    line("largest displacement", length(s.displacement_max_m));
    line("largest speed now", format!("{} m/s", short(s.speed_max)));
    line("force on supports", format!("{} N", exact(s.support_force_N)));
    if let Some(incline) = &s.incline {
        let show = |x: Option<f64>, unit: &str| x.map_or("not measured".to_owned(), |x| format!("{}{unit}", exact(x)));
        line("acceleration", show(incline.acceleration, " m/s²"));
        line("its relative error", show(incline.acceleration_error, ""));
        line("creep", show(incline.creep_m, " m"));
    }
    if let Some(dam) = &s.dam {
        let factor = |x: Option<f64>| x.map_or("no load".to_owned(), |x| format!("{x:.4}{}", if x < 1.0 { "  FAILS" } else { "" }));
        line("sliding factor", factor(dam.sliding_factor));
        line("overturning factor", factor(dam.overturning_factor));
    }
    line("residual e_s", format!("max {}, median {} (asked {})", short(s.residual_max), short(s.residual_median), short(s.tolerance)));
    line("unconverged steps", format!("{} of {}, {:.1} sweeps a step", s.unconverged_steps, s.steps, s.iterations_mean));
    if s.ended_by.keys().any(|&method| method > Method::Sweeps) {
        let counts = s.ended_by.iter().map(|(method, steps)| format!("{method} {steps}"));
        line("steps ended by", counts.collect::<Vec<_>>().join(", "));
    }
    if s.lagged_steps > 0 {
        line(
            "lagged friction",
            format!("in {} steps, which miss Coulomb's law by e_s {} at most", s.lagged_steps, short(s.lagged_defect_max)),
        );
    }
    if s.rebounds_dropped_steps > 0 {
        let many = s.rebounds_dropped_steps;
        line("rebounds dropped", format!("in {many} steps, as friction holds what restitution would part"));
    }
    if s.overlaps_kept_steps > 0 {
        let many = s.overlaps_kept_steps;
        line("overlaps kept", format!("in {many} steps, as friction holds what would have to part for it"));
    }
    let infeasible = if s.infeasible_steps > 0 { format!(", {} without a solution", s.infeasible_steps) } else { String::new() };
    line("largest violation", format!("{} m/s, {} of a body in a step{infeasible}", short(s.violation_max), short(s.violation_size_max)));
    line("penetration", format!("{} at the end, {} at worst", length(s.penetration_max_m), length(s.penetration_run_max_m)));
    if let (Some(gap), Some(name)) = (s.joint_gap_max_m, &s.joint_gap_of) {
        let tilt = s.joint_tilt_max_rad.filter(|&t| t > 0.0).map_or(String::new(), |t| format!(", tilt {} rad", short(t)));
        line("largest joint gap", format!("{} ({name}){tilt}", length(gap)));
    }
    line("energy not accounted", format!("{} of what moved", short(s.energy.balance_error)));
    if s.energy.impact_gain_J > 0.0 {
        line("made by impacts", format!("{} J", short(s.energy.impact_gain_J)));
    }
    if s.energy.edge_loss_J > 1e-3 * s.energy.normal_work_J.abs() {
        line("lost on rolling edges", format!("{} J", short(s.energy.edge_loss_J)));
    }
    if let Some(b) = &s.bonds {
        let part = if b.area_m2 > 0.0 { 100.0 * b.lost_m2 / b.area_m2 } else { 0.0 };
        let lost = format!("{} damaged, {} broken, {} % of the area lost", b.damaged, b.broken, short(part));
        let taken = if b.loss_J > 1e-2 * b.released_J { format!(", {} J lost besides", short(b.loss_J)) } else { String::new() };
        line("bound joints", format!("{}: {lost}, {} J released{taken}", b.joints, short(b.released_J)));
    }
    if let Some(c) = &s.crushing {
        let part = if c.area_m2 > 0.0 { 100.0 * c.lost_m2 / c.area_m2 } else { 0.0 };
        let lost = format!("{} crushed, {} % of the area, by up to {}", c.crushed, short(part), length(c.deepest_m));
        line("crushing joints", format!("{}: {lost}, {} J", c.joints, short(-s.energy.crushing_work_J)));
    }
    for (name, flow) in &s.outlets {
        line("left", format!("{} bodies, {} kg, by {name}", flow.count, exact(flow.mass_kg)));
    }
    for (name, flow) in &s.inlets {
        line("came in", format!("{} bodies, {} kg, by {name}", flow.count, exact(flow.mass_kg)));
    }
    for (name, passed) in &s.surfaces {
        let told = |flow: &FlowFigures| format!("{} bodies, {} kg", flow.count, exact(flow.mass_kg));
        line("passed", format!("{} forward and {} back, {name}", told(&passed.forward), told(&passed.back)));
    }
    line("state hash", s.state_hash.clone());
    lines.extend(s.warnings.iter().map(|w| format!("  WARNING  {w}")));
    lines.join("\n")
}

/// A verdict in words.
fn words(v: &Verdict) -> String {
    let began = match (&v.began_with, v.began_s) {
        (Some(name), Some(t)) => format!("{name} left its place first, at {} s", short(t)),
        _ => "nothing left its place".to_owned(),
    };
    match (v.outcome, v.collapsed_s) {
        (Outcome::Stands, _) => format!("stands ({began}; largest way {} of a body)", short(v.way)),
        (Outcome::Displaced, _) => format!("displaced by up to {} of a body ({began})", short(v.way)),
        (Outcome::Collapsed, t) => format!("COLLAPSED at {} s ({began})", t.map_or_else(String::new, short)),
    }
}

/// Few digits.
fn short(x: f64) -> String {
    if x == 0.0 {
        "0".to_owned()
    } else if (1e-3..1e5).contains(&x.abs()) {
        format!("{x:.4}").trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{x:.1e}")
    }
}

/// Seven digits.
fn exact(x: f64) -> String {
    if x == 0.0 || (1e-3..1e7).contains(&x.abs()) {
        let before = libm::log10(x.abs()).floor().clamp(-4.0, 6.0);
        format!("{x:.*}", if x == 0.0 { 0 } else { (6.0 - before) as usize })
    } else {
        format!("{x:.3e}")
    }
}

/// Metres in the unit that people would say.
fn length(x: f64) -> String {
    match x.abs() {
        0.0 => "0".to_owned(),
        m if m >= 1e9 => format!("{x:.3e} m"),
        m if m >= 1.0 => format!("{x:.3} m"),
        m if m >= 1e-3 => format!("{:.3} mm", x * 1e3),
        m if m >= 1e-6 => format!("{:.3} µm", x * 1e6),
        m if m >= 1e-9 => format!("{:.3} nm", x * 1e9),
        _ => format!("{x:.1e} m"),
    }
}
