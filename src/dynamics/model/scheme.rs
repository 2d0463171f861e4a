//! Clock and settings of the time stepping.

use super::periodic::Cell;
use bevy_ecs::prelude::Resource;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// How gaps enter the velocity-level contact law.
///
/// ```
/// use drystone::model::scheme::Treatment;
/// assert_eq!(Treatment::default(), Treatment::GapAware { beta: 0.1 });
/// assert_eq!(Treatment::Forecast { theta: 0.5 }.theta(), 0.5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Treatment {
    /// Active if `gap + ½ h rate ≤ 0`, then `u_n⁺ + e_n u_n ≥ 0`; positions by the θ-rule.
    Forecast {
        /// θ of the position update, ½ to 1.
        theta: f64,
    },
    /// `u_n⁺ + max(gap,0)/h + β min(gap,0)/h ≥ 0`, and after an impact `u_n⁺ ≥ e_n w`, w the speed at which the bodies
    /// came to touch; positions by `q⁺ = q ⊕ h v⁺`.
    GapAware {
        /// Share of an overlap fed back per step, 0 to 1; less of shallow overlaps at rest where sweeps alone solve a large step (`ARCHITECTURE.md`,
        /// section 1).
        beta: f64,
    },
}

impl Default for Treatment {
    fn default() -> Self {
        Self::GapAware { beta: 0.1 }
    }
}

impl Treatment {
    /// θ of the position update `q⁺ = q ⊕ h (θ v⁺ + (1−θ) v)`.
    pub fn theta(self) -> f64 {
        match self {
            Self::Forecast { theta } => theta,
            Self::GapAware { .. } => 1.0,
        }
    }
}

/// Scheme for `I ω̇ + ω × I ω = m`.
///
/// ```
/// assert_eq!(drystone::model::scheme::Gyroscopic::default(), drystone::model::scheme::Gyroscopic::Midpoint);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Gyroscopic {
    /// Implicit midpoint: conserves energy and angular momentum.
    #[default]
    Midpoint,
    /// θ-average of the term at both ends of the step, for comparison with reference results.
    ThetaRule,
}

/// How friction enters a step.
///
/// ```
/// use drystone::model::scheme::Friction;
/// assert_eq!(Friction::default(), Friction::Exact);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Friction {
    /// Coulomb's law at the end of the step: `−(u + μ‖u_t‖n) ∈ N_K(r)`. A problem with folds and more than one solution.
    #[default]
    Exact,
    /// The same with `μ‖u_t‖` of the start of the step as a known shift: a convex problem with one velocity, whose error in Coulomb's law
    /// is of first order in the step and is reported.
    Lagged,
}

/// What closes the gaps of joints again that the rounding of their arms in each step leaves.
///
/// ```
/// assert_eq!(drystone::model::scheme::Drift::default(), drystone::model::scheme::Drift::Velocity);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Drift {
    /// The share `joint_feedback` of a gap is part of the velocity that the next step asks for.
    #[default]
    Velocity,
    /// After the velocities of the step, positions are moved the shortest way, in the metric of kinetic energy, to where all joints hold. What
    /// gravity gains or loses by it counts as work of the scheme. Contacts do not take part: what is moved into them (micrometres) is an
    /// overlap of the next step.
    Projection,
}

/// Settings that every room of the step reads.
///
/// ```
/// let scheme = drystone::model::scheme::Scheme { time_step: 2e-3, ..Default::default() };
/// assert!(scheme.validate().is_ok());
/// ```
#[derive(Resource, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scheme {
    /// Time step h (s).
    pub time_step: f64,
    /// Treatment of gaps.
    pub treatment: Treatment,
    /// Treatment of friction.
    pub friction: Friction,
    /// Scheme of the gyroscopic term.
    pub gyroscopic: Gyroscopic,
    /// Gravity (m/s², world).
    pub gravity: DVec3,
    /// Contacts are sought up to the gap that two bodies can close in this many steps at their present speeds …
    pub reach_steps: f64,
    /// … plus this share of the smaller body's smallest length, for neighbours that an impact sets in motion.
    pub reach_share: f64,
    /// In a gap-aware scene, gaps and overlaps up to this share of the smaller body's smallest length count as closed, for a
    /// contact that carried a reaction in the step before. Without such a band, the error that a solver leaves in the gaps
    /// (nanometres) makes a hyperstatic pile shift its reactions from corner to corner at every step: a wall of 105 blocks then
    /// costs several times the sweeps. For overlaps it is wider where the solver's tolerance is loose (1e-4 at 1e-3).
    pub touch: f64,
    /// Share of the drift of a joint that is fed back per step, 0 to 1.
    pub joint_feedback: f64,
    /// Whether drift is fed back or projected away.
    pub drift: Drift,
    /// Passes of the inner loop where joints make the step nonlinear.
    pub max_passes: usize,
    /// Start the contact solver from the impulses of the step before.
    pub warm_start: bool,
    /// Periodic cell; open by default.
    #[serde(default)]
    pub cell: Cell,
}

