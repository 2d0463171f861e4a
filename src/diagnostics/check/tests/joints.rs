//! Joints, springs and transmissions: what is told of them.

use super::*;

/// What `check` says of joints in a scene of one bar and one ball.
fn of_joints(text: &str) -> Vec<Finding> {
    treated("", text)
}

fn treated(treatment: &str, text: &str) -> Vec<Finding> {
    let head = format!("gravity = [0, 0, 0]\n[time]\nstep = \"5 ms\"\nend = 1.0\n{treatment}");
    let bodies = "[[bodies]]\nname = \"bar\"\nshape = { kind = \"cuboid\", size = [0.4, 0.1, 0.1] }\nmass = 1\n\
                  [[bodies]]\nname = \"ball\"\nshape = { kind = \"ball\", radius = 0.1 }\nposition = [2, 0, 0]\nmass = 1\n";
    check(&Scene::from_toml(&format!("{head}{bodies}{text}"), "t").unwrap_or_else(|e| panic!("{e}")))
}

#[test]
fn impossible_redundant_and_locked_joints_are_named() {
    let weld = "[[joints]]\nname = \"weld\"\nkind = \"fixed\"\nbody1 = \"bar\"\nanchor = [0, 0, 0]\n";
    let hinge = "[[joints]]\nname = \"hinge\"\nkind = \"revolute\"\nbody1 = \"bar\"\nanchor = [0.1, 0, 0]\n";
    let rod = |length: &str| {
        format!("[[joints]]\nname = \"rod\"\nkind = \"distance\"\nbody1 = \"bar\"\nanchor = [0, 0, 0]\nanchor2 = [1, 0, 0]\n{length}\n")
    };
    let rail =
        "[[joints]]\nname = \"rail\"\nkind = \"prismatic\"\nbody1 = \"ball\"\nbody2 = \"bar\"\nanchor = [2, 0, 0]\naxis = [1, 0, 0]\n";
    let cases: [(String, &[(Severity, &str)]); 6] = [
        (weld.to_owned(), &[]),
        (format!("{hinge}{rail}"), &[]),
        (format!("{weld}{}", rod("")), &[(Severity::Hint, "1 of the 1 rows of its joint \"rod\" follow")]),
        (format!("{weld}{}", rod("length = 0.9")), &[(Severity::Fault, "its joint \"rod\" is impossible")]),
        (
            format!("{weld}{hinge}"),
            &[(Severity::Hint, "its joint \"hinge\" is locked"), (Severity::Hint, "5 of the 5 rows of its joint \"hinge\" follow")],
        ),
        // the rod alone is too short: it can still become right
        (rod("length = 0.9"), &[(Severity::Hint, "its joint \"rod\" is open by 1.000e-1")]),
    ];
    for (text, expected) in cases {
        let found = of_joints(&text);
        assert_eq!(found.len(), expected.len(), "{text}: {found:?}");
        for (severity, words) in expected {
            assert!(found.iter().any(|f| f.severity == *severity && f.message.contains(words)), "{words}: {found:?}");
        }
    }
}

#[test]
fn joints_that_hold_what_they_leave_free_by_a_misfit_are_told_and_runs_repeat_it() {
    let hinges = |misfit: f64| {
        let hinge = |name: &str, x: f64, z: f64| {
            format!("[[joints]]\nname = \"{name}\"\nkind = \"revolute\"\nbody1 = \"bar\"\nanchor = [{x}, 0, {z}]\naxis = [0, 0, 1]\n")
        };
        format!("{}{}", hinge("lower", 0.2, 0.0), hinge("upper", 0.2 + misfit, 0.05))
    };
    let misfits = |found: &[Finding]| found.iter().filter(|f| f.message.contains("cannot move") && f.message.contains("misfit")).count();
    // two that agree, one of which follows; two by a tenth of a millimetre apart; two that are not one hinge, and lock each other
    for (misfit, told, locked) in [(0.0, 0, 0), (1e-4, 2, 0), (0.1, 0, 2)] {
        let found = of_joints(&hinges(misfit));
        assert_eq!(misfits(&found), told, "{misfit}: {found:?}");
        assert_eq!(found.iter().filter(|f| f.message.contains("is locked")).count(), locked, "{misfit}: {found:?}");
    }
    let text = format!(
        "gravity = [0, 0, 0]\n[time]\nstep = \"5 ms\"\nend = 1.0\n[[bodies]]\nname = \"bar\"\nshape = {{ kind = \"cuboid\", size = [0.4, 0.1, \
         0.1] }}\nmass = 1\n{}",
        hinges(1e-4)
    );
    let scene = Scene::from_toml(&text, "t").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(repeated(&scene).iter().filter(|line| line.contains("misfit")).count(), 2);
}

