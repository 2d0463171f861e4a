//! Forces of the user on bodies ([`BodyForces`]), within the passes of a step.
//!
//! ```text
//! F̄ = θ F(t₁, q₁, v⁽ⁱ⁾) + (1−θ) F(t₀, q₀, v₀)          the load of a pass; moments are averaged in the axes of the body
//! S = hθ C + h²θ² K       C = −∂F/∂v, K = −∂F/∂q        its change with the velocity, by the symmetric part
//! L⁻¹ S L⁻ᵀ = Q Λ Qᵀ,  M = L Lᵀ                         modes of the body under its forces
//! 0 = B (v⁺ − v⁽ⁱ⁾) + D r       B = Qᵀ Lᵀ/√m,  D = 1/(m Λ)       one compliant row for each Λ > 0
//! ```
//!
//! So `Bᵀ r = −S (v⁺ − v⁽ⁱ⁾)`: Newton's step with the symmetric part of Ŵ = M + S, in the same problem as contacts and joints. The rows of a
//! body meet each other nowhere (`B M⁻¹ Bᵀ = 1/m`), their reactions vanish where the passes have settled, and what is left of them does its
//! work in the balance. What pushes away (Λ < 0) and what is not symmetric is taken up by the passes alone.

use super::problem::StepProblem;
use crate::algebra::dense::{cholesky, symmetric_eigen};
use crate::algebra::spatial::Pose;
use crate::cluster::ClusterError;
use crate::cluster::body::{coordinates, speeds, subtract_tangent, wrench};
use crate::cluster::examine;
use crate::integrator::moreau_jean::{advance, rigid_mass, theta_velocity, uses_cayley};
use crate::integrator::systems::Pass;
use crate::model::newton_euler::{AppliedForce, BodyForces, BodyName, Velocity};
use crate::model::scheme::{Clock, Scheme};
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::mixed::{IMMOBILE, MixedProblem, RigidMass, System};
use crate::topology::bodies::{Bodies, BodyRow, Slot};
use bevy_ecs::prelude::*;
use glam::{DMat3, DVec3};

/// Part of the mass below which what a force adds to it is left to the passes.
const LITTLE: f64 = 1e-9;

/// Modes of a body under its forces: rows on its velocity in world axes, and their compliance.
#[derive(Clone, Copy, Debug, Default)]
struct Modes {
    count: usize,
    rows: [[f64; 6]; 6],
    d: [f64; 6],
}

/// A body with forces of the user in this step.
#[derive(Clone, Copy, Debug)]
struct Forced {
    slot: u32,
    entity: Entity,
    /// other loads (world axes)
    others: AppliedForce,
    /// F(t₀, q₀, v₀)
    start: [f64; 6],
    modes: Modes,
    /// velocity from which the pass starts, in world axes
    from: [f64; 6],
}

/// Bodies with forces of the user, in slot order.
#[derive(Resource, Debug, Default)]
pub struct UserForces {
    bodies: Vec<Forced>,
    /// What is wrong with one of them.
    pub(super) error: Option<String>,
}

/// Forces of the user at the velocities of the last pass, as loads of their bodies, and what they add to the masses of these.
pub fn read_forces(
    (scheme, clock, pass): (Res<Scheme>, Res<Clock>, Res<Pass>),
    query: Query<(Entity, &Slot, Ref<BodyForces>)>,
    names: Query<&BodyName>,
    mut bodies: ResMut<Bodies>,
    mut own: ResMut<UserForces>,
) {
    let UserForces { bodies: forced, error } = &mut *own;
    if pass.number == 0 {
        forced.clear();
        *error = None;
        for (entity, slot, forces) in &query {
            let mobile = bodies.get(*slot).is_some_and(|row| row.row != IMMOBILE && row.entity == Some(entity));
            if mobile && !(forces.force.value.is_zero() && forces.moment.value.is_zero()) {
                let (others, start, from) = (AppliedForce::default(), [0.0; 6], [0.0; 6]);
                forced.push(Forced { slot: slot.0, entity, others, start, modes: Modes::default(), from });
            }
        }
        forced.sort_by_key(|f| f.slot);
    }
    for body in forced {
        let Ok((_, _, forces)) = query.get(body.entity) else { continue };
        let Some(row) = bodies.rows.get_mut(body.slot as usize) else { continue };
        let read = body.read(&forces, row, &scheme, clock.time, &pass);
        if let Err(reason) = read {
            let name = names.get(body.entity).map_or("", |n| n.0.as_str());
            error.get_or_insert(called(&reason, name, body.slot));
        }
    }
}

