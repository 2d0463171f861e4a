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

use super::link::{Joined, Level, Link};
use super::node::{Node, System as Kind, buffer, finite, rotation, same_lagrangian};
use super::second_order::Implicit;
use super::systems::{called, put};
use super::{ClusterError, RowsAt, State, examine};
use crate::algebra::dense::{cholesky, cholesky_solve};
use crate::algebra::spatial::Pose;
use crate::model::dynamical_system::{Lagrangian, NewtonEuler};
use crate::model::integrator::Integrator;
use crate::model::interaction::Interaction;
use crate::model::law::{Law, least_impact};
use crate::model::newton_euler::Velocity;
use crate::model::scheme::{Scheme, Treatment};
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::mixed::{IMMOBILE, MAX_ROWS, MixedProblem, System, Velocities};
use crate::numerics::residual::contact_scale;
use bevy_ecs::name::Name;
use bevy_ecs::prelude::Entity;
use smallvec::SmallVec;
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
    /// velocities at the start, and those that the passes start from and by how much they miss
    v0: Vec<f64>,
    guess: Vec<f64>,
    missed: Vec<f64>,
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
            nodes.push(Node { entity, name, system, integrator: *integrator, q0: 0, nq: 0, v0: 0, nv: 0 });
        }
        let bodies: BTreeSet<Entity> = bodies.iter().copied().collect();
        let mut links = Vec::new();
        for &(entity, tie, name, number) in ties {
            let name = called(name, "interaction", number);
            let fail = |reason: &str| ClusterError::Setup(format!("{name}: {reason}"));
            let mut ends = Vec::new();
            for &system in &tie.systems {
                let needed = "its systems have to be bodies and Lagrangian systems, since it meets a body, directly or through others; \
                     first-order systems take inputs z instead, and a NewtonEuler system is spawned as a body";
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
            let valid = tie.relation.validate(coordinates, velocities, tie.z.len()).and_then(|()| tie.law.validate(tie.relation.rows()));
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
        };
        let counts = self.own == systems.len() && self.links.len() == ties.len() && self.theta == scheme.treatment.theta();
        counts && self.nodes.iter().zip(systems).all(node) && self.links.iter().zip(ties).all(link)
    }

    /// Takes up states, parameters and multipliers at the start of a step.
    pub(crate) fn take_up(&mut self, systems: &[Guest], ties: &[Tie]) {
        for (node, &(_, system, ..)) in self.nodes.iter_mut().zip(systems) {
            let Kind::Lagrangian(mine) = &mut node.system else { continue };
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
                let fits = matches!(node.integrator, Integrator::MoreauJean { .. } | Integrator::Midpoint { .. });
                if !fits || node.theta() != theta {
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
        let rows = |link: &Link| {
            let (m, n) = (link.len(), link.nodes.iter().map(|&k| nodes[k].nv).sum::<usize>());
            let zeros = || vec![0.0; m];
            let g = [vec![0.0; m * n], vec![0.0; m * n]];
            let (y, y_dot, lambda, drift) = (zeros(), zeros(), zeros(), zeros());
            Rows { joined: Joined::default(), g, d: vec![0.0; m * m], y, y_dot, lambda, drift, pieces: pieces(link), blocks: 0..0 }
        };
        let rows = links.iter().map(rows).collect();
        let motion = Implicit::new(&nodes[..own], &[], scheme.time_step, RowsAt::End)?;
        if motion.projection != crate::model::integrator::Projection::None {
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
            missed: zeros_v.clone(),
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
        let Self { nodes, own, links, rows, motion, q, state, v0, guess, missed, examined, .. } = self;
        for (node, body) in nodes[*own..].iter().zip(bodies) {
            write_pose(&body.poses[0], &mut state.q[node.q0..]);
            write_velocity(&body.velocities[0], &mut state.v[node.v0..]);
        }
        if !*examined {
            examine::all(nodes, links, state, t)?;
            *examined = true;
        }
        q.iter_mut().for_each(|q| q.copy_from_slice(&state.q));
        v0.copy_from_slice(&state.v);
        guess.copy_from_slice(&state.v);
        missed.fill(0.0);
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

    /// Free velocities and Ŵ of the Lagrangian systems in a pass that starts from a `share` of what the last one has found.
    pub(crate) fn move_freely(
        &mut self,
        (t1, h): (f64, f64),
        share: f64,
        problem: &mut MixedProblem,
        before: [&mut Velocities; 2],
    ) -> Result<(), ClusterError> {
        let Self { nodes, own, motion, state, v0, guess, missed, free, inverse, .. } = self;
        let own = &nodes[..*own];
        let nv = motion.v0.len();
        for velocities in before {
            velocities.general.clear();
            velocities.general.extend_from_slice(&v0[..nv]);
        }
        for k in 0..nv {
            if share != 1.0 {
                state.v[k] = guess[k] + share * missed[k];
            }
            guess[k] = state.v[k];
        }
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
            write_pose(&body.poses[1], &mut q[1][node.q0..]);
            write_pose(&body.poses[2], &mut q[2][node.q0..]);
            write_velocity(&body.velocities[1], &mut state.v[node.v0..]);
        }
        for (node, x) in nodes[..*own].iter().zip(&motion.nodes) {
            let here = node.q0..node.q0 + node.nq;
            let (start, others) = q.split_at_mut(1);
            node.move_by(&start[0][here.clone()], 0.5 * h, &x.mean, &mut others[0][here.clone()]);
            others[1][here.clone()].copy_from_slice(&state.q[here]);
        }
    }

    /// Appends the rows of a link; `guess` takes its impulses of the last step where it is there, `carried` what immobile bodies give to each
    /// row.
    pub(crate) fn push(
        &mut self,
        link: usize,
        t1: f64,
        scheme: &Scheme,
        problem: &mut MixedProblem,
        (carried, guess): (&mut Vec<f64>, Option<&mut Vec<f64>>),
    ) -> Result<(), ClusterError> {
        let Self { nodes, own, links, rows, q, state, v0, free, bodies, .. } = self;
        let (link, x) = (&links[link], &mut rows[link]);
        let first = problem.blocks.len();
        x.blocks = first..first;
        if !link.active {
            return Ok(());
        }
        let (h, theta, m) = (scheme.time_step, scheme.treatment.theta(), link.len());
        let middle_time = t1 - 0.5 * h;
        x.joined.gather(&link.nodes, nodes, &q[1], &state.v);
        let n = x.joined.v.len();
        link.rows_on_velocities(middle_time, &mut x.joined, nodes, &x.lambda, &mut x.g[0])?;
        x.joined.gather(&link.nodes, nodes, &q[2], &state.v);
        link.drift(t1, &x.joined, &mut x.drift)?;
        let mut b = buffer(m);
        let soft = Link::compliant(&link.relation);
        if soft {
            link.compliance(t1, &x.joined, &mut x.lambda, &mut x.d)?;
        }
        match link.level {
            Level::Rate => {
                b.copy_from_slice(&x.drift);
                if theta < 1.0 {
                    // of immobile bodies too: they stand where they are at the end
                    let [middle, end] = &mut x.g;
                    link.rows_on_velocities(t1, &mut x.joined, nodes, &x.lambda, end)?;
                    let v = &x.joined.v;
                    b.iter_mut().enumerate().for_each(|(i, b)| *b += dot(&end[i * n..][..n], v) - dot(&middle[i * n..][..n], v));
                }
            }
            Level::Output => {
                link.output(t1, &x.joined, &x.lambda, &mut b)?;
                for (i, b) in b.iter_mut().enumerate() {
                    let given = if soft { dot(&x.d[i * m..][..m], &x.lambda) } else { 0.0 };
                    *b = (*b - given) / (h * theta) - dot(&x.g[0][i * n..][..n], &x.joined.v);
                }
            }
        }
        close(link, x, scheme, &mut b);
        if let Law::Spring { stiffness, damping, .. } = link.law {
            for (i, b) in b.iter_mut().enumerate() {
                let [d, part] = Law::spring_row(stiffness, damping, (x.y[i], x.y_dot[i]), theta, h);
                *b += part;
                x.d[i * (m + 1)] = d;
            }
        }
        // what each system gives to the rows: its columns, in world axes for bodies
        let mut jacobians = [buffer(0), buffer(0)];
        let mut systems = [System::Fixed; 2];
        let (mut driven, mut scale) = (buffer(m), buffer(m));
        let mut column = 0;
        for (part, &k) in link.nodes.iter().enumerate() {
            let node = &nodes[k];
            let rows = || x.g[0].chunks_exact(n).map(|row| &row[column..column + node.nv]);
            let v = &state.v[node.v0..node.v0 + node.nv];
            if let Kind::Lagrangian(s) = &node.system {
                systems[part] = System::General(k as u32);
                for (i, row) in rows().enumerate() {
                    let start = jacobians[part].len();
                    jacobians[part].extend_from_slice(row);
                    for p in &s.prescribed {
                        let share = row[p.index] * p.velocity.at(t1);
                        (b[i], driven[i]) = (b[i] + share, driven[i] + share);
                        jacobians[part][start + p.index] = 0.0;
                    }
                    let speed = |j: usize| v0[node.v0 + j].abs() + (free[node.v0 + j] - v0[node.v0 + j]).abs();
                    scale[i] += row.iter().enumerate().map(|(j, g)| g.abs() * speed(j)).sum::<f64>();
                }
            } else {
                let body = &bodies[k - *own];
                let turn = rotation(&q[1][node.q0..node.q0 + 7]);
                for (i, row) in rows().enumerate() {
                    let [linear, angular] = [0, 3].map(|j| glam::DVec3::from_slice(&row[j..]));
                    // a body that moves across the row rounds there too
                    let speed = &body.velocities[0];
                    scale[i] += linear.length() * speed.linear.length() + angular.length() * speed.angular.length();
                    scale[i] += fall(problem, body.row, linear.length(), angular.length()) * h * scheme.gravity.length();
                    if body.row == IMMOBILE {
                        let share = dot(row, v);
                        (b[i], driven[i]) = (b[i] + share, driven[i] + share);
                    } else {
                        jacobians[part].extend_from_slice(&linear.to_array());
                        jacobians[part].extend_from_slice(&(turn * angular).to_array());
                    }
                }
                if body.row != IMMOBILE {
                    systems[part] = System::Rigid(body.row);
                }
            }
            column += node.nv;
        }
        if let Some(row) = (0..m).find(|&i| !moves(problem, systems, &jacobians, i, m)) {
            let reason = format!("row {row} of its relation moves nothing at t = {t1} s: G is zero there, or what it asks for is locked");
            return Err(ClusterError::Setup(format!("{}: {reason}", link.name)));
        }
        let impulse = if link.level == Level::Output { h } else { 1.0 };
        let mut row = 0;
        for &(set, count) in &x.pieces {
            let here = row..row + count;
            let used = |k: usize| {
                let width = problem.dofs(systems[k]);
                here.start * width..here.end * width
            };
            let parts = [used(0), used(1)];
            let set = match set {
                AdmissibleSet::Interval { lower, upper } => AdmissibleSet::Interval { lower: h * lower, upper: h * upper },
                other => other,
            };
            problem.push_block(set, systems, [&jacobians[0][parts[0].clone()], &jacobians[1][parts[1].clone()]], &b[here.clone()]);
            if soft || matches!(link.law, Law::Spring { .. }) {
                let factor = if soft { 1.0 / (h * h * theta) } else { 1.0 };
                soften(link, problem, &x.d, here.clone(), factor, t1)?;
            }
            let approach = b[here.clone()].iter().fold(0.0, |s: f64, b| s.max(b.abs()));
            let natural = scale[here.clone()].iter().fold(0.0, |s: f64, x| s.max(*x));
            if let Some(block) = problem.blocks.last_mut() {
                block.scale = natural.max(contact_scale(h, 0.0, approach, f64::INFINITY));
            }
            row += count;
        }
        x.blocks.end = problem.blocks.len();
        carried.extend_from_slice(&driven);
        if let Some(guess) = guess {
            guess.extend(x.lambda.iter().map(|l| if scheme.warm_start { l * impulse } else { 0.0 }));
        }
        Ok(())
    }

    /// Takes over what the solver has found; gives the largest change of a velocity against those that the pass started from, on the scale
    /// of its system, and the sums of Irons and Tuck's relaxation.
    pub(crate) fn take(&mut self, problem: &MixedProblem, reactions: &[f64], found: &[f64], h: f64) -> (f64, [f64; 2]) {
        let Self { nodes, own, links, rows, motion, state, v0, guess, missed, free, .. } = self;
        let (mut change, mut sums) = (0.0f64, [0.0; 2]);
        for (node, x) in nodes[..*own].iter().zip(&motion.nodes) {
            let (mut moved, mut size) = (0.0f64, 0.0f64);
            for k in node.v0..node.v0 + node.nv {
                moved = moved.max((found[k] - guess[k]).abs());
                size = [found[k], v0[k], free[k]].into_iter().fold(size, |s, v| s.max(v.abs()));
                let (miss, last) = (found[k] - guess[k], missed[k]);
                let weight = x.w[(k - node.v0) * (node.nv + 1)].powi(2);
                sums[0] += weight * last * (miss - last);
                sums[1] += weight * (miss - last).powi(2);
                missed[k] = miss;
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
        (change, sums)
    }

    /// After the last pass: outputs at the end of the step, impulses on the systems, their energy and the work done on them.
    pub(crate) fn finish(&mut self, t1: f64, h: f64) -> Result<SystemsWork, ClusterError> {
        let Self { nodes, own, links, rows, motion, q, state, v0, acted, bodies, .. } = self;
        acted.fill(0.0);
        for (node, body) in nodes[*own..].iter().zip(&*bodies) {
            write_pose(&body.poses[2], &mut state.q[node.q0..]);
            write_velocity(&body.velocities[1], &mut state.v[node.v0..]);
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

/// A body as a node: only its numbers of coordinates and velocities count.
fn body_node(entity: Entity) -> Node {
    let system = Kind::NewtonEuler(NewtonEuler::new(1.0, [1.0; 3]));
    Node { entity, name: String::new(), system, integrator: Integrator::MOREAU_JEAN, q0: 0, nq: 7, v0: 0, nv: 6 }
}

/// What the law adds to the rows of a relation: restitution, or the gap that closes; the feedback of what is open.
fn close(link: &Link, x: &Rows, scheme: &Scheme, b: &mut [f64]) {
    let h = scheme.time_step;
    if link.level == Level::Output {
        return;
    }
    if !link.law.is_impact() {
        if link.law == Law::Equality {
            b.iter_mut().zip(&x.y).for_each(|(b, y)| *b += scheme.joint_feedback * y / h);
        }
        return;
    }
    let (y, rate) = (x.y[0], x.y_dot[0]);
    let restitution = || link.restitution.iter().zip(&x.y_dot).map(|(e, rate)| e * rate);
    match scheme.treatment {
        Treatment::Forecast { .. } => b.iter_mut().zip(restitution()).for_each(|(b, part)| *b += part),
        Treatment::GapAware { beta } => {
            let strikes = rate < -least_impact(h, scheme.gravity) && y + h * rate <= 0.0;
            if strikes && link.restitution.iter().any(|e| *e != 0.0) {
                b.iter_mut().zip(restitution()).for_each(|(b, part)| *b += part);
            } else {
                b[0] += (if y > 0.0 { y } else { beta * y }) / h;
            }
        }
    }
}

/// The blocks of a link: the scalar laws of its rows, or all rows at once.
fn pieces(link: &Link) -> Vec<(AdmissibleSet, usize)> {
    let m = link.len();
    let one_by_one = link.law == Law::Equality && (m > MAX_ROWS || Link::compliant(&link.relation));
    if one_by_one { vec![(AdmissibleSet::Free, 1); m] } else { link.sets() }
}

/// What a row with these parts on a body sees of a fall of the body, or of a turn as fast as that moves its mass (per m/s).
fn fall(problem: &MixedProblem, body: u32, linear: f64, angular: f64) -> f64 {
    let Some(mass) = problem.rigid.get(body as usize) else { return linear };
    let [a, b, c, ..] = mass.inverse_inertia;
    // 1/ℓ², ℓ the radius of gyration
    let gyration = a.max(b).max(c) / mass.inverse_mass.max_element();
    if gyration.is_finite() { linear + angular * gyration.sqrt() } else { linear }
}

/// Whether an impulse on row i of m moves a system.
fn moves(problem: &MixedProblem, systems: [System; 2], jacobians: &[SmallVec<[f64; 64]>; 2], i: usize, m: usize) -> bool {
    systems.into_iter().zip(jacobians).any(|(system, rows)| {
        let n = rows.len() / m;
        let mut change = buffer(n);
        problem.inverse_mass_times(system, &rows[i * n..(i + 1) * n], &mut change);
        dot(&rows[i * n..(i + 1) * n], &change) > 0.0
    })
}

/// Gives the last block its part of D, which has to stand in the block alone.
fn soften(link: &Link, problem: &mut MixedProblem, d: &[f64], rows: Range<usize>, factor: f64, t: f64) -> Result<(), ClusterError> {
    let (m, count) = (link.len(), rows.len());
    let mut own = buffer(count * count);
    let mut beside = false;
    for (i, row) in rows.clone().enumerate() {
        for j in 0..m {
            let x = d[row * m + j];
            match j.checked_sub(rows.start).filter(|k| *k < count) {
                Some(k) => own[i * count + k] = factor * x,
                None => beside |= x != 0.0,
            }
        }
    }
    if own.iter().all(|x| *x == 0.0) && !beside {
        return Ok(());
    }
    let mut factor = buffer(count * count);
    factor.copy_from_slice(&own);
    let symmetric = (0..count * count).all(|k| own[k] == own[(k % count) * count + k / count]);
    if beside || !symmetric || !cholesky(&mut factor, count) {
        let needed = "where bodies take part each row needs a compliance of its own, 0 or positive";
        return Err(ClusterError::Setup(format!("{}: D couples rows or is not positive at t = {t} s; {needed}", link.name)));
    }
    problem.soften(&own);
    Ok(())
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
        let given = [p.velocity.at(t1)];
        finite(&given, t1, &node.name, "a prescribed velocity")?;
        change[p.index] = given[0] - v[p.index];
    }
    Ok(())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    crate::algebra::dense::dot(a, b)
}

fn write_pose(pose: &Pose, q: &mut [f64]) {
    q[..3].copy_from_slice(&pose.position.to_array());
    let r = pose.rotation;
    q[3..7].copy_from_slice(&[r.w, r.x, r.y, r.z]);
}

fn write_velocity(velocity: &Velocity, v: &mut [f64]) {
    v[..3].copy_from_slice(&velocity.linear.to_array());
    v[3..6].copy_from_slice(&velocity.angular.to_array());
}
