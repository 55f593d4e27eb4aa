//! The sources of selected elements, and their checks.

use crate::error::invalid;
use crate::range::within;
use crate::{DeviceBuffer, Error};

/// Where elements come from.
///
/// ```
/// use arrow_cuda_buffer::{DeviceBuffer, Source, select};
/// use arrow_cuda_context::Context;
///
/// let context = Context::primary(0)?;
/// let bits = DeviceBuffer::gathered(&context, &[&[0b01]])?;
/// let numbers = DeviceBuffer::gathered(&context, &[&[1, 0, 2, 0]])?;
/// let to = DeviceBuffer::allocate(&context, 4)?;
/// let (set, clear) = (Source::Each(&numbers), Source::One(&[9, 0]));
/// select(&to, 2, (&bits, 0), set, clear)?;
/// assert_eq!(to.to_vec()?, [1, 0, 9, 0]);
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// As many elements as the target has.
    Each(&'a DeviceBuffer),
    /// The bytes of an element that stands for all.
    One(&'a [u8]),
}

impl Source<'_> {
    pub(super) fn check(self, to: &DeviceBuffer, item_size: usize) -> Result<(), Error> {
        match self {
            Self::Each(buffer) => {
                within(0, to.size, buffer.size)?;
                check(to, buffer)
            }
            Self::One(bytes) if bytes.len() == item_size => Ok(()),
            Self::One(bytes) => {
                invalid(format!("an element has {item_size} bytes, not {}", bytes.len()))
            }
        }
    }
}

pub(super) fn check(to: &DeviceBuffer, other: &DeviceBuffer) -> Result<(), Error> {
    if !other.context().is_same(to.context()) {
        return invalid("a buffer belongs to another context");
    }
    to.check_memory()?;
    other.check_memory()?;
    let (one, two) = (to.private_address, other.private_address);
    if one < two + other.size as u64 && two < one + to.size as u64 {
        return invalid("the target shares memory with a source");
    }
    Ok(())
}
