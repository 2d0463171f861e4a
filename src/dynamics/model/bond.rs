//! Bonds: mortar and other things that hold two faces together until they are damaged.
//!
//! ```text
//! δ = (δ_n, δ_t)                      opening and slip of a point of the joint since it was made
//! σ = (1 − D) k δ                     per area, where δ_n > 0 (a bond does not push) and for δ_t
//! λ² = (δ_n k_n/f)² + (δ_t k_t/c)²    1 where the strength is reached: f in tension, c in shear without pressure
//! 1/Λ = cos²φ g_n/G_I + sin²φ g_t/G_II, λ (cos φ, sin φ) = (δ_n k_n/f, δ_t k_t/c), g_n = f²/2k_n, g_t = c²/2k_t      ductility
//! D = Λ (λ − 1)/(λ (Λ − 1))           linear softening, 1 from λ = Λ on
//! D = 1 − exp(−2(λ − 1)/(Λ − 1))/λ    exponential
//! D = 1 for λ > 1                     brittle
//! ```
//!
//! Damage D grows alone; unloading goes to the origin. Along any straight path of δ the energy per area that is released is `Λ g`, so that
//! the shares of G_I and G_II in it add up to one: the linear criterion of mixed modes (Camanho, Dávila, *NASA TM-2002-211737*, section 2). Contact and
//! friction stand beside the bond, in the joint as where there is none: a joint slides at `c A + μ N`, the law of Mohr and Coulomb with a cut-off at f.

use bevy_ecs::prelude::*;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// How the traction falls once the strength is reached.
///
/// ```
/// assert_eq!(drystone::model::bond::Softening::default(), drystone::model::bond::Softening::Brittle);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Softening {
    /// At once.
    #[default]
    Brittle,
    /// Along a straight line.
    Linear,
    /// Along an exponential.
    Exponential,
}

/// Normalised traction below which a bond is broken.
const SPENT: f64 = 1e-8;

/// The law of a bond, per area of the joint.
///
/// ```
/// use drystone::model::bond::{Cohesion, Softening};
/// let mortar = Cohesion { tension: 2e5, cohesion: 3e5, stiffness: [1e10, 5e9], energy: [10.0, 50.0], softening: Softening::Linear, neck: 0.0 };
/// assert!(mortar.validate().is_ok());
/// let [ultimate, strength] = [2.0 * 10.0 / 2e5, mortar.tension / 1e10];
/// assert!((mortar.damage([ultimate, 0.0]) - 1.0).abs() < 1e-12 && mortar.damage([strength, 0.0]) < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cohesion {
    /// Strength in tension f (Pa).
    pub tension: f64,
    /// Strength in shear without pressure c (Pa).
    pub cohesion: f64,
    /// k_n and k_t: stiffness per area (Pa/m).
    pub stiffness: [f64; 2],
    /// G_I and G_II: energy that a unit of area takes to break in tension and in shear (J/m²); not used by brittle bonds.
    pub energy: [f64; 2],
    /// How the traction falls.
    pub softening: Softening,
    /// Radius of the neck by which bodies are bound that touch in a point, as balls do, in parts of half of the smaller one's smallest length;
    /// 0: they are not bound.
    pub neck: f64,
}

impl Cohesion {
    /// Strengths and stiffnesses have to be positive; energies at least what is stored at the strength, as a joint would else spring back.
    pub fn validate(&self) -> Result<(), String> {
        let positive = |what: &str, x: f64| if x > 0.0 && x.is_finite() { Ok(()) } else { Err(format!("{what} is {x}, not above 0")) };
        positive("tension", self.tension)?;
        positive("cohesion", self.cohesion)?;
        if !(0.0..=1.0).contains(&self.neck) {
            return Err(format!("neck is {}, not from 0 to 1", self.neck));
        }
        let strength = [self.tension, self.cohesion];
        for (k, what) in ["normal", "tangential"].into_iter().enumerate() {
            positive(&format!("{what} stiffness"), self.stiffness[k])?;
            let stored = 0.5 * strength[k] * strength[k] / self.stiffness[k];
            if self.softening != Softening::Brittle && self.energy[k] <= stored {
                return Err(format!(
                    "{what} fracture energy is {:e} J/m2, not above the {stored:e} J/m2 that the joint stores at its strength; a stiffness \
                     above {:e} Pa/m would do",
                    self.energy[k],
                    0.5 * strength[k] * strength[k] / self.energy[k],
                ));
            }
        }
        Ok(())
    }

