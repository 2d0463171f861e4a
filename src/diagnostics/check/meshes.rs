//! Meshes that are open, turned over, or turned away from the bodies that should meet them.
//!
//! ```text
//! side of a point:  (x − p)·n at the nearest point p of the surface; where several triangles are as near, the one that x faces most
//! ```

use glam::DVec3;

use super::{Bodies, mesh_cure};
use crate::geometry::trimesh::TriangleMesh;
use crate::geometry::{DecompositionSettings, Shape, ShapeError};
use crate::io::scene::model::{Body, Motion, ShapeSpec};
use std::sync::Arc;

/// Distances from bodies to triangles that are looked at for one mesh; beyond, bodies are taken at intervals.
const DISTANCES: usize = 5_000_000;
const REVERSE: &str = "reverse the order of the vertices of each triangle";

/// Edges (m) of the box around a mesh.
fn extent(mesh: &TriangleMesh) -> DVec3 {
    let corners = |pick: fn(DVec3, DVec3) -> DVec3| mesh.vertices.iter().copied().reduce(pick).unwrap_or_default();
    corners(DVec3::max) - corners(DVec3::min)
}

impl Bodies<'_> {
    /// Shapes that cannot be built, meshes that are open or inside out; moving meshes become what touches: convex parts.
    pub(super) fn shapes_and_masses(&mut self) {
        let mut found = Vec::new();
        let mut parts: Vec<(&ShapeSpec, Option<Shape>)> = Vec::new();
        for (i, body) in self.scene.bodies.iter().enumerate() {
            let density = self.scene.materials[body.material].density;
            let shape = body.shape.build();
            let mass = shape.clone().and_then(|s| s.mass_properties(density));
            // without a volume of its own a body needs mass, inertia and centre from the file
            let given = body.mass.is_some() && body.inertia.is_some() && body.centre_of_mass.is_some();
            let turned = shape.as_ref().ok().and_then(turned_over);
            let cures = |e: &ShapeError| (i, e.to_string(), mesh_cure(e).to_owned());
            match (&shape, &mass, turned) {
                (Err(e), ..) => found.push((i, e.to_string(), "mend its shape".to_owned())),
                (.., Some((message, cure))) => found.push((i, message, cure)),
                // the numbers of a file do not close a mesh
                (_, Err(e), _) if body.motion == Motion::Dynamic && (!given || shape.as_ref().is_ok_and(holds_mesh)) => {
                    found.push(cures(e))
                }
                _ => {}
            }
            self.masses.push(body.mass.or(mass.ok().map(|m| m.mass)));
            let moving_mesh = body.motion == Motion::Dynamic && shape.as_ref().is_ok_and(holds_mesh);
            self.shapes.push(if moving_mesh {
                let known = parts.iter().find(|(spec, _)| **spec == body.shape).map(|(_, parts)| parts.clone());
                known.unwrap_or_else(|| {
                    let made = shape.and_then(|s| s.decompose(&DecompositionSettings::default())).ok();
                    parts.push((&body.shape, made.clone()));
                    made
                })
            } else {
                shape.ok()
            });
        }
        self.say_some(found);
        self.sides();
    }

    /// Surfaces that bodies see from behind, where they would pass through.
    fn sides(&mut self) {
        let mut found = Vec::new();
        let moving: Vec<(usize, &Body)> = self.dynamic().filter(|(i, _)| self.shapes[*i].is_some()).collect();
        for (i, body) in self.scene.bodies.iter().enumerate().filter(|(_, b)| b.motion != Motion::Dynamic) {
            let Some(Shape::Mesh(mesh)) = &self.shapes[i] else { continue };
            if self.out.iter().any(|f| f.body.as_deref() == Some(&body.name)) {
                continue; // its triangles do not agree among themselves
            }
            let Some(seen) = self.seen(mesh, body, &moving) else {
                found.extend(self.unseen(i, mesh, body));
                continue;
            };
            match seen {
                Seen { front: 0, behind: Some(k), .. } => {
                    let name = self.name(k);
                    // a solid may be meant as such, and be too large, or stand in the wrong place
                    let (message, cure) = if mesh.open_edges() == 0 {
                        let [x, y, z] = extent(mesh).to_array();
                        (
                            format!("its triangles look away from {name}, which is within this solid of {x:.3} x {y:.3} x {z:.3} m"),
                            format!(
                                "{REVERSE}; or, if {name} is to lie outside, move one of them or give the mesh a `scale` (0.001 from mm)"
                            ),
                        )
                    } else {
                        (format!("its triangles look away from {name}, which would pass through it"), REVERSE.to_owned())
                    };
                    found.push((i, message, cure));
                }
                Seen { behind: Some(k), .. } => {
                    let message = format!("it is behind the triangles of {}, which would not stop it", self.name(i));
                    found.push((k, message, "move it to the side that the triangles look at".to_owned()));
                }
                Seen { .. } => {}
            }
        }
        self.say_some(found);
    }

    /// On which side of the surface bodies are that gravity, or their way, brings to it. `None` when there is none.
    fn seen(&self, mesh: &TriangleMesh, body: &Body, moving: &[(usize, &Body)]) -> Option<Seen> {
        let every = (moving.len() * mesh.triangles.len()).div_ceil(DISTANCES).max(1);
        let down = self.scene.gravity_at(0.0).try_normalize();
        let (mut seen, mut any) = (Seen::default(), false);
        let spread = mesh.vertices.iter().map(|v| v.length()).fold(0.0, f64::max);
        for &(k, other) in moving.iter().step_by(every) {
            let x = body.pose.local_point(other.pose.point(self.centre(k, other)));
            let Some((nearest, height)) = side(mesh, x) else { continue };
            let to = body.pose.vector(nearest - x);
            let reach = self.shapes[k].as_ref().map_or(0.0, Shape::bounding_radius);
            // a body that rests on something else far behind a roof does not concern the roof
            let falls_to_it = down.is_none_or(|g| to.dot(g) > 0.5 * to.length());
            let near = to.length() <= reach;
            if !(falls_to_it || near) || height.abs() <= 1e-9 * spread {
                continue;
            }
            any = true;
            if height > 0.0 {
                seen.front += 1;
            } else {
                seen.behind = seen.behind.or(Some(k));
            }
        }
        any.then_some(seen)
    }

    /// A surface that no body is near of: closed it should be solid, open it should look up.
    fn unseen(&self, i: usize, mesh: &TriangleMesh, body: &Body) -> Option<(usize, String, String)> {
        let corner = |t: &[u32; 3], k: usize| mesh.vertices[t[k] as usize];
        if mesh.open_edges() == 0 {
            let volume: f64 = mesh.triangles.iter().map(|t| corner(t, 0).dot(corner(t, 1).cross(corner(t, 2))) / 6.0).sum();
            let holds = self.dynamic().any(|(_, b)| side(mesh, body.pose.local_point(b.pose.position)).is_some_and(|s| s.1 > 0.0));
            let error = ShapeError::InvertedMesh { volume };
            return (volume < 0.0 && !holds).then(|| (i, error.to_string(), mesh_cure(&error).to_owned()));
        }
        let area: DVec3 = mesh.triangles.iter().map(|t| (corner(t, 1) - corner(t, 0)).cross(corner(t, 2) - corner(t, 0))).sum();
        let total: f64 = mesh.triangles.iter().map(|t| (corner(t, 1) - corner(t, 0)).cross(corner(t, 2) - corner(t, 0)).length()).sum();
        let down = self.scene.gravity_at(0.0).normalize_or_zero();
        // a tube has hardly any sum
        let looks_down = body.pose.vector(area).dot(down) > 0.2 * total;
        let message = "the triangles of this open mesh look along gravity, so bodies would fall through";
        looks_down.then(|| (i, message.to_owned(), REVERSE.to_owned()))
    }

    fn centre(&self, k: usize, body: &Body) -> DVec3 {
        let own = || self.shapes[k].as_ref().and_then(|s| s.mass_properties(1.0).ok()).map(|m| m.centre);
        body.centre_of_mass.or_else(own).unwrap_or_default()
    }
}

