//! Can the bodies of a step keep out of each other at all, and if not, how little can they miss it?
//!
//! ```text
//! u_n = H_n v + b_n ≥ 0          no v does this   ⇔   some y ≥ 0 has H_nᵀ y = 0 and b_nᵀ y < 0         (Farkas)
//! ```
//!
//! Coulomb's law needs such a v, so y proves that the step has no solution, whatever the friction. Found by the method of multipliers on
//! the frictionless problem: where there is no solution its multipliers grow by the same y in every step, and its velocities settle
//! where the violations `s = −min(u_n, 0)` are least in the norm of D^-½.

use super::admissible::AdmissibleSet;
use super::mixed::{Answer, MixedProblem, Reactions};
use super::newton::{self, least};
use glam::DVec3;

/// Steps of the method of multipliers.
const STEPS: usize = 12;
/// Penalty of the method, per D⁻¹.
const PENALTY: f64 = 1e4;
/// Change of the largest violation below which it has settled.
const SETTLED: f64 = 1e-3;
/// A proof that excludes all velocities up to this many times those at hand is taken for one: what is left is rounding, or bodies that
/// would have to leave each other at a speed that nothing gives them.
const BEYOND: f64 = 30.0;

/// Where constraints contradict each other: the violation (m/s) that each contact is left with where all are least; none where they do
/// not, or where that could not be proved. Contacts may miss by `tolerance` times their scale.
pub(super) fn contradiction(p: &MixedProblem, guess: &Answer, tolerance: f64, work: &mut newton::Workspace) -> Option<Vec<f64>> {
    let mut q = p.clone();
    q.contacts.iter_mut().for_each(|c| c.mu = 0.0);
    let mut answer = Answer::for_problem(&q);
    answer.velocities.clone_from(&guess.velocities);
    let mut before = f64::INFINITY;
    let mut last = answer.reactions.clone();
    let mut settled = None;
    for _ in 0..STEPS {
        if !least(&q, &mut answer, work, PENALTY) {
            return None;
        }
        let slack: Vec<f64> = q.contacts.iter().map(|c| (-q.contact_velocity(c, &answer.velocities.rigid).x).max(0.0)).collect();
        let worst = q.contacts.iter().zip(&slack).map(|(c, s)| if c.scale > 0.0 { s / c.scale } else { *s }).fold(0.0, f64::max);
        if worst <= tolerance {
            return None;
        }
        if (worst - before).abs() <= SETTLED * worst && proves(&q, &answer, &last) {
            settled = Some(slack);
            break;
        }
        before = worst;
        last.clone_from(&answer.reactions);
    }
    settled
}

/// Whether the growth of the multipliers is a proof: no v with `|v|_M` up to [`BEYOND`] times that of the velocities at hand can do it.
fn proves(p: &MixedProblem, answer: &Answer, last: &Reactions) -> bool {
    let mut y = Answer::for_problem(p);
    for (y, (r, r0)) in y.reactions.contacts.iter_mut().zip(answer.reactions.contacts.iter().zip(&last.contacts)) {
        *y = DVec3::X * (r.x - r0.x).max(0.0);
    }
    for block in &p.blocks {
        for row in block.first..block.first + block.rows {
            let growth = answer.reactions.blocks[row] - last.blocks[row];
            y.reactions.blocks[row] = match block.set {
                AdmissibleSet::Free => growth,
                AdmissibleSet::NonNegative => growth.max(0.0),
                _ => 0.0,
            };
        }
    }
    p.velocities(&y.reactions, &mut y.velocities);
    // bᵀ y and yᵀ W y = |Hᵀ y|²_{M⁻¹}; yᵀ u = yᵀ H v + bᵀ y for the velocities that y gives and for the free ones
    let along = |v: &super::mixed::Velocities| {
        let contacts = p.contacts.iter().zip(&y.reactions.contacts).map(|(c, y)| y.x * p.contact_velocity(c, &v.rigid).x).sum::<f64>();
        let mut u = [0.0; super::mixed::MAX_ROWS];
        let blocks = p.blocks.iter().map(|b| {
            let u = &mut u[..b.rows];
            p.block_velocity(b, v, u);
            y.reactions.blocks[b.first..].iter().zip(u.iter()).map(|(y, u)| y * u).sum::<f64>()
        });
        contacts + blocks.sum::<f64>()
    };
    let still = super::mixed::Velocities { rigid: vec![Default::default(); p.rigid.len()], general: vec![0.0; p.free.general.len()] };
    let b = along(&still);
    let (with, free, now) = (along(&y.velocities) - b, along(&p.free) - b, along(&answer.velocities) - b);
    // what y gives, without the free velocity
    let imbalance = (with - free).max(0.0).sqrt();
    let speed = newton::kinetic(p, &p.free).max(newton::kinetic(p, &answer.velocities)).sqrt();
    b < 0.0 && BEYOND * imbalance * speed <= -b && now <= -0.5 * b
}
