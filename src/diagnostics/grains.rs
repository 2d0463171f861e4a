//! Measures of granular matter: functions over plain lists of grains and of the forces between them.
//!
//! ```text
//! coordination            Z = Σ neighbours / N               mechanical (Thornton 2000): Z_m = (2C − N₁)/(N − N₀ − N₁)
//! fabric                  F = Σ n ⊗ n / C
//! Love–Weber stress       σ = Σ_grains Σ_contacts f ⊗ (x − p) / V          compression positive, wall contacts as any other
//! granular temperature    T = Σ |v − v̄|² / 3N                              v against the flow of a sheared cell
//! unbalanced force        U = mean |m (v⁺ − v)/h| / mean |f|
//! solid fraction          φ = Σ |ball ∩ box| / |box|
//! ```
//!
//! N grains have C neighbours in sum (a neighbour that is a wall counts as one); N₀ and N₁ of them have none and one. Contacts are points that
//! bear a force, whether it presses or holds (adhesion also at a distance); a pair that mortar or a neck holds has one, with the sum of its
//! forces. Forces are means over the last step, p is where a force acts, x − p that of the start of the step, for which forces are found: so
//! the stress is the same in a frame that moves on. By ½ Σ over pairs it is Σ f ⊗ (x₁ − x₂)/V. m (v⁺ − v)/h is the resultant of all that acts
//! on a grain in the step, impacts, blows, loads, joints and locked axes with it; with a moving base it is that against the base. |f| is the mean
//! over contacts and over joints that bear a force, a stop, motor or spring of a joint for itself: so what hangs in joints alone has its U too.

use super::structure::flow;
use crate::assembly::problem::StepProblem;
use crate::geometry::Shape;
use crate::geometry::systems::{Collider, Proximity, Wall};
use crate::model::bond::Bond;
use crate::model::contact::{ContactPair, Manifold};
use crate::model::flow::Region;
use crate::model::interaction::{Interaction, OfBodies};
use crate::model::joint::Freedom;
use crate::model::newton_euler::{BodyPose, Inertia, Velocity};
use crate::model::periodic::Cell;
use crate::model::relation::Relation;
use crate::model::scheme::{Clock, Scheme};
use crate::simulation::Simulation;
use crate::topology::bodies::{Bodies, Slot};
use bevy_ecs::prelude::With;
use glam::{BVec3, DMat3, DVec3};

/// A body that takes part.
///
/// ```
/// assert_eq!(drystone::diagnostics::grains::Grain::default().mass, 0.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Grain {
    /// Centre of mass (m).
    pub position: DVec3,
    /// Of the centre (m/s).
    pub velocity: DVec3,
    /// kg
    pub mass: f64,
    /// m³
    pub volume: f64,
    /// Of a ball (m).
    pub radius: Option<f64>,
    /// Lowest and highest corner of its box along the axes, from the centre (m).
    pub reach: [DVec3; 2],
    /// Of all that acts on it, mean over the last step: m (v⁺ − v)/h (N); not a number before a step.
    pub resultant: DVec3,
}

impl Grain {
    /// Of a grain that is no ball that of the ball of its volume (m).
    pub fn diameter(&self) -> f64 {
        2.0 * self.radius.unwrap_or_else(|| libm::cbrt(0.75 / std::f64::consts::PI * self.volume))
    }
}

/// A force between a grain and a neighbour.
///
/// ```
/// use drystone::diagnostics::grains::Link;
/// use glam::DVec3;
/// let on_the_floor = Link { grains: [Some(0), None], arms: [-0.1 * DVec3::Z; 2], normal: DVec3::Z, force: DVec3::Z, ..Link::default() };
/// assert_eq!(on_the_floor.grains[1], None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Link {
    /// Numbers of the grains; none for a wall, or for a grain outside the region.
    pub grains: [Option<usize>; 2],
    /// Slots of the two bodies.
    pub slots: [u32; 2],
    /// Where it acts, from the centre of either body (m), as they stood at the start of the step.
    pub arms: [DVec3; 2],
    /// From the second to the first, unit.
    pub normal: DVec3,
    /// On the first (N).
    pub force: DVec3,
    /// Whether mortar or a neck holds the pair.
    pub bonded: bool,
}

