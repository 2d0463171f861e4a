//! Checkpoints: a run as one file from which it goes on as if it had never stopped.
//!
//! ```text
//! "drystone checkpoint 33\n"   hash of the rest (u64, little-endian)   postcard: scene, state, meter
//! ```

use crate::diagnostics::summary::{Meter, Record};
use crate::io::error::{OutputError, replace_file};
use crate::io::scene::Scene;
use crate::setup::{BuildError, Built, build};
use crate::simulation::SavedState;
use crate::simulation::state::Fnv;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Name and version of the format.
const HEADER: &[u8] = b"drystone checkpoint 33\n";

/// A run between two steps.
///
/// ```
/// use drystone::{diagnostics::summary::Meter, io::scene::{Scene, SceneSource}, scenes::{self, checkpoint::Checkpoint}};
/// let scene = Scene::load(&SceneSource::new("bouncing_ball"), &[])?;
/// let mut built = scenes::build(&scene)?;
/// let meter = Meter::new(&scene, &built.entities, &built.simulation);
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("run.checkpoint");
/// Checkpoint::of(&scene, &mut built, &meter).write(&path)?;
/// let (again, _) = Checkpoint::read(&path)?.resume()?;
/// assert_eq!(again.simulation.time(), 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The scene, as it was built.
    pub scene: Scene,
    /// Where the simulation stood.
    pub state: SavedState,
    /// Wall-clock and processor time that the run has taken (s), 0 unless set: what goes on from here adds to them.
    pub taken: [f64; 2],
    record: Record,
}

impl Checkpoint {
    /// The run as it stands.
    pub fn of(scene: &Scene, built: &mut Built, meter: &Meter) -> Self {
        let state = built.simulation.save(&built.entities);
        Self { scene: scene.clone(), state, taken: [0.0; 2], record: meter.record() }
    }

    /// Builds the scene again and brings it to where it stood, with the meter of the run.
    pub fn resume(&self) -> Result<(Built, Meter), BuildError> {
        let mut built = build(&self.scene)?;
        let mut meter = Meter::new(&self.scene, &built.entities, &built.simulation);
        built.simulation.restore(&self.state, &built.entities)?;
        meter.restore(self.record.clone());
        Ok((built, meter))
    }

    /// Writes the file; a crash leaves the old one or the new one, never half of it.
    pub fn write(&self, path: &Path) -> Result<(), OutputError> {
        let payload = postcard::to_stdvec(self).map_err(|e| OutputError::data(path, format!("the run cannot be saved: {e}")))?;
        let mut hash = Fnv::START;
        hash.add(&payload);
        let mut bytes = HEADER.to_vec();
        bytes.extend(hash.0.to_le_bytes());
        bytes.extend(payload);
        replace_file(path, &bytes)
    }

    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, OutputError> {
        let bytes = std::fs::read(path).map_err(OutputError::file(path, "read"))?;
        let rest = bytes.strip_prefix(HEADER).ok_or_else(|| {
            OutputError::data(path, "this is no checkpoint of this version of drystone; run the scene again with --checkpoint")
        })?;
        let damaged = || OutputError::data(path, "the checkpoint is damaged; use another one or run the scene again");
        let (stored, payload) = rest.split_at_checked(8).ok_or_else(damaged)?;
        let mut hash = Fnv::START;
        hash.add(payload);
        if stored != hash.0.to_le_bytes() {
            return Err(damaged());
        }
        postcard::from_bytes(payload).map_err(|_| damaged())
    }
}

