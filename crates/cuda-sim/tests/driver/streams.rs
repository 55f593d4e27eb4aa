//! Order between streams, events and the host.

use std::ffi::c_void;
use std::mem::take;
use std::ptr::without_provenance_mut;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::common::process::*;
use crate::common::*;

const NOT_READY: i32 = 600;

/// A byte of host memory that no work touches at the moment.
fn peek(host: usize) -> u8 {
    // SAFETY: tests pass the address of a live byte.
    unsafe { (host as *const u8).read_volatile() }
}

#[test]
fn queued_work_waits_for_the_latency() {
    in_own_process(&[("CUDA_SIM_LATENCY", "20000")], || {
        ready(0);
        let p = alloc(1);
        let start = Instant::now();
        assert_eq!(cuMemsetD8_v2(p, 3, 1), OK);
        assert_eq!(cuStreamSynchronize(0), OK);
        assert!(start.elapsed() >= Duration::from_millis(20));
    });
}

#[test]
fn a_copy_from_the_host_reads_when_its_turn_comes() {
    on_device(|_| {
        let (s, p, host) = (stream(1), alloc(1), pinned(1));
        let work = busy(s);
        assert_eq!(cuMemcpyHtoDAsync_v2(p, host, 1, s), OK);
        // SAFETY: a byte of pinned memory, which the copy reads later.
        unsafe { (host as *mut u8).write_volatile(5) };
        work.open();
        assert_eq!(cuStreamSynchronize(s), OK);
        assert_eq!(read(p, 1), Ok(vec![5]));
    });
}

#[test]
fn the_default_stream_waits_for_blocking_streams_only() {
    on_device(|_| {
        let (blocking, free, p) = (stream(0), stream(1), alloc(1));
        assert_eq!(write(p, &[0]), OK);
        let work = busy(free);
        assert_eq!(cuMemsetD8Async(p, 8, 1, free), OK);
        assert_eq!(read(p, 1), Ok(vec![0]));
        work.open();
        assert_eq!(cuStreamSynchronize(free), OK);
        let work = busy(blocking);
        assert_eq!(cuMemsetD8Async(p, 9, 1, blocking), OK);
        work.open_soon();
        assert_eq!(read(p, 1), Ok(vec![9]));
    });
}

#[test]
fn a_blocking_stream_waits_for_the_default_stream() {
    on_device(|_| {
        let (blocking, free) = (stream(0), stream(1));
        let (start, end, other) = (event(2), event(2), event(2));
        let work = busy(0);
        assert_eq!(cuEventRecord(start, 0), OK);
        assert_eq!(cuEventRecord(end, blocking), OK);
        assert_eq!(cuEventRecord(other, free), OK);
        assert_eq!(cuEventQuery(other), OK);
        assert_eq!(cuEventQuery(end), NOT_READY);
        work.open();
        assert_eq!(cuEventSynchronize(end), OK);
        assert_eq!(cuEventQuery(start), OK);
    });
}

#[test]
fn an_event_of_a_context_waits_for_all_its_streams() {
    on_device(|context| {
        let (all, default) = (event(2), event(2));
        for flags in [0, 1] {
            let s = stream(flags);
            let work = busy(s);
            assert_eq!(cuCtxRecordEvent(context, all), OK);
            assert_eq!(cuEventQuery(all), NOT_READY);
            work.open();
            assert_eq!(cuStreamSynchronize(s), OK);
            assert_eq!(cuEventQuery(all), OK);
        }
        let earlier = busy(stream(1));
        assert_eq!(cuEventRecord(default, 0), OK);
        assert_eq!(cuEventQuery(default), OK);
        assert_eq!(cuCtxRecordEvent(context, all), OK);
        let s = stream(1);
        let later = busy(s);
        earlier.open();
        assert_eq!(cuEventSynchronize(all), OK);
        assert_eq!(cuStreamQuery(s), NOT_READY, "the event does not wait for later work");
        later.open();
    });
}

#[test]
fn fills_and_copies_of_device_memory_return_before_they_are_done() {
    on_device(|_| {
        let (p, q) = (alloc(1), alloc(1));
        let work = busy(0);
        assert_eq!(cuMemsetD8_v2(p, 3, 1), OK);
        assert_eq!(cuMemcpyDtoD_v2(q, p, 1), OK);
        assert_eq!(cuStreamQuery(0), NOT_READY);
        work.open();
        assert_eq!(read(q, 1), Ok(vec![3]));
    });
}

#[test]
fn a_fill_of_host_memory_is_done_when_it_returns() {
    on_device(|_| {
        let (mut managed, mut own) = (0, [0_u8; 8]);
        assert_eq!(cuMemAllocManaged(&mut managed, 8, 1), OK);
        let registered = own.as_mut_ptr() as usize;
        assert_eq!(cuMemHostRegister_v2(registered, 8, 1), OK);
        for host in [pinned(8), managed as usize, registered] {
            let opened = busy(0).open_soon();
            assert_eq!(cuMemsetD8_v2(host as u64, 7, 8), OK);
            assert_eq!(peek(host), 7);
            opened.join().expect("in time");
            assert_eq!(cuMemsetD32_v2(host as u64, 0x0808_0808, 2), OK);
            assert_eq!(peek(host), 8);
            // Fills on a stream are queued.
            let work = busy(0);
            assert_eq!(cuMemsetD8Async(host as u64, 9, 8, 0), OK);
            assert_eq!(peek(host), 8);
            work.open();
            assert_eq!(cuStreamSynchronize(0), OK);
            assert_eq!(peek(host), 9);
        }
    });
}

