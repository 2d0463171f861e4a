//! `[[joints]]`, `[[transmissions]]`, `[[motors]]` and `[[interactions]]`: what holds bodies together and drives them.

use glam::DVec3;

use super::bodies::{self, Names};
use super::error::{SceneError, did_you_mean};
use super::fields::{Field, Fields};
use super::model::{Joint, Motion, Scene, Tie, Transmission};
use super::units::{Quantity, short};
use crate::model::joint::{Bearing, Freedom, JointKind, JointSpec, Motor, Spring, TieLaw, TieRelation, TieSpec, TransmissionSpec};

/// Names of the kinds of joints.
pub(super) const JOINTS: [(&str, JointKind); 9] = [
    ("spherical", JointKind::Spherical),
    ("fixed", JointKind::Fixed),
    ("revolute", JointKind::Revolute),
    ("prismatic", JointKind::Prismatic),
    ("cylindrical", JointKind::Cylindrical),
    ("universal", JointKind::Universal),
    ("planar", JointKind::Planar),
    ("distance", JointKind::Distance(0.0)),
    // a distance that may be less
    ("rope", JointKind::Distance(1.0)),
];

/// Keys that some joints have, or that stand elsewhere in them, and what is to be said where they are not known.
const OF_JOINTS: &[(&[&str], &str)] = &[
    (
        &["friction", "mu"],
        "what rubs in a joint is `friction`, a force or a torque, or `bearing = { mu, radius }` for what its load makes: of revolute, prismatic \
         and cylindrical joints",
    ),
    (&["restitution", "e_n"], "`restitution` is that of the stops of a joint: give it `limits = [from, to]`, or kind = \"rope\""),
    (&["limits", "motor", "servo", "bearing"], "a coordinate on which this could act have revolute, prismatic and cylindrical joints"),
];
/// The same of interactions.
const OF_TIES: &[(&[&str], &str)] = &[
    (&["friction", "mu"], "what rubs in an interaction is its law: law = { kind = \"relay\", limit = … }, a force or a torque"),
    (&["restitution", "e_n"], "`restitution` stands in the law: law = { kind = \"impact\", restitution = 0.5 }"),
];

/// Reads all of them into the scene, which has its bodies.
pub(super) fn read(f: &mut Fields<'_>, scene: &mut Scene, names: &Names) -> Result<(), SceneError> {
    for (k, field) in f.list("joints")?.iter().enumerate() {
        let joint = joint(field, k, scene, names)?;
        scene.joints.push(joint);
    }
    for (k, field) in f.list("transmissions")?.iter().enumerate() {
        let transmission = transmission(field, k, scene, names)?;
        scene.transmissions.push(transmission);
    }
    for (k, field) in f.list("interactions")?.iter().enumerate() {
        let tie = tie(field, k, scene, names)?;
        scene.ties.push(tie);
    }
    f.list("motors")?.iter().try_for_each(|field| motor(field, scene))
}

/// The second body; none for the world.
fn second(f: &mut Fields<'_>, names: &Names) -> Result<Option<usize>, SceneError> {
    Ok(f.maybe("body2", |b| if b.text()? == "world" { Ok(None) } else { names.body(&b).map(Some) })?.flatten())
}

/// Units of a coordinate, its rate, and the effort on it.
fn units(freedom: Freedom) -> [Quantity; 3] {
    match freedom {
        Freedom::Angle => [Quantity::Angle, Quantity::AngularVelocity, Quantity::Torque],
        _ => [Quantity::Length, Quantity::Velocity, Quantity::Force],
    }
}

fn velocity_motor(f: &mut Fields<'_>, freedom: Freedom) -> Result<Motor, SceneError> {
    let [_, speed, effort] = units(freedom);
    Ok(Motor { speed: f.required("speed")?.number(speed)?, limit: f.required("limit")?.non_negative(effort)? })
}

fn servo(f: &mut Fields<'_>, freedom: Freedom) -> Result<Spring, SceneError> {
    let [way, _, effort] = units(freedom);
    let (rest, limit) = (f.required("position")?.number(way)?, f.required("limit")?.positive(effort)?);
    Ok(Spring { rest, limit, ..spring(f, freedom)? })
}

