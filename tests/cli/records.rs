//! Tables of signals, motors and interactions from scene files.

use super::*;
use std::path::Path;

/// An arm with a servo, a wheel with a motor, two weights on a rope, one on a spring with a leash.
const SCENE: &str = r#"
[time]
step = "2 ms"
end = "1 s"
[[bodies]]
name = "floor"
shape = { kind = "half_space" }
motion = "static"
[[bodies]]
name = "arm.1"
shape = { kind = "cuboid", size = [1.0, 0.05, 0.05] }
position = [0.5, 0, 1]
mass = 2
[[bodies]]
name = "wheel"
shape = { kind = "ball", radius = 0.2 }
position = [3, 0, 1]
mass = 3
[[bodies]]
name = "left"
shape = { kind = "ball", radius = 0.1 }
position = [5, 0, 2]
mass = 1
[[bodies]]
name = "right"
shape = { kind = "ball", radius = 0.1 }
position = [6, 0, 2]
mass = 1.5
[[bodies]]
name = "bob"
shape = { kind = "ball", radius = 0.1 }
position = [10, 0, 1.5]
mass = 1
[[joints]]
name = "shoulder"
kind = "revolute"
body1 = "arm.1"
anchor = [0, 0, 1]
axis = [0, -1, 0]
[[joints]]
name = "axle"
kind = "revolute"
body1 = "wheel"
anchor = [3, 0, 1]
axis = [0, 1, 0]
[[motors]]
joint = "shoulder"
position = "30 deg"
stiffness = "200 N m/rad"
damping = "20 N m s/rad"
limit = "100 N m"
[[motors]]
joint = "axle"
speed = "180 rpm"
limit = "2 N m"
[[interactions]]
name = "pulley"
body1 = "left"
body2 = "right"
relation = "linear"
factor1 = [0, 0, 1]
factor2 = [0, 0, 1]
law = "equality"
[[interactions]]
name = "bungee"
body1 = "bob"
relation = "distance"
anchor = [10, 0, 1.5]
anchor2 = [10, 0, 2.5]
law = { kind = "spring", stiffness = "100 N/m", damping = "1 N s/m" }
[[interactions]]
name = "leash"
body1 = "bob"
relation = "distance"
anchor = [10, 0, 1.5]
anchor2 = [10, 0, 2.5]
at_most = 1.05
law = "impact"
[[record]]
name = "motors"
every = "20 ms"
signals = ["shoulder.coordinate", "axle.coordinate", "axle.motor", "arm.1.z", "motor_work"]
[[record]]
name = "rest"
signals = ["left.vz", "pulley.output", "leash.output", "bob.z", "kinetic", "support_z"]
"#;

struct Table {
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Table {
    fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        let mut lines = text.lines();
        let names = lines.next().unwrap().split(',').map(str::to_owned).collect();
        Self { names, rows: lines.map(|l| l.split(',').map(|x| x.parse().unwrap()).collect()).collect() }
    }

    fn column(&self, name: &str) -> Vec<f64> {
        let k = self.names.iter().position(|n| n == name).unwrap_or_else(|| panic!("{name} of {:?}", self.names));
        self.rows.iter().map(|row| row[k]).collect()
    }
}

