//! How bodies stand to each other at the start: overlaps, gaps where a block should stand, very different masses in touch.

use glam::DVec3;

use super::{Bodies, Severity, Short, Way};
use crate::geometry::{BroadPhase, ContactPoint, Crowd, Images, Placed, Scratch, Shape, contact_points};
use crate::io::scene::model::{Body, Drive, Motion, ShapeSpec};
use crate::model::joint::TieRelation;

/// Bodies that appear later, up to which their overlaps are looked at.
const MOST_LATE: usize = 1000;

/// Overlap (parts of the smaller length) that counts; of convex parts of a mesh, which follow it only so far.
const OVERLAP: f64 = 1e-6;
const OVERLAP_OF_PARTS: f64 = 1e-2;
/// From which overlap on, in parts of the smallest length of the smaller one and of the boxes of all parts, the mass of a body is wrong.
const SHARED: f64 = 1e-2;
/// Gaps below a block up to this part of its smallest length look like a mistake, larger ones like a fall.
const SMALL_GAP: f64 = 0.05;
/// Ratios of touching masses that make a step hard, and those that it cannot be relied on with.
const HARD_RATIO: f64 = 0.999e4;
const WRONG_RATIO: f64 = 0.999e6;

/// Overlaps after which no further pair is looked at: two hulls of sixty corners within each other take a tenth of a millisecond, and a heap of them at
/// one place has a hundred thousand pairs.
const MOST_OVERLAPS: usize = 5000;

type Found = Vec<(usize, String, String)>;

