//! The machine's CUDA devices.

use arrow_cuda_driver::{CudaError, CudaResult, call};
use cust::device::DeviceAttribute;
use std::sync::atomic::{AtomicBool, Ordering};

/// A CUDA device, by its number.  Numbers count from 0 in the driver's order.
///
/// ```
/// use arrow_cuda_context::Device;
///
/// for number in 0..Device::count()? {
///     let device = Device::get(number)?;
///     assert!(device.total_memory()? > 0 && !device.name()?.is_empty());
/// }
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Device(u32);

impl Device {
    /// How many devices the driver offers.
    ///
    /// # Errors
    ///
    /// When there is no driver, or it finds no device (error 100).
    pub fn count() -> CudaResult<u32> {
        initialise()?;
        cust::device::Device::num_devices().map_err(CudaError::last)
    }

    /// The device of that number.
    ///
    /// # Errors
    ///
    /// When there is no such device, or no driver.
    pub fn get(number: u32) -> CudaResult<Self> {
        initialise()?;
        cust::device::Device::get_device(number).map_err(CudaError::last)?;
        Ok(Self(number))
    }

    /// The device's number.
    pub fn number(self) -> u32 {
        self.0
    }

    /// The device's marketing name.
    ///
    /// # Errors
    ///
    /// When the driver cannot tell.
    pub fn name(self) -> CudaResult<String> {
        self.handle()?.name().map_err(CudaError::last)
    }

    /// The device's memory, in bytes.
    ///
    /// # Errors
    ///
    /// When the driver cannot tell.
    pub fn total_memory(self) -> CudaResult<u64> {
        self.handle()?.total_memory().map(|bytes| bytes as u64).map_err(CudaError::last)
    }

    /// The device's compute capability: major and minor version.
    ///
    /// # Errors
    ///
    /// When the driver cannot tell.
    pub fn compute_capability(self) -> CudaResult<(i32, i32)> {
        let ask = |what| self.handle()?.get_attribute(what).map_err(CudaError::last);
        let major = ask(DeviceAttribute::ComputeCapabilityMajor)?;
        Ok((major, ask(DeviceAttribute::ComputeCapabilityMinor)?))
    }

    /// What identifies the device, or the part of one that a divided device (MIG) lends, in
    /// every process: its number may differ between them.
    ///
    /// # Errors
    ///
    /// When the driver cannot tell.
    pub fn uuid(self) -> CudaResult<[u8; 16]> {
        let number = self.handle()?.as_raw();
        let mut uuid = [0u8; 16];
        // SAFETY: stores 16 bytes through the pointer.
        unsafe { call!(cuDeviceGetUuid_v2(uuid.as_mut_ptr().cast(), number)) }?;
        Ok(uuid)
    }

    pub(crate) fn handle(self) -> CudaResult<cust::device::Device> {
        initialise()?;
        cust::device::Device::get_device(self.0).map_err(CudaError::last)
    }
}

/// Initialises the driver, unless it is.  A failure is not kept: the next call tries again.
fn initialise() -> CudaResult<()> {
    static DONE: AtomicBool = AtomicBool::new(false);
    // A forked child asks the driver again, to hear that it cannot be used.
    if DONE.load(Ordering::Acquire) && !arrow_cuda_driver::is_forked_child() {
        return Ok(());
    }
    // SAFETY: takes no pointer.
    unsafe { call!(cuInit(0)) }?;
    DONE.store(true, Ordering::Release);
    Ok(())
}
