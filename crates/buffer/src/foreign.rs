//! Memory that was not allocated here: what the driver knows of it.

use crate::Error;
use arrow_cuda_context::{Context, block_at, is_released};
use arrow_cuda_driver::{CudaError, CudaResult, call};

/// Attributes of a pointer, numbered as in the driver.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Attribute {
    MemoryType = 2,
    DevicePointer = 3,
    HostPointer = 4,
    IsManaged = 8,
    DeviceOrdinal = 9,
    /// Whether it is a whole allocation of `cuMemAlloc`.
    IsIpcCapable = 10,
    RangeStart = 11,
    RangeSize = 12,
}

const TYPE_DEVICE: u64 = 2;
const INVALID_VALUE: i32 = 1;

fn ask(attribute: Attribute, address: u64) -> CudaResult<u64> {
    if attribute == Attribute::DevicePointer && is_released(address) {
        // The driver still knows it; everybody else hears what the driver says of freed memory.
        return Err(CudaError::of_call("cuPointerGetAttribute", INVALID_VALUE));
    }
    // The widest attribute that is asked for has 8 bytes; narrower ones fill the low end.
    let mut value = 0u64;
    // SAFETY: stores at most 8 bytes through the pointer; the address is looked up, not read.
    unsafe { call!(cuPointerGetAttribute((&raw mut value).cast(), attribute as i32, address)) }?;
    Ok(value)
}

/// As [`ask`]; none for memory that has no such attribute, or that the driver does not know.
fn ask_known(attribute: Attribute, address: u64) -> CudaResult<Option<u64>> {
    match ask(attribute, address) {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.code() == Some(INVALID_VALUE) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The address at which the context's device reaches the memory at `address`, which may be
/// device memory or page-locked host memory.
///
/// # Errors
///
/// The driver's, for memory that it does not know; [`Error::Invalid`] for memory of another
/// device.
///
/// ```
/// use arrow_cuda_buffer::{DeviceBuffer, device_address};
/// use arrow_cuda_context::Context;
///
/// let context = Context::primary(0)?;
/// let buffer = DeviceBuffer::allocate(&context, 16)?;
/// assert_eq!(device_address(&context, buffer.address())?, buffer.address());
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
pub fn device_address(context: &Context, address: u64) -> Result<u64, Error> {
    let asked = {
        let _current = context.enter()?;
        ask(Attribute::DevicePointer, address)
    };
    asked.map_err(|error| lies_elsewhere(context, address).unwrap_or(error.into()))
}

/// The error for memory that another device is found to have.  Without peer access a context
/// knows nothing of it.
fn lies_elsewhere(context: &Context, address: u64) -> Option<Error> {
    let others = Context::primaries().into_iter();
    let owner = others
        .filter(|other| other.device() != context.device())
        .find(|other| is_memory_of(other, address).unwrap_or(false))?;
    Some(on_another_device(address, owner.device().number().into(), context))
}

fn is_memory_of(context: &Context, address: u64) -> CudaResult<bool> {
    let _current = context.enter()?;
    ask(Attribute::DevicePointer, address)?;
    let is_device_memory = ask(Attribute::MemoryType, address)? == TYPE_DEVICE;
    let number = u64::from(context.device().number());
    Ok(is_device_memory && ask(Attribute::DeviceOrdinal, address)? == number)
}

fn on_another_device(address: u64, lies_on: u64, context: &Context) -> Error {
    let number = context.device().number();
    Error::Invalid(format!(
        "the memory at {address:#x} lies on device {lies_on}, the context is on device {number}"
    ))
}

/// The same, none for memory that the driver does not know.
///
/// # Errors
///
/// When the context cannot be entered, or the driver fails otherwise.
pub fn mapped_address(context: &Context, address: u64) -> CudaResult<Option<u64>> {
    let _current = context.enter()?;
    ask_known(Attribute::DevicePointer, address)
}

/// The address at which the host reaches the memory at device address `address`, if it can.
///
/// # Errors
///
/// When the context cannot be entered.
pub fn host_address(context: &Context, address: u64) -> CudaResult<Option<usize>> {
    let _current = context.enter()?;
    let host = ask_known(Attribute::HostPointer, address)?;
    Ok(host.and_then(|host| usize::try_from(host).ok()))
}

/// Whether `size` bytes at `address` are memory that the context's device can reach.
pub(crate) fn check(context: &Context, address: u64, size: u64) -> Result<(), Error> {
    if address == 0 && size == 0 {
        return Ok(());
    }
    let _current = context.enter()?;
    ask(Attribute::DevicePointer, address)?;
    let is_device_memory = ask(Attribute::MemoryType, address)? == TYPE_DEVICE;
    if is_device_memory && ask(Attribute::IsManaged, address)? == 0 {
        let lies_on = ask(Attribute::DeviceOrdinal, address)?;
        if lies_on != u64::from(context.device().number()) {
            return Err(on_another_device(address, lies_on, context));
        }
    }
    let Some(end) = address.checked_add(size) else {
        return Err(Error::Invalid(format!("{size} bytes at {address:#x} exceed every address")));
    };
    let mut reached = address;
    while reached < end {
        match reach(reached, reached == address)? {
            Some(further) => reached = further,
            None => {
                return Err(Error::Invalid(format!(
                    "size argument is out-of-range: the memory at {address:#x} ends after {} \
                     bytes, not {size}",
                    reached - address
                )));
            }
        }
    }
    Ok(())
}

/// Where the memory at an address ends, or the piece of it.  What was mapped page by page may go
/// on in another piece; an allocation of `cuMemAlloc` ends where it ends, whatever lies behind.
fn reach(address: u64, is_first: bool) -> CudaResult<Option<u64>> {
    let Some(start) = ask_known(Attribute::RangeStart, address)? else { return Ok(None) };
    let is_whole = ask(Attribute::IsIpcCapable, start)? != 0;
    if is_whole && !is_first {
        return Ok(None);
    }
    let end = match block_at(address, start) {
        Some((block, size)) => block + size,
        None => start.saturating_add(ask(Attribute::RangeSize, address)?),
    };
    Ok((end > address).then_some(end))
}
