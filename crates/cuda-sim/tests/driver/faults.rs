//! Fault injection, and counting calls.

use crate::common::process::*;
use crate::common::*;

#[test]
fn a_call_fails_at_its_nth_time_without_effect() {
    on_device(|_| {
        let p = alloc(4);
        assert_eq!(fault("cuMemFree:2=999, cuMemAlloc_v2:1+=2"), OK);
        let mut q = 0;
        assert_eq!(cuMemAlloc_v2(&mut q, 4), 2);
        assert_eq!(cuMemAlloc_v2(&mut q, 4), 2);
        assert_eq!(cuMemFree_v2(0), OK);
        assert_eq!(cuMemFree_v2(p), 999);
        assert_eq!(cuda_sim_live_allocations(), 1);
        assert_eq!(cuMemFree_v2(p), OK);
        assert_eq!(fault(""), OK);
        alloc(4);
    });
}

#[test]
fn a_star_means_any_call() {
    on_device(|_| {
        assert_eq!(fault("*:3=719"), OK);
        assert_eq!(cuCtxSynchronize(), OK);
        assert_eq!(cuMemFree_v2(0), OK);
        assert_eq!(cuCtxSynchronize(), 719);
        assert_eq!(cuCtxSynchronize(), OK);
        assert_eq!(fault("*:2+=719,cuMemFree:2=1"), OK);
        assert_eq!(cuMemFree_v2(0), OK);
        assert_eq!(cuCtxSynchronize(), 719);
        assert_eq!(cuMemFree_v2(0), 1, "the last rule decides");
        assert_eq!(cuMemFree_v2(0), 719);
    });
}

#[test]
fn the_environment_sets_rules_too() {
    in_own_process(&[("CUDA_SIM_FAULT", "cuInit:1=803,cuMemAlloc:1=2")], || {
        assert_eq!(cuInit(0), 803);
        ready(0);
        assert_eq!(cuMemAlloc_v2(&mut 0, 4), 2);
        alloc(4);
    });
}

#[test]
fn other_text_is_refused() {
    on_device(|_| {
        assert_eq!(fault("cuCtxSynchronize:1=719"), OK);
        for text in [
            "nonsense",
            "cuMemAlloc:0=2",
            "cuMemAlloc:1",
            "cuMemAlloc=2",
            "cuMemAlloc:x=2",
            "cuMemAlloc:1=1,cuMemFree:1=two",
        ] {
            assert_eq!(fault(text), 1, "{text}");
        }
        assert_eq!(cuCtxSynchronize(), 719);
    });
}

#[test]
fn calls_are_counted_with_and_without_version() {
    on_device(|_| {
        let all = calls("*");
        let p = alloc(4);
        assert_eq!(cuMemFree_v2(p), OK);
        assert_eq!(cuMemFree_v2(p), 1);
        assert_eq!((calls("cuMemFree"), calls("cuMemFree_v2")), (2, 2));
        assert_eq!((calls("*") - all, calls("cuNothing")), (3, 0));
    });
}

#[test]
fn all_counts_are_written_at_once_as_far_as_there_is_room() {
    on_device(|_| {
        alloc(4);
        alloc(4);
        let written = |size: usize| {
            let mut text = [b'x'; 100];
            let length = cuda_sim_call_counts(text.as_mut_ptr().cast(), size);
            let end = text.iter().position(|&byte| byte == 0);
            (length, end.map(|end| String::from_utf8(text[..end].to_vec()).unwrap()))
        };
        let all = "cuCtxPushCurrent 1\ncuDevicePrimaryCtxRetain 1\ncuInit 1\ncuMemAlloc 2\n";
        assert_eq!(written(100), (all.len(), Some(all.to_owned())));
        assert_eq!(written(8), (all.len(), Some("cuCtxPu".to_owned())));
        assert_eq!(written(0), (all.len(), None));
    });
}
