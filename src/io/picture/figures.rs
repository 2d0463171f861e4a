//! Numbers of bodies that colours may stand for, and the bar that says how.

use super::ColourBy;
use crate::io::canvas::{Drawing, overlay, unit_of};
use crate::io::map::Map;
use crate::io::plot::DrawResult;
use crate::io::snapshot::{BodyView, Snapshot};
use glam::DVec3;
use plotters::coord::Shift;
use plotters::prelude::{Color, DrawingArea, DrawingBackend, Rectangle, WHITE};
use std::collections::BTreeSet;

/// Size of the bar with its numbers, in units of a plot, and its distance from the sides of the picture (pixels).
const SIZE: (u32, u32) = (98, 148);
const MARGIN: usize = 16;

impl ColourBy {
    /// Of each body of a snapshot; none where colours stand for no number.
    ///
    /// ```
    /// use drystone::io::{picture::ColourBy, snapshot::*};
    /// let mut ball = BodyView::new(0, "ball", "ball", drystone::algebra::spatial::Pose::IDENTITY, Surface::ball(0.1, 8).into());
    /// ball.linear = glam::DVec3::X * 3.0;
    /// let snapshot = Snapshot { step: 0, time: 0.0, step_size: 0.0, bodies: &[ball], contacts: &[] };
    /// assert_eq!(ColourBy::Speed { top: 1.0 }.figures(&snapshot), Some(vec![3.0]));
    /// assert_eq!(ColourBy::Coordination { top: 1.0 }.figures(&snapshot), Some(vec![0.0]));
    /// assert_eq!(ColourBy::Material.figures(&snapshot), None);
    /// ```
    pub fn figures(&self, snapshot: &Snapshot) -> Option<Vec<f64>> {
        match self {
            Self::Material | Self::Body => None,
            Self::Speed { .. } => Some(snapshot.bodies.iter().map(|body| body.linear.length()).collect()),
            Self::Stress { .. } => Some(stresses(snapshot)),
            Self::Coordination { .. } => {
                let pressing = snapshot.contacts.iter().filter(|c| c.normal_impulse > 0.0);
                let pairs: BTreeSet<(u32, u32)> = pressing.map(|c| (c.body1, c.body2)).collect();
                let mut counts = vec![0.0; snapshot.bodies.len()];
                for k in pairs.iter().flat_map(|&(a, b)| [a, b]).filter_map(|id| snapshot.place(id)) {
                    counts[k] += 1.0;
                }
                Some(counts)
            }
        }
    }

    /// The largest figure of a dynamic body; of stresses that which a fiftieth of them exceed, as a few grains that carry a chain would leave
    /// all others dark.
    pub fn largest(&self, snapshot: &Snapshot) -> f64 {
        let figures = self.figures(snapshot).unwrap_or_default();
        let of_dynamic = snapshot.bodies.iter().zip(figures).filter(|(b, x)| b.dynamic && x.is_finite());
        let mut figures: Vec<f64> = of_dynamic.map(|(_, x)| x.max(0.0)).collect();
        figures.sort_by(f64::total_cmp);
        let above = if matches!(self, Self::Stress { .. }) { figures.len() / 50 } else { 0 };
        figures.len().checked_sub(1 + above).map_or(0.0, |k| figures[k])
    }

    /// The same with another value of the lightest colour; of neighbours 3 at least.
    ///
    /// ```
    /// use drystone::io::picture::ColourBy;
    /// assert_eq!(ColourBy::Speed { top: 1.0 }.up_to(1e-9).scale(), Some(("speed (m/s)", 1e-9)));
    /// assert_eq!(ColourBy::Coordination { top: 1.0 }.up_to(1e-9).scale(), Some(("neighbours", 3.0)));
    /// ```
    #[must_use]
    pub fn up_to(self, top: f64) -> Self {
        match self {
            Self::Material | Self::Body => self,
            Self::Speed { .. } => Self::Speed { top },
            Self::Stress { .. } => Self::Stress { top },
            // marks of the bar are then whole numbers
            Self::Coordination { .. } => Self::Coordination { top: top.max(3.0) },
        }
    }

    /// Quantity with its unit, and the value of the lightest colour.
    pub fn scale(&self) -> Option<(&'static str, f64)> {
        match *self {
            Self::Material | Self::Body => None,
            Self::Speed { top } => Some(("speed (m/s)", top)),
            Self::Stress { top } => Some(("stress (Pa)", top)),
            Self::Coordination { top } => Some(("neighbours", top)),
        }
    }

    /// Width and height of the bar with its margin (pixels), at the right side of a picture that has the room.
    pub(super) fn room(&self, size: [u32; 2]) -> Option<[usize; 2]> {
        let unit = unit_of(size);
        let room = [unit * SIZE.0 as usize + MARGIN, unit * SIZE.1 as usize + MARGIN];
        let [width, height] = size.map(|n| n as usize);
        (self.scale().is_some() && width >= 2 * room[0] && height >= room[1]).then_some(room)
    }

    /// Draws the bar, if there is one; `quiet` is the part of grey in its colours.
    pub(super) fn draw_scale(&self, pixels: &mut [u8], size: [u32; 2], quiet: f32) -> DrawResult {
        let unit = unit_of(size);
        let (Some((name, top)), Some(room)) = (self.scale(), self.room(size)) else { return Ok(()) };
        let [width, height] = size.map(|n| n as usize);
        let map = Map { x: [0.0; 2], y: [0.0; 2], columns: 1, values: vec![0.0, top], name: name.to_owned() };
        overlay(pixels, width, [width - room[0], height - room[1]], (SIZE, unit), &Bar { map, quiet })
    }
}

struct Bar {
    map: Map,
    quiet: f32,
}

impl Drawing for Bar {
    fn draw<B: DrawingBackend<ErrorType = std::io::Error>>(&self, page: &DrawingArea<B, Shift>) -> DrawResult {
        let corner = (SIZE.0 as i32, SIZE.1 as i32);
        page.draw(&Rectangle::new([(0, 0), corner], WHITE.mix(0.6).filled()))?;
        self.map.draw_scale(page, [12, 30], 104, self.quiet)
    }
}

/// Mean stress of each body (Pa), compression positive: tr Σ f ⊗ (x − p)/3V, x where the body was when the step found its contacts.
fn stresses(snapshot: &Snapshot) -> Vec<f64> {
    let per_step = snapshot.per_step();
    let mut sums = vec![0.0; snapshot.bodies.len()];
    for contact in snapshot.contacts {
        let force = (contact.normal_impulse * contact.normal + contact.friction_impulse) * per_step;
        let ends = [(contact.body1, force, contact.middle()), (contact.body2, -force, contact.middle() - contact.shift)];
        for (id, force, point) in ends {
            if let Some(k) = snapshot.place(id) {
                let body = &snapshot.bodies[k];
                sums[k] += force.dot(body.pose.position - body.way - point);
            }
        }
    }
    sums.iter().zip(snapshot.bodies).map(|(sum, body)| sum / (3.0 * volume(body))).collect()
}

/// m³
fn volume(body: &BodyView) -> f64 {
    if body.shape == "ball" {
        let radius = super::reach(body);
        return 4.0 / 3.0 * std::f64::consts::PI * radius * radius * radius;
    }
    let corner = |k: u32| body.surface.vertices.get(k as usize).copied().unwrap_or(DVec3::ZERO);
    body.surface.triangles.iter().map(|t| corner(t[0]).dot(corner(t[1]).cross(corner(t[2]))) / 6.0).sum()
}
