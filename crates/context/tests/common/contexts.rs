//! Contexts of another library.

#![allow(clippy::disallowed_macros, reason = "sets up what the crate must not do itself")]

use arrow_cuda_context::Context;
use arrow_cuda_driver::call;
use std::ffi::c_void;

/// A context of another library, on the first device.
pub fn their_context() -> (Context, *mut c_void) {
    Context::primary(0).expect("a device");
    let mut handle: *mut c_void = std::ptr::null_mut();
    // SAFETY: stores a handle through the pointer; the new context is current, and popped.
    unsafe {
        call!(cuCtxCreate_v2((&raw mut handle).cast(), 0, 0)).expect("a context");
        let mut popped: *mut c_void = std::ptr::null_mut();
        call!(cuCtxPopCurrent_v2((&raw mut popped).cast())).expect("the new one");
    }
    (Context::borrowed(0, handle as usize).expect("alive"), handle)
}

#[allow(dead_code, reason = "for some of the test files")]
pub fn destroy(context: *mut c_void) {
    // SAFETY: made by `their_context`, and destroyed once.
    unsafe { call!(cuCtxDestroy_v2(context)) }.expect("alive");
}
