//! From components to clusters and back.

use super::body::{RigidBody, coordinates, pose_of, speeds, velocity_of};
use super::link::{Level, Link};
use super::node::{Node, System, same_first_order, same_lagrangian};
use super::record::Probed;
use super::schatzman_paoli::step_before;
use super::{Cluster, ClusterError, NewtonLoop, Probe, SystemsReport, Trace};
use crate::model::birth::{Birth, rank};
use crate::model::dynamical_system::{FirstOrder, Lagrangian};
use crate::model::integrator::Integrator;
use crate::model::interaction::{Interaction, OfBodies};
use crate::model::newton_euler::{AppliedForce, BodyForces, BodyPose, GravityScale, Inertia, Locks, Motion, Velocity};
use crate::model::scheme::{Clock, Scheme};
use bevy_ecs::change_detection::Tick;
use bevy_ecs::component::Mutable;
use bevy_ecs::name::Name;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;
use bevy_ecs::system::SystemChangeTick;
use glam::DVec3;
use std::collections::BTreeMap;

/// The clusters of the world and the last batch of steps.
///
/// ```
/// assert!(drystone::cluster::systems::Clusters::default().is_empty());
/// ```
#[derive(Resource, Debug, Default)]
pub struct Clusters {
    clusters: Vec<Cluster>,
    /// entities as they were at the last build, as a sum
    known: u64,
    h: f64,
    newton: Option<NewtonLoop>,
    /// of the scene (m/s²), where it acts on a system
    gravity: Option<DVec3>,
    /// Steps of the next batch.
    pub(crate) steps: u64,
    /// How the last batch went.
    pub report: SystemsReport,
    /// What ended it early.
    pub(crate) error: Option<ClusterError>,
    /// Steps done before the error.
    pub(crate) done: u64,
    inputs: Vec<f64>,
    /// time at the end of the last batch (s)
    now: f64,
    /// probes that were found, in the order of the query; anew where clusters or the number of probes are
    probes: Vec<(Entity, Option<Probed>)>,
    /// Tick of the last [`store`]: what was changed then was changed by it.
    stored: Option<Tick>,
    /// Tables have changed: their signals are to be found.
    pub(crate) resolve: bool,
}

/// A number that sums of few others give by chance alone (splitmix64).
fn mixed(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// What messages call the n-th of a kind.
pub(crate) fn called(name: Option<&Name>, kind: &str, number: usize) -> String {
    name.map_or_else(|| format!("{kind} {number}"), |n| format!("{kind} {:?}", n.as_str()))
}

impl Clusters {
    /// Builds anew before the next batch.
    pub(crate) fn rebuild(&mut self) {
        self.known = u64::MAX;
    }

    /// Jacobians of users beside differences, at the present state.
    pub(crate) fn check_jacobians(&self, t: f64) -> Result<Vec<super::JacobianCheck>, ClusterError> {
        let mut found = Vec::new();
        self.clusters.iter().try_for_each(|cluster| super::jacobians::check(cluster, t, &mut found))?;
        Ok(found)
    }

    /// True where there is no system.
    pub fn is_empty(&self) -> bool {
        self.clusters.is_empty()
    }
}

/// Tables that are filled while batches run.
///
/// ```
/// assert!(drystone::cluster::systems::Traces::default().0.is_empty());
/// ```
#[derive(Resource, Debug, Default)]
pub struct Traces(pub Vec<Trace>);

type Known<'a, T> = (Entity, Ref<'a, T>, Ref<'a, Integrator>, Option<&'a Name>);

/// A rigid body that moves in a cluster.
#[derive(Debug, QueryData)]
#[query_data(derive(Debug))]
pub struct KnownBody {
    entity: Entity,
    pose: Ref<'static, BodyPose>,
    velocity: Ref<'static, Velocity>,
    inertia: Option<Ref<'static, Inertia>>,
    forces: Option<Ref<'static, BodyForces>>,
    load: Option<Ref<'static, AppliedForce>>,
    gravity: Option<Ref<'static, GravityScale>>,
    motion: Option<Ref<'static, Motion>>,
    locks: Option<Ref<'static, Locks>>,
    integrator: Ref<'static, Integrator>,
    name: Option<&'static Name>,
}

