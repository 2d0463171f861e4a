//! Balls pressed together without weight: as many contacts as equations where nothing rubs.
//!
//! ```text
//! frictionless   3 equations of a ball and one of the lid, 2 of which say the same (translations): N_c = 3 N_b − 1,  z = 6,  φ = 0.639
//! stress         σ_zz V = Σ f_z l_z = F H                       branches to the walls: exact in equilibrium
//! ```

use super::scene;
use drystone::diagnostics::grains::Packing;
use drystone::model::newton_euler::BodyPose;
use drystone::scenes::build;
use std::collections::BTreeMap;

/// A packing at rest between the walls.
struct Packed {
    grains: usize,
    backbone: usize,
    /// Pairs of the backbone, and contacts with walls.
    contacts: usize,
    walls: usize,
    /// Mean number of contacts of a grain of the backbone whose centre is farther than 1.5 d from all walls.
    z_core: f64,
    solid: f64,
    solid_core: f64,
    /// Relative difference of σ_zz and the pressure of the lid, and (σ_xx + σ_yy)/2σ_zz.
    stress: f64,
    lateral: f64,
    unbalanced: f64,
    /// Normal forces over their mean.
    forces: Vec<f64>,
}

/// What carries: grains that `least` contacts or more hold, those with others of the kind alone counted.
pub(super) struct Backbone {
    /// Of each grain, whether it belongs to it.
    pub(super) alive: Vec<bool>,
    /// Contacts of each grain within it and with walls.
    pub(super) count: Vec<usize>,
    /// Pairs of grains within it.
    pub(super) pairs: usize,
    /// Normal forces of all contacts over their mean.
    pub(super) forces: Vec<f64>,
}

impl Backbone {
    pub(super) fn of(packing: &Packing, least: usize) -> Self {
        // one force for each pair or grain and wall; what carries less than 1e-4 of the mean touches without pressing
        let mut pairs: BTreeMap<([Option<usize>; 2], [i64; 3]), f64> = BTreeMap::new();
        for link in &packing.links {
            let wall =
                if link.grains.iter().all(Option::is_some) { [0; 3] } else { link.normal.to_array().map(|x| (4.0 * x).round() as i64) };
            *pairs.entry((link.grains, wall)).or_default() += link.force.dot(link.normal);
        }
        let mean = pairs.values().sum::<f64>() / pairs.len() as f64;
        pairs.retain(|_, f| *f > 1e-4 * mean);
        let mut alive = vec![true; packing.grains.len()];
        loop {
            let (mut count, mut within) = (vec![0usize; alive.len()], 0);
            for (grains, _) in pairs.keys() {
                if grains.iter().flatten().all(|&g| alive[g]) {
                    grains.iter().flatten().for_each(|&g| count[g] += 1);
                    within += usize::from(grains.iter().all(Option::is_some));
                }
            }
            let loose: Vec<usize> = (0..alive.len()).filter(|&g| alive[g] && count[g] < least).collect();
            if loose.is_empty() {
                return Self { alive, count, pairs: within, forces: pairs.values().map(|f| f / mean).collect() };
            }
            loose.into_iter().for_each(|g| alive[g] = false);
        }
    }
}

