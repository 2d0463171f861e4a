//! A block that slides on shaking ground against Newmark's solution, and every form a record may have.

use super::{json, output, text};
use std::path::Path;

const SLIDE: &str = "[contact]\nmu = 0.3\n[[bodies]]\nname = \"floor\"\nshape = { kind = \"half_space\" }\nmotion = \"static\"\n\
    [[bodies]]\nname = \"block\"\nshape = { kind = \"cuboid\", half_extents = [0.5, 0.5, 0.2] }\nposition = [0, 0, 0.2]\n\
    [[record]]\nevery = 1.0\nsignals = [\"block.x\"]\n";

/// Where the block stands against the ground after a second (m).
fn slid(folder: &Path, step: f64, base: &str) -> f64 {
    let (scene, out) = (folder.join("slide.toml"), folder.join("out"));
    std::fs::write(&scene, format!("[time]\nstep = {step}\nend = 1.0\n{SLIDE}[base]\n{base}\n")).unwrap();
    let run = output(&["run", scene.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let table = std::fs::read_to_string(out.join("record0.csv")).unwrap();
    table.lines().last().unwrap().split(',').nth(1).unwrap().parse().unwrap()
}

#[test]
fn an_acceleration_in_g_along_the_direction_is_the_vector_in_si() {
    let folder = tempfile::tempdir().unwrap();
    let vector = slid(folder.path(), 0.005, "acceleration = [-3.92266, 0, 0]");
    assert!(vector > 0.1);
    for base in ["acceleration = \"-0.4 g\"", "direction = [-2, 0, 0]\nacceleration = \"0.4 g\"", "acceleration = [\"-0.4 g\", 0, 0]"] {
        assert!((slid(folder.path(), 0.005, base) - vector).abs() < 1e-12, "{base}");
    }
    assert!(refused(folder.path(), "acceleration = \"0.4 kg\"").contains("found a mass"));
}

/// The line of the error that `check` ends with.
fn refused(folder: &Path, base: &str) -> String {
    let scene = folder.join("slide.toml");
    std::fs::write(&scene, format!("[time]\nstep = 0.005\nend = 1.0\n{SLIDE}[base]\n{base}\n")).unwrap();
    let run = output(&["run", scene.to_str().unwrap()]);
    assert_ne!(run.status.code(), Some(0), "{base}");
    text(&run.stderr)
}

/// Gravity of the scenes, and what records in g are multiples of (m/s²).
const GRAVITY: f64 = 9.81;
const G: f64 = 9.806_65;

/// Slide (m) under a square pulse of `a` for `t` s on friction 0.3 (Newmark 1965): v²/2 (1/(a − μ g) + 1/μ g), v = (a − μ g) t.
fn newmark(a: f64, t: f64) -> f64 {
    let brake = 0.3 * GRAVITY;
    let v = (a - brake) * t;
    -0.5 * v * v * (1.0 / (a - brake) + 1.0 / brake)
}

#[test]
fn a_square_pulse_of_half_a_g_slides_a_block_as_newmark_says_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    // constant from 0.1 to 0.4 s; the jumps of the tables take a microsecond
    let (a, e, half) = (0.5 * GRAVITY / G, 1e-6, 0.5 * GRAVITY);
    let corners = [(0.0, 0.0), (0.1 - e, 0.0), (0.1, a), (0.4, a), (0.4 + e, 0.0), (1.0, 0.0)];
    let table = |between: &str, comma: bool| -> String {
        let number = |x: f64| if comma { x.to_string().replace('.', ",") } else { x.to_string() };
        corners.iter().map(|(t, a)| format!("{}{between}{}\n", number(*t), number(*a))).collect()
    };
    std::fs::write(at.join("comma.csv"), format!("t,a\n{}", table(",", false))).unwrap();
    std::fs::write(at.join("semicolon.csv"), format!("Zeit;Beschl.\n{}", table(";", true))).unwrap();
    std::fs::write(at.join("blanks.txt"), format!("# t a\n{}", table("   ", false))).unwrap();
    let milli: String = corners.iter().map(|(t, a)| format!("{} {}\n", 1e3 * t, a)).collect();
    std::fs::write(at.join("milli.txt"), milli).unwrap();
    let v = half * 0.3;
    std::fs::write(at.join("velocity.csv"), format!("0,0\n0.1,0\n0.4,{v}\n2,{v}\n")).unwrap();
    let square = format!("pulses = [{{ kind = \"square\", acceleration = {}, start = 0.1, duration = 0.3 }}]", half);
    let samples = format!("samples = [[0.1, 0, 0, 0], [0.1, {0}, 0, 0], [0.4, {0}, 0, 0], [0.4, 0, 0, 0]]", half);
    let forms = [
        square.as_str(),
        &samples,
        "file = \"comma.csv\"\nunit = \"g\"",
        "file = \"semicolon.csv\"\nunit = \"g\"",
        "file = \"blanks.txt\"\nunit = \"g\"",
        "file = \"milli.txt\"\nunit = \"g\"\ntime_unit = \"ms\"",
        "file = \"blanks.txt\"\nunit = \"cm/s2\"\nscale = 980.665",
        "file = \"velocity.csv\"\nquantity = \"velocity\"",
        "components = [{ file = \"comma.csv\", unit = \"g\", direction = [1, 0, 0], scale = 0.5 }, \
         { file = \"velocity.csv\", quantity = \"velocity\", direction = [1, 0, 0], scale = 0.5 }]",
    ];
    let exact = newmark(half, 0.3);
    for (i, form) in forms.iter().enumerate() {
        let slid = slid(at, 5e-3, form);
        // a microsecond of delay is the delay of v: a part of 7e-6 where both edges have it is none
        assert!((slid / exact - 1.0).abs() < if i < 2 || i == 7 { 1e-6 } else { 2e-5 }, "{form}: {slid} {exact}");
    }
    // with edges between steps friction meets the mean of a step: first order in h
    for (h, bound) in [(1e-3, 1e-6), (4e-3, 1e-6), (5e-4, 1e-6), (7e-3, 3e-2), (7e-4, 3e-3), (7e-5, 3e-4)] {
        let slid = slid(at, h, &square);
        assert!((slid / exact - 1.0).abs() < bound, "{h}: {slid} {exact}");
    }
}

#[test]
fn a_half_sine_slides_a_block_to_the_closed_solution_as_the_step_goes_to_zero() {
    // a sin(π s) slides from sin θ₁ = μg/a on, and until the velocity is used up
    let (a, t, gravity) = (6.0_f64, 0.4_f64, 9.81_f64);
    let limit = 0.3 * gravity;
    let w = std::f64::consts::PI / t;
    let from = (limit / a).asin() / w;
    let speed = |at: f64| a / w * ((w * from).cos() - (w * at).cos()) - limit * (at - from);
    // after the pulse: constant deceleration from its end
    let end = speed(t);
    assert!(end > 0.0);
    let way = a / w * ((w * from).cos() * (t - from) - ((w * t).sin() - (w * from).sin()) / w) - 0.5 * limit * (t - from).powi(2);
    let exact = -(way + 0.5 * end * end / limit);
    let folder = tempfile::tempdir().unwrap();
    let base = format!("pulses = [{{ kind = \"half_sine\", acceleration = [{a}, 0, 0], duration = {t}, start = 0.05 }}]");
    let errors = [8e-3, 4e-3, 2e-3, 1e-3].map(|h| (slid(folder.path(), h, &base) / exact - 1.0).abs());
    assert!(errors[0] < 2e-3 && errors[3] < 1e-4, "{errors:?}");
    assert!(errors[3] < 0.25 * errors[0], "at least of first order: {errors:?}");
}

/// A record of PEER with so many values as it has, and says to have.
fn at2(says: usize, has: usize) -> String {
    let head = "PEER STRONG MOTION DATABASE RECORD\nSOMEWHERE 01/01/00, STATION, 090\nACCELERATION TIME HISTORY IN UNITS OF G\n";
    let value = |i: usize| if (20..80).contains(&i) { ".5000000E+00" } else { ".0000000E+00" };
    let lines: Vec<String> =
        (0..has).collect::<Vec<_>>().chunks(5).map(|five| five.iter().map(|i| format!("  {}", value(*i))).collect()).collect();
    format!("{head}NPTS=  {says}, DT=   .0050 SEC\n{}\n", lines.join("\n"))
}

#[test]
fn a_record_of_peer_is_read_with_its_own_units_and_interval() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.at2"), at2(200, 200)).unwrap();
    let found = slid(folder.path(), 5e-3, "file = \"a.at2\"");
    // Newmark's equation by small steps, for the ramps of one interval at both ends
    let ground = |t: f64| 0.5 * G * ((t - 0.095) / 0.005).min((0.4 - t) / 0.005).clamp(0.0, 1.0);
    let (mut v, mut exact, dt) = (0.0, 0.0, 1e-6);
    for i in 0..1_000_000 {
        let next = f64::max(0.0, v + dt * (ground((f64::from(i) + 0.5) * dt) - 0.3 * GRAVITY));
        exact -= 0.5 * dt * (v + next);
        v = next;
    }
    assert!((found / exact - 1.0).abs() < 2e-2, "{found} {exact}");
    let finer = slid(folder.path(), 2.5e-4, "file = \"a.at2\"");
    assert!((finer / exact - 1.0).abs() < 1e-3, "{finer} {exact}");
    // the old form of the header, and the record as a table of one column
    std::fs::write(folder.path().join("b.at2"), at2(200, 200).replace("NPTS=  200, DT=   .0050 SEC", "  200   .0050   NPTS, DT")).unwrap();
    assert_eq!(slid(folder.path(), 5e-3, "file = \"b.at2\""), found);
    let column: String = (0..200).map(|i| if (20..80).contains(&i) { "0.5\n" } else { "0\n" }).collect();
    std::fs::write(folder.path().join("c.txt"), column).unwrap();
    let column = slid(folder.path(), 5e-3, "file = \"c.txt\"\nunit = \"g\"\ninterval = \"5 ms\"");
    assert!((column - found).abs() < 1e-12, "{column} {found}");
}

