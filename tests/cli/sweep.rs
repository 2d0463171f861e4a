//! `drystone sweep`.

use super::{GOOD, drystone, json_of, output, text};
use std::path::Path;

/// The rows of results.csv, the header first.
fn rows(folder: &Path) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_path(folder.join("results.csv")).unwrap();
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

fn column(rows: &[Vec<String>], name: &str) -> Vec<String> {
    let at = rows[0].iter().position(|n| n == name).unwrap_or_else(|| panic!("{name} in {:?}", rows[0]));
    rows[1..].iter().map(|row| row[at].clone()).collect()
}

#[test]
fn every_combination_is_a_row_with_the_figures_of_its_own_run() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_str().unwrap();
    let sweep = ["sweep", "bead_pour", "--set", "n=2,3", "--set", "mu=0..0.4:2", "--set", "seed=1", "--until", "0.02", "--out", dir];
    let done = json_of(&output(&[&sweep[..], &["--jobs", "2", "--json"]].concat()), 0);
    assert_eq!((done["points"].as_u64(), done["done"].as_u64(), done["failed"].as_u64()), (Some(4), Some(4), Some(0)));
    let rows = rows(folder.path());
    assert_eq!(rows[0][..4], ["n", "mu", "scene", "time"], "varied keys, then the columns of run --json in their order");
    assert_eq!(column(&rows, "n"), ["2", "2", "3", "3"]);
    assert_eq!(column(&rows, "mu"), ["0", "0.4", "0", "0.4"]);
    let alone =
        json_of(&output(&["run", "bead_pour", "--set", "n=3", "--set", "mu=0.4", "--set", "seed=1", "--until", "0.02", "--json"]), 0);
    assert_eq!(column(&rows, "state_hash")[3], alone["state_hash"].as_str().unwrap());
    assert_eq!(column(&rows, "energy.potential_J")[3], alone["energy"]["potential_J"].to_string());
}

#[test]
fn a_sweep_goes_on_where_it_was_killed_and_runs_again_what_has_changed() {
    let folder = tempfile::tempdir().unwrap();
    let (scene, dir) = (folder.path().join("scene.toml"), folder.path().join("out"));
    std::fs::write(&scene, GOOD).unwrap();
    let sweep = ["sweep", scene.to_str().unwrap(), "--set", "bodies.1.shape.radius=0.05,0.1,0.2", "--out", dir.to_str().unwrap(), "--json"];
    let run = |code| json_of(&output(&sweep), code);
    run(0);
    // as after a kill: one point has not ended; a marked one shows that it is not run again
    std::fs::remove_file(dir.join("points/0001.json")).unwrap();
    let marked = std::fs::read_to_string(dir.join("points/0002.json")).unwrap().replace("\"scene\":\"scene\"", "\"scene\":\"kept\"");
    std::fs::write(dir.join("points/0002.json"), &marked).unwrap();
    assert_eq!(run(0)["done"], 3);
    assert_eq!(column(&rows(&dir), "scene"), ["scene", "scene", "kept"]);
    // another scene under the same name is another run
    std::fs::write(&scene, GOOD.replace("end = 0.02", "end = 0.03")).unwrap();
    run(0);
    assert_eq!(column(&rows(&dir), "scene"), ["scene", "scene", "scene"]);
    // other values want another folder
    let other = output(&["sweep", scene.to_str().unwrap(), "--set", "bodies.1.shape.radius=0.3", "--out", dir.to_str().unwrap()]);
    assert_eq!(other.status.code(), Some(3));
    assert!(text(&other.stderr).contains("another sweep"), "{}", text(&other.stderr));
}

