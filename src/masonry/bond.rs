//! Bonded walls of several leaves with openings, lintels and corners.
//!
//! ```text
//! running     every course a row of stretchers, shifted by half a block in every second course, head joints in line across the leaves
//! stretcher   the same, and every second leaf shifted by half a block against the one before
//! English     courses of stretchers and of headers in turn, shifted by a quarter
//! Flemish     stretchers and headers in turn in every course, headers above the middle of stretchers
//! ```
//!
//! A course is cut at the ends of its wing and at openings; what lies between begins and ends in whole bats, queen closers (quarters) stand
//! second, and bits shorter than a fifth of a block belong to their neighbour. A header lies through two leaves.

use glam::{DVec2, DVec3};

use super::Block;

/// How blocks overlap.
///
/// ```
/// use drystone::masonry::bond::Bond;
/// assert_eq!(Bond::Flemish.length(3, 0.2), 0.8);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bond {
    /// Stretchers alone, leaves alike.
    Running,
    /// Stretchers alone, leaves shifted against each other.
    Stretcher,
    /// Courses of stretchers and courses of headers.
    English,
    /// Stretchers and headers in each course; two leaves.
    Flemish,
}

impl Bond {
    /// Length (m) of a wall with this many stretchers in its first course, joints included, for blocks with this pitch (m).
    pub fn length(self, stretchers: usize, pitch: f64) -> f64 {
        match self {
            Self::Flemish => (1.5 * stretchers as f64 - 0.5) * pitch,
            _ => stretchers as f64 * pitch,
        }
    }
}

/// A rectangular opening through a wing.
///
/// ```
/// use drystone::masonry::bond::Opening;
/// let door = Opening { wing: 0, at: 0.8, sill: 0.0, width: 0.8, height: 1.6, lintel: true, bearing: 0.2 };
/// assert_eq!(door.at + door.width, 1.6);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Opening {
    /// Number of the wing, counted from 0.
    pub wing: usize,
    /// From the beginning of the wing to the opening (m).
    pub at: f64,
    /// From the foot of the wall to the opening (m), at a bed joint.
    pub sill: f64,
    /// Width (m).
    pub width: f64,
    /// Height (m), up to a bed joint.
    pub height: f64,
    /// Whether a lintel lies in the course above, through all leaves; an opening up to the top of the wall has none.
    pub lintel: bool,
    /// Length of the lintel on each side of the opening (m).
    pub bearing: f64,
}

/// What walls stand where.
///
/// ```
/// assert_eq!(drystone::masonry::bond::Plan::Ring([4.0, 3.0]).wings(0.2).len(), 4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Plan {
    /// One wing of this length (m) from the origin along x, centred on y = 0.
    Straight(f64),
    /// The same and, from its end, one of the second length (m, with the corner) along y.
    Corner(f64, f64),
    /// Four wings around a rectangle with these outer edges (m), centred on the origin.
    Ring([f64; 2]),
}

/// A wing: its course runs from `start` along `along`, its leaves lie from there towards `inward`.
#[derive(Clone, Debug, PartialEq)]
pub struct Wing {
    start: DVec2,
    along: DVec2,
    inward: DVec2,
    /// Length with both corners (m).
    pub length: f64,
    /// Whether another wing stands at its beginning and at its end.
    pub corners: [bool; 2],
}

impl Plan {
    /// The wings of walls of this thickness (m).
    pub fn wings(&self, thickness: f64) -> Vec<Wing> {
        let half = 0.5 * thickness;
        let wing = |start: [f64; 2], along: DVec2, length, corners| Wing {
            start: DVec2::from_array(start),
            along,
            inward: along.perp(),
            length,
            corners,
        };
        match *self {
            Self::Straight(a) => vec![wing([0.0, -half], DVec2::X, a, [false, false])],
            Self::Corner(a, b) => {
                vec![wing([0.0, -half], DVec2::X, a, [false, true]), wing([a, -half], DVec2::Y, b, [true, false])]
            }
            Self::Ring([a, b]) => {
                let (x, y, both) = (0.5 * a, 0.5 * b, [true, true]);
                vec![
                    wing([-x, -y], DVec2::X, a, both),
                    wing([x, -y], DVec2::Y, b, both),
                    wing([x, y], DVec2::NEG_X, a, both),
                    wing([-x, y], DVec2::NEG_Y, b, both),
                ]
            }
        }
    }
}

