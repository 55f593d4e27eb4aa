//! Device memory: counted, found, and freed on any thread.  One test, since it watches counters
//! that the whole process shares.

use arrow_cuda_context::{Context, Placement, block_at, retain_exported};
use std::thread;

#[test]
fn blocks_are_counted_found_and_freed() {
    let context = Context::primary(0).expect("a device");
    assert_eq!(context.bytes_allocated().expect("alive"), 0);

    let one = context.allocate(1000, Placement::Alone).expect("room");
    let other = context.allocate(1000, Placement::Alone).expect("room");
    let large = context.allocate(3 << 20, Placement::Alone).expect("room");
    assert_eq!(
        context.bytes_allocated().expect("alive"),
        2000 + (3 << 20),
        "the requested bytes, whatever was reserved"
    );
    let address = one.address();
    assert_eq!(block_at(address + 999, address), Some((address, 1000)));
    assert_eq!(block_at(other.address() + 1020, address), Some((other.address(), 1000)));

    thread::spawn(move || drop((one, other, large))).join().expect("no panic");
    assert_eq!(context.bytes_allocated().expect("alive"), 0);
    assert_eq!(block_at(address, address), None);

    let error = context.allocate(1 << 62, Placement::Alone).expect_err("no room");
    assert!(error.is_out_of_memory());
    assert_eq!(
        error.to_string(),
        "Cuda error 2 in function 'cuMemAlloc': [CUDA_ERROR_OUT_OF_MEMORY] out of memory"
    );
    assert_eq!(context.bytes_allocated().expect("alive"), 0);

    // Exported blocks stay allocated: another process may have them mapped.
    let exported = context.allocate(100, Placement::Alone).expect("room");
    retain_exported(exported.address());
    drop(exported);
    assert_eq!(context.bytes_allocated().expect("alive"), 100);
}
