//! The parts of a problem that share no moving system: each can be solved, and judged, for itself.

use super::disjoint::DisjointSets;
use super::mixed::{Answer, Block, IMMOBILE, MixedProblem, System, Twist};

/// All parts of a problem.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Islands {
    /// In the order of their first body; systems without rows belong to none.
    pub(super) parts: Vec<Island>,
    /// Where each rigid body, then each general system, stands in its own part.
    places: Vec<u32>,
}

/// One part: where its bodies, systems, contacts and blocks stand in the whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Island {
    pub(super) rigid: Vec<u32>,
    pub(super) general: Vec<u32>,
    pub(super) contacts: Vec<u32>,
    pub(super) blocks: Vec<u32>,
}

/// Joins what acts on each other: rigid bodies, then general systems.
fn join(p: &MixedProblem, sets: &mut DisjointSets) {
    sets.reset(p.rigid.len() + p.general.len());
    let node = |system: System| node(p, system);
    let mut join = |a: Option<u32>, b: Option<u32>| {
        if let (Some(a), Some(b)) = (a, b) {
            sets.join(a, b);
        }
    };
    p.contacts.iter().for_each(|c| join(body(c.body1), body(c.body2)));
    for b in &p.blocks {
        let [one, two, compliance] = b.systems.map(node);
        join(one, two);
        join(one.or(two), compliance);
    }
}

fn node(p: &MixedProblem, system: System) -> Option<u32> {
    match system {
        System::Fixed => None,
        System::Rigid(i) => Some(i),
        System::General(i) => Some(p.rigid.len() as u32 + i),
    }
}

fn body(i: u32) -> Option<u32> {
    (i != IMMOBILE).then_some(i)
}

/// Buffers of [`Sizes::sum`].
#[derive(Clone, Debug, Default)]
pub(super) struct Sizes {
    sets: DisjointSets,
    systems: Vec<f64>,
}

impl Sizes {
    /// Sum over the islands of a problem of a function of how many systems each has; compliances hang on a block alone and do not count.
    pub(super) fn sum(&mut self, p: &MixedProblem, of: impl Fn(f64) -> f64) -> f64 {
        let Self { sets, systems } = self;
        join(p, sets);
        systems.clear();
        systems.resize(sets.len(), 1.0);
        p.blocks.iter().filter_map(|b| node(p, b.systems[2])).for_each(|k| systems[k as usize] = 0.0);
        for k in (0..systems.len()).rev() {
            let root = sets.root(k as u32) as usize;
            if root != k {
                systems[root] += std::mem::take(&mut systems[k]);
            }
        }
        systems.iter().map(|n| of(*n)).sum()
    }
}

/// The islands of a problem.
pub(super) fn islands(p: &MixedProblem) -> Islands {
    let rigid = p.rigid.len();
    let mut sets = DisjointSets::default();
    join(p, &mut sets);
    let node = |system: System| node(p, system);
    let mut island_of = vec![u32::MAX; sets.len()];
    let mut found: Vec<Island> = Vec::new();
    let mut place = |found: &mut Vec<Island>, a: Option<u32>, b: Option<u32>| {
        let root = sets.root(a.or(b)?);
        let island = &mut island_of[root as usize];
        if *island == u32::MAX {
            *island = found.len() as u32;
            found.push(Island::default());
        }
        Some(*island as usize)
    };
    for (k, c) in p.contacts.iter().enumerate() {
        if let Some(i) = place(&mut found, body(c.body1), body(c.body2)) {
            found[i].contacts.push(k as u32);
        }
    }
    for (k, b) in p.blocks.iter().enumerate() {
        if let Some(i) = place(&mut found, node(b.systems[0]).or(node(b.systems[1])), node(b.systems[2])) {
            found[i].blocks.push(k as u32);
        }
    }
    let mut places = vec![u32::MAX; sets.len()];
    for k in 0..sets.len() as u32 {
        let island = island_of[sets.root(k) as usize];
        if let Some(island) = found.get_mut(island as usize) {
            let (own, old) = if (k as usize) < rigid { (&mut island.rigid, k) } else { (&mut island.general, k - rigid as u32) };
            places[k as usize] = own.len() as u32;
            own.push(old);
        }
    }
    Islands { parts: found, places }
}

