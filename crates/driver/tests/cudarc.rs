//! Whether `cudarc` and this crate use the same driver library.

#![cfg(feature = "cudarc")]

#[path = "common/again.rs"]
mod again;
#[path = "common/linked.rs"]
mod linked;

use again::{again, printed};
use arrow_cuda_driver::{DRIVER_VARIABLE, check_cudarc, is_simulated};
use cudarc::driver::CudaContext;
use linked::folder_with_simulator;
use rstest::rstest;

#[test]
#[ignore = "run by the other tests, in a process of its own"]
fn asked_cudarc() {
    match check_cudarc() {
        Ok(()) => println!("cudarc: {}", CudaContext::device_count().expect("the same driver")),
        Err(error) => println!("cudarc: {error}"),
    }
}

#[rstest]
// As in the tests of the other crates.
#[case::same(Some("libcuda.so"), "sim", "cudarc: 1\n")]
#[case::none(
    None,
    "sim",
    "cudarc: cudarc finds no CUDA driver library: start the program with a folder in"
)]
// A copy of the simulator, which is another library to the linker, and so another driver.
#[case::other(Some("copy"), "sim", "copy/libcuda.so', and the rest of the program '/")]
#[case::not_ours(
    Some("libcuda.so"),
    "/nonexistent/libcuda.so",
    "cudarc: the CUDA driver library '/nonex"
)]
fn cudarc_is_compared_with_the_library_that_is_chosen(
    #[case] theirs: Option<&str>,
    #[case] ours: &str,
    #[case] expected: &str,
) {
    if !is_simulated().expect("a driver") {
        return;
    }
    let mut folder = folder_with_simulator();
    let whole = folder.clone();
    if theirs == Some("copy") {
        let copy = format!("{folder}/copy");
        std::fs::create_dir(&copy).expect("a folder");
        std::fs::copy(format!("{folder}/libcuda.so"), format!("{copy}/libcuda.so")).expect("room");
        folder = copy;
    }
    let folder = if theirs.is_some() { folder } else { String::new() };
    let variables =
        [(DRIVER_VARIABLE, ours), ("CUDA_SIM_DEVICES", "1"), ("LD_LIBRARY_PATH", &folder)];
    let printed = printed(again("asked_cudarc").envs(variables));
    std::fs::remove_dir_all(whole).expect("the folder goes");
    assert!(printed.contains(expected), "{printed}");
}
