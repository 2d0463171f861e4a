//! How many pairs memory and a step can hold.

/// More pairs than can be looked at, see [`BroadPhase::pairs`](super::BroadPhase::pairs).
///
/// ```
/// use drystone::geometry::{BroadPhase, Crowd};
/// use glam::DVec3;
/// let mut broad = BroadPhase::default();
/// for leaf in 0..20_000 {
///     broad.set_box(leaf, DVec3::ZERO, DVec3::ONE);
/// }
/// let mut pairs = Vec::new();
/// let Crowd { pairs: about, beside, .. } = broad.pairs(&mut pairs).unwrap_err();
/// assert!((about / 2e8 - 1.0).abs() < 0.01 && beside == 19_999 && pairs.is_empty());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crowd {
    /// How many there are, about.
    pub pairs: f64,
    /// A leaf with many of them, and how many these are.
    pub leaf: u32,
    /// How many others are beside that leaf.
    pub beside: usize,
}

impl std::fmt::Display for Crowd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "about {:.1e} pairs of bodies would have to be looked at; it alone is beside {} others", self.pairs, self.beside)
    }
}

impl std::error::Error for Crowd {}

impl Crowd {
    /// Of these pairs of `bodies`, by the first that is beside most others among those that are `bounded`.
    pub(super) fn of(pairs: impl Iterator<Item = (u32, u32)>, bodies: usize, bounded: impl Fn(u32) -> bool) -> Self {
        let (mut count, mut beside) = (0.0, vec![0; bodies]);
        for (i, j) in pairs {
            count += 1.0;
            beside[i as usize] += 1;
            beside[j as usize] += 1;
        }
        let fullest = (0..bodies as u32).filter(|&k| bounded(k)).max_by_key(|&k| (beside[k as usize], std::cmp::Reverse(k)));
        let leaf = fullest.unwrap_or(0);
        Self { pairs: count, leaf, beside: beside.get(leaf as usize).copied().unwrap_or(0) }
    }
}

/// A number of pairs: so many, however few the bodies are, and so many for each of them. Grains have some ten each.
pub(super) struct Most {
    any: usize,
    pub(super) each: usize,
}

impl Most {
    pub(super) fn of(&self, bodies: usize) -> usize {
        self.any.max(self.each * bodies)
    }
}

/// Pairs of boxes that may be looked at: 24 bytes each while they are sorted.
pub(super) const CANDIDATES: Most = Most { any: 30_000_000, each: 64 };
/// Pairs of bodies near each other that a step may have: each has a kilobyte or so, and all of 2000 bodies may overlap.
pub(super) const PAIRS: Most = Most { any: 2_000_000, each: 64 };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_is_named_by_the_first_of_its_fullest_that_is_bounded() {
        let star = [(0, 1), (0, 2), (0, 3), (2, 3), (1, 3)];
        assert_eq!(Crowd::of(star.into_iter(), 5, |_| true), Crowd { pairs: 5.0, leaf: 0, beside: 3 });
        assert_eq!(Crowd::of(star.into_iter(), 5, |k| k > 0), Crowd { pairs: 5.0, leaf: 3, beside: 3 });
        assert_eq!([2, 1_000_000].map(|bodies| PAIRS.of(bodies)), [2_000_000, 64_000_000]);
    }
}
