//! Reading FCLIB.

use super::Stored;
use crate::io::problem::answer::of_kind;
use crate::io::problem::{Entries, Error, rows_of_contact};
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::global::GlobalProblem;
use crate::numerics::local::LocalProblem;
use crate::numerics::solvers::{Kind, Problem, Solution};
use hdf5_pure::{DType, File, Group};
use std::path::Path;

/// Deflate packs at most 1 to 1032, so an array of more bytes than this times the file is a lie of its header.
const PACKING: u64 = 1100;

/// Groups of problems, and their kinds.
const KINDS: [(&str, Kind); 4] = [
    ("fclib_local", Kind::Friction),
    ("fclib_global", Kind::GlobalFriction),
    ("fclib_local_rolling", Kind::Rolling),
    ("fclib_global_rolling", Kind::GlobalRolling),
];

/// Reads an FCLIB file.
pub fn read(path: &Path) -> Result<Stored, Error> {
    parse(path, std::fs::read(path).map_err(Error::file(path, "read"))?)
}

/// Reads the bytes of an FCLIB file; `path` is for messages alone.
pub fn parse(path: &Path, bytes: Vec<u8>) -> Result<Stored, Error> {
    // the HDF5 crate promises errors on malformed files, but a panic in it must not become ours
    let result = std::panic::catch_unwind(|| Reader::open(path, bytes)?.stored());
    let stored = result.unwrap_or_else(|_| Err(Error::data(path, "HDF5", "is so damaged that its structure cannot be followed")))?;
    stored.problem.validate().map_err(|source| Error::Problem { path: path.to_owned(), source })?;
    Ok(stored)
}

/// The `solution` in the bytes of a file, or the first of its `guesses`, as a guess for this problem, of whose kind it has to be; the problem
/// itself may be missing, and z and w stand for r and u where the kind has them. `path` is for messages alone.
pub fn solution(path: &Path, bytes: Vec<u8>, problem: &Problem) -> Result<Solution, Error> {
    let result = std::panic::catch_unwind(|| Reader::open(path, bytes)?.first_guess(problem));
    result.unwrap_or_else(|_| Err(Error::data(path, "HDF5", "is so damaged that its structure cannot be followed")))
}

struct Reader<'a> {
    path: &'a Path,
    file: File,
    /// Most bytes that any array may take.
    most: u64,
}

impl<'a> Reader<'a> {
    fn open(path: &'a Path, bytes: Vec<u8>) -> Result<Self, Error> {
        let length = bytes.len() as u64;
        let most = length.saturating_mul(PACKING);
        let file = File::from_bytes(bytes).map_err(|e| Error::data(path, "HDF5", e.to_string()))?;
        // the crate reads what is left of a file that was cut off
        let whole = file.superblock().eof_address;
        if length < whole {
            return Err(Error::data(
                path,
                "HDF5",
                format!("has {length} of the {whole} bytes that its head tells; copy or write it again"),
            ));
        }
        Ok(Self { path, file, most })
    }

    fn error(&self, what: &str, cause: impl Into<String>) -> Error {
        Error::data(self.path, what, cause)
    }

    fn groups(&self, group: &Group, name: &str) -> Result<Vec<String>, Error> {
        let mut found = group.groups().map_err(|e| self.error(name, e.to_string()))?;
        found.sort();
        Ok(found)
    }

