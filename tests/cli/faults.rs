//! What is wrong in a call or a scene, and what would do.

use super::*;

#[test]
fn wrong_calls_are_usage_errors() {
    let calls: &[&[&str]] = &[
        &[],
        &["walk"],
        &["run"],
        &["run", "arch", "--until", "-1"],
        &["run", "arch", "--until", "nan"],
        &["run", "arch", "--step", "0"],
        &["run", "arch", "--step", "1e-300"],
        &["run", "arch", "--tol", "soft"],
        &["run", "arch", "--tol", "2"],
        &["solve", "x.json", "--tol", "2"],
        &["run", "arch", "--threads", "0"],
        &["run", "arch", "--set", "thickness_ratio"],
        &["run", "arch", "--checkpoint", "every=10"],
        &["run", "arch", "--checkpoint", "often", "--out", "x"],
        &["run", "--resume", "x", "--set", "a=1"],
        &["picture", "arch"],
        &["picture", "arch", "--out", "x.png", "--size", "0x0"],
    ];
    for call in calls {
        let output = output(call);
        assert_eq!(output.status.code(), Some(2), "{call:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{call:?}");
    }
    assert_eq!(output(&["--help"]).status.code(), Some(0));
    assert_eq!(output(&["--version"]).status.code(), Some(0));
}

