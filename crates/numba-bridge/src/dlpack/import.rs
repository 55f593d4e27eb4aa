//! Importing memory from other libraries, as a tensor.

use super::abi::{self, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor};
use crate::error::{invalid, unsupported};
use crate::{ElementType, Error, MAX_DIMENSIONS, Span, StridedArray, StridedLayout};
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::{Context, Pending};
use std::ptr::NonNull;
use std::slice;

/// A structure of another library, whose deleter is called when this is dropped.
///
/// ```
/// use arrow_cuda_context::{Consumer, Context};
/// use arrow_cuda_numba_bridge::dlpack::Imported;
/// use arrow_cuda_numba_bridge::{ElementType, StridedArray, StridedLayout};
///
/// let layout = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
/// let array = StridedArray::allocate(&Context::primary(0)?, layout)?;
/// let structure = array.to_dlpack(Consumer::OnDefaultStream)?.into_versioned(false); // or another library's
/// // SAFETY: a valid structure, whose deleter nobody else calls.
/// let imported = unsafe { Imported::versioned(structure) };
/// assert_eq!(imported.memory()?.layout.shape(), [2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Imported(Form);

#[derive(Debug)]
enum Form {
    Legacy(NonNull<DLManagedTensor>),
    Versioned(NonNull<DLManagedTensorVersioned>),
}

// SAFETY: DLPack demands of deleters that any thread may call them.
unsafe impl Send for Imported {}
// SAFETY: shared references only read.
unsafe impl Sync for Imported {}

/// The memory of a tensor.
///
/// ```
/// use arrow_cuda_context::{Consumer, Context};
/// use arrow_cuda_numba_bridge::dlpack::{Imported, ImportedMemory, abi};
/// use arrow_cuda_numba_bridge::{ElementType, StridedArray, StridedLayout};
///
/// let layout = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
/// let array = StridedArray::allocate(&Context::primary(0)?, layout)?;
/// let structure = array.to_dlpack(Consumer::OnDefaultStream)?.into_versioned(false);
/// // SAFETY: a valid structure, whose deleter nobody else calls.
/// let memory: ImportedMemory = unsafe { Imported::versioned(structure) }.memory()?;
/// assert_eq!((memory.device_type, memory.device_id), (abi::CUDA, 0));
/// assert_eq!((memory.address, memory.is_mutable), (array.private_address(), true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportedMemory {
    /// [`abi::CUDA`] and others.
    pub device_type: i32,
    /// The number of the device.
    pub device_id: i32,
    /// The start of the elements' span; 0 without elements.
    pub address: u64,
    /// How the elements lie in it.
    pub layout: StridedLayout,
    /// Whether they may be written to.
    pub is_mutable: bool,
}

impl ImportedMemory {
    /// The primary context of the tensor's device.
    ///
    /// ```
    /// use arrow_cuda_context::{Consumer, Context};
    /// use arrow_cuda_numba_bridge::dlpack::Imported;
    /// use arrow_cuda_numba_bridge::{ElementType, StridedArray, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
    /// let array = StridedArray::allocate(&Context::primary(0)?, layout)?;
    /// let structure = array.to_dlpack(Consumer::OnDefaultStream)?.into_versioned(false);
    /// // SAFETY: a valid structure, whose deleter nobody else calls.
    /// let memory = unsafe { Imported::versioned(structure) }.memory()?;
    /// assert_eq!(memory.context()?, Context::primary(0)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for memory that no CUDA device reaches; [`Error::Invalid`] for a number that no device
    /// can have; driver errors.
    pub fn context(&self) -> Result<Context, Error> {
        check_device_type(self.device_type)?;
        let id = self.device_id;
        let Ok(number) = u32::try_from(id) else {
            return invalid(format!("the tensor has an invalid device number: {id}"));
        };
        Ok(Context::primary(number)?)
    }
}

