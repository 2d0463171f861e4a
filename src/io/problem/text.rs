//! The text files of the public collections.
//!
//! ```text
//! fc      dim nc  W q mu [flag]          dim 2 or 3          gfc    dim nc  M H f w mu [flag]
//! rfc     dim nc  W q mu mu_r [flag]     dim 3 or 5          grfc   dim nc  M H f w mu mu_r [flag]
//! lcp     n  M q  [anything]                                 relay  n  M q lower upper
//! mlcp    1 1 n m  ends of blocks  flags  M q  [anything]    (flag 1: complementarity, 0: equation)
//! gmp     W q  one code per block                            (0: complementarity, 2: equation, 4 mu: friction)
//! matrix  0 rows cols  rows cols  values by columns
//!         1 rows cols  blocks, block rows and columns, ends of both, row pointers, columns, blocks by columns
//!         2 rows cols  origin, a line of text, `[triplet:] R-by-C, nzmax: K nnz: K …`, entries
//! ```
//!
//! `[anything]` is a remark in words or the solution, after an mlcp also M and q once more in their parts A B C D a b and then whatever follows, unless the kind
//! is named: other numbers would be those of a damaged file.
//! These files do not name their kind. Where the text as a whole fits one kind alone, that is it: the orders and the number of tokens
//! tell all kinds apart but these. An lcp may end with its solution (z, w), 2 n numbers where a relay has its bounds: it is a relay
//! when they ascend, unless w = M z + q too, and then the kind has to be named. Newer files close with a flag, the bare digit `0` or
//! `1`: with one contact of three rows that could be a `mu_r` too, and is taken for the flag. Without contacts fc, rfc and gfc, grfc
//! are the same text, and count as fc and gfc.

use super::Error;
use super::matrix::{self, Entries};
use super::tokens::{Fault, Tokens};
use crate::algebra::matrix::Matrix;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::global::GlobalProblem;
use crate::numerics::lcp::Lcp;
use crate::numerics::local::LocalProblem;
use crate::numerics::mlcp::Mlcp;
use crate::numerics::relay::Relay;
use crate::numerics::solvers::{Kind, Problem};
use std::path::Path;

/// Kinds that have a text form.
const KINDS: [Kind; 8] =
    [Kind::Friction, Kind::Rolling, Kind::GlobalFriction, Kind::GlobalRolling, Kind::Lcp, Kind::Mlcp, Kind::Relay, Kind::Mixed];

/// Largest order of an mlcp whose parts are looked for behind it: they are in full.
const LARGEST_REPEATED: usize = 2000;
/// What the few digits that are printed miss.
const PRINTED: f64 = 1e-3;

/// Reads a text, of that kind or of the only one that fits.
///
/// ```
/// use drystone::io::problem::text;
/// let error = text::parse("a.dat".as_ref(), b"1\n0 1 1\n1 1\ntwo\n-1\n", None).unwrap_err();
/// assert_eq!(error.to_string(), "a.dat:4: expected value 0 of M, row 0 and column 0 from 0 (a number), found `two`");
/// ```
pub fn parse(path: &Path, text: &[u8], kind: Option<Kind>) -> Result<Problem, Error> {
    let error = |f: Fault| Error::Text { path: path.to_owned(), line: f.line, expected: f.expected, found: f.found };
    if let Some(kind) = kind {
        return of_kind(text, kind).map_err(error);
    }
    if plasticity(text) {
        let cause = "is a problem of plasticity cones, which are here for reference only; drystone has no such law".to_owned();
        return Err(Error::Unsupported { path: path.to_owned(), cause });
    }
    let mut fitting = Vec::new();
    let mut furthest: Option<Fault> = None;
    for kind in KINDS {
        match guessed(text, kind) {
            Ok(problem) => fitting.push((kind, problem)),
            Err(fault) if furthest.as_ref().is_none_or(|f| f.offset < fault.offset) => furthest = Some(fault),
            Err(_) => {}
        }
    }
    let has = |fitting: &[(Kind, Problem)], kind| fitting.iter().any(|(k, _)| *k == kind);
    for (plain, rolling) in [(Kind::Friction, Kind::Rolling), (Kind::GlobalFriction, Kind::GlobalRolling)] {
        if has(&fitting, plain) {
            fitting.retain(|(kind, _)| *kind != rolling);
        }
    }
    if has(&fitting, Kind::Relay) && !fitting.iter().any(|(_, p)| matches!(p, Problem::Relay(relay) if solves_lcp(relay))) {
        fitting.retain(|(kind, _)| *kind != Kind::Lcp);
    }
    match (fitting.pop(), furthest) {
        (Some((_, problem)), _) if fitting.is_empty() => Ok(problem),
        (Some((last, _)), _) => {
            let kinds = fitting.iter().map(|(kind, _)| *kind).chain([last]).collect();
            Err(Error::Ambiguous { path: path.to_owned(), kinds })
        }
        (None, Some(fault)) => Err(error(fault)),
        (None, None) => Err(error(Tokens::new(text).fault("a problem", "nothing"))),
    }
}

