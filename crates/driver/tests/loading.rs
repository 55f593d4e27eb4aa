//! Which library is loaded, and what is said when there is none.  The choice is made once a
//! process, so each case runs in a process of its own.

use arrow_cuda_driver::{CudaError, DRIVER_VARIABLE, call};
use rstest::rstest;
use std::process::Command;

/// Runs `asked_driver` below with a driver of choice, and gives back what it printed.
fn ask(driver: &str) -> String {
    let output = Command::new(std::env::current_exe().expect("a test binary"))
        .args(["--exact", "asked_driver", "--nocapture", "--ignored"])
        .env(DRIVER_VARIABLE, driver)
        .output()
        .expect("the test binary runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
#[ignore = "run by the other tests, in a process of its own"]
fn asked_driver() {
    let mut count = -1i32;
    // SAFETY: `count` outlives the call.
    let outcome =
        unsafe { call!(cuInit(0)).and_then(|()| call!(cuDeviceGetCount((&raw mut count).cast()))) };
    match outcome {
        Ok(()) => println!("devices: {count}"),
        Err(error @ CudaError::Load(_)) => println!("load error: {error}"),
        Err(error) => println!("error: {error}"),
    }
    // cust sees a code that it knows, and the error behind it can be had.
    match cust::device::Device::num_devices() {
        Ok(devices) => println!("cust: {devices}"),
        Err(folded) => println!("cust: {}", CudaError::last(folded)),
    }
}

#[rstest]
#[case("/nonexistent/libcuda.so")]
#[case("libm.so.6.not-there")]
fn a_missing_library_is_named(#[case] library: &str) {
    let printed = ask(library);
    assert!(printed.contains("load error: "), "{printed}");
    assert!(printed.contains(&format!("'{library}'")), "{printed}");
    assert!(printed.contains("PYARROW_CUDA_DRIVER=sim"), "{printed}");
    assert!(printed.contains("cust: the CUDA driver library"), "{printed}");
}

#[test]
fn a_library_without_the_function_is_named() {
    let printed = ask("libm.so.6");
    let expected = "error: Cuda error 500 in function 'cuInit': [CUDA_ERROR_NOT_FOUND] the driver \
                    library 'libm.so.6' has no function 'cuInit'";
    assert!(printed.contains(expected), "{printed}");
}

#[test]
fn the_simulator_says_how_many_devices_it_has() {
    let printed = ask("sim");
    let devices = std::env::var("CUDA_SIM_DEVICES").unwrap_or("1".into());
    assert!(printed.contains(&format!("devices: {devices}\n")), "{printed}");
    assert!(printed.contains(&format!("cust: {devices}\n")), "{printed}");
}
