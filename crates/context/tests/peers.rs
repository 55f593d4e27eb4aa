//! Access of devices to each other's memory, which the first copy between two of them enables.
//!
//! Without a second device there is nothing to test: set `CUDA_SIM_DEVICES=2`.

#![allow(clippy::disallowed_macros, reason = "sets up what the crate must not do itself")]

mod common;
#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;

use arrow_cuda_context::{Block, Context, Placement, Stream, StreamHandle};
use arrow_cuda_driver::call;
use rstest::rstest;
use simulator::{count_of, with_settings};
use std::sync::MutexGuard;

const SIZE: usize = 1000;

/// A block of each device; those of the first one hold `value`.
struct Pair {
    first: Block,
    second: Block,
}

/// Peer access belongs to the process: one test at a time, each with contexts that have no access yet.
fn alone() -> Option<(MutexGuard<'static, ()>, Pair)> {
    let (guard, first) = common::alone();
    for context in [first, common::second_device()?] {
        // SAFETY: nobody else uses it.
        unsafe { context.device().reset() }.expect("a device");
    }
    let [first, second] = [0, 1].map(|device| {
        let context = Context::primary(device).expect("a device");
        Block::allocate(&context, SIZE as u64, Placement::Packed).expect("room")
    });
    Some((guard, Pair { first, second }))
}

impl Pair {
    fn reversed(self) -> Self {
        Self { first: self.second, second: self.first }
    }

    /// Copies the first block to the second one, and checks what is there then.
    fn copy(&self, value: u8) {
        self.check(value, || {
            let current = self.first.context().enter().expect("alive");
            let to = (self.second.private_address(), self.second.context());
            // SAFETY: two blocks of that size.
            unsafe { current.copy_to_context(to, self.first.private_address(), SIZE) }
                .expect("alive");
        });
    }

    fn queue_copy(&self, value: u8, stream: &Stream) {
        self.check(value, || {
            let work = |current: &arrow_cuda_context::Current<'_>, stream: StreamHandle<'_>| {
                let to = (self.second.private_address(), self.second.context());
                let from = (self.first.private_address(), self.first.context());
                // SAFETY: two blocks of that size, which live longer than the stream is waited for.
                unsafe { current.queue_copy_between(to, from, SIZE, stream) }
            };
            drop(stream.enqueue(Box::new(()), work).expect("alive"));
            drop(stream.synchronize().expect("alive"));
        });
    }

    fn check(&self, value: u8, copy: impl FnOnce()) {
        let first = self.first.context().enter().expect("alive");
        // SAFETY: the whole block.
        unsafe { first.fill_memory(self.first.private_address(), value, SIZE) }.expect("alive");
        copy();
        let mut seen = vec![0; SIZE];
        let second = self.second.context().enter().expect("alive");
        // SAFETY: the whole block, and as many bytes.
        unsafe { second.copy_to_host(seen.as_mut_ptr(), self.second.private_address(), SIZE) }
            .expect("alive");
        assert_eq!(seen, vec![value; SIZE]);
    }
}

/// How often access was enabled, or was to be.
fn enabled() -> Option<u64> {
    count_of(c"cuCtxEnablePeerAccess")
}

fn asked() -> Option<u64> {
    count_of(c"cuDeviceCanAccessPeer")
}

#[test]
fn the_first_copy_enables_access_both_ways_once() {
    let Some((_alone, pair)) = alone() else { return };
    let before = enabled();
    pair.copy(1);
    pair.copy(2);
    let pair = pair.reversed();
    pair.copy(3);
    let stream = Stream::non_blocking(pair.second.context()).expect("room");
    pair.queue_copy(4, &stream);
    assert_eq!(enabled(), before.map(|before| before + 2));
}

#[rstest]
fn a_queued_copy_enables_access_too(#[values(0, 1)] which: usize) {
    let Some((_alone, pair)) = alone() else { return };
    let before = enabled();
    let stream = Stream::new([&pair.first, &pair.second][which].context()).expect("room");
    pair.queue_copy(1, &stream);
    pair.queue_copy(2, &stream);
    assert_eq!(enabled(), before.map(|before| before + 2));
}

