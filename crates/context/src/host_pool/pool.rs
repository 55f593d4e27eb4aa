//! The pool of a context.

use super::arenas::Arenas;
use crate::streams::Fences;
use crate::{Context, Extension, PinnedBlock, empty_pinned_cache, zeroing};
use arrow_cuda_driver::{
    CudaResult, Lock, LongLock, keeping_interpreter, may_release, report_failure,
};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, Ordering};

/// The largest allocation that shares an arena with others.
const MAX_SHARED: usize = 4 << 20;
/// Blocks begin at multiples of this.
const MAX_ALIGNMENT: usize = 2 << 20;
/// A block of its own is replaced by a smaller one if more than one part in this many of it is unused.
const UNUSED_DIVISOR: usize = 4;

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
/// unsafe { pool.release(start, 100) };
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Debug)]
pub struct HostPool {
    context: Context,
    /// Whether somebody has found the context to be gone.
    is_gone: AtomicBool,
    books: Lock<Books>,
    /// Taken before the books.
    fences: Lock<Fences>,
    /// Held while an arena is pinned, so that threads that need one at the same time share it.
    growing: LongLock<()>,
}

#[derive(Debug, Default)]
struct Books {
    arenas: Arenas,
    /// Those of the arenas, and those that are one allocation each, by their starts.
    blocks: BTreeMap<u64, Own>,
}

#[derive(Debug)]
struct Own {
    block: PinnedBlock,
    is_arena: bool,
}

