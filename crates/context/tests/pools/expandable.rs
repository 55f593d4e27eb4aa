//! Expandable segments: blocks that lie in chunks, which are mapped where they are needed.

use super::common::second_device;
use super::simulator::{fault, live, with_settings};
use super::{Device, MIB, alone};
use arrow_cuda_context::{
    Block, Context, Placement, block_at, is_in_expandable_segment, is_released,
    set_expandable_segments,
};
use arrow_cuda_driver::CudaResult;
use std::sync::MutexGuard;

/// Expandable segments are on until this is dropped.
struct On;

impl Drop for On {
    fn drop(&mut self) {
        set_expandable_segments(false);
    }
}

/// The segments are off again before the next test begins.
fn expanded() -> (MutexGuard<'static, ()>, Context, On) {
    let (guard, context) = alone();
    set_expandable_segments(true);
    (guard, context, On)
}

fn allocate(context: &Context, mebibytes: u64) -> CudaResult<Block> {
    context.allocate(mebibytes * MIB, Placement::Alone)
}

fn fill(block: &Block, value: u8) {
    let current = block.context().enter().expect("alive");
    let size = block.size() as usize;
    // SAFETY: the whole block.
    unsafe { current.fill_memory(block.private_address(), value, size) }.expect("alive");
}

fn check(block: &Block, value: u8) {
    let (current, mut seen) =
        (block.context().enter().expect("alive"), vec![0; block.size() as usize]);
    // SAFETY: the whole block, and as many bytes.
    unsafe { current.copy_to_host(seen.as_mut_ptr(), block.private_address(), seen.len()) }
        .expect("alive");
    assert!(seen.iter().all(|byte| *byte == value), "somebody else has written there");
}

#[test]
fn blocks_keep_their_bytes_while_chunks_move() {
    let (_guard, context, _on) = expanded();
    let before = (Device.stats(&context).reserved_bytes, context.free_memory().expect("alive"));
    let mut alive: Vec<(Block, u8)> = Vec::new();
    for number in 0u64..150 {
        let size = 2 + number * 7919 % 37;
        let block = allocate(&context, size).expect("room");
        assert!(is_in_expandable_segment(block.private_address()));
        fill(&block, number as u8);
        if number % 3 == 0 {
            block.expose();
        }
        alive.push((block, number as u8));
        if alive.len() > 8 {
            let (block, value) = alive.swap_remove((number * 31 % 9) as usize);
            check(&block, value);
        }
    }
    alive.iter().for_each(|(block, value)| check(block, *value));
    let stats = Device.stats(&context);
    assert!(stats.peak_reserved_bytes - before.0 < stats.peak_allocated_bytes / 8 * 9, "{stats:?}");
    let last = alive[0].0.private_address() + alive[0].0.size() - 1;
    assert_eq!(block_at(last, last), Some((alive[0].0.private_address(), alive[0].0.size())));
    drop(alive);
    assert!(is_released(last));
    Device.empty(&context);
    assert_eq!(Device.stats(&context).reserved_bytes, before.0);
    assert_eq!(context.free_memory().expect("alive"), before.1);
}

#[test]
fn a_limit_returns_free_chunks_beside_blocks_in_use() {
    let (_guard, context, _on) = expanded();
    let blocks = [(); 3].map(|()| allocate(&context, 16).expect("room"));
    fill(&blocks[1], 7);
    let [first, _kept, last] = blocks;
    drop((first, last));
    assert_eq!(Device.stats(&context).cached_bytes, 32 * MIB);
    Device.set_limit(&context, 5 * MIB);
    assert!(Device.stats(&context).cached_bytes <= 5 * MIB);
    check(&_kept, 7);
}

#[test]
fn what_was_allocated_before_lives_on_and_nobody_gets_chunks_afterwards() {
    let (_guard, context, on) = expanded();
    let first = allocate(&context, 16).expect("room");
    drop((allocate(&context, 16).expect("room"), on));
    let second = allocate(&context, 16).expect("room");
    assert!(!is_in_expandable_segment(second.private_address()), "it can be exported");
    fill(&first, 3);
    check(&first, 3);
    assert!(!first.shares_segment(&second));
}

#[test]
fn a_device_without_virtual_memory_management_is_named() {
    with_settings(
        &[("CUDA_SIM_CHUNKS", "off"), ("PYARROW_CUDA_EXPANDABLE_SEGMENTS", "on")],
        || {
            let (_guard, context) = alone();
            let error = allocate(&context, 2).expect_err("no such memory");
            assert_eq!(error.code(), Some(801));
            assert!(
                error.to_string().contains("device 0 has no virtual memory management"),
                "{error}"
            );
            drop(context.allocate(100, Placement::Alone).expect("small blocks need none"));
        },
    );
}

