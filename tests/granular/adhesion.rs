//! Attraction between bodies that touch, against closed forms.

use drystone::cluster::Signal;
use drystone::diagnostics::summary::Summary;
use drystone::io::scene::Scene;
use drystone::io::view::Window;
use drystone::model::signal::BodyQuantity;
use drystone::scenes::Built;

const G: f64 = 9.81;
/// Mass of a ball of r = 1 cm and 2500 kg/m³.
const MASS: f64 = 2500.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-6;

fn run(step: f64, end: f64, law: &str, bodies: &str) -> (Built, Summary) {
    under(G, step, end, law, bodies)
}

fn under(gravity: f64, step: f64, end: f64, law: &str, bodies: &str) -> (Built, Summary) {
    let text = format!(
        "gravity = [0, 0, {}]\n[time]\nstep = {step}\nend = {end}\n[solver]\ntolerance = 1e-10\n[[materials]]\nname = \"m\"\ndensity = 2500\n[contact]\n{law}\n{bodies}",
        -gravity
    );
    let scene = Scene::from_toml(&text, "adhesion").unwrap_or_else(|e| panic!("{e}"));
    let (built, summary) = drystone::scenes::run(&scene).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((summary.unconverged_steps, summary.infeasible_steps), (0, 0));
    // what stands moves no energy to hold the balance against
    assert!(summary.energy.balance_error < 1e-10 || summary.displacement_max_m < 1e-9, "{}", summary.energy.balance_error);
    (built, summary)
}

fn ball(position: [f64; 3], more: &str) -> String {
    format!("[[bodies]]\nname = \"ball\"\nshape = {{ kind = \"ball\", radius = \"1 cm\" }}\nposition = {position:?}\n{more}\n")
}

const FLOOR: &str = "[[bodies]]\nname = \"floor\"\nshape = { kind = \"half_space\" }\nmotion = \"static\"\n";
const CEILING: &str = "[[bodies]]\nname = \"ceiling\"\nshape = { kind = \"half_space\", normal = [0, 0, -1] }\nmotion = \"static\"\n";

#[test]
fn a_ball_hangs_under_a_ceiling_as_long_as_the_attraction_carries_it() {
    for step in [5e-4, 1e-3, 4e-3] {
        for (factor, hangs) in [(1.001, true), (0.999, false)] {
            let law = format!("adhesion = {}", factor * MASS * G);
            let (_, s) = run(step, 0.4, &law, &format!("{CEILING}{}", ball([0.0, 0.0, -0.01], "")));
            if hangs {
                assert!(s.displacement_max_m < 1e-9 && (s.support_force_N / (MASS * G) - 1.0).abs() < 1e-9, "{step}: {s}");
            } else {
                // free once it is a step away
                let fallen = 0.5 * G * 0.4f64.powi(2);
                assert!((s.displacement_max_m / fallen - 1.0).abs() < 0.03 && s.support_force_N.abs() < 1e-12, "{step}: {s}");
            }
        }
    }
}

#[test]
fn a_ball_is_torn_off_the_floor_by_its_weight_and_the_attraction() {
    let (pull, weight) = (0.3, MASS * G);
    for (factor, stays) in [(0.999, true), (1.001, false)] {
        let force = format!("force = [0, 0, {}]", factor * (weight + pull));
        let (_, s) = run(1e-3, 0.2, &format!("adhesion = {pull}"), &format!("{FLOOR}{}", ball([0.0, 0.0, 0.01], &force)));
        assert_eq!(s.displacement_max_m < 1e-9, stays, "{factor}: {s}");
    }
}

