//! Moreau–Jean with a Newton loop, for second-order systems and relations of any kind, with projection of positions.
//!
//! ```text
//! ρ(v) = M(q) (v − v_k) − h [θ F(t⁺, q, v) + (1−θ) F(t, q_k, v_k)]        q = q_k ⊕ h (θ v + (1−θ) v_k)
//! Ŵ = M + hθ ∂F_l/∂v + h²θ² ∂F_l/∂q  (F_l = −F)        v⁺ = v − Ŵ⁻¹ ρ(v) + Ŵ⁻¹ Gᵀ P
//! ```
//!
//! The midpoint rule has M and h F at `q_m = q_k ⊕ ½ h v_m`, `v_m = ½ (v + v_k)` instead, and the same Ŵ with θ = ½.
//!
//! Restitution uses the rates of the start of the step. Rows that turn with the coordinates are those of [`RowsAt`]: impulses act through
//! G_m of the middle of the step and velocities are matched with G_e of its end,
//!
//! ```text
//! u = G_m v⁺ + (G_e − G_m) v + ∂h/∂t        W = G_m Ŵ⁻¹ G_mᵀ        G_m, G_e, v of the last iterate
//! ```
//!
//! so that W stays symmetric (laws on y have `W = G_e Ŵ⁻¹ G_mᵀ`, the derivative of y), and the loop ends when `|ρ(v⁺) − G_mᵀ P|` and the change of u by new rows are within the tolerance. Else G
//! is taken at the iterate of q⁺, and the loop ends on the momentum left over with the rows of the same iteration (Siconos:
//! `MoreauJeanOSI` in `TimeStepping`).

use super::link::{Joined, Level, Link, neighbours};
use super::node::{Node, System, buffer, finite, given_velocity};
use super::problem::Problem;
use super::projection::Positions;
use super::{ClusterError, Leftover, NewtonLoop, Outcome, ROUNDING, RowsAt, State};
use crate::algebra::factor::Lu;
use crate::model::integrator::{Integrator, Projection};
use crate::model::law::Law;
use crate::model::spring::SpringRule;

/// Part of the terms of an equation that rounding may change, where rows come from differences of y.
const DIFFERENCES: f64 = 1e-10;

/// Buffers of one node.
#[derive(Debug, Default)]
pub(super) struct NodeValues {
    pub(super) lu: Lu,
    pub(super) w: Vec<f64>,
    /// (1−θ) h F(t, q_k, v_k)
    pub(super) start: Vec<f64>,
    pub(super) rho: Vec<f64>,
    /// size of θ h F⁺
    pub(super) flow: Vec<f64>,
    pub(super) mean: Vec<f64>,
}

/// Buffers of one link.
#[derive(Debug, Default)]
pub(super) struct LinkValues {
    pub(super) joined: Joined,
    pub(super) y: Vec<f64>,
    pub(super) y_dot: Vec<f64>,
    /// rows on velocities through which impulses act, m × n
    pub(super) g: Vec<f64>,
    /// of the middle of the step, as they turn with it
    turns: bool,
    /// part of the rows that is rounding
    noise: f64,
    /// rows of the end of the step
    end: Vec<f64>,
    /// `(G_e − G_m) v + ∂h/∂t` at the iterate
    lag: Vec<f64>,
    /// `G_m v⁺ + lag` as the iterate has it
    seen: Vec<f64>,
    pub(super) d: Vec<f64>,
    pub(super) drift: Vec<f64>,
    /// constant part of a spring
    pub(super) shift: Vec<f64>,
    pub(super) lambda: Vec<f64>,
    /// Ŵ⁻¹ Gᵀ, n × m
    pub(super) response: Vec<f64>,
    /// h
    pub(super) step: f64,
    /// force per multiplier and output per velocity
    pub(super) scale: [f64; 2],
}

