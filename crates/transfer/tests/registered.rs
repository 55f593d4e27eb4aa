//! Memory of somebody else that is pinned for a time.

mod common;

use arrow_cuda_context::{Block, Context, Placement, Stream};
use arrow_cuda_driver::CudaError;
use arrow_cuda_transfer::{
    CopyOrder, DevicePlace, RegisteredMemory, copy_from_host_in, copy_to_host, copy_to_host_in,
    is_pinned,
};
use common::{Gate, destroy, pattern, their_context, with_threads};
use rstest::rstest;
use std::mem::MaybeUninit;
use std::sync::Arc;

const PAGE: usize = 4096;
/// `CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED`.
const ALREADY_REGISTERED: i32 = 712;

fn register(
    context: &Context,
    owner: &Arc<Vec<u8>>,
    from: usize,
    size: usize,
) -> Result<RegisteredMemory, CudaError> {
    let start = owner[from..from + size].as_ptr();
    // SAFETY: the vector is never changed, and is retained.
    unsafe { RegisteredMemory::register(context, start, size, Box::new(Arc::clone(owner))) }
}

#[rstest]
#[case::said(true)]
#[case::dropped(false)]
fn the_owner_is_kept_until_the_memory_is_unpinned(#[case] is_said: bool) {
    let context = Context::primary(0).expect("a device");
    let owner = Arc::new(vec![0u8; 4 * PAGE]);
    let registered = register(&context, &owner, 0, 4 * PAGE).expect("room");
    assert_eq!(Arc::strong_count(&owner), 2);
    assert!(is_pinned(&context, owner.as_ptr(), owner.len()).expect("alive"));
    if is_said {
        registered.unregister().expect("alive");
    } else {
        drop(registered);
    }
    assert_eq!(Arc::strong_count(&owner), 1);
    assert!(!is_pinned(&context, owner.as_ptr(), 1).expect("alive"));
}

#[test]
fn memory_that_is_pinned_already_is_refused_and_its_owner_let_go() {
    let context = Context::primary(0).expect("a device");
    let owner = Arc::new(vec![0u8; 4 * PAGE]);
    let first = register(&context, &owner, 0, 2 * PAGE).expect("room");
    let refused = register(&context, &owner, PAGE, 2 * PAGE).expect_err("they overlap");
    assert_eq!(refused.code(), Some(ALREADY_REGISTERED));
    assert_eq!(Arc::strong_count(&owner), 2);
    first.unregister().expect("alive");
    register(&context, &owner, PAGE, 2 * PAGE).expect("nobody has it any more");
}

/// The driver refuses a range of which some is pinned, but not all of it at once.
#[rstest]
fn memory_that_is_pinned_in_parts_is_copied_as_pageable(
    #[values(0, 2)] threads: usize,
    #[values(20_000, 40 * PAGE, 3 << 20)] size: usize,
    #[values(&[], &[1], &[1, 2])] pinned_besides: &[usize],
) {
    let (_alone, context) = with_threads(threads);
    let memory = Arc::new(pattern(size + 3 * PAGE));
    let start = memory.as_ptr().align_offset(PAGE);
    let last = size / PAGE * PAGE;
    // Both ends, and what is between them only in part.
    let places = [0, last].into_iter().chain(pinned_besides.iter().map(|page| page * PAGE));
    let pin = |at| register(&context, &memory, start + at, PAGE).expect("room");
    let _pinned: Vec<_> = places.map(pin).collect();
    let bytes = &memory[start..start + size];
    assert!(!is_pinned(&context, bytes.as_ptr(), size).expect("alive"));
    assert!(is_pinned(&context, bytes.as_ptr(), PAGE).expect("alive"));
    let block = Block::allocate(&context, size as u64, Placement::Alone).expect("room");
    let stream = Stream::non_blocking(&context).expect("room");
    for order in [CopyOrder::Now, CopyOrder::On(&stream)] {
        let to = DevicePlace { address: block.private_address(), block: Some(&block) };
        let mut back = vec![0u8; size];
        // SAFETY: as many bytes on both ends.
        unsafe {
            let there =
                copy_from_host_in(order, &context, to, bytes.as_ptr(), size, || Box::new(()));
            drop(there.expect("a copy"));
            copy_to_host(&context, slice_of(&mut back), to.address).expect("a copy");
            assert!(back == bytes);
            // The memory is nobody else's: the vector is not used meanwhile.
            let place = bytes.as_ptr().cast_mut();
            let here = copy_to_host_in(order, &context, place, to, size, || Box::new(()));
            drop(here.expect("a copy"));
        }
        drop(stream.synchronize().expect("alive"));
    }
    assert!(bytes == &pattern(size + 3 * PAGE)[start..start + size]);
}

fn slice_of(bytes: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: initialised bytes, into which only bytes are copied.
    unsafe { &mut *(std::ptr::from_mut(bytes) as *mut [MaybeUninit<u8>]) }
}

#[rstest]
fn memory_stays_pinned_and_owned_while_any_context_works(
    #[values(false, true)] is_context_gone: bool,
    #[values(false, true)] is_said: bool,
) {
    let primary = Context::primary(0).expect("a device");
    let (theirs, handle) = their_context();
    let owner = Arc::new(vec![0u8; 4 * PAGE]);
    let registered = register(&theirs, &owner, 0, 4 * PAGE).expect("room");
    let stream = Stream::non_blocking(&primary).expect("room");
    if is_context_gone {
        destroy(handle); // which waits for what the device has to do
    }
    // Kernels on this stream may use the memory, which is pinned for all contexts.
    let opened = Gate::on(&stream).open_soon();
    match is_said {
        true => registered.unregister().expect("idle in the end"),
        false => drop(registered),
    }
    assert!(stream.is_complete().expect("alive"), "the memory went while it might be used");
    assert_eq!(Arc::strong_count(&owner), 1);
    opened.join().expect("in time");
    if !is_context_gone {
        destroy(handle);
    }
}
