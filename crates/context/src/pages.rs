//! Ordinary memory in pages of its own, to be pinned, and what the system reports of its memory.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, mem, ptr, thread};

/// The size of a huge page where other pages have 4 KiB.
const HUGE_PAGE: usize = 2 << 20;
/// More threads get pages no faster.
const MOST_THREADS: usize = 8;

/// The size of the system's pages, in bytes: 4096 on x86-64, and up to 65,536 on aarch64.
///
/// ```
/// assert!(arrow_cuda_context::page_size().is_multiple_of(4096));
/// ```
pub fn page_size() -> usize {
    // SAFETY: takes no pointer.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}

/// A field of `/proc/meminfo`, in bytes; `None` if the system does not provide it.
///
/// ```
/// use arrow_cuda_context::memory_of_the_machine;
///
/// let total = memory_of_the_machine("MemTotal:").expect("a field of every system");
/// assert!(memory_of_the_machine("MemAvailable:").is_some_and(|bytes| bytes < total));
/// assert!(total > 64 << 20 && memory_of_the_machine("MemMissing:").is_none());
/// ```
pub fn memory_of_the_machine(name: &str) -> Option<u64> {
    let described = fs::read_to_string("/proc/meminfo").ok()?;
    let line = described.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// A mapping of fresh memory, which is zero.  It begins at a multiple of 2 MiB, and has huge pages where
/// the kernel grants them.
///
/// ```
/// use arrow_cuda_context::Pages;
///
/// let pages = Pages::map(10_000).expect("room");
/// pages.touch();
/// assert!(pages.size() >= 10_000 && pages.start().addr() % (2 << 20) == 0);
/// ```
#[derive(Debug)]
pub struct Pages {
    start: *mut u8,
    size: usize,
}

// SAFETY: plain memory, which only its owner unmaps.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Pages {
    /// Whole pages for `size` bytes, more than 0; `None` if the system refuses the mapping.
    pub fn map(size: usize) -> Option<Self> {
        let size = size.checked_next_multiple_of(page_size())?;
        let length = size.checked_add(HUGE_PAGE)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping.
        let mapping = unsafe { libc::mmap(ptr::null_mut(), length, access, kind, -1, 0) };
        if mapping == libc::MAP_FAILED {
            return None;
        }
        let mapping = mapping.cast::<u8>();
        let start = mapping.map_addr(|mapping| mapping.next_multiple_of(HUGE_PAGE));
        let before = start.addr() - mapping.addr();
        let whole = size / HUGE_PAGE * HUGE_PAGE;
        // SAFETY: all of it lies within the mapping, and what is unmapped is no part of the result.
        unsafe {
            if before > 0 {
                unmap(mapping, before);
            }
            if before < HUGE_PAGE {
                unmap(start.add(size), HUGE_PAGE - before);
            }
            if whole > 0 {
                libc::madvise(start.cast(), whole, libc::MADV_HUGEPAGE);
            }
        }
        Some(Self { start, size })
    }

    /// Where the memory begins.
    pub fn start(&self) -> *mut u8 {
        self.start
    }

    /// The size, in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Keeps the memory from forked children, which then have no mapping there.
    pub fn withhold_from_children(&self) {
        // SAFETY: the mapping; a child that uses it all the same faults.
        unsafe { libc::madvise(self.start.cast(), self.size, libc::MADV_DONTFORK) };
    }

    /// Touches all of the memory, by several threads: the kernel clears a page at its first touch, which
    /// takes longer than to pin it.
    pub fn touch(&self) {
        let (start, size, next) = (self.start.expose_provenance(), self.size, AtomicUsize::new(0));
        let page = page_size();
        let touch = || {
            while let at = next.fetch_add(HUGE_PAGE, Ordering::Relaxed)
                && at < size
            {
                for at in (at..size.min(at + HUGE_PAGE)).step_by(page) {
                    let page = ptr::with_exposed_provenance_mut::<u8>(start + at);
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

    /// Leaves the mapping to whoever has its address.
    pub(crate) fn into_address(self) -> u64 {
        let address = self.start.expose_provenance() as u64;
        mem::forget(self);
        address
    }

    /// Takes a mapping back.
    ///
    /// # Safety
    ///
    /// It must be one of [`into_address`](Self::into_address), for as many bytes, and be taken back once.
    pub(crate) unsafe fn at(address: u64, size: usize) -> Self {
        let start = ptr::with_exposed_provenance_mut(address as usize);
        Self { start, size: size.next_multiple_of(page_size()) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: mapped in `map`, and unmapped once; nothing uses it any more.
        unsafe { unmap(self.start, self.size) };
    }
}

/// Ends the mapping of whole pages.
///
/// # Safety
///
/// Nobody else may use them.
unsafe fn unmap(start: *mut u8, size: usize) {
    // SAFETY: guaranteed by the caller.
    let unmapped = unsafe { libc::munmap(start.cast(), size) };
    debug_assert_eq!(unmapped, 0, "the pages are whole");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_zero_and_can_be_written_to_its_end() {
        let page = page_size();
        for size in [1, page, page + 1, HUGE_PAGE, HUGE_PAGE + 1, 3 * HUGE_PAGE - 1] {
            let address = Pages::map(size).expect("room").into_address();
            // SAFETY: the mapping above, which is taken back.
            let pages = unsafe { Pages::at(address, size) };
            assert_eq!((pages.start().addr() as u64, address % HUGE_PAGE as u64), (address, 0));
            assert_eq!(pages.size(), size.next_multiple_of(page));
            pages.touch();
            // SAFETY: within the mapping.
            unsafe {
                assert_eq!((*pages.start(), *pages.start().add(pages.size() - 1)), (0, 0));
                pages.start().add(pages.size() - 1).write(1);
            }
        }
        assert!(Pages::map(usize::MAX).is_none() && Pages::map(usize::MAX - HUGE_PAGE).is_none());
    }
}