impl Link {
    /// The grains that it acts on, with the force (N) on each and where it acts from their centres (m).
    pub fn ends(&self) -> impl Iterator<Item = (usize, DVec3, DVec3)> + use<> {
        let ends = [(self.force, self.arms[0]), (-self.force, self.arms[1])];
        self.grains.into_iter().zip(ends).filter_map(|(grain, (force, arm))| Some((grain?, force, arm)))
    }
}

/// Grains, and the forces that act on them.
///
/// ```
/// use drystone::{diagnostics::grains::Packing, prelude::*};
/// let mut sim = Simulation::default();
/// sim.spawn_body(Body::new(Shape::half_space(DVec3::Z)?).fixed())?;
/// sim.spawn_body(Body::new(Shape::ball(0.1)?).mass(2.0).at(DVec3::Z * 0.1))?;
/// sim.run_until(0.1)?;
/// let packing = Packing::of(&sim, None);
/// assert_eq!((packing.grains.len(), packing.coordination().mean), (1, 1.0));
/// assert!((packing.stress(1.0).z_axis.z - 2.0 * 9.81 * 0.1).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Packing {
    /// In slot order.
    pub grains: Vec<Grain>,
    /// One per point at which a contact or a bond bears a force, those of one pair one after the other.
    pub links: Vec<Link>,
    /// What joints, their stops, motors and springs bear (N, more than 0), with the numbers of their grains.
    pub joints: Vec<([Option<usize>; 2], f64)>,
    /// In which grains stand.
    pub cell: Cell,
}

/// How many neighbours grains have.
///
/// ```
/// assert_eq!(drystone::diagnostics::grains::Coordination::default().rattlers, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Coordination {
    /// Over all grains; not a number without any.
    pub mean: f64,
    /// Without grains that have one neighbour or none, and without their contacts.
    pub mechanical: f64,
    /// Grains with one neighbour or none.
    pub rattlers: usize,
}

/// What a joint, or something on its coordinate, has pushed or pulled with in the step (N s); turning about an axis is no force.
fn force_in(part: &Interaction) -> f64 {
    let along = match &part.relation {
        Relation::Joint(joint) => joint.kind.translations(),
        Relation::Coordinate(q) if q.freedom != Freedom::Angle => 1,
        _ => 0,
    };
    part.lambda.iter().take(along).map(|x| x * x).sum::<f64>().sqrt()
}

impl Packing {
    /// Dynamic bodies but walls that a servo moves, whose centre lies in the region, and the contacts of the last step on them.
    pub fn of(simulation: &Simulation, region: Option<&Region>) -> Self {
        let mut whole = Self::default();
        whole.update(simulation);
        match region {
            None => whole,
            Some(region) => whole.within(region),
        }
    }

