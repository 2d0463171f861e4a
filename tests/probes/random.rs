//! Scenes at random, as strangers make them: a few bodies of any shape, mass and spin, thrown among walls that lean.

use super::run_text;
use drystone::algebra::random::Sequence;
use std::f64::consts::PI;

/// One of `choices`.
fn pick<T: Copy>(at: &mut Sequence, choices: &[T]) -> T {
    choices[(at.next_uniform() * choices.len() as f64) as usize]
}

/// A body of this shape (0: a ball, 1: a cuboid, 2: a capsule, else a cylinder) and about this radius.
fn shape(at: &mut Sequence, kind: u32, r: f64) -> String {
    match kind {
        0 => format!("kind = \"ball\", radius = {r}"),
        1 => format!("kind = \"cuboid\", size = {:?}", [0; 3].map(|_| r * at.next_between(0.5, 2.0))),
        2 => format!("kind = \"capsule\", radius = {0}, half_height = {0}", 0.6 * r),
        _ => format!("kind = \"cylinder\", radius = {}, half_height = {}", 0.7 * r, 0.6 * r),
    }
}

/// A half-space that does not move.
fn wall(name: &str, position: [f64; 3], normal: [f64; 3]) -> String {
    format!(
        "[[bodies]]\nname = \"{name}\"\nmotion = \"static\"\nposition = {position:?}\nshape = {{ kind = \"half_space\", normal = {normal:?} }}\n"
    )
}

/// A scene of 300 steps, and what it is about.
fn scene(seed: u64) -> (String, String) {
    let mut at = Sequence::new(seed);
    let friction = pick(&mut at, &[0.2, 0.5, 0.8, 1.0, 2.0, 3.0, 5.0]);
    let (tolerance, h) = (pick(&mut at, &[1e-4, 1e-6, 1e-8, 1e-10]), pick(&mut at, &[5e-4, 1e-3, 2e-3, 5e-3]));
    let (bodies, walls) = (pick(&mut at, &[1, 1, 2, 3, 5, 8]), pick(&mut at, &[0, 1, 2, 3]));
    let e = pick(&mut at, &[0.0, 0.0, 0.0, 0.5]);
    let gravity = [at.next_between(-5.0, 5.0), at.next_between(-5.0, 5.0), -9.81];
    let mut text = format!(
        "gravity = {gravity:?}\ntime = {{ step = {h:e}, end = {} }}\nsolver = {{ tolerance = {tolerance:e} }}\ncontact = {{ mu = {friction}, e_n = {e} }}\n",
        300.0 * h
    );
    text += &wall("floor", [0.0; 3], [0.0, 0.0, 1.0]);
    for k in 0..walls {
        let (sin, cos) = at.next_between(0.0, 2.0 * PI).sin_cos();
        text += &wall(&format!("wall{k}"), [-0.6 * cos, -0.6 * sin, 0.0], [cos, sin, at.next_between(-0.3, 0.5)]);
    }
    let alike = at.next_uniform() < 0.5;
    for i in 0..bodies {
        let r = at.next_between(0.05, 0.12);
        let kind = pick(&mut at, &[0, 1, 1, 2, 3]);
        let shape = shape(&mut at, kind, r);
        let mass = if alike { 1.0 } else { 10_f64.powf(at.next_between(-1.0, 2.0)) };
        let axis = [0; 3].map(|_| at.next_between(-1.0, 1.0));
        let angle = pick(&mut at, &[0.0, 1.0, 1.0]) * at.next_between(-PI, PI);
        let place = [at.next_between(-0.2, 0.2), at.next_between(-0.2, 0.2), 0.2 + 0.28 * f64::from(i)];
        let velocity = [at.next_between(-2.0, 2.0), at.next_between(-2.0, 2.0), at.next_between(-3.0, 0.0)];
        let spin = [0; 3].map(|_| at.next_between(-25.0, 25.0));
        text += &format!(
            "[[bodies]]\nname = \"b{i}\"\nshape = {{ {shape} }}\nmass = {mass}\nrotation = {{ axis = {axis:?}, angle = {angle} }}\nposition = {place:?}\n\
             velocity = {velocity:?}\nangular_velocity = {spin:?}\n"
        );
    }
    (text, format!("seed {seed}: mu {friction}, e {e}, {tolerance:e}, {h} s, {bodies} bodies, {walls} walls"))
}

