//! Physical chunks of device memory, and the ranges of addresses in which they are mapped.

use crate::stored::stored;
use crate::{Device, Unused};
use arrow_cuda_driver::{CudaResult, call};

/// `CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED`.
const MAPS_CHUNKS: i32 = 102;
/// `CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED`.
const HAS_RDMA: i32 = 110;
/// `CU_MEM_ALLOCATION_TYPE_PINNED`.
const PINNED: i32 = 1;
/// `CU_MEM_LOCATION_TYPE_DEVICE`.
const ON_DEVICE: i32 = 1;
/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`.
const READ_WRITE: i32 = 3;

/// `CUmemAllocationProp`: the kind, the types of handles, the location, a pointer for Windows, and a byte for each flag.
#[repr(C, align(8))]
struct Properties([i32; 8]);

impl Properties {
    fn of(device: Device) -> CudaResult<Self> {
        // Network cards and storage can reach the memory, where they can reach that of `cuMemAlloc`.
        let has_rdma = u8::from(device.attribute(HAS_RDMA)? == 1);
        let flags = i32::from_ne_bytes([0, has_rdma, 0, 0]);
        Ok(Self([PINNED, 0, ON_DEVICE, device.handle()?, 0, 0, flags, 0]))
    }
}

impl Device {
    /// Whether chunks of its memory can be mapped at addresses that were reserved before.
    pub(crate) fn maps_chunks(self) -> CudaResult<bool> {
        Ok(self.attribute(MAPS_CHUNKS)? == 1)
    }

    /// The size of which a chunk is a multiple.
    pub(crate) fn chunk_granularity(self) -> CudaResult<u64> {
        let mut of = Properties::of(self)?;
        let of = (&raw mut of).cast();
        // SAFETY: reads the properties, and stores a size.
        let size = stored(0usize, |at| unsafe { call!(cuMemGetAllocationGranularity(at, of, 0)) })?;
        Ok(size as u64)
    }

    /// Creates a chunk of its memory.  Returns the handle.
    pub(crate) fn create_chunk(self, size: u64) -> CudaResult<u64> {
        let mut of = Properties::of(self)?;
        let of = (&raw mut of).cast();
        // SAFETY: reads the properties, and stores a handle.
        stored(0u64, |at| unsafe { call!(cuMemCreate(at, size as usize, of, 0)) })
    }
}

/// Reserves a range of addresses, without memory behind them.
pub(crate) fn reserve_addresses(size: u64) -> CudaResult<u64> {
    // SAFETY: stores an address.
    stored(0u64, |at| unsafe { call!(cuMemAddressReserve(at, size as usize, 0, 0, 0)) })
}

/// Gives a range back in which nothing is mapped.
///
/// # Safety
///
/// The range must be the caller's to give back, once.
pub(crate) unsafe fn free_addresses(address: u64, size: u64) -> CudaResult<()> {
    // SAFETY: guaranteed by the caller.
    unsafe { call!(cuMemAddressFree(address, size as usize)) }
}

/// Lets devices read and write what is mapped in a range.
pub(crate) fn set_access(address: u64, size: u64, devices: &[Device]) -> CudaResult<()> {
    let describe = |device: &Device| Ok([ON_DEVICE, device.handle()?, READ_WRITE]);
    let mut wanted = devices.iter().map(describe).collect::<CudaResult<Vec<[i32; 3]>>>()?;
    let (first, count) = (wanted.as_mut_ptr().cast(), wanted.len());
    // SAFETY: reads as many descriptions; the driver checks the range.
    unsafe { call!(cuMemSetAccess(address, size as usize, first, count)) }
}

/// Maps a chunk at a reserved address.
pub(crate) fn map_chunk(address: u64, size: u64, handle: u64) -> CudaResult<()> {
    // SAFETY: the driver checks the range and the handle.
    unsafe { call!(cuMemMap(address, size as usize, 0, handle, 0)) }
}

/// Ends the mapping of a chunk, which stays allocated.  The driver does not wait for work that uses it.
///
/// # Safety
///
/// The mapping must be the caller's to end, once.
pub(crate) unsafe fn unmap_chunk(address: u64, size: u64, _unused: &Unused) -> CudaResult<()> {
    // SAFETY: guaranteed by the caller.
    unsafe { call!(cuMemUnmap(address, size as usize)) }
}

/// Frees a chunk, once it is mapped no longer.
///
/// # Safety
///
/// The handle must be the caller's to release, once.
pub(crate) unsafe fn release_chunk(handle: u64) -> CudaResult<()> {
    // SAFETY: guaranteed by the caller.
    unsafe { call!(cuMemRelease(handle)) }
}
