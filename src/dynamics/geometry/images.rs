//! The broad phase of a periodic cell.
//!
//! Each box is moved by whole cells until its lower corner lies in the cell; where it reaches beyond upper faces, it stands beyond the lower
//! ones as well, as a ghost: up to 7 of them in a corner. Boxes that meet by any two images then meet somewhere in this picture, and a
//! pair that is found more than once counts once. Ghosts across a shear stand where the images are by now, and have ghosts of their own.

use super::broad::{BroadPhase, Content};
use super::crowd::Crowd;
use super::shapes::Shape;
use crate::algebra::spatial::Pose;
use crate::model::newton_euler::Locks;
use crate::model::periodic::Cell;
use glam::DVec3;

/// Whether a body may leave its place in the cell: a plate whose locks leave it the open axes alone keeps it.
#[doc(hidden)]
pub fn wanders(cell: &Cell, mobile: bool, locks: &Locks) -> bool {
    let held = locks.rotation == [true; 3] && (0..3).all(|a| !cell.periodic(a) || locks.translation[a]);
    mobile && !held
}

/// Whether a body can stand in a periodic cell; the error says why it cannot and what would do.
///
/// # Errors
/// A body that forces move is longer than half of the cell: two of its images could meet the same grain. A longer one that stands still or
/// moves as told has to reach through both faces, and a half-space must not face along a periodic axis.
///
/// ```
/// use drystone::geometry::{Shape, fits_cell};
/// use drystone::{algebra::spatial::Pose, model::periodic::Cell};
/// let cell = Cell::new([Some([0.0, 1.0]), None, None])?;
/// assert!(fits_cell(&cell, &Shape::ball(0.2)?, &Pose::IDENTITY, true).is_ok());
/// assert!(fits_cell(&cell, &Shape::ball(0.3)?, &Pose::IDENTITY, true).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fits_cell(cell: &Cell, shape: &Shape, pose: &Pose, moves: bool) -> Result<(), String> {
    if cell.is_open() {
        return Ok(());
    }
    let axis = |a: usize| ["x", "y", "z"][a];
    if cell.shear.is_some() && (matches!(shape, Shape::HalfSpace { .. }) || !moves && cell.too_long(shape.bounding_radius())) {
        return Err("it reaches through the faces of a periodic cell whose images move; a sheared cell holds grains alone, no walls".into());
    }
    if let Shape::HalfSpace { normal } = shape {
        let normal = pose.vector(*normal);
        let across = (0..3).find(|&a| cell.periodic(a) && normal[a].abs() > 1e-12);
        return across.map_or(Ok(()), |a| Err(format!("its plane stands across the axis {}, along which the cell is periodic", axis(a))));
    }
    let radius = shape.bounding_radius();
    if !cell.too_long(radius) {
        return Ok(());
    }
    if moves {
        let axes = (0..3).filter(|&a| cell.periodic(a)).min_by(|&a, &b| cell.size[a].total_cmp(&cell.size[b]));
        return axes.map_or(Ok(()), |a| {
            let (long, size) = (2.0 * radius, cell.size[a]);
            Err(format!("it is {long} m long, more than half of the periodic cell of {size} m along {}; make the cell larger", axis(a)))
        });
    }
    let (low, high) = shape.aabb(pose);
    let short = (0..3).find(|&a| cell.periodic(a) && (low[a] > cell.low[a] || high[a] < cell.high[a]));
    short.map_or(Ok(()), |a| {
        let [from, to] = [cell.low[a], cell.high[a]];
        let [low, high] = [low[a], high[a]].map(|x| (x * 1e9).round() / 1e9);
        Err(format!(
            "its ends are {} m apart, more than half of the periodic cell, and it reaches from {low} to {high} m along {}; let it reach through both \
             faces, {from} and {to} m, divide it, or make the cell larger",
            2.0 * radius,
            axis(a)
        ))
    })
}

