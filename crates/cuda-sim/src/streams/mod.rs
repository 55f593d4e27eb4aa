//! Streams and events.

mod event;
mod stream;

pub use event::Event;
pub use stream::Stream;
