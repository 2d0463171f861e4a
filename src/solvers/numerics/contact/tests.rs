//! The exact solvers against the law itself, on hundreds of thousands of random contacts.

use super::*;
use crate::numerics::admissible::{AdmissibleSet, project_coulomb};
use proptest::prelude::*;

/// Numbers between −1 and 1, the same in every run.
pub(in crate::numerics) struct Random(pub(in crate::numerics) u64);

impl Random {
    pub(in crate::numerics) fn next(&mut self) -> f64 {
        // SplitMix64
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// A positive semidefinite `G Gᵀ` of order n, from well conditioned to singular, now and then with an antisymmetric part.
pub(in crate::numerics) fn random_operator(n: usize, kind: usize, random: &mut Random) -> Vec<f64> {
    let g: Vec<f64> = (0..n * n).map(|_| random.next()).collect();
    let weight: Vec<f64> = (0..n)
        .map(|k| match kind % 4 {
            0 => 1.0,
            1 => 10f64.powf(4.0 * random.next()),
            2 => {
                if k == 0 {
                    1e-9
                } else {
                    1.0
                }
            }
            _ => {
                if k == 0 {
                    0.0
                } else {
                    1.0
                }
            }
        })
        .collect();
    let mut w = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            w[i * n + j] = (0..n).map(|k| weight[k] * g[i * n + k] * g[j * n + k]).sum();
        }
    }
    if kind % 8 == 4 {
        for i in 0..n {
            for j in 0..i {
                let x = 0.3 * random.next();
                w[i * n + j] += x;
                w[j * n + i] -= x;
            }
        }
    }
    w
}

/// A free velocity for which a reaction exists: `q = W x + y` with y inside the dual cone, where W may be singular.
pub(in crate::numerics) fn random_velocity(w: &[f64], n: usize, kind: usize, mu: f64, random: &mut Random) -> Vec<f64> {
    let mut q: Vec<f64> = (0..n).map(|_| random.next()).collect();
    if kind % 4 >= 1 {
        let x: Vec<f64> = (0..n).map(|_| 3.0 * random.next()).collect();
        let slide = q[1..].iter().map(|x| x.abs()).sum::<f64>();
        q[0] = 0.1 * (1.0 + random.next()) + mu * slide;
        (0..n).for_each(|i| q[i] += (0..n).map(|j| w[i * n + j] * x[j]).sum::<f64>());
    }
    q
}

/// Natural map of the block in the scaling of e_s.
pub(in crate::numerics) fn block_error(set: AdmissibleSet, w: &[f64], q: &[f64], r: &[f64]) -> f64 {
    let n = q.len();
    let d = (0..n).map(|i| w[i * n + i]).sum::<f64>() / n as f64;
    let u: Vec<f64> = (0..n).map(|i| q[i] + (0..n).map(|j| w[i * n + j] * r[j]).sum::<f64>()).collect();
    let mut x: Vec<f64> = (0..n).map(|i| r[i] - u[i] / d).collect();
    x[0] -= set.shift(&u) / d;
    set.project(&mut x);
    let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let difference: Vec<f64> = r.iter().zip(&x).map(|(a, b)| a - b).collect();
    length(&difference) / length(r).max(length(q) / d)
}

pub(in crate::numerics) fn coefficient(k: usize, random: &mut Random) -> f64 {
    match k % 5 {
        0 => 0.0,
        1 => 10.0,
        _ => 0.5 * (1.0 + random.next()),
    }
}

#[test]
fn a_million_contacts_in_space_are_solved_to_rounding() {
    let mut random = Random(1);
    let (mut worst, mut bad) = (0.0f64, 0);
    for k in 0..1_000_000 {
        let w: [f64; 9] = random_operator(3, k, &mut random).try_into().expect("nine");
        let mu = coefficient(k / 8, &mut random);
        let q = random_velocity(&w, 3, k, mu, &mut random).try_into().expect("three");
        let r = ContactOperator3::new(&w).expect("positive").solve(q, mu);
        let error = block_error(AdmissibleSet::Coulomb { mu }, &w, &q, &r);
        worst = worst.max(error);
        if error.is_nan() || error > 1e-9 {
            bad += 1;
            if bad < 20 {
                println!("kind {} mu {mu} w {w:?} q {q:?} r {r:?} error {error:e}", k % 8);
            }
        }
    }
    println!("worst {worst:e}, {bad} above 1e-9");
    assert_eq!(bad, 0);
}

