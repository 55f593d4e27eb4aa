//! Layouts: the arithmetic for each array before its memory is accessed.

use arrow_cuda_numba_bridge::{ElementType, StridedLayout};
use criterion::{BatchSize, Criterion};
use std::hint::black_box;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("layout");
    let element = ElementType::float(4);
    let shape = vec![8, 3, 224, 224];
    let strides = [3 * 224 * 224 * 4, 224 * 224 * 4, 224 * 4, 4];
    // Images often have their channels last: the order of the dimensions must be found.
    let channels_last = [strides[0], 4, 224 * 3 * 4, 3 * 4];
    group.bench_function("row-major", |timer| {
        timer.iter_batched(
            || shape.clone(),
            |shape| StridedLayout::row_major(black_box(element), shape),
            BatchSize::SmallInput,
        );
    });
    for (name, strides) in [("dense", strides), ("channels last", channels_last)] {
        group.bench_function(format!("strided, {name}"), |timer| {
            timer.iter_batched(
                || (shape.clone(), strides.to_vec()),
                |(shape, strides)| {
                    StridedLayout::strided(element, shape, strides).expect("small numbers")
                },
                BatchSize::SmallInput,
            );
        });
        let layout = StridedLayout::strided(element, shape.clone(), strides.to_vec());
        let layout = layout.expect("small numbers");
        group.bench_function(format!("is contiguous, {name}"), |timer| {
            timer.iter(|| black_box(&layout).is_contiguous());
        });
    }
    group.finish();
    criterion.final_summary();
}
