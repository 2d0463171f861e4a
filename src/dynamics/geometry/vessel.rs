//! Round vessels: the solid between an inner profile and an outer cylinder, turned about the z axis.
//!
//! ```text
//! profile   (ρ₀, z₀), (ρ₁, z₁), … from the bottom to the top, z never falling       tube, cone, hopper, silo, cup
//! solid     what lies outside the profile, between its lowest and highest point, up to ρ_max + thickness
//! ```
//!
//! In the half-plane through the axis and the centre of a ball the solid is a polygon, and the points of least distance to it are those of
//! least distance to the solid: every side whose foot lies within it, every corner that juts out and has the centre in the cone of its
//! normals. So balls meet walls, floors and rims exactly, one point each. A ball that nearly fills its vessel also has the walls
//! 120° to the left and right within reach; each of them bounds it by its own tangent plane, or the point of its own rim. Other convex
//! shapes meet a mesh with [`FACETS`] sides, whose corners lie on the vessel: its walls stand out from the true ones by
//! 1 − cos(π/FACETS), 5.4e-4 of the radius, at most.

use glam::{DMat3, DVec2, DVec3};

use super::error::ShapeError;
use super::points::Sink;
use super::surface::Surface;
use super::trimesh::TriangleMesh;
use crate::algebra::spatial::Pose;

/// Sides of the mesh that shapes other than balls meet.
pub const FACETS: u32 = 96;

/// A side of the section.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Side {
    from: DVec2,
    /// Unit vector along it; the solid lies to the right.
    along: DVec2,
    length: f64,
    /// Whether its end juts out of the solid, so that a ball can meet the rim there.
    rim: bool,
}

impl Side {
    /// Out of the solid.
    fn normal(&self) -> DVec2 {
        DVec2::new(-self.along.y, self.along.x)
    }

    fn end(&self) -> DVec2 {
        self.from + self.along * self.length
    }
}

/// See the [module](self); made by [`Shape::vessel`](super::Shape::vessel).
///
/// ```
/// use drystone::geometry::Shape;
/// use glam::DVec2;
/// // a silo: an orifice of 4 cm radius in a floor of 1 cm under a tube of 20 cm radius
/// let profile = [[0.04, -0.01], [0.04, 0.0], [0.2, 0.0], [0.2, 0.5]].map(DVec2::from);
/// assert_eq!(Shape::vessel(&profile, 0.01)?.bounding_radius(), (0.21f64 * 0.21 + 0.5 * 0.5).sqrt());
/// # Ok::<(), drystone::geometry::ShapeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Vessel {
    /// Inner profile (radius, height; m).
    pub profile: Vec<DVec2>,
    /// How far the solid reaches beyond the largest radius, and below a closed bottom (m).
    pub thickness: f64,
    /// Sides of the section, in order; that on the axis is left out.
    sides: Vec<Side>,
    /// The same solid with [`FACETS`] sides.
    pub(super) mesh: TriangleMesh,
}

fn bad(reason: String) -> ShapeError {
    ShapeError::BadProfile { reason }
}