    fn stored(&self) -> Result<Stored, Error> {
        let top = self.groups(&self.file.root(), "/")?;
        let Some(&(root, kind)) = KINDS.iter().find(|(name, _)| top.iter().any(|t| t == name)) else {
            let needed = "fclib_local, fclib_global, fclib_local_rolling or fclib_global_rolling is needed";
            return Err(self.error("/", format!("holds the groups {top:?}; one of {needed}")));
        };
        let global = matches!(kind, Kind::GlobalFriction | Kind::GlobalRolling);
        let rolling = matches!(kind, Kind::Rolling | Kind::GlobalRolling);
        let inner = self.groups(&self.file.root().group(root).map_err(|e| self.error(root, e.to_string()))?, root)?;
        let dim = self.single(&format!("{root}/spacedim"))?;
        let allowed = rows_of_contact(kind);
        if !allowed.iter().any(|&rows| rows as i64 == dim) {
            return Err(self.error(&format!("{root}/spacedim"), format!("is {dim}; it has to be {} or {}", allowed[0], allowed[1])));
        }
        let vector = |name: &str| self.numbers(&format!("{root}/vectors/{name}"));
        let mu = vector("mu")?;
        let contacts = mu.len();
        let rows = contacts * dim as usize;
        let sets: Vec<AdmissibleSet> = if rolling {
            let mu_r = vector("mu_r")?;
            self.size(&format!("{root}/vectors/mu_r"), mu_r.len(), contacts, "one per entry of mu")?;
            mu.into_iter().zip(mu_r).map(|(mu, mu_r)| AdmissibleSet::Rolling { mu, mu_r }).collect()
        } else {
            mu.into_iter().map(|mu| AdmissibleSet::Coulomb { mu }).collect()
        };
        let offsets: Vec<usize> = (0..=contacts).map(|i| dim as usize * i).collect();
        let why = "spacedim times the length of mu";
        let problem = if global {
            if inner.iter().any(|name| name == "G") {
                return Err(self.error(&format!("{root}/G"), "holds equality constraints, which are not supported"));
            }
            let (f, w) = (vector("f")?, vector("w")?);
            self.size(&format!("{root}/vectors/w"), w.len(), rows, why)?;
            let mass = self.matrix(&format!("{root}/M"), f.len(), f.len(), ["the length of f"; 2])?.sparse();
            let h = self.matrix(&format!("{root}/H"), f.len(), rows, ["the length of f", why])?.sparse();
            Problem::Global(GlobalProblem { mass, h, f, w, offsets, sets })
        } else {
            let q = vector("q")?;
            self.size(&format!("{root}/vectors/q"), q.len(), rows, why)?;
            let w = self.matrix(&format!("{root}/W"), rows, rows, [why; 2])?;
            let w = w.blocks(&offsets).map_err(|cause| self.error(&format!("{root}/W"), cause))?;
            Problem::Local(LocalProblem { w, q, sets })
        };
        let text = |name: &str| self.text(&format!("{root}/info/{name}"));
        let (title, description, math_info) = (text("title"), text("description"), text("math_info"));
        // beside the problem as FCLIB writes them, or inside it
        let place = |name: &str| match (top.iter().any(|t| t == name), inner.iter().any(|t| t == name)) {
            (true, _) => Some(name.to_owned()),
            (_, true) => Some(format!("{root}/{name}")),
            _ => None,
        };
        let solution = place("solution").map(|at| self.solution(&at, &problem)).transpose()?;
        let mut guesses = Vec::new();
        if let Some(at) = place("guesses") {
            let group = self.file.group(&at).map_err(|e| self.error(&at, e.to_string()))?;
            let mut numbers: Vec<(u64, String)> =
                self.groups(&group, &at)?.into_iter().filter_map(|name| Some((name.parse().ok()?, name))).collect();
            numbers.sort();
            for (_, name) in numbers {
                guesses.push(self.solution(&format!("{at}/{name}"), &problem)?);
            }
        }
        Ok(Stored { problem, solution, guesses, title, description, math_info })
    }

    fn size(&self, what: &str, found: usize, needed: usize, why: &str) -> Result<(), Error> {
        if found == needed {
            return Ok(());
        }
        Err(self.error(what, format!("holds {found} values, but {needed} are needed ({why})")))
    }

    /// The dataset after a look at its size and type.
    fn dataset(&self, name: &str) -> Result<hdf5_pure::Dataset, Error> {
        let wrong = |e: hdf5_pure::Error| self.error(name, e.to_string());
        let dataset = self.file.dataset(name).map_err(wrong)?;
        let shape = dataset.shape().map_err(wrong)?;
        let count = shape.iter().try_fold(1u64, |product, &n| product.checked_mul(n));
        if count.and_then(|n| n.checked_mul(8)).is_none_or(|bytes| bytes > self.most) {
            return Err(self.error(name, format!("says that it has the shape {shape:?}, more than a file of this length can hold")));
        }
        Ok(dataset)
    }

