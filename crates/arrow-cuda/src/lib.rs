//! [`Context`]: Context
//! [`DeviceRecordBatch`]: DeviceRecordBatch
//! [`ipc`]: mod@ipc
//! [`tensor`]: tensor
//! [`Error`]: Error
//! [features of `arrow-cuda-driver`]: arrow_cuda_driver#features
#![doc = include_str!("../README.md")] // with the links above
#![cfg_attr(docsrs, feature(doc_cfg))] // docs.rs shows which feature an item needs
#![forbid(unsafe_code)]

mod error;

/// The C Device interface: arrays and streams of other libraries, without a copy.
pub mod c_device {
    pub use arrow_cuda_array::c_device::*;
    pub use arrow_cuda_array::{
        DeviceBatchStream, FFI_ArrowDeviceArray, FFI_ArrowDeviceArrayStream,
    };
}

/// Record batches as messages, and memory of other processes.
pub mod ipc {
    pub use arrow_cuda_ipc::*;
}

/// Arrays with a shape and strides, DLPack, and the CUDA array interface.
pub mod tensor {
    pub use arrow_cuda_numba_bridge::*;
}

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
