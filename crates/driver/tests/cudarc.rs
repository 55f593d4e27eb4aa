//! Whether `cudarc` and this crate use the same driver library.

#![cfg(feature = "cudarc")]

#[path = "common/again.rs"]
mod again;
#[path = "common/another_driver.rs"]
mod another_driver;

use again::{again, printed};
use another_driver::another_driver;
use arrow_cuda_driver::{DRIVER_VARIABLE, check_cudarc, is_simulated};
use cudarc::driver::CudaContext;
use rstest::rstest;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

/// Has `cudarc` look for its library before this crate loads one.
const THEIRS_FIRST: &str = "THEIRS_FIRST";

#[test]
#[ignore = "run by the other tests, in a process of its own"]
fn asked_cudarc() {
    if std::env::var_os(THEIRS_FIRST).is_some() {
        CudaContext::device_count().expect("a library of this name");
    }
    match check_cudarc() {
        Ok(()) => println!("cudarc: {}", CudaContext::device_count().expect("the same driver")),
        Err(error) => println!("cudarc: {error}"),
    }
}

/// What `cudarc` says where the driver is `ours`, and a folder of the dynamic linker may have another.
fn told(ours: impl Into<OsString>, theirs: Option<&Path>) -> String {
    let mut program = again("asked_cudarc");
    program.env(DRIVER_VARIABLE, ours.into()).env("CUDA_SIM_DEVICES", "1");
    program.env("LD_LIBRARY_PATH", theirs.unwrap_or(Path::new("")));
    if theirs.is_some() {
        program.env(THEIRS_FIRST, "1");
    }
    printed(&mut program)
}

#[rstest]
#[case::same("sim", "cudarc: 1\n")]
#[case::not_ours("/nonexistent/libcuda.so", "cudarc: the CUDA driver library '/nonex")]
fn cudarc_finds_the_library_that_is_loaded(#[case] ours: &str, #[case] expected: &str) {
    if is_simulated().expect("a driver") {
        let told = told(ours, None);
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn another_library_than_ours_is_refused() {
    if !is_simulated().expect("a driver") {
        return;
    }
    let folder = another_driver();
    let theirs = folder.path().join("libcuda.so");
    let other = told("sim", Some(folder.path()));
    // One that the linker does not know by the driver's name.
    let nameless = folder.path().join("mine.so");
    fs::write(&nameless, renamed(fs::read(&theirs).expect("a file"))).expect("room");
    let none = told(&nameless, None);
    let expected =
        format!("cudarc uses the CUDA driver library '{}', and the rest", theirs.display());
    assert!(other.contains(&expected), "{other}");
    assert!(none.contains("cudarc finds no CUDA driver library: start the program"), "{none}");
}

#[test]
fn others_do_not_find_the_simulator() {
    is_simulated().expect("a driver");
    for name in ["libcuda.so", "libcuda.so.1"] {
        // SAFETY: a driver, if there is one.
        let Ok(found) = (unsafe { libloading::Library::new(name) }) else { continue };
        // SAFETY: nothing is called.
        assert!(unsafe { found.get::<*const ()>(b"cuda_sim_call_count\0") }.is_err(), "{name}");
    }
}

/// The library under another name, by which only the linker's table of the loaded ones knows it.
fn renamed(mut library: Vec<u8>) -> Vec<u8> {
    let (name, other) = (b"\0libcuda64.so\0", b"\0libmine64.so\0");
    let found = library.windows(name.len()).position(|bytes| bytes == name).expect("its name");
    library[found..found + name.len()].copy_from_slice(other);
    library
}
