//! Tables as CSV: the bodies at one instant, and one row of figures per step.
//!
//! Numbers have as few digits as read back to the same bits, in tables of single precision to those of 32.

use crate::io::error::{OutputError, replace_file};
use crate::io::snapshot::{BodyView, Snapshot};
use crate::io::vtk::Precision;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Columns of a table of bodies: position, rotation body → world, velocity (world), angular velocity (body frame), mass (0 for what does
/// not move by itself), radius (0 for what is no ball), number by which frames call the body.
pub const BODY_COLUMNS: [&str; 18] = [
    "name",
    "shape",
    "x [m]",
    "y [m]",
    "z [m]",
    "qw",
    "qx",
    "qy",
    "qz",
    "vx [m/s]",
    "vy [m/s]",
    "vz [m/s]",
    "wx [rad/s]",
    "wy [rad/s]",
    "wz [rad/s]",
    "mass [kg]",
    "radius [m]",
    "id",
];

/// The name of a column without its unit.
fn bare(column: &str) -> &str {
    column.split(" [").next().unwrap_or(column)
}

/// The axis that the head of a column names: `x`, `X [m]`, `ax`, `acc_x`; none of other words.
pub(in crate::io) fn axis(head: &str) -> Option<char> {
    let head = head.to_lowercase();
    let last = |word: &str| word.chars().last().filter(|c| word.len() <= 2 && "xyz".contains(*c));
    head.split(|c: char| !c.is_alphabetic()).find_map(last)
}

/// `x` with as few digits as read back to its bits.
///
/// ```
/// use drystone::io::table::format_number;
/// assert_eq!(format_number(0.1), "0.1");
/// assert_eq!(format_number(-2.5e-7), "-2.5e-7");
/// assert_eq!(format_number(12.0), "12");
/// ```
pub fn format_number(x: f64) -> String {
    digits(x, x, &mut zmij::Buffer::new()).to_owned()
}

/// `x` with the digits of `given`, which is `x`, or its nearest of 32 bits.
#[inline]
fn digits(x: f64, given: impl zmij::Float, room: &mut zmij::Buffer) -> &str {
    if x.to_bits() == 0 {
        "0"
    } else if x.is_finite() {
        let digits = room.format_finite(given);
        digits.strip_suffix(".0").unwrap_or(digits)
    } else if x.is_nan() {
        "nan"
    } else if x > 0.0 {
        "inf"
    } else {
        "-inf"
    }
}

/// Most bytes of a number with the comma before it: a sign, 17 digits, a point and an exponent.
const LONGEST: usize = 32;

/// Writes one row per body under the header [`BODY_COLUMNS`].
///
/// ```no_run
/// # use drystone::io::{snapshot::BodyView, table};
/// # fn save(bodies: &[BodyView]) -> Result<(), drystone::io::error::OutputError> {
/// table::write_bodies("results/bodies_end.csv".as_ref(), bodies)
/// # }
/// ```
pub fn write_bodies(path: &Path, bodies: &[BodyView]) -> Result<(), OutputError> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let failed = |error| table_error(path, error);
    table.write_record(BODY_COLUMNS).map_err(failed)?;
    for body in bodies {
        let (x, q, v, w) = (body.position, body.pose.rotation, body.linear - body.drift, body.angular);
        let radius = if body.shape == "ball" { body.balls.first().map_or(0.0, |ball| ball.1) } else { 0.0 };
        let numbers =
            [x.x, x.y, x.z, q.w, q.x, q.y, q.z, v.x, v.y, v.z, w.x, w.y, w.z, body.mass, radius, f64::from(body.id)].map(format_number);
        table.write_record([&body.name, &body.shape].into_iter().chain(&numbers)).map_err(failed)?;
    }
    let text = table.into_inner().map_err(|error| OutputError::data(path, error.to_string()))?;
    replace_file(path, &text)
}

/// Columns of a table of contacts: place (m), unit normal from body 2 to body 1, normal force and friction on body 1 (N), gap (m), status
/// (0 open, 1 stick, 2 slip).
pub const CONTACT_COLUMNS: [&str; 14] = [
    "body1",
    "body2",
    "x [m]",
    "y [m]",
    "z [m]",
    "normal_x",
    "normal_y",
    "normal_z",
    "normal_force [N]",
    "friction_x [N]",
    "friction_y [N]",
    "friction_z [N]",
    "gap [m]",
    "status",
];