/// Walls in bond; they stand on z = 0.
///
/// ```
/// use drystone::masonry::bond::{Bond, BondedWall, Plan};
/// let wall = BondedWall {
///     plan: Plan::Straight(0.8), bond: Bond::English, block: glam::DVec3::new(0.2, 0.1, 0.1), leaves: 2, courses: 2, gap: 0.0,
///     openings: Vec::new(),
/// };
/// // two leaves of four stretchers; seven headers and two closers
/// assert_eq!(wall.blocks()?.len(), 2 * 4 + 7 + 2);
/// # Ok::<(), drystone::masonry::bond::Misplaced>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BondedWall {
    /// Where its wings stand.
    pub plan: Plan,
    /// How blocks overlap.
    pub bond: Bond,
    /// Length of a stretcher, width of a leaf, height of a course (m).
    pub block: DVec3,
    /// Leaves, one behind the other: two for Flemish bond, two or more for English.
    pub leaves: usize,
    /// Number of courses.
    pub courses: usize,
    /// Opening of head joints (m).
    pub gap: f64,
    /// What is cut out.
    pub openings: Vec<Opening>,
}

/// An opening that has no place.
///
/// ```
/// let e = drystone::masonry::bond::Misplaced { opening: 0, found: "…".to_owned(), cure: String::new() };
/// assert_eq!(e.to_string(), "opening 0: …");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("opening {opening}: {found}")]
pub struct Misplaced {
    /// Its number.
    pub opening: usize,
    /// What is wrong.
    pub found: String,
    /// What would do.
    pub cure: String,
}

/// Part of a course along its wing (m); `split`: one block in each leaf instead of one through all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cell {
    from: f64,
    to: f64,
    split: bool,
}

/// A band of leaves with one pattern.
struct Strip {
    leaves: std::ops::Range<usize>,
    /// Pattern that repeats itself: lengths in pitches, and whether the leaves are split.
    pattern: &'static [(f64, bool)],
    /// Where it begins, in pitches.
    offset: f64,
}

const STRETCHER: &[(f64, bool)] = &[(1.0, true)];
const HEADER: &[(f64, bool)] = &[(0.5, false)];
const FLEMISH: &[(f64, bool)] = &[(1.0, true), (0.5, false)];
/// Bits below this part of a pitch belong to their neighbour, and up to the second one they are closers.
const CLOSER: [f64; 2] = [0.2, 0.3];
/// Differences of heights and places that are rounding, in parts of a block.
const ROUNDING: f64 = 1e-6;

impl BondedWall {
    fn thickness(&self) -> f64 {
        self.leaves as f64 * self.block.y
    }

    /// All blocks: wing by wing, course by course from below, lintels of a course last.
    pub fn blocks(&self) -> Result<Vec<Block>, Misplaced> {
        let wings = self.plan.wings(self.thickness());
        let rows = self.rows(&wings)?;
        let mut blocks = Vec::new();
        for (number, wing) in wings.iter().enumerate() {
            for course in 0..self.courses {
                let (range, holes) = self.holes(wing, number, course, &rows)?;
                let mut from = range[0];
                for hole in &holes {
                    self.stretch(wing, number, course, [from, hole.from], &mut blocks);
                    from = hole.to;
                }
                self.stretch(wing, number, course, [from, range[1]], &mut blocks);
                for lintel in holes.iter().filter(|h| h.split) {
                    blocks.push(self.block(wing, course, *lintel, [0, self.leaves]));
                }
            }
        }
        Ok(blocks)
    }

