//! [`DeviceBuffer`]: DeviceBuffer
//! [`DeviceSlice<T>`]: DeviceSlice
//! [`copy_elements`]: copy_elements()
//! [features of `arrow-cuda-driver`]: arrow_cuda_driver#features
#![doc = include_str!("../README.md")] // with the links above
#![cfg_attr(docsrs, feature(doc_cfg))] // docs.rs shows which feature an item needs
#![deny(unsafe_code)]
// Nothing that callers pass may panic.  Tests may.
#![cfg_attr(not(test), deny(clippy::expect_used, clippy::panic, clippy::unwrap_used))]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::string_slice, clippy::unreachable))]

#[expect(unsafe_code, reason = "declares a trait whose word is trusted")]
mod allocator;
#[expect(unsafe_code, reason = "trusts the owners of foreign memory")]
mod buffer;
mod conversions;
#[expect(unsafe_code, reason = "copies between ranges that it has checked")]
mod copy;
#[cfg(feature = "cudarc")]
#[expect(unsafe_code, reason = "trusts that cudarc owns its memory, and lends it ours")]
mod cudarc_types;
#[cfg(feature = "cust")]
#[expect(unsafe_code, reason = "trusts that cust owns its memory, and lends it ours")]
mod cust_types;
mod equal;
mod error;
#[expect(unsafe_code, reason = "copies between ranges that it has checked")]
mod files;
mod foreign;
mod joined;
mod kernels;
pub mod range;
#[expect(unsafe_code, reason = "copies between ranges that it has checked")]
mod scattered;
mod selected;
mod spans;
mod strided;
#[expect(unsafe_code, reason = "copies between ranges that it has checked")]
mod suballocated_copies;
mod suballocation;
mod typed;
mod watched;

pub use allocator::{Allocation, Allocator, set_allocator, with_own_memory};
pub use arrow_cuda_driver::{CudaError, CudaResult};
pub use arrow_cuda_transfer::{CopyOrder, ReadError, copy_from_producer, read_at};
pub use buffer::DeviceBuffer;
#[cfg(feature = "cudarc")]
pub use cudarc_types::{CudarcSlice, CudarcSliceMut};
pub use error::Error;
pub use foreign::{context_of, device_address, host_address, is_device_memory};
pub use joined::{join, join_into_new};
pub use scattered::{HostPart, copy_to_host_scattered};
pub use selected::{Source, select};
pub use strided::{Elements, copy_elements, copy_elements_in};
pub use suballocated_copies::await_stream_of;
pub use typed::DeviceSlice;
pub use watched::{Seen, watched};
