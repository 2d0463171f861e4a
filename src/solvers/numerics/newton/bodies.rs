//! The body space of a step: which systems appear in its rows, their masses and H.

use super::space::BodySpace;
use crate::algebra::dense;
use crate::numerics::mixed::{IMMOBILE, MixedProblem, RigidMass, SYSTEMS, System, Twist, Velocities};
use glam::DVec3;

const NONE: u32 = u32::MAX;

/// The systems that are nodes, in their order.
#[derive(Debug, Default)]
pub(super) struct Bodies {
    rigid: Vec<u32>,
    general: Vec<u32>,
    pub(super) systems: Vec<System>,
}

impl Bodies {
    /// Lists the systems and fills the space; false when a mass matrix is not invertible. A locked velocity keeps its free value: its H is 0.
    pub(super) fn fill(&mut self, p: &MixedProblem, space: &mut BodySpace) -> bool {
        let Self { rigid, general, systems } = self;
        for (nodes, n) in [(&mut *rigid, p.rigid.len()), (&mut *general, p.general.len())] {
            nodes.clear();
            nodes.resize(n, NONE);
        }
        let of_contacts = p.contacts.iter().flat_map(|c| [c.body1, c.body2]).filter(|body| *body != IMMOBILE).map(System::Rigid);
        for system in of_contacts.chain(p.blocks.iter().flat_map(|b| b.systems)) {
            match system {
                System::Fixed => {}
                System::Rigid(i) => rigid[i as usize] = 0,
                System::General(i) => general[i as usize] = 0,
            }
        }
        space.clear();
        systems.clear();
        for (i, node) in rigid.iter_mut().enumerate().filter(|(_, node)| **node != NONE) {
            *node = systems.len() as u32;
            systems.push(System::Rigid(i as u32));
            space.push_node(6).copy_from_slice(&p.rigid[i].forward());
        }
        for (i, node) in general.iter_mut().enumerate().filter(|(_, node)| **node != NONE) {
            *node = systems.len() as u32;
            systems.push(System::General(i as u32));
            let m = &p.general[i];
            let inverse = &p.general_inverse[m.inverse..][..m.dofs * m.dofs];
            let Some(mass) = dense::inverse_spd(inverse, m.dofs) else { return false };
            space.push_node(m.dofs).copy_from_slice(&mass);
        }
        for c in &p.contacts {
            let [one, two] = &c.rows();
            let none: (System, &[f64]) = (System::Fixed, &[]);
            self.push(p, space, 3, [(one.0, one.1.as_flattened()), (two.0, two.1.as_flattened()), none]);
        }
        for b in &p.blocks {
            self.push(p, space, b.rows, p.block_rows(b));
        }
        space.close();
        space.is_finite()
    }

    /// Appends a block with its rows on its systems.
    fn push(&self, p: &MixedProblem, space: &mut BodySpace, height: usize, parts: [(System, &[f64]); SYSTEMS]) {
        let mut nodes = parts.map(|(system, _)| self.node(system).unwrap_or(NONE));
        nodes.sort_unstable();
        let mut count = 0;
        for i in 0..SYSTEMS {
            if nodes[i] != NONE && !nodes[..count].contains(&nodes[i]) {
                nodes[count] = nodes[i];
                count += 1;
            }
        }
        let nodes = &nodes[..count];
        space.push_block(height, nodes);
        for (system, rows) in parts {
            let Some(place) = self.node(system).and_then(|node| nodes.iter().position(|n| *n == node)) else { continue };
            let piece = space.last_piece(place);
            piece.iter_mut().zip(rows).for_each(|(h, x)| *h += x);
            if let System::Rigid(i) = system {
                for (k, _) in p.rigid[i as usize].locks().into_iter().enumerate().filter(|(_, locked)| *locked) {
                    piece.chunks_exact_mut(6).for_each(|row| row[k] = 0.0);
                }
            }
        }
    }

    fn node(&self, system: System) -> Option<u32> {
        match system {
            System::Fixed => None,
            System::Rigid(i) => Some(self.rigid[i as usize]),
            System::General(i) => Some(self.general[i as usize]),
        }
    }

    /// The velocities of all nodes, one after the other.
    pub(super) fn gather(&self, p: &MixedProblem, v: &Velocities, out: &mut Vec<f64>) {
        out.clear();
        for &system in &self.systems {
            match system {
                System::Fixed => {}
                System::Rigid(i) => {
                    let twist = &v.rigid[i as usize];
                    out.extend(twist.linear.to_array());
                    out.extend(twist.angular.to_array());
                }
                System::General(i) => {
                    let m = &p.general[i as usize];
                    out.extend_from_slice(&v.general[m.first..m.first + m.dofs]);
                }
            }
        }
    }

    /// These velocities for all nodes, and the free ones for other systems.
    pub(super) fn scatter(&self, p: &MixedProblem, v: &[f64], out: &mut Velocities) {
        out.rigid.clone_from(&p.free.rigid);
        out.general.clone_from(&p.free.general);
        let mut rest = v;
        for &system in &self.systems {
            let (v, after) = rest.split_at(p.dofs(system));
            rest = after;
            match system {
                System::Fixed => {}
                System::Rigid(i) => {
                    out.rigid[i as usize] = Twist { linear: DVec3::from_slice(v), angular: DVec3::from_slice(&v[3..]) };
                }
                System::General(i) => {
                    let first = p.general[i as usize].first;
                    out.general[first..first + v.len()].copy_from_slice(v);
                }
            }
        }
    }
}

/// The velocities that are locked, all others 0: what H does not see.
pub(super) fn held(p: &MixedProblem) -> Velocities {
    let twist = |(m, v): (&RigidMass, &Twist)| {
        let [x, y, z, a, b, c] = m.locks().map(|locked| f64::from(u8::from(locked)));
        Twist { linear: DVec3::new(x, y, z) * v.linear, angular: DVec3::new(a, b, c) * v.angular }
    };
    Velocities { rigid: p.rigid.iter().zip(&p.free.rigid).map(twist).collect(), general: vec![0.0; p.free.general.len()] }
}
