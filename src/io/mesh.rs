//! Triangle meshes from STL, OBJ and PLY files.
//!
//! Equal vertices are merged, polygons are cut into fans. Units are those of the file; the scene scales them.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;

use glam::DVec3;
use ply_rs_bw::parser::Parser;
use ply_rs_bw::ply::{Property, PropertyAccess, PropertyAccessResult};

/// Largest file that is read (bytes).
const MAX_BYTES: u64 = 512 << 20;

/// Vertices and triangles, counter-clockwise from outside.
///
/// ```
/// let obj = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
/// let mesh = drystone::io::mesh::parse("corner.obj", obj)?;
/// assert_eq!(mesh.triangles, [[0, 1, 2]]);
/// # Ok::<(), drystone::io::mesh::MeshError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeshData {
    /// Vertices.
    pub vertices: Vec<DVec3>,
    /// Indices into `vertices`.
    pub triangles: Vec<[u32; 3]>,
}

/// Why a mesh file gives no mesh.
///
/// ```
/// let e = drystone::io::mesh::parse("rock.step", b"").unwrap_err();
/// assert!(e.to_string().contains("rock.step: found the file ending `step`"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {message}; {cure}")]
pub struct MeshError {
    /// Name of the file.
    pub file: String,
    /// What was found.
    pub message: String,
    /// What would do.
    pub cure: String,
}

pub(super) fn error(file: &str, message: impl Into<String>, cure: &str) -> MeshError {
    MeshError { file: file.to_owned(), message: message.into(), cure: cure.to_owned() }
}

/// Reads the mesh in the file `path`; its ending decides the format.
///
/// ```
/// let e = drystone::io::mesh::load("no/such/file.stl".as_ref()).unwrap_err();
/// assert!(e.to_string().starts_with("no/such/file.stl: "));
/// ```
pub fn load(path: &Path) -> Result<MeshData, MeshError> {
    parse(&path.display().to_string(), &bytes(path)?)
}

/// What the file holds, if it is not too large.
pub(super) fn bytes(path: &Path) -> Result<Vec<u8>, MeshError> {
    let name = path.display().to_string();
    let unreadable =
        |e: std::io::Error| error(&name, format!("the mesh file cannot be read: {e}"), "check the path; it counts from the scene file");
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    if size > MAX_BYTES {
        let message = format!("found {size} bytes, more than the {MAX_BYTES} that are read");
        return Err(error(&name, message, "simplify the mesh"));
    }
    std::fs::read(path).map_err(unreadable)
}

/// The mesh in `bytes`; the ending of `name` decides the format.
///
/// ```
/// let stl = b"solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n";
/// assert_eq!(drystone::io::mesh::parse("a.stl", stl)?.vertices.len(), 3);
/// # Ok::<(), drystone::io::mesh::MeshError>(())
/// ```
pub fn parse(name: &str, bytes: &[u8]) -> Result<MeshData, MeshError> {
    Ok(weld(&soup(name, bytes)?))
}

/// The mesh with the vertices that the file lists.
pub(super) fn soup(name: &str, bytes: &[u8]) -> Result<MeshData, MeshError> {
    let ending = Path::new(name).extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
    let soup = match ending.as_str() {
        "stl" => parse_stl(name, bytes)?,
        "obj" => {
            let mut all = MeshData::default();
            obj_groups(name, bytes)?.into_iter().for_each(|(_, group)| append(&mut all, &group));
            all
        }
        "ply" => parse_ply(name, bytes)?,
        other => return Err(error(name, format!("found the file ending `{other}`"), "use a mesh in a .stl, .obj or .ply file")),
    };
    examine(name, &soup)?;
    Ok(soup)
}

/// A mesh has triangles, finite vertices, and no other ones in its triangles.
fn examine(name: &str, soup: &MeshData) -> Result<(), MeshError> {
    if soup.triangles.is_empty() {
        return Err(error(name, "found no triangle", "export the mesh again with its faces"));
    }
    if let Some(i) = soup.vertices.iter().position(|v| !v.is_finite()) {
        return Err(error(
            name,
            format!("found a coordinate of vertex {i} that is not finite"),
            "export the mesh again with finite coordinates",
        ));
    }
    let count = soup.vertices.len();
    if let Some(i) = soup.triangles.iter().position(|t| t.iter().any(|&v| v as usize >= count)) {
        return Err(error(name, format!("found a vertex number in triangle {i} beyond the {count} vertices"), "export the mesh again"));
    }
    Ok(())
}

