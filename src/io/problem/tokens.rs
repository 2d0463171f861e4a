//! White-space separated tokens that know their line.

/// What a text lacks, and how far it was understood.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    /// Bytes that were understood.
    pub(super) offset: usize,
    pub(super) line: usize,
    pub(super) expected: String,
    pub(super) found: String,
}

/// A place in a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, line: 1 }
    }

    /// Bytes left: no text can hold more numbers than that.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    fn skip_space(&mut self) {
        while let Some(b) = self.bytes.get(self.at).filter(|b| b.is_ascii_whitespace()) {
            self.line += usize::from(*b == b'\n');
            self.at += 1;
        }
    }

    /// The same place, at the token that follows: a fault there has its line.
    pub(super) fn ahead(&self) -> Self {
        let mut ahead = *self;
        ahead.skip_space();
        ahead
    }

    /// The next token, `None` at the end.
    pub(super) fn next(&mut self) -> Option<&'a [u8]> {
        self.skip_space();
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        self.at += length;
        (length > 0).then(|| &rest[..length])
    }

    /// The rest of the line, with its end behind.
    pub(super) fn rest_of_line(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        self.at += (length + 1).min(rest.len());
        self.line += usize::from(length < rest.len());
        &rest[..length]
    }

    pub(super) fn fault(&self, expected: impl Into<String>, found: impl Into<String>) -> Fault {
        Fault { offset: self.at, line: self.line, expected: expected.into(), found: found.into() }
    }

    fn parse<T: std::str::FromStr>(&mut self, expected: impl FnOnce() -> String) -> Result<T, Fault> {
        let mut ahead = *self;
        let token = ahead.next();
        let value = token.and_then(|t| std::str::from_utf8(t).ok()).and_then(|t| t.parse().ok());
        match value {
            Some(value) => {
                *self = ahead;
                Ok(value)
            }
            None => Err(self.ahead().fault(expected(), token.map_or_else(|| "the end of the file".to_owned(), shown))),
        }
    }

    /// A whole number ≥ 0; `what` says which.
    pub(super) fn count(&mut self, what: &str) -> Result<usize, Fault> {
        self.parse(|| format!("{what} (a whole number)"))
    }

    /// A whole number from `allowed`.
    pub(super) fn one_of(&mut self, what: &str, allowed: &[usize]) -> Result<usize, Fault> {
        let before = self.ahead();
        let found = self.count(what)?;
        if allowed.contains(&found) {
            return Ok(found);
        }
        let list: Vec<String> = allowed.iter().map(ToString::to_string).collect();
        Err(before.fault(format!("{what} ({})", list.join(" or ")), found.to_string()))
    }

    /// A size that has to fit what was read before.
    pub(super) fn exactly(&mut self, what: &str, needed: usize) -> Result<usize, Fault> {
        self.one_of(what, &[needed])
    }

    /// A size of which every unit needs at least one byte of the text that follows.
    pub(super) fn size(&mut self, what: &str) -> Result<usize, Fault> {
        let before = self.ahead();
        let found = self.count(what)?;
        if found <= self.left() {
            return Ok(found);
        }
        Err(before.fault(format!("{what} that fits the length of the file"), found.to_string()))
    }

    /// A finite number.
    pub(super) fn number(&mut self, what: &str, k: usize) -> Result<f64, Fault> {
        self.value(|| format!("value {k} of {what}"))
    }

    fn value(&mut self, name: impl Fn() -> String) -> Result<f64, Fault> {
        let before = self.ahead();
        let x: f64 = self.parse(|| format!("{} (a number)", name()))?;
        if x.is_finite() { Ok(x) } else { Err(before.fault(format!("{} (a finite number)", name()), x.to_string())) }
    }

    /// `n` finite numbers.
    pub(super) fn numbers(&mut self, what: &str, n: usize) -> Result<Vec<f64>, Fault> {
        self.room(what, n)?;
        (0..n).map(|k| self.number(what, k)).collect()
    }

    /// The finite numbers of a matrix, column by column.
    pub(super) fn columns(&mut self, what: &str, rows: usize, columns: usize) -> Result<Vec<f64>, Fault> {
        self.room(what, rows * columns)?;
        let name = |k: usize| move || format!("value {k} of {what}, row {} and column {} from 0", k % rows, k / rows);
        (0..rows * columns).map(|k| self.value(name(k))).collect()
    }

    /// `n` numbers, each finite or infinite.
    pub(super) fn bounds(&mut self, what: &str, n: usize) -> Result<Vec<f64>, Fault> {
        self.room(what, n)?;
        let bound = |k: usize| {
            let before = self.ahead();
            let x: f64 = self.parse(|| format!("value {k} of {what} (a number)"))?;
            if x.is_nan() { Err(before.fault(format!("value {k} of {what} (a number)"), x.to_string())) } else { Ok(x) }
        };
        (0..n).map(bound).collect()
    }

    /// `n` whole numbers.
    pub(super) fn counts(&mut self, what: &str, n: usize) -> Result<Vec<usize>, Fault> {
        self.room(what, n)?;
        (0..n).map(|k| self.parse(|| format!("entry {k} of {what} (a whole number)"))).collect()
    }

    /// Every value needs a digit and a separator, so a size field that asks for more is a lie.
    fn room(&self, what: &str, n: usize) -> Result<(), Fault> {
        if n <= self.left().div_ceil(2) {
            return Ok(());
        }
        Err(self.ahead().fault(format!("{n} values of {what}"), format!("{} bytes to the end of the file", self.left())))
    }

    /// Passes over a bare digit `0` or `1`.
    pub(super) fn flag(&mut self) {
        let mut ahead = *self;
        if matches!(ahead.next(), Some(b"0" | b"1")) {
            *self = ahead;
        }
    }

    /// Nothing but white space.
    pub(super) fn end(&mut self) -> Result<(), Fault> {
        let mut ahead = *self;
        match ahead.next() {
            None => Ok(()),
            Some(token) => Err(self.ahead().fault("the end of the file", shown(token))),
        }
    }

    /// A literal word.
    pub(super) fn word(&mut self, word: &str) -> Result<(), Fault> {
        let mut ahead = *self;
        match ahead.next() {
            Some(token) if token == word.as_bytes() => {
                *self = ahead;
                Ok(())
            }
            other => Err(self.ahead().fault(format!("`{word}`"), other.map_or_else(|| "the end of the file".to_owned(), shown))),
        }
    }
}

/// A token as messages show it, shortened.
fn shown(token: &[u8]) -> String {
    let text = String::from_utf8_lossy(&token[..token.len().min(30)]);
    format!("`{}`{}", text.escape_debug(), if token.len() > 30 { "…" } else { "" })
}
