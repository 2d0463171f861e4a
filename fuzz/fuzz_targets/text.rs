//! Text of every kind: the first byte asks for a kind or leaves it to the content.
#![no_main]

use drystone::io::problem::text;
use drystone::numerics::solvers::Kind;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Some((&first, rest)) = data.split_first() {
        let kind = Kind::ALL.get(usize::from(first) % 16).copied();
        if let Ok(problem) = text::parse("fuzz.dat".as_ref(), rest, kind) {
            let _ = problem.validate();
        }
    }
});