#[test]
fn failures_are_listed_and_not_fatal() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_str().unwrap();
    let found = output(&["sweep", "bead_pour", "--set", "n=2", "--set", "mu=-1,0.5", "--until", "0.02", "--out", dir, "--json"]);
    // a script that asks for all of them sees it in the exit code
    let done = json_of(&found, 5);
    assert_eq!((done["done"].as_u64(), done["failed"].as_u64()), (Some(1), Some(1)));
    assert!(text(&found.stderr).contains("point 0 (n=2 mu=-1)"), "{}", text(&found.stderr));
    let failures = column(&rows(folder.path()), "failure");
    assert!(failures[0].contains("mu") && failures[1].is_empty(), "{failures:?}");
    for (arguments, code, cure) in [
        (&["sweep", "bead_pour", "--set", "k=1,2", "--out", "no"][..], 3, "did you mean `n`"),
        (&["sweep", "bead_pour", "--set", "mu=0.1..0.5", "--out", "no"], 2, "0.1..0.5:N"),
        (&["sweep", "bead_pour", "--set", "mu=1", "--set", "mu=2", "--out", "no"], 2, "given twice"),
        (&["sweep", "--collect", "--out", "no"], 3, "no sweep.json"),
    ] {
        let wrong = output(arguments);
        assert_eq!(wrong.status.code(), Some(code), "{arguments:?}");
        assert!(text(&wrong.stderr).contains(cure), "{arguments:?}: {}", text(&wrong.stderr));
    }
    assert!(!Path::new("no").exists());
}

#[test]
fn a_job_array_gives_what_the_sweep_gives() {
    let folder = tempfile::tempdir().unwrap();
    let (here, there) = (folder.path().join("here"), folder.path().join("there's"));
    let sweep = |dir: &Path, more: &[&str]| {
        let all = ["sweep", "bouncing_ball", "--set", "restitution=0.1,0.5", "--until", "0.1", "--out", dir.to_str().unwrap(), "--json"];
        json_of(&output(&[&all[..], more].concat()), 0)
    };
    sweep(&here, &[]);
    sweep(&there, &["--emit", "slurm"]);
    let script = std::fs::read_to_string(there.join("sweep.sbatch")).unwrap();
    assert!(script.contains("#SBATCH --array=0-1\n"), "{script}");
    for task in ["0", "1"] {
        let job = std::process::Command::new("sh").arg(there.join("sweep.sbatch")).env("SLURM_ARRAY_TASK_ID", task).output().unwrap();
        assert!(job.status.success(), "{}", text(&job.stderr));
        let collected = json_of(&drystone(&["sweep", "--collect", "--json", "--out"]).arg(&there).output().unwrap(), 0);
        assert_eq!(collected["missing"], if task == "0" { 1 } else { 0 });
    }
    assert_eq!(column(&rows(&here), "state_hash"), column(&rows(&there), "state_hash"));
    sweep(&there, &["--emit", "parallel"]);
    assert_eq!(std::fs::read_to_string(there.join("sweep.jobs")).unwrap().lines().count(), 2);
}

/// The runs of a sweep that is killed are processes of their own and go on for a while, beside those of the next one.
#[test]
#[cfg(unix)]
fn what_a_killed_sweep_still_runs_spoils_no_answer() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_str().unwrap();
    let sweep = ["sweep", "bead_pour", "--set", "n=2", "--set", "mu=0.5", "--until", "0.02", "--out", dir, "--json"];
    std::fs::create_dir_all(folder.path().join("points")).unwrap();
    let mut left = std::fs::File::create(folder.path().join("points/0000.out")).unwrap();
    let mut done = drystone(&sweep).stdout(std::process::Stdio::piped()).spawn().unwrap();
    while done.try_wait().unwrap().is_none() {
        left.write_all(b"{ of the run before").unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let done = json_of(&done.wait_with_output().unwrap(), 0);
    assert_eq!(done["done"], 1, "{done}");
}

#[test]
fn a_job_that_cannot_begin_is_a_failure_of_its_point() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_str().unwrap();
    let sweep = ["sweep", "bouncing_ball", "--set", "restitution=0.5,7", "--until", "0.1", "--out", dir, "--emit", "parallel"];
    assert!(output(&sweep).status.success());
    assert_eq!(output(&["sweep", "--out", dir, "--point", "1"]).status.code(), Some(3));
    let collected = json_of(&output(&["sweep", "--collect", "--out", dir, "--json"]), 3);
    assert_eq!((collected["failed"].as_u64(), collected["missing"].as_u64()), (Some(1), Some(1)));
    assert!(column(&rows(folder.path()), "failure")[0].contains("from 0 to 1"));
}

