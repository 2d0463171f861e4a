//! Frames of one instant as they were written, for plots.

use super::collection::{attribute, frame, read};
use crate::io::error::OutputError;
use flate2::read::ZlibDecoder;
use std::io::Read as _;
use std::path::Path;

/// Arrays of a `.vtp` file of ours.
///
/// ```
/// use drystone::{algebra::spatial::Pose, io::{snapshot::*, vtk::{Frames, StoredFrame, VtkSeries}}};
/// # let dir = tempfile::tempdir().unwrap();
/// # let directory = dir.path();
/// let mut ball = BodyView::new(0, "ball", "ball", Pose::at(glam::DVec3::Z), Surface::ball(0.25, 8).into());
/// ball.balls = [(glam::DVec3::ZERO, 0.25)].into();
/// let mut series = VtkSeries::create(directory, Frames::default())?;
/// series.write(&Snapshot { step: 3, time: 0.1, step_size: 0.0, bodies: &[ball], contacts: &[] })?;
/// let frame = StoredFrame::nearest(directory, "bodies", 0.2)?;
/// assert_eq!((frame.time, frame.array("Points", "points")?, frame.array("PointData", "radius")?), (0.1, vec![0.0, 0.0, 1.0], vec![0.25]));
/// # Ok::<(), drystone::io::error::OutputError>(())
/// ```
#[derive(Clone, Debug)]
pub struct StoredFrame {
    /// Its instant (s).
    pub time: f64,
    path: std::path::PathBuf,
    xml: String,
    data: Vec<u8>,
}

/// The place of the instant (s) that is nearest among ascending ones; none where there is none. One beyond the last by more than two of them
/// are apart is no instant of the run: the cause says so.
pub(in crate::io) fn nearest_instant(times: &[f64], time: f64) -> Result<Option<usize>, String> {
    let apart = times.windows(2).map(|t| t[1] - t[0]).fold(f64::NAN, f64::max);
    if let Some(last) = times.last().filter(|last| time - *last > apart) {
        return Err(format!("its last instant is {last} s, found {time} s; ask for one up to there"));
    }
    let far = |k: &usize| (times[*k] - time).abs();
    Ok((0..times.len()).min_by(|a, b| far(a).total_cmp(&far(b))))
}

/// Where the arrays begin.
const APPENDED: &[u8] = b"<AppendedData encoding=\"raw\">\n_";

impl StoredFrame {
    /// The frame of bodies, contacts or branches, which is nearest to an instant (s).
    ///
    /// # Errors
    /// There is none, or it is spoilt, or the instant lies beyond the last one by more than two of them are apart.
    pub fn nearest(directory: &Path, kind: &str, time: f64) -> Result<Self, OutputError> {
        let list = directory.join(format!("{kind}.pvd"));
        let frames = read(directory, kind, "vtp")?;
        let times: Vec<f64> = frames.iter().map(|frame| frame.1).collect();
        let found = nearest_instant(&times, time).map_err(|cause| OutputError::data(&list, cause))?;
        let Some((step, time)) = found.map(|k| frames[k]) else {
            let cure = match directory.join(format!("{kind}.vtkhdf")).exists() {
                true => "its frames are in one VTKHDF file, which plots do not read; a run with format = \"vtp\" in [output] would do",
                false if kind == "branches" => {
                    "lists no frame: write `branches = true` in [output] of the scene, or run it with --set output.branches=true"
                }
                false => "lists no frame of this run",
            };
            return Err(OutputError::data(&list, cure));
        };
        Self::read(&directory.join(frame(kind, step, "vtp")), time)
    }

    pub(super) fn read(path: &Path, time: f64) -> Result<Self, OutputError> {
        let bytes = std::fs::read(path).map_err(OutputError::file(path, "read"))?;
        let Some(end) = bytes.windows(APPENDED.len()).position(|w| w == APPENDED) else {
            return Err(OutputError::data(path, "is no frame of drystone: it has no appended data"));
        };
        let xml = String::from_utf8_lossy(&bytes[..end]).into_owned();
        Ok(Self { time, path: path.to_owned(), xml, data: bytes[end + APPENDED.len()..].to_vec() })
    }

    /// The numbers of an array of a section (`"PointData"`, `"CellData"`, `"Points"`, `"Verts"`, `"Lines"`, `"Polys"`), point by point.
    ///
    /// # Errors
    /// There is no such array, or it is spoilt.
    pub fn array(&self, section: &str, name: &str) -> Result<Vec<f64>, OutputError> {
        let mut within = "";
        for line in self.xml.lines() {
            let tag = line.split([' ', '>']).next().unwrap_or_default();
            match (tag, attribute(line, "Name")) {
                ("<DataArray", Some(found)) if found == name && within == section => {
                    let numbers = attribute(line, "type").zip(attribute(line, "offset")).and_then(|(kind, at)| self.numbers(kind, at));
                    return numbers.ok_or_else(|| OutputError::data(&self.path, format!("its array {name} is spoilt")));
                }
                ("<PointData" | "<CellData" | "<Points" | "<Verts" | "<Lines" | "<Polys", _) => within = &tag[1..],
                _ => {}
            }
        }
        let kind = self.path.file_name().and_then(|name| name.to_str()?.split('_').next()).unwrap_or("contacts");
        Err(OutputError::data(&self.path, format!("has no array {name}; list it in `{kind}` of [output] in the scene, and run it again")))
    }

    fn numbers(&self, kind: &str, offset: &str) -> Option<Vec<f64>> {
        let data = self.data.get(offset.parse::<usize>().ok()?..)?;
        let word = |k: usize| Some(u64::from_le_bytes(data.get(8 * k..8 * k + 8)?.try_into().ok()?) as usize);
        let blocks = word(0)?;
        let mut at = 8 * blocks.checked_add(3)?;
        let mut bytes = Vec::new();
        for k in 0..blocks {
            let end = at.checked_add(word(3 + k)?)?;
            ZlibDecoder::new(data.get(at..end)?).read_to_end(&mut bytes).ok()?;
            at = end;
        }
        let each = |size: usize, number: fn(&[u8]) -> f64| bytes.chunks_exact(size).map(number).collect();
        Some(match kind {
            "UInt8" => each(1, |b| f64::from(b[0])),
            "Int32" => each(4, |b| f64::from(i32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
            "UInt32" => each(4, |b| f64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
            "Float32" => each(4, |b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
            "Int64" => each(8, |b| i64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]) as f64),
            "Float64" => each(8, |b| f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]])),
            _ => return None,
        })
    }

    /// The same, three numbers at a time.
    ///
    /// # Errors
    /// As of [`StoredFrame::array`].
    pub fn vectors(&self, section: &str, name: &str) -> Result<Vec<glam::DVec3>, OutputError> {
        let numbers = self.array(section, name)?;
        Ok(numbers.chunks_exact(3).map(glam::DVec3::from_slice).collect())
    }
}
