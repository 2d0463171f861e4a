//! Functions of the user, looked at before the first step: whether they read what they do not depend on, whether they write what is
//! asked of them, and whether they can be called at all.
//!
//! ```text
//! reads      f(NaN), f(1) and f(−1) in the places of what is not there have to agree
//! writes     f onto zeros and onto ones: an entry that comes out as it went in, at two states, was never written
//! panics     an index beyond z, or beyond the states, is caught here and named; std::panic says where it stands
//! ```

use super::ClusterError;
use super::State;
use super::body::functions;
use super::link::{Joined, Link};
use super::node::{Node, System, buffer};
use crate::model::newton_euler::BodyForces;
use crate::model::operator::{At, Operator};
use crate::model::relation::Relation;
use crate::model::watched::watched;

static ZERO: [f64; 4096] = [0.0; 4096];
static ONE: [f64; 4096] = [1.0; 4096];
static MINUS: [f64; 4096] = [-1.0; 4096];

/// What an operator may depend on, and where what it may not belongs.
fn cure(what: &str) -> &'static str {
    match what {
        "F_ext" => "it is a function of t and z alone; what depends on the state belongs to F_int, on the left of the equation",
        "b" => "it is a function of t and z alone; what depends on x belongs to f",
        "w" => "it is a function of q and z alone; what depends on v belongs to F_int",
        "A" | "M" => "it is a function of t and z alone; what depends on x belongs to f",
        "C" | "B" | "D" | "e" | "F" => "it is a function of t and z alone; a nonlinear relation takes what depends on states or λ",
        "h" | "G" | "∂h/∂λ" => "an output depends on t, q and z, and on λ where with_compliance gives ∂h/∂λ",
        "f" | "∂f/∂x" | "g" | "∂h/∂X" | "∂g/∂X" | "∂g/∂λ" => {
            "states of first-order systems are x; it is a function of t, x and z, in a relation also of λ"
        }
        _ => "states of second-order systems are q and v; it is a function of t, q, v and z",
    }
}

/// The error of an operator whose value is not finite: because it reads what is not there, if that is so.
#[cold]
#[inline(never)]
pub(super) fn not_finite(op: &Operator, columns: usize, at: &At, out: &mut [f64], name: &str, what: &'static str) -> ClusterError {
    let mut call = |at: &At| watched(|| op.matrix(at, columns, out)).is_ok() && out.iter().all(|x| x.is_finite());
    let needed = call(&at.with_absent(&ZERO, |_| true));
    let mut read = Vec::new();
    for group in ["x", "q", "v", "λ"].into_iter().filter(|_| needed) {
        if !call(&at.with_absent(&ZERO, |g| g != group)) {
            read.push(group);
        }
    }
    if read.is_empty() {
        return ClusterError::NotFinite { system: name.to_string(), operator: what, time: at.t };
    }
    reads(&read, at.t, name, what)
}

fn reads(groups: &[&str], t: f64, name: &str, what: &'static str) -> ClusterError {
    let reason = format!("it reads {}, but {}", groups.join(" and "), cure(what));
    ClusterError::Function { system: name.to_string(), operator: what, time: t, reason }
}

/// The error of a function that panics, with what it was given: most that do read beyond an end.
#[cold]
#[inline(never)]
pub(super) fn panics(said: &str, at: &At, name: &str, what: &'static str) -> ClusterError {
    let size = |slice: &[f64]| if slice.first().is_some_and(|x| x.is_nan()) { "none".to_string() } else { slice.len().to_string() };
    let [x, q, v, lambda] = [at.x, at.q, at.v, at.lambda].map(size);
    let given = format!("it was given {x} of x, {q} of q, {v} of v, {lambda} of λ, {} of z", at.z.len());
    let reason = format!("it panics ({said}); {given}, and the state before the step is kept");
    ClusterError::Function { system: name.to_string(), operator: what, time: at.t, reason }
}

/// One function: its owner, its name and the shape of its value.
struct Examined<'a> {
    op: &'a Operator,
    name: &'a str,
    what: &'static str,
    rows: usize,
    columns: usize,
}

