//! Kernels, which run on the host.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use std::{ptr, slice};

use super::ptx::{Fault, Memory, Program};
use crate::base::code::{ILLEGAL_ADDRESS, LAUNCH_FAILED, MISALIGNED_ADDRESS, Result};

/// The name of the kernel that only keeps its stream busy.
const SLEEP: &str = "sim_sleep";

/// An entry of a module that the simulator can run.
#[derive(Clone, Debug)]
pub enum Kernel {
    Program(Arc<Program>),
    /// Keeps the stream busy for so many milliseconds.
    Sleep,
}

/// Memory that a kernel can access.
#[derive(Clone, Copy)]
pub struct Range {
    pub start: u64,
    pub size: u64,
    /// The host address of its contents.
    pub contents: usize,
}

impl Kernel {
    /// The entry of a text of PTX; `None` for one with instructions that the simulator does not know.
    pub fn of(source: &str, entry: &str) -> Option<Self> {
        if entry == SLEEP {
            return Some(Self::Sleep);
        }
        Some(Self::Program(Arc::new(Program::parse(source, entry)?)))
    }

    /// The size of each parameter, in bytes.
    pub fn parameters(&self) -> &[u64] {
        match self {
            Self::Program(program) => &program.parameters,
            Self::Sleep => &[8],
        }
    }

    /// Does what the kernel does, in so many blocks of so many threads.  `find` returns the range that
    /// an address lies in, if the kernel's context can access it.  Ranges must stay mapped while this
    /// runs.
    ///
    /// # Errors
    /// `ILLEGAL_ADDRESS`, `MISALIGNED_ADDRESS` or `LAUNCH_FAILED`, which end the context.
    pub fn run(
        &self,
        grid: (u32, u32),
        parameters: &[u64],
        find: impl Fn(u64) -> Option<Range>,
    ) -> Result {
        match self {
            Self::Sleep => {
                thread::sleep(Duration::from_millis(parameters[0]));
                Ok(())
            }
            Self::Program(program) => {
                let mut memory = Ranges { find, recent: Vec::new() };
                program.run(grid, parameters, &mut memory).map_err(|fault| match fault {
                    Fault::Address => ILLEGAL_ADDRESS,
                    Fault::Alignment => MISALIGNED_ADDRESS,
                    Fault::Divergence => LAUNCH_FAILED,
                })
            }
        }
    }
}

/// The memory of a running kernel.
struct Ranges<F> {
    find: F,
    /// Those that it has accessed: a kernel uses few, over and over.
    recent: Vec<Range>,
}

impl<F: Fn(u64) -> Option<Range>> Ranges<F> {
    /// The host address of the contents of `size` bytes.
    fn contents(&mut self, address: u64, size: usize) -> std::result::Result<usize, Fault> {
        let offset = |range: &Range| {
            let offset = address.checked_sub(range.start)?;
            let end = offset.checked_add(size as u64)?;
            (end <= range.size).then_some(range.contents + offset as usize)
        };
        if let Some(contents) = self.recent.iter().find_map(offset) {
            return Ok(contents);
        }
        let range = (self.find)(address).ok_or(Fault::Address)?;
        self.recent.push(range);
        offset(&range).ok_or(Fault::Address)
    }
}

impl<F: Fn(u64) -> Option<Range>> Memory for Ranges<F> {
    fn load(&mut self, address: u64, into: &mut [u8]) -> std::result::Result<(), Fault> {
        let contents = self.contents(address, into.len())?;
        // SAFETY: the range is mapped, and stays so while work of the context is queued: pages of devices
        // always, and others because freeing waits for it.
        unsafe { ptr::copy_nonoverlapping(contents as *const u8, into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    fn store(&mut self, address: u64, bytes: &[u8]) -> std::result::Result<(), Fault> {
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
