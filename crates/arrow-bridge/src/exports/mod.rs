//! Rust's functions for the C++ classes, which `RustApi` lists.
//!
//! Only C++ calls these functions, under the contract of `ffi.rs`: opaque pointers come from this
//! table and are live, and other pointers are valid for their use.

mod batch_copies;
mod buffers;
pub(crate) mod events;
mod files;
mod layouts;
mod metadata;
mod pools;
mod stored;

use crate::fault::Fault;
use crate::ffi::{FaultFacts, HostRange, RustApi, RustFault};
use crate::kind::Kind;
use arrow_cuda_context::Context;

pub(crate) static API: RustApi = RustApi {
    fault_new: new_fault,
    fault_facts,
    fault_release: release,
    device_name: buffers::device_name,
    buffer_allocate: buffers::allocate,
    buffer_view: buffers::view,
    buffer_slice: buffers::slice,
    buffer_facts: buffers::facts,
    buffer_expose: buffers::expose,
    buffer_release: release,
    buffer_move: buffers::move_to,
    buffer_release_at: buffers::release_at,
    copy_to_host: buffers::copy_to_host,
    copy_from_host: buffers::copy_from_host,
    copy_from_device: buffers::copy_from_device,
    copies_of_host: batch_copies::copies_of_host,
    copies_of_buffers: batch_copies::copies_of_buffers,
    stream_await_for: events::await_for_buffers,
    copy_all_to_host: batch_copies::copy_all_to_host,
    stored_message: stored::message,
    copies_of_stored: stored::copies,
    reach: layouts::reach,
    join: layouts::join,
    change_numbers: layouts::change_numbers,
    lower_offsets: layouts::lower_offsets,
    host_buffer_facts: buffers::host_facts,
    host_buffer_release: release,
    pool_allocate: pools::allocate,
    pool_reallocate: pools::reallocate,
    pool_free: pools::free,
    pool_release_unused: pools::release_unused,
    host_address: buffers::host_address,
    is_device_memory: buffers::is_device_memory,
    device_address: buffers::device_address,
    event_wrap: events::wrap,
    event_release: release,
    event_place: events::place,
    event_wait: events::wait,
    event_pending: events::pending,
    stream_wait_event: events::wait_for,
    stream_synchronize: events::synchronize,
    reader_open: files::reader_open,
    reader_release: release,
    reader_close: files::reader_close,
    reader_is_closed: files::reader_is_closed,
    reader_tell: files::reader_tell,
    reader_size: files::reader_size,
    reader_seek: files::reader_seek,
    reader_read: files::reader_read,
    reader_read_at: files::reader_read_at,
    reader_read_buffer: files::reader_read_buffer,
    reader_read_buffer_at: files::reader_read_buffer_at,
    message_facts: metadata::message_facts,
    writer_open: files::writer_open,
    writer_release: release,
    writer_close: files::writer_close,
    writer_is_closed: files::writer_is_closed,
    writer_tell: files::writer_tell,
    writer_seek: files::writer_seek,
    writer_write: files::writer_write,
    writer_write_device: files::writer_write_device,
    writer_write_at: files::writer_write_at,
    writer_flush: files::writer_flush,
    writer_set_buffer_size: files::writer_set_buffer_size,
};

fn context(device: i32) -> Result<Context, Fault> {
    let number = u32::try_from(device)
        .map_err(|_| Fault::new(Kind::Invalid, format!("no CUDA device has number {device}")))?;
    Ok(Context::primary(number)?)
}

extern "C" fn release<T>(object: Box<T>) {
    drop(object);
}

unsafe extern "C" fn new_fault(kind: Kind, text: HostRange) -> Box<RustFault> {
    // SAFETY: C++ passes readable bytes.
    let text = unsafe { buffers::host(text.data.cast(), text.size as i64) }.unwrap_or_default();
    Box::new(RustFault::new(kind, String::from_utf8_lossy(text)))
}

extern "C" fn fault_facts(fault: &RustFault) -> FaultFacts {
    let text = HostRange { data: fault.text.as_ptr(), size: fault.text.len() };
    FaultFacts { kind: fault.kind, text }
}
