//! Lemke's complementary path, on a box, with free unknowns.
//!
//! ```text
//! w = M z + q + t d,   −w ∈ N_[l,u](z)       t from the least t₀ that makes the first basis feasible, along the path of
//!                                            almost complementary bases, until t = 0 (solved) or no basic variable blocks (ray)
//! ```
//!
//! An entering z may also reach its other bound, and then its own w enters: this is the normal-map homotopy that PATH follows,
//! which for an affine problem is a single path. Where z_k and then the z_j that it calls for make the first basis feasible without t, as in
//! a game of two players, the path misses the pair k instead, until z_k or w_k leaves. Free unknowns are made basic first, by complete pivoting, with two by two
//! pivots where the block of equations is singular; what is singular even so is made regular by proximal steps.
//!
//! - Cost: `2 n²` operations a pivot; from n/2 to 2n pivots on most problems, up to `2ⁿ − 1` on Murty's.
//! - Safe: rows and columns are equilibrated (powers of two), near ties (Harris) are broken by t first, then
//!   lexicographically, so that degenerate problems do not cycle, or, on the second try, by the size of the pivot; the final basis is factorised
//!   anew and refined; several covering vectors d are tried, then paths without t that miss one pair of labels.
//! - Wins: copositive-plus, P0, degenerate, n up to some hundreds. A ray proves nothing outside those classes: [`super::infeasibility`]
//!   does. Fails: some Q₀ matrices of mixed sign, where [`super::Enumeration`] or [`super::Newton`] finds a solution.
//! - Measured: a degenerate game of 40 unknowns (`lcp_tobenna`, where no other solver of the room arrives) 126 pivots, 0.25 ms; 65 equations
//!   and 156 pairs (`deltasigma`) 91 pivots, 3 ms. All but the infeasible one of 16 LCPs, 13 of 14 MLCPs, 5 of 5 relays of the collection.
//! - Source: Lemke 1965; Lemke and Howson 1964 (a missing pair); Cottle, Pang, Stone, *The Linear Complementarity Problem* (2009), §4.4; box form: Cao and Ferris 1996.

use super::basis::State;
use super::form::{Form, Scaling};
use super::tableau::{Tableau, Variable};
use super::{ComplementaritySolver, Outcome, Scratch, Status, Watch, proceed, stopping};
use crate::algebra::dense::dot;

/// Lemke's method (Siconos: `SICONOS_LCP_LEMKE`, `SICONOS_RELAY_LEMKE`, `SICONOS_LCP_PATH`'s path search).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lemke {
    /// Bound on `rel`.
    pub tolerance: f64,
    /// Pivots in all, over every covering vector.
    pub max_pivots: usize,
    /// Covering vectors to try: ones first, then others, fixed once and for all.
    pub coverings: usize,
    /// Proximal steps to try where the equations alone are singular or a path ends on a ray.
    pub proximal_steps: usize,
}

impl Default for Lemke {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_pivots: 20_000, coverings: 6, proximal_steps: 30 }
    }
}

/// How a path ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Solved,
    Ray,
    Budget,
    Stopped,
    Singular,
}

impl ComplementaritySolver for Lemke {
    fn tolerance(&self) -> f64 {
        self.tolerance
    }

