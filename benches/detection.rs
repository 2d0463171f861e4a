//! What the narrow phase costs by pair of shapes: CPU nanoseconds a pair and a contact point on one thread, best of five rounds, beside a
//! fixed arithmetic in the same process, so that ratios survive a machine that others use too.
//!
//! `cargo bench --bench detection` runs everything, `cargo bench --bench detection -- hull` what holds this word. Each pair is measured in
//! [`POSES`] poses that touch: turned at random, or face on face, shifted and turned about the normal.

use cpu_time::ProcessTime;
use drystone::algebra::spatial::Pose;
use drystone::geometry::{Scratch, Shape, ShapeError, contact_points};
use glam::{DQuat, DVec2, DVec3};
use std::f64::consts::{FRAC_PI_2, TAU};
use std::hint::black_box;

const POSES: usize = 256;
const ROUNDS: usize = 5;
/// Shapes are about a metre large; pairs within this gap are contacts.
const REACH: f64 = 0.01;

/// How the first shape lies on the second.
#[derive(Clone, Copy)]
enum Way {
    /// Both turned at random.
    Any,
    /// The second, a ground, as it is; the first turned at random.
    Down,
    /// Both upright, turned about the normal.
    Flat,
    /// Both along y, on each other.
    Side,
}

/// A number in [−1, 1): a low-discrepancy sequence, always the same.
fn number(k: usize) -> f64 {
    (k as f64 * 0.618_033_988_749_895).fract() * 2.0 - 1.0
}

/// A rotation with an even spread (Shoemake 1992).
fn turned(k: usize) -> DQuat {
    let [a, b, c] = [3, 5, 7].map(|f| 0.5 + 0.5 * number(f * k + f));
    let (p, q) = ((1.0 - a).sqrt(), a.sqrt());
    DQuat::from_xyzw(p * (TAU * b).sin(), p * (TAU * b).cos(), q * (TAU * c).sin(), q * (TAU * c).cos())
}

/// Poses of the first shape in which the two have just met, with those of the second.
fn meetings(one: &Shape, two: &Shape, way: Way) -> Vec<(Pose, Pose)> {
    let (mut scratch, mut points) = (Scratch::default(), Vec::new());
    let mut meeting = |k: usize| {
        let about = DQuat::from_rotation_z(0.1 * number(2 * k));
        let (r1, r2) = match way {
            Way::Any => (turned(2 * k), turned(2 * k + 1)),
            Way::Down => (turned(2 * k), DQuat::IDENTITY),
            Way::Flat => (about, DQuat::IDENTITY),
            Way::Side => (DQuat::from_rotation_x(FRAC_PI_2), DQuat::from_rotation_x(FRAC_PI_2)),
        };
        let aside = DVec3::new(number(k), number(3 * k), 0.0) * 0.1;
        let mut meets = |height: f64| {
            points.clear();
            let pose = Pose::new(aside + DVec3::Z * height, r1);
            contact_points(one, &pose, two, &Pose::new(DVec3::ZERO, r2), REACH, &mut scratch, &mut points);
            !points.is_empty()
        };
        // from above downwards until they meet, then to and fro
        let (mut high, mut low) = (4.0, 4.0);
        while !meets(low) && low > -4.0 {
            (high, low) = (low, low - 0.02);
        }
        for _ in 0..30 {
            let middle = 0.5 * (low + high);
            if meets(middle) { low = middle } else { high = middle }
        }
        (Pose::new(aside + DVec3::Z * (low - 0.5 * REACH), r1), Pose::new(DVec3::ZERO, r2))
    };
    (0..POSES).map(&mut meeting).collect()
}

/// CPU seconds of a thousand dependent additions and multiplications, best of many.
fn arithmetic() -> f64 {
    let run = |_| {
        let clock = ProcessTime::now();
        for _ in 0..1000 {
            let mut x = black_box(0.3);
            for _ in 0..1000 {
                x = x * 0.999 + 0.001;
            }
            black_box(x);
        }
        clock.elapsed().as_secs_f64() / 1000.0
    };
    (0..20).map(run).fold(f64::INFINITY, f64::min)
}

