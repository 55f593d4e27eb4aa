//! The bookkeeping of released memory: what an allocation costs when no driver is asked.
//!
//! The modules are the crate's own, which nobody outside of it can name.

#![allow(dead_code, unused_imports, reason = "not all of the modules is used, nor are their tests")]

#[path = "../src/cache"]
mod cache {
    pub(super) mod class;
    pub(super) mod pool;
}

use cache::class;
use cache::pool::{Found, Pool};
use criterion::{BenchmarkId, Criterion};
use std::hint::black_box;

const ADDRESS: u64 = 0x7000_0000_0000;

/// A pool that keeps `capacities` sizes of memory, all of it free to be handed out.
fn filled(capacities: u64) -> Pool {
    let mut pool = Pool::default();
    drop(pool.set_limit(1 << 50));
    for number in 1..=capacities {
        for copy in 0..4 {
            let address = ADDRESS + (number * 4 + copy) * class::BLOCK * capacities;
            drop(pool.offer(address, number * class::BLOCK, true));
        }
    }
    pool.found_over(pool.released());
    pool
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("pool");
    for capacities in [1, 32, 200] {
        let mut pool = filled(capacities);
        let capacity = class::alone(black_box(capacities.div_ceil(2) * class::BLOCK));
        let name = BenchmarkId::new("take and offer", format!("{capacities} sizes"));
        group.bench_function(name, |timer| {
            timer.iter(|| {
                let Found::Block(idle) = pool.take(black_box(capacity), true) else {
                    panic!("it keeps a block of that size");
                };
                let evicted = pool.offer(idle.address, idle.capacity, true);
                pool.found_over(pool.released());
                evicted
            });
        });
    }
    let mut full = filled(200);
    let (bytes, _) = full.kept();
    drop(full.set_limit(bytes));
    group.bench_function("offer to a full pool", |timer| {
        timer.iter(|| full.offer(black_box(ADDRESS), class::BLOCK, true));
    });
    group.bench_function("class of a small size", |timer| {
        timer.iter(|| class::packed(black_box(100_000)));
    });
    group.finish();
    criterion.final_summary();
}
