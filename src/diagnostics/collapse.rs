//! Does it stand, and where is the limit between standing and falling?
//!
//! What stands and what does not, [`super::verdict`] says. Between a value at which a scene stands and one at which it falls the limit is found by bisection; trials
//! that the next rounds may ask for run beside the ones that are asked for, so the bracket is the same on any number of threads.

use super::equilibrium::{Joint, Moved, StaticsError, Structure, moved};
use super::verdict::{ONSET, Outcome, Watch, motion};
use crate::algebra::spatial::Pose;
use crate::io::scene::model::Scene;
use crate::model::newton_euler::BodyPose;
use crate::setup::{BuildError, Built, build};
use glam::DVec3;
use serde::Serialize;
use std::collections::BTreeMap;

/// What only settles while others fall, in parts of the largest motion of a joint, is no part of the mechanism.
const SMALL: f64 = 0.05;

/// What a run says.
///
/// ```
/// use drystone::diagnostics::collapse::trial;
/// let arch = drystone::scenes::load("arch", &[("thickness_ratio", "0.10")])?;
/// let falls = trial(&arch, 0.10)?;
/// assert!(!falls.stands && falls.time.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    /// Of what is varied.
    pub value: f64,
    /// Whether nothing has gone at the end.
    pub stands: bool,
    /// When the first body had gone by 1 % of its smallest length (s).
    pub time: Option<f64>,
    /// Which body that was.
    pub body: Option<String>,
    /// Largest way of a body in parts of its smallest length.
    pub way: f64,
    /// Steps that missed their tolerance or had no solution.
    pub missed: u64,
    /// Joints that move in the collapse, the largest motion first.
    #[serde(skip)]
    pub mechanism: Vec<Moved>,
}

/// Runs a scene to its end, or until a body has gone by its own smallest length.
///
/// # Errors
/// The scene cannot be built or stepped. Where its joints are not known, because systems of one's own hold them, the mechanism is left out.
pub fn trial(scene: &Scene, value: f64) -> Result<Trial, BuildError> {
    let joints = match Structure::of(scene, 0.0) {
        Ok(structure) => structure.joints,
        Err(StaticsError::Scene(error)) => return Err(error),
        Err(StaticsError::Systems | StaticsError::Bearing(_) | StaticsError::Rows(_) | StaticsError::Nothing { .. }) => Vec::new(),
    };
    let mut built = build(scene)?;
    let mut watch = Watch::over(scene);
    let pose = |built: &Built, i: usize| built.simulation.world().get::<BodyPose>(built.entities[i]).map(|p| p.0);
    let mut starts: Vec<Option<Pose>> = vec![None; scene.bodies.len()];
    let mut found = Trial { value, stands: true, time: None, body: None, way: 0.0, missed: 0, mechanism: Vec::new() };
    loop {
        starts.iter_mut().enumerate().filter(|(_, start)| start.is_none()).for_each(|(i, start)| *start = pose(&built, i));
        let (_, way) = watch.look(&built.simulation, &built.entities);
        if way > ONSET && found.mechanism.is_empty() {
            found.mechanism = mechanism(&joints, |i| motion(starts[i], pose(&built, i)).unwrap_or(Pose::IDENTITY));
        }
        if way > 1.0 || built.simulation.time() >= scene.time.end - 1e-9 * scene.time.step {
            break;
        }
        let report = built.simulation.step().map_err(BuildError::from)?;
        found.missed += u64::from(!report.converged);
    }
    found.way = watch.farthest();
    if let Some(verdict) = watch.verdict(&built.simulation, &built.entities) {
        found.stands = verdict.outcome == Outcome::Stands;
        (found.time, found.body) = (verdict.began_s, verdict.began_with);
    }
    if !found.stands && found.mechanism.is_empty() {
        // it has hardly begun
        found.mechanism = mechanism(&joints, |i| motion(starts[i], pose(&built, i)).unwrap_or(Pose::IDENTITY));
    }
    Ok(found)
}

fn mechanism(joints: &[Joint], motion: impl Fn(usize) -> Pose) -> Vec<Moved> {
    let motions: Vec<Vec<[f64; 2]>> = joints.iter().map(|joint| joint.motion(joint.indices.map(&motion).each_ref())).collect();
    let mut found = moved(joints, &motions);
    found.retain(|m| m.opening.max(m.sliding) > SMALL);
    found
}

/// Where standing ends.
///
/// ```
/// use drystone::diagnostics::collapse::Bracket;
/// let b = Bracket { lower: 0.105, upper: 0.106, stands_below: false };
/// assert!(b.width() < 0.01);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bracket {
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
    /// Whether the scene stands at the lower end and falls at the upper one, or the other way round.
    pub stands_below: bool,
}

impl Bracket {
    /// Width in parts of the larger end.
    pub fn width(&self) -> f64 {
        (self.upper - self.lower) / self.lower.abs().max(self.upper.abs()).max(f64::MIN_POSITIVE)
    }

