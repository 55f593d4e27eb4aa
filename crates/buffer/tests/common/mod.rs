//! Counters of the simulated driver.

use arrow_cuda_driver::library_name;
use std::ffi::{CStr, CString, c_char, c_void};

type Count = extern "C" fn(*const c_char) -> u64;

/// How often a function of the simulated driver was called.
pub fn count_of(function: &CStr) -> u64 {
    let library = CString::new(library_name().expect("a driver")).expect("no NUL");
    // SAFETY: the library is loaded already; the function has this type, and reads to the NUL.
    unsafe {
        let library = libc::dlopen(library.as_ptr(), libc::RTLD_NOW);
        let found = libc::dlsym(library, c"cuda_sim_call_count".as_ptr());
        let count = std::mem::transmute::<*mut c_void, Option<Count>>(found);
        count.expect("the simulated driver")(function.as_ptr())
    }
}