fn of_kind(text: &[u8], kind: Kind) -> Result<Problem, Fault> {
    read(&mut Tokens::new(text), kind)
}

/// A text whose kind nobody has named: what follows an lcp or mlcp has to make sense too.
fn guessed(text: &[u8], kind: Kind) -> Result<Problem, Fault> {
    let t = &mut Tokens::new(text);
    let problem = read(t, kind)?;
    match &problem {
        Problem::Lcp(p) => of_lcp(t, p)?,
        Problem::Mlcp(p) if repeats(t, p) => {}
        Problem::Mlcp(p) => drop(solution(t, p.q.len(), p.free.len())?),
        _ => {}
    }
    Ok(problem)
}

fn read(t: &mut Tokens, kind: Kind) -> Result<Problem, Fault> {
    match kind {
        Kind::Friction => local(t, false),
        Kind::Rolling => local(t, true),
        Kind::GlobalFriction => global(t, false),
        Kind::GlobalRolling => global(t, true),
        Kind::Lcp => lcp(t),
        Kind::Mlcp => mlcp(t),
        Kind::Relay => relay(t),
        Kind::Mixed => mixed(t),
        Kind::GlobalMixed => Err(t.fault("a kind with a text form", "ggmp, which JSON files alone can hold")),
    }
}

/// `dim nc` and the total of rows.
fn sizes(t: &mut Tokens, rolling: bool) -> Result<(usize, usize), Fault> {
    let dim = t.one_of("the dimension of a contact", if rolling { &[3, 5] } else { &[2, 3] })?;
    let contacts = t.size("the number of contacts")?;
    Ok((dim, contacts))
}

/// A matrix of the size that its neighbours ask for.
fn sized(t: &mut Tokens, what: &str, rows: Option<usize>, columns: Option<usize>) -> Result<Entries, Fault> {
    let mut ahead = *t;
    ahead.count(&format!("the storage of {what}"))?;
    for (axis, needed) in [("rows", rows), ("columns", columns)] {
        match needed {
            Some(n) => ahead.exactly(&format!("the number of {axis} of {what}"), n)?,
            None => ahead.size(&format!("the number of {axis} of {what}"))?,
        };
    }
    matrix::read(t, what)
}

/// `mu` and `mu_r` of all contacts as sets.
fn sets(t: &mut Tokens, contacts: usize, rolling: bool) -> Result<Vec<AdmissibleSet>, Fault> {
    let mu = t.numbers("mu", contacts)?;
    let sets = match rolling {
        false => mu.into_iter().map(|mu| AdmissibleSet::Coulomb { mu }).collect(),
        true => {
            let mu_r = t.numbers("mu_r", contacts)?;
            mu.into_iter().zip(mu_r).map(|(mu, mu_r)| AdmissibleSet::Rolling { mu, mu_r }).collect()
        }
    };
    t.flag();
    t.end()?;
    Ok(sets)
}