    /// The courses that each opening takes, with that of its lintel behind them; refuses what does not lie in its wing.
    fn rows(&self, wings: &[Wing]) -> Result<Vec<std::ops::Range<usize>>, Misplaced> {
        let top = self.courses as f64 * self.block.z;
        let row = |k: usize, o: &Opening| {
            let bad = |found: String, cure: String| Err(Misplaced { opening: k, found, cure });
            let Some(wing) = wings.get(o.wing) else {
                return bad(format!("it stands in wing {}, but the wall has {}", o.wing, wings.len()), "count wings from 0".to_owned());
            };
            let keep = wing.corners.map(|c| if c { self.thickness() } else { 0.0 });
            let (least, most) = (keep[0], wing.length - keep[1]);
            let slack = ROUNDING * self.block.x;
            if o.at < least - slack || o.at + o.width > most + slack {
                let found = format!("it goes from {} to {} m, outside of the wall", o.at, short(o.at + o.width));
                return bad(found, format!("wing {} takes openings from {} to {} m", o.wing, short(least), short(most)));
            }
            if o.sill < 0.0 || o.sill + o.height > top + ROUNDING * self.block.z {
                let found = format!("it goes from {} to {} m of height, outside of the wall", o.sill, short(o.sill + o.height));
                return bad(found, format!("the wall is {} m high", short(top)));
            }
            let mut ends = [0; 2];
            for (end, z) in ends.iter_mut().zip([o.sill, o.sill + o.height]) {
                let course = z / self.block.z;
                if (course - course.round()).abs() > ROUNDING {
                    let near = [course.floor(), course.ceil()].map(|k| short(k * self.block.z));
                    return bad(
                        format!("it ends at the height {} m, inside of a course", short(z)),
                        format!("bed joints lie at {} and {} m", near[0], near[1]),
                    );
                }
                *end = course.round() as usize;
            }
            Ok(ends[0]..ends[1])
        };
        self.openings.iter().enumerate().map(|(k, o)| row(k, o)).collect()
    }

    /// Between which places a course of a wing stands, and the openings and lintels (`split`) within, in order.
    fn holes(
        &self,
        wing: &Wing,
        number: usize,
        course: usize,
        rows: &[std::ops::Range<usize>],
    ) -> Result<([f64; 2], Vec<Cell>), Misplaced> {
        // in even courses a wing runs through the corner at its beginning, in odd ones through that at its end
        let (odd, t) = (course % 2 == 1, self.thickness());
        let from = if wing.corners[0] && odd { t } else { 0.0 };
        let range = [from, if wing.corners[1] && !odd { wing.length - t } else { wing.length }];
        let mut holes: Vec<(usize, Cell)> = Vec::new();
        for (k, (o, rows)) in self.openings.iter().zip(rows).enumerate().filter(|(_, (o, _))| o.wing == number) {
            if rows.contains(&course) {
                holes.push((k, Cell { from: o.at, to: o.at + o.width, split: false }));
            } else if o.lintel && rows.end == course {
                holes.push((k, Cell { from: o.at - o.bearing, to: o.at + o.width + o.bearing, split: true }));
            }
        }
        holes.sort_by(|a, b| a.1.from.total_cmp(&b.1.from));
        let slack = ROUNDING * self.block.x;
        for (k, hole) in &holes {
            if hole.from < range[0] - slack || hole.to > range[1] + slack {
                return Err(Misplaced {
                    opening: *k,
                    found: format!("its lintel would lie from {} to {} m, outside of its course", short(hole.from), short(hole.to)),
                    cure: format!("make `bearing` smaller: this course goes from {} to {} m", short(range[0]), short(range[1])),
                });
            }
        }
        if let Some(w) = holes.windows(2).find(|w| w[1].1.from < w[0].1.to - slack) {
            return Err(Misplaced {
                opening: w[1].0,
                found: format!("it, or its lintel, meets opening {} or its lintel", w[0].0),
                cure: "move one of them, make `bearing` smaller, or let one have lintel = false".to_owned(),
            });
        }
        let inside = |c: Cell| Cell { from: c.from.max(range[0]), to: c.to.min(range[1]), ..c };
        Ok((range, holes.into_iter().map(|(_, hole)| inside(hole)).collect()))
    }

