//! Clusters with constant matrices: everything that can be multiplied out is, once; a step is a few sparse products and one
//! one-step problem with a constant W.
//!
//! ```text
//! first order    x_free = Φ x + Γ₁ b(t⁺) + Γ₀ b(t) + Γᵣ r        q = C x_free + e(t⁺) + F Z        x⁺ = x_free + G λ
//! second order   v_free = v + Φ_v v + Φ_q q + Γ₁ F(t⁺) + Γ₀ F(t)  q = H v_free + e u               v⁺ = v_free + G λ
//! ```
//!
//! Euler–Moreau, zero-order hold, Moreau–Jean and the exact modal scheme differ in these matrices alone.

use super::large::Large;
use super::link::{Level, Link};
use super::node::{Node, System, buffer, evaluate, finite, given_velocity};
use super::problem::Problem;
use super::products::Products;
use super::{ClusterError, Outcome, State};
use crate::algebra::rows::SparseRows;
use crate::model::integrator::Integrator;
use crate::model::law::Law;
use crate::model::operator::{At, Operator};
use crate::model::relation::Relation;

/// A velocity that is given: its place, and the row of the equation of motion from which its reaction follows.
#[derive(Debug)]
pub(super) struct Given {
    pub(super) node: usize,
    pub(super) index: usize,
    pub(super) prescription: usize,
    /// Ŵ, hC + h²θK and hK in this row
    pub(super) w: Vec<f64>,
    pub(super) c: Vec<f64>,
    pub(super) k: Vec<f64>,
}

/// The products of one cluster.
#[derive(Debug)]
pub(super) struct Linear {
    first_order: bool,
    /// Φ (or Φ_v without its identity)
    phi: SparseRows,
    phi_q: SparseRows,
    gamma_1: SparseRows,
    gamma_0: SparseRows,
    gamma_r: SparseRows,
    /// what prescribed velocities add to the free ones
    given_in: SparseRows,
    given: Vec<Given>,
    given_v: Vec<f64>,
    /// C or H by rows of links
    c: SparseRows,
    /// G by columns of links
    g: SparseRows,
    /// D, in the rows whose laws are about y
    d: SparseRows,
    /// B by columns of links (generalised input of λ)
    b_t: SparseRows,
    /// constant part of the inputs, for nodes without functions
    load: Vec<f64>,
    variable_load: bool,
    load_1: Vec<f64>,
    load_0: Vec<f64>,
    /// e + F Z
    offset: Vec<f64>,
    variable_offset: bool,
    free: Vec<f64>,
    y: Vec<f64>,
    y_dot: Vec<f64>,
    theta_q: Vec<f64>,
    scale: Vec<[f64; 2]>,
    r_old: Vec<f64>,
    keeps_r: bool,
    large: Vec<Large>,
}

/// True where a cluster can be multiplied out.
pub(super) fn applies(nodes: &[Node], links: &[Link]) -> bool {
    let node = |n: &Node| match (&n.system, &n.integrator) {
        (System::FirstOrder(s), _) => s.is_linear_invariant(),
        (System::Lagrangian(s), Integrator::MoreauJean { projection, .. }) => {
            s.is_linear_invariant() && *projection == crate::model::integrator::Projection::None
        }
        (System::Lagrangian(s), Integrator::Modal { .. }) => s.is_linear_invariant(),
        _ => false,
    };
    let link = |l: &Link| match &l.relation {
        _ if matches!(l.law, Law::Spring { .. }) => false,
        Relation::FirstOrderLinear(r) => r.c.is_constant() && r.b.is_constant() && r.d.is_constant(),
        Relation::LagrangianLinear(r) => r.d.is_constant(),
        _ => false,
    };
    nodes.iter().all(node) && links.iter().all(link)
}