    /// All grains and contacts as they are now, in the room of those that it had.
    pub fn update(&mut self, simulation: &Simulation) {
        let world = simulation.world();
        let cell = world.resource::<Scheme>().cell;
        let Clock { last: h, measure, .. } = *world.resource::<Clock>();
        let Self { grains, links, joints, .. } = self;
        self.cell = cell;
        grains.clear();
        links.clear();
        joints.clear();
        let rows = &world.resource::<Bodies>().rows;
        // of each slot
        let mut numbers: Vec<Option<usize>> = vec![None; rows.len()];
        let there = rows.iter().enumerate().filter(|(_, row)| row.alive).filter_map(|(slot, row)| Some((slot, row, row.entity?)));
        // without such components there is nothing to look at
        let Some(bodies) = world.try_query::<(&BodyPose, &Velocity, &Inertia)>() else { return };
        for (slot, row, entity) in there {
            let Ok((pose, velocity, inertia)) = bodies.get_manual(world, entity) else { continue };
            if world.get::<Wall>(entity).is_some() {
                continue;
            }
            let home = cell.home(pose.0.position).0;
            let position = pose.0.position + home;
            let collider = world.get::<Collider>(entity);
            let radius = collider.and_then(|c| if let Shape::Ball { radius } = c.shape { Some(radius) } else { None });
            let volume = collider.and_then(|c| c.shape.volume().ok()).unwrap_or(0.0);
            let reach = match (radius, collider) {
                (Some(radius), _) => [DVec3::splat(-radius), DVec3::splat(radius)],
                (None, Some(c)) => <[DVec3; 2]>::from(c.shape.aabb(&pose.0.compose(&c.offset))).map(|x| x - pose.0.position),
                (None, None) => [DVec3::ZERO; 2],
            };
            let resultant = row.gained.map_or(DVec3::NAN, |gained| inertia.mass * gained / h);
            numbers[slot] = Some(grains.len());
            let velocity = velocity.linear + cell.drift(home);
            grains.push(Grain { position, velocity, mass: inertia.mass, volume, radius, reach, resultant });
        }
        if h <= 0.0 {
            return;
        }
        let numbered = |slots: [u32; 2]| slots.map(|slot| numbers.get(slot as usize).copied().flatten());
        if let Some(pairs) = world.try_query::<(&ContactPair, &Manifold)>() {
            for &(.., entity) in world.resource::<Proximity>().pairs() {
                let Ok((pair, manifold)) = pairs.get_manual(world, entity) else { continue };
                let (slots, grains) = (pair.slots, numbered(pair.slots));
                if manifold.points.is_empty() || grains == [None; 2] {
                    continue;
                }
                let centre = |slot: u32| rows.get(slot as usize).map_or(DVec3::ZERO, |row| row.pose.position);
                links.extend(pair.forces(&manifold.points, measure).map(|(touch, force)| {
                    let [one, two] = pair.places(touch);
                    let arms = [one - centre(slots[0]), two - centre(slots[1])];
                    Link { grains, slots, arms, normal: touch.normal, force, bonded: false }
                }));
            }
        }
        if let Some(mut parts) = world.try_query_filtered::<&Interaction, With<OfBodies>>() {
            let number =
                |part: &Interaction, k: usize| part.systems.get(k).and_then(|&e| *numbers.get(world.get::<Slot>(e)?.0 as usize)?);
            let borne = parts.iter(world).map(|part| ([number(part, 0), number(part, 1)], force_in(part) / measure));
            joints.extend(borne.filter(|(grains, force)| *grains != [None; 2] && *force > 0.0));
            // whatever the order of the world, the sum is the same
            joints.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        }
        let contacts = links.len();
        for (entity, point, _) in world.resource::<StepProblem>().bonded_points() {
            let Some(bond) = world.get::<Bond>(entity) else { continue };
            let [Some(&Slot(one)), Some(&Slot(two))] = bond.bodies.map(|body| world.get::<Slot>(body)) else { continue };
            let (Some(first), Some(second), Some(point)) = (rows.get(one as usize), rows.get(two as usize), bond.points.get(point)) else {
                continue;
            };
            let (slots, force) = ([one, two], point.impulse / h);
            let grains = numbered(slots);
            if grains != [None; 2] {
                let turns = [first, second].map(|row| row.frame.rotation);
                let arms = [turns[0] * point.places[0], turns[1] * point.places[1]];
                links.push(Link { grains, slots, arms, normal: turns[0] * bond.normal, force, bonded: true });
            }
        }
        if links.len() > contacts {
            links.sort_by_key(|link| link.slots);
            for pair in links.chunk_by_mut(|a, b| a.slots == b.slots) {
                let bonded = pair.iter().any(|link| link.bonded);
                pair.iter_mut().for_each(|link| link.bonded = bonded);
            }
            links.retain(|link| link.force != DVec3::ZERO);
        }
    }

