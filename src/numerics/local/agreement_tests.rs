//! All further solvers on random assemblies: what is well posed they solve, and they agree in u.

use super::assemblies::{Law, assembly};
use super::fixed_point::{AclmFixedPoint, DeSaxceFixedPoint, TrescaFixedPoint};
use super::projection::{ExtraGradient, FixedPoint, HyperplaneProjection};
use super::{LocalSolver, nsgs::Nsgs};
use proptest::prelude::*;

fn solvers() -> Vec<(&'static str, Box<dyn LocalSolver>)> {
    vec![
        ("fixed point", Box::new(FixedPoint::default())),
        ("extragradient", Box::new(ExtraGradient::default())),
        ("hyperplane", Box::new(HyperplaneProjection::default())),
        ("De Saxcé", Box::new(DeSaxceFixedPoint::default())),
        ("Tresca", Box::new(TrescaFixedPoint::default())),
        ("ACLM", Box::new(AclmFixedPoint::default())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn all_solvers_agree_on_random_assemblies(seed in 0u64..1_000_000, bodies in 2usize..6, law in 0usize..3) {
        let law = [Law::Plane, Law::Space, Law::Rolling][law];
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
        for (name, solver) in solvers() {
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
