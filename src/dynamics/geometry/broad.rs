//! Whose boxes overlap.
//!
//! A bounding volume hierarchy (parry's) finds candidates; the exact test of the two boxes decides, so the answer is the set of
//! overlapping boxes and nothing of the tree's history shows. Half-spaces have no box: they are kept aside and tested against the
//! box of everything else.
//!
//! The tree holds boxes with a skin. Its candidates stand as long as every box stays within its own (Verlet), so that bodies at rest
//! cost the exact test alone.

use super::crowd::{CANDIDATES, Crowd};
use crate::algebra::pieces::{Part, each_piece, length, share};
use glam::DVec3;
use parry3d::bounding_volume::Aabb;
use parry3d::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};
use rayon::prelude::*;

/// One entry, under its leaf number.
#[derive(Clone, Copy)]
pub(super) enum Entry {
    Vacant,
    Box {
        exact: Aabb,
        /// What the tree holds.
        skin: Aabb,
        /// Along which axes it has been moved as an image; two that share one are no pair.
        image: u8,
    },
    /// `x · normal ≤ offset`.
    HalfSpace {
        normal: DVec3,
        offset: f64,
    },
}

impl Entry {
    /// Takes over a box that stays within its skin; false for any other.
    pub(super) fn keep(&mut self, low: DVec3, high: DVec3) -> bool {
        match self {
            Self::Box { exact, skin, .. } if skin.mins.cmple(low).all() && high.cmple(skin.maxs).all() => {
                *exact = Aabb { mins: low, maxs: high };
                true
            }
            _ => false,
        }
    }
}

/// A ball around what a leaf stands for, farther out by as much as its box is: most boxes of grains that overlap have balls that do not.
#[derive(Clone, Copy)]
pub(super) struct Around {
    centre: DVec3,
    radius: f64,
}

impl Around {
    /// Of what no ball is known.
    pub(super) const ALL: Self = Self { centre: DVec3::ZERO, radius: f64::INFINITY };

    pub(super) fn new(centre: DVec3, radius: f64) -> Self {
        if radius.is_finite() { Self { centre, radius } } else { Self::ALL }
    }

    /// Elsewhere.
    pub(super) fn shifted(self, by: DVec3) -> Self {
        Self { centre: self.centre + by, ..self }
    }

    #[inline]
    fn meets(&self, other: &Self) -> bool {
        let sum = self.radius + other.radius;
        self.centre.distance_squared(other.centre) <= sum * sum
    }
}

/// What is known of what a box holds: how far it goes in a step (m), and a ball around it.
#[derive(Clone, Copy)]
pub(super) struct Content {
    pub(super) way: DVec3,
    pub(super) around: Around,
}

impl Content {
    pub(super) const UNKNOWN: Self = Self { way: DVec3::ZERO, around: Around::ALL };
}

/// Of so many leaves one is asked for its neighbours before all are.
const ASKED: usize = 64;

/// Candidates that are worth a second thread.
const MANY: usize = 4096;
/// Candidates are sought for boxes one by one where at most one in so many has left its skin.
pub(super) const FEW: usize = 16;
/// Thickness of a skin, in parts of its box.
const SKIN: f64 = 0.05;
/// Steps for which it reaches ahead of a box that moves, and most that it does, in parts of the box: grains that fall or flow would else all leave theirs at every
/// step.
const STEPS: f64 = 16.0;
const AHEAD: f64 = 0.5;

/// The smaller leaf first, where skins overlap or touch, and no other images of both meet in their place.
fn candidate(entries: &[Entry], i: u32, j: u32) -> Option<(u32, u32)> {
    match (&entries[i as usize], &entries[j as usize]) {
        (Entry::Box { skin: a, image: one, .. }, Entry::Box { skin: b, image: two, .. }) => {
            (one & two == 0 && overlap(a, b)).then_some((i.min(j), i.max(j)))
        }
        _ => None,
    }
}

fn overlap(a: &Aabb, b: &Aabb) -> bool {
    a.mins.cmple(b.maxs).all() && b.mins.cmple(a.maxs).all()
}

/// Whether a box reaches into the half-space `x · normal ≤ offset`.
fn reaches(a: &Aabb, normal: DVec3, offset: f64) -> bool {
    let (centre, half) = (0.5 * (a.mins + a.maxs), 0.5 * (a.maxs - a.mins));
    normal.dot(centre) - normal.abs().dot(half) <= offset
}

