//! The evidence that memory may be returned to the driver.

/// Evidence that no queued work uses some memory any more, so that it may be freed, unpinned or unmapped.
///
/// [`Context::await_users`](crate::Context::await_users) returns it, and so does a fence after the memory's release.
#[derive(Debug)]
#[must_use = "it is for the call that gives the memory back"]
pub struct Unused(());

impl Unused {
    /// For memory that no queued work has seen.
    ///
    /// # Safety
    ///
    /// No work in flight may use what is released with this.
    #[expect(unsafe_code, reason = "callers release memory with it")]
    pub const unsafe fn promised() -> Self {
        Self(())
    }

    /// After waits for all work that may use the memory: after its release, or by an event that follows it.
    pub(crate) const fn after_waits() -> Self {
        Self(())
    }
}
