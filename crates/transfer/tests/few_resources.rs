//! Copies when host memory cannot be pinned.

#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;

use arrow_cuda_context::Context;
use arrow_cuda_transfer::{TransferLimits, copy_from_host, set_transfer_limits};
use simulator::{count_of, in_own_process};

#[test]
#[ignore = "run by the next test, in a process of its own"]
fn copies_without_page_locked_memory() {
    let context = Context::primary(0).expect("a device");
    set_transfer_limits(TransferLimits::with_threads(2));
    let data = vec![7u8; 1 << 20];
    let current = context.enter().expect("alive");
    let to = current.allocate_memory(data.len() as u64).expect("room");
    for _ in 0..50 {
        // SAFETY: the memory was allocated above.
        unsafe { copy_from_host(&context, to, &data) }.expect("by the driver");
    }
    assert_eq!(count_of(c"cuMemHostRegister_v2"), Some(1), "each request takes longer than a copy");
}

#[test]
fn page_locked_memory_that_cannot_be_had_is_not_asked_for_with_each_copy() {
    let fault = ("CUDA_SIM_FAULT", "cuMemHostRegister_v2:1+=2");
    in_own_process("copies_without_page_locked_memory", &[fault]);
}