fn append(all: &mut MeshData, more: &MeshData) {
    let base = all.vertices.len() as u32;
    all.vertices.extend(&more.vertices);
    all.triangles.extend(more.triangles.iter().map(|t| t.map(|i| i + base)));
}

/// Merges vertices with equal coordinates and drops triangles that lose a corner by it.
pub(super) fn weld(soup: &MeshData) -> MeshData {
    let mut seen: BTreeMap<[u64; 3], u32> = BTreeMap::new();
    let mut out = MeshData::default();
    let mut index = Vec::with_capacity(soup.vertices.len());
    for &v in &soup.vertices {
        // adding zero makes −0 and 0 one number
        let key = (v + DVec3::ZERO).to_array().map(f64::to_bits);
        let next = out.vertices.len() as u32;
        let i = *seen.entry(key).or_insert(next);
        if i == next {
            out.vertices.push(v + DVec3::ZERO);
        }
        index.push(i);
    }
    let welded = soup.triangles.iter().map(|t| t.map(|v| index[v as usize]));
    out.triangles = welded.filter(|[a, b, c]| a != b && b != c && c != a).collect();
    out
}

fn parse_stl(name: &str, bytes: &[u8]) -> Result<MeshData, MeshError> {
    let broken = |e: String| error(name, format!("the STL data are broken: {e}"), "export the mesh again as STL, binary or text");
    // binary files may begin with "solid" too: the length that their triangle count demands tells them apart
    let count = bytes.get(80..84).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
    let binary = count.is_some_and(|n| 84 + 50 * u64::from(n) == bytes.len() as u64);
    let unmarked = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let solid = unmarked.trim_ascii_start().get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid"));
    let read = if solid && !binary && !bytes.contains(&0) {
        one_solid(&String::from_utf8_lossy(unmarked)).map_err(broken)?.into_bytes()
    } else {
        let text = unmarked.iter().all(|&b| b.is_ascii_graphic() || b.is_ascii_whitespace());
        let Some(count) = count.filter(|_| !text) else {
            return Err(broken(format!("{} bytes, neither the word `solid` nor a header and a number of triangles", bytes.len())));
        };
        let room = (bytes.len() - 84) / 50;
        if room != count as usize {
            return Err(broken(format!("the header promises {count} triangles, the file has room for {room}")));
        }
        // the name does not matter, but "solid" would stand for a text
        let mut renamed = bytes.to_vec();
        renamed[0] = b'S';
        renamed
    };
    let mesh = stl_io::read_stl(&mut Cursor::new(read)).map_err(|e| broken(e.to_string()))?;
    let vertices = mesh.vertices.iter().map(|v| DVec3::from_array(v.0.map(f64::from))).collect();
    let triangles = mesh.faces.iter().map(|f| f.vertices.map(|i| i as u32)).collect();
    Ok(MeshData { vertices, triangles })
}

/// The solids of a text, one after the other, as a single one: the reader stops at the end of the first. Words may be in capitals, lines end
/// in any way.
fn one_solid(text: &str) -> Result<String, String> {
    let mut one = "solid one\n".to_owned();
    let mut open = false;
    for (line, words) in (1..).zip(text.replace("\r\n", "\n").split(['\n', '\r'])) {
        let words = words.trim().to_ascii_lowercase();
        let first = words.split_ascii_whitespace().next().unwrap_or_default();
        match first {
            "" => {}
            "solid" | "endsolid" if open == (first == "endsolid") => open = !open,
            _ if open && first != "solid" => {
                one += &words;
                one.push('\n');
            }
            _ => return Err(format!("found `{first}` in line {line} {} a solid", if open { "within" } else { "outside of" })),
        }
    }
    if open {
        return Err("the last solid has no `endsolid`".into());
    }
    Ok(one + "endsolid one\n")
}

