//! HDF5 files that grow: rows are appended, and what says where they are is written anew behind them.
//!
//! ```text
//! superblock (version 0), place of the state │ rows of chunks … │ groups, headers, indices of chunks, small arrays, state
//! ```
//!
//! A crate that reads and writes HDF5 is at hand, but it appends numbers in one dimension alone, and points have two. What is needed of the
//! format (HDF5 File Format Specification 3.0, The HDF Group) is little: symbol tables, object headers of version 1, layouts of version 3,
//! B-trees of version 1. Chunks are not compressed, so that a row is written where it stays. The old index holds until the superblock points
//! to the new one, and its bytes are used again only then: a file that is left at any time can be read.

use super::values::Kind;
use serde::{Deserialize, Serialize};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

/// No address.
const NOWHERE: u64 = u64::MAX;
/// Where rows may begin.
const FIRST: u64 = 512;
/// What stands behind the superblock, before the place of the state.
const MARK: &[u8; 8] = b"drystone";
/// Half of the most entries in a node: of an index of chunks (fixed by the format), of a group.
const CHUNK_K: usize = 32;
const GROUP_K: usize = 16;
/// Bytes of a chunk, at least and at most; between them a chunk holds the rows of eight frames such as the first.
const CHUNK: [u64; 2] = [4096, 1 << 19];

/// A part of the file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Extent {
    at: u64,
    length: u64,
}

/// Which parts of the file are taken.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Space {
    end: u64,
    free: Vec<Extent>,
    index: Option<Extent>,
}

impl Default for Space {
    fn default() -> Self {
        Self { end: FIRST, free: Vec::new(), index: None }
    }
}

impl Space {
    fn take(&mut self, length: u64) -> u64 {
        // addresses stay multiples of eight
        let length = length.next_multiple_of(8);
        if let Some(k) = self.free.iter().position(|hole| hole.length >= length) {
            let at = self.free[k].at;
            self.free[k] = Extent { at: at + length, length: self.free[k].length - length };
            self.free.retain(|hole| hole.length > 0);
            return at;
        }
        self.end += length;
        self.end - length
    }

    /// Room for an index: a whole hole, or a new place with a quarter more, so that the ones to come fit into two places in turn.
    fn take_index(&mut self, length: u64) -> Extent {
        match self.free.iter().position(|hole| hole.length >= length) {
            Some(k) => self.free.remove(k),
            None => {
                let length = (length + length / 4).next_multiple_of(8);
                self.end += length;
                Extent { at: self.end - length, length }
            }
        }
    }
}

/// Rows of numbers that grow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Rows {
    pub(super) kind: Kind,
    pub(super) components: usize,
    pub(super) unit: String,
    pub(super) count: u64,
    per_chunk: u64,
    chunks: Vec<u64>,
}

impl Rows {
    pub(super) fn new(kind: Kind, components: usize, unit: &str) -> Self {
        Self { kind, components, unit: unit.to_owned(), count: 0, per_chunk: 0, chunks: Vec::new() }
    }

    fn row(&self) -> u64 {
        (self.kind.size() * self.components) as u64
    }

    fn dims(&self) -> Vec<u64> {
        if self.components == 1 { vec![self.count] } else { vec![self.count, self.components as u64] }
    }

    /// Writes rows behind those that are there.
    pub(super) fn append(&mut self, file: &mut Container, mut bytes: &[u8]) -> std::io::Result<()> {
        let row = self.row();
        if self.per_chunk == 0 && !bytes.is_empty() {
            self.per_chunk = (8 * bytes.len() as u64).clamp(CHUNK[0], CHUNK[1]).div_ceil(row);
        }
        while !bytes.is_empty() {
            let (chunk, within) = ((self.count / self.per_chunk) as usize, self.count % self.per_chunk);
            if chunk == self.chunks.len() {
                self.chunks.push(file.take(self.per_chunk * row)?);
            }
            let rows = (self.per_chunk - within).min(bytes.len() as u64 / row);
            let (now, rest) = bytes.split_at((rows * row) as usize);
            file.write(self.chunks[chunk] + within * row, now)?;
            (self.count, bytes) = (self.count + rows, rest);
        }
        Ok(())
    }
}

/// What a file holds.
pub(super) enum Node<'a> {
    Group {
        attributes: Vec<Attribute>,
        children: Vec<(&'a str, Node<'a>)>,
    },
    /// Numbers that are written anew each time, row by row.
    Whole {
        kind: Kind,
        dims: Vec<u64>,
        bytes: Vec<u8>,
    },
    Rows(&'a Rows),
}

