//! Copies between arrays of any layout.
//!
//! `bounds.rs` checks the layouts; `plan.rs` simplifies the copy; `launches.rs` passes it to
//! the kernels.

mod bounds;
#[expect(unsafe_code, reason = "launches kernels")]
mod kernel;
mod launches;
mod plan;

use crate::copy::begin;
use crate::{DeviceBuffer, Error};
use arrow_cuda_context::{Completed, Context, Stream};
use arrow_cuda_driver::CudaResult;
use arrow_cuda_transfer::CopyOrder;
use plan::Plan;

/// Where the elements of an n-dimensional array lie in a buffer.
///
/// ```
/// use arrow_cuda_buffer::{DeviceBuffer, Elements, copy_elements};
/// use arrow_cuda_context::Context;
///
/// let context = Context::primary(0)?;
/// let matrix = DeviceBuffer::gathered(&context, &[b"abc", b"def"])?;
/// let column = Elements { buffer: &matrix, offset: 1, strides: &[3] };
/// let to = DeviceBuffer::allocate(&context, 2)?;
/// copy_elements(Elements { buffer: &to, offset: 0, strides: &[1] }, column, &[2], 1)?;
/// assert_eq!(to.to_vec()?, b"be");
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a> {
    /// The memory.
    pub buffer: &'a DeviceBuffer,
    /// Where the first element begins, in bytes from the buffer's start.
    pub offset: usize,
    /// The distance between neighbours along each dimension, in bytes: negative where they lie
    /// backwards, 0 where one element stands for all.
    pub strides: &'a [i64],
}

/// Copies the elements of an array into those of another one of the same shape.
///
/// Lengths count elements, of `item_size` bytes each.  The layouts may differ in any way, and overlap:
/// the result is as if all elements had been read before.  Where both are contiguous in the same
/// order, the driver copies; else a kernel does.  Arrays that overlap, or lie in different contexts,
/// take room for the elements meanwhile.
///
/// As other copies without a stream, this one is ordered as the legacy default stream is, and is
/// complete when the call returns.
///
/// # Errors
///
/// [`Error::OutOfBounds`] for elements that do not lie within their buffer; [`Error::ReadOnly`];
/// [`Error::Invalid`] for a number of strides that is not that of the lengths, and for a target whose
/// elements may overlap; driver errors.
///
/// ```
/// use arrow_cuda_buffer::{DeviceBuffer, Elements, copy_elements};
/// use arrow_cuda_context::Context;
///
/// let context = Context::primary(0)?;
/// let (rows, columns) = (DeviceBuffer::allocate(&context, 6)?, DeviceBuffer::allocate(&context, 6)?);
/// rows.copy_from_host(b"abcdef")?;
/// let from = Elements { buffer: &rows, offset: 0, strides: &[3, 1] };
/// let to = Elements { buffer: &columns, offset: 0, strides: &[1, 2] };
/// copy_elements(to, from, &[2, 3], 1)?;
/// assert_eq!(columns.to_vec()?, b"adbecf");
///
/// // One element for all of every second column.
/// let to = Elements { buffer: &columns, offset: 0, strides: &[1, 4] };
/// copy_elements(to, Elements { offset: 1, strides: &[0, 0], ..from }, &[2, 2], 1)?;
/// assert_eq!(columns.to_vec()?, b"bbbebb");
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
pub fn copy_elements(
    to: Elements<'_>,
    from: Elements<'_>,
    shape: &[usize],
    item_size: usize,
) -> Result<(), Error> {
    copy_elements_in(CopyOrder::Now, to, from, shape, item_size).map(drop)
}

