//! Physical chunks of device memory, and the ranges of addresses in which they are mapped.

use crate::stored::stored;
use crate::{Current, Device};
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

/// `CUmemAllocationProp`.
#[repr(C)]
struct Properties {
    kind: i32,
    handle_types: i32,
    location: [i32; 2],
    windows: usize,
    compression: u8,
    has_rdma: u8,
    usage: u16,
    reserved: [u8; 4],
}

impl Properties {
    fn of(device: Device) -> CudaResult<Self> {
        let location = [ON_DEVICE, device.handle()?];
        // Network cards and storage can reach the memory, where they can reach that of `cuMemAlloc`.
        let has_rdma = u8::from(device.attribute(HAS_RDMA)? == 1);
        let (kind, handle_types, windows, compression) = (PINNED, 0, 0, 0);
        let (usage, reserved) = (0, [0; 4]);
        Ok(Self { kind, handle_types, location, windows, compression, has_rdma, usage, reserved })
    }
}

impl Device {
    /// Whether chunks of its memory can be mapped at addresses that were reserved before.
    pub(crate) fn maps_chunks(self) -> CudaResult<bool> {
        Ok(self.attribute(MAPS_CHUNKS)? == 1)
    }

    /// The size of which a chunk is a multiple.
    pub(crate) fn chunk_granularity(self) -> CudaResult<u64> {
        let mut properties = Properties::of(self)?;
        let properties = (&raw mut properties).cast();
        // SAFETY: reads the properties, and stores a size.
        let size = stored(0usize, |at| unsafe {
            call!(cuMemGetAllocationGranularity(at, properties, 0))
        })?;
        Ok(size as u64)
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

impl Current<'_> {
    /// Creates a chunk of memory on the context's device.  Returns its handle.
    pub(crate) fn create_chunk(&self, size: u64) -> CudaResult<u64> {
        let mut properties = Properties::of(self.context().device())?;
        let properties = (&raw mut properties).cast();
        // SAFETY: reads the properties, and stores a handle.
        stored(0u64, |at| unsafe { call!(cuMemCreate(at, size as usize, properties, 0)) })
    }
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
/// Nothing may use the memory.
pub(crate) unsafe fn unmap_chunk(address: u64, size: u64) -> CudaResult<()> {
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