/// `n` balls along x and y and `layers` along z at the start.
fn press(n: usize, layers: usize, set: &[(&str, &str)]) -> Packed {
    let half = 1.175 * 0.00525 * n as f64;
    let lid = 2.45 * 0.00525 * (layers as f64 + 0.5) + 0.005;
    let texts = [
        ("periodic.x", format!("[{}, {half}]", -half)),
        ("periodic.y", format!("[{}, {half}]", -half)),
        ("bodies.1.position", format!("[0, 0, {lid}]")),
        ("bodies.1.shape.size", format!("[{0}, {0}, 0.01]", 2.4 * half)),
        ("bodies.1.servo.area", (4.0 * half * half).to_string()),
        ("generate.lattice.0.count", format!("[{n}, {n}, {layers}]")),
    ];
    let mut all: Vec<(&str, &str)> = texts.iter().map(|(key, value)| (*key, value.as_str())).collect();
    all.extend_from_slice(set);
    let scene = scene("assets/scenes/compression.toml", &all);
    let mut built = build(&scene).unwrap();
    built.simulation.run_until(scene.time.end).unwrap();
    let height = built.simulation.world().get::<BodyPose>(built.entities[1]).unwrap().0.position.z - 0.005;
    let (low, high) = (glam::DVec3::new(-half, -half, 0.0), glam::DVec3::new(half, half, height));
    let packing = Packing::of(&built.simulation, None);
    let pressure = scene.bodies[1].servo.unwrap().force.abs() / (4.0 * half * half);
    let sigma = packing.stress((high - low).element_product());
    let lateral = 0.5 * (sigma.x_axis.x + sigma.y_axis.y) / sigma.z_axis.z;
    let least = if scene.default_law.mu == 0.0 { 4 } else { 2 };
    let Backbone { alive, count, pairs, forces } = Backbone::of(&packing, least);
    let margin = glam::DVec3::Z * 0.015;
    let inside = |x: f64| (low.z + margin.z..high.z - margin.z).contains(&x);
    let core: Vec<usize> = (0..alive.len()).filter(|&g| alive[g] && inside(packing.grains[g].position.z)).collect();
    Packed {
        grains: alive.len(),
        backbone: alive.iter().filter(|a| **a).count(),
        contacts: pairs,
        walls: count.iter().sum::<usize>() - 2 * pairs,
        z_core: core.iter().map(|&g| count[g] as f64).sum::<f64>() / core.len() as f64,
        solid: packing.solid_fraction(low, high),
        solid_core: packing.solid_fraction(low + margin, high - margin),
        stress: (sigma.z_axis.z / pressure - 1.0).abs(),
        lateral,
        unbalanced: packing.unbalanced(),
        forces,
    }
}

impl Packed {
    fn print(&self, name: &str) {
        let part = |low: f64| self.forces.iter().filter(|f| **f > low).count() as f64 / self.forces.len() as f64;
        println!(
            "| {name} | {} | {:.1} % | {:.2} | {:.3} | {:.4} | {:.4} | {:.1e} | {:.2} | {:.1e} | {:.2} {:.3} {:.4} |",
            self.grains,
            100.0 * (1.0 - self.backbone as f64 / self.grains as f64),
            self.z_core,
            (self.contacts + self.walls) as f64 / (3.0 * self.backbone as f64 - 1.0),
            self.solid_core,
            self.solid,
            self.stress,
            self.lateral,
            self.unbalanced,
            part(1.0),
            part(2.0),
            part(4.0)
        );
    }
}

#[test]
fn pressed_balls_that_do_not_rub_have_as_many_contacts_as_equations() {
    let found = press(3, 4, &[("solver.tolerance", "1e-8"), ("time.end", "0.7")]);
    found.print("0");
    let (contacts, equations) = (found.contacts + found.walls, 3 * found.backbone - 1);
    assert_eq!(contacts, equations, "{} of {} grains carry", found.backbone, found.grains);
    assert!(found.stress < 1e-6 && found.unbalanced < 1e-6, "{} {}", found.stress, found.unbalanced);
}

#[test]
#[ignore = "ten minutes: cargo test --release --test studies packing -- --ignored --nocapture"]
fn packings_by_friction() {
    println!(
        "| μ | grains | rattlers | z, core | contacts/(3 N_b − 1) | φ, core | φ | stress | lateral | unbalanced | P(f > 1, 2, 4 means) |"
    );
    for (mu, tolerance, end) in
        [("0", "1e-6", "0.6"), ("0.1", "1e-4", "0.6"), ("0.3", "1e-4", "0.6"), ("1", "1e-4", "0.6"), ("10", "1e-4", "0.6")]
    {
        press(7, 12, &[("contact.mu", mu), ("solver.tolerance", tolerance), ("time.end", end)]).print(mu);
    }
}
