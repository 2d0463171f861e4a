//! A TOML text as a tree that remembers where each value stands, and that `--set` can edit.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{SceneError, did_you_mean};
use super::units::short;
use crate::io::table::format_number;

/// Longest text that is parsed (bytes); bigger data belong into mesh or CSV files.
pub(super) const MAX_TEXT: usize = 64 << 20;

/// Sections that a scene may leave out and a setting may begin.
const SECTIONS: [&str; 6] = ["camera", "contact", "output", "periodic", "solver", "stop"];

/// Where a value stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    /// Byte offset in the text.
    Text(usize),
    /// Index of the `--set` that wrote it.
    Setting(usize),
}

/// One value and its place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) value: Value,
    pub(super) place: Place,
}

/// A TOML value; dates are kept as text, for no field of a scene is one.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
    Array(Vec<Node>),
    Table(Table),
}

/// Keys in alphabetical order, each with the place of the key itself.
pub(super) type Table = std::collections::BTreeMap<String, (Place, Node)>;

impl Value {
    /// With its article, for messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Text(s) => format!("the text \"{}\"", short(s)),
            Self::Integer(i) => format!("the number {i}"),
            Self::Float(x) => format!("the number {}", format_number(*x)),
            Self::Bool(b) => format!("{b}"),
            Self::Array(a) => format!("a list of {}", a.len()),
            Self::Table(_) => "a table".to_owned(),
        }
    }
}

/// The text of a scene, the settings that changed it, and the tree of both.
#[derive(Clone, Debug)]
pub(super) struct Document {
    pub(super) root: Node,
    pub(super) source: Source,
}

/// What messages need to name a place.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// Name of the file or scene.
    pub(super) origin: String,
    text: String,
    settings: Vec<String>,
}

impl Source {
    /// An error at `place`.
    pub(super) fn error(&self, place: Place, message: impl Into<String>, cure: impl Into<String>) -> SceneError {
        match place {
            Place::Text(offset) => {
                let before = &self.text.as_bytes()[..offset.min(self.text.len())];
                let line = 1 + before.iter().filter(|b| **b == b'\n').count();
                let start = before.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
                let column = 1 + String::from_utf8_lossy(&before[start..]).chars().count();
                let (line, column) = (Some(line), Some(column));
                SceneError { origin: self.origin.clone(), line, column, message: message.into(), cure: cure.into() }
            }
            Place::Setting(i) => {
                let setting = self.settings.get(i).map_or("", String::as_str);
                SceneError::whole(format!("{} with --set {}", self.origin, short(setting)), message, cure)
            }
        }
    }
}

impl Document {
    /// Parses `text`; `origin` names it in messages.
    pub(super) fn parse(text: &str, origin: &str) -> Result<Self, SceneError> {
        if text.len() > MAX_TEXT {
            let message = format!("found {} bytes, more than the {MAX_TEXT} that a scene may have", text.len());
            return Err(SceneError::whole(origin, message, "keep large geometry in mesh or CSV files and name them in the scene"));
        }
        let source = Source { origin: origin.to_owned(), text: text.to_owned(), settings: Vec::new() };
        // the parser limits nesting to 80, so that walking the tree cannot exhaust the stack
        let table = DeTable::parse(text).map_err(|e| {
            let offset = e.span().map_or(0, |s: Range<usize>| s.start);
            let message = format!("found a fault of TOML syntax: {}", e.message().replace('\n', ", "));
            let cure = if e.message().contains("recurs") {
                "nest lists and tables less than 80 deep"
            } else {
                "see https://toml.io for the syntax"
            };
            source.error(Place::Text(offset), message, cure)
        })?;
        let place = Place::Text(0);
        let root = Node { value: Value::Table(convert_table(table.get_ref(), &source)?), place };
        Ok(Self { root, source })
    }

    /// Writes `value` (TOML, or else plain text) at the dotted `path`, which must lie in an existing table or list, or in one of [`SECTIONS`].
    pub(super) fn set(&mut self, path: &str, value: &str, label: &str) -> Result<(), SceneError> {
        let place = Place::Setting(self.source.settings.len());
        self.source.settings.push(label.to_owned());
        let new = parse_setting(value, place);
        let source = &self.source;
        let parts: Vec<&str> = path.split('.').collect();
        let mut node = &mut self.root;
        for (depth, part) in parts.iter().enumerate() {
            let last = depth + 1 == parts.len();
            node = match &mut node.value {
                Value::Table(table) => {
                    let begun = depth == 0 && !last && SECTIONS.contains(part);
                    // a missing last key is for the reader to judge: it knows the optional ones
                    if !table.contains_key(*part) && (!last && !begun || part.is_empty()) {
                        let known: Vec<&str> = table.keys().map(String::as_str).collect();
                        let message = format!("found no `{}` on the path `{}`", short(part), short(path));
                        return Err(source.error(place, message, did_you_mean(part, known)));
                    }
                    let value = if begun { Value::Table(Table::new()) } else { Value::Bool(false) };
                    let empty = || (place, Node { value, place });
                    &mut table.entry((*part).to_owned()).or_insert_with(empty).1
                }
                Value::Array(list) => {
                    let count = list.len();
                    let slot = part.parse::<usize>().ok().and_then(|i| list.get_mut(i));
                    slot.ok_or_else(|| {
                        let message = format!("found `{}` as an index into a list of {count} on the path `{}`", short(part), short(path));
                        source.error(place, message, format!("indices count from 0 and end at {}", count.saturating_sub(1)))
                    })?
                }
                other => {
                    let message = format!("found {} before `{}` on the path `{}`", other.describe(), short(part), short(path));
                    return Err(source.error(place, message, "a path can only go on inside a table or a list"));
                }
            };
        }
        *node = new;
        Ok(())
    }

