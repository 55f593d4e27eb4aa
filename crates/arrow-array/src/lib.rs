//! [`DeviceArray`]: DeviceArray
//! [`DeviceRecordBatch`]: DeviceRecordBatch
//! [`FFI_ArrowDeviceArray`]: FFI_ArrowDeviceArray
//! [`FFI_ArrowDeviceArrayStream`]: FFI_ArrowDeviceArrayStream
//! [`DeviceBatchStream`]: DeviceBatchStream
//! [features of `arrow-cuda-driver`]: arrow_cuda_driver#features
#![doc = include_str!("../README.md")] // with the links above
#![deny(unsafe_code)]
// Nothing that callers pass may panic.  Tests may.
#![cfg_attr(not(test), deny(clippy::expect_used, clippy::panic, clippy::unwrap_used))]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::string_slice, clippy::unreachable))]

mod array;
mod batch;
pub mod c_device;
mod check;
mod concat;
mod error;
mod flat;
mod host;
mod node;
#[expect(unsafe_code, reason = "shares pinned memory with arrow-rs")]
mod pinned;
mod primitive;
mod trim;
mod types;

pub use array::{ArrayParts, DeviceArray};
pub use batch::DeviceRecordBatch;
pub use c_device::{DeviceBatchStream, FFI_ArrowDeviceArray, FFI_ArrowDeviceArrayStream};
pub use error::{ArrowFailure, Error};
pub use flat::FlatArrays;
pub use types::children as child_types;