#[test]
fn check_tells_faults_by_its_exit_code() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sunk.toml");
    std::fs::write(&path, GOOD.replace("[0, 0, 0.1]", "[0, 0, 0.05]")).unwrap();
    let sunk = output(&["check", path.to_str().unwrap()]);
    assert_eq!(sunk.status.code(), Some(1));
    assert!(text(&sunk.stdout).contains("ball: overlaps floor"), "{}", text(&sunk.stdout));
    assert!(text(&sunk.stdout).lines().next().unwrap().ends_with("sunk.toml:8:1)"), "{}", text(&sunk.stdout));
    assert_eq!(output(&["check", "arch"]).status.code(), Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_standard_output_is_an_error_and_a_closed_pipe_is_not() {
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for call in [
        &["scenes"][..],
        &["solvers"],
        &["check", "arch"],
        &["run", "arch", "--until", "0.01"],
        &["run", "arch", "--until", "0.01", "--json"],
        &["--help"],
    ] {
        let output = drystone(call).stdout(full()).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{call:?}");
        assert!(text(&output.stderr).contains("standard output: cannot be written"), "{call:?}: {}", text(&output.stderr));
    }
    let mut child = drystone(&["scenes"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[cfg(unix)]
#[test]
fn a_device_is_never_replaced_by_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("here.png");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let drawn = output(&["picture", "arch", "--at", "0", "--size", "64x64", "--out", socket.to_str().unwrap()]);
    assert_eq!(drawn.status.code(), Some(3), "{}", text(&drawn.stderr));
    assert!(text(&drawn.stderr).contains("is no file"), "{}", text(&drawn.stderr));
    assert!(!std::fs::symlink_metadata(&socket).unwrap().is_file(), "it is still there");
    assert_eq!(output(&["run", "arch", "--until", "0.01", "--out", socket.to_str().unwrap()]).status.code(), Some(3));
}

#[test]
fn pictures_are_named_png_or_svg() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["x.jpg", "x", "png"] {
        let path = directory.path().join(name);
        let drawn = output(&["picture", "arch", "--at", "0", "--size", "64x64", "--out", path.to_str().unwrap()]);
        assert_eq!(drawn.status.code(), Some(2), "{name}");
        assert!(text(&drawn.stderr).contains("ends in .png or .svg") && !path.exists(), "{}", text(&drawn.stderr));
    }
}

#[test]
fn negative_numbers_are_told_what_would_do() {
    for call in [
        &["run", "arch", "--tol", "-1"][..],
        &["run", "arch", "--step", "-1e-3"],
        &["run", "arch", "--until", "-0.5"],
        &["solve", "x.json", "--tol", "-1"],
        &["solve", "x.json", "--time-limit", "-1"],
        &["solve", "x.json", "--max-iterations", "-1"],
        &["profile", ".", "--tol", "-1", "--out", "o"],
        &["picture", "arch", "--at", "-1", "--out", "o.png"],
    ] {
        let said = output(call);
        assert_eq!(said.status.code(), Some(2), "{call:?}");
        let said = text(&said.stderr);
        let needed = match call {
            _ if call.contains(&"--at") => "of 0 or later",
            _ if call.contains(&"--max-iterations") => "write a whole number",
            _ => "above zero",
        };
        assert!(said.contains(needed) && !said.contains("-- -"), "{call:?}: {said}");
    }
}

#[test]
fn check_names_what_is_wrong_and_what_would_do() {
    for (name, code, found, cure) in [
        ("f4_floating", 0, "hint: s2: starts in the air", "move it onto what is below"),
        ("u_gap", 0, "hint: s: starts 0.002 m above ground", "move it by [0.000000, 0.000000, -0.002000] m"),
        ("u_mm", 0, "hint: s: it is 4.899e2 m large", "if the file is in mm"),
        ("u_base", 1, "fault: scene: the base is accelerated by up to 981 m/s2", "write it in m/s2"),
        ("u_grav", 1, "fault: scene: gravity [0, 0, 9.81] m/s2 takes every body away", "gravity = [0, 0, -9.81]"),
        ("f3_cube_onebad", 1, "fault: rock: triangle 2 of 12", "the vertices of this triangle"),
        ("f3_cube_onebad_static", 1, "fault: rock: triangle 2 of 12", "the vertices of this triangle"),
        ("pair01", 1, "fault: L1: overlaps L0", "move it by"),
        ("contact_locked", 0, "no faults, 0 hints", ""),
        ("joint_locked", 0, "no faults, 0 hints", ""),
        ("hinge", 0, "no faults, 0 hints", ""),
    ] {
        let path = format!("{}/tests/probes/scenes/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let output = output(&["check", &path]);
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{name}: {said}");
        assert!(said.contains(found) && said.contains(cure), "{name}: {said}");
        assert!(said.matches("fault: ").count() + said.matches("hint: ").count() <= 1, "{name}: {said}");
    }
}

#[test]
fn bad_scenes_are_named_and_cured() {
    let directory = tempfile::tempdir().unwrap();
    let nesting = format!("{}deep = {}1{}\n", GOOD, "[".repeat(100_000), "]".repeat(100_000));
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("missing field", GOOD.replace("step = \"2 ms\"\n", "").into(), "step"),
        ("unknown key", GOOD.replace("position", "positon").into(), "did you mean `position`"),
        ("wrong unit", GOOD.replace("2 ms", "2 mm").into(), "expected a time"),
        ("unknown unit", GOOD.replace("2 ms", "2 parsec").into(), "parsec"),
        ("nan", GOOD.replace("[0, 0, 0.1]", "[0, 0, nan]").into(), "nan"),
        ("infinite", GOOD.replace("[0, 0, 0.1]", "[0, 0, inf]").into(), "inf"),
        ("negative step", GOOD.replace("2 ms", "-2 ms").into(), "step"),
        ("zero radius", GOOD.replace("radius = 0.1", "radius = 0").into(), "radius"),
        ("zero mass", format!("{GOOD}mass = 0\n").into(), "mass"),
        ("moving half-space", GOOD.replace("motion = \"static\"\n", "").into(), "half"),
        ("empty mesh", format!("{GOOD}[[bodies]]\nshape = {{ kind = \"mesh\", vertices = [], triangles = [] }}\n").into(), "mesh"),
        ("missing mesh", format!("{GOOD}[[bodies]]\nshape = {{ kind = \"mesh\", file = \"no.stl\" }}\n").into(), "no.stl"),
        (
            "moving mesh",
            format!("{GOOD}[[bodies]]\nshape = {{ kind = \"mesh\", vertices = [[0,0,0],[1,0,0],[0,1,0]], triangles = [[0,1,2]] }}\n")
                .into(),
            "mesh",
        ),
        (
            "moving mesh with a mass",
            format!(
                "{GOOD}[[bodies]]\nshape = {{ kind = \"mesh\", vertices = [[0,0,0],[1,0,0],[0,1,0]], triangles = [[0,1,2]] }}\nposition = [0, 0, 2]\n\
                 mass = 1\ninertia = [1, 1, 1]\ncentre_of_mass = [0, 0, 0]\n"
            )
            .into(),
            "the mesh is not closed",
        ),
        ("same name", GOOD.replace("\"ball\"\n", "\"floor\"\n").into(), "floor"),
        ("unfinished", GOOD[..GOOD.len() - 4].into(), "scene.toml:11:"),
        ("empty", Vec::new(), "time"),
        ("garbage", vec![0xff, 0xfe, 0, 1, 2, 3, 0x80], "UTF-8"),
        (
            "flat hull",
            format!("{GOOD}[[bodies]]\nshape = {{ kind = \"hull\", points = [[0,0,0],[1,0,0],[0,1,0],[1,1,0]] }}\n").into(),
            "scene.toml:12:1: body \"body2\": hull",
        ),
        ("nesting", nesting.into(), ""),
        ("late joint", format!("{GOOD}birth = 0.01\n[[joints]]\nbody1 = \"ball\"\nanchor = [0, 0, 0.1]\n").into(), "birth"),
    ];
    for (name, bytes, message) in cases {
        let path = directory.path().join("scene.toml");
        std::fs::write(&path, bytes).unwrap();
        for command in ["run", "check"] {
            let output = output(&[command, path.to_str().unwrap()]);
            let said = text(&output.stderr) + &text(&output.stdout);
            let fault = command == "check" && output.status.code() == Some(1);
            assert!(output.status.code() == Some(3) || fault, "{name}, {command}: {:?} {said}", output.status);
            assert!(said.to_lowercase().contains(&message.to_lowercase()) || fault, "{name}: {said}");
            assert!(said.len() < 5000, "{name}: {} bytes of message", said.len());
        }
    }
    for scene in ["no/such/file.toml", "arhc", ".", "/"] {
        assert_eq!(output(&["run", scene]).status.code(), Some(3), "{scene}");
    }
    let unknown = output(&["run", "arch", "--set", "thicknes_ratio=0.1"]);
    assert_eq!(unknown.status.code(), Some(3));
    assert!(text(&unknown.stderr).contains("did you mean `thickness_ratio`"), "{}", text(&unknown.stderr));
    let file = directory.path().join("file");
    std::fs::write(&file, "").unwrap();
    let blocked = output(&["run", "arch", "--until", "0.01", "--out", file.to_str().unwrap()]);
    assert_eq!(blocked.status.code(), Some(3), "{}", text(&blocked.stderr));
}

/// What is contradictory, or says nothing, is refused with the place, what was found and what would do.
#[test]
fn what_has_no_effect_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.toml");
    let hinge = "[[joints]]\nname = \"j\"\nkind = \"revolute\"\nbody1 = \"ball\"\nanchor = [0, 0, 0.1]\n";
    let still = |line: &str| GOOD.replace("motion = \"static\"", &format!("motion = \"static\"\n{line}"));
    let tie = "[[interactions]]\nbody1 = \"ball\"\nrelation = \"displacement\"\nanchor = [0, 0, 0]\nat_least = -1\nlaw = \"impact\"\n";
    let both = format!("{hinge}motor = {{ speed = 1, limit = 1 }}\nservo = {{ position = 1, stiffness = 1, limit = 1 }}\n");
    let cases = [
        (still("velocity = [1, 0, 0]"), "bodies.0.velocity", "stands still"),
        (still("force = [1, 0, 0]"), "bodies.0.force", "stands still"),
        (still("locked_translation = [\"x\"]"), "bodies.0.locked_translation", "stands still"),
        (still("impulses = [{ linear = [1, 0, 0] }]"), "bodies.0.impulses", "stands still"),
        (GOOD.replace("\"static\"", "{ kind = \"constant\" }"), "bodies.0.motion", "without velocity"),
        (GOOD.replace("\"floor\"", "\"world\""), "bodies.0.name", "another name"),
        (format!("{GOOD}[[impulses]]\nbody = \"ball\"\n"), "impulses.0", "add linear"),
        (format!("{GOOD}[[impulses]]\nbody = \"floor\"\nlinear = [1, 0, 0]\n"), "impulses.0.body", "no blow can move"),
        (format!("{GOOD}[[support]]\nbodies = [\"floor\"]\n"), "support.0", "add displacement"),
        (format!("{GOOD}{both}"), "joints.0.servo", "one of them"),
        (format!("{GOOD}[solver]\ntolerance = 2\n"), "solver.tolerance", "below 1"),
        // what joints and interactions have of their own is not that of materials
        (format!("{GOOD}{hinge}restitution = 0.5\n"), "joints.0", "give it `limits"),
        (format!("{GOOD}{hinge}e_n = 0.5\n"), "joints.0", "give it `limits"),
        (format!("{GOOD}{hinge}mu = 0.5\n"), "joints.0", "did you mean `friction`"),
        (format!("{GOOD}{}friction = 0.5\n", hinge.replace("revolute", "spherical")), "joints.0", "`bearing = { mu, radius }`"),
        (format!("{GOOD}{}limits = [0, 1]\n", hinge.replace("revolute", "fixed")), "joints.0", "revolute, prismatic and cylindrical"),
        (format!("{GOOD}{tie}restitution = 0.5\n"), "interactions.0", "kind = \"impact\", restitution"),
        (format!("{GOOD}{tie}friction = 0.5\n"), "interactions.0", "kind = \"relay\""),
    ];
    for (scene, place, words) in cases {
        std::fs::write(&path, scene).unwrap();
        let output = output(&["run", path.to_str().unwrap()]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{place}: {said}");
        assert!(said.contains("s.toml:") && said.contains(place) && said.contains(words), "{place}: {said}");
        assert!(!said.contains("[contact]"), "{place}: {said}");
    }
}

/// Whatever reads a scene names its file where a body of it cannot be made.
#[test]
fn a_body_that_cannot_be_made_is_told_with_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flat.toml");
    let flat = "[[bodies]]\nname = \"flat\"\nshape = { kind = \"hull\", points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]] }\n";
    std::fs::write(&path, format!("{GOOD}{flat}")).unwrap();
    let (scene, out) = (path.to_str().unwrap(), folder.path().join("p.png"));
    let out = out.to_str().unwrap();
    let commands: [&[&str]; 3] =
        [&["run", scene], &["picture", scene, "--at", "0", "--out", out], &["film", scene, "--every", "0.01", "--out", out]];
    for command in commands {
        let output = output(command);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{command:?}: {said}");
        assert!(said.contains("flat.toml:12:1: body \"flat\""), "{command:?}: {said}");
    }
}

/// Pictures that no memory would hold, and ranges between what is no number, are wrong usage.
#[test]
fn sizes_and_ranges_beyond_all_measure_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (png, sweep) = (folder.path().join("p.png"), folder.path().join("sweep"));
    let (png, sweep) = (png.to_str().unwrap(), sweep.to_str().unwrap());
    let cases: [(&[&str], &str); 3] = [
        (&["picture", "bouncing_ball", "--at", "0", "--size", "16384x16384", "--out", png], "67 million"),
        (&["sweep", "bouncing_ball", "--set", "restitution=nan..1:3", "--out", sweep], "finite numbers at its ends"),
        (&["sweep", "bouncing_ball", "--set", "restitution=1e400..2:3", "--out", sweep], "finite numbers at its ends"),
    ];
    for (arguments, words) in cases {
        let output = output(arguments);
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(words), "{arguments:?}: {:?} {said}", output.status);
    }
}

