//! Pages of the process's address space.

use std::ffi::c_void;
use std::io;
use std::os::fd::RawFd;
use std::ptr;

pub const READ_WRITE: i32 = libc::PROT_READ | libc::PROT_WRITE;

/// Calls `mmap`; with `MAP_FIXED` the caller must own the range at `at`.  Also fails for a length or
/// offset that the system cannot express.
pub fn map(
    at: usize,
    length: u64,
    access: i32,
    flags: i32,
    fd: RawFd,
    offset: u64,
) -> io::Result<usize> {
    let (Ok(length), Ok(offset)) = (usize::try_from(length), i64::try_from(offset)) else {
        return Err(io::ErrorKind::OutOfMemory.into());
    };
    let at = ptr::without_provenance_mut(at);
    // SAFETY: without `MAP_FIXED` the kernel chooses unused addresses; with it, the one caller
    // replaces pages of its own contents.
    let mapped = unsafe { libc::mmap(at, length, access, flags, fd, offset) };
    if mapped == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    Ok(mapped as usize)
}

/// Ends a mapping that [`map`] made and that nobody uses any more.
pub fn unmap(at: u64, length: u64) {
    // SAFETY: callers own the mapping: they allocated it for the host, or mapped it to read it.
    unsafe { libc::munmap(at as *mut c_void, length as usize) };
}

#[derive(Debug)]
pub struct Mapping {
    pub start: usize,
    length: u64,
}

impl Mapping {
    /// Maps `length` bytes, of the file `fd` from its beginning if there is one.
    pub fn new(length: u64, access: i32, flags: i32, fd: RawFd) -> io::Result<Self> {
        Ok(Self { start: map(0, length, access, flags, fd, 0)?, length })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        unmap(self.start as u64, self.length);
    }
}
