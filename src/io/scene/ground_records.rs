//! `[base]` of a scene, and records over time in files: columns of numbers, and PEER's AT2, VT2 and DT2.
//!
//! ```text
//! columns    t, a   or   t, x, y, z;   with `interval` without t         between: comma, semicolon (then 0,5 is a half), tab or blanks
//! PEER       … UNITS OF G \n NPTS= 4000, DT= .005 SEC \n numbers, so many to a line as there are
//! ```

use std::path::Path;

use glam::DVec3;

use super::error::SceneError;
use super::fields::{Field, Fields};
use super::ground::{Pulse, PulseForm};
use super::loads::BaseMotion;
use super::motion::samples;
use super::resources::Resources;
use super::units::{self, Quantity, short};
use crate::io::table::axis;

/// Standard gravity (m/s²): what records in g are multiples of.
const G: f64 = 9.806_65;
/// Samples from which intervals are looked at.
const RECORD: usize = 20;
/// Intervals (s) at which motion of the ground is recorded: from rarer or denser ones a wrong unit of time is read.
const INTERVALS: [f64; 2] = [1e-5, 0.5];
/// What `quantity` may be.
const QUANTITIES: [(&str, Quantity); 3] =
    [("acceleration", Quantity::Acceleration), ("velocity", Quantity::Velocity), ("displacement", Quantity::Length)];

/// Reads the motion of the ground.
pub(super) fn base(field: &Field<'_>, resources: &Resources) -> Result<BaseMotion, SceneError> {
    let mut f = field.fields()?;
    let direction = f.or("direction", DVec3::X, |d| d.direction())?;
    let scale = f.or("scale", 1.0, |s| s.number(Quantity::Number))?;
    let start = f.or("start", 0.0, |t| t.number(Quantity::Time))?;
    let baseline = f.or("baseline", None, |b| b.choice(&[("none", None), ("constant", Some(false)), ("linear", Some(true))]))?;
    let pulses: Vec<Pulse> = f.list("pulses")?.iter().map(|p| pulse(p, direction)).collect::<Result<_, _>>()?;
    let mut motion = match (f.optional("acceleration"), f.optional("samples"), f.optional("file"), f.optional("components")) {
        (Some(a), None, None, None) => BaseMotion::of_accelerations(vec![0.0], vec![along(&a, direction)?]),
        (None, Some(list), None, None) => in_place(&mut f, &list)?,
        (None, None, Some(file), None) => record(&mut f, &file, direction, resources)?,
        (None, None, None, Some(list)) => {
            let mut sum = BaseMotion::default();
            for item in list.items()? {
                let mut c = item.fields()?;
                let direction = c.required("direction")?.direction()?;
                let scale = c.or("scale", 1.0, |s| s.number(Quantity::Number))?;
                let file = c.required("file")?;
                let mut part = record(&mut c, &file, direction, resources)?;
                part.scale(scale);
                c.finish()?;
                sum = sum.plus(&part);
            }
            sum
        }
        (None, None, None, None) if !pulses.is_empty() => BaseMotion::default(),
        _ => {
            return Err(f.error(
                "the base needs exactly one of `acceleration`, `samples`, `file` and `components`, or `pulses`",
                "write `acceleration = [x, y, z]` in m/s2, or `acceleration = \"0.2 g\"` along `direction`, or `file = \"record.at2\"`",
            ));
        }
    };
    if let Some(place) = baseline {
        motion.correct_baseline(place);
    }
    motion.times.iter_mut().for_each(|t| *t += start);
    motion.pulses = pulses;
    motion.pulses.iter_mut().for_each(|p| p.start += start);
    motion.scale(scale);
    f.finish()?;
    Ok(motion)
}

/// An acceleration as a vector, or as a number along `direction`.
fn along(a: &Field<'_>, direction: DVec3) -> Result<DVec3, SceneError> {
    if a.is_list() { a.vector(Quantity::Acceleration) } else { Ok(direction * a.number(Quantity::Acceleration)?) }
}