    /// λ, Λ, and the energy per area that is stored where this direction of δ (m) reaches the strength.
    fn mode(&self, [opening, slip]: [f64; 2]) -> [f64; 3] {
        let [n, t] = [opening.max(0.0) * self.stiffness[0] / self.tension, slip * self.stiffness[1] / self.cohesion];
        let level = (n * n + t * t).sqrt();
        if level == 0.0 {
            return [0.0, 1.0, 0.0];
        }
        let stored = [0.5 * self.tension * self.tension / self.stiffness[0], 0.5 * self.cohesion * self.cohesion / self.stiffness[1]];
        let [cc, ss] = [n * n / (level * level), t * t / (level * level)];
        let ductility = match self.softening {
            Softening::Brittle => 1.0,
            _ => 1.0 / (cc * stored[0] / self.energy[0] + ss * stored[1] / self.energy[1]),
        };
        [level, ductility, cc * stored[0] + ss * stored[1]]
    }

    fn damage_at(&self, level: f64, ductility: f64) -> f64 {
        if level <= 1.0 {
            return 0.0;
        }
        match self.softening {
            Softening::Brittle => 1.0,
            Softening::Linear if level >= ductility => 1.0,
            Softening::Linear => ductility * (level - 1.0) / (level * (ductility - 1.0)),
            Softening::Exponential => {
                let left = libm::exp(-2.0 * (level - 1.0) / (ductility - 1.0));
                if left < SPENT { 1.0 } else { 1.0 - left / level }
            }
        }
    }

    /// D of a bond that is drawn to opening and slip (m) along a straight line.
    pub fn damage(&self, delta: [f64; 2]) -> f64 {
        let [level, ductility, _] = self.mode(delta);
        self.damage_at(level, ductility)
    }

    /// `∫ λ² dD` from the strength to λ: what is released, in parts of what is stored at the strength.
    fn released(&self, level: f64, ductility: f64) -> f64 {
        match self.softening {
            _ if level <= 1.0 => 0.0,
            Softening::Brittle => 1.0,
            Softening::Linear => ductility / (ductility - 1.0) * (level.min(ductility) - 1.0),
            Softening::Exponential => {
                let a = 0.5 * (ductility - 1.0);
                let left = libm::exp(-(level - 1.0) / a);
                if left < SPENT { ductility } else { ductility - (2.0 * a + level) * left }
            }
        }
    }

    /// λ at which this direction has that damage.
    fn level_of(&self, damage: f64, ductility: f64) -> f64 {
        match self.softening {
            Softening::Brittle => 1.0,
            Softening::Linear => ductility / (ductility - damage * (ductility - 1.0)),
            Softening::Exponential => {
                let (mut low, mut high) = (1.0, 1.0 + 20.0 * (ductility - 1.0));
                while high - low > 1e-15 * high {
                    let middle = 0.5 * (low + high);
                    if middle <= low || middle >= high {
                        break;
                    }
                    if self.damage_at(middle, ductility) < damage { low = middle } else { high = middle }
                }
                high
            }
        }
    }
}

/// A point of a joint, with the part of its area that it stands for.
///
/// ```
/// let point = drystone::model::bond::BondPoint::default();
/// assert!(point.damage == 0.0 && !point.broken());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BondPoint {
    /// Where it is on the two bodies (m, body axes from the centre of mass).
    pub places: [DVec3; 2],
    /// Its area (m²).
    pub area: f64,
    /// D, from 0 to 1.
    pub damage: f64,
    /// Traction in parts of the strength at which damage goes on.
    pub left: f64,
    /// Opening and slip (m).
    pub delta: [f64; 2],
    /// Those by which it is damaged (m): its own, or those of the outermost fibre of a neck.
    pub outer: [f64; 2],
    /// Energy released (J).
    pub released: f64,
    /// Impulse on body 1 in the last step (N s, world); the guess for the next.
    pub impulse: DVec3,
}

impl BondPoint {
    /// A sound one.
    pub fn new(places: [DVec3; 2], area: f64) -> Self {
        Self { places, area, left: 1.0, ..Self::default() }
    }

    /// Whether it holds nothing any more.
    pub fn broken(&self) -> bool {
        self.damage >= 1.0
    }

    /// Takes in opening and slip (m): damage and what it releases.
    pub fn take_in(&mut self, law: &Cohesion, delta: [f64; 2]) {
        self.take_in_beside(law, delta, delta);
    }

