//! S5: a box on a slope near the angle of friction; `a = g (sin θ − μ cos θ)` or 0, whatever the direction of the slope.

use super::outside::Run;
use drystone::diagnostics::equilibrium::{Structure, admissible};
use drystone::io::scene::Scene;
use drystone::scenes::build;
use glam::DVec3;

/// Velocity down the slope (m/s) and way in the plane from the start (m), from the tables of a run that ends at `time`.
fn slide(scene: &[&str], time: &str, down: DVec3, residual: f64) -> (f64, f64) {
    let arguments: Vec<&str> = scene.iter().chain(&["--until", time]).copied().collect();
    let run = Run::of("box", &arguments);
    run.certified(residual);
    assert!((run.end[0].x.z - 0.05).abs() < 1e-12, "the box stays on the plane");
    (run.end[0].v.dot(down), (run.end[0].x - run.start[0].x).with_z(0.0).length())
}

#[test]
fn a_box_slides_as_coulomb_says_in_every_direction() {
    for (mu, heading) in [(0.3, 0.0), (0.3, 37.0), (0.577, 90.0), (0.577, 215.0)] {
        for offset in [-2.0, -0.5, 0.5, 2.0, 5.0] {
            let settings = [format!("mu={mu}"), format!("angle_offset_deg={offset}"), format!("heading_deg={heading}")];
            let scene = ["incline", "--set", &settings[0], "--set", &settings[1], "--set", &settings[2]];
            let (sine, cosine) = f64::to_radians(heading).sin_cos();
            let down = DVec3::new(cosine, sine, 0.0);
            let (early, late) = (slide(&scene, "0.6", down, 1e-9), slide(&scene, "1.5", down, 1e-9));
            let acceleration = (late.0 - early.0) / 0.9;
            let slope = f64::atan(mu) + f64::to_radians(offset);
            let exact = 9.81 * (slope.sin() - mu * slope.cos());
            if exact > 0.0 {
                assert!((acceleration / exact - 1.0).abs() < 1e-6, "{settings:?}: {acceleration} m/s² of {exact} m/s²");
            } else {
                assert!(acceleration.abs() < 1e-9 && late.1 <= 1e-8, "{settings:?}: creeps {} m", late.1);
            }
        }
    }
}

/// A drum of so many sides, twice as high as wide, on an equal one or on a plane, with gravity that leans by this much towards a corner of both.
fn drums(sides: usize, lean: f64, plane: bool) -> Scene {
    let corner = |k: usize| (std::f64::consts::TAU * k as f64 / sides as f64).sin_cos();
    let points: Vec<String> =
        (0..sides).flat_map(|k| [-0.2, 0.2].map(|z| format!("[{}, {}, {z}]", 0.1 * corner(k).1, 0.1 * corner(k).0))).collect();
    let hull = format!("shape = {{ kind = \"hull\", points = [{}] }}", points.join(", "));
    let below = if plane {
        "position = [0, 0, 0]\nshape = { kind = \"half_space\" }".to_owned()
    } else {
        format!("{hull}\nposition = [0, 0, -0.2]")
    };
    let (sine, cosine) = corner(1);
    let text = format!(
        "gravity = [{}, {}, -9]\n[time]\nstep = 2e-3\nend = 1\n[solver]\ntolerance = 1e-8\n[contact]\nmu = 2\n[[bodies]]\nname = \"below\"\n\
         {below}\nmotion = \"static\"\n[[bodies]]\nname = \"above\"\n{hull}\nposition = [0, 0, 0.2]\nmass = 3\n",
        9.0 * lean * cosine,
        9.0 * lean * sine
    );
    Scene::from_toml(&text, "t.toml").unwrap_or_else(|e| panic!("{text}{e}"))
}

#[test]
fn a_drum_of_many_sides_tips_over_its_true_corners() {
    for plane in [false, true] {
        let stands = |sides, lean| admissible(&Structure::of(&drums(sides, lean, plane), 0.0).unwrap().solve());
        for sides in [6, 16, 20, 32] {
            assert_eq!((stands(sides, 0.499), stands(sides, 0.501)), (Some(true), Some(false)), "{sides} {plane}");
        }
        // half of a percent of the width of the patch is lost
        assert_eq!((stands(64, 0.497), stands(64, 0.501)), (Some(true), Some(false)), "{plane}");
    }
    for (lean, moved) in [(0.495, false), (0.505, true)] {
        let mut sim = build(&drums(16, lean, false)).unwrap().simulation;
        sim.run_until(1.0).unwrap();
        let world = sim.world_mut();
        let high = world.query::<&drystone::model::newton_euler::BodyPose>().iter(world).map(|p| p.0.position.z).fold(f64::MIN, f64::max);
        assert_eq!((high - 0.2).abs() > 1e-3, moved, "{lean}: {high}");
    }
}
