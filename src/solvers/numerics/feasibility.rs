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
//! −(û + (D/κ) r) ∈ N_K(r)        contacts that give way by s = D|r|/κ, and joints too: has a solution for every κ
//! κ → ∞        r → that of Coulomb's law, or r grows like κ and s stays: y = Δr ∈ K has Hᵀy → 0 and bᵀy < 0
//! ```
//!
//! The same y shows where the proximal point gets stuck: its reactions grow by y in each step, at the same violation.
//!
//! Such a y proves that no v lets every contact part as fast as friction asks, `u_n ≥ μ‖u_t‖`; the theorem that Coulomb's law has a
//! solution (Acary, Cadoux, Lemaréchal, Malick 2011) needs one. Then the bodies count as jammed, on small islands where no solver finds a solution either.

use super::admissible::AdmissibleSet;
use super::mixed::{Answer, Block, Contact, MAX_ROWS, MixedProblem, Reactions, RigidMass, Spin, System, Twist, Velocities};
use super::newton::{self, giving_way, least};
use super::residual::certify;
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
/// Relative change of the violation of contacts ten times as stiff below which it stays the same.
const STEADY: f64 = 1e-2;
/// See [`runs_away`]; a shallow arch multiplies its loads too.
const RUNAWAY: f64 = 1e4;
/// See [`overworks`].
const OVERWORK: f64 = 1e5;
/// See [`overasks`]; in steps of 265 scenes whose reactions were bounded it is up to 3.
const OVERASKED: f64 = 10.0;
/// See [`trades`].
const TRADED: f64 = 10.0;
/// Part of the tolerance below which a violation is none.
const NOTHING: f64 = 1e-3;
/// How stiff contacts that give way become, per D⁻¹, and those of the answer where nothing better is found.
const STIFFEST: f64 = 1e8;
const SOFT: f64 = 1e1;
/// How much stiffer they become at once, at least where that is out of reach, and at least to say that a violation stays; factorisations for one of these
/// steps, and in all.
const GROWTH: f64 = 10.0;
const LEAST_GROWTH: f64 = 1.05;
const DISTINCT: f64 = 2.0;
const AT_ONCE: usize = 20;
const MOST: usize = 300;
/// The α of proximal steps that look for growth, the first, the least, and from one to the next.
const STEP: [f64; 3] = [1e-2, 1e-9, 0.1];
/// How stiff contacts are whose answer is taken where that of least violation is not found.
const FIRM: [f64; 4] = [1.0, 1e1, 1e2, 1e3];

