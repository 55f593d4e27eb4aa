//! DLPack: the C structure by which array libraries hand memory to each other.
//!
//! * A [`Tensor`] is a buffer with a layout.  [`Tensor::into_versioned`] and
//!   [`Tensor::into_legacy`] turn it into the structure, which owns the memory until its deleter is
//!   called, on any thread.
//! * An [`Imported`] owns a structure of another library, and calls its deleter when dropped.
//!   [`Imported::memory`] returns the memory of its elements, and refuses inconsistent structures.
//!
//! * [`consumer_on`] decides which side waits, from the consumer's number for its stream.

pub mod abi;
#[expect(unsafe_code, reason = "makes and frees C structures")]
mod export;
#[expect(unsafe_code, reason = "reads C structures of other libraries")]
mod import;
mod stream;

pub use export::{HostBytes, Memory, Tensor};
pub use import::{Imported, ImportedMemory};
pub use stream::consumer_on;
