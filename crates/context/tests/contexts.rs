//! Contexts: one primary context a device, entered without disturbing the caller.

mod common;
#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;

use arrow_cuda_context::{Block, Context, Device, Placement};
use common::{current_handle, destroy, their_context};
use simulator::{count_of, fault, in_own_process};

#[test]
fn an_unknown_device_is_refused() {
    let count = Device::count().expect("a driver");
    assert_eq!(Device::get(count).expect_err("no such device").code(), Some(101));
    assert_eq!(Context::primary(count).expect_err("no such device").code(), Some(101));
}

#[test]
fn a_context_that_cannot_be_identified_is_not_retained() {
    in_own_process(&[], || {
        let released = || count_of(c"cuDevicePrimaryCtxRelease");
        let Some(before) = released() else { return };
        for (at, rule) in (1..).zip(["cuCtxGetApiVersion:1=999", "cuCtxGetId:1=999"]) {
            fault(rule);
            // Debug builds check that nothing is locked during the release, which may wait.
            assert_eq!(Context::primary(0).expect_err(rule).code(), Some(999));
            assert_eq!(released(), Some(before + at), "{rule}");
        }
        fault("");
        Context::primary(0).and_then(|context| context.synchronize()).expect("alive");
    });
}

#[test]
fn attributes_of_a_device() {
    let device = Device::get(0).expect("a device");
    let (major, minor) = device.compute_capability().expect("a device");
    assert_eq!(device.attribute(75).expect("known"), major);
    assert_eq!(device.attribute(76).expect("known"), minor);
    assert_eq!(device.attribute(10).expect("known"), 32, "threads of a warp");
    assert_eq!(device.attribute(0).expect_err("unknown").code(), Some(1));
}

#[test]
fn a_borrowed_context_is_checked_before_each_use() {
    let (context, handle) = their_context();
    let block = Block::allocate(&context, 64, Placement::Packed).expect("room");
    assert_eq!(context.bytes_allocated().expect("alive"), 64);
    // SAFETY: a live context, which is destroyed below.
    let again = unsafe { Context::borrowed(0, handle.addr()) }.expect("a live context");
    assert_eq!(again.bytes_allocated().expect("alive"), 64, "one counter a context");
    drop(block);
    context.synchronize().expect("alive");
    destroy(handle);
    assert_eq!(context.synchronize().expect_err("destroyed").code(), Some(201));
    assert_eq!(current_handle(), 0);
}
