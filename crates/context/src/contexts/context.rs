//! A context: its handle, its identity, and the state that other layers attach to it.

use super::extensions::{Extension, Extensions};
use super::{Device, identity};
use arrow_cuda_driver::{CudaError, CudaResult};
use std::convert::Infallible;
use std::ffi::c_void;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};

/// A CUDA context: a device's primary one, or one that another library has made.
///
/// Clones are the same context and share its state.  The first request for a device's primary
/// context retains it until the process ends: releasing it earlier would free memory that others in
/// this process still use, exported memory above all.
///
/// All calls to the driver go through [`enter`](Self::enter).
///
/// ```
/// use arrow_cuda_context::Context;
///
/// let context = Context::primary(0)?;
/// // SAFETY: the handle of a primary context, which stays.
/// let by_handle = unsafe { Context::borrowed(0, context.handle()) }?;
/// assert!(by_handle.is_same(&context));
/// context.synchronize()?;
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Clone)]
pub struct Context(Arc<State>);

struct State {
    handle: usize,
    /// Distinguishes the context from a later one at the same address.
    number: u64,
    device: Device,
    /// Whether it is the device's primary context, retained by this process.  Otherwise another
    /// library has made it, and may destroy it at any time.
    is_primary: AtomicBool,
    total_memory: OnceLock<u64>,
    extensions: Extensions,
}

/// Whether both are the same context of the driver.
impl PartialEq for Context {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other)
    }
}

impl Eq for Context {}

impl Hash for Context {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("device", &self.device().number())
            .field("handle", &format_args!("{:#x}", self.handle()))
            .field("is_primary", &self.is_primary())
            .finish()
    }
}

// A panic leaves no part of it half changed: its state is behind locks, which panics do not poison.
impl UnwindSafe for Context {}
impl RefUnwindSafe for Context {}

impl Context {
    pub(super) fn made(handle: usize, number: u64, device: Device) -> Self {
        Self(Arc::new(State {
            handle,
            number,
            device,
            is_primary: AtomicBool::new(false),
            total_memory: OnceLock::new(),
            extensions: Extensions::default(),
        }))
    }

