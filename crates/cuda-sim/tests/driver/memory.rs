//! Device memory: limits, bounds, reuse of addresses, ownership by contexts.

use std::collections::VecDeque;
use std::os::unix::process::ExitStatusExt;

use crate::common::process::*;
use crate::common::*;

const SIGSEGV: i32 = 11;

#[test]
fn memory_ends_and_comes_back() {
    in_own_process(&[("CUDA_SIM_MEMORY", "64M")], || {
        ready(0);
        let mut total = 0;
        assert_eq!(cuDeviceTotalMem_v2(&mut total, 0), OK);
        assert_eq!((total, free_bytes()), (64 * MIB, 64 * MIB));
        let most = alloc(60 * MIB);
        let mut refused = 0;
        assert_eq!(cuMemAlloc_v2(&mut refused, 5 * MIB), 2);
        assert_eq!(refused, 0);
        let small: Vec<u64> = (1..100).map(alloc).collect();
        assert!(free_bytes() < 4 * MIB);
        for p in small.into_iter().chain([most]) {
            assert_eq!(cuMemFree_v2(p), OK);
        }
        assert_eq!(free_bytes(), 64 * MIB);
        alloc(64 * MIB);
    });
}

#[test]
fn many_allocations_use_up_neither_memory_nor_addresses() {
    in_own_process(&[("CUDA_SIM_MEMORY", "1G")], || {
        ready(0);
        let free = free_bytes();
        // Several times as much in all as the device has addresses.
        let mut live = VecDeque::new();
        for round in 0..20_000_usize {
            live.push_back(alloc(1 + (round * 7919) % (2 * MIB)));
            if live.len() > 8
                && let Some(p) = live.pop_front()
            {
                assert_eq!(cuMemFree_v2(p), OK);
            }
        }
        for p in live {
            assert_eq!(cuMemFree_v2(p), OK);
        }
        assert_eq!(free_bytes(), free);
        assert_eq!(cuda_sim_live_allocations(), 0);
    });
}

#[test]
fn memory_costs_nothing_until_written_and_nothing_once_freed() {
    on_device(|_| {
        let before = resident();
        let p = alloc(2048 * MIB);
        assert!(resident() < before + 16 * MIB);
        assert_eq!(cuMemsetD8_v2(p, 1, 256 * MIB), OK);
        assert_eq!(cuCtxSynchronize(), OK);
        assert!(resident() > before + 200 * MIB);
        assert_eq!(cuMemFree_v2(p), OK);
        assert!(resident() < before + 16 * MIB);
        // Small allocations too, block by block.
        for _ in 0..200 {
            let p = alloc(MIB);
            assert_eq!(cuMemsetD8_v2(p, 1, MIB), OK);
            assert_eq!(cuMemFree_v2(p), OK);
        }
        assert!(resident() < before + 16 * MIB);
    });
}

/// Bytes of this process's pages, shared ones included.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

#[test]
fn what_was_freed_last_comes_back_first() {
    on_device(|first| {
        for size in [64, MIB, 4 * MIB] {
            let [_, p, q, r] = [(); 4].map(|()| alloc(size));
            assert_eq!([q, p].map(|it| cuMemFree_v2(it)), [OK; 2]);
            assert_eq!([read(p, 1), read(q, 1)], [Err(1), Err(1)]);
            assert_eq!([alloc(size), alloc(size)], [p, q]);
            assert_eq!([r, q].map(|it| cuMemFree_v2(it)), [OK; 2]);
            assert_eq!([alloc(size), alloc(size)], [q, r]);
        }
        // A reset frees everything, and what comes then is where it was.
        let make = || (alloc(64), alloc(4 * MIB), alloc(4 * MIB), stream(1), stream(1), event(0));
        let seen = [(); 2].map(|()| {
            assert_eq!(cuDevicePrimaryCtxReset_v2(0), OK);
            assert_eq!(ready(0), first);
            make()
        });
        assert_eq!(seen[0], seen[1]);
    });
}

