//! A scene as the text of a scene file that reads back as the same scene.

use std::fmt::Write as _;

use glam::DVec3;

use super::grains;
use super::ground::{Pulse, PulseForm};
use super::links::{JOINTS, RELATIONS};
use super::loads::Uplift;
use super::model::{
    Body, ContactLaw, Drift, Drive, ForceBins, Friction, Gyroscopic, Motion, PairDistances, Recorded, Scene, Segregation, ShapeSpec,
    Treatment,
};
use crate::algebra::spatial::Pose;
use crate::granular::sizes::{Given, Sizes};
use crate::model::bond::{Cohesion, Softening};
use crate::model::flow::Region;
use crate::model::grid::Grid;
use crate::model::joint::{JointKind, JointSpec, TieLaw, TieRelation, TieSpec, TransmissionSpec};
use crate::model::law::{Arm, Impact};
use crate::model::periodic::Shear;
use crate::model::pile::Rules;
use crate::model::surface::{Extent, Surface};

impl Scene {
    /// The scene as TOML, with every body written out; its study, which names generators, is left out.
    ///
    /// ```
    /// use drystone::io::scene::model::{BodySpec, Scene, ShapeSpec};
    /// let mut scene = Scene::new("one ball");
    /// scene.bodies.push(BodySpec::new("ball", ShapeSpec::Ball { radius: 0.1 }));
    /// assert_eq!(Scene::from_toml(&scene.to_toml(), "t")?, scene);
    /// # Ok::<(), drystone::io::scene::SceneError>(())
    /// ```
    pub fn to_toml(&self) -> String {
        let mut t = String::new();
        let _ = self.write(&mut t); // a String takes everything
        t
    }

