//! Released memory: when it is reused, by which requests, and how it goes back to the driver.  The same
//! tests run over every source of memory.

#![allow(clippy::disallowed_macros, reason = "sets up what the crate must not do itself")]

#[path = "../common/mod.rs"]
mod common;
mod device;
mod faults;
mod host_pool;
mod pinned;
#[path = "../../../driver/tests/common/simulator.rs"]
mod simulator;

use arrow_cuda_context::{
    Block, Cache, Context, HostPool, MemoryStats, Placement, Ready, Stream, block_at, is_released,
};
use arrow_cuda_driver::CudaResult;
use common::{Gate, destroy, their_context};
use rstest::rstest;
use std::collections::{BTreeMap, BTreeSet};
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

const MIB: u64 = 1 << 20;
/// Blocks of this size have segments of their own.
const LARGE: u64 = 32 * MIB;

/// The whole process shares the caches: one test at a time, each with empty ones.
fn alone() -> (MutexGuard<'static, ()>, Context) {
    let (guard, context) = common::alone();
    context.cache().empty().expect("alive");
    Cache::Pinned.empty().expect("alive");
    context.cache().set_limit(512 * MIB).expect("alive");
    Cache::Pinned.set_limit(512 * MIB).expect("alive");
    (guard, context)
}

/// A source of memory.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    Device,
    Pinned,
    Pages,
}
use Source::{Device, Pages, Pinned};

/// An allocation, which goes back when it is dropped.
enum Held {
    Block(Block),
    OfPool(&'static HostPool, NonNull<u8>),
}

// SAFETY: plain memory, whoever releases it.
unsafe impl Send for Held {}

impl Held {
    /// Its address; afterwards only this test knows it.
    fn private_address(&self) -> u64 {
        match self {
            Self::Block(block) => block.private_address(),
            Self::OfPool(_, start) => start.addr().get() as u64,
        }
    }

    /// Its address, which others may have from now on.
    fn address(&self) -> u64 {
        match self {
            Self::Block(block) => block.address(&Ready::by_caller()),
            Self::OfPool(..) => self.private_address(),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Self::OfPool(pool, start) = self {
            // SAFETY: allocated below, and released once.
            unsafe { pool.release(*start) };
        }
    }
}

impl Source {
    fn try_allocate(self, context: &Context, size: u64) -> CudaResult<Held> {
        Ok(match self {
            Device => Held::Block(Block::allocate(context, size, Placement::Packed)?),
            Pinned => Held::Block(Block::allocate_pinned(context, size as usize)?),
            Pages => {
                let pool = HostPool::of(context);
                Held::OfPool(pool, pool.allocate(size as usize, 64)?)
            }
        })
    }

    fn allocate(self, context: &Context, size: u64) -> Held {
        self.try_allocate(context, size).expect("room")
    }

    /// Allocates and releases memory whose address somebody else has.  Returns the address.
    fn expose(self, context: &Context, size: u64) -> u64 {
        self.allocate(context, size).address()
    }

    fn cache(self, context: &Context) -> Cache<'_> {
        match self {
            Device => context.cache(),
            Pinned | Pages => Cache::Pinned,
        }
    }

    fn stats(self, context: &Context) -> MemoryStats {
        self.cache(context).stats().expect("alive")
    }

    fn set_limit(self, context: &Context, bytes: u64) {
        self.cache(context).set_limit(bytes).expect("alive");
    }

