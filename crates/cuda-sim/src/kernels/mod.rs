//! Modules of PTX, and the kernels that run on the host.

mod kernel;
mod ptx;
mod ranges;

pub use kernel::{Function, Kernel, Module};
pub use ranges::{Range, Ranges};
