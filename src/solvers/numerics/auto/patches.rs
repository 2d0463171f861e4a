//! Circles of a few contacts, ended where they are.
//!
//! Where friction is high, sweeps soon come to a point at which all contacts but a few meet the tolerance, and these go round in a circle that takes
//! sweeps over the whole 10⁴ to 10⁵ rounds to leave. So what misses is solved by itself: the bodies of its contacts and those within two
//! contacts of them, with all contacts among these, under the reactions of the others.
//!
//! ```text
//! S: contacts of a patch,  r_o: reactions of the others        v = (v_free + Ŵ⁻¹ H_oᵀ r_o) + Ŵ⁻¹ H_Sᵀ r_S,   Coulomb's law in S
//! ```
//!
//! One visit of block Gauss–Seidel, whose blocks are chosen by what misses. Sweeps then bring patches in line with what lies around, in turn.

use super::super::disjoint::DisjointSets;
use super::super::islands::{Island, Islands};
use super::super::mixed::{Answer, IMMOBILE, MixedProblem, Twist};
use super::super::residual::{certify, contact_errors, residual};
use super::super::{Method, Report, Status, sweep, sweep::GaussSeidel};
use super::tries::{Tries, WEDGED};
use super::{Auto, CHEAP, Memory, Workspace, carried};
use glam::DVec3;

/// Sweeps before patches are looked for: fewer disturb flows that would end by themselves.
const TURN: usize = 1000;
/// Sweeps that a step may have from which circles are looked for: fewer take no longer than patches and what follows them.
pub(super) const WORTH: f64 = 1e4;
/// Sweeps after each round of patches, and rounds.
const BETWEEN: usize = 300;
const ROUNDS: usize = 20;
/// Contacts from what misses to the edge of its patch, and rounds after which it is one more.
const RINGS: usize = 2;
const GROWS: usize = 4;
/// Contacts of a body across which no patch grows: a wall touches all.
const CROWDED: usize = 30;
/// All contacts over those that patches may have together, where these are more than a few: more is no circle.
const AREA: usize = 8;
const FEW: usize = 200;
/// Part of the tolerance to which a patch is solved, and sweeps before it goes to Newton.
const WITHIN: f64 = 0.1;
const SWEEPS: usize = 500;
/// Parts of the tolerance that all contacts outside of patches may leave together, and each by itself.
const LEFT: f64 = 0.5;
const OWN: f64 = 0.9;
/// Part of the error at hand that may be left outside of patches: what circles shakes all that lies around.
const SMALL: f64 = 0.3;

/// Contacts for each block of other rows, at least: those are loads of a patch.
const SPARSE: usize = 10;

/// Whether circles are looked for: friction is high, and a factorisation of the whole is dear where one of a patch is not.
pub(super) fn are_sought(p: &MixedProblem, work: &Workspace) -> bool {
    let contacts = p.spins.is_empty() && p.lagged.is_empty() && SPARSE * p.blocks.len() <= p.contacts.len();
    contacts && work.newton_cost(p) > CHEAP && sweep::is_rough(p)
}

impl Auto {
    /// These sweeps; after every thousand of them patches, where little misses.
    pub(super) fn in_turns(&self, sweeps: &GaussSeidel, p: &MixedProblem, answer: &mut Answer, work: &mut Workspace) -> Report {
        let (mut total, mut turn) = (Report::default(), TURN);
        loop {
            let left = sweeps.max_sweeps.saturating_sub(total.iterations);
            let own = GaussSeidel { max_sweeps: turn.min(left), ..*sweeps }.solve(p, answer, &mut work.sweep);
            total = own.after(&total);
            if own.error() <= self.tolerance {
                return Report { status: Status::Converged, ..total };
            }
            if p.stop.asked() {
                return total;
            }
            if let Some(patched) = self.patches(p, answer, work) {
                total = patched.after(&total);
                turn *= 2;
            }
            if total.converged() || own.status == Status::Stalled || own.iterations >= left {
                return total;
            }
        }
    }

    /// Patches and sweeps in turn; the best answer. None where too much misses to be a circle.
    fn patches(&self, p: &MixedProblem, answer: &mut Answer, work: &mut Workspace) -> Option<Report> {
        let touching = touching(p);
        let before = carried(p, &answer.reactions).max(p.q_scaled);
        let mut best = (certify(p, answer).error(), answer.clone());
        let mut total: Option<Report> = None;
        for round in 0..ROUNDS {
            let parts = around(p, &self.missing(p, answer), &touching, RINGS + round / GROWS);
            let area: usize = parts.iter().map(|part| part.contacts.len()).sum();
            if area > (p.contacts.len() / AREA).max(FEW) || p.stop.asked() {
                break;
            }
            let islands = Islands::of(p.rigid.len(), parts);
            let mut effort = Report::default();
            for part in &islands.parts {
                effort.factorisations += self.patch(&islands, part, p, answer, work);
            }
            let sweeps = GaussSeidel { turns: round % 2 == 1, follow: false, foresight: 0, ..self.sweeps(p, BETWEEN, work) };
            let own = sweeps.solve(p, answer, &mut work.sweep).after(&effort);
            let own = total.map_or(own, |before| own.after(&before));
            total = Some(own);
            if own.error() < best.0 && carried(p, &answer.reactions) <= WEDGED * before {
                best = (own.error(), answer.clone());
                if own.converged() {
                    return Some(Report { ended_by: Method::Patches, ..own });
                }
            }
        }
        *answer = best.1;
        let found = certify(p, answer);
        total.map(|total| found.report(Report { status: Status::BudgetSpent, ..total }))
    }

