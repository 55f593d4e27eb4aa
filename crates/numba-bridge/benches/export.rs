//! Exporting a tensor and calling its deleter, without the driver.

use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::{Context, Ready};
use arrow_cuda_numba_bridge::dlpack::Tensor;
use arrow_cuda_numba_bridge::{ElementType, StridedLayout};
use criterion::{BenchmarkId, Criterion};

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let context = Context::primary(0).expect("a device");
    let buffer = DeviceBuffer::allocate(&context, 1 << 20).expect("room");
    let mut group = criterion.benchmark_group("export");
    for shape in [vec![1 << 18], vec![8, 4, 64, 128], vec![1; 16]] {
        let name = BenchmarkId::new("versioned", format!("{} dimensions", shape.len()));
        group.bench_with_input(name, &shape, |timer, shape| {
            timer.iter(|| {
                let layout = StridedLayout::row_major(ElementType::float(4), shape.clone());
                let tensor = Tensor::new(
                    (buffer.clone(), Ready::by_caller()).into(),
                    layout.expect("small numbers"),
                );
                let given = tensor.expect("it fits").into_versioned(false);
                // SAFETY: the structure has just been made, and this is its one consumer.
                unsafe {
                    let delete = given.as_ref().deleter.expect("it has one");
                    delete(given.as_ptr());
                }
            });
        });
    }
    group.finish();
    criterion.final_summary();
}
