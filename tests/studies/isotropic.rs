//! Packings pressed alike from all sides, without weight: balls between six walls, discs between four.
//!
//! ```text
//! frictionless   D N_b + D equations (walls that press have one each) = contacts        z = 2D        μ → ∞: z = D + 1
//! stress         σ_aa V = F_a L_a along each axis a, in equilibrium
//! ```

use super::packing::Backbone;
use super::scene;
use drystone::diagnostics::grains::Packing;
use drystone::model::newton_euler::BodyPose;
use drystone::scenes::build;
use glam::DVec3;

/// A packing at rest.
#[derive(Debug)]
struct Pressed {
    grains: usize,
    rattlers: usize,
    /// Contacts over equations.
    contacts: f64,
    /// Mean number of contacts of a grain of the backbone farther than two diameters from all walls.
    z: f64,
    /// Solid fraction there; of discs that of their areas.
    solid: f64,
    /// σ_aa V/(F_a L_a) − 1, the largest over the axes.
    stress: f64,
    unbalanced: f64,
}

fn press(file: &str, set: &[(&str, &str)]) -> Pressed {
    let scene = scene(file, set);
    let mut built = build(&scene).unwrap();
    let plane = scene.bodies.iter().all(|b| b.name != "back");
    let place = |built: &drystone::scenes::Built, name: &str| {
        let body = scene.bodies.iter().position(|b| b.name == name).unwrap();
        built.simulation.world().get::<BodyPose>(built.entities[body]).unwrap().0.position
    };
    while built.simulation.time() < scene.time.end - 1e-9 {
        let report = built.simulation.step().unwrap();
        assert!(report.converged, "at {} s", built.simulation.time());
        if built.simulation.steps().is_multiple_of(10)
            && Packing::of(&built.simulation, None).unbalanced() < scene.stop.unwrap().unbalanced.unwrap()
        {
            break;
        }
    }
    let packing = Packing::of(&built.simulation, None);
    let thin = DVec3::new(0.0, 1e-6, 0.0);
    let low = if plane { -thin } else { DVec3::ZERO };
    let high = DVec3::new(
        place(&built, "right").x - 0.005,
        if plane { thin.y } else { place(&built, "back").y - 0.005 },
        place(&built, "lid").z - 0.005,
    );
    let axes: &[usize] = if plane { &[0, 2] } else { &[0, 1, 2] };
    let least = if scene.default_law.mu == 0.0 { axes.len() + 1 } else { 2 };
    let Backbone { alive, count, pairs, .. } = Backbone::of(&packing, least);
    let backbone = alive.iter().filter(|a| **a).count();
    let margin = if plane { DVec3::new(0.024, 0.0, 0.024) } else { DVec3::splat(0.02) };
    let (from, to) = (low + margin, high - margin);
    let core: Vec<usize> =
        (0..alive.len()).filter(|&g| alive[g] && axes.iter().all(|&a| (from[a]..to[a]).contains(&packing.grains[g].position[a]))).collect();
    let sigma = packing.stress(1.0);
    let mut walls = DVec3::ZERO;
    for link in packing.links.iter().filter(|l| l.grains.iter().any(Option::is_none)) {
        let axis = (0..3).find(|&a| link.normal[a].abs() > 0.99).unwrap();
        walls[axis] += if packing.place(link)[axis] < 1e-3 { link.force[axis].abs() } else { 0.0 };
    }
    Pressed {
        grains: alive.len(),
        rattlers: alive.len() - backbone,
        contacts: (count.iter().sum::<usize>() - pairs) as f64 / (axes.len() * (backbone + 1)) as f64,
        z: core.iter().map(|&g| count[g] as f64).sum::<f64>() / core.len() as f64,
        solid: packing.solid_fraction(from, to),
        stress: axes.iter().map(|&a| (sigma.col(a)[a] / (walls[a] * high[a]) - 1.0).abs()).fold(0.0, f64::max),
        unbalanced: packing.unbalanced(),
    }
}