fn local(t: &mut Tokens, rolling: bool) -> Result<Problem, Fault> {
    let (dim, contacts) = sizes(t, rolling)?;
    let n = dim * contacts;
    let w = sized(t, "W", Some(n), Some(n))?;
    let q = t.numbers("q", n)?;
    let sets = sets(t, contacts, rolling)?;
    let offsets: Vec<usize> = (0..=contacts).map(|i| dim * i).collect();
    let w = w.blocks(&offsets).map_err(|cause| t.fault("a matrix W that fits into memory", cause))?;
    Ok(Problem::Local(LocalProblem { w, q, sets }))
}

fn global(t: &mut Tokens, rolling: bool) -> Result<Problem, Fault> {
    let (dim, contacts) = sizes(t, rolling)?;
    let mass = matrix::read(t, "M")?;
    if mass.rows != mass.columns {
        return Err(t.fault("a square matrix M", format!("{} × {}", mass.rows, mass.columns)));
    }
    let h = sized(t, "H", Some(mass.rows), Some(dim * contacts))?;
    let f = t.numbers("f", mass.rows)?;
    let w = t.numbers("w", dim * contacts)?;
    let sets = sets(t, contacts, rolling)?;
    let offsets = (0..=contacts).map(|i| dim * i).collect();
    Ok(Problem::Global(GlobalProblem { mass: mass.sparse(), h: h.sparse(), f, w, offsets, sets }))
}

/// `n M q`
fn affine(t: &mut Tokens) -> Result<(Matrix, Vec<f64>), Fault> {
    let n = t.size("the order")?;
    let m = sized(t, "M", Some(n), Some(n))?;
    let q = t.numbers("q", n)?;
    Ok((m.matrix(), q))
}

fn lcp(t: &mut Tokens) -> Result<Problem, Fault> {
    let (m, q) = affine(t)?;
    Ok(Problem::Lcp(Lcp { m, q }))
}

fn relay(t: &mut Tokens) -> Result<Problem, Fault> {
    let (m, q) = affine(t)?;
    let lower = t.bounds("the lower bounds", q.len())?;
    let before = t.ahead();
    let upper = t.bounds("the upper bounds", q.len())?;
    if let Some(k) = (0..q.len()).find(|&k| lower[k] > upper[k]) {
        return Err(before.fault(format!("upper bounds, of which value {k} is at least {}", lower[k]), upper[k].to_string()));
    }
    t.end()?;
    Ok(Problem::Relay(Relay { m, q, lower, upper }))
}

/// The bounds could as well be the solution (z, w) of a linear complementarity problem.
fn solves_lcp(p: &Relay) -> bool {
    let (z, w) = (&p.lower, &p.upper);
    let found = p.m.product(z);
    let close = |i: usize| (found[i] + p.q[i] - w[i]).abs() <= 1e-6 * (1.0 + w[i].abs());
    (0..found.len()).all(|i| z[i] >= 0.0 && w[i] >= 0.0 && close(i))
}

/// The numbers up to the first word: none, z or z and w.
fn solution(t: &mut Tokens, rows: usize, unknowns: usize) -> Result<Vec<f64>, Fault> {
    let before = *t;
    let mut found = Vec::new();
    while let Ok(x) = t.number("the solution", found.len()) {
        found.push(x);
    }
    let is_word = t.ahead().next().is_none_or(|word| !matches!(word[0], b'0'..=b'9' | b'+' | b'-' | b'.'));
    if is_word && [0, unknowns, rows + unknowns].contains(&found.len()) {
        return Ok(found);
    }
    let needed = format!("after q a remark in words, or the solution of {unknowns} or {} numbers", rows + unknowns);
    let next = if is_word { "" } else { " and what is neither number nor word" };
    Err(before.fault(needed, format!("{} numbers{next}; a kind that is named with --kind takes anything", found.len())))
}