#[test]
fn peers_reach_what_is_mapped_before_and_after_they_are_found() {
    with_settings(&[("CUDA_SIM_DEVICES", "2")], || {
        let (_guard, context, _on) = expanded();
        let other = second_device().expect("two of them");
        let reaches = |block: &Block| {
            let current = other.enter().expect("alive");
            current.device_address(block.private_address()).expect("alive").is_some()
        };
        let [first, theirs] = [&context, &other].map(|it| allocate(it, 6).expect("room"));
        assert!(!reaches(&first));
        let current = context.enter().expect("alive");
        let to = (theirs.private_address(), &other);
        // SAFETY: two blocks of that size.
        unsafe { current.copy_to_context(to, first.private_address(), 6 << 20) }.expect("alive");
        assert!(reaches(&first) && reaches(&allocate(&context, 40).expect("room")));
    });
}

#[test]
fn a_small_copy_into_a_released_block_ends_before_its_chunk_moves() {
    with_settings(&[("CUDA_SIM_LATENCY", "50000")], || {
        let (_guard, context, _on) = expanded();
        let [first, second] = [4, 6].map(|size| allocate(&context, size).expect("room"));
        let current = context.enter().expect("alive");
        let data = [5u8; 100];
        let to = first.private_address();
        // SAFETY: within the block; the data is read before the call returns.
        let is_left = unsafe { current.copy_into_private(&first, to, data.as_ptr(), 100) };
        assert!(is_left.expect("alive"), "the device still has to make the copy");
        drop(first);
        let _moved = allocate(&context, 10).expect("room");
        assert!(is_released(to), "its chunks are elsewhere");
        context.synchronize().expect("the copy had its memory");
        drop(second);
    });
}

#[test]
fn caches_make_room_for_chunks() {
    with_settings(&[], || {
        let (_guard, context, _on) = expanded();
        let _between =
            [8, 2].map(|size| allocate(&context, size).expect("room")).into_iter().next_back();
        let before = Device.stats(&context);
        assert_eq!(before.cached_bytes, 8 * MIB);
        fault("cuMemCreate:1=2");
        let _block = allocate(&context, 30).expect("room");
        fault("");
        let after = Device.stats(&context);
        assert_eq!(after.out_of_memory_retries, before.out_of_memory_retries + 1);
        assert_eq!(after.cache_hits, before.cache_hits, "the driver has served it");
        assert_eq!((after.cached_bytes, after.reserved_bytes), (0, 32 * MIB));
    });
}

/// Creates chunks, moves some, and gives all back.
fn work(context: &Context) -> CudaResult<()> {
    let [first, second, third] = [4, 6, 4].map(|size| allocate(context, size));
    let kept = (second?, drop((first?, third?)));
    drop((allocate(context, 10)?, kept));
    context.cache().empty().map(drop)
}

/// The functions that map chunks, and how often `work` calls each at least.
const CALLS: [(&str, u64); 7] = [
    ("cuMemAddressReserve", 1),
    ("cuMemGetAllocationGranularity", 1),
    ("cuMemCreate", 8),
    ("cuMemMap", 10),
    ("cuMemSetAccess", 4),
    ("cuMemUnmap", 10),
    ("cuMemRelease", 8),
];

#[test]
fn a_call_that_fails_leaves_nothing_behind() {
    with_settings(&[], || {
        let (_guard, context, _on) = expanded();
        let device = context.device();
        for (function, times) in CALLS {
            for (nth, code) in (1..=times + 2).flat_map(|nth| [(nth, 2), (nth, 999)]) {
                // SAFETY: nobody else uses it.
                unsafe { device.reset() }.expect("a device");
                let chunks = || live(c"cuda_sim_live_allocations");
                let before = chunks();
                let context = Context::primary(0).expect("a device");
                fault(&format!("{function}:{nth}={code}"));
                let outcome = work(&context);
                fault("");
                // Memory that has run out is found elsewhere.
                assert!(outcome.is_err() || nth > times || code == 2, "{function} {nth}");
                work(&context).expect("the pool works on");
                let stats = context.cache().stats().expect("alive");
                assert_eq!((stats.allocated_bytes, stats.cached_bytes), (0, 0), "{function} {nth}");
                let may_keep = matches!(function, "cuMemUnmap" | "cuMemRelease");
                assert!(stats.reserved_bytes == 0 || may_keep, "{function} {nth}: {stats:?}");
                // SAFETY: nobody else uses it.
                unsafe { device.reset() }.expect("a device");
                Context::primary(0).expect("a device").synchronize().expect("alive");
                assert_eq!(chunks(), before, "{function} {nth}: chunks are lost");
            }
        }
    });
}
