//! Whether `pyarrow.Buffer.address` is intercepted, by which Python code reads the address of a device buffer.
//!
//! Until [`watch_addresses`] is called, every buffer that C++ sees counts as exposed.

use std::sync::atomic::{AtomicBool, Ordering};

static EXPOSED_ON_REQUEST: AtomicBool = AtomicBool::new(false);

/// `pyarrow.Buffer.address` calls [`Bridge::expose_address`](crate::Bridge::expose_address) from now
/// on.
pub fn watch_addresses() {
    EXPOSED_ON_REQUEST.store(true, Ordering::Release);
}

pub(crate) fn is_exposed_on_request() -> bool {
    EXPOSED_ON_REQUEST.load(Ordering::Acquire)
}
