//! A regular grid of cells, and the kernel by which what is at a point is shared out among them.
//!
//! ```text
//! w_c(x) = W(|x_c − x|/c) / Σ_k W(|x_k − x|/c)         k: all cells of the unbounded lattice of which the grid is a part
//! Lucy        W(q) = (1 + 3q)(1 − q)³, q < 1           Heaviside   W(q) = 1, q < 1
//! ```
//!
//! The shares of a point sum to one, so that what is shared out is neither lost nor made: integrals over the grid are sums over points to
//! rounding, for every point that is farther than the width c from the faces of the grid. Along axes with a single cell the kernel does not
//! look, and the mean is that over the box.

use super::scheme::Invalid;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// How shares fall with the distance q from a point, in widths.
///
/// ```
/// use drystone::model::grid::Kernel;
/// assert_eq!(Kernel::Lucy.at(0.0), 1.0);
/// assert_eq!(Kernel::Lucy.at(0.5), 2.5 / 8.0);
/// assert_eq!((Kernel::Heaviside.at(0.9), Kernel::Heaviside.at(1.0)), (1.0, 0.0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kernel {
    /// (1 + 3q)(1 − q)³: smooth, as usual in coarse graining (L. B. Lucy, Astron. J. 82, 1977, 1013).
    #[default]
    Lucy,
    /// 1: a ball around the point.
    Heaviside,
}

impl Kernel {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Lucy, Self::Heaviside];

    /// As scene files name it.
    pub fn name(self) -> &'static str {
        if self == Self::Lucy { "lucy" } else { "heaviside" }
    }

    /// Its value at q ≥ 0 widths from the point, not normalised.
    #[inline]
    pub fn at(self, q: f64) -> f64 {
        match self {
            Self::Lucy => {
                let p = (1.0 - q).max(0.0);
                (1.0 + 3.0 * q) * p * (p * p)
            }
            Self::Heaviside => f64::from(u8::from(q < 1.0)),
        }
    }
}

/// A box cut into equal cells; x counts fastest.
///
/// ```
/// use drystone::model::grid::Grid;
/// use glam::DVec3;
/// let grid = Grid { high: DVec3::new(1.0, 1.0, 4.0), cells: [1, 1, 4], width: 1.0, ..Grid::default() };
/// grid.validate()?;
/// let mut shares = Vec::new();
/// grid.share(DVec3::new(0.3, 0.4, 2.0), &mut shares);
/// assert_eq!(shares, [(1, 0.5), (2, 0.5)]);
/// # Ok::<(), drystone::model::scheme::Invalid>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grid {
    /// Lower corner (m).
    pub low: DVec3,
    /// Upper corner (m).
    pub high: DVec3,
    /// Cells along x, y and z.
    pub cells: [usize; 3],
    /// Where the kernel ends (m).
    pub width: f64,
    /// What it looks like.
    pub kernel: Kernel,
    /// Axes along which the grid is the whole of a periodic cell: what leaves it there comes in again.
    pub wraps: [bool; 3],
}

impl Default for Grid {
    /// A single cube of 1 m.
    fn default() -> Self {
        Self { low: DVec3::ZERO, high: DVec3::ONE, cells: [1; 3], width: 1.0, kernel: Kernel::Lucy, wraps: [false; 3] }
    }
}

/// Shares of points.
type Shares = Vec<(usize, f64)>;

impl Grid {
    /// Most cells.
    pub const MOST: usize = 10_000_000;
    /// Most cells in the reach of a kernel, among all of which each point is shared out.
    pub const MOST_NEAR: usize = 1_000_000;

    /// Edges of a cell (m).
    pub fn size(&self) -> DVec3 {
        (self.high - self.low) / DVec3::from_array(self.cells.map(|n| n as f64))
    }

    /// Volume of a cell (m³).
    pub fn volume(&self) -> f64 {
        self.size().element_product()
    }

    /// Number of cells.
    pub fn count(&self) -> usize {
        self.cells.iter().product()
    }

    /// Middle of a cell (m); along axes with a single one that of the box.
    pub fn centre(&self, cell: usize) -> DVec3 {
        let [x, y, _] = self.cells;
        let at = [cell % x, cell / x % y, cell / x / y];
        self.low + self.size() * DVec3::from_array(at.map(|k| k as f64 + 0.5))
    }

