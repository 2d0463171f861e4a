//! Every basis, one after the other.
//!
//! ```text
//! for each choice of Lower | Upper | Basic for the bounded unknowns:  solve the basis, accept it where all signs are right
//! singular bases: is there a z with M_BB z_B + … = 0, l ≤ z ≤ u and w of the right signs?  (a linear programme, or its Farkas proof;
//!                 an LCP of up to 8 unknowns by the vertices of its faces, see `vertices`)
//! ```
//!
//! The guess's own basis comes first. A complete search without a solution is a proof: `Inconsistent`.
//!
//! - Cost: `2ⁿ` (relays `3ⁿ`) factorisations of order up to n.
//! - Wins: very small problems of any class, and certainty. Fails: beyond `max_bases` it declines.
//! - Measured: `Buck2` (20 equations, 12 pairs) 21 bases, 0.12 ms; declines 40 and 156 pairs. 14 of 16 LCPs, 11 of 14 MLCPs.
//! - Source: Cottle, Pang, Stone (2009), §1.3; Murty 1988.

use super::basis::{Basis, State, state_of};
use super::feasibility::{Feasibility, Inequalities, face};
use super::form::Form;
use super::vertices::{self, Search};
use super::{ComplementaritySolver, Outcome, Scratch, Status, Watch, proceed, solved};

/// Enumeration of all complementary bases (Siconos: `SICONOS_LCP_ENUM`, `SICONOS_MLCP_ENUM`, `SICONOS_RELAY_ENUM`).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Enumeration {
    /// Bound on `rel`.
    pub tolerance: f64,
    /// Bases beyond which it declines (status `BudgetSpent`, nothing tried).
    pub max_bases: usize,
}

impl Default for Enumeration {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_bases: 1 << 22 }
    }
}

/// What the unknown may be.
fn choices(form: &Form, i: usize) -> &'static [State] {
    match (form.lower[i].is_finite(), form.upper[i].is_finite()) {
        _ if form.lower[i] == form.upper[i] => &[State::Lower],
        (false, false) => &[State::Basic],
        (true, false) => &[State::Lower, State::Basic],
        (false, true) => &[State::Upper, State::Basic],
        (true, true) => &[State::Lower, State::Basic, State::Upper],
    }
}

impl Enumeration {
    /// Number of bases of a problem, saturating.
    pub(crate) fn bases(form: &Form) -> usize {
        (0..form.order()).fold(1, |product, i| product.saturating_mul(choices(form, i).len()))
    }
}

/// Steps the states to the next combination, counting from `first`; false after the last one.
fn advance(form: &Form, first: &[State], states: &mut [State]) -> bool {
    for i in 0..states.len() {
        let all = choices(form, i);
        let at = all.iter().position(|s| *s == states[i]).unwrap_or(0);
        states[i] = all[(at + 1) % all.len()];
        if states[i] != first[i] {
            return true;
        }
    }
    false
}

/// rel, or ∞ where it is small only beside a large z.
fn error(form: &Form, z: &[f64], w: &[f64], tolerance: f64) -> f64 {
    let rel = form.rel(z, w);
    if rel <= tolerance && !solved(form, z, w, tolerance) || rel.is_nan() { f64::INFINITY } else { rel }
}

/// Growth of the terms of w over q from which on a basis counts as singular: its signs are then no proof.
const SINGULAR: f64 = 1e10;

/// Sets z and w to the point of a basis; false when the basis is singular, or so nearly that rounding decides.
fn regular(form: &Form, basis: &mut Basis, states: &[State], z: &mut [f64], w: &mut [f64]) -> bool {
    if !basis.factor(form, states) || !basis.answer(form, z, w).is_finite() {
        return false;
    }
    let q = form.q.iter().fold(0.0f64, |m, q| m.max(q.abs()));
    let bounds = form.lower.iter().chain(&form.upper).filter(|b| b.is_finite()).fold(0.0f64, |m, b| m.max(b.abs()));
    let (mut grown, mut m) = (0.0f64, 0.0f64);
    for i in 0..form.order() {
        form.row(i).iter().zip(z.iter()).for_each(|(x, z)| (grown, m) = (grown.max((x * z).abs()), m.max(x.abs())));
    }
    grown <= SINGULAR * q.max(m * bounds)
}

