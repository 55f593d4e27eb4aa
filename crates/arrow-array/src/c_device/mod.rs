//! The [C Device interface](https://arrow.apache.org/docs/format/CDeviceDataInterface.html): the structure by
//! which libraries exchange arrays on devices.
//!
//! * [`DeviceArray::export`](crate::DeviceArray::export) makes a [`FFI_ArrowDeviceArray`], which
//!   shares the memory until it is released, on any thread.
//! * [`DeviceArray::import`](crate::DeviceArray::import) takes one over, and releases it with the last
//!   buffer that lies in its memory.
//!
//! * [`export_pinned`] and [`import_host`] do so for arrays of arrow-rs, in host memory.
//! * [`FFI_ArrowDeviceArrayStream`] and [`DeviceBatchStream`] do both for record batches one after the other.
//!
//! The type of a single array travels beside it, as arrow-rs'
//! [`FFI_ArrowSchema`](https://docs.rs/arrow-schema/latest/arrow_schema/ffi/struct.FFI_ArrowSchema.html).

#[expect(unsafe_code, reason = "mirrors a C structure of arrow-rs")]
mod abi;
#[expect(unsafe_code, reason = "passes the promises of its callers on")]
mod batch;
#[expect(unsafe_code, reason = "makes and frees C structures")]
mod export;
#[expect(unsafe_code, reason = "takes C structures of other libraries over")]
mod host;
#[expect(unsafe_code, reason = "reads C structures of other libraries")]
mod import;
#[expect(unsafe_code, reason = "calls the functions of C structures, and is called by C")]
mod stream;

pub use abi::{CPU, CUDA, CUDA_HOST, CUDA_MANAGED, FFI_ArrowDeviceArray};
pub use host::{export_pinned, import_host};
pub use stream::{DeviceBatchStream, FFI_ArrowDeviceArrayStream};