/// The reason with the name of the body in the place of the stand-in.
fn called(reason: &ClusterError, name: &str, slot: u32) -> String {
    let name = if name.is_empty() { format!("body {slot}") } else { format!("body {name:?}") };
    reason.to_string().replace(STAND_IN, &name)
}

/// Names are looked up for messages alone.
const STAND_IN: &str = "‹body›";

impl Forced {
    fn read(&mut self, forces: &Ref<BodyForces>, row: &mut BodyRow, scheme: &Scheme, t: f64, pass: &Pass) -> Result<(), ClusterError> {
        let (h, theta) = (scheme.time_step, scheme.treatment.theta());
        if pass.number == 0 {
            self.others = row.load;
            let (q, v) = (coordinates(&row.pose), speeds(&row.velocity));
            if forces.is_changed() {
                forces.validate().map_err(|e| ClusterError::Setup(format!("{STAND_IN}: {e}")))?;
                examine::forces(forces, STAND_IN, (t, &q, &v))?;
            }
            wrench(forces, (t, &q, &v), STAND_IN, &mut self.start)?;
            row.forced = true;
        }
        let (mut q, mut v) = (coordinates(&end_of(row, scheme)), speeds(&row.new_velocity));
        let mut force = [0.0; 6];
        wrench(forces, (t + h, &q, &v), STAND_IN, &mut force)?;
        force.iter_mut().zip(&self.start).for_each(|(f, start)| *f = theta * *f + (1.0 - theta) * start);
        let turn = row.frame.rotation;
        row.load.force = self.others.force + DVec3::from_slice(&force);
        row.load.torque = self.others.torque + turn * DVec3::from_slice(&force[3..]);
        self.modes.count = 0;
        if pass.nonlinear && !forces.is_steady() {
            let mut s = [0.0; 36];
            subtract_tangent(forces, (t + h, &mut q, &mut v), [h * theta, h * h * theta * theta], STAND_IN, &mut s)?;
            if let Some(inertia) = row.inertia {
                self.modes = Modes::of(&turned(&s, DMat3::from_quat(turn)), &rigid_mass(&inertia, turn, &row.locks));
            }
            let Velocity { linear, angular } = row.new_velocity;
            self.from = speeds(&Velocity { linear, angular: turn * angular });
        }
        Ok(())
    }
}

/// The end of the step at the velocity that the pass starts from.
fn end_of(row: &BodyRow, scheme: &Scheme) -> Pose {
    let mean = theta_velocity(&row.velocity, &row.new_velocity, scheme.treatment.theta());
    let end = advance(&row.pose, &mean, scheme.time_step, uses_cayley(scheme.treatment, scheme.gyroscopic));
    // a free turn is worked out apart
    if row.turn.is_some() { Pose { rotation: row.new_pose.rotation, ..end } } else { end }
}

/// The symmetric part with angular rows and columns in world axes.
fn turned(s: &[f64; 36], r: DMat3) -> [f64; 36] {
    let block = |i: usize, j: usize| {
        let column = |c: usize| DVec3::from_array([0, 1, 2].map(|k| 0.5 * (s[(i + k) * 6 + j + c] + s[(j + c) * 6 + i + k])));
        DMat3::from_cols(column(0), column(1), column(2))
    };
    let (ll, la, aa) = (block(0, 0), block(0, 3) * r.transpose(), r * block(3, 3) * r.transpose());
    let mut out = [0.0; 36];
    for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
        out[i * 6 + j] = ll.col(j)[i];
        out[i * 6 + 3 + j] = la.col(j)[i];
        out[(3 + j) * 6 + i] = la.col(j)[i];
        out[(3 + i) * 6 + 3 + j] = 0.5 * (aa.col(j)[i] + aa.col(i)[j]);
    }
    out
}