    /// What is wrong with it and what would do.
    pub fn validate(&self) -> Result<(), Invalid> {
        let Self { low, high, cells, width, .. } = self;
        if !(low.is_finite() && high.is_finite() && low.cmplt(*high).all()) {
            return Err(Invalid::new(
                "the box of a grid",
                format!("{low} to {high}"),
                "two finite corners, the first one lower on every axis",
            ));
        }
        if cells.contains(&0) || cells.iter().try_fold(1usize, |n, &k| n.checked_mul(k)).is_none_or(|n| n > Self::MOST) {
            let needed = format!("1 or more along each axis, and no more than {} in all", Self::MOST);
            return Err(Invalid::new("the cells of a grid", format!("{cells:?}"), needed));
        }
        let least = self.least_width();
        if !(width.is_finite() && *width > 0.0 && *width > 1.000_001 * least) {
            let needed = format!("more than {least} m, half of the diagonal of a cell, so that every point is near a centre");
            return Err(Invalid::new("the width of a kernel", format!("{width} m"), needed));
        }
        let across = self.seen(2.0 * *width / self.size()) + DVec3::ONE;
        if across.element_product() > Self::MOST_NEAR as f64 {
            let needed = format!("less, or larger cells: no more than {} of them within a width of a point", Self::MOST_NEAR);
            return Err(Invalid::new("the width of a kernel", format!("{width} m"), needed));
        }
        Ok(())
    }

    /// Distance (m) from the centres of cells beyond which no point lies, along the axes that the kernel sees.
    fn least_width(&self) -> f64 {
        0.5 * self.seen(self.size()).length()
    }

    /// A vector without its parts along axes with a single cell.
    fn seen(&self, v: DVec3) -> DVec3 {
        DVec3::from_array([0, 1, 2].map(|a| if self.cells[a] == 1 { 0.0 } else { v[a] }))
    }

    /// The cells that what is at a point (m) goes to, and the part of it that each gets; a cell may stand there more than once.
    pub fn share(&self, x: DVec3, found: &mut Shares) {
        self.sharing::<1>().point(x, found);
    }

    /// The cells that what is spread evenly between two points (m) goes to, and the part of it that each gets.
    ///
    /// Gauss' rule of four points on pieces of a width (Heaviside: of two on an eighth), cut exactly where the box ends along an axis with
    /// a single cell. Shares of a line that is not cut sum to one.
    ///
    /// ```
    /// use drystone::model::grid::Grid;
    /// use glam::DVec3;
    /// let mut shares = Vec::new();
    /// Grid::default().share_line([DVec3::new(0.5, 0.5, 0.5), DVec3::new(0.5, 0.5, 2.5)], &mut shares);
    /// assert!((shares.iter().map(|s| s.1).sum::<f64>() - 0.25).abs() < 1e-15);
    /// ```
    pub fn share_line(&self, ends: [DVec3; 2], found: &mut Shares) {
        self.sharing::<4>().line(ends, found);
    }

    /// For many points, `N` of them at a time.
    #[doc(hidden)]
    pub fn sharing<const N: usize>(&self) -> Sharing<N> {
        let size = self.size();
        Sharing {
            grid: self.clone(),
            size: size.to_array(),
            per_size: size.recip().to_array(),
            reach: (self.width / size).to_array(),
            square_width: self.width * self.width,
            per_width: 1.0 / self.width,
            low: self.low.to_array(),
            high: self.high.to_array(),
            // along axes with a single cell these stay
            axes: [(); 3].map(|()| vec![([0.0; N], 0)]),
            near: Vec::new(),
        }
    }
}

/// A cell that is not of the grid.
const OUTSIDE: usize = usize::MAX;

/// What of a grid does not depend on the point, and room for what does. Points of a line are worked on side by side, each in its own lane.
#[doc(hidden)]
#[derive(Debug)]
pub struct Sharing<const N: usize> {
    grid: Grid,
    low: [f64; 3],
    high: [f64; 3],
    size: [f64; 3],
    per_size: [f64; 3],
    /// Cells in a width.
    reach: [f64; 3],
    square_width: f64,
    per_width: f64,
    /// Along each axis the squares of distances, and the numbers of the cells there.
    axes: [Vec<([f64; N], usize)>; 3],
    /// Cells near the points: squares of distances, then weights that are not yet normalised.
    near: Vec<(usize, [f64; N])>,
}