impl ComplementaritySolver for Enumeration {
    fn tolerance(&self) -> f64 {
        self.tolerance
    }

    fn exhaustive(&self) -> bool {
        true
    }

    fn run(&self, form: &Form, z: &mut [f64], w: &mut [f64], scratch: &mut Scratch, watch: &mut Watch) -> Outcome {
        let n = form.order();
        let Scratch { basis, states, vectors, scaling, scaled, .. } = scratch;
        let [best_z] = super::buffers(vectors, n);
        form.output(z, w);
        let mut best = error(form, z, w, self.tolerance);
        best_z.copy_from_slice(z);
        let mut outcome = Outcome { status: Status::BudgetSpent, iterations: 0, factorisations: 0 };
        if best <= self.tolerance || Self::bases(form) > self.max_bases {
            return outcome;
        }
        let first: Vec<State> = (0..n)
            .map(|i| {
                let all = choices(form, i);
                let guess = state_of(form, i, z[i], w[i]);
                if all.contains(&guess) { guess } else { all[0] }
            })
            .collect();
        let mut singular = 0;
        states.clear();
        states.extend_from_slice(&first);
        loop {
            outcome.iterations += 1;
            outcome.factorisations += 1;
            if regular(form, basis, states, z, w) {
                let rel = error(form, z, w, self.tolerance);
                if rel < best {
                    best = rel;
                    best_z.copy_from_slice(z);
                }
            } else {
                singular += 1;
            }
            if best <= self.tolerance {
                outcome.status = Status::Converged;
                break;
            }
            if !proceed(watch, outcome.iterations, best) {
                break;
            }
            if !advance(form, &first, states) {
                outcome.status = Status::Inconsistent;
                break;
            }
        }
        let search = if outcome.status == Status::Inconsistent && singular > 0 && vertices::apply_to(form) {
            scaling.balance(form, scaled);
            let good = |z: &[f64], w: &mut [f64]| {
                form.output(z, w);
                error(form, z, w, self.tolerance) <= self.tolerance
            };
            vertices::search(scaled, &scaling.columns, z, |z| good(z, w))
        } else {
            Search::Unsure
        };
        if search == Search::Found {
            best_z.copy_from_slice(z);
            outcome.status = Status::Converged;
        }
        if outcome.status == Status::Inconsistent && singular > 0 && search == Search::Unsure {
            let (mut signs, mut lower, mut upper) = (Vec::new(), Vec::new(), Vec::new());
            states.copy_from_slice(&first);
            loop {
                outcome.iterations += 1;
                if !regular(form, basis, states, z, w) {
                    face(form, states, &mut signs, &mut lower, &mut upper);
                    let system = Inequalities { m: &form.m, q: &form.q, lower: &lower, upper: &upper, signs: &signs };
                    match system.decide(&mut |_| true) {
                        Feasibility::Impossible(_) => {}
                        Feasibility::Unknown => outcome.status = Status::Stalled,
                        Feasibility::Point(point) => {
                            (0..n).for_each(|i| z[i] = form.project(i, point[i]));
                            form.output(z, w);
                            let rel = error(form, z, w, self.tolerance);
                            if rel < best {
                                best = rel;
                                best_z.copy_from_slice(z);
                            }
                            if best > self.tolerance {
                                outcome.status = Status::Stalled;
                            }
                        }
                    }
                }
                if best <= self.tolerance {
                    outcome.status = Status::Converged;
                    break;
                }
                if !proceed(watch, outcome.iterations, best) {
                    outcome.status = Status::BudgetSpent;
                    break;
                }
                if !advance(form, &first, states) {
                    break;
                }
            }
        }
        z.copy_from_slice(best_z);
        form.output(z, w);
        outcome
    }
}
