//! Attributes of addresses.  The driver looks addresses up, and never dereferences them.

use crate::Current;
use crate::out_param::out_param;
use arrow_cuda_driver::{CudaResult, call, codes};
use std::ptr;

/// The attributes of an address, numbered as in the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Attribute {
    /// The handle of the context that has the memory; none for memory of a pool.
    Context = 1,
    /// 1 for host memory, 2 for device memory.
    MemoryType = 2,
    /// The address at which the context's device reaches the memory.
    DevicePointer = 3,
    /// The address at which the host reaches the memory.
    HostPointer = 4,
    /// Whether the memory migrates between the host and devices.
    IsManaged = 8,
    /// The number of the device that has the memory.
    DeviceOrdinal = 9,
    /// Whether `cuMemAlloc` allocated the memory, so that other processes can map it.
    IsIpcCapable = 10,
    /// Where the allocation begins.
    RangeStart = 11,
    /// The allocation's size, in bytes.
    RangeSize = 12,
}

impl Attribute {
    /// The value of [`MemoryType`](Self::MemoryType) for host memory.
    pub const HOST_MEMORY: u64 = 1;
    /// The value of [`MemoryType`](Self::MemoryType) for device memory.
    pub const DEVICE_MEMORY: u64 = 2;
}

impl Current<'_> {
    /// An attribute of the memory at an address.
    ///
    /// ```
    /// use arrow_cuda_context::{Attribute, Block, Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// let (block, current) = (Block::allocate(&context, 100, Placement::Packed)?, context.enter()?);
    /// let kind = current.attribute(Attribute::MemoryType, block.private_address())?;
    /// assert_eq!(kind, Attribute::DEVICE_MEMORY);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_VALUE` for memory that the driver does not know, or that has no such
    /// attribute.
    #[doc(hidden)]
    pub fn attribute(&self, attribute: Attribute, address: u64) -> CudaResult<u64> {
        // The widest attribute has 8 bytes; narrower ones fill the low end.
        // SAFETY: stores at most 8 bytes.
        out_param(0u64, |at| unsafe { call!(cuPointerGetAttribute(at, attribute as i32, address)) })
    }

    /// Several attributes of the memory at an address, which take one call.  Those that it does not have are 0.
    ///
    /// ```
    /// use arrow_cuda_context::{Attribute, Block, Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// let (block, current) = (Block::allocate(&context, 100, Placement::Packed)?, context.enter()?);
    /// let asked = [Attribute::MemoryType, Attribute::DeviceOrdinal];
    /// let found = current.attributes(asked, block.private_address())?;
    /// assert_eq!(found, [Attribute::DEVICE_MEMORY, 0]);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors, but not for memory that the driver does not know.
    #[doc(hidden)]
    pub fn attributes<const N: usize>(
        &self,
        attributes: [Attribute; N],
        address: u64,
    ) -> CudaResult<[u64; N]> {
        let mut numbers = attributes.map(|attribute| attribute as i32);
        let mut values = [0; N];
        let mut places = values.each_mut().map(ptr::from_mut);
        let (numbers, places) = (numbers.as_mut_ptr().cast(), places.as_mut_ptr().cast());
        // SAFETY: stores at most 8 bytes at each place, as above.
        unsafe { call!(cuPointerGetAttributes(N as u32, numbers, places, address)) }?;
        Ok(values)
    }

    /// Like [`attribute`](Self::attribute), but `None` for an address that the driver does not
    /// know.
    ///
    /// ```
    /// use arrow_cuda_context::{Attribute, Block, Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// let (block, current) = (Block::allocate(&context, 100, Placement::Packed)?, context.enter()?);
    /// let kind = |address| current.attribute_if_known(Attribute::MemoryType, address);
    /// assert_eq!(kind(block.private_address())?, Some(Attribute::DEVICE_MEMORY));
    /// assert_eq!(kind(0x1000)?, None);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// All other driver errors.
    #[doc(hidden)]
    pub fn attribute_if_known(
        &self,
        attribute: Attribute,
        address: u64,
    ) -> CudaResult<Option<u64>> {
        match self.attribute(attribute, address) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.code() == Some(codes::INVALID_VALUE) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The start and size, in bytes, of the allocation that contains an address.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// let (block, current) = (Block::allocate(&context, 100, Placement::Packed)?, context.enter()?);
    /// let (start, size) = current.allocation_at(block.private_address())?;
    /// assert!(start <= block.private_address() && size >= block.size());
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors, for an address that it does not know.
    pub fn allocation_at(&self, address: u64) -> CudaResult<(u64, u64)> {
        let (mut base, mut size) = (0u64, 0usize);
        let places = ((&raw mut base).cast(), (&raw mut size).cast());
        // SAFETY: stores two values through the pointers, which outlive the call.
        unsafe { call!(cuMemGetAddressRange_v2(places.0, places.1, address)) }?;
        Ok((base, size as u64))
    }
}
