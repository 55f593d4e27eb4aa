//! Device memory: counted, placed, and freed on any thread.  One test, since it watches counters
//! that the whole process shares.

use arrow_cuda_context::{Context, Placement, block_at, retain_exported};
use std::thread;

#[test]
fn blocks_are_counted_placed_and_freed() {
    let context = Context::primary(0).expect("a device");
    assert_eq!(context.bytes_allocated().expect("alive"), 0);

    let alone = context.allocate(1000, Placement::Alone).expect("room");
    let other = context.allocate(1000, Placement::Alone).expect("room");
    assert_eq!(
        context.bytes_allocated().expect("alive"),
        2000,
        "the requested bytes, whatever was reserved"
    );
    assert!(alone.is_alone() && other.is_alone());
    assert_ne!(alone.address() >> 21, other.address() >> 21, "in blocks of their own");
    let address = alone.address();
    assert_eq!(block_at(address + 1500, address), Some((address, 1000)));

    let packed = context.allocate(1000, Placement::Packed).expect("room");
    assert!(!packed.is_alone());
    let large = context.allocate(3 << 20, Placement::Packed).expect("room");
    assert!(large.is_alone(), "large ones always are");

    thread::spawn(move || drop((alone, other, packed, large))).join().expect("no panic");
    assert_eq!(context.bytes_allocated().expect("alive"), 0);
    assert_eq!(block_at(address, address), None);

    // Few small blocks get a whole driver block each; many share.
    let many: Vec<_> =
        (0..5000).map(|_| context.allocate(16, Placement::Alone).expect("room")).collect();
    let alone = many.iter().filter(|block| block.is_alone()).count() as u64;
    let total = context.device().total_memory().expect("a device");
    assert!(alone > 0, "some room may be wasted");
    assert!(alone * (2 << 20) <= total / 32 + (2 << 20), "but not more than a 32nd");
    drop(many);
    assert_eq!(context.bytes_allocated().expect("alive"), 0);

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
