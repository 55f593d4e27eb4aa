//! Device memory: one allocation of the driver.

use crate::{Context, live};
use arrow_cuda_driver::{CudaError, CudaResult, blocking, call, may_release, report_failure};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether an allocation may share a driver block with others.
///
/// The driver packs allocations of at most 1 MiB into blocks of 2 MiB (seen on an H200), and
/// a process that imports one of them can reach the whole block from its kernels.  So memory
/// that may be exported gets a block of its own, as long as that wastes little.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Alone in its block, unless too much memory is wasted that way already.
    Alone,
    /// As the driver likes.
    Packed,
}

/// What the driver's blocks measure.
const BLOCK: u64 = 2 << 20;
/// The largest allocation that shares a block with others.
const PACKED_AT_MOST: u64 = 1 << 20;
/// One part in this many of a device's memory may be wasted on blocks that are used in part.
const SLACK_SHARE: u64 = 32;

/// An allocation, freed when it is dropped.
///
/// ```
/// use arrow_cuda_context::{Context, Placement};
///
/// let block = Context::primary(0)?.allocate(100, Placement::Alone)?;
/// assert!(block.size() == 100 && block.is_alone());
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Debug)]
pub struct Block {
    address: u64,
    size: u64,
    slack: u64,
    is_alone: bool,
    is_kept: AtomicBool,
    context: Context,
}

impl Context {
    /// Allocates `size` bytes, more than 0, uninitialised.
    ///
    /// # Errors
    ///
    /// When the device has no room for it: `CUDA_ERROR_OUT_OF_MEMORY`.
    pub fn allocate(&self, size: u64, placement: Placement) -> CudaResult<Block> {
        let _current = self.enter()?;
        let slack = match placement {
            Placement::Alone if size <= PACKED_AT_MOST => self.reserve_slack(BLOCK - size)?,
            _ => 0,
        };
        let mut slack = slack;
        let mut allocated = driver_allocate(size + slack);
        if let Err(error) = &allocated
            && slack > 0
        {
            self.release_slack(std::mem::take(&mut slack));
            if error.is_out_of_memory() {
                // The room that is left may not be a whole block.
                allocated = driver_allocate(size);
            }
        }
        let address = allocated.map_err(|error| error.while_allocating(size))?;
        self.count(size.cast_signed());
        live::remember(address, size);
        Ok(Block {
            address,
            size,
            slack,
            is_alone: size > PACKED_AT_MOST || slack > 0,
            is_kept: AtomicBool::new(false),
            context: self.clone(),
        })
    }

    /// Takes `bytes` out of what may be wasted; 0 when there is not that much left.
    fn reserve_slack(&self, bytes: u64) -> CudaResult<u64> {
        let limit = self.total_memory()? / SLACK_SHARE;
        let before = self.slack().fetch_add(bytes, Ordering::AcqRel);
        if before + bytes <= limit {
            return Ok(bytes);
        }
        self.release_slack(bytes);
        Ok(0)
    }

    fn release_slack(&self, bytes: u64) {
        self.slack().fetch_sub(bytes, Ordering::AcqRel);
    }
}

fn driver_allocate(size: u64) -> CudaResult<u64> {
    let mut address = 0u64;
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    // SAFETY: stores an address through the pointer, which outlives the call.
    unsafe { call!(cuMemAlloc_v2((&raw mut address).cast(), size)) }?;
    Ok(address)
}

impl Block {
    /// The device address.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The size that was asked for, in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Where the block was allocated.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Whether no other allocation lies in the same driver block.
    pub fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// Never frees the memory: another process may have it mapped, for as long as it likes.
    /// It goes with the process.
    pub fn keep(&self) {
        self.is_kept.store(true, Ordering::Release);
    }

    fn free(&self) -> Result<(), CudaError> {
        // Once it is free, another thread may be given the same address.
        live::forget(self.address);
        if self.context.is_gone() {
            // The memory went with its context, and the address may be somebody else's by now.
            return Ok(());
        }
        // Needs no current context, and works on any thread.
        // SAFETY: the address came from `cuMemAlloc` and is freed once, here.
        unsafe { call!(cuMemFree_v2(self.address)) }?;
        self.context.count(-self.size.cast_signed());
        self.context.release_slack(self.slack);
        Ok(())
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if !self.is_kept.load(Ordering::Acquire) && may_release() {
            report_failure("device memory", blocking(|| self.free()));
        }
    }
}
