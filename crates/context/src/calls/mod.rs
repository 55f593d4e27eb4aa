//! What the driver does in its current context, by noun: methods of [`Current`](crate::Current), and
//! nothing but the calls.  What they mean together is decided by the layers above.

mod copies;
mod events;
mod host_memory;
mod ipc;
mod memory;
mod modules;
mod pointers;
mod streams;

pub(crate) use events::RawEvent;
pub use modules::Function;
pub use pointers::Attribute;
pub(crate) use streams::{NON_BLOCKING, context_of_stream};
pub use streams::{RawStream, StreamHandle};
