//! The same problem as sparse matrices, for other solvers, for files and for tests.

use super::problem::StepProblem;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::mixed::{IMMOBILE, MixedProblem, RigidMass, System};
use glam::DVec3;
use sprs::{CsMat, TriMat};

/// `M v = Hᵀ r + f`, `u = H v + w` with the law of each block of rows; H is rows × dof.
///
/// ```
/// use drystone::assembly::{global::Global, problem::StepProblem};
/// let empty: Global = StepProblem::default().global();
/// assert_eq!((empty.mass.rows(), empty.h.rows()), (0, 0));
/// ```
#[derive(Clone, Debug)]
pub struct Global {
    /// M, dof × dof.
    pub mass: CsMat<f64>,
    /// H, rows × dof.
    pub h: CsMat<f64>,
    /// f = M v_free.
    pub f: Vec<f64>,
    /// w: constant part of u, one per row.
    pub w: Vec<f64>,
    /// Friction coefficient per contact, in the order of their three rows; the rows of joints and relations follow them.
    pub mu: Vec<f64>,
    /// Admissible sets of the rows after the contacts, with their number of rows.
    pub blocks: Vec<(AdmissibleSet, usize)>,
}

impl StepProblem {
    /// (M, H, f, w, μ) of the step, velocities in world axes: six per mobile body, then the general systems.
    pub fn global(&self) -> Global {
        global(&self.problem)
    }
}

fn global(p: &MixedProblem) -> Global {
    let rigid = 6 * p.rigid.len();
    let dofs = rigid + p.free.general.len();
    let rows = 3 * p.contacts.len() + p.block_b.len();
    let mut mass = TriMat::new((dofs, dofs));
    for (i, m) in p.rigid.iter().enumerate() {
        let mut inverse = RigidMass::unpack(m.inverse_inertia);
        for k in 0..3 {
            // a locked velocity keeps its free value: unit mass and no rows
            let locked = m.inverse_mass[k] == 0.0;
            mass.add_triplet(6 * i + k, 6 * i + k, if locked { 1.0 } else { 1.0 / m.inverse_mass[k] });
            if inverse.col(k)[k] == 0.0 {
                inverse.col_mut(k)[k] = 1.0;
            }
        }
        let inertia = inverse.inverse();
        for k in 0..3 {
            for j in 0..3 {
                mass.add_triplet(6 * i + 3 + k, 6 * i + 3 + j, inertia.col(j)[k]);
            }
        }
    }
    for m in &p.general {
        let forward = crate::algebra::dense::inverse_spd(&m.inverse, m.dofs).unwrap_or_default();
        for (k, &x) in forward.iter().enumerate() {
            mass.add_triplet(rigid + m.first + k / m.dofs, rigid + m.first + k % m.dofs, x);
        }
    }
    let mass: CsMat<f64> = mass.to_csr();
    let mut h = TriMat::new((rows, dofs));
    let mut w = Vec::with_capacity(rows);
    let unlocked = |body: u32, k: usize| {
        let m = &p.rigid[body as usize];
        if k < 3 { m.inverse_mass[k] != 0.0 } else { m.inverse_inertia[k - 3] != 0.0 }
    };
    for (c, contact) in p.contacts.iter().enumerate() {
        let axes = [contact.normal, contact.tangent, contact.normal.cross(contact.tangent)];
        for (r, axis) in axes.into_iter().enumerate() {
            for (body, arm, sign) in [(contact.body1, contact.arm1, 1.0), (contact.body2, contact.arm2, -1.0)] {
                if body == IMMOBILE {
                    continue;
                }
                let row: [DVec3; 2] = [sign * axis, sign * arm.cross(axis)];
                for k in 0..6 {
                    if unlocked(body, k) {
                        h.add_triplet(3 * c + r, 6 * body as usize + k, row[k / 3][k % 3]);
                    }
                }
            }
        }
        w.extend(contact.b.to_array());
    }
    let first = 3 * p.contacts.len();
    for block in &p.blocks {
        for (part, system) in block.systems.into_iter().enumerate() {
            let n = p.dofs(system);
            let column = match system {
                System::Fixed => continue,
                System::Rigid(i) => 6 * i as usize,
                System::General(i) => rigid + p.general[i as usize].first,
            };
            for r in 0..block.rows {
                for k in 0..n {
                    if !matches!(system, System::Rigid(i) if !unlocked(i, k)) {
                        h.add_triplet(first + block.first + r, column + k, p.jacobians[block.jacobian[part] + r * n + k]);
                    }
                }
            }
        }
    }
    w.extend_from_slice(&p.block_b);
    let free = p.free.rigid.iter().flat_map(|t| [t.linear, t.angular]).flat_map(|x| x.to_array());
    let v: Vec<f64> = free.chain(p.free.general.iter().copied()).collect();
    let f = mass.outer_iterator().map(|row| row.iter().map(|(j, m)| m * v[j]).sum()).collect();
    Global {
        mass,
        h: h.to_csr(),
        f,
        w,
        mu: p.contacts.iter().map(|c| c.mu).collect(),
        blocks: p.blocks.iter().map(|b| (b.set, b.rows)).collect(),
    }
}
