#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

pub mod array_interface;
pub mod dlpack;
mod error;
mod layout;

pub use error::Error;
pub use layout::{ElementType, Kind, Layout, Span};
