//! Joints that crush.

use super::Simulation;
use super::bonds::{Face, TOUCHING, faces};
use crate::algebra::spatial::tangents;
use crate::model::crushing::{Crushing, CrushingJoint, CrushingJoints, CrushingPoint, divide};
use crate::model::law::ContactLaws;
use glam::DVec2;

/// State of all joints that crush.
///
/// ```
/// assert_eq!(drystone::simulation::Simulation::default().crushing_state(), Default::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CrushingState {
    /// Number of joints that may crush.
    pub joints: usize,
    /// Those that have given way somewhere.
    pub crushed: usize,
    /// Area of all (m²).
    pub area: f64,
    /// Area that has given way (m²).
    pub lost: f64,
    /// By how much at most (m).
    pub deepest: f64,
    /// The same in parts of the size of its joint, the root of the area.
    pub deepest_size: f64,
}

impl Simulation {
    /// Divides all faces that touch and whose materials crush ([`ContactLaws::set_crushing`]) into points that bear the strength times their part of the
    /// area: once, before the first step, at the poses of the start. Returns the number of joints.
    ///
    /// ```
    /// use drystone::{geometry::Shape, model::{crushing::Crushing, law::ContactLaws}, simulation::{Body, Simulation}};
    /// use glam::DVec3;
    /// let mut simulation = Simulation::default();
    /// let mut laws = ContactLaws::default();
    /// laws.set_default_crushing(Some(Crushing { strength: 3e4, divisions: 2 }));
    /// simulation.set_laws(laws)?;
    /// simulation.spawn_body(Body::new(Shape::cuboid(DVec3::ONE)?).fixed())?;
    /// let block = simulation.spawn_body(Body::new(Shape::cuboid(DVec3::ONE)?).density(2000.0).at(2.0 * DVec3::Z))?;
    /// assert_eq!(simulation.crush_touching(), 1);
    /// simulation.run_until(0.1)?; // 157 kN on 4 m2, which bear 120 kN
    /// assert_eq!(simulation.crushing_state().crushed, 1);
    /// assert!(simulation.balance().work.crushing < 0.0);
    /// # let _ = block;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn crush_touching(&mut self) -> usize {
        self.detect();
        let world = self.world_mut();
        let mut joints: Vec<CrushingJoint> =
            faces(world, ContactLaws::crushing, TOUCHING).iter().filter_map(|(f, law)| joint(f, *law)).collect();
        joints.sort_by_key(|joint| joint.slots);
        let count = joints.len();
        *world.resource_mut::<CrushingJoints>() = CrushingJoints(joints);
        count
    }

    /// How the joints that crush fare.
    pub fn crushing_state(&self) -> CrushingState {
        let mut state = CrushingState::default();
        for joint in &self.world().resource::<CrushingJoints>().0 {
            state.joints += 1;
            state.crushed += usize::from(joint.points.iter().any(|p| p.depth > 0.0));
            state.area += joint.points.iter().map(|p| p.area).sum::<f64>();
            state.lost += joint.crushed_area();
            let deepest = joint.deepest();
            state.deepest = state.deepest.max(deepest);
            state.deepest_size = state.deepest_size.max(deepest / joint.size);
        }
        state
    }
}

/// The joint of one face; none without an area.
fn joint(face: &Face, law: Crushing) -> Option<CrushingJoint> {
    let Face { pair, poses: [one, two], normal, middle, corners, .. } = face;
    let (u, v) = tangents(*normal);
    let polygon: Vec<DVec2> = corners.iter().map(|c| c.0).collect();
    let divided = divide(&polygon, law.divisions);
    let places = |at: DVec2| {
        let place = *middle + at.x * u + at.y * v;
        [one.local_point(place), two.local_point(place - pair.shift)]
    };
    let points: Vec<CrushingPoint> = divided.iter().map(|&(at, area)| CrushingPoint { places: places(at), area, depth: 0.0 }).collect();
    let area: f64 = points.iter().map(|p| p.area).sum();
    let centre = divided.iter().map(|&(at, part)| part * at).sum::<DVec2>() / area;
    (area > 0.0).then(|| CrushingJoint {
        bodies: pair.bodies,
        slots: pair.slots,
        normals: [one.local_vector(*normal), two.local_vector(*normal)],
        middle: places(centre),
        size: area.sqrt(),
        law,
        points,
    })
}
