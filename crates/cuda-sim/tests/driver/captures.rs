//! Streams whose work is captured into graphs, and calls that end a capture.

use std::thread;

use crate::common::*;

const GLOBAL: i32 = 0;
const THREAD_LOCAL: i32 = 1;
const RELAXED: i32 = 2;
const MODES: [i32; 3] = [GLOBAL, THREAD_LOCAL, RELAXED];

const UNSUPPORTED: i32 = 900;
const INVALIDATED: i32 = 901;

fn status(stream: Handle) -> i32 {
    let mut status = -1;
    assert_eq!(cuStreamIsCapturing(stream, &mut status), OK);
    status
}

fn begin(stream: Handle, mode: i32) {
    assert_eq!(cuStreamBeginCapture_v2(stream, mode), OK);
}

fn end(stream: Handle) -> i32 {
    let mut graph = 7;
    let code = cuStreamEndCapture(stream, &mut graph);
    match code {
        OK => assert_eq!(cuGraphDestroy(graph), OK),
        INVALIDATED => assert_eq!(graph, 0),
        _ => {}
    }
    code
}

/// The result that another thread in the same context gets.
fn elsewhere(context: Handle, call: impl FnOnce() -> i32 + Send) -> i32 {
    let call = move || {
        assert_eq!(cuCtxPushCurrent_v2(context), OK);
        call()
    };
    thread::scope(|scope| scope.spawn(call).join().expect("no panic"))
}

#[test]
fn captured_work_is_not_done() {
    on_device(|_| {
        let (s, p) = (stream(1), alloc(1));
        assert_eq!(write(p, &[1]), OK);
        assert_eq!(status(s), 0);
        begin(s, GLOBAL);
        assert_eq!(status(s), 1);
        assert_eq!(cuMemsetD8Async(p, 7, 1, s), OK);
        assert_eq!(end(s), OK);
        assert_eq!(status(s), 0);
        assert_eq!(read(p, 1), Ok(vec![1]));
        assert_eq!(cuMemsetD8Async(p, 7, 1, s), OK);
        assert_eq!(cuStreamSynchronize(s), OK);
        assert_eq!(read(p, 1), Ok(vec![7]));
    });
}

#[test]
fn a_capture_begins_and_ends_where_it_may() {
    on_device(|context| {
        let s = stream(1);
        assert_eq!(cuStreamBeginCapture_v2(0, GLOBAL), UNSUPPORTED);
        assert_eq!(cuStreamBeginCapture_v2(s, 3), 1);
        assert_eq!(end(s), 401);
        for mode in MODES {
            begin(s, mode);
            assert_eq!(cuStreamBeginCapture_v2(s, mode), 401);
            let is_allowed = mode == RELAXED;
            assert_eq!(elsewhere(context, || end(s)), if is_allowed { OK } else { 908 });
            assert_eq!(end(s), if is_allowed { 401 } else { OK });
        }
    });
}

/// Whether a call on the capturing thread, and one on another thread, ends a capture of each mode.
fn ended_by(context: Handle, call: impl Fn() -> i32 + Sync) -> [[bool; 2]; 3] {
    let s = stream(1);
    MODES.map(|mode| {
        [false, true].map(|is_elsewhere| {
            begin(s, mode);
            let code = if is_elsewhere { elsewhere(context, &call) } else { call() };
            let is_ended = match end(s) {
                OK => false,
                code => {
                    assert_eq!(code, INVALIDATED);
                    true
                }
            };
            assert_eq!(code, if is_ended { UNSUPPORTED } else { OK });
            is_ended
        })
    })
}

/// Which calls these are, `probe/ask.py` has asked.
#[test]
fn calls_that_might_wait_respect_modes() {
    on_device(|context| {
        let by_mode = [[true, true], [true, false], [false, false]];
        assert_eq!(ended_by(context, || cuMemAlloc_v2(&mut 0, 16)), by_mode);
        let (p, mut managed) = (alloc(16), 0);
        assert_eq!(cuMemAllocManaged(&mut managed, 16, 1), OK);
        assert_eq!(ended_by(context, || cuMemsetD8_v2(managed, 1, 16)), by_mode, "it waits");
        assert_eq!(ended_by(context, || cuMemsetD8_v2(p, 1, 16)), [[false, false]; 3]);
    });
}

