//! Systems and relations that stand in one problem with contacts: their share of every pass of a step.
//!
//! Lagrangian systems are its general systems, with the Newton loop of [`second_order`](super::second_order) in the passes of the step:
//!
//! ```text
//! v_free = v⁽ⁱ⁾ − Ŵ⁻¹ ρ(v⁽ⁱ⁾)        v⁺ = v_free + Ŵ⁻¹ Gᵀ r        until v⁺ = v⁽ⁱ⁾, where ρ(v⁺) = Gᵀ r whatever Ŵ is
//! ```
//!
//! so its symmetric part does for Ŵ. Rows are those of joints (see `assembly::joints`): impulses act at the middle of the step, G_m, and
//! rates are matched at its end, G₁:
//!
//! ```text
//! laws on the rate    u = G_m v⁺ + (G₁ − G_m) v⁽ⁱ⁾ + ∂h/∂t + c       c: restitution, y/h of what closes, feedback of what is open
//! laws on y           u = G_m (v⁺ − v⁽ⁱ⁾) + y⁽ⁱ⁾/(hθ) + D r/(h²θ)    r = h λ, so that u = y⁺/(hθ) where the passes have settled
//! ```

mod rows;

use super::body::{RigidBody, coordinates, speeds};
use super::link::{Joined, Level, Link};
use super::node::{Node, System as Kind, buffer, finite, given_velocity, same_lagrangian};
use super::second_order::Implicit;
use super::systems::{called, put};
use super::{ClusterError, RowsAt, State, examine};
use crate::algebra::dense::{cholesky, cholesky_solve, dot};
use crate::algebra::spatial::Pose;
use crate::model::dynamical_system::Lagrangian;
use crate::model::integrator::{Integrator, Projection};
use crate::model::interaction::Interaction;
use crate::model::law::Law;
use crate::model::newton_euler::Velocity;
use crate::model::scheme::{Scheme, Treatment};
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::mixed::{MixedProblem, Velocities};
use bevy_ecs::name::Name;
use bevy_ecs::prelude::Entity;
use glam::DVec3;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A body as rows see it: poses at start, middle and end of the step, velocities (angular in body axes) at its start and of the last pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) poses: [Pose; 3],
    pub(crate) velocities: [Velocity; 2],
    /// index among the mobile bodies, or [`IMMOBILE`]
    pub(crate) row: u32,
}

/// Energy of the Lagrangian systems at both ends of the step and the work done on them (J).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SystemsWork {
    pub(crate) kinetic: [f64; 2],
    /// forces of the systems themselves
    pub(crate) loads: f64,
    /// change of M(q) within the step
    pub(crate) scheme: f64,
    /// prescribed velocities
    pub(crate) drives: f64,
}

/// The rows of one relation.
#[derive(Debug, Default)]
struct Rows {
    joined: Joined,
    /// G at the middle and at the end, m × n
    g: [Vec<f64>; 2],
    d: Vec<f64>,
    /// y and ẏ at the start, then at the end
    y: Vec<f64>,
    y_dot: Vec<f64>,
    lambda: Vec<f64>,
    drift: Vec<f64>,
    /// set and number of rows of each block
    pieces: Vec<(AdmissibleSet, usize)>,
    /// the blocks in the problem, in the order of the rows
    blocks: Range<usize>,
}

/// What the contact problem adopts.
#[derive(Debug)]
pub(crate) struct Adopted {
    /// Lagrangian systems, then bodies that relations name.
    pub(super) nodes: Vec<Node>,
    own: usize,
    theta: f64,
    pub(super) links: Vec<Link>,
    rows: Vec<Rows>,
    motion: Implicit,
    /// coordinates at start, middle and end; those of the last are the iterate
    q: [Vec<f64>; 3],
    state: State,
    /// velocities at the start, and those that a pass starts from
    v0: Vec<f64>,
    guess: Vec<f64>,
    free: Vec<f64>,
    inverse: Vec<f64>,
    /// momentum that interactions have given, Gᵀ r
    acted: Vec<f64>,
    bodies: Vec<Place>,
    /// functions of the user were looked at
    examined: bool,
}

/// A Lagrangian system as the world has it.
pub(crate) type Guest<'a> = (Entity, &'a Lagrangian, &'a Integrator, Option<&'a Name>);
/// An interaction likewise, with its number among all of them.
pub(crate) type Tie<'a> = (Entity, &'a Interaction, Option<&'a Name>, usize);

