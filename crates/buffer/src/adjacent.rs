//! Buffers that are allocated together and copied together: the columns of a record batch.
//!
//! They lie one behind the other in one segment, so that one copy moves all of them.  Copies look at
//! where buffers really lie, and so work for any others, too, in as few copies as their places allow.
//!
//! A buffer that outlives the others retains little more than itself: large ones have blocks of their
//! own, and small ones share blocks of limited size, because each block costs time.

use crate::{DeviceBuffer, Error, allocator, range};
use arrow_cuda_context::Context;
use arrow_cuda_driver::{CudaError, CudaResult};
use arrow_cuda_transfer::is_pinned;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Where buffers begin, in bytes: at multiples of this, as the driver's own allocations.
const ALIGNMENT: u64 = 256;

/// Blocks end nearer than this to the next one.
const BLOCK_ALIGNMENT: u64 = 512;

/// No device has as much memory.
const MOST: u64 = 1 << 62;

/// Buffers smaller than this share blocks of about this size.
const SHARED: u64 = 256 << 10;

/// A download reads gaps up to this many bytes between buffers rather than begin another copy.
const MAX_GAP: u64 = 64 << 10;

/// A smaller part is not worth a copy of its own, nor the question where it lies.
const LARGE: usize = 1 << 20;

/// A buffer, and host memory for its first bytes.
pub type HostPart<'a> = (&'a DeviceBuffer, &'a mut [MaybeUninit<u8>]);

/// A copy and its source.
pub(crate) type Pair<'a> = (&'a DeviceBuffer, &'a DeviceBuffer);

impl DeviceBuffer {
    /// Allocates a buffer of each size, in bytes, uninitialised: all in one segment, one behind the
    /// other, each at a multiple of 256 bytes.  Only if the device has no room for one segment, there
    /// are several.  A buffer retains its own memory, and less than 512 KiB of its neighbours'.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let buffers = DeviceBuffer::allocate_adjacent(&Context::primary(0)?, &[1000, 0, 3])?;
    /// assert_eq!(buffers[2].address(), buffers[0].address() + 1024);
    /// assert!(buffers[1].is_empty());
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the device has no room: `CUDA_ERROR_OUT_OF_MEMORY`; nothing stays allocated then.
    pub fn allocate_adjacent(context: &Context, sizes: &[u64]) -> CudaResult<Vec<Self>> {
        if let Some(buffers) = Self::adjacent_of_allocator(context, sizes)? {
            return Ok(buffers);
        }
        let shares = shares(sizes);
        let sizes_of_blocks: Vec<_> = shares.iter().map(|share| share.size).collect();
        let blocks = match context.allocate_adjacent(&sizes_of_blocks) {
            Err(error) if CudaError::is_out_of_memory(&error) && sizes.len() > 1 => {
                let (first, second) = sizes.split_at(sizes.len() / 2);
                let mut buffers = Self::allocate_adjacent(context, first)?;
                buffers.extend(Self::allocate_adjacent(context, second)?);
                return Ok(buffers);
            }
            allocated => allocated?,
        };
        let nothing = Self::allocate_packed(context, 0)?;
        let mut buffers = Vec::with_capacity(sizes.len());
        for (share, block) in shares.into_iter().zip(blocks) {
            buffers.resize(share.members.start, nothing.clone());
            let (whole, mut end) = (Self::of_block(block), 0);
            let members = sizes.iter().take(share.members.end).skip(share.members.start);
            for size in members {
                buffers.push(match size {
                    0 => nothing.clone(),
                    _ => {
                        let offset = begin_behind(end);
                        end = offset + size;
                        whole.part(offset, *size)
                    }
                });
            }
        }
        buffers.resize(sizes.len(), nothing);
        Ok(buffers)
    }

