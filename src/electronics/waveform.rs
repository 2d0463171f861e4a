//! Values of sources: constant or a function of time.

use std::sync::Arc;

/// A voltage or a current over time.
///
/// ```
/// use drystone::electronics::Waveform;
/// let mains = Waveform::from(|t: f64| 325.0 * (100.0 * std::f64::consts::PI * t).sin());
/// assert!((mains.at(5e-3) - 325.0).abs() < 1e-10);
/// assert_eq!(Waveform::from(5.0).at(1.0), 5.0);
/// ```
#[derive(Clone)]
pub enum Waveform {
    /// The same at all times.
    Constant(f64),
    /// A function of the time (s).
    Function(Arc<dyn Fn(f64) -> f64 + Send + Sync>),
}

impl Waveform {
    /// The value at time t (s).
    pub fn at(&self, t: f64) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Function(f) => f(t),
        }
    }
}

/// What a function of the time gives, and `none` where it panics: nothing of ours is written while it runs.
pub(super) fn shown<T>(value: impl FnOnce() -> T, none: T) -> T {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(value)).unwrap_or(none)
}

impl From<f64> for Waveform {
    fn from(value: f64) -> Self {
        Self::Constant(value)
    }
}

impl<F: Fn(f64) -> f64 + Send + Sync + 'static> From<F> for Waveform {
    fn from(f: F) -> Self {
        Self::Function(Arc::new(f))
    }
}

impl std::fmt::Debug for Waveform {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Constant(value) => f.debug_tuple("Constant").field(value).finish(),
            Self::Function(_) => f.write_str("Function"),
        }
    }
}
