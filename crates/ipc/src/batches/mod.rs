//! Record batches as messages and streams: on the host or on the device, written to and read from device memory.

mod dictionaries;
mod read;
mod write;
mod write_device;

pub use read::{read_device_batch, read_device_stream, read_record_batch, read_stream};
pub use write::{serialize_record_batch, serialize_stream};
pub use write_device::{serialize_device_batch, serialize_device_stream};
