//! Memory of somebody else that is pinned for a time.

#[path = "../../context/tests/common/mod.rs"]
mod common;

use arrow_cuda_context::{Context, Stream};
use arrow_cuda_driver::CudaError;
use arrow_cuda_transfer::{RegisteredMemory, is_pinned};
use common::{Gate, destroy, their_context};
use rstest::rstest;
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

#[rstest]
fn memory_stays_pinned_and_owned_while_any_context_works(
    #[values(false, true)] is_context_gone: bool,
    #[values(false, true)] is_said: bool,
) {
    let primary = Context::primary(0).expect("a device");
    let (theirs, handle) = their_context();
    let owner = Arc::new(vec![0u8; 4 * PAGE]);
    let registered = register(&theirs, &owner, 0, 4 * PAGE).expect("room");
    // Kernels on this stream may use the memory, which is pinned for all contexts.
    let stream = Stream::non_blocking(&primary).expect("room");
    let gate = Gate::on(&stream);
    if is_context_gone {
        destroy(handle);
    }
    let opened = gate.open_soon();
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
