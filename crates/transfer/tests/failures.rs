//! Failures of the driver leak nothing.

mod common;
#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;

use arrow_cuda_context::Context;
use arrow_cuda_transfer::{
    RegisteredMemory, TransferLimits, copy_from_host, copy_to_host, is_pinned, set_transfer_limits,
};
use common::{upload, with_threads};
use simulator::{count_of, fault, with_settings};
use std::mem::MaybeUninit;
use std::sync::Arc;

/// On a slow device.
const SLOWLY: &[(&str, &str)] = &[("CUDA_SIM_LATENCY", "20000")];

#[test]
fn late_moves_of_a_failed_copy_reach_no_other_copy() {
    with_settings(SLOWLY, || {
        let context = Context::primary(0).expect("a device");
        let one_slot = TransferLimits { pinned_bytes: 64 << 10, ..TransferLimits::with_threads(2) };
        set_transfer_limits(one_slot);
        let size = 256 << 10;
        let current = context.enter().expect("alive");
        let [old, new] = [1, 2].map(|_| current.allocate_memory(size as u64).expect("room"));
        let mut out = vec![MaybeUninit::new(0u8); size];
        let upload = |to, byte| {
            // SAFETY: the memory was allocated above.
            unsafe { copy_from_host(&context, to, &vec![byte; size]) }.expect("alive");
        };
        upload(old, 1);
        // The device is asked whether the first move is complete, and then waited for.
        fault("cuEventQuery:1=999,cuStreamSynchronize:1=999");
        // SAFETY: as above.
        unsafe { copy_to_host(&context, &mut out, old) }.expect_err("the move is on its way");
        fault("");
        upload(new, 2);
        // SAFETY: as above.
        unsafe { copy_to_host(&context, &mut out, new) }.expect("alive");
        // SAFETY: initialised above.
        assert!(out.iter().all(|byte| unsafe { byte.assume_init() } == 2), "another copy's bytes");
    });
}

#[test]
fn memory_that_the_device_may_still_write_is_not_freed() {
    with_settings(SLOWLY, || {
        let (_alone, context) = with_threads(2);
        let mut out = vec![MaybeUninit::new(0u8); 256 << 10];
        let current = context.enter().expect("alive");
        let from = current.allocate_memory(out.len() as u64).expect("room");
        // SAFETY: the memory was allocated above.
        let mut copy = || unsafe { copy_to_host(&context, &mut out, from) };
        copy().expect("alive");
        // The context seems to be gone, as after a reset, once the copy has entered it.
        fault("cuEventQuery:1=709,cuStreamSynchronize:1=709,cuCtxGetCurrent:2+=709");
        copy().expect_err("the move is on its way");
        fault("");
        current.synchronize().expect("the move reaches memory that is still there");
    });
}

#[test]
fn memory_that_stays_pinned_is_not_freed() {
    with_settings(SLOWLY, || {
        let context = Context::primary(0).expect("a device");
        for is_said in [false, true] {
            let owner = Arc::new(vec![0u8; 8192]);
            let (start, size) = (owner.as_ptr(), owner.len());
            let shared = Box::new(Arc::clone(&owner));
            // SAFETY: the vector keeps its bytes where they are.
            let registered =
                unsafe { RegisteredMemory::register(&context, start, size, shared) }.expect("room");
            fault("cuCtxGetCurrent:1=999");
            if is_said {
                registered.unregister().expect_err("no context");
            } else {
                drop(registered);
            }
            fault("");
            assert!(is_pinned(&context, start, size).expect("alive"));
            assert_eq!(Arc::strong_count(&owner), 2, "the driver still has the memory");
        }
    });
}

#[test]
fn pinned_memory_that_cannot_be_had_is_not_asked_for_with_each_copy() {
    with_settings(&[("CUDA_SIM_FAULT", "cuMemHostRegister_v2:1+=2")], || {
        let (_alone, context) = with_threads(2);
        (0..50).for_each(|_| upload(&context, 1 << 20));
        let asked = count_of(c"cuMemHostRegister_v2");
        assert_eq!(asked, Some(1), "each request takes longer than a copy");
    });
}
