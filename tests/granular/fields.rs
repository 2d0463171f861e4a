//! Coarse-grained fields against closed forms and sums over grains and contacts.

use drystone::algebra::random::Sequence;
use drystone::diagnostics::fields::{Field, coarse_grain};
use drystone::diagnostics::grains::{Grain, Packing};
use drystone::io::scene::Scene;
use drystone::model::grid::{Grid, Kernel};
use drystone::model::periodic::Cell;
use drystone::prelude::*;
use drystone::scenes::run;

fn numbers(m: DMat3) -> [f64; 9] {
    m.to_cols_array()
}

fn largest(m: DMat3) -> f64 {
    numbers(m).into_iter().fold(0.0, |m, x| m.max(x.abs()))
}

fn sum<T: std::iter::Sum>(grid: &Grid, fields: &[Field], of: impl Fn(&Field, f64) -> T) -> T {
    fields.iter().map(|f| of(f, grid.volume())).sum()
}

/// A box around everything, and a slab along z that is a cell of the other axes.
fn grids(low: DVec3, high: DVec3) -> Vec<Grid> {
    let mut grids = Vec::new();
    for kernel in Kernel::ALL {
        for cells in [[9, 7, 12], [1, 1, 25], [8, 1, 9], [1, 1, 1]] {
            let size = (high - low) / DVec3::from_array(cells.map(|n| n as f64));
            let longest = (0..3).filter(|&a| cells[a] > 1).map(|a| size[a]).fold(0.1, f64::max);
            grids.push(Grid { low, high, cells, width: 0.9 * longest, kernel, wraps: [false; 3] });
        }
    }
    grids.retain(|grid| grid.validate().is_ok());
    grids
}

#[test]
fn integrals_of_fields_are_mass_momentum_energy_and_the_stress_of_love_and_weber() {
    let scene = Scene::from_toml(
        "time = { step = 2e-3, end = 0.35 }\n[solver]\ntolerance = 1e-4\n[[generate.lattice]]\ncount = [5, 5, 6]\nradius = { kind = \"uniform\", min = 0.04, max = 0.06 }",
        "t",
    )
    .expect("a scene");
    let (built, _) = run(&scene).expect("runs");
    let packing = Packing::of(&built.simulation, None);
    let grains = &packing.grains;
    let (low, high) = packing.bounds();
    let mass: f64 = grains.iter().map(|g| g.mass).sum();
    let momentum: DVec3 = grains.iter().map(|g| g.mass * g.velocity).sum();
    let energy: f64 = grains.iter().map(|g| g.mass * g.velocity.length_squared()).sum();
    let stress = packing.stress(1.0);
    assert!(packing.links.len() > 100, "{}", packing.links.len());
    let all = grids(low - DVec3::splat(0.5), high + DVec3::splat(0.5));
    assert_eq!(all.len(), 8);
    for grid in all {
        let fields = coarse_grain(&grid, &packing);
        let told = format!("{:?} {:?}", grid.kernel, grid.cells);
        assert!((sum(&grid, &fields, |f, v| f.density * v) / mass - 1.0).abs() < 1e-13, "{told}");
        let volume: f64 = grains.iter().map(|g| g.volume).sum();
        assert!((sum(&grid, &fields, |f, v| f.solid_fraction * v) / volume - 1.0).abs() < 1e-13, "{told}");
        let finite = |f: &Field| if f.density > 0.0 { f.velocity } else { DVec3::ZERO };
        let p = sum(&grid, &fields, |f, v| f.density * v * finite(f));
        assert!((p - momentum).length() < 1e-13 * mass, "{told}: {p} {momentum}");
        // of the mean motion and about it
        let twice = sum(&grid, &fields, |f, v| {
            f.density * v * finite(f).length_squared()
                + v * (f.kinetic_stress.x_axis.x + f.kinetic_stress.y_axis.y + f.kinetic_stress.z_axis.z)
        });
        assert!((twice / energy - 1.0).abs() < 1e-12, "{told}: {twice} {energy}");
        let total = fields.iter().fold(DMat3::ZERO, |s, f| s + f.stress * grid.volume());
        assert!(largest(total - stress) < 1e-12 * largest(stress), "{told}: {total} {stress}");
    }
}

/// Grains on a fine lattice that move as they are told by their place.
fn lattice(n: usize, size: f64, velocity: impl Fn(DVec3) -> DVec3) -> Packing {
    let a = size / n as f64;
    let at = |k: usize| a * (k as f64 + 0.5) - 0.5 * size;
    let places = (0..n * n * n).map(|k| DVec3::new(at(k % n), at(k / n % n), at(k / n / n)));
    let grain =
        |position| Grain { position, velocity: velocity(position), mass: 2500.0 * a * a * a, volume: 0.5 * a * a * a, ..Grain::default() };
    Packing { grains: places.map(grain).collect(), ..Packing::default() }
}

