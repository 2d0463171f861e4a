//! The spinning sphere as a body whose contact is detected.

use super::friction::{MASS, RADIUS, ROUGH, sphere_table};
use super::table::Fallible;
use drystone::geometry::Shape;
use drystone::model::law::ContactLaws;
use drystone::model::newton_euler::{BodyPose, Velocity};
use drystone::model::scheme::{Scheme, Treatment};
use drystone::simulation::{Body, Simulation};
use glam::DVec3;

/// Position and velocity of the sphere as a rigid body after `steps` steps of length `h`, sampled every `every` steps.
fn rigid_sphere(h: f64, steps: usize, every: usize) -> Fallible<Vec<[DVec3; 2]>> {
    let mut sim = Simulation::new(Scheme { time_step: h, treatment: Treatment::Forecast { theta: 0.5 }, ..Scheme::default() })?;
    sim.solver_mut().tolerance = 1e-12; // the lever arms are rounded sums: 1e-14 is below their last digits
    sim.set_laws(ContactLaws::uniform(ROUGH))?;
    sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
    let ball = Body::new(Shape::ball(RADIUS)?).mass(MASS).at(DVec3::Z * 0.8);
    let ball = sim.spawn_body(ball.moving(DVec3::new(2.0, -0.5, 0.0)).spinning(DVec3::new(3.0, -10.0, 4.0)))?;
    let mut states = Vec::new();
    for step in 1..=steps {
        assert!(sim.step()?.converged);
        if step % every == 0 {
            let x = sim.world().get::<BodyPose>(ball).ok_or("gone")?.0.position;
            states.push([x, sim.world().get::<Velocity>(ball).ok_or("gone")?.linear]);
        }
    }
    Ok(states)
}

/// The same of the linear system.
fn linear_sphere(h: f64, steps: usize, every: usize) -> Fallible<Vec<[DVec3; 2]>> {
    let table = sphere_table(h, steps as u64)?;
    Ok(table.rows.iter().skip(every).step_by(every).map(|row| [DVec3::from_slice(&row[1..4]), DVec3::from_slice(&row[7..10])]).collect())
}

/// Lever arms of the rigid ball end in the middle between ball and floor, up to h |v_n| / 4 from the pole of the ball at an
/// impact. Where in a step an impact falls is erratic, so the order is the slope through several halvings.
#[test]
fn the_spinning_sphere_as_a_rigid_body_converges_to_the_reference_with_first_order() -> Fallible {
    let mut points = Vec::new();
    for halving in 0..6 {
        let factor = 1usize << halving;
        let h = 1e-3 / factor as f64;
        let (rigid, linear) = (rigid_sphere(h, 4000 * factor, factor)?, linear_sphere(h, 4000 * factor, factor)?);
        assert_eq!(rigid.len(), linear.len());
        let distance = |k: usize| rigid.iter().zip(&linear).map(|(a, b)| (a[k] - b[k]).length()).fold(0.0, f64::max);
        let (x, v) = (distance(0), distance(1));
        println!("h {h:.3e}: largest distance {x:.3e} m = {:.2} h, {v:.3e} m/s = {:.2} h", x / h, v / h);
        assert!(x < 15.0 * h && v < 5.0 * h);
        points.push((h.ln(), x.ln()));
    }
    let mean = |f: fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / points.len() as f64;
    let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
    let slope = points.iter().map(|(x, y)| (x - mx) * (y - my)).sum::<f64>() / points.iter().map(|(x, _)| (x - mx).powi(2)).sum::<f64>();
    println!("order {slope:.3}");
    assert!((slope - 1.0).abs() < 0.15, "{slope}");
    Ok(())
}
