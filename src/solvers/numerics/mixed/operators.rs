//! H, Ŵ⁻¹ and W of a problem, applied.

use super::{Block, Contact, MAX_DOFS, MAX_ROWS, MixedProblem, Reactions, RigidMass, SYSTEMS, System, Twist, Velocities};
use crate::algebra::lanes::{Lanes, Plain, Simd, Wide, Wide3, WithSimd};
use crate::algebra::pieces::{Part, share};
use crate::numerics::abreast::{Abreast, Ends, Kick, Rates, each, each3, in_lanes, next};
use crate::numerics::colours::{self, All};
use crate::numerics::{ProblemError, contact::LocalOperator};
use glam::DVec3;
use rayon::prelude::*;
use std::ops::Range;

/// Part of the scale of a contact that stands for what its reaction has to do: a hundredth of what it may miss by at a tolerance of 1e-3.
#[doc(hidden)]
pub const JUDGED: f64 = 1e-5;

/// Contacts per piece of a sum: fixed, so that any number of threads adds in the same order.
const PIECE: usize = 1024;

/// Makes the own operators of some contacts, the first of which is number `first`; `|D^{-½} q|²` and `|q|²` over those that close, and the squares
/// of the speeds on which they are judged, as impulses.
struct Prepare<'a> {
    contacts: &'a mut [Contact],
    first: usize,
    rigid: &'a [RigidMass],
    free: &'a [Twist],
}

impl WithSimd for Prepare<'_> {
    type Output = Result<[f64; 3], ProblemError>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let Self { mut contacts, first: mut k, rigid, free } = self;
        let mut sums = [0.0; 3];
        loop {
            let (n, alike) = next(contacts, S::F64_LANES);
            let own;
            (own, contacts) = contacts.split_at_mut(n);
            let mut singular = None;
            if n == 1 || n > 1 && !side_by_side(simd, own, alike, (rigid, free), &mut sums, &mut singular) {
                for (l, c) in own.chunks_mut(1).enumerate() {
                    let mut found = None;
                    side_by_side(Plain, c, true, (rigid, free), &mut sums, &mut found);
                    singular = singular.or(found.map(|(_, found)| (l, found)));
                }
            }
            match singular {
                Some((l, found)) => return Err(ProblemError::SingularBlock { block: format!("contact {}", k + l), found }),
                None if n == 0 => return Ok(sums),
                None => k += n,
            }
        }
    }
}

/// The same of contacts side by side; `singular` says which one has no operator, and what its `W_nn` is. False, and nothing done, where some are contacts of
/// balls and others are not.
#[inline(always)]
fn side_by_side<S: Simd>(
    simd: S,
    contacts: &mut [Contact],
    alike: bool,
    (rigid, free): (&[RigidMass], &[Twist]),
    sums: &mut [f64; 3],
    singular: &mut Option<(usize, f64)>,
) -> bool {
    let own = in_lanes::<S, _>(contacts);
    let (c, ends) = (Abreast::load(simd, &own), Ends::of::<S>(&own, alike));
    let (b, scale) = (each3(simd, &own, |c| c.b), each(simd, &own, |c| c.scale));
    let Some(m) = c.mobility(&ends, rigid) else { return false };
    let [n, t1, t2] = c.axes;
    let [mn, m1, m2] = [times(&m, n), times(&m, t1), times(&m, t2)];
    let (nn, nt, tt) = (n.dot(mn), [t1.dot(mn), t2.dot(mn)], [t1.dot(m1), t1.dot(m2), t2.dot(m2)]);
    let normals = nn.row();
    LocalOperator::of_lanes(
        simd,
        nn,
        nt,
        tt,
        #[inline(always)]
        |l, local| match (contacts.get_mut(l), local) {
            (Some(c), Some(local)) => c.local = local,
            (Some(_), None) => *singular = singular.or(Some((l, normals[l]))),
            (None, _) => {}
        },
    );
    let weight = (nn + tt[0] + tt[2]).over(Wide::splat(simd, 3.0));
    let q = c.rate(&ends, free) + b;
    let square = q.dot(q);
    let (judged, scaled) = ((scale * scale).over(weight).row(), square.over(weight).row());
    let (plain, normal) = (square.row(), q.0.row());
    for l in 0..S::F64_LANES {
        if l >= contacts.len() {
            break;
        }
        sums[2] += judged[l];
        if normal[l] >= 0.0 {
            continue; // open without any reaction: a far neighbour must not make the residual look small
        }
        sums[0] += scaled[l];
        sums[1] += plain[l];
    }
    true
}

/// `m x`, given the columns of m.
#[inline(always)]
fn times<S: Simd>(m: &[Wide3<S>; 3], x: Wide3<S>) -> Wide3<S> {
    m[0].times(x.0) + m[1].times(x.1) + m[2].times(x.2)
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
            Lanes::best().run_four(Prepare { contacts, first: k * PIECE, rigid, free: &free.rigid })
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

    /// The same of a range of contacts; `take` is given the number and the velocity of each in order.
    #[doc(hidden)]
    pub fn contact_velocities(&self, range: Range<usize>, v: &[Twist], take: impl FnMut(usize, DVec3)) {
        Lanes::best().run_four(Rates { contacts: &self.contacts[range.clone()], first: range.start, v, take });
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
        let twists = &All::new(&mut v.rigid);
        Lanes::best().run_four(Kick { contacts: &self.contacts, reactions: &r.contacts, masses: &self.rigid, v: twists });
        self.kick_others(r, v);
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