/// A name with a value.
pub(super) struct Attribute {
    name: &'static str,
    kind: Vec<u8>,
    dims: Vec<u64>,
    bytes: Vec<u8>,
}

impl Attribute {
    pub(super) fn text(name: &'static str, text: &str) -> Self {
        // class 3, filled up with zeros, ASCII
        let kind = [&[0x13, 1, 0, 0][..], &(text.len() as u32).to_le_bytes()].concat();
        Self { name, kind, dims: Vec::new(), bytes: text.as_bytes().to_vec() }
    }

    /// One number, or a list of them.
    pub(super) fn whole(name: &'static str, dims: &[u64], values: &[i64]) -> Self {
        Self { name, kind: datatype(Kind::I64), dims: dims.to_vec(), bytes: values.iter().flat_map(|x| x.to_le_bytes()).collect() }
    }
}

/// An HDF5 file that is open.
#[derive(Debug)]
pub(super) struct Container {
    file: std::fs::File,
    pub(super) space: Space,
}

impl Container {
    /// A new file; it can be read from the first [`Self::publish`] on.
    pub(super) fn create(path: &Path) -> std::io::Result<Self> {
        Ok(Self { file: std::fs::File::create(path)?, space: Space::default() })
    }

    /// A file of which [`Self::publish`] has said the state; its bytes.
    pub(super) fn open(path: &Path) -> std::io::Result<(Self, Vec<u8>)> {
        let mut file = std::fs::File::options().read(true).write(true).open(path)?;
        let mut head = [0; 120];
        file.read_exact(&mut head)?;
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|k| head[at + k]));
        let length = file.metadata()?.len();
        if head[96..104] != *MARK || number(104).checked_add(number(112)).is_none_or(|end| end > length) {
            return Err(std::io::Error::other("it is no series of this program, or it is cut off"));
        }
        let mut state = vec![0; number(112) as usize];
        file.seek(SeekFrom::Start(number(104)))?;
        file.read_exact(&mut state)?;
        Ok((Self { file, space: Space::default() }, state))
    }

    fn take(&mut self, length: u64) -> std::io::Result<u64> {
        let at = self.space.take(length);
        self.reach()?;
        Ok(at)
    }

    /// Makes the file as long as what is taken of it.
    fn reach(&self) -> std::io::Result<()> {
        if self.file.metadata()?.len() < self.space.end { self.file.set_len(self.space.end) } else { Ok(()) }
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> std::io::Result<()> {
        self.file.seek(SeekFrom::Start(at))?;
        self.file.write_all(bytes)
    }

    /// Lets readers see all rows: writes what says where they are, and the state that `state` makes of the space that is then taken.
    pub(super) fn publish(&mut self, root: &Node<'_>, state: impl Fn(&Space) -> Vec<u8>) -> std::io::Result<()> {
        let length = Encoder::of(0, root).bytes.len() as u64;
        // the state grows by the numbers in it alone
        let place = self.space.take_index(length + state(&self.space).len() as u64 + 64);
        self.reach()?;
        let at = place.at;
        let encoder = Encoder::of(at, root);
        let mut after = self.space.clone();
        after.free.extend(after.index.replace(place));
        let state = state(&after);
        if state.len() as u64 > place.length - length {
            return Err(std::io::Error::other("the index of the series has outgrown its place"));
        }
        self.write(at, &encoder.bytes)?;
        self.write(at + length, &state)?;
        let mut head = superblock(encoder.root, after.end);
        head.extend(MARK);
        head.extend([at + length, state.len() as u64].into_iter().flat_map(u64::to_le_bytes));
        self.write(0, &head)?;
        self.space = after;
        Ok(())
    }
}

fn superblock(root: u64, end: u64) -> Vec<u8> {
    let mut bytes = b"\x89HDF\r\n\x1a\n".to_vec();
    // versions, eight bytes for an address and for a length, nodes of groups
    bytes.extend([0, 0, 0, 0, 0, 8, 8, 0]);
    bytes.extend([GROUP_K as u16, GROUP_K as u16].into_iter().flat_map(u16::to_le_bytes));
    bytes.extend([0; 4]);
    bytes.extend([0, NOWHERE, end, NOWHERE, 0, root, 0, 0, 0].into_iter().flat_map(u64::to_le_bytes));
    bytes
}

