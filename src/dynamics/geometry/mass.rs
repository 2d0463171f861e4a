//! Mass, centre and inertia of solids of constant density.
//!
//! ```text
//! J = ∫ ρ x xᵀ dV        I = tr(J) 1 − J        shift by c:  J_o = J_c + m c cᵀ
//! ```
//!
//! For a closed surface each triangle (a, b, c) adds the tetrahedron (o, a, b, c), whose integrals are exact:
//! `V = a·(b×c)/6`, `∫ x dV = V (a+b+c)/4`, `∫ x xᵀ dV = V/20 (s sᵀ + a aᵀ + b bᵀ + c cᵀ)` with `s = a+b+c`.

use crate::algebra::spatial::{Pose, diagonalize};
use glam::{DMat3, DQuat, DVec3};

use super::clump;
use super::error::ShapeError;
use super::polyhedron::bounds;
use super::shapes::Shape;

/// Mass of a body and how it is spread.
///
/// ```
/// use drystone::geometry::Shape;
/// let ball = Shape::ball(0.1)?.mass_properties(1000.0)?;
/// assert!((ball.inertia.x - 0.4 * ball.mass * 0.01).abs() < 1e-15);
/// # Ok::<(), drystone::geometry::ShapeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Mass (kg).
    pub mass: f64,
    /// Centre of mass in the frame of the shape (m).
    pub centre: DVec3,
    /// Principal moments of inertia about the centre (kg m²).
    pub inertia: DVec3,
    /// Turns the principal axes into the frame of the shape; the identity where the shape's own axes are principal.
    pub frame: DQuat,
}

/// A part that is rounding.
const ROUNDING: f64 = 1e-14;

/// Mass, first and second moments about the origin of a frame.
#[derive(Clone, Copy)]
struct Moments {
    mass: f64,
    first: DVec3,
    second: DMat3,
}

impl Moments {
    // not `default()`: that of a matrix is the identity
    const ZERO: Self = Self { mass: 0.0, first: DVec3::ZERO, second: DMat3::ZERO };

    fn centred(mass: f64, inertia: DVec3) -> Self {
        // I = tr(J) 1 − J, so J_x = (I_y + I_z − I_x) / 2
        Self { mass, first: DVec3::ZERO, second: DMat3::from_diagonal(DVec3::splat(0.5 * inertia.element_sum()) - inertia) }
    }

    fn add(&mut self, other: &Self) {
        self.mass += other.mass;
        self.first += other.first;
        self.second += other.second;
    }

    /// Whether some solid between these corners of a box has such moments.
    fn of_a_solid(&self, density: f64, low: DVec3, high: DVec3) -> bool {
        let (edges, volume) = (high - low, self.mass / density);
        let slack = DVec3::splat(ROUNDING.sqrt() * edges.max_element());
        let found = self.principal();
        // ∫ x² of each principal axis, twice
        let spread = DVec3::splat(found.inertia.element_sum()) - 2.0 * found.inertia;
        volume > ROUNDING * edges.max_element().powi(3)
            && volume <= (edges + slack).element_product()
            && (found.centre - low + slack).min_element() > 0.0
            && (high - found.centre + slack).min_element() > 0.0
            && spread.min_element() > -ROUNDING.sqrt() * spread.max_element()
    }

    fn principal(&self) -> MassProperties {
        let centre = self.first / self.mass;
        let second = self.second - outer(self.first, centre);
        let trace = second.x_axis.x + second.y_axis.y + second.z_axis.z;
        let (inertia, frame) = diagonalize(DMat3::from_diagonal(DVec3::splat(trace)) - second);
        MassProperties { mass: self.mass, centre, inertia, frame }
    }
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

impl Shape {
    /// Mass, centre and principal inertia for a constant `density` (kg/m³).
    ///
    /// A half-space and a height field have none; a mesh must be closed and turn outwards. What balls of a compound of balls share counts
    /// once; other parts count fully even where they overlap.
    pub fn mass_properties(&self, density: f64) -> Result<MassProperties, ShapeError> {
        if !(density > 0.0 && density.is_finite()) {
            return Err(ShapeError::BadDensity { found: density });
        }
        match self {
            Self::Compound(_) | Self::Hull(_) | Self::Mesh(_) => Ok(self.moments(density)?.principal()),
            _ => {
                let (mass, inertia) = self.closed_form(density)?;
                Ok(MassProperties { mass, centre: DVec3::ZERO, inertia, frame: DQuat::IDENTITY })
            }
        }
    }

