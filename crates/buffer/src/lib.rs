#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod buffer;
#[expect(unsafe_code, reason = "calls the driver")]
mod copy;
mod equal;
mod error;
#[expect(unsafe_code, reason = "calls the driver")]
mod foreign;
#[expect(unsafe_code, reason = "calls the driver")]
mod kernel;
pub mod range;
pub mod strided;

pub use buffer::DeviceBuffer;
pub use error::Error;
pub use foreign::{device_address, host_address, mapped_address};
