//! Plots of what a run has left: fields, chains of force, files by their ending.

use super::*;
use drystone::io::field_plots::View;
use drystone::io::run_plots::panels;
use std::fmt::Write as _;
use std::path::Path;

/// A grid of 3 × 2 × 4 cells at two instants: v = t (1 + 10 i + 100 k), not a number where j = 1 and k = 3.
fn field() -> String {
    let mut table = "time [s],x [m],y [m],z [m],density [kg/m3],velocity_x [m/s]\n".to_owned();
    for t in [1.0, 2.0] {
        for (k, j, i) in (0..4).flat_map(|k| (0..2).flat_map(move |j| (0..3).map(move |i| (k, j, i)))) {
            let v = if j == 1 && k == 3 { f64::NAN } else { t * f64::from(1 + 10 * i + 100 * k) };
            let [x, y, z] = [i, j, k].map(|n| 0.5 + f64::from(n));
            writeln!(table, "{t},{x},{y},{z},2,{v}").unwrap();
        }
    }
    table
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, text)| std::fs::write(directory.path().join(name), text).unwrap());
    directory
}

fn draw(directory: &Path, what: &str, view: &View) -> Result<Vec<drystone::io::chart::Panel>, String> {
    panels(directory, &[what.to_owned()], view).map_err(|e| e.to_string())
}

#[test]
fn a_field_is_a_map_of_its_plane_or_a_profile_of_its_means() {
    let directory = folder(&[("bed.csv", &field())]);
    let draw = |view: &View| draw(directory.path(), "bed.velocity_x", view).unwrap();
    // y has the fewest cells: the map is of x and z
    let found = draw(&View::default());
    let map = found[0].map.as_ref().unwrap();
    assert_eq!((found.len(), map.x, map.y, map.columns, map.name.as_str()), (1, [0.0, 3.0], [0.0, 4.0], 3, "velocity_x (m/s)"));
    assert_eq!(map.values[..4], [2.0, 22.0, 42.0, 202.0]);
    assert_eq!(map.values[11], 2.0 * 321.0, "the mean of what is a number");
    assert_eq!((found[0].x.as_str(), found[0].y.as_str()), ("x (m)", "z (m)"));
    // two instants are two maps, and two lines of a profile; heights stand upright
    assert_eq!(draw(&View { at: vec![0.9, 2.2], ..View::default() }).len(), 2);
    let found = draw(&View { at: vec![1.0, 2.0], along: Some(2), ..View::default() });
    let line = |k: usize| found[0].lines[k].points.clone();
    assert_eq!((found[0].lines.len(), found[0].y.as_str()), (2, "z (m)"));
    assert_eq!(line(0), [(11.0, 0.5), (111.0, 1.5), (211.0, 2.5), (311.0, 3.5)]);
    let mean = draw(&View { from: Some(0.5), along: Some(0), ..View::default() });
    assert_eq!(mean[0].lines[0].points[0].0, 0.5);
    assert_eq!(mean[0].lines[0].points[1].1 - mean[0].lines[0].points[0].1, 15.0);
}

#[test]
fn pair_correlations_are_drawn_against_the_distance() {
    let table = "time [s],distance [m],pair_correlation\n1,0.5,0\n1,1.5,3\n2,0.5,1\n2,1.5,2\n";
    let directory = folder(&[("gas_pairs.csv", table)]);
    let found = draw(directory.path(), "gas_pairs", &View::default()).unwrap();
    assert_eq!((found.len(), found[0].x.as_str(), found[0].y.as_str()), (1, "distance (m)", "pair_correlation"));
    assert_eq!(found[0].lines[0].points, [(0.5, 1.0), (1.5, 2.0)]);
    let mean = draw(directory.path(), "gas_pairs.pair_correlation", &View { from: Some(0.0), ..View::default() }).unwrap();
    assert_eq!(mean[0].lines[0].points, [(0.5, 0.5), (1.5, 2.5)]);
    // both columns of what has but one axis
    let roses = folder(&[("m_rose.csv", "time [s],angle [deg],by_number,by_force\n0,0,1,2\n0,90,3,4\n")]);
    assert_eq!(draw(roses.path(), "m_rose", &View::default()).unwrap().len(), 2);
    let other = draw(directory.path(), "gas_pairs", &View { along: Some(2), ..View::default() }).unwrap_err();
    assert!(other.contains("one axis, distance"), "{other}");
}

