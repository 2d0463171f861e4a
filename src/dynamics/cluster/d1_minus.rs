//! Time-discontinuous Galerkin of order one, half-explicit: forces at both ends of a step, impacts at its end
//! (Schindler & Acary 2014, Math. Comput. Simul. 95; Siconos: `D1MinusLinearOSI` at acceleration level).
//!
//! ```text
//! a_k⁺   = M⁻¹ (F_k + Gᵀ λ),    0 ≤ G a + Ġ v ⟂ λ ≥ 0 where y and ẏ are closed
//! q_k+1  = q_k + ½ h (v_k + v₁),  v₁ = v_k + h a_k⁺
//! v⁻     = v_k + ½ h (a_k⁺ + a_k+1⁻)           a_k+1⁻ at (q_k+1, v₁); contacts that closed within the step carry no force
//! v_k+1  = v⁻ + M⁻¹ Gᵀ P,       0 ≤ G v_k+1 + e G v⁻ ⟂ P ≥ 0 where y_k+1 is closed
//! ```

use super::link::{Joined, Link, neighbours, outputs};
use super::node::{Node, System, buffer, finite};
use super::problem::Problem;
use super::{ClusterError, Outcome, State};
use crate::algebra::factor::Lu;
use crate::model::integrator::Integrator;
use crate::model::law::Law;

/// Buffers of a cluster.
#[derive(Debug)]
pub(super) struct D1Minus {
    lu: Vec<Lu>,
    tolerance: f64,
    joined: Joined,
    g: Vec<Vec<f64>>,
    response: Vec<Vec<f64>>,
    y: Vec<f64>,
    y_next: Vec<f64>,
    y_dot: Vec<f64>,
    a: Vec<f64>,
    a_end: Vec<f64>,
    v1: Vec<f64>,
    q_next: Vec<f64>,
    closed: Vec<bool>,
    impulses: Vec<f64>,
    /// forces at the end of the step
    forces: Vec<f64>,
    p: Vec<f64>,
    neighbours: Vec<Vec<usize>>,
}

impl D1Minus {
    pub(super) fn new(nodes: &[Node], links: &[Link]) -> Result<Self, ClusterError> {
        let mut tolerance = 1e-8;
        for node in nodes {
            let System::Lagrangian(s) = &node.system else {
                return Err(ClusterError::Setup(format!("{}: D1-minus moves Lagrangian systems", node.name)));
            };
            if !s.prescribed.is_empty() {
                return Err(ClusterError::Setup(format!("{}: D1-minus takes no prescribed velocities; Moreau–Jean does", node.name)));
            }
            if let Integrator::D1Minus { tolerance: t } = node.integrator {
                tolerance = t;
            }
        }
        if let Some(link) = links.iter().find(|l| !matches!(l.law, Law::NewtonImpact { .. }) || Link::compliant(&l.relation)) {
            return Err(ClusterError::Setup(format!("{}: D1-minus takes Newton impacts without compliance", link.name)));
        }
        let (nv, rows) = (nodes.iter().map(|n| n.nv).sum(), links.iter().map(Link::len).sum());
        let places = |l: &Link| vec![0.0; l.len() * l.nodes.iter().map(|&k| nodes[k].nv).sum::<usize>()];
        let zeros = vec![0.0; nv];
        let row_zeros = vec![0.0; rows];
        Ok(Self {
            lu: vec![Lu::default(); nodes.len()],
            tolerance,
            joined: Joined::default(),
            g: links.iter().map(places).collect(),
            response: links.iter().map(places).collect(),
            y: row_zeros.clone(),
            y_next: row_zeros.clone(),
            y_dot: row_zeros.clone(),
            a: zeros.clone(),
            a_end: zeros.clone(),
            v1: zeros.clone(),
            q_next: zeros.clone(),
            closed: vec![false; links.len()],
            impulses: row_zeros.clone(),
            forces: row_zeros,
            p: zeros,
            neighbours: neighbours(links),
        })
    }

