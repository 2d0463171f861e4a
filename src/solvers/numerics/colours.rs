//! Visits of coloured contacts, on one thread or several: the same bits.
//!
//! No two contacts of a colour share a body, so pieces of a colour may be visited in any order and at the same time. A colour is halved until
//! pieces are small; norms are added along that tree, whoever visits the leaves. Where a problem has [`super::cells`], a level of them is what a
//! colour is else, and each cell one piece, visited in the order of its contacts.

use super::abreast::Kick;
use super::cells::Cells;
use super::mixed::{MixedProblem, Reactions, Twist, Velocities};
use super::visits::Norms;
use crate::algebra::lanes::Lanes;
use crate::algebra::pieces::{Part, rounds, share};
use glam::DVec3;
use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A twist that several threads may hold, of which one alone touches it at a time.
pub(super) type Shared = [AtomicU64; 6];

/// Twists that are read and written in place.
pub(super) trait Twists {
    fn load(&self, body: u32) -> Twist;
    fn store(&self, body: u32, twist: Twist);
}

/// Twists of all bodies; after them may come one that stands for those of immobile bodies.
pub(super) struct All<'a>(&'a [Cell<Twist>]);

impl<'a> All<'a> {
    pub(super) fn new(twists: &'a mut [Twist]) -> Self {
        Self(Cell::from_mut(twists).as_slice_of_cells())
    }
}

impl Twists for All<'_> {
    #[inline(always)]
    fn load(&self, body: u32) -> Twist {
        self.0[body as usize].get()
    }
    #[inline(always)]
    fn store(&self, body: u32, twist: Twist) {
        self.0[body as usize].set(twist);
    }
}

/// Twists of a range of bodies that nobody else has. What is no body of theirs is an immobile one, for which another twist stands: zero, and nothing kicks
/// it. (To choose between the two takes 6 to 8 % of a sweep.)
struct Own<'a> {
    first: u32,
    twists: &'a [Cell<Twist>],
    immobile: Cell<Twist>,
}

impl<'a> Own<'a> {
    /// Those from this body on.
    fn new(first: u32, twists: &'a mut [Twist]) -> Self {
        Self { first, twists: Cell::from_mut(twists).as_slice_of_cells(), immobile: Cell::default() }
    }

    #[inline(always)]
    fn get(&self, body: u32) -> &Cell<Twist> {
        self.twists.get(body.wrapping_sub(self.first) as usize).unwrap_or(&self.immobile)
    }
}

impl Twists for Own<'_> {
    #[inline(always)]
    fn load(&self, body: u32) -> Twist {
        self.get(body).get()
    }
    #[inline(always)]
    fn store(&self, body: u32, twist: Twist) {
        self.get(body).set(twist);
    }
}

/// Twists of ranges that follow each other.
struct Several<'a>(Vec<Own<'a>>);

impl Several<'_> {
    #[inline]
    fn of(&self, body: u32) -> &Own<'_> {
        &self.0[self.0.partition_point(|own| own.first <= body).saturating_sub(1)]
    }
}

impl Twists for Several<'_> {
    #[inline]
    fn load(&self, body: u32) -> Twist {
        self.of(body).load(body)
    }
    #[inline]
    fn store(&self, body: u32, twist: Twist) {
        self.of(body).store(body, twist);
    }
}

/// Twists that several threads hold.
struct Lent<'a>(&'a [Shared]);

impl Twists for Lent<'_> {
    #[inline(always)]
    fn load(&self, body: u32) -> Twist {
        load(&self.0[body as usize])
    }
    #[inline(always)]
    fn store(&self, body: u32, twist: Twist) {
        store(&self.0[body as usize], twist);
    }
}

#[inline(always)]
fn load(shared: &Shared) -> Twist {
    let x = |i: usize| f64::from_bits(shared[i].load(Ordering::Relaxed));
    Twist { linear: DVec3::new(x(0), x(1), x(2)), angular: DVec3::new(x(3), x(4), x(5)) }
}

#[inline(always)]
fn store(shared: &Shared, t: Twist) {
    let x = [t.linear.x, t.linear.y, t.linear.z, t.angular.x, t.angular.y, t.angular.z];
    shared.iter().zip(x).for_each(|(c, x)| c.store(x.to_bits(), Ordering::Relaxed));
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
    each_piece(pieces, |(cells, twists)| cells.iter().zip(*twists).for_each(|(cell, twist)| store(cell, *twist)));
}

/// Takes them back.
pub(super) fn take_back(cells: &[Shared], twists: &mut [Twist]) {
    let pieces = cells.chunks(TWISTS).zip(twists.chunks_mut(TWISTS));
    each_piece(pieces, |(cells, twists)| twists.iter_mut().zip(*cells).for_each(|(twist, cell)| *twist = load(cell)));
}

