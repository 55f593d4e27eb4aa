//! Where the memory of a pool comes from, and goes back to.

use super::ledger::{MIN_LARGE, Segment};
use crate::{Current, Pages, Unused, memory_of_the_machine};
use arrow_cuda_driver::{CudaError, CudaResult, codes, holds_interpreter};

/// A kind of memory, with one pool of it in each context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Memory of the context's device.
    Device,
    /// Pages of the process, which the driver pins for every context.  Without their own they are ordinary memory:
    /// others may have references to it.
    Pinned,
    /// The same, for callers that must not wait.
    Pages,
}

impl Source {
    pub(super) const ALL: [Self; 3] = [Self::Device, Self::Pinned, Self::Pages];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Device => "device memory",
            Self::Pinned | Self::Pages => "pinned host memory",
        }
    }

    pub(super) fn outlives_context(self) -> bool {
        self != Self::Device
    }

    /// Whether libarrow allocates and releases the memory, also while it has the interpreter's lock and relies on that.
    /// So releases leave it to another thread to give memory back, which may wait.
    pub(super) fn serves_libarrow(self) -> bool {
        self == Self::Pages
    }

    /// Whether an allocation may wait for work in flight, which may need the interpreter's lock.
    pub(super) fn may_wait(self) -> bool {
        !self.serves_libarrow() || !holds_interpreter()
    }

    /// Obtains `size` bytes, more than 0, for a segment.
    pub(super) fn obtain(self, current: &Current<'_>, size: u64) -> CudaResult<u64> {
        let bytes = || usize::try_from(size).unwrap_or(usize::MAX);
        match self {
            Self::Device => current.allocate_memory(size),
            Self::Pinned | Self::Pages => pin_pages(current, bytes()),
        }
    }

    /// Gives a segment back to the driver.
    ///
    /// # Safety
    ///
    /// The segment must come from this source in this context, and be given back once.
    pub(super) unsafe fn give_back(
        self,
        current: &Current<'_>,
        segment: &Segment,
        unused: &Unused,
    ) -> CudaResult<()> {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match self {
                Self::Device => current.release_memory(segment.address, unused),
                Self::Pinned | Self::Pages => {
                    current.unregister_host_memory(segment.address as *mut u8, unused)?;
                    self.unmap(segment, unused);
                    Ok(())
                }
            }
        }
    }

    /// Returns pages to the system that are no longer pinned; other memory has gone with its context.
    ///
    /// # Safety
    ///
    /// As for [`give_back`](Self::give_back).
    pub(super) unsafe fn unmap(self, segment: &Segment, _unused: &Unused) {
        if self.outlives_context() {
            // SAFETY: made in `pin_pages`; guaranteed by the caller.
            drop(unsafe { Pages::at(segment.address, segment.capacity as usize) });
        }
    }
}

/// Maps pages and has the driver pin them.  Returns where they begin.
fn pin_pages(current: &Current<'_>, size: usize) -> CudaResult<u64> {
    // The system promises more memory than it has, and ends processes that touch it.
    let has_room = (size as u64) < 4 * MIN_LARGE
        || memory_of_the_machine("MemAvailable:").is_none_or(|bytes| bytes >= size as u64);
    let Some(pages) = has_room.then(|| Pages::map(size)).flatten() else {
        return Err(CudaError::of_call("cuMemHostRegister", codes::OUT_OF_MEMORY));
    };
    pages.touch();
    // SAFETY: the pages stay where they are until the segment is given back.
    unsafe { current.pin_host_memory(pages.start(), size) }?;
    Ok(pages.into_address())
}