/// Buffers of a cluster.
#[derive(Debug)]
pub(super) struct Implicit {
    pub(super) nodes: Vec<NodeValues>,
    pub(super) links: Vec<LinkValues>,
    pub(super) projection: Projection,
    pub(super) q0: Vec<f64>,
    pub(super) v0: Vec<f64>,
    pub(super) y: Vec<f64>,
    pub(super) y_dot: Vec<f64>,
    pub(super) column: Vec<f64>,
    /// coordinates and velocities of the middle of the step
    middle: State,
    /// Gᵀ P of the last step, with the rows that acted
    pub(super) acted: Vec<f64>,
    pub(super) positions: Positions,
    pub(super) neighbours: Vec<Vec<usize>>,
}

impl LinkValues {
    /// The rows with which the law sees velocities.
    fn seeing(&self, link: &Link) -> &[f64] {
        if self.turns && link.level == Level::Output { &self.end } else { &self.g }
    }
}

impl Implicit {
    pub(super) fn new(nodes: &[Node], links: &[Link], h: f64, rows_at: RowsAt) -> Result<Self, ClusterError> {
        let mut projection = None;
        for node in nodes {
            let here = match node.integrator {
                Integrator::MoreauJean { projection, .. } => projection,
                Integrator::Midpoint { .. } => Projection::None,
                _ => {
                    let reason = format!("{}: the exact modal scheme needs a linear system and linear relations", node.name);
                    return Err(ClusterError::Setup(reason));
                }
            };
            if *projection.get_or_insert(here) != here {
                return Err(ClusterError::Setup(format!("{}: systems that interact need the same projection", node.name)));
            }
        }
        let rows = links.iter().map(Link::len).sum();
        let (nq, nv) = (nodes.iter().map(|n| n.nq).sum(), nodes.iter().map(|n| n.nv).sum());
        let values = |n: &Node| NodeValues {
            lu: Lu::default(),
            w: vec![0.0; n.nv * n.nv],
            start: vec![0.0; n.nv],
            rho: vec![0.0; n.nv],
            flow: vec![0.0; n.nv],
            mean: vec![0.0; n.nv],
        };
        let link_values = |l: &Link| {
            let (m, n) = (l.len(), l.nodes.iter().map(|&k| nodes[k].nv).sum::<usize>());
            LinkValues {
                joined: Joined::default(),
                y: vec![0.0; m],
                y_dot: vec![0.0; m],
                g: vec![0.0; m * n],
                turns: rows_at == RowsAt::Middle && l.turns(nodes),
                noise: if l.by_differences() { DIFFERENCES } else { ROUNDING },
                end: vec![0.0; m * n],
                lag: vec![0.0; m],
                seen: vec![0.0; m],
                d: vec![0.0; m * m],
                drift: vec![0.0; m],
                shift: vec![0.0; m],
                step: h,
                lambda: vec![0.0; m],
                response: vec![0.0; n * m],
                scale: match l.level {
                    Level::Rate => [1.0, 1.0],
                    Level::Output => [h, h * nodes[l.nodes[0]].theta()],
                },
            }
        };
        Ok(Self {
            nodes: nodes.iter().map(values).collect(),
            links: links.iter().map(link_values).collect(),
            projection: projection.unwrap_or_default(),
            q0: vec![0.0; nq],
            v0: vec![0.0; nv],
            y: vec![0.0; rows],
            y_dot: vec![0.0; rows],
            column: vec![0.0; nv],
            middle: State { q: vec![0.0; nq], v: vec![0.0; nv] },
            acted: vec![0.0; nv],
            positions: Positions::default(),
            neighbours: neighbours(links),
        })
    }

    /// y, ẏ of all links at a state.
    pub(super) fn outputs(
        &mut self,
        nodes: &[Node],
        links: &[Link],
        problem: &Problem,
        q: &[f64],
        v: &[f64],
        t: f64,
    ) -> Result<(), ClusterError> {
        for (link, values) in links.iter().zip(&mut self.links) {
            let x = values;
            x.joined.gather(&link.nodes, nodes, q, v);
            x.lambda.fill(0.0);
            if link.level == Level::Output {
                x.lambda.copy_from_slice(&problem.r[link.rows.clone()]);
            }
            link.output(t, &x.joined, &x.lambda, &mut x.y)?;
            link.rows_on_velocities(t, &mut x.joined, nodes, &x.lambda, &mut x.g)?;
            link.drift(t, &x.joined, &mut x.y_dot)?;
            let n = x.joined.v.len();
            for (rate, row) in x.y_dot.iter_mut().zip(x.g.chunks_exact(n)) {
                *rate += row.iter().zip(&x.joined.v).map(|(g, v)| g * v).sum::<f64>();
            }
        }
        Ok(())
    }

