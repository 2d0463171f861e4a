//! Block models as files that [`super::blocks`] reads again.
//!
//! ```text
//! .obj         an `o` group for each block, its faces as triangles; a compound is one group of several closed surfaces
//! .csv .txt    rows `block, x, y, z`: the corners of convex blocks
//! ```
//!
//! Coordinates have all of their digits, and are those from which an import finds the same middle and the same corners about it, bit by bit.

use super::scene::model::{Body, Scene, ShapeSpec};
use crate::algebra::spatial::Pose;
use glam::DVec3;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A block with its corners (m, world) and triangles; none of a block that is given by its corners alone.
#[derive(Debug)]
struct Block<'a> {
    name: &'a str,
    corners: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    convex: bool,
    kind: &'static str,
}

/// The text of a model of all blocks of a scene, and how many there are; `obj` or a table.
///
/// ```
/// use drystone::io::blocks_out::text;
/// let wall = drystone::scenes::load("block_wall", &[("columns", "3"), ("rows", "2")])?;
/// let (obj, blocks) = text(&wall, true)?;
/// assert_eq!(drystone::io::blocks::parse("wall.obj", obj.as_bytes())?.len(), blocks);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A body that is no polyhedron, or not convex in a table, or a scene without blocks: what was found, and what would do.
pub fn text(scene: &Scene, obj: bool) -> Result<(String, usize), String> {
    let is_block = |body: &&Body| !matches!(body.shape, ShapeSpec::HalfSpace { .. });
    let blocks = scene.bodies.iter().filter(is_block).map(block).collect::<Result<Vec<_>, _>>()?;
    if blocks.is_empty() {
        return Err("the scene has no blocks; add cuboids, hulls or meshes".to_owned());
    }
    let mut out = if obj { String::new() } else { "block,x,y,z\n".to_owned() };
    let mut first = 1;
    for block in &blocks {
        if block.name.contains(char::is_whitespace) || (!obj && block.name.contains([';', '#'])) {
            return Err(format!("the name \"{}\" has blanks or signs that end a name in the file; rename the body", block.name));
        }
        if obj {
            let _ = writeln!(out, "o {}", block.name); // a String takes everything
            for p in &block.corners {
                let _ = writeln!(out, "v {:?} {:?} {:?}", p.x, p.y, p.z);
            }
            for t in &block.triangles {
                let [a, b, c] = t.map(|i| i + first);
                let _ = writeln!(out, "f {a} {b} {c}");
            }
            first += block.corners.len() as u32;
        } else if block.convex {
            for p in &block.corners {
                let _ = writeln!(out, "{},{:?},{:?},{:?}", block.name, p.x, p.y, p.z);
            }
        } else {
            return Err(format!("\"{}\" is a {}, and a table holds the corners of convex blocks; write an .obj", block.name, block.kind));
        }
    }
    Ok((out, blocks.len()))
}

/// Corners (in the frame of the shape) and triangles of a shape; those of the parts of a compound one after the other, none of them shared.
fn surface(name: &str, shape: &ShapeSpec) -> Result<(Vec<DVec3>, Vec<[u32; 3]>), String> {
    Ok(match shape {
        ShapeSpec::Compound { parts } => {
            let (mut corners, mut triangles) = (Vec::new(), Vec::new());
            for (pose, part) in parts {
                let (own, faces) = surface(name, part)?;
                let first = corners.len() as u32;
                triangles.extend(faces.into_iter().map(|t: [u32; 3]| t.map(|i| i + first)));
                let turned = pose.rotation != Pose::IDENTITY.rotation;
                corners.extend(own.into_iter().map(|p| if turned { pose.point(p) } else { pose.position + p }));
            }
            (corners, triangles)
        }
        ShapeSpec::Mesh { vertices, triangles } => (vertices.clone(), triangles.clone()),
        ShapeSpec::Cuboid { .. } | ShapeSpec::Hull { .. } => {
            let surface = shape.build().map_err(|e| format!("\"{name}\": {e}"))?.surface(3, 0.0);
            let mut corners = if let ShapeSpec::Hull { points } = shape { points.clone() } else { Vec::new() };
            let key = |p: &DVec3| p.to_array().map(f64::to_bits);
            let mut number: BTreeMap<[u64; 3], u32> = corners.iter().enumerate().map(|(i, p)| (key(p), i as u32)).collect();
            let mut place = |p: &DVec3| {
                *number.entry(key(p)).or_insert_with(|| {
                    corners.push(*p);
                    corners.len() as u32 - 1
                })
            };
            let triangles = surface.triangles.iter().map(|t| t.map(|i| place(&surface.vertices[i as usize]))).collect();
            (corners, triangles)
        }
        other => {
            return Err(format!("\"{name}\" is a {}; models hold cuboids, hulls, meshes and compounds of them", other.kind()));
        }
    })
}

