#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

#[expect(unsafe_code, reason = "calls the driver")]
mod block;
#[expect(unsafe_code, reason = "calls the driver")]
mod context;
#[expect(unsafe_code, reason = "calls the driver")]
mod current;
#[expect(unsafe_code, reason = "calls the driver")]
mod device;
mod live;
#[expect(unsafe_code, reason = "asks the kernel what is readable")]
mod readable;
#[expect(unsafe_code, reason = "calls the driver")]
mod sync;

pub use block::{Block, Placement};
pub use context::Context;
pub use current::Entered;
pub use device::Device;
pub use live::block_at;
pub use readable::is_readable;
pub use sync::{Pending, RawEvent, RawStream};
