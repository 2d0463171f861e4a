//! One-step integrators: a component of each system that says how it moves.

use bevy_ecs::prelude::Component;

/// How a system moves from one end of a step to the other. Systems that interact have integrators of one level.
///
/// | integrator | systems | level of its laws |
/// |-|-|-|
/// | [`EulerMoreau`](Self::EulerMoreau), [`ZeroOrderHold`](Self::ZeroOrderHold) | first order | state |
/// | [`MoreauJean`](Self::MoreauJean), [`Midpoint`](Self::Midpoint), [`Modal`](Self::Modal) | second order | velocity |
/// | [`SchatzmanPaoli`](Self::SchatzmanPaoli) | second order | position |
/// | [`D1Minus`](Self::D1Minus) | second order | velocity and acceleration |
///
/// ```
/// use drystone::model::integrator::Integrator;
/// assert!(Integrator::MOREAU_JEAN.validate().is_ok());
/// let bad = Integrator::EulerMoreau { theta: 1.5, gamma: 1.0 };
/// assert_eq!(bad.validate().unwrap_err(), "theta is 1.5; a number from 0 to 1 is needed");
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Integrator {
    /// `M (x⁺ − x) = h [θ f(t⁺, x⁺) + (1−θ) f(t, x)] + h [γ r⁺ + (1−γ) r]` (Siconos: `EulerMoreauOSI`).
    EulerMoreau {
        /// Share of the end of the step in f.
        theta: f64,
        /// Share of the end of the step in r.
        gamma: f64,
    },
    /// `x⁺ = e^{Ah} x + ∫e^{As}ds (b(t⁺) + r⁺)`: exact for inputs that are held (Siconos: `ZeroOrderHoldOSI`).
    ZeroOrderHold,
    /// `M(q⁺)(v⁺ − v) = h [θ F⁺ + (1−θ) F] + Gᵀ P`, `q⁺ = q + h (θ v⁺ + (1−θ) v)`; laws of impact on the velocity
    /// (Siconos: `MoreauJeanOSI`, with projection `MoreauJeanDirectProjectionOSI`, `MoreauJeanCombinedProjectionOSI`).
    MoreauJean {
        /// Share of the end of the step, 0 to 1; stable from ½ on.
        theta: f64,
        /// An interaction takes part where `y + γ h ẏ ≤ 0` at the start of the step; 0 looks at y alone.
        gamma: f64,
        /// What is done about positions.
        projection: Projection,
    },
    /// `M(q_m)(v⁺ − v) = h F(t_m, q_m, v_m) + Gᵀ P` with `q_m = q + ½ h v_m`, `v_m = ½ (v + v⁺)`, `q⁺ = q + h v_m`: Moreau–Jean on the
    /// implicit midpoint rule. Second order where M depends on q too, for which the θ-rule with M at the end is of first.
    Midpoint {
        /// As for Moreau–Jean.
        gamma: f64,
    },
    /// Exact for each mode of `M q̈ + C q̇ + K q = F` with diagonal matrices (Siconos: `MoreauJeanBilbaoOSI`; Bilbao 2009).
    /// From the first step on, v is `(q⁺ − q)/h`: the mean velocity of the step.
    Modal {
        /// As for Moreau–Jean.
        gamma: f64,
    },
    /// `M (q⁺ − 2q + q⁻) = h² F + λ`, `0 ≤ (y⁺ + e y⁻) ⟂ λ ≥ 0` (Siconos: `SchatzmanPaoliOSI`; Schatzman 1993, Paoli 1993).
    /// v is `(q⁺ − q⁻)/2h`: that of the middle, half a step late.
    SchatzmanPaoli {
        /// Share of the ends of the step in the forces.
        theta: f64,
    },
    /// Time-discontinuous Galerkin, half-explicit: contact forces from accelerations, impacts at the end of the step
    /// (Siconos: `D1MinusLinearOSI`; Schindler & Acary 2014).
    D1Minus {
        /// Gaps (m) and rates (m/s) up to this count as closed.
        tolerance: f64,
    },
}

/// Correction of positions after the velocities of a step.
///
/// ```
/// assert_eq!(drystone::model::integrator::Projection::default(), drystone::model::integrator::Projection::None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Projection {
    /// None: drift and small overlaps stay.
    #[default]
    None,
    /// Interactions that took part in the step are moved out of overlap, joints back together.
    Direct {
        /// Overlap (m) that is left alone.
        tolerance: f64,
    },
    /// Velocities and positions are solved in turn, from no active interaction on, until none is left in overlap (Acary 2013).
    Combined {
        /// Error (m) that is left alone.
        tolerance: f64,
    },
}

impl Integrator {
    /// Which scheme it is, whatever its numbers.
    ///
    /// ```
    /// use drystone::model::integrator::Integrator;
    /// assert_eq!(Integrator::MOREAU_JEAN.kind(), "Moreau–Jean");
    /// ```
    pub fn kind(&self) -> &'static str {
        match self {
            Self::EulerMoreau { .. } => "Euler–Moreau",
            Self::ZeroOrderHold => "zero-order hold",
            Self::MoreauJean { .. } => "Moreau–Jean",
            Self::Midpoint { .. } => "midpoint",
            Self::Modal { .. } => "modal",
            Self::SchatzmanPaoli { .. } => "Schatzman–Paoli",
            Self::D1Minus { .. } => "D1-minus",
        }
    }

    /// Moreau–Jean with θ = ½ and activation in the middle of the step.
    pub const MOREAU_JEAN: Self = Self::MoreauJean { theta: 0.5, gamma: 0.5, projection: Projection::None };
    /// Euler–Moreau with θ = ½ and the input of the end of the step.
    pub const EULER_MOREAU: Self = Self::EulerMoreau { theta: 0.5, gamma: 1.0 };

    /// True where it moves first-order systems.
    pub fn is_first_order(&self) -> bool {
        matches!(self, Self::EulerMoreau { .. } | Self::ZeroOrderHold)
    }

    /// Checks that it moves systems of this order.
    pub fn fits(&self, first_order: bool) -> Result<(), String> {
        match (self.is_first_order(), first_order) {
            (true, false) => Err(format!("{self:?} moves no systems of second order; Moreau–Jean does")),
            (false, true) => Err(format!("{self:?} moves no systems of first order; Euler–Moreau or a zero-order hold do")),
            _ => Ok(()),
        }
    }

    /// Checks the ranges.
    pub fn validate(&self) -> Result<(), String> {
        let range = |name: &str, x: f64, low: f64, high: f64| {
            if x >= low && x <= high { Ok(()) } else { Err(format!("{name} is {x}; a number from {low} to {high} is needed")) }
        };
        match *self {
            Self::EulerMoreau { theta, gamma } => {
                range("theta", theta, 0.0, 1.0)?;
                range("gamma", gamma, 0.0, 1.0)
            }
            Self::ZeroOrderHold => Ok(()),
            Self::MoreauJean { theta, gamma, projection } => {
                range("theta", theta, 0.0, 1.0)?;
                range("gamma", gamma, 0.0, 1.0)?;
                match projection {
                    Projection::None => Ok(()),
                    Projection::Direct { tolerance } | Projection::Combined { tolerance } => range("tolerance", tolerance, 1e-15, 1.0),
                }
            }
            Self::Midpoint { gamma } | Self::Modal { gamma } => range("gamma", gamma, 0.0, 1.0),
            Self::SchatzmanPaoli { theta } => range("theta", theta, 0.0, 1.0),
            Self::D1Minus { tolerance } => range("tolerance", tolerance, 0.0, 1.0),
        }
    }
}
