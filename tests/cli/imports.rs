//! The same wall from every format of block models, and models that are none.

use super::{json, output, text};
use drystone::io::scene::{Scene, SceneSource};
use std::path::Path;

/// Corners (mm, y up) of a wall of three courses in running bond, each block with its name.
fn wall() -> Vec<(String, [[f64; 3]; 8])> {
    let mut blocks = Vec::new();
    for course in 0..3 {
        for i in 0..3 {
            let (x, y) = (500.0 * f64::from(i) + if course % 2 == 1 { 250.0 } else { 0.0 }, 250.0 * f64::from(course));
            let corner = |k: u32| [x + 500.0 * f64::from(k & 1), y + 250.0 * f64::from(k >> 1 & 1), -240.0 * f64::from(k >> 2)];
            blocks.push((format!("b{course}{i}"), std::array::from_fn(|k| corner(k as u32))));
        }
    }
    blocks
}

/// Faces of a box by corners, outwards in axes where z looks back.
const FACES: [[usize; 4]; 6] = [[0, 1, 3, 2], [5, 4, 6, 7], [4, 0, 2, 6], [1, 5, 7, 3], [4, 5, 1, 0], [2, 3, 7, 6]];

fn triangles() -> impl Iterator<Item = [usize; 3]> {
    FACES.iter().flat_map(|f| [[f[0], f[1], f[2]], [f[0], f[2], f[3]]])
}

fn write(folder: &Path) {
    let put = |name: &str, text: String| std::fs::write(folder.join(name), text).unwrap();
    let (mut obj, mut table, mut nodes, mut ply) = (String::new(), "block,x,y,z\n".to_owned(), Vec::new(), [String::new(), String::new()]);
    std::fs::create_dir(folder.join("stl")).unwrap();
    for (n, (name, corners)) in wall().iter().enumerate() {
        obj += &format!("o {name}\n");
        for [x, y, z] in corners {
            obj += &format!("v {x} {y} {z}\n");
            table += &format!("{name},{x},{y},{z}\n");
            ply[0] += &format!("{x} {y} {z}\n");
        }
        for f in FACES {
            let [a, b, c, d] = f.map(|i| 8 * n + i);
            obj += &format!("f {} {} {} {}\n", a + 1, b + 1, c + 1, d + 1);
            ply[1] += &format!("4 {a} {b} {c} {d}\n");
        }
        let vertices: Vec<String> =
            corners.iter().enumerate().map(|(i, [x, y, z])| format!("\"{i}\": {{\"x\": {x}, \"y\": {y}, \"z\": {z}}}")).collect();
        let faces: Vec<String> = FACES.iter().enumerate().map(|(i, f)| format!("\"{i}\": {f:?}")).collect();
        nodes.push(format!(
            "\"{n}\": {{\"block\": {{\"value\": {{\"data\": {{\"vertex\": {{{}}}, \"face\": {{{}}}}}}}}}}}",
            vertices.join(", "),
            faces.join(", ")
        ));
        let facets = triangles().map(|t| {
            let corner = |i: usize| format!("vertex {} {} {}\n", corners[i][0], corners[i][1], corners[i][2]);
            format!("facet normal 0 0 0\nouter loop\n{}{}{}endloop\nendfacet\n", corner(t[0]), corner(t[1]), corner(t[2]))
        });
        put(&format!("stl/{name}.stl"), format!("solid a\n{}endsolid a\n", facets.collect::<String>()));
    }
    put("wall.obj", obj);
    put("wall.csv", table);
    put(
        "wall.json",
        format!(
            "{{\"dtype\": \"compas_assembly.datastructures/Assembly\", \"value\": {{\"data\": {{\"node\": {{{}}}}}}}}}",
            nodes.join(", ")
        ),
    );
    let head = "ply\nformat ascii 1.0\nelement vertex 72\nproperty double x\nproperty double y\nproperty double z\nelement face 54\n\
                property list uchar int vertex_indices\nend_header\n";
    put("wall.ply", format!("{head}{}{}", ply[0], ply[1]));
}

