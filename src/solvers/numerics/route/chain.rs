//! Bounds on many rows: a primal–dual active-set iteration with a sparse factorisation.
//!
//! ```text
//! W_BB r_B = −q_B − W_BN r_N    the rows of N as identity, so that one envelope holds every basis
//! B ← rows that are inside their bounds, or whose u has the wrong sign       (Newton on the natural map)
//! ```

use super::bounds::Fallback;
use super::front::Front;
use super::plan::{Plan, Sums};
use super::{Ask, RoutedProblem, cones};
use crate::algebra::envelope::Envelope;
use crate::algebra::factor::Lu;
use crate::numerics::complementarity::State;
use crate::numerics::{Progress, Report, Status, Watch};

/// Active sets in which the wrong rows may fail to become fewer, before they are exchanged one at a time.
const PATIENCE: usize = 30;
/// The set that is all rows, where the ones before it led nowhere.
const FRONT: usize = 8;
/// Active sets in all.
const MOST: usize = 300;
/// Multiplications of a factorisation, in numbers of rows, up to which active sets are searched for before anything else.
const NARROW: usize = 200;
/// Numbers that the envelope may hold.
const MEMORY: usize = 20_000_000;
/// Share of its terms up to which what is left of a row's u is rounding.
const ROUNDING: f64 = 16.0 * f64::EPSILON;
/// Rows up to which dense matrices are worked with where the envelope has no pivot, or no active set is found.
const DENSE: usize = 400;

/// One revision: W by rows, the envelope, and where each entry of W stands in it.
#[derive(Debug, Default)]
pub(super) struct Chain {
    known: bool,
    pub(super) starts: Vec<usize>,
    pub(super) columns: Vec<u32>,
    pub(super) values: Vec<f64>,
    places: Vec<u32>,
    diagonal: Vec<u32>,
    /// the envelope is small enough
    narrow: bool,
    envelope: Envelope,
    /// the factors are those of `lu`
    dense: bool,
    lu: Lu,
    pub(super) active: Vec<bool>,
    pub(super) states: Vec<State>,
    /// the states whose matrix is factorised
    factored: Vec<bool>,
    before: Vec<State>,
    usable: bool,
    step: Vec<f64>,
    guess: Vec<f64>,
    pub(super) front: Front,
}

impl Chain {
    /// Drops the factorisation; the states of the last answer stay as a guess.
    pub(super) fn forget(&mut self) {
        self.known = false;
        self.usable = false;
    }

    #[cold]
    fn take(&mut self, p: &RoutedProblem) {
        let n = p.order();
        self.known = true;
        self.starts.clear();
        self.starts.push(0);
        self.columns.clear();
        self.values.clear();
        let mut put = |j: usize, x: f64, columns: &mut Vec<u32>| {
            if x != 0.0 {
                columns.push(j as u32);
                self.values.push(x);
            }
        };
        let w = &p.problem.w;
        for i in 0..w.block_count() {
            for k in 0..w.rows(i) {
                for (j, block) in w.row(i) {
                    let width = w.rows(j);
                    let row = &block[k * width..(k + 1) * width];
                    row.iter().enumerate().for_each(|(c, &x)| put(w.range(j).start + c, x, &mut self.columns));
                }
                self.starts.push(self.columns.len());
            }
        }
        let pairs: Vec<(u32, u32)> =
            (0..n).flat_map(|i| self.columns[self.starts[i]..self.starts[i + 1]].iter().map(move |&j| (i as u32, j))).collect();
        self.narrow = self.envelope.set_pattern(n, &pairs) <= MEMORY;
        self.places.clear();
        self.diagonal.clear();
        if self.narrow {
            // every pair of the pattern lies in the envelope
            self.places.extend(pairs.iter().map(|&(i, j)| self.envelope.place(i as usize, j as usize).unwrap_or(0) as u32));
            self.diagonal.extend((0..n).map(|i| self.envelope.place(i, i).unwrap_or(0) as u32));
        }
        if self.states.len() != n {
            self.states.clear();
            self.states.resize(n, State::Lower);
            self.active.clear();
            self.active.resize(n, false);
        }
        for values in [&mut self.step, &mut self.guess] {
            values.clear();
            values.resize(n, 0.0);
        }
        self.factored.clear();
        self.factored.resize(n, false);
        self.usable = false;
    }

