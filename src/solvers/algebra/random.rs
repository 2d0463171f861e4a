//! Random numbers that every language reproduces bit for bit.

/// Number `k` of a fixed sequence, uniform in [0, 1): the splitmix64 finaliser of `(k + 1) × 0x9E3779B97F4A7C15`,
/// upper 53 bits.
///
/// Steele, Lea, Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014.
///
/// ```
/// use drystone::algebra::random::uniform;
/// assert_eq!(uniform(0), 0.883_310_808_213_642_6);
/// ```
pub fn uniform(k: u64) -> f64 {
    let mut z = k.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    // exact: 53 bits and a power of two
    (z >> 11) as f64 / (1u64 << 53) as f64
}

/// An independent sequence per seed: [`uniform`] from a start that the seed picks.
///
/// ```
/// use drystone::algebra::random::Sequence;
/// let (mut a, mut b) = (Sequence::new(7), Sequence::new(7));
/// assert_eq!(a.next_uniform(), b.next_uniform());
/// ```
#[derive(Clone, Debug)]
pub struct Sequence {
    next: u64,
}

impl Sequence {
    /// Seed 0 is the sequence of [`uniform`] itself.
    pub fn new(seed: u64) -> Self {
        // an odd multiplier far from the one of splitmix keeps the starts of neighbouring seeds apart
        Self { next: seed.wrapping_mul(0xD134_2543_DE82_EF95) }
    }

    /// The next number, uniform in [0, 1).
    pub fn next_uniform(&mut self) -> f64 {
        let x = uniform(self.next);
        self.next = self.next.wrapping_add(1);
        x
    }

    /// The next number, uniform in [`low`, `high`).
    pub fn next_between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next_uniform()
    }
}
