//! Conversions from and to the types of `cudarc`.
//!
//! `cudarc` loads the driver itself, so each conversion checks first that both call the same library.  Its functions
//! make their context current on the thread, and leave it so; under a guard of
//! [`Context::enter`](crate::Context::enter), that is over when the guard is dropped.

mod context;
mod event;
mod function;
mod stream;

pub use stream::CudarcStream;
