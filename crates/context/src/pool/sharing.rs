//! Sharing memory with other processes.

use super::ledger::Access;
use super::lookup::query;
use crate::Current;
use arrow_cuda_driver::CudaResult;

/// Prepares memory for another process, which can reach the whole segment that contains it: wipes
/// the residue of earlier buffers there, and excludes the block from reuse, since no fence covers
/// that process's work.  Other buffers that are in use there, or were released while work in flight
/// uses them, stay as they are.
///
/// Memory that was not allocated here is left unchanged.
///
/// # Errors
///
/// Driver errors: of wiping, and of earlier work.
pub fn prepare_sharing(current: &Current<'_>, address: u64) -> CudaResult<()> {
    for residue in query(address, |ledger| ledger.share(address)) {
        let mut wiped = Ok(());
        for (start, size) in &residue {
            let size = usize::try_from(*size).unwrap_or(usize::MAX);
            // SAFETY: bytes that no buffer uses, until `finish_sharing`.
            wiped = wiped.and_then(|()| unsafe { current.fill_memory(*start, 0, size) });
        }
        query(address, |ledger| {
            ledger.finish_sharing(&residue, wiped.is_ok());
            Some(())
        });
        wiped?;
    }
    Ok(())
}

/// Marks the memory at an address as exported: other processes may have it mapped at any time, so
/// the block that contains it is never freed.  False if no block that was allocated here does.
pub fn retain_exported(address: u64) -> bool {
    !query(address, |ledger| ledger.widen(address, Access::Exported)).is_empty()
}
