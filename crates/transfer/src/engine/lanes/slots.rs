//! Pinned memory for the slots of a lane.

use super::super::host::{HUGE_PAGE, PAGE, prefer_huge_pages};
use crate::RegisteredMemory;
use arrow_cuda_context::Context;
use arrow_cuda_driver::{CudaError, CudaResult, codes};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// More threads get pages no faster.
const MOST_THREADS: usize = 8;

/// Ordinary memory in huge pages, which is pinned then: programs would wait longer for the driver's own
/// pinned memory (0.3 ms for each MiB on an H200's host, measured).
#[derive(Debug)]
pub(super) struct Slots {
    start: usize,
    size: usize,
    registered: RegisteredMemory,
}

/// A mapping of fresh memory, which is zero.
struct Pages {
    mapping: *mut libc::c_void,
    length: usize,
}

// SAFETY: plain memory, which only its owner unmaps.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Pages {
    /// Room for `size` bytes from the start of a huge page on; `None` if the system has none, since the
    /// driver can copy without them.
    fn map(size: usize) -> Option<Self> {
        let length = size.checked_add(HUGE_PAGE)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping.
        let mapping = unsafe { libc::mmap(std::ptr::null_mut(), length, access, kind, -1, 0) };
        if mapping == libc::MAP_FAILED {
            return None;
        }
        let pages = Self { mapping, length };
        prefer_huge_pages(pages.start().addr(), size);
        // SAFETY: the mapping; a forked child has no use for it.
        unsafe { libc::madvise(mapping, length, libc::MADV_DONTFORK) };
        Some(pages)
    }

    /// Where the first huge page begins.
    fn start(&self) -> *mut u8 {
        self.mapping.cast::<u8>().map_addr(|mapping| mapping.next_multiple_of(HUGE_PAGE))
    }

    /// Touches `size` bytes, by several threads: the kernel clears a page at its first touch, which takes
    /// longer than anything else here.
    fn touch(&self, size: usize) {
        let (start, next) = (self.start().expose_provenance(), AtomicUsize::new(0));
        let touch = || {
            while let at = next.fetch_add(HUGE_PAGE, Ordering::Relaxed)
                && at < size
            {
                for at in (at..size.min(at + HUGE_PAGE)).step_by(PAGE) {
                    let page = std::ptr::with_exposed_provenance_mut::<u8>(start + at);
                    // SAFETY: within the memory, and each huge page is taken by one thread.
                    unsafe { page.write_volatile(0) };
                }
            }
        };
        thread::scope(|scope| {
            for _ in 1..size.div_ceil(HUGE_PAGE).min(MOST_THREADS) {
                // This thread does what the others don't.
                let _ = thread::Builder::new().spawn_scoped(scope, touch);
            }
            touch();
        });
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: mapped in `map`, and unmapped once; nothing uses it any more.
        unsafe { libc::munmap(self.mapping, self.length) };
    }
}

impl Slots {
    /// `size` bytes, more than 0.
    pub(super) fn allocate(context: &Context, size: usize) -> CudaResult<Self> {
        let Some(pages) = Pages::map(size) else {
            return Err(CudaError::of_call("cuMemHostRegister", codes::OUT_OF_MEMORY));
        };
        pages.touch(size);
        let start = pages.start();
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
