//! Kernels, and what a faulty one does to its context.

use std::ptr;

use crate::common::process::*;
use crate::common::*;

const NOT_SUPPORTED: i32 = 801;
const ILLEGAL_ADDRESS: i32 = 700;
const MISALIGNED_ADDRESS: i32 = 716;
const LAUNCH_FAILED: i32 = 719;

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
    let kernel = compiled("copy", COPY);
    let arguments = [ptr::from_ref(&to), ptr::from_ref(&from)];
    let arguments = arguments.as_ptr();
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
        assert_eq!(read(host, 64), Ok(bytes[8..64].iter().copied().chain([0xA5; 8]).collect()));
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
            end_context();
        }
    });
}

/// Launches 64 threads, of which those below 40 have a true `%p`.
fn part(body: &str) -> i32 {
    let head = ".reg .pred %p; .reg .b32 %t; mov.u32 %t, %tid.x; setp.lt.u32 %p, %t, 40;";
    let kernel = compiled("parting", &format!("() {{ {head} {body} }}"));
    assert_eq!(cuLaunchKernel(kernel, 2, 1, 1, 64, 1, 1, 0, 0, ptr::null(), ptr::null()), OK);
    cuCtxSynchronize()
}

#[test]
fn threads_part_and_meet() {
    in_own_process(&[], || {
        for (body, expected) in [
            ("@%p bra THEN; add.u32 %t, %t, 1; THEN: bar.sync 0; ret;", OK),
            ("@%p ret; bar.sync 0; ret;", LAUNCH_FAILED),
            ("@%p bra X; bar.sync 0; ret; X: bar.sync 0; ret;", LAUNCH_FAILED),
            ("@%p ret; vote.sync.any.pred %p, %p, 0xffffffff;", LAUNCH_FAILED),
            ("@%p ret; ld.global.u32 %t, [%t+1];", MISALIGNED_ADDRESS),
            ("ld.global.u8 %t, [%t];", ILLEGAL_ADDRESS),
        ] {
            ready(0);
            assert_eq!(part(body), expected, "{body}");
            end_context();
        }
    });
}

#[test]
fn shifts_beyond_the_width_leave_nothing() {
    on_device(|_| {
        for shift in ["shl.b64", "shr.u64", "shl.b32", "shr.u32"] {
            let p = alloc(8);
            let body = format!(
                "(.param .u64 to) {{ .reg .b64 %to, %x; ld.param.u64 %to, [to]; mov.u64 %x, -1;
                {shift} %x, %x, 64; st.global.u64 [%to], %x; ret; }}"
            );
            assert_eq!(write(p, &[1; 8]), OK);
            assert_eq!(launch(compiled("shift", &body), 0, &[p]), OK);
            assert_eq!(read(p, 8), Ok(vec![0; 8]), "{shift}");
        }
    });
}

#[test]
fn other_kernels_are_not_run() {
    on_device(|_| {
        assert_eq!(launch(function("nothing"), 0, &[]), OK);
        for text in [
            "() { ret;",
            "() { .reg .f32 %x; sin.approx.f32 %x, %x; ret; }",
            "() { lop3.b32 %a, %a, %a, %a, 0x80; }",
            "(.param .u32 x) { ret; }",
            "(.param .align 8 .b8 x[9000]) { ret; }",
            "() { .shared .align 16 .b8 x[1000000]; ret; }",
            "() { bra THERE; }",
        ] {
            assert_eq!(launch(compiled("other", text), 0, &[]), NOT_SUPPORTED, "{text}");
        }
        assert_eq!(cuCtxSynchronize(), OK);
    });
}

#[test]
fn entries_are_found_by_their_names() {
    on_device(|_| {
        let two = module(".version 8.0\n.entry\n  a(\n.param .u64 x) {}\n.entry b {}").unwrap();
        assert!(entry(two, "a").is_ok() && entry(two, "b").is_ok());
        assert_eq!(entry(two, "x"), Err(500));
        for image in ["not a module", ".version 6.0", ".entry nothing() { ret; }"] {
            assert_eq!(module(image), Err(200), "{image}");
        }
    });
}

#[test]
fn a_module_takes_its_functions_along() {
    on_device(|_| {
        let module = module(".version 8.0\n.entry sim_sleep(.param .u64 ms) {}").unwrap();
        let kernel = entry(module, "sim_sleep").unwrap();
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
        end_context();
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
