//! `radius` of generators and inlets: one length, `[smallest, largest]`, or a distribution.

use super::error::{SceneError, did_you_mean};
use super::fields::{Field, Fields};
use super::resources::Resources;
use super::units::{self, Quantity, short};
use crate::granular::sizes::{By, Sizes};

const KINDS: [&str; 4] = ["uniform", "two", "log_normal", "table"];

/// Reads a distribution.
pub(super) fn sizes(field: &Field<'_>, resources: &Resources) -> Result<Sizes, SceneError> {
    let made = if field.is_list() {
        let [low, high] = field.numbers::<2>(Quantity::Length)?;
        Sizes::uniform(low, high, By::Number)
    } else if field.is_table() {
        distribution(field, resources)?
    } else {
        Sizes::one(field.positive(Quantity::Length)?)
    };
    let cure = "write a radius, `[smallest, largest]`, or `{ kind = \"uniform\", \"two\", \"log_normal\" or \"table\", … }`";
    made.map_err(|found| field.error(format!("found {found}"), cure))
}

fn distribution(field: &Field<'_>, resources: &Resources) -> Result<Result<Sizes, String>, SceneError> {
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
        "table" => match f.optional("file") {
            Some(file) => Ok(sieve_curve(&mut f, &file, resources, by)?),
            None => {
                let list = f.required("points")?;
                let point = |p: &Field<'_>| match p.items()?.as_slice() {
                    [r, part] => Ok([r.positive(Quantity::Length)?, part.between(0.0, 1.0)?]),
                    other => Err(p.error(format!("found {} numbers, expected 2", other.len()), "write [radius, part that is smaller]")),
                };
                Sizes::table(&list.items()?.iter().map(point).collect::<Result<Vec<_>, _>>()?, by)
            }
        },
        other => return Err(kind.error(format!("found the unknown distribution \"{}\"", short(other)), did_you_mean(other, KINDS))),
    };
    f.finish()?;
    Ok(made)
}

/// Rows `size, part that is smaller` of a file, between commas, semicolons, tabs or blanks, below a head, if there is one.
fn sieve_curve(f: &mut Fields<'_>, file: &Field<'_>, resources: &Resources, by: By) -> Result<Sizes, SceneError> {
    let unit =
        f.or("unit", 1.0, |u| units::parse(&format!("1 {}", u.text()?), Quantity::Length).map_err(|e| u.error(e.message, e.cure)))?;
    let radius = f.or("of", unit, |of| of.choice(&[("radius", unit), ("diameter", 0.5 * unit)]))?;
    let (path, text) = resources.text(file)?;
    let mut points = Vec::new();
    let rows = (1..).zip(text.lines()).filter(|(_, row)| !row.trim().is_empty() && !row.trim_start().starts_with('#'));
    for (first, (line, row)) in rows.enumerate().map(|(k, row)| (k == 0, row)) {
        let fields = row.split([',', ';', '\t', ' ']).map(str::trim).filter(|field| !field.is_empty());
        match fields.map(str::parse::<f64>).collect::<Result<Vec<_>, _>>().as_deref() {
            Ok([size, part]) => points.push([size * radius, *part]),
            Err(_) if first => {}
            _ => {
                let message = format!("{}:{line}: found \"{}\", expected a size and the part that is smaller", path.display(), short(row));
                return Err(file.error(message, "write two numbers in each row, the second ones from 0 to 1"));
            }
        }
    }
    let cure = "rows are a size and the part that is smaller, both rising, the parts from 0 to 1";
    Sizes::table(&points, by).map_err(|found| file.error(format!("{}: found {found}", path.display()), cure))
}
