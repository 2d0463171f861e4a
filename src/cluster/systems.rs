//! From components to clusters and back.

use super::link::{Level, Link};
use super::node::{Node, System, same_first_order, same_lagrangian, same_newton_euler};
use super::record::Probed;
use super::schatzman_paoli::step_before;
use super::{Cluster, ClusterError, NewtonLoop, Probe, SystemsReport, Trace};
use crate::model::dynamical_system::{FirstOrder, Lagrangian, NewtonEuler};
use crate::model::integrator::Integrator;
use crate::model::interaction::{Interaction, OfBodies};
use crate::model::scheme::{Clock, Scheme};
use bevy_ecs::change_detection::Tick;
use bevy_ecs::component::Mutable;
use bevy_ecs::name::Name;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemChangeTick;

/// The clusters of the world and the last batch of steps.
///
/// ```
/// assert!(drystone::cluster::systems::Clusters::default().is_empty());
/// ```
#[derive(Resource, Debug, Default)]
pub struct Clusters {
    clusters: Vec<Cluster>,
    /// entities as they were at the last build
    known: usize,
    h: f64,
    newton: Option<NewtonLoop>,
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

/// By index, not by the order of the entities themselves, which is the reverse: the first of a world comes first.
pub(crate) fn birth(entity: Entity) -> (u32, u32) {
    (entity.index_u32(), entity.generation().to_bits())
}

/// What messages call the n-th of a kind.
pub(crate) fn called(name: Option<&Name>, kind: &str, number: usize) -> String {
    name.map_or_else(|| format!("{kind} {number}"), |n| format!("{kind} {:?}", n.as_str()))
}

impl Clusters {
    /// Builds anew before the next batch.
    pub(crate) fn rebuild(&mut self) {
        self.known = usize::MAX;
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

/// Whether a component was written since the last batch by anything but [`store`].
fn by_others<T: Component>(component: &Ref<T>, stored: Option<Tick>) -> bool {
    component.is_changed() && Some(component.last_changed()) != stored
}

/// Builds clusters where the world has changed, and takes up states and parameters that others have written.
pub fn refresh(
    first: Query<Known<FirstOrder>, Without<OfBodies>>,
    lagrangian: Query<Known<Lagrangian>, Without<OfBodies>>,
    newton_euler: Query<Known<NewtonEuler>, Without<OfBodies>>,
    interactions: Query<(Entity, Ref<Interaction>, Option<&Name>), Without<OfBodies>>,
    scheme: Res<Scheme>,
    clock: Res<Clock>,
    newton: Res<NewtonLoop>,
    probes: Query<(&Probe, Option<&Name>)>,
    mut clusters: ResMut<Clusters>,
    mut traces: ResMut<Traces>,
) {
    let probe = |entity: Entity| {
        let (probe, name) = probes.get(entity).ok()?;
        Some((probe.clone(), name.map_or_else(|| format!("the probe {entity}"), |n| format!("{:?}", n.as_str()))))
    };
    let known = first.iter().len() + lagrangian.iter().len() + newton_euler.iter().len() + interactions.iter().len();
    let h = scheme.time_step;
    let same_frame = known == clusters.known && clusters.h == h && clusters.newton == Some(*newton);
    let stored = clusters.stored;
    let changed = first.iter().any(|(_, s, i, _)| by_others(&s, stored) || i.is_changed())
        || lagrangian.iter().any(|(_, s, i, _)| by_others(&s, stored) || i.is_changed())
        || newton_euler.iter().any(|(_, s, i, _)| by_others(&s, stored) || i.is_changed())
        || interactions.iter().any(|(_, i, _)| by_others(&i, stored));
    clusters.error = None;
    let kept = same_frame && (!changed || clusters.update(&first, &lagrangian, &newton_euler, &interactions, clock.time));
    if kept {
        if clusters.resolve {
            clusters.find_signals(&mut traces, &probe);
        }
        return;
    }
    let mut nodes: Vec<(Entity, System, Integrator, Option<String>)> = Vec::new();
    nodes.extend(first.iter().map(|(e, s, i, n)| (e, System::FirstOrder((*s).clone()), *i, n.map(|n| n.to_string()))));
    nodes.extend(lagrangian.iter().map(|(e, s, i, n)| (e, System::Lagrangian(Box::new((*s).clone())), *i, n.map(|n| n.to_string()))));
    nodes.extend(newton_euler.iter().map(|(e, s, i, n)| (e, System::NewtonEuler((*s).clone()), *i, n.map(|n| n.to_string()))));
    nodes.sort_by_key(|n| birth(n.0));
    let nodes: Vec<Node> = nodes
        .into_iter()
        .enumerate()
        .map(|(number, (entity, system, integrator, given))| {
            let given = given.map(Name::new);
            Node { entity, name: called(given.as_ref(), "system", number), system, integrator, q0: 0, nq: 0, v0: 0, nv: 0 }
        })
        .collect();
    let mut links: Vec<(Entity, &Interaction, Option<&Name>)> = interactions.iter().map(|(e, i, n)| (e, i.into_inner(), n)).collect();
    links.sort_by_key(|l| birth(l.0));
    let links = links.into_iter().enumerate().map(|(number, (entity, i, n))| (called(n, "interaction", number), entity, i)).collect();
    // two-step schemes remember positions at a distance of h
    let keep_memory = clusters.h == h || clusters.h == 0.0;
    match build(nodes, links, keep_memory, clock.time, h, *newton) {
        Ok(built) => {
            (clusters.clusters, clusters.known, clusters.h, clusters.newton) = (built, known, h, Some(*newton));
            clusters.probes.clear();
            clusters.find_signals(&mut traces, &probe);
        }
        Err(error) => {
            clusters.known = usize::MAX;
            clusters.error = Some(error);
        }
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
        let (valid, first) = match &node.system {
            System::FirstOrder(s) => (s.validate(), true),
            System::Lagrangian(s) => (s.validate(), false),
            System::NewtonEuler(s) => (s.validate(), false),
        };
        let order = node.integrator.fits(first);
        valid.and(node.integrator.validate()).and(order).map_err(|e| ClusterError::Setup(format!("{}: {e}", node.name)))?;
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
    let mut linked = Vec::new();
    for (name, entity, interaction) in links {
        let mut places = Vec::new();
        for &system in &interaction.systems {
            let place = nodes.binary_search_by_key(&birth(system), |n| birth(n.entity));
            places.push(place.map_err(|_| {
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

/// Sizes, orders and laws of an interaction.
fn check(name: &str, interaction: &Interaction, places: &[usize], nodes: &[Node]) -> Result<(), ClusterError> {
    let fail = |reason: String| Err(ClusterError::Setup(format!("{name}: {reason}")));
    if places.is_empty() || places.len() > 2 {
        return fail(format!("it links {} systems; one or two are needed", places.len()));
    }
    if places.len() == 2 && places[0] == places[1] {
        return fail("it links a system with itself; a relation of one system is needed".into());
    }
    let second = |p: usize| !matches!(nodes[p].system, System::FirstOrder(_));
    if places.len() == 2 && second(places[0]) != second(places[1]) {
        let (a, b) = if second(places[0]) { (1, 0) } else { (0, 1) };
        let names = (&nodes[places[a]].name, &nodes[places[b]].name);
        return fail(format!(
            "it links {} of first order with {} of second order; both need one order (inputs z carry values across)",
            names.0, names.1
        ));
    }
    if interaction.relation.is_second_order() != second(places[0]) {
        let (relation, system) = if second(places[0]) { ("first", "second") } else { ("second", "first") };
        return fail(format!("its relation is for {relation}-order systems, but {} is of {system} order", nodes[places[0]].name));
    }
    if matches!(interaction.relation, crate::model::relation::Relation::Transmission(_)) {
        return fail("a transmission counts the turns of bodies; spawn these systems as bodies (Body::point has no shape)".into());
    }
    if matches!(interaction.law, crate::model::law::Law::Spring { .. }) && !second(places[0]) {
        return fail("the law of a spring needs systems of second order".into());
    }
    if interaction.law.is_impact() && !second(places[0]) {
        return fail("a law of impact needs systems of second order; first order takes complementarity or a relay".into());
    }
    let sizes = places.iter().map(|&p| sizes(&nodes[p].system));
    let (coordinates, velocities) = sizes.fold((0, 0), |sum, n| (sum.0 + n.0, sum.1 + n.1));
    interaction.relation.validate(coordinates, velocities, interaction.z.len()).or_else(&fail)?;
    interaction.law.validate(interaction.relation.rows()).or_else(fail)
}

/// Numbers of coordinates and velocities.
fn sizes(system: &System) -> (usize, usize) {
    match system {
        System::FirstOrder(s) => (s.x.len(), s.x.len()),
        System::Lagrangian(s) => (s.q.len(), s.v.len()),
        System::NewtonEuler(s) => (s.q.len(), s.v.len()),
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
        first: &Query<Known<FirstOrder>, Without<OfBodies>>,
        lagrangian: &Query<Known<Lagrangian>, Without<OfBodies>>,
        newton_euler: &Query<Known<NewtonEuler>, Without<OfBodies>>,
        interactions: &Query<(Entity, Ref<Interaction>, Option<&Name>), Without<OfBodies>>,
        t: f64,
    ) -> bool {
        let same = self.clusters.iter().all(|cluster| {
            let node = |mine: &Node| match &mine.system {
                System::FirstOrder(a) => first.get(mine.entity).is_ok_and(|(_, s, i, _)| *i == mine.integrator && same_first_order(a, &s)),
                System::Lagrangian(a) => {
                    lagrangian.get(mine.entity).is_ok_and(|(_, s, i, _)| *i == mine.integrator && same_lagrangian(a, &s))
                }
                System::NewtonEuler(a) => {
                    newton_euler.get(mine.entity).is_ok_and(|(_, s, i, _)| *i == mine.integrator && same_newton_euler(a, &s))
                }
            };
            let link = |mine: &Link| {
                interactions.get(mine.entity).is_ok_and(|(_, i, _)| {
                    let systems = mine.nodes.iter().map(|&n| cluster.nodes[n].entity);
                    i.systems.iter().copied().eq(systems)
                        && i.relation == mine.relation
                        && i.law == mine.law
                        && i.z.len() == mine.z.len()
                        && i.lambda.len() == mine.len()
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
                let (places, speeds) = (node.q0..node.q0 + node.nq, node.v0..node.v0 + node.nv);
                match &mut node.system {
                    System::FirstOrder(mine) => {
                        let Ok((_, s, ..)) = first.get(node.entity) else { continue };
                        mine.z.copy_from_slice(&s.z);
                        state.q[places].copy_from_slice(&s.x);
                    }
                    System::Lagrangian(mine) => {
                        let Ok((_, s, ..)) = lagrangian.get(node.entity) else { continue };
                        mine.z.copy_from_slice(&s.z);
                        let moved = state.q[places.clone()] != s.q || state.v[speeds.clone()] != s.v;
                        state.q[places.clone()].copy_from_slice(&s.q);
                        state.v[speeds].copy_from_slice(&s.v);
                        if let super::Machine::SchatzmanPaoli(m) = &mut *machine {
                            let known = !moved && s.before.len() == s.q.len();
                            match &mut m.before[places] {
                                before if known => before.copy_from_slice(&s.before),
                                before => step_before(&s.q, &s.v, h, before),
                            }
                        }
                    }
                    System::NewtonEuler(mine) => {
                        let Ok((_, s, ..)) = newton_euler.get(node.entity) else { continue };
                        mine.z.copy_from_slice(&s.z);
                        state.q[places].copy_from_slice(&s.q);
                        state.v[speeds].copy_from_slice(&s.v);
                    }
                }
            }
            for link in links {
                let Ok((_, i, _)) = interactions.get(link.entity) else { continue };
                link.z.copy_from_slice(&i.z);
                problem.r[link.rows.clone()].copy_from_slice(&i.lambda);
            }
            if let Err(error) = cluster.resume(t) {
                self.known = usize::MAX;
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
            match cluster.step(t, clock.time) {
                Ok(outcome) => clusters.report.add(&outcome),
                Err(error) => {
                    clusters.error = Some(error);
                    break;
                }
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
    mut newton_euler: Query<&mut NewtonEuler>,
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
                System::NewtonEuler(_) => {
                    let Ok(mut s) = newton_euler.get_mut(node.entity) else { continue };
                    let (own, mut new) = (s.bypass_change_detection(), false);
                    new |= put(&mut own.q, q);
                    new |= put(&mut own.v, &cluster.state.v[node.v0..node.v0 + node.nv]);
                    new |= put(&mut own.p, p);
                    mark(&mut s, new);
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