    /// The same for a point of a neck, which the outermost fibre damages while it releases what it holds itself.
    ///
    /// ```
    /// use drystone::model::bond::{BondPoint, Cohesion, Softening};
    /// let law = Cohesion { tension: 1e5, cohesion: 1e5, stiffness: [1e10; 2], energy: [0.0; 2], softening: Softening::Brittle, neck: 0.5 };
    /// let mut point = BondPoint::new([glam::DVec3::ZERO; 2], 0.01);
    /// point.take_in_beside(&law, [-0.5e-5, 0.0], [1.0000001e-5, 0.0]);
    /// assert!(point.broken() && (point.released / (0.25 * 0.5 * 1e5 * 1e-5 * 0.01) - 1.0).abs() < 1e-6);
    /// ```
    pub fn take_in_beside(&mut self, law: &Cohesion, delta: [f64; 2], outer: [f64; 2]) {
        (self.delta, self.outer) = (delta, outer);
        let [level, ductility, stored] = law.mode(outer);
        let damage = law.damage_at(level, ductility);
        if damage <= self.damage {
            return;
        }
        let before = if self.damage > 0.0 { law.level_of(self.damage, ductility) } else { 1.0 };
        let elastic = |[n, t]: [f64; 2]| law.stiffness[0] * n * n + law.stiffness[1] * t * t;
        let share = if delta == outer { 1.0 } else { elastic(delta) / elastic([outer[0].max(0.0), outer[1]]) };
        self.released += self.area * share * stored * (law.released(level, ductility) - law.released(before, ductility)).max(0.0);
        (self.damage, self.left) = (damage, (1.0 - damage) * level);
    }

    /// Energy stored (J): `½ (1 − D) (k_n δ_n² + k_t δ_t²) a`, without the first where it is pressed, unless it `pushes` as a neck does.
    ///
    /// ```
    /// use drystone::model::bond::{BondPoint, Cohesion, Softening};
    /// let law = Cohesion { tension: 1e5, cohesion: 1e5, stiffness: [4e9, 2e9], energy: [0.0; 2], softening: Softening::Brittle, neck: 0.0 };
    /// let mut point = BondPoint::new([glam::DVec3::ZERO; 2], 0.01);
    /// point.take_in(&law, [-1e-6, 2e-6]);
    /// assert!((point.stored(&law, false) - 4e-5).abs() < 1e-18 && (point.stored(&law, true) - 6e-5).abs() < 1e-18);
    /// ```
    pub fn stored(&self, law: &Cohesion, pushes: bool) -> f64 {
        let [n, t] = self.delta;
        let n = if pushes { n } else { n.max(0.0) };
        0.5 * (1.0 - self.damage) * self.area * (law.stiffness[0] * n * n + law.stiffness[1] * t * t)
    }

    /// Normal and tangential traction (Pa) by the law, pull and resistance positive.
    pub fn traction(&self, law: &Cohesion) -> [f64; 2] {
        let [n, t] = self.delta;
        [(1.0 - self.damage) * law.stiffness[0] * n.max(0.0), (1.0 - self.damage) * law.stiffness[1] * t]
    }
}

/// What holds a face of one body to a face of another.
///
/// ```
/// use drystone::model::bond::{Bond, Cohesion, Softening};
/// use bevy_ecs::prelude::*;
/// let law = Cohesion { tension: 1e5, cohesion: 1e5, stiffness: [1e10; 2], energy: [0.0; 2], softening: Softening::Brittle, neck: 0.0 };
/// let bond = Bond { bodies: [Entity::PLACEHOLDER; 2], normal: glam::DVec3::Z, shift: glam::DVec3::ZERO, law, neck: 0.0, points: Vec::new() };
/// assert_eq!(bond.damage(), 0.0);
/// ```
#[derive(Component, Clone, Debug, PartialEq)]
pub struct Bond {
    /// The two bodies.
    pub bodies: [Entity; 2],
    /// Unit normal, from the second body to the first, in the axes of the first.
    pub normal: DVec3,
    /// Shift of the image of the second body that it holds, in a periodic cell (m).
    pub shift: DVec3,
    /// Its law.
    pub law: Cohesion,
    /// Radius of a neck (m), whose points push as well as pull and are damaged together: see [`outer`]. 0: it binds faces.
    pub neck: f64,
    /// Its points.
    pub points: Vec<BondPoint>,
}

impl Bond {
    /// Whether it holds nothing any more.
    pub fn is_broken(&self) -> bool {
        self.points.iter().all(BondPoint::broken)
    }

    /// Mean damage over its area.
    pub fn damage(&self) -> f64 {
        let area: f64 = self.points.iter().map(|p| p.area).sum();
        if area > 0.0 { self.points.iter().map(|p| p.area * p.damage).sum::<f64>() / area } else { 0.0 }
    }
}