/// How bodies see a surface.
#[derive(Default)]
struct Seen {
    front: usize,
    /// The first body behind.
    behind: Option<usize>,
}

/// The nearest point of the surface, and how far the point is before (> 0) or behind it.
fn side(mesh: &TriangleMesh, x: DVec3) -> Option<(DVec3, f64)> {
    let mut best: Option<(f64, DVec3, f64)> = None;
    for t in &mesh.triangles {
        let [a, b, c] = t.map(|i| mesh.vertices[i as usize]);
        let p = nearest(x, a, b, c);
        let (distance, height) = ((x - p).length(), (x - p).dot((b - a).cross(c - a).normalize_or_zero()));
        // on a common edge or corner the triangle that faces the point most decides
        let better = best.as_ref().is_none_or(|(d, _, h)| {
            let tie = 1e-9 * (distance + d);
            distance < d - tie || (distance <= d + tie && height.abs() > h.abs())
        });
        if better {
            best = Some((distance, p, height));
        }
    }
    best.map(|(_, p, height)| (p, height))
}

/// The point of the triangle (a, b, c) that is nearest to x (Ericson, *Real-Time Collision Detection*, 5.1.5).
fn nearest(x: DVec3, a: DVec3, b: DVec3, c: DVec3) -> DVec3 {
    let (ab, ac) = (b - a, c - a);
    let [ax, bx, cx] = [x - a, x - b, x - c];
    let (d1, d2) = (ab.dot(ax), ac.dot(ax));
    if d1 <= 0.0 && d2 <= 0.0 {
        return a;
    }
    let (d3, d4) = (ab.dot(bx), ac.dot(bx));
    if d3 >= 0.0 && d4 <= d3 {
        return b;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return a + ab * (d1 / (d1 - d3));
    }
    let (d5, d6) = (ab.dot(cx), ac.dot(cx));
    if d6 >= 0.0 && d5 <= d6 {
        return c;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return a + ac * (d2 / (d2 - d6));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        return b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
    }
    a + ab * (vb / (va + vb + vc)) + ac * (vc / (va + vb + vc))
}

