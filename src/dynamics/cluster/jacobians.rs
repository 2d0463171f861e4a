//! Jacobians that users give, held against central differences of their functions.

use super::differences::jacobian;
use super::link::{Joined, Link};
use super::node::{Node, System, evaluate};
use super::{Cluster, ClusterError};
use crate::model::newton_euler::BodyForces;
use crate::model::operator::At;
use crate::model::relation::Relation;

/// One Jacobian beside the differences of its function, at the present state: the entry that is farthest off.
///
/// ```
/// use drystone::model::{dynamical_system::FirstOrder, integrator::Integrator, operator::Operator};
/// use drystone::simulation::Simulation;
/// let mut sim = Simulation::with_time_step(1e-2)?;
/// // f = −x³, whose derivative is −3 x²
/// let cubic = FirstOrder::nonlinear(Operator::function(|at, f| f[0] = -at.x[0].powi(3)), [2.0]);
/// let wrong = cubic.with_jacobian(Operator::function(|at, d| d[0] = -2.0 * at.x[0].powi(2)));
/// let system = sim.spawn_system(wrong, Integrator::EULER_MOREAU)?;
/// sim.set_name(system, "damper");
/// let checks = sim.check_jacobians()?;
/// assert_eq!((checks.len(), checks[0].operator, checks[0].given), (1, "∂f/∂x", -8.0));
/// assert!(checks[0].error > 0.3 && (checks[0].difference + 12.0).abs() < 1e-6);
/// assert!(checks[0].to_string().starts_with("∂f/∂x of system \"damper\": row 0, column 0 is -8, but differences give -12.0"));
/// # Ok::<(), drystone::simulation::SimulationError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct JacobianCheck {
    /// Name of the system or interaction.
    pub system: String,
    /// The Jacobian.
    pub operator: &'static str,
    /// Row of its worst entry, from 0.
    pub row: usize,
    /// Its column.
    pub column: usize,
    /// What the user's function says there.
    pub given: f64,
    /// What differences say.
    pub difference: f64,
    /// `|given − difference|`, in parts of the largest entry of both, or of a millionth of the function where that is larger. Differences
    /// alone leave some 1e-9, in parts of the function some 1e-10.
    pub error: f64,
}

impl std::fmt::Display for JacobianCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { system, operator, row, column, given, difference, error } = self;
        write!(f, "{operator} of {system}: row {row}, column {column} is {given}, but differences give {difference} (error {error:.1e})")
    }
}

/// Entries below this part of the function hardly count: differences tell rounding from a slope no better.
const HARDLY: f64 = 1e-6;

