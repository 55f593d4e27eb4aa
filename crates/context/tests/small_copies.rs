//! Small copies to blocks that nobody else knows: a call does not wait, but who reaches the memory does.

#[path = "../../cuda-sim/tests/driver/common/child.rs"]
mod child;
mod common;
#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;
#[path = "../../driver/tests/common/withheld.rs"]
mod withheld;

use arrow_cuda_context::{Block, Context, Placement, Ready, Stream};
use arrow_cuda_driver::set_reporter;
use child::in_child;
use common::{Gate, alone};
use simulator::{fault, with_settings};
use std::thread;
use withheld::withheld_mappings;

const SIZE: usize = 8;

fn new_block(context: &Context) -> Block {
    Block::allocate(context, SIZE as u64, Placement::Packed).expect("room")
}

/// Returns whether the copy was made, without a wait.
fn copy_into(block: &Block) -> bool {
    let current = block.context().enter().expect("alive");
    // SAFETY: the whole block.
    unsafe { current.copy_into_private(block, block.private_address(), [7; SIZE].as_ptr(), SIZE) }
        .expect("alive")
}

fn is_done(context: &Context) -> bool {
    Stream::default_of(context).is_complete().expect("alive")
}

/// Runs a test's body where the device is slow.
fn slowly<F: Fn()>(body: F) {
    with_settings(&[("CUDA_SIM_LATENCY", "20000"), ("CUDA_SIM_DEVICES", "2")], body);
}

/// A block with a copy that the device is still at work on.
fn copied_into() -> (Context, Block) {
    let context = Context::primary(0).expect("a device");
    let block = new_block(&context);
    assert!(copy_into(&block) && !is_done(&context));
    (context, block)
}

/// All of them, not only the first one.
#[test]
fn who_asks_for_the_address_waits() {
    slowly(|| {
        let (context, block) = copied_into();
        let ask = || assert!(block.address(&Ready::by_caller()) > 0 && is_done(&context));
        thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(ask))));
    });
}

#[test]
fn more_copies_than_there_are_slots_keep_their_bytes() {
    slowly(|| {
        let context = Context::primary(0).expect("a device");
        let current = context.enter().expect("alive");
        let blocks: Vec<_> = (0..40).map(|_| new_block(&context)).collect();
        for (number, block) in blocks.iter().enumerate() {
            let (to, bytes) = (block.private_address(), [number as u8; SIZE]);
            // SAFETY: the whole block.
            unsafe {
                if !current.copy_into_private(block, to, bytes.as_ptr(), SIZE).expect("alive") {
                    current.copy_from_host(to, bytes.as_ptr(), SIZE).expect("alive");
                }
            }
        }
        for (number, block) in blocks.iter().enumerate() {
            let mut out = [0; SIZE];
            // SAFETY: the whole block, and room for its bytes.
            unsafe { current.copy_to_host(out.as_mut_ptr(), block.private_address(), SIZE) }
                .expect("alive");
            assert_eq!(out, [number as u8; SIZE]);
        }
    });
}

/// The next one that asks waits again.
#[test]
fn a_wait_that_fails_is_made_again() {
    slowly(|| {
        set_reporter(|_, _| ());
        let (context, block) = copied_into();
        fault("cuEventSynchronize:1+=999");
        assert!(block.address(&Ready::by_caller()) > 0 && !is_done(&context));
        fault("");
        assert!(block.address(&Ready::by_caller()) > 0 && is_done(&context));
    });
}

#[test]
fn work_on_another_stream_waits() {
    slowly(|| {
        let (context, block) = copied_into();
        let stream = Stream::non_blocking(&context).expect("room");
        let (current, at) = (context.enter().expect("alive"), block.private_address());
        // SAFETY: the whole block, until the stream is synchronized.
        unsafe { current.queue_fill(at, 0, SIZE, stream.handle()) }.expect("alive");
        assert!(is_done(&context));
        stream.synchronize().expect("alive");
    });
}

#[test]
fn a_copy_on_a_stream_of_another_device_waits() {
    slowly(|| {
        let (context, block) = copied_into();
        let other = Context::primary(1).expect("two devices");
        let (stream, source) = (Stream::new(&other).expect("room"), new_block(&other));
        let (to, from) = (block.private_address(), source.private_address());
        let current = other.enter().expect("alive");
        // SAFETY: two live blocks, until the stream is synchronized.
        unsafe {
            current.queue_copy_between((to, &context), (from, &other), SIZE, stream.handle())
        }
        .expect("alive");
        assert!(is_done(&context));
        current.synchronize_stream(stream.handle()).expect("alive");
    });
}

#[test]
fn a_forked_child_waits_for_nothing() {
    slowly(|| {
        let (_context, block) = copied_into();
        let code = in_child(|| {
            // SAFETY: ends the child.
            set_reporter(|_, _| unsafe { libc::_exit(9) });
            i32::from(block.address(&Ready::by_caller()) == 0)
        });
        assert_eq!(code, 0);
    });
}

/// Whether that comes before, during or after the copy.
#[test]
fn who_exposes_a_block_while_it_is_written_waits() {
    with_settings(&[("CUDA_SIM_LATENCY", "200")], || {
        let (_alone, context) = alone();
        for _ in 0..100 {
            let block = new_block(&context);
            let is_made = thread::scope(|scope| {
                scope.spawn(|| block.expose());
                copy_into(&block)
            });
            assert!(!is_made || is_done(&context));
        }
    });
}

#[test]
fn a_block_that_others_know_and_a_busy_device_are_left_to_calls_that_wait() {
    let (_alone, context) = alone();
    let (known, unknown) = (new_block(&context), new_block(&context));
    known.expose();
    assert!(!copy_into(&known));
    let gate = Gate::on_default_stream(&context);
    assert!(!copy_into(&unknown), "else other streams would wait for the default stream's work");
    gate.open();
    context.synchronize().expect("alive");
    assert!(copy_into(&unknown));
}

#[test]
fn a_reset_returns_the_pinned_memory() {
    with_settings(&[], || {
        let withheld_after_a_reset = || -> usize {
            let context = Context::primary(0).expect("a device");
            assert!(copy_into(&new_block(&context)));
            // SAFETY: nobody else uses it.
            unsafe { context.device().reset() }.expect("a device");
            withheld_mappings().iter().sum()
        };
        let first = withheld_after_a_reset();
        assert_eq!(withheld_after_a_reset(), first);
    });
}