    fn write(&self, t: &mut String) -> std::fmt::Result {
        writeln!(t, "name = {}", text(&self.name))?;
        if !self.title.is_empty() {
            writeln!(t, "title = {}", text(&self.title))?;
        }
        let gravity = self.gravity.iter().map(|g| format!("{{ from = {:?}, acceleration = {} }}", g.time, vector(g.acceleration)));
        writeln!(t, "gravity = {}", list(gravity))?;
        let time = &self.time;
        match time.accuracy {
            None => writeln!(t, "\n[time]\nstep = {:?}", time.step)?,
            Some(accuracy) => writeln!(t, "\n[time]\nstep = \"auto\"\naccuracy = {accuracy:?}\nstep_max = {:?}", time.step)?,
        }
        writeln!(t, "end = {:?}", time.end)?;
        match time.treatment {
            Treatment::GapAware { beta } => writeln!(t, "treatment = \"gap_aware\"\nbeta = {beta:?}")?,
            Treatment::Forecast { theta } => writeln!(t, "treatment = \"forecast\"\ntheta = {theta:?}")?,
        }
        let gyroscopic = if time.gyroscopic == Gyroscopic::Midpoint { "midpoint" } else { "theta_rule" };
        writeln!(t, "gyroscopic = \"{gyroscopic}\"")?;
        if time.drift == Drift::Projection {
            writeln!(t, "drift = \"projection\"")?;
        }
        if !self.periodic.is_open() {
            writeln!(t, "\n[periodic]")?;
            for (a, axis) in ["x", "y", "z"].into_iter().enumerate().filter(|(a, _)| self.periodic.periodic(*a)) {
                writeln!(t, "{axis} = [{:?}, {:?}]", self.periodic.low[a], self.periodic.high[a])?;
            }
            if let Some(Shear { across, along, rate }) = self.periodic.shear {
                let [across, along] = [across, along].map(|a| ["x", "y", "z"][a]);
                let (flow, way) = (self.flows, self.periodic.way());
                writeln!(
                    t,
                    "shear = {{ across = \"{across}\", along = \"{along}\", rate = {rate:?}, flow = {flow}, displacement = {way:?} }}"
                )?;
            }
        }
        let solver = &self.solver;
        writeln!(
            t,
            "\n[solver]\ntolerance = {:?}\nmax_sweeps = {}\nwarm_start = {}",
            solver.tolerance, solver.max_sweeps, solver.warm_start
        )?;
        if solver.friction == Friction::Lagged {
            writeln!(t, "friction = \"lagged\"")?;
        }
        for material in &self.materials {
            writeln!(t, "\n[[materials]]\nname = {}\ndensity = {:?}", text(&material.name), material.density)?;
        }
        writeln!(t, "\n[contact]\n{}", law(&self.default_law, &ContactLaw::default(), "\n"))?;
        for pair in &self.pair_laws {
            let names = pair.materials.map(|m| text(&self.materials[m].name));
            writeln!(t, "\n[[contact.pairs]]\nmaterials = {}\n{}", list(names), law(&pair.law, &self.default_law, "\n"))?;
        }
        for body in &self.bodies {
            self.body_text(t, body)?;
        }
        for joint in &self.transmissions {
            let (one, two) = (&self.bodies[joint.body1].name, joint.body2.map_or("world", |k| &self.bodies[k].name));
            writeln!(t, "\n[[transmissions]]\nname = {}\nbody1 = {}\nbody2 = {}", text(&joint.name), text(one), text(two))?;
            match joint.spec {
                TransmissionSpec::Gear { axes, ratio } => {
                    writeln!(t, "kind = \"gear\"\naxis = {}\naxis2 = {}\nratio = {ratio:?}", vector(axes[0]), vector(axes[1]))?;
                }
                TransmissionSpec::Rack { axis, direction, radius } => {
                    let (axis, direction) = (vector(axis), vector(direction));
                    writeln!(t, "kind = \"rack\"\naxis = {axis}\ndirection = {direction}\nradius = {radius:?}")?;
                }
                TransmissionSpec::Screw { axis, lead } => writeln!(t, "kind = \"screw\"\naxis = {}\nlead = {lead:?}", vector(axis))?,
            }
        }
        for joint in &self.joints {
            writeln!(t, "\n[[joints]]\nname = {}\nbody1 = {}", text(&joint.name), text(&self.bodies[joint.body1].name))?;
            if let Some(body2) = joint.body2 {
                writeln!(t, "body2 = {}", text(&self.bodies[body2].name))?;
            }
            joint_text(t, &joint.spec)?;
        }
        for tie in &self.ties {
            let (one, two) = (&self.bodies[tie.body1].name, tie.body2.map_or("world", |k| &self.bodies[k].name));
            writeln!(t, "\n[[interactions]]\nname = {}\nbody1 = {}\nbody2 = {}", text(&tie.name), text(one), text(two))?;
            tie_text(t, &tie.spec)?;
        }
        for load in &self.loads {
            writeln!(t, "\n[[load]]\nbodies = [{}]\nforce = {}", text(&self.bodies[load.body].name), vector(load.force))?;
            writeln!(t, "torque = {}\nfollows = {}", vector(load.torque), load.follows)?;
            if let Some(at) = load.at {
                writeln!(t, "at = {}", vector(at))?;
            }
            writeln!(t, "factor = {}", list(load.times.iter().zip(&load.factors).map(|(t, f)| format!("[{t:?}, {f:?}]"))))?;
        }
        for water in &self.water {
            let names = water.bodies.iter().map(|&i| text(&self.bodies[i].name));
            let levels = water.times.iter().zip(&water.levels).map(|(t, z)| format!("[{t:?}, {z:?}]"));
            let uplift = match water.uplift {
                Uplift::None => "none",
                Uplift::Linear => "linear",
                Uplift::Joints => "joints",
            };
            writeln!(t, "\n[[water]]\nbodies = {}\ndirection = {}", list(names), vector(water.direction))?;
            writeln!(t, "density = {:?}\nlevel = {}\nuplift = \"{uplift}\"", water.density, list(levels))?;
            if let Some(bed) = water.added_mass {
                writeln!(t, "added_mass = \"westergaard\"\nbed = {bed:?}")?;
            }
        }
        if let Some(base) = &self.base {
            let rows = base.times.iter().zip(&base.accelerations);
            writeln!(t, "\n[base]")?;
            if !base.times.is_empty() {
                writeln!(t, "samples = {}", list(rows.map(|(t, a)| format!("[{t:?}, {:?}, {:?}, {:?}]", a.x, a.y, a.z))))?;
            }
            let pulse = |p: &Pulse| {
                let form = PulseForm::ALL.iter().find(|f| f.1 == p.form).map_or("", |f| f.0);
                let (a, start, duration) = (vector(p.amplitude), p.start, p.duration);
                format!("{{ kind = \"{form}\", acceleration = {a}, start = {start:?}, duration = {duration:?} }}")
            };
            writeln!(t, "pulses = {}", list(base.pulses.iter().map(pulse)))?;
        }
        for outlet in &self.outlets {
            writeln!(t, "\n[[outlet]]\nname = {}\n{}", text(&outlet.name), region(&outlet.region))?;
        }
        for inlet in &self.inlets {
            let gate = &inlet.gate;
            let corners = region(&Region::Box { low: gate.low, high: gate.high });
            writeln!(t, "\n[[inlet]]\nname = {}\n{corners}\nradius = {}", text(&inlet.name), sizes(&inlet.sizes))?;
            if let Some(grain) = grains::text(&inlet.grain) {
                writeln!(t, "grain = {grain}")?;
            }
            writeln!(t, "rate = {:?}\nstart = {:?}\nseed = {}\ncount = {}", gate.rate, gate.start, gate.seed, inlet.count)?;
            writeln!(t, "material = {}\nvelocity = {}", text(&self.materials[inlet.material].name), vector(inlet.velocity))?;
            write_locks(t, inlet.locked_translation, inlet.locked_rotation)?;
        }
        for surface in &self.surfaces {
            writeln!(t, "\n[[surface]]\nname = {}\n{}", text(&surface.name), extent(&surface.surface))?;
        }
        self.camera.write(t)?;
        self.output.write(t)?;
        for recorder in &self.recorders {
            let what = match recorder.what {
                Recorded::Bodies => "bodies",
                Recorded::Contacts => "contacts",
                Recorded::Steps => "steps",
                Recorded::Joints => "joints",
            };
            writeln!(t, "\n[[recorders]]\nwhat = \"{what}\"\nevery = {:?}", recorder.every)?;
        }
        for table in &self.records {
            let signals = table.signals.iter().map(|signal| text(&self.signal_name(signal).0));
            writeln!(t, "\n[[record]]\nname = {}\nevery = {:?}\nsignals = {}", text(&table.name), table.every, list(signals))?;
        }
        for table in &self.measures {
            writeln!(t, "\n[[measure]]\nname = {}\nevery = {:?}", text(&table.name), table.every)?;
            if let Some([low, high]) = table.bounds {
                writeln!(t, "box = [{}, {}]", vector(low), vector(high))?;
            }
            if let Some(Segregation { axis, radius, between }) = &table.segregation {
                let between = between.map_or(String::new(), |between| format!(", between = {between:?}"));
                writeln!(t, "segregation = {{ axis = {}, radius = {radius:?}{between} }}", vector(*axis))?;
            }
            if let Some(PairDistances { largest, bins }) = &table.pairs {
                writeln!(t, "pairs = {{ largest = {largest:?}, bins = {bins} }}")?;
            }
            if let Some(ForceBins { largest, bins }) = &table.forces {
                writeln!(t, "forces = {{ largest = {largest:?}, bins = {bins} }}")?;
            }
            if let Some(rose) = &table.rose {
                writeln!(t, "rose = {{ plane = \"{}\", bins = {} }}", rose.plane_name(), rose.bins)?;
            }
        }
        for table in &self.piles {
            let Rules { origin, along, quantile, between } = table.rules;
            writeln!(t, "\n[[pile]]\nname = {}\nevery = {:?}\norigin = {}", text(&table.name), table.every, vector(origin))?;
            writeln!(t, "quantile = {quantile:?}\nbetween = {between:?}")?;
            if let Some(along) = along {
                writeln!(t, "along = {}", vector(along))?;
            }
        }
        for table in &self.fields {
            let Grid { low, high, cells, width, kernel, .. } = &table.grid;
            let files = list(table.files.iter().map(|f| text(f.name())));
            writeln!(t, "\n[[field]]\nname = {}\nevery = {:?}\nfiles = {files}", text(&table.name), table.every)?;
            let sides = [vector(*low), vector(*high)];
            writeln!(t, "box = [{}, {}]\ncells = {cells:?}\nwidth = {width:?}\nkernel = \"{}\"", sides[0], sides[1], kernel.name())?;
        }
        if let Some(stop) = &self.stop {
            writeln!(t, "\n[stop]\ncollapse = {}", stop.collapse)?;
            if let Some(way) = stop.displacement {
                writeln!(t, "displacement = {way:?}")?;
            }
            if let Some(ratio) = stop.unbalanced {
                writeln!(t, "unbalanced = {ratio:?}\nhold = {:?}", stop.hold)?;
            }
        }
        Ok(())
    }