#[test]
fn contacts_of_the_end_have_the_normals_that_their_forces_were_solved_with() {
    let (folder, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let scene = folder.path().join("scene.toml");
    let ball = |name: &str, place: &str, motion: &str| {
        format!("[[bodies]]\nname = \"{name}\"\nshape = {{ kind = \"ball\", radius = 0.1 }}\nposition = {place}\nmotion = \"{motion}\"\n")
    };
    // a ball rolls down another one without friction: the normal turns in every step
    let balls = ball("low", "[0, 0, 0.1]", "static") + &ball("high", "[0.08, 0, 0.283303]", "dynamic");
    std::fs::write(&scene, format!("[time]\nstep = \"2 ms\"\nend = 0.1\n[contact]\nmu = 0\n{balls}")).unwrap();
    let run = output(&["run", scene.to_str().unwrap(), "--out", out.path().to_str().unwrap()]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let table = std::fs::read_to_string(out.path().join("contacts_end.csv")).unwrap();
    let (head, row) = table.split_once('\n').unwrap();
    let number = |name: &str| row.split(',').nth(head.split(',').position(|n| n.starts_with(name)).unwrap()).unwrap().trim().parse::<f64>();
    assert!(number("normal_force").unwrap() > 1.0, "{table}");
    for axis in ["friction_x", "friction_y", "friction_z"] {
        assert!(number(axis).unwrap().abs() < 1e-9, "{table}");
    }
}

fn written(directory: &Path, scene: &str) -> String {
    let path = directory.join("scene.toml");
    std::fs::write(&path, scene).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn tables_have_names_units_and_a_row_for_every_instant() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let scene = written(directory.path(), SCENE);
    let result = json(&[&scene, "--out", out.to_str().unwrap()]);
    assert_eq!(result["warnings"].as_array().map(Vec::len), Some(0), "{}", result["warnings"]);
    assert!(result["joint_gap_max_m"].as_f64().unwrap() < 1e-5 && result["joint_gap_of"].is_string());
    let motors = Table::read(&out.join("motors.csv"));
    assert_eq!(
        motors.names,
        ["time [s]", "shoulder.coordinate [rad]", "axle.coordinate [rad]", "axle.motor [N m]", "arm.1.z [m]", "motor_work [J]"]
    );
    let time = motors.column("time [s]");
    assert!(time.len() == 51 && time.iter().enumerate().all(|(k, t)| (t - 0.02 * k as f64).abs() < 1e-12));
    // the servo holds against the weight: 200 (30° − q) = 2 g cos(q)/2
    let q = *motors.column("shoulder.coordinate [rad]").last().unwrap();
    assert!((200.0 * (30f64.to_radians() - q) - 9.81 * q.cos()).abs() < 1e-2, "{q}");
    // two newton metres speed the wheel up to 6 π rad/s; then it turns on
    let (inertia, speed) = (0.4 * 3.0 * 0.04, 6.0 * std::f64::consts::PI);
    let expected = speed * (1.0 - 0.5 * speed * inertia / 2.0);
    assert!((motors.column("axle.coordinate [rad]").last().unwrap() - expected).abs() < 0.03, "{expected}");
    let rest = Table::read(&out.join("rest.csv"));
    assert_eq!(rest.rows.len(), 501);
    let rise = rest.column("left.vz [m/s]")[100];
    assert!((rise - 0.2 * 9.81 * 0.5 / 2.5).abs() < 1e-9, "{rise}");
    assert!(rest.column("pulley.output [m]").iter().all(|y| y.abs() < 1e-9));
    assert!(rest.column("leash.output [m]").iter().all(|y| *y > -1e-6) && rest.column("bob.z [m]").iter().any(|z| *z < 1.4501));
    let history = std::fs::read_to_string(out.join("history.svg")).unwrap();
    assert!(history.contains("work of motors"), "the curve of motors");
}

#[test]
fn tables_of_a_resumed_run_are_those_of_the_straight_one() {
    let directory = tempfile::tempdir().unwrap();
    let scene = written(directory.path(), SCENE);
    let [whole, parts] = ["whole", "parts"].map(|name| directory.path().join(name).to_str().unwrap().to_owned());
    json(&[&scene, "--out", &whole]);
    json(&[&scene, "--out", &parts, "--until", "0.45", "--checkpoint", "every=0.1s"]);
    json(&["--resume", &parts, "--until", "1"]);
    for name in ["motors", "rest", "joints", "steps"] {
        let [a, b] = [&whole, &parts].map(|d| std::fs::read_to_string(Path::new(d).join(format!("{name}.csv"))).unwrap());
        assert!(a == b, "{name}: {} lines and {}", a.lines().count(), b.lines().count());
    }
}

#[test]
fn forces_of_many_contacts_are_added_up_alike_in_a_resumed_run() {
    let directory = tempfile::tempdir().unwrap();
    let scene = "[time]\nstep = \"2 ms\"\nend = 0.4\n[solver]\ntolerance = 1e-3\n\
        [[generate.pour]]\nname = \"g\"\ncount = 60\nradius = [\"8 mm\", \"10 mm\"]\nwidth = [0.08, 0.08]\n\
        [[record]]\nname = \"ground\"\nsignals = [\"g.ground.contact_x\", \"g.ground.contact_z\"]\n";
    let scene = written(directory.path(), scene);
    let [whole, parts] = ["whole", "parts"].map(|name| directory.path().join(name).to_str().unwrap().to_owned());
    json(&[&scene, "--out", &whole]);
    json(&[&scene, "--out", &parts, "--until", "0.3", "--checkpoint", "every=0.1s"]);
    json(&["--resume", &parts, "--until", "0.4"]);
    let [a, b] = [&whole, &parts].map(|d| std::fs::read_to_string(Path::new(d).join("ground.csv")).unwrap());
    assert_eq!(a, b);
}

#[test]
fn a_motor_of_its_own_section_is_that_of_its_joint() {
    let directory = tempfile::tempdir().unwrap();
    let (head, tail) = SCENE.split_once("[[motors]]").unwrap();
    let inside = head
        .replace("axis = [0, -1, 0]", "axis = [0, -1, 0]\nservo = { position = \"30 deg\", stiffness = 200, damping = 20, limit = 100 }");
    let rest = tail.split_once("[[interactions]]").unwrap().1;
    let inside = inside.replace("axis = [0, 1, 0]", "axis = [0, 1, 0]\nmotor = { speed = \"180 rpm\", limit = 2 }");
    let hash = |scene: &str| json(&[&written(directory.path(), scene)])["state_hash"].clone();
    assert_eq!(hash(SCENE), hash(&format!("{inside}[[interactions]]{rest}")));
    assert_ne!(hash(SCENE), hash(&SCENE.replace("180 rpm", "181 rpm")));
}

#[test]
fn wrong_names_and_quantities_are_named_with_their_line() {
    let directory = tempfile::tempdir().unwrap();
    for (from, to, words) in [
        ("\"arm.1.z\"", "\"arm.2.z\"", ["arm.2", "did you mean `arm.1`"]),
        ("\"arm.1.z\"", "\"arm.1.height\"", ["no quantity \"height\"", "known"]),
        ("\"motor_work\"", "\"motor_wrok\"", ["motor_wrok", "did you mean `motor_work`"]),
        ("\"motor_work\"", "\"motor_work\", \"kinetic\", \"kinetic\"", ["kinetic", "twice"]),
        ("\"pulley.output\"", "\"pulley.output.1\"", ["row 1", "count from 0"]),
        ("\"pulley.output\"", "\"pulley.speed\"", ["no quantity \"speed\"", "output"]),
        ("name = \"rest\"", "name = \"steps\"", ["steps", "bodies_start"]),
        ("name = \"rest\"", "name = \"../rest\"", ["../rest", "letters"]),
        ("name = \"rest\"", "name = \"motors\"", ["second table", "own"]),
        ("joint = \"axle\"", "joint = \"axel\"", ["axel", "did you mean `axle`"]),
        ("joint = \"axle\"", "joint = \"shoulder\"", ["second motor", "shoulder"]),
        ("speed = \"180 rpm\"", "speed = \"180 rpm\"\nposition = 1", ["beside `speed`", "position"]),
        ("speed = \"180 rpm\"\n", "", ["speed", "position"]),
        ("limit = \"2 N m\"", "", ["limit", "missing"]),
        ("law = \"impact\"", "law = \"equality\"", ["at_most", "both sides"]),
        ("law = \"equality\"", "law = \"spring\"", ["without its numbers", "stiffness"]),
        ("relation = \"linear\"", "relation = \"points\"", ["anchor", "missing"]),
        ("factor1 = [0, 0, 1]\nfactor2 = [0, 0, 1]", "factor1 = [0, 0, 0]", ["not all zero", "correct"]),
        ("body1 = \"left\"", "body1 = \"floor\"\nbody2 = \"floor\"", ["body2", "twice"]),
    ] {
        let text = SCENE.replacen(from, to, 1);
        assert_ne!(text, SCENE, "{from}");
        let run = output(&["run", &written(directory.path(), &text)]);
        let said = super::text(&run.stderr);
        assert_eq!(run.status.code(), Some(3), "{to}: {said}");
        if to.starts_with("body1") {
            continue; // one key twice: what the reader of TOML says
        }
        assert!(words.iter().all(|w| said.contains(w)), "{to}: {said}");
        assert!(said.contains("scene.toml:"), "{to}: {said}");
    }
}

#[test]
fn drift_is_projected_away_where_the_scene_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let gap = |drift: &str| {
        let scene = SCENE.replace("step = \"2 ms\"", &format!("step = \"20 ms\"\ndrift = \"{drift}\""));
        json(&[&written(directory.path(), &scene)])["joint_gap_max_m"].as_f64().unwrap()
    };
    let (fed_back, projected) = (gap("velocity"), gap("projection"));
    assert!(fed_back > 1e-9 && projected < 1e-13, "{fed_back:e} {projected:e}");
}

const BED: &str = "[time]\nstep = \"2 ms\"\nend = 0.2\n[periodic]\nx = [0, 0.6]\n[[generate.lattice]]\ncount = [3, 2, 4]\nradius = 0.05\n\
                   position = [0.3, 0, 0]\nwalls = false\n[[field]]\nname = \"bed\"\nevery = 0.05\n\
                   box = [[\"-inf\", -0.3, 0], [\"inf\", 0.3, 1]]\ncells = [4, 1, 10]\nwidth = 0.2\n\
                   [[pile]]\nname = \"heap\"\nevery = 0.05\nalong = [0, 1, 0]\n\
                   [[measure]]\nname = \"cut\"\nevery = 0.05\nbox = [[\"-inf\", -0.2, 0], [\"inf\", 0.2, 0.5]]\n\
                   segregation = { radius = 0.04 }\npairs = { largest = 0.15, bins = 6 }\nforces = {}\nrose = { plane = \"yz\" }\n\
                   [[surface]]\nname = \"gate\"\nplane = { point = [0, 0, 0.3] }\n";

#[test]
fn fields_are_tables_and_grids_that_a_resumed_run_goes_on_with() {
    let directory = tempfile::tempdir().unwrap();
    let scene = written(directory.path(), BED);
    let [straight, parts] = ["straight", "parts"].map(|name| directory.path().join(name).to_str().unwrap().to_owned());
    json(&[&scene, "--out", &straight]);
    json(&[&scene, "--out", &parts, "--until", "0.12", "--checkpoint", "every=0.06s"]);
    json(&["--resume", &parts, "--until", "0.2"]);
    let read = |name: &str| [&straight, &parts].map(|path| std::fs::read(Path::new(path).join(name)).unwrap());
    // frames too: half-spaces are as large as the start asks for, not the state that was saved
    let names = std::fs::read_dir(&straight).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let frames: Vec<String> = names.filter(|name| name.starts_with("bodies_") && name.ends_with(".vtp")).collect();
    assert!(frames.len() > 3, "{frames:?}");
    for name in &frames {
        let [one, other] = read(name);
        assert!(one == other, "{name} differs");
    }
    for name in ["flow.csv", "cut.csv", "cut_pairs.csv", "heap.csv", "bed.csv", "bed.pvd", "bed_00000050.vti", "bed_00000100.vti"] {
        let [one, other] = read(name);
        assert!(one == other, "{name}");
    }
    let table = drystone::io::table::read_table(&Path::new(&straight).join("bed.csv")).unwrap();
    assert_eq!((table.rows.len(), table.header.len()), (4 * 40, 28));
    let flow = drystone::io::table::read_table(&Path::new(&straight).join("flow.csv")).unwrap();
    let gone = flow.column("gate.count").unwrap();
    assert!(flow.rows.len() == 101 && gone[0] == 0.0 && gone[100] >= 6.0, "{gone:?}");
    assert!(flow.column("gate.momentum_z [kg m/s]").unwrap()[100] < 0.0);
    let heaps = drystone::io::table::read_table(&Path::new(&straight).join("heap.csv")).unwrap();
    let column = |name: &str| heaps.column(name).unwrap();
    assert_eq!((column("time [s]"), heaps.header.len()), (vec![0.05, 0.1, 0.15, 0.2], 5));
    assert!(column("front [m]").iter().all(|y| (0.08..0.3).contains(y)) && column("height [m]").iter().all(|z| (0.1..0.6).contains(z)));
    // all of it: grains of 1000 kg/m3, the lowest of which stand a quarter of the width above the floor of the box
    let mass: f64 = table.column("density [kg/m3]").unwrap()[120..].iter().map(|d| d * 0.6 * 0.6 / 40.0).sum();
    let all = 24.0 * 1000.0 * 4.0 / 3.0 * std::f64::consts::PI * 0.05f64.powi(3);
    assert!(mass > 0.8 * all && mass < all, "{mass} {all}");
}

#[test]
fn fields_that_make_no_sense_are_refused_by_line() {
    let directory = tempfile::tempdir().unwrap();
    for (from, to, words) in [
        ("width = 0.2", "width = 0.05", ["0.05 m", "half of the diagonal"]),
        ("width = 0.2", "width = \"100 km\"", ["100000 m", "larger cells"]),
        ("[\"-inf\", -0.3, 0]", "[-0.1, -0.3, 0]", ["along x", "periodic cell"]),
        ("[\"inf\", 0.3, 1]", "[\"inf\", \"inf\", 1]", ["open", "finite corners"]),
        ("cells = [4, 1, 10]", "cells = [4, 10]", ["2 numbers", "x, y and z"]),
        ("cells = [4, 1, 10]", "cells = [4000, 4000, 4000]", ["more cells", "10000000"]),
        ("name = \"bed\"", "name = \"bodies\"", ["\"bodies\"", "cannot be"]),
        ("width = 0.2", "kernel = \"gauss\"", ["gauss", "lucy"]),
        ("width = 0.2", "files = [\"png\"]", ["png", "vtk"]),
        ("largest = 0.15", "largest = 0.4", ["0.4 m", "half of the cell"]),
        ("largest = 0.15", "largest = 0.25", ["box of 0.4 m along y", "half of its edges"]),
        ("largest = 0.15", "largest = 0", ["0", "greater than 0"]),
        ("bins = 6", "bins = 0", ["whole number", "from 1"]),
        ("radius = 0.04 }", "axis = [1, 0, 0] }", ["`radius` is missing", "segregation"]),
        ("radius = 0.04 }", "radius = 0.04, between = [1, 0] }", ["1 to 0 m", "rise"]),
        ("[[\"-inf\", -0.2, 0]", "[[-0.1, -0.2, 0]", ["along x", "beyond the periodic cell"]),
        ("name = \"heap\"", "name = \"cut_pairs\"", ["second table", "cut_pairs"]),
        ("point = [0, 0, 0.3]", "normal = [1, 0, 1]", ["leans", "along x"]),
    ] {
        let text = BED.replacen(from, to, 1);
        assert_ne!(text, BED, "{from}");
        let run = output(&["run", &written(directory.path(), &text)]);
        let said = super::text(&run.stderr);
        assert_eq!(run.status.code(), Some(3), "{to}: {said}");
        assert!(words.iter().all(|w| said.contains(w)) && said.contains("scene.toml:"), "{to}: {said}");
    }
}

#[test]
fn tables_of_segregation_and_pair_correlation_are_those_of_brute_force() {
    let scene = "[time]\nstep = \"2 ms\"\nend = 0.2\n[[generate.lattice]]\ncount = [4, 4, 4]\n\
                 radius = { kind = \"two\", small = 0.03, large = 0.05, share = 0.4 }\n\
                 [[measure]]\nname = \"cut\"\nevery = 0.1\nbox = [[-1, -1, -1], [1, 1, 2]]\n\
                 segregation = { axis = [0, 0, 2], radius = 0.04 }\npairs = { largest = 0.2, bins = 5 }\n";
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    json(&[&written(directory.path(), scene), "--out", out.to_str().unwrap()]);
    let read = |name: &str| drystone::io::table::read_table(&out.join(name)).unwrap();
    let balls: Vec<(glam::DVec3, f64)> = {
        let scene = drystone::io::scene::Scene::from_toml(scene, "t").unwrap();
        let (built, _) = drystone::scenes::run(&scene).unwrap();
        let packing = drystone::diagnostics::grains::Packing::of(&built.simulation, None);
        packing.grains.iter().map(|g| (g.position, g.radius.unwrap())).collect()
    };
    assert_eq!(balls.len(), 64);
    // by hand, from where they lie at the end
    let height = |large: bool| {
        let part = balls.iter().filter(|b| (b.1 > 0.04) == large).map(|(x, r)| (x.z, r.powi(3)));
        let (sum, volume) = part.fold((0.0, 0.0), |(s, v), (z, volume)| (s + z * volume, v + volume));
        sum / volume
    };
    let low = balls.iter().map(|(x, r)| x.z - r).fold(f64::INFINITY, f64::min);
    let high = balls.iter().map(|(x, r)| x.z + r).fold(f64::NEG_INFINITY, f64::max);
    let expected = 2.0 * (height(true) - height(false)) / (high - low);
    let found = read("cut.csv").column("segregation").unwrap();
    assert!(found.len() == 2 && (found[1] - expected).abs() < 1e-12 && expected.abs() > 1e-3, "{found:?} {expected}");
    let pairs = read("cut_pairs.csv");
    assert_eq!(pairs.header, ["time [s]", "distance [m]", "pair_correlation"]);
    assert_eq!((pairs.rows.len(), pairs.rows[7][0], pairs.rows[7][1]), (10, 0.2, 0.1));
    for (k, row) in pairs.rows[5..].iter().enumerate() {
        let near = |a: glam::DVec3, b: glam::DVec3| a != b && (a.distance(b) / 0.04) as usize == k;
        let count = balls.iter().flat_map(|a| balls.iter().map(move |b| (a.0, b.0))).filter(|(a, b)| near(*a, *b)).count();
        let shell = 4.0 / 3.0 * std::f64::consts::PI * 0.04f64.powi(3) * (3 * k * k + 3 * k + 1) as f64;
        let expected = count as f64 / (64.0 * 64.0 / 12.0 * shell);
        assert!((row[2] - expected).abs() < 1e-9, "{row:?} {expected}");
    }
    assert!(pairs.rows[5..].iter().filter(|row| row[2] > 1.0).count() > 1);
    let drawn = output(&["plot", out.to_str().unwrap(), "cut_pairs", "cut.inertial_number", "--out", out.join("g.svg").to_str().unwrap()]);
    assert_eq!(drawn.status.code(), Some(0), "{}", super::text(&drawn.stderr));
    let svg = std::fs::read_to_string(out.join("g.svg")).unwrap();
    assert!(svg.contains("distance (m)") && svg.contains("pair_correlation"), "{}", svg.len());
}

#[test]
fn tables_of_forces_and_directions_are_those_of_brute_force() {
    let scene = "[time]\nstep = \"2 ms\"\nend = 0.3\n[[generate.pour]]\ncount = 80\nradius = [0.03, 0.05]\nwidth = [0.3, 0.3]\n\
                 [[measure]]\nname = \"all\"\nevery = 0.15\nforces = { largest = 3, bins = 6 }\nrose = { plane = \"yz\", bins = 4 }\n";
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    json(&[&written(directory.path(), scene), "--out", out.to_str().unwrap()]);
    let read = |name: &str| drystone::io::table::read_table(&out.join(name)).unwrap();
    let (header, rows) = drystone::io::table::read_text(&out.join("contacts_end.csv")).unwrap();
    let column = |name: &str| -> Vec<f64> {
        let k = header.iter().position(|head| head == name).unwrap();
        rows.iter().map(|row| row[k].parse().unwrap()).collect()
    };
    let (force, y, z) = (column("normal_force [N]"), column("normal_y"), column("normal_z"));
    let kept: Vec<usize> = (0..force.len()).filter(|&k| force[k] > 0.0).collect();
    let mean = kept.iter().map(|&k| force[k]).sum::<f64>() / kept.len() as f64;
    let (forces, rose) = (read("all_forces.csv"), read("all_rose.csv"));
    assert_eq!(
        (forces.rows.len(), rose.rows.len(), &rose.header[1..]),
        (12, 8, &["angle [deg]", "by_number", "by_force"].map(str::to_owned)[..])
    );
    for (k, row) in forces.rows[6..].iter().enumerate() {
        let within = |f: f64| (0.5 * k as f64..0.5 * (k + 1) as f64).contains(&(f / mean));
        let expected = kept.iter().filter(|&&c| within(force[c])).count() as f64 / (kept.len() as f64 * 0.5);
        assert!((row[0], row[1]) == (0.3, 0.25 + 0.5 * k as f64) && (row[2] - expected).abs() < 1e-9, "{row:?} {expected}");
    }
    // four bins of 45 degrees about y, the diagonals and z: shares by number and by force, 1 where all are alike
    let along = |k: usize| (z[k].atan2(y[k]).to_degrees() + 22.5).rem_euclid(180.0) / 45.0;
    let part = |k: usize| z[k].hypot(y[k]);
    for (bin, row) in rose.rows[4..].iter().enumerate() {
        let share = |weight: &dyn Fn(usize) -> f64| {
            let all: f64 = kept.iter().map(|&k| weight(k)).sum();
            4.0 * kept.iter().filter(|&&k| along(k) as usize == bin).map(|&k| weight(k)).sum::<f64>() / all
        };
        let expected = [45.0 * bin as f64, share(&part), share(&|k| part(k) * force[k])];
        assert!(row[1..].iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{row:?} {expected:?}");
    }
    assert!(
        rose.rows[6][3] > 1.5 && rose.rows[4..].iter().map(|row| row[2]).sum::<f64>() - 4.0 < 1e-9,
        "weights press down: {:?}",
        rose.rows
    );
    for what in ["all_forces", "all_rose.by_force"] {
        let drawn = output(&["plot", out.to_str().unwrap(), what, "--at", "0.15,0.3", "--out", out.join("g.svg").to_str().unwrap()]);
        assert_eq!(drawn.status.code(), Some(0), "{}", super::text(&drawn.stderr));
    }
    assert!(std::fs::read_to_string(out.join("g.svg")).unwrap().contains("angle (deg)"));
}

/// Three balls that necks hold hang from the topmost, which stands; a blow on the lowest one tears its neck.
const CHAIN: &str = "[time]\nstep = \"0.2 ms\"\nend = 0.1\n[contact]\nmu = 0\n\
    bond = { tension = \"50 kPa\", cohesion = \"50 kPa\", stiffness = [\"1 GPa/m\", \"1 GPa/m\"], neck = 0.5 }\n\
    [[bodies]]\nname = \"top\"\nshape = { kind = \"ball\", radius = 0.01 }\nmotion = \"static\"\nposition = [0, 0, 0.1]\n\
    [[bodies]]\nname = \"middle\"\nshape = { kind = \"ball\", radius = 0.01 }\nposition = [0, 0, 0.08]\nforce = [0, 0, -0.5]\n\
    [[bodies]]\nname = \"end\"\nshape = { kind = \"ball\", radius = 0.01 }\nposition = [0, 0, 0.06]\n\
    impulses = [{ time = \"20 ms\", linear = [0, 0, -0.05] }, { time = \"60 ms\", linear = [0, 0, -0.05] }]\n";

#[test]
fn each_bond_that_breaks_is_an_event_of_its_time_and_place() {
    let directory = tempfile::tempdir().unwrap();
    let scene = written(directory.path(), CHAIN);
    let [whole, parts] = ["whole", "parts"].map(|name| directory.path().join(name).to_str().unwrap().to_owned());
    json(&[&scene, "--out", &whole]);
    json(&[&scene, "--out", &parts, "--until", "0.05", "--checkpoint", "every=10ms"]);
    json(&["--resume", &parts, "--until", "0.1"]);
    let text = |folder: &str| std::fs::read_to_string(Path::new(folder).join("breakages.csv")).unwrap();
    assert_eq!(text(&whole), text(&parts), "each event once, also where a run goes on");
    let rows: Vec<Vec<String>> = text(&whole).lines().skip(1).map(|row| row.split(',').map(str::to_owned).collect()).collect();
    let number = |row: usize, k: usize| rows[row][k].parse::<f64>().unwrap();
    assert!(!rows.is_empty() && rows.len() <= 2, "{rows:?}");
    // a neck of 5 mm bears 3.9 N; a blow of 0.05 N s is 60 times that in a step
    assert!((number(0, 9) / (std::f64::consts::PI * 25e-6) - 1.0).abs() < 1e-9, "{rows:?}");
    assert!((number(0, 0) - 0.02).abs() <= 0.5e-3, "{rows:?}");
    let names = |row: usize| rows[row][1..3].to_vec();
    assert!(names(0).contains(&"end".to_owned()) && names(0).contains(&"middle".to_owned()), "{rows:?}");
    assert!((number(0, 5) - 0.07).abs() < 1e-3, "between the two: {rows:?}");
    assert!(number(0, 8).abs() > 0.999 && number(0, 10) > 0.0 && number(0, 12) > 0.0, "{rows:?}");
}

#[test]
fn what_hangs_by_mortar_is_told_to_be_held() {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (folder.path().join("chain.toml"), folder.path().join("out"));
    let mut scene = "[time]\nstep = \"1 ms\"\nend = 0.2\n[contact]\nbond = { tension = 5e4, neck = 0.4, softening = \"brittle\" }\n\
                     [[record]]\nname = \"pull\"\nsignals = [\"b0.contact_z\", \"b1.contact_z\", \"b2.contact_z\", \"support_z\"]\n"
        .to_owned();
    for (k, motion) in ["static", "dynamic", "dynamic"].iter().enumerate() {
        let z = -0.02 * k as f64;
        scene += &format!(
            "[[bodies]]\nname = \"b{k}\"\nmotion = \"{motion}\"\nmass = 0.1\nshape = {{ kind = \"ball\", radius = 0.01 }}\nposition = [0, 0, {z}]\n"
        );
    }
    std::fs::write(&path, scene).unwrap();
    json(&[path.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    let table = std::fs::read_to_string(out.join("pull.csv")).unwrap();
    let last: Vec<f64> = table.lines().last().unwrap().split(',').map(|x| x.parse().unwrap()).collect();
    // the hook bears both balls, each of which weighs 0.981 N
    for (found, expected) in last[1..].iter().zip([-1.962, 0.981, 0.981, -1.962]) {
        assert!((found - expected).abs() < 1e-6, "{last:?}");
    }
}

#[test]
fn bound_bodies_that_turn_too_far_in_a_step_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pair.toml");
    // two balls on a neck go round each other at 20 rad/s; what turns by 0.08 rad in a step loses a fifth of its energy in 0.1 s
    for (step, kept, told) in [("4 ms", 0.7..0.9, true), ("1 ms", 0.998..1.0, false)] {
        let mut scene = format!(
            "gravity = [0, 0, 0]\ntime = {{ step = \"{step}\", end = 0.1 }}\nsolver = {{ tolerance = 1e-8 }}\n\
             [contact]\nbond = {{ tension = 1e6, cohesion = 1e6, softening = \"brittle\", neck = 0.5 }}\n"
        );
        for side in [-1.0, 1.0] {
            scene += &format!(
                "[[bodies]]\nshape = {{ kind = \"ball\", radius = 0.02 }}\nposition = [{}, 0, 0]\nvelocity = [0, {}, 0]\n\
                 angular_velocity = [0, 0, 20]\n",
                0.02 * side,
                0.4 * side
            );
        }
        std::fs::write(&path, scene).unwrap();
        let summary = json(&[path.to_str().unwrap()]);
        let number = |at: &str| summary.pointer(at).and_then(serde_json::Value::as_f64).unwrap();
        let part = number("/energy/kinetic_J") / 7.5064e-3;
        assert!(kept.contains(&part), "{step}: {part}");
        let [stored, loss] = ["stored_J", "loss_J"].map(|key| number(&format!("/bonds/{key}")));
        assert!((number("/energy/bond_work_J") + stored + loss).abs() < 1e-12 && stored > 0.0, "nothing is broken: {stored} J, {loss} J");
        let warnings = summary["warnings"].to_string();
        assert_eq!(warnings.contains("bound turn by up to 0.08 rad"), told, "{step}: {warnings}");
    }
}

#[test]
fn bodies_a_little_too_far_apart_for_their_mortar_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("joint.toml");
    for (z, told) in [(0.05, false), (0.0501, true), (0.06, false)] {
        let mut scene = "[time]\nstep = \"1 ms\"\nend = 0.005\n[contact]\nbond = { tension = 1e6, softening = \"brittle\" }\n".to_owned();
        for (name, motion, x, z) in [("base", "static", 0.0, -0.05), ("one", "dynamic", 0.0, 0.05), ("other", "dynamic", 1.0, z)] {
            let width = if name == "base" { 3.0 } else { 0.2 };
            scene += &format!(
                "[[bodies]]\nname = \"{name}\"\nmotion = \"{motion}\"\nmass = 8\nshape = {{ kind = \"cuboid\", size = [{width}, 0.2, 0.1] }}\nposition = [{x}, 0, {z}]\n"
            );
        }
        std::fs::write(&path, scene).unwrap();
        let warnings = json(&[path.to_str().unwrap()])["warnings"].to_string();
        assert_eq!(warnings.contains("1 of the pairs whose materials bind"), told, "{z}: {warnings}");
        assert!(!told || warnings.contains("base and other with 1.0e-4 m"), "{warnings}");
    }
}

#[test]
fn a_run_leaves_no_table_of_the_run_before_and_touches_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let balls = "time = { step = 1e-3, end = 5e-3 }\n[[generate.pour]]\ncount = 5\nradius = 0.01\nwidth = [0.05, 0.05]\n";
    let tables = "[[measure]]\nrose = {}\npairs = { largest = 0.05 }\n[[measure]]\n[[pile]]\nname = \"heap\"\n[[record]]\nsignals = [\"kinetic\"]\n\
                  [[field]]\nname = \"grid\"\nbox = [[0, 0, 0], [1, 1, 1]]\ncells = [1, 1, 1]\n[[outlet]]\nplane = { point = [0, 0, -1] }\n";
    let run = |text: &str| {
        let scene = written(directory.path(), text);
        json(&[&scene, "--out", out.to_str().unwrap()]);
        let files = std::fs::read_dir(&out).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap());
        let mut files: Vec<String> = files.filter(|name| name.ends_with(".csv")).collect();
        files.sort();
        files
    };
    let ends = ["bodies_end.csv", "bodies_start.csv", "contacts_end.csv"];
    let rest = [
        "flow.csv",
        "grid.csv",
        "heap.csv",
        "measure.csv",
        "measure1.csv",
        "measure_pairs.csv",
        "measure_rose.csv",
        "record0.csv",
        "steps.csv",
    ];
    assert_eq!(run(&format!("{balls}{tables}")), [&ends[..], &rest[..]].concat());
    std::fs::write(out.join("mine.csv"), "time [s]\n").unwrap();
    assert_eq!(run(balls), [&ends[..], &["mine.csv", "steps.csv"]].concat());
}
