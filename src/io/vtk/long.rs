//! One file for a whole series: VTKHDF, PolyData that changes in time.
//!
//! ```text
//! /VTKHDF                      Version [2, 0], Type "PolyData"
//!   Points                     (n, 3), instants behind one another
//!   PointData/NAME, CellData/NAME    (n) or (n, 3), with `units`
//!   NumberOfPoints             of each part
//!   Vertices, Lines, Polygons, Strips    NumberOfCells and NumberOfConnectivityIds of each part, Connectivity, Offsets
//!   Steps                      NSteps; Values (s); of each instant PartOffsets, NumberOfParts (1), PointOffsets, CellOffsets and
//!                              ConnectivityIdOffsets (4 each), PointDataOffsets/NAME, CellDataOffsets/NAME
//! /step                        numbers of the steps
//! ```
//!
//! A part is a set of counts, not of points: instants with as many points and the same cells share one. Vertices and lines are those of the
//! points in turn, so that all instants share their cells too; polygons are written where they differ from those before. Readers differ in
//! where they look for the offsets of a later part; from 0 on all of them agree, which is where vertices and lines always are.

use super::frame::{Cells, Frame};
use super::hdf5::{Attribute, Container, Node, Rows, Space};
use super::values::{Kind, Values};
use crate::io::error::OutputError;
use crate::simulation::state::Fnv;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A part of the instants so far that readers may not see yet.
const UNSEEN: u64 = 64;
const TOPOLOGIES: [&str; 4] = ["Vertices", "Lines", "Polygons", "Strips"];
const POLYGONS: usize = 2;

/// Counts that instants share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Part {
    points: u64,
    /// Of vertices, lines and polygons.
    cells: [u64; 3],
    /// Points of these cells.
    ids: [u64; 3],
    /// Where its polygons begin: cells and points of cells.
    polygons: [u64; 2],
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Instant {
    step: u64,
    time: f64,
    part: usize,
    /// Rows of points and cells before it.
    point: u64,
    cell: u64,
}

/// What there is to know of a series to go on with it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    points: Option<Rows>,
    point_data: Vec<(String, Rows)>,
    cell_data: Vec<(String, Rows)>,
    /// Points and offsets of vertices, lines and polygons.
    cells: Vec<[Rows; 2]>,
    parts: Vec<Part>,
    instants: Vec<Instant>,
    space: Space,
}

/// `NAME.vtkhdf`, growing.
#[derive(Debug)]
pub(super) struct LongSeries {
    path: PathBuf,
    file: Container,
    state: State,
    /// Polygons of the last part.
    polygons: Cells,
    /// Instants that readers see.
    seen: u64,
}

impl LongSeries {
    /// Starts an empty file.
    pub(super) fn create(path: &Path) -> Result<Self, OutputError> {
        let file = Container::create(path).map_err(OutputError::file(path, "created"))?;
        let rows = || [Rows::new(Kind::I64, 1, ""), Rows::new(Kind::I64, 1, "")];
        let state = State { cells: vec![rows(), rows(), rows()], ..State::default() };
        Ok(Self { path: path.to_owned(), file, state, polygons: Cells::default(), seen: 0 })
    }

    /// Goes on with a file, keeping the instants up to step `last`.
    pub(super) fn resume(path: &Path, last: u64) -> Result<Self, OutputError> {
        let (mut file, bytes) = Container::open(path).map_err(OutputError::file(path, "continued"))?;
        let damaged = || OutputError::data(path, "the state of the series is damaged; start the run anew");
        let (stored, numbers) = bytes.split_at_checked(8).ok_or_else(damaged)?;
        if stored != sum(numbers) {
            return Err(damaged());
        }
        let state: State = postcard::from_bytes(numbers).map_err(|_| damaged())?;
        file.space = state.space.clone();
        let mut series = Self { path: path.to_owned(), file, state, polygons: Cells::default(), seen: 0 };
        series.cut(last);
        series.publish()?;
        Ok(series)
    }

    /// Forgets the instants after step `last`.
    fn cut(&mut self, last: u64) {
        let State { points, point_data, cell_data, instants, .. } = &mut self.state;
        if let Some(&Instant { point, cell, .. }) = instants.iter().find(|i| i.step > last) {
            points.iter_mut().chain(point_data.iter_mut().map(|d| &mut d.1)).for_each(|rows| rows.count = point);
            cell_data.iter_mut().for_each(|d| d.1.count = cell);
            instants.retain(|i| i.step <= last);
        }
    }