#[test]
fn contacts_that_give_way_are_solved_to_rounding() {
    for n in [2, 3] {
        let (mut random, mut capped) = (Random(5), 0);
        for k in 0..100_000 {
            let w = random_operator(n, k, &mut random);
            let mu = coefficient(k / 8, &mut random);
            let q = random_velocity(&w, n, k, mu, &mut random);
            let solve = |most: f64| -> Vec<f64> {
                if let (Ok(w), Ok(q)) = (<&[f64; 9]>::try_from(&w[..]), q[..].try_into()) {
                    CrushingOperator::new(w).expect("positive").solve_near(q, mu, most, [0.0; 3]).to_vec()
                } else {
                    let w = ContactOperator2::new(w[..].try_into().expect("four")).expect("positive");
                    w.solve_under(q[..].try_into().expect("two"), mu, most).to_vec()
                }
            };
            // from a bound below what it would bear to one above
            let most = solve(f64::INFINITY)[0] * (0.6 + 0.5 * random.next()).max(1e-3);
            if most > 0.0 {
                let r = solve(most);
                let error = block_error(AdmissibleSet::Crushing { mu, most }, &w, &q, &r);
                assert!(error <= 1e-9, "kind {} mu {mu} most {most} w {w:?} q {q:?} r {r:?} error {error:e}", k % 8);
                capped += usize::from(r[0] == most);
                if n == 3 && k % 8 != 4 {
                    // a step states it so
                    let w3 = LocalOperator::new(w[0], [w[1], w[2]], [w[4], w[5], w[8]]).expect("positive");
                    let (q3, near) = (DVec3::from_slice(&q), w3.solve(DVec3::from_slice(&q), mu));
                    let r = if near.x > most { w3.solve_under(q3, mu, most, near) } else { near };
                    let error = block_error(AdmissibleSet::Crushing { mu, most }, &w, &q, &r.to_array());
                    assert!(error <= 1e-9, "kind {} mu {mu} most {most} w {w:?} q {q:?} r {r:?} error {error:e}", k % 8);
                }
            }
        }
        assert!(capped > 10_000, "{capped} of {n} rows");
    }
}

#[test]
fn contacts_in_the_plane_are_solved_to_rounding() {
    let mut random = Random(2);
    for k in 0..300_000 {
        let w: [f64; 4] = random_operator(2, k, &mut random).try_into().expect("four");
        let mu = coefficient(k / 8, &mut random);
        let q = random_velocity(&w, 2, k, mu, &mut random).try_into().expect("two");
        let r = ContactOperator2::new(&w).expect("positive").solve(q, mu);
        let error = block_error(AdmissibleSet::Coulomb { mu }, &w, &q, &r);
        assert!(error <= 1e-9, "kind {} mu {mu} w {w:?} q {q:?} r {r:?} error {error:e}", k % 8);
    }
}

#[test]
fn rolling_and_drilling_contacts_are_solved_to_rounding() {
    for n in [3, 5, 6] {
        let mut random = Random(3);
        let (mut bad, mut worst) = (0, 0.0f64);
        for k in 0..20_000 {
            let w = random_operator(n, k, &mut random);
            let (mu, mu_r) = (coefficient(k / 8, &mut random), coefficient(k / 40, &mut random));
            let q = random_velocity(&w, n, k, mu.max(mu_r), &mut random);
            let mut r = vec![0.0; n];
            RollingOperator::new(&w, n).expect("positive").solve(&q, mu, mu_r, &mut r);
            let error = block_error(AdmissibleSet::Rolling { mu, mu_r }, &w, &q, &r);
            worst = worst.max(error);
            if error.is_nan() || error > 1e-9 {
                bad += 1;
                if bad < 8 {
                    println!("kind {} mu {mu} {mu_r} w {w:?} q {q:?} r {r:?} error {error:e}", k % 8);
                }
            }
        }
        println!("{n} rows: worst {worst:e}, {bad} above 1e-9");
        assert_eq!(bad, 0);
    }
}