/// What follows an lcp: a remark, or what solves it to the few digits that are printed.
fn of_lcp(t: &mut Tokens, p: &Lcp) -> Result<(), Fault> {
    let before = *t;
    let found = solution(t, p.q.len(), p.q.len())?;
    let Some(z) = found.get(..p.q.len()) else { return Ok(()) };
    let w = p.m.product(z);
    let misses = |&i: &usize| z[i].min(w[i] + p.q[i]).abs() > PRINTED * (1.0 + z[i].abs() + p.q[i].abs());
    (0..z.len()).find(misses).map_or(Ok(()), |i| {
        let found = format!("numbers that miss row {i} as z; a kind that is named with --kind takes anything");
        Err(before.fault("after q a remark in words, or the solution", found))
    })
}

/// Whether M and q follow once more, cut into equations and complementarities: `A B C D a b` with `M = [A C; D B]`, row by row.
fn repeats(t: &Tokens, p: &Mlcp) -> bool {
    let (mut t, n) = (*t, p.free.len());
    if n > LARGEST_REPEATED {
        return false;
    }
    let m = p.m.to_dense();
    let of = |equality: bool| (0..n).filter(move |&i| p.equality[i] == equality);
    let mut same = |known: f64| t.number("a part of M or q", 0).is_ok_and(|x| (x - known).abs() <= PRINTED * known.abs());
    let parts = [(true, true), (false, false), (true, false), (false, true)];
    p.q.len() == n
        && parts.into_iter().all(|(rows, columns)| of(rows).all(|i| of(columns).all(|j| same(m[i * n + j]))))
        && [true, false].into_iter().all(|rows| of(rows).all(|i| same(p.q[i])))
}

fn mlcp(t: &mut Tokens) -> Result<Problem, Fault> {
    for k in 0..2 {
        t.exactly(&format!("storage flag {k} of an mlcp"), 1)?;
    }
    let equations = t.size("the number of equations")?;
    let order = equations + t.size("the number of complementarities")?;
    let mut ends = Vec::new();
    while ends.last() != Some(&order) {
        let before = t.ahead();
        let end = t.size("the end of a block")?;
        let ascends = ends.last().map_or(end == 0, |&last| end >= last);
        if !ascends || end > order || ends.len() > order + 1 {
            return Err(before.fault(format!("ends of blocks from 0 to {order}"), end.to_string()));
        }
        ends.push(end);
    }
    let before = t.ahead();
    let mut equality = Vec::with_capacity(order);
    for k in 0..ends.len() - 1 {
        let flag = t.one_of("the flag of a block", &[0, 1])?;
        equality.resize(ends[k + 1], flag == 0);
    }
    if equality.iter().filter(|e| **e).count() != equations {
        return Err(before.fault(format!("flags that make {equations} rows equations"), "another number"));
    }
    let m = sized(t, "M", None, Some(order))?;
    if m.rows < order {
        return Err(t.fault(format!("a matrix M of at least {order} rows"), m.rows.to_string()));
    }
    let q = t.numbers("q", m.rows)?;
    let free = equality.clone();
    // rows beyond the unknowns are further equations
    equality.resize(m.rows, true);
    Ok(Problem::Mlcp(Mlcp { m: m.matrix(), q, equality, free }))
}

fn mixed(t: &mut Tokens) -> Result<Problem, Fault> {
    let w = matrix::read(t, "W")?;
    let Some(offsets) = w.cuts.clone() else {
        return Err(t.fault("a matrix W in block storage (1), cut the same way in rows and columns", "another"));
    };
    let q = t.numbers("q", w.rows)?;
    let mut sets = Vec::new();
    for i in 0..offsets.len() - 1 {
        let before = t.ahead();
        let rows = offsets[i + 1] - offsets[i];
        sets.push(match t.one_of(&format!("the code of block {i}"), &[0, 2, 4])? {
            0 => AdmissibleSet::NonNegative,
            2 => AdmissibleSet::Free,
            _ if rows != 3 => return Err(before.fault(format!("3 rows in block {i}, which has friction"), rows.to_string())),
            _ => AdmissibleSet::Coulomb { mu: t.number("mu", i)? },
        });
    }
    t.end()?;
    let w = w.blocks(&offsets).map_err(|cause| t.fault("a matrix W that fits into memory", cause))?;
    Ok(Problem::Local(LocalProblem { w, q, sets }))
}