    fn body_text(&self, t: &mut String, body: &Body) -> std::fmt::Result {
        writeln!(t, "\n[[bodies]]\nname = {}\nshape = {}", text(&body.name), shape(&body.shape))?;
        writeln!(t, "material = {}\n{}", text(&self.materials[body.material].name), pose(&body.pose, "\n"))?;
        for (key, value) in [
            ("velocity", body.linear_velocity),
            ("angular_velocity", body.angular_velocity),
            ("force", body.force),
            ("torque", body.torque),
        ] {
            if value != DVec3::ZERO && body.motion == Motion::Dynamic {
                writeln!(t, "{key} = {}", vector(value))?;
            }
        }
        for (key, value) in [("mass", body.mass), ("death", body.death), ("birth", Some(body.birth).filter(|b| *b > 0.0))] {
            if let Some(value) = value {
                writeln!(t, "{key} = {value:?}")?;
            }
        }
        for (key, value) in [("inertia", body.inertia), ("centre_of_mass", body.centre_of_mass)] {
            if let Some(value) = value {
                writeln!(t, "{key} = {}", vector(value))?;
            }
        }
        write_locks(t, body.locked_translation, body.locked_rotation)?;
        if let Some(servo) = &body.servo {
            writeln!(t, "servo = {}", servo.text())?;
        }
        match &body.motion {
            Motion::Dynamic => {}
            Motion::Static => writeln!(t, "motion = \"static\"")?,
            Motion::Kinematic(drive) => writeln!(t, "motion = {}", motion(drive))?,
        }
        if !body.impulses.is_empty() && body.motion == Motion::Dynamic {
            let blows = body.impulses.iter();
            let blows = blows.map(|b| format!("{{ time = {:?}, linear = {}, angular = {} }}", b.time, vector(b.linear), vector(b.angular)));
            writeln!(t, "impulses = {}", list(blows))?;
        }
        Ok(())
    }
}

