//! Exporting arrays to other libraries.

use super::abi::{ArrowArray, CUDA, CUDA_MANAGED, FFI_ArrowDeviceArray};
use crate::node::Node;
use crate::types::Buffers;
use crate::{DeviceArray, Error};
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::{Attribute, Consumer, Context, Event, Ready, Stream};
use arrow_cuda_layout::Content;
use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::DataType;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

impl DeviceArray {
    /// The structure of the C Device interface for the array.
    ///
    /// It shares the memory, which stays as it is until the consumer has released it, on any thread.  While
    /// work of the legacy default stream is in flight, or of a stream that is ordered with it, the
    /// structure has an event after that work.
    ///
    /// Buffers at addresses from which kernels cannot load the values are copied, as a fault of a consumer's kernel
    /// ends the context.  Unknown numbers of nulls are counted, since some consumers would count on the host.  The
    /// sizes of what views lead to lie in host memory: libarrow, nanoarrow and cuDF read them there.
    ///
    /// ```
    /// use arrow_array::Int32Array;
    /// use arrow_cuda_array::{DeviceArray, c_device};
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// let array = DeviceArray::from_host(&context, &Int32Array::from(vec![1, 2, 3]))?;
    /// let structure = array.export()?;
    /// assert_eq!((structure.device_type, structure.device_id), (c_device::CUDA, 0));
    /// assert_eq!(structure.array.buffer(1) as u64, array.buffers()[0].private_address());
    /// drop(structure); // releases it
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors, including those of the queued work.
    pub fn export(&self) -> Result<FFI_ArrowDeviceArray, Error> {
        self.export_behind(&[])
    }

    /// Exports an array that work on a stream may still write to: the event comes after that work, too.
    ///
    /// ```
    /// use arrow_array::Int32Array;
    /// use arrow_cuda_array::DeviceArray;
    /// use arrow_cuda_buffer::CopyOrder;
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let stream = Stream::non_blocking(&context)?;
    /// let numbers = DeviceArray::from_host(&context, &Int32Array::from(vec![1, 2, 3]))?;
    /// numbers.buffers()[0].fill_in(CopyOrder::On(&stream), 0)?;
    /// let structure = numbers.export_on(&stream)?; // its consumers see zeros
    /// assert_eq!(structure.array.len(), 3);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors, including those of the queued work.
    pub fn export_on(&self, stream: &Stream) -> Result<FFI_ArrowDeviceArray, Error> {
        self.export_behind(&[&stream.record()?])
    }

    fn export_behind(&self, events: &[&Event]) -> Result<FFI_ArrowDeviceArray, Error> {
        let context = self.context();
        let mut node = self.node.clone();
        let is_copied = node.misaligned().next().is_some();
        if is_copied || node.has_unknown_nulls() {
            // Both are copied, also to be counted, and copies know the default stream only.
            let default_stream = Stream::default_of(context);
            events.iter().try_for_each(|event| default_stream.wait_for(event))?;
        }
        for buffer in node.misaligned() {
            *buffer = buffer.copy_to(buffer.context())?;
        }
        let counted = node.with_nulls_counted()?;
        let ready = context.make_ready_for(Consumer::AfterEvent, events)?;
        let event = ready.event().cloned();
        let event = event.map(|event| Box::new(Awaited { handle: event.as_raw(), _event: event }));
        let sync_event = event.as_deref().map_or(ptr::null_mut(), |event| {
            ptr::from_ref(&event.handle).cast_mut().cast::<c_void>()
        });
        let device_type = device_type(context, &self.node)?;
        Ok(FFI_ArrowDeviceArray {
            array: counted.into_ffi(&ready, event),
            device_id: context.device().number().into(),
            device_type,
            sync_event,
            reserved: [0; 3],
        })
    }
}

/// Kernels load bitmaps in words of four bytes.
const OF_BITMAPS: u64 = 4;
/// The widest load of a GPU, in bytes.
const MOST: u64 = 16;

/// The alignment that the address of a buffer needs.
fn alignment(data_type: &DataType, content: Content) -> u64 {
    match (data_type, content) {
        (_, Content::Bits) => OF_BITMAPS,
        (DataType::FixedSizeBinary(_), _) | (_, Content::Bytes) => 1,
        (DataType::Interval(_), Content::Fixed(width)) => width.min(8),
        (_, Content::Fixed(width) | Content::Offsets(width)) => {
            1 << width.min(MOST).trailing_zeros().min(MOST.trailing_zeros())
        }
    }
}

