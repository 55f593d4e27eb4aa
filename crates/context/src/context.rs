//! Contexts: a device's primary one, or one that somebody else made.

use crate::cache::Cache;
use crate::codes::{CONTEXT_IS_DESTROYED, INVALID_CONTEXT, NOT_INITIALIZED};
use crate::device::Device;
use crate::readable::is_readable;
use arrow_cuda_driver::{CudaError, CudaResult, call, is_forked_child, report_failure};
use std::any::Any;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// A CUDA context, shared by everything that lives in it.
///
/// Clones are the same context and share its counter.  The primary context of a device is
/// retained once, when it is first asked for, and kept until the process ends: giving it back
/// earlier would free what others of this process still use, exported memory above all.
///
/// ```
/// use arrow_cuda_context::Context;
///
/// let context = Context::primary(0)?;
/// let by_handle = Context::borrowed(0, context.handle())?;
/// assert!(by_handle.is_same(&context));
/// context.synchronize()?;
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Context(Arc<State>);

#[derive(Debug)]
struct State {
    handle: usize,
    /// What tells a borrowed context from a later one that the driver has put at its address.
    id: u64,
    device: Device,
    /// Whether it is the device's primary context, retained by this process; otherwise it was
    /// made, and is perhaps destroyed at any time, by somebody else.
    is_primary: AtomicBool,
    bytes_allocated: AtomicI64,
    peak_allocated: AtomicI64,
    slack: AtomicU64,
    cache: Cache,
    total_memory: OnceLock<u64>,
    attachment: OnceLock<Box<dyn Any + Send + Sync>>,
    attaching: Mutex<()>,
}

/// All contexts in use, by handle, so that two views of one context share one counter.
static CONTEXTS: Mutex<Option<HashMap<usize, Weak<State>>>> = Mutex::new(None);
/// The primary contexts, which stay.
static PRIMARY: Mutex<Vec<(u32, Context)>> = Mutex::new(Vec::new());

impl Context {
    /// The primary context of a device.
    ///
    /// # Errors
    ///
    /// When there is no such device, or the driver cannot make its context.
    pub fn primary(device: u32) -> CudaResult<Self> {
        if is_forked_child() {
            // Another thread may have held the lock below when the process forked.
            return Err(CudaError::of_call("cuInit", NOT_INITIALIZED));
        }
        let mut primary = PRIMARY.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = primary.iter().position(|(number, _)| *number == device) {
            if !primary[at].1.is_gone() {
                return Ok(primary[at].1.clone());
            }
            // Somebody has reset the device; retaining it again makes another context.
            primary.swap_remove(at).1.abandon_memory();
        }
        let device = Device::get(device)?;
        let number = device.handle()?.as_raw();
        let mut handle: *mut c_void = std::ptr::null_mut();
        // SAFETY: stores a handle through the pointer.  (`cust::context::Context::new` would
        // leave the new context current; the caller's has to stay.)
        unsafe { call!(cuDevicePrimaryCtxRetain((&raw mut handle).cast(), number)) }?;
        let id = identify(handle as usize).inspect_err(|_| {
            // SAFETY: undoes the retain above, which nobody has seen yet.
            let released = unsafe { call!(cuDevicePrimaryCtxRelease_v2(number)) };
            report_failure("a primary context", released);
        })?;
        let context = Self::of_handle(handle as usize, id, device);
        // It may have been known already, as one of somebody else's.
        context.0.is_primary.store(true, Ordering::Release);
        primary.push((device.number(), context.clone()));
        Ok(context)
    }

    /// The primary contexts that were asked for so far.
    pub fn primaries() -> Vec<Self> {
        if is_forked_child() {
            return Vec::new();
        }
        let primary = PRIMARY.lock().unwrap_or_else(PoisonError::into_inner);
        primary.iter().map(|(_, context)| context.clone()).collect()
    }