impl Vessel {
    /// A vessel with this inner profile and thickness (m).
    pub fn new(profile: &[DVec2], thickness: f64) -> Result<Self, ShapeError> {
        if !(thickness > 0.0 && thickness.is_finite()) {
            return Err(ShapeError::NotPositive { shape: "vessel", what: "thickness", found: thickness });
        }
        if let Some(index) = profile.iter().position(|p| !p.is_finite()) {
            return Err(ShapeError::NotFinite { shape: "vessel", what: "point of the profile", index });
        }
        let [first, .., last] = profile else {
            return Err(bad(format!("its profile has {} points; at least 2 are needed", profile.len())));
        };
        for (k, pair) in profile.windows(2).enumerate() {
            if pair[1].y < pair[0].y || pair[0] == pair[1] {
                let message = format!("point {} of its profile, {}, does not follow {}", k + 1, pair[1], pair[0]);
                return Err(bad(format!("{message}; list different points from the bottom to the top")));
            }
            // two floors that come back on each other leave nothing between them
            let back = k > 0 && profile[k - 1].y == pair[1].y && (pair[0].x - profile[k - 1].x) * (pair[1].x - pair[0].x) < 0.0;
            if back {
                return Err(bad(format!("its profile turns back on itself at point {k}; leave that point out")));
            }
        }
        if profile.iter().skip(1).any(|p| p.x <= 0.0) || first.x < 0.0 {
            return Err(bad("its profile reaches the axis; radii are positive, and only that of the lowest point may be 0".into()));
        }
        if first.y == last.y {
            return Err(bad("its profile has no height; let the last point lie above the first one".into()));
        }
        let reach = profile.iter().map(|p| p.x).fold(0.0, f64::max) + thickness;
        let closed = first.x == 0.0;
        let bottom = if closed { first.y - thickness } else { first.y };
        let mut outline = profile.to_vec();
        outline.extend([DVec2::new(reach, last.y), DVec2::new(reach, bottom)]);
        if closed {
            outline.push(DVec2::new(0.0, bottom));
        }
        let sides = sides(&outline);
        let Surface { vertices, triangles } = turned(&outline, FACETS, true);
        let mesh = TriangleMesh::new(&vertices, &triangles)?;
        Ok(Self { profile: profile.to_vec(), thickness, sides, mesh })
    }

    /// Largest radius, lowest and highest point of the solid (m).
    pub fn extent(&self) -> (f64, f64, f64) {
        let ends = self.sides.iter().flat_map(|side| [side.from, side.end()]);
        ends.fold((0.0, f64::INFINITY, f64::NEG_INFINITY), |(r, low, high), p| (r.max(p.x), low.min(p.y), high.max(p.y)))
    }

    /// The wall as seen from inside, for pictures.
    pub(super) fn inner_surface(&self, segments: u32) -> Surface {
        turned(&self.profile, segments, false)
    }

    /// Whether a point (m, shape frame) at the height of the profile lies within it; none above and below.
    pub fn surrounds(&self, x: DVec3) -> Option<bool> {
        let k = self.profile.windows(2).position(|side| side[0].y <= x.z && x.z < side[1].y)?;
        let [a, b] = [self.profile[k], self.profile[k + 1]];
        Some(libm::hypot(x.x, x.y) < a.x + (x.z - a.y) * (b.x - a.x) / (b.y - a.y))
    }

    /// Whether a point of the section lies in the solid.
    fn holds(&self, p: DVec2) -> bool {
        // crossings of the ray from p away from the axis, which the left-out side on the axis does not meet
        let crossed = |side: &&Side| {
            let (a, b) = (side.from, side.end());
            (a.y > p.y) != (b.y > p.y) && p.x < a.x + (p.y - a.y) * (b.x - a.x) / (b.y - a.y)
        };
        self.sides.iter().filter(crossed).count() % 2 == 1
    }

    /// Distance of a point (m, shape frame) to the surface, negative in the solid.
    pub fn distance(&self, x: DVec3) -> f64 {
        let p = DVec2::new(libm::hypot(x.x, x.y), x.z);
        let to = |side: &Side| p.distance(side.from + side.along * (p - side.from).dot(side.along).clamp(0.0, side.length));
        let nearest = self.sides.iter().map(to).fold(f64::INFINITY, f64::min);
        if self.holds(p) { -nearest } else { nearest }
    }
}

/// The sides of a section that is given by its corners, the solid to the right.
fn sides(outline: &[DVec2]) -> Vec<Side> {
    let n = outline.len();
    let side = |k: usize| {
        let (from, to) = (outline[k], outline[(k + 1) % n]);
        let length = from.distance(to);
        // rounding of `along` does not matter: everything is worked out from it
        Side { from, along: (to - from) / length, length, rim: false }
    };
    let all: Vec<Side> = (0..n).map(side).collect();
    let on_axis = |side: &Side| side.from.x == 0.0 && side.end().x == 0.0;
    let out = |k: usize| {
        let (this, next) = (all[k], all[(k + 1) % n]);
        // a turn to the right, towards the solid
        Side { rim: this.along.perp_dot(next.along) < 0.0 && !on_axis(&this) && !on_axis(&next), ..this }
    };
    (0..n).map(out).filter(|side| !on_axis(side)).collect()
}

