//! Contact polygons: one face cut to the outline of another.
//!
//! Sutherland & Hodgman, *Reentrant Polygon Clipping*, CACM 17(1), 1974. Every corner remembers which features made it, and the key is
//! the same whichever of the two faces was the knife: a corner of one body on a face of the other, or two crossing edges.

use glam::DVec3;

use super::cores::{Core, edge_key, face_key, vertex_key};
use super::polyhedron::Side;

/// At most this many points describe a patch: a face of 64 sides loses half of a percent of its width by it.
pub(super) const MOST_CORNERS: usize = 32;

/// A corner whose distance from the line through its neighbours is below this fraction of the patch adds nothing to its outline.
const COLLINEAR: f64 = 1e-5;

/// Part by which worths of corners differ that are alike: which of the twelve corners of a drum go may not hang on the rounding of its place, as
/// reactions that change their points are no guess for the next step.
const ALIKE: f64 = 1e-6;

/// A corner of the contact polygon.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    /// Its place on the incident face (m).
    pub(super) point: DVec3,
    /// Distance from the plane of the reference face (m).
    pub(super) gap: f64,
    /// Key of the feature of the reference core.
    pub(super) reference: u32,
    /// Key of the feature of the incident core.
    pub(super) incident: u32,
    /// Edge towards the next corner: of the incident core, or `CUT + k` along side k of the reference.
    next: u32,
}

const CUT: u32 = 1 << 31;

/// The two buffers between which a polygon is cut.
#[derive(Debug, Default)]
pub(super) struct Polygon {
    pub(super) corners: Vec<Corner>,
    other: Vec<Corner>,
    /// Of the corners: distances from the knife, or worths.
    values: Vec<f64>,
}

impl Polygon {
    /// The part of `incident` above face `face` of `reference`: corners in order, with their signed distances from that face.
    pub(super) fn clip(&mut self, reference: &Core, face: usize, incident: &Core, snap: f64) {
        let n = reference.normals[face];
        let facing = self.start(incident, n, face, snap);
        let sides = reference.topology.face_sides(face);
        for k in 0..sides.len() {
            if self.corners.is_empty() {
                return;
            }
            let from = reference.vertices[sides[k].vertex as usize];
            let to = reference.vertices[sides[(k + 1) % sides.len()].vertex as usize];
            let inward = n.cross(to - from).normalize_or_zero();
            self.cut(k as u32, sides, from, inward, snap, face_key(facing));
        }
        let offset = reference.offsets[face];
        for corner in &mut self.corners {
            corner.gap = n.dot(corner.point) - offset;
        }
    }

    /// Starts with the face of `incident` that looks at the reference face, or with all of a core that has no faces.
    fn start(&mut self, incident: &Core, n: DVec3, face: usize, snap: f64) -> u32 {
        self.corners.clear();
        let mut corner = |vertex: u32, edge: u32| {
            self.corners.push(Corner {
                point: incident.vertices[vertex as usize],
                gap: 0.0,
                reference: face_key(face as u32),
                incident: vertex_key(vertex),
                next: edge,
            });
        };
        // Of the faces around the nearest corner the flattest. The flattest of all may lie elsewhere on a body with many faces.
        let nearest = snap - incident.support(-n).0;
        let mut facing = (f64::INFINITY, 0);
        for (f, m) in incident.normals.iter().enumerate() {
            let cosine = n.dot(*m);
            let near = |side: &Side| n.dot(incident.vertices[side.vertex as usize]) <= nearest;
            if cosine < facing.0 && incident.topology.face_sides(f).iter().any(near) {
                facing = (cosine, f);
            }
        }
        if incident.normals.is_empty() {
            (0..incident.vertices.len() as u32).for_each(|i| corner(i, i));
        } else {
            incident.topology.face_sides(facing.1).iter().for_each(|side| corner(side.vertex, side.edge));
        }
        facing.1 as u32
    }

