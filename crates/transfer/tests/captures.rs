//! Copies while another thread captures a stream into a graph.

#[path = "../../context/tests/common/capture.rs"]
mod capture;

use arrow_cuda_context::{Block, Context, Placement, Stream};
use arrow_cuda_driver::{Interruption, interruptible};
use arrow_cuda_transfer::{
    TransferLimits, copy_from_host, copy_to_host, equals_host, set_transfer_limits,
};
use capture::{GLOBAL, THREAD_LOCAL, begin, elsewhere, end};
use rstest::rstest;
use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};

#[rstest]
fn copies_leave_captures_alone(#[values(0, 2)] threads: usize) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let context = Context::primary(0).expect("a device");
    set_transfer_limits(TransferLimits::with_threads(threads));
    let captured = Stream::non_blocking(&context).expect("room");
    for mode in [GLOBAL, THREAD_LOCAL] {
        begin(&captured, mode);
        elsewhere(|| {
            [100, 30_000, 3 << 20].iter().for_each(|size| copy_there_and_back(&context, *size));
            let may_end = Interruption::Copies(|| false);
            assert!(interruptible(may_end, || copy_there_and_back(&context, 3 << 20)).is_some());
        });
        end(&captured).expect("still valid");
        set_transfer_limits(TransferLimits::with_threads(0));
        set_transfer_limits(TransferLimits::with_threads(threads));
    }
}

fn copy_there_and_back(context: &Context, size: usize) {
    let data = vec![7u8; size];
    let block = Block::allocate(context, data.len() as u64, Placement::Alone).expect("room");
    let mut out = vec![MaybeUninit::uninit(); data.len()];
    // SAFETY: the block is as large as `data`, and is ours.
    unsafe {
        copy_from_host(context, block.private_address(), &data)
            .expect("of no concern to the capture");
        copy_to_host(context, &mut out, block.private_address()).expect("nor this");
        assert!(equals_host(context, block.private_address(), &data).expect("nor this"));
    }
}
