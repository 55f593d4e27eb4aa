//! Pinned memory for the slots of a lane.

use super::super::host::{HUGE_PAGE, prefer_huge_pages};
use crate::RegisteredMemory;
use arrow_cuda_context::Context;
use arrow_cuda_driver::{CudaError, CudaResult, codes};
use std::alloc::{Layout, alloc, dealloc};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// More threads clear pages no faster.
const MOST_CLEARERS: usize = 8;

/// Ordinary memory in huge pages, which is pinned then: programs would wait longer for the driver's own
/// pinned memory (0.3 ms for each MiB on an H200's host, measured).
#[derive(Debug)]
pub(super) struct Slots {
    start: usize,
    size: usize,
    registered: RegisteredMemory,
}

/// The memory, as long as it is pinned.
struct Pages {
    start: *mut u8,
    layout: Layout,
}

// SAFETY: plain memory, which only its owner frees.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Pages {
    /// `size` bytes, more than 0; `None` if the system has no room, since the driver can copy without them.
    fn allocate(size: usize) -> Option<Self> {
        let layout = Layout::from_size_align(size, HUGE_PAGE).ok()?;
        // SAFETY: the size is not 0.
        let start = unsafe { alloc(layout) };
        if start.is_null() {
            return None;
        }
        prefer_huge_pages(start.addr(), size);
        // SAFETY: `size` bytes were allocated there; a forked child has no use for them.
        unsafe { libc::madvise(start.cast(), size, libc::MADV_DONTFORK) };
        let pages = Self { start, layout };
        pages.clear();
        Some(pages)
    }

    /// Writes zeros, by several threads: the kernel clears a page at its first touch, which takes longer
    /// than anything else here.
    fn clear(&self) {
        let (start, size) = (self.start.expose_provenance(), self.layout.size());
        let next = AtomicUsize::new(0);
        let clear = || {
            while let at = next.fetch_add(HUGE_PAGE, Ordering::Relaxed)
                && at < size
            {
                let page = std::ptr::with_exposed_provenance_mut::<u8>(start + at);
                // SAFETY: within the memory, and each page is taken by one thread.
                unsafe { page.write_bytes(0, HUGE_PAGE.min(size - at)) };
            }
        };
        thread::scope(|scope| {
            for _ in 1..size.div_ceil(HUGE_PAGE).min(MOST_CLEARERS) {
                // This thread does what the others don't.
                let _ = thread::Builder::new().spawn_scoped(scope, clear);
            }
            clear();
        });
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: allocated in `allocate` with this layout; what comes there next may be inherited again.
        unsafe {
            libc::madvise(self.start.cast(), self.layout.size(), libc::MADV_DOFORK);
            dealloc(self.start, self.layout);
        }
    }
}

impl Slots {
    /// `size` bytes, more than 0.
    pub(super) fn allocate(context: &Context, size: usize) -> CudaResult<Self> {
        let Some(pages) = Pages::allocate(size) else {
            return Err(CudaError::of_call("cuMemHostRegister", codes::OUT_OF_MEMORY));
        };
        let start = pages.start;
        // SAFETY: the owner keeps the memory where it is.
        let registered =
            unsafe { RegisteredMemory::register(context, start, size, Box::new(pages)) }?;
        Ok(Self { start: start.expose_provenance(), size, registered })
    }

    /// Keeps the memory for good: the device may still use it.
    pub(super) fn retain_for_good(self) {
        std::mem::forget(self.registered);
    }

    /// The start of the memory.
    pub(super) fn start(&self) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(self.start)
    }

    /// The size, in bytes.
    pub(super) fn size(&self) -> usize {
        self.size
    }
}