    fn numbers(&self, name: &str) -> Result<Vec<f64>, Error> {
        let dataset = self.dataset(name)?;
        let values = dataset.read_f64().map_err(|e| self.error(name, e.to_string()))?;
        match values.iter().position(|x| !x.is_finite()) {
            None => Ok(values),
            Some(k) => Err(self.error(name, format!("value {k} is {}; a finite number is needed", values[k]))),
        }
    }

    /// Whole numbers; also where a file has them as floating-point numbers.
    fn integers(&self, name: &str) -> Result<Vec<i64>, Error> {
        let dataset = self.dataset(name)?;
        let wrong = |e: hdf5_pure::Error| self.error(name, e.to_string());
        if !matches!(dataset.dtype().map_err(wrong)?, DType::F32 | DType::F64) {
            return dataset.read_i64().map_err(wrong);
        }
        let values = dataset.read_f64().map_err(wrong)?;
        match values.iter().position(|x| x.fract() != 0.0 || x.abs() > 1e15) {
            None => Ok(values.iter().map(|&x| x as i64).collect()),
            Some(k) => Err(self.error(name, format!("value {k} is {}; a whole number is needed", values[k]))),
        }
    }

    fn single(&self, name: &str) -> Result<i64, Error> {
        let values = self.integers(name)?;
        self.size(name, values.len(), 1, "it is a single number")?;
        Ok(values[0])
    }

    fn text(&self, name: &str) -> String {
        let read = || self.dataset(name).ok()?.read_string().ok()?.into_iter().next();
        read().map(|text| text.trim_end_matches('\0').to_owned()).unwrap_or_default()
    }

    /// The matrix of a group; `rows` and `columns` are what the vectors ask for.
    fn matrix(&self, group: &str, rows: usize, columns: usize, why: [&str; 2]) -> Result<Entries, Error> {
        let name = |part: &str| format!("{group}/{part}");
        for (part, needed, why) in [("m", rows, why[0]), ("n", columns, why[1])] {
            let found = self.single(&name(part))?;
            if usize::try_from(found) != Ok(needed) {
                return Err(self.error(&name(part), format!("is {found}, but {needed} is needed ({why})")));
            }
        }
        let nz = self.single(&name("nz"))?;
        let (p, i, x) = (self.integers(&name("p"))?, self.integers(&name("i"))?, self.numbers(&name("x"))?);
        let list = match nz {
            -1 => self.compressed(group, "rows", (&p, &i, &x), columns, rows)?.into_iter().map(|(j, i, x)| (i, j, x)).collect(),
            -2 => self.compressed(group, "columns", (&p, &i, &x), rows, columns)?,
            0.. => self.triplets(group, nz as usize, (&p, &i, &x), rows, columns)?,
            _ => return Err(self.error(&name("nz"), format!("is {nz}; it has to be −1 (columns), −2 (rows), or the number of triplets"))),
        };
        Ok(Entries { rows, columns, list, ..Entries::default() })
    }

    /// `(line, index, value)` of compressed lines.
    fn compressed(
        &self,
        group: &str,
        across: &str,
        (p, i, x): (&[i64], &[i64], &[f64]),
        lines: usize,
        width: usize,
    ) -> Result<Vec<(usize, usize, f64)>, Error> {
        let at = format!("{group}/p");
        self.size(&at, p.len(), lines + 1, "one pointer per line and the end")?;
        let stored = i.len().min(x.len());
        let good = |k: usize| usize::try_from(p[k]).is_ok_and(|end| end <= stored) && if k == 0 { p[0] == 0 } else { p[k - 1] <= p[k] };
        if let Some(k) = (0..p.len()).find(|&k| !good(k)) {
            return Err(
                self.error(&at, format!("entry {k} is {}; pointers ascend from 0 to at most {stored}, the length of i and x", p[k]))
            );
        }
        let mut list = Vec::with_capacity(stored);
        for line in 0..lines {
            for k in p[line] as usize..p[line + 1] as usize {
                let Some(index) = usize::try_from(i[k]).ok().filter(|&index| index < width) else {
                    return Err(self.error(&format!("{group}/i"), format!("entry {k} is {}, but there are {width} {across}", i[k])));
                };
                list.push((line, index, x[k]));
            }
        }
        Ok(list)
    }