/// Opening and slip (m) of the outermost fibre of a round section, from those of its four points, the first two and the last two at ends of
/// diameters of `√2 r` in the directions `u` and `n × u`.
///
/// ```text
/// δ_n = ō + r ‖φ‖        δ_t = ‖s̄‖ + r |ϑ|        ō, s̄: means; φ: tilt; ϑ: twist about n
/// ```
///
/// A neck is damaged as a whole where this fibre reaches the strength, as the section of a beam is: in tension f π r², in bending f π r³/4, in twist
/// c π r³/2 (Potyondy and Cundall, Int. J. Rock Mech. Min. Sci. 41, 2004, section 2.1.2).
///
/// ```
/// use glam::DVec3;
/// // tilted about y by 0.01: the point at x = −0.1/√2 opens, the other end closes
/// let ways = [-1.0, 1.0, 0.0, 0.0].map(|x| DVec3::Z * x * 0.01 * 0.1 * 0.5f64.sqrt());
/// let [opening, slip] = drystone::model::bond::outer(ways, DVec3::Z, DVec3::X);
/// assert!((opening - 0.01 * 0.1).abs() < 1e-15 && slip == 0.0);
/// ```
pub fn outer(ways: [DVec3; 4], n: DVec3, u: DVec3) -> [f64; 2] {
    let [o0, o1, o2, o3] = ways.map(|way| n.dot(way));
    let opening = 0.25 * (o0 + o1 + o2 + o3) + (0.5 * ((o0 - o1) * (o0 - o1) + (o2 - o3) * (o2 - o3))).sqrt();
    let mean = 0.25 * ways.iter().sum::<DVec3>();
    let turned = (ways[0] - ways[1]).dot(n.cross(u)) - (ways[2] - ways[3]).dot(u);
    [opening, (mean - n.dot(mean) * n).length() + turned.abs() * 0.5 * std::f64::consts::FRAC_1_SQRT_2]
}

