//! Runs the PTX of a kernel, thread by thread, on memory with checked bounds.  The simulated driver
//! cannot test the PTX: it recognises kernels by their names alone.

mod block;
mod memory;
mod program;
mod thread;

pub(crate) use memory::{Memory, Region};
pub(crate) use program::Program;
