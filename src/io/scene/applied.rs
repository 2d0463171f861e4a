//! `[[load]]`: forces on bodies, at a point or on a face, that rise and fall.
//!
//! ```text
//! F = f(t) F₀            dead: in the world        F = f(t) R Rᵀ₀ F₀      following: with the body
//! M = f M₀ + R s × F     s: from the centre of mass to the point, as at the start
//! pressure               F₀ = −p A n at the centroid of the face
//! ```

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::bodies::Names;
use super::error::SceneError;
use super::fields::Field;
use super::loads::{interpolate, mean};
use super::model::{Body, Motion, Scene, ShapeSpec};
use super::motion::samples;
use super::units::Quantity;

/// A force and a moment on a body, times a factor that depends on time.
///
/// ```
/// use drystone::io::scene::applied::AppliedLoad;
/// use glam::DVec3;
/// let ramp = AppliedLoad { times: vec![0.0, 2.0], factors: vec![0.0, 1.0], ..AppliedLoad::new(0, 5.0 * DVec3::X) };
/// assert_eq!((ramp.factor(1.0), ramp.factor(3.0), ramp.mean([1.0, 3.0])), (0.5, 1.0, 0.875));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AppliedLoad {
    /// Index of the body.
    pub body: usize,
    /// F₀ (N, world axes at the start).
    pub force: DVec3,
    /// M₀ (N m, likewise).
    pub torque: DVec3,
    /// Where the force acts at the start (m, world); `None`: at the centre of mass.
    pub at: Option<DVec3>,
    /// Whether force and moment turn with the body.
    pub follows: bool,
    /// Times (s) that do not fall, of `factors`; never empty. Two equal ones are a jump.
    pub times: Vec<f64>,
    /// f at these times; straight lines between, constant outside.
    pub factors: Vec<f64>,
}

impl AppliedLoad {
    /// A dead load at the centre of mass that is always there.
    pub fn new(body: usize, force: DVec3) -> Self {
        Self { body, force, torque: DVec3::ZERO, at: None, follows: false, times: vec![0.0], factors: vec![1.0] }
    }

    /// f at a time (s).
    pub fn factor(&self, t: f64) -> f64 {
        interpolate(&self.times, &self.factors, t)
    }

    /// Mean of f over a time (s); f at its start where it has no length.
    pub fn mean(&self, [from, to]: [f64; 2]) -> f64 {
        if to > from { mean(&self.times, &self.factors, [from, to]) } else { self.factor(from) }
    }

    /// Whether f never lies outside of 0 and its last value: what is carried at both is carried in between, as admissible sets are convex.
    pub fn is_ramp(&self) -> bool {
        let last = self.factors.last().copied().unwrap_or(0.0);
        self.factors.iter().all(|f| (last.min(0.0)..=last.max(0.0)).contains(f))
    }
}

/// What acts.
enum Action {
    Force([DVec3; 2], Option<DVec3>),
    /// Pressure (Pa), and the way the face looks.
    Pressure(f64, DVec3),
}

/// Reads one section: a load for each of its bodies.
pub(super) fn load(field: &Field<'_>, scene: &Scene, names: &Names) -> Result<Vec<AppliedLoad>, SceneError> {
    let mut f = field.fields()?;
    let list = f.required("bodies")?;
    let bodies = names.bodies(&list)?;
    let pressure = f.maybe("pressure", |p| p.number(Quantity::Pressure))?;
    let face = f.optional("face");
    let force = f.maybe("force", |x| x.vector(Quantity::Force))?;
    let torque = f.maybe("torque", |x| x.vector(Quantity::Torque))?;
    let point = f.optional("at");
    let action = match (pressure, &face, force.is_some() || torque.is_some()) {
        (Some(p), Some(face), false) => Action::Pressure(p, face.direction()?),
        (None, None, true) => {
            let at = point.as_ref().map(|at| at.vector(Quantity::Length)).transpose()?;
            Action::Force([force.unwrap_or_default(), torque.unwrap_or_default()], at)
        }
        (None, None, false) => return Err(f.error("found no force", "add force = [0, 0, \"-1 kN\"], or pressure and face = [0, 0, 1]")),
        (Some(_), None, _) => {
            return Err(f.error("found `pressure` without `face`", "add face = [0, 0, 1]: the way that the loaded face looks"));
        }
        (None, Some(face), _) => return Err(face.error("found `face` without `pressure`", "add pressure = \"1 kPa\", or remove it")),
        (Some(_), Some(_), true) => return Err(f.error("found a force beside a pressure", "write two [[load]] sections")),
    };
    if let Some(at) = point.as_ref().filter(|_| matches!(action, Action::Pressure(..)) || bodies.len() > 1) {
        let message = format!("found `at` of a load on {} bodies or on faces", bodies.len());
        return Err(at.error(message, "it is the point of one body at which a force acts; remove it, or name that body alone"));
    }
    let follows = f.or("follows", false, |x| x.boolean())?;
    let (times, factors) = history(&mut f)?;
    f.finish()?;
    let one = |&i: &usize| {
        let body = &scene.bodies[i];
        if body.motion != Motion::Dynamic {
            let message = format!("found {}, which no load can move", body.name);
            return Err(list.error(message, "name bodies whose motion is \"dynamic\""));
        }
        let ([force, torque], at) = match &action {
            Action::Force(load, at) => (*load, *at),
            Action::Pressure(p, outward) => {
                let (normal, area, centre) = looking(body, *outward).map_err(|(found, cure)| list.error(found, cure))?;
                ([-*p * area * normal, DVec3::ZERO], Some(centre))
            }
        };
        Ok(AppliedLoad { body: i, force, torque, at, follows, times: times.clone(), factors: factors.clone() })
    };
    bodies.iter().map(one).collect()
}