/// A cube of balls of this edge (m) and solid fraction at the start.
fn balls(edge: f64, solid: f64, set: &[(&str, &str)]) -> Pressed {
    let (at, middle, wide) = (edge + 0.005, 0.875 * edge, 1.75 * edge);
    let (area, damping, mass) = ((edge * edge).to_string(), (1.1e5 * edge * edge).to_string(), (80.0 * edge * edge).to_string());
    let mut texts = vec![
        ("generate.pack.0.solid_fraction".to_owned(), solid.to_string()),
        ("generate.pack.0.box".to_owned(), format!("[[0, 0, 0], [{edge}, {edge}, {edge}]]")),
    ];
    for (body, axis) in [(3, 2), (4, 0), (5, 1)] {
        let (mut size, mut place) = ([wide; 3], [middle; 3]);
        (size[axis], place[axis]) = (0.01, at);
        let keys = [
            ("shape.size", format!("{size:?}")),
            ("position", format!("{place:?}")),
            ("mass", mass.clone()),
            ("servo.area", area.clone()),
            ("servo.damping", damping.clone()),
        ];
        texts.extend(keys.map(|(key, value)| (format!("bodies.{body}.{key}"), value)));
    }
    let mut all: Vec<(&str, &str)> = texts.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    all.extend_from_slice(set);
    press("docs/studies/isotropic_packing.toml", &all)
}

#[test]
fn balls_pressed_from_all_sides_have_as_many_contacts_as_equations() {
    let found = balls(0.04, 0.45, &[("solver.tolerance", "1e-8"), ("stop.unbalanced", "1e-7"), ("time.end", "3")]);
    println!("{found:?}");
    assert!(found.contacts > 0.98 && found.contacts <= 1.0, "{found:?}");
    assert!(found.rattlers * 10 <= found.grains, "{found:?}");
    assert!(found.stress < 1e-6 && found.unbalanced < 1e-7, "{found:?}");
}

#[test]
fn friction_holds_a_packing_with_fewer_contacts() {
    let set = [("contact.mu", "0.5"), ("time.step", "4 ms"), ("solver.tolerance", "3e-4"), ("stop.unbalanced", "3e-3")];
    let found = balls(0.06, 0.5, &set);
    println!("{found:?}");
    // with infinite friction a grain needs four contacts in the mean, two thirds of the six without any
    assert!((0.66..0.9).contains(&found.contacts), "{found:?}");
    assert!(found.stress < 0.01 && found.unbalanced < 3e-3, "{found:?}");
}

#[test]
fn discs_without_friction_have_four_contacts_each() {
    let (pitch, n) = (0.0154, 14);
    let edge = pitch * f64::from(n);
    let at = edge + 0.005;
    let (long, middle, area) = (1.75 * edge, 0.875 * edge, (edge * 0.01).to_string());
    let texts = [
        ("bodies.2.shape.size", format!("[{long}, 0.02, 0.01]")),
        ("bodies.2.position", format!("[{middle}, 0, {at}]")),
        ("bodies.3.shape.size", format!("[0.01, 0.02, {long}]")),
        ("bodies.3.position", format!("[{at}, 0, {middle}]")),
        ("bodies.2.servo.damping", (300.0 * edge).to_string()),
        ("bodies.3.servo.damping", (300.0 * edge).to_string()),
        ("generate.lattice.0.count", format!("[{n}, 1, {n}]")),
        ("generate.lattice.0.position", format!("[{}, 0, 0]", 0.5 * edge)),
    ];
    let mut all: Vec<(&str, &str)> = texts.iter().map(|(key, value)| (*key, value.as_str())).collect();
    all.extend([("bodies.2.servo.area", area.as_str()), ("bodies.3.servo.area", area.as_str())]);
    all.extend([("solver.tolerance", "1e-7"), ("stop.unbalanced", "1e-5"), ("time.end", "6")]);
    let found = press("docs/studies/isotropic_discs.toml", &all);
    println!("{found:?}");
    assert!(found.contacts > 0.98 && found.contacts <= 1.0, "{found:?}");
    assert!((found.z - 4.0).abs() < 0.2, "{found:?}");
    assert!(found.stress < 1e-4 && (0.8..0.87).contains(&found.solid), "{found:?}");
}
