//! Bonds between faces that touch.

use super::Simulation;
use super::state::sorted;
use crate::algebra::spatial::{Pose, tangents};
use crate::geometry::systems::{Collider, Proximity};
use crate::model::bond::{Bond, BondPoint, Cohesion, tributary};
use crate::model::contact::{ContactPair, Manifold, Touch};
use crate::model::law::ContactLaws;
use crate::model::newton_euler::{BodyPose, Velocity};
use bevy_ecs::prelude::*;
use glam::{DVec2, DVec3};

/// Gap up to which faces touch, in parts of the smaller body's smallest length.
pub(super) const TOUCHING: f64 = 1e-4;
/// Gap up to which faces that do not touch seem meant to, in the same parts.
const NEARLY: f64 = 1e-2;
/// Cosine between normals of one face.
const ONE_FACE: f64 = 0.999;

/// State of all bonds.
///
/// ```
/// assert_eq!(drystone::simulation::Simulation::default().bond_state(), Default::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BondState {
    /// Number of joints that were bound.
    pub joints: usize,
    /// Those with a point that is damaged, and those that hold nothing any more.
    pub damaged: usize,
    /// Joints that hold nothing any more.
    pub broken: usize,
    /// Area that was bound (m²).
    pub area: f64,
    /// Area in parts of D (m²).
    pub lost: f64,
    /// Energy released (J).
    pub released: f64,
    /// Energy stored in what is left (J).
    pub stored: f64,
}

impl Simulation {
    /// Binds all faces that touch and whose materials have a bond ([`ContactLaws::set_bond`]): once, before the first step, at the poses of
    /// the start. Returns the number of joints. Contacts without an area, as those of balls, are bound by a neck where the law has one.
    ///
    /// ```
    /// use drystone::{geometry::Shape, model::{bond::{Cohesion, Softening}, law::ContactLaws}, simulation::{Body, Simulation}};
    /// use glam::DVec3;
    /// let mut simulation = Simulation::default();
    /// let mut laws = ContactLaws::default();
    /// let mortar = Cohesion { tension: 1e5, cohesion: 1e5, stiffness: [1e10; 2], energy: [0.0; 2], softening: Softening::Brittle, neck: 0.0 };
    /// laws.set_default_bond(Some(mortar));
    /// simulation.set_laws(laws)?;
    /// simulation.spawn_body(Body::new(Shape::cuboid(DVec3::ONE)?).fixed())?;
    /// simulation.spawn_body(Body::new(Shape::cuboid(DVec3::ONE)?).at(2.0 * DVec3::NEG_Z))?;
    /// assert_eq!(simulation.bond_touching(), 1);
    /// simulation.run_until(0.1)?; // the lower block hangs by its mortar
    /// assert_eq!(simulation.bond_state().broken, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bond_touching(&mut self) -> usize {
        self.detect();
        let world = self.world_mut();
        let found: Vec<Bond> = faces(world, ContactLaws::bond, TOUCHING).into_iter().filter_map(|(face, law)| bond(&face, law)).collect();
        let count = found.len();
        for bond in found {
            world.spawn(bond);
        }
        count
    }

    /// Pairs whose materials have a bond and that are a little too far apart for one (up to 1 % of the smaller body's smallest length), of those that
    /// detection has found: how many, and the bodies and gap (m) of the first.
    ///
    /// ```
    /// assert_eq!(drystone::simulation::Simulation::default().nearly_bound(), None);
    /// ```
    pub fn nearly_bound(&self) -> Option<(usize, [Entity; 2], f64)> {
        let near = faces(self.world(), ContactLaws::bond, NEARLY).into_iter().filter(|(face, law)| bond(face, *law).is_some());
        let mut pairs: Vec<(ContactPair, f64)> = near.map(|(face, _)| (face.pair, face.gap)).collect();
        // several faces of a pair follow one another
        pairs.dedup_by(|next, first| {
            next.0 == first.0 && {
                first.1 = first.1.min(next.1);
                true
            }
        });
        pairs.retain(|(pair, gap)| *gap > TOUCHING * pair.size);
        pairs.first().map(|(pair, gap)| (pairs.len(), pair.bodies, *gap))
    }

    /// Each bond with its entity, in no order that means anything.
    ///
    /// ```
    /// assert_eq!(drystone::simulation::Simulation::default().bonds().count(), 0);
    /// ```
    // by archetypes: a query would ask for memory at every call
    pub fn bonds(&self) -> impl Iterator<Item = (Entity, &Bond)> {
        let bound = self.world().component_id::<Bond>();
        let tables = self.world().archetypes().iter().filter(move |table| bound.is_some_and(|bound| table.contains(bound)));
        tables.flat_map(|table| table.entities()).filter_map(|one| Some((one.id(), self.world().get::<Bond>(one.id())?)))
    }

    /// Largest angular speed (rad/s) of a body that a bond holds.
    ///
    /// ```
    /// assert_eq!(drystone::simulation::Simulation::default().bound_spin(), 0.0);
    /// ```
    pub fn bound_spin(&self) -> f64 {
        let spin = |body: &Entity| self.world().get::<Velocity>(*body).map_or(0.0, |v| v.angular.length_squared());
        let held = self.bonds().filter(|(_, bond)| !bond.is_broken());
        held.flat_map(|(_, bond)| bond.bodies.each_ref().map(spin)).fold(0.0, f64::max).sqrt()
    }

    /// How the bonds fare.
    pub fn bond_state(&mut self) -> BondState {
        let world = self.world_mut();
        let bonds = sorted::<Bond>(world);
        let mut state = BondState::default();
        for bond in bonds.into_iter().filter_map(|bond| world.get::<Bond>(bond)) {
            state.joints += 1;
            state.damaged += usize::from(bond.points.iter().any(|p| p.damage > 0.0));
            state.broken += usize::from(bond.is_broken());
            for point in &bond.points {
                state.area += point.area;
                state.lost += point.damage * point.area;
                state.released += point.released;
                state.stored += point.stored(&bond.law, bond.neck > 0.0);
            }
        }
        state
    }
}

