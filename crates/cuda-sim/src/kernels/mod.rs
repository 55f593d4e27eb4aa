//! Modules of PTX, and the kernels that run on the host.

mod kernel;
mod module;
mod ptx;
mod ranges;

pub use kernel::Kernel;
pub use module::{Function, Module};
pub use ranges::{Range, Ranges};