fn datatype(kind: Kind) -> Vec<u8> {
    let size = kind.size() as u32;
    let bits = 8 * size as u16;
    let whole = |signed: u8| [&[0x10, signed, 0, 0][..], &size.to_le_bytes(), &[0, 0], &bits.to_le_bytes()].concat();
    // sign, exponent and mantissa of IEEE 754, the first bit of the mantissa implied
    let real = |exponent: u8, bias: u32| {
        let mantissa = bits as u8 - 1 - exponent;
        let parts = [mantissa, exponent, 0, mantissa];
        [&[0x11, 0x20, bits as u8 - 1, 0][..], &size.to_le_bytes(), &[0, 0], &bits.to_le_bytes(), &parts, &bias.to_le_bytes()].concat()
    };
    match kind {
        Kind::U8 | Kind::U32 => whole(0),
        Kind::I32 | Kind::I64 => whole(8),
        Kind::F32 => real(8, 127),
        Kind::F64 => real(11, 1023),
    }
}

/// `grows`: along the first axis.
fn dataspace(dims: &[u64], grows: bool) -> Vec<u8> {
    let mut bytes = vec![1, dims.len() as u8, u8::from(grows), 0, 0, 0, 0, 0];
    bytes.extend(dims.iter().flat_map(|n| n.to_le_bytes()));
    if grows {
        bytes.extend((0..dims.len()).flat_map(|axis| if axis == 0 { NOWHERE } else { dims[axis] }.to_le_bytes()));
    }
    bytes
}

/// Makes the length a multiple of eight.
fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(8), 0);
}

/// Objects behind one another, each before what points to it.
struct Encoder {
    base: u64,
    bytes: Vec<u8>,
    root: u64,
}

impl Encoder {
    fn of(base: u64, root: &Node<'_>) -> Self {
        let mut encoder = Self { base, bytes: Vec::new(), root: 0 };
        encoder.root = encoder.node(root);
        pad(&mut encoder.bytes);
        encoder
    }

    /// Adds bytes; returns where they are.
    fn put(&mut self, bytes: &[u8]) -> u64 {
        pad(&mut self.bytes);
        let at = self.base + self.bytes.len() as u64;
        self.bytes.extend(bytes);
        at
    }

    fn node(&mut self, node: &Node<'_>) -> u64 {
        let mut messages = Vec::new();
        match node {
            Node::Group { attributes, children } => {
                messages.push((0x11, self.group(children)));
                messages.extend(attributes.iter().map(|a| (0x0c, attribute(a))));
            }
            Node::Whole { kind, dims, bytes } => {
                let at = if bytes.is_empty() { NOWHERE } else { self.put(bytes) };
                let layout = [&[3, 1][..], &at.to_le_bytes(), &(bytes.len() as u64).to_le_bytes()].concat();
                messages.extend(dataset(*kind, dims, false, layout));
            }
            Node::Rows(rows) => {
                let dims = rows.dims();
                let mut layout = vec![3, 2, dims.len() as u8 + 1];
                layout.extend(self.chunks(rows).to_le_bytes());
                // an empty array has no chunk, and yet a shape for them
                layout.extend((rows.per_chunk.max(1) as u32).to_le_bytes());
                layout.extend(dims[1..].iter().flat_map(|n| (*n as u32).to_le_bytes()));
                layout.extend((rows.kind.size() as u32).to_le_bytes());
                messages.extend(dataset(rows.kind, &dims, true, layout));
                if !rows.unit.is_empty() {
                    messages.push((0x0c, attribute(&Attribute::text("units", &rows.unit))));
                }
            }
        }
        let mut body = Vec::new();
        for (kind, mut data) in messages.iter().map(|(kind, data): &(u16, Vec<u8>)| (*kind, data.clone())) {
            pad(&mut data);
            body.extend(kind.to_le_bytes());
            body.extend((data.len() as u16).to_le_bytes());
            body.extend([0; 4]);
            body.extend(data);
        }
        let mut header = vec![1, 0];
        header.extend((messages.len() as u16).to_le_bytes());
        header.extend(1u32.to_le_bytes());
        header.extend((body.len() as u32).to_le_bytes());
        header.extend([0; 4]);
        header.extend(body);
        self.put(&header)
    }