    /// Volume (m³), as [`mass_properties`](Self::mass_properties) has it.
    ///
    /// ```
    /// use drystone::geometry::Shape;
    /// assert_eq!(Shape::cuboid(glam::DVec3::new(1.0, 2.0, 3.0))?.volume(), Ok(48.0));
    /// # Ok::<(), drystone::geometry::ShapeError>(())
    /// ```
    pub fn volume(&self) -> Result<f64, ShapeError> {
        match self {
            Self::Compound(_) | Self::Hull(_) | Self::Mesh(_) => Ok(self.moments(1.0)?.mass),
            _ => Ok(self.closed_form(1.0)?.0),
        }
    }

    /// Fails where a mesh of it is not closed, and so bounds nothing that could move.
    pub(crate) fn closed(&self) -> Result<(), ShapeError> {
        match self {
            Self::Mesh(mesh) if mesh.open_edges() > 0 => Err(ShapeError::OpenMesh { open_edges: mesh.open_edges() }),
            Self::Compound(parts) => parts.iter().try_for_each(|(_, part)| part.closed()),
            _ => Ok(()),
        }
    }

    /// Mass and inertia of the shapes whose frame is central and principal.
    fn closed_form(&self, density: f64) -> Result<(f64, DVec3), ShapeError> {
        let pi = std::f64::consts::PI;
        Ok(match *self {
            Self::Ball { radius: r } => {
                let mass = density * 4.0 / 3.0 * pi * r * r * r;
                (mass, DVec3::splat(0.4 * mass * r * r))
            }
            Self::Cuboid { half_extents: h } => {
                let mass = density * 8.0 * h.x * h.y * h.z;
                let s = h * h;
                (mass, mass / 3.0 * DVec3::new(s.y + s.z, s.z + s.x, s.x + s.y))
            }
            Self::Cylinder { half_height: l, radius: r } => {
                let mass = density * 2.0 * pi * r * r * l;
                let across = mass * (0.25 * r * r + l * l / 3.0);
                (mass, DVec3::new(across, across, 0.5 * mass * r * r))
            }
            Self::Capsule { half_height: l, radius: r } => {
                let (tube, caps) = (density * 2.0 * pi * r * r * l, density * 4.0 / 3.0 * pi * r * r * r);
                let across = tube * (0.25 * r * r + l * l / 3.0) + caps * (0.4 * r * r + l * l + 0.75 * l * r);
                (tube + caps, DVec3::new(across, across, (0.5 * tube + 0.4 * caps) * r * r))
            }
            _ => return Err(ShapeError::NoMass { shape: self.kind() }),
        })
    }

