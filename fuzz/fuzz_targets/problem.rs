//! Any file, packed or not, as the command line reads it; the residual of the zero answer is a number or an error.
#![no_main]

use drystone::io::problem::parse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(problem) = parse("fuzz".as_ref(), data.to_vec(), None) {
        let _ = problem.residual(&mut problem.zero());
    }
});