fn scene(folder: &Path, import: &str) -> String {
    let path = folder.join("scene.toml");
    let text = format!(
        "[time]\nstep = \"2 ms\"\nend = 0.2\n[[bodies]]\nname = \"floor\"\nshape = {{ kind = \"half_space\" }}\nmotion = \"static\"\n\
         [[import]]\n{import}\n[base]\npulses = [{{ kind = \"square\", acceleration = 7, duration = 0.1 }}]\n"
    );
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_wall_is_the_same_from_every_format() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let states: Vec<(String, u64, f64)> = ["wall.obj", "wall.csv", "stl"]
        .iter()
        .map(|file| {
            let scene = scene(folder.path(), &format!("file = \"{file}\"\nname = \"wall\"\nunit = \"mm\"\nup = \"y\""));
            let run = json(&[&scene]);
            let moved = run["displacement_max_m"].as_f64().unwrap_or_else(|| panic!("{run}"));
            (run["state_hash"].as_str().unwrap().to_owned(), run["bodies"].as_u64().unwrap(), moved)
        })
        .collect();
    assert!(states.iter().all(|s| s == &states[0]), "{states:?}");
    assert!(states[0].1 == 10 && states[0].2 > 0.01, "nine blocks that move: {states:?}");
    // where blocks have numbers instead of names
    for file in ["wall.json", "wall.ply"] {
        let scene = scene(folder.path(), &format!("file = \"{file}\"\nname = \"wall\"\nunit = \"mm\"\nup = \"y\""));
        assert_eq!(json(&[&scene])["state_hash"].as_str(), Some(states[0].0.as_str()), "{file}");
    }
    let fixed = scene(folder.path(), "file = \"wall.obj\"\nunit = \"mm\"\nup = \"y\"\nfixed = [\"b00\", \"b01\", \"b02\"]");
    assert!(json(&[&fixed])["state_hash"].as_str() != Some(states[0].0.as_str()));
}

#[test]
fn models_that_cannot_be_meant_are_named() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let obj = std::fs::read_to_string(folder.path().join("wall.obj")).unwrap();
    let open: Vec<&str> = obj.lines().take(14).collect();
    std::fs::write(folder.path().join("open.obj"), open.join("\n")).unwrap();
    for (import, wanted) in [
        ("file = \"none.obj\"", &["none.obj", "cannot be read"][..]),
        ("file = \"open.obj\"", &["open.obj: the block `b00` is not closed", "belongs to 1 triangles"]),
        ("file = \"wall.obj\"\nunit = \"kg\"", &["import.0.unit", "a length"]),
        ("file = \"wall.obj\"\nfixed = [\"b0\"]", &["found no block `b0`", "did you mean"]),
        ("file = \"wall.obj\"\nup = \"w\"", &["import.0.up"]),
    ] {
        let run = output(&["run", &scene(folder.path(), import)]);
        let said = text(&run.stderr);
        assert!(run.status.code() != Some(0) && wanted.iter().all(|w| said.contains(w)), "{import}: {said}");
    }
    // a block that floats, one that overlaps another
    let table = |shift: f64| {
        let text = std::fs::read_to_string(folder.path().join("wall.csv")).unwrap();
        let moved = text.lines().map(|line| {
            let mut parts: Vec<String> = line.split(',').map(str::to_owned).collect();
            if parts[0].starts_with("b2") {
                parts[2] = (parts[2].parse::<f64>().unwrap() + shift).to_string();
            }
            parts.join(",") + "\n"
        });
        std::fs::write(folder.path().join("moved.csv"), moved.collect::<String>()).unwrap();
        text_of_check(folder.path())
    };
    let (gap, overlap) = (table(5.0), table(-5.0));
    assert!(gap.contains("moved.b20: starts 0.005 m above moved.b10"), "{gap}");
    assert!(overlap.contains("overlaps moved.b1") && overlap.contains("0.005"), "{overlap}");
}

