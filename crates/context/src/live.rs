//! The blocks that were allocated here, by address: those in use, and those that are cached.
//!
//! The driver knows what it has handed out; what was asked for may be less (see `block.rs`), and
//! what was released may still be the driver's.  Whoever checks an address against its allocation
//! has to ask here first.

use arrow_cuda_driver::is_forked_child;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Who may work on a block's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// Nobody: it is cached.
    Nobody,
    /// This process.
    Here,
    /// Another process too, as long as its owner keeps it.
    Lent,
    /// Other processes, for as long as they like.
    Processes,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// What was asked for, in bytes.
    size: u64,
    /// What the driver was asked for.
    capacity: u64,
    /// The context's number: after a reset of the device its addresses are handed out again.
    context: u64,
    reach: Reach,
    /// Whether what lies behind the size may be of earlier buffers.
    is_reused: bool,
}

/// What is to become of a block that nobody here uses any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is cached from now on.
    Cached,
    /// The driver is to free it, after all work of the device.
    Freed,
    /// It stays: another process may have it mapped.
    Kept,
    /// It went with its context.
    Gone,
}

/// Device addresses are unique within a process, across devices.
static LIVE: Mutex<BTreeMap<u64, Entry>> = Mutex::new(BTreeMap::new());

/// No block ever lay outside these addresses.
static LOWEST: AtomicU64 = AtomicU64::new(u64::MAX);
static HIGHEST: AtomicU64 = AtomicU64::new(0);

/// A block is in use from now on.
pub(crate) fn remember(address: u64, size: u64, capacity: u64, context: u64) {
    LOWEST.fetch_min(address, Ordering::Relaxed);
    HIGHEST.fetch_max(address.saturating_add(capacity), Ordering::Relaxed);
    let mut live = live();
    // A cached block of the same context has stayed there.
    let is_reused = live.get(&address).is_some_and(|entry| entry.context == context);
    live.insert(address, Entry { size, capacity, context, reach: Reach::Here, is_reused });
}

/// A block is not in use any more.  `may_be_cached` says that its owner would cache it.
pub(crate) fn release(address: u64, context: u64, may_be_cached: bool) -> Fate {
    let mut live = live();
    let Some(entry) = live.get_mut(&address).filter(|entry| entry.context == context) else {
        return Fate::Gone;
    };
    match entry.reach {
        Reach::Processes => Fate::Kept,
        Reach::Here if may_be_cached => {
            entry.reach = Reach::Nobody;
            Fate::Cached
        }
        _ => {
            // Once the driver has it, another thread may be given the same address.
            live.remove(&address);
            Fate::Freed
        }
    }
}

/// A cached block goes back to the driver.
pub(crate) fn forget(address: u64, context: u64) {
    let mut live = live();
    if live.get(&address).is_some_and(|entry| entry.context == context) {
        live.remove(&address);
    }
}

/// A context is gone, with all that was in it.
pub(crate) fn forget_context(context: u64) {
    live().retain(|_, entry| entry.context != context);
}

/// Says that other processes may map the memory at an address, for as long as they like: the block
/// in which it lies, if it was allocated here, is never freed nor handed out again.
pub fn keep_for_processes(address: u64) {
    reach_at_least(address, Reach::Processes);
}

/// Says that another process may map the memory at an address, as long as its owner keeps it: the
/// block goes back to the driver when it is released, since nothing tells of that process's work.
pub(crate) fn lend(address: u64) {
    reach_at_least(address, Reach::Lent);
}

fn reach_at_least(address: u64, reach: Reach) {
    if !may_be_here(address) {
        return;
    }
    if let Some((_, entry)) = live().range_mut(..=address).next_back().filter(holds(address))
        && entry.reach != Reach::Nobody
    {
        entry.reach = entry.reach.max(reach);
    }
}

/// What a block holds of earlier buffers behind its own bytes: address and size.
pub(crate) fn remains_at(address: u64) -> Option<(u64, u64)> {
    if !may_be_here(address) {
        return None;
    }
    let live = live();
    let (start, entry) = live.range(..=address).next_back()?;
    let is_inside = address - start < entry.capacity;
    let has_remains = is_inside && entry.is_reused && entry.size < entry.capacity;
    has_remains.then(|| (start + entry.size, entry.capacity - entry.size))
}

fn holds<'a>(address: u64) -> impl Fn(&(&'a u64, &'a mut Entry)) -> bool {
    move |(start, entry)| address - **start < entry.capacity
}

