//! Closures of the user, called so that a panic is an error: what unwinds from one would leave a step half done.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a closure gives; where it panics, what it said.
#[inline]
pub(crate) fn watched<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    // what a closure of the user holds is its own; the rows that it was given are gathered anew at the next try
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(given) => Ok(given),
        Err(panic) => Err(said(panic)),
    }
}

#[cold]
#[inline(never)]
fn said(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("without a message").to_owned()
}
