//! All further solvers on random assemblies: what is well posed they solve, and they agree in u.

use super::assemblies::{Law, assembly};
use super::equations::Function;
use super::fixed_point::{DE_SAXCE, FixedPoint, Frozen};
use super::interior_point::InteriorPoint;
use super::newton::{LineSearch, SemismoothNewton};
use super::{LocalProblem, LocalSolver, nsgs::Nsgs};
use crate::algebra::blocks::BlockRows;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::contact::tests::Random;
use crate::numerics::projection::{Projection, Scheme};
use proptest::prelude::*;

fn newton(function: Function) -> Box<dyn LocalSolver> {
    Box::new(SemismoothNewton { function, ..SemismoothNewton::default() })
}

fn solvers() -> Vec<(&'static str, Box<dyn LocalSolver>)> {
    vec![
        ("fixed point", Box::new(Projection { scheme: Scheme::FixedPoint, ..Projection::default() })),
        ("extragradient", Box::new(Projection { scheme: Scheme::Extragradient, ..Projection::default() })),
        ("hyperplane", Box::new(Projection { scheme: Scheme::Hyperplane, ..Projection::default() })),
        ("De Saxcé", Box::new(DE_SAXCE)),
        ("Tresca", Box::new(FixedPoint { frozen: Frozen::Bound, ..FixedPoint::default() })),
        ("ACLM", Box::new(FixedPoint::default())),
        ("interior point", Box::new(InteriorPoint::default())),
        ("Alart–Curnier", newton(Function::AlartCurnier)),
        ("Jean–Moreau", newton(Function::JeanMoreau)),
        ("Fischer–Burmeister", newton(Function::FischerBurmeister)),
        ("natural map", newton(Function::NaturalMap)),
        ("Goldstein–Price", Box::new(SemismoothNewton { line_search: LineSearch::GoldsteinPrice, ..SemismoothNewton::default() })),
    ]
}

proptest! {
    // the same cases every time: no method here converges on every problem that could be drawn
    #![proptest_config(ProptestConfig { cases: 200, rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..ProptestConfig::default() })]
    #[test]
    fn all_solvers_agree_on_random_assemblies(seed in 0u64..1_000_000, bodies in 2usize..6, law in 0usize..4) {
        let law = [Law::Plane, Law::Space, Law::Rolling, Law::Crushing][law];
        // fewer rows than degrees of freedom: the velocity is unique
        let contacts = if law == Law::Rolling { bodies } else { bodies + bodies / 2 };
        let p = assembly(law, bodies, contacts, seed);
        prop_assert!(p.validate().is_ok());
        let reference = {
            let (mut r, mut u) = (vec![0.0; p.order()], vec![0.0; p.order()]);
            let report = Nsgs { tolerance: 1e-11, ..Nsgs::default() }.solve(&p, &mut r, &mut u);
            prop_assert!(report.rel < 1e-9, "{report:?}");
            u
        };
        let size = reference.iter().map(|x| x * x).sum::<f64>().sqrt();
        let cones = matches!(law, Law::Plane | Law::Space);
        for (name, solver) in solvers().into_iter().filter(|(name, _)| *name != "interior point" || cones) {
            let (mut r, mut u) = (vec![0.0; p.order()], vec![0.0; p.order()]);
            let report = solver.solve(&p, &mut r, &mut u);
            println!("{name} {law:?} {bodies} {report:?}");
            prop_assert!(report.converged(), "{name}: {report:?}");
            let off = u.iter().zip(&reference).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            prop_assert!(off <= 1e-4 * (1.0 + size), "{name}: u off by {off:e}");
        }
    }
}

#[test]
fn a_foul_guess_and_an_empty_problem_do_no_harm() {
    let p = assembly(Law::Space, 3, 4, 7);
    for (name, solver) in solvers() {
        let (mut r, mut u) = (vec![f64::NAN; p.order()], vec![0.0; p.order()]);
        let report = solver.solve(&p, &mut r, &mut u);
        assert!(report.converged() && r.iter().chain(&u).all(|x| x.is_finite()), "{name} {report:?}");
        assert!(solver.solve(&super::LocalProblem::default(), &mut [], &mut []).converged(), "{name}");
        let mut looks = 0;
        let (mut r, mut u) = (vec![0.0; p.order()], vec![0.0; p.order()]);
        solver.solve_watched(&p, &mut r, &mut u, &mut |_| {
            looks += 1;
            looks < 2
        });
        assert!(looks <= 2, "{name} went on after the watch said stop");
    }
}

#[test]
fn a_mixture_of_joints_bounds_and_contacts_is_solved_by_all() {
    let mut random = Random(3);
    let sets = [
        AdmissibleSet::Free,
        AdmissibleSet::NonNegative,
        AdmissibleSet::Coulomb { mu: 0.4 },
        AdmissibleSet::Coulomb { mu: 0.0 },
        AdmissibleSet::SecondOrder { mu: 0.8 },
        AdmissibleSet::Interval { lower: -0.2, upper: 0.3 },
    ];
    for case in 0..60 {
        // every other problem without the relay, which has no symmetric cone
        let sets = &sets[..6 - case % 2];
        let offsets = &[0, 2, 4, 7, 10, 13, 14][..sets.len() + 1];
        let n = offsets[sets.len()];
        let g: Vec<f64> = (0..n * n).map(|_| random.next()).collect();
        let mut w = vec![0.0; n * n];
        for i in 0..n {
            (0..n).for_each(|j| w[i * n + j] = (0..n).map(|k| g[i * n + k] * g[j * n + k]).sum());
            w[i * n + i] += 0.5;
        }
        let q = (0..n).map(|_| random.next()).collect();
        let p = LocalProblem { w: BlockRows::from_dense(offsets, &w), q, sets: sets.to_vec() };
        let mut reference: Option<Vec<f64>> = None;
        for (name, solver) in solvers().into_iter().filter(|(name, _)| *name != "interior point" || sets.len() == 5) {
            let (mut r, mut u) = (vec![0.0; n], vec![0.0; n]);
            let report = solver.solve(&p, &mut r, &mut u);
            assert!(report.converged(), "{name}: {report:?}");
            let reference = reference.get_or_insert_with(|| u.clone());
            let off = u.iter().zip(reference.iter()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-5, "{name}: u off by {off:e}");
        }
    }
}