/// What has an integrator and nothing for it, and the reverse.
type Bare = (With<Integrator>, Without<FirstOrder>, Without<Lagrangian>, Without<BodyPose>);
type Idle = (Without<Integrator>, Or<(With<FirstOrder>, With<Lagrangian>)>);

/// Which of them stand in no island with a body.
type Unbound = Without<OfBodies>;

fn changed<T: Component>(component: &Option<Ref<T>>) -> bool {
    component.as_ref().is_some_and(|c| c.is_changed())
}

impl KnownBodyItem<'_, '_> {
    /// Whether something but the last batch has written to it.
    fn is_touched(&self, stored: Option<Tick>) -> bool {
        let rest = changed(&self.inertia) || changed(&self.forces) || changed(&self.load) || changed(&self.gravity);
        let moved = by_others(&self.pose, stored) || by_others(&self.velocity, stored);
        moved || rest || changed(&self.motion) || changed(&self.locks) || self.integrator.is_changed()
    }

    fn load(&self) -> AppliedForce {
        self.load.as_deref().copied().unwrap_or_default()
    }

    /// The gravity that acts on it.
    fn weight(&self, gravity: DVec3) -> DVec3 {
        self.gravity.as_deref().copied().unwrap_or_default().0 * gravity
    }

    fn same(&self, mine: &Node, body: &RigidBody, gravity: DVec3) -> bool {
        let inertia = self.inertia.as_ref().is_some_and(|i| body.same(i, self.forces.as_deref(), self.load()));
        inertia && *self.integrator == mine.integrator && self.weight(gravity) == mine.gravity && self.moves_freely().is_ok()
    }

    /// What a cluster cannot do with a body.
    fn moves_freely(&self) -> Result<(), String> {
        let cure = "take its Integrator away, so that it stands among the bodies of the step";
        if self.motion.as_ref().is_some_and(|m| !m.is_dynamic()) {
            return Err(format!("it is driven or static, which systems in a cluster are not; {cure}"));
        }
        if self.locks.as_ref().is_some_and(|l| **l != Locks::default()) {
            return Err(format!("its axes are locked, which a cluster does not know; {cure}"));
        }
        Ok(())
    }

    fn node(&self, gravity: DVec3) -> Found {
        let mut valid = self.moves_freely();
        let inertia = self.inertia.as_deref().copied();
        valid = valid.and(inertia.map_or_else(|| Err("it has no Inertia; insert one".into()), |i| i.validate()));
        let norm = self.pose.0.rotation.length();
        if (norm - 1.0).abs() > 1e-6 {
            valid = valid.and(Err(format!("its rotation has length {norm}; a unit quaternion is needed")));
        }
        let forces = self.forces.as_deref().cloned().unwrap_or_default();
        valid = valid.and(forces.validate());
        let (q, v) = (coordinates(&self.pose.0), speeds(&self.velocity));
        let inertia = inertia.unwrap_or(Inertia { mass: 1.0, principal: DVec3::ONE });
        let system = System::Body(Box::new(RigidBody { inertia, forces, load: self.load(), q, v }));
        Found { entity: self.entity, system, integrator: *self.integrator, gravity: self.weight(gravity), name: self.name.cloned(), valid }
    }
}

/// A system as it is found in the world.
struct Found {
    entity: Entity,
    system: System,
    integrator: Integrator,
    gravity: DVec3,
    name: Option<Name>,
    valid: Result<(), String>,
}

/// Whether a component was written since the last batch by anything but [`store`].
fn by_others<T: Component>(component: &Ref<T>, stored: Option<Tick>) -> bool {
    component.is_changed() && Some(component.last_changed()) != stored
}

