//! Nonsmooth laws and how each becomes the constant part `b` of `u = H v⁺ + b`.

use super::bond::Cohesion;
use super::crushing::Crushing;
use super::scheme::Treatment;
use crate::numerics::admissible::{AdmissibleSet, MU_MAX};
use bevy_ecs::prelude::Resource;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Which velocities an impact law is about.
///
/// ```
/// use drystone::model::law::Impact;
/// assert_eq!(Impact::default(), Impact::Newton);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Impact {
    /// Friction acts against the velocity after the impact. With restitution the two together may make energy (Kane and Levinson 1985).
    #[default]
    Newton,
    /// Friction acts against the mean of the velocities before and after the impact, which cannot make energy (Frémond 2002).
    Fremond,
}

/// The arm of the largest moment that resists rolling or twisting: that moment is the arm times the normal force.
///
/// ```
/// use drystone::model::law::Arm;
/// assert_eq!((Arm::Radius(0.1).of(0.02), Arm::Length(1e-3).of(0.02)), (0.002, 1e-3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Arm {
    /// A length (m).
    Length(f64),
    /// A part of the radius of the contact: of two balls `R₁R₂/(R₁ + R₂)`, of a ball and another shape the ball's, of other shapes half of
    /// the smallest length of the one that reaches less far (a plate, however thin, is larger than what rolls on it).
    Radius(f64),
}

impl Default for Arm {
    fn default() -> Self {
        Self::Length(0.0)
    }
}

impl Arm {
    /// The length (m) at a contact of this radius (m).
    pub fn of(self, radius: f64) -> f64 {
        match self {
            Self::Length(length) => length,
            Self::Radius(part) => part * radius,
        }
    }

    /// The number, whatever it counts.
    pub fn number(self) -> f64 {
        match self {
            Self::Length(x) | Self::Radius(x) => x,
        }
    }
}

/// Coulomb friction with restitution by Newton (Siconos: `NewtonImpactFrictionNSL`) or by Frémond (`FremondImpactFrictionNSL`, θ = ½).
///
/// ```text
/// 0 ≤ u_n⁺ + e_n u_n⁻ ⟂ r_n ≥ 0        −(u_t⁺ + e_t u_t⁻) ∈ N_{‖r_t‖ ≤ μ r_n}(r_t)          Newton
///                                      −(u_t⁺ + u_t⁻)/2   ∈ N_{‖r_t‖ ≤ μ r_n}(r_t)          Frémond, at an impact (u_n⁻ < 0)
/// ```
///
/// **Why Frémond's law cannot gain.** Contacts add `Σ rᵀ(u⁺ + u⁻)/2` to the kinetic energy. At each of them, with `r_n > 0`, the normal
/// part is `r_n u_n⁻ (1 − e_n)/2 ≤ 0` as `u_n⁺ = −e_n u_n⁻` and `u_n⁻ ≤ 0`; the tangential one is `r_tᵀ ū_t = −μ r_n ‖ū_t‖` where the
/// mean velocity ū_t slips and 0 where it vanishes. No term is positive, whatever μ, e_n ≤ 1, the masses, and the number of contacts. In
/// Newton's law friction may do positive work, as `r_tᵀ u_t⁺ ≤ 0` says nothing about `r_tᵀ u_t⁻` (Frémond, *Non-Smooth Thermomechanics*,
/// 2002; Acary and Brogliato, *Numerical Methods for Nonsmooth Dynamical Systems*, 2008, on the consistency of impact laws).
///
/// A contact that grips at an impact comes back with its sliding velocity reversed, as a very rough rubber ball does. Contacts that are
/// not in an impact, or that open before it, follow Coulomb's law on u⁺ as ever, so that bodies come to rest. Where such a contact and
/// an impact share bodies, the sum may still be positive, and restitution is lowered until it is not
/// ([`crate::numerics::impacts`]).
///
/// ```
/// use drystone::model::law::{CoulombImpact, Impact};
/// assert!(CoulombImpact { mu: 0.5, e_n: 0.8, ..Default::default() }.validate().is_ok());
/// assert!(CoulombImpact { mu: 0.5, e_n: 0.8, impact: Impact::Fremond, ..Default::default() }.validate().is_ok());
/// assert!(CoulombImpact { mu: -0.5, ..Default::default() }.validate().is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CoulombImpact {
    /// Friction coefficient; 0 is a frictionless impact law.
    pub mu: f64,
    /// Normal restitution, 0 to 1.
    pub e_n: f64,
    /// Speed of approach (m/s) from which on it is that; below it falls with the speed, to 0 at rest.
    pub e_n_speed: f64,
    /// Tangential restitution, −1 to 1; Frémond's law has none.
    pub e_t: f64,
    /// Whose law of impact.
    pub impact: Impact,
    /// Attraction c between two bodies that touch (N), in equal parts at their contact points. What pushes obeys the law, `r' = r + h c n`;
    /// what pulls is a load. So friction grips with μ (N + c), and a ball hangs under a ceiling up to a weight of c.
    pub adhesion: f64,
    /// Gap up to which it acts (m).
    pub adhesion_range: f64,
    /// Gap at which a liquid bridge breaks (m): the attraction acts from the touch of two bodies until they are so far apart.
    pub rupture: f64,
    /// Resistance to rolling: `‖m_t‖ ≤ μ_r r_n`, and where the bodies roll on each other the moment acts against it with that bound.
    pub mu_r: Arm,
    /// Resistance to twisting about the normal, alike.
    pub mu_t: Arm,
    /// Radius a of the patch in which the bodies touch: friction there resists sliding and drilling, spin about the normal, together,
    ///
    /// ```text
    /// ‖r_t‖² + (m_n/ℓ)² ≤ (μ r_n)²        ℓ = 3π/16 a        −(u_t, ω_n) is normal to this ellipsoid at (r_t, m_n)
    /// ```
    ///
    /// so that spin weakens friction (Contensou). It is the law of largest dissipation over the ellipsoid that stands for the limit surface
    /// of the patch (Howe and Cutkosky, Int. J. Robotics Research 15, 1996), and meets that of Hertz's pressure where the body only
    /// slides or only spins; the set itself has no closed form (Leine and Glocker, European J. of Mechanics A 22, 2003).
    pub patch: Arm,
}

