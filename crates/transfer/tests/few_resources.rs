//! Copies when host memory cannot be pinned.

#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;

use arrow_cuda_context::Context;
use arrow_cuda_transfer::{TransferLimits, copy_from_host, set_transfer_limits};
use simulator::{count_of, with_settings};

#[test]
fn page_locked_memory_that_cannot_be_had_is_not_asked_for_with_each_copy() {
    with_settings(&[("CUDA_SIM_FAULT", "cuMemHostRegister_v2:1+=2")], || {
        let context = Context::primary(0).expect("a device");
        set_transfer_limits(TransferLimits::with_threads(2));
        let data = vec![7u8; 1 << 20];
        let current = context.enter().expect("alive");
        let to = current.allocate_memory(data.len() as u64).expect("room");
        for _ in 0..50 {
            // SAFETY: the memory was allocated above.
            unsafe { copy_from_host(&context, to, &data) }.expect("by the driver");
        }
        assert_eq!(
            count_of(c"cuMemHostRegister_v2"),
            Some(1),
            "each request takes longer than a copy"
        );
    });
}
