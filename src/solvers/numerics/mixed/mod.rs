//! The one-step problem: rigid bodies and general systems, contacts and blocks of any admissible set, as flat arrays.
//!
//! ```text
//! v = v_free + Ŵ⁻¹ Hᵀ r        u = H v + b        −(u + g(u)) ∈ N_K(r)
//! ```
//!
//! H is rows × dof. Two kinds of systems: *rigid* ones have six velocities (linear, angular, both in world axes) and an
//! inverse mass per axis; *general* ones any number and a dense inverse mass. Two kinds of interactions: a [`Contact`]
//! has three rows `(n, t1, t2)` between rigid bodies that are recomputed from the normal and the lever arms whenever they
//! are needed (memory is the bottleneck of a sweep); a [`Block`] has stored rows and any [`AdmissibleSet`].
//!
//! Contacts of one pair of bodies form a *group*; groups are stored colour by colour, and no two groups of a colour share
//! a body, so that a colour can be visited in parallel with the same bits as in series. Large problems have cells of colours, see [`super::cells`].

mod operators;
mod planes;
mod spins;

use super::Stop;
use super::admissible::{AdmissibleSet, bounded_projection, project_coulomb};
use super::cells::Cells;
use super::contact::LocalOperator;
use glam::{DMat3, DVec3};
pub use operators::JUDGED;
pub use planes::Planes;
pub use spins::Spin;
use std::ops::Range;

/// Stands for a body whose velocity is given: static or driven. Its share of `u` is part of `b`.
pub const IMMOBILE: u32 = u32::MAX;

/// Velocity (or momentum) of a rigid body in world axes: m/s and rad/s.
///
/// ```
/// use drystone::numerics::mixed::Twist;
/// let spin = Twist { angular: glam::DVec3::Z, ..Twist::default() };
/// assert_eq!(spin.at(glam::DVec3::X), glam::DVec3::Y);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Twist {
    /// Velocity of the centre of mass.
    pub linear: DVec3,
    /// Angular velocity.
    pub angular: DVec3,
}

impl Twist {
    /// Velocity of the material point at `arm` from the centre.
    #[inline(always)]
    pub fn at(&self, arm: DVec3) -> DVec3 {
        self.linear + self.angular.cross(arm)
    }
}

/// Inverse of the iteration matrix of one rigid body, in world axes; zeros where an axis is locked.
///
/// ```
/// use drystone::numerics::mixed::RigidMass;
/// use glam::{DMat3, DVec3};
/// let ball = RigidMass { inverse_mass: DVec3::ONE, inverse_inertia: RigidMass::pack(DMat3::IDENTITY * 2.5) };
/// assert_eq!(ball.inertia_times(DVec3::X), 2.5 * DVec3::X);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RigidMass {
    /// 1/kg per world axis.
    pub inverse_mass: DVec3,
    /// 1/(kg m²), symmetric: 11, 22, 33, 12, 13, 23.
    pub inverse_inertia: [f64; 6],
}

impl RigidMass {
    /// The six numbers of a symmetric matrix.
    pub fn pack(m: DMat3) -> [f64; 6] {
        [m.x_axis.x, m.y_axis.y, m.z_axis.z, m.y_axis.x, m.z_axis.x, m.z_axis.y]
    }

    /// The symmetric matrix of six numbers.
    pub fn unpack(s: [f64; 6]) -> DMat3 {
        DMat3::from_cols(DVec3::new(s[0], s[3], s[4]), DVec3::new(s[3], s[1], s[5]), DVec3::new(s[4], s[5], s[2]))
    }

    /// M in world axes, row-major 6×6, with 1 on the diagonal of [locked](Self::locks) velocities.
    pub(in crate::numerics) fn forward(&self) -> [f64; 36] {
        let mut inverse = Self::unpack(self.inverse_inertia);
        for k in 0..3 {
            if inverse.col(k)[k] == 0.0 {
                inverse.col_mut(k)[k] = 1.0;
            }
        }
        let inertia = inverse.inverse().to_cols_array();
        let mut mass = [0.0; 36];
        for k in 0..3 {
            mass[7 * k] = if self.inverse_mass[k] == 0.0 { 1.0 } else { 1.0 / self.inverse_mass[k] };
            (0..3).for_each(|j| mass[6 * (3 + k) + 3 + j] = inertia[3 * j + k]);
        }
        mass
    }