/// Largest moment of drilling of a patch with Hertz's pressure, over μ r_n and its radius: `∫ p ρ dA / (a ∫ p dA)`.
const HERTZ: f64 = 3.0 * std::f64::consts::PI / 16.0;

impl CoulombImpact {
    /// The law of a smooth contact without restitution, for constants: `default()` is no constant.
    pub const FRICTIONLESS: Self = Self {
        mu: 0.0,
        e_n: 0.0,
        e_n_speed: 0.0,
        e_t: 0.0,
        impact: Impact::Newton,
        adhesion: 0.0,
        adhesion_range: 0.0,
        rupture: 0.0,
        mu_r: Arm::Length(0.0),
        mu_t: Arm::Length(0.0),
        patch: Arm::Length(0.0),
    };

    /// Checks the ranges.
    pub fn validate(&self) -> Result<(), String> {
        let inside = |name: &str, x: f64, low: f64, high: f64| {
            if x >= low && x <= high { Ok(()) } else { Err(format!("{name} is {x}; a number from {low} to {high} is needed")) }
        };
        inside("mu", self.mu, 0.0, MU_MAX)?;
        inside("e_n", self.e_n, 0.0, 1.0)?;
        inside("e_n_speed", self.e_n_speed, 0.0, f64::MAX)?;
        inside("e_t", self.e_t, -1.0, 1.0)?;
        inside("adhesion", self.adhesion, 0.0, f64::MAX)?;
        inside("adhesion_range", self.adhesion_range, 0.0, f64::MAX)?;
        inside("rupture", self.rupture, 0.0, f64::MAX)?;
        inside("mu_r", self.mu_r.number(), 0.0, MU_MAX)?;
        inside("mu_t", self.mu_t.number(), 0.0, MU_MAX)?;
        inside("patch", self.patch.number(), 0.0, MU_MAX)?;
        if self.patch.number() > 0.0 && self.mu_t.number() > 0.0 {
            return Err("mu_t and patch are both given; either of them resists twisting, one has to be 0".into());
        }
        if self.impact == Impact::Fremond && self.e_t != 0.0 {
            return Err(format!("e_t is {}; Fremond's law of impact has no tangential restitution, 0 is needed", self.e_t));
        }
        Ok(())
    }

