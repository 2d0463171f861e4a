use super::data_set::{BLOCK, compress};
use super::*;
use crate::algebra::spatial::Pose;
use crate::io::snapshot::{BodyView, ContactStatus, ContactView, Surface};
use glam::{DQuat, DVec3};
use std::io::Read as _;

/// Where the bytes of an array begin.
fn found<'a>(file: &'a [u8], section: &str, name: &str) -> &'a [u8] {
    let start = file.windows(2).position(|w| w == b"\n_").unwrap() + 2;
    let xml = std::str::from_utf8(&file[..start]).unwrap();
    let part = xml.split_once(&format!("<{section} ")).unwrap().1.split_once(&format!("</{section}>")).unwrap().0;
    let tag = part.lines().find(|line| attribute(line, "Name") == Some(name)).unwrap();
    &file[start + attribute(tag, "offset").unwrap().parse::<usize>().unwrap()..]
}

/// The bytes of an array of cells that are not compressed.
fn plain(file: &[u8], name: &str) -> Vec<u8> {
    assert!(!String::from_utf8_lossy(file).contains("compressor"));
    let (size, rest) = found(file, "CellData", name).split_at(8);
    rest[..u64::from_le_bytes(size.try_into().unwrap()) as usize].to_vec()
}

/// The bytes of an array, found and inflated as a reader would.
fn decode(file: &[u8], section: &str, name: &str) -> Vec<u8> {
    let mut rest = found(file, section, name);
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

fn i32s(bytes: &[u8]) -> Vec<i32> {
    bytes.chunks(4).map(|b| i32::from_le_bytes(b.try_into().unwrap())).collect()
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
        shift: DVec3::ZERO,
        normal: DVec3::Z,
        gap: -2e-3,
        normal_impulse: 0.7,
        friction_impulse: DVec3::new(0.0, 0.2, 0.0),
        moment_impulse: DVec3::ZERO,
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
    write_bodies(&path, &Snapshot { step: 1, time: 0.1, step_size: 0.1, bodies: &bodies, contacts: &contacts }, &Frames::everything())
        .unwrap();
    let file = std::fs::read(&path).unwrap();
    let (points, velocity) = (f64s(&decode(&file, "Points", "points")), f64s(&decode(&file, "PointData", "velocity")));
    assert_eq!((points.len(), velocity.len()), (48, 48));
    for (k, &local) in bodies[1].surface.vertices.iter().enumerate() {
        let x = bodies[1].pose.point(local);
        assert_eq!(points[24 + 3 * k..][..3], x.to_array());
        assert_eq!(velocity[24 + 3 * k..][..3], bodies[1].velocity_at(x).to_array());
    }
    let triangles = i32s(&decode(&file, "Polys", "connectivity"));
    assert_eq!(triangles.len(), 3 * 24);
    assert!(triangles[..36].iter().all(|&i| i < 8) && triangles[36..].iter().all(|&i| (8..16).contains(&i)));
    assert_eq!(i32s(&decode(&file, "Polys", "offsets")).last(), Some(&72));
    assert_eq!(decode(&file, "PointData", "dynamic"), [[0; 8], [1; 8]].concat());
}

#[test]
fn a_ball_is_a_vertex_with_its_radius() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("b.vtp");
    let ([ground, cube], contacts) = scene();
    let mut ball = BodyView::new(2, "ball", "ball", Pose::at(DVec3::Z * 5.0), Surface::ball(0.25, 8).into());
    (ball.balls, ball.linear) = ([(DVec3::ZERO, 0.25)].into(), DVec3::Y);
    write_bodies(
        &path,
        &Snapshot { step: 1, time: 0.1, step_size: 0.1, bodies: &[ground, ball, cube], contacts: &contacts },
        &Frames::everything(),
    )
    .unwrap();
    let file = std::fs::read(&path).unwrap();
    let (points, radius) = (f64s(&decode(&file, "Points", "points")), f64s(&decode(&file, "PointData", "radius")));
    assert_eq!((points.len(), &points[..3], radius[0]), (51, &[0.0, 0.0, 5.0][..], 0.25));
    assert!(radius[1..].iter().all(|r| *r == 0.0));
    assert_eq!(i32s(&decode(&file, "Verts", "connectivity")), [0]);
    assert!(i32s(&decode(&file, "Polys", "connectivity")).iter().all(|i| (1..17).contains(i)));
    assert_eq!(decode(&file, "PointData", "dynamic"), [vec![1], vec![0; 8], vec![1; 8]].concat());
    assert_eq!(f64s(&decode(&file, "PointData", "velocity"))[..3], [0.0, 1.0, 0.0]);
}

