//! DLPack: the C structure by which array libraries hand memory to each other.
//!
//! * A [`Tensor`] is a buffer with a layout.  [`Tensor::into_versioned`] and
//!   [`Tensor::into_legacy`] turn it into the structure, which owns the memory until its deleter is
//!   called, on any thread.
//! * An [`Imported`] owns a structure of another library, and calls its deleter when dropped.
//!   [`Imported::memory`] says where its elements lie, and refuses structures that contradict
//!   themselves.
//!
//! * [`consumer_on`] says who waits for whom, from the number by which a consumer names its stream.

pub mod abi;
#[expect(unsafe_code, reason = "makes and frees C structures")]
mod export;
#[expect(unsafe_code, reason = "reads C structures of other libraries")]
mod import;
mod stream;

pub use export::{HostBytes, Memory, Tensor};
pub use import::{Imported, ImportedMemory};
pub use stream::consumer_on;
