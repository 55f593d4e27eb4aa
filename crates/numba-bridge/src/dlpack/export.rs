//! Exporting memory to other libraries, as a tensor.

use super::abi::{
    self, DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor,
};
use crate::error::{invalid, unsupported};
use crate::{Error, StridedArray, StridedLayout};
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::{Consumer, Context, Ready};
use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};

/// The memory of a tensor, which the tensor owns.
///
/// ```
/// use arrow_cuda_buffer::DeviceBuffer;
/// use arrow_cuda_context::{Consumer, Context};
/// use arrow_cuda_numba_bridge::dlpack::{HostBytes, Memory, Tensor};
/// use arrow_cuda_numba_bridge::{ElementType, StridedLayout};
///
/// let context = Context::primary(0)?;
/// let ready = context.make_ready_for(Consumer::OnDefaultStream, &[])?;
/// let on_device = Memory::Device(DeviceBuffer::allocate(&context, 6)?, ready);
/// // SAFETY: the bytes live for ever.
/// let on_host = Memory::Host(unsafe { HostBytes::new(b"abcdef".as_ptr(), 6, Box::new(())) });
/// let layout = StridedLayout::row_major(ElementType::uint(1), vec![2, 3])?;
/// assert!([on_device, on_host].map(|memory| Tensor::new(memory, layout.clone())).iter().all(Result::is_ok));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub enum Memory {
    /// Device memory, shared with other buffers, that was made ready for the consumer.
    Device(DeviceBuffer, Ready),
    /// A copy on the host.
    Host(HostBytes),
}

impl From<(DeviceBuffer, Ready)> for Memory {
    fn from((buffer, ready): (DeviceBuffer, Ready)) -> Self {
        Self::Device(buffer, ready)
    }
}

/// Host memory that nobody changes, and its owner.
///
/// See [`new`](Self::new) for an example.
#[derive(Debug)]
pub struct HostBytes {
    address: u64,
    size: usize,
    _owner: Box<dyn Any + Send + Sync>,
}

impl HostBytes {
    /// `size` bytes of host memory at `address`, which `owner` owns.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::dlpack::{HostBytes, Imported, Memory, Tensor, abi};
    /// use arrow_cuda_numba_bridge::{ElementType, StridedLayout};
    ///
    /// let owner = Box::new(vec![1u8, 2, 3]);
    /// // SAFETY: the vector owns the bytes.
    /// let bytes = unsafe { HostBytes::new(owner.as_ptr(), owner.len(), owner) };
    /// let layout = StridedLayout::row_major(ElementType::uint(1), vec![3])?;
    /// let structure = Tensor::new(Memory::Host(bytes), layout)?.into_versioned(true);
    /// // SAFETY: a valid structure, whose owner this is from now on.
    /// let imported = unsafe { Imported::versioned(structure) };
    /// assert_eq!(imported.memory()?.device_type, abi::CPU);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Safety
    ///
    /// The bytes must be readable as long as `owner` lives.
    pub unsafe fn new(address: *const u8, size: usize, owner: Box<dyn Any + Send + Sync>) -> Self {
        let address = if size == 0 { 0 } else { address as u64 };
        Self { address, size, _owner: owner }
    }
}

/// Memory, and the layout of the elements in it.
///
/// ```
/// use arrow_cuda_context::{Consumer, Context};
/// use arrow_cuda_numba_bridge::dlpack::{Imported, Tensor};
/// use arrow_cuda_numba_bridge::{ElementType, StridedArray, StridedLayout};
///
/// let layout = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
/// let array = StridedArray::allocate(&Context::primary(0)?, layout)?;
/// let tensor: Tensor = array.to_dlpack(Consumer::OnDefaultStream)?;
/// // SAFETY: a valid structure, whose deleter nobody else calls.
/// let imported = unsafe { Imported::versioned(tensor.into_versioned(false)) }; // as another library does
/// assert_eq!(imported.memory()?.address, array.private_address()); // not copied
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Tensor {
    memory: Memory,
    layout: StridedLayout,
    dtype: DLDataType,
    ndim: i32,
}

