//! What stands in a box, by the cells of a grid: whether a body that comes in touches something is asked of what is near it alone.

use crate::algebra::spatial::Pose;
use crate::geometry::{ContactPoint, Scratch, Shape, contact_points};
use glam::DVec3;

/// Cells along an axis at most.
const CELLS: f64 = 32.0;
/// A body that reaches into more cells stands in none: all ask for it.
const WIDE: usize = 64;

struct Neighbour {
    shape: Shape,
    pose: Pose,
    low: DVec3,
    high: DVec3,
}

/// Bodies whose boxes meet a box.
pub(super) struct Crowd {
    low: DVec3,
    high: DVec3,
    /// Cells along each axis, and in a metre of it.
    counts: [usize; 3],
    density: DVec3,
    bodies: Vec<Neighbour>,
    wide: Vec<usize>,
    /// The last entry of each cell, counted from 1; 0: none.
    cells: Vec<u32>,
    /// A body, and the entry of the same cell before it.
    entries: Vec<(usize, u32)>,
}

impl Crowd {
    /// Nothing, in a box between two corners (m) for bodies of about this size (m).
    pub(super) fn new(low: DVec3, high: DVec3, size: f64) -> Self {
        let cells = ((high - low) / size).floor().clamp(DVec3::ONE, DVec3::splat(CELLS));
        let counts = cells.to_array().map(|n| n as usize);
        Self {
            low,
            high,
            counts,
            density: cells / (high - low),
            bodies: Vec::new(),
            wide: Vec::new(),
            cells: vec![0; counts.iter().product()],
            entries: Vec::new(),
        }
    }

    /// The cell of a point; of one beside the box, the nearest. It grows with the point along each axis.
    fn cell(&self, x: DVec3) -> [usize; 3] {
        let place = (x - self.low) * self.density;
        [0, 1, 2].map(|a| (place[a].max(0.0) as usize).min(self.counts[a] - 1))
    }

    fn index(&self, [i, j, k]: [usize; 3]) -> usize {
        i + self.counts[0] * (j + self.counts[1] * k)
    }

    /// Takes in a body, unless its box does not meet that of the crowd.
    pub(super) fn add(&mut self, shape: &Shape, pose: &Pose) {
        let (low, high) = shape.aabb(pose);
        if !meet([low, high], [self.low, self.high]) {
            return;
        }
        let (first, last) = (self.cell(low), self.cell(high));
        let number = self.bodies.len();
        if [0, 1, 2].map(|a| last[a] - first[a] + 1).iter().product::<usize>() > WIDE {
            self.wide.push(number);
        } else {
            for cell in between(first, last) {
                let index = self.index(cell);
                self.entries.push((number, self.cells[index]));
                self.cells[index] = self.entries.len() as u32;
            }
        }
        self.bodies.push(Neighbour { shape: shape.clone(), pose: *pose, low, high });
    }

    /// Bodies that may reach into a box, each once.
    fn near(&self, low: DVec3, high: DVec3) -> impl Iterator<Item = &Neighbour> {
        let near = between(self.cell(low), self.cell(high)).flat_map(move |cell| {
            let entry = |next: u32| self.entries.get((next as usize).wrapping_sub(1)).copied();
            let here = std::iter::successors(entry(self.cells[self.index(cell)]), move |&(_, next)| entry(next)).map(|(k, _)| k);
            // two boxes may share several cells; the first of them counts
            here.filter(move |&k| self.cell(low.max(self.bodies[k].low)) == cell)
        });
        near.chain(self.wide.iter().copied()).map(|k| &self.bodies[k])
    }

    /// Whether a body would touch nothing here.
    pub(super) fn is_free(&self, shape: &Shape, pose: &Pose, scratch: &mut Scratch, points: &mut Vec<ContactPoint>) -> bool {
        let (low, high) = shape.aabb(pose);
        self.near(low, high).filter(|n| meet([low, high], [n.low, n.high])).all(|other| {
            points.clear();
            contact_points(shape, pose, &other.shape, &other.pose, 0.0, scratch, points);
            points.is_empty()
        })
    }
}

fn meet([low1, high1]: [DVec3; 2], [low2, high2]: [DVec3; 2]) -> bool {
    low1.cmple(high2).all() && high1.cmpge(low2).all()
}

/// Cells from one corner to another.
fn between(first: [usize; 3], last: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    (first[2]..=last[2]).flat_map(move |k| (first[1]..=last[1]).flat_map(move |j| (first[0]..=last[0]).map(move |i| [i, j, k])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::random::Sequence;

    const LOW: DVec3 = DVec3::new(-0.1, 0.0, 0.3);
    const HIGH: DVec3 = DVec3::new(0.1, 0.3, 0.4);

    fn place(random: &mut Sequence, beyond: f64) -> Pose {
        Pose::at(DVec3::from_array([0, 1, 2].map(|a| random.next_between(LOW[a] - beyond, HIGH[a] + beyond))))
    }

    fn balls(count: usize, radius: [f64; 2], random: &mut Sequence) -> Vec<(Shape, Pose)> {
        (0..count).map(|_| (Shape::ball(random.next_between(radius[0], radius[1])).unwrap(), place(random, 0.03))).collect()
    }

    /// A crowd in the box of these bodies, for bodies of this size.
    fn crowd(bodies: &[(Shape, Pose)], size: f64) -> Crowd {
        let mut crowd = Crowd::new(LOW, HIGH, size);
        bodies.iter().for_each(|(shape, pose)| crowd.add(shape, pose));
        crowd
    }

    #[test]
    fn a_place_is_free_where_none_of_all_bodies_is_touched() {
        let mut random = Sequence::new(5);
        let mut all = balls(250, [0.001, 0.02], &mut random);
        all.push((Shape::half_space(DVec3::Z).unwrap(), Pose::at(DVec3::Z * 0.32)));
        all.push((Shape::cuboid(DVec3::new(0.2, 0.01, 0.2)).unwrap(), Pose::at(DVec3::new(0.0, 0.29, 0.3))));
        // cells of every size, also one alone
        for size in [1e-4, 0.004, 0.03, 1.0] {
            let crowd = crowd(&all, size);
            let (mut scratch, mut points, mut free) = (Scratch::default(), Vec::new(), 0);
            for _ in 0..2000 {
                let (shape, pose) = (Shape::ball(random.next_between(0.001, 0.02)).unwrap(), place(&mut random, -0.021));
                let touched = all.iter().any(|(other, at)| {
                    points.clear();
                    contact_points(&shape, &pose, other, at, 0.0, &mut scratch, &mut points);
                    !points.is_empty()
                });
                assert_eq!(crowd.is_free(&shape, &pose, &mut scratch, &mut points), !touched, "{pose:?} in cells of {size} m");
                free += usize::from(!touched);
            }
            assert!((100..1900).contains(&free), "{free} of 2000 are free");
        }
    }

    #[test]
    fn a_try_looks_at_what_is_near_however_many_stand_in_the_box() {
        let looks = |count: usize, radius: f64| {
            let mut random = Sequence::new(7);
            let crowd = crowd(&balls(count, [0.8 * radius, radius], &mut random), 2.0 * radius);
            let looks = (0..1000).map(|_| {
                let (low, high) = Shape::ball(radius).unwrap().aabb(&place(&mut random, -radius));
                crowd.near(low, high).count()
            });
            looks.sum::<usize>() as f64 / 1000.0
        };
        // as dense, but eight times as many
        let (few, many) = (looks(1000, 0.01), looks(8000, 0.005));
        assert!(many < 1.2 * few && few < 100.0, "{few} and {many}");
    }
}
