//! Every driver function that `cust` names or that this project calls, in one table.
//!
//! A row is the function's name in the driver's binary interface, and its arguments as that
//! interface declares them: pointers and handles are [`P`], enumerations are `i32`.  Every function
//! returns a result code.  `forward.rs` has the macro that turns rows into code.

use crate::forward::driver_functions;
use std::ffi::c_void;

/// A pointer or an opaque handle.
type P = *mut c_void;

/// `CUipcMemHandle`, which the driver takes by value.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct IpcHandle(
    /// The 64 bytes that name an allocation of another process.
    pub [u8; 64],
);

driver_functions! {
    cuArray3DCreate_v2(handle: P, allocate_array: P);
    cuArray3DGetDescriptor_v2(array_descriptor: P, array: P);
    cuArrayDestroy(array: P);
    cuCtxCreate_v2(pctx: P, flags: u32, dev: i32);
    cuCtxDestroy_v2(ctx: P);
    cuCtxDisablePeerAccess(peer_context: P);
    cuCtxEnablePeerAccess(peer_context: P, flags: u32);
    cuCtxGetApiVersion(ctx: P, version: P);
    cuCtxGetCacheConfig(pconfig: P);
    cuCtxGetCurrent(pctx: P);
    cuCtxGetDevice(device: P);
    cuCtxGetFlags(flags: P);
    cuCtxGetId(context: P, id: P);
    cuCtxGetLimit(pvalue: P, limit: i32);
    cuCtxGetSharedMemConfig(config: P);
    cuCtxGetStreamPriorityRange(least_priority: P, greatest_priority: P);
    cuCtxPopCurrent_v2(pctx: P);
    cuCtxPushCurrent_v2(ctx: P);
    cuCtxRecordEvent(ctx: P, event: P);
    cuCtxSetCacheConfig(config: i32);
    cuCtxSetCurrent(ctx: P);
    cuCtxSetLimit(limit: i32, value: usize);
    cuCtxSetSharedMemConfig(config: i32);
    cuCtxSynchronize();
    cuDestroyExternalMemory(ext_mem: P);
    cuDeviceCanAccessPeer(can_access_peer: P, dev: i32, peer_dev: i32);
    cuDeviceGet(device: P, ordinal: i32);
    cuDeviceGetAttribute(pi: P, attrib: i32, dev: i32);
    cuDeviceGetCount(count: P);
    cuDeviceGetName(name: P, len: i32, dev: i32);
    cuDeviceGetUuid_v2(uuid: P, dev: i32);
    cuDevicePrimaryCtxGetState(dev: i32, flags: P, active: P);
    cuDevicePrimaryCtxRelease_v2(dev: i32);
    cuDevicePrimaryCtxReset_v2(dev: i32);
    cuDevicePrimaryCtxRetain(pctx: P, dev: i32);
    cuDevicePrimaryCtxSetFlags_v2(dev: i32, flags: u32);
    cuDeviceTotalMem_v2(bytes: P, dev: i32);
    cuDriverGetVersion(driver_version: P);
    cuEventCreate(ph_event: P, flags: u32);
    cuEventDestroy_v2(event: P);
    cuEventElapsedTime(milliseconds: P, start: P, end: P);
    cuEventQuery(event: P);
    cuEventRecord(event: P, stream: P);
    cuEventSynchronize(event: P);
    cuExternalMemoryGetMappedBuffer(dev_ptr: P, ext_mem: P, buffer_desc: P);
    cuFuncGetAttribute(pi: P, attrib: i32, hfunc: P);
    cuFuncSetCacheConfig(hfunc: P, config: i32);
    cuFuncSetSharedMemConfig(hfunc: P, config: i32);
    cuGetErrorName(error: i32, str: P);
    cuGetErrorString(error: i32, str: P);
    cuGraphAddKernelNode(
        ph_graph_node: P, graph: P, dependencies: P, num_dependencies: usize, node_params: P
    );
    cuGraphCreate(ph_graph: P, flags: u32);
    cuGraphDebugDotPrint(graph: P, path: P, flags: u32);
    cuGraphDestroy(graph: P);
    cuGraphGetEdges(graph: P, from: P, to: P, num_edges: P);
    cuGraphGetNodes(graph: P, nodes: P, num_nodes: P);
    cuGraphKernelNodeGetParams(node: P, node_params: P);
    cuGraphNodeGetType(node: P, kind: P);
    cuImportExternalMemory(ext_mem_out: P, mem_handle_desc: P);
    cuInit(flags: u32);
    cuIpcCloseMemHandle(dptr: u64);
    cuIpcGetMemHandle(handle: P, dptr: u64);
    cuIpcOpenMemHandle_v2(pdptr: P, handle: IpcHandle, flags: u32);
    cuLaunchHostFunc(stream: P, callback: P, user_data: P);
    cuLaunchKernel(
        f: P, grid_dim_x: u32, grid_dim_y: u32, grid_dim_z: u32, block_dim_x: u32,
        block_dim_y: u32, block_dim_z: u32, shared_mem_bytes: u32, stream: P, kernel_params: P,
        extra: P
    );
    cuLinkAddData_v2(
        state: P, kind: i32, data: P, size: usize, name: P, num_options: u32, options: P,
        option_values: P
    );
    cuLinkComplete(state: P, cubin_out: P, size_out: P);
    cuLinkCreate_v2(num_options: u32, options: P, option_values: P, state_out: P);
    cuLinkDestroy(state: P);
    cuMemAddressFree(ptr: u64, size: usize);
    cuMemAddressReserve(ptr: P, size: usize, alignment: usize, addr: u64, flags: u64);
    cuMemAdvise(dev_ptr: u64, count: usize, advice: i32, device: i32);
    cuMemAllocAsync(dptr: P, bytesize: usize, stream: P);
    cuMemAllocHost_v2(pp: P, bytesize: usize);
    cuMemAllocManaged(dptr: P, bytesize: usize, flags: u32);
    cuMemAlloc_v2(dptr: P, bytesize: usize);
    cuMemCreate(handle: P, size: usize, prop: P, flags: u64);
    cuMemFreeAsync(dptr: u64, stream: P);
    cuMemFreeHost(p: P);
    cuMemFree_v2(dptr: u64);
    cuMemGetAddressRange_v2(pbase: P, psize: P, dptr: u64);
    cuMemGetAllocationGranularity(granularity: P, prop: P, option: i32);
    cuMemGetInfo_v2(free: P, total: P);
    cuMemHostAlloc(pp: P, bytesize: usize, flags: u32);
    cuMemHostGetDevicePointer_v2(pdptr: P, p: P, flags: u32);
    cuMemHostRegister_v2(p: P, bytesize: usize, flags: u32);
    cuMemHostUnregister(p: P);
    cuMemMap(ptr: u64, size: usize, offset: usize, handle: u64, flags: u64);
    cuMemPrefetchAsync(dev_ptr: u64, count: usize, dst_device: i32, stream: P);
    cuMemRelease(handle: u64);
    cuMemSetAccess(ptr: u64, size: usize, desc: P, count: usize);
    cuMemUnmap(ptr: u64, size: usize);
    cuMemcpy2D_v2(copy: P);
    cuMemcpyAtoH_v2(dst_host: P, src_array: P, src_offset: usize, byte_count: usize);
    cuMemcpyDtoDAsync_v2(dst_device: u64, src_device: u64, byte_count: usize, stream: P);
    cuMemcpyDtoD_v2(dst_device: u64, src_device: u64, byte_count: usize);
    cuMemcpyDtoHAsync_v2(dst_host: P, src_device: u64, byte_count: usize, stream: P);
    cuMemcpyDtoH_v2(dst_host: P, src_device: u64, byte_count: usize);
    cuMemcpyHtoA_v2(dst_array: P, dst_offset: usize, src_host: P, byte_count: usize);
    cuMemcpyHtoDAsync_v2(dst_device: u64, src_host: P, byte_count: usize, stream: P);
    cuMemcpyHtoD_v2(dst_device: u64, src_host: P, byte_count: usize);
    cuMemcpyPeer(
        dst_device: u64, dst_context: P, src_device: u64, src_context: P, byte_count: usize
    );
    cuMemcpyPeerAsync(
        dst_device: u64, dst_context: P, src_device: u64, src_context: P, byte_count: usize,
        stream: P
    );
    cuMemsetD16Async(dst_device: u64, us: u16, n: usize, stream: P);
    cuMemsetD16_v2(dst_device: u64, us: u16, n: usize);
    cuMemsetD32Async(dst_device: u64, ui: u32, n: usize, stream: P);
    cuMemsetD32_v2(dst_device: u64, ui: u32, n: usize);
    cuMemsetD8Async(dst_device: u64, uc: u8, n: usize, stream: P);
    cuMemsetD8_v2(dst_device: u64, uc: u8, n: usize);
    cuModuleGetFunction(hfunc: P, hmod: P, name: P);
    cuModuleGetGlobal_v2(dptr: P, bytes: P, hmod: P, name: P);
    cuModuleLoad(module: P, fname: P);
    cuModuleLoadData(module: P, image: P);
    cuModuleLoadDataEx(module: P, image: P, num_options: u32, options: P, option_values: P);
    cuModuleUnload(hmod: P);
    cuOccupancyAvailableDynamicSMemPerBlock(
        dynamic_smem_size: P, func: P, num_blocks: i32, block_size: i32
    );
    cuOccupancyMaxActiveBlocksPerMultiprocessor(
        num_blocks: P, func: P, block_size: i32, dynamic_smem_size: usize
    );
    cuOccupancyMaxPotentialBlockSize(
        min_grid_size: P, block_size: P, func: P, block_size_to_dynamic_smem_size: P,
        dynamic_smem_size: usize, block_size_limit: i32
    );
    cuPointerGetAttribute(data: P, attribute: i32, ptr: u64);
    cuPointerGetAttributes(num_attributes: u32, attributes: P, data: P, ptr: u64);
    cuStreamBeginCapture_v2(stream: P, mode: i32);
    cuStreamCreate(ph_stream: P, flags: u32);
    cuStreamCreateWithPriority(ph_stream: P, flags: u32, priority: i32);
    cuStreamDestroy_v2(stream: P);
    cuStreamEndCapture(stream: P, ph_graph: P);
    cuStreamGetCtx(stream: P, pctx: P);
    cuStreamGetFlags(stream: P, flags: P);
    cuStreamGetPriority(stream: P, priority: P);
    cuStreamIsCapturing(stream: P, capture_status: P);
    cuStreamQuery(stream: P);
    cuStreamSynchronize(stream: P);
    cuStreamWaitEvent(stream: P, event: P, flags: u32);
    cuSurfObjectCreate(surf_object: P, res_desc: P);
    cuSurfObjectDestroy(surf_object: u64);
    cuSurfObjectGetResourceDesc(res_desc: P, surf_object: u64);
    cuTexObjectCreate(tex_object: P, res_desc: P, tex_desc: P, res_view_desc: P);
    cuTexObjectDestroy(tex_object: u64);
    cuTexObjectGetResourceDesc(res_desc: P, tex_object: u64);
    cuThreadExchangeStreamCaptureMode(mode: P);
}
