//! The arithmetic before each call to the driver: bounds and pieces.

use arrow_cuda_buffer::range;
use criterion::{Criterion, Throughput};
use std::hint::black_box;

fn bounds(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("range");
    group.bench_function("within", |timer| {
        timer.iter(|| range::within(black_box(16), black_box(64), black_box(1 << 20)).is_ok());
    });
    group.bench_function("within, refused", |timer| {
        timer.iter(|| range::within(black_box(usize::MAX), black_box(64), black_box(1 << 20)));
    });
    group.bench_function("available and overlap", |timer| {
        timer.iter(|| {
            let (at, size) = (black_box(16), black_box(1 << 20));
            range::overlap(at as u64, 0, range::available(at, usize::MAX, size))
        });
    });
    let size = 1 << 30;
    group.throughput(Throughput::Elements(size as u64 / (4 << 20)));
    group.bench_function("chunks of 1 GiB", |timer| {
        timer.iter(|| {
            range::chunks(black_box(size), 4 << 20).fold(0, |sum, (at, length)| sum ^ at ^ length)
        });
    });
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    bounds(&mut criterion);
    criterion.final_summary();
}
