#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod error;
#[expect(unsafe_code, reason = "calls the driver")]
mod pinned;
mod reader;
mod staging;
mod transfer;
mod writer;

pub use error::Error;
pub use pinned::HostBuffer;
pub use reader::BufferReader;
pub use transfer::{
    TransferLimits, download, download_to_uninit, set_transfer_limits, transfer_limits, upload,
};
pub use writer::BufferWriter;