/// A face in which two bodies touch, or a point of them.
pub(super) struct Face {
    pub(super) pair: ContactPair,
    pub(super) poses: [Pose; 2],
    /// From the second body to the first.
    pub(super) normal: DVec3,
    pub(super) middle: DVec3,
    /// Smallest distance between the bodies in it, or depth of overlap (m).
    gap: f64,
    /// Its corners in order, from the middle along its [`tangents`] and in the world (m).
    pub(super) corners: Vec<(DVec2, DVec3)>,
}

/// The faces whose materials have such a law and that are no farther apart than `reach` parts of the smaller body's smallest length
/// ([`TOUCHING`]), as detection has found them last.
pub(super) fn faces<L: Copy>(world: &World, law: impl Fn(&ContactLaws, u32, u32) -> Option<L>, reach: f64) -> Vec<(Face, L)> {
    let mut found = Vec::new();
    for &(.., entity) in world.resource::<Proximity>().pairs() {
        let (Some(pair), Some(manifold)) = (world.get::<ContactPair>(entity), world.get::<Manifold>(entity)) else { continue };
        let material = |body: Entity| world.get::<Collider>(body).map(|c| c.material);
        let pose = |body: Entity| world.get::<BodyPose>(body).map(|p| p.0);
        let ([Some(a), Some(b)], [Some(one), Some(two)]) = (pair.bodies.map(material), pair.bodies.map(pose)) else { continue };
        let Some(law) = law(world.resource::<ContactLaws>(), a, b) else { continue };
        let mut left: Vec<&Touch> = manifold.points.iter().filter(|t| t.gap.abs() <= reach * pair.size).collect();
        while let Some(first) = left.first() {
            let normal = first.normal;
            let (face, rest): (Vec<&Touch>, Vec<&Touch>) = left.iter().partition(|t| t.normal.dot(normal) > ONE_FACE);
            left = rest;
            let (u, v) = tangents(normal);
            let gap = face.iter().map(|t| t.gap.abs()).fold(f64::INFINITY, f64::min);
            let places: Vec<DVec3> = face.iter().map(|t| 0.5 * (t.point1 + t.point2)).collect();
            let middle = places.iter().sum::<DVec3>() / places.len() as f64;
            let flat = |p: &DVec3| DVec2::new((*p - middle).dot(u), (*p - middle).dot(v));
            let mut corners: Vec<(DVec2, DVec3)> = places.iter().map(|p| (flat(p), *p)).collect();
            corners.sort_by(|a, b| libm::atan2(a.0.y, a.0.x).total_cmp(&libm::atan2(b.0.y, b.0.x)));
            found.push((Face { pair: *pair, poses: [one, two], normal, middle, gap, corners }, law));
        }
    }
    found
}

/// The bond of one face; none without an area.
fn bond(face: &Face, law: Cohesion) -> Option<Bond> {
    let Face { pair, poses: [one, two], normal, middle, corners, .. } = face;
    let (u, v) = tangents(*normal);
    let polygon: Vec<DVec2> = corners.iter().map(|c| c.0).collect();
    let point = |(area, p): (f64, DVec3)| BondPoint::new([one.local_point(p), two.local_point(p - pair.shift)], area);
    let shares = tributary(&polygon).into_iter().zip(corners.iter().map(|c| c.1));
    let mut points: Vec<BondPoint> = shares.filter(|(area, _)| *area > 0.0).map(point).collect();
    let mut neck = 0.0;
    if points.is_empty() && law.neck > 0.0 {
        // four points have the area of the neck, and its second moments A r²/4
        let radius = 0.5 * law.neck * pair.size;
        neck = radius;
        let (area, arm) = (std::f64::consts::PI * radius * radius, radius * std::f64::consts::FRAC_1_SQRT_2);
        points.extend([u, -u, v, -v].map(|axis| point((0.25 * area, *middle + arm * axis))));
    }
    (!points.is_empty()).then(|| Bond { bodies: pair.bodies, normal: one.local_vector(*normal), shift: pair.shift, law, neck, points })
}