impl Linear {
    pub(super) fn new(nodes: &[Node], links: &[Link], problem: &mut Problem, state: &State, t: f64, h: f64) -> Result<Self, ClusterError> {
        let first_order = nodes.iter().all(|n| n.integrator.is_first_order());
        let size: usize = nodes.iter().map(|n| n.nv).sum();
        let rows: usize = links.iter().map(Link::len).sum();
        let mut given = Vec::new();
        let mut parts = Vec::new();
        let mut large = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            if let Some((part, rows)) = Large::of(node, h, t)? {
                let places = part.given.iter().zip(rows).enumerate();
                given.extend(places.map(|(place, (&index, r))| Given { node: at, index, prescription: place, w: r.w, c: r.c, k: r.k }));
                large.push((at, part));
                parts.push(Products::default());
                continue;
            }
            parts.push(match node.integrator {
                Integrator::MoreauJean { theta, .. } => Products::moreau_jean(node, theta, h, t, &mut given, at)?,
                Integrator::Modal { .. } => Products::modal(node, h),
                _ => Products::first_order(node, h, t)?,
            });
        }
        let blocks = |pick: fn(&Products) -> &Vec<f64>| {
            let mut m = SparseRows::new();
            for (node, part) in nodes.iter().zip(&parts) {
                let a = pick(part);
                for i in 0..node.nv {
                    let row = a.get(i * node.nv..(i + 1) * node.nv).unwrap_or(&[]);
                    m.push_row(row.iter().enumerate().map(|(j, x)| (node.v0 + j, *x)));
                }
            }
            m
        };
        let mut given_in = blocks(|p| &p.given);
        if given_in.is_zero() {
            given_in = SparseRows::default();
        }
        // rows of C and columns of B, link by link, on the flat states
        let (mut c, mut b_t) = (SparseRows::new(), SparseRows::new());
        // D of the one-step problem, and the part of it that y shows: of laws on the rate it is not
        let (mut d, mut d_y) = (SparseRows::new(), SparseRows::new());
        for link in links {
            let m = link.len();
            let n: usize = link.nodes.iter().map(|&k| nodes[k].nv).sum();
            let places: Vec<usize> = link.velocities(nodes).collect();
            let (mut c_full, mut b_full, mut d_full) = (vec![0.0; m * n], vec![0.0; n * m], vec![0.0; m * m]);
            match &link.relation {
                Relation::FirstOrderLinear(r) => {
                    r.c.matrix(&At::default(), n, &mut c_full);
                    r.b.matrix(&At::default(), m, &mut b_full);
                    r.d.matrix(&At::default(), m, &mut d_full);
                }
                Relation::LagrangianLinear(r) => {
                    c_full.copy_from_slice(&r.h);
                    (0..n * m).for_each(|k| b_full[k] = r.h[(k % m) * n + k / m]);
                    r.d.matrix(&At::default(), m, &mut d_full);
                }
                _ => {}
            }
            for i in 0..m {
                c.push_row((0..n).map(|j| (places[j], c_full[i * n + j])));
                b_t.push_row((0..n).map(|j| (places[j], b_full[j * m + i])));
                let row = |shown: bool| (0..m).map(|j| (link.rows.start + j, d_full[i * m + j])).filter(move |_| shown).collect::<Vec<_>>();
                d.push_row(row(true));
                d_y.push_row(row(link.level == Level::Output));
            }
        }
        // rows of G: the response of the states to each multiplier
        let response = blocks(|p| &p.response);
        let response_t = response.transposed(size);
        let mut g = SparseRows::new();
        let mut scale = vec![[1.0; 2]; rows];
        let mut column = vec![0.0; size];
        for link in links {
            for i in link.rows.clone() {
                // a dense answer where one of the systems is large
                let mut whole = large.iter_mut().filter(|(at, _)| link.nodes.contains(at)).peekable();
                let any_large = whole.peek().is_some();
                if !first_order && link.level == Level::Output {
                    scale[i] = [h * nodes[link.nodes[0]].theta(), h];
                }
                column.fill(0.0);
                let mut touched: Vec<usize> = Vec::new();
                if any_large {
                    b_t.row(i).for_each(|(j, b)| column[j] += b * scale[i][1]);
                    for (at, part) in whole {
                        let factor = part.response_factor(&nodes[*at], h);
                        part.respond(&mut column, factor);
                        touched.extend(part.start..part.start + part.n);
                    }
                    // of small systems only the product below counts
                    b_t.row(i).filter(|(j, _)| !touched.contains(j)).for_each(|(j, _)| column[j] = 0.0);
                }
                for (j, b) in b_t.row(i) {
                    for (k, x) in response_t.row(j) {
                        column[k] += x * b * scale[i][1];
                        touched.push(k);
                    }
                }
                touched.sort_unstable();
                touched.dedup();
                g.push_row(touched.into_iter().map(|k| (k, column[k])));
            }
        }
        problem.begin_w();
        let by_state = c.transposed(size);
        for j in 0..rows {
            for (k, x) in g.row(j) {
                for (i, c) in by_state.row(k) {
                    problem.add_w(i, j, scale[i][0] * c * x);
                }
            }
            for (i, x) in d.row(j) {
                problem.add_w(j, i, x);
            }
        }
        problem.end_w();
        let mut linear = Self {
            first_order,
            phi: blocks(|p| &p.phi),
            phi_q: blocks(|p| &p.phi_q),
            gamma_1: blocks(|p| &p.gamma_1),
            gamma_0: blocks(|p| &p.gamma_0),
            gamma_r: blocks(|p| &p.gamma_r),
            given_in,
            given_v: vec![0.0; size],
            given,
            c,
            g,
            d: d_y,
            b_t,
            load: vec![0.0; size],
            variable_load: false,
            load_1: vec![0.0; size],
            load_0: vec![0.0; size],
            offset: vec![0.0; rows],
            variable_offset: false,
            free: vec![0.0; size],
            y: vec![0.0; rows],
            y_dot: vec![0.0; rows],
            theta_q: nodes.iter().flat_map(|n| std::iter::repeat_n(n.theta(), n.nv)).collect(),
            scale,
            r_old: vec![0.0; size],
            keeps_r: false,
            large: large.into_iter().map(|(_, part)| part).collect(),
        };
        let full_input = |n: &Node| matches!(n.integrator, Integrator::EulerMoreau { gamma, .. } if gamma < 1.0);
        linear.keeps_r = nodes.iter().any(full_input);
        linear.variable_load = nodes.iter().any(|n| matches!(load_of(n), Some(Operator::Function(_))));
        linear.variable_offset = links.iter().any(|l| match &l.relation {
            Relation::FirstOrderLinear(r) => !(r.e.is_constant() && r.f.is_constant()),
            Relation::LagrangianLinear(r) => !r.f.is_constant(),
            _ => false,
        });
        linear.resume(nodes, links, problem, state, t)?;
        Ok(linear)
    }

    /// Takes up z and states that others may have changed between steps.
    pub(super) fn resume(&mut self, nodes: &[Node], links: &[Link], problem: &Problem, state: &State, t: f64) -> Result<(), ClusterError> {
        loads(nodes, t, &mut self.load_0)?;
        if !self.variable_load {
            self.load.fill(0.0);
            self.gamma_1.add_product(1.0, &self.load_0, &mut self.load);
            self.gamma_0.add_product(1.0, &self.load_0, &mut self.load);
        }
        offsets(links, t, &mut self.offset)?;
        self.outputs(state, &problem.r);
        if self.keeps_r {
            self.r_old.fill(0.0);
            self.b_t.add_transposed_product(&problem.r[..self.y.len()], &mut self.r_old);
        }
        Ok(())
    }

    /// y and ẏ of the present state; the work `½ Σ P (ẏ + ẏ⁻)` of the impulses on the way from that of before.
    fn outputs(&mut self, state: &State, r: &[f64]) -> f64 {
        let mut work = 0.0;
        for i in 0..self.y.len() {
            self.y[i] = self.offset[i] + self.c.dot(i, &state.q) + self.d.dot(i, r);
            if !self.first_order {
                let rate = self.c.dot(i, &state.v);
                work += 0.5 * r[i] * self.scale[i][1] * (rate + self.y_dot[i]);
                self.y_dot[i] = rate;
            }
        }
        work
    }

    /// One step from t to t1.
    pub(super) fn step(
        &mut self,
        nodes: &mut [Node],
        links: &mut [Link],
        problem: &mut Problem,
        state: &mut State,
        t1: f64,
        h: f64,
    ) -> Result<Outcome, ClusterError> {
        let rows = self.y.len();
        // free motion
        if self.variable_load {
            loads(nodes, t1, &mut self.load_1)?;
            self.load.fill(0.0);
            self.gamma_1.add_product(1.0, &self.load_1, &mut self.load);
            self.gamma_0.add_product(1.0, &self.load_0, &mut self.load);
            std::mem::swap(&mut self.load_0, &mut self.load_1);
        }
        self.free.copy_from_slice(&self.load);
        if self.first_order {
            self.phi.add_product(1.0, &state.q, &mut self.free);
            if self.keeps_r {
                self.gamma_r.add_product(1.0, &self.r_old, &mut self.free);
            }
        } else {
            self.free.iter_mut().zip(&state.v).for_each(|(f, v)| *f += v);
            if !self.phi.is_zero() {
                self.phi.add_product(1.0, &state.v, &mut self.free);
            }
            if !self.phi_q.is_zero() {
                self.phi_q.add_product(1.0, &state.q, &mut self.free);
            }
            if !self.given.is_empty() {
                for given in &self.given {
                    let node = &nodes[given.node];
                    if let System::Lagrangian(s) = &node.system {
                        let v = &mut self.given_v[node.v0 + given.index];
                        *v = given_velocity(&s.prescribed[given.prescription], t1, &node.name)?;
                    }
                }
                self.given_in.add_product(1.0, &self.given_v, &mut self.free);
            }
        }
        let load = if self.variable_load { [&self.load_0[..], &self.load_1] } else { [&self.load_0[..], &self.load_0] };
        for part in &mut self.large {
            part.add_free(&state.q, &state.v, load, &self.r_old, &self.given_v, &mut self.free);
        }
        if self.variable_offset {
            offsets(links, t1, &mut self.offset)?;
        }
        // rows
        let mut outcome = Outcome::default();
        let q = &mut problem.routed.problem.q;
        if self.first_order {
            for (i, q) in q.iter_mut().enumerate().take(rows) {
                *q = self.offset[i] + self.c.dot(i, &self.free);
            }
            outcome.active = rows;
        } else {
            for link in links.iter_mut() {
                let first = link.rows.start;
                link.active = !link.law.is_impact() || self.y[first] + link.gamma * h * self.y_dot[first] <= 0.0;
                problem.routed.active[link.blocks.clone()].fill(link.active);
                if !link.active {
                    q[link.rows.clone()].fill(0.0);
                    continue;
                }
                outcome.active += link.len();
                for (k, i) in link.rows.clone().enumerate() {
                    let rate = self.c.dot(i, &self.free);
                    q[i] = match link.level {
                        Level::Rate => rate + link.restitution[k] * self.y_dot[i],
                        Level::Output => {
                            let theta = self.scale[i][0] / h;
                            let here = self.offset[i] + self.c.dot(i, &state.q);
                            here + h * (theta * rate + (1.0 - theta) * self.y_dot[i])
                        }
                    };
                }
            }
        }
        if outcome.active == 0 {
            problem.r.fill(0.0);
        } else {
            outcome.report = problem.solve();
            if !outcome.report.converged() {
                problem.judge(links, t1)?;
            }
            self.g.add_transposed_product(&problem.r[..rows], &mut self.free);
        }
        // new state
        if self.first_order {
            std::mem::swap(&mut state.q, &mut self.free);
            self.y.copy_from_slice(&problem.u[..rows]);
            for i in links.iter().filter(|l| !l.faces.is_empty()).flat_map(|l| l.rows.clone()) {
                self.y[i] = self.offset[i] + self.c.dot(i, &state.q) + self.d.dot(i, &problem.r);
            }
            if self.keeps_r {
                self.r_old.fill(0.0);
                self.b_t.add_transposed_product(&problem.r[..rows], &mut self.r_old);
            }
        } else {
            self.reactions(nodes, problem, state, h);
            for i in 0..state.q.len() {
                let theta = self.theta_q[i];
                state.q[i] += h * (theta * self.free[i] + (1.0 - theta) * state.v[i]);
            }
            std::mem::swap(&mut state.v, &mut self.free);
            outcome.contact_work = self.outputs(state, &problem.r);
            links.iter().for_each(|link| outcome.look(link, &self.y[link.rows.clone()]));
        }
        if let Some(node) = nodes.iter().find(|n| !state.q[n.q0..n.q0 + n.nq].iter().all(|x| x.is_finite())) {
            finite(&state.q[node.q0..node.q0 + node.nq], t1, &node.name, "state")?;
        }
        Ok(outcome)
    }

    /// Impulses that impose the prescribed velocities.
    fn reactions(&mut self, nodes: &mut [Node], problem: &Problem, state: &State, h: f64) {
        if self.given.is_empty() {
            return;
        }
        // Hᵀ P and h F, where they are needed
        let mut p = std::mem::take(&mut self.r_old);
        self.inputs(problem, &mut p);
        for given in &self.given {
            let node = &mut nodes[given.node];
            let (v0, n) = (node.v0, node.nv);
            let dot = |a: &[f64], x: &[f64]| a.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
            let force = h * mean_load(node, given.index, &self.load_0, &self.load_1, self.variable_load);
            let System::Lagrangian(s) = &mut node.system else { continue };
            let inner = dot(&given.w, &self.free[v0..v0 + n]) - dot(&given.w, &state.v[v0..v0 + n])
                + dot(&given.c, &state.v[v0..v0 + n])
                + dot(&given.k, &state.q[node.q0..node.q0 + n]);
            s.prescribed[given.prescription].reaction = inner - force - p[v0 + given.index];
        }
        self.r_old = p;
    }

    /// y, ẏ of all rows.
    pub(super) fn last_outputs(&self) -> (&[f64], &[f64]) {
        (&self.y, if self.first_order { &[] } else { &self.y_dot })
    }

    /// What the multipliers put into the states: `B λ`, or the impulses `Hᵀ P`.
    pub(super) fn inputs(&self, problem: &Problem, out: &mut [f64]) {
        out.fill(0.0);
        for i in 0..self.y.len() {
            let impulse = problem.r[i] * self.scale[i][1];
            self.b_t.row(i).for_each(|(j, b)| out[j] += b * impulse);
        }
    }
}

