#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod error;
#[expect(unsafe_code, reason = "calls the driver")]
mod pinned;
#[expect(unsafe_code, reason = "hands memory to copies that it keeps valid")]
mod queued;
mod reader;
mod staging;
mod transfer;
mod writer;

pub use error::Error;
pub use pinned::{HostBuffer, is_pinned};
pub use queued::{Download, queue_download, queue_upload};
pub use reader::BufferReader;
pub use transfer::{
    MOST_THREADS, TransferLimits, download, download_to_uninit, equals_host, set_transfer_limits,
    transfer_limits, upload, upload_gathered,
};
pub use writer::BufferWriter;
