//! Bound joints in statics: strength by hand in tension, shear and bending, and runs beside them; springs as loads.

use drystone::diagnostics::collapse::{bisect, trial};
use drystone::diagnostics::equilibrium::{Joint, JointForce, Structure, admissible};
use drystone::io::scene::Scene;
use drystone::io::scene::applied::AppliedLoad;
use drystone::io::scene::loads::BaseMotion;
use drystone::numerics::statics::Verdict;
use glam::DVec3;

const G: f64 = 9.81;
const MU: f64 = 0.6;
const SIZE: DVec3 = DVec3::new(0.5, 0.4, 0.2);
const AREA: f64 = 0.2;
const WEIGHT: f64 = 0.04 * 2000.0 * G;
const TENSION: f64 = 1e5;
const COHESION: f64 = 1.5e5;

fn scene(text: &str) -> Scene {
    Scene::from_toml(text, "t.toml").unwrap_or_else(|e| panic!("{text}{e}"))
}

/// A block on a static one, bound by mortar that is brittle or of this kind.
fn bound(more: &str) -> Scene {
    scene(&format!(
        "[time]\nstep = 1e-3\nend = 0.5\n[solver]\ntolerance = 1e-6\n[[materials]]\nname = \"stone\"\ndensity = 2000\n\
         [contact]\nmu = {MU}\nbond = {{ tension = {TENSION}, cohesion = {COHESION}, stiffness = [1e10, 1e10]{more} }}\n\
         [[bodies]]\nname = \"below\"\nshape = {{ kind = \"cuboid\", size = [0.5, 0.4, 0.2] }}\nposition = [0, 0, -0.1]\nmotion = \"static\"\n\
         [[bodies]]\nname = \"block\"\nshape = {{ kind = \"cuboid\", size = [0.5, 0.4, 0.2] }}\nposition = [0, 0, 0.1]\n"
    ))
}

/// A force on the block that acts at `arm` from its centre, beside a constant one.
fn loaded(more: &str, force: DVec3, arm: DVec3, constant: DVec3) -> Scene {
    let mut scene = bound(more);
    scene.bodies[1].force = force + constant;
    scene.bodies[1].torque = arm.cross(force);
    scene
}

/// What statics say of the loads at the end.
fn stands(scene: &Scene) -> Option<bool> {
    let structure = Structure::of(scene, scene.time.end).unwrap();
    let answer = structure.solve();
    assert!(answer.verdict == Verdict::Undecided || answer.error < 1e-6, "{answer:?}");
    admissible(&answer)
}

/// That statics end between 1e-4 below and 1e-4 above what is expected.
fn ends_at(expected: f64, what: &str, scene: impl Fn(f64) -> Scene) {
    let found = [0.9999, 1.0001].map(|factor| stands(&scene(factor * expected)));
    assert_eq!(found, [Some(true), Some(false)], "{what}: {expected} N");
}

const DOWN: DVec3 = DVec3::new(0.0, 0.0, -5000.0);
const FOOT: DVec3 = DVec3::new(0.0, 0.0, -0.1);

#[test]
fn a_bound_block_is_torn_off_sheared_off_and_bent_off_at_what_its_area_bears() {
    let tension = TENSION * AREA + WEIGHT;
    ends_at(tension, "tension", |f| loaded("", f * DVec3::Z, DVec3::ZERO, DVec3::ZERO));
    let shear = COHESION * AREA + MU * (5000.0 + WEIGHT);
    for direction in [DVec3::X, DVec3::Y, DVec3::new(0.6, 0.8, 0.0)] {
        ends_at(shear, "shear", |f| loaded("", f * direction, FOOT, DOWN));
    }
    // pulled outside of the face, it turns about the edge that is pressed
    let bending = (TENSION * AREA + WEIGHT) * 0.5 * SIZE.x / (0.4 + 0.5 * SIZE.x);
    ends_at(bending, "bending", |f| loaded("", f * DVec3::Z, 0.4 * DVec3::X, DVec3::ZERO));
    // a cantilever without weight, pushed across 0.9 m from its joint
    let bends = TENSION * AREA * 0.5 * SIZE.x / 0.9;
    ends_at(bends, "cantilever", |f| {
        let mut scene = loaded("", f * DVec3::X, 0.8 * DVec3::Z, DVec3::ZERO);
        scene.gravity[0].acceleration = DVec3::ZERO;
        scene
    });
}

#[test]
fn cohesion_without_friction_and_pull_beyond_the_tip_of_the_cone_are_what_they_say() {
    let with = |mu: f64, force: DVec3| {
        let mut scene = loaded("", force, FOOT, DVec3::ZERO);
        scene.default_law.mu = mu;
        scene
    };
    ends_at(COHESION * AREA, "no friction", |f| with(0.0, f * DVec3::X));
    // c/mu = 0.75e5 is less than the strength in tension
    ends_at(COHESION / 2.0 * AREA + WEIGHT, "tip", |f| with(2.0, f * DVec3::Z));
}