#[test]
fn a_rerun_leaves_no_frame_of_the_run_before() {
    let dir = tempfile::tempdir().unwrap();
    let frame = |step: u64| Snapshot { step, time: step as f64 * 0.1, step_size: 0.1, bodies: &[], contacts: &[] };
    let there = |step: u64| dir.path().join(frame_name("contacts", step)).exists();
    let mut long = VtkSeries::create(dir.path(), Frames::everything()).unwrap();
    [0, 10, 20, 30].into_iter().for_each(|step| long.write(&frame(step)).unwrap());
    for other in ["bodies_mine.vtp", "bodies.vtp", "notes_00000010.vtp"] {
        std::fs::write(dir.path().join(other), "kept").unwrap();
    }
    VtkSeries::resume(dir.path(), 20, Frames::everything()).unwrap();
    assert!(there(20) && !there(30));
    let mut short = VtkSeries::create(dir.path(), Frames::everything()).unwrap();
    short.write(&frame(0)).unwrap();
    assert!(there(0) && !there(10) && !there(20));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 6 + 3);
}

#[test]
fn a_contact_is_one_vertex_and_its_branch_a_line_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("c.vtp");
    let (bodies, contacts) = scene();
    let snapshot = Snapshot { step: 1, time: 0.1, step_size: 0.1, bodies: &bodies, contacts: &contacts };
    write_contacts(&path, &snapshot, &Frames::everything()).unwrap();
    let file = std::fs::read(&path).unwrap();
    // a glyph draws one arrow
    assert_eq!(f64s(&decode(&file, "Points", "points")), [0.1, 0.0, 1e-3]);
    assert_eq!(f64s(&decode(&file, "PointData", "friction_force")), [0.0, 2.0, 0.0]);
    for (name, value) in [("normal_force", 7.0), ("gap", -2e-3), ("sliding_speed", 0.05)] {
        assert_eq!(f64s(&decode(&file, "PointData", name)), [value], "{name}");
    }
    assert_eq!(decode(&file, "PointData", "status"), [2]);
    write_branches(&path, &snapshot, &Frames::everything()).unwrap();
    let file = std::fs::read(&path).unwrap();
    // from the contact, as the ground does not move, to the centre of the cube
    assert_eq!(f64s(&decode(&file, "Points", "points"))[3..], [0.0, 0.0, 1.0, 0.1, 0.0, 1e-3]);
    assert_eq!(i32s(&decode(&file, "Lines", "connectivity")), [2, 1]);
    assert_eq!(i32s(&decode(&file, "Lines", "offsets")), [2]);
    assert_eq!(f64s(&decode(&file, "CellData", "normal_force")), [7.0]);
}

#[test]
fn a_joint_is_a_face_with_its_figures() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("j.vtp");
    let corners = vec![vec![DVec3::ZERO, DVec3::X, DVec3::Y], vec![DVec3::ZERO, DVec3::X, DVec3::ONE, DVec3::Y]];
    write_polygons(&path, 0.1, &Polygons { corners, fields: vec![("shear", vec![1.0, 2.5])] }).unwrap();
    let file = std::fs::read(&path).unwrap();
    assert_eq!(i32s(&decode(&file, "Polys", "offsets")), [3, 7]);
    assert_eq!(i32s(&decode(&file, "Polys", "connectivity")), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(f64s(&decode(&file, "CellData", "shear")), [1.0, 2.5]);
}

