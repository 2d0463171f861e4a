//! Ctrl-C, and a polite kill.

use super::{Failure, INPUT, INTERRUPTED};
use std::sync::atomic::{AtomicBool, Ordering};

/// Set by the first Ctrl-C.
static STOP: AtomicBool = AtomicBool::new(false);

/// The first Ctrl-C ends the command at the next good place, which may be within a step, the second at once.
pub(super) fn listen() -> Result<(), Failure> {
    let handler = || {
        if STOP.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(INTERRUPTED));
        }
    };
    ctrlc::set_handler(handler).map_err(|error| Failure::new(INPUT, format!("Ctrl-C cannot be watched: {error}")))
}

/// What a step looks at while it is solved.
pub(super) fn flag() -> &'static AtomicBool {
    &STOP
}

/// Whether the command is to end.
pub(super) fn asked() -> bool {
    STOP.load(Ordering::SeqCst)
}

/// Ends the command as Ctrl-C does.
pub(super) fn ask() {
    STOP.store(true, Ordering::SeqCst);
}
