//! One interaction of a cluster: its relation, evaluated and checked, and what its law asks of the rows.

use super::ClusterError;
use super::differences::jacobian;
use super::node::{Node, buffer, evaluate, finite};
use crate::model::integrator::Integrator;
use crate::model::law::Law;
use crate::model::operator::{At, Operator};
use crate::model::relation::Relation;
use crate::numerics::admissible::AdmissibleSet;
use bevy_ecs::prelude::Entity;
use std::ops::Range;

/// What the rows of a link are about in a second-order cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// y of the end of the step; multipliers are forces (of first-order systems: inputs)
    Output,
    /// its rate; multipliers are impulses
    Rate,
}

/// An interaction and its place in the flat arrays.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) entity: Entity,
    pub(super) name: String,
    pub(super) relation: Relation,
    pub(super) law: Law,
    pub(super) z: Vec<f64>,
    /// its systems, by place in the cluster
    pub(super) nodes: Vec<usize>,
    /// rows of y and λ
    pub(super) rows: Range<usize>,
    /// rows of the faces of a normal cone, after those of all links
    pub(super) faces: Range<usize>,
    /// blocks of the one-step problem
    pub(super) blocks: Range<usize>,
    pub(super) level: Level,
    /// activation: `y + γ h ẏ ≤ 0`
    pub(super) gamma: f64,
    /// restitution of each row
    pub(super) restitution: Vec<f64>,
    /// whether it takes part in the step
    pub(super) active: bool,
}

/// The states of a link's systems one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Joined {
    pub(super) q: Vec<f64>,
    pub(super) v: Vec<f64>,
}

impl Joined {
    pub(super) fn gather(&mut self, nodes: &[usize], all: &[Node], q: &[f64], v: &[f64]) {
        self.q.clear();
        self.v.clear();
        for node in nodes.iter().map(|&n| &all[n]) {
            self.q.extend_from_slice(&q[node.q0..node.q0 + node.nq]);
            if !v.is_empty() {
                self.v.extend_from_slice(&v[node.v0..node.v0 + node.nv]);
            }
        }
    }
}

impl Link {
    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Where the states or coordinates of its systems stand in the cluster, one after the other.
    pub(super) fn states<'a>(&'a self, nodes: &'a [Node]) -> impl Iterator<Item = usize> + 'a {
        self.nodes.iter().flat_map(|&k| nodes[k].q0..nodes[k].q0 + nodes[k].nq)
    }

    /// Where their velocities stand.
    pub(super) fn velocities<'a>(&'a self, nodes: &'a [Node]) -> impl Iterator<Item = usize> + 'a {
        self.nodes.iter().flat_map(|&k| nodes[k].v0..nodes[k].v0 + nodes[k].nv)
    }

    /// The scalar laws of the rows and their block sizes; the faces of a normal cone come apart.
    pub(super) fn sets(&self) -> Vec<(AdmissibleSet, usize)> {
        let m = self.len();
        let scalar = |set: AdmissibleSet, n: usize| vec![(set, 1); n];
        match &self.law {
            Law::Complementarity | Law::NewtonImpact { .. } => scalar(AdmissibleSet::NonNegative, m),
            Law::MixedComplementarity { equalities } => {
                let mut sets = scalar(AdmissibleSet::Free, *equalities);
                sets.extend(scalar(AdmissibleSet::NonNegative, m - equalities));
                sets
            }
            Law::Equality | Law::NormalCone { .. } => vec![(AdmissibleSet::Free, m)],
            Law::Spring { limit, .. } if limit.is_finite() => scalar(AdmissibleSet::Interval { lower: -limit, upper: *limit }, m),
            Law::Spring { .. } => scalar(AdmissibleSet::Free, m),
            Law::Relay { lower, upper } => scalar(AdmissibleSet::Interval { lower: *lower, upper: *upper }, m),
            Law::Rows(sets) => sets.iter().map(|&set| (set, 1)).collect(),
            // clusters refuse it
            Law::Bearing { .. } => scalar(AdmissibleSet::Interval { lower: 0.0, upper: 0.0 }, m),
            Law::CoulombImpact(law) => vec![(AdmissibleSet::Coulomb { mu: law.mu }, m)],
            Law::RollingImpact { contact, mu_r } => vec![(AdmissibleSet::Rolling { mu: contact.mu, mu_r: *mu_r }, m)],
            Law::FremondImpact { mu, .. } if m > 1 => vec![(AdmissibleSet::Coulomb { mu: *mu }, m)],
            Law::FremondImpact { .. } => scalar(AdmissibleSet::NonNegative, 1),
        }
    }