fn first_word(line: &[u8]) -> &[u8] {
    line.trim_ascii_start().split(u8::is_ascii_whitespace).next().unwrap_or_default()
}

/// The last group of an OBJ file, if vertices are all that it has: nothing after them takes them.
fn unfinished(bytes: &[u8]) -> Option<String> {
    let (mut last, mut vertices) = (None, false);
    for line in bytes.split(|&b| b == b'\n' || b == b'\r').map(<[u8]>::trim_ascii) {
        match first_word(line) {
            b"o" | b"g" => (last, vertices) = (Some(&line[1..]), false),
            b"v" => vertices = true,
            b"f" | b"l" | b"p" | b"curv" | b"surf" => last = None,
            _ => {}
        }
    }
    last.filter(|_| vertices).map(|group| String::from_utf8_lossy(group).trim().to_owned())
}

/// The mesh of each group or object, by name in the order of the file; lines and points are left out.
pub(super) fn obj_groups(name: &str, bytes: &[u8]) -> Result<Vec<(String, MeshData)>, MeshError> {
    if let Some(group) = unfinished(bytes) {
        let message = format!("the OBJ data end within the group `{group}`, which has vertices and no face");
        return Err(error(name, message, "the rest of the file is missing: export the mesh again as OBJ"));
    }
    let options = tobj::LoadOptions { triangulate: true, single_index: true, ignore_lines: true, ignore_points: true };
    // a line of three points would be a triangle
    let kept = |line: &&[u8]| !matches!(first_word(line), b"l" | b"p");
    let faces = bytes.split_inclusive(|&b| b == b'\n').filter(kept).collect::<Vec<_>>().concat();
    // materials are not needed: whatever file the mesh names, it gets an empty one
    let (models, _) = tobj::load_obj_buf(&mut Cursor::new(faces), &options, |_| tobj::load_mtl_buf(&mut Cursor::new(b"")))
        .map_err(|e| error(name, format!("the OBJ data are broken: {e}"), "export the mesh again as OBJ"))?;
    let mut groups: Vec<(String, MeshData)> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for model in models {
        let group = MeshData {
            vertices: model.mesh.positions.chunks_exact(3).map(DVec3::from_slice).collect(),
            triangles: model.mesh.indices.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect(),
        };
        if group.triangles.is_empty() {
            continue;
        }
        examine(name, &group)?;
        // a change of material begins a new model of the same group
        match known.get(&model.name) {
            Some(&at) => append(&mut groups[at].1, &group),
            None => {
                known.insert(model.name.clone(), groups.len());
                groups.push((model.name, group));
            }
        }
    }
    Ok(groups)
}

/// A row of a PLY file: position of a vertex, corners of a face, or something to skip.
#[derive(Default)]
struct PlyRow {
    position: DVec3,
    corners: Option<Vec<u32>>,
}

impl PropertyAccess for PlyRow {
    fn new() -> Self {
        Self::default()
    }

    fn set_property(&mut self, key: &str, property: Property) -> PropertyAccessResult {
        let coordinate = match key {
            "x" => &mut self.position.x,
            "y" => &mut self.position.y,
            "z" => &mut self.position.z,
            "vertex_indices" | "vertex_index" => {
                self.corners = property.to_u32_list();
                return PropertyAccessResult::Set;
            }
            _ => return PropertyAccessResult::Ignored,
        };
        *coordinate = match property {
            Property::Float(x) => f64::from(x),
            Property::Double(x) => x,
            Property::Int(i) => f64::from(i),
            Property::Short(i) => f64::from(i),
            _ => return PropertyAccessResult::UnsupportedType,
        };
        PropertyAccessResult::Set
    }
}