/// Stiffness and damping of a spring or servo.
fn spring(f: &mut Fields<'_>, freedom: Freedom) -> Result<Spring, SceneError> {
    let [stiffness, damping] = match freedom {
        Freedom::Angle => [Quantity::TorsionStiffness, Quantity::TorsionDamping],
        _ => [Quantity::Stiffness, Quantity::Damping],
    };
    let stiffness = f.or("stiffness", 0.0, |x| x.non_negative(stiffness))?;
    let damping = f.or("damping", 0.0, |x| x.non_negative(damping))?;
    Ok(Spring { stiffness, damping, ..Spring::default() })
}

fn joint(field: &Field<'_>, number: usize, scene: &Scene, names: &Names) -> Result<Joint, SceneError> {
    let mut f = field.fields()?;
    let name = f.or("name", format!("joint{number}"), |n| bodies::name(&n))?;
    if scene.joints.iter().any(|j| j.name == name) {
        return Err(field.error(format!("found a second joint named {name:?}"), "give each joint a name of its own"));
    }
    let kind = f.or("kind", JointKind::Spherical, |k| k.choice(&JOINTS))?;
    let body1 = names.body(&f.required("body1")?)?;
    let body2 = second(&mut f, names)?;
    let anchor = f.required("anchor")?.vector(Quantity::Length)?;
    let mut spec = JointSpec::new(kind).at(anchor);
    match kind {
        JointKind::Spherical | JointKind::Fixed => {}
        JointKind::Distance(slack) => {
            spec.anchor2 = f.required("anchor2")?.vector(Quantity::Length)?;
            spec.slack = slack > 0.0;
            let length = f.or("length", anchor.distance(spec.anchor2), |l| l.positive(Quantity::Length))?;
            spec.kind = JointKind::Distance(length);
        }
        JointKind::Universal => {
            spec.axis = f.required("axis")?.direction()?;
            spec.across = Some(f.required("across")?.direction()?);
        }
        _ => spec.axis = f.or("axis", DVec3::Z, |a| a.direction())?,
    }
    if let Some(freedom) = spec.freedom() {
        let [way, _, effort] = units(freedom);
        spec.limits = f.maybe("limits", |l| match &l.items()?[..] {
            [low, high] => Ok([low.bound(way)?, high.bound(way)?]),
            other => {
                let cure = "write limits = [low, high]; \"-inf\" and \"inf\" leave a side open";
                Err(l.error(format!("found {} numbers, expected 2", other.len()), cure))
            }
        })?;
        spec.friction = f.or("friction", 0.0, |x| x.non_negative(effort))?;
        spec.bearing = f.maybe("bearing", |b| {
            let mut b = b.fields()?;
            let mu = b.required("mu")?.non_negative(Quantity::Number)?;
            let radius = if freedom == Freedom::Angle { b.required("radius")?.positive(Quantity::Length)? } else { 0.0 };
            b.finish()?;
            Ok(Bearing { mu, radius })
        })?;
        spec.motor = f.maybe("motor", |m| {
            let mut m = m.fields()?;
            let motor = velocity_motor(&mut m, freedom)?;
            m.finish()?;
            Ok(motor)
        })?;
        let driven = spec.motor.is_some();
        spec.servo = f.maybe("servo", |s| {
            if driven {
                return Err(s.error("found `servo` beside `motor`", "a joint takes one of them: remove the other"));
            }
            let mut s = s.fields()?;
            let servo = servo(&mut s, freedom)?;
            s.finish()?;
            Ok(servo)
        })?;
        spec.spring = f.maybe("spring", |s| {
            let mut s = s.fields()?;
            let rest = s.or("rest", 0.0, |r| r.number(way))?;
            let spring = Spring { rest, ..spring(&mut s, freedom)? };
            s.finish()?;
            Ok(spring)
        })?;
    }
    if let (JointKind::Distance(_), false) = (kind, spec.slack) {
        spec.spring = f.maybe("spring", |s| {
            let mut s = s.fields()?;
            let spring = spring(&mut s, Freedom::Distance)?;
            s.finish()?;
            Ok(spring)
        })?;
    }
    if spec.limits.is_some() || spec.slack {
        spec.restitution = f.or("restitution", 0.0, |e| e.between(0.0, 1.0))?;
    }
    f.finish_knowing(OF_JOINTS)?;
    let moves = |i: usize| scene.bodies[i].motion == Motion::Dynamic;
    if body2 == Some(body1) || !(moves(body1) || body2.is_some_and(moves)) {
        return Err(field
            .error("found a joint that holds no two bodies of which one is dynamic", "join a dynamic body with another one or the world"));
    }
    spec.validate().map_err(|reason| field.error(format!("found a joint that cannot be: {reason}"), "correct it"))?;
    Ok(Joint { name, body1, body2, spec })
}

