//! Which driver `cudarc` calls: it loads a library itself, by the names that the dynamic linker knows.

use crate::{CudaError, CudaResult, DRIVER_VARIABLE, call, codes};
use cudarc::driver::sys::{CUresult, cuGetErrorString};
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

/// Fails unless `cudarc` calls the driver library that this crate calls.  Loads both if no call has yet.
///
/// Handles and addresses mean something to their own driver only, so each conversion of the crates above
/// asks this first.
///
/// ```
/// use arrow_cuda_driver::check_cudarc;
///
/// check_cudarc()?;
/// assert!(cudarc::driver::CudaContext::device_count().expect("the same driver") > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`CudaError::OtherDriver`], which names both libraries and the ways out; [`CudaError::Load`].
pub fn check_cudarc() -> CudaResult<()> {
    static AGREES: AtomicBool = AtomicBool::new(false);
    if AGREES.load(Ordering::Relaxed) {
        return Ok(());
    }
    let (mut ours, mut theirs): (*const c_char, *const c_char) = Default::default();
    // SAFETY: stores a pointer to a static text of the library.
    unsafe { call!(cuGetErrorString(codes::NOT_READY, (&raw mut ours).cast())) }?;
    let library = file_of(ours.cast());
    let ways_out = format!(
        "start the program with a folder in LD_LIBRARY_PATH in which libcuda.so leads to '{library}', or set \
         {DRIVER_VARIABLE} to the library that cudarc finds"
    );
    // cudarc panics if it finds none.  Where the program is linked to the driver, this finds it loaded.
    // SAFETY: the driver that cudarc will load, too.
    let is_there = |name| unsafe { libloading::Library::new(name) }.is_ok();
    if !["libcuda.so", "libcuda.so.1", "libcuda64.so"].into_iter().any(is_there) {
        let text = format!("cudarc finds no CUDA driver library: {ways_out}");
        return Err(CudaError::OtherDriver(text));
    }
    // SAFETY: as above.
    unsafe { cuGetErrorString(CUresult::CUDA_ERROR_NOT_READY, &raw mut theirs) };
    if ours == theirs {
        AGREES.store(true, Ordering::Relaxed);
        return Ok(());
    }
    Err(CudaError::OtherDriver(format!(
        "cudarc uses the CUDA driver library '{}', and the rest of the program '{library}': {ways_out}",
        file_of(theirs.cast()),
    )))
}

/// The file of the library in which an address lies.
fn file_of(address: *const c_void) -> String {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: fills `info` for an address of a library, and reads nothing through the address; without one,
    // the name stays null.  A name is a text that lives as long as the library.
    unsafe {
        libc::dladdr(address, info.as_mut_ptr());
        let name = info.assume_init().dli_fname;
        if name.is_null() { "?".into() } else { CStr::from_ptr(name).to_string_lossy().into() }
    }
}

impl CudaError {
    /// The failure of a call that `cudarc` made, of which it keeps the number.
    ///
    /// ```
    /// use arrow_cuda_driver::CudaError;
    /// use cudarc::driver::{DriverError, sys::CUresult};
    ///
    /// let error = CudaError::of_cudarc(DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY));
    /// assert!(error.is_out_of_memory());
    /// assert!(error.to_string().starts_with("Cuda error 2 in a call of cudarc: "));
    /// ```
    pub fn of_cudarc(error: cudarc::driver::DriverError) -> Self {
        Self::of_call("cudarc", error.0 as i32)
    }
}

/// As [`CudaError::of_cudarc`].
impl From<cudarc::driver::DriverError> for CudaError {
    fn from(error: cudarc::driver::DriverError) -> Self {
        Self::of_cudarc(error)
    }
}
