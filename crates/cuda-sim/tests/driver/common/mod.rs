//! The driver interface as a C program sees it, and a process of its own for each test.

pub mod child;
pub mod gate;
pub mod process;

use gate::Gate;
use std::ffi::{CString, c_char, c_void};
use std::ptr;

// The functions come from the library.
use cuda_sim as _;

/// A handle as the interface carries it.
pub type Handle = usize;

pub const OK: i32 = 0;
pub const MIB: usize = 1 << 20;

/// 64 bytes by value.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemHandle(pub [u8; 64]);

unsafe extern "C" {
    pub safe fn cuInit(flags: u32) -> i32;
    pub safe fn cuDeviceTotalMem_v2(bytes: &mut usize, device: i32) -> i32;
    pub safe fn cuDeviceGetAttribute(value: &mut i32, attribute: i32, device: i32) -> i32;
    pub safe fn cuDeviceGetName(name: &mut [u8; 32], length: i32, device: i32) -> i32;
    pub safe fn cuDevicePrimaryCtxRetain(context: &mut Handle, device: i32) -> i32;
    pub safe fn cuDevicePrimaryCtxRelease_v2(device: i32) -> i32;
    pub safe fn cuDevicePrimaryCtxReset_v2(device: i32) -> i32;
    pub safe fn cuCtxCreate_v2(context: &mut Handle, flags: u32, device: i32) -> i32;
    pub safe fn cuCtxDestroy_v2(context: Handle) -> i32;
    pub safe fn cuCtxPushCurrent_v2(context: Handle) -> i32;
    pub safe fn cuCtxPopCurrent_v2(context: &mut Handle) -> i32;
    pub safe fn cuCtxGetCurrent(context: &mut Handle) -> i32;
    pub safe fn cuCtxGetApiVersion(context: Handle, version: &mut u32) -> i32;
    pub safe fn cuCtxGetId(context: Handle, id: &mut u64) -> i32;
    pub safe fn cuCtxSynchronize() -> i32;
    pub safe fn cuDeviceCanAccessPeer(can: &mut i32, device: i32, peer: i32) -> i32;
    pub safe fn cuCtxEnablePeerAccess(context: Handle, flags: u32) -> i32;
    pub safe fn cuCtxDisablePeerAccess(context: Handle) -> i32;
    pub safe fn cuMemGetInfo_v2(free: &mut usize, total: &mut usize) -> i32;
    pub safe fn cuMemAlloc_v2(pointer: &mut u64, size: usize) -> i32;
    pub safe fn cuMemFree_v2(pointer: u64) -> i32;
    pub safe fn cuMemAllocAsync(pointer: &mut u64, size: usize, stream: Handle) -> i32;
    pub safe fn cuMemFreeAsync(pointer: u64, stream: Handle) -> i32;
    pub safe fn cuMemAllocManaged(pointer: &mut u64, size: usize, flags: u32) -> i32;
    pub safe fn cuMemHostRegister_v2(host: usize, size: usize, flags: u32) -> i32;
    pub safe fn cuMemHostUnregister(host: usize) -> i32;
    pub safe fn cuMemHostGetDevicePointer_v2(pointer: &mut u64, host: usize, flags: u32) -> i32;
    pub safe fn cuMemGetAddressRange_v2(base: &mut u64, size: &mut usize, pointer: u64) -> i32;
    pub safe fn cuPointerGetAttribute(data: &mut u64, attribute: i32, pointer: u64) -> i32;
    pub safe fn cuMemPoolCreate(pool: &mut u64, properties: &[i32; 22]) -> i32;
    pub safe fn cuMemPoolSetAccess(pool: u64, access: &[i32; 3], count: usize) -> i32;
    pub safe fn cuMemAllocFromPoolAsync(
        pointer: &mut u64,
        size: usize,
        pool: u64,
        stream: Handle,
    ) -> i32;
    pub safe fn cuMemHostAlloc(pointer: &mut usize, size: usize, flags: u32) -> i32;
    pub safe fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, size: usize) -> i32;
    pub safe fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, size: usize) -> i32;
    pub safe fn cuMemcpyDtoD_v2(to: u64, from: u64, size: usize) -> i32;
    pub safe fn cuMemcpyPeer(to: u64, there: Handle, from: u64, here: Handle, size: usize) -> i32;
    pub safe fn cuMemcpyHtoDAsync_v2(to: u64, from: usize, size: usize, stream: Handle) -> i32;
    pub safe fn cuMemcpyDtoHAsync_v2(to: usize, from: u64, size: usize, stream: Handle) -> i32;
    pub safe fn cuMemsetD8_v2(to: u64, value: u8, count: usize) -> i32;
    pub safe fn cuMemsetD32_v2(to: u64, value: u32, count: usize) -> i32;
    pub safe fn cuMemsetD8Async(to: u64, value: u8, count: usize, stream: Handle) -> i32;
    pub safe fn cuIpcGetMemHandle(handle: &mut MemHandle, pointer: u64) -> i32;
    pub safe fn cuIpcOpenMemHandle_v2(pointer: &mut u64, handle: MemHandle, flags: u32) -> i32;
    pub safe fn cuIpcCloseMemHandle(pointer: u64) -> i32;
    pub safe fn cuStreamGetCtx(stream: Handle, context: &mut Handle) -> i32;
    pub safe fn cuStreamIsCapturing(stream: Handle, status: &mut i32) -> i32;
    pub safe fn cuStreamBeginCapture_v2(stream: Handle, mode: i32) -> i32;
    pub safe fn cuStreamEndCapture(stream: Handle, graph: &mut Handle) -> i32;
    pub safe fn cuThreadExchangeStreamCaptureMode(mode: &mut i32) -> i32;
    pub safe fn cuGraphDestroy(graph: Handle) -> i32;
    pub safe fn cuStreamCreate(stream: &mut Handle, flags: u32) -> i32;
    pub safe fn cuStreamDestroy_v2(stream: Handle) -> i32;
    pub safe fn cuStreamSynchronize(stream: Handle) -> i32;
    pub safe fn cuStreamQuery(stream: Handle) -> i32;
    pub safe fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: u32) -> i32;
    pub safe fn cuLaunchHostFunc(
        stream: Handle,
        function: extern "C" fn(*mut c_void),
        data: *mut c_void,
    ) -> i32;
    pub safe fn cuEventCreate(event: &mut Handle, flags: u32) -> i32;
    pub safe fn cuCtxRecordEvent(context: Handle, event: Handle) -> i32;
    pub safe fn cuEventRecord(event: Handle, stream: Handle) -> i32;
    pub safe fn cuEventQuery(event: Handle) -> i32;
    pub safe fn cuEventSynchronize(event: Handle) -> i32;
    pub safe fn cuEventDestroy_v2(event: Handle) -> i32;
    pub safe fn cuModuleLoadData(module: &mut Handle, image: *const c_char) -> i32;
    pub safe fn cuModuleUnload(module: Handle) -> i32;
    pub safe fn cuModuleGetFunction(f: &mut Handle, module: Handle, name: *const c_char) -> i32;
    pub safe fn cuLaunchKernel(
        function: Handle,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        shared_bytes: u32,
        stream: Handle,
        arguments: *const *const u64,
        extra: *const c_void,
    ) -> i32;
    pub safe fn cuda_sim_fault(spec: *const c_char) -> i32;
    pub safe fn cuda_sim_call_count(name: *const c_char) -> u64;
    pub safe fn cuda_sim_live_allocations() -> u64;
    pub safe fn cuda_sim_live_host_allocations() -> u64;
    pub safe fn cuda_sim_live_imports() -> u64;
    pub safe fn cuda_sim_live_streams() -> u64;
    pub safe fn cuda_sim_live_events() -> u64;
    pub safe fn cuda_sim_live_modules() -> u64;
    pub safe fn cuda_sim_call_counts(text: *mut c_char, size: usize) -> usize;
    pub safe fn cuda_sim_primary_retains(device: i32) -> i32;
}