    /// Normal restitution at this speed of approach (m/s): `e_n min(1, w/w₀)`.
    ///
    /// ```
    /// use drystone::model::law::CoulombImpact;
    /// let law = CoulombImpact { e_n: 0.5, e_n_speed: 0.1, ..CoulombImpact::default() };
    /// assert_eq!([-0.1, 0.05, 3.0].map(|speed| law.restitution_at(speed)), [0.0, 0.25, 0.5]);
    /// assert_eq!(CoulombImpact { e_n_speed: 0.0, ..law }.restitution_at(-0.1), 0.5);
    /// ```
    pub fn restitution_at(&self, speed: f64) -> f64 {
        if self.e_n_speed > 0.0 && speed < self.e_n_speed { self.e_n * speed.max(0.0) / self.e_n_speed } else { self.e_n }
    }

    /// Whether it resists rolling, twisting or drilling.
    pub fn resists(&self) -> bool {
        self.mu_r.number() > 0.0 || self.mu_t.number() > 0.0 || self.drill() > 0.0
    }

    /// The length ℓ (m) of a patch whose radius is a length: without sliding its moment is up to ℓ μ r_n. 0 where there is no friction.
    ///
    /// ```
    /// use drystone::model::law::{Arm, CoulombImpact};
    /// let law = CoulombImpact { mu: 0.3, patch: Arm::Length(1e-3), ..CoulombImpact::default() };
    /// assert!((law.drill() - 0.589e-3).abs() < 1e-6);
    /// ```
    pub fn drill(&self) -> f64 {
        if self.mu > 0.0 { HERTZ * self.patch.number() } else { 0.0 }
    }

    /// The same law at a contact of this radius (m): its arms are lengths.
    #[must_use]
    pub fn at_radius(self, radius: impl FnOnce() -> f64) -> Self {
        if !self.resists() {
            return self;
        }
        let radius = radius();
        let [mu_r, mu_t, patch] = [self.mu_r, self.mu_t, self.patch].map(|arm| Arm::Length(arm.of(radius)));
        Self { mu_r, mu_t, patch, ..self }
    }

    /// Whether impacts matter to it: bodies may bounce, or friction knows the velocity before.
    pub fn bounces(&self) -> bool {
        self.e_n > 0.0 || self.impact == Impact::Fremond
    }

    /// The part of the normal row that closes the gap or feeds overlap back (m/s). In a gap-aware scene bodies only come to touch in the step of
    /// an impact; [`rebound`](Self::rebound) throws them back in the next one. A gap or overlap within `touch` (m) of zero counts as closed, and
    /// a larger one by what it exceeds it.
    #[inline]
    pub fn closing(&self, treatment: Treatment, gap: f64, touch: f64, h: f64) -> f64 {
        match treatment {
            Treatment::GapAware { beta } => {
                let gap = beyond_touch(gap, touch);
                (gap.max(0.0) + beta * gap.min(0.0)) / h
            }
            Treatment::Forecast { .. } => 0.0,
        }
    }

    /// Whether friction knows the velocity before: the bodies approach by more than `least` (m/s), and not by rounding alone.
    fn strikes(&self, u: DVec3, least: f64) -> bool {
        self.mu > 0.0 && u.x < -least.max(ROUNDING * u.length())
    }

    /// What restitution adds to the rows (m/s), `u` being the relative velocity at the start of the step in the frame (n, t1, t2); in gap-aware
    /// scenes the normal one has its part in the next step. What approaches by less than `least` (m/s) is no impact.
    #[inline]
    pub fn restitution(&self, treatment: Treatment, u: DVec3, least: f64) -> DVec3 {
        let (normal, tangential) = match self.impact {
            Impact::Newton => (u.x, self.e_t),
            Impact::Fremond => (u.x.min(0.0), if self.strikes(u, least) { 1.0 } else { 0.0 }),
        };
        let e_n = if matches!(treatment, Treatment::Forecast { .. }) { self.restitution_at(u.x.abs()) } else { 0.0 };
        DVec3::new(e_n * normal, tangential * u.y, tangential * u.z)
    }

