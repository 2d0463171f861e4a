//! Cells of contacts: what one thread visits in one go, while others visit other cells.
//!
//! The rigid bodies are divided into 2ᵏ ranges of as many contacts each. Contacts within a range are a cell of the first level, those between the
//! ranges 2i and 2i+1 one of the second, between the pairs of ranges after these one of the third, and so on: a binary tree. No two cells
//! of a level share a body, so they are visited at the same time, one level after the other; a sweep waits k times for other
//! threads, not once for each colour, and most bodies stay in the cache of one thread.

use super::mixed::IMMOBILE;

/// Where the cells of a problem begin; none where its colours are visited one after the other.
///
/// ```
/// use drystone::numerics::{cells::Cells, mixed::IMMOBILE};
/// let (mut cells, mut ranges) = (Cells::default(), Vec::new());
/// // a chain of 9000 bodies with a contact at each joint, held at one end
/// let joints: Vec<([u32; 2], u32)> = (0..9000_u32).map(|i| ([i.checked_sub(1).unwrap_or(IMMOBILE), i], 1)).collect();
/// cells.divide(joints.iter().copied(), 9000, &mut ranges);
/// assert_eq!(cells.bodies, [0, 4499, 9000]);
/// assert_eq!(cells.levels, [0, 2, 3]);
/// assert_eq!([[0, 1], [4498, 4499], [4499, 4500]].map(|joint| cells.of(joint, &ranges)), [0, 2, 1]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cells {
    /// First colour of each cell, and the end.
    pub starts: Vec<u32>,
    /// First cell of each level, and the end.
    pub levels: Vec<u32>,
    /// First rigid body of each cell of the first level, and the end.
    pub bodies: Vec<u32>,
}

/// Contacts below which cells are not worth a second thread.
const LEAST: u64 = 4096;
/// Contacts of two, four, eight ranges: this many times their number cubed, as the contacts between ranges go with the square of the size of
/// a heap where those within go with its cube.
const CUBE: u64 = 256;
/// Part of the contacts that may lie between ranges: where bodies do not stand in the order of their places, most would.
const BETWEEN: u64 = 4;

impl Cells {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// No cells.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.levels.clear();
        self.bodies.clear();
    }

    /// Chooses the ranges for groups of contacts: rigid bodies of each ([`IMMOBILE`] for none) and number of contacts. They depend on the contacts
    /// alone, never on the number of threads; `ranges` says in which one each body is. `starts` stays empty until the colours of the cells are known.
    pub fn divide(&mut self, groups: impl Iterator<Item = ([u32; 2], u32)> + Clone, bodies: usize, ranges: &mut Vec<u32>) {
        self.clear();
        let total: u64 = groups.clone().map(|(_, points)| u64::from(points)).sum();
        if total < LEAST {
            return;
        }
        ranges.clear();
        ranges.resize(bodies, 0);
        for (ends, points) in groups.clone() {
            if let Some(body) = ends.into_iter().filter(|&body| body != IMMOBILE).min() {
                ranges[body as usize] += points;
            }
        }
        let most = (total / CUBE).ilog2() / 3;
        self.bodies.push(0);
        let mut before = 0;
        for (body, contacts) in (0..).zip(ranges.iter_mut()) {
            let own = u64::from(std::mem::replace(contacts, self.bodies.len() as u32 - 1));
            before += own;
            while (before << most) >= total * self.bodies.len() as u64 && self.bodies.len() < 1 << most {
                self.bodies.push(body + 1);
            }
        }
        self.bodies.resize(1 << most, bodies as u32);
        self.bodies.push(bodies as u32);
        // contacts of each level; a level that joins ranges makes those between them contacts within
        let mut counts = vec![0; most as usize + 1];
        groups.for_each(|(ends, points)| counts[place(ends, ranges)[0] as usize] += u64::from(points));
        let mut between: u64 = counts[1..].iter().sum();
        let joined = counts[1..].iter().take_while(|&&count| {
            let too_many = BETWEEN * between > total;
            between -= count;
            too_many
        });
        let joined = joined.count() as u32;
        if most == joined {
            return self.clear();
        }
        let mut k = 0;
        self.bodies.retain(|_| {
            k += 1;
            (k - 1) % (1 << joined) == 0
        });
        ranges.iter_mut().for_each(|range| *range >>= joined);
        self.number(most - joined);
    }

    /// Numbers the cells of 2ᵏ ranges, level by level.
    fn number(&mut self, k: u32) {
        self.levels.clear();
        self.levels.push(0);
        self.levels.extend((0..=k).map(|level| (2 << k) - (1 << (k - level))));
    }

    /// The cell of the contacts between two bodies, with the ranges of all that [`divide`](Self::divide) has found.
    pub fn of(&self, ends: [u32; 2], ranges: &[u32]) -> u32 {
        let [level, at] = place(ends, ranges);
        self.levels[level as usize] + at
    }

    /// How many cells there are.
    pub fn count(&self) -> usize {
        self.levels.last().map_or(0, |&end| end as usize)
    }
}

