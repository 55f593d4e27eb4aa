#![doc = include_str!("../README.md")]

mod error;
mod pinned;
mod reader;
mod staging;
mod writer;

pub use error::Error;
pub use pinned::HostBuffer;
pub use reader::BufferReader;
pub use writer::BufferWriter;
