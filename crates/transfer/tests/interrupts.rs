//! Copies that a signal ends.

#[path = "../../context/tests/common/mod.rs"]
mod common;
#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;

use arrow_cuda_context::Context;
use arrow_cuda_driver::{CudaError, Interruption, interruptible};
use arrow_cuda_transfer::{TransferLimits, copy_from_host, copy_to_host, set_transfer_limits};
use common::{Gate, alone};
use simulator::count_of;
use std::cell::RefCell;
use std::mem::MaybeUninit;

const SIZE: usize = 4 << 20;

thread_local! {
    /// Why the copy was ended, whose outcome nobody gets.
    static OUTCOME: RefCell<Option<CudaError>> = const { RefCell::new(None) };
}

/// An upload, whose outcome is noted.
fn upload(context: &Context, to: u64, data: &[u8]) {
    // SAFETY: the test has allocated as many bytes there.
    let copied = unsafe { copy_from_host(context, to, data) };
    OUTCOME.set(copied.err());
}

fn memory(context: &Context) -> u64 {
    context.enter().expect("alive").allocate_memory(SIZE as u64).expect("room")
}

fn assert_content(context: &Context, at: u64, data: &[u8]) {
    let mut out = vec![MaybeUninit::new(0); data.len()];
    // SAFETY: the test has allocated as many bytes there.
    unsafe { copy_to_host(context, &mut out, at) }.expect("alive");
    // SAFETY: initialised from the beginning.
    assert!(out.iter().zip(data).all(|(out, byte)| unsafe { out.assume_init() } == *byte));
}

/// The first move waits for the default stream, and signals are looked for meanwhile.
#[test]
fn a_staged_copy_ends_and_its_lane_serves_again() {
    let (_guard, context) = alone();
    set_transfer_limits(TransferLimits { begin_after: 0, ..TransferLimits::with_threads(2) });
    let (to, data) = (memory(&context), vec![7; SIZE]);
    upload(&context, to, &vec![1; SIZE]);
    let lanes = count_of(c"cuMemHostRegister");
    let gate = Gate::on_default_stream(&context);
    let ended = interruptible(Interruption::Pieces(|| true), || upload(&context, to, &data));
    assert_eq!((ended, OUTCOME.take()), (None, Some(CudaError::Interrupted)));
    gate.open();
    assert_content(&context, to, &vec![1; SIZE]);
    upload(&context, to, &data);
    assert_content(&context, to, &data);
    assert_eq!(count_of(c"cuMemHostRegister"), lanes, "none was discarded");
}

#[test]
fn no_copy_begins_while_the_device_is_busy() {
    let (_guard, context) = alone();
    for threads in [0, 2] {
        let limits = TransferLimits { begin_after: 0, ..TransferLimits::with_threads(threads) };
        set_transfer_limits(limits);
        let (to, data) = (memory(&context), vec![7; SIZE]);
        upload(&context, to, &vec![1; SIZE]);
        let gate = Gate::on_default_stream(&context);
        let ended = interruptible(Interruption::Copies(|| false), || upload(&context, to, &data));
        assert_eq!((ended, OUTCOME.take()), (None, Some(CudaError::Busy)));
        gate.open();
        assert_content(&context, to, &vec![1; SIZE]);
        let copied = interruptible(Interruption::Copies(|| true), || upload(&context, to, &data));
        assert!(copied.is_some());
        assert_content(&context, to, &data);
    }
}
