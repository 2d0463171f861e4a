//! Order and colours of the contact groups.
//!
//! Groups come in any order and leave sorted by their slots, then coloured greedily: the colour of a group is the lowest
//! one that neither of its bodies has met. Immobile bodies do not count. Many groups are divided into cells first, each with colours of its own.
//! Everything depends on the set of groups alone, never on how they were found.

use crate::numerics::cells::Cells;
use crate::numerics::mixed::IMMOBILE;

/// One pair of bodies with active contacts.
///
/// ```
/// use drystone::topology::graph::Group;
/// assert_eq!(Group { slots: [0, 1], rows: [0, 1], points: 4, source: 0 }.points, 4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Slots, ascending.
    pub slots: [u32; 2],
    /// Rows among the mobile bodies, or [`IMMOBILE`].
    pub rows: [u32; 2],
    /// Number of active points.
    pub points: u32,
    /// Where the caller finds the pair again.
    pub source: u32,
}

/// Buffers and result of [`Colouring::arrange`].
///
/// ```
/// use drystone::{numerics::mixed::IMMOBILE, topology::graph::{Colouring, Group}};
/// let mut c = Colouring::default();
/// let floor = |i| Group { slots: [0, i], rows: [IMMOBILE, i - 1], points: 1, source: i };
/// c.arrange(&[floor(2), Group { slots: [1, 2], rows: [0, 1], points: 1, source: 9 }, floor(1)], 3, 2);
/// assert_eq!(c.order, [2, 0, 1]);          // both floor contacts first …
/// assert_eq!(c.colours, [0, 2, 3]);        // … in one colour
/// ```
#[derive(Clone, Debug, Default)]
pub struct Colouring {
    /// Indices of the groups, colour by colour.
    pub order: Vec<u32>,
    /// Start of each colour in `order`, and the end.
    pub colours: Vec<u32>,
    /// Cells of colours, where these are worth it.
    pub cells: Cells,
    starts: Vec<u32>,
    sorted: Vec<u32>,
    used: Vec<u64>,
    colour: Vec<u32>,
    ranges: Vec<u32>,
    /// of each group, and colours of each
    cell: Vec<u32>,
    counts: Vec<u32>,
}

/// Colours that a mask of 64 bits holds; groups beyond go one by one into colours of their own.
const MASK: u32 = 64;

impl Colouring {
    /// Sorts and colours `groups`, given the number of slots and of mobile bodies.
    pub fn arrange(&mut self, groups: &[Group], slots: usize, mobile: usize) {
        self.sort(groups, slots);
        self.cells.divide(groups.iter().map(|g| (g.rows, g.points)), mobile, &mut self.ranges);
        self.colour.clear();
        self.colour.resize(groups.len(), 0);
        self.cell.clear();
        self.cell.extend(groups.iter().map(|g| if self.cells.is_empty() { 0 } else { self.cells.of(g.rows, &self.ranges) }));
        self.counts.clear();
        self.counts.resize(self.cells.count().max(1), 0);
        // a body meets one cell of a level
        let levels = self.cells.levels.len().saturating_sub(1).max(1);
        self.used.clear();
        self.used.resize(mobile * levels, 0);
        for &g in &self.sorted {
            let cell = self.cell[g as usize];
            let level = self.cells.levels.iter().skip(1).take_while(|&&end| end <= cell).count();
            let rows = groups[g as usize].rows.into_iter().filter(|&r| r != IMMOBILE).map(|r| r as usize * levels + level);
            let taken = rows.clone().fold(0, |mask, r| mask | self.used[r]);
            let mut colour = (!taken).trailing_zeros();
            let count = &mut self.counts[cell as usize];
            if colour == MASK {
                colour = (*count).max(MASK);
            } else {
                rows.for_each(|r| self.used[r] |= 1 << colour);
            }
            self.colour[g as usize] = colour;
            *count = (*count).max(colour + 1);
        }
        let mut count = 0;
        for colours in &mut self.counts {
            (*colours, count) = (count, count + *colours);
        }
        if !self.cells.is_empty() {
            self.cells.starts.extend_from_slice(&self.counts);
            self.cells.starts.push(count);
        }
        self.colours.clear();
        self.colours.resize(count as usize + 1, 0);
        for (colour, &cell) in self.colour.iter_mut().zip(&self.cell) {
            *colour += self.counts[cell as usize];
            self.colours[*colour as usize + 1] += 1;
        }
        for c in 0..count as usize {
            self.colours[c + 1] += self.colours[c];
        }
        self.starts.clear();
        self.starts.extend_from_slice(&self.colours);
        self.order.clear();
        self.order.resize(groups.len(), 0);
        for &g in &self.sorted {
            let at = &mut self.starts[self.colour[g as usize] as usize];
            self.order[*at as usize] = g;
            *at += 1;
        }
    }

