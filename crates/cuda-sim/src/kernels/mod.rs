//! Modules of PTX, and the kernels that run on the host.

pub mod kernel;
pub mod module;
pub mod ptx;
pub mod ranges;
