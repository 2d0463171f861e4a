//! Blocks that slide over flagstones laid flush slide as over one slab, and what comes down on an edge is held by it.

use super::common::{Fallible, G, GAP_AWARE, friction, position, space};
use drystone::algebra::spatial::Pose;
use drystone::geometry::Shape;
use drystone::model::law::ContactLaws;
use drystone::simulation::{Body, Simulation};
use glam::DVec3;

const MU: f64 = 0.3;
const SPEED: f64 = 1.5;

fn cuboid(x: f64, y: f64, z: f64) -> Fallible<Shape> {
    Ok(Shape::cuboid(0.5 * DVec3::new(x, y, z))?)
}

fn hull(x: f64, y: f64, z: f64) -> Fallible<Shape> {
    let corners = [-0.5, 0.5].map(|i| [-0.5, 0.5].map(|j| [-0.5, 0.5].map(|k| DVec3::new(i * x, j * y, k * z))));
    Ok(Shape::hull(corners.as_flattened().as_flattened())?)
}

fn empty(h: f64, mu: f64) -> Fallible<Simulation> {
    let mut sim = space(h, GAP_AWARE, G, 1e-6)?;
    sim.set_laws(ContactLaws::uniform(friction(mu)))?;
    Ok(sim)
}

/// Where `shape` comes to rest that starts at `from` with [`SPEED`] along x.
fn slides(mut sim: Simulation, h: f64, shape: Shape, from: f64) -> Fallible<DVec3> {
    let block = sim.spawn_body(Body::new(shape).at(DVec3::new(from, 0.013, 0.1)).moving(DVec3::X * SPEED).mass(16.0))?;
    for _ in 0..(0.6 / h) as usize {
        assert!(sim.step()?.converged);
    }
    Ok(position(&sim, block))
}

#[test]
fn flagstones_laid_flush_brake_as_one_slab_does() -> Fallible {
    let tile = |i: i32| if i % 2 == 0 { cuboid(0.3, 1.0, 0.1) } else { hull(0.3, 1.0, 0.1) };
    let at = |i: i32| DVec3::new(0.3 * f64::from(i), 0.0, -0.05);
    for h in [4e-3, 1e-3] {
        let mut slab = empty(h, MU)?;
        slab.spawn_body(Body::new(cuboid(3.0, 1.0, 0.1)?).at(at(0)).fixed())?;
        let exact = slides(slab, h, cuboid(0.2, 0.2, 0.2)?, 0.1)?;
        let way = SPEED * SPEED / (2.0 * MU * G);
        assert!((exact.x - 0.1 - way).abs() < h * SPEED, "{exact}");
        for shape in [cuboid(0.2, 0.2, 0.2)?, hull(0.2, 0.2, 0.2)?] {
            let mut tiles = empty(h, MU)?;
            for i in 0..3 {
                tiles.spawn_body(Body::new(tile(i)?).at(at(i)).fixed())?;
            }
            let found = slides(tiles, h, shape.clone(), 0.1)?;
            assert!((found - exact).length() < 1e-5, "apart, {h} s: {found} against {exact}");
            let mut whole = empty(h, MU)?;
            let parts = (0..3).map(|i| Ok((Pose::at(at(i)), tile(i)?))).collect::<Fallible<Vec<_>>>()?;
            whole.spawn_body(Body::new(Shape::compound(parts)?).fixed())?;
            let found = slides(whole, h, shape, 0.1)?;
            assert!((found - exact).length() < 1e-5, "in one, {h} s: {found} against {exact}");
        }
    }
    Ok(())
}

