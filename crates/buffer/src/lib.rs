#![doc = include_str!("../README.md")]

mod buffer;
mod copy;
mod equal;
mod error;
mod foreign;
mod kernel;
pub mod range;

pub use buffer::DeviceBuffer;
pub use error::Error;
pub use foreign::{device_address, host_address, mapped_address};
