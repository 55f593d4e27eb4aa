//! Tests in which `cudarc` finds the simulated driver.

#[path = "linked.rs"]
mod linked;
#[path = "simulator.rs"]
pub mod simulator;

/// Runs a test's body in a process of its own, with these settings of the simulated driver, which `cudarc` finds there.
/// On hardware, it finds the real one anywhere, and settings are disregarded.
pub fn with_cudarc<F: Fn()>(settings: &[(&str, &str)], body: F) {
    if simulator::is_own_process() || !arrow_cuda_driver::is_simulated().expect("a driver") {
        return body();
    }
    let folder = linked::folder_with_simulator();
    let mut settings = settings.to_vec();
    settings.push(("LD_LIBRARY_PATH", &folder));
    simulator::in_own_process(&settings, body);
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}
