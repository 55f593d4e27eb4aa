//! The driver's functions that work in the current context, grouped by noun, as methods of
//! [`Current`](crate::Current).  Each method makes one call; the layers above combine them.  Copies and
//! fills that wait for their turn and their end are in `copies` and `peers`, and what concerns a stream or
//! an event alone is with it in `streams`.

mod host_memory;
mod memory;
mod modules;
mod streams;
mod unused;

pub use modules::Function;
pub use streams::{RawStream, StreamHandle};
pub use unused::Unused;