    /// Counting sort by the first slot, then by the second. Two groups of one pair, the second of which was foreseen, stay as they come: wherever
    /// the pair stands in its table, which depends on what came and went before.
    fn sort(&mut self, groups: &[Group], slots: usize) {
        self.starts.clear();
        self.starts.resize(slots + 1, 0);
        groups.iter().for_each(|g| self.starts[g.slots[0] as usize + 1] += 1);
        for s in 0..slots {
            self.starts[s + 1] += self.starts[s];
        }
        self.sorted.clear();
        self.sorted.resize(groups.len(), 0);
        let mut next = std::mem::take(&mut self.colour);
        next.clear();
        next.extend_from_slice(&self.starts);
        for (i, g) in groups.iter().enumerate() {
            let at = &mut next[g.slots[0] as usize];
            self.sorted[*at as usize] = i as u32;
            *at += 1;
        }
        self.colour = next;
        for bucket in self.starts.windows(2) {
            self.sorted[bucket[0] as usize..bucket[1] as usize].sort_unstable_by_key(|&g| (groups[g as usize].slots[1], g));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_groups_of_a_colour_share_a_mobile_body_and_discovery_order_does_not_matter() {
        let mut groups = Vec::new();
        for i in 1..200u32 {
            for j in i + 1..(i + 1 + (i * 7) % 9).min(200) {
                groups.push(Group { slots: [i, j], rows: [i - 1, j - 1], points: 1, source: 0 });
            }
            groups.push(Group { slots: [0, i], rows: [IMMOBILE, i - 1], points: 1, source: 0 });
        }
        let mut a = Colouring::default();
        a.arrange(&groups, 200, 199);
        for colour in a.colours.windows(2) {
            let mut seen = std::collections::BTreeSet::new();
            for &g in &a.order[colour[0] as usize..colour[1] as usize] {
                assert!(groups[g as usize].rows.iter().filter(|r| **r != IMMOBILE).all(|r| seen.insert(*r)));
            }
        }
        let in_order: Vec<[u32; 2]> = a.order.iter().map(|&g| groups[g as usize].slots).collect();
        groups.reverse();
        let mut b = Colouring::default();
        b.arrange(&groups, 200, 199);
        let reversed: Vec<[u32; 2]> = b.order.iter().map(|&g| groups[g as usize].slots).collect();
        assert_eq!(in_order, reversed);
        assert_eq!(a.colours, b.colours);
    }

    #[test]
    fn two_groups_of_a_pair_keep_their_order_wherever_others_stand() {
        let pair = |i: u32, points| Group { slots: [0, i], rows: [IMMOBILE, i - 1], points, source: 0 };
        for start in 1..40 {
            let turned = |points| (0..100).map(move |k| pair((start + 37 * k) % 100 + 1, points));
            let groups: Vec<Group> = turned(1).chain(turned(2)).collect();
            let mut c = Colouring::default();
            c.arrange(&groups, 101, 100);
            let first = |i: u32| c.order.iter().map(|&g| groups[g as usize]).find(|g| g.slots[1] == i).map(|g| g.points);
            assert!((1..=100).all(|i| first(i) == Some(1)), "from {start} on");
        }
    }

    #[test]
    fn a_body_with_more_than_64_neighbours_is_coloured_too() {
        let groups: Vec<Group> = (1..100).map(|i| Group { slots: [0, i], rows: [0, i], points: 1, source: i }).collect();
        let mut c = Colouring::default();
        c.arrange(&groups, 100, 100);
        assert_eq!(c.colours.len(), 100);
    }
}
