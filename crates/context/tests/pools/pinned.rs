//! Pinned memory, beside other contexts and devices.

use super::common::{Gate, destroy, their_context, witness};
use super::simulator::in_own_process;
use super::{LARGE, Pinned, alone};
use arrow_cuda_context::{Context, Device};
use arrow_cuda_driver::{call, is_simulated};
use std::ffi::c_void;
use std::sync::Arc;

#[test]
fn a_context_that_is_gone_holds_nobody_up() {
    let (_guard, context) = alone();
    let (theirs, handle) = their_context();
    if !is_simulated().expect("a driver") {
        return destroy(handle); // other drivers may wait for the stream before they pin memory
    }
    // However many fences have an event there.
    let gate = Gate::on_default_stream(&context);
    for _ in 0..20 {
        Pinned.expose(&context, 8 << 20);
    }
    drop(theirs);
    let opened = gate.open_soon();
    destroy(handle); // which waits for the device
    opened.join().expect("in time");
    let before = Pinned.stats(&context);
    Pinned.expose(&context, 8 << 20);
    let after = Pinned.stats(&context);
    assert_eq!(after.cache_hits, before.cache_hits + 1);
    assert_eq!(after.cache_misses, before.cache_misses);
}

#[test]
fn contexts_that_are_gone_are_not_remembered() {
    let (_guard, context) = alone();
    let (theirs, handle) = their_context();
    let witness = witness(&theirs);
    (0..3).for_each(|_| assert_ne!(Pinned.expose(&context, LARGE), 0)); // fences have events there
    destroy(handle);
    drop(theirs);
    (0..3).for_each(|_| assert_ne!(Pinned.expose(&context, LARGE), 0));
    assert_eq!(Arc::strong_count(&witness), 1);
}

#[test]
fn exposed_memory_waits_for_other_devices() {
    in_own_process(&[("CUDA_SIM_DEVICES", "2")], || {
        let (_guard, context) = alone();
        if Device::count().expect("a driver") < 2 {
            return;
        }
        // Another library has made that device's context, and nobody here has asked for it.
        let mut theirs: *mut c_void = std::ptr::null_mut();
        // SAFETY: stores a handle through the pointer, which outlives the call.
        unsafe { call!(cuDevicePrimaryCtxRetain((&raw mut theirs).cast(), 1)) }.expect("a device");
        // SAFETY: a primary context, which stays.
        let borrowed = unsafe { Context::borrowed(1, theirs as usize) }.expect("alive");
        let block = Pinned.allocate(&context, LARGE);
        let gate = Gate::on_default_stream(&borrowed);
        drop(borrowed);
        let address = block.address();
        drop(block);
        let other = gate.beside(|| Pinned.allocate(&context, LARGE));
        assert_ne!(other.private_address(), address);
        gate.open();
        Context::primary(1).expect("a device").synchronize().expect("alive");
        assert_eq!(Pinned.allocate(&context, LARGE).private_address(), address);
    });
}
