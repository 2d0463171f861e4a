//! Sampled control of any system: sensors, observers and control laws, each with its own sampling period.
//!
//! ```text
//! plant ẋ = A x + B u + …  ──x──▶ sensor y = C x + D u ──y──▶ observer x̂ ──x̂──▶ law u(t_k), held until t_k+1
//! σ = C x                    sliding variable: the law drives it to 0 and keeps it there
//! explicit   u_k ∈ −α Sgn(σ_k)      the sign lags by a period: σ chatters with an amplitude of the order of h
//! implicit   u_k ∈ −α Sgn(σ̃_k+1)    σ̃ from the sampled model: a relay problem, whose solution is 0 once σ̃ can be 0
//! ```
//!
//! Every law is plain data with a [`sample`](ControlLaw::sample) over slices; [`install`] puts it on a
//! [`Simulation`](crate::simulation::Simulation) as an event between steps, its u in the parameters z of the plant. What sensors,
//! observers and laws remember from sample to sample is part of a [`SavedState`](crate::simulation::SavedState).
//!
//! ```
//! use drystone::{control::*, prelude::*};
//! /// u = −K y, which remembers nothing.
//! struct Gain(f64);
//!
//! impl ControlLaw for Gain {
//!     fn measurements(&self) -> usize {
//!         1
//!     }
//!     fn inputs(&self) -> usize {
//!         1
//!     }
//!     fn sample(&mut self, _t: f64, y: &[f64], u: &mut [f64]) -> bool {
//!         u[0] = -self.0 * y[0];
//!         u[0].is_finite()
//!     }
//!     fn memory(&self) -> Vec<f64> {
//!         Vec::new()
//!     }
//!     fn remember(&mut self, _memory: &[f64]) {}
//! }
//!
//! let mut sim = Simulation::with_time_step(0.01)?;
//! let tank = FirstOrder::linear([0.0], [1.0]).with_input(Operator::function(|at, f| f[0] = at.z[0])).with_parameters([0.0]);
//! let tank = sim.spawn_system(tank, Integrator::ZeroOrderHold)?;
//! let level = install::sensor(&mut sim, tank, 0.1, Sensor::full(1))?;
//! install::law(&mut sim, level, tank, 0.1, Saturated::new(Gain(5.0), -1.0, 1.0)?)?;
//! sim.run_until(3.0)?;
//! assert!(sim.world().get::<FirstOrder>(tank).is_some_and(|tank| tank.x[0].abs() < 1e-4));
//! # Ok::<(), ControlError>(())
//! ```
//!
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
pub use observer::{Luenberger, SlidingObserver, StateObserver};
pub use pid::Pid;
pub use sensor::Sensor;
pub use sliding::SlidingMode;
pub use super_twisting::SuperTwisting;
pub use twisting::Twisting;

use std::borrow::Cow;

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
/// use drystone::control::{ControlLaw, Pid};
/// let mut pid = Pid::new(2.0, 0.0, 0.0, 0.1)?;
/// let mut u = [0.0];
/// assert!(pid.sample(0.0, &[3.0], &mut u));
/// assert_eq!(u, [-6.0]);
/// # Ok::<(), drystone::control::ControlError>(())
/// ```
pub trait ControlLaw {
    /// Number of values that it takes.
    fn measurements(&self) -> usize;

    /// Number of inputs that it gives.
    fn inputs(&self) -> usize;

    /// The input from time t (s) on, from the measurement or estimate `y`; `u` comes in as what has been held until now.
    /// False where a problem of the law's own was not solved to its tolerance, u being then the best that was found, and where u is not
    /// finite.
    fn sample(&mut self, t: f64, y: &[f64], u: &mut [f64]) -> bool;

    /// The numbers that it remembers from one sample to the next, always as many; none where it remembers nothing.
    fn memory(&self) -> Vec<f64>;

    /// Takes back what [`memory`](Self::memory) gave of a law made alike.
    fn remember(&mut self, memory: &[f64]);

    /// The sampling period (s) for which it was made, the one at which [`install::law`] has to sample it; `None` where any does.
    fn period(&self) -> Option<f64> {
        None
    }
}

/// A law whose inputs are cut at bounds; what is not a number stays so.
///
/// ```
/// use drystone::control::{ControlLaw, Pid, Saturated};
/// let mut law = Saturated::new(Pid::new(2.0, 0.0, 0.0, 0.1)?, -1.0, 1.0)?;
/// let mut u = [0.0];
/// law.sample(0.0, &[3.0], &mut u);
/// assert_eq!(u, [-1.0]);
/// # Ok::<(), drystone::control::ControlError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Saturated<L> {
    /// The law.
    pub law: L,
    lower: f64,
    upper: f64,
}

