//! Matrix-free = global: `u = W r + q` with `W = H M⁻¹ Hᵀ` and `q = H M⁻¹ f + w`.

use super::scene::{Fallible, TREATMENTS, everything, noise, noise3};
use drystone::algebra::dense::inverse_spd;
use drystone::assembly::problem::StepProblem;
use drystone::numerics::mixed::{Reactions, Velocities};
use glam::DVec3;
use sprs::CsMat;

/// Row-major dense matrices are enough for a hundred rows.
fn dense(m: &CsMat<f64>) -> Vec<Vec<f64>> {
    let mut full = vec![vec![0.0; m.cols()]; m.rows()];
    for (x, (i, j)) in m {
        full[i][j] += x;
    }
    full
}

fn times(m: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
    m.iter().map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
}

fn flat(v: &Velocities) -> Vec<f64> {
    v.rigid.iter().flat_map(|t| [t.linear.to_array(), t.angular.to_array()]).flatten().chain(v.general.iter().copied()).collect()
}

fn close(what: &str, a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len(), "{what}");
    let size = a.iter().fold(1.0, |s: f64, x| s.max(x.abs()));
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        assert!((a - b).abs() <= 1e-12 * size, "{what} {i}: {a} and {b} differ by {:e} of {size}", (a - b).abs());
    }
}

#[test]
fn the_rows_of_the_sweep_are_those_of_the_sparse_matrices() -> Fallible {
    for treatment in TREATMENTS {
        let (mut sim, _) = everything(treatment)?;
        for steps in [1, 4, 40] {
            for _ in 0..steps {
                let report = sim.step()?;
                assert!(report.converged, "{report:?}");
            }
            let step = sim.world().resource::<StepProblem>();
            let p = &*step.stated();
            let (global, _) = step.global_with_moments();
            let (dofs, rows) = (global.mass.rows(), global.h.rows());
            assert_eq!((dofs, rows), (6 * p.rigid.len() + p.free.general.len(), 3 * p.contacts.len() + p.block_b.len()));
            assert!(p.contacts.len() > 8 && p.blocks.len() >= 2, "{} contacts, {} blocks", p.contacts.len(), p.blocks.len());
            let (mass, h) = (dense(&global.mass), dense(&global.h));
            let inverse = inverse_spd(&mass.concat(), dofs).ok_or("M is not positive definite")?;
            let inverse: Vec<Vec<f64>> = inverse.chunks(dofs).map(<[f64]>::to_vec).collect();
            // M⁻¹ Hᵀ, column by column
            let spread: Vec<Vec<f64>> = h.iter().map(|row| times(&inverse, row)).collect();
            let w: Vec<Vec<f64>> =
                h.iter().map(|row| spread.iter().map(|s| row.iter().zip(s).map(|(a, b)| a * b).sum()).collect()).collect();
            let free = times(&inverse, &global.f);
            close("v_free", &free, &flat(&p.free));
            let q: Vec<f64> = times(&h, &free).iter().zip(&global.w).map(|(a, b)| a + b).collect();
            let arbitrary = Reactions {
                spins: Vec::new(),
                contacts: (0..p.contacts.len()).map(noise3).collect(),
                blocks: (0..p.block_b.len()).map(|k| noise(k + 7)).collect(),
            };
            for reactions in [arbitrary, step.answer.reactions.clone()] {
                let r: Vec<f64> = reactions.contacts.iter().flat_map(|r| r.to_array()).chain(reactions.blocks.iter().copied()).collect();
                let assembled: Vec<f64> = times(&w, &r).iter().zip(&q).map(|(a, b)| a + b).collect();
                let mut v = Velocities::default();
                p.velocities(&reactions, &mut v);
                let mut swept: Vec<f64> = p.contacts.iter().flat_map(|c| p.contact_velocity(c, &v.rigid).to_array()).collect();
                for block in &p.blocks {
                    let mut u = vec![0.0; block.rows];
                    p.block_velocity(block, &v, &mut u);
                    swept.extend(u);
                }
                close("u", &assembled, &swept);
            }
            for (k, c) in p.contacts.iter().enumerate() {
                let own: Vec<f64> = [DVec3::X, DVec3::Y, DVec3::Z].iter().flat_map(|e| c.local.apply(*e).to_array()).collect();
                let columns: Vec<f64> = (0..9).map(|i| w[3 * k + i % 3][3 * k + i / 3]).collect();
                close("block of W of a contact", &columns, &own);
            }
            let first = 3 * p.contacts.len();
            for block in &p.blocks {
                let n = block.rows;
                let at = first + block.first;
                let own = &p.block_w[block.local..][..n * n];
                let square: Vec<f64> = (0..n * n).map(|i| w[at + i / n][at + i % n]).collect();
                close("block of W of a relation", &square, own);
            }
            assert_eq!(global.mu, p.contacts.iter().map(|c| c.mu).collect::<Vec<_>>());
        }
    }
    Ok(())
}
