//! A device's address window and the memory behind it.
//!
//! The window is reserved without access, so that a host thread that touches a device address faults.  The contents
//! are the pages of an anonymous file, which is mapped elsewhere, at a constant distance from the window.  Another
//! process maps the same file for IPC.  The file disappears with its last user.
//!
//! After the device's memory, the file lists the exported allocations: it has an entry for each place where one can
//! begin.

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::atomic::{AtomicU64, Ordering};

use super::allocator::{ALIGNMENT, BLOCK};
use super::ipc_handle::IpcHandle;
use crate::base::{Mapping, READ_WRITE, map};

/// The size of an entry in the list of exports, in bytes.
const ENTRY: u64 = 8;
/// The file keeps its size after its process ends: access to pages that are gone would kill whoever
/// has them mapped.
const SEALS: i32 = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;

/// The bytes of fresh memory: on a device, others have left theirs there.
const RESIDUE: u8 = 0xA5;
/// How many bytes of it at each end: the pages between them cost memory of the host, so they read as zeros.
const SOILED: u64 = 64 << 10;

/// Once all devices are there, it lives as long as the process.
#[derive(Debug)]
pub struct Window {
    pub base: u64,
    _reserved: Mapping,
    contents: Mapping,
    pub length: u64,
    file: File,
    /// Tells exports of this window from those of other ones.
    nonce: u64,
}

impl Window {
    /// Creates a window of `length` bytes, a multiple of [`BLOCK`].
    pub fn create(length: u64) -> io::Result<Self> {
        // SAFETY: the name is a C string; the descriptor is new, and nobody else owns it.
        let file = unsafe {
            let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
            let fd = libc::memfd_create(c"cuda-sim-device".as_ptr(), flags);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            File::from_raw_fd(fd)
        };
        let with_exports = length + length / ALIGNMENT * ENTRY;
        file.set_len(with_exports)?;
        // SAFETY: an open file; the call takes a number.
        if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, SEALS) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let reserve = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let reserved = Mapping::new(length + BLOCK, libc::PROT_NONE, reserve, -1)?;
        let shared = libc::MAP_SHARED | libc::MAP_NORESERVE;
        let contents = Mapping::new(with_exports, READ_WRITE, shared, file.as_raw_fd())?;
        let mut nonce = [0_u8; 8];
        keep_to_this_process(contents.start, with_exports);
        // SAFETY: the buffer has 8 bytes.
        if unsafe { libc::getrandom(nonce.as_mut_ptr().cast(), nonce.len(), 0) } != 8 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self {
            base: (reserved.start as u64).next_multiple_of(BLOCK),
            _reserved: reserved,
            contents,
            length,
            file,
            nonce: u64::from_ne_bytes(nonce),
        })
    }

    /// Whether `address` is reserved for this device, allocated or not.
    pub fn contains(&self, address: u64) -> bool {
        (self.base..self.base + self.length).contains(&address)
    }

    pub fn contents_of(&self, address: u64) -> usize {
        self.contents.start + (address - self.base) as usize
    }

    pub fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// The file of the contents.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Writes residue into fresh memory, as whoever had it before has left it on a device.
    pub fn soil(&self, address: u64, size: u64) {
        let length = size.min(SOILED);
        for start in [address, address + size - length] {
            let contents = self.contents_of(start) as *mut u8;
            // SAFETY: the range was just allocated, and its contents are mapped.
            unsafe { contents.write_bytes(RESIDUE, length as usize) };
        }
    }

    /// Gives the pages of whole blocks back to the system.
    pub fn discard(&self, blocks: &Range<u64>) {
        let at = (self.contents.start + blocks.start as usize) as *mut c_void;
        // SAFETY: the blocks lie in the contents and hold no allocation.  If it fails,
        // the pages only stay in use.
        unsafe { libc::madvise(at, (blocks.end - blocks.start) as usize, libc::MADV_REMOVE) };
    }

    /// Lists allocation `id`, which begins at `offset`, for other processes.  Returns its entry's place in the
    /// file, and what stands there.
    pub fn list_export(&self, offset: u64, id: u64) -> (u64, u64) {
        let token = self.nonce.wrapping_add(id);
        (self.set_export(offset, token), token)
    }

    /// Lists the allocation that begins at `offset`, or with 0 takes it off the list.
    pub fn set_export(&self, offset: u64, token: u64) -> u64 {
        let entry = self.length + offset / ALIGNMENT * ENTRY;
        let place = self.contents.start + entry as usize;
        // SAFETY: the list is mapped as long as this lives, and its words are accessed as atomics only.
        unsafe { AtomicU64::from_ptr(place as *mut u64) }.store(token, Ordering::Release);
        entry
    }

    /// Maps `length` bytes at `at` in another window's file over the contents at `offset`; without one, puts
    /// the window's own pages back.
    pub fn replace(
        &self,
        offset: u64,
        length: u64,
        foreign: Option<(&File, u64)>,
    ) -> io::Result<()> {
        let place = self.contents.start + offset as usize;
        let flags = libc::MAP_SHARED | libc::MAP_NORESERVE | libc::MAP_FIXED;
        let (file, at) = foreign.unwrap_or((&self.file, offset));
        map(place, length, READ_WRITE, flags, file.as_raw_fd(), at)?;
        keep_to_this_process(place, length);
        Ok(())
    }
}

/// Keeps pages of contents out of core files and forked children, which do not need them.
fn keep_to_this_process(start: usize, length: u64) {
    for advice in [libc::MADV_DONTDUMP, libc::MADV_DONTFORK] {
        // SAFETY: the range was just mapped, and neither advice changes what this process reads.
        unsafe { libc::madvise(start as *mut c_void, length as usize, advice) };
    }
}

/// Opens the file in which exported memory lies, if the exporter still has the allocation.
pub fn open_foreign(handle: &IpcHandle) -> Option<File> {
    let path = format!("/proc/{}/fd/{}", handle.process, handle.descriptor);
    let mut options = File::options();
    options.read(true).write(true).custom_flags(libc::O_NONBLOCK);
    let file = options.open(path).ok()?;
    // SAFETY: an open file; the call takes no further argument.
    let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
    if seals < 0 || seals & SEALS != SEALS {
        return None;
    }
    let end = handle.offset.checked_add(handle.size)?;
    let mut token = [0; ENTRY as usize];
    file.read_exact_at(&mut token, handle.entry).ok()?;
    let is_live = u64::from_ne_bytes(token) == handle.token;
    (is_live && end <= file.metadata().ok()?.len()).then_some(file)
}