impl Bodies<'_> {
    /// Whether two bodies do not touch, as a joint, a transmission or an interaction stands between them.
    fn joined(&self, a: usize, b: usize) -> bool {
        let same = |body1, body2| (body1, body2) == (a, Some(b)) || (body1, body2) == (b, Some(a));
        self.scene.joints.iter().any(|j| same(j.body1, j.body2))
            || self.scene.transmissions.iter().any(|t| same(t.body1, t.body2))
            || self.scene.ties.iter().any(|t| same(t.body1, t.body2) && !matches!(t.spec.relation, TieRelation::Linear { .. }))
    }

    /// Overlaps at the start, blocks in the air, and touching bodies of very different mass.
    pub(super) fn contacts(&mut self) {
        let down = self.scene.gravity_at(0.0).normalize_or_zero();
        let (mut scratch, mut points) = (Scratch::default(), Vec::new());
        let mut overlaps: Vec<(usize, usize, DVec3)> = Vec::new();
        let (mut ratios, mut hard) = (Found::new(), Found::new());
        // the smallest gap below each body, and to whom
        let mut below: Vec<Option<(f64, usize)>> = vec![None; self.scene.bodies.len()];
        let mut touched = vec![None; self.scene.bodies.len()];
        let mut crowded = false;
        let near = match self.near() {
            Ok(near) => near,
            Err(crowd) => {
                let cure = "make bodies smaller, or move them apart: are lengths and places in the same unit?".to_owned();
                return self.say_some(vec![(crowd.leaf as usize, crowd.to_string(), cure)]);
            }
        };
        for (a, b, shift) in near {
            let (first, second) = (&self.scene.bodies[a], &self.scene.bodies[b]);
            let (Some(shape1), Some(shape2)) = (&self.shapes[a], &self.shapes[b]) else { continue };
            let moving = [first, second].map(|body| body.motion == Motion::Dynamic);
            let joined = self.joined(a, b);
            if moving == [false; 2] {
                continue;
            }
            let size = length(shape1).min(length(shape2));
            points.clear();
            contact_points(shape1, &first.pose, shape2, &second.pose.shifted(shift), SMALL_GAP * size, &mut scratch, &mut points);
            // a common edge holds nothing up
            points.retain(|p| !p.is_flush());
            let Some(deepest) = points.iter().min_by(|p, q| p.gap.total_cmp(&q.gap)) else { continue };
            lowest(&mut below, [a, b], &points, down);
            if deepest.gap <= OVERLAP * size {
                (touched[a], touched[b]) = (Some((0.0, b)), Some((0.0, a)));
            }
            if joined {
                continue;
            }
            let parts =
                [(a, moving[0]), (b, moving[1])].iter().any(|&(i, m)| m && matches!(self.scene.bodies[i].shape, ShapeSpec::Mesh { .. }));
            let allowed = if parts { OVERLAP_OF_PARTS } else { OVERLAP };
            if deepest.gap < -allowed * size && overlaps.len() >= MOST_OVERLAPS {
                crowded = true;
                break;
            }
            if deepest.gap < -allowed * size {
                // name the one that can be moved
                let (body, other, way) = if moving[1] { (b, a, -deepest.normal) } else { (a, b, deepest.normal) };
                let depth = -deepest.gap;
                overlaps.push((body, other, way * depth));
            }
            let ([true, true], Some(m1), Some(m2)) = (moving, self.masses[a], self.masses[b]) else { continue };
            let ratio = m1.max(m2) / m1.min(m2);
            if ratio >= HARD_RATIO && deepest.gap <= OVERLAP * size {
                let (light, heavy) = if m1 < m2 { (a, b) } else { (b, a) };
                let message = format!("it weighs {:.3e} kg and touches {} of {:.3e} kg", m1.min(m2), self.name(heavy), m1.max(m2));
                // a pebble on a rock is nothing: what counts is that the heavy one rests on the light one
                let onto = if light == a { -deepest.normal } else { deepest.normal }.dot(down) < -0.1 || down == DVec3::ZERO;
                if ratio >= WRONG_RATIO {
                    ratios.push((light, message, "keep ratios of touching masses below 1e6, or make the heavy body static".to_owned()));
                } else if onto {
                    let cure = "use a tight tolerance, such as 1e-6, and look at the penetration of the run".to_owned();
                    hard.push((light, message, cure));
                }
            }
        }
        // out of one and into the other is no way out
        let squeezed = |body: usize, way: DVec3| {
            overlaps.iter().any(|(b, _, other)| *b == body && way.dot(*other) < -0.5 * way.length() * other.length())
        };
        let told = |&(body, other, way): &(usize, usize, DVec3)| {
            let cure = match squeezed(body, way) {
                true => "make it smaller, or move apart what it overlaps: it is too large for the room between".to_owned(),
                false => format!("move it by {} m, or make it smaller", Way(way)),
            };
            let when = match self.scene.bodies[body].birth.max(self.scene.bodies[other].birth) {
                0.0 => "at the start".to_owned(),
                birth => format!("as it appears at {birth} s"),
            };
            (body, format!("overlaps {} by {:.4} m {when}", self.name(other), Short(way.length())), cure)
        };
        // each is compared with all: of a hundred thousand overlaps those are worked out that are told
        let untold = |&(body, ..): &(usize, usize, DVec3)| (body, String::new(), String::new());
        let listed = self.listed.min(overlaps.len());
        let overlaps: Found = overlaps[..listed].iter().map(told).chain(overlaps[listed..].iter().map(untold)).collect();
        self.say_some(overlaps);
        if crowded {
            let message = format!("more than {MOST_OVERLAPS} pairs of bodies overlap at the start; other pairs were not looked at");
            self.say(Severity::Fault, None, message, "are lengths and places in the same unit, and bodies apart?");
        }
        self.say_some(ratios);
        self.say_all(Severity::Hint, hard);
        // what has nothing below may be held by what it touches; a course that is too high touches its own blocks alone
        below.iter_mut().zip(touched).for_each(|(below, touched)| *below = below.or(touched));
        if !crowded {
            self.in_the_air(&below, down);
        }
    }

    /// Compounds whose parts overlap: what two of them share counts twice in mass and inertia, but for balls among themselves.
    pub(super) fn shared_volumes(&mut self) {
        let (mut scratch, mut points) = (Scratch::default(), Vec::new());
        let mut found = Found::new();
        for (i, body) in self.dynamic() {
            let (ShapeSpec::Compound { .. }, Some(Shape::Compound(parts))) = (&body.shape, &self.shapes[i]) else { continue };
            let balls = parts.iter().all(|(_, part)| matches!(part, Shape::Ball { .. }));
            if balls || body.mass.is_some() && body.inertia.is_some() {
                continue;
            }
            let boxes: Vec<_> = parts.iter().map(|(pose, part)| part.aabb(pose)).collect();
            let whole: f64 = boxes.iter().map(|(low, high)| (*high - *low).element_product()).sum();
            let mut overlaps = |a: usize, b: usize| {
                let (low, high) = (boxes[a].0.max(boxes[b].0), boxes[a].1.min(boxes[b].1));
                // a knob that is sunk into a door hardly weighs twice
                if !low.cmplt(high).all() || (high - low).element_product() < SHARED * whole {
                    return false;
                }
                points.clear();
                contact_points(&parts[a].1, &parts[a].0, &parts[b].1, &parts[b].0, 0.0, &mut scratch, &mut points);
                let size = length(&parts[a].1).min(length(&parts[b].1));
                points.iter().any(|p| p.gap < -SHARED * size)
            };
            let pair = (0..parts.len()).find_map(|b| (0..b).find(|&a| overlaps(a, b)).map(|a| [a, b]));
            if let Some([a, b]) = pair {
                let message =
                    format!("its parts {a} and {b} overlap (the first is 0): what they share counts twice in its mass and inertia");
                found.push((i, message, "let parts touch instead, or give `mass` and `inertia`".to_owned()));
            }
        }
        self.say_all(Severity::Hint, found);
    }

    /// What would happen after the end of the run; no matter for its result.
    pub(super) fn late(&mut self) {
        let end = self.scene.time.end;
        let cure = "let the run last longer, or let it happen earlier".to_owned();
        let mut found = Found::new();
        for (i, body) in self.scene.bodies.iter().enumerate() {
            let blows = body.impulses.iter().map(|blow| ("is struck", blow.time));
            let birth = (body.birth > 0.0).then_some(("appears", body.birth));
            let late = birth.into_iter().chain(blows).filter(|&(_, time)| time >= end);
            found.extend(late.map(|(what, time)| (i, format!("it {what} at {time} s, and the run ends at {end} s"), cure.clone())));
        }
        for load in &self.scene.loads {
            let begins = load.times.iter().zip(&load.factors).position(|(_, f)| *f != 0.0).map(|k| load.times[k.saturating_sub(1)]);
            if let Some(begins) = begins.filter(|&t| t >= end) {
                found.push((load.body, format!("its load begins at {begins} s, and the run ends at {end} s"), cure.clone()));
            }
        }
        for (i, body) in self.scene.bodies.iter().enumerate() {
            let Motion::Kinematic(Drive::Table { times, linear, angular }) = &body.motion else { continue };
            let moves = linear.iter().zip(angular).position(|(v, w)| [*v, *w] != [DVec3::ZERO; 2]).map(|k| times[k.saturating_sub(1)]);
            if let Some(moves) = moves.filter(|&t| t >= end) {
                found.push((i, format!("it begins to move at {moves} s, and the run ends at {end} s"), cure.clone()));
            }
        }
        self.redundant.append(&mut found);
    }

    /// Whether it is known where both bodies are as the later one appears: it itself, and what appears with it or stands.
    fn appear(&self, pair: [usize; 2]) -> bool {
        let bodies = pair.map(|i| &self.scene.bodies[i]);
        let at = bodies[0].birth.max(bodies[1].birth);
        // images of a sheared cell are elsewhere by then
        let placed = at == 0.0 || self.scene.periodic.shear.is_none();
        placed && bodies.iter().all(|b| b.birth == at || b.motion == Motion::Static && b.death.is_none_or(|death| death > at))
    }

    /// Pairs of bodies whose places are known as the later one appears and whose boxes, widened by the gaps that count, overlap, with the shift
    /// (m) to the image of the second that the first meets.
    fn near(&self) -> Result<Vec<(usize, usize, DVec3)>, Crowd> {
        let (mut broad, mut images, cell) = (BroadPhase::default(), Images::default(), self.scene.periodic);
        images.prepare(cell, self.scene.bodies.len(), &mut broad);
        // many may appear in one place, one after the other
        let late = self.scene.bodies.iter().filter(|b| b.birth > 0.0).count() <= MOST_LATE;
        for (i, body) in self.scene.bodies.iter().enumerate().filter(|(_, b)| late || b.birth == 0.0) {
            match &self.shapes[i] {
                Some(Shape::HalfSpace { normal }) => {
                    let n = body.pose.vector(*normal);
                    broad.set_half_space(i as u32, n, n.dot(body.pose.position));
                }
                Some(shape) => {
                    let (low, high) = shape.aabb(&body.pose);
                    let margin = DVec3::splat(if body.motion == Motion::Dynamic { SMALL_GAP * length(shape) } else { 0.0 });
                    images.place(&mut broad, i as u32, [low - margin, high + margin]);
                }
                None => {}
            }
        }
        let mut pairs = Vec::new();
        images.pairs(&mut broad, &mut pairs)?;
        // walls of servos go through each other
        let walls = |a: usize, b: usize| [a, b].iter().all(|&i| self.scene.bodies[i].servo.is_some());
        let placed = |i: usize| {
            let radius = self.shapes[i].as_ref().map_or(0.0, Shape::bounding_radius);
            Placed { position: self.scene.bodies[i].pose.position, bounded: radius.is_finite(), fills: cell.too_long(radius) }
        };
        let pairs = pairs.into_iter().map(|(a, b)| (a as usize, b as usize)).filter(|&(a, b)| !walls(a, b) && self.appear([a, b]));
        Ok(pairs.map(|(a, b)| (a, b, Placed::shift(&cell, [a, b].map(placed)))).collect())
    }

    /// Whether two bodies are stones of one kind: of one shape, or hulls of about one size, whose corners no two have alike.
    fn alike(&self, a: usize, b: usize) -> bool {
        let about = |a: f64, b: f64| a < 2.0 * b && b < 2.0 * a;
        match (&self.shapes[a], &self.shapes[b]) {
            (Some(one @ Shape::Hull(_)), Some(two @ Shape::Hull(_))) => {
                about(one.smallest_length(), two.smallest_length()) && about(one.bounding_radius(), two.bounding_radius())
            }
            _ => self.scene.bodies[a].shape == self.scene.bodies[b].shape,
        }
    }

    /// Blocks at rest that touch nothing below: just above it, or the odd one out among blocks that stand.
    fn in_the_air(&mut self, below: &[Option<(f64, usize)>], down: DVec3) {
        if down == DVec3::ZERO {
            return;
        }
        let rests = |(i, b): &(usize, &Body)| {
            let free = b.locked_translation == [false; 3] && b.force == DVec3::ZERO && b.impulses.is_empty();
            let still = b.linear_velocity == DVec3::ZERO && b.angular_velocity == DVec3::ZERO && b.birth == 0.0;
            free && still && flat(&b.shape) && !self.scene.joints.iter().any(|j| j.body1 == *i || j.body2 == Some(*i))
        };
        let blocks: Vec<usize> = self.dynamic().filter(rests).map(|(i, _)| i).collect();
        let gap = |i: usize| below[i].map(|(gap, _)| gap / self.shapes[i].as_ref().map_or(1.0, length));
        let standing: Vec<usize> = blocks.iter().copied().filter(|&i| gap(i).is_some_and(|g| g <= OVERLAP)).collect();
        let flying = blocks.iter().filter(|&&i| below[i].is_none()).count();
        // something dropped on purpose is seldom one stone more of the same kind, or one among many that stand
        let odd = |i: usize| {
            let alike = standing.iter().any(|&k| self.alike(i, k));
            flying <= standing.len() && (alike || 10 * flying <= standing.len())
        };
        let mut found = Found::new();
        for &i in &blocks {
            match (below[i], gap(i)) {
                (Some((gap, other)), Some(part)) if part > OVERLAP => {
                    let message = format!("starts {:.4} m above {}: it falls on it first", Short(gap), self.name(other));
                    found.push((i, message, format!("if it should stand there, move it by {} m", Way(down * gap))));
                }
                (None, _) if odd(i) => {
                    let message = "starts in the air, while the other blocks stand: it falls".to_owned();
                    found.push((i, message, "if it should stand, move it onto what is below it".to_owned()));
                }
                _ => {}
            }
        }
        self.say_all(Severity::Hint, found);
    }
}

/// Notes the smallest gap to what is below, for both bodies of a pair.
fn lowest(below: &mut [Option<(f64, usize)>], [a, b]: [usize; 2], points: &[ContactPoint], down: DVec3) {
    for point in points {
        // the normal points from b to a
        let up = -point.normal.dot(down);
        let (upper, lower) = if up > 0.1 {
            (a, b)
        } else if up < -0.1 {
            (b, a)
        } else {
            continue;
        };
        if below[upper].is_none_or(|(gap, _)| point.gap < gap) {
            below[upper] = Some((point.gap, lower));
        }
    }
}

/// Smallest length of a shape, or its size where it has none.
pub(super) fn length(shape: &Shape) -> f64 {
    shape.smallest_length().min(2.0 * shape.bounding_radius())
}

/// Shapes that are built with rather than poured.
fn flat(shape: &ShapeSpec) -> bool {
    match shape {
        ShapeSpec::Cuboid { .. } | ShapeSpec::Hull { .. } | ShapeSpec::Mesh { .. } => true,
        ShapeSpec::Compound { parts } => parts.iter().all(|(_, part)| flat(part)),
        _ => false,
    }
}
