//! `[output]`: what the files of a run hold.

use super::error::SceneError;
use super::fields::Field;
use crate::io::vtk::{BodyArray, ContactArray, Format, Frames, Precision, Shapes};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// A table of all bodies or contacts at one instant.
///
/// ```
/// assert_eq!(drystone::io::scene::output::EndTable::BodiesEnd.name(), "bodies_end");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EndTable {
    /// Bodies before the first step.
    BodiesStart,
    /// Bodies at the end.
    BodiesEnd,
    /// Contacts of the last step.
    ContactsEnd,
}

impl EndTable {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::BodiesStart, Self::BodiesEnd, Self::ContactsEnd];

    /// Its file, without `.csv`.
    pub fn name(self) -> &'static str {
        match self {
            Self::BodiesStart => "bodies_start",
            Self::BodiesEnd => "bodies_end",
            Self::ContactsEnd => "contacts_end",
        }
    }
}

/// What the files of a run hold.
///
/// ```
/// use drystone::io::scene::output::OutputSettings;
/// assert_eq!(OutputSettings::default().tables.len(), 3);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputSettings {
    /// Frames for ParaView.
    pub frames: Frames,
    /// Tables of one instant.
    pub tables: Vec<EndTable>,
}

impl Default for OutputSettings {
    fn default() -> Self {
        Self { frames: Frames::default(), tables: EndTable::ALL.to_vec() }
    }
}

/// Some of the known words, each once; `"all"` is every one of them.
pub(super) fn some<T: Copy + PartialEq>(field: &Field<'_>, known: &[(&'static str, T)]) -> Result<Vec<T>, SceneError> {
    if field.word().as_deref() == Some("all") {
        return Ok(known.iter().map(|k| k.1).collect());
    }
    let mut found = Vec::new();
    for item in field.items()? {
        if item.word().as_deref() == Some("all") {
            let key = field.path.rsplit('.').next().unwrap_or_default();
            return Err(
                item.error("found \"all\" in a list", format!("write {key} = \"all\", without brackets, for every name that it may hold"))
            );
        }
        let one = item.choice(known)?;
        if found.contains(&one) {
            return Err(item.error("found it a second time", "name each once"));
        }
        found.push(one);
    }
    Ok(found)
}

/// Reads `[output]`.
pub(super) fn read(field: &Field<'_>) -> Result<OutputSettings, SceneError> {
    let mut f = field.fields()?;
    let OutputSettings { frames, tables } = OutputSettings::default();
    let frames = Frames {
        format: f.or("format", frames.format, |p| p.choice(&Format::ALL.map(|p| (p.name(), p))))?,
        precision: f.or("precision", frames.precision, |p| p.choice(&Precision::ALL.map(|p| (p.name(), p))))?,
        shapes: f.or("shapes", frames.shapes, |p| p.choice(&Shapes::ALL.map(|p| (p.name(), p))))?,
        bodies: f.or("bodies", frames.bodies, |list| some(&list, &BodyArray::ALL.map(|a| (a.name(), a))))?,
        contacts: f.or("contacts", frames.contacts, |list| some(&list, &ContactArray::ALL.map(|a| (a.name(), a))))?,
        branches: f.or("branches", frames.branches, |b| b.boolean())?,
    };
    let tables = f.or("tables", tables, |list| some(&list, &EndTable::ALL.map(|t| (t.name(), t))))?;
    f.finish()?;
    Ok(OutputSettings { frames, tables })
}

impl OutputSettings {
    /// As a section of a scene file; nothing where all is as by default.
    pub(super) fn write(&self, t: &mut String) -> std::fmt::Result {
        if *self == Self::default() {
            return Ok(());
        }
        let list = |names: Vec<&str>| format!("{names:?}");
        let Frames { format, precision, shapes, bodies, contacts, branches } = &self.frames;
        writeln!(t, "\n[output]\nformat = \"{}\"\nprecision = \"{}\"\nbranches = {branches}", format.name(), precision.name())?;
        writeln!(t, "shapes = \"{}\"", shapes.name())?;
        writeln!(t, "bodies = {}", list(bodies.iter().map(|a| a.name()).collect()))?;
        writeln!(t, "contacts = {}", list(contacts.iter().map(|a| a.name()).collect()))?;
        writeln!(t, "tables = {}", list(self.tables.iter().map(|a| a.name()).collect()))
    }
}