/// A text in quotes.
pub(super) fn text(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// What of a body, or of the grains of an inlet, is locked.
fn write_locks(t: &mut String, translation: [bool; 3], rotation: [bool; 3]) -> std::fmt::Result {
    for (key, locks) in [("locked_translation", translation), ("locked_rotation", rotation)] {
        if locks != [false; 3] {
            let axes = ["\"x\"", "\"y\"", "\"z\""].into_iter().zip(locks).filter(|(_, locked)| *locked);
            writeln!(t, "{key} = {}", list(axes.map(|(axis, _)| axis.to_owned())))?;
        }
    }
    Ok(())
}

fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(", "))
}

fn vector(v: DVec3) -> String {
    format!("[{:?}, {:?}, {:?}]", v.x, v.y, v.z)
}

fn sizes(sizes: &Sizes) -> String {
    match sizes.given() {
        Given::Table { points, by } => format!("{{ kind = \"table\", by = \"{}\", points = {points:?} }}", by.name()),
        Given::LogNormal { median, sigma, bounds: [low, high], by } => {
            format!(
                "{{ kind = \"log_normal\", by = \"{}\", median = {median:?}, sigma = {sigma:?}, min = {low:?}, max = {high:?} }}",
                by.name()
            )
        }
    }
}

fn region(region: &Region) -> String {
    match *region {
        Region::Beyond { point, normal } => plane(point, normal),
        Region::Box { low, high } => corners(low, high),
    }
}

fn plane(point: DVec3, normal: DVec3) -> String {
    format!("plane = {{ point = {}, normal = {} }}", vector(point), vector(normal))
}

fn corners(low: DVec3, high: DVec3) -> String {
    // open sides are texts
    let bound = |x: f64| if x.is_finite() { format!("{x:?}") } else { format!("\"{x}\"") };
    let corner = |v: DVec3| list(v.to_array().map(bound));
    format!("box = [{}, {}]", corner(low), corner(high))
}

