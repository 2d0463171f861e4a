//! The borders between rooms: which room of `src` may name which other, and which crates a room may name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What a room may use of the crate (rooms, or `room::file` where one file is all it may see) and which guarded crates.
struct Room {
    name: &'static str,
    rooms: &'static [&'static str],
    crates: &'static [&'static str],
}

/// Crates that only the listed rooms may name.
const GUARDED: &[&str] =
    &["bevy_ecs", "parry3d", "rayon", "sprs", "clap", "indicatif", "ctrlc", "csv", "toml", "flate2", "plotters", "hdf5_pure", "clarabel"];

#[rustfmt::skip]
const ROOMS: &[Room] = &[
    // ground floor: no entity, no shape, no file
    Room { name: "algebra", rooms: &[], crates: &["rayon", "sprs"] },
    Room { name: "numerics", rooms: &["algebra"], crates: &["rayon", "sprs", "clarabel"] },
    // first floor: what exists
    Room { name: "model", rooms: &["algebra", "numerics::admissible"], crates: &["bevy_ecs"] },
    Room { name: "geometry", rooms: &["algebra", "model", "topology::bodies"], crates: &["bevy_ecs", "parry3d", "rayon"] },
    // second floor: one time step
    Room { name: "topology", rooms: &["algebra", "model", "numerics::cells", "numerics::mixed"], crates: &["bevy_ecs", "rayon"] },
    Room { name: "integrator", rooms: &["algebra", "model", "numerics::mixed", "numerics::acceleration", "topology::bodies"], crates: &["bevy_ecs", "rayon"] },
    Room { name: "assembly", rooms: &["algebra", "model", "numerics", "topology", "integrator", "cluster"], crates: &["bevy_ecs", "rayon", "sprs"] },
    Room { name: "cluster", rooms: &["algebra", "numerics", "model"], crates: &["bevy_ecs"] },
    Room {
        name: "simulation",
        rooms: &["algebra", "numerics", "model", "geometry", "topology", "integrator", "assembly", "cluster"],
        crates: &["bevy_ecs"],
    },
    // rooms for trades: plain lists of bodies in their own words
    Room { name: "masonry", rooms: &["algebra", "model", "simulation"], crates: &[] },
    Room { name: "electronics", rooms: &["algebra", "numerics::admissible", "model", "cluster", "simulation"], crates: &["bevy_ecs"] },
    Room { name: "control", rooms: &["algebra", "numerics", "model", "simulation"], crates: &["bevy_ecs"] },
    Room { name: "granular", rooms: &["algebra", "model", "simulation"], crates: &[] },
    // windows and doors
    Room {
        name: "diagnostics",
        rooms: &["algebra", "numerics", "model", "geometry", "topology", "assembly", "simulation", "io::scene", "io::elevation", "setup"],
        crates: &["bevy_ecs"],
    },
    Room {
        name: "io",
        rooms: &["algebra", "numerics", "model", "geometry", "topology", "simulation", "masonry", "granular"],
        crates: &["bevy_ecs", "rayon", "csv", "toml", "flate2", "plotters", "hdf5_pure", "sprs"],
    },
    Room { name: "setup", rooms: &["algebra", "model", "geometry", "simulation", "io::scene", "masonry"], crates: &["bevy_ecs"] },
    Room { name: "scenes", rooms: &["simulation", "diagnostics", "io", "setup"], crates: &[] },
    Room {
        name: "cli",
        rooms: &["algebra", "numerics", "model", "geometry", "topology", "simulation", "diagnostics", "io", "scenes", "assembly"],
        crates: &["clap", "indicatif", "ctrlc", "bevy_ecs", "rayon"],
    },
];

/// Words that the ground floor must not hold: files, printing, clocks, chance.
const NOT_IN_NUMERICS: &[&str] =
    &["std::fs", "std::io", "std::env", "Instant", "SystemTime", "println!", "print!", "HashMap", "HashSet", "rand::"];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Packages of their own within `src`: between them the compiler guards the border, within them the table above.
