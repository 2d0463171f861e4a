//! The built-in hopper, small: nothing leaves before the gate opens, everything after it, at a steady rate between.

use drystone::model::newton_euler::BodyPose;
use drystone::scenes::{build, load};

fn discharge(settings: &[(&str, &str)]) -> (Vec<(f64, f64)>, drystone::scenes::Built) {
    let scene = load("hopper", settings).expect("a scene");
    let mut built = build(&scene).expect("builds");
    let mut curve = Vec::new();
    while built.simulation.time() < scene.time.end - 1e-9 {
        let report = built.simulation.step().expect("a step");
        assert!(report.penetration < 1.5e-4, "t = {}: {}", report.time, report.penetration);
        curve.push((report.time, built.simulation.flow(built.outlets[0]).expect("an outlet").mass));
    }
    (curve, built)
}

#[test]
fn a_small_hopper_empties_through_its_gate() {
    for (angle, bottom) in [("30", "0.14"), ("90", "0.01")] {
        let settings = [("n", "200"), ("open", "0.3"), ("end", "1"), ("angle", angle), ("generate.pour.0.bottom", bottom)];
        let (curve, built) = discharge(&settings);
        let flow = built.simulation.flow(built.outlets[0]).expect("an outlet");
        assert!(curve.iter().all(|&(t, mass)| t > 0.3 || mass == 0.0), "the gate is tight");
        assert!(curve.windows(2).all(|w| w[0].1 <= w[1].1));
        // a cone empties, a flat floor keeps what lies beside its hole
        let kept = 200 - flow.count;
        assert!(if angle == "30" { kept == 0 } else { (20..190).contains(&kept) }, "{angle} deg: {kept} kept");
        let balance = built.simulation.balance();
        assert!(balance.error() < 1e-9 && balance.outlets.kinetic > 0.0 && balance.outlets.potential < 0.0);
    }
}

#[test]
fn the_discharge_is_the_same_on_any_number_of_threads() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let (curve, mut built) = discharge(&[("n", "200"), ("open", "0.25"), ("end", "0.5")]);
            (curve, built.simulation.state_hash())
        })
    };
    assert_eq!(on(1), on(2));
}

#[test]
fn grains_rest_inside_before_it_opens() {
    let scene = load("hopper", &[("n", "200"), ("open", "2"), ("end", "0.5")]).expect("a scene");
    let mut built = build(&scene).expect("builds");
    built.simulation.run_until(0.5).expect("runs");
    let world = built.simulation.world();
    for grain in &built.entities[2..] {
        let x = world.get::<BodyPose>(*grain).expect("inside").0.position;
        let radius = 0.024 + x.z * 30f64.to_radians().tan();
        assert!(x.z > 0.0026 && x.x.hypot(x.y) < radius, "{x}");
    }
}