/// Builds clusters where the world has changed, and takes up states and parameters that others have written.
pub fn refresh(
    first: Query<Known<FirstOrder>, Without<OfBodies>>,
    lagrangian: Query<Known<Lagrangian>, Without<OfBodies>>,
    bodies: Query<KnownBody, Unbound>,
    interactions: Query<(Entity, Ref<Interaction>, Option<&Name>), Without<OfBodies>>,
    scheme: Res<Scheme>,
    (clock, newton): (Res<Clock>, Res<NewtonLoop>),
    (bare, idle): (Query<(Entity, Option<&Name>), Bare>, Query<(Entity, Option<&Name>), Idle>),
    (probes, births): (Query<(&Probe, Option<&Name>)>, Query<&Birth>),
    mut clusters: ResMut<Clusters>,
    mut traces: ResMut<Traces>,
) {
    let birth = |entity: Entity| rank(births.get(entity).ok(), entity);
    let probe = |entity: Entity| {
        let (probe, name) = probes.get(entity).ok()?;
        Some((probe.clone(), name.map_or_else(|| format!("the probe {entity}"), |n| format!("{:?}", n.as_str()))))
    };
    // half a system would stand still without a word
    let bare = bare.iter().map(|found| (found, "has an Integrator, but nothing that it integrates; insert what was removed (FirstOrder, Lagrangian, or a pose), or remove its Integrator"));
    let idle =
        idle.iter().map(|found| (found, "has no Integrator; insert one, or remove its FirstOrder or Lagrangian, so that it is no system"));
    if let Some(((entity, name), what)) = bare.chain(idle).min_by_key(|((entity, _), _)| birth(*entity)) {
        let name = name.map_or_else(|| format!("the system {entity}"), |name| format!("the system {:?}", name.as_str()));
        clusters.known = u64::MAX;
        clusters.error = Some(ClusterError::Setup(format!("{name} {what}")));
        return;
    }
    // one that goes and one that comes leave their number as it was
    let entities = first.iter().map(|f| f.0).chain(lagrangian.iter().map(|l| l.0)).chain(bodies.iter().map(|b| b.entity));
    let known = entities.chain(interactions.iter().map(|i| i.0)).fold(0u64, |sum, e| sum.wrapping_add(mixed(e.to_bits())));
    let h = scheme.time_step;
    let weightless = clusters.gravity.is_none_or(|g| g == scheme.gravity);
    let same_frame = known == clusters.known && clusters.h == h && clusters.newton == Some(*newton) && weightless;
    let stored = clusters.stored;
    let changed = first.iter().any(|(_, s, i, _)| by_others(&s, stored) || i.is_changed())
        || lagrangian.iter().any(|(_, s, i, _)| by_others(&s, stored) || i.is_changed())
        || bodies.iter().any(|body| body.is_touched(stored))
        || interactions.iter().any(|(_, i, _)| by_others(&i, stored));
    clusters.error = None;
    let kept = same_frame && (!changed || clusters.update((&first, &lagrangian, &bodies), &interactions, scheme.gravity, clock.time));
    if kept {
        if clusters.resolve {
            clusters.find_signals(&mut traces, &probe);
        }
        return;
    }
    let gravity = scheme.gravity;
    let mut found: Vec<Found> = Vec::new();
    found.extend(first.iter().map(|(entity, s, i, n)| {
        let (system, valid) = (System::FirstOrder((*s).clone()), s.validate());
        Found { entity, system, integrator: *i, gravity: DVec3::ZERO, name: n.cloned(), valid }
    }));
    found.extend(lagrangian.iter().map(|(entity, s, i, n)| {
        let (system, valid) = (System::Lagrangian(Box::new((*s).clone())), s.validate());
        let gravity = if s.weight.is_zero() { DVec3::ZERO } else { gravity };
        Found { entity, system, integrator: *i, gravity, name: n.cloned(), valid }
    }));
    found.extend(bodies.iter().map(|body| body.node(gravity)));
    found.sort_by_key(|n| birth(n.entity));
    clusters.gravity = found.iter().any(|n| n.gravity != DVec3::ZERO || weighs(&n.system)).then_some(gravity);
    let mut refused = None;
    let nodes: Vec<Node> = found
        .into_iter()
        .enumerate()
        .map(|(number, Found { entity, system, integrator, gravity, name, valid })| {
            let name = called(name.as_ref(), "system", number);
            if let Err(reason) = valid {
                refused.get_or_insert(ClusterError::Setup(format!("{name}: {reason}")));
            }
            Node { entity, name, system, integrator, gravity, q0: 0, nq: 0, v0: 0, nv: 0 }
        })
        .collect();
    if let Some(pair) = nodes.windows(2).find(|pair| pair[0].entity == pair[1].entity) {
        refused.get_or_insert(ClusterError::Setup(format!("{}: it is two systems at once; one entity is one", pair[0].name)));
    }
    let mut links: Vec<(Entity, &Interaction, Option<&Name>)> = interactions.iter().map(|(e, i, n)| (e, i.into_inner(), n)).collect();
    links.sort_by_key(|l| birth(l.0));
    let links = links.into_iter().enumerate().map(|(number, (entity, i, n))| (called(n, "interaction", number), entity, i)).collect();
    // two-step schemes remember positions at a distance of h
    let keep_memory = clusters.h == h || clusters.h == 0.0;
    match refused.map_or_else(|| build(nodes, links, keep_memory, clock.time, h, *newton), Err) {
        Ok(built) => {
            (clusters.clusters, clusters.known, clusters.h, clusters.newton) = (built, known, h, Some(*newton));
            clusters.probes.clear();
            clusters.find_signals(&mut traces, &probe);
        }
        Err(error) => {
            clusters.known = u64::MAX;
            clusters.error = Some(error);
        }
    }
}

