//! One file of VTK's PolyData or ImageData: XML in front, arrays behind it, those of PolyData compressed.

use super::arrays::Precision;
use super::values::{Kind, Values};
use crate::io::error::{OutputError, replace_file_by};
use flate2::{Compression, write::ZlibEncoder};
use glam::DVec3;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// Bytes before compression in one block.
pub(super) const BLOCK: usize = 1 << 20;

/// A `.vtp` or `.vti` file in the making: the XML so far and the arrays it points to.
pub(super) struct DataSet {
    kind: &'static str,
    packed: bool,
    xml: String,
    open: Option<&'static str>,
    data: Vec<u8>,
}

/// Counts of what stands in a file.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) points: usize,
    pub(super) vertices: usize,
    pub(super) lines: usize,
    pub(super) polygons: usize,
}

impl DataSet {
    /// Points, lines and faces.
    pub(super) fn poly_data(time: f64, counts: Counts) -> Self {
        let Counts { points, vertices, lines, polygons } = counts;
        let piece = format!(
            "NumberOfPoints=\"{points}\" NumberOfVerts=\"{vertices}\" NumberOfLines=\"{lines}\" NumberOfStrips=\"0\" NumberOfPolys=\"{polygons}\""
        );
        Self::new("PolyData", true, "", time, &piece)
    }

    /// Equal cells along the axes, x fastest. Not compressed: means over grains have no pattern, so that it took most of the time of a field
    /// and saved little. `room` is empty.
    pub(super) fn image_data(time: f64, low: DVec3, size: DVec3, cells: [usize; 3], room: Vec<u8>) -> Self {
        let extent = format!("0 {} 0 {} 0 {}", cells[0], cells[1], cells[2]);
        let place = |v: DVec3| format!("{} {} {}", v.x, v.y, v.z);
        let whole = format!(" WholeExtent=\"{extent}\" Origin=\"{}\" Spacing=\"{}\"", place(low), place(size));
        Self { data: room, ..Self::new("ImageData", false, &whole, time, &format!("Extent=\"{extent}\"")) }
    }

    fn new(kind: &'static str, packed: bool, attributes: &str, time: f64, piece: &str) -> Self {
        let compressor = if packed { " compressor=\"vtkZLibDataCompressor\"" } else { "" };
        let xml = format!(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"{kind}\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\"\
             {compressor}>\n<{kind}{attributes}>\n<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" \
             NumberOfTuples=\"1\" format=\"ascii\">{time}</DataArray>\n</FieldData>\n<Piece {piece}>\n"
        );
        Self { kind, packed, xml, open: None, data: Vec::new() }
    }

    /// Closes the section that is open and opens another.
    pub(super) fn section(&mut self, name: &'static str, attributes: &str) {
        self.close();
        // writing into a String cannot fail
        let _ = writeln!(self.xml, "<{name} {attributes}>");
        self.open = Some(name);
    }

    fn close(&mut self) {
        if let Some(name) = self.open.take() {
            let _ = writeln!(self.xml, "</{name}>");
        }
    }

    /// Adds an array to the section that is open.
    pub(super) fn push(&mut self, values: &Values) {
        let Values { name, unit, kind, components, bytes } = values;
        self.tag((*name, *unit), *kind, *components);
        if self.packed {
            compress(bytes, &mut self.data);
        } else {
            self.data.extend((bytes.len() as u64).to_le_bytes());
            self.data.extend_from_slice(bytes);
        }
    }

    /// Adds numbers, of which each cell has `components`, to the section that is open; nothing is compressed.
    pub(super) fn push_plain(&mut self, named: (&str, &str), precision: Precision, components: usize, values: &[f64]) {
        let kind = if precision == Precision::Single { Kind::F32 } else { Kind::F64 };
        self.tag(named, kind, components);
        self.data.extend(((values.len() * kind.size()) as u64).to_le_bytes());
        let begin = self.data.len();
        self.data.resize(begin + values.len() * kind.size(), 0);
        let places = &mut self.data[begin..];
        match precision {
            Precision::Single => {
                let places = places.as_chunks_mut().0;
                places.iter_mut().zip(values).for_each(|(place, &x)| *place = (x as f32).to_le_bytes());
            }
            Precision::Double => {
                let places = places.as_chunks_mut().0;
                places.iter_mut().zip(values).for_each(|(place, &x)| *place = x.to_le_bytes());
            }
        }
    }

    fn tag(&mut self, (name, unit): (&str, &str), kind: Kind, components: usize) {
        let (offset, kind) = (self.data.len(), kind.name());
        let tag = format!(
            "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"appended\" offset=\"{offset}\""
        );
        // the key under which VTK keeps units
        let _ = match unit {
            "" => writeln!(self.xml, "{tag}/>"),
            _ => writeln!(
                self.xml,
                "{tag}>\n<InformationKey name=\"UNITS_LABEL\" location=\"vtkDataArray\">{unit}</InformationKey>\n</DataArray>"
            ),
        };
    }

    /// Writes the file; returns how many bytes it has.
    pub(super) fn save(mut self, path: &Path) -> Result<u64, OutputError> {
        self.write(path)
    }

    /// The same; the room of the arrays is left to others.
    pub(super) fn save_and_empty(mut self, path: &Path) -> Result<Vec<u8>, OutputError> {
        self.write(path)?;
        self.data.clear();
        Ok(self.data)
    }

    fn write(&mut self, path: &Path) -> Result<u64, OutputError> {
        self.close();
        let _ = write!(self.xml, "</Piece>\n</{}>\n<AppendedData encoding=\"raw\">\n_", self.kind);
        let parts: [&[u8]; 3] = [self.xml.as_bytes(), &self.data, b"\n</AppendedData>\n</VTKFile>\n"];
        replace_file_by(path, &parts)?;
        Ok(parts.iter().map(|part| part.len() as u64).sum())
    }
}

/// Appends the header and the zlib blocks of `bytes`.
pub(super) fn compress(bytes: &[u8], data: &mut Vec<u8>) {
    let blocks: Vec<Vec<u8>> = bytes
        .chunks(BLOCK)
        .map(|block| {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            // a Vec accepts every byte, so neither call can fail
            let _ = encoder.write_all(block);
            encoder.finish().unwrap_or_default()
        })
        .collect();
    let header = [blocks.len(), BLOCK, bytes.len() % BLOCK].into_iter().chain(blocks.iter().map(Vec::len));
    data.extend(header.flat_map(|n| (n as u64).to_le_bytes()));
    data.extend(blocks.iter().flatten());
}
