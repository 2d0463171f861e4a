//! Which vector instructions the kernels are compiled for: chosen at run time, the same bits whatever the choice.
//!
//! A kernel is plain Rust over slices, compiled once for each instruction set. Every number it computes has its own chain of
//! products and sums in an order that the source fixes; wider registers hold more chains, never another order, and a product and
//! its sum are rounded one after the other (Rust contracts nothing by itself). So the choice changes the speed alone.

use glam::DVec3;
/// One number at a time, on any processor.
pub(crate) use pulp::Scalar as Plain;
pub(crate) use pulp::{Simd, WithSimd};
use std::ops::{Add, Mul, Neg, Sub};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Instruction sets that kernels can be run on.
///
/// ```
/// use drystone::algebra::lanes::Lanes;
/// assert!(Lanes::ALL.contains(&Lanes::best()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// What every processor of the architecture has (SSE2 on x86-64, NEON on aarch64).
    Baseline,
    /// Registers of four numbers where there are wider ones (AVX2 on a processor with AVX-512), else the widest: what such a processor would
    /// not be tested on.
    Four,
    /// The widest that this processor has and the kernels are compiled for (AVX-512 or AVX2 on x86-64).
    Widest,
}

/// Place in [`Lanes::ALL`] of what a test holds all kernels to.
static HELD: AtomicUsize = AtomicUsize::new(Lanes::ALL.len() - 1);

impl Lanes {
    /// Every choice there is.
    pub const ALL: [Self; 3] = [Self::Baseline, Self::Four, Self::Widest];

    /// The choice that all kernels use.
    pub fn best() -> Self {
        Self::ALL[HELD.load(Ordering::Relaxed)]
    }

    /// Makes all kernels of the process use these instructions from now on: to compare bits, or times.
    pub fn force(self) {
        HELD.store(self as usize, Ordering::Relaxed);
    }

    /// Name of the instructions.
    pub fn name(self) -> &'static str {
        match (self, self.arch()) {
            (Self::Baseline, _) => "baseline",
            (_, arch) if std::mem::discriminant(&arch) == std::mem::discriminant(&pulp::Arch::Scalar) => "baseline (nothing wider)",
            (Self::Four, _) => "four numbers",
            _ => "widest",
        }
    }

    fn arch(self) -> pulp::Arch {
        match self {
            Self::Baseline => pulp::Arch::Scalar,
            Self::Four => match pulp::Arch::new() {
                #[cfg(target_arch = "x86_64")]
                pulp::Arch::V4(wide) => pulp::Arch::V3(*wide),
                arch => arch,
            },
            Self::Widest => pulp::Arch::new(),
        }
    }

    /// Runs a kernel; mark it and all it calls `#[inline(always)]`, or they stay what they were.
    #[inline(always)]
    pub fn run<T>(self, kernel: impl FnOnce() -> T) -> T {
        self.arch().dispatch(kernel)
    }

    /// Runs a kernel that is written in [`Wide`] numbers.
    #[inline(always)]
    pub(crate) fn run_wide<K: WithSimd>(self, kernel: K) -> K::Output {
        self.arch().dispatch(kernel)
    }

    /// Runs one in registers of at most four numbers, which wider ones would not fill.
    #[inline(always)]
    pub(crate) fn run_four<K: WithSimd>(self, kernel: K) -> K::Output {
        let most = if self == Self::Widest { Self::Four } else { self };
        most.arch().dispatch(kernel)
    }
}

/// Problems that a kernel in [`Wide`] numbers works on at a time, each in its own lane; at least as many as a register holds.
pub(crate) const LANES: usize = 8;

/// One number for each lane, in memory.
pub(crate) type Row = [f64; LANES];

/// As many numbers as a register holds; each lane rounds as a plain `f64` does.
#[derive(Clone, Copy)]
pub(crate) struct Wide<S: Simd> {
    simd: S,
    x: S::f64s,
}

/// A yes or no for each lane.
#[derive(Clone, Copy)]
pub(crate) struct Mask<S: Simd> {
    simd: S,
    yes: S::m64s,
}

impl<S: Simd> Wide<S> {
    /// Registers that hold a [`Row`].
    pub(crate) const PARTS: usize = LANES / S::F64_LANES;