#[test]
fn runs_of_a_bound_block_end_where_statics_say() {
    let tension = TENSION * AREA + WEIGHT;
    let shear = COHESION * AREA + MU * (5000.0 + WEIGHT);
    let bending = (TENSION * AREA + WEIGHT) * 0.5 * SIZE.x / (0.4 + 0.5 * SIZE.x);
    let cases: [(&str, f64, DVec3, DVec3, DVec3); 3] = [
        ("tension", tension, DVec3::Z, DVec3::ZERO, DVec3::ZERO),
        ("shear", shear, DVec3::X, FOOT, DOWN),
        ("bending", bending, DVec3::Z, 0.4 * DVec3::X, DVec3::ZERO),
    ];
    for (what, expected, direction, arm, constant) in cases {
        // a load that comes at once meets the mortar as it would a spring: a step of a millisecond damps it
        for (factor, stands) in [(0.9, true), (1.02, false)] {
            let found = trial(&loaded("", factor * expected * direction, arm, constant), factor).unwrap();
            assert_eq!(found.stands, stands, "{what} at {factor}: {found:?}");
        }
    }
}

#[test]
fn a_block_that_is_pulled_and_sheared_ends_on_the_line_of_mohr_in_statics_and_on_the_ellipse_in_runs() {
    // the direction in which the two differ most
    let pull = DVec3::new(COHESION * COHESION, 0.0, MU * TENSION * TENSION).normalize();
    let (t, s) = (pull.z / TENSION, pull.x / COHESION);
    let [line, ellipse] = [AREA / (s + MU * pull.z / COHESION), AREA / (t * t + s * s).sqrt()];
    let ratio = (1.0 + (MU * TENSION / COHESION) * (MU * TENSION / COHESION)).sqrt();
    assert!((ellipse / line / ratio - 1.0).abs() < 1e-12);
    let pulled = |f: f64| loaded("", f * pull, FOOT, WEIGHT * DVec3::Z);
    ends_at(line, "line", pulled);
    for (factor, stands) in [(0.98, true), (1.02, false)] {
        let mut scene = pulled(0.0);
        let load =
            AppliedLoad { at: Some(DVec3::ZERO), times: vec![0.0, 0.4], factors: vec![0.0, factor], ..AppliedLoad::new(1, ellipse * pull) };
        scene.loads.push(load);
        assert_eq!(trial(&scene, factor).unwrap().stands, stands, "{factor} of the ellipse");
    }
}

#[test]
fn a_hanging_course_is_held_by_mortar_that_no_contact_presses() {
    // a lintel between two supports, bound at its ends alone: each bears half of the weight by cohesion
    let beam = |density: f64| {
        let mut beam = scene(&format!(
            "[time]\nstep = 1e-3\nend = 0.2\n[[materials]]\nname = \"stone\"\ndensity = {density}\n\
             [contact]\nmu = 0\nbond = {{ tension = 2e6, cohesion = 1e5 }}\n\
             [[bodies]]\nname = \"left\"\nshape = {{ kind = \"cuboid\", size = [0.2, 0.2, 0.5] }}\nposition = [-0.6, 0, 0]\nmotion = \"static\"\n\
             [[bodies]]\nname = \"right\"\nshape = {{ kind = \"cuboid\", size = [0.2, 0.2, 0.5] }}\nposition = [0.6, 0, 0]\nmotion = \"static\"\n\
             [[bodies]]\nname = \"beam\"\nshape = {{ kind = \"cuboid\", size = [1, 0.2, 0.5] }}\n"
        ));
        // the weight comes slowly: at once it would swing on the mortar
        beam.gravity[0].acceleration = DVec3::ZERO;
        beam.base = Some(BaseMotion::of_accelerations(vec![0.0, 0.1], vec![DVec3::ZERO, G * DVec3::Z]));
        beam
    };
    // both faces shear at once; with friction statics would wedge it between them
    let limit = 2.0 * 1e5 * 0.1 / (0.1 * G);
    ends_at(limit, "beam", beam);
    for (factor, stands) in [(0.97, true), (1.03, false)] {
        assert_eq!(trial(&beam(factor * limit), factor).unwrap().stands, stands, "{factor}");
    }
}

