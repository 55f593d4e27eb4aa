//! Whether two buffers hold the same bytes.

use crate::{DeviceBuffer, Error, kernel, range};
use arrow_cuda_context::Context;
use arrow_cuda_driver::CudaResult;

/// How much is brought to the host at a time.
const STEP: u64 = 4 << 20;
/// How much is brought from another device at a time, where there is room: enough that the start
/// of each copy does not count.
const LARGEST_PIECE: u64 = 64 << 20;
const SMALLEST_PIECE: u64 = 64 << 10;

impl DeviceBuffer {
    /// Whether both buffers have the same size and the same bytes.
    ///
    /// The device compares, and stops early where it finds a difference.  A buffer of another
    /// context is brought to this one's in pieces, which takes some memory here.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn equals(&self, other: &Self) -> Result<bool, Error> {
        if self.size != other.size {
            return Ok(false);
        }
        if self.is_empty() || self.address == other.address {
            return Ok(true);
        }
        self.check_alive()?;
        other.check_alive()?;
        if self.context().is_same(other.context()) {
            return Ok(!kernel::differ(self.context(), self.address, other.address, self.size)?);
        }
        kernel::prepare(self.context())?; // before the piece takes all that is left
        let here = piece_of(self.context(), self.size)?;
        for (offset, length) in range::chunks(self.size, here.size) {
            here.copy_from_device(0, &other.slice(offset, length)?)?;
            let (ours, theirs) = (self.address + offset, here.address);
            if kernel::differ(self.context(), ours, theirs, length)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the buffer holds exactly these host bytes.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn equals_host(&self, other: &[u8]) -> Result<bool, Error> {
        if self.size != other.len() as u64 {
            return Ok(false);
        }
        let mut rest = other;
        self.all_pieces(|_, ours| {
            let (theirs, after) = rest.split_at(ours.len());
            rest = after;
            Ok(ours == theirs)
        })
    }

    /// Brings the buffer to the host in pieces until `test` refuses one.
    fn all_pieces(
        &self,
        mut test: impl FnMut(u64, &[u8]) -> Result<bool, Error>,
    ) -> Result<bool, Error> {
        let mut piece = vec![0; piece_size(self.size)];
        for (offset, length) in range::chunks(self.size, STEP) {
            let piece = &mut piece[..usize::try_from(length).expect("at most one step")];
            self.copy_to_host(offset, piece)?;
            if !test(offset, piece)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Room for pieces of another device's buffer, less of it where the device is nearly full.
fn piece_of(context: &Context, size: u64) -> CudaResult<DeviceBuffer> {
    let mut room = size.min(LARGEST_PIECE);
    loop {
        match DeviceBuffer::allocate_packed(context, room) {
            Err(error) if error.is_out_of_memory() && room > SMALLEST_PIECE => room /= 2,
            outcome => return outcome,
        }
    }
}

fn piece_size(size: u64) -> usize {
    usize::try_from(size.min(STEP)).expect("at most one step")
}
