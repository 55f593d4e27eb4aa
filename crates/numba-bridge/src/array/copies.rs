//! Copies of an array's elements, from and to the host and other arrays.
//!
//! Elements that are dense on both sides are one copy of bytes.  Other elements are gathered into dense memory,
//! or scattered from it, on the device.

use super::StridedArray;
use crate::error::invalid;
use crate::{Error, Order, StridedLayout};
use arrow_cuda_buffer::{CopyOrder, DeviceBuffer, Elements, copy_elements_in};
use arrow_cuda_context::{Completed, Context, Retained};
use std::mem::MaybeUninit;

impl StridedArray {
    /// Copies the elements to the host, one after the other in an order.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_numba_bridge::{ElementType, Order, StridedArray, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::uint(1), vec![2, 3])?;
    /// let array = StridedArray::allocate(&Context::primary(0)?, layout)?;
    /// array.copy_from_host(&[1, 2, 3, 4, 5, 6], Order::C)?;
    /// let mut out = Box::new_uninit_slice(6);
    /// array.copy_to_host(&mut out, Order::Fortran)?;
    /// // SAFETY: the copy has written all of it.
    /// assert_eq!(*unsafe { out.assume_init() }, [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] when `out` has another size; driver errors.
    pub fn copy_to_host(&self, out: &mut [MaybeUninit<u8>], order: Order) -> Result<(), Error> {
        // SAFETY: the memory is borrowed until the call returns, and so is the copy complete.
        unsafe { self.copy_to_host_in(CopyOrder::Now, out, order, || Box::new(())) }.map(drop)
    }

    /// As [`copy_to_host`](Self::copy_to_host), now or on a stream.
    ///
    /// ```
    /// use arrow_cuda_buffer::CopyOrder;
    /// use arrow_cuda_context::{Context, Stream};
    /// use arrow_cuda_numba_bridge::{ElementType, Order, StridedArray, StridedLayout};
    ///
    /// let context = Context::primary(0)?;
    /// let layout = StridedLayout::row_major(ElementType::uint(1), vec![3])?;
    /// let (array, stream) = (StridedArray::allocate(&context, layout)?, Stream::new(&context)?);
    /// array.fill(&[7])?;
    /// let mut out = Box::new_uninit_slice(3);
    /// // SAFETY: nobody uses `out` before the stream has made the copy.
    /// unsafe { array.copy_to_host_in(CopyOrder::On(&stream), &mut out, Order::C, || Box::new(())) }?;
    /// stream.synchronize()?;
    /// // SAFETY: the copy has written all of it.
    /// assert_eq!(*unsafe { out.assume_init() }, [7; 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Safety
    ///
    /// As for [`DeviceBuffer::copy_to_host_in`]: `out` must stay writable as long as the owner lives, and
    /// nobody may use it before the copy is made.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] when `out` has not as many bytes as the elements; [`Error::Buffer`] for a
    /// stream of another context; driver errors.
    pub unsafe fn copy_to_host_in(
        &self,
        when: CopyOrder<'_>,
        out: &mut [MaybeUninit<u8>],
        order: Order,
        owner: impl FnOnce() -> Retained,
    ) -> Result<Completed, Error> {
        self.check_size(out.len())?;
        let (out, size) = (out.as_mut_ptr().cast(), out.len());
        if self.is_dense(order) {
            // SAFETY: guaranteed by the caller.
            return Ok(unsafe { self.buffer.copy_to_host_in(when, 0, out, size, owner) }?);
        }
        let dense = self.empty_like(order)?;
        let mut completed = dense.copy_from_in(when, self)?;
        // SAFETY: guaranteed by the caller.
        completed.extend(unsafe { dense.buffer.copy_to_host_in(when, 0, out, size, owner) }?);
        Ok(completed)
    }