/// Writes one row per contact point of the last step under the header [`CONTACT_COLUMNS`]: places and gaps at the start of the step, forces on
/// body 1, to which the normal points.
///
/// ```no_run
/// # use drystone::io::{snapshot::Snapshot, table};
/// # fn save(now: &Snapshot) -> Result<(), drystone::io::error::OutputError> {
/// table::write_contacts("results/contacts_end.csv".as_ref(), now)
/// # }
/// ```
pub fn write_contacts(path: &Path, snapshot: &Snapshot) -> Result<(), OutputError> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let failed = |error| table_error(path, error);
    table.write_record(CONTACT_COLUMNS).map_err(failed)?;
    let names: BTreeMap<u32, &str> = snapshot.bodies.iter().map(|b| (b.id, b.name.as_str())).collect();
    let per_step = snapshot.per_step();
    for c in snapshot.contacts {
        let (x, n, f) = (c.middle(), c.normal, c.friction_impulse * per_step);
        let numbers = [x.x, x.y, x.z, n.x, n.y, n.z, c.normal_impulse * per_step, f.x, f.y, f.z, c.gap, f64::from(c.status.code())];
        let name = |id: u32| names.get(&id).copied().unwrap_or_default();
        let numbers = numbers.map(format_number);
        table.write_record([name(c.body1), name(c.body2)].into_iter().chain(numbers.iter().map(String::as_str))).map_err(failed)?;
    }
    let text = table.into_inner().map_err(|error| OutputError::data(path, error.to_string()))?;
    replace_file(path, &text)
}

/// One row of a table of bodies.
///
/// ```
/// let row = drystone::io::table::BodyRow { name: "ball".into(), shape: "ball".into(), numbers: [0.0; 16] };
/// assert_eq!(row.numbers.len() + 2, drystone::io::table::BODY_COLUMNS.len());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BodyRow {
    /// Name of the body.
    pub name: String,
    /// Kind of its shape.
    pub shape: String,
    /// The other columns in the order of [`BODY_COLUMNS`].
    pub numbers: [f64; 16],
}

/// Reads a table of bodies back, to the bit.
pub fn read_bodies(path: &Path) -> Result<Vec<BodyRow>, OutputError> {
    let mut table = csv::Reader::from_path(path).map_err(|error| table_error(path, error))?;
    let header = table.headers().map_err(|error| table_error(path, error))?;
    if !header.iter().map(bare).eq(BODY_COLUMNS.map(bare)) {
        return Err(content(path, 1, header.iter().collect::<Vec<_>>().join(","), BODY_COLUMNS.join(",")));
    }
    let mut rows = Vec::new();
    for record in table.records() {
        let record = record.map_err(|error| table_error(path, error))?;
        let mut numbers = [0.0; 16];
        for (number, (column, field)) in numbers.iter_mut().zip(BODY_COLUMNS.iter().zip(&record).skip(2)) {
            *number = parse(path, &record, column, field)?;
        }
        rows.push(BodyRow { name: record[0].to_owned(), shape: record[1].to_owned(), numbers });
    }
    Ok(rows)
}

/// Bytes of rows that are written at once.
const BUFFER: usize = 1 << 16;

/// A table that grows by a row of numbers per step; every row is in the file when [`StepTable::row`] returns.
///
/// ```
/// use drystone::io::table::{StepTable, read_table};
/// # let dir = tempfile::tempdir().unwrap();
/// let path = dir.path().join("steps.csv");
/// let mut steps = StepTable::create(&path, &["time [s]", "contacts"])?;
/// steps.row(&[0.005, 12.0])?;
/// assert_eq!(read_table(&path)?.column("time"), Some(vec![0.005]));
/// # Ok::<(), drystone::io::error::OutputError>(())
/// ```
#[derive(Debug)]
pub struct StepTable {
    path: PathBuf,
    columns: usize,
    table: csv::Writer<File>,
    /// Room for rows.
    text: Vec<u8>,
    /// Room for the numbers of one row, [`LONGEST`] for each.
    numbers: Vec<u8>,
}

impl StepTable {
    /// Starts an empty table; an existing file is overwritten.
    pub fn create(path: &Path, header: &[&str]) -> Result<Self, OutputError> {
        let file = File::create(path).map_err(OutputError::file(path, "created"))?;
        let (table, text, numbers) = (csv::Writer::from_writer(file), Vec::new(), Vec::new());
        let mut steps = Self { path: path.to_owned(), columns: header.len(), table, text, numbers };
        steps.record(header)?;
        Ok(steps)
    }