    fn keep_outputs(&mut self, links: &[Link]) {
        for (link, x) in links.iter().zip(&self.links) {
            self.y[link.rows.clone()].copy_from_slice(&x.y);
            self.y_dot[link.rows.clone()].copy_from_slice(&x.y_dot);
        }
    }

    /// One step.
    pub(super) fn step(
        &mut self,
        nodes: &mut [Node],
        links: &mut [Link],
        problem: &mut Problem,
        state: &mut State,
        times: (f64, f64, f64),
        newton: NewtonLoop,
    ) -> Result<Outcome, ClusterError> {
        let (t, t1, h) = times;
        self.q0.copy_from_slice(&state.q);
        self.v0.copy_from_slice(&state.v);
        // y and ẏ are those of the end of the last step, or of `resume`
        self.start_flow(nodes, t, h)?;
        let combined = matches!(self.projection, Projection::Combined { .. });
        for link in links.iter_mut() {
            let i = link.rows.start;
            link.active = !link.law.is_impact() || (!combined && self.y[i] + link.gamma * h * self.y_dot[i] <= 0.0);
        }
        self.positions.multipliers.clear();
        self.positions.multipliers.resize(self.y.len(), 0.0);
        let mut outcome;
        // joining contacts one by one, at most all of them
        let mut passes = links.len() + 1;
        loop {
            outcome = self.velocities(nodes, links, problem, state, times, newton)?;
            match self.projection {
                Projection::None => break,
                Projection::Direct { tolerance } => {
                    outcome.projection_failed = !self.project(nodes, links, problem, state, t1, tolerance, false)?;
                    break;
                }
                Projection::Combined { tolerance } => {
                    outcome.projection_failed = !self.project(nodes, links, problem, state, t1, tolerance, true)?;
                    self.outputs(nodes, links, problem, &state.q, &state.v, t1)?;
                    let mut joined = false;
                    for (link, x) in links.iter_mut().zip(&self.links) {
                        if !link.active && x.y[0] <= 0.0 {
                            (link.active, joined) = (true, true);
                        }
                    }
                    passes -= 1;
                    if !joined || passes == 0 {
                        break;
                    }
                    state.q.copy_from_slice(&self.q0);
                    state.v.copy_from_slice(&self.v0);
                }
            }
        }
        self.outputs(nodes, links, problem, &state.q, &state.v, t1)?;
        self.keep_outputs(links);
        outcome.contact_work = self.acted.iter().zip(state.v.iter().zip(&self.v0)).map(|(p, (v, v0))| 0.5 * p * (v + v0)).sum();
        for (link, x) in links.iter().zip(&self.links) {
            outcome.look(link, &x.y);
            outcome.active += if link.active { link.len() } else { 0 };
        }
        Ok(outcome)
    }

    /// Starts a step at t from this state, without links.
    pub(super) fn start(&mut self, nodes: &[Node], q: &[f64], v: &[f64], t: f64, h: f64) -> Result<(), ClusterError> {
        self.q0.copy_from_slice(q);
        self.v0.copy_from_slice(v);
        self.start_flow(nodes, t, h)
    }

    /// (1−θ) h F(t, q_k, v_k)
    fn start_flow(&mut self, nodes: &[Node], t: f64, h: f64) -> Result<(), ClusterError> {
        for (node, x) in nodes.iter().zip(&mut self.nodes) {
            x.start.fill(0.0);
            let (q, v) = (&self.q0[node.q0..node.q0 + node.nq], &self.v0[node.v0..node.v0 + node.nv]);
            if node.theta() < 1.0 && !at_middle(node) {
                node.add_flow(t, q, v, h * (1.0 - node.theta()), &mut x.start)?;
            }
        }
        Ok(())
    }

