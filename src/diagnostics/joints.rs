//! What the joints between blocks carry, and the mean stress of each block.
//!
//! ```text
//! force             F = Σ f              on the first body, over the contact points of a face: what pushes less what pulls, bonds among it
//! point of action   p = Σ f_n x / Σ f_n
//! edge stress       σ(x) = N/A (1 + A (x − c)ᵀ J⁻¹ (p − c))      linear over the polygon of the points, at its corners; J = ∫ (x−c)(x−c)ᵀ dA
//! opening, sliding  how far the two bodies have gone from each other since the start: along the normal where that is most, across it at p
//! turning           their angle against each other since the start, about axes in the joint
//! block stress      σ = Σ f ⊗ (c − x) / V                        Love–Weber over its joints; the weight acts at c and adds nothing
//! ```
//!
//! Compression is positive. The resultant lies in the kernel of a joint where no edge stress is negative. Forces are means over the last
//! step. Points of one pair whose normals differ are joints of their own.

use crate::algebra::spatial::Pose;
use crate::geometry::systems::{Collider, Proximity};
use crate::io::elevation::JointMark;
use crate::model::bond::Bond;
use crate::model::contact::{ContactPair, Manifold, Touch};
use crate::model::newton_euler::{BodyPose, Inertia};
use crate::model::scheme::Clock;
use crate::simulation::Simulation;
use bevy_ecs::prelude::Entity;
use glam::{DMat3, DQuat, DVec2, DVec3};
use std::collections::BTreeMap;

/// Normal forces of a joint whose sum is a smaller part of the largest one are a couple, which acts at no point: mortar bends a face without
/// pressing it, and what a solver leaves of the sum would put the point kilometres away.
pub(super) const COUPLE: f64 = 1e-4;
/// Largest gap of a joint that carries nothing, in parts of the smaller body's smallest length.
const NEAR: f64 = 0.1;
/// Cosine between normals of one joint.
const ONE_FACE: f64 = 0.999;
/// Opening or sliding, in parts of the smaller body's least extent, and turning (rad), from which on a joint has moved.
const MOVED: f64 = 1e-4;
/// Distance by which rounding may put a point of action out of its polygon, in parts of the distance between the contact points.
const ROUNDING: f64 = 1e-6;

/// A joint after a step.
///
/// ```no_run
/// # fn show(joint: &drystone::diagnostics::joints::JointState) {
/// println!("{} N, {} Pa at the most pressed edge", joint.normal, joint.edge_stress[1]);
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct JointState {
    /// Numbers of the two bodies; the normal points from the second to the first.
    pub bodies: [usize; 2],
    /// Unit normal (world).
    pub normal_axis: DVec3,
    /// Resultant on the first body (N, world).
    pub force: DVec3,
    /// Its part along the normal (N).
    pub normal: f64,
    /// Its part in the joint (N).
    pub shear: f64,
    /// Point of action (m, world), the middle of the points where nothing presses, or where mortar bears a couple alone.
    pub point: DVec3,
    /// Whether it lies in the polygon of the contact points: always where joints push alone, not where mortar pulls more than they do.
    pub acts_within: bool,
    /// Convex polygon of the contact points, in order (m, world).
    pub polygon: Vec<DVec3>,
    /// Its area (m²).
    pub area: f64,
    /// Distance of the point of action from its centroid (m).
    pub eccentricity: f64,
    /// Least and largest stress at its corners (Pa), by a linear course; not numbers where it has no area.
    pub edge_stress: [f64; 2],
    /// How far the bodies have gone apart since the start, at the contact point where that is most (m).
    pub opening: f64,
    /// How far one has slid over the other there since the start (m).
    pub sliding: f64,
    /// Angle by which the two bodies have turned against each other since the start, about axes in the joint (rad): a hinge opens so, also
    /// where the points that have come apart are out of reach.
    pub turning: f64,
    /// Damage of what binds the two bodies there, the mean over its area; not a number where nothing ever did.
    pub damage: f64,
}

impl JointState {
    /// Whether the resultant lies in the kernel; none where nothing presses or the joint has no area.
    pub fn in_kernel(&self) -> Option<bool> {
        (self.normal > 0.0 && self.edge_stress[0].is_finite()).then_some(self.edge_stress[0] >= 0.0)
    }

