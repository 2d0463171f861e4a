//! Rows of first order whose multiplier reaches their output through two integrations or more.
//!
//! ```text
//! M ẋ = A x + B λ,   y = C x        C M⁻¹ B = 0:   λ changes ÿ (or less), as a force does of a gap
//! ```
//!
//! A bound on y that is met at a speed asks for an impulse, which no such system states, and for a law of impact, which none of its laws has.
//! What the steps make of it is a matter of θ: with ½ the speed turns round, at an impact and where y should stay at its bound.

use super::link::Link;
use super::node::{Node, System};
use crate::algebra::factor::Lu;
use crate::model::operator::{At, Operator};
use crate::model::relation::Relation;
use crate::numerics::admissible::AdmissibleSet;

/// Part of its terms below which a sum is rounding.
const ROUNDING: f64 = 1e-12;

/// The first row of a link with constant matrices whose multiplier is without bound and so reaches y; none where matrices change.
pub(super) fn row(nodes: &[Node], link: &Link) -> Option<usize> {
    let Relation::FirstOrderLinear(r) = &link.relation else { return None };
    let of_first_order = |&k: &usize| if let System::FirstOrder(s) = &nodes[k].system { Some(s) } else { None };
    let systems: Vec<_> = link.nodes.iter().map(of_first_order).collect::<Option<_>>()?;
    if ![&r.c, &r.b, &r.d].into_iter().chain(systems.iter().map(|s| &s.m)).all(Operator::is_constant) {
        return None;
    }
    let (m, n) = (link.len(), systems.iter().map(|s| s.x.len()).sum::<usize>());
    let full = |op: &Operator, rows: usize, columns: usize| {
        let mut a = vec![0.0; rows * columns];
        op.matrix(&At::default(), columns, &mut a);
        a
    };
    let (c, b, d) = (full(&r.c, m, n), full(&r.b, n, m), full(&r.d, m, m));
    // M⁻¹ B, column by column
    let mut rates = vec![0.0; n * m];
    let mut start = 0;
    for system in systems {
        let k = system.x.len();
        let mut lu = Lu::default();
        let mass = full(&system.m, k, k);
        if !system.m.is_zero() && !lu.factor(k, |i, row| row.copy_from_slice(&mass[i * k..(i + 1) * k])) {
            return None;
        }
        for j in 0..m {
            let mut column: Vec<f64> = (start..start + k).map(|i| b[i * m + j]).collect();
            if !system.m.is_zero() {
                lu.solve(&mut column);
            }
            column.iter().zip(start..).for_each(|(x, i)| rates[i * m + j] = *x);
        }
        start += k;
    }
    let felt = |i: usize, j: usize| {
        let terms = (0..n).map(|k| c[i * n + k] * rates[k * m + j]);
        let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()));
        sum.abs() > ROUNDING * size
    };
    let unbounded = |set: AdmissibleSet| matches!(set, AdmissibleSet::Free | AdmissibleSet::NonNegative);
    let sets = link.sets().into_iter().flat_map(|(set, rows)| std::iter::repeat_n(set, rows));
    sets.enumerate().find_map(|(i, set)| {
        let seen = c[i * n..(i + 1) * n].iter().any(|c| *c != 0.0) && d[i * m..(i + 1) * m].iter().all(|d| *d == 0.0);
        (unbounded(set) && seen && !(0..m).any(|j| felt(i, j))).then_some(i)
    })
}
