//! Work that threads share, and what proves that they do.
//!
//! Pieces are taken by index and sums are those of pieces of a fixed length, added in order: any number of threads gives the same bits.
//! What is too short to be worth a second thread stays on one.

use rayon::{Yield, prelude::*};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A part of a step that threads may share.
///
/// ```
/// use drystone::algebra::pieces::{Part, shares};
/// assert_eq!(shares(Part::Broad), 0, "nothing has been shared on this thread");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Components of bodies to their rows.
    Begin,
    /// Boxes and candidates of the broad phase.
    Broad,
    /// Points of pairs.
    Narrow,
    /// Masses and free velocities.
    FreeMotion,
    /// Which points are rows.
    Activate,
    /// Contact rows.
    Assemble,
    /// Own operators of contacts, and scales of the problem.
    Prepare,
    /// Velocities from reactions.
    Velocities,
    /// Errors of an answer.
    Residual,
    /// New velocities and places.
    Apply,
    /// What may overlap at the end of a step.
    Ahead,
    /// Reactions back to their pairs.
    Store,
    /// Energies, overlaps, numbers that are none.
    Certificate,
    /// New velocities and places back to their bodies.
    End,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Begin,
        Self::Broad,
        Self::Narrow,
        Self::FreeMotion,
        Self::Activate,
        Self::Assemble,
        Self::Prepare,
        Self::Velocities,
        Self::Residual,
        Self::Apply,
        Self::Ahead,
        Self::Store,
        Self::Certificate,
        Self::End,
    ];
}

thread_local! {
    static SHARES: Cell<[u64; Part::ALL.len()]> = const { Cell::new([0; Part::ALL.len()]) };
}

/// How often work that this thread began has been shared: what a test of "the same bits on any number of threads" has to see grow.
pub fn shares(part: Part) -> u64 {
    SHARES.get()[part as usize]
}

/// How many times as many things are worth a second thread where they have to be handed over to the pool, or that thread has slept meanwhile: that
/// takes as long as the assembly of a thousand contacts (walls of 105 to 211 blocks took 1.1 to 1.7 times as long with two threads).
const HANDED_OVER: usize = 4;

thread_local! {
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Does work that is too short for the other threads of the pool to stay awake between its parts: these share only what is long.
#[doc(hidden)]
pub fn nearly_alone<R>(work: impl FnOnce() -> R) -> R {
    let before = ALONE.replace(true);
    let done = work();
    ALONE.set(before);
    done
}

/// Whether so many things, of which `least` are worth a second thread of the pool at hand, are to be shared; counted if so.
#[doc(hidden)]
pub fn share(part: Part, things: usize, least: usize) -> bool {
    let awake = || rayon::current_thread_index().is_some() && !ALONE.get();
    let yes = things >= least && rayon::current_num_threads() > 1 && (things >= HANDED_OVER * least || awake());
    if yes {
        let mut counts = SHARES.get();
        counts[part as usize] += 1;
        SHARES.set(counts);
    }
    yes
}

/// Whether this thread would have to hand shared work over to those of the pool, and wait.
#[doc(hidden)]
pub fn is_outside_pool() -> bool {
    rayon::current_thread_index().is_none() && rayon::current_num_threads() > 1
}

/// Hands work over to the pool as a whole.
#[doc(hidden)]
pub fn within_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    rayon::scope(|_| work())
}

/// Tells the threads that wait for parts of a work that it has ended, however it ends.
struct Ended(Arc<AtomicBool>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Looks for a part that find none, after which a thread lets what else the machine has to do go first; and after which it leaves them to the pool, and
/// sleeps: some 0.2 ms. It may have begun to look amid a part of its own that waits for another, so it must not look until the work ends.
const LOOKS: [u32; 2] = [16, 2000];

/// Does work on a thread of the pool while up to so many others look for its parts rather than fall asleep in between: to wake one may take longer than a
/// part does. No more of them than there are cores.
#[doc(hidden)]
pub fn awake<R>(others: usize, work: impl FnOnce() -> R) -> R {
    static CORES: OnceLock<usize> = OnceLock::new();
    let cores = *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from));
    let own = rayon::current_thread_index();
    let ended = Ended(Arc::default());
    for _ in 0..others.min(cores - 1).min(rayon::current_num_threads() - 1) {
        let flag = ended.0.clone();
        if own.is_some() {
            rayon::spawn(move || {
                if rayon::current_thread_index() != own {
                    look(&flag)
                }
            });
        }
    }
    work()
}

