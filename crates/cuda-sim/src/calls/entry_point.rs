//! The address of a function by its name, as libraries ask for it that do not link the driver.
//!
//! Versions of the interface are numbers such as 12050, which means CUDA 12.5.  A caller names the
//! version that it was written for, and gets the variant of the function that was current then.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;

use super::device::DRIVER_VERSION;
use super::{
    callback::*, capture::*, context::*, copy::*, device::*, error::*, event::*, fill::*,
    host_memory::*, ipc::*, memory::*, module::*, peer::*, pointer::*, primary::*, stack::*,
    stream::*,
};
use crate::base::code::{Code, INVALID_VALUE, NOT_FOUND, Result};
use crate::entry::call::call_early;
use crate::entry::out::Out;

/// Bits that ask for the functions of the legacy default stream, and for those of the per-thread one.
const LEGACY_STREAM: u64 = 1;
const PER_THREAD_STREAM: u64 = 2;

/// The result of a search.
#[repr(i32)]
#[derive(Clone, Copy)]
pub enum Search {
    Found = 0,
    Unknown = 1,
    /// The function exists, but only in later versions.
    TooOld = 2,
}

/// An exported function.
struct EntryPoint {
    name: &'static str,
    since: u32,
    /// The version with another variant, which is not simulated.
    until: Option<u32>,
    /// Whether a variant for the per-thread default stream exists.  None of these is simulated.
    per_thread: bool,
    address: *const c_void,
}

impl EntryPoint {
    /// The name that all variants of the function share.
    fn symbol(&self) -> &'static str {
        self.name.strip_suffix("_v2").unwrap_or(self.name)
    }
}

/// `NAME SINCE [to UNTIL] [, per_thread];`
macro_rules! entry_points {
    (@until) => { None };
    (@until $until:literal) => { Some($until) };
    (@per_thread) => { false };
    (@per_thread per_thread) => { true };
    ($($name:ident $since:literal $(to $until:literal)? $(, $per_thread:ident)?;)*) => {
        const ENTRY_POINTS: &[EntryPoint] = &[$(EntryPoint {
            name: stringify!($name),
            since: $since,
            until: entry_points!(@until $($until)?),
            per_thread: entry_points!(@per_thread $($per_thread)?),
            address: $name as *const c_void,
        }),*];
    };
}

// Of several variants of a function, the older one comes first.
entry_points! {
    cuCtxCreate_v2 3020 to 11040;
    cuCtxDestroy_v2 4000;
    cuCtxDisablePeerAccess 4000;
    cuCtxEnablePeerAccess 4000;
    cuCtxGetApiVersion 3020;
    cuCtxGetCurrent 4000;
    cuCtxGetDevice 2000 to 13000;
    cuCtxGetId 12000;
    cuCtxGetStreamPriorityRange 5050;
    cuCtxPopCurrent_v2 4000;
    cuCtxPushCurrent_v2 4000;
    cuCtxRecordEvent 12050;
    cuCtxSetCurrent 4000;
    cuCtxSynchronize 2000 to 13000;
    cuDeviceCanAccessPeer 4000;
    cuDeviceGet 2000;
    cuDeviceGetAttribute 2000;
    cuDeviceGetCount 2000;
    cuDeviceGetName 2000;
    cuDeviceGetUuid 9020 to 11040;
    cuDeviceGetUuid_v2 11040;
    cuDevicePrimaryCtxGetState 7000;
    cuDevicePrimaryCtxRelease_v2 11000;
    cuDevicePrimaryCtxReset_v2 11000;
    cuDevicePrimaryCtxRetain 7000;
    cuDevicePrimaryCtxSetFlags_v2 11000;
    cuDeviceTotalMem_v2 3020;
    cuDriverGetVersion 2020;
    cuEventCreate 2000;
    cuEventDestroy_v2 4000;
    cuEventElapsedTime 2000 to 12080;
    cuEventQuery 2000;
    cuEventRecord 2000, per_thread;
    cuEventSynchronize 2000;
    cuFuncGetAttribute 2020;
    cuGetErrorName 6000;
    cuGetErrorString 6000;
    cuGetProcAddress 11030 to 12000;
    cuGetProcAddress_v2 12000;
    cuGraphDestroy 10000;
    cuInit 2000;
    cuIpcCloseMemHandle 4010;
    cuIpcGetMemHandle 4010;
    cuIpcOpenMemHandle_v2 11000;
    cuLaunchHostFunc 10000, per_thread;
    cuLaunchKernel 4000, per_thread;
    cuMemAllocAsync 11020, per_thread;
    cuMemAllocHost_v2 3020;
    cuMemAllocManaged 6000;
    cuMemAlloc_v2 3020;
    cuMemFreeAsync 11020, per_thread;
    cuMemFreeHost 2000;
    cuMemFree_v2 3020;
    cuMemGetAddressRange_v2 3020;
    cuMemGetInfo_v2 3020;
    cuMemHostAlloc 2020;
    cuMemHostGetDevicePointer_v2 3020;
    cuMemHostRegister_v2 6050;
    cuMemHostUnregister 4000;
    cuMemcpy 4000, per_thread;
    cuMemcpyAsync 4000, per_thread;
    cuMemcpyDtoDAsync_v2 3020, per_thread;
    cuMemcpyDtoD_v2 3020, per_thread;
    cuMemcpyDtoHAsync_v2 3020, per_thread;
    cuMemcpyDtoH_v2 3020, per_thread;
    cuMemcpyHtoDAsync_v2 3020, per_thread;
    cuMemcpyHtoD_v2 3020, per_thread;
    cuMemcpyPeer 4000, per_thread;
    cuMemcpyPeerAsync 4000, per_thread;
    cuMemsetD32Async 3020, per_thread;
    cuMemsetD32_v2 3020, per_thread;
    cuMemsetD8Async 3020, per_thread;
    cuMemsetD8_v2 3020, per_thread;
    cuModuleGetFunction 2000;
    cuModuleLoadData 2000;
    cuModuleLoadDataEx 2010;
    cuModuleUnload 2000;
    cuOccupancyMaxActiveBlocksPerMultiprocessor 6050;
    cuPointerGetAttribute 4000;
    cuPointerGetAttributes 7000;
    cuStreamAddCallback 5000, per_thread;
    cuStreamBeginCapture_v2 10010, per_thread;
    cuStreamCreate 2000;
    cuStreamCreateWithPriority 5050;
    cuStreamDestroy_v2 4000;
    cuStreamEndCapture 10000, per_thread;
    cuStreamGetCtx 9020 to 12050, per_thread;
    cuStreamGetFlags 5050, per_thread;
    cuStreamGetPriority 5050, per_thread;
    cuStreamIsCapturing 10000, per_thread;
    cuStreamQuery 2000, per_thread;
    cuStreamSynchronize 2000, per_thread;
    cuStreamWaitEvent 3020, per_thread;
    cuThreadExchangeStreamCaptureMode 10010;
}

