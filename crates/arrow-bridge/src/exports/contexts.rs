//! Devices and their contexts, for C++.

use crate::fault::{Fault, Made};
use crate::ffi::{ContextIdentity, Failure, RustBuffer, RustContext};
use crate::kind::Kind;
use std::ffi::c_char;
use std::ptr;

exported! {
    /// NUL-terminated.  Fails for a number that no device has.
    attempted device_name(device: i32, out: *mut c_char, capacity: usize) -> Failure {
        let name = primary(device)?.device().name()?;
        if name.len() >= capacity {
            return Err(Fault::new(Kind::Invalid, "no room for a device's name"));
        }
        // SAFETY: `out` has room for `capacity` bytes.
        unsafe {
            ptr::copy_nonoverlapping(name.as_ptr(), out.cast(), name.len());
            out.add(name.len()).write(0);
        }
        Ok(())
    }

    /// The device's primary context: another one after a reset of the device.
    made context_primary(device: i32) -> Made<RustContext> {
        primary(device)
    }

    /// The context that a buffer's memory belongs to, as long as the buffer lives.
    answer context_of(buffer: &RustBuffer) -> *const RustContext {
        ptr::from_ref(buffer.context())
    }

    answer context_identity(context: &RustContext) -> ContextIdentity {
        let (handle, number) = context.identity();
        ContextIdentity { handle, number }
    }

    answer context_is_primary(context: &RustContext) -> bool {
        context.is_primary()
    }

    answer context_clone(context: &RustContext) -> Box<RustContext> {
        Box::new(context.clone())
    }

    /// Fails if the context is gone, and all of its memory with it.
    attempted context_check(context: &RustContext) -> Failure {
        Ok(context.enter().map(drop)?)
    }

    answer context_release(context: Box<RustContext>) {
        drop(context);
    }
}

fn primary(device: i32) -> Result<RustContext, Fault> {
    let number = u32::try_from(device)
        .map_err(|_| Fault::new(Kind::Invalid, format!("no CUDA device has number {device}")))?;
    Ok(RustContext::primary(number)?)
}
