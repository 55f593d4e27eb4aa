//! Exporting device memory to other processes, and importing theirs.

use crate::Error;
use crate::handle::{ALLOCATION, IpcMemHandle};
use arrow_cuda_buffer::{DeviceBuffer, range};
use arrow_cuda_context::{Attribute, Consumer, Context, Current, prepare_sharing, retain_exported};
use arrow_cuda_driver::{CudaResult, LongLock, codes};
use std::collections::HashMap;
use std::sync::{Arc, Weak};

const NOT_SHARED: &str = "other processes can map memory of cuMemAlloc alone, not that of pools (cuMemAllocAsync), \
                          virtual, managed or host memory; copy it to a buffer that is allocated here";
const OWN: &str = "the process that exported memory cannot open its handle: use the exported buffer itself, or open the \
                   handle in another process";
const GONE: &str = "the process that exported the memory has released it or ended, it shares no namespaces of \
                    processes and IPC with this one (of containers, say), or these are not the bytes of its handle";

/// Exports the buffer's memory: other processes may map it from now on.
///
/// The memory is shared, not copied.  It stays allocated until this process ends, even after the
/// buffer is dropped, since this process cannot know whether another one still uses it.
///
/// Another process cannot order its work after the work of this one.  So this call waits for the work on all streams
/// of the buffer's context, and of the other contexts that may use the memory.
///
/// ```
/// use arrow_cuda_buffer::DeviceBuffer;
/// use arrow_cuda_context::Context;
/// use arrow_cuda_ipc::export;
///
/// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 3)?;
/// buffer.copy_from_host(b"abc")?;
/// let handle = export(&buffer)?;
/// assert_eq!(handle.size(), 3); // its bytes go to another process, which opens it
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`Error::AlreadyExported`] for memory of another process; [`Error::Lent`] for memory of an allocator that the
/// program has set, unless it is a whole allocation of the driver; driver errors, also for memory that the driver does
/// not share, such as that of pools, from which `cudarc` allocates wherever a device has them.
pub fn export(buffer: &DeviceBuffer) -> Result<IpcMemHandle, Error> {
    let handle = name(buffer)?;
    if !buffer.is_empty() {
        // Even if the buffer is a view of memory that its owner keeps valid.
        let is_own = retain_exported(buffer.private_address());
        if !is_own || buffer.lent_allocation().is_some() {
            // Its owner would free the memory, or give it to somebody else.
            std::mem::forget(buffer.clone());
        }
    }
    Ok(handle)
}

/// Exports the buffer's memory to another process for the lifetime of the buffer.
///
/// The handle is the same as that of [`export`], but the memory is released with its last buffer,
/// as if it had not been shared.  The caller must hold the buffer until the importer reports that
/// it is done: memory that is freed while another process has it mapped has undefined content.
///
/// This waits for the work that is queued so far, as [`export`] does.
///
/// ```
/// use arrow_cuda_buffer::DeviceBuffer;
/// use arrow_cuda_context::Context;
/// use arrow_cuda_ipc::lend;
///
/// let context = Context::primary(0)?;
/// let buffer = DeviceBuffer::allocate(&context, 100)?;
/// let handle = lend(&buffer)?;
/// // The other process copies from it, unmaps it and reports that.
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
    buffer.check_memory()?;
    let current = buffer.context().enter()?;
    if let Some((address, size)) = buffer.lent_allocation() {
        check_lent(&current, address, size)?;
    }
    drop(current); // a wait may handle signals
    let ready = buffer.context().make_ready_for(Consumer::InOtherProcess, &[])?;
    let address = buffer.address(&ready);
    let current = buffer.context().enter()?;
    // Other processes may cache the handle, and can reach more than the buffer.
    prepare_sharing(&current, address)?;
    let (base, _) = current.allocation_at(address)?;
    let allocation = current.export_memory(base).map_err(|error| {
        match current.attribute(Attribute::IsIpcCapable, address) {
            Ok(0) => {
                let code = error.code().unwrap_or(codes::INVALID_VALUE);
                error.advised(code, || NOT_SHARED.to_owned())
            }
            _ => error,
        }
    })?;
    Ok(IpcMemHandle::new(buffer.len() as u64, allocation, address - base))
}