#[test]
fn what_covers_a_context_ends_every_capture_in_it() {
    on_device(|context| {
        let e = event(2);
        let always = [[true, true]; 3];
        assert_eq!(ended_by(context, || cuCtxRecordEvent(context, e)), always);
        assert_eq!(ended_by(context, || cuCtxSynchronize()), always);
        let s = stream(1);
        let mut other = 0;
        assert_eq!(cuCtxCreate_v2(&mut other, 0, 0), OK);
        let e = event(2);
        begin(s, THREAD_LOCAL);
        assert_eq!(cuCtxRecordEvent(other, e), OK, "of streams of this context only");
        assert_eq!(end(s), OK);
    });
}

#[test]
fn a_thread_may_respect_fewer_captures() {
    on_device(|context| {
        let s = stream(1);
        let allocate_respecting = |mut mode: i32| {
            assert_eq!(cuThreadExchangeStreamCaptureMode(&mut mode), OK);
            assert_eq!(mode, GLOBAL, "the mode of a new thread");
            cuMemAlloc_v2(&mut 0, 16)
        };
        for mode in [RELAXED, THREAD_LOCAL] {
            begin(s, GLOBAL);
            assert_eq!(elsewhere(context, || allocate_respecting(mode)), OK);
            assert_eq!(end(s), OK);
        }
        assert_eq!(cuThreadExchangeStreamCaptureMode(&mut 3), 1);
    });
}

#[test]
fn waiting_for_captured_work_ends_its_capture() {
    on_device(|_| {
        let (s, e) = (stream(1), event(2));
        for (call, code) in [
            ((|s, _| cuStreamSynchronize(s)) as fn(Handle, Handle) -> i32, UNSUPPORTED),
            (|s, _| cuStreamQuery(s), UNSUPPORTED),
            (|_, e| cuEventQuery(e), 907),
            (|_, e| cuEventSynchronize(e), 907),
        ] {
            begin(s, RELAXED);
            assert_eq!(cuEventRecord(e, s), OK);
            assert_eq!(cuStreamWaitEvent(s, e, 0), OK);
            assert_eq!(call(s, e), code);
            assert_eq!(status(s), 2);
            assert_eq!(cuEventRecord(e, s), INVALIDATED);
            assert_eq!(end(s), INVALIDATED);
        }
    });
}

#[test]
fn work_outside_of_a_capture_stays_outside() {
    on_device(|_| {
        let (s, other, before, within) = (stream(1), stream(1), event(2), event(2));
        assert_eq!(cuEventRecord(before, other), OK);
        begin(s, RELAXED);
        assert_eq!(cuEventRecord(within, s), OK);
        assert_eq!(cuStreamWaitEvent(other, within, 0), 801, "joining is not simulated");
        assert_eq!(end(s), OK);
        begin(s, RELAXED);
        assert_eq!(cuStreamWaitEvent(s, before, 0), 905);
        assert_eq!(end(s), INVALIDATED);
    });
}

#[test]
fn the_default_stream_must_not_wait_for_a_captured_one() {
    on_device(|_| {
        let (blocking, p) = (stream(0), alloc(1));
        begin(blocking, RELAXED);
        assert_eq!(cuStreamIsCapturing(0, &mut 0), 906);
        assert_eq!(status(blocking), 1);
        assert_eq!(cuMemsetD8Async(p, 1, 1, 0), 906);
        assert_eq!(end(blocking), INVALIDATED);
        let independent = stream(1);
        begin(independent, RELAXED);
        assert_eq!(cuMemsetD8Async(p, 1, 1, 0), OK);
        assert_eq!(end(independent), OK);
    });
}

#[test]
fn a_capture_goes_with_its_stream() {
    on_device(|_| {
        let s = stream(1);
        begin(s, GLOBAL);
        assert_eq!(cuStreamDestroy_v2(s), OK);
        alloc(16);
    });
}
