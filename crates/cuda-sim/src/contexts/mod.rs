//! Contexts, and each thread's stack of them.

pub mod context;
pub mod stack;