    /// `u = W r + q`
    fn velocity(&self, q: &[f64], r: &[f64], u: &mut [f64]) {
        u.iter_mut().enumerate().for_each(|(i, u)| *u = self.row_velocity(i, q, r));
    }

    /// The same of one row.
    #[inline(always)]
    pub(super) fn row_velocity(&self, i: usize, q: &[f64], r: &[f64]) -> f64 {
        let row = self.starts[i]..self.starts[i + 1];
        q[i] + self.columns[row.clone()].iter().zip(&self.values[row]).map(|(&j, w)| w * r[j as usize]).sum::<f64>()
    }

    /// Active sets alone, under a watch, for a problem without a past whose W is narrow; sets, and factorisations. `None` where they end
    /// nowhere; r is not a solution then.
    pub(super) fn search(&mut self, ask: Ask, r: &mut [f64], u: &mut [f64], watch: &mut Watch) -> Option<(usize, usize)> {
        let Ask { plan, p, tolerance } = ask;
        self.take(p);
        if !self.narrow || self.envelope.operations() > (NARROW * r.len()) as f64 {
            return None;
        }
        plan.admit(p, r);
        self.velocity(&p.problem.q, r, u);
        self.start(plan, p, r);
        let mut factorisations = 0;
        self.iterate(plan, &p.problem.q, tolerance, r, u, &mut factorisations, Some(watch)).map(|sets| (sets, factorisations))
    }

    /// Improves r and sets u; every active block has bounds.
    #[inline(never)]
    pub(super) fn solve(&mut self, ask: Ask, bounds: &mut Fallback, r: &mut [f64], u: &mut [f64]) -> Report {
        let Ask { plan, p, tolerance } = ask;
        if !self.known {
            self.take(p);
        }
        plan.admit(p, r);
        self.guess.copy_from_slice(r);
        self.velocity(&p.problem.q, r, u);
        self.start(plan, p, r);
        if self.misfits(ask, r, u).next().is_none() {
            let report = self.report(plan, &p.problem.q, r, u, tolerance);
            if report.converged() {
                return report;
            }
        }
        let mut factorisations = 0;
        if self.narrow
            && let Some(iterations) = self.iterate(plan, &p.problem.q, tolerance, r, u, &mut factorisations, None)
        {
            let report = self.report(plan, &p.problem.q, r, u, tolerance);
            if report.converged() {
                return Report { iterations, factorisations, ..report };
            }
        }
        self.give_up(ask, bounds, r, u)
    }

    /// Which rows are active, and a state for each that was not active before.
    fn start(&mut self, plan: &Plan, p: &RoutedProblem, r: &[f64]) {
        for (i, &active) in p.active.iter().enumerate() {
            let rows = plan.offsets[i]..plan.offsets[i + 1];
            for (k, &r) in rows.clone().zip(&r[rows]) {
                let (lower, upper) = (plan.lower[k], plan.upper[k]);
                let kept = active && self.active[k];
                self.active[k] = active;
                let legal = match self.states[k] {
                    State::Lower => lower.is_finite(),
                    State::Upper => upper.is_finite(),
                    State::Basic => true,
                };
                if kept && legal {
                    continue;
                }
                self.states[k] = if !active {
                    State::Lower
                } else if r >= upper {
                    State::Upper
                } else if r > lower || p.problem.q[k] < 0.0 || lower == f64::NEG_INFINITY {
                    State::Basic
                } else {
                    State::Lower
                };
            }
        }
    }

    /// Rows at which r, inside its bounds, is no solution.
    fn misfits(&self, ask: Ask, r: &[f64], u: &[f64]) -> impl Iterator<Item = usize> {
        let Ask { plan, p, tolerance } = ask;
        let largest = r.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        (0..r.len()).filter(move |&i| {
            let slack = tolerance * (p.problem.q[i].abs() + plan.w_max[i] * largest);
            self.active[i] && (u[i] > slack && r[i] > plan.lower[i] || u[i] < -slack && r[i] < plan.upper[i])
        })
    }