    /// The constant part of the rows in the step after an impact, or `None` where bodies do not part.
    ///
    /// ```text
    /// u_n⁺ ≥ e_n w − Δ        w: speed at which the bodies came to touch, Δ: what loads take from the rebound in one step
    /// ```
    ///
    /// `approach` is the relative velocity (n, t1, t2) before the bodies came to touch, `fall` is Δ (m/s). Without Δ the first
    /// step up would gain `m g h` times the speed; with it a bouncing ball loses `½ m g² h²` a step, as in flight. The mean velocity of
    /// Frémond's law is that of both steps.
    pub fn rebound(&self, approach: DVec3, fall: f64) -> Option<DVec3> {
        let speed = (-self.restitution_at(-approach.x) * approach.x - fall).max(0.0);
        let (ends, tangential) = match self.impact {
            Impact::Newton => (speed > 0.0, self.e_t),
            Impact::Fremond => (speed > 0.0 || self.strikes(approach, 0.0), if self.strikes(approach, 0.0) { 1.0 } else { 0.0 }),
        };
        ends.then(|| DVec3::new(-speed, tangential * approach.y, tangential * approach.z))
    }
}

/// Part of a velocity below which its normal component is rounding.
const ROUNDING: f64 = 1e-9;

/// Slower than this many `h |g|` bodies do not bounce: it is what gravity and the errors of a solver do to bodies at rest.
const LEAST_IMPACT: f64 = 2.0;

/// Smallest speed of approach that counts as an impact in a gap-aware scene (m/s), for a time step `h` and a gravity `g`.
pub fn least_impact(h: f64, g: DVec3) -> f64 {
    LEAST_IMPACT * h * g.length()
}

/// What a gap exceeds the band of touch by.
pub fn beyond_touch(gap: f64, touch: f64) -> f64 {
    gap - gap.clamp(-touch, touch)
}

/// Whether a contact is a row, and its law has a constant part, with this gap (m) and normal velocity (m/s) at the start of a step of h (s).
pub fn is_active(treatment: Treatment, gap: f64, rate: f64, h: f64) -> bool {
    matches!(treatment, Treatment::GapAware { .. }) || forecast(gap, rate, h)
}

/// Moreau–Jean's activation rule: the gap predicted for the middle of the step is closed.
pub fn forecast(gap: f64, rate: f64, h: f64) -> bool {
    gap + 0.5 * h * rate <= 0.0
}