/// Takes part in what the pool has to do until there has been nothing for a while, or the flag says so.
fn look(ended: &AtomicBool) {
    let mut looks = 0;
    while looks < LOOKS[1] && !ended.load(Ordering::Relaxed) {
        looks = if rayon::yield_now() == Some(Yield::Executed) { 0 } else { looks + 1 };
        if looks % LOOKS[0] == 0 { std::thread::yield_now() } else { std::hint::spin_loop() }
    }
}

/// Length of pieces of which each thread gets some, for work whose pieces may be of any length.
#[doc(hidden)]
pub fn length(things: usize) -> usize {
    things.div_ceil(4 * rayon::current_num_threads()).max(64)
}

/// Calls `f` for pieces of so many things, each with its own memory; `memory` grows to as many as there are pieces.
#[doc(hidden)]
pub fn each_piece<T: Send, M: Send + Default>(
    things: &mut [T],
    length: usize,
    memory: &mut Vec<M>,
    f: impl Fn(usize, &mut [T], &mut M) + Sync,
) {
    let pieces = things.len().div_ceil(length);
    if memory.len() < pieces {
        memory.resize_with(pieces, M::default);
    }
    let pieces = things.par_chunks_mut(length).zip(memory.par_iter_mut()).enumerate();
    pieces.for_each(|(k, (things, memory))| f(k * length, things, memory));
}

/// The first of many things that is `wrong`.
#[doc(hidden)]
pub fn first<T: Sync>(part: Part, things: &[T], wrong: impl Fn(&T) -> bool + Sync + Send) -> Option<usize> {
    if share(part, things.len(), 2048) { things.par_iter().position_first(wrong) } else { things.iter().position(wrong) }
}

/// Sum over pieces of a fixed length in their order: `f` is given the start and the end of each.
#[doc(hidden)]
pub fn sum<S: Send>(
    things: usize,
    length: usize,
    shared: bool,
    f: impl Fn(usize, usize) -> S + Sync,
    add: impl Fn(S, S) -> S,
) -> Option<S> {
    let pieces = things.div_ceil(length);
    let piece = |k: usize| f(k * length, ((k + 1) * length).min(things));
    if shared && pieces > 1 {
        let parts: Vec<S> = (0..pieces).into_par_iter().map(piece).collect();
        return parts.into_iter().reduce(add);
    }
    (0..pieces).map(piece).reduce(add)
}

/// Turns of spinning before a thread that waits lets others run.
const SPINS: usize = 2000;

/// Works on all pieces, round after round; the pieces of a round may be worked on in any order. `starts` holds the first piece of each
/// round, and the number of all.
///
/// Handing each round to the pool would wake a thread for it, which takes as long as a short round: so those that have come stay for all
/// rounds. Each has the same part of every round, so that what it touches is in its cache, and helps with the rest. Nobody waits for
/// a thread to come, only for pieces that one has begun: there is no deadlock, whatever else the pool does.
pub(crate) fn rounds<P: Send>(pieces: &[Mutex<P>], starts: &[usize], work: impl Fn(&mut P) + Sync) {
    struct Done<'a>(&'a AtomicUsize);
    impl Drop for Done<'_> {
        fn drop(&mut self) {
            // also where the work has panicked: the others must not wait for ever
            self.0.fetch_add(1, Ordering::AcqRel);
        }
    }
    let taken: Vec<AtomicBool> = pieces.iter().map(|_| AtomicBool::new(false)).collect();
    let done = AtomicUsize::new(0);
    let widest = starts.windows(2).map(|round| round[1] - round[0]).max().unwrap_or(0);
    let threads = rayon::current_num_threads().min(processors()).min(widest).max(1);
    let take = |thread: usize| {
        for round in starts.windows(2) {
            let mut turns = 0;
            while done.load(Ordering::Acquire) < round[0] {
                turns += 1;
                if turns < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
            }
            let count = round[1] - round[0];
            let [from, to] = [thread, thread + 1].map(|t| round[0] + count * t / threads);
            // others begin theirs in front
            for k in (from..to).chain((round[0]..from).rev()).chain((to..round[1]).rev()) {
                if !taken[k].swap(true, Ordering::Relaxed) {
                    let _done = Done(&done);
                    work(&mut pieces[k].lock().unwrap_or_else(PoisonError::into_inner));
                }
            }
        }
    };
    rayon::scope(|s| {
        let take = &take;
        (1..threads).for_each(|thread| s.spawn(move |_| take(thread)));
        take(0);
    });
}

