//! Small problems as JSON.
//!
//! ```json
//! {"kind": "fc", "w": {"dense": [[1, 0, 0], [0, 2, 0], [0, 0, 2]]}, "q": [-1, 3, 4], "mu": [0.5]}
//! {"kind": "gfc", "m": MATRIX, "h": MATRIX, "f": [], "w": [], "mu": []}       H is dof × rows
//! {"kind": "rfc" | "grfc", …, "mu": [], "mu_r": []}
//! {"kind": "lcp", "m": MATRIX, "q": []}
//! {"kind": "mlcp", "m": MATRIX, "q": [], "equality": [true, false], "free": [true, false]}
//! {"kind": "relay", "m": MATRIX, "q": [], "lower": [-1, null], "upper": [1, null]}        null: unbounded
//! {"kind": "gmp" | "ggmp", …, "blocks": [{"set": "coulomb", "rows": 3, "mu": 0.5}, {"set": "free", "rows": 2}, …]}
//!     sets: free, non_negative, interval (lower, upper), coulomb (mu), crushing (mu, upper: the largest normal reaction),
//!     second_order (mu), rolling (mu, mu_r), twisting (mu, mu_r, mu_t)
//! MATRIX: {"dense": [[row], …]}, or {"rows": 3, "columns": 3, "triplets": [[0, 0, 1.0], …]}; entries of one place add
//! ```
//!
//! A field that the kind, or the set of a block, has no use for is an error: a file with `mu_r` that says `fc` means something else.

use super::Error;
use super::matrix::Entries;
use super::rows_of_contact;
use crate::algebra::matrix::Matrix;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::global::GlobalProblem;
use crate::numerics::lcp::Lcp;
use crate::numerics::local::LocalProblem;
use crate::numerics::mlcp::Mlcp;
use crate::numerics::relay::Relay;
use crate::numerics::solvers::{Kind, Problem};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::path::Path;

#[derive(Deserialize)]
struct Head {
    kind: String,
}

/// All fields that a kind may have; which ones it must have is checked by name.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(default)]
struct Document {
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    m: Option<Array>,
    #[serde(skip_serializing_if = "Option::is_none")]
    h: Option<Array>,
    #[serde(skip_serializing_if = "Option::is_none")]
    f: Option<Vec<f64>>,
    /// A matrix in local problems, a vector in global ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    w: Option<W>,
    #[serde(skip_serializing_if = "Option::is_none")]
    q: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mu: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mu_r: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    equality: Option<Vec<bool>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    free: Option<Vec<bool>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower: Option<Vec<Option<f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper: Option<Vec<Option<f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<Vec<Block>>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(default)]
struct Array {
    #[serde(skip_serializing_if = "Option::is_none")]
    dense: Option<Vec<Vec<f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    columns: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    triplets: Option<Vec<(usize, usize, f64)>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum W {
    Matrix(Array),
    Vector(Vec<f64>),
}

/// By its first bracket: an untagged reader tries both from memory, and its errors have lost their line.
impl<'de> Deserialize<'de> for W {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct First;
        impl<'de> Visitor<'de> for First {
            type Value = W;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a matrix, or a list of numbers in a global problem")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<W, A::Error> {
                Array::deserialize(MapAccessDeserializer::new(map)).map(W::Matrix)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<W, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(W::Vector)
            }
        }
        from.deserialize_any(First)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    set: String,
    rows: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mu: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mu_r: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mu_t: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lower: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    upper: Option<f64>,
}

/// Reads the problem of a JSON text; `path` is for messages alone.
///
/// ```
/// use drystone::io::problem::json;
/// let text = br#"{"kind": "relay", "m": {"dense": [[2.0]]}, "q": [-3.0], "lower": [-1.0], "upper": [null]}"#;
/// let problem = json::parse("relay.json".as_ref(), text)?;
/// assert_eq!(problem.kind().name(), "relay");
/// // value for value
/// let again = json::parse("again.json".as_ref(), json::text(&problem).as_bytes())?;
/// assert_eq!(json::text(&again), json::text(&problem));
/// # Ok::<(), drystone::io::problem::Error>(())
/// ```
pub fn parse(path: &Path, text: &[u8]) -> Result<Problem, Error> {
    let wrong = |e: serde_json::Error| Error::data(path, format!("line {}", e.line()), e.to_string());
    let head: Head = serde_json::from_slice(text).map_err(wrong)?;
    let names = || Kind::ALL.map(Kind::name).join(", ");
    let kind = Kind::from_name(&head.kind)
        .ok_or_else(|| Error::data(path, "kind", format!("is {:?}; it has to be one of {}", head.kind, names())))?;
    let document: Document = serde_json::from_slice(text).map_err(wrong)?;
    let foreign = document.foreign(kind);
    let problem = document.problem(kind).and_then(|problem| foreign.map(|()| problem));
    problem.map_err(|(what, cause)| Error::data(path, what, cause))
}

