//! Equations that no motion fulfils, by elimination.
//!
//! ```text
//! A x + b = 0 has no solution        ⇔        some y has yᵀ A = 0, yᵀ b ≠ 0        the equations with y ≠ 0 contradict each other
//! ```

use super::link::{Level, Link};
use super::node::Node;
use super::{ClusterError, State};
use crate::model::law::Law;
use crate::model::relation::Relation;

/// More equations are not eliminated.
const ELIMINATED: usize = 300;
/// Below this a row of scale 1 is rounding.
const DEPENDENT: f64 = 1e-10;
/// What a combination of equations without unknowns asks for, in parts of the largest right-hand side, if it is no rounding.
const CONTRADICTS: f64 = 1e-6;

/// Those of m equations in n unknowns that contradict each other. `fill` writes equation k as `(a | b)`, n + 1 values, and gives the size
/// of the terms of b.
pub(super) fn find(m: usize, n: usize, mut fill: impl FnMut(usize, &mut [f64]) -> f64) -> Option<Vec<usize>> {
    if m > ELIMINATED {
        return None;
    }
    // (a | b | who takes part), each row to the scale 1 of a
    let width = n + 1 + m;
    let mut rows = vec![0.0; m * width];
    let mut scale = 0.0f64;
    for (k, row) in rows.chunks_exact_mut(width).enumerate() {
        let terms = fill(k, &mut row[..=n]);
        let size = row[..n].iter().fold(0.0f64, |s, x| s.max(x.abs()));
        let factor = if size > 0.0 { 1.0 / size } else { 1.0 };
        row.iter_mut().for_each(|x| *x *= factor);
        scale = scale.max(terms * factor);
        row[n + 1 + k] = 1.0;
    }
    let mut left: Vec<usize> = (0..m).collect();
    while !left.is_empty() {
        let largest = |r: usize| (0..n).map(|j| (rows[r * width + j].abs(), j)).fold((0.0, 0), |a, b| if b.0 > a.0 { b } else { a });
        let (at, (size, column)) =
            left.iter().map(|&r| largest(r)).enumerate().fold((0, (0.0, 0)), |a, b| if b.1.0 > a.1.0 { b } else { a });
        if size <= DEPENDENT {
            break;
        }
        let pivot = left.swap_remove(at);
        let solved = rows[pivot * width..(pivot + 1) * width].to_vec();
        for &r in &left {
            let factor = rows[r * width + column] / solved[column];
            (0..width).for_each(|j| rows[r * width + j] -= factor * solved[j]);
        }
    }
    let worst = left.into_iter().max_by(|&a, &b| rows[a * width + n].abs().total_cmp(&rows[b * width + n].abs()))?;
    let row = &rows[worst * width..(worst + 1) * width];
    (row[n].abs() > CONTRADICTS * scale).then(|| (0..m).filter(|k| row[n + 1 + k].abs() > DEPENDENT).collect())
}

/// The error that names the interactions of these rows.
pub(super) fn named(links: &[Link], rows: &[usize], t: f64) -> ClusterError {
    let interactions = links.iter().filter(|l| rows.iter().any(|r| l.rows.contains(r))).map(|l| l.name.clone()).collect();
    ClusterError::Contradiction { interactions, time: t }
}

/// Linear equalities `H q + e = 0` whose law is about the rate: that y cannot vanish in all of them would go unseen.
pub(super) fn at_start(nodes: &[Node], links: &[Link], state: &State, t: f64) -> Result<(), ClusterError> {
    let linear = |l: &&Link| l.law == Law::Equality && l.level == Level::Rate && l.nodes.iter().all(|&k| nodes[k].nq == nodes[k].nv);
    let rows: Vec<(&Link, &[f64], f64)> = links
        .iter()
        .filter(linear)
        .filter_map(|l| if let Relation::LagrangianLinear(r) = &l.relation { r.f.is_zero().then_some((l, r)) } else { None })
        .flat_map(|(l, r)| r.h.chunks_exact(r.h.len() / l.len()).zip(&r.e).map(move |(h, e)| (l, h, *e)))
        .collect();
    let found = find(rows.len(), state.q.len(), |k, out| {
        let (link, h, e) = rows[k];
        let (mut y, mut terms) = (e, e.abs());
        for (place, h) in link.states(nodes).zip(h) {
            out[place] += h;
            y += h * state.q[place];
            terms += (h * state.q[place]).abs();
        }
        out[state.q.len()] = y;
        terms
    });
    let Some(found) = found else { return Ok(()) };
    let rows: Vec<usize> = found.into_iter().map(|k| rows[k].0.rows.start).collect();
    Err(named(links, &rows, t))
}