    fn triplets(
        &self,
        group: &str,
        count: usize,
        (p, i, x): (&[i64], &[i64], &[f64]),
        rows: usize,
        columns: usize,
    ) -> Result<Vec<(usize, usize, f64)>, Error> {
        for (part, found) in [("p", p.len()), ("i", i.len()), ("x", x.len())] {
            if found < count {
                return Err(self.error(&format!("{group}/{part}"), format!("holds {found} values, but nz asks for {count}")));
            }
        }
        let (p, i) = (&p[..count], &i[..count]);
        let below = |list: &[i64], most: usize| list.iter().all(|&k| usize::try_from(k).is_ok_and(|k| k < most));
        let (row, column) = if below(i, rows) && below(p, columns) {
            (i, p)
        } else if below(p, rows) && below(i, columns) {
            (p, i)
        } else {
            let bad = |list: &[i64], most: usize| list.iter().position(|&k| usize::try_from(k).map_or(true, |k| k >= most));
            let (part, k, most) = bad(i, rows).map_or_else(|| ("p", bad(p, columns).unwrap_or(0), columns), |k| ("i", k, rows));
            let found = if part == "i" { i[k] } else { p[k] };
            return Err(self.error(&format!("{group}/{part}"), format!("entry {k} is {found}, but it has to be from 0 to below {most}")));
        };
        Ok((0..count).map(|k| (row[k] as usize, column[k] as usize, x[k])).collect())
    }

    fn solution(&self, group: &str, problem: &Problem) -> Result<Solution, Error> {
        let [r, u, v] = problem.sizes();
        let here = self.file.group(group).map_err(|e| self.error(group, e.to_string()))?;
        let names = here.datasets().map_err(|e| self.error(group, e.to_string()))?;
        let part = |name: &str, size: usize| -> Result<Vec<f64>, Error> {
            if !names.iter().any(|n| n == name) {
                return Ok(vec![0.0; size]);
            }
            let values = self.numbers(&format!("{group}/{name}"))?;
            // local solutions carry a v of any length
            if name == "v" && size == 0 {
                return Ok(Vec::new());
            }
            self.size(&format!("{group}/{name}"), values.len(), size, "as the problem has them")?;
            Ok(values)
        };
        Ok(Solution { r: part("r", r)?, u: part("u", u)?, v: part("v", v)? })
    }

    fn first_guess(&self, problem: &Problem) -> Result<Solution, Error> {
        let top = self.groups(&self.file.root(), "/")?;
        for (name, kind) in KINDS.iter().filter(|(name, _)| top.iter().any(|t| t == name)) {
            of_kind(self.path, name, kind.name(), problem)?;
        }
        let within =
            top.iter().filter(|name| name.starts_with("fclib_")).flat_map(|name| [format!("{name}/solution"), format!("{name}/guesses/1")]);
        let places = ["solution".to_owned(), "guesses/1".to_owned()].into_iter().chain(within);
        for place in places {
            let Ok(group) = self.file.group(&place) else { continue };
            let names = group.datasets().map_err(|e| self.error(&place, e.to_string()))?;
            let part = |name: &str| {
                if names.iter().any(|n| n == name) { self.numbers(&format!("{place}/{name}")).map(Some) } else { Ok(None) }
            };
            if names.iter().any(|n| n == "kind") {
                of_kind(self.path, &format!("{place}/kind"), &self.text(&format!("{place}/kind")), problem)?;
            }
            let (needed, other) = if problem.complementarity() { ("z", "r") } else { ("r", "z") };
            let Some(r) = part(needed)? else {
                if !names.iter().any(|n| n == other) {
                    continue;
                }
                let cause = format!("is missing, and {other} is there; the guess is for a problem of kind {}", problem.kind().name());
                return Err(self.error(&format!("{place}/{needed}"), cause));
            };
            return Ok(Solution { r, v: part("v")?.unwrap_or_default(), u: Vec::new() });
        }
        Err(self.error("/", "holds no solution and no guesses; a file as `--solution` writes it is needed"))
    }
}
