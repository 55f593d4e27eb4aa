//! Finds the address of a function by its name, for libraries that do not link the driver.
//!
//! Versions of the interface are numbers such as 12050, which means CUDA 12.5.  A caller names the
//! version that it was written for, and gets the variant of the function that was current then.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;

use super::ENTRY_POINTS as ALL;
use super::device::DRIVER_VERSION;
use crate::base::code::{INVALID_VALUE, NOT_FOUND, Result};
use crate::entry::fault::plain;
use crate::entry::{Out, exported};

/// Bits that ask for the functions of the legacy default stream, and for those of the per-thread one.
const LEGACY_STREAM: u64 = 1;
const PER_THREAD_STREAM: u64 = 2;

#[repr(i32)]
#[derive(Clone, Copy)]
pub enum Search {
    Found = 0,
    Unknown = 1,
    /// The function exists, but only in later versions.
    TooOld = 2,
}

exported! { driver:
    /// Writes the address of a function.  One that is not found is an error.
    [11030 to 12000] early cuGetProcAddress(
        symbol: *const c_char,
        address: Out<*const c_void>,
        version: i32,
        flags: u64,
    ) {
        let address = address.required()?;
        address.set(find(symbol, version, flags)?.map_err(|_| NOT_FOUND)?);
    }

    /// Writes the address of a function, and whether it was found; null when it was not.
    [12000] early cuGetProcAddress_v2(
        symbol: *const c_char,
        address: Out<*const c_void>,
        version: i32,
        flags: u64,
        status: Out<Search>,
    ) {
        let address = address.required()?;
        let found = find(symbol, version, flags)?;
        address.set(found.unwrap_or(ptr::null()));
        status.set_if_wanted(found.err().unwrap_or(Search::Found));
    }
}

/// Finds a function.  Fails for a version after the driver's, for unknown flags, and for a null name, with
/// which a real driver crashes.
fn find(symbol: *const c_char, version: i32, flags: u64) -> Result<Result<*const c_void, Search>> {
    if symbol.is_null()
        || version > DRIVER_VERSION
        || flags & !(LEGACY_STREAM | PER_THREAD_STREAM) != 0
    {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the caller passes a C string that lives through the call.
    let symbol = unsafe { CStr::from_ptr(symbol) }.to_bytes();
    let all = ALL.into_iter().flatten();
    let variants = all.filter(|point| plain(point.name).as_bytes() == symbol);
    // A real driver treats a negative version as a very large one.
    let (version, per_thread) = (version as u32, flags & PER_THREAD_STREAM != 0);
    let mut outcome = Search::Unknown;
    for point in variants {
        if version < point.since {
            outcome = Search::TooOld;
        } else if point.until.is_none_or(|until| version < until)
            && !(per_thread && point.per_thread)
        {
            return Ok(Ok(point.address));
        }
    }
    Ok(Err(outcome))
}
