//! A block that a joint holds at the edge on which it also stands: it tips over as a pendulum does.

use super::common::{FORECAST, Fallible, G, GAP_AWARE, friction, pose, scene, velocity};
use drystone::geometry::Shape;
use drystone::model::scheme::Treatment;
use drystone::simulation::Body;
use glam::{DQuat, DVec3};

#[derive(Clone, Copy)]
struct Setup {
    /// Half-width and half-height (m), mass (kg).
    half: [f64; 2],
    mass: f64,
    /// Speed at the start, in parts of the one that just tips the block.
    spin: f64,
    mu: f64,
    heading: f64,
    /// Whether the floor is the top of a block.
    block: bool,
    treatment: Treatment,
    h: f64,
    tolerance: f64,
}

const DOMINO: Setup = Setup {
    half: [0.005, 0.03],
    mass: 0.02,
    spin: 1.05,
    mu: 0.3,
    heading: 0.0,
    block: false,
    treatment: GAP_AWARE,
    h: 1e-3,
    tolerance: 1e-6,
};

impl Setup {
    /// Distance of the centre from the edge; a block has the moment of inertia 4/3 m r² about it.
    fn radius(&self) -> f64 {
        self.half[0].hypot(self.half[1])
    }

    /// Square of the angular velocity at a tilt, by energy, for a start at `start`².
    fn square(&self, start: f64, tilt: f64) -> f64 {
        let [b, t] = self.half;
        start + 1.5 * G * (t - t * tilt.cos() - b * tilt.sin()) / self.radius().powi(2)
    }

    /// Lets the block go. Whether it tips, by how much ω² differs from that of the same tilt, in parts of g/r, until it has tipped to 70°
    /// or fallen back, and the largest velocity across the edge.
    fn run(&self) -> Fallible<(bool, f64, f64)> {
        let [b, t] = self.half;
        let needed = -self.square(0.0, (b / t).atan());
        let start = self.spin * self.spin * needed;
        let mut sim = scene(self.h, self.treatment, friction(self.mu), self.tolerance)?;
        let turn = DQuat::from_rotation_z(self.heading);
        let depth = 0.5 * t;
        // away from the origin, where coordinates have rounding
        let place = DVec3::new(0.3, 0.2, if self.block { 0.7 } else { 0.0 });
        if self.block {
            let size = DVec3::new(1.0, 1.0, 0.35);
            sim.spawn_body(Body::new(Shape::cuboid(size)?).fixed().named("plinth").at(place - DVec3::Z * size.z))?;
        }
        let (edge, spin) = (turn * DVec3::Y, start.sqrt());
        let (centre, pivot) = (place + DVec3::Z * t, place + turn * (DVec3::X * b));
        let stone = Body::new(Shape::cuboid(DVec3::new(b, depth, t))?).named("stone").at(centre).turned(turn);
        let stone = stone.mass(self.mass).moving((edge * spin).cross(centre - pivot)).spinning(DVec3::Y * spin);
        let stone = sim.spawn_body(stone)?;
        sim.spawn_joint(stone, None, pivot)?;
        let (mut worst, mut across) = (0f64, 0f64);
        while sim.time() < 3.0 {
            let report = sim.step()?;
            assert!(report.converged && !report.infeasible, "missed at {} s", sim.time());
            let pose = pose(&sim, stone);
            let spin = pose.rotation * velocity(&sim, stone).angular;
            let tilt = (pose.rotation * turn.conjugate()).to_scaled_axis().dot(edge);
            if tilt < 0.2 * self.h * start.sqrt() || tilt > 1.2 {
                return Ok((tilt > 1.2, worst, across));
            }
            let drift = pose.point(DVec3::new(b, 0.0, -t)).distance(pivot);
            assert!(drift < 1e-3 * b, "the hinge moves by {drift} m");
            let exact = self.square(start, tilt);
            worst = worst.max((spin.dot(edge).powi(2) - exact).abs() * self.radius() / G);
            across = across.max(spin.reject_from(edge).length());
        }
        Err("the block neither tips nor falls back".into())
    }
}

#[test]
fn a_block_hinged_at_the_edge_it_stands_on_keeps_its_energy_to_first_order() -> Fallible {
    for tolerance in [1e-3, 1e-5, 1e-8] {
        let error = |h| -> Fallible<f64> {
            let (tips, error, across) = Setup { h, tolerance, ..DOMINO }.run()?;
            println!("tolerance {tolerance}, h {h}: {error:.3e}, across {across:.1e}");
            assert!(tips && across < 1e-2, "tolerance {tolerance}, h {h}: across the edge {across}");
            Ok(error)
        };
        let errors = [error(2e-3)?, error(1e-3)?, error(5e-4)?];
        assert!(errors[2] < 5e-3, "{errors:?}");
        assert!(errors.windows(2).all(|e| (e[0] / e[1] - 2.0).abs() < 0.2), "tolerance {tolerance}: {errors:?} is not of first order");
    }
    Ok(())
}

#[test]
fn a_hinged_block_tips_above_the_speed_that_lifts_its_centre_over_the_edge() -> Fallible {
    for tolerance in [1e-3, 1e-5, 1e-8] {
        for (spin, expected) in [(1.02, true), (0.98, false)] {
            let setup = Setup { spin, tolerance, h: 5e-4, ..DOMINO };
            assert_eq!(setup.run()?.0, expected, "{spin} of the speed at {tolerance}");
        }
    }
    Ok(())
}

#[test]
fn so_do_other_blocks_on_other_floors() -> Fallible {
    let variants = [
        Setup { half: [0.2, 0.5], mass: 500.0, heading: 0.7, h: 4e-3, ..DOMINO },
        Setup { half: [0.03, 0.04], mass: 1e-3, mu: 0.0, heading: -2.0, ..DOMINO },
        Setup { mu: 2.0, heading: 0.4, tolerance: 1e-8, ..DOMINO },
        Setup { block: true, heading: 0.3, ..DOMINO },
        Setup { block: true, tolerance: 1e-3, h: 2e-3, ..DOMINO },
        Setup { treatment: FORECAST, ..DOMINO },
        Setup { treatment: FORECAST, heading: 0.5, tolerance: 1e-8, h: 5e-4, ..DOMINO },
    ];
    for (k, setup) in variants.iter().enumerate() {
        let (tips, error, across) = setup.run()?;
        println!("variant {k}: {error:.3e} across {across:.1e}");
        let share = setup.h * (G / setup.radius()).sqrt();
        assert!(tips && error < share && across < 1e-2, "variant {k}: tips {tips}, error {error}, {across} across");
        let back = Setup { spin: 0.9, ..*setup }.run()?;
        assert!(!back.0, "variant {k} tips too early");
    }
    Ok(())
}
