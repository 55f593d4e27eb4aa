//! How a call reaches the driver: looked up once, called through, its failure remembered.

use crate::codes::NOT_INITIALIZED;
use crate::library::{self, NO_LIBRARY, NO_SYMBOL};
use crate::{lifecycle, record};
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

    pub(crate) fn name(&self) -> &'static str {
        // Names in the table are ASCII identifiers.
        self.name.to_str().unwrap_or_default()
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

/// Remembers a failure for [`CudaError::last`](crate::CudaError::last) and gives back a code
/// that `cust` can hold: its result type is a closed enumeration, and another value in it
/// would be undefined behaviour.
pub(crate) fn for_cust(slot: &Slot, code: i32) -> i32 {
    const UNKNOWN: i32 = 999;
    if code == 0 {
        return 0;
    }
    record::remember(slot.name(), code);
    match code {
        NO_LIBRARY => NOT_INITIALIZED,
        1..=8 | 34 | 100..=102 | 200..=202 | 205..=224 | 300..=304 | 400 | 401 | 500 | 600 => code,
        700..=705 | 708..=720 | 800..=809 | 900..=911 => code,
        _ => UNKNOWN,
    }
}

/// Turns the table into two functions a row: one in `sys` for this project, with the driver's
/// result code as it is, and the C symbol itself, which `cust` is linked against.
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
            const _: Option<IpcHandle> = None;
        }

        #[allow(non_snake_case, reason = "named as in the driver")]
        #[allow(clippy::too_many_arguments, reason = "the driver's own signatures")]
        mod symbols {
            use super::{IpcHandle, P, slots, sys};
            $(
                #[unsafe(no_mangle)]
                unsafe extern "C" fn $name($($arg: $type),*) -> i32 {
                    // SAFETY: the caller's promise, handed on.
                    crate::forward::for_cust(&slots::$name, unsafe { sys::$name($($arg),*) })
                }
            )*
            const _: Option<IpcHandle> = None;
        }
    };
}
pub(crate) use driver_functions;
