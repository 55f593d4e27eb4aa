//! Contexts, and each thread's stack of them.

mod context;
pub mod stack;

pub use context::Context;