    /// Restitution of each row: the law holds for `u⁺ + e u⁻`. The mean velocity of Frémond's law, divided by θ, is such a sum.
    pub(super) fn restitution_of(law: &Law, rows: usize, theta: f64) -> Vec<f64> {
        let contact = |e_n: f64, e_t: f64, sliding: usize| {
            (0..rows)
                .map(|i| {
                    if i == 0 {
                        e_n
                    } else if i <= sliding {
                        e_t
                    } else {
                        0.0
                    }
                })
                .collect()
        };
        match law {
            Law::NewtonImpact { e } => vec![*e],
            Law::CoulombImpact(law) => contact(law.e_n, law.e_t, rows),
            Law::RollingImpact { contact: law, .. } => contact(law.e_n, law.e_t, rows / 2),
            Law::FremondImpact { e_n, .. } => contact(*e_n, (1.0 - theta) / theta, rows),
            _ => vec![0.0; rows],
        }
    }

    /// Rule of activation of an integrator.
    pub(super) fn gamma_of(integrator: &Integrator) -> f64 {
        match integrator {
            Integrator::MoreauJean { gamma, .. } | Integrator::Midpoint { gamma } | Integrator::Modal { gamma } => *gamma,
            _ => 0.0,
        }
    }

    /// True where D is there.
    pub(super) fn compliant(relation: &Relation) -> bool {
        match relation {
            Relation::FirstOrderLinear(r) => !r.d.is_zero(),
            Relation::FirstOrderNonlinear(_) => true,
            Relation::LagrangianLinear(r) => !r.d.is_zero(),
            Relation::LagrangianNonlinear(r) => !r.d.is_zero(),
            Relation::Joint(_) | Relation::Coordinate(_) | Relation::Transmission(_) => false,
        }
    }

    /// True where G changes with the coordinates.
    pub(super) fn turns(&self, all: &[Node]) -> bool {
        match &self.relation {
            // on the twist of a body the rows turn with it
            Relation::LagrangianLinear(_) => self.nodes.iter().any(|&n| all[n].nq != all[n].nv),
            Relation::LagrangianNonlinear(r) => r.g.is_zero() || !r.g.is_constant(),
            Relation::Joint(_) | Relation::Coordinate(_) | Relation::Transmission(_) => true,
            Relation::FirstOrderLinear(_) | Relation::FirstOrderNonlinear(_) => false,
        }
    }

    /// True where G comes from differences of y.
    pub(super) fn by_differences(&self) -> bool {
        matches!(&self.relation, Relation::LagrangianNonlinear(r) if r.g.is_zero())
    }

    /// Whether the rows are about y or its rate: impacts act on the rate, joints and relays too unless they are compliant.
    pub(super) fn level_of(relation: &Relation, law: &Law) -> Level {
        match law {
            _ if !relation.is_second_order() => Level::Output,
            law if law.is_impact() => Level::Rate,
            Law::Complementarity | Law::MixedComplementarity { .. } => Level::Output,
            _ if Self::compliant(relation) => Level::Output,
            _ => Level::Rate,
        }
    }

    /// The output y at a state.
    pub(super) fn output(&self, t: f64, s: &Joined, lambda: &[f64], y: &mut [f64]) -> Result<(), ClusterError> {
        let m = self.len();
        let name = self.name.as_str();
        let n = s.q.len();
        match &self.relation {
            Relation::FirstOrderLinear(r) => {
                let at = At { z: &self.z, ..At::time(t) };
                evaluate(&r.e, 1, &at, y, name, "e")?;
                self.add_product(&r.c, n, &at, &s.q, y, "C")?;
                self.add_product(&r.d, m, &at, lambda, y, "D")?;
                self.add_product(&r.f, self.z.len(), &at, &self.z, y, "F")
            }
            Relation::FirstOrderNonlinear(r) => evaluate(&r.h, 1, &At { x: &s.q, z: &self.z, lambda, ..At::time(t) }, y, name, "h"),
            Relation::LagrangianLinear(r) => {
                let at = At { z: &self.z, ..At::time(t) };
                y.copy_from_slice(&r.e);
                for (y, row) in y.iter_mut().zip(r.h.chunks_exact(n)) {
                    *y += row.iter().zip(&s.q).map(|(a, x)| a * x).sum::<f64>();
                }
                self.add_product(&r.d, m, &at, lambda, y, "D")?;
                self.add_product(&r.f, self.z.len(), &at, &self.z, y, "F")
            }
            Relation::LagrangianNonlinear(r) => evaluate(&r.h, 1, &self.place(t, &s.q, lambda), y, name, "h"),
            joint => {
                joint.output_of_bodies(&s.q, &self.z, y);
                finite(y, t, name, "the gap of the joint")
            }
        }
    }

