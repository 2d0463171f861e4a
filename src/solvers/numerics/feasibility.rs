//! Can the bodies of a step keep out of each other at all, and if not, how little can they miss it?
//!
//! ```text
//! u_n = H_n v + b_n ≥ 0          no v does this   ⇔   some y ≥ 0 has H_nᵀ y = 0 and b_nᵀ y < 0         (Farkas)
//! ```
//!
//! Coulomb's law needs such a v, so y proves that the step has no solution, whatever the friction. Found by the method of multipliers on
//! the frictionless problem: where there is no solution its multipliers grow by the same y in every step, and its velocities settle
//! where the violations `s = −min(u_n, 0)` are least in the norm of D^-½.
//!
//! Friction can jam what could otherwise get out of the way:
//!
//! ```text
//! −(û + (D/κ) r) ∈ N_K(r)        contacts that give way by s = D|r|/κ: has a solution for every κ
//! κ → ∞        r → that of Coulomb's law, or r grows like κ and s stays: y = Δr ∈ K has Hᵀy → 0 and bᵀy < 0
//! ```
//!
//! Such a y proves that no v lets every contact part as fast as friction asks, `u_n ≥ μ‖u_t‖`; the theorem that Coulomb's law has a
//! solution (Acary, Cadoux, Lemaréchal, Malick 2011) needs one. Where in addition no solver finds a solution, the bodies are jammed.

use super::admissible::AdmissibleSet;
use super::mixed::{Answer, MixedProblem, Reactions};
use super::newton::{self, giving_way, least};

/// Steps of the method of multipliers.
const STEPS: usize = 12;
/// Penalty of the method, per D⁻¹.
const PENALTY: f64 = 1e4;
/// Change of the largest violation below which it has settled.
const SETTLED: f64 = 1e-3;
/// A proof that excludes all velocities up to this many times those at hand is taken for one: what is left is rounding, or bodies that
/// would have to leave each other at a speed that nothing gives them.
const BEYOND: f64 = 30.0;
/// Relative change of the violation of contacts ten times as stiff below which it stays the same.
const STEADY: f64 = 1e-2;
/// As [`BEYOND`], where it stays the same twice: that problem is not convex, and its velocities are less exact. Without any proof a heavy
/// body on light ones would look jammed until they are stiff enough to carry it.
const AT_LEAST: f64 = 3.0;
/// See [`runs_away`]; a shallow arch multiplies its loads too.
const RUNAWAY: f64 = 1e4;
/// How stiff contacts that give way become, per D⁻¹; the first is that of the answer where nothing better is found.
const STIFFNESS: [f64; 5] = [1e1, 1e2, 1e3, 1e4, 1e5];

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
        if (worst - before).abs() <= SETTLED * worst && proves(&q, &answer, &last, BEYOND) {
            settled = Some(slack);
            break;
        }
        before = worst;
        last.clone_from(&answer.reactions);
    }
    settled
}

/// What contacts that give way tell of a step that no solver could solve.
pub(super) struct Jam {
    /// Where bodies are jammed: the velocity by which each contact has to give way (m/s).
    pub(super) slack: Option<Vec<f64>>,
    /// An answer with bounded reactions.
    pub(super) soft: Answer,
}

/// True where a reaction has run away: [`RUNAWAY`] times what would stop all bodies together from the largest speed of a contact.
pub(super) fn runs_away(p: &MixedProblem, answer: &Answer) -> bool {
    let mass: f64 = p.rigid.iter().map(|m| m.inverse_mass.max_element()).filter(|&w| w > 0.0).map(|w| 1.0 / w).sum();
    let speed = p.contacts.iter().map(|c| p.contact_velocity(c, &p.free.rigid).length()).fold(0.0, f64::max);
    let largest = answer.reactions.contacts.iter().map(|r| r.length()).fold(0.0, f64::max);
    largest > RUNAWAY * mass * speed
}

/// Where friction jams bodies that are driven together: reactions of stiffer and stiffer contacts grow without bound at the same violation.
pub(super) fn jam(p: &MixedProblem, tolerance: f64, work: &mut newton::Workspace) -> Option<Jam> {
    let mut answer = Answer::for_problem(p);
    let mut jam: Option<Jam> = None;
    let (mut before, mut last, mut steady) = (f64::INFINITY, answer.reactions.clone(), 0);
    for kappa in STIFFNESS {
        if p.stop.asked() || !giving_way(p, &mut answer, work, kappa) {
            break;
        }
        let jam = jam.get_or_insert_with(|| Jam { slack: None, soft: answer.clone() });
        let gives = |k: usize| {
            let (c, r) = (&p.contacts[k], answer.reactions.contacts[k]);
            c.local.mean_diagonal() * (r.x + c.mu * (r.y * r.y + r.z * r.z).sqrt()) / kappa
        };
        let slack: Vec<f64> = (0..p.contacts.len()).map(gives).collect();
        let worst = p.contacts.iter().zip(&slack).map(|(c, s)| if c.scale > 0.0 { s / c.scale } else { *s }).fold(0.0, f64::max);
        if worst <= tolerance {
            break;
        }
        steady = if (worst - before).abs() <= STEADY * worst { steady + 1 } else { 0 };
        if steady > 0 && proves(p, &answer, &last, if steady > 1 { AT_LEAST } else { BEYOND }) {
            jam.slack = Some(slack);
            break;
        }
        before = worst;
        last.clone_from(&answer.reactions);
    }
    jam
}

/// Whether the growth of the multipliers is a proof: no v with `|v|_M` up to `beyond` times that of the velocities at hand can do it.
fn proves(p: &MixedProblem, answer: &Answer, last: &Reactions, beyond: f64) -> bool {
    let mut y = Answer::for_problem(p);
    for (y, (r, r0)) in y.reactions.contacts.iter_mut().zip(answer.reactions.contacts.iter().zip(&last.contacts)) {
        *y = *r - *r0;
    }
    y.reactions.contacts.iter_mut().zip(&p.contacts).for_each(|(y, c)| c.project(y));
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
        let contacts = p.contacts.iter().zip(&y.reactions.contacts).map(|(c, y)| y.dot(p.contact_velocity(c, &v.rigid))).sum::<f64>();
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
    b < 0.0 && beyond * imbalance * speed <= -b && now <= -0.5 * b
}
