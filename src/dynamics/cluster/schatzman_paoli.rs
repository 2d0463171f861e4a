//! Schatzman–Paoli: two steps at position level, without activation (Schatzman 1993, Paoli 1993).
//!
//! ```text
//! M (q⁺ − 2q + q⁻) + ½ h C (q⁺ − q⁻) + h² K [½θ (q⁺ + q⁻) + (1−θ) q] = h² F(t, q, v) + Gᵀ λ
//! 0 ≤ y(q⁺) + e y(q⁻) ⟂ λ ≥ 0                  v⁺ = (q⁺ − q⁻)/2h          start: q⁻ = q − h v
//! ```
//!
//! F_int and F_gyr are taken at the middle, with v of the last step; nonlinear relations are closed by Newton steps on q⁺.

use super::link::{Joined, Link, neighbours, outputs};
use super::node::{Node, System, buffer, finite};
use super::problem::Problem;
use super::{ClusterError, Leftover, NewtonLoop, Outcome, ROUNDING, State};
use crate::algebra::factor::Lu;
use crate::model::law::Law;
use crate::model::operator::At;

/// Buffers of a cluster.
#[derive(Debug)]
pub(super) struct TwoStep {
    lu: Vec<Lu>,
    /// q of the step before
    pub(super) before: Vec<f64>,
    free: Vec<f64>,
    next: Vec<f64>,
    joined: Joined,
    g: Vec<Vec<f64>>,
    response: Vec<Vec<f64>>,
    y: Vec<f64>,
    y_before: Vec<f64>,
    y_dot: Vec<f64>,
    p: Vec<f64>,
    neighbours: Vec<Vec<usize>>,
}

impl TwoStep {
    pub(super) fn new(nodes: &[Node], links: &[Link]) -> Result<Self, ClusterError> {
        for node in nodes {
            let System::Lagrangian(s) = &node.system else {
                return Err(ClusterError::Setup(format!("{}: Schatzman–Paoli moves Lagrangian systems", node.name)));
            };
            if !s.prescribed.is_empty() {
                let reason = format!("{}: Schatzman–Paoli takes no prescribed velocities; Moreau–Jean does", node.name);
                return Err(ClusterError::Setup(reason));
            }
        }
        for link in links {
            let fits =
                matches!(link.law, Law::NewtonImpact { .. } | Law::Complementarity | Law::Equality) && !Link::compliant(&link.relation);
            if !fits {
                let reason =
                    format!("{}: Schatzman–Paoli takes Newton impacts, complementarity and equality without compliance", link.name);
                return Err(ClusterError::Setup(reason));
            }
        }
        let size = nodes.iter().map(|n| n.nq).sum();
        let rows = links.iter().map(Link::len).sum();
        let places = |l: &Link| vec![0.0; l.len() * l.nodes.iter().map(|&k| nodes[k].nv).sum::<usize>()];
        Ok(Self {
            lu: vec![Lu::default(); nodes.len()],
            before: Vec::new(),
            free: vec![0.0; size],
            next: vec![0.0; size],
            joined: Joined::default(),
            g: links.iter().map(places).collect(),
            response: links.iter().map(places).collect(),
            y: vec![0.0; rows],
            y_before: vec![0.0; rows],
            y_dot: vec![0.0; rows],
            p: vec![0.0; size],
            neighbours: neighbours(links),
        })
    }

    /// The step before the first, where none is known.
    pub(super) fn start(&mut self, state: &State, h: f64) {
        if self.before.len() != state.q.len() {
            self.before = vec![0.0; state.q.len()];
            step_before(&state.q, &state.v, h, &mut self.before);
        }
    }