fn transmission(field: &Field<'_>, number: usize, scene: &Scene, names: &Names) -> Result<Transmission, SceneError> {
    let mut f = field.fields()?;
    let name = f.or("name", format!("transmission{number}"), |n| bodies::name(&n))?;
    let kind = f.required("kind")?.choice(&[("gear", 0), ("rack", 1), ("screw", 2)])?;
    let body1 = names.body(&f.required("body1")?)?;
    let body2 = second(&mut f, names)?;
    let axis = f.or("axis", DVec3::Z, |a| a.direction())?;
    let spec = match kind {
        0 => {
            let other = f.or("axis2", axis, |a| a.direction())?;
            TransmissionSpec::Gear { axes: [axis, other], ratio: f.required("ratio")?.number(Quantity::Number)? }
        }
        1 => TransmissionSpec::Rack {
            axis,
            direction: f.required("direction")?.direction()?,
            radius: f.required("radius")?.number(Quantity::Length)?,
        },
        _ => TransmissionSpec::Screw { axis, lead: f.required("lead")?.number(Quantity::Length)? },
    };
    f.finish()?;
    let moves = |i: usize| scene.bodies[i].motion == Motion::Dynamic;
    if body2 == Some(body1) || !(moves(body1) || body2.is_some_and(moves)) {
        let cure = "let a dynamic body go with another one";
        return Err(field.error("found a transmission without two bodies of which one is dynamic", cure));
    }
    spec.validate(body2.is_some()).map_err(|reason| field.error(format!("found a transmission that cannot be: {reason}"), "correct it"))?;
    Ok(Transmission { name, body1, body2, spec })
}

/// A motor on the coordinate of a joint that is named: as its keys `motor` and `servo`.
fn motor(field: &Field<'_>, scene: &mut Scene) -> Result<(), SceneError> {
    let mut f = field.fields()?;
    let named = f.required("joint")?;
    let name = named.text()?;
    let Some(joint) = scene.joints.iter().position(|j| j.name == name) else {
        let known: Vec<&str> = scene.joints.iter().map(|j| j.name.as_str()).collect();
        return Err(named.error(format!("found no joint named \"{}\"", short(name)), did_you_mean(name, known)));
    };
    let spec = &mut scene.joints[joint].spec;
    let Some(freedom) = spec.freedom() else {
        let message = format!("found a motor on the joint {name:?}, which has no coordinate of its own");
        return Err(named.error(message, "revolute, prismatic and cylindrical joints have one"));
    };
    if spec.motor.is_some() || spec.servo.is_some() {
        let message = format!("found a second motor on the joint {name:?}");
        return Err(named.error(message, "a joint has one motor: as `motor` or `servo` in [[joints]], or as one [[motors]]"));
    }
    // asked for in turn, so that the other one is an unknown key
    if f.optional("speed").is_some() {
        let positions = ["position", "stiffness", "damping"].map(|key| f.optional(key));
        if let Some(extra) = positions.into_iter().flatten().next() {
            return Err(extra.error("found it beside `speed`", "give a `speed`, or a `position` with stiffness and damping"));
        }
        spec.motor = Some(velocity_motor(&mut f, freedom)?);
    } else if f.optional("position").is_some() {
        spec.servo = Some(servo(&mut f, freedom)?);
    } else {
        return Err(field.error("found neither `speed` nor `position`", "give a motor one of them, and a `limit`"));
    }
    f.finish()?;
    let checked = scene.joints[joint].spec.validate();
    checked.map_err(|reason| field.error(format!("found a motor that cannot be: {reason}"), "correct it"))
}

/// Words for the relations of [`TieRelation`].
pub(super) const RELATIONS: [&str; 5] = ["points", "distance", "displacement", "angle", "linear"];

