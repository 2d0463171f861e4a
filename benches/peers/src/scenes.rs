//! The benchmark scenes S1, S3 and S4 as lists of bodies, made here once more so that no engine is fed by the other.

use std::f64::consts::PI;

/// What a body is.
pub(crate) enum Shape {
    /// Radius (m).
    Ball(f64),
    /// Half extents (m).
    Cuboid([f64; 3]),
    /// Corners about the centre of mass (m).
    Hull(Vec<[f64; 3]>),
}

pub(crate) struct Body {
    pub(crate) shape: Shape,
    /// Centre of mass (m).
    pub(crate) position: [f64; 3],
}

/// A plane: what lies behind it is solid.
pub(crate) struct Plane {
    pub(crate) point: [f64; 3],
    pub(crate) normal: [f64; 3],
}

/// How rapier is set: step (s), iterations, whether friction is Coulomb's point by point, length unit (m).
pub(crate) struct Settings {
    pub(crate) step: f64,
    pub(crate) iterations: usize,
    pub(crate) coulomb: bool,
    pub(crate) unit: f64,
}

pub(crate) struct Scene {
    pub(crate) bodies: Vec<Body>,
    pub(crate) planes: Vec<Plane>,
    pub(crate) density: f64,
    pub(crate) mu: f64,
    pub(crate) end: f64,
    pub(crate) settings: Settings,
    /// Words after `drystone run`.
    pub(crate) drystone: Vec<String>,
    /// What Box3D took beside rapier when both were measured.
    pub(crate) box3d: f64,
}

/// The scene called `s1-N` (N³ balls), `s3-COLUMNSxROWS` or `s4-RATIO`.
pub(crate) fn find(name: &str) -> Option<Scene> {
    let (kind, size) = name.split_once('-')?;
    match kind {
        "s1" => size.parse().ok().map(pour),
        "s3" => {
            let (columns, rows) = size.split_once('x')?;
            Some(wall(columns.parse().ok()?, rows.parse().ok()?))
        }
        "s4" => size.parse().ok().map(arch),
        _ => None,
    }
}

/// The k-th number of the sequence in [0, 1): the finaliser of splitmix64.
fn number(k: u64) -> f64 {
    let mut z = (k + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 * 2f64.powi(-53)
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

const FLOOR: Plane = Plane { point: [0.0; 3], normal: [0.0, 0.0, 1.0] };

fn pour(n: usize) -> Scene {
    let r = 0.01;
    let half = 1.1 * r * n as f64;
    let ball = |i: usize| {
        let jitter = |axis: usize| (2.0 * number((3 * i + axis) as u64) - 1.0) * 0.08 * r;
        let place = [i % n, i / n % n, i / n / n].map(|k| k as f64 + 0.5);
        let position = [-half + place[0] * 2.2 * r + jitter(0), -half + place[1] * 2.2 * r + jitter(1), place[2] * 3.0 * r + jitter(2)];
        Body { shape: Shape::Ball(r), position }
    };
    let side = |axis: usize, sign: f64| {
        let along = |x: f64| std::array::from_fn(|k| if k == axis { x } else { 0.0 });
        Plane { point: along(-sign * half), normal: along(sign) }
    };
    Scene {
        bodies: (0..n * n * n).map(ball).collect(),
        planes: vec![FLOOR, side(0, 1.0), side(0, -1.0), side(1, 1.0), side(1, -1.0)],
        density: 2500.0,
        mu: 0.5,
        end: 1.0,
        settings: Settings { step: 1e-3, iterations: 4, coulomb: false, unit: 0.02 },
        drystone: words(&format!("bead_pour --set n={n}")),
        box3d: 0.83,
    }
}

fn wall(columns: usize, rows: usize) -> Scene {
    let (pitch, gap) = (0.401, 0.001);
    let half = (pitch / 2.0 - gap) / 2.0;
    let mut bodies = Vec::new();
    for row in 0..rows {
        let mut push = |x: f64, hx: f64| {
            bodies.push(Body { shape: Shape::Cuboid([hx, 0.1, 0.1]), position: [x, 0.0, (row as f64 + 0.5) * 0.2] });
        };
        if row % 2 == 0 {
            (0..columns).for_each(|i| push((i as f64 + 0.5) * pitch, 0.2));
        } else {
            push(gap / 2.0 + half, half);
            (1..columns).for_each(|i| push(i as f64 * pitch, 0.2));
            push(columns as f64 * pitch - gap / 2.0 - half, half);
        }
    }
    Scene {
        bodies,
        planes: vec![FLOOR],
        density: 2000.0,
        mu: 0.6,
        end: 2.0,
        settings: Settings { step: 2e-3, iterations: 20, coulomb: true, unit: 0.1 },
        drystone: words(&format!("block_wall --set columns={columns} --set rows={rows}")),
        box3d: 0.3,
    }
}

fn arch(ratio: f64) -> Scene {
    const STONES: usize = 17;
    let (inner, outer) = (1.0 - ratio / 2.0, 1.0 + ratio / 2.0);
    let stone = |k: usize| {
        let corner = |radius: f64, k: usize| {
            let angle = PI * k as f64 / STONES as f64;
            [radius * angle.cos(), radius * angle.sin()]
        };
        let quad = [corner(inner, k), corner(outer, k), corner(outer, k + 1), corner(inner, k + 1)];
        let (mut area, mut centre) = (0.0, [0.0; 2]);
        for i in 0..4 {
            let (a, b) = (quad[i], quad[(i + 1) % 4]);
            let cross = a[0] * b[1] - b[0] * a[1];
            area += cross / 2.0;
            for axis in 0..2 {
                centre[axis] += (a[axis] + b[axis]) * cross;
            }
        }
        let [x, z] = centre.map(|moment| moment / (6.0 * area));
        let corners = quad.iter().flat_map(|q| [-0.2, 0.2].map(|y| [q[0] - x, y, q[1] - z])).collect();
        Body { shape: Shape::Hull(corners), position: [x, 0.0, z] }
    };
    Scene {
        bodies: (0..STONES).map(stone).collect(),
        planes: vec![FLOOR],
        density: 2000.0,
        mu: 0.7,
        end: 3.0,
        settings: Settings { step: 1e-3, iterations: 20, coulomb: true, unit: 0.01 },
        drystone: words(&format!("arch --set thickness_ratio={ratio}")),
        box3d: f64::NAN,
    }
}
