//! Figures that a kind of scene reports beside the general ones.

use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Extra figures that a kind of scene reports.
///
/// ```
/// assert_eq!(drystone::io::scene::study::Study::default(), drystone::io::scene::study::Study::None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Study {
    /// None.
    #[default]
    None,
    /// A box on a plane whose gravity tilts: `acceleration`, `acceleration_error`, `creep_m`.
    Incline(InclineStudy),
    /// A dam of courses: `sliding_factor`, `overturning_factor`.
    Dam(DamStudy),
}

/// What is measured on a tilted plane: `a = (v(t₂) − v(t₁))·s / (t₂ − t₁)` against `g (sin θ − μ cos θ)` or 0.
///
/// ```
/// use drystone::io::scene::study::InclineStudy;
/// let steep = InclineStudy { body: 1, mu: 0.3, angle: 0.5, down: glam::DVec3::X, g: 9.81, tilt: 0.5, window: [0.6, 1.5] };
/// assert!((steep.exact_acceleration() - 9.81 * (0.5f64.sin() - 0.3 * 0.5f64.cos())).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct InclineStudy {
    /// The sliding body, an index into [`Scene::bodies`](super::model::Scene::bodies).
    pub body: usize,
    /// Friction between body and plane.
    pub mu: f64,
    /// Tilt θ of gravity (rad).
    pub angle: f64,
    /// Unit vector down the slope, in the plane.
    pub down: DVec3,
    /// Magnitude of gravity (m/s²).
    pub g: f64,
    /// Time of the tilt (s); creep is measured from here to the end of the window.
    pub tilt: f64,
    /// Window [t₁, t₂] of the acceleration (s).
    pub window: [f64; 2],
}

impl InclineStudy {
    /// `g (sin θ − μ cos θ)` or 0 (m/s²).
    pub fn exact_acceleration(&self) -> f64 {
        (self.g * (libm::sin(self.angle) - self.mu * libm::cos(self.angle))).max(0.0)
    }
}

/// Which bodies make the dam and which way it would fail.
///
/// ```
/// use drystone::io::scene::study::DamStudy;
/// use glam::DVec3;
/// let dam = DamStudy { courses: vec![1, 2], ground: 0, mu: 0.6, downstream: DVec3::X, toe: DVec3::new(3.0, 0.0, 0.0), width: 3.0 };
/// assert_eq!(dam.courses.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DamStudy {
    /// Courses from the base up, indices into [`Scene::bodies`](super::model::Scene::bodies).
    pub courses: Vec<usize>,
    /// The static body below the lowest course.
    pub ground: usize,
    /// Friction of the joints.
    pub mu: f64,
    /// Unit vector away from the water.
    pub downstream: DVec3,
    /// Mid-point of the downstream edge of the base (m, world).
    pub toe: DVec3,
    /// Width of the base along `downstream` (m).
    pub width: f64,
}