/// Hints and faults of `check` on what is easily got wrong, and none on what is right.
#[test]
fn check_knows_ropes_limits_places_and_what_comes_too_late() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.toml");
    let check = |scene: String| {
        std::fs::write(&path, scene).unwrap();
        text(&output(&["check", path.to_str().unwrap()]).stdout)
    };
    let hinge = "[[joints]]\nname = \"j\"\nkind = \"revolute\"\nbody1 = \"ball\"\nanchor = [0, 0, 0.1]\n";
    let rope = "[[joints]]\nname = \"r\"\nkind = \"rope\"\nbody1 = \"ball\"\nanchor = [0, 0, 0.1]\nanchor2 = [0, 0, 1.1]\n";
    let load = "[[load]]\nbodies = [\"ball\"]\nforce = [1, 0, 0]\n";
    let parts = |x: &str| {
        let part = |x: &str| format!("{{ shape = {{ kind = \"cuboid\", size = [0.2, 0.2, 0.2] }}, position = [{x}, 0, 0] }}");
        format!("{{ kind = \"compound\", parts = [{}, {}] }}", part("-0.1"), part(x))
    };
    let cases = [
        (format!("{GOOD}{hinge}limits = [-90, 90]\n"), "-90 deg"),
        (format!("{GOOD}{rope}length = 0.5\n"), "1 m apart"),
        (format!("{GOOD}birth = 3\n"), "appears at 3 s"),
        (format!("{GOOD}impulses = [{{ time = 3, linear = [1, 0, 0] }}]\n"), "struck at 3 s"),
        (format!("{GOOD}{load}start = 3\n"), "load begins at 3 s"),
        (GOOD.replace("[0, 0, 0.1]", "[1e10, 0, 0.1]"), "from the origin"),
        (GOOD.replace("{ kind = \"ball\", radius = 0.1 }", &parts("0.05")), "parts 0 and 1 overlap"),
    ];
    for (scene, words) in cases {
        let said = check(scene);
        assert!(said.contains("hint: ball: ") && said.contains(words), "{words}: {said}");
    }
    let ball = GOOD.split_once("[[bodies]]\nname = \"ball\"").unwrap().1;
    let ball = format!("[time]\nstep = \"2 ms\"\nend = 0.02\n[[bodies]]\nname = \"ball\"{ball}");
    let spring = "[[interactions]]\nbody1 = \"ball\"\nrelation = \"displacement\"\nanchor = [0, 0, 0.1]\n\
                  law = { kind = \"spring\", stiffness = 100, damping = 5 }\n";
    let field = "[[bodies]]\nname = \"field\"\nmotion = \"static\"\nposition = [-1, -1, 0]\n\
                 shape = { kind = \"height_field\", size = [2, 2], samples = [2, 2], heights = [0, 0, 0, 0] }\n";
    let lying = ball.replace("kind = \"ball\", radius = 0.1", "kind = \"capsule\", radius = 0.1, half_height = 0.2")
        + "rotation = { axis = [1, 0, 0], angle = \"90 deg\" }\n";
    for right in [
        GOOD.replace("{ kind = \"ball\", radius = 0.1 }", &parts("0.1")),
        format!("{GOOD}{hinge}limits = [-6, 6]\n"),
        format!("{GOOD}{rope}"),
        format!("{GOOD}{load}ramp = 3\n"),
        format!("{ball}{spring}"),
        format!("{lying}{field}"),
    ] {
        let said = check(right.clone());
        assert!(said.contains("no faults, 0 hints"), "{said}\n{right}");
    }
}