#[test]
fn friction_grips_with_what_attraction_presses() {
    // a block of 10 cm, eight corners of which stand on the floor
    let (mass, pull, mu) = (2.5, 40.0, 0.4);
    for (factor, slips) in [(0.999, false), (1.01, true)] {
        let push = factor * mu * (mass * G + pull);
        let block = format!(
            "[[bodies]]\nname = \"block\"\nshape = {{ kind = \"cuboid\", size = [0.1, 0.1, 0.1] }}\nposition = [0, 0, 0.05]\n\
             force = [{push}, 0, 0]\ntorque = [0, {}, 0]\n",
            -0.05 * push
        );
        let (_, s) = run(1e-3, 0.3, &format!("mu = {mu}\nadhesion = {pull}"), &format!("{FLOOR}{block}"));
        if slips {
            let slid = 0.5 * (factor - 1.0) * mu * (mass * G + pull) / mass * 0.3f64.powi(2);
            assert!((s.displacement_max_m / slid - 1.0).abs() < 0.01, "{s}");
        } else {
            assert!(s.displacement_max_m < 1e-9, "{s}");
        }
    }
}

#[test]
fn a_ball_leaves_what_attracts_it_if_it_is_fast_enough_and_pays_the_work() {
    let (pull, range) = (0.5, 2e-3);
    let needed = (2.0 * pull * range / MASS).sqrt();
    for (factor, leaves) in [(0.97, false), (1.03, true)] {
        let body = ball([0.0, 0.0, 0.01], &format!("velocity = [0, 0, {}]", factor * needed));
        let law = format!("adhesion = {pull}\nadhesion_range = {range}");
        let (_, s) = under(0.0, 1e-5, 0.05, &law, &format!("{FLOOR}{body}"));
        assert_eq!(s.speed_max > 1e-3, leaves, "{factor}: {s}");
        if leaves {
            assert!((s.energy.adhesion_work_J / (-pull * range) - 1.0).abs() < 0.01, "{}", s.energy.adhesion_work_J);
        }
    }
}

#[test]
fn what_leaves_an_attraction_within_a_step_pays_for_the_part_of_it_in_which_it_acts() {
    let (pull, range) = (0.5, 2e-3);
    let needed = (2.0 * pull * range / MASS).sqrt();
    // up to two thirds of the range in a step
    for (step, law) in [3e-4, 1e-3].into_iter().flat_map(|h| [(h, "adhesion_range"), (h, "rupture")]) {
        let (v, law) = (3.0 * needed, format!("adhesion = {pull}\n{law} = {range}"));
        let (_, s) = under(0.0, step, 0.02, &law, &format!("{FLOOR}{}", ball([0.0, 0.0, 0.01], &format!("velocity = [0, 0, {v}]"))));
        let after = (v * v - needed * needed).sqrt();
        // places go with the velocity of the end of a step
        let euler = 0.5 * step * (v - after) / range;
        let paid = s.energy.adhesion_work_J / (-pull * range);
        assert!(
            (paid - 1.0 - euler).abs() < 0.01 && (s.speed_max / after - 1.0).abs() < 2e-3,
            "{law} {step}: {paid} {} {after}",
            s.speed_max
        );
    }
    // in the first step, from the touch to beyond the range
    for law in ["adhesion_range", "rupture"] {
        let (v, law) = (3.0 * needed, format!("adhesion = {pull}\n{law} = {range}"));
        let (_, s) = under(0.0, 4e-3, 0.02, &law, &format!("{FLOOR}{}", ball([0.0, 0.0, 0.01], &format!("velocity = [0, 0, {v}]"))));
        assert!((s.energy.adhesion_work_J / (-pull * range) - 1.0).abs() < 1e-6, "{law}: {}", s.energy.adhesion_work_J);
    }
    // one that comes by: what it gains on the way in it pays on the way out
    for step in [3e-4, 1e-3] {
        let body = ball([0.0, 0.0, 0.0173], "velocity = [0, 0, -0.8]");
        let law = format!("mu = 0\ne_n = 1\nadhesion = {pull}\nadhesion_range = {range}");
        let (_, s) = under(0.0, step, 0.06, &law, &format!("{FLOOR}{body}"));
        assert!((s.speed_max / 0.8 - 1.0).abs() < 0.01, "{step}: {}", s.speed_max);
    }
}

