//! A loudspeaker under a tray of grains: a circuit drives a voice coil, the coil a tray on a spring, the tray throws steel balls.
//!
//! ```text
//! circuit   L di/dt + R i = u(t) − B l v         through a diode: it pushes and never pulls
//! tray      m v̇ = B l i − k z − c v − m g + contacts
//! ```
//!
//! The circuit is a system of first order with a complementarity law; tray and balls are bodies with friction and impacts. They meet once a
//! step: an action at its start gives the tray the force of the current, and the circuit the voltage that the tray's velocity induces,
//! both as they are at the end of the step before. Bodies then move, and the circuit after them. So what the coil takes from the circuit
//! differs from what it gives to the tray, by a part that vanishes with the step.

use drystone::algebra::spatial::Pose;
use drystone::electronics::Circuit;
use drystone::geometry::Shape;
use drystone::io::chart::{Line, Panel, write_chart};
use drystone::io::picture::Picture;
use drystone::io::view::Window;
use drystone::model::dynamical_system::FirstOrder;
use drystone::model::interaction::Interaction;
use drystone::model::joint::{JointKind, JointSpec};
use drystone::model::law::{ContactLaws, CoulombImpact};
use drystone::model::newton_euler::{AppliedForce, BodyPose, Velocity};
use drystone::model::scheme::Scheme;
use drystone::simulation::{Body, Simulation};
use glam::DVec3;
use std::f64::consts::TAU;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Force per current (N/A), which is voltage per velocity (V s/m).
const BL: f64 = 12.0;
const FREQUENCY: f64 = 18.0;

/// What the coil has taken from the circuit and given to the tray (J).
struct Exchange {
    electrical: f64,
    mechanical: f64,
}

