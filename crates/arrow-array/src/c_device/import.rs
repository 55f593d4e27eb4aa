//! Importing arrays of other libraries.

use super::abi::{ArrowArray, CUDA, CUDA_HOST, CUDA_MANAGED, FFI_ArrowDeviceArray};
use crate::DeviceArray;
use crate::error::{Error, invalid};
use crate::node::{self, Node};
use crate::trim;
use crate::types::{self, Buffers};
use arrow_cuda_buffer::{DeviceBuffer, device_address};
use arrow_cuda_context::{Arrival, Context, Event, Pending, Stream, is_readable};
use arrow_cuda_layout::Content;
use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::DataType;
use std::ffi::c_void;
use std::slice;
use std::sync::Arc;

impl DeviceArray {
    /// Takes ownership of another library's array.
    ///
    /// Nothing is copied.  The buffers are read-only, and the structure is released with the last of them,
    /// or now if it is refused.  Work of the legacy default stream waits for the structure's event from now
    /// on, and so does everything that this crate copies.
    ///
    /// The structure is compared with the type as far as the host can tell: kind and number of the device,
    /// numbers of buffers and children, lengths, pointers that are missing, and what memory the driver knows at
    /// each address.  Only the device knows the sizes of strings, which are read there, after the event.  What the
    /// buffers hold is validated where it arrives on the host.
    ///
    /// ```
    /// use arrow_array::StringViewArray;
    /// use arrow_cuda_array::DeviceArray;
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// let words = StringViewArray::from(vec!["short", "longer than a view"]);
    /// let exported = DeviceArray::from_host(&context, &words)?;
    /// let (structure, data_type) = (exported.export()?, exported.data_type().clone());
    /// // SAFETY: the structure was made above, for this type.
    /// let imported = unsafe { DeviceArray::import(&context, structure, &data_type) }?;
    /// assert_eq!(imported.buffers()[0].private_address(), exported.buffers()[0].private_address());
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Safety
    ///
    /// The structure must be what the interface promises: its pointers lead to as many buffers and children
    /// as its counts say, its event lives, and its memory stays as it is until it is released.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for another kind of memory; [`Error::Invalid`] for another device, and for a
    /// structure that was released, contradicts itself or does not fit the type; driver errors, those for
    /// memory that it does not know among them.
    pub unsafe fn import(
        context: &Context,
        array: FFI_ArrowDeviceArray,
        data_type: &DataType,
    ) -> Result<Self, Error> {
        // SAFETY: guaranteed by the caller.
        unsafe { import(None, context, array, data_type) }
    }

    /// As [`import`](Self::import); work that is queued on `stream` from now on waits for the structure's event, too.
    ///
    /// ```
    /// use arrow_array::Int32Array;
    /// use arrow_cuda_array::DeviceArray;
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let (ours, theirs) = (Stream::non_blocking(&context)?, Stream::non_blocking(&context)?);
    /// let array = DeviceArray::from_host(&context, &Int32Array::from(vec![1, 2, 3]))?;
    /// let structure = array.export_on(&theirs)?; // after the work that is queued on `theirs`
    /// // SAFETY: the structure was made above, for this type.
    /// let imported = unsafe { DeviceArray::import_on(&ours, structure, array.data_type()) }?;
    /// assert_eq!(imported.len(), 3);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Safety
    ///
    /// As [`import`](Self::import).
    ///
    /// # Errors
    ///
    /// As [`import`](Self::import).
    pub unsafe fn import_on(
        stream: &Stream,
        array: FFI_ArrowDeviceArray,
        data_type: &DataType,
    ) -> Result<Self, Error> {
        let context = stream.context();
        // SAFETY: guaranteed by the caller.
        unsafe { import(Some(stream), context, array, data_type) }
    }
}

/// # Safety
///
/// As [`DeviceArray::import`].
unsafe fn import(
    stream: Option<&Stream>,
    context: &Context,
    array: FFI_ArrowDeviceArray,
    data_type: &DataType,
) -> Result<DeviceArray, Error> {
    types::check(data_type)?;
    check_device(context, &array)?;
    let structure = Arc::new(array);
    let pending = event_of(context, &structure)?.map_or(Pending::Nothing, Pending::Event);
    let arrival = context.take_over(&pending)?;
    stream.map_or(Ok(()), |stream| arrival.order(context, stream))?;
    let import = Import { context, structure: &structure, arrival };
    // SAFETY: guaranteed by the caller.
    let node = unsafe { import.node(&structure.array, data_type) }?;
    Ok(DeviceArray::checked(context, node))
}

