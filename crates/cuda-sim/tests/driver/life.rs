//! Forks, exits and invalid handles.

use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::common::child::in_child;
use crate::common::process::*;
use crate::common::*;

const SIGABRT: i32 = 6;
const NOT_INITIALIZED: i32 = 3;

#[test]
fn a_forked_child_is_refused_and_never_blocks() {
    on_device(|context| {
        let (p, mut statuses, is_over) = (alloc(64), Vec::new(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            // Other threads hold the simulator's locks now and then.
            let is_over = &is_over;
            for _ in 0..2 {
                scope.spawn(move || {
                    assert_eq!(cuCtxPushCurrent_v2(context), OK);
                    while !is_over.load(Ordering::Relaxed) {
                        assert_eq!(cuMemFree_v2(alloc(64)), OK);
                    }
                });
            }
            for _ in 0..100 {
                // It calls the simulator, which takes no lock there.
                statuses.push(in_child(|| {
                    let refused = cuMemFree_v2(p) == NOT_INITIALIZED
                        && cuInit(0) == NOT_INITIALIZED
                        && cuCtxSynchronize() == NOT_INITIALIZED
                        && cuda_sim_live_allocations() == 0;
                    i32::from(!refused)
                }));
            }
            is_over.store(true, Ordering::Relaxed);
        });
        assert_eq!(statuses, [0; 100]);
        assert_eq!(cuMemFree_v2(p), OK);
    });
}

#[test]
fn streams_events_and_modules_are_counted_while_they_and_their_contexts_exist() {
    in_own_process(&[], || {
        let counts = || [cuda_sim_live_streams(), cuda_sim_live_events(), cuda_sim_live_modules()];
        let (primary, mut other) = (ready(0), 0);
        assert_eq!(counts(), [0, 0, 0]);
        let make = || (stream(0), event(0), function("sim_sleep"));
        let (stream, event, _) = make();
        assert_eq!(counts(), [1, 1, 1]);
        assert_eq!(cuCtxCreate_v2(&mut other, 0, 0), OK);
        make();
        assert_eq!(counts(), [2, 2, 2]);
        assert_eq!(cuCtxDestroy_v2(other), OK);
        assert_eq!(counts(), [1, 1, 1]);
        assert_eq!(cuCtxPushCurrent_v2(primary), OK);
        assert_eq!((cuStreamDestroy_v2(stream), cuEventDestroy_v2(event)), (OK, OK));
        assert_eq!(counts(), [0, 0, 1]);
    });
}

#[test]
fn a_process_may_end_in_the_middle_of_work() {
    in_own_process(&[], || {
        if is_role("leaver") {
            ready(0);
            alloc(64);
            let sleep = function("sim_sleep");
            for flags in [0, 1] {
                let s = stream(flags);
                assert_eq!(launch(sleep, s, &[60_000]), OK);
                assert_eq!(cuMemsetD8Async(alloc(64), 1, 64, s), OK);
            }
            std::process::exit(0);
        }
        let start = Instant::now();
        let done = as_role("leaver").output().unwrap();
        assert!(done.status.success() && done.stderr.is_empty());
        assert!(start.elapsed() < Duration::from_secs(10));
    });
}

#[test]
fn a_handle_that_never_was_ends_the_process() {
    on_device(|_| {
        if is_role("offender") {
            cuCtxPushCurrent_v2(0x1234);
            return;
        }
        let done = as_role("offender").output().unwrap();
        assert_eq!(done.status.signal(), Some(SIGABRT));
        let complaint = String::from_utf8_lossy(&done.stderr);
        assert!(complaint.contains("0x1234 never was a context"), "{complaint}");
    });
}