fn run(h: f64, end: f64, files: Option<(&str, &str)>) -> Result<Exchange, Box<dyn std::error::Error>> {
    let mut sim = Simulation::new(Scheme { time_step: h, ..Scheme::default() })?;
    sim.solver_mut().tolerance = 1e-6;
    sim.set_laws(ContactLaws::uniform(CoulombImpact { mu: 0.3, e_n: 0.5, ..CoulombImpact::default() }))?;
    let plate = |half: DVec3, at: DVec3| -> Result<_, Box<dyn std::error::Error>> { Ok((Pose::at(at), Shape::cuboid(half)?)) };
    let (wide, side) = (DVec3::new(0.06, 0.06, 0.004), 0.05);
    let tray = Shape::compound(vec![
        plate(wide, DVec3::ZERO)?,
        plate(DVec3::new(0.003, 0.06, side), DVec3::new(0.057, 0.0, side + 0.004))?,
        plate(DVec3::new(0.003, 0.06, side), DVec3::new(-0.057, 0.0, side + 0.004))?,
        plate(DVec3::new(0.054, 0.003, side), DVec3::new(0.0, 0.057, side + 0.004))?,
        plate(DVec3::new(0.054, 0.003, side), DVec3::new(0.0, -0.057, side + 0.004))?,
    ])?;
    let tray = sim.spawn_body(Body::new(tray).mass(0.8).named("tray"))?;
    let place = sim.world().get::<BodyPose>(tray).ok_or("the tray lives")?.0.position;
    let slide = JointSpec::new(JointKind::Prismatic).at(place).axis(DVec3::Z).spring(9000.0, 10.0).between(-0.02, 0.02);
    let guide = sim.add_joint(tray, None, &slide)?;
    let mut shown = vec![tray];
    for k in 0..48 {
        let (layer, place) = (k / 16, k % 16);
        let [x, y] = [place % 4, place / 4].map(|i| 0.024 * f64::from(i) - 0.036 + 0.003 * f64::from(layer));
        let ball = Body::new(Shape::ball(0.008)?).density(7800.0).at(DVec3::new(x, y, 0.014 + 0.018 * f64::from(layer)));
        shown.push(sim.spawn_body(ball)?);
    }

    let induced = Arc::new(AtomicU64::new(0.0f64.to_bits()));
    let mut circuit = Circuit::new();
    circuit.voltage_source("amplifier", "a", "0", |t: f64| 16.0 * (TAU * FREQUENCY * t).sin());
    circuit.diode("D", "a", "b");
    circuit.resistor("R", "b", "c", 3.5);
    circuit.inductor("coil", "c", "d", 2e-3);
    let voltage = Arc::clone(&induced);
    circuit.voltage_source("emf", "d", "0", move |_: f64| f64::from_bits(voltage.load(Ordering::Relaxed)));
    let circuit = circuit.spawn(&mut sim)?;
    let (current, system, diodes) = (circuit.equations.current("coil")?, circuit.system, circuit.interaction);
    let state = move |world: &bevy_ecs::world::World, t: f64| {
        let x = world.get::<FirstOrder>(system).map_or(&[][..], |s| &s.x);
        let lambda = diodes.and_then(|e| world.get::<Interaction>(e)).map_or(&[][..], |i| &i.lambda);
        let v = world.get::<Velocity>(tray).map_or(0.0, |v| v.linear.z);
        (current.at(t, x, lambda), v)
    };
    let now = state.clone();
    sim.every(h, move |t, world| {
        let (i, v) = now(world, t);
        induced.store((BL * v).to_bits(), Ordering::Relaxed);
        if let Some(mut load) = world.get_mut::<AppliedForce>(tray) {
            load.force = DVec3::Z * BL * i;
        }
    })?;

    let mut exchange = Exchange { electrical: 0.0, mechanical: 0.0 };
    let (mut rows, mut unconverged, mut highest): (Vec<[f64; 4]>, u32, f64) = (Vec::new(), 0, 0.0);
    let (mut i0, mut v0) = (0.0, 0.0);
    while sim.time() < end - 1e-9 {
        let report = sim.step()?;
        unconverged += u32::from(!report.converged);
        let (i, v) = state(sim.world(), sim.time());
        exchange.electrical += BL * v0 * 0.5 * (i + i0) * h;
        exchange.mechanical += BL * i0 * 0.5 * (v + v0) * h;
        (i0, v0) = (i, v);
        let z = sim.world().get::<BodyPose>(tray).ok_or("the tray lives")?.0.position.z - place.z;
        let top = shown[1..].iter().filter_map(|b| sim.world().get::<BodyPose>(*b)).fold(0.0, |top: f64, p| top.max(p.0.position.z));
        highest = highest.max(top);
        rows.push([sim.time(), i, z, top]);
    }
    assert_eq!(unconverged, 0);
    assert!(rows.iter().all(|r| r[1] > -1e-9), "the diode lets nothing back");
    let stop = guide.get(1..3).unwrap_or_default().iter().filter_map(|e| sim.world().get::<Interaction>(*e)).any(|i| i.y[0] < -1e-6);
    assert!(!stop, "the tray keeps off its stops");
    assert!(sim.balance().error() < 1e-9, "{}", sim.balance().error());
    if let Some((picture, chart)) = files {
        let mut window = Window::new(shown);
        Picture { direction: DVec3::new(0.5, -0.8, 0.75), ..Picture::default() }.write(picture.as_ref(), &window.look(&sim))?;
        let column = |k: usize| rows.iter().map(move |r| (r[0], r[k]));
        let panels = [
            Panel::new("time (s)", "current (A)", vec![Line::new("coil", column(1))]),
            Panel::new("time (s)", "height (m)", vec![Line::new("tray", column(2)), Line::new("highest ball", column(3))]),
        ];
        write_chart(chart.as_ref(), "A voice coil shakes a tray of balls", &panels)?;
        println!("picture: {picture}, plot: {chart}");
        let swing = rows.iter().rev().take(1000).fold([f64::MAX, f64::MIN], |[a, b], r| [a.min(r[2]), b.max(r[2])]);
        assert!(highest > 0.065 && rows.last().is_some_and(|r| r[3] < 0.12), "the balls fly, and stay: {highest} m");
        println!(
            "in the last half second the tray swings from {:.2} to {:.2} mm, balls fly to {highest:.3} m",
            1e3 * swing[0],
            1e3 * swing[1]
        );
    }
    Ok(exchange)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = |k: usize, name: &str| std::env::args().nth(k).unwrap_or(name.into());
    let (picture, chart) = (file(1, "target/voice_coil.png"), file(2, "target/voice_coil.svg"));
    run(5e-4, 1.0, Some((&picture, &chart)))?;
    // the two sides of the coil agree as the step goes to zero: over the first push, before balls fly where chance will have them
    let missing = [1e-3, 5e-4, 2.5e-4].map(|h| run(h, 0.02, None).map(|e| (e.electrical, e.electrical - e.mechanical)));
    let mut last = f64::INFINITY;
    for (h, found) in [1e-3, 5e-4, 2.5e-4].into_iter().zip(missing) {
        let (taken, missing) = found?;
        println!("step {h:.1e} s: the circuit gave {taken:.4} J in the first push, {missing:.1e} J of it did not reach the tray");
        assert!(missing.abs() < 0.6 * last, "first order in the step");
        last = missing.abs();
    }
    Ok(())
}
