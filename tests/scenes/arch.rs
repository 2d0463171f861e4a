//! S4 and the least thickness of semicircular arches of straight-chord voussoirs, by limit analysis (rigid, no tension):
//! `t/R = 0.1046` for 11 voussoirs, `0.1055` for 17.

use super::outside::Run;
use drystone::algebra::spatial::Pose;
use drystone::io::scene::{Scene, SceneSource};
use drystone::masonry::arch::{Arch, Form};
use drystone::model::newton_euler::BodyPose;
use drystone::scenes::{Built, build, run};
use glam::DVec3;

/// Weight (N) of the arch of 17: `½ sin(π/17) (R₂² − R₁²) = sin(π/17) t` is the area of one voussoir.
fn weight(thickness: f64) -> f64 {
    17.0 * (std::f64::consts::PI / 17.0).sin() * thickness * 0.4 * 2000.0 * 9.81
}

#[test]
fn seventeen_voussoirs_fall_at_0_105_and_stand_at_0_106() {
    for thickness in ["0.106", "0.11"] {
        let run = Run::of("voussoir", &["arch", "--set", &format!("thickness_ratio={thickness}")]);
        run.certified(1e-4);
        run.carries(weight(thickness.parse().unwrap()));
        assert!(run.drift() < 2e-5, "{thickness} drifts by {} m", run.drift());
        assert!(run.end.iter().all(|b| b.v.length() < 0.05));
    }
    for thickness in ["0.104", "0.105"] {
        let run = Run::of("voussoir", &["arch", "--set", &format!("thickness_ratio={thickness}")]);
        run.certified(1e-4);
        assert!(run.drift() > 0.05, "{thickness} moved by {} m only", run.drift());
    }
}

fn scene(voussoirs: usize, thickness: f64, end: f64) -> Scene {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/scenes/arch.toml");
    let set = [("voussoirs", voussoirs.to_string()), ("thickness_ratio", thickness.to_string())];
    let set = set.map(|(key, value)| (format!("generate.arch.0.{key}"), value));
    let mut scene = Scene::load(&SceneSource::new(file), &set).unwrap();
    scene.time.end = end;
    scene
}

fn poses(built: &Built) -> Vec<Pose> {
    built.entities.iter().filter_map(|&e| built.simulation.world().get::<BodyPose>(e)).map(|p| p.0).collect()
}

/// Opening (m) of each joint from one foot to the other at its intrados and its extrados.
fn openings(arch: &Arch, start: &[Pose], now: &[Pose]) -> Vec<[f64; 2]> {
    let hulls: Vec<_> = arch.stones().into_iter().map(|mut stone| stone.parts.remove(0)).collect();
    // the ground comes first among the bodies
    let moved = |voussoir: usize, corner: usize| {
        let body = voussoir + 1;
        now[body].point(start[body].local_point(hulls[voussoir][corner]))
    };
    let joint = |j: usize| {
        // corners 0 and 2 are the inner and outer one at the lower angle, 1 and 3 those at the higher
        [0, 2].map(|c| match j {
            0 => moved(0, c).distance(hulls[0][c]),
            j if j == arch.voussoirs => moved(j - 1, c + 1).distance(hulls[j - 1][c + 1]),
            j => moved(j - 1, c + 1).distance(moved(j, c)),
        })
    };
    (0..=arch.voussoirs).map(joint).collect()
}

#[test]
fn three_per_cent_above_the_least_thickness_an_arch_stands_for_ten_seconds() {
    for (voussoirs, least) in [(11, 0.1046), (17, 0.1055)] {
        let scene = scene(voussoirs, 1.03 * least, 10.0);
        let (built, summary) = run(&scene).unwrap();
        let mass = summary.support_force_N / 9.81;
        assert!(mass > 200.0 && summary.unconverged_steps == 0);
        assert!(summary.energy.kinetic_J < 1e-10 * mass, "{voussoirs}: {} J", summary.energy.kinetic_J);
        assert!(summary.displacement_max_m < 2e-5, "{voussoirs}: {} m", summary.displacement_max_m);
        assert_eq!(poses(&built).len(), voussoirs + 1);
    }
}

#[test]
fn three_per_cent_below_it_falls_with_the_hinges_of_limit_analysis() {
    for (voussoirs, least) in [(11, 0.1046), (17, 0.1055)] {
        let thickness = 0.97 * least;
        let scene = scene(voussoirs, thickness, 3.0);
        let mut built = build(&scene).unwrap();
        let (start, arch) = (poses(&built), Arch { form: Form::SEMICIRCLE, voussoirs, thickness, faces: 1, depth: 0.4 });
        let sunk = |built: &Built| poses(built).iter().zip(&start).map(|(a, b)| a.position.distance(b.position)).fold(0.0, f64::max);
        // far enough to see the hinges, not so far that they move
        while sunk(&built) < 0.005 {
            built.simulation.step().unwrap();
            assert!(built.simulation.time() < 3.0, "{voussoirs} voussoirs stand below their least thickness");
        }
        let found = openings(&arch, &start, &poses(&built));
        let crown = (voussoirs - 1) / 2;
        let haunch = (0..=voussoirs / 2).min_by_key(|&j| ((90.0 - 180.0 * j as f64 / voussoirs as f64 - 54.5).abs() * 1e6) as u64).unwrap();
        let mut expected = vec![None; voussoirs + 1];
        for j in [0, crown, crown + 1, voussoirs] {
            expected[j] = Some(1); // turns about the extrados and opens at the intrados
        }
        for j in [haunch, voussoirs - haunch] {
            expected[j] = Some(0);
        }
        for (j, (opening, hinge)) in found.iter().zip(expected).enumerate() {
            let open = opening.iter().copied().fold(0.0, f64::max) > 2e-4;
            let at = open.then(|| usize::from(opening[1] < opening[0]));
            assert_eq!(at, hinge, "{voussoirs} voussoirs, joint {j} opens by {opening:?}");
            if open {
                assert!(opening[0].min(opening[1]) < 0.1 * opening[0].max(opening[1]), "joint {j} is a hinge: {opening:?}");
            }
        }
        assert!(
            poses(&built)[crown + 1].position.distance(start[crown + 1].position - DVec3::Z * sunk(&built)) < 1e-3,
            "the keystone sinks"
        );
    }
}
