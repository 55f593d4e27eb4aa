//! The sources of selected elements, and their checks.

use crate::error::invalid;
use crate::range::within;
use crate::{DeviceBuffer, Error};

/// Where elements come from.
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
