//! Equilibrium without time: are there admissible reactions that carry a load?
//!
//! ```text
//! Hᵀ r + f = 0,   r ∈ K                        admissible: the structure can stand (safe theorem)
//! u = H v ∈ K*,   f·v > 0                      or else a mechanism along which the load does work (kinematic theorem)
//! ```
//!
//! Exactly one of the two holds (Farkas' lemma for closed cones, up to the edge between them), and either is a proof that can be checked by
//! itself. For Coulomb's cone K* is that of associated sliding, `u_n ≥ μ‖u_t‖`: where blocks slide, a mechanism of the true law need not
//! exist, and reactions that could carry the load need not come about (Drucker 1954); where they only rock, both theorems are exact. Bounded sets
//! add their support function to the work.
//!
//! ```text
//! K = {−T ≤ r_n ≤ P, ‖r_t‖ ≤ C + μ r_n}        a point of a joint with [`Limits`]: Mohr and Coulomb's law with cut-offs
//! ```
//!
//! A point that breaks holds nothing any more, but here each one bears all of its strength however far it has gone: softening is not seen. Where
//! one joint after another breaks, structures fall below this limit. Second-order cone programs of Krabbenhøft, Lyamin and Sloan (2007), solved by
//! Clarabel (Goulart & Chen 2024); one sparse factorisation an iteration, so thousands of blocks are fine.

use super::ProblemError;
use super::admissible::AdmissibleSet;
use super::global::GlobalProblem;
use super::hyperstatic::Interval;
pub use super::limits::Limits;
use super::matrices::Global;
use crate::algebra::dense::{dot, norm};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};
use sprs::{CsMat, TriMat};

/// Largest error of a proof that counts as one: of equilibrium in parts of the load, of a mechanism in parts of its velocities.
pub const PROOF: f64 = 1e-6;

/// Rates, in parts of the largest velocity, below which what lies outside K* is judged by that velocity.
const STILL: f64 = 1e-2;

/// Rows of a step that belong together, and what they bear.
///
/// ```
/// use drystone::numerics::{admissible::AdmissibleSet, statics::{Limits, StepRows}};
/// let contact = StepRows { rows: 3..6, set: AdmissibleSet::Coulomb { mu: 0.7 }, limits: Limits::default() };
/// assert_eq!(contact.rows.len(), 3);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct StepRows {
    /// Which rows of the step.
    pub rows: std::ops::Range<usize>,
    /// Set of their impulses.
    pub set: AdmissibleSet,
    /// What a contact bears beside it, in forces.
    pub limits: Limits,
}

/// Rows, sets and load of a structure.
///
/// A block of 10 N on two feet; a third of its weight pushes it sideways.
///
/// ```
/// use drystone::numerics::{admissible::AdmissibleSet, statics::{Statics, Verdict}};
/// use sprs::TriMat;
/// // velocities x, z and the turn about the middle of a base 2 m wide; centre 1 m above it; rows (n, t) of each foot
/// let mut h = TriMat::new((4, 3));
/// for (row, at) in [(0, -1.0), (2, 1.0)] {
///     h.add_triplet(row, 1, 1.0);
///     h.add_triplet(row, 2, at);
///     h.add_triplet(row + 1, 0, 1.0);
///     h.add_triplet(row + 1, 2, 1.0);
/// }
/// let of = |mu| Statics::new(h.to_csr(), vec![0, 2, 4], vec![AdmissibleSet::Coulomb { mu }; 2], vec![1.0; 3], vec![3.3, -10.0, 0.0]);
/// let stands = of(0.5)?.solve();
/// assert_eq!(stands.verdict, Verdict::Admissible);
/// assert!((stands.reactions[0] + stands.reactions[2] - 10.0).abs() < 1e-6);
/// let slides = of(0.3)?.solve();
/// assert_eq!(slides.verdict, Verdict::Mechanism);
/// assert!(slides.velocities[0] > 0.0 && slides.work > 0.0);
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Statics {
    /// rows × dof
    h: CsMat<f64>,
    offsets: Vec<usize>,
    sets: Vec<AdmissibleSet>,
    /// One per block.
    limits: Vec<Limits>,
    force: Vec<f64>,
    /// One per velocity: what makes forces and moments comparable, `1/√M`.
    scale: Vec<f64>,
    /// One per block: reactions are `weight · x`.
    weight: Vec<f64>,
    /// Norm of the scaled load.
    size: f64,
}