/// `{ kind, acceleration, duration, start }`.
fn pulse(field: &Field<'_>, direction: DVec3) -> Result<Pulse, SceneError> {
    let mut f = field.fields()?;
    let form = f.required("kind")?.choice(&PulseForm::ALL)?;
    let a = f.required("acceleration")?;
    let amplitude = along(&a, direction)?;
    let duration = f.required("duration")?.positive(Quantity::Time)?;
    let start = f.or("start", 0.0, |t| t.number(Quantity::Time))?;
    f.finish()?;
    Ok(Pulse { form, amplitude, start, duration })
}

/// `samples` of a `quantity`; of accelerations two may have the same time, which is a jump.
fn in_place(f: &mut Fields<'_>, list: &Field<'_>) -> Result<BaseMotion, SceneError> {
    let quantity = f.or("quantity", Quantity::Acceleration, |q| q.choice(&QUANTITIES))?;
    let (times, rows) = samples::<3>(list, quantity, quantity == Quantity::Acceleration)?;
    let values: Vec<DVec3> = rows.into_iter().map(DVec3::from_array).collect();
    if quantity != Quantity::Acceleration && times.len() < 2 {
        return Err(list.error("found a single sample, which does not move", "give at least two samples"));
    }
    Ok(match quantity {
        Quantity::Velocity => BaseMotion::of_velocities(&times, &values),
        Quantity::Length => BaseMotion::of_displacements(&times, &values),
        _ => BaseMotion::of_accelerations(times, values),
    })
}

/// The motion that a file records; nothing before its first sample and after its last.
fn record(f: &mut Fields<'_>, file: &Field<'_>, direction: DVec3, resources: &Resources) -> Result<BaseMotion, SceneError> {
    let asked = f.maybe("quantity", |q| q.choice(&QUANTITIES))?;
    let read = read(f, file, direction, asked, Quantity::Acceleration, resources)?;
    if read.times.len() < 2 {
        return Err(file
            .error(format!("{} has a single sample", read.name), "give at least two, or write a constant as `acceleration = [x, y, z]`"));
    }
    Ok(match read.quantity {
        Quantity::Velocity => BaseMotion::of_velocities(&read.times, &read.values),
        Quantity::Length => BaseMotion::of_displacements(&read.times, &read.values),
        _ => BaseMotion::of_accelerations(read.times, read.values).closed(),
    })
}

/// Times (s) and values (SI) of a file that records one quantity.
pub(super) fn table(
    f: &mut Fields<'_>,
    file: &Field<'_>,
    direction: DVec3,
    quantity: Quantity,
    resources: &Resources,
) -> Result<(Vec<f64>, Vec<DVec3>), SceneError> {
    let read = read(f, file, direction, Some(quantity), quantity, resources)?;
    Ok((read.times, read.values))
}

/// What a file holds, in SI.
struct Read {
    name: String,
    quantity: Quantity,
    times: Vec<f64>,
    values: Vec<DVec3>,
}