/// [`CUDA_MANAGED`] if all memory is of that kind.  What was allocated here is not.
fn device_type(context: &Context, node: &Node<DeviceBuffer>) -> Result<i32, Error> {
    let buffers = node.all_buffers();
    let is_foreign = |buffer: &&DeviceBuffer| buffer.block().is_none();
    let mut with_bytes = buffers.into_iter().filter(|buffer| !buffer.is_empty()).peekable();
    if with_bytes.peek().is_none_or(|first| !is_foreign(first)) {
        return Ok(CUDA);
    }
    let current = context.enter()?;
    for buffer in with_bytes {
        if !is_foreign(&buffer)
            || current.attribute(Attribute::IsManaged, buffer.private_address())? == 0
        {
            return Ok(CUDA);
        }
    }
    Ok(CUDA_MANAGED)
}

/// An event, and its handle at an address that stays, as the interface asks.
struct Awaited {
    handle: *mut c_void,
    _event: Event,
}

impl Node<DeviceBuffer> {
    /// The buffers whose addresses are no multiples of what kernels load from them.
    fn misaligned(&mut self) -> impl Iterator<Item = &mut DeviceBuffer> {
        let mut found = Vec::new();
        self.collect_misaligned(&mut found);
        found.into_iter()
    }

    fn collect_misaligned<'a>(&'a mut self, found: &mut Vec<&'a mut DeviceBuffer>) {
        let contents = Buffers::of(&self.data_type).contents;
        let alignments = contents.into_iter().map(|content| alignment(&self.data_type, content));
        let validity = self.validity.iter_mut().map(|bitmap| (bitmap, OF_BITMAPS));
        let buffers = validity.chain(self.buffers.iter_mut().zip(alignments));
        let is_misaligned = |(buffer, alignment): &(&mut DeviceBuffer, u64)| {
            !buffer.is_empty() && !buffer.private_address().is_multiple_of(*alignment)
        };
        found.extend(buffers.filter(is_misaligned).map(|(buffer, _)| buffer));
        for inner in self.children.iter_mut().chain(self.dictionary.as_deref_mut()) {
            inner.collect_misaligned(found);
        }
    }

    /// Its nulls were counted: nothing can fail once structures are made.
    fn into_ffi(self, ready: &Ready, event: Option<Box<Awaited>>) -> FFI_ArrowArray {
        let layout = Buffers::of(&self.data_type);
        let led_to = self.buffers.iter().skip(layout.contents.len());
        let sizes: Vec<_> = led_to.map(|buffer| buffer.len() as i64).collect();
        // Of what views lead to: the last buffer of the C Data interface.
        let sizes_address = if sizes.is_empty() { ptr::null() } else { sizes.as_ptr().cast() };
        let bitmap = layout.has_validity.then_some(self.validity.as_ref());
        let buffers = bitmap.into_iter().chain(self.buffers.iter().map(Some));
        let addresses = buffers.map(|buffer| buffer.map_or(0, |buffer| buffer.address(ready)) as _);
        let leak = |node: Self| Box::into_raw(Box::new(node.into_ffi(ready, None)));
        let mut exported = Box::new(Exported {
            addresses: addresses.chain(layout.is_variadic.then_some(sizes_address)).collect(),
            _validity: self.validity,
            _buffers: self.buffers,
            _sizes: sizes,
            children: self.children.into_iter().map(leak).collect(),
            dictionary: self.dictionary.map_or(ptr::null_mut(), |values| leak(*values)),
            _event: event,
        });
        ArrowArray {
            length: self.length.cast_signed(),
            null_count: self.null_count.unwrap_or(0).cast_signed(),
            offset: self.offset.cast_signed(),
            n_buffers: exported.addresses.len() as i64,
            n_children: exported.children.len() as i64,
            buffers: exported.addresses.as_mut_ptr(),
            children: exported.children.as_mut_ptr(),
            dictionary: exported.dictionary,
            release: Some(release),
            private_data: Box::into_raw(exported).cast(),
        }
        .into_ffi()
    }
}

/// The data that an exported structure points to.  A consumer may move a child out of it, so each has its own.
struct Exported {
    addresses: Vec<*const c_void>,
    _validity: Option<DeviceBuffer>,
    _buffers: Vec<DeviceBuffer>,
    _sizes: Vec<i64>,
    children: Vec<*mut FFI_ArrowArray>,
    dictionary: *mut FFI_ArrowArray,
    _event: Option<Box<Awaited>>,
}

impl Drop for Exported {
    fn drop(&mut self) {
        for inner in self.children.iter().copied().chain([self.dictionary]) {
            if !inner.is_null() {
                // SAFETY: leaked by `into_ffi`.  Dropping it releases it, unless it was moved elsewhere.
                drop(unsafe { Box::from_raw(inner) });
            }
        }
    }
}

unsafe extern "C" fn release(array: *mut FFI_ArrowArray) {
    // SAFETY: a consumer calls this once, with what `into_ffi` has made, wherever that lies now.
    let exported = unsafe {
        let array = &mut *array.cast::<ArrowArray>();
        array.release = None;
        Box::from_raw(array.private_data.cast::<Exported>())
    };
    // Releases do not panic; a panic must not unwind into C.
    drop(catch_unwind(AssertUnwindSafe(|| drop(exported))));
}
