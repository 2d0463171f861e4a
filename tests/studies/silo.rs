//! A silo whose floor has sunk a little, and what runs out of orifices.
//!
//! ```text
//! Janssen     σ(z) = ρ g λ (1 − exp(−z/λ)),   λ = D/(4 μ_w K)          z from the top of the bed
//! Beverloo    W = C ρ √g (D − k d)^(5/2)
//! ```

use super::{line, scene};
use drystone::diagnostics::grains::Packing;
use drystone::io::scene::Scene;
use drystone::scenes::build;
use std::f64::consts::PI;

const RADIUS: f64 = 0.03;
const AREA: f64 = PI * RADIUS * RADIUS;
const MU_WALL: f64 = 0.3;
const G: f64 = 9.81;
/// Planes of a profile.
const PLANES: usize = 40;

/// What holds a bed.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    /// Upward forces on the grains (N).
    floor: f64,
    wall: f64,
    /// Sum of |f_t| over that of μ f_n at the wall.
    mobilised: f64,
}

fn held(packing: &Packing) -> Held {
    let (mut held, mut tangential, mut normal) = (Held::default(), 0.0, 0.0);
    for link in &packing.links {
        let up = match link.grains {
            [Some(_), None] => link.force.z,
            [None, Some(_)] => -link.force.z,
            _ => continue,
        };
        if link.normal.z.abs() > 0.5 {
            held.floor += up;
        } else {
            held.wall += up;
            let n = link.force.dot(link.normal);
            normal += MU_WALL * n.abs();
            tangential += (link.force - n * link.normal).length();
        }
    }
    held.mobilised = tangential / normal;
    held
}

/// A bed while its floor sinks, and after it.
struct Bed {
    weight: f64,
    sinking: Held,
    /// Mean over the last tenth of a second, when it rests.
    end: Held,
    /// Largest difference of forces and weight from the change of the momentum in a step then, in weights.
    defect: f64,
    /// Weight over density and area (m).
    height: f64,
    /// Bulk density (kg/m³) of the middle.
    density: f64,
    /// Depth (m) of planes and what they carry (Pa), a mean over the time of sinking.
    profile: Vec<(f64, f64)>,
}

fn settle(scene: &Scene) -> Bed {
    let mut built = build(scene).unwrap();
    built.simulation.run_until(0.6).unwrap();
    let packing = Packing::of(&built.simulation, None);
    let weight = packing.grains.iter().map(|g| g.mass).sum::<f64>() * G;
    let mut heights: Vec<f64> = packing.grains.iter().map(|g| g.position.z).collect();
    heights.sort_by(f64::total_cmp);
    let [low, high] = [0.1, 0.8].map(|part| heights[(part * heights.len() as f64) as usize]);
    let corner = |sign: f64, z: f64| glam::DVec3::new(sign * RADIUS, sign * RADIUS, z);
    let density = 2500.0 * packing.solid_fraction(corner(-1.0, low), corner(1.0, high)) * 4.0 / PI;
    // the top that a bed of this density would have
    let height = weight / (G * density * AREA);
    let (mut sinking, mut carried, mut looks) = (Held::default(), vec![0.0; PLANES], 0.0);
    while built.simulation.time() < 0.8 - 1e-9 {
        (0..5).for_each(|_| {
            built.simulation.step().unwrap();
        });
        let packing = Packing::of(&built.simulation, None);
        let now = held(&packing);
        looks += 1.0;
        sinking.floor += now.floor;
        sinking.wall += now.wall;
        sinking.mobilised += now.mobilised;
        let floor = packing.grains.iter().map(|g| g.position.z - g.radius.unwrap()).fold(f64::INFINITY, f64::min);
        for (k, sum) in carried.iter_mut().enumerate() {
            let z = floor + height * (k as f64 + 0.5) / PLANES as f64;
            let across = packing.links.iter().filter_map(|link| match link.grains.map(|g| g.map(|g| packing.grains[g].position.z >= z)) {
                [Some(true), Some(false)] => Some(link.force.z),
                [Some(false), Some(true)] => Some(-link.force.z),
                // what the floor holds itself, below the centres of the lowest grains
                [Some(true), None] if link.normal.z.abs() > 0.5 => Some(link.force.z),
                [None, Some(true)] if link.normal.z.abs() > 0.5 => Some(-link.force.z),
                _ => None,
            });
            *sum += across.sum::<f64>() / AREA;
        }
    }
    let mean = |x: f64| x / looks;
    let sinking = Held { floor: mean(sinking.floor), wall: mean(sinking.wall), mobilised: mean(sinking.mobilised) };
    let depth = |k: usize| height * (1.0 - (k as f64 + 0.5) / PLANES as f64);
    let profile = carried.iter().enumerate().map(|(k, sum)| (depth(k), mean(*sum))).collect();
    // forces are those of a step: their sum is the weight and what changes the momentum
    let momentum = |p: &Packing| p.grains.iter().map(|g| g.mass * g.velocity.z).sum::<f64>();
    built.simulation.run_until(scene.time.end - 0.1).unwrap();
    let (mut end, mut steps, mut defect) = (Held::default(), 0.0, 0f64);
    let mut before = momentum(&Packing::of(&built.simulation, None));
    while built.simulation.time() < scene.time.end - 1e-9 {
        built.simulation.step().unwrap();
        let packing = Packing::of(&built.simulation, None);
        let (now, after) = (held(&packing), momentum(&packing));
        defect = defect.max((now.floor + now.wall - weight - (after - before) / scene.time.step).abs() / weight);
        before = after;
        steps += 1.0;
        end.floor += now.floor;
        end.wall += now.wall;
    }
    let end = Held { floor: end.floor / steps, wall: end.wall / steps, mobilised: f64::NAN };
    Bed { weight, sinking, end, defect, height, density, profile }
}

