//! A snapshot as a picture: bodies in sun and sky on light ground, with thin outlines and, if wanted, the chains of force.
//!
//! Every sample finds its solid in a depth buffer (`raster`), every pixel shades the few solids it sees once each
//! (`light`), outlines and chains are laid over it (`lines`). The same snapshot gives the same bytes on any number of threads.

pub(super) mod colour;
mod figures;
pub(crate) mod legend;
mod light;
mod lines;
mod mesh;
mod raster;
mod view;

use super::canvas::png;
use crate::algebra::spatial::tangents;
use crate::io::error::{OutputError, replace_file};
use crate::io::snapshot::{BodyView, Snapshot};
use glam::{DVec2, DVec3, Vec3};
use light::Lights;
use lines::Line;
use mesh::ShadedMesh;
use raster::{NOTHING, Raster, Solid};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use view::View;

/// What the colour of a body tells.
///
/// ```
/// use drystone::io::picture::{ColourBy, Picture};
/// let picture = Picture { colour: ColourBy::Speed { top: 2.0 }, ..Picture::default() };
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ColourBy {
    /// Its material; bodies of one material differ a little, as stones do.
    Material,
    /// Which body it is.
    Body,
    /// How fast its centre moves, from dark to light.
    Speed {
        /// The speed (m/s) of the lightest colour.
        top: f64,
    },
    /// Mean stress of what presses on it in the last step (Pa), compression positive.
    Stress {
        /// That of the lightest colour.
        top: f64,
    },
    /// How many bodies press on it.
    Coordination {
        /// That of the lightest colour.
        top: f64,
    },
}

/// Settings of a picture.
///
/// Balls (shape "ball") are drawn exactly, from the radius of their surface. Half-spaces (shape "half-space") that face up
/// are endless ground; others are walls around the bodies, seen from their free side only.
///
/// ```
/// use drystone::{algebra::spatial::Pose, io::{picture::Picture, snapshot::*}};
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("cube.png");
/// let cube = BodyView::new(0, "cube", "cuboid", Pose::IDENTITY, Surface::cuboid(glam::DVec3::ONE).into());
/// let snapshot = Snapshot { step: 0, time: 0.0, step_size: 0.0, bodies: &[cube], contacts: &[] };
/// Picture { size: [160, 100], ..Picture::default() }.write(&path, &snapshot)?;
/// # Ok::<(), drystone::io::error::OutputError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Width and height (pixels), 1 to 16384 each.
    pub size: [u32; 2],
    /// From the bodies to the eye; any length. The z axis is up in the picture.
    pub direction: DVec3,
    /// What colours tell.
    pub colour: ColourBy,
    /// Whether the chains of force are drawn over pale bodies: the contacts that press more than the mean, as wide as they press.
    pub forces: bool,
    /// Samples per pixel in each direction, 1 to 8.
    pub samples: u32,
    /// Lower and upper corner (m) of the box that fills the picture, as the frames of a film need; without it what moves fills it.
    pub frame: Option<[DVec3; 2]>,
    /// Whether there is a scale, true at the distance of the middle of what is shown, and with forces how wide they are drawn; pictures
    /// below 400 pixels have no room for it.
    pub legend: bool,
    /// Force (N) of the widest chain, as the frames of a film need; without it the largest one has that width.
    pub strongest: Option<f64>,
}

impl Default for Picture {
    fn default() -> Self {
        let (size, direction) = ([1280, 800], DVec3::new(0.55, -1.0, 0.42));
        Self { size, direction, colour: ColourBy::Material, forces: false, samples: 3, frame: None, legend: true, strongest: None }
    }
}

/// Half the angle of view along the longer side (rad).
const HALF_ANGLE: f64 = 0.27;

impl Picture {
    /// Renders the snapshot, fitted to its dynamic bodies, into a PNG file.
    pub fn write(&self, path: &Path, snapshot: &Snapshot) -> Result<(), OutputError> {
        let pixels = self.render(snapshot).map_err(|cause| OutputError::data(path, cause))?;
        let encoded = png(self.size, &pixels);
        let bytes = encoded.map_err(|error| OutputError::data(path, format!("the picture cannot be encoded: {error}")))?;
        replace_file(path, &bytes)
    }

