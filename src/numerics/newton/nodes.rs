//! The unknowns of body space: the systems that appear in rows, their masses and who couples with whom.

use crate::algebra::dense;
use crate::numerics::mixed::{IMMOBILE, MixedProblem, RigidMass, System, Twist, Velocities};
use glam::DVec3;

const NONE: u32 = u32::MAX;

/// Systems that appear in rows, in their order, and the matrices `M` of each.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    pub(super) rigid: Vec<u32>,
    pub(super) general: Vec<u32>,
    pub(super) systems: Vec<System>,
    pub(super) sizes: Vec<u32>,
    pub(super) pairs: Vec<(u32, u32)>,
    pub(super) offsets: Vec<usize>,
    pub(super) mass: Vec<Vec<f64>>,
    /// false where a velocity is locked; such a velocity keeps its free value
    pub(super) free: Vec<bool>,
}

impl Nodes {
    pub(super) fn offset(&self, node: usize) -> usize {
        self.offsets[node]
    }

    /// The node of a system that appears in rows.
    pub(super) fn of(&self, system: System) -> Option<usize> {
        match system {
            System::Fixed => None,
            System::Rigid(i) => Some(self.rigid[i as usize] as usize),
            System::General(i) => Some(self.general[i as usize] as usize),
        }
    }

    pub(super) fn collect(&mut self, p: &MixedProblem) -> bool {
        self.rigid.clear();
        self.rigid.resize(p.rigid.len(), NONE);
        self.general.clear();
        self.general.resize(p.general.len(), NONE);
        for c in &p.contacts {
            for body in [c.body1, c.body2] {
                if body != IMMOBILE {
                    self.rigid[body as usize] = 0;
                }
            }
        }
        for system in p.blocks.iter().flat_map(|b| b.systems) {
            match system {
                System::Fixed => {}
                System::Rigid(i) => self.rigid[i as usize] = 0,
                System::General(i) => self.general[i as usize] = 0,
            }
        }
        self.systems.clear();
        self.sizes.clear();
        self.offsets.clear();
        self.mass.clear();
        self.free.clear();
        let systems = (0..p.rigid.len() as u32).map(System::Rigid).chain((0..p.general.len() as u32).map(System::General));
        for system in systems {
            let (slot, mass, free) = match system {
                System::Fixed => continue,
                System::Rigid(i) => (&mut self.rigid[i as usize], rigid_mass(&p.rigid[i as usize]), locks(&p.rigid[i as usize])),
                System::General(i) => {
                    let m = &p.general[i as usize];
                    (&mut self.general[i as usize], dense::inverse_spd(&m.inverse, m.dofs), [true; 6])
                }
            };
            if *slot == NONE {
                continue;
            }
            let Some(mass) = mass else { return false };
            *slot = self.systems.len() as u32;
            let n = p.dofs(system);
            self.offsets.push(self.free.len());
            self.free.extend((0..n).map(|k| free[k.min(5)] || n != 6));
            self.systems.push(system);
            self.sizes.push(n as u32);
            self.mass.push(mass);
        }
        self.pairs.clear();
        let mut couple = |a: Option<usize>, b: Option<usize>| {
            if let (Some(a), Some(b)) = (a, b)
                && a != b
            {
                self.pairs.push((a.max(b) as u32, a.min(b) as u32));
            }
        };
        let rigid = |body: u32| if body == IMMOBILE { System::Fixed } else { System::Rigid(body) };
        let (of_rigid, of_general) = (&self.rigid, &self.general);
        let of = |s: System| match s {
            System::Fixed => None,
            System::Rigid(i) => Some(of_rigid[i as usize] as usize),
            System::General(i) => Some(of_general[i as usize] as usize),
        };
        p.contacts.iter().for_each(|c| couple(of(rigid(c.body1)), of(rigid(c.body2))));
        p.blocks.iter().for_each(|b| couple(of(b.systems[0]), of(b.systems[1])));
        self.pairs.sort_unstable();
        self.pairs.dedup();
        true
    }

