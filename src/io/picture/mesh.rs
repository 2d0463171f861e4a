//! Which edges of a surface are sharp, and the normals that make the others look round.

use crate::io::snapshot::Surface;
use glam::DVec3;
use std::collections::BTreeMap;

/// Faces that meet at a smaller angle look like one rounded face: cos 28°.
const SMOOTH: f64 = 0.883;

/// A surface prepared for shading.
#[derive(Debug)]
pub(super) struct ShadedMesh {
    /// Unit normals at the three corners of each triangle.
    pub(super) normals: Vec<[DVec3; 3]>,
    /// Sharp and open edges, as indices of vertices.
    pub(super) edges: Vec<[u32; 2]>,
}

impl ShadedMesh {
    pub(super) fn new(surface: &Surface) -> Self {
        let Surface { vertices, triangles } = surface;
        // vertices at one place are one vertex, whatever the list says (+ 0.0: no difference between 0 and −0)
        let mut places = BTreeMap::new();
        let place: Vec<u32> =
            (0u32..).zip(vertices).map(|(k, v)| *places.entry((*v + DVec3::ZERO).to_array().map(f64::to_bits)).or_insert(k)).collect();
        let area: Vec<DVec3> = triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|i| vertices[i as usize]);
                0.5 * (b - a).cross(c - a)
            })
            .collect();
        let normal: Vec<DVec3> = area.iter().map(|a| a.normalize_or_zero()).collect();

        let mut around: Vec<Vec<usize>> = vec![Vec::new(); vertices.len()];
        let mut sides: BTreeMap<[u32; 2], Vec<usize>> = BTreeMap::new();
        for (face, triangle) in triangles.iter().enumerate() {
            let corners = triangle.map(|i| place[i as usize]);
            for k in 0..3 {
                around[corners[k] as usize].push(face);
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                sides.entry([a.min(b), a.max(b)]).or_default().push(face);
            }
        }
        let smooth = |f: usize, g: usize| normal[f].dot(normal[g]) > SMOOTH;
        let corner = |face: usize, vertex: u32| {
            let meeting = around[place[vertex as usize] as usize].iter().filter(|&&other| smooth(face, other));
            meeting.map(|&other| area[other]).sum::<DVec3>().try_normalize().unwrap_or(normal[face])
        };
        let normals = (0..triangles.len()).map(|face| triangles[face].map(|vertex| corner(face, vertex))).collect();
        let sharp = |faces: &[usize]| faces.len() != 2 || !smooth(faces[0], faces[1]);
        let edges = sides.iter().filter(|(_, faces)| sharp(faces)).map(|(&edge, _)| edge).collect();
        Self { normals, edges }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_keeps_its_twelve_edges_and_flat_faces() {
        let cube = Surface::cuboid(DVec3::ONE);
        let mesh = ShadedMesh::new(&cube);
        assert_eq!(mesh.edges.len(), 12);
        assert!(mesh.normals.iter().all(|[a, b, c]| a == b && b == c && a.abs().max_element() == 1.0));
    }

    #[test]
    fn a_ball_has_no_edge_and_round_normals_even_when_its_triangles_share_no_vertices() {
        let ball = Surface::ball(2.0, 16);
        let loose = Surface {
            vertices: ball.triangles.iter().flatten().map(|&i| ball.vertices[i as usize]).collect(),
            triangles: (0..ball.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect(),
        };
        for surface in [ball, loose] {
            let mesh = ShadedMesh::new(&surface);
            assert!(mesh.edges.is_empty());
            for (triangle, normals) in surface.triangles.iter().zip(&mesh.normals) {
                for (&vertex, n) in triangle.iter().zip(normals) {
                    assert!(n.dot(surface.vertices[vertex as usize]) > 2.0 * 0.99);
                }
            }
        }
    }
}
