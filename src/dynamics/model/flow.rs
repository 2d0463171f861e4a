//! What leaves a simulation and what comes in: regions in which bodies end or begin, and how much has gone through them.
//!
//! An outlet is an entity with an [`Outlet`] and its [`Flow`]. At the start of every step the dynamic bodies whose centre of mass lies in the
//! region are removed, in slot order, with their joints; what has left is mass, number and energy since the start.
//!
//! An inlet is an entity with an [`Inlet`] and its [`Flow`]; the simulation keeps the bodies that wait behind it. At the start of a step those
//! appear that are due, `mass so far ≤ rate (t − start)`, one after the other at random places of the box where they touch nothing. Where
//! none is found the inlet waits for the next step, so it never makes an overlap, and falls behind where it is blocked. Along axes of which the
//! translation of a body is locked it comes in the middle of the box, so that balls which are discs lie in one plane, whatever their sizes.

use super::periodic::Cell;
use super::signal::FlowQuantity;
use bevy_ecs::prelude::Component;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// A part of space.
///
/// ```
/// use drystone::model::flow::Region;
/// use glam::DVec3;
/// let below = Region::Beyond { point: DVec3::ZERO, normal: DVec3::NEG_Z };
/// assert!(below.holds(-DVec3::Z) && !below.holds(DVec3::ZERO) && !below.holds(DVec3::Z));
/// let lidless = Region::Box { low: DVec3::splat(-1.0), high: DVec3::new(1.0, 1.0, f64::INFINITY) };
/// assert!(lidless.holds(DVec3::Z * 9.0) && !lidless.holds(DVec3::X * 9.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Region {
    /// Points x with `(x − point)·normal > 0`.
    Beyond {
        /// On the plane (m).
        point: DVec3,
        /// Unit vector to the far side.
        normal: DVec3,
    },
    /// A box along the axes of the world, its faces included; corners may be infinite.
    Box {
        /// Lower corner (m).
        low: DVec3,
        /// Upper corner (m).
        high: DVec3,
    },
}

impl Region {
    /// Whether a point (m) lies in it.
    pub fn holds(&self, x: DVec3) -> bool {
        match *self {
            Self::Beyond { point, normal } => (x - point).dot(normal) > 0.0,
            Self::Box { low, high } => x.cmpge(low).all() && x.cmple(high).all(),
        }
    }

