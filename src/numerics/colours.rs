//! Visits of coloured contacts, on one thread or several: the same bits.
//!
//! No two contacts of a colour share a body, so pieces of a colour may be visited in any order and at the same time. A colour is halved until
//! pieces are small; norms are added along that tree, whoever visits the leaves.

use super::mixed::{IMMOBILE, MixedProblem, Reactions, Twist, Velocities};
use super::sweep::Norms;
use crate::algebra::pieces::{Part, rounds, share};
use glam::DVec3;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A twist that several threads may hold, of which one alone touches it at a time.
pub(super) type Shared = [AtomicU64; 6];

/// A twist that is read and written in place; plain cells in series, relaxed atomics in parallel: the same bits.
pub(super) trait TwistCell {
    fn load(&self) -> Twist;
    fn store(&self, twist: Twist);
}

impl TwistCell for Cell<Twist> {
    #[inline(always)]
    fn load(&self) -> Twist {
        self.get()
    }
    #[inline(always)]
    fn store(&self, twist: Twist) {
        self.set(twist);
    }
}

impl TwistCell for Shared {
    #[inline(always)]
    fn load(&self) -> Twist {
        let x = |i: usize| f64::from_bits(self[i].load(Ordering::Relaxed));
        Twist { linear: DVec3::new(x(0), x(1), x(2)), angular: DVec3::new(x(3), x(4), x(5)) }
    }
    #[inline(always)]
    fn store(&self, t: Twist) {
        let x = [t.linear.x, t.linear.y, t.linear.z, t.angular.x, t.angular.y, t.angular.z];
        self.iter().zip(x).for_each(|(c, x)| c.store(x.to_bits(), Ordering::Relaxed));
    }
}

/// Twists in a piece.
const TWISTS: usize = 512;

/// Works on pieces of all twists. Each thread takes those that it meets in a sweep too, as bodies and contacts are in the order of slots:
/// a twist that wanders from cache to cache costs more than what is done with it.
fn each_piece<P: Send>(pieces: impl Iterator<Item = P>, work: impl Fn(&mut P) + Sync) {
    let pieces: Vec<_> = pieces.map(Mutex::new).collect();
    rounds(&pieces, &[0, pieces.len()], work);
}

/// Puts twists where several threads can reach them.
pub(super) fn lend(twists: &[Twist], cells: &mut Vec<Shared>) {
    cells.resize_with(twists.len(), Default::default);
    let pieces = cells.chunks(TWISTS).zip(twists.chunks(TWISTS));
    each_piece(pieces, |(cells, twists)| cells.iter().zip(*twists).for_each(|(cell, twist)| cell.store(*twist)));
}

/// Takes them back.
pub(super) fn take_back(cells: &[Shared], twists: &mut [Twist]) {
    let pieces = cells.chunks(TWISTS).zip(twists.chunks_mut(TWISTS));
    each_piece(pieces, |(cells, twists)| twists.iter_mut().zip(*cells).for_each(|(twist, cell)| *twist = cell.load()));
}

/// Part of a colour.
pub(super) trait Halves: Sized + Send {
    /// Its halves, or itself where it is small.
    fn halve(self) -> Result<[Self; 2], Self>;
    /// Visits its contacts.
    fn visit<C: TwistCell>(self, v: &[C]) -> Norms;
}

/// Visits the halves of a colour one after the other.
pub(super) fn visit_serial<P: Halves, C: TwistCell>(piece: P, v: &[C]) -> Norms {
    match piece.halve() {
        Ok([left, right]) => visit_serial(left, v).add(visit_serial(right, v)),
        Err(small) => small.visit(v),
    }
}

struct Leaf<P> {
    piece: Option<P>,
    /// How often its colour has been halved to it.
    depth: u32,
    norms: Norms,
}

/// What a thread takes at a time.
enum Task<'a, P> {
    /// Twists, and what belongs to them.
    Move(&'a [Shared], &'a mut [Twist], &'a mut [Twist]),
    Visit(Leaf<P>),
}

/// The small pieces of all colours.
pub(super) struct Leaves<'a, P> {
    all: Vec<Mutex<Task<'a, P>>>,
    starts: Vec<usize>,
}

impl<'a, P: Halves> Leaves<'a, P> {
    pub(super) fn new() -> Self {
        Self { all: Vec::new(), starts: vec![0] }
    }

    /// Begins with all twists and what belongs to them; one hand-over to the other threads is enough for both.
    pub(super) fn push_twists(&mut self, cells: &'a [Shared], before: &'a mut [Twist], direction: &'a mut [Twist]) {
        let pieces = cells.chunks(TWISTS).zip(before.chunks_mut(TWISTS)).zip(direction.chunks_mut(TWISTS));
        self.all.extend(pieces.map(|((cells, before), direction)| Mutex::new(Task::Move(cells, before, direction))));
        self.starts.push(self.all.len());
    }