#[test]
fn faults_of_a_scene_are_told_before_its_run() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lid.toml");
    let lid = "[[bodies]]\nname = \"lid\"\nshape = { kind = \"cuboid\", size = [1, 1, 0.1] }\nposition = [3, 0, 1]\nservo = { axis = \"z\", force = -5 }\n";
    std::fs::write(&path, format!("{GOOD}{lid}")).unwrap();
    let name = path.to_str().unwrap();
    let said = "fault: lid: its servo has nothing to press";
    let found = output(&["check", name]);
    assert!(found.status.code() == Some(1) && text(&found.stdout).contains(said), "{}", text(&found.stdout));
    let run = output(&["run", name, "--json"]);
    assert!(text(&run.stderr).contains(said) && json_of(&run, 0)["warnings"][0].as_str().unwrap().contains(said), "{}", text(&run.stderr));
    std::fs::write(&path, GOOD).unwrap();
    assert!(!text(&output(&["run", name, "--json"]).stderr).contains("fault"));
}

#[test]
fn a_cell_that_is_too_small_is_a_fault_beside_another_one_of_the_same_body() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("small.toml");
    let ball = "[[bodies]]\nname = \"b\"\nshape = { kind = \"ball\", radius = 0.1 }\n";
    std::fs::write(&path, format!("[time]\nstep = 1e-3\nend = 0.02\n[periodic]\nx = [0, 0.3]\n{ball}")).unwrap();
    let found = output(&["check", path.to_str().unwrap()]);
    let said = text(&found.stdout);
    assert!(found.status.code() == Some(1) && said.contains("nothing is below it"), "{said}");
    assert!(said.contains("more than half of the periodic cell of 0.3 m along x") && said.contains("small: 2 faults"), "{said}");
    // of what a generator makes the place is that of the generator
    let (cell, made) =
        ("[time]\nstep = 1e-3\nend = 0.02\n[periodic]\nx = [0, 0.3]\n", "radius = 0.1\ncount = [1, 1, 1]\nposition = [0, 0, 1]\n");
    for (head, name) in [("[[generate.lattice]]\n", "lattice"), ("[[generate.lattice]]\nname = \"grain\"\n", "grain")] {
        std::fs::write(&path, format!("{cell}{head}{made}walls = false\n")).unwrap();
        for (command, code) in [("check", 1), ("run", 3)] {
            let found = output(&[command, path.to_str().unwrap()]);
            let said = text(&found.stdout) + &text(&found.stderr);
            assert!(found.status.code() == Some(code) || found.status.code() == Some(3), "{command}: {said}");
            assert!(said.contains(&format!("small.toml:6:1: body \"{name}.0\": it is 0.2 m long")), "{command}: {said}");
            assert!(said.contains("[periodic]"), "{command}: {said}");
        }
    }
    // a fault that is told already is told once
    std::fs::write(
        &path,
        "[time]\nstep = 1e-3\nend = 0.02\n[[bodies]]\nshape = { kind = \"hull\", points = [[0,0,0],[1,0,0],[0,1,0],[1,1,0]] }\n",
    )
    .unwrap();
    let flat = text(&output(&["check", path.to_str().unwrap()]).stdout);
    assert_eq!(flat.matches("span no volume").count(), 1, "{flat}");
    // that of a file names it, once
    std::fs::write(path.with_file_name("flat.obj"), "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n").unwrap();
    std::fs::write(&path, "[time]\nstep = 1e-3\nend = 0.02\n[[bodies]]\nshape = { kind = \"hull\", file = \"flat.obj\" }\n").unwrap();
    let flat = text(&output(&["check", path.to_str().unwrap()]).stderr);
    assert!(flat.contains("flat.obj: 4 points span no volume") && flat.matches("span no volume").count() == 1, "{flat}");
}

