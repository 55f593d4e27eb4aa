//! The ledger of a pool: the cost of an allocation without the driver.
//!
//! This includes the crate's private modules, which a benchmark cannot import.

#![allow(dead_code, unused_imports, missing_docs, reason = "not all of the modules is used here")]

#[path = "../src/pool"]
mod pool {
    pub(super) mod ledger;
    pub(super) mod stats;
}

use criterion::{BenchmarkId, Criterion};
use pool::ledger::{Ledger, Placement};
use std::hint::black_box;

const ADDRESS: u64 = 0x7000_0000_0000;

/// A ledger with ready blocks of that many sizes, between others that are in use.
fn filled(sizes: u64) -> Ledger {
    let mut ledger = Ledger::default();
    ledger.account.limit = Some(1 << 50);
    for number in 1..=sizes {
        for copy in 0..4 {
            let address = ADDRESS + ((number * 4 + copy) << 40);
            let request = ledger.request((32 * number) << 20, Placement::Packed);
            ledger.add(address, request.capacity, &request);
            ledger.release(address, false);
        }
    }
    ledger
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("ledger");
    for sizes in [1, 32, 200] {
        let mut ledger = filled(sizes);
        let name = BenchmarkId::new("allocate and release", format!("{sizes} sizes"));
        group.bench_function(name, |timer| {
            timer.iter(|| {
                let request =
                    ledger.request(black_box((32 * sizes.div_ceil(2)) << 20), Placement::Packed);
                let Some((address, _)) = ledger.reuse(&request) else {
                    panic!("a block of that size is ready");
                };
                ledger.release(address, false);
            });
        });
    }
    let mut ledger = filled(1);
    let small = ledger.request(1000, Placement::Packed);
    ledger.add(1 << 20, 2 << 20, &small);
    group.bench_function("split and merge", |timer| {
        timer.iter(|| {
            let request = ledger.request(black_box(5000), Placement::Packed);
            let Some((address, _)) = ledger.reuse(&request) else {
                panic!("a segment has room");
            };
            ledger.release(address, false);
        });
    });
    group.finish();
    criterion.final_summary();
}
