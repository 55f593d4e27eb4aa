#![doc = include_str!("../README.md")]

mod addresses;
mod bridge;
mod facts;
mod fault;
mod ffi;
mod payload;
mod serve;

pub use addresses::watch_addresses;
pub use bridge::Bridge;
pub use fault::Fault;
pub use ffi::{Kind, Object, PyObject, PyarrowApi, Span};
pub use payload::Payload;