#[test]
fn fields_read_back_cell_by_cell_and_a_rerun_leaves_none_of_the_run_before() {
    let dir = tempfile::tempdir().unwrap();
    let frame = || {
        let array = |name, components, values| GridArray { name, unit: "Pa", components, values };
        let arrays = vec![array("p", 1, vec![1.0, f64::NAN]), array("s", 9, (0..18).map(f64::from).collect())];
        GridFrame { low: DVec3::X, size: DVec3::new(0.5, 1.0, 2.0), cells: [2, 1, 1], arrays }
    };
    let mut whole = GridSeries::create(dir.path(), "bed", Precision::Double).unwrap();
    [10, 20, 30].into_iter().for_each(|step| whole.write(step, step as f64, &frame()).unwrap());
    let file = std::fs::read(dir.path().join("bed_00000020.vti")).unwrap();
    let p = f64s(&plain(&file, "p"));
    assert!(p[0] == 1.0 && p[1].is_nan());
    assert_eq!(f64s(&plain(&file, "s"))[9..], (9..18).map(f64::from).collect::<Vec<_>>());
    assert!(String::from_utf8_lossy(&file).contains("WholeExtent=\"0 2 0 1 0 1\" Origin=\"1 0 0\" Spacing=\"0.5 1 2\""));
    let list = dir.path().join("bed.pvd");
    let expected = std::fs::read(&list).unwrap();
    std::fs::write(dir.path().join("mine_00000020.vti"), "kept").unwrap();
    remove_grids(dir.path(), Some(10)).unwrap();
    let mut resumed = GridSeries::resume(dir.path(), "bed", 10, Precision::Double).unwrap();
    assert!(!dir.path().join("bed_00000020.vti").exists());
    [20, 30].into_iter().for_each(|step| resumed.write(step, step as f64, &frame()).unwrap());
    assert_eq!(std::fs::read(&list).unwrap(), expected);
    remove_grids(dir.path(), None).unwrap();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "what is mine");
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
    let frame = |step: u64| Snapshot { step, time: step as f64 * 0.1, step_size: 0.1, bodies: &[], contacts: &[] };
    let mut whole = VtkSeries::create(dir.path(), Frames::everything()).unwrap();
    [0, 10, 20, 30].into_iter().for_each(|step| whole.write(&frame(step)).unwrap());
    let path = dir.path().join("bodies.pvd");
    let expected = std::fs::read(&path).unwrap();
    let mut resumed = VtkSeries::resume(dir.path(), 15, Frames::everything()).unwrap();
    assert_eq!(resumed.frames.len(), 2);
    [20, 30, 30].into_iter().for_each(|step| resumed.write(&frame(step)).unwrap());
    assert_eq!(std::fs::read(&path).unwrap(), expected);
    std::fs::write(&path, "<DataSet timestep=\"0\" file=\"other.vtp\"/>\n").unwrap();
    let error = VtkSeries::resume(dir.path(), 15, Frames::everything()).unwrap_err().to_string();
    assert!(error.contains("line 1") && error.contains("other.vtp"), "{error}");
}

#[test]
fn a_frame_of_many_grains_stays_small_and_tells_units() {
    let dir = tempfile::tempdir().unwrap();
    // 2 000 grains with 2.5 contacts each, numbers that do not repeat
    let mut random = crate::algebra::random::Sequence::new(1);
    let mut vector = || DVec3::from_array(std::array::from_fn(|_| random.next_between(-1.0, 1.0)));
    let ball = |id: u32, at: DVec3, v: DVec3| {
        let mut body = BodyView::new(id, "g", "ball", Pose::at(at), Surface::default().into());
        (body.balls, body.linear) = ([(DVec3::ZERO, 0.01 + 0.001 * v.x)].into(), v);
        body
    };
    let bodies: Vec<BodyView> = (0..2000).map(|id| ball(id, vector(), vector())).collect();
    let contact = |k: u32, at: DVec3, f: DVec3| ContactView {
        body1: k / 3,
        body2: k % 2000,
        point1: at,
        point2: at,
        shift: DVec3::ZERO,
        normal_impulse: f.x,
        ..scene().1[0]
    };
    let contacts: Vec<ContactView> = (0..5000).map(|k| contact(k, vector(), vector())).collect();
    let snapshot = Snapshot { step: 1, time: 0.1, step_size: 0.1, bodies: &bodies, contacts: &contacts };
    let size = |holds: Frames| -> u64 {
        VtkSeries::create(dir.path(), holds).unwrap().write(&snapshot).unwrap();
        let files = std::fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().metadata().unwrap().len());
        files.sum()
    };
    // 8 MB for 10⁵ grains
    let (usual, all) = (size(Frames::default()), size(Frames::everything()));
    assert!(usual < 2000 * 80, "{usual} bytes");
    assert!(all > 2 * usual, "{all} bytes");
    size(Frames::default());
    let file = std::fs::read(dir.path().join("bodies_00000001.vtp")).unwrap();
    assert_eq!(f32s(&decode(&file, "PointData", "radius"))[7], bodies[7].balls[0].1 as f32);
    let xml = String::from_utf8_lossy(&std::fs::read(dir.path().join("bodies_00000001.vtp")).unwrap()).into_owned();
    assert!(xml.contains("location=\"vtkDataArray\">m/s</InformationKey>"));
    size(Frames { contacts: Vec::new(), ..Frames::default() });
    assert!(!dir.path().join("contacts.pvd").exists(), "a collection of the run before is left");
}