/// The nonsmooth law of an interaction.
///
/// ```
/// use drystone::model::law::{CoulombImpact, Law};
/// assert!(Law::NewtonImpact { e: 0.9 }.validate(1).is_ok());
/// assert!(Law::CoulombImpact(CoulombImpact::default()).validate(4).unwrap_err().contains("2 or 3 rows"));
/// assert!(Law::Relay { lower: 1.0, upper: -1.0 }.validate(2).is_err());
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Law {
    /// `0 ≤ y ⟂ λ ≥ 0` on every row (Siconos: `ComplementarityConditionNSL`).
    Complementarity,
    /// `y = 0` on the first rows, complementarity on the others (Siconos: `MixedComplementarityConditionNSL`).
    MixedComplementarity {
        /// Number of rows of equality.
        equalities: usize,
    },
    /// `y = 0`: a joint or an algebraic equation (Siconos: `EqualityConditionNSL`).
    Equality,
    /// `−y ∈ N_[lower, upper](λ)` on every row (Siconos: `RelayNSL`).
    Relay {
        /// Lower bound of λ.
        lower: f64,
        /// Upper bound of λ.
        upper: f64,
    },
    /// A scalar law for each row: [`AdmissibleSet::Free`], [`AdmissibleSet::NonNegative`] or [`AdmissibleSet::Interval`].
    Rows(Vec<AdmissibleSet>),
    /// `0 ∈ y + N_P(λ)`, `P = {λ : H λ ≥ k}` (Siconos: `NormalConeNSL`).
    NormalCone {
        /// H, one row per face of P, row by row.
        h: Vec<f64>,
        /// k, one value per face.
        k: Vec<f64>,
    },
    /// `λ = −(k y + c ẏ)` on every row, held within ±limit: a spring with a damper, or a servo (y is then what is wanted less). At which moment of
    /// the step says [`SpringRule`](super::spring::SpringRule): it keeps its energy by the θ-rule with θ = ½, and in gap-aware scenes where steps can follow it.
    Spring {
        /// k (N/m, or N m/rad).
        stiffness: f64,
        /// c (N s/m, or N m s/rad).
        damping: f64,
        /// Largest |λ|; infinite for a plain spring.
        limit: f64,
    },
    /// `−ẏ ∈ N_[−f, f](λ)`: Coulomb's friction of a joint on its own coordinate, under what the joint itself carries.
    ///
    /// ```text
    /// f = μ R |N|     on an angle, R the radius of the bearing         f = μ |N|     on a way
    /// ```
    ///
    /// N is the reaction of the joint at right angles to its axis; f and N are of the same step, which the passes of the step find. Thrust
    /// along the axis of a bearing and moments across it, which a guide or a bearing carries over its length, rub on nothing. Where the
    /// reactions of a mechanism are not unique, N is what the solver finds. It goes with [`Relation::Coordinate`], after an interaction of
    /// the same bodies that is the joint with the same frames.
    ///
    /// [`Relation::Coordinate`]: super::relation::Relation::Coordinate
    Bearing {
        /// μ.
        mu: f64,
        /// R (m); not looked at on a way.
        radius: f64,
    },
    /// `0 ≤ u⁺ + e u⁻ ⟂ r ≥ 0` on one row (Siconos: `NewtonImpactNSL`).
    NewtonImpact {
        /// Restitution.
        e: f64,
    },
    /// Friction on two rows `(n, t)` or three `(n, t1, t2)` (Siconos: `NewtonImpactFrictionNSL`).
    CoulombImpact(CoulombImpact),
    /// Friction with resistance to rolling, on three rows `(n, t, m)` or five `(n, t1, t2, m1, m2)`
    /// (Siconos: `NewtonImpactRollingFrictionNSL`).
    RollingImpact {
        /// Impact and friction.
        contact: CoulombImpact,
        /// Rolling friction, a length (m).
        mu_r: f64,
    },
    /// Impact and friction on the mean velocity `u_θ = θ u⁺ + (1−θ) u⁻`, dissipative for every e_n in [0, 1]
    /// (Siconos: `FremondImpactFrictionNSL`; Frémond 2002):
    /// `C_μ ∋ r ⟂ u_θ + (θ(1+e_n) − 1) u_n⁻ n + μ‖u_θ,t‖ n`.
    ///
    /// Where a contact sticks, u_θ vanishes: with θ = ½ the place stands still while the last sliding speed stays with
    /// alternating sign; with θ = 1 the speed is 0.
    FremondImpact {
        /// Restitution.
        e_n: f64,
        /// Friction coefficient.
        mu: f64,
    },
}

impl Law {
    /// True for laws of impact, which act where a gap closes; the others act always.
    pub fn is_impact(&self) -> bool {
        matches!(self, Self::NewtonImpact { .. } | Self::CoulombImpact(_) | Self::RollingImpact { .. } | Self::FremondImpact { .. })
    }