/// Where constraints contradict each other: the violation (m/s) that each contact is left with where all are least; none where they do
/// not, or where that could not be proved. Contacts may miss by `tolerance` times their scale.
pub(super) fn contradiction(p: &MixedProblem, guess: &Answer, tolerance: f64, work: &mut newton::Workspace) -> Option<Vec<f64>> {
    let mut q = p.clone();
    q.contacts.iter_mut().for_each(|c| c.mu = 0.0);
    q.spins.clear();
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

/// Velocities by which rows give way (m/s): contacts along their normals, rows of blocks either way.
#[derive(Clone, Default)]
pub(super) struct Give {
    pub(super) contacts: Vec<f64>,
    pub(super) blocks: Vec<f64>,
}

/// What rows that give way tell of a step that no solver could solve.
pub(super) struct Stiffened {
    /// Where bodies are jammed: by how much each row has to give way.
    pub(super) give: Option<Give>,
    /// An answer with bounded reactions.
    pub(super) soft: Answer,
    /// The stiffest answer, where less and less gives way.
    pub(super) end: Option<Answer>,
    pub(super) factorisations: usize,
}

/// True where a reaction has run away: [`RUNAWAY`] times what would stop all bodies together from the largest speed of a contact.
pub(super) fn runs_away(p: &MixedProblem, answer: &Answer) -> bool {
    let mass: f64 = p.rigid.iter().map(|m| m.inverse_mass.max_element()).filter(|&w| w > 0.0).map(|w| 1.0 / w).sum();
    let speed = p.contacts.iter().map(|c| p.contact_velocity(c, &p.free.rigid).length()).fold(0.0, f64::max);
    let largest = answer.reactions.contacts.iter().map(|r| r.length()).fold(0.0, f64::max);
    largest > RUNAWAY * mass * speed
}

/// True where what is driven does [`OVERWORK`] times the energy that moves in the step at one contact: bodies are wedged by reactions that nothing bounds.
pub(super) fn overworks(p: &MixedProblem, answer: &Answer) -> bool {
    let still = still(p);
    let power = |(c, r): (&Contact, &DVec3)| r.dot(p.contact_velocity(c, &still.rigid)).abs();
    let largest = p.contacts.iter().zip(&answer.reactions.contacts).map(power).fold(0.0, f64::max);
    largest > 0.0 && largest > OVERWORK * newton::kinetic(p, &p.free).max(newton::kinetic(p, &answer.velocities))
}

/// The work that reactions do on what is asked beyond not to approach ([`MixedProblem::spare`]), where it is [`OVERASKED`] times the energy that moves in the step: friction holds
/// what is asked to part, and reactions grow against each other until it does. A pile whose overlaps are pushed out moves with that work, or falls
/// freely with more; what motors, springs and crushing joints bear is a load too, under which bodies would go.
pub(super) fn overasks(p: &MixedProblem, answer: &Answer) -> Option<f64> {
    let work: f64 = p.spare.iter().zip(&answer.reactions.contacts).map(|(part, r)| -part * r.x).sum();
    if work <= 0.0 {
        return None;
    }
    (!moves(p, answer, work / OVERASKED)).then_some(work)
}

/// True where contacts pass on [`TRADED`] times the energy that moves in the step from one to another: what presses a body from both sides is a
/// solution at any size, which no motion shows. What driven bodies give is no such work.
pub(super) fn trades(p: &MixedProblem, answer: &Answer) -> bool {
    let (still, [free, end]) = (still(p), [&p.free, &answer.velocities]);
    let (mut passed, mut given) = (0.0, 0.0);
    for (c, r) in p.contacts.iter().zip(&answer.reactions.contacts).filter(|(_, r)| **r != DVec3::ZERO) {
        passed += (0.5 * r.dot(p.contact_velocity(c, &free.rigid) + p.contact_velocity(c, &end.rigid))).abs();
        given += r.dot(p.contact_velocity(c, &still.rigid));
    }
    let bound = passed / TRADED;
    passed > 0.0 && given.abs() < bound && !moves(p, answer, bound)
}

/// Whether so much energy moves in a step, |v|²_M of bodies that are free, as solved, or under what motors, springs and crushing joints bear.
fn moves(p: &MixedProblem, answer: &Answer, bound: f64) -> bool {
    let linear = |(m, v): (&RigidMass, &Twist)| {
        let mass = |w: f64| if w > 0.0 { 1.0 / w } else { 0.0 };
        v.linear.length_squared() * mass(m.inverse_mass.max_element())
    };
    let least = |v: &Velocities| p.rigid.iter().zip(&v.rigid).map(linear).sum::<f64>();
    let moves = |v: &Velocities| least(v) >= bound || newton::kinetic(p, v) >= bound;
    if moves(&p.free) || moves(&answer.velocities) {
        return true;
    }
    let mut loaded = Answer::for_problem(p);
    for (load, (c, r)) in loaded.reactions.contacts.iter_mut().zip(p.contacts.iter().zip(&answer.reactions.contacts)) {
        if c.most > 0.0 {
            *load = *r;
        }
    }
    for block in p.blocks.iter().filter(|b| !gives(b) || b.systems[2] != System::Fixed) {
        let rows = block.first..block.first + block.rows;
        loaded.reactions.blocks[rows.clone()].copy_from_slice(&answer.reactions.blocks[rows]);
    }
    p.velocities(&loaded.reactions, &mut loaded.velocities);
    moves(&loaded.velocities)
}

/// Follows Coulomb's law, or that of the known shifts, on contacts that give way as they become stiffer and stiffer; where friction jams bodies that are driven together,
/// reactions grow without bound at the same violation. `ray` are reactions in K that balance, from which a path that ends (as a contact
/// snaps from slip to stick) goes on.
pub(super) fn stiffen(p: &MixedProblem, ray: &Reactions, tolerance: f64, work: &mut newton::Workspace) -> Stiffened {
    if !p.spins.is_empty() {
        return with_blocks(p, ray, |p, ray| stiffen(p, ray, tolerance, work));
    }
    let mut answer = Answer::for_problem(p);
    let mut found = Stiffened { give: None, soft: answer.clone(), end: None, factorisations: 0 };
    let (mut stiffness, mut growth) = (1.0, GROWTH);
    let along = size(p, ray);
    // stiffness and reactions of the last two points, the last one first; the worst violation there
    let mut path = [(0.0, answer.reactions.clone()), (0.0, answer.reactions.clone())];
    let (mut before, mut fades) = (f64::INFINITY, false);
    while stiffness <= STIFFEST && growth > LEAST_GROWTH && found.factorisations < MOST && !p.stop.asked() {
        if path[1].0 > 0.0 {
            predict(&path, stiffness, &mut answer.reactions);
        }
        let mut solve = |answer: &mut Answer| {
            if !p.lagged.is_empty() {
                // convex, and from no reactions
                answer.reactions.contacts.fill(DVec3::ZERO);
                answer.reactions.blocks.fill(0.0);
                return least(p, answer, work, stiffness);
            }
            let (iterations, solved) = giving_way(p, answer, work, None, 1.0 / stiffness, AT_ONCE);
            found.factorisations += iterations.max(1);
            solved
        };
        let mut solved = solve(&mut answer);
        if !solved && growth >= GROWTH && along > 0.0 {
            answer.reactions.contacts.iter_mut().zip(&ray.contacts).for_each(|(r, y)| *r = stiffness * along * *y);
            answer.reactions.blocks.iter_mut().zip(&ray.blocks).for_each(|(r, y)| *r = stiffness * along * y);
            solved = solve(&mut answer);
        }
        if !solved {
            answer.reactions.clone_from(&path[0].1);
            growth = growth.sqrt();
            stiffness = path[0].0 * growth;
            if stiffness == 0.0 {
                break;
            }
            continue;
        }
        if stiffness <= SOFT {
            found.soft.clone_from(&answer);
        }
        let give = given(p, &answer.reactions, stiffness);
        let worst = largest(p, &give);
        fades = worst <= before / growth.sqrt();
        if worst <= tolerance && (worst <= NOTHING * tolerance || certify(p, &mut answer).error() <= tolerance) {
            fades = true;
            break;
        }
        if (worst - before).abs() <= STEADY * worst && growth >= DISTINCT && proves(p, &answer, &path[0].1) {
            found.give = Some(give);
            return found;
        }
        before = worst;
        path.rotate_right(1);
        path[0] = (stiffness, answer.reactions.clone());
        growth = (growth * growth).min(GROWTH);
        stiffness *= growth;
    }
    found.end = fades.then_some(answer);
    found
}

/// Proximal steps from where others have stalled, longer and longer: where reactions grow by more and more of the same y, at the same violation, bodies are
/// jammed.
pub(super) fn grows(p: &MixedProblem, guess: &Reactions, tolerance: f64, work: &mut newton::Workspace) -> Stiffened {
    if !p.spins.is_empty() {
        return with_blocks(p, guess, |p, guess| grows(p, guess, tolerance, work));
    }
    let mut answer = Answer::for_problem(p);
    let mut found = Stiffened { give: None, soft: answer.clone(), end: None, factorisations: 0 };
    answer.reactions.clone_from(guess);
    let [mut alpha, least, shrink] = STEP;
    let mut before = f64::INFINITY;
    while alpha >= least && !p.stop.asked() {
        let centre = answer.reactions.clone();
        found.factorisations += giving_way(p, &mut answer, work, Some(&centre), alpha, AT_ONCE).0.max(1);
        let mut growth = answer.reactions.clone();
        growth.contacts.iter_mut().zip(&centre.contacts).for_each(|(r, c)| *r -= *c);
        growth.blocks.iter_mut().zip(&centre.blocks).for_each(|(r, c)| *r -= c);
        let mut give = given(p, &growth, 1.0 / alpha);
        // what unloads does not give way
        give.contacts.iter_mut().for_each(|s| *s = s.max(0.0));
        for block in p.blocks.iter().filter(|b| is_cone(b.set)) {
            give.blocks[block.first] = give.blocks[block.first].max(0.0);
        }
        let worst = largest(p, &give);
        if worst <= tolerance {
            break;
        }
        if (worst - before).abs() <= STEADY * worst && proves(p, &answer, &centre) {
            let mut soft = found.soft.clone();
            for stiffness in FIRM {
                let (iterations, solved) = giving_way(p, &mut soft, work, None, 1.0 / stiffness, AT_ONCE);
                found.factorisations += iterations.max(1);
                if !solved {
                    break;
                }
                found.soft.clone_from(&soft);
            }
            found.give = Some(give);
            break;
        }
        before = worst;
        alpha *= shrink;
    }
    found
}

/// What is found for contacts that resist rolling as blocks of rows.
fn with_blocks(p: &MixedProblem, guess: &Reactions, find: impl FnOnce(&MixedProblem, &Reactions) -> Stiffened) -> Stiffened {
    let mut nothing = Answer::for_problem(p);
    let guess = Answer { reactions: guess.clone(), ..Answer::default() };
    let Some((q, own)) = p.with_spin_blocks(&guess) else {
        return Stiffened { give: None, soft: nothing, end: None, factorisations: 0 };
    };
    let found = find(&q, &own.reactions);
    let mut back = |answer: &Answer| {
        p.take_spin_blocks(&answer.reactions, &mut nothing);
        nothing.clone()
    };
    let (soft, end) = (back(&found.soft), found.end.as_ref().map(&mut back));
    let give = found.give.map(|give| {
        let (mut plain, mut blocks) = (give.contacts.iter(), q.blocks[p.blocks.len()..].iter());
        let own = |spin: &Spin| if spin.resists() { blocks.next().map(|b| give.blocks[b.first]) } else { plain.next().copied() };
        Give { contacts: p.spins.iter().map(own).map(Option::unwrap_or_default).collect(), blocks: give.blocks[..p.block_b.len()].to_vec() }
    });
    Stiffened { give, soft, end, factorisations: found.factorisations }
}

/// By how much rows that are so stiff give way to these reactions.
fn given(p: &MixedProblem, r: &Reactions, stiffness: f64) -> Give {
    let contact = |(c, r): (&Contact, &DVec3)| c.local.mean_diagonal() * (r.x + c.mu * (r.y * r.y + r.z * r.z).sqrt()) / stiffness;
    let mut blocks = r.blocks.clone();
    for block in &p.blocks {
        let each = p.block_weight(block) / stiffness;
        let rows = &mut blocks[block.first..][..block.rows];
        if is_cone(block.set) {
            rows[0] += block.set.shift(rows);
            rows[1..].fill(0.0);
        }
        rows.iter_mut().for_each(|r| *r *= each);
    }
    Give { contacts: p.contacts.iter().zip(&r.contacts).map(contact).collect(), blocks }
}

/// The most of it, in scales of the rows.
fn largest(p: &MixedProblem, give: &Give) -> f64 {
    let part = |s: f64, scale: f64| if scale > 0.0 { s / scale } else { s };
    let contacts = p.contacts.iter().zip(&give.contacts).map(|(c, &s)| part(s, c.scale));
    let size = |block: &Block| give.blocks[block.first..][..block.rows].iter().fold(0.0f64, |most, s| most.max(s.abs()));
    let blocks = p.blocks.iter().filter(|b| gives(b)).map(|b| part(size(b), b.scale));
    contacts.chain(blocks).fold(0.0, f64::max)
}

/// Whether the set of a block is one of friction that the normal reaction bounds, in its first row.
fn is_cone(set: AdmissibleSet) -> bool {
    matches!(set, AdmissibleSet::Coulomb { .. } | AdmissibleSet::Rolling { .. } | AdmissibleSet::Twisting { .. })
}

/// Whether the reaction of a block has no bound, so that what gives way may be all that it can do.
pub(super) fn gives(block: &Block) -> bool {
    matches!(block.set, AdmissibleSet::Free | AdmissibleSet::NonNegative) || is_cone(block.set)
}

/// The t for which contacts that carry κ t y give way by as much as y is driven: the least of `κ (t bᵀy + t² yᵀDy / 2)`.
fn size(p: &MixedProblem, y: &Reactions) -> f64 {
    let contacts = p.contacts.iter().zip(&y.contacts).map(|(c, y)| c.local.mean_diagonal() * y.length_squared());
    let blocks = p.blocks.iter().map(|b| p.block_weight(b) * y.blocks[b.first..][..b.rows].iter().map(|y| y * y).sum::<f64>());
    let carried: f64 = contacts.chain(blocks).sum();
    if carried > 0.0 { -power(p, y, &still(p)) / carried } else { 0.0 }
}

/// `yᵀ u` at these velocities.
fn power(p: &MixedProblem, y: &Reactions, v: &Velocities) -> f64 {
    let contacts = p.contacts.iter().zip(&y.contacts).map(|(c, y)| y.dot(p.contact_velocity(c, &v.rigid))).sum::<f64>();
    let mut u = [0.0; MAX_ROWS];
    let blocks = p.blocks.iter().map(|b| {
        let u = &mut u[..b.rows];
        p.block_velocity(b, v, u);
        y.blocks[b.first..].iter().zip(u.iter()).map(|(y, u)| y * u).sum::<f64>()
    });
    contacts + blocks.sum::<f64>()
}

/// All bodies at rest.
fn still(p: &MixedProblem) -> Velocities {
    Velocities { rigid: vec![Twist::default(); p.rigid.len()], general: vec![0.0; p.free.general.len()] }
}

/// Goes on along a path of reactions: in a jam they grow with the stiffness, elsewhere they stay.
fn predict([(k1, r1), (k0, r0)]: &[(f64, Reactions); 2], stiffness: f64, r: &mut Reactions) {
    let part = (stiffness - k1) / (k1 - k0);
    r.contacts.iter_mut().zip(r1.contacts.iter().zip(&r0.contacts)).for_each(|(r, (now, then))| *r = *now + part * (*now - *then));
    r.blocks.iter_mut().zip(r1.blocks.iter().zip(&r0.blocks)).for_each(|(r, (now, then))| *r = now + part * (now - then));
}

/// Whether the growth of the multipliers is a proof: no v with `|v|_M` up to [`BEYOND`] times that of the velocities at hand can do it.
fn proves(p: &MixedProblem, answer: &Answer, last: &Reactions) -> bool {
    let mut y = Answer::for_problem(p);
    for (y, (r, r0)) in y.reactions.contacts.iter_mut().zip(answer.reactions.contacts.iter().zip(&last.contacts)) {
        *y = *r - *r0;
    }
    y.reactions.contacts.iter_mut().zip(&p.contacts).for_each(|(y, c)| c.project(y));
    for block in p.blocks.iter().filter(|b| gives(b)) {
        let rows = block.first..block.first + block.rows;
        let own = &mut y.reactions.blocks[rows.clone()];
        own.iter_mut().zip(rows).for_each(|(y, row)| *y = answer.reactions.blocks[row] - last.blocks[row]);
        block.set.project(own);
    }
    p.velocities(&y.reactions, &mut y.velocities);
    // bᵀ y and yᵀ W y = |Hᵀ y|²_{M⁻¹}; yᵀ u = yᵀ H v + bᵀ y for the velocities that y gives and for the free ones
    let along = |v: &Velocities| power(p, &y.reactions, v);
    let b = along(&still(p));
    let (with, free, now) = (along(&y.velocities) - b, along(&p.free) - b, along(&answer.velocities) - b);
    // what y gives, without the free velocity
    let imbalance = (with - free).max(0.0).sqrt();
    let speed = newton::kinetic(p, &p.free).max(newton::kinetic(p, &answer.velocities)).sqrt();
    b < 0.0 && BEYOND * imbalance * speed <= -b && now <= -0.5 * b
}
