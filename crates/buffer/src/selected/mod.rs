//! One kernel fills elements from two sources, as the bits of a bitmap say.

#[expect(unsafe_code, reason = "launches a kernel")]
mod kernel;
mod source;

use crate::error::invalid;
use crate::range::within;
use crate::{DeviceBuffer, Error};
pub use source::Source;
use source::check;

/// Fills all elements of a buffer, of `item_size` bytes each, and returns when that is done: an element comes from
/// `set` if its bit is 1, and else from `clear`.  The bit of the first element is bit `first` of `bits`, the lowest
/// of each byte first.
///
/// ```
/// use arrow_cuda_buffer::{DeviceBuffer, Source, select};
/// use arrow_cuda_context::Context;
///
/// let context = Context::primary(0)?;
/// let parts = DeviceBuffer::suballocated_from_host(&context, &[b"abcd", &[0b01010]])?;
/// let to = DeviceBuffer::allocate(&context, 4)?;
/// select(&to, 1, (&parts[1], 1), Source::Each(&parts[0]), Source::One(b"-"))?;
/// assert_eq!(to.to_vec()?, b"a-c-");
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::OutOfBounds`] for bits and elements that the buffers lack; [`Error::ReadOnly`];
/// [`Error::Invalid`] for a size that does not fit, buffers of another context, and a target that
/// shares memory with one of the others; driver errors.
pub fn select(
    to: &DeviceBuffer,
    item_size: usize,
    (bits, first): (&DeviceBuffer, usize),
    set: Source<'_>,
    clear: Source<'_>,
) -> Result<(), Error> {
    to.check_mutable()?;
    if item_size == 0 || !to.size.is_multiple_of(item_size) {
        return invalid(format!("{} bytes are not elements of {item_size} bytes", to.size));
    }
    let count = to.size / item_size;
    within(first, count, bits.size.saturating_mul(8))?;
    if count == 0 {
        return Ok(());
    }
    check(to, bits)?;
    for source in [set, clear] {
        source.check(to, item_size)?;
    }
    kernel::run(to, item_size, (bits, first), [set, clear])
}