    /// The grains whose centre lies in the region, and the contacts on them.
    #[must_use]
    pub fn within(&self, region: &Region) -> Self {
        let (mut packing, mut numbers) = (Self { cell: self.cell, ..Self::default() }, Vec::new());
        for grain in &self.grains {
            let inside = region.holds(grain.position);
            numbers.push(inside.then_some(packing.grains.len()));
            packing.grains.extend(inside.then_some(*grain));
        }
        let links = self.links.iter().map(|link| Link { grains: link.grains.map(|grain| grain.and_then(|k| numbers[k])), ..*link });
        packing.links.extend(links.filter(|link| link.grains != [None; 2]));
        let joints = self.joints.iter().map(|(grains, force)| (grains.map(|grain| grain.and_then(|k| numbers[k])), *force));
        packing.joints.extend(joints.filter(|(grains, _)| *grains != [None; 2]));
        packing
    }

    /// Where a link acts (m), carried on by its first grain since the step began; not a number of one without grains.
    pub fn place(&self, link: &Link) -> DVec3 {
        link.ends().next().map_or(DVec3::NAN, |(grain, _, arm)| self.grains[grain].position + arm)
    }

    /// Normal and force (N) of each contact, from the second to the first and on the first: of each point that bears a force, of a pair that
    /// mortar or a neck holds the sum.
    pub fn contacts(&self) -> impl Iterator<Item = (DVec3, DVec3)> {
        let same = |a: &Link, b: &Link| a.bonded && b.bonded && a.slots == b.slots;
        self.links.chunk_by(same).map(|points| (points[0].normal, points.iter().map(|link| link.force).sum()))
    }

    /// Neighbours of each grain, a pair that touches at several points counted once.
    fn neighbours(&self) -> Vec<u32> {
        let mut count = vec![0; self.grains.len()];
        let pairs = self.links.chunk_by(|a, b| a.slots == b.slots);
        pairs.flat_map(|points| points[0].grains.into_iter().flatten()).for_each(|grain| count[grain] += 1);
        count
    }

    /// Mean number of neighbours, with rattlers and without.
    pub fn coordination(&self) -> Coordination {
        let count = self.neighbours();
        let (n, all) = (count.len() as f64, f64::from(count.iter().sum::<u32>()));
        let of = |k: u32| count.iter().filter(|c| **c == k).count();
        let (none, one) = (of(0), of(1));
        let mechanical = (all - one as f64) / (n - (none + one) as f64);
        Coordination { mean: all / n, mechanical, rattlers: none + one }
    }

    /// Fabric tensor of the contact normals: symmetric, of trace 1; not a number without contacts.
    pub fn fabric(&self) -> DMat3 {
        let (sum, count) = self.contacts().fold((DMat3::ZERO, 0.0), |(sum, count), (n, _)| (sum + outer(n, n), count + 1.0));
        sum * (1.0 / count)
    }

    /// Love–Weber stress (Pa) over a volume (m³), rows by force and columns by branch; compression is positive. In rest it is symmetric.
    pub fn stress(&self, volume: f64) -> DMat3 {
        let ends = self.links.iter().flat_map(Link::ends);
        let sum = ends.fold(DMat3::ZERO, |sum, (_, force, arm)| sum + outer(force, -arm));
        sum * (1.0 / volume)
    }

    /// Centre of mass of the grains (m); not a number without any, and along axes of a periodic cell, which has no middle.
    pub fn centre(&self) -> DVec3 {
        let mass: f64 = self.grains.iter().map(|g| g.mass).sum();
        let mean = self.grains.iter().map(|g| g.mass * g.position).sum::<DVec3>() / mass;
        DVec3::from_array([0, 1, 2].map(|a| if self.cell.periodic(a) { f64::NAN } else { mean[a] }))
    }