#[test]
fn a_block_falls_freely_in_a_shaft_of_blocks_of_its_width() -> Fallible {
    let (h, steps) = (2e-3, 250);
    let mut sim = empty(h, 0.0)?;
    for i in 0..8 {
        for x in [-0.2, 0.2] {
            let side = if i % 2 == 0 { cuboid(0.2, 0.2, 0.2) } else { hull(0.2, 0.2, 0.2) };
            sim.spawn_body(Body::new(side?).at(DVec3::new(x, 0.0, -0.2 * f64::from(i))).fixed())?;
        }
    }
    let block = sim.spawn_body(Body::new(cuboid(0.2, 0.15, 0.1)?).mass(6.0))?;
    for _ in 0..steps {
        assert!(sim.step()?.converged);
    }
    let n = f64::from(steps);
    assert!((position(&sim, block).z + 0.5 * G * h * h * n * (n + 1.0)).abs() < 1e-9, "{}", position(&sim, block));
    Ok(())
}

/// The bottom of the block is level with the top of a step, half a millimetre away, and comes down at 45° to both.
#[test]
fn what_comes_down_on_an_edge_is_held_by_it() -> Fallible {
    for speed in [0.05, 0.2, 1.0, 5.0] {
        for h in [4e-3, 2e-3, 5e-4] {
            let mut sim = empty(h, MU)?;
            sim.spawn_body(Body::new(cuboid(0.4, 1.0, 0.2)?).at(DVec3::new(0.3, 0.0, -0.1)).fixed())?;
            let block = Body::new(cuboid(0.2, 0.2, 0.2)?).at(DVec3::new(-5e-4, 0.0, 0.1)).moving(speed * (DVec3::X - DVec3::Z));
            let block = sim.spawn_body(block.mass(16.0))?;
            let mut deepest: f64 = 0.0;
            for _ in 0..(0.2 / h) as usize {
                let report = sim.step()?;
                assert!(report.converged);
                deepest = deepest.max(report.penetration);
            }
            assert!(deepest < 5e-4, "{deepest} m at {speed} m/s, {h} s");
            assert!(position(&sim, block).x < 1e-3, "{} at {speed} m/s, {h} s", position(&sim, block));
        }
    }
    Ok(())
}

#[test]
fn what_is_round_passes_the_seams_of_flagstones_without_a_bump() -> Fallible {
    let radius = 0.02;
    let across = glam::DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
    let tile = |i: i32| if i % 2 == 0 { cuboid(0.1, 0.4, 0.05) } else { hull(0.1, 0.4, 0.05) };
    let at = |i: i32| DVec3::new(0.1 * f64::from(i), 0.0, -0.025);
    for e_n in [0.0, 0.5] {
        for h in [4e-3, 1e-3] {
            for shape in [Shape::ball(radius)?, Shape::capsule(0.05, radius)?, Shape::cylinder(0.05, radius)?] {
                let laws = || ContactLaws::uniform(drystone::model::law::CoulombImpact { e_n, ..friction(0.0) });
                for compound in [false, true] {
                    let mut sim = space(h, GAP_AWARE, G, 1e-8)?;
                    sim.set_laws(laws())?;
                    if compound {
                        let parts: Fallible<Vec<_>> = (-4..6).map(|i| Ok((Pose::at(at(i)), tile(i)?))).collect();
                        sim.spawn_body(Body::new(Shape::compound(parts?)?).fixed())?;
                    } else {
                        for i in -4..6 {
                            sim.spawn_body(Body::new(tile(i)?).at(at(i)).fixed())?;
                        }
                    }
                    let start = DVec3::new(-0.25, 0.013, radius);
                    let body = sim.spawn_body(Body::new(shape.clone()).at(start).turned(across).moving(DVec3::X).mass(0.1))?;
                    for _ in 0..(0.45 / h) as usize {
                        sim.step()?;
                        let off = (position(&sim, body).z - radius).abs();
                        assert!(off < 1e-9, "{h} s, {shape:?}, compound {compound}: {off} m off the floor");
                    }
                    let way = position(&sim, body).x - start.x;
                    assert!((way / sim.time() - 1.0).abs() < 1e-9, "{h} s, {shape:?}, compound {compound}: {way} m");
                }
            }
        }
    }
    Ok(())
}