/// A dozen bodies or two that are thrown into a box of half a metre at up to 20 m/s, in 100 steps in which they go farther than they are long.
fn crowd(seed: u64) -> (String, String) {
    let mut at = Sequence::new(seed);
    let friction = pick(&mut at, &[0.1, 0.3, 0.8, 2.0]);
    let (tolerance, h) = (pick(&mut at, &[1e-4, 1e-6]), pick(&mut at, &[2e-3, 4e-3, 8e-3]));
    let (bodies, kinds, e) = (pick(&mut at, &[12, 20, 27]), pick(&mut at, &[1, 3, 4]), pick(&mut at, &[0.0, 0.0, 0.5]));
    let ratio: f64 = pick(&mut at, &[1.0, 1.0, 1000.0]);
    let mut text = format!(
        "time = {{ step = {h:e}, end = {} }}\nsolver = {{ tolerance = {tolerance:e} }}\ncontact = {{ mu = {friction}, e_n = {e} }}\n",
        100.0 * h
    );
    text += &wall("floor", [0.0; 3], [0.0, 0.0, 1.0]);
    for (k, [x, y]) in [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]].into_iter().enumerate() {
        text += &wall(&format!("wall{k}"), [-0.45 * x, -0.45 * y, 0.0], [x, y, at.next_between(0.0, 0.4)]);
    }
    for i in 0..bodies {
        let (kind, r) = ((at.next_uniform() * f64::from(kinds)) as u32, at.next_between(0.05, 0.09));
        let shape = shape(&mut at, kind, r);
        let mass = ratio.powf(at.next_uniform());
        let axis = [0; 3].map(|_| at.next_between(-1.0, 1.0));
        let place = [0.3 * f64::from(i % 3 - 1), 0.3 * f64::from(i / 3 % 3 - 1), 0.2 + 0.3 * f64::from(i / 9)];
        let velocity = [at.next_between(-10.0, 10.0), at.next_between(-10.0, 10.0), at.next_between(-20.0, 0.0)];
        let spin = [0; 3].map(|_| at.next_between(-60.0, 60.0));
        text += &format!(
            "[[bodies]]\nname = \"b{i}\"\nshape = {{ {shape} }}\nmass = {mass}\nrotation = {{ axis = {axis:?}, angle = {} }}\nposition = {place:?}\n\
             velocity = {velocity:?}\nangular_velocity = {spin:?}\n",
            at.next_between(-PI, PI)
        );
    }
    (text, format!("crowd {seed}: mu {friction}, e {e}, {tolerance:e}, {h} s, {bodies} bodies"))
}

/// A crowd among one to three cuboids that are driven through it and through the walls, whatever stands in between.
fn crushed(seed: u64) -> (String, String) {
    let (mut text, about) = crowd(seed);
    let mut at = Sequence::new(seed + 1_000_000);
    let driven = pick(&mut at, &[1, 2, 3]);
    for k in 0..driven {
        let size = [[0.05, 0.4], [0.05, 0.4], [0.05, 0.2]].map(|[least, most]| at.next_between(least, most));
        let place = [at.next_between(-0.3, 0.3), at.next_between(-0.3, 0.3), at.next_between(-0.3, 0.0)];
        let velocity = [at.next_between(-1.0, 1.0), at.next_between(-1.0, 1.0), at.next_between(0.0, 1.0)];
        let spin = [0; 3].map(|_| at.next_between(-10.0, 10.0));
        text += &format!(
            "[[bodies]]\nname = \"driven{k}\"\nshape = {{ kind = \"cuboid\", size = {size:?} }}\nposition = {place:?}\n\
             motion = {{ kind = \"constant\", velocity = {velocity:?}, angular_velocity = {spin:?} }}\n"
        );
    }
    (text, format!("{about}, {driven} driven"))
}

