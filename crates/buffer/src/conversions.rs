//! Conversions by the language's own traits.

use crate::{DeviceBuffer, DeviceSlice, Error};
use bytemuck::Pod;
use std::panic::{RefUnwindSafe, UnwindSafe};

impl<T: Pod> From<DeviceSlice<T>> for DeviceBuffer {
    fn from(slice: DeviceSlice<T>) -> Self {
        slice.into_buffer()
    }
}

/// As [`DeviceSlice::from_buffer`].
impl<T: Pod> TryFrom<DeviceBuffer> for DeviceSlice<T> {
    type Error = Error;

    fn try_from(buffer: DeviceBuffer) -> Result<Self, Error> {
        Self::from_buffer(buffer)
    }
}

/// As [`DeviceSlice::to_vec`].
impl<T: Pod> TryFrom<&DeviceSlice<T>> for Vec<T> {
    type Error = Error;

    fn try_from(slice: &DeviceSlice<T>) -> Result<Self, Error> {
        slice.to_vec()
    }
}

/// As [`DeviceBuffer::to_vec`].
impl TryFrom<&DeviceBuffer> for Vec<u8> {
    type Error = Error;

    fn try_from(buffer: &DeviceBuffer) -> Result<Self, Error> {
        buffer.to_vec()
    }
}

// Its bytes lie on the device, and its state behind locks that panics do not poison.
impl UnwindSafe for DeviceBuffer {}
impl RefUnwindSafe for DeviceBuffer {}
