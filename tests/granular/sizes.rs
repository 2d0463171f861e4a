//! Generators draw radii from the distribution that the scene states.

use drystone::granular::sizes::{By, Sizes};
use drystone::io::scene::Scene;
use drystone::io::scene::model::{BodySpec, ShapeSpec};
use drystone::model::newton_euler::BodyPose;
use drystone::scenes::build;

/// Largest distance of the empirical from the stated distribution, times √n: below 1.95 for 99.9 % of all seeds (Kolmogorov).
fn kolmogorov_smirnov(sizes: &Sizes, mut radii: Vec<f64>) -> f64 {
    radii.sort_by(f64::total_cmp);
    let n = radii.len() as f64;
    let jump = |r: f64| [sizes.cumulative(r * (1.0 - 1e-12)), sizes.cumulative(r)];
    // at a radius that many share F jumps from its value below to that above
    let groups = radii.chunk_by(|a, b| a == b);
    let mut before = 0.0;
    let worst = groups.map(|group| {
        let [low, high] = jump(group[0]);
        let after = before + group.len() as f64 / n;
        let far = (before - low).abs().max((after - high).abs());
        before = after;
        far
    });
    n.sqrt() * worst.fold(0.0, f64::max)
}

fn radii(scene: &Scene) -> Vec<f64> {
    let balls = scene.dynamic_bodies().map(|(_, body)| match body.shape {
        ShapeSpec::Ball { radius } => radius,
        _ => panic!("balls alone"),
    });
    balls.collect()
}