impl Adopted {
    /// Systems in their order, bodies, and relations between them; the error says which interaction or system does not fit.
    pub(crate) fn build(systems: &[Guest], bodies: &[Entity], ties: &[Tie], scheme: &Scheme) -> Result<Self, ClusterError> {
        let mut nodes = Vec::new();
        let mut places = BTreeMap::new();
        for (number, &(entity, system, integrator, name)) in systems.iter().enumerate() {
            let name = called(name, "system", number);
            places.insert(entity, number);
            let fail = |reason: String| ClusterError::Setup(format!("{name}: {reason}"));
            system.validate().and(integrator.validate()).and(integrator.fits(false)).map_err(fail)?;
            let system = Kind::Lagrangian(Box::new(system.clone()));
            nodes.push(Node { entity, name, system, integrator: *integrator, gravity: scheme.gravity, q0: 0, nq: 0, v0: 0, nv: 0 });
        }
        let bodies: BTreeSet<Entity> = bodies.iter().copied().collect();
        let mut links = Vec::new();
        for &(entity, tie, name, number) in ties {
            let name = called(name, "interaction", number);
            let fail = |reason: &str| ClusterError::Setup(format!("{name}: {reason}"));
            let mut ends = Vec::new();
            for &system in &tie.systems {
                let needed = "its systems have to be bodies and Lagrangian systems, since it meets a body, directly or through others; \
                     first-order systems take inputs z instead";
                let known = places.get(&system).copied();
                if known.is_none() && !bodies.contains(&system) {
                    return Err(fail(needed));
                }
                ends.push(known.unwrap_or_else(|| {
                    places.insert(system, nodes.len());
                    nodes.push(body_node(system));
                    nodes.len() - 1
                }));
            }
            match ends[..] {
                [_] => {}
                [a, b] if a != b => {}
                _ => return Err(fail("one or two different systems are needed")),
            }
            let sizes = |k: usize| match &nodes[k].system {
                Kind::Lagrangian(s) => (s.q.len(), s.v.len()),
                _ => (7, 6),
            };
            let (coordinates, velocities) = ends.iter().map(|&k| sizes(k)).fold((0, 0), |sum, n| (sum.0 + n.0, sum.1 + n.1));
            if !tie.relation.is_second_order() {
                return Err(fail("its relation is for first-order systems, but these are of second order"));
            }
            let valid = tie.relation.validate(coordinates, velocities, tie.z.len()).and_then(|()| tie.check_parameters());
            let valid = valid.and_then(|()| tie.law.validate(tie.relation.rows()));
            valid.map_err(|e| fail(&e))?;
            links.push(Link {
                entity,
                name,
                relation: tie.relation.clone(),
                law: tie.law.clone(),
                z: tie.z.clone(),
                nodes: ends,
                rows: 0..0,
                faces: 0..0,
                blocks: 0..0,
                level: Level::Rate,
                gamma: 0.5,
                restitution: Vec::new(),
                active: tie.active,
            });
        }
        Self::new(nodes, links, scheme)
    }

    /// Whether it still is what these would build.
    pub(crate) fn is_of(&self, systems: &[Guest], ties: &[Tie], scheme: &Scheme) -> bool {
        let node = |(mine, guest): (&Node, &Guest)| {
            let same = matches!(&mine.system, Kind::Lagrangian(s) if same_lagrangian(s, guest.1));
            same && mine.entity == guest.0 && mine.integrator == *guest.2
        };
        let link = |(mine, tie): (&Link, &Tie)| {
            let other = tie.1;
            let systems = mine.nodes.iter().map(|&k| self.nodes[k].entity);
            let sizes = mine.z.len() == other.z.len() && mine.len() == other.lambda.len();
            mine.entity == tie.0
                && sizes
                && systems.eq(other.systems.iter().copied())
                && mine.relation == other.relation
                && mine.law == other.law
                && other.check_parameters().is_ok()
        };
        let counts = self.own == systems.len() && self.links.len() == ties.len() && self.theta == scheme.treatment.theta();
        counts && self.nodes.iter().zip(systems).all(node) && self.links.iter().zip(ties).all(link)
    }