impl Bed {
    /// λ of the best Janssen profile by least squares, and its R².
    fn janssen(&self) -> (f64, f64) {
        let misfit = |lambda: f64| {
            let of = |z: f64| self.density * G * lambda * (1.0 - (-z / lambda).exp());
            self.profile.iter().map(|(z, s)| (s - of(*z)).powi(2)).sum::<f64>()
        };
        let candidates = (10..2000).map(|k| f64::from(k) * 1e-4);
        let lambda = candidates.min_by(|a, b| misfit(*a).total_cmp(&misfit(*b))).unwrap();
        let mean = self.profile.iter().map(|p| p.1).sum::<f64>() / self.profile.len() as f64;
        (lambda, 1.0 - misfit(lambda) / self.profile.iter().map(|p| (p.1 - mean).powi(2)).sum::<f64>())
    }

    fn print(&self, name: &str) {
        let (lambda, r2) = self.janssen();
        let missing = |held: &Held| (held.floor + held.wall) / self.weight - 1.0;
        println!(
            "| {name} | {:.3} m | {:.3} | {:.3} N | {:.3} N | {:+.1e} | {:+.1e} | {:.0e} | {:.2} | {:.1} mm | {:.2} | {r2:.4} |",
            self.height,
            self.density / 2500.0,
            self.weight,
            self.sinking.floor,
            missing(&self.sinking),
            missing(&self.end),
            self.defect,
            self.sinking.mobilised,
            1e3 * lambda,
            0.5 * RADIUS / (MU_WALL * lambda)
        );
    }
}

fn bed(n: &str, tolerance: &str) -> Bed {
    settle(&scene("assets/scenes/silo.toml", &[("generate.pour.0.count", n), ("solver.tolerance", tolerance)]))
}

#[test]
fn the_wall_of_a_silo_carries_what_its_floor_does_not() {
    let bed = bed("500", "1e-3");
    bed.print("500");
    assert!(((bed.end.floor + bed.end.wall) / bed.weight - 1.0).abs() < 1e-4, "{:?} of {}", bed.end, bed.weight);
    assert!(bed.defect < 1e-9, "{}", bed.defect);
    assert!(bed.sinking.wall > 0.15 * bed.weight && bed.sinking.mobilised > 0.6, "{:?} of {}", bed.sinking, bed.weight);
    let (lambda, r2) = bed.janssen();
    let k = 0.5 * RADIUS / (MU_WALL * lambda);
    assert!((0.4..1.3).contains(&k) && r2 > 0.9, "K = {k}, R² = {r2}");
}

