//! The machine's CUDA devices.

use super::identity;
use crate::out_param::out_param;
use arrow_cuda_driver::{
    CudaResult, call, codes, is_forked_child, report_failure, without_interpreter, without_locks,
};
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

/// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR` and `..._MINOR`.
const COMPUTE_CAPABILITY: [i32; 2] = [75, 76];

impl Device {
    /// How many devices the driver offers.
    ///
    /// ```
    /// use arrow_cuda_context::Device;
    ///
    /// let count = Device::count()?;
    /// assert!(count > 0 && Device::get(count).is_err());
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When there is no driver, or it finds no device (error 100).
    pub fn count() -> CudaResult<u32> {
        initialise()?;
        // SAFETY: stores a number.
        let count = out_param(0i32, |at| unsafe { call!(cuDeviceGetCount(at)) })?;
        Ok(count.try_into().unwrap_or(0))
    }

    /// The device of that number.
    ///
    /// ```
    /// use arrow_cuda_context::Device;
    ///
    /// assert_eq!(Device::get(0)?.number(), 0);
    /// assert!(Device::get(Device::count()?).is_err());
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When there is no such device, or no driver.
    pub fn get(number: u32) -> CudaResult<Self> {
        let known = Self(number).handle().map_err(|error| {
            error.advised(codes::INVALID_DEVICE, || match Self::count() {
                Ok(1) => format!("there is no device {number}, only device 0"),
                Ok(count) if count > 1 => {
                    format!("there is no device {number}, only devices 0 to {}", count - 1)
                }
                _ => format!("there is no device {number}"),
            })
        });
        known.map(|_| Self(number))
    }

