//! The driver's C symbols that `cust` is linked against, and the failures that its errors cannot hold.

use crate::codes::NOT_INITIALIZED;
use crate::library::{self, NO_LIBRARY};
use std::cell::Cell;
use std::ffi::c_char;

thread_local! {
    /// The last failure of a call that `cust` made on this thread.
    static LAST: Cell<Option<(&'static str, i32)>> = const { Cell::new(None) };
}

/// Remembers a failure for [`CudaError::last`](crate::CudaError::last) and returns a code that `cust` can hold: its
/// result type is a closed enumeration, and another value in it would be undefined behaviour.
pub(crate) fn answer(function: &'static str, code: i32) -> i32 {
    if code == 0 {
        return 0;
    }
    LAST.set(Some((function, code)));
    folded(code)
}

/// The number that `cust` has in place of one that it does not know.
fn folded(code: i32) -> i32 {
    const UNKNOWN: i32 = 999;
    match code {
        NO_LIBRARY => NOT_INITIALIZED,
        1..=8 | 34 | 100..=102 | 200..=202 | 205..=224 | 300..=304 | 400 | 401 | 500 | 600 => code,
        700..=705 | 708..=720 | 800..=809 | 900..=911 => code,
        _ => UNKNOWN,
    }
}

/// The function and the driver's code behind a number that `cust` has got: those of its last failure on this thread, if
/// they are what the number stands for.
pub(crate) fn take_last(number: i32) -> (&'static str, i32) {
    let last = LAST.take().filter(|(_, code)| folded(*code) == number);
    last.unwrap_or(("cust", number))
}

/// Exports each row of the table under its C name.
macro_rules! cust_symbols {
    ($($name:ident($($arg:ident: $type:ty),* $(,)?);)*) => {
        #[allow(non_snake_case, reason = "named as in the driver")]
        #[allow(clippy::too_many_arguments, reason = "the driver's own signatures")]
        mod symbols {
            use super::{IpcHandle, P, sys};
            use std::ffi::c_char;
            $(crate::cust_symbols::symbol! { $name($($arg: $type),*) })*
        }
    };
}
pub(crate) use cust_symbols;

macro_rules! symbol {
    // cust panics where an error of its own has no text.
    (cuGetErrorString($error:ident: $code:ty, $text:ident: $place:ty)) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn cuGetErrorString($error: $code, $text: $place) -> i32 {
            // SAFETY: the caller's promise, handed on.
            if unsafe { sys::cuGetErrorString($error, $text) } != 0 {
                // SAFETY: a place for a pointer; the text lives as long as the program.
                unsafe { $text.cast::<*const c_char>().write(crate::cust_symbols::no_text()) };
            }
            0
        }
    };
    ($name:ident($($arg:ident: $type:ty),*)) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($arg: $type),*) -> i32 {
            // SAFETY: the caller's promise, handed on.
            let code = unsafe { sys::$name($($arg),*) };
            crate::cust_symbols::answer(stringify!($name), code)
        }
    };
}
pub(crate) use symbol;

/// The text of an error for which no driver has one.
pub(crate) fn no_text() -> *const c_char {
    let text = match library::get() {
        Ok(_) => c"an error that the driver has no text for",
        Err(_) => c"the CUDA driver is not loaded",
    };
    text.as_ptr()
}
