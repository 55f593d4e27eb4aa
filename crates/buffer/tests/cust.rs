//! Device memory that this crate and `cust` share.

#![cfg(feature = "cust")]

use arrow_cuda_buffer::{DeviceBuffer, Error};
use arrow_cuda_context::{Context, Device};
use std::thread;

fn theirs(context: &Context, numbers: &[u32]) -> cust::memory::DeviceBuffer<u32> {
    let _current = context.enter().expect("alive");
    cust::memory::DeviceBuffer::from_slice(numbers).expect("room")
}

#[test]
fn memory_of_cust_is_a_buffer_like_any_other() {
    let context = Context::primary(0).expect("a device");
    let ours = DeviceBuffer::from_cust(&context, theirs(&context, &[1, 2])).expect("a buffer");
    let second = ours.slice(4, 4).expect("within");
    drop(ours);
    second.fill(3).expect("a device");
    assert_eq!(second.to_vec().expect("a device"), [3; 4]);
    assert_eq!(context.bytes_allocated().expect("counted"), 0, "the memory is not ours");
}

#[test]
fn memory_of_cust_is_released_on_any_thread() {
    let context = Context::primary(0).expect("a device");
    let ours = DeviceBuffer::from_cust(&context, theirs(&context, &[1; 1000])).expect("a buffer");
    let address = ours.address();
    // That thread has no current context, so cust alone would leak the memory.
    thread::spawn(move || drop(ours)).join().expect("no panic");
    // SAFETY: the test keeps the memory, or shows that the driver refuses it.
    let gone = unsafe { DeviceBuffer::view(&context, address, 4000, true, Box::new(())) };
    assert!(matches!(gone, Err(Error::Cuda(_))), "{gone:?}");
}

#[test]
fn an_empty_buffer_of_cust_is_empty() {
    let context = Context::primary(0).expect("a device");
    let ours = DeviceBuffer::from_cust(&context, theirs(&context, &[])).expect("a buffer");
    assert!(ours.is_empty());
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
