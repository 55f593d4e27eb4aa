//! [`export`]: export()
//! [`open`]: open()
//! [`lend`]: lend()
//! [`IpcMemHandle`]: IpcMemHandle
//! [`serialize_record_batch`]: serialize_record_batch
//! [`read_record_batch`]: read_record_batch
//! [`serialize_stream`]: serialize_stream
//! [`serialize_device_batch`]: serialize_device_batch
//! [`serialize_device_stream`]: serialize_device_stream
//! [`read_stream`]: read_stream
//! [`read_device_batch`]: read_device_batch
//! [`read_device_stream`]: read_device_stream
//! [`DeviceMessage`]: DeviceMessage
//! [`MessageIndex`]: MessageIndex
//! [features of `arrow-cuda-driver`]: arrow_cuda_driver#features
#![doc = include_str!("../README.md")] // with the links above
#![cfg_attr(docsrs, feature(doc_cfg))] // docs.rs shows which feature an item needs
#![deny(unsafe_code)]
// Nothing that callers pass may panic.  Tests may.
#![cfg_attr(not(test), deny(clippy::expect_used, clippy::panic, clippy::unwrap_used))]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::string_slice, clippy::unreachable))]

#[cfg(feature = "arrays")]
mod batches;
mod body_buffer;
mod encode;
mod error;
mod frame;
mod handle;
mod message;
mod message_index;
mod metadata;
#[expect(unsafe_code, reason = "verifies less than arrow-ipc asks for")]
mod outline;
mod plain;
#[expect(unsafe_code, reason = "closes mappings")]
mod share;

#[cfg(feature = "arrays")]
pub use batches::{
    read_device_batch, read_device_stream, read_record_batch, read_stream, serialize_device_batch,
    serialize_device_stream, serialize_record_batch, serialize_stream,
};
pub use body_buffer::{BodyBuffer, Codec};
pub use error::Error;
pub use frame::{Frame, PREFIX};
pub use handle::IpcMemHandle;
pub use message::DeviceMessage;
pub use message_index::{MessageIndex, Source};
pub use metadata::{MessageKind, Metadata};
pub use plain::PlainMessage;
pub use share::{export, lend, open};
