//! When an answer counts as solved: the one rule of all solvers.
//!
//! ```text
//! n_c = r_c − P_K(r_c − û_c/w_c)        ε_c = w_c |n_c|          w_c: mean of the diagonal of W_cc
//! s_c = max(|q_c|, |q_b| of the blocks that c is coupled with, a tenth of the largest demand of its component)
//! violation = max ε_c        misfit = max ε_c / s_c
//! error = max(rel | rel_q | e_s,  misfit / share,  or misfit itself above 5 %)          share = 10 √n, at most 1000; n blocks
//! ```
//!
//! ε_c is the velocity by which block c misses its law: |u_n| where bodies approach whatever r is, |u_t| where they should stick,
//! the velocity that its own error of impulse gives its bodies where they slip. It holds no |r| and no other block's mass, so neither
//! reactions that grow without bound nor a heavy neighbour hide it, and it scales with q alone. The scale s_c is made of velocities
//! without reactions; opening ones count for the block itself only, since they ask nothing of others. The share is what a norm
//! over all blocks leaves to the worst of them: √n, times q_c beside the mean.

use super::admissible::AdmissibleSet;
use super::disjoint::DisjointSets;
use super::residual::Residual;
use super::{Measure, Report, Status};
use crate::algebra::blocks::BlockRows;

/// Misfit that counts as one of the tolerance: the least in any problem, and that of a single block.
const SHARE: f64 = 1e-3;
const ALONE: f64 = 0.1;
/// Misfit beyond which a block is not solved, however loose the tolerance.
const UNSOLVED: f64 = 0.05;
/// Share of the largest demand of a component that is the scale of all its blocks.
const COMMON: f64 = 0.1;

/// Share of the largest demand of all below which that of a component is what rounding left of none.
const NOISE: f64 = 1e-12;

fn share(found: &Residual) -> f64 {
    if found.blocks > 0 { (ALONE / (found.blocks as f64).sqrt()).max(SHARE) } else { SHARE }
}

/// What a solver stops on: `global`, or what the worst block makes of it.
pub(super) fn error(global: f64, found: &Residual) -> f64 {
    let worst = if found.misfit > UNSOLVED { found.misfit } else { share(found) * found.misfit };
    // not `max`, which would lose NaN
    if worst > global { worst } else { global }
}

/// The same as one number that falls without jumps: at most the tolerance where [`error`] is, in proportion above. For forecasts.
pub(super) fn distance(global: f64, found: &Residual, tolerance: f64) -> f64 {
    let worst = share(found).max((tolerance / UNSOLVED).min(1.0)) * found.misfit;
    if worst > global { worst } else { global }
}

/// Scales of the blocks of a problem: w_c, and the velocity s_c on which its violation is judged.
///
/// ```
/// use drystone::algebra::blocks::BlockRows;
/// use drystone::numerics::local::LocalProblem;
/// let w = BlockRows::from_triplets(&[0, 2, 4], (0..4).map(|i| (i, i, 2.0)));
/// let p = LocalProblem::friction(w, vec![-1.0, 0.0, -100.0, 0.0], &[0.5, 0.5])?;
/// // nothing couples the two
/// assert_eq!(p.scales().velocities, [1.0, 100.0]);
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scales {
    /// w_c, 1/kg
    pub weights: Vec<f64>,
    /// s_c, m/s; 0 where q vanishes everywhere
    pub velocities: Vec<f64>,
}

impl Scales {
    /// Judges the block i, whose law is missed by the velocity `violation`.
    #[inline]
    pub(super) fn misfit(&self, i: usize, violation: f64) -> f64 {
        let scale = self.velocities[i];
        if scale > 0.0 { violation / scale } else { 0.0 }
    }
}

/// s_c of every block; `neighbours(i)` are the blocks that i is coupled with, itself or not.
pub(super) fn velocity_scales<I: Iterator<Item = usize>>(
    sets: &[AdmissibleSet],
    offsets: &[usize],
    q: &[f64],
    neighbours: impl Fn(usize) -> I,
) -> Vec<f64> {
    let demand: Vec<f64> = sets.iter().zip(offsets.windows(2)).map(|(set, o)| demand(*set, &q[o[0]..o[1]])).collect();
    let own = |(i, o): (usize, &[usize])| neighbours(i).fold(largest(&q[o[0]..o[1]]), |m, j| m.max(demand[j]));
    let mut scale: Vec<f64> = offsets.windows(2).take(sets.len()).enumerate().map(own).collect();
    let all = demand.iter().fold(0.0f64, |m, x| m.max(*x));
    // most problems: every block that sees little around it hangs together with the one that asks for most
    let mut low = scale.iter().filter(|scale| **scale < COMMON * all).count();
    let (mut met, mut open) = (vec![false; if low > 0 { sets.len() } else { 0 }], Vec::new());
    if low > 0 {
        open.extend(demand.iter().position(|demand| *demand >= all));
        open.iter().for_each(|&i: &usize| met[i] = true);
    }
    while let Some(i) = open.pop()
        && low > 0
    {
        low -= usize::from(scale[i] < COMMON * all);
        for j in neighbours(i) {
            if !std::mem::replace(&mut met[j], true) {
                open.push(j);
            }
        }
    }
    if low == 0 {
        scale.iter_mut().for_each(|scale| *scale = scale.max(COMMON * all));
        return scale;
    }
    let mut components = DisjointSets::new(sets.len());
    (0..sets.len()).for_each(|i| neighbours(i).for_each(|j| components.join(i as u32, j as u32)));
    let mut common = vec![0.0f64; sets.len()];
    for (i, demand) in demand.iter().enumerate() {
        let root = components.root(i as u32) as usize;
        common[root] = common[root].max(*demand);
    }
    for (i, scale) in scale.iter_mut().enumerate() {
        let common = common[components.root(i as u32) as usize];
        *scale = scale.max(COMMON * if common > NOISE * all { common } else { all });
    }
    scale
}

