//! What `cust` gets from the driver that this crate loads.

#![cfg(feature = "cust")]

use arrow_cuda_driver::{CudaError, DRIVER_VARIABLE};
use rstest::rstest;
use std::process::Command;

#[test]
#[ignore = "run by the other tests, in a process of its own"]
fn asked_cust() {
    match cust::init(cust::CudaFlags::empty()).and_then(|()| cust::device::Device::num_devices()) {
        Ok(devices) => println!("cust: {devices}"),
        Err(folded) => println!("cust: {folded:?}: {}", CudaError::last(folded)),
    }
}

#[rstest]
#[case("sim", None, "cust: 1\n")]
#[case("/nonexistent/libcuda.so", None, "cust: NotInitialized: the CUDA driver library '/nonex")]
// A code that cust's closed enumeration does not have.
#[case("sim", Some("cuDeviceGetCount:1=12345"), "cust: UnknownError: Cuda error 12345 in function")]
fn cust_calls_the_library_that_is_chosen(
    #[case] driver: &str,
    #[case] fault: Option<&str>,
    #[case] expected: &str,
) {
    let output = Command::new(std::env::current_exe().expect("a test binary"))
        .args(["--exact", "asked_cust", "--nocapture", "--ignored"])
        .env(DRIVER_VARIABLE, driver)
        .env("CUDA_SIM_DEVICES", "1")
        .envs(fault.map(|fault| ("CUDA_SIM_FAULT", fault)))
        .output()
        .expect("the test binary runs");
    assert!(output.status.success(), "{output:?}");
    let printed = String::from_utf8(output.stdout).expect("text");
    assert!(printed.contains(expected), "{printed}");
}