impl<L> Saturated<L> {
    /// A law whose inputs all lie from `lower` to `upper`; a bound may be infinite.
    ///
    /// ```
    /// use drystone::control::{Pid, Saturated};
    /// let crossed = Saturated::new(Pid::new(2.0, 0.0, 0.0, 0.1)?, 1.0, -1.0).unwrap_err();
    /// assert_eq!(crossed.to_string(), "the lower bound of the input is 1; a number that is not above the upper bound, -1, is needed");
    /// # Ok::<(), drystone::control::ControlError>(())
    /// ```
    pub fn new(law: L, lower: f64, upper: f64) -> Result<Self, ControlError> {
        let refused = |what, found, needed: String| Err(ControlError::Range { what, found, needed: needed.into() });
        if upper.is_nan() || upper == f64::NEG_INFINITY {
            return refused("the upper bound of the input", upper, "a number, or infinity where there is none, is needed".into());
        }
        if lower.is_nan() || lower == f64::INFINITY {
            return refused("the lower bound of the input", lower, "a number, or -infinity where there is none, is needed".into());
        }
        if lower > upper {
            return refused(
                "the lower bound of the input",
                lower,
                format!("a number that is not above the upper bound, {upper}, is needed"),
            );
        }
        Ok(Self { law, lower, upper })
    }
}

impl<L: ControlLaw> ControlLaw for Saturated<L> {
    fn measurements(&self) -> usize {
        self.law.measurements()
    }

    fn inputs(&self) -> usize {
        self.law.inputs()
    }

    fn sample(&mut self, t: f64, y: &[f64], u: &mut [f64]) -> bool {
        let solved = self.law.sample(t, y, u);
        u.iter_mut().for_each(|u| *u = u.clamp(self.lower, self.upper));
        solved && finite(u)
    }

    fn memory(&self) -> Vec<f64> {
        self.law.memory()
    }

    fn remember(&mut self, memory: &[f64]) {
        self.law.remember(memory);
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
        needed: Cow<'static, str>,
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
        Some(&found) => Err(ControlError::Range { what, found, needed: "finite numbers are needed".into() }),
        None => Ok(()),
    }
}

fn positive(what: &'static str, found: f64) -> Result<(), ControlError> {
    if found > 0.0 && found.is_finite() {
        Ok(())
    } else {
        Err(ControlError::Range { what, found, needed: "a positive number is needed".into() })
    }
}

fn not_negative(what: &'static str, found: f64) -> Result<(), ControlError> {
    let needed = "a number that is not negative is needed".into();
    if found >= 0.0 && found.is_finite() { Ok(()) } else { Err(ControlError::Range { what, found, needed }) }
}

fn finite(values: &[f64]) -> bool {
    values.iter().all(|x| x.is_finite())
}

