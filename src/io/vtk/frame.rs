//! The files of one instant.

use super::arrays::{BodyArray, ContactArray, Frames, Precision};
use super::data_set::{Counts, DataSet};
use crate::io::error::OutputError;
use crate::io::snapshot::{ContactView, Snapshot, Surface};
use glam::DVec3;
use std::path::Path;

/// Writes the surfaces of all bodies where they are now.
///
/// A ball is one vertex at its centre. All figures stand at points, where those who draw points look for them.
pub fn write_bodies(path: &Path, snapshot: &Snapshot, frames: &Frames) -> Result<(), OutputError> {
    let round = |balls: bool| snapshot.bodies.iter().filter(move |body| body.balls.is_empty() != balls);
    // centres of balls first
    let centres = || round(true).flat_map(|body| body.balls.iter().map(move |&(x, radius)| (body, x, radius)));
    let corners = || round(false).flat_map(|body| body.surface.vertices.iter().map(move |&x| (body, x, 0.0)));
    let points = || centres().chain(corners()).map(|(body, x, radius)| (body, body.pose.point(x), radius));
    let vertices = centres().count() as i64;
    let mut first = vertices;
    let mut connectivity = Vec::new();
    for body in round(false) {
        let Surface { vertices, triangles } = &*body.surface;
        connectivity.extend(triangles.iter().flatten().map(|&corner| first + i64::from(corner)));
        first += vertices.len() as i64;
    }
    let offsets: Vec<i64> = (1..=connectivity.len() as i64 / 3).map(|k| 3 * k).collect();

    let counts = Counts { points: first as usize, vertices: vertices as usize, polygons: offsets.len(), ..Counts::default() };
    let mut file = DataSet::poly_data(snapshot.time, frames.precision, counts);
    file.section("PointData", "");
    for &array in &frames.bodies {
        let named = (array.name(), array.unit());
        match array {
            BodyArray::Id => file.numbers(named.0, points().map(|p| p.0.id)),
            BodyArray::Material => file.numbers(named.0, points().map(|p| p.0.material)),
            BodyArray::Dynamic => file.bytes(named.0, points().map(|p| u8::from(p.0.dynamic))),
            BodyArray::Image => file.triples(named.0, points().map(|p| p.0.image.to_array())),
            BodyArray::Radius => file.scalars(named, points().map(|p| p.2)),
            BodyArray::Speed => file.scalars(named, points().map(|p| p.0.linear.length())),
            BodyArray::Velocity => file.vectors(named, points().map(|(body, x, _)| body.velocity_at(x))),
            BodyArray::AngularVelocity => file.vectors(named, points().map(|p| p.0.pose.vector(p.0.angular))),
        }
    }
    file.section("Points", "");
    file.vectors(("points", "m"), points().map(|(_, x, _)| x));
    file.section("Verts", "");
    let each: Vec<i64> = (0..=vertices).collect();
    file.cells(&each[..vertices as usize], &each[1..]);
    file.section("Polys", "");
    file.cells(&connectivity, &offsets);
    file.save(path)
}

/// Writes the contact points, as vertices.
pub fn write_contacts(path: &Path, snapshot: &Snapshot, frames: &Frames) -> Result<(), OutputError> {
    let contacts = snapshot.contacts;
    let counts = Counts { points: contacts.len(), vertices: contacts.len(), ..Counts::default() };
    let mut file = DataSet::poly_data(snapshot.time, frames.precision, counts);
    file.section("PointData", "");
    let per_step = snapshot.per_step();
    for &array in &frames.contacts {
        let (named, all) = ((array.name(), array.unit()), contacts.iter());
        match array {
            ContactArray::NormalForce => file.scalars(named, all.map(|c| c.normal_impulse * per_step)),
            ContactArray::FrictionForce => file.vectors(named, all.map(|c| c.friction_impulse * per_step)),
            ContactArray::Moment => file.vectors(named, all.map(|c| c.moment_impulse * per_step)),
            ContactArray::Normal => file.vectors(named, all.map(|c| c.normal)),
            ContactArray::Gap => file.scalars(named, all.map(|c| c.gap)),
            ContactArray::SlidingSpeed => file.scalars(named, all.map(|c| c.sliding_speed)),
            ContactArray::Status => file.bytes(named.0, all.map(|c| c.status.code())),
            ContactArray::Body1 => file.numbers(named.0, all.map(|c| c.body1)),
            ContactArray::Body2 => file.numbers(named.0, all.map(|c| c.body2)),
        }
    }
    file.section("Points", "");
    file.vectors(("points", "m"), contacts.iter().map(ContactView::middle));
    file.section("Verts", "");
    let each: Vec<i64> = (0..=contacts.len() as i64).collect();
    file.cells(&each[..contacts.len()], &each[1..]);
    file.save(path)
}

