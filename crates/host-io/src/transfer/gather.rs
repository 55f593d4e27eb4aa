//! Many parts of host memory into one place on the device.

use super::by_pinned_memory;
use super::host::HostMemory;
use super::job::Task;
use arrow_cuda_buffer::{DeviceBuffer, Error, range};

/// Copies parts of host memory into a buffer, one behind the other from `position` on, as if they
/// were one: many small ones cost hardly more than a single one of their size.
///
/// ```
/// use arrow_cuda_buffer::DeviceBuffer;
/// use arrow_cuda_context::Context;
///
/// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 8)?;
/// arrow_cuda_host_io::upload_gathered(&buffer, 1, &[b"one", b"", b"four"])?;
/// assert_eq!(buffer.slice(1, 7)?.to_vec()?, b"onefour");
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::OutOfBounds`], [`Error::ReadOnly`], or the driver's.
pub fn upload_gathered(buffer: &DeviceBuffer, position: u64, parts: &[&[u8]]) -> Result<(), Error> {
    let host = HostMemory::sources(parts);
    range::within(position, host.size() as u64, buffer.size())?;
    if by_pinned_memory(Task::Upload, buffer, position, host)?.is_some() {
        return Ok(());
    }
    // The driver copies what is together: small parts are put together first.
    let mut position = position;
    let mut together: Vec<u8> = Vec::new();
    let flush = |together: &mut Vec<u8>, position: &mut u64| {
        buffer.copy_from_host(*position, together)?;
        *position += together.len() as u64;
        together.clear();
        Ok::<_, Error>(())
    };
    for part in parts {
        if together.len() + part.len() > TOGETHER {
            flush(&mut together, &mut position)?;
        }
        if part.len() > TOGETHER {
            buffer.copy_from_host(position, part)?;
            position += part.len() as u64;
        } else {
            together.extend_from_slice(part);
        }
    }
    flush(&mut together, &mut position)
}

/// Parts up to this size are copied once more on the host, to spare a copy to the device.
const TOGETHER: usize = 256 << 10;