/// Whether the skin of a box reaches into a half-space. By rounding, a box on the border of its skin may reach a little farther.
fn beside(entry: &Entry, plane: &Entry) -> bool {
    let (Entry::Box { skin, .. }, Entry::HalfSpace { normal, offset }) = (entry, plane) else { return false };
    reaches(skin, *normal, offset + 8.0 * f64::EPSILON * (skin.mins.length() + skin.maxs.length()))
}

/// Boxes and half-spaces that may overlap.
///
/// ```
/// use drystone::geometry::BroadPhase;
/// use glam::DVec3;
/// let mut broad = BroadPhase::default();
/// broad.set_box(7, DVec3::ZERO, DVec3::ONE);
/// broad.set_box(3, DVec3::splat(0.9), DVec3::splat(2.0));
/// broad.set_half_space(5, DVec3::Z, 0.5);
/// let mut pairs = Vec::new();
/// broad.pairs(&mut pairs)?;
/// assert_eq!(pairs, [(3, 7), (5, 7)]);
/// # Ok::<(), drystone::geometry::Crowd>(())
/// ```
#[derive(Default)]
pub struct BroadPhase {
    entries: Vec<Entry>,
    around: Vec<Around>,
    half_spaces: Vec<u32>,
    tree: Bvh,
    workspace: BvhWorkspace,
    /// Whether the tree has yet to be brought up to date with its leaves.
    changed: bool,
    /// Whether candidates have yet to be sought: all of them, or those of boxes that have left their skins, come or gone.
    stale: bool,
    anew: bool,
    /// Whether all candidates have been sought, though not every box that moves had got a new skin: images of a periodic cell get theirs then, so
    /// that these last together.
    renews: bool,
    moved: Vec<u32>,
    /// Leaves that the tree still holds, but for those that have come back.
    gone: Vec<u32>,
    /// By leaf: whether it is one of these.
    has_moved: Vec<bool>,
    fresh: Vec<(u32, u32)>,
    /// How often the latter was enough.
    #[cfg(test)]
    renewals: usize,
    new_leaves: u32,
    candidates: Vec<(u32, u32)>,
    starts: Vec<u32>,
    sorted: Vec<(u32, u32)>,
    /// What each of several threads has found.
    pieces: Vec<Vec<(u32, u32)>>,
}

impl std::fmt::Debug for BroadPhase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BroadPhase {{ boxes: {}, half_spaces: {} }}", self.tree.leaf_count(), self.half_spaces.len())
    }
}

impl BroadPhase {
    /// Adds the box of `leaf`, or moves it. Leaf numbers index an array: keep them small.
    pub fn set_box(&mut self, leaf: u32, low: DVec3, high: DVec3) {
        self.set_image(leaf, 0, [low, high], Content::UNKNOWN);
    }

    /// The same of a box that has been moved along the axes of these bits: it meets none that has been moved along one of them.
    pub(super) fn set_image(&mut self, leaf: u32, image: u8, [low, high]: [DVec3; 2], Content { way, around }: Content) {
        let worn = self.renews && way != DVec3::ZERO;
        if worn || !self.entry_mut(leaf).keep(low, high) {
            self.set_moving(leaf, image, [low, high], way);
        }
        self.around[leaf as usize] = around;
    }

    /// Gives a box a new skin, which reaches ahead of it as it goes so far in a step (m).
    pub(super) fn set_moving(&mut self, leaf: u32, image: u8, [low, high]: [DVec3; 2], way: DVec3) {
        if let Entry::HalfSpace { .. } = self.entry_mut(leaf) {
            self.remove(leaf);
        }
        let exact = Aabb { mins: low, maxs: high };
        let entry = &mut self.entries[leaf as usize];
        let new = matches!(entry, Entry::Vacant);
        self.new_leaves += u32::from(new);
        let (margin, most) = (SKIN * (high - low).max_element(), AHEAD * (high - low));
        let ahead = (STEPS * way).clamp(-most, most);
        let skin = Aabb { mins: low - margin + ahead.min(DVec3::ZERO), maxs: high + margin + ahead.max(DVec3::ZERO) };
        let here = matches!(entry, Entry::Box { skin: old, .. } if overlap(old, &skin));
        *entry = Entry::Box { exact, skin, image };
        if !here {
            // what goes far would keep its place in the tree, whose boxes would span the way
            self.tree.remove(leaf);
        }
        self.tree.insert_or_update_partially(skin, leaf, 0.0);
        self.changed = true;
        self.seek_for(leaf);
    }