#[test]
#[ignore = "minutes: cargo test --release --test studies silo -- --ignored --nocapture"]
fn janssen_profiles_of_silos() {
    println!(
        "| grains | height | φ | weight | floor, sinking | misses weight, sinking | at rest | momentum | friction used | λ | K | R² |"
    );
    for n in ["600", "1200", "2400", "4800"] {
        let bed = bed(n, "1e-3");
        bed.print(n);
        if n == "2400" {
            bed.profile.iter().step_by(4).for_each(|(z, s)| println!("{z:.4} {s:.1}"));
        }
    }
}

/// Mass flow (kg/s) out of a flat bottom in the middle half of the time from the opening to the end, and its change from the first half of
/// that to the second.
fn discharge(set: &[(&str, &str)]) -> (f64, f64) {
    let scene = scene("assets/scenes/hopper.toml", set);
    let open = scene.bodies[1].death.unwrap();
    let mut built = build(&scene).unwrap();
    let mut curve = Vec::new();
    while built.simulation.time() < scene.time.end - 1e-9 {
        built.simulation.step().unwrap();
        curve.push((built.simulation.time(), built.simulation.flow(built.outlets[0]).unwrap().mass));
    }
    let rate = |from: f64, to: f64| {
        let at = |part: f64| open + part * (scene.time.end - open);
        line(curve.iter().filter(|p| (at(from)..at(to)).contains(&p.0)).copied()).slope
    };
    (rate(0.3, 0.95), rate(0.65, 0.95) / rate(0.3, 0.65) - 1.0)
}

#[test]
#[ignore = "ten minutes: cargo test --release --test studies beverloo -- --ignored --nocapture"]
fn beverloo_discharge_of_flat_bottoms() {
    println!("| D/d | grains | W | W^(2/5) | change over the time |");
    let (d, mut points) = (0.006, Vec::new());
    for (ratio, n) in BEVERLOO {
        let (w, change) = orifice(ratio, n, G);
        println!("| {ratio} | {n} | {w:.4} kg/s | {:.4} | {:+.1} % |", w.powf(0.4), 100.0 * change);
        points.push((ratio * d, w));
    }
    for points in [&points[..], &points[1..]] {
        let straight = line(points.iter().map(|(x, w)| (*x, w.powf(0.4))));
        let k = -straight.at_zero / straight.slope / d;
        let law = line(points.iter().map(|(x, w)| ((x - 1.4 * d).ln(), w.ln())));
        println!("D/d from {:.0}: W^(2/5) against D: R² {:.5}, k = {k:.2};", points[0].0 / d, straight.r2);
        println!("  C ρ = {:.1} kg/m³; exponent {:.3} with k = 1.4", straight.slope.powf(2.5) / G.sqrt(), law.slope);
    }
    let (ratio, n) = BEVERLOO[1];
    let weak = orifice(ratio, n, 1.62).0;
    println!("D/d = {ratio} under 1.62 m/s²: {weak:.4} kg/s, ratio {:.4} (√: {:.4})", weak / points[1].1, (1.62f64 / G).sqrt());
}

/// Orifices in grains, and how many grains.
const BEVERLOO: [(f64, &str); 5] = [(5.0, "2500"), (6.0, "3000"), (7.0, "3500"), (8.0, "4000"), (10.0, "5000")];

/// Discharge of a flat bottom of 20 grains of 6 mm across.
fn orifice(ratio: f64, n: &str, g: f64) -> (f64, f64) {
    // times scale with 1/√g
    let slower = (G / g).sqrt();
    let text = |x: f64| x.to_string();
    let set = [
        ("generate.pour.0.count", n.to_owned()),
        ("bodies.0.shape.angle", "\"90 deg\"".to_owned()),
        ("bodies.0.shape.orifice", text(0.003 * ratio)),
        ("bodies.0.shape.radius", text(0.06)),
        ("generate.pour.0.width", "[0.084, 0.084]".to_owned()),
        ("generate.pour.0.bottom", text(0.001)),
        ("bodies.0.shape.height", text(1.2)),
        ("gravity", format!("[0, 0, {}]", -g)),
        ("time.step", text(0.0005 * slower)),
        ("bodies.1.death", text(0.45 * slower)),
        ("time.end", text(0.95 * slower)),
    ];
    let set: Vec<(&str, &str)> = set.iter().map(|(k, v)| (*k, v.as_str())).collect();
    discharge(&set)
}
