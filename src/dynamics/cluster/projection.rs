//! Projection of positions after the velocities of a step (Acary, Comput. Methods Appl. Mech. Eng. 256, 2013).

use super::ClusterError;
use super::State;
use super::link::{Level, Link};
use super::node::Node;
use super::problem::Problem;
use super::second_order::{Implicit, hold_given, product, respond};
use crate::algebra::blocks::BlockRows;
use crate::model::law::Law;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::route::{RoutedProblem, Router};

/// The problem of the projection.
#[derive(Debug, Default)]
pub(super) struct Positions {
    routed: RoutedProblem,
    router: Router,
    r: Vec<f64>,
    u: Vec<f64>,
    /// place of each row: link and row within it
    rows: Vec<(usize, usize)>,
    pub(super) multipliers: Vec<f64>,
}

/// Passes of the projection of one step.
const PASSES: usize = 20;

impl Implicit {
    /// Moves positions so that active links close: `δq = M⁻¹ Gᵀ μ`, `y + G δq ≥ 0 ⟂ μ ≥ 0` for contacts, 0 for joints; for
    /// `equal` 0 for contacts too. True where every error is within the tolerance in the end.
    pub(super) fn project(
        &mut self,
        nodes: &[Node],
        links: &[Link],
        problem: &Problem,
        state: &mut State,
        t1: f64,
        tolerance: f64,
        equal: bool,
    ) -> Result<bool, ClusterError> {
        for _ in 0..PASSES {
            self.outputs(nodes, links, problem, &state.q, &state.v, t1)?;
            let p = &mut self.positions;
            p.rows.clear();
            p.routed.problem.sets.clear();
            p.routed.problem.q.clear();
            let mut worst = 0.0f64;
            for (l, (link, x)) in links.iter().zip(&self.links).enumerate().filter(|(_, (link, _))| link.active) {
                let contact = link.law.is_impact();
                if link.level == Level::Output || !(contact || link.law == Law::Equality) {
                    continue;
                }
                let rows = if contact { 1 } else { link.len() };
                for i in 0..rows {
                    worst = worst.max(if contact && !equal { -x.y[i] } else { x.y[i].abs() });
                    p.rows.push((l, i));
                    p.routed.problem.q.push(x.y[i]);
                    p.routed.problem.sets.push(if contact && !equal { AdmissibleSet::NonNegative } else { AdmissibleSet::Free });
                }
            }
            if worst <= tolerance {
                return Ok(true);
            }
            // M alone: the shortest way in the metric of kinetic energy
            for (node, x) in nodes.iter().zip(&mut self.nodes) {
                let n = node.nv;
                node.mass(t1, &state.q[node.q0..node.q0 + node.nq], &state.v[node.v0..node.v0 + n], &mut x.w)?;
                hold_given(node, &mut x.w);
                if !x.lu.factor(n, |i, row| row.copy_from_slice(&x.w[i * n..(i + 1) * n])) {
                    return Err(ClusterError::Singular { system: node.name.clone(), matrix: "M", time: t1 });
                }
            }
            for (link, x) in links.iter().zip(&mut self.links).filter(|(l, _)| l.active) {
                respond(link, nodes, &mut self.nodes, &x.g, &mut x.response);
            }
            let p = &mut self.positions;
            let order = p.rows.len();
            let mut w = vec![0.0; order * order];
            for (a, &(la, i)) in p.rows.iter().enumerate() {
                for (b, &(lb, j)) in p.rows.iter().enumerate() {
                    w[a * order + b] = product(nodes, (&links[la], &self.links[la], i), (&links[lb], &self.links[lb], j));
                }
            }
            p.routed.problem.w = BlockRows::full((0..=order).collect(), w);
            p.routed.revision += 1;
            p.routed.active.clear();
            p.routed.active.resize(order, true);
            for x in [&mut p.r, &mut p.u] {
                x.clear();
                x.resize(order, 0.0);
            }
            if !p.router.solve(&p.routed, &mut p.r, &mut p.u).converged() {
                return Ok(false);
            }
            self.column.fill(0.0);
            for (&(l, i), r) in self.positions.rows.iter().zip(&self.positions.r) {
                self.positions.multipliers[links[l].rows.start + i] += r;
                let m = links[l].len();
                let places = links[l].velocities(nodes);
                places.zip(self.links[l].response.chunks_exact(m)).for_each(|(place, row)| self.column[place] += row[i] * r);
            }
            for node in nodes {
                let before = super::node::buffer_of(&state.q[node.q0..node.q0 + node.nq]);
                node.move_by(&before, 1.0, &self.column[node.v0..node.v0 + node.nv], &mut state.q[node.q0..node.q0 + node.nq]);
            }
        }
        Ok(false)
    }
}
