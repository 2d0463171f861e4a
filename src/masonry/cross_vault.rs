//! Groin vaults: two equal barrels that cross over a square bay.
//!
//! ```text
//! web towards +x:  the barrel about the x axis, y = ± its section, from the groin x = |y| to the end x = E
//! ```
//!
//! A groin lies in an upright plane through the diagonal, so the pieces of two webs meet there in plane faces. The first stones of two webs
//! at a groin are one stone, as a mason cuts them; the four that meet at the crown are one, too.

use glam::{DVec2, DVec3};

use super::Stone;
use super::arch::{Arch, Joint};

/// The bay is centred on the origin and its four feet stand on z = 0.
///
/// ```
/// use drystone::masonry::{arch::{Arch, Form}, cross_vault::CrossVault};
/// let arch = Arch { form: Form::SEMICIRCLE.of_radius(2.0), voussoirs: 9, thickness: 0.4, faces: 1, depth: 0.0 };
/// let vault = CrossVault { arch, reach: 2.2, stone: 0.8 };
/// assert!(vault.stones().len() > 4 * 4);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CrossVault {
    /// The section of both barrels, circular through π or pointed, with an odd number of voussoirs; its depth is not used.
    pub arch: Arch,
    /// Half the edge of the bay (m), not less than where the extrados of the feet stands.
    pub reach: f64,
    /// Length of stones along the webs (m).
    pub stone: f64,
}

impl CrossVault {
    /// The stones, course by course from the feet up: at each groin that of the corner, then those of the webs; the crown last.
    pub fn stones(&self) -> Vec<Stone> {
        let courses = self.arch.courses();
        let middle = courses.len() / 2;
        let mut stones = Vec::new();
        for (k, course) in courses[..middle].iter().enumerate() {
            let cuts = self.cuts(course, k % 2 == 1);
            for corner in 0..4 {
                // the corner in the quarter x, y > 0, and the two webs beside it, turned about the z axis
                let turn = |stone: &Stone| stone.mapped(|p| quarter(p, corner));
                let along = |w: &[f64]| web(course, Some(w[0]).filter(|_| w[0] > 0.0), w[1]);
                let groin = along(&[0.0, cuts[0]]);
                stones.push(turn(&groin.clone().with(groin.mapped(across))));
                for w in cuts.windows(2) {
                    let stone = along(w);
                    stones.push(turn(&stone));
                    stones.push(turn(&stone.mapped(across)));
                }
            }
        }
        let key = &courses[middle];
        let cuts = self.cuts(key, middle % 2 == 1);
        let first = web(key, None, cuts[0]);
        let boss = (1..4).fold(first.clone(), |boss, corner| boss.with(first.mapped(|p| quarter(p, corner))));
        stones.push(boss);
        for w in cuts.windows(2) {
            let stone = web(key, Some(w[0]), w[1]);
            stones.extend((0..4).map(|corner| stone.mapped(|p| quarter(p, corner))));
        }
        stones
    }

    /// Where the stones of a course end along its web: at whole stones from the end of the bay, shifted by half a stone in odd courses, no
    /// closer to the groin than a third of a stone.
    fn cuts(&self, course: &[Joint], odd: bool) -> Vec<f64> {
        let groin = course.iter().flat_map(|j| [j.inner.x.abs(), j.outer.x.abs()]).fold(0.0, f64::max);
        let shift = if odd { 0.5 } else { 0.0 };
        let inner = (1..).map(|k| self.reach - (k as f64 - shift) * self.stone).take_while(|x| *x > groin + self.stone / 3.0);
        let mut cuts: Vec<f64> = std::iter::once(self.reach).chain(inner).collect();
        cuts.reverse();
        cuts
    }
}

/// The piece of a course of the web towards +x, at y of the sign of its section: from the groin, or from the place `from`, to the place `to`.
fn web(course: &[Joint], from: Option<f64>, to: f64) -> Stone {
    let part = |w: &[Joint]| {
        let outline = [w[0].inner, w[1].inner, w[0].outer, w[1].outer];
        let mut corners: Vec<DVec3> = outline.iter().map(|p| DVec3::new(from.unwrap_or(p.x.abs()), p.x, p.y)).collect();
        if from.is_none() && w[0].inner.x * w[1].inner.x < 0.0 {
            // a course across the crown comes to a point there
            let crown = |a: DVec2, b: DVec2| DVec3::new(0.0, 0.0, a.y + (b.y - a.y) * a.x / (a.x - b.x));
            corners.extend([crown(outline[0], outline[1]), crown(outline[2], outline[3])]);
        }
        corners.extend(outline.iter().map(|p| DVec3::new(to, p.x, p.y)));
        corners
    };
    Stone { parts: course.windows(2).map(part).collect() }
}

/// Exchanges x and y.
fn across(p: DVec3) -> DVec3 {
    DVec3::new(p.y, p.x, p.z)
}

/// Turns by a number of right angles about the z axis, exactly.
fn quarter(p: DVec3, turns: usize) -> DVec3 {
    match turns {
        0 => p,
        1 => DVec3::new(-p.y, p.x, p.z),
        2 => DVec3::new(-p.x, -p.y, p.z),
        _ => DVec3::new(p.y, -p.x, p.z),
    }
}