impl Examined<'_> {
    fn wrong(&self, at: &At, reason: String) -> ClusterError {
        ClusterError::Function { system: self.name.to_string(), operator: self.what, time: at.t, reason }
    }

    /// The value; a panic is an error that says what it was.
    fn value(&self, at: &At, start: f64) -> Result<Vec<f64>, ClusterError> {
        let mut out = vec![start; self.rows * self.columns];
        let Operator::Function(f) = self.op else { return Ok(out) };
        // no other way tells a slice that is read beyond its end before the run from one that is not
        let called = watched(|| f(at, &mut out));
        called.map(|()| out).map_err(|said| panics(&said, at, self.name, self.what))
    }

    /// Looks whether it can be called and reads nothing that is not there.
    fn reads(&self, at: &At) -> Result<(), ClusterError> {
        if self.op.is_constant() {
            return Ok(());
        }
        let bits = |x: Vec<f64>| x.into_iter().map(|x| if x.is_nan() { u64::MAX } else { x.to_bits() }).collect::<Vec<_>>();
        let plain = bits(self.value(at, 0.0)?);
        // one that answers differently every time cannot be examined
        let steady = bits(self.value(at, 0.0)?) == plain;
        let mut read = Vec::new();
        for group in ["x", "q", "v", "λ"] {
            let mut there = false;
            at.with_absent(&ONE, |g| {
                there |= g == group;
                false
            });
            if !(there && steady) {
                continue;
            }
            let [one, minus] = [&ONE, &MINUS].map(|values| self.value(&at.with_absent(values, |g| g == group), 0.0).map(bits));
            if one? != plain || minus? != plain {
                read.push(group);
            }
        }
        if read.is_empty() { Ok(()) } else { Err(reads(&read, at.t, self.name, self.what)) }
    }

    /// Marks the rows in which it writes nothing.
    fn unwritten(&self, at: &At) -> Result<Vec<bool>, ClusterError> {
        let (zeros, ones) = (self.value(at, 0.0)?, self.value(at, 1.0)?);
        let untouched = |(z, o): (&[f64], &[f64])| z.iter().all(|x| *x == 0.0) && o.iter().all(|x| *x == 1.0);
        Ok(zeros.chunks_exact(self.columns).zip(ones.chunks_exact(self.columns)).map(untouched).collect())
    }
}

/// Looks at all functions of systems and relations at the state in which they start.
pub(super) fn all(nodes: &[Node], links: &[Link], state: &State, t: f64) -> Result<(), ClusterError> {
    for node in nodes {
        let (q, v) = (&state.q[node.q0..node.q0 + node.nq], state.v.get(node.v0..node.v0 + node.nv).unwrap_or(&[]));
        system(node, q, v, t)?;
    }
    let mut joined = Joined::default();
    for link in links {
        joined.gather(&link.nodes, nodes, &state.q, &state.v);
        relation(link, &joined, nodes, t)?;
    }
    Ok(())
}

fn system(node: &Node, q: &[f64], v: &[f64], t: f64) -> Result<(), ClusterError> {
    let n = node.nv;
    let look = |op, what, rows, columns, at: &At| Examined { op, name: &node.name, what, rows, columns }.reads(at);
    let given = At { z: node.parameters(), ..At::time(t) };
    match &node.system {
        System::FirstOrder(s) => {
            let at = At { x: q, ..given };
            look(&s.m, "M", n, n, &given)?;
            look(&s.a, "A", n, n, &given)?;
            look(&s.b, "b", n, 1, &given)?;
            look(&s.f, "f", n, 1, &at)?;
            look(&s.f_x, "∂f/∂x", n, n, &at)
        }
        System::Lagrangian(s) => {
            let at = At { q, v, ..given };
            look(&s.external, "F_ext", n, 1, &given)?;
            look(&s.mass, "M", n, n, &at)?;
            look(&s.internal, "F_int", n, 1, &at)?;
            look(&s.gyroscopic, "F_gyr", n, 1, &at)?;
            look(&s.weight, "w", n, 3, &At { q, ..given })?;
            let jacobians = [
                (&s.internal_q, "∂F_int/∂q"),
                (&s.internal_v, "∂F_int/∂v"),
                (&s.gyroscopic_q, "∂F_gyr/∂q"),
                (&s.gyroscopic_v, "∂F_gyr/∂v"),
            ];
            jacobians.into_iter().try_for_each(|(op, what)| look(op, what, n, n, &at))?;
            if s.mass.is_constant() {
                return Ok(());
            }
            let mut m = buffer(n * n);
            s.mass.matrix(&at, n, &mut m);
            // one that is not finite, or singular, shows where it is used
            let judged = m.iter().all(|x| x.is_finite()) && m.iter().any(|x| *x != 0.0);
            let good = if judged { crate::model::dynamical_system::check_mass(&m, n) } else { Ok(()) };
            good.map_err(|e| ClusterError::Function { system: node.name.clone(), operator: "M", time: t, reason: e })
        }
        System::Body(s) => forces(&s.forces, &node.name, (t, q, v)),
    }
}

