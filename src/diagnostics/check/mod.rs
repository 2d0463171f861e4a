//! Faults of a scene that can be seen before the run, each with the body and the cure.
//!
//! ```text
//! overlap: gap < −1e-6 L        step: ‖v‖ h ≤ L/2,  ‖ω‖ h ≤ ½,  h ≤ ½ √(L/g),  |γ̇| h ≤ 0.03       L: smallest length of the body
//! ```

mod cell;
mod gates;
mod joints;
mod meshes;
mod pulses;
mod start;
mod support;
#[cfg(test)]
mod tests;

use std::fmt;

use glam::DVec3;

use crate::algebra::spatial::Pose;
use crate::geometry::{Shape, ShapeError};
use crate::io::scene::applied::AppliedLoad;
use crate::io::scene::model::{Body, Scene};

/// Part of a body with corners that attraction may move it by in a step, and of a ball: it has one point alone.
const PULLED: f64 = 2e-3;
const PULLED_BALL: f64 = 0.2;
/// Most findings of one kind that are listed one by one, before a run and at its end.
const LISTED: usize = 10;
const REPEATED: usize = 3;
/// Bodies above this size (m) are rather in mm.
const LARGE: f64 = 100.0;
const MILLIMETRES: &str = "lengths are in m: if the file is in mm, write \"… mm\", scale = 0.001, or unit = \"mm\" of an [[import]]";
/// Radius of gyration in parts of how far a body reaches, and of its smallest length, beyond which moments of inertia are rather in another unit.
const FAR: f64 = 2.0;
const NEAR: f64 = 5e-3;
/// Accelerations above this (m/s²) are rather in another unit.
const TEN_G: f64 = 100.0;
/// Rounding of the place of a body, in parts of its smallest length, from which one sees it.
const ROUNDING: f64 = 1e-8;
/// Shear of a periodic cell in a step, from which on dense packings are hard to solve.
const SHEARED: f64 = 0.03 * (1.0 + 1e-9);
/// A run of fewer steps shows hardly more than its start.
const FEW_STEPS: f64 = 4.5;

/// How bad a finding is.
///
/// ```
/// use drystone::diagnostics::check::Severity;
/// assert!(Severity::Fault > Severity::Hint);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Hint,
    /// The scene would not do what it says.
    Fault,
}

/// One thing that is wrong or surprising.
///
/// ```
/// use drystone::diagnostics::check::check;
/// use drystone::io::scene::{Scene, SceneSource};
/// let scene = Scene::load(&SceneSource::new("arch"), &[])?;
/// assert!(check(&scene).is_empty());
/// # Ok::<(), drystone::io::scene::SceneError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The body concerned; `None` when it is the scene.
    pub body: Option<String>,
    /// What was found.
    pub message: String,
    /// What would do.
    pub cure: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.severity == Severity::Fault { "fault" } else { "hint" };
        write!(f, "{word}: {}: {}\n  {}", self.body.as_deref().unwrap_or("scene"), self.message, self.cure)
    }
}

impl Finding {
    /// The finding as one line, for the end of a run.
    pub fn line(&self) -> String {
        self.to_string().replacen("\n ", ";", 1)
    }
}

/// Samples from which a motion of the ground counts as a record.
const RECORD: usize = 20;
/// Parts of the largest velocity and displacement of the ground that may be left at the end of a record.
const LEFT: [f64; 2] = [0.01, 0.1];

/// Bodies with what the checks need of them; `shape` is `None` where it cannot be built.
struct Bodies<'s> {
    scene: &'s Scene,
    shapes: Vec<Option<Shape>>,
    masses: Vec<Option<f64>>,
    listed: usize,
    out: Vec<Finding>,
    /// joints that hold what is held already, or stand at a dead point: no matter for the result of a run
    redundant: Vec<(usize, String, String)>,
}

/// Everything that is wrong with the start of `scene`, faults first.
///
/// ```
/// use drystone::diagnostics::check::check;
/// use drystone::io::scene::model::{BodySpec, Scene, ShapeSpec};
/// let mut scene = Scene::new("sunk");
/// scene.bodies.push(BodySpec::new("floor", ShapeSpec::HalfSpace { normal: glam::DVec3::Z }).fixed());
/// scene.bodies.push(BodySpec::new("ball", ShapeSpec::Ball { radius: 0.1 }));
/// assert!(check(&scene)[0].to_string().starts_with("fault: ball: overlaps floor by 0.1 m"));
/// ```
pub fn check(scene: &Scene) -> Vec<Finding> {
    let mut all = looked_at(scene, LISTED);
    let redundant = std::mem::take(&mut all.redundant);
    all.say_all(Severity::Hint, redundant);
    all.out
}

