//! The right-hand side of a first-order system, for other integrators, plots and checks.

use super::ClusterError;
use super::node::{Node, System};
use crate::algebra::factor::Lu;
use crate::model::dynamical_system::FirstOrder;
use crate::model::integrator::Integrator;
use bevy_ecs::prelude::Entity;

/// `ẋ = M⁻¹ (A x + b + f + r)` of a system at its state and time t, n values, and `∂ẋ/∂x = M⁻¹ (A + ∂f/∂x)`, n × n row by row.
///
/// r is what interactions put in during the last step.
///
/// ```
/// use drystone::{cluster::right_hand_side, model::{dynamical_system::FirstOrder, operator::Operator}};
/// let growth = FirstOrder::nonlinear(Operator::function(|at, f| f[0] = at.x[0] * (1.0 - at.x[0])), [0.25]);
/// let (rate, jacobian) = right_hand_side(&growth, 0.0)?;
/// assert_eq!(rate, [0.1875]);
/// assert!((jacobian[0] - 0.5).abs() < 1e-9);
/// # Ok::<(), drystone::cluster::ClusterError>(())
/// ```
pub fn right_hand_side(system: &FirstOrder, t: f64) -> Result<(Vec<f64>, Vec<f64>), ClusterError> {
    system.validate().map_err(ClusterError::Setup)?;
    let n = system.x.len();
    let (mut x, mut rhs) = (system.x.clone(), system.r.clone());
    rhs.resize(n, 0.0);
    let node = Node {
        entity: Entity::PLACEHOLDER,
        name: "the system".into(),
        system: System::FirstOrder(system.clone()),
        integrator: Integrator::EULER_MOREAU,
        gravity: glam::DVec3::ZERO,
        q0: 0,
        nq: n,
        v0: 0,
        nv: n,
    };
    let (mut m, mut tangent, mut jacobian) = (vec![0.0; n * n], vec![0.0; n * n], vec![0.0; n * n]);
    node.mass(t, &x, &[], &mut m)?;
    node.add_flow(t, &x, &[], 1.0, &mut rhs)?;
    node.subtract_tangent(t, &mut x, &mut [], 0.0, -1.0, &mut tangent)?;
    let mut lu = Lu::default();
    if !lu.factor(n, |i, row| row.copy_from_slice(&m[i * n..(i + 1) * n])) {
        return Err(ClusterError::Singular { system: node.name, matrix: "M", time: t });
    }
    lu.solve(&mut rhs);
    let mut column = vec![0.0; n];
    for j in 0..n {
        (0..n).for_each(|i| column[i] = tangent[i * n + j]);
        lu.solve(&mut column);
        (0..n).for_each(|i| jacobian[i * n + j] = column[i]);
    }
    Ok((rhs, jacobian))
}