/// The level at which the ranges of two bodies are one, and their place in it.
fn place(ends: [u32; 2], ranges: &[u32]) -> [u32; 2] {
    let [one, two] = match ends {
        [one, IMMOBILE] | [IMMOBILE, one] => [ranges[one as usize]; 2],
        ends => ends.map(|body| ranges[body as usize]),
    };
    let level = u32::BITS - (one ^ two).leading_zeros();
    [level, one >> level]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Neighbours in a cube of n³ bodies, numbered line by line.
    fn cube(n: u32) -> Vec<([u32; 2], u32)> {
        let at = |x, y, z| (z * n + y) * n + x;
        let mut groups = Vec::new();
        for (x, y, z) in (0..n).flat_map(|z| (0..n).flat_map(move |y| (0..n).map(move |x| (x, y, z)))) {
            for other in [(x + 1, y, z), (x, y + 1, z), (x, y, z + 1)] {
                let inside = other.0 < n && other.1 < n && other.2 < n;
                groups.push(([at(x, y, z), if inside { at(other.0, other.1, other.2) } else { IMMOBILE }], 1));
            }
        }
        groups
    }

    #[test]
    fn cells_of_a_level_share_no_body() {
        for (n, count) in [(10, 0), (11, 0), (14, 2), (20, 4), (36, 8)] {
            let groups = cube(n);
            let (mut cells, mut ranges) = (Cells::default(), Vec::new());
            cells.divide(groups.iter().copied(), (n * n * n) as usize, &mut ranges);
            assert_eq!(cells.bodies.len().saturating_sub(1), count, "{n}");
            let mut counts = vec![0; cells.count()];
            for level in cells.levels.windows(2) {
                let mut owner = BTreeMap::new();
                for (ends, points) in &groups {
                    let cell = cells.of(*ends, &ranges);
                    if (level[0]..level[1]).contains(&cell) {
                        counts[cell as usize] += points;
                        for body in ends.iter().filter(|body| **body != IMMOBILE) {
                            assert_eq!(*owner.entry(body).or_insert(cell), cell, "two cells meet at {body}");
                        }
                    }
                }
            }
            assert_eq!(counts.iter().sum::<u32>(), if count == 0 { 0 } else { groups.len() as u32 });
            let (low, high) = (counts.iter().take(count).min(), counts.iter().take(count).max());
            assert!(high.unwrap_or(&0) * 4 <= low.unwrap_or(&0) * 5, "cells of {low:?} to {high:?} contacts");
        }
    }

    #[test]
    fn bodies_that_do_not_stand_in_order_have_no_cells() {
        let n = 20;
        let mut groups = cube(n);
        let scattered = |body: u32| if body == IMMOBILE { body } else { body * 4999 % (n * n * n) };
        groups.iter_mut().for_each(|(ends, _)| *ends = ends.map(scattered));
        let mut cells = Cells::default();
        cells.divide(groups.iter().copied(), (n * n * n) as usize, &mut Vec::new());
        assert!(cells.is_empty());
    }

    #[test]
    fn a_body_that_all_others_touch_is_in_one_of_the_ranges() {
        let groups: Vec<_> = (1..20_000).flat_map(|i| [([0, i], 1), ([IMMOBILE, i], 5)]).collect();
        let mut cells = Cells::default();
        cells.divide(groups.iter().copied(), 20_000, &mut Vec::new());
        assert!(cells.bodies.len() > 2 && cells.bodies.windows(2).all(|b| b[0] < b[1]), "{cells:?}");
    }
}
