//! Pinned memory of `cust` and `cudarc`.

#![cfg(all(feature = "cudarc", feature = "cust"))]

#[path = "../../driver/tests/common/cudarc.rs"]
mod common;

use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::{Context, Stream};
use arrow_cuda_host_io::{HostBuffer, is_pinned, queue_download, queue_upload};
use common::{simulator, with_cudarc};
use cust::memory::LockedBuffer;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

/// Copies of pinned memory on a stream see each other, and their memory goes with the last owner, on any thread.
fn goes_there_and_back(context: &Context, data: HostBuffer, out: HostBuffer) {
    let stream = Stream::non_blocking(context).expect("a stream");
    let buffer = DeviceBuffer::allocate(context, 8).expect("room");
    let bytes = data.as_slice().to_vec();
    assert!((data.len(), data.is_empty()) == (8, false));
    let addresses = [data.as_ptr(), out.as_ptr()];
    queue_upload(&stream, &buffer, 0, Arc::new(data)).expect("alive");
    let download = queue_download(&stream, &buffer, 0, out).expect("alive");
    let back = download.wait().expect("nothing fails");
    assert_eq!(back.as_slice(), bytes);
    thread::spawn(move || drop(back)).join().expect("no panic");
    drop(stream.synchronize().expect("nothing fails"));
    for address in addresses {
        // On hardware, another test may have pinned it again.
        let is_pinned = is_pinned(context, address, 8).expect("alive");
        assert!(!is_pinned || !arrow_cuda_driver::is_simulated().expect("a driver"), "it is freed");
    }
}

#[test]
fn pinned_memory_of_cust_is_a_host_buffer() {
    simulator::in_own_process(&[("CUDA_SIM_LATENCY", "20000")], || {
        let context = Context::primary(0).expect("a device");
        let current = context.enter().expect("alive");
        let [data, out] = [[1u32, 2], [0, 0]].map(|numbers| {
            let locked = LockedBuffer::from_slice(&numbers).expect("room");
            HostBuffer::from_cust(&context, locked).expect("pinned")
        });
        let nothing = LockedBuffer::<u64>::from_slice(&[]).expect("nothing");
        assert!(HostBuffer::from_cust(&context, nothing).expect("nothing").is_empty());
        drop(current);
        goes_there_and_back(&context, data, out);
    });
}

#[test]
fn memory_that_is_not_pinned_is_refused() {
    let context = Context::primary(0).expect("a device");
    let mut word = Box::new(7u64);
    // SAFETY: the result is refused below, and what that frees the driver does not know.
    let forged = unsafe { LockedBuffer::from_raw_parts(&raw mut *word, 1) };
    let refused = HostBuffer::from_cust(&context, forged).expect_err("it is not pinned");
    assert_eq!(refused.code(), Some(1));
}

#[test]
fn pinned_memory_of_cudarc_is_a_host_buffer_behind_its_work() {
    with_cudarc(&[("CUDA_SIM_LATENCY", "20000")], || {
        let context = Context::primary(0).expect("a device");
        let cudarc = context.to_cudarc().expect("a primary context");
        // SAFETY: it is written to before it is read.
        let pinned = || unsafe { cudarc.alloc_pinned_with_flags::<u32>(2, 0) }.expect("room");
        let (mut data, mut out) = (pinned(), pinned());
        out.as_mut_slice().expect("nothing fails").fill(0);
        let stream = cudarc.new_stream().expect("a stream");
        let numbers = stream.clone_htod(&[3u32, 4]).expect("room");
        stream.memcpy_dtoh(&numbers, &mut data).expect("a device");
        let data = HostBuffer::from_cudarc(data).expect("pinned");
        assert_eq!(data.as_slice(), [3, 0, 0, 0, 4, 0, 0, 0], "the copy is complete");
        goes_there_and_back(&context, data, HostBuffer::from_cudarc(out).expect("pinned"));
    });
}

/// Its copies of a slice, which it takes for pageable memory, would still be under way.
#[test]
fn copies_of_cudarc_from_and_to_a_host_buffer_are_complete() {
    with_cudarc(&[("CUDA_SIM_LATENCY", "20000")], || {
        let context = Context::primary(0).expect("a device");
        let cudarc = context.to_cudarc().expect("a primary context");
        let stream = cudarc.new_stream().expect("a stream");
        let mut pinned = HostBuffer::allocate(&context, 8).expect("room");
        pinned.as_mut_slice().copy_from_slice(&[1, 0, 0, 0, 2, 0, 0, 0]);
        let numbers = stream.clone_htod::<u32, _>(&pinned).expect("room");
        pinned.as_mut_slice().fill(9); // after the copy
        assert_eq!(stream.clone_dtoh(&numbers).expect("a device"), [1, 2]);
        stream.memcpy_dtoh(&numbers, &mut pinned).expect("a device");
        assert_eq!(pinned.as_slice(), [1, 0, 0, 0, 2, 0, 0, 0]);
        let odd = HostBuffer::allocate(&context, 7).expect("room");
        let refused = catch_unwind(AssertUnwindSafe(|| stream.clone_htod::<u32, _>(&odd)));
        assert!(refused.is_err(), "7 bytes are no numbers of 4");
    });
}