fn text_of_check(folder: &Path) -> String {
    text(&output(&["check", &scene(folder, "file = \"moved.csv\"\nunit = \"mm\"\nup = \"y\"")]).stdout)
}

/// What `export` prints, as a scene on a floor that is shaken.
fn exported(folder: &Path, scene: &str, file: &str) -> String {
    let out = folder.join(file);
    let said = output(&["export", scene, "--out", out.to_str().unwrap()]);
    assert_eq!(said.status.code(), Some(0), "{}", text(&said.stderr));
    let import = text(&said.stdout);
    let path = folder.join(format!("{file}.toml"));
    let toml = format!(
        "[time]\nstep = \"2 ms\"\nend = 0.2\n[[bodies]]\nname = \"floor\"\nshape = {{ kind = \"half_space\" }}\nmotion = \"static\"\n\
         {import}\n[base]\npulses = [{{ kind = \"square\", acceleration = 7, duration = 0.1 }}]\n"
    );
    std::fs::write(&path, toml).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_model_that_is_imported_and_exported_gives_the_same_bits_again() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let hash = |scene: &str| {
        let run = json(&[scene]);
        assert!(run["displacement_max_m"].as_f64().unwrap() > 1e-3, "{run}");
        run["state_hash"].as_str().unwrap().to_owned()
    };
    let model = scene(folder.path(), "file = \"wall.obj\"\nunit = \"mm\"\nup = \"y\"\nposition = [0.123, 1.7, 0]");
    let given = hash(&model);
    let obj = exported(folder.path(), &model, "again.obj");
    let table = exported(folder.path(), &model, "again.csv");
    assert_eq!([hash(&obj), hash(&table)], [given.clone(), given]);
    // an arch of a generator becomes hulls, and then stays what it is; its abutments are fixed
    let first = exported(folder.path(), "arch", "arch.obj");
    assert_eq!(hash(&first), hash(&exported(folder.path(), &first, "arch_again.obj")));
    // stones with several faces, and those at groins, are compounds: one group of closed parts each
    let groins = exported(folder.path(), "cross_vault", "groins.obj");
    let model = std::fs::read_to_string(folder.path().join("groins.obj")).unwrap();
    let given = drystone::scenes::load("cross_vault", &[]).unwrap();
    let again = Scene::load(&SceneSource::new(&groins), &[]).unwrap();
    let stones = |scene: &Scene| scene.bodies.iter().filter(|b| b.shape.kind() == "compound").count();
    assert!(stones(&given) > 0 && stones(&again) == stones(&given) && model.matches("\no ").count() + 1 == again.bodies.len() - 1);
    let volume =
        |scene: &Scene| scene.bodies.iter().filter_map(|b| b.shape.build().ok()?.mass_properties(1.0).ok()).map(|m| m.mass).sum::<f64>();
    assert!((volume(&again) / volume(&given) - 1.0).abs() < 1e-9, "{} {}", volume(&again), volume(&given));
    let twice = exported(folder.path(), &groins, "again.obj");
    exported(folder.path(), &twice, "third.obj");
    let [second, third] = ["again.obj", "third.obj"].map(|file| std::fs::read_to_string(folder.path().join(file)).unwrap());
    assert_eq!(third.replace("o again.", "o "), second, "the same corners");
    for (arguments, wanted) in
        [(&["export", "bead_stack", "--out", "x.obj"][..], "is a ball"), (&["export", "arch", "--out", "x.step"], ".obj, .csv or .txt")]
    {
        let said = output(arguments);
        assert!(said.status.code() != Some(0) && text(&said.stderr).contains(wanted), "{}", text(&said.stderr));
    }
}

