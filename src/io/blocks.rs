//! Models of many blocks: one mesh for each.
//!
//! ```text
//! .obj            each `o` or `g` is a block; closed surfaces that share no vertex are its parts
//! .stl .ply       each part that hangs together is a block
//! folder          each mesh in it is a block, called as its file
//! .json           COMPAS assembly: each node's mesh is a block; `is_support` makes it static
//! .csv .txt       rows `block, x, y, z`: each block is the hull of its points
//! ```
//!
//! A block whose faces are all turned inwards is turned over; volume `V = Σ a·(b × c)/6` tells.

use std::collections::BTreeMap;
use std::path::Path;

use glam::DVec3;
use serde_json::{Map, Value};

use super::mesh::{self, MeshData, MeshError, error};
use super::table::axis;
use crate::geometry::Shape;
use crate::numerics::inner::DisjointSets;

/// A block of a model.
///
/// ```
/// let table = b"block,x,y,z\na,0,0,0\na,1,0,0\na,0,1,0\na,0,0,1\nb,0,0,2\nb,1,0,2\nb,0,1,2\nb,0,0,3\n";
/// let blocks = drystone::io::blocks::parse("two.csv", table)?;
/// assert_eq!((blocks.len(), blocks[1].name.as_str(), blocks[1].mesh.vertices.len()), (2, "b", 4));
/// # Ok::<(), drystone::io::mesh::MeshError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockMesh {
    /// What the file calls it.
    pub name: String,
    /// Its surface; no triangles where it is the hull of its vertices.
    pub mesh: MeshData,
    /// Convex surfaces that its surface consists of and that look outwards each; empty where it is one.
    pub parts: Vec<MeshData>,
    /// Whether the file says that it is a support.
    pub support: bool,
    /// Whether its faces looked inwards in the file.
    pub turned: bool,
}

impl BlockMesh {
    fn new(name: impl Into<String>, mesh: MeshData) -> Self {
        Self { name: name.into(), mesh, parts: Vec::new(), support: false, turned: false }
    }
}

/// Reads the blocks in a file or a folder; the ending decides the format.
///
/// ```
/// let e = drystone::io::blocks::load("no/such/wall.obj".as_ref()).unwrap_err();
/// assert!(e.to_string().starts_with("no/such/wall.obj: "));
/// ```
pub fn load(path: &Path) -> Result<Vec<BlockMesh>, MeshError> {
    if !path.is_dir() {
        return parse(&path.display().to_string(), &mesh::bytes(path)?);
    }
    let name = path.display().to_string();
    let unreadable = |e: std::io::Error| error(&name, format!("the folder cannot be read: {e}"), "check its rights");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        let ending = file.extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
        if ["stl", "obj", "ply"].contains(&ending.as_str()) {
            files.push(file);
        }
    }
    files.sort();
    let block = |file: &std::path::PathBuf| {
        let name = file.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
        let (mesh, turned) = oriented(&file.display().to_string(), &name, mesh::load(file)?)?;
        Ok(BlockMesh { turned, ..BlockMesh::new(name, mesh) })
    };
    let blocks = files.iter().map(block).collect::<Result<Vec<_>, MeshError>>()?;
    if blocks.is_empty() {
        Err(error(&name, "found no .stl, .obj or .ply file in the folder", "put one mesh for each block there"))
    } else {
        Ok(blocks)
    }
}

/// The blocks in `bytes`; the ending of `name` decides the format. Surfaces are closed, and look outwards.
pub fn parse(name: &str, bytes: &[u8]) -> Result<Vec<BlockMesh>, MeshError> {
    let ending = Path::new(name).extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
    let mut blocks = match ending.as_str() {
        "obj" => mesh::obj_groups(name, bytes)?.into_iter().map(|(group, mesh)| BlockMesh::new(group, mesh)).collect(),
        "stl" | "ply" => {
            // vertices of a file may be those of a part, or of a face: then corners that coincide say what hangs together
            let soup = mesh::soup(name, bytes)?;
            let apart = parts(&soup);
            let closed = apart.iter().all(|part| oriented(name, &part.name, part.mesh.clone()).is_ok());
            if closed { apart } else { parts(&mesh::weld(&soup)) }
        }
        "json" => compas(name, bytes)?,
        "csv" | "txt" => return table(name, bytes),
        other => {
            return Err(error(
                name,
                format!("found the file ending `{other}`"),
                "use .obj with groups, .stl, .ply, a COMPAS assembly .json, a table .csv, or a folder of meshes",
            ));
        }
    };
    if blocks.is_empty() {
        return Err(error(name, "found no block", "export the model again with its faces"));
    }
    for block in &mut blocks {
        block.parts = shells(name, block);
        if !block.parts.is_empty() {
            continue;
        }
        (block.mesh, block.turned) = oriented(name, &block.name, std::mem::take(&mut block.mesh))?;
    }
    Ok(blocks)
}

