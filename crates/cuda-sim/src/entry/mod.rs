//! The wrapper around every exported function.

pub mod call;
pub mod fault;
pub mod out;