#[test]
fn a_small_copy_from_pageable_memory_returns_when_its_bytes_are_staged() {
    on_device(|_| {
        let (blocking, free, p, host) = (stream(0), stream(1), alloc(1), pinned(1));
        let work = busy(blocking);
        let mut source = [5];
        assert_eq!(write(p, &source), OK);
        assert_eq!(cuStreamQuery(blocking), NOT_READY);
        source.fill(6);
        // Another stream does not wait for it.
        assert_eq!(cuMemcpyDtoHAsync_v2(host, p, 1, free), OK);
        assert_eq!(cuStreamSynchronize(free), OK);
        assert_ne!(peek(host), 5);
        work.open();
        assert_eq!(read(p, 1), Ok(vec![5]));
    });
}

/// As `cudarc` relies on it, which passes vectors to them.
#[test]
fn a_copy_of_pageable_memory_on_a_stream_is_complete_when_it_returns() {
    in_own_process(&[("CUDA_SIM_LATENCY", "20000")], || {
        ready(0);
        let (stream, size) = (stream(1), (64 << 10) + 1);
        let (p, mut host) = (alloc(size), vec![7u8; size]);
        assert_eq!(cuMemcpyHtoDAsync_v2(p, host.as_ptr().addr(), size, stream), OK);
        host.fill(8);
        let mut back = vec![0u8; size];
        assert_eq!(cuMemcpyDtoHAsync_v2(back.as_mut_ptr().addr(), p, size, stream), OK);
        assert_eq!((back[0], back[size - 1]), (7, 7));
        // The memory of vectors, which does not outlive the test's wait for the stream.
        assert_eq!(cuStreamSynchronize(stream), OK);
    });
}

#[test]
fn a_wait_for_a_stream_stalls_no_allocation() {
    on_device(|context| {
        let work = busy(0);
        let waiter = std::thread::spawn(move || {
            assert_eq!(cuCtxPushCurrent_v2(context), OK);
            assert_eq!(cuStreamSynchronize(0), OK);
        });
        std::thread::sleep(Duration::from_millis(50));
        alloc(1);
        work.open();
        waiter.join().unwrap();
    });
}

#[test]
fn a_destroyed_stream_still_does_its_work() {
    on_device(|_| {
        let (s, p) = (stream(0), alloc(1));
        let work = busy(s);
        assert_eq!(cuMemsetD8Async(p, 8, 1, s), OK);
        assert_eq!(cuStreamDestroy_v2(s), OK);
        assert_eq!(cuStreamDestroy_v2(s), 400);
        assert_eq!(cuStreamQuery(s), 400);
        work.open_soon();
        assert_eq!(read(p, 1), Ok(vec![8]));
    });
}

#[test]
fn memory_freed_in_a_stream_lives_until_its_turn() {
    on_device(|_| {
        let (s, mut p, host) = (stream(1), 0, pinned(1));
        assert_eq!(cuMemAllocAsync(&mut p, 1, s), OK);
        assert_eq!(cuIpcGetMemHandle(&mut MemHandle([0; 64]), p), 1);
        let work = busy(s);
        assert_eq!(cuMemcpyDtoHAsync_v2(host, p, 1, s), OK);
        assert_eq!(cuMemFreeAsync(p, s), OK);
        assert_eq!(cuMemFreeAsync(p, s), 1);
        work.open();
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
    on_device(|_| {
        let mut answer = -1_i32;
        let data = (&raw mut answer).cast();
        assert_eq!(cuLaunchHostFunc(0, ask, data), OK);
        assert_eq!(cuStreamSynchronize(0), OK);
        assert_eq!(answer, 800);
    });
}

#[test]
fn many_threads_share_a_context() {
    on_device(|context| {
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
    on_device(|_| {
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
fn a_stream_knows_its_context() {
    on_device(|_| {
        let (mut current, mut other) = (0, 0);
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
        assert_eq!(cuCtxPopCurrent_v2(&mut 0), OK);
        assert_eq!(cuStreamGetCtx(s + 8, &mut other), 400);
    });
}

#[test]
fn the_default_stream_stands_for_the_blocking_streams_too() {
    on_device(|_| {
        let (blocking, free) = (stream(0), stream(1));
        let unrelated = busy(free);
        assert_eq!(cuStreamQuery(0), OK);
        unrelated.open();
        let work = busy(blocking);
        assert_eq!(cuStreamQuery(0), NOT_READY);
        work.open_soon();
        assert_eq!(cuStreamSynchronize(0), OK);
        assert_eq!(cuStreamQuery(blocking), OK);
    });
}

#[test]
fn functions_of_idle_streams_take_turns_in_the_order_of_the_calls() {
    static CALLED: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    extern "C" fn note(data: *mut c_void) {
        CALLED.lock().expect("alive").push(data.addr());
    }
    on_device(|_| {
        let (other, streams) = (stream(1), [stream(1), stream(1)]);
        for _ in 0..100 {
            let work = busy(other);
            for (number, stream) in streams.iter().enumerate() {
                assert_eq!(cuLaunchHostFunc(*stream, note, without_provenance_mut(number)), OK);
            }
            work.open();
            streams.iter().for_each(|stream| assert_eq!(cuStreamSynchronize(*stream), OK));
            assert_eq!(take(&mut *CALLED.lock().expect("alive")), [0, 1]);
        }
    });
}