    /// The members of a group, sorted by name as the format asks: their names, one leaf, and the root of its tree.
    fn group(&mut self, children: &[(&str, Node<'_>)]) -> Vec<u8> {
        let mut sorted: Vec<&(&str, Node<'_>)> = children.iter().collect();
        sorted.sort_by_key(|child| child.0);
        let mut names = vec![0; 8];
        let mut leaf = [&b"SNOD\x01\0"[..], &(sorted.len() as u16).to_le_bytes()].concat();
        let mut last = 0u64;
        for (name, node) in sorted {
            let at = self.node(node);
            last = names.len() as u64;
            names.extend(name.as_bytes());
            names.push(0);
            pad(&mut names);
            leaf.extend([last, at, 0, 0, 0].into_iter().flat_map(u64::to_le_bytes));
        }
        leaf.resize(8 + 2 * GROUP_K * 40, 0);
        let segment = self.put(&names);
        // version 0; no free list
        let heap = [&b"HEAP\0\0\0\0"[..], &(names.len() as u64).to_le_bytes(), &1u64.to_le_bytes(), &segment.to_le_bytes()].concat();
        let heap = self.put(&heap);
        let leaf = self.put(&leaf);
        let mut tree = b"TREE\0\0".to_vec();
        tree.extend(u16::from(!children.is_empty()).to_le_bytes());
        tree.extend([NOWHERE, NOWHERE, 0, leaf, last].into_iter().flat_map(u64::to_le_bytes));
        tree.resize(24 + (4 * GROUP_K + 1) * 8, 0);
        let tree = self.put(&tree);
        [tree.to_le_bytes(), heap.to_le_bytes()].concat()
    }

    /// The tree of chunks, from its leaves up.
    fn chunks(&mut self, rows: &Rows) -> u64 {
        let used = if rows.per_chunk == 0 { 0 } else { rows.count.div_ceil(rows.per_chunk) as usize };
        let axes = if rows.components == 1 { 1 } else { 2 };
        let size = (rows.per_chunk * rows.row()) as u32;
        // the first row of a chunk, or of those below a node, and where that is
        let mut below: Vec<(u64, u64)> = (0..).zip(&rows.chunks[..used]).map(|(k, &at)| (k * rows.per_chunk, at)).collect();
        let key = |row: u64| {
            let mut key = [size.to_le_bytes(), [0; 4]].concat();
            key.extend(row.to_le_bytes());
            key.resize(key.len() + 8 * axes, 0);
            key
        };
        let whole = 24 + (2 * CHUNK_K + 1) * (16 + 8 * axes) + 2 * CHUNK_K * 8;
        for level in 0u8.. {
            if below.is_empty() || (level > 0 && below.len() == 1) {
                break;
            }
            let count = below.len().div_ceil(2 * CHUNK_K);
            pad(&mut self.bytes);
            let first = self.base + self.bytes.len() as u64;
            let place = |k: usize| first + (k * whole.next_multiple_of(8)) as u64;
            let mut above = Vec::new();
            for (k, members) in below.chunks(2 * CHUNK_K).enumerate() {
                let mut node = [&b"TREE\x01"[..], &[level], &(members.len() as u16).to_le_bytes()].concat();
                node.extend((if k == 0 { NOWHERE } else { place(k - 1) }).to_le_bytes());
                node.extend((if k + 1 == count { NOWHERE } else { place(k + 1) }).to_le_bytes());
                for (row, at) in members {
                    node.extend(key(*row));
                    node.extend(at.to_le_bytes());
                }
                let end = below.get((k + 1) * 2 * CHUNK_K).map_or(used as u64 * rows.per_chunk, |next| next.0);
                node.extend(key(end));
                node.resize(whole, 0);
                above.push((members[0].0, self.put(&node)));
            }
            below = above;
        }
        below.first().map_or(NOWHERE, |root| root.1)
    }
}

/// The messages of a dataset.
fn dataset(kind: Kind, dims: &[u64], grows: bool, layout: Vec<u8>) -> [(u16, Vec<u8>); 4] {
    // no value for what was never written, places taken as rows come
    let fill = vec![2, 3, 2, 1, 0, 0, 0, 0];
    [(0x01, dataspace(dims, grows)), (0x03, datatype(kind)), (0x05, fill), (0x08, layout)]
}

fn attribute(a: &Attribute) -> Vec<u8> {
    let space = dataspace(&a.dims, false);
    let mut bytes = vec![1, 0];
    bytes.extend([a.name.len() + 1, a.kind.len(), space.len()].into_iter().flat_map(|n| (n as u16).to_le_bytes()));
    for part in [&[a.name.as_bytes(), &[0]].concat(), &a.kind, &space] {
        bytes.extend(part);
        pad(&mut bytes);
    }
    bytes.extend(&a.bytes);
    bytes
}