    /// Granular temperature (m²/s²): a third of the mean square of the velocities about their mean, in a sheared cell of those against its flow.
    pub fn temperature(&self) -> f64 {
        let n = self.grains.len() as f64;
        let velocities = || self.grains.iter().map(|g| g.velocity - self.cell.flow(g.position));
        let mean = velocities().sum::<DVec3>() / n;
        velocities().map(|v| (v - mean).length_squared()).sum::<f64>() / (3.0 * n)
    }

    /// Mean resultant of all that acts on a grain over the mean force of contacts and joints: 0 in rest, not a number where neither bear a force
    /// or before a step.
    pub fn unbalanced(&self) -> f64 {
        let forces = self.contacts().map(|(_, force)| force.length()).chain(self.joints.iter().map(|(_, force)| *force));
        let (sum, count) = forces.fold((0.0, 0.0), |(sum, count), force| (sum + force, count + 1.0));
        let resultants = self.grains.iter().map(|g| g.resultant.length()).sum::<f64>();
        (resultants / self.grains.len() as f64) / (sum / count)
    }

    /// Part of a box that is solid: balls count with what of them and of their images lies in it, other shapes as a whole where their centre
    /// does. It is one of volumes, also of balls that are discs in a plane; not a number where the box has none.
    pub fn solid_fraction(&self, low: DVec3, high: DVec3) -> f64 {
        let inside = Region::Box { low, high };
        let of = |grain: &Grain| match grain.radius {
            Some(radius) => self.cell.neighbours().map(|s| ball_in_box(grain.position + s, radius, low, high)).sum(),
            None if inside.holds(grain.position) => grain.volume,
            None => 0.0,
        };
        self.grains.iter().map(of).sum::<f64>() / volume(low, high)
    }

    /// Part of the face of a box across an axis (0, 1, 2) that balls whose centres lie within it along this axis cover, as discs in a plane: with
    /// what of them and of their images lies in it.
    ///
    /// ```
    /// use drystone::diagnostics::grains::{Grain, Packing};
    /// use glam::DVec3;
    /// let disc = Grain { position: DVec3::splat(0.5), radius: Some(0.5), ..Grain::default() };
    /// let packing = Packing { grains: vec![disc], ..Packing::default() };
    /// assert!((packing.area_fraction(1, DVec3::ZERO, DVec3::ONE) - std::f64::consts::PI / 4.0).abs() < 1e-15);
    /// ```
    pub fn area_fraction(&self, across: usize, low: DVec3, high: DVec3) -> f64 {
        let [a, b] = [(across + 1) % 3, (across + 2) % 3];
        let disc = |x: DVec3, radius: f64| {
            let part = |k: usize| [low[k] - x[k], high[k] - x[k]];
            if (low[across]..=high[across]).contains(&x[across]) { circle_in_rectangle(radius, part(a), part(b)) } else { 0.0 }
        };
        let of = |g: &Grain| g.radius.map_or(0.0, |r| self.cell.neighbours().map(|s| disc(g.position + s, r)).sum());
        self.grains.iter().map(of).sum::<f64>() / ((high[a] - low[a]) * (high[b] - low[b]))
    }

    /// The smallest box along the axes that holds the boxes of all grains; along periodic axes the whole cell (m).
    pub fn bounds(&self) -> (DVec3, DVec3) {
        let low = self.grains.iter().fold(DVec3::INFINITY, |low, g| low.min(g.position + g.reach[0]));
        let high = self.grains.iter().fold(DVec3::NEG_INFINITY, |high, g| high.max(g.position + g.reach[1]));
        let periodic = BVec3::from_array([0, 1, 2].map(|a| self.cell.periodic(a)));
        (DVec3::select(periodic, self.cell.low, low), DVec3::select(periodic, self.cell.high, high))
    }
}