/// Whether the memory at an address was released, although the driver still knows it.
///
/// ```
/// assert!(!arrow_cuda_context::is_released(0x1000));
/// ```
pub fn is_released(address: u64) -> bool {
    may_be_here(address)
        && live().range(..=address).next_back().is_some_and(|(start, entry)| {
            address - start < entry.capacity && entry.reach == Reach::Nobody
        })
}

/// The block whose memory, as the driver reserved it from `reserved_from` on, `address` lies in:
/// its address and the size that was asked for, in bytes.  None when it was not allocated here, or
/// was released.
///
/// ```
/// assert_eq!(arrow_cuda_context::block_at(0x1000, 0x800), None);
/// ```
pub fn block_at(address: u64, reserved_from: u64) -> Option<(u64, u64)> {
    if !may_be_here(address) {
        return None;
    }
    let live = live();
    let (start, entry) = live.range(reserved_from..=address).next_back()?;
    (entry.reach != Reach::Nobody).then_some((*start, entry.size))
}

/// Spares most addresses of the host the lock.  In a forked child another thread may have held it.
fn may_be_here(address: u64) -> bool {
    address >= LOWEST.load(Ordering::Relaxed)
        && address <= HIGHEST.load(Ordering::Relaxed).saturating_add(super::cache::BLOCK)
        && !is_forked_child()
}

fn live() -> MutexGuard<'static, BTreeMap<u64, Entry>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    // All tests share the list, so each has contexts of its own.

    #[test]
    fn a_block_is_found_from_inside_and_from_its_slack() {
        remember(0x7000_0000, 100, 0x20_0000, 1001);
        assert_eq!(block_at(0x7000_0000, 0x7000_0000), Some((0x7000_0000, 100)));
        assert_eq!(block_at(0x7000_0063, 0x7000_0000), Some((0x7000_0000, 100)));
        assert_eq!(block_at(0x7000_1000, 0x7000_0000), Some((0x7000_0000, 100)));
        assert_eq!(block_at(0x7000_1000, 0x7000_0800), None);
        assert_eq!(release(0x7000_0000, 1001, false), Fate::Freed);
        assert_eq!(block_at(0x7000_0000, 0x7000_0000), None);
        assert_eq!(release(0x7000_0000, 1001, false), Fate::Gone);
    }

    #[test]
    fn cached_memory_is_released_and_no_block() {
        remember(0x8000_0000, 100, 512, 2001);
        assert!(!is_released(0x8000_0000) && remains_at(0x8000_0000).is_none());
        assert_eq!(release(0x8000_0000, 2001, true), Fate::Cached);
        assert!(is_released(0x8000_0000) && is_released(0x8000_01ff));
        assert!(!is_released(0x8000_0200) && !is_released(0x7fff_ffff));
        assert_eq!(block_at(0x8000_0000, 0x8000_0000), None);
        // A stale address does not matter any more.
        lend(0x8000_0000);
        remember(0x8000_0000, 200, 512, 2001);
        assert_eq!(remains_at(0x8000_0010), Some((0x8000_00c8, 312)));
        assert_eq!(block_at(0x8000_0010, 0x8000_0000), Some((0x8000_0000, 200)));
        assert_eq!(release(0x8000_0000, 2001, true), Fate::Cached);
        forget(0x8000_0000, 2001);
        assert!(!is_released(0x8000_0000));
    }

    #[test]
    fn what_other_processes_may_map_is_not_cached() {
        remember(0x9000_0000, 100, 512, 3001);
        lend(0x9000_0200);
        assert_eq!(release(0x9000_0000, 3001, true), Fate::Cached, "an address behind the block");
        remember(0x9000_0000, 100, 512, 3001);
        lend(0x9000_0063);
        assert_eq!(release(0x9000_0000, 3001, true), Fate::Freed);
        remember(0x9000_0000, 100, 512, 3001);
        keep_for_processes(0x9000_0010);
        lend(0x9000_0010);
        assert_eq!(release(0x9000_0000, 3001, true), Fate::Kept);
        assert_eq!(block_at(0x9000_0000, 0x9000_0000), Some((0x9000_0000, 100)));
    }

    #[test]
    fn a_later_context_has_the_same_addresses() {
        remember(0xa000_0000, 100, 512, 4001);
        remember(0xa000_1000, 100, 512, 4001);
        remember(0xa000_0000, 50, 512, 4002);
        assert_eq!(release(0xa000_0000, 4001, true), Fate::Gone);
        forget(0xa000_0000, 4001);
        forget_context(4001);
        assert_eq!(block_at(0xa000_0000, 0xa000_0000), Some((0xa000_0000, 50)));
        assert_eq!(block_at(0xa000_1000, 0xa000_1000), None);
        assert_eq!(release(0xa000_0000, 4002, true), Fate::Cached);
    }
}