    /// The Newton loop over the velocities with the present active links.
    fn velocities(
        &mut self,
        nodes: &mut [Node],
        links: &[Link],
        problem: &mut Problem,
        state: &mut State,
        (_, t1, h): (f64, f64, f64),
        newton: NewtonLoop,
    ) -> Result<Outcome, ClusterError> {
        let mut outcome = Outcome::default();
        for link in links {
            problem.set_active(link, link.active);
            if !link.active {
                problem.routed.problem.q[link.rows.clone()].fill(0.0);
            }
        }
        let any = links.iter().any(|l| l.active);
        if !any {
            problem.r.fill(0.0);
        }
        let turns = links.iter().zip(&self.links).any(|(l, x)| l.active && x.turns);
        self.predict(nodes, state, h);
        self.momentum(nodes, state, t1, h)?;
        if turns {
            self.turn(nodes, links, problem, state, t1, h)?;
        }
        let mut before = Leftover::NONE_YET;
        loop {
            outcome.iterations += 1;
            self.factorise(nodes, state, t1, h)?;
            for (node, x) in nodes.iter().zip(&mut self.nodes) {
                x.rho.iter_mut().for_each(|r| *r = -*r);
                if let System::Lagrangian(s) = &node.system {
                    for p in &s.prescribed {
                        x.rho[p.index] = given_velocity(p, t1, &node.name)? - state.v[node.v0 + p.index];
                    }
                }
                x.lu.solve(&mut x.rho);
                state.v[node.v0..node.v0 + node.nv].iter_mut().zip(&x.rho).for_each(|(v, dv)| *v += dv);
            }
            if any {
                self.assemble(nodes, links, problem, state, t1)?;
                outcome.report = problem.solve();
                if !outcome.report.converged() {
                    problem.judge(links, t1)?;
                }
                self.kick(nodes, links, problem, state);
            }
            for node in nodes.iter() {
                finite(&state.v[node.v0..node.v0 + node.nv], t1, &node.name, "velocity")?;
            }
            self.predict(nodes, state, h);
            self.momentum(nodes, state, t1, h)?;
            self.impulses(nodes, links, problem);
            self.acted.copy_from_slice(&self.column);
            let mut left = Leftover::default();
            if turns {
                self.see(links, nodes, state);
                self.turn(nodes, links, problem, state, t1, h)?;
                self.changed(links, nodes, state, &mut left);
                self.impulses(nodes, links, problem);
            }
            self.left_over(nodes, links, problem, state, t1, &mut left)?;
            if left.within(newton.tolerance, &before) {
                break;
            }
            before = left;
            if outcome.iterations >= newton.max_iterations.max(1) {
                outcome.newton_failed = true;
                break;
            }
        }
        // what the given velocities took
        for (node, x) in nodes.iter_mut().zip(&self.nodes) {
            let (v0, rho) = (node.v0, &x.rho);
            let System::Lagrangian(s) = &mut node.system else { continue };
            for p in &mut s.prescribed {
                p.reaction = rho[p.index] - self.acted[v0 + p.index];
            }
        }
        Ok(outcome)
    }

    /// Rows that turn, at the iterate: of the middle of the step, and what those of its end add to the rates.
    fn turn(&mut self, nodes: &[Node], links: &[Link], problem: &Problem, state: &State, t1: f64, h: f64) -> Result<(), ClusterError> {
        let middle = &mut self.middle;
        for (node, x) in nodes.iter().zip(&self.nodes) {
            let (places, speeds) = (node.q0..node.q0 + node.nq, node.v0..node.v0 + node.nv);
            node.move_by(&self.q0[places.clone()], 0.5 * h, &x.mean, &mut middle.q[places]);
            middle.v[speeds].copy_from_slice(&x.mean);
        }
        for (link, x) in links.iter().zip(&mut self.links).filter(|(l, x)| l.active && x.turns) {
            if link.level == Level::Output {
                x.lambda.copy_from_slice(&problem.r[link.rows.clone()]);
            }
            x.joined.gather(&link.nodes, nodes, &middle.q, &middle.v);
            link.rows_on_velocities(t1 - 0.5 * h, &mut x.joined, nodes, &x.lambda, &mut x.g)?;
            x.joined.gather(&link.nodes, nodes, &state.q, &state.v);
            link.rows_on_velocities(t1, &mut x.joined, nodes, &x.lambda, &mut x.end)?;
            if link.level == Level::Output {
                continue;
            }
            link.drift(t1, &x.joined, &mut x.lag)?;
            let n = x.joined.v.len();
            for ((lag, end), g) in x.lag.iter_mut().zip(x.end.chunks_exact(n)).zip(x.g.chunks_exact(n)) {
                *lag += end.iter().zip(g).zip(&x.joined.v).map(|((e, g), v)| (e - g) * v).sum::<f64>();
            }
        }
        Ok(())
    }