    /// Takes up states, parameters and multipliers at the start of a step.
    pub(crate) fn take_up(&mut self, systems: &[Guest], ties: &[Tie], gravity: DVec3) {
        for (node, &(_, system, ..)) in self.nodes.iter_mut().zip(systems) {
            let Kind::Lagrangian(mine) = &mut node.system else { continue };
            node.gravity = gravity;
            mine.z.copy_from_slice(&system.z);
            self.state.q[node.q0..node.q0 + node.nq].copy_from_slice(&system.q);
            self.state.v[node.v0..node.v0 + node.nv].copy_from_slice(&system.v);
        }
        for ((link, x), &(_, tie, ..)) in self.links.iter_mut().zip(&mut self.rows).zip(ties) {
            link.z.copy_from_slice(&tie.z);
            x.lambda.copy_from_slice(&tie.lambda);
        }
    }

    /// The nodes are Lagrangian systems, then bodies; links name them by number.
    fn new(mut nodes: Vec<Node>, mut links: Vec<Link>, scheme: &Scheme) -> Result<Self, ClusterError> {
        let (mut nq, mut nv, mut own) = (0, 0, 0);
        let theta = scheme.treatment.theta();
        for node in &mut nodes {
            (node.q0, node.v0) = (nq, nv);
            if let Kind::Lagrangian(s) = &node.system {
                (node.nq, node.nv) = (s.q.len(), s.v.len());
                own += 1;
                let projects = matches!(node.integrator, Integrator::MoreauJean { projection, .. } if projection != Projection::None);
                if !projects && !fits(&node.integrator, theta) {
                    return Err(ClusterError::Setup(format!(
                        "{} interacts with a body; in this scene that takes Moreau–Jean with theta = {theta}, but it has {:?}",
                        node.name, node.integrator
                    )));
                }
            } else {
                (node.nq, node.nv) = (7, 6);
            }
            (nq, nv) = (nq + node.nq, nv + node.nv);
        }
        let mut first = 0;
        for link in &mut links {
            link.rows = first..first + link.relation.rows();
            first = link.rows.end;
            link.level = Link::level_of(&link.relation, &link.law);
            link.restitution = Link::restitution_of(&link.law, link.len(), theta);
            if let Law::NormalCone { .. } = link.law {
                let other = "Rows and MixedComplementarity state a law for each row";
                return Err(ClusterError::Setup(format!("{}: a normal cone is not offered where bodies take part; {other}", link.name)));
            }
        }
        let of = |link: &Link| {
            let (m, n) = (link.len(), link.nodes.iter().map(|&k| nodes[k].nv).sum::<usize>());
            let zeros = || vec![0.0; m];
            let g = [vec![0.0; m * n], vec![0.0; m * n]];
            let (y, y_dot, lambda, drift) = (zeros(), zeros(), zeros(), zeros());
            Rows { joined: Joined::default(), g, d: vec![0.0; m * m], y, y_dot, lambda, drift, pieces: rows::pieces(link), blocks: 0..0 }
        };
        let rows = links.iter().map(of).collect();
        let motion = Implicit::new(&nodes[..own], &[], scheme.time_step, RowsAt::End)?;
        if motion.projection != Projection::None {
            return Err(ClusterError::Setup(format!("{} interacts with a body; projection is not offered there", nodes[0].name)));
        }
        let (zeros_q, zeros_v) = (vec![0.0; nq], vec![0.0; nv]);
        Ok(Self {
            own,
            theta,
            links,
            rows,
            motion,
            q: [zeros_q.clone(), zeros_q.clone(), zeros_q.clone()],
            state: State { q: zeros_q, v: zeros_v.clone() },
            v0: zeros_v.clone(),
            guess: zeros_v.clone(),
            free: zeros_v.clone(),
            inverse: Vec::new(),
            acted: zeros_v,
            bodies: Vec::new(),
            examined: false,
            nodes,
        })
    }