    /// A context that another library made, by its `CUcontext` handle.
    ///
    /// It is borrowed: never released here, and checked before each use, since its maker may
    /// destroy it at any time.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_CONTEXT` when the handle is no context of that device.
    pub fn borrowed(device: u32, handle: usize) -> CudaResult<Self> {
        let device = Device::get(device)?;
        let id = identify(handle)?;
        let context = Self::of_handle(handle, id, device);
        let belongs_to = {
            let _current = context.enter()?;
            let mut number = 0i32;
            // SAFETY: stores a number through the pointer, which outlives the call.
            unsafe { call!(cuCtxGetDevice((&raw mut number).cast())) }?;
            number
        };
        if belongs_to == device.handle()?.as_raw() { Ok(context) } else { Err(invalid_context()) }
    }

    fn of_handle(handle: usize, id: u64, device: Device) -> Self {
        let mut contexts = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
        let contexts = contexts.get_or_insert_default();
        if let Some(state) = contexts.get(&handle).and_then(Weak::upgrade)
            && state.id == id
        {
            return Self(state);
        }
        contexts.retain(|_, state| state.strong_count() > 0);
        let state = Arc::new(State {
            handle,
            id,
            device,
            is_primary: AtomicBool::new(false),
            bytes_allocated: AtomicI64::new(0),
            peak_allocated: AtomicI64::new(0),
            slack: AtomicU64::new(0),
            cache: Cache::default(),
            total_memory: OnceLock::new(),
            attachment: OnceLock::new(),
            attaching: Mutex::new(()),
        });
        contexts.insert(handle, Arc::downgrade(&state));
        Self(state)
    }

    /// The device that the context is on.
    pub fn device(&self) -> Device {
        self.0.device
    }

    /// The `CUcontext` handle, as a number.
    pub fn handle(&self) -> usize {
        self.0.handle
    }

    /// Whether it is its device's primary context, retained here, which stays.
    pub fn is_primary(&self) -> bool {
        self.0.is_primary.load(Ordering::Acquire)
    }

    /// What the context has in common with no other, not even with a later one of the same
    /// handle.
    pub fn identity(&self) -> (usize, u64) {
        (self.0.handle, self.0.id)
    }

    /// The driver's number for it; 0 where the driver has none.
    pub(crate) fn number(&self) -> u64 {
        self.0.id
    }

    pub(crate) fn cache(&self) -> &Cache {
        &self.0.cache
    }

    pub(crate) fn raw(&self) -> *mut c_void {
        self.0.handle as *mut c_void
    }

    /// How many bytes were asked for and are not released yet, in this context, by this
    /// process.  Slices, foreign memory and imported memory do not count.
    pub fn bytes_allocated(&self) -> i64 {
        self.0.bytes_allocated.load(Ordering::Acquire)
    }

    /// The same, and the most that it was.
    pub(crate) fn bytes_allocated_and_peak(&self) -> (i64, i64) {
        (self.bytes_allocated(), self.0.peak_allocated.load(Ordering::Acquire))
    }

    pub(crate) fn count(&self, bytes: i64) {
        let now = self.0.bytes_allocated.fetch_add(bytes, Ordering::AcqRel) + bytes;
        if now > self.0.peak_allocated.load(Ordering::Acquire) {
            self.0.peak_allocated.fetch_max(now, Ordering::AcqRel);
        }
    }

    /// Bytes reserved beyond what was asked for (see `block.rs`).
    pub(crate) fn slack(&self) -> &AtomicU64 {
        &self.0.slack
    }

    /// The device's memory, in bytes, asked for once.
    pub(crate) fn total_memory(&self) -> CudaResult<u64> {
        if let Some(bytes) = self.0.total_memory.get() {
            return Ok(*bytes);
        }
        let bytes = self.device().total_memory()?;
        Ok(*self.0.total_memory.get_or_init(|| bytes))
    }

    /// Whether both are the same driver context.
    pub fn is_same(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }

    /// Blocks until the device has done everything that was queued in the context.
    ///
    /// # Errors
    ///
    /// When queued work failed, or the context no longer exists.
    pub fn synchronize(&self) -> CudaResult<()> {
        let _current = self.enter()?;
        // SAFETY: takes no pointer; the context is current.
        unsafe { call!(cuCtxSynchronize()) }
    }