/// A number that differs, but by chance, between scenes that differ anywhere: shapes, values, settings.
///
/// ```
/// use drystone::scenes::{checkpoint::fingerprint, load};
/// let flat = fingerprint(&load("incline", &[("mu", "0.5")])?);
/// assert_ne!(flat, fingerprint(&load("incline", &[("mu", "0.6")])?));
/// # Ok::<(), drystone::io::scene::SceneError>(())
/// ```
pub fn fingerprint(scene: &Scene) -> u64 {
    let mut hash = Fnv::START;
    // a scene is plain data, which postcard never refuses
    hash.add(&postcard::to_stdvec(scene).unwrap_or_default());
    hash.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenes::load;

    /// Steps to `end` (s).
    fn run(built: &mut Built, meter: &mut Meter, end: f64) {
        while built.simulation.time() < end - 1e-9 {
            let report = built.simulation.step().unwrap();
            meter.observe(&report, &built.simulation);
        }
    }

    fn resumed_equals_straight(scene: &Scene, stop: f64, end: f64) {
        let mut straight = build(scene).unwrap();
        let mut meter = Meter::new(scene, &straight.entities, &straight.simulation);
        run(&mut straight, &mut meter, stop);
        let checkpoint = Checkpoint::of(scene, &mut straight, &meter);
        run(&mut straight, &mut meter, end);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.checkpoint");
        checkpoint.write(&path).unwrap();
        let (mut resumed, mut second) = Checkpoint::read(&path).unwrap().resume().unwrap();
        run(&mut resumed, &mut second, end);
        assert_eq!(second.summary(&mut resumed.simulation), meter.summary(&mut straight.simulation), "{}", scene.name);
    }

    #[test]
    fn a_resumed_run_ends_as_the_straight_one() {
        resumed_equals_straight(&load("bead_pour", &[("n", "6")]).unwrap(), 0.37, 1.0);
        resumed_equals_straight(&load("arch", &[]).unwrap(), 0.37, 1.0);
        resumed_equals_straight(&load("spinning_top", &[]).unwrap(), 0.37, 1.0);
        resumed_equals_straight(&load("incline", &[]).unwrap(), 0.7, 1.5);
    }

    #[test]
    fn births_and_deaths_survive_a_stop() {
        let scene = Scene::from_toml(
            r#"
            time = { step = "2 ms", end = 1.0 }
            [[bodies]]
            name = "floor"
            shape = { kind = "half_space" }
            motion = "static"
            [[bodies]]
            name = "first"
            shape = { kind = "ball", radius = 0.1 }
            position = [0, 0, 0.1]
            death = 0.2
            [[bodies]]
            name = "second"
            shape = { kind = "ball", radius = 0.1 }
            position = [0.05, 0, 0.5]
            [[bodies]]
            name = "third"
            shape = { kind = "cuboid", size = [0.2, 0.2, 0.2] }
            position = [0, 0, 0.9]
            birth = 0.3
            [[bodies]]
            name = "fourth"
            shape = { kind = "ball", radius = 0.1 }
            position = [0, 0.05, 1.4]
            birth = 0.6
            "#,
            "test",
        )
        .unwrap();
        for stop in [0.1, 0.25, 0.37, 0.7] {
            resumed_equals_straight(&scene, stop, 1.0);
        }
    }

    #[test]
    fn what_has_left_stays_away_after_a_stop() {
        let scene = Scene::from_toml(
            r#"
            time = { step = "2 ms", end = 0.5 }
            [[bodies]]
            name = "ramp"
            motion = "static"
            shape = { kind = "cuboid", size = [0.3, 0.3, 0.1] }
            position = [0, 0, -0.05]
            rotation = { axis = [0, 1, 0], angle = "30 deg" }
            [[generate.lattice]]
            count = [3, 3, 3]
            radius = "2 cm"
            position = [0, 0, 0.1]
            ground = false
            walls = false
            [[inlet]]
            name = "tap"
            box = [[-0.1, -0.1, 0.5], [0.1, 0.1, 0.6]]
            radius = ["1 cm", "2 cm"]
            rate = "0.3 kg/s"
            count = 100
            [[outlet]]
            name = "right"
            box = [[0.1, "-inf", "-inf"], ["inf", "inf", "inf"]]
            [[outlet]]
            name = "below"
            plane = { point = [0, 0, -0.1], normal = [0, 0, -1] }
            [[record]]
            signals = ["right.mass", "lattice.z"]
            "#,
            "test",
        )
        .unwrap();
        for stop in [0.1, 0.25, 0.35] {
            resumed_equals_straight(&scene, stop, 0.5);
        }
        let (built, summary) = crate::scenes::run(&scene).unwrap();
        assert!(summary.outlets["right"].count > 5, "{:?}", summary.outlets);
        let left = built.outlets.iter().map(|&o| built.simulation.flow(o).unwrap().count).sum::<u64>();
        assert!(summary.inlets["tap"].count > 5, "{:?}", summary.inlets);
        assert_eq!(left as usize + summary.bodies, 28 + summary.inlets["tap"].count as usize);
    }

    #[test]
    fn plain_springs_ties_and_projection_survive_a_stop() {
        let scene = Scene::from_toml(
            r#"
            time = { step = "2 ms", end = 1.0, drift = "projection" }
            [[bodies]]
            name = "bob"
            shape = { kind = "ball", radius = 0.1 }
            [[bodies]]
            name = "arm"
            shape = { kind = "cuboid", size = [1, 0.1, 0.1] }
            position = [2.5, 0, 0]
            [[joints]]
            kind = "distance"
            body1 = "bob"
            anchor = [0, 0, 0]
            anchor2 = [0, 0, 1]
            spring = { stiffness = 100 }
            [[joints]]
            kind = "revolute"
            body1 = "arm"
            anchor = [2, 0, 0]
            axis = [0, 1, 0]
            [[interactions]]
            body1 = "arm"
            relation = "angle"
            anchor = [2, 0, 0]
            axis = [0, 1, 0]
            law = { kind = "spring", stiffness = 20 }
            [[record]]
            signals = ["bob.z", "interaction0.output"]
            "#,
            "test",
        )
        .unwrap();
        resumed_equals_straight(&scene, 0.37, 1.0);
    }

    #[test]
    fn a_damaged_file_is_an_error() {
        let scene = load("incline", &[]).unwrap();
        let mut built = build(&scene).unwrap();
        let meter = Meter::new(&scene, &built.entities, &built.simulation);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.checkpoint");
        Checkpoint::of(&scene, &mut built, &meter).write(&path).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let mut flipped = whole.clone();
        flipped[HEADER.len() + 40] ^= 1;
        for bytes in [&whole[..whole.len() / 2], &flipped, &b"drystone checkpoint 2\n"[..], &b"nonsense"[..], &[]] {
            std::fs::write(&path, bytes).unwrap();
            assert!(Checkpoint::read(&path).is_err());
        }
    }
}
