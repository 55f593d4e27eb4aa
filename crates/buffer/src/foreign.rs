//! Checks of foreign memory, which was not allocated here, with the driver.

use crate::Error;
use crate::error::invalid;
use arrow_cuda_context::{Attribute, Context, Current, Device, block_at};
use arrow_cuda_driver::{CudaError, CudaResult, codes, without_interpreter};

/// The address at which the context's device reaches the memory at `address`, which may be
/// device memory or pinned host memory.
///
/// # Errors
///
/// Driver errors, for memory that it does not know; [`Error::Invalid`] for memory of another device, or of a pool of
/// the host, that the context's device has no access to.
///
/// ```
/// use arrow_cuda_buffer::{DeviceBuffer, device_address};
/// use arrow_cuda_context::Context;
///
/// let context = Context::primary(0)?;
/// let buffer = DeviceBuffer::allocate(&context, 16)?;
/// assert_eq!(device_address(&context, buffer.private_address())?, buffer.private_address());
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
pub fn device_address(context: &Context, address: u64) -> Result<u64, Error> {
    find(&context.enter()?, address)
}

fn find(current: &Current<'_>, address: u64) -> Result<u64, Error> {
    if let Some(found) = current.device_address(address)? {
        return Ok(found);
    }
    if is_of_host_pool(current, address)? {
        return Err(no_access(address, current.context()));
    }
    // The driver's error for unknown memory.  It also applies to memory that was released here but
    // that the driver still has allocated.
    let unknown = CudaError::of_call("cuPointerGetAttribute", codes::INVALID_VALUE);
    Err(other_device_error(current.context(), address).unwrap_or(unknown.into()))
}

/// Whether memory is a pool's of the host, which no context has, unlike other pinned memory (seen on an H200).
fn is_of_host_pool(current: &Current<'_>, address: u64) -> CudaResult<bool> {
    let [kind, owner] = current.attributes([Attribute::MemoryType, Attribute::Context], address)?;
    Ok((kind, owner) == (Attribute::HOST_MEMORY, 0))
}

fn no_access(address: u64, context: &Context) -> Error {
    let number = context.device().number();
    Error::Invalid(format!(
        "device {number} has no access to the pinned memory at {address:#x}: it belongs to a memory pool of the \
         host, which cuMemPoolSetAccess opens to kernels, but not to copies; copy the data to a buffer"
    ))
}

/// Why the driver has refused to copy this memory, if that is known: the memory of a pool of the host is copied as host
/// memory only, although kernels reach it after `cuMemPoolSetAccess` (seen on an H200).
pub(crate) fn refused_copy(context: &Context, address: u64) -> Option<Error> {
    let current = context.enter().ok()?;
    is_of_host_pool(&current, address).ok().filter(|is_of_pool| *is_of_pool)?;
    Some(Error::Invalid(format!(
        "the pinned memory at {address:#x} belongs to a memory pool of the host, which the driver does not copy as \
         memory of a device: copy the data to a buffer of the host or of a device"
    )))
}

/// The error for memory that belongs to another device, if any does.  Without peer access, a
/// context does not know such memory.
fn other_device_error(context: &Context, address: u64) -> Option<Error> {
    let others = Context::primaries().into_iter();
    let owner = others
        .filter(|other| other.device() != context.device())
        .find(|other| is_memory_of(other, address).unwrap_or(false))?;
    Some(on_another_device(address, owner.device().number().into(), context))
}

fn is_memory_of(context: &Context, address: u64) -> CudaResult<bool> {
    let current = context.enter()?;
    if current.device_address(address)?.is_none() {
        return Ok(false);
    }
    let number = u64::from(context.device().number());
    Ok(has_device_memory(&current, address)?
        && current.attribute(Attribute::DeviceOrdinal, address)? == number)
}

pub(crate) fn has_device_memory(current: &Current<'_>, address: u64) -> CudaResult<bool> {
    Ok(current.attribute(Attribute::MemoryType, address)? == Attribute::DEVICE_MEMORY)
}

