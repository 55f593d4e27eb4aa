//! Copies to buffers that are allocated together.
//!
//! Copies look at where the buffers really lie, and so work for any, in as few copies as their places
//! allow.

use crate::copy::{begin, check_order_of, order_after};
use crate::scattered::{ends, is_behind};
use crate::{DeviceBuffer, Error, watched};
use arrow_cuda_context::{Completed, Context, Current, Retained, Stream, StreamHandle};
use arrow_cuda_driver::{CudaError, CudaResult};
use arrow_cuda_transfer::{CopyOrder, Part, copy_from_producer, is_pinned};

/// Blocks end nearer than this to the next one.
const BLOCK_ALIGNMENT: usize = 512;

/// A smaller part is not worth a copy of its own, nor the question where it lies.
const LARGE: usize = 1 << 20;

type Pair<'a> = (&'a DeviceBuffer, &'a DeviceBuffer);

impl DeviceBuffer {
    /// Buffers of one allocation with the bytes of parts of host memory, by one copy.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let parts = [b"one".as_slice(), b"", b"four"];
    /// let buffers = DeviceBuffer::suballocated_from_host(&Context::primary(0)?, &parts)?;
    /// assert_eq!(buffers[2].to_vec()?, b"four");
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`suballocate`](Self::suballocate), and other driver errors.
    pub fn suballocated_from_host(context: &Context, parts: &[&[u8]]) -> Result<Vec<Self>, Error> {
        let buffers = Self::suballocate(context, &sizes_of(parts))?;
        let outcome = copy_parts(context, &buffers, parts);
        exposed_if_failed(buffers, outcome).map(|(buffers, ())| buffers)
    }

    /// As [`suballocated_from_host`](Self::suballocated_from_host), now or on a stream of the context.  On a
    /// stream the copies are queued if all parts are pinned, and retain `owner` until they are complete.
    /// Otherwise the calling thread waits for the stream, and the bytes are there when the call returns.
    ///
    /// The other result is the owners of earlier work that is complete by now.
    ///
    /// ```
    /// use arrow_cuda_buffer::{CopyOrder, DeviceBuffer};
    /// use arrow_cuda_context::{Context, Stream};
    /// use arrow_cuda_transfer::HostBuffer;
    /// use std::sync::Arc;
    ///
    /// let context = Context::primary(0)?;
    /// let stream = Stream::new(&context)?;
    /// let mut pinned = HostBuffer::allocate(&context, 7)?;
    /// pinned.as_mut_slice().copy_from_slice(b"onefour");
    /// let pinned = Arc::new(pinned);
    /// let (one, four) = pinned.as_slice().split_at(3);
    /// let (order, owner) = (CopyOrder::On(&stream), Box::new(Arc::clone(&pinned)));
    /// // SAFETY: the owner keeps the parts, which nobody changes.
    /// let (buffers, _) = unsafe {
    ///     DeviceBuffer::suballocated_from_host_in(order, &context, &[one, four], owner)?
    /// };
    /// stream.synchronize()?;
    /// assert_eq!(buffers[1].to_vec()?, b"four");
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Safety
    ///
    /// The parts must be readable as long as `owner` lives, and nobody may change them before the stream
    /// has made the copies.
    ///
    /// # Errors
    ///
    /// As [`suballocated_from_host`](Self::suballocated_from_host); [`Error::Invalid`] for a stream of another
    /// context.
    pub unsafe fn suballocated_from_host_in(
        order: CopyOrder<'_>,
        context: &Context,
        parts: &[&[u8]],
        owner: Retained,
    ) -> Result<(Vec<Self>, Completed), Error> {
        check_order_of(order, [context].into_iter())?;
        let completed = match order {
            CopyOrder::Now => Completed::default(),
            CopyOrder::On(stream) if are_pinned(context, parts)? => {
                let buffers = Self::suballocate(context, &sizes_of(parts))?;
                watched::begin(sizes_of(parts).iter().sum());
                let retained = Box::new((buffers.clone(), owner));
                let queued = stream.enqueue(retained, |current, stream| {
                    clear(current, &buffers, stream)?;
                    for (to, part) in buffers.iter().zip(parts).filter(|(to, _)| !to.is_empty()) {
                        let (to, from, size) = (to.private_address, part.as_ptr(), part.len());
                        // SAFETY: a new buffer of that size; both ends are retained.
                        unsafe { current.queue_copy_from_host(to, from, size, stream) }?;
                    }
                    Ok(())
                });
                return exposed_if_failed(buffers, queued.map_err(Error::from));
            }
            CopyOrder::On(stream) => stream.synchronize()?,
        };
        Ok((Self::suballocated_from_host(context, parts)?, completed))
    }

    /// Buffers of one allocation, of these sizes, each with whether its bytes are made in their order, by one thread.
    /// Several threads make them, with [`copy_from_producer`]: `produce` gets a state of its thread, the number of a
    /// buffer, a place in it, and the bytes to make there; `watch` gets the buffers and the number of bytes made so
    /// far, now and then, first while no byte may be there yet.
    ///
    /// ```
    /// use arrow_cuda_buffer::{DeviceBuffer, Error};
    /// use arrow_cuda_context::Context;
    ///
    /// let count = |_: &mut (), number, at, out: &mut [u8]| {
    ///     out.iter_mut().enumerate().for_each(|(next, byte)| *byte = (number + at + next) as u8);
    ///     Ok::<_, Error>(())
    /// };
    /// let sizes = [(3, false), (2, true)];
    /// let context = Context::primary(0)?;
    /// let buffers = DeviceBuffer::suballocated_from_producer(&context, &sizes, count, |_, _| Ok(()))?;
    /// assert_eq!(buffers[1].to_vec()?, [1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`suballocate`](Self::suballocate), the first error of `produce` or `watch`, and other
    /// driver errors.
    pub fn suballocated_from_producer<S: Default, E: From<CudaError> + Send>(
        context: &Context,
        sizes: &[(usize, bool)],
        produce: impl Fn(&mut S, usize, usize, &mut [u8]) -> Result<(), E> + Sync,
        mut watch: impl FnMut(&[Self], usize) -> Result<(), E>,
    ) -> Result<Vec<Self>, E> {
        let bytes: Vec<_> = sizes.iter().map(|(size, _)| *size).collect();
        let buffers = Self::suballocate(context, &bytes)?;
        let mut before: Option<&Self> = None;
        let part = |(buffer, (size, is_serial)): (_, &(usize, bool))| {
            let is_joined = before.is_some_and(|before| is_next(before, buffer));
            before = Some(buffer).filter(|buffer| !buffer.is_empty()).or(before);
            let address = buffer.private_address;
            Part { address, size: *size, is_serial: *is_serial, is_joined }
        };
        let parts: Vec<_> = buffers.iter().zip(sizes).map(part).collect();
        // SAFETY: new buffers of these sizes, and gaps within their memory.
        let outcome = unsafe {
            copy_from_producer(context, &parts, produce, &mut |made| watch(&buffers, made))
        };
        exposed_if_failed(buffers, outcome).map(|(buffers, ())| buffers)
    }

    /// Buffers of one allocation with the bytes of others, in a context, perhaps of another device.  Sources that
    /// are adjacent themselves go by one copy, with what lies between them; other gaps become zeros.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// let source = DeviceBuffer::gathered(&context, &[b"onefour"])?;
    /// let parts = [&source.slice(..3)?, &source.slice(3..)?];
    /// let copies = DeviceBuffer::suballocated_copies(&context, &parts)?;
    /// drop(source);
    /// assert_eq!(copies[1].to_vec()?, b"four");
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`suballocate`](Self::suballocate), and other driver errors.
    pub fn suballocated_copies(context: &Context, sources: &[&Self]) -> Result<Vec<Self>, Error> {
        let made = Self::suballocated_copies_in(CopyOrder::Now, context, sources, Box::new(()));
        made.map(|(copies, _)| copies)
    }

    /// As [`suballocated_copies`](Self::suballocated_copies), now or on a stream, which may belong to this context
    /// or to that of each source.  On a stream the call returns when the copies are queued, and they
    /// retain the sources and `owner` until they are complete.
    ///
    /// The other result is the owners of earlier work that is complete by now.
    ///
    /// ```
    /// use arrow_cuda_buffer::{CopyOrder, DeviceBuffer};
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let stream = Stream::new(&context)?;
    /// let sources = DeviceBuffer::suballocated_from_host(&context, &[b"one", b"four"])?;
    /// let sources: Vec<_> = sources.iter().collect();
    /// let order = CopyOrder::On(&stream);
    /// let (copies, _) =
    ///     DeviceBuffer::suballocated_copies_in(order, &context, &sources, Box::new(()))?;
    /// stream.synchronize()?;
    /// assert_eq!(copies[1].to_vec()?, b"four");
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`suballocated_copies`](Self::suballocated_copies); [`Error::Invalid`] for a stream of another context.
    pub fn suballocated_copies_in(
        order: CopyOrder<'_>,
        context: &Context,
        sources: &[&Self],
        owner: Retained,
    ) -> Result<(Vec<Self>, Completed), Error> {
        check_order_of(order, [context].into_iter()).or_else(|error| match sources {
            [] => Err(error),
            _ => sources
                .iter()
                .try_for_each(|source| check_order_of(order, [source.context()].into_iter())),
        })?;
        order_after(order, sources)?;
        sources.iter().try_for_each(|source| source.check_memory())?;
        let sizes: Vec<_> = sources.iter().map(|source| source.size).collect();
        let copies = Self::suballocate(context, &sizes)?;
        watched::begin(sizes.iter().sum());
        let outcome = match order {
            CopyOrder::Now => copy_all(&copies, sources).map(|()| Completed::default()),
            CopyOrder::On(stream) => queue_all(stream, &copies, sources, owner),
        };
        exposed_if_failed(copies, outcome)
    }
}