    /// Continues a table after an interruption: rows whose first column exceeds `last` are dropped, the others kept.
    ///
    /// The header in the file has to be `header`; a missing file is started.
    pub fn resume(path: &Path, header: &[&str], last: f64) -> Result<Self, OutputError> {
        if !path.exists() {
            return Self::create(path, header);
        }
        let old = read_table(path)?;
        // a table without units, as those of before had none, goes on with them
        if !old.header.iter().map(|h| bare(h)).eq(header.iter().map(|h| bare(h))) {
            return Err(content(path, 1, old.header.join(","), header.join(",")));
        }
        let text = std::fs::read_to_string(path).map_err(OutputError::file(path, "read"))?;
        let mut steps = Self::create(path, header)?;
        for (line, _) in text.lines().skip(1).zip(&old.rows).filter(|(_, row)| row[0] <= last) {
            steps.text.extend_from_slice(line.as_bytes());
            steps.end_row()?;
        }
        steps.write()?;
        Ok(steps)
    }

    /// Appends one row; the number of values is that of the header.
    pub fn row(&mut self, values: &[f64]) -> Result<(), OutputError> {
        self.rows([values])
    }

    /// Appends several rows at once.
    pub fn rows(&mut self, rows: impl IntoIterator<Item = impl AsRef<[f64]>>) -> Result<(), OutputError> {
        self.text.clear();
        for row in rows {
            let values = row.as_ref();
            self.counted(values.len())?;
            for (k, &x) in values.iter().enumerate() {
                if k > 0 {
                    self.text.push(b',');
                }
                self.text.extend_from_slice(digits(x, x, &mut zmij::Buffer::new()).as_bytes());
            }
            self.end_row()?;
        }
        self.write()
    }

    /// Appends the rows of one instant, of which what stands behind the time is known: `heads`, texts of `known` columns each with commas between.
    ///
    /// A row with the bits of the one before, as those of empty cells are, has its text. Of single precision are all but the time.
    pub fn rows_of<const N: usize>(
        &mut self,
        (time, precision): (f64, Precision),
        heads: &[String],
        known: usize,
        rows: impl IntoIterator<Item = [f64; N]>,
    ) -> Result<(), OutputError> {
        self.counted(1 + known + N)?;
        let time = format_number(time);
        self.text.clear();
        self.numbers.resize(N * LONGEST, 0);
        // the numbers of the row that stands in the room, and how long it is there
        let (mut last, mut length) = ([0.0f64; N], 0);
        for (head, row) in heads.iter().zip(rows) {
            let same = length > 0 && row.iter().zip(&last).all(|(x, last)| x.to_bits() == last.to_bits());
            if !same {
                (last, length) = (row, 0);
                for &x in &row {
                    let mut room = zmij::Buffer::new();
                    let digits = match precision {
                        Precision::Single => digits(f64::from(x as f32), x as f32, &mut room),
                        Precision::Double => digits(x, x, &mut room),
                    };
                    self.numbers[length] = b',';
                    self.numbers[length + 1..][..digits.len()].copy_from_slice(digits.as_bytes());
                    length += 1 + digits.len();
                }
            }
            for part in [time.as_bytes(), b",", head.as_bytes(), &self.numbers[..length]] {
                self.text.extend_from_slice(part);
            }
            self.end_row()?;
        }
        self.write()
    }

    fn counted(&self, values: usize) -> Result<(), OutputError> {
        let wrong = || OutputError::data(&self.path, format!("a row of {values} values for {} columns", self.columns));
        if values == self.columns { Ok(()) } else { Err(wrong()) }
    }

    fn end_row(&mut self) -> Result<(), OutputError> {
        self.text.push(b'\n');
        if self.text.len() > BUFFER { self.write() } else { Ok(()) }
    }

    /// Past the writer of texts, which holds nothing between calls: numbers need no quotes.
    fn write(&mut self) -> Result<(), OutputError> {
        self.table.get_ref().write_all(&self.text).map_err(OutputError::file(&self.path, "written"))?;
        self.text.clear();
        Ok(())
    }

    fn record<T: AsRef<[u8]>>(&mut self, fields: &[T]) -> Result<(), OutputError> {
        self.table.write_record(fields).map_err(|error| table_error(&self.path, error))?;
        self.flush()
    }