    /// The end at which the scene falls.
    pub fn falling(&self) -> f64 {
        if self.stands_below { self.upper } else { self.lower }
    }

    /// The end at which it stands.
    pub fn standing(&self) -> f64 {
        if self.stands_below { self.lower } else { self.upper }
    }
}

/// Bisects until the bracket is narrower than `tolerance` in parts of its larger end; `jobs` values are tried at a time. `stands` may not
/// know (`None`): the bracket then ends there, as wide as it is. `Ok(Err(stands))` where both ends do the same.
///
/// # Errors
/// The first error of `stands`, in the order of the values.
pub fn bisect<E: Send>(
    between: [f64; 2],
    tolerance: f64,
    jobs: usize,
    stands: impl Fn(f64) -> Result<Option<bool>, E> + Sync,
) -> Result<Result<Bracket, Option<bool>>, E> {
    let mut known: BTreeMap<u64, Option<bool>> = BTreeMap::new();
    let mut ask = |values: &[f64]| -> Result<Vec<Option<bool>>, E> {
        let mut open: Vec<f64> = Vec::new();
        for value in values {
            if !known.contains_key(&value.to_bits()) && !open.contains(value) {
                open.push(*value);
            }
        }
        for chunk in open.chunks(jobs.max(1)) {
            let found: Vec<Result<Option<bool>, E>> = std::thread::scope(|scope| {
                let stands = &stands;
                let workers: Vec<_> = chunk.iter().map(|&value| scope.spawn(move || stands(value))).collect();
                workers.into_iter().map(|w| w.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
            });
            for (value, found) in chunk.iter().zip(found) {
                known.insert(value.to_bits(), found?);
            }
        }
        Ok(values.iter().map(|v| known.get(&v.to_bits()).copied().flatten()).collect())
    };
    let ends = ask(&between)?;
    let (Some(below), Some(above)) = (ends[0], ends[1]) else { return Ok(Err(None)) };
    if below == above {
        return Ok(Err(Some(below)));
    }
    let mut bracket = Bracket { lower: between[0], upper: between[1], stands_below: below };
    while bracket.width() > tolerance {
        // the middle first, then what the next round may ask for
        let mut wanted = Vec::new();
        let mut parts = vec![(bracket.lower, bracket.upper)];
        while wanted.len() < jobs.max(1) {
            let middles: Vec<f64> = parts.iter().map(|(a, b)| 0.5 * (a + b)).collect();
            parts = parts.iter().zip(&middles).flat_map(|(&(a, b), &m)| [(a, m), (m, b)]).collect();
            wanted.extend(middles);
        }
        wanted.truncate(jobs.max(1));
        let middle = wanted[0];
        if middle <= bracket.lower || middle >= bracket.upper {
            break;
        }
        match ask(&wanted)?[0] {
            Some(stands) if stands == bracket.stands_below => bracket.lower = middle,
            Some(_) => bracket.upper = middle,
            None => break,
        }
    }
    Ok(Ok(bracket))
}

/// A horizontal push in the direction of `towards`: gravity turned by `angle` (rad), so that what stood on a floor leans that way.
pub fn tilted(gravity: DVec3, towards: DVec3, angle: f64) -> DVec3 {
    let along = (towards - towards.dot(gravity) / gravity.length_squared().max(f64::MIN_POSITIVE) * gravity).normalize_or_zero();
    libm::cos(angle) * gravity + libm::sin(angle) * gravity.length() * along
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bracket_is_the_same_on_any_number_of_jobs_and_holds_the_limit() {
        let of = |jobs: usize, limit: f64| bisect([0.0, 1.0], 1e-3, jobs, |x| Ok::<_, ()>(Some(x < limit))).unwrap_or(Err(None));
        for limit in [0.3, 0.72, 1e-3] {
            let one = of(1, limit).unwrap_or_else(|e| panic!("{e:?}"));
            assert!(one.lower < limit && limit <= one.upper && one.width() <= 1e-3 && one.stands_below, "{one:?}");
            (2..7).for_each(|jobs| assert_eq!(of(jobs, limit), Ok(one)));
        }
        let down = bisect([0.1, 0.2], 1e-6, 3, |x| Ok::<_, ()>(Some(x >= 0.15))).unwrap_or(Err(None)).unwrap_or_else(|e| panic!("{e:?}"));
        assert!(!down.stands_below && (down.standing() - 0.15).abs() < 1e-6);
        assert_eq!(of(2, 7.0), Err(Some(true)));
        assert_eq!(bisect([0.0, 1.0], 1e-3, 2, |x| Ok::<_, ()>((x != 0.5).then_some(x < 0.6))).map(|b| b.map(|b| b.width())), Ok(Ok(1.0)));
    }

    #[test]
    fn tilted_gravity_keeps_its_size() {
        let g = tilted(DVec3::new(0.0, 0.0, -9.81), DVec3::X, 0.3);
        assert!((g - 9.81 * DVec3::new(0.3f64.sin(), 0.0, -0.3f64.cos())).length() < 1e-14);
    }
}