    /// Which velocities keep their free values.
    pub(in crate::numerics) fn locks(&self) -> [bool; 6] {
        let (m, s) = (self.inverse_mass, &self.inverse_inertia);
        [m.x, m.y, m.z, s[0], s[1], s[2]].map(|x| x == 0.0)
    }

    /// Whether `I⁻¹` is a multiple of the identity, as that of a ball.
    #[inline(always)]
    pub(in crate::numerics) fn turns_as_ball(&self) -> bool {
        let s = &self.inverse_inertia;
        s[0] == s[1] && s[1] == s[2] && s[3] == 0.0 && s[4] == 0.0 && s[5] == 0.0
    }

    /// `I⁻¹ m`
    #[inline(always)]
    pub fn inertia_times(&self, m: DVec3) -> DVec3 {
        let s = &self.inverse_inertia;
        DVec3::new(s[0] * m.x + s[3] * m.y + s[4] * m.z, s[3] * m.x + s[1] * m.y + s[5] * m.z, s[4] * m.x + s[5] * m.y + s[2] * m.z)
    }

    /// Change of velocity by an impulse at `arm`.
    #[inline(always)]
    pub fn kick(&self, v: &mut Twist, arm: DVec3, impulse: DVec3) {
        v.linear += self.inverse_mass * impulse;
        v.angular += self.inertia_times(arm.cross(impulse));
    }
}

/// A system with any number of velocities and a symmetric positive mass matrix, see [`MixedProblem::push_general`].
///
/// ```
/// use drystone::numerics::mixed::MixedProblem;
/// let mut p = MixedProblem::default();
/// let oscillator = p.push_general(&[0.5, 0.0, 0.0, 1.0], &[0.1, 0.2]);
/// assert_eq!((p.dofs(oscillator), p.general[0].first), (2, 0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GeneralMass {
    /// Offset of its velocities in [`Velocities::general`].
    pub first: usize,
    /// Number of velocities.
    pub dofs: usize,
    /// Offset of its Ŵ⁻¹ (row-major, `dofs × dofs`) in [`MixedProblem::general_inverse`].
    pub inverse: usize,
}

/// Velocities of all systems.
///
/// ```
/// let v = drystone::numerics::mixed::Velocities::default();
/// assert!(v.rigid.is_empty() && v.general.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Velocities {
    /// One twist per rigid body.
    pub rigid: Vec<Twist>,
    /// The velocities of the general systems, one after the other.
    pub general: Vec<f64>,
}

/// Three contact rows between two rigid bodies.
///
/// ```
/// use drystone::numerics::mixed::{Contact, IMMOBILE};
/// use glam::DVec3;
/// let resting = Contact { normal: DVec3::Z, tangent: DVec3::X, mu: 0.5, body2: IMMOBILE, ..Contact::default() };
/// assert_eq!(resting.to_world(DVec3::new(1.0, 2.0, 3.0)), DVec3::new(2.0, 3.0, 1.0));
/// ```
// in the order of use: velocities and impulses are worked out from the first two lines of a cache
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub struct Contact {
    /// Rigid index of body 1, or [`IMMOBILE`].
    pub body1: u32,
    /// Rigid index of body 2, or [`IMMOBILE`].
    pub body2: u32,
    /// Unit normal from body 2 to body 1.
    pub normal: DVec3,
    /// First tangent; the second is `n × t1`.
    pub tangent: DVec3,
    /// Contact point from the centre of body 1.
    pub arm1: DVec3,
    /// Contact point from the centre of body 2.
    pub arm2: DVec3,
    /// Constant part of `u` (restitution, gap, velocity of an immobile body), in the contact frame.
    pub b: DVec3,
    /// Friction coefficient.
    pub mu: f64,
    /// Largest normal reaction, under which the contact gives way; 0: it bears any.
    pub most: f64,
    /// Speed on which the violation of this contact is judged: it has to stay below the tolerance times this (m/s). 0: not judged
    /// for itself.
    pub scale: f64,
    /// Smallest length of the smaller body (m); 0: unknown.
    pub size: f64,
    /// Own block of the Delassus operator; set by [`MixedProblem::prepare`].
    pub local: LocalOperator,
}

impl Contact {
    /// World vector of `(n, t1, t2)` components.
    #[inline(always)]
    pub fn to_world(&self, r: DVec3) -> DVec3 {
        self.normal * r.x + self.tangent * r.y + self.normal.cross(self.tangent) * r.z
    }

    /// The set of its reaction.
    pub fn set(&self) -> AdmissibleSet {
        let Self { mu, most, .. } = *self;
        if most > 0.0 { AdmissibleSet::Crushing { mu, most } } else { AdmissibleSet::Coulomb { mu } }
    }

