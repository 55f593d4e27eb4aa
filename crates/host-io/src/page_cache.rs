//! The contents of the system's page cache.

use arrow_cuda_context::page_size;
use std::fs::File;
use std::os::fd::AsRawFd;

/// This many places of a file are a sufficient sample.
const PLACES: u64 = 64;

/// Whether most of a range of a file is in the page cache, judged by some places.  True if the system does not
/// tell, as for files of other users.
pub(crate) fn holds(file: &File, offset: u64, size: u64) -> bool {
    let page = page_size() as u64;
    let start = offset / page * page;
    let length = size.saturating_add(offset - start);
    let Some(mapping) = Mapping::of(file, start, length) else { return true };
    let pages = length.div_ceil(page);
    let places = PLACES.min(pages);
    let held = (0..places).filter(|place| mapping.is_resident(place * pages / places));
    held.count() as u64 * 2 >= places
}

/// Has the cache forget a file, if the system will.
#[cfg(test)]
pub(crate) fn forget(file: &File) {
    // SAFETY: takes no pointer.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
}

/// A mapping of a file that nobody reads, so it does not matter whether the file shrinks.
struct Mapping {
    start: *mut libc::c_void,
    length: usize,
}

impl Mapping {
    fn of(file: &File, start: u64, length: u64) -> Option<Self> {
        let length = usize::try_from(length).ok().filter(|length| *length > 0)?;
        let (file, offset) = (file.as_raw_fd(), i64::try_from(start).ok()?);
        // SAFETY: a new mapping.
        let start = unsafe {
            let (access, kind) = (libc::PROT_NONE, libc::MAP_SHARED);
            libc::mmap(std::ptr::null_mut(), length, access, kind, file, offset)
        };
        (start != libc::MAP_FAILED).then_some(Self { start, length })
    }

    fn is_resident(&self, page: u64) -> bool {
        let mut answer = 1u8;
        let address = self.start.wrapping_byte_add(page as usize * page_size());
        // SAFETY: one page of the mapping, and room for the answer about it.
        let asked = unsafe { libc::mincore(address, 1, &raw mut answer) };
        asked != 0 || answer & 1 == 1
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped in `of`, and unmapped once.
        unsafe { libc::munmap(self.start, self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_was_written_just_now_is_held_and_holes_are_not() {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(&[1; 100_000]).expect("room");
        assert!(holds(&file, 0, 100_000) && holds(&file, 5000, 1) && holds(&file, 0, 0));
        file.set_len(10_000_000).expect("a hole");
        assert!(!holds(&file, 0, 10_000_000));
        assert!(holds(&file, 1, 120_000) && !holds(&file, 5_000_001, 4_999_999));
    }
}
