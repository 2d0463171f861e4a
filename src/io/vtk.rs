//! Bodies and contacts for ParaView: one `.vtp` file (PolyData) per instant, gathered in a `.pvd` collection.
//!
//! Arrays stand behind the XML as raw little-endian bytes, compressed block by block:
//!
//! ```text
//! n_blocks, block_size, last_size (0: full), compressed sizes …   (UInt64)   zlib block, zlib block, …
//! ```
//!
//! Body surfaces are in single precision (they are for looking at), contacts in double.

use crate::io::error::{OutputError, replace_file};
use crate::io::snapshot::{ContactView, Snapshot, Surface};
use flate2::{Compression, write::ZlibEncoder};
use glam::DVec3;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Bytes before compression in one block.
const BLOCK: usize = 1 << 20;

/// A directory that receives `bodies.pvd`, `contacts.pvd` and `branches.pvd`, and the frames they list.
///
/// The collections are rewritten after every frame, so a run that was stopped can still be opened.
///
/// ```
/// use drystone::{algebra::spatial::Pose, io::{snapshot::*, vtk::VtkSeries}};
/// # let dir = tempfile::tempdir().unwrap();
/// # let directory = dir.path().join("vtk");
/// let cube = BodyView::new(0, "cube", "cuboid", Pose::IDENTITY, Surface::cuboid(glam::DVec3::ONE).into());
/// let mut series = VtkSeries::create(&directory)?;
/// series.write(&Snapshot { step: 0, time: 0.0, bodies: &[cube], contacts: &[] })?;
/// assert!(directory.join("bodies.pvd").exists());
/// # Ok::<(), drystone::io::error::OutputError>(())
/// ```
#[derive(Debug)]
pub struct VtkSeries {
    directory: PathBuf,
    /// Step and time of each frame.
    frames: Vec<(u64, f64)>,
}

impl VtkSeries {
    /// Starts an empty series; the directory is made where it is missing, frames of a run before are removed.
    pub fn create(directory: &Path) -> Result<Self, OutputError> {
        std::fs::create_dir_all(directory).map_err(OutputError::file(directory, "created"))?;
        remove_frames(directory, None)?;
        Ok(Self { directory: directory.to_owned(), frames: Vec::new() })
    }

    /// Continues the series of an interrupted run, keeping the frames up to step `last`.
    pub fn resume(directory: &Path, last: u64) -> Result<Self, OutputError> {
        std::fs::create_dir_all(directory).map_err(OutputError::file(directory, "created"))?;
        remove_frames(directory, Some(last))?;
        let mut series = Self { directory: directory.to_owned(), frames: Vec::new() };
        let path = directory.join("bodies.pvd");
        if !path.exists() {
            return Ok(series);
        }
        let text = std::fs::read_to_string(&path).map_err(OutputError::file(&path, "read"))?;
        for (line, data_set) in (1..).zip(text.lines()).filter(|(_, line)| line.starts_with("<DataSet")) {
            let frame = attribute(data_set, "file").zip(attribute(data_set, "timestep")).and_then(|(file, time)| {
                let step = file.strip_prefix("bodies_")?.strip_suffix(".vtp")?;
                Some((step.parse().ok()?, time.parse().ok()?))
            });
            let unknown = || OutputError::Content {
                path: path.clone(),
                line,
                found: data_set.to_owned(),
                expected: "a timestep and a file bodies_STEP.vtp".to_owned(),
            };
            series.frames.push(frame.ok_or_else(unknown)?);
        }
        series.frames.retain(|&(step, _)| step <= last);
        Ok(series)
    }

    /// Writes one frame and brings the collections up to date; a step that is written again replaces its frame.
    pub fn write(&mut self, snapshot: &Snapshot) -> Result<(), OutputError> {
        let step = snapshot.step;
        write_bodies(&self.directory.join(frame_name("bodies", step)), snapshot)?;
        write_contacts(&self.directory.join(frame_name("contacts", step)), snapshot)?;
        write_branches(&self.directory.join(frame_name("branches", step)), snapshot)?;
        self.frames.retain(|frame| frame.0 != step);
        self.frames.push((step, snapshot.time));
        ["bodies", "contacts", "branches"].into_iter().try_for_each(|kind| self.write_collection(kind))
    }

    /// Adds joints to the frame that was just written, in a collection of their own.
    pub fn write_joints(&mut self, joints: &Polygons) -> Result<(), OutputError> {
        let Some(&(step, time)) = self.frames.last() else { return Ok(()) };
        write_polygons(&self.directory.join(frame_name("joints", step)), time, joints)?;
        self.write_collection("joints")
    }