/// Whether gravity would act where there is some.
fn weighs(system: &System) -> bool {
    match system {
        System::FirstOrder(_) => false,
        System::Lagrangian(s) => !s.weight.is_zero(),
        System::Body(_) => true,
    }
}

/// The clusters of a world, in the order of their first systems.
fn build(
    nodes: Vec<Node>,
    links: Vec<(String, Entity, &Interaction)>,
    keep_memory: bool,
    t: f64,
    h: f64,
    newton: NewtonLoop,
) -> Result<Vec<Cluster>, ClusterError> {
    newton.validate().map_err(ClusterError::Setup)?;
    for node in &nodes {
        let order = node.integrator.fits(matches!(node.system, System::FirstOrder(_)));
        node.integrator.validate().and(order).map_err(|e| ClusterError::Setup(format!("{}: {e}", node.name)))?;
    }
    // union–find over the systems
    let mut root: Vec<usize> = (0..nodes.len()).collect();
    fn find(root: &mut [usize], mut i: usize) -> usize {
        while root[i] != i {
            root[i] = root[root[i]];
            i = root[i];
        }
        i
    }
    let place_of: BTreeMap<Entity, usize> = nodes.iter().enumerate().map(|(place, node)| (node.entity, place)).collect();
    let mut linked = Vec::new();
    for (name, entity, interaction) in links {
        let mut places = Vec::new();
        for &system in &interaction.systems {
            places.push(place_of.get(&system).copied().ok_or_else(|| {
                let found = "links a system that does not exist, or a rigid body with a system of another kind; one or two living systems of one kind are needed";
                ClusterError::Setup(format!("{name} {found}"))
            })?);
        }
        check(&name, interaction, &places, &nodes)?;
        for pair in places.windows(2) {
            let (a, b) = (find(&mut root, pair[0]), find(&mut root, pair[1]));
            root[a.max(b)] = a.min(b);
        }
        linked.push((name, entity, interaction, places));
    }
    let owners: Vec<usize> = (0..nodes.len()).map(|i| find(&mut root, i)).collect();
    // place of each system within its cluster
    let mut members: Vec<Vec<Node>> = Vec::new();
    let mut cluster_of = vec![usize::MAX; nodes.len()];
    let mut local = vec![0; nodes.len()];
    for (i, node) in nodes.into_iter().enumerate() {
        let owner = owners[i];
        if cluster_of[owner] == usize::MAX {
            cluster_of[owner] = members.len();
            members.push(Vec::new());
        }
        let cluster = &mut members[cluster_of[owner]];
        local[i] = cluster.len();
        cluster.push(node);
    }
    let mut cluster_links: Vec<Vec<Link>> = members.iter().map(|_| Vec::new()).collect();
    let mut guesses: Vec<Vec<&Interaction>> = members.iter().map(|_| Vec::new()).collect();
    for (name, entity, interaction, places) in linked {
        let cluster = cluster_of[owners[places[0]]];
        guesses[cluster].push(interaction);
        cluster_links[cluster].push(Link {
            entity,
            name,
            relation: interaction.relation.clone(),
            law: interaction.law.clone(),
            z: interaction.z.clone(),
            nodes: places.iter().map(|&p| local[p]).collect(),
            rows: 0..0,
            faces: 0..0,
            blocks: 0..0,
            level: Level::Rate,
            gamma: 0.5,
            restitution: Vec::new(),
            active: interaction.active,
        });
    }
    let mut clusters = Vec::new();
    for ((nodes, links), guesses) in members.into_iter().zip(cluster_links).zip(guesses) {
        let memory: Vec<Vec<f64>> = nodes
            .iter()
            .map(|n| match &n.system {
                System::Lagrangian(s) if keep_memory => s.before.clone(),
                _ => Vec::new(),
            })
            .collect();
        let mut cluster = Cluster::new(nodes, links, &memory, t, h, newton)?;
        for (link, guess) in cluster.links.iter().zip(&guesses) {
            if guess.lambda.len() == link.len() && guess.lambda.iter().all(|x| x.is_finite()) {
                cluster.problem.r[link.rows.clone()].copy_from_slice(&guess.lambda);
            }
        }
        cluster.resume(t)?;
        clusters.push(cluster);
    }
    Ok(clusters)
}

