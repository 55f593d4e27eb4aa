//! DLPack's binary interface, field by field as in its specification.

use std::ffi::c_void;
use std::mem::offset_of;

/// `kDLCPU`: host memory.
pub const CPU: i32 = 1;
/// `kDLCUDA`: device memory.
pub const CUDA: i32 = 2;
/// `kDLCUDAHost`: pinned host memory.
pub const CUDA_HOST: i32 = 3;
/// `kDLCUDAManaged`: memory that migrates between host and devices.
pub const CUDA_MANAGED: i32 = 13;

/// Whether a CUDA device reaches memory of that type.
///
/// ```
/// use arrow_cuda_numba_bridge::dlpack::abi;
///
/// assert!(abi::is_cuda(abi::CUDA_HOST) && !abi::is_cuda(abi::CPU));
/// ```
pub fn is_cuda(device_type: i32) -> bool {
    matches!(device_type, CUDA | CUDA_HOST | CUDA_MANAGED)
}

/// The major version of the layouts in this module.
pub const MAJOR: u32 = 1;
/// The minor version of exported structures.
pub const MINOR: u32 = 1;

/// In [`DLManagedTensorVersioned::flags`]: the memory must not be written to.
pub const READ_ONLY: u64 = 1;
/// In [`DLManagedTensorVersioned::flags`]: the memory was copied for this exchange.
pub const IS_COPIED: u64 = 1 << 1;

/// Where memory lies.
///
/// See [`Imported::memory`](super::Imported::memory) for an example.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDevice {
    /// [`CPU`], [`CUDA`] and others.
    pub device_type: i32,
    /// The device's number among those of its type.
    pub device_id: i32,
}

/// The type of the elements.
///
/// See [`Imported::memory`](super::Imported::memory) for an example.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDataType {
    /// 0 signed integer, 1 unsigned integer, 2 floating point, and others.
    pub code: u8,
    /// The size of a lane, in bits.
    pub bits: u8,
    /// Lanes per element.
    pub lanes: u16,
}

/// An array, which owns nothing.
///
/// See [`Imported::memory`](super::Imported::memory) for an example.
#[repr(C)]
#[derive(Debug)]
pub struct DLTensor {
    /// The address to which `byte_offset` is added; may be null when there are no elements.
    pub data: *mut c_void,
    /// The device of the memory.
    pub device: DLDevice,
    /// The number of dimensions.
    pub ndim: i32,
    /// The type of the elements.
    pub dtype: DLDataType,
    /// `ndim` lengths, in elements.
    pub shape: *mut i64,
    /// `ndim` strides, in elements; null when the last dimension is the densest.
    pub strides: *mut i64,
    /// The offset of the first element from `data`, in bytes.
    pub byte_offset: u64,
}

/// The version of a structure's layout.
///
/// See [`Tensor::into_versioned`](super::Tensor::into_versioned) for an example.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLPackVersion {
    /// A different one means a different layout.
    pub major: u32,
    /// A different one means additions only.
    pub minor: u32,
}

/// The exported structure before version 1.0.
///
/// See [`Tensor::into_legacy`](super::Tensor::into_legacy) for an example.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensor {
    /// The array.
    pub dl_tensor: DLTensor,
    /// The producer's private data.
    pub manager_ctx: *mut c_void,
    /// Frees the structure and releases the memory; may be null.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensor)>,
}

/// The exported structure from version 1.0 on.
///
/// See [`Tensor::into_versioned`](super::Tensor::into_versioned) for an example.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensorVersioned {
    /// Must be checked first.
    pub version: DLPackVersion,
    /// The producer's private data.
    pub manager_ctx: *mut c_void,
    /// Frees the structure and releases the memory; may be null.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensorVersioned)>,
    /// [`READ_ONLY`], [`IS_COPIED`].
    pub flags: u64,
    /// The array.
    pub dl_tensor: DLTensor,
}

// The layout of 64-bit C.
const _: () = {
    assert!(size_of::<DLTensor>() == 48 && offset_of!(DLTensor, byte_offset) == 40);
    assert!(offset_of!(DLTensor, dtype) == 20);
    assert!(size_of::<DLManagedTensor>() == 64 && offset_of!(DLManagedTensor, deleter) == 56);
    assert!(size_of::<DLManagedTensorVersioned>() == 80);
    assert!(offset_of!(DLManagedTensorVersioned, flags) == 24);
    assert!(offset_of!(DLManagedTensorVersioned, dl_tensor) == 32);
};
