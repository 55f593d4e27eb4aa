//! Whether two buffers hold the same bytes.

use crate::{DeviceBuffer, Error, kernel, range};

/// How much is brought to the host at a time.
const STEP: u64 = 4 << 20;

impl DeviceBuffer {
    /// Whether both buffers have the same size and the same bytes.
    ///
    /// Within a context the device compares; across devices the host does, piece by piece, and
    /// stops at the first difference.
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
        if self.context().is_same(other.context()) {
            self.check_alive()?;
            other.check_alive()?;
            return Ok(!kernel::differ(self.context(), self.address, other.address, self.size)?);
        }
        let mut theirs = vec![0; piece_size(self.size)];
        self.all_pieces(|offset, ours| {
            let theirs = &mut theirs[..ours.len()];
            other.copy_to_host(offset, theirs)?;
            Ok(ours == theirs)
        })
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

fn piece_size(size: u64) -> usize {
    usize::try_from(size.min(STEP)).expect("at most one step")
}
