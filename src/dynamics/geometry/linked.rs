//! Bodies in joints on their way through a step: they turn about each other, so their centres leave the straight way, and they wait together.
//!
//! ```text
//! x(s) = x + s Δx + 4 s (1 − s) c        c: what the joints ask for in the middle of the step
//! ```

use glam::DVec3;

/// A joint between the bodies of two slots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Link {
    /// The second is [`WORLD`] for a joint with the world.
    pub(super) slots: [u32; 2],
    /// By how much its ends are apart in the middle of the step, both bodies on their straight ways, more than at its start and end (m).
    pub(super) apart: DVec3,
}

/// Stands for the slot of the world.
pub(super) const WORLD: u32 = u32::MAX;

/// Rounds in which joints are closed; chains take about the square of their length.
const ROUNDS: usize = 400;
/// Part of the largest opening that may be left.
const CLOSED: f64 = 1e-3;

/// How far the centre of each body is from its straight way in the middle of the step. `inverse_mass` is 0 along axes that cannot move.
///
/// Least displacements, weighed by mass, that close the joints while bodies turn as they do: by one joint after the other.
pub(super) fn bulges(links: &[Link], inverse_mass: impl Fn(u32) -> DVec3, bulge: &mut [DVec3]) {
    let largest = links.iter().map(|l| l.apart.length()).fold(0.0, f64::max);
    let mass = |slot: u32| if slot == WORLD { DVec3::ZERO } else { inverse_mass(slot) };
    for _ in 0..ROUNDS {
        let mut worst = 0f64;
        for link in links {
            let [a, b] = link.slots;
            let masses = [mass(a), mass(b)];
            let total = masses[0] + masses[1];
            let at = |slot: u32, bulge: &[DVec3]| if slot == WORLD { DVec3::ZERO } else { bulge[slot as usize] };
            let open = link.apart + at(a, bulge) - at(b, bulge);
            let part = DVec3::from_array([0, 1, 2].map(|i| if total[i] > 0.0 { open[i] / total[i] } else { 0.0 }));
            worst = worst.max((part * total).length());
            for (slot, sign, mass) in [(a, -1.0, masses[0]), (b, 1.0, masses[1])] {
                if slot != WORLD {
                    bulge[slot as usize] += sign * mass * part;
                }
            }
        }
        if worst <= CLOSED * largest {
            return;
        }
    }
}

/// Bodies in joints wait together: from where the first of them has to. `waits` says whether a body can.
pub(super) fn wait_together(links: &[Link], waits: impl Fn(u32) -> bool, until: &mut [f64]) {
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for link in links.iter().filter(|l| l.slots.iter().all(|&s| s != WORLD && waits(s))) {
            let [a, b] = link.slots.map(|s| s as usize);
            let first = until[a].min(until[b]);
            changed |= until[a] != until[b];
            (until[a], until[b]) = (first, first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pendulum_leaves_the_chord_by_what_the_arc_is_higher() {
        // arm 1 m along x, turns by 0.6 rad about z
        let (start, middle) = (DVec3::X, DVec3::new(0.3f64.cos(), 0.3f64.sin(), 0.0));
        let end = DVec3::new(0.6f64.cos(), 0.6f64.sin(), 0.0);
        // the anchor, seen from the straight way of the centre
        let link = Link { slots: [0, WORLD], apart: 0.5 * (start + end) - middle };
        let mut bulge = [DVec3::ZERO];
        bulges(&[link], |_| DVec3::ONE, &mut bulge);
        assert!((0.5 * (start + end) + bulge[0] - middle).length() < 1e-15, "{}", bulge[0]);
    }

    #[test]
    fn a_chain_closes_where_the_light_links_give_way_and_locked_axes_do_not() {
        let links: Vec<Link> = (0..9).map(|i| Link { slots: [i, i + 1], apart: DVec3::new(0.1, 0.02, 0.0) }).collect();
        let mut bulge = [DVec3::ZERO; 10];
        bulges(&links, |s| if s == 0 { DVec3::ZERO } else { DVec3::new(1.0, 0.0, 1.0) }, &mut bulge);
        for (k, b) in bulge.iter().enumerate() {
            assert!((*b - DVec3::X * 0.1 * k as f64).length() < 1e-2, "{k}: {b}");
        }
    }

    #[test]
    fn all_that_hang_together_wait_from_the_first_on() {
        let joint = |a, b| Link { slots: [a, b], apart: DVec3::ZERO };
        let mut until = [1.0, 0.7, 1.0, 0.4, 1.0, 0.2];
        wait_together(&[joint(2, 0), joint(1, 2), joint(3, WORLD), joint(4, 5)], |s| s != 5, &mut until);
        assert_eq!(until, [0.7, 0.7, 0.7, 0.4, 1.0, 0.2]);
    }
}