/// Copies the bytes of each source to its copy, and clears the gaps between copies.
fn copy_all(copies: &[DeviceBuffer], sources: &[&DeviceBuffer]) -> Result<(), Error> {
    let pairs: Vec<_> = pairs(copies, sources).collect();
    let mut before: Option<&DeviceBuffer> = None;
    pairs.chunk_by(are_alike).try_for_each(|group| {
        let ((to, from), (last_to, last_from)) = ends(group);
        if let Some(before) = before.replace(last_to).filter(|before| is_next(before, to)) {
            to.gap_from(before.private_address + before.size as u64).fill(0)?;
        }
        to.through(last_to).copy_from_device(&from.through(last_from))?;
        watched::advance(group.iter().map(|(copy, _)| copy.size).sum())
    })
}

fn queue_all(
    stream: &Stream,
    copies: &[DeviceBuffer],
    sources: &[&DeviceBuffer],
    owner: Retained,
) -> Result<Completed, Error> {
    let Some(first) = copies.first() else { return Ok(Completed::default()) };
    let is_of_copies = stream.context().is_same(first.context());
    if !is_of_copies {
        runs(copies).iter().try_for_each(|run| run.fill(0))?;
    }
    let kept: Vec<DeviceBuffer> = sources.iter().map(|source| (*source).clone()).collect();
    Ok(stream.enqueue(Box::new((copies.to_vec(), kept, owner)), |current, stream| {
        if is_of_copies {
            clear(current, copies, stream)?;
        }
        let pairs: Vec<_> = pairs(copies, sources).collect();
        pairs.chunk_by(are_alike).try_for_each(|group| {
            let ((to, from), (last_to, last_from)) = ends(group);
            let (to, from) = (to.through(last_to), from.through(last_from));
            let target = (to.private_address, to.context());
            let source = (from.private_address, from.context());
            // SAFETY: both ranges lie within buffers that are retained, and do not overlap: the
            // copies are new.
            unsafe { current.queue_copy_between(target, source, to.size, stream) }
        })
    })?)
}