    /// Contacts that miss the tolerance by themselves, and the worst of those that miss it together; of both those that matter now.
    fn missing(&self, p: &MixedProblem, answer: &Answer) -> Vec<u32> {
        let mut all: Vec<_> = (0..p.contacts.len()).map(|k| (contact_errors(p, answer, k), k as u32)).collect();
        all.sort_unstable_by(|(a, k), (b, l)| b.map.total_cmp(&a.map).then(k.cmp(l)));
        let carrying: f64 = all.iter().map(|(errors, _)| errors.carrying).sum();
        let mut left: f64 = all.iter().map(|(errors, _)| errors.map).sum();
        let most = (left * SMALL * SMALL).max((LEFT * self.tolerance).powi(2) * carrying.max(p.q_scaled * p.q_scaled));
        let worst = all.iter().map(|(errors, _)| errors.misfit).fold(0.0, f64::max);
        let own = (OWN * self.tolerance).max(SMALL * worst);
        all.retain(|(errors, _)| {
            let together = left > most;
            left -= errors.map;
            together || errors.misfit > own
        });
        all.into_iter().map(|(_, k)| k).collect()
    }

    /// Solves a part under the reactions around it, and keeps what is better; `answer` holds the velocities of its reactions, before and after. The
    /// factorisations that it took.
    fn patch(&self, islands: &Islands, part: &Island, p: &MixedProblem, answer: &mut Answer, work: &mut Workspace) -> usize {
        let old: Vec<DVec3> = part.contacts.iter().map(|&k| answer.reactions.contacts[k as usize]).collect();
        let twists = |v: &[Twist]| part.rigid.iter().map(|&body| v[body as usize]).collect::<Vec<_>>();
        let with = twists(&answer.velocities.rigid);
        kick(p, part, &mut answer.velocities.rigid, old.iter().map(|r| -*r));
        let free = twists(&answer.velocities.rigid);
        part.rigid.iter().zip(with).for_each(|(&body, twist)| answer.velocities.rigid[body as usize] = twist);
        let Some((mut q, mut own)) = islands.extract_under(part, p, answer, &free) else { return 0 };
        let before = residual(&q, &own, &own.velocities).error();
        let work = work.inner.get_or_insert_default();
        (work.memory, work.light, work.cost) = (Memory::default(), 1.0, Default::default());
        let auto = Self { tolerance: WITHIN * self.tolerance, ..*self };
        let sweeps = GaussSeidel { turns: true, follow: false, foresight: 0, ..auto.sweeps(&q, SWEEPS, work) };
        let mut report = sweeps.solve(&q, &mut own, &mut work.sweep);
        if !report.converged() {
            report = Tries::new(&auto, &mut q, &mut own, work, report, true).brief();
        }
        if certify(&q, &mut own).error() < before {
            part.insert(p, &own, answer);
            kick(p, part, &mut answer.velocities.rigid, own.reactions.contacts.iter().zip(old).map(|(new, old)| *new - old));
        }
        report.factorisations
    }
}

/// Adds what changes of the reactions of a part do to velocities.
fn kick(p: &MixedProblem, part: &Island, v: &mut [Twist], changes: impl Iterator<Item = DVec3>) {
    for (&k, change) in part.contacts.iter().zip(changes) {
        let c = &p.contacts[k as usize];
        let impulse = c.to_world(change);
        for (body, arm, impulse) in [(c.body1, c.arm1, impulse), (c.body2, c.arm2, -impulse)] {
            if body != IMMOBILE {
                p.rigid[body as usize].kick(&mut v[body as usize], arm, impulse);
            }
        }
    }
}

/// The mobile bodies of a contact.
fn bodies(p: &MixedProblem, contact: u32) -> impl Iterator<Item = u32> {
    let c = &p.contacts[contact as usize];
    [c.body1, c.body2].into_iter().filter(|&body| body != IMMOBILE)
}

/// The contacts of each body.
fn touching(p: &MixedProblem) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new(); p.rigid.len()];
    for k in 0..p.contacts.len() as u32 {
        bodies(p, k).for_each(|body| all[body as usize].push(k));
    }
    all
}