/// A body in a periodic cell.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// Its place (m).
    pub position: DVec3,
    /// Whether it is no half-space.
    pub bounded: bool,
    /// Whether it is too long for the cell to hold two of it, and stands where it is.
    pub fills: bool,
}

impl Placed {
    /// Where the image of the second body stands that meets the first, from the second (m). Bodies that fill the cell are met where they stand, by
    /// the image of the other one in the cell.
    #[inline]
    pub fn shift(cell: &Cell, [a, b]: [Self; 2]) -> DVec3 {
        // a half-space is the same everywhere along the cell
        if !a.bounded || !b.bounded {
            return DVec3::ZERO;
        }
        match (a.fills, b.fills) {
            (false, false) => cell.nearest(b.position - a.position),
            (false, true) => -cell.home(a.position).0,
            _ => cell.home(b.position).0,
        }
    }
}

/// How far from the face a box may be that has a ghost, in parts of itself: as thick as a skin of the broad phase.
const KEPT: f64 = 0.05;

/// Ghosts of the boxes in a cell, and whose they are.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
pub struct Images {
    cell: Cell,
    /// Leaves of bodies are below, those of ghosts from here on.
    bodies: u32,
    /// By body: which ghosts it has, a bit for each combination of axes, and the leaf of each.
    ghosts: Vec<(u8, [u32; 8])>,
    /// Body of each ghost.
    owners: Vec<u32>,
    free: Vec<u32>,
    /// Pairs of ghosts, by their bodies, and room for these among the others.
    of_ghosts: Vec<(u32, u32)>,
    merged: Vec<(u32, u32)>,
}

impl Images {
    /// States the cell and how many bodies there are; where either has changed all begins anew.
    pub fn prepare(&mut self, cell: Cell, bodies: usize, broad: &mut BroadPhase) {
        if cell.is_like(&self.cell) && (cell.is_open() || self.bodies as usize == bodies) {
            self.cell = cell;
            return;
        }
        (self.bodies..self.bodies + self.owners.len() as u32).for_each(|leaf| broad.remove(leaf));
        (self.cell, self.bodies) = (cell, bodies as u32);
        self.ghosts.clear();
        self.ghosts.resize(if cell.is_open() { 0 } else { bodies }, (0, [0; 8]));
        self.owners.clear();
        self.free.clear();
    }

    /// Adds the box of a body of which nothing else is known, or moves it.
    pub fn place(&mut self, broad: &mut BroadPhase, body: u32, corners: [DVec3; 2]) {
        self.set_box(broad, body, corners, Content::UNKNOWN);
    }

