//! The binary interface, field by field as in its specification.

use arrow_data::ffi::FFI_ArrowArray;
use std::ffi::c_void;
use std::mem::{self, offset_of};
use std::ptr;

/// `ARROW_DEVICE_CPU`: host memory.
pub const CPU: i32 = 1;
/// `ARROW_DEVICE_CUDA`: device memory.
pub const CUDA: i32 = 2;
/// `ARROW_DEVICE_CUDA_HOST`: pinned host memory.
pub const CUDA_HOST: i32 = 3;
/// `ARROW_DEVICE_CUDA_MANAGED`: memory that migrates between host and devices.
pub const CUDA_MANAGED: i32 = 13;

/// `ArrowDeviceArray`: an array of the C Data interface, and where its memory lies.
///
/// It is released when dropped, on any thread.
///
/// ```
/// use arrow_array::Int32Array;
/// use arrow_cuda_array::{DeviceArray, FFI_ArrowDeviceArray, c_device};
/// use arrow_cuda_context::Context;
///
/// let context = Context::primary(0)?;
/// let numbers = DeviceArray::from_host(&context, &Int32Array::from(vec![1, 2, 3]))?;
/// let structure: FFI_ArrowDeviceArray = numbers.export()?;
/// assert_eq!((structure.array.len(), structure.device_type), (3, c_device::CUDA));
/// # Ok::<(), arrow_cuda_array::Error>(())
/// ```
#[repr(C)]
#[derive(Debug)]
pub struct FFI_ArrowDeviceArray {
    /// The array, whose buffers are addresses on the device.  Its release is that of the structure.
    pub array: FFI_ArrowArray,
    /// The number of the device, or -1 where memory belongs to none.
    pub device_id: i64,
    /// [`CUDA`] and others.
    pub device_type: i32,
    /// The address of a `cudaEvent_t` that the memory's readers have to wait for; null if there is nothing to wait for.
    pub sync_event: *mut c_void,
    /// Zeros.
    pub reserved: [i64; 3],
}

// SAFETY: the interface demands of producers that any thread may read and release a structure.
unsafe impl Send for FFI_ArrowDeviceArray {}
// SAFETY: shared references only read.
unsafe impl Sync for FFI_ArrowDeviceArray {}

impl FFI_ArrowDeviceArray {
    /// A structure without an array, for a producer in C to write to.
    ///
    /// ```
    /// use arrow_cuda_array::FFI_ArrowDeviceArray;
    ///
    /// assert!(FFI_ArrowDeviceArray::empty().is_released());
    /// ```
    pub fn empty() -> Self {
        Self {
            array: FFI_ArrowArray::empty(),
            device_id: 0,
            device_type: 0,
            sync_event: ptr::null_mut(),
            reserved: [0; 3],
        }
    }

    /// Moves the structure out of memory that a producer in C has written to.  What stays behind counts as
    /// released.
    ///
    /// ```
    /// use arrow_array::Int32Array;
    /// use arrow_cuda_array::{DeviceArray, FFI_ArrowDeviceArray};
    /// use arrow_cuda_context::Context;
    ///
    /// let numbers = DeviceArray::from_host(&Context::primary(0)?, &Int32Array::from(vec![1, 2, 3]))?;
    /// let mut theirs = numbers.export()?; // as if a producer in C had written it
    /// // SAFETY: a structure that may be written to.
    /// let ours = unsafe { FFI_ArrowDeviceArray::from_raw(&raw mut theirs) };
    /// assert!(theirs.is_released() && !ours.is_released());
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Safety
    ///
    /// `structure` must point to an aligned, initialised structure that may be written to.
    pub unsafe fn from_raw(structure: *mut Self) -> Self {
        // SAFETY: guaranteed by the caller.
        unsafe { ptr::replace(structure, Self::empty()) }
    }

    /// Whether the array was released, or moved elsewhere.
    ///
    /// ```
    /// use arrow_array::Int32Array;
    /// use arrow_cuda_array::{DeviceArray, FFI_ArrowDeviceArray};
    /// use arrow_cuda_context::Context;
    ///
    /// let numbers = DeviceArray::from_host(&Context::primary(0)?, &Int32Array::from(vec![1, 2, 3]))?;
    /// assert!(!numbers.export()?.is_released());
    /// assert!(FFI_ArrowDeviceArray::empty().is_released());
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    pub fn is_released(&self) -> bool {
        self.array.is_released()
    }
}

/// `ArrowArray`, with the fields that [`FFI_ArrowArray`] keeps to itself.
#[repr(C)]
pub(super) struct ArrowArray {
    pub(super) length: i64,
    pub(super) null_count: i64,
    pub(super) offset: i64,
    pub(super) n_buffers: i64,
    pub(super) n_children: i64,
    pub(super) buffers: *mut *const c_void,
    pub(super) children: *mut *mut FFI_ArrowArray,
    pub(super) dictionary: *mut FFI_ArrowArray,
    pub(super) release: Option<Release>,
    pub(super) private_data: *mut c_void,
}

pub(super) type Release = unsafe extern "C" fn(*mut FFI_ArrowArray);

impl ArrowArray {
    pub(super) fn of(array: &FFI_ArrowArray) -> &Self {
        // SAFETY: both are the C structure that the specification of the C Data interface lays out.
        unsafe { &*ptr::from_ref(array).cast() }
    }

    pub(super) fn into_ffi(self) -> FFI_ArrowArray {
        // SAFETY: as above.
        unsafe { mem::transmute(self) }
    }
}

// The layout of 64-bit C.
const _: () = {
    assert!(size_of::<ArrowArray>() == 80 && size_of::<FFI_ArrowDeviceArray>() == 128);
    assert!(offset_of!(ArrowArray, buffers) == 40 && offset_of!(ArrowArray, release) == 64);
    assert!(offset_of!(FFI_ArrowDeviceArray, device_id) == 80);
    assert!(offset_of!(FFI_ArrowDeviceArray, device_type) == 88);
    assert!(offset_of!(FFI_ArrowDeviceArray, sync_event) == 96);
    assert!(offset_of!(FFI_ArrowDeviceArray, reserved) == 104);
};