/// Part of a colour.
pub(super) trait Halves: Sized + Send {
    /// Its halves, or itself where it is small.
    fn halve(self) -> Result<[Self; 2], Self>;
    /// Visits its contacts.
    fn visit(self, v: &impl Twists) -> Norms;
}

/// A colour, or a cell.
pub(super) struct Unit<P> {
    pub(super) piece: P,
    /// A cell: not halved.
    pub(super) whole: bool,
    /// The last of its round: a colour, or the last cell of a level.
    pub(super) last: bool,
}

/// Visits the halves of a colour one after the other.
fn visit_halves<P: Halves>(piece: P, v: &impl Twists) -> Norms {
    match piece.halve() {
        Ok([left, right]) => visit_halves(left, v).add(visit_halves(right, v)),
        Err(small) => small.visit(v),
    }
}

/// Visits all one after the other.
pub(super) fn visit_serial<P: Halves>(units: impl Iterator<Item = Unit<P>>, v: &impl Twists) -> Norms {
    let mut sum = Sum::default();
    for Unit { piece, whole, last } in units {
        sum.add(if whole { piece.visit(v) } else { visit_halves(piece, v) }, last);
    }
    sum.total
}

/// Norms of rounds: those of each in their order, then the rounds.
#[derive(Default)]
struct Sum {
    round: Option<Norms>,
    total: Norms,
}

impl Sum {
    fn add(&mut self, norms: Norms, last: bool) {
        self.round = Some(self.round.map_or(norms, |before| before.add(norms)));
        if last {
            self.total = self.round.take().map_or(self.total, |round| self.total.add(round));
        }
    }
}

/// A cell for some thread.
struct Task<P, M> {
    piece: Option<P>,
    /// First of its ranges, and the one after the last.
    ranges: [usize; 2],
    /// What the twists of its range wait for.
    waiting: Option<M>,
    norms: Norms,
    last: bool,
}

/// Visits cells level by level, each level by all threads. First every range of twists is given what waits for it. The norms are those of
/// [`visit_serial`] to the bit.
pub(super) fn visit_cells<P: Halves, M: Send>(
    cells: &Cells,
    units: impl Iterator<Item = Unit<P>>,
    v: &mut [Twist],
    waiting: impl IntoIterator<Item = M>,
    give: impl Fn(&mut [Twist], M) + Sync,
) -> Norms {
    let (mut ranges, mut rest) = (Vec::with_capacity(cells.bodies.len()), v);
    for bodies in cells.bodies.windows(2) {
        let (own, after) = rest.split_at_mut((bodies[1] - bodies[0]) as usize);
        ranges.push(Mutex::new((bodies[0], own)));
        rest = after;
    }
    let (mut tasks, mut starts, mut waiting) = (Vec::new(), vec![0], waiting.into_iter());
    for Unit { piece, last, .. } in units {
        tasks.push(Mutex::new(Task { piece: Some(piece), ranges: [0; 2], waiting: waiting.next(), norms: Norms::default(), last }));
        if last {
            let level = starts.last().map_or(0, |&start| start);
            let width = ranges.len() / (tasks.len() - level);
            for (k, task) in tasks[level..].iter_mut().enumerate() {
                task.get_mut().unwrap_or_else(PoisonError::into_inner).ranges = [k * width, (k + 1) * width];
            }
            starts.push(tasks.len());
        }
    }
    rounds(&tasks, &starts, |task| {
        let own = &ranges[task.ranges[0]..task.ranges[1]];
        // nobody else wants them: cells of a level share no body
        let mut held: Vec<_> = own.iter().map(|range| range.lock().unwrap_or_else(PoisonError::into_inner)).collect();
        if let ([range], Some(waiting)) = (held.as_mut_slice(), task.waiting.take()) {
            give(range.1, waiting);
        }
        let Some(piece) = task.piece.take() else { return };
        task.norms = match held.as_mut_slice() {
            [range] => piece.visit(&Own::new(range.0, range.1)),
            held => piece.visit(&Several(held.iter_mut().map(|range| Own::new(range.0, range.1)).collect())),
        };
    });
    let mut sum = Sum::default();
    for task in tasks {
        let task = task.into_inner().unwrap_or_else(PoisonError::into_inner);
        sum.add(task.norms, task.last);
    }
    sum.total
}

struct Leaf<P> {
    piece: Option<P>,
    /// How often its colour has been halved to it.
    depth: u32,
    norms: Norms,
}

/// What a thread takes at a time of colours.
enum Share<'a, P> {
    /// Twists, and what belongs to them.
    Move(&'a [Shared], &'a mut [Twist], &'a mut [Twist]),
    Visit(Leaf<P>),
}

