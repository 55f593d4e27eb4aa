//! Device memory that several processes use.

use crate::Current;
use crate::stored::stored;
use arrow_cuda_driver::{CudaResult, IpcHandle, call};

/// `CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`, the only flag there is.
const LAZY_ENABLE_PEER_ACCESS: u32 = 1;

impl Current<'_> {
    /// The driver's IPC handle of the allocation that contains an address.
    ///
    /// # Errors
    ///
    /// Driver errors, for memory that cannot be shared.
    pub fn export_memory(&self, address: u64) -> CudaResult<[u8; 64]> {
        // SAFETY: stores 64 bytes; the address is looked up, not read.
        stored([0u8; 64], |at| unsafe { call!(cuIpcGetMemHandle(at, address)) })
    }

    /// Maps an allocation that another process has exported, and returns its address in this
    /// process.
    ///
    /// # Errors
    ///
    /// Driver errors; error 201 for a handle that this process has exported itself.
    pub fn open_memory(&self, handle: [u8; 64]) -> CudaResult<u64> {
        let (handle, flags) = (IpcHandle(handle), LAZY_ENABLE_PEER_ACCESS);
        // SAFETY: stores an address; the driver checks the handle.
        stored(0u64, |at| unsafe { call!(cuIpcOpenMemHandle_v2(at, handle, flags)) })
    }

    /// Unmaps memory that [`open_memory`](Self::open_memory) has mapped.
    ///
    /// # Safety
    ///
    /// The mapping must be the caller's to close, once.
    pub unsafe fn close_memory(&self, address: u64) -> CudaResult<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { call!(cuIpcCloseMemHandle(address)) }
    }
}