fn extent(surface: &Surface) -> String {
    let Surface { point, normal, extent } = *surface;
    match extent {
        Extent::Box { low, high } => plane(point, normal) + "\n" + &corners(low, high),
        Extent::Disc { radius } => format!("disc = {{ centre = {}, normal = {}, radius = {radius:?} }}", vector(point), vector(normal)),
        Extent::Rectangle { halves: [a, b] } => {
            format!("rectangle = {{ centre = {}, edges = [{}, {}] }}", vector(point), vector(2.0 * a), vector(2.0 * b))
        }
    }
}

/// Every key in which it is not `base`, from which keys that are not written come, and the four that laws have always.
fn law(law: &ContactLaw, base: &ContactLaw, between: &str) -> String {
    let impact = match law.impact {
        Impact::Newton => "newton",
        Impact::Fremond => "fremond",
    };
    let pull = if law.adhesion == 0.0 && base.adhesion > 0.0 {
        format!("{between}adhesion = 0.0")
    } else if law.rupture > 0.0 {
        format!("{between}adhesion = {:?}{between}rupture = {:?}", law.adhesion, law.rupture)
    } else if law.adhesion > 0.0 {
        format!("{between}adhesion = {:?}{between}adhesion_range = {:?}", law.adhesion, law.adhesion_range)
    } else {
        String::new()
    };
    let falls = if law.e_n_speed > 0.0 || law.e_n > 0.0 && base.e_n_speed > 0.0 {
        format!("{between}e_n_speed = {:?}", law.e_n_speed)
    } else {
        String::new()
    };
    let arm = |name: &str, arm: Arm, base: Arm| match arm {
        _ if arm == base && base.number() == 0.0 => String::new(),
        Arm::Length(x) => format!("{between}{name} = \"{x:?} m\""),
        Arm::Radius(x) => format!("{between}{name} = {x:?}"),
    };
    let turn = arm("mu_r", law.mu_r, base.mu_r) + &arm("mu_t", law.mu_t, base.mu_t) + &arm("patch", law.patch, base.patch);
    let none = |name: &str, has: bool| if has { format!("{between}{name} = \"none\"") } else { String::new() };
    let bond = law.bond.map_or_else(|| none("bond", base.bond.is_some()), |bond| format!("{between}bond = {}", cohesion(&bond)));
    let crushing = law.crushing.map_or_else(
        || none("crushing", base.crushing.is_some()),
        |law| format!("{between}crushing = {{ strength = {:?}, divisions = {} }}", law.strength, law.divisions),
    );
    format!(
        "mu = {:?}{between}e_n = {:?}{between}e_t = {:?}{between}impact = \"{impact}\"{falls}{pull}{turn}{bond}{crushing}",
        law.mu, law.e_n, law.e_t
    )
}

fn cohesion(bond: &Cohesion) -> String {
    let Cohesion { tension, cohesion, stiffness, energy, softening, neck } = bond;
    let soft = match softening {
        Softening::Brittle => String::new(),
        Softening::Linear => format!(", energy = {energy:?}, softening = \"linear\""),
        Softening::Exponential => format!(", energy = {energy:?}, softening = \"exponential\""),
    };
    let joined = if *neck > 0.0 { format!(", neck = {neck:?}") } else { String::new() };
    format!("{{ tension = {tension:?}, cohesion = {cohesion:?}, stiffness = {stiffness:?}{soft}{joined} }}")
}

fn pose(pose: &Pose, between: &str) -> String {
    let q = pose.rotation;
    format!("position = {}{between}orientation = [{:?}, {:?}, {:?}, {:?}]", vector(pose.position), q.w, q.x, q.y, q.z)
}

fn motion(drive: &Drive) -> String {
    match drive {
        Drive::Constant { linear, angular } => {
            format!("{{ kind = \"constant\", velocity = {}, angular_velocity = {} }}", vector(*linear), vector(*angular))
        }
        Drive::Sinusoid { linear, angular, frequency, phase } => format!(
            "{{ kind = \"sinusoid\", velocity = {}, angular_velocity = {}, frequency = {frequency:?}, phase = {phase:?} }}",
            vector(*linear),
            vector(*angular)
        ),
        Drive::Table { times, linear, angular } => {
            let vectors = |v: &[DVec3]| list(v.iter().map(|&v| vector(v)));
            let (velocity, spin) = (vectors(linear), vectors(angular));
            format!("{{ kind = \"table\", times = {times:?}, velocity = {velocity}, angular_velocity = {spin} }}")
        }
    }
}