fn check_device(context: &Context, array: &FFI_ArrowDeviceArray) -> Result<(), Error> {
    if array.is_released() {
        return invalid("the structure was released");
    }
    match array.device_type {
        CUDA | CUDA_MANAGED => {}
        CUDA_HOST => {
            let text = "pinned memory is the host's: c_device::import_host takes it";
            return Err(Error::Unsupported(text.into()));
        }
        other => {
            let text = format!("the memory is of device type {other}, not CUDA's ({CUDA})");
            return Err(Error::Unsupported(text));
        }
    }
    let number = context.device().number();
    if array.device_id != i64::from(number) {
        let found = array.device_id;
        return invalid(format!("the memory lies on device {found}, the context is on {number}"));
    }
    Ok(())
}

/// The event that the memory's readers have to wait for.
pub(super) fn event_of(
    context: &Context,
    structure: &Arc<FFI_ArrowDeviceArray>,
) -> Result<Option<Event>, Error> {
    let place = structure.sync_event.cast::<*mut c_void>();
    if place.is_null() {
        return Ok(None);
    }
    if !is_readable(place as usize) {
        return invalid(format!("sync_event ({place:p}) points to memory that cannot be read"));
    }
    // SAFETY: aligned memory that was just found readable.
    let handle = unsafe { place.read_volatile() };
    // The driver would dereference the handle without a check.
    if !is_readable(handle as usize) {
        return invalid(format!("sync_event points to {handle:p}, which is not an event"));
    }
    // SAFETY: the producer promises that the event lives as long as the structure.
    Ok(Some(unsafe { Event::borrowed(context, handle, Box::new(Arc::clone(structure))) }))
}

struct Import<'a> {
    context: &'a Context,
    structure: &'a Arc<FFI_ArrowDeviceArray>,
    arrival: Arrival,
}

impl Import<'_> {
    /// # Safety
    ///
    /// The array's pointers must lead to what its counts say.
    unsafe fn node(
        &self,
        array: &FFI_ArrowArray,
        data_type: &DataType,
    ) -> Result<Node<DeviceBuffer>, Error> {
        let array = ArrowArray::of(array);
        if array.release.is_none() {
            return invalid("an array within the structure was released");
        }
        let (length, offset, null_count) = numbers(array)?;
        let mut node = Node {
            data_type: data_type.clone(),
            length,
            offset,
            null_count,
            validity: None,
            buffers: Vec::new(),
            children: Vec::new(),
            dictionary: None,
        };
        // SAFETY: guaranteed by the caller.
        unsafe {
            self.add_buffers(&mut node, addresses(array, data_type)?)?;
            for (child, data_type) in children(array, data_type)? {
                node.children.push(self.node(child, data_type)?);
            }
            match (array.dictionary.as_ref(), types::dictionary(data_type)) {
                (Some(values), Some(data_type)) => {
                    node.dictionary = Some(Box::new(self.node(values, data_type)?));
                }
                (Some(_), None) => return invalid(format!("{data_type} with a dictionary")),
                (None, _) => {} // refused below if the type has one
            }
        }
        node.check()?;
        Ok(node)
    }

    /// # Safety
    ///
    /// The memory at the addresses must be the structure's.
    unsafe fn add_buffers(
        &self,
        node: &mut Node<DeviceBuffer>,
        addresses: &[*const c_void],
    ) -> Result<(), Error> {
        let (layout, end) = (Buffers::of(&node.data_type), node.end());
        let mut addresses = addresses.iter().map(|address| *address as u64);
        if layout.has_validity
            && let Some(address @ 1..) = addresses.next()
            && let Some(size) = types::size(Content::Bits, end)?
        {
            // SAFETY: guaranteed by the caller.
            node.validity = Some(unsafe { self.buffer(address, size) }?);
        }
        let mut width = 0;
        for (content, address) in layout.contents.into_iter().zip(&mut addresses) {
            if let Content::Offsets(each) = content {
                width = each;
            }
            let size = match (content, node.buffers.first()) {
                (Content::Offsets(width), _) if end == 0 => {
                    node.buffers.push(node::first_offset(self.context, width)?);
                    continue;
                }
                (Content::Bytes, Some(offsets)) => last_offset(offsets, width)?,
                _ => types::size(content, end)?.unwrap_or(0),
            };
            // SAFETY: guaranteed by the caller.
            node.buffers.push(unsafe { self.buffer(address, size) }?);
        }
        if layout.is_variadic {
            let mut addresses: Vec<_> = addresses.collect();
            let sizes = addresses.pop().unwrap_or(0);
            // SAFETY: guaranteed by the caller.
            let sizes = unsafe { self.sizes(sizes, addresses.len()) }?;
            for (address, size) in addresses.into_iter().zip(sizes) {
                let Ok(size) = u64::try_from(size) else {
                    return invalid(format!("a buffer of {size} bytes"));
                };
                // SAFETY: guaranteed by the caller.
                node.buffers.push(unsafe { self.buffer(address, size) }?);
            }
        }
        Ok(())
    }

    /// The sizes of the buffers that views point to.  libarrow keeps these sizes in host memory, others on the
    /// device.
    ///
    /// # Safety
    ///
    /// The memory at the address, if it can be read, must have `count` sizes.
    unsafe fn sizes(&self, address: u64, count: usize) -> Result<Vec<i64>, Error> {
        if count == 0 {
            return Ok(Vec::new());
        }
        if address != 0 && device_address(self.context, address).is_ok() {
            // SAFETY: guaranteed by the caller.
            let bytes = unsafe { self.buffer(address, 8 * count as u64) }?.to_vec()?;
            return Ok(bytes.as_chunks().0.iter().copied().map(i64::from_ne_bytes).collect());
        }
        if !is_readable(address as usize) {
            return invalid(format!("the sizes of buffers at {address:#x} cannot be read"));
        }
        // SAFETY: guaranteed by the caller; the memory was just found readable and aligned.
        Ok(unsafe { slice::from_raw_parts(address as *const i64, count) }.to_vec())
    }

    /// Memory of the structure, which it retains.
    ///
    /// # Safety
    ///
    /// The memory must be the structure's.
    unsafe fn buffer(&self, address: u64, size: u64) -> Result<DeviceBuffer, Error> {
        match (address, size) {
            (_, 0) => Ok(DeviceBuffer::allocate_packed(self.context, 0)?),
            (0, _) => invalid(format!("the structure has a null pointer in place of {size} bytes")),
            _ => {
                let (arrival, owner) = (self.arrival.clone(), Box::new(Arc::clone(self.structure)));
                let size = size as usize;
                // SAFETY: the memory stays until the structure is released, and is only read.
                Ok(unsafe {
                    DeviceBuffer::view(self.context, address, size, false, arrival, owner)
                }?)
            }
        }
    }
}

