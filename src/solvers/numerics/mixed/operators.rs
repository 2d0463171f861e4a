//! H, Ŵ⁻¹ and W of a problem, applied.

use super::{Block, Contact, IMMOBILE, MAX_DOFS, MAX_ROWS, MixedProblem, Reactions, RigidMass, SYSTEMS, System, Twist, Velocities};
use crate::algebra::lanes::Lanes;
use crate::algebra::pieces::{Part, share};
use crate::numerics::{ProblemError, colours, contact::LocalOperator};
use glam::{DMat3, DVec3};
use rayon::prelude::*;

/// Part of the scale of a contact that stands for what its reaction has to do: a hundredth of what it may miss by at a tolerance of 1e-3.
#[doc(hidden)]
pub const JUDGED: f64 = 1e-5;

/// Contacts per piece of a sum: fixed, so that any number of threads adds in the same order.
const PIECE: usize = 1024;

/// The own operators of some contacts, the first of which is number `first`; `|D^{-½} q|²` and `|q|²` over those that close, and the squares
/// of the speeds on which they are judged, as impulses.
#[inline(always)]
fn prepare_contacts(contacts: &mut [Contact], first: usize, rigid: &[RigidMass], free: &[Twist]) -> Result<[f64; 3], ProblemError> {
    let (mut scaled, mut plain, mut judged) = (0.0, 0.0, 0.0);
    for (k, c) in contacts.iter_mut().enumerate() {
        let mut m = DMat3::ZERO;
        for (body, arm) in [(c.body1, c.arm1), (c.body2, c.arm2)] {
            if body != IMMOBILE {
                m += rigid[body as usize].mobility(arm);
            }
        }
        let (n, t1) = (c.normal, c.tangent);
        let t2 = n.cross(t1);
        let [mn, m1, m2] = [n, t1, t2].map(|axis| m * axis);
        let nn = n.dot(mn);
        c.local = LocalOperator::new(nn, [t1.dot(mn), t2.dot(mn)], [t1.dot(m1), t1.dot(m2), t2.dot(m2)])
            .ok_or_else(|| ProblemError::SingularBlock { block: format!("contact {}", first + k), found: nn })?;
        let weight = c.local.mean_diagonal();
        judged += c.scale * c.scale / weight;
        let q = c.velocity(free);
        if q.x >= 0.0 {
            continue; // open without any reaction: a far neighbour must not make the residual look small
        }
        scaled += q.length_squared() / weight;
        plain += q.length_squared();
    }
    Ok([scaled, plain, judged])
}

/// Sums of the pieces, in their order; the first error.
fn add(pieces: impl Iterator<Item = Result<[f64; 3], ProblemError>>) -> Result<[f64; 3], ProblemError> {
    let mut sums = [0.0; 3];
    for piece in pieces {
        sums.iter_mut().zip(piece?).for_each(|(sum, x)| *sum += x);
    }
    Ok(sums)
}

impl MixedProblem {
    /// The systems of a block with their parts of H, row by row.
    pub(in crate::numerics) fn block_rows(&self, block: &Block) -> [(System, &[f64]); SYSTEMS] {
        [0, 1, 2].map(|k| (block.systems[k], &self.jacobians[block.jacobian[k]..][..block.rows * self.dofs(block.systems[k])]))
    }

    /// Number of velocities of a system.
    pub fn dofs(&self, system: System) -> usize {
        match system {
            System::Fixed => 0,
            System::Rigid(_) => 6,
            System::General(i) => self.general[i as usize].dofs,
        }
    }

