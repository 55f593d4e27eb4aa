//! Copies of several devices, which share threads and pinned memory.

mod common;
#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;
#[path = "../../driver/tests/common/withheld.rs"]
mod withheld;

use arrow_cuda_context::Context;
use arrow_cuda_transfer::{TransferLimits, set_transfer_limits};
use common::upload;
use simulator::with_settings;
use std::thread::{available_parallelism, yield_now};
use std::time::{Duration, Instant};
use std::{fs, num::NonZero};
use withheld::withheld_mappings;

fn copy_to(device: u32) {
    upload(&Context::primary(device).expect("a device"), 1 << 20);
}

fn workers() -> usize {
    let tasks = fs::read_dir("/proc/self/task").expect("of every process").flatten();
    let names = tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
    names.filter(|name| name.starts_with("cuda-copy")).count()
}

#[test]
fn devices_of_a_node_share_threads_as_far_as_its_cores_go() {
    with_settings(&[("CUDA_SIM_DEVICES", "3")], || {
        let threads = available_parallelism().map_or(1, NonZero::get).min(64);
        set_transfer_limits(TransferLimits::with_threads(threads));
        (0..3).for_each(copy_to);
        let start = Instant::now();
        while workers() < threads && start.elapsed() < Duration::from_secs(60) {
            yield_now(); // a thread names itself once it runs
        }
        assert_eq!(workers(), threads);
    });
}

#[test]
fn eight_devices_pin_half_as_much_each() {
    with_settings(&[("CUDA_SIM_DEVICES", "8")], || {
        let pinned_bytes = 8 << 20;
        set_transfer_limits(TransferLimits { pinned_bytes, ..TransferLimits::with_threads(2) });
        (0..8).for_each(copy_to);
        // The slots, not the simulated memory of devices.
        let pinned: usize = withheld_mappings().into_iter().filter(|size| *size < 1 << 30).sum();
        assert_eq!(pinned, 8 * (4 << 20));
    });
}
