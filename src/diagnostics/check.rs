//! Faults of a scene that can be seen before the run, each with the body and the cure.
//!
//! ```text
//! overlap: gap < −1e-6 L        step: ‖v‖ h ≤ L/2,  ‖ω‖ h ≤ ½,  h ≤ ½ √(L/g)        L: smallest length of the body
//! ```

use std::fmt;

use glam::{DQuat, DVec3};

use crate::algebra::spatial::Pose;
use crate::geometry::shapes::UNBOUNDED;
use crate::geometry::{BroadPhase, Scratch, Shape, ShapeError, contact_points};
use crate::io::scene::model::{Body, Motion, Scene, ShapeSpec};

/// Most findings of one kind that are listed one by one.
const LISTED: usize = 10;

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

/// Bodies with what the checks need of them; `shape` is `None` where it cannot be built.
struct Bodies<'s> {
    scene: &'s Scene,
    shapes: Vec<Option<Shape>>,
    masses: Vec<Option<f64>>,
    out: Vec<Finding>,
}

/// Everything that is wrong with the start of `scene`, faults first.
///
/// ```
/// use drystone::diagnostics::check::check;
/// use drystone::io::scene::model::{Body, Scene, ShapeSpec};
/// let mut scene = Scene::new("sunk");
/// scene.bodies.push(Body::new("floor", ShapeSpec::HalfSpace { normal: glam::DVec3::Z }).fixed());
/// scene.bodies.push(Body::new("ball", ShapeSpec::Ball { radius: 0.1 }));
/// assert!(check(&scene)[0].to_string().starts_with("fault: ball: overlaps floor by 0.1 m"));
/// ```
pub fn check(scene: &Scene) -> Vec<Finding> {
    let mut all = Bodies { scene, shapes: Vec::new(), masses: Vec::new(), out: Vec::new() };
    all.shapes_and_masses();
    all.units();
    all.contacts();
    all.support();
    all.time_step();
    all.out.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    all.out
}