/// What was found about a structure.
///
/// ```
/// use drystone::numerics::statics::Verdict;
/// assert_ne!(Verdict::Admissible, Verdict::Mechanism);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// There are admissible reactions in equilibrium with the load.
    Admissible,
    /// There are none: a mechanism gains work.
    Mechanism,
    /// Neither could be proved: the load is within rounding of the limit.
    Undecided,
}

/// A verdict and its proof.
///
/// ```
/// use drystone::numerics::statics::{Answer, Verdict};
/// let nothing = Answer { verdict: Verdict::Undecided, reactions: vec![], velocities: vec![], work: 0.0, error: 1.0 };
/// assert!(nothing.error > drystone::numerics::statics::PROOF);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Which of the two it is.
    pub verdict: Verdict,
    /// Admissible reactions of least norm, each block in the scale of its rows (the trace of `H M⁻¹ Hᵀ` there, whatever its axes); zero where
    /// there are none.
    pub reactions: Vec<f64>,
    /// The mechanism, its largest scaled velocity 1; zero where there is none.
    pub velocities: Vec<f64>,
    /// Work of the load on the mechanism less what bounded reactions take up, `f·v − Σ sup_K(−r·u)`.
    pub work: f64,
    /// Of the proof, recomputed: `|Hᵀr + f|/|f|` of reactions that lie in K exactly, or the distance of u from K* over |u| (a hundredth at least, where the largest
    /// scaled velocity is 1).
    pub error: f64,
}

/// What a program looks for.
///
/// ```text
/// least, extreme   min ½|x|² or cᵀx   over  S Hᵀ D x = −S f/|S f|              no solution, or one: a proof either way
/// nearest          min |S Hᵀ D x + S f/|S f||                                  always one, and its dual the mechanism
/// ```
///
/// Near a limit the first two give neither proof: an arch that slides was undecided over 8e-5 of its thickness, a dome and a groin vault over 1.2e-4. The
/// distance of the load from what can be carried is a sound number on both sides, and leaves 2e-6 (`tests/scenes/limits.rs`).
#[derive(Clone, Copy, Debug)]
enum Aim<'a> {
    Least,
    Extreme(&'a [f64]),
    Nearest,
}

impl Aim<'_> {
    /// Rows, and unknowns, that it has beside those of equilibrium.
    fn first(self) -> usize {
        usize::from(matches!(self, Self::Nearest))
    }
}

