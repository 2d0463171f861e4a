use drystone::numerics::{auto::Auto, mixed::*, newton::ProximalNewton, residual, sweep::GaussSeidel};
use glam::{DMat3, DVec3};
const H: f64 = 2e-3;
fn boxp(push: f64, v: f64) -> MixedProblem {
    let mut p = MixedProblem::default();
    p.rigid.push(RigidMass { inverse_mass: DVec3::splat(1.0/8.0), inverse_inertia: RigidMass::pack(DMat3::from_diagonal(DVec3::new(1.0/0.0333, 1.0/0.0333, 1.0/0.0533))) });
    p.free.rigid.push(Twist { linear: DVec3::new(v+H*push, 0.0, -H*9.81), angular: DVec3::ZERO });
    let corners = [(-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1)];
    p.push_group(corners.map(|(x, y)| Contact { normal: DVec3::Z, tangent: DVec3::X, arm1: DVec3::new(x, y, -0.05), mu: 0.3, body1: 0, body2: IMMOBILE, ..Contact::default() }));
    p.close_colour();
    p.prepare().unwrap();
    p
}
fn main() {
    let p = boxp(3.2, 0.1);
    let mut a = Answer::for_problem(&p);
    let _ = GaussSeidel { tolerance: 1e-14, accelerate: false, max_sweeps: 40, patience: 0 }.solve(&p, &mut a, &mut Default::default());
    for (c, r) in p.contacts.iter().zip(&a.reactions.contacts) {
        let u = p.contact_velocity(c, &a.velocities.rigid);
        let n = c.local.solve(u - c.local.apply(*r), c.mu);
        let after = u + c.local.apply(n - *r);
        println!("gs W {:?} q {:?}", c.local, (u - c.local.apply(*r)).to_array());
        println!("gs r {:?} u {:?} new {:?} u after {:?}", r.to_array(), u.to_array(), n.to_array(), after.to_array());
    }

    for k in [5, 10, 20, 40, 100, 400, 1000, 4000, 20000] {
        let p = boxp(3.2, 0.1);
        let mut a = Answer::for_problem(&p);
        let r = GaussSeidel { tolerance: 1e-14, accelerate: false, max_sweeps: k, patience: 0 }.solve(&p, &mut a, &mut Default::default());
        println!("gs {k} {:.2e} {:?} v {:?}", r.e_s, a.reactions.contacts.iter().map(|r| r.to_array()).collect::<Vec<_>>(), a.velocities.rigid[0]);
    }

    for (push, v) in [(3.2, 0.0), (3.2, 0.1), (3.2,1.0), (2.0, 1.0), (8.0, 0.0)] {
        let p = boxp(push, v);
        for acc in [false, true] {
            let mut a = Answer::for_problem(&p);
            let r = GaussSeidel { tolerance: 1e-12, accelerate: acc, max_sweeps: 2000, patience: 0 }.solve(&p, &mut a, &mut Default::default());
            println!("{push} {v} gs acc={acc} {:?} {} {:.2e}", r.status, r.sweeps, r.e_s);
        }
        let mut a = Answer::for_problem(&p);
        let r = ProximalNewton { tolerance: 1e-12, max_iterations: 200, penalty: 10.0 }.solve(&p, &mut a, &mut Default::default());
        println!("{push} {v} newton {:?} {} {:.2e}", r.status, r.newton_iterations, r.e_s);
        let mut a = Answer::for_problem(&p);
        let r = Auto { tolerance: 1e-12, ..Default::default() }.solve(&p, &mut a);
        println!("{push} {v} auto {:?}", r);
        let _ = residual::certify(&p, &mut a);
    }
}
#[test]
fn t() {}
