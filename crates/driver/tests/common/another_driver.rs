/// A folder in which `libcuda.so` is a copy of the simulator: to the linker another library, and so another driver.
pub fn another_driver() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let simulator = arrow_cuda_driver::library_name().expect("a driver");
    std::fs::copy(simulator, folder.path().join("libcuda.so")).expect("room");
    folder
}