    /// Adds an instant, in place of one of the same step; returns how many bytes it has, without cells.
    pub(super) fn write(&mut self, step: u64, frame: &Frame) -> Result<u64, OutputError> {
        if self.state.instants.last().is_some_and(|i| i.step >= step) {
            self.cut(step.wrapping_sub(1));
            self.seen = 0;
        }
        self.append(step, frame).map_err(OutputError::file(&self.path, "written"))?;
        let count = self.state.instants.len() as u64;
        if count - self.seen > self.seen / UNSEEN {
            self.publish()?;
        }
        let arrays = frame.point_data.iter().chain(&frame.cell_data).chain([&frame.points]);
        Ok(arrays.map(|array| array.bytes.len() as u64).sum())
    }

    fn append(&mut self, step: u64, frame: &Frame) -> std::io::Result<()> {
        let part = self.part(frame)?;
        let State { points, point_data, cell_data, instants, parts, .. } = &mut self.state;
        let rows_of = |v: &Values| Rows::new(v.kind, v.components, v.unit);
        if points.is_none() {
            let named = |v: &Values| (v.name.to_owned(), rows_of(v));
            (*point_data, *cell_data) = (frame.point_data.iter().map(named).collect(), frame.cell_data.iter().map(named).collect());
        }
        let points = points.get_or_insert_with(|| rows_of(&frame.points));
        let cell = instants.last().map_or(0, |i| i.cell + parts[i.part].cells.iter().sum::<u64>());
        instants.push(Instant { step, time: frame.time, part, point: points.count, cell });
        points.append(&mut self.file, &frame.points.bytes)?;
        for (data, arrays) in [(point_data, &frame.point_data), (cell_data, &frame.cell_data)] {
            for ((_, rows), array) in data.iter_mut().zip(arrays) {
                rows.append(&mut self.file, &array.bytes)?;
            }
        }
        Ok(())
    }

    /// The part that this frame is of: the last one, or a new one.
    fn part(&mut self, frame: &Frame) -> std::io::Result<usize> {
        let counts = |of: fn(&Cells) -> &Vec<i64>| [0, 1, 2].map(|k: usize| of(&frame.cells[k]).len() as u64);
        let (cells, ids) = (counts(|c| &c.ends), counts(|c| &c.points));
        let same = !self.state.parts.is_empty() && self.polygons == frame.cells[POLYGONS];
        let last = self.state.parts.last().copied();
        let polygons = match last {
            Some(last) if same => last.polygons,
            _ => self.polygons(&frame.cells[POLYGONS])?,
        };
        // vertices and lines are those of all points in turn
        for (k, topology) in frame.cells.iter().enumerate().take(POLYGONS) {
            let [points, ends] = &mut self.state.cells[k];
            let more = |from: u64, values: &[i64]| values.iter().skip(from as usize).flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
            points.append(&mut self.file, &more(points.count, &topology.points))?;
            let offsets: Vec<i64> = std::iter::once(0).chain(topology.ends.iter().copied()).collect();
            ends.append(&mut self.file, &more(ends.count, &offsets))?;
        }
        let part = Part { points: frame.points.rows() as u64, cells, ids, polygons };
        if last != Some(part) {
            self.state.parts.push(part);
        }
        Ok(self.state.parts.len() - 1)
    }

    /// Writes polygons; where they begin: the cell, and the point of a cell.
    fn polygons(&mut self, polygons: &Cells) -> std::io::Result<[u64; 2]> {
        self.polygons = polygons.clone();
        let parts = &self.state.parts;
        let [points, ends] = &mut self.state.cells[POLYGONS];
        if polygons.ends.is_empty() {
            if ends.count == 0 {
                ends.append(&mut self.file, &0i64.to_le_bytes())?;
            }
            return Ok([0, 0]);
        }
        // VTK looks for the offsets of a part that begins with this cell so many places later: as many as parts before have fewer
        let before = |part: &Part, sum: &mut u64| std::mem::replace(sum, *sum + part.cells[POLYGONS]);
        let shift = |cell: u64| parts.iter().scan(0, |sum, part| Some(before(part, sum))).take_while(|sum| *sum < cell).count() as u64;
        let there = if points.count == 0 { 0 } else { ends.count };
        let least = there.saturating_sub(parts.len() as u64);
        let cell = (least..).find(|&cell| cell + shift(cell) >= there).unwrap_or(there);
        ends.count = ends.count.min(there);
        let filler = (cell + shift(cell) - there) as usize;
        let offsets = std::iter::repeat_n(0, filler + 1).chain(polygons.ends.iter().copied());
        let first = points.count;
        ends.append(&mut self.file, &offsets.flat_map(i64::to_le_bytes).collect::<Vec<u8>>())?;
        points.append(&mut self.file, &polygons.points.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>())?;
        Ok([cell, first])
    }

