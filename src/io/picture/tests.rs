use super::*;
use crate::algebra::spatial::Pose;
use crate::io::snapshot::{ContactStatus, ContactView, Surface};
use glam::DQuat;

/// A red-hot ball left of a cube, on the ground.
fn scene() -> Vec<BodyView> {
    let quad = Surface { vertices: vec![-DVec3::X - DVec3::Y, DVec3::X, DVec3::Y], triangles: vec![[0, 1, 2]] };
    let mut ground = BodyView::new(0, "ground", "half-space", Pose::IDENTITY, quad.into());
    ground.dynamic = false;
    let ball = BodyView::new(1, "ball", "ball", Pose::at(DVec3::new(-1.5, 0.0, 1.0)), Surface::ball(1.0, 8).into());
    let mut cube = BodyView::new(2, "cube", "cuboid", Pose::at(DVec3::new(1.5, 0.0, 1.0)), Surface::cuboid(DVec3::ONE).into());
    cube.linear = DVec3::X * 3.0;
    vec![ground, ball, cube]
}

fn picture() -> Picture {
    Picture { size: [240, 150], direction: -DVec3::Y + 0.2 * DVec3::Z, ..Picture::default() }
}

fn snapshot(bodies: &[BodyView]) -> Snapshot<'_> {
    Snapshot { step: 0, time: 0.0, step_size: 0.0, bodies, contacts: &[] }
}

fn pixel(pixels: &[u8], x: usize, y: usize) -> [i32; 3] {
    [0, 1, 2].map(|k| i32::from(pixels[3 * (240 * y + x) + k]))
}

#[test]
fn bodies_stand_where_they_are_in_the_colour_of_their_speed() {
    let bodies = scene();
    let pixels = Picture { colour: ColourBy::Speed { top: 3.0 }, ..picture() }.render(&snapshot(&bodies)).unwrap();
    let (ball, cube) = (pixel(&pixels, 75, 75), pixel(&pixels, 165, 85));
    assert!(ball[2] > ball[1] + 20, "at rest: violet, {ball:?}");
    assert!(cube[0] > cube[2] + 60 && cube[1] > cube[2] + 60, "fast: yellow, {cube:?}");
}

#[test]
fn a_wall_before_the_grains_is_cut_away_and_one_beside_or_behind_them_is_not() {
    let mut wall =
        BodyView::new(3, "wall", "cuboid", Pose::at(DVec3::new(0.0, -3.0, 1.0)), Surface::cuboid(DVec3::new(4.0, 0.1, 2.0)).into());
    wall.dynamic = false;
    let shown = |wall: &BodyView| {
        let bodies = [scene(), vec![wall.clone()]].concat();
        picture().render(&snapshot(&bodies)).unwrap()
    };
    let at = |y: f64, wall: &BodyView| BodyView { pose: Pose::at(DVec3::new(0.0, y, 1.0)), ..wall.clone() };
    let grey = |p: [i32; 3]| p.iter().max().unwrap() - p.iter().min().unwrap() < 12;
    // the ball and the cube are seen, in colours of their own
    let before = shown(&wall);
    assert!(!grey(pixel(&before, 75, 75)) && !grey(pixel(&before, 165, 85)), "{:?}", pixel(&before, 75, 75));
    // one that moves hides them
    let moving = BodyView { dynamic: true, ..wall.clone() };
    assert!(shown(&moving) != before);
    // what stands behind them is there
    let with = shown(&at(3.0, &wall));
    let without = picture().render(&snapshot(&scene())).unwrap();
    assert!((0..150).any(|y| (0..240).any(|x| pixel(&with, x, y) != pixel(&without, x, y))));
    assert!(hidden_behind(&at(3.0, &wall), &[DVec3::Z], -DVec3::Y).is_none());
    assert_eq!(hidden_behind(&wall, &[DVec3::Z, 9.0 * DVec3::X], -DVec3::Y), Some(DVec3::Z));
    assert!(hidden_behind(&wall, &[DVec3::Z, 9.0 * DVec3::X, 9.0 * DVec3::X, 9.0 * DVec3::X, 9.0 * DVec3::X], -DVec3::Y).is_none());
}

#[test]
fn the_same_snapshot_gives_the_same_bytes_on_one_thread_and_on_four() {
    let bodies = scene();
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| picture().render(&snapshot(&bodies)).unwrap())
    };
    assert!(on(1) == on(4));
}

#[test]
fn a_straggler_does_not_shrink_the_others() {
    let mut bodies: Vec<BodyView> =
        (0..20).map(|k| BodyView::new(k, "ball", "ball", Pose::at(DVec3::X * f64::from(k)), Surface::ball(0.5, 8).into())).collect();
    let before = subject(&snapshot(&bodies)).unwrap();
    bodies.push(BodyView::new(20, "lost", "ball", Pose::at(DVec3::X * 1e4), Surface::ball(0.5, 8).into()));
    assert_eq!(subject(&snapshot(&bodies)).unwrap(), before);
}

#[test]
fn a_column_that_stands_apart_from_a_tower_is_in_the_picture_and_what_flies_there_is_not() {
    let stone = |k, at| BodyView::new(k, "stone", "cuboid", Pose::at(at), Surface::cuboid(DVec3::splat(0.5)).into());
    let mut bodies: Vec<BodyView> = (0..60).map(|k| stone(k, DVec3::Z * f64::from(k % 6) + DVec3::X * f64::from(k / 20))).collect();
    let before = subject(&snapshot(&bodies)).unwrap().len();
    bodies.push(stone(60, DVec3::X * 20.0));
    assert_eq!(subject(&snapshot(&bodies)).unwrap().len(), before + 8);
    bodies[60].linear = DVec3::X * 5.0;
    assert_eq!(subject(&snapshot(&bodies)).unwrap().len(), before);
}