    /// Buffers as parts of one allocation from the allocator that the program has set; `None` without one.
    fn adjacent_of_allocator(context: &Context, sizes: &[u64]) -> CudaResult<Option<Vec<Self>>> {
        let mut end = 0;
        let mut offsets = Vec::with_capacity(sizes.len());
        for size in sizes {
            let offset = if *size == 0 { end } else { begin_behind(end) };
            offsets.push(offset);
            end = offset.saturating_add(*size);
            if end > MOST {
                return Ok(None); // the driver says so
            }
        }
        if end == 0 {
            return Ok(None);
        }
        let Some(whole) = allocator::allocate(context, end)? else { return Ok(None) };
        let nothing = Self::allocate_packed(context, 0)?;
        let members = offsets.into_iter().zip(sizes);
        let part = |(offset, size): (u64, &u64)| match size {
            0 => nothing.clone(),
            _ => whole.part(offset, *size),
        };
        Ok(Some(members.map(part).collect()))
    }

    /// Adjacent buffers with the bytes of parts of host memory, by one copy.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let parts = [b"one".as_slice(), b"", b"four"];
    /// let buffers = DeviceBuffer::adjacent_from_host(&Context::primary(0)?, &parts)?;
    /// assert_eq!(buffers[2].to_vec()?, b"four");
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`allocate_adjacent`](Self::allocate_adjacent), and other driver errors.
    pub fn adjacent_from_host(context: &Context, parts: &[&[u8]]) -> Result<Vec<Self>, Error> {
        let sizes: Vec<_> = parts.iter().map(|part| part.len() as u64).collect();
        let buffers = Self::allocate_adjacent(context, &sizes)?;
        let outcome = fill(context, &buffers, parts);
        settle_all(buffers, outcome)
    }

    /// Adjacent buffers in a context, perhaps of another device, with the bytes of others.  Sources that
    /// are adjacent themselves go by one copy, with what lies between them; other gaps become zeros.
    ///
    /// # Errors
    ///
    /// As [`allocate_adjacent`](Self::allocate_adjacent), and other driver errors.
    pub fn adjacent_copies(context: &Context, sources: &[&Self]) -> Result<Vec<Self>, Error> {
        let sizes: Vec<_> = sources.iter().map(|source| source.size).collect();
        let copies = Self::allocate_adjacent(context, &sizes)?;
        let pairs: Vec<_> = pairs(&copies, sources).collect();
        let mut before: Option<&Self> = None;
        let outcome = pairs.chunk_by(are_alike).try_for_each(|group| {
            let ((to, from), (last_to, last_from)) = ends(group);
            if let Some(before) = before.replace(last_to).filter(|before| is_next(before, to)) {
                to.gap_from(before.private_address + before.size).fill(0)?;
            }
            to.through(last_to).copy_from_device(0, &from.through(last_from))
        });
        settle_all(copies, outcome)
    }
}

/// The copies that have bytes, each with its source.
pub(crate) fn pairs<'a>(
    copies: &'a [DeviceBuffer],
    sources: &'a [&'a DeviceBuffer],
) -> impl Iterator<Item = Pair<'a>> {
    copies.iter().zip(sources.iter().copied()).filter(|(copy, _)| !copy.is_empty())
}

/// Whether two copies, with what lies between them, go by one copy.
pub(crate) fn are_alike(a: &Pair<'_>, b: &Pair<'_>) -> bool {
    let distance = b.0.private_address.wrapping_sub(a.0.private_address);
    is_next(a.0, b.0) && is_next(a.1, b.1) && b.1.private_address - a.1.private_address == distance
}

/// Copies the bytes of each part to its buffer, and clears the gaps between buffers.
fn fill(context: &Context, buffers: &[DeviceBuffer], parts: &[&[u8]]) -> Result<(), Error> {
    let mut filled = Vec::with_capacity(parts.len());
    for (to, part) in buffers.iter().zip(parts).filter(|(to, _)| !to.is_empty()) {
        filled.push((to, *part, is_copied_directly(context, part)?));
    }
    for run in filled.chunk_by(|(a, ..), (b, ..)| is_next(a, b)) {
        let ((first, ..), _) = ends(run);
        let mut end = first.private_address;
        for group in run.chunk_by(|(.., a), (.., b)| !a && !b) {
            let ((first, part, is_direct), (last, ..)) = ends(group);
            if *is_direct {
                first.gap_from(end).fill(0)?;
                first.copy_from_host(0, part)?;
            } else {
                let at = |to: &DeviceBuffer| (to.private_address - end) as usize;
                let placed: Vec<_> = group.iter().map(|(to, part, _)| (at(to), *part)).collect();
                first.gap_from(end).through(last).copy_from_host_placed(0, &placed)?;
            }
            end = last.private_address + last.size;
        }
    }
    Ok(())
}

