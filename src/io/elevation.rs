//! Elevations: blocks as lines, with the state of their joints, as one SVG.

mod bar;

use super::error::{OutputError, make_folder_of, replace_file};
use super::picture::legend::{digits, length_text, round};
use super::plot::{COLOURS, DrawResult, INK};
use super::snapshot::{BodyView, Snapshot};
use bar::Bar;
use glam::{DVec2, DVec3};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::collections::BTreeMap;
use std::path::Path;

/// Units of the drawing per pixel: places are whole numbers of them.
const FINE: f64 = 8.0;
/// Share of the page that the bodies fill, and the pixels below them for the legend.
const FILLED: f64 = 0.9;
const FOOT: f64 = 64.0;
/// Longest line of a force, in parts of the width of the page.
const LONGEST: f64 = 0.08;
/// Largest cosine between the view and the normal of a joint that is drawn: others are seen as faces, not as lines.
const EDGE_ON: f64 = 0.5;
/// Angle (cosine) between triangles from which on their common edge is one of the body.
const FLAT: f64 = 0.9999;
type Page<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// How much darker the farthest body is drawn where bodies reach back by this part of the width of the page or more; less otherwise.
const DARKEST: f64 = 0.3;
const SHALLOW: f64 = 0.1;
const STONE: RGBColor = RGBColor(236, 232, 224);
const SUPPORT: RGBColor = RGBColor(205, 208, 211);
const CRACK: RGBColor = RGBColor(170, 30, 45);

/// What a joint does.
///
/// ```
/// use drystone::io::elevation::JointMark;
/// assert!(JointMark::ALL.iter().all(|mark| !mark.text().is_empty()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointMark {
    /// The resultant lies in its kernel: all of it is pressed.
    Pressed,
    /// The resultant lies outside of its kernel: part of it is not pressed.
    Eccentric,
    /// It has opened and turns about an edge that still presses.
    Hinge,
    /// It has slid.
    Slides,
    /// It has opened and carries nothing.
    Opens,
    /// What binds it is damaged or broken.
    Cracked,
    /// It carries nothing.
    Unloaded,
}

impl JointMark {
    /// All of them, in the order of the legend.
    pub const ALL: [Self; 7] = [Self::Pressed, Self::Eccentric, Self::Hinge, Self::Slides, Self::Opens, Self::Cracked, Self::Unloaded];

    /// What the legend calls it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Pressed => "pressed",
            Self::Eccentric => "outside of the kernel",
            Self::Hinge => "hinge",
            Self::Slides => "slides",
            Self::Opens => "open",
            Self::Cracked => "damaged mortar",
            Self::Unloaded => "carries nothing",
        }
    }

    fn style(self) -> ShapeStyle {
        let (colour, width) = match self {
            Self::Pressed => (INK, 1.5),
            Self::Eccentric => (COLOURS[5], 3.0),
            Self::Hinge => (COLOURS[1], 4.0),
            Self::Slides => (COLOURS[0], 4.0),
            Self::Opens => (COLOURS[3], 3.0),
            Self::Cracked => (CRACK, 4.0),
            Self::Unloaded => (RGBColor(178, 182, 186), 1.5),
        };
        colour.stroke_width((FINE * width) as u32)
    }
}

/// A joint to draw.
///
/// ```
/// use drystone::io::elevation::{JointMark, JointView};
/// use glam::DVec3;
/// let bed = JointView {
///     polygon: vec![DVec3::ZERO, DVec3::X], normal: DVec3::Z, point: Some(DVec3::X * 0.5), force: DVec3::Z * 100.0,
///     mark: JointMark::Pressed, number: 0, value: None,
/// };
/// assert_eq!(bed.polygon.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct JointView {
    /// Contact points, or the corners of their polygon (m, world).
    pub polygon: Vec<DVec3>,
    /// Unit normal (world).
    pub normal: DVec3,
    /// Where the resultant acts (m, world); none where that is outside of the joint, as mortar pulls: it is not drawn then.
    pub point: Option<DVec3>,
    /// The resultant on one of the bodies (N, world).
    pub force: DVec3,
    /// What it does.
    pub mark: JointMark,
    /// Number that a hinge is given; 0 for none.
    pub number: usize,
    /// What the colour bar shows of it; none where there is nothing.
    pub value: Option<f64>,
}

