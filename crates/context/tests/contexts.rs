//! Contexts: one primary context a device, entered without disturbing the caller.

#![allow(clippy::disallowed_macros, reason = "sets up what the crate must not do itself")]

mod common;

use arrow_cuda_context::{Context, Device, Placement};
use arrow_cuda_driver::call;
use common::{destroy, their_context};
use rstest::rstest;
use std::ffi::c_void;

fn current() -> usize {
    let mut handle: *mut c_void = std::ptr::null_mut();
    // SAFETY: stores a handle through the pointer, which outlives the call.
    unsafe { call!(cuCtxGetCurrent((&raw mut handle).cast())) }.expect("a driver");
    handle as usize
}

#[test]
fn the_primary_context_is_one_and_the_same() {
    let context = Context::primary(0).expect("a device");
    assert!(context.is_same(&Context::primary(0).expect("a device")));
    assert_ne!(context.handle(), 0);
    assert_eq!(context.device(), Device::get(0).expect("a device"));
}

#[test]
fn an_unknown_device_is_refused() {
    let count = Device::count().expect("a driver");
    assert_eq!(Device::get(count).expect_err("no such device").code(), Some(101));
    assert_eq!(Context::primary(count).expect_err("no such device").code(), Some(101));
}

#[test]
fn leaving_restores_the_previous_context() {
    let context = Context::primary(0).expect("a device");
    assert_eq!(current(), 0);
    {
        let _outer = context.enter().expect("alive");
        assert_eq!(current(), context.handle());
        let _inner = context.enter().expect("alive");
        assert_eq!(current(), context.handle());
    }
    assert_eq!(current(), 0);
}

#[test]
fn a_context_that_is_made_current_stays_so() {
    assert_eq!(Device::current().expect("a driver"), None);
    let last = Device::count().expect("a driver") - 1;
    for number in [0, last] {
        let context = Context::primary(number).expect("a device");
        context.make_current().expect("alive");
        assert_eq!(current(), context.handle());
        assert_eq!(Device::current().expect("a driver"), Some(context.device()));
    }
    // SAFETY: null stands for no context.
    unsafe { call!(cuCtxSetCurrent(std::ptr::null_mut())) }.expect("a driver");
    assert_eq!(current(), 0);
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
    let block = context.allocate(64, Placement::Packed).expect("room");
    assert_eq!(context.bytes_allocated().expect("alive"), 64);
    let again = Context::borrowed(0, handle.addr()).expect("a live context");
    assert_eq!(again.bytes_allocated().expect("alive"), 64, "one counter a context");
    drop(block);
    context.synchronize().expect("alive");
    destroy(handle);
    assert_eq!(context.synchronize().expect_err("destroyed").code(), Some(201));
    assert_eq!(current(), 0);
}

#[rstest]
#[case(0x1234)]
#[case(usize::MAX - 7)]
#[case(8)]
fn garbage_is_refused_as_a_context(#[case] handle: usize) {
    assert_eq!(Context::borrowed(0, handle).expect_err("garbage").code(), Some(201));
}

#[test]
fn zeroed_memory_is_refused_as_a_context() {
    let memory = vec![0u64; 8192];
    let handle = memory.as_ptr() as usize;
    assert_eq!(Context::borrowed(0, handle).expect_err("garbage").code(), Some(201));
}