/// Natural map of the contact, relative to its data.
fn miss(w: &LocalOperator, q: DVec3, mu: f64, r: DVec3) -> f64 {
    let u = w.apply(r) + q;
    let shifted = u + DVec3::X * mu * u.y.hypot(u.z);
    let d = w.mean_diagonal();
    let mut x = r - shifted / d;
    project_coulomb(mu, &mut x);
    (r - x).length() / r.length().max(q.length() / d)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]
    #[test]
    fn every_positive_definite_contact_is_solved_to_rounding(
        l in prop::array::uniform6(-1.0..1.0f64), q in prop::array::uniform3(-1.0..1.0f64), mu in 0.0..2.0f64, ridge in 1e-4..1.0f64,
    ) {
        let (a, b, c) = ([l[0], 0.0, 0.0], [l[1], l[2], 0.0], [l[3], l[4], l[5]]);
        let dot = |x: [f64; 3], y: [f64; 3]| x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
        let w = LocalOperator::new(
            dot(a, a) + ridge, [dot(a, b), dot(a, c)], [dot(b, b) + ridge, dot(b, c), dot(c, c) + ridge],
        ).expect("positive");
        let q = DVec3::from_array(q);
        let r = w.solve(q, mu);
        prop_assert!(r.is_finite());
        prop_assert!(miss(&w, q, mu, r) < 1e-9, "residual {:e}", miss(&w, q, mu, r));
        // the convex law, its natural map without the shift
        let r = w.solve_convex(q, mu);
        let d = w.mean_diagonal();
        let mut x = r - (w.apply(r) + q) / d;
        project_coulomb(mu, &mut x);
        let miss = (r - x).length() / r.length().max(q.length() / d);
        prop_assert!(r.is_finite() && miss < 1e-9, "convex residual {miss:e}");
    }
}

#[test]
fn a_guess_of_next_to_nothing_is_as_good_as_any() {
    let w = LocalOperator::new(8.0, [1e-4, 5e-6], [8.0, -3.0, 8.0]).expect("positive");
    let q = DVec3::new(-7e-6, -9.7e-3, 2.2e-2);
    let exact = w.solve(q, 0.5);
    for exponent in (-308..=-1).rev() {
        let size = 10f64.powi(exponent);
        let r = w.solve_near(q, 0.5, size * DVec3::new(2.9, 0.4, -1.6));
        assert!((r - exact).length() <= 1e-12 * exact.length(), "1e{exponent}: {r} instead of {exact}");
    }
    // pressed so little that the multiplier of the slip is beyond measure
    assert!(w.solve(DVec3::new(-1e-300, 1.0, 1.0), 0.5).is_finite());
}

#[test]
fn an_opening_contact_carries_nothing_and_a_frictionless_one_only_its_normal() {
    let w = LocalOperator::new(2.0, [0.1, 0.2], [3.0, 0.0, 3.0]).expect("positive");
    assert_eq!(w.solve(DVec3::new(0.1, 5.0, 5.0), 0.5), DVec3::ZERO);
    assert_eq!(w.solve(DVec3::new(-1.0, 5.0, 5.0), 0.0), DVec3::new(0.5, 0.0, 0.0));
    assert!(LocalOperator::new(0.0, [0.0; 2], [1.0, 0.0, 1.0]).is_none());
}

#[test]
fn a_contact_that_can_move_in_one_tangential_direction_sticks_and_slips() {
    let (sin, cos) = 0.6f64.sin_cos();
    for (direction, tilt) in [([1.0, 0.0], 0.0), ([0.0, 1.0], 0.3), ([cos, sin], -0.4)] {
        let along = |x: f64, y: f64| x * direction[0] + y * direction[1];
        let w = LocalOperator::new(
            1.0,
            [tilt * direction[0], tilt * direction[1]],
            [direction[0] * direction[0], direction[0] * direction[1], direction[1] * direction[1]],
        )
        .expect("a normal that moves");
        for speed in [0.0, 0.1, -0.1, 5.0, -5.0] {
            let q = DVec3::new(-1.0, speed * direction[0], speed * direction[1]);
            let r = w.solve(q, 0.5);
            let u = q + w.apply(r);
            assert!(r.is_finite() && u.x.abs() < 1e-12, "{r} {u}");
            let (t, slip) = (along(r.y, r.z), along(u.y, u.z));
            if speed.abs() > 1.0 {
                assert!((t.abs() - 0.5 * r.x).abs() < 1e-12 && t * slip < 0.0, "{r} {u}");
            } else {
                assert!(slip.abs() < 1e-12 && t.abs() <= 0.5 * r.x, "{r} {u}");
            }
            // the convex law: it holds where friction can, and lifts where it slips
            let r = w.solve_convex(q, 0.5);
            let u = q + w.apply(r);
            let mut projected = r - u;
            project_coulomb(0.5, &mut projected);
            assert!((projected - r).length() < 1e-12 && (along(u.y, u.z).abs() < 1e-12) == (speed.abs() < 1.0), "{r} {u}");
        }
    }
}