    /// Candidates of this leaf have yet to be sought.
    fn seek_for(&mut self, leaf: u32) {
        self.stale = true;
        self.has_moved.resize(self.entries.len(), false);
        if !std::mem::replace(&mut self.has_moved[leaf as usize], true) {
            self.moved.push(leaf);
        }
    }

    /// The first `count` entries, and the balls around them.
    pub(super) fn entries(&mut self, count: usize) -> (&mut [Entry], &mut [Around]) {
        self.grow(count);
        (&mut self.entries[..count], &mut self.around[..count])
    }

    /// Makes room for so many leaves.
    fn grow(&mut self, count: usize) {
        if self.entries.len() < count {
            self.entries.resize(count, Entry::Vacant);
            self.around.resize(count, Around::ALL);
        }
    }

    /// Sets the boxes of many leaves: (leaf, lower corner, upper corner).
    pub fn update(&mut self, boxes: &[(u32, DVec3, DVec3)]) {
        for &(leaf, low, high) in boxes {
            self.set_box(leaf, low, high);
        }
    }

    /// Adds the half-space `x · normal ≤ offset` (unit normal; offset in m, any margin included) as `leaf`, or moves it.
    pub fn set_half_space(&mut self, leaf: u32, normal: DVec3, offset: f64) {
        match *self.entry_mut(leaf) {
            Entry::HalfSpace { normal: n, offset: o } if (n, o) == (normal, offset) => return,
            Entry::HalfSpace { .. } => {}
            _ => {
                self.remove(leaf);
                self.half_spaces.push(leaf);
            }
        }
        self.entries[leaf as usize] = Entry::HalfSpace { normal, offset };
        self.around[leaf as usize] = Around::ALL;
        (self.stale, self.anew) = (true, true);
    }

    /// Forgets `leaf`; nothing happens when it is not there.
    pub fn remove(&mut self, leaf: u32) {
        match *self.entry_mut(leaf) {
            Entry::Vacant => return,
            // by one refit for all that go
            Entry::Box { .. } => self.gone.push(leaf),
            Entry::HalfSpace { .. } => {
                self.half_spaces.retain(|&other| other != leaf);
                self.anew = true;
            }
        }
        self.entries[leaf as usize] = Entry::Vacant;
        self.seek_for(leaf);
    }

    /// All pairs `(i, j)` with `i < j` whose boxes overlap or touch, in ascending order; a half-space pairs with every box that it
    /// touches, and with no other half-space. The previous content of `out` is replaced.
    ///
    /// # Errors
    /// There are so many that memory could run out: beyond 30 million and 64 for each leaf. `out` is empty then.
    pub fn pairs(&mut self, out: &mut Vec<(u32, u32)>) -> Result<(), Crowd> {
        out.clear();
        let renewed = std::mem::take(&mut self.renews);
        if std::mem::take(&mut self.stale) {
            self.flush();
            let few = !std::mem::take(&mut self.anew) && FEW * self.moved.len() <= self.entries.len();
            let crowd = if few { self.crowd(self.moved.len(), |k| self.moved[k]) } else { self.crowd(self.entries.len(), |k| k as u32) };
            if let Some(crowd) = crowd {
                // all have yet to be sought
                (self.stale, self.anew) = (true, true);
                return Err(crowd);
            }
            if few {
                self.renew();
            } else {
                self.seek();
                self.renews = !renewed;
            }
            for leaf in self.moved.drain(..) {
                self.has_moved[leaf as usize] = false;
            }
        }
        let Self { entries, around, candidates, pieces, .. } = self;
        let meet = |i: u32, j: u32| {
            around[i as usize].meets(&around[j as usize])
                && match (&entries[i as usize], &entries[j as usize]) {
                    (Entry::Box { exact: a, .. }, Entry::Box { exact: b, .. }) => overlap(a, b),
                    (Entry::HalfSpace { normal, offset }, Entry::Box { exact, .. })
                    | (Entry::Box { exact, .. }, Entry::HalfSpace { normal, offset }) => reaches(exact, *normal, *offset),
                    _ => false,
                }
        };
        if !share(Part::Broad, candidates.len(), MANY) {
            out.extend(candidates.iter().filter(|&&(i, j)| meet(i, j)));
            return Ok(());
        }
        let length = length(candidates.len());
        each_piece(candidates, length, pieces, |_, candidates, found| {
            found.clear();
            found.extend(candidates.iter().filter(|&&(i, j)| meet(i, j)));
        });
        pieces.iter().take(candidates.len().div_ceil(length)).for_each(|found| out.extend_from_slice(found));
        Ok(())
    }