    fn run(&self, form: &Form, z: &mut [f64], w: &mut [f64], scratch: &mut Scratch, watch: &mut Watch) -> Outcome {
        let mut outcome = Outcome { status: Status::Stalled, iterations: 0, factorisations: 0 };
        let n = form.order();
        let mut scaled = std::mem::take(&mut scratch.scaled);
        scratch.scaling.balance(form, &mut scaled);
        let mut best = std::mem::take(&mut scratch.vectors[7]);
        best.clear();
        best.extend_from_slice(z);
        form.output(z, w);
        let mut best_rel = stopping(form, z, w, self.tolerance, form.rel(z, w));
        let mut singular = false;
        for attempt in 0..self.coverings + self.coverings.min(n) {
            if best_rel <= self.tolerance {
                break;
            }
            // a path that cycles leaves something to the next
            let budget = self.max_pivots.saturating_sub(outcome.iterations).div_ceil(2);
            let found = match attempt.checked_sub(self.coverings) {
                None => Some(path(&mut scratch.tableau, &scaled, attempt, budget, outcome.iterations, watch)),
                Some(pair) => path_of_pair(&mut scratch.tableau, &scaled, pair, budget, outcome.iterations, watch),
            };
            let Some((end, pivots)) = found else { break };
            outcome.iterations += pivots;
            if end == End::Singular {
                singular = true;
                break;
            }
            let rel = settle(form, self.tolerance, scratch, z, w, &mut outcome, watch);
            if rel < best_rel {
                best_rel = rel;
                best.copy_from_slice(z);
            }
            if end == End::Stopped || outcome.iterations >= self.max_pivots {
                outcome.status = Status::BudgetSpent;
                break;
            }
        }
        if best_rel > self.tolerance && outcome.status != Status::BudgetSpent && (singular || self.proximal_steps > 0) {
            self.proximal(form, &mut scaled, &mut best, &mut best_rel, z, w, scratch, &mut outcome, watch);
        }
        z.copy_from_slice(&best[..n]);
        form.output(z, w);
        if best_rel <= self.tolerance {
            outcome.status = Status::Converged;
        }
        scratch.vectors[7] = best;
        scratch.scaled = scaled;
        outcome
    }
}

impl Lemke {
    /// Proximal point: `(M + ε I) z + q − ε z_k`, each by its own path, ε falling while the steps succeed.
    fn proximal(
        &self,
        form: &Form,
        scaled: &mut Form,
        best: &mut [f64],
        best_rel: &mut f64,
        z: &mut [f64],
        w: &mut [f64],
        scratch: &mut Scratch,
        outcome: &mut Outcome,
        watch: &mut Watch,
    ) {
        let n = form.order();
        let q = scaled.q.clone();
        let mut centre: Vec<f64> = (0..n).map(|i| scaled.origin(i)).collect();
        let mut epsilon = 1e-4;
        for _ in 0..self.proximal_steps {
            for i in 0..n {
                scaled.m[i * n + i] += epsilon;
                scaled.q[i] = q[i] - epsilon * centre[i];
            }
            let budget = self.max_pivots.saturating_sub(outcome.iterations);
            let (end, pivots) = path(&mut scratch.tableau, scaled, 0, budget, outcome.iterations, watch);
            outcome.iterations += pivots;
            for i in 0..n {
                scaled.m[i * n + i] -= epsilon;
            }
            if end == End::Stopped || outcome.iterations >= self.max_pivots {
                outcome.status = Status::BudgetSpent;
                break;
            }
            if end == End::Solved {
                scratch.tableau.point(&mut centre);
                (0..n).for_each(|i| z[i] = form.project(i, centre[i] * scratch.scaling.columns[i]));
                form.output(z, w);
                let rel = stopping(form, z, w, self.tolerance, form.rel(z, w));
                if rel < *best_rel {
                    *best_rel = rel;
                    best.copy_from_slice(z);
                }
            }
            let rel = settle(form, self.tolerance, scratch, z, w, outcome, watch);
            if rel < *best_rel {
                *best_rel = rel;
                best.copy_from_slice(z);
            }
            if *best_rel <= self.tolerance {
                break;
            }
            epsilon = if end == End::Solved { (epsilon * 0.3).max(1e-9) } else { epsilon * 10.0 };
        }
        scaled.q.copy_from_slice(&q);
    }
}

/// Brings the tableau's basis back to the true units: factorised anew where it is regular, as it stands where it is not.
fn settle(
    form: &Form,
    tolerance: f64,
    scratch: &mut Scratch,
    z: &mut [f64],
    w: &mut [f64],
    outcome: &mut Outcome,
    watch: &mut Watch,
) -> f64 {
    let Scratch { tableau, basis, states, scaling, .. } = scratch;
    tableau.states(states);
    outcome.factorisations += 1;
    let mut rel = f64::INFINITY;
    if basis.factor_while(form, states, &mut || proceed(watch, outcome.iterations, f64::INFINITY)) {
        rel = basis.answer(form, z, w);
        rel = stopping(form, z, w, tolerance, rel);
    }
    if rel > 1e-12 {
        let mut other = vec![0.0; z.len()];
        let mut output = vec![0.0; z.len()];
        tableau.point(&mut other);
        unscale(form, scaling, &mut other);
        form.output(&other, &mut output);
        let found = stopping(form, &other, &output, tolerance, form.rel(&other, &output));
        if found < rel {
            z.copy_from_slice(&other);
            w.copy_from_slice(&output);
            rel = found;
        }
    }
    rel
}