#[test]
fn the_damping_of_springs_by_the_scheme_is_what_check_says() {
    let coil = |k: f64| {
        let rest = "body1 = \"ball\"\nanchor = [2, 0, 0]\naxis = [0, 0, 1]\n";
        format!("[[joints]]\nname = \"coil\"\nkind = \"prismatic\"\n{rest}spring = {{ stiffness = {k} }}\n")
    };
    let implicit = "treatment = \"forecast\"\ntheta = 1.0\n";
    for (stiffness, percent) in [(2500.0, 79.0), (625.0, 54.0)] {
        let found = treated(implicit, &coil(stiffness));
        let [only] = &found[..] else { panic!("{found:?}") };
        let said = only.message.split("takes ").nth(1).and_then(|s| s.split(' ').next()).and_then(|s| s.parse::<f64>().ok());
        assert_eq!(said, Some(percent), "{}", only.message);
        // what it does: half a swing from the middle to the middle, twice
        let text = format!(
            "gravity = [0, 0, 0]\n[time]\nstep = \"5 ms\"\nend = 1.0\n{implicit}[[bodies]]\nname = \"ball\"\n\
             shape = {{ kind = \"ball\", radius = 0.1 }}\nposition = [2, 0, 0]\nmass = 1\nvelocity = [0, 0, 1]\n"
        );
        let scene = Scene::from_toml(&format!("{text}{}", coil(stiffness)), "t").unwrap_or_else(|e| panic!("{e}"));
        let mut built = crate::setup::build(&scene).unwrap_or_else(|e| panic!("{e}"));
        let energy = |z: f64, v: f64| 0.5 * v * v + 0.5 * stiffness * z * z;
        let (mut rises, mut last, mut at) = (0, 0.0, Vec::new());
        while rises < 2 {
            built.simulation.step().unwrap_or_else(|e| panic!("{e}"));
            let world = built.simulation.world();
            let z = world.get::<crate::model::newton_euler::BodyPose>(built.entities[0]).map_or(f64::NAN, |p| p.0.position.z);
            let v = world.get::<crate::model::newton_euler::Velocity>(built.entities[0]).map_or(f64::NAN, |v| v.linear.z);
            at.push(energy(z, v));
            rises += u32::from(last < 0.0 && z >= 0.0);
            last = z;
        }
        // per swing, from all steps of the two of them
        let x = stiffness.sqrt() * 5e-3;
        let turns = std::f64::consts::TAU / x.atan();
        let kept = (at[at.len() - 1] / at[0]).powf(turns / (at.len() - 1) as f64);
        assert!((100.0 * (1.0 - kept) - percent).abs() < 1.0, "{stiffness}: {kept}");
    }
    assert_eq!(treated(implicit, &coil(100.0)), [], "slow enough");
    // gap-aware: nothing up to two radians a step
    assert_eq!(of_joints(&coil(1.5e5)), []);
    let found = of_joints(&coil(1e6));
    assert!(found.len() == 1 && found[0].message.contains("5.00 rad a step: steps cannot follow that"), "{found:?}");
}

