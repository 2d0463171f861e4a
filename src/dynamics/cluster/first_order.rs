//! Euler–Moreau with a Newton loop, for first-order systems and relations of any kind.
//!
//! ```text
//! ρ(x) = M (x − x_k) − h [θ F(t⁺, x) + (1−θ) F(t, x_k)] − h (1−γ) r_k          Ŵ = M − hθ ∂F/∂x − hγ K
//! x⁺ = x + Ŵ⁻¹ [−ρ(x) + hγ (g − B λ) + hγ B λ⁺]                               y⁺ = h + C (x⁺ − x) + D (λ⁺ − λ)
//! ```

use super::link::{Joined, Link, neighbours};
use super::node::{Node, finite};
use super::problem::Problem;
use super::{ClusterError, Leftover, NewtonLoop, Outcome, ROUNDING, State};
use crate::algebra::factor::Lu;
use crate::model::integrator::Integrator;
use crate::model::relation::Relation;

/// States that are factorised together.
#[derive(Debug)]
struct Group {
    start: usize,
    n: usize,
    lu: Lu,
    w: Vec<f64>,
}

/// The values of a link at the iterate.
#[derive(Debug, Default)]
struct Values {
    joined: Joined,
    lambda: Vec<f64>,
    y: Vec<f64>,
    input: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
    d: Vec<f64>,
    k: Vec<f64>,
    /// hγ Ŵ⁻¹ B, number of states × rows
    response: Vec<f64>,
}

/// Buffers of a cluster.
#[derive(Debug)]
pub(super) struct Implicit {
    groups: Vec<Group>,
    links: Vec<Values>,
    linear: bool,
    gamma: f64,
    theta: f64,
    x0: Vec<f64>,
    flow_0: Vec<f64>,
    rho: Vec<f64>,
    /// size of the terms of ρ
    size: Vec<f64>,
    /// r of the last step
    r: Vec<f64>,
    column: Vec<f64>,
    y: Vec<f64>,
    /// for each link those that feel its multipliers
    neighbours: Vec<Vec<usize>>,
}

impl Group {
    fn holds(&self, node: &Node) -> bool {
        (self.start..self.start + self.n).contains(&node.q0)
    }
}

impl Implicit {
    pub(super) fn new(nodes: &[Node], links: &[Link]) -> Result<Self, ClusterError> {
        let mut parameters = None;
        for node in nodes {
            let Integrator::EulerMoreau { theta, gamma } = node.integrator else {
                let reason = format!("{}: a zero-order hold needs constant A, M, C, B, D and no f; Euler–Moreau takes any", node.name);
                return Err(ClusterError::Setup(reason));
            };
            if *parameters.get_or_insert((theta, gamma)) != (theta, gamma) {
                let reason = format!("{}: nonlinear systems that interact need the same theta and gamma", node.name);
                return Err(ClusterError::Setup(reason));
            }
        }
        let (theta, gamma) = parameters.unwrap_or((0.5, 1.0));
        let size: usize = nodes.iter().map(|n| n.nq).sum();
        let coupled = links.iter().any(|l| l.nodes.len() > 1 && matches!(l.relation, Relation::FirstOrderNonlinear(_)));
        let group = |start: usize, n: usize| Group { start, n, lu: Lu::default(), w: vec![0.0; n * n] };
        let groups = if coupled { vec![group(0, size)] } else { nodes.iter().map(|n| group(n.q0, n.nq)).collect() };
        let values = links.iter().map(|l| {
            let (m, n) = (l.len(), l.nodes.iter().map(|&k| nodes[k].nq).sum::<usize>());
            Values {
                joined: Joined::default(),
                lambda: vec![0.0; m],
                y: vec![0.0; m],
                input: vec![0.0; n],
                b: vec![0.0; n * m],
                c: vec![0.0; m * n],
                d: vec![0.0; m * m],
                k: vec![0.0; n * n],
                response: vec![0.0; size * m],
            }
        });
        let nonlinear_node = |n: &Node| matches!(&n.system, super::node::System::FirstOrder(s) if !s.f.is_zero());
        let linear = !nodes.iter().any(nonlinear_node) && links.iter().all(|l| matches!(l.relation, Relation::FirstOrderLinear(_)));
        Ok(Self {
            groups,
            links: values.collect(),
            linear,
            gamma,
            theta,
            x0: vec![0.0; size],
            flow_0: vec![0.0; size],
            rho: vec![0.0; size],
            size: vec![0.0; size],
            r: vec![0.0; size],
            column: vec![0.0; size],
            y: vec![0.0; links.iter().map(Link::len).sum()],
            neighbours: if coupled { vec![(0..links.len()).collect(); links.len()] } else { neighbours(links) },
        })
    }