fn tie(field: &Field<'_>, number: usize, scene: &Scene, names: &Names) -> Result<Tie, SceneError> {
    let mut f = field.fields()?;
    let name = f.or("name", format!("interaction{number}"), |n| bodies::name(&n))?;
    let taken = |n: &String| *n == name;
    if scene.ties.iter().map(|t| &t.name).chain(scene.joints.iter().map(|j| &j.name)).any(taken) {
        return Err(field.error(format!("found a second joint or interaction named {name:?}"), "give each a name of its own"));
    }
    let body1 = names.body(&f.required("body1")?)?;
    let body2 = second(&mut f, names)?;
    let choices: Vec<(&'static str, usize)> = RELATIONS.iter().enumerate().map(|(k, word)| (*word, k)).collect();
    let relation = f.required("relation")?.choice(&choices)?;
    let anchors = |f: &mut Fields<'_>| -> Result<[DVec3; 2], SceneError> {
        let one = f.required("anchor")?.vector(Quantity::Length)?;
        Ok([one, f.or("anchor2", one, |a| a.vector(Quantity::Length))?])
    };
    let line = |f: &mut Fields<'_>| -> Result<(DVec3, DVec3), SceneError> {
        Ok((f.required("anchor")?.vector(Quantity::Length)?, f.or("axis", DVec3::Z, |a| a.direction())?))
    };
    let relation = match relation {
        0 => TieRelation::Points { anchors: anchors(&mut f)? },
        1 => TieRelation::Distance { anchors: anchors(&mut f)? },
        2 => line(&mut f).map(|(anchor, axis)| TieRelation::Displacement { anchor, axis })?,
        3 => line(&mut f).map(|(anchor, axis)| TieRelation::Angle { anchor, axis })?,
        _ => {
            let one = f.required("factor1")?.vector(Quantity::Number)?;
            TieRelation::Linear { factors: [one, f.or("factor2", DVec3::ZERO, |a| a.vector(Quantity::Number))?] }
        }
    };
    let freedom = if matches!(relation, TieRelation::Angle { .. }) { Freedom::Angle } else { Freedom::Displacement };
    let [way, speed, _] = units(freedom);
    let law = f.required("law")?;
    let mut spec = TieSpec::new(relation, tie_law(&law, freedom)?);
    // where y is zero, and on which side of it q stays
    let places = ["offset", "at_least", "at_most"].map(|key| (key, f.optional(key)));
    let mut given = places.into_iter().filter_map(|(key, field)| field.map(|field| (key, field)));
    if let Some((key, place)) = given.next() {
        spec.offset = place.number(way)?;
        spec.reversed = key == "at_most";
        if let Some((_, second)) = given.next() {
            return Err(second.error(format!("found it beside `{key}`"), "give one of offset, at_least and at_most"));
        }
        if key != "offset" && !matches!(spec.law, TieLaw::Impact { .. }) {
            return Err(place.error(format!("found `{key}` with a law that holds on both sides"), "write `offset`, or law = \"impact\""));
        }
    }
    spec.speed = f.or("speed", 0.0, |s| s.number(speed))?;
    f.finish_knowing(OF_TIES)?;
    let moves = |i: usize| scene.bodies[i].motion == Motion::Dynamic;
    if body2 == Some(body1) || !(moves(body1) || body2.is_some_and(moves)) {
        let cure = "name a dynamic body, and another one or the world";
        return Err(field.error("found an interaction without two bodies of which one is dynamic", cure));
    }
    spec.validate().map_err(|reason| field.error(format!("found an interaction that cannot be: {reason}"), "correct it"))?;
    Ok(Tie { name, body1, body2, spec })
}

/// `"equality"`, `"impact"`, or a table with a kind and numbers.
fn tie_law(field: &Field<'_>, freedom: Freedom) -> Result<TieLaw, SceneError> {
    let kinds = [("equality", 0), ("impact", 1), ("relay", 2), ("spring", 3)];
    if !field.is_table() {
        return match field.choice(&kinds)? {
            0 => Ok(TieLaw::Equality),
            1 => Ok(TieLaw::Impact { restitution: 0.0 }),
            _ => Err(field
                .error("found a law without its numbers", "write { kind = \"spring\", stiffness = … } or { kind = \"relay\", limit = … }")),
        };
    }
    let effort = units(freedom)[2];
    let mut f = field.fields()?;
    let law = match f.required("kind")?.choice(&kinds)? {
        0 => TieLaw::Equality,
        1 => TieLaw::Impact { restitution: f.or("restitution", 0.0, |e| e.between(0.0, 1.0))? },
        2 => match f.maybe("limit", |l| l.non_negative(effort))? {
            Some(limit) => TieLaw::Relay { bounds: [-limit, limit] },
            None => TieLaw::Relay { bounds: [f.required("lower")?.number(effort)?, f.required("upper")?.number(effort)?] },
        },
        _ => {
            let Spring { stiffness, damping, .. } = spring(&mut f, freedom)?;
            TieLaw::Spring { stiffness, damping, limit: f.or("limit", f64::INFINITY, |l| l.positive(effort))? }
        }
    };
    f.finish()?;
    Ok(law)
}