/// A drawing of bodies seen along straight lines, z up: their edges from behind to the front, darker behind, the ground, the joints that are
/// seen edge-on in the colours of their states, hinges with their numbers, where resultants act, and a scale. What stands in front covers
/// what is behind it.
///
/// ```
/// use drystone::{algebra::spatial::Pose, io::{elevation::Elevation, snapshot::{BodyView, Snapshot, Surface}}};
/// use glam::DVec3;
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("brick.svg");
/// let brick = BodyView::new(0, "brick", "cuboid", Pose::IDENTITY, Surface::cuboid(DVec3::new(0.2, 0.1, 0.1)).into());
/// let snapshot = Snapshot { step: 0, time: 0.0, step_size: 0.0, bodies: &[brick], contacts: &[] };
/// Elevation::default().write(&path, &snapshot, &[])?;
/// assert!(std::fs::read_to_string(&path).unwrap().contains("5 cm"));
/// # Ok::<(), drystone::io::error::OutputError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elevation {
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// From the bodies to the eye.
    pub direction: DVec3,
    /// Whether resultants are drawn as lines, the largest one as long as 8 % of the width.
    pub forces: bool,
    /// Title of a colour bar, with its unit: joints then have the colours of their values instead of those of their states.
    pub bar: Option<&'static str>,
}

impl Default for Elevation {
    fn default() -> Self {
        Self { size: [1280, 800], direction: DVec3::NEG_Y, forces: false, bar: None }
    }
}