    /// Whether there are far too many pairs of these leaves and others, by a sample of the leaves in no rhythm that a scene may have.
    fn crowd(&self, leaves: usize, leaf: impl Fn(usize) -> u32) -> Option<Crowd> {
        let count = self.entries.len();
        let most = CANDIDATES.of(count) as f64;
        if leaves as f64 * count as f64 <= 2.0 * most {
            return None;
        }
        let (mut asked, mut sum, mut fullest) = (0.0, 0.0, (0, 0));
        for group in 0..leaves / ASKED {
            // Knuth's multiplicative hash
            let within = (group as u32).wrapping_mul(2_654_435_761) as usize / (u32::MAX as usize / ASKED + 1);
            let leaf = leaf(group * ASKED + within);
            let Entry::Box { skin, .. } = &self.entries[leaf as usize] else { continue };
            let beside = self.tree.intersect_aabb(skin).count().saturating_sub(1);
            (asked, sum) = (asked + 1.0, sum + beside as f64);
            if beside > fullest.1 {
                fullest = (leaf, beside);
            }
            // three bodies that are beside all others, such as walls, say nothing of these
            if 0.5 * ASKED as f64 * (sum - 3.0 * fullest.1 as f64) > most {
                return Some(Crowd { pairs: 0.5 * sum / asked * leaves as f64, leaf: fullest.0, beside: fullest.1 });
            }
        }
        None
    }

    /// The pairs whose skins overlap or touch, in ascending order.
    fn seek(&mut self) {
        let Self { entries, half_spaces, tree, workspace, candidates, pieces, .. } = self;
        let entries = entries.as_slice();
        let near = |i: u32, j: u32| candidate(entries, i, j);
        let near_planes = |first: usize, some: &[Entry], found: &mut Vec<(u32, u32)>| {
            for &plane in half_spaces.iter() {
                let reached = (first as u32..).zip(some).filter(|(_, entry)| beside(entry, &entries[plane as usize]));
                found.extend(reached.map(|(leaf, _)| (plane.min(leaf), plane.max(leaf))));
            }
        };
        candidates.clear();
        if share(Part::Broad, entries.len(), MANY) {
            let mut reached = tree.traverse_bvtt_single_tree_parallel::<false>();
            let some = length(reached.len());
            each_piece(&mut reached, some, pieces, |_, reached, found| {
                found.clear();
                found.extend(reached.iter().filter_map(|&(i, j)| near(i, j)));
            });
            pieces.iter().take(reached.len().div_ceil(some)).for_each(|found| candidates.extend_from_slice(found));
            let some = length(entries.len());
            let of_planes = |(k, entries): (usize, &[Entry])| {
                let mut found = Vec::new();
                near_planes(k * some, entries, &mut found);
                found
            };
            let found: Vec<_> = entries.par_chunks(some).enumerate().map(of_planes).collect();
            found.iter().for_each(|found| candidates.extend_from_slice(found));
        } else {
            tree.traverse_bvtt_single_tree::<false>(workspace, &mut |i, j| candidates.extend(near(i, j)));
            near_planes(0, entries, candidates);
        }
        self.sort();
    }