#[test]
fn a_measure_that_never_holds_a_grain_is_told_at_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("m.toml");
    let run = |sides: &str| {
        std::fs::write(&path, format!("{GOOD}[[measure]]\nname = \"m\"\nevery = 1\nbox = {sides}\n")).unwrap();
        json(&[path.to_str().unwrap()])["warnings"].to_string()
    };
    assert!(run("[[0.3, -1, 0], [1, 1, 1]]").contains("the box of the measure m has held no grain"));
    assert!(!run("[[-1, -1, 0], [1, 1, 1]]").contains("held no grain"));
}

#[test]
fn numbers_beyond_reason_are_told_with_their_powers_of_ten() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s.toml").to_str().unwrap().to_owned();
    for (old, new, told) in [
        ("step = \"2 ms\"", "step = 1e-300", "found a step of 1e-300 s, which takes more than 1e9 steps to 0.02 s"),
        ("end = 0.02", "end = 1e30", "more than 1e9 steps to 1e+30 s"),
        ("radius = 0.1", "radius = 1e300", "found the number 1e+300, expected a length of at most 1e40 m"),
        ("[0, 0, 0.1]\n", "[0, 0, 0.1]\nvelocity = [0, 0, -1e300]\n", "velocity.2: found the number -1e+300, expected a velocity"),
        ("step = \"2 ms\"", "step = -1e-300", "found the number -1e-300, expected a time greater than 0"),
        ("[0, 0, 0.1]\n", "[0, 0, 0.1]\nmass = \"1e300 kg\"\n", "found the text \"1e300 kg\", expected a mass of at most 1e40 kg"),
    ] {
        std::fs::write(&path, GOOD.replace(old, new)).unwrap();
        let run = output(&["run", &path]);
        assert!(run.status.code() == Some(3) && text(&run.stderr).contains(told), "{told}: {}", text(&run.stderr));
    }
    // the largest numbers are no infinite ones in what follows from them
    std::fs::write(&path, GOOD.replace("radius = 0.1", "radius = 1e40").replace("0, 0.1]", "0, 1e40]")).unwrap();
    let run = output(&["run", &path]);
    let said = text(&run.stdout) + &text(&run.stderr);
    assert!(run.status.code() == Some(0) && !said.contains("inf ") && !said.contains("00000000"), "{said}");
    let run = output(&["run", "arch", "--step", "1e-300"]);
    assert!(text(&run.stderr).contains(" s in steps of 1e-300 s are "), "{}", text(&run.stderr));
}

