//! What one instant holds, as points, cells and arrays, and its file.

use super::arrays::{BodyArray, ContactArray, Frames, Precision, Shapes};
use super::data_set::{Counts, DataSet};
use super::values::Values;
use crate::io::error::OutputError;
use crate::io::snapshot::{BodyView, ContactView, Snapshot, Surface};
use glam::DVec3;
use std::path::Path;

/// Cells of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cells {
    /// Points of each cell, one after the other.
    pub(super) points: Vec<i64>,
    /// Where the points of each end.
    pub(super) ends: Vec<i64>,
}

impl Cells {
    /// Cells of `size` points each, of all points in turn.
    pub(super) fn in_turn(count: usize, size: usize) -> Self {
        Self { points: (0..(count * size) as i64).collect(), ends: (1..=count).map(|k| (k * size) as i64).collect() }
    }
}

/// Points, lines and faces at one instant.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) time: f64,
    pub(super) points: Values,
    pub(super) point_data: Vec<Values>,
    pub(super) cell_data: Vec<Values>,
    /// Vertices, lines and polygons.
    pub(super) cells: [Cells; 3],
}

impl Frame {
    /// Writes it as a `.vtp` file; returns how many bytes that has.
    pub(super) fn save(&self, path: &Path) -> Result<u64, OutputError> {
        let [vertices, lines, polygons] = [0, 1, 2].map(|k: usize| self.cells[k].ends.len());
        let mut file = DataSet::poly_data(self.time, Counts { points: self.points.rows(), vertices, lines, polygons });
        for (section, arrays) in [("PointData", &self.point_data), ("CellData", &self.cell_data)] {
            if !arrays.is_empty() {
                file.section(section, "");
                arrays.iter().for_each(|array| file.push(array));
            }
        }
        file.section("Points", "");
        file.push(&self.points);
        for (name, cells) in ["Verts", "Lines", "Polys"].into_iter().zip(&self.cells) {
            file.section(name, "");
            file.push(&Values::short("connectivity", &cells.points));
            file.push(&Values::short("offsets", &cells.ends));
        }
        file.save(path)
    }
}

/// Whether a body is drawn as balls.
fn round(body: &BodyView) -> bool {
    !body.balls.is_empty()
}

/// The surfaces of all bodies where they are now, or a point for each of those that have a file of shapes.
///
/// A ball is one vertex at its centre. All figures stand at points, where those who draw points look for them.
pub(super) fn bodies(snapshot: &Snapshot, frames: &Frames) -> Frame {
    let once = frames.shapes == Shapes::Once;
    // centres of balls first
    let centres = || snapshot.bodies.iter().flat_map(|body| body.balls.iter().map(move |&(x, radius)| (body, x, radius)));
    let others = || snapshot.bodies.iter().filter(|body| !round(body));
    let middles = || others().filter(|_| once).map(|body| (body, DVec3::ZERO, 0.0));
    let corners = || others().filter(|_| !once).flat_map(|body| body.surface.vertices.iter().map(move |&x| (body, x, 0.0)));
    let points = || centres().chain(middles()).chain(corners()).map(|(body, x, radius)| (body, body.pose.point(x), radius));
    let vertices = centres().count() + middles().count();
    let polygons = if once { Cells::default() } else { faces(others(), vertices) };
    let precision = frames.precision;
    let array = |array: &BodyArray| {
        let named = (array.name(), array.unit());
        match array {
            BodyArray::Id => Values::numbers(named.0, points().map(|p| p.0.id)),
            BodyArray::Material => Values::numbers(named.0, points().map(|p| p.0.material)),
            BodyArray::Dynamic => Values::small(named.0, points().map(|p| u8::from(p.0.dynamic))),
            BodyArray::Image => Values::triples(named.0, points().map(|p| p.0.image.to_array())),
            BodyArray::Radius => Values::scalars(named, precision, points().map(|p| p.2)),
            BodyArray::Speed => Values::scalars(named, precision, points().map(|p| p.0.linear.length())),
            BodyArray::Velocity => Values::vectors(named, precision, points().map(|(body, x, _)| body.velocity_at(x))),
            BodyArray::AngularVelocity => Values::vectors(named, precision, points().map(|p| p.0.pose.vector(p.0.angular))),
        }
    };
    let turned = once.then(|| Values::rotations(("orientation", ""), precision, points().map(|p| p.0.pose.rotation)));
    Frame {
        time: snapshot.time,
        points: Values::vectors(("points", "m"), precision, points().map(|(_, x, _)| x)),
        point_data: frames.bodies.iter().map(array).chain(turned).collect(),
        cell_data: Vec::new(),
        cells: [Cells::in_turn(vertices, 1), Cells::default(), polygons],
    }
}

/// The triangles of surfaces whose corners follow each other from the point `first` on.
fn faces<'a>(bodies: impl Iterator<Item = &'a BodyView>, first: usize) -> Cells {
    let mut first = first as i64;
    let mut polygons = Cells::default();
    for body in bodies {
        let Surface { vertices, triangles } = &*body.surface;
        polygons.points.extend(triangles.iter().flatten().map(|&corner| first + i64::from(corner)));
        first += vertices.len() as i64;
    }
    polygons.ends = (1..=polygons.points.len() as i64 / 3).map(|k| 3 * k).collect();
    polygons
}