fn unscale(form: &Form, scaling: &Scaling, z: &mut [f64]) {
    z.iter_mut().enumerate().for_each(|(i, z)| *z = form.project(i, *z * scaling.columns[i]));
}

/// Entry r of the covering vector of an attempt: ones, the size of the row, the size of q, then a fixed irregular sequence.
fn covering(form: &Form, r: usize, attempt: usize) -> f64 {
    match attempt {
        0 | 1 => 1.0,
        2 => dot(form.row(r), form.row(r)).sqrt().max(1e-3),
        3 => form.q[r].abs().max(0.05),
        k => 0.1 + ((r * k) as f64 * 0.618_033_988_749_895).fract(),
    }
}

/// Follows one path; the tableau is left at its end.
pub(super) fn path(tableau: &mut Tableau, form: &Form, attempt: usize, budget: usize, before: usize, watch: &mut Watch) -> (End, usize) {
    let n = form.order();
    tableau.start(form);
    if !tableau.enter_free(form) {
        return (End::Singular, 0);
    }
    for r in 0..n {
        let (lower, upper) = range(form, tableau, tableau.rows[r]);
        let sign = f64::from(i8::from(lower.is_finite()) - i8::from(upper.is_finite()));
        tableau.cover(r, sign * covering(form, r, attempt));
    }
    let blocking = last_to_stand(tableau, form, n);
    let mut t = blocking.map_or(0.0, |(_, t)| t);
    // two-sided rows (from two by two pivots) are led back to their middle
    let mut two_sided = None;
    for r in 0..n {
        let (lower, upper) = range(form, tableau, tableau.rows[r]);
        let x = tableau.x[r];
        if lower.is_finite() && upper.is_finite() && (x < lower || x > upper) {
            if t == 0.0 {
                t = 1.0;
            }
            tableau.cover(r, (0.5 * (lower + upper) - x) / t);
            two_sided = Some(r);
        }
    }
    if blocking.is_none() && two_sided.is_none() {
        return (End::Solved, 0);
    }
    tableau.slide(n, t);
    // the variable that has just left; its complement enters
    let mut entering = n;
    let mut direction = -1.0;
    let mut value = t;
    if let Some((r, _)) = blocking {
        let leaving = tableau.rows[r];
        tableau.pivot(r, n, t);
        (entering, direction, value) = successor(form, tableau, leaving);
    }
    follow(tableau, form, Missing::Cover, (entering, direction, value), attempt, budget, before, watch)
}

/// What a path goes without until it leaves the basis.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Cover,
    /// complementarity of this pair
    Pair(usize),
}

impl Missing {
    /// Whether the path ends where this variable leaves.
    fn ends_with(self, v: Variable) -> bool {
        match self {
            Self::Cover => v == Variable::Cover,
            Self::Pair(k) => v == Variable::Z(k) || v == Variable::W(k),
        }
    }
}

/// The path that misses the pair k, from where z_k and then the z_j that it calls for make all rows feasible; `None` where they do not.
fn path_of_pair(tableau: &mut Tableau, form: &Form, k: usize, budget: usize, before: usize, watch: &mut Watch) -> Option<(End, usize)> {
    let n = form.order();
    if !(0..n).all(|i| form.lower[i].is_finite() && form.upper[i].is_infinite()) {
        return None;
    }
    tableau.start(form);
    let mut column = k;
    for pivots in 1..=2 {
        if (0..n).any(|r| tableau.at(r, column) < 0.0) {
            return None;
        }
        let (r, theta) = last_to_stand(tableau, form, column)?;
        let leaving = tableau.rows[r];
        let value = match tableau.columns[column] {
            Variable::Z(i) => tableau.resting[i],
            _ => 0.0,
        };
        tableau.slide(column, theta);
        tableau.pivot(r, column, value + theta);
        let stands = (0..n).all(|r| tableau.x[r] >= range(form, tableau, tableau.rows[r]).0);
        let next = successor(form, tableau, leaving);
        match (stands, Missing::Pair(k).ends_with(leaving)) {
            (true, true) => return Some((End::Solved, pivots)),
            (true, false) => {
                let (end, others) = follow(tableau, form, Missing::Pair(k), next, 0, budget, before + pivots, watch);
                return Some((end, pivots + others));
            }
            (false, true) => return None,
            (false, false) => column = next.0,
        }
    }
    None
}

