//! `[stop]`: what ends a run before its time.

use serde::{Deserialize, Serialize};

use super::error::SceneError;
use super::fields::Field;
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
    /// The unbalanced force, see `diagnostics::grains`, has been below this ratio …
    pub unbalanced: Option<f64>,
    /// … for this long (s).
    pub hold: f64,
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