// of one size each, so that their code is that of this crate, whose loops are inlined
impl Sharing<1> {
    /// [`Grid::share`].
    #[doc(hidden)]
    pub fn point(&mut self, x: DVec3, found: &mut Shares) {
        found.clear();
        self.add([x], [1.0], found);
    }
}

impl Sharing<4> {
    /// [`Grid::share_line`].
    #[doc(hidden)]
    pub fn line(&mut self, [from, to]: [DVec3; 2], found: &mut Shares) {
        found.clear();
        let (grid, way) = (&self.grid, to - from);
        let (mut begin, mut end) = (0.0f64, 1.0f64);
        for a in (0..3).filter(|&a| grid.cells[a] == 1 && !grid.wraps[a]) {
            let cuts = [grid.low[a], grid.high[a]].map(|face| (face - from[a]) / way[a]);
            if cuts.iter().all(|c| c.is_finite()) {
                (begin, end) = (begin.max(cuts[0].min(cuts[1])), end.min(cuts[0].max(cuts[1])));
            } else if !(grid.low[a]..grid.high[a]).contains(&from[a]) {
                return;
            }
        }
        if begin >= end {
            return;
        }
        let (piece, rule) = if grid.kernel == Kernel::Lucy { (1.05, &GAUSS_4[..]) } else { (0.125, &GAUSS_2[..]) };
        let count = ((end - begin) * grid.seen(way).length() * self.per_width / piece).ceil().clamp(1.0, 1e4) as usize;
        let part = (end - begin) / count as f64;
        let (mut points, mut amounts, mut filled) = ([from; 4], [0.0; 4], 0);
        for k in 0..count {
            for [node, weight] in rule {
                points[filled] = from + (begin + (k as f64 + node) * part) * way;
                amounts[filled] = weight * part;
                filled += 1;
                if filled == 4 {
                    self.add(points, amounts, found);
                    filled = 0;
                }
            }
        }
        if filled > 0 {
            let last = points[filled - 1];
            points[filled..].fill(last);
            amounts[filled..].fill(0.0);
            self.add(points, amounts, found);
        }
    }
}