impl Statics {
    /// A structure; `mass` holds one positive number a velocity, which makes forces and moments comparable (its mass or moment of inertia).
    ///
    /// # Errors
    /// Sizes that do not agree, numbers that are not finite, sets that are not valid.
    pub fn new(
        h: CsMat<f64>,
        offsets: Vec<usize>,
        sets: Vec<AdmissibleSet>,
        mass: Vec<f64>,
        force: Vec<f64>,
    ) -> Result<Self, ProblemError> {
        let h = h.to_csr();
        let dof = h.cols();
        super::local::size("force", force.len(), dof, "one per velocity")?;
        super::local::size("mass", mass.len(), dof, "one per velocity")?;
        // sizes, sets and numbers are checked as those of any one-step problem
        GlobalProblem {
            mass: CsMat::eye(dof),
            h: h.transpose_view().to_owned(),
            f: force.clone(),
            w: vec![0.0; h.rows()],
            offsets: offsets.clone(),
            sets: sets.clone(),
        }
        .validate()?;
        let scale: Vec<f64> = mass.iter().map(|m| if *m > 0.0 { 1.0 / m.sqrt() } else { 1.0 }).collect();
        super::local::finite("mass", &scale)?;
        let length = |row: usize| h.outer_view(row).map_or(0.0, |r| r.iter().map(|(j, x)| (x * scale[j]).powi(2)).sum::<f64>());
        let weight = offsets.windows(2).map(|w| (w[0]..w[1]).map(length).sum::<f64>().sqrt()).map(|l| if l > 0.0 { 1.0 / l } else { 1.0 });
        let weight = weight.collect();
        let size = norm(&force.iter().zip(&scale).map(|(f, s)| f * s).collect::<Vec<_>>());
        // what bounds the normal reaction is a limit here
        let limits = sets.iter().map(|set| Limits { crushing: set.most(), ..Limits::default() }).collect();
        let plain = |set| if let AdmissibleSet::Crushing { mu, .. } = set { AdmissibleSet::Coulomb { mu } } else { set };
        let sets = sets.into_iter().map(plain).collect();
        Ok(Self { h, offsets, sets, limits, force, scale, weight, size })
    }

    /// The same structure with limits, one of each block; those of blocks without friction are not looked at.
    ///
    /// ```
    /// use drystone::numerics::{admissible::AdmissibleSet, statics::{Limits, Statics, Verdict}};
    /// // a point that is pulled by 5 N, where it bears 6 N or 4 N in tension
    /// let pulled = |tension: f64| {
    ///     let point = Statics::new(sprs::CsMat::eye(3), vec![0, 3], vec![AdmissibleSet::Coulomb { mu: 0.5 }], vec![1.0; 3], vec![5.0, 0.0, 0.0])?;
    ///     Ok::<_, drystone::numerics::ProblemError>(point.limited(vec![Limits { tension, cohesion: 4.0, ..Limits::default() }])?.solve())
    /// };
    /// assert_eq!((pulled(6.0)?.verdict, pulled(4.0)?.verdict), (Verdict::Admissible, Verdict::Mechanism));
    /// assert!((pulled(4.0)?.work - 1.0).abs() < 1e-6, "of 5 N less 4 N");
    /// # Ok::<(), drystone::numerics::ProblemError>(())
    /// ```
    ///
    /// # Errors
    /// Not one per block, or numbers below 0 or without a value.
    pub fn limited(mut self, limits: Vec<Limits>) -> Result<Self, ProblemError> {
        super::local::size("limits", limits.len(), self.sets.len(), "one per block")?;
        for Limits { tension, cohesion, crushing } in &limits {
            for (what, found) in [("tension", *tension), ("cohesion", *cohesion), ("crushing", crushing.min(f64::MAX))] {
                if !(found >= 0.0 && found.is_finite()) {
                    return Err(ProblemError::OutOfRange { what: what.into(), found, needed: "a force that is not negative is needed" });
                }
            }
        }
        let own = self.limits.into_iter().zip(limits);
        self.limits = own.map(|(own, given)| Limits { crushing: own.crushing.min(given.crushing), ..given }).collect();
        Ok(self)
    }

