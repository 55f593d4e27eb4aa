//! What every exported function passes through.

pub mod call;
pub mod fault;
pub mod out;