/// Triangles of a line of (radius, height) that is turned about the axis, the outside to its left; closed or open.
fn turned(line: &[DVec2], segments: u32, closed: bool) -> Surface {
    let (n, rings) = (segments, line.len() as u32);
    let mut surface = Surface::default();
    for p in line {
        surface.vertices.extend((0..n).map(|k| {
            let (sin, cos) = libm::sincos(std::f64::consts::TAU * f64::from(k) / f64::from(n));
            DVec3::new(p.x * cos, p.x * sin, p.y)
        }));
    }
    for ring in 0..if closed { rings } else { rings - 1 } {
        let (low, high) = (ring * n, (ring + 1) % rings * n);
        if line[ring as usize].x == 0.0 && line[((ring + 1) % rings) as usize].x == 0.0 {
            continue;
        }
        for k in 0..n {
            let (a, b, c, d) = (low + k, low + (k + 1) % n, high + (k + 1) % n, high + k);
            // what shrinks to a point of the axis has one triangle
            if line[ring as usize].x > 0.0 {
                surface.triangles.push([a, c, b]);
            }
            if line[((ring + 1) % rings) as usize].x > 0.0 {
                surface.triangles.push([a, d, c]);
            }
        }
    }
    surface
}

/// A ball against a vessel, in the world.
pub(super) fn ball(centre: DVec3, radius: f64, vessel: &Vessel, pose: &Pose, reach: f64, sink: &mut Sink) {
    let c = pose.local_point(centre);
    sink.frame = Some((DMat3::from_quat(pose.rotation), pose.position));
    let rho = libm::hypot(c.x, c.y);
    // on the axis every direction is as good
    let outwards = if rho > 0.0 { DVec3::new(c.x / rho, c.y / rho, 0.0) } else { DVec3::X };
    let p = DVec2::new(rho, c.z);
    let mut push = |key: u32, normal: DVec3, distance: f64| {
        if distance - radius <= reach {
            sink.push((0, key), normal, distance - radius, c - normal * radius, c - normal * distance);
        }
    };
    let lifted = |n: DVec2, out: DVec3| out * n.x + DVec3::Z * n.y;
    if vessel.holds(p) {
        let depth = |side: &Side| p.distance(side.from + side.along * (p - side.from).dot(side.along).clamp(0.0, side.length));
        let nearest = vessel.sides.iter().enumerate().min_by(|a, b| depth(a.1).total_cmp(&depth(b.1)));
        if let Some((k, side)) = nearest {
            push(k as u32, lifted(side.normal(), outwards), -depth(side));
        }
        return;
    }
    // this half-plane, and those 120° beside it
    let (sin, cos) = (0.75f64.sqrt(), -0.5);
    let across = DVec3::new(-outwards.y, outwards.x, 0.0);
    for (turn, out, x) in [(0, outwards, rho), (1, outwards * cos + across * sin, rho * cos), (2, outwards * cos - across * sin, rho * cos)]
    {
        let p = DVec2::new(x, c.z);
        for (k, side) in vessel.sides.iter().enumerate() {
            let (key, along) = ((turn << 24) + 2 * k as u32, (p - side.from).dot(side.along));
            let height = (p - side.from).dot(side.normal());
            // beside its own half-plane only what faces the axis bounds a ball: a floor has one point
            let faces = turn == 0 || side.normal().x < 0.0;
            if faces && (0.0..=side.length).contains(&along) && height >= 0.0 {
                push(key, lifted(side.normal(), out), height);
            }
            if !side.rim {
                continue;
            }
            let (corner, next) = (side.end(), vessel.sides[(k + 1) % vessel.sides.len()].along);
            let off = p - corner;
            if off.dot(side.along) > 0.0 && off.dot(next) < 0.0 && (turn == 0 || off.x < 0.0) {
                let away = c - (out * corner.x + DVec3::Z * corner.y);
                let distance = away.length();
                if distance > 0.0 {
                    push(key + 1, away / distance, distance);
                }
            }
        }
    }
}