type Wrong = (String, String);

fn need<T>(field: Option<T>, name: &str) -> Result<T, Wrong> {
    field.ok_or_else(|| (name.to_owned(), "is missing".to_owned()))
}

/// An error for the first of these fields that is there without being known.
fn strangers(fields: &[(&str, bool)], known: &[&str], place: &str, of: &str) -> Result<(), Wrong> {
    match fields.iter().find(|(name, there)| *there && !known.contains(name)) {
        Some((name, _)) if known.is_empty() => {
            Err((format!("{name}{place}"), format!("is not looked at by {of}, which has no such field")))
        }
        Some((name, _)) => Err((format!("{name}{place}"), format!("is not looked at by {of}, which has {}", known.join(", ")))),
        None => Ok(()),
    }
}

fn same(what: &str, found: usize, needed: usize, why: &str) -> Result<(), Wrong> {
    if found == needed { Ok(()) } else { Err((what.to_owned(), format!("has {found} where {why} asks for {needed}"))) }
}

impl Document {
    /// An error where a field stands that a problem of this kind would not look at.
    fn foreign(&self, kind: Kind) -> Result<(), Wrong> {
        let known: &[&str] = match kind {
            Kind::Lcp => &["m", "q"],
            Kind::Relay => &["m", "q", "lower", "upper"],
            Kind::Mlcp => &["m", "q", "equality", "free"],
            Kind::Friction => &["w", "q", "mu"],
            Kind::Rolling => &["w", "q", "mu", "mu_r"],
            Kind::Mixed => &["w", "q", "blocks"],
            Kind::GlobalFriction => &["m", "h", "f", "w", "mu"],
            Kind::GlobalRolling => &["m", "h", "f", "w", "mu", "mu_r"],
            Kind::GlobalMixed => &["m", "h", "f", "w", "blocks"],
        };
        let there = [
            ("m", self.m.is_some()),
            ("h", self.h.is_some()),
            ("f", self.f.is_some()),
            ("w", self.w.is_some()),
            ("q", self.q.is_some()),
            ("mu", self.mu.is_some()),
            ("mu_r", self.mu_r.is_some()),
            ("equality", self.equality.is_some()),
            ("free", self.free.is_some()),
            ("lower", self.lower.is_some()),
            ("upper", self.upper.is_some()),
            ("blocks", self.blocks.is_some()),
        ];
        strangers(&there, known, "", &format!("a problem of kind {}", kind.name()))
    }

