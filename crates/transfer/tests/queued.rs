//! Copies in the order of a stream, at their limits.

use arrow_cuda_context::{Context, Stream};
use arrow_cuda_transfer::{queue_copy_from_host, queue_copy_to_host};
use std::ptr;

#[test]
fn no_bytes_need_no_memory() {
    let stream = Stream::new(&Context::primary(0).expect("a device")).expect("room");
    // SAFETY: no bytes are read or written.
    unsafe {
        drop(queue_copy_from_host(&stream, 0, ptr::null(), 0, Box::new(())).expect("nothing"));
        drop(queue_copy_to_host(&stream, ptr::null_mut(), 0, 0, Box::new(())).expect("nothing"));
    }
}