    /// How much of the device's memory is free for any process, in bytes.
    ///
    /// # Errors
    ///
    /// When the context no longer exists, or the driver cannot tell.
    pub fn free_memory(&self) -> CudaResult<u64> {
        let _current = self.enter()?;
        cust::memory::mem_get_info().map(|(free, _)| free as u64).map_err(CudaError::last)
    }

    /// Waits for the legacy default stream, the one that unqualified copies run on.
    ///
    /// # Errors
    ///
    /// When queued work failed, or the context no longer exists.
    pub fn synchronize_default_stream(&self) -> CudaResult<()> {
        let _current = self.enter()?;
        // SAFETY: the null handle is the default stream of the current context.
        unsafe { call!(cuStreamSynchronize(std::ptr::null_mut())) }
    }

    /// Fails when a borrowed context is gone.  The driver does not check handles: it reads
    /// through them, so a dead one must never reach it.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_CONTEXT`.
    pub fn check_alive(&self) -> CudaResult<()> {
        if self.is_primary() || identify(self.0.handle)? == self.0.id {
            return Ok(());
        }
        Err(invalid_context())
    }

    /// Whether the context does not exist any more, with all that was in it.
    ///
    /// Asked before something is freed: any library may reset a primary context as well
    /// (`numba.cuda.close()` does), and the next one has the same handle and the same addresses
    /// (seen on an H200).  Freeing by address would then free somebody else's memory.
    pub fn is_gone(&self) -> bool {
        // The driver keeps the memory behind a primary context's handle, which is the same after
        // a reset: `enter` reads through it as well.
        let asked = match self.is_primary() {
            true => identify_readable(self.0.handle),
            false => identify(self.0.handle),
        };
        match asked {
            Ok(id) => id != self.0.id,
            Err(error) => matches!(error.code(), Some(INVALID_CONTEXT | CONTEXT_IS_DESTROYED)),
        }
    }

    /// What a higher layer keeps with the context, made by the first caller: compiled kernels.
    ///
    /// # Errors
    ///
    /// That of `make`.
    pub fn attachment<T: Any + Send + Sync, E>(
        &self,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<&T, E> {
        if self.0.attachment.get().is_none() {
            let _one_at_a_time = self.0.attaching.lock().unwrap_or_else(PoisonError::into_inner);
            if self.0.attachment.get().is_none() {
                let made = make()?;
                let _empty_until_now = self.0.attachment.set(Box::new(made));
            }
        }
        let attached = self.0.attachment.get().and_then(|any| any.downcast_ref());
        Ok(attached.expect("one layer attaches one type"))
    }
}

/// The driver's number for a live context, asked for without letting it read wild memory.
fn identify(handle: usize) -> CudaResult<u64> {
    if !is_readable(handle) {
        return Err(invalid_context());
    }
    identify_readable(handle)
}

/// The same, for a handle that is known to be readable.
fn identify_readable(handle: usize) -> CudaResult<u64> {
    let mut version = 0u32;
    // SAFETY: the handle is readable memory, which is all that this call demands; it answers
    // `CUDA_ERROR_INVALID_CONTEXT` for one that was destroyed.
    unsafe { call!(cuCtxGetApiVersion(handle as *mut c_void, (&raw mut version).cast())) }?;
    let mut id = 0u64;
    // SAFETY: a live context, and a place that outlives the call.
    match unsafe { call!(cuCtxGetId(handle as *mut c_void, (&raw mut id).cast())) } {
        Ok(()) => Ok(id),
        // Drivers before CUDA 12 have no numbers: there the handle alone has to do.
        Err(error) if error.is_missing_function() => Ok(0),
        Err(error) if error.code() == Some(CONTEXT_IS_DESTROYED) => Err(invalid_context()),
        Err(error) => Err(error),
    }
}

pub(crate) fn invalid_context() -> CudaError {
    CudaError::of_call("cuCtxGetApiVersion", INVALID_CONTEXT)
}