/// The surfaces of a block that has several, if each of them is closed, convex and looks outwards: parts that touch would not be closed as one surface.
fn shells(file: &str, block: &BlockMesh) -> Vec<MeshData> {
    let apart = parts(&block.mesh);
    if apart.len() < 2 {
        return Vec::new();
    }
    let outwards = |part: BlockMesh| {
        oriented(file, &block.name, part.mesh).ok().filter(|(mesh, turned)| !turned && is_convex(mesh)).map(|(mesh, _)| mesh)
    };
    apart.into_iter().map(outwards).collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// The surface with its faces outwards, and whether they looked inwards; an error where it is open, or its faces do not agree.
fn oriented(file: &str, block: &str, mesh: MeshData) -> Result<(MeshData, bool), MeshError> {
    let mesh = mesh::weld(&mesh);
    let mut edges: BTreeMap<[u32; 2], [usize; 2]> = BTreeMap::new();
    for t in &mesh.triangles {
        for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
            let seen = edges.entry([a.min(b), a.max(b)]).or_default();
            seen[usize::from(a > b)] += 1;
        }
    }
    let place = |edge: &[u32; 2]| {
        let [a, b] = edge.map(|i| mesh.vertices.get(i as usize).copied().unwrap_or_default());
        format!("the edge from {a} to {b}")
    };
    if let Some((edge, seen)) = edges.iter().find(|(_, seen)| seen[0] + seen[1] != 2) {
        let count = seen[0] + seen[1];
        let message = format!("the block `{block}` is not closed: {} belongs to {count} triangles instead of 2", place(edge));
        return Err(error(file, message, "close its surface, and give each block a group of its own"));
    }
    if let Some((edge, _)) = edges.iter().find(|(_, seen)| seen[0] != 1) {
        let message = format!("the faces of the block `{block}` do not agree which side is outside, at {}", place(edge));
        return Err(error(file, message, "unify its normals and export it again"));
    }
    let turned = volume(&mesh) < 0.0;
    let mut mesh = mesh;
    if turned {
        mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    }
    Ok((mesh, turned))
}

/// Difference between the volume of a block and that of its hull (parts of the latter) up to which it counts as convex. STL files round to 1e-7.
const CONVEX: f64 = 1e-6;
/// Part of its area that rounding leaves of a closed surface.
const OPEN: f64 = 1e-6;

/// Whether a closed surface has the volume of its hull.
fn is_convex(mesh: &MeshData) -> bool {
    let hull = Shape::hull(&mesh.vertices).ok().and_then(|hull| hull.mass_properties(1.0).ok());
    hull.is_some_and(|hull| is_hull(volume(mesh), hull.mass))
}

/// Whether a volume is that of the hull.
pub(in crate::io) fn is_hull(volume: f64, hull: f64) -> bool {
    (volume - hull).abs() <= CONVEX * hull
}

/// Signed volume, from the first vertex; positive where faces look outwards.
///
/// ```
/// let mesh = drystone::io::mesh::MeshData {
///     vertices: vec![glam::DVec3::ZERO, glam::DVec3::X, glam::DVec3::Y, glam::DVec3::Z],
///     triangles: vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]],
/// };
/// assert_eq!(drystone::io::blocks::volume(&mesh), 1.0 / 6.0);
/// ```
pub fn volume(mesh: &MeshData) -> f64 {
    let origin = mesh.vertices.first().copied().unwrap_or_default();
    let corner = |i: u32| mesh.vertices.get(i as usize).copied().unwrap_or_default() - origin;
    mesh.triangles.iter().map(|t| corner(t[0]).dot(corner(t[1]).cross(corner(t[2]))) / 6.0).sum()
}

