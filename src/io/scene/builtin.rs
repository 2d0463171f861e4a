//! Scenes inside the program: a TOML text in `assets/scenes` each, and the parameters that edit it.

use super::error::{SceneError, did_you_mean};

/// A scene of the program.
///
/// ```
/// let names: Vec<_> = drystone::scenes::all().iter().map(|s| s.name).collect();
/// assert!(names.contains(&"bead_stack"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// What `drystone run` calls it.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// What `--set` may change.
    pub parameters: &'static [Parameter],
    /// The scene file.
    pub toml: &'static str,
}

/// One thing that `--set name=value` changes in a built-in scene.
///
/// ```
/// let n = &drystone::scenes::find("bead_pour")?.parameters[0];
/// assert_eq!((n.name, n.default), ("n", "10"));
/// # Ok::<(), drystone::io::scene::SceneError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its value in the scene as it stands.
    pub default: &'static str,
    /// Unit of a plain number; empty for pure numbers.
    pub unit: &'static str,
    /// One line for people.
    pub help: &'static str,
    /// Dotted path in the TOML text.
    path: &'static str,
    /// How the value is written there.
    form: Form,
}

/// How a parameter becomes TOML.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// As it is.
    Same,
    /// `[v, v, v]`.
    Cube,
    /// A plain number gets this unit.
    Unit(&'static str),
    /// A number times this factor.
    Times(f64),
}

impl Parameter {
    const fn new(name: &'static str, default: &'static str, unit: &'static str, help: &'static str, path: &'static str) -> Self {
        Self { name, default, unit, help, path, form: Form::Same }
    }

    const fn form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// The TOML text of `value`.
    fn toml(&self, value: &str) -> Option<String> {
        let number = value.trim().parse::<f64>().ok();
        match self.form {
            Form::Same => Some(value.to_owned()),
            Form::Cube => number.map(|_| format!("[{value}, {value}, {value}]")),
            Form::Unit(unit) => Some(number.map_or_else(|| value.to_owned(), |_| format!("\"{} {unit}\"", value.trim()))),
            // {:?} writes every digit and always a form that TOML knows
            Form::Times(factor) => number.map(|x| format!("{:?}", if x == 0.0 { 0.0 } else { x * factor })),
        }
    }
}

impl BuiltIn {
    /// The edits (dotted path, TOML value) that `--set key=value` means.
    pub(super) fn edits(&self, key: &str, value: &str) -> Result<Vec<(String, String)>, SceneError> {
        let origin = format!("{} with --set {key}={value}", self.name);
        if key.contains('.') {
            return Ok(vec![(key.to_owned(), value.to_owned())]);
        }
        let known: Vec<&str> = self.parameters.iter().map(|p| p.name).collect();
        let Some(parameter) = self.parameters.iter().find(|p| p.name == key) else {
            return Err(SceneError::whole(origin, format!("found no parameter `{key}`"), did_you_mean(key, known)));
        };
        let toml = parameter.toml(value).ok_or_else(|| {
            let cure = format!("write a plain number, such as {key}={}", parameter.default);
            SceneError::whole(&origin, format!("{key}: found \"{value}\", expected a number"), cure)
        })?;
        Ok(vec![(parameter.path.to_owned(), toml)])
    }
}

/// The built-in scene called `name`.
///
/// ```
/// let e = drystone::scenes::find("bead_por").unwrap_err();
/// assert!(e.cure.contains("did you mean `bead_pour`?"));
/// ```
pub fn find(name: &str) -> Result<&'static BuiltIn, SceneError> {
    let names: Vec<&str> = SCENES.iter().map(|s| s.name).collect();
    SCENES.iter().find(|s| s.name == name).ok_or_else(|| {
        let cure = format!("{}; the name of a file ends in .toml or holds a separator", did_you_mean(name, names));
        SceneError::whole(name, "found no built-in scene of this name", cure)
    })
}

/// Every built-in scene.
///
/// ```
/// assert!(drystone::scenes::all().iter().all(|s| !s.about.is_empty()));
/// ```
pub fn all() -> &'static [BuiltIn] {
    SCENES
}

macro_rules! toml {
    ($name:literal) => {
        include_str!(concat!("../../../assets/scenes/", $name, ".toml"))
    };
}