    fn report(&self, plan: &Plan, q: &[f64], r: &[f64], u: &[f64], tolerance: f64) -> Report {
        let mut sums = Sums::default();
        for i in (0..r.len()).filter(|&i| self.active[i]) {
            sums.add_row(plan, i, q[i], r[i], u[i]);
        }
        sums.report(plan, tolerance)
    }

    /// Factorises the matrix of the states, unless it is that of the last time.
    fn factorise(&mut self, factorisations: &mut usize) -> bool {
        let same = self.states.iter().zip(&self.factored).all(|(s, f)| (*s == State::Basic) == *f);
        if self.usable && same {
            return true;
        }
        *factorisations += 1;
        self.factored.iter_mut().zip(&self.states).for_each(|(f, s)| *f = *s == State::Basic);
        let values = self.envelope.values_mut();
        values.fill(0.0);
        for i in 0..self.states.len() {
            if !self.factored[i] {
                values[self.diagonal[i] as usize] = 1.0;
                continue;
            }
            for k in self.starts[i]..self.starts[i + 1] {
                if self.factored[self.columns[k] as usize] {
                    values[self.places[k] as usize] = self.values[k];
                }
            }
        }
        // rows exchanged where the envelope has no pivot: zero diagonals, as equations have them
        self.dense = !self.envelope.factorise();
        self.usable = !self.dense || self.states.len() <= DENSE && self.factorise_dense();
        self.usable
    }

    #[cold]
    fn factorise_dense(&mut self) -> bool {
        let Self { lu, starts, columns, values, factored, .. } = self;
        lu.factor(factored.len(), |i, row| {
            row.fill(0.0);
            if !factored[i] {
                row[i] = 1.0;
                return;
            }
            for k in (starts[i]..starts[i + 1]).filter(|&k| factored[columns[k] as usize]) {
                row[columns[k] as usize] = values[k];
            }
        })
    }

    /// Goes from active set to active set until no row is wrong; the number of sets, `None` where that ends nowhere.
    fn iterate(
        &mut self,
        plan: &Plan,
        q: &[f64],
        tolerance: f64,
        r: &mut [f64],
        u: &mut [f64],
        factorisations: &mut usize,
        mut watch: Option<&mut Watch>,
    ) -> Option<usize> {
        let n = r.len();
        let (mut fewest, mut patience) = (usize::MAX, PATIENCE);
        let (fronts, mut moving) = (watch.is_some(), Vec::new());
        for iteration in 1..=MOST {
            if let Some(watch) = &mut watch
                && !watch(Progress {
                    iteration,
                    error: if iteration == 1 { f64::INFINITY } else { self.report(plan, q, r, u, tolerance).rel },
                })
            {
                return None;
            }
            if iteration == FRONT {
                // a front of closing contacts moves by one row a set; from all rows it shrinks by many
                self.before.clone_from(&self.states);
                (0..n).filter(|&i| self.active[i]).for_each(|i| self.states[i] = State::Basic);
            }
            if !self.factorise(factorisations) {
                if iteration != FRONT {
                    return None;
                }
                self.states.clone_from(&self.before);
                if !self.factorise(factorisations) {
                    return None;
                }
            }
            for (i, r) in r.iter_mut().enumerate() {
                *r = match self.states[i] {
                    _ if !self.active[i] => 0.0,
                    State::Lower => plan.lower[i],
                    State::Upper => plan.upper[i],
                    State::Basic => *r,
                };
            }
            // from the r that is there, so that a step of refinement is a step like any other
            let mut exact = false;
            for _ in 0..3 {
                self.velocity(q, r, u);
                let largest = r.iter().fold(0.0f64, |m, x| m.max(x.abs()));
                exact = true;
                for i in 0..n {
                    let basic = self.states[i] == State::Basic;
                    self.step[i] = if basic { -u[i] } else { 0.0 };
                    exact &= !basic || u[i].abs() <= ROUNDING * (q[i].abs() + plan.w_max[i] * largest);
                }
                if exact {
                    break;
                }
                if self.dense {
                    self.lu.solve(&mut self.step);
                } else {
                    self.envelope.solve(&mut self.step);
                }
                r.iter_mut().zip(&self.step).for_each(|(r, dr)| *r += dr);
            }
            if !exact {
                self.velocity(q, r, u);
            }
            let largest = r.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            if !largest.is_finite() {
                return None;
            }
            let (mut wrong, mut last) = (0, None);
            for i in (0..n).filter(|&i| self.active[i]) {
                if let Some(next) = self.next_state(plan, i, tolerance, largest, q[i], r[i], u[i]) {
                    wrong += 1;
                    if patience > 0 {
                        self.states[i] = next;
                    }
                    last = Some((i, next));
                }
            }
            if fronts && wrong > 0 && iteration > FRONT {
                moving.clear();
                moving.extend((0..n as u32).filter(|&i| (self.states[i as usize] == State::Basic) != self.factored[i as usize]));
                self.move_fronts(plan, q, tolerance, &mut moving, r, u);
            } else if wrong > 0 && patience > 0 {
                self.close_touching(plan, tolerance, largest, q, u);
            }
            if wrong == 0 {
                let mut moved = false;
                for i in (0..n).filter(|&i| self.active[i]) {
                    let inside = plan.project(i, r[i]);
                    moved |= inside != r[i];
                    r[i] = inside;
                }
                if moved {
                    self.velocity(q, r, u);
                }
                return Some(iteration);
            }
            if let (0, Some((i, next))) = (patience, last) {
                self.states[i] = next;
            }
            if wrong < fewest {
                (fewest, patience) = (wrong, PATIENCE);
            } else {
                // among many rows an exchange of one at a time leads nowhere
                patience = if fronts { patience } else { patience.saturating_sub(1) };
            }
        }
        None
    }

