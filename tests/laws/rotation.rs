//! Torque-free rotation: Euler's equations between two stable axes.

use super::common::{FORECAST, Fallible, GAP_AWARE, pose, space, velocity};
use drystone::simulation::Body;
use glam::DVec3;

/// Times at which ω₂ changes its sign, and the worst relative drift of energy, |L| and the vector L.
fn flips(i: DVec3, omega: DVec3, treatment: drystone::model::scheme::Treatment) -> Fallible<(Vec<f64>, [f64; 3])> {
    let mut sim = space(1e-3, treatment, 0.0, 1e-12)?;
    let body = sim.spawn_body(Body::point(1.0, i).moving(DVec3::ZERO, omega))?;
    let energy = |w: DVec3| 0.5 * w.dot(i * w);
    let (e0, l0) = (energy(omega), i * omega);
    let (mut times, mut drift, mut before) = (Vec::new(), [0f64; 3], omega.y);
    while sim.time() < 90.0 {
        sim.step()?;
        let w = velocity(&sim, body).angular;
        if before * w.y < 0.0 {
            times.push(sim.time() - sim.time_step() * w.y / (w.y - before));
        }
        before = w.y;
        let l = pose(&sim, body).rotation * (i * w);
        let now = [energy(w) / e0 - 1.0, l.length() / l0.length() - 1.0, (l - l0).length() / l0.length()];
        drift.iter_mut().zip(now).for_each(|(d, x)| *d = d.max(x.abs()));
    }
    Ok((times, drift))
}

#[test]
fn a_body_that_spins_about_its_middle_axis_flips_at_the_elliptic_period() -> Fallible {
    let cases = [
        (DVec3::new(1.0, 10.0, 11.0), DVec3::new(0.0, 2.0, 1e-4), 6.1852, 12.370399),
        (DVec3::new(1.0, 2.0, 3.0), DVec3::new(0.01, 5.0, 0.0), 0.5 * 5.266055, 5.266055),
    ];
    for (i, omega, first, period) in cases {
        for treatment in [FORECAST, GAP_AWARE] {
            let (times, drift) = flips(i, omega, treatment)?;
            println!("{treatment:?} I = {i}: first flips {:.4?}, drift of E, |L|, L {drift:?}", &times[..4]);
            assert!((times[0] / first - 1.0).abs() < 1e-3, "{times:?}");
            for (n, time) in times.iter().enumerate() {
                let exact = first + n as f64 * period;
                assert!((time / exact - 1.0).abs() < 1e-3, "flip {n} at {time}, not {exact}");
            }
            assert!(times.windows(2).all(|t| ((t[1] - t[0]) / period - 1.0).abs() < 1e-3), "{times:?}");
            assert!(drift[0] < 1e-10 && drift[1] < 1e-10, "{drift:?}");
            if treatment == FORECAST {
                assert!(drift[2] < 1e-10, "L as a vector: {drift:?}");
            }
        }
    }
    Ok(())
}

#[test]
fn a_small_disturbance_of_the_middle_axis_grows_at_its_rate() -> Fallible {
    let mut sim = space(1e-3, FORECAST, 0.0, 1e-12)?;
    let body = sim.spawn_body(Body::point(1.0, DVec3::new(1.0, 2.0, 3.0)).moving(DVec3::ZERO, DVec3::new(1e-6, 5.0, 0.0)))?;
    // from ω₃ = 0, ω₁ = 1e-6 cosh(σ t)
    let mut at = |t: f64| -> Fallible<f64> {
        sim.run_until(t)?;
        Ok(velocity(&sim, body).angular.x)
    };
    let (a, b) = (at(1.0)?, at(2.0)?);
    let rate = (b / a).ln();
    assert!((rate - 2.886751).abs() < 0.01, "{rate}");
    Ok(())
}