    /// Moves a reaction to the nearest admissible one.
    #[inline(always)]
    pub(in crate::numerics) fn project(&self, r: &mut DVec3) {
        if self.most > 0.0 {
            let (n, scale) = bounded_projection(self.mu, self.most, r.x, (r.y * r.y + r.z * r.z).sqrt());
            *r = DVec3::new(n, r.y * scale, r.z * scale);
        } else {
            project_coulomb(self.mu, r);
        }
    }

    /// The De Saxcé shift `μ‖u_t‖`.
    #[inline(always)]
    pub fn shift(&self, u: DVec3) -> f64 {
        self.mu * (u.y * u.y + u.z * u.z).sqrt()
    }

    /// Both bodies with their parts of H, row by row.
    #[inline]
    pub(in crate::numerics) fn rows(&self) -> [(System, [[f64; 6]; 3]); 2] {
        let axes = [self.normal, self.tangent, self.normal.cross(self.tangent)];
        [(self.body1, self.arm1, 1.0), (self.body2, self.arm2, -1.0)].map(|(body, arm, sign)| {
            let row = |axis: DVec3| {
                let (linear, angular) = (sign * axis, sign * arm.cross(axis));
                [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z]
            };
            (if body == IMMOBILE { System::Fixed } else { System::Rigid(body) }, axes.map(row))
        })
    }

    /// `(n, t1, t2)` components of a world vector.
    #[inline(always)]
    pub fn to_local(&self, w: DVec3) -> DVec3 {
        DVec3::new(self.normal.dot(w), self.tangent.dot(w), self.normal.cross(self.tangent).dot(w))
    }

    #[inline(always)]
    fn velocity(&self, v: &[Twist]) -> DVec3 {
        self.rate(v) + self.b
    }

    /// `H v`
    #[inline(always)]
    pub(in crate::numerics) fn rate(&self, v: &[Twist]) -> DVec3 {
        let mut w = DVec3::ZERO;
        if self.body1 != IMMOBILE {
            w += v[self.body1 as usize].at(self.arm1);
        }
        if self.body2 != IMMOBILE {
            w -= v[self.body2 as usize].at(self.arm2);
        }
        self.to_local(w)
    }
}

/// The system that a block acts on.
///
/// ```
/// use drystone::numerics::mixed::System;
/// assert_ne!(System::Rigid(0), System::General(0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum System {
    /// None: the world.
    #[default]
    Fixed,
    /// Index of a rigid body.
    Rigid(u32),
    /// Index of a general system.
    General(u32),
}

/// Systems that a block may act on: two, and its own compliance.
pub const SYSTEMS: usize = 3;

/// Stored rows with one admissible set: a joint, a contact of a general system, a relay.
///
/// A compliant row, `u = H v + D r + b`, has a third system: one without inertia, whose velocity is D r as nothing else acts on it
/// ([`MixedProblem::soften`]).
///
/// ```
/// use drystone::numerics::{admissible::AdmissibleSet, mixed::{Block, System}};
/// let systems = [System::General(0), System::Fixed, System::Fixed];
/// let stop = Block { set: AdmissibleSet::NonNegative, rows: 1, systems, ..Block::default() };
/// assert_eq!(stop.rows, 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// Where its reaction lives.
    pub set: AdmissibleSet,
    /// Number of rows.
    pub rows: usize,
    /// Offset of its rows in [`MixedProblem::block_b`] and [`Reactions::blocks`].
    pub first: usize,
    /// The systems it couples.
    pub systems: [System; SYSTEMS],
    /// Offsets of their row-major Jacobians in [`MixedProblem::jacobians`].
    pub jacobian: [usize; SYSTEMS],
    /// As [`Contact::scale`].
    pub scale: f64,
    /// Offset of its own block of W in [`MixedProblem::block_w`]; set by [`MixedProblem::prepare`].
    pub local: usize,
}

impl Default for Block {
    fn default() -> Self {
        Self {
            set: AdmissibleSet::Free,
            rows: 0,
            first: 0,
            systems: [System::Fixed; SYSTEMS],
            jacobian: [0; SYSTEMS],
            scale: 0.0,
            local: 0,
        }
    }
}