/// Distributions as scenes write them, and what they are.
fn distributions() -> [(&'static str, Result<Sizes, String>); 7] {
    let table = [[0.01, 0.0], [0.02, 0.4], [0.02, 0.6], [0.03, 1.0]];
    [
        ("[0.01, 0.02]", Sizes::uniform(0.01, 0.02, By::Number)),
        ("{ kind = \"uniform\", min = \"1 cm\", max = \"2 cm\", by = \"mass\" }", Sizes::uniform(0.01, 0.02, By::Mass)),
        ("{ kind = \"two\", small = 0.01, large = 0.02, share = 0.3 }", Sizes::two([0.01, 0.02], 0.3, By::Number)),
        ("{ kind = \"two\", small = 0.01, large = 0.02, share = 0.7, by = \"mass\" }", Sizes::two([0.01, 0.02], 0.7, By::Mass)),
        ("{ kind = \"log_normal\", median = 0.02, sigma = 0.3 }", Sizes::log_normal(0.02, 0.3, None, By::Number)),
        (
            "{ kind = \"log_normal\", median = 0.02, sigma = 0.3, min = 0.01, max = 0.03, by = \"mass\" }",
            Sizes::log_normal(0.02, 0.3, Some([0.01, 0.03]), By::Mass),
        ),
        ("{ kind = \"table\", points = [[0.01, 0], [0.02, 0.4], [0.02, 0.6], [0.03, 1]], by = \"mass\" }", Sizes::table(&table, By::Mass)),
    ]
}

#[test]
fn lattices_and_pours_have_the_stated_distribution_and_no_overlaps() {
    for (text, sizes) in distributions() {
        let sizes = sizes.expect("a distribution");
        for generator in ["lattice]]\ncount = [12, 13, 14]", "pour]]\ncount = 2184\nwidth = [0.9, 0.8]"] {
            for seed in [0, 1, 2] {
                let head = "time = { step = 1e-3, end = 1 }\n[[generate.";
                let scene = Scene::from_toml(&format!("{head}{generator}\nradius = {text}\nseed = {seed}"), "t").expect("a scene");
                let found = radii(&scene);
                assert_eq!(found.len(), 2184);
                let distance = kolmogorov_smirnov(&sizes, found);
                assert!(distance < 1.95, "{text}, {generator}, seed {seed}: {distance}");
                overlap_free(&scene);
            }
        }
    }
}

/// A large grain finds a free place less easily than a small one; none must be passed over for that.
#[test]
fn what_comes_through_an_inlet_has_the_stated_distribution() {
    for (text, sizes) in distributions() {
        let sizes = sizes.expect("a distribution");
        for seed in [0, 1, 2] {
            let scene = Scene::from_toml(
                &format!(
                    "gravity = [0, 0, 0]\ntime = {{ step = 1e-2, end = 1 }}\n[[inlet]]\nbox = [[0, 0, 0], [0.6, 0.6, 0.3]]\n\
                     velocity = [0, 0, -10]\nrate = 1e4\ncount = 2184\nradius = {text}\nseed = {seed}"
                ),
                "t",
            )
            .expect("a scene");
            let mut built = build(&scene).expect("builds");
            // until some are still to come: the last ones may wait for their places
            while built.simulation.flow(built.inlets[0]).is_none_or(|flow| flow.count < 1500) {
                built.simulation.step().expect("a step");
                assert!(built.simulation.time() < 10.0, "{text}: the box is never free");
            }
            let come = built.entities.iter().filter(|grain| built.simulation.world().get::<BodyPose>(**grain).is_some()).count();
            let radii = |grain: BodySpec| if let ShapeSpec::Ball { radius } = grain.shape { radius } else { panic!("balls alone") };
            let found: Vec<f64> = scene.inlets[0].grains().map(radii).collect();
            assert_eq!((found.len(), come >= 1500), (2184, true));
            for part in [&found[..], &found[..come]] {
                let distance = kolmogorov_smirnov(&sizes, part.to_vec());
                assert!(distance < 1.95, "{text}, seed {seed}, {} grains: {distance}", part.len());
            }
        }
    }
}

/// No two balls overlap by more than 1e-9 m, none reaches into the walls of its tank.
fn overlap_free(scene: &Scene) {
    let mut balls: Vec<(f64, glam::DVec3)> = radii(scene).into_iter().zip(scene.dynamic_bodies().map(|(_, b)| b.pose.position)).collect();
    balls.sort_by(|a, b| a.1.x.total_cmp(&b.1.x));
    for (i, (r, x)) in balls.iter().enumerate() {
        for (s, y) in balls[i + 1..].iter().take_while(|(_, y)| y.x - x.x < 0.1) {
            assert!(x.distance(*y) >= r + s - 1e-9, "{x} {y}");
        }
        for wall in scene.bodies.iter() {
            if let ShapeSpec::HalfSpace { normal } = wall.shape {
                assert!((*x - wall.pose.position).dot(normal) >= r - 1e-9, "{} {x}", wall.name);
            }
        }
    }
}

#[test]
fn mass_shares_are_those_asked_for() {
    // by mass: half of the mass in each size, whatever the numbers
    let sizes = Sizes::two([1.0, 3.0], 0.5, By::Mass).expect("two");
    let radii = sizes.radii(200_000, 5);
    let mass = |large: bool| radii.iter().filter(|r| (**r > 2.0) == large).map(|r| r.powi(3)).sum::<f64>();
    assert!((mass(true) / (mass(true) + mass(false)) - 0.5).abs() < 0.01);
    // the mean of r³ of a log-normal distribution is that of ln r³: exp(3 ln m + 9σ²/2)
    let sizes = Sizes::log_normal(1.0, 0.2, Some([0.2, 5.0]), By::Number).expect("log-normal");
    let mean = sizes.radii(200_000, 5).iter().map(|r| r.powi(3)).sum::<f64>() / 2e5;
    assert!((mean / (4.5f64 * 0.04).exp() - 1.0).abs() < 0.01, "{mean}");
}

#[test]
fn distributions_that_are_none_are_named_with_their_place() {
    for (radius, found) in [
        ("[0.02, 0.01]", "radii from 0.02 to 0.01 m"),
        ("{ kind = \"uniform\", min = 0.03, max = 0.01 }", "radii from 0.03 to 0.01 m"),
        ("{ kind = \"two\", small = 0.03, large = 0.02, share = 0.2 }", "exchange them"),
        ("{ kind = \"table\", points = [[0.02, 0], [0.01, 1]] }", "must not fall"),
        ("{ kind = \"table\", points = [] }", "empty distribution"),
        ("{ kind = \"uniform\", min = 0.01 }", "max"),
        ("{ kind = \"gauss\", min = 0.01 }", "unknown distribution"),
        ("{ kind = \"log_normal\", median = 0.01, sigma = 0.3, min = 0.001 }", "both `min` and `max`"),
        ("{ kind = \"two\", small = 0.01, large = 0.02, share = 2 }", "from 0 to 1"),
    ] {
        let text = format!("time = {{ step = 1e-3, end = 1 }}\n[[generate.lattice]]\ncount = [2, 2, 2]\nradius = {radius}");
        let error = Scene::from_toml(&text, "t.toml").expect_err(radius).to_string();
        assert!(error.contains(found) && error.contains("t.toml:4"), "{radius}: {error}");
    }
}

/// A sieve curve of a file, in millimetres of diameter, is the table of its radii.
#[test]
fn a_sieve_curve_may_stand_in_a_file() {
    let directory = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).expect("written");
    let read = |radius: &str| {
        write("s.toml", &format!("time = {{ step = 1e-3, end = 1 }}\n[[generate.lattice]]\ncount = [8, 8, 8]\nradius = {radius}"));
        Scene::load(&drystone::io::scene::SceneSource::new(directory.path().join("s.toml").to_str().expect("a path")), &[])
    };
    write("sieve.csv", "size;passing\n# dry\n4;0\n10; 0.3\n\n20;1\n");
    let of_file = read("{ kind = \"table\", by = \"mass\", file = \"sieve.csv\", unit = \"mm\", of = \"diameter\" }").expect("a scene");
    let given = read("{ kind = \"table\", by = \"mass\", points = [[\"2 mm\", 0], [\"5 mm\", 0.3], [\"10 mm\", 1]] }").expect("a scene");
    let close = radii(&of_file).into_iter().zip(radii(&given)).all(|(a, b)| (a - b).abs() < 1e-15);
    assert!(close && radii(&of_file).len() == 512);
    for (text, found) in [
        ("4 0\n10 x\n", "sieve.csv:2: found \"10 x\""),
        ("4 0\n10 0.5\n", "sieve.csv: found parts from 0 to 0.5; they have to begin at 0 and end at 1"),
        ("", "sieve.csv: found an empty distribution"),
        ("4 0\n10 inf\n", "sieve.csv: found"),
        ("4 0 1", "sieve.csv:1"),
    ] {
        write("sieve.csv", text);
        let error = read("{ kind = \"table\", file = \"sieve.csv\" }").expect_err(text).to_string();
        assert!(error.contains(found), "{text}: {error}");
    }
}
