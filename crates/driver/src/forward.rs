//! How a call reaches the driver: the crate looks each function up once, and calls it by address.

use crate::codes::NOT_INITIALIZED;
use crate::library::{self, NO_LIBRARY, NO_SYMBOL};
use crate::lifecycle;
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// One driver function: its name, and its address once it was looked up.
pub(crate) struct Slot {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Slot {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self { name, address: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// The function's address, or the code to answer in its place.
    pub(crate) fn address(&self) -> Result<*mut c_void, i32> {
        if lifecycle::is_forked_child() {
            // The driver would answer the same, but might wait for one of its locks first.
            return Err(NOT_INITIALIZED);
        }
        let known = self.address.load(Ordering::Acquire);
        if !known.is_null() {
            return Ok(known);
        }
        let library = library::get().map_err(|_| NO_LIBRARY)?;
        let found = library.symbol(self.name).ok_or(NO_SYMBOL)?;
        self.address.store(found, Ordering::Release);
        Ok(found)
    }
}

/// Turns each row of the table into a function in `sys`, which returns the driver's result code as
/// it is.  With the feature `cust`, a row becomes the C symbol as well.
macro_rules! driver_functions {
    ($($name:ident($($arg:ident: $type:ty),* $(,)?);)*) => {
        mod slots {
            $(#[allow(non_upper_case_globals, reason = "named as in the driver")]
            pub(super) static $name: crate::forward::Slot = {
                const NAME: &str = concat!(stringify!($name), "\0");
                match std::ffi::CStr::from_bytes_with_nul(NAME.as_bytes()) {
                    Ok(name) => crate::forward::Slot::new(name),
                    Err(_) => panic!("an identifier holds no NUL"),
                }
            };)*
        }

        /// The driver's functions under their own names.  Each returns the driver's result code;
        /// NVIDIA's driver API reference describes what it does.
        ///
        /// # Safety
        ///
        /// The caller keeps the promises that the driver asks for: pointers are valid for what the
        /// function reads and writes, handles are live, and the call is legal at this point.
        #[allow(non_snake_case, reason = "named as in the driver")]
        #[allow(clippy::missing_safety_doc, reason = "stated once, for the module")]
        #[allow(clippy::too_many_arguments, reason = "the driver's own signatures")]
        pub mod sys {
            use super::{IpcHandle, P, slots};
            $(
                #[doc = concat!("`", stringify!($name), "`.")]
                pub unsafe fn $name($($arg: $type),*) -> i32 {
                    if const { cfg!(debug_assertions) && crate::waits::may_wait(stringify!($name)) } {
                        crate::waits::check(stringify!($name));
                    }
                    if const { cfg!(debug_assertions) && crate::waits::may_stall(stringify!($name)) } {
                        crate::waits::check_stall(stringify!($name));
                    }
                    match slots::$name.address() {
                        // SAFETY: the table gives the signature that the driver's binary
                        // interface has under this name; the rest is the caller's promise.
                        Ok(address) => unsafe {
                            type Function = unsafe extern "C" fn($($type),*) -> i32;
                            std::mem::transmute::<P, Function>(address)($($arg),*)
                        },
                        Err(code) => code,
                    }
                }
            )*
        }

        #[cfg(feature = "cust")]
        crate::cust_symbols::cust_symbols! { $($name($($arg: $type),*);)* }
    };
}
pub(crate) use driver_functions;