    /// The same number in all lanes.
    #[inline(always)]
    pub(crate) fn splat(simd: S, x: f64) -> Self {
        Self { simd, x: simd.splat_f64s(x) }
    }

    /// What `of` says of each lane.
    #[inline(always)]
    pub(crate) fn gather(simd: S, of: impl Fn(usize) -> f64) -> Self {
        match S::F64_LANES {
            8 => Self::gathered::<8>(simd, of),
            4 => Self::gathered::<4>(simd, of),
            2 => Self::gathered::<2>(simd, of),
            _ => Self::gathered::<1>(simd, of),
        }
    }

    #[inline(always)]
    fn gathered<const N: usize>(simd: S, of: impl Fn(usize) -> f64) -> Self {
        let mut row = [0.0; N];
        for (l, x) in row.iter_mut().enumerate() {
            *x = of(l);
        }
        Self::of(simd, &row)
    }

    /// The numbers of all lanes, the first of a row.
    #[inline(always)]
    pub(crate) fn row(self) -> Row {
        let mut row = [0.0; LANES];
        self.put(&mut row);
        row
    }

    /// Part k of a row.
    #[inline(always)]
    pub(crate) fn load(simd: S, row: &Row, k: usize) -> Self {
        const { assert!(LANES.is_multiple_of(S::F64_LANES)) }
        Self { simd, x: S::as_simd_f64s(row).0[k] }
    }

    /// Writes part k of a row.
    #[inline(always)]
    pub(crate) fn store(self, row: &mut Row, k: usize) {
        S::as_mut_simd_f64s(row).0[k] = self.x;
    }

    /// The first numbers of a slice.
    #[inline(always)]
    pub(crate) fn of(simd: S, x: &[f64]) -> Self {
        Self { simd, x: S::as_simd_f64s(x).0[0] }
    }

    /// Writes them there.
    #[inline(always)]
    pub(crate) fn put(self, x: &mut [f64]) {
        S::as_mut_simd_f64s(x).0[0] = self.x;
    }

    #[inline(always)]
    pub(crate) fn sqrt(self) -> Self {
        Self { x: self.simd.sqrt_f64s(self.x), ..self }
    }

    #[inline(always)]
    pub(crate) fn over(self, o: Self) -> Self {
        Self { x: self.simd.div_f64s(self.x, o.x), ..self }
    }

    #[inline(always)]
    pub(crate) fn abs(self) -> Self {
        Self { x: self.simd.abs_f64s(self.x), ..self }
    }

    /// The larger one, `least` where this is not a number.
    #[inline(always)]
    pub(crate) fn or_least(self, least: Self) -> Self {
        least.at_most(self).pick(self, least)
    }

    /// The smaller one, `most` where this is not a number.
    #[inline(always)]
    pub(crate) fn or_most(self, most: Self) -> Self {
        self.at_most(most).pick(self, most)
    }

    /// `self ≤ o`; no where one is not a number.
    #[inline(always)]
    pub(crate) fn at_most(self, o: Self) -> Mask<S> {
        Mask { simd: self.simd, yes: self.simd.less_than_or_equal_f64s(self.x, o.x) }
    }

    /// `self < o`; no where one is not a number.
    #[inline(always)]
    pub(crate) fn below(self, o: Self) -> Mask<S> {
        Mask { simd: self.simd, yes: self.simd.less_than_f64s(self.x, o.x) }
    }

    #[inline(always)]
    pub(crate) fn equals(self, o: Self) -> Mask<S> {
        Mask { simd: self.simd, yes: self.simd.equal_f64s(self.x, o.x) }
    }
}

impl<S: Simd> Mask<S> {
    #[inline(always)]
    pub(crate) fn and(self, o: Self) -> Self {
        Self { yes: self.simd.and_m64s(self.yes, o.yes), ..self }
    }

    #[inline(always)]
    pub(crate) fn or(self, o: Self) -> Self {
        Self { yes: self.simd.or_m64s(self.yes, o.yes), ..self }
    }

    /// Yes where no, and no where yes.
    #[inline(always)]
    pub(crate) fn not(self) -> Self {
        Self { yes: self.simd.not_m64s(self.yes), ..self }
    }

    /// Whether it is yes in some lane: what is left out where it is not may change no lane that says no.
    #[inline(always)]
    pub(crate) fn any(self) -> bool {
        self.simd.first_true_m64s(self.yes) < S::F64_LANES
    }

