#![cfg(feature = "hdf5")]

use super::hdf5::{Container, Node, Rows};
use super::values::Kind;
use super::*;
use crate::algebra::random::Sequence;
use crate::algebra::spatial::Pose;
use crate::io::snapshot::{BodyView, ContactStatus, ContactView, Surface};
use glam::DVec3;
use hdf5_pure::{AttrValue, File};

/// A step with so many balls, cubes and contacts at places that no other step has.
struct Scene(u64, Vec<BodyView>, Vec<ContactView>);

impl Scene {
    fn new(step: u64, [balls, cubes, contacts]: [u32; 3]) -> Self {
        let mut random = Sequence::new(step);
        let mut vector = || DVec3::from_array(std::array::from_fn(|_| random.next_between(-1.0, 1.0)));
        let ball = |id: u32, at: DVec3, v: DVec3| {
            let mut body = BodyView::new(id, "g", "ball", Pose::at(at), Surface::ball(0.1, 4).into());
            (body.balls, body.linear) = ([(DVec3::ZERO, 0.01 + 0.001 * v.x)].into(), v);
            body
        };
        let cube = |id, at| BodyView::new(id, "c", "cuboid", Pose::at(at), Surface::cuboid(DVec3::ONE).into());
        let mut bodies: Vec<BodyView> = (0..balls).map(|id| ball(id, vector(), vector())).collect();
        bodies.extend((0..cubes).map(|id| cube(balls + id, vector())));
        let contact = |k: u32, at: DVec3| ContactView {
            body1: k % balls.max(1),
            body2: balls,
            point1: at,
            point2: at,
            shift: DVec3::ZERO,
            normal: DVec3::Z,
            gap: 0.0,
            normal_impulse: at.x,
            friction_impulse: DVec3::ZERO,
            moment_impulse: DVec3::ZERO,
            sliding_speed: 0.0,
            status: ContactStatus::Stick,
        };
        let contacts = (0..contacts).map(|k| contact(k, vector())).collect();
        Self(step, bodies, contacts)
    }

    fn snapshot(&self) -> Snapshot<'_> {
        Snapshot { step: self.0, time: 0.1 * self.0 as f64, step_size: 0.1, bodies: &self.1, contacts: &self.2 }
    }
}

fn holds() -> Frames {
    Frames { format: Format::VtkHdf, ..Frames::everything() }
}

fn whole(file: &File, path: &str) -> Vec<usize> {
    file.dataset(path).unwrap().read_i64().unwrap().into_iter().map(|x| x as usize).collect()
}

fn real(file: &File, path: &str) -> Vec<f64> {
    file.dataset(path).unwrap().read_f64().unwrap()
}

/// Holds an instant of a file against the frame that was written, as VTK looks for it.
fn agrees(file: &File, instant: usize, kind: &str, scene: &Scene) {
    let frame = match kind {
        "bodies" => frame::bodies(&scene.snapshot(), &holds()),
        "contacts" => frame::contacts(&scene.snapshot(), &holds()),
        _ => frame::branches(&scene.snapshot(), &holds(), false),
    };
    let at = |name: &str| whole(file, &format!("VTKHDF/Steps/{name}"));
    assert_eq!(real(file, "VTKHDF/Steps/Values")[instant], scene.snapshot().time);
    assert_eq!(whole(file, "step")[instant] as u64, scene.0);
    let (part, point) = (at("PartOffsets")[instant], at("PointOffsets")[instant]);
    let doubles = |bytes: &[u8]| -> Vec<f64> { bytes.chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect() };
    let expected = doubles(&frame.points.bytes);
    assert_eq!(whole(file, "VTKHDF/NumberOfPoints")[part], frame.points.rows());
    assert_eq!(real(file, "VTKHDF/Points")[3 * point..][..expected.len()], expected);
    for (group, arrays) in [("PointData", &frame.point_data), ("CellData", &frame.cell_data)] {
        for array in arrays.iter().filter(|a| a.kind == Kind::F64) {
            let from = at(&format!("{group}Offsets/{}", array.name))[instant] * array.components;
            let found = real(file, &format!("VTKHDF/{group}/{}", array.name));
            let expected = doubles(&array.bytes);
            assert_eq!(found[from..][..expected.len()], expected, "{kind} {}", array.name);
        }
    }
    for (k, name) in ["Vertices", "Lines", "Polygons"].into_iter().enumerate() {
        let of = |what: &str| whole(file, &format!("VTKHDF/{name}/{what}"));
        let (cells, ids) = (of("NumberOfCells"), of("NumberOfConnectivityIds"));
        let (cell, id) = (at("CellOffsets")[4 * instant + k], at("ConnectivityIdOffsets")[4 * instant + k]);
        let before = cells[..part].iter().scan(0, |sum, n| Some(std::mem::replace(sum, *sum + n)));
        let later = before.take_while(|sum| *sum < cell).count();
        let connectivity: Vec<i64> = of("Connectivity")[id..][..ids[part]].iter().map(|x| *x as i64).collect();
        assert_eq!(connectivity, frame.cells[k].points, "{kind} {name} of {instant}");
        let offsets: Vec<i64> = of("Offsets")[cell + later..][..=cells[part]].iter().map(|x| *x as i64).collect();
        assert_eq!((offsets[0], &offsets[1..]), (0, &frame.cells[k].ends[..]), "{kind} {name} of {instant}");
    }
}

