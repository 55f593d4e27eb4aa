//! [`copy_from_host`]: copy_from_host
//! [`copy_to_host`]: copy_to_host
//! [`CopyOrder`]: CopyOrder
//! [`HostBuffer`]: HostBuffer
//! [`RegisteredMemory`]: RegisteredMemory
//! [`set_transfer_limits`]: set_transfer_limits
#![doc = include_str!("../README.md")] // with the links above
#![cfg_attr(docsrs, feature(doc_cfg))] // docs.rs shows which feature an item needs
#![deny(unsafe_code)]

#[cfg(any(feature = "cudarc", feature = "cust"))]
#[expect(unsafe_code, reason = "trusts that other libraries own their memory")]
mod adopted;
#[expect(unsafe_code, reason = "copies between raw parts of memory")]
mod copy;
#[cfg(feature = "cudarc")]
#[expect(unsafe_code, reason = "declares what cudarc calls")]
mod cudarc_slice;
#[expect(unsafe_code, reason = "copies between raw parts of memory")]
mod file;
#[expect(unsafe_code, reason = "copies between raw parts of memory")]
mod gathered;
#[expect(unsafe_code, reason = "copies between raw parts of memory")]
mod order;
#[expect(unsafe_code, reason = "owns pinned memory")]
mod pinned;
#[expect(unsafe_code, reason = "reads into memory and writes from it")]
mod positioned;
#[expect(unsafe_code, reason = "writes device memory")]
mod producer;
#[expect(unsafe_code, reason = "pins memory that an owner keeps")]
mod registered;
mod staging;

pub use arrow_cuda_driver::{CudaError, CudaResult};
pub use copy::{DevicePlace, copy_from_host, copy_to_host, equals_host};
pub use file::{FileError, FileRange, copy_from_file, copy_to_file};
pub use gathered::{copy_from_host_gathered, copy_to_host_scattered};
pub use order::{CopyOrder, copy_from_host_in, copy_to_host_in};
pub use pinned::{HostBuffer, is_pinned};
pub use positioned::{ReadError, WriteError, read_at};
pub use producer::{Part, copy_from_producer};
pub use registered::RegisteredMemory;
pub use staging::{MAX_THREADS, TransferLimits, set_transfer_limits, transfer_limits};