    fn moments(&self, density: f64) -> Result<Moments, ShapeError> {
        match self {
            Self::Hull(hull) => Ok(surface_moments(density, &hull.vertices, &hull.triangles())),
            Self::Mesh(mesh) => {
                self.closed()?;
                let moments = surface_moments(density, &mesh.vertices, &mesh.triangles);
                let (low, high) = bounds(mesh.vertices.iter().copied());
                let (volume, size) = (moments.mass / density, (high - low).max_element());
                if volume < -ROUNDING * size.powi(3) {
                    return Err(ShapeError::InvertedMesh { volume });
                }
                if moments.of_a_solid(density, low, high) { Ok(moments) } else { Err(ShapeError::NoSolid) }
            }
            Self::Compound(parts) => {
                if let Some(balls) = overlapping_balls(parts) {
                    let (volume, first, second) = clump::moments(&balls);
                    return Ok(Moments { mass: density * volume, first: density * first, second: density * second });
                }
                let mut sum = Moments::ZERO;
                for (pose, part) in parts.iter() {
                    let inner = part.moments(density)?;
                    let (r, p) = (DMat3::from_quat(pose.rotation), pose.position);
                    let turned = r * inner.first;
                    let cross = outer(turned, p);
                    sum.add(&Moments {
                        mass: inner.mass,
                        first: turned + inner.mass * p,
                        second: r * inner.second * r.transpose() + cross + cross.transpose() + inner.mass * outer(p, p),
                    });
                }
                Ok(sum)
            }
            _ => self.closed_form(density).map(|(mass, inertia)| Moments::centred(mass, inertia)),
        }
    }
}

/// The balls of a clump of which some overlap; of others the moments add up.
fn overlapping_balls(parts: &[(Pose, Shape)]) -> Option<Vec<(DVec3, f64)>> {
    let ball = |(pose, part): &(Pose, Shape)| if let Shape::Ball { radius } = part { Some((pose.position, *radius)) } else { None };
    let balls: Vec<(DVec3, f64)> = parts.iter().map(ball).collect::<Option<_>>()?;
    let overlap = |(i, (p, r)): (usize, &(DVec3, f64))| balls[..i].iter().any(|(q, s)| p.distance(*q) < r + s);
    balls.iter().enumerate().any(overlap).then_some(balls)
}

/// Moments of the solid inside a closed surface. The tetrahedra hang on the mean vertex, so that a solid far from the origin loses no digits.
fn surface_moments(density: f64, vertices: &[DVec3], triangles: &[[u32; 3]]) -> Moments {
    let origin = vertices.iter().sum::<DVec3>() / vertices.len() as f64;
    let mut sum = Moments::ZERO;
    for corners in triangles {
        let [a, b, c] = corners.map(|i| vertices[i as usize] - origin);
        let mass = density * a.dot(b.cross(c)) / 6.0;
        let s = a + b + c;
        sum.add(&Moments {
            mass,
            first: s * (0.25 * mass),
            second: (outer(s, s) + outer(a, a) + outer(b, b) + outer(c, c)) * (mass / 20.0),
        });
    }
    let cross = outer(sum.first, origin);
    Moments {
        mass: sum.mass,
        first: sum.first + sum.mass * origin,
        second: sum.second + cross + cross.transpose() + sum.mass * outer(origin, origin),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::polyhedron::Polyhedron;

    fn assert_same(a: &MassProperties, b: &MassProperties, tolerance: f64) {
        assert!((a.mass / b.mass - 1.0).abs() < tolerance, "{a:?} {b:?}");
        assert!((a.centre - b.centre).length() < tolerance, "{a:?} {b:?}");
        let tensor = |m: &MassProperties| {
            let r = DMat3::from_quat(m.frame);
            r * DMat3::from_diagonal(m.inertia) * r.transpose()
        };
        let difference = tensor(a) - tensor(b);
        assert!(difference.to_cols_array().iter().all(|x| x.abs() < tolerance * a.inertia.max_element()), "{a:?} {b:?}");
    }

    #[test]
    fn a_box_weighs_the_same_as_cuboid_hull_mesh_and_compound_of_halves() {
        let h = DVec3::new(0.5, 0.3, 0.2);
        let poly = Polyhedron::cuboid(h);
        let cuboid = Shape::cuboid(h).unwrap().mass_properties(2400.0).unwrap();
        let hull = Shape::hull(&poly.vertices).unwrap().mass_properties(2400.0).unwrap();
        let mesh = Shape::mesh(&poly.vertices, &poly.triangles()).unwrap().mass_properties(2400.0).unwrap();
        let half = Shape::cuboid(h * DVec3::new(0.5, 1.0, 1.0)).unwrap();
        let halves = [-0.25, 0.25].map(|x| (Pose::at(DVec3::X * x), half.clone()));
        let compound = Shape::compound(halves.to_vec()).unwrap().mass_properties(2400.0).unwrap();
        for other in [&hull, &mesh, &compound] {
            assert_same(&cuboid, other, 1e-13);
            assert_eq!(other.frame, DQuat::IDENTITY);
        }
    }

    #[test]
    fn a_hull_far_from_its_origin_finds_its_centre_and_axes() {
        let h = DVec3::new(0.5, 0.3, 0.2);
        let motion = Pose::new(DVec3::new(30.0, -20.0, 10.0), DQuat::from_rotation_z(0.4) * DQuat::from_rotation_x(-0.3));
        let hull = Shape::hull(&Polyhedron::cuboid(h).vertices).unwrap().moved(&motion);
        let found = hull.mass_properties(1000.0).unwrap();
        assert!((found.centre - motion.position).length() < 1e-12);
        // brought back to its centre and axes it is a cuboid again
        let home = hull.moved(&Pose::new(found.centre, found.frame).relative(&Pose::IDENTITY)).mass_properties(1000.0).unwrap();
        assert!(home.centre.length() < 1e-12);
        assert!((home.inertia - found.inertia).length() < 1e-11 * found.inertia.length());
        assert_eq!(home.frame, DQuat::IDENTITY);
    }

    #[test]
    fn a_capsule_is_a_tube_and_two_half_balls() {
        let (l, r) = (0.4, 0.15);
        let exact = Shape::capsule(l, r).unwrap().mass_properties(1.0).unwrap();
        // slices across the axis, each a disc: midpoint rule
        let (n, top) = (200_000, l + r);
        let (mut mass, mut axial, mut across) = (0.0, 0.0, 0.0);
        for k in 0..n {
            let z = top * ((2 * k + 1) as f64 / n as f64 - 1.0);
            let reach = (z.abs() - l).max(0.0);
            let s = r * r - reach * reach;
            let m = std::f64::consts::PI * s * 2.0 * top / n as f64;
            mass += m;
            axial += 0.5 * m * s;
            across += m * (0.25 * s + z * z);
        }
        assert!((exact.mass / mass - 1.0).abs() < 1e-9);
        assert!((exact.inertia.z / axial - 1.0).abs() < 1e-9 && (exact.inertia.x / across - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_bounds_no_solid_has_no_mass() {
        let poly = Polyhedron::cuboid(DVec3::ONE);
        let mut triangles = poly.triangles();
        let inverted: Vec<[u32; 3]> = triangles.iter().map(|t| [t[0], t[2], t[1]]).collect();
        let error = Shape::mesh(&poly.vertices, &inverted).unwrap().mass_properties(1.0).unwrap_err();
        assert!(matches!(error, ShapeError::InvertedMesh { volume } if (volume + 8.0).abs() < 1e-12));
        // two cubes, one of them inside out: as a whole, and of which nothing is left
        for size in [0.9, 1.0] {
            let second = poly.vertices.iter().map(|&v| DVec3::X * 3.0 + size * v);
            let vertices: Vec<DVec3> = poly.vertices.iter().copied().chain(second).collect();
            let both: Vec<[u32; 3]> = triangles.iter().copied().chain(inverted.iter().map(|t| t.map(|i| i + 8))).collect();
            assert_eq!(Shape::mesh(&vertices, &both).unwrap().mass_properties(1.0), Err(ShapeError::NoSolid));
        }
        triangles.pop();
        let error = Shape::mesh(&poly.vertices, &triangles).unwrap().mass_properties(1.0).unwrap_err();
        assert_eq!(error, ShapeError::OpenMesh { open_edges: 3 });
        assert!(Shape::half_space(DVec3::Z).unwrap().mass_properties(1.0).is_err());
        assert!(Shape::ball(1.0).unwrap().mass_properties(f64::NAN).is_err());
    }
}
