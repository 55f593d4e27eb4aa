#![doc = include_str!("../README.md")]
// Nothing that callers pass may panic.  Tests may.
#![cfg_attr(not(test), deny(clippy::expect_used, clippy::panic, clippy::unwrap_used))]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::string_slice, clippy::unreachable))]

#[macro_use]
mod imported;

mod address_exposure;
mod body_reader;
mod bridge;
mod decoders;
mod exports;
mod fault;
mod ffi;
mod kind;
mod object_ref;

pub use address_exposure::watch_addresses;
pub use body_reader::Watch;
pub use bridge::{Bridge, Column, Contents, NewTable, Payload};
pub use fault::Fault;
pub use ffi::{
    BatchSource, BatchesTaken, Contexts, Conversion, DataKind, Elements, FlatArray, PyarrowApi,
    Span,
};
pub use kind::Kind;
pub use object_ref::{Destination, Object, ObjectRef, PyObject};