    /// Takes a key out of a section, if it is there.
    pub(super) fn remove(&mut self, section: &str, key: &str) {
        if let Value::Table(root) = &mut self.root.value
            && let Some((_, Node { value: Value::Table(table), .. })) = root.get_mut(section)
        {
            table.remove(key);
        }
    }
}

/// TOML if it is, text otherwise: `3`, `[1, 2]`, `true`, `3 mm`, `static`.
fn parse_setting(value: &str, place: Place) -> Node {
    let text = format!("x = {value}");
    let source = Source { origin: String::new(), text: String::new(), settings: Vec::new() };
    let parsed = DeTable::parse(&text).ok().and_then(|t| convert_table(t.get_ref(), &source).ok());
    let node = parsed.filter(|t| t.len() == 1).and_then(|mut t| t.remove("x"));
    let mut node = node.map_or_else(|| Node { value: Value::Text(value.to_owned()), place }, |(_, node)| node);
    mark(&mut node, place);
    node
}

fn mark(node: &mut Node, place: Place) {
    node.place = place;
    match &mut node.value {
        Value::Array(list) => list.iter_mut().for_each(|n| mark(n, place)),
        Value::Table(table) => table.values_mut().for_each(|(key, n)| {
            *key = place;
            mark(n, place);
        }),
        _ => {}
    }
}

fn convert_table(table: &DeTable<'_>, source: &Source) -> Result<Table, SceneError> {
    let entry = |(key, value): (&Spanned<toml::de::DeString<'_>>, &Spanned<DeValue<'_>>)| {
        let node = convert(value, source)?;
        Ok((key.get_ref().to_string(), (Place::Text(key.span().start), node)))
    };
    table.iter().map(entry).collect()
}

fn convert(value: &Spanned<DeValue<'_>>, source: &Source) -> Result<Node, SceneError> {
    let place = Place::Text(value.span().start);
    let value = match value.get_ref() {
        DeValue::String(s) => Value::Text(s.to_string()),
        DeValue::Integer(i) => Value::Integer(i64::from_str_radix(i.as_str(), i.radix()).map_err(|_| {
            source.error(
                place,
                format!("found the whole number {}, which is too large", short(i.as_str())),
                "use a number below 9e18 or write it with a point",
            )
        })?),
        // the parser has checked the form; "inf" and "nan" are valid TOML and are refused by the fields
        DeValue::Float(x) => Value::Float(x.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(b) => Value::Bool(*b),
        DeValue::Datetime(d) => Value::Text(d.to_string()),
        DeValue::Array(list) => Value::Array(list.iter().map(|v| convert(v, source)).collect::<Result<_, _>>()?),
        DeValue::Table(table) => Value::Table(convert_table(table, source)?),
    };
    Ok(Node { value, place })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_line_and_a_column() {
        let doc = Document::parse("a = 1\n\n\"µ\" = 2\n", "f").expect("valid");
        let Value::Table(t) = &doc.root.value else { panic!("a table") };
        let e = doc.source.error(t["µ"].1.place, "m", "c");
        assert_eq!((e.line, e.column), (Some(3), Some(7)));
    }

    #[test]
    fn a_path_reaches_into_tables_and_lists() {
        let mut doc = Document::parse("[[b]]\nx = 1\n[[b]]\nx = 2\n", "f").expect("valid");
        doc.set("b.1.x", "3 mm", "b.1.x=3 mm").expect("exists");
        doc.set("b.1.y", "[1, 2]", "b.1.y=[1, 2]").expect("a new last key is for the reader to judge");
        assert!(format!("{:?}", doc.root).contains("Text(\"3 mm\")"));
        for (path, cure) in [("c.x", "did you mean `b`"), ("b.2.x", "end at 1"), ("b.0.x.y", "inside a table"), ("", "known here: b")] {
            let e = doc.set(path, "1", path).expect_err(path);
            assert!(e.cure.contains(cure), "{e}");
        }
    }
}
