//! Copies between device buffers and many parts of host memory.

use crate::copy::too_large;
use crate::{DeviceBuffer, Error, range, watched};
use arrow_cuda_context::Context;
use arrow_cuda_transfer as transfer;
use bytemuck::NoUninit;
use std::mem::MaybeUninit;

/// A download reads gaps up to this many bytes between buffers rather than begin another copy.
const MAX_GAP: usize = 64 << 10;

/// A buffer, and host memory for its first bytes.
///
/// ```
/// use std::mem::MaybeUninit;
///
/// use arrow_cuda_buffer::{DeviceBuffer, HostPart, copy_to_host_scattered};
/// use arrow_cuda_context::Context;
///
/// let buffer = DeviceBuffer::gathered(&Context::primary(0)?, &[b"abcd"])?;
/// let mut bytes = [MaybeUninit::uninit(); 2];
/// let part: HostPart<'_> = (&buffer, &mut bytes);
/// copy_to_host_scattered(vec![part])?;
/// // SAFETY: the copy has initialised them.
/// assert_eq!(bytes.map(|byte| unsafe { byte.assume_init() }), *b"ab");
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
pub type HostPart<'a> = (&'a DeviceBuffer, &'a mut [MaybeUninit<u8>]);

impl DeviceBuffer {
    /// The bytes, on the host.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 3)?;
    /// buffer.fill(7)?;
    /// assert_eq!(buffer.to_vec()?, [7, 7, 7]);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] when the host has no room, or driver errors.
    pub fn to_vec(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = reserve(self.size)?;
        self.copy_to_uninit(spare(&mut bytes, self.size)?)?;
        // SAFETY: the copy has initialised as many bytes as the buffer has, for which there is room.
        unsafe { bytes.set_len(self.size) };
        Ok(bytes)
    }

    /// The bytes of many buffers, on the host.  Buffers that lie near each other in one allocation, in this
    /// order, go by one copy.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let parts = [b"one".as_slice(), b"", b"four"];
    /// let buffers = DeviceBuffer::suballocated_from_host(&Context::primary(0)?, &parts)?;
    /// assert_eq!(DeviceBuffer::to_vecs(&buffers.iter().collect::<Vec<_>>())?, parts);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] when the host has no room, or driver errors.
    pub fn to_vecs(buffers: &[&Self]) -> Result<Vec<Vec<u8>>, Error> {
        let reserved = buffers.iter().map(|buffer| reserve(buffer.size));
        let mut vecs = reserved.collect::<Result<Vec<_>, _>>()?;
        let mut parts = Vec::with_capacity(buffers.len());
        for (from, bytes) in buffers.iter().zip(&mut vecs) {
            parts.push((*from, spare(bytes, from.size)?));
        }
        copy_to_host_scattered(parts)?;
        for (from, bytes) in buffers.iter().zip(&mut vecs) {
            // SAFETY: the copy has initialised as many bytes as the buffer has, for which there is room.
            unsafe { bytes.set_len(from.size) };
        }
        Ok(vecs)
    }

    /// A new buffer with the bytes of a slice of the host.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let buffer = DeviceBuffer::from_slice(&Context::primary(0)?, &[1u16, 2])?;
    /// assert_eq!(buffer.to_vec()?, [1, 0, 2, 0]);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the device has no room: `CUDA_ERROR_OUT_OF_MEMORY`; other driver errors.
    pub fn from_slice<T: NoUninit>(context: &Context, data: &[T]) -> Result<Self, Error> {
        Self::gathered(context, &[bytemuck::must_cast_slice(data)])
    }

    /// A new buffer with ranges of host memory, one after the other.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let buffer = DeviceBuffer::gathered(&Context::primary(0)?, &[b"one", b"", b"four"])?;
    /// assert_eq!(buffer.to_vec()?, b"onefour");
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the device has no room; driver errors.
    pub fn gathered(context: &Context, parts: &[&[u8]]) -> Result<Self, Error> {
        let size = parts.iter().map(|part| part.len()).sum();
        let buffer = Self::allocate(context, size)?;
        buffer.copy_from_host_gathered(0, parts)?;
        Ok(buffer)
    }