fn shapes() -> Result<Vec<(&'static str, Shape, Shape, Way)>, ShapeError> {
    let ball = Shape::ball(0.5)?;
    let cuboid = Shape::cuboid(DVec3::new(0.6, 0.5, 0.4))?;
    let (capsule, cylinder) = (Shape::capsule(0.4, 0.3)?, Shape::cylinder(0.5, 0.4)?);
    // twenty triangles, and twenty faces of which two have eighteen corners
    let golden = (1.0 + 5f64.sqrt()) / 2.0;
    let signs = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)];
    let corner = |(s, t): (f64, f64)| [DVec3::new(0.0, s, t * golden), DVec3::new(s, t * golden, 0.0), DVec3::new(t * golden, 0.0, s)];
    let icosahedron: Vec<DVec3> = signs.into_iter().flat_map(corner).map(|p| 0.3 * p).collect();
    let rim = |k: usize| DVec2::from_angle(TAU * k as f64 / 18.0) * 0.5;
    let prism: Vec<DVec3> = (0..18).flat_map(|k| [-0.4, 0.4].map(|z| rim(k).extend(z))).collect();
    let (icosahedron, prism) = (Shape::hull(&icosahedron)?, Shape::hull(&prism)?);
    let floor = Shape::half_space(DVec3::Z)?;
    let bumps: Vec<f64> = (0..41 * 41).map(|k| 0.03 * number(k)).collect();
    let field = Shape::compound(vec![(Pose::at(DVec3::new(-4.0, -4.0, 0.0)), Shape::height_field(&bumps, 41, 0.2, 0.2)?)])?;
    let vertices: Vec<DVec3> =
        (0..41 * 41).map(|k| DVec3::new((k % 41) as f64, (k / 41) as f64, 0.0) * 0.2 - DVec3::new(4.0, 4.0, 0.0)).collect();
    let square = |k: u32| [[k, k + 1, k + 42], [k, k + 42, k + 41]];
    let triangles: Vec<[u32; 3]> = (0..40u32).flat_map(|j| (0..40).flat_map(move |i| square(41 * j + i))).collect();
    let mesh = Shape::mesh(&vertices, &triangles)?;
    let bowl = Shape::vessel(&[DVec2::new(0.2, 0.0), DVec2::new(4.0, 3.0)], 0.2)?;
    let angle =
        Shape::compound(vec![(Pose::at(DVec3::Z * 0.4), cuboid.clone()), (Pose::at(DVec3::X * 0.8 - DVec3::Z * 0.4), cuboid.clone())])?;
    use Way::*;
    Ok([
        ("ball on ball", &ball, &ball, Any),
        ("ball on half-space", &ball, &floor, Down),
        ("ball on cuboid", &ball, &cuboid, Any),
        ("ball on capsule", &ball, &capsule, Any),
        ("ball on cylinder", &ball, &cylinder, Any),
        ("ball on hull of 20 triangles", &ball, &icosahedron, Any),
        ("ball on mesh", &ball, &mesh, Down),
        ("ball on height field", &ball, &field, Down),
        ("ball on vessel", &ball, &bowl, Down),
        ("capsule on capsule", &capsule, &capsule, Any),
        ("capsule on capsule, side on side", &capsule, &capsule, Side),
        ("capsule on cuboid", &capsule, &cuboid, Any),
        ("capsule on half-space", &capsule, &floor, Down),
        ("cylinder on cylinder", &cylinder, &cylinder, Any),
        ("cylinder on cylinder, end on end", &cylinder, &cylinder, Flat),
        ("cylinder on cylinder, side on side", &cylinder, &cylinder, Side),
        ("cylinder on cuboid", &cylinder, &cuboid, Any),
        ("cylinder on half-space", &cylinder, &floor, Down),
        ("cuboid on half-space", &cuboid, &floor, Down),
        ("cuboid on half-space, face on face", &cuboid, &floor, Flat),
        ("cuboid on cuboid", &cuboid, &cuboid, Any),
        ("cuboid on cuboid, face on face", &cuboid, &cuboid, Flat),
        ("cuboid on mesh", &cuboid, &mesh, Down),
        ("cuboid on mesh, face on face", &cuboid, &mesh, Flat),
        ("cuboid on height field", &cuboid, &field, Down),
        ("hull of 20 triangles on half-space", &icosahedron, &floor, Down),
        ("hull of 20 triangles on the same", &icosahedron, &icosahedron, Any),
        ("hull of 20 faces on the same, face on face", &prism, &prism, Flat),
        ("hull of 20 triangles on cuboid", &icosahedron, &cuboid, Any),
        ("hull of 20 triangles on mesh", &icosahedron, &mesh, Down),
        ("two cuboids on cuboid", &angle, &cuboid, Any),
        ("two cuboids on two cuboids", &angle, &angle, Any),
    ]
    .map(|(name, one, two, way)| (name, one.clone(), two.clone(), way))
    .to_vec())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // cargo passes --bench to every bench
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let unit = arithmetic();
    println!("| pair | ns a pair | points | ns a point | in arithmetic |");
    println!("|---|---|---|---|---|");
    for (name, one, two, way) in shapes()? {
        if !wanted.is_empty() && !wanted.iter().any(|w| name.contains(w.as_str())) {
            continue;
        }
        let poses = meetings(&one, &two, way);
        let (mut scratch, mut points) = (Scratch::default(), Vec::new());
        let mut look = || {
            points.clear();
            for (pose1, pose2) in &poses {
                contact_points(&one, black_box(pose1), &two, black_box(pose2), REACH, &mut scratch, &mut points);
            }
            black_box(points.len())
        };
        let found = look();
        assert!(found >= poses.len(), "{name}: {found} points of {} pairs that touch", poses.len());
        let mut best = f64::INFINITY;
        for _ in 0..ROUNDS {
            // rounds of about ten milliseconds
            let (clock, mut repeats) = (ProcessTime::now(), 0);
            while clock.elapsed().as_secs_f64() < 0.01 {
                look();
                repeats += 1;
            }
            best = best.min(clock.elapsed().as_secs_f64() / f64::from(repeats * POSES as u32));
        }
        let each = found as f64 / POSES as f64;
        println!("| {name} | {:.0} | {each:.1} | {:.0} | {:.3} |", best * 1e9, best / each * 1e9, best / unit);
    }
    println!("\narithmetic: 1000 dependent additions and multiplications, {:.2} µs", unit * 1e6);
    Ok(())
}
