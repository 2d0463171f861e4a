//! What is over within a step or so: motions by table, gravity and water are those of the start of each step, unlike loads and the ground, whose
//! means are taken.
//!
//! ```text
//! motion     |Σ h v(k h) − ∫ v dt|, |Σ h |v(k h)| − ∫ |v| dt| ≤ 0.1 ∫ |v| dt      from rest to rest
//! gravity    an entry lasts h or more
//! water      no level comes and goes within h
//! ```

use super::{Bodies, Severity, Short};
use crate::io::scene::model::{Drive, Motion};
use glam::DVec3;

/// Part of its way by which a motion may be wrong.
const WRONG: f64 = 0.1;
/// Parts of a straight piece of a table in which its speed is looked at.
const PARTS: u32 = 32;
/// A motion of more steps is not wrong by as much, whatever its course between two jumps.
const MANY_STEPS: f64 = 100.0;

impl Bodies<'_> {
    /// Short motions, gravity and water that steps pass over, or make longer than they are.
    pub(super) fn pulses(&mut self) {
        let (h, chosen) = (self.scene.time.step, self.scene.time.accuracy.is_some());
        // steps that are chosen end where motions and gravity turn
        if !chosen {
            self.short_motions(h);
            self.short_gravity(h);
        }
        self.short_water(h);
    }

    fn short_motions(&mut self, h: f64) {
        let (mut found, end) = (Vec::new(), self.scene.time.end);
        for (i, body) in self.scene.bodies.iter().enumerate() {
            let Motion::Kinematic(drive) = &body.motion else { continue };
            let wrong = |&(from, to): &(f64, f64)| from < end && to - from < MANY_STEPS * h && !is_followed(drive, [from, to], h);
            if let Some((from, to)) = drive.pulses().into_iter().find(wrong) {
                let message = format!(
                    "its motion from {} to {} s does not come out: steps of {h:e} s go by the velocity at their start, and miss the way by more \
                     than a tenth",
                    Short(from),
                    Short(to)
                );
                let cure = format!(
                    "use a time step of at most {:.1e} s, or step = \"auto\", whose steps end where motions turn",
                    0.1 * (to - from)
                );
                found.push((i, message, cure));
            }
        }
        self.say_some(found);
    }

    fn short_gravity(&mut self, h: f64) {
        for entries in self.scene.gravity.windows(3) {
            let (from, lasts) = (entries[1].time, entries[2].time - entries[1].time);
            let differs = |k: usize| entries[k].acceleration != entries[1].acceleration;
            if lasts < h * (1.0 - 1e-9) && differs(0) && differs(2) {
                let message = format!(
                    "the gravity from {} s on lasts {} s, less than a step of {h:e} s, which may pass over it",
                    Short(from),
                    Short(lasts)
                );
                let cure =
                    format!("use a time step of at most {:.1e} s, or step = \"auto\", whose steps end where gravity turns", 0.1 * lasts);
                return self.say(Severity::Fault, None, message, cure);
            }
        }
    }

    fn short_water(&mut self, h: f64) {
        for water in &self.scene.water {
            let (times, levels) = (&water.times, &water.levels);
            // rises and falls within a step
            let passes = |i: &usize| {
                let turns = (levels[i + 1] - levels[*i]) * (levels[i + 2] - levels[i + 1]) < 0.0;
                turns && times[i + 2] - times[*i] < h * (1.0 - 1e-9)
            };
            if let Some(i) = (0..times.len().saturating_sub(2)).find(passes) {
                let lasts = times[i + 2] - times[i];
                let message = format!(
                    "the water comes and goes within {} s from {} s on, less than a step of {h:e} s, which may pass over it",
                    Short(lasts),
                    Short(times[i])
                );
                return self.say(Severity::Fault, None, message, format!("use a time step of at most {:.1e} s", 0.1 * lasts));
            }
        }
    }
}

/// Whether steps that go by the velocity at their start come as far as the motion does between two times.
fn is_followed(drive: &Drive, [from, to]: [f64; 2], h: f64) -> bool {
    let Drive::Table { times, linear, angular } = drive else { return true };
    let (from, first) = (from.max(0.0), (from.max(0.0) / h - 1e-9).ceil());
    let instants = || (0..).map(|k| (first + f64::from(k)) * h).take_while(|t| *t < to - 1e-9 * h);
    let wrong = |velocities: &[DVec3], at: fn((DVec3, DVec3)) -> DVec3| {
        let (mut way, mut length) = (DVec3::ZERO, 0.0);
        for (t, v) in times.windows(2).zip(velocities.windows(2)).filter(|(t, _)| t[0] >= from - 1e-9 * h && t[1] <= to + 1e-9 * h) {
            way += 0.5 * (t[1] - t[0]) * (v[0] + v[1]);
            let part = |k: u32| v[0].lerp(v[1], (f64::from(k) + 0.5) / f64::from(PARTS)).length();
            length += (t[1] - t[0]) / f64::from(PARTS) * (0..PARTS).map(part).sum::<f64>();
        }
        let moves = || instants().map(|t| h * at(drive.velocity(t)));
        let (sum, gone): (DVec3, f64) = (moves().sum(), moves().map(DVec3::length).sum());
        // what goes there and back ends where it was, also if it has not gone
        (sum - way).length().max((gone - length).abs()) > WRONG * length
    };
    !wrong(linear, |v| v.0) && !wrong(angular, |v| v.1)
}

