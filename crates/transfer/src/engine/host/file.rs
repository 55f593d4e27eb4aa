//! A part of a file, as the host side of an upload.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// Why and where a file could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The position in the file, in bytes.
    pub position: u64,
    /// The system's error number; `None` if the file ends at this position.
    pub code: Option<i32>,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let position = self.position;
        match self.code {
            Some(code) => {
                let error = io::Error::from_raw_os_error(code);
                write!(f, "cannot read the file at byte {position}: {error}")
            }
            None => write!(f, "the file ends at byte {position}, before the end of the copy"),
        }
    }
}

impl std::error::Error for ReadError {}

/// Bytes of a file that are read where a copy of memory would read memory.
#[derive(Debug)]
pub(crate) struct FilePart<'file> {
    file: BorrowedFd<'file>,
    /// Where the part begins in the file, in bytes.
    offset: u64,
    size: usize,
}

impl<'file> FilePart<'file> {
    /// `size` bytes from `offset` on.
    pub(crate) fn new(file: &'file impl AsFd, offset: u64, size: usize) -> Self {
        Self { file: file.as_fd(), offset, size }
    }

    /// The same part without its lifetime, for threads that outlive the borrow checker's view.
    ///
    /// # Safety
    ///
    /// No thread may read the file through the result after `'file`.
    pub(crate) unsafe fn without_lifetime(self) -> FilePart<'static> {
        // SAFETY: guaranteed by the caller.
        let file = unsafe { BorrowedFd::borrow_raw(self.file.as_raw_fd()) };
        FilePart { file, offset: self.offset, size: self.size }
    }

    /// The number of bytes.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Fills `out` with the bytes from `at` on, which is relative to the part.
    ///
    /// # Errors
    ///
    /// [`ReadError`]; `out` may be filled in part.
    pub(crate) fn read(&self, at: usize, out: &mut [u8]) -> Result<(), ReadError> {
        fill(out, self.offset.saturating_add(at as u64), |out, position| {
            let position = i64::try_from(position).map_err(|_| too_far())?;
            let (file, start, size) = (self.file.as_raw_fd(), out.as_mut_ptr(), out.len());
            // SAFETY: an open file, and a range that is writable for its length.
            let read = unsafe { libc::pread(file, start.cast(), size, position) };
            usize::try_from(read).map_err(|_| io::Error::last_os_error())
        })
        .map_err(|error| match error.code {
            // The file may end long before the place that was read.
            None => ReadError { position: error.position.min(self.end()), ..error },
            Some(_) => error,
        })
    }

    /// The position behind the file's last byte, as far as the system tells.
    fn end(&self) -> u64 {
        let file = self.file.try_clone_to_owned().map(File::from);
        file.and_then(|file| file.metadata()).map_or(u64::MAX, |metadata| metadata.len())
    }
}

fn too_far() -> io::Error {
    io::Error::from_raw_os_error(libc::EOVERFLOW)
}

/// Calls `read` until `out` is full: it may return fewer bytes than asked for, or be interrupted.
fn fill(
    out: &mut [u8],
    start: u64,
    mut read: impl FnMut(&mut [u8], u64) -> io::Result<usize>,
) -> Result<(), ReadError> {
    let mut done = 0;
    while done < out.len() {
        let position = start + done as u64;
        match read(&mut out[done..], position) {
            Ok(0) => return Err(ReadError { position, code: None }),
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(ReadError { position, code: error.raw_os_error() }),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn short_and_interrupted_reads_go_on(
            size in 0..200usize, start in 0..50u64,
            turns in proptest::collection::vec(proptest::option::of(1..20usize), 1..20),
        ) {
            let file: Vec<u8> = (0..=255).collect();
            let (mut out, mut turn) = (vec![0; size], 0);
            // The last turn of each round returns all that is asked for.
            fill(&mut out, start, |out, position| {
                turn += 1;
                let most = match turns.get(turn % (turns.len() + 1)) {
                    None => out.len(),
                    Some(Some(most)) => (*most).min(out.len()),
                    Some(None) => return Err(io::ErrorKind::Interrupted.into()),
                };
                out[..most].copy_from_slice(&file[position as usize..][..most]);
                Ok(most)
            })?;
            prop_assert_eq!(&out, &file[start as usize..][..size]);
        }
    }

    #[test]
    fn errors_name_the_position() {
        let halfway = |end: io::Result<usize>| {
            let mut results = [Ok(3), end].into_iter();
            fill(&mut [0; 10], 100, |_, _| results.next().expect("two calls"))
        };
        assert_eq!(halfway(Ok(0)), Err(ReadError { position: 103, code: None }));
        let failed = halfway(Err(io::Error::from_raw_os_error(libc::EIO)));
        assert_eq!(failed, Err(ReadError { position: 103, code: Some(libc::EIO) }));
    }
}