#[test]
fn a_uniform_shear_has_its_density_its_profile_and_the_temperature_of_the_kernel() {
    let (rate, width) = (3.0, 0.3);
    let packing = lattice(48, 1.6, |x| DVec3::new(rate * x.z, 0.5, 0.0));
    // ∫ z² W over the whole of the kernel, in one dimension and in three
    for (cells, moment) in [([1, 1, 48], 2.0 / 21.0), ([24, 24, 24], 1.0 / 12.0)] {
        let grid =
            Grid { low: DVec3::splat(-0.8), high: DVec3::splat(0.8), cells, width, kernel: Kernel::Lucy, wraps: [true, true, false] };
        let fields = coarse_grain(&grid, &packing);
        let inner = |k: &usize| grid.centre(*k).z.abs() < 0.8 - width;
        assert!((0..grid.count()).filter(inner).count() > 10);
        for k in (0..grid.count()).filter(inner) {
            let (field, z) = (&fields[k], grid.centre(k).z);
            assert!((field.density / 2500.0 - 1.0).abs() < 2e-3, "{cells:?} {z}: {}", field.density);
            assert!((field.solid_fraction / 0.5 - 1.0).abs() < 2e-3);
            assert!((field.velocity - DVec3::new(rate * z, 0.5, 0.0)).length() < 1e-9, "{cells:?} {z}: {}", field.velocity);
            let exact = rate * rate * width * width * moment / 3.0;
            assert!((field.temperature / exact - 1.0).abs() < 0.02, "{cells:?} {z}: {} {exact}", field.temperature);
            let k = field.kinetic_stress;
            assert!((k.x_axis.x / (3.0 * field.density * field.temperature) - 1.0).abs() < 1e-9 && k.z_axis.z == 0.0);
        }
    }
}

#[test]
fn a_column_of_balls_presses_as_the_weight_above_it() {
    let (mut sim, r, m, n) = (Simulation::default(), 0.1, 2.0, 12);
    sim.solver_mut().tolerance = 1e-12;
    sim.spawn_body(Body::new(Shape::half_space(DVec3::Z).expect("n")).fixed()).expect("a floor");
    for k in 0..n {
        let at = DVec3::Z * (r + 2.0 * r * f64::from(k));
        sim.spawn_body(Body::new(Shape::ball(r).expect("r")).mass(m).at(at)).expect("a ball");
    }
    sim.run_until(0.05).expect("rests");
    // along z the weight of what is above, over the area, but for the staircase of half a ball; the kernel smooths this out
    let area = 0.04;
    let grid = Grid { low: DVec3::new(-0.1, -0.1, 0.0), high: DVec3::new(0.1, 0.1, 2.4), cells: [1, 1, 48], width: 0.4, ..Grid::default() };
    let fields = coarse_grain(&grid, &Packing::of(&sim, None));
    for (k, field) in fields.iter().enumerate() {
        let z = grid.centre(k).z;
        if (0.4..2.0).contains(&z) {
            let exact = (2.4 - z) / (2.0 * r) * m * 9.81 / area;
            let found = field.stress;
            assert!((found.z_axis.z - exact).abs() < 0.01 * exact.max(1e3), "{z}: {} {exact}", found.z_axis.z);
            assert!(found.x_axis.length() + found.y_axis.length() < 1e-6 * exact);
        }
    }
}

#[test]
fn in_a_periodic_cell_no_field_depends_on_where_it_is_cut() {
    let mut random = Sequence::new(8);
    let cell = |x: f64| Cell::new([Some([x, x + 1.0]), Some([0.0, 1.0]), None]).expect("a cell");
    let mut packing = lattice(4, 1.0, |_| DVec3::ZERO);
    for grain in &mut packing.grains {
        let mut vector = || DVec3::from_array([(); 3].map(|()| random.next_between(-1.0, 1.0)));
        (grain.position, grain.velocity) = (vector(), vector());
    }
    let moved = |shift: f64| {
        let cell = cell(shift);
        let mut packing = Packing { cell, ..packing.clone() };
        packing.grains.iter_mut().for_each(|g| g.position += cell.home(g.position).0);
        packing
    };
    for cells in [[10, 1, 6], [10, 10, 5], [1, 1, 8]] {
        // the grid is the whole cell, or a part of it that the faces of the other cell cut
        for (low, high, wraps) in [(0.0, 1.0, true), (0.25, 0.75, false)] {
            let grid = Grid {
                low: DVec3::new(low, 0.0, -1.0),
                high: DVec3::new(high, 1.0, 1.0),
                cells,
                width: 0.4,
                kernel: Kernel::Lucy,
                wraps: [wraps, true, false],
            };
            grid.validate().expect("a grid");
            let (one, other) = (coarse_grain(&grid, &moved(0.0)), coarse_grain(&grid, &moved(if wraps { 0.0 } else { -0.5 })));
            for (a, b) in one.iter().zip(&other) {
                assert!((a.density - b.density).abs() < 1e-9 * a.density && (a.velocity - b.velocity).length() < 1e-12);
            }
            if wraps {
                let mass: f64 = packing.grains.iter().filter(|g| g.position.z.abs() < 0.6).map(|g| g.mass).sum();
                let found = sum(&grid, &one, |f, v| f.density * v);
                assert!(found > mass && found <= packing.grains.iter().map(|g| g.mass).sum());
            }
        }
    }
}