    /// Keeps the rates that the rows of the iteration give the new velocities.
    fn see(&mut self, links: &[Link], nodes: &[Node], state: &State) {
        for (link, x) in links.iter().zip(&mut self.links).filter(|(l, x)| l.active && x.turns && l.level == Level::Rate) {
            let n = x.g.len() / link.len();
            for ((seen, row), lag) in x.seen.iter_mut().zip(x.g.chunks_exact(n)).zip(&x.lag) {
                *seen = lag + link.velocities(nodes).zip(row).map(|(place, g)| g * state.v[place]).sum::<f64>();
            }
        }
    }

    /// By how much new rows change these rates (m/s).
    fn changed(&self, links: &[Link], nodes: &[Node], state: &State, left: &mut Leftover) {
        for (link, x) in links.iter().zip(&self.links).filter(|(l, x)| l.active && x.turns && l.level == Level::Rate) {
            let n = x.g.len() / link.len();
            for ((seen, row), lag) in x.seen.iter().zip(x.g.chunks_exact(n)).zip(&x.lag) {
                let terms = link.velocities(nodes).zip(row).map(|(place, g)| g * state.v[place]);
                let (rate, size) = terms.fold((*lag, lag.abs()), |(sum, size), x| (sum + x, size + x.abs()));
                let change = (rate - seen).abs();
                if change.is_nan() || change > x.noise * size {
                    left.add(change, 0.0, size);
                }
            }
        }
    }

    /// `q = q_k ⊕ h (θ v + (1−θ) v_k)`
    pub(super) fn predict(&mut self, nodes: &[Node], state: &mut State, h: f64) {
        for (node, x) in nodes.iter().zip(&mut self.nodes) {
            let theta = node.theta();
            let range = node.v0..node.v0 + node.nv;
            for ((m, v), v0) in x.mean.iter_mut().zip(&state.v[range.clone()]).zip(&self.v0[range]) {
                *m = theta * v + (1.0 - theta) * v0;
            }
            node.move_by(&self.q0[node.q0..node.q0 + node.nq], h, &x.mean, &mut state.q[node.q0..node.q0 + node.nq]);
        }
    }

    /// ρ at the iterate.
    pub(super) fn momentum(&mut self, nodes: &[Node], state: &State, t1: f64, h: f64) -> Result<(), ClusterError> {
        for (node, x) in nodes.iter().zip(&mut self.nodes) {
            let n = node.nv;
            let v = &state.v[node.v0..node.v0 + n];
            let mut middle = buffer(node.nq);
            let (t, q, mean, weight) = if at_middle(node) {
                node.move_by(&self.q0[node.q0..node.q0 + node.nq], 0.5 * h, &x.mean, &mut middle);
                (t1 - 0.5 * h, &middle[..], &x.mean[..], h)
            } else {
                (t1, &state.q[node.q0..node.q0 + node.nq], v, h * node.theta())
            };
            x.rho.fill(0.0);
            node.add_flow(t, q, mean, -weight, &mut x.rho)?;
            for ((r, f), size) in x.rho.iter_mut().zip(&x.start).zip(&mut x.flow) {
                *size = r.abs();
                *r -= f;
            }
            let mut m = buffer(n * n);
            node.mass(t, q, mean, &mut m)?;
            for i in 0..n {
                x.rho[i] += (0..n).map(|j| m[i * n + j] * (v[j] - self.v0[node.v0 + j])).sum::<f64>();
            }
        }
        Ok(())
    }