/// Columns of a table of measures, after the time: counts, Z and Z_m, rattlers, φ, T, U, fabric, stress, |γ̇|, I (`structure`), centre.
pub const COLUMNS: [&str; 29] = [
    "time [s]",
    "grains",
    "contacts",
    "coordination",
    "coordination_mechanical",
    "rattlers",
    "solid_fraction",
    "temperature [m2/s2]",
    "unbalanced",
    "fabric_xx",
    "fabric_yy",
    "fabric_zz",
    "fabric_xy",
    "fabric_yz",
    "fabric_zx",
    "stress_xx [Pa]",
    "stress_xy [Pa]",
    "stress_xz [Pa]",
    "stress_yx [Pa]",
    "stress_yy [Pa]",
    "stress_yz [Pa]",
    "stress_zx [Pa]",
    "stress_zy [Pa]",
    "stress_zz [Pa]",
    "shear_rate [1/s]",
    "inertial_number",
    "centre_x [m]",
    "centre_y [m]",
    "centre_z [m]",
];

/// A row of such a table: of the grains whose centres lie in a box, or of all of them in the smallest box that holds them.
///
/// ```
/// use drystone::diagnostics::grains::{COLUMNS, Packing, row};
/// assert_eq!(row(0.0, &Packing::default(), None)[COLUMNS.iter().position(|c| *c == "grains").unwrap_or(0)], 0.0);
/// ```
pub fn row(time: f64, whole: &Packing, bounds: Option<[DVec3; 2]>) -> [f64; COLUMNS.len()] {
    let part = bounds.map(|[low, high]| whole.within(&Region::Box { low, high }));
    let packing = part.as_ref().unwrap_or(whole);
    let (low, high) = bounds.map_or_else(|| whole.bounds(), |[low, high]| (low, high));
    // balls that reach into the box from outside are solid, too
    let solid = whole.solid_fraction(low, high);
    let (z, fabric) = (packing.coordination(), packing.fabric());
    let volume = volume(low, high);
    let stress = packing.stress(volume);
    let mut row = [0.0; COLUMNS.len()];
    let counts = [time, packing.grains.len() as f64, packing.contacts().count() as f64, z.mean, z.mechanical, z.rattlers as f64];
    let [fx, fy, fz] = [fabric.x_axis, fabric.y_axis, fabric.z_axis];
    let values = counts
        .into_iter()
        .chain([solid, packing.temperature(), packing.unbalanced()])
        .chain([fx.x, fy.y, fz.z, fy.x, fz.y, fx.z])
        .chain((0..3).flat_map(|i| [stress.x_axis[i], stress.y_axis[i], stress.z_axis[i]]))
        .chain(flow(packing, volume, whole.cell.round([low, high])))
        .chain(packing.centre().to_array());
    row.iter_mut().zip(values).for_each(|(cell, value)| *cell = value);
    row
}

/// Of a box (m³); not a number for that of a point, or of points in a plane.
fn volume(low: DVec3, high: DVec3) -> f64 {
    let volume = (high - low).element_product();
    if volume == 0.0 { f64::NAN } else { volume }
}

pub(super) fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// Nodes and weights of the rule of 16 points on [−1, 1], those on one side.
const GAUSS: [[f64; 2]; 8] = [
    [0.095_012_509_837_637_44, 0.189_450_610_455_068_5],
    [0.281_603_550_779_258_9, 0.182_603_415_044_923_6],
    [0.458_016_777_657_227_4, 0.169_156_519_395_002_54],
    [0.617_876_244_402_643_7, 0.149_595_988_816_576_74],
    [0.755_404_408_355_003, 0.124_628_971_255_533_87],
    [0.865_631_202_387_831_7, 0.095_158_511_682_492_78],
    [0.944_575_023_073_232_6, 0.062_253_523_938_647_89],
    [0.989_400_934_991_649_9, 0.027_152_459_411_754_095],
];

