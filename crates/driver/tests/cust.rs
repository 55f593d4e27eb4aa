//! What `cust` gets from the driver that this crate loads.

#![cfg(feature = "cust")]

#[path = "common/again.rs"]
mod again;

use again::{again, printed};
use arrow_cuda_driver::{CudaError, DRIVER_VARIABLE};
use rstest::rstest;

#[test]
#[ignore = "run by the other tests, in a process of its own"]
fn asked_cust() {
    match cust::init(cust::CudaFlags::empty()).and_then(|()| cust::device::Device::num_devices()) {
        Ok(devices) => println!("cust: {devices}"),
        Err(folded) => {
            let last = CudaError::last(folded);
            println!("cust: {folded:?}: {last}: {folded}");
        }
    }
}

#[rstest]
#[case("sim", None, "cust: 1\n")]
#[case("/nonexistent/libcuda.so", None, "cust: NotInitialized: the CUDA driver library '/nonex")]
// cust takes it for a failure of the program if an error of its own has no text.
#[case("/nonexistent/libcuda.so", None, ": \"the CUDA driver is not loaded\"\n")]
// A code that cust's closed enumeration does not have.
#[case("sim", Some("cuDeviceGetCount:1=12345"), "cust: UnknownError: Cuda error 12345 in function")]
fn cust_calls_the_library_that_is_chosen(
    #[case] driver: &str,
    #[case] fault: Option<&str>,
    #[case] expected: &str,
) {
    let variables = [(DRIVER_VARIABLE, driver), ("CUDA_SIM_DEVICES", "1")];
    let fault = fault.map(|fault| ("CUDA_SIM_FAULT", fault));
    let printed = printed(again("asked_cust").envs(variables).envs(fault));
    assert!(printed.contains(expected), "{printed}");
}

#[test]
fn a_failure_is_not_taken_for_an_earlier_one() {
    use cust::error::CudaError as Theirs;

    cust::init(cust::CudaFlags::empty()).expect("a driver");
    let missing = || cust::device::Device::get_device(7_000).expect_err("no such device");
    assert_eq!(CudaError::last(missing()).code(), Some(101));
    // One that nobody asks about, and then one that cust found by itself.
    let _ = missing();
    assert_eq!(CudaError::last(Theirs::InvalidMemoryAllocation).code(), Some(100_100));
}