impl Modes {
    /// Of S and the inverse mass, both in world axes.
    fn of(s: &[f64; 36], mass: &RigidMass) -> Self {
        let mut modes = Self::default();
        let locked =
            [mass.inverse_mass.x, mass.inverse_mass.y, mass.inverse_mass.z].into_iter().chain(mass.inverse_inertia.into_iter().take(3));
        let locked: [bool; 6] = {
            let mut out = [false; 6];
            out.iter_mut().zip(locked).for_each(|(o, x)| *o = x == 0.0);
            out
        };
        let mut inverse = RigidMass::unpack(mass.inverse_inertia);
        (0..3).filter(|&k| locked[3 + k]).for_each(|k| inverse.col_mut(k)[k] = 1.0);
        let inertia = inverse.inverse();
        let mut l = [0.0; 9];
        (0..9).for_each(|k| l[k] = 0.5 * (inertia.col(k % 3)[k / 3] + inertia.col(k / 3)[k % 3]));
        if !cholesky(&mut l, 3) {
            return modes;
        }
        let own = mass.inverse_mass.max_element();
        let unit = if own > 0.0 { 1.0 / own } else { 1.0 };
        // L, lower triangle, 1 for what is locked
        let mut lower = [0.0; 36];
        for k in 0..3 {
            lower[7 * k] = if mass.inverse_mass[k] > 0.0 { libm::sqrt(1.0 / mass.inverse_mass[k]) } else { 1.0 };
            (0..=k).for_each(|j| lower[(3 + k) * 6 + 3 + j] = l[k * 3 + j]);
        }
        let mut a = *s;
        for i in 0..6 {
            for j in 0..6 {
                if locked[i] || locked[j] {
                    a[i * 6 + j] = 0.0;
                }
            }
        }
        // L⁻¹ S L⁻ᵀ: forward substitution over columns, then over rows
        for c in 0..6 {
            for i in 0..6 {
                let sum: f64 = (0..i).map(|k| lower[i * 6 + k] * a[k * 6 + c]).sum();
                a[i * 6 + c] = (a[i * 6 + c] - sum) / lower[i * 7];
            }
        }
        for r in 0..6 {
            for i in 0..6 {
                let sum: f64 = (0..i).map(|k| lower[i * 6 + k] * a[r * 6 + k]).sum();
                a[r * 6 + i] = (a[r * 6 + i] - sum) / lower[i * 7];
            }
        }
        for (i, j) in (0..6).flat_map(|i| (0..i).map(move |j| (i, j))) {
            let mean = 0.5 * (a[i * 6 + j] + a[j * 6 + i]);
            (a[i * 6 + j], a[j * 6 + i]) = (mean, mean);
        }
        let mut q = [0.0; 36];
        symmetric_eigen(&mut a, &mut q, 6);
        for k in 0..6 {
            let share = a[7 * k];
            if !(share > LITTLE && share.is_finite()) {
                continue;
            }
            let row = &mut modes.rows[modes.count];
            for (j, x) in row.iter_mut().enumerate() {
                // row k of Qᵀ Lᵀ
                *x = (0..=j).map(|i| lower[j * 6 + i] * q[i * 6 + k]).sum::<f64>() / libm::sqrt(unit);
            }
            modes.d[modes.count] = 1.0 / (unit * share);
            modes.count += 1;
        }
        modes
    }
}