fn parse_ply(name: &str, bytes: &[u8]) -> Result<MeshData, MeshError> {
    let broken = |e: String| error(name, format!("the PLY data are broken: {e}"), "export the mesh again as PLY, binary or text");
    let parser = Parser::<PlyRow>::new();
    let header = parser.read_ply_header(&mut Cursor::new(bytes)).map_err(|e| broken(e.to_string()))?;
    // a row takes at least one byte: a header that promises more rows than that would only cost time
    let hollow = header.elements.values().find(|e| e.count > bytes.len() || e.properties.is_empty());
    if let Some(element) = hollow {
        return Err(broken(format!(
            "the header promises {} rows of `{}`, the file has {} bytes",
            element.count,
            element.name,
            bytes.len()
        )));
    }
    let ply = parser.read_ply(&mut Cursor::new(bytes)).map_err(|e| broken(e.to_string()))?;
    let rows = |key: &str| ply.payload.get(key).map_or(&[][..], Vec::as_slice);
    let vertices = rows("vertex").iter().map(|row| row.position).collect();
    let mut triangles = Vec::new();
    for (i, row) in rows("face").iter().enumerate() {
        let corners = row.corners.as_ref().ok_or_else(|| broken(format!("face {i} has no list vertex_indices of whole numbers")))?;
        triangles.extend(corners.windows(2).skip(1).map(|w| [corners[0], w[0], w[1]]));
    }
    Ok(MeshData { vertices, triangles })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLY: &str = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0 9\n1 0 0 9\n1 1 0 9\n0 1 0 9\n4 0 1 2 3\n";

    #[test]
    fn polygons_become_fans_in_ply_and_obj() {
        let square = parse("a.ply", PLY.as_bytes()).expect("valid");
        assert_eq!(square.triangles, [[0, 1, 2], [0, 2, 3]]);
        let obj = parse("a.obj", b"mtllib none.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n").expect("valid");
        assert_eq!(obj, square);
    }

    #[test]
    fn binary_stl_that_begins_with_solid_is_binary() {
        let mut stl = b"solid but binary".to_vec();
        stl.resize(80, b' ');
        stl.extend(2u32.to_le_bytes());
        for triangle in [[[0f32, 0., 0.], [1., 0., 0.], [0., 1., 0.]], [[1., 0., 0.], [1., 1., 0.], [-0.0, 1., 0.]]] {
            stl.extend([0u8; 12]);
            stl.extend(triangle.iter().flatten().flat_map(|x| x.to_le_bytes()));
            stl.extend([0u8; 2]);
        }
        let mesh = parse("a.STL", &stl).expect("valid");
        assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (4, 2), "-0 and 0 are one coordinate");
    }

    #[test]
    fn all_solids_of_a_text_are_read_however_it_is_written() {
        let facet = |x: f64| {
            let corners = [[x, 0.0, 0.0], [x + 1.0, 0.0, 0.0], [x, 1.5e-3, 0.0]].map(|[x, y, z]| format!("vertex {x:e} {y:e} {z:e}\n"));
            format!("facet normal 0 0 1\nouter loop\n{}endloop\nendfacet\n", corners.concat())
        };
        let floor = format!("solid the floor\n{}{}endsolid the floor\n", facet(0.0), facet(1.0));
        let walls = format!("solid walls\n{}endsolid\n", facet(2.0));
        let both = format!("{floor}{walls}");
        let expected = parse("a.stl", both.as_bytes()).expect("valid");
        assert_eq!((expected.triangles.len(), expected.vertices[0]), (3, DVec3::ZERO));
        let others = [
            both.to_uppercase(),
            both.replace('\n', "\r\n"),
            both.replace('\n', "\r"),
            format!("\u{feff}{both}"),
            format!("\n\n{floor}\n{walls}\n"),
            both.replace("solid the floor\n", "solid\n"),
        ];
        for text in others {
            assert_eq!(parse("a.stl", text.as_bytes()), Ok(expected.clone()), "{text:?}");
        }
        let told = |text: &str, words: &str| {
            let e = parse("a.stl", text.as_bytes()).unwrap_err().to_string();
            assert!(e.contains(words), "{e}");
        };
        told(&both[..both.len() - 10], "the last solid has no `endsolid`");
        told(&both.replace("endsolid the floor\n", ""), "found `solid` in line 16 within a solid");
        told(&both.replace("solid walls\n", ""), "found `facet` in line 17 outside of a solid");
        told("hello", "neither the word `solid`");
        told(&"no mesh at all\n".repeat(9), "135 bytes, neither the word `solid`");
    }

    #[test]
    fn a_binary_stl_of_another_number_of_triangles_is_an_error() {
        for (count, words) in
            [(1u32, "promises 1 triangles, the file has room for 2"), (3, "promises 3 triangles, the file has room for 2")]
        {
            let mut stl = vec![b'x'; 80];
            stl.extend(count.to_le_bytes());
            stl.extend([0u8; 100]);
            let e = parse("a.stl", &stl).unwrap_err().to_string();
            assert!(e.contains(words), "{e}");
        }
    }

    #[test]
    fn an_obj_that_ends_before_the_faces_of_its_last_group_is_an_error() {
        let whole = "o one\nv 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\no two\nv 0 0 1\nv 1 0 1\nv 1 1 1\nf 4 5 6\ng none\n";
        assert_eq!(parse("a.obj", whole.as_bytes()).expect("valid").triangles.len(), 2);
        for end in ["f 4 5 6", "v 1 1 1", "0 1\nv 1 1"] {
            let e = parse("a.obj", &whole.as_bytes()[..whole.find(end).unwrap()]).unwrap_err().to_string();
            assert!(e.contains("end within the group `two`"), "{e}");
        }
        // vertices may come after the faces that take them, and lines take some
        for text in ["o one\nf 1 2 3\nv 0 0 0\nv 1 0 0\nv 1 1 0\n", &whole.replace("f 4 5 6", "l 4 5 6")] {
            assert_eq!(parse("a.obj", text.as_bytes()).expect("valid").triangles.len(), 1, "{text}");
        }
    }

    #[test]
    fn broken_files_are_errors() {
        let huge = PLY.replace("vertex 4", "vertex 4000000000");
        let hollow = "ply\nformat binary_little_endian 1.0\nelement vertex 99999999999\nend_header\n";
        let outside = PLY.replace("0 1 2 3", "0 1 2 9");
        let nan = PLY.replace("1 1 0 9", "1 nan 0 9");
        let cases: [(&str, &[u8]); 13] = [
            ("a.ply", b""),
            ("a.stl", b""),
            ("a.obj", b""),
            ("a.ply", b"\xff\xfe\x00garbage"),
            ("a.stl", b"\xff\xfe\x00garbage"),
            ("a.obj", b"\xff\xfe\x00garbage"),
            ("a.obj", b"v 0 0 0\nf 1 2 3\n"),
            ("a.obj", b"v 0 0 0\nf -9 -99999999999999999999 -3\n"),
            ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 nan 0\nf 1 2 3\n"),
            ("a.ply", huge.as_bytes()),
            ("a.ply", hollow.as_bytes()),
            ("a.ply", outside.as_bytes()),
            ("a.ply", nan.as_bytes()),
        ];
        for (name, bytes) in cases {
            let e = parse(name, bytes).expect_err(&String::from_utf8_lossy(bytes));
            assert_eq!(e.file, name);
        }
    }

    #[test]
    fn the_terrain_asset_is_what_its_generator_writes() {
        let asset = parse("terrain.obj", include_bytes!("../../assets/meshes/terrain.obj")).expect("valid");
        let (vertices, triangles) = crate::granular::terrain::hills(2.4, 24);
        assert_eq!(asset.triangles.len(), triangles.len());
        // six decimals in the file; the reader numbers the vertices as the triangles need them
        for (a, b) in asset.triangles.iter().flatten().zip(triangles.iter().flatten()) {
            assert!(asset.vertices[*a as usize].distance(vertices[*b as usize]) < 1e-6);
        }
    }

    #[test]
    #[ignore = "rewrites assets/meshes/terrain.obj"]
    fn write_the_terrain_asset() {
        let (vertices, triangles) = crate::granular::terrain::hills(2.4, 24);
        let mut text = "# hilly ground, written by `cargo test write_the_terrain_asset -- --ignored`\n".to_owned();
        for v in vertices {
            text += &format!("v {:.6} {:.6} {:.6}\n", v.x, v.y, v.z);
        }
        for t in triangles {
            text += &format!("f {} {} {}\n", t[0] + 1, t[1] + 1, t[2] + 1);
        }
        std::fs::write("assets/meshes/terrain.obj", text).expect("assets/meshes is writable");
    }
}