/// Reads the file, and the keys `unit`, `time_unit`, `interval` and `gaps` beside it.
fn read(
    f: &mut Fields<'_>,
    file: &Field<'_>,
    direction: DVec3,
    asked: Option<Quantity>,
    usual: Quantity,
    resources: &Resources,
) -> Result<Read, SceneError> {
    let (path, text) = resources.text(file)?;
    let name = path.display().to_string();
    let interval = f.optional("interval");
    let time_unit = f.maybe("time_unit", |u| scale_of(&u, Quantity::Time))?;
    let gaps = f.or("gaps", false, |g| g.choice(&[("error", false), ("interpolate", true)]))?;
    let unit = f.optional("unit");
    if let Some(peer) = peer(&path, &text) {
        let peer = peer.map_err(|e| file.error(format!("{name}, {}", e.found), e.cure))?;
        if let Some(other) = asked.filter(|q| *q != peer.quantity) {
            let message = format!("{name} says that it is {}, the scene that it is {}", peer.quantity.name(), other.name());
            return Err(file.error(message, "remove `quantity`"));
        }
        if let Some(field) = interval {
            return Err(field.error(format!("found an interval, but {name} states its own, DT = {} s", peer.interval), "remove it"));
        }
        let factor = unit.map_or(Ok(peer.unit), |u| scale_of(&u, peer.quantity))?;
        let times = (0..peer.values.len()).map(|i| i as f64 * peer.interval).collect();
        let values = peer.values.iter().map(|a| direction * (a * factor)).collect();
        return Ok(Read { name, quantity: peer.quantity, times, values });
    }
    let quantity = asked.unwrap_or(usual);
    let unit_given = unit.is_some();
    let factor = unit.map_or(Ok(1.0), |u| scale_of(&u, quantity))?;
    let interval = interval.map(|i| i.positive(Quantity::Time)).transpose()?;
    let (mut rows, heads) = rows(&text, interval.is_some()).map_err(|e| file.error(format!("{name}, {}", e.found), e.cure))?;
    if rows.is_empty() {
        return Err(file.error(format!("the table {name} has no rows of numbers"), SHAPE));
    }
    let timed = usize::from(interval.is_none());
    if let Some((line, heads)) = heads.filter(|(_, heads)| heads.len() == timed + rows[0].values.len()) {
        let (times, values) = heads.split_at(timed);
        let units = [(times, Quantity::Time, "time_unit", time_unit.is_some()), (values, quantity, "unit", unit_given)];
        in_order(times, values)
            .and_then(|()| {
                units.into_iter().try_for_each(|(heads, quantity, key, given)| if given { Ok(()) } else { in_si(heads, quantity, key) })
            })
            .map_err(|(found, cure)| file.error(format!("{name}, line {line}: {found}"), cure))?;
    }
    for (i, row) in rows.iter_mut().enumerate() {
        row.time = interval.map_or(row.time * time_unit.unwrap_or(1.0), |dt| i as f64 * dt);
    }
    if interval.is_none() {
        plausible(&rows, time_unit.is_none(), gaps).map_err(|e| file.error(format!("{name}, {}", e.found), e.cure))?;
    }
    let value = |row: &Row| factor * if row.values.len() == 1 { direction * row.values[0] } else { DVec3::from_slice(&row.values) };
    Ok(Read { name, quantity, times: rows.iter().map(|r| r.time).collect(), values: rows.iter().map(value).collect() })
}

/// The unit that a text names, in SI; `"g"` is the gravity of the earth where accelerations are meant.
fn scale_of(field: &Field<'_>, quantity: Quantity) -> Result<f64, SceneError> {
    let unit = field.text()?;
    units::parse(&format!("1 {unit}"), quantity).map_err(|e| field.error(e.message, e.cure))
}

const SHAPE: &str = "rows are `time, value` or `time, x, y, z`, times rising; without times with `interval = …`";

/// Whether the heads of a table leave its columns where they are taken from.
fn in_order(times: &[String], values: &[String]) -> Result<(), (String, String)> {
    let first = |head: &String| head.split(|c: char| !c.is_alphabetic()).find(|word| !word.is_empty()).map(str::to_lowercase);
    let time = |head: &String| first(head).is_some_and(|word| word == "t" || word == "time");
    let moved = values.iter().zip("xyz".chars()).any(|(head, own)| values.len() == 3 && axis(head).is_some_and(|found| found != own));
    if moved || (values.iter().any(time) && !times.iter().any(time)) {
        let heads: Vec<&str> = times.iter().chain(values).map(String::as_str).collect();
        return Err((format!("found the columns `{}` in this order", short(&heads.join(", "))), SHAPE.to_owned()));
    }
    Ok(())
}

