//! Pinned host memory for many allocations of any size and alignment, such as libarrow makes.
//!
//! All of it is exposed: whoever has the address of an array may have queued work on it.  An allocation neither
//! gives up Python's GIL nor waits for it: libarrow allocates on threads of its own, and while it reads
//! Python's objects.

use super::ledger::{ALIGNMENT, SEGMENT};
use super::zeroing;
use super::{Placement, Source};
use crate::{Cache, Context, Extension};
use arrow_cuda_driver::{CudaResult, keeping_interpreter, may_release, report_failure};
use std::ptr::{self, NonNull};

const PAGES: Source = Source::Pages;

/// Allocates pinned host memory of any size.  There is one for each context, and it is never dropped:
/// what it has allocated may outlive everything else.
///
/// The memory stays where it is when the context goes, though no longer pinned.  In a forked child it can
/// be read and written; allocations fail there, and releases do nothing.
///
/// ```
/// use arrow_cuda_context::{Context, HostPool};
///
/// let pool = HostPool::of(&Context::primary(0)?);
/// let start = pool.allocate(100, 64)?;
/// assert_eq!(start.addr().get() % 64, 0);
/// // SAFETY: allocated above, and not used afterwards.
/// unsafe { pool.release(start) };
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Debug)]
pub struct HostPool {
    context: Context,
}

struct OfContext(&'static HostPool);

impl Extension for OfContext {}

impl HostPool {
    /// The pool of a context, which exists from the first call on.
    pub fn of(context: &Context) -> &'static Self {
        let make = || OfContext(Box::leak(Box::new(Self { context: context.clone() })));
        context.own_extension(make).0
    }

    /// The context that pins the memory.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Allocates `size` bytes, more than 0, at a multiple of `alignment`, a power of two up to 2 MiB.
    /// Their content is unspecified.
    ///
    /// # Errors
    ///
    /// When the driver cannot pin that much memory, when the context is gone, and in a forked child.
    pub fn allocate(&self, size: usize, alignment: usize) -> CudaResult<NonNull<u8>> {
        debug_assert!(size > 0 && alignment.is_power_of_two() && alignment as u64 <= SEGMENT);
        // Blocks are aligned already, or have room for an aligned start.
        let room = alignment.saturating_sub(ALIGNMENT as usize);
        let bytes = size.saturating_add(room) as u64;
        let place = || self.context.place(PAGES, bytes, Placement::Packed);
        let (start, _) =
            keeping_interpreter(place).map_err(|error| error.while_allocating(size as u64))?;
        let start = pointer(start.next_multiple_of(alignment as u64));
        if zeroing::is_on() {
            // SAFETY: allocated above, and nobody has it yet.
            unsafe { start.write_bytes(0, size) };
        }
        Ok(start)
    }

    /// Changes the size of an allocation, neither size being 0: where it is if there is room, else its
    /// bytes move.  If this fails, the allocation is as it was.
    ///
    /// # Safety
    ///
    /// `start` must have been allocated here, with as many bytes and that alignment, and must not be used
    /// afterwards if this succeeds.
    ///
    /// # Errors
    ///
    /// As for [`allocate`](Self::allocate).
    pub unsafe fn reallocate(
        &self,
        start: NonNull<u8>,
        old_size: usize,
        new_size: usize,
        alignment: usize,
    ) -> CudaResult<NonNull<u8>> {
        let pool = self.context.pool(PAGES);
        if pool.with_ledger(|ledger| ledger.resize(address(start), new_size as u64))? {
            if zeroing::is_on() && new_size > old_size {
                // SAFETY: the allocation has these bytes now, and nobody has written to them.
                unsafe { start.add(old_size).write_bytes(0, new_size - old_size) };
            }
            return Ok(start);
        }
        let moved = self.allocate(new_size, alignment)?;
        // SAFETY: two allocations, each of at least the copied number of bytes.
        unsafe {
            ptr::copy_nonoverlapping(start.as_ptr(), moved.as_ptr(), old_size.min(new_size));
            self.release(start);
        }
        Ok(moved)
    }

    /// Releases an allocation.  In a forked child this does nothing.
    ///
    /// # Safety
    ///
    /// `start` must have been allocated here, and must not be used afterwards.
    pub unsafe fn release(&self, start: NonNull<u8>) {
        if !may_release() {
            return;
        }
        // The thread may have the interpreter, and must neither wait for the device nor give that up.
        let released =
            keeping_interpreter(|| self.context.release_block(PAGES, address(start), true));
        report_failure(PAGES.name(), released);
    }

    /// Gives the driver, and so the system, all pinned memory that nothing uses.  Waits for all work of the
    /// devices.
    pub fn release_unused(&self) {
        if may_release() {
            report_failure(PAGES.name(), Cache::Pinned.empty().map(drop));
        }
    }
}

fn address(start: NonNull<u8>) -> u64 {
    start.addr().get() as u64
}

fn pointer(address: u64) -> NonNull<u8> {
    let start = ptr::with_exposed_provenance_mut(address as usize);
    NonNull::new(start).expect("memory does not begin at 0")
}
