//! What is worked out before the driver is asked: bounds, pieces, and the memory behind strides.

use arrow_cuda_buffer::{range, strided};
use criterion::{BatchSize, Criterion, Throughput};
use std::hint::black_box;

fn bounds(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("range");
    group.bench_function("within", |timer| {
        timer.iter(|| range::within(black_box(16), black_box(64), black_box(1 << 20)).is_ok());
    });
    group.bench_function("within, refused", |timer| {
        timer.iter(|| range::within(black_box(u64::MAX), black_box(64), black_box(1 << 20)));
    });
    group.bench_function("available and overlap", |timer| {
        timer.iter(|| {
            let (at, size) = (black_box(16), black_box(1 << 20));
            range::overlap(at, 0, range::available(at, u64::MAX, size))
        });
    });
    let size = 1 << 30;
    group.throughput(Throughput::Elements(size / (4 << 20)));
    group.bench_function("chunks of 1 GiB", |timer| {
        timer.iter(|| {
            range::chunks(black_box(size), 4 << 20).fold(0, |sum, (at, length)| sum ^ at ^ length)
        });
    });
    group.finish();
}

fn strides(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("strided");
    let shape = [8, 3, 224, 224];
    let dense = strided::dense(&shape, 4);
    // The channels last, as images often are: the order of the dimensions has to be found.
    let turned = [dense[0], 4, 224 * 3 * 4, 3 * 4];
    group.bench_function("span without strides", |timer| {
        timer.iter(|| strided::span(black_box(&shape), None, 4).is_ok());
    });
    for (name, strides) in [("dense", dense.as_slice()), ("turned", &turned)] {
        group.bench_function(format!("span, {name}"), |timer| {
            timer.iter(|| strided::span(black_box(&shape), Some(black_box(strides)), 4).is_ok());
        });
    }
    group.bench_function("span of 32 dimensions", |timer| {
        let shape = vec![2; 32];
        let reversed = || (0..32).map(|power| 1 << power).collect::<Vec<i64>>();
        timer.iter_batched(
            reversed,
            |strides| strided::span(&shape, Some(&strides), 1).is_ok(),
            BatchSize::SmallInput,
        );
    });
    group.bench_function("dense", |timer| timer.iter(|| strided::dense(black_box(&shape), 4)));
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    bounds(&mut criterion);
    strides(&mut criterion);
    criterion.final_summary();
}
