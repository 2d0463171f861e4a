//! Typed access to the tree: every getter names the field, what was found and what would do.
//!
//! A [`Fields`] remembers which keys were asked for; [`Fields::finish`] refuses all others.

use glam::DVec3;

use super::document::{Node, Place, Source, Table, Value};
use super::error::{SceneError, about_key, did_you_mean, suggestion};
use super::units::{self, Quantity, short};
use crate::model::law::Arm;
use crate::numerics::admissible::MU_MAX;

/// Largest number of a scene, in SI: masses, moments and products of speeds that follow from such numbers are finite.
const LARGEST: f64 = 1e40;
/// Up to here (2⁵³) every whole number is one of 64 bits with a point.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A table that is being read.
pub(super) struct Fields<'d> {
    source: &'d Source,
    table: &'d Table,
    place: Place,
    path: String,
    asked: Vec<&'static str>,
}

/// A value that is being read.
#[derive(Clone)]
pub(super) struct Field<'d> {
    source: &'d Source,
    node: &'d Node,
    /// Dotted path from the root of the file.
    pub(super) path: String,
}

impl<'d> Fields<'d> {
    /// The whole document.
    pub(super) fn root(root: &'d Node, source: &'d Source) -> Result<Self, SceneError> {
        Field { source, node: root, path: String::new() }.fields()
    }

