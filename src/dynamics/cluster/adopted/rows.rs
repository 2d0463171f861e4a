//! Rows of relations: what the law of a link makes of its G, gap and compliance, as blocks of the problem.

use super::{Adopted, Rows};
use crate::algebra::dense::{cholesky, dot};
use crate::cluster::ClusterError;
use crate::cluster::body::rotation;
use crate::cluster::link::{Level, Link};
use crate::cluster::node::{System as Kind, buffer};
use crate::model::law::{Law, least_impact};
use crate::model::scheme::{Scheme, Treatment};
use crate::model::spring::SpringRule;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::mixed::{IMMOBILE, MAX_ROWS, MixedProblem, System};
use crate::numerics::residual::contact_scale;
use smallvec::SmallVec;
use std::ops::Range;

impl Adopted {
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
            let rule = SpringRule::of_theta(theta);
            for (i, b) in b.iter_mut().enumerate() {
                let [d, part] = rule.row(stiffness, damping, (x.y[i], x.y_dot[i]), h);
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
pub(super) fn pieces(link: &Link) -> Vec<(AdmissibleSet, usize)> {
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