    /// M of node k as the momentum of the step has it: at its end, or in its middle.
    pub(super) fn mass_of_step(&self, node: &Node, k: usize, state: &State, t1: f64, h: f64, out: &mut [f64]) -> Result<(), ClusterError> {
        let places = node.q0..node.q0 + node.nq;
        let mean = &self.nodes[k].mean;
        if !at_middle(node) {
            return node.mass(t1, &state.q[places], mean, out);
        }
        let mut middle = buffer(node.nq);
        node.move_by(&self.q0[places], 0.5 * h, mean, &mut middle);
        node.mass(t1 - 0.5 * h, &middle, mean, out)
    }

    /// Ŵ at the iterate, with the rows of given velocities replaced.
    pub(super) fn factorise(&mut self, nodes: &[Node], state: &mut State, t1: f64, h: f64) -> Result<(), ClusterError> {
        for (node, x) in nodes.iter().zip(&mut self.nodes) {
            let n = node.nv;
            let (q, v) = (&mut state.q[node.q0..node.q0 + node.nq], &mut state.v[node.v0..node.v0 + n]);
            let theta = node.theta();
            let mut middle = buffer(node.nq);
            let (t, q, v) = if at_middle(node) {
                node.move_by(&self.q0[node.q0..node.q0 + node.nq], 0.5 * h, &x.mean, &mut middle);
                (t1 - 0.5 * h, &mut middle[..], &mut x.mean[..])
            } else {
                (t1, q, v)
            };
            node.mass(t, q, v, &mut x.w)?;
            node.subtract_tangent(t, q, v, h * theta, h * h * theta * theta, &mut x.w)?;
            hold_given(node, &mut x.w);
            if !x.lu.factor(n, |i, row| row.copy_from_slice(&x.w[i * n..(i + 1) * n])) {
                return Err(ClusterError::Singular {
                    system: node.name.clone(), matrix: "M + hθ ∂F/∂v + h²θ² ∂F/∂q", time: t1
                });
            }
        }
        Ok(())
    }

    /// W and q of the active links at the iterate; `state` holds the free velocities.
    fn assemble(&mut self, nodes: &[Node], links: &[Link], problem: &mut Problem, state: &State, t1: f64) -> Result<(), ClusterError> {
        for (link, values) in links.iter().zip(&mut self.links).filter(|(l, _)| l.active) {
            let x = values;
            let m = link.len();
            x.joined.gather(&link.nodes, nodes, &state.q, &state.v);
            let n = x.joined.v.len();
            if link.level == Level::Output {
                x.lambda.copy_from_slice(&problem.r[link.rows.clone()]);
            }
            if x.turns {
                x.drift.copy_from_slice(&x.lag);
            } else {
                link.rows_on_velocities(t1, &mut x.joined, nodes, &x.lambda, &mut x.g)?;
                link.drift(t1, &x.joined, &mut x.drift)?;
            }
            if Link::compliant(&link.relation) {
                link.compliance(t1, &x.joined, &mut x.lambda, &mut x.d)?;
            }
            if link.level == Level::Output {
                link.output(t1, &x.joined, &x.lambda, &mut x.y)?;
            }
            if let Law::Spring { stiffness, damping, .. } = link.law {
                let rule = SpringRule::of_theta(nodes[link.nodes[0]].theta());
                for (i, k) in link.rows.clone().enumerate() {
                    let h = x.step;
                    [x.d[i * (m + 1)], x.shift[i]] = rule.row(stiffness, damping, (self.y[k], self.y_dot[k]), h);
                }
            }
            respond(link, nodes, &mut self.nodes, &x.g, &mut x.response);
            for i in 0..m {
                let row = &x.seeing(link)[i * n..(i + 1) * n];
                let rate: f64 = row.iter().zip(&x.joined.v).map(|(g, v)| g * v).sum();
                let k = link.rows.start + i;
                problem.routed.problem.q[k] = match link.level {
                    Level::Rate => rate + x.drift[i] + link.restitution[i] * self.y_dot[k] + x.shift[i],
                    Level::Output => {
                        // y at the iterate, moved on by what the velocities have changed since: q_i + hθ (v_free − v_i)
                        let moved: f64 = row.iter().zip(moved_by(link, &self.nodes)).map(|(g, dv)| g * dv).sum();
                        let dl: f64 = (0..m).map(|j| x.d[i * m + j] * x.lambda[j]).sum();
                        x.y[i] + x.scale[1] * moved - dl
                    }
                };
            }
        }
        problem.begin_w();
        for (a, (link, x)) in links.iter().zip(&self.links).enumerate().filter(|(_, (l, _))| l.active) {
            let m = link.len();
            for i in 0..m {
                for j in 0..m {
                    problem.add_w(link.rows.start + i, link.rows.start + j, x.d[i * m + j]);
                }
            }
            for &b in self.neighbours[a].iter().filter(|&&b| links[b].active) {
                couple(problem, nodes, (link, x), (&links[b], &self.links[b]));
            }
        }
        problem.end_w();
        Ok(())
    }

