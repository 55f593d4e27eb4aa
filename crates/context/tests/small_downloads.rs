//! Small copies to the host: a slot waits for the device, and never the caller's memory.

mod common;
#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;

use arrow_cuda_context::{Block, Context, Placement, Stream, StreamHandle};
use arrow_cuda_driver::{Interruption, interruptible};
use common::{Gate, alone};
use simulator::{calls_of, with_settings};
use std::thread;

const SIZE: usize = 64 << 10;

fn filled(context: &Context, value: u8) -> Block {
    let block = Block::allocate(context, SIZE as u64, Placement::Packed).expect("room");
    let current = context.enter().expect("alive");
    // SAFETY: the whole block.
    unsafe { current.fill_memory(block.private_address(), value, SIZE) }.expect("alive");
    block
}

/// Whether a copy went through a slot.
fn copy(block: &Block, out: &mut [u8]) -> bool {
    let current = block.context().enter().expect("alive");
    // SAFETY: as many bytes of the block and of `out`.
    unsafe { current.copy_small_to_host(out.as_mut_ptr(), block.private_address(), out.len()) }
        .expect("alive")
}

#[test]
fn nobody_asks_whether_the_default_stream_is_busy() {
    let (_alone, context) = alone();
    let (block, mut out) = (filled(&context, 7), [0; 100]);
    assert!(copy(&block, &mut out));
    let queries = calls_of(c"cuStreamQuery", || assert!(copy(&block, &mut out)));
    assert!(matches!(queries, None | Some(0)), "{queries:?}");
    assert_eq!(out, [7; 100]);
}

#[test]
fn no_slot_is_made_while_the_default_stream_is_busy() {
    with_settings(&[], || {
        let context = Context::primary(0).expect("a device");
        let (block, mut out) = (filled(&context, 3), [0; 8]);
        let gate = Gate::on_default_stream(&context);
        assert!(!gate.beside(|| copy(&block, &mut out)));
        gate.open();
        context.enter().expect("alive").synchronize_stream(StreamHandle::DEFAULT).expect("alive");
        assert!(copy(&block, &mut out));
    });
}

#[test]
fn slots_have_room_for_64_kib() {
    let (_alone, context) = alone();
    let (block, mut out) = (filled(&context, 9), vec![0; SIZE]);
    assert!(copy(&block, &mut out) && out.iter().all(|byte| *byte == 9));
    assert!(!copy(&block, &mut vec![0; SIZE + 1]));
}

#[test]
fn threads_have_slots_of_their_own() {
    let (_alone, context) = alone();
    thread::scope(|scope| {
        for value in 1..9 {
            let context = &context;
            scope.spawn(move || {
                let (block, current) = (filled(context, value), context.enter().expect("alive"));
                for _ in 0..50 {
                    let mut out = vec![0; 3000];
                    if !copy(&block, &mut out) {
                        // SAFETY: as many bytes of the block and of `out`.
                        let copied = unsafe {
                            current.copy_to_host(out.as_mut_ptr(), block.private_address(), 3000)
                        };
                        copied.expect("alive");
                    }
                    assert!(out.iter().all(|byte| *byte == value));
                }
            });
        }
    });
}

/// The caller's memory may be somebody else's by the time that the device comes to the copy.
#[test]
fn a_call_that_a_signal_ends_leaves_only_its_slot_to_the_device() {
    let (_alone, context) = alone();
    let (block, stream) = (filled(&context, 5), Stream::default_of(&context));
    let mut out = vec![1; 1000];
    assert!(copy(&block, &mut out), "drivers may wait for all work to pin the slots");
    out.fill(1);
    let gate = Gate::on(&stream);
    let copied = interruptible(Interruption::Copies(|| false), || {
        let current = block.context().enter().expect("alive");
        // SAFETY: as many bytes of the block and of `out`.
        unsafe { current.copy_small_to_host(out.as_mut_ptr(), block.private_address(), 1000) }
    });
    assert_eq!(copied, None, "it is to be tried again");
    let again = gate.beside(|| copy(&block, &mut out));
    assert!(!again, "no other copy is queued behind it");
    gate.open();
    context.enter().expect("alive").synchronize_stream(StreamHandle::DEFAULT).expect("alive");
    assert!(out.iter().all(|byte| *byte == 1));
    assert!(copy(&block, &mut out) && out.iter().all(|byte| *byte == 5));
}
