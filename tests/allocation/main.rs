//! What asks for no memory once it is warm: detection, the router of one-step problems, batches of steps of general systems.

mod detection;
mod routes;
mod systems;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    // of this thread: the test harness has its own
    static REQUESTS: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, with a count of requests.
struct Counting;

// An allocator cannot be written without it; both functions pass their arguments on unchanged.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        REQUESTS.set(REQUESTS.get() + 1);
        // SAFETY: the caller's promises are those of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: `block` comes from `alloc` above, and so from `System`.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Requests of this thread while `work` runs.
fn requests(work: impl FnOnce()) -> usize {
    let before = REQUESTS.get();
    work();
    REQUESTS.get() - before
}