impl StridedArray {
    /// An array over a tensor of another library, without a copy.  The array and all its views own the tensor:
    /// dropping the last one calls its deleter.  For a tensor without elements, this calls it at once.
    ///
    /// The work that is `pending` may still write to the memory.  A tensor that was made for the legacy default stream
    /// (`stream=1`) has [`Pending::DefaultStream`]; [`Pending::AnyStream`] waits for everything.
    ///
    /// Tensors before DLPack 1.0 cannot say that their memory is read-only, as JAX's is:
    /// [`read_only`](Self::read_only) makes such an array.
    ///
    /// ```
    /// use arrow_cuda_context::{Consumer, Context, Pending};
    /// use arrow_cuda_numba_bridge::dlpack::Imported;
    /// use arrow_cuda_numba_bridge::{ElementType, Order, StridedArray, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::uint(1), vec![3])?;
    /// let theirs = StridedArray::allocate(&Context::primary(0)?, layout)?;
    /// theirs.copy_from_host(&[1, 2, 3], Order::C)?;
    /// let structure = theirs.to_dlpack(Consumer::OnDefaultStream)?.into_versioned(false); // or another library's
    /// // SAFETY: a valid structure, whose deleter nobody else calls.
    /// let tensor = unsafe { Imported::versioned(structure) };
    /// let array = StridedArray::from_dlpack(tensor, &Pending::DefaultStream)?;
    /// assert_eq!(array.private_address(), theirs.private_address());
    /// assert_eq!(array.to_vec(Order::C)?, [1, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Imported::memory`], [`ImportedMemory::context`] and [`Context::take_over`]; those of
    /// [`DeviceBuffer::view`], such as for memory that the driver does not know.
    pub fn from_dlpack(tensor: Imported, pending: &Pending) -> Result<Self, Error> {
        let memory = tensor.memory()?;
        let context = memory.context()?;
        let ImportedMemory { address, layout, is_mutable, .. } = memory;
        let Span { start, size } = layout.span();
        let buffer = match size {
            0 => DeviceBuffer::allocate(&context, 0)?,
            _ => {
                let arrival = context.take_over(pending)?;
                // SAFETY: whoever made the `Imported` has promised that the memory is valid until its deleter runs,
                // which the buffer owns.
                unsafe {
                    let owner = Box::new(tensor);
                    DeviceBuffer::view(&context, address, size, is_mutable, arrival, owner)?
                }
            }
        };
        Self::new(&buffer, start.unsigned_abs() as usize, layout)
    }
}

impl Imported {
    /// Takes ownership of a structure from before version 1.
    ///
    /// ```
    /// use arrow_cuda_context::{Consumer, Context};
    /// use arrow_cuda_numba_bridge::dlpack::Imported;
    /// use arrow_cuda_numba_bridge::{ElementType, StridedArray, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
    /// let array = StridedArray::allocate(&Context::primary(0)?, layout)?;
    /// let structure = array.to_dlpack(Consumer::OnDefaultStream)?.into_legacy()?; // or another library's
    /// // SAFETY: a valid structure, whose deleter nobody else calls.
    /// let imported = unsafe { Imported::legacy(structure) };
    /// assert_eq!(imported.memory()?.layout, *array.layout());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Safety
    ///
    /// The structure must be valid, and nobody else may call its deleter from now on.  The memory that it names must
    /// stay valid until then.
    pub unsafe fn legacy(tensor: NonNull<DLManagedTensor>) -> Self {
        Self(Form::Legacy(tensor))
    }

    /// Takes ownership of a structure that begins with its version.
    ///
    /// ```
    /// use arrow_cuda_context::{Consumer, Context};
    /// use arrow_cuda_numba_bridge::dlpack::Imported;
    /// use arrow_cuda_numba_bridge::{ElementType, StridedArray, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
    /// let array = StridedArray::allocate(&Context::primary(0)?, layout)?;
    /// let structure = array.to_dlpack(Consumer::OnDefaultStream)?.into_versioned(false); // or another library's
    /// // SAFETY: a valid structure, whose deleter nobody else calls.
    /// let imported = unsafe { Imported::versioned(structure) };
    /// assert!(imported.memory()?.is_mutable);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Safety
    ///
    /// It must be valid, as far as its version defines it, and nobody else may call its deleter
    /// from now on.  The memory that it names must stay valid until then.
    pub unsafe fn versioned(tensor: NonNull<DLManagedTensorVersioned>) -> Self {
        Self(Form::Versioned(tensor))
    }

