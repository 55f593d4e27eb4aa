//! Kernels: known by name and run on the host.  PTX is looked at for its entry names only.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::code::{Answer, Code, ILLEGAL_ADDRESS, MISALIGNED_ADDRESS};
use crate::context::Context;
use crate::driver::Driver;

/// A loaded module: the names of its entries.
pub struct Module {
    pub context: &'static Context,
    entries: Vec<String>,
}

/// An entry of a loaded module.
pub struct Function {
    pub module: Arc<Module>,
    pub name: String,
}

impl Module {
    /// Reads an image; `None` unless it is PTX with an entry.
    pub fn parse(context: &'static Context, image: &str) -> Option<Self> {
        let entries: Vec<String> = image
            .split(".entry")
            .skip(1)
            .filter_map(|rest| {
                rest.split(|c: char| c == '(' || c.is_whitespace()).find(|word| !word.is_empty())
            })
            .map(str::to_owned)
            .collect();
        let is_ptx = image.contains(".version") && !entries.is_empty();
        is_ptx.then_some(Self { context, entries })
    }

    pub fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| entry == name)
    }
}

/// A kernel that the simulator can run, with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Writes `ticket` to the words at `found` and at `answer` if the `size` bytes at `left` and
    /// `right` differ.
    Differs { left: u64, right: u64, size: u64, found: u64, answer: u64, ticket: u64 },
    /// Keeps the stream busy.
    Sleep { milliseconds: u64 },
}

impl Kernel {
    /// The kernel called `name`, with arguments that `argument` reads by their index; `None`
    /// for a name that the simulator does not know.
    pub fn named(
        name: &str,
        argument: impl Fn(usize) -> Result<u64, Code>,
    ) -> Option<Result<Self, Code>> {
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
            "sim_sleep" => Some(argument(0).map(|milliseconds| Self::Sleep { milliseconds })),
            _ => None,
        }
    }

    /// Does what the kernel does, as work of `context`.
    ///
    /// # Errors
    /// `ILLEGAL_ADDRESS` or `MISALIGNED_ADDRESS`, which end the context.
    pub fn run(self, context: &'static Context) -> Answer {
        match self {
            Self::Sleep { milliseconds } => thread::sleep(Duration::from_millis(milliseconds)),
            Self::Differs { left, right, size, found, answer, ticket } => {
                let words = [found, answer].map(|word| {
                    let is_aligned = word.is_multiple_of(8);
                    if is_aligned { accessible(context, word, 8) } else { Err(MISALIGNED_ADDRESS) }
                });
                let words = [words[0]?, words[1]?];
                if size > 0 {
                    let left = accessible(context, left, size)? as *const c_void;
                    let right = accessible(context, right, size)? as *const c_void;
                    // SAFETY: all four ranges were resolved: they are mapped, and stay so while
                    // work of the context is queued, because freeing waits for it.  Of the host's
                    // words others may read while this is written, so it is atomic.
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

/// The host address of memory that kernels of `context` may use.
fn accessible(context: &Context, address: u64, length: u64) -> Result<usize, Code> {
    let resolved = Driver::get()?.memory().resolve_reached(context, address, length);
    resolved.map(|memory| memory.contents).map_err(|_| ILLEGAL_ADDRESS)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(".version 6.0\n.visible .entry nothing() { ret; }", &["nothing"])]
    #[case(".version 8.0\n.entry\n  a(\n.param .u64 x) {}\n.entry b {}", &["a", "b"])]
    fn entries_are_found(#[case] image: &str, #[case] names: &[&str]) {
        let module = Module::parse(Context::create(0, false), image).expect("PTX");
        assert!(names.iter().all(|name| module.has(name)));
        assert!(!module.has("absent"));
    }

    #[rstest]
    #[case("not a module")]
    #[case(".version 6.0")]
    #[case(".entry nothing()")]
    fn what_is_no_ptx_is_refused(#[case] image: &str) {
        assert!(Module::parse(Context::create(0, false), image).is_none());
    }
}