const PACKAGES: &[&str] = &["solvers/", "dynamics/"];

/// Every Rust file below `folder`, with its path from the source of its package, in order.
fn files(folder: &Path, found: &mut Vec<(String, String)>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).expect("src is there").map(|e| e.expect("readable").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let name = path.strip_prefix(source()).expect("below src").to_string_lossy().replace('\\', "/");
            let name = PACKAGES.iter().find_map(|p| name.strip_prefix(p)).unwrap_or(&name).to_owned();
            found.push((name, std::fs::read_to_string(&path).expect("readable")));
        }
    }
}

/// The code of a file: no comments, no items that only tests see, and `super::` as the path that it means.
fn code(file: &str, text: &str) -> String {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let whole = lines.collect::<Vec<_>>().join("\n");
    let (mut kept, mut rest) = (String::new(), whole.as_str());
    while let Some(at) = rest.find("#[cfg(test)]") {
        kept.push_str(&rest[..at]);
        rest = after_item(&rest[at..]);
    }
    kept.push_str(rest);
    let depth = file.trim_end_matches(".rs").trim_end_matches("/mod").split('/').count();
    let mut resolved = kept;
    // as many as lead out of all modules lead to the crate; fewer stay in the room
    while let Some(at) = resolved.find(&"super::".repeat(depth)) {
        resolved.replace_range(at..at + "super::".len() * depth, "crate::");
    }
    resolved
}

/// What follows the first item: from its `;`, or from the brace that ends it.
fn after_item(text: &str) -> &str {
    let mut depth = 0;
    for (i, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 && (c == ';' || c == '}') {
            return &text[i + 1..];
        }
    }
    ""
}

/// Paths that start with `prefix`, up to two segments; a group in braces counts as its members.
fn paths_after(code: &str, prefix: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let word = |s: &str| s.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    for (at, _) in code.match_indices(prefix) {
        let whole = code[..at].chars().next_back().is_none_or(|c| !(c.is_alphanumeric() || c == '_' || c == ':'));
        if !whole {
            continue;
        }
        let rest = &code[at + prefix.len()..];
        let heads: Vec<&str> = match rest.strip_prefix('{') {
            None => vec![rest],
            Some(group) => {
                let (mut depth, mut starts) = (0, vec![0]);
                for (i, c) in group.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => starts.push(i + 1),
                        _ => {}
                    }
                }
                starts.into_iter().map(|i| group[i..].trim_start()).collect()
            }
        };
        for head in heads {
            let first = word(head);
            if first.is_empty() {
                continue;
            }
            let second = head[first.len()..].strip_prefix("::").map(word).unwrap_or_default();
            found.insert(if second.is_empty() { first } else { format!("{first}::{second}") });
        }
    }
    found
}

fn allowed(list: &[&str], path: &str) -> bool {
    let room = path.split("::").next().unwrap_or_default();
    list.iter().any(|&entry| entry == room || entry == path)
}

