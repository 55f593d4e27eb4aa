//! Copies while another thread captures a stream into a graph.

#![allow(clippy::disallowed_macros, reason = "sets up what the crate must not do itself")]

use arrow_cuda_context::{Context, Placement, Stream};
use arrow_cuda_driver::{Interruption, call, interruptible};
use arrow_cuda_transfer::{
    TransferLimits, copy_from_host, copy_to_host, equals_host, set_transfer_limits,
};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::thread;

const GLOBAL: i32 = 0;
const THREAD_LOCAL: i32 = 1;

#[test]
fn copies_by_threads_leave_captures_alone() {
    let context = Context::primary(0).expect("a device");
    set_transfer_limits(TransferLimits::with_threads(2));
    let captured = Stream::non_blocking(&context).expect("room");
    let current = context.enter().expect("alive");
    for mode in [GLOBAL, THREAD_LOCAL] {
        // SAFETY: a live stream.
        unsafe { call!(cuStreamBeginCapture_v2(captured.as_raw(), mode)) }.expect("a stream");
        thread::scope(|scope| {
            scope.spawn(|| {
                copy_there_and_back(&context);
                let may_end = Interruption::Copies(|| false);
                assert!(interruptible(may_end, || copy_there_and_back(&context)).is_some());
            });
        });
        let mut graph: *mut c_void = std::ptr::null_mut();
        // SAFETY: a live stream, and a place for a handle; the graph is destroyed once.
        unsafe {
            call!(cuStreamEndCapture(captured.as_raw(), (&raw mut graph).cast()))
                .expect("the capture is still valid");
            call!(cuGraphDestroy(graph)).expect("a graph");
        }
        set_transfer_limits(TransferLimits::with_threads(0));
        set_transfer_limits(TransferLimits::with_threads(2));
    }
    drop(current);
}

fn copy_there_and_back(context: &Context) {
    let data = vec![7u8; 3 << 20];
    let block = context.allocate(data.len() as u64, Placement::Alone).expect("room");
    let mut out = vec![MaybeUninit::uninit(); data.len()];
    // SAFETY: the block has so many bytes, and is ours.
    unsafe {
        copy_from_host(context, block.private_address(), &data)
            .expect("of no concern to the capture");
        copy_to_host(context, &mut out, block.private_address()).expect("nor this");
        assert!(equals_host(context, block.private_address(), &data).expect("nor this"));
    }
}
