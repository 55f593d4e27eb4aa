//! Pinned host memory that is allocated here: its blocks, who may reach them, and their reuse.
//!
//! The driver takes some hundred microseconds for each megabyte that it pins, and waits for the
//! device when it releases one.  So released blocks are cached, as those of device memory are.  Host
//! memory is one resource: there is one cache for the process, although a block serves again only in
//! the context that it was allocated in, which destroys it at its end.  All blocks are of one kind:
//! pinned for every context, and cached by the processor.
//!
//! *Exposed* is a block whose address somebody outside this project may have.  All work of this
//! project that uses a block is complete when the block is released, because work in flight retains
//! it.  So a private block serves again at once.  An exposed one serves again when the fences show
//! that all work in the process that came before its release is complete.

mod allocate;
mod block;
mod ledger;
mod limit;
mod lookup;
mod pool;
#[expect(unsafe_code, reason = "pins pages, and frees segments that the ledger has removed")]
mod segments;
mod stats;

pub use block::PinnedBlock;
pub(crate) use lookup::{block_at, is_released};
pub use pool::{
    empty_pinned_cache, pinned_memory_stats, reset_peak_pinned_memory_stats, set_pinned_cache_limit,
};
pub use stats::PinnedMemoryStats;