    /// The picture as rows of sRGB bytes, three per pixel; the error says what cannot be drawn.
    pub fn render(&self, snapshot: &Snapshot) -> Result<Vec<u8>, String> {
        self.validate()?;
        let mut subject = match self.frame {
            None => subject(snapshot)?,
            Some([low, high]) => {
                let corner = |k: usize| DVec3::from_array([0, 1, 2].map(|axis| if k >> axis & 1 == 0 { low[axis] } else { high[axis] }));
                (0..8).map(|k| (corner(k), 0.0)).collect()
            }
        };
        let size = self.size.map(|n| n as usize * self.samples as usize);
        let [low, high] = corners(&subject);
        let (middle, radius) = (0.5 * (low + high), 0.5 * (high - low).length());

        let stage = Stage::new(self, snapshot, [low, high]);
        subject.extend(stage.walls.iter().map(|&corner| (corner, 0.0)));
        // bodies stand beside the bar and above the legend of forces
        let taken = [self.colour.room(self.size).map_or(0, |room| room[0]), self.below()];
        let free = [0, 1].map(|side| size[side] - taken[side] * self.samples as usize);
        let view = View::fitted(-self.direction.normalize(), &subject, free, HALF_ANGLE);
        // over the left shoulder, so that what the eye sees is lit and shadows fall to the right
        let level = |v: DVec3| v.with_z(0.0).normalize_or_zero();
        let sun = (-0.5 * level(view.right) - 0.75 * level(view.ahead) + 1.15 * DVec3::Z).normalize();
        let lights = Lights::new(sun, &stage.solids[..stage.casting], middle, 1.02 * radius);
        let raster = Raster::new(&view, size[0], size[1], &stage.solids);
        let outline = Line { ends: [DVec3::ZERO; 2], width: 1.15 * f64::from(self.samples) * f64::from(self.size[1]).sqrt() / 28.0 };
        let outlines: Vec<Line> = stage.edges.iter().map(|&ends| Line { ends, ..outline }).collect();
        let outlines = lines::cover(&view, size, &outlines, Some(&raster), 4.0 * f64::from(self.samples));
        let chains = if self.forces { lines::cover(&view, size, &self.chains(snapshot), None, 0.0) } else { Vec::new() };

        let (width, n) = (self.size[0] as usize, self.samples as usize);
        let mut pixels = vec![0; 3 * width * self.size[1] as usize];
        let share = 1.0 / (n * n) as f32;
        pixels.par_chunks_mut(3 * width).enumerate().for_each(|(row, pixels)| {
            let back = background((row as f32 + 0.5) / self.size[1] as f32);
            // what each pixel sees: solids, how many of its samples, the mean place of these; then the light there
            let (mut seen, mut of_pixel): (Vec<(u32, u32, DVec2, f64)>, _) = (Vec::new(), vec![0]);
            for column in 0..width {
                let before = seen.len();
                for (x, y) in (0..n * n).map(|k| (column * n + k % n, row * n + k / n)) {
                    let (nearness, solid) = raster.nearest[y * size[0] + x];
                    let (place, nearness) = (DVec2::new(x as f64 + 0.5, y as f64 + 0.5), f64::from(nearness));
                    match seen[before..].iter_mut().find(|group| group.0 == solid) {
                        Some(group) => (group.1, group.2, group.3) = (group.1 + 1, group.2 + place, group.3 + nearness),
                        None => seen.push((solid, 1, place, nearness)),
                    }
                }
                of_pixel.push(seen.len());
            }
            let surface = |&(solid, count, place, nearness): &(u32, u32, DVec2, f64)| {
                let weight = 1.0 / f64::from(count);
                let point = view.point(weight * place, weight * nearness);
                (point, stage.solids[solid as usize].normal(point))
            };
            let surfaces: Vec<_> = seen.iter().filter(|group| group.0 != NOTHING).map(surface).collect();
            let mut lit = surfaces.iter().zip(lights.arriving(&surfaces));
            for (column, pixel) in pixels.chunks_mut(3).enumerate() {
                let mut sum = Vec3::ZERO;
                for &(solid, count, ..) in &seen[of_pixel[column]..of_pixel[column + 1]] {
                    // the next surface, unless there is none
                    let surface = if solid == NOTHING { None } else { lit.next() };
                    let seen = match surface {
                        None => back,
                        Some((&(point, _), light)) => {
                            let (colour, part) = stage.colours[solid as usize];
                            let lit = colour * light;
                            match part {
                                Part::Body => lit,
                                Part::Wall => lit.lerp(back, 0.5),
                                Part::Ground => {
                                    let far = (((point - middle).length() / radius - 1.6) / 6.0).clamp(0.0, 1.0) as f32;
                                    lit.lerp(back, far * far * (3.0 - 2.0 * far))
                                }
                            }
                        }
                    };
                    sum += seen * (count as f32 * share);
                }
                let samples = || (0..n * n).map(|k| (row * n + k / n) * size[0] + column * n + k % n);
                let ink = |of: &[u8]| samples().map(|k| of.get(k).map_or(0, |&ink| u32::from(ink))).sum::<u32>() as f32 * share / 255.0;
                sum = sum.lerp(sum * 0.12, 0.8 * ink(&outlines)).lerp(colour::from_srgb(0xa3122b), 0.9 * ink(&chains));
                pixel.copy_from_slice(&colour::to_srgb(sum));
            }
        });
        self.colour
            .draw_scale(&mut pixels, self.size, self.quiet())
            .map_err(|error| format!("the scale of colours cannot be drawn: {error}"))?;
        if self.legend {
            let strongest = self.forces.then(|| self.strongest(snapshot));
            self.draw_legend(&mut pixels, &view, middle, strongest).map_err(|error| format!("the legend cannot be drawn: {error}"))?;
        }
        Ok(pixels)
    }