/// Surfaces that are written once, turned and moved as the points of a frame say, are those that stand in its triangles otherwise.
#[test]
fn shapes_written_once_are_the_triangles_of_every_frame_by_their_poses() {
    let ([ground, mut cube], contacts) = scene();
    let mut ball = BodyView::new(2, "ball", "ball", Pose::at(DVec3::Y * 4.0), Surface::ball(0.5, 8).into());
    ball.balls = [(DVec3::ZERO, 0.5)].into();
    let late =
        BodyView::new(5, "late", "cuboid", Pose::new(DVec3::X * 3.0, DQuat::from_rotation_y(1.0)), Surface::cuboid(DVec3::X + 0.5).into());
    let [once, often] = [Shapes::Once, Shapes::Triangles].map(|shapes| Frames { shapes, ..Frames::everything() });
    let [a, b] = [0, 1].map(|_| tempfile::tempdir().unwrap());
    let mut series = [VtkSeries::create(a.path(), once.clone()).unwrap(), VtkSeries::create(b.path(), often).unwrap()];
    let files = || {
        let all = collection::frames(a.path(), "vtp").unwrap();
        all.into_iter().filter(|file| file.1 == SHAPES).map(|file| file.2).collect::<Vec<_>>()
    };
    let read = |directory: &Path, kind: &str, step: u64| StoredFrame::read(&directory.join(frame_name(kind, step)), 0.0).unwrap();
    for step in 0..4 {
        cube.pose = Pose::new(DVec3::Z * (1.0 + step as f64), DQuat::from_rotation_x(0.5 + step as f64));
        let bodies: Vec<BodyView> = [&ground, &cube, &ball].into_iter().chain((step >= 2).then_some(&late)).cloned().collect();
        let snapshot = Snapshot { step, time: step as f64, step_size: 0.1, bodies: &bodies, contacts: &contacts };
        for series in &mut series {
            series.write(&snapshot).unwrap();
        }
        if step == 2 {
            // a run that goes on knows what it has
            series[0] = VtkSeries::resume(a.path(), 2, once.clone()).unwrap();
        }
        let (poses, whole) = (read(a.path(), "bodies", step), read(b.path(), "bodies", step));
        let (ids, places) = (poses.array("PointData", "id").unwrap(), poses.vectors("Points", "points").unwrap());
        assert_eq!(ids.len(), bodies.len(), "a point for each body");
        let turns = poses.array("PointData", "orientation").unwrap();
        let mut corners: Vec<(u64, DVec3)> = Vec::new();
        for step in files() {
            let shapes = read(a.path(), SHAPES, step);
            for (id, corner) in shapes.array("PointData", "id").unwrap().into_iter().zip(shapes.vectors("Points", "points").unwrap()) {
                let k = ids.iter().position(|known| *known == id).unwrap();
                let q = DQuat::from_xyzw(turns[4 * k + 1], turns[4 * k + 2], turns[4 * k + 3], turns[4 * k]);
                corners.push((id as u64, places[k] + q * corner));
            }
        }
        let (ids, points) = (whole.array("PointData", "id").unwrap(), whole.vectors("Points", "points").unwrap());
        let expected: Vec<(u64, DVec3)> = ids.iter().map(|id| *id as u64).zip(points).filter(|(id, _)| *id != 2).collect();
        assert_eq!(corners.len(), expected.len());
        assert!(corners.iter().zip(&expected).all(|(a, b)| a.0 == b.0 && a.1.distance(b.1) < 1e-12), "{step}");
    }
    assert_eq!(files(), [0, 2], "where bodies are first seen");
    VtkSeries::create(a.path(), once).unwrap();
    assert_eq!(files(), [0; 0], "a run leaves none of the run before");
}
