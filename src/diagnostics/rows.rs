//! The rows of a structure: the points of its joints, with what binds them, and what its other constraints bear, from the rows of a step.

use super::equilibrium::{CLOSED, Joint, StaticsError, Structure};
use crate::algebra::spatial::tangents;
use crate::assembly::problem::StepProblem;
use crate::io::scene::model::Body;
use crate::model::bond::Bond;
use crate::model::newton_euler::BodyPose;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::mixed::{IMMOBILE, MixedProblem, System};
use crate::numerics::statics::{Limits, Statics, StepRows};
use crate::topology::bodies::Slot;
use bevy_ecs::prelude::{Entity, World};
use glam::DVec3;
use std::collections::BTreeMap;

/// The step of which rows are taken.
#[derive(Clone, Copy)]
pub(super) struct Instant {
    /// Its length (s).
    pub(super) step: f64,
    /// Whether it is one of a run, whose changes of momentum are loads; else bodies are at rest.
    pub(super) moved: bool,
}

/// What is known of a structure before its statics.
pub(super) struct Rows {
    joints: Vec<Joint>,
    names: Vec<String>,
    blocks: Vec<StepRows>,
    given: Vec<(usize, f64)>,
    simulated: Vec<f64>,
    instant: Instant,
}

/// Distance of a bond's point from the contact point beside which it stands, in parts of the smaller body; cosine between their normals.
const SAME_PLACE: f64 = 1e-3;
const SAME_FACE: f64 = 0.999;

/// A point of a joint that mortar binds.
struct Mortar {
    slots: [u32; 2],
    at: DVec3,
    axes: [DVec3; 2],
    area: f64,
    /// The first of its rows, after those of contacts.
    first: usize,
    limits: Limits,
    /// On its first body in the last step (N s, world).
    impulse: DVec3,
}

impl Mortar {
    /// A point of its own, which does not press.
    fn alone(self, contacts: usize) -> Point {
        let limits = Limits { crushing: 0.0, ..self.limits };
        let first = contacts + self.first;
        let rows = StepRows { rows: first..first + 3, set: AdmissibleSet::Coulomb { mu: 0.0 }, limits };
        {
            let [n, t] = self.axes;
            let impulse = [n, t, n.cross(t)].map(|axis| axis.dot(self.impulse));
            Point { at: self.at, frame: self.axes, rows, bound: self.area, impulse }
        }
    }
}

/// The points that mortar binds in a step.
fn mortar(world: &World, step: &StepProblem) -> Vec<Mortar> {
    let of = |(entity, point, first): (Entity, usize, usize)| {
        let bond = world.get::<Bond>(entity)?;
        let point = bond.points.get(point)?;
        let [one, two] = bond.bodies.map(|body| Some((world.get::<Slot>(body)?.0, world.get::<BodyPose>(body)?.0)));
        let (one, two) = (one?, two?);
        let normal = one.1.rotation * bond.normal;
        let at = 0.5 * (one.1.point(point.places[0]) + two.1.point(point.places[1]) + bond.shift);
        let strength = |f: f64| f * point.left * point.area;
        Some(Mortar {
            slots: [one.0.min(two.0), one.0.max(two.0)],
            at,
            axes: [normal, tangents(normal).0],
            area: point.area,
            first,
            impulse: point.impulse,
            limits: Limits { tension: strength(bond.law.tension), cohesion: strength(bond.law.cohesion), ..Limits::default() },
        })
    };
    step.bonded_points().filter_map(of).collect()
}

/// A point of a joint before the joints are counted.
struct Point {
    at: DVec3,
    frame: [DVec3; 2],
    rows: StepRows,
    bound: f64,
    /// In the last step (N s, in its frame).
    impulse: [f64; 3],
}

/// Points between two bodies, normals from the second to the first.
struct Face {
    slots: [u32; 2],
    points: Vec<Point>,
}