impl Islands {
    /// Parts of rigid bodies and contacts among them, of a problem of so many bodies, that share no body; others may touch them.
    pub(super) fn of(bodies: usize, parts: Vec<Island>) -> Self {
        let mut places = vec![u32::MAX; bodies];
        for part in &parts {
            part.rigid.iter().zip(0..).for_each(|(&body, k)| places[body as usize] = k);
        }
        Self { parts, places }
    }

    /// One island as a problem of its own, ready to solve, with the guess that `answer` holds for it.
    pub(super) fn extract(&self, part: &Island, p: &MixedProblem, answer: &Answer) -> Option<(MixedProblem, Answer)> {
        let free: Vec<Twist> = part.rigid.iter().map(|&body| p.free.rigid[body as usize]).collect();
        self.extract_under(part, p, answer, &free)
    }

    /// The same, whose rigid bodies have these free velocities.
    pub(super) fn extract_under(&self, part: &Island, p: &MixedProblem, answer: &Answer, free: &[Twist]) -> Option<(MixedProblem, Answer)> {
        let mut q = MixedProblem { stop: p.stop, planar: p.planar, ..MixedProblem::default() };
        q.free.rigid.extend_from_slice(free);
        for &old in &part.rigid {
            q.rigid.push(p.rigid[old as usize]);
            q.resting.extend(p.resting.get(old as usize));
        }
        for &old in &part.general {
            let m = &p.general[old as usize];
            q.push_general(&p.general_inverse[m.inverse..][..m.dofs * m.dofs], &p.free.general[m.first..][..m.dofs]);
        }
        let (rigid, general) = self.places.split_at(p.rigid.len());
        let body = |i: u32| if i == IMMOBILE { IMMOBILE } else { rigid[i as usize] };
        let mut own = part.contacts.iter().copied().peekable();
        let colours = p.colours.windows(2).map(|c| &p.groups[c[0] as usize..=c[1] as usize]);
        for groups in colours {
            for group in groups.windows(2) {
                if own.next_if(|&k| k == group[0]).is_some() {
                    q.push_group((group[0]..group[1]).map(|k| {
                        let c = p.contacts[k as usize];
                        super::mixed::Contact { body1: body(c.body1), body2: body(c.body2), ..c }
                    }));
                    while own.next_if(|&k| k < group[1]).is_some() {}
                }
            }
            q.close_colour();
        }
        let system = |s: System| match s {
            System::Fixed => s,
            System::Rigid(i) => System::Rigid(rigid[i as usize]),
            System::General(i) => System::General(general[i as usize]),
        };
        for &k in &part.blocks {
            let b: Block = p.blocks[k as usize];
            let rows = p.block_rows(&b).map(|(old, rows)| (system(old), rows));
            q.push_rows(b.set, rows, &p.block_b[b.first..][..b.rows]);
            if let Some(last) = q.blocks.last_mut() {
                last.scale = b.scale;
            }
        }
        q.spare.extend(part.contacts.iter().filter_map(|&k| p.spare.get(k as usize)));
        q.lagged.extend(part.contacts.iter().filter_map(|&k| p.lagged.get(k as usize)));
        q.spins.extend(part.contacts.iter().filter_map(|&k| p.spins.get(k as usize)));
        q.prepare().ok()?;
        let mut a = Answer::for_problem(&q);
        a.reactions.contacts = part.contacts.iter().map(|&k| answer.reactions.contacts[k as usize]).collect();
        a.reactions.spins = part.contacts.iter().filter_map(|&k| answer.reactions.spins.get(k as usize).copied()).collect();
        a.reactions.blocks = part.block_rows(p).map(|row| answer.reactions.blocks[row]).collect();
        q.velocities(&a.reactions, &mut a.velocities);
        Some((q, a))
    }
}