/// −1, 0 or 1; NaN of NaN.
fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integrator() -> LinearModel {
        LinearModel::new([0.0], [1.0], 1).unwrap()
    }

    fn sliding(sampling: Sampling) -> SlidingMode {
        SlidingMode::new(&integrator(), [1.0], 1.0, 0.1, sampling).unwrap()
    }

    #[test]
    fn no_law_and_no_observer_makes_a_number_of_what_is_none() {
        let pid = || Pid::new(1.0, 0.1, 0.2, 0.1).unwrap();
        let two = LinearModel::new([0.0; 4], [1.0, 0.0, 0.0, 1.0], 2).unwrap();
        let mut laws: Vec<(&str, Box<dyn ControlLaw>)> = vec![
            ("PID", Box::new(pid())),
            ("saturated", Box::new(Saturated::new(pid(), -1.0, 1.0).unwrap())),
            ("predicting", Box::new(sliding(Sampling::Implicit).with_prediction(0.5).unwrap())),
            ("two inputs", Box::new(SlidingMode::new(&two, [1.0, 0.0, 0.0, 1.0], 1.0, 0.1, Sampling::Implicit).unwrap())),
        ];
        for sampling in [Sampling::Explicit, Sampling::Implicit] {
            laws.push(("sliding", Box::new(sliding(sampling))));
            laws.push(("twisting", Box::new(Twisting::new(2.0, 1.0, 1.0, 0.1, sampling).unwrap())));
            laws.push(("super-twisting", Box::new(SuperTwisting::new(1.5, 1.1, 1.0, 0.1, sampling).unwrap())));
        }
        for (name, law) in &mut laws {
            let (mut y, mut u) = (vec![0.3; law.measurements()], vec![0.0; law.inputs()]);
            assert!(law.sample(0.0, &y, &mut u) && finite(&u), "{name}");
            y[0] = f64::NAN;
            assert!(!law.sample(0.1, &y, &mut u) && u[0].is_nan(), "{name} gives {u:?}");
        }
        let mut observers: [(&str, Box<dyn StateObserver>); 3] = [
            ("Luenberger", Box::new(Luenberger::new(&integrator(), [1.0], [2.0], [0.0], 0.1).unwrap())),
            ("sliding", Box::new(SlidingObserver::new(&integrator(), [1.0], [1.0], 5.0, [0.0], 0.1).unwrap())),
            ("of two", Box::new(SlidingObserver::new(&two, [1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0], 5.0, [0.0; 2], 0.1).unwrap())),
        ];
        for (name, observer) in &mut observers {
            let (mut y, u) = (vec![0.3; observer.measurements()], vec![0.0; observer.inputs()]);
            assert!(observer.sample(&y, &u) && observer.sample(&y, &u), "{name}");
            y[0] = f64::NAN;
            assert!(!observer.sample(&y, &u), "{name}");
        }
    }

    #[test]
    fn what_cannot_be_made_says_what_would_do() {
        let says = |error: ControlError, parts: &[&str]| {
            let text = error.to_string();
            assert!(parts.iter().all(|part| text.contains(part)), "{text}");
        };
        let pid = || Pid::new(1.0, 0.1, 0.2, 0.1).unwrap();
        let (nan, infinity) = (f64::NAN, f64::INFINITY);
        says(Saturated::new(pid(), nan, 1.0).unwrap_err(), &["the lower bound of the input is NaN", "-infinity"]);
        says(Saturated::new(pid(), 0.0, nan).unwrap_err(), &["the upper bound of the input is NaN"]);
        says(Saturated::new(pid(), infinity, infinity).unwrap_err(), &["the lower bound of the input is inf"]);
        says(Saturated::new(pid(), 2.0, 1.0).unwrap_err(), &["is 2", "not above the upper bound, 1"]);
        assert!(Saturated::new(pid(), -infinity, 1.0).is_ok() && Saturated::new(pid(), 1.0, 1.0).is_ok());
        says(Pid::new(1.0, nan, 0.0, 0.1).unwrap_err(), &["K_i is NaN; a finite number is needed"]);
        says(Pid::new(1.0, 0.0, 1e300, 1e-10).unwrap_err(), &["K_d/h", "inf"]);
        says(Pid::new(1.0, 0.0, 0.0, 0.0).unwrap_err(), &["the sampling period is 0; a positive number"]);
        says(Twisting::new(2.0, 1.0, 1.0, 1e-200, Sampling::Implicit).unwrap_err(), &["the square of the period", "is 0"]);
        says(Twisting::new(nan, 1.0, 1.0, 0.1, Sampling::Implicit).unwrap_err(), &["the gain of the variable is NaN"]);
        says(SuperTwisting::new(1.0, -1.0, 1.0, 0.1, Sampling::Explicit).unwrap_err(), &["the gain k₂ is -1; a positive number"]);
        says(SuperTwisting::new(1.0, 1.0, 1.0, 1e-200, Sampling::Explicit).unwrap_err(), &["the square of the period"]);
        says(sliding(Sampling::Explicit).with_prediction(1.0).unwrap_err(), &["bound of the prediction is 1", "implicit sampling does"]);
        says(sliding(Sampling::Implicit).with_prediction(-1.0).unwrap_err(), &["bound of the prediction is -1", "not negative"]);
        says(SlidingMode::new(&integrator(), [-1.0], 1.0, 0.1, Sampling::Implicit).unwrap_err(), &["C decides the sign"]);
        says(SlidingMode::new(&integrator(), [1.0], -1.0, 0.1, Sampling::Implicit).unwrap_err(), &["the gain is -1"]);
        says(LinearModel::new([], [], 0).unwrap_err(), &["the state holds 0 values, but at least one"]);
        says(LinearModel::new([nan], [1.0], 1).unwrap_err(), &["A is NaN; finite numbers"]);
        says(LinearModel::new([0.0], [], 1).unwrap_err(), &["B holds 0 values, but 1 for each input"]);
        says(Luenberger::new(&integrator(), [1.0], [1.0, 2.0], [0.0], 0.1).unwrap_err(), &["L holds 2 values, but 1"]);
        says(Luenberger::new(&integrator(), [1.0], [1.0], [nan], 0.1).unwrap_err(), &["the first estimate is NaN"]);
        says(SlidingObserver::new(&integrator(), [1.0], [1.0], 0.0, [0.0], 0.1).unwrap_err(), &["the bound is 0"]);
    }
}