    /// The field `key`, if it is there.
    pub(super) fn optional(&mut self, key: &'static str) -> Option<Field<'d>> {
        self.asked.push(key);
        let (_, node) = self.table.get(key)?;
        let path = if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        Some(Field { source: self.source, node, path })
    }

    /// The field `key`, which must be there.
    pub(super) fn required(&mut self, key: &'static str) -> Result<Field<'d>, SceneError> {
        self.optional(key).ok_or_else(|| {
            let written: Vec<&str> = self.table.keys().map(String::as_str).filter(|k| !self.asked.contains(k)).collect();
            let near = suggestion(key, &written).map_or(String::new(), |k| format!("; did you mean it by `{k}`?"));
            self.error(format!("the field `{key}` is missing"), format!("add `{key} = …`{near}"))
        })
    }

    /// `read` of the field `key`, or `default`.
    pub(super) fn or<T>(
        &mut self,
        key: &'static str,
        default: T,
        read: impl FnOnce(Field<'d>) -> Result<T, SceneError>,
    ) -> Result<T, SceneError> {
        self.optional(key).map_or(Ok(default), read)
    }

    /// `read` of the field `key`, if it is there.
    pub(super) fn maybe<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(Field<'d>) -> Result<T, SceneError>,
    ) -> Result<Option<T>, SceneError> {
        self.optional(key).map(read).transpose()
    }

    /// The items of the list `key`, none if it is absent.
    pub(super) fn list(&mut self, key: &'static str) -> Result<Vec<Field<'d>>, SceneError> {
        self.optional(key).map_or(Ok(Vec::new()), |f| f.items())
    }

    /// Refuses keys that nobody asked for.
    pub(super) fn finish(self) -> Result<(), SceneError> {
        self.finish_knowing(&[])
    }

    /// The same; of `others`, each with the words for it, it is said where they stand or what has them.
    pub(super) fn finish_knowing(self, others: &[(&[&str], &str)]) -> Result<(), SceneError> {
        let unknown = self.table.iter().find(|(key, _)| !self.asked.contains(&key.as_str()));
        unknown.map_or(Ok(()), |(key, (place, _))| {
            let inside = if self.path.is_empty() { String::new() } else { format!(" in `{}`", self.path) };
            let message = format!("found the unknown key `{}`{inside}", short(key));
            Err(self.source.error(*place, message, about_key(key, self.asked.iter().copied(), others)))
        })
    }

    /// An error about this table.
    pub(super) fn error(&self, message: impl AsRef<str>, cure: impl Into<String>) -> SceneError {
        let prefix = if self.path.is_empty() { String::new() } else { format!("{}: ", self.path) };
        self.source.error(self.place, format!("{prefix}{}", message.as_ref()), cure)
    }
}

impl<'d> Field<'d> {
    /// An error about this field.
    pub(super) fn error(&self, message: impl AsRef<str>, cure: impl Into<String>) -> SceneError {
        let prefix = if self.path.is_empty() { String::new() } else { format!("{}: ", self.path) };
        self.source.error(self.node.place, format!("{prefix}{}", message.as_ref()), cure)
    }

    fn mismatch(&self, expected: &str, cure: impl Into<String>) -> SceneError {
        self.error(format!("found {}, expected {expected}", self.node.value.describe()), cure)
    }

    /// A number up to [`LARGEST`], plain in SI or a text with a unit of `quantity`.
    pub(super) fn number(&self, quantity: Quantity) -> Result<f64, SceneError> {
        let x = match &self.node.value {
            Value::Integer(i) => *i as f64,
            Value::Float(x) => *x,
            Value::Text(text) => units::parse(text, quantity).map_err(|e| self.error(e.message, e.cure))?,
            _ => return Err(self.mismatch(quantity.name(), format!("write one number{}", unit_hint(quantity)))),
        };
        if x.abs() <= LARGEST {
            return Ok(x);
        }
        if !x.is_finite() {
            return Err(self.mismatch(&format!("{} that is finite", quantity.name()), "write a finite number"));
        }
        let most = format!("{} of at most {LARGEST:e}{}", quantity.name(), units_of(quantity));
        Err(self.mismatch(&most, "write a smaller number"))
    }

    /// A number, or `inf` or `-inf`, as such or as a text, for a side that is open.
    pub(super) fn bound(&self, quantity: Quantity) -> Result<f64, SceneError> {
        match self.word().as_deref() {
            Some("inf") => Ok(f64::INFINITY),
            Some("-inf") => Ok(f64::NEG_INFINITY),
            _ => self.number(quantity),
        }
    }

    /// This field, an angle (rad), unless it is a number without a unit beyond `most` (rad), as no such angle is: one in degrees.
    pub(super) fn in_rad(&self, most: f64) -> Result<&Self, SceneError> {
        let plain = match &self.node.value {
            Value::Integer(i) => Some(*i as f64),
            Value::Float(x) => Some(*x),
            Value::Text(text) => text.trim().parse().ok(),
            _ => None,
        };
        // some round what is just as large, such as a right angle of 1.571
        match plain.filter(|x| x.abs() > 1.01 * most && x.abs() <= LARGEST) {
            Some(x) => {
                let message = format!("found {x} without a unit, which is {x} rad or {:.0} deg", x.to_degrees());
                Err(self.error(message, format!("write \"{x} deg\", or \"{x} rad\" if that is meant")))
            }
            None => Ok(self),
        }
    }

    /// A number > 0.
    pub(super) fn positive(&self, quantity: Quantity) -> Result<f64, SceneError> {
        self.ranged(quantity, "greater than 0", |x| x > 0.0)
    }

    /// A number ≥ 0.
    pub(super) fn non_negative(&self, quantity: Quantity) -> Result<f64, SceneError> {
        self.ranged(quantity, "0 or more", |x| x >= 0.0)
    }

    /// A pure number from `low` to `high`.
    pub(super) fn between(&self, low: f64, high: f64) -> Result<f64, SceneError> {
        self.ranged(Quantity::Number, &format!("from {low} to {high}"), |x| (low..=high).contains(&x))
    }

    /// The arm of a resisting moment: a length with its unit, or a number of radii.
    pub(super) fn arm(&self) -> Result<Arm, SceneError> {
        match &self.node.value {
            Value::Text(_) => Ok(Arm::Length(self.non_negative(Quantity::Length)?)),
            _ => Ok(Arm::Radius(self.between(0.0, MU_MAX)?)),
        }
    }

    fn ranged(&self, quantity: Quantity, range: &str, holds: impl Fn(f64) -> bool) -> Result<f64, SceneError> {
        let x = self.number(quantity)?;
        let cure = || format!("write a value {range}{}", unit_hint(quantity));
        if holds(x) { Ok(x) } else { Err(self.mismatch(&format!("{} {range}", quantity.name()), cure())) }
    }

    /// A whole number from `low` to `high`.
    pub(super) fn whole(&self, low: usize, high: usize) -> Result<usize, SceneError> {
        let found = match &self.node.value {
            Value::Integer(i) => usize::try_from(*i).ok(),
            // beyond, a number with a point stands for several whole ones
            Value::Float(x) if x.fract() == 0.0 && (0.0..=EXACT).contains(x) => Some(*x as usize),
            _ => None,
        };
        let expected = format!("a whole number from {low} to {high}");
        let cure = || format!("write a whole number in that range{}", if high as f64 > EXACT { ", with all its digits" } else { "" });
        found.filter(|n| (low..=high).contains(n)).ok_or_else(|| self.mismatch(&expected, cure()))
    }

    /// What random numbers begin with: any whole number that a file can hold.
    pub(super) fn seed(&self) -> Result<u64, SceneError> {
        self.whole(0, i64::MAX as usize).map(|seed| seed as u64)
    }

    /// `true` or `false`.
    pub(super) fn boolean(&self) -> Result<bool, SceneError> {
        match self.node.value {
            Value::Bool(b) => Ok(b),
            _ => Err(self.mismatch("true or false", "write true or false without quotes")),
        }
    }

    /// A text.
    pub(super) fn text(&self) -> Result<&'d str, SceneError> {
        match &self.node.value {
            Value::Text(s) => Ok(s),
            _ => Err(self.mismatch("a text", "write it in double quotes")),
        }
    }

    /// The text, number or truth value as one would type it, for fields that take several kinds.
    pub(super) fn word(&self) -> Option<String> {
        match &self.node.value {
            Value::Text(s) => Some(s.clone()),
            Value::Integer(i) => Some(i.to_string()),
            Value::Float(x) => Some(x.to_string()),
            Value::Bool(b) => Some(b.to_string()),
            _ => None,
        }
    }

    /// One of the given words, with its meaning.
    pub(super) fn choice<T: Copy>(&self, choices: &[(&'static str, T)]) -> Result<T, SceneError> {
        let text = self.text()?;
        let found = choices.iter().find(|c| c.0 == text);
        found.map(|c| c.1).ok_or_else(|| self.mismatch("one of the known words", did_you_mean(text, choices.iter().map(|c| c.0))))
    }

    /// Three numbers.
    pub(super) fn vector(&self, quantity: Quantity) -> Result<DVec3, SceneError> {
        self.numbers::<3>(quantity).map(DVec3::from_array)
    }

    /// A direction: three numbers, not all zero, made a unit vector.
    pub(super) fn direction(&self) -> Result<DVec3, SceneError> {
        let v = self.vector(Quantity::Number)?;
        v.try_normalize().ok_or_else(|| self.error(format!("found the vector {v}, which has no direction"), "write one like [0, 0, 1]"))
    }

    /// `N` numbers of one quantity.
    pub(super) fn numbers<const N: usize>(&self, quantity: Quantity) -> Result<[f64; N], SceneError> {
        let items = match &self.node.value {
            Value::Array(list) if list.len() == N => self.items()?,
            _ => {
                return Err(self
                    .mismatch(&format!("a list of {N} numbers"), format!("write {N} numbers in square brackets{}", unit_hint(quantity))));
            }
        };
        let mut out = [0.0; N];
        for (x, item) in out.iter_mut().zip(items) {
            *x = item.number(quantity)?;
        }
        Ok(out)
    }

    /// The items of a list.
    pub(super) fn items(&self) -> Result<Vec<Field<'d>>, SceneError> {
        let Value::Array(list) = &self.node.value else {
            return Err(self.mismatch("a list", "write it in square brackets, or as [[…]] sections for a list of tables"));
        };
        let item = |(i, node)| Field { source: self.source, node, path: format!("{}.{i}", self.path) };
        Ok(list.iter().enumerate().map(item).collect())
    }

    /// The table.
    pub(super) fn fields(&self) -> Result<Fields<'d>, SceneError> {
        let Value::Table(table) = &self.node.value else {
            return Err(self.mismatch("a table", "write it as { key = value, … } or as a [section]"));
        };
        Ok(Fields { source: self.source, table, place: self.node.place, path: self.path.clone(), asked: Vec::new() })
    }

    /// True for a list.
    pub(super) fn is_list(&self) -> bool {
        matches!(self.node.value, Value::Array(_))
    }

    /// True for a table.
    pub(super) fn is_table(&self) -> bool {
        matches!(self.node.value, Value::Table(_))
    }
}

/// Behind a number.
fn units_of(quantity: Quantity) -> String {
    if quantity.unit().is_empty() { String::new() } else { format!(" {}", quantity.unit()) }
}

fn unit_hint(quantity: Quantity) -> String {
    if quantity.unit().is_empty() { String::new() } else { format!(", in {}", quantity.unit()) }
}
