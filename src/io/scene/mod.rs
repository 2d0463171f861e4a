//! Scene files: TOML text → [`Scene`], plain data in SI units with every generator expanded.
//!
//! ```text
//! text ─ document (tree with places, edited by --set) ─ fields (typed, with units) ─ sections ─ model::Scene
//! ```
//!
//! Numbers are SI, or texts with a unit: `"2400 kg/m3"`, `"3 mm"`, `"30 deg"`. Every fault is a [`SceneError`]
//! with file, line, what was found and what would do; unknown keys are faults.
//!
//! ```
//! use drystone::io::scene::Scene;
//! let scene = Scene::from_toml(r#"
//!     [time]
//!     step = "1 ms"
//!     end = 2.0
//!
//!     [[bodies]]
//!     name = "floor"
//!     shape = { kind = "half_space", normal = [0, 0, 1] }
//!     motion = "static"
//!
//!     [[bodies]]
//!     name = "ball"
//!     shape = { kind = "ball", radius = "3 cm" }
//!     position = [0, 0, 0.5]
//! "#, "doc")?;
//! assert_eq!(scene.time.step, 1e-3);
//! assert_eq!(scene.bodies[1].name, "ball");
//! # Ok::<(), drystone::io::scene::SceneError>(())
//! ```

pub mod applied;
mod bent;
mod bodies;
mod body_spec;
mod build;
pub mod builtin;
pub mod camera;
mod document;
pub(crate) mod error;
mod fields;
mod flow;
mod gates;
mod generate;
mod grains;
pub mod ground;
mod ground_records;
mod imports;
mod links;
pub mod loads;
mod masonry;
pub mod model;
mod motion;
pub mod output;
mod print;
mod recordables;
mod records;
mod resources;
mod sections;
mod servo;
mod shapes;
mod sizes;
pub mod stop;
pub mod study;
mod supports;
#[cfg(test)]
mod tests;
pub(in crate::io) mod units;
mod vessels;
mod write;

use std::path::{Path, PathBuf};

pub use error::SceneError;
pub use model::Scene;
pub use resources::{Content, SceneFile};
#[cfg(feature = "cli")]
pub(crate) use units::seconds;

use document::Document;
use resources::Resources;

/// Where a scene comes from.
///
/// ```
/// use drystone::io::scene::SceneSource;
/// assert_eq!(SceneSource::new("arch"), SceneSource::BuiltIn("arch".into()));
/// assert_eq!(SceneSource::new("arch.toml"), SceneSource::File("arch.toml".into()));
/// assert_eq!(SceneSource::new("scenes/arch"), SceneSource::File("scenes/arch".into()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SceneSource {
    /// A TOML file.
    File(PathBuf),
    /// A scene of [`builtin`].
    BuiltIn(String),
}

impl SceneSource {
    /// What a user means by `text`: a file if it holds a separator or ends in `.toml`, else a built-in scene.
    pub fn new(text: &str) -> Self {
        let file = text.contains(['/', std::path::MAIN_SEPARATOR]) || text.ends_with(".toml");
        if file { Self::File(PathBuf::from(text)) } else { Self::BuiltIn(text.to_owned()) }
    }

    /// Its TOML as it stands, before any setting.
    ///
    /// ```
    /// use drystone::io::scene::SceneSource;
    /// assert!(SceneSource::new("incline").text()?.contains("[time]"));
    /// # Ok::<(), drystone::io::scene::SceneError>(())
    /// ```
    ///
    /// # Errors
    /// A file that cannot be read, or no built-in scene of that name.
    pub fn text(&self) -> Result<String, SceneError> {
        match self {
            Self::File(path) => read_text(path),
            Self::BuiltIn(name) => Ok(builtin::find(name)?.toml.to_owned()),
        }
    }

    /// Its TOML with each `(key, value)` of `overrides` written into it, as [`Scene::load`] does; without any, as it stands. Comments go where
    /// something is written.
    ///
    /// ```
    /// use drystone::io::scene::SceneSource;
    /// let text = SceneSource::new("bead_pour").text_with(&[("n".into(), "3".into())])?;
    /// assert!(text.contains("count = [3, 3, 3]"));
    /// # Ok::<(), drystone::io::scene::SceneError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`SceneSource::text`], and settings that have no place in the scene.
    pub fn text_with(&self, overrides: &[(String, String)]) -> Result<String, SceneError> {
        if overrides.is_empty() {
            return self.text();
        }
        let mut document = self.document(overrides)?;
        // a step that is given leaves nothing to choose
        if overrides.iter().any(|(key, value)| key == "time.step" && value != "\"auto\"") {
            ["accuracy", "step_max"].iter().for_each(|key| document.remove("time", key));
        }
        if let document::Value::Table(root) = &mut document.root.value {
            // the file may get another name
            let place = document::Place::Text(0);
            let name = || (place, document::Node { value: document::Value::Text(self.name()), place });
            root.entry("name".to_owned()).or_insert_with(name);
        }
        Ok(print::print(&document.root))
    }

    /// What the scene is called if it does not say.
    fn name(&self) -> String {
        match self {
            Self::File(path) => path.file_stem().map_or_else(|| "scene".to_owned(), |s| s.to_string_lossy().into_owned()),
            Self::BuiltIn(name) => name.clone(),
        }
    }

