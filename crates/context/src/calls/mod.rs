//! The driver's functions that work in the current context, grouped by noun, as methods of
//! [`Current`](crate::Current).
//!
//! Each method makes one call; the layers above combine them.  Two groups are elsewhere: copies and fills, which
//! wait for earlier work and for their end, in `copies` and `peers`; calls for one stream or event in `streams`.

mod host_memory;
mod memory;
mod modules;
mod streams;
mod unused;

pub use modules::Function;
pub use streams::{RawStream, StreamHandle};
pub use unused::Unused;