impl StridedArray {
    /// The array as a tensor for another library, made ready for its consumer, who may have to wait as `consumer`
    /// says.
    ///
    /// ```
    /// use arrow_cuda_context::{Consumer, Context};
    /// use arrow_cuda_numba_bridge::{StridedArray, ElementType, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
    /// let array = StridedArray::allocate(&Context::primary(0)?, layout)?;
    /// let tensor = array.to_dlpack(Consumer::OnDefaultStream)?;
    /// let structure = tensor.into_versioned(false); // whose owner is the other library
    /// # drop(unsafe { arrow_cuda_numba_bridge::dlpack::Imported::versioned(structure) });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Tensor::new`]; [`Error::Unsupported`] for [`Consumer::AfterEvent`], since a tensor has no event; driver
    /// errors.
    pub fn to_dlpack(&self, consumer: Consumer) -> Result<Tensor, Error> {
        if consumer == Consumer::AfterEvent {
            return unsupported("a tensor has no event: name the stream of its consumer");
        }
        let ready = self.buffer().context().make_ready_for(consumer, &[])?;
        Tensor::new(Memory::Device(self.buffer().clone(), ready), self.layout().clone())
    }
}

impl Tensor {
    /// A tensor over memory that begins where the elements' span begins.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::{Consumer, Context};
    /// use arrow_cuda_numba_bridge::dlpack::{Memory, Tensor};
    /// use arrow_cuda_numba_bridge::{ElementType, StridedLayout};
    ///
    /// let context = Context::primary(0)?;
    /// let buffer = DeviceBuffer::allocate(&context, 24)?;
    /// let ready = context.make_ready_for(Consumer::OnDefaultStream, &[])?;
    /// let layout = StridedLayout::row_major(ElementType::float(4), vec![7])?;
    /// assert!(Tensor::new(Memory::Device(buffer, ready), layout).is_err()); // 28 bytes
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] when the elements do not lie within the memory, and
    /// [`Error::Unsupported`] for a type, strides or a number of dimensions that DLPack cannot describe.
    pub fn new(memory: Memory, layout: StridedLayout) -> Result<Self, Error> {
        let available = match &memory {
            Memory::Device(buffer, _) => buffer.len(),
            Memory::Host(bytes) => bytes.size,
        };
        let span = layout.span();
        if span.size > available {
            let size = span.size;
            let text =
                format!("elements of {size} bytes do not fit into memory of {available} bytes");
            return invalid(text);
        }
        let dtype = layout.element().to_dlpack()?;
        let item_size = i64::from(layout.element().size());
        if layout.size() > 0 && layout.strides().iter().any(|stride| stride % item_size != 0) {
            let text = "DLPack cannot describe strides that are not multiples of the element size";
            return unsupported(text);
        }
        if steps(&layout).any(|stride| stride < 0) {
            let text = "consumers of DLPack take no negative strides: array.copy() has none";
            return unsupported(text);
        }
        let Ok(ndim) = i32::try_from(layout.ndim()) else {
            return unsupported("DLPack cannot describe 2^31 dimensions or more");
        };
        Ok(Self { memory, layout, dtype, ndim })
    }

    /// The structure of version 1, which owns the memory.  The consumer calls its deleter once, on
    /// any thread; `is_copied` tells the consumer that it has the memory for itself.
    ///
    /// ```
    /// use arrow_cuda_context::{Consumer, Context};
    /// use arrow_cuda_numba_bridge::dlpack::Imported;
    /// use arrow_cuda_numba_bridge::{ElementType, StridedArray, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
    /// let array = StridedArray::allocate(&Context::primary(0)?, layout)?;
    /// let structure = array.read_only().to_dlpack(Consumer::OnDefaultStream)?.into_versioned(false);
    /// // SAFETY: a valid structure, whose deleter nobody else calls.
    /// let imported = unsafe { Imported::versioned(structure) }; // as another library does
    /// assert!(!imported.memory()?.is_mutable);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn into_versioned(self, is_copied: bool) -> NonNull<DLManagedTensorVersioned> {
        let is_read_only =
            matches!(&self.memory, Memory::Device(buffer, _) if !buffer.is_mutable());
        let read_only = if is_read_only { abi::READ_ONLY } else { 0 };
        let copied = if is_copied { abi::IS_COPIED } else { 0 };
        self.into_structure(|dl_tensor| DLManagedTensorVersioned {
            version: DLPackVersion { major: abi::MAJOR, minor: abi::MINOR },
            manager_ctx: ptr::null_mut(),
            deleter: Some(delete),
            flags: read_only | copied,
            dl_tensor,
        })
    }

    /// The structure before version 1, which owns the memory.  The consumer calls its deleter once,
    /// on any thread.
    ///
    /// ```
    /// use arrow_cuda_context::{Consumer, Context};
    /// use arrow_cuda_numba_bridge::dlpack::Imported;
    /// use arrow_cuda_numba_bridge::{ElementType, StridedArray, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
    /// let array = StridedArray::allocate(&Context::primary(0)?, layout)?;
    /// let structure = array.to_dlpack(Consumer::OnDefaultStream)?.into_legacy()?;
    /// // SAFETY: a valid structure, whose deleter nobody else calls.
    /// drop(unsafe { Imported::legacy(structure) }); // as another library does
    /// assert!(array.read_only().to_dlpack(Consumer::OnDefaultStream)?.into_legacy().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for read-only memory, which this version cannot express.
    pub fn into_legacy(self) -> Result<NonNull<DLManagedTensor>, Error> {
        if let Memory::Device(buffer, _) = &self.memory
            && !buffer.is_mutable()
        {
            let text = "the memory is read-only, which DLPack before 1.0 cannot tell a consumer";
            return unsupported(text);
        }
        Ok(self.into_structure(|dl_tensor| DLManagedTensor {
            dl_tensor,
            manager_ctx: ptr::null_mut(),
            deleter: Some(delete),
        }))
    }

    fn into_structure<T>(self, structure: impl FnOnce(DLTensor) -> T) -> NonNull<T> {
        let (address, device) = match &self.memory {
            Memory::Device(buffer, ready) => (buffer.address(ready), device_of(buffer.context())),
            Memory::Host(bytes) => {
                (bytes.address, DLDevice { device_type: abi::CPU, device_id: 0 })
            }
        };
        let mut shape = self.layout.shape().to_vec();
        // DLPack counts strides in elements.
        let item_size = i64::from(self.layout.element().size());
        let mut strides: Vec<i64> = steps(&self.layout).map(|stride| stride / item_size).collect();
        let tensor = DLTensor {
            data: address as *mut c_void,
            device,
            ndim: self.ndim,
            dtype: self.dtype,
            shape: shape.as_mut_ptr(),
            strides: strides.as_mut_ptr(),
            byte_offset: 0,
        };
        let structure = structure(tensor);
        let exported =
            Exported { structure, _memory: self.memory, _shape: shape, _strides: strides };
        NonNull::from(Box::leak(Box::new(exported))).cast()
    }
}

/// The strides, without the sign of those along which there is no second element.
fn steps(layout: &StridedLayout) -> impl Iterator<Item = i64> {
    let is_empty = layout.size() == 0;
    layout.shape().iter().zip(layout.strides()).map(move |(length, stride)| {
        if is_empty || *length < 2 { stride.saturating_abs() } else { *stride }
    })
}

fn device_of(context: &Context) -> DLDevice {
    let number = context.device().number();
    DLDevice { device_type: abi::CUDA, device_id: number.cast_signed() }
}

/// The structure, which comes first, and what it refers to.
#[repr(C)]
struct Exported<T> {
    structure: T,
    _memory: Memory,
    _shape: Vec<i64>,
    _strides: Vec<i64>,
}

unsafe extern "C" fn delete<T>(structure: *mut T) {
    // SAFETY: a consumer calls this once, with what `into_structure` has leaked.
    let exported = unsafe { Box::from_raw(structure.cast::<Exported<T>>()) };
    // Releases do not panic; a panic must not unwind into C.
    drop(catch_unwind(AssertUnwindSafe(|| drop(exported))));
}
