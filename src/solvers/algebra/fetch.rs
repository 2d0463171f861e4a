//! Records asked for before they are needed, where they lie in no order.

use prefetch_index::prefetch_index;

/// Records that a pass asks for one of them ahead: to fetch one from beyond the caches takes as long as some three are worked on.
const AHEAD: usize = 4;
/// Number of records from which on they outgrow the caches of a core, and it pays to ask.
const MANY: usize = 4096;
/// Bytes that memory hands over at a time.
const LINE: usize = 64;

/// How many records ahead a pass over this many asks for one; none is that far where there are few.
///
/// ```
/// use drystone::algebra::fetch::{ahead, fetch};
/// let (order, records) = ([2, 0, 1], [1.0, 2.0, 3.0]);
/// let ahead = ahead(order.len());
/// for (at, &k) in order.iter().enumerate() {
///     if let Some(&next) = order.get(at.saturating_add(ahead)) {
///         fetch(&records[next]);
///     }
///     assert!(records[k] > 0.0);
/// }
/// ```
pub fn ahead(records: usize) -> usize {
    if records < MANY { usize::MAX } else { AHEAD }
}

/// Asks for all lines of a record, and does not wait. It changes nothing but the time that it takes to read it.
#[inline(always)]
pub fn fetch<T>(record: &T) {
    // an address is all that is needed: as a distance from nothing it is an index
    const NOTHING: &[u8] = &[];
    let first = std::ptr::from_ref(record).addr().wrapping_sub(NOTHING.as_ptr().addr());
    for line in (0..size_of::<T>()).step_by(LINE) {
        prefetch_index(NOTHING, first.wrapping_add(line));
    }
}