impl Bodies<'_> {
    fn say(&mut self, severity: Severity, body: Option<usize>, message: String, cure: impl Into<String>) {
        let body = body.map(|i| self.scene.bodies[i].name.clone());
        self.out.push(Finding { severity, body, message, cure: cure.into() });
    }

    /// Reports the first few of `found`, and how many more there are.
    fn say_some(&mut self, found: Vec<(usize, String, String)>) {
        let more = found.len().saturating_sub(LISTED);
        let last = found.get(LISTED).map(|f| f.0);
        for (body, message, cure) in found.into_iter().take(LISTED) {
            self.say(Severity::Fault, Some(body), message, cure);
        }
        if let Some(body) = last {
            self.say(Severity::Fault, Some(body), format!("and {more} more like this"), "mend the ones above first");
        }
    }

    fn name(&self, i: usize) -> &str {
        &self.scene.bodies[i].name
    }

    fn dynamic(&self) -> impl Iterator<Item = (usize, &Body)> {
        self.scene.dynamic_bodies()
    }

    /// Shapes that cannot be built, meshes that are open or inside out.
    fn shapes_and_masses(&mut self) {
        let mut found = Vec::new();
        for (i, body) in self.scene.bodies.iter().enumerate() {
            let density = self.scene.materials[body.material].density;
            let shape = body.shape.build();
            let mass = shape.clone().and_then(|s| s.mass_properties(density));
            // without a volume of its own a body needs mass, inertia and centre from the file
            let given = body.mass.is_some() && body.inertia.is_some() && body.centre_of_mass.is_some();
            match (&shape, &mass) {
                (Err(e), _) => found.push((i, e.to_string(), "mend its shape".to_owned())),
                (_, Err(e)) if body.motion == Motion::Dynamic && !given => found.push((i, e.to_string(), mesh_cure(e).to_owned())),
                (_, Err(e @ ShapeError::InvertedMesh { .. })) => found.push((i, e.to_string(), mesh_cure(e).to_owned())),
                _ => {}
            }
            let open = matches!(mass, Err(ShapeError::OpenMesh { .. })) && body.motion != Motion::Dynamic;
            if open && self.looks_down(body) {
                let message = "the triangles of this open mesh look along gravity, so bodies would fall through".to_owned();
                found.push((i, message, "reverse the order of the vertices of each triangle".to_owned()));
            }
            self.shapes.push(shape.ok());
            self.masses.push(body.mass.or(mass.ok().map(|m| m.mass)));
        }
        self.say_some(found);
    }

    /// True for a mesh the sum of whose face areas points along gravity.
    fn looks_down(&self, body: &Body) -> bool {
        let ShapeSpec::Mesh { vertices, triangles } = &body.shape else { return false };
        let corner = |t: &[u32; 3], k: usize| vertices.get(t[k] as usize).copied().unwrap_or_default();
        let area: DVec3 = triangles.iter().map(|t| (corner(t, 1) - corner(t, 0)).cross(corner(t, 2) - corner(t, 0))).sum();
        body.pose.vector(area).dot(self.scene.gravity_at(0.0)) > 0.0
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
        for (i, body) in self.dynamic() {
            let size = self.shapes[i].as_ref().map_or(1.0, Shape::bounding_radius) * 2.0;
            if !(1e-6..=1e3).contains(&size) {
                let cure = if size > 1e3 {
                    "lengths are in m: if the file is in mm, write \"… mm\" or scale = 0.001"
                } else {
                    "lengths are in m"
                };
                found.push((i, format!("it is {size:.3e} m large"), cure.to_owned()));
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
        for entry in &self.scene.gravity {
            let g = entry.acceleration.length();
            if g > 100.0 || (g > 0.0 && g < 1e-3) {
                self.say(
                    Severity::Fault,
                    None,
                    format!("gravity is {g} m/s2 from {} s on", entry.time),
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

    /// Overlaps at the start, and touching bodies of very different mass.
    fn contacts(&mut self) {
        let mut broad = BroadPhase::default();
        let at_start = |body: &Body| body.birth == 0.0;
        for (i, body) in self.scene.bodies.iter().enumerate().filter(|(_, b)| at_start(b)) {
            match &self.shapes[i] {
                Some(Shape::HalfSpace { normal }) => {
                    let n = body.pose.vector(*normal);
                    broad.set_half_space(i as u32, n, n.dot(body.pose.position));
                }
                Some(shape) => {
                    let (low, high) = shape.aabb(&body.pose);
                    broad.set_box(i as u32, low, high);
                }
                None => {}
            }
        }
        let mut pairs = Vec::new();
        broad.pairs(&mut pairs);
        let (mut scratch, mut points) = (Scratch::default(), Vec::new());
        let (mut overlaps, mut ratios) = (Vec::new(), Vec::new());
        for (a, b) in pairs.into_iter().map(|(a, b)| (a as usize, b as usize)) {
            let (first, second) = (&self.scene.bodies[a], &self.scene.bodies[b]);
            let (Some(shape1), Some(shape2)) = (&self.shapes[a], &self.shapes[b]) else { continue };
            let moving = [first, second].map(|body| body.motion == Motion::Dynamic);
            let joined = self.scene.joints.iter().any(|j| (j.body1, j.body2) == (a, Some(b)) || (j.body1, j.body2) == (b, Some(a)));
            if moving == [false; 2] || joined {
                continue;
            }
            let size =
                shape1.smallest_length().min(shape2.smallest_length()).min(2.0 * shape1.bounding_radius().min(shape2.bounding_radius()));
            points.clear();
            contact_points(shape1, &first.pose, shape2, &second.pose, 0.0, &mut scratch, &mut points);
            let Some(deepest) = points.iter().min_by(|p, q| p.gap.total_cmp(&q.gap)) else { continue };
            if deepest.gap < -1e-6 * size {
                // name the one that can be moved
                let (body, other, way) = if moving[1] { (b, a, -deepest.normal) } else { (a, b, deepest.normal) };
                let depth = -deepest.gap;
                let shift = way * depth;
                let cure = format!("move it by [{:.6}, {:.6}, {:.6}] m, or make it smaller", shift.x, shift.y, shift.z);
                overlaps.push((body, format!("overlaps {} by {:.4} m at the start", self.name(other), Short(depth)), cure));
            }
            let ([true, true], Some(m1), Some(m2)) = (moving, self.masses[a], self.masses[b]) else { continue };
            if m1.max(m2) > 1e6 * m1.min(m2) {
                let (light, heavy) = if m1 < m2 { (a, b) } else { (b, a) };
                let message = format!("it weighs {:.3e} kg and touches {} of {:.3e} kg", m1.min(m2), self.name(heavy), m1.max(m2));
                ratios.push((light, message, "keep ratios of touching masses below 1e6, or make the heavy body static".to_owned()));
            }
        }
        self.say_some(overlaps);
        self.say_some(ratios);
    }

    /// Bodies that nothing is below of, where gravity acts.
    fn support(&mut self) {
        let Some(down) = self.scene.gravity_at(0.0).try_normalize() else { return };
        let upright = DQuat::from_rotation_arc(down, DVec3::NEG_Z);
        // gravity meets such a plane sooner or later, whatever is above it
        let catches = |(i, body): (usize, &Body)| match &self.shapes[i] {
            Some(Shape::HalfSpace { normal }) => body.pose.vector(*normal).dot(down) < 0.0 && body.death.is_none(),
            _ => false,
        };
        if self.scene.bodies.iter().enumerate().any(catches) {
            return;
        }
        let mut boxes = Vec::new();
        for (i, body) in self.scene.bodies.iter().enumerate() {
            let seen = Pose::new(upright * body.pose.position, upright * body.pose.rotation);
            boxes.push(self.shapes[i].as_ref().map(|s| s.aabb(&seen)).filter(|b| b.1.z < UNBOUNDED));
        }
        let floor = boxes.iter().flatten().map(|b| b.0.z).fold(0.0, f64::min) - 1.0;
        let mut broad = BroadPhase::default();
        for (i, bounds) in boxes.iter().enumerate() {
            if let Some((low, high)) = bounds {
                let falls = self.scene.bodies[i].motion == Motion::Dynamic;
                broad.set_box(i as u32, DVec3::new(low.x, low.y, if falls { floor } else { low.z }), *high);
            }
        }
        let mut pairs = Vec::new();
        broad.pairs(&mut pairs);
        let mut supported = vec![false; boxes.len()];
        for (a, b) in pairs.into_iter().map(|(a, b)| (a as usize, b as usize)) {
            if let (Some(first), Some(second)) = (&boxes[a], &boxes[b]) {
                supported[a] |= second.0.z < first.0.z;
                supported[b] |= first.0.z < second.0.z;
            }
        }
        for joint in &self.scene.joints {
            supported[joint.body1] = true;
            joint.body2.iter().for_each(|&i| supported[i] = true);
        }
        let lost = |(i, b): &(usize, &Body)| !supported[*i] && b.force == DVec3::ZERO && b.locked_translation == [false; 3];
        let cure = "add a static body below it, such as a half_space, a joint, or set gravity = [0, 0, 0]";
        let found =
            self.dynamic().filter(lost).map(|(i, _)| (i, "nothing is below it: it would fall for ever".to_owned(), cure.to_owned()));
        let found = found.collect();
        self.say_some(found);
    }

    /// Steps in which a body would pass through another, turn too far or fall too far.
    fn time_step(&mut self) {
        let h = self.scene.time.step;
        let g = self.scene.gravity.iter().map(|entry| entry.acceleration.length()).fold(0.0, f64::max);
        let mut found = Vec::new();
        for (i, body) in self.dynamic() {
            let length = self.shapes[i].as_ref().map_or(f64::INFINITY, Shape::smallest_length);
            let mass = self.masses[i].unwrap_or(f64::INFINITY);
            let kick: f64 = body.impulses.iter().map(|blow| blow.linear.length() / mass).sum();
            let (speed, spin) = (body.linear_velocity.length() + kick, body.angular_velocity.length());
            let limits = [
                (
                    0.5 * length / speed,
                    format!("it moves {:.3e} m a step, more than half of its smallest length of {length:.3e} m", speed * h),
                ),
                (0.5 / spin, format!("it turns {:.3} rad a step", spin * h)),
                (0.5 * (length / g).sqrt(), format!("it would fall its smallest length of {length:.3e} m within about a step")),
            ];
            if let Some((limit, message)) = limits.into_iter().filter(|l| l.0 < h).min_by(|a, b| a.0.total_cmp(&b.0)) {
                found.push((i, message, format!("use a time step of at most {limit:.1e} s instead of {h:e} s")));
            }
        }
        self.say_some(found);
        if self.scene.time.end < h {
            let message = format!("the run ends at {} s, before the first step of {h} s", self.scene.time.end);
            self.say(Severity::Fault, None, message, "use a smaller step or a later end");
        }
    }
}

fn mesh_cure(error: &ShapeError) -> &'static str {
    match error {
        ShapeError::InvertedMesh { .. } => "reverse the order of the vertices of each triangle",
        ShapeError::OpenMesh { .. } => "close the surface, or use kind = \"hull\"",
        _ => "give `mass`, `inertia` and `centre_of_mass`, or make it static",
    }
}

/// A length with four digits, in powers of ten only where it is small.
struct Short(f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 1e-3 { write!(f, "{:.3e}", self.0) } else { write!(f, "{}", (self.0 * 1e4).round() / 1e4) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<Finding> {
        let scene = Scene::from_toml(&format!("[time]\nstep = 1e-3\nend = 1.0\n{text}"), "t").unwrap_or_else(|e| panic!("{e}"));
        check(&scene).into_iter().filter(|f| f.severity == Severity::Fault).collect()
    }

    const FLOOR: &str = "[[bodies]]\nname = \"floor\"\nmotion = \"static\"\nshape = { kind = \"half_space\" }\n";
    const TETRAHEDRON: &str = "vertices = [[0,0,1],[1,0,1],[0,1,1],[0,0,2]]";

    #[test]
    fn built_in_scenes_have_no_faults() {
        for scene in crate::scenes::all() {
            let scene = Scene::load(&crate::io::scene::SceneSource::new(scene.name), &[]).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(check(&scene), [], "{}", scene.name);
        }
    }

    #[test]
    fn each_fault_names_the_body_and_the_cure() {
        let ball = |rest: &str| format!("{FLOOR}[[bodies]]\nname = \"ball\"\nshape = {{ kind = \"ball\", radius = 0.1 }}\n{rest}\n");
        let closed = "triangles = [[0,2,1],[0,1,3],[1,2,3],[2,0,3]]";
        let inverted = "triangles = [[0,1,2],[0,3,1],[1,3,2],[2,3,0]]";
        let mesh =
            |triangles: &str| format!("{FLOOR}[[bodies]]\nname = \"rock\"\nshape = {{ kind = \"mesh\", {TETRAHEDRON}, {triangles} }}\n");
        let two = "position = [0, 0, 0.1]\n[[bodies]]\nname = \"anvil\"\nshape = { kind = \"ball\", radius = 0.1 }\nposition = [0, 0, 0.3]\nmass = 1e8";
        let cases = [
            (ball("position = [0, 0, 0.05]"), "ball", "overlaps floor by 0.05 m", "move it by [0.000000, 0.000000, 0.050000] m"),
            (
                ball("position = [0, 0, 0.1]\n[[materials]]\nname = \"stone\"\ndensity = 2.4"),
                "ball",
                "density of 2.4 kg/m3",
                "\"2.4 t/m3\"",
            ),
            (ball("position = [0, 0, 0.1]\nvelocity = [200, 0, 0]"), "ball", "moves 2.000e-1 m a step", "at most 5.0e-4 s instead"),
            (ball("position = [0, 0, 0.1]\nangular_velocity = [1000, 0, 0]"), "ball", "turns 1.000 rad", "at most 5.0e-4 s"),
            (ball(two), "ball", "touches anvil", "below 1e6"),
            (
                ball("position = [0, 0, 9]").replace("radius = 0.1", "radius = 2000").replace("0, 0, 9", "0, 0, 2000"),
                "ball",
                "4.000e3 m large",
                "scale = 0.001",
            ),
            (ball("position = [0, 0, 1]").replace(FLOOR, ""), "ball", "nothing is below it", "half_space"),
            (mesh(inverted), "rock", "not positive", "reverse"),
            (mesh(&closed.replace(",[2,0,3]", "")), "rock", "do not belong to exactly two", "close the surface"),
        ];
        for (text, body, message, cure) in cases {
            let found = faults(&text);
            assert_eq!(found.len(), 1, "{message}: {found:?}");
            assert_eq!(found[0].body.as_deref(), Some(body));
            assert!(found[0].message.contains(message) && found[0].cure.contains(cure), "{}", found[0]);
        }
        assert_eq!(faults(&mesh(closed)), []);
        assert_eq!(faults(&ball("position = [0, 0, 0.1]")), [], "touching is no overlap");
    }

    #[test]
    fn gravity_in_centimetres_is_a_fault_of_the_scene() {
        let scene = format!("gravity = [0, 0, -981]\n[time]\nstep = 1e-4\nend = 1.0\n{FLOOR}");
        let found = check(&Scene::from_toml(&scene, "t").unwrap_or_else(|e| panic!("{e}")));
        assert!(found[0].body.is_none() && found[0].cure.contains("-9.81"));
    }

    #[test]
    fn terrain_that_looks_down_is_a_fault() {
        let sheet = |t: &str| {
            format!(
                "[[bodies]]\nname = \"sheet\"\nmotion = \"static\"\nshape = {{ kind = \"mesh\", vertices = [[0,0,0],[1,0,0],[0,1,0]], triangles = [{t}] }}\n"
            )
        };
        assert_eq!(faults(&sheet("[0, 1, 2]")), []);
        assert!(faults(&sheet("[0, 2, 1]"))[0].message.contains("fall through"));
    }
}