/// The size of what offsets lead to.  Copies the last one from the device.
fn last_offset(offsets: &DeviceBuffer, width: u64) -> Result<u64, Error> {
    let width = width as usize;
    let position = offsets.len().saturating_sub(width);
    let offset = trim::number(&offsets.slice_with_length(position, width)?.to_vec()?);
    if i64::try_from(offset).is_err() {
        return invalid(format!("an offset of {}", offset.cast_signed()));
    }
    Ok(offset)
}

fn numbers(array: &ArrowArray) -> Result<(u64, u64, Option<u64>), Error> {
    let (Ok(length), Ok(offset)) = (u64::try_from(array.length), u64::try_from(array.offset))
    else {
        let (length, offset) = (array.length, array.offset);
        return invalid(format!("an impossible length: {length} elements from {offset} on"));
    };
    if array.length.checked_add(array.offset).is_none() {
        return Err(types::too_long(length));
    }
    match array.null_count {
        -1 => Ok((length, offset, None)),
        count => match u64::try_from(count) {
            Ok(count) => Ok((length, offset, Some(count))),
            Err(_) => invalid(format!("a structure with {count} nulls")),
        },
    }
}

/// The addresses of the buffers.
///
/// # Safety
///
/// The pointers must lead to what the counts say.
unsafe fn addresses<'a>(
    array: &'a ArrowArray,
    data_type: &DataType,
) -> Result<&'a [*const c_void], Error> {
    let layout = Buffers::of(data_type);
    let expected = layout.contents.len() + usize::from(layout.has_validity);
    let count = match usize::try_from(array.n_buffers) {
        Ok(count) if count == expected && !layout.is_variadic => count,
        // One has the sizes of what views lead to.
        Ok(count) if count > expected && layout.is_variadic => count,
        _ => return invalid(format!("{data_type} with {} buffers", array.n_buffers)),
    };
    match (count, array.buffers.is_null()) {
        (0, _) => Ok(&[]),
        (_, true) => invalid("the structure has a null pointer in place of its buffers"),
        // SAFETY: guaranteed by the caller.
        _ => Ok(unsafe { slice::from_raw_parts(array.buffers, count) }),
    }
}

/// The arrays within an array, with their types.
///
/// # Safety
///
/// As [`addresses`].
unsafe fn children<'a>(
    array: &'a ArrowArray,
    data_type: &'a DataType,
) -> Result<Vec<(&'a FFI_ArrowArray, &'a DataType)>, Error> {
    let types = types::children(data_type);
    if array.n_children != types.len() as i64 {
        return invalid(format!("{data_type} with {} children", array.n_children));
    }
    if types.is_empty() {
        return Ok(Vec::new());
    }
    if array.children.is_null() {
        return invalid("the structure has a null pointer in place of its children");
    }
    // SAFETY: guaranteed by the caller.
    let children = unsafe { slice::from_raw_parts(array.children, types.len()) };
    let typed = children.iter().zip(types).map(|(child, data_type)| {
        // SAFETY: guaranteed by the caller.
        match unsafe { child.as_ref() } {
            Some(child) => Ok((child, data_type)),
            None => invalid("the structure has a null pointer in place of a child"),
        }
    });
    typed.collect()
}