/// Refuses memory of an allocator with which a process would reach that of others.
fn check_lent(current: &Current<'_>, address: u64, size: usize) -> Result<(), Error> {
    let is_capable = current.attribute(Attribute::IsIpcCapable, address)? != 0;
    match is_capable && current.allocation_at(address)? == (address, size as u64) {
        true => Ok(()),
        false => Err(Error::Lent),
    }
}

/// Maps memory that another process has exported.  Dropping the last buffer over it unmaps it.
///
/// [`from_bytes`](IpcMemHandle::from_bytes) reads the handle that the other process has sent; the program
/// [`two_processes`](https://github.com/pyarrow-cuda-compat/pyarrow-cuda-compat/blob/main/crates/ipc/examples/two_processes.rs)
/// shows both sides.
///
/// ```no_run
/// use arrow_cuda_context::Context;
/// use arrow_cuda_ipc::{IpcMemHandle, open};
/// use std::io::{Read, stdin};
///
/// let mut sent = Vec::new();
/// stdin().read_to_end(&mut sent)?; // from the process that has exported the memory
/// let buffer = open(&Context::primary(0)?, &IpcMemHandle::from_bytes(&sent)?)?;
/// assert_eq!(buffer.to_vec()?, b"abc");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`Error::Handle`] when the handle's range exceeds the allocation; driver errors, such as those for memory that this
/// process has exported itself, and for memory that is gone.
pub fn open(context: &Context, handle: &IpcMemHandle) -> Result<DeviceBuffer, Error> {
    let Some((allocation, offset)) = handle.allocation() else {
        // SAFETY: there are no bytes.
        return Ok(unsafe { DeviceBuffer::imported(context, 0, 0, Box::new(())) });
    };
    let mapping = Mapping::shared(context, allocation)?;
    range::within(offset, handle.size(), mapping.size).map_err(|_| {
        Error::Handle(format!(
            "the IPC handle names {} bytes at offset {offset} of an allocation of {} bytes",
            handle.size(),
            mapping.size
        ))
    })?;
    let address = mapping.address + offset as u64;
    // SAFETY: the range lies within the mapping, which the buffer owns.
    Ok(unsafe { DeviceBuffer::imported(context, address, handle.size(), Box::new(mapping)) })
}

/// An allocation of another process, mapped into this one.
struct Mapping {
    address: u64,
    size: usize,
    context: Context,
}

type Key = ((usize, u64), [u8; ALLOCATION]);

/// One mapping per context and allocation: some drivers refuse a second one.
static MAPPINGS: LongLock<Option<HashMap<Key, Weak<Mapping>>>> = LongLock::new(None);

impl Mapping {
    fn shared(context: &Context, allocation: &[u8; ALLOCATION]) -> CudaResult<Arc<Self>> {
        let mut mappings = MAPPINGS.lock()?;
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
        let current = context.enter()?;
        let address = current.open_memory(*allocation).map_err(|error| {
            let error = error.advised(codes::INVALID_CONTEXT, || OWN.to_owned());
            error.advised(codes::INVALID_VALUE, || GONE.to_owned())
        })?;
        // From here on, a failure must close the mapping again.
        let mut mapping = Self { address, size: 0, context: context.clone() };
        mapping.size = current.allocation_at(address)?.1 as usize;
        Ok(mapping)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        self.context.release("imported device memory", |current| {
            let unused = self.context.await_users()?;
            // SAFETY: mapped in `open`, and closed once, here.
            unsafe { current.close_memory(self.address, &unused) }
        });
    }
}
