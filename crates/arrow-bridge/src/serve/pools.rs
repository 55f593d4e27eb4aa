//! Pools of pinned host memory for C++.

use crate::fault::{Fault, attempt, unsigned};
use crate::ffi::{Failure, Kind, RustPool};
use arrow_cuda_driver::CudaError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};

/// What blocks of pinned memory are aligned to.
const MAX_ALIGNMENT: usize = 2 << 20;

/// What libarrow's own pools say of memory that they do not get, and what the driver says.
fn failed(what: &str, size: usize, error: CudaError) -> Fault {
    match error.is_out_of_memory() {
        true => Fault::new(Kind::Memory, format!("{what} of size {size} failed: {error}")),
        false => error.into(),
    }
}

fn sized(size: i64) -> Result<usize, Fault> {
    let size = unsigned("the size of an allocation", size)?;
    usize::try_from(size).map_err(|error| Fault::new(Kind::Memory, error.to_string()))
}

fn aligned(alignment: i64) -> Result<usize, Fault> {
    let known = usize::try_from(alignment).ok();
    known.filter(|known| known.is_power_of_two() && *known <= MAX_ALIGNMENT).ok_or_else(|| {
        let text = format!("pinned memory cannot be aligned to {alignment} bytes");
        Fault::new(Kind::Invalid, text)
    })
}

pub(super) unsafe extern "C" fn allocate(
    pool: *const RustPool,
    size: i64,
    alignment: i64,
    failure: *mut Failure,
) -> *mut u8 {
    let work = || {
        let (size, alignment) = (sized(size)?, aligned(alignment)?);
        // SAFETY: a live pool.
        let allocated = unsafe { &*pool }.allocate(size, alignment);
        allocated.map(NonNull::as_ptr).map_err(|error| failed("malloc", size, error))
    };
    // SAFETY: guaranteed by the caller.
    unsafe { attempt(failure, work) }.unwrap_or(ptr::null_mut())
}

pub(super) unsafe extern "C" fn reallocate(
    pool: *const RustPool,
    data: *mut u8,
    old_size: i64,
    new_size: i64,
    alignment: i64,
    failure: *mut Failure,
) -> *mut u8 {
    let work = || {
        let (old, new, alignment) = (sized(old_size)?, sized(new_size)?, aligned(alignment)?);
        let data = NonNull::new(data)
            .ok_or_else(|| Fault::new(Kind::Invalid, "no memory to be reallocated"))?;
        // SAFETY: a live pool, which has allocated this.
        let moved = unsafe { (*pool).reallocate(data, old, new, alignment) };
        moved.map(NonNull::as_ptr).map_err(|error| failed("realloc", new, error))
    };
    // SAFETY: guaranteed by the caller.
    unsafe { attempt(failure, work) }.unwrap_or(ptr::null_mut())
}

pub(super) unsafe extern "C" fn free(pool: *const RustPool, data: *mut u8, size: i64) {
    let (Some(data), Ok(size)) = (NonNull::new(data), usize::try_from(size)) else { return };
    // SAFETY: a live pool, which has allocated this.
    let work = AssertUnwindSafe(|| unsafe { (*pool).release(data, size) });
    // There is nobody to tell.
    let _ = catch_unwind(work);
}

pub(super) unsafe extern "C" fn release_unused(pool: *const RustPool) {
    // SAFETY: a live pool.
    let work = AssertUnwindSafe(|| unsafe { (*pool).release_unused() });
    let _ = catch_unwind(work);
}
