//! Pinned memory for the slots of a lane.

use crate::RegisteredMemory;
use crate::engine::pools::home_of;
use arrow_cuda_context::{Context, Pages};
use arrow_cuda_driver::{CudaError, CudaResult, codes};

/// Ordinary memory in huge pages, which is pinned then: programs would wait longer for the driver's own
/// pinned memory (0.3 ms for each MiB on an H200's host, measured).
#[derive(Debug)]
pub(super) struct Slots {
    start: usize,
    size: usize,
    _registered: RegisteredMemory,
}

impl Slots {
    /// `size` bytes, more than 0.
    pub(super) fn allocate(context: &Context, size: usize) -> CudaResult<Self> {
        let Some(pages) = Pages::map(size) else {
            return Err(CudaError::of_call("cuMemHostRegister", codes::OUT_OF_MEMORY));
        };
        pages.withhold_from_children(); // which have no use for it
        home_of(context.device()).touch(|| pages.touch());
        let start = pages.start();
        // SAFETY: the owner keeps the memory where it is.
        let registered =
            unsafe { RegisteredMemory::register(context, start, size, Box::new(pages)) }?;
        Ok(Self { start: start.expose_provenance(), size, _registered: registered })
    }

    pub(super) fn start(&self) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(self.start)
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }
}
