//! Saving what was just restored gives the same bytes: in the scenes of the program of up to 300 bodies, at their start and some steps on.
#![cfg(feature = "simulation")]

use drystone::scenes;

type Fallible = Result<(), Box<dyn std::error::Error>>;

#[test]
fn a_scene_that_was_restored_is_saved_to_the_same_bytes() -> Fallible {
    let mut differ = Vec::new();
    for scene in scenes::all() {
        let scene = scenes::load(scene.name, &[])?;
        if scene.dynamic_bodies().count() > 300 {
            continue;
        }
        let mut one = scenes::build(&scene)?;
        for steps in [0, 1, 12] {
            for _ in 0..steps {
                one.simulation.step()?;
            }
            let state = one.simulation.save(&one.entities);
            let mut two = scenes::build(&scene)?;
            two.simulation.restore(&state, &two.entities)?;
            let mut saved = serde_json::to_value(&state)?;
            let mut again = serde_json::to_value(two.simulation.save(&two.entities))?;
            // pairs that have parted are found no more; the next step would drop them too
            let [before, after] = [&mut saved, &mut again].map(|state| state["pairs"].take());
            let kept = |pair: &serde_json::Value| before.as_array().is_some_and(|all| all.contains(pair));
            if !after.as_array().is_some_and(|all| all.iter().all(kept)) {
                differ.push(format!("{} after {} steps: pairs {before}, and then {after}", scene.name, one.simulation.steps()));
            }
            for (what, was) in saved.as_object().into_iter().flatten() {
                let is = &again[what];
                if was != is {
                    let start = |x: &serde_json::Value| x.to_string().chars().take(300).collect::<String>();
                    differ.push(format!(
                        "{} after {} steps: {what} {}, and then {}",
                        scene.name,
                        one.simulation.steps(),
                        start(was),
                        start(is)
                    ));
                }
            }
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
    Ok(())
}