fn shape(spec: &ShapeSpec) -> String {
    let kind = spec.kind();
    let rest = match spec {
        ShapeSpec::Ball { radius } => format!("radius = {radius:?}"),
        ShapeSpec::Cuboid { half_extents } => format!("half_extents = {}", vector(*half_extents)),
        ShapeSpec::HalfSpace { normal } => format!("normal = {}", vector(*normal)),
        ShapeSpec::Capsule { half_height, radius } | ShapeSpec::Cylinder { half_height, radius } => {
            format!("half_height = {half_height:?}, radius = {radius:?}")
        }
        ShapeSpec::Hull { points } => format!("points = {}", list(points.iter().map(|&p| vector(p)))),
        ShapeSpec::Mesh { vertices, triangles } => {
            format!("vertices = {}, triangles = {triangles:?}", list(vertices.iter().map(|&p| vector(p))))
        }
        ShapeSpec::HeightField { size, samples, heights } => format!("size = {size:?}, samples = {samples:?}, heights = {heights:?}"),
        ShapeSpec::Vessel { profile, thickness } => format!("profile = {profile:?}, thickness = {thickness:?}"),
        ShapeSpec::Compound { parts } => {
            let parts = parts.iter().map(|(at, part)| format!("{{ shape = {}, {} }}", shape(part), pose(at, ", ")));
            format!("parts = {}", list(parts))
        }
    };
    format!("{{ kind = \"{kind}\", {rest} }}")
}

/// All keys of an interaction but its bodies.
fn tie_text(t: &mut String, spec: &TieSpec) -> std::fmt::Result {
    let (kind, keys) = match &spec.relation {
        TieRelation::Points { anchors: [a, b] } => (0, format!("anchor = {}\nanchor2 = {}", vector(*a), vector(*b))),
        TieRelation::Distance { anchors: [a, b] } => (1, format!("anchor = {}\nanchor2 = {}", vector(*a), vector(*b))),
        TieRelation::Displacement { anchor, axis } => (2, format!("anchor = {}\naxis = {}", vector(*anchor), vector(*axis))),
        TieRelation::Angle { anchor, axis } => (3, format!("anchor = {}\naxis = {}", vector(*anchor), vector(*axis))),
        TieRelation::Linear { factors: [a, b] } => (4, format!("factor1 = {}\nfactor2 = {}", vector(*a), vector(*b))),
    };
    let law = match &spec.law {
        TieLaw::Equality => "\"equality\"".to_owned(),
        TieLaw::Impact { restitution } => format!("{{ kind = \"impact\", restitution = {restitution:?} }}"),
        TieLaw::Relay { bounds: [lower, upper] } => format!("{{ kind = \"relay\", lower = {lower:?}, upper = {upper:?} }}"),
        TieLaw::Spring { stiffness, damping, limit } => {
            let limit = if limit.is_finite() { format!(", limit = {limit:?}") } else { String::new() };
            format!("{{ kind = \"spring\", stiffness = {stiffness:?}, damping = {damping:?}{limit} }}")
        }
    };
    let place = if spec.reversed { "at_most" } else { "offset" };
    writeln!(t, "relation = \"{}\"\n{keys}\nlaw = {law}\n{place} = {:?}\nspeed = {:?}", RELATIONS[kind], spec.offset, spec.speed)
}