/// Initialises, and makes the primary context of a device current.
pub fn ready(device: i32) -> Handle {
    assert_eq!(cuInit(0), OK);
    let mut context = 0;
    assert_eq!(cuDevicePrimaryCtxRetain(&mut context, device), OK);
    assert_eq!(cuCtxPushCurrent_v2(context), OK);
    context
}

/// Ends the primary context of the first device, which is current.
pub fn end_context() {
    assert_eq!(cuCtxPopCurrent_v2(&mut 0), OK);
    assert_eq!(cuDevicePrimaryCtxRelease_v2(0), OK);
}

/// Runs a test's body in a process of its own, where the context of the first device is current.
pub fn on_device<F: Fn(Handle)>(body: F) {
    process::in_process_of::<F>(&[], || body(ready(0)));
}

pub fn alloc(size: usize) -> u64 {
    let mut pointer = 0;
    assert_eq!(cuMemAlloc_v2(&mut pointer, size), OK);
    pointer
}

pub fn pinned(size: usize) -> usize {
    let mut pointer = 0;
    assert_eq!(cuMemHostAlloc(&mut pointer, size, 1), OK);
    pointer
}

pub fn write(to: u64, bytes: &[u8]) -> i32 {
    cuMemcpyHtoD_v2(to, bytes.as_ptr().cast(), bytes.len())
}