/// The entry of `given` that is farthest from the differences of `f` over `x`.
fn compare(
    (name, operator, rows): (&str, &'static str, usize),
    given: &[f64],
    x: &mut [f64],
    mut f: impl FnMut(&[f64], &mut [f64]) -> Result<(), ClusterError>,
) -> Result<JacobianCheck, ClusterError> {
    let (mut value, mut differences) = (vec![0.0; rows], vec![0.0; given.len()]);
    f(x, &mut value)?;
    jacobian(rows, x, &mut differences, f)?;
    let least = HARDLY * value.iter().fold(0.0f64, |s, x| s.max(x.abs()));
    Ok(worst((name, operator, rows), given, &differences, least))
}

fn worst((name, operator, rows): (&str, &'static str, usize), given: &[f64], differences: &[f64], least: f64) -> JacobianCheck {
    let columns = given.len() / rows.max(1);
    let scale = given.iter().chain(differences).fold(least.max(f64::MIN_POSITIVE), |s, x| s.max(x.abs()));
    let off = |k: usize| (given[k] - differences[k]).abs();
    let k = (0..given.len()).fold(0, |worst, k| if off(k) > off(worst) { k } else { worst });
    JacobianCheck {
        system: name.to_string(),
        operator,
        row: k / columns,
        column: k % columns,
        given: given[k],
        difference: differences[k],
        error: off(k) / scale,
    }
}

/// All Jacobians of a cluster that are given, in the order of its systems and interactions.
pub(super) fn check(cluster: &Cluster, t: f64, found: &mut Vec<JacobianCheck>) -> Result<(), ClusterError> {
    let state = &cluster.state;
    for node in &cluster.nodes {
        let q = &state.q[node.q0..node.q0 + node.nq];
        let v = state.v.get(node.v0..node.v0 + node.nv).unwrap_or(&[]);
        system(node, q, v, t, found)?;
    }
    let mut joined = Joined::default();
    for link in &cluster.links {
        joined.gather(&link.nodes, &cluster.nodes, &state.q, &state.v);
        relation(link, &mut joined, &cluster.nodes, &cluster.problem.r[link.rows.clone()], t, found)?;
    }
    Ok(())
}

fn system(node: &Node, q: &[f64], v: &[f64], t: f64, found: &mut Vec<JacobianCheck>) -> Result<(), ClusterError> {
    let (n, name) = (node.nv, node.name.as_str());
    let mut given = vec![0.0; n * n];
    match &node.system {
        System::FirstOrder(s) if !(s.f.is_zero() || s.f_x.is_zero()) => {
            let at = At { z: &s.z, ..At::time(t) };
            evaluate(&s.f_x, n, &At { x: q, ..at }, &mut given, name, "∂f/∂x")?;
            let mut x = q.to_vec();
            found.push(compare((name, "∂f/∂x", n), &given, &mut x, |x, f| evaluate(&s.f, 1, &At { x, ..at }, f, name, "f"))?);
        }
        System::Lagrangian(s) => {
            let at = At { z: &s.z, ..At::time(t) };
            let forces = [
                (&s.internal, "F_int", [(&s.internal_q, "∂F_int/∂q"), (&s.internal_v, "∂F_int/∂v")]),
                (&s.gyroscopic, "F_gyr", [(&s.gyroscopic_q, "∂F_gyr/∂q"), (&s.gyroscopic_v, "∂F_gyr/∂v")]),
            ];
            for (force, what, [on_q, on_v]) in forces {
                if !(force.is_zero() || on_q.0.is_zero()) {
                    evaluate(on_q.0, n, &At { q, v, ..at }, &mut given, name, on_q.1)?;
                    let mut q = q.to_vec();
                    found.push(compare((name, on_q.1, n), &given, &mut q, |q, f| evaluate(force, 1, &At { q, v, ..at }, f, name, what))?);
                }
                if !(force.is_zero() || on_v.0.is_zero()) {
                    evaluate(on_v.0, n, &At { q, v, ..at }, &mut given, name, on_v.1)?;
                    let mut v = v.to_vec();
                    found.push(compare((name, on_v.1, n), &given, &mut v, |v, f| evaluate(force, 1, &At { q, v, ..at }, f, name, what))?);
                }
            }
        }
        System::Body(s) => forces(&s.forces, (name, t), q, v, found)?,
        _ => {}
    }
    Ok(())
}

/// Forces and moments on a body.
fn forces(forces: &BodyForces, (name, t): (&str, f64), q: &[f64], v: &[f64], found: &mut Vec<JacobianCheck>) -> Result<(), ClusterError> {
    let at = At { z: &forces.z, ..At::time(t) };
    let wrenches = [
        (&forces.force, ["force", "∂f/∂q of the force", "∂f/∂v of the force"]),
        (&forces.moment, ["moment", "∂m/∂q of the moment", "∂m/∂v of the moment"]),
    ];
    for (w, [what, on_q, on_v]) in wrenches {
        let mut given = vec![0.0; 21];
        if !(w.value.is_zero() || w.on_q.is_zero()) {
            evaluate(&w.on_q, 7, &At { q, v, ..at }, &mut given, name, on_q)?;
            let mut q = q.to_vec();
            found.push(compare((name, on_q, 3), &given, &mut q, |q, f| evaluate(&w.value, 1, &At { q, v, ..at }, f, name, what))?);
        }
        if !(w.value.is_zero() || w.on_v.is_zero()) {
            given.truncate(18);
            evaluate(&w.on_v, 6, &At { q, v, ..at }, &mut given, name, on_v)?;
            let mut v = v.to_vec();
            found.push(compare((name, on_v, 3), &given, &mut v, |v, f| evaluate(&w.value, 1, &At { q, v, ..at }, f, name, what))?);
        }
    }
    Ok(())
}

fn relation(
    link: &Link,
    s: &mut Joined,
    nodes: &[Node],
    lambda: &[f64],
    t: f64,
    found: &mut Vec<JacobianCheck>,
) -> Result<(), ClusterError> {
    let (m, n, name) = (link.len(), s.q.len(), link.name.as_str());
    let nv: usize = link.nodes.iter().map(|&k| nodes[k].nv).sum();
    match &link.relation {
        Relation::FirstOrderNonlinear(r) => {
            let (x, at) = (&s.q, At { z: &link.z, ..At::time(t) });
            let here = At { x, lambda, ..at };
            for (f, what, rows, on_x, on_lambda) in
                [(&r.h, "h", m, (&r.c, "∂h/∂X"), (&r.d, "∂h/∂λ")), (&r.g, "g", n, (&r.k, "∂g/∂X"), (&r.b, "∂g/∂λ"))]
            {
                if !on_x.0.is_zero() {
                    let mut given = vec![0.0; rows * n];
                    evaluate(on_x.0, n, &here, &mut given, name, on_x.1)?;
                    let mut x = x.clone();
                    found.push(compare((name, on_x.1, rows), &given, &mut x, |x, y| {
                        evaluate(f, 1, &At { x, lambda, ..at }, y, name, what)
                    })?);
                }
                if !on_lambda.0.is_zero() {
                    let mut given = vec![0.0; rows * m];
                    evaluate(on_lambda.0, m, &here, &mut given, name, on_lambda.1)?;
                    let mut lambda = lambda.to_vec();
                    found.push(compare((name, on_lambda.1, rows), &given, &mut lambda, |lambda, y| {
                        evaluate(f, 1, &At { x, lambda, ..at }, y, name, what)
                    })?);
                }
            }
        }
        Relation::LagrangianNonlinear(r) => {
            if !r.g.is_zero() {
                let (mut given, mut differences) = (vec![0.0; m * nv], vec![0.0; m * nv]);
                link.rows_on_velocities(t, s, nodes, lambda, &mut given)?;
                link.rows_by_differences(t, s, nodes, lambda, &mut differences)?;
                found.push(worst((name, "G", m), &given, &differences, 0.0));
            }
            if !r.h_t.is_zero() {
                let mut given = vec![0.0; m];
                link.drift(t, s, &mut given)?;
                let q = &s.q;
                found.push(compare((name, "∂h/∂t", m), &given, &mut [t], |t, y| {
                    evaluate(&r.h, 1, &link.place(t[0], q, lambda), y, name, "h")
                })?);
            }
            if !r.d.is_zero() {
                let (q, mut given, mut lambda) = (&s.q, vec![0.0; m * m], lambda.to_vec());
                evaluate(&r.d, m, &link.place(t, q, &lambda), &mut given, name, "∂h/∂λ")?;
                found.push(compare((name, "∂h/∂λ", m), &given, &mut lambda, |lambda, y| {
                    evaluate(&r.h, 1, &link.place(t, q, lambda), y, name, "h")
                })?);
            }
        }
        _ => {}
    }
    Ok(())
}