#[test]
fn joints_many_sizes_away_from_a_body_are_told_with_the_figures() {
    let scene = |kind: &str, second: &str, rest: &str| {
        let bar = |name: &str, x: f64| {
            format!("[[bodies]]\nname = \"{name}\"\nshape = {{ kind = \"cuboid\", size = [0.4, 0.2, 0.4] }}\nposition = [{x}, 0, 5]\n")
        };
        let joint = format!("[[joints]]\nname = \"j\"\nkind = \"{kind}\"\nbody1 = \"a\"\n{second}\n{rest}\n");
        all(&format!("{FLOOR}{}{}{joint}", bar("a", 0.0), bar("b", 0.4))).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let both = "body2 = \"b\"";
    let found = scene("spherical", both, "anchor = [200, 0, 5]");
    assert!(
        found.len() == 1 && found[0].starts_with("hint: a: the anchor of its joint \"j\" lies 200 m from it, 333 times its size of 0.6 m"),
        "{found:?}"
    );
    let found = scene("revolute", "", "anchor = [0, 0, 305]\naxis = [0, 1, 0]");
    assert!(found.len() == 1 && found[0].starts_with("hint: a: the axis of its joint \"j\" lies 300 m from it"), "{found:?}");
    let found = scene("distance", both, "anchor = [0, 0, 5]\nanchor2 = [400, 0, 5]");
    assert!(found.len() == 1 && found[0].contains("lies 399.6 m from b, 666 times its size"), "{found:?}");
    let none = Vec::<String>::new();
    assert_eq!(scene("spherical", both, "anchor = [0, 0, 15]"), none, "a long pendulum");
    assert_eq!(scene("revolute", both, "anchor = [0, 400, 5]\naxis = [0, 1, 0]"), none, "far along its axis");
    assert_eq!(scene("prismatic", both, "anchor = [200, 0, 5]\naxis = [1, 0, 0]"), none, "a rail has no place");
    assert_eq!(scene("distance", "", "anchor = [0, 0, 5]\nanchor2 = [0, 0, 405]"), none, "a long rope to the world");
}

#[test]
fn joints_that_reach_over_half_of_a_periodic_cell_are_told() {
    let scene = |b: f64, cell: &str, joint: &str| {
        let bar = |name: &str, x: f64| {
            format!("[[bodies]]\nname = \"{name}\"\nshape = {{ kind = \"cuboid\", size = [0.2, 0.1, 0.1] }}\nposition = [{x}, 0, 0]\n")
        };
        let text = format!("{cell}{}{}[[joints]]\nname = \"j\"\nbody1 = \"b\"\n{joint}\n", bar("a", 0.9), bar("b", b));
        all(&text).iter().map(ToString::to_string).filter(|told| told.contains("\"j\"")).collect::<Vec<_>>()
    };
    let (cell, none) = ("[periodic]\nx = [-1, 1]\n", Vec::<String>::new());
    for joint in ["body2 = \"a\"\nanchor = [1, 0, 0]", "body2 = \"a\"\nkind = \"distance\"\nanchor = [-0.9, 0, 0]\nanchor2 = [0.9, 0, 0]"] {
        let found = scene(-0.9, cell, joint);
        assert!(found.len() == 1 && found[0].contains("along x, more than half of the periodic cell"), "{found:?}");
        assert!(found[0].contains("one cell (2 m) farther"), "{found:?}");
        assert_eq!(scene(-0.9, "", joint), none, "without a cell all is as written");
        assert_eq!(scene(-0.9, "[periodic]\ny = [-1, 1]\n", joint), none, "nor is x periodic");
        assert_eq!(scene(1.1, cell, &joint.replace("[-0.9", "[1.1")), none, "the place beside the joint");
    }
    assert_eq!(scene(-0.9, cell, "kind = \"prismatic\"\naxis = [1, 0, 0]\nanchor = [1, 0, 0]"), none, "a rail has no place");
}

#[test]
fn wheels_whose_bearings_move_are_told() {
    let scene = |frame: &str, kind: &str| {
        let bar = |name: &str, x: f64, more: &str| {
            format!("[[bodies]]\nname = \"{name}\"\nshape = {{ kind = \"ball\", radius = 0.1 }}\nposition = [{x}, 0, 0]\n{more}\n")
        };
        let axle = |wheel: &str, on: &str, x: f64| {
            format!("[[joints]]\nkind = \"revolute\"\nbody1 = \"{wheel}\"\nbody2 = \"{on}\"\nanchor = [{x}, 0, 0]\n")
        };
        let text = format!(
            "{}{}{}{}{}[[transmissions]]\nname = \"g\"\nbody1 = \"sun\"\nbody2 = \"planet\"\n{kind}",
            bar("frame", 5.0, frame),
            bar("sun", 0.0, ""),
            bar("planet", 0.3, ""),
            axle("sun", "world", 0.0),
            axle("planet", "frame", 0.3),
        );
        all(&text).iter().map(ToString::to_string).filter(|told| told.contains("transmission")).collect::<Vec<_>>()
    };
    let gear = "kind = \"gear\"\naxis = [0, 0, 1]\nratio = -1\n";
    let rack = "kind = \"rack\"\naxis = [0, 0, 1]\ndirection = [1, 0, 0]\nradius = 0.1\n";
    for frame in ["", "motion = { kind = \"constant\", velocity = [1, 0, 0] }"] {
        for kind in [gear, rack] {
            let found = scene(frame, kind);
            assert!(found.len() == 1 && found[0].starts_with("hint: planet: the transmission \"g\" counts"), "{found:?}");
            assert!(found[0].contains("not against frame, which bears it"), "{found:?}");
        }
    }
    let none = Vec::<String>::new();
    assert_eq!(scene("motion = \"static\"", gear), none, "a frame that stands is the world");
    assert_eq!(scene("", "kind = \"screw\"\naxis = [0, 0, 1]\nlead = 0.1\n"), none, "a screw counts against its nut");
}