/// Reactions (impulses, N s): contacts in their frames, then the rows of the blocks.
///
/// ```
/// let r = drystone::numerics::mixed::Reactions::default();
/// assert!(r.contacts.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reactions {
    /// `(r_n, r_t1, r_t2)` per contact.
    pub contacts: Vec<DVec3>,
    /// `(p_n, p_t1, p_t2)` per contact of a problem with [`Spin`]s: its moment over their length; empty in others.
    pub spins: Vec<DVec3>,
    /// Rows of the blocks, one after the other.
    pub blocks: Vec<f64>,
}

/// The one-step problem. Fill the public arrays, then [`prepare`](Self::prepare) once, then hand it to a solver.
///
/// ```
/// use drystone::numerics::{auto::Auto, mixed::*};
/// use glam::{DMat3, DVec3};
/// let mut p = MixedProblem::default();
/// p.rigid.push(RigidMass { inverse_mass: DVec3::ONE, inverse_inertia: RigidMass::pack(DMat3::IDENTITY) });
/// p.free.rigid.push(Twist { linear: DVec3::new(0.1, 0.0, -1.0), ..Twist::default() });
/// p.push_group([Contact { normal: DVec3::Z, tangent: DVec3::X, arm1: -DVec3::Z, mu: 0.5, body2: IMMOBILE, ..Contact::default() }]);
/// p.close_colour();
/// p.prepare()?;
/// let mut answer = Answer::for_problem(&p);
/// let report = Auto { tolerance: 1e-12, ..Auto::default() }.solve(&p, &mut answer);
/// assert!(report.converged());
/// assert!((answer.reactions.contacts[0].x - 1.0).abs() < 1e-12);
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MixedProblem {
    /// Inverse masses of the rigid bodies.
    pub rigid: Vec<RigidMass>,
    /// General systems.
    pub general: Vec<GeneralMass>,
    /// Their inverse masses.
    pub general_inverse: Vec<f64>,
    /// Velocities without any reaction.
    pub free: Velocities,
    /// Rigid bodies that are at rest at the start of the step; empty where that is not known.
    pub resting: Vec<bool>,
    /// All bodies stay in one plane ([`Planes`]).
    pub planar: bool,
    /// Velocities of the rigid bodies at the start of the step, from which loads lead to `free`; empty where they are not known.
    pub before: Vec<Twist>,
    /// De Saxcé shifts of the contacts that are known beforehand (m/s), for the lagged law `−(u + s n) ∈ N_K(r)`, a convex problem;
    /// empty for Coulomb's law, `s = μ‖u_t‖`. Blocks keep their own law.
    pub lagged: Vec<f64>,
    /// Part of the normal row's `b` of each contact that asks for more than not to approach (m/s, ≤ 0), as feedback of overlaps and rebounds do: it may be
    /// given up where friction lets bodies not part. Empty without any.
    pub spare: Vec<f64>,
    /// Contacts, colour by colour, group by group.
    pub contacts: Vec<Contact>,
    /// What resists rolling and twisting at each contact; empty where nothing does.
    pub spins: Vec<Spin>,
    /// Start of each group in `contacts`, and the end.
    pub groups: Vec<u32>,
    /// Start of each colour in `groups`, and the end.
    pub colours: Vec<u32>,
    /// Cells of colours, which threads share; none where they share colours.
    pub cells: Cells,
    /// Blocks with stored rows.
    pub blocks: Vec<Block>,
    /// Jacobians of the blocks.
    pub jacobians: Vec<f64>,
    /// Constant part of `u` of the blocks.
    pub block_b: Vec<f64>,
    /// Own Delassus blocks of the blocks, row-major.
    pub block_w: Vec<f64>,
    /// Scale of the residual, `|D^{-½} q|` with `q = H v_free + b`, over the contacts that close (`q_n < 0`) and all blocks.
    pub q_scaled: f64,
    /// `|q|`
    pub q_norm: f64,
    /// What reactions have to do at least: `q_scaled`, or a hundredth of the speeds on which contacts are judged at a tolerance of 1e-3.
    pub asked: f64,
    /// What may end its solve.
    pub stop: Stop,
}

/// A solution in the making: the first guess of `reactions` comes in, the answer goes out.
///
/// ```
/// use drystone::numerics::mixed::{Answer, MixedProblem};
/// assert!(Answer::for_problem(&MixedProblem::default()).velocities.rigid.is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// `r`
    pub reactions: Reactions,
    /// `v = v_free + Ŵ⁻¹ Hᵀ r`
    pub velocities: Velocities,
    /// Where constraints contradict each other, the velocity by which each contact gives way (m/s); empty where they do not.
    pub slack: Vec<f64>,
    /// The same of the rows of the blocks, either way; as many as these, or none.
    pub yields: Vec<f64>,
    /// Contacts whose reactions grow against each other as friction wedges bodies, some of which are asked to part
    /// ([`MixedProblem::spare`]): none is left of those for the problem that asks for less. Empty without any.
    pub wedged: Vec<bool>,
}

