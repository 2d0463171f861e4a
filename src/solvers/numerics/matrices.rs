//! A one-step problem as sparse matrices, for other solvers, for files and for tests.

use super::admissible::AdmissibleSet;
use super::global::GlobalProblem;
use super::mixed::{MixedProblem, System};
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
    /// Largest normal reaction per contact; empty where they bear any.
    pub most: Vec<f64>,
    /// Admissible sets of the rows after the contacts, with their number of rows.
    pub blocks: Vec<(AdmissibleSet, usize)>,
}

impl Global {
    /// Admissible sets of the contacts, in their order.
    pub fn contacts(&self) -> impl Iterator<Item = AdmissibleSet> + '_ {
        self.mu.iter().enumerate().map(|(k, &mu)| match self.most.get(k) {
            Some(&most) if most > 0.0 => AdmissibleSet::Crushing { mu, most },
            _ => AdmissibleSet::Coulomb { mu },
        })
    }

    /// The same problem as numerics state it, H turned round to dof × rows.
    pub fn problem(&self) -> GlobalProblem {
        let contacts = self.contacts().map(|set| (set, 3));
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
        // a locked velocity keeps its free value: unit mass and no rows
        let entries = m.forward().into_iter().enumerate().filter(|(k, _)| k / 6 == k % 6 || k / 6 > 2 && k % 6 > 2);
        entries.for_each(|(k, x)| mass.add_triplet(6 * i + k / 6, 6 * i + k % 6, x));
    }
    for m in &p.general {
        let forward = crate::algebra::dense::inverse_spd(&p.general_inverse[m.inverse..][..m.dofs * m.dofs], m.dofs).unwrap_or_default();
        for (k, &x) in forward.iter().enumerate() {
            mass.add_triplet(rigid + m.first + k / m.dofs, rigid + m.first + k % m.dofs, x);
        }
    }
    let mass: CsMat<f64> = mass.to_csr();
    let mut h = TriMat::new((rows, dofs));
    let mut w = Vec::with_capacity(rows);
    let mut first = 0;
    let mut add = |parts: &[(System, &[f64])], b: &[f64]| {
        for &(system, rows) in parts {
            let (column, locks) = match system {
                System::Fixed => continue,
                System::Rigid(i) => (6 * i as usize, p.rigid[i as usize].locks()),
                System::General(i) => (rigid + p.general[i as usize].first, [false; 6]),
            };
            let n = p.dofs(system);
            for (k, &x) in rows.iter().enumerate().filter(|(k, _)| !locks.get(k % n).is_some_and(|locked| *locked)) {
                h.add_triplet(first + k / n, column + k % n, x);
            }
        }
        w.extend_from_slice(b);
        first += b.len();
    };
    for c in &p.contacts {
        let [one, two] = &c.rows();
        add(&[(one.0, one.1.as_flattened()), (two.0, two.1.as_flattened())], &c.b.to_array());
    }
    for block in &p.blocks {
        add(&p.block_rows(block), &p.block_b[block.first..block.first + block.rows]);
    }
    let free = p.free.rigid.iter().flat_map(|t| [t.linear, t.angular]).flat_map(|x| x.to_array());
    let v: Vec<f64> = free.chain(p.free.general.iter().copied()).collect();
    let f = mass.outer_iterator().map(|row| row.iter().map(|(j, m)| m * v[j]).sum()).collect();
    Global {
        mass,
        h: h.to_csr(),
        f,
        w,
        mu: p.contacts.iter().map(|c| c.mu).collect(),
        most: if p.gives_way() { p.contacts.iter().map(|c| c.most).collect() } else { Vec::new() },
        blocks: p.blocks.iter().map(|b| (b.set, b.rows)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::mixed::{Answer, Contact, IMMOBILE, RigidMass, Twist};
    use crate::numerics::{auto::Auto, mixed::Block, solvers::Settings};
    use glam::{DMat3, DVec3};

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
