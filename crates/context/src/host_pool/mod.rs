//! Pinned host memory for many allocations of any size, such as libarrow makes.
//!
//! An allocation of up to 4 MiB is part of an *arena*, which is one block of pinned memory; a larger one
//! is a block of its own.  Everything is exposed: whoever has the address of an array may have queued
//! work on it.  So what is released within an arena is *pending* until a fence shows that all work is
//! complete that came before, and serves again then.  Blocks are cached by the process.
//!
//! An allocation neither gives up Python's GIL nor waits for it: libarrow allocates on threads of its
//! own, and while it reads Python's objects.

mod arenas;
mod free_ranges;
#[expect(unsafe_code, reason = "moves what is reallocated, and clears memory that nobody has yet")]
mod pool;

pub use pool::HostPool;