/// What the drawing is made of.
enum Part<'a> {
    Body(&'a BodyView),
    Joint(&'a JointView),
    Resultant(&'a JointView),
}

impl Part<'_> {
    /// Bodies before joints, of these those that have moved last, and numbers on top.
    fn order(&self) -> (u8, u8, u32) {
        let moved = |mark: JointMark| match mark {
            JointMark::Unloaded => 0,
            JointMark::Pressed => 1,
            JointMark::Eccentric => 2,
            JointMark::Cracked => 3,
            JointMark::Opens => 4,
            JointMark::Slides => 5,
            JointMark::Hinge => 6,
        };
        match self {
            Self::Body(body) => (0, 0, body.id),
            Self::Joint(joint) => (1, moved(joint.mark), 0),
            Self::Resultant(joint) => (2, moved(joint.mark), 0),
        }
    }
}

/// Faces and edges of a body; `shade` darkens it, from 0 to 1.
fn draw_body(page: &Page<'_>, sheet: &Sheet, body: &BodyView, shade: f64) -> DrawResult {
    let RGBColor(r, g, b) = if body.dynamic { STONE } else { SUPPORT };
    let [r, g, b] = [r, g, b].map(|c| (f64::from(c) * (1.0 - shade)).round() as u8);
    let fill = RGBColor(r, g, b);
    for triangle in sheet.front(body) {
        // the line hides the seams between triangles
        page.draw(&Polygon::new(triangle.to_vec(), fill.filled()))?;
        page.draw(&PathElement::new([triangle, triangle].concat()[..4].to_vec(), fill.stroke_width((0.5 * FINE) as u32)))?;
    }
    for edge in sheet.edges(body) {
        page.draw(&PathElement::new(edge.to_vec(), INK.mix(0.55).stroke_width((0.8 * FINE) as u32)))?;
    }
    Ok(())
}

/// Parallel projection: `page = origin + scale (right·x, −up·x)` in units of the drawing.
struct Sheet {
    right: DVec3,
    up: DVec3,
    ahead: DVec3,
    scale: f64,
    origin: DVec2,
}

impl Sheet {
    fn at(&self, x: DVec3) -> (i32, i32) {
        let p = self.origin + self.scale * DVec2::new(self.right.dot(x), -self.up.dot(x));
        (p.x.round() as i32, p.y.round() as i32)
    }
}

/// Bodies that have a place on the page, and of these the bounded ones.
fn drawable<'a>(snapshot: &'a Snapshot<'_>) -> impl Iterator<Item = &'a BodyView> {
    snapshot.bodies.iter().filter(|body| body.pose.is_finite() && !body.surface.vertices.is_empty())
}

fn shown<'a>(snapshot: &'a Snapshot<'_>) -> impl Iterator<Item = &'a BodyView> {
    drawable(snapshot).filter(|body| body.shape != "half-space")
}

impl Elevation {
    /// Writes the drawing; makes the folder where there is none.
    ///
    /// # Errors
    /// There is no body to look at or no direction, or the file cannot be written.
    pub fn write(&self, path: &Path, snapshot: &Snapshot, joints: &[JointView]) -> Result<(), OutputError> {
        let wrong = |error: String| OutputError::data(path, format!("the elevation cannot be drawn: {error}"));
        if !self.direction.is_finite() || self.direction.length() < 1e-9 {
            return Err(wrong(format!("the direction of view is {}; any vector longer than 1e-9 would do", self.direction)));
        }
        if shown(snapshot).next().is_none() {
            return Err(wrong("it needs a body with a surface and a finite pose that is not a half-space".to_owned()));
        }
        let mut svg = String::new();
        self.draw(&mut svg, snapshot, joints).map_err(|error| wrong(error.to_string()))?;
        make_folder_of(path)?;
        // the page in pixels, its units finer
        let [w, h] = self.size;
        let fine = |n: u32| f64::from(n) * FINE;
        let head = format!("width=\"{}\" height=\"{}\"", fine(w), fine(h));
        replace_file(path, svg.replacen(&head, &format!("width=\"{w}\" height=\"{h}\""), 1).as_bytes())
    }

    /// Where the bodies that the drawing has to show lie on the page.
    fn sheet(&self, bodies: &[&BodyView]) -> Sheet {
        let ahead = -self.direction.normalize();
        let right = if ahead.z.abs() > 0.999 { DVec3::X } else { ahead.cross(DVec3::Z).normalize() };
        let up = right.cross(ahead);
        let (mut low, mut high) = (DVec2::INFINITY, DVec2::NEG_INFINITY);
        for body in bodies {
            for &x in &body.surface.vertices {
                let x = body.pose.point(x);
                let p = DVec2::new(right.dot(x), up.dot(x));
                (low, high) = (low.min(p), high.max(p));
            }
        }
        let page = FINE * DVec2::new(f64::from(self.size[0]), (f64::from(self.size[1]) - FOOT).max(1.0));
        let extent = (high - low).max(DVec2::splat(1e-9));
        let scale = FILLED * (page / extent).min_element();
        let middle = 0.5 * (low + high);
        Sheet { right, up, ahead, scale, origin: 0.5 * page - scale * DVec2::new(middle.x, -middle.y) }
    }

    fn draw(&self, svg: &mut String, snapshot: &Snapshot, joints: &[JointView]) -> DrawResult {
        let shown: Vec<&BodyView> = shown(snapshot).collect();
        let sheet = self.sheet(&shown);
        let units = self.size.map(|n| (f64::from(n) * FINE) as u32);
        let page = SVGBackend::with_string(svg, (units[0], units[1])).into_drawing_area();
        page.fill(&WHITE)?;
        for ground in drawable(snapshot).filter(|body| body.shape == "half-space") {
            if let Some(line) = sheet.trace(ground, f64::from(units[0])) {
                page.draw(&PathElement::new(line.to_vec(), INK.stroke_width((2.0 * FINE) as u32)))?;
            }
        }
        let depth = |x: DVec3| sheet.ahead.dot(x);
        let near = |joint: &JointView| joint.polygon.iter().map(|x| depth(*x)).fold(f64::INFINITY, f64::min);
        let [front, back] =
            shown.iter().map(|body| depth(body.pose.position)).fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], d| [a.min(d), b.max(d)]);
        let seen: Vec<&JointView> = joints.iter().filter(|j| j.normal.dot(sheet.ahead).abs() < EDGE_ON && !j.polygon.is_empty()).collect();
        let largest = seen.iter().map(|j| j.force.length()).fold(0.0, f64::max);
        let bar = self.bar.and_then(|title| Bar::of(title, seen.iter().filter_map(|j| Some((j.value?, sheet.length(j))))));
        let mut parts: Vec<(f64, Part<'_>)> = shown.iter().map(|&body| (depth(body.pose.position), Part::Body(body))).collect();
        parts.extend(seen.iter().map(|&joint| (near(joint), Part::Joint(joint))));
        parts.extend(seen.iter().map(|&joint| (near(joint), Part::Resultant(joint))));
        // from behind; what is as deep in the order of the parts, and joints by their marks
        parts.sort_by(|(a, one), (b, two)| b.total_cmp(a).then(one.order().cmp(&two.order())));
        for (deep, part) in parts {
            match part {
                Part::Body(body) => {
                    let behind = (deep - front) / (back - front).max(SHALLOW * f64::from(units[0]) / sheet.scale);
                    draw_body(&page, &sheet, body, DARKEST * behind)?;
                }
                Part::Joint(joint) => {
                    let style = match &bar {
                        Some(bar) => bar.style(joint.value),
                        None => joint.mark.style(),
                    };
                    page.draw(&PathElement::new(sheet.line(joint).to_vec(), style))?;
                }
                Part::Resultant(joint) if largest > 0.0 => self.resultant(&page, &sheet, joint, largest)?,
                Part::Resultant(_) => {}
            }
        }
        self.foot(&page, &sheet, &seen, bar.as_ref(), largest)?;
        page.present()?;
        Ok(())
    }

    /// Where a resultant acts, and the number of a hinge; `largest` is the largest force (N).
    fn resultant(&self, page: &Page<'_>, sheet: &Sheet, joint: &JointView, largest: f64) -> DrawResult {
        let hinge = joint.mark == JointMark::Hinge && joint.number > 0;
        // a hinge has its number wherever the resultant acts
        let middle = || joint.polygon.iter().sum::<DVec3>() / joint.polygon.len() as f64;
        let Some(point) = joint.point.or_else(|| hinge.then(middle)).filter(|_| joint.force.length() > 1e-6 * largest) else {
            return Ok(());
        };
        let (x, y) = sheet.at(point);
        if self.forces && joint.point.is_some() {
            let half = 0.5 * LONGEST * FINE * f64::from(self.size[0]) / largest;
            let way = half * DVec2::new(sheet.right.dot(joint.force), -sheet.up.dot(joint.force));
            let (dx, dy) = (way.x.round() as i32, way.y.round() as i32);
            page.draw(&PathElement::new(vec![(x - dx, y - dy), (x + dx, y + dy)], COLOURS[2].stroke_width((2.0 * FINE) as u32)))?;
        }
        if !hinge {
            return page.draw(&Circle::new((x, y), (2.5 * FINE) as i32, COLOURS[2].filled()));
        }
        let radius = (9.0 * FINE) as i32;
        page.draw(&Circle::new((x, y), radius, WHITE.filled()))?;
        page.draw(&Circle::new((x, y), radius, COLOURS[1].stroke_width((2.0 * FINE) as u32)))?;
        let style = ("sans-serif", 12.0 * FINE).into_font().color(&INK).pos(Pos::new(HPos::Center, VPos::Center));
        page.draw(&Text::new(joint.number.to_string(), (x, y), style))
    }

    /// The scale, that of resultants up to the largest one (N), and the marks that the drawing has.
    fn foot(&self, page: &Page<'_>, sheet: &Sheet, seen: &[&JointView], colours: Option<&Bar>, largest: f64) -> DrawResult {
        let unit = |x: f64| (FINE * x).round() as i32;
        let y = f64::from(self.size[1]) - 0.5 * FOOT;
        let text = ("sans-serif", 15.0 * FINE).into_font().color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
        let length = round(0.2 * FINE * f64::from(self.size[0]) / sheet.scale);
        let bar = sheet.scale * length / FINE;
        let ends = [(24.0, y - 5.0), (24.0, y + 5.0), (24.0, y), (24.0 + bar, y), (24.0 + bar, y - 5.0), (24.0 + bar, y + 5.0)];
        let corners: Vec<(i32, i32)> = ends.iter().map(|(x, y)| (unit(*x), unit(*y))).collect();
        page.draw(&PathElement::new(corners, INK.stroke_width((1.5 * FINE) as u32)))?;
        page.draw(&Text::new(length_text(length), (unit(32.0 + bar), unit(y)), text.clone()))?;
        let mut x = 110.0 + bar;
        if self.forces && largest > 0.0 {
            let force = round(largest);
            let length = LONGEST * f64::from(self.size[0]) * force / largest;
            page.draw(&PathElement::new(
                vec![(unit(x), unit(y)), (unit(x + length), unit(y))],
                COLOURS[2].stroke_width((2.0 * FINE) as u32),
            ))?;
            let name = if force < 1e3 { format!("{} N", digits(force)) } else { format!("{} kN", digits(1e-3 * force)) };
            page.draw(&Text::new(name.clone(), (unit(x + length + 8.0), unit(y)), text.clone()))?;
            x += length + 32.0 + 9.0 * name.len() as f64;
        }
        if let Some(colours) = colours {
            return colours.draw(page, [x, y], &text);
        }
        for mark in JointMark::ALL.iter().filter(|mark| seen.iter().any(|j| j.mark == **mark)) {
            page.draw(&PathElement::new(vec![(unit(x), unit(y)), (unit(x + 26.0), unit(y))], mark.style()))?;
            page.draw(&Text::new(mark.text(), (unit(x + 32.0), unit(y)), text.clone()))?;
            x += 56.0 + 8.0 * mark.text().len() as f64;
        }
        Ok(())
    }
}

