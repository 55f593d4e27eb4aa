//! Copies now and in the order of a stream, at their limits.

use arrow_cuda_context::{Context, Retained, Stream};
use arrow_cuda_transfer::{CopyOrder, DeviceTarget, copy_from_host_in, copy_to_host_in};
use std::ptr;

#[test]
fn no_bytes_need_no_memory() {
    let context = Context::primary(0).expect("a device");
    let stream = Stream::new(&context).expect("room");
    for order in [CopyOrder::Now, CopyOrder::On(&stream)] {
        let owner = || -> Retained { Box::new(()) };
        // SAFETY: no bytes are read or written.
        unsafe {
            drop(
                copy_from_host_in(order, &context, DeviceTarget::at(0), ptr::null(), 0, owner)
                    .expect("nothing"),
            );
            drop(copy_to_host_in(order, &context, ptr::null_mut(), 0, 0, owner).expect("nothing"));
        }
    }
}