    /// Entities of the bodies that relations name, in the order in which [`begin`](Self::begin) takes them.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = Entity> + '_ {
        self.nodes[self.own..].iter().map(|n| n.entity)
    }

    /// Starts a step of length h at t, with what the relations say of its start.
    pub(crate) fn begin(&mut self, t: f64, scheme: &Scheme, bodies: &[Place]) -> Result<(), ClusterError> {
        let Self { nodes, own, links, rows, motion, q, state, v0, guess, examined, .. } = self;
        for (node, body) in nodes[*own..].iter().zip(bodies) {
            state.q[node.q0..node.q0 + 7].copy_from_slice(&coordinates(&body.poses[0]));
            state.v[node.v0..node.v0 + 6].copy_from_slice(&speeds(&body.velocities[0]));
        }
        if !*examined {
            examine::all(nodes, links, state, t)?;
            *examined = true;
        }
        q.iter_mut().for_each(|q| q.copy_from_slice(&state.q));
        v0.copy_from_slice(&state.v);
        guess.copy_from_slice(&state.v);
        let (nq, nv) = (motion.q0.len(), motion.v0.len());
        motion.start(&nodes[..*own], &state.q[..nq], &state.v[..nv], t, scheme.time_step)?;
        for (link, x) in links.iter_mut().zip(rows) {
            x.joined.gather(&link.nodes, nodes, &state.q, &state.v);
            let zeros = buffer(link.len());
            let lambda = if link.level == Level::Output { &x.lambda[..] } else { &zeros[..] };
            link.output(t, &x.joined, lambda, &mut x.y)?;
            link.rows_on_velocities(t, &mut x.joined, nodes, lambda, &mut x.g[0])?;
            link.drift(t, &x.joined, &mut x.y_dot)?;
            let n = x.joined.v.len();
            x.y_dot.iter_mut().zip(x.g[0].chunks_exact(n)).for_each(|(rate, row)| *rate += dot(row, &x.joined.v));
            let forecast = matches!(scheme.treatment, Treatment::Forecast { .. });
            link.active = !link.law.is_impact() || !forecast || x.y[0] + 0.5 * scheme.time_step * x.y_dot[0] <= 0.0;
        }
        Ok(())
    }

    /// Free velocities and Ŵ of the Lagrangian systems in a pass that starts from what the last ones have found together, if that is `mixed`.
    pub(crate) fn move_freely(
        &mut self,
        (t1, h): (f64, f64),
        mixed: &[f64],
        problem: &mut MixedProblem,
        before: [&mut Velocities; 2],
    ) -> Result<(), ClusterError> {
        let Self { nodes, own, motion, state, v0, guess, free, inverse, .. } = self;
        let own = &nodes[..*own];
        let nv = motion.v0.len();
        for velocities in before {
            velocities.general.clear();
            velocities.general.extend_from_slice(&v0[..nv]);
        }
        if !mixed.is_empty() {
            state.v[..nv].copy_from_slice(&mixed[..nv]);
        }
        guess[..nv].copy_from_slice(&state.v[..nv]);
        motion.predict(own, state, h);
        motion.momentum(own, state, t1, h)?;
        motion.factorise(own, state, t1, h)?;
        for (node, x) in own.iter().zip(&mut motion.nodes) {
            let (n, v) = (node.nv, &state.v[node.v0..node.v0 + node.nv]);
            symmetric_part(node, &mut x.w);
            if !cholesky(&mut x.w, n) {
                let matrix = "M + hθ ∂F/∂v + h²θ² ∂F/∂q (its symmetric part has to be positive; a smaller step may do)";
                return Err(ClusterError::Singular { system: node.name.clone(), matrix, time: t1 });
            }
            inverse.resize(n * n, 0.0);
            for (j, column) in inverse.chunks_exact_mut(n).enumerate() {
                column.fill(0.0);
                column[j] = 1.0;
                cholesky_solve(&x.w, n, column);
            }
            let mut change = buffer(n);
            change.iter_mut().zip(&x.rho).for_each(|(c, rho)| *c = -rho);
            hold(node, t1, v, &mut change)?;
            cholesky_solve(&x.w, n, &mut change);
            let free = &mut free[node.v0..node.v0 + n];
            free.iter_mut().zip(v).zip(&change).for_each(|((f, v), dv)| *f = v + dv);
            finite(free, t1, &node.name, "velocity")?;
            problem.push_general(inverse, free);
        }
        Ok(())
    }

    /// Where the bodies are in this pass, and with them the middle of the step.
    pub(crate) fn follow(&mut self, place: impl Fn(Entity) -> Place, h: f64) {
        let Self { nodes, own, motion, q, state, bodies: places, .. } = self;
        places.clear();
        places.extend(nodes[*own..].iter().map(|n| place(n.entity)));
        for (node, body) in nodes[*own..].iter().zip(&*places) {
            q[1][node.q0..node.q0 + 7].copy_from_slice(&coordinates(&body.poses[1]));
            q[2][node.q0..node.q0 + 7].copy_from_slice(&coordinates(&body.poses[2]));
            state.v[node.v0..node.v0 + 6].copy_from_slice(&speeds(&body.velocities[1]));
        }
        for (node, x) in nodes[..*own].iter().zip(&motion.nodes) {
            let here = node.q0..node.q0 + node.nq;
            let (start, others) = q.split_at_mut(1);
            node.move_by(&start[0][here.clone()], 0.5 * h, &x.mean, &mut others[0][here.clone()]);
            others[1][here.clone()].copy_from_slice(&state.q[here]);
        }
    }

    /// Takes over what the solver has found; gives the largest change of a velocity against those that the pass started from, on the scale
    /// of its system.
    pub(crate) fn take(
        &mut self,
        problem: &MixedProblem,
        (reactions, found): (&[f64], &[f64]),
        h: f64,
        mut note: impl FnMut(f64, f64),
    ) -> f64 {
        let Self { nodes, own, links, rows, motion, state, v0, guess, free, .. } = self;
        let mut change = 0.0f64;
        for (node, x) in nodes[..*own].iter().zip(&motion.nodes) {
            let (mut moved, mut size) = (0.0f64, 0.0f64);
            for k in node.v0..node.v0 + node.nv {
                moved = moved.max((found[k] - guess[k]).abs());
                size = [found[k], v0[k], free[k]].into_iter().fold(size, |s, v| s.max(v.abs()));
                note(x.w[(k - node.v0) * (node.nv + 1)] * (found[k] - guess[k]), found[k]);
                state.v[k] = found[k];
            }
            if moved > 0.0 {
                change = change.max(moved / size);
            }
        }
        motion.predict(&nodes[..*own], state, h);
        for (link, x) in links.iter().zip(rows) {
            let scale = if link.level == Level::Output { 1.0 / h } else { 1.0 };
            let first = problem.blocks.get(x.blocks.start).map_or(0, |b| b.first);
            let mine = if x.blocks.is_empty() { &[][..] } else { &reactions[first..first + link.len()] };
            x.lambda.fill(0.0);
            x.lambda.iter_mut().zip(mine).for_each(|(l, r)| *l = r * scale);
        }
        change
    }

    /// After the last pass: outputs at the end of the step, impulses on the systems, their energy and the work done on them.
    pub(crate) fn finish(&mut self, t1: f64, h: f64) -> Result<SystemsWork, ClusterError> {
        let Self { nodes, own, links, rows, motion, q, state, v0, acted, bodies, .. } = self;
        acted.fill(0.0);
        for (node, body) in nodes[*own..].iter().zip(&*bodies) {
            state.q[node.q0..node.q0 + 7].copy_from_slice(&coordinates(&body.poses[2]));
            state.v[node.v0..node.v0 + 6].copy_from_slice(&speeds(&body.velocities[1]));
        }
        for (link, x) in links.iter_mut().zip(rows) {
            let impulse = if link.level == Level::Output { h } else { 1.0 };
            let n: usize = link.nodes.iter().map(|&k| nodes[k].nv).sum();
            for (row, l) in x.g[0].chunks_exact(n).zip(&x.lambda).filter(|_| !x.blocks.is_empty()) {
                link.velocities(nodes).zip(row).for_each(|(place, g)| acted[place] += g * l * impulse);
            }
            x.joined.gather(&link.nodes, nodes, &state.q, &state.v);
            link.output(t1, &x.joined, &x.lambda, &mut x.y)?;
            link.rows_on_velocities(t1, &mut x.joined, nodes, &x.lambda, &mut x.g[1])?;
            link.drift(t1, &x.joined, &mut x.y_dot)?;
            link.relation.remember(&x.joined.q, &mut link.z);
            x.y_dot.iter_mut().zip(x.g[1].chunks_exact(n)).for_each(|(rate, row)| *rate += dot(row, &x.joined.v));
        }
        let own = &mut nodes[..*own];
        motion.momentum(own, state, t1, h)?;
        let mut work = SystemsWork::default();
        for (k, (node, x)) in own.iter_mut().zip(&motion.nodes).enumerate() {
            let n = node.nv;
            let here = node.v0..node.v0 + n;
            let ends = [(&q[0], &v0[here.clone()], t1 - h), (&state.q, &state.v[here.clone()], t1)];
            let mut m = buffer(n * n);
            let mut energy = [0.0; 2];
            for (e, (q, v, t)) in energy.iter_mut().zip(ends) {
                node.mass(t, &q[node.q0..node.q0 + node.nq], v, &mut m)?;
                *e = 0.5 * (0..n).map(|i| v[i] * dot(&m[i * n..][..n], v)).sum::<f64>();
            }
            motion.mass_of_step(node, k, state, t1, h, &mut m)?;
            let (old, new) = (&v0[here.clone()], &state.v[here.clone()]);
            let (mut inertial, mut loads) = (0.0, 0.0);
            let mut drives = 0.0;
            for i in 0..n {
                let mean = 0.5 * (old[i] + new[i]);
                let change: f64 = (0..n).map(|j| m[i * n + j] * (new[j] - old[j])).sum();
                inertial += mean * change;
                loads += mean * (change - x.rho[i]);
                let Kind::Lagrangian(s) = &mut node.system else { continue };
                if let Some(p) = s.prescribed.iter_mut().find(|p| p.index == i) {
                    p.reaction = x.rho[i] - acted[node.v0 + i];
                    // with what rows do there, which see a prescribed velocity as given
                    drives += mean * x.rho[i];
                }
            }
            work.kinetic[0] += energy[0];
            work.kinetic[1] += energy[1];
            work.loads += loads;
            work.drives += drives;
            work.scheme += energy[1] - energy[0] - inertial;
        }
        Ok(work)
    }

    /// Lagrangian systems, then links, by entity.
    pub(crate) fn entities(&self) -> (impl Iterator<Item = Entity> + '_, impl Iterator<Item = Entity> + '_) {
        (self.nodes[..self.own].iter().map(|n| n.entity), self.links.iter().map(|l| l.entity))
    }

    /// Writes q, v, p and the reactions of prescribed velocities of the k-th Lagrangian system; whether something has changed.
    pub(crate) fn write_system(&self, k: usize, to: &mut Lagrangian) -> bool {
        let node = &self.nodes[k];
        let Kind::Lagrangian(mine) = &node.system else { return false };
        let (q, v) = (node.q0..node.q0 + node.nq, node.v0..node.v0 + node.nv);
        let mut new = put(&mut to.q, &self.state.q[q]) | put(&mut to.v, &self.state.v[v.clone()]) | put(&mut to.p, &self.acted[v]);
        for (p, mine) in to.prescribed.iter_mut().zip(&mine.prescribed) {
            new |= std::mem::replace(&mut p.reaction, mine.reaction) != mine.reaction;
        }
        new
    }

    /// Writes y, ẏ, λ of the k-th link and whether it took part; whether something has changed.
    pub(crate) fn write_link(&self, k: usize, to: &mut Interaction) -> bool {
        let (link, x) = (&self.links[k], &self.rows[k]);
        let new = put(&mut to.y, &x.y) | put(&mut to.y_dot, &x.y_dot) | put(&mut to.lambda, &x.lambda) | put(&mut to.z, &link.z);
        std::mem::replace(&mut to.active, link.active) != link.active || new
    }
}

