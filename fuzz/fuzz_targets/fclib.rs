//! FCLIB HDF5; what is read is written and read again.
#![no_main]

use drystone::io::fclib;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let path = "fuzz.hdf5".as_ref();
    if let Ok(stored) = fclib::parse(path, data.to_vec()) {
        let bytes = fclib::bytes(path, &stored).expect("what was read can be written");
        let again = fclib::parse(path, bytes).expect("what was written can be read");
        assert_eq!(again.problem.sizes(), stored.problem.sizes());
    }
});