    /// Rows that rest on a bound without a push there join the basic ones: a blow runs through all of them at once.
    fn close_touching(&mut self, plan: &Plan, tolerance: f64, largest: f64, q: &[f64], u: &[f64]) {
        for i in (0..u.len()).filter(|&i| self.active[i] && !self.factored[i] && plan.lower[i] < plan.upper[i]) {
            if u[i].abs() <= tolerance * (q[i].abs() + plan.w_max[i] * largest) {
                self.states[i] = State::Basic;
            }
        }
    }

    /// The state to exchange to, where row i stands on the wrong side.
    pub(super) fn next_state(&self, plan: &Plan, i: usize, tolerance: f64, largest: f64, q: f64, r: f64, u: f64) -> Option<State> {
        let slack = tolerance * (q.abs() + plan.w_max[i] * largest);
        let held = plan.lower[i] >= plan.upper[i];
        match self.states[i] {
            State::Basic if r < plan.lower[i] - tolerance * largest => Some(State::Lower),
            State::Basic if r > plan.upper[i] + tolerance * largest => Some(State::Upper),
            State::Lower if u < -slack && !held => Some(State::Basic),
            State::Upper if u > slack && !held => Some(State::Basic),
            _ => None,
        }
    }

    /// No active set found: the general solvers, and the states of what they find.
    #[cold]
    fn give_up(&mut self, ask: Ask, bounds: &mut Fallback, r: &mut [f64], u: &mut [f64]) -> Report {
        let Ask { plan, p, tolerance } = ask;
        r.copy_from_slice(&self.guess);
        let mut status = Status::Stalled;
        if self.active.iter().filter(|a| **a).count() <= DENSE {
            status = bounds.solve(ask, r);
            plan.admit(p, r);
            self.velocity(&p.problem.q, r, u);
        }
        let mut report = self.report(plan, &p.problem.q, r, u, tolerance);
        if status == Status::Inconsistent {
            report.status = status;
        } else if status != Status::Converged || !report.converged() {
            if status == Status::Converged {
                // small beside a guess beyond measure
                r.fill(0.0);
            }
            report = cones::general(ask, 3, r, u);
        }
        for i in (0..r.len()).filter(|&i| self.active[i] && report.converged()) {
            self.states[i] = if r[i] >= plan.upper[i] {
                State::Upper
            } else if r[i] > plan.lower[i] {
                State::Basic
            } else {
                State::Lower
            };
        }
        report
    }
}
