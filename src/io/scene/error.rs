//! What is wrong with a scene, where, and what would do.

/// A scene that cannot be read: place, what was found, cure.
///
/// ```
/// use drystone::io::scene::Scene;
/// let e = Scene::from_toml("[time]\nstep = \"2 kg\"\nend = 1.0", "my.toml").unwrap_err();
/// assert_eq!((e.line, e.column), (Some(2), Some(8)));
/// assert!(e.to_string().starts_with("my.toml:2:8: time.step: found a mass (\"2 kg\"), expected a time"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}\n  {cure}", self.place())]
pub struct SceneError {
    /// The file, the built-in scene or the `--set` that is at fault.
    pub origin: String,
    /// Line, counted from 1.
    pub line: Option<usize>,
    /// Column in characters, counted from 1.
    pub column: Option<usize>,
    /// The thing and what was found.
    pub message: String,
    /// What would do.
    pub cure: String,
}

impl SceneError {
    /// An error about `origin` as a whole.
    pub(crate) fn whole(origin: impl Into<String>, message: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { origin: origin.into(), line: None, column: None, message: message.into(), cure: cure.into() }
    }

    /// `file:line:column`, as far as known.
    pub fn place(&self) -> String {
        match (self.line, self.column) {
            (Some(line), Some(column)) => format!("{}:{line}:{column}", self.origin),
            _ => self.origin.clone(),
        }
    }
}

/// Words of other programs, and ours.
const OTHERS: &[(&[&str], &str)] = &[
    (&["restitution", "coefficient_of_restitution", "cor", "e"], "e_n"),
    (&["friction", "friction_coefficient", "coefficient_of_friction", "cof"], "mu"),
    (&["rolling_friction", "rolling_resistance"], "mu_r"),
    (&["twisting_resistance", "spinning_friction", "torsion_friction"], "mu_t"),
    (&["dt", "h", "timestep", "time_step"], "step"),
    (&["duration", "t_end", "tend", "until", "t_max"], "end"),
    (&["fixed", "static", "dynamic", "kinematic", "type"], "motion"),
    (&["type", "shape"], "kind"),
    (&["omega", "spin", "rotational_velocity"], "angular_velocity"),
    (&["quaternion"], "orientation"),
    (&["angle", "euler", "axis"], "rotation"),
    (&["half_size", "extents", "dimensions"], "half_extents"),
    (&["number", "n", "grains", "particles"], "count"),
    (&["gap", "spacing", "distance"], "pitch"),
    (&["com", "center_of_mass"], "centre_of_mass"),
];

/// Keys that stand at another place, and where.
const ELSEWHERE: &[(&[&str], &str)] = &[
    (&["density"], "a density is that of a material: [[materials]] with `name` and `density`, which a body names as its `material`"),
    (&["mu", "friction"], "friction is that of pairs of materials: `mu` in [contact], or in [[contact.pairs]] with `materials`"),
    (&["e_n", "restitution"], "restitution is that of pairs of materials: `e_n` in [contact], or in [[contact.pairs]] with `materials`"),
    (&["gravity"], "`gravity = [x, y, z]` stands at the top of the file, before the first section"),
    (&["tolerance"], "`tolerance` stands in [solver]"),
    (&["step", "end"], "`step` and `end` stand in [time]"),
];

/// What to do about an unknown key where these are known; what the table itself says of `others` comes before what all say.
pub(crate) fn about_key<'a>(found: &str, known: impl IntoIterator<Item = &'a str>, others: &[(&[&str], &str)]) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let places = || others.iter().chain(ELSEWHERE);
    let elsewhere = places().find(|(words, _)| words.contains(&found)).filter(|_| suggestion(found, &known).is_none());
    let cure = cure(found, &known);
    match elsewhere {
        Some((_, place)) => format!("{place} ({cure})"),
        None => cure,
    }
}

/// The word of `known` that `found` was probably meant to be.
pub(crate) fn suggestion<'a>(found: &str, known: &[&'a str]) -> Option<&'a str> {
    let alike = |a: &str, b: &str| OTHERS.iter().any(|(words, ours)| *ours == a && words.contains(&b));
    if let Some(word) = known.iter().find(|word| alike(word, found) || alike(found, word)) {
        return Some(word);
    }
    let score = |word: &str| strsim::damerau_levenshtein(&word.to_lowercase(), &found.to_lowercase());
    // a very long key is no typing error, and the distance costs its length
    if found.len() > 64 {
        return None;
    }
    // the beginning of a word is as good as the word, and nearly so that of what stands behind one of its dots
    let begins = |word: &str| word.to_lowercase().starts_with(&found.to_lowercase());
    let cost = |word: &str| match found.len() >= 3 {
        true if begins(word) => 1,
        true if word.match_indices('.').any(|(dot, _)| begins(&word[dot + 1..])) => 2.min(score(word)),
        _ => score(word),
    };
    let best = known.iter().map(|&word| (cost(word), word)).min()?;
    (best.0 <= 1 + best.1.len().min(found.len()) / 3).then_some(best.1)
}

/// Most words that a message lists.
const LISTED: usize = 50;

/// "did you mean `x`? Known: a, b, c".
pub(crate) fn did_you_mean<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    cure(found, &known.into_iter().collect::<Vec<_>>())
}

fn cure(found: &str, known: &[&str]) -> String {
    let mut list: Vec<&str> = Vec::new();
    for word in known {
        match list.contains(word) {
            true => {}
            false if list.len() < LISTED => list.push(word),
            false => {
                list.push("…");
                break;
            }
        }
    }
    let known_words = if list.is_empty() { "nothing is known here".to_owned() } else { format!("known here: {}", list.join(", ")) };
    match suggestion(found, known) {
        Some(word) => format!("did you mean `{word}`? ({known_words})"),
        None => known_words,
    }
}
