//! Copies now and in the order of a stream, at their limits.

use arrow_cuda_context::{Context, Retained, Stream};
use arrow_cuda_transfer::{CopyOrder, DevicePlace, copy_from_host_in, copy_to_host_in};
use std::ptr;

#[test]
fn no_bytes_need_no_memory() {
    let context = Context::primary(0).expect("a device");
    let stream = Stream::new(&context).expect("room");
    for order in [CopyOrder::Now, CopyOrder::On(&stream)] {
        let (owner, target) = (|| -> Retained { Box::new(()) }, DevicePlace::at(0));
        // SAFETY: no bytes are read or written.
        let (up, down) = unsafe {
            (
                copy_from_host_in(order, &context, target, ptr::null(), 0, owner),
                copy_to_host_in(order, &context, ptr::null_mut(), DevicePlace::at(0), 0, owner),
            )
        };
        assert!(up.is_ok() && down.is_ok());
    }
}
