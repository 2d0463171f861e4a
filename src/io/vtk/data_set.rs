//! One file of VTK's PolyData or ImageData: XML in front, compressed arrays behind it.

use super::arrays::Precision;
use crate::io::error::{OutputError, replace_file};
use flate2::{Compression, write::ZlibEncoder};
use glam::DVec3;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// Bytes before compression in one block.
pub(super) const BLOCK: usize = 1 << 20;

/// A `.vtp` or `.vti` file in the making: the XML so far and the compressed arrays it points to.
pub(super) struct DataSet {
    kind: &'static str,
    precision: Precision,
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
    pub(super) fn poly_data(time: f64, precision: Precision, counts: Counts) -> Self {
        let Counts { points, vertices, lines, polygons } = counts;
        let piece = format!(
            "NumberOfPoints=\"{points}\" NumberOfVerts=\"{vertices}\" NumberOfLines=\"{lines}\" NumberOfStrips=\"0\" NumberOfPolys=\"{polygons}\""
        );
        Self::new("PolyData", "", time, &piece, precision)
    }

    /// Equal cells along the axes, x fastest.
    pub(super) fn image_data(time: f64, precision: Precision, low: DVec3, size: DVec3, cells: [usize; 3]) -> Self {
        let extent = format!("0 {} 0 {} 0 {}", cells[0], cells[1], cells[2]);
        let place = |v: DVec3| format!("{} {} {}", v.x, v.y, v.z);
        let whole = format!(" WholeExtent=\"{extent}\" Origin=\"{}\" Spacing=\"{}\"", place(low), place(size));
        Self::new("ImageData", &whole, time, &format!("Extent=\"{extent}\""), precision)
    }

    fn new(kind: &'static str, attributes: &str, time: f64, piece: &str, precision: Precision) -> Self {
        let xml = format!(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"{kind}\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\" \
             compressor=\"vtkZLibDataCompressor\">\n<{kind}{attributes}>\n<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" \
             NumberOfTuples=\"1\" format=\"ascii\">{time}</DataArray>\n</FieldData>\n<Piece {piece}>\n"
        );
        Self { kind, precision, xml, open: None, data: Vec::new() }
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

    fn array<const N: usize>(&mut self, (name, unit): (&str, &str), kind: &str, components: usize, values: impl Iterator<Item = [u8; N]>) {
        let offset = self.data.len();
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
        let bytes: Vec<u8> = values.flatten().collect();
        compress(&bytes, &mut self.data);
    }

    /// Numbers of bodies, materials.
    pub(super) fn numbers(&mut self, name: &str, values: impl Iterator<Item = u32>) {
        self.array((name, ""), "UInt32", 1, values.map(u32::to_le_bytes));
    }

    /// Three whole numbers each.
    pub(super) fn triples(&mut self, name: &str, values: impl Iterator<Item = [i32; 3]>) {
        self.array((name, ""), "Int32", 3, values.flatten().map(i32::to_le_bytes));
    }

    /// Small numbers.
    pub(super) fn bytes(&mut self, name: &str, values: impl Iterator<Item = u8>) {
        self.array((name, ""), "UInt8", 1, values.map(|x| [x]));
    }

    /// The connectivity and offsets of cells: 32 bits as long as they do.
    pub(super) fn cells(&mut self, connectivity: &[i64], offsets: &[i64]) {
        for (name, values) in [("connectivity", connectivity), ("offsets", offsets)] {
            let small = values.iter().all(|&x| i32::try_from(x).is_ok());
            match small {
                true => self.array((name, ""), "Int32", 1, values.iter().map(|x| (*x as i32).to_le_bytes())),
                false => self.array((name, ""), "Int64", 1, values.iter().map(|x| x.to_le_bytes())),
            }
        }
    }

    /// A number for each point or cell; `named` is its name with its unit.
    pub(super) fn scalars(&mut self, named: (&str, &str), values: impl Iterator<Item = f64>) {
        match self.precision {
            Precision::Single => self.array(named, "Float32", 1, values.map(|x| (x as f32).to_le_bytes())),
            Precision::Double => self.array(named, "Float64", 1, values.map(f64::to_le_bytes)),
        }
    }

    /// A vector for each point or cell.
    pub(super) fn vectors(&mut self, named: (&str, &str), values: impl Iterator<Item = DVec3>) {
        match self.precision {
            Precision::Single => self.array(named, "Float32", 3, values.flat_map(|v| v.as_vec3().to_array()).map(f32::to_le_bytes)),
            Precision::Double => self.array(named, "Float64", 3, values.flat_map(|v| v.to_array()).map(f64::to_le_bytes)),
        }
    }

    /// As many numbers for each point or cell as are said.
    pub(super) fn tensors(&mut self, named: (&str, &str), components: usize, values: &[f64]) {
        match self.precision {
            Precision::Single => self.array(named, "Float32", components, values.iter().map(|x| (*x as f32).to_le_bytes())),
            Precision::Double => self.array(named, "Float64", components, values.iter().map(|x| x.to_le_bytes())),
        }
    }

    pub(super) fn save(mut self, path: &Path) -> Result<(), OutputError> {
        self.close();
        let mut bytes = (self.xml + &format!("</Piece>\n</{}>\n<AppendedData encoding=\"raw\">\n_", self.kind)).into_bytes();
        bytes.append(&mut self.data);
        bytes.extend(b"\n</AppendedData>\n</VTKFile>\n");
        replace_file(path, &bytes)
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