    /// The elements on the host, one after the other in an order.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_numba_bridge::{ElementType, Order, StridedArray, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::uint(1), vec![2, 3])?;
    /// let array = StridedArray::allocate(&Context::primary(0)?, layout)?;
    /// array.copy_from_host(&[1, 2, 3, 4, 5, 6], Order::C)?;
    /// assert_eq!(array.to_vec(Order::Fortran)?, [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Buffer`] when the host has no room, or for driver errors.
    pub fn to_vec(&self, order: Order) -> Result<Vec<u8>, Error> {
        match self.is_dense(order) {
            true => Ok(self.buffer.to_vec()?),
            false => Ok(self.copy(order)?.buffer.to_vec()?),
        }
    }

    /// Copies dense elements of the host into the array; they follow each other in an order.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_numba_bridge::{ElementType, Order, StridedArray, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::uint(1), vec![2, 3])?;
    /// let array = StridedArray::allocate(&Context::primary(0)?, layout)?;
    /// array.copy_from_host(&[1, 4, 2, 5, 3, 6], Order::Fortran)?;
    /// assert_eq!(array.to_vec(Order::C)?, [1, 2, 3, 4, 5, 6]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] when `data` has another size; [`Error::Buffer`] for read-only memory;
    /// driver errors.
    pub fn copy_from_host(&self, data: &[u8], order: Order) -> Result<(), Error> {
        // SAFETY: the bytes are borrowed until the call returns, and so is the copy complete.
        unsafe { self.copy_from_host_in(CopyOrder::Now, data, order, || Box::new(())) }.map(drop)
    }

    /// As [`copy_from_host`](Self::copy_from_host), now or on a stream.
    ///
    /// ```
    /// use arrow_cuda_buffer::CopyOrder;
    /// use arrow_cuda_context::{Context, Stream};
    /// use arrow_cuda_numba_bridge::{ElementType, Order, StridedArray, StridedLayout};
    ///
    /// let context = Context::primary(0)?;
    /// let layout = StridedLayout::row_major(ElementType::uint(1), vec![3])?;
    /// let (array, stream) = (StridedArray::allocate(&context, layout)?, Stream::new(&context)?);
    /// let data = [1, 2, 3];
    /// // SAFETY: nobody changes `data` before the stream has made the copy.
    /// unsafe { array.copy_from_host_in(CopyOrder::On(&stream), &data, Order::C, || Box::new(())) }?;
    /// stream.synchronize()?;
    /// assert_eq!(array.to_vec(Order::C)?, data);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Safety
    ///
    /// As for [`DeviceBuffer::copy_from_host_in`]: `data` must stay readable as long as the owner lives,
    /// and nobody may change it before the copy is made.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] when `data` has not as many bytes as the elements; [`Error::Buffer`] for
    /// read-only memory or a stream of another context; driver errors.
    pub unsafe fn copy_from_host_in(
        &self,
        when: CopyOrder<'_>,
        data: &[u8],
        order: Order,
        owner: impl FnOnce() -> Retained,
    ) -> Result<Completed, Error> {
        self.check_size(data.len())?;
        let (data, size) = (data.as_ptr(), data.len());
        if self.is_dense(order) {
            // SAFETY: guaranteed by the caller.
            return Ok(unsafe { self.buffer.copy_from_host_in(when, 0, data, size, owner) }?);
        }
        self.buffer.check_mutable()?;
        let dense = self.empty_like(order)?;
        // SAFETY: guaranteed by the caller.
        let copied = unsafe { dense.buffer.copy_from_host_in(when, 0, data, size, owner) };
        let mut completed = copied?;
        completed.extend(self.copy_from_in(when, &dense)?);
        Ok(completed)
    }