    /// `v += Ŵ⁻¹ Gᵀ P`
    fn kick(&mut self, nodes: &[Node], links: &[Link], problem: &Problem, state: &mut State) {
        for (link, x) in links.iter().zip(&self.links).filter(|(l, _)| l.active) {
            let m = link.len();
            let places = link.velocities(nodes);
            for (place, row) in places.zip(x.response.chunks_exact(m)) {
                state.v[place] += row.iter().zip(&problem.r[link.rows.clone()]).map(|(w, r)| w * r * x.scale[0]).sum::<f64>();
            }
        }
    }

    /// What is left of the equations: `|ρ − Gᵀ P|` of every node (N s), `column` holding Gᵀ P, and of the relations whose laws are on y.
    fn left_over(
        &mut self,
        nodes: &[Node],
        links: &[Link],
        problem: &Problem,
        state: &State,
        t1: f64,
        left: &mut Leftover,
    ) -> Result<(), ClusterError> {
        // laws on y hold at the new positions too, not only in the linearised relation
        for (link, x) in links.iter().zip(&mut self.links).filter(|(l, _)| l.active && l.level == Level::Output && l.faces.is_empty()) {
            x.joined.gather(&link.nodes, nodes, &state.q, &state.v);
            link.output(t1, &x.joined, &problem.r[link.rows.clone()], &mut x.y)?;
            let n = x.joined.v.len();
            for ((y, u), row) in x.y.iter().zip(&problem.u[link.rows.clone()]).zip(x.seeing(link).chunks_exact(n)) {
                let sum = |values: &[f64]| row.iter().zip(values).map(|(g, x)| (g * x).abs()).sum::<f64>();
                let (error, way, place) = ((y - u).abs(), x.scale[1].abs() * sum(&x.joined.v), sum(&x.joined.q));
                if error.is_nan() || error > ROUNDING * (1.0f64.min(place + way) + y.abs()) {
                    left.add(error, y.abs(), way);
                }
            }
        }
        let noise = links.iter().zip(&self.links).filter(|(l, x)| l.active && x.turns).fold(0.0, |noise: f64, (_, x)| noise.max(x.noise));
        for (node, x) in nodes.iter().zip(&self.nodes) {
            let given = |i: usize| matches!(&node.system, System::Lagrangian(s) if s.prescribed.iter().any(|p| p.index == i));
            let (mut error, mut size, mut push) = (0.0, 0.0, 0.0);
            for i in (0..node.nv).filter(|&i| !given(i)) {
                error += (x.rho[i] - self.column[node.v0 + i]).powi(2);
                let w: f64 = (0..node.nv).map(|j| (x.w[i * node.nv + j] * state.v[node.v0 + j]).abs()).sum();
                size += (w + x.flow[i] + x.start[i].abs() + self.column[node.v0 + i].abs()).powi(2);
                push += self.column[node.v0 + i].powi(2);
            }
            let [error, size, push] = [error, size, push].map(f64::sqrt);
            if error.is_nan() || error > (ROUNDING * size).max(noise * push) {
                left.add(error, 0.0, size);
            }
        }
        Ok(())
    }

