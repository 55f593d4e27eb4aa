//! Reads and writes of files at a position, which fail with the place where they ended.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// Why and where a file could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", match code.map(io::Error::from_raw_os_error) {
    Some(error) => format!("cannot read the file at byte {position}: {error}"),
    None => format!("the file ends at byte {position}, before the end of the copy"),
})]
pub struct ReadError {
    /// The position in the file, in bytes.
    pub position: u64,
    /// The system's error number; `None` if the file ends at this position.
    pub code: Option<i32>,
}

/// Why and where a file could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", match code.map(io::Error::from_raw_os_error) {
    Some(error) => format!("cannot write the file at byte {position}: {error}"),
    None => format!("the file takes no more bytes at byte {position}"),
})]
pub struct WriteError {
    /// The position in the file, in bytes.
    pub position: u64,
    /// The system's error number; `None` if the file takes no more bytes and the system does not say why.
    pub code: Option<i32>,
}

/// Fills `out` with the bytes of a file from `position` on.  The file's own position does not matter.
///
/// # Errors
///
/// [`ReadError`]; `out` may be filled in part.
pub fn read_at(file: &impl AsFd, position: u64, out: &mut [u8]) -> Result<(), ReadError> {
    let file = file.as_fd();
    let read = advance(position, out.len(), |done, position| {
        let out = &mut out[done..];
        let (file, start, size) = (file.as_raw_fd(), out.as_mut_ptr(), out.len());
        // SAFETY: an open file, and a range that is writable for its length.
        count(unsafe { libc::pread(file, start.cast(), size, offset_of(position)?) })
    });
    read.map_err(|(position, code)| match code {
        // The file may end long before the place that was read.
        None => ReadError { position: position.min(end_of(file)), code },
        Some(_) => ReadError { position, code },
    })
}

/// Writes bytes to a file from `position` on; if that fails, perhaps some of them.
pub(crate) fn write_at(file: &impl AsFd, position: u64, bytes: &[u8]) -> Result<(), WriteError> {
    let file = file.as_fd();
    let written = advance(position, bytes.len(), |done, position| {
        let bytes = &bytes[done..];
        let (file, start, size) = (file.as_raw_fd(), bytes.as_ptr(), bytes.len());
        // SAFETY: an open file, and a range that is readable for its length.
        count(unsafe { libc::pwrite(file, start.cast(), size, offset_of(position)?) })
    });
    written.map_err(|(position, code)| WriteError { position, code })
}

/// The position after a file's last byte, as far as the system tells.
fn end_of(file: BorrowedFd<'_>) -> u64 {
    let file = file.try_clone_to_owned().map(File::from);
    file.and_then(|file| file.metadata()).map_or(u64::MAX, |metadata| metadata.len())
}

fn offset_of(position: u64) -> io::Result<i64> {
    i64::try_from(position).map_err(|_| io::Error::from_raw_os_error(libc::EOVERFLOW))
}

fn count(answer: isize) -> io::Result<usize> {
    usize::try_from(answer).map_err(|_| io::Error::last_os_error())
}

/// Calls `step` until `size` bytes are done: it may do fewer than are left, or be interrupted.  It gets the
/// number of bytes that are done, and the position after them.  Fails with the position where the file gave or
/// took no more bytes, and the system's error number.
fn advance(
    start: u64,
    size: usize,
    mut step: impl FnMut(usize, u64) -> io::Result<usize>,
) -> Result<(), (u64, Option<i32>)> {
    let mut done = 0;
    while done < size {
        let position = start + done as u64;
        match step(done, position) {
            Ok(0) => return Err((position, None)),
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err((position, error.raw_os_error())),
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
            let filled = advance(start, size, |done, position| {
                turn += 1;
                let out = &mut out[done..];
                let most = match turns.get(turn % (turns.len() + 1)) {
                    None => out.len(),
                    Some(Some(most)) => (*most).min(out.len()),
                    Some(None) => return Err(io::ErrorKind::Interrupted.into()),
                };
                out[..most].copy_from_slice(&file[position as usize..][..most]);
                Ok(most)
            });
            prop_assert_eq!(filled, Ok(()));
            prop_assert_eq!(&out, &file[start as usize..][..size]);
        }
    }

    #[test]
    fn errors_name_the_position() {
        let halfway = |end: io::Result<usize>| {
            let mut results = [Ok(3), end].into_iter();
            advance(100, 10, |_, _| results.next().expect("two calls"))
        };
        assert_eq!(halfway(Ok(0)), Err((103, None)));
        let failed = halfway(Err(io::Error::from_raw_os_error(libc::EIO)));
        assert_eq!(failed, Err((103, Some(libc::EIO))));
    }
}