#[test]
fn a_liquid_bridge_forms_on_touch_and_its_rupture_costs_the_force_times_the_distance() {
    // an elastic ball comes to a floor: nothing pulls before they touch, what pulls afterwards is paid at each rebound
    let (pull, rupture, v) = (0.5, 1e-3, 0.5);
    let after = (v * v - 2.0 * pull * rupture / MASS).sqrt();
    for step in [2e-5, 1e-5] {
        let body = ball([0.0, 0.0, 0.015], &format!("velocity = [0, 0, {}]", -v));
        let law = format!("e_n = 1\nadhesion = {pull}\nrupture = {rupture}");
        let (_, s) = under(0.0, step, 0.03, &law, &format!("{FLOOR}{body}"));
        assert!((s.energy.adhesion_work_J / (-pull * rupture) - 1.0).abs() < 0.03, "{step}: {}", s.energy.adhesion_work_J);
        assert!((s.speed_max / after - 1.0).abs() < 0.01, "{step}: {} {after}", s.speed_max);
    }
    // too slow to break it: it comes back to the floor and stays
    let slow = ball([0.0, 0.0, 0.015], "velocity = [0, 0, -0.25]");
    let law = format!("e_n = 0.9\nadhesion = {pull}\nrupture = {rupture}");
    let (built, s) = under(0.0, 2e-5, 0.3, &law, &format!("{FLOOR}{slow}"));
    let z = built.simulation.world().get::<drystone::model::newton_euler::BodyPose>(built.entities[1]).unwrap().0.position.z;
    assert!((z - 0.01).abs() < 1e-6 && s.speed_max < 1e-6, "{z} {s}");
    // within the distance but never touched
    let near = ball([0.0, 0.0, 0.0105], "");
    let (_, s) = under(0.0, 1e-4, 0.05, &law, &format!("{FLOOR}{near}"));
    assert!(s.displacement_max_m == 0.0, "{s}");
}

#[test]
fn balls_that_cling_stay_together_whatever_the_step() {
    for step in [2.5e-4, 1e-3, 4e-3] {
        let pair = "[[bodies]]\nname = \"a\"\nshape = { kind = \"ball\", radius = \"1 cm\" }\nposition = [0, 0, 0]\nvelocity = [0.05, 0, 0]\n\
                    angular_velocity = [0, 0, 3]\n[[bodies]]\nname = \"b\"\nshape = { kind = \"ball\", radius = \"1 cm\" }\nposition = [0.05, 0, 0]\n";
        let (built, s) = under(0.0, step, 3.0, "adhesion = 0.01\nadhesion_range = \"0.1 mm\"", pair);
        let world = built.simulation.world();
        let [a, b] = [0, 1].map(|i| world.get::<drystone::model::newton_euler::BodyPose>(built.entities[i]).unwrap().0.position);
        assert!((a.distance(b) - 0.02).abs() < 1e-4 + 1e-9, "{step}: {} {s}", a.distance(b));
    }
}

#[test]
fn what_drives_a_body_does_the_work_that_attraction_passes_on() {
    let value = |built: &Built, body: usize| {
        built.simulation.value(Signal::Body(built.entities[body], BodyQuantity::ContactZ)).unwrap_or_else(|e| panic!("{e}"))
    };
    for step in [5e-4, 1e-3, 4e-3] {
        // a ceiling that rises at 0.1 m/s takes the ball along that hangs under it
        let ceiling = CEILING.replace("\"static\"", "{ kind = \"constant\", velocity = [0, 0, 0.1] }");
        let law = format!("adhesion = {}", 2.0 * MASS * G);
        let (built, s) = run(step, 0.2, &law, &format!("{ceiling}{}", ball([0.0, 0.0, -0.01], "velocity = [0, 0, 0.1]")));
        let lifted = MASS * G * 0.02;
        assert!((s.energy.drive_work_J / lifted - 1.0).abs() < 1e-9 && s.energy.adhesion_work_J.abs() < 1e-12 * lifted, "{step}: {s}");
        // what pushes less what pulls
        assert!((value(&built, 1) / (MASS * G) - 1.0).abs() < 1e-9 && (value(&built, 0) + value(&built, 1)).abs() < 1e-12, "{step}");
    }
    // a ball that is held, and one that is drawn away from it: as far as the bridge holds, then beyond
    let (pull, rupture) = (0.5, 1e-3);
    let pair = format!(
        "{}[[joints]]\nkind = \"fixed\"\nbody1 = \"ball\"\nanchor = [0, 0, 0]\n[[bodies]]\nname = \"drawn\"\nshape = {{ kind = \"ball\", radius = \"1 cm\" }}\n\
         position = [0, 0, 0.02]\nmotion = {{ kind = \"constant\", velocity = [0, 0, 0.1] }}\n",
        ball([0.0; 3], "")
    );
    for (end, way, force) in [(5e-3, 5e-4, pull), (0.02, rupture, 0.0)] {
        let (built, s) = under(0.0, 1e-4, end, &format!("adhesion = {pull}\nrupture = {rupture}"), &pair);
        for work in [-s.energy.adhesion_work_J, s.energy.drive_work_J] {
            assert!((work / (pull * way) - 1.0).abs() < 0.03, "{way}: {work}");
        }
        assert!((value(&built, 0) - force).abs() < 1e-12 && (value(&built, 1) + force).abs() < 1e-12, "{}", value(&built, 0));
    }
}