/// Forces and moments of the user on a body.
pub(crate) fn forces(forces: &BodyForces, name: &str, (t, q, v): (f64, &[f64], &[f64])) -> Result<(), ClusterError> {
    let at = At { q, v, z: &forces.z, ..At::time(t) };
    functions(forces).try_for_each(|(op, what, columns)| Examined { op, name, what, rows: 3, columns }.reads(&at))
}

fn relation(link: &Link, s: &Joined, nodes: &[Node], t: f64) -> Result<(), ClusterError> {
    let (m, n) = (link.len(), s.q.len());
    let examined = |op, what, rows, columns| Examined { op, name: &link.name, what, rows, columns };
    let given = At { z: &link.z, ..At::time(t) };
    let lambda = vec![0.0; m];
    match &link.relation {
        Relation::FirstOrderLinear(r) => {
            let operators = [(&r.c, "C", m, n), (&r.b, "B", n, m), (&r.d, "D", m, m), (&r.e, "e", m, 1), (&r.f, "F", m, link.z.len())];
            operators.into_iter().try_for_each(|(op, what, rows, columns)| examined(op, what, rows, columns).reads(&given))
        }
        Relation::FirstOrderNonlinear(r) => {
            let at = At { x: &s.q, lambda: &lambda, ..given };
            let operators = [
                (&r.h, "h", m, 1),
                (&r.g, "g", n, 1),
                (&r.c, "∂h/∂X", m, n),
                (&r.d, "∂h/∂λ", m, m),
                (&r.k, "∂g/∂X", n, n),
                (&r.b, "∂g/∂λ", n, m),
            ];
            operators.into_iter().try_for_each(|(op, what, rows, columns)| examined(op, what, rows, columns).reads(&at))
        }
        Relation::LagrangianLinear(r) => {
            examined(&r.d, "D", m, m).reads(&given)?;
            examined(&r.f, "F", m, link.z.len()).reads(&given)
        }
        Relation::LagrangianNonlinear(r) => {
            let nv: usize = link.nodes.iter().map(|&k| nodes[k].nv).sum();
            let at = link.place(t, &s.q, &lambda);
            examined(&r.h, "h", m, 1).reads(&at)?;
            examined(&r.g, "G", m, nv).reads(&at)?;
            examined(&r.d, "∂h/∂λ", m, m).reads(&at)?;
            examined(&r.h_t, "∂h/∂t", m, 1).reads(&At { q: &s.q, ..given })?;
            // where h alone is given, its rows are those of G
            let rows = match (&r.h, &r.g) {
                (_, Operator::Function(_)) => examined(&r.g, "G", m, nv),
                (Operator::Function(_), Operator::Zero) => examined(&r.h, "h", m, 1),
                _ => return Ok(()),
            };
            let elsewhere: Vec<f64> = s.q.iter().enumerate().map(|(k, q)| q + 1e-3 * libm::sqrt(k as f64 + 2.0)).collect();
            let (here, there) = (rows.unwritten(&at)?, rows.unwritten(&At { q: &elsewhere, ..at })?);
            match here.iter().zip(&there).position(|(a, b)| *a && *b) {
                Some(row) => {
                    let reason = format!("row {row} of {m}, from 0, is never written: its multiplier would act on nothing");
                    Err(rows.wrong(&at, reason))
                }
                None => Ok(()),
            }
        }
        Relation::Joint(_) | Relation::Coordinate(_) | Relation::Transmission(_) => Ok(()),
    }
}
