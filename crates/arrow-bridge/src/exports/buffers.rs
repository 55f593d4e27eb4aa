//! Device and pinned host memory for C++.

use crate::address_exposure;
use crate::fault::{Fault, Made, Outcome, byte_count};
use crate::ffi::{
    BufferFacts, BufferPlace, Failure, HostFacts, Owner, RustBuffer, RustContext, RustHostBuffer,
};
use crate::kind::Kind;
use arrow_cuda_context::{Arrival, Ready, is_readable};
use arrow_cuda_driver::without_interpreter;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::slice;

/// A C++ owner, released with the last buffer over its memory, or when queued work is complete.
pub(super) struct Lent(pub(super) Owner);

// SAFETY: the border allows the owner to be dropped from any thread.
unsafe impl Send for Lent {}
// SAFETY: it is only ever dropped.
unsafe impl Sync for Lent {}

impl Drop for Lent {
    fn drop(&mut self) {
        // SAFETY: called once, with the owner that came with it.
        unsafe { (self.0.drop)(self.0.owner) };
    }
}

exported! {
    made buffer_allocate(context: &RustContext, size: i64) -> Made<RustBuffer> {
        let size = byte_count("the size of a device buffer", size)?;
        let buffer = without_interpreter(|| RustBuffer::allocate_packed(context, size))?;
        // libarrow passes addresses on in ways that nobody here sees.
        buffer.expose();
        Ok(buffer)
    }

    /// A buffer over foreign memory; takes ownership of `owner`, even on failure.
    made buffer_view(
        context: &RustContext,
        address: u64,
        size: i64,
        is_mutable: bool,
        owner: Owner,
    ) -> Made<RustBuffer> {
        let owner = Box::new(Lent(owner));
        let size = byte_count("the size of a device buffer", size)?;
        let arrival = Arrival::complete(); // C++ sees to the buffer's event, if it has one
        // SAFETY: C++ keeps the memory valid as long as the owner lives.
        Ok(unsafe { RustBuffer::view(context, address, size, is_mutable, arrival, owner) }?)
    }

    made buffer_slice(
        buffer: &RustBuffer,
        offset: i64,
        size: i64,
        is_mutable: bool,
    ) -> Made<RustBuffer> {
        let (offset, size) = (byte_count("an offset", offset)?, byte_count("a size", size)?);
        let slice = buffer.slice_with_length(offset, size)?;
        Ok(if is_mutable { slice } else { slice.read_only() })
    }

    answer buffer_facts(buffer: &RustBuffer) -> BufferFacts {
        BufferFacts {
            address: match address_exposure::is_exposed_on_request() {
                true => buffer.private_address(),
                // Until Python's addresses are watched, whoever reads this one orders itself.
                false => buffer.address(&Ready::by_caller()),
            },
            size: buffer.len() as i64,
            device: buffer.context().device().number().cast_signed(),
            is_mutable: buffer.is_mutable(),
        }
    }

    /// The address is about to reach other libraries.
    answer buffer_expose(buffer: &RustBuffer) {
        buffer.expose();
    }

    /// Moves a buffer to a place, instead of releasing it.
    answer buffer_move(buffer: Box<RustBuffer>, out: *mut BufferPlace) {
        // SAFETY: C++ passes a writable place, into which a buffer fits.
        unsafe { out.cast::<RustBuffer>().write(*buffer) };
    }

    /// Releases the buffer at a place, which is only memory afterwards.
    answer buffer_release_at(place: *mut BufferPlace) {
        // SAFETY: C++ releases the buffer at this place once.
        unsafe { place.cast::<RustBuffer>().drop_in_place() };
    }

    /// Copies are complete when they return, and ordered after the default stream's work, which may need the GIL.
    attempted copy_to_host(
        buffer: &RustBuffer,
        position: i64,
        out: *mut c_void,
        size: i64,
    ) -> Failure {
        let position = byte_count("a position", position)?;
        // SAFETY: C++ passes `size` writable bytes.
        let out = unsafe { host_mut(out, size)? };
        Ok(without_interpreter(|| buffer.slice_with_length(position, out.len())?.copy_to_uninit(out))?)
    }

    attempted copy_from_host(
        buffer: &RustBuffer,
        position: i64,
        data: *const c_void,
        size: i64,
    ) -> Failure {
        let position = byte_count("a position", position)?;
        // SAFETY: C++ passes `size` readable bytes.
        let data = unsafe { host(data, size)? };
        Ok(without_interpreter(|| buffer.slice_with_length(position, data.len())?.copy_from_host(data))?)
    }

    attempted copy_from_device(to: &RustBuffer, position: i64, from: &RustBuffer) -> Failure {
        let position = byte_count("a position", position)?;
        Ok(without_interpreter(|| to.slice_with_length(position, from.len())?.copy_from_device(from))?)
    }

    answer host_buffer_facts(buffer: &RustHostBuffer) -> HostFacts {
        // Python gives the address to anybody, so it has leaked.
        HostFacts { data: buffer.as_ptr(), size: buffer.size() as i64 }
    }

    /// The host address of pinned memory that is mapped at a device address; null for an address without
    /// a mapping.
    attempt host_address(context: &RustContext, device_address: u64) -> Outcome<Option<NonNull<u8>>> {
        let found = arrow_cuda_buffer::host_address(context, device_address)?;
        Ok(found.and_then(|address| NonNull::new(address as *mut u8)))
    }

    /// Whether an address is that of device memory, which the host does not reach.  Otherwise the host can read it,
    /// or this fails.
    attempt is_device_memory(context: &RustContext, address: u64) -> Outcome<bool> {
        let is_there = arrow_cuda_buffer::is_device_memory(context, address)?;
        let word = address as usize & !7;
        match is_there || is_readable(word) {
            true => Ok(is_there),
            false => Err(Fault::new(Kind::Invalid, format!("the memory at {address:#x} cannot be read"))),
        }
    }

    /// The device address that pinned memory is mapped at; 0 for memory without a mapping.
    attempt device_address(context: &RustContext, host_address: *const c_void) -> Outcome<u64> {
        let found = context.enter()?.device_address(host_address as u64)?;
        Ok(found.unwrap_or(0))
    }

    answer buffer_release(buffer: Box<RustBuffer>) {
        drop(buffer);
    }

    answer host_buffer_release(buffer: Box<RustHostBuffer>) {
        drop(buffer);
    }
}