impl Answer {
    /// Zero reactions and the free velocities.
    pub fn for_problem(p: &MixedProblem) -> Self {
        let [contacts, spins] = [p.contacts.len(), p.spins.len()].map(|n| vec![DVec3::ZERO; n]);
        let reactions = Reactions { contacts, spins, blocks: vec![0.0; p.block_b.len()] };
        Self { reactions, velocities: p.free.clone(), slack: Vec::new(), yields: Vec::new(), wedged: Vec::new() }
    }
}

impl MixedProblem {
    /// Empties everything, keeping the memory.
    pub fn clear(&mut self) {
        self.rigid.clear();
        self.resting.clear();
        self.before.clear();
        self.free.rigid.clear();
        self.clear_general();
        self.clear_rows();
    }

    /// Drops all general systems, compliances among them.
    pub fn clear_general(&mut self) {
        self.general.clear();
        self.general_inverse.clear();
        self.free.general.clear();
    }

    /// Appends a general system: its symmetric positive Ŵ⁻¹, row-major, and its free velocity.
    pub fn push_general(&mut self, inverse: &[f64], free: &[f64]) -> System {
        let (first, dofs) = (self.free.general.len(), free.len());
        self.general.push(GeneralMass { first, dofs, inverse: self.general_inverse.len() });
        self.general_inverse.extend_from_slice(inverse);
        self.free.general.extend_from_slice(free);
        System::General(self.general.len() as u32 - 1)
    }

    /// Empties contacts and blocks, keeping systems and memory.
    pub fn clear_rows(&mut self) {
        self.lagged.clear();
        self.spare.clear();
        self.contacts.clear();
        self.spins.clear();
        self.groups.clear();
        self.colours.clear();
        self.cells.clear();
        self.blocks.clear();
        self.jacobians.clear();
        self.block_b.clear();
        self.block_w.clear();
    }

    /// Whether a contact gives way under a pressure.
    pub fn gives_way(&self) -> bool {
        self.contacts.iter().any(|c| c.most > 0.0)
    }

    /// Appends the contacts of one pair of bodies to the colour that is open.
    pub fn push_group(&mut self, contacts: impl IntoIterator<Item = Contact>) {
        if self.groups.is_empty() {
            self.groups.push(0);
            self.colours.push(0);
        }
        self.contacts.extend(contacts);
        self.groups.push(self.contacts.len() as u32);
    }

    /// A contact of each pair of bodies; where groups are not known, every contact.
    pub(in crate::numerics) fn heads(&self) -> impl Iterator<Item = &Contact> {
        let known = self.groups.last().is_some_and(|&end| end as usize == self.contacts.len());
        let starts = if known { &self.groups[..self.groups.len() - 1] } else { &[] };
        let others = if known { &[][..] } else { &self.contacts };
        starts.iter().filter_map(|&first| self.contacts.get(first as usize)).chain(others)
    }

    /// Whether the groups are known by which contacts can be visited at the same time.
    pub(in crate::numerics) fn is_coloured(&self) -> bool {
        self.colours.last().is_some_and(|&last| self.groups.get(last as usize).is_some_and(|&n| n as usize == self.contacts.len()))
    }

    /// The cells; none where they are not those of the colours.
    pub(in crate::numerics) fn known_cells(&self) -> Option<&Cells> {
        let cells = &self.cells;
        let known = !cells.is_empty() && cells.starts.len() == cells.count() + 1;
        let known = known && cells.starts.last().map(|&end| end as usize + 1) == Some(self.colours.len());
        let known = known && cells.bodies.last().map(|&end| end as usize) == Some(self.free.rigid.len());
        known.then_some(cells)
    }