fn scenes() -> Vec<Scene> {
    let counts: [[u32; 3]; 14] = [
        [5, 0, 0],
        [5, 0, 7],
        [5, 2, 7],
        [5, 2, 9],
        [4, 2, 2],
        [4, 2, 2],
        [0, 1, 0],
        [9, 3, 4],
        [9, 0, 4],
        [9, 1, 0],
        [8, 1, 1],
        [7, 1, 1],
        [7, 4, 1],
        [300, 4, 900],
    ];
    (0..).zip(counts).map(|(k, n)| Scene::new(10 * k, n)).collect()
}

#[test]
fn every_instant_of_one_file_is_what_a_file_of_its_own_would_hold() {
    let dir = tempfile::tempdir().unwrap();
    let scenes = scenes();
    let mut series = VtkSeries::create(dir.path(), holds()).unwrap();
    for (k, scene) in scenes.iter().enumerate() {
        series.write(&scene.snapshot()).unwrap();
        // the file of a run that is killed here can be read
        for kind in ["bodies", "contacts", "branches"] {
            let file = File::open(long_file(dir.path(), kind)).unwrap();
            (0..=k).for_each(|instant| agrees(&file, instant, kind, &scenes[instant]));
        }
    }
    let file = File::open(long_file(dir.path(), "bodies")).unwrap();
    let attributes = file.group("VTKHDF").unwrap().attrs().unwrap();
    assert_eq!(attributes["Type"].as_str(), Some("PolyData"));
    assert_eq!(attributes["Version"].to_i64s(), Some(vec![2, 0]));
    assert_eq!(file.dataset("VTKHDF/PointData/radius").unwrap().attrs().unwrap()["units"].as_str(), Some("m"));
    let steps = file.group("VTKHDF/Steps").unwrap().attrs().unwrap();
    assert_eq!(steps["NSteps"].as_i64(), Some(scenes.len() as i64));
    assert!(!matches!(steps["NSteps"], AttrValue::F64(_)));
}

