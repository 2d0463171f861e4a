//! Which things hang together: disjoint sets by union and path halving.

/// A partition of `0..n`; each set is named by its least member.
#[derive(Clone, Debug, Default)]
pub struct DisjointSets(Vec<u32>);

impl DisjointSets {
    /// `n` sets of one member.
    pub fn new(n: usize) -> Self {
        let mut sets = Self::default();
        sets.reset(n);
        sets
    }

    /// Starts again with `n` sets of one member, in the memory at hand.
    pub fn reset(&mut self, n: usize) {
        self.0.clear();
        self.0.extend(0..n as u32);
    }

    /// Number of members of all sets.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The least member of the set of `i`.
    pub fn root(&mut self, i: u32) -> u32 {
        let mut at = i;
        while self.0[at as usize] != at {
            let above = self.0[self.0[at as usize] as usize];
            self.0[at as usize] = above;
            at = above;
        }
        at
    }

    /// Makes one set of those of `i` and `j`.
    pub fn join(&mut self, i: u32, j: u32) {
        let (i, j) = (self.root(i), self.root(j));
        self.0[i.max(j) as usize] = i.min(j);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_named_by_their_least_member_in_whatever_order_they_are_joined() {
        let links = [(5, 2), (7, 8), (2, 9), (8, 6), (1, 1)];
        for turn in 0..links.len() {
            let mut sets = DisjointSets::new(10);
            for k in 0..links.len() {
                let (i, j) = links[(k + turn) % links.len()];
                if turn % 2 == 0 { sets.join(i, j) } else { sets.join(j, i) }
            }
            assert_eq!((0..10).map(|i| sets.root(i)).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 2, 6, 6, 6, 2]);
        }
    }

    #[test]
    fn a_long_chain_is_one_set_and_a_new_start_forgets_it() {
        let mut sets = DisjointSets::new(1000);
        (0..999).rev().for_each(|i| sets.join(i, i + 1));
        assert!((0..1000).all(|i| sets.root(i) == 0));
        sets.reset(3);
        assert_eq!((sets.len(), sets.root(2)), (3, 2));
    }
}