#[test]
fn a_wall_of_mortar_falls_out_of_plane_where_its_bed_joint_bends() {
    // a wall 2 m high, 0.2 m thick, of courses: pushed out of plane it opens at its foot
    let wall = |a: f64| {
        let mut wall = scene(
            "[time]\nstep = 1e-3\nend = 0.35\n[[materials]]\nname = \"stone\"\ndensity = 2000\n\
             [contact]\nmu = 0.7\nbond = { tension = \"20 kPa\", cohesion = \"40 kPa\" }\n\
             [[generate.wall]]\ncolumns = 3\nrows = 5\ngap = 0\n",
        );
        wall.base = Some(BaseMotion::of_accelerations(vec![0.0, 0.3], vec![DVec3::ZERO, -a * G * DVec3::Y]));
        wall
    };
    // per area: γ a H²/2 = (f + γ H) b/2
    let (height, thickness, gamma) = (1.0, 0.2, 2000.0 * G);
    let limit = (2e4 + gamma * height) * thickness / (gamma * height * height);
    let found = bisect([0.5 * limit, 2.0 * limit], 1e-3, 1, |x| Ok::<_, ()>(stands(&wall(x)))).unwrap().unwrap();
    assert!((0.5 * (found.lower + found.upper) / limit - 1.0).abs() < 2e-3, "{found:?}, by hand {limit}");
    for (factor, stands) in [(0.97, true), (1.03, false)] {
        assert_eq!(trial(&wall(factor * limit), factor).unwrap().stands, stands, "{factor}");
    }
}

#[test]
fn springs_are_loads_of_what_they_give_as_the_scene_stands() {
    // a block of 100 kg on a floor, pulled sideways by a spring that is stretched by y
    let pulled = |y: f64| {
        scene(&format!(
            "[time]\nstep = 1e-3\nend = 0.5\n[contact]\nmu = 0.5\n\
             [[bodies]]\nname = \"floor\"\nshape = {{ kind = \"half_space\" }}\nmotion = \"static\"\n\
             [[bodies]]\nname = \"block\"\nshape = {{ kind = \"cuboid\", size = [1, 1, 0.5] }}\nposition = [0, 0, 0.25]\nmass = 100\n\
             [[interactions]]\nname = \"spring\"\nbody1 = \"block\"\nrelation = \"displacement\"\nanchor = [0, 0, 0]\naxis = [1, 0, 0]\noffset = {y}\n\
             law = {{ kind = \"spring\", stiffness = \"10 kN/m\", damping = \"100 N s/m\" }}\n"
        ))
    };
    ends_at(0.5 * 100.0 * G / 1e4, "spring", pulled);
    let limited = |y: f64| {
        let mut scene = pulled(y);
        if let drystone::model::joint::TieLaw::Spring { limit, .. } = &mut scene.ties[0].spec.law {
            *limit = 400.0;
        }
        scene
    };
    assert_eq!(stands(&limited(10.0)), Some(true), "never more than 400 N");
}

#[test]
fn a_triplet_shears_off_at_twice_its_area_times_cohesion_and_friction() {
    // EN 1052-3: the line through the peaks at several presses has the cohesion and the friction of the joints
    let area = 0.12 * 0.25;
    let weight = 0.06 * area * 1800.0 * G;
    let of = |press: f64, push: f64| {
        drystone::scenes::load("triplet", &[("press", &format!("{}", -press * area)), ("push", &format!("{push}"))]).unwrap()
    };
    let exact = |press: f64| 2.0 * area * (3e5 + 0.75 * press) + weight;
    for press in [0.0, 2e5, 1e6] {
        for (factor, stands) in [(0.97, true), (1.03, false)] {
            let found = trial(&of(press, factor * exact(press)), factor).unwrap();
            assert_eq!(found.stands, stands, "{press} Pa, {factor}: {found:?}");
        }
    }
}

/// A brick glued to what does not move, listed after it or before it: what the joint of each face carries, at rest and by a run.
fn glued(fixed: &str, brick_at: &str, force: &str, brick_first: bool) -> Vec<(Vec<Joint>, Vec<JointForce>)> {
    let fixed = format!("[[bodies]]\nname = \"fixed\"\nmotion = \"static\"\n{fixed}\n");
    let brick = format!(
        "[[bodies]]\nname = \"brick\"\nshape = {{ kind = \"cuboid\", size = [0.2, 0.12, 0.1] }}\nposition = {brick_at}\nforce = {force}\n"
    );
    let [one, two] = if brick_first { [brick, fixed] } else { [fixed, brick] };
    let scene = scene(&format!(
        "[time]\nstep = 1e-3\nend = 0.1\n[solver]\ntolerance = 1e-9\n[[materials]]\nname = \"brick\"\ndensity = 1800\n\
         [contact]\nmu = 0.6\nbond = {{ tension = \"0.2 MPa\", cohesion = \"0.3 MPa\" }}\n{one}{two}"
    ));
    let rest = Structure::of(&scene, 0.1).unwrap();
    let run = Structure::of_run(&scene, 0.1).unwrap();
    let forces = [rest.forces(&rest.solve()), run.simulated()];
    [rest.joints, run.joints].into_iter().zip(forces).collect()
}