    fn strips(&self, wing: usize, course: usize) -> Vec<Strip> {
        let (n, odd) = (self.leaves, course % 2 == 1);
        // wings that meet at a corner break joints there
        let shifted = odd != (wing % 2 == 1);
        let half = if shifted { 0.5 } else { 0.0 };
        let leaf = |k: usize, offset| Strip { leaves: k..k + 1, pattern: STRETCHER, offset };
        match self.bond {
            Bond::Running => vec![Strip { leaves: 0..n, pattern: STRETCHER, offset: half }],
            Bond::Stretcher => (0..n).map(|k| leaf(k, if shifted != (k % 2 == 1) { 0.5 } else { 0.0 })).collect(),
            Bond::Flemish => vec![Strip { leaves: 0..n, pattern: FLEMISH, offset: if shifted { 0.75 } else { 0.0 } }],
            Bond::English => {
                let mut strips = Vec::new();
                let mut k = 0;
                if !shifted {
                    strips.push(leaf(0, 0.0));
                    k = 1;
                }
                while k + 2 <= n {
                    strips.push(Strip { leaves: k..k + 2, pattern: HEADER, offset: 0.25 });
                    k += 2;
                }
                if k < n {
                    strips.push(leaf(k, 0.0));
                }
                strips
            }
        }
    }

    /// The blocks of a course between two places.
    fn stretch(&self, wing: &Wing, number: usize, course: usize, range: [f64; 2], blocks: &mut Vec<Block>) {
        let pitch = self.block.x + self.gap;
        if range[1] - range[0] <= ROUNDING * pitch {
            return;
        }
        for strip in self.strips(number, course) {
            for cell in cells(&strip, pitch, range) {
                let leaves = strip.leaves.clone();
                if cell.split {
                    blocks.extend(leaves.map(|k| self.block(wing, course, cell, [k, k + 1])));
                } else {
                    blocks.push(self.block(wing, course, cell, [leaves.start, leaves.end]));
                }
            }
        }
    }

    /// One block of a course through these leaves.
    fn block(&self, wing: &Wing, course: usize, cell: Cell, leaves: [usize; 2]) -> Block {
        let (from, to) = (cell.from + 0.5 * self.gap, cell.to - 0.5 * self.gap);
        let depth = leaves.map(|k| k as f64 * self.block.y);
        let middle = wing.start + wing.along * (0.5 * (from + to)) + wing.inward * (0.5 * (depth[0] + depth[1]));
        let half = 0.5 * (wing.along.abs() * (to - from) + wing.inward.abs() * (depth[1] - depth[0]));
        Block { centre: middle.extend((course as f64 + 0.5) * self.block.z), half_extents: half.extend(0.5 * self.block.z) }
    }
}

/// A length (m) without the last digits of sums, for people.
fn short(x: f64) -> f64 {
    (x * 1e9).round() / 1e9
}

/// The cells of a strip within a range.
fn cells(strip: &Strip, pitch: f64, [start, end]: [f64; 2]) -> Vec<Cell> {
    let period: f64 = strip.pattern.iter().map(|p| p.0).sum();
    let first = ((start / pitch - strip.offset) / period).floor();
    let mut cells: Vec<Cell> = Vec::new();
    let mut at = first * period + strip.offset;
    for &(length, split) in strip.pattern.iter().cycle() {
        let (from, to) = ((at * pitch).max(start), ((at + length) * pitch).min(end));
        if from >= end {
            break;
        }
        // what is left of a joint that falls on an end is rounding
        if to - from > ROUNDING * pitch {
            cells.push(Cell { from, to, split });
        }
        at += length;
    }
    ends(&mut cells, pitch);
    cells.reverse();
    let mirrored = |c: Cell| Cell { from: -c.to, to: -c.from, ..c };
    let mut cells: Vec<Cell> = cells.into_iter().map(mirrored).collect();
    ends(&mut cells, pitch);
    cells.reverse();
    let mut cells: Vec<Cell> = cells.into_iter().map(mirrored).collect();
    if let Some(first) = cells.first_mut() {
        first.from = start;
    }
    if let Some(last) = cells.last_mut() {
        last.to = end;
    }
    cells
}

/// Bits at the beginning go to their neighbour; a closer stands second.
fn ends(cells: &mut Vec<Cell>, pitch: f64) {
    let [Some(first), Some(second)] = [cells.first().copied(), cells.get(1).copied()] else {
        return;
    };
    let length = first.to - first.from;
    if length < CLOSER[0] * pitch {
        cells[1].from = first.from;
        cells.remove(0);
    } else if length < CLOSER[1] * pitch {
        let between = first.from + (second.to - second.from);
        cells[0] = Cell { from: first.from, to: between, split: second.split };
        cells[1] = Cell { from: between, to: second.to, split: first.split };
    }
}
