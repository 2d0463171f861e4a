//! Shapes as triangles, for pictures and output files. Contact never looks at these.

use glam::{DVec2, DVec3};

use super::shapes::Shape;
use crate::algebra::spatial::tangents;

/// A triangulated surface in the frame of its shape.
///
/// ```
/// use drystone::geometry::Shape;
/// let ball = Shape::ball(0.5)?.surface(16, 1.0);
/// assert!(ball.vertices.iter().all(|v| (v.length() - 0.5).abs() < 1e-12));
/// # Ok::<(), drystone::geometry::ShapeError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Corners (m).
    pub vertices: Vec<DVec3>,
    /// Corners of each triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

impl Surface {
    fn append(&mut self, other: Self, place: impl Fn(DVec3) -> DVec3) {
        let shift = self.vertices.len() as u32;
        self.vertices.extend(other.vertices.into_iter().map(place));
        self.triangles.extend(other.triangles.into_iter().map(|t| t.map(|i| i + shift)));
    }

    /// The surface that a profile (radius, height), given from the bottom to the top of the z axis, sweeps in `segments` steps. An end on the
    /// axis is one corner, any other is closed by a flat face.
    fn revolved(profile: &[DVec2], segments: u32) -> Self {
        let n = segments;
        let mut surface = Self::default();
        let mut rings = Vec::with_capacity(profile.len());
        for p in profile {
            rings.push((surface.vertices.len() as u32, p.x > 0.0));
            for k in 0..if p.x > 0.0 { n } else { 1 } {
                let (sin, cos) = libm::sincos(std::f64::consts::TAU * f64::from(k) / f64::from(n));
                surface.vertices.push(DVec3::new(p.x * cos, p.x * sin, p.y));
            }
        }
        for pair in rings.windows(2) {
            let [(low, wide), (high, wide_above)] = [pair[0], pair[1]];
            for k in 0..n {
                let next = (k + 1) % n;
                if wide {
                    surface.triangles.push([low + k, low + next, if wide_above { high + next } else { high }]);
                }
                if wide_above {
                    surface.triangles.push([if wide { low + k } else { low }, high + next, high + k]);
                }
            }
        }
        if let Some(&(bottom, true)) = rings.first() {
            surface.triangles.extend((1..n - 1).map(|k| [bottom, bottom + k + 1, bottom + k]));
        }
        if let Some(&(top, true)) = rings.last() {
            surface.triangles.extend((1..n - 1).map(|k| [top, top + k, top + k + 1]));
        }
        surface
    }
}

impl Shape {
    /// The surface with `segments` (at least 3) sides around what is round; a half-space is drawn as a square of half side `extent` (m).
    pub fn surface(&self, segments: u32, extent: f64) -> Surface {
        let n = segments.max(3);
        // a meridian of a ball about (0, centre), between two latitudes given in quarter turns
        let arc = |radius: f64, centre: f64, from: f64, to: f64| {
            let steps = n.div_ceil(4).max(2);
            (0..=steps).map(move |k| {
                let (sin, cos) = libm::sincos(std::f64::consts::FRAC_PI_2 * (from + (to - from) * f64::from(k) / f64::from(steps)));
                // the cosine of a right angle is 6e-17
                let pole = (k == 0 && from == -1.0) || (k == steps && to == 1.0);
                DVec2::new(if pole { 0.0 } else { radius * cos }, centre + radius * sin)
            })
        };
        match self {
            Self::Ball { radius } => {
                let profile: Vec<DVec2> = arc(*radius, 0.0, -1.0, 0.0).chain(arc(*radius, 0.0, 0.0, 1.0).skip(1)).collect();
                Surface::revolved(&profile, n)
            }
            Self::Capsule { half_height, radius } => {
                let profile: Vec<DVec2> = arc(*radius, -half_height, -1.0, 0.0).chain(arc(*radius, *half_height, 0.0, 1.0)).collect();
                Surface::revolved(&profile, n)
            }
            Self::Cylinder { half_height, radius } => {
                Surface::revolved(&[DVec2::new(*radius, -half_height), DVec2::new(*radius, *half_height)], n)
            }
            Self::Cuboid { half_extents } => {
                let unit = super::polyhedron::Polyhedron::unit_cuboid();
                Surface { vertices: unit.vertices.iter().map(|v| *v * *half_extents).collect(), triangles: unit.triangles() }
            }
            Self::HalfSpace { normal } => {
                let (t1, t2) = tangents(*normal);
                let corner = |a: f64, b: f64| extent * (a * t1 + b * t2);
                let vertices = vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
                Surface { vertices, triangles: vec![[0, 1, 2], [0, 2, 3]] }
            }
            Self::Hull(hull) => Surface { vertices: hull.vertices.clone(), triangles: hull.triangles() },
            Self::Mesh(mesh) => Surface { vertices: mesh.vertices.clone(), triangles: mesh.triangles.clone() },
            Self::HeightField(field) => Surface { vertices: field.mesh.vertices.clone(), triangles: field.mesh.triangles.clone() },
            Self::Vessel(vessel) => vessel.inner_surface(n.max(48)),
            Self::Compound(parts) => {
                let mut whole = Surface::default();
                for (pose, part) in parts.iter() {
                    whole.append(part.surface(segments, extent), |v| pose.point(v));
                }
                whole
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surfaces_turn_outwards_and_enclose_nearly_the_volume() {
        for shape in [
            Shape::ball(0.3).unwrap(),
            Shape::capsule(0.4, 0.2).unwrap(),
            Shape::cylinder(0.4, 0.2).unwrap(),
            Shape::cuboid(DVec3::new(0.1, 0.2, 0.3)).unwrap(),
        ] {
            let Surface { vertices, triangles } = shape.surface(128, 1.0);
            let volume: f64 = triangles.iter().map(|t| t.map(|i| vertices[i as usize])).map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum();
            let exact = shape.mass_properties(1.0).unwrap().mass;
            assert!(volume <= exact * (1.0 + 1e-12) && volume > 0.998 * exact, "{}: {volume} {exact}", shape.kind());
            // each side between two triangles, none without an area, as folds are looked for there
            let mut sides: Vec<[u32; 2]> = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
            sides.sort_unstable();
            assert!(sides.windows(2).all(|s| s[0] != s[1]) && sides.iter().all(|&[a, b]| sides.binary_search(&[b, a]).is_ok()));
            let area = |t: &[u32; 3]| t.map(|i| vertices[i as usize]);
            assert!(triangles.iter().map(area).all(|[a, b, c]| (b - a).cross(c - a).length() > 1e-6), "{}", shape.kind());
        }
    }
}