/// Writes the address of a function, and whether it was found; null when it was not.
#[unsafe(no_mangle)]
pub extern "C" fn cuGetProcAddress_v2(
    symbol: *const c_char,
    address: Out<*const c_void>,
    version: i32,
    flags: u64,
    status: Out<Search>,
) -> Code {
    call_early(|| {
        let address = address.required()?;
        let found = find(symbol, version, flags)?;
        address.set(found.unwrap_or(ptr::null()));
        if let Some(status) = status.optional() {
            status.set(found.err().unwrap_or(Search::Found));
        }
        Ok(())
    })
}

/// Writes the address of a function.  One that is not found is an error.
#[unsafe(no_mangle)]
pub extern "C" fn cuGetProcAddress(
    symbol: *const c_char,
    address: Out<*const c_void>,
    version: i32,
    flags: u64,
) -> Code {
    call_early(|| {
        let address = address.required()?;
        address.set(find(symbol, version, flags)?.map_err(|_| NOT_FOUND)?);
        Ok(())
    })
}

/// # Errors
/// `INVALID_VALUE` for a version after the driver's and for other flags; also for no name, where a
/// real driver crashes.
fn find(symbol: *const c_char, version: i32, flags: u64) -> Result<Result<*const c_void, Search>> {
    if symbol.is_null()
        || version > DRIVER_VERSION
        || flags & !(LEGACY_STREAM | PER_THREAD_STREAM) != 0
    {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the caller passes a C string that lives through the call.
    let symbol = unsafe { CStr::from_ptr(symbol) }.to_bytes();
    let variants = ENTRY_POINTS.iter().filter(|point| point.symbol().as_bytes() == symbol);
    // A driver takes a negative version for a great one.
    Ok(choose(variants, version as u32, flags & PER_THREAD_STREAM != 0))
}

fn choose<'a>(
    variants: impl Iterator<Item = &'a EntryPoint>,
    version: u32,
    per_thread: bool,
) -> Result<*const c_void, Search> {
    let mut outcome = Search::Unknown;
    for point in variants {
        if version < point.since {
            outcome = Search::TooOld;
        } else if point.until.is_none_or(|until| version < until)
            && !(per_thread && point.per_thread)
        {
            return Ok(point.address);
        }
    }
    Err(outcome)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::ENTRY_POINTS;

    #[test]
    fn every_exported_function_is_found() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/calls");
        let mut exported = BTreeSet::new();
        for entry in fs::read_dir(folder).expect("a folder") {
            let source = fs::read_to_string(entry.expect("an entry").path()).expect("text");
            let after_head = source.split("pub extern \"C\" fn ").skip(1);
            let names = after_head.map(|rest| rest.split('(').next().unwrap_or_default());
            // Those for tests are no part of the interface.
            exported.extend(names.filter(|name| !name.starts_with("cuda_sim_")).map(str::to_owned));
        }
        let listed: BTreeSet<String> = ENTRY_POINTS.iter().map(|point| point.name.into()).collect();
        assert_eq!(listed, exported);
        assert_eq!(listed.len(), ENTRY_POINTS.len());
    }
}