impl Sheet {
    /// The line in which the eye sees a half-space from its side.
    fn trace(&self, ground: &BodyView, width: f64) -> Option<[(i32, i32); 2]> {
        let &[a, b, c] = ground.surface.triangles.first()?;
        let corner = |vertex: u32| Some(ground.pose.point(*ground.surface.vertices.get(vertex as usize)?));
        let (a, b, c) = (corner(a)?, corner(b)?, corner(c)?);
        let normal = (b - a).cross(c - a).try_normalize()?;
        let along = normal.cross(self.ahead).try_normalize().filter(|_| normal.dot(self.ahead).abs() < EDGE_ON)?;
        // the point of the line in the middle of the page
        let reach = width / self.scale;
        let flat = |x: DVec3| DVec2::new(self.right.dot(x), self.up.dot(x));
        let middle = DVec2::new((0.5 * width - self.origin.x) / self.scale, 0.0);
        let direction = flat(along).try_normalize()?;
        let foot = flat(a) + direction * (middle - flat(a)).dot(direction);
        let at = |p: DVec2| {
            let q = self.origin + self.scale * DVec2::new(p.x, -p.y);
            (q.x.round() as i32, q.y.round() as i32)
        };
        Some([at(foot - reach * direction), at(foot + reach * direction)])
    }

