//! A bullet and a wall, at random.

use super::Fallible;
use bevy_ecs::prelude::Entity;
use drystone::algebra::spatial::{Pose, rotate_exp};
use drystone::geometry::Shape;
use drystone::geometry::systems::Collider;
use drystone::model::law::{ContactLaws, CoulombImpact, Impact};
use drystone::model::scheme::{Scheme, Treatment};
use drystone::simulation::{Body, Simulation};
use glam::{DQuat, DVec3};

/// splitmix64: the same shots on every machine.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        low + (high - low) * (((z ^ z >> 31) >> 11) as f64 / (1u64 << 53) as f64)
    }

    pub(crate) fn magnitude(&mut self, low: f64, high: f64) -> f64 {
        self.between(low.ln(), high.ln()).exp()
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.between(0.0, n as f64) as usize
    }

    pub(crate) fn direction(&mut self) -> DVec3 {
        loop {
            let x = DVec3::new(self.between(-1.0, 1.0), self.between(-1.0, 1.0), self.between(-1.0, 1.0));
            if x.length_squared() > 0.01 && x.length_squared() <= 1.0 {
                return x.normalize();
            }
        }
    }

    fn turn(&mut self) -> DQuat {
        DQuat::from_axis_angle(self.direction(), self.between(0.0, 3.1))
    }
}

/// Half the width of a wall (m).
const HALF: f64 = 0.3;
/// Columns of a height field.
const COLUMNS: usize = 13;
/// Between its nodes (m).
const SPACING: f64 = 2.0 * HALF / (COLUMNS - 1) as f64;

/// What the judge knows of the wall, in its own frame.
pub(crate) enum Outline {
    /// Half extents.
    Box(DVec3),
    /// Heights at the nodes of a square grid, row by row.
    Field(Vec<f64>),
}

pub(crate) struct Shot {
    pub(crate) bullet: Entity,
    pub(crate) wall: Entity,
    outline: Outline,
    /// Smallest length of the bullet, its radius, thickness of the wall, smaller of both lengths (m).
    pub(crate) length: f64,
    pub(crate) radius: f64,
    pub(crate) thickness: f64,
    pub(crate) size: f64,
    /// Radius of a ball about the bullet's centre that is well within it (m).
    middle: f64,
    pub(crate) gravity: DVec3,
    pub(crate) steps: usize,
    h: f64,
    /// Outward normal of the face that a ball without spin is aimed at, else 0.
    pub(crate) normal: DVec3,
    e: f64,
    pub(crate) words: String,
}

fn bullet_shape(dice: &mut Dice) -> Fallible<Shape> {
    let r = dice.magnitude(0.002, 0.02);
    let aspect = dice.magnitude(1.0, 4.0);
    Ok(match dice.below(5) {
        0 => Shape::ball(r)?,
        1 => Shape::cuboid(DVec3::new(r, r * dice.between(1.0, 1.5), r * aspect))?,
        2 => Shape::capsule(r * aspect, r)?,
        3 => Shape::cylinder(r * aspect, r)?,
        _ => {
            let stretch = DVec3::new(1.0, 1.0, aspect.min(2.5));
            Shape::hull(&(0..14).map(|_| r * stretch * dice.direction()).collect::<Vec<_>>())?
        }
    })
}

/// Radius of the largest ball about the centre of mass inside the body.
fn inner_radius(shape: &Shape, centre: DVec3) -> f64 {
    let Shape::Hull(hull) = shape else { return 0.5 * shape.smallest_length() };
    let around = (0..2000).map(|k| {
        let (z, a) = (f64::from(2 * k + 1) / 2000.0 - 1.0, f64::from(k) * 2.399_963);
        let d = DVec3::new(a.cos(), a.sin(), 0.0) * (1.0 - z * z).sqrt() + DVec3::Z * z;
        hull.vertices.iter().map(|v| d.dot(*v - centre)).fold(f64::NEG_INFINITY, f64::max)
    });
    around.fold(f64::INFINITY, f64::min)
}

fn corners(half: DVec3) -> Vec<DVec3> {
    (0..8).map(|k| half * DVec3::from_array([1, 2, 4].map(|bit| if k & bit > 0 { 1.0 } else { -1.0 }))).collect()
}

/// The twelve triangles of a box, outward.
fn triangles() -> Vec<[u32; 3]> {
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect()
}

