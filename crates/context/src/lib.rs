//! [`Device`]: Device
//! [`Context`]: Context
//! [`Stream`]: Stream
//! [`Event`]: Event
//! [`Block`]: Block
//! [`Cache`]: Cache
//! [features of `arrow-cuda-driver`]: arrow_cuda_driver#features
#![doc = include_str!("../README.md")] // with the links above
#![cfg_attr(docsrs, feature(doc_cfg))] // docs.rs shows which feature an item needs
#![deny(unsafe_code)]

#[expect(unsafe_code, clippy::disallowed_macros, reason = "calls the driver")]
mod calls;
#[expect(clippy::disallowed_macros, reason = "makes contexts current, and finds devices")]
mod contexts;
#[expect(unsafe_code, clippy::disallowed_macros, reason = "calls the driver")]
mod copies;
#[cfg(feature = "cudarc")]
#[expect(unsafe_code, reason = "shares handles with cudarc")]
mod cudarc_types;
#[cfg(feature = "cust")]
#[expect(unsafe_code, clippy::disallowed_macros, reason = "shares handles with cust")]
mod cust_types;
#[cfg(any(feature = "cudarc", feature = "cust"))]
#[expect(unsafe_code, reason = "chooses when other libraries' resources are dropped")]
mod others;
mod out_param;
#[expect(unsafe_code, reason = "maps memory")]
mod pages;
#[expect(unsafe_code, clippy::disallowed_macros, reason = "calls the driver")]
mod peers;
mod pool;
#[expect(unsafe_code, reason = "pins memory")]
mod slots;
#[expect(unsafe_code, reason = "queues copies")]
mod small_copies;
#[expect(unsafe_code, reason = "has the device copy")]
mod small_downloads;
mod streams;

pub use arrow_cuda_driver::{CudaError, CudaResult};
pub use calls::{Function, RawStream, StreamHandle};
pub use contexts::{Context, Current, Device, driver_version};
#[cfg(feature = "cudarc")]
pub use cudarc_types::CudarcStream;
#[cfg(any(feature = "cudarc", feature = "cust"))]
pub use others::Adopted;
#[cfg(feature = "cust")]
pub use others::Loan;
pub use pool::{
    Block, BlockState, Cache, MemoryAction, MemoryBlock, MemoryEvent, MemoryHistory, MemorySegment,
    MemoryStats, Origin, Placement, SizeClass, memory_segments, set_default_cache_limit,
};
pub use streams::{
    Arrival, Completed, Consumer, Event, Pending, Ready, Retained, Stream, completed,
    wait_for_work_in_flight,
};

// For the crates above only.
#[doc(hidden)]
pub use calls::Unused;
#[doc(hidden)]
pub use contexts::{Attribute, Extension, is_readable};
#[doc(hidden)]
pub use pages::{Pages, memory_of_the_machine, page_size};
#[doc(hidden)]
pub use pool::{
    HostPool, block_at, is_pinned_block, is_released, prepare_sharing, retain_exported,
};
#[doc(hidden)]
pub use slots::Slots;
