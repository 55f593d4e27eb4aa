#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

pub mod abi;
mod element;
mod error;
#[expect(unsafe_code, reason = "gives away and frees C structures")]
mod export;
#[expect(unsafe_code, reason = "reads C structures of other libraries")]
mod import;

pub use element::Element;
pub use error::Error;
pub use export::{HostBytes, Memory, Tensor};
pub use import::{Imported, ImportedMemory};