    /// Gathers ranges of host memory into the buffer, one after the other from `position` on: many
    /// small ones cost hardly more than a single one of their total size.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 8)?;
    /// buffer.copy_from_host_gathered(1, &[b"one", b"", b"four"])?;
    /// assert_eq!(buffer.slice(1..8)?.to_vec()?, b"onefour");
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`], [`Error::ReadOnly`], or driver errors.
    pub fn copy_from_host_gathered(&self, position: usize, parts: &[&[u8]]) -> Result<(), Error> {
        let mut end = 0;
        let mut placed = Vec::with_capacity(parts.len());
        for part in parts {
            placed.push((end, *part));
            end += part.len();
        }
        self.copy_from_host_placed(position, &placed)
    }

    /// Copies parts with gaps between them, which become zeros.  Each part comes with its offset from
    /// `position`, in ascending order.
    pub(crate) fn copy_from_host_placed(
        &self,
        position: usize,
        parts: &[(usize, &[u8])],
    ) -> Result<(), Error> {
        let size = parts.last().map_or(0, |(at, part)| at + part.len());
        if !self.check_writable(position, size)? {
            return Ok(());
        }
        let to = self.private_address + position as u64;
        // SAFETY: the range was checked; the buffer owns its memory.
        let copied = unsafe { transfer::copy_from_host_gathered(self.context(), to, parts) };
        self.expose_on_failure(copied)
    }
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
/// let buffers = DeviceBuffer::suballocated_from_host(&Context::primary(0)?, &parts)?;
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
        range::within(0, out.len(), from.size)?;
    }
    parts.retain(|(_, out)| !out.is_empty());
    if !watched::begin(parts.iter().map(|(_, out)| out.len()).sum()) {
        return scatter(parts);
    }
    for (bytes, mut piece) in pieces(parts) {
        scatter(piece.iter_mut().map(|(from, out)| (&*from, &mut **out)).collect())?;
        watched::advance(bytes)?;
    }
    Ok(())
}

type Piece<'a> = (usize, Vec<(DeviceBuffer, &'a mut [MaybeUninit<u8>])>);

/// Cuts parts into pieces, each with the number of its bytes, which is at most `PIECE`.
fn pieces(parts: Vec<HostPart<'_>>) -> Vec<Piece<'_>> {
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    for (from, out) in parts {
        let (mut at, mut rest) = (0, out);
        while !rest.is_empty() {
            let room = pieces.last().map_or(0, |(bytes, _)| watched::PIECE - bytes);
            if room == 0 {
                pieces.push((0, Vec::new()));
                continue;
            }
            let Some((bytes, piece)) = pieces.last_mut() else { break };
            let (now, later) = rest.split_at_mut(room.min(rest.len()));
            let size = now.len();
            piece.push((from.part(at, size), now));
            *bytes += size;
            (at, rest) = (at + size, later);
        }
    }
    pieces
}

fn scatter(mut parts: Vec<HostPart<'_>>) -> Result<(), Error> {
    for group in parts.chunk_by_mut(|a, b| is_behind(a.0, b.0, MAX_GAP)) {
        let ((first, _), (last, _)) = ends(group);
        let (whole, start) = (first.through(last), first.private_address);
        let mut placed = Vec::with_capacity(group.len());
        for (from, out) in group {
            placed.push(((from.private_address - start) as usize, &mut **out));
        }
        whole.check_memory()?;
        // SAFETY: each part lies within its buffer, which owns its memory; they are in ascending order.
        let copied =
            unsafe { transfer::copy_to_host_scattered(whole.context(), &mut placed, start) };
        whole.expose_on_failure(copied)?;
    }
    Ok(())
}

/// Whether a buffer lies after another one in the same memory, with at most `gap` bytes between them.
pub(crate) fn is_behind(first: &DeviceBuffer, second: &DeviceBuffer, gap: usize) -> bool {
    let end = first.private_address + first.size as u64;
    first.shares_memory(second)
        && range::overlap(end, second.private_address, gap + 1)
        && end <= second.private_address
}

/// The first and the last one of a group that `chunk_by` has made.
#[expect(clippy::expect_used, reason = "chunk_by makes no group without members")]
pub(crate) fn ends<T>(group: &[T]) -> (&T, &T) {
    group.first().zip(group.last()).expect("a group has members")
}

fn reserve(size: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_| too_large(size))?;
    Ok(bytes)
}

fn spare(bytes: &mut Vec<u8>, size: usize) -> Result<&mut [MaybeUninit<u8>], Error> {
    bytes.spare_capacity_mut().get_mut(..size).ok_or_else(|| too_large(size))
}
