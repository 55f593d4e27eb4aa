//! How a call reaches the driver: its function is looked up once, and called through.

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
            // What the driver itself answers there, without risking one of its locks.
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

        /// The driver's functions under their own names, each returning the driver's result
        /// code.  See NVIDIA's driver API reference for what each does.
        ///
        /// # Safety
        ///
        /// That of the driver function: pointers must be valid for what it reads and writes,
        /// handles must be live, and it must be legal to call it at this point.
        #[allow(non_snake_case, reason = "named as in the driver")]
        #[allow(clippy::missing_safety_doc, reason = "said once, for the module")]
        #[allow(clippy::too_many_arguments, reason = "the driver's own signatures")]
        pub mod sys {
            use super::{IpcHandle, P, slots};
            $(
                #[doc = concat!("`", stringify!($name), "`.")]
                pub unsafe fn $name($($arg: $type),*) -> i32 {
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