fn wall_shape(dice: &mut Dice) -> Fallible<(Shape, Outline, f64)> {
    let kind = dice.below(5);
    // a hull as thin as paper is refused
    let thickness = dice.magnitude(if kind == 1 { 4e-3 } else { 2e-4 }, 0.02);
    let half = DVec3::new(HALF, HALF, 0.5 * thickness);
    let solid = Outline::Box(half);
    let (shape, outline) = match kind {
        0 => (Shape::cuboid(half)?, solid),
        1 => (Shape::hull(&corners(half))?, solid),
        2 => (Shape::mesh(&corners(half), &triangles())?, solid),
        3 => {
            let part = DVec3::new(0.5 * HALF, HALF, 0.5 * thickness);
            let cuboid = |x: f64| -> Fallible<_> { Ok((Pose::at(DVec3::X * x * HALF), Shape::cuboid(part)?)) };
            (Shape::compound(vec![cuboid(-0.5)?, cuboid(0.5)?])?, solid)
        }
        _ => {
            let heights: Vec<f64> = (0..COLUMNS * COLUMNS).map(|_| dice.between(-0.5, 0.5) * thickness).collect();
            (Shape::height_field(&heights, COLUMNS, SPACING, SPACING)?, Outline::Field(heights))
        }
    };
    Ok((shape, outline, thickness))
}

/// A place on the wall, in its frame, and whether it is inside a face.
fn aim(dice: &mut Dice, outline: &Outline, reach: f64) -> (DVec3, bool) {
    let field = matches!(outline, Outline::Field(_));
    let inside = if field { 0.4 } else { 0.7 } * HALF;
    let mut x = DVec3::new(dice.between(-inside, inside), dice.between(-inside, inside), 0.0);
    let Outline::Box(half) = outline else {
        // its origin is a corner; it is not left on the way
        return (x + DVec3::new(HALF, HALF, 0.0), false);
    };
    x.z = half.z;
    let kind = dice.below(4);
    if kind < 2 {
        return (x, true);
    }
    x.x = half.x + dice.between(-reach, reach);
    if kind == 3 {
        x.y = half.y + dice.between(-reach, reach);
    }
    (x, false)
}

pub(crate) fn shot(dice: &mut Dice) -> Fallible<(Simulation, Shot)> {
    let shape = bullet_shape(dice)?;
    let (length, radius) = (shape.smallest_length(), shape.bounding_radius());
    let (wall, outline, thickness) = wall_shape(dice)?;
    let h = [1e-3, 2e-4, 5e-3][dice.below(3)];
    let stride = dice.magnitude(0.6, 60.0);
    let v = stride * length / h;
    let spin = match dice.below(3) {
        0 => DVec3::ZERO,
        _ => dice.direction() * dice.magnitude(0.01, 3.0).min(0.5 * v * h / radius) / h,
    };
    let place = Pose { position: dice.direction() * 0.1, rotation: dice.turn() };
    let (target, face) = aim(dice, &outline, 1.5 * radius);
    // from above, up to 75 degrees aslant
    let aslant = dice.direction();
    let way = loop {
        let d = (dice.direction() - 2.0 * DVec3::Z).normalize();
        let d = (d + aslant * dice.between(0.0, 1.5)).normalize();
        if d.z < if matches!(outline, Outline::Field(_)) { -0.45 } else { -0.25 } {
            break d;
        }
    };
    let back = (2.5 * radius + thickness) / way.z.abs() + dice.between(0.0, 1.0) * v * h;
    let start = place.point(target - back * way);
    let gravity = if dice.below(4) == 0 { dice.direction() * 9.81 } else { DVec3::ZERO };
    let treatment = Treatment::GapAware { beta: 0.1 };
    let mut sim = Simulation::new(Scheme { time_step: h, treatment, gravity, ..Scheme::default() })?;
    sim.solver_mut().tolerance = 1e-8;
    let (e, mu) = ([0.0, 0.5, 0.9][dice.below(3)], [0.0, 0.5][dice.below(2)]);
    let impact = if e > 0.0 && mu > 0.0 { Impact::Fremond } else { Impact::Newton };
    sim.set_laws(ContactLaws::uniform(CoulombImpact { mu, e_n: e, impact, ..CoulombImpact::default() }))?;
    let kinds = (shape.kind(), wall.kind());
    let mass = dice.magnitude(0.1, 100.0);
    let solid = matches!(outline, Outline::Box(_)) && wall.kind() != "mesh" && dice.below(3) == 0 && gravity == DVec3::ZERO;
    let barrier = Body::new(wall).at(place.position).turned(place.rotation);
    let wall = sim.spawn_body(if solid { barrier.mass(mass) } else { barrier.fixed() })?;
    let round = kinds.0 == "ball";
    let orientation = dice.turn();
    let bullet = Body::new(shape).mass(1.0).at(start).turned(orientation).moving(place.vector(way) * v).spinning(spin);
    let bullet = sim.spawn_body(bullet)?;
    let collider = sim.world().get::<Collider>(bullet).expect("alive");
    let middle = 0.5 * inner_radius(&collider.shape, collider.offset.local_point(DVec3::ZERO));
    let steps = (back / (v * h)) as usize + 6;
    let moves = if solid { format!("of {mass:.2} kg") } else { String::new() };
    let words = format!(
        "{} of {length:.4} m at {stride:.2} a step, {:.2} rad, on a {} of {thickness:.1e} m {moves}{}, h {h}, e {e}, mu {mu}, g {}",
        kinds.0,
        spin.length() * h,
        kinds.1,
        if face { " at its face" } else { "" },
        gravity.length(),
    );
    let normal = if face && round && !solid && spin == DVec3::ZERO && mu == 0.0 && gravity == DVec3::ZERO {
        place.vector(DVec3::Z)
    } else {
        DVec3::ZERO
    };
    let size = if kinds.1 == "height field" || kinds.1 == "mesh" { length } else { length.min(thickness) };
    let shot = Shot { bullet, wall, outline, length, middle, radius, thickness, size, gravity, steps, h, normal, e, words };
    Ok((sim, shot))
}

