#![doc = include_str!("../README.md")]

mod block;
mod context;
mod current;
mod device;
mod live;
mod readable;
mod sync;

pub use block::{Block, Placement};
pub use context::Context;
pub use current::Entered;
pub use device::Device;
pub use live::block_at;
pub use sync::{RawEvent, RawStream};