#[test]
fn attraction_that_cannot_be_is_named() {
    for (law, message) in [
        ("adhesion = -1", "adhesion"),
        ("adhesion_range = 1", "without `adhesion`"),
        ("rupture = 1", "needs `adhesion`"),
        ("adhesion = 1\nadhesion_range = 1\nrupture = 1", "excludes"),
        ("adhesion = \"1 m\"", "force"),
    ] {
        let text = format!("[time]\nstep = 0.001\nend = 1\n[contact]\n{law}\n{FLOOR}");
        let error = Scene::from_toml(&text, "t").map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(message) && error.contains("t:"), "{error}");
    }
}

#[test]
fn attraction_at_a_distance_is_a_contact_of_tables_in_both_treatments() {
    for treatment in ["gap_aware", "forecast"] {
        let text = format!(
            "time = {{ step = 1e-4, end = 1e-3, treatment = \"{treatment}\" }}\ngravity = [0, 0, 0]\n\
             contact = {{ adhesion = 1e-3, adhesion_range = 1e-3 }}\n{FLOOR}{}",
            ball([0.0, 0.0, 0.0105], "")
        );
        let (mut built, _) = drystone::scenes::run(&Scene::from_toml(&text, "apart").expect("a scene")).expect("runs");
        built.simulation.step().expect("one more");
        let mut window = Window::new(built.entities);
        let snapshot = window.look(&built.simulation);
        let [contact] = snapshot.contacts else { panic!("{treatment}: {} contacts", snapshot.contacts.len()) };
        assert!(contact.gap > 4e-4 && (contact.normal_impulse * snapshot.per_step() + 1e-3).abs() < 1e-12, "{treatment}: {contact:?}");
    }
}

#[test]
fn a_ball_goes_round_another_as_long_as_the_attraction_bends_its_way() {
    let (speed, apart) = (0.05, 0.02);
    let needed = MASS * speed * speed / apart;
    let post = ball([0.0; 3], "motion = \"static\"").replace("\"ball\"\nshape", "\"post\"\nshape");
    let bodies = format!("{post}{}", ball([apart, 0.0, 0.0], "velocity = [0, 0.05, 0]"));
    for step in [2e-4, 1e-3, 4e-3] {
        for (factor, holds) in [(500.0, true), (1.05, true), (0.9, false)] {
            let law = format!("mu = 0\nadhesion = {}", factor * needed);
            let (built, s) = under(0.0, step, 2.0, &law, &bodies);
            let place = |quantity| built.simulation.value(Signal::Body(built.entities[1], quantity)).unwrap_or_else(|e| panic!("{e}"));
            let away = (place(BodyQuantity::X).powi(2) + place(BodyQuantity::Y).powi(2)).sqrt();
            println!("{step} s, {factor} of what it needs: {away} m from the middle, {s}");
            assert_eq!((away / apart - 1.0).abs() < 1e-3, holds, "{step} s, {factor}: {away} m");
            assert!(!holds || s.contacts == 1, "{step} s, {factor}");
        }
    }
}