/// The same for the end of a run, as one line each, fewer of a kind.
pub(super) fn repeated(scene: &Scene) -> Vec<String> {
    looked_at(scene, REPEATED).out.iter().map(Finding::line).collect()
}

fn looked_at(scene: &Scene, listed: usize) -> Bodies<'_> {
    let mut all = Bodies { scene, shapes: Vec::new(), masses: Vec::new(), listed, out: Vec::new(), redundant: Vec::new() };
    all.shapes_and_masses();
    all.units();
    all.contacts();
    all.support();
    all.servos();
    all.moves();
    all.gates();
    all.plates_of_the_cell();
    all.time_step();
    all.pulses();
    all.joints();
    all.ropes_and_limits();
    all.moving_bearings();
    all.shared_volumes();
    all.late();
    for note in &scene.notes {
        all.out.push(Finding {
            severity: Severity::Hint,
            body: Some(note.about.clone()),
            message: note.message.clone(),
            cure: note.cure.clone(),
        });
    }
    all.out.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    all
}

impl Bodies<'_> {
    fn say(&mut self, severity: Severity, body: Option<usize>, message: String, cure: impl Into<String>) {
        let body = body.map(|i| self.scene.bodies[i].name.clone());
        self.out.push(Finding { severity, body, message, cure: cure.into() });
    }

    /// Reports the first few of `found` as faults, and how many more there are.
    fn say_some(&mut self, found: Vec<(usize, String, String)>) {
        self.say_all(Severity::Fault, found);
    }

    fn say_all(&mut self, severity: Severity, found: Vec<(usize, String, String)>) {
        let more = found.len().saturating_sub(self.listed);
        let last = found.get(self.listed).map(|f| f.0);
        for (body, message, cure) in found.into_iter().take(self.listed) {
            self.say(severity, Some(body), message, cure);
        }
        if let Some(body) = last {
            self.say(severity, Some(body), format!("and {more} more like this"), "look at the ones above first");
        }
    }

    fn name(&self, i: usize) -> &str {
        &self.scene.bodies[i].name
    }

    /// Whether a joint or an interaction names a body.
    fn tied(&self, i: usize) -> bool {
        let joints = self.scene.joints.iter().map(|j| [Some(j.body1), j.body2]);
        joints.chain(self.scene.ties.iter().map(|t| [Some(t.body1), t.body2])).any(|ends| ends.contains(&Some(i)))
    }

    fn dynamic(&self) -> impl Iterator<Item = (usize, &Body)> {
        self.scene.dynamic_bodies()
    }

    /// Densities, sizes, speeds and gravity that look like another unit.
    fn units(&mut self) {
        let mut found = Vec::new();
        for (m, material) in self.scene.materials.iter().enumerate() {
            let user = self.scene.dynamic_bodies().find(|(_, b)| b.material == m && b.mass.is_none());
            let density = material.density;
            if let (Some((i, _)), false) = (user, (10.0..=30_000.0).contains(&density)) {
                let message = format!("its material {} has a density of {density} kg/m3", material.name);
                let cure = match density {
                    d if (0.01..10.0).contains(&d) => format!("if this is g/cm3 or t/m3, write \"{d} t/m3\""),
                    _ => "densities of solids lie between 10 and 30000 kg/m3".to_owned(),
                };
                found.push((i, message, cure));
            }
        }
        let (mut large, mut far) = (Vec::new(), Vec::new());
        for (i, body) in self.dynamic() {
            let size = self.shapes[i].as_ref().map_or(1.0, Shape::bounding_radius) * 2.0;
            let cure = if size > LARGE { MILLIMETRES } else { "lengths are in m" };
            let finding = (i, format!("it is {size:.3e} m large"), cure.to_owned());
            if !(1e-6..=1e3).contains(&size) {
                found.push(finding);
            } else if size > LARGE {
                large.push(finding);
            }
            let (away, length) = (body.pose.position.length(), self.shapes[i].as_ref().map_or(size, start::length));
            if away * f64::EPSILON > ROUNDING * length {
                let message = format!("it is {away:.1e} m from the origin, where places have {:.0e} m of rounding", away * f64::EPSILON);
                far.push((i, message, "put the scene near the origin".to_owned()));
            }
            let speed = body.linear_velocity.length();
            if speed > 1e4 {
                found.push((
                    i,
                    format!("it starts with {speed:.3e} m/s"),
                    "velocities are in m/s: write a unit, such as \"3 mm/s\"".to_owned(),
                ));
            }
        }
        self.say_some(found);
        self.far_loads();
        self.say_all(Severity::Hint, large);
        self.say_all(Severity::Hint, far);
        self.odd_sizes();
        self.odd_masses();
        self.base();
        self.water();
        for entry in &self.scene.gravity {
            let g = entry.acceleration.length();
            if g > TEN_G || (g > 0.0 && g < 1e-3) {
                self.say(
                    Severity::Fault,
                    None,
                    format!("gravity is {} m/s2 from {} s on", Short(g), entry.time),
                    "write it in m/s2, such as [0, 0, -9.81]",
                );
                break;
            }
        }
        if self.scene.default_law.mu > 2.0 {
            let message = format!("the coefficient of friction is {}", self.scene.default_law.mu);
            self.say(Severity::Hint, None, message, "if this is the angle of friction, write its tangent");
        }
    }

    /// Loads at points farther from their body than it is large: in other axes than those of the world, or in another unit.
    fn far_loads(&mut self) {
        let far = |load: &AppliedLoad| {
            let (at, shape, pose) = (load.at?, self.shapes[load.body].as_ref()?, &self.scene.bodies[load.body].pose);
            let (low, high) = shape.aabb(pose);
            let away = at.distance(at.clamp(low, high));
            let message = format!("its load acts at a point {} m away from it", Short(away));
            let cure = "write `at` in m and in axes of the world, where the body starts; an arm may be meant as well";
            (away > low.distance(high)).then(|| (load.body, message, cure.to_owned()))
        };
        let found = self.scene.loads.iter().filter_map(far).collect();
        self.say_all(Severity::Hint, found);
    }

    /// Bodies a hundred or a thousand times as large or small as most others of the same form: in another unit.
    fn odd_sizes(&mut self) {
        let mut sizes: Vec<(f64, usize)> =
            self.dynamic().filter_map(|(i, _)| self.shapes[i].as_ref().map(|s| (2.0 * s.bounding_radius(), i))).collect();
        sizes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let near = |size: f64| {
            let below = |limit: f64| sizes.partition_point(|s| s.0 < limit);
            &sizes[below(size * (1.0 - 1e-6))..below(size * (1.0 + 1e-6))]
        };
        let alike = |a: usize, b: usize, ratio: f64| match (&self.shapes[a], &self.shapes[b]) {
            (Some(a), Some(b)) => a.kind() == b.kind() && (a.smallest_length() / b.smallest_length() / ratio - 1.0).abs() < 1e-6,
            _ => false,
        };
        let mut found = Vec::new();
        for &(size, i) in &sizes {
            for (times, unit) in [(100.0, "cm"), (1000.0, "mm"), (0.01, "cm"), (0.001, "mm")] {
                let others = near(size / times);
                if others.len() > 2 * near(size).len() && alike(i, others[0].1, times) {
                    let message = format!("it is {size:.3e} m large, {times} times as large as {} bodies of the same form", others.len());
                    let which = if times > 1.0 { "it is" } else { "the others are" };
                    found.push((i, message, format!("lengths are in m: if {which} in {unit}, write \"… {unit}\" there")));
                }
            }
        }
        self.say_all(Severity::Hint, found);
    }

    /// Centres of mass outside of their bodies, and moments of inertia that nothing within them has, as those in another unit.
    fn odd_masses(&mut self) {
        let mut found = Vec::new();
        for (i, body) in self.dynamic() {
            let Some(shape) = &self.shapes[i] else { continue };
            let filled = shape.mass_properties(1.0).ok();
            let centre = body.centre_of_mass.or(filled.map(|f| f.centre)).unwrap_or_default();
            let (low, high) = shape.aabb(&Pose::IDENTITY);
            let outside = (centre - centre.clamp(low, high)).length();
            if outside > 0.01 * (high - low).length() {
                let message = format!("its centre of mass is {outside:.1e} m outside of it");
                found.push((i, message, "`centre_of_mass` is in m, in the axes of the shape".to_owned()));
            }
            let mass = body.mass.or(filled.map(|f| self.scene.materials[body.material].density * f.mass));
            let (Some(moments), Some(mass)) = (body.inertia, mass) else { continue };
            let (arm, reach) = ((moments.max_element() / mass).sqrt(), shape.bounding_radius() + centre.length());
            if arm > FAR * reach || arm < NEAR * start::length(shape) {
                let message = format!(
                    "its moments of inertia are those of {} kg {arm:.1e} m away from its centre, and it reaches {reach:.1e} m",
                    Short(mass)
                );
                let own = filled
                    .map(|f| mass / f.mass * f.inertia)
                    .map(|DVec3 { x, y, z }| format!(": filled evenly it has {x:.1e}, {y:.1e}, {z:.1e}"));
                found.push((i, message, format!("`inertia` is in kg m2{}", own.unwrap_or_default())));
            }
        }
        self.say_all(Severity::Hint, found);
    }

    /// Water that wets nothing, or stands above everything that it presses on.
    fn water(&mut self) {
        for water in &self.scene.water {
            let ends = water.bodies.iter().filter_map(|&i| Some(self.shapes[i].as_ref()?.aabb(&self.scene.bodies[i].pose)));
            let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), (low, high)| (a.min(low.z), b.max(high.z)));
            let level = water.levels.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if level <= low {
                let message =
                    format!("the water stands no higher than {level} m, below the bodies that it should press on, from {low} m up");
                self.say(Severity::Hint, None, message, "`level` is the height z of its surface");
            } else if level > high + 1e-9 * (high - low) {
                let message = format!("the water stands up to {} m above the bodies that it presses on", Short(level - high));
                let cure = "`level` is the height z of its surface; what flows over is not part of the scene, the pressure of the depth is";
                self.say(Severity::Hint, None, message, cure);
            }
        }
    }

    /// Shaking of the ground beyond what any ground does.
    fn base(&mut self) {
        let Some(base) = &self.scene.base else { return };
        let peak = base.peak();
        if peak > TEN_G {
            let message = format!("the base is accelerated by up to {} m/s2, {:.3} g", Short(peak), peak / 9.81);
            self.say(Severity::Fault, None, message, "write it in m/s2, such as [0.981, 0, 0] for 0.1 g; 981 cm/s2 are 9.81 m/s2");
        }
        let left = base.left();
        let (v, d) = (left.velocity.length(), left.displacement.length());
        if base.times.len() >= RECORD && (v > LEFT[0] * left.peak_velocity || d > LEFT[1] * left.peak_displacement) {
            let message = format!(
                "its record leaves the ground at {v:.3e} m/s (at most {:.3e}) and {d:.3e} m from where it was (at most {:.3e})",
                left.peak_velocity, left.peak_displacement
            );
            let cure =
                "add baseline = \"constant\" to [base] to end at rest, or \"linear\" to end where it began; leave it if that is meant";
            self.say(Severity::Hint, None, message, cure);
        }
    }

    /// Steps in which attraction moves a body with corners so far that it acts on one corner in one step and on another in the next:
    /// such a pile boils, at a cost to the normal reactions that closes the balance.
    fn attraction(&mut self, h: f64) {
        let mut found = Vec::new();
        for (i, body) in self.dynamic() {
            let pairs = self.scene.pair_laws.iter().filter(|p| p.materials.contains(&body.material)).map(|p| &p.law);
            let pull = pairs.chain([&self.scene.default_law]).map(|law| law.adhesion).fold(0.0, f64::max);
            let (Some(shape), Some(mass)) = (&self.shapes[i], self.masses[i]) else { continue };
            let (way, length) = (h * h * pull / mass, start::length(shape));
            let most = if matches!(shape, Shape::Ball { .. }) { PULLED_BALL } else { PULLED };
            if way > most * length {
                let message =
                    format!("an attraction of {pull} N moves it by {way:.1e} m a step, {:.1} % of its size", 100.0 * way / length);
                let limit = (most * length * mass / pull).sqrt();
                found.push((i, message, format!("use a time step of at most {limit:.1e} s instead of {h:e} s, or less adhesion")));
            }
        }
        self.say_some(found);
    }

    /// Steps in which a body would pass through another, turn too far or fall too far, or a cell be sheared too far.
    fn time_step(&mut self) {
        if self.scene.time.accuracy.is_some() {
            return; // steps are chosen by just these figures
        }
        let h = self.scene.time.step;
        let g = self.scene.gravity.iter().map(|entry| entry.acceleration.length()).fold(0.0, f64::max);
        let mut found = Vec::new();
        for (i, body) in self.dynamic() {
            let length = self.shapes[i].as_ref().map_or(f64::INFINITY, start::length);
            let mass = self.masses[i].unwrap_or(f64::INFINITY);
            let kick: f64 = body.impulses.iter().map(|blow| blow.linear.length() / mass).sum();
            let (speed, spin) = (body.linear_velocity.length() + kick, body.angular_velocity.length());
            // a ball looks the same however it has turned
            let round = matches!(self.shapes[i], Some(Shape::Ball { .. })) && body.inertia.is_none() && body.centre_of_mass.is_none();
            let turning = if round && !self.tied(i) { 0.0 } else { spin };
            let limits = [
                (
                    0.5 * length / speed,
                    format!("it moves {:.3e} m a step, more than half of its smallest length of {length:.3e} m", speed * h),
                ),
                (0.5 / turning, format!("it turns {:.3} rad a step", spin * h)),
                (0.5 * (length / g).sqrt(), format!("it would fall its smallest length of {length:.3e} m within about a step")),
            ];
            if let Some((limit, message)) = limits.into_iter().filter(|l| l.0 < h).min_by(|a, b| a.0.total_cmp(&b.0)) {
                found.push((i, message, format!("use a time step of at most {limit:.1e} s instead of {h:e} s")));
            }
        }
        self.say_some(found);
        self.attraction(h);
        if let Some(shear) = self.scene.periodic.shear
            && shear.rate.abs() * h > SHEARED
        {
            let message = format!(
                "its images shear the cell by {} in a step: grains that touch pass each other by that part of their size, and a dense packing \
                 finds no way to do so along the normals of the start of the step",
                Short(shear.rate.abs() * h)
            );
            let limit = SHEARED / shear.rate.abs();
            self.say(
                Severity::Fault,
                None,
                message,
                format!("use a time step of at most {limit:.1e} s instead of {h:e} s, or a lower rate"),
            );
        }
        let (end, steps) = (self.scene.time.end, self.scene.time.end / h);
        if steps < 1.0 - 1e-9 {
            let message = format!("the run ends at {end} s, before its first step of {h} s is over");
            self.say(Severity::Fault, None, message, "use a smaller step or a later end");
        } else if steps < FEW_STEPS {
            let steps = (steps - 1e-9).ceil();
            let message = format!("the run of {end} s has {steps:.0} step{} of {h} s", if steps > 1.0 { "s" } else { "" });
            self.say(Severity::Hint, None, message, "if this is meant to show motion, use a smaller step or a later end");
        }
    }
}

fn mesh_cure(error: &ShapeError) -> &'static str {
    match error {
        ShapeError::InvertedMesh { .. } => "reverse the order of the vertices of each triangle",
        ShapeError::OpenMesh { .. } => "close the surface, turn the triangles round whose corners go the other way, or use kind = \"hull\"",
        _ => "give `mass`, `inertia` and `centre_of_mass`, or make it static",
    }
}

/// A way with its direction, in powers of ten only where it is small or very large.
struct Way(DVec3);

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0.to_array();
        if !(1e-4..1e6).contains(&self.0.length()) {
            write!(f, "[{x:.3e}, {y:.3e}, {z:.3e}]")
        } else {
            write!(f, "[{x:.6}, {y:.6}, {z:.6}]")
        }
    }
}

/// A length with four digits, in powers of ten only where it is small.
struct Short(f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !(1e-3..1e6).contains(&self.0) { write!(f, "{:.3e}", self.0) } else { write!(f, "{}", (self.0 * 1e4).round() / 1e4) }
    }
}
