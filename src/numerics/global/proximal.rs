//! Proximal point around a semismooth Newton method with the velocities as unknowns.
//!
//! ```text
//! outer   r_c ← r,  κ grows while it is easy
//! inner   r(v) by the law of Alart and Curnier:   x = r_c − (κ/D)(Hᵀ v + w)
//!           r_n = max(x_n, 0),   r_t = P_disc(μ r_n)(x_t)      other sets: r = P_K(x)
//!         0 = G(v) = M v − f − H r(v)
//!         (M + H K Hᵀ) Δv = −G,   K = −∂r/∂u,  nonsymmetric where a contact slips;   line search on |G|
//! ```
//!
//! At a fixed point of the outer loop r = r_c, which is Coulomb's law itself: no shift is left to iterate on. The matrix has
//! the bodies as unknowns, so redundant contacts cost a product each. An iteration costs one LU on a kept elimination tree.
//! Wins at a tight tolerance where contacts outnumber velocities; loses where a few contacts meet many velocities (reduce
//! then) and where thousands of contacts change between stick and slip. (Proximal point: Rockafellar 1976; Newton: Alart &
//! Curnier 1991; the proximal form on W: Acary, Brémond, Huber, RR-9118, 2018, PROX.)

use super::bodies::BodySpace;
use super::{GlobalProblem, GlobalSolver, Prepared, norm};
use crate::numerics::{Measure, ProblemError, Progress, Report, Status, Watch, admissible::AdmissibleSet};

/// Settings of the proximal Newton solver in body space (Siconos: `SICONOS_GLOBAL_FRICTION_3D_NSN_AC` under a proximal point).
///
/// ```
/// use drystone::numerics::{admissible::AdmissibleSet, global::{GlobalProblem, GlobalSolver, proximal::BodyNewton}};
/// use sprs::CsMat;
/// // a particle of 2 kg on a rough floor, pushed sideways harder than friction holds
/// let p = GlobalProblem {
///     mass: CsMat::eye(3).map(|x: &f64| 2.0 * x),
///     h: CsMat::eye(3),
///     f: vec![-4.0, 6.0, 0.0],
///     w: vec![0.0; 3],
///     offsets: vec![0, 3],
///     sets: vec![AdmissibleSet::Coulomb { mu: 0.5 }],
/// };
/// let (mut r, mut v, mut u) = ([0.0; 3], [0.0; 3], [0.0; 3]);
/// let report = BodyNewton::default().solve(&p, &mut r, &mut v, &mut u)?;
/// assert!(report.converged() && (r[1] + 2.0).abs() < 1e-6 && (v[1] - 2.0).abs() < 1e-6);
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyNewton {
    /// Stop when the error is at most this.
    pub tolerance: f64,
    /// Which error.
    pub measure: Measure,
    /// Budget of outer steps.
    pub max_outer: usize,
    /// Budget of Newton iterations of one outer step.
    pub max_inner: usize,
    /// First κ, in units of D⁻¹.
    pub penalty: f64,
}

impl Default for BodyNewton {
    fn default() -> Self {
        Self { tolerance: 1e-8, measure: Measure::default(), max_outer: 60, max_inner: 25, penalty: 10.0 }
    }
}

/// Smallest and largest κ.
const PENALTY: (f64, f64) = (0.1, 1e7);
/// Share of the starting |G| at which an inner solve ends, and counts as a success.
const INNER: (f64, f64) = (0.02, 0.2);
/// Outer steps without progress that end the solve.
const IDLE: usize = 12;

impl GlobalSolver for BodyNewton {
    fn solve_watched(
        &self,
        p: &GlobalProblem,
        r: &mut [f64],
        v: &mut [f64],
        u: &mut [f64],
        watch: &mut Watch,
    ) -> Result<Report, ProblemError> {
        let mut prepared = Prepared::new(p)?;
        let mut space = BodySpace::new(&prepared);
        Ok(self.run(&mut prepared, &mut space, r, v, u, watch))
    }
}

