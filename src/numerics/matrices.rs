//! A one-step problem as sparse matrices, for other solvers, for files and for tests.

use super::admissible::AdmissibleSet;
use super::global::GlobalProblem;
use super::mixed::{IMMOBILE, MixedProblem, RigidMass, System};
use glam::DVec3;
use sprs::{CsMat, TriMat};

/// `M v = Hᵀ r + f`, `u = H v + w` with the law of each block of rows; H is rows × dof.
///
/// ```
/// use drystone::numerics::{matrices::Global, mixed::MixedProblem};
/// let empty: Global = MixedProblem::default().matrices();
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

impl Global {
    /// The same problem as numerics state it, H turned round to dof × rows.
    pub fn problem(&self) -> GlobalProblem {
        let contacts = self.mu.iter().map(|&mu| (AdmissibleSet::Coulomb { mu }, 3));
        let (mut offsets, mut sets) = (vec![0], Vec::new());
        for (set, rows) in contacts.chain(self.blocks.iter().copied()) {
            offsets.push(offsets.last().copied().unwrap_or(0) + rows);
            sets.push(set);
        }
        let h = self.h.transpose_view().to_owned();
        GlobalProblem { mass: self.mass.clone(), h, f: self.f.clone(), w: self.w.clone(), offsets, sets }
    }
}

impl MixedProblem {
    /// The problem as (M, H, f, w, μ): six velocities per rigid body, in world axes, then the general systems.
    pub fn matrices(&self) -> Global {
        global(self)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::mixed::{Answer, Contact, RigidMass, Twist};
    use crate::numerics::{auto::Auto, mixed::Block, solvers::Settings};
    use glam::DMat3;

    /// Two cubes, one on the other, on the floor, pushed sideways; the upper one held to the lower by a ball joint on its side.
    fn stack() -> MixedProblem {
        let mut p = MixedProblem::default();
        for push in [1.5, 0.4] {
            p.rigid.push(RigidMass { inverse_mass: DVec3::splat(0.5), inverse_inertia: RigidMass::pack(DMat3::IDENTITY * 0.75) });
            p.free.rigid.push(Twist { linear: DVec3::new(push, 0.3, -2.0), ..Twist::default() });
        }
        for (body1, body2) in [(0, IMMOBILE), (1, 0)] {
            p.push_group((0..4).map(|k| {
                let corner = DVec3::new(f64::from(k & 1) - 0.5, f64::from(k >> 1) - 0.5, -0.5);
                let arm2 = if body2 == IMMOBILE { DVec3::ZERO } else { corner + DVec3::Z };
                Contact { normal: DVec3::Z, tangent: DVec3::X, arm1: corner, arm2, mu: 0.3, body1, body2, ..Contact::default() }
            }));
            p.close_colour();
        }
        let axes = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let mut jacobians = [Vec::new(), Vec::new()];
        for axis in axes.map(DVec3::from_array) {
            for (j, (arm, sign)) in [(DVec3::new(0.5, 0.0, 0.5), -1.0), (DVec3::new(0.5, 0.0, -0.5), 1.0)].into_iter().enumerate() {
                jacobians[j].extend((sign * axis).to_array());
                jacobians[j].extend((sign * arm.cross(axis)).to_array());
            }
        }
        p.push_block(AdmissibleSet::Free, [System::Rigid(0), System::Rigid(1)], [&jacobians[0], &jacobians[1]], &[0.0; 2]);
        p.prepare().expect("legal");
        p
    }

    #[test]
    fn the_sparse_form_of_a_step_has_the_velocities_of_the_step() {
        let p = stack();
        assert_eq!(p.blocks.iter().map(|b: &Block| b.rows).sum::<usize>(), 2);
        let mut answer = Answer::for_problem(&p);
        assert!(Auto { tolerance: 1e-12, ..Auto::default() }.solve(&p, &mut answer).converged());
        let g = global(&p).problem();
        let found = g.solve(&Settings { tolerance: 1e-12, ..Settings::default() }).expect("legal");
        assert!(found.converged(), "{:?}", found.report);
        let (mut v, mut u) = (found.solution.v, found.solution.u);
        for (twist, v) in answer.velocities.rigid.iter().zip(v.chunks_exact(6)) {
            let apart = (twist.linear - DVec3::from_slice(v)).length() + (twist.angular - DVec3::from_slice(&v[3..])).length();
            // corners on the verge of lifting: velocities are known to the root of the residual
            assert!(apart < 1e-5, "{apart:e}");
        }
        // and the reactions of the step solve the sparse form
        let rows = answer.reactions.contacts.iter().flat_map(|r| r.to_array()).chain(answer.reactions.blocks.iter().copied());
        let r: Vec<f64> = rows.collect();
        assert!(g.residual(&r, &mut v, &mut u).expect("legal").e_s < 1e-11);
    }
}