    fn write_collection(&self, kind: &str) -> Result<(), OutputError> {
        let mut xml = String::from(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n",
        );
        for &(step, time) in &self.frames {
            let file = frame_name(kind, step);
            xml += &format!("<DataSet timestep=\"{time}\" group=\"\" part=\"0\" file=\"{file}\"/>\n");
        }
        xml += "</Collection>\n</VTKFile>\n";
        replace_file(&self.directory.join(format!("{kind}.pvd")), xml.as_bytes())
    }
}

/// Removes the frames after step `last`, or all of them: files of the names that a series gives, and no others.
fn remove_frames(directory: &Path, last: Option<u64>) -> Result<(), OutputError> {
    let files = std::fs::read_dir(directory).map_err(OutputError::file(directory, "listed"))?;
    for path in files.filter_map(|file| Some(file.ok()?.path())) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let number = ["bodies_", "contacts_", "branches_", "joints_"].iter().find_map(|kind| name.strip_prefix(kind)?.strip_suffix(".vtp"));
        let step = number.filter(|n| n.len() >= 8 && n.bytes().all(|c| c.is_ascii_digit())).and_then(|n| n.parse::<u64>().ok());
        if step.is_some_and(|step| last.is_none_or(|last| step > last)) {
            std::fs::remove_file(&path).map_err(OutputError::file(&path, "removed"))?;
        }
    }
    Ok(())
}

fn frame_name(kind: &str, step: u64) -> String {
    format!("{kind}_{step:08}.vtp")
}

/// The value of `name="…"` in an XML tag.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split_once('"').map(|(value, _)| value)
}

/// Writes the surfaces of all bodies where they are now.
///
/// A ball is one vertex with its `radius` (m) at the centre; other points have the radius 0. Points carry `velocity` (m/s, `v + ω × r`);
/// vertices and triangles carry `id`, `material`, `dynamic` (0 or 1), `speed` of the
/// body's centre (m/s) and `angular_velocity` (rad/s, world).
pub fn write_bodies(path: &Path, snapshot: &Snapshot) -> Result<(), OutputError> {
    let balls = || snapshot.bodies.iter().filter_map(|body| Some((body, body.ball?)));
    let others = || snapshot.bodies.iter().filter(|body| body.ball.is_none());
    let corners = || others().flat_map(|body| body.surface.vertices.iter().map(move |&x| (body, x, 0.0)));
    // centres of balls first, as cells of vertices come before those of triangles
    let points =
        || balls().map(|(body, (x, radius))| (body, x, radius)).chain(corners()).map(|(b, x, radius)| (b, b.pose.point(x), radius));
    let cells = || balls().map(|(body, _)| body).chain(others().flat_map(|body| body.surface.triangles.iter().map(move |_| body)));
    let round = balls().count() as i64;
    let mut first = round;
    let mut connectivity = Vec::new();
    for body in others() {
        let Surface { vertices, triangles } = &*body.surface;
        connectivity.extend(triangles.iter().flatten().map(|&corner| first + i64::from(corner)));
        first += vertices.len() as i64;
    }
    let offsets: Vec<i64> = (1..=connectivity.len() as i64 / 3).map(|k| 3 * k).collect();

    let mut file = PolyData::new(snapshot.time, first as usize, round as usize, 0, offsets.len());
    file.section("PointData", "Scalars=\"radius\" Vectors=\"velocity\"");
    file.array("radius", "Float32", 1, points().map(|(.., radius)| (radius as f32).to_le_bytes()));
    file.vectors32("velocity", points().map(|(body, x, _)| body.velocity_at(x)));
    file.section("CellData", "Scalars=\"speed\"");
    file.array("id", "UInt32", 1, cells().map(|body| body.id.to_le_bytes()));
    file.array("material", "UInt32", 1, cells().map(|body| body.material.to_le_bytes()));
    file.array("dynamic", "UInt8", 1, cells().map(|body| [u8::from(body.dynamic)]));
    file.array("speed", "Float32", 1, cells().map(|body| (body.linear.length() as f32).to_le_bytes()));
    file.vectors32("angular_velocity", cells().map(|body| body.pose.vector(body.angular)));
    file.section("Points", "");
    file.vectors32("points", points().map(|(_, x, _)| x));
    file.section("Verts", "");
    file.integers("connectivity", &(0..round).collect::<Vec<_>>());
    file.integers("offsets", &(1..=round).collect::<Vec<_>>());
    file.section("Polys", "");
    file.integers("connectivity", &connectivity);
    file.integers("offsets", &offsets);
    file.save(path)
}

