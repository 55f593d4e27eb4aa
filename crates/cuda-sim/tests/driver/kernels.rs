//! Kernels known by name, and what a faulty one does to its context.

use std::ffi::CString;

use crate::common::busy::busy;
use crate::common::process::*;
use crate::common::*;

const NOT_SUPPORTED: i32 = 801;
const ILLEGAL_ADDRESS: i32 = 700;
const MISALIGNED_ADDRESS: i32 = 716;

const TICKET: u64 = 7;

fn differ(left: u64, right: u64, size: u64) -> bool {
    let found = alloc(8);
    let answer = pinned(8) as u64;
    assert_eq!(cuMemsetD8_v2(found, 0, 8), OK);
    assert_eq!(write(answer, &[0; 8]), OK);
    // However the bytes are cut up.
    let (vectors, tail) = (size / 32, size / 4);
    let head = size - vectors * 16 - tail;
    let kernel = function("arrow_cuda_differs");
    let arguments = [left, right, head, vectors, tail, found, answer, TICKET];
    assert_eq!(launch(kernel, 0, &arguments), OK);
    let seen = read(found, 8).expect("the kernel ran");
    assert_eq!(read(answer, 8).as_ref(), Ok(&seen), "both words say the same");
    assert_eq!(cuMemFree_v2(found), OK);
    assert!([0, TICKET].map(u64::to_ne_bytes).iter().any(|word| seen == word));
    seen == TICKET.to_ne_bytes()
}

#[test]
fn differs_compares_any_bytes() {
    in_own_process(&[], || {
        ready(0);
        let (left, right) = (alloc(1000), alloc(1000));
        assert_eq!(cuMemsetD8_v2(left, 5, 1000), OK);
        assert_eq!(cuMemsetD8_v2(right, 5, 1000), OK);
        assert!(!differ(left, right, 1000));
        assert!(!differ(left + 1, right + 3, 997));
        assert!(!differ(0, 0, 0));
        assert_eq!(write(right + 999, &[6]), OK);
        assert!(differ(left, right, 1000));
        assert!(!differ(left, right, 999));
        assert!(differ(left + 999, right + 999, 1));
        let host = pinned(16);
        assert!(differ(left, host as u64, 16));
    });
}

/// Launches a kernel that copies words between layouts, with `[length, to, from]` for each dimension.
fn copy_strided(name: &str, to: u64, from: u64, word: u64, dimensions: &[[i64; 3]]) -> i32 {
    // How the work is divided, the simulator does not read.
    let mut parameter = vec![to, from, word << 32 | 99, dimensions.len() as u64];
    for [length, to, from] in dimensions {
        parameter.extend([*to as u64, *from as u64, 99, (*length as u64) << 32 | 99]);
    }
    assert_eq!(launch(function(name), 0, &parameter), OK);
    cuCtxSynchronize()
}

#[test]
fn words_are_copied_between_layouts() {
    in_own_process(&[], || {
        ready(0);
        let (to, from) = (alloc(64), alloc(64));
        assert_eq!(cuMemsetD8_v2(to, b'-', 64), OK);
        assert_eq!(write(from, b"abcdefghijkl"), OK);
        let transpose = [[3, 2, 4], [2, 6, 2]];
        assert_eq!(copy_strided("arrow_cuda_transposed", to, from, 2, &transpose), OK);
        assert_eq!(read(to, 14).as_deref(), Ok(&b"abefijcdghkl--"[..]));
        assert_eq!(copy_strided("arrow_cuda_strided", to + 3, from + 2, 1, &[[4, -1, 0]]), OK);
        assert_eq!(read(to, 6).as_deref(), Ok(&b"ccccij"[..]));
        assert_eq!(copy_strided("arrow_cuda_strided", to, from, 16, &[[0, 16, 16]]), OK);
        assert_eq!(read(to, 6).as_deref(), Ok(&b"ccccij"[..]));
    });
}

#[test]
fn words_outside_or_misaligned_end_the_context() {
    in_own_process(&[], || {
        for (expected, [to, from], word, dimension) in [
            (OK, [0, 0], 4, [16, 4, 0]),
            (ILLEGAL_ADDRESS, [0, 0], 4, [17, 4, 0]),
            (ILLEGAL_ADDRESS, [4, 0], 4, [3, -4, 4]),
            (ILLEGAL_ADDRESS, [0, 60], 4, [2, 4, 4]),
            (ILLEGAL_ADDRESS, [0, 0], 4, [3, i64::MAX - 3, 0]),
            (MISALIGNED_ADDRESS, [2, 0], 4, [2, 4, 4]),
            (MISALIGNED_ADDRESS, [0, 4], 8, [2, 8, 8]),
            (MISALIGNED_ADDRESS, [0, 0], 4, [2, 4, -6]),
        ] {
            ready(0);
            let (to, from) = (alloc(64) + to, alloc(64) + from);
            assert_eq!(copy_strided("arrow_cuda_strided", to, from, word, &[dimension]), expected);
            assert_eq!(cuCtxPopCurrent_v2(&mut 0), OK);
            assert_eq!(cuDevicePrimaryCtxRelease_v2(0), OK);
        }
    });
}