/// What an interaction asks of a system.
#[derive(Clone, Debug)]
pub(crate) struct Party {
    pub(crate) name: String,
    pub(crate) first_order: bool,
    /// Numbers of coordinates (states) and of velocities.
    pub(crate) sizes: (usize, usize),
}

/// Sizes, orders and law of an interaction, as far as its systems are known; `systems` has one for each that it names.
pub(crate) fn fits(interaction: &Interaction, systems: &[Option<Party>]) -> Result<(), String> {
    let Interaction { relation, law, .. } = interaction;
    if !(1..=2).contains(&systems.len()) {
        return Err(format!("it links {} systems; one or two are needed", systems.len()));
    }
    if systems.len() == 2 && interaction.systems[0] == interaction.systems[1] {
        return Err("it links a system with itself; one system or two different ones are needed".into());
    }
    let known = || systems.iter().flatten();
    if let (Some(one), Some(two)) = (known().find(|s| s.first_order), known().find(|s| !s.first_order)) {
        return Err(format!(
            "it links {} of first order with {} of second order; both need one order (inputs z carry values across)",
            one.name, two.name
        ));
    }
    if let Some(system) = known().find(|s| s.first_order == relation.is_second_order()) {
        let (relation, order) = if system.first_order { ("second", "first") } else { ("first", "second") };
        return Err(format!("its relation is for {relation}-order systems, but {} is of {order} order", system.name));
    }
    if matches!(law, crate::model::law::Law::Spring { .. }) && !relation.is_second_order() {
        return Err("the law of a spring needs systems of second order".into());
    }
    if matches!(law, crate::model::law::Law::Bearing { .. }) && !matches!(relation, crate::model::relation::Relation::Coordinate(_)) {
        return Err("the law of a bearing is about the coordinate of a joint; a relay has bounds of its own".into());
    }
    if law.is_impact() && !relation.is_second_order() {
        return Err("a law of impact needs systems of second order; first order takes complementarity or a relay".into());
    }
    if systems.iter().all(Option::is_some) {
        let (coordinates, velocities) = known().fold((0, 0), |sum, s| (sum.0 + s.sizes.0, sum.1 + s.sizes.1));
        relation.validate(coordinates, velocities, interaction.z.len())?;
    }
    interaction.check_parameters()?;
    law.validate(relation.rows())
}