#[test]
fn resultants_of_a_glued_brick_balance_its_weight_whatever_the_side_and_the_order_of_the_bodies() {
    let weight = 0.2 * 0.12 * 0.1 * 1800.0 * G;
    let plate = "shape = { kind = \"cuboid\", size = [0.4, 0.4, 0.4] }";
    // where the plate is, and the part of the weight along the normal: positive where it presses
    let cases = [
        ("[-0.2, 0, 0]", "[0.1, 0, 0.05]", 0.0),
        ("[0.2, 0, 0]", "[-0.1, 0, 0.05]", 0.0),
        ("[0, -0.2, 0]", "[0, 0.06, 0.02]", 0.0),
        ("[0, 0.2, 0]", "[0, -0.06, 0.02]", 0.0),
        ("[0, 0, 0.2]", "[0, 0, -0.05]", -1.0),
        ("[0, 0, -0.2]", "[0, 0, 0.05]", 1.0),
    ];
    for (plate_at, brick_at, presses) in cases {
        for brick_first in [false, true] {
            for (joints, forces) in glued(&format!("{plate}\nposition = {plate_at}"), brick_at, "[0, 0, 0]", brick_first) {
                let [force] = forces[..] else { panic!("{} joints at {plate_at}", forces.len()) };
                let up = if joints[0].bodies[0] == "brick" { weight } else { -weight };
                let what = format!("{plate_at}, {brick_first}: {force:?}");
                assert!((force.force_N - up * DVec3::Z).length() < 1e-5 * weight, "{what}");
                assert!((force.normal_N - presses * weight).abs() < 1e-5 * weight, "{what}");
                // a joint that is bent and does not press has no point of action
                assert!(force.point.length() < 0.3, "{what}");
            }
        }
    }
}

#[test]
fn a_brick_between_two_walls_of_one_body_pulls_at_one_and_presses_the_other() {
    let channel = "shape = { kind = \"compound\", parts = [\
        { shape = { kind = \"cuboid\", size = [0.2, 0.4, 0.6] }, position = [-0.2, 0, 0] },\
        { shape = { kind = \"cuboid\", size = [0.2, 0.4, 0.6] }, position = [0.2, 0, 0] }] }";
    for brick_first in [false, true] {
        for (k, (joints, forces)) in glued(channel, "[0, 0, 0]", "[1000, 0, 0]", brick_first).into_iter().enumerate() {
            assert_eq!(joints.len(), 2, "each face is a joint");
            let mut normals = [0.0; 2];
            for (joint, force) in joints.iter().zip(&forces) {
                let right = joint.points[0].x > 0.0;
                normals[usize::from(right)] = force.normal_N;
                // the normal looks at the first body
                let towards_brick = if right { -1.0 } else { 1.0 };
                let expected = if joint.bodies[0] == "brick" { towards_brick } else { -towards_brick };
                assert!((joint.normal.x - expected).abs() < 1e-9, "{joint:?}");
                assert!((force.force_N.dot(joint.normal) - force.normal_N).abs() < 1e-9 * 1e3, "{force:?}");
            }
            let [left, right] = normals;
            assert!((right - left - 1000.0).abs() < 1e-2, "{left} and {right} N");
            // the least forces share it; a run may wedge the brick beside that, as both walls are rigid
            assert!(k == 1 || (left + 500.0).abs() < 1.0 && (right - 500.0).abs() < 1.0, "{left} and {right} N");
        }
    }
}

#[test]
fn the_joints_of_a_triplet_hold_the_middle_brick_down_while_they_press_it() {
    let scene = drystone::scenes::load("triplet", &[("press", "-6000"), ("push", "20000")]).unwrap();
    let structure = Structure::of(&scene, scene.time.end).unwrap();
    let middle: Vec<(DVec3, f64)> = structure
        .joints
        .iter()
        .zip(structure.forces(&structure.solve()))
        .map(|(j, f)| (if j.bodies[0] == "middle" { f.force_N } else { -f.force_N }, f.normal_N))
        .collect();
    assert_eq!(middle.len(), 2);
    assert!(middle.iter().all(|(_, normal)| (normal - 6000.0).abs() < 1e-2), "{middle:?}");
    let held: DVec3 = middle.iter().map(|(force, _)| *force).sum();
    let weight = 0.06 * 0.12 * 0.25 * 1800.0 * G;
    assert!((held - (weight - 20000.0) * DVec3::Z).length() < 0.1 && middle.iter().all(|(f, _)| f.z < 0.0), "{middle:?}");
}
