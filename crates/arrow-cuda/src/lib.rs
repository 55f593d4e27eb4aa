//! [`Context`]: Context
//! [`DeviceRecordBatch`]: DeviceRecordBatch
//! [`array`]: mod@array
//! [`buffer`]: mod@buffer
//! [`context`]: mod@context
//! [`driver`]: mod@driver
//! [`host_io`]: mod@host_io
//! [`ipc`]: mod@ipc
//! [`tensor`]: mod@tensor
//! [`Error`]: Error
//! [features of `arrow-cuda-driver`]: arrow_cuda_driver#features
#![doc = include_str!("../README.md")] // with the links above
#![cfg_attr(docsrs, feature(doc_cfg))] // docs.rs shows which feature an item needs
#![forbid(unsafe_code)]

mod error;

pub use arrow_cuda_array as array;
pub use arrow_cuda_buffer as buffer;
pub use arrow_cuda_context as context;
pub use arrow_cuda_driver as driver;
pub use arrow_cuda_host_io as host_io;
pub use arrow_cuda_ipc as ipc;
pub use arrow_cuda_numba_bridge as tensor;

pub use arrow_cuda_array::{ArrayParts, DeviceArray, DeviceRecordBatch};
pub use arrow_cuda_buffer::{CopyOrder, DeviceBuffer, DeviceSlice};
#[cfg(feature = "cudarc")]
pub use arrow_cuda_buffer::{CudarcSlice, CudarcSliceMut};
pub use arrow_cuda_context::{
    Consumer, Context, Device, Event, Function, Pending, Ready, Stream, StreamHandle,
};
pub use arrow_cuda_driver::{CudaError, CudaResult};
pub use arrow_cuda_host_io::{
    BufferReader, BufferWriter, Download, HostBuffer, HostFile, queue_download, queue_upload,
};
pub use arrow_cuda_ipc::{
    IpcMemHandle, read_device_batch, read_device_stream, read_record_batch, read_stream,
    serialize_device_batch, serialize_device_stream, serialize_record_batch, serialize_stream,
};
pub use arrow_cuda_numba_bridge::ToDlpack;
pub use error::{Error, Result};

// The versions of other crates whose types are in signatures.
#[cfg(feature = "cudarc")]
pub use cudarc;
#[cfg(feature = "cust")]
pub use cust;
pub use {arrow_array, arrow_buffer, arrow_schema};