    /// Lets readers see all instants.
    pub(super) fn publish(&mut self) -> Result<(), OutputError> {
        let state = &self.state;
        let written = |space: &Space| {
            let state = State { space: space.clone(), ..state.clone() };
            // numbers and lists of them can always be written
            let numbers = postcard::to_allocvec(&state).unwrap_or_default();
            [&sum(&numbers), &numbers[..]].concat()
        };
        self.file.publish(&state.tree(), written).map_err(OutputError::file(&self.path, "written"))?;
        self.seen = self.state.instants.len() as u64;
        Ok(())
    }
}

/// What tells a damaged state from a sound one.
fn sum(bytes: &[u8]) -> [u8; 8] {
    let mut hash = Fnv::START;
    hash.add(bytes);
    hash.0.to_le_bytes()
}

/// A list of whole numbers, some for each row.
fn list<'a>(width: usize, values: impl Iterator<Item = u64>) -> Node<'a> {
    let bytes: Vec<u8> = values.flat_map(u64::to_le_bytes).collect();
    let count = (bytes.len() / 8 / width) as u64;
    Node::Whole { kind: Kind::I64, dims: if width == 1 { vec![count] } else { vec![count, width as u64] }, bytes }
}

fn group<'a>(children: Vec<(&'a str, Node<'a>)>) -> Node<'a> {
    Node::Group { attributes: Vec::new(), children }
}

impl State {
    /// What the file holds.
    fn tree(&self) -> Node<'_> {
        let each = |of: fn(&Instant) -> u64| list(1, self.instants.iter().map(of));
        let times: Vec<u8> = self.instants.iter().flat_map(|i| i.time.to_le_bytes()).collect();
        let begin = |k: usize| list(4, self.instants.iter().flat_map(move |i| [0, 0, self.parts[i.part].polygons[k], 0]));
        fn offsets<'a>(data: &'a [(String, Rows)], node: impl Fn() -> Node<'a>) -> Node<'a> {
            group(data.iter().map(|(name, _)| (name.as_str(), node())).collect())
        }
        let arrays = |data| group(Vec::from_iter(<[(String, Rows)]>::iter(data).map(|(name, rows)| (name.as_str(), Node::Rows(rows)))));
        let steps = vec![
            ("Values", Node::Whole { kind: Kind::F64, dims: vec![self.instants.len() as u64], bytes: times }),
            ("PartOffsets", each(|i| i.part as u64)),
            ("NumberOfParts", each(|_| 1)),
            ("PointOffsets", each(|i| i.point)),
            ("CellOffsets", begin(0)),
            ("ConnectivityIdOffsets", begin(1)),
            ("PointDataOffsets", offsets(&self.point_data, || each(|i| i.point))),
            ("CellDataOffsets", offsets(&self.cell_data, || each(|i| i.cell))),
        ];
        let count = [self.instants.len() as i64];
        let steps = Node::Group { attributes: vec![Attribute::whole("NSteps", &[], &count)], children: steps };
        let mut children = vec![("Steps", steps), ("NumberOfPoints", list(1, self.parts.iter().map(|p| p.points)))];
        children.extend(self.points.iter().map(|rows| ("Points", Node::Rows(rows))));
        children.push(("PointData", arrays(&self.point_data)));
        children.push(("CellData", arrays(&self.cell_data)));
        for (k, name) in TOPOLOGIES.into_iter().enumerate() {
            let of = |from: fn(&Part) -> &[u64; 3]| list(1, self.parts.iter().map(move |p| from(p).get(k).copied().unwrap_or(0)));
            let (connectivity, ends) = match self.cells.get(k) {
                Some([points, ends]) => (Node::Rows(points), Node::Rows(ends)),
                None => (list(1, std::iter::empty()), list(1, std::iter::once(0))),
            };
            let parts = vec![
                ("NumberOfCells", of(|p| &p.cells)),
                ("NumberOfConnectivityIds", of(|p| &p.ids)),
                ("Connectivity", connectivity),
                ("Offsets", ends),
            ];
            children.push((name, group(parts)));
        }
        let attributes = vec![Attribute::text("Type", "PolyData"), Attribute::whole("Version", &[2], &[2, 0])];
        group(vec![("VTKHDF", Node::Group { attributes, children }), ("step", each(|i| i.step))])
    }
}
