//! Copies when host memory cannot be pinned.

use arrow_cuda_context::Context;
use arrow_cuda_driver::{is_simulated, library_name};
use arrow_cuda_transfer::{TransferLimits, copy_from_host, set_transfer_limits};
use std::ffi::{CString, c_char, c_void};
use std::process::Command;

type Count = extern "C" fn(*const c_char) -> u64;

/// How often the simulated driver was asked for pinned memory.
fn count_of_requests() -> u64 {
    let library = CString::new(library_name().expect("a driver")).expect("no NUL");
    // SAFETY: the library is loaded already; the function has this type, and reads to the NUL.
    unsafe {
        let library = libc::dlopen(library.as_ptr(), libc::RTLD_NOW);
        let found = libc::dlsym(library, c"cuda_sim_call_count".as_ptr());
        let count = std::mem::transmute::<*mut c_void, Option<Count>>(found);
        count.expect("the simulated driver")(c"cuMemHostRegister_v2".as_ptr())
    }
}

#[test]
#[ignore = "run by the next test, in a process of its own"]
fn copies_without_page_locked_memory() {
    let context = Context::primary(0).expect("a device");
    set_transfer_limits(TransferLimits::with_threads(2));
    let data = vec![7u8; 1 << 20];
    let current = context.enter().expect("alive");
    let to = current.allocate_memory(data.len() as u64).expect("room");
    for _ in 0..50 {
        // SAFETY: the memory was allocated above.
        unsafe { copy_from_host(&context, to, &data) }.expect("by the driver");
    }
    assert_eq!(count_of_requests(), 1, "each request takes longer than a copy");
}

#[test]
fn page_locked_memory_that_cannot_be_had_is_not_asked_for_with_each_copy() {
    if !is_simulated().expect("a driver") {
        return; // hardware fails when it likes
    }
    let output = Command::new(std::env::current_exe().expect("a test binary"))
        .args(["--exact", "copies_without_page_locked_memory", "--ignored"])
        .env("CUDA_SIM_FAULT", "cuMemHostRegister_v2:1+=2")
        .output()
        .expect("the test binary runs");
    assert!(output.status.success(), "{output:?}");
}