    fn problem(self, kind: Kind) -> Result<Problem, Wrong> {
        match kind {
            Kind::Lcp => {
                let q = need(self.q, "q")?;
                Ok(Problem::Lcp(Lcp { m: need(self.m, "m")?.entries("m", q.len(), q.len())?.matrix(), q }))
            }
            Kind::Relay => {
                let q = need(self.q, "q")?;
                let bounds = |side: Vec<Option<f64>>, free: f64| side.into_iter().map(|x| x.unwrap_or(free)).collect();
                Ok(Problem::Relay(Relay {
                    m: need(self.m, "m")?.entries("m", q.len(), q.len())?.matrix(),
                    q,
                    lower: bounds(need(self.lower, "lower")?, f64::NEG_INFINITY),
                    upper: bounds(need(self.upper, "upper")?, f64::INFINITY),
                }))
            }
            Kind::Mlcp => {
                let (q, equality) = (need(self.q, "q")?, need(self.equality, "equality")?);
                let free = self.free.unwrap_or_else(|| equality.clone());
                Ok(Problem::Mlcp(Mlcp { m: need(self.m, "m")?.entries("m", q.len(), free.len())?.matrix(), q, equality, free }))
            }
            Kind::Friction | Kind::Rolling | Kind::Mixed => {
                let W::Matrix(w) = need(self.w, "w")? else {
                    return Err((
                        "w".to_owned(),
                        format!("is a list; a problem of kind {} needs a matrix, {{\"dense\": [[row], …]}}", kind.name()),
                    ));
                };
                let q = need(self.q, "q")?;
                let w = w.entries("w", q.len(), q.len())?;
                let (sets, offsets) = laws(kind, self.mu, self.mu_r, self.blocks, q.len())?;
                let w = w.blocks(&offsets).map_err(|cause| ("w".to_owned(), cause))?;
                Ok(Problem::Local(LocalProblem { w, q, sets }))
            }
            Kind::GlobalFriction | Kind::GlobalRolling | Kind::GlobalMixed => {
                let W::Vector(w) = need(self.w, "w")? else {
                    return Err(("w".to_owned(), format!("is a matrix; a problem of kind {} needs a list of numbers", kind.name())));
                };
                let f = need(self.f, "f")?;
                let (sets, offsets) = laws(kind, self.mu, self.mu_r, self.blocks, w.len())?;
                let mass = need(self.m, "m")?.entries("m", f.len(), f.len())?.sparse();
                let h = need(self.h, "h")?.entries("h", f.len(), w.len())?.sparse();
                Ok(Problem::Global(GlobalProblem { mass, h, f, w, offsets, sets }))
            }
        }
    }

    fn of(problem: &Problem) -> Self {
        let kind = problem.kind();
        let mut document = Self { kind: kind.name().to_owned(), ..Self::default() };
        let bounds = |side: &[f64]| side.iter().map(|x| Some(*x).filter(|x| x.is_finite())).collect();
        match problem {
            Problem::Lcp(p) => (document.m, document.q) = (Some(Array::of(&p.m)), Some(p.q.clone())),
            Problem::Relay(p) => {
                (document.m, document.q) = (Some(Array::of(&p.m)), Some(p.q.clone()));
                (document.lower, document.upper) = (Some(bounds(&p.lower)), Some(bounds(&p.upper)));
            }
            Problem::Mlcp(p) => {
                (document.m, document.q) = (Some(Array::of(&p.m)), Some(p.q.clone()));
                (document.equality, document.free) = (Some(p.equality.clone()), Some(p.free.clone()));
            }
            Problem::Local(p) => {
                let w = Array::of(&Matrix::Blocks(p.w.clone()));
                (document.w, document.q) = (Some(W::Matrix(w)), Some(p.q.clone()));
            }
            Problem::Global(p) => {
                (document.m, document.h) = (Some(Array::sparse(&p.mass)), Some(Array::sparse(&p.h)));
                (document.f, document.w) = (Some(p.f.clone()), Some(W::Vector(p.w.clone())));
            }
        }
        let (sets, offsets) = problem.blocks();
        // one of drilling beside those of rolling, say, has to be told by its block
        let uniform = rows_of_contact(kind).iter().any(|&rows| offsets.windows(2).all(|o| o[1] - o[0] == rows));
        if matches!(problem, Problem::Local(_) | Problem::Global(_)) {
            if uniform && !matches!(kind, Kind::Mixed | Kind::GlobalMixed) {
                document.mu = Some(sets.iter().filter_map(|&set| Block::of(set, 0).mu).collect());
                document.mu_r = matches!(kind, Kind::Rolling | Kind::GlobalRolling)
                    .then(|| sets.iter().filter_map(|&set| Block::of(set, 0).mu_r).collect());
            } else {
                document.kind = if matches!(problem, Problem::Local(_)) { Kind::Mixed } else { Kind::GlobalMixed }.name().to_owned();
                document.blocks = Some(sets.iter().zip(offsets.windows(2)).map(|(&set, o)| Block::of(set, o[1] - o[0])).collect());
            }
        }
        document
    }
}