/// `factor = [[t, f], …]`, or `ramp` from `start` on; 1 at all times without any.
fn history(f: &mut super::fields::Fields<'_>) -> Result<(Vec<f64>, Vec<f64>), SceneError> {
    let (table, ramp, start) = (f.optional("factor"), f.optional("ramp"), f.optional("start"));
    match (table, ramp) {
        (Some(table), None) => {
            if let Some(start) = start {
                return Err(start.error("found `start` beside `factor`", "write its times in the table"));
            }
            let (times, rows) = samples::<1>(&table, Quantity::Number, true)?;
            Ok((times, rows.into_iter().map(|[x]| x).collect()))
        }
        (None, ramp) => {
            let from = start.as_ref().map_or(Ok(0.0), |t| t.non_negative(Quantity::Time))?;
            match (ramp, start) {
                (Some(ramp), _) => Ok((vec![from, from + ramp.positive(Quantity::Time)?], vec![0.0, 1.0])),
                (None, Some(_)) => Ok((vec![from, from], vec![0.0, 1.0])),
                (None, None) => Ok((vec![0.0], vec![1.0])),
            }
        }
        (Some(_), Some(ramp)) => Err(ramp.error("found `ramp` beside `factor`", "keep one of them")),
    }
}

/// Cosine between a face and the way that it should look, at least; between triangles of one plane.
const LOOKS: f64 = 0.5;
const ONE_PLANE: f64 = 1.0 - 1e-9;
/// Difference of such cosines that is rounding.
const ALIKE: f64 = 1e-9;

/// Normal, area (m²) and centroid (m, world) of the plane face of a block that looks most along `outward`.
fn looking(body: &Body, outward: DVec3) -> Result<(DVec3, f64, DVec3), (String, String)> {
    if !matches!(body.shape, ShapeSpec::Cuboid { .. } | ShapeSpec::Hull { .. } | ShapeSpec::Mesh { .. }) {
        let found = format!("found {}, a {}, for a pressure", body.name, body.shape.kind());
        return Err((found, "cuboids, hulls and meshes have plane faces; give others a `force` `at` a point".to_owned()));
    }
    let surface =
        body.shape.build().map_err(|e| (format!("{}: {e}", body.name), "mend the shape of this body".to_owned()))?.surface(3, 0.0);
    let corners = |t: &[u32; 3]| t.map(|i| body.pose.point(surface.vertices[i as usize]));
    let area = |[a, b, c]: [DVec3; 3]| 0.5 * (b - a).cross(c - a);
    let best = surface.triangles.iter().map(|t| area(corners(t)).normalize_or_zero());
    let best = best.max_by(|a, b| a.dot(outward).total_cmp(&b.dot(outward))).unwrap_or_default();
    if best.dot(outward) < LOOKS {
        return Err((
            format!("{} has no face that looks along {outward}", body.name),
            "name the way that one of its faces looks".to_owned(),
        ));
    }
    let as_good = |n: DVec3| n.dot(outward) > best.dot(outward) - ALIKE && n.dot(best) < ONE_PLANE;
    if surface.triangles.iter().any(|t| as_good(area(corners(t)).normalize_or_zero())) {
        let found = format!("{} has more than one face that looks along {outward} as well as any", body.name);
        return Err((found, format!("name the way that one of its faces looks, such as {best}")));
    }
    let (mut whole, mut first) = (0.0, DVec3::ZERO);
    for t in surface.triangles.iter().map(corners) {
        let own = area(t);
        if own.normalize_or_zero().dot(best) >= ONE_PLANE {
            whole += own.length();
            first += own.length() * (t[0] + t[1] + t[2]) / 3.0;
        }
    }
    Ok((best, whole, first / whole))
}