/// Sizes, orders and laws of an interaction of a cluster.
fn check(name: &str, interaction: &Interaction, places: &[usize], nodes: &[Node]) -> Result<(), ClusterError> {
    let fail = |reason: String| Err(ClusterError::Setup(format!("{name}: {reason}")));
    if let crate::model::law::Law::Bearing { .. } = interaction.law {
        let needed = "dry friction of a given size does; or link a body without an integrator, which moves with the bodies of the step";
        return fail(format!("friction under the force of the joint itself (a bearing) does not go with systems of a cluster; {needed}"));
    }
    let party = |&p: &usize| {
        let Node { name, system, .. } = &nodes[p];
        Some(Party { name: name.clone(), first_order: matches!(system, System::FirstOrder(_)), sizes: sizes(system) })
    };
    fits(interaction, &places.iter().map(party).collect::<Vec<_>>()).or_else(fail)?;
    if matches!(interaction.relation, crate::model::relation::Relation::Transmission(_)) {
        return fail("a transmission counts the turns of bodies; spawn these systems as bodies (Body::point has no shape)".into());
    }
    Ok(())
}

/// Numbers of coordinates and velocities.
fn sizes(system: &System) -> (usize, usize) {
    match system {
        System::FirstOrder(s) => (s.x.len(), s.x.len()),
        System::Lagrangian(s) => (s.q.len(), s.v.len()),
        System::Body(_) => (7, 6),
    }
}

impl Clusters {
    /// Finds the signals of all tables.
    fn find_signals(&mut self, traces: &mut Traces, probe: &dyn Fn(Entity) -> Option<(Probe, String)>) {
        self.resolve = false;
        for trace in &mut traces.0 {
            if let Err(reason) = trace.resolve(&self.clusters, probe) {
                self.resolve = true;
                self.error = Some(ClusterError::Setup(reason));
            }
        }
    }