/// Volume (m³) of a ball within a box, to 1e-9 of the ball: areas of circles within rectangles, summed over the height.
///
/// ```
/// use drystone::diagnostics::grains::ball_in_box;
/// use glam::DVec3;
/// let whole = 4.0 / 3.0 * std::f64::consts::PI;
/// assert_eq!(ball_in_box(DVec3::ZERO, 1.0, DVec3::splat(-2.0), DVec3::splat(2.0)), whole);
/// let octant = ball_in_box(DVec3::ZERO, 1.0, DVec3::ZERO, DVec3::splat(2.0));
/// assert!((octant - whole / 8.0).abs() < 1e-9);
/// ```
pub fn ball_in_box(centre: DVec3, radius: f64, low: DVec3, high: DVec3) -> f64 {
    let (low, high) = (low - centre, high - centre);
    if low.max_element() <= -radius && high.min_element() >= radius {
        return 4.0 / 3.0 * std::f64::consts::PI * radius * radius * radius;
    }
    let (from, to) = (low.z.max(-radius), high.z.min(radius));
    if from >= to || low.max_element() >= radius || high.min_element() <= -radius {
        return 0.0;
    }
    // heights at which the circle begins to meet a side or a corner: the area is smooth between them
    let mut cuts = vec![from, to];
    let sides = [low.x, high.x, low.y, high.y];
    let corners = [[low.x, low.y], [low.x, high.y], [high.x, low.y], [high.x, high.y]].map(|[x, y]| libm::hypot(x, y));
    for distance in sides.into_iter().chain(corners) {
        let square = radius * radius - distance * distance;
        if square > 0.0 {
            cuts.extend([-square.sqrt(), square.sqrt()].iter().filter(|z| (from..to).contains(*z)));
        }
    }
    cuts.sort_by(f64::total_cmp);
    let area = |z: f64| {
        let r = (radius * radius - z * z).max(0.0).sqrt();
        circle_in_rectangle(r, [low.x, high.x], [low.y, high.y])
    };
    // Gauss and Legendre's rule in s with z = a + (b − a) s²(3 − 2s), which takes the roots at the ends away
    let piece = |a: f64, b: f64| {
        let value = |s: f64| area(a + (b - a) * s * s * (3.0 - 2.0 * s)) * 6.0 * s * (1.0 - s);
        let pair = |[x, weight]: [f64; 2]| 0.5 * weight * (value(0.5 * (1.0 - x)) + value(0.5 * (1.0 + x)));
        (b - a) * GAUSS.into_iter().map(pair).sum::<f64>()
    };
    cuts.windows(2).filter(|c| c[1] > c[0]).map(|c| piece(c[0], c[1])).sum()
}

/// Area of the circle of radius r about the origin within a rectangle (m²).
fn circle_in_rectangle(r: f64, x: [f64; 2], y: [f64; 2]) -> f64 {
    let below = |x: f64, y: f64| circle_below(r, x.clamp(-r, r), y.clamp(-r, r));
    below(x[1], y[1]) - below(x[0], y[1]) - below(x[1], y[0]) + below(x[0], y[0])
}

/// Area of the circle of radius r about the origin with X ≤ x and Y ≤ y, both within it (m²).
fn circle_below(r: f64, x: f64, y: f64) -> f64 {
    if r <= 0.0 {
        return 0.0;
    }
    let quarter = std::f64::consts::FRAC_PI_2;
    let root = |t: f64| t * (r * r - t * t).max(0.0).sqrt();
    let segment = |t: f64| r * r * (quarter + libm::asin(t / r)) + root(t);
    if x * x + y * y < r * r {
        return x * y + 0.5 * (root(x) + root(y)) + 0.5 * r * r * (quarter + libm::asin(x / r) + libm::asin(y / r));
    }
    match (x > 0.0, y > 0.0) {
        (true, true) => segment(x) + segment(y) - 2.0 * quarter * r * r,
        (false, true) => segment(x),
        (true, false) => segment(y),
        (false, false) => 0.0,
    }
}
