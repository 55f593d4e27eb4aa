//! Files on the host, on their way to a device and from it: through the page cache, or past it.

use crate::page_cache;
use arrow_cuda_buffer::{DeviceBuffer, Error as BufferError};
use arrow_cuda_context::memory_of_the_machine;
use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

/// Positions, sizes and memory of direct I/O are multiples of this.
const ALIGNMENT: usize = 4096;
/// The system is not asked for its memory for less.
const LEAST_TOO_LARGE: u64 = 256 << 20;

/// A file on the host that is copied to a device, or written from one.
///
/// Bytes go through the system's page cache, or directly between storage and pinned memory, past the cache.
/// Direct I/O moves whole pages: what lies before the first and after the last one goes through the cache,
/// and so does all of it where the file system has no direct I/O.
///
/// ```
/// use arrow_cuda_buffer::DeviceBuffer;
/// use arrow_cuda_context::Context;
/// use arrow_cuda_host_io::HostFile;
///
/// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 5000)?;
/// buffer.fill(7)?;
/// let file = HostFile::to_write(tempfile::tempfile()?, true);
/// file.copy_from_device(1, &buffer, 0, 5000)?;
/// buffer.fill(0)?;
/// let file = HostFile::to_read(file.as_file().try_clone()?, 1, 5000, None);
/// file.copy_to_device(1, &buffer, 0, 5000)?;
/// assert_eq!(buffer.to_vec()?, [7; 5000]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct HostFile {
    file: File,
    /// The same file, opened for direct I/O.
    direct: Option<File>,
}

impl HostFile {
    /// A file that is open for reading, of which `size` bytes are to be read from `offset` on.
    ///
    /// `direct` says whether to read past the page cache.  If it is `None`, that is done where the cache would
    /// not help, now or later: most of the bytes are not in it, and they would take more than half of the
    /// memory that the system has available.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::HostFile;
    /// use std::io::Write;
    ///
    /// let mut file = tempfile::tempfile()?;
    /// file.write_all(b"abcdef")?;
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 4)?;
    /// HostFile::to_read(file, 2, 4, None).copy_to_device(2, &buffer, 0, 4)?;
    /// assert_eq!(buffer.to_vec()?, b"cdef");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_read(file: File, offset: u64, size: u64, direct: Option<bool>) -> Self {
        let is_direct = direct.unwrap_or_else(|| {
            size >= LEAST_TOO_LARGE
                && is_too_large(size, memory_of_the_machine("MemAvailable:"))
                && !page_cache::holds(&file, offset, size)
        });
        Self::open(file, OpenOptions::new().read(true), is_direct)
    }

    /// A file that is open for writing, past the page cache if `is_direct`.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::HostFile;
    ///
    /// let buffer = DeviceBuffer::gathered(&Context::primary(0)?, &[b"data"])?;
    /// let file = HostFile::to_write(tempfile::tempfile()?, false);
    /// file.copy_from_device(0, &buffer, 0, 4)?;
    /// assert_eq!(file.as_file().metadata()?.len(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_write(file: File, is_direct: bool) -> Self {
        Self::open(file, OpenOptions::new().write(true), is_direct)
    }

    fn open(file: File, options: &mut OpenOptions, is_direct: bool) -> Self {
        // Another description of the open file: its flags are also those of whoever opened the first one.
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let direct = is_direct.then(|| options.custom_flags(libc::O_DIRECT).open(path));
        Self { file, direct: direct.and_then(Result::ok) }
    }

    /// Whether most of a range is in the page cache, as far as the system tells.
    ///
    /// ```
    /// use arrow_cuda_host_io::HostFile;
    /// use std::io::Write;
    ///
    /// let mut file = tempfile::tempfile()?;
    /// file.write_all(&[7; 5000])?; // through the cache
    /// assert!(HostFile::is_cached(&file, 0, 5000));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn is_cached(file: &File, offset: u64, size: u64) -> bool {
        page_cache::holds(file, offset, size)
    }

    /// The file, as it was opened.
    ///
    /// ```
    /// use arrow_cuda_host_io::HostFile;
    ///
    /// let file = HostFile::to_write(tempfile::tempfile()?, false);
    /// file.as_file().set_len(10)?;
    /// assert_eq!(file.as_file().metadata()?.len(), 10);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn as_file(&self) -> &File {
        &self.file
    }

    /// Copies `size` bytes from `offset` on into a buffer, from `position` on, as
    /// [`DeviceBuffer::copy_from_file`] does.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::HostFile;
    /// use std::io::Write;
    ///
    /// let mut file = tempfile::tempfile()?;
    /// file.write_all(b"abcdef")?;
    /// let buffer = DeviceBuffer::gathered(&Context::primary(0)?, &[b"------"])?;
    /// HostFile::to_read(file, 0, 6, Some(false)).copy_to_device(4, &buffer, 1, 2)?;
    /// assert_eq!(buffer.to_vec()?, b"-ef---");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BufferError::OutOfBounds`] for a part that the buffer lacks; as [`DeviceBuffer::copy_from_file`].
    pub fn copy_to_device(
        &self,
        offset: u64,
        buffer: &DeviceBuffer,
        position: usize,
        size: usize,
    ) -> Result<(), BufferError> {
        let to = buffer.slice_with_length(position, size)?;
        self.copy_parts(offset, size, |file, at, size| {
            to.copy_from_file(at, file, offset.saturating_add(at as u64), size)
        })
    }

    /// Writes `size` bytes of a buffer, from `position` on, into the file, from `offset` on, as
    /// [`DeviceBuffer::copy_to_file`] does.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::HostFile;
    /// use std::os::unix::fs::FileExt;
    ///
    /// let buffer = DeviceBuffer::gathered(&Context::primary(0)?, &[b"abcdef"])?;
    /// let file = HostFile::to_write(tempfile::tempfile()?, false);
    /// file.copy_from_device(1, &buffer, 2, 3)?;
    /// let mut bytes = [0; 4];
    /// file.as_file().read_exact_at(&mut bytes, 0)?;
    /// assert_eq!(&bytes, b"\0cde");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BufferError::OutOfBounds`] for a part that the buffer lacks; as [`DeviceBuffer::copy_to_file`].
    pub fn copy_from_device(
        &self,
        offset: u64,
        buffer: &DeviceBuffer,
        position: usize,
        size: usize,
    ) -> Result<(), BufferError> {
        let from = buffer.slice_with_length(position, size)?;
        self.copy_parts(offset, size, |file, at, size| {
            from.copy_to_file(at, file, offset.saturating_add(at as u64), size)
        })
    }

    /// Copies the parts of a range: each by the file that moves it, from a place in the range on.
    fn copy_parts(
        &self,
        offset: u64,
        size: usize,
        copy: impl Fn(&File, usize, usize) -> Result<(), BufferError>,
    ) -> Result<(), BufferError> {
        let (Some(direct), Some((head, body))) = (&self.direct, whole_pages(offset, size)) else {
            return copy(&self.file, 0, size);
        };
        copy(&self.file, 0, head)?;
        match copy(direct, head, body) {
            Err(error) if is_refused(&error) => copy(&self.file, head, body),
            copied => copied,
        }?;
        copy(&self.file, head + body, size - head - body)
    }
}