#[test]
fn one_file_goes_on_from_a_checkpoint_as_if_it_had_never_stopped() {
    let (whole, broken) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let scenes = scenes();
    let mut straight = VtkSeries::create(whole.path(), holds()).unwrap();
    scenes.iter().for_each(|scene| straight.write(&scene.snapshot()).unwrap());
    let mut series = VtkSeries::create(broken.path(), holds()).unwrap();
    scenes[..9].iter().for_each(|scene| series.write(&scene.snapshot()).unwrap());
    drop(series);
    let mut series = VtkSeries::resume(broken.path(), 45, holds()).unwrap();
    // what was written after the checkpoint comes again, one step twice
    [5, 6, 7, 7, 8, 9, 10, 11, 12, 13].into_iter().for_each(|k| series.write(&scenes[k].snapshot()).unwrap());
    for kind in ["bodies", "contacts", "branches"] {
        let file = File::open(long_file(broken.path(), kind)).unwrap();
        assert_eq!(self::whole(&file, "step").len(), scenes.len());
        scenes.iter().enumerate().for_each(|(instant, scene)| agrees(&file, instant, kind, scene));
    }
    // a run anew leaves nothing, whatever its format
    VtkSeries::create(broken.path(), Frames::default()).unwrap();
    assert_eq!(std::fs::read_dir(broken.path()).unwrap().count(), 0);
    damage_is_told(&scenes[..5]);
    std::fs::write(long_file(broken.path(), "bodies"), [0; 600]).unwrap();
    let error = VtkSeries::resume(broken.path(), 5, holds()).unwrap_err().to_string();
    assert!(error.contains("bodies.vtkhdf") && error.contains("no series of this program"), "{error}");
}

/// A bit of the state of a series that was lost on a disk is no place to write at.
fn damage_is_told(scenes: &[Scene]) {
    let dir = tempfile::tempdir().unwrap();
    let mut series = VtkSeries::create(dir.path(), holds()).unwrap();
    scenes.iter().for_each(|scene| series.write(&scene.snapshot()).unwrap());
    drop(series);
    let path = long_file(dir.path(), "contacts");
    let sound = std::fs::read(&path).unwrap();
    let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|k| sound[at + k])) as usize;
    let (from, length) = (number(104), number(112));
    for at in from..from + length {
        let mut damaged = sound.clone();
        damaged[at] ^= 4;
        std::fs::write(&path, damaged).unwrap();
        let error = VtkSeries::resume(dir.path(), 1000, holds()).map(drop).unwrap_err().to_string();
        assert!(error.contains("contacts.vtkhdf") && error.contains("start the run anew"), "byte {at} of the state: {error}");
    }
    std::fs::write(&path, sound).unwrap();
    VtkSeries::resume(dir.path(), 1000, holds()).unwrap();
}

#[test]
fn an_array_of_many_chunks_is_found_through_all_levels_of_its_tree() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.h5");
    // of 512 rows each: one more than two levels of 64 hold
    let count = 512 * (64 * 64 + 1) + 3;
    let (mut file, mut rows) = (Container::create(&path).unwrap(), Rows::new(Kind::I64, 1, ""));
    let values: Vec<i64> = (0..count).map(|k| k * k).collect();
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    let (first, rest) = bytes.split_at(8);
    rows.append(&mut file, first).unwrap();
    for part in rest.chunks(8 * 1000) {
        rows.append(&mut file, part).unwrap();
    }
    let root = Node::Group { attributes: Vec::new(), children: vec![("x", Node::Rows(&rows))] };
    file.publish(&root, |_| Vec::new()).unwrap();
    assert_eq!(File::open(&path).unwrap().dataset("x").unwrap().read_i64().unwrap(), values);
}

#[test]
fn a_long_series_takes_little_more_than_its_numbers_and_hides_few_of_them() {
    let dir = tempfile::tempdir().unwrap();
    let holds = Frames { contacts: Vec::new(), format: Format::VtkHdf, ..Frames::default() };
    let mut series = VtkSeries::create(dir.path(), holds).unwrap();
    let scene = Scene::new(0, [200, 0, 0]);
    for step in 0..600 {
        series.write(&Snapshot { step, ..scene.snapshot() }).unwrap();
        if step % 97 == 0 {
            let seen = whole(&File::open(long_file(dir.path(), "bodies")).unwrap(), "step").len() as u64;
            assert!(seen + 1 + step / 64 > step, "{seen} of {step}");
        }
    }
    let numbers = 600 * series.frame_bytes()[0];
    assert_eq!(numbers, 600 * 200 * (12 + 4 + 4 + 4 + 12));
    let size = std::fs::metadata(long_file(dir.path(), "bodies")).unwrap().len();
    assert!(size < numbers + numbers / 6, "{size} bytes for {numbers}");
}
