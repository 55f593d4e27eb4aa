#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod block;
mod cache;
mod codes;
#[expect(unsafe_code, reason = "calls the driver")]
mod context;
#[expect(unsafe_code, reason = "calls the driver")]
mod current;
#[expect(unsafe_code, reason = "calls the driver")]
mod device;
#[expect(unsafe_code, reason = "calls the driver")]
mod driver_memory;
#[expect(unsafe_code, reason = "calls the driver")]
mod event;
#[expect(unsafe_code, reason = "calls the driver")]
mod evidence;
#[expect(unsafe_code, reason = "calls the driver")]
mod in_flight;
mod live;
mod memory;
#[expect(unsafe_code, reason = "asks the kernel what is readable")]
mod readable;
#[expect(unsafe_code, reason = "calls the driver")]
mod reset;
#[expect(unsafe_code, reason = "calls the driver")]
mod stream;
#[expect(unsafe_code, reason = "calls the driver")]
mod sync;

pub use block::{Block, Placement};
pub use cache::{MemoryStats, set_default_cache_limit};
pub use context::Context;
pub use current::Entered;
pub use device::Device;
pub use event::Event;
pub use in_flight::{Finished, Kept, finished};
pub use live::{block_at, is_released, keep_for_processes};
pub use readable::is_readable;
pub use stream::Stream;
pub use sync::{DEFAULT_STREAM, Pending, RawEvent, RawStream};
