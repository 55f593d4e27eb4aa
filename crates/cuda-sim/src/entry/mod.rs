//! The wrapper around every exported function.

pub mod call;
pub mod exported;
pub mod fault;
pub mod out;