/// How many bytes of a range lie before its first whole page, and in whole pages; `None` without any.
fn whole_pages(offset: u64, size: usize) -> Option<(usize, usize)> {
    let head = (offset.checked_next_multiple_of(ALIGNMENT as u64)? - offset) as usize;
    let body = size.checked_sub(head)? / ALIGNMENT * ALIGNMENT;
    (body > 0).then_some((head, body))
}

/// Whether direct I/O is not possible in this way: the file system may need larger multiples, or offer no direct I/O.
/// Also after the end of a file that has shrunk; then the second attempt finds the end.
fn is_refused(error: &BufferError) -> bool {
    let code = match error {
        BufferError::Read(error) => error.code,
        BufferError::Write(error) => error.code,
        _ => None,
    };
    matches!(code, Some(libc::EINVAL | libc::EOPNOTSUPP))
}

/// Whether `size` bytes would push most other files out of the page cache, and each other.
fn is_too_large(size: u64, available_memory: Option<u64>) -> bool {
    available_memory.is_some_and(|available| size > available / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_cuda_context::Context;
    use arrow_cuda_transfer::{TransferLimits, set_transfer_limits};
    use proptest::prelude::*;
    use std::io::Write;

    #[test]
    fn what_fits_into_memory_is_worth_caching() {
        assert!(!is_too_large(50, Some(100)));
        assert!(is_too_large(51, Some(100)));
        assert!(!is_too_large(u64::MAX, None));
    }

    proptest! {
        #[test]
        fn pages_are_whole_and_none_is_left_out(offset in 0..20_000u64, size in 0..20_000usize) {
            let (start, end) = (offset as usize, offset as usize + size);
            let pages = (start..=end).filter(|at| at % ALIGNMENT == 0).count();
            match whole_pages(offset, size) {
                None => prop_assert!(pages < 2),
                Some((head, body)) => {
                    prop_assert!(head < ALIGNMENT && (start + head) % ALIGNMENT == 0);
                    prop_assert_eq!(body, (pages - 1) * ALIGNMENT);
                    prop_assert!(head + body <= size);
                }
            }
        }
    }

    /// A file of which the page cache holds nothing; `None` where it cannot be told to forget.
    fn forgotten_file(bytes: &[u8]) -> Option<File> {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("room");
        file.sync_all().expect("a disk");
        page_cache::forget(&file);
        (!page_cache::holds(&file, 0, bytes.len() as u64)).then_some(file)
    }

    #[test]
    fn direct_copies_leave_the_page_cache_alone() {
        let data: Vec<u8> = (0..3_000_000).map(|at| (at * 31 + at / 251) as u8).collect();
        let (size, count) = (data.len() as u64, data.len());
        let context = Context::primary(0).expect("a device");
        let buffer = DeviceBuffer::allocate(&context, count).expect("room");
        for threads in [0, 3] {
            set_transfer_limits(TransferLimits::with_threads(threads));
            let Some(file) = forgotten_file(&data) else { return };
            let file = HostFile::to_read(file, 0, size, Some(true));
            let Some(direct) = &file.direct else { return };
            file.copy_to_device(1, &buffer, 0, count - 2).expect("a copy");
            assert!(!page_cache::holds(&file.file, 0, size));
            assert!(buffer.to_vec().expect("bytes")[..count - 2] == data[1..count - 1]);

            let target = OpenOptions::new()
                .write(true)
                .open(format!("/proc/self/fd/{}", direct.as_raw_fd()));
            let target = HostFile::to_write(target.expect("another description"), true);
            target.copy_from_device(1, &buffer, 0, count - 2).expect("a copy");
            assert!(!page_cache::holds(&file.file, 0, size));

            let file = HostFile::to_read(file.file, 0, size, None);
            assert!(file.direct.is_none(), "it fits into memory");
            file.copy_to_device(0, &buffer, 0, count).expect("a copy");
            assert!(page_cache::holds(&file.file, 0, size));
            assert!(buffer.to_vec().expect("bytes") == data);
        }
    }

    #[test]
    fn no_range_is_too_far() {
        assert_eq!(whole_pages(u64::MAX, usize::MAX), None);
        assert_eq!(whole_pages(1, usize::MAX), Some((4095, usize::MAX - 4095)));
    }
}