/// Standard gravity of the scenes (m/s²), in which `base_acceleration_g` is measured.
const G: f64 = 9.81;

const SCENES: &[BuiltIn] = &[
    BuiltIn {
        name: "bead_stack",
        about: "a pyramid of 55 beads on a tray rests, is struck at 0.3 s and scatters",
        parameters: &[Parameter::new("kick", "0.6", "N s", "impulse on the struck bead along x", "impulses.0.linear.0")],
        toml: toml!("bead_stack"),
    },
    BuiltIn {
        name: "bead_pour",
        about: "n × n × n spheres poured into a box (benchmark S1)",
        parameters: &[
            Parameter::new("n", "10", "", "spheres along each edge of the lattice", "generate.lattice.0.count").form(Form::Cube),
            Parameter::new("mu", "0.5", "", "coefficient of friction", "contact.mu"),
            Parameter::new("seed", "0", "", "of the jitter of the lattice", "generate.lattice.0.seed"),
        ],
        toml: toml!("bead_pour"),
    },
    BuiltIn {
        name: "block_wall",
        about: "a dry wall in running bond stands for 2 s (benchmark S3)",
        parameters: &[
            Parameter::new("columns", "10", "", "blocks in an even row", "generate.wall.0.columns"),
            Parameter::new("rows", "10", "", "rows", "generate.wall.0.rows"),
            Parameter::new("mu", "0.6", "", "coefficient of friction", "contact.mu"),
            Parameter::new("kick", "0", "N s", "impulse along y on the top middle block at t = 0", "generate.wall.0.kick"),
        ],
        toml: toml!("block_wall"),
    },
    BuiltIn {
        name: "arch",
        about: "a semicircular arch of 17 voussoirs; it needs thickness/radius 0.1055 to stand (benchmark S4)",
        parameters: &[
            Parameter::new("thickness_ratio", "0.11", "", "thickness over mean radius", "generate.arch.0.thickness_ratio"),
            Parameter::new("voussoirs", "17", "", "number of voussoirs", "generate.arch.0.voussoirs"),
            Parameter::new("mu", "0.7", "", "coefficient of friction", "contact.mu"),
        ],
        toml: toml!("arch"),
    },
    BuiltIn {
        name: "incline",
        about: "a box on a plane whose gravity tilts near the angle of friction at 0.5 s (benchmark S5)",
        parameters: &[
            Parameter::new("mu", "0.3", "", "coefficient of friction", "contact.mu"),
            Parameter::new("angle_offset_deg", "2", "deg", "tilt beyond atan(mu)", "study.offset").form(Form::Unit("deg")),
            Parameter::new("heading_deg", "0", "deg", "direction of the tilt about the plane's normal, from x", "study.heading")
                .form(Form::Unit("deg")),
        ],
        toml: toml!("incline"),
    },
    BuiltIn {
        name: "block_dam",
        about: "a dam of rectangular courses under water, uplift and base shaking",
        parameters: &[
            Parameter::new("width", "3", "m", "from the water face to the dry face", "generate.dam.0.width"),
            Parameter::new("height", "6", "m", "height of the dam", "generate.dam.0.height"),
            Parameter::new("courses", "6", "", "number of courses", "generate.dam.0.courses"),
            Parameter::new("water_level", "top", "m", "depth of the water, or top", "water.0.level"),
            Parameter::new(
                "uplift",
                "none",
                "",
                "water pressure in the base joint (linear), in each bed joint (joints), or none",
                "water.0.uplift",
            ),
            Parameter::new(
                "base_acceleration_g",
                "0",
                "g",
                "acceleration of the ground towards the water, in 9.81 m/s2",
                "base.acceleration.0",
            )
            .form(Form::Times(-G)),
        ],
        toml: toml!("block_dam"),
    },
    BuiltIn {
        name: "wall_with_opening",
        about: "a dry wall with a door and a window under lintels stands",
        parameters: &[
            Parameter::new("bond", "running", "", "running, stretcher, english or flemish", "generate.wall.0.bond"),
            Parameter::new("leaves", "1", "", "leaves of the wall", "generate.wall.0.leaves"),
            Parameter::new("width", "1.2", "m", "of the window", "generate.wall.0.openings.1.width"),
            Parameter::new("rows", "15", "", "courses of 0.2 m", "generate.wall.0.rows"),
            Parameter::new("mu", "0.6", "", "coefficient of friction", "contact.mu"),
        ],
        toml: toml!("wall_with_opening"),
    },
    BuiltIn {
        name: "cohesive_wall",
        about: "a wall in mortar cracks where the right half of its foundation settles; a dry one follows it",
        parameters: &[
            Parameter::new("settlement", "-0.01", "m", "way of the right half of the foundation along z", "support.0.displacement.2"),
            Parameter::new("tension", "5e4", "Pa", "strength of the mortar in tension", "contact.bond.tension"),
            Parameter::new("cohesion", "1e5", "Pa", "strength of the mortar in shear without pressure", "contact.bond.cohesion"),
            Parameter::new("softening", "linear", "", "linear or exponential", "contact.bond.softening"),
            Parameter::new("rows", "8", "", "courses of 0.2 m", "generate.wall.0.rows"),
            Parameter::new("mu", "0.6", "", "coefficient of friction", "contact.mu"),
        ],
        toml: toml!("cohesive_wall"),
    },
    BuiltIn {
        name: "triplet",
        about: "a brick between two others is pushed out of its joints of mortar",
        parameters: &[
            Parameter::new("press", "-6000", "N", "force along x that presses the three together", "bodies.2.force.0"),
            Parameter::new("push", "30000", "N", "force along z on the middle one after 1 s", "load.0.force.2"),
            Parameter::new("cohesion", "3e5", "Pa", "strength of the mortar in shear without pressure", "contact.bond.cohesion"),
            Parameter::new("mu", "0.75", "", "coefficient of friction", "contact.mu"),
        ],
        toml: toml!("triplet"),
    },
    BuiltIn {
        name: "lintel",
        about: "a lintel carries eight courses; without it what lies below their corbels falls",
        parameters: &[
            Parameter::new("lintel", "true", "", "false leaves it out", "generate.wall.0.openings.0.lintel"),
            Parameter::new("width", "2", "m", "of the opening, which begins at 1 m of 4", "generate.wall.0.openings.0.width"),
            Parameter::new("bearing", "0.4", "m", "of the lintel at each side", "generate.wall.0.openings.0.bearing"),
            Parameter::new("mu", "0.6", "", "coefficient of friction", "contact.mu"),
        ],
        toml: toml!("lintel"),
    },
    BuiltIn {
        name: "arch_spreading",
        about: "a segmental arch hinges as its left abutment moves away",
        parameters: &[
            Parameter::new("spread", "-0.03", "m", "way of the left abutment along x", "support.0.displacement.0"),
            Parameter::new("voussoirs", "15", "", "number of voussoirs", "generate.arch.0.voussoirs"),
            Parameter::new("thickness_ratio", "0.15", "", "thickness over mean radius", "generate.arch.0.thickness_ratio"),
            Parameter::new("angle", "120", "deg", "angle of embrace", "generate.arch.0.angle").form(Form::Unit("deg")),
            Parameter::new("mu", "0.7", "", "coefficient of friction", "contact.mu"),
        ],
        toml: toml!("arch_spreading"),
    },
    BuiltIn {
        name: "arch_tilt",
        about: "a semicircular arch on a slab that is tilted slowly",
        parameters: &[
            Parameter::new("angle", "8", "deg", "to which the slab is tilted", "support.0.rotation.angle").form(Form::Unit("deg")),
            Parameter::new("voussoirs", "17", "", "number of voussoirs", "generate.arch.0.voussoirs"),
            Parameter::new("thickness_ratio", "0.2", "", "thickness over mean radius", "generate.arch.0.thickness_ratio"),
            Parameter::new("mu", "0.7", "", "coefficient of friction", "contact.mu"),
        ],
        toml: toml!("arch_tilt"),
    },
    BuiltIn {
        name: "dome",
        about: "a dome of six rings with an oculus stands",
        parameters: &[
            Parameter::new("thickness_ratio", "0.12", "", "thickness over mean radius", "generate.dome.0.thickness_ratio"),
            Parameter::new("rings", "6", "", "rings", "generate.dome.0.rings"),
            Parameter::new("voussoirs", "16", "", "voussoirs in a ring", "generate.dome.0.voussoirs"),
            Parameter::new("crown", "72", "deg", "latitude of the oculus", "generate.dome.0.crown").form(Form::Unit("deg")),
            Parameter::new("mu", "0.7", "", "coefficient of friction", "contact.mu"),
        ],
        toml: toml!("dome"),
    },
    BuiltIn {
        name: "cross_vault",
        about: "a groin vault over a square bay stands on its four feet",
        parameters: &[
            Parameter::new("thickness_ratio", "0.25", "", "thickness over mean radius", "generate.cross_vault.0.thickness_ratio"),
            Parameter::new("voussoirs", "9", "", "courses of each barrel, an odd number", "generate.cross_vault.0.voussoirs"),
            Parameter::new("stone", "1", "m", "length of the stones of the webs", "generate.cross_vault.0.stone"),
            Parameter::new("mu", "0.8", "", "coefficient of friction", "contact.mu"),
        ],
        toml: toml!("cross_vault"),
    },
    BuiltIn {
        name: "tower",
        about: "a hollow tower with two openings is shaken by a pulse",
        parameters: &[
            Parameter::new("rows", "14", "", "courses of 0.2 m", "generate.tower.0.rows"),
            Parameter::new("acceleration", "0.5", "m/s2", "peak of the pulse", "base.pulses.0.acceleration.0"),
            Parameter::new("mu", "0.6", "", "coefficient of friction", "contact.mu"),
        ],
        toml: toml!("tower"),
    },
    BuiltIn {
        name: "bridge",
        about: "arches with backfill between abutments and over piers stand",
        parameters: &[
            Parameter::new("spans", "2", "", "number of arches", "generate.bridge.0.spans"),
            Parameter::new("thickness", "0.4", "m", "of the arches", "generate.bridge.0.thickness"),
            Parameter::new("pier", "1.4", "m", "thickness of a pier", "generate.bridge.0.pier"),
            Parameter::new("height", "3", "m", "of the springings", "generate.bridge.0.height"),
            Parameter::new("mu", "0.7", "", "coefficient of friction", "contact.mu"),
        ],
        toml: toml!("bridge"),
    },
    BuiltIn {
        name: "facade",
        about: "a facade with three openings is shaken out of its plane",
        parameters: &[
            Parameter::new("bond", "running", "", "running, stretcher, english or flemish", "generate.wall.0.bond"),
            Parameter::new("acceleration", "0.15", "g", "peak of the pulse, in 9.81 m/s2", "base.pulses.0.acceleration.1")
                .form(Form::Times(G)),
            Parameter::new("mu", "0.6", "", "coefficient of friction", "contact.mu"),
        ],
        toml: toml!("facade"),
    },
    BuiltIn {
        name: "column",
        about: "a column of drums rocks under a pulse",
        parameters: &[
            Parameter::new("drums", "7", "", "number of drums", "generate.column.0.drums"),
            Parameter::new("acceleration", "0.25", "g", "peak of the pulse, in 9.81 m/s2", "base.pulses.0.acceleration.0")
                .form(Form::Times(G)),
            Parameter::new("mu", "0.7", "", "coefficient of friction", "contact.mu"),
        ],
        toml: toml!("column"),
    },
    BuiltIn {
        name: "spinning_top",
        about: "a heavy top on a spherical joint in steady precession",
        parameters: &[],
        toml: toml!("spinning_top"),
    },
    BuiltIn {
        name: "tippe_top",
        about: "a ball with its centre of mass below its centre turns over by drilling friction",
        parameters: &[
            Parameter::new("patch", "0.3 mm", "", "radius of the patch in which it touches; 0 is a point", "contact.patch"),
            Parameter::new("mu", "0.3", "", "coefficient of friction", "contact.mu"),
            Parameter::new("spin", "180", "rad/s", "about its axis at the start", "bodies.1.angular_velocity.2"),
            Parameter::new("tilt", "0.1", "rad", "of its axis at the start", "bodies.1.rotation.angle"),
        ],
        toml: toml!("tippe_top"),
    },
    BuiltIn {
        name: "door",
        about: "a motor opens a door on a hinge, whose knob pushes a row of blocks over",
        parameters: &[Parameter::new("torque", "80", "N m", "most that the motor gives", "joints.0.motor.limit")],
        toml: toml!("door"),
    },
    BuiltIn {
        name: "terrain_mesh",
        about: "balls and blocks fall on hilly ground, a triangle mesh",
        parameters: &[Parameter::new("balls", "60", "", "number of balls", "generate.pour.0.count")],
        toml: toml!("terrain_mesh"),
    },
    BuiltIn {
        name: "hopper",
        about: "grains settle in a hopper and run out when its gate opens; flow.csv is the discharge curve",
        parameters: &[
            Parameter::new("n", "2000", "", "number of grains, up to 22000", "generate.pour.0.count"),
            Parameter::new("orifice", "0.024", "m", "radius of the orifice", "bodies.0.shape.orifice"),
            Parameter::new("angle", "30", "deg", "half angle of the cone; 90 is a flat bottom", "bodies.0.shape.angle")
                .form(Form::Unit("deg")),
            Parameter::new("mu", "0.4", "", "coefficient of friction", "contact.mu"),
            Parameter::new("open", "0.5", "s", "when the gate opens", "bodies.1.death"),
            Parameter::new("end", "1.5", "s", "duration", "time.end"),
            Parameter::new("seed", "1", "", "sizes and places", "generate.pour.0.seed"),
        ],
        toml: toml!("hopper"),
    },
    BuiltIn {
        name: "drum",
        about: "a drum with six lifters turns and tumbles 550 grains",
        parameters: &[
            Parameter::new("mu", "0.5", "", "coefficient of friction", "contact.mu"),
            Parameter::new("end", "2", "s", "duration", "time.end"),
            Parameter::new("seed", "1", "", "sizes and jitter", "generate.lattice.0.seed"),
        ],
        toml: toml!("drum"),
    },
    BuiltIn {
        name: "aqueduct",
        about: "two tiers of arches on slender piers",
        parameters: &[
            Parameter::new("tiers", "2", "", "number of tiers", "generate.bridge.0.tiers"),
            Parameter::new("spans", "3", "", "number of spans", "generate.bridge.0.spans"),
            Parameter::new("thickness", "0.4", "m", "of the arches", "generate.bridge.0.thickness"),
            Parameter::new("pier", "1.4", "m", "thickness of the piers", "generate.bridge.0.pier"),
            Parameter::new("mu", "0.7", "", "coefficient of friction", "contact.mu"),
            Parameter::new("end", "1", "s", "duration", "time.end"),
        ],
        toml: toml!("aqueduct"),
    },
    BuiltIn {
        name: "push_over",
        about: "a pier of blocks between two jacks that move to and fro: force against displacement",
        parameters: &[
            Parameter::new("displacement", "0.1", "m", "largest displacement of the jacks", "support.0.displacement.0"),
            Parameter::new("courses", "4", "", "number of courses", "generate.pier.0.courses"),
            Parameter::new("mu", "0.7", "", "coefficient of friction", "contact.mu"),
            Parameter::new("end", "8", "s", "duration", "time.end"),
        ],
        toml: toml!("push_over"),
    },
    BuiltIn {
        name: "vibrated_bed",
        about: "150 balls on a floor that vibrates fly above a peak acceleration of g and stay below",
        parameters: &[
            Parameter::new(
                "speed",
                "0.234",
                "m/s",
                "largest speed of the floor; 0.234 at 20 Hz is an acceleration of 3 g",
                "bodies.0.motion.velocity.2",
            ),
            Parameter::new("frequency", "20", "Hz", "of the floor", "bodies.0.motion.frequency"),
            Parameter::new("e_n", "0.6", "", "restitution", "contact.e_n"),
            Parameter::new("mu", "0.3", "", "coefficient of friction", "contact.mu"),
            Parameter::new("end", "1.5", "s", "duration", "time.end"),
        ],
        toml: toml!("vibrated_bed"),
    },
    BuiltIn {
        name: "brazil_nut",
        about: "a large ball rises through 360 small ones in a jar that is shaken",
        parameters: &[
            Parameter::new(
                "speed",
                "0.9",
                "m/s",
                "largest speed of the jar; 0.9 at 6 Hz is an acceleration of 3.5 g",
                "bodies.0.motion.velocity.2",
            ),
            Parameter::new("frequency", "6", "Hz", "of the jar", "bodies.0.motion.frequency"),
            Parameter::new("mu", "0.5", "", "coefficient of friction", "contact.mu"),
            Parameter::new("end", "2.5", "s", "duration", "time.end"),
            Parameter::new("seed", "1", "", "sizes and jitter", "generate.lattice.0.seed"),
        ],
        toml: toml!("brazil_nut"),
    },
    BuiltIn {
        name: "draw_point",
        about: "216 rocks above a draw bell flow out through its mouth",
        parameters: &[
            Parameter::new("mu", "0.5", "", "coefficient of friction", "contact.mu"),
            Parameter::new("end", "1.5", "s", "duration", "time.end"),
            Parameter::new("seed", "1", "", "sizes, forms and jitter", "generate.lattice.0.seed"),
        ],
        toml: toml!("draw_point"),
    },
    BuiltIn {
        name: "column_collapse",
        about: "a column of grains in a channel runs out when its gate opens at 0.4 s",
        parameters: &[
            Parameter::new("n", "900", "", "number of grains", "generate.pour.0.count"),
            Parameter::new("mu", "0.5", "", "coefficient of friction", "contact.mu"),
            Parameter::new("open", "0.4", "s", "when the gate opens", "bodies.4.death"),
            Parameter::new("end", "1.2", "s", "duration", "time.end"),
            Parameter::new("seed", "1", "", "sizes and places", "generate.pour.0.seed"),
        ],
        toml: toml!("column_collapse"),
    },
    BuiltIn {
        name: "round_column",
        about: "a round column of grains runs out on rough ground when the tube around it goes at 0.6 s",
        parameters: &[
            Parameter::new("n", "3600", "", "number of grains; as many per unit of height over radius", "generate.pour.0.count"),
            Parameter::new("mu", "0.5", "", "coefficient of friction", "contact.mu"),
            Parameter::new("open", "0.6", "s", "when the tube goes", "bodies.0.death"),
            Parameter::new("end", "1.6", "s", "duration", "time.end"),
            Parameter::new("seed", "1", "", "sizes and places", "generate.pour.0.seed"),
        ],
        toml: toml!("round_column"),
    },
    BuiltIn {
        name: "angle_of_repose",
        about: "balls that resist rolling trickle onto a disc until the heap on it is full",
        parameters: &[
            Parameter::new("n", "340", "", "number of balls", "inlet.0.count"),
            Parameter::new("mu_r", "0.2", "", "resistance to rolling, in radii of the contact", "contact.mu_r"),
            Parameter::new("mu", "0.5", "", "coefficient of friction", "contact.mu"),
            Parameter::new("end", "2", "s", "duration", "time.end"),
            Parameter::new("seed", "1", "", "sizes and places", "inlet.0.seed"),
        ],
        toml: toml!("angle_of_repose"),
    },
    BuiltIn {
        name: "shear_cell",
        about: "grains in a periodic cell under a lid that presses with 1 kPa; the floor moves from 0.25 s on",
        parameters: &[
            Parameter::new("pressure", "-1000", "Pa", "on the lid, negative downwards", "bodies.1.servo.pressure"),
            Parameter::new("mu", "0.4", "", "coefficient of friction between grains", "contact.mu"),
            Parameter::new("end", "0.5", "s", "duration", "time.end"),
            Parameter::new("seed", "1", "", "sizes and jitter", "generate.lattice.0.seed"),
        ],
        toml: toml!("shear_cell"),
    },
    BuiltIn {
        name: "triaxial",
        about: "balls between six smooth walls: three press with 1 kPa while a ram pushes the lid down at a constant rate",
        parameters: &[
            Parameter::new("fraction", "0.57", "", "solid fraction at the start", "generate.pack.0.solid_fraction"),
            Parameter::new("mu", "0.5", "", "coefficient of friction between grains", "contact.mu"),
            Parameter::new("rate", "-0.008", "m/s", "velocity of the ram, negative downwards", "bodies.6.motion.velocity.2"),
            Parameter::new("end", "3.5", "s", "duration", "time.end"),
            Parameter::new("seed", "1", "", "sizes and places", "generate.pack.0.seed"),
        ],
        toml: toml!("triaxial"),
    },
    BuiltIn {
        name: "simple_shear",
        about: "grains in a periodic cell whose images move past each other: a uniform shear without walls",
        parameters: &[
            Parameter::new("fraction", "0.55", "", "solid fraction; above 0.56 steps become dear", "generate.pack.0.solid_fraction"),
            Parameter::new("rate", "20", "1/s", "of the shear", "periodic.shear.rate"),
            Parameter::new("mu", "0.5", "", "coefficient of friction", "contact.mu"),
            Parameter::new("end", "0.3", "s", "duration", "time.end"),
            Parameter::new("seed", "1", "", "sizes and places", "generate.pack.0.seed"),
        ],
        toml: toml!("simple_shear"),
    },
    BuiltIn {
        name: "granular_gas",
        about: "512 smooth balls in a periodic cell cool by their collisions (Haff's law)",
        parameters: &[
            Parameter::new("restitution", "0.9", "", "ratio of the speeds after and before a collision", "contact.e_n"),
            Parameter::new(
                "agitation",
                "0.5",
                "m/s",
                "root mean square of each component of the velocities",
                "generate.lattice.0.agitation",
            ),
            Parameter::new("accuracy", "0.02", "", "part of a ball that it goes in a step at most", "time.accuracy"),
            Parameter::new("end", "2", "s", "duration", "time.end"),
            Parameter::new("seed", "1", "", "places and velocities", "generate.lattice.0.seed"),
        ],
        toml: toml!("granular_gas"),
    },
    BuiltIn {
        name: "silo",
        about: "grains in a tube whose floor sinks by 2 mm, so that the wall carries what it can (Janssen)",
        parameters: &[
            Parameter::new("n", "2400", "", "number of grains, up to 6000", "generate.pour.0.count"),
            Parameter::new("mu", "0.5", "", "coefficient of friction between grains", "contact.mu"),
            Parameter::new("mu_wall", "0.3", "", "at the wall", "contact.pairs.0.mu"),
            Parameter::new("end", "1", "s", "duration", "time.end"),
            Parameter::new("seed", "1", "", "sizes and places", "generate.pour.0.seed"),
        ],
        toml: toml!("silo"),
    },
    BuiltIn {
        name: "chute",
        about: "grains flow down a rough base, periodic along and across the flow",
        parameters: &[
            Parameter::new("gravity", "[3.990087, 0, -8.961881]", "m/s2", "which leans by the angle of the chute", "gravity"),
            Parameter::new("mu", "0.5", "", "coefficient of friction", "contact.mu"),
            Parameter::new("end", "6", "s", "duration", "time.end"),
            Parameter::new("seed", "1", "", "sizes and velocities", "generate.lattice.1.seed"),
        ],
        toml: toml!("chute"),
    },
    BuiltIn {
        name: "compression",
        about: "balls without weight under a lid, periodic along x and y, come to rest with as many contacts as equations",
        parameters: &[
            Parameter::new("pressure", "-1000", "Pa", "on the lid, negative downwards", "bodies.1.servo.pressure"),
            Parameter::new("mu", "0", "", "coefficient of friction between grains", "contact.mu"),
            Parameter::new("end", "0.6", "s", "duration", "time.end"),
            Parameter::new("seed", "1", "", "sizes, places and velocities", "generate.lattice.0.seed"),
        ],
        toml: toml!("compression"),
    },
    BuiltIn {
        name: "bouncing_ball",
        about: "a ball falls 1 m and bounces until it rests",
        parameters: &[Parameter::new("restitution", "0.9", "", "ratio of the speeds after and before a bounce", "contact.e_n")],
        toml: toml!("bouncing_ball"),
    },
    BuiltIn {
        name: "dzhanibekov",
        about: "a free body that spins about its middle axis turns over and over",
        parameters: &[],
        toml: toml!("dzhanibekov"),
    },
];