    /// Zeroes the rows and columns of locked velocities.
    pub(super) fn mask(&self, row_node: usize, column_node: usize, block: &mut [f64]) {
        let columns = self.sizes[column_node] as usize;
        let row_free = &self.free[self.offsets[row_node]..][..self.sizes[row_node] as usize];
        let column_free = &self.free[self.offsets[column_node]..][..columns];
        for (row, &rf) in block.chunks_exact_mut(columns).zip(row_free) {
            for (x, &cf) in row.iter_mut().zip(column_free) {
                if !(rf && cf) {
                    *x = 0.0;
                }
            }
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

    /// `v − v_free` of all nodes; `free` is a buffer.
    pub(super) fn gather_change(&self, p: &MixedProblem, v: &Velocities, free: &mut Vec<f64>, out: &mut Vec<f64>) {
        self.gather(p, &p.free, free);
        self.gather(p, v, out);
        out.iter_mut().zip(free.iter()).for_each(|(v, free)| *v -= free);
    }

    /// `out = M x`
    pub(super) fn mass_times(&self, x: &[f64], out: &mut Vec<f64>) {
        out.clear();
        for ((&first, &n), mass) in self.offsets.iter().zip(&self.sizes).zip(&self.mass) {
            let x = &x[first..first + n as usize];
            out.extend(mass.chunks_exact(x.len()).map(|row| row.iter().zip(x).map(|(m, x)| m * x).sum::<f64>()));
        }
    }

    /// `xᵀ y`, node by node.
    pub(super) fn dot(&self, x: &[f64], y: &[f64]) -> f64 {
        let nodes = self.offsets.iter().zip(&self.sizes).map(|(&first, &n)| first..first + n as usize);
        nodes.map(|at| x[at.clone()].iter().zip(&y[at]).map(|(x, y)| x * y).sum::<f64>()).sum()
    }

    /// `out = Δv`, 0 for systems without rows.
    pub(super) fn change(&self, p: &MixedProblem, step: &[f64], out: &mut Velocities) {
        out.rigid.clear();
        out.rigid.resize(p.rigid.len(), Twist::default());
        out.general.clear();
        out.general.resize(p.free.general.len(), 0.0);
        self.add(p, step, 1.0, out);
    }

    /// `out = v + t Δv`
    pub(super) fn shifted(&self, p: &MixedProblem, v: &Velocities, step: &[f64], t: f64, out: &mut Velocities) {
        out.rigid.clone_from(&v.rigid);
        out.general.clone_from(&v.general);
        self.add(p, step, t, out);
    }

    fn add(&self, p: &MixedProblem, step: &[f64], t: f64, out: &mut Velocities) {
        for (node, &system) in self.systems.iter().enumerate() {
            let step = &step[self.offsets[node]..];
            match system {
                System::Fixed => {}
                System::Rigid(i) => {
                    let twist = &mut out.rigid[i as usize];
                    twist.linear += t * DVec3::from_slice(step);
                    twist.angular += t * DVec3::from_slice(&step[3..]);
                }
                System::General(i) => {
                    let m = &p.general[i as usize];
                    out.general[m.first..m.first + m.dofs].iter_mut().zip(step).for_each(|(v, s)| *v += t * s);
                }
            }
        }
    }
}

/// M of a rigid body in world axes, row-major 6×6, with 1 on the diagonal of locked velocities.
fn rigid_mass(m: &RigidMass) -> Option<Vec<f64>> {
    let mut inverse = RigidMass::unpack(m.inverse_inertia);
    for k in 0..3 {
        if inverse.col(k)[k] == 0.0 {
            inverse.col_mut(k)[k] = 1.0;
        }
    }
    let inertia = inverse.inverse().to_cols_array();
    let mut mass = vec![0.0; 36];
    for k in 0..3 {
        mass[7 * k] = if m.inverse_mass[k] == 0.0 { 1.0 } else { 1.0 / m.inverse_mass[k] };
        for j in 0..3 {
            mass[6 * (3 + k) + 3 + j] = inertia[3 * j + k];
        }
    }
    mass.iter().all(|x| x.is_finite()).then_some(mass)
}

fn locks(m: &RigidMass) -> [bool; 6] {
    let s = &m.inverse_inertia;
    [m.inverse_mass.x, m.inverse_mass.y, m.inverse_mass.z, s[0], s[1], s[2]].map(|x| x != 0.0)
}
