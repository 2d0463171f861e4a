//! `[stop]`: what ends a run before its time.

use serde::{Deserialize, Serialize};

use super::error::SceneError;
use super::fields::Field;
use super::loads::BaseMotion;
use super::model::{Body, Drive, Motion, Scene};
use super::units::Quantity;

/// What ends a run before its time. The end of `[time]` holds beside it.
///
/// ```
/// let rules = drystone::io::scene::stop::StopRules::default();
/// assert!(!rules.collapse && rules.unbalanced.is_none());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StopRules {
    /// A body has gone farther than its own smallest length.
    pub collapse: bool,
    /// A body has gone farther than this (m).
    pub displacement: Option<f64>,
    /// The unbalanced force, see `diagnostics::grains`, has been below this ratio, after the last of what the scene foresees has set in
    /// ([`Scene::last_change`](super::Scene::last_change)), …
    pub unbalanced: Option<f64>,
    /// … for this long (s).
    pub hold: f64,
}

impl Scene {
    /// When (s) the last of what the scene foresees sets in or changes: births, deaths, blows, loads, gravity, water, motions by table, pulses and
    /// records of the ground. What grows or shakes without an end, as a sinusoid does, has set in at 0.
    ///
    /// ```
    /// use drystone::io::scene::{Scene, applied::AppliedLoad};
    /// let mut scene = Scene::new("ramp");
    /// scene.loads.push(AppliedLoad { times: vec![0.0, 1.5], factors: vec![0.0, 1.0], ..AppliedLoad::new(0, glam::DVec3::X) });
    /// assert_eq!(scene.last_change(), 1.5);
    /// ```
    pub fn last_change(&self) -> f64 {
        let of_body = |b: &Body| {
            let table = if let Motion::Kinematic(Drive::Table { times, .. }) = &b.motion { times.last().copied() } else { None };
            b.impulses.iter().map(|i| i.time).chain(table).chain(b.death).fold(b.birth, f64::max)
        };
        let of_base = |base: &BaseMotion| {
            let pulses = base.pulses.iter().map(|p| p.start + p.duration);
            pulses.chain(base.times.last().copied()).fold(0.0, f64::max)
        };
        let tables = self.loads.iter().map(|l| &l.times).chain(self.water.iter().map(|w| &w.times));
        let ends = tables.filter_map(|times| times.last().copied());
        let turns = self.gravity.windows(2).filter(|g| g[0].acceleration != g[1].acceleration).map(|g| g[1].time);
        let rest = turns.chain(self.inlets.iter().map(|inlet| inlet.gate.start));
        self.bodies.iter().map(of_body).chain(self.base.iter().map(of_base)).chain(ends).chain(rest).fold(0.0, f64::max)
    }
}

/// How long forces have to be balanced where the scene does not say (s).
const HOLD: f64 = 0.1;

pub(super) fn read(field: &Field<'_>) -> Result<StopRules, SceneError> {
    let mut f = field.fields()?;
    let collapse = f.or("collapse", false, |c| c.boolean())?;
    let displacement = f.maybe("displacement", |d| d.positive(Quantity::Length))?;
    let unbalanced = f.maybe("unbalanced", |u| u.positive(Quantity::Number))?;
    let hold = f.optional("hold");
    if let (Some(hold), None) = (&hold, unbalanced) {
        return Err(hold.error("found `hold` without `unbalanced`", "add unbalanced = 1e-3, the ratio to be held, or remove it"));
    }
    let hold = hold.map_or(Ok(HOLD), |h| h.non_negative(Quantity::Time))?;
    f.finish()?;
    let rules = StopRules { collapse, displacement, unbalanced, hold };
    if rules == (StopRules { hold, ..StopRules::default() }) {
        let cure = "write collapse = true, displacement = \"5 mm\" or unbalanced = 1e-3, or leave the table out";
        return Err(field.error("found no rule in the table", cure));
    }
    Ok(rules)
}
