//! A comparison leaks nothing when device memory runs out.

#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;

use arrow_cuda_buffer::{DeviceBuffer, Error};
use arrow_cuda_context::Context;
use simulator::{count_of, with_settings};

#[test]
fn a_comparison_that_fails_leaves_no_module() {
    with_settings(&[("CUDA_SIM_FAULT", "cuMemAlloc:3=2")], || {
        let context = Context::primary(0).expect("a device");
        let buffers = [0, 1].map(|_| DeviceBuffer::allocate(&context, 100).expect("room"));
        buffers.iter().for_each(|buffer| buffer.fill(7).expect("alive"));
        let failed = buffers[0].equals(&buffers[1]);
        assert!(matches!(failed, Err(Error::Cuda(error)) if error.is_out_of_memory()));
        assert_eq!(buffers[0].equals(&buffers[1]), Ok(true));
        assert_eq!(count_of(c"cuModuleLoadData"), Some(1), "the first one was never unloaded");
    });
}