/// Where a context refers to its pool.
struct OfContext(&'static HostPool);

impl Extension for OfContext {
    fn abandon(&self) {
        self.0.is_gone.store(true, Ordering::Relaxed);
        let fences = self.0.fences.lock().map(|mut fences| std::mem::take(&mut *fences));
        drop(fences); // under no lock: they own contexts
    }
}

impl HostPool {
    /// The pool of a context, which exists from the first call on.
    pub fn of(context: &Context) -> &'static Self {
        let made = context.extension_or(|| {
            let pool = Self {
                context: context.clone(),
                is_gone: AtomicBool::new(false),
                books: Lock::new(Books::default()),
                fences: Lock::new(Fences::new()),
                growing: LongLock::new(()),
            };
            Ok::<_, Infallible>(OfContext(Box::leak(Box::new(pool))))
        });
        made.map(|pool| pool.0).unwrap_or_else(|never| match never {})
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
    /// When the driver cannot pin so much memory, when the context is gone, and in a forked child.
    pub fn allocate(&self, size: usize, alignment: usize) -> CudaResult<NonNull<u8>> {
        debug_assert!(size > 0 && alignment.is_power_of_two() && alignment <= MAX_ALIGNMENT);
        let address = keeping_interpreter(|| {
            if self.is_gone.load(Ordering::Relaxed) {
                drop(self.context.enter()?); // says so
            }
            match size <= MAX_SHARED {
                true => self.allocate_shared(size as u64, alignment as u64),
                false => self.allocate_alone(size),
            }
        })?;
        let start = pointer(address);
        if zeroing::is_on() {
            // SAFETY: allocated above, and nobody has it yet.
            unsafe { start.write_bytes(0, size) };
        }
        Ok(start)
    }

    fn allocate_alone(&self, size: usize) -> CudaResult<u64> {
        let block = self.context.allocate_pages(size)?;
        let address = block.address(); // exposes it
        self.books.lock()?.blocks.insert(address, Own { block, is_arena: false });
        Ok(address)
    }

    fn allocate_shared(&self, size: u64, alignment: u64) -> CudaResult<u64> {
        if let Some(address) = self.take(size, alignment)? {
            return Ok(address);
        }
        let _one_at_a_time = self.growing.lock()?;
        // Another thread may have added an arena meanwhile.
        if let Some(address) = self.take(size, alignment)? {
            return Ok(address);
        }
        let (wanted, needed) = self.books.lock()?.arenas.next_size(size, alignment);
        let block = match self.context.allocate_pages(wanted as usize) {
            Err(error) if error.is_out_of_memory() && needed < wanted => {
                self.context.allocate_pages(needed as usize)
            }
            outcome => outcome,
        }?;
        let mut books = self.books.lock()?;
        let (start, capacity) = (block.address(), block.capacity());
        books.arenas.add(start, capacity);
        books.blocks.insert(start, Own { block, is_arena: true });
        // Nobody else could take it before this.
        Ok(books
            .arenas
            .take(size, alignment)
            .expect("a new arena has room for what it is made for"))
    }

    /// Takes free memory of an arena; if there is none, what is pending, if work is complete.
    fn take(&self, size: u64, alignment: u64) -> CudaResult<Option<u64>> {
        let last_release = {
            let mut books = self.books.lock()?;
            let taken = books.arenas.take(size, alignment);
            if taken.is_some() || !books.arenas.is_pending(size) {
                return Ok(taken);
            }
            books.arenas.last_release()
        };
        let current = self.context.enter()?;
        let (complete, useless) = {
            let mut fences = self.fences.lock()?;
            (fences.complete_up_to(&current, last_release), fences.take_useless())
        };
        drop(useless);
        // Without evidence, nothing serves again but whole arenas, by way of the cache.
        let Ok(complete) = complete else { return Ok(None) };
        let mut books = self.books.lock()?;
        books.arenas.mark_complete(complete);
        Ok(books.arenas.take(size, alignment))
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
        if self.resize(start, old_size, new_size)? {
            if zeroing::is_on() && new_size > old_size {
                // SAFETY: the allocation has these bytes now, and nobody has written to them.
                unsafe { start.add(old_size).write_bytes(0, new_size - old_size) };
            }
            return Ok(start);
        }
        let moved = self.allocate(new_size, alignment)?;
        // SAFETY: two allocations, of at least so many bytes.
        unsafe {
            ptr::copy_nonoverlapping(start.as_ptr(), moved.as_ptr(), old_size.min(new_size));
            self.release(start, old_size);
        }
        Ok(moved)
    }

    /// Resizes an allocation where it is.  Returns false if that is impossible, or a waste.
    fn resize(&self, start: NonNull<u8>, old_size: usize, new_size: usize) -> CudaResult<bool> {
        let address = start.addr().get() as u64;
        let mut books = self.books.lock()?;
        Ok(match books.blocks.get(&address).filter(|own| !own.is_arena) {
            Some(own) => {
                let capacity = own.block.capacity() as usize;
                (capacity - capacity / UNUSED_DIVISOR..=capacity).contains(&new_size)
            }
            None => {
                new_size <= MAX_SHARED
                    && books.arenas.resize(address, old_size as u64, new_size as u64)
            }
        })
    }

    /// Releases an allocation.  In a forked child this does nothing.
    ///
    /// # Safety
    ///
    /// `start` must have been allocated here, with as many bytes, and must not be used afterwards.
    pub unsafe fn release(&self, start: NonNull<u8>, size: usize) {
        let address = start.addr().get() as u64;
        let released = {
            let Ok(mut books) = self.books.lock() else { return };
            let is_alone = books.blocks.get(&address).is_some_and(|own| !own.is_arena);
            match is_alone {
                true => books.blocks.remove(&address),
                false => {
                    let gone = books.arenas.release(address, size as u64);
                    gone.and_then(|gone| books.blocks.remove(&gone))
                }
            }
        };
        // The thread may have the interpreter, and must neither wait for the device nor give that up.
        if let Some(own) = released {
            keeping_interpreter(|| own.block.release_elsewhere());
        }
    }

    /// Gives the driver, and so the system, all memory that nothing uses: that of the pool, and what the
    /// process has cached of pinned memory.  Waits for all work of the devices.
    pub fn release_unused(&self) {
        let vacant: Vec<Own> = {
            let Ok(mut books) = self.books.lock() else { return };
            let starts = books.arenas.remove_vacant();
            starts.iter().filter_map(|start| books.blocks.remove(start)).collect()
        };
        drop(vacant);
        if may_release() {
            report_failure("pinned host memory", empty_pinned_cache().map(drop));
        }
    }
}

fn pointer(address: u64) -> NonNull<u8> {
    let start = ptr::with_exposed_provenance_mut(address as usize);
    NonNull::new(start).expect("memory does not begin at 0")
}