pub fn read(from: u64, size: usize) -> Result<Vec<u8>, i32> {
    let mut bytes = vec![0; size];
    match cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), from, size) {
        OK => Ok(bytes),
        code => Err(code),
    }
}

pub fn free_bytes() -> usize {
    let (mut free, mut total) = (0, 0);
    assert_eq!(cuMemGetInfo_v2(&mut free, &mut total), OK);
    free
}

pub fn stream(flags: u32) -> Handle {
    let mut stream = 0;
    assert_eq!(cuStreamCreate(&mut stream, flags), OK);
    stream
}

pub fn busy(stream: Handle) -> Gate {
    Gate::queued(|wait, state| assert_eq!(cuLaunchHostFunc(stream, wait, state), OK))
}

pub fn event(flags: u32) -> Handle {
    let mut event = 0;
    assert_eq!(cuEventCreate(&mut event, flags), OK);
    event
}

/// A new module, or the code with which its image is refused.
pub fn module(image: &str) -> Result<Handle, i32> {
    let (image, mut module) = (CString::new(image).unwrap(), 0);
    match cuModuleLoadData(&mut module, image.as_ptr()) {
        OK => Ok(module),
        code => Err(code),
    }
}

pub fn entry(module: Handle, name: &str) -> Result<Handle, i32> {
    let (name, mut function) = (CString::new(name).unwrap(), 0);
    match cuModuleGetFunction(&mut function, module, name.as_ptr()) {
        OK => Ok(function),
        code => Err(code),
    }
}

/// A function of a module that has it as its entry.
pub fn function(name: &str) -> Handle {
    compiled(name, "() { ret; }")
}

/// An entry of a new module, with its parameters and its body.
pub fn compiled(name: &str, text: &str) -> Handle {
    let image = format!(".version 8.0\n.target sm_90\n.visible .entry {name}{text}\n");
    module(&image).and_then(|module| entry(module, name)).expect("an image with this entry")
}

/// Launches one thread.
pub fn launch(function: Handle, stream: Handle, arguments: &[u64]) -> i32 {
    let places: Vec<*const u64> = arguments.iter().map(ptr::from_ref).collect();
    let places = places.as_ptr();
    cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, places, ptr::null())
}

pub fn fault(spec: &str) -> i32 {
    let spec = CString::new(spec).unwrap();
    cuda_sim_fault(spec.as_ptr())
}

pub fn calls(name: &str) -> u64 {
    let name = CString::new(name).unwrap();
    cuda_sim_call_count(name.as_ptr())
}