/// Edges that the table forbids.
fn violations(all: &[(String, String)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (file, text) in all {
        let room = file.split('/').next().unwrap_or_default().trim_end_matches(".rs");
        // the prelude lists what all rooms offer
        if matches!(room, "lib" | "main" | "prelude") || file.ends_with("tests.rs") {
            continue;
        }
        let Some(rules) = ROOMS.iter().find(|r| r.name == room) else {
            wrong.push(format!("{file}: room {room} is not in the table of tests/dependencies.rs"));
            continue;
        };
        let code = code(file, text);
        for path in paths_after(&code, "crate::") {
            if !path.starts_with(room) && !allowed(rules.rooms, &path) {
                wrong.push(format!("{file} uses crate::{path}, which {room} may not"));
            }
        }
        for name in GUARDED {
            let named = !paths_after(&code, &format!("{name}::")).is_empty();
            if named && !rules.crates.contains(name) {
                wrong.push(format!("{file} names {name}, which {room} may not"));
            }
        }
        // the time limit of a solve is the one clock
        if matches!(room, "algebra" | "numerics") && file != "numerics/solvers/clock.rs" {
            wrong.extend(NOT_IN_NUMERICS.iter().filter(|w| code.contains(**w)).map(|w| format!("{file} holds {w}, which {room} may not")));
        }
        let rows = || paths_after(&code, "crate::").iter().any(|p| p.starts_with("topology")) || code.contains("bevy_ecs::");
        if room == "geometry" && !file.ends_with("systems.rs") && rows() {
            wrong.push(format!("{file}: only the files of systems know rows and entities"));
        }
        let printing = ["println!", "print!(", "std::process::exit"].iter().any(|w| code.contains(w));
        if printing && room != "cli" {
            wrong.push(format!("{file} prints or exits, which only the command line may"));
        }
    }
    wrong
}

#[test]
fn no_room_reaches_over_its_border() {
    let mut all = Vec::new();
    files(&source(), &mut all);
    assert!(all.len() > 20, "found {} files", all.len());
    let wrong = violations(&all);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_forbidden_edge_is_seen() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    for (name, text) in [
        ("algebra/dense.rs", "use crate::numerics::Report;"),
        ("numerics/sweep.rs", "use crate::{algebra::dense, model::law::Law};"),
        ("numerics/sweep.rs", "use bevy_ecs::prelude::*;"),
        ("numerics/sweep.rs", "fn f() { std::fs::read(\"x\"); }"),
        ("model/law.rs", "use crate::numerics::mixed::Twist;"),
        ("geometry/narrow.rs", "use crate::{topology::bodies::Bodies};"),
        ("assembly/systems.rs", "use parry3d::shape::Ball;"),
        ("simulation/run.rs", "use crate::masonry::arch;"),
        ("simulation/run.rs", "fn f() { println!(); }"),
        ("masonry/arch.rs", "use crate::granular::pour;"),
        ("simulation/run.rs", "use crate::diagnostics::summary::Meter;"),
        ("model/law.rs", "#[cfg(test)]\nuse crate::simulation::Simulation;\nuse crate::geometry::Shape;"),
        ("model/law.rs", "#[cfg(test)]\nmod tests { fn f() {} }\nuse crate::geometry::Shape;"),
        ("model/law.rs", "use super::super::geometry::Shape;"),
        ("numerics/auto/mod.rs", "use super::super::model::law::Law;"),
        ("numerics/auto/tries.rs", "use super::super::super::model::law::Law;"),
        ("io/table.rs", "use crate::diagnostics::summary::Meter;"),
        ("diagnostics/postmortem.rs", "fn f() { crate::scenes::build(scene); }"),
        ("setup.rs", "use crate::diagnostics::summary::Meter;"),
        ("setup.rs", "use crate::{io::table::Table, io::scene::Scene};"),
        ("io/scene/mod.rs", "fn f() { crate::scenes::find(name); }"),
        ("basement/x.rs", ""),
    ] {
        assert_eq!(violations(&[file(name, text)]).len(), 1, "{name}: {text}");
    }
    for (name, text) in [
        ("numerics/sweep.rs", "// use crate::model::law::Law;\nuse crate::algebra::{dense, spatial};"),
        ("model/law.rs", "use crate::numerics::admissible::AdmissibleSet;\n#[cfg(test)]\nmod tests { use crate::simulation::Simulation; }"),
        ("numerics/auto/tries.rs", "use super::super::mixed::System;"),
        ("geometry/systems.rs", "use crate::topology::bodies::Bodies;\nuse bevy_ecs::prelude::*;"),
    ] {
        assert_eq!(violations(&[file(name, text)]), Vec::<String>::new());
    }
}
