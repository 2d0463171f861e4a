//! The dictionary of a complementary pivoting method: basic variables as affine functions of the nonbasic ones.
//!
//! ```text
//! x_B = T x_N + t d        variables z_0 … z_{n−1}, w_0 … w_{n−1} and the covering variable t (last column)
//! ```

use super::basis::State;
use super::form::Form;
use crate::algebra::dense::dot;

/// A variable of the dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variable {
    Z(usize),
    W(usize),
    Cover,
}

/// The dictionary and the values of all variables.
#[derive(Clone, Debug, Default)]
pub(super) struct Tableau {
    pub(super) n: usize,
    /// T, n rows of n + 1 columns
    t: Vec<f64>,
    pub(super) rows: Vec<Variable>,
    pub(super) columns: Vec<Variable>,
    /// values of the basic variables
    pub(super) x: Vec<f64>,
    /// values of z while it is nonbasic, and the side on which it was last
    pub(super) resting: Vec<f64>,
    pub(super) side: Vec<State>,
    /// column of w_j, or `n + 1 + row` where it is basic
    place: Vec<usize>,
    pivot_row: Vec<f64>,
    /// column and direction of the ray on which a path ended
    pub(super) ray: Option<(usize, f64)>,
}

impl Tableau {
    /// All w basic, all z at their bound nearest 0 (free ones at 0), the column of t zero.
    pub(super) fn start(&mut self, form: &Form) {
        let n = form.order();
        self.n = n;
        self.ray = None;
        self.t.clear();
        for i in 0..n {
            self.t.extend_from_slice(form.row(i));
            self.t.push(0.0);
        }
        self.rows.clear();
        self.rows.extend((0..n).map(Variable::W));
        self.columns.clear();
        self.columns.extend((0..n).map(Variable::Z).chain([Variable::Cover]));
        self.side.clear();
        self.side.extend((0..n).map(|i| match (form.lower[i], form.upper[i]) {
            (f64::NEG_INFINITY, f64::INFINITY) => State::Basic,
            (l, u) if l.is_finite() && (u.is_infinite() || l.abs() <= u.abs()) => State::Lower,
            _ => State::Upper,
        }));
        self.resting.clear();
        self.resting.extend((0..n).map(|i| match self.side[i] {
            State::Lower => form.lower[i],
            State::Upper => form.upper[i],
            State::Basic => 0.0,
        }));
        self.x.clear();
        self.x.extend((0..n).map(|i| form.q[i] + dot(form.row(i), &self.resting)));
        self.place.clear();
        self.place.extend((0..n).map(|i| n + 1 + i));
    }

    pub(super) fn at(&self, r: usize, c: usize) -> f64 {
        self.t[r * (self.n + 1) + c]
    }

    /// Sets the covering column.
    pub(super) fn cover(&mut self, r: usize, d: f64) {
        let n = self.n;
        self.t[r * (n + 1) + n] = d;
    }

    /// Moves the nonbasic variable of column c by θ: the basic ones follow.
    pub(super) fn slide(&mut self, c: usize, theta: f64) {
        let width = self.n + 1;
        self.x.iter_mut().zip(self.t.chunks_exact(width)).for_each(|(x, row)| *x += row[c] * theta);
    }

    /// Exchanges the variable of row r with that of column c, whose value becomes `value`.
    pub(super) fn pivot(&mut self, r: usize, c: usize, value: f64) {
        let width = self.n + 1;
        let inverse = 1.0 / self.at(r, c);
        self.pivot_row.clear();
        self.pivot_row.extend(self.t[r * width..(r + 1) * width].iter().map(|x| -x * inverse));
        self.pivot_row[c] = inverse;
        for (k, row) in self.t.chunks_exact_mut(width).enumerate() {
            if k == r {
                row.copy_from_slice(&self.pivot_row);
                continue;
            }
            let factor = row[c];
            if factor != 0.0 {
                row[c] = 0.0;
                row.iter_mut().zip(&self.pivot_row).for_each(|(x, p)| *x += factor * p);
            }
        }
        std::mem::swap(&mut self.rows[r], &mut self.columns[c]);
        self.x[r] = value;
        if let Variable::W(j) = self.rows[r] {
            self.place[j] = width + r;
        }
        if let Variable::W(j) = self.columns[c] {
            self.place[j] = c;
        }
    }

    /// Coefficient of `ε_j` in the basic variable of row r when q is perturbed to `q + Σ ε_j e_j`: the lexicographic rule's
    /// tie-breaker.
    pub(super) fn perturbation(&self, r: usize, j: usize) -> f64 {
        let place = self.place[j];
        if place > self.n { f64::from(u8::from(place == self.n + 1 + r)) } else { -self.at(r, place) }
    }

    /// The states of the dictionary's basis.
    pub(super) fn states(&self, states: &mut Vec<State>) {
        states.clear();
        states.extend_from_slice(&self.side);
        for row in &self.rows {
            if let Variable::Z(i) = *row {
                states[i] = State::Basic;
            }
        }
    }

    /// The z of the dictionary.
    pub(super) fn point(&self, z: &mut [f64]) {
        z.copy_from_slice(&self.resting);
        for (row, x) in self.rows.iter().zip(&self.x) {
            if let Variable::Z(i) = *row {
                z[i] = *x;
            }
        }
    }

    /// Makes as many free unknowns basic as the matrix allows; false when some row of an equation is left unsatisfied.
    ///
    /// Complete pivoting among the equations first; an unknown whose equation has no pivot left enters together with a
    /// bounded one (a two by two pivot).
    pub(super) fn enter_free(&mut self, form: &Form) -> bool {
        let n = self.n;
        let free = |v: Variable| match v {
            Variable::Z(i) | Variable::W(i) => form.is_free(i),
            Variable::Cover => false,
        };
        let largest = form.m.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let tiny = 1e-11 * largest;
        loop {
            let (mut best, mut at) = (tiny, None);
            for r in (0..n).filter(|&r| matches!(self.rows[r], Variable::W(_)) && free(self.rows[r])) {
                for c in (0..n).filter(|&c| matches!(self.columns[c], Variable::Z(_)) && free(self.columns[c])) {
                    if self.at(r, c).abs() > best {
                        (best, at) = (self.at(r, c).abs(), Some((r, c)));
                    }
                }
            }
            let Some((r, c)) = at else { break };
            self.exchange(r, c);
        }
        for r in 0..n {
            let (Variable::W(i), true) = (self.rows[r], free(self.rows[r])) else { continue };
            let Some(column) = (0..n).find(|&c| matches!(self.columns[c], Variable::Z(_)) && free(self.columns[c])) else { break };
            let (mut best, mut at) = (tiny * tiny, None);
            for s in 0..n {
                let (Variable::W(j), false) = (self.rows[s], free(self.rows[s])) else { continue };
                let Some(partner) = self.columns.iter().position(|&v| v == Variable::Z(j)) else { continue };
                let size = (self.at(s, column) * self.at(r, partner)).abs();
                if size > best {
                    (best, at) = (size, Some((s, partner)));
                }
            }
            if let Some((s, partner)) = at {
                self.exchange(s, column);
                self.exchange(r, partner);
            } else if self.x[r].abs() > 1e-9 * form.q[i].abs().max(1.0) {
                return false;
            }
        }
        true
    }

    /// A pivot that brings the variable of row r to zero.
    fn exchange(&mut self, r: usize, c: usize) {
        let theta = -self.x[r] / self.at(r, c);
        let start = match self.columns[c] {
            Variable::Z(i) => self.resting[i],
            _ => 0.0,
        };
        self.slide(c, theta);
        self.pivot(r, c, start + theta);
    }
}