/// All keys of a joint but its bodies.
fn joint_text(t: &mut String, spec: &JointSpec) -> std::fmt::Result {
    let kind = match spec.kind {
        JointKind::Distance(_) if spec.slack => "rope",
        JointKind::Distance(_) => "distance",
        kind => JOINTS.iter().find(|(_, k)| *k == kind).map_or("spherical", |(name, _)| name),
    };
    writeln!(t, "kind = \"{kind}\"\nanchor = {}", vector(spec.anchor))?;
    match spec.kind {
        JointKind::Spherical | JointKind::Fixed => {}
        JointKind::Distance(length) => writeln!(t, "anchor2 = {}\nlength = {length:?}", vector(spec.anchor2))?,
        _ => writeln!(t, "axis = {}", vector(spec.axis))?,
    }
    if let Some(across) = spec.across {
        writeln!(t, "across = {}", vector(across))?;
    }
    if let Some([lower, upper]) = spec.limits {
        writeln!(t, "limits = [{lower:?}, {upper:?}]")?;
    }
    if spec.limits.is_some() || spec.slack {
        writeln!(t, "restitution = {:?}", spec.restitution)?;
    }
    if spec.freedom().is_some() {
        writeln!(t, "friction = {:?}", spec.friction)?;
    }
    match spec.bearing {
        Some(b) if b.radius > 0.0 => writeln!(t, "bearing = {{ mu = {:?}, radius = {:?} }}", b.mu, b.radius)?,
        Some(b) => writeln!(t, "bearing = {{ mu = {:?} }}", b.mu)?,
        None => {}
    }
    let elastic = |s: &crate::model::joint::Spring| format!("stiffness = {:?}, damping = {:?}", s.stiffness, s.damping);
    match (&spec.spring, spec.kind) {
        (Some(s), JointKind::Distance(_)) => writeln!(t, "spring = {{ {} }}", elastic(s))?,
        (Some(s), _) => writeln!(t, "spring = {{ {}, rest = {:?} }}", elastic(s), s.rest)?,
        (None, _) => {}
    }
    if let Some(servo) = spec.servo {
        writeln!(t, "servo = {{ position = {:?}, {}, limit = {:?} }}", servo.rest, elastic(&servo), servo.limit)?;
    }
    if let Some(motor) = spec.motor {
        writeln!(t, "motor = {{ speed = {:?}, limit = {:?} }}", motor.speed, motor.limit)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::model::Study;
    use super::*;

    #[test]
    fn every_built_in_scene_reads_back_as_it_was() {
        for scene in crate::scenes::all() {
            let mut scene = crate::scenes::load(scene.name, &[]).unwrap_or_else(|e| panic!("{e}"));
            scene.study = Study::None;
            let mut again = Scene::from_toml(&scene.to_toml(), "t").unwrap_or_else(|e| panic!("{}: {e}", scene.name));
            for (a, b) in again.bodies.iter_mut().zip(&scene.bodies) {
                // a quaternion that is read is normalised
                assert!((a.pose.rotation - b.pose.rotation).length() < 1e-15, "{}", b.name);
                a.pose.rotation = b.pose.rotation;
            }
            assert!(again == scene, "{}", scene.name);
        }
    }

    #[test]
    fn everything_that_a_scene_can_hold_is_written() {
        let text = r#"
            name = "all \u00e9"
            title = "a \\ title"
            gravity = [{ from = 0, acceleration = [0, 0, -9.81] }, { from = 0.5, acceleration = [1, 0, -9.81] }]
            time = { step = "1 ms", end = 1.0, treatment = "forecast", theta = 0.75, gyroscopic = "theta_rule", drift = "projection" }
            solver = { tolerance = 1e-7, max_sweeps = 17, warm_start = false, friction = "lagged" }
            base = { samples = [[0, 0.1, 0, 0], [1, 0, 0, 0]] }
            [[materials]]
            name = "stone"
            density = 2400
            [[materials]]
            name = "wood"
            density = 600
            [contact]
            mu = 0.4
            e_n = 0.1
            e_n_speed = "2 mm/s"
            [[contact.pairs]]
            materials = ["stone", "wood"]
            mu = 0.2
            [[bodies]]
            name = "field"
            motion = "static"
            shape = { kind = "height_field", size = [2, 2], samples = [2, 2], heights = [0, 0, 0, 0.1] }
            [[bodies]]
            name = "belt"
            motion = { kind = "table", times = [0, 1], velocity = [[0, 0, 0], [1, 0, 0]] }
            shape = { kind = "cuboid", size = [1, 1, 0.1] }
            position = [5, 0, 0]
            [[bodies]]
            name = "both"
            material = "wood"
            shape = { kind = "compound", parts = [{ shape = { kind = "ball", radius = 0.1 }, position = [0.1, 0, 0] }, { shape = { kind = "capsule", radius = 0.1, half_height = 0.2 } }] }
            position = [0, 0, 3]
            orientation = [1, 0, 0, 0]
            mass = 3
            inertia = [1, 1, 1]
            centre_of_mass = [0, 0, 0.01]
            locked_rotation = ["x", "z"]
            force = [1, 2, 3]
            impulses = [{ time = 0.1, linear = [1, 0, 0] }]
            birth = 0.01
            death = 0.9
            [[bodies]]
            name = "bob"
            shape = { kind = "ball", radius = 0.1 }
            [[joints]]
            name = "hinge"
            kind = "revolute"
            body1 = "bob"
            anchor = [0, 0, 1]
            limits = ["-inf", 0.5]
            [[motors]]
            joint = "hinge"
            position = "10 deg"
            stiffness = 5
            limit = 7
            [[interactions]]
            body1 = "bob"
            body2 = "both"
            relation = "points"
            anchor = [0, 0, 2]
            anchor2 = [0, 0, 3]
            law = "equality"
            [[interactions]]
            name = "rope"
            body1 = "bob"
            relation = "distance"
            anchor = [0, 0, 0]
            anchor2 = [0, 0, 1]
            at_most = 1.1
            law = { kind = "impact", restitution = 0.5 }
            [[interactions]]
            body1 = "bob"
            relation = "displacement"
            anchor = [0, 0, 0]
            axis = [1, 0, 0]
            offset = "2 mm"
            speed = 0.1
            law = { kind = "relay", limit = 4 }
            [[interactions]]
            body1 = "bob"
            relation = "angle"
            anchor = [0, 0, 0]
            law = { kind = "spring", stiffness = 4, damping = 1 }
            [[interactions]]
            name = "pulley"
            body1 = "bob"
            body2 = "both"
            relation = "linear"
            factor1 = [0, 0, 1]
            factor2 = [0, 0, 2]
            law = "equality"
            [[outlet]]
            name = "drain"
            plane = { point = [0, 0, -5], normal = [0, 0, -1] }
            [[outlet]]
            box = [[-1, "-inf", 0], [1, "inf", "2 cm"]]
            [[inlet]]
            name = "tap"
            box = [[-1, 0, 0], [1, 0.5, 3]]
            rate = "3 g/s"
            count = 7
            radius = { kind = "two", small = "1 mm", large = "2 mm", share = 0.3, by = "mass" }
            velocity = [0, 0, -1]
            start = 0.1
            seed = 4
            locked_translation = ["y"]
            locked_rotation = ["x", "z"]
            [[inlet]]
            box = [[-1, 0, 0], [1, 0.5, 3]]
            rate = 1
            count = 3
            radius = { kind = "log_normal", median = "1 mm", sigma = 0.2, by = "mass" }
            [[load]]
            bodies = ["both"]
            force = [0, "1 kN", 0]
            at = [0, 0, 3.1]
            follows = true
            ramp = "0.5 s"
            start = 0.1
            [[load]]
            bodies = ["both", "bob"]
            torque = [0, 0, 1]
            factor = [[0, 0], [1, 2], [1, -1]]
            [[recorders]]
            what = "contacts"
            every = 0.1
            [[recorders]]
            what = "joints"
            [camera]
            from = [1, -2, 0.5]
            box = [[-1, -1, 0], [1, 1, "2 cm"]]
            [output]
            format = "vtkhdf"
            [stop]
            collapse = true
            displacement = "5 mm"
            unbalanced = 1e-3
            hold = 0.2
            [[measure]]
            every = 0.2
            [[measure]]
            name = "core"
            box = [[0, 0, 0], [1, 1, "2 cm"]]
            [[pile]]
            name = "heap"
            along = [0, -1, 0]
            origin = [0, "1 cm", 0.5]
            quantile = 0.95
            between = [0.1, 0.7]
            [[field]]
            every = 0.1
            box = [[0, 0, 0], [1, 2, "3 m"]]
            cells = [4, 1, 20]
            kernel = "heaviside"
            width = 0.3
            files = ["vtk"]
            [[record]]
            name = "table"
            every = 0.1
            signals = ["bob.z", "hinge.motor", "interaction0.output", "rope.rate", "load_work", "drain.mass", "outlet1.count", "tap.mass", "outlet_energy"]
        "#;
        let scene = Scene::from_toml(text, "t").unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(Scene::from_toml(&scene.to_toml(), "t").unwrap_or_else(|e| panic!("{e}")), scene);
    }
}