    /// Copies another array into this one, repeated as NumPy broadcasts it.  It may lie on another
    /// device, and overlap this one.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_numba_bridge::{ElementType, Order, StridedArray, StridedLayout};
    ///
    /// let (context, byte) = (Context::primary(0)?, ElementType::uint(1));
    /// let row = StridedArray::allocate(&context, StridedLayout::row_major(byte, vec![3])?)?;
    /// let matrix = StridedArray::allocate(&context, StridedLayout::row_major(byte, vec![2, 3])?)?;
    /// row.copy_from_host(&[1, 2, 3], Order::C)?;
    /// matrix.copy_from(&row)?;
    /// assert_eq!(matrix.to_vec(Order::C)?, [1, 2, 3, 1, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a shape that does not fit, or another type of elements;
    /// [`Error::Buffer`] for read-only memory; driver errors.
    pub fn copy_from(&self, source: &Self) -> Result<(), Error> {
        self.copy_from_in(CopyOrder::Now, source).map(drop)
    }

    /// As [`copy_from`](Self::copy_from), now or on a stream.
    ///
    /// ```
    /// use arrow_cuda_buffer::{CopyOrder, DeviceBuffer};
    /// use arrow_cuda_context::{Context, Stream};
    /// use arrow_cuda_numba_bridge::{Order, StridedArray};
    ///
    /// let context = Context::primary(0)?;
    /// let (from, stream) = (StridedArray::of_bytes(&DeviceBuffer::allocate(&context, 3)?)?, Stream::new(&context)?);
    /// from.fill(&[7])?;
    /// let to = StridedArray::allocate(&context, from.layout().clone())?;
    /// to.copy_from_in(CopyOrder::On(&stream), &from)?;
    /// stream.synchronize()?;
    /// assert_eq!(to.to_vec(Order::C)?, [7; 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`copy_from`](Self::copy_from), and [`Error::Buffer`] for a stream of another context.
    pub fn copy_from_in(&self, when: CopyOrder<'_>, source: &Self) -> Result<Completed, Error> {
        let (from, shape) = self.matched(source)?;
        let size = self.element().size() as usize;
        let (to, from) = (self.elements(&self.layout), source.elements(&from));
        Ok(copy_elements_in(when, to, from, &shape, size)?)
    }

    /// Sets every element to the one that has these bytes.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_numba_bridge::{ElementType, Order, StridedArray, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::float(4), vec![3])?;
    /// let array = StridedArray::allocate(&Context::primary(0)?, layout)?;
    /// array.fill(&1.5f32.to_ne_bytes())?;
    /// assert_eq!(array.to_vec(Order::C)?, 1.5f32.to_ne_bytes().repeat(3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] when an element has another size; [`Error::Buffer`] for read-only memory;
    /// driver errors.
    pub fn fill(&self, element: &[u8]) -> Result<(), Error> {
        if let Some(byte) = self.uniform(element)? {
            return Ok(self.buffer.fill(byte)?);
        }
        self.buffer.check_mutable()?;
        let one = self.temporary(StridedLayout::row_major(self.element(), Vec::new())?)?;
        one.buffer.copy_from_host(element)?;
        self.copy_from(&one)
    }

    /// A copy in new memory of the same device, dense in an order.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_numba_bridge::{ElementType, Index, Order, StridedArray, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::uint(1), vec![2, 3])?;
    /// let array = StridedArray::allocate(&Context::primary(0)?, layout)?;
    /// array.copy_from_host(&[1, 2, 3, 4, 5, 6], Order::C)?;
    /// let column = array.index(&[Index::Rest, Index::At(1)])?.copy(Order::C)?;
    /// array.fill(&[0])?;
    /// assert_eq!((column.buffer().len(), column.to_vec(Order::C)?), (2, vec![2, 5]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Buffer`] when the device has no room, or for driver errors.
    pub fn copy(&self, order: Order) -> Result<Self, Error> {
        let copy = self.empty_like(order)?;
        copy.copy_from(self)?;
        Ok(copy)
    }