#[test]
fn force_chains_are_seen_through_the_bodies() {
    let bodies = scene();
    let contact = ContactView {
        body1: 1,
        body2: 2,
        point1: DVec3::Z,
        point2: DVec3::Z,
        shift: DVec3::ZERO,
        normal: -DVec3::X,
        gap: 0.0,
        normal_impulse: 2.0,
        friction_impulse: DVec3::ZERO,
        moment_impulse: DVec3::ZERO,
        sliding_speed: 0.0,
        status: ContactStatus::Stick,
    };
    let snapshot = Snapshot { contacts: &[contact], ..snapshot(&bodies) };
    let red = |pixels: Vec<u8>| pixels.chunks(3).filter(|p| p[0] > 140 && p[1] < p[0] / 5 * 3 && p[2] < p[0] / 5 * 3).count();
    assert_eq!(red(picture().render(&snapshot).unwrap()), 0);
    assert!(red(Picture { forces: true, ..picture() }.render(&snapshot).unwrap()) > 100);
}

#[test]
fn what_cannot_be_drawn_is_refused_with_a_reason() {
    let bodies = scene();
    for (picture, cause) in [
        (Picture { size: [0, 10], ..picture() }, "0 × 10 pixels"),
        (Picture { samples: 9, ..picture() }, "9 samples"),
        (Picture { direction: DVec3::ZERO, ..picture() }, "direction of view"),
    ] {
        let error = picture.write("nowhere.png".as_ref(), &snapshot(&bodies)).unwrap_err().to_string();
        assert!(error.starts_with("nowhere.png: ") && error.contains(cause), "{error}");
    }
    let mut lost = bodies[1].clone();
    lost.pose.position.x = f64::NAN;
    for bodies in [vec![], vec![bodies[0].clone()], vec![lost]] {
        assert!(picture().render(&snapshot(&bodies)).unwrap_err().contains("no body to look at"));
    }
}

#[test]
fn any_view_of_any_turn_is_drawn() {
    let mut bodies = scene();
    bodies[2].pose.rotation = DQuat::from_rotation_y(1.0);
    for direction in [DVec3::Z, -DVec3::Z, DVec3::X * 1e6] {
        let pixels = Picture { direction, size: [60, 90], samples: 1, ..picture() }.render(&snapshot(&bodies)).unwrap();
        assert_eq!(pixels.len(), 3 * 60 * 90);
    }
}

/// A colour stands for the same number in a body and in the bar, also where force chains make both of them paler.
#[test]
fn a_bar_beside_chains_of_force_has_the_colours_of_the_bodies() {
    let mut bodies = scene();
    bodies[2].linear = DVec3::X * 4.0;
    let of = |forces: bool| Picture { size: [480, 320], colour: ColourBy::Speed { top: 4.0 }, forces, ..picture() };
    for forces in [false, true] {
        let (picture, bodies) = (of(forces), &bodies);
        let pixels = picture.render(&snapshot(bodies)).unwrap();
        let body = colour::to_srgb(body_colour(&picture, &bodies[2], 4.0)).map(i32::from);
        // near the yellow end of the bar, 12 units from its left side and 30 from its upper one
        let (x, y) = (480 - 98 - 16 + 20, 320 - 148 - 16 + 31);
        let bar = [0, 1, 2].map(|k| i32::from(pixels[3 * (480 * y + x) + k]));
        assert!((0..3).all(|k| (bar[k] - body[k]).abs() <= 6), "{forces}: {bar:?} {body:?}");
    }
    assert_ne!(of(true).quiet(), of(false).quiet());
}

#[test]
fn nothing_lies_under_the_bar_or_the_legend_of_forces() {
    let of = |way: DVec3| -> Vec<BodyView> {
        let ball = |k: u32| BodyView::new(k, "ball", "ball", Pose::at(way * f64::from(k)), Surface::ball(0.5, 8).into());
        (0..6).map(ball).collect()
    };
    let look = |colour, forces| Picture { size: [480, 320], direction: -DVec3::Y, colour, forces, ..picture() };
    let drawn = |pixels: &[u8], x: usize, y: usize| pixels[3 * (480 * y + x)..][..3] != pixels[3 * (480 * y + 479)..][..3];
    // the background is the same along a row
    let bar = look(ColourBy::Speed { top: 1.0 }, false).render(&snapshot(&of(DVec3::X))).unwrap();
    assert!((0..150).any(|y| (0..366).any(|x| drawn(&bar, x, y))));
    assert!(!(0..150).any(|y| (366..480).any(|x| drawn(&bar, x, y))), "98 units and the margin");
    let legend = look(ColourBy::Material, true).render(&snapshot(&of(DVec3::Z))).unwrap();
    assert!((0..238).any(|y| (200..480).any(|x| drawn(&legend, x, y))));
    assert!(!(238..320).any(|y| (200..480).any(|x| drawn(&legend, x, y))), "three rows of 22 units and the margin");
}

#[test]
fn two_bodies_that_part_are_both_in_the_picture() {
    let ball = |k, x: f64| {
        let mut ball = BodyView::new(k, "ball", "ball", Pose::at(DVec3::X * x), Surface::ball(0.5, 8).into());
        ball.linear = DVec3::X * 9.0 * x;
        ball
    };
    assert_eq!(subject(&snapshot(&[ball(0, -20.0), ball(1, 20.0)])).unwrap().len(), 2);
}
