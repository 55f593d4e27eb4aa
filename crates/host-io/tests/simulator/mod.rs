//! Queries of the simulated driver for tests.

use arrow_cuda_driver::{is_simulated, library_name};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::process::Command;

fn function(name: &CStr) -> *mut c_void {
    let library = CString::new(library_name().expect("a driver")).expect("no NUL");
    // SAFETY: the library is loaded already.
    unsafe { libc::dlsym(libc::dlopen(library.as_ptr(), libc::RTLD_NOW), name.as_ptr()) }
}

/// How often a function was called.
pub fn count_of(name: &CStr) -> u64 {
    type Count = extern "C" fn(*const c_char) -> u64;
    // SAFETY: the function has this type, and reads to the NUL.
    let count = unsafe {
        std::mem::transmute::<*mut c_void, Option<Count>>(function(c"cuda_sim_call_count"))
    };
    count.expect("the simulated driver")(name.as_ptr())
}

/// Makes calls fail, by the rules of `CUDA_SIM_FAULT`.
pub fn set_fault(rules: &str) {
    type Set = extern "C" fn(*const c_char) -> c_int;
    let rules = CString::new(rules).expect("no NUL");
    // SAFETY: the function has this type, and reads to the NUL.
    let set =
        unsafe { std::mem::transmute::<*mut c_void, Option<Set>>(function(c"cuda_sim_fault")) };
    assert_eq!(set.expect("the simulated driver")(rules.as_ptr()), 0);
}

/// Runs an ignored test in a process of its own, with settings of the simulated driver.
pub fn in_own_process(test: &str, settings: &[(&str, &str)]) {
    if !is_simulated().expect("a driver") {
        return; // does not know the settings
    }
    let output = Command::new(std::env::current_exe().expect("a test binary"))
        .args(["--exact", test, "--ignored"])
        .envs(settings.iter().copied())
        .output()
        .expect("the test binary runs");
    assert!(output.status.success(), "{output:?}");
}