#[test]
fn what_a_field_cannot_show_is_said() {
    let directory = folder(&[("bed.csv", &field()), ("cut.csv", field().rsplit_once("2,0.5").unwrap().0)]);
    let draw = |what: &str, view: &View| draw(directory.path(), what, view).unwrap_err();
    let late = draw("bed.density", &View { from: Some(3.0), ..View::default() });
    assert!(late.contains("no instant from 3 s on; the last is 2 s"), "{late}");
    let bare = draw("bed", &View::default());
    assert!(bare.contains("bed.COLUMN") && bare.contains("velocity_x"), "{bare}");
    assert!(draw("bed.speed", &View::default()).contains("found no column \"speed\""));
    assert!(draw("cut.density", &View::default()).contains("cut.csv"));
}

#[test]
fn balls_in_a_periodic_cell_are_as_large_as_they_are_wherever_they_have_gone() {
    // b has gone ten times round its cell
    let bodies = "name,shape,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz,mass,radius,id\n\
                  a,ball,0,0,1,1,0,0,0,0,0,0,0,0,0,1,1,0\nb,ball,40,0,3,1,0,0,0,0,0,0,0,0,0,1,1,1\n";
    let contacts = "body1,body2,x [m],y [m],z [m],normal_x,normal_y,normal_z,normal_force [N]\nb,a,0,0,2,0,0,1,10\n";
    let directory = folder(&[("bodies_end.csv", bodies), ("contacts_end.csv", contacts)]);
    let found = &draw(directory.path(), "chains", &View::default()).unwrap()[0];
    let discs: Vec<_> = found.discs.iter().map(|d| (d.x, d.y, d.radius)).collect();
    assert_eq!(discs, [(0.0, 1.0, 1.0), (0.0, 3.0, 1.0)]);
}

#[test]
fn chains_are_lines_from_centre_to_centre_as_wide_as_the_force() {
    let bodies = "name,shape,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz,mass,radius,id\nfloor,half-space,0,0,0,1,0,0,0,0,0,0,0,0,0,0,0,0\n\
                  a,ball,0,0,1,1,0,0,0,0,0,0,0,0,0,1,1,1\nb,ball,0,0,3,1,0,0,0,0,0,0,0,0,0,1,1,2\nc,ball,40,0,3,1,0,0,0,0,0,0,0,0,0,1,1,3\n";
    let head = "body1,body2,x [m],y [m],z [m],normal_x,normal_y,normal_z,normal_force [N]\n";
    // the last one through the face of a periodic cell: c touches b from its other side
    let contacts = format!("{head}a,floor,0,0,0,0,0,1,20\nb,a,0,0,2,0,0,1,10\nb,c,-1,0,3,1,0,0,5\nb,c,9,0,9,1,0,0,0\n");
    let directory = folder(&[("bodies_end.csv", bodies), ("contacts_end.csv", &contacts)]);
    let found = &draw(directory.path(), "chains", &View::default()).unwrap()[0];
    assert!(found.title.contains("is 20 N"), "{}", found.title);
    for (power, force, mean) in [("e-9", "is 2.00e-8 N", "force 1.17e-8 N"), ("e12", "is 2.00e13 N", "force 1.17e13 N")] {
        let scaled = ["20", "10", "5"].iter().fold(contacts.clone(), |text, n| text.replace(&format!(",{n}\n"), &format!(",{n}{power}\n")));
        let directory = folder(&[("bodies_end.csv", bodies), ("contacts_end.csv", &scaled)]);
        let title = |what: &str| draw(directory.path(), what, &View::default()).unwrap()[0].title.clone();
        assert!(title("chains").contains(force) && title("forces").contains(mean), "{} {}", title("chains"), title("forces"));
    }
    let strokes: Vec<_> = found.strokes.iter().map(|s| (s.ends, s.width)).collect();
    let expected = [
        ([(-1.0, 3.0), (0.0, 3.0)], 3),
        ([(-1.0, 3.0), (-2.0, 3.0)], 3),
        ([(0.0, 2.0), (0.0, 3.0)], 6),
        ([(0.0, 2.0), (0.0, 1.0)], 6),
        ([(0.0, 0.0), (0.0, 1.0)], 11),
    ];
    assert_eq!(strokes, expected);
    assert_eq!(found.discs.len(), 3);
    let none = draw(directory.path(), "chains", &View { slice: Some((1, [5.0, 6.0])), ..View::default() }).unwrap_err();
    assert!(none.contains("where 5 <= y <= 6"), "{none}");
}

