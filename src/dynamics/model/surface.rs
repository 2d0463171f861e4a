//! Surfaces that count what passes through them, and remove nothing.
//!
//! ```text
//! passes forward   (x⁰ − p)·n ≤ 0 < (x¹ − p)·n          x⁰, x¹: centre of mass at the start and the end of a step
//! passes back      (x¹ − p)·n ≤ 0 < (x⁰ − p)·n
//! where            x⁰ + s (x¹ − x⁰),  s = (p − x⁰)·n / (x¹ − x⁰)·n, has to lie within the surface
//! ```
//!
//! A surface is an entity with a [`Surface`] and its [`Crossings`]: number, mass, momentum and kinetic energy of what has passed since the start, each
//! way, with the velocities of the end of the step. Which side a body is on depends on its place alone, so that a resumed run counts what the
//! straight one does, and one that passes to and fro counts each time.
//!
//! In a periodic cell every image of a surface counts.

use super::periodic::Cell;
use super::scheme::Invalid;
use super::signal::SurfaceQuantity;
use bevy_ecs::prelude::Component;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Which part of its plane a surface is.
///
/// ```
/// use drystone::model::surface::Extent;
/// assert_ne!(Extent::WHOLE, Extent::Disc { radius: 1.0 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Extent {
    /// What lies in a box along the axes of the world (m); sides may be open.
    Box {
        /// Lower corner.
        low: DVec3,
        /// Upper corner.
        high: DVec3,
    },
    /// A disc about the point.
    Disc {
        /// m
        radius: f64,
    },
    /// A rectangle, the point its middle.
    Rectangle {
        /// Halves of its edges (m), at right angles to each other and to the normal.
        halves: [DVec3; 2],
    },
}

impl Extent {
    /// All of it.
    pub const WHOLE: Self = Self::Box { low: DVec3::NEG_INFINITY, high: DVec3::INFINITY };
}

/// Where bodies are counted: see the [module](self).
///
/// ```
/// use drystone::model::surface::{Extent, Surface};
/// use drystone::prelude::*;
/// let mut sim = Simulation::default();
/// let ring = sim.add_surface(Surface { point: DVec3::ZERO, normal: DVec3::NEG_Z, extent: Extent::Disc { radius: 0.5 } })?;
/// sim.spawn_body(Body::point(3.0, DVec3::ONE).at(DVec3::Z * 0.1))?;
/// sim.spawn_body(Body::point(3.0, DVec3::ONE).at(DVec3::new(0.6, 0.0, 0.1)))?;
/// sim.run_until(0.5)?;
/// let passed = sim.crossings(ring).expect("a surface");
/// assert_eq!((passed.forward.count, passed.forward.mass, passed.back.count), (1, 3.0, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[require(Crossings)]
pub struct Surface {
    /// On its plane (m).
    pub point: DVec3,
    /// Unit vector to the side that bodies pass to forward.
    pub normal: DVec3,
    /// Which part of the plane it is.
    pub extent: Extent,
}