fn on_another_device(address: u64, lies_on: u64, context: &Context) -> Error {
    let number = context.device().number();
    Error::Invalid(format!(
        "the memory at {address:#x} lies on device {lies_on}, the context is on device {number}"
    ))
}

/// The primary context of the device whose memory contains an address; that of device 0 for host memory, and for
/// memory that no device knows.
///
/// ```
/// use arrow_cuda_buffer::{DeviceBuffer, context_of};
/// use arrow_cuda_context::Context;
///
/// let context = Context::primary(0)?;
/// let buffer = DeviceBuffer::allocate(&context, 16)?;
/// assert_eq!(context_of(buffer.private_address())?, context);
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
///
/// # Errors
///
/// When there is no driver or no device, or the context cannot be made.
pub fn context_of(address: u64) -> CudaResult<Context> {
    let has_it = |context: &Context| is_memory_of(context, address).unwrap_or(false);
    if let Some(context) = Context::primaries().into_iter().find(has_it) {
        return Ok(context);
    }
    // Other libraries may have a context on a device that nobody has used here.
    for number in 0..Device::count()? {
        let context = Context::primary(number)?;
        if has_it(&context) {
            return Ok(context);
        }
    }
    Context::primary(0)
}

/// The host's address of the memory at device address `address`; `None` for memory that the host cannot access.
///
/// ```
/// use arrow_cuda_buffer::{device_address, host_address};
/// use arrow_cuda_context::Context;
/// use arrow_cuda_transfer::HostBuffer;
///
/// let context = Context::primary(0)?;
/// let pinned = HostBuffer::allocate(&context, 16)?;
/// let here = pinned.private_ptr().addr();
/// let on_the_device = device_address(&context, here as u64)?;
/// assert_eq!(host_address(&context, on_the_device)?, Some(here));
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
///
/// # Errors
///
/// When the context is gone.
pub fn host_address(context: &Context, address: u64) -> CudaResult<Option<usize>> {
    let host = context.enter()?.attribute_if_known(Attribute::HostPointer, address)?;
    Ok(host.and_then(|host| usize::try_from(host).ok()))
}

/// Whether an address is in device memory that the host cannot access, on the context's device or on another device
/// whose context is in use.  False for an address that no driver context knows.
///
/// ```
/// use arrow_cuda_buffer::{DeviceBuffer, is_device_memory};
/// use arrow_cuda_context::Context;
///
/// let context = Context::primary(0)?;
/// let buffer = DeviceBuffer::allocate(&context, 16)?;
/// let here = [0u8; 16];
/// assert!(is_device_memory(&context, buffer.private_address())?);
/// assert!(!is_device_memory(&context, here.as_ptr().addr() as u64)?);
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
///
/// # Errors
///
/// When the context is gone.
pub fn is_device_memory(context: &Context, address: u64) -> CudaResult<bool> {
    let current = context.enter()?;
    match current.attribute_if_known(Attribute::MemoryType, address)? {
        None => Ok(other_device_error(context, address).is_some()),
        Some(Attribute::DEVICE_MEMORY) => {
            Ok(current.attribute(Attribute::IsManaged, address)? == 0)
        }
        Some(_) => Ok(false),
    }
}

/// The address of memory that comes into a context, as [`check`] finds it.
///
/// If another context has the memory, this waits for the work of that one: what is known of the work on the
/// memory was said of a default stream, and nothing orders those of two contexts.
pub(crate) fn take_in(context: &Context, address: u64, size: usize) -> Result<u64, Error> {
    let found = find_all(context, address, size).map_err(|error| match error {
        Error::Cuda(error) => Error::Cuda(error.advised(codes::INVALID_VALUE, || {
            format!(
                "the driver does not know the address {address:#x}: it is pageable host memory, which a device cannot \
                 access, or was released"
            )
        })),
        other => other,
    });
    let Found { address, owner } = found?;
    if owner != 0 && owner != context.handle() as u64 {
        let owner = Context::of_memory(&context.enter()?, address)?;
        owner.map_or(Ok(()), |owner| without_interpreter(|| owner.synchronize()))?;
    }
    Ok(address)
}