#[cfg(test)]
mod tests {
    use crate::diagnostics::check::check;
    use crate::io::scene::Scene;

    /// What is said of a scene in steps of 1 ms, or such as are chosen.
    fn said(step: &str, more: &str) -> String {
        let table = "[[bodies]]\nname = \"table\"\nshape = { kind = \"half_space\" }\nmotion = ";
        let text = format!("[time]\nstep = {step}\nend = 1\n{table}{more}");
        let scene = Scene::from_toml(&text, "t").unwrap_or_else(|e| panic!("{e}"));
        check(&scene).iter().filter(|f| f.message.contains("step of") || f.message.contains("steps of")).map(ToString::to_string).collect()
    }

    #[test]
    fn motions_that_steps_pass_over_are_told() {
        let table = |times: &str, v: [f64; 4]| {
            let list = v.map(|v| format!("[{v}, 0, 0]")).join(", ");
            format!("{{ kind = \"table\", times = [{times}], velocity = [{list}] }}\n")
        };
        for (times, v, limit) in [
            // between two steps; in one step, for part of it; there and back, of which steps see the one
            ("0.1001, 0.1001, 0.1006, 0.1006", [0.0, 1.0, 1.0, 0.0], "5.0e-5"),
            ("0.1, 0.1, 0.1006, 0.1006", [0.0, 1.0, 1.0, 0.0], "6.0e-5"),
            ("0.1, 0.1, 0.1015, 0.1015", [0.0, 1.0, 1.0, 0.0], "1.5e-4"),
            ("0.1, 0.1003, 0.1006, 0.1009", [0.0, 1.0, -1.0, 0.0], "9.0e-5"),
            ("0, 0.0004, 0.1, 0.2", [1.0, 0.0, 0.0, 0.0], "4.0e-5"),
        ] {
            let found = said("1e-3", &table(times, v));
            assert!(found.contains("fault: table: its motion from") && found.contains(&format!("at most {limit} s")), "{times}: {found}");
            assert_eq!(said("\"auto\"", &table(times, v)), "", "{times}");
        }
        for (times, v) in [
            ("0.1, 0.1, 0.102, 0.102", [0.0, 1.0, 1.0, 0.0]),
            ("0.1, 0.2, 0.3, 0.4", [0.0, 1.0, -1.0, 0.0]),
            ("0.1005, 0.1035, 0.1065, 0.2", [0.0, 1.0, 0.0, 0.0]),
            ("0.1001, 0.1001, 0.6, 0.6", [0.0, 1.0, 1.0, 0.0]),
            ("3.0001, 3.0001, 3.0002, 3.0002", [0.0, 1.0, 1.0, 0.0]),
        ] {
            assert_eq!(said("1e-3", &table(times, v)), "", "{times}");
        }
        let support = |duration: &str| {
            format!("\"static\"\n[[support]]\nbodies = [\"table\"]\ndisplacement = [0, 0, -0.1]\nstart = 0.1\nduration = {duration}\n")
        };
        assert!(said("1e-3", &support("1e-4")).contains("its motion from 0.1 to 0.1001 s"));
        assert_eq!(said("1e-3", &support("2e-3")), "");
    }

    #[test]
    fn gravity_and_water_that_steps_pass_over_are_told() {
        let gravity = |to: &str| {
            let text = format!(
                "gravity = [{{ acceleration = [0, 0, -9.81] }}, {{ from = 0.1, acceleration = [5, 0, -9.81] }}, {{ from = {to}, acceleration = [0, 0, -9.81] }}]\n\
                 [time]\nstep = 1e-3\nend = 1\n[[bodies]]\nshape = {{ kind = \"half_space\" }}\nmotion = \"static\"\n"
            );
            let scene = Scene::from_toml(&text, "t").unwrap_or_else(|e| panic!("{e}"));
            check(&scene).iter().map(ToString::to_string).collect::<String>()
        };
        assert!(gravity("0.1005").contains("the gravity from 0.1 s on lasts 5.000e-4 s, less than a step"), "{}", gravity("0.1005"));
        assert!(!gravity("0.101").contains("the gravity"));
        let water = |times: [f64; 3]| {
            let level = times.map(|t| format!("[{t}, {}]", if t == times[1] { 1.0 } else { 0.5 })).join(", ");
            let block = "[[bodies]]\nname = \"b\"\nshape = { kind = \"cuboid\", size = [1, 1, 1] }\nposition = [0, 0, 0.5]\n";
            said("1e-3", &format!("\"static\"\n{block}[[water]]\nbodies = [\"b\"]\ndirection = [1, 0, 0]\nlevel = [{level}]\n"))
        };
        assert!(water([0.1, 0.1002, 0.1004]).contains("the water comes and goes within"), "{}", water([0.1, 0.1002, 0.1004]));
        assert_eq!(water([0.1, 0.15, 0.2]), "");
    }
}
