//! State that the layers above attach to a context: the memory ledgers, work in flight, compiled kernels,
//! copy threads.

use arrow_cuda_driver::{CudaResult, LongLock};
use std::any::Any;
use std::sync::OnceLock;

/// State that a layer above attaches to a context, one value of each type.
///
/// It lives as long as the context.  What it has that owns the context in turn has to go when it is
/// abandoned.
pub trait Extension: Any + Send + Sync {
    /// Called when somebody has reset the device: the driver has destroyed everything in the
    /// context, so nothing of it may be used or released any more.
    fn abandon(&self) {}

    /// Waits for what the layer has left to the device, which nobody outside knows of.
    ///
    /// # Errors
    ///
    /// Errors of the device's work.
    fn await_deferred(&self) -> CudaResult<()> {
        Ok(())
    }
}

/// The number of layers that attach an extension.
const MAX_EXTENSIONS: usize = 12;

/// Each slot is written once, in order, so that a look-up takes no lock.
#[derive(Default)]
pub(super) struct Extensions {
    slots: [OnceLock<Box<dyn Extension>>; MAX_EXTENSIONS],
    adding: LongLock<()>,
}

impl Extensions {
    pub(super) fn get<T: Extension>(&self) -> Option<&T> {
        let filled = self.slots.iter().map_while(OnceLock::get);
        filled.into_iter().find_map(|extension| {
            let any: &dyn Any = &**extension;
            any.downcast_ref()
        })
    }

    /// The extension of that type, created now unless it exists.
    pub(super) fn get_or_add<T: Extension, E>(
        &self,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<&T, E> {
        if let Some(found) = self.get() {
            return Ok(found);
        }
        // A forked child, which is refused the lock, has no other threads that add something.
        let _one_at_a_time = self.adding.lock();
        if self.get::<T>().is_none() {
            let free = self.slots.iter().find(|slot| slot.get().is_none());
            let made: Box<dyn Extension> = Box::new(make()?);
            let added = free.is_some_and(|slot| slot.set(made).is_ok());
            assert!(added, "more than {MAX_EXTENSIONS} extensions of a context");
        }
        Ok(self.get().expect("added above"))
    }

    pub(super) fn await_deferred(&self) -> CudaResult<()> {
        let mut filled = self.slots.iter().map_while(OnceLock::get);
        filled.try_for_each(|extension| extension.await_deferred())
    }

    pub(super) fn abandon(&self) {
        self.slots.iter().map_while(OnceLock::get).for_each(|extension| extension.abandon());
    }
}

impl std::fmt::Debug for Extensions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count = self.slots.iter().map_while(OnceLock::get).count();
        f.debug_tuple("Extensions").field(&count).finish()
    }
}