    /// Checks the numbers of the law and that it fits this many rows.
    pub fn validate(&self, rows: usize) -> Result<(), String> {
        let fits = |allowed: &[usize], words: &str| {
            if allowed.contains(&rows) { Ok(()) } else { Err(format!("the relation has {rows} rows, but its law needs {words}")) }
        };
        match self {
            Self::Complementarity | Self::Equality => Ok(()),
            Self::MixedComplementarity { equalities } => {
                if *equalities <= rows {
                    return Ok(());
                }
                Err(format!("the law has {equalities} rows of equality, but the relation has {rows} rows"))
            }
            Self::Relay { lower, upper } => bounds(*lower, *upper),
            Self::Spring { stiffness, damping, limit } => {
                let there = |x: f64| x >= 0.0 && x.is_finite();
                if there(*stiffness) && there(*damping) && stiffness + damping > 0.0 && *limit > 0.0 {
                    return Ok(());
                }
                let needed = "numbers not below 0, one of the first two and the limit above it, are needed";
                Err(format!("the spring has stiffness {stiffness}, damping {damping} and limit {limit}; {needed}"))
            }
            Self::Rows(sets) => {
                if sets.len() != rows {
                    return Err(format!("the law lists {} rows, but the relation has {rows}", sets.len()));
                }
                sets.iter().try_for_each(|set| match set {
                    AdmissibleSet::Free | AdmissibleSet::NonNegative => Ok(()),
                    AdmissibleSet::Interval { lower, upper } => bounds(*lower, *upper),
                    other => Err(format!("{other:?} is no law of one row; Free, NonNegative or Interval is needed")),
                })
            }
            Self::NormalCone { h, k } => {
                if k.is_empty() && h.is_empty() {
                    return Err(
                        "the normal cone has no faces, so that λ may be anything; give it one, or take Law::Equality, which says so".into(),
                    );
                }
                if h.len() != k.len() * rows {
                    let needed = format!("{} faces × {rows} rows need {}", k.len(), k.len() * rows);
                    return Err(format!("H of the normal cone holds {} values, but {needed}", h.len()));
                }
                if !h.iter().chain(k).all(|x| x.is_finite()) {
                    return Err("the normal cone holds a value that is not finite".into());
                }
                match h.chunks_exact(rows.max(1)).position(|face| face.iter().all(|x| *x == 0.0)) {
                    Some(face) => {
                        Err(format!("face {face} of the normal cone, from 0, is one of zeros, which bounds nothing; leave it out"))
                    }
                    None => Ok(()),
                }
            }
            Self::Bearing { mu, radius } => {
                fits(&[1], "1 row")?;
                CoulombImpact { mu: *mu, ..CoulombImpact::default() }.validate()?;
                if *radius >= 0.0 && radius.is_finite() {
                    Ok(())
                } else {
                    Err(format!("the radius of the bearing is {radius} m; a number not below 0 is needed"))
                }
            }
            Self::NewtonImpact { e } => {
                fits(&[1], "1 row")?;
                CoulombImpact { e_n: *e, ..CoulombImpact::default() }.validate()
            }
            Self::CoulombImpact(law) => {
                fits(&[2, 3], "2 or 3 rows, the normal first")?;
                newton(law)?;
                without_adhesion(law)?;
                law.validate()
            }
            Self::RollingImpact { contact, mu_r } => {
                fits(&[3, 5], "3 or 5 rows, the normal first")?;
                newton(contact)?;
                without_adhesion(contact)?;
                contact.validate()?;
                CoulombImpact { mu: *mu_r, ..CoulombImpact::default() }.validate().map_err(|e| e.replace("mu", "mu_r"))
            }
            Self::FremondImpact { e_n, mu } => {
                fits(&[1, 2, 3], "1, 2 or 3 rows, the normal first")?;
                CoulombImpact { mu: *mu, e_n: *e_n, ..CoulombImpact::default() }.validate()
            }
        }
    }
}

/// Attraction and moments act on bodies that have shapes; systems without them would not feel them.
fn without_adhesion(law: &CoulombImpact) -> Result<(), String> {
    if law.resists() {
        return Err("an interaction of systems takes resistance to rolling as Law::RollingImpact, and none to twisting or drilling".into());
    }
    if law.e_n_speed > 0.0 {
        return Err(format!(
            "e_n_speed is {} m/s; restitution falls with the speed between bodies with shapes alone, 0 is needed",
            law.e_n_speed
        ));
    }
    if law.adhesion == 0.0 {
        return Ok(());
    }
    Err(format!("adhesion is {} N; only bodies with shapes attract each other, others need a force of their own", law.adhesion))
}