    /// One step.
    pub(super) fn step(
        &mut self,
        nodes: &[Node],
        links: &mut [Link],
        problem: &mut Problem,
        state: &mut State,
        (t, t1, h): (f64, f64, f64),
        newton: NewtonLoop,
    ) -> Result<Outcome, ClusterError> {
        let mut outcome = Outcome { active: self.y.len(), ..Outcome::default() };
        outputs(&mut self.joined, nodes, links, &self.before, t - h, &mut self.y_before)?;
        for (k, node) in nodes.iter().enumerate() {
            self.free_motion(k, node, state, t, h)?;
        }
        self.next.copy_from_slice(&self.free);
        links.iter_mut().for_each(|l| l.active = true);
        let mut before = Leftover::NONE_YET;
        while problem.order() > 0 {
            outcome.iterations += 1;
            self.assemble(nodes, links, problem, t1)?;
            outcome.report = problem.solve();
            if !outcome.report.converged() {
                problem.judge(links, t1)?;
            }
            self.next.copy_from_slice(&self.free);
            for (link, response) in links.iter().zip(&self.response) {
                let m = link.len();
                for (place, row) in link.velocities(nodes).zip(response.chunks_exact(m)) {
                    self.next[place] += row.iter().zip(&problem.r[link.rows.clone()]).map(|(w, r)| w * r).sum::<f64>();
                }
            }
            outputs(&mut self.joined, nodes, links, &self.next, t1, &mut self.y)?;
            let left = self.left_over(nodes, links, problem);
            if left.within(newton.tolerance, &before) {
                break;
            }
            before = left;
            if outcome.iterations >= newton.max_iterations.max(1) {
                outcome.newton_failed = true;
                break;
            }
        }
        self.p.fill(0.0);
        for (link, g) in links.iter().zip(&self.g) {
            let n = g.len() / link.len();
            for (row, r) in g.chunks_exact(n).zip(&problem.r[link.rows.clone()]) {
                link.velocities(nodes).zip(row).for_each(|(place, g)| self.p[place] += g * r);
            }
        }
        for node in nodes {
            finite(&self.next[node.q0..node.q0 + node.nq], t1, &node.name, "position")?;
        }
        for (v, (next, before)) in state.v.iter_mut().zip(self.next.iter().zip(&self.before)) {
            *v = (next - before) / (2.0 * h);
        }
        std::mem::swap(&mut self.before, &mut state.q);
        std::mem::swap(&mut state.q, &mut self.next);
        self.rates(nodes, links, state, t1)?;
        for link in links.iter().filter(|l| l.law.is_impact()) {
            outcome.penetration = outcome.penetration.max(-self.y[link.rows.start]);
        }
        Ok(outcome)
    }

    /// What is left of the relations at the new positions: u is y(q⁺) + e y(q⁻) of the linearised ones.
    fn left_over(&self, nodes: &[Node], links: &[Link], problem: &Problem) -> Leftover {
        let mut left = Leftover::default();
        for (link, g) in links.iter().zip(&self.g) {
            let n = g.len() / link.len();
            for ((i, e), row) in link.rows.clone().zip(&link.restitution).zip(g.chunks_exact(n)) {
                let sum = |at: &dyn Fn(usize) -> f64| link.velocities(nodes).zip(row).map(|(k, g)| (g * at(k)).abs()).sum::<f64>();
                let (place, way) = (sum(&|k| self.next[k]), sum(&|k| self.next[k] - self.before[k]));
                let (error, y) = ((self.y[i] + e * self.y_before[i] - problem.u[i]).abs(), self.y[i].abs());
                if error.is_nan() || error > ROUNDING * (place + y) {
                    left.add(error, y, way);
                }
            }
        }
        left
    }

    /// `q_free` of one node.
    fn free_motion(&mut self, k: usize, node: &Node, state: &State, t: f64, h: f64) -> Result<(), ClusterError> {
        let System::Lagrangian(s) = &node.system else { return Ok(()) };
        let n = node.nq;
        let range = node.q0..node.q0 + n;
        let (q, before, v) = (&state.q[range.clone()], &self.before[range.clone()], &state.v[range.clone()]);
        let theta = node.theta();
        let (mut m, mut c, mut stiffness) = (buffer(n * n), buffer(n * n), buffer(n * n));
        node.mass(t, q, v, &mut m)?;
        s.damping.matrix(&At::default(), n, &mut c);
        s.stiffness.matrix(&At::default(), n, &mut stiffness);
        // the flow holds −C v − K q; here both are implicit
        let mut rhs = buffer(n);
        node.add_flow(t, q, v, h * h, &mut rhs)?;
        for i in 0..n {
            for j in 0..n {
                let a = i * n + j;
                let change = q[j] - before[j];
                rhs[i] += m[a] * change + h * h * c[a] * v[j] - 0.5 * h * c[a] * change + 0.5 * theta * h * h * stiffness[a] * change;
                m[a] += 0.5 * h * c[a] + 0.5 * theta * h * h * stiffness[a];
            }
        }
        if !self.lu[k].factor(n, |i, row| row.copy_from_slice(&m[i * n..(i + 1) * n])) {
            return Err(ClusterError::Singular { system: node.name.clone(), matrix: "M + ½hC + ½θh²K", time: t });
        }
        self.lu[k].solve(&mut rhs);
        self.free[range].iter_mut().zip(q).zip(&rhs).for_each(|((f, q), d)| *f = q + d);
        Ok(())
    }