#[test]
fn the_context_after_a_reset_gets_access_again() {
    let Some((_alone, pair)) = alone() else { return };
    pair.copy(1);
    // SAFETY: nobody else uses it.
    unsafe { pair.second.context().device().reset() }.expect("a device");
    let context = Context::primary(1).expect("a device");
    let second = Block::allocate(&context, SIZE as u64, Placement::Packed).expect("room");
    let pair = Pair { second, ..pair };
    let before = enabled();
    pair.copy(2);
    pair.copy(3);
    assert_eq!(enabled(), before.map(|before| before + 2));
}

#[test]
fn access_that_somebody_has_enabled_is_as_good() {
    let Some((_alone, pair)) = alone() else { return };
    let current = pair.first.context().enter().expect("alive");
    let peer = pair.second.context().handle() as *mut std::ffi::c_void;
    // SAFETY: the handle of a live context.
    unsafe { call!(cuCtxEnablePeerAccess(peer, 0)) }.expect("two peers");
    drop(current);
    let before = enabled();
    pair.copy(1);
    pair.copy(2);
    assert_eq!(enabled(), before.map(|before| before + 2), "asked once, and not again");
}

#[test]
fn a_copy_within_a_context_asks_for_nothing() {
    let Some((_alone, Pair { first, .. })) = alone() else { return };
    let second = Block::allocate(first.context(), SIZE as u64, Placement::Packed).expect("room");
    let before = asked();
    Pair { first, second }.copy(1);
    assert_eq!(asked(), before);
}

/// Runs a test's body on two such devices, where what is not waited for comes too late.
fn in_other_circumstances<F: Fn()>(setting: (&str, &str), body: F) {
    let late = ("CUDA_SIM_LATENCY", "20000");
    with_settings(&[("CUDA_SIM_DEVICES", "2"), late, setting], body);
}

fn copy_and_ask_once() {
    let (_alone, pair) = alone().expect("two devices");
    let before = asked().expect("a simulated driver");
    pair.copy(1);
    pair.copy(2);
    let stream = Stream::new(pair.first.context()).expect("room");
    pair.queue_copy(3, &stream);
    assert_eq!(asked(), Some(before + 2));
}

#[test]
fn devices_that_cannot_enable_nothing() {
    in_other_circumstances(("CUDA_SIM_PEERS", "off"), || {
        copy_and_ask_once();
        assert_eq!(enabled(), Some(0));
    });
}

#[test]
fn a_driver_that_does_not_one_way_and_has_too_many_peers_the_other_way_is_asked_once() {
    let rules = "cuCtxEnablePeerAccess:1=217,cuCtxEnablePeerAccess:2=711";
    in_other_circumstances(("CUDA_SIM_FAULT", rules), || {
        copy_and_ask_once();
        assert_eq!(enabled(), Some(2));
    });
}

#[test]
fn after_a_passing_failure_it_is_asked_again() {
    in_other_circumstances(("CUDA_SIM_FAULT", "cuCtxEnablePeerAccess:1=2"), || {
        let (_alone, pair) = alone().expect("two devices");
        let before = enabled().expect("a simulated driver");
        pair.copy(1);
        pair.copy(2);
        pair.copy(3);
        assert_eq!(enabled(), Some(before + 3), "one way has failed once");
    });
}

#[test]
fn a_copy_whose_wait_fails_leaves_nothing_in_flight() {
    in_other_circumstances(("CUDA_SIM_FAULT", "cuStreamSynchronize:1=999"), || {
        let (_alone, Pair { first, second }) = alone().expect("two devices");
        second.context().cache().set_limit(0).expect("alive");
        let current = first.context().enter().expect("alive");
        let to = (second.private_address(), second.context());
        // SAFETY: two blocks of that size.
        let failed = unsafe { current.copy_to_context(to, first.private_address(), SIZE) };
        assert_eq!(failed.expect_err("the wait").code(), Some(999));
        drop(second);
        current.synchronize().expect("nothing has written to memory that was released");
    });
}
