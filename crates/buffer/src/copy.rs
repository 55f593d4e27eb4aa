//! Copies from, to and between device buffers.
//!
//! Every copy here runs on the legacy default stream: it sees the work that was queued there before,
//! and what is copied is there when the call returns.  Those on other streams are in `queued.rs`.

use crate::{DeviceBuffer, Error, range};
use arrow_cuda_context::{Context, DEFAULT_STREAM};
use arrow_cuda_driver::call;
use std::mem::MaybeUninit;

impl DeviceBuffer {
    /// Copies `out.len()` bytes from `position` on to the host.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`], or the driver's.
    pub fn copy_to_host(&self, position: u64, out: &mut [u8]) -> Result<(), Error> {
        // SAFETY: the copy only ever stores initialised bytes.
        let out = unsafe { &mut *(std::ptr::from_mut(out) as *mut [MaybeUninit<u8>]) };
        self.copy_to_uninit(position, out)
    }

    /// As [`copy_to_host`](Self::copy_to_host), into memory that nobody has written to yet.
    /// All of it is initialised when the call succeeds.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`], or the driver's.
    pub fn copy_to_uninit(&self, position: u64, out: &mut [MaybeUninit<u8>]) -> Result<(), Error> {
        if !self.gives(position, out.len() as u64)? {
            return Ok(());
        }
        let _current = self.context().enter_unless_gone()?;
        // SAFETY: `out` is writable for its length, and the range was checked.
        let copied = unsafe {
            call!(cuMemcpyDtoH_v2(out.as_mut_ptr().cast(), self.address + position, out.len()))
        };
        Ok(copied?)
    }

    /// The bytes, on the host.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn to_vec(&self) -> Result<Vec<u8>, Error> {
        let size = usize::try_from(self.size).map_err(|_| too_large(self.size))?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size).map_err(|_| too_large(self.size))?;
        self.copy_to_uninit(0, &mut bytes.spare_capacity_mut()[..size])?;
        // SAFETY: the copy has initialised `size` bytes.
        unsafe { bytes.set_len(size) };
        Ok(bytes)
    }

    /// Copies host bytes into the buffer, from `position` on.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`], [`Error::ReadOnly`], or the driver's.
    pub fn copy_from_host(&self, position: u64, data: &[u8]) -> Result<(), Error> {
        if !self.takes(position, data.len() as u64)? {
            return Ok(());
        }
        let _current = self.context().enter_unless_gone()?;
        // Not the synchronous call, which waits as well, but from pageable memory only until the
        // driver has the data: waiting once, for the device, takes less.
        // SAFETY: `data` is readable for its length, and the range was checked.
        let begun = unsafe {
            call!(cuMemcpyHtoDAsync_v2(
                self.address + position,
                data.as_ptr().cast_mut().cast(),
                data.len(),
                DEFAULT_STREAM
            ))
        };
        // Also where that failed: nobody may read the data when this returns.
        Ok(begun.and(self.context().synchronize_default_stream())?)
    }

    /// Copies another buffer, which may lie on another device, into this one.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`], [`Error::ReadOnly`], or the driver's.
    pub fn copy_from_device(&self, position: u64, data: &Self) -> Result<(), Error> {
        if !self.takes(position, data.size)? {
            return Ok(());
        }
        data.check_alive()?;
        let (to, from) = (self.context(), data.context());
        let destination = self.address + position;
        if range::overlap(destination, data.address, data.size) {
            // The driver leaves the outcome open; a detour through other memory does not.
            let detour = Self::allocate_packed(from, data.size)?;
            detour.copy_from_device(0, data)?;
            return self.copy_from_device(position, &detour);
        }
        let size = usize::try_from(data.size).map_err(|_| too_large(data.size))?;
        // The driver only orders a copy between devices; its end has to be waited for.
        let _current = from.enter_unless_gone()?;
        if to.is_same(from) {
            // SAFETY: both ranges were checked, and their contexts are alive.
            unsafe { call!(cuMemcpyDtoD_v2(destination, data.address, size)) }?;
        } else {
            to.check_alive()?;
            let (to, from) = (to.handle() as *mut _, from.handle() as *mut _);
            // SAFETY: both ranges were checked, and their contexts are alive.
            unsafe { call!(cuMemcpyPeer(destination, to, data.address, from, size)) }?;
        }
        Ok(from.synchronize_default_stream()?)
    }

    /// Checks that so many bytes may be read from `position` on; whether there are any.
    pub(crate) fn gives(&self, position: u64, size: u64) -> Result<bool, Error> {
        range::within(position, size, self.size)?;
        if size > 0 {
            self.check_alive()?;
        }
        Ok(size > 0)
    }

    /// Checks that so many bytes may be written from `position` on; whether there are any.
    pub(crate) fn takes(&self, position: u64, size: u64) -> Result<bool, Error> {
        range::within(position, size, self.size)?;
        self.check_mutable()?;
        self.gives(position, size)
    }

    /// A new buffer with the same bytes in a context, perhaps of another device.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn copy_to(&self, context: &Context) -> Result<Self, Error> {
        let copy = Self::allocate(context, self.size)?;
        copy.copy_from_device(0, self)?;
        Ok(copy)
    }

    /// Sets every byte to `value`.
    ///
    /// # Errors
    ///
    /// [`Error::ReadOnly`], or the driver's.
    pub fn fill(&self, value: u8) -> Result<(), Error> {
        if !self.takes(0, self.size)? {
            return Ok(());
        }
        let size = usize::try_from(self.size).map_err(|_| too_large(self.size))?;
        let _current = self.context().enter_unless_gone()?;
        // SAFETY: the buffer's whole range, which is alive.
        unsafe { call!(cuMemsetD8_v2(self.address, value, size)) }?;
        Ok(self.context().synchronize_default_stream()?)
    }
}

pub(crate) fn too_large(size: u64) -> Error {
    Error::Invalid(format!("{size} bytes do not fit into this machine's memory"))
}