#[test]
fn an_unknown_kernel_is_not_run() {
    in_own_process(&[], || {
        ready(0);
        assert_eq!(launch(function("nothing"), 0, &[]), NOT_SUPPORTED);
        assert_eq!(cuCtxSynchronize(), OK);
    });
}

#[test]
fn a_module_takes_its_functions_along() {
    in_own_process(&[], || {
        ready(0);
        let image = CString::new(".version 8.0\n.entry sim_sleep(.param .u64 ms) {}").unwrap();
        let (mut module, mut kernel) = (0, 0);
        assert_eq!(cuModuleLoadData(&mut module, image.as_ptr()), OK);
        let name = c"sim_sleep".as_ptr();
        assert_eq!(cuModuleGetFunction(&mut kernel, module, name), OK);
        assert_eq!(launch(kernel, 0, &[0]), OK);
        assert_eq!(cuModuleUnload(module), OK);
        assert_eq!(launch(kernel, 0, &[0]), 400);
        assert_eq!(cuModuleUnload(module), 400);
    });
}

#[test]
fn an_access_outside_ends_the_context() {
    in_own_process(&[], || {
        ready(0);
        let (p, q, word, keep) = (alloc(1000), alloc(1000), alloc(8), alloc(4));
        let kernel = function("arrow_cuda_differs");
        assert_eq!(launch(kernel, 0, &[p, q, 1, 62, 8, word, word, TICKET]), OK);
        assert_eq!(cuCtxSynchronize(), ILLEGAL_ADDRESS);
        // For good: each later call that uses the context fails.
        assert_eq!(cuMemAlloc_v2(&mut 0, 16), ILLEGAL_ADDRESS);
        assert_eq!(read(keep, 4), Err(ILLEGAL_ADDRESS));
        assert_eq!(cuMemFree_v2(keep), ILLEGAL_ADDRESS);
        assert_eq!(cuStreamSynchronize(0), ILLEGAL_ADDRESS);
        // Ending it takes the memory along, and a new one works.
        assert_eq!(cuCtxPopCurrent_v2(&mut 0), OK);
        assert_eq!(cuDevicePrimaryCtxRelease_v2(0), OK);
        assert_eq!(cuda_sim_live_allocations(), 0);
        ready(0);
        let p = alloc(4);
        assert_eq!(write(p, &[1]), OK);
    });
}

#[test]
fn another_devices_memory_needs_peer_access() {
    in_own_process(&[("CUDA_SIM_DEVICES", "2")], || {
        let first = ready(0);
        let (p, q) = (alloc(16), alloc(16));
        ready(1);
        assert_eq!(cuCtxEnablePeerAccess(first, 0), OK);
        assert!(!differ(p, q, 16));
        assert_eq!(cuCtxDisablePeerAccess(first), OK);
        let word = alloc(8);
        let kernel = function("arrow_cuda_differs");
        assert_eq!(launch(kernel, 0, &[p, q, 16, 0, 0, word, word, TICKET]), OK);
        assert_eq!(cuCtxSynchronize(), ILLEGAL_ADDRESS);
    });
}

#[test]
fn freeing_does_not_wait_for_a_kernel_of_another_device() {
    in_own_process(&[("CUDA_SIM_DEVICES", "2")], || {
        let first = ready(0);
        let p = alloc(16);
        ready(1);
        assert_eq!(cuCtxEnablePeerAccess(first, 0), OK);
        let (q, word, s) = (alloc(16), alloc(8), stream(1));
        let kernel = function("arrow_cuda_differs");
        let work = busy(s);
        assert_eq!(launch(kernel, s, &[p, q, 16, 0, 0, word, word, TICKET]), OK);
        assert_eq!(cuMemFree_v2(p), OK);
        work.release();
        assert_eq!(cuCtxSynchronize(), ILLEGAL_ADDRESS);
    });
}

#[test]
fn devices_may_be_unable_to_be_peers() {
    in_own_process(&[("CUDA_SIM_DEVICES", "2"), ("CUDA_SIM_PEERS", "off")], || {
        let first = ready(0);
        let p = alloc(16);
        assert_eq!(write(p, &[7; 16]), OK);
        let second = ready(1);
        let mut can = 7;
        assert_eq!((cuDeviceCanAccessPeer(&mut can, 0, 1), can), (OK, 0));
        assert_eq!(cuCtxEnablePeerAccess(first, 0), 217);
        let q = alloc(16);
        assert_eq!(cuMemcpyPeer(q, second, p, first, 16), OK, "by way of the host");
        assert_eq!(read(q, 16), Ok(vec![7; 16]));
    });
}