/// Whether heads with a unit, as `a [g]`, have that in which numbers are taken where the scene names none.
fn in_si(heads: &[String], quantity: Quantity, key: &str) -> Result<(), (String, String)> {
    for head in heads {
        let unit = head.split_once(['[', '(']).and_then(|(_, rest)| rest.split([']', ')']).next()).unwrap_or_default().trim();
        let scale = units::parse(&format!("1 {unit}"), quantity).unwrap_or(1.0);
        if (scale - 1.0).abs() > 1e-9 {
            let cure = format!("write {key} = \"{unit}\", or {key} = \"{}\" if that is what the numbers are in", quantity.unit());
            return Err((format!("found the head `{}`, of which the scene says nothing", short(head)), cure));
        }
    }
    Ok(())
}

/// What is wrong in which line.
struct Wrong {
    found: String,
    cure: String,
}

fn wrong<T>(line: usize, found: String, cure: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong { found: format!("line {line}: {found}"), cure: cure.into() })
}

/// A row of a table: one value or three.
struct Row {
    line: usize,
    time: f64,
    values: Vec<f64>,
}

/// The last line of words before the rows of a table, and its number.
type Heads = Option<(usize, Vec<String>)>;

/// Rows of numbers between commas, semicolons, tabs or blanks; lines of words before them and after `#` are for people, but the last one may hold the
/// heads of the columns.
fn rows(text: &str, without_time: bool) -> Result<(Vec<Row>, Heads), Wrong> {
    let mut rows: Vec<Row> = Vec::new();
    let mut heads = None;
    for (i, raw) in text.lines().enumerate() {
        let (line, content) = (i + 1, raw.split(['#', '%']).next().unwrap_or_default().trim());
        if content.is_empty() {
            continue;
        }
        let fields: Vec<String> = if content.contains(';') {
            content.trim_end_matches(';').split(';').map(|x| x.trim().replace(',', ".")).collect()
        } else if content.contains(',') {
            content.trim_end_matches(',').split(',').map(|x| x.trim().to_owned()).collect()
        } else {
            content.split_whitespace().map(str::to_owned).collect()
        };
        let number = |x: &String| x.trim_matches('"').parse().ok().filter(|x: &f64| x.is_finite());
        let Some(numbers) = fields.iter().map(number).collect::<Option<Vec<f64>>>() else {
            if rows.is_empty() && fields.iter().all(|x| number(x).is_none()) {
                heads = Some((line, fields));
                continue;
            }
            return wrong(line, format!("found `{}`", short(content)), SHAPE);
        };
        let (time, values) = match (without_time, numbers.as_slice()) {
            (true, values @ ([_] | [_, _, _])) => (0.0, values.to_vec()),
            (false, [t, values @ ..]) if values.len() == 1 || values.len() == 3 => (*t, values.to_vec()),
            (_, [_]) => return wrong(line, format!("found a single number, `{}`", short(content)), SHAPE),
            _ => return wrong(line, format!("found {} numbers, `{}`", numbers.len(), short(content)), SHAPE),
        };
        if let Some(first) = rows.first().filter(|first| first.values.len() != values.len()) {
            let found = format!("found {} values, line {} has {}", values.len(), first.line, first.values.len());
            return wrong(line, found, "give every row the same columns");
        }
        rows.push(Row { line, time, values });
    }
    Ok((rows, heads))
}

/// Times that rise; for a record also at intervals that can be meant, and without gaps.
fn plausible(rows: &[Row], unit_guessed: bool, gaps: bool) -> Result<(), Wrong> {
    for pair in rows.windows(2) {
        let (before, after) = (pair[0].time, pair[1].time);
        if after <= before {
            return wrong(pair[1].line, format!("found the time {after} s after {before} s, which does not rise"), SHAPE);
        }
    }
    if rows.len() < RECORD {
        return Ok(());
    }
    let mut widths: Vec<f64> = rows.windows(2).map(|w| w[1].time - w[0].time).collect();
    let steps = widths.clone();
    widths.sort_by(f64::total_cmp);
    let median = widths[widths.len() / 2];
    if unit_guessed && !(INTERVALS[0]..=INTERVALS[1]).contains(&median) {
        let end = rows.last().map_or(0.0, |r| r.time);
        let found = format!("found {} samples {median} s apart, up to {end} s: the time is hardly in seconds", rows.len());
        return wrong(rows[1].line, found, "write time_unit = \"ms\", or \"s\" if that is right");
    }
    // times of a table may be rounded; where intervals differ by nature, a long one says nothing
    let even = widths.iter().filter(|w| (*w - median).abs() <= 0.2 * median).count();
    let gap = steps.iter().position(|w| *w > 1.5 * median);
    match gap {
        Some(i) if !gaps && 10 * even >= 9 * widths.len() => {
            let (missing, interval) = ((steps[i] / median).round() - 1.0, (median * 1e9).round() / 1e9);
            let found = format!("found a gap from {} s to {} s, about {missing} samples of {interval} s", rows[i].time, rows[i + 1].time);
            wrong(rows[i + 1].line, found, "fill it, or write gaps = \"interpolate\" for a straight line there")
        }
        _ => Ok(()),
    }
}

