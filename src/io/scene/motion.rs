//! `motion = "static"` or `motion = { kind = "…", … }`, and tables over time.

use glam::DVec3;

use super::error::SceneError;
use super::fields::{Field, Fields};
use super::ground_records;
use super::model::{Drive, Motion};
use super::resources::Resources;
use super::units::Quantity;

/// Reads who moves a body.
pub(super) fn motion(field: &Field<'_>, resources: &Resources) -> Result<Motion, SceneError> {
    if !field.is_table() {
        return match field.choice(&[("dynamic", true), ("static", false)])? {
            true => Ok(Motion::Dynamic),
            false => Ok(Motion::Static),
        };
    }
    let mut f = field.fields()?;
    let kind = f.required("kind")?.choice(&[("constant", 0), ("sinusoid", 1), ("table", 2)])?;
    if kind != 2 && ["velocity", "angular_velocity"].iter().all(|&key| f.optional(key).is_none()) {
        return Err(f.error("found a motion without velocity", "add velocity = [1, 0, 0] or angular_velocity, or write \"static\""));
    }
    let drive = match kind {
        0 => Drive::Constant { linear: velocity(&mut f)?, angular: angular(&mut f)? },
        1 => Drive::Sinusoid {
            linear: velocity(&mut f)?,
            angular: angular(&mut f)?,
            frequency: f.required("frequency")?.positive(Quantity::Frequency)?,
            phase: f.or("phase", 0.0, |p| p.number(Quantity::Angle))?,
        },
        _ => table(&mut f, resources)?,
    };
    f.finish()?;
    Ok(Motion::Kinematic(drive))
}

impl Drive {
    /// From when until when (s) a table moves its body, from rest to rest; one that has set in at 0 begins there.
    ///
    /// ```
    /// use drystone::io::scene::model::Drive;
    /// use glam::DVec3;
    /// let (times, linear) = (vec![0.1, 0.2, 0.3, 0.5, 0.5, 0.6], [0.0, 1.0, 0.0, 0.0, 1.0, 0.0].map(|v| v * DVec3::X).to_vec());
    /// let there_and_on = Drive::Table { times, linear, angular: vec![DVec3::ZERO; 6] };
    /// assert_eq!(there_and_on.pulses(), [(0.1, 0.3), (0.5, 0.6)]);
    /// ```
    pub fn pulses(&self) -> Vec<(f64, f64)> {
        let Self::Table { times, linear, angular } = self else { return Vec::new() };
        let rests = |i: usize| linear[i] == DVec3::ZERO && angular[i] == DVec3::ZERO;
        let (mut found, mut begun) = (Vec::new(), (!times.is_empty() && !rests(0) && times[0] <= 0.0).then_some(times[0]));
        for i in 0..times.len() {
            if let (Some(from), true) = (begun, rests(i)) {
                found.push((from, times[i]));
                begun = None;
            }
            if rests(i) && i + 1 < times.len() && !rests(i + 1) {
                begun = Some(times[i]);
            }
        }
        found
    }

    /// When (s) steps should end that choose their length: at the jumps of a table, where it sets in and comes to rest, and at the corners of
    /// what takes less than `long` (s).
    pub(crate) fn turns(&self, long: f64) -> Vec<f64> {
        let Self::Table { times, linear, .. } = self else { return Vec::new() };
        let jumps = times.windows(2).filter(|t| t[0] == t[1]).map(|t| t[0]);
        let corners = |(from, to): (f64, f64)| {
            let short = to - from < long;
            let inner = times.iter().copied().filter(move |t| short && from < *t && *t < to);
            [from, to].into_iter().chain(inner)
        };
        let ends = (linear.len() > 1).then_some([times.first(), times.last()]).into_iter().flatten().flatten().copied();
        let mut all: Vec<f64> = jumps.chain(self.pulses().into_iter().flat_map(corners)).chain(ends).filter(|t| *t > 0.0).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }
}

fn velocity(f: &mut Fields<'_>) -> Result<DVec3, SceneError> {
    f.or("velocity", DVec3::ZERO, |v| v.vector(Quantity::Velocity))
}

fn angular(f: &mut Fields<'_>) -> Result<DVec3, SceneError> {
    f.or("angular_velocity", DVec3::ZERO, |v| v.vector(Quantity::AngularVelocity))
}

/// `file` with linear velocities, or `times` with `velocity` and `angular_velocity` lists.
fn table(f: &mut Fields<'_>, resources: &Resources) -> Result<Drive, SceneError> {
    if let Some(file) = f.optional("file") {
        let direction = f.or("direction", DVec3::X, |d| d.direction())?;
        let (times, linear) = ground_records::table(f, &file, direction, Quantity::Velocity, resources)?;
        let angular = vec![DVec3::ZERO; times.len()];
        return Ok(Drive::Table { times, linear, angular });
    }
    let list = f.required("times")?;
    let times = instants(&list)?;
    let mut column = |key, quantity| match f.optional(key) {
        None => Ok(vec![DVec3::ZERO; times.len()]),
        Some(values) => {
            let found = values.items()?.iter().map(|v| v.vector(quantity)).collect::<Result<Vec<_>, _>>()?;
            if found.len() == times.len() {
                return Ok(found);
            }
            Err(values.error(format!("found {} values for {} times", found.len(), times.len()), "give one value for each time"))
        }
    };
    let linear = column("velocity", Quantity::Velocity)?;
    let angular = column("angular_velocity", Quantity::AngularVelocity)?;
    Ok(Drive::Table { times, linear, angular })
}

/// A list of times that do not fall, at least one; two that are the same are a jump.
fn instants(list: &Field<'_>) -> Result<Vec<f64>, SceneError> {
    let items = list.items()?;
    if items.is_empty() {
        return Err(list.error("found an empty table", "give at least one sample"));
    }
    let times = items.iter().map(|t| t.number(Quantity::Time)).collect::<Result<Vec<_>, _>>()?;
    match times.windows(2).position(|w| w[1] < w[0]) {
        Some(i) => Err(items[i + 1].error(format!("found the time {} after {}", times[i + 1], times[i]), "let the times rise")),
        None => Ok(times),
    }
}

/// Rows `[time, value, …]` with rising times, `N` numbers each after the time; with `jumps` two rows may have the same time.
pub(super) fn samples<const N: usize>(list: &Field<'_>, quantity: Quantity, jumps: bool) -> Result<(Vec<f64>, Vec<[f64; N]>), SceneError> {
    let (mut times, mut values) = (Vec::new(), Vec::new());
    for item in list.items()? {
        let row = item.items()?;
        if row.len() != N + 1 {
            return Err(
                item.error(format!("found {} numbers, expected a time and {N} values", row.len()), "write each sample as [time, value, …]")
            );
        }
        let t = row[0].number(Quantity::Time)?;
        if times.last().is_some_and(|last| t < *last || t == *last && !jumps) {
            return Err(item.error(format!("found the time {t}, which does not rise"), "let the times rise"));
        }
        let mut value = [0.0; N];
        for (x, field) in value.iter_mut().zip(&row[1..]) {
            *x = field.number(quantity)?;
        }
        times.push(t);
        values.push(value);
    }
    if times.is_empty() {
        return Err(list.error("found an empty table", "give at least one sample"));
    }
    Ok((times, values))
}