#[test]
fn a_handle_that_was_freed_last_comes_back_first() {
    on_device(|_| {
        let (s, e) = (stream(1), event(0));
        assert_eq!((cuStreamDestroy_v2(s), cuEventDestroy_v2(e)), (OK, OK));
        assert_eq!((cuStreamQuery(s), cuEventQuery(e)), (400, 400));
        assert_eq!((event(0), stream(1)), (e, s));
        let mut contexts = [0; 2];
        for context in &mut contexts {
            assert_eq!(cuCtxCreate_v2(context, 0, 0), OK);
            assert_eq!(cuCtxDestroy_v2(*context), OK);
            assert_eq!(cuCtxPushCurrent_v2(*context), 709);
        }
        assert_eq!(contexts[0], contexts[1]);
    });
}

/// The first and the last bytes: pages between the ends of a large allocation would cost memory of the host.
#[test]
fn fresh_memory_holds_what_others_have_left() {
    on_device(|_| {
        for size in [1, 1000, MIB, 3 * MIB, 64 * MIB] {
            let p = alloc(size);
            let length = size.min(64 << 10);
            assert_eq!(read(p, length), Ok(vec![0xA5; length]));
            assert_eq!(read(p + (size - length) as u64, length), Ok(vec![0xA5; length]));
        }
        // SAFETY: allocated just now.
        let first = unsafe { *(pinned(64) as *const u8) };
        assert_eq!(first, 0, "the kernel clears pages of the host");
    });
}

#[test]
fn a_copy_between_ranges_that_overlap_spoils_them() {
    on_device(|_| {
        let (p, bytes) = (alloc(64), (0..32).collect::<Vec<u8>>());
        for (to, from) in [(p, p + 8), (p + 8, p)] {
            assert_eq!(write(from, &bytes), OK);
            assert_eq!((cuMemcpyDtoD_v2(to, from, 32), cuCtxSynchronize()), (OK, OK));
            assert_ne!(read(to, 32), Ok(bytes.clone()));
        }
        assert_eq!((write(p, &bytes), cuMemcpyDtoD_v2(p + 32, p, 32)), (OK, OK));
        assert_eq!(read(p + 32, 32), Ok(bytes));
    });
}

#[test]
fn pinned_ranges_may_share_a_page_but_no_byte() {
    on_device(|_| {
        let memory = vec![0_u8; 2 * 4096];
        let start = memory.as_ptr().addr().next_multiple_of(4096);
        assert_eq!(cuMemHostRegister_v2(start + 8, 16, 0), OK);
        assert_eq!(cuMemHostRegister_v2(start + 64, 16, 0), OK);
        assert_eq!(cuMemHostRegister_v2(start + 23, 16, 0), 712);
    });
}

/// A driver pins such pages for reading only, and refuses to write there.
#[test]
fn memory_that_is_pinned_for_reading_is_not_written_to() {
    on_device(|_| {
        let memory = vec![1_u8; 2 * 4096];
        let start = memory.as_ptr().addr().next_multiple_of(4096);
        // SAFETY: whole pages, in which nobody writes until they are writable again.
        let protect = |access| unsafe { libc::mprotect(start as *mut _, 4096, access) };
        assert_eq!(protect(libc::PROT_READ), 0);
        assert_eq!(cuMemHostRegister_v2(start, 4096, 3), 1);
        assert_eq!(cuMemHostRegister_v2(start, 4096, 3 | 8), OK);
        assert_eq!(protect(libc::PROT_READ | libc::PROT_WRITE), 0);
        let (p, mut supported) = (alloc(64), 0);
        assert_eq!((cuDeviceGetAttribute(&mut supported, 113, 0), supported), (OK, 1));
        assert_eq!(cuMemcpyHtoD_v2(p, start as *const _, 64), OK);
        assert_eq!(read(p, 64), Ok(vec![1; 64]));
        assert_eq!(cuMemcpyDtoH_v2(start as *mut _, p, 64), 1);
        assert_eq!(cuMemcpyDtoHAsync_v2(start, p, 64, 0), 1);
        assert_eq!(cuMemcpyDtoD_v2(start as u64, p, 64), 1);
        assert_eq!((cuMemsetD8_v2(start as u64, 0, 64), cuCtxSynchronize()), (1, OK));
        assert_eq!(cuMemHostUnregister(start), OK);
        assert_eq!(cuMemcpyDtoH_v2(start as *mut _, p, 64), OK);
    });
}

