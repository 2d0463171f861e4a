//! Random assemblies of rigid bodies: problems that have a solution, by construction.

use super::LocalProblem;
use crate::algebra::blocks::BlockRows;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::contact::tests::Random;

/// Which law the contacts of an assembly have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Law {
    Plane,
    Space,
    Rolling,
    /// in space, under bounds of which some are reached
    Crushing,
}

/// `bodies` bodies and `contacts` contacts between neighbours, at random places.
///
/// `W = H M⁻¹ Hᵀ`, and `q = H v + y` with `y` inside the dual cone: some velocity opens all contacts, so a solution exists.
pub(super) fn assembly(law: Law, bodies: usize, contacts: usize, seed: u64) -> LocalProblem {
    let mut random = Random(seed);
    let rows = match law {
        Law::Plane => 2,
        Law::Space | Law::Crushing => 3,
        Law::Rolling => 5,
    };
    let (n, dofs) = (rows * contacts, 6 * bodies);
    let mut h = vec![0.0; n * dofs];
    let mut sets = Vec::new();
    let mut q = vec![0.0; n];
    let mobility: Vec<f64> = (0..dofs).map(|k| if k % 6 < 3 { 1.0 } else { 4.0 } * (1.5 + random.next())).collect();
    let velocity: Vec<f64> = (0..dofs).map(|_| random.next()).collect();
    for a in 0..contacts {
        let body = a % bodies;
        let normal = unit([random.next(), random.next(), random.next() + 1.5]);
        let t1 = unit(cross(normal, [1.0, 0.2, random.next()]));
        let frame = [normal, t1, cross(normal, t1)];
        let arms = [0, 1].map(|_| [random.next(), random.next(), random.next()]);
        // on the ground, or on the body before
        let pair = [Some(body), (body > 0 && a >= bodies / 2).then(|| body - 1)];
        for (side, body) in pair.into_iter().enumerate().filter_map(|(side, b)| b.map(|b| (side, b))) {
            let sign = if side == 0 { 1.0 } else { -1.0 };
            for row in 0..rows {
                let at = &mut h[(rows * a + row) * dofs + 6 * body..][..6];
                if row < 3 {
                    let turn = cross(arms[side], frame[row]);
                    (0..3).for_each(|k| (at[k], at[k + 3]) = (sign * frame[row][k], sign * turn[k]));
                } else {
                    (0..3).for_each(|k| at[k + 3] = sign * frame[row - 2][k]);
                }
            }
        }
        let (mu, mu_r) = (0.45 * (1.1 + random.next()), 0.1 * (1.1 + random.next()));
        sets.push(match law {
            Law::Plane | Law::Space => AdmissibleSet::Coulomb { mu },
            Law::Rolling => AdmissibleSet::Rolling { mu, mu_r },
            Law::Crushing => AdmissibleSet::Crushing { mu, most: mu_r },
        });
        for row in 1..rows {
            q[rows * a + row] = 0.3 * random.next();
        }
        q[rows * a] = 0.01 + sets[a].shift(&q[rows * a..rows * (a + 1)]);
    }
    let mut w = vec![0.0; n * n];
    for i in 0..n {
        q[i] += (0..dofs).map(|k| h[i * dofs + k] * 2.0 * velocity[k]).sum::<f64>();
        for j in 0..n {
            w[i * n + j] = (0..dofs).map(|k| h[i * dofs + k] * mobility[k] * h[j * dofs + k]).sum();
        }
    }
    let offsets: Vec<usize> = (0..=contacts).map(|a| rows * a).collect();
    LocalProblem { w: BlockRows::from_dense(&offsets, &w), q, sets }
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn unit(a: [f64; 3]) -> [f64; 3] {
    let length = (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]).sqrt();
    a.map(|x| x / length)
}