fn holds_mesh(shape: &Shape) -> bool {
    match shape {
        Shape::Mesh(_) => true,
        Shape::Compound(parts) => parts.iter().any(|(_, part)| holds_mesh(part)),
        _ => false,
    }
}

/// Triangles that are turned against their neighbours: what was found, and the cure.
fn turned_over(shape: &Shape) -> Option<(String, String)> {
    let mesh: &Arc<TriangleMesh> = match shape {
        Shape::Mesh(mesh) => mesh,
        Shape::Compound(parts) => return parts.iter().find_map(|(_, part)| turned_over(part)),
        _ => return None,
    };
    let turned = minority(mesh);
    let &first = turned.first()?;
    let corners = mesh.triangles[first].map(|i| mesh.vertices[i as usize]);
    let place = (corners[0] + corners[1] + corners[2]) / 3.0;
    let all = mesh.triangles.len();
    let which = if turned.len() == 1 {
        format!("triangle {first} of {all} (counted from 0) is")
    } else {
        format!("{} of its {all} triangles, the first of them number {first} (counted from 0),", turned.len())
    };
    let are = if turned.len() == 1 { "" } else { " are" };
    let message =
        format!("{which}{are} turned against the neighbours; it lies at [{:.4}, {:.4}, {:.4}] m of the shape", place.x, place.y, place.z);
    let what = if turned.len() == 1 { "the vertices of this triangle" } else { "the vertices of each of these triangles" };
    Some((message, format!("reverse the order of {what}")))
}

/// Orients every connected piece from neighbour to neighbour and returns the triangles that would have to be turned, by number:
/// in each piece the smaller lot. Edges with one triangle, or with more than two, say nothing.
fn minority(mesh: &TriangleMesh) -> Vec<usize> {
    // (low, high, triangle, from low to high)
    let mut edges: Vec<(u32, u32, u32, bool)> = Vec::with_capacity(3 * mesh.triangles.len());
    for (t, corners) in mesh.triangles.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            edges.push((a.min(b), a.max(b), t as u32, a < b));
        }
    }
    edges.sort_unstable();
    let mut neighbours: Vec<Vec<(u32, bool)>> = vec![Vec::new(); mesh.triangles.len()];
    for pair in edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).filter(|edge| edge.len() == 2) {
        // neighbours that agree run along the edge in opposite ways
        let turned = pair[0].3 == pair[1].3;
        neighbours[pair[0].2 as usize].push((pair[1].2, turned));
        neighbours[pair[1].2 as usize].push((pair[0].2, turned));
    }
    let mut side: Vec<Option<bool>> = vec![None; mesh.triangles.len()];
    let mut found = Vec::new();
    for start in 0..side.len() {
        if side[start].is_some() {
            continue;
        }
        side[start] = Some(false);
        let (mut piece, mut next) = (vec![start], 0);
        while let Some(&t) = piece.get(next) {
            next += 1;
            let own = side[t].unwrap_or_default();
            for &(n, turned) in &neighbours[t] {
                let n = n as usize;
                if side[n].is_none() {
                    side[n] = Some(own ^ turned);
                    piece.push(n);
                }
            }
        }
        let turned = piece.iter().filter(|&&t| side[t] == Some(true)).count();
        let smaller = 2 * turned <= piece.len();
        if turned > 0 {
            found.extend(piece.into_iter().filter(|&t| side[t] == Some(smaller)));
        }
    }
    found.sort_unstable();
    found
}