/// Writes the contact points, as vertices.
///
/// Points carry `normal_impulse`, `friction_impulse` (N·s), `normal`, `gap` (m), `sliding_speed` (m/s), `status`
/// (0 open, 1 stick, 2 slip), `body1` and `body2`.
pub fn write_contacts(path: &Path, snapshot: &Snapshot) -> Result<(), OutputError> {
    let contacts = snapshot.contacts;
    let count = contacts.len() as i64;
    let mut file = PolyData::new(snapshot.time, contacts.len(), contacts.len(), 0, 0);
    file.section("PointData", "Scalars=\"normal_impulse\" Vectors=\"friction_impulse\"");
    file.contacts(contacts);
    file.section("Points", "");
    file.vectors64("points", contacts.iter().map(ContactView::middle));
    file.section("Verts", "");
    file.integers("connectivity", &(0..count).collect::<Vec<_>>());
    file.integers("offsets", &(1..=count).collect::<Vec<_>>());
    file.save(path)
}

/// Writes the branch of each contact as a line: centre of body 1, contact, centre of body 2, without the centres of bodies that do not
/// move. Lines carry `normal_impulse` (N·s) and stand in the order of the points of [`write_contacts`], which carry the rest.
pub fn write_branches(path: &Path, snapshot: &Snapshot) -> Result<(), OutputError> {
    let (mut points, mut ends) = (Vec::new(), Vec::new());
    for contact in snapshot.contacts {
        points.extend(snapshot.branch(contact));
        ends.push(points.len() as i64);
    }
    let mut file = PolyData::new(snapshot.time, points.len(), 0, ends.len(), 0);
    file.section("CellData", "Scalars=\"normal_impulse\"");
    file.array("normal_impulse", "Float64", 1, snapshot.contacts.iter().map(|contact| contact.normal_impulse.to_le_bytes()));
    file.section("Points", "");
    file.vectors64("points", points.iter().copied());
    file.section("Lines", "");
    file.integers("connectivity", &(0..points.len() as i64).collect::<Vec<_>>());
    file.integers("offsets", &ends);
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
    let mut file = PolyData::new(time, count, 0, 0, polygons.corners.len());
    file.section("CellData", "");
    for (name, values) in &polygons.fields {
        file.array(name, "Float64", 1, values.iter().map(|x| x.to_le_bytes()));
    }
    file.section("Points", "");
    file.vectors64("points", points());
    file.section("Polys", "");
    file.integers("connectivity", &(0..count as i64).collect::<Vec<_>>());
    file.integers("offsets", &ends.collect::<Vec<_>>());
    file.save(path)
}

/// A `.vtp` file in the making: the XML so far and the compressed arrays it points to.
struct PolyData {
    xml: String,
    open: Option<&'static str>,
    data: Vec<u8>,
}

impl PolyData {
    fn new(time: f64, points: usize, vertices: usize, lines: usize, polygons: usize) -> Self {
        let xml = format!(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\" \
             compressor=\"vtkZLibDataCompressor\">\n<PolyData>\n<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" \
             NumberOfTuples=\"1\" format=\"ascii\">{time}</DataArray>\n</FieldData>\n<Piece NumberOfPoints=\"{points}\" \
             NumberOfVerts=\"{vertices}\" NumberOfLines=\"{lines}\" NumberOfStrips=\"0\" NumberOfPolys=\"{polygons}\">\n"
        );
        Self { xml, open: None, data: Vec::new() }
    }

    /// Closes the section that is open and opens another.
    fn section(&mut self, name: &'static str, attributes: &str) {
        self.close();
        // writing into a String cannot fail
        let _ = writeln!(self.xml, "<{name} {attributes}>");
        self.open = Some(name);
    }

    fn close(&mut self) {
        if let Some(name) = self.open.take() {
            let _ = writeln!(self.xml, "</{name}>");
        }
    }

    fn array<const N: usize>(&mut self, name: &str, kind: &str, components: usize, values: impl Iterator<Item = [u8; N]>) {
        let offset = self.data.len();
        let _ = writeln!(
            self.xml,
            "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"appended\" offset=\"{offset}\"/>"
        );
        let bytes: Vec<u8> = values.flatten().collect();
        compress(&bytes, &mut self.data);
    }

