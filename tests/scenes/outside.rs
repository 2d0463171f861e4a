//! Runs the program itself and reads the tables that it writes, as a script outside the project would.

use drystone::io::table::read_bodies;
use glam::DVec3;
use serde_json::Value;
use std::process::Command;

/// What the tables of a run say of a moving body.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) x: DVec3,
    pub(crate) v: DVec3,
}

/// A finished run: its line of JSON, and the moving bodies at start and end.
pub(crate) struct Run {
    json: Value,
    pub(crate) start: Vec<Row>,
    pub(crate) end: Vec<Row>,
}

impl Run {
    /// Runs `drystone run` on one thread; `moving` is how the names of the moving bodies begin.
    pub(crate) fn of(moving: &str, arguments: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_drystone"));
        command.arg("run").args(arguments).args(["--threads", "1", "--json", "--out"]).arg(directory.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        let table = |name: &str| {
            let rows = read_bodies(&directory.path().join(name)).unwrap();
            let vector = |n: &[f64]| DVec3::new(n[0], n[1], n[2]);
            let row = |r: drystone::io::table::BodyRow| Row { name: r.name, x: vector(&r.numbers), v: vector(&r.numbers[7..]) };
            rows.into_iter().filter(|r| r.name.starts_with(moving) && r.shape != "half-space").map(row).collect()
        };
        let (start, end) = (table("bodies_start.csv"), table("bodies_end.csv"));
        Self { json: serde_json::from_slice(&output.stdout).unwrap(), start, end }
    }

    /// A number of the line of JSON.
    pub(crate) fn number(&self, name: &str) -> f64 {
        self.json[name].as_f64().unwrap_or_else(|| panic!("{name} is {}", self.json[name]))
    }

    /// How many steps this method ended.
    pub(crate) fn ended_by(&self, method: &str) -> f64 {
        self.json["ended_by"][method].as_f64().unwrap_or(0.0)
    }

    /// Defect of the balance of energy.
    pub(crate) fn balance_error(&self) -> f64 {
        self.json["energy"]["balance_error"].as_f64().unwrap()
    }

    /// Longest way of a body from its start (m).
    pub(crate) fn drift(&self) -> f64 {
        assert!(!self.start.is_empty() && self.start.len() == self.end.len());
        let ways = self.start.iter().zip(&self.end).map(|(a, b)| {
            assert_eq!(a.name, b.name);
            a.x.distance(b.x)
        });
        let drift = ways.fold(0.0, f64::max);
        assert!((drift - self.number("displacement_max_m")).abs() <= 1e-15 + 1e-9 * drift, "the summary tells another drift");
        drift
    }

    /// Asserts that every step met its tolerance, and none a larger residual than this.
    pub(crate) fn certified(&self, residual_max: f64) {
        assert_eq!(self.number("unconverged_steps"), 0.0);
        assert!(self.number("residual_max") <= residual_max, "residual {}", self.number("residual_max"));
    }

    /// Asserts that the ground carries this weight (N).
    pub(crate) fn carries(&self, weight: f64) {
        assert!((self.number("support_force_N") / weight - 1.0).abs() < 1e-4, "{} N of {weight} N", self.number("support_force_N"));
    }
}