/// Points with one normal together, in the order of their first ones.
fn by_normal(points: Vec<Point>) -> Vec<Vec<Point>> {
    let mut faces: Vec<Vec<Point>> = Vec::new();
    for point in points {
        match faces.iter_mut().find(|face| face[0].frame[0].dot(point.frame[0]) > SAME_FACE) {
            Some(face) => face.push(point),
            None => faces.push(vec![point]),
        }
    }
    faces
}

/// The least radius of gyration of the bodies that a block links (m); 1 m where none can turn.
fn size(problem: &MixedProblem, systems: &[System; 3]) -> f64 {
    let gyration = |system: &System| {
        let System::Rigid(i) = *system else { return None };
        let body = problem.rigid.get(i as usize)?;
        let turns: f64 = DVec3::AXES.iter().map(|&axis| axis.dot(body.inertia_times(axis))).sum();
        (turns > 0.0).then(|| (3.0 * body.inverse_mass.x / turns).sqrt())
    };
    systems.iter().filter_map(gyration).reduce(f64::min).unwrap_or(1.0)
}

impl Rows {
    /// Gathers them; `there` holds the body of the scene in each slot.
    pub(super) fn of(step: &StepProblem, world: &World, bodies: &[Body], there: &[usize], instant: Instant) -> Self {
        let (global, p) = (step.global(), &step.problem);
        let reactions = &step.answer.reactions;
        let mut names = vec![String::new(); p.rigid.len()];
        let mut faces: BTreeMap<[u32; 2], Face> = BTreeMap::new();
        let mut mortars: BTreeMap<[u32; 2], Vec<Mortar>> = BTreeMap::new();
        mortar(world, step).into_iter().for_each(|m| mortars.entry(m.slots).or_default().push(m));
        for (place, &i) in step.places.iter().zip(there) {
            if let Some(name) = names.get_mut(place.row as usize) {
                name.clone_from(&bodies[i].name);
            }
        }
        for (group, &first) in step.groups.iter().zip(&step.first_contact) {
            let mut own = mortars.remove(&group.slots).unwrap_or_default();
            let mut points = Vec::new();
            let first = first as usize;
            let turned = p.contacts.get(first).is_some_and(|c| c.body1 != group.rows[0]);
            let slots = if turned { [group.slots[1], group.slots[0]] } else { group.slots };
            for k in first..first + group.points as usize {
                let c = &p.contacts[k];
                let [one, two] = slots.map(|s| &step.places[s as usize]);
                let at = if one.row == IMMOBILE { two.position + c.arm2 } else { one.position + c.arm1 };
                let same = |m: &Mortar| m.at.distance(at) <= SAME_PLACE * c.size && m.axes[0].dot(c.normal).abs() > SAME_FACE;
                let bound = own.iter().position(same).map(|i| own.swap_remove(i));
                // the gap enters the rows as a velocity that closes it; mortar fills it
                let open = c.b.x * instant.step > CLOSED * c.size && !(instant.moved && reactions.contacts[k].x > 0.0);
                if bound.is_none() && open {
                    continue;
                }
                let rows = StepRows {
                    rows: 3 * k..3 * k + 3,
                    set: AdmissibleSet::Coulomb { mu: c.mu },
                    limits: Limits {
                        crushing: if c.most > 0.0 { c.most / instant.step } else { f64::INFINITY },
                        ..bound.as_ref().map_or_else(Limits::default, |m| m.limits)
                    },
                };
                let (frame, own) = ([c.normal, c.tangent], reactions.contacts[k].to_array());
                let pull = bound.as_ref().map_or(DVec3::ZERO, |m| m.impulse * m.axes[0].dot(c.normal).signum());
                let pull = [pull.dot(c.normal), pull.dot(c.tangent), pull.dot(c.normal.cross(c.tangent))];
                let impulse = std::array::from_fn(|i| own[i] + pull[i]);
                points.push(Point { at, frame, rows, bound: bound.map_or(0.0, |m| m.area), impulse });
            }
            points.extend(own.into_iter().map(|m| m.alone(3 * p.contacts.len())));
            if !points.is_empty() {
                faces.insert(group.slots, Face { slots, points });
            }
        }
        for (slots, own) in mortars {
            faces.insert(slots, Face { slots, points: own.into_iter().map(|m| m.alone(3 * p.contacts.len())).collect() });
        }
        let (mut blocks, mut joints, mut simulated): (Vec<StepRows>, Vec<Joint>, Vec<f64>) = (Vec::new(), Vec::new(), Vec::new());
        // two bodies may touch in several faces: each is a joint, as what presses in one may pull in the other
        for (slots, points) in
            faces.into_values().flat_map(|face| by_normal(face.points).into_iter().map(move |points| (face.slots, points)))
        {
            joints.push(Joint {
                bodies: slots.map(|s| bodies[there[s as usize]].name.clone()),
                points: points.iter().map(|p| p.at).collect(),
                normal: points[0].frame[0],
                bound: points.iter().map(|p| p.bound).sum(),
                indices: slots.map(|s| there[s as usize]),
                row: 3 * blocks.len(),
                frames: points.iter().map(|p| p.frame).collect(),
            });
            simulated.extend(points.iter().flat_map(|p| p.impulse));
            blocks.extend(points.into_iter().map(|p| p.rows));
        }
        let mut given = Vec::new();
        let first = 3 * p.contacts.len();
        for (k, block) in p.blocks.iter().enumerate().filter(|(k, _)| !step.bonded.contains(k)) {
            let rows = first + block.first..first + block.first + block.rows;
            let soft = matches!(block.systems[2], System::General(_));
            let found = &reactions.blocks[block.first..block.first + block.rows];
            if k >= step.forced || soft && instant.moved {
                // forces of the user have none at rest
                given.extend(rows.zip(found).filter(|_| instant.moved).map(|(row, r)| (row, *r)));
                continue;
            }
            let holds = instant.moved && found.iter().any(|r| *r > 0.0);
            if !holds && step.room(k, instant.step).is_some_and(|room| room > CLOSED * size(p, &block.systems)) {
                continue;
            }
            if let System::General(i) = block.systems[2] {
                // a spring gives what its rows ask for at rest: u = D r + b = 0
                for (i, row) in rows.enumerate().map(|(r, row)| (p.general[i as usize].inverse + r * (block.rows + 1), row)) {
                    let mut r = [-global.w[row] / p.general_inverse[i]];
                    block.set.project(&mut r);
                    given.push((row, r[0]));
                }
            } else {
                simulated.extend(found);
                blocks.push(StepRows { rows, set: block.set, limits: Limits::default() });
            }
        }
        simulated.iter_mut().for_each(|r| *r /= instant.step);
        Self { joints, names, blocks, given, simulated, instant }
    }