/// Areas (m²) that the corners of a convex polygon, in order, stand for: `∫ f dA = Σ aᵢ f(xᵢ)` for every linear f, so that forces and moments of
/// a joint do not depend on how many corners it has. Half of the two triangles that a corner makes with the centroid; zeros without area.
///
/// ```
/// use glam::DVec2;
/// let square = [DVec2::ZERO, DVec2::X, DVec2::ONE, DVec2::Y];
/// assert_eq!(drystone::model::bond::tributary(&square), [0.25; 4]);
/// ```
pub fn tributary(polygon: &[glam::DVec2]) -> Vec<f64> {
    let n = polygon.len();
    let Some(&base) = polygon.first() else { return Vec::new() };
    let triangle = |a: glam::DVec2, b: glam::DVec2| 0.5 * a.perp_dot(b);
    let fan = || polygon.windows(2).skip(1).map(|w| (w[0] - base, w[1] - base));
    let area: f64 = fan().map(|(a, b)| triangle(a, b)).sum();
    if area <= 0.0 || area.is_nan() {
        return vec![0.0; n];
    }
    let centroid = base + fan().map(|(a, b)| triangle(a, b) * (a + b) / 3.0).sum::<glam::DVec2>() / area;
    let sector: Vec<f64> = (0..n).map(|i| triangle(polygon[i] - centroid, polygon[(i + 1) % n] - centroid)).collect();
    (0..n).map(|i| 0.5 * (sector[i] + sector[(i + n - 1) % n])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec2;

    fn mortar(softening: Softening) -> Cohesion {
        Cohesion { tension: 2e5, cohesion: 3e5, stiffness: [1e10, 4e9], energy: [12.0, 40.0], softening, neck: 0.0 }
    }

    /// Work of the tractions along a path of δ by small steps.
    fn work(law: &Cohesion, along: [f64; 2], way: f64, steps: u32) -> (f64, BondPoint) {
        let mut point = BondPoint::new([DVec3::ZERO; 2], 1.0);
        let (mut sum, mut last) = (0.0, [0.0; 2]);
        for k in 1..=steps {
            let s = way * f64::from(k) / f64::from(steps);
            point.take_in(law, [along[0] * s, along[1] * s]);
            let now = point.traction(law);
            sum += (0..2).map(|i| 0.5 * (now[i] + last[i]) * along[i]).sum::<f64>() * way / f64::from(steps);
            last = now;
        }
        (sum, point)
    }

    #[test]
    fn the_curve_is_that_of_its_formula_and_unloading_goes_to_the_origin() {
        let law = mortar(Softening::Linear);
        let (peak, end) = (2e5 / 1e10, 2.0 * 12.0 / 2e5);
        for share in [0.1, 0.5, 0.9] {
            let mut point = BondPoint::new([DVec3::ZERO; 2], 1.0);
            let delta = peak + share * (end - peak);
            point.take_in(&law, [delta, 0.0]);
            let exact = 2e5 * (1.0 - share);
            assert!((point.traction(&law)[0] - exact).abs() < 1e-9 * 2e5, "{share}");
            let damage = point.damage;
            point.take_in(&law, [0.5 * delta, 0.0]);
            assert!((point.traction(&law)[0] - 0.5 * exact).abs() < 1e-9 * 2e5 && point.damage == damage);
            point.take_in(&law, [-delta, 0.0]);
            assert_eq!(point.traction(&law)[0], 0.0, "a bond does not push");
        }
    }

    #[test]
    fn what_is_released_is_the_fracture_energy_in_one_step_or_many_and_the_work_of_the_traction() {
        for softening in [Softening::Linear, Softening::Exponential] {
            let law = mortar(softening);
            let far = 60.0 * 2.0 * 40.0 / 2e5;
            for (along, energy) in [([1.0, 0.0], 12.0), ([0.0, 1.0], 40.0)] {
                let (sum, point) = work(&law, along, far, 400_000);
                assert!(point.broken());
                assert!((point.released / energy - 1.0).abs() < 1e-6, "{softening:?}: {}", point.released);
                assert!((sum / energy - 1.0).abs() < 1e-3, "{softening:?}: work {sum}");
                let once = work(&law, along, far, 1).1;
                assert!((once.released / energy - 1.0).abs() < 1e-6);
            }
            // the shares of the two modes add up to one
            let along = [0.6, 0.8];
            let (_, point) = work(&law, along, far, 100_000);
            let [level, ductility, _] = law.mode(along);
            let path = |k: usize, strength: f64| {
                let part = along[k] * law.stiffness[k] / strength / level;
                part * part * 0.5 * strength * strength / law.stiffness[k] * ductility
            };
            let [one, two] = [path(0, 2e5), path(1, 3e5)];
            assert!((one / 12.0 + two / 40.0 - 1.0).abs() < 1e-12);
            assert!((point.released / (one + two) - 1.0).abs() < 1e-5, "{} of {}", point.released, one + two);
        }
    }

    #[test]
    fn a_brittle_bond_breaks_beyond_its_strength_and_keeps_broken() {
        let law = mortar(Softening::Brittle);
        let mut point = BondPoint::new([DVec3::ZERO; 2], 0.5);
        point.take_in(&law, [0.99 * 2e-5, 0.0]);
        assert!(!point.broken() && point.released == 0.0);
        point.take_in(&law, [1.01 * 2e-5, 0.0]);
        assert!(point.broken() && (point.released - 0.5 * 0.5 * 2e5 * 2e-5).abs() < 1e-12);
        point.take_in(&law, [0.0; 2]);
        assert!(point.broken());
    }

    #[test]
    fn an_energy_below_what_is_stored_is_an_error_that_says_what_would_do() {
        let weak = Cohesion { energy: [1.0, 40.0], ..mortar(Softening::Linear) };
        let error = weak.validate().unwrap_err();
        assert!(error.contains("normal fracture energy is 1e0 J/m2") && error.contains("above 2e10 Pa/m"), "{error}");
        assert!(Cohesion { tension: -1.0, ..mortar(Softening::Brittle) }.validate().unwrap_err().contains("tension is -1"));
    }

    #[test]
    fn areas_of_corners_integrate_linear_functions() {
        let polygon = [DVec2::new(0.1, 0.0), DVec2::new(1.3, 0.2), DVec2::new(1.1, 0.9), DVec2::new(0.6, 1.2), DVec2::new(-0.2, 0.7)];
        // a corner more on a side changes no sum
        let mut finer = polygon.to_vec();
        finer.insert(2, 0.3 * polygon[1] + 0.7 * polygon[2]);
        let sums = |p: &[DVec2]| {
            let a = tributary(p);
            assert!(a.iter().all(|a| *a > 0.0));
            [a.iter().sum::<f64>(), a.iter().zip(p).map(|(a, p)| a * p.x).sum(), a.iter().zip(p).map(|(a, p)| a * p.y).sum()]
        };
        let (coarse, fine) = (sums(&polygon), sums(&finer));
        assert!(coarse.iter().zip(fine).all(|(a, b)| (a - b).abs() < 1e-15));
        let shoelace: f64 = (0..5).map(|i| 0.5 * polygon[i].perp_dot(polygon[(i + 1) % 5])).sum();
        assert!((coarse[0] - shoelace).abs() < 1e-15);
        assert_eq!(tributary(&[DVec2::ZERO, DVec2::X]), [0.0; 2]);
    }
}