    /// Adds a colour.
    pub(super) fn push(&mut self, colour: P) {
        self.grow(colour, 0);
        self.starts.push(self.all.len());
    }

    fn grow(&mut self, piece: P, depth: u32) {
        match piece.halve() {
            Ok(halves) => halves.into_iter().for_each(|half| self.grow(half, depth + 1)),
            Err(small) => self.all.push(Mutex::new(Task::Visit(Leaf { piece: Some(small), depth, norms: Norms::default() }))),
        }
    }

    /// Calls `step` for each twist and what belongs to it, then visits colour by colour, each by all threads; the norms are those of
    /// [`visit_serial`] to the bit.
    pub(super) fn visit(self, v: &[Shared], step: impl Fn(&Shared, &mut Twist, &mut Twist) + Sync) -> Norms {
        rounds(&self.all, &self.starts, |task| match task {
            Task::Move(cells, before, direction) => {
                cells.iter().zip(before.iter_mut()).zip(direction.iter_mut()).for_each(|((cell, before), p)| step(cell, before, p));
            }
            Task::Visit(leaf) => {
                if let Some(piece) = leaf.piece.take() {
                    leaf.norms = piece.visit(v);
                }
            }
        });
        let mut tasks = self.all.into_iter().map(|task| task.into_inner().unwrap_or_else(PoisonError::into_inner));
        let (mut total, mut open) = (Norms::default(), Vec::<(u32, Norms)>::new());
        for colour in self.starts.windows(2) {
            open.clear();
            for task in tasks.by_ref().take(colour[1] - colour[0]) {
                let Task::Visit(Leaf { mut depth, mut norms, .. }) = task else { continue };
                // the right half of a pair closes it
                while let Some((_, left)) = open.pop_if(|left| left.0 == depth) {
                    (norms, depth) = (left.add(norms), depth.saturating_sub(1));
                }
                open.push((depth, norms));
            }
            total = open.first().map_or(total, |colour| total.add(colour.1));
        }
        total
    }
}

/// Contacts of a colour that give their impulses to their bodies.
struct Kicks<'a> {
    p: &'a MixedProblem,
    r: &'a [DVec3],
    /// First contact, and the one after the last.
    range: [usize; 2],
}

/// Contacts below which a piece of these is not worth another thread.
const KICKS: usize = 1024;

impl Halves for Kicks<'_> {
    fn halve(self) -> Result<[Self; 2], Self> {
        let [from, to] = self.range;
        if to - from <= KICKS {
            return Err(self);
        }
        // contacts of one pair stay together
        let groups = &self.p.groups;
        let middle = groups[groups.partition_point(|&g| (g as usize) < (from + to) / 2)] as usize;
        if middle >= to {
            return Err(self);
        }
        Ok([[from, middle], [middle, to]].map(|range| Kicks { range, ..self }))
    }

    fn visit<C: TwistCell>(self, v: &[C]) -> Norms {
        let [from, to] = self.range;
        for (c, &r) in self.p.contacts[from..to].iter().zip(&self.r[from..to]).filter(|(_, r)| **r != DVec3::ZERO) {
            let impulse = c.to_world(r);
            for (body, arm, impulse) in [(c.body1, c.arm1, impulse), (c.body2, c.arm2, -impulse)] {
                if body != IMMOBILE {
                    let cell = &v[body as usize];
                    let mut twist = cell.load();
                    self.p.rigid[body as usize].kick(&mut twist, arm, impulse);
                    cell.store(twist);
                }
            }
        }
        Norms::default()
    }
}

/// `v = v_free + Ŵ⁻¹ Hᵀ r` from scratch, as [`MixedProblem::velocities`]: each body is kicked in the same order.
pub(super) fn velocities(p: &MixedProblem, r: &Reactions, v: &mut Velocities, cells: &mut Vec<Shared>) {
    let known = p.colours.last().is_some_and(|&last| p.groups.get(last as usize).is_some_and(|&n| n as usize == p.contacts.len()));
    if !(known && share(Part::Velocities, p.contacts.len(), 4 * KICKS)) {
        return p.velocities(r, v);
    }
    lend(&p.free.rigid, cells);
    let mut leaves = Leaves::new();
    for colour in p.colours.windows(2) {
        let range = [colour[0], colour[1]].map(|g| p.groups[g as usize] as usize);
        leaves.push(Kicks { p, r: &r.contacts, range });
    }
    leaves.visit(cells, |_, _, _| {});
    v.rigid.resize(p.free.rigid.len(), Twist::default());
    take_back(cells, &mut v.rigid);
    v.general.clone_from(&p.free.general);
    p.kick_spins(&r.spins, v);
    for block in &p.blocks {
        p.kick_block(block, &r.blocks[block.first..][..block.rows], v);
    }
}
