//! One instant of a run as plain data: what tables, VTK files and pictures are made from.

use crate::algebra::spatial::Pose;
use glam::{DVec3, IVec3};
use std::sync::Arc;

/// A triangulated surface; seen from outside the corners of a triangle run counter-clockwise.
///
/// ```
/// use drystone::io::snapshot::Surface;
/// let cube = Surface::cuboid(glam::DVec3::splat(0.5));
/// assert_eq!((cube.vertices.len(), cube.triangles.len()), (8, 12));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Corners (m).
    pub vertices: Vec<DVec3>,
    /// Three indices into `vertices` per triangle.
    pub triangles: Vec<[u32; 3]>,
}

impl Surface {
    /// The six faces of a box with the given half extents (m).
    pub fn cuboid(half: DVec3) -> Self {
        let sign = |bit: usize| if bit == 0 { -1.0 } else { 1.0 };
        let vertices = (0..8).map(|i| half * DVec3::new(sign(i & 1), sign(i & 2), sign(i & 4))).collect();
        let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        Self { vertices, triangles }
    }

    /// A globe of `2 · bands` meridians and `bands` belts (at least 2), the poles on the z axis.
    pub fn ball(radius: f64, bands: u32) -> Self {
        let bands = bands.max(2);
        let around = 2 * bands;
        let mut vertices = vec![DVec3::Z * radius];
        for belt in 1..bands {
            let (s, c) = libm::sincos(std::f64::consts::PI * f64::from(belt) / f64::from(bands));
            for k in 0..around {
                let (y, x) = libm::sincos(std::f64::consts::TAU * f64::from(k) / f64::from(around));
                vertices.push(radius * DVec3::new(s * x, s * y, c));
            }
        }
        vertices.push(-DVec3::Z * radius);
        let south = 1 + (bands - 1) * around;
        let mut triangles = Vec::new();
        for k in 0..around {
            let next = (k + 1) % around;
            triangles.push([0, 1 + k, 1 + next]);
            for belt in 0..bands - 2 {
                let (upper, lower) = (1 + belt * around, 1 + (belt + 1) * around);
                triangles.push([upper + k, lower + k, lower + next]);
                triangles.push([upper + k, lower + next, upper + next]);
            }
            triangles.push([south, south - around + next, south - around + k]);
        }
        Self { vertices, triangles }
    }
}

/// A body as an output sees it.
///
/// ```
/// use drystone::{algebra::spatial::Pose, io::snapshot::{BodyView, Surface}};
/// use glam::DVec3;
/// let mut ball = BodyView::new(0, "ball", "ball", Pose::at(DVec3::Z), Surface::ball(0.1, 8).into());
/// ball.linear = DVec3::X;
/// ball.angular = DVec3::Z * 10.0;
/// assert_eq!(ball.velocity_at(DVec3::new(0.0, 0.1, 1.0)), DVec3::ZERO);
/// ```
#[derive(Clone, Debug)]
pub struct BodyView {
    /// Number by which contacts refer to the body.
    pub id: u32,
    /// Its name in the scene.
    pub name: String,
    /// Kind of shape: "ball", "cuboid", "half-space", …
    pub shape: String,
    /// Number of its material.
    pub material: u32,
    /// kg; 0 for what stands still or moves as told.
    pub mass: f64,
    /// False for what stands still or moves as told, and for the walls of servos.
    pub dynamic: bool,
    /// Where its frame is; in periodic cells, of the image that is drawn.
    pub pose: Pose,
    /// In which image of the cell the body is: 0 outside of periodic cells.
    pub image: IVec3,
    /// Where its frame is, through whatever faces the body has gone (m).
    pub position: DVec3,
    /// Way of the frame's origin since the last step began, for which contacts are shown (m).
    pub way: DVec3,
    /// Velocity of the frame's origin (m/s, world); in sheared cells that of the image that is drawn.
    pub linear: DVec3,
    /// What that image is faster by than the body itself (m/s).
    pub drift: DVec3,
    /// Angular velocity (rad/s, body frame).
    pub angular: DVec3,
    /// Its boundary in the body frame; bodies of one shape share it.
    pub surface: Arc<Surface>,
    /// Of a ball or a clump of balls: centres in the body frame and radii (m). Files then have points instead of the surface.
    pub balls: Arc<[(DVec3, f64)]>,
}

impl BodyView {
    /// A dynamic body at rest, of material 0.
    pub fn new(id: u32, name: &str, shape: &str, pose: Pose, surface: Arc<Surface>) -> Self {
        let (name, shape) = (name.to_owned(), shape.to_owned());
        Self {
            id,
            name,
            shape,
            material: 0,
            mass: 0.0,
            dynamic: true,
            position: pose.position,
            image: IVec3::ZERO,
            pose,
            way: DVec3::ZERO,
            linear: DVec3::ZERO,
            drift: DVec3::ZERO,
            angular: DVec3::ZERO,
            surface,
            balls: Arc::default(),
        }
    }

    /// Velocity (m/s, world) of the body's point that is at `point` (world): `v + R ω × (p − x)`.
    pub fn velocity_at(&self, point: DVec3) -> DVec3 {
        self.linear + self.pose.vector(self.angular).cross(point - self.pose.position)
    }
}

/// What a contact does.
///
/// ```
/// use drystone::io::snapshot::ContactStatus;
/// assert_eq!(ContactStatus::Slip.code(), 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactStatus {
    /// It transmits nothing.
    Open,
    /// It presses and does not slide.
    Stick,
    /// It presses and slides.
    Slip,
}

