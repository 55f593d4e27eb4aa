//! Device memory that is allocated here: its blocks, who may reach them, and their reuse.

mod allocate;
mod block;
mod cache;
mod ledger;
mod limit;
mod lookup;
mod manager;
#[expect(unsafe_code, reason = "frees segments that the ledger has removed")]
mod segments;
#[expect(unsafe_code, reason = "wipes the residue of earlier buffers")]
mod sharing;
mod stats;

pub use block::Block;
pub use ledger::Placement;
pub(crate) use limit::parse as parse_bytes;
pub use limit::set_default_cache_limit;
pub use lookup::{block_at, is_released};
pub use sharing::{prepare_sharing, retain_exported};
pub use stats::MemoryStats;