    /// Adds the box of a body, or moves it.
    pub(super) fn set_box(&mut self, broad: &mut BroadPhase, body: u32, [mut low, mut high]: [DVec3; 2], mut content: Content) {
        if self.cell.is_open() {
            return broad.set_image(body, 0, [low, high], content);
        }
        let (cell, from, mut beyond) = (self.cell, low, 0);
        // one that fills the cell stands everywhere in it; images across a shear move on their own
        if cell.shear.is_some() || cell.axes().into_iter().any(|a| cell.periodic(a) && high[a] - low[a] >= cell.size[a]) {
            content = Content::UNKNOWN;
        }
        for a in cell.axes().into_iter().filter(|&a| cell.periodic(a)) {
            beyond |= bring_back(&cell, a, &mut low, &mut high);
        }
        content.around = content.around.shifted(low - from);
        broad.set_image(body, 0, [low, high], content);
        // the one below a face of the shear stands elsewhere along it, and may reach beyond that face or not
        let across = cell.shear.filter(|shear| beyond >> shear.across & 1 == 1);
        let (mut below, mut beyond_below) = ((low, high), beyond);
        if let Some(shear) = across {
            let by = cell.edges(shear.across, -1.0);
            below = (low + by, high + by);
            beyond_below = beyond & !(1 << shear.along) | bring_back(&cell, shear.along, &mut below.0, &mut below.1);
        }
        let Some((had, leaves)) = self.ghosts.get_mut(body as usize) else { return };
        if beyond | *had == 0 {
            return;
        }
        let mut now = 0;
        for mask in 1..8u8 {
            let moved = across.filter(|shear| mask >> shear.across & 1 == 1);
            let ((low, high), beyond) = if moved.is_some() { (below, beyond_below) } else { ((low, high), beyond) };
            let had = *had >> mask & 1 == 1;
            // a box grows and shrinks with its speed: one that has a ghost keeps it while it is near the face
            let near = |a: usize| mask >> a & 1 == 0 || high[a] + KEPT * (high[a] - low[a]) >= cell.low[a] + cell.size[a];
            let has = mask & beyond == mask || had && cell.shear.is_none() && near(0) && near(1) && near(2);
            let leaf = &mut leaves[mask as usize];
            if has {
                now |= 1 << mask;
                if !had {
                    *leaf = self.free.pop().unwrap_or_else(|| {
                        self.owners.push(0);
                        self.bodies + self.owners.len() as u32 - 1
                    });
                    self.owners[(*leaf - self.bodies) as usize] = body;
                }
                let counts = |a: usize| mask >> a & 1 == 1 && moved.is_none_or(|shear| shear.across != a);
                let away = DVec3::from_array(std::array::from_fn(|a| if counts(a) { cell.size[a] } else { 0.0 }));
                // two that have been moved alike meet where they were; across a shear they may be brought back by other edges
                let moved = if cell.shear.is_none() { mask } else { 0 };
                let around = content.around.shifted(-away);
                broad.set_image(*leaf, moved, [low - away, high - away], Content { around, ..content });
            } else if had {
                broad.remove(*leaf);
                self.free.push(*leaf);
            }
        }
        *had = now;
    }

    /// Forgets a body.
    pub(super) fn remove(&mut self, broad: &mut BroadPhase, body: u32) {
        broad.remove(body);
        let Some((had, leaves)) = self.ghosts.get_mut(body as usize) else { return };
        for mask in (1..8).filter(|mask| *had >> mask & 1 == 1) {
            broad.remove(leaves[mask]);
            self.free.push(leaves[mask]);
        }
        *had = 0;
    }

    /// All pairs of bodies whose boxes overlap or touch by any of their images, in ascending order.
    ///
    /// # Errors
    /// As [`BroadPhase::pairs`], by body.
    pub fn pairs(&mut self, broad: &mut BroadPhase, out: &mut Vec<(u32, u32)>) -> Result<(), Crowd> {
        let found = broad.pairs(out);
        if self.owners.is_empty() {
            return found;
        }
        let Self { bodies, owners, of_ghosts, merged, .. } = self;
        let body = |leaf: u32| if leaf < *bodies { leaf } else { owners[(leaf - *bodies) as usize] };
        found.map_err(|crowd| Crowd { leaf: body(crowd.leaf), ..crowd })?;
        // leaves of ghosts are the higher ones; pairs without any stand in order already
        of_ghosts.clear();
        let through = out.iter().filter(|pair| pair.1 >= *bodies).map(|pair| (body(pair.0), body(pair.1)));
        of_ghosts.extend(through.filter(|(i, j)| i != j).map(|(i, j)| (i.min(j), i.max(j))));
        of_ghosts.sort_unstable();
        of_ghosts.dedup();
        merged.clear();
        let mut ghosts = of_ghosts.iter().copied().peekable();
        for &pair in out.iter().filter(|pair| pair.1 < *bodies) {
            while let Some(before) = ghosts.next_if(|&ghost| ghost < pair) {
                merged.push(before);
            }
            ghosts.next_if_eq(&pair);
            merged.push(pair);
        }
        merged.extend(ghosts);
        std::mem::swap(out, merged);
        Ok(())
    }
}