/// Systems without shapes have a law of their own for each rule.
fn newton(law: &CoulombImpact) -> Result<(), String> {
    match law.impact {
        Impact::Newton => Ok(()),
        Impact::Fremond => Err("an interaction of systems takes Frémond's law as Law::FremondImpact".into()),
    }
}

fn bounds(lower: f64, upper: f64) -> Result<(), String> {
    if lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY {
        Ok(())
    } else {
        Err(format!("the bounds of the relay are {lower} and {upper}; the lower must not exceed the upper"))
    }
}

/// The law of every pair of materials.
///
/// ```
/// use drystone::model::law::{ContactLaws, CoulombImpact};
/// let mut laws = ContactLaws::uniform(CoulombImpact { mu: 0.5, ..Default::default() });
/// laws.set(0, 1, CoulombImpact { mu: 0.1, ..Default::default() });
/// assert_eq!(laws.get(1, 0).mu, 0.1);
/// assert_eq!(laws.get(1, 1).mu, 0.5);
/// ```
#[derive(Resource, Clone, Debug, Default, PartialEq)]
pub struct ContactLaws {
    default: CoulombImpact,
    /// `(lower, higher, law)`, sorted
    pairs: Vec<(u32, u32, CoulombImpact)>,
    /// what binds all others, and `(lower, higher, law)` in their order
    bond: Option<Cohesion>,
    bonds: Vec<(u32, u32, Option<Cohesion>)>,
    /// what joints bear, likewise
    strength: Option<Crushing>,
    strengths: Vec<(u32, u32, Option<Crushing>)>,
}

impl ContactLaws {
    /// One law for all.
    pub fn uniform(default: CoulombImpact) -> Self {
        Self { default, ..Self::default() }
    }

    /// Sets the law of one pair, in either order.
    pub fn set(&mut self, a: u32, b: u32, law: CoulombImpact) {
        let key = (a.min(b), a.max(b));
        match self.pairs.binary_search_by_key(&key, |&(a, b, _)| (a, b)) {
            Ok(at) => self.pairs[at].2 = law,
            Err(at) => self.pairs.insert(at, (key.0, key.1, law)),
        }
    }

    /// Binds faces of two materials that touch at the start ([`Simulation::bond_touching`](crate::simulation::Simulation::bond_touching)), or leaves
    /// them dry.
    pub fn set_bond(&mut self, a: u32, b: u32, bond: Option<Cohesion>) {
        let key = (a.min(b), a.max(b));
        self.bonds.retain(|&(a, b, _)| (a, b) != key);
        self.bonds.push((key.0, key.1, bond));
    }

    /// The same for all pairs that [`set_bond`](Self::set_bond) does not name.
    pub fn set_default_bond(&mut self, bond: Option<Cohesion>) {
        self.bond = bond;
    }

    /// What binds a pair.
    pub fn bond(&self, a: u32, b: u32) -> Option<Cohesion> {
        let key = (a.min(b), a.max(b));
        self.bonds.iter().find(|&&(a, b, _)| (a, b) == key).map_or(self.bond, |found| found.2)
    }

    /// Lets joints of two materials that touch at the start crush ([`Simulation::crush_touching`](crate::simulation::Simulation::crush_touching)),
    /// or bear any pressure.
    pub fn set_crushing(&mut self, a: u32, b: u32, law: Option<Crushing>) {
        let key = (a.min(b), a.max(b));
        self.strengths.retain(|&(a, b, _)| (a, b) != key);
        self.strengths.push((key.0, key.1, law));
    }

    /// The same for all pairs that [`set_crushing`](Self::set_crushing) does not name.
    pub fn set_default_crushing(&mut self, law: Option<Crushing>) {
        self.strength = law;
    }

    /// What joints of a pair bear.
    pub fn crushing(&self, a: u32, b: u32) -> Option<Crushing> {
        let key = (a.min(b), a.max(b));
        self.strengths.iter().find(|&&(a, b, _)| (a, b) == key).map_or(self.strength, |found| found.2)
    }

