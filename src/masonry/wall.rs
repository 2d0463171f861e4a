//! A wall in running bond: every second row is shifted by half a block and ends in half blocks.

use glam::DVec3;

use super::Block;

/// Bed joints are closed, head joints open by `gap`; the wall stands on z = 0 and starts at x = 0.
///
/// ```
/// use drystone::masonry::wall::Wall;
/// let wall = Wall { columns: 10, rows: 10, block: glam::DVec3::new(0.4, 0.2, 0.2), gap: 0.001 };
/// assert_eq!(wall.blocks().len(), 105);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Wall {
    /// Blocks in an even row (counted from 0); an odd row has one more, two of them half blocks.
    pub columns: usize,
    /// Number of rows.
    pub rows: usize,
    /// Edge lengths of a block (m).
    pub block: DVec3,
    /// Opening of a head joint (m).
    pub gap: f64,
}

impl Wall {
    /// All blocks, row by row from below, along x.
    pub fn blocks(&self) -> Vec<Block> {
        (0..self.rows).flat_map(|row| self.row(row)).collect()
    }

    /// The blocks of one row.
    pub fn row(&self, row: usize) -> Vec<Block> {
        let pitch = self.block.x + self.gap;
        let z = (row as f64 + 0.5) * self.block.z;
        let full = self.block / 2.0;
        let at = |x: f64, half: f64| Block { centre: DVec3::new(x, 0.0, z), half_extents: DVec3::new(half, full.y, full.z) };
        if row.is_multiple_of(2) {
            return (0..self.columns).map(|i| at((i as f64 + 0.5) * pitch, full.x)).collect();
        }
        // leaves half a gap at the free end and at the first head joint
        let half = (pitch / 2.0 - self.gap / 2.0 - self.gap / 2.0) / 2.0;
        let inner = (1..self.columns).map(|i| at(i as f64 * pitch, full.x));
        let first = at(self.gap / 2.0 + half, half);
        let last = at(self.columns as f64 * pitch - self.gap / 2.0 - half, half);
        std::iter::once(first).chain(inner).chain([last]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ten_by_ten() -> Wall {
        Wall { columns: 10, rows: 10, block: DVec3::new(0.4, 0.2, 0.2), gap: 0.001 }
    }

    #[test]
    fn the_wall_is_the_published_one_bit_for_bit() {
        // printed with repr() by an independent Python program: centre x, centre z, half length
        let expected = [
            (0, 0.2005, 0.1, 0.2),
            (9, 3.8095000000000003, 0.1, 0.2),
            (10, 0.10025, 0.30000000000000004, 0.09975),
            (11, 0.401, 0.30000000000000004, 0.2),
            (20, 3.90975, 0.30000000000000004, 0.09975),
            (104, 3.90975, 1.9000000000000001, 0.09975),
        ];
        let blocks = ten_by_ten().blocks();
        assert_eq!(blocks.len(), 105);
        for (i, x, z, half) in expected {
            assert_eq!(blocks[i].centre, DVec3::new(x, 0.0, z), "block {i}");
            assert_eq!(blocks[i].half_extents, DVec3::new(half, 0.1, 0.1), "block {i}");
        }
        assert_eq!(Wall { columns: 20, rows: 30, ..ten_by_ten() }.blocks().len(), 615);
    }

    #[test]
    fn the_kicked_block_is_in_the_middle_of_the_top_row() {
        for (columns, rows) in [(10, 10), (20, 30), (3, 1), (4, 5)] {
            let wall = Wall { columns, rows, ..ten_by_ten() };
            let blocks = wall.blocks();
            let middle = blocks[crate::masonry::top_middle(&blocks)].centre;
            assert_eq!(middle.z, blocks[blocks.len() - 1].centre.z);
            assert!((middle.x - columns as f64 * 0.401 / 2.0).abs() <= 0.21);
        }
    }
}
