#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]
// Nothing that callers pass may panic.  Tests may.
#![cfg_attr(
    not(test),
    deny(
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::string_slice,
        clippy::unreachable,
        clippy::unwrap_used,
    )
)]

mod adjacent;
mod allocator;
#[expect(unsafe_code, reason = "trusts the owners of foreign memory")]
mod buffer;
#[expect(unsafe_code, reason = "copies between ranges that it has checked")]
mod copy;
#[cfg(feature = "cust")]
#[expect(unsafe_code, reason = "trusts that cust owns its memory")]
mod cust_types;
mod equal;
mod error;
mod foreign;
mod kernels;
#[expect(unsafe_code, reason = "copies between ranges that it has checked")]
mod queued;
#[expect(unsafe_code, reason = "copies between ranges that it has checked")]
mod queued_adjacent;
pub mod range;
mod strided;
mod typed;

pub use adjacent::{HostPart, copy_to_host_scattered};
pub use allocator::{Allocation, Allocator, set_allocator, with_own_memory};
pub use buffer::DeviceBuffer;
pub use error::Error;
pub use foreign::{context_of, device_address, host_address, is_device_memory};
pub use queued_adjacent::await_stream_of;
pub use strided::{Elements, copy_elements, queue_copy_elements};
pub use typed::DeviceSlice;
