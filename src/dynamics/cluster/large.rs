//! Systems whose sparse matrices are too large to be multiplied out: one factorisation, two triangular solves a step.
//!
//! ```text
//! first order     Ŵ x_free = (M + h(1−θ)A) x + h [θ b⁺ + (1−θ) b] + h (1−γ) r                 Ŵ = M − hθA
//! second order    Ŵ (v_free − v) = −(hC + h²θK) v − hK q + h [θ F⁺ + (1−θ) F]                  Ŵ = M + hθC + h²θ²K
//! ```

use super::ClusterError;
use super::node::{Node, System};
use crate::algebra::envelope::Envelope;
use crate::algebra::rows::SparseRows;
use crate::model::integrator::Integrator;
use crate::model::operator::Operator;

/// Beyond this many unknowns sparse matrices stay sparse.
const LARGE: usize = 64;

/// The matrices of one node.
#[derive(Debug)]
pub(super) struct Large {
    pub(super) start: usize,
    pub(super) n: usize,
    first_order: bool,
    lu: Envelope,
    /// what multiplies v (or x) and q on the right
    on_v: SparseRows,
    on_q: SparseRows,
    /// weights of the load at the end and the start of the step, and of r
    weights: [f64; 3],
    /// degrees of freedom whose velocities are given
    pub(super) given: Vec<usize>,
    rhs: Vec<f64>,
}

type Entries = Vec<(usize, usize, f64)>;

fn entries(op: &Operator) -> Option<Entries> {
    match op {
        Operator::Zero => Some(Vec::new()),
        Operator::Diagonal(d) => Some(d.iter().enumerate().map(|(i, x)| (i, i, *x)).collect()),
        Operator::Sparse(entries) => Some(entries.clone()),
        Operator::Constant(_) | Operator::Function(_) => None,
    }
}

/// `Σ factor · A`, by rows and columns, values of one place added.
fn sum(terms: &[(f64, &Entries)]) -> Entries {
    let mut all: Entries = terms.iter().flat_map(|(f, a)| a.iter().map(move |&(i, j, x)| (i, j, f * x))).collect();
    all.sort_by_key(|e| (e.0, e.1));
    let mut out: Entries = Vec::new();
    for (i, j, x) in all {
        match out.last_mut() {
            Some(last) if (last.0, last.1) == (i, j) => last.2 += x,
            _ => out.push((i, j, x)),
        }
    }
    out
}

/// Rows 0 to n of the entries, on columns from `start`.
pub(super) fn rows(n: usize, start: usize, entries: &Entries) -> SparseRows {
    let mut m = SparseRows::new();
    let mut rest = entries.iter().peekable();
    for i in 0..n {
        let row: Vec<(usize, f64)> = std::iter::from_fn(|| rest.next_if(|e| e.0 == i)).map(|e| (start + e.1, e.2)).collect();
        m.push_row(row);
    }
    m
}

/// Row i of the entries, in full.
pub(super) fn full_row(n: usize, i: usize, entries: &Entries) -> Vec<f64> {
    let mut row = vec![0.0; n];
    entries.iter().filter(|e| e.0 == i).for_each(|e| row[e.1] += e.2);
    row
}

/// The rows of Ŵ, hC + h²θK and hK of a degree of freedom whose velocity is given.
pub(super) struct GivenRows {
    pub(super) w: Vec<f64>,
    pub(super) c: Vec<f64>,
    pub(super) k: Vec<f64>,
}

