//! `radius` of generators and inlets: one length, `[smallest, largest]`, or a distribution.

use super::error::{SceneError, did_you_mean};
use super::fields::{Field, Fields};
use super::units::{Quantity, short};
use crate::granular::sizes::{By, Sizes};

const KINDS: [&str; 4] = ["uniform", "two", "log_normal", "table"];

/// Reads a distribution.
pub(super) fn sizes(field: &Field<'_>) -> Result<Sizes, SceneError> {
    let made = if field.is_list() {
        let [low, high] = field.numbers::<2>(Quantity::Length)?;
        Sizes::uniform(low, high, By::Number)
    } else if field.is_table() {
        distribution(field)?
    } else {
        Sizes::one(field.positive(Quantity::Length)?)
    };
    let cure = "write a radius, `[smallest, largest]`, or `{ kind = \"uniform\", \"two\", \"log_normal\" or \"table\", … }`";
    made.map_err(|found| field.error(format!("found {found}"), cure))
}

fn distribution(field: &Field<'_>) -> Result<Result<Sizes, String>, SceneError> {
    let mut f = field.fields()?;
    let by = f.or("by", By::Number, |b| b.choice(&[("number", By::Number), ("mass", By::Mass)]))?;
    let kind = f.required("kind")?;
    let length = |f: &mut Fields<'_>, key| f.required(key)?.positive(Quantity::Length);
    let made = match kind.text()? {
        "uniform" => Sizes::uniform(length(&mut f, "min")?, length(&mut f, "max")?, by),
        "two" => {
            let radii = [length(&mut f, "small")?, length(&mut f, "large")?];
            Sizes::two(radii, f.required("share")?.between(0.0, 1.0)?, by)
        }
        "log_normal" => {
            let (median, sigma) = (length(&mut f, "median")?, f.required("sigma")?.positive(Quantity::Number)?);
            let bounds = [f.maybe("min", |r| r.positive(Quantity::Length))?, f.maybe("max", |r| r.positive(Quantity::Length))?];
            let bounds = match bounds {
                [None, None] => None,
                [Some(low), Some(high)] => Some([low, high]),
                _ => return Err(field.error("found one bound of a log-normal distribution", "give both `min` and `max`, or neither")),
            };
            Sizes::log_normal(median, sigma, bounds, by)
        }
        "table" => {
            let list = f.required("points")?;
            let point = |p: &Field<'_>| match p.items()?.as_slice() {
                [r, part] => Ok([r.positive(Quantity::Length)?, part.between(0.0, 1.0)?]),
                other => Err(p.error(format!("found {} numbers, expected 2", other.len()), "write [radius, part that is smaller]")),
            };
            Sizes::table(&list.items()?.iter().map(point).collect::<Result<Vec<_>, _>>()?, by)
        }
        other => return Err(kind.error(format!("found the unknown distribution \"{}\"", short(other)), did_you_mean(other, KINDS))),
    };
    f.finish()?;
    Ok(made)
}