    /// The same where few boxes have left their skins: what is known of all others stands.
    fn renew(&mut self) {
        let Self { entries, half_spaces, tree, candidates, pieces, moved, has_moved, fresh, sorted, .. } = self;
        let (entries, has_moved) = (entries.as_slice(), has_moved.as_slice());
        candidates.retain(|&(i, j)| !has_moved[i as usize] && !has_moved[j as usize]);
        let some = if share(Part::Broad, moved.len(), MANY / 16) { length(moved.len()) } else { moved.len().max(1) };
        each_piece(moved, some, pieces, |_, moved, found| {
            found.clear();
            for &mut leaf in moved {
                let entry = &entries[leaf as usize];
                let Entry::Box { skin, .. } = entry else { continue };
                for other in tree.intersect_aabb(skin) {
                    // two that have moved would find each other twice
                    let twice = has_moved[other as usize] && other <= leaf;
                    if !twice {
                        found.extend(candidate(entries, leaf, other));
                    }
                }
                let planes = half_spaces.iter().filter(|&&plane| beside(entry, &entries[plane as usize]));
                found.extend(planes.map(|&plane| (plane.min(leaf), plane.max(leaf))));
            }
        });
        fresh.clear();
        pieces.iter().take(moved.len().div_ceil(some)).for_each(|found| fresh.extend_from_slice(found));
        fresh.sort_unstable();
        sorted.clear();
        let mut new = fresh.iter().copied().peekable();
        for &old in candidates.iter() {
            while let Some(pair) = new.next_if(|&pair| pair < old) {
                sorted.push(pair);
            }
            sorted.push(old);
        }
        sorted.extend(new);
        std::mem::swap(candidates, sorted);
        #[cfg(test)]
        {
            self.renewals += 1;
        }
    }

    /// Candidates in ascending order: counted by first leaf, then sorted within each.
    fn sort(&mut self) {
        let Self { entries, starts, sorted, candidates, .. } = self;
        starts.clear();
        starts.resize(entries.len() + 1, 0);
        candidates.iter().for_each(|pair| starts[pair.0 as usize + 1] += 1);
        (1..starts.len()).for_each(|i| starts[i] += starts[i - 1]);
        sorted.clear();
        sorted.resize(candidates.len(), (0, 0));
        for pair in candidates.iter() {
            let place = &mut starts[pair.0 as usize];
            sorted[*place as usize] = *pair;
            *place += 1;
        }
        if share(Part::Broad, sorted.len(), MANY) {
            sorted.par_chunk_by_mut(|a, b| a.0 == b.0).for_each(<[_]>::sort_unstable);
        } else {
            sorted.chunk_by_mut(|a, b| a.0 == b.0).for_each(<[_]>::sort_unstable);
        }
        std::mem::swap(candidates, sorted);
    }

    fn entry_mut(&mut self, leaf: u32) -> &mut Entry {
        self.grow(leaf as usize + 1);
        &mut self.entries[leaf as usize]
    }