impl Shot {
    pub(crate) fn time(&self) -> f64 {
        self.steps as f64 * self.h
    }

    /// Distance of a point from the wall (m), not above the true one; above a height field only, outside of which there is its `rim` or nothing.
    pub(crate) fn clearance(&self, x: DVec3, wall: &Pose, rim: bool) -> f64 {
        let x = wall.local_point(x);
        match &self.outline {
            Outline::Box(half) => (x.abs() - *half).max(DVec3::ZERO).length(),
            Outline::Field(heights) => {
                let beyond = (x.truncate() - HALF).abs().max_element() - HALF;
                if beyond >= 0.0 {
                    // outside its rim there is nothing
                    return beyond.max(if rim { 0.0 } else { self.length });
                }
                let up = x.z - height(heights, x);
                // slopes are below thickness over spacing
                let slope = self.thickness / SPACING;
                up / (1.0 + 2.0 * slope * slope).sqrt()
            }
        }
    }

    /// How deep (in parts of its smallest length) the middle of the bullet has been in the wall on the straight way between two ends of steps.
    pub(crate) fn passes(&self, from: [Pose; 2], to: [Pose; 2], spin: DVec3) -> Option<f64> {
        // a light wall may be thrown round within the step
        let turned = |s: f64| rotate_exp(from[1].rotation, s * self.h * spin);
        let whole = turned(1.0).dot(to[1].rotation).abs() > 1.0 - 1e-6;
        let parts = ((to[0].position - from[0].position).length() / (0.02 * self.length)).ceil().clamp(1.0, 1e5) as usize;
        let depth = |i: usize| {
            let s = i as f64 / parts as f64;
            let x = from[0].position.lerp(to[0].position, s);
            let position = from[1].position.lerp(to[1].position, s);
            let rotation = if whole { turned(s) } else { from[1].rotation.slerp(to[1].rotation, s) };
            let wall = Pose { position, rotation };
            let clear = self.clearance(x, &wall, false);
            self.middle - clear
        };
        let deepest = (0..=parts).map(depth).fold(0.0, f64::max);
        (deepest > 0.0).then_some(deepest / self.length)
    }

    /// Velocity along the normal of the face after the impact (m/s), where it is known exactly.
    pub(crate) fn exact(&self, v: DVec3) -> Option<f64> {
        (self.normal != DVec3::ZERO).then(|| -self.e * v.dot(self.normal))
    }
}

/// Height of a field of two triangles a cell.
fn height(heights: &[f64], x: DVec3) -> f64 {
    let at = |c: f64| (c / SPACING).clamp(0.0, (COLUMNS - 1) as f64 - 1e-9);
    let (u, v) = (at(x.x), at(x.y));
    let (i, j) = (u as usize, v as usize);
    let node = |i: usize, j: usize| heights[j * COLUMNS + i];
    let (a, b) = (u - i as f64, v - j as f64);
    let (low, high) = (node(i, j), node(i + 1, j + 1));
    if a > b {
        low + a * (node(i + 1, j) - low) + b * (high - node(i + 1, j))
    } else {
        low + b * (node(i, j + 1) - low) + a * (high - node(i, j + 1))
    }
}