#[test]
fn what_a_picture_cannot_be_is_told_with_what_it_can() {
    for (option, told) in [
        (["--at", "-1"], "write a finite time of 0 or later"),
        (["--size", "99999x100"], "each from 16 to 16384 pixels"),
        (["--from", "x,1,2,3"], "three numbers, not all zero"),
    ] {
        let run = output(&[&["picture", "arch", "--out", "x.png"][..], &option].concat());
        assert!(run.status.code() == Some(2) && text(&run.stderr).contains(told), "{}", text(&run.stderr));
    }
    assert!(text(&output(&["picture", "--help"]).stdout).contains("each from 16 to 16384"));
}

#[test]
fn a_picture_after_the_end_of_its_scene_is_a_mistake() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("p.png").to_str().unwrap().to_owned();
    let picture = |more: &[&str]| output(&[&["picture", "bouncing_ball", "--size", "64x64", "--out", &out], more].concat());
    let late = picture(&["--at", "1e9"]);
    let said = text(&late.stderr);
    assert!(
        late.status.code() == Some(2) && said.contains("bouncing_ball ends at ") && said.contains("--set time.end=1000000000"),
        "{said}"
    );
    for more in [&["--at", "0.1"][..], &["--at", "0.2", "--set", "time.end=0.2"]] {
        assert_eq!(picture(more).status.code(), Some(0), "{}", text(&picture(more).stderr));
    }
}

