//! Three pools of memory: device memory, pinned pages for callers that may wait, and pinned pages for callers that
//! must not.
//!
//! All three use one mechanism.  A *segment* is memory that comes from a source; a *block* is the part of a
//! segment that one allocation gets.  Released blocks are split, merged and reused by the same rules.
//! DESIGN.md beside this file gives the reasons.

mod allocate;
mod block;
mod cache;
mod history;
#[expect(unsafe_code, reason = "moves what is reallocated, and clears memory that nobody has yet")]
mod host_pool;
mod ledger;
mod limits;
mod lookup;
#[expect(unsafe_code, reason = "unmaps segments that the ledger has removed")]
mod pools;
#[expect(unsafe_code, reason = "frees segments that the ledger has removed")]
mod release;
mod segments;
#[expect(unsafe_code, reason = "wipes the residue of earlier buffers")]
mod sharing;
#[expect(unsafe_code, reason = "pins pages, and gives memory back")]
mod source;
mod stats;
#[expect(unsafe_code, reason = "writes to memory that nobody has yet")]
mod zeroing;

pub use block::Block;
pub use cache::Cache;
pub use history::{MemoryAction, MemoryEvent, MemoryHistory, Origin};
pub use host_pool::HostPool;
pub use ledger::{BlockState, Placement, SizeClass};
pub use limits::set_default_cache_limit;
pub use lookup::{block_at, is_pinned_block, is_released};
pub use segments::{MemoryBlock, MemorySegment, memory_segments};
pub use sharing::{prepare_sharing, retain_exported};
pub(crate) use source::Source;
pub use stats::MemoryStats;