/// Sets and first rows of the blocks.
fn laws(
    kind: Kind,
    mu: Option<Vec<f64>>,
    mu_r: Option<Vec<f64>>,
    blocks: Option<Vec<Block>>,
    rows: usize,
) -> Result<(Vec<AdmissibleSet>, Vec<usize>), Wrong> {
    if matches!(kind, Kind::Mixed | Kind::GlobalMixed) {
        let blocks = need(blocks, "blocks")?;
        let mut offsets = vec![0usize];
        for block in &blocks {
            offsets.push(offsets[offsets.len() - 1].saturating_add(block.rows));
        }
        same("blocks", offsets[blocks.len()], rows, "the number of rows")?;
        let sets: Result<Vec<_>, Wrong> = blocks.into_iter().enumerate().map(|(i, block)| block.set(i)).collect();
        return Ok((sets?, offsets));
    }
    let mu = need(mu, "mu")?;
    let n = mu.len();
    let rolling = matches!(kind, Kind::Rolling | Kind::GlobalRolling);
    let dim = rows.checked_div(n).unwrap_or(0);
    let allowed = rows_of_contact(kind);
    if dim * n != rows || (n > 0 && !allowed.contains(&dim)) {
        let cause = format!("holds {n} values for {rows} rows; a contact has {} or {} rows", allowed[0], allowed[1]);
        return Err(("mu".to_owned(), cause));
    }
    let sets = if rolling {
        let mu_r = need(mu_r, "mu_r")?;
        same("mu_r", mu_r.len(), n, "mu")?;
        mu.into_iter().zip(mu_r).map(|(mu, mu_r)| AdmissibleSet::Rolling { mu, mu_r }).collect()
    } else {
        mu.into_iter().map(|mu| AdmissibleSet::Coulomb { mu }).collect()
    };
    Ok((sets, (0..=n).map(|i| dim * i).collect()))
}

impl Block {
    fn of(set: AdmissibleSet, rows: usize) -> Self {
        let plain = |name: &str| Self { set: name.to_owned(), rows, mu: None, mu_r: None, mu_t: None, lower: None, upper: None };
        let finite = |x: f64| Some(x).filter(|x| x.is_finite());
        match set {
            AdmissibleSet::Free => plain("free"),
            AdmissibleSet::NonNegative => plain("non_negative"),
            AdmissibleSet::Interval { lower, upper } => Self { lower: finite(lower), upper: finite(upper), ..plain("interval") },
            AdmissibleSet::Coulomb { mu } => Self { mu: Some(mu), ..plain("coulomb") },
            AdmissibleSet::Crushing { mu, most } => Self { mu: Some(mu), upper: finite(most), ..plain("crushing") },
            AdmissibleSet::SecondOrder { mu } => Self { mu: Some(mu), ..plain("second_order") },
            AdmissibleSet::Rolling { mu, mu_r } => Self { mu: Some(mu), mu_r: Some(mu_r), ..plain("rolling") },
            AdmissibleSet::Twisting { mu, mu_r, mu_t } => Self { mu: Some(mu), mu_r: Some(mu_r), mu_t: Some(mu_t), ..plain("twisting") },
        }
    }

    fn set(self, i: usize) -> Result<AdmissibleSet, Wrong> {
        let number = |x: Option<f64>, name: &str| need(x, &format!("{name} of block {i}"));
        let there = [
            ("mu", self.mu.is_some()),
            ("mu_r", self.mu_r.is_some()),
            ("mu_t", self.mu_t.is_some()),
            ("lower", self.lower.is_some()),
            ("upper", self.upper.is_some()),
        ];
        let known: &[&str] = match self.set.as_str() {
            "interval" => &["lower", "upper"],
            "coulomb" | "second_order" => &["mu"],
            "crushing" => &["mu", "upper"],
            "rolling" => &["mu", "mu_r"],
            "twisting" => &["mu", "mu_r", "mu_t"],
            _ => &[],
        };
        let set = match self.set.as_str() {
            "free" => AdmissibleSet::Free,
            "non_negative" => AdmissibleSet::NonNegative,
            "interval" => {
                AdmissibleSet::Interval { lower: self.lower.unwrap_or(f64::NEG_INFINITY), upper: self.upper.unwrap_or(f64::INFINITY) }
            }
            "coulomb" => AdmissibleSet::Coulomb { mu: number(self.mu, "mu")? },
            "crushing" => AdmissibleSet::Crushing { mu: number(self.mu, "mu")?, most: number(self.upper, "upper")? },
            "second_order" => AdmissibleSet::SecondOrder { mu: number(self.mu, "mu")? },
            "rolling" => AdmissibleSet::Rolling { mu: number(self.mu, "mu")?, mu_r: number(self.mu_r, "mu_r")? },
            "twisting" => {
                AdmissibleSet::Twisting { mu: number(self.mu, "mu")?, mu_r: number(self.mu_r, "mu_r")?, mu_t: number(self.mu_t, "mu_t")? }
            }
            other => {
                let known = "free, non_negative, interval, coulomb, crushing, second_order, rolling, twisting";
                return Err((format!("set of block {i}"), format!("is {other:?}; it has to be one of {known}")));
            }
        };
        strangers(&there, known, &format!(" of block {i}"), &format!("the set {}", self.set)).map(|()| set)
    }
}