/// Moves a box by whole edges until its lower corner lies in the cell along this axis; the bit of the axis where it reaches beyond the upper
/// face.
fn bring_back(cell: &Cell, a: usize, low: &mut DVec3, high: &mut DVec3) -> u8 {
    let (floor, length) = (cell.low[a], cell.size[a]);
    if high[a] - low[a] >= length {
        // it meets everything along this axis
        (low[a], high[a]) = (floor, floor + length);
        return 0;
    }
    let way = low[a] - floor;
    if !(0.0..length).contains(&way) {
        let by = cell.edges(a, -(way / length).floor());
        (*low, *high) = (*low + by, *high + by);
    }
    u8::from(high[a] >= floor + length) << a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::broad::Around;
    use crate::geometry::tests::Dice;
    use crate::model::periodic::Shear;

    #[test]
    fn images_that_have_been_moved_alike_are_not_looked_at_twice() {
        let mut broad = BroadPhase::default();
        let (mut images, cell) = (Images::default(), Cell::new([Some([0.0, 1.0]), Some([0.0, 1.0]), None]).unwrap());
        images.prepare(cell, 2, &mut broad);
        for (body, x) in [(0, 0.9), (1, 0.95)] {
            images.set_box(&mut broad, body, [DVec3::new(x, 0.95, 0.0), DVec3::new(x + 0.1, 1.05, 0.1)], Content::UNKNOWN);
        }
        assert_eq!(images.owners.len(), 6, "ghosts along x, along y and along both of each");
        let mut found = Vec::new();
        broad.pairs(&mut found).unwrap();
        assert_eq!(found, [(0, 1)]);
    }

    #[test]
    fn pairs_are_those_of_all_images_wherever_boxes_have_gone() {
        let faces = [Some([0.0, 1.0]), Some([-0.5, 0.5]), Some([2.0, 2.8])];
        let shears = [None, Some((1, 0)), Some((2, 1)), Some((0, 2))];
        for (open, shear) in (0..8u32).map(|open| (open, None)).chain(shears.map(|shear| (0, shear))) {
            let mut cell = Cell::new([0, 1, 2].map(|a| faces[a].filter(|_| open >> a & 1 == 0))).unwrap();
            if let Some((across, along)) = shear {
                cell = cell.sheared(Shear { across, along, rate: 1.3 }).unwrap();
            }
            let (mut images, mut broad, mut dice) = (Images::default(), BroadPhase::default(), Dice(5));
            let n = 60;
            images.prepare(cell, n, &mut broad);
            let mut boxes = vec![(DVec3::ZERO, DVec3::ZERO); n];
            for round in 0..30 {
                cell = cell.at(0.17 * f64::from(round));
                images.prepare(cell, n, &mut broad);
                for (k, (centre, half)) in boxes.iter_mut().enumerate() {
                    if round == 0 {
                        (*centre, *half) = (dice.vector() * 1.5, DVec3::splat(0.02 + 0.1 * dice.unit()));
                    }
                    *centre += dice.vector() * 0.1;
                    // the ball through the corners of the box leaves out none that it meets
                    let known = Content { way: dice.vector() * 0.1, around: Around::new(*centre, half.length()) };
                    let content = if dice.unit() < 0.5 { known } else { Content::UNKNOWN };
                    images.set_box(&mut broad, k as u32, [*centre - *half, *centre + *half], content);
                }
                let mut found = Vec::new();
                images.pairs(&mut broad, &mut found).unwrap();
                let mut expected = Vec::new();
                for i in 0..n {
                    for j in i + 1..n {
                        let d = boxes[i].0 - boxes[j].0;
                        let d = d + cell.nearest(d);
                        if d.abs().cmple(boxes[i].1 + boxes[j].1).all() {
                            expected.push((i as u32, j as u32));
                        }
                    }
                }
                assert_eq!(found, expected, "open {open:b}, {shear:?}, round {round}");
            }
            // what is taken away leaves no ghost
            (0..n as u32).for_each(|k| images.remove(&mut broad, k));
            let mut found = vec![(0, 1)];
            images.pairs(&mut broad, &mut found).unwrap();
            assert!(found.is_empty());
        }
    }
}