/// The patches around these contacts: their bodies and those that so many contacts lead to, with all contacts among them.
fn around(p: &MixedProblem, contacts: &[u32], touching: &[Vec<u32>], rings: usize) -> Vec<Island> {
    let mut within = vec![false; p.rigid.len()];
    let mut edge: Vec<u32> = contacts.iter().flat_map(|&k| bodies(p, k)).collect();
    for _ in 0..=rings {
        edge.retain(|&body| !std::mem::replace(&mut within[body as usize], true));
        let open = edge.iter().map(|&body| &touching[body as usize]).filter(|contacts| contacts.len() <= CROWDED);
        edge = open.flatten().flat_map(|&k| bodies(p, k)).collect();
    }
    let among = |&k: &u32| bodies(p, k).count() > 0 && bodies(p, k).all(|body| within[body as usize]);
    let among: Vec<u32> = (0..p.contacts.len() as u32).filter(among).collect();
    let mut sets = DisjointSets::new(p.rigid.len());
    for &k in &among {
        bodies(p, k).zip(bodies(p, k).skip(1)).for_each(|(one, two)| sets.join(one, two));
    }
    let mut part_of = vec![u32::MAX; p.rigid.len()];
    let mut parts: Vec<Island> = Vec::new();
    for k in among {
        let Some(body) = bodies(p, k).next() else { continue };
        let part = &mut part_of[sets.root(body) as usize];
        if *part == u32::MAX {
            *part = parts.len() as u32;
            parts.push(Island::default());
        }
        parts[*part as usize].contacts.push(k);
    }
    for body in (0..p.rigid.len() as u32).filter(|&body| within[body as usize]) {
        if let Some(part) = parts.get_mut(part_of[sets.root(body) as usize] as usize) {
            part.rigid.push(body);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::mixing::tests::crowd;

    #[test]
    fn patches_end_circles_that_sweeps_stay_in() {
        for seed in [5, 8, 12] {
            let p = crowd(seed, 600, 9.6);
            assert!(are_sought(&p, &Workspace::default()));
            let sweeps = GaussSeidel { tolerance: 1e-6, max_sweeps: 3000, ..GaussSeidel::default() };
            let alone = sweeps.solve(&p, &mut Answer::for_problem(&p), &mut sweep::Workspace::default());
            let auto = Auto { tolerance: 1e-6, ..Auto::default() };
            let mut answer = Answer::for_problem(&p);
            let both = auto.in_turns(&sweeps, &p, &mut answer, &mut Workspace { light: 1.0, ..Workspace::default() });
            assert!(!alone.converged() && both.converged() && both.ended_by == Method::Patches, "{seed}: {alone:?} {both:?}");
            assert!(certify(&p, &mut answer).error() <= 1e-6);
        }
    }

    #[test]
    fn a_patch_is_solved_under_the_reactions_around_it() {
        let p = crowd(5, 200, 6.6);
        let auto = Auto { tolerance: 1e-6, ..Auto::default() };
        let mut answer = Answer::for_problem(&p);
        let few = GaussSeidel { tolerance: 1e-6, max_sweeps: 5, ..GaussSeidel::default() };
        few.solve(&p, &mut answer, &mut sweep::Workspace::default());
        certify(&p, &mut answer);
        let before = answer.clone();
        let parts = around(&p, &[10, 60], &touching(&p), 1);
        let [first, second] = parts.as_slice() else { panic!("{} patches", parts.len()) };
        assert!(first.rigid.iter().all(|body| !second.rigid.contains(body)), "they share a body");
        let inside = |k: u32| bodies(&p, k).all(|body| first.rigid.contains(&body));
        assert!((0..p.contacts.len() as u32).all(|k| inside(k) == first.contacts.contains(&k)), "all contacts among its bodies");
        auto.patch(&Islands::of(p.rigid.len(), parts.clone()), first, &p, &mut answer, &mut Workspace::default());
        for k in 0..p.contacts.len() as u32 {
            let (old, new) = (before.reactions.contacts[k as usize], answer.reactions.contacts[k as usize]);
            assert!(first.contacts.contains(&k) || old == new, "{k} is a load");
        }
        let moved = answer.velocities.clone();
        certify(&p, &mut answer);
        let apart = |a: &Twist, b: &Twist| a.linear.distance(b.linear).max(a.angular.distance(b.angular));
        assert!(
            moved.rigid.iter().zip(&answer.velocities.rigid).all(|(a, b)| apart(a, b) < 1e-12),
            "velocities are those of the reactions"
        );
        let worst = |answer: &Answer| first.contacts.iter().map(|&k| contact_errors(&p, answer, k as usize).map).fold(0.0, f64::max);
        let old = {
            let mut old = before;
            certify(&p, &mut old);
            worst(&old)
        };
        assert!(worst(&answer) < 1e-10 * old, "{:e} of {old:e}", worst(&answer));
    }
}