    /// The structure of a step from rest: these of its rows on the first `dof` of its velocities, given impulses on other rows as loads,
    /// and impulses over the time step as forces.
    ///
    /// # Errors
    /// As [`Statics::new`] and [`Statics::limited`].
    pub fn of_step(global: &Global, blocks: &[StepRows], given: &[(usize, f64)], dof: usize, time_step: f64) -> Result<Self, ProblemError> {
        let all = global.h.to_csr();
        let row = |row: usize| all.outer_view(row).into_iter().flat_map(|r| r.iter().map(|(j, x)| (j, *x)).collect::<Vec<_>>());
        let (mut offsets, mut sets, mut limits) = (vec![0], Vec::new(), Vec::new());
        let mut h = TriMat::new((blocks.iter().map(|b| b.rows.len()).sum(), dof));
        for block in blocks {
            let first = offsets[offsets.len() - 1];
            for (k, old) in block.rows.clone().enumerate() {
                row(old).filter(|(j, _)| *j < dof).for_each(|(j, x)| h.add_triplet(first + k, j, x));
            }
            offsets.push(first + block.rows.len());
            sets.push(block.set.scaled(1.0 / time_step));
            limits.push(block.limits);
        }
        let mut force: Vec<f64> = global.f.iter().take(dof).map(|f| f / time_step).collect();
        for &(at, impulse) in given {
            row(at).filter(|(j, _)| *j < dof).for_each(|(j, x)| force[j] += x * impulse / time_step);
        }
        let mass = global.mass.diag().to_dense().to_vec();
        Self::new(h.to_csr(), offsets, sets, mass[..dof.min(mass.len())].to_vec(), force)?.limited(limits)
    }

    /// Which of the two theorems holds, with its proof.
    pub fn solve(&self) -> Answer {
        let (rows, dof) = (self.h.rows(), self.h.cols());
        let mut answer =
            Answer { verdict: Verdict::Undecided, reactions: vec![0.0; rows], velocities: vec![0.0; dof], work: 0.0, error: f64::INFINITY };
        if self.size == 0.0 && self.sets.iter().all(|set| !matches!(set, AdmissibleSet::Interval { .. })) {
            return Answer { verdict: Verdict::Admissible, error: 0.0, ..answer };
        }
        for aim in [Aim::Least, Aim::Nearest] {
            let Some(solver) = self.run(aim) else { continue };
            let solution = &solver.solution;
            // what either program says is looked at, whatever the status: it is a proof or it is none
            let r = self.reactions(&solution.x);
            let error = self.unbalanced(&r);
            if error <= PROOF {
                return Answer { verdict: Verdict::Admissible, reactions: r, error, ..answer };
            }
            let first = solution.z.len().min(aim.first());
            let mut v: Vec<f64> = solution.z[first..].iter().zip(&self.scale).map(|(y, s)| y * s).collect();
            let largest = v.iter().zip(&self.scale).fold(0.0f64, |m, (v, s)| m.max((v / s).abs()));
            v.iter_mut().for_each(|v| *v /= largest);
            let (work, outside, rates) = self.gain(&v);
            // a ray of the dual is one however much reactions may be; else those at hand take up no more where rates lie so far outside
            let ray = matches!(solution.status, SolverStatus::PrimalInfeasible | SolverStatus::AlmostPrimalInfeasible);
            let taken_up = if ray { 0.0 } else { outside * self.carried(&r) };
            // what turns about a joint has no rates there but rounding
            let missed = outside / rates.max(STILL);
            if missed <= PROOF && work > taken_up {
                return Answer { verdict: Verdict::Mechanism, velocities: v, work, error: missed, ..answer };
            }
            answer.error = answer.error.min(error);
        }
        answer
    }

    /// Smallest and largest value of `Σ objective_k r_k` over all admissible reactions in equilibrium, with the gap that the dual
    /// programs leave; `None` where a program could not be solved, as where there is no equilibrium.
    pub fn interval(&self, objective: &[(usize, f64)]) -> Option<Interval> {
        let length = objective.iter().map(|(_, x)| x * x).sum::<f64>().sqrt();
        let (mut ends, mut gap) = ([0.0; 2], 0.0f64);
        if length == 0.0 {
            return Some(Interval { min: 0.0, max: 0.0, gap });
        }
        for (end, sign) in ends.iter_mut().zip([1.0, -1.0]) {
            let mut cost = vec![0.0; self.h.rows()];
            for &(row, x) in objective {
                *cost.get_mut(row)? += sign * x / length * self.weight_of(row);
            }
            let solver = self.run(Aim::Extreme(&cost))?;
            match solver.solution.status {
                SolverStatus::DualInfeasible | SolverStatus::AlmostDualInfeasible => *end = -sign * f64::INFINITY,
                SolverStatus::Solved | SolverStatus::AlmostSolved => {
                    let r = self.reactions(&solver.solution.x);
                    *end = objective.iter().map(|&(row, x)| x * r[row]).sum();
                    let left = (solver.solution.obj_val - solver.solution.obj_val_dual).abs();
                    gap = gap.max(self.size * length * (left + self.unbalanced(&r)));
                }
                _ => return None,
            }
        }
        Some(Interval { min: ends[0], max: ends[1], gap })
    }

