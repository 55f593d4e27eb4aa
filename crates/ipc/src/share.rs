//! Giving device memory to other processes, and taking theirs.

use crate::Error;
use crate::handle::{ALLOCATION, IpcMemHandle};
use arrow_cuda_buffer::{DeviceBuffer, Error as BufferError, range};
use arrow_cuda_context::{Context, keep_for_processes};
use arrow_cuda_driver::{CudaResult, IpcHandle, blocking, call, may_release, report_failure};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// `CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`, the only flag there is.
const LAZY_ENABLE_PEER_ACCESS: u32 = 1;

/// Names the buffer's memory to other processes, which may map it from now on.
///
/// The memory is shared, not copied, and stays allocated until this process ends, even when the
/// buffer goes: nobody can tell whether another process still uses it.
///
/// # Errors
///
/// [`Error::AlreadyExported`] for memory of another process, or the driver's for memory that
/// cannot be shared (pinned host memory, memory of an asynchronous pool).
pub fn export(buffer: &DeviceBuffer) -> Result<IpcMemHandle, Error> {
    let handle = name(buffer)?;
    if !buffer.is_empty() {
        // Also where the buffer is a view of it that its owner keeps.
        keep_for_processes(buffer.address());
    }
    Ok(handle)
}

/// Names the buffer's memory to another process, for as long as the buffer stays.
///
/// The same handle as [`export`] gives, but the memory goes with its last buffer, as if it had
/// not been shared.  So this is for callers who hear of it when the importer is done, and who
/// hold the buffer until then: what is freed while another process has it mapped may hold
/// anything.
///
/// The importer's work is not ordered after work on the memory that this process has queued:
/// [`Context::synchronize`] before the handle is sent.
///
/// ```
/// use arrow_cuda_buffer::DeviceBuffer;
/// use arrow_cuda_context::Context;
/// use arrow_cuda_ipc::{export, lend};
///
/// let context = Context::primary(0)?;
/// let buffer = DeviceBuffer::allocate(&context, 100)?;
/// let handle = lend(&buffer)?;
/// // The other process copies from it, unmaps it and says so.
/// drop(buffer);
/// # assert_eq!(handle.size(), 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As [`export`].
pub fn lend(buffer: &DeviceBuffer) -> Result<IpcMemHandle, Error> {
    name(buffer)
}

fn name(buffer: &DeviceBuffer) -> Result<IpcMemHandle, Error> {
    if buffer.is_imported() {
        return Err(Error::AlreadyExported);
    }
    if buffer.is_empty() {
        return Ok(IpcMemHandle::empty());
    }
    buffer.check_alive()?;
    // Other processes may keep the handle, and reach more than the buffer.
    buffer.context().prepare_for_processes(buffer.address())?;
    let _current = buffer.context().enter_unless_gone()?;
    let mut allocation = [0u8; ALLOCATION];
    // SAFETY: stores 64 bytes through the pointer; the address is looked up, not read.
    unsafe { call!(cuIpcGetMemHandle(allocation.as_mut_ptr().cast(), buffer.address())) }?;
    let (base, _) = allocation_of(buffer.address())?;
    Ok(IpcMemHandle::new(buffer.size(), allocation, buffer.address() - base))
}

/// Maps memory that another process has exported.  It is unmapped when the last buffer over it
/// goes.
///
/// # Errors
///
/// The driver's, also for a handle that this process exported itself (error 201) or whose memory
/// is gone; [`Error::Handle`] when the handle claims more than there is.
pub fn open(context: &Context, handle: &IpcMemHandle) -> Result<DeviceBuffer, Error> {
    let Some(memory) = handle.memory() else {
        return Ok(DeviceBuffer::imported(context, 0, 0, Box::new(())));
    };
    let mapping = Mapping::shared(context, &memory.allocation)?;
    range::within(memory.offset, handle.size(), mapping.size).map_err(|_| {
        Error::Handle(format!(
            "the IPC handle names {} bytes at offset {} of an allocation of {} bytes",
            handle.size(),
            memory.offset,
            mapping.size
        ))
    })?;
    let address = mapping.address + memory.offset;
    Ok(DeviceBuffer::imported(context, address, handle.size(), Box::new(mapping)))
}

/// An allocation of another process, mapped into this one.
struct Mapping {
    address: u64,
    size: u64,
    context: Context,
}

type Key = ((usize, u64), [u8; ALLOCATION]);

/// One mapping a context and allocation: some drivers refuse a second one.
static MAPPINGS: Mutex<Option<HashMap<Key, Weak<Mapping>>>> = Mutex::new(None);

impl Mapping {
    fn shared(context: &Context, allocation: &[u8; ALLOCATION]) -> Result<Arc<Self>, BufferError> {
        // A forked child hears of its state here, before a lock that may be held for ever.
        drop(context.enter()?);
        let mut mappings = MAPPINGS.lock().unwrap_or_else(PoisonError::into_inner);
        let mappings = mappings.get_or_insert_default();
        let key = (context.identity(), *allocation);
        if let Some(mapping) = mappings.get(&key).and_then(Weak::upgrade) {
            return Ok(mapping);
        }
        mappings.retain(|_, mapping| mapping.strong_count() > 0);
        let mapping = Arc::new(Self::open(context, allocation)?);
        mappings.insert(key, Arc::downgrade(&mapping));
        Ok(mapping)
    }

    fn open(context: &Context, allocation: &[u8; ALLOCATION]) -> CudaResult<Self> {
        let _current = context.enter()?;
        let mut address = 0u64;
        let handle = IpcHandle(*allocation);
        // SAFETY: stores an address through the pointer; the driver checks the handle.
        unsafe {
            call!(cuIpcOpenMemHandle_v2((&raw mut address).cast(), handle, LAZY_ENABLE_PEER_ACCESS))
        }?;
        // From here on a failure has to close the mapping again.
        let mut mapping = Self { address, size: 0, context: context.clone() };
        (_, mapping.size) = allocation_of(address)?;
        Ok(mapping)
    }

    fn close(&self) -> CudaResult<()> {
        if self.context.is_gone() {
            // The mapping went with its context.
            return Ok(());
        }
        let _current = self.context.enter()?;
        // SAFETY: the address came from `cuIpcOpenMemHandle` and is closed once, here.
        unsafe { call!(cuIpcCloseMemHandle(self.address)) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if may_release() {
            report_failure("imported device memory", blocking(|| self.close()));
        }
    }
}

/// Where the allocation that holds an address begins, and its size.  A context must be current.
fn allocation_of(address: u64) -> CudaResult<(u64, u64)> {
    let mut base = 0u64;
    let mut size = 0usize;
    // SAFETY: stores two values through the pointers; the address is looked up, not read.
    unsafe {
        call!(cuMemGetAddressRange_v2((&raw mut base).cast(), (&raw mut size).cast(), address))
    }?;
    Ok((base, size as u64))
}
