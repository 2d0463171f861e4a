//! A box cut into the Voronoi cells of random points: a block that is fractured without gaps.
//!
//! ```text
//! cell i = { x in the box : |x − p_i| ≤ |x − p_j| for all j }
//! ```
//!
//! Each cell is the box, cut by the middle planes of its neighbours, nearest first, until none can reach it: a plane at half the distance d
//! of two points cuts nothing where the farthest corner is nearer than d/2. Corners that cells share agree to rounding.

use glam::DVec3;

use crate::algebra::random::Sequence;

/// A box to be cut.
///
/// ```
/// use drystone::granular::voronoi::Voronoi;
/// let cells = Voronoi { size: glam::DVec3::new(1.0, 2.0, 0.5), cells: 30, relax: 1, seed: 4 }.cells();
/// assert!((cells.iter().map(|c| c.volume).sum::<f64>() - 1.0).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Voronoi {
    /// Edges of the box (m), which is centred on the z axis and stands on z = 0.
    pub size: DVec3,
    /// Number of cells.
    pub cells: usize,
    /// How often each point moves to the centre of its cell, and all is cut anew (Lloyd): cells become more alike.
    pub relax: usize,
    /// Another seed gives other points.
    pub seed: u64,
}

/// One cell.
///
/// ```
/// let whole = drystone::granular::voronoi::Voronoi { size: glam::DVec3::ONE, cells: 1, relax: 0, seed: 0 }.cells();
/// assert!(whole[0].corners.len() == 8 && (whole[0].centre.z - 0.5).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Centre of its volume (m).
    pub centre: DVec3,
    /// Corners from there (m).
    pub corners: Vec<DVec3>,
    /// m³
    pub volume: f64,
}

/// Faces as loops of corners, counter-clockwise from outside.
type Faces = Vec<Vec<DVec3>>;

/// Points by the cell of a grid.
struct Grid {
    low: DVec3,
    width: DVec3,
    count: [i64; 3],
    starts: Vec<usize>,
    points: Vec<usize>,
}

impl Grid {
    fn new(low: DVec3, size: DVec3, points: &[DVec3]) -> Self {
        let edge = libm::cbrt(size.element_product() / points.len() as f64);
        let count = (size / edge).to_array().map(|n| (n as i64).clamp(1, 1000));
        let width = size / DVec3::from_array(count.map(|n| n as f64));
        let mut grid = Self { low, width, count, starts: Vec::new(), points: Vec::new() };
        let mut cells: Vec<Vec<usize>> = vec![Vec::new(); count.iter().product::<i64>() as usize];
        points.iter().enumerate().for_each(|(i, x)| cells[grid.index(grid.cell(*x))].push(i));
        grid.starts.push(0);
        for cell in cells {
            grid.points.extend(cell);
            grid.starts.push(grid.points.len());
        }
        grid
    }

    fn cell(&self, x: DVec3) -> [i64; 3] {
        let k = ((x - self.low) / self.width).to_array();
        std::array::from_fn(|a| (k[a] as i64).clamp(0, self.count[a] - 1))
    }

    fn index(&self, [x, y, z]: [i64; 3]) -> usize {
        ((z * self.count[1] + y) * self.count[0] + x) as usize
    }

    /// Points in the cells that are `ring` cells from `at`; false where that is beyond the box.
    fn ring(&self, at: [i64; 3], ring: i64, out: &mut Vec<usize>) -> bool {
        let range = |a: usize| (at[a] - ring).max(0)..=(at[a] + ring).min(self.count[a] - 1);
        let mut any = false;
        for z in range(2) {
            for y in range(1) {
                for x in range(0) {
                    if (x - at[0]).abs().max((y - at[1]).abs()).max((z - at[2]).abs()) == ring {
                        any = true;
                        let i = self.index([x, y, z]);
                        out.extend(&self.points[self.starts[i]..self.starts[i + 1]]);
                    }
                }
            }
        }
        any
    }
}

impl Voronoi {
    /// The cells, in the order of their points.
    pub fn cells(&self) -> Vec<Cell> {
        let mut random = Sequence::new(self.seed);
        let low = DVec3::new(-0.5 * self.size.x, -0.5 * self.size.y, 0.0);
        let point = |_| low + self.size * DVec3::from_array(std::array::from_fn(|_| random.next_uniform()));
        let mut points: Vec<DVec3> = (0..self.cells).map(point).collect();
        for _ in 0..self.relax {
            points = self.cut(low, &points).into_iter().map(|cell| cell.centre).collect();
        }
        self.cut(low, &points)
    }

    fn cut(&self, low: DVec3, points: &[DVec3]) -> Vec<Cell> {
        let grid = Grid::new(low, self.size, points);
        let tolerance = 1e-12 * self.size.max_element();
        (0..points.len()).map(|i| cell(i, points, &grid, cuboid(low, low + self.size), tolerance)).collect()
    }
}

fn cuboid(low: DVec3, high: DVec3) -> Faces {
    let corner = |i: usize| DVec3::select(glam::BVec3::new(i & 1 > 0, i & 2 > 0, i & 4 > 0), high, low);
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    quads.iter().map(|quad| quad.iter().map(|&i| corner(i)).collect()).collect()
}