    fn validate(&self) -> Result<(), String> {
        let [width, height] = self.size;
        if !(1..=16384).contains(&width) || !(1..=16384).contains(&height) {
            return Err(format!("a picture of {width} × {height} pixels; 1 to 16384 each way would do"));
        }
        if !(1..=8).contains(&self.samples) {
            return Err(format!("{} samples per pixel each way; 1 to 8 would do", self.samples));
        }
        if let Some([low, high]) = self.frame
            && !(low.is_finite() && high.is_finite() && low.cmplt(high).all())
        {
            return Err(format!("the frame goes from {low} to {high}; two finite corners, the first one lower, would do"));
        }
        if !self.direction.is_finite() || self.direction.length() < 1e-9 {
            return Err(format!("the direction of view is {}; any vector longer than 1e-9 would do", self.direction));
        }
        Ok(())
    }

    /// Part of grey in the colours of bodies: force chains need a quiet background, but colours that stand for numbers have to be told apart.
    fn quiet(&self) -> f32 {
        match (self.forces, self.colour.scale()) {
            (false, _) => 0.0,
            (true, None) => 0.6,
            (true, Some(_)) => 0.35,
        }
    }

    /// Force (N) of the widest chain.
    fn strongest(&self, snapshot: &Snapshot) -> f64 {
        self.strongest.unwrap_or_else(|| strongest(snapshot))
    }

    /// Width of the widest chain (samples).
    fn widest(&self) -> f64 {
        f64::from(self.samples * self.size[0].min(self.size[1])) / 70.0
    }

    /// The branches of the contacts that press more than the mean does, as wide as their impulse.
    fn chains(&self, snapshot: &Snapshot) -> Vec<Line> {
        let pressing = || snapshot.contacts.iter().filter(|contact| contact.normal_impulse > 0.0);
        let largest = match self.strongest {
            Some(force) if snapshot.step_size > 0.0 => force * snapshot.step_size,
            _ => pressing().fold(0.0, |m: f64, contact| m.max(contact.normal_impulse)),
        };
        let mean = pressing().map(|contact| contact.normal_impulse).sum::<f64>() / pressing().count() as f64;
        let widest = self.widest();
        let branch = |contact| {
            let points: Vec<DVec3> = snapshot.branch(contact).collect();
            let width = widest * contact.normal_impulse / largest;
            points.windows(2).map(|ends| Line { ends: [ends[0], ends[1]], width }).collect::<Vec<_>>()
        };
        pressing().filter(|contact| contact.normal_impulse >= mean).flat_map(branch).collect()
    }
}