    /// Outward normal of each triangle of a body (world).
    fn normals(body: &BodyView) -> Vec<DVec3> {
        let corner = |k: u32| body.surface.vertices.get(k as usize).copied().unwrap_or_default();
        let one = |&[a, b, c]: &[u32; 3]| body.pose.vector((corner(b) - corner(a)).cross(corner(c) - corner(a)).normalize_or_zero());
        body.surface.triangles.iter().map(one).collect()
    }

    fn corner(&self, body: &BodyView, vertex: u32) -> (i32, i32) {
        self.at(body.surface.vertices.get(vertex as usize).map_or(body.pose.position, |&x| body.pose.point(x)))
    }

    /// The triangles that look at the eye.
    fn front(&self, body: &BodyView) -> Vec<[(i32, i32); 3]> {
        let seen = Self::normals(body).into_iter().zip(&body.surface.triangles).filter(|(n, _)| n.dot(self.ahead) < 0.0);
        seen.map(|(_, triangle)| triangle.map(|k| self.corner(body, k))).collect()
    }

    /// The edges of the faces that look at the eye; triangles of one face have none between them.
    fn edges(&self, body: &BodyView) -> Vec<[(i32, i32); 2]> {
        // vertices at one place are one, whatever their numbers
        let key = |k: u32| body.surface.vertices.get(k as usize).map(|x| x.to_array().map(f64::to_bits));
        let normals = Self::normals(body);
        let mut sides: BTreeMap<_, Vec<(usize, [u32; 2])>> = BTreeMap::new();
        for (number, &[a, b, c]) in body.surface.triangles.iter().enumerate() {
            for side in [[a, b], [b, c], [c, a]] {
                let mut name = side.map(key);
                name.sort_unstable();
                sides.entry(name).or_default().push((number, side));
            }
        }
        let front = |n: usize| normals[n].dot(self.ahead) < -1e-9;
        let edge = |found: &Vec<(usize, [u32; 2])>| {
            let flat = matches!(found[..], [(a, _), (b, _)] if normals[a].dot(normals[b]) > FLAT);
            let seen = found.iter().any(|(n, _)| front(*n));
            (seen && !flat).then(|| found.first().map(|(_, side)| side.map(|k| self.corner(body, k)))).flatten()
        };
        sides.values().filter_map(edge).collect()
    }

    /// A joint as the line in which its points are seen.
    fn line(&self, joint: &JointView) -> [(i32, i32); 2] {
        let flat = |x: DVec3| DVec2::new(self.right.dot(x), self.up.dot(x));
        let normal = flat(joint.normal);
        let along = DVec2::new(-normal.y, normal.x);
        let key = |x: &DVec3| flat(*x).dot(along);
        let mut ends = [joint.polygon[0]; 2];
        for x in &joint.polygon {
            if key(x) < key(&ends[0]) {
                ends[0] = *x;
            }
            if key(x) > key(&ends[1]) {
                ends[1] = *x;
            }
        }
        ends.map(|x| self.at(x))
    }

