#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod buffer;
#[expect(unsafe_code, reason = "calls the driver")]
mod copy;
#[cfg(test)]
mod emulator;
mod equal;
mod error;
#[expect(unsafe_code, reason = "calls the driver")]
mod foreign;
#[expect(unsafe_code, reason = "calls the driver")]
mod kernel;
#[expect(unsafe_code, reason = "calls the driver")]
mod queued;
pub mod range;
mod spans;

pub use buffer::DeviceBuffer;
pub use error::Error;
pub use foreign::{device_address, host_address, mapped_address};
