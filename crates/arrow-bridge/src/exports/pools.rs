//! Pools of pinned host memory for C++.

use crate::fault::{Fault, Outcome, byte_count};
use crate::ffi::RustPool;
use crate::kind::Kind;
use arrow_cuda_driver::CudaError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

/// The alignment of blocks of pinned memory, in bytes.
const MAX_ALIGNMENT: usize = 2 << 20;

const SIZE: &str = "the size of an allocation";

/// The error of libarrow's own pools, with the driver's text.
fn failed(what: &str, size: usize, error: CudaError) -> Fault {
    match error.is_out_of_memory() {
        true => Fault::new(Kind::Memory, format!("{what} of size {size} failed: {error}")),
        false => error.into(),
    }
}

fn aligned(alignment: i64) -> Result<usize, Fault> {
    let known = usize::try_from(alignment).ok();
    known.filter(|known| known.is_power_of_two() && *known <= MAX_ALIGNMENT).ok_or_else(|| {
        let text = format!("pinned memory cannot be aligned to {alignment} bytes");
        Fault::new(Kind::Invalid, text)
    })
}

exported! {
    /// Allocates `size` bytes, more than 0, at a multiple of `alignment`, a power of two.  These functions
    /// may be called on any thread, and neither need the GIL nor give it up.
    attempt pool_allocate(
        pool: &RustPool,
        size: i64,
        alignment: i64,
    ) -> Outcome<Option<NonNull<u8>>> {
        let (size, alignment) = (byte_count(SIZE, size)?, aligned(alignment)?);
        let allocated = pool.allocate(size, alignment);
        allocated.map(Some).map_err(|error| failed("malloc", size, error))
    }

    /// Returns where the bytes are now; `data` is still allocated on failure.  Neither size is 0.
    attempt pool_reallocate(
        pool: &RustPool,
        data: *mut u8,
        old_size: i64,
        new_size: i64,
        alignment: i64,
    ) -> Outcome<Option<NonNull<u8>>> {
        let (old, new, alignment) =
            (byte_count(SIZE, old_size)?, byte_count(SIZE, new_size)?, aligned(alignment)?);
        let data = NonNull::new(data)
            .ok_or_else(|| Fault::new(Kind::Invalid, "no memory to be reallocated"))?;
        // SAFETY: the pool has allocated this.
        let moved = unsafe { pool.reallocate(data, old, new, alignment) };
        moved.map(Some).map_err(|error| failed("realloc", new, error))
    }

    answer pool_free(pool: &RustPool, data: *mut u8, _size: i64) {
        let Some(data) = NonNull::new(data) else { return };
        // SAFETY: the pool has allocated this.
        let work = AssertUnwindSafe(|| unsafe { pool.release(data) });
        // `free` cannot report a failure.
        let _ = catch_unwind(work);
    }

    answer pool_release_unused(pool: &RustPool) {
        let work = AssertUnwindSafe(|| pool.release_unused());
        let _ = catch_unwind(work);
    }
}