impl Island {
    /// Writes the reactions of the island's own answer into that of the whole.
    pub(super) fn insert(&self, p: &MixedProblem, own: &Answer, answer: &mut Answer) {
        for (&k, &r) in self.contacts.iter().zip(&own.reactions.contacts) {
            answer.reactions.contacts[k as usize] = r;
        }
        for (&k, &r) in self.contacts.iter().zip(&own.reactions.spins) {
            answer.reactions.spins[k as usize] = r;
        }
        for (row, &r) in self.block_rows(p).zip(&own.reactions.blocks) {
            answer.reactions.blocks[row] = r;
        }
        if !own.wedged.is_empty() {
            answer.wedged.resize(p.contacts.len(), false);
            for (&k, &wedged) in self.contacts.iter().zip(&own.wedged) {
                answer.wedged[k as usize] = wedged;
            }
        }
        if !own.slack.is_empty() {
            answer.slack.resize(p.contacts.len(), 0.0);
            for (&k, &s) in self.contacts.iter().zip(&own.slack) {
                answer.slack[k as usize] = s;
            }
            answer.yields.resize(p.block_b.len(), 0.0);
            for (row, &s) in self.block_rows(p).zip(&own.yields) {
                answer.yields[row] = s;
            }
        }
    }

    fn block_rows<'a>(&'a self, p: &'a MixedProblem) -> impl Iterator<Item = usize> + 'a {
        self.blocks.iter().flat_map(|&k| {
            let b = &p.blocks[k as usize];
            b.first..b.first + b.rows
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::admissible::AdmissibleSet;
    use crate::numerics::mixed::{Contact, RigidMass};
    use glam::{DMat3, DVec3};

    #[test]
    fn parts_that_share_no_moving_body_are_islands_and_come_back_to_their_places() {
        let mut p = MixedProblem::default();
        for k in 0..5 {
            p.rigid.push(RigidMass { inverse_mass: DVec3::ONE, inverse_inertia: RigidMass::pack(DMat3::IDENTITY) });
            p.free.rigid.push(Twist { linear: -DVec3::Z * f64::from(k), ..Twist::default() });
        }
        let contact = |body1, body2| Contact { normal: DVec3::Z, tangent: DVec3::X, body1, body2, ..Contact::default() };
        p.push_group([contact(0, IMMOBILE), contact(0, IMMOBILE)]);
        p.push_group([contact(3, IMMOBILE)]);
        p.close_colour();
        p.push_group([contact(1, 3)]);
        p.close_colour();
        let row = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
        p.push_block(AdmissibleSet::Free, [System::Rigid(0), System::Rigid(2)], [&row, &row], &[0.0]);
        p.prepare().expect("legal");
        let islands = islands(&p);
        let found = &islands.parts;
        assert_eq!(found.len(), 2, "the fifth body has no rows");
        assert_eq!((&found[0].rigid[..], &found[0].contacts[..], &found[0].blocks[..]), (&[0, 2][..], &[0, 1][..], &[0][..]));
        assert_eq!((&found[1].rigid[..], &found[1].contacts[..]), (&[1, 3][..], &[2, 3][..]));
        let mut answer = Answer::for_problem(&p);
        answer.reactions.contacts = (0..4).map(|k| DVec3::splat(f64::from(k))).collect();
        answer.reactions.blocks[0] = 9.0;
        let mut copy = Answer::for_problem(&p);
        for island in found {
            let (q, own) = islands.extract(island, &p, &answer).expect("legal");
            assert_eq!(
                (q.contacts.len(), q.groups.len()),
                (own.reactions.contacts.len(), island.contacts.len().min(2) + usize::from(island.blocks.is_empty()))
            );
            island.insert(&p, &own, &mut copy);
        }
        assert_eq!(copy.reactions, answer.reactions);
    }
}
