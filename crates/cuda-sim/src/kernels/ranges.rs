//! Device memory, as kernels access it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::{ptr, slice};

use crate::base::code::{ILLEGAL_ADDRESS, Result};

/// Memory that a kernel can access.
#[derive(Clone, Copy)]
pub struct Range {
    pub start: u64,
    pub size: u64,
    /// The host address of its contents.
    pub contents: usize,
}

pub struct Ranges<F> {
    /// Returns the range in which an address lies, if the kernel's context can access it.
    find: F,
    /// Those that it has accessed: a kernel uses few, over and over.
    recent: Vec<Range>,
}

impl<F: Fn(u64) -> Option<Range>> Ranges<F> {
    /// The memory in which `find` looks addresses up.  What it finds must stay mapped while the kernel runs.
    pub fn new(find: F) -> Self {
        Self { find, recent: Vec::new() }
    }

    fn contents(&mut self, address: u64, size: usize) -> Result<usize> {
        let offset = |range: &Range| {
            let offset = address.checked_sub(range.start)?;
            let end = offset.checked_add(size as u64)?;
            (end <= range.size).then_some(range.contents + offset as usize)
        };
        if let Some(contents) = self.recent.iter().find_map(offset) {
            return Ok(contents);
        }
        let range = (self.find)(address).ok_or(ILLEGAL_ADDRESS)?;
        self.recent.push(range);
        offset(&range).ok_or(ILLEGAL_ADDRESS)
    }

    /// Reads the bytes from an address on.  Fails unless the kernel can access all of them.
    pub fn load(&mut self, address: u64, into: &mut [u8]) -> Result {
        let contents = self.contents(address, into.len())?;
        // SAFETY: the range is mapped, and stays so while work of the context is queued: pages of devices
        // always, and others because they are unmapped when no work is in flight.
        unsafe { ptr::copy_nonoverlapping(contents as *const u8, into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    pub fn store(&mut self, address: u64, bytes: &[u8]) -> Result {
        let contents = self.contents(address, bytes.len())? as *mut u8;
        // SAFETY: as for `load`.  The host may read a word of 8 bytes while this writes it, so that
        // store is atomic; its address is a multiple of 8.
        unsafe {
            match <[u8; 8]>::try_from(bytes) {
                Ok(word) => {
                    let word = u64::from_ne_bytes(word);
                    AtomicU64::from_ptr(contents.cast()).store(word, Ordering::Release);
                }
                Err(_) => slice::from_raw_parts_mut(contents, bytes.len()).copy_from_slice(bytes),
            }
        }
        Ok(())
    }
}
