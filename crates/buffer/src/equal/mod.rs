//! Compares buffers: do they hold the same bytes?

#[expect(unsafe_code, reason = "launches a kernel")]
mod kernel;

use crate::{DeviceBuffer, Error, range};
use arrow_cuda_context::Context;
use arrow_cuda_driver::CudaResult;

/// How much is copied from another device at a time, if there is room: enough that the latency of
/// each copy does not matter.
const LARGEST_PIECE: usize = 64 << 20;
const SMALLEST_PIECE: usize = 64 << 10;

impl DeviceBuffer {
    /// Whether both buffers have the same size and the same bytes.
    ///
    /// The device compares, and stops early when it finds a difference.  A buffer of another
    /// context is copied to this context in pieces, which takes some of its memory.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let buffer = DeviceBuffer::gathered(&Context::primary(0)?, &[b"abab"])?;
    /// assert!(buffer.slice(..2)?.equals(&buffer.slice(2..)?)?);
    /// assert!(!buffer.slice(..2)?.equals(&buffer.slice(1..3)?)?);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors.
    pub fn equals(&self, other: &Self) -> Result<bool, Error> {
        if self.size != other.size {
            return Ok(false);
        }
        if self.is_empty() {
            return Ok(true);
        }
        self.check_memory()?;
        other.check_memory()?;
        if self.is_same_memory(other) {
            // There are no bytes any more when the context is gone.
            drop(self.context().enter()?);
            return Ok(true);
        }
        if self.context().is_same(other.context()) {
            return Ok(!self.differs(self.private_address, other, self.size)?);
        }
        kernel::prepare(self.context())?; // before the piece takes the remaining memory
        let here = allocate_piece(self.context(), self.size)?;
        for (offset, length) in range::chunks(self.size, here.size) {
            let here = here.slice_with_length(0, length)?;
            here.copy_from_device(&other.slice_with_length(offset, length)?)?;
            if self.differs(self.private_address + offset as u64, &here, length)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether `size` bytes of the buffer, from an address on, and the first ones of another differ.
    fn differs(&self, from: u64, other: &Self, size: usize) -> Result<bool, Error> {
        let differ = kernel::differ(self.context(), from, other.private_address, size);
        self.expose_on_failure(other.expose_on_failure(differ))
    }
}

/// Allocates room for a piece of another device's buffer, less if the device is nearly full.
fn allocate_piece(context: &Context, size: usize) -> CudaResult<DeviceBuffer> {
    let mut room = size.min(LARGEST_PIECE);
    loop {
        match DeviceBuffer::allocate_packed(context, room) {
            Err(error) if error.is_out_of_memory() && room > SMALLEST_PIECE => room /= 2,
            outcome => return outcome,
        }
    }
}