    /// Takes up states, parameters and multipliers in place; false, and nothing done, where something else has changed.
    fn update(
        &mut self,
        (first, lagrangian, bodies): (&Query<Known<FirstOrder>, Unbound>, &Query<Known<Lagrangian>, Unbound>, &Query<KnownBody, Unbound>),
        interactions: &Query<(Entity, Ref<Interaction>, Option<&Name>), Unbound>,
        gravity: DVec3,
        t: f64,
    ) -> bool {
        let same = self.clusters.iter().all(|cluster| {
            let node = |mine: &Node| match &mine.system {
                System::FirstOrder(a) => first.get(mine.entity).is_ok_and(|(_, s, i, _)| *i == mine.integrator && same_first_order(a, &s)),
                System::Lagrangian(a) => {
                    lagrangian.get(mine.entity).is_ok_and(|(_, s, i, _)| *i == mine.integrator && same_lagrangian(a, &s))
                }
                System::Body(a) => bodies.get(mine.entity).is_ok_and(|body| body.same(mine, a, gravity)),
            };
            let link = |mine: &Link| {
                interactions.get(mine.entity).is_ok_and(|(_, i, _)| {
                    let systems = mine.nodes.iter().map(|&n| cluster.nodes[n].entity);
                    i.systems.iter().copied().eq(systems)
                        && i.relation == mine.relation
                        && i.law == mine.law
                        && i.z.len() == mine.z.len()
                        && i.lambda.len() == mine.len()
                        && i.check_parameters().is_ok()
                })
            };
            cluster.nodes.iter().all(node) && cluster.links.iter().all(link)
        });
        if !same {
            return false;
        }
        for cluster in &mut self.clusters {
            let h = cluster.h;
            let Cluster { nodes, links, problem, state, machine, .. } = cluster;
            for node in nodes {
                let (places, speeds_of) = (node.q0..node.q0 + node.nq, node.v0..node.v0 + node.nv);
                match &mut node.system {
                    System::FirstOrder(mine) => {
                        let Ok((_, s, ..)) = first.get(node.entity) else { continue };
                        mine.z.copy_from_slice(&s.z);
                        state.q[places].copy_from_slice(&s.x);
                    }
                    System::Lagrangian(mine) => {
                        let Ok((_, s, ..)) = lagrangian.get(node.entity) else { continue };
                        mine.z.copy_from_slice(&s.z);
                        let moved = state.q[places.clone()] != s.q || state.v[speeds_of.clone()] != s.v;
                        state.q[places.clone()].copy_from_slice(&s.q);
                        state.v[speeds_of].copy_from_slice(&s.v);
                        if let super::Machine::SchatzmanPaoli(m) = &mut *machine {
                            let known = !moved && s.before.len() == s.q.len();
                            match &mut m.before[places] {
                                before if known => before.copy_from_slice(&s.before),
                                before => step_before(&s.q, &s.v, h, before),
                            }
                        }
                    }
                    System::Body(mine) => {
                        let Ok(body) = bodies.get(node.entity) else { continue };
                        if let Some(forces) = &body.forces {
                            mine.forces.z.copy_from_slice(&forces.z);
                        }
                        state.q[places].copy_from_slice(&coordinates(&body.pose.0));
                        state.v[speeds_of].copy_from_slice(&speeds(&body.velocity));
                    }
                }
            }
            for link in links {
                let Ok((_, i, _)) = interactions.get(link.entity) else { continue };
                link.z.copy_from_slice(&i.z);
                problem.r[link.rows.clone()].copy_from_slice(&i.lambda);
            }
            if let Err(error) = cluster.resume(t) {
                self.known = u64::MAX;
                self.error = Some(error);
            }
        }
        true
    }
}

/// Advances every cluster by the steps of the batch.
pub fn advance(clock: Res<Clock>, mut clusters: ResMut<Clusters>, mut traces: ResMut<Traces>) {
    let clusters = &mut *clusters;
    clusters.report = SystemsReport::default();
    clusters.done = 0;
    if clusters.error.is_some() {
        return;
    }
    let mut clock = *clock;
    clusters.now = clock.time;
    for trace in traces.0.iter_mut().filter(|t| t.begins()) {
        trace.record(clock.time, &mut clusters.clusters);
    }
    for _ in 0..clusters.steps {
        let t = clock.time;
        clock.tick(clusters.h);
        clusters.report.active_rows = 0;
        // before the first step of a batch, the components hold the state
        if clusters.done > 0 {
            clusters.clusters.iter_mut().for_each(Cluster::keep);
        }
        for cluster in &mut clusters.clusters {
            if let Err(error) = cluster.step(t, clock.time, &mut clusters.report) {
                clusters.error = Some(error);
                break;
            }
        }
        if clusters.error.is_some() {
            if clusters.done > 0 {
                clusters.clusters.iter_mut().for_each(|cluster| cluster.restore(t));
            }
            clusters.rebuild();
            return;
        }
        clusters.done += 1;
        clusters.now = clock.time;
        for trace in traces.0.iter_mut().filter(|t| t.due(clock.step)) {
            trace.record(clock.time, &mut clusters.clusters);
        }
    }
}