    fn flush(&mut self) -> Result<(), OutputError> {
        self.table.flush().map_err(OutputError::file(&self.path, "written"))
    }
}

/// A table that grows by rows of a time, names and numbers: what joints carry, stresses of blocks.
///
/// ```
/// use drystone::io::table::NamedTable;
/// # let dir = tempfile::tempdir().unwrap();
/// let path = dir.path().join("loads.csv");
/// let mut loads = NamedTable::create(&path, &["time [s]", "body", "force [N]"])?;
/// loads.rows(0.5, [(vec!["key stone"], vec![120.0])])?;
/// assert!(std::fs::read_to_string(&path).unwrap_or_default().ends_with("0.5,key stone,120\n"));
/// # Ok::<(), drystone::io::error::OutputError>(())
/// ```
#[derive(Debug)]
pub struct NamedTable(StepTable);

impl NamedTable {
    /// Starts an empty table; an existing file is overwritten. The first column is the time.
    pub fn create(path: &Path, header: &[&str]) -> Result<Self, OutputError> {
        StepTable::create(path, header).map(Self)
    }

    /// Continues a table after an interruption: rows later than `last` are dropped, the others kept.
    pub fn resume(path: &Path, header: &[&str], last: f64) -> Result<Self, OutputError> {
        if !path.exists() {
            return Self::create(path, header);
        }
        let mut reader = csv::Reader::from_path(path).map_err(|error| table_error(path, error))?;
        let found = reader.headers().map_err(|error| table_error(path, error))?;
        if found != header {
            return Err(content(path, 1, found.iter().collect::<Vec<_>>().join(","), header.join(",")));
        }
        let mut kept = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| table_error(path, error))?;
            if parse(path, &record, header[0], &record[0])? <= last {
                kept.push(record);
            }
        }
        let mut table = Self::create(path, header)?;
        for record in &kept {
            table.0.table.write_record(record).map_err(|error| table_error(path, error))?;
        }
        table.0.flush()?;
        Ok(table)
    }

    /// Appends the rows of one instant, each of names and numbers.
    pub fn rows<'a>(&mut self, time: f64, rows: impl IntoIterator<Item = (Vec<&'a str>, Vec<f64>)>) -> Result<(), OutputError> {
        let time = format_number(time);
        for (names, values) in rows {
            let numbers: Vec<String> = values.iter().map(|&x| if x.is_nan() { String::new() } else { format_number(x) }).collect();
            let fields = std::iter::once(time.as_str()).chain(names).chain(numbers.iter().map(String::as_str));
            self.0.table.write_record(fields).map_err(|error| table_error(&self.0.path, error))?;
        }
        self.0.flush()
    }
}

/// A table of numbers as read from a file.
///
/// ```
/// let table = drystone::io::table::Table { header: vec!["time".into()], rows: vec![vec![0.5], vec![1.0]] };
/// assert_eq!(table.column("time"), Some(vec![0.5, 1.0]));
/// assert_eq!(table.column("weight"), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Names of the columns.
    pub header: Vec<String>,
    /// One value per column in each row.
    pub rows: Vec<Vec<f64>>,
}

impl Table {
    /// The values of the column of that name, with or without its unit.
    pub fn column(&self, name: &str) -> Option<Vec<f64>> {
        let k = self.header.iter().position(|column| column == name || bare(column) == name)?;
        Some(self.rows.iter().map(|row| row[k]).collect())
    }
}

/// A table as text: its header, and its rows.
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("t.csv");
/// # std::fs::write(&path, "body,x\n\"a, b\",1\n").unwrap();
/// let (header, rows) = drystone::io::table::read_text(&path)?;
/// assert_eq!((header[1].as_str(), rows[0][0].as_str()), ("x", "a, b"));
/// # Ok::<(), drystone::io::error::OutputError>(())
/// ```
pub fn read_text(path: &Path) -> Result<(Vec<String>, Vec<Vec<String>>), OutputError> {
    let failed = |error| table_error(path, error);
    let mut reader = csv::Reader::from_path(path).map_err(failed)?;
    let owned = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect::<Vec<_>>();
    let header = owned(reader.headers().map_err(failed)?);
    let rows = reader.records().map(|record| record.map(|r| owned(&r)).map_err(failed)).collect::<Result<_, _>>()?;
    Ok((header, rows))
}

