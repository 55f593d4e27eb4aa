//! Memory of `cust` and `cudarc` for other processes, one of which is this test binary again.

#![cfg(all(feature = "cudarc", feature = "cust"))]

#[path = "../../driver/tests/common/cudarc.rs"]
mod common;
#[path = "common/importer.rs"]
mod importer;

use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::Context;
use arrow_cuda_ipc::export;
use common::{simulator, with_cudarc};
use importer::import;

#[test]
fn memory_of_cust_is_exported_for_good_behind_its_work() {
    simulator::in_own_process(&[("CUDA_SIM_LATENCY", "200000")], || {
        let context = Context::primary(0).expect("a device");
        let current = context.enter().expect("alive");
        let theirs = cust::memory::DeviceBuffer::from_slice(&[1u8, 2, 3, 4]).expect("room");
        let whole = DeviceBuffer::from_cust(&context, theirs).expect("a buffer");
        drop(current);
        let part = whole.slice_with_length(1, 2).expect("within");
        let handle = export(&part).expect("exportable");
        assert_eq!(handle.allocation().map(|(_, offset)| offset), Some(1));
        drop((whole, part));
        let there = import(&handle);
        assert!(there.contains("content: [2, 3]"), "{there}");
    });
}

#[test]
fn nothing_is_exported_as_nothing() {
    let context = Context::primary(0).expect("a device");
    let nothing = DeviceBuffer::allocate(&context, 0).expect("nothing");
    assert_eq!(export(&nothing).expect("nothing").size(), 0);
}

#[test]
fn memory_of_a_pool_is_refused_and_can_be_copied() {
    with_cudarc(&[], || {
        let context = Context::primary(0).expect("a device");
        let cudarc = context.to_cudarc().expect("a primary context");
        let slice = cudarc.default_stream().clone_htod(&[1u8, 2]).expect("room");
        let theirs = DeviceBuffer::from_cudarc(slice).expect("a buffer");
        if cudarc.has_async_alloc() {
            let refused = export(&theirs).expect_err("a pool's").to_string();
            assert!(refused.ends_with("copy it to a buffer that is allocated here"), "{refused}");
        }
        let copy = DeviceBuffer::allocate(&context, 2).expect("room");
        copy.copy_from_device(&theirs).expect("a device");
        assert!(export(&copy).is_ok());
    });
}
