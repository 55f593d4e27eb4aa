//! Copies of pinned memory on streams.

#[path = "../../context/tests/common/mod.rs"]
mod common;

use arrow_cuda_buffer::{CopyOrder, DeviceBuffer, Error};
use arrow_cuda_context::{Context, Stream};
use arrow_cuda_host_io::{HostBuffer, is_pinned, queue_download, queue_upload};
use common::alone;
use std::sync::Arc;

fn pinned(context: &Context, bytes: &[u8]) -> HostBuffer {
    let mut pinned = HostBuffer::allocate(context, bytes.len()).expect("room");
    pinned.as_mut_slice().copy_from_slice(bytes);
    pinned
}

#[test]
fn there_and_back() {
    let (_alone, context) = alone();
    let stream = Stream::non_blocking(&context).expect("room");
    let buffer = DeviceBuffer::allocate(&context, 8).expect("room");
    buffer.fill_in(CopyOrder::On(&stream), b'-').expect("alive");
    queue_upload(&stream, &buffer, 2, Arc::new(pinned(&context, b"here"))).expect("alive");
    let download = queue_download(&stream, &buffer, 1, pinned(&context, &[0; 6])).expect("alive");
    assert_eq!(download.wait().expect("alive").as_slice(), b"-here-");
}

#[test]
fn copies_that_do_not_fit_are_refused() {
    let (_alone, context) = alone();
    let stream = Stream::new(&context).expect("room");
    let buffer = DeviceBuffer::allocate(&context, 4).expect("room");
    let refused = queue_download(&stream, &buffer, 1, pinned(&context, b"four"));
    assert!(matches!(refused, Err(Error::OutOfBounds(_))));
    let refused = queue_upload(&stream, &buffer.read_only(), 0, Arc::new(pinned(&context, b"f")));
    assert!(matches!(refused, Err(Error::ReadOnly)));
}

#[test]
fn pageable_memory_is_not_pinned() {
    let (_alone, context) = alone();
    let (bytes, memory) = ([0u8; 64], pinned(&context, &[0; 64]));
    assert!(!is_pinned(&context, bytes.as_ptr(), 64).expect("alive"));
    assert!(is_pinned(&context, memory.as_ptr(), 64).expect("alive"));
    assert!(!is_pinned(&context, memory.as_ptr(), 0).expect("alive"));
}