impl Surface {
    /// What is wrong with its numbers, or with its place in a periodic cell, and what would do.
    pub fn validate(&self, cell: &Cell) -> Result<(), Invalid> {
        let Self { point, normal, extent } = *self;
        if !point.is_finite() || normal.is_nan() || (normal.length_squared() - 1.0).abs() > 1e-6 {
            let found = format!("a plane through {point} with the normal {normal}");
            return Err(Invalid::new("a surface", found, "a finite point and a unit vector"));
        }
        let wrong = |found: String, needed: &str| Err(Invalid::new("the extent of a surface", found, needed.to_owned()));
        match extent {
            Extent::Box { low, high } if !low.cmplt(high).all() => {
                return wrong(format!("a box from {low} to {high}"), "a lower corner that is smaller on every axis");
            }
            Extent::Disc { radius } if !(radius > 0.0 && radius.is_finite()) => {
                return wrong(format!("a radius of {radius} m"), "a positive number");
            }
            Extent::Rectangle { halves: [a, b] } => {
                let square = |u: DVec3, v: DVec3| u.dot(v).abs() <= 1e-6 * u.length() * v.length();
                // whole edges, as scene files have them
                let edges = || format!("the edges {} and {}", 2.0 * a, 2.0 * b);
                if !(a.is_finite() && b.is_finite() && a.length() > 0.0 && b.length() > 0.0) {
                    return wrong(edges(), "two finite edges that have a length");
                }
                if !(square(a, b) && square(a, normal) && square(b, normal)) {
                    return wrong(edges(), "edges at right angles to each other and to the normal");
                }
            }
            _ => {}
        }
        if cell.shear.is_some() {
            return Err(Invalid::new("a surface", "a periodic cell whose images move", "a cell without shear"));
        }
        let reach = match extent {
            Extent::Box { .. } => DVec3::ZERO,
            Extent::Disc { radius } => radius * DVec3::from_array((DVec3::ONE - normal * normal).to_array().map(|x| x.max(0.0).sqrt())),
            Extent::Rectangle { halves: [a, b] } => a.abs() + b.abs(),
        };
        let along_axis = normal.abs().max_element() > 1.0 - 1e-12;
        for a in (0..3).filter(|&a| cell.periodic(a)) {
            let (from, to) = (cell.low[a], cell.high[a]);
            let axis = ["x", "y", "z"][a];
            let (low, high) = match extent {
                Extent::Box { low, high } if (low[a], high[a]) == (f64::NEG_INFINITY, f64::INFINITY) => {
                    if normal[a] != 0.0 && !along_axis {
                        let found = format!("a plane that leans and has no end along {axis}");
                        return wrong(found, "bounds within the periodic cell, or a normal along an axis");
                    }
                    continue;
                }
                Extent::Box { low, high } => (low[a], high[a]),
                _ => (point[a] - reach[a], point[a] + reach[a]),
            };
            let slack = 1e-9 * (to - from);
            if low < from - slack || high > to + slack {
                let found = format!("{low} to {high} m along {axis}, beyond the periodic cell");
                return wrong(found, &format!("a part of {from} to {to}"));
            }
        }
        Ok(())
    }

    /// Whether the way from a place to another (m) passes it, forward if true.
    pub fn passes(&self, from: DVec3, to: DVec3) -> Option<bool> {
        let [before, after] = [from, to].map(|x| (x - self.point).dot(self.normal));
        if (before > 0.0) == (after > 0.0) {
            return None;
        }
        let at = from + (to - from) * (before / (before - after));
        let holds = match self.extent {
            // so that of two boxes beside each other one counts
            Extent::Box { low, high } => at.cmpge(low).all() && at.cmplt(high).all(),
            Extent::Disc { radius } => at.distance_squared(self.point) <= radius * radius,
            Extent::Rectangle { halves } => halves.iter().all(|half| (at - self.point).dot(*half).abs() <= half.length_squared()),
        };
        holds.then_some(after > 0.0)
    }

    /// The same for each image in a periodic cell.
    pub fn passes_in(&self, cell: &Cell, from: DVec3, to: DVec3) -> impl Iterator<Item = bool> + use<> {
        let surface = *self;
        // images along axes on which a plane has no end are the plane itself
        let endless = |a: usize| match surface.extent {
            Extent::Box { low, high } => surface.normal[a] == 0.0 && low[a] == f64::NEG_INFINITY && high[a] == f64::INFINITY,
            _ => false,
        };
        let alone = [0, 1, 2].map(endless);
        let home = cell.home(from).0;
        let images = cell.images().filter(move |(m, _)| (0..3).all(|a| m[a] == 0.0 || !alone[a]));
        images.filter_map(move |(_, shift)| surface.passes(from + home + shift, to + home + shift))
    }
}

/// What has passed a surface one way.
///
/// ```
/// assert_eq!(drystone::model::surface::Passage::default().count, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Passage {
    /// Bodies.
    pub count: u64,
    /// Their mass (kg).
    pub mass: f64,
    /// Their momentum (kg m/s).
    pub momentum: DVec3,
    /// Their kinetic energy (J).
    pub kinetic: f64,
}

