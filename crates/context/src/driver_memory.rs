//! The driver's calls of the allocator.

use arrow_cuda_driver::{CudaResult, call};

/// Allocates in the current context.
pub(crate) fn allocate(size: u64) -> CudaResult<u64> {
    let mut address = 0u64;
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    // SAFETY: stores an address through the pointer, which outlives the call.
    unsafe { call!(cuMemAlloc_v2((&raw mut address).cast(), size)) }?;
    Ok(address)
}

/// Frees what [`allocate`] has given, once, after all work of the device.  Needs no current
/// context, and works on any thread.
pub(crate) fn free(address: u64) -> CudaResult<()> {
    // SAFETY: the driver looks the address up; that it is ours to free, and its context alive, is
    // what the callers see to.
    unsafe { call!(cuMemFree_v2(address)) }
}

/// Queues zeros for a range of the current context's memory, which is allocated here.
pub(crate) fn wipe(address: u64, size: u64) -> CudaResult<()> {
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    // SAFETY: the driver looks the address up; the range is what our own block does not use.
    unsafe { call!(cuMemsetD8_v2(address, 0, size)) }
}