    /// Factors of M, rows G, responses and rates `G v + ∂h/∂t` at a state; W of all links.
    fn geometry(
        &mut self,
        nodes: &[Node],
        links: &[Link],
        problem: &mut Problem,
        q: &[f64],
        v: &[f64],
        t: f64,
    ) -> Result<(), ClusterError> {
        for (node, lu) in nodes.iter().zip(&mut self.lu) {
            let n = node.nv;
            let mut m = buffer(n * n);
            node.mass(t, &q[node.q0..node.q0 + n], &v[node.v0..node.v0 + n], &mut m)?;
            if !lu.factor(n, |i, row| row.copy_from_slice(&m[i * n..(i + 1) * n])) {
                return Err(ClusterError::Singular { system: node.name.clone(), matrix: "M", time: t });
            }
        }
        for (l, link) in links.iter().enumerate() {
            self.joined.gather(&link.nodes, nodes, q, v);
            link.rows_on_velocities(t, &mut self.joined, nodes, &[], &mut self.g[l])?;
            let i = link.rows.start;
            link.drift(t, &self.joined, &mut self.y_dot[i..=i])?;
            self.y_dot[i] += self.g[l].iter().zip(&self.joined.v).map(|(g, v)| g * v).sum::<f64>();
            let mut first = 0;
            for &k in &link.nodes {
                let place = first..first + nodes[k].nv;
                let column = &mut self.response[l][place.clone()];
                column.copy_from_slice(&self.g[l][place]);
                self.lu[k].solve(column);
                first += nodes[k].nv;
            }
        }
        problem.begin_w();
        for (a, link) in links.iter().enumerate() {
            for (b, other) in self.neighbours[a].iter().map(|&b| (b, &links[b])) {
                let mut sum = 0.0;
                for (p, g) in link.velocities(nodes).zip(&self.g[a]) {
                    sum += other.velocities(nodes).zip(&self.response[b]).filter(|(q, _)| *q == p).map(|(_, w)| g * w).sum::<f64>();
                }
                problem.add_w(link.rows.start, other.rows.start, sum);
            }
        }
        problem.end_w();
        Ok(())
    }

    /// Accelerations at the state of the last [`geometry`](Self::geometry) with forces in the closed contacts.
    fn accelerations(
        &mut self,
        nodes: &[Node],
        links: &[Link],
        problem: &mut Problem,
        (q, v, t, h): (&[f64], &[f64], f64, f64),
        outcome: &mut Outcome,
        out: &mut [f64],
    ) -> Result<(), ClusterError> {
        for (node, lu) in nodes.iter().zip(&mut self.lu) {
            let a = &mut out[node.v0..node.v0 + node.nv];
            a.fill(0.0);
            node.add_flow(t, &q[node.q0..node.q0 + node.nq], &v[node.v0..node.v0 + node.nv], 1.0, a)?;
            lu.solve(a);
        }
        for (l, link) in links.iter().enumerate() {
            let i = link.rows.start;
            problem.set_active(link, self.closed[l]);
            problem.routed.problem.q[i] = link.velocities(nodes).zip(&self.g[l]).map(|(p, g)| g * out[p]).sum();
            if self.closed[l] && !matches!(link.relation, crate::model::relation::Relation::LagrangianLinear(_)) {
                problem.routed.problem.q[i] += self.curvature(nodes, link, l, q, v, t, h)?;
            }
        }
        self.forces.fill(0.0);
        if self.closed.iter().any(|c| *c) {
            problem.r.fill(0.0);
            outcome.report = worst(outcome.report, problem.solve());
            if !outcome.report.converged() {
                problem.judge(links, t)?;
            }
            for (l, link) in links.iter().enumerate() {
                let r = problem.r[link.rows.start];
                self.forces[link.rows.start] = r;
                link.velocities(nodes).zip(&self.response[l]).for_each(|(p, w)| out[p] += w * r);
            }
        }
        Ok(())
    }

    /// `Ġ v + d/dt ∂h/∂t`, from rates a little before and after along the motion.
    fn curvature(&mut self, nodes: &[Node], link: &Link, l: usize, q: &[f64], v: &[f64], t: f64, h: f64) -> Result<f64, ClusterError> {
        let step = 1e-3 * h;
        let mut rates = [0.0; 2];
        let mut g = buffer(self.g[l].len());
        for (rate, step) in rates.iter_mut().zip([-step, step]) {
            self.joined.gather(&link.nodes, nodes, q, v);
            let velocities = self.joined.v.clone();
            self.joined.q.iter_mut().zip(&velocities).for_each(|(q, v)| *q += step * v);
            link.rows_on_velocities(t + step, &mut self.joined, nodes, &[], &mut g)?;
            let mut drift = [0.0];
            link.drift(t + step, &self.joined, &mut drift)?;
            *rate = drift[0] + g.iter().zip(&velocities).map(|(g, v)| g * v).sum::<f64>();
        }
        Ok((rates[1] - rates[0]) / (2.0 * step))
    }