    /// What it does, between bodies of which the smaller one has this least extent (m): slides, or turns as a hinge, where it is pressed and
    /// has moved by 1e-4 of that; open where nothing holds it any more; else damaged, if what binds it is; else whether the resultant lies
    /// in the kernel. A sound bond that pulls counts as outside of the kernel.
    pub fn mark(&self, size: f64) -> JointMark {
        let pressed = self.normal > 0.0;
        let carries = pressed || self.damage < 1.0 && self.force != DVec3::ZERO;
        let slides = self.sliding > MOVED * size && self.sliding > size * self.turning;
        if pressed && slides {
            JointMark::Slides
        } else if pressed && self.turning > MOVED {
            JointMark::Hinge
        } else if !carries && self.opening > MOVED * size {
            JointMark::Opens
        } else if self.damage > 0.0 {
            JointMark::Cracked
        } else if !carries {
            JointMark::Unloaded
        } else if self.in_kernel() == Some(true) {
            JointMark::Pressed
        } else {
            JointMark::Eccentric
        }
    }
}

/// All joints after a step, in the order of their bodies. `entities` are the bodies and `starts` their poses at the start; pairs with a
/// body that is not among them are left out.
///
/// ```
/// use drystone::{diagnostics::joints::joints, simulation::Simulation};
/// assert!(joints(&Simulation::default(), &[], &[]).is_empty());
/// ```
pub fn joints(simulation: &Simulation, entities: &[Entity], starts: &[Option<Pose>]) -> Vec<JointState> {
    let world = simulation.world();
    let Clock { last: h, measure, .. } = *world.resource::<Clock>();
    if h <= 0.0 {
        return Vec::new();
    }
    let numbers: BTreeMap<Entity, usize> = entities.iter().enumerate().map(|(k, &e)| (e, k)).collect();
    let mut bonds: BTreeMap<[Entity; 2], Vec<&Bond>> = BTreeMap::new();
    if let Some(mut query) = world.try_query::<&Bond>() {
        query.iter(world).for_each(|bond| bonds.entry(bond.bodies).or_default().push(bond));
    }
    let mut found = Vec::new();
    for &(.., entity) in world.resource::<Proximity>().pairs() {
        let (Some(pair), Some(manifold)) = (world.get::<ContactPair>(entity), world.get::<Manifold>(entity)) else { continue };
        let [Some(&one), Some(&two)] = pair.bodies.map(|body| numbers.get(&body)) else { continue };
        let since_start = |k: usize| {
            let now = entities.get(k).and_then(|e| world.get::<BodyPose>(*e)).map(|p| p.0);
            now.zip(starts.get(k).copied().flatten())
        };
        let mut left: Vec<&Touch> = manifold.points.iter().filter(|t| carries(t) || t.gap <= NEAR * pair.size).collect();
        while let Some(first) = left.first() {
            let normal = first.normal;
            let (face, rest): (Vec<&Touch>, Vec<&Touch>) = left.iter().partition(|t| t.normal.dot(normal) > ONE_FACE);
            left = rest;
            let pull = pair.pull(&manifold.points);
            let force = |touch: &Touch| {
                let push = if carries(touch) { touch.reaction / measure } else { DVec3::ZERO };
                push - pull(touch) * touch.normal
            };
            let loaded: Vec<(DVec3, DVec3)> = face.into_iter().map(|t| (place(t), force(t))).collect();
            let pose = world.get::<BodyPose>(pair.bodies[0]).map(|p| p.0);
            let bond = pose.and_then(|pose| {
                let holds = |bond: &&&Bond| pose.vector(bond.normal).dot(normal) > ONE_FACE;
                bonds.get(&pair.bodies)?.iter().find(holds).map(|bond| (pose, *bond))
            });
            let held: Vec<(DVec3, DVec3)> =
                bond.iter().flat_map(|(pose, bond)| bond.points.iter().map(|p| (pose.point(p.places[0]), p.impulse / h))).collect();
            let state = joint([one, two], normal, (&loaded, &held), [since_start(one), since_start(two)]);
            found.push(JointState { damage: bond.map_or(f64::NAN, |(_, bond)| bond.damage()), ..state });
        }
    }
    found.sort_by_key(|joint| joint.bodies);
    found
}

fn carries(touch: &Touch) -> bool {
    touch.active && touch.reaction.dot(touch.normal) > 0.0
}

fn place(t: &Touch) -> DVec3 {
    let [one, two] = t.places();
    0.5 * (one + two)
}