impl Array {
    /// Checks the sizes before anything is allocated by them.
    fn entries(self, name: &str, rows: usize, columns: usize) -> Result<Entries, Wrong> {
        let found = Entries { rows, columns, ..Entries::default() };
        match (self.dense, self.triplets) {
            (Some(dense), None) => {
                same(&format!("{name}.dense"), dense.len(), rows, "the number of rows")?;
                for (i, row) in dense.iter().enumerate() {
                    same(&format!("row {i} of {name}.dense"), row.len(), columns, "the number of columns")?;
                }
                let list = dense.iter().enumerate().flat_map(|(i, row)| row.iter().enumerate().map(move |(j, &x)| (i, j, x))).collect();
                Ok(Entries { list, dense: true, ..found })
            }
            (None, Some(list)) => {
                same(&format!("{name}.rows"), need(self.rows, &format!("{name}.rows"))?, rows, "the rest of the problem")?;
                same(&format!("{name}.columns"), need(self.columns, &format!("{name}.columns"))?, columns, "the rest of the problem")?;
                match list.iter().position(|&(i, j, _)| i >= rows || j >= columns) {
                    Some(k) => {
                        let (i, j, _) = list[k];
                        Err((format!("triplet {k} of {name}"), format!("is at ({i}, {j}), outside {rows} × {columns}")))
                    }
                    None => Ok(Entries { list, ..found }),
                }
            }
            _ => Err((name.to_owned(), "needs either `dense` or `rows`, `columns` and `triplets`".to_owned())),
        }
    }

    fn of(a: &Matrix) -> Self {
        match a {
            Matrix::Dense { columns, values, rows } => {
                let row = |i: usize| values[i * columns..(i + 1) * columns].to_vec();
                Self { dense: Some((0..*rows).map(row).collect()), ..Self::default() }
            }
            Matrix::Sparse(a) => Self::sparse(a),
            Matrix::Blocks(a) => {
                let mut list = Vec::new();
                for i in 0..a.block_count() {
                    for (j, block) in a.row(i) {
                        let (row0, column0, n) = (a.offsets()[i], a.offsets()[j], a.rows(j));
                        let entries = block.iter().enumerate().filter(|(_, x)| **x != 0.0);
                        list.extend(entries.map(|(k, &x)| (row0 + k / n, column0 + k % n, x)));
                    }
                }
                Self { rows: Some(a.order()), columns: Some(a.order()), triplets: Some(list), dense: None }
            }
        }
    }

    fn sparse(a: &sprs::CsMat<f64>) -> Self {
        let list = a.iter().map(|(x, (i, j))| (i, j, *x)).collect();
        Self { rows: Some(a.rows()), columns: Some(a.cols()), triplets: Some(list), dense: None }
    }
}