/// The cell of point `i` within the box.
fn cell(i: usize, points: &[DVec3], grid: &Grid, mut faces: Faces, tolerance: f64) -> Cell {
    let (x, at) = (points[i], grid.cell(points[i]));
    let farthest = |faces: &Faces| faces.iter().flatten().map(|c| c.distance(x)).fold(0.0, f64::max);
    let mut reach = farthest(&faces);
    let mut near = Vec::new();
    for ring in 0.. {
        near.clear();
        // what is `ring` cells away is at least ring − 1 widths away
        if (ring - 1) as f64 * grid.width.min_element() > 2.0 * reach || !grid.ring(at, ring, &mut near) {
            break;
        }
        let square = |j: usize| points[j].distance_squared(x);
        near.retain(|&j| j != i && square(j) <= 4.0 * reach * reach);
        near.sort_by(|&a, &b| square(a).total_cmp(&square(b)).then(a.cmp(&b)));
        for &j in &near {
            if square(j) > 4.0 * reach * reach {
                break;
            }
            let normal = (points[j] - x).normalize_or_zero();
            if normal != DVec3::ZERO && clip(&mut faces, normal, normal.dot(0.5 * (points[j] + x)), tolerance) {
                reach = farthest(&faces);
            }
        }
    }
    measure(&faces, 1e3 * tolerance)
}

/// Cuts away what lies beyond `normal · x = offset`; whether anything does.
fn clip(faces: &mut Faces, normal: DVec3, offset: f64, tolerance: f64) -> bool {
    let height = |x: DVec3| normal.dot(x) - offset;
    if faces.iter().flatten().all(|&x| height(x) <= tolerance) {
        return false;
    }
    let mut rim: Vec<DVec3> = Vec::new();
    for face in faces.iter_mut() {
        let mut kept = Vec::with_capacity(face.len() + 1);
        for k in 0..face.len() {
            let (a, b) = (face[k], face[(k + 1) % face.len()]);
            let (ha, hb) = (height(a), height(b));
            if ha <= tolerance {
                kept.push(a);
                if ha >= -tolerance {
                    rim.push(a);
                }
            }
            if (ha < -tolerance && hb > tolerance) || (ha > tolerance && hb < -tolerance) {
                // from the lower end whichever way the face runs, so that both faces of an edge get the same bits
                let (low, high, hl, hh) = if ha < hb { (a, b, ha, hb) } else { (b, a, hb, ha) };
                let crossing = low + (high - low) * (hl / (hl - hh));
                kept.push(crossing);
                rim.push(crossing);
            }
        }
        *face = kept;
    }
    faces.retain(|face| face.len() > 2);
    // the new face, around its middle
    let mut unique: Vec<DVec3> = Vec::new();
    rim.iter().for_each(|x| {
        if unique.iter().all(|y| y.distance(*x) > 2.0 * tolerance) {
            unique.push(*x);
        }
    });
    if unique.len() > 2 {
        let middle = unique.iter().sum::<DVec3>() / unique.len() as f64;
        let (u, v) = normal.any_orthonormal_pair();
        let angle = |x: &DVec3| libm::atan2((x - middle).dot(v), (x - middle).dot(u));
        let inverse = u.cross(v).dot(normal) < 0.0;
        unique.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
        if inverse {
            unique.reverse();
        }
        faces.push(unique);
    }
    true
}

/// Volume and centre by tetrahedra from a corner; corners that coincide once.
fn measure(faces: &Faces, tolerance: f64) -> Cell {
    let mut corners: Vec<DVec3> = Vec::new();
    for x in faces.iter().flatten() {
        if corners.iter().all(|y| y.distance(*x) > tolerance) {
            corners.push(*x);
        }
    }
    let origin = corners.first().copied().unwrap_or_default();
    let (mut volume, mut first) = (0.0, DVec3::ZERO);
    for face in faces {
        for k in 2..face.len() {
            let [a, b, c] = [face[0] - origin, face[k - 1] - origin, face[k] - origin];
            let v = a.dot(b.cross(c)) / 6.0;
            volume += v;
            first += v * 0.25 * (a + b + c);
        }
    }
    let centre = origin + if volume > 0.0 { first / volume } else { DVec3::ZERO };
    Cell { centre, corners: corners.into_iter().map(|x| x - centre).collect(), volume }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_fill_the_box_and_hold_what_is_nearest_to_their_points() {
        for (cells, relax, seed) in [(1, 0, 0), (2, 0, 1), (40, 0, 2), (300, 1, 3)] {
            let block = Voronoi { size: DVec3::new(0.7, 1.3, 0.4), cells, relax, seed };
            let found = block.cells();
            let volume: f64 = found.iter().map(|c| c.volume).sum();
            assert!((volume / block.size.element_product() - 1.0).abs() < 1e-12, "{cells} cells: {volume}");
            assert!(found.iter().all(|c| c.volume > 0.0 && c.corners.len() >= 4));
        }
        // without relaxation the points are those of the seed
        let block = Voronoi { size: DVec3::new(0.7, 1.3, 0.4), cells: 60, relax: 0, seed: 5 };
        let mut random = Sequence::new(5);
        let low = DVec3::new(-0.35, -0.65, 0.0);
        let points: Vec<DVec3> =
            (0..60).map(|_| low + block.size * DVec3::from_array(std::array::from_fn(|_| random.next_uniform()))).collect();
        for (i, cell) in block.cells().iter().enumerate() {
            for corner in cell.corners.iter().map(|c| cell.centre + *c) {
                let own = corner.distance(points[i]);
                let nearest = points.iter().map(|p| corner.distance(*p)).fold(f64::INFINITY, f64::min);
                assert!(own - nearest < 1e-12, "cell {i}: {own} {nearest}");
            }
        }
    }

    #[test]
    fn relaxed_cells_are_more_alike() {
        let spread = |relax| {
            let cells = Voronoi { size: DVec3::ONE, cells: 100, relax, seed: 1 }.cells();
            cells.iter().map(|c| (100.0 * c.volume - 1.0).powi(2)).sum::<f64>()
        };
        assert!(spread(5) < 0.3 * spread(0), "{} {}", spread(5), spread(0));
    }
}
