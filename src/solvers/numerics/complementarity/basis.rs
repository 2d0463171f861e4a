//! A complementary basis: which unknowns sit on a bound and which have their row at zero.
//!
//! ```text
//! z_i = l_i or u_i  (i ∉ B)        M_BB z_B = −q_B − M_BN z_N        w = M z + q
//! ```
//!
//! One factorisation of `M_BB` answers every q; a problem whose basis has not changed costs one triangular solve and a check.

use super::form::Form;
use crate::algebra::dense::dot;
use crate::algebra::factor::Lu;

/// Where an unknown stands in a basis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    /// At its lower bound, w ≥ 0.
    Lower,
    /// At its upper bound, w ≤ 0.
    Upper,
    /// Between its bounds, w = 0.
    Basic,
}

/// The state that `z − w` points to: the active set of the natural map.
pub(super) fn state_of(form: &Form, i: usize, z: f64, w: f64) -> State {
    if form.is_free(i) {
        State::Basic
    } else if z - w <= form.lower[i] {
        State::Lower
    } else if z - w >= form.upper[i] {
        State::Upper
    } else {
        State::Basic
    }
}

/// States with the factor of `M_BB`.
#[derive(Clone, Debug, Default)]
pub(super) struct Basis {
    pub(super) states: Vec<State>,
    /// the last factorisation succeeded
    pub(super) regular: bool,
    members: Vec<usize>,
    lu: Lu,
    rhs: Vec<f64>,
}

impl Basis {
    /// Factorises `M_BB` of these states; false when it is singular to rounding.
    pub(super) fn factor(&mut self, form: &Form, states: &[State]) -> bool {
        self.factor_while(form, states, &mut || true)
    }

    /// The same, as long as `go_on` says so.
    pub(super) fn factor_while(&mut self, form: &Form, states: &[State], go_on: &mut dyn FnMut() -> bool) -> bool {
        self.states.clear();
        self.states.extend_from_slice(states);
        self.members.clear();
        self.members.extend((0..states.len()).filter(|&i| states[i] == State::Basic));
        let members = &self.members;
        let row = |k: usize, row: &mut [f64]| {
            let m = form.row(members[k]);
            row.iter_mut().zip(members).for_each(|(x, &j)| *x = m[j]);
        };
        self.regular = self.lu.factor_while(members.len(), row, go_on);
        self.regular
    }

    /// z of the basis (not yet inside its bounds) and `w = M z + q`, with one step of iterative refinement.
    pub(super) fn point(&mut self, form: &Form, z: &mut [f64], w: &mut [f64]) {
        for (i, state) in self.states.iter().enumerate() {
            match state {
                State::Lower => z[i] = form.lower[i],
                State::Upper => z[i] = form.upper[i],
                State::Basic => z[i] = 0.0,
            }
        }
        for _ in 0..2 {
            self.rhs.clear();
            self.rhs.extend(self.members.iter().map(|&i| -form.q[i] - dot(form.row(i), z)));
            self.lu.solve(&mut self.rhs);
            self.members.iter().zip(&self.rhs).for_each(|(&i, dz)| z[i] += dz);
        }
        form.output(z, w);
    }

    /// [`point`](Self::point), moved inside its bounds; returns rel there.
    pub(super) fn answer(&mut self, form: &Form, z: &mut [f64], w: &mut [f64]) -> f64 {
        self.point(form, z, w);
        let mut moved = false;
        for (i, z) in z.iter_mut().enumerate() {
            let inside = form.project(i, *z);
            moved |= inside != *z;
            *z = inside;
        }
        if moved {
            form.output(z, w);
        }
        let rel = form.rel(z, w);
        if rel.is_finite() { rel } else { f64::INFINITY }
    }
}

/// How many bases a [`Cache`] keeps.
const KEPT: usize = 4;

/// The bases that solved the last problems of one matrix, the latest first.
#[derive(Debug, Default)]
pub(super) struct Cache {
    m: Vec<f64>,
    kept: Vec<Basis>,
    factored: Vec<bool>,
}

impl Cache {
    /// Tries the kept bases; true when one of them solves the problem to `tolerance`, which is then in z and w.
    pub(super) fn solve(&mut self, form: &Form, tolerance: f64, z: &mut [f64], w: &mut [f64], factorisations: &mut usize) -> bool {
        if self.m != form.m {
            self.m.clone_from(&form.m);
            self.factored.fill(false);
        }
        for k in 0..self.kept.len() {
            let basis = &mut self.kept[k];
            let legal = |(i, s): (usize, &State)| match s {
                State::Lower => form.lower[i].is_finite(),
                State::Upper => form.upper[i].is_finite(),
                State::Basic => true,
            };
            if basis.states.len() != form.order() || !basis.states.iter().enumerate().all(legal) {
                continue;
            }
            if !self.factored[k] {
                *factorisations += 1;
                let states = std::mem::take(&mut basis.states);
                self.factored[k] = basis.factor(form, &states);
                if !self.factored[k] {
                    basis.states = states;
                    continue;
                }
            }
            if basis.answer(form, z, w) <= tolerance {
                self.kept[..=k].rotate_right(1);
                self.factored[..=k].rotate_right(1);
                return true;
            }
        }
        false
    }

    /// Remembers a basis, factorised with this form, in the place of the oldest.
    pub(super) fn keep(&mut self, form: &Form, basis: &Basis) {
        if self.m != form.m {
            self.m.clone_from(&form.m);
            self.factored.fill(false);
        }
        if self.kept.len() < KEPT {
            self.kept.push(Basis::default());
            self.factored.push(false);
        }
        self.kept.rotate_right(1);
        self.factored.rotate_right(1);
        self.kept[0].clone_from(basis);
        self.factored[0] = true;
    }
}