/// `face` are the points of the joint and `held` those of its bond, each with the force on the first body there (N).
fn joint(
    bodies: [usize; 2],
    normal: DVec3,
    (face, held): (&[(DVec3, DVec3)], &[(DVec3, DVec3)]),
    ways: [Option<(Pose, Pose)>; 2],
) -> JointState {
    let (mut force, mut pressed, mut most, mut moment) = (DVec3::ZERO, 0.0, 0.0f64, DVec3::ZERO);
    for (place, on_first) in face.iter().chain(held) {
        let press = on_first.dot(normal);
        force += *on_first;
        pressed += press;
        most = most.max(press.abs());
        moment += press * *place;
    }
    let points: Vec<DVec3> = face.iter().map(|(place, _)| *place).collect();
    let middle = points.iter().sum::<DVec3>() / points.len() as f64;
    let presses = pressed.abs() > COUPLE * most && (pressed > 0.0 || !held.is_empty());
    let point = if presses { moment / pressed } else { middle };
    let outline = Outline::of(&points, normal);
    let along = force.dot(normal);
    // from where the point of the first body that is at p now was at the start to that of the second
    let apart = |p: DVec3| {
        let [one, two] = ways.map(|way| way.map_or(p, |(now, start)| start.point(now.local_point(p))));
        two - one
    };
    let axis = ways[0].map_or(normal, |(now, start)| start.vector(now.local_vector(normal)));
    let slid = apart(point);
    let turned = ways.map(|way| way.map_or(DQuat::IDENTITY, |(now, start)| now.rotation * start.rotation.inverse()));
    let turn = rotation_vector(turned[0].inverse() * turned[1]);
    let opening = points.iter().map(|p| apart(*p).dot(axis)).fold(f64::NEG_INFINITY, f64::max);
    JointState {
        bodies,
        normal_axis: normal,
        force,
        normal: along,
        shear: (force - along * normal).length(),
        point,
        acts_within: outline.holds(point),
        area: outline.area,
        eccentricity: outline.local(point).distance(outline.centroid),
        edge_stress: outline.stress(along, point),
        polygon: outline.corners(),
        opening,
        sliding: (slid - slid.dot(axis) * axis).length(),
        turning: (turn - turn.dot(axis) * axis).length(),
        damage: f64::NAN,
    }
}

/// Axis times angle (rad), the shorter way round.
fn rotation_vector(q: DQuat) -> DVec3 {
    let (v, w) = if q.w < 0.0 { (-q.xyz(), -q.w) } else { (q.xyz(), q.w) };
    let sine = v.length();
    if sine > 0.0 { v * (2.0 * libm::atan2(sine, w) / sine) } else { DVec3::ZERO }
}

/// A convex polygon in its plane.
struct Outline {
    origin: DVec3,
    axes: [DVec3; 2],
    /// counter-clockwise
    hull: Vec<DVec2>,
    area: f64,
    centroid: DVec2,
    /// ∫ x², ∫ xy, ∫ y² about the centroid (m⁴)
    moments: [f64; 3],
}

impl Outline {
    fn of(points: &[DVec3], normal: DVec3) -> Self {
        let (u, v) = crate::algebra::spatial::tangents(normal);
        let origin = points.first().copied().unwrap_or_default();
        let mut outline = Self { origin, axes: [u, v], hull: Vec::new(), area: 0.0, centroid: DVec2::ZERO, moments: [0.0; 3] };
        let flat: Vec<DVec2> = points.iter().map(|p| outline.local(*p)).collect();
        outline.hull = hull(&flat);
        outline.centroid = flat.iter().sum::<DVec2>() / flat.len().max(1) as f64;
        if outline.hull.len() > 2 {
            outline.measure();
        }
        outline
    }

    fn local(&self, p: DVec3) -> DVec2 {
        DVec2::new((p - self.origin).dot(self.axes[0]), (p - self.origin).dot(self.axes[1]))
    }

    fn corners(&self) -> Vec<DVec3> {
        self.hull.iter().map(|p| self.origin + p.x * self.axes[0] + p.y * self.axes[1]).collect()
    }

