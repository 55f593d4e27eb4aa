//! An interpreter of PTX, for the instructions that the kernels of `arrow-cuda-buffer` consist of.
//!
//! Other kernels run too if they get by with these instructions and with blocks of one dimension.

mod block;
mod compute;
mod program;

pub use program::Program;
