//! Whole runs, from a scene to what the meter says of it.

use crate::diagnostics::summary::{Meter, Summary};
use crate::io::scene::Scene;
use crate::setup::{BuildError, Built, build};

/// Builds a scene and steps it to its end, or to where a rule of its `[stop]` ends it; the summary is that of the whole run.
///
/// ```
/// let scene = drystone::scenes::load("bouncing_ball", &[])?;
/// let (_, summary) = drystone::scenes::run(&scene)?;
/// assert_eq!(summary.unconverged_steps, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run(scene: &Scene) -> Result<(Built, Summary), BuildError> {
    let mut built = build(scene)?;
    let mut meter = Meter::new(scene, &built.entities, &built.simulation);
    while built.simulation.time() < scene.time.end - 1e-9 * scene.time.step && meter.ended(&built.simulation).is_none() {
        let report = built.simulation.step()?;
        meter.observe(&report, &built.simulation);
    }
    let summary = meter.summary(&mut built.simulation);
    Ok((built, summary))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::scene::model::TimeStepping;
    use crate::scenes::load;

    #[test]
    fn a_shaken_base_pushes_bodies_the_other_way() {
        let scene = load("block_dam", &[("base_acceleration_g", "0.1"), ("water_level", "0")]).unwrap();
        let (_, summary) = run(&Scene { time: TimeStepping { end: 0.1, ..scene.time }, ..scene }).unwrap();
        let dam = summary.dam.unwrap();
        // towards the water is −x, so the blocks are pushed downstream with 0.1 W
        let shear = 0.1 * 2400.0 * 9.81 * 18.0;
        assert!((dam.base_shear_N.unwrap() / shear - 1.0).abs() < 1e-6, "{dam:?}");
    }
}
