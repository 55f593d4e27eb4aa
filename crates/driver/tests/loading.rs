//! Which library is loaded, and the error for one that cannot be.  A process chooses its
//! library once, so each case runs in a process of its own.

#![allow(clippy::disallowed_macros, reason = "tests the macro and what is below it")]

#[path = "common/again.rs"]
mod again;

use again::{again, printed};
use arrow_cuda_driver::{CudaError, DRIVER_VARIABLE, call};
use rstest::rstest;
use std::path::PathBuf;

/// How every error about a value of the variable begins to say what to do.
const ACCEPTED: &str = "PYARROW_CUDA_DRIVER must be 'sim' for the simulated device, or the name or \
                        path of a CUDA driver library";
const WAYS_OUT: &str =
    "set PYARROW_CUDA_DRIVER=sim for the simulated device, or unset it for libcuda.so.1";

/// Runs `asked_driver` below with a driver of choice, and returns what it printed.
fn ask(driver: &str) -> String {
    printed(again("asked_driver").env(DRIVER_VARIABLE, driver))
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
    // SAFETY: nothing is read before the missing function is noticed.
    if let Err(missing) = unsafe { call!(cuTexObjectDestroy(0)) } {
        println!("texture: {missing} {}", missing.is_missing_function());
    }
}

/// A file of the test's own with this content.
fn file(name: &str, content: &[u8]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("{}-{name}", std::process::id()));
    std::fs::write(&path, content).expect("a file");
    path
}

#[rstest]
fn a_missing_library_is_told_in_the_linkers_words(
    #[values("/nonexistent/libcuda.so", "libm.so.6.not-there", "SIM", "simulator")] library: &str,
) {
    let printed = ask(library);
    let expected = format!(
        "load error: the CUDA driver library '{library}' could not be loaded ({library}: cannot \
         open shared object file: No such file or directory); {ACCEPTED}, not '{library}'; \
         {WAYS_OUT}\n"
    );
    assert!(printed.contains(&expected), "{printed}");
}

#[test]
fn a_file_that_is_not_a_library_is_named() {
    let path = file("driver.txt", b"not a library");
    let printed = ask(path.to_str().expect("text"));
    std::fs::remove_file(&path).expect("the file goes");
    assert!(printed.contains(": file too short)"), "{printed}");
    let expected = format!("PYARROW_CUDA_DRIVER names a file that is not a library; {WAYS_OUT}\n");
    assert!(printed.contains(&expected), "{printed}");
}

#[test]
fn a_library_that_the_linker_refuses_is_named() {
    let program = std::env::current_exe().expect("a test binary");
    let printed = ask(program.to_str().expect("text"));
    assert!(printed.contains("cannot dynamically load position-independent executable"));
    let expected =
        format!("PYARROW_CUDA_DRIVER names a library that this process cannot load; {WAYS_OUT}\n");
    assert!(printed.contains(&expected), "{printed}");
}

#[test]
fn a_library_that_is_not_a_driver_is_named() {
    let printed = ask("libm.so.6");
    let expected = format!(
        "load error: the CUDA driver library 'libm.so.6' could not be loaded (it has no function \
         'cuInit', so it is not a CUDA driver); {ACCEPTED}, not 'libm.so.6'; {WAYS_OUT}\n"
    );
    assert!(printed.contains(&expected), "{printed}");
}

#[test]
fn the_simulator_is_a_driver_and_a_function_that_it_lacks_is_named() {
    let printed = ask("sim");
    let devices = std::env::var("CUDA_SIM_DEVICES").unwrap_or("1".into());
    assert!(printed.contains(&format!("devices: {devices}\n")), "{printed}");
    let start = "texture: Cuda error 500 in function 'cuTexObjectDestroy': [CUDA_ERROR_NOT_FOUND] \
                 the driver library '";
    assert!(printed.contains(start), "{printed}");
    assert!(printed.contains("libcuda_sim.so' has no function 'cuTexObjectDestroy' true\n"));
}