    /// Gᵀ P into `column`.
    fn impulses(&mut self, nodes: &[Node], links: &[Link], problem: &Problem) {
        self.column.fill(0.0);
        for (link, x) in links.iter().zip(&self.links).filter(|(l, _)| l.active) {
            let n = x.g.len() / link.len();
            for (row, r) in x.g.chunks_exact(n).zip(&problem.r[link.rows.clone()]) {
                let places = link.velocities(nodes);
                places.zip(row).for_each(|(place, g)| self.column[place] += g * r * x.scale[0]);
            }
        }
    }

    /// y, ẏ of all rows.
    pub(super) fn last_outputs(&self) -> (&[f64], &[f64]) {
        (&self.y, &self.y_dot)
    }

    /// Impulses on all velocities.
    pub(super) fn inputs(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.acted);
    }

    /// Multipliers of the projection, by rows; empty without one.
    pub(super) fn corrections(&self) -> &[f64] {
        if self.projection == Projection::None { &[] } else { &self.positions.multipliers }
    }

    /// Takes up what others may have changed between steps.
    pub(super) fn resume(&mut self, nodes: &[Node], links: &[Link], problem: &Problem, state: &State, t: f64) -> Result<(), ClusterError> {
        self.outputs(nodes, links, problem, &state.q, &state.v, t)?;
        self.keep_outputs(links);
        Ok(())
    }
}

/// Forces and mass are taken in the middle of the step, not averaged between its ends.
fn at_middle(node: &Node) -> bool {
    matches!(node.integrator, Integrator::Midpoint { .. })
}

/// Rows of the identity for what is given.
pub(super) fn hold_given(node: &Node, w: &mut [f64]) {
    let (n, System::Lagrangian(s)) = (node.nv, &node.system) else { return };
    for p in &s.prescribed {
        w[p.index * n..(p.index + 1) * n].fill(0.0);
        w[p.index * (n + 1)] = 1.0;
    }
}

/// Ŵ⁻¹ Gᵀ, node by node; given velocities do not answer.
pub(super) fn respond(link: &Link, nodes: &[Node], values: &mut [NodeValues], g: &[f64], response: &mut [f64]) {
    let m = link.len();
    let n = g.len() / m;
    let mut first = 0;
    for &k in &link.nodes {
        let node = &nodes[k];
        let mut column = buffer(node.nv);
        for i in 0..m {
            column.copy_from_slice(&g[i * n + first..i * n + first + node.nv]);
            if let System::Lagrangian(s) = &node.system {
                s.prescribed.iter().for_each(|p| column[p.index] = 0.0);
            }
            values[k].lu.solve(&mut column);
            (0..node.nv).for_each(|j| response[(first + j) * m + i] = column[j]);
        }
        first += node.nv;
    }
}

/// The last change of the velocities of a link's systems, `−Ŵ⁻¹ρ`.
fn moved_by<'a>(link: &'a Link, values: &'a [NodeValues]) -> impl Iterator<Item = f64> + 'a {
    link.nodes.iter().flat_map(|&k| values[k].rho.iter().copied())
}

/// `G_a Ŵ⁻¹ G_bᵀ` of two rows.
pub(super) fn product(nodes: &[Node], a: (&Link, &LinkValues, usize), b: (&Link, &LinkValues, usize)) -> f64 {
    let (n, m) = (a.1.g.len() / a.0.len(), b.0.len());
    let g = a.1.seeing(a.0);
    let mut sum = 0.0;
    let mut first_a = 0;
    for &ka in &a.0.nodes {
        let mut first_b = 0;
        for &kb in &b.0.nodes {
            if ka == kb {
                for j in 0..nodes[ka].nv {
                    sum += g[a.2 * n + first_a + j] * b.1.response[(first_b + j) * m + b.2];
                }
            }
            first_b += nodes[kb].nv;
        }
        first_a += nodes[ka].nv;
    }
    sum
}

/// Adds the block of two links to W.
fn couple(problem: &mut Problem, nodes: &[Node], a: (&Link, &LinkValues), b: (&Link, &LinkValues)) {
    for i in 0..a.0.len() {
        for j in 0..b.0.len() {
            let x = product(nodes, (a.0, a.1, i), (b.0, b.1, j));
            problem.add_w(a.0.rows.start + i, b.0.rows.start + j, a.1.scale[1] * x * b.1.scale[0]);
        }
    }
}