#[test]
fn plots_are_svg_or_png_as_their_names_end() {
    let directory = folder(&[("bed.csv", &field()), ("drop.csv", "time [s],z [m]\n0,1\n1,0.5\n2,0.2\n")]);
    let path = directory.path().to_str().unwrap();
    let file = |name: &str| directory.path().join(name);
    let plot = |what: &[&str], name: &str| {
        let out = file(name).to_str().unwrap().to_owned();
        output(&[&["plot", path], what, &["--out", &out]].concat())
    };
    for (what, name) in [(&["drop"][..], "d.png"), (&["bed.velocity_x"], "m.png"), (&["bed.velocity_x", "--at", "1,2"], "m.svg")] {
        let run = plot(what, name);
        assert_eq!(run.status.code(), Some(0), "{name}: {}", text(&run.stderr));
    }
    let bytes = std::fs::read(file("d.png")).unwrap();
    assert_eq!(bytes[..8], *b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!((number(16), number(20)), (2000, 2 * 364));
    assert!(std::fs::read_to_string(file("m.svg")).unwrap().contains("velocity_x (m/s)"));
    let run = plot(&["drop"], "d.jpg");
    assert!(run.status.code() == Some(2) && text(&run.stderr).contains("SVG or PNG"), "{}", text(&run.stderr));
    let run = output(&["plot", "no_such_run", "energy"]);
    assert!(
        run.status.code() == Some(3) && text(&run.stderr).contains("no_such_run: there is no such folder; name one"),
        "{}",
        text(&run.stderr)
    );
    let run = plot(&["chains", "--slice", "y=3..1"], "c.svg");
    assert!(run.status.code() == Some(2) && text(&run.stderr).contains("rising"), "{}", text(&run.stderr));
}

#[test]
fn pictures_have_a_bar_where_colours_stand_for_numbers() {
    let directory = tempfile::tempdir().unwrap();
    let picture = |colour: &str| {
        let out = directory.path().join(format!("{colour}.png")).to_str().unwrap().to_owned();
        let run = output(&["picture", "bead_stack", "--at", "0.02", "--size", "640x480", "--colour", colour, "--out", &out]);
        assert_eq!(run.status.code(), Some(0), "{colour}: {}", text(&run.stderr));
        std::fs::read(out).unwrap()
    };
    let all = ["material", "speed", "stress", "coordination"].map(picture);
    for (k, one) in all.iter().enumerate() {
        assert!(all[k + 1..].iter().all(|other| one != other));
    }
}

#[test]
fn stress_and_neighbours_of_a_ball_on_the_ground_are_those_of_its_weight() {
    use drystone::algebra::spatial::Pose;
    use drystone::io::picture::ColourBy;
    use drystone::io::snapshot::{BodyView, ContactStatus, ContactView, Snapshot, Surface};
    use glam::DVec3;
    let mut ground = BodyView::new(0, "ground", "half-space", Pose::IDENTITY, Surface::cuboid(DVec3::ONE).into());
    ground.dynamic = false;
    let ball = BodyView::new(4, "ball", "ball", Pose::at(DVec3::Z * 2.0), Surface::ball(2.0, 32).into());
    let contact = ContactView {
        body1: 4,
        body2: 0,
        point1: DVec3::ZERO,
        point2: DVec3::ZERO,
        shift: DVec3::ZERO,
        normal: DVec3::Z,
        gap: 0.0,
        normal_impulse: 0.7,
        friction_impulse: DVec3::ZERO,
        moment_impulse: DVec3::ZERO,
        sliding_speed: 0.0,
        status: ContactStatus::Stick,
    };
    let snapshot = Snapshot { step: 1, time: 0.1, step_size: 0.1, bodies: &[ground, ball], contacts: &[contact, contact] };
    // two points of one pair: 14 N at 2 m from the centre, over three times the volume; one neighbour
    let exact = 14.0 * 2.0 / (4.0 * std::f64::consts::PI * 8.0);
    let found = ColourBy::Stress { top: 1.0 };
    assert!((found.largest(&snapshot) / exact - 1.0).abs() < 1e-12, "{}", found.largest(&snapshot));
    // of a hundred balls the two that bear most do not make the scale
    let balls: Vec<BodyView> =
        (0..100).map(|k| BodyView::new(k, "ball", "ball", Pose::at(DVec3::Z * 2.0), Surface::ball(2.0, 32).into())).collect();
    let press = |k: u32| ContactView { body1: k, body2: 500, normal_impulse: 0.1 * f64::from(k + 1).powi(4), ..contact };
    let contacts: Vec<ContactView> = (0..100).map(press).collect();
    let pile = Snapshot { bodies: &balls, contacts: &contacts, ..snapshot };
    let ratio = found.largest(&pile) / exact * 14.0;
    assert!((ratio / 98f64.powi(4) - 1.0).abs() < 1e-12, "{ratio}");
    // contacts are those of the start of the step
    let (ground, ball) = (&snapshot.bodies[0], &snapshot.bodies[1]);
    let gone = BodyView { pose: Pose::at(DVec3::new(5.0, 0.0, 3.0)), way: DVec3::new(5.0, 0.0, 1.0), ..ball.clone() };
    let later = Snapshot { bodies: &[ground.clone(), gone], ..snapshot };
    assert!((found.largest(&later) / exact - 1.0).abs() < 1e-12);
    assert_eq!(ColourBy::Coordination { top: 1.0 }.figures(&snapshot), Some(vec![1.0, 1.0]));
    assert_eq!(found.up_to(5.0).scale(), Some(("stress (Pa)", 5.0)));
}

/// Steps without contacts have no residual, and so no point on a logarithmic axis; the axis of time is that of the run all the same.
#[test]
fn the_axis_of_time_goes_on_where_residuals_are_zero() {
    let rows: String = (10..=20).map(|t| format!("{t},{}\n", if t == 15 { "1e-8" } else { "0" })).collect();
    let directory = folder(&[("steps.csv", &format!("time,e_s\n{rows}"))]);
    let panels = draw(directory.path(), "residual", &View::default()).unwrap();
    let path = directory.path().join("r.svg");
    drystone::io::chart::write_chart(&path, "r", &panels).unwrap();
    let svg = std::fs::read_to_string(&path).unwrap();
    let labelled = |x: &str| svg.lines().any(|line| line.trim() == x);
    assert!(labelled("10") && labelled("20") && !labelled("8") && !labelled("22"));
}

#[test]
fn an_unknown_table_names_the_one_that_is_meant() {
    let directory = folder(&[("flow.csv", "time [s],drain.mass [kg]\n0,0\n1,2\n"), ("steps.csv", "time,e_s\n0,0\n")]);
    let wrong = |what: &str| draw(directory.path(), what, &View::default()).unwrap_err();
    for (what, cure) in [("flaw", "did you mean `flow`"), ("floww.mass", "did you mean `flow`"), ("energi", "did you mean `energy`")] {
        assert!(wrong(what).contains(cure), "{what}: {}", wrong(what));
    }
    let listed = wrong("xyzzy");
    assert!(
        listed.contains("no table \"xyzzy\"") && listed.contains("chains, flow, steps") && !listed.contains("did you mean"),
        "{listed}"
    );
    assert!(wrong("flow.drain").contains("did you mean `drain.mass`"), "{}", wrong("flow.drain"));
    // of a long name the end is enough, as tables of a sweep have what a run has behind `measures.`
    let directory = folder(&[("results.csv", "mu,energy.scale,measures.m.coordination\n0,0,0\n1,2,3\n")]);
    let wrong = |what: &str| drystone::io::run_plots::sweep_panels(directory.path(), &[what.to_owned()], None).unwrap_err().to_string();
    for what in ["m.coordination", "m.coord"] {
        assert!(wrong(what).contains("did you mean `measures.m.coordination`"), "{what}: {}", wrong(what));
    }
}

/// To ask what there is, is no mistake; what is not drawn by this is said where it would be looked for.
#[test]
fn what_can_be_drawn_is_listed_where_nothing_is_named() {
    let ends = ("bodies_end.csv", "name,x [m],y [m]\na,0,0\nb,1,1\n");
    let many: String = (0..30).map(|k| format!(",column_{k} [m]")).collect();
    let numbers = ",0".repeat(30);
    let directory =
        folder(&[("flow.csv", "time [s],drain.mass [kg]\n0,0\n"), ("wide.csv", &format!("time [s]{many}\n0{numbers}\n")), ends]);
    let listed = output(&["plot", directory.path().to_str().unwrap()]);
    let said = text(&listed.stdout);
    assert!(listed.status.code() == Some(0) && listed.stderr.is_empty(), "{}", text(&listed.stderr));
    for there in [
        "energy, residual, forces, rose, chains\n",
        "  flow              time, drain.mass\n",
        "column_29\n",
        "has no times:\n  bodies_end        name, x, y\n",
    ] {
        assert!(said.contains(there), "{there}: {said}");
    }
    assert!(said.lines().skip(1).all(|line| line.chars().count() <= 80), "{said}");
    let sweep = folder(&[("results.csv", "mu,displacement_max_m\n0.1,2\n")]);
    let listed = output(&["plot", sweep.path().to_str().unwrap()]);
    assert!(listed.status.code() == Some(0) && text(&listed.stdout).contains("mu, displacement_max_m"), "{}", text(&listed.stdout));
    // what is listed can be drawn
    let drawn = |arguments: &[&str]| {
        let out = directory.path().join("p.svg");
        output(&[&["plot", directory.path().to_str().unwrap(), "--out", out.to_str().unwrap()], arguments].concat())
    };
    let timeless = drawn(&["bodies_end.x"]);
    assert!(
        timeless.status.code() == Some(3) && text(&timeless.stderr).contains("it has no times\n  name a column with --x"),
        "{}",
        text(&timeless.stderr)
    );
    assert_eq!(drawn(&["bodies_end.x", "--x", "y"]).status.code(), Some(0));
    // a folder without tables has nothing to list
    let empty = folder(&[]);
    let nothing = output(&["plot", empty.path().to_str().unwrap()]);
    assert!(nothing.status.code() == Some(2) && text(&nothing.stderr).contains("holds no tables"), "{}", text(&nothing.stderr));
}

/// Forces, roses and chains of an instant come from its frames: at the end of a run they are those of its tables.
#[test]
fn forces_roses_and_chains_of_an_instant_are_those_of_its_frames() {
    let scene = "time = { step = \"2 ms\", end = 0.2 }\n[solver]\ntolerance = 1e-3\n[output]\nbranches = true\ncontacts = [\"normal_force\", \"normal\"]\n\
        [[generate.pour]]\ncount = 40\nradius = [0.008, 0.01]\nwidth = [0.05, 0.05]\n[[recorders]]\nwhat = \"bodies\"\nevery = 0.05\n";
    let directory = tempfile::tempdir().unwrap();
    let (path, out) = (directory.path().join("pour.toml"), directory.path().join("out"));
    std::fs::write(&path, scene).unwrap();
    json(&[path.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    let at = |t: f64| View { at: vec![t], ..View::default() };
    let same = |a: f64, b: f64| (a - b).abs() <= 1e-5 * (1.0 + a.abs());
    for what in ["forces", "rose"] {
        let [end, now] = [View::default(), at(0.21)].map(|view| draw(&out, what, &view).unwrap().remove(0));
        assert_eq!(end.lines.len(), now.lines.len());
        for (a, b) in end.lines.iter().zip(&now.lines) {
            assert!(
                a.points.len() == b.points.len() && a.points.iter().zip(&b.points).all(|(a, b)| same(a.0, b.0) && same(a.1, b.1)),
                "{what}"
            );
        }
        assert!(now.title.contains("at 0.2 s"), "{}", now.title);
    }
    let slice = Some((1, [-0.01, 0.01]));
    let [end, now] =
        [View { slice, ..View::default() }, View { slice, ..at(0.2) }].map(|view| draw(&out, "chains", &view).unwrap().remove(0));
    assert!(end.strokes.len() > 20 && end.strokes.len() == now.strokes.len(), "{} {}", end.strokes.len(), now.strokes.len());
    assert_eq!(end.discs.len(), now.discs.len());
    let sorted = |panel: &drystone::io::chart::Panel| {
        let mut all: Vec<[f64; 5]> =
            panel.strokes.iter().map(|s| [s.ends[0].0, s.ends[0].1, s.ends[1].0, s.ends[1].1, f64::from(s.width)]).collect();
        all.sort_by(|a, b| a.partial_cmp(b).unwrap());
        all.concat()
    };
    let ways = sorted(&end).into_iter().zip(sorted(&now)).map(|(a, b)| (a - b).abs());
    assert!(ways.fold(0.0, f64::max) < 1e-4, "a hundredth of a ball");
    // another instant, several of them, and what does not go
    assert_ne!(draw(&out, "forces", &at(0.1)).unwrap()[0].lines[0].points, draw(&out, "forces", &at(0.2)).unwrap()[0].lines[0].points);
    assert_eq!(draw(&out, "forces", &View { at: vec![0.15, 0.2], ..View::default() }).unwrap()[0].lines.len(), 2);
    assert_eq!(draw(&out, "rose", &View { at: vec![0.15, 0.2], ..View::default() }).unwrap().len(), 2);
    let late = draw(&out, "forces", &at(99.0)).unwrap_err();
    assert!(late.contains("last instant is 0.2 s, found 99 s"), "{late}");
    let unused = draw(&out, "steps.contacts", &at(0.1)).unwrap_err();
    assert!(unused.contains("--at") && unused.contains("forces"), "{unused}");
    assert!(draw(&out, "forces", &View { slice, ..View::default() }).unwrap_err().contains("--slice"));
    let bare = directory.path().join("bare");
    json(&[
        path.to_str().unwrap(),
        "--set",
        "output.branches=false",
        "--set",
        "output.contacts=[\"normal_force\"]",
        "--out",
        bare.to_str().unwrap(),
    ]);
    let missing = |what: &str| draw(&bare, what, &at(0.2)).unwrap_err();
    assert!(missing("chains").contains("branches = true"), "{}", missing("chains"));
    assert!(missing("rose").contains("no array normal"), "{}", missing("rose"));
}

#[test]
fn legend_and_bar_fit_small_pictures() {
    let directory = tempfile::tempdir().unwrap();
    let picture = |size: &str, more: &[&str]| {
        let out = directory.path().join("p.png").to_str().unwrap().to_owned();
        let run = output(&[&["picture", "bead_stack", "--at", "0.02", "--size", size, "--out", &out], more].concat());
        assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
        std::fs::read(out).unwrap()
    };
    // there is a legend below 752 pixels, the first width that had the room for letters of two pixels a unit
    assert_ne!(picture("640x400", &["--forces"]), picture("640x400", &["--forces", "--plain"]));
    assert_ne!(picture("640x400", &[]), picture("640x400", &["--plain"]));
}

#[test]
fn every_energy_that_is_not_zero_is_drawn() {
    let dir = tempfile::tempdir().unwrap();
    let (scene, out) = (dir.path().join("roll.toml"), dir.path().join("out"));
    let text = "[time]\nstep = 1e-3\nend = 0.05\n[contact]\nmu_r = 0.05\nadhesion = 0.5\n[[bodies]]\nshape = { kind = \"half_space\" }\nmotion = \"static\"\n\
                [[bodies]]\nname = \"a\"\nshape = { kind = \"ball\", radius = 0.01 }\nposition = [0, 0, 0.01]\nvelocity = [0.6, 0, 0]\nangular_velocity = [0, 60, 0]\n";
    std::fs::write(&scene, text).unwrap();
    json(&[scene.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    let found = draw(&out, "energy", &View::default()).unwrap();
    let names: Vec<&str> = found[0].lines.iter().map(|line| line.name.as_str()).collect();
    assert!(names.contains(&"kinetic") && names.contains(&"potential") && names.contains(&"rolling_work"), "{names:?}");
    assert!(!names.contains(&"joint_work") && !names.contains(&"crushing_work"), "{names:?}");
    let history = std::fs::read_to_string(out.join("history.svg")).unwrap();
    assert!(history.contains("work against rolling") && !history.contains("work of mortar"));
}