    /// Computes the own Delassus blocks and the scale of the residual.
    pub fn prepare(&mut self) -> Result<(), ProblemError> {
        let Self { contacts, rigid, free, .. } = self;
        let shared = share(Part::Prepare, contacts.len(), 2 * PIECE);
        let piece = |(k, contacts): (usize, &mut [Contact])| {
            Lanes::best().run(
                #[inline(always)]
                || prepare_contacts(contacts, k * PIECE, rigid, &free.rigid),
            )
        };
        let [mut scaled, mut plain, judged] = if shared {
            let parts: Vec<_> = contacts.par_chunks_mut(PIECE).enumerate().map(piece).collect();
            add(parts.into_iter())?
        } else {
            add(contacts.chunks_mut(PIECE).enumerate().map(piece))?
        };
        self.prepare_spins()?;
        if !self.spins.is_empty() {
            [scaled, plain] = self.spin_scales();
        }
        self.prepare_blocks()?;
        let mut u = [0.0; MAX_ROWS];
        for block in &self.blocks {
            let u = &mut u[..block.rows];
            self.block_velocity(block, &self.free, u);
            let q2 = u.iter().map(|u| u * u).sum::<f64>();
            scaled += q2 / self.block_weight(block);
            plain += q2;
        }
        (self.q_scaled, self.q_norm) = (scaled.sqrt(), plain.sqrt());
        self.asked = self.q_scaled.max(JUDGED * judged.sqrt());
        if !self.q_scaled.is_finite() {
            return Err(ProblemError::NotFinite { what: "the free velocity or the constant part of a row".into() });
        }
        Ok(())
    }

    fn prepare_blocks(&mut self) -> Result<(), ProblemError> {
        self.block_w.clear();
        for k in 0..self.blocks.len() {
            let block = self.blocks[k];
            let rows = block.rows;
            if rows > MAX_ROWS {
                return Err(ProblemError::SingularBlock {
                    block: format!("block {k} with {rows} rows (at most {MAX_ROWS})"),
                    found: f64::NAN,
                });
            }
            let local = self.block_w.len();
            self.block_w.resize(local + rows * rows, 0.0);
            let mut column = [0.0; MAX_DOFS];
            for (part, system) in block.systems.into_iter().enumerate() {
                let n = self.dofs(system);
                if n > MAX_DOFS {
                    return Err(ProblemError::SingularBlock {
                        block: format!("a system with {n} velocities (at most {MAX_DOFS})"),
                        found: f64::NAN,
                    });
                }
                let jac = &self.jacobians[block.jacobian[part]..][..rows * n];
                for i in 0..rows {
                    self.inverse_mass_times(system, &jac[i * n..(i + 1) * n], &mut column[..n]);
                    for j in 0..rows {
                        let dot: f64 = jac[j * n..(j + 1) * n].iter().zip(&column).map(|(a, b)| a * b).sum();
                        self.block_w[local + i * rows + j] += dot;
                    }
                }
            }
            self.blocks[k].local = local;
            for i in 0..rows {
                let found = self.block_w[local + i * rows + i];
                if !(found > 0.0 && found.is_finite()) {
                    return Err(ProblemError::SingularBlock { block: format!("row {i} of block {k}"), found });
                }
            }
        }
        Ok(())
    }

    /// `out = Ŵ⁻¹ x` for one system.
    #[doc(hidden)]
    pub fn inverse_mass_times(&self, system: System, x: &[f64], out: &mut [f64]) {
        match system {
            System::Fixed => {}
            System::Rigid(i) => {
                let m = &self.rigid[i as usize];
                (m.inverse_mass * DVec3::from_slice(x)).write_to_slice(out);
                m.inertia_times(DVec3::from_slice(&x[3..])).write_to_slice(&mut out[3..]);
            }
            System::General(i) => {
                let m = &self.general[i as usize];
                for (row, out) in self.general_inverse[m.inverse..].chunks_exact(m.dofs).zip(out) {
                    *out = row.iter().zip(x).map(|(a, b)| a * b).sum();
                }
            }
        }
    }

    /// `u = H v + b` of one contact.
    #[inline(always)]
    pub fn contact_velocity(&self, c: &Contact, v: &[Twist]) -> DVec3 {
        c.velocity(v)
    }

    /// `u = H v + b` of one block, what its compliance gives included.
    pub fn block_velocity(&self, block: &Block, v: &Velocities, u: &mut [f64]) {
        u.copy_from_slice(&self.block_b[block.first..][..block.rows]);
        (0..SYSTEMS).for_each(|part| self.add_rate(block, part, v, u));
    }