    /// What is wrong with its numbers, or with its place in a periodic cell, in which bodies are looked at, and what would do.
    ///
    /// ```
    /// use drystone::model::{flow::Region, periodic::Cell};
    /// use glam::DVec3;
    /// let cell = Cell::new([Some([0.0, 0.1]), None, None])?;
    /// let beyond = |x: f64| Region::Beyond { point: DVec3::X * x, normal: DVec3::X };
    /// assert!(beyond(0.09).validate(&cell).is_ok() && beyond(0.2).validate(&cell).is_err());
    /// assert!(beyond(0.2).validate(&Cell::default()).is_ok());
    /// # Ok::<(), drystone::model::scheme::Invalid>(())
    /// ```
    pub fn validate(&self, cell: &Cell) -> Result<(), String> {
        self.validate_numbers()?;
        let axes = || (0..3).filter(|&a| cell.periodic(a));
        match *self {
            Self::Beyond { point, normal } => {
                let open = (0..3).any(|a| !cell.periodic(a) && normal[a] != 0.0);
                let farthest: f64 = axes().map(|a| ((cell.low[a] - point[a]) * normal[a]).max((cell.high[a] - point[a]) * normal[a])).sum();
                if !open && farthest <= 0.0 {
                    return Err(format!(
                        "a plane through {point} with the normal {normal}, beyond which no part of the periodic cell lies"
                    ));
                }
            }
            Self::Box { low, high } => {
                for a in axes() {
                    let (from, to) = (cell.low[a], cell.high[a]);
                    let slack = 1e-9 * (to - from);
                    let outside = |x: f64| x.is_finite() && (x < from - slack || x > to + slack);
                    if outside(low[a]) || outside(high[a]) || low[a] >= to || high[a] <= from {
                        let (low, high, axis) = (low[a], high[a], ["x", "y", "z"][a]);
                        return Err(format!(
                            "{low} to {high} m along {axis}, beyond the periodic cell; a part of {from} to {to}, or -inf to inf, is needed"
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    fn validate_numbers(&self) -> Result<(), String> {
        match *self {
            Self::Beyond { point, normal } if !point.is_finite() || (normal.length_squared() - 1.0).abs() > 1e-6 || normal.is_nan() => {
                Err(format!("a plane through {point} with the normal {normal}; a finite point and a unit vector are needed"))
            }
            Self::Box { low, high } if !low.cmplt(high).all() => {
                Err(format!("a box from {low} to {high}; its lower corner has to be smaller on every axis"))
            }
            _ => Ok(()),
        }
    }
}

/// Where bodies end: see the [module](self).
///
/// ```
/// use drystone::model::flow::{Outlet, Region};
/// use drystone::prelude::*;
/// let mut sim = Simulation::default();
/// let drain = sim.add_outlet(Outlet { region: Region::Beyond { point: DVec3::ZERO, normal: DVec3::NEG_Z } })?;
/// let stone = sim.spawn_body(Body::point(3.0, DVec3::ONE).at(DVec3::Z * 0.1))?;
/// sim.run_until(1.0)?;
/// let gone = sim.flow(drain).expect("an outlet");
/// assert_eq!((gone.count, gone.mass), (1, 3.0));
/// assert!(sim.world().get_entity(stone).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[require(Flow)]
pub struct Outlet {
    /// Bodies whose centre of mass lies there at the start of a step are removed.
    pub region: Region,
}

/// Where bodies begin: see the [module](self) and [`Simulation::add_inlet`](crate::simulation::Simulation::add_inlet).
///
/// ```
/// use drystone::model::flow::Inlet;
/// use glam::DVec3;
/// let tap = Inlet { low: DVec3::ZERO, high: DVec3::ONE, rate: 0.5, start: 0.0, seed: 1, flows: false };
/// assert!(tap.validate().is_ok() && Inlet { rate: -1.0, ..tap }.validate().is_err());
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[require(Flow)]
pub struct Inlet {
    /// Lower corner of the box that holds the whole of each body (m).
    pub low: DVec3,
    /// Upper corner (m).
    pub high: DVec3,
    /// kg/s
    pub rate: f64,
    /// When the first body comes (s).
    pub start: f64,
    /// Another seed gives other places.
    pub seed: u64,
    /// Whether bodies come with the velocity of the uniform shear of a [`Cell`] at their place beside their own; where there is none,
    /// nothing is added.
    pub flows: bool,
}

impl Inlet {
    /// What is wrong with its numbers and what would do.
    pub fn validate(&self) -> Result<(), String> {
        if !(self.low.is_finite() && self.high.is_finite() && self.low.cmplt(self.high).all()) {
            return Err(format!(
                "a box from {} to {}; finite corners are needed, the lower one smaller on every axis",
                self.low, self.high
            ));
        }
        if !(self.rate > 0.0 && self.rate.is_finite() && self.start.is_finite()) {
            return Err(format!("a rate of {} kg/s from {} s on; a positive and a finite number are needed", self.rate, self.start));
        }
        Ok(())
    }
}

/// How much has gone through an outlet or an inlet since the start.
///
/// ```
/// let mut flow = drystone::model::flow::Flow::default();
/// flow.add(2.0, 0.5, -1.0);
/// assert_eq!((flow.count, flow.mass, flow.kinetic + flow.potential), (1, 2.0, -0.5));
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// Bodies.
    pub count: u64,
    /// Their mass (kg).
    pub mass: f64,
    /// Their kinetic energy at that moment (J).
    pub kinetic: f64,
    /// Their potential energy −m g·x at that moment (J).
    pub potential: f64,
}

impl Flow {
    /// Counts a body of this mass (kg) and these energies (J).
    pub fn add(&mut self, mass: f64, kinetic: f64, potential: f64) {
        self.count += 1;
        self.mass += mass;
        self.kinetic += kinetic;
        self.potential += potential;
    }

    /// The value of a quantity.
    pub fn value(&self, quantity: FlowQuantity) -> f64 {
        match quantity {
            FlowQuantity::Count => self.count as f64,
            FlowQuantity::Mass => self.mass,
            FlowQuantity::Kinetic => self.kinetic,
            FlowQuantity::Potential => self.potential,
        }
    }
}