/// The surfaces, in their own axes, of the bodies that are `wanted` and not drawn as balls; none without any.
pub(super) fn shapes(snapshot: &Snapshot, precision: Precision, wanted: impl Fn(u32) -> bool) -> Option<(Frame, Vec<u32>)> {
    let some: Vec<&BodyView> = snapshot.bodies.iter().filter(|body| !round(body) && wanted(body.id)).collect();
    let corners = || some.iter().flat_map(|body| body.surface.vertices.iter().map(move |&x| (body, x)));
    let frame = Frame {
        time: snapshot.time,
        points: Values::vectors(("points", "m"), precision, corners().map(|(_, x)| x)),
        point_data: vec![
            Values::numbers("id", corners().map(|(body, _)| body.id)),
            Values::numbers("material", corners().map(|(body, _)| body.material)),
        ],
        cell_data: Vec::new(),
        cells: [Cells::default(), Cells::default(), faces(some.iter().copied(), 0)],
    };
    (!some.is_empty()).then(|| (frame, some.iter().map(|body| body.id).collect()))
}

/// The contact points, as vertices.
pub(super) fn contacts(snapshot: &Snapshot, frames: &Frames) -> Frame {
    let contacts = snapshot.contacts;
    let (per_step, precision) = (snapshot.per_step(), frames.precision);
    let array = |array: &ContactArray| {
        let (named, all) = ((array.name(), array.unit()), contacts.iter());
        match array {
            ContactArray::NormalForce => Values::scalars(named, precision, all.map(|c| c.normal_impulse * per_step)),
            ContactArray::FrictionForce => Values::vectors(named, precision, all.map(|c| c.friction_impulse * per_step)),
            ContactArray::Moment => Values::vectors(named, precision, all.map(|c| c.moment_impulse * per_step)),
            ContactArray::Normal => Values::vectors(named, precision, all.map(|c| c.normal)),
            ContactArray::Gap => Values::scalars(named, precision, all.map(|c| c.gap)),
            ContactArray::SlidingSpeed => Values::scalars(named, precision, all.map(|c| c.sliding_speed)),
            ContactArray::Status => Values::small(named.0, all.map(|c| c.status.code())),
            ContactArray::Body1 => Values::numbers(named.0, all.map(|c| c.body1)),
            ContactArray::Body2 => Values::numbers(named.0, all.map(|c| c.body2)),
        }
    };
    Frame {
        time: snapshot.time,
        points: Values::vectors(("points", "m"), precision, contacts.iter().map(ContactView::middle)),
        point_data: frames.contacts.iter().map(array).collect(),
        cell_data: Vec::new(),
        cells: [Cells::in_turn(contacts.len(), 1), Cells::default(), Cells::default()],
    }
}

/// The branch of each contact as a line from the centre of body 2 to that of body 1; from the contact point where a body does
/// not move, as the centre of the ground means nothing. Lines `share` their centres, or have points of their own in turn.
pub(super) fn branches(snapshot: &Snapshot, frames: &Frames, share: bool) -> Frame {
    // a centre is one point, however many lines end there; those of images stand apart
    let mut points: Vec<DVec3> = if share { snapshot.bodies.iter().map(|body| body.pose.position).collect() } else { Vec::new() };
    let mut lines = Cells::default();
    for contact in snapshot.contacts {
        for (id, shift) in [(contact.body2, contact.shift), (contact.body1, DVec3::ZERO)] {
            let centre = snapshot.place(id).filter(|&k| snapshot.bodies[k].dynamic);
            let known = centre.filter(|_| share && shift == DVec3::ZERO);
            lines.points.push(known.unwrap_or(points.len()) as i64);
            if known.is_none() {
                points.push(centre.map_or(contact.middle(), |k| snapshot.bodies[k].pose.position + shift));
            }
        }
    }
    lines.ends = (1..=snapshot.contacts.len() as i64).map(|k| 2 * k).collect();
    let per_step = snapshot.per_step();
    let forces = snapshot.contacts.iter().map(|contact| contact.normal_impulse * per_step);
    Frame {
        time: snapshot.time,
        points: Values::vectors(("points", "m"), frames.precision, points.iter().copied()),
        point_data: Vec::new(),
        cell_data: vec![Values::scalars(("normal_force", "N"), frames.precision, forces)],
        cells: [Cells::default(), lines, Cells::default()],
    }
}

/// Writes the surfaces of all bodies where they are now, a ball as one vertex at its centre.
pub fn write_bodies(path: &Path, snapshot: &Snapshot, frames: &Frames) -> Result<(), OutputError> {
    bodies(snapshot, frames).save(path).map(drop)
}

/// Writes the contact points, as vertices.
pub fn write_contacts(path: &Path, snapshot: &Snapshot, frames: &Frames) -> Result<(), OutputError> {
    contacts(snapshot, frames).save(path).map(drop)
}

/// Writes the branch of each contact as a line from the centre of body 2 to that of body 1; from the contact point where a body does
/// not move, as the centre of the ground means nothing.
///
/// Lines carry `normal_force` (N) and stand in the order of the points of [`write_contacts`], which carry the rest.
pub fn write_branches(path: &Path, snapshot: &Snapshot, frames: &Frames) -> Result<(), OutputError> {
    branches(snapshot, frames, true).save(path).map(drop)
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
    let ends = polygons.corners.iter().scan(0, |end, corners| {
        *end += corners.len() as i64;
        Some(*end)
    });
    let faces = Cells { points: (0..points().count() as i64).collect(), ends: ends.collect() };
    let field = |(name, values): &(&'static str, Vec<f64>)| Values::scalars((name, ""), Precision::Double, values.iter().copied());
    let frame = Frame {
        time,
        points: Values::vectors(("points", "m"), Precision::Double, points()),
        point_data: Vec::new(),
        cell_data: polygons.fields.iter().map(field).collect(),
        cells: [Cells::default(), Cells::default(), faces],
    };
    frame.save(path).map(drop)
}