const _: () = assert!(
    size_of::<RustBuffer>() <= size_of::<BufferPlace>()
        && align_of::<RustBuffer>() <= align_of::<BufferPlace>(),
    "a buffer has to fit into its place"
);

/// Host memory that C++ passes for reading.
///
/// # Safety
///
/// It must be readable for `size` bytes; null is allowed if `size` is 0.
pub(super) unsafe fn host<'a>(data: *const c_void, size: i64) -> Result<&'a [u8], Fault> {
    let size = host_size(data, size)?;
    // SAFETY: guaranteed by the caller.
    Ok(if size == 0 { &[] } else { unsafe { slice::from_raw_parts(data.cast(), size) } })
}

/// Host memory that C++ passes for writing.
///
/// # Safety
///
/// It must be writable for `size` bytes; null is allowed if `size` is 0.
pub(super) unsafe fn host_mut<'a>(
    out: *mut c_void,
    size: i64,
) -> Result<&'a mut [MaybeUninit<u8>], Fault> {
    let size = host_size(out, size)?;
    // SAFETY: guaranteed by the caller.
    Ok(if size == 0 { &mut [] } else { unsafe { slice::from_raw_parts_mut(out.cast(), size) } })
}

fn host_size(address: *const c_void, size: i64) -> Result<usize, Fault> {
    match byte_count("a size", size)? {
        size if address.is_null() && size > 0 => {
            Err(Fault::new(Kind::Invalid, format!("{size} bytes of host memory at null")))
        }
        size => Ok(size),
    }
}