/// Writes states, multipliers and what probes show into the components, and marks those as changed that are; nothing where no step was done.
pub fn store(
    tick: SystemChangeTick,
    mut first: Query<&mut FirstOrder>,
    mut lagrangian: Query<&mut Lagrangian>,
    mut poses: Query<(&mut BodyPose, &mut Velocity)>,
    mut interactions: Query<&mut Interaction>,
    mut probes: Query<(Entity, &mut Probe)>,
    mut clusters: ResMut<Clusters>,
) {
    if clusters.error.is_some() && clusters.done == 0 {
        return;
    }
    clusters.stored = Some(tick.this_run());
    let mut inputs = std::mem::take(&mut clusters.inputs);
    for cluster in &mut clusters.clusters {
        cluster.inputs(&mut inputs);
        for (number, node) in cluster.nodes.iter().enumerate() {
            let (q, p) = (&cluster.state.q[node.q0..node.q0 + node.nq], &inputs[node.v0..node.v0 + node.nv]);
            match &node.system {
                System::FirstOrder(_) => {
                    let Ok(mut s) = first.get_mut(node.entity) else { continue };
                    let (own, mut new) = (s.bypass_change_detection(), false);
                    new |= put(&mut own.x, q);
                    new |= put(&mut own.r, p);
                    mark(&mut s, new);
                }
                System::Lagrangian(mine) => {
                    let Ok(mut s) = lagrangian.get_mut(node.entity) else { continue };
                    let (own, mut new) = (s.bypass_change_detection(), false);
                    new |= put(&mut own.q, q);
                    new |= put(&mut own.v, &cluster.state.v[node.v0..node.v0 + node.nv]);
                    new |= put(&mut own.p, p);
                    new |= put(&mut own.before, cluster.memory(number));
                    for (own, mine) in own.prescribed.iter_mut().zip(&mine.prescribed) {
                        new |= std::mem::replace(&mut own.reaction, mine.reaction) != mine.reaction;
                    }
                    mark(&mut s, new);
                }
                System::Body(_) => {
                    let Ok((mut pose, mut velocity)) = poses.get_mut(node.entity) else { continue };
                    let new = BodyPose(pose_of(q));
                    let moved = std::mem::replace(pose.bypass_change_detection(), new) != new;
                    mark(&mut pose, moved);
                    let new = velocity_of(&cluster.state.v[node.v0..node.v0 + node.nv]);
                    let moved = std::mem::replace(velocity.bypass_change_detection(), new) != new;
                    mark(&mut velocity, moved);
                }
            }
        }
        let ((y, y_dot), (corrections, forces)) = (cluster.outputs(), cluster.extras());
        for link in &cluster.links {
            let Ok(mut i) = interactions.get_mut(link.entity) else { continue };
            let own = i.bypass_change_detection();
            let mut new = std::mem::replace(&mut own.active, link.active) != link.active;
            new |= put(&mut own.y, y.get(link.rows.clone()).unwrap_or(&[]));
            new |= put(&mut own.y_dot, y_dot.get(link.rows.clone()).unwrap_or(&[]));
            new |= put(&mut own.lambda, &cluster.problem.r[link.rows.clone()]);
            new |= put(&mut own.correction, corrections.get(link.rows.clone()).unwrap_or(&[]));
            new |= put(&mut own.force, forces.get(link.rows.clone()).unwrap_or(&[]));
            mark(&mut i, new);
        }
    }
    clusters.inputs = inputs;
    let Clusters { clusters, probes: found, now, .. } = &mut *clusters;
    let same = found.len() == probes.iter().len() && probes.iter().zip(found.iter()).all(|((entity, _), (known, _))| entity == *known);
    if !same {
        found.clear();
        found.extend(probes.iter().map(|(entity, probe)| (entity, Probed::find(clusters, probe))));
    }
    for ((_, mut probe), (_, found)) in probes.iter_mut().zip(found) {
        if let Some(found) = found {
            found.read(clusters, *now, &mut probe.bypass_change_detection().values);
        }
    }
}

/// Whether there was something else.
pub(super) fn put(to: &mut Vec<f64>, from: &[f64]) -> bool {
    let new = to != from;
    to.clear();
    to.extend_from_slice(from);
    new
}

pub(crate) fn mark<T: Component<Mutability = Mutable>>(component: &mut Mut<T>, new: bool) {
    if new {
        component.set_changed();
    }
}