/// s_c of the blocks of W.
pub(super) fn scales_of(w: &BlockRows, sets: &[AdmissibleSet], q: &[f64]) -> Vec<f64> {
    velocity_scales(sets, w.offsets(), q, |i| w.row(i).filter(|(_, block)| block.iter().any(|x| *x != 0.0)).map(|(j, _)| j))
}

/// What a velocity without reactions asks of the reactions: an opening normal asks for nothing.
pub(super) fn demand(set: AdmissibleSet, q: &[f64]) -> f64 {
    match set {
        _ if q.is_empty() => 0.0,
        AdmissibleSet::NonNegative => q.iter().fold(0.0, |m, q| m.max(-q)),
        AdmissibleSet::Coulomb { .. }
        | AdmissibleSet::Crushing { .. }
        | AdmissibleSet::SecondOrder { .. }
        | AdmissibleSet::Rolling { .. }
        | AdmissibleSet::Twisting { .. } => (-q[0]).max(largest(&q[1..])),
        AdmissibleSet::Interval { lower, upper } => {
            let asks = |q: &f64| if *q > 0.0 && lower == 0.0 || *q < 0.0 && upper == 0.0 { 0.0 } else { q.abs() };
            q.iter().map(asks).fold(0.0, f64::max)
        }
        AdmissibleSet::Free => largest(q),
    }
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, x| m.max(x.abs()))
}

/// Times a solver is asked again.
const ASKED_AGAIN: usize = 3;

/// Solves to a tolerance, and more strictly where the solver's own error is met and the one that counts, of the report, is not: that of the
/// problem before it was reduced or scaled.
pub(super) fn asked_again(tolerance: f64, measure: Measure, mut solve: impl FnMut(f64) -> Report) -> Report {
    let (mut strict, mut report) = (tolerance, Report::default());
    for _ in 0..=ASKED_AGAIN {
        report = solve(strict).after(&report);
        let error = measure.of(&report.errors());
        if error <= tolerance {
            return Report { status: Status::Converged, ..report };
        }
        if !report.converged() {
            return report;
        }
        strict *= 0.5 * tolerance / error;
    }
    Report { status: Status::Stalled, ..report }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_knows_its_neighbours_and_a_tenth_of_its_component() {
        // a chain 0 – 1 – 2 – 3, and 4 alone, which opens
        let offsets = [0, 1, 2, 3, 4, 5];
        let links = [(0, 1), (1, 2), (2, 3)];
        let entries = links.iter().flat_map(|&(i, j)| [(i, j, -1.0), (j, i, -1.0)]).chain((0..5).map(|i| (i, i, 2.0)));
        let w = BlockRows::from_triplets(&offsets, entries);
        let sets = [AdmissibleSet::NonNegative; 5];
        assert_eq!(scales_of(&w, &sets, &[-8.0, 0.0, 0.0, 0.0, 3.0]), [8.0, 8.0, 0.8, 0.8, 3.0]);
        // opening velocities are no scale for others
        assert_eq!(scales_of(&w, &sets, &[8.0, -1.0, 0.0, 0.0, 0.0]), [8.0, 1.0, 1.0, 0.1, 0.1]);
        assert_eq!(scales_of(&w, &sets, &[0.0; 5]), [0.0; 5]);
    }

    #[test]
    fn the_distance_is_within_the_tolerance_exactly_where_the_error_is() {
        for tolerance in [1e-1, 1e-3, 1e-4, 1e-8] {
            for misfit in [1e-9, 1e-6, 9e-6, 1.1e-5, 1e-3, 0.049, 0.051, 0.09, 0.11, 10.0] {
                for global in [1e-9, 1e-5, 1e-2] {
                    let found = Residual { misfit, ..Residual::default() };
                    let met = [error(global, &found), distance(global, &found, tolerance)].map(|x| x <= tolerance);
                    assert_eq!(met[0], met[1], "{tolerance} {misfit} {global}");
                }
            }
        }
    }

    #[test]
    fn the_worst_of_few_blocks_counts_for_more_than_that_of_many() {
        let at = |blocks| error(0.0, &Residual { misfit: 0.04, blocks, ..Residual::default() });
        assert_eq!((at(1), at(100)), (0.004, 0.0004));
        assert_eq!((at(1_000_000), at(0)), (4e-5, 4e-5));
    }

    #[test]
    fn a_block_far_from_its_law_is_unsolved_at_any_tolerance() {
        let at = |misfit| error(1e-9, &Residual { misfit, ..Residual::default() });
        assert_eq!(at(1e-8), 1e-9);
        assert_eq!(at(1e-2), 1e-5);
        assert!(at(0.06) > 0.05);
        assert!(error(f64::NAN, &Residual::default()).is_nan());
    }
}