    fn integers(&mut self, name: &str, values: &[i64]) {
        self.array(name, "Int64", 1, values.iter().map(|x| x.to_le_bytes()));
    }

    fn vectors32(&mut self, name: &str, values: impl Iterator<Item = DVec3>) {
        self.array(name, "Float32", 3, values.flat_map(|v| v.as_vec3().to_array()).map(f32::to_le_bytes));
    }

    fn vectors64(&mut self, name: &str, values: impl Iterator<Item = DVec3>) {
        self.array(name, "Float64", 3, values.flat_map(|v| v.to_array()).map(f64::to_le_bytes));
    }

    /// One array per fact.
    fn contacts(&mut self, contacts: &[ContactView]) {
        let scalar = |file: &mut Self, name, value: fn(&ContactView) -> f64| {
            file.array(name, "Float64", 1, contacts.iter().map(|contact| value(contact).to_le_bytes()));
        };
        let vector = |file: &mut Self, name, value: fn(&ContactView) -> DVec3| file.vectors64(name, contacts.iter().map(value));
        scalar(self, "normal_impulse", |contact| contact.normal_impulse);
        vector(self, "friction_impulse", |contact| contact.friction_impulse);
        vector(self, "normal", |contact| contact.normal);
        scalar(self, "gap", |contact| contact.gap);
        scalar(self, "sliding_speed", |contact| contact.sliding_speed);
        self.array("status", "UInt8", 1, contacts.iter().map(|contact| [contact.status.code()]));
        self.array("body1", "UInt32", 1, contacts.iter().map(|contact| contact.body1.to_le_bytes()));
        self.array("body2", "UInt32", 1, contacts.iter().map(|contact| contact.body2.to_le_bytes()));
    }

    fn save(mut self, path: &Path) -> Result<(), OutputError> {
        self.close();
        let mut bytes = (self.xml + "</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_").into_bytes();
        bytes.append(&mut self.data);
        bytes.extend(b"\n</AppendedData>\n</VTKFile>\n");
        replace_file(path, &bytes)
    }
}