/// Reads a table whose fields below the header are all numbers.
pub fn read_table(path: &Path) -> Result<Table, OutputError> {
    let mut reader = csv::Reader::from_path(path).map_err(|error| table_error(path, error))?;
    let header: Vec<String> = reader.headers().map_err(|error| table_error(path, error))?.iter().map(str::to_owned).collect();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| table_error(path, error))?;
        let row: Result<Vec<f64>, _> = header.iter().zip(&record).map(|(column, field)| parse(path, &record, column, field)).collect();
        rows.push(row?);
    }
    Ok(Table { header, rows })
}

fn parse(path: &Path, record: &csv::StringRecord, column: &str, field: &str) -> Result<f64, OutputError> {
    let line = record.position().map_or(0, csv::Position::line);
    field.trim().parse().map_err(|_| content(path, line, format!("{field:?} in column {column}"), "a number"))
}

fn content(path: &Path, line: u64, found: impl Into<String>, expected: impl Into<String>) -> OutputError {
    OutputError::Content { path: path.to_owned(), line, found: found.into(), expected: expected.into() }
}

fn table_error(path: &Path, error: csv::Error) -> OutputError {
    let line = error.position().map_or(0, csv::Position::line);
    let text = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(source) => OutputError::File { path: path.to_owned(), action: "read or written as a table", source },
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            content(path, line, format!("{len} fields"), format!("{expected_len} as in the header"))
        }
        _ => content(path, line, text, "a table in UTF-8, one record per line"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::spatial::Pose;
    use glam::{DQuat, DVec3};
    use proptest::prelude::*;

    #[test]
    fn numbers_have_the_fewest_digits_that_tell_them() {
        for (x, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (1e16, "1e+16"),
            (123456.789, "123456.789"),
            (1e-4, "0.0001"),
            (1e-7, "1e-7"),
            (0.1 + 0.2, "0.30000000000000004"),
            (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
        ] {
            assert_eq!(format_number(x), text);
        }
    }

    proptest! {
        #[test]
        fn a_printed_number_reads_back_to_its_bits(bits: u64) {
            let x = f64::from_bits(bits);
            let back: f64 = format_number(x).parse().unwrap();
            prop_assert!(back.to_bits() == x.to_bits() || x.is_nan() && back.is_nan());
        }
    }

    #[test]
    fn tables_without_units_are_read_and_go_on_with_them() {
        let dir = tempfile::tempdir().unwrap();
        let (bodies, steps) = (dir.path().join("bodies_end.csv"), dir.path().join("steps.csv"));
        write_bodies(&bodies, &[BodyView::new(0, "a", "cuboid", Pose::default(), std::sync::Arc::default())]).unwrap();
        let (with, rows) = (std::fs::read_to_string(&bodies).unwrap(), read_bodies(&bodies).unwrap());
        let without = with.replace(" [m]", "").replace(" [m/s]", "").replace(" [rad/s]", "").replace(" [kg]", "");
        assert!(without.starts_with("name,shape,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz,mass,radius,id\n"));
        std::fs::write(&bodies, without).unwrap();
        assert_eq!(read_bodies(&bodies).unwrap(), rows);
        std::fs::write(&steps, "time,kinetic\n1,5\n2,6\n").unwrap();
        StepTable::resume(&steps, &["time [s]", "kinetic [J]"], 1.5).unwrap().row(&[2.0, 7.0]).unwrap();
        assert_eq!(std::fs::read_to_string(&steps).unwrap(), "time [s],kinetic [J]\n1,5\n2,7\n");
        assert!(StepTable::resume(&steps, &["time [s]", "potential [J]"], 1.5).is_err());
    }

    #[test]
    fn bodies_survive_the_file_to_the_bit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bodies.csv");
        let pose = Pose::new(DVec3::new(1.0 / 3.0, -2e-9, 7e5), DQuat::from_rotation_y(0.1));
        let mut body = BodyView::new(8, "stone \"a\", left", "cuboid", pose, std::sync::Arc::default());
        body.mass = 0.7;
        body.linear = DVec3::new(-0.0, 0.1, 0.2);
        body.angular = DVec3::new(1e-300, 3.0, -7.7);
        write_bodies(&path, &[body.clone()]).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(
            "name,shape,x [m],y [m],z [m],qw,qx,qy,qz,vx [m/s],vy [m/s],vz [m/s],wx [rad/s],wy [rad/s],wz [rad/s],mass [kg],radius [m],id\n\"stone \"\"a\"\", left\",cuboid,0.3333333333333333,"
        ));
        let rows = read_bodies(&path).unwrap();
        assert_eq!((rows.len(), rows[0].name.as_str()), (1, "stone \"a\", left"));
        let q = pose.rotation;
        let expected = [1.0 / 3.0, -2e-9, 7e5, q.w, q.x, q.y, q.z, -0.0, 0.1, 0.2, 1e-300, 3.0, -7.7, 0.7, 0.0, 8.0];
        assert_eq!(rows[0].numbers.map(f64::to_bits), expected.map(f64::to_bits));
    }

    #[test]
    fn a_resumed_table_equals_an_uninterrupted_one() {
        let dir = tempfile::tempdir().unwrap();
        let (whole, cut) = (dir.path().join("whole.csv"), dir.path().join("cut.csv"));
        let header = ["time", "e_s"];
        let rows = [[0.1, 1e-9], [0.2, f64::NAN], [0.3, 3e-9]];
        let mut table = StepTable::create(&whole, &header).unwrap();
        rows.iter().for_each(|row| table.row(row).unwrap());
        let mut table = StepTable::create(&cut, &header).unwrap();
        table.row(&rows[0]).unwrap();
        table.row(&[0.2, 77.0]).unwrap();
        let mut table = StepTable::resume(&cut, &header, 0.1).unwrap();
        table.rows_of((rows[1][0], Precision::Double), &["nan".to_owned()], 1, [[0.0; 0]]).unwrap();
        table.row(&rows[2]).unwrap();
        assert_eq!(std::fs::read(&whole).unwrap(), std::fs::read(&cut).unwrap());
        assert!(
            table
                .rows_of((0.4, Precision::Single), &["1".to_owned()], 1, [[2.0]])
                .unwrap_err()
                .to_string()
                .ends_with("a row of 3 values for 2 columns")
        );
        assert!(table.row(&[1.0]).unwrap_err().to_string().ends_with("a row of 1 values for 2 columns"));
        let error = StepTable::resume(&cut, &["time"], 0.0).unwrap_err().to_string();
        assert!(error.ends_with("line 1: found time,e_s, expected time"), "{error}");
    }

    #[test]
    fn numbers_of_single_precision_read_back_to_their_32_bits_and_stay_as_they_are_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("single.csv");
        let header = ["time", "x", "a", "b", "c", "d", "e"];
        let row = [0.1, -1e14 / 3.0, 1e-60, 1e60, f64::NAN];
        let mut table = StepTable::create(&path, &header).unwrap();
        [0.1, 0.2].iter().for_each(|&t| table.rows_of((t, Precision::Single), &["7".to_owned()], 1, [row]).unwrap());
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("\n0.1,7,0.1,-") && text.contains(",0,inf,nan\n"), "{text}");
        assert_eq!(read_table(&path).unwrap().rows[0][3] as f32, row[1] as f32);
        let first = text.lines().take(2).collect::<Vec<_>>().join("\n") + "\n";
        StepTable::resume(&path, &header, 0.1).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), first);
    }

    #[test]
    fn a_table_with_names_goes_on_where_it_was_cut() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("named.csv");
        let header = ["time [s]", "body", "force [N]"];
        let mut table = NamedTable::create(&path, &header).unwrap();
        let rows = || [(vec!["a, b"], vec![1.5]), (vec!["c"], vec![f64::NAN])];
        (1..4).for_each(|k| table.rows(f64::from(k), rows()).unwrap());
        let whole = std::fs::read(&path).unwrap();
        let mut table = NamedTable::resume(&path, &header, 2.0).unwrap();
        table.rows(3.0, rows()).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), whole);
        assert!(String::from_utf8(whole).unwrap().ends_with("3,\"a, b\",1.5\n3,c,\n"));
        assert!(NamedTable::resume(&path, &["time [s]"], 0.0).is_err());
    }

    #[test]
    fn a_spoilt_table_is_refused_by_file_and_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.csv");
        for (text, message) in [
            ("time,e\n1,2\n2,soft\n", "line 3: found \"soft\" in column e, expected a number"),
            ("time,e\n1\n", "line 2: found 1 fields, expected 2 as in the header"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = read_table(&path).unwrap_err().to_string();
            assert!(error.contains("t.csv") && error.ends_with(message), "{error}");
        }
        let error = write_bodies(&dir.path().join("none/t.csv"), &[]).unwrap_err().to_string();
        assert!(error.contains("none") && error.contains("cannot be written"), "{error}");
    }
}