    /// ρ at the iterate and the values of all links.
    fn evaluate(&mut self, nodes: &[Node], links: &[Link], problem: &Problem, x: &[f64], t1: f64, h: f64) -> Result<(), ClusterError> {
        for node in nodes {
            let (n, range) = (node.nq, node.q0..node.q0 + node.nq);
            let rho = &mut self.rho[range.clone()];
            for (i, rho) in rho.iter_mut().enumerate() {
                *rho = -h * ((1.0 - self.theta) * self.flow_0[node.q0 + i] + (1.0 - self.gamma) * self.r[node.q0 + i]);
            }
            self.size[range.clone()].iter_mut().zip(rho.iter()).for_each(|(s, r)| *s = r.abs());
            node.add_flow(t1, &x[range.clone()], &[], -h * self.theta, rho)?;
            self.size[range.clone()].iter_mut().zip(rho.iter()).for_each(|(s, r)| *s += r.abs());
            let mut m = super::node::buffer(n * n);
            node.mass(t1, &x[range.clone()], &[], &mut m)?;
            for (i, rho) in rho.iter_mut().enumerate() {
                *rho += (0..n).map(|j| m[i * n + j] * (x[node.q0 + j] - self.x0[node.q0 + j])).sum::<f64>();
            }
        }
        for (link, values) in links.iter().zip(&mut self.links) {
            let v = values;
            v.joined.gather(&link.nodes, nodes, x, &[]);
            v.lambda.copy_from_slice(&problem.r[link.rows.clone()]);
            link.output(t1, &v.joined, &v.lambda, &mut v.y)?;
            v.k.fill(0.0);
            link.input(t1, &mut v.joined, &mut v.lambda, &mut v.input, &mut v.b, &mut v.k)?;
        }
        Ok(())
    }

    /// What is left of the equations at the iterate.
    fn misfit(&mut self, nodes: &[Node], links: &[Link], problem: &Problem, x: &[f64], h: f64) -> Leftover {
        let mut left = Leftover::default();
        let mut add = |error: f64, value: f64, size: f64| {
            // an error at the rounding of its terms is none
            if error.is_nan() || error.abs() > ROUNDING * size {
                left.add(error.abs(), value.abs(), size);
            }
        };
        self.column.copy_from_slice(&self.rho);
        for (link, v) in links.iter().zip(&self.links) {
            for (i, r) in link.states(nodes).zip(&v.input) {
                self.column[i] -= h * self.gamma * r;
                self.size[i] += (h * self.gamma * r).abs();
            }
            let (m, n) = (link.len(), v.input.len());
            for (i, (y, u)) in v.y.iter().zip(&problem.u[link.rows.clone()]).enumerate().filter(|_| link.faces.is_empty()) {
                let states: f64 = v.c[i * n..(i + 1) * n].iter().zip(&v.joined.q).map(|(c, x)| (c * x).abs()).sum();
                let multipliers: f64 = v.d[i * m..(i + 1) * m].iter().zip(&v.lambda).map(|(d, l)| (d * l).abs()).sum();
                add(y - u, *y, y.abs() + states + multipliers);
            }
        }
        self.column.iter().zip(x).zip(&self.size).for_each(|((c, x), size)| add(*c, *x, *size));
        left
    }