#[test]
fn devices_need_access_to_pools_of_the_host() {
    on_device(|_| {
        // Pinned, without handles, on the host.
        let (mut pool, mut q, mut properties) = (0, 0, [0; 22]);
        properties[..3].copy_from_slice(&[1, 0, 2]);
        assert_eq!(cuMemPoolCreate(&mut pool, &properties), OK);
        assert_eq!(cuMemAllocFromPoolAsync(&mut q, 64, pool, 0), OK);
        let attribute = |number| {
            let mut value = 0;
            (cuPointerGetAttribute(&mut value, number, q), value)
        };
        let range = || cuMemGetAddressRange_v2(&mut 0, &mut 0, q);
        // The context, the kind, the host's address, the range's start and size.
        let known = || [1, 2, 4, 11, 12].map(attribute) == [0, 1, q, 0, 64].map(|it| (OK, it));
        assert!(known());
        assert_eq!((attribute(3), range()), ((1, 0), 500));
        let p = alloc(64);
        assert_eq!(cuMemcpyHtoD_v2(p, q as *const _, 64), OK);
        assert_eq!((cuMemcpyDtoD_v2(q, p, 64), cuMemsetD8_v2(q, 1, 64)), (1, 1));
        assert_eq!(cuMemPoolSetAccess(pool, &[1, 0, 3], 1), OK);
        assert!(known());
        assert_eq!((attribute(3), range()), ((OK, q), OK));
        // Kernels and fills reach it then; copies take it as host memory only.
        assert_eq!((cuMemsetD8_v2(q, 1, 64), cuCtxSynchronize()), (OK, OK));
        assert_eq!((cuMemcpyDtoD_v2(q, p, 64), cuMemcpyDtoD_v2(p, q, 64)), (1, 1));
        assert_eq!((cuMemcpyHtoD_v2(p, q as *const _, 64), read(p, 64)), (OK, Ok(vec![1; 64])));
        assert_eq!(cuMemHostGetDevicePointer_v2(&mut 0, q as usize, 0), 1);
        assert_eq!((cuMemFreeAsync(q, 0), cuCtxSynchronize(), attribute(2).0), (OK, OK, 1));
        assert_eq!(cuMemAllocFromPoolAsync(&mut 0, 64, pool + 1, 0), 1);
    });
}

#[test]
fn a_range_lies_in_one_allocation() {
    on_device(|_| {
        let (p, q) = (alloc(512), alloc(512));
        assert_eq!(p + 512, q, "they are neighbours");
        assert_eq!((write(p + 504, &[1; 8]), write(q, &[1; 8])), (OK, OK));
        assert_eq!((write(p + 504, &[1; 9]), write(p + 504, &[1; 16])), (1, 1));
        assert_eq!(cuMemsetD8_v2(p, 1, usize::MAX), 1);
    });
}

#[test]
fn the_host_cannot_touch_a_device_address() {
    on_device(|_| {
        let p = alloc(4096);
        if is_role("toucher") {
            // SAFETY: none; this process is to die of it.
            unsafe { (p as *const u8).read_volatile() };
            return;
        }
        let done = as_role("toucher").output().unwrap();
        assert_eq!(done.status.signal(), Some(SIGSEGV));
        // The simulator itself refuses it as host memory.
        assert_eq!(cuMemcpyHtoD_v2(p, p as *const _, 16), 1);
    });
}

#[test]
fn a_context_takes_its_memory_along() {
    on_device(|_| {
        let mut other = 0;
        assert_eq!(cuCtxCreate_v2(&mut other, 0, 0), OK);
        let free = free_bytes();
        alloc(4 * MIB);
        pinned(64);
        assert_eq!(cuda_sim_live_host_allocations(), 1);
        assert_eq!(cuCtxDestroy_v2(other), OK);
        assert_eq!(cuda_sim_live_host_allocations(), 0);
        assert_eq!(free_bytes(), free);
        assert_eq!(cuCtxGetApiVersion(other, &mut 0), 201);
        assert_eq!(cuCtxGetApiVersion(0x1000, &mut 0), 201);
        assert_eq!(cuCtxGetId(other, &mut 0), 709);
        assert_eq!(cuCtxDestroy_v2(other), 709);
    });
}