#[test]
fn crowds_that_memory_cannot_hold_and_steps_that_are_absurd_are_told_before_they_begin() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s.toml").to_str().unwrap().to_owned();
    // metres where millimetres were meant: 20 000 balls have 2e8 pairs, of which memory would hold hardly all, and 3000 more than a step can take
    for (count, told) in [(20_000, "about 2.0e8 pairs of bodies"), (3000, "about 4.5e6 pairs of bodies")] {
        let mut balls = String::from("time = { step = \"1 ms\", end = \"2 ms\" }\n");
        for k in 0..count {
            let [x, y] = [k % 100, k / 100].map(|i| 1e-3 * f64::from(i));
            balls += &format!("[[bodies]]\nshape = {{ kind = \"ball\", radius = 1 }}\nposition = [{x}, {y}, 1]\n");
        }
        std::fs::write(&path, balls).unwrap();
        let run = output(&["run", &path]);
        let said = text(&run.stderr);
        assert!(run.status.code() == Some(4) && said.contains(told) && said.contains("a ball of 2.0e0 m"), "{:?}: {said}", run.status);
    }
    let run = output(&["run", "cross_vault", "--step", "3000"]);
    let said = text(&run.stderr);
    assert!(said.contains("of its lengths") && said.contains("within a step of 3000 s; a time step of"), "{:?}: {said}", run.status);
    assert_eq!(run.status.code(), Some(4));
    // by the lengths of a floor far thinner than what falls on it: a fall of 9.81e-12 m takes a microsecond
    std::fs::write(
        &path,
        "time = { step = \"1 ms\", end = \"2 ms\" }\n[[bodies]]\nname = \"floor\"\nmotion = \"static\"\n\
         shape = { kind = \"cuboid\", size = [1e-12, 1, 1] }\n[[bodies]]\nname = \"stone\"\nposition = [0, 0, 0.6]\n\
         shape = { kind = \"cuboid\", size = [0.2, 0.2, 0.2] }\n",
    )
    .unwrap();
    let run = output(&["run", &path]);
    let said = text(&run.stderr);
    let told = "9.8e6 of the lengths of what it passes (1.0e-12 m) past another body within a step of 0.001 s; a time step of 3.2e-7 s";
    assert!(run.status.code() == Some(4) && said.contains("stone") && said.contains(told), "{:?}: {said}", run.status);
}
