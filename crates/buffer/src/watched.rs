//! Reports of how far copies of many buffers are, on the thread that makes them.

use crate::Error;
use crate::error::invalid;
use std::cell::RefCell;

/// Bytes that are copied between two reports.
pub(crate) const PIECE: usize = 64 << 20;

/// Gets the number of bytes copied so far, and the total as far as it is known.  Copies end when it returns false.
type Watch = Box<dyn FnMut(u64, u64) -> bool>;

#[derive(Default)]
struct Watcher {
    watch: Option<Watch>,
    seen: Seen,
}

/// How many bytes copies have moved, and were to move.
///
/// ```
/// use arrow_cuda_buffer::{DeviceBuffer, Seen, watched};
/// use arrow_cuda_context::Context;
///
/// let context = Context::primary(0)?;
/// let buffer = DeviceBuffer::gathered(&context, &[b"abcd"])?;
/// let (bytes, seen) = watched(|_, _| true, || DeviceBuffer::to_vecs(&[&buffer, &buffer]));
/// assert_eq!((bytes?.concat().len(), seen), (8, Seen { done: 8, total: 8 }));
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The number of bytes in the last report.
    pub done: u64,
    /// Of all copies together.
    pub total: u64,
}

thread_local! {
    static WATCHER: RefCell<Watcher> = RefCell::default();
}

/// Does work, and has `watch` called as copies of many buffers proceed that this thread makes meanwhile: after every
/// 64 MiB or less.  It gets the number of bytes copied so far, and the total.  When it returns false, the copy fails.
/// Copies that `watch` makes itself are not watched.
///
/// The second result counts the bytes of all copies, with those on streams, of which `watch` does not hear.
///
/// ```
/// use arrow_cuda_buffer::{DeviceBuffer, Seen, watched};
/// use arrow_cuda_context::Context;
///
/// let context = Context::primary(0)?;
/// let watch = |done, total| {
///     assert!(done <= total);
///     true
/// };
/// let (buffers, seen) =
///     watched(watch, || DeviceBuffer::suballocated_from_host(&context, &[b"one", b"four"]));
/// assert_eq!((buffers?.len(), seen), (2, Seen { done: 7, total: 7 }));
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
pub fn watched<T>(
    watch: impl FnMut(u64, u64) -> bool + 'static,
    work: impl FnOnce() -> T,
) -> (T, Seen) {
    /// Puts the earlier watcher back, also after a panic.
    struct Restored(Option<Watcher>);
    impl Drop for Restored {
        fn drop(&mut self) {
            WATCHER.set(self.0.take().unwrap_or_default());
        }
    }
    let watcher = Watcher { watch: Some(Box::new(watch)), seen: Seen::default() };
    let _restored = Restored(Some(WATCHER.replace(watcher)));
    let made = work();
    (made, WATCHER.with_borrow(|watcher| watcher.seen))
}

/// Tells of bytes that are about to be copied.  Returns whether somebody watches.
pub(crate) fn begin(bytes: usize) -> bool {
    WATCHER.with_borrow_mut(|watcher| {
        watcher.seen.total += bytes as u64;
        watcher.watch.is_some()
    })
}

/// Tells of bytes that were copied.
///
/// # Errors
///
/// [`Error::Invalid`] if the copies are to end.
pub(crate) fn advance(bytes: usize) -> Result<(), Error> {
    // It is not there while it is called, so that it may copy itself.
    let mut watcher = WATCHER.take();
    let Some(watch) = &mut watcher.watch else { return Ok(()) };
    watcher.seen.done += bytes as u64;
    let goes_on = bytes == 0 || watch(watcher.seen.done, watcher.seen.total);
    WATCHER.set(watcher);
    if goes_on { Ok(()) } else { invalid("the copy was stopped") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_told_of_what_nobody_watches() {
        assert!(!begin(5));
        advance(5).expect("no watcher");
        let (made, seen) = watched(|_, _| false, || begin(3));
        assert_eq!((made, seen), (true, Seen { done: 0, total: 3 }));
        assert!(!begin(1));
    }

    #[test]
    fn a_watcher_ends_the_copy_and_is_not_told_of_its_own() {
        let work = || {
            begin(10);
            (advance(4).is_ok(), advance(6).is_ok())
        };
        let watch = |done, _| {
            assert!(!begin(100) && advance(100).is_ok());
            done < 10
        };
        let (made, seen) = watched(watch, work);
        assert_eq!((made, seen), ((true, false), Seen { done: 10, total: 10 }));
    }
}