/// No step of these crowds is missed, and no bodies overlap by more than so many per cent of the smaller one (from 1 on, the run tells).
fn assert_apart(seeds: impl IntoIterator<Item = u64>, most: f64) {
    let overlap = |w: &String| w.strip_prefix("bodies overlap by up to ")?.split(' ').next()?.parse().ok();
    for seed in seeds {
        let (text, about) = crowd(seed);
        let (_, s) = run_text(&text);
        assert_eq!((s.steps, s.unconverged_steps, s.infeasible_steps), (100, 0, 0), "{about}\n{s}");
        assert!(s.warnings.iter().find_map(overlap).unwrap_or(0.0) <= most, "{about}\n{s}");
        assert!(s.energy.balance_error < 1e-9, "{about}\n{s}");
    }
}

/// Whoever went along with a body that waited went on into it, by up to a third of a body; in 835 all islands were within the tolerance, and the whole was not.
#[test]
fn what_a_body_that_waits_holds_up_waits_behind_it() {
    assert_apart([387, 717, 835, 861, 1430, 1631, 1704, 1940, 2052, 2277, 2669, 2829, 2947], 0.0);
}

#[test]
#[ignore = "a minute: cargo test --release --test probes -- --ignored three_thousand"]
fn three_thousand_crowds_at_random_keep_out_of_each_other() {
    assert_apart(0..3000, 3.0);
}

/// How many steps of these crowds that are crushed are missed, and how many have no solution; under this law of friction, with more of the law of contacts.
fn missed_and_jammed(seeds: impl IntoIterator<Item = u64>, law: &str, more: &str) -> [u64; 2] {
    let mut sums = [0; 2];
    for seed in seeds {
        let (text, about) = crushed(seed);
        let text = text.replace("solver = { ", &format!("solver = {{ friction = \"{law}\", "));
        let (_, s) = run_text(&text.replace("contact = { ", &format!("contact = {{ {more}")));
        assert!(s.steps == 100 && s.energy.balance_error < 1e-9, "{about}\n{s}");
        // what has no solution gives way by what drives it, and no further: a metre a second, and a spin on an arm of 0.3 m
        assert!(s.penetration_run_max_m < 0.5 && s.speed_max < 40.0, "{about}\n{s}");
        sums = [sums[0] + s.unconverged_steps, sums[1] + s.infeasible_steps];
    }
    sums
}

/// They missed 1 to 14 steps each, as contacts that give way were followed by a method that does not know the derivative of the shift.
#[test]
fn crowds_that_are_crushed_are_proved_to_be() {
    let [missed, jammed] = missed_and_jammed([10, 12, 16, 18, 19, 26, 39, 63, 64, 95], "exact", "");
    assert!(missed == 0 && jammed > 100, "{missed} missed, {jammed} jammed");
}

/// Reactions that did 5e9 J of work against each other passed for a solution of one step, and 4e-8 of the energy was lost to rounding: that step is a jam.
#[test]
fn what_works_beyond_all_bounds_is_no_solution() {
    let [missed, jammed] = missed_and_jammed([102], "exact", "");
    assert!(missed == 0 && jammed > 0, "{missed} missed, {jammed} jammed");
}

/// Their law is convex: followed as Coulomb's they missed six steps.
#[test]
fn crushed_crowds_of_lagged_friction_are_proved_to_be() {
    let [missed, jammed] = missed_and_jammed([10, 16, 18, 26], "lagged", "");
    assert!(missed == 0 && jammed > 100, "{missed} missed, {jammed} jammed");
}

/// Jams of contacts with moments could not be proved: these missed 4 to 72 steps each, and took a hundred times as long.
#[test]
fn crushed_crowds_that_resist_rolling_or_drilling_are_proved_to_be() {
    for (seeds, more) in [([10, 12, 16, 18, 26, 62, 63], ROLLING), ([10, 16, 26, 39, 63, 65, 95], DRILLING)] {
        let [missed, jammed] = missed_and_jammed(seeds, "exact", more);
        assert!(missed == 0 && jammed > 50, "{more}: {missed} missed, {jammed} jammed");
    }
}

const ROLLING: &str = "mu_r = 0.02, mu_t = 0.02, ";
const DRILLING: &str = "mu_r = 0.02, patch = 0.02, ";

