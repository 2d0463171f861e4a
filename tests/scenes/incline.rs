//! S5: a box on a slope near the angle of friction; `a = g (sin θ − μ cos θ)` or 0, whatever the direction of the slope.

use super::outside::Run;
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