    /// A copy in new memory of a device, dense in an order.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Device};
    /// use arrow_cuda_numba_bridge::{ElementType, Order, StridedArray, StridedLayout};
    ///
    /// let (first, last) = (Context::primary(0)?, Context::primary(Device::count()? - 1)?);
    /// let array = StridedArray::allocate(&first, StridedLayout::row_major(ElementType::uint(1), vec![3])?)?;
    /// array.fill(&[7])?;
    /// let copy = array.copy_to(&last, Order::C)?;
    /// assert_eq!(copy.to_vec(Order::C)?, [7; 3]);
    /// assert!(copy.buffer().context().is_same(&last));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`copy`](Self::copy).
    pub fn copy_to(&self, context: &Context, order: Order) -> Result<Self, Error> {
        let layout = StridedLayout::dense(self.element(), self.layout.shape().to_vec(), order)?;
        let copy = Self::allocate(context, layout)?;
        copy.copy_from(self)?;
        Ok(copy)
    }

    /// Whether the elements follow each other in an order.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_numba_bridge::{ElementType, Order, StridedArray, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
    /// let array = StridedArray::allocate(&Context::primary(0)?, layout)?;
    /// assert!(array.is_dense(Order::C) && !array.is_dense(Order::Fortran));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_dense(&self, order: Order) -> bool {
        self.layout.is_dense_in_order(order)
    }

    /// The order in which the elements follow each other, C's if both are true; none for arrays with
    /// gaps.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_numba_bridge::{ElementType, Index, Order, StridedArray, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
    /// let array = StridedArray::allocate(&Context::primary(0)?, layout)?;
    /// assert_eq!(array.order(), Some(Order::C));
    /// assert_eq!(array.with_layout(|layout| layout.transpose(&[1, 0]))?.order(), Some(Order::Fortran));
    /// assert_eq!(array.index(&[Index::Rest, Index::At(0)])?.order(), None); // a column
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn order(&self) -> Option<Order> {
        [Order::C, Order::Fortran].into_iter().find(|order| self.is_dense(*order))
    }

    /// A new array of this shape and type, for a while.
    fn empty_like(&self, order: Order) -> Result<Self, Error> {
        let layout = StridedLayout::dense(self.element(), self.layout.shape().to_vec(), order)?;
        self.temporary(layout)
    }

    fn temporary(&self, layout: StridedLayout) -> Result<Self, Error> {
        let buffer = DeviceBuffer::allocate_packed(self.buffer.context(), layout.size());
        Ok(Self { buffer: buffer.map_err(arrow_cuda_buffer::Error::from)?, layout })
    }

    /// The byte that all of an element's bytes are, if a fill with it writes the whole array and
    /// nothing else.
    fn uniform(&self, element: &[u8]) -> Result<Option<u8>, Error> {
        let (needed, given) = (self.element().size() as usize, element.len());
        if given != needed {
            return invalid(format!("an element has {needed} bytes, not {given}"));
        }
        let [first, others @ ..] = element else { return Ok(None) };
        let is_uniform = others.iter().all(|byte| byte == first);
        Ok((is_uniform && self.layout.is_contiguous()).then_some(*first))
    }

    /// Another array's layout, repeated to this one's shape.
    fn matched(&self, source: &Self) -> Result<(StridedLayout, Vec<usize>), Error> {
        let (from, to) = (source.element(), self.element());
        if from != to {
            let text = format!("elements of type {from} cannot be copied to elements of type {to}");
            return invalid(text);
        }
        let shape = self.layout.shape();
        let from = source.layout.broadcast_to(shape)?;
        Ok((from, shape.iter().map(|length| length.unsigned_abs() as usize).collect()))
    }

    fn elements<'a>(&'a self, layout: &'a StridedLayout) -> Elements<'a> {
        Elements { buffer: &self.buffer, offset: self.first(), strides: layout.strides() }
    }

    fn check_size(&self, size: usize) -> Result<(), Error> {
        match self.layout.size() {
            needed if needed == size => Ok(()),
            needed => invalid(format!("the elements have {needed} bytes, the host memory {size}")),
        }
    }
}
