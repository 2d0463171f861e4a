//! The body space of a step: which systems appear in its rows, their masses and H.

use super::space::BodySpace;
use crate::algebra::dense;
use crate::numerics::mixed::{IMMOBILE, MixedProblem, RigidMass, System, Twist, Velocities};
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
        for system in p.contacts.iter().flat_map(|c| [c.body1, c.body2].map(of_body)).chain(p.blocks.iter().flat_map(|b| b.systems)) {
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
            if !rigid_mass(&p.rigid[i], space.push_node(6)) {
                return false;
            }
        }
        for (i, node) in general.iter_mut().enumerate().filter(|(_, node)| **node != NONE) {
            *node = systems.len() as u32;
            systems.push(System::General(i as u32));
            let m = &p.general[i];
            let Some(mass) = dense::inverse_spd(&m.inverse, m.dofs) else { return false };
            space.push_node(m.dofs).copy_from_slice(&mass);
        }
        for c in &p.contacts {
            let axes = [c.normal, c.tangent, c.normal.cross(c.tangent)];
            let rows = |arm: DVec3, sign: f64| {
                move |k: usize, h: &mut [f64]| {
                    (sign * axes[k]).write_to_slice(h);
                    (sign * arm.cross(axes[k])).write_to_slice(&mut h[3..]);
                }
            };
            self.push(p, space, 3, [(of_body(c.body1), &rows(c.arm1, 1.0)), (of_body(c.body2), &rows(c.arm2, -1.0))]);
        }
        for b in &p.blocks {
            let rows = |part: usize| {
                let n = p.dofs(b.systems[part]);
                let jacobian = &p.jacobians[b.jacobian[part]..][..b.rows * n];
                move |k: usize, h: &mut [f64]| h.iter_mut().zip(&jacobian[k * n..]).for_each(|(h, x)| *h += x)
            };
            self.push(p, space, b.rows, [(b.systems[0], &rows(0)), (b.systems[1], &rows(1))]);
        }
        space.close();
        true
    }

    /// Appends a block whose rows two functions write for a system each.
    fn push(&self, p: &MixedProblem, space: &mut BodySpace, rows: usize, parts: [(System, &dyn Fn(usize, &mut [f64])); 2]) {
        let mut nodes = [NONE; 2];
        let mut count = 0;
        for node in parts.iter().filter_map(|part| self.node(part.0)) {
            nodes[count] = node;
            count += 1;
        }
        let same = count == 2 && nodes[0] == nodes[1];
        let nodes = &mut nodes[..if same { 1 } else { count }];
        nodes.sort_unstable();
        space.push_block(rows, nodes);
        for (system, write) in parts {
            let Some(place) = self.node(system).and_then(|node| nodes.iter().position(|n| *n == node)) else { continue };
            let piece = space.last_piece(place);
            let size = piece.len() / rows.max(1);
            piece.chunks_exact_mut(size.max(1)).enumerate().for_each(|(k, row)| write(k, row));
            if let System::Rigid(i) = system {
                for (k, _) in locks(&p.rigid[i as usize]).into_iter().enumerate().filter(|(_, locked)| *locked) {
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
        let [x, y, z, a, b, c] = locks(m).map(|locked| f64::from(u8::from(locked)));
        Twist { linear: DVec3::new(x, y, z) * v.linear, angular: DVec3::new(a, b, c) * v.angular }
    };
    Velocities { rigid: p.rigid.iter().zip(&p.free.rigid).map(twist).collect(), general: vec![0.0; p.free.general.len()] }
}

fn of_body(body: u32) -> System {
    if body == IMMOBILE { System::Fixed } else { System::Rigid(body) }
}

/// Writes M of a rigid body in world axes, row-major 6×6, with 1 on the diagonal of locked velocities; false where it is not finite.
fn rigid_mass(m: &RigidMass, mass: &mut [f64]) -> bool {
    let mut inverse = RigidMass::unpack(m.inverse_inertia);
    for k in 0..3 {
        if inverse.col(k)[k] == 0.0 {
            inverse.col_mut(k)[k] = 1.0;
        }
    }
    let inertia = inverse.inverse().to_cols_array();
    for k in 0..3 {
        mass[7 * k] = if m.inverse_mass[k] == 0.0 { 1.0 } else { 1.0 / m.inverse_mass[k] };
        for j in 0..3 {
            mass[6 * (3 + k) + 3 + j] = inertia[3 * j + k];
        }
    }
    mass.iter().all(|x| x.is_finite())
}

fn locks(m: &RigidMass) -> [bool; 6] {
    let s = &m.inverse_inertia;
    [m.inverse_mass.x, m.inverse_mass.y, m.inverse_mass.z, s[0], s[1], s[2]].map(|x| x == 0.0)
}