    /// Where the functions of a nonlinear relation of second order are evaluated: they see λ where they are compliant.
    pub(super) fn place<'a>(&'a self, t: f64, q: &'a [f64], lambda: &'a [f64]) -> At<'a> {
        let at = At { q, z: &self.z, ..At::time(t) };
        if Self::compliant(&self.relation) { At { lambda, ..at } } else { at }
    }

    fn add_product(
        &self,
        op: &Operator,
        columns: usize,
        at: &At,
        x: &[f64],
        y: &mut [f64],
        what: &'static str,
    ) -> Result<(), ClusterError> {
        if op.is_zero() || columns == 0 {
            return Ok(());
        }
        let mut a = buffer(y.len() * columns);
        evaluate(op, columns, at, &mut a, &self.name, what)?;
        for (y, row) in y.iter_mut().zip(a.chunks_exact(columns)) {
            *y += row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
        }
        Ok(())
    }

    /// G: rows on the velocities of all systems, m × number of velocities.
    pub(super) fn rows_on_velocities(
        &self,
        t: f64,
        s: &mut Joined,
        all: &[Node],
        lambda: &[f64],
        g: &mut [f64],
    ) -> Result<(), ClusterError> {
        let (nq, nv) = (s.q.len(), s.v.len());
        match &self.relation {
            Relation::LagrangianLinear(r) if nq == nv => g.copy_from_slice(&r.h),
            Relation::LagrangianLinear(r) => self.chain(&s.q, all, &r.h, g),
            Relation::LagrangianNonlinear(r) if !r.g.is_zero() => {
                evaluate(&r.g, nv, &self.place(t, &s.q, lambda), g, &self.name, "G")?;
            }
            Relation::LagrangianNonlinear(_) => self.rows_by_differences(t, s, all, lambda, g)?,
            other => {
                other.rows_of_bodies(&s.q, g);
            }
        }
        finite(g, t, &self.name, "G")
    }

    /// G of a nonlinear relation by differences of h.
    pub(super) fn rows_by_differences(
        &self,
        t: f64,
        s: &mut Joined,
        all: &[Node],
        lambda: &[f64],
        g: &mut [f64],
    ) -> Result<(), ClusterError> {
        if let Relation::LagrangianNonlinear(r) = &self.relation {
            let mut h = buffer(self.len() * s.q.len());
            jacobian(self.len(), &mut s.q, &mut h, |q, y| evaluate(&r.h, 1, &self.place(t, q, lambda), y, &self.name, "h"))?;
            self.chain(&s.q, all, &h, g);
        }
        Ok(())
    }

    /// Rows on velocities from rows on coordinates, system by system.
    fn chain(&self, q: &[f64], all: &[Node], h: &[f64], g: &mut [f64]) {
        let (nq, nv) = (q.len(), g.len() / self.len());
        for i in 0..self.len() {
            let (mut a, mut b) = (0, 0);
            for node in self.nodes.iter().map(|&n| &all[n]) {
                node.rows_on_velocities(&q[a..a + node.nq], &h[i * nq + a..i * nq + a + node.nq], &mut g[i * nv + b..i * nv + b + node.nv]);
                (a, b) = (a + node.nq, b + node.nv);
            }
        }
    }

    /// `∂h/∂t`, by its operator.
    pub(super) fn drift(&self, t: f64, s: &Joined, out: &mut [f64]) -> Result<(), ClusterError> {
        match &self.relation {
            Relation::LagrangianNonlinear(r) if !r.h_t.is_zero() => {
                evaluate(&r.h_t, 1, &At { q: &s.q, z: &self.z, ..At::time(t) }, out, &self.name, "∂h/∂t")
            }
            Relation::Coordinate(r) => {
                out[0] = -r.sign * r.speed;
                Ok(())
            }
            _ => {
                out.fill(0.0);
                Ok(())
            }
        }
    }

    /// D = ∂y/∂λ, m × m.
    pub(super) fn compliance(&self, t: f64, s: &Joined, lambda: &mut [f64], out: &mut [f64]) -> Result<(), ClusterError> {
        let m = self.len();
        let given = At { z: &self.z, ..At::time(t) };
        let here = At { x: &s.q, ..given };
        match &self.relation {
            Relation::FirstOrderLinear(r) => evaluate(&r.d, m, &given, out, &self.name, "D"),
            Relation::LagrangianLinear(r) => evaluate(&r.d, m, &given, out, &self.name, "D"),
            Relation::LagrangianNonlinear(r) => evaluate(&r.d, m, &self.place(t, &s.q, lambda), out, &self.name, "∂h/∂λ"),
            Relation::FirstOrderNonlinear(r) if r.d.is_zero() => {
                jacobian(m, lambda, out, |lambda, y| evaluate(&r.h, 1, &At { lambda, ..here }, y, &self.name, "h"))
            }
            Relation::FirstOrderNonlinear(r) => evaluate(&r.d, m, &At { lambda, ..here }, out, &self.name, "∂h/∂λ"),
            Relation::Joint(_) | Relation::Coordinate(_) | Relation::Transmission(_) => {
                out.fill(0.0);
                Ok(())
            }
        }
    }

    /// C = ∂y/∂X of a first-order relation, m × n.
    pub(super) fn output_matrix(&self, t: f64, s: &mut Joined, lambda: &[f64], out: &mut [f64]) -> Result<(), ClusterError> {
        let n = s.q.len();
        match &self.relation {
            Relation::FirstOrderLinear(r) => evaluate(&r.c, n, &At { z: &self.z, ..At::time(t) }, out, &self.name, "C"),
            Relation::FirstOrderNonlinear(r) if r.c.is_zero() => jacobian(self.len(), &mut s.q, out, |x, y| {
                evaluate(&r.h, 1, &At { x, z: &self.z, lambda, ..At::time(t) }, y, &self.name, "h")
            }),
            Relation::FirstOrderNonlinear(r) => {
                evaluate(&r.c, n, &At { x: &s.q, z: &self.z, lambda, ..At::time(t) }, out, &self.name, "∂h/∂X")
            }
            _ => Ok(()),
        }
    }

    /// R at a state and its derivatives `B = ∂R/∂λ` (n × m) and `K = ∂R/∂X` (n × n); true where K is there.
    pub(super) fn input(
        &self,
        t: f64,
        s: &mut Joined,
        lambda: &mut [f64],
        r_out: &mut [f64],
        b: &mut [f64],
        k: &mut [f64],
    ) -> Result<bool, ClusterError> {
        let (n, m) = (s.q.len(), self.len());
        let name = self.name.as_str();
        match &self.relation {
            Relation::FirstOrderLinear(r) => {
                evaluate(&r.b, m, &At { z: &self.z, ..At::time(t) }, b, name, "B")?;
                for (out, row) in r_out.iter_mut().zip(b.chunks_exact(m)) {
                    *out = row.iter().zip(lambda.iter()).map(|(b, l)| b * l).sum();
                }
                Ok(false)
            }
            Relation::FirstOrderNonlinear(r) => {
                let z = &self.z;
                evaluate(&r.g, 1, &At { x: &s.q, z, lambda, ..At::time(t) }, r_out, name, "g")?;
                if r.b.is_zero() {
                    let x = &s.q;
                    jacobian(n, lambda, b, |lambda, out| evaluate(&r.g, 1, &At { x, z, lambda, ..At::time(t) }, out, name, "g"))?;
                } else {
                    evaluate(&r.b, m, &At { x: &s.q, z, lambda, ..At::time(t) }, b, name, "∂g/∂λ")?;
                }
                if r.k.is_zero() {
                    let lambda = &*lambda;
                    jacobian(n, &mut s.q, k, |x, out| evaluate(&r.g, 1, &At { x, z, lambda, ..At::time(t) }, out, name, "g"))?;
                } else {
                    evaluate(&r.k, n, &At { x: &s.q, z, lambda, ..At::time(t) }, k, name, "∂g/∂X")?;
                }
                Ok(k.iter().any(|k| *k != 0.0))
            }
            _ => Ok(false),
        }
    }
}

/// y of all links at the coordinates q, without multipliers.
pub(super) fn outputs(joined: &mut Joined, nodes: &[Node], links: &[Link], q: &[f64], t: f64, y: &mut [f64]) -> Result<(), ClusterError> {
    for link in links {
        joined.gather(&link.nodes, nodes, q, &[]);
        link.output(t, joined, &[], &mut y[link.rows.clone()])?;
    }
    Ok(())
}

/// For each link those that share a system with it, itself among them, in their order.
pub(super) fn neighbours(links: &[Link]) -> Vec<Vec<usize>> {
    let nodes = links.iter().flat_map(|l| &l.nodes).max().map_or(0, |n| n + 1);
    let mut of_node = vec![Vec::new(); nodes];
    for (l, link) in links.iter().enumerate() {
        link.nodes.iter().for_each(|&n| of_node[n].push(l));
    }
    let near = |link: &Link| {
        let mut near: Vec<usize> = link.nodes.iter().flat_map(|&n| of_node[n].iter().copied()).collect();
        near.sort_unstable();
        near.dedup();
        near
    };
    links.iter().map(near).collect()
}
