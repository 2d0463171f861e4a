//! Cubes in a row, for tests of the solvers and of their threads.

use drystone::numerics::mixed::*;
use glam::{DMat3, DVec3};

/// Unit cubes (1 kg) one on the other from an immobile floor, four contacts a joint in two colours; `free` gives each its velocity.
pub(crate) fn column(n: usize, free: impl Fn(usize) -> Twist) -> MixedProblem {
    let mut p = MixedProblem::default();
    for i in 0..n {
        p.rigid.push(RigidMass { inverse_mass: DVec3::ONE, inverse_inertia: RigidMass::pack(DMat3::IDENTITY * 6.0) });
        p.free.rigid.push(free(i));
    }
    for parity in [0, 1] {
        for i in (parity..n).step_by(2) {
            let corners = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)];
            p.push_group(corners.map(|(x, y)| Contact {
                normal: DVec3::Z,
                tangent: DVec3::X,
                arm1: DVec3::new(x, y, -0.5),
                arm2: DVec3::new(x, y, 0.5),
                mu: 0.5,
                body1: i as u32,
                body2: if i == 0 { IMMOBILE } else { i as u32 - 1 },
                ..Contact::default()
            }));
        }
        p.close_colour();
    }
    p.prepare().expect("a legal problem");
    p
}
