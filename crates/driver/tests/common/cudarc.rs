//! Tests in which `cudarc` finds the simulated driver.

#[path = "simulator.rs"]
pub mod simulator;

/// Runs a test's body in a process of its own, with these settings of the simulated driver, which `cudarc` finds there.
/// On hardware, it finds the real one anywhere, and settings are disregarded.
pub fn with_cudarc<F: Fn()>(settings: &[(&str, &str)], body: F) {
    // Loads the driver; `cudarc` finds the simulator where it is loaded already.
    let is_simulated = arrow_cuda_driver::is_simulated().expect("a driver");
    match is_simulated && !simulator::is_own_process() {
        true => simulator::in_own_process(settings, body),
        false => body(),
    }
}
