//! What the driver answers, and what it is told, by the names that it gives them.

/// `CUDA_ERROR_NOT_INITIALIZED`: what every call answers in a forked child.
pub(crate) const NOT_INITIALIZED: i32 = 3;
/// `CUDA_ERROR_INVALID_CONTEXT`: one that is gone, or never was.
pub(crate) const INVALID_CONTEXT: i32 = 201;
/// `CUDA_ERROR_INVALID_HANDLE`.
pub(crate) const INVALID_HANDLE: i32 = 400;
/// `CUDA_ERROR_NOT_READY`: work that is not done yet.
pub(crate) const NOT_READY: i32 = 600;
/// `CUDA_ERROR_CONTEXT_IS_DESTROYED`.
pub(crate) const CONTEXT_IS_DESTROYED: i32 = 709;
/// `CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED`.
pub(crate) const CAPTURE_UNSUPPORTED: i32 = 900;

/// `CU_EVENT_DISABLE_TIMING`.
pub(crate) const DISABLE_TIMING: u32 = 2;
/// `CU_STREAM_NON_BLOCKING`: not ordered with the default stream.
pub(crate) const NON_BLOCKING: u32 = 1;
