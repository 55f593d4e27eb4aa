//! Helpers for the tests of copies, and those for tests of contexts.

#![allow(dead_code, unused_imports, reason = "each of the test files uses some of it")]

#[path = "../../../context/tests/common/mod.rs"]
mod contexts;

use arrow_cuda_context::Context;
use arrow_cuda_transfer::{TransferLimits, copy_from_host, set_transfer_limits};
pub use contexts::*;
use std::sync::MutexGuard;

/// The limits are the process's: one test at a time.
pub fn with_threads(threads: usize) -> (MutexGuard<'static, ()>, Context) {
    let alone = alone();
    set_transfer_limits(TransferLimits::with_threads(threads));
    alone
}

/// Allocates memory by the driver itself, and copies as many bytes there.
pub fn upload(context: &Context, size: usize) {
    let current = context.enter().expect("alive");
    let to = current.allocate_memory(size as u64).expect("room");
    // SAFETY: the memory was allocated just now.
    unsafe { copy_from_host(context, to, &vec![7; size]) }.expect("a copy");
}