/// A failed copy may leave work in flight that uses any of the buffers.
pub(crate) fn settle_all(
    buffers: Vec<DeviceBuffer>,
    outcome: Result<(), Error>,
) -> Result<Vec<DeviceBuffer>, Error> {
    if outcome.is_err() {
        buffers.iter().for_each(DeviceBuffer::expose);
    }
    outcome.map(|()| buffers)
}

/// Buffers in one block.
struct Share {
    size: u64,
    /// The numbers of the buffers, of which those of no bytes have no place in the block.
    members: Range<usize>,
}

/// Which buffers of these sizes share blocks: those that follow each other and are small.
fn shares(sizes: &[u64]) -> Vec<Share> {
    let mut shares: Vec<Share> = Vec::new();
    for (number, size) in sizes.iter().copied().enumerate().filter(|(_, size)| *size > 0) {
        match shares.last_mut() {
            Some(last) if last.size < SHARED && size < SHARED => {
                last.size = begin_behind(last.size) + size;
                last.members.end = number + 1;
            }
            _ => shares.push(Share { size, members: number..number + 1 }),
        }
    }
    shares
}

/// Where the next buffer in a block begins.
fn begin_behind(end: u64) -> u64 {
    end.next_multiple_of(ALIGNMENT)
}

/// Whether a buffer begins where the memory of another one ends.
pub(crate) fn is_next(first: &DeviceBuffer, second: &DeviceBuffer) -> bool {
    is_behind(first, second, BLOCK_ALIGNMENT - 1)
}

/// Copies the first bytes of buffers to host memory, as many as there is memory for each.  Buffers that
/// lie near each other in one allocation, in this order, go by one copy.
///
/// ```
/// use std::mem::MaybeUninit;
///
/// use arrow_cuda_buffer::{DeviceBuffer, copy_to_host_scattered};
/// use arrow_cuda_context::Context;
///
/// let parts = [b"one".as_slice(), b"four"];
/// let buffers = DeviceBuffer::adjacent_from_host(&Context::primary(0)?, &parts)?;
/// let (mut one, mut four) = ([MaybeUninit::uninit(); 3], [MaybeUninit::uninit(); 4]);
/// copy_to_host_scattered(vec![(&buffers[0], &mut one), (&buffers[1], &mut four)])?;
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::OutOfBounds`] for more memory than a buffer has bytes, before anything is copied; driver
/// errors.
pub fn copy_to_host_scattered(mut parts: Vec<HostPart<'_>>) -> Result<(), Error> {
    for (from, out) in &parts {
        range::within(0, out.len() as u64, from.size)?;
    }
    parts.retain(|(_, out)| !out.is_empty());
    for group in parts.chunk_by_mut(|a, b| is_behind(a.0, b.0, MAX_GAP)) {
        let ((first, _), (last, _)) = ends(group);
        let (whole, start) = (first.through(last), first.private_address);
        let mut placed = Vec::with_capacity(group.len());
        for (from, out) in group {
            placed.push(((from.private_address - start) as usize, &mut **out));
        }
        whole.copy_to_host_placed(&mut placed)?;
    }
    Ok(())
}

/// Whether a part goes to the device by itself: the device reads pinned memory faster than others can
/// gather it, if it is much.
fn is_copied_directly(context: &Context, part: &[u8]) -> CudaResult<bool> {
    Ok(part.len() >= LARGE && is_pinned(context, part.as_ptr(), part.len())?)
}

/// Whether a buffer lies behind another one in the same memory, with at most `gap` bytes between them.
fn is_behind(first: &DeviceBuffer, second: &DeviceBuffer, gap: u64) -> bool {
    let end = first.private_address + first.size;
    first.shares_memory(second)
        && range::overlap(end, second.private_address, gap + 1)
        && end <= second.private_address
}

/// The first and the last one of a group that `chunk_by` has made.
#[expect(clippy::expect_used, reason = "chunk_by makes no group without members")]
pub(crate) fn ends<T>(group: &[T]) -> (&T, &T) {
    group.first().zip(group.last()).expect("a group has members")
}