/// Whether a system with this integrator may stand among bodies.
pub(crate) fn fits(integrator: &Integrator, theta: f64) -> bool {
    match *integrator {
        Integrator::MoreauJean { theta: own, projection, .. } => own == theta && projection == Projection::None,
        Integrator::Midpoint { .. } => theta == 0.5,
        _ => false,
    }
}

/// A body as a node: only its numbers of coordinates and velocities count.
fn body_node(entity: Entity) -> Node {
    let system = Kind::Body(Box::new(RigidBody::stand_in()));
    Node { entity, name: String::new(), system, integrator: Integrator::MOREAU_JEAN, gravity: DVec3::ZERO, q0: 0, nq: 7, v0: 0, nv: 6 }
}

/// Replaces Ŵ by its symmetric part, with rows and columns of the identity for what is given.
fn symmetric_part(node: &Node, w: &mut [f64]) {
    let (n, Kind::Lagrangian(s)) = (node.nv, &node.system) else { return };
    for i in 0..n {
        for j in 0..i {
            let mean = 0.5 * (w[i * n + j] + w[j * n + i]);
            (w[i * n + j], w[j * n + i]) = (mean, mean);
        }
    }
    for p in &s.prescribed {
        for k in 0..n {
            (w[k * n + p.index], w[p.index * n + k]) = (0.0, 0.0);
        }
        w[p.index * (n + 1)] = 1.0;
    }
}

/// The change that given velocities need.
fn hold(node: &Node, t1: f64, v: &[f64], change: &mut [f64]) -> Result<(), ClusterError> {
    let Kind::Lagrangian(s) = &node.system else { return Ok(()) };
    for p in &s.prescribed {
        change[p.index] = given_velocity(p, t1, &node.name)? - v[p.index];
    }
    Ok(())
}