/// The copies that have bytes, each with its source.
fn pairs<'a>(
    copies: &'a [DeviceBuffer],
    sources: &'a [&'a DeviceBuffer],
) -> impl Iterator<Item = Pair<'a>> {
    copies.iter().zip(sources.iter().copied()).filter(|(copy, _)| !copy.is_empty())
}

/// Whether two copies, with what lies between them, go by one copy.
fn are_alike(a: &Pair<'_>, b: &Pair<'_>) -> bool {
    let distance = b.0.private_address.wrapping_sub(a.0.private_address);
    is_next(a.0, b.0) && is_next(a.1, b.1) && b.1.private_address - a.1.private_address == distance
}

/// Copies the bytes of each part to its buffer, and clears the gaps between buffers.
fn copy_parts(context: &Context, buffers: &[DeviceBuffer], parts: &[&[u8]]) -> Result<(), Error> {
    let mut filled = Vec::with_capacity(parts.len());
    let is_watched = watched::begin(parts.iter().map(|part| part.len()).sum());
    let most = if is_watched { watched::PIECE } else { usize::MAX };
    for (to, part) in buffers.iter().zip(parts).filter(|(to, _)| !to.is_empty()) {
        // The device reads pinned memory faster than others can gather it, if it is much.
        let is_direct = part.len() >= LARGE && is_pinned(context, part.as_ptr(), part.len())?;
        filled.push((to, *part, is_direct));
    }
    for run in filled.chunk_by(|(a, ..), (b, ..)| is_next(a, b)) {
        let ((first, ..), _) = ends(run);
        let mut end = first.private_address;
        for group in run.chunk_by(|(.., a), (.., b)| !a && !b) {
            let ((first, part, is_direct), (last, ..)) = ends(group);
            if *is_direct {
                first.gap_from(end).fill(0)?;
                for (number, piece) in part.chunks(most).enumerate() {
                    first.slice_with_length(number * most, piece.len())?.copy_from_host(piece)?;
                    watched::advance(piece.len())?;
                }
            } else {
                let at = |to: &DeviceBuffer| (to.private_address - end) as usize;
                let placed: Vec<_> = group.iter().map(|(to, part, _)| (at(to), *part)).collect();
                let whole = first.gap_from(end).through(last);
                let all = Piece { placed, ..Piece::default() };
                for piece in if is_watched { all.cut(most) } else { vec![all] } {
                    whole.copy_from_host_placed(piece.start, &piece.placed)?;
                    watched::advance(piece.bytes)?;
                }
            }
            end = last.private_address + last.size as u64;
        }
    }
    Ok(())
}