/// Whether the triangles leave a gap, or do not look all to one side: the areas of a closed surface add up to nothing, as vectors.
///
/// ```
/// # let mut mesh = drystone::io::mesh::MeshData {
/// #     vertices: vec![glam::DVec3::ZERO, glam::DVec3::X, glam::DVec3::Y, glam::DVec3::Z],
/// #     triangles: vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]],
/// # };
/// assert!(!drystone::io::blocks::is_open(&mesh)); // a tetrahedron
/// mesh.triangles.pop();
/// assert!(drystone::io::blocks::is_open(&mesh));
/// ```
pub fn is_open(mesh: &MeshData) -> bool {
    let corner = |i: u32| mesh.vertices.get(i as usize).copied().unwrap_or_default();
    let areas = mesh.triangles.iter().map(|t| (corner(t[1]) - corner(t[0])).cross(corner(t[2]) - corner(t[0])));
    let (sum, whole) = areas.fold((DVec3::ZERO, 0.0), |(sum, whole), area| (sum + area, whole + area.length()));
    sum.length() > OPEN * whole
}

/// Parts that share no vertex, in the order of their first triangle.
fn parts(mesh: &MeshData) -> Vec<BlockMesh> {
    let mut whole = DisjointSets::new(mesh.vertices.len());
    mesh.triangles.iter().for_each(|t| t[1..].iter().for_each(|&other| whole.join(t[0], other)));
    let mut number: BTreeMap<u32, usize> = BTreeMap::new();
    let mut parts: Vec<Vec<[u32; 3]>> = Vec::new();
    for t in &mesh.triangles {
        let key = whole.root(t[0]);
        let next = parts.len();
        let i = *number.entry(key).or_insert(next);
        if i == next {
            parts.push(Vec::new());
        }
        parts[i].push(*t);
    }
    parts.into_iter().enumerate().map(|(i, part)| BlockMesh::new(i.to_string(), used(&mesh.vertices, &part))).collect()
}

/// Triangles with the vertices that they have, and no others.
fn used(vertices: &[DVec3], triangles: &[[u32; 3]]) -> MeshData {
    let mut number: BTreeMap<u32, u32> = BTreeMap::new();
    let mut out = MeshData::default();
    for t in triangles {
        out.triangles.push(t.map(|i| {
            *number.entry(i).or_insert_with(|| {
                out.vertices.push(vertices.get(i as usize).copied().unwrap_or_default());
                out.vertices.len() as u32 - 1
            })
        }));
    }
    out
}

/// Whether a first row without numbers can be the heads of `block, x, y, z`: names of other axes in these places say that the columns stand elsewhere.
fn heads(columns: &[&str]) -> bool {
    let numbers = columns.iter().any(|head| head.parse::<f64>().is_ok());
    let elsewhere = columns.iter().zip("xyz".chars()).any(|(head, own)| axis(head).is_some_and(|found| found != own));
    !numbers && !elsewhere
}

/// Rows `block, x, y, z` between commas, semicolons, tabs or blanks, below one of heads or none.
fn table(file: &str, bytes: &[u8]) -> Result<Vec<BlockMesh>, MeshError> {
    const ROWS: &str = "rows are `block, x, y, z`: the corners of convex blocks";
    let text = String::from_utf8_lossy(bytes);
    let mut blocks: Vec<BlockMesh> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut first = true;
    for (i, raw) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = raw.split('#').next().unwrap_or_default().trim();
        let fields: Vec<&str> = line.split([',', ';', '\t', ' ']).map(str::trim).filter(|x| !x.is_empty()).collect();
        let numbers: Option<Vec<f64>> = fields.iter().skip(1).map(|x| x.parse().ok().filter(|x: &f64| x.is_finite())).collect();
        match (fields.as_slice(), numbers.as_deref()) {
            ([], _) => {}
            ([name, _, _, _], Some([x, y, z])) => {
                let next = blocks.len();
                let at = *known.entry((*name).to_owned()).or_insert(next);
                if at == next {
                    blocks.push(BlockMesh::new(*name, MeshData::default()));
                }
                blocks[at].mesh.vertices.push(DVec3::new(*x, *y, *z));
            }
            ([_, columns @ ..], None) if first && columns.len() == 3 && heads(columns) => {}
            _ => return Err(error(file, format!("line {}: found `{}`", i + 1, line.chars().take(60).collect::<String>()), ROWS)),
        }
        first &= fields.is_empty();
    }
    match blocks.iter().find(|b| b.mesh.vertices.len() < 4) {
        Some(b) => Err(error(file, format!("the block `{}` has {} corners, at least 4 are needed", b.name, b.mesh.vertices.len()), ROWS)),
        None if blocks.is_empty() => Err(error(file, "found no rows", ROWS)),
        None => Ok(blocks),
    }
}