    /// One step.
    pub(super) fn step(
        &mut self,
        nodes: &[Node],
        links: &[Link],
        problem: &mut Problem,
        state: &mut State,
        (t, t1, h): (f64, f64, f64),
        newton: NewtonLoop,
    ) -> Result<Outcome, ClusterError> {
        self.x0.copy_from_slice(&state.q);
        self.flow_0.fill(0.0);
        if self.theta < 1.0 {
            for node in nodes {
                let range = node.q0..node.q0 + node.nq;
                node.add_flow(t, &state.q[range.clone()], &[], 1.0, &mut self.flow_0[range])?;
            }
        }
        let mut outcome = Outcome { active: self.y.len(), ..Outcome::default() };
        let mut x = std::mem::take(&mut state.q);
        let mut before = Leftover::NONE_YET;
        loop {
            self.evaluate(nodes, links, problem, &x, t1, h)?;
            if outcome.iterations > 0 {
                let left = if self.linear { Leftover::default() } else { self.misfit(nodes, links, problem, &x, h) };
                if left.within(newton.tolerance, &before) {
                    break;
                }
                before = left;
            }
            if outcome.iterations >= newton.max_iterations.max(1) {
                outcome.newton_failed = true;
                break;
            }
            outcome.iterations += 1;
            self.iterate(nodes, links, problem, &mut x, t1, h, &mut outcome)?;
        }
        self.r.fill(0.0);
        for (link, v) in links.iter().zip(&self.links) {
            link.states(nodes).zip(&v.input).for_each(|(i, r)| self.r[i] += r);
            self.y[link.rows.clone()].copy_from_slice(&v.y);
        }
        state.q = x;
        Ok(outcome)
    }