/// A record of the PEER database.
struct Peer {
    quantity: Quantity,
    /// of its values, in SI
    unit: f64,
    interval: f64,
    values: Vec<f64>,
}

/// Reads the form of PEER, which the ending of the file or NPTS in its fourth line tells.
fn peer(path: &Path, text: &str) -> Option<Result<Peer, Wrong>> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
    let fourth = text.lines().take(4).position(|l| l.to_uppercase().contains("NPTS"));
    let named = ["at2", "vt2", "dt2"].contains(&ending.as_str());
    if !named && fourth.is_none() {
        return None;
    }
    let Some(at) = fourth else {
        return Some(wrong(
            4,
            "found no NPTS and DT in the first four lines".into(),
            "give the file as PEER writes it, or as a table .csv",
        ));
    };
    Some(peer_values(text, at, &ending))
}

fn peer_values(text: &str, at: usize, ending: &str) -> Result<Peer, Wrong> {
    let header = text.lines().take(at + 1).collect::<Vec<_>>().join("\n").to_uppercase();
    let counts = header.lines().last().unwrap_or_default();
    // "NPTS=  4000, DT=  .005 SEC", or "4000  0.005  NPTS, DT"
    let mut numbers = counts.split(|c: char| c.is_whitespace() || c == ',' || c == '=').filter_map(|x| x.parse::<f64>().ok());
    let (Some(count), Some(interval)) = (numbers.next(), numbers.next()) else {
        return wrong(at + 1, format!("found `{}`", short(counts)), "it should read `NPTS= 4000, DT= .005 SEC`");
    };
    if !(interval > 0.0 && interval <= INTERVALS[1]) || count < 2.0 {
        return wrong(at + 1, format!("found NPTS = {count}, DT = {interval} s"), "DT is in seconds, NPTS the number of values");
    }
    let (quantity, unit) = match ending {
        "vt2" => (Quantity::Velocity, 1e-2),
        "dt2" => (Quantity::Length, 1e-2),
        _ if header.contains("VELOCITY") => (Quantity::Velocity, 1e-2),
        _ if header.contains("DISPLACEMENT") => (Quantity::Length, 1e-2),
        _ if header.contains("UNITS OF CM") => (Quantity::Acceleration, 1e-2),
        _ if header.contains("UNITS OF M/S") => (Quantity::Acceleration, 1.0),
        _ => (Quantity::Acceleration, G),
    };
    let (mut values, mut last) = (Vec::new(), at + 1);
    for (i, content) in text.lines().enumerate().skip(at + 1) {
        for word in content.split_whitespace() {
            match word.parse::<f64>() {
                Ok(value) if value.is_finite() => values.push(value),
                _ => return wrong(i + 1, format!("found `{}`", short(word)), "the values of the record are numbers between blanks"),
            }
            last = i + 1;
        }
    }
    if values.len() as f64 != count {
        let found = format!("the values end after {} of them, line {} says NPTS = {count}", values.len(), at + 1);
        return wrong(last, found, "get the whole file again, or correct NPTS");
    }
    Ok(Peer { quantity, unit, interval, values })
}