/// The largest normal force (N); 0 where nothing presses.
///
/// ```
/// use drystone::io::{picture::strongest, snapshot::Snapshot};
/// assert_eq!(strongest(&Snapshot { step: 0, time: 0.0, step_size: 0.1, bodies: &[], contacts: &[] }), 0.0);
/// ```
pub fn strongest(snapshot: &Snapshot) -> f64 {
    snapshot.contacts.iter().fold(0.0, |m: f64, contact| m.max(contact.normal_impulse)) * snapshot.per_step()
}

/// The box that a picture of this snapshot would show, as lower and upper corner (m).
///
/// # Errors
/// There is no body to look at.
///
/// ```
/// use drystone::{algebra::spatial::Pose, io::{picture::bounds, snapshot::*}};
/// let cube = BodyView::new(0, "cube", "cuboid", Pose::IDENTITY, Surface::cuboid(glam::DVec3::ONE).into());
/// let snapshot = Snapshot { step: 0, time: 0.0, step_size: 0.0, bodies: &[cube], contacts: &[] };
/// assert_eq!(bounds(&snapshot)?, [-glam::DVec3::ONE, glam::DVec3::ONE]);
/// # Ok::<(), String>(())
/// ```
pub fn bounds(snapshot: &Snapshot) -> Result<[DVec3; 2], String> {
    Ok(corners(&subject(snapshot)?))
}

fn corners(spheres: &[(DVec3, f64)]) -> [DVec3; 2] {
    let low = spheres.iter().fold(DVec3::INFINITY, |m, &(x, r)| m.min(x - r));
    [low, spheres.iter().fold(DVec3::NEG_INFINITY, |m, &(x, r)| m.max(x + r))]
}

/// Paper white, a little blue towards the top.
fn background(height: f32) -> Vec3 {
    colour::from_srgb(0xdfe7ee).lerp(colour::from_srgb(0xf7f8f8), (1.6 * height).min(1.0))
}

/// Distances from the middle of the scene, over that of nine bodies in ten, up to which a body is shown: one that moves, and one that stands.
const FLOWN: f64 = 3.0;
const APART: f64 = 10.0;
/// What stands goes by less than its size in this time (s).
const SECOND: f64 = 1.0;

