#![doc = include_str!("../README.md")]

mod error;
mod frame;
mod handle;
mod message;
mod metadata;
mod share;

pub use error::Error;
pub use frame::{Frame, PREFIX};
pub use handle::IpcMemHandle;
pub use message::{DeviceMessage, read_record_batch, serialize_record_batch};
pub use metadata::{Content, Metadata};
pub use share::{export, open};
