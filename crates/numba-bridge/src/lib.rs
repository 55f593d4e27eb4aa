//! [`StridedArray`]: StridedArray
//! [`StridedLayout`]: StridedLayout
//! [`ElementType`]: ElementType
//! [`dlpack`]: dlpack
//! [`array_interface`]: array_interface
//! [features of `arrow-cuda-driver`]: arrow_cuda_driver#features
#![doc = include_str!("../README.md")] // with the links above
#![cfg_attr(docsrs, feature(doc_cfg))] // docs.rs shows which feature an item needs
#![deny(unsafe_code)]
// Nothing that callers pass may panic.  Tests may.
#![cfg_attr(not(test), deny(clippy::expect_used, clippy::panic, clippy::unwrap_used))]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::string_slice, clippy::unreachable))]

mod array;
pub mod array_interface;
#[cfg(feature = "arrow")]
mod arrow_columns;
pub mod dlpack;
mod error;
mod layout;

pub use array::StridedArray;
#[cfg(feature = "arrow")]
pub use arrow_columns::ToDlpack;
pub use error::Error;
pub use layout::{ElementType, Index, Kind, MAX_DIMENSIONS, Order, Slice, Span, StridedLayout};
