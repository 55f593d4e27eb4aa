//! A comparison leaks nothing when device memory runs out.

mod common;

use arrow_cuda_buffer::{DeviceBuffer, Error};
use arrow_cuda_context::Context;
use arrow_cuda_driver::is_simulated;
use common::count_of;
use std::process::Command;

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