/// The row that is the last to become feasible as the nonbasic variable of column c grows, and what that takes; of two rows that tie the one that the
/// lexicographic perturbation holds longest.
fn last_to_stand(tableau: &Tableau, form: &Form, c: usize) -> Option<(usize, f64)> {
    let mut last: Option<(usize, f64)> = None;
    for r in 0..tableau.n {
        let rate = tableau.at(r, c);
        let (lower, upper) = range(form, tableau, tableau.rows[r]);
        let violation = if rate > 0.0 { lower - tableau.x[r] } else { tableau.x[r] - upper };
        if rate == 0.0 || violation <= 0.0 || !violation.is_finite() {
            continue;
        }
        let needed = violation / rate.abs();
        let later = last.is_none_or(|(k, t)| {
            let tied = (needed - t).abs() <= 1e-14 * t;
            if tied { precedes(tableau, (k, -tableau.at(k, c)), (r, -rate)) } else { needed > t }
        });
        if later {
            last = Some((r, needed));
        }
    }
    last
}

/// Follows a path from the variable that enters (its column, direction and value) to its end.
fn follow(
    tableau: &mut Tableau,
    form: &Form,
    missing: Missing,
    (mut entering, mut direction, mut value): (usize, f64, f64),
    attempt: usize,
    budget: usize,
    before: usize,
    watch: &mut Watch,
) -> (End, usize) {
    for pivots in 1..=budget {
        let step = ratio_test(form, tableau, missing, entering, direction, attempt);
        let own = match tableau.columns[entering] {
            Variable::Z(i) => {
                if direction > 0.0 {
                    form.upper[i] - value
                } else {
                    value - form.lower[i]
                }
            }
            Variable::W(_) => f64::INFINITY,
            Variable::Cover => value,
        };
        let left = match missing {
            Missing::Cover => tableau.rows.iter().position(|&v| v == Variable::Cover).map_or(value, |r| tableau.x[r]),
            Missing::Pair(_) => f64::INFINITY,
        };
        if !proceed(watch, before + pivots, left) {
            return (End::Stopped, pivots);
        }
        let limit = step.map_or(f64::INFINITY, |(_, theta)| theta);
        if own.is_infinite() && limit.is_infinite() {
            tableau.ray = Some((entering, direction));
            return (End::Ray, pivots);
        }
        if own <= limit {
            tableau.slide(entering, direction * own);
            match tableau.columns[entering] {
                Variable::Z(i) => {
                    tableau.side[i] = if direction > 0.0 { State::Upper } else { State::Lower };
                    tableau.resting[i] = if direction > 0.0 { form.upper[i] } else { form.lower[i] };
                    let leaving = Variable::Z(i);
                    (entering, direction, value) = successor(form, tableau, leaving);
                    continue;
                }
                _ => return (End::Solved, pivots),
            }
        }
        let Some((r, theta)) = step else { return (End::Ray, pivots) };
        let leaving = tableau.rows[r];
        let rate = direction * tableau.at(r, entering);
        tableau.slide(entering, direction * theta);
        if let Variable::Z(i) = leaving {
            tableau.side[i] = if rate > 0.0 { State::Upper } else { State::Lower };
            tableau.resting[i] = if rate > 0.0 { form.upper[i] } else { form.lower[i] };
        }
        tableau.pivot(r, entering, value + direction * theta);
        if missing.ends_with(leaving) {
            return (End::Solved, pivots);
        }
        (entering, direction, value) = successor(form, tableau, leaving);
    }
    (End::Budget, budget)
}