/// What has passed a surface since the start.
///
/// ```
/// use drystone::model::{signal::SurfaceQuantity, surface::Crossings};
/// let mut passed = Crossings::default();
/// passed.add(false, 2.0, glam::DVec3::X, 0.5);
/// assert_eq!((passed.value(SurfaceQuantity::BackMass), passed.value(SurfaceQuantity::Count)), (2.0, 0.0));
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Crossings {
    /// To the side of the normal.
    pub forward: Passage,
    /// The other way.
    pub back: Passage,
}

impl Crossings {
    /// Counts a body of this mass (kg), momentum (kg m/s) and kinetic energy (J).
    pub fn add(&mut self, forward: bool, mass: f64, momentum: DVec3, kinetic: f64) {
        let passage = if forward { &mut self.forward } else { &mut self.back };
        passage.count += 1;
        passage.mass += mass;
        passage.momentum += momentum;
        passage.kinetic += kinetic;
    }

    /// The value of a quantity.
    pub fn value(&self, quantity: SurfaceQuantity) -> f64 {
        use SurfaceQuantity::*;
        let Self { forward, back } = self;
        match quantity {
            Count => forward.count as f64,
            Mass => forward.mass,
            MomentumX => forward.momentum.x,
            MomentumY => forward.momentum.y,
            MomentumZ => forward.momentum.z,
            Kinetic => forward.kinetic,
            BackCount => back.count as f64,
            BackMass => back.mass,
            BackMomentumX => back.momentum.x,
            BackMomentumY => back.momentum.y,
            BackMomentumZ => back.momentum.z,
            BackKinetic => back.kinetic,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::random::Sequence;

    #[test]
    fn ways_pass_where_they_meet_the_surface() {
        let (point, normal) = (DVec3::new(1.0, 0.0, 0.0), DVec3::X);
        let way = |y: f64, z: f64| [DVec3::new(0.5, y - 0.1, z), DVec3::new(1.5, y + 0.1, z)];
        let disc = Surface { point, normal, extent: Extent::Disc { radius: 0.5 } };
        let rectangle = Surface { extent: Extent::Rectangle { halves: [DVec3::Y * 0.5, DVec3::Z * 0.2] }, ..disc };
        let part = Surface { extent: Extent::Box { low: DVec3::splat(-0.2), high: DVec3::new(2.0, 0.5, 0.5) }, ..disc };
        for ((y, z), found) in [
            ((0.0, 0.0), [true; 3]),
            ((0.45, 0.0), [true; 3]),
            ((0.45, 0.3), [false, false, true]),
            ((-0.3, 0.1), [true, true, false]),
            ((0.55, 0.0), [false; 3]),
        ] {
            let [from, to] = way(y, z);
            for (surface, found) in [disc, rectangle, part].iter().zip(found) {
                assert_eq!(surface.passes(from, to), found.then_some(true), "{y} {z} {surface:?}");
                assert_eq!(surface.passes(to, from), found.then_some(false), "{y} {z} {surface:?}");
            }
        }
        // on the plane is behind it: a body that stops there has not passed, and passes when it goes on
        assert_eq!(disc.passes(DVec3::ZERO, point), None);
        assert_eq!(disc.passes(point, DVec3::X * 2.0), Some(true));
        assert_eq!(disc.passes(DVec3::X * 2.0, point), Some(false));
        assert_eq!(disc.passes(point, point), None);
    }

    #[test]
    fn in_a_periodic_cell_a_long_way_passes_each_image_once() {
        let cell = Cell::new([Some([-1.0, 1.0]), Some([0.0, 3.0]), None]).unwrap_or_else(|e| panic!("{e}"));
        let mut random = Sequence::new(3);
        for normal in [DVec3::X, DVec3::Y, DVec3::NEG_Z] {
            for place in [-1.0, 0.0, 0.37, 1.0] {
                let plane = Surface { point: normal.abs() * place, normal, extent: Extent::WHOLE };
                if plane.validate(&cell).is_err() {
                    continue;
                }
                // a walk of many steps: the count of a plane is that of its images by the ends
                let (mut x, mut count) = (DVec3::new(0.1, 0.2, 0.3), 0);
                let axis = (0..3).find(|&a| normal[a] != 0.0).unwrap_or(0);
                let image = |x: DVec3| {
                    let ahead = (x[axis] - place) * normal[axis];
                    if cell.periodic(axis) { (ahead / cell.size[axis]).ceil() as i64 - 1 } else { i64::from(ahead > 0.0) - 1 }
                };
                let start = image(x);
                for _ in 0..2000 {
                    let to = x + DVec3::from_array(std::array::from_fn(|_| random.next_between(-0.3, 0.31)));
                    count += plane.passes_in(&cell, x, to).map(|forward| if forward { 1 } else { -1 }).sum::<i64>();
                    x = to;
                    assert_eq!(count, image(x) - start, "{normal} {place}");
                }
            }
        }
        // pieces of a plane that fill it count as the whole does
        let whole = Surface { point: DVec3::ZERO, normal: DVec3::X, extent: Extent::WHOLE };
        let piece = |from: f64, to: f64| Surface {
            extent: Extent::Box { low: DVec3::new(-1.0, from, -9.0), high: DVec3::new(1.0, to, 9.0) },
            ..whole
        };
        let pieces = [piece(0.0, 1.0), piece(1.0, 2.9), piece(2.9, 3.0)];
        assert!(pieces.iter().all(|p| p.validate(&cell).is_ok()));
        let (mut x, mut counts) = (DVec3::new(0.1, 0.2, 0.3), [0; 2]);
        for _ in 0..3000 {
            let way = DVec3::from_array(std::array::from_fn(|_| random.next_between(-0.3, 0.3)));
            let to = DVec3::new(x.x + way.x, x.y + way.y, way.z);
            counts[0] += whole.passes_in(&cell, x, to).count();
            counts[1] += pieces.iter().map(|p| p.passes_in(&cell, x, to).count()).sum::<usize>();
            x = to;
        }
        assert!(counts[0] > 100 && counts[0] == counts[1], "{counts:?}");
    }

    #[test]
    fn surfaces_that_make_no_sense_are_named() {
        let (open, round) = (Cell::default(), Cell::new([Some([0.0, 1.0]), None, None]).unwrap_or_else(|e| panic!("{e}")));
        let good = Surface { point: DVec3::splat(0.5), normal: DVec3::X, extent: Extent::WHOLE };
        let lean = Surface { normal: DVec3::new(0.6, 0.8, 0.0), ..good };
        let of = |extent| Surface { extent, ..good };
        for cell in [&open, &round] {
            assert!(good.validate(cell).is_ok() && of(Extent::Disc { radius: 2.0 }).validate(cell).is_ok());
        }
        assert!(lean.validate(&open).is_ok());
        for (surface, cell, found) in [
            (Surface { normal: DVec3::X * 2.0, ..good }, &open, "unit vector"),
            (of(Extent::Disc { radius: -1.0 }), &open, "a radius of -1 m"),
            (of(Extent::Rectangle { halves: [DVec3::Y, DVec3::ZERO] }), &open, "have a length"),
            (of(Extent::Rectangle { halves: [DVec3::Y, DVec3::X] }), &open, "the edges [0, 2, 0] and [2, 0, 0]"),
            (of(Extent::Box { low: DVec3::ONE, high: DVec3::ZERO }), &open, "lower corner"),
            (lean, &round, "has no end along x"),
            (Surface { extent: Extent::Disc { radius: 0.6 }, normal: DVec3::Z, ..good }, &round, "beyond the periodic cell"),
        ] {
            let error = surface.validate(cell).err().map(|e| e.to_string()).unwrap_or_default();
            assert!(error.contains(found), "{surface:?}: {error}");
        }
    }
}
