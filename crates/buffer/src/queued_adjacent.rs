//! Buffers that are allocated together and copied together, in the order of a stream.

use crate::adjacent::{are_alike, ends, is_next, pairs, settle_all};
use crate::queued::{check_stream, check_stream_of};
use crate::{DeviceBuffer, Error};
use arrow_cuda_context::{Completed, Context, Current, Retained, Stream, StreamHandle};
use arrow_cuda_driver::CudaResult;
use arrow_cuda_transfer::is_pinned;

impl DeviceBuffer {
    /// Adjacent buffers with the bytes of parts of host memory, copied in the order of a stream of the
    /// context.  If all parts are pinned, the call returns when the copies are queued, and they retain
    /// `owner` until they are complete.  Otherwise the calling thread waits for the stream, and the
    /// bytes are there when the call returns.
    ///
    /// The other result is the owners of earlier work that is complete by now.
    ///
    /// # Safety
    ///
    /// The parts must be readable as long as `owner` lives, and nobody may change them before the stream
    /// has made the copies.
    ///
    /// # Errors
    ///
    /// As [`adjacent_from_host`](Self::adjacent_from_host); [`Error::Invalid`] for a stream of another
    /// context.
    pub unsafe fn queue_adjacent_from_host(
        context: &Context,
        stream: &Stream,
        parts: &[&[u8]],
        owner: Retained,
    ) -> Result<(Vec<Self>, Completed), Error> {
        check_stream_of(stream, &[context])?;
        if !are_pinned(context, parts)? {
            let completed = stream.synchronize()?;
            return Ok((Self::adjacent_from_host(context, parts)?, completed));
        }
        let sizes: Vec<_> = parts.iter().map(|part| part.len() as u64).collect();
        let buffers = Self::allocate_adjacent(context, &sizes)?;
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
        settled(buffers, queued)
    }

    /// Adjacent buffers in a context with the bytes of others, copied in the order of a stream, which
    /// may belong to this context or to that of each source.  The call returns when the copies are
    /// queued, and they retain the sources and `owner` until they are complete.
    ///
    /// The other result is the owners of earlier work that is complete by now.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let stream = Stream::new(&context)?;
    /// let sources = DeviceBuffer::adjacent_from_host(&context, &[b"one", b"four"])?;
    /// let sources: Vec<_> = sources.iter().collect();
    /// let (copies, _) =
    ///     DeviceBuffer::queue_adjacent_copies(&context, &stream, &sources, Box::new(()))?;
    /// stream.synchronize()?;
    /// assert_eq!(copies[1].to_vec()?, b"four");
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`adjacent_copies`](Self::adjacent_copies); [`Error::Invalid`] for a stream of another context.
    pub fn queue_adjacent_copies(
        context: &Context,
        stream: &Stream,
        sources: &[&Self],
        owner: Retained,
    ) -> Result<(Vec<Self>, Completed), Error> {
        check_stream_of(stream, &[context]).or_else(|error| match sources {
            [] => Err(error),
            _ => sources.iter().try_for_each(|source| check_stream(stream, &[source])),
        })?;
        sources.iter().try_for_each(|source| source.check_memory())?;
        let sizes: Vec<_> = sources.iter().map(|source| source.size).collect();
        let copies = Self::allocate_adjacent(context, &sizes)?;
        let is_of_copies = stream.context().is_same(context);
        if !is_of_copies {
            runs(&copies).try_for_each(|run| run.fill(0))?;
        }
        let kept: Vec<Self> = sources.iter().map(|source| (*source).clone()).collect();
        let queued = stream.enqueue(Box::new((copies.clone(), kept, owner)), |current, stream| {
            if is_of_copies {
                clear(current, &copies, stream)?;
            }
            let pairs: Vec<_> = pairs(&copies, sources).collect();
            pairs.chunk_by(are_alike).try_for_each(|group| {
                let ((to, from), (last_to, last_from)) = ends(group);
                let (to, from) = (to.through(last_to), from.through(last_from));
                let target = (to.private_address, to.context());
                let source = (from.private_address, from.context());
                // SAFETY: both ranges lie within buffers that are retained, and do not overlap: the
                // copies are new.
                unsafe { current.queue_copy_between(target, source, to.size as usize, stream) }
            })
        });
        settled(copies, queued)
    }
}

/// Waits for a stream that belongs to the context of each buffer, before they are copied to memory
/// that cannot be queued.  Returns the owners that were retained for the stream's work.
///
/// # Errors
///
/// [`Error::Invalid`] for a stream of another context; driver errors.
pub fn await_stream_of(stream: &Stream, buffers: &[&DeviceBuffer]) -> Result<Completed, Error> {
    buffers.iter().try_for_each(|buffer| check_stream(stream, &[buffer]))?;
    Ok(stream.synchronize()?)
}

fn are_pinned(context: &Context, parts: &[&[u8]]) -> CudaResult<bool> {
    for part in parts.iter().filter(|part| !part.is_empty()) {
        if !is_pinned(context, part.as_ptr(), part.len())? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The ranges that adjacent buffers cover, with the gaps between them, where there are any.
fn runs(buffers: &[DeviceBuffer]) -> impl Iterator<Item = DeviceBuffer> {
    let filled: Vec<_> = buffers.iter().filter(|buffer| !buffer.is_empty()).collect();
    let runs: Vec<_> = filled
        .chunk_by(|a, b| is_next(a, b))
        .filter(|run| run.len() > 1)
        .map(|run| {
            let (first, last) = ends(run);
            first.through(last)
        })
        .collect();
    runs.into_iter()
}

/// Queues fills that clear the gaps between buffers, which are not written yet.
fn clear(
    current: &Current<'_>,
    buffers: &[DeviceBuffer],
    stream: StreamHandle<'_>,
) -> CudaResult<()> {
    runs(buffers).try_for_each(|run| {
        // SAFETY: within one allocation that the caller's work retains.
        unsafe { current.queue_fill(run.private_address, 0, run.size as usize, stream) }
    })
}

fn settled(
    buffers: Vec<DeviceBuffer>,
    queued: CudaResult<Completed>,
) -> Result<(Vec<DeviceBuffer>, Completed), Error> {
    let (outcome, completed) = match queued {
        Ok(completed) => (Ok(()), completed),
        Err(error) => (Err(error.into()), Completed::default()),
    };
    settle_all(buffers, outcome).map(|buffers| (buffers, completed))
}