#[test]
fn measures_and_heaps_are_columns_of_the_table_and_can_be_plotted() {
    let folder = tempfile::tempdir().unwrap();
    let (scene, dir) = (folder.path().join("scene.toml"), folder.path().join("out"));
    let made = "time = { step = 1e-3, end = 0.2 }\nsolver = { tolerance = 1e-4 }\n[[generate.lattice]]\ncount = [3, 3, 3]\nradius = 0.1\nlayer = 2.2\n\
                seed = 1\n[[measure]]\nname = \"bed\"\nevery = \"50 ms\"\nsegregation = { axis = [0, 0, 1], radius = 0.1 }\n\
                [[pile]]\nname = \"heap\"\nevery = \"50 ms\"\n";
    std::fs::write(&scene, made).unwrap();
    let (scene, out) = (scene.to_str().unwrap(), dir.to_str().unwrap());
    let sweep = ["sweep", scene, "--set", "generate.lattice.0.seed=1,2", "--outputs", "--out", out, "--json"];
    json_of(&output(&sweep), 0);
    let whole = rows(&dir);
    // what the tables of each run say at its end, column by column
    let last = |point: &str, table: &str| {
        let mut reader = csv::Reader::from_path(dir.join(format!("points/{point}/{table}.csv"))).unwrap();
        let names: Vec<String> = reader.headers().unwrap().iter().skip(1).map(|n| n.split(" [").next().unwrap().to_owned()).collect();
        let row = reader.records().last().unwrap().unwrap();
        names.into_iter().zip(row.iter().skip(1).map(|x| x.parse::<f64>().unwrap()).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    for (k, point) in ["0000", "0001"].into_iter().enumerate() {
        for (kind, table, columns) in [("measures", "bed", 29), ("piles", "heap", 4)] {
            let expected = last(point, table);
            assert_eq!(expected.len(), columns);
            for (name, value) in expected {
                let of = |head: &String| {
                    head.strip_prefix(&format!("{kind}.{table}.{name}")).is_some_and(|u| u.is_empty() || UNITS.contains(&u))
                };
                let at: Vec<usize> = (0..whole[0].len()).filter(|&c| of(&whole[0][c])).collect();
                let [at] = at[..] else { panic!("{kind}.{table}.{name}: {at:?} of {:?}", whole[0]) };
                let found = &whole[k + 1][at];
                assert!(if value.is_nan() { found.is_empty() } else { found.parse() == Ok(value) }, "{name}: {found} instead of {value}");
            }
        }
    }
    assert!(column(&whole, "piles.heap.height_m")[0].parse::<f64>().unwrap() > 0.4);
    // the same from what came back, and in a run alone
    std::fs::remove_file(dir.join("results.csv")).unwrap();
    json_of(&output(&["sweep", "--collect", "--out", out, "--json"]), 0);
    assert_eq!(rows(&dir), whole);
    let alone = json_of(&output(&["run", scene, "--set", "generate.lattice.0.seed=2", "--json"]), 0);
    assert_eq!(alone["measures"]["bed"]["solid_fraction"].to_string(), column(&whole, "measures.bed.solid_fraction")[1]);
    let picture = folder.path().join("plot.svg");
    let plot = output(&["plot", out, "measures.bed.stress_zz_Pa", "piles.heap.front_m", "--out", picture.to_str().unwrap()]);
    assert_eq!(plot.status.code(), Some(0), "{}", text(&plot.stderr));
    assert!(picture.exists());
}

/// Units as they stand at the ends of names.
const UNITS: [&str; 5] = ["_m", "_Pa", "_deg", "_per_s", "_m2_per_s2"];

#[test]
fn two_sweeps_do_not_share_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = ["sweep", "bead_pour", "--set", "n=2", "--until", "0.01", "--out", folder.path().to_str().unwrap()];
    let lock = std::fs::File::create(folder.path().join("sweep.lock")).unwrap();
    lock.lock().unwrap();
    let refused = output(&sweep);
    assert_eq!(refused.status.code(), Some(3));
    let said = text(&refused.stderr);
    assert!(said.contains("another sweep runs in this folder") && said.contains("give --out another folder"), "{said}");
    drop(lock);
    assert_eq!(output(&sweep).status.code(), Some(0));
}