impl Large {
    /// The node in this form, where its matrices are large and sparse.
    pub(super) fn of(node: &Node, h: f64, t: f64) -> Result<Option<(Self, Vec<GivenRows>)>, ClusterError> {
        let n = node.nv;
        if n <= LARGE {
            return Ok(None);
        }
        let identity: Entries = (0..n).map(|i| (i, i, 1.0)).collect();
        let mut given_rows = Vec::new();
        let mut given = Vec::new();
        let (mut w, on_v, on_q, weights, first_order) = match (&node.system, &node.integrator) {
            (System::FirstOrder(s), Integrator::EulerMoreau { theta, gamma }) => {
                let (Some(a), Some(m)) = (entries(&s.a), entries(&s.m)) else { return Ok(None) };
                let m = if m.is_empty() { identity } else { m };
                let w = sum(&[(1.0, &m), (-h * theta, &a)]);
                (w, sum(&[(1.0, &m), (h * (1.0 - theta), &a)]), Vec::new(), [h * theta, h * (1.0 - theta), h * (1.0 - gamma)], true)
            }
            (System::Lagrangian(s), Integrator::MoreauJean { theta, .. }) => {
                let (Some(m), Some(c), Some(k)) = (entries(&s.mass), entries(&s.damping), entries(&s.stiffness)) else { return Ok(None) };
                let w = sum(&[(1.0, &m), (h * theta, &c), (h * h * theta * theta, &k)]);
                let (on_v, on_q) = (sum(&[(-h, &c), (-h * h * theta, &k)]), sum(&[(-h, &k)]));
                let negative = |row: Vec<f64>| row.into_iter().map(|x| -x).collect();
                for p in &s.prescribed {
                    given.push(p.index);
                    given_rows.push(GivenRows {
                        w: full_row(n, p.index, &w),
                        c: negative(full_row(n, p.index, &on_v)),
                        k: negative(full_row(n, p.index, &on_q)),
                    });
                }
                (w, on_v, on_q, [h * theta, h * (1.0 - theta), 0.0], false)
            }
            _ => return Ok(None),
        };
        w.retain(|e| !given.contains(&e.0));
        w.extend(given.iter().map(|&i| (i, i, 1.0)));
        let mut lu = Envelope::default();
        let pairs: Vec<(u32, u32)> = w.iter().filter(|e| e.0 != e.1).map(|e| (e.0 as u32, e.1 as u32)).collect();
        lu.set_pattern(n, &pairs);
        for &(i, j, x) in &w {
            if let Some(place) = lu.place(i, j) {
                lu.values_mut()[place] += x;
            }
        }
        if !lu.factorise() {
            let matrix = if first_order { "M − hθA" } else { "M + hθC + h²θ²K" };
            return Err(ClusterError::Singular { system: node.name.clone(), matrix, time: t });
        }
        let start = node.v0;
        let large =
            Self { start, n, first_order, lu, on_v: rows(n, start, &on_v), on_q: rows(n, start, &on_q), weights, given, rhs: vec![0.0; n] };
        Ok(Some((large, given_rows)))
    }

    /// Adds `v_free − v` (or `x_free`) of this node to `free`; `load` holds end and start, `v_given` the given velocities.
    pub(super) fn add_free(&mut self, q: &[f64], v: &[f64], load: [&[f64]; 2], r: &[f64], v_given: &[f64], free: &mut [f64]) {
        let place = self.start..self.start + self.n;
        for (i, rhs) in place.clone().zip(&mut self.rhs) {
            *rhs = self.weights[0] * load[0][i] + self.weights[1] * load[1][i] + self.weights[2] * r[i];
        }
        self.on_v.add_product(1.0, if self.first_order { q } else { v }, &mut self.rhs);
        self.on_q.add_product(1.0, q, &mut self.rhs);
        for &i in &self.given {
            self.rhs[i] = v_given[self.start + i] - v[self.start + i];
        }
        self.lu.solve(&mut self.rhs);
        free[place].iter_mut().zip(&self.rhs).for_each(|(f, x)| *f += x);
    }

    /// Replaces a generalised input (of all nodes) by the answer of this node.
    pub(super) fn respond(&mut self, column: &mut [f64], factor: f64) {
        let column = &mut column[self.start..self.start + self.n];
        self.given.iter().for_each(|&i| column[i] = 0.0);
        self.lu.solve(column);
        column.iter_mut().for_each(|x| *x *= factor);
    }

    /// What a multiplier is worth: h γ for first order, 1 for second.
    pub(super) fn response_factor(&self, node: &Node, h: f64) -> f64 {
        match node.integrator {
            Integrator::EulerMoreau { gamma, .. } => h * gamma,
            _ => 1.0,
        }
    }
}
