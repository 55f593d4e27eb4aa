#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod error;
#[expect(unsafe_code, reason = "calls the driver")]
mod pinned;
mod reader;
mod staging;
mod writer;

pub use error::Error;
pub use pinned::HostBuffer;
pub use reader::BufferReader;
pub use writer::BufferWriter;