#[test]
fn records_that_cannot_be_meant_are_named_by_file_and_line_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let table = |skip: usize, unit: f64| -> String {
        (0..100).filter(|i| !(40..40 + skip).contains(i)).map(|i| format!("{},{}\n", unit * 0.01 * f64::from(i as i32), i % 3)).collect()
    };
    write("gap.csv", &table(7, 1.0));
    write("ms.csv", &table(0, 1000.0));
    write("back.csv", "0,0\n0.1,1\n0.05,2\n");
    write("words.csv", "t,a\n0,0\n0.1,one\n");
    write("columns.csv", "0,0\n0.1,1,2,3\n");
    write("g.csv", "from the shaker\nTime (ms),a [g]\n0,0\n100,1\n");
    write("turned.csv", "t;a_y;a_x;a_z\n0;0;0;0\n0,1;1;0;0\n");
    write("last.csv", "a,t\n0,0\n0.1,1\n");
    write("short.at2", &at2(200, 180));
    write("dt.at2", &at2(200, 200).replace(".0050", "5.0"));
    write("one.csv", "0,1\n");
    let cases = [
        ("gap.csv", "", &["gap.csv, line 41: found a gap from 0.39 s to 0.47", "about 7 samples", "gaps = \"interpolate\""][..]),
        ("ms.csv", "", &["ms.csv, line 2: found 100 samples 10 s apart", "time_unit = \"ms\""]),
        ("back.csv", "", &["back.csv, line 3: found the time 0.05 s after 0.1 s", "times rising"]),
        ("words.csv", "", &["words.csv, line 3: found `0.1,one`"]),
        ("columns.csv", "", &["columns.csv, line 2: found 3 values, line 1 has 1"]),
        ("g.csv", "time_unit = \"ms\"", &["g.csv, line 2: found the head `a [g]`", "unit = \"g\", or unit = \"m/s2\""]),
        ("g.csv", "unit = \"g\"", &["found the head `Time (ms)`", "time_unit = \"ms\", or time_unit = \"s\""]),
        ("turned.csv", "", &["turned.csv, line 1: found the columns `t, a_y, a_x, a_z` in this order", "time, x, y, z"]),
        ("last.csv", "", &["last.csv, line 1: found the columns `a, t` in this order"]),
        ("short.at2", "", &["short.at2, line 40: the values end after 180 of them, line 4 says NPTS = 200"]),
        ("dt.at2", "", &["dt.at2, line 4: found NPTS = 200, DT = 5 s"]),
        ("one.csv", "", &["one.csv has a single sample"]),
        ("none.csv", "", &["none.csv cannot be read"]),
        ("short.at2", "quantity = \"velocity\"", &["line 40"]),
        ("back.csv", "unit = \"m\"", &["base.unit", "m/s2"]),
        ("back.csv", "samples = [[0, 1, 0, 0]]", &["exactly one of"]),
    ];
    for (file, more, wanted) in cases {
        let said = refused(folder.path(), &format!("file = \"{file}\"\n{more}"));
        assert!(wanted.iter().all(|w| said.contains(w)), "{file}: {said}");
    }
    // what is meant after all is said so
    let fine = |base: &str| slid(folder.path(), 5e-3, base);
    fine("file = \"gap.csv\"\ngaps = \"interpolate\"");
    fine("file = \"ms.csv\"\ntime_unit = \"s\"");
}