/// Spheres (corners have radius 0) that the picture has to show: the dynamic bodies, or all bounded ones where none is dynamic.
fn subject(snapshot: &Snapshot) -> Result<Vec<(DVec3, f64)>, String> {
    let finite = |body: &&BodyView| body.pose.is_finite() && !body.surface.vertices.is_empty();
    let bounded = || snapshot.bodies.iter().filter(finite).filter(|body| body.shape != "half-space");
    let mut shown: Vec<&BodyView> = bounded().filter(|body| body.dynamic).collect();
    if shown.is_empty() {
        shown = bounded().collect();
    }
    if shown.is_empty() {
        return Err("no body to look at: a picture needs one with a surface and a finite pose that is not a half-space".to_owned());
    }
    // what has flown far away must not make the rest tiny; a few bodies that stand apart belong to the scene
    let median = |axis: fn(DVec3) -> f64| {
        let mut values: Vec<f64> = shown.iter().map(|body| axis(body.pose.position)).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let middle = DVec3::new(median(|x| x.x), median(|x| x.y), median(|x| x.z));
    let distance = |body: &BodyView| body.pose.position.distance(middle) + reach(body);
    let mut distances: Vec<f64> = shown.iter().map(|body| distance(body)).collect();
    distances.sort_by(f64::total_cmp);
    // of a few bodies none is a straggler
    let most = distances[if distances.len() < 5 { distances.len() - 1 } else { (distances.len() - 1) * 9 / 10 }];
    let stands = |body: &BodyView| body.linear.length() * SECOND < reach(body);
    let limit = |body: &BodyView| most * if stands(body) { APART } else { FLOWN };
    let spheres = shown.iter().filter(|body| distance(body) <= limit(body)).flat_map(|body| {
        let ball = (body.shape == "ball").then(|| (body.pose.position, reach(body)));
        let corners = body.surface.vertices.iter().filter(|_| body.shape != "ball").map(|&x| (body.pose.point(x), 0.0));
        ball.into_iter().chain(corners)
    });
    Ok(spheres.collect())
}

/// Largest distance of the surface from the body's origin (m).
fn reach(body: &BodyView) -> f64 {
    body.surface.vertices.iter().map(|x| x.length()).fold(0.0, f64::max)
}

/// Everything to draw, in the world.
struct Stage {
    /// First those that cast shadows.
    solids: Vec<Solid>,
    casting: usize,
    /// Colour of each solid, and what it belongs to.
    colours: Vec<(Vec3, Part)>,
    edges: Vec<[DVec3; 2]>,
    /// Corners of the walls.
    walls: Vec<DVec3>,
}

#[derive(Clone, Copy)]
enum Part {
    Body,
    Ground,
    Wall,
}

impl Stage {
    fn new(picture: &Picture, snapshot: &Snapshot, bounds: [DVec3; 2]) -> Self {
        let mut stage = Self { solids: Vec::new(), casting: 0, colours: Vec::new(), edges: Vec::new(), walls: Vec::new() };
        let figures = picture.colour.figures(snapshot).unwrap_or_else(|| vec![0.0; snapshot.bodies.len()]);
        let visible = || snapshot.bodies.iter().zip(&figures).filter(|(body, _)| body.pose.is_finite());
        let towards = picture.direction.normalize();
        let moving: Vec<DVec3> = visible().filter(|(body, _)| body.dynamic).map(|(body, _)| body.pose.position).collect();
        let centres: Vec<DVec3> = moving.iter().copied().step_by(moving.len().div_ceil(LOOKED_FOR).max(1)).collect();
        // bodies of one shape share their surface, so it is prepared once
        let mut meshes: BTreeMap<*const _, ShadedMesh> = BTreeMap::new();
        for (body, figure) in visible().filter(|(body, _)| body.shape != "half-space") {
            let colour = (body_colour(picture, body, *figure), Part::Body);
            if body.shape == "ball" {
                stage.add(Solid::Ball { centre: body.pose.position, radius: reach(body) }, colour);
                continue;
            }
            let mesh = meshes.entry(Arc::as_ptr(&body.surface)).or_insert_with(|| ShadedMesh::new(&body.surface));
            let corner = |vertex: u32| body.pose.point(body.surface.vertices[vertex as usize]);
            let hidden = if body.dynamic { None } else { hidden_behind(body, &centres, towards) };
            for (triangle, normals) in body.surface.triangles.iter().zip(&mesh.normals) {
                let corners = triangle.map(corner);
                // a wall before the grains is cut away, its edges stay
                if hidden.is_none_or(|middle| !is_before(corners, middle, towards)) {
                    stage.add(Solid::Triangle { corners, normals: normals.map(|n| body.pose.vector(n)) }, colour);
                }
            }
            stage.edges.extend(mesh.edges.iter().map(|edge| edge.map(corner)));
        }
        stage.casting = stage.solids.len();
        for (body, _) in visible().filter(|(body, _)| body.shape == "half-space") {
            stage.add_half_space(body, bounds);
        }
        stage
    }

    fn add(&mut self, solid: Solid, colour: (Vec3, Part)) {
        self.solids.push(solid);
        self.colours.push(colour);
    }

    fn add_half_space(&mut self, body: &BodyView, [low, high]: [DVec3; 2]) {
        let Some(&[a, b, c]) = body.surface.triangles.first() else { return };
        let corner = |vertex: u32| body.pose.point(body.surface.vertices[vertex as usize]);
        let (a, b, c) = (corner(a), corner(b), corner(c));
        let Some(normal) = (b - a).cross(c - a).try_normalize() else { return };
        if normal.z > 0.3 {
            return self.add(Solid::Plane { point: a, normal }, (colour::from_srgb(0xe6e2da), Part::Ground));
        }
        // the rectangle in the plane that stands behind everything shown
        let side = if normal.z.abs() > 0.9 { tangents(normal).0 } else { DVec3::Z.cross(normal).normalize() };
        let rise = normal.cross(side);
        let corners = (0..8).map(|k| DVec3::select(glam::BVec3::new(k & 1 > 0, k & 2 > 0, k & 4 > 0), high, low) - a);
        let (mut from, mut to) = (DVec2::INFINITY, DVec2::NEG_INFINITY);
        for x in corners {
            let x = DVec2::new(x.dot(side), x.dot(rise));
            (from, to) = (from.min(x), to.max(x));
        }
        let at = |x: f64, y: f64| a + x * side + y * rise;
        let quad = [at(from.x, from.y), at(to.x, from.y), at(to.x, to.y), at(from.x, to.y)];
        self.walls.extend(quad);
        self.edges.extend((0..4).map(|k| [quad[k], quad[(k + 1) % 4]]));
        for corners in [[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]] {
            self.add(Solid::Triangle { corners, normals: [normal; 3] }, (colour::from_srgb(0xe4e6e8), Part::Wall));
        }
    }
}

/// Dynamic bodies that are looked for behind what stands, evenly chosen, and the part of them that one wall may hide.
const LOOKED_FOR: usize = 200;
const HIDDEN: f64 = 0.2;
/// Triangles of a wall, such as a ground, beyond which it is shown whole.
const WALL: usize = 20_000;

/// The mean place of those centres that a body hides from a viewer in this direction, where these are more than it may hide.
fn hidden_behind(body: &BodyView, centres: &[DVec3], towards: DVec3) -> Option<DVec3> {
    let surface = &body.surface;
    if surface.triangles.len() > WALL {
        return None;
    }
    let (right, up) = tangents(towards);
    let flat = |x: DVec3| DVec2::new(x.dot(right), x.dot(up));
    let corners = surface.triangles.iter().map(|t| t.map(|vertex| body.pose.point(surface.vertices[vertex as usize])));
    let facing: Vec<([DVec3; 3], [DVec2; 3])> =
        corners.filter(|&corners| across(corners).dot(towards) > 0.0).map(|corners| (corners, corners.map(flat))).collect();
    let is_hidden = |&x: &DVec3| {
        facing.iter().any(|&(corners, [a, b, c])| {
            let at = flat(x);
            let sides = [(a, b), (b, c), (c, a)].map(|(from, to)| (to - from).perp_dot(at - from));
            (sides.iter().all(|side| *side >= 0.0) || sides.iter().all(|side| *side <= 0.0)) && is_before(corners, x, towards)
        })
    };
    let hidden: Vec<DVec3> = centres.iter().copied().filter(is_hidden).collect();
    let many = hidden.len() as f64 > HIDDEN * centres.len() as f64;
    many.then(|| hidden.iter().sum::<DVec3>() / hidden.len() as f64)
}

/// Normal of a triangle, outwards, as long as twice its area.
fn across([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a)
}

/// Whether a triangle shows its face to a viewer in this direction, and its back to a place.
fn is_before(corners: [DVec3; 3], place: DVec3, towards: DVec3) -> bool {
    let normal = across(corners);
    normal.dot(towards) > 0.0 && normal.dot(place - corners[0]) < 0.0
}

fn body_colour(picture: &Picture, body: &BodyView, figure: f64) -> Vec3 {
    let colour = match picture.colour {
        ColourBy::Speed { top } | ColourBy::Stress { top } | ColourBy::Coordination { top } if body.dynamic => {
            colour::viridis(figure / top)
        }
        ColourBy::Body if body.dynamic => colour::vary(colour::palette(colour::scatter(body.id) >> 29), body.id),
        ColourBy::Material if body.dynamic => colour::vary(colour::palette(body.material), body.id),
        _ => colour::from_srgb(0xb9bcbf),
    };
    colour::quiet(colour, picture.quiet())
}

#[cfg(test)]
mod tests;