impl BodyNewton {
    /// Outer steps from `r` with what was prepared for the problem.
    pub(super) fn run(
        &self,
        prepared: &mut Prepared,
        space: &mut BodySpace,
        r: &mut [f64],
        v: &mut [f64],
        u: &mut [f64],
        watch: &mut Watch,
    ) -> Report {
        let mut report = Report { status: Status::BudgetSpent, ..Report::default() };
        let mut best = self.measure.of(&prepared.residual(r, v, u));
        let mut best_r = r.to_vec();
        let mut newton = Newton::new(prepared, space);
        newton.gather(space, v);
        let mut kappa = self.penalty;
        let (mut idle, mut outer) = (0, 0);
        while best > self.tolerance && outer < self.max_outer && idle < IDLE {
            outer += 1;
            newton.centre.copy_from_slice(r);
            let (iterations, success, go_on) = self.inner(&mut newton, prepared, space, kappa, best, report.iterations, watch);
            report.iterations += iterations;
            report.factorisations += iterations;
            r.copy_from_slice(&newton.r);
            let error = self.measure.of(&prepared.residual(r, v, u));
            idle = if error < 0.7 * best { 0 } else { idle + 1 };
            if error < best {
                best = error;
                best_r.copy_from_slice(r);
            }
            if success {
                kappa = (kappa
                    * if iterations <= 4 {
                        30.0
                    } else if iterations <= 8 {
                        5.0
                    } else {
                        1.5
                    })
                .min(PENALTY.1);
            } else {
                kappa = (kappa / 8.0).max(PENALTY.0);
                if error.is_nan() || error > 2.0 * best {
                    r.copy_from_slice(&best_r);
                    prepared.residual(r, v, u);
                    newton.gather(space, v);
                }
            }
            if !go_on {
                break;
            }
        }
        r.copy_from_slice(&best_r);
        let found = prepared.residual(r, v, u);
        if self.measure.of(&found) <= self.tolerance {
            report.status = Status::Converged;
        } else if idle >= IDLE {
            report.status = Status::Stalled;
        }
        Report { rel: found.rel, rel_q: found.rel_q, e_s: found.e_s, ..report }
    }

    /// Newton on the proximal problem from the velocities of `newton`: iterations, whether |G| fell far enough, whether to go on.
    fn inner(
        &self,
        newton: &mut Newton,
        p: &Prepared,
        space: &mut BodySpace,
        kappa: f64,
        error: f64,
        before: usize,
        watch: &mut Watch,
    ) -> (usize, bool, bool) {
        let start = newton.evaluate(p, space, kappa);
        let mut recent = [start; 3];
        let mut merit = start;
        let mut iterations = 0;
        newton.best_v.copy_from_slice(&newton.v);
        let mut best = start;
        while iterations < self.max_inner && best > INNER.0 * start {
            if !newton.step(p, space, kappa) {
                break;
            }
            iterations += 1;
            if !watch(Progress { iteration: before + iterations, error }) {
                return (iterations, false, false);
            }
            let reference = recent.iter().fold(0.0f64, |m, x| m.max(*x));
            newton.from.copy_from_slice(&newton.v);
            let mut t = 1.0;
            for halving in 0..=6 {
                for ((v, from), d) in newton.v.iter_mut().zip(&newton.from).zip(&newton.direction) {
                    *v = from + t * d;
                }
                merit = newton.evaluate(p, space, kappa);
                if merit <= (1.0 - 1e-3 * t) * reference || halving == 6 {
                    break;
                }
                t *= 0.5;
            }
            recent[iterations % 3] = merit;
            if merit < best {
                best = merit;
                newton.best_v.copy_from_slice(&newton.v);
            }
        }
        if merit > best || merit.is_nan() {
            newton.v.copy_from_slice(&newton.best_v);
            newton.evaluate(p, space, kappa);
        }
        (iterations, best <= INNER.1 * start, true)
    }
}

/// Vectors of Newton's method in body space.
struct Newton {
    centre: Vec<f64>,
    r: Vec<f64>,
    u: Vec<f64>,
    f: Vec<f64>,
    /// `1 / |M|` per unknown: the unit in which |G| is measured
    unit: Vec<f64>,
    v: Vec<f64>,
    from: Vec<f64>,
    best_v: Vec<f64>,
    g: Vec<f64>,
    direction: Vec<f64>,
}

impl Newton {
    fn new(p: &Prepared, space: &BodySpace) -> Self {
        let (rows, n) = (p.q.len(), space.order());
        let f: Vec<f64> = space.dofs.iter().map(|&k| p.problem.f[k as usize]).collect();
        let unit = space.diagonal().into_iter().map(|m| 1.0 / m.abs().max(f64::MIN_POSITIVE).sqrt()).collect();
        let [centre, r, u] = std::array::from_fn(|_| vec![0.0; rows]);
        let [v, from, best_v, g, direction] = std::array::from_fn(|_| vec![0.0; n]);
        Self { centre, r, u, f, unit, v, from, best_v, g, direction }
    }

    fn gather(&mut self, space: &BodySpace, v: &[f64]) {
        self.v.iter_mut().zip(&space.dofs).for_each(|(x, &k)| *x = v[k as usize]);
    }