    /// Length of that line, in units of the page.
    fn length(&self, joint: &JointView) -> f64 {
        let [from, to] = self.line(joint).map(|(x, y)| DVec2::new(f64::from(x), f64::from(y)));
        from.distance(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::spatial::Pose;
    use crate::io::snapshot::Surface;

    #[test]
    fn a_cube_has_the_four_edges_that_the_eye_sees_and_two_triangles() {
        let cube = BodyView::new(0, "cube", "cuboid", Pose::IDENTITY, Surface::cuboid(DVec3::splat(0.5)).into());
        let sheet = Elevation::default().sheet(&[&cube]);
        assert_eq!((sheet.front(&cube).len(), sheet.edges(&cube).len()), (2, 4));
        // seen from a corner: three faces, nine edges
        let corner = Elevation { direction: DVec3::new(1.0, -1.0, 1.0), ..Elevation::default() };
        let sheet = corner.sheet(&[&cube]);
        assert_eq!((sheet.front(&cube).len(), sheet.edges(&cube).len()), (6, 9));
    }

    #[test]
    fn a_resultant_has_a_dot_where_it_acts_in_its_joint_and_none_elsewhere() {
        let brick = BodyView::new(0, "brick", "cuboid", Pose::IDENTITY, Surface::cuboid(DVec3::new(1.0, 0.1, 0.2)).into());
        let snapshot = Snapshot { step: 0, time: 0.0, step_size: 0.0, bodies: &[brick], contacts: &[] };
        let polygon = vec![DVec3::new(-1.0, 0.0, 0.2), DVec3::new(1.0, 0.0, 0.2)];
        let view = |point: Option<DVec3>, mark: JointMark, number: usize| {
            let joint = JointView { polygon: polygon.clone(), normal: DVec3::Z, point, force: DVec3::Z, mark, number, value: None };
            let mut svg = String::new();
            Elevation { forces: true, ..Elevation::default() }.draw(&mut svg, &snapshot, &[joint]).unwrap_or_else(|e| panic!("{e}"));
            svg
        };
        let (inside, outside) = (view(Some(DVec3::Z * 0.2), JointMark::Cracked, 0), view(None, JointMark::Cracked, 0));
        assert!(inside.matches("<circle").count() == 1 && inside.matches("<polyline").count() > outside.matches("<polyline").count());
        assert!(!outside.contains("<circle") && outside.contains("damaged mortar"));
        assert_eq!(view(None, JointMark::Hinge, 3).matches("<circle").count(), 2, "the ring around the number of a hinge");
    }

    #[test]
    fn a_view_from_nowhere_is_refused() {
        let cube = BodyView::new(0, "cube", "cuboid", Pose::IDENTITY, Surface::cuboid(DVec3::splat(0.5)).into());
        let snapshot = Snapshot { step: 0, time: 0.0, step_size: 0.0, bodies: &[cube], contacts: &[] };
        for direction in [DVec3::ZERO, DVec3::NAN] {
            let drawn = Elevation { direction, ..Elevation::default() }.write(Path::new("x.svg"), &snapshot, &[]);
            assert!(drawn.is_err_and(|e| e.to_string().contains("direction of view")));
        }
    }

    #[test]
    fn a_joint_is_the_line_across_its_normal_and_z_is_up() {
        let brick = BodyView::new(0, "brick", "cuboid", Pose::IDENTITY, Surface::cuboid(DVec3::new(1.0, 0.1, 0.2)).into());
        let sheet = Elevation::default().sheet(&[&brick]);
        let polygon = vec![DVec3::new(0.3, 0.1, 0.2), DVec3::new(1.0, -0.1, 0.2), DVec3::new(-1.0, 0.0, 0.2)];
        let joint = JointView { polygon, normal: DVec3::Z, point: None, force: DVec3::Z, mark: JointMark::Pressed, number: 0, value: None };
        let [a, b] = sheet.line(&joint);
        assert!(a.1 == b.1 && (a.0 - b.0).abs() == (2.0 * sheet.scale).round() as i32, "{a:?} {b:?}");
        assert!(a.1 < sheet.at(DVec3::ZERO).1);
        // from x = −∞ to +∞ to the right
        assert!(sheet.at(DVec3::X).0 > sheet.at(DVec3::NEG_X).0);
    }
}