    /// `H v` of one block: the rate of its rows, without b and compliance.
    pub fn block_rate(&self, block: &Block, v: &Velocities, u: &mut [f64]) {
        u.fill(0.0);
        (0..SYSTEMS - 1).for_each(|part| self.add_rate(block, part, v, u));
    }

    #[inline(always)]
    fn add_rate(&self, block: &Block, part: usize, v: &Velocities, u: &mut [f64]) {
        match block.systems[part] {
            System::Fixed => {}
            System::Rigid(i) => {
                let twist = &v.rigid[i as usize];
                for (row, u) in self.jacobians[block.jacobian[part]..].chunks_exact(6).zip(u.iter_mut()) {
                    *u += DVec3::from_slice(row).dot(twist.linear) + DVec3::from_slice(&row[3..]).dot(twist.angular);
                }
            }
            System::General(i) => {
                let m = &self.general[i as usize];
                let v = &v.general[m.first..][..m.dofs];
                for (row, u) in self.jacobians[block.jacobian[part]..].chunks_exact(m.dofs).zip(u.iter_mut()) {
                    *u += row.iter().zip(v).map(|(a, b)| a * b).sum::<f64>();
                }
            }
        }
    }

    /// `v += Ŵ⁻¹ Hᵀ dr` of one block.
    pub fn kick_block(&self, block: &Block, dr: &[f64], v: &mut Velocities) {
        let mut momentum = [0.0; MAX_DOFS];
        let mut change = [0.0; MAX_DOFS];
        for (part, system) in block.systems.into_iter().enumerate() {
            let n = self.dofs(system);
            if n == 0 {
                continue;
            }
            let (momentum, change) = (&mut momentum[..n], &mut change[..n]);
            momentum.fill(0.0);
            for (row, dr) in self.jacobians[block.jacobian[part]..].chunks_exact(n).zip(dr) {
                row.iter().zip(momentum.iter_mut()).for_each(|(h, p)| *p += h * dr);
            }
            self.inverse_mass_times(system, momentum, change);
            match system {
                System::Fixed => {}
                System::Rigid(i) => {
                    let v = &mut v.rigid[i as usize];
                    v.linear += DVec3::from_slice(change);
                    v.angular += DVec3::from_slice(&change[3..]);
                }
                System::General(i) => {
                    let first = self.general[i as usize].first;
                    v.general[first..first + n].iter_mut().zip(change.iter()).for_each(|(v, c)| *v += c);
                }
            }
        }
    }

    /// Scalar weight D of a block: the mean of the diagonal of its own W.
    pub fn block_weight(&self, block: &Block) -> f64 {
        let w = &self.block_w[block.local..][..block.rows * block.rows];
        w.iter().step_by(block.rows + 1).sum::<f64>() / block.rows as f64
    }

    /// `v = v_free + Ŵ⁻¹ Hᵀ r` from scratch, in the order of the arrays; cells by several threads, to the same bits.
    pub fn velocities(&self, r: &Reactions, v: &mut Velocities) {
        if colours::kick_cells(self, r, v) {
            return self.kick_others(r, v);
        }
        v.rigid.clone_from(&self.free.rigid);
        Lanes::best().run(
            #[inline(always)]
            || self.kick_contacts(&r.contacts, &mut v.rigid),
        );
        self.kick_others(r, v);
    }

    #[inline(always)]
    fn kick_contacts(&self, r: &[DVec3], v: &mut [Twist]) {
        for (c, &r) in self.contacts.iter().zip(r).filter(|(_, r)| **r != DVec3::ZERO) {
            let impulse = c.to_world(r);
            for (body, arm, impulse) in [(c.body1, c.arm1, impulse), (c.body2, c.arm2, -impulse)] {
                if body != IMMOBILE {
                    self.rigid[body as usize].kick(&mut v[body as usize], arm, impulse);
                }
            }
        }
    }

    /// What moments and blocks give to the velocities of rigid bodies, and those of general systems.
    pub(in crate::numerics) fn kick_others(&self, r: &Reactions, v: &mut Velocities) {
        v.general.clone_from(&self.free.general);
        self.kick_spins(&r.spins, v);
        for block in &self.blocks {
            self.kick_block(block, &r.blocks[block.first..][..block.rows], v);
        }
    }
}