    /// Brings the tree up to date with its leaves.
    fn flush(&mut self) {
        if self.changed {
            if share(Part::Broad, self.entries.len(), MANY) {
                self.tree.refit_parallel(&mut self.workspace);
            } else {
                self.tree.refit(&mut self.workspace);
            }
            // a tree grown leaf by leaf is a poor one
            if 4 * self.new_leaves > self.tree.leaf_count() {
                self.tree.rebuild(&mut self.workspace, BvhBuildStrategy::Binned);
                self.new_leaves = 0;
            }
            self.tree.optimize_incremental(&mut self.workspace);
            self.changed = false;
        }
        for leaf in self.gone.drain(..) {
            if !matches!(self.entries[leaf as usize], Entry::Box { .. }) {
                self.tree.remove(leaf);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::tests::Dice;

    fn random_box(dice: &mut Dice) -> (DVec3, DVec3) {
        let (centre, half) = (dice.vector() * 2.0, DVec3::splat(0.4 * dice.unit()));
        (centre - half, centre + half)
    }

    fn by_brute_force(boxes: &[Option<(DVec3, DVec3)>]) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        for (i, a) in boxes.iter().enumerate() {
            for (j, b) in boxes.iter().enumerate().skip(i + 1) {
                if let (Some(a), Some(b)) = (a, b)
                    && a.0.cmple(b.1).all()
                    && b.0.cmple(a.1).all()
                {
                    pairs.push((i as u32, j as u32));
                }
            }
        }
        pairs
    }

    #[test]
    fn boxes_around_balls_that_do_not_meet_are_no_pair() {
        let (mut broad, mut pairs) = (BroadPhase::default(), Vec::new());
        let centres = [DVec3::ZERO, DVec3::new(0.8, 0.8, 0.0)];
        let set = |broad: &mut BroadPhase| {
            for (leaf, x) in centres.iter().enumerate() {
                broad.set_box(leaf as u32, *x - 0.5, *x + 0.5);
            }
        };
        let mut found = |broad: &mut BroadPhase, radius: Option<f64>| {
            if let Some(radius) = radius {
                let (_, around) = broad.entries(2);
                around.iter_mut().zip(centres).for_each(|(around, x)| *around = Around::new(x, radius));
            }
            broad.pairs(&mut pairs).unwrap();
            pairs.len()
        };
        set(&mut broad);
        assert_eq!([None, Some(0.56), Some(0.57), Some(f64::INFINITY), Some(0.5)].map(|radius| found(&mut broad, radius)), [1, 0, 1, 1, 0]);
        // a box that is set by itself says nothing of a ball
        set(&mut broad);
        assert_eq!(found(&mut broad, None), 1);
        // nor does a half-space that takes the place of one
        assert_eq!(found(&mut broad, Some(0.5)), 0);
        broad.set_half_space(1, DVec3::X, 0.1);
        assert_eq!(found(&mut broad, None), 1);
    }

    #[test]
    fn pairs_are_those_of_brute_force_whatever_came_and_went() {
        for (leaves, rounds, removed) in [(300, 60, 0.05), (40, 300, 0.3), (3, 300, 0.4)] {
            let mut dice = Dice(31);
            let mut boxes: Vec<Option<(DVec3, DVec3)>> = vec![None; leaves];
            let mut broad = BroadPhase::default();
            let mut pairs = Vec::new();
            for round in 0..rounds {
                for (leaf, slot) in boxes.iter_mut().enumerate() {
                    let x = dice.unit();
                    if x < removed {
                        *slot = None;
                        broad.remove(leaf as u32);
                    } else if x < 0.6 {
                        let (low, high) = random_box(&mut dice);
                        *slot = Some((low, high));
                        broad.set_box(leaf as u32, low, high);
                    }
                }
                // all creep, most of them within their skins
                for _ in 0..3 {
                    for (leaf, slot) in boxes.iter_mut().enumerate() {
                        if let Some((low, high)) = slot {
                            let (grown, way) = (0.01 * dice.unit() - 0.005, dice.vector() * 0.01);
                            (*low, *high) = (*low + way - grown, *high + way + grown);
                            // whatever the skin is said to reach ahead of
                            if dice.unit() < 0.3 {
                                broad.set_moving(leaf as u32, 0, [*low, *high], 0.2 * dice.vector());
                            } else {
                                broad.set_box(leaf as u32, *low, *high);
                            }
                        }
                    }
                    broad.pairs(&mut pairs).unwrap();
                    assert_eq!(pairs, by_brute_force(&boxes), "{leaves} leaves, round {round}");
                }
                broad.pairs(&mut pairs).unwrap();
                assert_eq!(pairs, by_brute_force(&boxes), "{leaves} leaves, round {round}");
                // a few go far
                for _ in 0..leaves / 20 {
                    let leaf = (dice.unit() * leaves as f64) as usize % leaves;
                    if boxes[leaf].is_some() {
                        let (low, high) = random_box(&mut dice);
                        boxes[leaf] = Some((low, high));
                        broad.set_box(leaf as u32, low, high);
                    }
                }
                broad.pairs(&mut pairs).unwrap();
                assert_eq!(pairs, by_brute_force(&boxes), "{leaves} leaves, round {round}, a few moved");
            }
            assert!(leaves < 20 || broad.renewals > rounds / 2, "{leaves} leaves: sought one by one {} times", broad.renewals);
        }
    }

    #[test]
    fn a_half_space_meets_the_boxes_that_it_reaches_and_no_other_half_space() {
        let mut broad = BroadPhase::default();
        broad.set_half_space(0, DVec3::Z, 0.0);
        broad.set_half_space(9, DVec3::X, 0.0);
        broad.set_box(3, DVec3::splat(1.0), DVec3::splat(2.0));
        broad.set_box(4, DVec3::new(1.0, 1.0, 0.0), DVec3::splat(2.0));
        let mut pairs = Vec::new();
        broad.pairs(&mut pairs).unwrap();
        assert_eq!(pairs, [(0, 4), (3, 4)]);
        broad.remove(9);
        broad.set_box(0, DVec3::ZERO, DVec3::ONE);
        broad.remove(4);
        broad.pairs(&mut pairs).unwrap();
        assert_eq!(pairs, [(0, 3)]);
    }
}