/// Bodies that are met before and behind in turn, and paths beyond a fold.
#[test]
#[ignore = "two minutes: cargo test --release --test probes -- --ignored crushed_crowds"]
fn crushed_crowds_at_random_that_resist_rolling_or_drilling_miss_few_steps() {
    for more in [ROLLING, DRILLING] {
        let [missed, jammed] = missed_and_jammed(0..150, "exact", more);
        assert!(missed <= 15 && jammed > 1000, "{more}: {missed} missed, {jammed} jammed");
    }
}

/// Six are missed: paths beyond a fold, and bodies that are met before and behind in turn.
#[test]
#[ignore = "20 s: cargo test --release --test probes -- --ignored crushed_crowds"]
fn crushed_crowds_at_random_miss_few_steps() {
    let [missed, jammed] = missed_and_jammed(0..150, "exact", "");
    assert!(missed <= 6 && jammed > 800, "{missed} missed, {jammed} jammed");
}

/// No step of these scenes is missed, and no more than a part `lost` of the energy that moved is not accounted for; gives how many steps did not feed an
/// overlap back.
fn assert_solved(seeds: impl IntoIterator<Item = u64>, more: &str, lost: f64) -> u64 {
    let mut kept = 0;
    for seed in seeds {
        let (text, about) = scene(seed);
        let (_, s) = run_text(&text.replace("contact = { ", &format!("contact = {{ {more}")));
        assert_eq!((s.steps, s.unconverged_steps, s.infeasible_steps), (300, 0, 0), "{about}\n{s}");
        assert!(s.energy.balance_error < lost, "{about}\n{s}");
        kept += s.overlaps_kept_steps;
    }
    kept
}

/// Two in a hundred missed steps, as friction held what was asked to part.
#[test]
fn a_hundred_scenes_at_random_miss_no_step() {
    assert!(assert_solved(0..100, "", 1e-9) > 0);
}

/// Some steps of theirs have a solution in which wedged bodies do so much work against each other that rounding lost 1.4e-6 and 4.4e-6 of what moved.
#[test]
fn what_wedged_bodies_grow_against_each_other_is_not_asked_for() {
    for (text, about) in [scene(1590), scene(2001)] {
        let (_, s) = run_text(&text);
        assert!(s.unconverged_steps == 0 && s.infeasible_steps < 5 && s.overlaps_kept_steps > 10, "{about}\n{s}");
        assert!(s.energy.balance_error < 1e-11, "{about}\n{s}");
    }
}

/// What was asked of wedged bodies did up to half of the work of their contacts, in steps that sweeps solved.
#[test]
fn what_is_asked_of_wedged_bodies_does_next_to_no_work() {
    for (text, about) in [scene(1725), crushed(63), crushed(46)] {
        let (_, s) = run_text(&text);
        assert!(s.unconverged_steps == 0 && s.overlaps_kept_steps > 0, "{about}\n{s}");
        assert!(s.energy.overlap_work_J < 1e-2 * -s.energy.normal_work_J, "{about}\n{s}");
    }
}

/// Two contacts of a wedged body pressed against each other with 3e6 N s and passed on 3e5 J in a step in which 200 J moved, unseen and untold.
#[test]
fn wedged_bodies_bear_what_loads_ask_of_them() {
    let (text, about) = scene(30);
    for (change, most) in [(["1e-4", "1e-6"], 0.0), (["5e-3", "2.5e-3"], 1.5e3)] {
        let (_, s) = run_text(&text.replacen(change[0], change[1], 1));
        assert!(s.unconverged_steps == 0 && s.energy.friction_work_J < 0.0 && s.energy.friction_gain_J <= most, "{about}\n{s}");
        let told = s.warnings.iter().any(|w| w.starts_with("friction gave"));
        assert_eq!(told, s.energy.friction_gain_J > 0.0, "{about}\n{s}");
    }
}

/// Overlaps that moments hold were jams, though nothing is driven, or missed.
#[test]
fn what_moments_wedge_is_not_asked_for() {
    assert!(assert_solved([29, 144], ROLLING, 1e-9) > 0);
    assert!(assert_solved([12, 50], DRILLING, 1e-9) > 0);
}

#[test]
#[ignore = "half a minute: cargo test --release --test probes -- --ignored a_thousand_scenes"]
fn a_thousand_scenes_at_random_miss_no_step() {
    assert_solved(100..1100, "", 1e-9);
}
