//! Contacts, general systems, blocks of every set and compliances in one problem: the solver of steps against the global one.

use super::scene::{Fallible, noise};
use drystone::numerics::admissible::AdmissibleSet;
use drystone::numerics::auto::Auto;
use drystone::numerics::mixed::{Answer, Contact, IMMOBILE, MixedProblem, RigidMass, System, Twist};
use drystone::numerics::solvers::Settings;
use glam::{DMat3, DVec3};

/// Numbers of −1 to 1, one after the other.
struct Draw(usize);

impl Draw {
    fn next(&mut self) -> f64 {
        self.0 += 1;
        noise(self.0 * 7919 % 100_003)
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.next(), self.next(), self.next())
    }

    fn rows(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.next()).collect()
    }
}

/// `A Aᵀ + ½`
fn positive(draw: &mut Draw, n: usize) -> Vec<f64> {
    let a = draw.rows(n * n);
    let dot = |i: usize, j: usize| (0..n).map(|k| a[i * n + k] * a[j * n + k]).sum::<f64>();
    (0..n * n).map(|k| dot(k / n, k % n) + if k % (n + 1) == 0 { 0.5 } else { 0.0 }).collect()
}

/// Balls on the ground, systems of one to five velocities, and blocks between any of them; `mu` of all friction.
fn random(seed: usize, mu: f64) -> Result<MixedProblem, Box<dyn std::error::Error>> {
    let mut draw = Draw(1000 * seed);
    let mut p = MixedProblem::default();
    for _ in 0..3 {
        let light = 1.2 + draw.next();
        p.rigid.push(RigidMass { inverse_mass: DVec3::splat(light), inverse_inertia: RigidMass::pack(DMat3::IDENTITY * 2.5 * light) });
        p.free.rigid.push(Twist { linear: draw.vector() - DVec3::Z, angular: draw.vector() });
    }
    let general: Vec<System> = [1, 5, 2]
        .into_iter()
        .map(|n| {
            let inverse = positive(&mut draw, n);
            let free = draw.rows(n);
            p.push_general(&inverse, &free)
        })
        .collect();
    for body in 0..3 {
        let ground =
            Contact { normal: DVec3::Z, tangent: DVec3::X, arm1: -DVec3::Z, mu, body1: body, body2: IMMOBILE, ..Contact::default() };
        p.push_group([ground]);
    }
    p.close_colour();
    let interval = AdmissibleSet::Interval { lower: -0.2, upper: 0.1 };
    let coulomb = AdmissibleSet::Coulomb { mu };
    let cases = [
        (AdmissibleSet::Free, 2, System::Rigid(0), general[1], true),
        (AdmissibleSet::Free, 1, System::Rigid(1), System::Rigid(2), false),
        (AdmissibleSet::NonNegative, 1, general[0], System::Rigid(1), false),
        (interval, 1, general[2], System::Fixed, true),
        (coulomb, 3, general[1], System::Rigid(2), false),
        (coulomb, 2, general[2], general[1], false),
        (AdmissibleSet::NonNegative, 1, general[2], System::Fixed, true),
    ];
    for (set, m, one, two, soft) in cases {
        let (a, b) = (draw.rows(m * p.dofs(one)), draw.rows(m * p.dofs(two)));
        let part = draw.rows(m);
        p.push_block(set, [one, two], [&a, &b], &part);
        if soft {
            let d = positive(&mut draw, m);
            p.soften(&d);
        }
    }
    p.prepare()?;
    Ok(p)
}

#[test]
fn steps_and_matrices_agree_on_general_systems_and_compliant_blocks() -> Fallible {
    for (seed, mu) in (0..60).map(|k| (k, [0.0, 0.4, 1.5][k % 3])) {
        let p = random(seed, mu)?;
        let mut answer = Answer::for_problem(&p);
        let report = Auto { tolerance: 1e-10, ..Auto::default() }.solve(&p, &mut answer);
        assert!(report.converged(), "seed {seed}: {report:?}");
        let global = p.matrices().problem();
        let r: Vec<f64> = answer.reactions.contacts.iter().flat_map(|r| r.to_array()).chain(answer.reactions.blocks.clone()).collect();
        let (mut v, mut u) = (vec![0.0; global.f.len()], vec![0.0; r.len()]);
        let residual = global.residual(&r, &mut v, &mut u)?;
        assert!(residual.rel < 1e-8, "seed {seed}: {residual:?}");
        if mu == 0.0 {
            // convex: one velocity
            let other = global.solve(&Settings { tolerance: 1e-11, ..Settings::default() })?;
            assert!(other.report.converged(), "seed {seed}: {:?}", other.report);
            let (mut w, mut z) = (v.clone(), u.clone());
            global.residual(&other.solution.r, &mut w, &mut z)?;
            let apart = v.iter().zip(&w).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(apart < 1e-7, "seed {seed}: velocities differ by {apart:e}");
        }
    }
    Ok(())
}

#[test]
fn an_island_keeps_the_compliance_of_its_blocks() -> Fallible {
    // two pendant masses that nothing joins, each on a damper; alone and together they are slowed alike
    let mut p = MixedProblem::default();
    for speed in [1.0, -2.0] {
        let mass = p.push_general(&[1.0], &[speed]);
        assert_eq!(mass, System::General(p.general.len() as u32 - 1));
    }
    for k in 0..2 {
        p.push_block(AdmissibleSet::NonNegative, [System::General(k), System::Fixed], [&[-1.0], &[]], &[0.0]);
        p.soften(&[0.5]);
    }
    p.prepare()?;
    let mut answer = Answer::for_problem(&p);
    let report = Auto { tolerance: 1e-12, max_sweeps: 0, ..Auto::default() }.solve(&p, &mut answer);
    assert!(report.converged(), "{report:?}");
    let v = &answer.velocities.general;
    assert!((v[0] - 1.0 / 3.0).abs() < 1e-12 && v[1] == -2.0, "{v:?}");
    Ok(())
}