    /// Whether any pair is bound.
    pub fn bind(&self) -> bool {
        self.bond.is_some() || self.bonds.iter().any(|found| found.2.is_some())
    }

    /// Checks the ranges of all laws; names the materials of the first that will not do.
    pub fn validate(&self) -> Result<(), String> {
        self.default.validate().map_err(|e| format!("the law of all other materials: {e}"))?;
        self.pairs.iter().try_for_each(|(a, b, law)| law.validate().map_err(|e| format!("the law of materials {a} and {b}: {e}")))?;
        self.bond.map_or(Ok(()), |bond| bond.validate()).map_err(|e| format!("the bond of all other materials: {e}"))?;
        let valid = |(a, b, bond): &(u32, u32, Option<Cohesion>)| {
            bond.map_or(Ok(()), |bond| bond.validate()).map_err(|e| format!("the bond of materials {a} and {b}: {e}"))
        };
        self.bonds.iter().try_for_each(valid)?;
        self.strength.iter().chain(self.strengths.iter().filter_map(|found| found.2.as_ref())).try_for_each(Crushing::validate)
    }

    /// Whether any of them attracts.
    pub fn adhere(&self) -> bool {
        self.default.adhesion > 0.0 || self.pairs.iter().any(|(.., law)| law.adhesion > 0.0)
    }

    /// Whether friction of any of them resists drilling.
    pub fn drill(&self) -> bool {
        self.default.drill() > 0.0 || self.pairs.iter().any(|(.., law)| law.drill() > 0.0)
    }

    /// Whether any of them resists rolling, twisting or drilling.
    pub fn resist(&self) -> bool {
        self.default.resists() || self.pairs.iter().any(|(.., law)| law.resists())
    }

    /// Strongest attraction (N) of a body of this material by another, and the largest gap (m) at which one acts.
    pub fn attraction(&self, material: u32) -> [f64; 2] {
        let own = self.pairs.iter().filter(|(a, b, _)| *a == material || *b == material).map(|(.., law)| law);
        let attracting = own.chain([&self.default]).filter(|law| law.adhesion > 0.0);
        attracting.fold([0.0; 2], |[force, range], law| [law.adhesion.max(force), law.adhesion_range.max(law.rupture).max(range)])
    }

    /// The law of a pair.
    pub fn get(&self, a: u32, b: u32) -> CoulombImpact {
        let key = (a.min(b), a.max(b));
        self.pairs.binary_search_by_key(&key, |&(a, b, _)| (a, b)).map_or(self.default, |at| self.pairs[at].2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_aware_pair_closes_its_gap_first_and_parts_in_the_next_step() {
        let gap_aware = Treatment::GapAware { beta: 0.1 };
        let u = DVec3::new(-1.0, 0.5, 0.0);
        let dead = CoulombImpact { mu: 0.3, ..CoulombImpact::default() };
        // what closes the gap, and what restitution adds
        let parts = |law: CoulombImpact, treatment, gap| (law.closing(treatment, gap, 0.0, 1e-3), law.restitution(treatment, u, 0.0));
        assert_eq!(parts(dead, gap_aware, 2e-3), (2.0, DVec3::ZERO));
        assert_eq!(parts(dead, gap_aware, -2e-3), (-0.2, DVec3::ZERO));
        let lively = CoulombImpact { e_n: 0.5, ..dead };
        assert_eq!(parts(lively, gap_aware, 2e-3), (2.0, DVec3::ZERO));
        assert_eq!(lively.rebound(u, 0.01), Some(DVec3::new(-0.49, 0.0, 0.0)));
        assert_eq!(lively.rebound(u, 0.5), None);
        let forecast = Treatment::Forecast { theta: 0.5 };
        assert_eq!(parts(lively, forecast, 4e-4), (0.0, DVec3::new(-0.5, 0.0, 0.0)));
        assert_eq!([2e-3, 4e-4].map(|gap| is_active(forecast, gap, u.x, 1e-3)), [false, true]);
        assert!(is_active(gap_aware, 2e-3, u.x, 1e-3));
    }
}