#[test]
fn the_last_release_ends_a_primary_context() {
    on_device(|first| {
        assert_eq!(cuda_sim_primary_retains(0), 1);
        let (p, mut id) = (alloc(64), 0);
        assert_eq!(cuCtxGetId(first, &mut id), OK);
        assert_eq!(cuDevicePrimaryCtxRelease_v2(0), OK);
        assert_eq!(cuda_sim_primary_retains(0), 0);
        assert_eq!(cuCtxSynchronize(), 709);
        assert_eq!(cuCtxPopCurrent_v2(&mut 0), OK);
        assert_eq!(cuCtxPushCurrent_v2(first), 709);
        let mut after = 0;
        // The next one has the same handle, but is another.
        assert_eq!(ready(0), first);
        assert_eq!(cuCtxGetId(first, &mut after), OK);
        assert_ne!(id, after);
        assert_eq!(read(p, 1), Err(1));
        assert_eq!(cuda_sim_primary_retains(99), -1);
    });
}

#[test]
fn devices_have_memory_of_their_own() {
    in_own_process(&[("CUDA_SIM_DEVICES", "2"), ("CUDA_SIM_MEMORY", "32M")], || {
        let first = ready(0);
        let p = alloc(20 * MIB);
        assert_eq!(cuMemsetD32_v2(p, 0x0403_0201, MIB), OK);
        let second = ready(1);
        let q = alloc(20 * MIB);
        let mut name = [0; 32];
        assert_eq!(cuDeviceGetName(&mut name, 32, 1), OK);
        assert!(name.starts_with(b"CUDA Simulator 1\0"));
        assert!(p.abs_diff(q) >= 20 * MIB as u64);
        assert_eq!(cuMemcpyPeer(q, second, p, first, 8), OK);
        assert_eq!(read(q, 8), Ok(vec![1, 2, 3, 4, 1, 2, 3, 4]));
        assert_eq!(cuCtxEnablePeerAccess(first, 0), OK);
        assert_eq!(cuCtxDisablePeerAccess(first), OK);
        assert_eq!(cuCtxDisablePeerAccess(first), 705);
    });
}

#[test]
fn a_value_that_is_not_understood_is_explained() {
    in_own_process(&[], || {
        if is_role("user") {
            return assert_eq!((cuInit(0), cuInit(0)), (1, 1));
        }
        let check = |variable, value, wanted: &str| {
            let done = as_role("user").env(variable, value).output().unwrap();
            assert_success(&done);
            let complaint = String::from_utf8_lossy(&done.stderr);
            assert!(complaint.contains(wanted), "{complaint}");
        };
        for (variable, value, wanted) in [
            ("CUDA_SIM_MEMORY", "8GiB", "a size"),
            ("CUDA_SIM_MEMORY", "0", "a size"),
            ("CUDA_SIM_MEMORY", "G", "a size"),
            ("CUDA_SIM_MEMORY", "4097G", "a size"),
            ("CUDA_SIM_MEMORY", "99999999999999999999", "a size"),
            ("CUDA_SIM_DEVICES", "65", "a number"),
            ("CUDA_SIM_LATENCY", "60000001", "a number of microseconds"),
            ("CUDA_SIM_PEERS", "maybe", "on or off"),
        ] {
            check(variable, value, &format!("{variable} is '{value}', but must be {wanted}"));
        }
        let wanted = "'cuInit' in CUDA_SIM_FAULT is not a rule";
        check("CUDA_SIM_FAULT", "cuInit:1=2,cuInit", wanted);
    });
}

#[test]
fn values_are_understood() {
    in_own_process(&[], || {
        let role = role().expect("of this process");
        if role != "main" {
            let mut total = 0;
            assert_eq!((cuInit(0), cuDeviceTotalMem_v2(&mut total, 0)), (OK, OK));
            return assert!(role == "any" || role == total.to_string(), "{role}, not {total}");
        }
        for (variable, value, bytes) in [
            ("CUDA_SIM_MEMORY", "4096", "4096"),
            ("CUDA_SIM_MEMORY", "64K", "65536"),
            ("CUDA_SIM_MEMORY", " 3m ", "3145728"),
            ("CUDA_SIM_MEMORY", "4096G", "4398046511104"),
            ("CUDA_SIM_DEVICES", "64", "any"),
            ("CUDA_SIM_LATENCY", "60000000", "any"),
            ("CUDA_SIM_PEERS", "on", "any"),
        ] {
            assert_success(&as_role(bytes).env(variable, value).output().unwrap());
        }
    });
}