    /// One linearised problem; x and the multipliers move on.
    fn iterate(
        &mut self,
        nodes: &[Node],
        links: &[Link],
        problem: &mut Problem,
        x: &mut [f64],
        t1: f64,
        h: f64,
        outcome: &mut Outcome,
    ) -> Result<(), ClusterError> {
        // Ŵ and its factors
        for group in &mut self.groups {
            let (start, size) = (group.start, group.n);
            group.w.fill(0.0);
            for node in nodes.iter().filter(|n| (start..start + size).contains(&n.q0)) {
                let n = node.nq;
                let mut w = super::node::buffer(n * n);
                node.mass(t1, &x[node.q0..node.q0 + n], &[], &mut w)?;
                node.subtract_tangent(t1, &mut x[node.q0..node.q0 + n], &mut [], 0.0, h * self.theta, &mut w)?;
                let at = node.q0 - start;
                (0..n * n).for_each(|k| group.w[(at + k / n) * size + at + k % n] = w[k]);
            }
            for (link, v) in links.iter().zip(&self.links) {
                let n = v.input.len();
                for (i, row) in link.states(nodes).enumerate().filter(|(_, r)| (start..start + size).contains(r)) {
                    for (j, column) in link.states(nodes).enumerate().filter(|(_, c)| (start..start + size).contains(c)) {
                        group.w[(row - start) * size + column - start] -= h * self.gamma * v.k[i * n + j];
                    }
                }
            }
            if !group.lu.factor(size, |i, row| row.copy_from_slice(&group.w[i * size..(i + 1) * size])) {
                let name = nodes.iter().find(|n| n.q0 >= start).map_or(String::new(), |n| n.name.clone());
                return Err(ClusterError::Singular { system: name, matrix: "M − hθ ∂F/∂x", time: t1 });
            }
        }
        // x_free − x
        self.rho.iter_mut().for_each(|r| *r = -*r);
        for (link, v) in links.iter().zip(&mut self.links) {
            let m = link.len();
            link.compliance(t1, &v.joined, &mut v.lambda, &mut v.d)?;
            link.output_matrix(t1, &mut v.joined, &v.lambda, &mut v.c)?;
            for (k, place) in link.states(nodes).enumerate() {
                let b_lambda: f64 = (0..m).map(|j| v.b[k * m + j] * v.lambda[j]).sum();
                self.rho[place] += h * self.gamma * (v.input[k] - b_lambda);
            }
        }
        for group in &mut self.groups {
            group.lu.solve(&mut self.rho[group.start..group.start + group.n]);
        }
        let size = x.len();
        for (link, v) in links.iter().zip(&mut self.links) {
            let m = link.len();
            for j in 0..m {
                self.column.fill(0.0);
                for (k, place) in link.states(nodes).enumerate() {
                    self.column[place] = h * self.gamma * v.b[k * m + j];
                }
                for group in self.groups.iter_mut().filter(|g| link.nodes.iter().any(|&k| g.holds(&nodes[k]))) {
                    group.lu.solve(&mut self.column[group.start..group.start + group.n]);
                }
                (0..size).for_each(|i| v.response[i * m + j] = self.column[i]);
            }
        }
        problem.begin_w();
        for (l, (link, v)) in links.iter().zip(&self.links).enumerate() {
            let (m, n) = (link.len(), v.input.len());
            for i in 0..m {
                let row = link.rows.start + i;
                let dl: f64 = (0..m).map(|j| v.d[i * m + j] * v.lambda[j]).sum();
                let cx: f64 = link.states(nodes).enumerate().map(|(k, place)| v.c[i * n + k] * self.rho[place]).sum();
                problem.routed.problem.q[row] = v.y[i] - dl + cx;
                (0..m).for_each(|j| problem.add_w(row, link.rows.start + j, v.d[i * m + j]));
                for (other, w) in self.neighbours[l].iter().map(|&o| (&links[o], &self.links[o])) {
                    let mo = other.len();
                    for j in 0..mo {
                        let x: f64 = link.states(nodes).enumerate().map(|(k, p)| v.c[i * n + k] * w.response[p * mo + j]).sum();
                        problem.add_w(row, other.rows.start + j, x);
                    }
                }
            }
        }
        problem.end_w();
        if problem.order() > 0 {
            outcome.report = problem.solve();
            if !outcome.report.converged() {
                problem.judge(links, t1)?;
            }
        }
        x.iter_mut().zip(&self.rho).for_each(|(x, dx)| *x += dx);
        for (link, v) in links.iter().zip(&self.links) {
            let m = link.len();
            for j in 0..m {
                let l = problem.r[link.rows.start + j];
                (0..size).for_each(|i| x[i] += v.response[i * m + j] * l);
            }
        }
        for node in nodes {
            finite(&x[node.q0..node.q0 + node.nq], t1, &node.name, "state")?;
        }
        Ok(())
    }

    /// Takes up what others may have changed between steps.
    pub(super) fn resume(&mut self, nodes: &[Node], links: &[Link], problem: &Problem, state: &State, t: f64) -> Result<(), ClusterError> {
        self.r.fill(0.0);
        for (link, v) in links.iter().zip(&mut self.links) {
            v.joined.gather(&link.nodes, nodes, &state.q, &[]);
            v.lambda.copy_from_slice(&problem.r[link.rows.clone()]);
            link.input(t, &mut v.joined, &mut v.lambda, &mut v.input, &mut v.b, &mut v.k)?;
            link.states(nodes).zip(&v.input).for_each(|(i, r)| self.r[i] += r);
            link.output(t, &v.joined, &v.lambda, &mut v.y)?;
            self.y[link.rows.clone()].copy_from_slice(&v.y);
        }
        Ok(())
    }

    /// y of all rows.
    pub(super) fn last_outputs(&self) -> &[f64] {
        &self.y
    }

    /// r of all states.
    pub(super) fn inputs(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.r);
    }
}