    /// The tree of its text after these settings.
    fn document(&self, overrides: &[(String, String)]) -> Result<Document, SceneError> {
        match self {
            Self::File(path) => {
                let mut document = Document::parse(&read_text(path)?, &path.display().to_string())?;
                for (key, value) in overrides {
                    document.set(key, value, &format!("{key}={value}"))?;
                }
                Ok(document)
            }
            Self::BuiltIn(name) => {
                let scene = builtin::find(name)?;
                let mut document = Document::parse(scene.toml, scene.name)?;
                for (key, value) in overrides {
                    for (path, toml) in scene.edits(key, value)? {
                        document.set(&path, &toml, &format!("{key}={value}"))?;
                    }
                }
                Ok(document)
            }
        }
    }
}

impl Scene {
    /// Reads a scene after writing each `(key, value)` of `overrides` into it.
    ///
    /// A key is a dotted TOML path (`bodies.0.mass`), or a listed parameter of a built-in scene.
    ///
    /// ```
    /// use drystone::io::scene::{Scene, SceneSource};
    /// let scene = Scene::load(&SceneSource::new("bead_pour"), &[("n".into(), "3".into())])?;
    /// assert_eq!(scene.dynamic_bodies().count(), 27);
    /// # Ok::<(), drystone::io::scene::SceneError>(())
    /// ```
    pub fn load(source: &SceneSource, overrides: &[(String, String)]) -> Result<Self, SceneError> {
        Self::load_with_files(source, overrides).map(|(scene, _)| scene)
    }

    /// The same, with the files that the scene names.
    pub fn load_with_files(source: &SceneSource, overrides: &[(String, String)]) -> Result<(Self, Vec<SceneFile>), SceneError> {
        let resources = match source {
            SceneSource::File(path) => Resources::beside(path),
            SceneSource::BuiltIn(_) => Resources::embedded(),
        };
        let scene = sections::read(&source.document(overrides)?, &source.name(), &resources)?;
        Ok((scene, resources.files()))
    }

    /// `file:line:column` of the table that makes the body of this name: in `[[bodies]]`, or of a generator, an inlet or an import that has a
    /// name; none for built-in scenes.
    ///
    /// ```
    /// use drystone::io::scene::{Scene, SceneSource};
    /// assert_eq!(Scene::place_of_body(&SceneSource::new("incline"), "box"), None);
    /// ```
    pub fn place_of_body(source: &SceneSource, body: &str) -> Option<String> {
        let SceneSource::File(path) = source else { return None };
        let document = Document::parse(&read_text(path).ok()?, &path.display().to_string()).ok()?;
        let mut root = fields::Fields::root(&document.root, &document.source).ok()?;
        let name = |table: &fields::Field<'_>, default: String| {
            let given = table.fields().ok().and_then(|mut f| f.optional("name").and_then(|name| name.word()));
            given.unwrap_or(default)
        };
        let bodies = root.list("bodies").ok()?;
        let alone = bodies.iter().enumerate().find(|(i, table)| name(table, format!("body{i}")) == body).map(|(_, table)| table);
        // the bodies of what makes many are called by its name and an ending
        let mut makers: Vec<(&'static str, Vec<fields::Field<'_>>)> = Vec::new();
        if let Some(mut generators) = root.optional("generate").and_then(|f| f.fields().ok()) {
            makers.extend(generate::kinds().map(|kind| (kind, generators.list(kind).unwrap_or_default())));
        }
        makers.extend(["inlet", "import"].map(|kind| (kind, root.list(kind).unwrap_or_default())));
        let of = |name: String| body.strip_prefix(&name).is_some_and(|ending| ending.starts_with('.'));
        let mut tables = makers.iter().flat_map(|(kind, tables)| tables.iter().enumerate().map(move |(i, table)| (kind, i, table)));
        let among = || tables.find(|(kind, i, table)| of(name(table, generate::default_name(kind, *i)))).map(|(.., table)| table);
        Some(alone.or_else(among)?.error("", "").place())
    }

    /// Reads a scene from text; `origin` names it in messages. Files that it names are looked for in the working directory.
    pub fn from_toml(text: &str, origin: &str) -> Result<Self, SceneError> {
        Self::from_toml_with(text, origin, &[])
    }

    /// The same after writing each `(path, value)` of `overrides` into it.
    pub(crate) fn from_toml_with(text: &str, origin: &str, overrides: &[(String, String)]) -> Result<Self, SceneError> {
        let mut document = Document::parse(text, origin)?;
        for (key, value) in overrides {
            document.set(key, value, &format!("{key}={value}"))?;
        }
        sections::read(&document, "scene", &Resources::beside(Path::new("scene.toml")))
    }
}

fn read_text(path: &Path) -> Result<String, SceneError> {
    let origin = path.display().to_string();
    let cure = "check the path, or run `drystone scenes` for the built-in scenes";
    let bytes = std::fs::metadata(path)
        .and_then(|m| {
            if m.len() > document::MAX_TEXT as u64 {
                Err(std::io::Error::other(format!("{} bytes are too many for a scene", m.len())))
            } else {
                std::fs::read(path)
            }
        })
        .map_err(|e| SceneError::whole(&origin, format!("the scene file cannot be read: {e}"), cure))?;
    String::from_utf8(bytes).map_err(|e| {
        let offset = e.utf8_error().valid_up_to();
        SceneError::whole(
            &origin,
            format!("found bytes that are not UTF-8 text at byte {offset}"),
            "a scene is a text file; save it as UTF-8",
        )
    })
}