/// The small pieces of all colours.
pub(super) struct Leaves<'a, P> {
    all: Vec<Mutex<Share<'a, P>>>,
    starts: Vec<usize>,
}

impl<'a, P: Halves> Leaves<'a, P> {
    pub(super) fn new() -> Self {
        Self { all: Vec::new(), starts: vec![0] }
    }

    /// Begins with all twists and what belongs to them; one hand-over to the other threads is enough for both.
    pub(super) fn push_twists(&mut self, cells: &'a [Shared], before: &'a mut [Twist], direction: &'a mut [Twist]) {
        let pieces = cells.chunks(TWISTS).zip(before.chunks_mut(TWISTS)).zip(direction.chunks_mut(TWISTS));
        self.all.extend(pieces.map(|((cells, before), direction)| Mutex::new(Share::Move(cells, before, direction))));
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
            Err(small) => self.all.push(Mutex::new(Share::Visit(Leaf { piece: Some(small), depth, norms: Norms::default() }))),
        }
    }

    /// Calls `step` for each twist and what belongs to it, then visits colour by colour, each by all threads; the norms are those of
    /// [`visit_serial`] to the bit.
    pub(super) fn visit(self, v: &[Shared], step: impl Fn(&mut Twist, &mut Twist, &mut Twist) + Sync) -> Norms {
        rounds(&self.all, &self.starts, |task| match task {
            Share::Move(cells, before, direction) => {
                for (cell, (before, direction)) in cells.iter().zip(before.iter_mut().zip(direction.iter_mut())) {
                    let mut twist = load(cell);
                    step(&mut twist, before, direction);
                    store(cell, twist);
                }
            }
            Share::Visit(leaf) => {
                if let Some(piece) = leaf.piece.take() {
                    leaf.norms = piece.visit(&Lent(v));
                }
            }
        });
        let mut tasks = self.all.into_iter().map(|task| task.into_inner().unwrap_or_else(PoisonError::into_inner));
        let (mut total, mut open) = (Norms::default(), Vec::<(u32, Norms)>::new());
        for colour in self.starts.windows(2) {
            open.clear();
            for task in tasks.by_ref().take(colour[1] - colour[0]) {
                let Share::Visit(Leaf { mut depth, mut norms, .. }) = task else { continue };
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

    fn visit(self, v: &impl Twists) -> Norms {
        let [from, to] = self.range;
        Lanes::best().run_four(Kick { contacts: &self.p.contacts[from..to], reactions: &self.r[from..to], masses: &self.p.rigid, v });
        Norms::default()
    }
}

/// Contacts whose kicks are worth a second thread.
const SHARED: usize = 4 * KICKS;

/// Kicks the rigid bodies, which begin with their free velocities, cell by cell; false where there are no cells or no other threads, or it is not worth it.
pub(super) fn kick_cells(p: &MixedProblem, r: &Reactions, v: &mut Velocities) -> bool {
    let Some(cells) = p.known_cells().filter(|_| p.is_coloured() && share(Part::Velocities, p.contacts.len(), SHARED)) else {
        return false;
    };
    v.rigid.resize(p.free.rigid.len(), Twist::default());
    let free = cells.bodies.windows(2).map(|bodies| &p.free.rigid[bodies[0] as usize..bodies[1] as usize]);
    visit_cells(cells, kicks(p, r), &mut v.rigid, free, |twists, free| twists.copy_from_slice(free));
    true
}

fn kicks<'a>(p: &'a MixedProblem, r: &'a Reactions) -> impl Iterator<Item = Unit<Kicks<'a>>> {
    let piece = |groups: Range<usize>| Kicks { p, r: &r.contacts, range: [groups.start, groups.end].map(|g| p.groups[g] as usize) };
    p.units().map(move |(groups, last)| Unit { piece: piece(groups), whole: true, last })
}

/// `v = v_free + Ŵ⁻¹ Hᵀ r` from scratch, as [`MixedProblem::velocities`]: each body is kicked in the same order.
pub(super) fn velocities(p: &MixedProblem, r: &Reactions, v: &mut Velocities, cells: &mut Vec<Shared>) {
    if p.known_cells().is_some() || !(p.is_coloured() && share(Part::Velocities, p.contacts.len(), SHARED)) {
        return p.velocities(r, v);
    }
    lend(&p.free.rigid, cells);
    let mut leaves = Leaves::new();
    kicks(p, r).for_each(|unit| leaves.push(unit.piece));
    leaves.visit(cells, |_, _, _| {});
    v.rigid.resize(p.free.rigid.len(), Twist::default());
    take_back(cells, &mut v.rigid);
    p.kick_others(r, v);
}
