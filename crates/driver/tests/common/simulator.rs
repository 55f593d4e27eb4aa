//! Counters and settings of the simulated driver, for the tests of all crates.

#![allow(dead_code, reason = "for some of the test files")]

#[allow(dead_code, reason = "the simulator's own tests use all of it")]
#[path = "../../../cuda-sim/tests/driver/common/process.rs"]
mod process;

use arrow_cuda_driver::{is_simulated, library_name};
#[allow(unused_imports, reason = "for some of the test files")]
pub use process::in_own_process;
use std::ffi::{CStr, CString, c_char};

/// How often a function of the simulated driver was called: `*` means all functions.  `None` on
/// hardware, which does not count.
pub fn count_of(function: &CStr) -> Option<u64> {
    is_simulated().expect("a driver").then(|| {
        // SAFETY: the function has this type, and reads to the NUL.
        let count: extern "C" fn(*const c_char) -> u64 = unsafe { symbol(c"cuda_sim_call_count") };
        count(function.as_ptr())
    })
}

/// How often a function is called meanwhile; nothing where the driver does not count.
pub fn calls_of(function: &CStr, work: impl FnOnce()) -> Option<u64> {
    let before = count_of(function);
    work();
    Some(count_of(function)? - before?)
}

/// How many of something the simulated driver has, by the name of the function that tells.  `None` on
/// hardware, which does not count.
pub fn live(function: &CStr) -> Option<u64> {
    is_simulated().expect("a driver").then(|| {
        // SAFETY: the functions that count have this type.
        let count: extern "C" fn() -> u64 = unsafe { symbol(function) };
        count()
    })
}

/// Has calls of the simulated driver fail from now on, as `CUDA_SIM_FAULT` describes it.
pub fn fault(rules: &str) {
    let rules = CString::new(rules).expect("no NUL");
    // SAFETY: the function has this type, and reads to the NUL.
    let set: extern "C" fn(*const c_char) -> i32 = unsafe { symbol(c"cuda_sim_fault") };
    assert_eq!(set(rules.as_ptr()), 0, "{rules:?}");
}

/// Whether this is the process of a test's own.
pub fn is_own_process() -> bool {
    process::role().is_some()
}

/// Runs a test's body in a process of its own, with settings of the simulated driver.  Does nothing on hardware.
pub fn with_settings<F: Fn()>(settings: &[(&str, &str)], body: F) {
    if process::role().is_some() || is_simulated().expect("a driver") {
        in_own_process(settings, body);
    }
}

/// # Safety
///
/// `F` must be the type of the function of that name.
unsafe fn symbol<F: Copy>(name: &CStr) -> F {
    let library = CString::new(library_name().expect("a driver")).expect("no NUL");
    // SAFETY: the library is loaded already.
    let found =
        unsafe { libc::dlsym(libc::dlopen(library.as_ptr(), libc::RTLD_NOW), name.as_ptr()) };
    assert!(!found.is_null(), "the simulated driver has {name:?}");
    // SAFETY: guaranteed by the caller; a pointer to a function is as large.
    unsafe { std::mem::transmute_copy(&found) }
}
