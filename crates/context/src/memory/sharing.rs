//! Sharing memory with other processes.

use super::ledger::Access;
use super::lookup::query;
use crate::Current;
use arrow_cuda_driver::CudaResult;

/// Prepares memory for another process, which can reach the whole block that contains it: wipes the
/// residue of earlier buffers in the block, and excludes the block from reuse, since no fence
/// covers that process's work.
///
/// Memory that was not allocated here is left unchanged.
///
/// # Errors
///
/// Driver errors.
pub fn prepare_sharing(current: &Current<'_>, address: u64) -> CudaResult<()> {
    for (residue, size) in query(address, |ledger| ledger.share(address, Access::Lent)) {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if size > 0 {
            // SAFETY: bytes of a block in use that its buffer does not use.
            unsafe { current.fill_memory(residue, 0, size) }?;
        }
    }
    Ok(())
}

/// Marks the memory at an address as exported: other processes may have it mapped at any time, so
/// the block that contains it, if it was allocated here, is never freed.
pub fn retain_exported(address: u64) {
    query(address, |ledger| ledger.share(address, Access::Exported));
}