    /// The device's number.
    ///
    /// ```
    /// use arrow_cuda_context::Device;
    ///
    /// let last = Device::count()? - 1;
    /// assert_eq!(Device::get(last)?.number(), last);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn number(self) -> u32 {
        self.0
    }

    /// The device's marketing name.
    ///
    /// ```
    /// use arrow_cuda_context::Device;
    ///
    /// assert!(!Device::get(0)?.name()?.is_empty());
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors.
    pub fn name(self) -> CudaResult<String> {
        let device = self.handle()?;
        let mut name = [0u8; 256];
        // SAFETY: stores at most `name.len()` bytes through the pointer, a NUL among them.
        unsafe { call!(cuDeviceGetName(name.as_mut_ptr().cast(), name.len() as i32, device)) }?;
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
        Ok(String::from_utf8_lossy(&name[..end]).into_owned())
    }

    /// The device's memory, in bytes.
    ///
    /// ```
    /// use arrow_cuda_context::Device;
    ///
    /// assert!(Device::get(0)?.total_memory()? > 0);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors.
    pub fn total_memory(self) -> CudaResult<u64> {
        let device = self.handle()?;
        // SAFETY: stores a size.
        let bytes = out_param(0usize, |at| unsafe { call!(cuDeviceTotalMem_v2(at, device)) })?;
        Ok(bytes as u64)
    }

    /// The device's compute capability: major and minor version.
    ///
    /// ```
    /// use arrow_cuda_context::Device;
    ///
    /// let (major, minor) = Device::get(0)?.compute_capability()?;
    /// assert!(major >= 3 && minor >= 0);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors.
    pub fn compute_capability(self) -> CudaResult<(i32, i32)> {
        let device = self.handle()?;
        let [major, minor] = COMPUTE_CAPABILITY;
        Ok((attribute(device, major)?, attribute(device, minor)?))
    }

    /// A property of the device, by the number that the driver gives it (`CU_DEVICE_ATTRIBUTE_*`).
    ///
    /// ```
    /// use arrow_cuda_context::Device;
    ///
    /// let warp_size = Device::get(0)?.attribute(10)?; // CU_DEVICE_ATTRIBUTE_WARP_SIZE
    /// assert_eq!(warp_size, 32);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_VALUE` for a number that the driver does not know.
    pub fn attribute(self, number: i32) -> CudaResult<i32> {
        attribute(self.handle()?, number)
    }

    /// Identifies the device in every process, or the part of a partitioned device (MIG) that this
    /// process uses.  The device's number may differ between processes.
    ///
    /// ```
    /// use arrow_cuda_context::Device;
    ///
    /// let device = Device::get(0)?;
    /// let uuid = device.uuid()?;
    /// assert_ne!(uuid, [0; 16]);
    /// assert_eq!(uuid, device.uuid()?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors.
    pub fn uuid(self) -> CudaResult<[u8; 16]> {
        let device = self.handle()?;
        // SAFETY: stores 16 bytes.
        out_param([0u8; 16], |at| unsafe { call!(cuDeviceGetUuid_v2(at, device)) })
    }

    /// The device of the thread's current context; `None` when none is current.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Device};
    ///
    /// let context = Context::primary(0)?;
    /// assert_eq!(Device::current()?, None);
    /// let _current = context.enter()?;
    /// assert_eq!(Device::current()?, Some(context.device()));
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When there is no driver, or it finds no device.
    pub fn current() -> CudaResult<Option<Self>> {
        let count = Self::count()?;
        // SAFETY: stores a number.
        let current = match out_param(0i32, |at| unsafe { call!(cuCtxGetDevice(at)) }) {
            Err(error) if error.is_context_gone() => return Ok(None),
            answer => answer?,
        };
        for device in (0..count).map(Self) {
            if device.handle()? == current {
                return Ok(Some(device));
            }
        }
        Ok(None)
    }

    pub(super) fn retain_primary_context(self) -> CudaResult<(usize, u64)> {
        let device = self.handle()?;
        // SAFETY: stores a handle.
        let handle =
            out_param(0usize, |at| unsafe { call!(cuDevicePrimaryCtxRetain(at, device)) })?;
        let number = identity::number_of(handle).inspect_err(|_| {
            let release = move || {
                // SAFETY: undoes the retain above, which nobody has seen.
                let released = unsafe { call!(cuDevicePrimaryCtxRelease_v2(device)) };
                report_failure("a primary context", released);
            };
            // The last release waits for all work of the context.
            without_locks(move || without_interpreter(release));
        })?;
        Ok((handle, number))
    }

    /// Whether the device has a primary context, whichever library of this process has made it.
    pub(crate) fn has_primary_context(self) -> CudaResult<bool> {
        let device = self.handle()?;
        let (mut flags, mut is_active) = (0u32, 0i32);
        let places = ((&raw mut flags).cast(), (&raw mut is_active).cast());
        // SAFETY: stores two numbers through the pointers, which outlive the call.
        unsafe { call!(cuDevicePrimaryCtxGetState(device, places.0, places.1)) }?;
        Ok(is_active != 0)
    }

    /// Whether work of the device can access memory of another one directly, once that is enabled.
    pub(crate) fn can_access(self, peer: Self) -> CudaResult<bool> {
        let (device, peer) = (self.handle()?, peer.handle()?);
        // SAFETY: stores a number.
        let can = out_param(0i32, |at| unsafe { call!(cuDeviceCanAccessPeer(at, device, peer)) })?;
        Ok(can != 0)
    }

    pub(crate) fn handle(self) -> CudaResult<i32> {
        initialise()?;
        // No device has a number that large: the driver refuses it.
        let number = i32::try_from(self.0).unwrap_or(i32::MAX);
        // SAFETY: stores a number.
        out_param(0i32, |at| unsafe { call!(cuDeviceGet(at, number)) })
    }
}

fn attribute(device: i32, number: i32) -> CudaResult<i32> {
    // SAFETY: stores a number.
    out_param(0i32, |at| unsafe { call!(cuDeviceGetAttribute(at, number, device)) })
}

/// The newest version of CUDA that the driver supports: 13000 for 13.0.
///
/// ```
/// use arrow_cuda_context::driver_version;
///
/// let version = driver_version()?;
/// println!("CUDA {}.{}", version / 1000, version % 1000 / 10);
/// assert!(version >= 10_000);
/// # Ok::<(), arrow_cuda_context::CudaError>(())
/// ```
///
/// # Errors
///
/// When there is no driver.
pub fn driver_version() -> CudaResult<i32> {
    // SAFETY: stores a number.
    out_param(0i32, |at| unsafe { call!(cuDriverGetVersion(at)) })
}

/// Initialises the driver once.  After a failure, the next call tries again.
fn initialise() -> CudaResult<()> {
    static DONE: AtomicBool = AtomicBool::new(false);
    // A forked child calls the driver again, which reports that it cannot be used.
    if DONE.load(Ordering::Acquire) && !is_forked_child() {
        return Ok(());
    }
    // SAFETY: takes no pointer.
    unsafe { call!(cuInit(0)) }?;
    DONE.store(true, Ordering::Release);
    Ok(())
}
