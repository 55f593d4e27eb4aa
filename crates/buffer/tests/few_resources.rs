//! What a comparison leaves behind when device memory runs out.

use arrow_cuda_buffer::{DeviceBuffer, Error};
use arrow_cuda_context::Context;
use arrow_cuda_driver::{is_simulated, library_name};
use std::ffi::{CStr, CString, c_char, c_void};
use std::process::Command;

type Count = extern "C" fn(*const c_char) -> u64;

/// How often a function of the simulated driver was called.
fn count_of(function: &CStr) -> u64 {
    let library = CString::new(library_name().expect("a driver")).expect("no NUL");
    // SAFETY: the library is loaded already; the function has this type, and reads to the NUL.
    unsafe {
        let library = libc::dlopen(library.as_ptr(), libc::RTLD_NOW);
        let found = libc::dlsym(library, c"cuda_sim_call_count".as_ptr());
        let count = std::mem::transmute::<*mut c_void, Option<Count>>(found);
        count.expect("the simulated driver")(function.as_ptr())
    }
}

#[test]
#[ignore = "run by the next test, in a process of its own"]
fn compares_when_there_is_no_memory() {
    let context = Context::primary(0).expect("a device");
    let buffers = [0, 1].map(|_| DeviceBuffer::allocate(&context, 100).expect("room"));
    buffers.iter().for_each(|buffer| buffer.fill(7).expect("alive"));
    let failed = buffers[0].equals(&buffers[1]);
    assert!(matches!(failed, Err(Error::Cuda(error)) if error.is_out_of_memory()));
    assert_eq!(buffers[0].equals(&buffers[1]), Ok(true));
    assert_eq!(count_of(c"cuModuleLoadData"), 1, "the first one was never unloaded");
}

#[test]
fn a_comparison_that_fails_leaves_no_module() {
    if !is_simulated().expect("a driver") {
        return; // hardware fails when it likes
    }
    let output = Command::new(std::env::current_exe().expect("a test binary"))
        .args(["--exact", "compares_when_there_is_no_memory", "--ignored"])
        .env("CUDA_SIM_FAULT", "cuMemAlloc:3=2")
        .output()
        .expect("the test binary runs");
    assert!(output.status.success(), "{output:?}");
}