    /// Keeps what lies on the inner side of side `k`.
    fn cut(&mut self, k: u32, sides: &[Side], from: DVec3, inward: DVec3, snap: f64, facing: u32) {
        let inside = |p: DVec3| {
            let d = inward.dot(p - from);
            // a corner on the line stays the corner it is, whatever rounding says
            if d.abs() <= snap { 0.0 } else { d }
        };
        self.values.clear();
        self.values.extend(self.corners.iter().map(|c| inside(c.point)));
        if self.values.iter().all(|d| *d >= 0.0) {
            return;
        }
        // the buffers change places, so each is as large as the other: what comes again asks for no memory
        self.other.clear();
        self.other.reserve_exact(self.corners.capacity());
        let count = self.corners.len();
        for (i, &here) in self.corners.iter().enumerate() {
            let after = if i + 1 == count { 0 } else { i + 1 };
            let (next, d0, d1) = (&self.corners[after], self.values[i], self.values[after]);
            if d0 >= 0.0 {
                self.other.push(here);
                if d0 == 0.0 && d1 < 0.0 {
                    // leaves here: from now on along the knife
                    if let Some(last) = self.other.last_mut() {
                        last.next = CUT + k;
                    }
                }
            }
            if d0 * d1 < 0.0 {
                let point = here.point + (next.point - here.point) * (d0 / (d0 - d1));
                let (reference, incident) = if here.next >= CUT {
                    (vertex_key(common_vertex(here.next - CUT, k, sides)), facing)
                } else {
                    (edge_key(sides[k as usize].edge), edge_key(here.next))
                };
                let next = if d0 > 0.0 { CUT + k } else { here.next };
                self.other.push(Corner { point, gap: 0.0, reference, incident, next });
            }
        }
        self.corners.clear();
        self.corners.reserve_exact(self.other.capacity());
        std::mem::swap(&mut self.corners, &mut self.other);
    }

    /// Drops corners that coincide, corners on the line between their neighbours, and those beyond `reach`; keeps [`MOST_CORNERS`] at most.
    pub(super) fn tidy(&mut self, reach: f64, merge: f64) {
        self.drop_while(3, merge, |before, here, after| (here - before).length().min((after - here).length()));
        if self.corners.len() == 2 && (self.corners[0].point - self.corners[1].point).length() <= merge {
            self.corners.pop();
        }
        let extent = self.corners.iter().map(|c| (c.point - self.corners[0].point).length()).fold(0.0, f64::max);
        self.drop_while(3, COLLINEAR * extent, |before, here, after| {
            let base = after - before;
            // a corner that sticks out beyond both neighbours of a sliver is an end of it
            if (here - before).dot(base) <= 0.0 || (here - after).dot(base) >= 0.0 {
                return f64::INFINITY;
            }
            base.cross(here - before).length() / base.length()
        });
        self.corners.retain(|c| c.gap <= reach);
        self.drop_while(MOST_CORNERS + 1, f64::INFINITY, |before, here, after| (here - before).cross(after - here).length());
    }

    /// While there are at least `count` corners, drops the one of least `worth`, provided that it is not above `limit`.
    #[inline]
    fn drop_while(&mut self, count: usize, limit: f64, worth: impl Fn(DVec3, DVec3, DVec3) -> f64) {
        if self.corners.len() < count {
            return;
        }
        let at = |corners: &[Corner], i: usize| {
            let n = corners.len();
            worth(corners[(i + n - 1) % n].point, corners[i].point, corners[(i + 1) % n].point)
        };
        self.values.clear();
        self.values.extend((0..self.corners.len()).map(|i| at(&self.corners, i)));
        while self.corners.len() >= count {
            let n = self.corners.len();
            let least = self.values.iter().copied().fold(f64::INFINITY, f64::min);
            // of those that are alike the one with the lower key stays: corners of bodies before crossings of edges
            let alike = (0..n).filter(|&i| self.values[i] <= least * (1.0 + ALIKE));
            let Some(worst) = alike.max_by_key(|&i| (self.corners[i].key(), std::cmp::Reverse(i))) else { return };
            if least == f64::INFINITY || least > limit {
                return;
            }
            self.corners.remove(worst);
            self.values.remove(worst);
            // those whose neighbour it was
            if n > 1 {
                for i in [(worst + n - 2) % (n - 1), worst % (n - 1)] {
                    self.values[i] = at(&self.corners, i);
                }
            }
        }
    }
}

impl Corner {
    pub(super) fn new(point: DVec3, gap: f64, reference: u32, incident: u32) -> Self {
        Self { point, gap, reference, incident, next: CUT }
    }

    fn key(&self) -> (u32, u32) {
        (self.reference.min(self.incident), self.reference.max(self.incident))
    }
}

/// The corner of the reference face between its sides `j` and `k`.
fn common_vertex(j: u32, k: u32, sides: &[Side]) -> u32 {
    let n = sides.len() as u32;
    // sides are cut in order, so the other one is the side before or, for the last, the first
    let later = if (j + 1) % n == k { k } else { j };
    sides[later as usize].vertex
}
