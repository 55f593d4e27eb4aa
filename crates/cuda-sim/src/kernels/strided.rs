//! Copies between two layouts, word by word.

use std::ptr;

use crate::base::code::{ILLEGAL_ADDRESS, INVALID_VALUE, MISALIGNED_ADDRESS, Result};

/// The number of entries that fit into the kernels' parameter of 1024 bytes.
const MAX_DIMENSIONS: usize = 31;

/// The words that the kernels `arrow_cuda_strided` and `arrow_cuda_transposed` copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StridedCopy {
    to: u64,
    from: u64,
    /// The size of a word, in bytes.
    word: u64,
    dimensions: Vec<Dimension>,
}

/// A dimension, with strides in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Dimension {
    length: u64,
    to: i64,
    from: i64,
}

impl StridedCopy {
    /// Reads the kernels' parameter by its 64-bit numbers: the two addresses, how the work is divided
    /// (the size of a word in the upper half), the number of dimensions; and for each dimension its
    /// two strides, how numbers are divided by it, and in the upper half its length.
    ///
    /// # Errors
    /// `INVALID_VALUE` for more dimensions than fit.
    pub fn read(parameter: impl Fn(usize) -> Result<u64>) -> Result<Self> {
        let rank = parameter(3)? as usize;
        if rank > MAX_DIMENSIONS {
            return Err(INVALID_VALUE);
        }
        let dimension = |number: usize| {
            let entry = 4 + 4 * number;
            Ok(Dimension {
                length: parameter(entry + 3)? >> 32,
                to: parameter(entry)?.cast_signed(),
                from: parameter(entry + 1)?.cast_signed(),
            })
        };
        Ok(Self {
            to: parameter(0)?,
            from: parameter(1)?,
            word: parameter(2)? >> 32,
            dimensions: (0..rank).map(dimension).collect::<Result<_>>()?,
        })
    }

    /// Copies the words.  `accessible` takes an address and a length, as for
    /// [`Kernel::run`](super::kernel::Kernel::run).
    ///
    /// # Errors
    /// `ILLEGAL_ADDRESS` or `MISALIGNED_ADDRESS`.
    pub fn run(&self, accessible: impl Fn(u64, u64) -> Result<usize>) -> Result {
        if self.dimensions.iter().any(|dimension| dimension.length == 0) {
            return Ok(());
        }
        let strides = self.dimensions.iter().flat_map(|dimension| [dimension.to, dimension.from]);
        let mut all = [self.to, self.from].into_iter().chain(strides.map(i64::unsigned_abs));
        if !self.word.is_power_of_two() || all.any(|number| !number.is_multiple_of(self.word)) {
            return Err(MISALIGNED_ADDRESS);
        }
        let place = |first: u64, stride: fn(&Dimension) -> i64| -> Result<u64> {
            let (start, length) = self.span(first, stride).ok_or(ILLEGAL_ADDRESS)?;
            Ok((accessible(start, length)? as u64).wrapping_add(first.wrapping_sub(start)))
        };
        let to = place(self.to, |dimension| dimension.to)?;
        let from = place(self.from, |dimension| dimension.from)?;
        copy(self.word as usize, &self.dimensions, to, from);
        Ok(())
    }

    /// The start and the length of the range that the words of one side lie in; `None` if it exceeds
    /// every address.
    fn span(&self, first: u64, stride: impl Fn(&Dimension) -> i64) -> Option<(u64, u64)> {
        let (mut start, mut end) = (i128::from(first), i128::from(first) + i128::from(self.word));
        for dimension in &self.dimensions {
            let reach = i128::from(dimension.length - 1) * i128::from(stride(dimension));
            start += reach.min(0);
            end += reach.max(0);
        }
        Some((u64::try_from(start).ok()?, u64::try_from(end - start).ok()?))
    }
}

/// Copies words between host addresses, of which the spans are accessible on both sides.
fn copy(word: usize, dimensions: &[Dimension], to: u64, from: u64) {
    let Some((outermost, inner)) = dimensions.split_last() else {
        // SAFETY: one word of each span.  They are mapped, and stay so while work of the context is
        // queued, because freeing waits for it.
        unsafe { ptr::copy(from as *const u8, to as *mut u8, word) };
        return;
    };
    for number in 0..outermost.length.cast_signed() {
        let to = to.wrapping_add_signed(number * outermost.to);
        copy(word, inner, to, from.wrapping_add_signed(number * outermost.from));
    }
}