/// The address at which the context's device reaches the `size` bytes at `address`, as
/// [`device_address`] finds it, if it can reach all of them.
pub(crate) fn check(context: &Context, address: u64, size: usize) -> Result<u64, Error> {
    find_all(context, address, size).map(|found| found.address)
}

struct Found {
    address: u64,
    /// The handle of the context that has the memory; 0 if none has.
    owner: u64,
}

fn find_all(context: &Context, address: u64, size: usize) -> Result<Found, Error> {
    if address == 0 && size == 0 {
        return Ok(Found { address, owner: 0 });
    }
    let current = context.enter()?;
    if current.has_block(address, size as u64) {
        // Such as a result of a library that allocates here.
        return Ok(Found { address, owner: context.handle() as u64 });
    }
    if size == 0 {
        // Some libraries have empty buffers at addresses of no memory, which are for nobody.
        let known = current.device_address(address)?;
        return Ok(Found { address: known.unwrap_or(0), owner: 0 });
    }
    let address = find(&current, address)?;
    let asked =
        [Attribute::MemoryType, Attribute::IsManaged, Attribute::DeviceOrdinal, Attribute::Context];
    let [kind, is_managed, lies_on, owner] = current.attributes(asked, address)?;
    let is_of_one_device = kind == Attribute::DEVICE_MEMORY && is_managed == 0;
    if is_of_one_device && lies_on != u64::from(context.device().number()) {
        return Err(on_another_device(address, lies_on, context));
    }
    let Some(end) = address.checked_add(size as u64) else {
        return invalid(format!("{size} bytes at {address:#x} exceed every address"));
    };
    let mut reached = address;
    while reached < end {
        let piece = match reached == address {
            true => piece_at(&current, reached)?,
            false => next_piece(&current, reached)?,
        };
        match piece.and_then(|piece| end_of_piece(reached, piece)) {
            Some(further) => reached = further,
            None => {
                let end = reached - address;
                return invalid(format!(
                    "size argument is out-of-range: the memory at {address:#x} ends after {end} \
                     bytes, not {size}"
                ));
            }
        }
    }
    Ok(Found { address, owner })
}

/// The start and size of the piece of memory at an address.  Of memory that is mapped in pieces, the attributes tell
/// only the range of addresses that was reserved for it (seen on an H200: 157 GiB).
fn piece_at(current: &Current<'_>, address: u64) -> CudaResult<Option<(u64, u64)>> {
    match current.allocation_at(address) {
        // A driver may call no registered memory an allocation.
        Err(error) if error.code() == Some(codes::NOT_FOUND) => {
            let kind = current.attribute_if_known(Attribute::MemoryType, address)?;
            let is_host = kind.is_some_and(|kind| kind != Attribute::DEVICE_MEMORY);
            if is_host { current.known_range(address) } else { Ok(None) }
        }
        piece => piece.map(Some),
    }
}

/// The piece after the end of another one.  Memory that is mapped in pieces may continue there; an allocation of
/// `cuMemAlloc` ends, whatever follows it.
fn next_piece(current: &Current<'_>, address: u64) -> CudaResult<Option<(u64, u64)>> {
    match current.attribute_if_known(Attribute::IsIpcCapable, address)? {
        Some(0) => piece_at(current, address),
        _ => Ok(None),
    }
}

/// The end of the memory at an address, whose piece the driver has mapped from `start` on.
fn end_of_piece(address: u64, (start, length): (u64, u64)) -> Option<u64> {
    let end = match block_at(address, start) {
        Some((block, size)) => block + size,
        None => start.saturating_add(length),
    };
    (end > address).then_some(end)
}