#[test]
fn what_a_record_leaves_the_ground_with_is_told_and_taken_off() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..200).map(|i| format!("{} {}\n", 0.005 * f64::from(i), (0.3 * f64::from(i)).sin() + 0.2)).collect();
    std::fs::write(folder.path().join("a.txt"), rows).unwrap();
    let scene = folder.path().join("s.toml");
    let check = |more: &str| {
        std::fs::write(&scene, format!("[time]\nstep = 0.005\nend = 1.0\n{SLIDE}[base]\nfile = \"a.txt\"\n{more}\n")).unwrap();
        text(&output(&["check", scene.to_str().unwrap()]).stdout)
    };
    let said = check("");
    assert!(said.contains("leaves the ground at 2.3") && said.contains("baseline = \"constant\""), "{said}");
    assert!(!check("baseline = \"linear\"").contains("leaves the ground"));
    assert!(!check("baseline = \"constant\"").contains("leaves the ground"));
}

/// Gravity that is turned by a motion of the ground, straight in time from upright to 30 degrees: tan = 4.905 s/(9.81 − 1.314 s), s = t/3 s.
#[test]
fn a_block_slides_where_gravity_that_leans_reaches_its_angle() {
    let scene = "[time]\nstep = \"1 ms\"\nend = 1.8\n[contact]\nmu = 0.3\n[base]\nsamples = [[0, 0, 0, 0], [3, -4.905, 0, -1.314]]\n\
        [[bodies]]\nname = \"floor\"\nshape = { kind = \"half_space\" }\nmotion = \"static\"\n\
        [[bodies]]\nname = \"box\"\nshape = { kind = \"cuboid\", size = [0.2, 0.2, 0.1] }\nposition = [0, 0, 0.05]\n\
        [[record]]\nname = \"box\"\nsignals = [\"box.vx\"]\n";
    let directory = tempfile::tempdir().unwrap();
    let (path, out) = (directory.path().join("lean.toml"), directory.path().join("out"));
    std::fs::write(&path, scene).unwrap();
    json(&[path.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    let table = drystone::io::table::read_table(&out.join("box.csv")).unwrap();
    let begins = table.rows.iter().find(|row| row[1].abs() > 1e-5).unwrap()[0];
    let exact = 3.0 * 0.3 * 9.81 / (4.905 + 0.3 * 1.314);
    assert!((begins - exact).abs() < 4e-3, "{begins} {exact}");
    assert!(table.rows.iter().filter(|row| row[0] < exact - 2e-3).all(|row| row[1].abs() < 1e-9));
}
