//! Releases that block: whoever runs them may have to wait for somebody who copies.

mod common;
#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;

use arrow_cuda_driver::set_blocking_runner;
use arrow_cuda_transfer::{TransferLimits, copy_from_host, set_transfer_limits};
use common::{upload, with_threads};
use simulator::with_settings;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

static IS_WATCHED: AtomicBool = AtomicBool::new(false);
static RELEASES: AtomicU32 = AtomicU32::new(0);
static STUCK: AtomicU32 = AtomicU32::new(0);

/// As Python's does: comes back only once another thread, which has the GIL, has called us.
fn waits_for_another_thread(work: &mut dyn FnMut()) {
    work();
    if !IS_WATCHED.swap(false, Ordering::SeqCst) {
        return;
    }
    RELEASES.fetch_add(1, Ordering::SeqCst);
    let (done, is_done) = channel();
    thread::spawn(move || {
        set_transfer_limits(TransferLimits::with_threads(0));
        done.send(())
    });
    let outcome = is_done.recv_timeout(Duration::from_secs(10));
    STUCK.fetch_add(u32::from(outcome.is_err()), Ordering::SeqCst);
}

fn assert_released(once: &str) {
    assert_eq!(RELEASES.load(Ordering::SeqCst), 1, "{once}");
    assert_eq!(STUCK.load(Ordering::SeqCst), 0, "the lock was held while the release waited");
}

#[test]
fn nobody_waits_for_a_release_of_page_locked_memory() {
    set_blocking_runner(waits_for_another_thread);
    let (_alone, context) = with_threads(2);
    upload(&context, 4 << 20);
    IS_WATCHED.store(true, Ordering::SeqCst);
    set_transfer_limits(TransferLimits::with_threads(0));
    assert_released("the copy has made pinned memory");
}

#[test]
fn nobody_waits_for_a_release_of_a_stream() {
    with_settings(&[("CUDA_SIM_FAULT", "cuStreamCreate:2=999")], || {
        set_blocking_runner(waits_for_another_thread);
        let (_alone, context) = with_threads(2);
        let data = vec![7u8; 1 << 20];
        let current = context.enter().expect("alive");
        let to = current.allocate_memory(data.len() as u64).expect("room");
        IS_WATCHED.store(true, Ordering::SeqCst);
        // SAFETY: the memory was allocated above.
        unsafe { copy_from_host(&context, to, &data) }.expect("by the driver");
        assert_released("the first stream is destroyed");
    });
}