    fn empty(self, context: &Context) -> u64 {
        self.cache(context).empty().expect("alive")
    }
}

/// The pool of pages has another thread free what exceeds the limit.
fn await_that(is_so: impl Fn() -> bool) {
    while !is_so() {
        thread::yield_now();
    }
}

#[rstest]
fn released_memory_is_reused(#[values(Device, Pinned, Pages)] source: Source) {
    let (_guard, context) = alone();
    let before = source.stats(&context);
    let block = source.allocate(&context, 64 * MIB);
    let address = block.address();
    assert!(!is_released(address));
    assert_eq!(block_at(address + 5, address), Some((address, 64 * MIB)));
    drop(block);
    assert!(is_released(address) && is_released(address + 64 * MIB - 1));
    assert_eq!(block_at(address, address), None);
    let cached = source.stats(&context);
    assert_eq!((cached.cached_bytes, cached.cached_blocks), (64 * MIB, 1));
    for _ in 0..100 {
        // A slightly smaller request reuses the same block.
        let block = source.allocate(&context, 63 * MIB + 5);
        assert_eq!(block.address(), address);
        assert!(!is_released(address));
    }
    let after = source.stats(&context);
    assert_eq!(after.driver_allocations - before.driver_allocations, 1);
    assert_eq!(after.cache_hits - before.cache_hits, 100);
    assert_eq!(after.cache_misses - before.cache_misses, 1);
    assert!(after.peak_allocated_bytes >= 64 * MIB && after.peak_reserved_bytes >= 64 * MIB);
    assert_eq!(source.empty(&context), 64 * MIB);
    assert!(!is_released(address), "the driver has freed it");
    let after = source.stats(&context);
    assert_eq!((after.cached_bytes, after.cached_blocks), (0, 0));
    assert_eq!(after.reserved_bytes, before.reserved_bytes);
}

#[rstest]
fn small_blocks_share_segments_and_merge(#[values(Device, Pinned, Pages)] source: Source) {
    let (_guard, context) = alone();
    let before = source.stats(&context);
    let many: Vec<_> = (0..1000).map(|_| source.allocate(&context, 1000)).collect();
    let addresses: BTreeSet<_> = many.iter().map(Held::address).collect();
    assert_eq!(addresses.len(), many.len());
    assert_eq!(source.stats(&context).reserved_bytes - before.reserved_bytes, 2 * MIB);
    drop(many);
    context.synchronize().expect("alive");
    assert_eq!(source.stats(&context).cached_bytes, 2 * MIB);
    drop(source.allocate(&context, MIB));
    assert_eq!(source.stats(&context).reserved_bytes - before.reserved_bytes, 2 * MIB, "merged");
}

#[rstest]
fn private_memory_is_reused_at_once(#[values(Device, Pinned)] source: Source) {
    let (_guard, context) = alone();
    let before = source.stats(&context);
    let gate = Gate::on_default_stream(&context);
    let mut addresses = (0..100).map(|_| source.allocate(&context, LARGE).private_address());
    let first = addresses.next().expect("one");
    assert!(addresses.all(|address| address == first));
    assert_eq!(source.stats(&context).driver_allocations - before.driver_allocations, 1);
    gate.open();
}

/// Exposed memory is not reused while a stream is busy that was so at its release, and is afterwards.
fn assert_waits_for(source: Source, stream: &Stream, context: &Context) {
    let block = source.allocate(context, LARGE);
    let gate = Gate::on(stream);
    let address = block.address();
    drop(block);
    let other = gate.beside(|| source.allocate(context, LARGE));
    assert_ne!(other.private_address(), address);
    assert!(is_released(address), "cached nevertheless");
    gate.open();
    drop(stream.synchronize().expect("alive"));
    assert_eq!(source.allocate(context, LARGE).private_address(), address);
    drop(other);
    source.empty(context);
}

#[rstest]
fn exposed_memory_waits_for_all_streams(
    #[values(Device, Pinned, Pages)] source: Source,
    #[values(0, 1)] flags: u32,
) {
    let (_guard, context) = alone();
    let stream = Stream::with_flags(&context, flags).expect("room");
    assert_waits_for(source, &stream, &context);
    assert_waits_for(source, &Stream::default_of(&context), &context);
}

#[rstest]
fn exposed_memory_waits_for_contexts_of_other_libraries(
    #[values(Device, Pinned, Pages)] source: Source,
) {
    let (_guard, context) = alone();
    let (theirs, handle) = their_context();
    assert_waits_for(source, &Stream::non_blocking(&theirs).expect("room"), &context);
    destroy(handle);
}

#[rstest]
fn the_cache_respects_its_limit(#[values(Device, Pinned, Pages)] source: Source) {
    let (_guard, context) = alone();
    source.set_limit(&context, 2 * LARGE);
    let blocks: Vec<_> = (0..4).map(|_| source.allocate(&context, LARGE)).collect();
    let addresses: Vec<_> = blocks.iter().map(Held::address).collect();
    let before = source.stats(&context).driver_frees;
    drop(blocks);
    await_that(|| source.stats(&context).driver_frees - before >= 2);
    let still_cached: Vec<_> = addresses.iter().map(|at| is_released(*at)).collect();
    assert_eq!(still_cached, [false, false, true, true], "the first released are evicted first");
    source.set_limit(&context, LARGE + 5);
    let stats = source.stats(&context);
    assert_eq!((stats.cached_bytes, stats.cache_limit), (LARGE, LARGE + 5));
    source.set_limit(&context, 0);
    let before = source.stats(&context).driver_frees;
    drop(source.allocate(&context, LARGE));
    await_that(|| source.stats(&context).driver_frees > before);
    assert_eq!(source.stats(&context).cached_bytes, 0);
}

#[test]
fn the_pools_of_pinned_memory_share_a_limit() {
    let (_guard, context) = alone();
    Cache::Pinned.set_limit(2 * LARGE).expect("alive");
    let before = Pinned.stats(&context).reserved_bytes;
    let (pinned, pages) = ([(); 2].map(|()| Pinned.allocate(&context, LARGE)), Pages);
    let pages = [(); 2].map(|()| pages.allocate(&context, LARGE));
    drop(pinned);
    assert_eq!(Pinned.stats(&context).cached_bytes, 2 * LARGE);
    drop(pages);
    await_that(|| Pinned.stats(&context).cached_bytes <= 2 * LARGE);
    let stats = Pinned.stats(&context);
    assert_eq!((stats.allocated_bytes, stats.reserved_bytes - before), (0, stats.cached_bytes));
}

#[rstest]
fn memory_in_flight_does_not_grow_without_bound(#[values(Device, Pinned)] source: Source) {
    let (_guard, context) = alone();
    source.set_limit(&context, 3 * LARGE);
    let before = source.stats(&context).reserved_bytes;
    let gate = Gate::on_default_stream(&context);
    let opener = gate.open_after(Duration::from_millis(30));
    for _ in 0..50 {
        source.expose(&context, LARGE);
    }
    assert!(source.stats(&context).reserved_bytes - before <= 6 * LARGE, "it was waited for");
    opener.join().expect("no panic");
}

#[rstest]
fn threads_share_the_cache(#[values(Device, Pinned, Pages)] source: Source) {
    let (_guard, context) = alone();
    let before = source.stats(&context);
    let in_use = Mutex::new(BTreeMap::<u64, u64>::new());
    let work = |seed: u64| {
        let mut held: Vec<Held> = Vec::new();
        let release = |block: Held| {
            assert!(in_use.lock().expect("no panic").remove(&block.private_address()).is_some());
        };
        for step in 0..500u64 {
            let draw = (step + 1).wrapping_mul(seed * 2 + 0x9e37_79b9_7f4a_7c15) >> 40;
            if held.len() > 8 || draw.is_multiple_of(3) && !held.is_empty() {
                release(held.swap_remove(draw as usize % held.len()));
            } else {
                let size = [draw % 5000, draw % (3 * MIB), draw % (20 * MIB)];
                let size = size[(draw % 3) as usize] + 1;
                let block = source.allocate(&context, size);
                if draw % 7 == 0 {
                    block.address();
                }
                let at = block.private_address();
                let mut in_use = in_use.lock().expect("no panic");
                let before = in_use.range(..at + size).next_back();
                assert!(before.is_none_or(|(start, size)| start + size <= at), "handed out twice");
                in_use.insert(at, size);
                drop(in_use);
                held.push(block);
            }
            if step % 200 == seed {
                source.empty(&context);
            }
        }
        held.into_iter().for_each(release);
    };
    thread::scope(|scope| (0..4).for_each(|seed| drop(scope.spawn(move || work(seed)))));
    source.empty(&context);
    let after = source.stats(&context);
    assert_eq!(after.allocated_bytes, before.allocated_bytes);
    assert_eq!(after.reserved_bytes, before.reserved_bytes);
    let allocations = after.driver_allocations - before.driver_allocations;
    assert_eq!(allocations, after.driver_frees - before.driver_frees);
}

#[rstest]
fn borrowed_contexts_cache_nothing(#[values(Device, Pinned, Pages)] source: Source) {
    let (_guard, context) = alone();
    let (theirs, handle) = their_context();
    let before = source.stats(&theirs).reserved_bytes;
    drop(source.allocate(&context, LARGE));
    drop(source.allocate(&theirs, LARGE));
    let cached = if source == Device { 0 } else { LARGE };
    await_that(|| source.stats(&theirs).reserved_bytes - before <= cached);
    assert_eq!(source.stats(&theirs).cached_bytes, cached, "that of the primary context");
    let lost = source.allocate(&theirs, MIB);
    let at = lost.address();
    assert!(block_at(at, at).is_some());
    destroy(handle);
    assert_eq!(block_at(at, at), None, "others may have the address by now");
    drop(lost);
}