impl<const N: usize> Sharing<N> {
    /// What is at some points, near each other.
    fn add(&mut self, points: [DVec3; N], mut amounts: [f64; N], found: &mut Shares) {
        let (grid, mut whole, mut step) = (&self.grid, true, 1);
        for (a, axis) in self.axes.iter_mut().enumerate() {
            let count = grid.cells[a];
            if count == 1 {
                if !grid.wraps[a] {
                    let box_holds = |x: &DVec3| (self.low[a]..self.high[a]).contains(&x[a]);
                    amounts.iter_mut().zip(&points).filter(|(_, x)| !box_holds(x)).for_each(|(amount, _)| *amount = 0.0);
                }
                continue;
            }
            axis.clear();
            let (reach, size) = (self.reach[a], self.size[a]);
            let places = points.map(|x| (x[a] - self.low[a]) * self.per_size[a] - 0.5);
            let (mut first, mut last) = (i64::MAX, i64::MIN);
            for place in places {
                first = first.min(-floor(reach - place));
                last = last.max(floor(place + reach));
            }
            let count = count as i64;
            let within = first >= 0 && last < count;
            if !within && !grid.wraps[a] && (last < 0 || first >= count) {
                return;
            }
            whole &= within || grid.wraps[a];
            for k in first..last + 1 {
                let cell = if within || (0..count).contains(&k) {
                    k as usize * step
                } else if grid.wraps[a] {
                    k.rem_euclid(count) as usize * step
                } else {
                    OUTSIDE
                };
                let squares = places.map(|place| ((place - k as f64) * size) * ((place - k as f64) * size));
                axis.push((squares, cell));
            }
            step *= grid.cells[a];
        }
        let [along, rows, planes] = &self.axes;
        let cells = along.len() * rows.len() * planes.len();
        if self.near.len() < cells {
            self.near.resize(cells, (0, [0.0; N]));
        }
        let (square_width, per_width) = (self.square_width, self.per_width);
        let mut count = 0;
        for (z, plane) in planes {
            for (y, row) in rows {
                let across: [f64; N] = std::array::from_fn(|lane| y[lane] + z[lane]);
                if across.iter().all(|square| *square >= square_width) {
                    continue;
                }
                // what stands outside counts in the sums; its number is of no cell
                let outside = !whole && (*plane == OUTSIDE || *row == OUTSIDE);
                for (x, cell) in along {
                    let squares: [f64; N] = std::array::from_fn(|lane| x[lane] + across[lane]);
                    let number = if outside || !whole && *cell == OUTSIDE { OUTSIDE } else { plane + row + cell };
                    self.near[count] = (number, squares);
                    count += usize::from(squares.iter().any(|square| *square < square_width));
                }
            }
        }
        let near = &mut self.near[..count];
        let mut sums = [0.0; N];
        // a loop for each kernel, without branches, so that lanes share registers
        let mut weigh = |kernel: Kernel| {
            for (_, weights) in &mut *near {
                *weights = weights.map(|square| {
                    let weight = kernel.at(square.sqrt() * per_width);
                    if square < square_width { weight } else { 0.0 }
                });
                sums.iter_mut().zip(&*weights).for_each(|(sum, weight)| *sum += weight);
            }
        };
        match grid.kernel {
            Kernel::Lucy => weigh(Kernel::Lucy),
            Kernel::Heaviside => weigh(Kernel::Heaviside),
        }
        let scales: [f64; N] = std::array::from_fn(|lane| amounts[lane] / sums[lane]);
        let shares = near.iter().filter(|(cell, _)| whole || *cell != OUTSIDE).map(|(cell, weights)| {
            let rest = weights.iter().zip(&scales).skip(1);
            (*cell, rest.fold(weights[0] * scales[0], |sum, (weight, scale)| sum + weight * scale))
        });
        // none where a point is beside the box of an axis with a single cell
        found.extend(shares.filter(|(_, share)| *share != 0.0));
    }
}

/// Nodes and weights on [0, 1].
pub(super) const GAUSS_2: [[f64; 2]; 2] = [[0.5 - 0.288_675_134_594_812_9, 0.5], [0.5 + 0.288_675_134_594_812_9, 0.5]];
const GAUSS_4: [[f64; 2]; 4] = [
    [0.5 - 0.430_568_155_797_026_3, 0.173_927_422_568_726_92],
    [0.5 - 0.169_990_521_792_428_13, 0.326_072_577_431_273_05],
    [0.5 + 0.169_990_521_792_428_13, 0.326_072_577_431_273_05],
    [0.5 + 0.430_568_155_797_026_3, 0.173_927_422_568_726_92],
];