    /// Whether a point lies in it, but for rounding.
    fn holds(&self, point: DVec3) -> bool {
        let p = self.local(point);
        let sides = || self.hull.iter().zip(self.hull.iter().cycle().skip(1));
        let extent = self.hull.iter().map(|q| q.distance(self.hull[0])).fold(0.0, f64::max);
        let from = |(a, b): (&DVec2, &DVec2)| {
            let share = (p - *a).dot(*b - *a) / a.distance_squared(*b).max(f64::MIN_POSITIVE);
            p.distance(a.lerp(*b, share.clamp(0.0, 1.0)))
        };
        let inside = self.hull.len() > 2 && sides().all(|(a, b)| (*b - *a).perp_dot(p - *a) >= 0.0);
        inside || sides().any(|side| from(side) <= ROUNDING * extent)
    }

    /// Area, centroid and moments by triangles from the first corner.
    fn measure(&mut self) {
        let base = self.hull[0];
        let triangles = || self.hull.windows(2).skip(1).map(|w| (w[0] - base, w[1] - base));
        let area = triangles().map(|(a, b)| 0.5 * a.perp_dot(b)).sum::<f64>();
        if area <= 0.0 {
            return;
        }
        let first = triangles().map(|(a, b)| 0.5 * a.perp_dot(b) * (a + b) / 3.0).sum::<DVec2>() / area;
        // ∫ over a triangle with a corner at 0: A/6 (aᵢaⱼ + bᵢbⱼ) + A/12 (aᵢbⱼ + bᵢaⱼ)
        let second = |i: usize, j: usize| {
            let part =
                |(a, b): (DVec2, DVec2)| 0.5 * a.perp_dot(b) * ((a[i] * a[j] + b[i] * b[j]) / 6.0 + (a[i] * b[j] + b[i] * a[j]) / 12.0);
            triangles().map(part).sum::<f64>() - area * first[i] * first[j]
        };
        self.moments = [second(0, 0), second(0, 1), second(1, 1)];
        (self.area, self.centroid) = (area, base + first);
    }

    /// Least and largest stress at the corners under a normal force at a point.
    fn stress(&self, force: f64, point: DVec3) -> [f64; 2] {
        let [xx, xy, yy] = self.moments;
        let determinant = xx * yy - xy * xy;
        if self.area <= 0.0 || determinant <= 0.0 {
            return [f64::NAN; 2];
        }
        let e = self.local(point) - self.centroid;
        let slope = DVec2::new(yy * e.x - xy * e.y, xx * e.y - xy * e.x) / determinant;
        let at = |corner: &DVec2| force / self.area + force * slope.dot(*corner - self.centroid);
        self.hull.iter().map(at).fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], s| [low.min(s), high.max(s)])
    }
}

/// The convex hull of points in a plane, counter-clockwise (Andrew's monotone chain).
fn hull(points: &[DVec2]) -> Vec<DVec2> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    sorted.dedup();
    if sorted.len() < 3 {
        return sorted;
    }
    let half = |points: &mut dyn Iterator<Item = &DVec2>| {
        let mut chain: Vec<DVec2> = Vec::new();
        for &p in points {
            while let [.., a, b] = chain[..]
                && (b - a).perp_dot(p - b) <= 0.0
            {
                chain.pop();
            }
            chain.push(p);
        }
        chain.pop();
        chain
    };
    let mut hull = half(&mut sorted.iter());
    hull.extend(half(&mut sorted.iter().rev()));
    hull
}

