//! The driver calls of copies between layouts.  The test is alone in its process, whose calls it
//! counts.

#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;

use arrow_cuda_buffer::{DeviceBuffer, Elements, copy_elements};
use arrow_cuda_context::Context;
use arrow_cuda_driver::is_simulated;
use simulator::count_of;

#[test]
fn a_copy_is_one_call() {
    if !is_simulated().expect("a driver") {
        return; // hardware does not count
    }
    let context = Context::primary(0).expect("a device");
    let [a, b] = [0, 1].map(|_| DeviceBuffer::allocate(&context, 1 << 20).expect("room"));
    let functions = [c"cuLaunchKernel", c"cuMemcpyDtoD_v2", c"cuModuleLoadData"];
    let counts = || functions.map(|function| count_of(function).expect("a simulated driver"));
    let mut before = counts();
    let mut calls = |to: &[i64], (from, strides): (&DeviceBuffer, &[i64]), shape: &[u64]| {
        let to = Elements { buffer: &a, offset: 0, strides: to };
        let from = Elements { buffer: from, offset: 1024, strides };
        copy_elements(to, from, shape, 4).expect("a copy");
        let now = counts();
        let calls: Vec<_> = now.iter().zip(before).map(|(now, before)| now - before).collect();
        before = now;
        calls
    };
    // Contiguous in the same order, whichever it is.
    assert_eq!(calls(&[4, 160], (&b, &[4, 160]), &[40, 50]), [0, 1, 0]);
    // A module is loaded for the first of each kind.
    assert_eq!(calls(&[160, 4], (&b, &[8, 800]), &[50, 20]), [1, 0, 1]);
    assert_eq!(calls(&[160, 4, 2000], (&b, &[0, 8, 80]), &[5, 20, 40]), [1, 0, 0]);
    assert_eq!(calls(&[160, 4], (&b, &[4, 200]), &[50, 40]), [1, 0, 1]);
    // Within one buffer, by way of other memory.
    assert_eq!(calls(&[4], (&a, &[8]), &[400]), [1, 1, 0]);
    assert_eq!(calls(&[8], (&a, &[16]), &[400]), [2, 0, 0]);
    assert_eq!(calls(&[4], (&a, &[0]), &[400]), [1, 1, 0]);
}
