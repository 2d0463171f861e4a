//! Barrel vaults: an arch that goes on along y, its courses in bond.

use super::Stone;
use super::arch::{Arch, course};

/// The vault spans the x axis about x = 0 and is centred on y = 0; the intrados of its feet stands on z = 0.
///
/// ```
/// use drystone::masonry::{arch::{Arch, Form}, vault::Barrel};
/// let arch = Arch { form: Form::SEMICIRCLE, voussoirs: 11, thickness: 0.2, faces: 1, depth: 3.0 };
/// // six courses of four stones, five of three and two halves
/// assert_eq!(Barrel { arch, stones: 4 }.stones().len(), 6 * 4 + 5 * 5);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Barrel {
    /// Its section, and its length along y (the depth of the arch).
    pub arch: Arch,
    /// Stones along y in an even course; an odd one has one more, two of them half stones.
    pub stones: usize,
}

impl Barrel {
    /// The stones, course by course from the foot at x > 0, each along y.
    pub fn stones(&self) -> Vec<Stone> {
        let length = self.arch.depth;
        let one = |(k, joints): (usize, &Vec<_>)| {
            let cuts = staggered(length, self.stones, k % 2 == 1);
            cuts.windows(2).map(|w| course(joints, [w[0] - 0.5 * length, w[1] - 0.5 * length])).collect::<Vec<_>>()
        };
        self.arch.courses().iter().enumerate().flat_map(one).collect()
    }
}

/// Places of the joints of one course of `number` blocks over `length`: every second course, the `odd` ones, is shifted by half a block and
/// ends in half blocks.
fn staggered(length: f64, number: usize, odd: bool) -> Vec<f64> {
    let pitch = length / number as f64;
    let inner = |k: usize| if odd { (k as f64 - 0.5) * pitch } else { k as f64 * pitch };
    let last = if odd { number + 1 } else { number };
    (0..=last)
        .map(|k| {
            if k == 0 {
                0.0
            } else if k == last {
                length
            } else {
                inner(k)
            }
        })
        .collect()
}
