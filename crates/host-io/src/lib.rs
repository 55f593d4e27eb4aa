//! [`HostBuffer`]: HostBuffer
//! [`queue_upload`]: queue_upload
//! [`queue_download`]: queue_download
//! [`BufferReader`]: BufferReader
//! [`BufferWriter`]: BufferWriter
//! [`HostFile`]: HostFile
//! [features of `arrow-cuda-driver`]: arrow_cuda_driver#features
#![doc = include_str!("../README.md")] // with the links above
#![cfg_attr(docsrs, feature(doc_cfg))] // docs.rs shows which feature an item needs
#![deny(unsafe_code)]
// Nothing that callers pass may panic.  Tests may.
#![cfg_attr(not(test), deny(clippy::expect_used, clippy::panic, clippy::unwrap_used))]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::string_slice, clippy::unreachable))]

#[expect(unsafe_code, reason = "hands memory to copies that it keeps valid")]
mod async_copies;
#[expect(unsafe_code, reason = "fills memory while other parts of it travel")]
mod double_buffer;
mod error;
mod file;
#[expect(unsafe_code, reason = "maps files, to ask which of their pages are in memory")]
mod page_cache;
mod reader;
mod writer;

pub use arrow_cuda_transfer::{HostBuffer, is_pinned};
pub use async_copies::{Download, queue_download, queue_upload};
pub use error::Error;
pub use file::HostFile;
pub use reader::BufferReader;
pub use writer::BufferWriter;
