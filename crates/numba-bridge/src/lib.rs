#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod array;
pub mod array_interface;
pub mod dlpack;
mod error;
mod layout;

pub use array::DeviceArray;
pub use error::Error;
pub use layout::{ElementType, Index, Kind, Layout, MAX_DIMENSIONS, Order, Slice, Span};
