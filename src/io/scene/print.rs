//! A tree as TOML text: what a scene file says once settings have been written into it.
//!
//! Keys keep the order of the text, new ones come last; comments are not part of the tree.

use std::fmt::Write as _;

use super::document::{Node, Place, Table, Value};
use super::write::text;

/// The text that parses to this tree.
pub(super) fn print(root: &Node) -> String {
    let mut out = String::new();
    if let Value::Table(table) = &root.value {
        let _ = section(&mut out, "", table); // a String takes everything
    }
    out
}

/// A table below its header: what fits on a line first, then the tables of a section and lists of tables.
fn section(out: &mut String, path: &str, table: &Table) -> std::fmt::Result {
    let root = path.is_empty();
    let entries = in_order(table);
    let is_section = |node: &Node| tables(node).is_some() || root && matches!(node.value, Value::Table(_));
    for (name, node) in entries.iter().filter(|(_, node)| !is_section(node)) {
        writeln!(out, "{} = {}", key(name), inline(&node.value))?;
    }
    for (name, node) in entries.iter().filter(|(_, node)| is_section(node)) {
        let place = if root { key(name) } else { format!("{path}.{}", key(name)) };
        match (&node.value, tables(node)) {
            (Value::Table(inner), _) => {
                if inner.is_empty() || !inner.values().all(|(_, node)| tables(node).is_some()) {
                    writeln!(out, "\n[{place}]")?;
                }
                section(out, &place, inner)?;
            }
            (_, Some(list)) => {
                for entry in list {
                    writeln!(out, "\n[[{place}]]")?;
                    for (name, node) in in_order(entry) {
                        writeln!(out, "{} = {}", key(name), inline(&node.value))?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The tables of a list that holds nothing else.
fn tables(node: &Node) -> Option<Vec<&Table>> {
    let Value::Array(list) = &node.value else { return None };
    let tables: Option<Vec<&Table>> = list.iter().map(|n| if let Value::Table(t) = &n.value { Some(t) } else { None }).collect();
    tables.filter(|tables| !tables.is_empty())
}

/// Entries as the text has them, then those that settings have added.
fn in_order(table: &Table) -> Vec<(&str, &Node)> {
    let mut entries: Vec<(&String, &(Place, Node))> = table.iter().collect();
    entries.sort_by_key(|(_, (place, _))| match place {
        Place::Text(offset) => (0, *offset),
        Place::Setting(number) => (1, *number),
    });
    entries.into_iter().map(|(name, (_, node))| (name.as_str(), node)).collect()
}

fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.bytes().all(|c| c.is_ascii_alphanumeric() || b"_-".contains(&c));
    if bare { name.to_owned() } else { text(name) }
}

fn inline(value: &Value) -> String {
    match value {
        Value::Text(s) => text(s),
        Value::Integer(i) => i.to_string(),
        // {:?} writes every digit; "NaN" is the one form that TOML spells otherwise
        Value::Float(x) if x.is_nan() => "nan".to_owned(),
        Value::Float(x) => format!("{x:?}"),
        Value::Bool(b) => b.to_string(),
        Value::Array(list) => format!("[{}]", list.iter().map(|n| inline(&n.value)).collect::<Vec<_>>().join(", ")),
        Value::Table(table) => {
            let entries: Vec<String> = in_order(table).iter().map(|(name, n)| format!("{} = {}", key(name), inline(&n.value))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::Document;
    use super::*;

    /// The value without its places.
    fn bare(value: &Value) -> String {
        match value {
            Value::Array(list) => format!("{:?}", list.iter().map(|n| bare(&n.value)).collect::<Vec<_>>()),
            Value::Table(t) => format!("{:?}", t.iter().map(|(k, (_, n))| (k, bare(&n.value))).collect::<Vec<_>>()),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn what_is_printed_parses_to_the_same_tree() {
        let odd = "a = [1, [2.5, -inf], \"µ\\n\\\"\\\\\"]\n\"two words\" = { x = 1, y = {} }\nb = [{ x = 1 }, 2]\nc = []\n\
            [s]\nu = { v = 1e300 }\nw = true\n[[s.t]]\nx = 1\n[[s.t]]\ny = [{ z = 2 }]\n[[t]]\n[[t]]\nx = { y = [{}] }\n";
        let built_in = crate::io::scene::builtin::all().iter().map(|scene| scene.toml);
        for text in built_in.chain([odd, ""]) {
            let tree = Document::parse(text, "t").expect("valid").root;
            let again = Document::parse(&print(&tree), "t").unwrap_or_else(|e| panic!("{e}\n{}", print(&tree))).root;
            assert_eq!(bare(&again.value), bare(&tree.value), "{text}");
        }
    }

    #[test]
    fn keys_keep_their_order_and_new_ones_come_last() {
        let mut doc = Document::parse("z = 1\na = 2\n[time]\nstep = 1\n", "t").expect("valid");
        doc.set("a", "3 mm", "").expect("there");
        doc.set("solver.tolerance", "1e-3", "").expect("a section that may be left out");
        doc.set("time.end", "2", "").expect("a last key");
        assert_eq!(print(&doc.root), "z = 1\na = \"3 mm\"\n\n[time]\nstep = 1\nend = 2\n\n[solver]\ntolerance = 0.001\n");
    }
}
