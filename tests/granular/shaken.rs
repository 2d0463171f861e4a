//! Scenes that shake and draw: take-off of a vibrated ball, a nut that rises, rocks above a draw point.

use drystone::model::newton_euler::BodyPose;
use drystone::scenes::{Built, build, load};

fn built(name: &str, settings: &[(&str, &str)]) -> Built {
    build(&load(name, settings).expect("a scene")).expect("builds")
}

fn height(built: &Built, body: usize) -> f64 {
    built.simulation.world().get::<BodyPose>(built.entities[body]).expect("alive").0.position.z
}

#[test]
fn a_ball_on_a_vibrating_floor_flies_as_high_as_its_take_off_says_and_not_below_one_g() {
    let w = 40.0 * std::f64::consts::PI;
    for gamma in [0.9, 1.5, 3.0] {
        let v = gamma * 9.81 / w;
        let speed = format!("{v}");
        let settings = [
            ("speed", speed.as_str()),
            ("generate.lattice.0.count", "[1, 1, 1]"),
            ("generate.lattice.0.layer", "2"),
            ("generate.lattice.0.jitter", "0"),
            ("generate.lattice.0.radius", "0.005"),
            ("e_n", "0"),
            ("time.step", "5e-5"),
            ("end", "0.045"),
        ];
        let mut built = built("vibrated_bed", &settings);
        let (mut flew, mut top, start) = (false, 0.0f64, height(&built, 1));
        let radius = start - height(&built, 0);
        while built.simulation.time() < 0.045 - 1e-9 {
            built.simulation.step().expect("a step");
            let (floor, ball) = (height(&built, 0), height(&built, 1));
            flew |= ball - floor > radius + 1e-5;
            top = top.max(ball - start);
        }
        assert_eq!(flew, gamma > 1.0, "{gamma}");
        if gamma > 1.0 {
            // the floor, at v sin ωt from its lowest place, lets go at cos ωt = −1/Γ
            let take_off = v / w * (1.0 + 1.0 / gamma) + v * v * (1.0 - 1.0 / (gamma * gamma)) / (2.0 * 9.81);
            assert!((top / take_off - 1.0).abs() < 0.01, "{gamma}: {top} {take_off}");
        }
    }
}

#[test]
fn a_vibrated_bed_loses_what_its_floor_gives() {
    let mut built = built("vibrated_bed", &[("end", "0.5")]);
    let mut free = 0;
    while built.simulation.time() < 0.5 - 1e-9 {
        let report = built.simulation.step().expect("a step");
        free += u32::from(report.support_force.z == 0.0);
    }
    let balance = built.simulation.balance();
    let work = &balance.work;
    assert!(free > 50, "at 3 g the bed leaves its floor: {free} steps of 500");
    assert!(balance.error() < 1e-9 && work.drives > 0.0, "{balance:?}");
    assert!(work.normal < 0.0 && work.friction < 0.0 && work.normal + work.friction < -0.5 * work.drives, "{work:?}");
}

/// Share of the grains that lie below the nut.
fn below(built: &Built) -> f64 {
    let nut = height(built, 1);
    let grains = &built.entities[2..];
    (2..built.entities.len()).filter(|&k| height(built, k) < nut).count() as f64 / grains.len() as f64
}

#[test]
fn a_nut_rises_where_the_jar_is_shaken_above_one_g_and_stays_below_it() {
    for (speed, rises) in [("0.9", true), ("0.2", false)] {
        let mut built = built("brazil_nut", &[("speed", speed), ("end", "2.5")]);
        assert_eq!(below(&built), 0.0);
        built.simulation.run_until(2.5).expect("runs");
        let share = below(&built);
        assert!(if rises { share > 0.6 } else { share < 0.25 }, "{speed} m/s: {share}");
        assert!(built.simulation.balance().error() < 1e-9);
    }
}

#[test]
fn rocks_above_the_mouth_of_a_draw_point_leave_first_and_none_is_lost() {
    let mut built = built("draw_point", &[]);
    let rocks = &built.entities[7..];
    let start: Vec<f64> = rocks.iter().map(|&r| built.simulation.world().get::<BodyPose>(r).expect("alive").0.position.x.abs()).collect();
    built.simulation.run_until(1.0).expect("runs");
    let alive: Vec<bool> = rocks.iter().map(|&r| built.simulation.world().get::<BodyPose>(r).is_some()).collect();
    let flow = built.simulation.flow(built.outlets[0]).expect("an outlet");
    let drawn = alive.iter().filter(|a| !**a).count();
    assert_eq!(drawn, flow.count as usize);
    assert!((30..150).contains(&drawn), "{drawn} drawn");
    let mean = |wanted: bool| {
        let of: Vec<f64> = start.iter().zip(&alive).filter(|(_, a)| **a == wanted).map(|(x, _)| *x).collect();
        of.iter().sum::<f64>() / of.len() as f64
    };
    // the column above the mouth of 0.5 m in a bin of 3 m
    assert!(mean(false) < 0.75 * mean(true), "drawn from {} m, left at {} m of the middle", mean(false), mean(true));
    assert!(built.simulation.balance().error() < 1e-9);
}
