//! Streams and events.

pub mod event;
pub mod stream;
