//! Device memory that this crate and `cust` share.

#![cfg(feature = "cust")]

#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;

use arrow_cuda_buffer::{CopyOrder, DeviceBuffer, Error};
use arrow_cuda_context::{Arrival, Context, Device, Ready, Stream};
use cust::memory::{AsyncCopyDestination, CopyDestination, LockedBuffer};
use std::sync::Arc;
use std::thread;

fn theirs(context: &Context, numbers: &[u32]) -> cust::memory::DeviceBuffer<u32> {
    let _current = context.enter().expect("alive");
    cust::memory::DeviceBuffer::from_slice(numbers).expect("room")
}

#[test]
fn memory_of_cust_is_a_buffer_like_any_other() {
    let context = Context::primary(0).expect("a device");
    let ours = DeviceBuffer::from_cust(&context, theirs(&context, &[1, 2])).expect("a buffer");
    let second = ours.slice_with_length(4, 4).expect("within");
    drop(ours);
    second.fill(3).expect("a device");
    assert_eq!(second.to_vec().expect("a device"), [3; 4]);
    assert!(second.block().is_none(), "the memory is not ours");
    let empty = DeviceBuffer::from_cust(&context, theirs(&context, &[])).expect("a buffer");
    assert!(empty.is_empty());
}

#[test]
fn memory_of_cust_is_released_on_any_thread() {
    let context = Context::primary(0).expect("a device");
    // Large enough that memory of another test, which may get the address next, is smaller.
    let whole = theirs(&context, &vec![1; 8 << 20]);
    let ours = DeviceBuffer::from_cust(&context, whole).expect("a buffer");
    let (address, size) = (ours.address(&Ready::by_caller()), ours.len());
    // That thread has no current context, so cust alone would leak the memory.
    thread::spawn(move || drop(ours)).join().expect("no panic");
    // SAFETY: the test keeps the memory, or shows that the driver refuses it.
    let gone = unsafe {
        DeviceBuffer::view(&context, address, size, true, Arrival::complete(), Box::new(()))
    };
    assert!(matches!(gone, Err(Error::Cuda(_) | Error::Invalid(_))), "{gone:?}");
}

#[test]
fn memory_of_another_device_is_refused() {
    if Device::count().expect("a driver") < 2 {
        return;
    }
    let [first, second] = [0, 1].map(|device| Context::primary(device).expect("a device"));
    let refused = DeviceBuffer::from_cust(&first, theirs(&second, &[1]));
    // Without peer access, the driver does not know the address in the first context.
    assert!(matches!(refused, Err(Error::Cuda(_) | Error::Invalid(_))), "{refused:?}");
}

#[test]
fn our_memory_is_a_slice_of_cust() {
    let context = Context::primary(0).expect("a device");
    let buffer = DeviceBuffer::allocate(&context, 8).expect("room");
    buffer.fill(5).expect("a device");
    let _current = context.enter().expect("alive");
    // SAFETY: here as below, the buffer lives, and nobody else uses it.
    let whole = unsafe { buffer.as_cust_slice::<u32>() }.expect("it fits");
    let at = whole.as_device_ptr().as_raw();
    assert_eq!((whole.len(), at), (2, buffer.address(&Ready::by_caller())));
    assert_eq!(whole.as_host_vec().expect("a device"), [0x0505_0505; 2]);
    let part = buffer.slice_with_length(4, 4).expect("within");
    // SAFETY: as above.
    let mut theirs = unsafe { part.as_cust_slice_mut::<u16>() }.expect("it fits");
    theirs.copy_from(&[1, 2]).expect("a device");
    assert_eq!(buffer.to_vec().expect("a device"), [5, 5, 5, 5, 1, 0, 2, 0]);
    let read_only = buffer.read_only();
    // SAFETY: as above.
    let [readable, writable] = unsafe {
        [read_only.as_cust_slice::<u8>().map(drop), read_only.as_cust_slice_mut::<u8>().map(drop)]
    };
    assert_eq!((readable, writable), (Ok(()), Err(Error::ReadOnly)));
}

#[test]
fn what_does_not_fit_is_no_slice_of_cust() {
    let context = Context::primary(0).expect("a device");
    let buffer = DeviceBuffer::allocate(&context, 10).expect("room");
    let words = |at, size| {
        let part = buffer.slice_with_length(at, size).expect("within");
        // SAFETY: the slice is not used.
        unsafe { part.as_cust_slice::<u32>() }.map(|slice| slice.len())
    };
    let refused = |at, size| words(at, size).expect_err("it does not fit").to_string();
    assert!(refused(0, 10).contains("not a multiple"));
    assert!(refused(1, 8).contains("not aligned"));
    assert_eq!(words(8, 0), Ok(0));
    // SAFETY: as above.
    let nothing = unsafe { buffer.as_cust_slice::<[u8; 0]>() };
    let nothing = nothing.map(drop).expect_err("they have no size");
    assert!(nothing.to_string().contains("without a size"));
}

#[test]
fn a_slice_of_cust_is_a_view_as_long_as_its_owner_lives() {
    let context = Context::primary(0).expect("a device");
    let whole = Arc::new(theirs(&context, &[1, 2, 3]));
    let owner = Box::new(Arc::clone(&whole));
    // SAFETY: the owner keeps it valid, and nobody writes to it.
    let view = unsafe { DeviceBuffer::from_cust_slice(&context, &whole.index(1..), false, owner) };
    let view = view.expect("a view");
    assert_eq!(view.to_vec().expect("a device"), [2, 0, 0, 0, 3, 0, 0, 0]);
    assert_eq!(view.fill(0), Err(Error::ReadOnly));
    assert_eq!(Arc::strong_count(&whole), 2);
    thread::spawn(move || drop(view)).join().expect("no panic");
    assert_eq!(Arc::strong_count(&whole), 1);
    // Longer than the memory.
    let pointer = whole.as_device_ptr();
    // SAFETY: nothing is read through it; the test shows that it is refused.
    let refused = unsafe {
        let longer = cust::memory::DeviceSlice::from_raw_parts(pointer, 1 << 20);
        DeviceBuffer::from_cust_slice(&context, &longer, false, Box::new(()))
    };
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    let _current = context.enter().expect("alive");
    drop(whole);
}

#[test]
fn work_of_cust_is_ordered_with_ours() {
    simulator::in_own_process(&[("CUDA_SIM_LATENCY", "20000")], || {
        let context = Context::primary(0).expect("a device");
        let buffer = DeviceBuffer::allocate(&context, 8).expect("room");
        let _current = context.enter().expect("alive");
        // Even if it asks for another order.
        let flags = cust::stream::StreamFlags::NON_BLOCKING;
        let stream = cust::stream::Stream::new(flags, None).expect("a stream");
        let [mut out, data] = [0u8, 9].map(|byte| LockedBuffer::new(&byte, 8).expect("room"));
        // Begun one after the other, so that what does not wait for the last one comes earlier.
        for byte in 3..=5 {
            let order = CopyOrder::On(&Stream::default_of(&context));
            drop(buffer.fill_in(order, byte).expect("a device"));
        }
        // SAFETY: the buffer outlives the slice.
        let mut slice = unsafe { buffer.as_cust_slice_mut::<u8>() }.expect("it fits");
        // SAFETY: the memory lives until the stream is done.
        let copied = unsafe { slice.async_copy_to(&mut out, &stream) };
        // SAFETY: as above.
        copied.and_then(|()| unsafe { slice.async_copy_from(&data, &stream) }).expect("a device");
        assert_eq!(buffer.to_vec().expect("a device"), [9; 8]);
        assert_eq!(out.as_slice(), [5; 8]);
    });
}