    /// The memory of the elements, and how they lie in it.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::dlpack::Imported;
    /// use arrow_cuda_numba_bridge::dlpack::abi::{CPU, DLDataType, DLDevice, DLManagedTensor, DLTensor};
    /// use std::ptr::{NonNull, null_mut};
    ///
    /// let (mut data, mut shape) = ([1f32, 2., 3.], [2]);
    /// let mut structure = DLManagedTensor {
    ///     dl_tensor: DLTensor {
    ///         data: data.as_mut_ptr().cast(),
    ///         device: DLDevice { device_type: CPU, device_id: 0 },
    ///         ndim: 1,
    ///         dtype: DLDataType { code: 2, bits: 32, lanes: 1 },
    ///         shape: shape.as_mut_ptr(),
    ///         strides: null_mut(), // dense
    ///         byte_offset: 4,
    ///     },
    ///     manager_ctx: null_mut(),
    ///     deleter: None,
    /// };
    /// // SAFETY: a valid structure, which lives longer.
    /// let memory = unsafe { Imported::legacy(NonNull::from(&mut structure)) }.memory()?;
    /// assert_eq!((memory.address, memory.layout.size()), (data[1..].as_ptr() as u64, 8));
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for a structure of another version and for elements that do not fill
    /// whole bytes; [`Error::Invalid`] for an inconsistent structure.
    pub fn memory(&self) -> Result<ImportedMemory, Error> {
        match self.0 {
            // SAFETY: the constructors require a valid structure, which this owns.
            Form::Legacy(tensor) => unsafe { memory(&tensor.as_ref().dl_tensor, true) },
            Form::Versioned(tensor) => {
                // SAFETY: every version begins with its number; the rest is read only in ours.
                unsafe {
                    let version = (&raw const (*tensor.as_ptr()).version).read();
                    if version.major != abi::MAJOR {
                        let (DLPackVersion { major, minor }, known) = (version, abi::MAJOR);
                        return unsupported(format!(
                            "a tensor of DLPack {major}.{minor} cannot be read, only one of {known}.x"
                        ));
                    }
                    let tensor = tensor.as_ref();
                    memory(&tensor.dl_tensor, tensor.flags & abi::READ_ONLY == 0)
                }
            }
        }
    }
}

impl Drop for Imported {
    fn drop(&mut self) {
        // SAFETY: the constructors require that nobody else calls it.  The deleter has the same
        // offset in every version of the structure.
        unsafe {
            match self.0 {
                Form::Legacy(tensor) => {
                    if let Some(deleter) = (*tensor.as_ptr()).deleter {
                        deleter(tensor.as_ptr());
                    }
                }
                Form::Versioned(tensor) => {
                    if let Some(deleter) = (*tensor.as_ptr()).deleter {
                        deleter(tensor.as_ptr());
                    }
                }
            }
        }
    }
}

/// Refuses DLPack's number of a type of device that is not CUDA.
///
/// ```
/// use arrow_cuda_numba_bridge::dlpack::{abi, check_device_type};
///
/// assert!(check_device_type(abi::CUDA_MANAGED).is_ok());
/// assert!(check_device_type(abi::CPU).is_err());
/// ```
///
/// # Errors
///
/// [`Error::Unsupported`].
pub fn check_device_type(device_type: i32) -> Result<(), Error> {
    match device_type {
        cuda if abi::is_cuda(cuda) => Ok(()),
        abi::CPU => unsupported("the tensor is in host memory: copy it to a device"),
        other => unsupported(format!("the tensor lies on a device of type {other}, not CUDA")),
    }
}

/// # Safety
///
/// The tensor's shape and strides, if not null, must have `ndim` elements.
unsafe fn memory(tensor: &DLTensor, is_mutable: bool) -> Result<ImportedMemory, Error> {
    let dimensions = match usize::try_from(tensor.ndim) {
        Ok(dimensions) if dimensions <= MAX_DIMENSIONS => dimensions,
        _ => return invalid(format!("a tensor of {} dimensions", tensor.ndim)),
    };
    if dimensions > 0 && tensor.shape.is_null() {
        return invalid(format!("a tensor of {dimensions} dimensions has no shape"));
    }
    let list = |list: *mut i64| match dimensions {
        0 => &[][..],
        // SAFETY: guaranteed by the caller; `list` is not null.
        _ => unsafe { slice::from_raw_parts(list, dimensions) },
    };
    let element = ElementType::from_dlpack(tensor.dtype)?;
    let shape = list(tensor.shape).to_vec();
    let layout = if tensor.strides.is_null() {
        StridedLayout::row_major(element, shape)?
    } else {
        let item_size = i64::from(element.size());
        let strides = list(tensor.strides).iter().map(|stride| stride.checked_mul(item_size));
        let Some(strides) = strides.collect() else {
            return invalid("the tensor's strides overflow");
        };
        StridedLayout::strided(element, shape, strides)?
    };
    let Span { start, size } = layout.span();
    let mut address = 0;
    if size > 0 {
        if tensor.data.is_null() {
            return invalid(format!("a tensor of {size} bytes at no address"));
        }
        let first = (tensor.data as u64).checked_add(tensor.byte_offset);
        let Some(begin) = first.and_then(|first| first.checked_add_signed(start)) else {
            return invalid("the tensor's elements leave the address space");
        };
        address = begin;
    }
    let (device_type, device_id) = (tensor.device.device_type, tensor.device.device_id);
    Ok(ImportedMemory { device_type, device_id, address, layout, is_mutable })
}