/// `dim n type M …`: a matrix of order 3 n after a third number.
fn plasticity(text: &[u8]) -> bool {
    let t = &mut Tokens::new(text);
    let mut head = || -> Result<bool, Fault> {
        let (dim, contacts) = (t.one_of("", &[3])?, t.size("")?);
        let order = dim * contacts;
        t.count("")?;
        sized(t, "M", Some(order), Some(order)).map(|m| m.rows == order)
    };
    head().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Problem, String> {
        parse("a.dat".as_ref(), text.as_bytes(), None).map_err(|e| e.to_string())
    }

    #[test]
    fn every_storage_gives_the_same_matrix() {
        let full = "2 1\n0 2 2\n2 2\n1 2\n3 4\n-1 0 0.5";
        let block = "2 1\n1 2 2\n1 1 1\n2\n2\n2 1\n0 1\n0\n0\n1 2 3 4\n-1 0 0.5";
        let triplets = "2 1\n2 2 2\n0\nsome text\ntriplet: 2-by-2, nzmax: 9 nnz: 4\n0 0 : 1\n1 0 : 2\n0 1 : 3\n1 1 : 4\n-1 0 0.5";
        let columns = "2 1\n2 2 2\n1\ntext\n2-by-2, nzmax: 4 nnz: 4, 1-norm: 7\ncol 0 : locations 0 to 1\n0 : 1\n1 : 2\n\
                       col 1 : locations 2 to 3\n0 : 3\n1 : 4\n-1 0 0.5";
        for text in [full, block, triplets, columns] {
            let Ok(Problem::Local(p)) = read(text) else { panic!("{text}: {:?}", read(text)) };
            assert_eq!((p.w.to_dense(), &p.q[..]), (vec![1.0, 3.0, 2.0, 4.0], &[-1.0, 0.0][..]));
            assert_eq!(p.sets, [AdmissibleSet::Coulomb { mu: 0.5 }]);
        }
    }

    #[test]
    fn kinds_are_told_apart_by_their_numbers() {
        let m = "0 3 3\n3 3\n1 0 0\n0 1 0\n0 0 1\n-1 0 0\n";
        let kind = |text: String| read(&text).map(|p| p.kind().name());
        assert_eq!(kind(format!("3 1 {m} 0.5")), Ok("fc"));
        assert_eq!(kind(format!("3 1 {m} 0.5 0.1")), Ok("rfc"));
        assert_eq!(kind(format!("3 1 {m} 0.5\n1")), Ok("fc"));
        assert_eq!(kind(format!("3 1 {m} 0.5 0.1\n1")), Ok("rfc"));
        assert_eq!(kind(format!("3 {m}")), Ok("lcp"));
        assert_eq!(kind(format!("3 {m} a remark")), Ok("lcp"));
        assert_eq!(kind(format!("3 {m} 1 0 0")), Ok("lcp"));
        assert_eq!(kind(format!("3 {m} -1 -1 -1 1 1 1")), Ok("relay"));
        // z = (1, 0, 0), w = 0: the bounds 1 > 0 do not ascend
        assert_eq!(kind(format!("3 {m} 1 0 0 0 0 0")), Ok("lcp"));
        assert!(kind("1 0 1 1 1 1 1 1 0 1".into()).unwrap_err().contains("fits lcp and relay; name its kind with --kind"));
        assert_eq!(kind("2 1 0 1 1 1 1 1 0 1 2 1 2 1 0 3 0 0 0.5".into()), Ok("gfc"));
        assert_eq!(kind("1 1 1 1 0 1 2 0 1 0 2 2 2 2 1 0 0 1 1 1".into()), Ok("mlcp"));
        assert_eq!(kind("1 3 3 1 1 1 3 3 2 1 0 1 0 0 1 0 0 0 1 0 0 0 1 -1 0 0 4 0.5".into()), Ok("fc"));
        assert_eq!(kind("1 3 3 1 1 1 3 3 2 1 0 1 0 0 1 0 0 0 1 0 0 0 1 -1 0 0 2".into()), Ok("gmp"));
    }

    #[test]
    fn an_mlcp_may_end_with_its_parts_once_more() {
        let head = "1 1 1 2 0 1 3 0 1 0 3 3 3 3 2 4 6 1 5 0 3 0 7 -1 -2 -3";
        let parts = "2 5 0 0 7 1 3 4 6 -1 -2 -3";
        let kind = |text: String| read(&text).map(|p| p.kind().name());
        for tail in ["", " 0.5 0 1 4", " solution 1 2"] {
            assert_eq!(kind(format!("{head} {parts}{tail}")), Ok("mlcp"), "{tail}");
        }
        for damaged in ["2 5 0 0 7 1 3 4 6 -1 -2 -4", "2 5 0 0 7 1 3 4 7 -1 -2 -3", "2 5 0 0 7 1 3 4 6 -1 -2"] {
            assert!(kind(format!("{head} {damaged}")).unwrap_err().contains("after q a remark in words"), "{damaged}");
        }
    }

    #[test]
    fn faults_are_named_with_their_line() {
        let cases = [
            ("", "a.dat:1: expected"),
            ("3 1\n0 3 3\n3 3\n1 0 0\n0 1 0\n0 0", "expected"),
            (
                "3 1\n0 3 3\n3 3\n1 0 0\n0 1 0\n0 0 x\n-1 0 0 0.5",
                "a.dat:6: expected value 8 of W, row 2 and column 2 from 0 (a number), found `x`",
            ),
            (
                "3 1\n0 3 3\n3 3\n1 0 0\n0 1 nan\n0 0 1\n-1 0 0 0.5",
                "a.dat:5: expected value 5 of W, row 2 and column 1 from 0 (a finite number), found NaN",
            ),
            ("3 1\n0 3 3\n3 3\n1 0 0\n0 1 0\n0 0 1\n\n-1 -inf 0 0.5", "a.dat:8: expected value 1 of q (a finite number), found -inf"),
            ("3 1\n0 3 3\n3 3\n1 0 0\n0 1 0\n0 0 1\n-1 0 0\n1e999", "a.dat:8: expected value 0 of mu (a finite number), found inf"),
            ("3 1\n0 3 3\n3\n4\n1 0 0\n0 1 0\n0 0 1\n-1 0 0 0.5", "a.dat:4: expected the number of columns of W again (3), found 4"),
            (
                "2 1\n1 2 2\n1 1 1\n2\n2\n2 1\n0 1\n0\n0\n1 2\ninf 4\n-1 0 0.5",
                "a.dat:11: expected value 2 of block 0 of W (a finite number), found inf",
            ),
            ("3 1\n0 3 3\n3 3\n1 0 0\n0 1 0\n0 0 1\n-1 0 0 0.5 0.1 7", "the end of the file, found `7`"),
            ("1 1000000000 1000000000 1 1 1", "expected"),
            ("3 99999999999999999999 0", "expected"),
            ("18446744073709551615 3 0", "expected"),
            ("2 1\n2 2 2\n1\ntext\n2-by-2, nzmax: 4 nnz: 4\ncol 0 : locations 0 to 1e300\n", "the last location of column 0 of W"),
        ];
        for (text, part) in cases {
            let error = read(text).map(|p| p.kind()).unwrap_err();
            assert!(error.contains(part), "{text:?}: {error}");
        }
    }
}