/// Threads that can run at the same time, two at least: more would wait for each other.
fn processors() -> usize {
    static FOUND: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *FOUND.get_or_init(|| std::thread::available_parallelism().map_or(2, |n| n.get().max(2)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::AssertUnwindSafe;

    #[test]
    fn a_round_begins_when_the_one_before_is_done() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().expect("threads");
        for _ in 0..50 {
            let starts = [0, 7, 8, 8, 30, 64];
            let pieces: Vec<Mutex<usize>> = (0..64).map(Mutex::new).collect();
            let done: Vec<AtomicUsize> = (0..5).map(|_| AtomicUsize::new(0)).collect();
            pool.install(|| {
                rounds(&pieces, &starts, |k| {
                    let round = starts.iter().rposition(|s| *s <= *k).expect("a round").min(4);
                    for before in 0..round {
                        assert_eq!(done[before].load(Ordering::Relaxed), starts[before + 1] - starts[before]);
                    }
                    done[round].fetch_add(1, Ordering::Relaxed);
                });
            });
            assert_eq!(done[4].load(Ordering::Relaxed), 34);
        }
    }

    #[test]
    fn sums_are_those_of_pieces_whoever_adds_them() {
        let x: Vec<f64> = (0..10_000).map(|k| 1.0 / (k as f64 + 0.3)).collect();
        let of = |shared| sum(x.len(), 1000, shared, |a, b| x[a..b].iter().sum::<f64>(), |a, b| a + b).map(f64::to_bits);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().expect("threads");
        assert_eq!(of(false), pool.install(|| of(true)));
        assert_eq!(sum(0, 10, true, |_, _| 1.0, |a, b| a + b), None);
    }

    #[test]
    fn what_is_short_stays_on_one_thread() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
        let counted =
            pool.install(|| (share(Part::Broad, 99, 100), shares(Part::Broad), share(Part::Broad, 100, 100), shares(Part::Broad)));
        assert_eq!(counted, (false, 0, true, 1));
        // what has to be handed over to the pool, longer
        assert!(!share(Part::Broad, 399, 100) && share(Part::Broad, 400, 100) == (rayon::current_num_threads() > 1));
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
        assert!(!alone.install(|| share(Part::Broad, 100, 100)));
    }

    #[test]
    fn threads_that_stay_awake_take_parts_and_go_to_sleep_where_there_are_none() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool");
        let work = || awake(2, || (0..500u64).into_par_iter().map(|k| k * k).sum::<u64>());
        // two works at a time, whose parts wait for each other
        (0..300).for_each(|_| assert_eq!(pool.install(|| rayon::join(work, work)), (41_541_750, 41_541_750)));
        assert_eq!(work(), 41_541_750, "outside of the pool");
        // a work that never ends, and one that panics
        pool.install(|| look(&AtomicBool::new(false)));
        let ends = std::panic::catch_unwind(AssertUnwindSafe(|| pool.install(|| awake(2, || -> u64 { panic!("the work fails") }))));
        assert!(ends.is_err() && pool.install(work) == 41_541_750);
    }

    #[test]
    fn a_short_work_shares_what_is_long_alone() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool");
        let of = |things| share(Part::Broad, things, 100);
        let both = || [of(399), of(400)];
        assert_eq!(pool.install(|| (nearly_alone(both), both())), ([false, true], [true, true]));
    }
}
