//! Order between streams, events and the host.

mod common;

use std::ffi::c_void;
use std::time::{Duration, Instant};

use common::process::*;
use common::*;

const BUSY: u64 = 200;
const NOT_READY: i32 = 600;

fn took(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

#[test]
fn queued_work_runs_later_and_in_order() {
    in_own_process(&[], || {
        ready(0);
        let (s, p, host) = (stream(1), alloc(4), pinned(4));
        sleep(s, BUSY);
        assert_eq!(cuMemsetD8Async(p, 7, 4, s), OK);
        assert_eq!(cuMemcpyDtoHAsync_v2(host, p, 4, s), OK);
        // SAFETY: four bytes of pinned memory, which the copy does not touch yet.
        let peek = || unsafe { (host as *const [u8; 4]).read_volatile() };
        assert_eq!(peek(), [0; 4]);
        assert_eq!(cuStreamQuery(s), NOT_READY);
        assert_eq!(cuStreamSynchronize(s), OK);
        assert_eq!(peek(), [7; 4]);
        assert_eq!(cuStreamQuery(s), OK);
    });
}

#[test]
fn a_copy_from_the_host_reads_when_its_turn_comes() {
    in_own_process(&[], || {
        ready(0);
        let (s, p, host) = (stream(1), alloc(1), pinned(1));
        sleep(s, BUSY);
        assert_eq!(cuMemcpyHtoDAsync_v2(p, host, 1, s), OK);
        // SAFETY: a byte of pinned memory; the copy reads it after the sleep.
        unsafe { (host as *mut u8).write_volatile(5) };
        assert_eq!(cuStreamSynchronize(s), OK);
        assert_eq!(read(p, 1), Ok(vec![5]));
    });
}

#[test]
fn the_default_stream_waits_for_blocking_streams_only() {
    in_own_process(&[], || {
        ready(0);
        let p = alloc(1);
        let of = |flags| {
            let s = stream(flags);
            sleep(s, BUSY);
            assert_eq!(cuMemsetD8Async(p, 9, 1, s), OK);
            let seen = read(p, 1).unwrap()[0];
            assert_eq!(cuStreamSynchronize(s), OK);
            assert_eq!(write(p, &[0]), OK);
            seen
        };
        assert_eq!(of(0), 9);
        assert_eq!(of(1), 0);
    });
}

#[test]
fn a_blocking_stream_waits_for_the_default_stream() {
    in_own_process(&[], || {
        ready(0);
        let (blocking, free) = (stream(0), stream(1));
        let (start, end, other) = (event(2), event(2), event(2));
        sleep(0, BUSY);
        assert_eq!(cuEventRecord(start, 0), OK);
        assert_eq!(cuEventRecord(end, blocking), OK);
        assert_eq!(cuEventRecord(other, free), OK);
        assert_eq!(cuEventQuery(other), OK);
        assert_eq!(cuEventQuery(end), NOT_READY);
        assert_eq!(cuEventSynchronize(end), OK);
        assert_eq!(cuEventQuery(start), OK);
    });
}

#[test]
fn an_event_of_a_context_waits_for_all_its_streams() {
    in_own_process(&[], || {
        let context = ready(0);
        let (all, default) = (event(2), event(2));
        for flags in [0, 1] {
            let s = stream(flags);
            sleep(s, BUSY);
            assert_eq!(cuCtxRecordEvent(context, all), OK);
            assert_eq!(cuEventQuery(all), NOT_READY);
            assert_eq!(cuStreamSynchronize(s), OK);
            assert_eq!(cuEventQuery(all), OK);
        }
        sleep(stream(1), BUSY);
        assert_eq!(cuEventRecord(default, 0), OK);
        assert_eq!(cuEventQuery(default), OK);
        assert_eq!(cuCtxRecordEvent(context, all), OK);
        sleep(stream(1), 2 * BUSY);
        assert_eq!(cuEventSynchronize(all), OK, "later work does not count");
    });
}

#[test]
fn fills_and_device_copies_return_before_they_are_done() {
    in_own_process(&[("CUDA_SIM_LATENCY", "50000")], || {
        ready(0);
        let (p, q, s, host) = (alloc(1), alloc(1), stream(1), pinned(1));
        assert_eq!(write(p, &[0]), OK);
        assert_eq!(cuMemsetD8_v2(p, 3, 1), OK);
        assert_eq!(cuMemcpyDtoD_v2(q, p, 1), OK);
        assert_eq!(cuStreamQuery(0), NOT_READY);
        assert_eq!(cuMemcpyDtoHAsync_v2(host, q, 1, s), OK);
        assert_eq!(cuStreamSynchronize(0), OK);
        assert_eq!(read(q, 1), Ok(vec![3]));
    });
}

#[test]
fn a_small_copy_from_pageable_memory_takes_the_bytes_and_returns() {
    in_own_process(&[], || {
        ready(0);
        let (busy, free, p, host) = (stream(0), stream(1), alloc(1), pinned(1));
        sleep(busy, BUSY);
        let mut source = [5];
        let quick = took(|| assert_eq!(write(p, &source), OK));
        assert!(quick < Duration::from_millis(BUSY));
        source.fill(6);
        // Another stream does not wait for it.
        assert_eq!(cuMemcpyDtoHAsync_v2(host, p, 1, free), OK);
        assert_eq!(cuStreamSynchronize(free), OK);
        // SAFETY: a byte of pinned memory, which no copy touches any more.
        assert_ne!(unsafe { (host as *const u8).read_volatile() }, 5);
        assert_eq!(read(p, 1), Ok(vec![5]));
    });
}

#[test]
fn events_order_streams_and_measure_time() {
    in_own_process(&[], || {
        ready(0);
        let (first, second, p) = (stream(1), stream(1), alloc(1));
        let (start, end) = (event(0), event(0));
        assert_eq!(cuEventRecord(start, first), OK);
        sleep(first, BUSY);
        assert_eq!(cuMemsetD8Async(p, 1, 1, first), OK);
        assert_eq!(cuEventRecord(end, first), OK);
        let mut milliseconds = 0.0;
        assert_eq!(cuEventElapsedTime(&mut milliseconds, start, end), NOT_READY);
        assert_eq!(cuStreamWaitEvent(second, end, 0), OK);
        assert_eq!(cuMemsetD8Async(p, 2, 1, second), OK);
        assert_eq!(cuStreamSynchronize(second), OK);
        assert_eq!(read(p, 1), Ok(vec![2]));
        assert_eq!(cuEventElapsedTime(&mut milliseconds, start, end), OK);
        assert!(milliseconds >= BUSY as f32, "{milliseconds}");
        assert_eq!(cuEventDestroy_v2(end), OK);
        assert_eq!(cuEventQuery(end), 400);
    });
}

#[test]
fn freeing_waits_for_the_device() {
    in_own_process(&[], || {
        ready(0);
        let (p, host, s) = (alloc(1), pinned(1), stream(1));
        sleep(s, BUSY);
        assert!(took(|| assert_eq!(cuMemFree_v2(p), OK)) >= Duration::from_millis(BUSY / 2));
        sleep(s, BUSY);
        assert!(took(|| assert_eq!(cuMemFreeHost(host), OK)) >= Duration::from_millis(BUSY / 2));
    });
}

#[test]
fn a_destroyed_stream_does_what_it_has_to() {
    in_own_process(&[], || {
        ready(0);
        let (s, p) = (stream(0), alloc(1));
        sleep(s, BUSY);
        assert_eq!(cuMemsetD8Async(p, 8, 1, s), OK);
        assert_eq!(cuStreamDestroy_v2(s), OK);
        assert_eq!(cuStreamDestroy_v2(s), 400);
        assert_eq!(cuStreamQuery(s), 400);
        assert_eq!(read(p, 1), Ok(vec![8]));
    });
}

#[test]
fn memory_freed_in_a_stream_lives_until_its_turn() {
    in_own_process(&[], || {
        ready(0);
        let (s, mut p, host) = (stream(1), 0, pinned(1));
        assert_eq!(cuMemAllocAsync(&mut p, 1, s), OK);
        assert_eq!(cuIpcGetMemHandle(&mut MemHandle([0; 64]), p), 1);
        sleep(s, BUSY);
        assert_eq!(cuMemcpyDtoHAsync_v2(host, p, 1, s), OK);
        assert_eq!(cuMemFreeAsync(p, s), OK);
        assert_eq!(cuMemFreeAsync(p, s), 1);
        assert_eq!(cuStreamSynchronize(s), OK);
        assert_eq!(read(p, 1), Err(1));
        assert_eq!(cuda_sim_live_allocations(), 0);
    });
}

#[test]
fn callbacks_run_in_turn_and_may_not_call_the_driver() {
    extern "C" fn ask(data: *mut c_void) {
        // SAFETY: the test waits, and gave the address of its variable.
        unsafe { data.cast::<i32>().write(cuCtxSynchronize()) };
    }
    in_own_process(&[], || {
        ready(0);
        let mut answer = -1_i32;
        let data = (&raw mut answer).cast();
        assert_eq!(cuLaunchHostFunc(0, ask, data), OK);
        assert_eq!(cuStreamSynchronize(0), OK);
        assert_eq!(answer, 800);
    });
}

#[test]
fn many_threads_share_a_context() {
    in_own_process(&[], || {
        let context = ready(0);
        std::thread::scope(|scope| {
            for thread in 0..16_u8 {
                scope.spawn(move || {
                    assert_eq!(cuCtxPushCurrent_v2(context), OK);
                    let s = stream(u32::from(thread % 2));
                    for round in 0..100 {
                        let p = alloc(1000 + round);
                        assert_eq!(cuMemsetD8Async(p, thread, 1000, s), OK);
                        assert_eq!(cuStreamSynchronize(s), OK);
                        assert_eq!(read(p, 1000), Ok(vec![thread; 1000]));
                        assert_eq!(cuMemFree_v2(p), OK);
                    }
                });
            }
        });
        assert_eq!(cuda_sim_live_allocations(), 0);
    });
}

#[test]
fn handles_are_addresses_of_readable_memory() {
    in_own_process(&[], || {
        ready(0);
        let (one, other) = (stream(1), stream(1));
        assert_ne!(one, other);
        for handle in [one, other] {
            assert_eq!(handle % size_of::<usize>(), 0);
            // SAFETY: what this test is about: a word at the handle can be read.
            assert_eq!(unsafe { (handle as *const usize).read_volatile() }, 0);
        }
    });
}

#[test]
fn a_stream_tells_its_context() {
    in_own_process(&[], || {
        ready(0);
        let (mut current, mut other, mut popped) = (0, 0, 0);
        assert_eq!(cuCtxGetCurrent(&mut current), OK);
        let s = stream(0);
        assert_eq!(cuCtxCreate_v2(&mut other, 0, 0), OK);
        let context_of = |stream| {
            let mut context = 0;
            assert_eq!(cuStreamGetCtx(stream, &mut context), OK);
            context
        };
        assert_eq!(context_of(s), current);
        assert_eq!((context_of(0), context_of(stream(1))), (other, other));
        assert_eq!(cuCtxPopCurrent_v2(&mut popped), OK);
        let mut status = -1;
        assert_eq!(cuStreamIsCapturing(s, &mut status), OK);
        assert_eq!(status, 0);
        assert_eq!(cuStreamGetCtx(s + 8, &mut other), 400);
    });
}

#[test]
fn the_default_stream_answers_for_those_that_are_ordered_with_it() {
    in_own_process(&[], || {
        ready(0);
        let (blocking, free) = (stream(0), stream(1));
        sleep(free, BUSY);
        assert_eq!(cuStreamQuery(0), OK);
        sleep(blocking, BUSY);
        assert_eq!(cuStreamQuery(0), NOT_READY);
        assert_eq!(cuStreamSynchronize(0), OK);
        assert_eq!(cuStreamQuery(blocking), OK);
    });
}