/// Mean stress of a block after a step (Pa), rows by force and columns by arm: number of the body, and the stress. Bodies without a volume
/// and those on which nothing presses are left out.
///
/// ```
/// use drystone::{diagnostics::joints::block_stresses, simulation::Simulation};
/// assert!(block_stresses(&Simulation::default(), &[]).is_empty());
/// ```
pub fn block_stresses(simulation: &Simulation, entities: &[Entity]) -> Vec<(usize, DMat3)> {
    let world = simulation.world();
    let measure = world.resource::<Clock>().measure;
    let mut sums: BTreeMap<Entity, DMat3> = BTreeMap::new();
    for &(.., entity) in world.resource::<Proximity>().pairs() {
        let (Some(pair), Some(manifold)) = (world.get::<ContactPair>(entity), world.get::<Manifold>(entity)) else { continue };
        for (body, sign) in pair.bodies.into_iter().zip([1.0, -1.0]) {
            let Some(pose) = world.get::<BodyPose>(body).filter(|_| world.get::<Inertia>(body).is_some()) else { continue };
            for (touch, force) in pair.forces(&manifold.points, measure) {
                let [one, two] = touch.places();
                let (force, arm) = (sign * force, pose.0.position - 0.5 * (one + two));
                *sums.entry(body).or_insert(DMat3::ZERO) += DMat3::from_cols(force * arm.x, force * arm.y, force * arm.z);
            }
        }
    }
    let volume = |e: &Entity| world.get::<Collider>(*e).and_then(|c| c.shape.mass_properties(1.0).ok()).map(|p| p.mass);
    let of = |(k, e): (usize, &Entity)| Some((k, *sums.get(e)? * (1.0 / volume(e).filter(|v| *v > 0.0)?)));
    entities.iter().enumerate().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::scene::Scene;
    use crate::setup::build;

    fn rectangle(sides: DVec2) -> Vec<DVec3> {
        let corner = |x: f64, y: f64| DVec3::new(x * sides.x, y * sides.y, 0.3);
        vec![corner(0.0, 0.0), corner(1.0, 1.0), corner(0.0, 1.0), corner(0.5, 0.5), corner(1.0, 0.0)]
    }

    #[test]
    fn a_rectangle_has_the_stress_of_the_formula_and_its_kernel_is_a_sixth() {
        let (sides, force) = (DVec2::new(0.4, 0.2), 300.0);
        let outline = Outline::of(&rectangle(sides), DVec3::Z);
        let area = 0.08;
        assert!((outline.area - area).abs() < 1e-15 && outline.corners().len() == 4);
        for (e, factor) in [(0.0, 0.0), (0.4 / 6.0, 1.0), (0.1, 1.5)] {
            let [low, high] = outline.stress(force, DVec3::new(0.2 + e, 0.1, 0.3));
            let mean = force / area;
            assert!(
                (low - mean * (1.0 - factor)).abs() < 1e-9 * mean && (high - mean * (1.0 + factor)).abs() < 1e-9 * mean,
                "{low} {high}"
            );
        }
        // across a corner of the rectangle both parts add
        let [low, _] = outline.stress(force, DVec3::new(0.2 + 0.02, 0.1 - 0.01, 0.3));
        assert!((low - force / area * (1.0 - 0.3 - 0.3)).abs() < 1e-6, "{low}");
        assert!(Outline::of(&rectangle(sides)[..1], DVec3::Z).stress(force, DVec3::ZERO)[0].is_nan());
    }

    #[test]
    fn points_outside_of_a_polygon_a_line_and_a_point_are_told() {
        let square = Outline::of(&rectangle(DVec2::new(0.4, 0.2)), DVec3::Z);
        let at = |x: f64, y: f64| DVec3::new(x, y, 0.3);
        assert!([at(0.2, 0.1), at(0.4, 0.1), at(0.4 + 1e-8, 0.2)].iter().all(|p| square.holds(*p)));
        assert!([at(0.41, 0.1), at(0.2, -0.01), at(-5.0, 0.1)].iter().all(|p| !square.holds(*p)));
        let line = Outline::of(&[at(0.0, 0.0), at(0.4, 0.0)], DVec3::Z);
        assert!(line.holds(at(0.3, 0.0)) && !line.holds(at(0.5, 0.0)) && !line.holds(at(0.3, 0.1)));
        let corner = Outline::of(&[at(0.1, 0.1)], DVec3::Z);
        assert!(corner.holds(at(0.1, 0.1)) && !corner.holds(at(0.1, 0.2)));
    }

    #[test]
    fn a_joint_is_marked_by_what_it_does() {
        let square = rectangle(DVec2::ONE).into_iter().map(|p| (p, DVec3::Z)).collect::<Vec<_>>();
        let dry = joint([0, 1], DVec3::Z, (&square, &[]), [None, None]);
        let pulled = JointState { normal: -1.0, force: DVec3::NEG_Z, damage: 0.0, ..dry.clone() };
        let nothing = JointState { normal: 0.0, force: DVec3::ZERO, ..dry.clone() };
        assert!(dry.acts_within && dry.damage.is_nan());
        for (state, mark) in [
            (dry.clone(), JointMark::Pressed),
            (JointState { edge_stress: [-1.0, 2.0], ..dry.clone() }, JointMark::Eccentric),
            (JointState { turning: 2e-4, ..dry.clone() }, JointMark::Hinge),
            (JointState { sliding: 2e-4, turning: 1e-5, ..dry.clone() }, JointMark::Slides),
            (nothing.clone(), JointMark::Unloaded),
            (JointState { opening: 1.0, ..nothing.clone() }, JointMark::Opens),
            // mortar: sound, damaged while it presses or pulls, broken and still closed; what has moved is told before the damage
            (pulled.clone(), JointMark::Eccentric),
            (JointState { damage: 0.1, ..dry.clone() }, JointMark::Cracked),
            (JointState { damage: 0.1, opening: 1.0, ..pulled }, JointMark::Cracked),
            (JointState { damage: 1.0, ..nothing.clone() }, JointMark::Cracked),
            (JointState { damage: 1.0, opening: 1.0, ..nothing }, JointMark::Opens),
            (JointState { damage: 0.1, turning: 2e-4, ..dry }, JointMark::Hinge),
        ] {
            assert_eq!(state.mark(1.0), mark, "{state:?}");
        }
    }

    #[test]
    fn a_hinge_has_turned_by_its_angle_and_a_twist_about_the_normal_is_none() {
        let at = |axis: DVec3, angle: f64| {
            let now = Pose { rotation: DQuat::from_axis_angle(axis, angle), ..Pose::IDENTITY };
            let start = Pose { rotation: DQuat::from_axis_angle(DVec3::X, 0.4), ..Pose::IDENTITY };
            let turned = Pose { rotation: now.rotation * start.rotation, ..start };
            joint([0, 1], DVec3::Z, (&[(DVec3::ZERO, DVec3::Z)], &[]), [Some((turned, start)), None]).turning
        };
        assert!((at(DVec3::Y, 0.02) - 0.02).abs() < 1e-12 && (at(DVec3::X, 0.3) - 0.3).abs() < 1e-12);
        assert!(at(DVec3::Z, 0.3) < 1e-12);
    }

    #[test]
    fn a_tower_has_the_forces_and_stresses_of_statics() {
        let (n, side, density, shift) = (6, 0.5, 2000.0, 0.01);
        let mut text = "[time]\nstep = 0.002\nend = 0.1\n[solver]\ntolerance = 1e-12\n[[materials]]\nname = \"stone\"\ndensity = 2000\n\
            [[bodies]]\nname = \"ground\"\nshape = { kind = \"half_space\" }\nmotion = \"static\"\n"
            .to_owned();
        for k in 0..n {
            let (x, z) = (shift * f64::from(k), side * (f64::from(k) + 0.5));
            text += &format!("[[bodies]]\nname = \"b{k}\"\nshape = {{ kind = \"cuboid\", size = [{side}, {side}, {side}] }}\n");
            text += &format!("position = [{x}, 0, {z}]\n");
        }
        let scene = Scene::from_toml(&text, "tower").unwrap_or_else(|e| panic!("{e}"));
        let mut built = build(&scene).unwrap_or_else(|e| panic!("{e}"));
        let starts: Vec<Option<Pose>> = built.entities.iter().map(|e| built.simulation.world().get::<BodyPose>(*e).map(|p| p.0)).collect();
        for _ in 0..50 {
            built.simulation.step().unwrap_or_else(|e| panic!("{e}"));
        }
        let joints = joints(&built.simulation, &built.entities, &starts);
        assert_eq!(joints.len(), n as usize);
        let weight = density * side.powi(3) * 9.81;
        for joint in &joints {
            // blocks above the joint
            let lower = joint.bodies[0].min(joint.bodies[1]);
            let above = f64::from(n) - lower as f64;
            let load = above * weight;
            assert!((joint.normal / load - 1.0).abs() < 1e-9 && joint.shear < 1e-6, "{joint:?}");
            // the resultant stands under the middle of what is above
            let x = shift * (lower as f64 + 0.5 * (above - 1.0));
            assert!((joint.point.x - x).abs() < 1e-6 && joint.point.y.abs() < 1e-6, "{joint:?}");
            assert!(joint.opening.abs() < 1e-9 && joint.sliding < 1e-9 && joint.in_kernel() == Some(true), "{joint:?}");
            assert!(joint.turning < 1e-9, "{joint:?}");
        }
        let blocks = block_stresses(&built.simulation, &built.entities);
        assert_eq!(blocks.len(), n as usize);
        for (k, stress) in blocks {
            let expected = (f64::from(n) - k as f64 + 0.5) * weight / side.powi(2);
            assert!((stress.z_axis.z / expected - 1.0).abs() < 1e-9, "{k} {stress}");
        }
    }
}