/// Every mesh with `vertex` and `face` in a COMPAS file, called by the node that holds it, in the order of their numbers.
fn compas(file: &str, bytes: &[u8]) -> Result<Vec<BlockMesh>, MeshError> {
    let broken = |what: String| error(file, what, "export the assembly again by compas.json_dump");
    let root: Value = serde_json::from_slice(bytes).map_err(|e| broken(format!("the JSON is broken: {e}")))?;
    let mut found: Vec<(Vec<String>, BlockMesh)> = Vec::new();
    gather(&root, &mut Vec::new(), false, &mut found).map_err(broken)?;
    // older files list blocks beside the graph of the assembly, whose nodes say what is a support
    let nodes = root.pointer("/assembly/vertex").or_else(|| root.pointer("/data/assembly/vertex"));
    let mut blocks: Vec<BlockMesh> = Vec::new();
    for (path, mut block) in found {
        let key = path.iter().rev().find(|k| k.parse::<u64>().is_ok()).cloned();
        block.name = key.unwrap_or_else(|| blocks.len().to_string());
        block.support |= nodes.and_then(|n| n.get(&block.name)).is_some_and(is_support);
        blocks.push(block);
    }
    blocks.sort_by_key(|b| b.name.parse::<u64>().unwrap_or(u64::MAX));
    Ok(blocks)
}

fn is_support(node: &Value) -> bool {
    node.get("is_support").and_then(Value::as_bool).unwrap_or(false)
}

fn gather(value: &Value, path: &mut Vec<String>, support: bool, found: &mut Vec<(Vec<String>, BlockMesh)>) -> Result<(), String> {
    let support = support || is_support(value);
    match value {
        Value::Object(map) => {
            if let (Some(Value::Object(vertices)), Some(Value::Object(faces))) = (map.get("vertex"), map.get("face")) {
                let mesh = polygons(vertices, faces).map_err(|e| format!("{}: {e}", path.join(".")))?;
                found.push((path.clone(), BlockMesh { support, ..BlockMesh::new("", mesh) }));
                return Ok(());
            }
            for (key, inner) in map {
                path.push(key.clone());
                gather(inner, path, support, found)?;
                path.pop();
            }
        }
        Value::Array(list) => {
            for (i, inner) in list.iter().enumerate().filter(|(_, x)| x.is_object()) {
                path.push(i.to_string());
                gather(inner, path, support, found)?;
                path.pop();
            }
        }
        _ => {}
    }
    Ok(())
}

