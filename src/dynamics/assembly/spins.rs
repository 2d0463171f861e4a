//! Rows of the moments of contacts that resist rolling and twisting, beside the rows of their forces.

use super::problem::StepProblem;
use super::systems::world_twist;
use crate::model::contact::{ContactPair, Foreseen, Touch};
use crate::numerics::mixed::{IMMOBILE, MixedProblem, Spin};
use crate::topology::bodies::Body;
use glam::DVec3;

impl StepProblem {
    /// States the moments of all contacts; none where no law `resists`. `touch` gives pair and point by the number of the source and that of
    /// the active point in it. In the first pass moments start from those of the step before, where `warm` says so, then from those of the
    /// pass before.
    pub(super) fn assemble_spins<'a>(
        &mut self,
        [resists, first_pass, warm]: [bool; 3],
        bodies: &[Body],
        touch: impl Fn(u32) -> Option<(&'a ContactPair, &'a [Touch])>,
        foreseen: &[Foreseen],
    ) {
        let Self { problem, answer, groups, first_contact, last: (places, _), last_spins: last, .. } = self;
        std::mem::swap(last, &mut answer.reactions.spins);
        answer.reactions.spins.clear();
        problem.spins.clear();
        if !resists {
            return;
        }
        problem.spins.resize(problem.contacts.len(), Spin::default());
        let spins = &mut answer.reactions.spins;
        spins.resize(problem.contacts.len(), DVec3::ZERO);
        let mut ahead = foreseen.iter();
        for (group, &first) in groups.iter().zip(first_contact.iter()) {
            let rows = first as usize..(first + group.points) as usize;
            let Some((pair, points)) = touch(group.source) else {
                for (k, row) in rows.zip(&mut ahead) {
                    problem.spins[k] = spin(&row.pair, bodies, k, problem);
                    spins[k] = over(row.touch.moment, k, problem);
                }
                continue;
            };
            let before = places.binary_search_by_key(&group.source, |l| l[0]).ok().map(|at| places[at]);
            let before = before.filter(|l| !first_pass && l[2] == group.points);
            for (i, (k, touch)) in rows.zip(points.iter().filter(|t| t.active)).enumerate() {
                problem.spins[k] = spin(pair, bodies, k, problem);
                spins[k] = match before {
                    Some(l) => last.get(l[1] as usize + i).copied().unwrap_or_default(),
                    None if first_pass && warm => over(touch.moment, k, problem),
                    None => DVec3::ZERO,
                };
            }
        }
    }
}

/// The rows of contact k.
fn spin(pair: &ContactPair, bodies: &[Body], k: usize, problem: &MixedProblem) -> Spin {
    let lever = if pair.size.is_finite() && pair.size > 0.0 { 0.5 * pair.size } else { 1.0 };
    let given = |slot: u32| {
        let body = &bodies[slot as usize];
        if body.row == IMMOBILE { world_twist(body).angular } else { DVec3::ZERO }
    };
    let turn = given(pair.slots[0]) - given(pair.slots[1]);
    // a pair knows its arms as lengths
    let [roll, twist] = [pair.law.mu_r, pair.law.mu_t].map(|arm| arm.of(0.0) / lever);
    let mut spin = Spin { lever, roll, twist, drill: pair.law.drill(), ..Spin::default() };
    if turn != DVec3::ZERO {
        spin.b = spin.levers() * problem.contacts[k].to_local(turn);
    }
    spin
}

/// A moment (N m s, world) as the impulses that stand for it.
fn over(moment: DVec3, k: usize, problem: &MixedProblem) -> DVec3 {
    problem.contacts[k].to_local(moment) / problem.spins[k].levers()
}
