//! Kernels, which the simulator knows by name and runs on the host.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::base::code::{ILLEGAL_ADDRESS, MISALIGNED_ADDRESS, Result};
use crate::kernels::strided::StridedCopy;

/// A kernel that the simulator can run, with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Writes `ticket` to the words at `found` and at `answer` if the `size` bytes at `left` and
    /// `right` differ.
    Differs { left: u64, right: u64, size: u64, found: u64, answer: u64, ticket: u64 },
    /// Copies words from one layout to another.
    Strided(StridedCopy),
    /// Keeps the stream busy.
    Sleep { milliseconds: u64 },
}

impl Kernel {
    /// The kernel called `name`, with arguments that `number` reads by their index and by that of a
    /// 64-bit number in them; `None` for a name that the simulator does not know.
    pub fn named(name: &str, number: impl Fn(usize, usize) -> Result<u64>) -> Option<Result<Self>> {
        let argument = |index| number(index, 0);
        let differs = || {
            // Its head, vectors of 16 bytes, and its tail.
            let vectors = argument(3)?.saturating_mul(16);
            let size = argument(2)?.saturating_add(vectors).saturating_add(argument(4)?);
            Ok(Self::Differs {
                left: argument(0)?,
                right: argument(1)?,
                size,
                found: argument(5)?,
                answer: argument(6)?,
                ticket: argument(7)?,
            })
        };
        match name {
            "arrow_cuda_differs" => Some(differs()),
            "arrow_cuda_strided" | "arrow_cuda_transposed" => {
                Some(StridedCopy::read(|at| number(0, at)).map(Self::Strided))
            }
            "sim_sleep" => Some(argument(0).map(|milliseconds| Self::Sleep { milliseconds })),
            _ => None,
        }
    }

    /// Does what the kernel does.  `resolve` takes an address and a length, and returns the host
    /// address of the contents if the kernel's context can access all of them.  They must stay
    /// mapped while this runs.
    ///
    /// # Errors
    /// `ILLEGAL_ADDRESS` or `MISALIGNED_ADDRESS`, which end the context.
    pub fn run(self, resolve: impl Fn(u64, u64) -> Result<usize>) -> Result {
        let accessible = |address, length| resolve(address, length).map_err(|_| ILLEGAL_ADDRESS);
        match self {
            Self::Strided(copy) => copy.run(accessible)?,
            Self::Sleep { milliseconds } => thread::sleep(Duration::from_millis(milliseconds)),
            Self::Differs { left, right, size, found, answer, ticket } => {
                let words = [found, answer].map(|word| match word.is_multiple_of(8) {
                    true => accessible(word, 8),
                    false => Err(MISALIGNED_ADDRESS),
                });
                let words = [words[0]?, words[1]?];
                if size > 0 {
                    let left = accessible(left, size)? as *const c_void;
                    let right = accessible(right, size)? as *const c_void;
                    // SAFETY: all four ranges were resolved: they are mapped, and stay so while
                    // work of the context is queued: pages of devices always, and others because
                    // freeing waits for it.  Others may read the host's word while this is written,
                    // so the store is atomic.
                    unsafe {
                        if libc::memcmp(left, right, size as usize) != 0 {
                            for word in words {
                                AtomicU64::from_ptr(word as *mut u64)
                                    .store(ticket, Ordering::Release);
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
