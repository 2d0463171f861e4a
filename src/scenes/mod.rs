//! Scenes inside the program, one definition each: a TOML text in `assets/scenes` and the parameters that edit it.
//!
//! ```
//! use drystone::io::scene::{Scene, SceneSource};
//! let arch = Scene::load(&SceneSource::new("arch"), &[("thickness_ratio".into(), "0.2".into())])?;
//! assert_eq!(arch.dynamic_bodies().count(), 17);
//! # Ok::<(), drystone::io::scene::SceneError>(())
//! ```

pub mod checkpoint;
mod run;

pub use crate::io::scene::builtin::{BuiltIn, Parameter, all, find};
pub use crate::setup::{BuildError, Built, build};
pub use run::run;

use crate::io::scene::error::SceneError;
use crate::io::scene::{Scene, SceneSource};

/// Reads the built-in scene called `name` with some of its parameters changed.
///
/// ```
/// let scene = drystone::scenes::load("bead_pour", &[("n", "3")])?;
/// assert_eq!(scene.dynamic_bodies().count(), 27);
/// # Ok::<(), drystone::io::scene::SceneError>(())
/// ```
pub fn load(name: &str, parameters: &[(&str, &str)]) -> Result<Scene, SceneError> {
    let settings: Vec<_> = parameters.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Scene::load(&SceneSource::BuiltIn(name.to_owned()), &settings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::scene::model::{ShapeSpec, Study};
    use glam::DVec3;

    fn load(name: &str, settings: &[(&str, &str)]) -> Result<Scene, SceneError> {
        let settings: Vec<_> = settings.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Scene::load(&SceneSource::new(name), &settings)
    }

    #[test]
    fn every_scene_loads_and_its_listed_defaults_change_nothing() {
        for scene in all() {
            let plain = load(scene.name, &[]).unwrap_or_else(|e| panic!("{e}"));
            for p in scene.parameters {
                assert_eq!(load(scene.name, &[(p.name, p.default)]).unwrap_or_else(|e| panic!("{e}")), plain, "{} {}", scene.name, p.name);
            }
        }
    }

    #[test]
    fn the_file_of_a_scene_is_the_scene() {
        for scene in all() {
            assert_eq!(
                load(&format!("assets/scenes/{}.toml", scene.name), &[]).unwrap_or_else(|e| panic!("{e}")),
                load(scene.name, &[]).expect("loads")
            );
        }
    }

    #[test]
    fn the_pour_fits_its_box() {
        let scene = load("bead_pour", &[("n", "20")]).expect("valid");
        assert_eq!(scene.dynamic_bodies().count(), 8000);
        let wall = &scene.bodies[scene.body("grain.wall_x1").expect("named")];
        assert_eq!(wall.pose.position, DVec3::X * (2.2 * 0.01 * 20.0 / 2.0));
        assert_eq!(wall.shape, ShapeSpec::HalfSpace { normal: DVec3::NEG_X });
        assert_eq!((scene.time.end, scene.default_law.mu, scene.materials[0].density), (1.0, 0.5, 2500.0));
    }

    #[test]
    fn the_incline_tilts_gravity_and_keeps_its_size() {
        let scene = load("incline", &[("mu", "0.577"), ("angle_offset_deg", "-0.5"), ("heading_deg", "90")]).expect("valid");
        let Study::Incline(study) = &scene.study else { panic!("an incline") };
        let angle = 0.577f64.atan() - 0.5f64.to_radians();
        assert!((study.angle - angle).abs() < 1e-15);
        assert_eq!(study.exact_acceleration(), 0.0);
        assert_eq!(scene.gravity_at(0.498), DVec3::new(0.0, 0.0, -9.81));
        let g = scene.gravity_at(0.5);
        assert!((g - 9.81 * DVec3::new(0.0, angle.sin(), -angle.cos())).length() < 1e-14);
    }

    #[test]
    fn the_dam_takes_its_parameters() {
        let settings = [("width", "2"), ("height", "5 m"), ("courses", "4"), ("uplift", "linear"), ("base_acceleration_g", "0.1")];
        let scene = load("block_dam", &settings).expect("valid");
        assert_eq!(scene.water[0].level(0.0), 5.0);
        assert!((scene.base.expect("shaken").acceleration(1.0) - DVec3::new(-0.981, 0.0, 0.0)).length() < 1e-15);
        let Study::Dam(study) = &scene.study else { panic!("a dam") };
        assert_eq!((study.courses.len(), study.toe, study.mu), (4, DVec3::new(2.0, 0.0, 0.0), 0.6));
        assert_eq!(load("block_dam", &[("water_level", "4")]).expect("valid").water[0].level(9.0), 4.0);
    }

    #[test]
    fn a_kick_hits_the_top_middle_block() {
        let scene = load("block_wall", &[("kick", "1")]).expect("valid");
        let kicked: Vec<_> = scene.bodies.iter().filter(|b| !b.impulses.is_empty()).collect();
        assert_eq!(kicked.len(), 1);
        assert_eq!(kicked[0].impulses[0].linear, DVec3::Y);
        assert_eq!(kicked[0].pose.position.z, 1.9000000000000001);
    }

    #[test]
    fn wrong_parameters_are_named() {
        for (name, key, value, cure) in [
            ("bead_pour", "m", "3", "known here: n"),
            ("block_wall", "colums", "3", "did you mean `columns`"),
            ("bead_pour", "n", "many", "plain number"),
            ("bead_pour", "n", "0", "whole number"),
            ("bead_pour", "n", "1e9", "whole number"),
            ("arch", "thickness_ratio", "-1", "greater than 0"),
            ("arch", "thickness_ratio", "nan", "finite"),
            ("arch", "thickness_ratio", "3 mm", "leave the unit away"),
            ("block_dam", "base_acceleration_g", "strong", "a plain number"),
            ("block_dam", "uplift", "some", "\"none\", \"linear\""),
        ] {
            let e = load(name, &[(key, value)]).expect_err(key);
            assert!(e.cure.contains(cure), "{e}");
            assert!(e.origin.contains(key), "{e}");
        }
    }
}