    /// `H v`
    pub fn rates(&self, v: &[f64]) -> Vec<f64> {
        self.h.outer_iterator().map(|row| row.iter().map(|(j, x)| x * v[j]).sum()).collect()
    }

    /// `|H| |v|`: what the rates would be if nothing in them cancelled.
    pub fn rate_sizes(&self, v: &[f64]) -> Vec<f64> {
        self.h.outer_iterator().map(|row| row.iter().map(|(j, x)| (x * v[j]).abs()).sum()).collect()
    }

    fn weight_of(&self, row: usize) -> f64 {
        self.weight[self.offsets.partition_point(|&o| o <= row) - 1]
    }

    /// Reactions of the unknowns of a program, moved into K.
    fn reactions(&self, x: &[f64]) -> Vec<f64> {
        let mut r = vec![0.0; self.h.rows()];
        for (k, (range, weight)) in self.offsets.windows(2).zip(&self.weight).enumerate() {
            let own = &mut r[range[0]..range[1]];
            own.iter_mut().zip(&x[range[0]..range[1]]).for_each(|(r, x)| *r = self.size.max(f64::MIN_POSITIVE) * weight * x);
            match self.limited_friction(k) {
                Some((mu, limits)) => limits.hold(mu, own),
                None => self.sets[k].project(own),
            }
        }
        r
    }

    /// Friction and limits of a block that has any.
    fn limited_friction(&self, block: usize) -> Option<(f64, &Limits)> {
        match self.sets[block] {
            AdmissibleSet::Coulomb { mu } if !self.limits[block].none() => Some((mu, &self.limits[block])),
            _ => None,
        }
    }

    /// `|Hᵀr + f| / |f|`, scaled.
    fn unbalanced(&self, r: &[f64]) -> f64 {
        let mut left = self.force.clone();
        for (row, r) in self.h.outer_iterator().zip(r) {
            row.iter().for_each(|(j, x)| left[j] += x * r);
        }
        let left: f64 = left.iter().zip(&self.scale).map(|(x, s)| (x * s).powi(2)).sum::<f64>();
        left.sqrt() / self.size.max(f64::MIN_POSITIVE)
    }

    /// `|r|`, in the scale of each block.
    fn carried(&self, r: &[f64]) -> f64 {
        let blocks = self.offsets.windows(2).zip(&self.weight);
        blocks.flat_map(|(range, w)| r[range[0]..range[1]].iter().map(move |r| (r / w).powi(2))).sum::<f64>().sqrt()
    }

    /// Work of the load on a motion less what bounded reactions take up, how far its rates lie outside K*, and their size.
    fn gain(&self, v: &[f64]) -> (f64, f64, f64) {
        let u = self.rates(v);
        let (mut work, mut outside, mut all) = (dot(&self.force, v), 0.0, 0.0);
        for (k, ((range, set), weight)) in self.offsets.windows(2).zip(&self.sets).zip(&self.weight).enumerate() {
            let mut against: Vec<f64> = u[range[0]..range[1]].iter().map(|u| -u * weight).collect();
            all += dot(&against, &against);
            if let AdmissibleSet::Interval { lower, upper } = *set {
                work -= against.iter().map(|a| (a * lower / weight).max(a * upper / weight)).sum::<f64>();
                continue;
            }
            if let Some((mu, limits)) = self.limited_friction(k) {
                work -= limits.support(mu, &against) / weight;
                if limits.crushing.is_finite() {
                    continue;
                }
            }
            // −u lies in the polar of K where its nearest point of K is the tip
            set.project(&mut against);
            outside += dot(&against, &against);
        }
        (work, outside.sqrt(), all.sqrt())
    }

