//! JSON; what is read is written and read again.
#![no_main]

use drystone::io::problem::json;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let path = "fuzz.json".as_ref();
    if let Ok(problem) = json::parse(path, data)
        && problem.validate().is_ok()
    {
        let text = json::text(&problem);
        let again = json::parse(path, text.as_bytes()).expect("what was written can be read");
        assert_eq!(json::text(&again), text);
    }
});