/// Column, direction and value of the complement of the variable that has left.
fn successor(form: &Form, tableau: &Tableau, leaving: Variable) -> (usize, f64, f64) {
    let (next, direction, value) = match leaving {
        Variable::Z(i) => (Variable::W(i), if tableau.side[i] == State::Upper { -1.0 } else { 1.0 }, 0.0),
        Variable::W(i) => {
            let value = tableau.resting[i];
            let direction = match tableau.side[i] {
                State::Upper => -1.0,
                State::Lower => 1.0,
                // an equation that its own unknown could not enter: whichever way lowers t
                State::Basic => {
                    let cover = tableau.rows.iter().position(|&v| v == Variable::Cover);
                    let column = tableau.columns.iter().position(|&v| v == Variable::Z(i));
                    match (cover, column) {
                        (Some(r), Some(c)) if tableau.at(r, c) > 0.0 => -1.0,
                        _ => 1.0,
                    }
                }
            };
            (Variable::Z(i), direction, form.project(i, value))
        }
        Variable::Cover => (Variable::Cover, -1.0, 0.0),
    };
    (tableau.columns.iter().position(|&v| v == next).unwrap_or(tableau.n), direction, value)
}

/// Bounds of a variable while it is basic.
fn range(form: &Form, tableau: &Tableau, v: Variable) -> (f64, f64) {
    match v {
        Variable::Z(i) => (form.lower[i], form.upper[i]),
        Variable::Cover => (0.0, f64::INFINITY),
        Variable::W(i) if form.lower[i] == form.upper[i] => (f64::NEG_INFINITY, f64::INFINITY),
        Variable::W(i) => match tableau.side[i] {
            State::Lower => (0.0, f64::INFINITY),
            State::Upper => (f64::NEG_INFINITY, 0.0),
            State::Basic => (0.0, 0.0),
        },
    }
}

/// The row that blocks first and the step to it.
fn ratio_test(form: &Form, tableau: &Tableau, missing: Missing, entering: usize, direction: f64, attempt: usize) -> Option<(usize, f64)> {
    let n = tableau.n;
    let largest = (0..n).fold(0.0f64, |m, r| m.max(tableau.at(r, entering).abs()));
    let tiny = 1e-11 * largest.max(1e-3);
    let slack = |r: usize, rate: f64| {
        let (lower, upper) = range(form, tableau, tableau.rows[r]);
        let slack = if rate > 0.0 { upper - tableau.x[r] } else { tableau.x[r] - lower };
        slack.max(0.0)
    };
    // Harris: the least ratio with every bound widened a little
    let mut widest = f64::INFINITY;
    for r in 0..n {
        let rate = direction * tableau.at(r, entering);
        if rate.abs() > tiny {
            widest = widest.min((slack(r, rate) + 1e-12 * (1.0 + tableau.x[r].abs())) / rate.abs());
        }
    }
    if widest.is_infinite() {
        return None;
    }
    let mut best: Option<(usize, f64, f64)> = None;
    for r in 0..n {
        let rate = direction * tableau.at(r, entering);
        if rate.abs() <= tiny {
            continue;
        }
        let theta = slack(r, rate) / rate.abs();
        if theta > widest {
            continue;
        }
        if missing.ends_with(tableau.rows[r]) {
            return Some((r, theta));
        }
        let better = match best {
            None => true,
            Some((k, _, other)) => {
                if attempt == 1 && (rate.abs() > 1e3 * other.abs() || other.abs() > 1e3 * rate.abs()) {
                    rate.abs() > other.abs()
                } else {
                    precedes(tableau, (r, rate), (k, other))
                }
            }
        };
        if better {
            best = Some((r, theta, rate));
        }
    }
    best.map(|(r, theta, _)| (r, theta))
}

/// Lexicographic order of two ratios that tie: which row blocks first when q is perturbed by `(ε, ε², …)`.
fn precedes(tableau: &Tableau, (r, rate): (usize, f64), (k, other): (usize, f64)) -> bool {
    // entries below this are rounding of zeros
    let noise = 1e-11 * (1.0 / rate.abs() + 1.0 / other.abs());
    for j in 0..tableau.n {
        let a = -tableau.perturbation(r, j) / rate;
        let b = -tableau.perturbation(k, j) / other;
        let gap = a - b;
        if gap.abs() > noise + 1e-11 * (a.abs() + b.abs()) {
            return gap < 0.0;
        }
    }
    r < k
}