    /// The program of an aim over D x ∈ K.
    fn run(&self, aim: Aim<'_>) -> Option<DefaultSolver<f64>> {
        let (rows, dof, first) = (self.h.rows(), self.h.cols(), aim.first());
        let unknowns = rows + first;
        let size = self.size.max(f64::MIN_POSITIVE);
        let mut columns: Vec<Vec<(usize, f64)>> = Vec::with_capacity(unknowns);
        let mut offset = vec![0.0; first];
        offset.extend(self.force.iter().zip(&self.scale).map(|(f, s)| -f * s / size));
        let mut cost = vec![0.0; unknowns];
        let (mut quadratic, mut cones) = (CscMatrix::zeros((unknowns, unknowns)), vec![SupportedConeT::ZeroConeT(dof)]);
        match aim {
            Aim::Least => quadratic = CscMatrix::identity(rows),
            Aim::Extreme(of) => cost.copy_from_slice(of),
            Aim::Nearest => {
                cost[rows] = 1.0;
                cones = vec![SupportedConeT::SecondOrderConeT(1 + dof)];
            }
        }
        for (row, line) in self.h.outer_iterator().enumerate() {
            let weight = self.weight_of(row);
            columns.push(line.iter().map(|(j, x)| (first + j, x * self.scale[j] * weight)).collect());
        }
        columns.resize(unknowns, vec![(0, -1.0)]);
        // bounds first, cones after them
        let mut bounds = 0;
        let mut bound = |columns: &mut Vec<Vec<(usize, f64)>>, row: usize, factor: f64, shift: f64| {
            columns[row].push((offset.len(), -factor));
            offset.push(shift);
        };
        let blocks = || self.offsets.windows(2).map(|w| w[0]..w[1]).zip(&self.sets).zip(self.weight.iter().zip(&self.limits));
        for ((range, set), (weight, limits)) in blocks() {
            let part = 1.0 / (weight * size);
            match *set {
                AdmissibleSet::Free => {}
                AdmissibleSet::NonNegative => range.for_each(|row| {
                    bound(&mut columns, row, 1.0, 0.0);
                    bounds += 1;
                }),
                AdmissibleSet::Interval { lower, upper } => {
                    for row in range {
                        for (sign, at) in [(1.0, lower), (-1.0, upper)] {
                            if at.is_finite() {
                                bound(&mut columns, row, sign, -sign * at * part);
                                bounds += 1;
                            }
                        }
                    }
                }
                AdmissibleSet::Coulomb { .. } if !limits.none() => {
                    bound(&mut columns, range.start, 1.0, limits.tension * part);
                    bounds += 1;
                    if limits.crushing.is_finite() {
                        bound(&mut columns, range.start, -1.0, limits.crushing * part);
                        bounds += 1;
                    }
                }
                AdmissibleSet::Coulomb { .. }
                | AdmissibleSet::Crushing { .. }
                | AdmissibleSet::SecondOrder { .. }
                | AdmissibleSet::Rolling { .. }
                | AdmissibleSet::Twisting { .. } => {
                    bound(&mut columns, range.start, 1.0, 0.0);
                    bounds += 1;
                }
            }
        }
        cones.push(SupportedConeT::NonnegativeConeT(bounds));
        for ((range, set), (weight, limits)) in blocks() {
            let head = if matches!(set, AdmissibleSet::Coulomb { .. }) { limits.cohesion / (weight * size) } else { 0.0 };
            let discs = set.discs(range.len()).map(|(mu, rows)| (mu, range.start + rows.start..range.start + rows.end));
            for (slope, tangents) in discs.iter().filter(|(_, tangents)| !tangents.is_empty()) {
                cones.push(SupportedConeT::SecondOrderConeT(1 + tangents.len()));
                bound(&mut columns, range.start, *slope, head);
                tangents.clone().for_each(|row| bound(&mut columns, row, 1.0, 0.0));
            }
        }
        let mut starts = vec![0];
        columns.iter().for_each(|c| starts.push(starts[starts.len() - 1] + c.len()));
        let (places, values) = columns.into_iter().flatten().unzip();
        let matrix = CscMatrix::new(offset.len(), unknowns, starts, places, values);
        let settings = DefaultSettings { verbose: false, tol_gap_abs: 1e-10, tol_gap_rel: 1e-10, tol_feas: 1e-10, ..Default::default() };
        let mut solver = DefaultSolver::new(&quadratic, &cost, &matrix, &offset, &cones, settings).ok()?;
        solver.solve();
        Some(solver)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block b wide and h high on two feet in a plane, its weight 1, pushed at its centre by `push`.
    fn block(b: f64, h: f64, mu: f64, push: f64) -> Answer {
        let mut rows = TriMat::new((4, 3));
        for (row, x) in [(0, -b / 2.0), (2, b / 2.0)] {
            rows.add_triplet(row, 1, 1.0);
            rows.add_triplet(row, 2, x);
            rows.add_triplet(row + 1, 0, 1.0);
            rows.add_triplet(row + 1, 2, h / 2.0);
        }
        let sets = vec![AdmissibleSet::Coulomb { mu }; 2];
        Statics::new(rows.to_csr(), vec![0, 2, 4], sets, vec![1.0, 1.0, 0.1], vec![push, -1.0, 0.0])
            .unwrap_or_else(|e| panic!("{e}"))
            .solve()
    }

    #[test]
    fn a_pushed_block_slides_at_mu_and_tips_at_b_over_h() {
        for (b, h, mu, limit) in [(1.0, 2.0, 0.8, 0.5), (1.0, 0.5, 0.8, 0.8), (0.2, 1.0, 5.0, 0.2), (1e-3, 1e-3, 0.3, 0.3)] {
            for (factor, verdict) in [(0.9999, Verdict::Admissible), (-0.9999, Verdict::Admissible), (1.0001, Verdict::Mechanism)] {
                let found = block(b, h, mu, factor * limit);
                assert_eq!(found.verdict, verdict, "{b} x {h}, mu {mu}, {factor}: {found:?}");
                assert!(found.error <= 1e-8);
            }
        }
    }

    #[test]
    fn what_turns_about_a_joint_is_a_mechanism_though_nothing_moves_there() {
        // a bar of length 2 on a pin at its end, in a plane; carried by a foot at the other end, or not
        let bar = |foot: bool| {
            let mut rows = TriMat::new((3, 3));
            [(0, 0, 1.0), (1, 1, 1.0), (1, 2, -1.0), (2, 1, 1.0), (2, 2, 1.0)].into_iter().for_each(|(i, j, x)| rows.add_triplet(i, j, x));
            let other = if foot { AdmissibleSet::NonNegative } else { AdmissibleSet::Interval { lower: 0.0, upper: 0.0 } };
            let sets = vec![AdmissibleSet::Free, other];
            Statics::new(rows.to_csr(), vec![0, 2, 3], sets, vec![1.0, 1.0, 0.3], vec![0.0, -1.0, 0.0]).unwrap_or_else(|e| panic!("{e}"))
        };
        assert_eq!(bar(true).solve().verdict, Verdict::Admissible);
        let found = bar(false).solve();
        assert!(found.verdict == Verdict::Mechanism && found.error <= 1e-6 && found.work > 0.1, "{found:?}");
        let v = &found.velocities;
        assert!((v[1] - v[2]).abs() < 1e-6 && v[0].abs() < 1e-6 && v[1] < 0.0, "it turns about the pin: {v:?}");
        // the pin alone, as a joint of bodies without contacts is
        let mut rows = TriMat::new((2, 3));
        [(0, 0, 1.0), (1, 1, 1.0), (1, 2, -1.0)].into_iter().for_each(|(i, j, x)| rows.add_triplet(i, j, x));
        let alone = Statics::new(rows.to_csr(), vec![0, 2], vec![AdmissibleSet::Free], vec![1.0, 1.0, 0.3], vec![0.0, -1.0, 0.0]);
        assert_eq!(alone.unwrap_or_else(|e| panic!("{e}")).solve().verdict, Verdict::Mechanism);
    }

    #[test]
    fn bounds_hold_as_much_as_they_say_and_intervals_end_there() {
        // a weight of 3 on three stays that carry at most 2, 1 and 1 in tension or pressure
        let mut rows = TriMat::new((3, 1));
        (0..3).for_each(|k| rows.add_triplet(k, 0, 1.0));
        let of = |weight: f64| {
            let bounded = |upper: f64| AdmissibleSet::Interval { lower: -upper, upper };
            let sets = vec![bounded(2.0), bounded(1.0), AdmissibleSet::NonNegative];
            Statics::new(rows.to_csr(), vec![0, 1, 2, 3], sets, vec![1.0], vec![-weight]).unwrap_or_else(|e| panic!("{e}"))
        };
        let found = of(3.0).interval(&[(0, 1.0)]).unwrap_or_else(|| panic!("solved"));
        assert!((found.min + 2.0).abs() < 1e-6 && (found.max - 2.0).abs() < 1e-6 && found.gap < 1e-6, "{found:?}");
        assert_eq!(of(-2.9).solve().verdict, Verdict::Admissible);
        let pulled = of(-3.1).solve();
        assert!(pulled.verdict == Verdict::Mechanism && (pulled.work - 0.1).abs() < 1e-6, "{pulled:?}");
    }

    #[test]
    fn a_point_that_gives_way_bears_no_more_whether_its_set_or_a_limit_says_so() {
        let pressed = |set: AdmissibleSet, crushing: f64| {
            let point = Statics::new(CsMat::eye(3), vec![0, 3], vec![set], vec![1.0; 3], vec![-5.0, 0.0, 0.0]);
            let limits = vec![Limits { crushing, ..Limits::default() }];
            point.and_then(|p| p.limited(limits)).unwrap_or_else(|e| panic!("{e}")).solve()
        };
        let (free, mu) = (f64::INFINITY, 0.5);
        for (most, crushing) in [(4.0, free), (9.0, 4.0), (4.0, 9.0)] {
            let found = pressed(AdmissibleSet::Crushing { mu, most }, crushing);
            assert!(found.verdict == Verdict::Mechanism && (found.work - 1.0).abs() < 1e-6, "{most} {crushing}: {found:?}");
        }
        assert_eq!(pressed(AdmissibleSet::Crushing { mu, most: 5.1 }, free).verdict, Verdict::Admissible);
    }

    #[test]
    fn wrong_sizes_and_numbers_are_named() {
        let rows = TriMat::<f64>::new((3, 2)).to_csr();
        let set = vec![AdmissibleSet::Coulomb { mu: 0.5 }];
        let wrong =
            |mass: Vec<f64>, force: Vec<f64>| Statics::new(rows.clone(), vec![0, 3], set.clone(), mass, force).map(|_| ()).unwrap_err();
        assert!(wrong(vec![1.0], vec![0.0; 2]).to_string().contains("mass"));
        assert!(wrong(vec![1.0; 2], vec![0.0]).to_string().contains("force"));
        assert!(wrong(vec![1.0; 2], vec![f64::NAN, 0.0]).to_string().contains("finite"), "{}", wrong(vec![1.0; 2], vec![f64::NAN, 0.0]));
    }
}