/// `θ F⁺ + (1−θ) F` of one degree of freedom; after the step `load_0` holds the end and `load_1` the start.
fn mean_load(node: &Node, index: usize, end: &[f64], start: &[f64], variable: bool) -> f64 {
    let (i, theta) = (node.v0 + index, node.theta());
    let start = if variable { start[i] } else { end[i] };
    theta * end[i] + (1.0 - theta) * start
}

fn load_of(node: &Node) -> Option<&Operator> {
    match &node.system {
        System::FirstOrder(s) => Some(&s.b),
        System::Lagrangian(s) => Some(&s.external),
        System::Body(_) => None,
    }
}

/// Adds the constant w g.
fn weigh(node: &Node, t: f64, place: &mut [f64]) -> Result<(), ClusterError> {
    let System::Lagrangian(s) = &node.system else { return Ok(()) };
    if s.weight.is_zero() {
        return Ok(());
    }
    let mut own = buffer(node.nv);
    node.weigh(s, &At::time(t), &mut own)?;
    place.iter_mut().zip(&own).for_each(|(f, w)| *f += w);
    Ok(())
}

/// b(t), or F_ext(t) and w g, of all nodes.
fn loads(nodes: &[Node], t: f64, out: &mut [f64]) -> Result<(), ClusterError> {
    for node in nodes {
        let Some(op) = load_of(node) else { continue };
        let place = &mut out[node.v0..node.v0 + node.nv];
        let first = matches!(node.system, System::FirstOrder(_));
        evaluate(op, 1, &At { z: node.parameters(), ..At::time(t) }, place, &node.name, if first { "b" } else { "F_ext" })?;
        weigh(node, t, place)?;
    }
    Ok(())
}

/// `e(t) + F Z` of all links.
fn offsets(links: &[Link], t: f64, out: &mut [f64]) -> Result<(), ClusterError> {
    for link in links {
        let y = &mut out[link.rows.clone()];
        let at = At { z: &link.z, ..At::time(t) };
        let f = match &link.relation {
            Relation::FirstOrderLinear(r) => {
                evaluate(&r.e, 1, &at, y, &link.name, "e")?;
                &r.f
            }
            Relation::LagrangianLinear(r) => {
                y.copy_from_slice(&r.e);
                &r.f
            }
            _ => continue,
        };
        if f.is_zero() || link.z.is_empty() {
            continue;
        }
        let n = link.z.len();
        let mut a = buffer(y.len() * n);
        evaluate(f, n, &at, &mut a, &link.name, "F")?;
        for (y, row) in y.iter_mut().zip(a.chunks_exact(n)) {
            *y += row.iter().zip(&link.z).map(|(a, z)| a * z).sum::<f64>();
        }
    }
    Ok(())
}