    /// The structure of these rows.
    pub(super) fn structure(self, step: &StepProblem) -> Result<Structure, StaticsError> {
        let mut global = step.global();
        let Self { joints, names, blocks, given, mut simulated, instant } = self;
        let mut acceleration = 0.0f64;
        if instant.moved {
            let velocities = step.answer.velocities.rigid.iter().zip(&step.before.rigid);
            let changes = velocities.map(|(after, before)| (after.linear - before.linear).length());
            acceleration = changes.fold(0.0, f64::max) / instant.step;
            // what the step has given to the bodies is a load: M (v_free − v⁺)
            let v = step.answer.velocities.rigid.iter().flat_map(|t| [t.linear, t.angular]).flat_map(|x| x.to_array());
            let v: Vec<f64> = v.chain(step.answer.velocities.general.iter().copied()).collect();
            for (f, row) in global.f.iter_mut().zip(global.mass.outer_iterator()) {
                *f -= row.iter().map(|(j, m)| m * v[j]).sum::<f64>();
            }
        } else {
            simulated.clear();
        }
        let statics = Statics::of_step(&global, &blocks, &given, 6 * step.problem.rigid.len(), instant.step)?;
        Ok(Structure { joints, bodies: names.len(), acceleration, statics, names, simulated })
    }
}
