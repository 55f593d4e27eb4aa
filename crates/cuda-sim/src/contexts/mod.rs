//! Contexts, and each thread's stack of them.

mod context;
mod line;
pub mod stack;

pub use context::Context;