fn block(body: &Body) -> Result<Block<'_>, String> {
    let (own, triangles) = surface(&body.name, &body.shape)?;
    let corners = if body.pose.rotation == Pose::IDENTITY.rotation {
        let axis = |k: usize| about(body.pose.position[k], &own.iter().map(|p| p[k]).collect::<Vec<_>>());
        let [x, y, z] = [axis(0), axis(1), axis(2)];
        (0..own.len()).map(|i| DVec3::new(x[i], y[i], z[i])).collect()
    } else {
        own.iter().map(|p| body.pose.point(*p)).collect()
    };
    let convex = !matches!(body.shape, ShapeSpec::Mesh { .. } | ShapeSpec::Compound { .. });
    Ok(Block { name: &body.name, corners, triangles, convex, kind: body.shape.kind() })
}

/// Numbers of floating point looked at on either side of a sum.
const NEAR: i32 = 4;

/// Coordinates w with `w − middle` equal to these ones and, where there are any, the middle between the least and the largest of them equal to `middle`,
/// after rounding.
fn about(middle: f64, own: &[f64]) -> Vec<f64> {
    let near = |x: &f64| {
        let sum = middle + x;
        let (mut up, mut down) = (sum, sum);
        let mut all = vec![sum];
        for _ in 0..NEAR {
            (up, down) = (up.next_up(), down.next_down());
            all.extend([up, down]);
        }
        all.retain(|w| w - middle == *x);
        if all.is_empty() { vec![sum] } else { all }
    };
    let ends = [own.iter().copied().fold(f64::INFINITY, f64::min), own.iter().copied().fold(f64::NEG_INFINITY, f64::max)];
    let [lows, highs] = [near(&ends[0]), near(&ends[1])];
    let pairs = lows.iter().flat_map(|l| highs.iter().map(move |h| [*l, *h]));
    let found = pairs.clone().find(|[l, h]| 0.5 * (l + h) == middle).unwrap_or([lows[0], highs[0]]);
    let inside = |x: &f64| match x {
        x if *x == ends[0] => found[0],
        x if *x == ends[1] => found[1],
        x => near(x)[0],
    };
    own.iter().map(inside).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_give_back_their_middle_and_what_lies_about_it() {
        let mut seed = 7u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        for _ in 0..2000 {
            let scale = 10f64.powi((4.0 * random()) as i32);
            let given: Vec<f64> = (0..6).map(|_| 3.0 * random() + scale).collect();
            let ends = |x: &[f64]| [x.iter().copied().fold(f64::INFINITY, f64::min), x.iter().copied().fold(f64::NEG_INFINITY, f64::max)];
            let middle = |x: &[f64]| 0.5 * (ends(x)[0] + ends(x)[1]);
            let m = middle(&given);
            let own: Vec<f64> = given.iter().map(|x| x - m).collect();
            let again = about(m, &own);
            assert_eq!(middle(&again), m);
            assert!(again.iter().zip(&own).all(|(w, x)| w - m == *x), "{given:?}");
        }
    }
}