    /// `a` where yes, `b` where no.
    #[inline(always)]
    pub(crate) fn pick(self, a: Wide<S>, b: Wide<S>) -> Wide<S> {
        Wide { x: self.simd.select_f64s(self.yes, a.x, b.x), ..a }
    }

    /// The same for vectors.
    #[inline(always)]
    pub(crate) fn pick3(self, a: Wide3<S>, b: Wide3<S>) -> Wide3<S> {
        Wide3(self.pick(a.0, b.0), self.pick(a.1, b.1), self.pick(a.2, b.2))
    }
}

macro_rules! binary {
    ($trait:ident, $method:ident, $kernel:ident) => {
        impl<S: Simd> $trait for Wide<S> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, o: Self) -> Self {
                Self { x: self.simd.$kernel(self.x, o.x), ..self }
            }
        }
    };
}
binary!(Add, add, add_f64s);
binary!(Sub, sub, sub_f64s);
binary!(Mul, mul, mul_f64s);

impl<S: Simd> Neg for Wide<S> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self { x: self.simd.neg_f64s(self.x), ..self }
    }
}

/// A vector in each lane; products and sums in the order of glam's.
#[derive(Clone, Copy)]
pub(crate) struct Wide3<S: Simd>(pub(crate) Wide<S>, pub(crate) Wide<S>, pub(crate) Wide<S>);

impl<S: Simd> Wide3<S> {
    /// The same vector in all lanes.
    #[inline(always)]
    pub(crate) fn splat(simd: S, x: DVec3) -> Self {
        Self(Wide::splat(simd, x.x), Wide::splat(simd, x.y), Wide::splat(simd, x.z))
    }

    /// What `of` says of each lane.
    #[inline(always)]
    pub(crate) fn gather(simd: S, of: impl Fn(usize) -> DVec3) -> Self {
        let (x, y, z) = (
            #[inline(always)]
            |l| of(l).x,
            #[inline(always)]
            |l| of(l).y,
            #[inline(always)]
            |l| of(l).z,
        );
        Self(Wide::gather(simd, x), Wide::gather(simd, y), Wide::gather(simd, z))
    }

    /// The vectors of all lanes, zeros after them.
    #[inline(always)]
    pub(crate) fn vectors(self) -> [DVec3; LANES] {
        let (x, y, z) = (self.0.row(), self.1.row(), self.2.row());
        let mut all = [DVec3::ZERO; LANES];
        for (l, v) in all.iter_mut().enumerate().take(S::F64_LANES) {
            *v = DVec3::new(x[l], y[l], z[l]);
        }
        all
    }

    #[inline(always)]
    pub(crate) fn load(simd: S, rows: &[Row; 3], k: usize) -> Self {
        Self(Wide::load(simd, &rows[0], k), Wide::load(simd, &rows[1], k), Wide::load(simd, &rows[2], k))
    }

    #[inline(always)]
    pub(crate) fn store(self, rows: &mut [Row; 3], k: usize) {
        self.0.store(&mut rows[0], k);
        self.1.store(&mut rows[1], k);
        self.2.store(&mut rows[2], k);
    }

    #[inline(always)]
    pub(crate) fn dot(self, o: Self) -> Wide<S> {
        self.0 * o.0 + self.1 * o.1 + self.2 * o.2
    }

    #[inline(always)]
    pub(crate) fn cross(self, o: Self) -> Self {
        Self(self.1 * o.2 - o.1 * self.2, self.2 * o.0 - o.2 * self.0, self.0 * o.1 - o.0 * self.1)
    }

    #[inline(always)]
    pub(crate) fn times(self, k: Wide<S>) -> Self {
        Self(self.0 * k, self.1 * k, self.2 * k)
    }
}

impl<S: Simd> Add for Wide3<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self(self.0 + o.0, self.1 + o.1, self.2 + o.2)
    }
}

impl<S: Simd> Sub for Wide3<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self(self.0 - o.0, self.1 - o.1, self.2 - o.2)
    }
}

impl<S: Simd> Neg for Wide3<S> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(-self.0, -self.1, -self.2)
    }
}

/// Component by component.
impl<S: Simd> Mul for Wide3<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        Self(self.0 * o.0, self.1 * o.1, self.2 * o.2)
    }
}