/// As [`copy_elements`], now or on a stream, which may belong to the context of either buffer.  A queued
/// copy retains both buffers until it is complete.  The result holds the owners of earlier work that is
/// complete by now.
///
/// # Errors
///
/// The errors of [`copy_elements`]; [`Error::Invalid`] for a stream of a third context.
///
/// ```
/// use arrow_cuda_buffer::{CopyOrder, DeviceBuffer, Elements, copy_elements_in};
/// use arrow_cuda_context::{Context, Stream};
///
/// let context = Context::primary(0)?;
/// let stream = Stream::new(&context)?;
/// let buffer = DeviceBuffer::allocate(&context, 4)?;
/// buffer.copy_from_host(b"abcd")?;
/// let elements = Elements { buffer: &buffer, offset: 0, strides: &[1] };
/// let backwards = Elements { offset: 3, strides: &[-1], ..elements };
/// copy_elements_in(CopyOrder::On(&stream), elements, backwards, &[4], 1)?;
/// stream.synchronize()?;
/// assert_eq!(buffer.to_vec()?, b"dcba");
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
pub fn copy_elements_in(
    order: CopyOrder<'_>,
    to: Elements<'_>,
    from: Elements<'_>,
    shape: &[usize],
    item_size: usize,
) -> Result<Completed, Error> {
    begin(order, &[to.buffer, from.buffer])?;
    bounds::check_dimensions(to.strides, shape)?;
    bounds::check_dimensions(from.strides, shape)?;
    let is_empty = item_size == 0 || shape.contains(&0);
    if !is_empty {
        to.check_within(shape, item_size)?;
        from.check_within(shape, item_size)?;
        bounds::check_distinct(to.strides, shape, item_size)?;
    }
    to.buffer.check_mutable()?;
    if is_empty {
        return Ok(Completed::default());
    }
    let plan = Plan::of(shape, item_size, (to.offset, to.strides), (from.offset, from.strides));
    copy_checked(order, plan, to.buffer, from.buffer)
}

impl Elements<'_> {
    fn check_within(&self, shape: &[usize], item_size: usize) -> Result<(), Error> {
        bounds::check_within(self.offset, self.strides, shape, item_size, self.buffer.size)
    }
}

fn copy_checked(
    order: CopyOrder<'_>,
    plan: Plan,
    to: &DeviceBuffer,
    from: &DeviceBuffer,
) -> Result<Completed, Error> {
    let is_within = to.context().is_same(from.context());
    if plan.is_plain() || is_within && !plan.overlaps(to.private_address, from.private_address) {
        return copy(order, plan, to, from);
    }
    let (gather, scatter) = plan.in_two_steps();
    let mut completed = Completed::default();
    let mut packed = if gather.is_plain() && !is_within {
        from.slice_with_length(gather.from as usize, gather.run as usize)?
    } else {
        let packed = DeviceBuffer::allocate_packed(from.context(), gather.size() as usize)?;
        completed.extend(copy(order, gather, &packed, from)?);
        packed
    };
    if !is_within && !scatter.is_plain() {
        let there = DeviceBuffer::allocate_packed(to.context(), packed.size)?;
        completed.extend(copy(order, Plan::plain(0, 0, packed.size as u64), &there, &packed)?);
        packed = there;
    }
    completed.extend(copy(order, scatter, to, &packed)?);
    Ok(completed)
}

/// Makes a copy that is plain, or else lies within one context, where its ends do not overlap.
fn copy(
    order: CopyOrder<'_>,
    plan: Plan,
    to: &DeviceBuffer,
    from: &DeviceBuffer,
) -> Result<Completed, Error> {
    if plan.is_plain() {
        let (to, from) = (
            to.slice_with_length(plan.to as usize, plan.run as usize)?,
            from.slice_with_length(plan.from as usize, plan.run as usize)?,
        );
        return to.copy_from_device_in(order, 0, &from);
    }
    to.check_memory()?;
    from.check_memory()?;
    match order {
        CopyOrder::Now => kernel::copy(plan, to, from).map(|()| Completed::default()),
        CopyOrder::On(stream) => {
            let queue = |stream: &Stream| kernel::queue(stream, plan, to, from);
            Ok(on_a_stream_of(to.context(), stream, queue)?)
        }
    }
}

/// Queues the work of a context in the order of a stream of another one, if it is of another: kernels
/// run on streams of their own context only.
fn on_a_stream_of(
    context: &Context,
    stream: &Stream,
    work: impl FnOnce(&Stream) -> CudaResult<Completed>,
) -> CudaResult<Completed> {
    if stream.context().is_same(context) {
        return work(stream);
    }
    let there = Stream::non_blocking(context)?;
    // Queued as work, so that a stream that is being captured is refused.
    let mut completed = stream.enqueue(Box::new(()), |_, _| there.wait_for(&stream.record()?))?;
    completed.extend(work(&there)?);
    stream.wait_for(&there.record()?)?;
    Ok(completed)
}