/// Some of the parts that are copied together.
#[derive(Default)]
struct Piece<'a> {
    /// Where the piece before it ends.
    start: usize,
    /// The parts, each with its distance from the start.
    placed: Vec<(usize, &'a [u8])>,
    bytes: usize,
}

impl<'a> Piece<'a> {
    /// Pieces of at most so many bytes.
    fn cut(self, most: usize) -> Vec<Self> {
        let mut pieces: Vec<Self> = Vec::new();
        let mut end = 0;
        for (mut at, mut rest) in self.placed {
            while !rest.is_empty() {
                let room = pieces.last().map_or(0, |piece| most - piece.bytes);
                if room == 0 {
                    pieces.push(Self { start: end, ..Self::default() });
                    continue;
                }
                let Some(piece) = pieces.last_mut() else { break };
                let (now, later) = rest.split_at(room.min(rest.len()));
                piece.placed.push((at - piece.start, now));
                piece.bytes += now.len();
                end = at + now.len();
                (at, rest) = (end, later);
            }
        }
        pieces
    }
}

/// The buffers, which a failed copy has exposed: it may leave work in flight that uses any of them.
fn exposed_if_failed<T, E>(
    buffers: Vec<DeviceBuffer>,
    outcome: Result<T, E>,
) -> Result<(Vec<DeviceBuffer>, T), E> {
    if outcome.is_err() {
        buffers.iter().for_each(DeviceBuffer::expose);
    }
    outcome.map(|value| (buffers, value))
}

