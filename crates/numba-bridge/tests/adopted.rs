//! Arrays in memory of `cust` and `cudarc`.

#![cfg(all(feature = "cudarc", feature = "cust"))]

#[path = "../../driver/tests/common/cudarc.rs"]
mod common;

use arrow_cuda_context::{Context, Ready};
use arrow_cuda_numba_bridge::array_interface::ArrayInterface;
use arrow_cuda_numba_bridge::dlpack::{Imported, Tensor};
use arrow_cuda_numba_bridge::{ElementType, Error, Order, StridedArray, StridedLayout};
use common::{simulator, with_cudarc};
use std::thread;

fn live_allocations() -> Option<u64> {
    simulator::live(c"cuda_sim_live_allocations")
}

/// Both protocols describe the array, and a tensor keeps its memory.
fn goes_by_both_protocols(array: StridedArray) {
    let (layout, address) = (array.layout().clone(), array.address(&Ready::by_caller()));
    let described = ArrayInterface::of(&array, &Ready::by_caller()).memory();
    let described = described.expect("a description");
    assert!(described.is_mutable);
    assert_eq!((described.address, &described.layout), (address, &layout));
    let before = live_allocations();
    let memory = (array.buffer().clone(), Ready::by_caller()).into();
    let tensor = Tensor::new(memory, layout.clone()).expect("a tensor");
    drop(array);
    // SAFETY: the structure is new, and nobody else has it.
    let imported = unsafe { Imported::versioned(tensor.into_versioned(false)) };
    let memory = imported.memory().expect("a tensor");
    assert_eq!((memory.address, &memory.layout), (address, &layout));
    assert_eq!(live_allocations(), before);
    thread::spawn(move || drop(imported)).join().expect("no panic");
    Context::primary(0).and_then(|context| context.synchronize()).expect("nothing fails");
    assert_eq!(live_allocations(), before.map(|count| count - 1));
}

fn columns() -> StridedLayout {
    StridedLayout::dense(ElementType::uint(2), vec![2, 3], Order::Fortran).expect("a layout")
}

#[test]
fn a_buffer_of_cust_is_an_array() {
    simulator::in_own_process(&[], || {
        let context = Context::primary(0).expect("a device");
        let current = context.enter().expect("alive");
        let theirs = |count: u16| {
            let numbers: Vec<u16> = (1..=count).collect();
            cust::memory::DeviceBuffer::from_slice(&numbers).expect("room")
        };
        let array = StridedArray::from_cust(&context, theirs(6), columns()).expect("an array");
        assert_eq!(array.to_vec(Order::C).expect("a device")[..6], [1, 0, 3, 0, 5, 0]);
        let short = StridedArray::from_cust(&context, theirs(5), columns());
        assert!(matches!(short, Err(Error::Invalid(_))), "{short:?}");
        let bytes = StridedLayout::row_major(ElementType::uint(1), vec![6]).expect("a layout");
        let other = StridedArray::from_cust(&context, theirs(6), bytes);
        assert!(other.expect_err("of another size").to_string().contains("'|u1'"));
        drop(current);
        goes_by_both_protocols(array);
    });
}

#[test]
fn a_slice_of_cudarc_is_an_array() {
    with_cudarc(&[("CUDA_SIM_LATENCY", "20000")], || {
        let context = Context::primary(0).expect("a device");
        let stream = context.to_cudarc().and_then(|cudarc| {
            cudarc.new_stream().map_err(arrow_cuda_driver::CudaError::of_cudarc)
        });
        let theirs = stream.expect("a stream").clone_htod(&[1u16, 2, 3, 4, 5, 6]).expect("room");
        let array = StridedArray::from_cudarc(theirs, columns()).expect("an array");
        assert_eq!(array.to_vec(Order::C).expect("a device")[..6], [1, 0, 3, 0, 5, 0]);
        goes_by_both_protocols(array);
    });
}