#[test]
fn check_tells_of_faces_that_are_not_plane_of_blocks_turned_over_and_of_hulls_around_many_groups() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let obj = std::fs::read_to_string(folder.path().join("wall.obj")).unwrap();
    // one corner of the first block is 2 mm out of its face; all faces of the second are turned
    let bent = obj.replacen("v 0 250 -0", "v 0 252 -0", 1);
    // so far out of a face that it may pass for an edge
    let warped = obj.replacen("v 0 250 -0", "v 0 240 -0", 1);
    let mut faces = 0;
    let turned = obj.lines().map(|line| {
        let mut words: Vec<&str> = line.split(' ').collect();
        if words[0] == "f" {
            faces += 1;
            if (7..=12).contains(&faces) {
                words[1..].reverse();
            }
        }
        words.join(" ") + "\n"
    });
    let turned: String = turned.collect();
    std::fs::write(folder.path().join("bent.obj"), bent).unwrap();
    std::fs::write(folder.path().join("warped.obj"), warped).unwrap();
    std::fs::write(folder.path().join("turned.obj"), turned).unwrap();
    let told = |import: &str| text(&output(&["check", &scene(folder.path(), import)]).stdout);
    let plain = told("file = \"wall.obj\"\nunit = \"mm\"\nup = \"y\"");
    assert!(plain.contains("no faults, 0 hints"), "{plain}");
    let found = told("file = \"bent.obj\"\nunit = \"mm\"\nup = \"y\"");
    assert!(found.contains("hint: bent.b00: a face is not plane: a corner lies 2.00e-3 m beside it"), "{found}");
    let found = told("file = \"warped.obj\"\nunit = \"mm\"\nup = \"y\"");
    assert!(found.contains("hint: warped.b00: a face is not plane: a corner lies "), "{found}");
    let found = told("file = \"turned.obj\"\nunit = \"mm\"\nup = \"y\"");
    assert!(found.contains("hint: turned: the faces of 1 of 9 blocks look inwards, the first is `b01`"), "{found}");
    let hull = "[time]\nstep = \"2 ms\"\nend = 0.02\ngravity = [0, 0, 0]\n[[bodies]]\nshape = { kind = \"hull\", file = \"wall.obj\", scale = 0.001 }\n";
    let path = folder.path().join("hull.toml");
    std::fs::write(&path, hull.replacen("gravity = [0, 0, 0]\n", "", 1).replacen("[time]", "gravity = [0, 0, 0]\n[time]", 1)).unwrap();
    let found = text(&output(&["check", path.to_str().unwrap()]).stdout);
    assert!(found.contains("wall.obj has 9 groups (b00, b01, b02, b10, …), and one hull goes around all of them"), "{found}");
    assert!(found.contains("[[import]]"), "{found}");
    // an L
    let corners = [(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 1.0), (1.0, 2.0), (0.0, 2.0)];
    let mut hollow: String = [0.0, 1.0].iter().flat_map(|z| corners.map(|(x, y)| format!("v {x} {y} {z}\n"))).collect();
    for [a, b, c] in [[1, 2, 3], [1, 3, 4], [1, 4, 5], [1, 5, 6]] {
        hollow += &format!("f {a} {c} {b}\nf {} {} {}\n", a + 6, b + 6, c + 6);
    }
    for k in 0..6 {
        let (a, b) = (k + 1, (k + 1) % 6 + 1);
        hollow += &format!("f {a} {b} {}\nf {a} {} {}\n", b + 6, b + 6, a + 6);
    }
    std::fs::write(folder.path().join("hollow.obj"), hollow).unwrap();
    std::fs::write(&path, std::fs::read_to_string(&path).unwrap().replace("wall.obj", "hollow.obj")).unwrap();
    let found = text(&output(&["check", path.to_str().unwrap()]).stdout);
    // 3 of 3.5 m3
    assert!(found.contains("the hull around hollow.obj has 1.17 times the volume of its mesh"), "{found}");
    // without one of its faces its volume is that of no body
    let open = std::fs::read_to_string(folder.path().join("hollow.obj")).unwrap();
    std::fs::write(folder.path().join("hollow.obj"), open.trim_end().rsplit_once('\n').unwrap().0).unwrap();
    let found = text(&output(&["check", path.to_str().unwrap()]).stdout);
    assert!(!found.contains("times the volume"), "{found}");
}