impl Default for Scheme {
    fn default() -> Self {
        Self {
            time_step: 1e-3,
            treatment: Treatment::default(),
            friction: Friction::default(),
            gyroscopic: Gyroscopic::default(),
            gravity: DVec3::new(0.0, 0.0, -9.81),
            reach_steps: 1.5,
            reach_share: 0.005,
            touch: 1e-7,
            joint_feedback: 0.1,
            drift: Drift::Velocity,
            max_passes: 40,
            warm_start: true,
            cell: Cell::default(),
        }
    }
}

/// Speed at which a deep overlap is parted, in `√(g ℓ)`.
const PUSH_OUT: f64 = 0.1;
/// Gravity that this speed is reckoned with at least (m/s²): without gravity, bodies are handled on Earth all the same.
const EARTH: f64 = 9.81;

impl Scheme {
    /// Largest speed (m/s) that feedback of overlap asks for, between bodies whose smallest length is `size` (m): `0.1 √(g ℓ)`.
    /// Bodies that start deep within each other are parted at this speed, whatever the step: `β |gap| / h` alone would throw them.
    pub fn push_out(&self, size: f64) -> f64 {
        PUSH_OUT * (self.gravity.length().max(EARTH) * size).sqrt()
    }

    /// Checks every number; the error names the field, what was found and what would do.
    pub fn validate(&self) -> Result<(), Invalid> {
        let range = |name: &str, x: f64, low: f64, high: f64| {
            if x >= low && x <= high { Ok(()) } else { Err(Invalid::new(name, x, format!("a number from {low} to {high}"))) }
        };
        if !(self.time_step > 0.0 && self.time_step.is_finite()) {
            return Err(Invalid::new("time_step", format!("{} s", self.time_step), "a positive number of seconds"));
        }
        match self.treatment {
            Treatment::Forecast { theta } => range("theta", theta, 0.5, 1.0)?,
            Treatment::GapAware { beta } => range("beta", beta, 0.0, 1.0)?,
        }
        range("joint_feedback", self.joint_feedback, 0.0, 1.0)?;
        range("reach_steps", self.reach_steps, 1.0, 1e3)?;
        range("touch", self.touch, 0.0, 1e-2)?;
        range("reach_share", self.reach_share, 0.0, 10.0)?;
        if !self.gravity.is_finite() {
            return Err(Invalid::new("gravity", self.gravity, "three finite numbers"));
        }
        self.cell.validate()
    }
}

/// A setting that will not do.
///
/// ```
/// use drystone::model::scheme::Scheme;
/// let error = Scheme { touch: -1.0, ..Scheme::default() }.validate().unwrap_err();
/// assert_eq!(error.name, "touch");
/// assert_eq!(error.to_string(), "touch is -1; needed: a number from 0 to 0.01");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} is {found}; needed: {needed}")]
pub struct Invalid {
    /// Which setting.
    pub name: String,
    /// Its value, with the unit.
    pub found: String,
    /// What would do.
    pub needed: String,
}

impl Invalid {
    /// Names a setting, its value and what would do.
    pub fn new(name: impl Into<String>, found: impl ToString, needed: impl Into<String>) -> Self {
        Self { name: name.into(), found: found.to_string(), needed: needed.into() }
    }
}

/// Where the simulation stands.
///
/// ```
/// let clock = drystone::model::scheme::Clock::default();
/// assert_eq!((clock.time, clock.step), (0.0, 0));
/// ```
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// Time at the start of the step (s).
    pub time: f64,
    /// Number of finished steps.
    pub step: u64,
    /// Time of step 0, moved when the time step changes: `time = origin + (step − origin_step) h`.
    pub origin: f64,
    /// Step at which `origin` was taken.
    pub origin_step: u64,
    /// Length of the last step of bodies with shapes, or of its last part (s): how long they have moved at the velocities they have.
    #[serde(default)]
    pub last: f64,
    /// Length of the step (s) over which impulses of contacts and of joints of bodies are forces. They go along with the time step, as the solver
    /// starts from them: where the last step was solved in parts, they are those of a whole one like its last part. Of the simulation, not of its state.
    #[serde(skip)]
    pub measure: f64,
    /// Whether steps choose their lengths. Driven bodies then go by the mean velocity of each step: with that of its start, as in steps of one
    /// length, they would wander off where the length follows the phase of their motion. Of the simulation, not of its state.
    #[serde(skip)]
    pub chosen: bool,
}

impl Clock {
    /// Ends a step of length h. Time is a product, not a sum, so that it does not drift; it is counted anew from where the step has another
    /// length than those before.
    ///
    /// ```
    /// let mut clock = drystone::model::scheme::Clock::default();
    /// [0.5, 0.5, 0.25].map(|h| clock.tick(h));
    /// assert_eq!((clock.time, clock.step), (1.25, 3));
    /// ```
    pub fn tick(&mut self, h: f64) {
        let at = |clock: &Self| clock.origin + clock.step.saturating_sub(clock.origin_step) as f64 * h;
        if at(self) != self.time {
            (self.origin, self.origin_step) = (self.time, self.step);
        }
        self.step += 1;
        self.time = at(self);
    }
}