/// A mesh of polygons, cut into fans.
fn polygons(vertices: &Map<String, Value>, faces: &Map<String, Value>) -> Result<MeshData, String> {
    let mut mesh = MeshData::default();
    let mut number: BTreeMap<&str, u32> = BTreeMap::new();
    for (key, vertex) in vertices {
        let x = |name: &str| match vertex.get(name) {
            None => Ok(0.0),
            Some(value) => value.as_f64().ok_or_else(|| format!("found {name} = {value} of vertex {key}, a number is needed")),
        };
        number.insert(key, mesh.vertices.len() as u32);
        mesh.vertices.push(DVec3::new(x("x")?, x("y")?, x("z")?));
    }
    for (key, face) in faces {
        let corners: Option<Vec<u32>> = face.as_array().and_then(|list| {
            let corner = |c: &Value| {
                let name = c.as_str().map_or_else(|| c.to_string(), str::to_owned);
                number.get(name.as_str()).copied()
            };
            list.iter().map(corner).collect()
        });
        let corners =
            corners.filter(|c| c.len() >= 3).ok_or_else(|| format!("found the face {key} = {face}, a list of vertices is needed"))?;
        mesh.triangles.extend(corners.windows(2).skip(1).map(|w| [corners[0], w[0], w[1]]));
    }
    Ok(mesh)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TETRAHEDRON: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";

    #[test]
    fn groups_parts_and_nodes_are_blocks_that_look_outwards() {
        let outwards = "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
        let inwards = "f 5 6 7\nf 5 8 6\nf 6 8 7\nf 7 8 5\n";
        let obj = format!("o one\n{TETRAHEDRON}{outwards}o two\n{}{inwards}", TETRAHEDRON.replace("v 0 0 0", "v 9 9 9"));
        let blocks = parse("a.obj", obj.as_bytes()).expect("two blocks");
        assert_eq!(blocks.iter().map(|b| b.name.as_str()).collect::<Vec<_>>(), ["one", "two"]);
        assert!(blocks.iter().all(|b| volume(&b.mesh) > 0.0), "the second is turned over");
        let vertices = r#"{"0":{"x":0,"y":0,"z":0},"1":{"x":1,"y":0},"2":{"y":1},"3":{"z":1}}"#;
        let node = |support: &str| {
            format!(
                "{{{support}\"block\":{{\"data\":{{\"vertex\":{vertices},\"face\":{{\"0\":[0,2,1],\"1\":[0,1,3],\"2\":[1,2,3],\"3\":[2,0,3]}}}}}}}}"
            )
        };
        let json = format!("{{\"data\":{{\"node\":{{\"10\":{},\"2\":{}}}}}}}", node(""), node("\"is_support\":true,"));
        let blocks = parse("a.json", json.as_bytes()).expect("two blocks");
        assert_eq!(blocks.iter().map(|b| (b.name.as_str(), b.support)).collect::<Vec<_>>(), [("2", true), ("10", false)]);
    }

    #[test]
    fn what_is_no_block_is_an_error_that_names_it() {
        let open = format!("o roof\n{TETRAHEDRON}f 1 3 2\nf 1 2 4\nf 2 3 4\n");
        let mixed = format!("o roof\n{TETRAHEDRON}f 1 3 2\nf 1 2 4\nf 2 4 3\nf 3 1 4\n");
        let cases: [(&str, &[u8], &str); 13] = [
            ("a.obj", open.as_bytes(), "block `roof` is not closed"),
            ("a.obj", mixed.as_bytes(), "`roof` do not agree which side is outside"),
            ("a.obj", b"", "found no block"),
            ("a.step", b"", "found the file ending `step`"),
            ("a.csv", b"a,0,0,0\na,1,0\n", "line 2: found `a,1,0`"),
            ("a.csv", b"a,0,0,0\na,1,0,0\n", "`a` has 2 corners"),
            ("a.csv", b"", "found no rows"),
            // corners that are left out, and axes that change places, make other blocks
            ("a.csv", b"block,x,y,z\na,0,0,O\na,1,0,0\na,0,1,0\na,0,0,1\na,1,1,1\n", "line 2: found `a,0,0,O`"),
            ("a.csv", b"a,0,0,nan\na,1,0,0\na,0,1,0\na,0,0,1\na,1,1,1\n", "line 1: found `a,0,0,nan`"),
            ("a.csv", b"block,Z,y,x\na,0,0,0\na,1,0,0\na,0,1,0\na,0,0,1\n", "line 1: found `block,Z,y,x`"),
            ("a.csv", b"x,y,z,block\n0,0,0,a\n1,0,0,a\n", "line 1: found `x,y,z,block`"),
            ("a.json", b"{", "the JSON is broken"),
            ("a.json", b"{\"node\":{\"3\":{\"vertex\":{},\"face\":{\"0\":[1,2,3]}}}}", "node.3: found the face 0"),
        ];
        for (name, bytes, wanted) in cases {
            let said = parse(name, bytes).expect_err(wanted).to_string();
            assert!(said.contains(wanted), "{said}");
        }
        for heads in ["", "block,x,y,z\n", "# corners\n\nBlock;X;Y[m];z_m\n", "stone,east,north,up\n", "name xi yaw zone\n"] {
            let text = format!("{heads}a,0,0,0\na,1,0,0\na,0,1,0\na,0,0,1\n");
            assert_eq!(parse("a.csv", text.as_bytes()).map(|b| b[0].mesh.vertices.len()).ok(), Some(4), "{heads}");
        }
    }
}
