//! Sampled control of any system: sensors, observers and control laws, each with its own sampling period.
//!
//! ```text
//! plant ẋ = A x + B u + …  ──x──▶ sensor y = C x + D u ──y──▶ observer x̂ ──x̂──▶ law u(t_k), held until t_k+1
//! σ = C x                    sliding variable: the law drives it to 0 and keeps it there
//! explicit   u_k ∈ −α Sgn(σ_k)      the sign lags by a period: σ chatters with an amplitude of the order of h
//! implicit   u_k ∈ −α Sgn(σ̃_k+1)    σ̃ from the sampled model: a relay problem, whose solution is 0 once σ̃ can be 0
//! ```
//!
//! Every law is plain data with a [`sample`](Law::sample) over slices; [`install`] puts it on a
//! [`Simulation`](crate::simulation::Simulation) as an event between steps, its u in the parameters z of the plant.
//! The idea of implicit sampling: Acary & Brogliato, Syst. Control Lett. 59 (2010) 284; Acary, Brogliato & Orlov, IEEE Trans. Autom.
//! Control 57 (2012) 1087.

pub mod install;
mod linear;
mod observer;
mod pid;
mod sensor;
mod sliding;
mod super_twisting;
mod twisting;

pub use linear::{LinearModel, Sampled};
pub use observer::{Luenberger, Observer, SlidingObserver};
pub use pid::Pid;
pub use sensor::Sensor;
pub use sliding::SlidingMode;
pub use super_twisting::SuperTwisting;
pub use twisting::Twisting;

/// How a set-valued law is sampled.
///
/// ```
/// assert_eq!(drystone::control::Sampling::default(), drystone::control::Sampling::Implicit);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sampling {
    /// With the sign at the sampling instant; sgn 0 = 0. Chatters.
    Explicit,
    /// With the sign that the model predicts for the end of the period. Does not chatter.
    #[default]
    Implicit,
}

/// A control law that is sampled.
///
/// ```
/// use drystone::control::{Law, Pid};
/// let mut pid = Pid::new(2.0, 0.0, 0.0, 0.1)?;
/// let mut u = [0.0];
/// assert!(pid.sample(0.0, &[3.0], &mut u));
/// assert_eq!(u, [-6.0]);
/// # Ok::<(), drystone::control::ControlError>(())
/// ```
pub trait Law {
    /// Number of values that it takes.
    fn measurements(&self) -> usize;

    /// Number of inputs that it gives.
    fn inputs(&self) -> usize;

    /// The input from time t (s) on, from the measurement or estimate `y`; `u` comes in as what has been held until now.
    /// False where a problem of the law's own was not solved to its tolerance; u is then the best that was found.
    fn sample(&mut self, t: f64, y: &[f64], u: &mut [f64]) -> bool;

    /// The sampling period (s) for which it was made, the one at which [`install::law`] has to sample it; `None` where any does.
    fn period(&self) -> Option<f64> {
        None
    }
}

/// A law whose inputs are cut at bounds.
///
/// ```
/// use drystone::control::{Law, Pid, Saturated};
/// let mut law = Saturated { law: Pid::new(2.0, 0.0, 0.0, 0.1)?, lower: -1.0, upper: 1.0 };
/// let mut u = [0.0];
/// law.sample(0.0, &[3.0], &mut u);
/// assert_eq!(u, [-1.0]);
/// # Ok::<(), drystone::control::ControlError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Saturated<L> {
    /// The law.
    pub law: L,
    /// Lower bound of every input.
    pub lower: f64,
    /// Upper bound of every input.
    pub upper: f64,
}

impl<L: Law> Law for Saturated<L> {
    fn measurements(&self) -> usize {
        self.law.measurements()
    }

    fn inputs(&self) -> usize {
        self.law.inputs()
    }

    fn sample(&mut self, t: f64, y: &[f64], u: &mut [f64]) -> bool {
        let solved = self.law.sample(t, y, u);
        u.iter_mut().for_each(|u| *u = u.max(self.lower).min(self.upper));
        solved
    }

    fn period(&self) -> Option<f64> {
        self.law.period()
    }
}

/// What keeps a sensor, observer or law from being made or installed.
///
/// ```
/// use drystone::control::LinearModel;
/// let error = LinearModel::new([0.0; 3], [1.0, 0.0], 2).unwrap_err();
/// assert_eq!(error.to_string(), "A holds 3 values, but 2 × 2 = 4 are needed");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ControlError {
    /// A matrix or vector of the wrong size.
    #[error("{what} holds {found} values, but {needed} are needed")]
    Size {
        /// What it is.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there have to be, and why.
        needed: String,
    },
    /// A number out of its range.
    #[error("{what} is {found}; {needed}")]
    Range {
        /// What it is.
        what: &'static str,
        /// Its value.
        found: f64,
        /// What would do.
        needed: &'static str,
    },
    /// A law or observer that was made for one sampling period and is to be sampled with another.
    #[error("{what} was made for a sampling period of {made} s, but is sampled every {sampled} s; both have to be the same")]
    Period {
        /// What it is.
        what: &'static str,
        /// The period for which it was made (s).
        made: f64,
        /// The one with which it is installed (s).
        sampled: f64,
    },
    /// The input does not reach the sliding variable as it has to.
    #[error("C B has no positive definite symmetric part, so that the input cannot drive C x to 0; C decides the sign")]
    NotReached,
    /// A plant or source of measurements that is not there.
    #[error("{0}")]
    Missing(String),
    /// The simulation refuses.
    #[error(transparent)]
    Simulation(#[from] crate::simulation::SimulationError),
}

fn size(what: &'static str, values: &[f64], rows: usize, columns: usize) -> Result<(), ControlError> {
    if values.len() != rows * columns {
        let needed = if columns == 1 { format!("{rows}") } else { format!("{rows} × {columns} = {}", rows * columns) };
        return Err(ControlError::Size { what, found: values.len(), needed });
    }
    match values.iter().find(|x| !x.is_finite()) {
        Some(&found) => Err(ControlError::Range { what, found, needed: "finite numbers are needed" }),
        None => Ok(()),
    }
}

fn positive(what: &'static str, found: f64) -> Result<(), ControlError> {
    if found > 0.0 && found.is_finite() { Ok(()) } else { Err(ControlError::Range { what, found, needed: "a positive number is needed" }) }
}

fn not_negative(what: &'static str, found: f64) -> Result<(), ControlError> {
    let needed = "a number that is not negative is needed";
    if found >= 0.0 && found.is_finite() { Ok(()) } else { Err(ControlError::Range { what, found, needed }) }
}

/// −1, 0 or 1.
fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}