/// Writes the branch of each contact as a line from the centre of body 2 to that of body 1; from the contact point where a body does
/// not move, as the centre of the ground means nothing.
///
/// Lines carry `normal_force` (N) and stand in the order of the points of [`write_contacts`], which carry the rest.
pub fn write_branches(path: &Path, snapshot: &Snapshot, frames: &Frames) -> Result<(), OutputError> {
    // a centre is one point, however many lines end there; those of images stand apart
    let mut points: Vec<DVec3> = snapshot.bodies.iter().map(|body| body.pose.position).collect();
    let mut connectivity = Vec::with_capacity(2 * snapshot.contacts.len());
    for contact in snapshot.contacts {
        for (id, shift) in [(contact.body2, contact.shift), (contact.body1, DVec3::ZERO)] {
            let centre = snapshot.place(id).filter(|&k| snapshot.bodies[k].dynamic);
            let known = centre.filter(|_| shift == DVec3::ZERO);
            connectivity.push(known.unwrap_or(points.len()) as i64);
            if known.is_none() {
                points.push(centre.map_or(contact.middle(), |k| snapshot.bodies[k].pose.position + shift));
            }
        }
    }
    let ends: Vec<i64> = (1..=snapshot.contacts.len() as i64).map(|k| 2 * k).collect();
    let mut file =
        DataSet::poly_data(snapshot.time, frames.precision, Counts { points: points.len(), lines: ends.len(), ..Counts::default() });
    file.section("CellData", "Scalars=\"normal_force\"");
    let per_step = snapshot.per_step();
    file.scalars(("normal_force", "N"), snapshot.contacts.iter().map(|contact| contact.normal_impulse * per_step));
    file.section("Points", "");
    file.vectors(("points", "m"), points.iter().copied());
    file.section("Lines", "");
    file.cells(&connectivity, &ends);
    file.save(path)
}

/// Polygons with a number of each kind for every polygon: joints of masonry.
///
/// ```
/// use drystone::io::vtk::{Polygons, write_polygons};
/// # let dir = tempfile::tempdir().unwrap();
/// let corners = vec![glam::DVec3::ZERO, glam::DVec3::X, glam::DVec3::Y];
/// let joints = Polygons { corners: vec![corners], fields: vec![("normal_force", vec![3.0])] };
/// write_polygons(&dir.path().join("joints.vtp"), 0.0, &joints)?;
/// # Ok::<(), drystone::io::error::OutputError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Polygons {
    /// Corners of each, in order (m, world).
    pub corners: Vec<Vec<DVec3>>,
    /// Name, and one value for each polygon.
    pub fields: Vec<(&'static str, Vec<f64>)>,
}

/// Writes polygons as faces.
pub fn write_polygons(path: &Path, time: f64, polygons: &Polygons) -> Result<(), OutputError> {
    let points = || polygons.corners.iter().flatten().copied();
    let count = points().count();
    let ends = polygons.corners.iter().scan(0, |end, corners| {
        *end += corners.len() as i64;
        Some(*end)
    });
    let mut file =
        DataSet::poly_data(time, Precision::Double, Counts { points: count, polygons: polygons.corners.len(), ..Counts::default() });
    file.section("CellData", "");
    for (name, values) in &polygons.fields {
        file.scalars((name, ""), values.iter().copied());
    }
    file.section("Points", "");
    file.vectors(("points", "m"), points());
    file.section("Polys", "");
    file.cells(&(0..count as i64).collect::<Vec<_>>(), &ends.collect::<Vec<_>>());
    file.save(path)
}
