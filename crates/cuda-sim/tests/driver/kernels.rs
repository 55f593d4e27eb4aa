//! Kernels, and what a faulty one does to its context.

use std::ffi::CString;
use std::ptr;

use crate::common::busy::busy;
use crate::common::process::*;
use crate::common::*;

const NOT_SUPPORTED: i32 = 801;
const ILLEGAL_ADDRESS: i32 = 700;
const MISALIGNED_ADDRESS: i32 = 716;

/// Each thread copies the word of 8 bytes of its number.
const COPY: &str = "(.param .u64 to, .param .u64 from)
{
    .reg .b32 %thread, %block, %number;
    .reg .b64 %to, %from, %offset, %word;
    ld.param.u64 %to, [to];
    ld.param.u64 %from, [from];
    mov.u32 %thread, %tid.x;
    mov.u32 %block, %ctaid.x;
    mad.lo.u32 %number, %block, 4, %thread;
    mul.wide.u32 %offset, %number, 8;
    add.u64 %to, %to, %offset;
    add.u64 %from, %from, %offset;
    ld.global.u64 %word, [%from];
    st.global.u64 [%to], %word;
    ret;
}";

/// Queues copies of words by one thread each, in blocks of four.
fn copy(stream: Handle, to: u64, from: u64, blocks: u32) -> i32 {
    let arguments = [ptr::from_ref(&to), ptr::from_ref(&from)];
    let arguments = arguments.as_ptr();
    let kernel = compiled("copy", COPY);
    cuLaunchKernel(kernel, blocks, 1, 1, 4, 1, 1, 0, stream, arguments, ptr::null())
}

#[test]
fn threads_copy_between_devices_and_the_host() {
    on_device(|_| {
        let (p, host) = (alloc(96), pinned(96) as u64);
        let bytes: Vec<u8> = (0..96).collect();
        assert_eq!(write(host, &bytes), OK);
        assert_eq!(copy(0, p, host, 2), OK);
        assert_eq!(read(p, 64), Ok(bytes[..64].to_vec()));
        assert_eq!(copy(0, host, p + 8, 2), OK);
        assert_eq!(cuCtxSynchronize(), OK);
        assert_eq!(read(host, 64), Ok(bytes[8..64].iter().copied().chain([0; 8]).collect()));
    });
}

#[test]
fn words_outside_or_misaligned_end_the_context() {
    in_own_process(&[], || {
        for (expected, [to, from]) in [
            (OK, [0, 32]),
            (ILLEGAL_ADDRESS, [40, 0]),
            (ILLEGAL_ADDRESS, [0, 40]),
            (ILLEGAL_ADDRESS, [64, 0]),
            (MISALIGNED_ADDRESS, [4, 0]),
            (MISALIGNED_ADDRESS, [0, 1]),
        ] {
            ready(0);
            let (p, q) = (alloc(64), alloc(64));
            assert_eq!(copy(0, p + to, q + from, 1), OK);
            assert_eq!(cuCtxSynchronize(), expected);
            assert_eq!(cuCtxPopCurrent_v2(&mut 0), OK);
            assert_eq!(cuDevicePrimaryCtxRelease_v2(0), OK);
        }
    });
}

#[test]
fn a_kernel_of_unknown_instructions_is_not_run() {
    on_device(|_| {
        assert_eq!(launch(function("nothing"), 0, &[]), OK);
        let unknown = compiled("unknown", "() { .reg .f32 %x; sin.approx.f32 %x, %x; ret; }");
        assert_eq!(launch(unknown, 0, &[]), NOT_SUPPORTED);
        assert_eq!(cuCtxSynchronize(), OK);
    });
}

#[test]
fn a_module_takes_its_functions_along() {
    on_device(|_| {
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
    on_device(|_| {
        let (p, q, keep) = (alloc(64), alloc(24), alloc(4));
        assert_eq!(copy(0, p, q, 1), OK);
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
        let (p, q) = (alloc(32), alloc(32));
        ready(1);
        assert_eq!(cuCtxEnablePeerAccess(first, 0), OK);
        assert_eq!((copy(0, p, q, 1), cuCtxSynchronize()), (OK, OK));
        assert_eq!(cuCtxDisablePeerAccess(first), OK);
        assert_eq!(copy(0, p, q, 1), OK);
        assert_eq!(cuCtxSynchronize(), ILLEGAL_ADDRESS);
    });
}

#[test]
fn freeing_does_not_wait_for_a_kernel_of_another_device() {
    in_own_process(&[("CUDA_SIM_DEVICES", "2")], || {
        let first = ready(0);
        let p = alloc(32);
        ready(1);
        assert_eq!(cuCtxEnablePeerAccess(first, 0), OK);
        let (q, s) = (alloc(32), stream(1));
        let work = busy(s);
        assert_eq!(copy(s, q, p, 1), OK);
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