/// Whether a buffer begins where the memory of another one ends.
fn is_next(first: &DeviceBuffer, second: &DeviceBuffer) -> bool {
    is_behind(first, second, BLOCK_ALIGNMENT - 1)
}

/// Waits for a stream that belongs to the context of each buffer, before they are copied to memory
/// that cannot be queued.  Returns the owners that were retained for the stream's work.
///
/// ```
/// use arrow_cuda_buffer::{CopyOrder, DeviceBuffer, await_stream_of};
/// use arrow_cuda_context::{Context, Stream};
///
/// let context = Context::primary(0)?;
/// let stream = Stream::non_blocking(&context)?;
/// let buffer = DeviceBuffer::allocate(&context, 4)?;
/// buffer.fill_in(CopyOrder::On(&stream), 7)?;
/// await_stream_of(&stream, &[&buffer])?;
/// assert_eq!(buffer.to_vec()?, [7; 4]);
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Invalid`] for a stream of another context; driver errors.
pub fn await_stream_of(stream: &Stream, buffers: &[&DeviceBuffer]) -> Result<Completed, Error> {
    buffers.iter().try_for_each(|buffer| begin(CopyOrder::On(stream), &[buffer]))?;
    Ok(stream.synchronize()?)
}

fn sizes_of(parts: &[&[u8]]) -> Vec<usize> {
    parts.iter().map(|part| part.len()).collect()
}

fn are_pinned(context: &Context, parts: &[&[u8]]) -> CudaResult<bool> {
    for part in parts.iter().filter(|part| !part.is_empty()) {
        if !is_pinned(context, part.as_ptr(), part.len())? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The ranges that buffers of one allocation cover, with the gaps between them, where there are any.
fn runs(buffers: &[DeviceBuffer]) -> Vec<DeviceBuffer> {
    let filled: Vec<_> = buffers.iter().filter(|buffer| !buffer.is_empty()).collect();
    let runs = filled.chunk_by(|a, b| is_next(a, b)).filter(|run| run.len() > 1);
    runs.map(ends).map(|(first, last)| first.through(last)).collect()
}

/// The gaps between buffers that were allocated together, each with its size in bytes: they hold bytes of earlier
/// buffers, which whoever can read the allocation would see.
pub(crate) fn gaps(buffers: &[DeviceBuffer]) -> Vec<(u64, usize)> {
    let filled: Vec<_> = buffers.iter().filter(|buffer| !buffer.is_empty()).collect();
    let pairs = filled.iter().zip(filled.iter().skip(1));
    let gap = |(before, buffer): (&&DeviceBuffer, &&DeviceBuffer)| {
        let end = before.private_address + before.size as u64;
        let is_gap = is_next(before, buffer) && end < buffer.private_address;
        is_gap.then(|| (end, (buffer.private_address - end) as usize))
    };
    pairs.filter_map(gap).collect()
}

/// Queues fills that clear the gaps between buffers, which are not written yet.
fn clear(
    current: &Current<'_>,
    buffers: &[DeviceBuffer],
    stream: StreamHandle<'_>,
) -> CudaResult<()> {
    runs(buffers).iter().try_for_each(|run| {
        // SAFETY: within one allocation that the caller's work retains.
        unsafe { current.queue_fill(run.private_address, 0, run.size, stream) }
    })
}