    /// W and q with the relations linearised at `next`.
    fn assemble(&mut self, nodes: &[Node], links: &[Link], problem: &mut Problem, t1: f64) -> Result<(), ClusterError> {
        outputs(&mut self.joined, nodes, links, &self.next, t1, &mut self.y)?;
        problem.begin_w();
        for (l, link) in links.iter().enumerate() {
            let m = link.len();
            self.joined.gather(&link.nodes, nodes, &self.next, &self.p);
            link.rows_on_velocities(t1, &mut self.joined, nodes, &[], &mut self.g[l])?;
            let n = self.g[l].len() / m;
            let mut first = 0;
            for &k in &link.nodes {
                let node = &nodes[k];
                let mut column = buffer(node.nv);
                for i in 0..m {
                    column.copy_from_slice(&self.g[l][i * n + first..i * n + first + node.nv]);
                    self.lu[k].solve(&mut column);
                    (0..node.nv).for_each(|j| self.response[l][(first + j) * m + i] = column[j]);
                }
                first += node.nv;
            }
            for (i, row) in link.rows.clone().enumerate() {
                let back: f64 =
                    link.velocities(nodes).zip(&self.g[l][i * n..]).map(|(place, g)| g * (self.free[place] - self.next[place])).sum();
                problem.routed.problem.q[row] = self.y[row] + back + link.restitution[i] * self.y_before[row];
            }
        }
        for (a, link) in links.iter().enumerate() {
            let n = self.g[a].len() / link.len();
            for (b, other) in self.neighbours[a].iter().map(|&b| (b, &links[b])) {
                let m = other.len();
                for (i, row) in link.rows.clone().enumerate() {
                    for (j, column) in other.rows.clone().enumerate() {
                        let mut sum = 0.0;
                        for (p, g) in link.velocities(nodes).zip(&self.g[a][i * n..]) {
                            let same = other.velocities(nodes).zip(self.response[b].chunks_exact(m)).filter(|(q, _)| *q == p);
                            sum += same.map(|(_, w)| g * w[j]).sum::<f64>();
                        }
                        problem.add_w(row, column, sum);
                    }
                }
            }
        }
        problem.end_w();
        Ok(())
    }

    fn rates(&mut self, nodes: &[Node], links: &[Link], state: &State, t: f64) -> Result<(), ClusterError> {
        outputs(&mut self.joined, nodes, links, &state.q, t, &mut self.y)?;
        for (l, link) in links.iter().enumerate() {
            self.joined.gather(&link.nodes, nodes, &state.q, &state.v);
            link.rows_on_velocities(t, &mut self.joined, nodes, &[], &mut self.g[l])?;
            let n = self.joined.v.len();
            link.drift(t, &self.joined, &mut self.y_dot[link.rows.clone()])?;
            for (row, g) in link.rows.clone().zip(self.g[l].chunks_exact(n)) {
                self.y_dot[row] += g.iter().zip(&self.joined.v).map(|(g, v)| g * v).sum::<f64>();
            }
        }
        Ok(())
    }

    /// Takes up what others may have changed between steps.
    pub(super) fn resume(&mut self, nodes: &[Node], links: &[Link], state: &State, t: f64) -> Result<(), ClusterError> {
        self.rates(nodes, links, state, t)
    }

    /// y, ẏ of all rows.
    pub(super) fn last_outputs(&self) -> (&[f64], &[f64]) {
        (&self.y, &self.y_dot)
    }

    /// Gᵀ λ of the last step.
    pub(super) fn inputs(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.p);
    }
}

/// The step before one that is not known: `q⁻ = q − h v`.
pub(super) fn step_before(q: &[f64], v: &[f64], h: f64, before: &mut [f64]) {
    before.iter_mut().zip(q.iter().zip(v)).for_each(|(before, (q, v))| *before = q - h * v);
}
