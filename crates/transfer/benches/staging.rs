//! How copies are planned and divided: their overhead without the cost of the bytes.
//!
//! This includes the crate's private modules, which a benchmark cannot import.

#![allow(dead_code, unused_imports, reason = "not all of the modules is used, nor are their tests")]

#[path = "../src/staging/helpers.rs"]
mod helpers;
#[path = "../src/staging/host/mod.rs"]
mod host;
#[path = "../src/staging/job.rs"]
mod job;
#[path = "../src/staging/plan.rs"]
mod plan;
#[path = "../src/staging/sync.rs"]
mod sync;
#[path = "../src/staging/turns.rs"]
mod turns;

use criterion::{BenchmarkId, Criterion, Throughput};
use host::HostMemory;
use job::Job;
use plan::{Plan, Task, TransferLimits};
use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const PIECES: usize = 1024;
const SLOTS: usize = 24;

fn plans(criterion: &mut Criterion) {
    let limits = TransferLimits::with_threads(8);
    let mut group = criterion.benchmark_group("plan");
    for size in [4 << 10, 1 << 20, 1 << 30] {
        group.bench_with_input(BenchmarkId::from_parameter(size), &size, |timer, size| {
            timer.iter(|| black_box(limits).plan(Task::Upload, black_box(*size), 8 << 20));
        });
    }
    group.finish();
}

/// Plays the issuer, for a device that takes no time.
fn issue(job: &Job) {
    let mut piece = 0;
    while piece < job.pieces() {
        let count = job.ready_pieces(piece, 4);
        if count == 0 && !job.help_once() {
            thread::yield_now();
        }
        for _ in 0..count {
            job.finish_move(piece);
            piece += 1;
        }
    }
    while job.help_once() {}
    job.close();
}

fn jobs(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("job");
    group.throughput(Throughput::Elements(PIECES as u64));
    for task in [Task::Upload, Task::Download, Task::Compare] {
        for size in [64, 4096] {
            let mut host = vec![0u8; PIECES * size];
            let mut slots = vec![0u8; SLOTS * size];
            let name = BenchmarkId::new(format!("{task:?} alone"), size);
            group.bench_function(name, |timer| {
                timer.iter(|| issue(&new_job(task, &mut host, &mut slots, size)));
            });
        }
    }
    let mut host = vec![0u8; PIECES * 4096];
    let mut slots = vec![0u8; SLOTS * 4096];
    group.bench_function("Upload with a helper", |timer| {
        timer.iter(|| {
            let job = new_job(Task::Upload, &mut host, &mut slots, 4096);
            let has_begun = AtomicBool::new(false);
            thread::scope(|scope| {
                job.helpers.expect(1);
                scope.spawn(|| {
                    has_begun.store(true, Ordering::Release);
                    job.help();
                });
                while !has_begun.load(Ordering::Acquire) {
                    spin_loop();
                }
                issue(&job);
            });
        });
    });
    group.finish();
}

fn new_job(task: Task, host: &mut [u8], slots: &mut [u8], size: usize) -> Job {
    // SAFETY: the benchmarks own the memory until their jobs are closed.
    let host = unsafe {
        HostMemory::target(&mut *(std::ptr::from_mut(host) as *mut [std::mem::MaybeUninit<u8>]))
            .without_lifetime()
    };
    let plan = Plan { helpers: 1, piece: size, slots: SLOTS };
    Job::new(task, host, plan, slots.as_mut_ptr())
}

fn parts(criterion: &mut Criterion) {
    let columns = vec![[7u8; 800]; 512];
    let parts: Vec<_> =
        columns.iter().enumerate().map(|(number, column)| (1024 * number, &column[..])).collect();
    let mut group = criterion.benchmark_group("host memory");
    group.throughput(Throughput::Elements(parts.len() as u64));
    group.bench_function("512 parts, gathered", |timer| {
        timer.iter(|| HostMemory::sources(black_box(&parts)));
    });
    let memory = HostMemory::sources(&parts);
    group.bench_function("512 parts, walked through", |timer| {
        timer.iter(|| {
            memory.runs(0, memory.size()).fold(0, |sum, (_, at, length)| sum ^ at ^ length)
        });
    });
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    plans(&mut criterion);
    jobs(&mut criterion);
    parts(&mut criterion);
    criterion.final_summary();
}
