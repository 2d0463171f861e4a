//! Which vector instructions the kernels are compiled for: chosen at run time, the same bits whatever the choice.
//!
//! A kernel is plain Rust over slices, compiled once for each instruction set. Every number it computes has its own chain of
//! products and sums in an order that the source fixes; wider registers hold more chains, never another order, and a product and
//! its sum are rounded one after the other (Rust contracts nothing by itself). So the choice changes the speed alone.

use std::sync::atomic::{AtomicBool, Ordering};

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
    /// The widest that this processor has and the kernels are compiled for (AVX2).
    Widest,
}

/// Set while a test holds all kernels to the baseline.
static BASELINE: AtomicBool = AtomicBool::new(false);

impl Lanes {
    /// Every choice there is.
    pub const ALL: [Self; 2] = [Self::Baseline, Self::Widest];

    /// The choice that all kernels use.
    pub fn best() -> Self {
        if BASELINE.load(Ordering::Relaxed) { Self::Baseline } else { Self::Widest }
    }

    /// Makes all kernels of the process use these instructions from now on: to compare bits, or times.
    pub fn force(self) {
        BASELINE.store(self == Self::Baseline, Ordering::Relaxed);
    }

    /// Name of the instructions.
    pub fn name(self) -> &'static str {
        match (self, self.arch()) {
            (Self::Baseline, _) => "baseline",
            (_, arch) if std::mem::discriminant(&arch) == std::mem::discriminant(&pulp::Arch::Scalar) => "baseline (nothing wider)",
            _ => "widest",
        }
    }

    fn arch(self) -> pulp::Arch {
        match self {
            Self::Baseline => pulp::Arch::Scalar,
            Self::Widest => pulp::Arch::new(),
        }
    }

    /// Runs a kernel; mark it and all it calls `#[inline(always)]`, or they stay what they were.
    #[inline(always)]
    pub fn run<T>(self, kernel: impl FnOnce() -> T) -> T {
        self.arch().dispatch(kernel)
    }
}