    /// Groups of each unit of the colours that is visited in one go beside the others of its round: cells, level by level, or else a colour at a time, whose
    /// groups are visited in any order. True for the last unit of a round.
    pub(in crate::numerics) fn units(&self) -> impl Iterator<Item = (Range<usize>, bool)> + '_ {
        let cells = self.known_cells();
        let count = cells.map_or(self.colours.len().saturating_sub(1), Cells::count);
        let mut levels = cells.map_or(&[][..], |cells| &cells.levels[1..]).iter().peekable();
        (0..count).map(move |k| {
            let [from, to] =
                [k, k + 1].map(|k| cells.map_or(k, |cells| cells.starts[k] as usize)).map(|colour| self.colours[colour] as usize);
            let last = cells.is_none() || levels.next_if(|&&end| end as usize == k + 1).is_some();
            (from..to, last)
        })
    }

    /// Ends a colour: the groups since the last call share no mobile body.
    pub fn close_colour(&mut self) {
        let groups = self.groups.len().saturating_sub(1) as u32;
        if self.colours.last().is_some_and(|&last| last < groups) {
            self.colours.push(groups);
        }
    }

    /// Appends a block; `rows[k]` is the row-major Jacobian with respect to `systems[k]` (empty for [`System::Fixed`]).
    pub fn push_block(&mut self, set: AdmissibleSet, systems: [System; 2], rows: [&[f64]; 2], b: &[f64]) {
        self.push_rows(set, [(systems[0], rows[0]), (systems[1], rows[1]), (System::Fixed, &[])], b);
    }

    /// The same, a compliance among the systems.
    pub(in crate::numerics) fn push_rows(&mut self, set: AdmissibleSet, parts: [(System, &[f64]); SYSTEMS], b: &[f64]) {
        let first = self.block_b.len();
        let jacobian = parts.map(|(_, rows)| {
            self.jacobians.extend_from_slice(rows);
            self.jacobians.len() - rows.len()
        });
        self.block_b.extend_from_slice(b);
        self.blocks.push(Block { set, rows: b.len(), first, systems: parts.map(|p| p.0), jacobian, scale: 0.0, local: 0 });
    }

    /// Gives the last block the compliance D, symmetric and positive, row-major: `u = H v + D r + b`.
    ///
    /// ```
    /// use drystone::numerics::{admissible::AdmissibleSet, auto::Auto, mixed::*};
    /// // a mass of 1 kg at 1 m/s meets a damper of 3 N s/m for so short a time that it gives 3 N s per m/s
    /// let mut p = MixedProblem::default();
    /// let mass = p.push_general(&[1.0], &[1.0]);
    /// p.push_block(AdmissibleSet::Free, [mass, System::Fixed], [&[1.0], &[]], &[0.0]);
    /// p.soften(&[1.0 / 3.0]);
    /// p.prepare()?;
    /// let mut answer = Answer::for_problem(&p);
    /// assert!(Auto { tolerance: 1e-12, ..Auto::default() }.solve(&p, &mut answer).converged());
    /// assert!((answer.velocities.general[0] - 0.25).abs() < 1e-12 && (answer.reactions.blocks[0] + 0.75).abs() < 1e-12);
    /// # Ok::<(), drystone::numerics::ProblemError>(())
    /// ```
    pub fn soften(&mut self, d: &[f64]) {
        let Some(rows) = self.blocks.last().map(|b| b.rows) else { return };
        let (first, start) = (self.free.general.len(), self.jacobians.len());
        self.free.general.resize(first + rows, 0.0);
        self.general.push(GeneralMass { first, dofs: rows, inverse: self.general_inverse.len() });
        self.general_inverse.extend_from_slice(d);
        self.jacobians.resize(start + rows * rows, 0.0);
        (0..rows).for_each(|i| self.jacobians[start + i * (rows + 1)] = 1.0);
        let compliance = System::General(self.general.len() as u32 - 1);
        if let Some(block) = self.blocks.last_mut() {
            (block.systems[2], block.jacobian[2]) = (compliance, start);
        }
    }
}

/// Most rows of one block.
pub const MAX_ROWS: usize = 8;
/// Most velocities of one general system that a block may act on.
pub const MAX_DOFS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contact_stands_for_its_pair_where_pairs_are_known() {
        let pair = |body1, body2, points| (0..points).map(move |_| Contact { body1, body2, ..Contact::default() });
        let mut p = MixedProblem::default();
        let heads = |p: &MixedProblem| p.heads().map(|c| [c.body1, c.body2]).collect::<Vec<_>>();
        assert!(heads(&p).is_empty());
        p.push_group(pair(0, 1, 2));
        p.push_group(pair(2, IMMOBILE, 3));
        assert_eq!(heads(&p), [[0, 1], [2, IMMOBILE]]);
        // one without contacts
        p.push_group(pair(3, 4, 0));
        assert_eq!(heads(&p), [[0, 1], [2, IMMOBILE]]);
        p.contacts.extend(pair(5, 6, 1));
        assert_eq!(heads(&p).len(), 6, "what stands in no group counts too");
    }
}