impl ContactStatus {
    /// The number that stands for it in files: 0 open, 1 stick, 2 slip.
    pub fn code(self) -> u8 {
        match self {
            Self::Open => 0,
            Self::Stick => 1,
            Self::Slip => 2,
        }
    }
}

/// A contact point as an output sees it; impulses act on body 1, and their opposites on body 2.
///
/// ```
/// use drystone::io::snapshot::{ContactStatus, ContactView};
/// use glam::DVec3;
/// let contact = ContactView {
///     body1: 1, body2: 0, point1: DVec3::Z * 1e-6, point2: DVec3::ZERO, shift: DVec3::ZERO, normal: DVec3::Z, gap: 1e-6,
///     normal_impulse: 0.02, friction_impulse: DVec3::ZERO, moment_impulse: DVec3::ZERO, sliding_speed: 0.0,
///     status: ContactStatus::Stick,
/// };
/// assert_eq!(contact.middle(), DVec3::Z * 5e-7);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactView {
    /// `id` of the first body.
    pub body1: u32,
    /// `id` of the second body.
    pub body2: u32,
    /// Point on body 1 at the start of the step (m, world).
    pub point1: DVec3,
    /// Point on body 2 at the start of the step, or on the image of it that touches body 1 (m, world).
    pub point2: DVec3,
    /// Where that image stands, from body 2 as it is drawn (m): zero but through the faces of periodic cells.
    pub shift: DVec3,
    /// Unit normal from body 2 to body 1 (world).
    pub normal: DVec3,
    /// Signed distance (m), positive when apart.
    pub gap: f64,
    /// Impulse along the normal over the step (N·s).
    pub normal_impulse: f64,
    /// Impulse in the tangent plane over the step (N·s, world).
    pub friction_impulse: DVec3,
    /// Moment against rolling and twisting over the step, on body 1 (N·m·s, world).
    pub moment_impulse: DVec3,
    /// Relative tangential speed (m/s).
    pub sliding_speed: f64,
    /// Open, sticking or sliding.
    pub status: ContactStatus,
}

impl ContactView {
    /// Half way between the two points (m, world).
    pub fn middle(&self) -> DVec3 {
        0.5 * (self.point1 + self.point2)
    }
}

/// One instant of a run.
///
/// ```
/// let nothing = drystone::io::snapshot::Snapshot { step: 0, time: 0.0, step_size: 0.0, bodies: &[], contacts: &[] };
/// assert!(nothing.body(7).is_none());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'a> {
    /// Steps done so far.
    pub step: u64,
    /// Time reached (s).
    pub time: f64,
    /// Length of step (s) over which impulses are forces; 0 before the first.
    pub step_size: f64,
    /// All bodies, by ascending `id`.
    pub bodies: &'a [BodyView],
    /// All contact points.
    pub contacts: &'a [ContactView],
}

impl<'a> Snapshot<'a> {
    /// Where the body of that number stands in the list.
    pub fn place(&self, id: u32) -> Option<usize> {
        self.bodies.binary_search_by_key(&id, |body| body.id).ok()
    }

    /// The body of that number.
    pub fn body(&self, id: u32) -> Option<&'a BodyView> {
        self.place(id).map(|k| &self.bodies[k])
    }

    /// What makes a mean force (N) of an impulse (N s) of the last step; 0 before the first, when nothing presses.
    pub fn per_step(&self) -> f64 {
        if self.step_size > 0.0 { 1.0 / self.step_size } else { 0.0 }
    }

    /// The branch of a contact: centre of body 1, contact, centre of body 2, without the centres of bodies
    /// that are not dynamic (the centre of the ground means nothing).
    pub fn branch(&self, contact: &ContactView) -> impl Iterator<Item = DVec3> + use<'a> {
        let centre = |id, shift| self.body(id).filter(|body| body.dynamic).map(|body| body.pose.position + shift);
        [centre(contact.body1, DVec3::ZERO), Some(contact.middle()), centre(contact.body2, contact.shift)].into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `∮ x·n dA / 3`, the volume inside.
    fn volume(surface: &Surface) -> f64 {
        let corner = |i: u32| surface.vertices[i as usize];
        surface.triangles.iter().map(|&[a, b, c]| corner(a).dot(corner(b).cross(corner(c))) / 6.0).sum()
    }

    #[test]
    fn surfaces_are_closed_and_face_outwards() {
        assert!((volume(&Surface::cuboid(DVec3::new(1.0, 2.0, 3.0))) - 48.0).abs() < 1e-13);
        let ball = volume(&Surface::ball(1.0, 64)) / (4.0 / 3.0 * std::f64::consts::PI);
        assert!(ball < 1.0 && ball > 0.998, "{ball}");
    }

    #[test]
    fn a_branch_leaves_out_the_centre_of_the_ground() {
        let mut ground = BodyView::new(3, "ground", "half-space", Pose::IDENTITY, Arc::default());
        ground.dynamic = false;
        let ball = BodyView::new(5, "ball", "ball", Pose::at(DVec3::Z), Arc::default());
        let contact = ContactView {
            body1: 5,
            body2: 3,
            point1: DVec3::ZERO,
            point2: DVec3::ZERO,
            shift: DVec3::ZERO,
            normal: DVec3::Z,
            gap: 0.0,
            normal_impulse: 1.0,
            friction_impulse: DVec3::ZERO,
            moment_impulse: DVec3::ZERO,
            sliding_speed: 0.0,
            status: ContactStatus::Stick,
        };
        let snapshot = Snapshot { step: 0, time: 0.0, step_size: 0.0, bodies: &[ground, ball], contacts: &[contact] };
        assert_eq!(snapshot.branch(&contact).collect::<Vec<_>>(), [DVec3::Z, DVec3::ZERO]);
    }
}