impl UserForces {
    /// Appends the rows of all modes, which start from no reaction.
    pub(super) fn push(&self, bodies: &Bodies, scheme: &Scheme, step: &mut StepProblem) {
        let StepProblem { problem, answer, carried, forced, .. } = step;
        *forced = problem.blocks.len();
        answer.reactions.blocks.truncate(problem.block_b.len());
        for body in &self.bodies {
            let Some(row) = bodies.rows.get(body.slot as usize).filter(|row| row.row != IMMOBILE) else { continue };
            for (rate, &d) in body.modes.rows.iter().zip(&body.modes.d).take(body.modes.count) {
                let b = -rate.iter().zip(&body.from).map(|(x, v)| x * v).sum::<f64>();
                problem.push_block(AdmissibleSet::Free, [System::Rigid(row.row), System::Fixed], [rate, &[]], &[b]);
                problem.soften(&[d]);
                let scale = scale(problem, row.row, rate, scheme, b);
                if let Some(block) = problem.blocks.last_mut() {
                    block.scale = scale;
                }
                carried.push(0.0);
                answer.reactions.blocks.push(0.0);
            }
        }
    }
}

/// Speed on which such a row is judged: where the pass starts, what loads alone would make of it, and a fall.
fn scale(problem: &MixedProblem, body: u32, rate: &[f64; 6], scheme: &Scheme, b: f64) -> f64 {
    let free = problem.free.rigid.get(body as usize).map_or(0.0, |free| {
        let v = free.linear.to_array().into_iter().chain(free.angular.to_array());
        rate.iter().zip(v).map(|(x, v)| (x * v).abs()).sum::<f64>()
    });
    b.abs().max(free).max(scheme.time_step * scheme.gravity.length())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::newton_euler::{Inertia, Locks};
    use glam::DQuat;

    /// Bᵀ D⁻¹ B, which has to be S.
    #[test]
    fn the_rows_are_the_matrix_and_meet_each_other_nowhere() {
        let inertia = Inertia { mass: 2.0, principal: DVec3::new(0.1, 0.4, 0.3) };
        let mass = rigid_mass(&inertia, DQuat::from_rotation_y(0.7), &Locks::default());
        let mut s = [0.0; 36];
        // a spring at the end of an arm, and a weak one in all directions
        let arm = [1.0, 0.5, 0.0, 0.2, -0.3, 0.7];
        (0..36).for_each(|k| s[k] = 300.0 * arm[k / 6] * arm[k % 6] + if k / 6 == k % 6 { 0.5 } else { 0.0 });
        let modes = Modes::of(&s, &mass);
        assert_eq!(modes.count, 6);
        for (i, j) in (0..6).flat_map(|i| (0..6).map(move |j| (i, j))) {
            let sum: f64 = (0..6).map(|k| modes.rows[k][i] * modes.rows[k][j] / modes.d[k]).sum();
            assert!((sum - s[i * 6 + j]).abs() < 1e-10, "{i} {j}: {sum} {}", s[i * 6 + j]);
            let (a, b) = (modes.rows[i], modes.rows[j]);
            let linear = mass.inverse_mass * DVec3::from_slice(&b);
            let angular = mass.inertia_times(DVec3::from_slice(&b[3..]));
            let w = DVec3::from_slice(&a).dot(linear) + DVec3::from_slice(&a[3..]).dot(angular);
            assert!((w - if i == j { 0.5 } else { 0.0 }).abs() < 1e-12, "{i} {j}: {w}");
        }
    }

    #[test]
    fn locked_axes_and_what_pushes_away_have_no_rows() {
        let inertia = Inertia { mass: 2.0, principal: DVec3::splat(0.1) };
        let locks = Locks { translation: [false, true, false], rotation: [true; 3] };
        let mut s = [0.0; 36];
        (0..6).for_each(|k| s[7 * k] = 3.0);
        s[14] = -1.0;
        let modes = Modes::of(&s, &rigid_mass(&inertia, DQuat::IDENTITY, &locks));
        assert_eq!(modes.count, 1);
        assert!((modes.rows[0][0].abs() - 1.0).abs() < 1e-15 && (modes.d[0] - 1.0 / 3.0).abs() < 1e-15);
    }
}