    /// r and G at v; returns `|M^{-½} G|`.
    fn evaluate(&mut self, p: &Prepared, space: &BodySpace, kappa: f64) -> f64 {
        self.u.copy_from_slice(&p.problem.w);
        space.add_transposed_times(&self.v, &mut self.u);
        for (a, set) in p.problem.sets.iter().enumerate() {
            let range = p.problem.offsets[a]..p.problem.offsets[a + 1];
            let weight = kappa / p.weights[a];
            for k in range.clone() {
                self.r[k] = self.centre[k] - weight * self.u[k];
            }
            law(*set, &mut self.r[range]);
        }
        self.g.fill(0.0);
        space.add_times(&self.r, &mut self.g);
        self.g.iter_mut().zip(&self.f).for_each(|(g, f)| *g = -(*g + f));
        space.add_mass_times(&self.v, &mut self.g);
        self.direction.iter_mut().zip(&self.g).zip(&self.unit).for_each(|((d, g), unit)| *d = g * unit);
        norm(&self.direction)
    }

    /// Newton's direction; false when the matrix is singular.
    fn step(&mut self, p: &Prepared, space: &mut BodySpace, kappa: f64) -> bool {
        let (centre, u) = (&self.centre, &self.u);
        let mut x = Vec::new();
        let regular = space.factorise(|a, k| {
            let range = p.problem.offsets[a]..p.problem.offsets[a + 1];
            let weight = kappa / p.weights[a];
            x.clear();
            x.extend(range.map(|i| centre[i] - weight * u[i]));
            law_derivative(p.problem.sets[a], &x, k);
            k.iter_mut().for_each(|k| *k *= weight);
            k.iter().any(|k| *k != 0.0)
        });
        if regular {
            self.direction.iter_mut().zip(&self.g).for_each(|(d, g)| *d = -g);
            space.solve(&mut self.direction);
        }
        regular && self.direction.iter().all(|d| d.is_finite())
    }
}

/// The discs of a cone: `(slope, first row, end)`.
fn discs(set: AdmissibleSet, rows: usize) -> [Option<(f64, usize, usize)>; 2] {
    let half = rows / 2;
    match set {
        AdmissibleSet::Coulomb { mu } => [Some((mu, 1, rows)), None],
        AdmissibleSet::Rolling { mu, mu_r } => [Some((mu, 1, half + 1)), Some((mu_r, half + 1, rows))],
        _ => [None, None],
    }
}

/// `x_n ← max(x_n, 0)`, then the tangents onto the disc of the new x_n; other sets are projected on.
fn law(set: AdmissibleSet, x: &mut [f64]) {
    if !set.shifted() || x.is_empty() {
        return set.project(x);
    }
    x[0] = x[0].max(0.0);
    for (mu, first, end) in discs(set, x.len()).into_iter().flatten() {
        let (radius, length) = (mu * x[0], norm(&x[first..end]));
        if length > radius {
            x[first..end].iter_mut().for_each(|x| *x *= radius / length);
        }
    }
}

/// Derivative of [`law`] at x, row by row.
fn law_derivative(set: AdmissibleSet, x: &[f64], d: &mut [f64]) {
    let n = x.len();
    if !set.shifted() || n == 0 {
        return set.derivative(x, d);
    }
    d.fill(0.0);
    if x[0] <= 0.0 {
        return;
    }
    d[0] = 1.0;
    for (mu, first, end) in discs(set, n).into_iter().flatten() {
        let (radius, length) = (mu * x[0], norm(&x[first..end]));
        for i in first..end {
            if length <= radius {
                d[i * n + i] = 1.0;
                continue;
            }
            let ni = x[i] / length;
            d[i * n] = mu * ni;
            for j in first..end {
                d[i * n + j] = radius / length * (f64::from(u8::from(i == j)) - ni * x[j] / length);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_derivative_of_the_law_is_that_of_finite_differences() {
        for (set, x) in [
            (AdmissibleSet::Coulomb { mu: 0.5 }, vec![1.0, 2.0, -1.0]),
            (AdmissibleSet::Coulomb { mu: 0.5 }, vec![1.0, 0.2, -0.1]),
            (AdmissibleSet::Coulomb { mu: 0.5 }, vec![1.0, 0.9]),
            (AdmissibleSet::Rolling { mu: 0.5, mu_r: 0.1 }, vec![1.0, 0.2, -0.1, 0.3, 0.4]),
            (AdmissibleSet::SecondOrder { mu: 0.5 }, vec![1.0, 2.0, -1.0]),
        ] {
            let n = x.len();
            let mut d = vec![0.0; n * n];
            law_derivative(set, &x, &mut d);
            for j in 0..n {
                let (mut plus, mut minus) = (x.clone(), x.clone());
                plus[j] += 1e-6;
                minus[j] -= 1e-6;
                law(set, &mut plus);
                law(set, &mut minus);
                for i in 0..n {
                    assert!(((plus[i] - minus[i]) / 2e-6 - d[i * n + j]).abs() < 1e-8, "{set:?}");
                }
            }
        }
    }
}