/// The problem as one line of JSON; numbers are read back bit for bit.
pub fn text(problem: &Problem) -> String {
    // a tree of strings, numbers and lists has no case that fails
    serde_json::to_string(&Document::of(problem)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_read_back_value_for_value() {
        let m = r#"{"dense": [[2, 0.1, 0], [0, 1, 0], [0.3, 0, 1]]}"#;
        let t = r#"{"rows": 3, "columns": 3, "triplets": [[0, 0, 2], [0, 0, 1], [2, 1, 0.1]]}"#;
        let cases = [
            format!(r#"{{"kind": "fc", "w": {m}, "q": [1, 2, 0.1], "mu": [0.3]}}"#),
            format!(r#"{{"kind": "rfc", "w": {t}, "q": [1, 2, 0.1], "mu": [0.3], "mu_r": [0.01]}}"#),
            format!(r#"{{"kind": "gfc", "m": {m}, "h": {t}, "f": [1, 2, 3], "w": [1, 2, 0.1], "mu": [0.3]}}"#),
            format!(r#"{{"kind": "grfc", "m": {m}, "h": {t}, "f": [1, 2, 3], "w": [1, 2, 0.1], "mu": [0.3], "mu_r": [1]}}"#),
            format!(r#"{{"kind": "lcp", "m": {m}, "q": [1, 2, 0.1]}}"#),
            format!(r#"{{"kind": "mlcp", "m": {t}, "q": [1, 2, 0.1], "equality": [true, false, false]}}"#),
            format!(r#"{{"kind": "relay", "m": {t}, "q": [1, 2, 3], "lower": [0, null, -1], "upper": [1, null, 1e300]}}"#),
            format!(
                r#"{{"kind": "gmp", "w": {m}, "q": [1, 2, 3], "blocks": [{{"set": "free", "rows": 1}}, {{"set": "coulomb", "rows": 2, "mu": 0.3}}]}}"#
            ),
            format!(
                r#"{{"kind": "ggmp", "m": {t}, "h": {t}, "f": [1, 2, 3], "w": [1, 2, 3], "blocks": [{{"set": "interval", "rows": 1, "upper": 2}}, {{"set": "non_negative", "rows": 2}}]}}"#
            ),
        ];
        for case in cases {
            let p = parse("a.json".as_ref(), case.as_bytes()).unwrap_or_else(|e| panic!("{case}: {e}"));
            assert!(case.contains(&format!("\"kind\": \"{}\"", p.kind().name())), "{case}: {:?}", p.kind());
            let written = text(&p);
            assert_eq!(text(&parse("b.json".as_ref(), written.as_bytes()).expect(&written)), written);
        }
    }

    #[test]
    fn contacts_of_rows_that_coefficients_alone_do_not_tell_are_written_as_blocks() {
        let identity = |n: usize| {
            let list: Vec<String> = (0..n).map(|i| format!("[{i}, {i}, 1]")).collect();
            format!(r#"{{"rows": {n}, "columns": {n}, "triplets": [{}]}}"#, list.join(", "))
        };
        for (rows, set, kind) in [
            (6, r#""set": "rolling", "mu": 0.3, "mu_r": 0.01"#, "grfc"),
            (6, r#""set": "twisting", "mu": 0.3, "mu_r": 0.01, "mu_t": 0.1"#, "ggmp"),
            (1, r#""set": "coulomb", "mu": 0.3"#, "gfc"),
            (4, r#""set": "coulomb", "mu": 0.3"#, "gfc"),
        ] {
            let (m, zeros) = (identity(rows), vec!["0"; rows].join(", "));
            let case =
                format!(r#"{{"kind": "ggmp", "m": {m}, "h": {m}, "f": [{zeros}], "w": [{zeros}], "blocks": [{{{set}, "rows": {rows}}}]}}"#);
            let p = parse("a.json".as_ref(), case.as_bytes()).unwrap_or_else(|e| panic!("{case}: {e}"));
            assert_eq!(p.kind().name(), kind);
            let again = parse("b.json".as_ref(), text(&p).as_bytes()).unwrap_or_else(|e| panic!("{set}, {rows} rows: {e}"));
            assert_eq!((p.blocks(), again.kind()), (again.blocks(), p.kind()));
        }
    }

    #[test]
    fn faults_name_their_field() {
        for (case, part) in [
            ("{", "line 1"),
            (r#"{"kind": "fcc"}"#, "kind: is \"fcc\"; it has to be one of fc, gfc"),
            (r#"{"kind": "lcp", "q": [1]}"#, "m: is missing"),
            (r#"{"kind": "lcp", "q": [1], "m": {"dense": [[1, 2]]}}"#, "row 0 of m.dense: has 2 where the number of columns asks for 1"),
            (r#"{"kind": "lcp", "q": [1], "m": {"rows": 1, "columns": 1, "triplets": [[0, 7, 1]]}}"#, "triplet 0 of m: is at (0, 7)"),
            (r#"{"kind": "lcp", "q": [1], "m": {"rows": 1000000000000, "columns": 1, "triplets": []}}"#, "m.rows: has"),
            (r#"{"kind": "fc", "w": {"dense": [[1]]}, "q": [1], "mu": [0.1]}"#, "a contact has 2 or 3 rows"),
            (r#"{"kind": "lcp", "z": 1}"#, "unknown field `z`"),
            (r#"{"kind": "gmp", "w": {"dense": []}, "q": [], "blocks": [{"set": "x", "rows": 0}]}"#, "it has to be one of free"),
        ] {
            let error = parse("a.json".as_ref(), case.as_bytes()).map(|p| p.kind()).unwrap_err().to_string();
            assert!(error.starts_with("a.json: ") && error.contains(part), "{case}: {error}");
        }
    }

    #[test]
    fn what_a_kind_would_not_look_at_is_told_and_not_left_out() {
        let (m, block) = (r#"{"dense": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}"#, |b: &str| format!(r#""blocks": [{{"set": {b}}}]"#));
        for (kind, fields, part) in [
            (
                "fc",
                format!(r#""w": {m}, "q": [1, 2, 3], "mu": [0.3], "mu_r": [0.1]"#),
                "mu_r: is not looked at by a problem of kind fc, which has w, q, mu",
            ),
            ("gfc", format!(r#""m": {m}, "h": {m}, "f": [1, 2, 3], "w": [1, 2, 3], "mu": [0.3], "q": [1, 2, 3]"#), "q: is not"),
            (
                "lcp",
                format!(r#""m": {m}, "q": [1, 2, 3], "lower": [0, 0, 0]"#),
                "lower: is not looked at by a problem of kind lcp, which has m, q",
            ),
            (
                "relay",
                format!(r#""m": {m}, "q": [1, 2, 3], "lower": [0, 0, 0], "upper": [1, 1, 1], "free": [true, true, true]"#),
                "free: is not",
            ),
            ("mlcp", format!(r#""m": {m}, "q": [1, 2, 3], "equality": [true, true, false], "upper": [1, 1, 1]"#), "upper: is not"),
            ("rfc", format!(r#""w": {m}, "q": [1, 2, 3], "mu": [1], "mu_r": [1], {}"#, block(r#""free", "rows": 3"#)), "blocks: is not"),
            ("gmp", format!(r#""w": {m}, "q": [1, 2, 3], "mu": [1], {}"#, block(r#""free", "rows": 3"#)), "mu: is not"),
            (
                "gmp",
                format!(r#""w": {m}, "q": [1, 2, 3], {}"#, block(r#""free", "rows": 3, "mu": 1"#)),
                "mu of block 0: is not looked at by the set free",
            ),
            (
                "gmp",
                format!(r#""w": {m}, "q": [1, 2, 3], {}"#, block(r#""coulomb", "rows": 3, "mu": 1, "mu_r": 1"#)),
                "mu_r of block 0: is not",
            ),
            // a bound that is not given is none, not one of 0
            ("gmp", format!(r#""w": {m}, "q": [1, 2, 3], {}"#, block(r#""crushing", "rows": 3, "mu": 1"#)), "upper of block 0: is missing"),
        ] {
            let text = format!(r#"{{"kind": "{kind}", {fields}}}"#);
            let error = parse("a.json".as_ref(), text.as_bytes()).map(|p| p.kind()).expect_err(&text).to_string();
            assert!(error.starts_with("a.json: ") && error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn wrong_types_are_told_with_their_line_wherever_they_stand() {
        let rest = "\n\"q\": [1, 2, 0.1], \"f\": [1, 2, 3], \"h\": {\"dense\": [[1]]}, \"m\": {\"dense\": [[1]]}, \"mu\": [0.3]}";
        for (kind, w, told) in [
            ("fc", r#"{"dense": [[1, "x"]]}"#, "line 2: invalid type: string \"x\", expected f64 at line 2 column 23"),
            ("fc", r#"{"columns": 1, "rows": 1, "triplets": [[0, 0.5, 1]]}"#, "line 2: invalid type: floating point `0.5`, expected usize"),
            ("fc", r#"{"dens": [[1]]}"#, "line 2: unknown field `dens`"),
            ("gfc", "[1, true]", "line 2: invalid type: boolean `true`, expected f64"),
            ("gfc", "7", "line 2: invalid type: integer `7`, expected a matrix, or a list of numbers in a global problem"),
            ("fc", "[1, 2]", "w: is a list; a problem of kind fc needs a matrix"),
            ("gfc", r#"{"dense": [[1]]}"#, "w: is a matrix; a problem of kind gfc needs a list of numbers"),
        ] {
            let text = format!("{{\"kind\": \"{kind}\",\n\"w\": {w},{rest}");
            let error = parse("p.json".as_ref(), text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