    /// The device that the context is on.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Device};
    ///
    /// assert_eq!(Context::primary(0)?.device(), Device::get(0)?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn device(&self) -> Device {
        self.0.device
    }

    /// The `CUcontext` handle, as a number.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// assert_ne!(context.handle(), 0);
    /// assert_eq!(context.handle(), Context::primary(0)?.handle()); // the same context
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn handle(&self) -> usize {
        self.0.handle
    }

    /// Whether it is its device's primary context, which this process has retained.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    ///
    /// assert!(Context::primary(0)?.is_primary());
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn is_primary(&self) -> bool {
        self.0.is_primary.load(Ordering::Acquire)
    }

    pub(super) fn mark_as_primary(&self) {
        self.0.is_primary.store(true, Ordering::Release);
    }

    /// Whether both are the same driver context.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Device};
    ///
    /// let context = Context::primary(0)?;
    /// assert!(context.is_same(&context.clone()));
    /// let last = Context::primary(Device::count()? - 1)?;
    /// assert_eq!(context.is_same(&last), Device::count()? == 1);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn is_same(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }

    /// The context's identity, which differs even from that of a later context with the same
    /// handle.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// let (handle, _number) = context.identity();
    /// assert_eq!(handle, context.handle());
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn identity(&self) -> (usize, u64) {
        (self.0.handle, self.0.number)
    }

    /// Whether a reset of the device can be detected: drivers before CUDA 12 do not number their
    /// contexts.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, driver_version};
    ///
    /// assert_eq!(Context::primary(0)?.is_numbered(), driver_version()? >= 12_000);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn is_numbered(&self) -> bool {
        self.0.number != 0
    }

    pub(super) fn number(&self) -> u64 {
        self.0.number
    }

    pub(crate) fn raw(&self) -> *mut c_void {
        self.0.handle as *mut c_void
    }

    /// The device's memory, in bytes, asked for once.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// assert_eq!(context.total_memory()?, context.device().total_memory()?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors.
    pub fn total_memory(&self) -> CudaResult<u64> {
        if let Some(bytes) = self.0.total_memory.get() {
            return Ok(*bytes);
        }
        let bytes = self.device().total_memory()?;
        Ok(*self.0.total_memory.get_or_init(|| bytes))
    }

    /// The extension of type `T` that a layer above has attached to the context, if any.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, CudaError, Extension};
    ///
    /// struct Name(&'static str);
    /// impl Extension for Name {}
    ///
    /// let context = Context::primary(0)?;
    /// assert!(context.extension::<Name>().is_none());
    /// context.extension_or(|| Ok::<_, CudaError>(Name("ours")))?;
    /// assert_eq!(context.extension::<Name>().map(|it| it.0), Some("ours"));
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    #[doc(hidden)]
    pub fn extension<T: Extension>(&self) -> Option<&T> {
        self.0.extensions.get()
    }

    /// The extension of type `T`, which the first caller attaches to the context.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, CudaError, Extension};
    ///
    /// struct Name(&'static str);
    /// impl Extension for Name {}
    ///
    /// let context = Context::primary(0)?;
    /// for name in ["first", "second"] {
    ///     let attached = context.extension_or(|| Ok::<_, CudaError>(Name(name)))?;
    ///     assert_eq!(attached.0, "first");
    /// }
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The error of `make`.
    ///
    /// # Panics
    ///
    /// When there are more types of them than layers.
    #[doc(hidden)]
    pub fn extension_or<T: Extension, E>(
        &self,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<&T, E> {
        self.0.extensions.get_or_add(make)
    }

    /// The same, of what can always be made.
    pub(crate) fn own_extension<T: Extension>(&self, make: impl FnOnce() -> T) -> &T {
        let made = self.extension_or(|| Ok::<_, Infallible>(make()));
        made.unwrap_or_else(|never| match never {})
    }

    /// Waits for the work that extensions have left to the device: for all that reach the memory in another way than
    /// by calls without a stream.
    pub(crate) fn await_deferred(&self) -> CudaResult<()> {
        self.0.extensions.await_deferred()
    }

    /// Notifies all extensions that somebody has reset the device.
    pub(crate) fn abandon(&self) {
        self.0.extensions.abandon();
    }

    /// Whether the handle still names this context.
    ///
    /// Memory of a context that is gone is forgotten, not released, so one answer does not suffice.
    pub(crate) fn is_alive(&self) -> bool {
        let says_gone = || self.check_identity().is_err_and(|error| error.is_context_gone());
        !(says_gone() && says_gone())
    }

    /// Whether an error of a call in this context means that it is gone, with everything in it.
    ///
    /// Destructors and statistics need this answer: a call may fail with that code in a context that is
    /// alive, where nothing may be forgotten.
    ///
    /// ```standalone_crate
    /// use arrow_cuda_context::{Context, Device};
    ///
    /// let context = Context::primary(0)?;
    /// // SAFETY: nobody else uses the device.
    /// unsafe { Device::get(0)?.reset() }?;
    /// let error = context.synchronize().expect_err("the context is gone");
    /// assert!(context.is_gone(&error));
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn is_gone(&self, error: &CudaError) -> bool {
        error.is_context_gone() && !self.is_alive()
    }

    /// Fails when the handle does not name this context any more.
    pub(crate) fn check_identity(&self) -> CudaResult<()> {
        // The driver keeps the memory of a primary context's handle readable even after a reset.
        let number = match self.is_primary() {
            true => identity::number_of_readable(self.handle())?,
            false => identity::number_of(self.handle())?,
        };
        if number == self.number() { Ok(()) } else { Err(identity::gone()) }
    }

    pub(super) fn downgrade(&self) -> WeakContext {
        WeakContext(Arc::downgrade(&self.0))
    }
}

pub(super) struct WeakContext(Weak<State>);

impl WeakContext {
    pub(super) fn is_dropped(&self) -> bool {
        self.0.strong_count() == 0
    }

    pub(super) fn upgrade(&self) -> Option<Context> {
        self.0.upgrade().map(Context)
    }
}