    /// One step.
    pub(super) fn step(
        &mut self,
        nodes: &[Node],
        links: &mut [Link],
        problem: &mut Problem,
        state: &mut State,
        (t, t1, h): (f64, f64, f64),
    ) -> Result<Outcome, ClusterError> {
        let mut outcome = Outcome::default();
        let tolerance = self.tolerance;
        outputs(&mut self.joined, nodes, links, &state.q, t, &mut self.y)?;
        self.geometry(nodes, links, problem, &state.q, &state.v, t)?;
        for (l, link) in links.iter().enumerate() {
            let i = link.rows.start;
            self.closed[l] = self.y[i] <= tolerance && self.y_dot[i] <= tolerance;
        }
        let mut a = std::mem::take(&mut self.a);
        self.accelerations(nodes, links, problem, (&state.q, &state.v, t, h), &mut outcome, &mut a)?;
        for (i, a) in a.iter().enumerate() {
            self.v1[i] = state.v[i] + h * a;
            self.q_next[i] = state.q[i] + 0.5 * h * (state.v[i] + self.v1[i]);
        }
        let (q_next, v1) = (std::mem::take(&mut self.q_next), std::mem::take(&mut self.v1));
        outputs(&mut self.joined, nodes, links, &q_next, t1, &mut self.y_next)?;
        self.geometry(nodes, links, problem, &q_next, &v1, t1)?;
        for (l, link) in links.iter().enumerate() {
            let i = link.rows.start;
            let within_step = self.y_next[i] <= tolerance && self.y[i] > tolerance;
            self.closed[l] = !within_step && self.y_next[i] <= tolerance && self.y_dot[i] <= tolerance;
        }
        let mut a_end = std::mem::take(&mut self.a_end);
        self.accelerations(nodes, links, problem, (&q_next, &v1, t1, h), &mut outcome, &mut a_end)?;
        for i in 0..state.v.len() {
            state.v[i] += 0.5 * h * (a[i] + a_end[i]);
        }
        // impacts
        self.impulses.fill(0.0);
        self.p.fill(0.0);
        for (l, link) in links.iter_mut().enumerate() {
            let i = link.rows.start;
            link.active = self.y_next[i] <= tolerance;
            problem.set_active(link, link.active);
            let rate: f64 = link.velocities(nodes).zip(&self.g[l]).map(|(p, g)| g * state.v[p]).sum();
            self.joined.gather(&link.nodes, nodes, &q_next, &state.v);
            let mut drift = [0.0];
            link.drift(t1, &self.joined, &mut drift)?;
            problem.routed.problem.q[i] = (1.0 + link.restitution[0]) * (rate + drift[0]);
            outcome.active += usize::from(link.active);
            outcome.penetration = outcome.penetration.max(-self.y_next[i]);
        }
        if links.iter().any(|l| l.active) {
            problem.r.fill(0.0);
            outcome.report = worst(outcome.report, problem.solve());
            if !outcome.report.converged() {
                problem.judge(links, t1)?;
            }
            for (l, link) in links.iter().enumerate() {
                let r = problem.r[link.rows.start];
                self.impulses[link.rows.start] = r;
                link.velocities(nodes).zip(&self.response[l]).for_each(|(p, w)| state.v[p] += w * r);
                link.velocities(nodes).zip(&self.g[l]).for_each(|(p, g)| self.p[p] += g * r);
            }
        }
        for node in nodes {
            finite(&state.v[node.v0..node.v0 + node.nv], t1, &node.name, "velocity")?;
        }
        state.q.copy_from_slice(&q_next);
        (self.a, self.a_end, self.q_next, self.v1) = (a, a_end, q_next, v1);
        std::mem::swap(&mut self.y, &mut self.y_next);
        for (l, link) in links.iter().enumerate() {
            let mut drift = [0.0];
            self.joined.gather(&link.nodes, nodes, &state.q, &state.v);
            link.drift(t1, &self.joined, &mut drift)?;
            self.y_dot[link.rows.start] = drift[0] + link.velocities(nodes).zip(&self.g[l]).map(|(p, g)| g * state.v[p]).sum::<f64>();
        }
        problem.r.copy_from_slice(&self.impulses);
        Ok(outcome)
    }

    /// y, ẏ of all rows.
    pub(super) fn last_outputs(&self) -> (&[f64], &[f64]) {
        (&self.y, &self.y_dot)
    }

    /// Contact forces at the end of the step.
    pub(super) fn forces(&self) -> &[f64] {
        &self.forces
    }

    /// Impulses on all velocities.
    pub(super) fn inputs(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.p);
    }

    /// Takes up what others may have changed between steps.
    pub(super) fn resume(
        &mut self,
        nodes: &[Node],
        links: &[Link],
        problem: &mut Problem,
        state: &State,
        t: f64,
    ) -> Result<(), ClusterError> {
        outputs(&mut self.joined, nodes, links, &state.q, t, &mut self.y)?;
        self.geometry(nodes, links, problem, &state.q, &state.v, t)
    }
}

fn worst(a: crate::numerics::Report, b: crate::numerics::Report) -> crate::numerics::Report {
    if a.converged() && b.rel >= a.rel || !b.converged() { b } else { a }
}