/// Without the function of the platform, which is slow on old processors.
fn floor(x: f64) -> i64 {
    let whole = x as i64;
    whole - i64::from(whole as f64 > x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::random::Sequence;

    fn cube(n: usize, width: f64) -> Grid {
        Grid { low: DVec3::splat(-1.0), high: DVec3::ONE, cells: [n; 3], width, ..Grid::default() }
    }

    #[test]
    fn shares_sum_to_one_within_the_grid_and_through_periodic_faces() {
        let mut random = Sequence::new(4);
        for kernel in Kernel::ALL {
            for (cells, width) in [([8, 8, 8], 0.4), ([1, 8, 8], 0.3), ([1, 1, 20], 0.11), ([5, 9, 1], 0.6), ([1; 3], 1.0)] {
                let grid = Grid { cells, kernel, ..cube(1, width) };
                grid.validate().unwrap();
                let mut found = Vec::new();
                for _ in 0..50 {
                    let x = DVec3::from_array([(); 3].map(|()| random.next_between(-0.39, 0.39)));
                    let y = DVec3::from_array([(); 3].map(|()| random.next_between(-0.39, 0.39)));
                    let sum = |found: &Shares| found.iter().map(|f| f.1).sum::<f64>();
                    grid.share(x, &mut found);
                    assert!((sum(&found) - 1.0).abs() < 1e-14);
                    grid.share_line([x, y], &mut found);
                    assert!((sum(&found) - 1.0).abs() < 1e-13);
                    let round = Grid { wraps: [true; 3], ..grid.clone() };
                    round.share(DVec3::splat(17.0) * x, &mut found);
                    assert!((sum(&found) - 1.0).abs() < 1e-14);
                }
            }
        }
    }

    #[test]
    fn shares_are_the_kernel_with_its_constant_where_cells_are_small() {
        // ∫ W = 16π c³/105, 2π c² ∫ (1 + 3q)(1 − q)³ q dq = π c²/5, 4c/5 in three dimensions, two and one; a ball 4π c³/3, a disc π c², 2c
        let pi = std::f64::consts::PI;
        for (kernel, cells, integral, miss) in [
            (Kernel::Lucy, [60; 3], 16.0 * pi / 105.0 * 0.125, 1e-3),
            (Kernel::Lucy, [60, 60, 1], pi / 5.0 * 0.25, 1e-3),
            (Kernel::Lucy, [1, 1, 400], 0.8 * 0.5, 1e-3),
            (Kernel::Heaviside, [60; 3], 4.0 / 3.0 * pi * 0.125, 1e-2),
            (Kernel::Heaviside, [1, 80, 80], pi * 0.25, 1e-2),
            (Kernel::Heaviside, [400, 1, 1], 1.0, 1e-2),
        ] {
            let grid = Grid { cells, kernel, ..cube(1, 0.5) };
            let mut found = Vec::new();
            let x = DVec3::new(0.013, -0.021, 0.007);
            grid.share(x, &mut found);
            let seen: f64 = (0..3).filter(|&a| cells[a] > 1).map(|a| grid.size()[a]).product();
            for (cell, share) in found {
                let exact = kernel.at(grid.seen(grid.centre(cell) - x).length() / 0.5) / integral;
                assert!((share / seen - exact).abs() < miss / integral, "{kernel:?} {cells:?}: {} {exact}", share / seen);
            }
        }
    }

    #[test]
    fn a_line_is_shared_as_many_points_on_it_are() {
        for (kernel, miss) in [(Kernel::Lucy, 2e-3), (Kernel::Heaviside, 2e-2)] {
            let grid =
                Grid { cells: [6, 6, 1], kernel, low: DVec3::new(-1.0, -1.0, -0.1), high: DVec3::new(1.0, 1.0, 0.2), ..cube(1, 0.45) };
            let ends = [DVec3::new(-0.3, 0.2, -0.4), DVec3::new(0.4, 0.5, 0.5)];
            let (mut line, mut points, mut one) = (vec![0.0; 36], vec![0.0; 36], Vec::new());
            grid.share_line(ends, &mut one);
            one.iter().for_each(|(cell, share)| line[*cell] += share);
            let n = 20_000;
            for k in 0..n {
                grid.share(ends[0].lerp(ends[1], (f64::from(k) + 0.5) / f64::from(n)), &mut one);
                one.iter().for_each(|(cell, share)| points[*cell] += share / f64::from(n));
            }
            let worst = line.iter().zip(&points).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
            assert!(worst < miss && (line.iter().sum::<f64>() - 1.0 / 3.0).abs() < 1e-13, "{kernel:?}: {worst}");
        }
    }

    #[test]
    fn grids_that_miss_points_are_refused() {
        assert!(cube(4, 0.44).validate().is_ok());
        let error = cube(4, 0.43).validate().unwrap_err().to_string();
        assert!(error.contains("width of a kernel") && error.contains("0.43"), "{error}");
        assert!(cube(4, 24.0).validate().is_ok());
        let error = cube(4, 1e4).validate().unwrap_err().to_string();
        assert!(error.contains("10000 m") && error.contains("larger cells"), "{error}");
        assert!(Grid { cells: [0, 1, 1], ..cube(1, 1.0) }.validate().is_err());
        assert!(Grid { cells: [1 << 40, 1 << 40, 1], ..cube(1, 1.0) }.validate().is_err());
        assert!(Grid { high: DVec3::NAN, ..cube(1, 1.0) }.validate().is_err());
    }
}