/// Appends the header and the zlib blocks of `bytes`.
fn compress(bytes: &[u8], data: &mut Vec<u8>) {
    let blocks: Vec<Vec<u8>> = bytes
        .chunks(BLOCK)
        .map(|block| {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            // a Vec accepts every byte, so neither call can fail
            let _ = encoder.write_all(block);
            encoder.finish().unwrap_or_default()
        })
        .collect();
    let header = [blocks.len(), BLOCK, bytes.len() % BLOCK].into_iter().chain(blocks.iter().map(Vec::len));
    data.extend(header.flat_map(|n| (n as u64).to_le_bytes()));
    data.extend(blocks.iter().flatten());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::spatial::Pose;
    use crate::io::snapshot::{BodyView, ContactStatus};
    use glam::DQuat;
    use std::io::Read as _;

    /// The bytes of an array, found and inflated as a reader would.
    fn decode(file: &[u8], section: &str, name: &str) -> Vec<u8> {
        let start = file.windows(2).position(|w| w == b"\n_").unwrap() + 2;
        let xml = std::str::from_utf8(&file[..start]).unwrap();
        let part = xml.split_once(&format!("<{section} ")).unwrap().1.split_once(&format!("</{section}>")).unwrap().0;
        let tag = part.lines().find(|line| attribute(line, "Name") == Some(name)).unwrap();
        let mut rest = &file[start + attribute(tag, "offset").unwrap().parse::<usize>().unwrap()..];
        let mut next = || {
            let (head, tail) = rest.split_at(8);
            rest = tail;
            u64::from_le_bytes(head.try_into().unwrap()) as usize
        };
        let (blocks, size, last) = (next(), next(), next());
        let sizes: Vec<usize> = (0..blocks).map(|_| next()).collect();
        let mut bytes = Vec::new();
        for compressed in sizes {
            flate2::read::ZlibDecoder::new(&rest[..compressed]).read_to_end(&mut bytes).unwrap();
            rest = &rest[compressed..];
        }
        let expected = if blocks == 0 { 0 } else { (blocks - usize::from(last > 0)) * size + last };
        assert_eq!(bytes.len(), expected);
        bytes
    }

    fn f32s(bytes: &[u8]) -> Vec<f32> {
        bytes.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
    }

    fn f64s(bytes: &[u8]) -> Vec<f64> {
        bytes.chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
    }

    fn i64s(bytes: &[u8]) -> Vec<i64> {
        bytes.chunks(8).map(|b| i64::from_le_bytes(b.try_into().unwrap())).collect()
    }

    /// A cube that spins on the ground, and its one contact.
    fn scene() -> ([BodyView; 2], [ContactView; 1]) {
        let mut ground = BodyView::new(0, "ground", "cuboid", Pose::at(-DVec3::Z), Surface::cuboid(DVec3::ONE).into());
        ground.dynamic = false;
        let pose = Pose::new(DVec3::Z, DQuat::from_rotation_x(0.5));
        let mut cube = BodyView::new(1, "cube", "cuboid", pose, Surface::cuboid(DVec3::ONE).into());
        (cube.linear, cube.angular, cube.material) = (DVec3::X, DVec3::Y * 2.0, 3);
        let contact = ContactView {
            body1: 1,
            body2: 0,
            point1: DVec3::new(0.1, 0.0, 0.0),
            point2: DVec3::new(0.1, 0.0, 2e-3),
            normal: DVec3::Z,
            gap: -2e-3,
            normal_impulse: 0.7,
            friction_impulse: DVec3::new(0.0, 0.2, 0.0),
            sliding_speed: 0.05,
            status: ContactStatus::Slip,
        };
        ([ground, cube], [contact])
    }

    #[test]
    fn bodies_read_back_where_they_are_and_as_they_move() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("b.vtp");
        let (bodies, contacts) = scene();
        write_bodies(&path, &Snapshot { step: 1, time: 0.1, bodies: &bodies, contacts: &contacts }).unwrap();
        let file = std::fs::read(&path).unwrap();
        let (points, velocity) = (f32s(&decode(&file, "Points", "points")), f32s(&decode(&file, "PointData", "velocity")));
        assert_eq!((points.len(), velocity.len()), (48, 48));
        for (k, &local) in bodies[1].surface.vertices.iter().enumerate() {
            let x = bodies[1].pose.point(local);
            assert_eq!(points[24 + 3 * k..][..3], x.as_vec3().to_array());
            assert_eq!(velocity[24 + 3 * k..][..3], bodies[1].velocity_at(x).as_vec3().to_array());
        }
        let triangles = i64s(&decode(&file, "Polys", "connectivity"));
        assert_eq!(triangles.len(), 3 * 24);
        assert!(triangles[..36].iter().all(|&i| i < 8) && triangles[36..].iter().all(|&i| (8..16).contains(&i)));
        assert_eq!(i64s(&decode(&file, "Polys", "offsets")).last(), Some(&72));
        assert_eq!(decode(&file, "CellData", "dynamic"), [[0; 12], [1; 12]].concat());
    }

    #[test]
    fn a_ball_is_a_vertex_with_its_radius() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("b.vtp");
        let ([ground, cube], contacts) = scene();
        let mut ball = BodyView::new(2, "ball", "ball", Pose::at(DVec3::Z * 5.0), Surface::ball(0.25, 8).into());
        (ball.ball, ball.linear) = (Some((DVec3::ZERO, 0.25)), DVec3::Y);
        write_bodies(&path, &Snapshot { step: 1, time: 0.1, bodies: &[ground, ball, cube], contacts: &contacts }).unwrap();
        let file = std::fs::read(&path).unwrap();
        let (points, radius) = (f32s(&decode(&file, "Points", "points")), f32s(&decode(&file, "PointData", "radius")));
        assert_eq!((points.len(), &points[..3], radius[0]), (51, &[0.0, 0.0, 5.0][..], 0.25));
        assert!(radius[1..].iter().all(|r| *r == 0.0));
        assert_eq!(i64s(&decode(&file, "Verts", "connectivity")), [0]);
        assert!(i64s(&decode(&file, "Polys", "connectivity")).iter().all(|i| (1..17).contains(i)));
        // cells of vertices come first
        assert_eq!(decode(&file, "CellData", "dynamic"), [vec![1], vec![0; 12], vec![1; 12]].concat());
        assert_eq!(f32s(&decode(&file, "PointData", "velocity"))[..3], [0.0, 1.0, 0.0]);
    }

    #[test]
    fn a_rerun_leaves_no_frame_of_the_run_before() {
        let dir = tempfile::tempdir().unwrap();
        let frame = |step: u64| Snapshot { step, time: step as f64 * 0.1, bodies: &[], contacts: &[] };
        let there = |step: u64| dir.path().join(frame_name("contacts", step)).exists();
        let mut long = VtkSeries::create(dir.path()).unwrap();
        [0, 10, 20, 30].into_iter().for_each(|step| long.write(&frame(step)).unwrap());
        for other in ["bodies_mine.vtp", "bodies.vtp", "notes_00000010.vtp"] {
            std::fs::write(dir.path().join(other), "kept").unwrap();
        }
        VtkSeries::resume(dir.path(), 20).unwrap();
        assert!(there(20) && !there(30));
        let mut short = VtkSeries::create(dir.path()).unwrap();
        short.write(&frame(0)).unwrap();
        assert!(there(0) && !there(10) && !there(20));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 6 + 3);
    }

    #[test]
    fn a_contact_is_one_vertex_and_its_branch_a_line_elsewhere() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("c.vtp");
        let (bodies, contacts) = scene();
        let snapshot = Snapshot { step: 1, time: 0.1, bodies: &bodies, contacts: &contacts };
        write_contacts(&path, &snapshot).unwrap();
        let file = std::fs::read(&path).unwrap();
        // a glyph draws one arrow
        assert_eq!(f64s(&decode(&file, "Points", "points")), [0.1, 0.0, 1e-3]);
        assert_eq!(f64s(&decode(&file, "PointData", "friction_impulse")), [0.0, 0.2, 0.0]);
        for (name, value) in [("normal_impulse", 0.7), ("gap", -2e-3), ("sliding_speed", 0.05)] {
            assert_eq!(f64s(&decode(&file, "PointData", name)), [value], "{name}");
        }
        assert_eq!(decode(&file, "PointData", "status"), [2]);
        write_branches(&path, &snapshot).unwrap();
        let file = std::fs::read(&path).unwrap();
        assert_eq!(f64s(&decode(&file, "Points", "points")), [0.0, 0.0, 1.0, 0.1, 0.0, 1e-3]);
        assert_eq!(i64s(&decode(&file, "Lines", "connectivity")), [0, 1]);
        assert_eq!(i64s(&decode(&file, "Lines", "offsets")), [2]);
        assert_eq!(f64s(&decode(&file, "CellData", "normal_impulse")), [0.7]);
    }

    #[test]
    fn a_joint_is_a_face_with_its_figures() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j.vtp");
        let corners = vec![vec![DVec3::ZERO, DVec3::X, DVec3::Y], vec![DVec3::ZERO, DVec3::X, DVec3::ONE, DVec3::Y]];
        write_polygons(&path, 0.1, &Polygons { corners, fields: vec![("shear", vec![1.0, 2.5])] }).unwrap();
        let file = std::fs::read(&path).unwrap();
        assert_eq!(i64s(&decode(&file, "Polys", "offsets")), [3, 7]);
        assert_eq!(i64s(&decode(&file, "Polys", "connectivity")), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(f64s(&decode(&file, "CellData", "shear")), [1.0, 2.5]);
    }

    #[test]
    fn arrays_of_any_length_survive_compression() {
        for length in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK] {
            let bytes: Vec<u8> = (0..length).map(|i| (i * i / 7) as u8).collect();
            let mut file = b"<Test >\n<DataArray Name=\"x\" offset=\"0\"/>\n</Test>\n_".to_vec();
            compress(&bytes, &mut file);
            assert!(decode(&file, "Test", "x") == bytes, "{length}");
        }
    }

    #[test]
    fn a_resumed_series_forgets_the_frames_after_the_checkpoint() {
        let dir = tempfile::tempdir().unwrap();
        let frame = |step: u64| Snapshot { step, time: step as f64 * 0.1, bodies: &[], contacts: &[] };
        let mut whole = VtkSeries::create(dir.path()).unwrap();
        [0, 10, 20, 30].into_iter().for_each(|step| whole.write(&frame(step)).unwrap());
        let path = dir.path().join("bodies.pvd");
        let expected = std::fs::read(&path).unwrap();
        let mut resumed = VtkSeries::resume(dir.path(), 15).unwrap();
        assert_eq!(resumed.frames.len(), 2);
        [20, 30, 30].into_iter().for_each(|step| resumed.write(&frame(step)).unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), expected);
        std::fs::write(&path, "<DataSet timestep=\"0\" file=\"other.vtp\"/>\n").unwrap();
        let error = VtkSeries::resume(dir.path(), 15).unwrap_err().to_string();
        assert!(error.contains("line 1") && error.contains("other.vtp"), "{error}");
    }
}
